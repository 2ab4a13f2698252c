"""Finds and loads NVIDIA's shared libraries, and says where it looked.

`load("nvrtc")` opens the first library that works, in this order: pip wheels, conda, CUDA_PATH,
CUDA_HOME, the system. `find("nvrtc")` lists the same places and opens nothing. Neither looks in
the working directory, and neither takes a link-time stub for a library.
"""

from __future__ import annotations

import ctypes
import glob
import os
import re
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

__all__ = ["LIBRARIES", "Candidate", "Library", "LibraryNotFound", "Loaded", "find", "load"]

MAJORS = (13, 12)  # of CUDA, the preferred one first


# Named tuples, not dataclasses: with those, importing this module takes four times as long.


class Library(NamedTuple):
    """What a library's files are called: glob patterns, in which `{major}` is that of CUDA."""

    name: str
    linux: tuple[str, ...]  # the soname, then other names of the file
    windows: tuple[str, ...]
    wheel12: str = ""  # its folder in the CUDA 12 wheels; those of CUDA 13 share nvidia/cu13
    packages: tuple[str, ...] = ()  # on PyPI, for CUDA 13 and 12; none: it comes with the driver
    subfolders: tuple[str, ...] = ("",)  # of a toolkit, with a lib or bin of their own
    companions: tuple[str, str] = ("", "")  # on Linux, on Windows: what it opens later by bare name
    absent: str = ""  # how to say that there is none

    @property
    def from_driver(self) -> bool:
        """Whether the NVIDIA driver installs it, not a CUDA toolkit."""
        return not self.packages

    @property
    def numbered(self) -> bool:
        """Whether the file name tells the CUDA major."""
        return "{major}" in self.linux[0]


LIBRARIES: Mapping[str, Library] = {
    library.name: library
    for library in (
        Library("cuda", ("libcuda.so.1",), ("nvcuda.dll",),
                absent="there is no NVIDIA driver on this machine"),
        Library("nvml", ("libnvidia-ml.so.1",), ("nvml.dll",),
                absent="there is no NVML, a part of the NVIDIA driver, on this machine"),
        Library("nvrtc", ("libnvrtc.so.{major}",), ("nvrtc64_{major}?_0.dll",), "nvidia/cuda_nvrtc",
                ("nvidia-cuda-nvrtc", "nvidia-cuda-nvrtc-cu12"),
                companions=("libnvrtc-builtins.so.{major}.*", "nvrtc-builtins64_{major}?.dll")),
        Library("nvJitLink", ("libnvJitLink.so.{major}",), ("nvJitLink_{major}?_0.dll",), "nvidia/nvjitlink",
                ("nvidia-nvjitlink", "nvidia-nvjitlink-cu12")),
        Library("nvvm", ("libnvvm.so.4", "libnvvm.so"), ("nvvm[0-9]*.dll",), "nvidia/cuda_nvcc",
                ("nvidia-nvvm", "nvidia-cuda-nvcc-cu12"), subfolders=("nvvm", "")),
        Library("nvfatbin", ("libnvfatbin.so.{major}",), ("nvfatbin_{major}?_0.dll",), "nvidia/nvfatbin",
                ("nvidia-nvfatbin", "nvidia-nvfatbin-cu12")),
        Library("cudart", ("libcudart.so.{major}",), ("cudart64_{major}.dll",), "nvidia/cuda_runtime",
                ("nvidia-cuda-runtime", "nvidia-cuda-runtime-cu12")),
        Library("cufile", ("libcufile.so.0",), (), "nvidia/cufile",
                ("nvidia-cufile", "nvidia-cufile-cu12")),
    )
}  # fmt: skip


class Candidate(NamedTuple):
    """Where `load` would take a library from or, if `refused` says why, would not."""

    found_by: str  # 'driver', 'pip', 'conda', 'CUDA_PATH', 'CUDA_HOME' or 'system'
    path: str  # of the file, absolute and real; the soname, for the loader; where it is not, if refused
    major: int | None = None  # of CUDA; None: a library of the driver, or not known
    refused: str = ""

    def __str__(self) -> str:
        place = f"{self.found_by} {self.path}".rstrip()
        return f"{place}: {self.refused}" if self.refused else place


class Loaded(NamedTuple):
    """An open library."""

    name: str
    handle: ctypes.CDLL
    path: str  # absolute and real; the soname, if the loader does not say more
    found_by: str  # as in Candidate
    major: int | None  # as in Candidate


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
    with _lock:
        if (name, major) not in _loaded:
            new = _load(library, major, this_host())
            # Whether asked for with a major or without, one file is one object.
            same = (old for old in _loaded.values() if (old.name, old.path) == (new.name, new.path))
            _loaded[name, major] = next(same, new)
        return _loaded[name, major]


_loaded: dict[tuple[str, int | None], Loaded] = {}
_lock = threading.Lock()


def find(name: str, major: int | None = None) -> tuple[Candidate, ...]:
    """The places where `load` looks, in its order, for a report; nothing is opened.

    Raises ValueError if cudapy does not know `name` or `major`.
    """
    return tuple(candidates(_library(name, major), major, this_host()))


def _library(name: str, major: int | None) -> Library:
    """The row of the table; ValueError if there is none, or no such major."""
    if name not in LIBRARIES:
        raise ValueError(f"no library {name!r}: cudapy knows {', '.join(LIBRARIES)}")
    if major not in (None, *MAJORS):
        raise ValueError(f"no CUDA {major!r}: cudapy knows {' and '.join(map(str, MAJORS))}")
    return LIBRARIES[name]


# ---- Where to look ----


class Host(NamedTuple):
    """All that a search depends on: this machine, or one that a test makes up."""

    paths: Sequence[str]
    environ: Mapping[str, str]
    platform: str = sys.platform
    cpu: str = os.uname().machine if hasattr(os, "uname") else "AMD64"
    root: str = os.sep  # above usr, opt and run

    @property
    def windows(self) -> bool:
        """Whether libraries are called and placed as on Windows."""
        return self.platform == "win32"

    def names(self, library: Library) -> tuple[str, ...]:
        """The patterns of the library's files; none if NVIDIA does not make it for this platform."""
        if self.windows:
            return library.windows
        return library.linux if self.platform.startswith("linux") else ()

    def folders(self) -> tuple[str, ...]:
        """Where libraries are in a wheel, an environment, a toolkit or /usr."""
        if self.windows:
            return ("bin/x64", "bin/x86_64", "bin")
        target = "sbsa" if self.cpu == "aarch64" else self.cpu
        return ("lib64", "lib", f"targets/{target}-linux/lib", f"lib/{self.cpu}-linux-gnu")


def this_host() -> Host:
    """This machine, as it is now."""
    return Host(tuple(sys.path), os.environ)


class _Place(NamedTuple):
    """A root folder to search: in `folders`, or else wherever libraries usually are."""

    found_by: str
    root: str
    major: int | None = None  # the only one that is there
    folders: tuple[str, ...] = ()


def candidates(library: Library, major: int | None, host: Host) -> Iterator[Candidate]:
    """Where `host` may have the library, best first, each file once, and where it does not."""
    majors = (major,) if major and not library.from_driver else MAJORS
    seen = set()
    for place in _places(library, majors, host):
        entries = [place] if isinstance(place, Candidate) else _files_in(place, library, majors, host)
        for entry in entries:
            if (entry.path, entry.refused) not in seen:
                seen.add((entry.path, entry.refused))
                yield entry


def _places(library: Library, majors: tuple[int, ...], host: Host) -> Iterator[_Place | Candidate]:
    """The search order: folders to search, sonames for the loader, and what is passed over."""
    if not host.names(library):
        yield Candidate("system", host.platform, refused=f"NVIDIA has no {library.name} for it")
    elif library.from_driver and host.windows:
        # By full path, as a bare name would be looked for beside the program first.
        yield from _variable("driver", "SystemRoot", host, folders=("System32",))
    elif library.from_driver:
        # Under WSL first: a Linux driver that somebody installed there as well cannot work.
        yield _Place("driver", os.path.join(host.root, "usr/lib/wsl"))
        yield from _loader("driver", library, majors, host)
        for folder in ("usr", "usr/local/nvidia", "run/opengl-driver"):
            yield _Place("driver", os.path.join(host.root, folder))
    else:
        yield from _wheels(library, majors, host)
        yield from _variable("conda", "CONDA_PREFIX", host, "Library" if host.windows else "")
        yield from _variable("CUDA_PATH", "CUDA_PATH", host)
        yield from _variable("CUDA_HOME", "CUDA_HOME", host)
        if host.windows:
            yield from _variable("system", "ProgramFiles", host, "NVIDIA GPU Computing Toolkit/CUDA/v*")
        else:
            yield from _loader("system", library, majors, host)
            cuda, opt, usr = (os.path.join(host.root, f) for f in ("usr/local/cuda", "opt/cuda", "usr"))
            for root in (cuda, *_newest(os.path.dirname(cuda), "cuda-*"), opt, usr):
                yield _Place("system", root)


def _wheels(library: Library, majors: tuple[int, ...], host: Host) -> Iterator[_Place | Candidate]:
    """NVIDIA's wheels on sys.path, whose entries may mean the working directory: those do not count."""
    trusted = []
    for path in host.paths:
        if not os.path.isabs(path):
            yield Candidate("pip", repr(path), refused="ignored, as it is not an absolute path")
        elif os.path.exists(path) and os.path.samefile(path, os.curdir):
            yield Candidate("pip", path, refused="ignored, as it is the working directory")  # `python -m`
        else:
            trusted.append(path)
    for major in majors:
        wheel = library.wheel12 if major == 12 else f"nvidia/cu{major}"
        for path in trusted:
            yield _Place("pip", os.path.join(path, wheel), major)


def _variable(
    found_by: str, name: str, host: Host, pattern: str = "", folders: tuple[str, ...] = ()
) -> Iterator[_Place | Candidate]:
    """The folder that an environment variable names, or those under it that match, the newest first."""
    value = host.environ.get(name, "")
    if not value:
        yield Candidate(found_by, "", refused=f"{name} is not set")
    elif not os.path.isabs(value):
        yield Candidate(found_by, repr(value), refused="ignored, as it is not an absolute path")
    else:
        roots = (_newest(value, pattern) or [os.path.join(value, pattern)]) if pattern else [value]
        for root in roots:
            yield _Place(found_by, root, folders=folders)


def _loader(
    found_by: str, library: Library, majors: tuple[int, ...], host: Host
) -> Iterator[_Place | Candidate]:
    """The system's loader, by soname, except where that may open a file that is not wanted.

    An empty or relative entry of LD_LIBRARY_PATH (a colon too many is enough) sends the loader to
    the working directory: then the other entries are searched here instead.
    """
    variable = host.environ.get("LD_LIBRARY_PATH", "")
    entries = re.split("[:;]", variable) if variable else []
    trusted = [entry for entry in entries if os.path.isabs(entry)]
    refused = ""
    if len(trusted) < len(entries):
        refused = "not looked up, as LD_LIBRARY_PATH has an empty or relative entry: the working directory"
    elif len(majors) == 1 and not library.numbered:
        refused = f"not looked up, as its name does not tell if it is of CUDA {majors[0]}"
    for major in majors:
        soname = library.linux[0].format(major=major)
        yield Candidate(found_by, soname, major if library.numbered else None, refused)
    if len(trusted) < len(entries):
        for entry in trusted:
            yield _Place(found_by, entry, folders=("",))


# ---- What is there ----


def _files_in(place: _Place, library: Library, majors: tuple[int, ...], host: Host) -> Iterator[Candidate]:
    """The library's files in a place, the preferred major first; or one entry that says what is not there."""
    wanted = [major for major in majors if place.major in (None, major)]
    found = False
    for major in wanted:
        for path in _files(place, library, major, host):
            own = major if library.numbered else place.major or _major_beside(place, library, host)
            if own in (major, None):
                found = True
                yield Candidate(place.found_by, os.path.realpath(path), own, _refusal(path))
    if not found:
        names = dict.fromkeys(n.format(major=major) for major in wanted for n in host.names(library))
        of = "" if library.numbered or library.from_driver else f" of CUDA {' or '.join(map(str, wanted))}"
        yield Candidate(place.found_by, place.root, refused=f"no {' or '.join(names)}{of}")


def _files(place: _Place, library: Library, major: int, host: Host) -> Iterator[str]:
    """The files in a place that are called like the library of CUDA `major`."""
    for subfolder in library.subfolders:
        for folder in place.folders or host.folders():
            for name in host.names(library):
                yield from _newest(os.path.join(place.root, subfolder, folder), name.format(major=major))


def _major_beside(place: _Place, library: Library, host: Host) -> int | None:
    """The CUDA major of a toolkit, for its libraries whose name does not tell: that of all the others.

    None if there are no others, or if they differ.
    """
    others = [] if library.from_driver else [other for other in LIBRARIES.values() if other.numbered]
    majors = {major for major in MAJORS for other in others for _ in _files(place, other, major, host)}
    return majors.pop() if len(majors) == 1 else None


def _newest(folder: str, pattern: str) -> list[str]:
    """The paths in `folder` that match, the highest version number first."""
    names = glob.glob(pattern, root_dir=folder)
    names.sort(key=lambda name: [int(digits) for digits in re.findall(r"\d+", name)], reverse=True)
    return [os.path.join(folder, name) for name in names]


def _refusal(path: str) -> str:
    """Why a file must not be opened; empty if it may be."""
    parents = [os.path.basename(os.path.dirname(name)) for name in (path, os.path.realpath(path))]
    return "a stub, which is for linking only" if "stubs" in parents else ""


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
                why = _refusal(path)  # the loader may have found a stub
                if not why:
                    folder = _Place(candidate.found_by, os.path.dirname(path), folders=("",))
                    own = candidate.major or _major_beside(folder, library, host)
                    return Loaded(library.name, handle, path, candidate.found_by, own)
        tried.append(str(candidate._replace(refused=why)))
    raise LibraryNotFound(library.name, tuple(tried), _message(library, major, tried, broken))


def _open(library: Library, candidate: Candidate, host: Host) -> ctypes.CDLL:
    """Open a library and, before it, its companions in the same folder; OSError with the loader's reason.

    NVRTC opens libnvrtc-builtins by bare name at the first compilation: too late to look elsewhere.
    """
    companion = library.companions[host.windows].format(major=candidate.major)
    if companion and os.path.isabs(candidate.path):
        for path in _newest(os.path.dirname(candidate.path), companion):
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
