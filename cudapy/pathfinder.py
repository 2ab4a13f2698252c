"""Finds and loads NVIDIA's shared libraries, finds their headers, and says where it looked.

`load("nvrtc")` opens the first library that works, in this order: pip wheels, conda, CUDA_PATH,
CUDA_HOME, the system. `find("nvrtc")` lists the same places and opens nothing. Neither looks in
the working directory, and neither takes a link-time stub for a library.

The names of `cuda.pathfinder` look in the same places: `load_nvidia_dynamic_lib("cublas")`,
`find_nvidia_header_directory("cudart")`, `find_bitcode_lib("device")`, `find_static_lib("cudadevrt")`,
`find_nvidia_binary_utility("nvdisasm")`.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import threading
from collections.abc import Sequence
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
from ._pathfinder.opened import path_of
from ._pathfinder.places import Candidate, Host, Place, loader_path, newest, this_host

__version__ = "1.9.0"
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
    "stamp",
    "this_host",
]


class Loaded(NamedTuple):
    """An open library."""

    name: str
    handle: ctypes.CDLL
    path: str  # absolute and real; the soname, if the loader does not say more
    found_by: str  # as in Candidate
    major: int | None  # as in Candidate
    stamp: str = ""  # which file it was when it was opened; see `stamp`


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
            for dependency in library.dependencies:
                load(dependency, major)
            new = on_load(_load(library, major, this_host(), beside(library, major)))
            # Whether asked for with a major or without, one file is one object.
            same = (old for old in _loaded.values() if (old.name, old.path) == (new.name, new.path))
            _loaded[name, major] = next(same, new)
        return _loaded[name, major]


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
_lock = threading.RLock()  # a finalizer may come by that needs a library, too


def _unlock() -> None:
    """In a process that was forked while another thread held it."""
    global _lock
    _lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_unlock)


variant = ""
"""What tells results of the libraries apart from those of the same files: the simulator's cubins have PTX."""


def on_load(loaded: Loaded) -> Loaded:
    """What a library that was opened is replaced with: itself, unless the simulator is on."""
    return loaded


def _choose_driver() -> None:
    """Switch on the driver that CUDAPY_DRIVER names, if it names one that is not on. Raises ValueError."""
    name = os.environ.get("CUDAPY_DRIVER")
    if not name:
        return
    if name != "simulator":
        raise ValueError(f"CUDAPY_DRIVER is {name!r}: there is 'simulator' to choose, or it is not set")
    if not os.path.isdir(os.path.join(os.path.dirname(__file__), "simulator")):
        raise RuntimeError("CUDAPY_DRIVER is 'simulator': this copy was made without it")
    from . import simulator  # which nothing else imports

    if not simulator.is_enabled():
        simulator.enable()


def find(name: str, major: int | None = None) -> tuple[Candidate, ...]:
    """The places where `load` looks, in its order, for a report; nothing is opened.

    Raises ValueError if cudapy does not know `name` or `major`.
    """
    library = _library(name, major)
    return tuple(candidates(library, major, this_host(), beside(library, major)))


def is_open(name: str) -> bool:
    """Whether `load` has opened the library `name`, of any major, or the simulator stands for it."""
    _choose_driver()
    return any(known.name == name for known in tuple(_loaded.values()))


def loader_is_safe() -> bool:
    """Whether the system's loader, asked for a bare name, leaves the working directory alone."""
    return not loader_path(this_host())[1]


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

    That of `locate`; of an open library as it was when it was opened. And what is done to its results.
    """
    _choose_driver()
    found = locate(name)
    return (found.stamp if isinstance(found, Loaded) else _stamp(found.path)) + variant


def _stamp(path: str) -> str:
    try:
        status = os.stat(path)
        with open(path, "rb") as file:
            head = hashlib.sha256(file.read(4096)).hexdigest()  # the ELF header, and often a build ID
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
        fix = f"{DRIVER}; {SIMULATED}" if library.name == "cuda" else DRIVER
    elif library.wheels:
        fix = f"pip install {library.packages[0]} for CUDA 13, or {library.packages[1]} for CUDA 12"
    else:
        fix = (
            'pip install "cudapy[cuda13]" for CUDA 13, or pip install "cudapy[cuda12]" for CUDA 12'
            f" (by itself it is {library.packages[0]} or {library.packages[1]})"
        )
    return "\n  ".join([f"{problem}. Places tried:", *tried]) + f"\nTo fix it: {fix}."
