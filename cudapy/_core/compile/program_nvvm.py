"""The compiler of NVVM IR, libNVVM."""

from collections.abc import Iterable
from typing import Any

from ... import nvvm, pathfinder
from ..._ffi.owning import Owning
from ..._types.meanings import NVVMRESULT
from ...nvvm import nvvmError, nvvmProgram
from ..options import c_text
from .build import Built, CompileError, Tool, failure, text
from .program_options import ProgramOptions
from .program_ptx import compile_ptx

NAME, HANDLE = "NVVM", nvvmProgram
_owning = Owning(vars(nvvm), nvvm.libnvvm)


class NVVMCompileError(CompileError, nvvmError):
    """NVVM IR did not compile: caught as the nvvmError of cuda.bindings, too."""

    def __init__(self, message: str, code: Any = None, *more: Any) -> None:
        super().__init__(message, code, *more)
        self.status = self.statuses(code)


def create(cell: nvvmProgram, code: bytes, options: ProgramOptions) -> None:
    """A new program, into `cell`, without modules yet."""
    _owning.nvvmCreateProgram(cell)


def destroy(handle: nvvmProgram) -> None:
    """Give a program back."""
    nvvm.checked.nvvmDestroyProgram(handle)


def compile_program(
    handle: nvvmProgram, code: bytes, options: ProgramOptions, target: str, names: Iterable[str | bytes]
) -> Built:
    """Compile `code`, NVVM IR as text or bitcode. Source: nvvmAddModuleToProgram, nvvmCompileProgram.

    A cubin is what the linker makes of the PTX.
    """
    flags = options.as_bytes("NVVM", target)
    steps = [
        (nvvm.nvvmAddModuleToProgram, data, name) for name, data in [(options.name, code), *modules(options)]
    ]
    if options.use_libdevice:
        with open(pathfinder.find_bitcode_lib("device"), "rb") as file:
            steps.append((nvvm.nvvmLazyAddModuleToProgram, file.read(), "libdevice"))
    subject = f"Program: {', '.join(f'{name} ({len(data)} bytes)' for _, data, name in steps)} of NVVM IR"
    for function, data, name in steps:
        (status,) = function(handle, data, len(data), c_text(name, "Program: the name of a source"))
        if status:
            raise _failed(handle, function.__name__, status, subject, flags)
    for act in (nvvm.nvvmVerifyProgram, nvvm.nvvmCompileProgram):
        (status,) = act(handle, len(flags), flags)
        if status:
            raise _failed(handle, act.__name__, status, subject, flags)
    result = bytearray(nvvm.checked.nvvmGetCompiledResultSize(handle))
    nvvm.checked.nvvmGetCompiledResult(handle, result)
    log = _log(handle)
    if target == "cubin":
        linked = compile_ptx(bytes(result), options)
        return linked._replace(log="\n".join(filter(None, (log, linked.log))))
    return Built(bytes(result), log)


def modules(options: ProgramOptions) -> list[tuple[str, bytes]]:
    """The extra sources as (name, bytes). Raises TypeError for what is not a pair of those."""
    sources = []
    for pair in options.extra_sources or ():
        if not (isinstance(pair, tuple) and len(pair) == 2 and isinstance(pair[0], str)):
            raise TypeError(f"ProgramOptions: extra_sources has pairs of a name and a source, not {pair!r}")
        name, source = pair
        if not isinstance(source, (str, bytes, bytearray)):
            kind = type(source).__name__
            raise TypeError(f"ProgramOptions: extra source {name!r} must be str or bytes, not {kind}")
        sources.append((name, source.encode() if isinstance(source, str) else bytes(source)))
    return sources


def _log(handle: nvvmProgram) -> str:
    buffer = bytearray(nvvm.checked.nvvmGetProgramLogSize(handle))
    nvvm.checked.nvvmGetProgramLog(handle, buffer)
    return text(buffer)


def _failed(
    handle: nvvmProgram, function: str, status: nvvm.nvvmResult, subject: str, flags: list[bytes]
) -> CompileError:
    loaded = pathfinder.load("nvvm")
    of = f" of CUDA {loaded.major}" if loaded.major else ""
    tool = Tool("libNVVM {}.{}{}".format(*nvvm.checked.nvvmVersion(), of), loaded.path, NVVMRESULT)
    return failure(NVVMCompileError, tool, function, status, subject, flags, _log(handle))
