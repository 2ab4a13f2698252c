"""The compiler of CUDA C++, NVRTC."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from ... import nvrtc, pathfinder
from ..._ffi.owning import Owning
from ..._pathfinder.headers import Release, matching, release_of, version
from ..._pathfinder.missing import advice
from ..._types.meanings import NVRTCRESULT
from ...nvrtc import nvrtcProgram, nvrtcResult
from ..kernels.parameter_kinds import declared, with_note
from ..options import c_text
from .build import Built, CompileError, Tool, failure, text
from .cache_folder import own_folder, user_cache

if TYPE_CHECKING:
    from .program_options import ProgramOptions

NAME, HANDLE = "NVRTC", nvrtcProgram
_owning = Owning(vars(nvrtc), nvrtc.libnvrtc)
GETTERS = {"ptx": "PTX", "cubin": "CUBIN", "ltoir": "LTOIR"}


def create(cell: nvrtcProgram, code: bytes, options: ProgramOptions) -> None:
    """A new program, into `cell`: each takes name expressions only before it is first compiled."""
    source, name = c_text(code, "Program: the code"), c_text(options.name, "ProgramOptions: name")
    _owning.nvrtcCreateProgram(cell, source, name, 0, None, None)


def destroy(handle: nvrtcProgram) -> None:
    """Give a program back."""
    nvrtc.checked.nvrtcDestroyProgram(handle)


def compile_program(
    handle: nvrtcProgram, code: bytes, options: ProgramOptions, target: str, names: Iterable[str | bytes]
) -> Built:
    """Compile `handle`, new and made of `code`. Source: nvrtcCompileProgram, nvrtcGetLoweredName."""
    flags = [*options.as_bytes("NVRTC", target), *header_flags(code, options)]
    for name in names:
        nvrtc.checked.nvrtcAddNameExpression(handle, c_text(name, "Program.compile: a name expression"))
    (status,) = nvrtc.nvrtcCompileProgram(handle, len(flags), flags)
    if not status and _grow_pch_heap(handle, options):
        (status,) = nvrtc.nvrtcCompileProgram(handle, len(flags), flags)
    log = text(_read(handle, "ProgramLog"))
    if status:
        raise _failed(status, log, code, options, flags)
    lowered = {name: nvrtc.checked.nvrtcGetLoweredName(handle, c_text(name, "a name")) for name in names}
    compiled = _read(handle, GETTERS[target])
    if target == "cubin" and not nvrtc.nvrtcGetPTXSize(handle)[0]:  # it made PTX on the way
        compiled = with_note(compiled, declared(_read(handle, "PTX")))
    return Built(compiled, log, lowered)


def header_flags(code: bytes, options: ProgramOptions) -> list[bytes]:
    """The flags by which NVRTC finds CUDA's own headers, for a program that includes any.

    Those of the caller's include_path come first; ours are of NVRTC's very release, or left out.
    """
    if options.cuda_headers is False or options.use_bundled_headers:
        return []
    if not (b"include" in code or options.pre_include) or other_headers(options):
        return []
    folders = matching(*_compiler(), pathfinder.this_host()).folders
    return [f"--include-path={folder}".encode() for folder in folders]


def other_headers(options: ProgramOptions) -> str:
    """What to warn of if include_path has CUDA's headers of another release than NVRTC; "" if not."""
    given = options.include_path or ()
    for folder in (given,) if isinstance(given, str) else given:
        other = release_of(folder)
        if other is None:
            continue
        release, library = _compiler()
        if other != release:
            return (
                f"include_path has the headers of CUDA {version(other)} ({folder}), but the compiler is "
                f"NVRTC {version(release)} ({library})"
            )
    return ""


def bundled_headers(where: bool | str) -> str:
    """The folder for the headers that NVRTC carries: `where` or, for True, one of this user's."""
    if isinstance(where, str):
        return where
    release, _ = _compiler()
    return own_folder(os.path.join(user_cache(), f"headers-{version(release)}"))


def pch_status(handle: nvrtcProgram) -> str:
    """'created', 'not_attempted' or 'failed'. Source: nvrtcGetPCHCreateStatus, CUDA 12.8."""
    (status,) = nvrtc.nvrtcGetPCHCreateStatus(handle)
    if status == nvrtcResult.NVRTC_SUCCESS:
        return "created"
    return "not_attempted" if status == nvrtcResult.NVRTC_ERROR_NO_PCH_CREATE_ATTEMPTED else "failed"


def _grow_pch_heap(handle: nvrtcProgram, options: ProgramOptions) -> bool:
    """Whether a precompiled header did not fit, and now will. Source: nvrtcSetPCHHeapSize."""
    if not (options.pch or options.create_pch):
        return False
    (status,) = nvrtc.nvrtcGetPCHCreateStatus(handle)
    if status != nvrtcResult.NVRTC_ERROR_PCH_CREATE_HEAP_EXHAUSTED:
        return False
    nvrtc.checked.nvrtcSetPCHHeapSize(nvrtc.checked.nvrtcGetPCHHeapSizeRequired(handle))
    return True


def _compiler() -> tuple[Release, str]:
    """The release and the path of NVRTC; it is loaded only if the names of its files do not tell."""
    located = pathfinder.locate("nvrtc")
    if isinstance(located, pathfinder.Candidate) and (release := _release_by_name(located.path)):
        return release, located.path
    major, minor = nvrtc.checked.nvrtcVersion()
    return (major, minor), pathfinder.load("nvrtc").path


_BUILTINS = re.compile(r"libnvrtc-builtins\.so\.(\d+)\.(\d+)|nvrtc-builtins64_(\d\d)(\d+)\.dll")


def _release_by_name(path: str) -> Release | None:
    """The release of NVRTC by what it opens later, whose name has it; None if that is not clear."""
    matches = filter(None, map(_BUILTINS.match, os.listdir(os.path.dirname(path))))
    releases = {(int(match[1] or match[3]), int(match[2] or match[4])) for match in matches}
    return releases.pop() if len(releases) == 1 else None


def _read(handle: nvrtcProgram, what: str) -> bytes:
    """What nvrtcGet<what> gives."""
    size = getattr(nvrtc.checked, f"nvrtcGet{what}Size")(handle)
    data: bytes = getattr(nvrtc.checked, f"nvrtcGet{what}")(handle, size)
    return data


_HOST_CODE = (
    "NVRTC compiles device code alone: delete main(), mark helper functions __device__, and start kernels "
    "from Python with launch()"
)


def _lost_header(log: str, options: ProgramOptions) -> str:
    """A hint for a header that is none of CUDA's; "" if all were found."""
    lost = re.search(r'(?:could |can)not open source file "([^"]+)"', log)
    if lost is None:
        return ""
    given = options.include_path or ()
    folders = ", ".join([given] if isinstance(given, str) else map(str, given))
    where = f"the include_path ({folders})" if folders else "the current folder"
    return (
        f'"{lost[1]}" is not in {where}: give the folder that has it, ProgramOptions(include_path=[folder])'
    )


def _failed(
    status: nvrtcResult, log: str, code: bytes, options: ProgramOptions, flags: list[bytes]
) -> CompileError:
    release, library = _compiler()
    tool = Tool(f"NVRTC {version(release)}", library, NVRTCRESULT)
    hint = ""
    if status == nvrtcResult.NVRTC_ERROR_COMPILATION:
        hint = (
            advice(log, release, library, pathfinder.this_host())
            or _lost_header(log, options)
            or (_HOST_CODE if "execution space annotations" in log else "")
        )
    subject = f"Program: {options.name}, {len(code)} bytes of C++"
    return failure(CompileError, tool, "nvrtcCompileProgram", status, subject, flags, log, hint)
