"""What NVIDIA's libraries are called, and which packages have them."""

from collections.abc import Mapping
from typing import NamedTuple

MAJORS = (13, 12)  # of CUDA, the preferred one first


# Named tuples, not dataclasses: with those, importing this module takes four times as long.


class Library(NamedTuple):
    """What a library's files are called: glob patterns, in which `{major}` is that of CUDA."""

    name: str
    linux: tuple[str, ...]  # the soname, those of earlier releases, and other names of the file
    windows: tuple[str, ...]
    wheel12: str = ""  # its folder in the CUDA 12 wheels; those of CUDA 13 share nvidia/cu13
    packages: tuple[str, ...] = ()  # on PyPI, for CUDA 13 and 12; none: it comes with the driver
    subfolders: tuple[str, ...] = ("",)  # of a toolkit, with a lib or bin of their own
    companions: tuple[str, str] = ("", "")  # on Linux, on Windows: what it opens later by bare name
    dependencies: tuple[str, ...] = ()  # libraries of the table that go before it
    absent: str = ""  # how to say that there is none
    wheels: tuple[str, ...] = ()  # of either CUDA major, which do not tell of which: its folders

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

USED: Mapping[str, Library] = {
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
        Library("nccl", ("libnccl.so.2",), (), packages=("nvidia-nccl-cu13", "nvidia-nccl-cu12"),
                wheels=("nvidia/nccl", "torch")),
    )
}  # fmt: skip
"""The libraries that cudapy itself opens."""


def _npp(name: str, *dependencies: str) -> Library:
    return Library(name, (f"lib{name}.so.{{major}}",), (f"{name}64_{{major}}.dll",), "nvidia/npp",
                   ("nvidia-npp", "nvidia-npp-cu12"), dependencies=dependencies)  # fmt: skip


_OTHERS = (
    Library("cublas", ("libcublas.so.{major}",), ("cublas64_{major}.dll",), "nvidia/cublas",
            ("nvidia-cublas", "nvidia-cublas-cu12"), dependencies=("cublasLt",)),
    Library("cublasLt", ("libcublasLt.so.{major}",), ("cublasLt64_{major}.dll",), "nvidia/cublas",
            ("nvidia-cublas", "nvidia-cublas-cu12")),
    Library("cufft", ("libcufft.so.12", "libcufft.so.11"), ("cufft64_12.dll", "cufft64_11.dll"),
            "nvidia/cufft", ("nvidia-cufft", "nvidia-cufft-cu12")),
    Library("cufftw", ("libcufftw.so.12", "libcufftw.so.11"), ("cufftw64_12.dll", "cufftw64_11.dll"),
            "nvidia/cufft", ("nvidia-cufft", "nvidia-cufft-cu12"), dependencies=("cufft",)),
    Library("curand", ("libcurand.so.11", "libcurand.so.10"), ("curand64_11.dll", "curand64_10.dll"),
            "nvidia/curand", ("nvidia-curand", "nvidia-curand-cu12")),
    Library("cusolver", ("libcusolver.so.12", "libcusolver.so.11"),
            ("cusolver64_12.dll", "cusolver64_11.dll"), "nvidia/cusolver",
            ("nvidia-cusolver", "nvidia-cusolver-cu12"),
            dependencies=("nvJitLink", "cusparse", "cublasLt", "cublas")),
    Library("cusolverMg", ("libcusolverMg.so.12", "libcusolverMg.so.11"),
            ("cusolverMg64_12.dll", "cusolverMg64_11.dll"), "nvidia/cusolver",
            ("nvidia-cusolver", "nvidia-cusolver-cu12"), dependencies=("nvJitLink", "cublasLt", "cublas")),
    Library("cusparse", ("libcusparse.so.12",), ("cusparse64_12.dll",), "nvidia/cusparse",
            ("nvidia-cusparse", "nvidia-cusparse-cu12"), dependencies=("nvJitLink",)),
    _npp("nppc"),
    *(_npp(name, "nppc") for name in ("nppial", "nppicc", "nppidei", "nppif", "nppig", "nppim", "nppist")),
    *(_npp(name, "nppc") for name in ("nppisu", "nppitc", "npps")),
    Library("nvblas", ("libnvblas.so.{major}",), ("nvblas64_{major}.dll",), "nvidia/cublas",
            ("nvidia-cublas", "nvidia-cublas-cu12"), dependencies=("cublas", "cublasLt")),
    Library("nvjpeg", ("libnvjpeg.so.{major}",), ("nvjpeg64_{major}.dll",), "nvidia/nvjpeg",
            ("nvidia-nvjpeg", "nvidia-nvjpeg-cu12")),
    Library("cupti", ("libcupti.so.{major}",), ("cupti64_{major}.dll", "cupti64_20*.dll"),
            "nvidia/cuda_cupti", ("nvidia-cuda-cupti", "nvidia-cuda-cupti-cu12"),
            subfolders=("extras/CUPTI", "")),
    Library("cudla", ("libcudla.so.1",), ("cudla.dll",), "nvidia/cudla",
            ("nvidia-cudla", "nvidia-cudla-cu12")),
)  # fmt: skip
LIBRARIES: Mapping[str, Library] = {**USED, **{library.name: library for library in _OTHERS}}
"""All libraries that `cudapy.pathfinder` knows."""
