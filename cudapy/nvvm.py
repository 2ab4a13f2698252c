"""libNVVM, the compiler of NVVM IR to PTX: every function of nvvm.h, in the header's order.

Functions return `(status, results...)`, and None for each result after a failure; the status is an
nvvmResult. `checked` has the same functions returning the results alone and raising CUDAError.

After them comes the face of `cuda.bindings`: `create_program`, `compile_program`, ... return the results
alone, handles as ints, take str for bytes, and raise nvvmError.

nvvmGetCompiledResult and nvvmGetProgramLog take a buffer, bytes included, that is as long as the function
beside them says, and fill it in place. The math functions of CUDA are in libdevice.10.bc, near the library.
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

    from ._checked import nvvm as _checked
    from ._ffi.scalars import void_p
    from ._types.nvvm import *
else:
    __getattr__, __dir__ = on_demand(globals(), "._types", "nvvm")


def _describe() -> str:
    from . import pathfinder

    loaded = pathfinder.load("nvvm")
    of = f" of CUDA {loaded.major}" if loaded.major else ""
    _, major, minor = nvvmVersion()
    return f"{loaded.path}, which is libNVVM {major}.{minor}{of}"


_raiser = Raiser(meanings("NVVMRESULT"))
libnvvm = Library(loader("nvvm"), "nvvmResult", _describe, _raiser, recipes=recipes("NVVM"))
if TYPE_CHECKING:
    checked = _checked
else:
    checked = Checked(globals(), libnvvm)


# -- Error Handling ----------------------------------------------------------------------------------


@libnvvm("const char *nvvmGetErrorString(nvvmResult result)")
def nvvmGetErrorString(result: nvvmResult | int) -> tuple[nvvmResult, bytes]:
    """Return the name of the status `result`, such as b"NVVM_ERROR_INVALID_IR"."""


# -- General Information Query -----------------------------------------------------------------------


@libnvvm("nvvmResult nvvmVersion(int *major, int *minor)")
def nvvmVersion() -> tuple[nvvmResult, int, int]:
    """Return the version of libNVVM, for instance 2 and 0; it is not that of CUDA."""


@libnvvm("nvvmResult nvvmIRVersion(int *majorIR, int *minorIR, int *majorDbg, int *minorDbg)")
def nvvmIRVersion() -> tuple[nvvmResult, int, int, int, int]:
    """Return the versions of NVVM IR and of debug metadata in it that the library reads, two numbers each."""


@libnvvm("nvvmResult nvvmLLVMVersion(const char *arch, int *major)", since="13.1")
def nvvmLLVMVersion(arch: bytes | None) -> tuple[nvvmResult, int]:
    """Return the version of LLVM whose IR the library reads for `arch`, such as b"compute_90"."""


# -- Compilation -------------------------------------------------------------------------------------


@libnvvm("nvvmResult nvvmCreateProgram(nvvmProgram *prog)")
def nvvmCreateProgram() -> tuple[nvvmResult, nvvmProgram]:
    """Make a program without modules."""


@libnvvm("nvvmResult nvvmDestroyProgram(nvvmProgram *prog)", in_place=("prog",))
def nvvmDestroyProgram(prog: nvvmProgram) -> tuple[nvvmResult]:
    """Destroy `prog`, and make it null."""


@libnvvm(
    "nvvmResult nvvmAddModuleToProgram(nvvmProgram prog, const char *buffer, size_t size, const char *name)",
    sizes={"buffer": "size"},
)
def nvvmAddModuleToProgram(
    prog: nvvmProgram | int | None, buffer: void_p, size: int, name: bytes | None
) -> tuple[nvvmResult]:
    """Add the NVVM IR, bitcode or text, in the first `size` bytes of `buffer`. Messages call it `name`."""


@libnvvm(
    "nvvmResult nvvmLazyAddModuleToProgram(nvvmProgram prog, const char *buffer, size_t size, "
    "const char *name)",
    sizes={"buffer": "size"},
)
def nvvmLazyAddModuleToProgram(
    prog: nvvmProgram | int | None, buffer: void_p, size: int, name: bytes | None
) -> tuple[nvvmResult]:
    """Add bitcode of which only what other modules call is used, as it is best for libdevice."""


@libnvvm(
    "nvvmResult nvvmCompileProgram(nvvmProgram prog, int numOptions, const char **options)",
    sizes={"options": "numOptions"},
)
def nvvmCompileProgram(
    prog: nvvmProgram | int | None, numOptions: int, options: Sequence[bytes] | None
) -> tuple[nvvmResult]:
    """Compile `prog` to PTX with `numOptions` compiler options, such as b"-arch=compute_90"."""


@libnvvm(
    "nvvmResult nvvmVerifyProgram(nvvmProgram prog, int numOptions, const char **options)",
    sizes={"options": "numOptions"},
)
def nvvmVerifyProgram(
    prog: nvvmProgram | int | None, numOptions: int, options: Sequence[bytes] | None
) -> tuple[nvvmResult]:
    """Check that `prog` is valid NVVM IR; takes the options that nvvmCompileProgram takes."""


@libnvvm("nvvmResult nvvmGetCompiledResultSize(nvvmProgram prog, size_t *bufferSizeRet)")
def nvvmGetCompiledResultSize(prog: nvvmProgram | int | None) -> tuple[nvvmResult, int]:
    """Return the number of bytes of the PTX that `prog` was compiled to, its NUL included."""


@libnvvm(
    "nvvmResult nvvmGetCompiledResult(nvvmProgram prog, char *buffer)",
    sizes={"buffer": "_needs(nvvmGetCompiledResultSize, prog)"},
)
def nvvmGetCompiledResult(prog: nvvmProgram | int | None, buffer: void_p) -> tuple[nvvmResult]:
    """Write the PTX of `prog` to `buffer`."""


@libnvvm("nvvmResult nvvmGetProgramLogSize(nvvmProgram prog, size_t *bufferSizeRet)")
def nvvmGetProgramLogSize(prog: nvvmProgram | int | None) -> tuple[nvvmResult, int]:
    """Return the number of bytes of the messages about `prog`, the NUL included; 1 for none."""


@libnvvm(
    "nvvmResult nvvmGetProgramLog(nvvmProgram prog, char *buffer)",
    sizes={"buffer": "_needs(nvvmGetProgramLogSize, prog)"},
)
def nvvmGetProgramLog(prog: nvvmProgram | int | None, buffer: void_p) -> tuple[nvvmResult]:
    """Write the messages about `prog` to `buffer`."""


# -- The face of cuda.bindings -----------------------------------------------------------------------


class nvvmError(FaceError):
    """A libNVVM function failed; `status` is the Result."""

    @staticmethod
    def statuses(status: int) -> Result:
        from ._types.nvvm import Result

        return Result(status)


_face = Face(nvvmError, _raiser)


@_face(nvvmGetErrorString)
def get_error_string(result: Result | int) -> str:
    """Return the name of the status `result`, such as "NVVM_ERROR_INVALID_IR"."""


@_face(nvvmVersion)
def version() -> tuple[int, int]: ...


@_face(nvvmIRVersion)
def ir_version() -> tuple[int, int, int, int]: ...


@_face(nvvmLLVMVersion)
def llvm_version(arch: str | bytes) -> int: ...


@_face(nvvmCreateProgram)
def create_program() -> int: ...


@_face(nvvmDestroyProgram)
def destroy_program(prog: int) -> None:
    """Destroy `prog`, which must not be used again."""


@_face(nvvmAddModuleToProgram)
def add_module_to_program(prog: int, buffer: void_p, size: int, name: str | bytes | None) -> None: ...


@_face(nvvmLazyAddModuleToProgram)
def lazy_add_module_to_program(prog: int, buffer: void_p, size: int, name: str | bytes | None) -> None: ...


@_face(nvvmCompileProgram)
def compile_program(prog: int, num_options: int, options: Sequence[str | bytes] | None) -> None: ...


@_face(nvvmVerifyProgram)
def verify_program(prog: int, num_options: int, options: Sequence[str | bytes] | None) -> None: ...


@_face(nvvmGetCompiledResultSize)
def get_compiled_result_size(prog: int) -> int: ...


@_face(nvvmGetCompiledResult)
def get_compiled_result(prog: int, buffer: void_p) -> None: ...


@_face(nvvmGetProgramLogSize)
def get_program_log_size(prog: int) -> int: ...


@_face(nvvmGetProgramLog)
def get_program_log(prog: int, buffer: void_p) -> None: ...
