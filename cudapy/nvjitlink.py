"""nvJitLink, the linker of device code at run time: every function of nvJitLink.h, in the header's order.

Functions return `(status, results...)`, and None for each result after a failure; the status is an
nvJitLinkResult. `checked` has the same functions returning the results alone and raising CUDAError.

After them comes the face of `cuda.bindings`: `create`, `add_data`, `complete`, ... return the results alone,
handles as ints, take str for bytes, and raise nvJitLinkError.

The functions that fill a buffer (nvJitLinkGetLinkedCubin and its kin) take one, bytes included, that is as
long as the function beside them says, and fill it in place.

The library has each function under one more name per release, such as __nvJitLinkCreate_13_0; in a library
they all lead to the same code. CUDA 12.0 to 12.2 have no other name than the first of those.
"""

from __future__ import annotations

from ._bindings.errors import Raiser
from ._bindings.libraries import loader, meanings, recipes
from ._ffi.lazy_types import on_demand
from ._ffi.library import Checked, Library
from ._ffi.snake_case import Face, FaceError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from ._checked import nvjitlink as _checked
    from ._ffi.scalars import void_p
    from ._types.nvjitlink import *
else:
    __getattr__, __dir__ = on_demand(globals(), "._types", "nvjitlink")


def _describe() -> str:
    from . import pathfinder

    loaded = pathfinder.load("nvJitLink")
    if not hasattr(loaded.handle, "nvJitLinkVersion"):
        return f"{loaded.path}, which is an nvJitLink older than 12.3"
    _, major, minor = nvJitLinkVersion()
    return f"{loaded.path}, which is nvJitLink {major}.{minor}"


_raiser = Raiser(meanings("NVJITLINKRESULT"))
libnvjitlink = Library(
    loader("nvJitLink"), "nvJitLinkResult", _describe, _raiser, recipes=recipes("NVJITLINK")
)
if TYPE_CHECKING:
    checked = _checked
else:
    checked = Checked(globals(), libnvjitlink)


# -- Linking -----------------------------------------------------------------------------------------


@libnvjitlink(
    "nvJitLinkResult nvJitLinkCreate(nvJitLinkHandle *handle, uint32_t numOptions, "
    "const char *const *options)",
    sizes={"options": "numOptions"},
    before="__nvJitLinkCreate_12_0",
)
def nvJitLinkCreate(
    numOptions: int, options: Sequence[bytes] | None
) -> tuple[nvJitLinkResult, nvJitLinkHandle]:
    """Make a linker with `numOptions` options, which must have an architecture, such as b"-arch=sm_90".

    One that never was may end the process: nvJitLink 13.0 calls exit for sm_1.
    """


@libnvjitlink(
    "nvJitLinkResult nvJitLinkDestroy(nvJitLinkHandle *handle)",
    in_place=("handle",),
    before="__nvJitLinkDestroy_12_0",
)
def nvJitLinkDestroy(handle: nvJitLinkHandle) -> tuple[nvJitLinkResult]:
    """Destroy `handle`, and make it null."""


@libnvjitlink(
    "nvJitLinkResult nvJitLinkAddData(nvJitLinkHandle handle, nvJitLinkInputType inputType, "
    "const void *data, size_t size, const char *name)",
    sizes={"data": "size"},
    before="__nvJitLinkAddData_12_0",
)
def nvJitLinkAddData(
    handle: nvJitLinkHandle | int | None,
    inputType: nvJitLinkInputType | int,
    data: void_p,
    size: int,
    name: bytes | None,
) -> tuple[nvJitLinkResult]:
    """Add the first `size` bytes of `data`, a PTX's NUL among them; messages call the input `name`."""


@libnvjitlink(
    "nvJitLinkResult nvJitLinkAddFile(nvJitLinkHandle handle, nvJitLinkInputType inputType, "
    "const char *fileName)",
    before="__nvJitLinkAddFile_12_0",
)
def nvJitLinkAddFile(
    handle: nvJitLinkHandle | int | None, inputType: nvJitLinkInputType | int, fileName: bytes | None
) -> tuple[nvJitLinkResult]:
    """Add the file `fileName`: a cubin, PTX, LTO-IR, fat binary, or a host object or library."""


@libnvjitlink("nvJitLinkResult nvJitLinkComplete(nvJitLinkHandle handle)", before="__nvJitLinkComplete_12_0")
def nvJitLinkComplete(handle: nvJitLinkHandle | int | None) -> tuple[nvJitLinkResult]:
    """Link what was added."""


@libnvjitlink(
    "nvJitLinkResult nvJitLinkGetLinkedCubinSize(nvJitLinkHandle handle, size_t *size)",
    before="__nvJitLinkGetLinkedCubinSize_12_0",
)
def nvJitLinkGetLinkedCubinSize(handle: nvJitLinkHandle | int | None) -> tuple[nvJitLinkResult, int]:
    """Return the number of bytes of the linked cubin."""


@libnvjitlink(
    "nvJitLinkResult nvJitLinkGetLinkedCubin(nvJitLinkHandle handle, void *cubin)",
    sizes={"cubin": "_needs(nvJitLinkGetLinkedCubinSize, handle)"},
    before="__nvJitLinkGetLinkedCubin_12_0",
)
def nvJitLinkGetLinkedCubin(handle: nvJitLinkHandle | int | None, cubin: void_p) -> tuple[nvJitLinkResult]:
    """Write the linked cubin to the buffer `cubin`."""


@libnvjitlink(
    "nvJitLinkResult nvJitLinkGetLinkedPtxSize(nvJitLinkHandle handle, size_t *size)",
    before="__nvJitLinkGetLinkedPtxSize_12_0",
)
def nvJitLinkGetLinkedPtxSize(handle: nvJitLinkHandle | int | None) -> tuple[nvJitLinkResult, int]:
    """Return the number of bytes of the linked PTX, NUL included: there is one with -lto and -ptx only."""


@libnvjitlink(
    "nvJitLinkResult nvJitLinkGetLinkedPtx(nvJitLinkHandle handle, char *ptx)",
    sizes={"ptx": "_needs(nvJitLinkGetLinkedPtxSize, handle)"},
    before="__nvJitLinkGetLinkedPtx_12_0",
)
def nvJitLinkGetLinkedPtx(handle: nvJitLinkHandle | int | None, ptx: void_p) -> tuple[nvJitLinkResult]:
    """Write the linked PTX to the buffer `ptx`."""


@libnvjitlink(
    "nvJitLinkResult nvJitLinkGetLinkedLTOIRSize(nvJitLinkHandle handle, size_t *size)", since="13.3"
)
def nvJitLinkGetLinkedLTOIRSize(handle: nvJitLinkHandle | int | None) -> tuple[nvJitLinkResult, int]:
    """Return the number of bytes of the linked LTO-IR: there is some with -lto only."""


@libnvjitlink(
    "nvJitLinkResult nvJitLinkGetLinkedLTOIR(nvJitLinkHandle handle, void *ltoir)",
    sizes={"ltoir": "_needs(nvJitLinkGetLinkedLTOIRSize, handle)"},
    since="13.3",
)
def nvJitLinkGetLinkedLTOIR(handle: nvJitLinkHandle | int | None, ltoir: void_p) -> tuple[nvJitLinkResult]:
    """Write the linked LTO-IR to the buffer `ltoir`."""


@libnvjitlink(
    "nvJitLinkResult nvJitLinkGetErrorLogSize(nvJitLinkHandle handle, size_t *size)",
    before="__nvJitLinkGetErrorLogSize_12_0",
)
def nvJitLinkGetErrorLogSize(handle: nvJitLinkHandle | int | None) -> tuple[nvJitLinkResult, int]:
    """Return the number of bytes of the errors and warnings so far, the NUL included; 0 for none."""


@libnvjitlink(
    "nvJitLinkResult nvJitLinkGetErrorLog(nvJitLinkHandle handle, char *log)",
    sizes={"log": "_needs(nvJitLinkGetErrorLogSize, handle)"},
    before="__nvJitLinkGetErrorLog_12_0",
)
def _nvJitLinkGetErrorLog(handle: nvJitLinkHandle | int | None, log: void_p) -> tuple[nvJitLinkResult]: ...


def nvJitLinkGetErrorLog(handle: nvJitLinkHandle | int | None, log: void_p) -> tuple[nvJitLinkResult]:
    """Write the errors and warnings to the buffer `log`."""
    return _nvJitLinkGetErrorLog(handle, _with_room(log))


@libnvjitlink(
    "nvJitLinkResult nvJitLinkGetInfoLogSize(nvJitLinkHandle handle, size_t *size)",
    before="__nvJitLinkGetInfoLogSize_12_0",
)
def nvJitLinkGetInfoLogSize(handle: nvJitLinkHandle | int | None) -> tuple[nvJitLinkResult, int]:
    """Return the number of bytes of the other messages so far, the NUL included; 0 for none."""


@libnvjitlink(
    "nvJitLinkResult nvJitLinkGetInfoLog(nvJitLinkHandle handle, char *log)",
    sizes={"log": "_needs(nvJitLinkGetInfoLogSize, handle)"},
    before="__nvJitLinkGetInfoLog_12_0",
)
def _nvJitLinkGetInfoLog(handle: nvJitLinkHandle | int | None, log: void_p) -> tuple[nvJitLinkResult]: ...


def nvJitLinkGetInfoLog(handle: nvJitLinkHandle | int | None, log: void_p) -> tuple[nvJitLinkResult]:
    """Write the other messages, those that -verbose and -time ask for, to the buffer `log`."""
    return _nvJitLinkGetInfoLog(handle, _with_room(log))


def _with_room(log: Any) -> Any:
    """`log`, or the bytes for which a scratch byte is made: of a log whose size is 0, the NUL is written."""
    try:
        return b"" if memoryview(log).nbytes == 0 else log
    except TypeError:
        return log  # an address, or what will be refused


@libnvjitlink("nvJitLinkResult nvJitLinkVersion(unsigned int *major, unsigned int *minor)", since="12.3")
def nvJitLinkVersion() -> tuple[nvJitLinkResult, int, int]:
    """Return the CUDA version of the library, for instance 13 and 0."""


# -- The face of cuda.bindings -----------------------------------------------------------------------


class nvJitLinkError(FaceError):
    """An nvJitLink function failed; `status` is the Result."""

    @staticmethod
    def statuses(status: int) -> Result:
        from ._types.nvjitlink import Result

        return Result(status)


_face = Face(nvJitLinkError, _raiser)


@_face(nvJitLinkCreate)
def create(num_options: int, options: Sequence[str | bytes] | None) -> int: ...


@_face(nvJitLinkDestroy)
def destroy(handle: int) -> None:
    """Destroy `handle`, which must not be used again."""


@_face(nvJitLinkAddData)
def add_data(
    handle: int, input_type: InputType | int, data: void_p, size: int, name: str | bytes
) -> None: ...


@_face(nvJitLinkAddFile)
def add_file(handle: int, input_type: InputType | int, file_name: str | bytes) -> None: ...


@_face(nvJitLinkComplete)
def complete(handle: int) -> None: ...


@_face(nvJitLinkGetLinkedCubinSize)
def get_linked_cubin_size(handle: int) -> int: ...


@_face(nvJitLinkGetLinkedCubin)
def get_linked_cubin(handle: int, cubin: void_p) -> None: ...


@_face(nvJitLinkGetLinkedPtxSize)
def get_linked_ptx_size(handle: int) -> int: ...


@_face(nvJitLinkGetLinkedPtx)
def get_linked_ptx(handle: int, ptx: void_p) -> None: ...


@_face(nvJitLinkGetLinkedLTOIRSize)
def get_linked_ltoir_size(handle: int) -> int: ...


@_face(nvJitLinkGetLinkedLTOIR)
def get_linked_ltoir(handle: int, ltoir: void_p) -> None: ...


@_face(nvJitLinkGetErrorLogSize)
def get_error_log_size(handle: int) -> int: ...


@_face(nvJitLinkGetErrorLog)
def get_error_log(handle: int, log: void_p) -> None: ...


@_face(nvJitLinkGetInfoLogSize)
def get_info_log_size(handle: int) -> int: ...


@_face(nvJitLinkGetInfoLog)
def get_info_log(handle: int, log: void_p) -> None: ...


@_face(nvJitLinkVersion)
def version() -> tuple[int, int]: ...
