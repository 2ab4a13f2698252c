"""Finds and loads NVIDIA's shared libraries and their headers, and reports where it looked.

`load("nvrtc")` opens the first library that works, in this order: pip wheels, conda, CUDA_PATH,
CUDA_HOME, the system. `find("nvrtc")` lists the same places and opens nothing. Neither looks in
the working directory, and neither takes a link-time stub for a library.

The names of `cuda.pathfinder` look in the same places: `load_nvidia_dynamic_lib("cublas")`,
`find_nvidia_header_directory("cudart")`, `find_bitcode_lib("device")`, `find_static_lib("cudadevrt")`,
`find_nvidia_binary_utility("nvdisasm")`.

`register("nvrtc", provider)` replaces one of them, or wraps its functions. The
environment variable CUDAPY_DRIVER names a module that does so: before the first library is loaded, it is
imported and its function `provide()` is called. A name with dots is that of any module, one without that of a
module of cudapy: `CUDAPY_DRIVER=simulator`.
"""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import NamedTuple

from ._pathfinder.errors import (
    BitcodeLibNotFoundError,
    DynamicLibNotAvailableError,
    DynamicLibNotFoundError,
    DynamicLibUnknownError,
    LibraryNotFound,
    StaticLibNotFoundError,
    UnsupportedArchError,
    UnsupportedBinaryError,
)
from ._pathfinder.files import candidates, major_beside, refusal
from ._pathfinder.headers import HEADERS, Header
from ._pathfinder.libraries import DRIVER, LIBRARIES, MAJORS, SIMULATED, Library
from ._pathfinder.nvidia import (
    SUPPORTED_BINARY_UTILITIES,
    SUPPORTED_BITCODE_LIBS,
    SUPPORTED_HEADERS_CTK,
    SUPPORTED_NVIDIA_LIBNAMES,
    SUPPORTED_STATIC_LIBS,
    LoadedDL,
    LocatedBitcodeLib,
    LocatedHeaderDir,
    LocatedStaticLib,
    find_bitcode_lib,
    find_nvidia_binary_utility,
    find_nvidia_header_directory,
    find_static_lib,
    get_cuda_path_or_home,
    load_nvidia_dynamic_lib,
    locate_bitcode_lib,
    locate_nvidia_header_directory,
    locate_static_lib,
)
from ._pathfinder.opened import path_of, when_replaced
from ._pathfinder.places import Candidate, Host, Place, newest, this_host
from ._process import forks

__version__ = "1.9.1"
"""The release of cuda.pathfinder whose API this module has."""

__all__ = [
    "HEADERS",
    "LIBRARIES",
    "SUPPORTED_BINARY_UTILITIES",
    "SUPPORTED_BITCODE_LIBS",
    "SUPPORTED_HEADERS_CTK",
    "SUPPORTED_NVIDIA_LIBNAMES",
    "SUPPORTED_STATIC_LIBS",
    "BitcodeLibNotFoundError",
    "Candidate",
    "DynamicLibNotAvailableError",
    "DynamicLibNotFoundError",
    "DynamicLibUnknownError",
    "Header",
    "Host",
    "Library",
    "LibraryNotFound",
    "Loaded",
    "LoadedDL",
    "LocatedBitcodeLib",
    "LocatedHeaderDir",
    "LocatedStaticLib",
    "Provider",
    "StaticLibNotFoundError",
    "UnsupportedArchError",
    "UnsupportedBinaryError",
    "find",
    "find_bitcode_lib",
    "find_nvidia_binary_utility",
    "find_nvidia_header_directory",
    "find_static_lib",
    "get_cuda_path_or_home",
    "is_open",
    "load",
    "load_nvidia_dynamic_lib",
    "locate",
    "locate_bitcode_lib",
    "locate_nvidia_header_directory",
    "locate_static_lib",
    "opened",
    "register",
    "stamp",
    "this_host",
    "unregister",
]


class Loaded(NamedTuple):
    """An open library."""

    name: str
    handle: ctypes.CDLL
    path: str  # absolute and real; the soname, if the loader does not say more
    found_by: str  # as in Candidate
    major: int | None  # as in Candidate
    stamp: str = ""  # which file it was when it was opened; see `stamp`


Provider = Callable[["int | None", Callable[[], Loaded]], Loaded]
"""What `register` takes."""


def load(name: str, major: int | None = None) -> Loaded:
    """Open the library `name`, a key of LIBRARIES: that of CUDA `major`, else the first there is.

    Without a `major`, those of the CUDA of which libraries are open go before others: what one compiler
    makes, another reads. What was opened is kept for the next call; a failure is not. The driver's libraries
    have no CUDA major. Libraries that it needs are opened before it. Raises DynamicLibNotFoundError, which is
    a LibraryNotFound, or ValueError if cudapy does not know `name` or `major`.
    """
    if (known := _loaded.get((name, major))) is not None:
        return known
    library = _library(name, major)
    _choose_driver()
    with _lock:
        if (name, major) not in _loaded:
            new = _provided(_registered.get(name), library, major)
            _loaded[name, major] = _same(new, _loaded.values())
        return _loaded[name, major]


def register(name: str, provider: Provider, *, variant: str = "") -> None:
    """Have `load(name, major)` return what `provider(major, below)` returns, until `unregister(name)`.

    provider: called once for each `major`, None among them: now for the libraries that are open, for others
        when they are loaded. `below()` returns what `load` would without this provider: the library's file,
        or what the provider before it returns; it raises as `load` does. A provider that changes some
        functions returns that with another `handle`; one that takes the place of the library does not call
        it. A handle is used as a ctypes.CDLL: `handle["symbol"]` and `handle.symbol` are a ctypes function,
        or raise AttributeError. The provider runs while a lock is held: it must not wait for another thread
        that loads a library.
    variant: a text that distinguishes the results of the library from those of the same file without the
        provider; `stamp(name)` has it, and with that the keys of the cache of compiled programs.

    C functions that were called already stay those of the library that was loaded then, until they are looked
    up again: `nvrtc.libnvrtc.rebind()`, and likewise in the other modules. Raises ValueError if cudapy does
    not know `name`.
    """
    library = _library(name, None)
    with _lock:
        below = _registered.get(name)
        results = {key[1]: known for key, known in _loaded.items() if key[0] == name}
        new = _Registered(provider, (below.variant if below else "") + variant, below, results)
        provided: dict[int | None, Loaded] = {}
        for major in tuple(results):
            provided[major] = _same(new.provide(library, major), provided.values())
        _registered[name] = new
        _replace(name, provided)


def unregister(name: str) -> None:
    """Undo the last `register` of the library `name`. Raises ValueError if it has no provider."""
    _library(name, None)
    with _lock:
        last = _registered.pop(name, None)
        if last is None:
            raise ValueError(f"no provider is registered for {name!r}")
        if last.below is not None:
            _registered[name] = last.below
        _replace(name, last.results)


class _Registered(NamedTuple):
    """A provider, what it is on top of, and what that returned: by major, so far as it was asked for."""

    provider: Provider
    variant: str  # its own, behind those below
    below: _Registered | None
    results: dict[int | None, Loaded]

    def provide(self, library: Library, major: int | None) -> Loaded:
        """The library that is loaded."""
        return self.provider(major, partial(self._below, library, major))

    def _below(self, library: Library, major: int | None) -> Loaded:
        if major not in self.results:
            self.results[major] = _same(_provided(self.below, library, major), self.results.values())
        return self.results[major]


def _provided(registered: _Registered | None, library: Library, major: int | None) -> Loaded:
    """The library of a provider; of none, its file."""
    return registered.provide(library, major) if registered else _open(library, major)


def _open(library: Library, major: int | None) -> Loaded:
    """The library's file, and those that it needs before it, open."""
    for dependency in library.dependencies:
        load(dependency, major)
    return _load(library, major, this_host(), beside(library, major))


def _same(new: Loaded, known: Iterable[Loaded]) -> Loaded:
    """`new`, or that of `known` which is the same file: whatever the major, one file is one object."""
    return next((old for old in known if (old.name, old.path) == (new.name, new.path)), new)


def _replace(name: str, libraries: dict[int | None, Loaded]) -> None:
    """Have `libraries`, by major, and no others of that name, be those that are loaded."""
    for key in [key for key in _loaded if key[0] == name and key[1] not in libraries]:
        del _loaded[key]
    _loaded.update({(name, major): loaded for major, loaded in libraries.items()})
    for notice in when_replaced:
        notice()


def beside(library: Library, major: int | None) -> int | None:
    """The CUDA major that goes first where none is asked for: that of all toolkit libraries that are open.

    None if none is, or if they differ.
    """
    if major or library.from_driver:
        return None
    opened = tuple(_loaded.values())  # at once, as other threads may open more
    majors = {known.major for known in opened if known.major and not LIBRARIES[known.name].from_driver}
    return majors.pop() if len(majors) == 1 else None


_loaded: dict[tuple[str, int | None], Loaded] = {}
_registered: dict[str, _Registered] = {}
_lock = threading.RLock()  # a finalizer may come by that needs a library, too


@forks.in_child
def _unlock() -> None:
    """In a process that was forked while another thread held it."""
    global _lock
    _lock = threading.RLock()


_chosen = ""  # the module of CUDAPY_DRIVER that has registered its libraries


def _choose_driver() -> None:
    """Have the module that CUDAPY_DRIVER names register its libraries. Raises ValueError if there is none."""
    global _chosen
    name = os.environ.get("CUDAPY_DRIVER")
    if not name or name == _chosen:
        return
    from importlib import import_module
    from importlib.util import resolve_name

    module = resolve_name(name if "." in name else f".{name}", __package__)
    try:
        provide = getattr(import_module(module), "provide", None)
    except ModuleNotFoundError as error:
        if not f"{module}.".startswith(f"{error.name}."):  # it is there, and imports one that is not
            raise
        provide = None
    if provide is None:
        from ._commands.vendored import left_out

        hint = left_out("simulator") if name == "simulator" else ""
        raise ValueError(
            f"CUDAPY_DRIVER is {name!r}, but there is no module {module} with a function provide(): "
            + (hint or "it must be 'simulator', the name of such a module, or unset")
        )
    provide()
    _chosen = name


def find(name: str, major: int | None = None) -> tuple[Candidate, ...]:
    """The places where `load` looks, in its order, for a report; nothing is opened.

    Raises ValueError if cudapy does not know `name` or `major`.
    """
    library = _library(name, major)
    return tuple(candidates(library, major, this_host(), beside(library, major)))


def is_open(name: str) -> bool:
    """Whether `load` has opened the library `name`, of any major, or the simulator stands for it."""
    _choose_driver()
    return bool(opened(name))


def opened(name: str) -> tuple[Loaded, ...]:
    """What `load` has returned for `name`, one for each major that was asked for; nothing is opened."""
    return tuple(known for known in tuple(_loaded.values()) if known.name == name)


def locate(name: str) -> Loaded | Candidate:
    """The library `name` if it is open; else the file that `load` would try first, which is not opened.

    Where only the system's loader knows the file, it is opened. Raises LibraryNotFound if there is none.
    """
    known = _loaded.get((name, None))
    if known is None:
        first = next((c for c in find(name) if not c.refused), None)
        return first if first is not None and os.path.isabs(first.path) else load(name)
    return known


def stamp(name: str) -> str:
    """Which file the library `name` is: its path, size, time of change and first bytes, in one line.

    That of `locate`; of an open library as it was when it was opened. And the `variant` of its provider.
    """
    _choose_driver()
    located = locate(name)
    registered = _registered.get(name)
    own = located.stamp if isinstance(located, Loaded) else _stamp(located.path)
    return own + (registered.variant if registered else "")


def _stamp(path: str) -> str:
    from hashlib import sha256

    try:
        status = os.stat(path)
        with open(path, "rb") as file:
            head = sha256(file.read(4096)).hexdigest()  # the ELF header, and often a build ID
    except OSError:  # the loader did not say where it is
        return path
    return f"{path} {status.st_size} {status.st_mtime_ns} {head}"


def _library(name: str, major: int | None) -> Library:
    """The row of the table; ValueError if there is none, or no such major."""
    if name not in LIBRARIES:
        raise ValueError(f"no library {name!r}: cudapy knows {', '.join(LIBRARIES)}")
    _major(major)
    return LIBRARIES[name]


def _major(major: int | None) -> int | None:
    """`major`; ValueError if cudapy does not know it."""
    if major not in (None, *MAJORS):
        raise ValueError(f"no CUDA {major!r}: cudapy knows {' and '.join(map(str, MAJORS))}")
    return major


# ---- Opening it ----


def _load(library: Library, major: int | None, host: Host, first: int | None = None) -> Loaded:
    """Open the first candidate that works, those of CUDA `first` before others; or raise LibraryNotFound."""
    tried = []
    broken = False
    for candidate in candidates(library, major, host, first):
        why = candidate.refused
        if not why:
            stamp = _stamp(candidate.path)
            try:
                handle = open_candidate(library, candidate, host)
            except OSError as error:
                soname = f"{candidate.path}: "
                # The loader names the soname when there is no such file, else the file that is bad.
                broken = broken or os.path.isabs(candidate.path) or not str(error).startswith(soname)
                why = str(error).removeprefix(soname)
            else:
                path = path_of(handle, candidate.path)
                why = refusal(path)  # the loader may have found a stub
                if not why:
                    folder = Place(candidate.found_by, os.path.dirname(path), folders=("",))
                    own = candidate.major or major_beside(folder, library, host)
                    stamp = stamp if path == candidate.path else _stamp(path)
                    return Loaded(library.name, handle, path, candidate.found_by, own, stamp)
        tried.append(str(candidate._replace(refused=why)))
    raise DynamicLibNotFoundError(library.name, tuple(tried), _message(library, major, tried, broken))


def open_candidate(library: Library, candidate: Candidate, host: Host) -> ctypes.CDLL:
    """Open a library and, before it, its companions in the same folder; OSError with the loader's reason.

    NVRTC opens libnvrtc-builtins by bare name at the first compilation: too late to look elsewhere.
    """
    companion = library.companions[host.windows].format(major=candidate.major)
    if companion and os.path.isabs(candidate.path):
        for path in newest(os.path.dirname(candidate.path), companion):
            ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL)
    return ctypes.CDLL(candidate.path)


def _message(library: Library, major: int | None, tried: Sequence[str], broken: bool) -> str:
    """What is missing, the places tried, and the command that would help."""
    name = f"{library.name} of CUDA {major}" if major and not library.from_driver else library.name
    problem = library.absent or f"{name} was not found"
    if broken:
        problem = f"{name} was found but cannot be loaded"
    if library.from_driver:
        from ._commands.vendored import left_out

        without_gpu = left_out("simulator") or SIMULATED
        fix = f"{DRIVER}; {without_gpu}" if library.name == "cuda" else DRIVER
    else:
        fix = f"pip install {library.packages[0]} for CUDA 13, or {library.packages[1]} for CUDA 12"
    return "\n  ".join([f"{problem}. Places tried:", *tried]) + f"\nTo fix it: {fix}."
