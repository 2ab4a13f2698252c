"""nvFatbin, which packs code for several architectures into one: every function of nvFatbin.h, in its order.

Functions return `(status, results...)`, and None for each result after a failure; the status is an
nvFatbinResult. `checked` has the same functions returning the results alone and raising CUDAError.

After them comes the face of `cuda.bindings`: `create`, `add_cubin`, `get`, ... return the results alone,
handles as ints, take str for bytes, and raise nvFatbinError.

An architecture is its number: b"90" for sm_90 and compute_90. nvFatbinGet takes a buffer, bytes included,
that is as long as nvFatbinSize says, and fills it in place. The library came with CUDA 12.4.
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

    from ._checked import nvfatbin as _checked
    from ._ffi.scalars import void_p
    from ._types.nvfatbin import *
else:
    __getattr__, __dir__ = on_demand(globals(), "._types", "nvfatbin")


def _describe() -> str:
    from . import pathfinder

    _, major, minor = nvFatbinVersion()
    return f"{pathfinder.load('nvfatbin').path}, which is nvFatbin {major}.{minor}"


_raiser = Raiser(meanings("NVFATBINRESULT"))
libnvfatbin = Library(loader("nvfatbin"), "nvFatbinResult", _describe, _raiser, recipes=recipes("NVFATBIN"))
if TYPE_CHECKING:
    checked = _checked
else:
    checked = Checked(globals(), libnvfatbin)


# -- Error codes -------------------------------------------------------------------------------------


@libnvfatbin("const char *nvFatbinGetErrorString(nvFatbinResult result)")
def nvFatbinGetErrorString(result: nvFatbinResult | int) -> tuple[nvFatbinResult, bytes]:
    """Return what the status `result` means, in a few words such as b"invalid architecture"."""


# -- Fatbinary Creation ------------------------------------------------------------------------------


@libnvfatbin(
    "nvFatbinResult nvFatbinCreate(nvFatbinHandle *handle_indirect, const char **options, "
    "size_t optionsCount)",
    sizes={"options": "optionsCount"},
)
def nvFatbinCreate(
    options: Sequence[bytes] | None, optionsCount: int
) -> tuple[nvFatbinResult, nvFatbinHandle]:
    """Make an empty fat binary with `optionsCount` options, such as b"-compress=false"."""


@libnvfatbin("nvFatbinResult nvFatbinDestroy(nvFatbinHandle *handle_indirect)", in_place=("handle_indirect",))
def nvFatbinDestroy(handle_indirect: nvFatbinHandle) -> tuple[nvFatbinResult]:
    """Destroy `handle_indirect`, and make it null."""


@libnvfatbin(
    "nvFatbinResult nvFatbinAddPTX(nvFatbinHandle handle, const char *code, size_t size, const char *arch, "
    "const char *identifier, const char *optionsCmdLine)",
    sizes={"code": "size"},
)
def nvFatbinAddPTX(
    handle: nvFatbinHandle | int | None,
    code: void_p,
    size: int,
    arch: bytes | None,
    identifier: bytes | None,
    optionsCmdLine: bytes | None,
) -> tuple[nvFatbinResult]:
    """Add the PTX in the first `size` bytes of `code`, NUL included, and the options to compile it with."""


@libnvfatbin(
    "nvFatbinResult nvFatbinAddCubin(nvFatbinHandle handle, const void *code, size_t size, const char *arch, "
    "const char *identifier)",
    sizes={"code": "size"},
)
def nvFatbinAddCubin(
    handle: nvFatbinHandle | int | None,
    code: void_p,
    size: int,
    arch: bytes | None,
    identifier: bytes | None,
) -> tuple[nvFatbinResult]:
    """Add the cubin in the first `size` bytes of `code`; cuobjdump calls it `identifier`."""


@libnvfatbin(
    "nvFatbinResult nvFatbinAddLTOIR(nvFatbinHandle handle, const void *code, size_t size, const char *arch, "
    "const char *identifier, const char *optionsCmdLine)",
    sizes={"code": "size"},
)
def nvFatbinAddLTOIR(
    handle: nvFatbinHandle | int | None,
    code: void_p,
    size: int,
    arch: bytes | None,
    identifier: bytes | None,
    optionsCmdLine: bytes | None,
) -> tuple[nvFatbinResult]:
    """Add the LTO-IR in the first `size` bytes of `code`, and the options to link it with."""


@libnvfatbin(
    "nvFatbinResult nvFatbinAddIndex(nvFatbinHandle handle, const void *code, size_t size, "
    "const char *identifier)",
    sizes={"code": "size"},
    since="12.8",
)
def nvFatbinAddIndex(
    handle: nvFatbinHandle | int | None, code: void_p, size: int, identifier: bytes | None
) -> tuple[nvFatbinResult]:
    """Add the index file in the first `size` bytes of `code`."""


@libnvfatbin(
    "nvFatbinResult nvFatbinAddReloc(nvFatbinHandle handle, const void *code, size_t size)",
    sizes={"code": "size"},
    since="12.8",
)
def nvFatbinAddReloc(handle: nvFatbinHandle | int | None, code: void_p, size: int) -> tuple[nvFatbinResult]:
    """Add the relocatable PTX that the host object in the first `size` bytes of `code` holds."""


@libnvfatbin(
    "nvFatbinResult nvFatbinAddTileIR(nvFatbinHandle handle, const void *code, size_t size, "
    "const char *identifier, const char *optionsCmdLine)",
    sizes={"code": "size"},
    since="13.1",
)
def nvFatbinAddTileIR(
    handle: nvFatbinHandle | int | None,
    code: void_p,
    size: int,
    identifier: bytes | None,
    optionsCmdLine: bytes | None,
) -> tuple[nvFatbinResult]:
    """Add the tile IR in the first `size` bytes of `code`, and the options to compile it with."""


@libnvfatbin("nvFatbinResult nvFatbinSize(nvFatbinHandle handle, size_t *size)")
def nvFatbinSize(handle: nvFatbinHandle | int | None) -> tuple[nvFatbinResult, int]:
    """Return the number of bytes of the fat binary."""


@libnvfatbin(
    "nvFatbinResult nvFatbinGet(nvFatbinHandle handle, void *buffer)",
    sizes={"buffer": "_needs(nvFatbinSize, handle)"},
)
def nvFatbinGet(handle: nvFatbinHandle | int | None, buffer: void_p) -> tuple[nvFatbinResult]:
    """Write the fat binary to `buffer`."""


@libnvfatbin("nvFatbinResult nvFatbinVersion(unsigned int *major, unsigned int *minor)")
def nvFatbinVersion() -> tuple[nvFatbinResult, int, int]:
    """Return the CUDA version of the library, for instance 13 and 0."""


# -- The face of cuda.bindings -----------------------------------------------------------------------


class nvFatbinError(FaceError):
    """An nvFatbin function failed; `status` is the Result."""

    @staticmethod
    def statuses(status: int) -> Result:
        from ._types.nvfatbin import Result

        return Result(status)


_face = Face(nvFatbinError, _raiser)


@_face(nvFatbinGetErrorString)
def get_error_string(result: Result | int) -> str:
    """Return what the status `result` means, in a few words such as "invalid architecture"."""


@_face(nvFatbinCreate)
def create(options: Sequence[str | bytes] | None, options_count: int) -> int: ...


@_face(nvFatbinDestroy)
def destroy(handle: int) -> None:
    """Destroy `handle`, which must not be used again."""


@_face(nvFatbinAddPTX)
def add_ptx(
    handle: int,
    code: void_p,
    size: int,
    arch: str | bytes,
    identifier: str | bytes | None,
    options_cmd_line: str | bytes | None,
) -> None: ...


@_face(nvFatbinAddCubin)
def add_cubin(
    handle: int, code: void_p, size: int, arch: str | bytes, identifier: str | bytes | None
) -> None: ...


@_face(nvFatbinAddLTOIR)
def add_ltoir(
    handle: int,
    code: void_p,
    size: int,
    arch: str | bytes,
    identifier: str | bytes | None,
    options_cmd_line: str | bytes | None,
) -> None: ...


@_face(nvFatbinAddIndex)
def add_index(handle: int, code: void_p, size: int, identifier: str | bytes | None) -> None: ...


@_face(nvFatbinAddReloc)
def add_reloc(handle: int, code: void_p, size: int) -> None: ...


@_face(nvFatbinAddTileIR)
def add_tile_ir(
    handle: int,
    code: void_p,
    size: int,
    identifier: str | bytes | None,
    options_cmd_line: str | bytes | None,
) -> None: ...


@_face(nvFatbinSize)
def size(handle: int) -> int: ...


@_face(nvFatbinGet)
def get(handle: int, buffer: void_p) -> None: ...


@_face(nvFatbinVersion)
def version() -> tuple[int, int]: ...
