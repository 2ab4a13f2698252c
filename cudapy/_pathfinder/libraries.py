"""What NVIDIA's libraries are called, and which packages have them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

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


DRIVER = (
    "install the NVIDIA driver (https://www.nvidia.com/drivers), or start the container with its GPU "
    "(docker run --gpus all)"
)
"""What to do about a driver that is missing or too old."""
SIMULATED = "without a GPU, set CUDAPY_DRIVER=simulator to run on the simulator"

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
