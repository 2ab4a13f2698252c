"""Runs at the start of every Python process of a client, those that it starts itself included.

CLIENTS_BINDINGS=cudapy aliases NVIDIA's packages to cudapy. What numba-cuda takes from private modules of
theirs is supplied here: the alias has public modules alone.
"""

import contextlib
import os
import sys
from types import ModuleType

import numpy as np

if not hasattr(np, "row_stack"):  # NumPy 2.5 dropped the name that numba-cuda asks for
    np.row_stack = np.vstack

with contextlib.suppress(
    ImportError
):  # numba-cuda's wheel does this in a .pth file, which `pip --target` disables
    import _numba_cuda_redirector  # noqa: F401


def supply(name: str, **names: object) -> None:
    """Make a module with these names, in the one above it if that was made here, too."""
    module = sys.modules[name] = ModuleType(name)
    module.__path__ = []
    module.__dict__.update(names)
    above, _, last = name.rpartition(".")
    if above in sys.modules:
        setattr(sys.modules[above], last, module)


if os.environ.get("CLIENTS_BINDINGS") == "cudapy":
    import cudapy.alias
    from cudapy._bindings.errors import CUDAError
    from cudapy._ffi.enums import Enum, EnumType

    cudapy.alias.install()
    supply("cuda.bindings._internal")
    # numba-cuda compiles to LTO-IR only if this module says that nvJitLink is there
    supply("cuda.bindings._internal.nvjitlink", _inspect_function_pointer=lambda name: 1)
    supply("cuda.bindings._internal._fast_enum", FastEnum=Enum, FastEnumMetaclass=EnumType)
    supply("cuda.bindings._internal.utils", NotSupportedError=RuntimeError)
    supply("cuda.core._utils")
    supply("cuda.core._utils.cuda_utils", CUDAError=CUDAError, NVRTCError=CUDAError)  # its tests name these
