"""The compilers of PTX: the linkers, of one input."""

from ..kernels.object_code import ObjectCode
from .build import Built, CompileError, LinkError
from .linker import Linker
from .program_options import ProgramOptions


def compile_ptx(ptx: bytes, options: ProgramOptions) -> Built:
    """The cubin of PTX, by nvJitLink or the driver."""
    try:
        with Linker(ObjectCode._of(ptx, "ptx", options.name), options=options.for_linker()) as linker:
            code = linker.link("cubin").code
            log = "\n".join(filter(None, (linker.get_error_log(), linker.get_info_log())))
            return Built(code, log)
    except LinkError as error:
        raise _compile_error(error)(
            str(error), error.code, error.function, error.log, error.options, error.library
        ) from None


def _compile_error(error: LinkError) -> type[CompileError]:
    """What stands for it where a program is compiled."""
    if Linker.which_backend() == "driver":
        return CompileError
    from .linker_nvjitlink import NvJitLinkError, PTXCompileError

    return PTXCompileError if isinstance(error, NvJitLinkError) else CompileError
