"""NVRTC, the run-time compiler of CUDA C++: every function of nvrtc.h, in the header's order.

Functions return `(status, results...)`, and None for each result after a failure; the status is an
nvrtcResult. `checked` has the same functions returning the results alone and raising CUDAError.

The functions that fill a buffer (such as nvrtcGetPTX) take one, bytes included, and fill it in place; or
the number of bytes, and return them.
"""

from __future__ import annotations

import sys

from ._bindings.errors import Raiser
from ._bindings.libraries import loader, meanings, recipes
from ._ffi.lazy_types import on_demand
from ._ffi.library import Checked, Library
from ._ffi.sizes import sizeof as sizeof

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, overload

    from ._checked import nvrtc as _checked
    from ._ffi.scalars import void_p
    from ._types.nvrtc import *
else:
    from ._ffi.library import overload

    __getattr__, __dir__ = on_demand(globals(), "._types", "nvrtc")


def _describe() -> str:
    from . import pathfinder

    _, major, minor = nvrtcVersion()
    return f"{pathfinder.load('nvrtc').path}, which is NVRTC {major}.{minor}"


_raiser = Raiser(meanings("NVRTCRESULT"))
libnvrtc = Library(loader("nvrtc"), "nvrtcResult", _describe, _raiser, recipes=recipes("NVRTC"))
if TYPE_CHECKING:
    checked = _checked
else:
    checked = Checked(globals(), libnvrtc)


# -- Error Handling ----------------------------------------------------------------------------------


@libnvrtc("const char *nvrtcGetErrorString(nvrtcResult result)")
def nvrtcGetErrorString(result: nvrtcResult | int) -> tuple[nvrtcResult, bytes]:
    """Return the name of the status `result`, such as b"NVRTC_ERROR_COMPILATION"."""


# -- General Information Query -----------------------------------------------------------------------


@libnvrtc("nvrtcResult nvrtcVersion(int *major, int *minor)")
def nvrtcVersion() -> tuple[nvrtcResult, int, int]:
    """Return the CUDA version of the library, for instance 13 and 0."""


@libnvrtc("nvrtcResult nvrtcGetNumSupportedArchs(int *numArchs)")
def nvrtcGetNumSupportedArchs() -> tuple[nvrtcResult, int]:
    """Return how many architectures the library compiles for."""


@libnvrtc(
    "nvrtcResult nvrtcGetSupportedArchs(int *supportedArchs)", sizes={"supportedArchs": "_count_archs()"}
)
def nvrtcGetSupportedArchs() -> tuple[nvrtcResult, list[int]]:
    """Return the architectures the library compiles for, in ascending order: 90 is compute_90 and sm_90."""


def _count_archs() -> int:
    return nvrtcGetNumSupportedArchs()[1] or 0


# -- Compilation -------------------------------------------------------------------------------------


@libnvrtc(
    "nvrtcResult nvrtcCreateProgram(nvrtcProgram *prog, const char *src, const char *name, int numHeaders, "
    "const char *const *headers, const char *const *includeNames)",
    sizes={"headers": "numHeaders", "includeNames": "numHeaders"},
)
def nvrtcCreateProgram(
    src: bytes | None,
    name: bytes | None,
    numHeaders: int,
    headers: Sequence[bytes] | None,
    includeNames: Sequence[bytes] | None,
) -> tuple[nvrtcResult, nvrtcProgram]:
    """Make a program of the CUDA C++ text `src`. Messages call it `name` (None: default_program).

    `headers` are the texts of `numHeaders` headers that it may include as `includeNames`.
    """


@libnvrtc("nvrtcResult nvrtcDestroyProgram(nvrtcProgram *prog)", in_place=("prog",))
def nvrtcDestroyProgram(prog: nvrtcProgram) -> tuple[nvrtcResult]:
    """Destroy `prog`, and make it null."""


@libnvrtc(
    "nvrtcResult nvrtcCompileProgram(nvrtcProgram prog, int numOptions, const char *const *options)",
    sizes={"options": "numOptions"},
)
def nvrtcCompileProgram(
    prog: nvrtcProgram | int | None, numOptions: int, options: Sequence[bytes] | None
) -> tuple[nvrtcResult]:
    """Compile `prog` with `numOptions` compiler options, such as b"--gpu-architecture=sm_90"."""


@libnvrtc("nvrtcResult nvrtcGetPTXSize(nvrtcProgram prog, size_t *ptxSizeRet)")
def nvrtcGetPTXSize(prog: nvrtcProgram | int | None) -> tuple[nvrtcResult, int]:
    """Return the number of bytes of the PTX that `prog` was compiled to, its NUL included."""


@libnvrtc(
    "nvrtcResult nvrtcGetPTX(nvrtcProgram prog, char *ptx)", sizes={"ptx": "_needs(nvrtcGetPTXSize, prog)"}
)
def _nvrtcGetPTX(prog: nvrtcProgram | int | None, ptx: void_p) -> tuple[nvrtcResult]: ...


@overload
def nvrtcGetPTX(prog: nvrtcProgram | int | None, ptx: int) -> tuple[nvrtcResult, bytes]: ...
@overload
def nvrtcGetPTX(prog: nvrtcProgram | int | None, ptx: void_p) -> tuple[nvrtcResult]: ...
def nvrtcGetPTX(prog: nvrtcProgram | int | None, ptx: Any) -> Any:
    """Write the PTX of `prog` to the buffer `ptx`; or return it, for a byte count."""
    return _fill(_nvrtcGetPTX, prog, ptx)


@libnvrtc("nvrtcResult nvrtcGetCUBINSize(nvrtcProgram prog, size_t *cubinSizeRet)")
def nvrtcGetCUBINSize(prog: nvrtcProgram | int | None) -> tuple[nvrtcResult, int]:
    """Return the number of bytes of the cubin that `prog` was compiled to; 0 unless the target was sm_XY."""


@libnvrtc(
    "nvrtcResult nvrtcGetCUBIN(nvrtcProgram prog, char *cubin)",
    sizes={"cubin": "_needs(nvrtcGetCUBINSize, prog)"},
)
def _nvrtcGetCUBIN(prog: nvrtcProgram | int | None, cubin: void_p) -> tuple[nvrtcResult]: ...


@overload
def nvrtcGetCUBIN(prog: nvrtcProgram | int | None, cubin: int) -> tuple[nvrtcResult, bytes]: ...
@overload
def nvrtcGetCUBIN(prog: nvrtcProgram | int | None, cubin: void_p) -> tuple[nvrtcResult]: ...
def nvrtcGetCUBIN(prog: nvrtcProgram | int | None, cubin: Any) -> Any:
    """Write the cubin of `prog` to the buffer `cubin`; or return it, for a byte count."""
    return _fill(_nvrtcGetCUBIN, prog, cubin)


@libnvrtc("nvrtcResult nvrtcGetNVVMSize(nvrtcProgram prog, size_t *nvvmSizeRet)")
def nvrtcGetNVVMSize(prog: nvrtcProgram | int | None) -> tuple[nvrtcResult, int]:
    """Return the number of bytes of the NVVM IR of `prog` (CUDA 12 only; see nvrtcGetLTOIRSize)."""


@libnvrtc(
    "nvrtcResult nvrtcGetNVVM(nvrtcProgram prog, char *nvvm)",
    sizes={"nvvm": "_needs(nvrtcGetNVVMSize, prog)"},
)
def _nvrtcGetNVVM(prog: nvrtcProgram | int | None, nvvm: void_p) -> tuple[nvrtcResult]: ...


@overload
def nvrtcGetNVVM(prog: nvrtcProgram | int | None, nvvm: int) -> tuple[nvrtcResult, bytes]: ...
@overload
def nvrtcGetNVVM(prog: nvrtcProgram | int | None, nvvm: void_p) -> tuple[nvrtcResult]: ...
def nvrtcGetNVVM(prog: nvrtcProgram | int | None, nvvm: Any) -> Any:
    """Write the NVVM IR of `prog` to the buffer `nvvm`; or return it, for a byte count (CUDA 12 only)."""
    return _fill(_nvrtcGetNVVM, prog, nvvm)


@libnvrtc("nvrtcResult nvrtcGetLTOIRSize(nvrtcProgram prog, size_t *LTOIRSizeRet)")
def nvrtcGetLTOIRSize(prog: nvrtcProgram | int | None) -> tuple[nvrtcResult, int]:
    """Return the number of bytes of the LTO-IR that `prog` was compiled to; 0 unless the option was -dlto."""


@libnvrtc(
    "nvrtcResult nvrtcGetLTOIR(nvrtcProgram prog, char *LTOIR)",
    sizes={"LTOIR": "_needs(nvrtcGetLTOIRSize, prog)"},
)
def _nvrtcGetLTOIR(prog: nvrtcProgram | int | None, LTOIR: void_p) -> tuple[nvrtcResult]: ...


@overload
def nvrtcGetLTOIR(prog: nvrtcProgram | int | None, LTOIR: int) -> tuple[nvrtcResult, bytes]: ...
@overload
def nvrtcGetLTOIR(prog: nvrtcProgram | int | None, LTOIR: void_p) -> tuple[nvrtcResult]: ...
def nvrtcGetLTOIR(prog: nvrtcProgram | int | None, LTOIR: Any) -> Any:
    """Write the LTO-IR of `prog` to the buffer `LTOIR`; or return it, for a byte count."""
    return _fill(_nvrtcGetLTOIR, prog, LTOIR)


@libnvrtc("nvrtcResult nvrtcGetOptiXIRSize(nvrtcProgram prog, size_t *optixirSizeRet)")
def nvrtcGetOptiXIRSize(prog: nvrtcProgram | int | None) -> tuple[nvrtcResult, int]:
    """Return the number of bytes of the OptiX-IR of `prog`; 0 unless the option was --optix-ir."""


@libnvrtc(
    "nvrtcResult nvrtcGetOptiXIR(nvrtcProgram prog, char *optixir)",
    sizes={"optixir": "_needs(nvrtcGetOptiXIRSize, prog)"},
)
def _nvrtcGetOptiXIR(prog: nvrtcProgram | int | None, optixir: void_p) -> tuple[nvrtcResult]: ...


@overload
def nvrtcGetOptiXIR(prog: nvrtcProgram | int | None, optixir: int) -> tuple[nvrtcResult, bytes]: ...
@overload
def nvrtcGetOptiXIR(prog: nvrtcProgram | int | None, optixir: void_p) -> tuple[nvrtcResult]: ...
def nvrtcGetOptiXIR(prog: nvrtcProgram | int | None, optixir: Any) -> Any:
    """Write the OptiX-IR of `prog` to the buffer `optixir`; or return it, for a byte count."""
    return _fill(_nvrtcGetOptiXIR, prog, optixir)


@libnvrtc("nvrtcResult nvrtcGetTileIRSize(nvrtcProgram prog, size_t *TileIRSizeRet)", since="13.2")
def nvrtcGetTileIRSize(prog: nvrtcProgram | int | None) -> tuple[nvrtcResult, int]:
    """Return the number of bytes of the tile IR of `prog`."""


@libnvrtc(
    "nvrtcResult nvrtcGetTileIR(nvrtcProgram prog, char *TileIR)",
    sizes={"TileIR": "_needs(nvrtcGetTileIRSize, prog)"},
    since="13.2",
)
def _nvrtcGetTileIR(prog: nvrtcProgram | int | None, TileIR: void_p) -> tuple[nvrtcResult]: ...


@overload
def nvrtcGetTileIR(prog: nvrtcProgram | int | None, TileIR: int) -> tuple[nvrtcResult, bytes]: ...
@overload
def nvrtcGetTileIR(prog: nvrtcProgram | int | None, TileIR: void_p) -> tuple[nvrtcResult]: ...
def nvrtcGetTileIR(prog: nvrtcProgram | int | None, TileIR: Any) -> Any:
    """Write the tile IR of `prog` to the buffer `TileIR`; or return it, for a byte count."""
    return _fill(_nvrtcGetTileIR, prog, TileIR)


@libnvrtc("nvrtcResult nvrtcGetProgramLogSize(nvrtcProgram prog, size_t *logSizeRet)")
def nvrtcGetProgramLogSize(prog: nvrtcProgram | int | None) -> tuple[nvrtcResult, int]:
    """Return the number of bytes of the compiler's messages about `prog`, the NUL included; 1 for none."""


@libnvrtc(
    "nvrtcResult nvrtcGetProgramLog(nvrtcProgram prog, char *log)",
    sizes={"log": "_needs(nvrtcGetProgramLogSize, prog)"},
)
def _nvrtcGetProgramLog(prog: nvrtcProgram | int | None, log: void_p) -> tuple[nvrtcResult]: ...


@overload
def nvrtcGetProgramLog(prog: nvrtcProgram | int | None, log: int) -> tuple[nvrtcResult, bytes]: ...
@overload
def nvrtcGetProgramLog(prog: nvrtcProgram | int | None, log: void_p) -> tuple[nvrtcResult]: ...
def nvrtcGetProgramLog(prog: nvrtcProgram | int | None, log: Any) -> Any:
    """Write the compiler's messages about `prog` to the buffer `log`; or return them, for a byte count."""
    return _fill(_nvrtcGetProgramLog, prog, log)


@libnvrtc("nvrtcResult nvrtcAddNameExpression(nvrtcProgram prog, const char *const name_expression)")
def nvrtcAddNameExpression(
    prog: nvrtcProgram | int | None, name_expression: bytes | None
) -> tuple[nvrtcResult]:
    """Ask, before compiling, for the kernel or variable `name_expression`, such as b"add<float>"."""


@libnvrtc(
    "nvrtcResult nvrtcGetLoweredName(nvrtcProgram prog, const char *const name_expression, "
    "const char **lowered_name)"
)
def nvrtcGetLoweredName(
    prog: nvrtcProgram | int | None, name_expression: bytes | None
) -> tuple[nvrtcResult, bytes]:
    """Return the mangled name that `name_expression`, as it was added before compiling, has in the result."""


# -- Precompiled Headers -----------------------------------------------------------------------------


@libnvrtc("nvrtcResult nvrtcGetPCHHeapSize(size_t *ret)", since="12.8")
def nvrtcGetPCHHeapSize() -> tuple[nvrtcResult, int]:
    """Return the size in bytes of the heap for precompiled headers."""


@libnvrtc("nvrtcResult nvrtcSetPCHHeapSize(size_t size)", since="12.8")
def nvrtcSetPCHHeapSize(size: int) -> tuple[nvrtcResult]:
    """Set the size of the heap for precompiled headers to at least `size` bytes, in whole pages."""


@libnvrtc("nvrtcResult nvrtcGetPCHCreateStatus(nvrtcProgram prog)", since="12.8")
def nvrtcGetPCHCreateStatus(prog: nvrtcProgram | int | None) -> tuple[nvrtcResult]:
    """Return, as the status, what became of the precompiled header that compiling `prog` was to create."""


@libnvrtc("nvrtcResult nvrtcGetPCHHeapSizeRequired(nvrtcProgram prog, size_t *size)", since="12.8")
def nvrtcGetPCHHeapSizeRequired(prog: nvrtcProgram | int | None) -> tuple[nvrtcResult, int]:
    """Return the heap size in bytes that the precompiled header of `prog` needed."""


@libnvrtc(
    "nvrtcResult nvrtcSetFlowCallback(nvrtcProgram prog, int (*callback)(void *, void *), void *payload)",
    since="12.8",
)
def nvrtcSetFlowCallback(
    prog: nvrtcProgram | int | None, callback: Any, payload: void_p
) -> tuple[nvrtcResult]:
    """Have `callback`, a ctypes function `int (payload, reserved)`, asked now and then; 1 cancels."""


# -- Bundled Headers ---------------------------------------------------------------------------------


@libnvrtc(
    "nvrtcResult nvrtcInstallBundledHeaders(const char *installPath, unsigned int flags, "
    "const char **errorLog)",
    since="13.4",
)
def nvrtcInstallBundledHeaders(installPath: bytes | None, flags: int) -> tuple[nvrtcResult, bytes]:
    """Unpack the CUDA headers that NVRTC carries into the folder `installPath` (None: a default one).

    `flags` is one of NVRTC_INSTALL_HEADERS_*. Returns the messages.
    """


@libnvrtc(
    "nvrtcResult nvrtcGetBundledHeadersInfo(nvrtcBundledHeadersInfo *info, const char **errorLog)",
    since="13.4",
)
def nvrtcGetBundledHeadersInfo() -> tuple[nvrtcResult, nvrtcBundledHeadersInfo, bytes]:
    """Return what headers NVRTC carries, and the messages."""


@libnvrtc(
    "nvrtcResult nvrtcRemoveBundledHeaders(const char *installPath, const char **errorLog)", since="13.4"
)
def nvrtcRemoveBundledHeaders(installPath: bytes | None) -> tuple[nvrtcResult, bytes]:
    """Remove the headers that nvrtcInstallBundledHeaders unpacked into `installPath`; return the messages."""


# -- Buffers -----------------------------------------------------------------------------------------


def _fill(function: Callable[..., tuple[nvrtcResult]], prog: nvrtcProgram | int | None, buffer: Any) -> Any:
    """Call `function` with a buffer; make and return one for a number of bytes."""
    if not isinstance(buffer, int):
        return function(prog, buffer)
    from ._ffi.convert import integer

    *_, parameter = function.__declaration__.inputs  # type: ignore[attr-defined]
    filled = bytearray(integer(buffer, 0, sys.maxsize, f"{function.__name__.lstrip('_')}: {parameter}"))
    (err,) = function(prog, filled)
    return err, None if err else bytes(filled)
