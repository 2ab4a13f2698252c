"""Files of a toolkit that are not loaded: static and bitcode libraries, and programs."""

import os
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from .libraries import MAJORS
from .places import Candidate, Host, Place, environments, toolkits, wheels


class File(NamedTuple):
    """A file by its name, in folders relative to the root of a wheel, an environment or a toolkit."""

    name: str
    linux: str
    windows: tuple[str, ...]  # none: NVIDIA does not make it for Windows
    wheel12: str  # its folder in the CUDA 12 wheels, or in a wheel for both majors
    package: str  # on PyPI
    folders: tuple[str, ...] = ()  # none: where shared libraries are
    folders_windows: tuple[str, ...] = ()  # none: those of `folders`

    def names(self, host: Host) -> tuple[str, ...]:
        """What the file may be called."""
        return self.windows if host.windows else (self.linux,)


class Found(NamedTuple):
    """Where a file is: its absolute and real path, and what led to it, as in Candidate."""

    path: str
    found_by: str


def search(
    file: File, host: Host, accept: Callable[[str], bool] = os.path.isfile
) -> tuple[Found | None, tuple[str, ...]]:
    """The first such file that `accept` takes, best place first, and what was tried before it."""
    tried: list[str] = []
    for place in _places(file, host):
        if isinstance(place, Place):
            for path in _paths(file, place, host):
                if accept(path):
                    return Found(os.path.realpath(path), place.found_by), tuple(tried)
            place = Candidate(place.found_by, place.root, refused=f"no {' or '.join(file.names(host))}")
        tried.append(str(place))
    return None, tuple(tried)


def _places(file: File, host: Host) -> Iterator[Place | Candidate]:
    yield from wheels(file.wheel12, MAJORS, host)
    yield from environments(host)
    yield from toolkits(host)


def _paths(file: File, place: Place, host: Host) -> Iterator[str]:
    folders = (host.windows and file.folders_windows) or file.folders or host.folders()
    for folder in folders:
        for name in file.names(host):
            yield os.path.join(place.root, folder, name)


BITCODE: Mapping[str, File] = {
    file.name: file
    for file in (
        File("device", "libdevice.10.bc", ("libdevice.10.bc",), "nvidia/cuda_nvcc", "nvidia-nvvm",
             ("nvvm/libdevice",)),
        File("nccl_device", "libnccl_device.bc", (), "nvidia/nccl", "nvidia-nccl-cu13", ("lib",)),
        File("nvshmem_device", "libnvshmem_device.bc", (), "nvidia/nvshmem", "nvidia-nvshmem-cu13", ("lib",)),
    )
}  # fmt: skip
STATIC: Mapping[str, File] = {
    "cudadevrt": File("cudadevrt", "libcudadevrt.a", ("cudadevrt.lib",), "nvidia/cuda_runtime",
                      "nvidia-cuda-runtime", folders_windows=("lib/x64", "lib")),
}  # fmt: skip


def _program(name: str, wheel12: str = "nvidia/cuda_nvcc", package: str = "nvidia-cuda-nvcc") -> File:
    windows = (f"{name}.exe", f"{name}.bat", f"{name}.cmd")
    return File(name, name, windows, wheel12, package, ("bin",), ("bin/x64", "bin/x86_64", "bin"))


_SYSTEMS = ("nvidia/nsight_systems", "nvidia-nsight-systems")
_COMPUTE = ("nvidia/nsight_compute", "nvidia-nsight-compute")
PROGRAMS: Mapping[str, File] = {
    file.name: file
    for file in (
        *map(_program, ("nvcc", "ptxas", "nvdisasm", "cuobjdump", "nvprune", "fatbinary", "bin2c", "nvlink")),
        *map(_program, ("cuda-gdb", "cuda-gdbserver", "compute-sanitizer", "nvprof")),
        *(_program(name, *_SYSTEMS) for name in ("nsys", "nsight-sys")),
        *(_program(name, *_COMPUTE) for name in ("ncu", "nsight-compute")),
    )
}
