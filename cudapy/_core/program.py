"""Programs: source code on its way to object code."""

from __future__ import annotations

import ctypes
import warnings
from collections.abc import Iterable, Sequence
from typing import Any, Protocol

from .. import nvrtc, pathfinder
from .._errors import CUDAError
from .._pathfinder.headers import matching, release_of, version
from .._pathfinder.missing import advice
from .._types.meanings import NVRTCRESULT
from ..driver import CUjit_option, CUjit_target, CUjitInputType, checked
from ..nvrtc import nvrtcProgram, nvrtcResult
from .current import initialise
from .lifetime import Closable, Ownership
from .module import LOG_SIZE, ObjectCode, log_text
from .program_options import ProgramOptions

__all__ = ["CompileError", "Program", "ProgramOptions"]


class CompileError(CUDAError):
    """A program did not compile.

    The message has everything; log: what the compiler wrote; options: its options.
    """

    def __init__(
        self, message: str, code: Any = None, function: str = "", log: str = "", options: Sequence[str] = ()
    ) -> None:
        super().__init__(message, code, function)
        self.log = log
        self.options = tuple(options)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.code, self.function, self.log, self.options)


class Writable(Protocol):
    """A text file, or what looks like one."""

    def write(self, text: str, /) -> object: ...


class Program(Closable):
    """Source code: CUDA C++ ("c++", compiled by NVRTC, which needs no GPU) or PTX ("ptx", by the driver).

    Raises pathfinder.LibraryNotFound if there is no NVRTC, or no driver for PTX.
    """

    __slots__ = ("_code", "_code_type", "_compiled", "_handle", "_options", "_pch_status")
    _handle: nvrtcProgram | None

    def __init__(
        self, code: str | bytes | bytearray, code_type: str, options: ProgramOptions | None = None
    ) -> None:
        if not isinstance(code, (str, bytes, bytearray)):
            raise TypeError(f"Program: code must be str or bytes, not {type(code).__name__}")
        self._code_type = str(code_type).lower()
        if self._code_type not in TARGETS:
            raise ValueError(
                f"Program: code_type {code_type!r} is not one of {', '.join(map(repr, TARGETS))}"
            )
        self._code = code.encode() if isinstance(code, str) else bytes(code)
        self._options = options or ProgramOptions()
        self._pch_status: str | None = None
        self._ownership = None
        self._handle = None
        if self._code_type == "c++":
            self._start()

    def _start(self) -> nvrtcProgram:
        """A new program of NVRTC: each takes name expressions only before it is first compiled."""
        name = self._options.name.encode()
        handle: nvrtcProgram = nvrtc.checked.nvrtcCreateProgram(self._code, name, 0, None, None)
        self._handle = handle
        self._ownership = Ownership(nvrtc.checked.nvrtcDestroyProgram, handle)
        self._compiled = False
        return handle

    def compile(
        self,
        target_type: str,
        name_expressions: Sequence[str] = (),
        logs: Writable | None = None,
    ) -> ObjectCode:
        """Compile to 'ptx', 'cubin' or 'ltoir' (C++), or to 'cubin' (PTX).

        name_expressions: C++ names of kernels, such as "scale<float>", by which `get_kernel` shall know them;
        templates are instantiated for them. logs: where warnings are written.

        Raises CompileError, which has the whole log. Source: nvrtcCompileProgram; cuLinkAddData for PTX.
        """
        handle, target = self._handle, str(target_type).lower()
        if target not in TARGETS[self._code_type]:
            possible = " or ".join(TARGETS[self._code_type])
            raise ValueError(
                f"Program.compile: {self._code_type} compiles to {possible}, not {target_type!r}"
            )
        names = [name_expressions] if isinstance(name_expressions, str) else list(name_expressions)
        if handle is None:
            if names:
                raise ValueError("Program.compile: name_expressions are for C++; PTX has its names")
            mapping: dict[str, str] = {}
            code, log = link_ptx(self._code, self._options)
        else:
            code, log, mapping = self._compile(handle, target, dict.fromkeys(names))
        if logs is not None and log:
            logs.write(log)
        return ObjectCode._of(code, target, self._options.name, mapping)

    def link(self, target_type: str, logs: Writable | None = None) -> ObjectCode:
        """The same as `compile`; the word for PTX."""
        return self.compile(target_type, logs=logs)

    def _compile(
        self, handle: nvrtcProgram, target: str, names: Iterable[str]
    ) -> tuple[bytes, str, dict[str, str]]:
        """The code, the log, and the mangled names. Source: nvrtcCompileProgram, nvrtcGetLoweredName."""
        options = self._options.as_bytes("NVRTC", target) + self._header_flags()
        if self._compiled:
            handle = self._start()
        self._compiled = True
        for name in names:
            nvrtc.checked.nvrtcAddNameExpression(handle, name.encode())
        (status,) = nvrtc.nvrtcCompileProgram(handle, len(options), options)
        log = _read(handle, "ProgramLog")
        if status:
            raise self._failed(status, log, options)
        if any((self._options.pch, self._options.create_pch, self._options.use_pch)):
            self._pch_status = _pch_status(handle)
        lowered = {name: nvrtc.checked.nvrtcGetLoweredName(handle, name.encode()).decode() for name in names}
        return _read(handle, GETTERS[target]), log.decode(errors="replace").strip("\0"), lowered

    def _header_flags(self) -> list[bytes]:
        """The flags by which NVRTC finds CUDA's own headers, for a program that includes any.

        Those of the caller's include_path come first; ours are of NVRTC's very release, or left out.
        """
        options = self._options
        if options.cuda_headers is False or not (b"include" in self._code or options.pre_include):
            return []
        release, library = _compiler()
        given = options.include_path or ()
        for folder in (given,) if isinstance(given, str) else given:
            other = release_of(folder)
            if other is not None and other != release:
                text = (
                    f"include_path has the headers of CUDA {version(other)} ({folder}), but the compiler is "
                    f"NVRTC {version(release)} ({library})"
                )
                warnings.warn(text, stacklevel=4)  # at the caller of `compile`
                return []
        folders = matching(release, library, pathfinder.this_host()).folders
        return [f"--include-path={folder}".encode() for folder in folders]

    def _failed(self, status: nvrtcResult, log: bytes, options: list[bytes]) -> CompileError:
        text = log.decode(errors="replace").strip("\0\n")
        flags = [option.decode() for option in options]
        sentence, hint = NVRTCRESULT.get(status.name, ("The compiler failed.", ""))
        release, library = _compiler()
        if status == nvrtcResult.NVRTC_ERROR_COMPILATION:
            hint = advice(text, release, library, pathfinder.this_host())
        message = (
            f"nvrtcCompileProgram: {status.name} ({int(status)}): {sentence}\n"
            f"Program: {self._options.name}, {len(self._code)} bytes of C++\n"
            f"Options: {' '.join(flags)}\n"
            f"Compiler: NVRTC {version(release)}, {library}\n"
            + (f"Hint: {hint}\n" if hint else "")
            + f"Log:\n{text}"
        )
        return CompileError(message, status, "nvrtcCompileProgram", text, flags)

    @property
    def backend(self) -> str:
        """What compiles it: "NVRTC" or "driver"."""
        return "driver" if self._handle is None else "NVRTC"

    @property
    def handle(self) -> nvrtcProgram | None:
        """The nvrtcProgram; None for PTX."""
        return self._handle

    @property
    def pch_status(self) -> str | None:
        """What became of the precompiled header: 'created', 'not_attempted', 'failed'; None: not asked for.

        Source: nvrtcGetPCHCreateStatus, CUDA 12.8.
        """
        return self._pch_status

    def __repr__(self) -> str:
        return f"<Program {self._options.name!r}, {self._code_type}>"


TARGETS = {"c++": ("ptx", "cubin", "ltoir"), "ptx": ("cubin",)}
GETTERS = {"ptx": "PTX", "cubin": "CUBIN", "ltoir": "LTOIR"}


def _compiler() -> tuple[tuple[int, int], str]:
    """The release and the path of the NVRTC that is loaded."""
    major, minor = nvrtc.checked.nvrtcVersion()
    return (major, minor), pathfinder.load("nvrtc").path


def _read(program: nvrtcProgram, what: str) -> bytes:
    """What nvrtcGet<what> gives."""
    size = getattr(nvrtc.checked, f"nvrtcGet{what}Size")(program)
    data: bytes = getattr(nvrtc.checked, f"nvrtcGet{what}")(program, size)
    return data


def _pch_status(program: nvrtcProgram) -> str:
    (status,) = nvrtc.nvrtcGetPCHCreateStatus(program)
    if status == nvrtcResult.NVRTC_SUCCESS:
        return "created"
    return "not_attempted" if status == nvrtcResult.NVRTC_ERROR_NO_PCH_CREATE_ATTEMPTED else "failed"


def link_ptx(ptx: bytes, options: ProgramOptions) -> tuple[bytes, str]:
    """The cubin that the driver makes of PTX, and its log.

    For the current context's device, or for `options.arch`. Source: cuLinkCreate, cuLinkAddData,
    cuLinkComplete.
    """
    initialise()
    info, error = bytearray(LOG_SIZE), bytearray(LOG_SIZE)
    settings: dict[CUjit_option, Any] = {
        CUjit_option.CU_JIT_INFO_LOG_BUFFER: info,
        CUjit_option.CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES: LOG_SIZE,
        CUjit_option.CU_JIT_ERROR_LOG_BUFFER: error,
        CUjit_option.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES: LOG_SIZE,
    }
    if options.arch is not None:
        settings[CUjit_option.CU_JIT_TARGET] = jit_target(options.arch_number())
    if options.max_register_count is not None:
        settings[CUjit_option.CU_JIT_MAX_REGISTERS] = options.max_register_count
    if options.debug:
        settings[CUjit_option.CU_JIT_GENERATE_DEBUG_INFO] = 1
    if options.lineinfo:
        settings[CUjit_option.CU_JIT_GENERATE_LINE_INFO] = 1
    try:
        state = checked.cuLinkCreate(len(settings), list(settings), list(settings.values()))
        try:
            kind = CUjitInputType.CU_JIT_INPUT_PTX
            text = ptx + b"\0"
            checked.cuLinkAddData(state, kind, text, len(text), options.name.encode(), 0, None, None)
            address, size = checked.cuLinkComplete(state)
            return ctypes.string_at(address, size), log_text(info)
        finally:
            checked.cuLinkDestroy(state)
    except CUDAError as failure:
        log = log_text(error)
        if not log:
            raise
        raise CompileError(f"{failure}\nLog:\n{log}", failure.code, failure.function, log) from None


def jit_target(arch: str) -> int:
    """The CUjit_target of an architecture such as "90a". Raises ValueError for an unknown one."""
    name = f"CU_TARGET_COMPUTE_{arch.upper()}"
    if name not in CUjit_target.__members__:
        raise ValueError(f"ProgramOptions: the driver has no target for arch {arch!r}")
    return CUjit_target[name]
