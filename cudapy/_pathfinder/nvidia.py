"""The functions and classes of `cuda.pathfinder`, which search where `cudapy.pathfinder.load` does."""

import ctypes
import os
import sys
import warnings
from typing import NamedTuple

from .errors import (
    BitcodeLibNotFoundError,
    DynamicLibNotAvailableError,
    DynamicLibUnknownError,
    LibraryNotFound,
    StaticLibNotFoundError,
    UnsupportedArchError,
    UnsupportedBinaryError,
)
from .headers import HEADERS, directories
from .libraries import LIBRARIES, MAJORS, Library
from .opened import path_of
from .toolkit_files import BITCODE, PROGRAMS, STATIC, File, search

_VIA = {"pip": "site-packages", "conda": "conda", "CUDA_PATH": "CUDA_PATH", "CUDA_HOME": "CUDA_PATH"}
"""What cuda.pathfinder calls the places; the others are found by the system."""

SUPPORTED_NVIDIA_LIBNAMES = tuple(
    name
    for name in dict.fromkeys(("cudart", "nvfatbin", "nvJitLink", "nvrtc", "nvvm", *LIBRARIES))
    if name not in ("cuda", "nvml", "cufile", "nccl") and (sys.platform != "win32" or LIBRARIES[name].windows)
) + (("cufile",) if sys.platform != "win32" else ())
"""The libraries that `load_nvidia_dynamic_lib` knows, but for "cuda", "nvml" and "nccl"."""

_LINUX_ONLY = () if sys.platform == "win32" else ("cufile", "cudla")
SUPPORTED_HEADERS_CTK = {
    name: HEADERS[name].marker
    for name in (
        *("cccl", "cublas", "cudart", "cufft", "curand", "cusolver", "cusparse", "npp", "profiler", "nvcc"),
        *("nvfatbin", "nvjitlink", "nvjpeg", "nvrtc", "nvvm", *_LINUX_ONLY),
    )
}
"""The headers that `find_nvidia_header_directory` knows, and the one that each is known by."""

SUPPORTED_BITCODE_LIBS = tuple(
    name for name, file in BITCODE.items() if sys.platform != "win32" or file.windows
)
"""The libraries that `find_bitcode_lib` knows."""
SUPPORTED_STATIC_LIBS = tuple(STATIC)
"""The libraries that `find_static_lib` knows."""
SUPPORTED_BINARY_UTILITIES = tuple(PROGRAMS)
"""The programs that `find_nvidia_binary_utility` knows."""


class LoadedDL:
    """An open library: where it is, and how it was found."""

    def __init__(
        self, abs_path: str | None, was_already_loaded_from_elsewhere: bool, _handle_uint: int, found_via: str
    ) -> None:
        self.abs_path = abs_path  # None: the loader does not say
        self.was_already_loaded_from_elsewhere = was_already_loaded_from_elsewhere  # not by this package
        self._handle_uint = _handle_uint  # what dlopen returned; not to be closed
        self.found_via = found_via

    def __eq__(self, other: object) -> bool:
        return vars(self) == vars(other) if isinstance(other, LoadedDL) else NotImplemented

    __hash__ = None  # type: ignore[assignment]  # its attributes can change

    def __repr__(self) -> str:
        return f"LoadedDL({', '.join(f'{name}={value!r}' for name, value in vars(self).items())})"


class LocatedHeaderDir(NamedTuple):
    """A folder of headers, and how it was found."""

    abs_path: str | None
    found_via: str


class LocatedBitcodeLib(NamedTuple):
    """A library of LLVM bitcode, and how it was found."""

    name: str
    abs_path: str
    filename: str
    found_via: str


class LocatedStaticLib(NamedTuple):
    """A static library, and how it was found."""

    name: str
    abs_path: str
    filename: str
    found_via: str


_from_elsewhere: dict[str, LoadedDL] = {}  # what was open before cudapy asked for it


def load_nvidia_dynamic_lib(libname: str) -> LoadedDL:
    """Load a library of SUPPORTED_NVIDIA_LIBNAMES, "cuda", "nvml" or "nccl", with what it needs.

    What another package has opened is returned as it is (on Linux); otherwise this is `load(libname)`. Raises
    DynamicLibUnknownError for another name, DynamicLibNotAvailableError for one that NVIDIA does not make for
    this platform, DynamicLibNotFoundError if there is none that works.
    """
    from .. import pathfinder

    library = LIBRARIES.get(libname) if isinstance(libname, str) else None
    if library is None:
        raise DynamicLibUnknownError(f"no library {libname!r}: cudapy knows {', '.join(LIBRARIES)}")
    host = pathfinder.this_host()
    if host.windows and not library.windows:
        raise DynamicLibNotAvailableError(f"NVIDIA has no {libname} for Windows")
    if host.windows:
        _check_processor()
    elif not pathfinder.is_open(libname) and (there := _open_elsewhere(library)) is not None:
        return there
    loaded = pathfinder.load(libname)
    handle = getattr(loaded.handle, "_handle", 0)  # 0: the simulator's
    return LoadedDL(loaded.path, False, handle, _VIA.get(loaded.found_by, "system-search"))


def _check_processor() -> None:
    import sysconfig

    if (platform := sysconfig.get_platform()) not in ("win-amd64", "win-arm64"):
        raise UnsupportedArchError(platform)


def _open_elsewhere(library: Library) -> LoadedDL | None:
    """A library that is open in this process, though not by cudapy; None if it is not."""
    if library.name not in _from_elsewhere:
        numbers = MAJORS if library.numbered else MAJORS[:1]
        names = [name.format(major=major) for name in library.linux for major in numbers]
        for soname in names:
            try:
                handle = ctypes.CDLL(soname, mode=os.RTLD_NOLOAD | os.RTLD_LAZY)
            except OSError:
                continue
            via = "was-already-loaded-from-elsewhere"
            path = path_of(handle, soname)
            _from_elsewhere[library.name] = LoadedDL(path, True, handle._handle, via)
            break
    return _from_elsewhere.get(library.name)


def locate_nvidia_header_directory(libname: str) -> LocatedHeaderDir | None:
    """What `find_nvidia_header_directory` finds, and how it was found; None if there is none.

    Raises RuntimeError if cudapy does not know `libname`.
    """
    return _headers(libname, None)


def find_nvidia_header_directory(libname: str, major: int | None = None) -> str | None:
    """The folder, absolute and real, to give the compiler for the headers of `libname`, a key of HEADERS.

    That of CUDA `major`, else the first there is, in the order of `load`; None if there is none. For
    "cudart" it has cuda_runtime.h and cuda_fp16.h, for "cccl" cuda/std/array. Raises RuntimeError if cudapy
    does not know `libname`, ValueError if it does not know `major`.
    """
    if major not in (None, *MAJORS):
        raise ValueError(f"no CUDA {major!r}: cudapy knows {' and '.join(map(str, MAJORS))}")
    located = _headers(libname, major)
    return located.abs_path if located else None


def _headers(libname: str, major: int | None) -> LocatedHeaderDir | None:
    from .. import pathfinder

    name = libname.lower() if isinstance(libname, str) else ""  # "nvJitLink", as the library is called
    if name not in HEADERS:
        raise RuntimeError(f"no headers {libname!r}: cudapy knows {', '.join(HEADERS)}")
    for directory in directories(HEADERS[name], major, pathfinder.this_host()):
        if not directory.refused:
            return LocatedHeaderDir(directory.path, _VIA.get(directory.found_by, "system-ctk-root"))
    return None


def find_bitcode_lib(name: str) -> str:
    """The path, absolute and real, of a library of SUPPORTED_BITCODE_LIBS; see `locate_bitcode_lib`."""
    return locate_bitcode_lib(name).abs_path


def locate_bitcode_lib(name: str) -> LocatedBitcodeLib:
    """Find a library of LLVM bitcode: "device" has CUDA's math functions for NVVM IR.

    That one is the one near the libNVVM that is loaded, if there is a libNVVM. Raises BitcodeLibNotFoundError
    if there is none, ValueError for a name not in SUPPORTED_BITCODE_LIBS.
    """
    if name not in SUPPORTED_BITCODE_LIBS:
        known = ", ".join(map(repr, SUPPORTED_BITCODE_LIBS))
        raise ValueError(f"no bitcode library {name!r}: cudapy knows {known}")
    path = (name == "device" and _near_libnvvm()) or _find(BITCODE[name], BitcodeLibNotFoundError)
    return LocatedBitcodeLib(name, *path)


def _near_libnvvm() -> tuple[str, str, str] | None:
    """The path, file name and place of libdevice near libNVVM; None without libNVVM."""
    from .. import pathfinder

    try:
        library = pathfinder.load("nvvm")
    except LibraryNotFound:
        return None
    tried = []
    folder = os.path.dirname(library.path)
    for _ in range(3):  # nvvm/lib64, and nvvm/bin/x64; the wheels of CUDA 13 have nvvm beside lib
        folder = os.path.dirname(folder)
        for place in (folder, os.path.join(folder, "nvvm")):
            path = os.path.join(place, "libdevice", "libdevice.10.bc")
            if os.path.isfile(path):
                via = _VIA.get(library.found_by, "system-ctk-root")
                return os.path.realpath(path), "libdevice.10.bc", via
            tried.append(f"{path}: no such file")
    message = "\n  ".join([f"libdevice.10.bc is not near {library.path}. Places tried:", *tried])
    packages = " or ".join(LIBRARIES["nvvm"].packages)
    fix = f"{message}\nTo fix it: pip install {packages}."
    raise BitcodeLibNotFoundError("libdevice", tuple(tried), fix)


def find_static_lib(name: str) -> str:
    """The path, absolute and real, of a library of SUPPORTED_STATIC_LIBS; see `locate_static_lib`."""
    return locate_static_lib(name).abs_path


def locate_static_lib(name: str) -> LocatedStaticLib:
    """Find a static library: "cudadevrt", the device runtime, for kernels that launch kernels.

    Raises StaticLibNotFoundError if there is none, ValueError for a name not in SUPPORTED_STATIC_LIBS.
    """
    if name not in SUPPORTED_STATIC_LIBS:
        known = ", ".join(map(repr, SUPPORTED_STATIC_LIBS))
        raise ValueError(f"no static library {name!r}: cudapy knows {known}")
    return LocatedStaticLib(name, *_find(STATIC[name], StaticLibNotFoundError))


def _find(file: File, error: type[LibraryNotFound]) -> tuple[str, str, str]:
    """The path, file name and place of a file; `error` if there is none."""
    from .. import pathfinder

    host = pathfinder.this_host()
    path, tried = search(file, host)
    if path is None:
        name = " or ".join(file.names(host)) or file.linux
        message = "\n  ".join([f"{name} was not found. Places tried:", *tried])
        raise error(file.name, tried, f"{message}\nTo fix it: pip install {file.package}.")
    return path.path, os.path.basename(path.path), _VIA.get(path.found_by, "system-ctk-root")


def find_nvidia_binary_utility(utility_name: str) -> str | None:
    """The path, absolute and real, of a program of SUPPORTED_BINARY_UTILITIES, or None without it.

    It is looked for where the libraries are, and not in PATH. Raises UnsupportedBinaryError for another name.
    """
    from .. import pathfinder

    if utility_name not in SUPPORTED_BINARY_UTILITIES:
        known = ", ".join(SUPPORTED_BINARY_UTILITIES)
        raise UnsupportedBinaryError(f"no program {utility_name!r}: cudapy knows {known}")
    host = pathfinder.this_host()

    def runs(path: str) -> bool:
        return os.path.isfile(path) and (host.windows or os.access(path, os.X_OK))

    program, _ = search(PROGRAMS[utility_name], host, runs)
    return program.path if program else None


def get_cuda_path_or_home() -> str | None:
    """CUDA_PATH or, without it, CUDA_HOME, as they are now; None if neither is set.

    A UserWarning tells if both are set to different folders.
    """
    from .. import pathfinder

    environ = pathfinder.this_host().environ
    path, home = environ.get("CUDA_PATH"), environ.get("CUDA_HOME")
    if path and home and os.path.realpath(path) != os.path.realpath(home):
        warnings.warn(f"CUDA_PATH is {path!r} and CUDA_HOME is {home!r}: CUDA_PATH is used", stacklevel=2)
    return path or home or None
