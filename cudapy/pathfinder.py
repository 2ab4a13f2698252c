"""Finds and loads NVIDIA's shared libraries, finds their headers, and says where it looked.

`load("nvrtc")` opens the first library that works, in this order: pip wheels, conda, CUDA_PATH,
CUDA_HOME, the system. `find("nvrtc")` lists the same places and opens nothing. Neither looks in
the working directory, and neither takes a link-time stub for a library.
`find_nvidia_header_directory("cudart")` looks in the same places for cuda_runtime.h.
"""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Sequence
from typing import NamedTuple

from ._pathfinder.files import candidates, major_beside, refusal
from ._pathfinder.headers import HEADERS, Header, directories
from ._pathfinder.libraries import LIBRARIES, MAJORS, Library
from ._pathfinder.places import Candidate, Host, Place, newest, this_host

__all__ = [
    "HEADERS",
    "LIBRARIES",
    "Candidate",
    "Header",
    "Host",
    "Library",
    "LibraryNotFound",
    "Loaded",
    "find",
    "find_nvidia_header_directory",
    "load",
    "load_nvidia_dynamic_lib",
    "this_host",
]


class Loaded(NamedTuple):
    """An open library."""

    name: str
    handle: ctypes.CDLL
    path: str  # absolute and real; the soname, if the loader does not say more
    found_by: str  # as in Candidate
    major: int | None  # as in Candidate

    @property
    def abs_path(self) -> str:
        """`path`, by the name that cuda.pathfinder has for it."""
        return self.path

    @property
    def found_via(self) -> str:
        """`found_by`, by the name that cuda.pathfinder has for it; the values are cudapy's."""
        return self.found_by


class LibraryNotFound(RuntimeError):
    """No place has a working library `name`; `tried` says of each why, as 'place: why'."""

    def __init__(self, name: str, tried: tuple[str, ...], message: str) -> None:
        super().__init__(name, tried, message)  # what pickle hands to __init__ again
        self.name = name
        self.tried = tried

    def __str__(self) -> str:
        return str(self.args[2])


def load(name: str, major: int | None = None) -> Loaded:
    """Open the library `name`, a key of LIBRARIES: that of CUDA `major`, else the first there is.

    What was opened is kept for the next call; a failure is not. The driver's libraries have no CUDA
    major. Raises LibraryNotFound, or ValueError if cudapy does not know `name` or `major`.
    """
    if (known := _loaded.get((name, major))) is not None:
        return known
    library = _library(name, major)
    if os.environ.get("CUDAPY_DRIVER"):
        _choose_driver(os.environ["CUDAPY_DRIVER"])
    with _lock:
        if (name, major) not in _loaded:
            new = on_load(_load(library, major, this_host()))
            # Whether asked for with a major or without, one file is one object.
            same = (old for old in _loaded.values() if (old.name, old.path) == (new.name, new.path))
            _loaded[name, major] = next(same, new)
        return _loaded[name, major]


_loaded: dict[tuple[str, int | None], Loaded] = {}
_lock = threading.Lock()


def on_load(loaded: Loaded) -> Loaded:
    """What a library that was opened is replaced with: itself, unless the simulator is on."""
    return loaded


def _choose_driver(name: str) -> None:
    """Switch on the driver that CUDAPY_DRIVER names, unless it is on. Raises ValueError."""
    if name != "simulator":
        raise ValueError(f"CUDAPY_DRIVER is {name!r}: there is 'simulator' to choose, or it is not set")
    from . import simulator  # which nothing else imports

    if not simulator.is_enabled():
        simulator.enable()


def find(name: str, major: int | None = None) -> tuple[Candidate, ...]:
    """The places where `load` looks, in its order, for a report; nothing is opened.

    Raises ValueError if cudapy does not know `name` or `major`.
    """
    return tuple(candidates(_library(name, major), major, this_host()))


def load_nvidia_dynamic_lib(libname: str) -> Loaded:
    """`load(libname)`, by the name that cuda.pathfinder has for it: see `.abs_path` and `.found_via`."""
    return load(libname)


def find_nvidia_header_directory(libname: str, major: int | None = None) -> str | None:
    """The folder, absolute and real, to give the compiler for the headers of `libname`, a key of HEADERS.

    That of CUDA `major`, else the first there is, in the order of `load`; None if there is none. For
    "cudart" it has cuda_runtime.h and cuda_fp16.h, for "cccl" cuda/std/array. Raises ValueError if cudapy
    does not know `libname` or `major`.
    """
    name = libname.lower()  # "nvJitLink", as the library is called, is the same
    if name not in HEADERS:
        raise ValueError(f"no headers {libname!r}: cudapy knows {', '.join(HEADERS)}")
    found = directories(HEADERS[name], _major(major), this_host())
    return next((directory.path for directory in found if not directory.refused), None)


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


def _load(library: Library, major: int | None, host: Host) -> Loaded:
    """Open the first candidate that works; LibraryNotFound if none does."""
    tried = []
    broken = False
    for candidate in candidates(library, major, host):
        why = candidate.refused
        if not why:
            try:
                handle = _open(library, candidate, host)
            except OSError as error:
                soname = f"{candidate.path}: "
                # The loader names the soname when there is no such file, else the file that is bad.
                broken = broken or os.path.isabs(candidate.path) or not str(error).startswith(soname)
                why = str(error).removeprefix(soname)
            else:
                path = _path_of(handle, candidate.path)
                why = refusal(path)  # the loader may have found a stub
                if not why:
                    folder = Place(candidate.found_by, os.path.dirname(path), folders=("",))
                    own = candidate.major or major_beside(folder, library, host)
                    return Loaded(library.name, handle, path, candidate.found_by, own)
        tried.append(str(candidate._replace(refused=why)))
    raise LibraryNotFound(library.name, tuple(tried), _message(library, major, tried, broken))


def _open(library: Library, candidate: Candidate, host: Host) -> ctypes.CDLL:
    """Open a library and, before it, its companions in the same folder; OSError with the loader's reason.

    NVRTC opens libnvrtc-builtins by bare name at the first compilation: too late to look elsewhere.
    """
    companion = library.companions[host.windows].format(major=candidate.major)
    if companion and os.path.isabs(candidate.path):
        for path in newest(os.path.dirname(candidate.path), companion):
            ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL)
    return ctypes.CDLL(candidate.path)


class _LinkMap(ctypes.Structure):
    """The first members of `struct link_map`, of link.h."""

    _fields_ = [("l_addr", ctypes.c_void_p), ("l_name", ctypes.c_char_p)]


def _path_of(handle: ctypes.CDLL, name: str) -> str:
    """The absolute real path of a library that was opened as `name`; `name` if the loader does not say."""
    if os.path.isabs(name):
        return name
    link_map = ctypes.POINTER(_LinkMap)()
    get = ctypes.CDLL(None).dlinfo  # with RTLD_DI_LINKMAP, which is 2
    failed = get(ctypes.c_void_p(handle._handle), 2, ctypes.byref(link_map))
    return name if failed else os.path.realpath(os.fsdecode(link_map.contents.l_name))


def _message(library: Library, major: int | None, tried: Sequence[str], broken: bool) -> str:
    """What is missing, the places tried, and the command that would help."""
    name = f"{library.name} of CUDA {major}" if major and not library.from_driver else library.name
    problem = library.absent or f"{name} was not found"
    if broken:
        problem = f"{name} was found but cannot be loaded"
    if library.from_driver:
        fix = (
            "install the NVIDIA driver (https://www.nvidia.com/drivers), or start the container with its"
            " GPU (docker run --gpus all)"
        )
    else:
        fix = (
            'pip install "cudapy[cuda13]" for CUDA 13, or pip install "cudapy[cuda12]" for CUDA 12'
            f" (by itself it is {library.packages[0]} or {library.packages[1]})"
        )
    return "\n  ".join([f"{problem}. Places tried:", *tried]) + f"\nTo fix it: {fix}."
