"""Programs: source code on its way to object code."""

import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Literal, Protocol

from ..._ffi.shown import shown
from ..closable import SlotClosable
from ..kernels.code_types import TARGETS, CompilerBackendType, PCHStatusType, SourceCodeType
from ..kernels.object_code import ObjectCode
from ..options import accepted
from ..ownership.owned import Ownership
from . import program_nvrtc, program_nvvm
from .build import Built, CompileError
from .compile_cache import cached
from .linker import Linker
from .program_cache import ProgramCacheResource
from .program_key import make_program_cache_key
from .program_options import ProgramOptions
from .program_ptx import compile_ptx

__all__ = ["CompileError", "Program", "ProgramOptions"]

COMPILERS: dict[str, Any] = {"c++": program_nvrtc, "nvvm": program_nvvm}


_FILE = re.compile(rb"(?!//)[\w./~ -]+\.(cu|cuh|ptx|ll|bc|cpp|c|h)")


class Writable(Protocol):
    """A text file, or what looks like one."""

    def write(self, text: str, /) -> object: ...


class Program(SlotClosable):
    """Source code: "c++", CUDA C++, for NVRTC; "ptx"; or "nvvm", NVVM IR as text or bitcode, for libNVVM.

    No compiler needs a GPU. nvJitLink compiles PTX, or the driver if nvJitLink is missing or newer than the
    driver. Results are cached, for this and other processes.
    """

    __slots__ = ("_code", "_code_type", "_handle", "_options", "_pch_status", "_used")
    _elsewhere: ClassVar = {"get_kernel": "compile first, program.compile('cubin').get_kernel(name)"}
    _handle: Any  # an nvrtcProgram or nvvmProgram; None: none yet

    def __init__(
        self,
        code: str | bytes | bytearray,
        code_type: str,
        options: ProgramOptions | Mapping[str, Any] | None = None,
    ) -> None:
        if not isinstance(code, (str, bytes, bytearray)):
            raise TypeError(f"Program: code must be str or bytes, not {type(code).__name__}")
        self._code_type = SourceCodeType(str(code_type).lower())
        self._code = code.encode() if isinstance(code, str) else bytes(code)
        if _FILE.fullmatch(self._code):
            raise ValueError(
                f"Program: {shown(code)} looks like the name of a file, where the source is expected: "
                f"pathlib.Path({shown(self._code.decode())}).read_text()"
            )
        self._options = accepted(ProgramOptions, options or {})
        self._pch_status: PCHStatusType | None = None
        self._ownership = None
        self._handle = None
        self._used = False
        if self._code_type == "ptx":
            self._options.warn_if_ignored(2)

    def compile(
        self,
        target_type: str,
        name_expressions: Sequence[str | bytes] = (),
        logs: Writable | None = None,
        *,
        cache: ProgramCacheResource | Literal[False] | None = None,
    ) -> ObjectCode:
        """Compile to 'ptx', 'cubin' or 'ltoir'; PTX to 'cubin' only.

        name_expressions: C++ names of kernels, such as "scale<float>", by which `get_kernel` shall know them;
        templates are instantiated for them. logs: where warnings are written. cache: where to look for the
        result and to keep it, instead of cudapy's own cache; such a one keeps no names and no logs. False:
        compile anew, and keep nothing.

        Raises CompileError, which has the whole log; pathfinder.LibraryNotFound without the compiler;
        ValueError for a `cache` together with name_expressions or with what no key can hold.
        Source: nvrtcCompileProgram, nvvmCompileProgram, nvJitLinkComplete, cuLinkComplete.
        """
        getattr(self, self._vital)  # raises if this is closed
        target, names = self._target(target_type), self._names(name_expressions)
        if self._code_type == "c++" and (text := program_nvrtc.other_headers(self._options)):
            warnings.warn(text, stacklevel=2)

        def key() -> bytes:
            return make_program_cache_key(
                code=self._code,
                code_type=self._code_type,
                options=self._options,
                target_type=target,
                name_expressions=names,
            )

        def build() -> Built:
            return self._build(target, names)

        if isinstance(cache, ProgramCacheResource):
            if names:
                raise ValueError(
                    "Program.compile: this cache would lose the name_expressions; cudapy's own does not"
                )
            built = _through(cache, key, build)
        elif cache is False or self._options.no_cache:
            built = build()
        else:
            built = cached(key, build)
        if logs is not None and built.log:
            logs.write(built.log)
        return ObjectCode._of(built.code, target, self._options.name, built.symbols)

    def _target(self, target_type: str) -> str:
        target = str(target_type).lower()
        if target not in TARGETS[self._code_type]:
            known = " or ".join(TARGETS[self._code_type])
            raise ValueError(f"Program.compile: {self._code_type} compiles to {known}, not {target_type!r}")
        return target

    def _names(self, name_expressions: Sequence[str | bytes]) -> tuple[str | bytes, ...]:
        single = isinstance(name_expressions, (str, bytes))
        names: tuple[str | bytes, ...] = (name_expressions,) if single else tuple(name_expressions)  # type: ignore[assignment]
        for name in names:
            if not isinstance(name, (str, bytes)):
                kind = type(name).__name__
                raise TypeError(f"Program.compile: name_expressions has str or bytes, not {kind}: {name!r}")
        if names and self._code_type != "c++":
            raise ValueError("Program.compile: name_expressions are for C++; other code has its names")
        return names

    def link(self, target_type: str, logs: Writable | None = None) -> ObjectCode:
        """The same as `compile`, for PTX."""
        return self.compile(target_type, logs=logs)

    def _build(self, target: str, names: Sequence[str | bytes]) -> Built:
        if self._code_type == "ptx":
            return compile_ptx(self._code, self._options)
        if self._used:
            self._handle = None
        handle, self._used = self.handle, True
        compiler = COMPILERS[self._code_type]
        built: Built = compiler.compile_program(
            handle, self._code, self._options, target, dict.fromkeys(names)
        )
        if any((self._options.pch, self._options.create_pch, self._options.use_pch)):
            self._pch_status = PCHStatusType(program_nvrtc.pch_status(handle))
        return built

    @property
    def backend(self) -> CompilerBackendType:
        """The compiler: "NVRTC", "NVVM", "nvJitLink" or "driver"."""
        if self._code_type == "ptx":
            return Linker.which_backend()
        return CompilerBackendType(COMPILERS[self._code_type].NAME)

    @property
    def handle(self) -> Any:
        """The nvrtcProgram or nvvmProgram, made when it is first needed; None for PTX.

        Once the program is closed it is a null one.
        """
        if self._code_type == "ptx":
            return None
        if self.is_closed:
            return COMPILERS[self._code_type].HANDLE()
        if self._handle is None:
            compiler = COMPILERS[self._code_type]
            cell = compiler.HANDLE()
            ownership = Ownership(compiler.destroy, cell)
            compiler.create(cell, self._code, self._options)
            self._handle, self._ownership = cell, ownership
            self._used = False
        return self._handle

    @property
    def pch_status(self) -> PCHStatusType | None:
        """What became of the precompiled header: 'created', 'not_attempted', 'failed'; None: not asked for.

        Source: nvrtcGetPCHCreateStatus, CUDA 12.8.
        """
        return self._pch_status

    def __repr__(self) -> str:
        return f"<Program {self._options.name!r}, {'closed' if self.is_closed else self._code_type}>"

    def _repr_html_(self) -> str:
        from ..html_tables import html_source

        return html_source(repr(self), self._code.decode(errors="replace"))


def _through(cache: ProgramCacheResource, key: Callable[[], bytes], build: Callable[[], Built]) -> Built:
    """What a caller's cache has for `key()`, or what is built now and kept; see compile_cache.cached."""
    name = key()
    code = cache.get(name)
    if code is not None:
        return Built(code)
    built = build()
    if key() == name:
        cache[name] = built.code
    return built
