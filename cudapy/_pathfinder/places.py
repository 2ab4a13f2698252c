"""Where to look, and in which order: pip wheels, conda, CUDA_PATH, CUDA_HOME, the system.

Never in the working directory: what would mean it is passed over, and said so.
"""

import glob
import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from . import start
from .libraries import Library


class Candidate(NamedTuple):
    """Where a library or a header directory is or, if `refused` says why, is not taken from."""

    found_by: str  # 'driver', 'pip', 'conda', 'CUDA_PATH', 'CUDA_HOME' or 'system'
    path: str  # of the file, absolute and real; the soname, for the loader; where it is not, if refused
    major: int | None = None  # of CUDA; None: a library of the driver, or not known
    refused: str = ""

    def __str__(self) -> str:
        place = f"{self.found_by} {self.path}".rstrip()
        return f"{place}: {self.refused}" if self.refused else place


class Host(NamedTuple):
    """All that a search depends on: this machine, or one that a test makes up."""

    paths: Sequence[str]
    environ: Mapping[str, str]
    platform: str = sys.platform
    cpu: str = os.uname().machine if hasattr(os, "uname") else "AMD64"
    root: str = os.sep  # above usr, opt and run
    at_start: Mapping[str, str] | None = None  # the environment then, if it is not `environ`
    started_in: Sequence[str] = ()  # folders, absolute and real, that were the working directory, or in it

    @property
    def windows(self) -> bool:
        """Whether libraries are called and placed as on Windows."""
        return self.platform == "win32"

    @property
    def target(self) -> str:
        """The folder of a toolkit for this processor."""
        return f"targets/{'sbsa' if self.cpu == 'aarch64' else self.cpu}-linux"

    def names(self, library: Library) -> tuple[str, ...]:
        """The patterns of the library's files; none if NVIDIA does not make it for this platform."""
        if self.windows:
            return library.windows
        return library.linux if self.platform.startswith("linux") else ()

    def folders(self) -> tuple[str, ...]:
        """Where libraries are in a wheel, an environment, a toolkit or /usr."""
        if self.windows:
            return ("bin/x64", "bin/x86_64", "bin")
        return ("lib64", "lib", f"{self.target}/lib", f"lib/{self.cpu}-linux-gnu")


def this_host() -> Host:
    """This machine, as it is now."""
    paths = tuple(path for path in sys.path if isinstance(path, str))  # as `import` does
    return Host(paths, os.environ, at_start=start.environment(), started_in=start.folders())


class Place(NamedTuple):
    """A root folder to search: in `folders`, or else wherever libraries usually are."""

    found_by: str
    root: str
    major: int | None = None  # the only one that is there
    folders: tuple[str, ...] = ()


def places(library: Library, majors: tuple[int, ...], host: Host) -> Iterator[Place | Candidate]:
    """The search order for a library: folders to search, sonames for the loader, and what is passed over."""
    if not host.names(library):
        yield Candidate("system", host.platform, refused=f"NVIDIA has no {library.name} for it")
    elif library.from_driver and host.windows:
        # By full path, as a bare name would be looked for beside the program first.
        yield from _variable("driver", "SystemRoot", host, folders=("System32",))
    elif library.from_driver:
        # Under WSL first: a Linux driver that somebody installed there as well cannot work.
        yield Place("driver", os.path.join(host.root, "usr/lib/wsl"))
        yield from _loader("driver", library, majors, host)
        for folder in ("usr", "usr/local/nvidia", "run/opengl-driver"):
            yield Place("driver", os.path.join(host.root, folder))
    else:
        yield from wheels(library.wheel12, majors, host, library.wheels)
        yield from environments(host)
        if not host.windows:
            yield from _loader("system", library, majors, host)
        yield from toolkits(host)


def wheels(
    wheel12: str, majors: tuple[int, ...], host: Host, of_any: tuple[str, ...] = ()
) -> Iterator[Place | Candidate]:
    """NVIDIA's wheels on sys.path, whose entries may mean the working directory, or have: those do not count.

    wheel12: the folder in the CUDA 12 wheels; those of CUDA 13 share one. of_any: the folders in wheels of
    either, which do not tell of which; instead of those.
    """
    trusted = []
    for path in host.paths:
        if not os.path.isabs(path):
            yield Candidate("pip", repr(path), refused="ignored, as it is not an absolute path")
        elif os.path.exists(path) and os.path.samefile(path, os.curdir):
            yield Candidate("pip", path, refused="ignored, as it is the working directory")
        elif host.started_in and os.path.realpath(path) in host.started_in:  # `python -m`
            yield Candidate("pip", path, refused="ignored, as the process was started there")
        else:
            trusted.append(path)
    for wheel in of_any:
        for path in trusted:
            yield Place("pip", os.path.join(path, wheel))
    for major in () if of_any else majors:
        wheel = wheel12 if major == 12 else f"nvidia/cu{major}"
        for path in trusted:
            yield Place("pip", os.path.join(path, wheel), major)


def environments(host: Host) -> Iterator[Place | Candidate]:
    """The roots that environment variables name."""
    yield from _variable("conda", "CONDA_PREFIX", host, "Library" if host.windows else "")
    yield from _variable("CUDA_PATH", "CUDA_PATH", host)
    yield from _variable("CUDA_HOME", "CUDA_HOME", host)


def toolkits(host: Host) -> Iterator[Place | Candidate]:
    """The toolkits in the system's own places."""
    if host.windows:
        yield from _variable("system", "ProgramFiles", host, "NVIDIA GPU Computing Toolkit/CUDA/v*")
    else:
        cuda, opt, usr = (os.path.join(host.root, f) for f in ("usr/local/cuda", "opt/cuda", "usr"))
        for root in (cuda, *newest(os.path.dirname(cuda), "cuda-*"), opt, usr):
            yield Place("system", root)


def _variable(
    found_by: str, name: str, host: Host, pattern: str = "", folders: tuple[str, ...] = ()
) -> Iterator[Place | Candidate]:
    """The folder that an environment variable names, or those under it that match, the newest first."""
    value = host.environ.get(name, "")
    if not value:
        yield Candidate(found_by, "", refused=f"{name} is not set")
    elif not os.path.isabs(value):
        yield Candidate(found_by, repr(value), refused="ignored, as it is not an absolute path")
    else:
        roots = (newest(value, pattern) or [os.path.join(value, pattern)]) if pattern else [value]
        for root in roots:
            yield Place(found_by, root, folders=folders)


def _loader(
    found_by: str, library: Library, majors: tuple[int, ...], host: Host
) -> Iterator[Place | Candidate]:
    """The system's loader, by soname, except where that may open a file that is not wanted.

    An empty or relative entry of LD_LIBRARY_PATH (a colon too many is enough) sends the loader to
    the working directory: then the other entries are searched here instead.
    """
    trusted, is_astray = loader_path(host)
    refused = ""
    if is_astray:
        refused = "not looked up, as LD_LIBRARY_PATH has an empty or relative entry: the working directory"
    elif len(majors) == 1 and not library.numbered:
        refused = f"not looked up, as its name does not tell if it is of CUDA {majors[0]}"
    for soname, major in _sonames(library, majors):
        yield Candidate(found_by, soname, major, refused)
    if is_astray:
        for entry in trusted:
            yield Place(found_by, entry, folders=("",))


def _sonames(library: Library, majors: tuple[int, ...]) -> list[tuple[str, int | None]]:
    """What the loader may know the library by, and the CUDA major that each name tells."""
    if library.numbered:
        return [(library.linux[0].format(major=major), major) for major in majors]
    return [(name, None) for name in library.linux if not name.endswith(".so")]


def loader_path(host: Host) -> tuple[list[str], bool]:
    """The absolute folders of LD_LIBRARY_PATH, and whether it has others: the working directory.

    The loader goes by the value that the process was started with, whatever became of it.
    """
    environ = host.environ if host.at_start is None else host.at_start
    variable = environ.get("LD_LIBRARY_PATH", "")
    entries = re.split("[:;]", variable) if variable else []
    trusted = [entry for entry in entries if os.path.isabs(entry)]
    return trusted, len(trusted) < len(entries)


def newest(folder: str, pattern: str) -> list[str]:
    """The paths in `folder` that match, the highest version number first."""
    names = glob.glob(pattern, root_dir=folder)
    names.sort(key=lambda name: [int(digits) for digits in re.findall(r"\d+", name)], reverse=True)
    return [os.path.join(folder, name) for name in names]
