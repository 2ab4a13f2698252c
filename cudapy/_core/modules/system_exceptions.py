"""The exceptions of NVML. The names of `cudapy.core.system.exceptions`, loaded on demand."""

from ..._types import nvml_errors as _errors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..._types.nvml_errors import *
    from ...nvml import NvmlError
else:

    def __getattr__(name):
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from ... import nvml

        return getattr(nvml, name)


__all__ = ["NvmlError"]
__all__ += _errors.__all__
