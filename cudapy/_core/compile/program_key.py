"""Keys of compiled programs: a digest of all that the result depends on."""

import hashlib
import os
from collections.abc import Iterator, Sequence

from ... import __version__, driver, pathfinder
from ..kernels.code_types import TARGETS, SourceCodeType
from . import includes
from .flags import set_fields
from .linker import Linker
from .program_nvrtc import header_flags
from .program_nvvm import modules
from .program_options import ProgramOptions

__all__ = ["NotCacheable", "make_program_cache_key"]

ENVIRONMENT = ("NVRTC_", "CPPCX_", "EDG_", "LIBNVVM_", "NVVM_", "NVJITLINK_", "PTXAS_")
"""How the variables begin that the compilers read."""
UNKNOWN = ("NVRTC_APPEND_FLAGS", "NVRTC_PREPEND_FLAGS", "CPPCX_INCLUDE_PATH")
"""Variables that may name files or options, of which the key would know nothing."""
WRITTEN = ("create_pch", "time", "fdevice_time_trace")
"""Options of NVRTC that have files written, which what comes from a cache would not."""
READ = ("pch", "use_pch", "pch_dir")
"""Options that have files read besides the source and its headers."""


FORM = "cubins with notes"
"""What entries are like, which changes between releases, too."""


class NotCacheable(ValueError):
    """What a program is compiled to depends on something that no key can hold."""


def make_program_cache_key(
    *,
    code: str | bytes | bytearray,
    code_type: str,
    options: ProgramOptions,
    target_type: str,
    name_expressions: Sequence[str | bytes] = (),
    extra_digest: bytes | None = None,
) -> bytes:
    """A key for what Program(code, code_type, options).compile(target_type, name_expressions) gives.

    It holds the source, the options, the architecture, every header that the source may include, by its
    content, the compilers' and linkers' files (or that there are none), and the environment variables that
    they read. extra_digest: bytes that stand for what else the result depends on, such as a precompiled
    header, or one that an #include of a macro names. name_expressions: for C++, in any order; "k" and b"k"
    are two, as they are in `symbol_mapping`.

    Raises ValueError for what Program does not compile; NotCacheable, a ValueError, for options of NVRTC that
    have files written (create_pch, time, fdevice_time_trace) and, without an extra_digest, for those that
    have others read (pch, use_pch, pch_dir) and for a source that does not tell what it includes.
    """
    kind, target = SourceCodeType(str(code_type).lower()), str(target_type).lower()
    if target not in (*TARGETS[kind], "ptx"):  # PTX to PTX has a key, as in cuda.core
        raise ValueError(f"make_program_cache_key: {kind} does not compile to {target_type!r}")
    if not isinstance(code, (str, bytes, bytearray)):
        raise TypeError(f"make_program_cache_key: code must be str or bytes, not {type(code).__name__}")
    source = code.encode() if isinstance(code, str) else bytes(code)
    _require_known_files(kind, options, extra_digest)
    parts: list[tuple[str, bytes]] = [
        ("cudapy", f"{__version__}, {FORM}".encode()),
        ("kind", f"{kind} to {target}, {options.name}".encode()),
        ("source", source),
        ("extra", b"none" if extra_digest is None else b"=" + extra_digest),
    ]
    if kind == SourceCodeType.CXX:
        parts += [("name", name) for name in sorted(set(map(_tagged, name_expressions)))]
    parts += [
        ("environment", os.fsencode(f"{name}={text}"))
        for name, text in sorted(os.environ.items())
        if name.startswith(ENVIRONMENT)
    ]
    if options.debug or options.lineinfo:
        parts.append(("folder", os.fsencode(os.getcwd())))  # the debugger's
    parts += PARTS[kind](source, options, target, extra_digest)
    digest = hashlib.sha256()
    for label, value in parts:
        digest.update(b"%b %d\n%b\n" % (label.encode(), len(value), value))
    return digest.digest()


def _require_known_files(kind: SourceCodeType, options: ProgramOptions, extra_digest: bytes | None) -> None:
    """Raise NotCacheable for what has files written or read that a key does not have."""
    unknown = [name for name in UNKNOWN if os.environ.get(name)]
    if kind == SourceCodeType.CXX:
        files = WRITTEN if extra_digest is not None else (*WRITTEN, *READ)
        unknown += sorted(set_fields(options).intersection(files))
    if unknown:
        raise NotCacheable(f"a program with {', '.join(unknown)} depends on files that no key can hold")


def _tagged(name: str | bytes) -> bytes:
    if not isinstance(name, (str, bytes)):
        kind = type(name).__name__
        raise TypeError(f"make_program_cache_key: name_expressions has str or bytes, not {kind}: {name!r}")
    return b"bytes " + name if isinstance(name, bytes) else b"str " + name.encode()


def _stamp(library: str) -> bytes:
    """Which file a library is; b"" if there is none."""
    try:
        return pathfinder.stamp(library).encode()
    except pathfinder.LibraryNotFound:
        return b""


def _cxx(
    source: bytes, options: ProgramOptions, target: str, extra: bytes | None
) -> Iterator[tuple[str, bytes]]:
    compiler = _stamp("nvrtc")
    yield "NVRTC", compiler
    flags = options.as_bytes("NVRTC", target) + (header_flags(source, options) if compiler else [])
    yield from (("flag", flag) for flag in flags)
    first = options.pre_include or ()
    first = (first,) if isinstance(first, str) else first
    if first or b"include" in source or b"import" in source or b"__" in source:
        folders = [
            os.fsdecode(flag.partition(b"=")[2])
            for flag in flags
            if flag.startswith((b"--include-path=", b"--use-bundled-headers="))
        ]
        if options.use_bundled_headers:
            folders.append(os.path.join(folders[0], "cccl"))
        own = None if options.no_source_include else os.path.dirname(options.name) or os.curdir
        try:
            yield "headers", includes.identity(source, own, folders, first)
        except includes.Unknown as error:
            if extra is None:
                raise NotCacheable(f"what {options.name} includes cannot be told: {error}") from None


def _ptx(
    source: bytes, options: ProgramOptions, target: str, extra: bytes | None
) -> Iterator[tuple[str, bytes]]:
    backend = Linker.which_backend()
    yield "linker", backend.encode()
    yield from (("flag", flag) for flag in options.for_linker().as_bytes())
    if backend == "nvJitLink":
        yield "nvJitLink", _stamp("nvJitLink")
    elif stamp := _stamp("cuda"):
        yield "driver", b"%d %b" % (driver.checked.cuDriverGetVersion(), stamp)


def _nvvm(
    source: bytes, options: ProgramOptions, target: str, extra: bytes | None
) -> Iterator[tuple[str, bytes]]:
    yield "NVVM", _stamp("nvvm")
    yield from (("flag", flag) for flag in options.as_bytes("NVVM", target))
    for name, module in modules(options):
        yield "module", name.encode()
        yield "source", module
    if options.use_libdevice:
        with open(pathfinder.find_bitcode_lib("device"), "rb") as file:
            yield "libdevice", hashlib.sha256(file.read()).digest()
    if target == "cubin":
        yield from _ptx(b"", options, target, extra)


PARTS = {SourceCodeType.CXX: _cxx, SourceCodeType.PTX: _ptx, SourceCodeType.NVVM: _nvvm}
