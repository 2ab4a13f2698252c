"""Choices by name for `cudapy.core.system`. The names of `cudapy.core.system.typing`, loaded on demand."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..management.choices import *
else:
    from ..._ffi.lazy_types import on_demand

    __getattr__, __dir__ = on_demand(globals(), "..management", "choices")
