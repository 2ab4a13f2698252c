"""Helpers around the modules of functions, with the names of `cuda.bindings.utils`.

get_cuda_native_handle                            the address behind a handle
envvar_bool                                       whether an environment variable says yes
get_ptx_ver                                       the PTX ISA version that PTX source asks for
get_minimal_required_cuda_ver_from_ptx_ver        the CUDA release that can load it
check_nvvm_compiler_options                       whether the libNVVM that is found knows some options
warn_if_cuda_major_version_mismatch               whether the driver is older than the API
"""

from __future__ import annotations

import os
import re
import threading
import warnings

from ._ffi.handles import Callback, Pointer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

__all__ = [
    "check_nvvm_compiler_options",
    "envvar_bool",
    "get_cuda_native_handle",
    "get_minimal_required_cuda_ver_from_ptx_ver",
    "get_ptx_ver",
    "warn_if_cuda_major_version_mismatch",
]


def get_cuda_native_handle(obj: Any) -> int:
    """The value of an opaque handle, such as a CUstream or a cudaEvent_t: the pointer that C has.

    Raises TypeError for anything else; numbers such as a CUdeviceptr or a CUdevice are for `int` to read.
    """
    if isinstance(obj, Pointer) and not isinstance(obj, Callback):
        return obj.value
    raise TypeError(f"Unknown type: {type(obj)}: only handles that are opaque pointers have a native handle")


def envvar_bool(name: str, default: bool = False) -> bool:
    """Whether the environment variable `name` is on.

    Off are 0, false, no and off, in either case, and any way to write zero; unset or empty it is `default`;
    anything else is on.
    """
    text = os.environ.get(name, "").strip().lower()
    try:
        return bool(int(text, 0)) if text else default
    except ValueError:
        return text not in ("false", "no", "off")


_RELEASES = """
1.0=1.0 1.1=1.1 1.2=2.0 1.3=2.1 1.4=2.2 2.0=3.0 2.1=3.1 2.2=3.2 2.3=4.0 3.0=4.1 3.1=5.0 3.2=5.5 4.0=6.0
4.1=6.5 4.2=7.0 4.3=7.5 5.0=8.0 6.0=9.0 6.1=9.1 6.2=9.2 6.3=10.0 6.4=10.1 6.5=10.2 7.0=11.0 7.1=11.1 7.2=11.2
7.3=11.3 7.4=11.4 7.5=11.5 7.6=11.6 7.7=11.7 7.8=11.8 8.0=12.0 8.1=12.1 8.2=12.2 8.3=12.3 8.4=12.4 8.5=12.5
8.6=12.7 8.7=12.8 8.8=12.9 9.0=13.0 9.1=13.1 9.2=13.2 9.3=13.3 9.4=13.4 9.5=13.5
"""
"""The release history in the PTX ISA manual: versions of PTX, and the CUDA release that brought each."""


def get_minimal_required_cuda_ver_from_ptx_ver(ptx_version: str) -> int:
    """The first CUDA release whose driver and nvJitLink load PTX of a version: "8.8" needs 12090, CUDA 12.9.

    The result is 1000 * major + 10 * minor, as cuDriverGetVersion has it. Raises ValueError for a version
    that is not in the release history of the PTX ISA up to 9.5.
    """
    release = dict(entry.split("=") for entry in _RELEASES.split()).get(ptx_version)
    if release is None:
        raise ValueError(f"Unknown or unsupported PTX ISA version: {ptx_version}")
    major, minor = map(int, release.split("."))
    return 1000 * major + 10 * minor


def get_ptx_ver(ptx: str) -> str:
    """The version in the first `.version` directive of PTX source, for example "8.8".

    Raises ValueError if there is no such directive.
    """
    if match := re.search(r"\.version\s+([0-9]+\.[0-9]+)", ptx):
        return match[1]
    raise ValueError("No .version directive found in PTX source: every PTX module begins with one")


_EMPTY_FUNCTION = """\
target triple = "nvptx64-nvidia-cuda"
target datalayout = "e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-i128:128:128-f32:32:32-\
f64:64:64-v16:16:16-v32:32:32-v64:64:64-v128:128:128-n16:32:64"
define void @empty() {{
  ret void
}}
!nvvmir.version = !{{!0}}
!0 = !{{i32 {}, i32 {}, i32 {}, i32 {}}}
"""
"""NVVM IR of either dialect, to be filled in with its version."""


def check_nvvm_compiler_options(options: Sequence[str]) -> bool:
    """Whether nvvmCompileProgram takes all of `options`, such as "-arch=compute_90" or "-g".

    Compiles an empty function with them. False if libNVVM refuses one of them, or if there is no libNVVM.
    Raises TypeError for anything but a sequence of str, nvvmError for any other failure.
    """
    from . import nvvm, pathfinder

    if isinstance(options, str) or not all(isinstance(option, str) for option in options):
        raise TypeError(f"options are a sequence of str, such as ['-g'], not {options!r}")

    try:
        pathfinder.load("nvvm")
    except pathfinder.LibraryNotFound:
        return False
    code = _EMPTY_FUNCTION.format(*nvvm.ir_version()).encode()
    program = nvvm.create_program()
    try:
        nvvm.add_module_to_program(program, code, len(code), "empty.ll")
        nvvm.compile_program(program, len(options), options)
    except nvvm.nvvmError as error:
        if error.status == nvvm.Result.ERROR_INVALID_OPTION:
            return False
        raise
    finally:
        nvvm.destroy_program(program)
    return True


_warn_once = threading.Lock()  # taken by the first check, and never given back


def warn_if_cuda_major_version_mismatch() -> None:
    """Warn, once in a process, if the driver's CUDA major is older than that of the API, CUDA_VERSION.

    Such a driver lacks functions of the API; each says so at its first call. The environment variable
    CUDA_PYTHON_DISABLE_MAJOR_VERSION_WARNING=1 turns the UserWarning off. Raises CUDAError if the driver does
    not tell its version.
    """
    if not _warn_once.acquire(blocking=False):
        return
    if envvar_bool("CUDA_PYTHON_DISABLE_MAJOR_VERSION_WARNING"):
        return
    from . import driver

    api, supported = driver.CUDA_VERSION // 1000, driver.checked.cuDriverGetVersion() // 1000
    if api > supported:
        warnings.warn(
            f"the API is that of CUDA {api}, and the NVIDIA driver supports CUDA {supported}: functions that"
            " are newer than the driver fail at their first call. A newer driver has them;"
            " CUDA_PYTHON_DISABLE_MAJOR_VERSION_WARNING=1 silences this warning.",
            UserWarning,
            stacklevel=2,
        )
