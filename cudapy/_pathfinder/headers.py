"""Where CUDA's headers are, of which release, and which of them go with a compiler."""

import os
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from .libraries import MAJORS
from .places import Candidate, Host, Place, environments, toolkits, wheels

Release = tuple[int, int]  # 13, 0


class Header(NamedTuple):
    """Headers that come together, known by one of them."""

    name: str
    marker: str  # relative to the folder that the compiler is given
    wheel12: str  # their folder in the CUDA 12 wheels; those of CUDA 13 share nvidia/cu13
    packages: tuple[str, str]  # on PyPI, for CUDA 13 and 12
    folders: tuple[str, ...] = ("{include}",)  # of a root; {include} is include, or that of the processor


HEADERS: Mapping[str, Header] = {
    header.name: header
    for header in (
        Header("cudart", "cuda_runtime.h", "nvidia/cuda_runtime",
               ("nvidia-cuda-runtime", "nvidia-cuda-runtime-cu12")),
        Header("crt", "crt/host_defines.h", "nvidia/cuda_nvcc",
               ("nvidia-cuda-crt", "nvidia-cuda-nvcc-cu12")),
        Header("cccl", "cuda/std/version", "nvidia/cuda_cccl",
               ("nvidia-cuda-cccl", "nvidia-cuda-cccl-cu12"), folders=("{include}/cccl", "{include}")),
        Header("curand", "curand.h", "nvidia/curand", ("nvidia-curand", "nvidia-curand-cu12")),
        Header("nvrtc", "nvrtc.h", "nvidia/cuda_nvrtc", ("nvidia-cuda-nvrtc", "nvidia-cuda-nvrtc-cu12")),
        Header("nvjitlink", "nvJitLink.h", "nvidia/nvjitlink",
               ("nvidia-nvjitlink", "nvidia-nvjitlink-cu12")),
        Header("nvvm", "nvvm.h", "nvidia/cuda_nvcc",
               ("nvidia-nvvm", "nvidia-cuda-nvcc-cu12"), folders=("nvvm/include", "{include}")),
        Header("nvfatbin", "nvFatbin.h", "nvidia/nvfatbin", ("nvidia-nvfatbin", "nvidia-nvfatbin-cu12")),
        Header("cufile", "cufile.h", "nvidia/cufile", ("nvidia-cufile", "nvidia-cufile-cu12")),
        Header("nvml", "nvml.h", "nvidia/nvml_dev", ("nvidia-nvml-dev", "nvidia-nvml-dev-cu12")),
        Header("cublas", "cublas.h", "nvidia/cublas", ("nvidia-cublas", "nvidia-cublas-cu12")),
        Header("cufft", "cufft.h", "nvidia/cufft", ("nvidia-cufft", "nvidia-cufft-cu12")),
        Header("cusolver", "cusolverDn.h", "nvidia/cusolver", ("nvidia-cusolver", "nvidia-cusolver-cu12")),
        Header("cusparse", "cusparse.h", "nvidia/cusparse", ("nvidia-cusparse", "nvidia-cusparse-cu12")),
        Header("npp", "npp.h", "nvidia/npp", ("nvidia-npp", "nvidia-npp-cu12")),
        Header("profiler", "cuda_profiler_api.h", "nvidia/cuda_profiler_api",
               ("nvidia-cuda-profiler-api", "nvidia-cuda-profiler-api-cu12")),
        Header("nvcc", "fatbinary_section.h", "nvidia/cuda_nvcc",
               ("nvidia-cuda-nvcc", "nvidia-cuda-nvcc-cu12")),
        Header("nvjpeg", "nvjpeg.h", "nvidia/nvjpeg", ("nvidia-nvjpeg", "nvidia-nvjpeg-cu12")),
        Header("cudla", "cudla.h", "nvidia/cudla", ("nvidia-cudla", "nvidia-cudla-cu12")),
    )
}  # fmt: skip


class Directory(NamedTuple):
    """A folder of headers or, if `refused` says why, where there is none."""

    found_by: str  # as in Candidate
    path: str  # absolute and real
    root: str = ""  # of the wheel, environment or toolkit
    major: int | None = None  # of CUDA; None: not known
    release: Release | None = None  # by the headers themselves; None: they do not tell
    refused: str = ""

    def __str__(self) -> str:
        of = f"CUDA {version(self.release)} in " if self.release else ""
        return f"{of}{self.path} ({self.found_by})"


def version(release: Release) -> str:
    """ "13.0" for 13, 0."""
    return f"{release[0]}.{release[1]}"


def directories(
    header: Header, major: int | None, host: Host, first: Place | None = None
) -> Iterator[Directory]:
    """Where `host` may have the headers, best first, each folder once, and where it does not.

    first: a place to search before all others.
    """
    majors = (major,) if major else MAJORS
    seen = set()
    for place in (*([first] if first else ()), *_places(header, majors, host)):
        entry = _directory(place, header, majors, host)
        if entry.path not in seen:
            seen.add(entry.path)
            yield entry


def _places(header: Header, majors: tuple[int, ...], host: Host) -> Iterator[Place | Candidate]:
    yield from wheels(header.wheel12, majors, host)
    yield from environments(host)
    yield from toolkits(host)


def _directory(place: Place | Candidate, header: Header, majors: tuple[int, ...], host: Host) -> Directory:
    """The folder in a place that has the headers, or why there is none."""
    if isinstance(place, Candidate):
        return Directory(place.found_by, place.path, refused=place.refused)
    for include in ("include", *([] if host.windows else [f"{host.target}/include"])):
        for folder in header.folders:
            path = os.path.join(place.root, folder.format(include=include))
            if os.path.isfile(os.path.join(path, header.marker)):
                path = os.path.realpath(path)
                release = release_of(path) or release_of(os.path.join(place.root, include))
                major = place.major or (release[0] if release else None)
                # A toolkit may be of any major; one that does not tell is better than nothing.
                if major in (None, *majors):
                    return Directory(place.found_by, path, place.root, major, release)
    of = f" of CUDA {majors[0]}" if len(majors) == 1 and place.major is None else ""
    return Directory(place.found_by, place.root, refused=f"no {header.marker}{of}")


def release_of(folder: str) -> Release | None:
    """The release of the CUDA headers in `folder`, by CUDART_VERSION or CUDA_VERSION; None without them."""
    for name, macro in (("cuda_runtime_api.h", b"CUDART_VERSION"), ("cuda.h", b"CUDA_VERSION")):
        try:
            with open(os.path.join(folder, name), "rb") as file:
                # It is on the first pages of a long file.
                match = re.search(rb"#define\s+" + macro + rb"\s+(\d+)", file.read(1 << 16))
        except OSError:
            continue
        if match:
            return int(match[1]) // 1000, int(match[1]) % 1000 // 10
    return None


# ---- For a compiler ----


class Matching(NamedTuple):
    """The headers that go with one NVRTC."""

    folders: tuple[str, ...]  # for --include-path
    other: tuple[Directory, ...]  # CUDA's own headers, all of other releases, if none is of this


def matching(release: Release, library: str, host: Host) -> Matching:
    """The headers for the NVRTC of `release` at the path `library`: CUDA's own, CCCL and cuRAND's.

    Those beside the library come first, then the places of `load`. Each must be of the very same release;
    those of a wheel that does not tell its release (CCCL and cuRAND count otherwise), of the same major.
    """
    beside = Place("beside NVRTC", _root_of(library, host), release[0])
    folders: dict[str, None] = {}
    other: list[Directory] = []
    for name in ("cudart", "crt", "cccl", "curand"):
        for directory in directories(HEADERS[name], None, host, beside):
            if directory.refused:
                continue
            if (directory.release or (directory.major, release[1])) == release:
                folders[directory.path] = None
                other = [] if name == "cudart" else other
                break
            if name == "cudart":
                other.append(directory)
    return Matching(tuple(folders), tuple(other))


def _root_of(library: str, host: Host) -> str:
    """The root of the wheel, environment or toolkit that a library is in."""
    folder = os.path.dirname(library).replace(os.sep, "/")
    for name in sorted(host.folders(), key=len, reverse=True):
        if folder.endswith(f"/{name}"):
            return folder.removesuffix(f"/{name}")
    return folder
