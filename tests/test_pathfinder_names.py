"""The names of cuda.pathfinder 1.9.1 in cudapy.pathfinder: what they are, what they find, what they raise.

The tables, and the places in wheels, conda and CUDA_PATH, are those of cuda.pathfinder.
"""

from __future__ import annotations

import ctypes
import inspect
import os
import pickle
import shutil
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cudapy import pathfinder
from cudapy._pathfinder import nvidia
from cudapy._pathfinder.libraries import LIBRARIES
from cudapy.pathfinder import Host

from .loader import forget_libraries

CUDA13 = "nvidia/cu13"
LIBRARY_WHEELS = {  # of CUDA 12; those of CUDA 13 share a folder
    "cudart": ("nvidia/cuda_runtime/lib", "13 12"),
    "nvfatbin": ("nvidia/nvfatbin/lib", "13 12"),
    "nvJitLink": ("nvidia/nvjitlink/lib", "13 12"),
    "nvrtc": ("nvidia/cuda_nvrtc/lib", "13 12"),
    "nvvm": ("nvidia/cuda_nvcc/nvvm/lib64", "4 4"),
    "cublas": ("nvidia/cublas/lib", "13 12"),
    "cublasLt": ("nvidia/cublas/lib", "13 12"),
    "cufft": ("nvidia/cufft/lib", "12 11"),
    "cufftw": ("nvidia/cufft/lib", "12 11"),
    "curand": ("nvidia/curand/lib", "11 10"),
    "cusolver": ("nvidia/cusolver/lib", "12 11"),
    "cusolverMg": ("nvidia/cusolver/lib", "12 11"),
    "cusparse": ("nvidia/cusparse/lib", "12 12"),
    **{
        f"npp{name}": ("nvidia/npp/lib", "13 12")
        for name in ("c", "ial", "icc", "idei", "if", "ig", "im", "ist", "isu", "itc", "s")
    },
    "nvblas": ("nvidia/cublas/lib", "13 12"),
    "nvjpeg": ("nvidia/nvjpeg/lib", "13 12"),
    "cupti": ("nvidia/cuda_cupti/lib", "13 12"),
    "cudla": ("", "1 1"),
    "cufile": ("nvidia/cufile/lib", "0 0"),
}
"""In the order of SUPPORTED_NVIDIA_LIBNAMES: the folder, and the numbers in the sonames of both majors."""

NEEDED = {
    "cublas": "cublasLt",
    "cufftw": "cufft",
    "cusolver": "nvJitLink cusparse cublasLt cublas",
    "cusolverMg": "nvJitLink cublasLt cublas",
    "cusparse": "nvJitLink",
    "nvblas": "cublas cublasLt",
    **{f"npp{name}": "nppc" for name in ("ial", "icc", "idei", "if", "ig", "im", "ist", "isu", "itc", "s")},
}
"""The libraries that are loaded before one."""

HEADERS = {
    "cccl": ("cuda/std/version", "nvidia/cuda_cccl/include"),
    "cublas": ("cublas.h", "nvidia/cublas/include"),
    "cudart": ("cuda_runtime.h", "nvidia/cuda_runtime/include"),
    "cufft": ("cufft.h", "nvidia/cufft/include"),
    "curand": ("curand.h", "nvidia/curand/include"),
    "cusolver": ("cusolverDn.h", "nvidia/cusolver/include"),
    "cusparse": ("cusparse.h", "nvidia/cusparse/include"),
    "npp": ("npp.h", "nvidia/npp/include"),
    "profiler": ("cuda_profiler_api.h", "nvidia/cuda_profiler_api/include"),
    "nvcc": ("fatbinary_section.h", "nvidia/cuda_nvcc/include"),
    "nvfatbin": ("nvFatbin.h", "nvidia/nvfatbin/include"),
    "nvjitlink": ("nvJitLink.h", "nvidia/nvjitlink/include"),
    "nvjpeg": ("nvjpeg.h", "nvidia/nvjpeg/include"),
    "nvrtc": ("nvrtc.h", "nvidia/cuda_nvrtc/include"),
    "nvvm": ("nvvm.h", "nvidia/cuda_nvcc/nvvm/include"),
    "cufile": ("cufile.h", "nvidia/cufile/include"),
    "cudla": ("cudla.h", ""),
}
PROGRAMS = (
    *("nvcc", "ptxas", "nvdisasm", "cuobjdump", "nvprune", "fatbinary", "bin2c", "nvlink", "cuda-gdb"),
    *("cuda-gdbserver", "compute-sanitizer", "nvprof", "nsys", "nsight-sys", "ncu", "nsight-compute"),
)
NONE = ("cudla", 1)  # the wheels of CUDA 12 do not have it

Make = Callable[..., Path]


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Make:
    """Make a made-up machine with some files; the folder that it is in."""
    base = tmp_path.resolve()

    def make(*files: str, platform: str = "linux", **environ: str) -> Path:
        for name in files:
            (base / name).parent.mkdir(parents=True, exist_ok=True)
            (base / name).touch(mode=0o755)
        variables = {name: str(base / folder) for name, folder in environ.items()}
        host = Host((str(base / "site"),), variables, platform, "x86_64", str(base / "root"))
        monkeypatch.setattr(pathfinder, "this_host", lambda: host)
        forget_libraries(monkeypatch)
        monkeypatch.setattr(nvidia, "_from_elsewhere", {})
        return base

    return make


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files that are opened: any file will do. The system's loader knows none."""
    names: list[str] = []

    class Opened:
        _handle = 77

        def __init__(self, name: str | None, mode: int = 0) -> None:
            if name is None or not os.path.isabs(name):
                raise OSError(f"{name}: cannot open shared object file: No such file or directory")
            names.append(name)

    monkeypatch.setattr(ctypes, "CDLL", Opened)
    return names


def test_the_tables() -> None:
    if sys.platform == "win32":
        pytest.skip("the tables are those of Linux")
    assert tuple(LIBRARY_WHEELS) == pathfinder.SUPPORTED_NVIDIA_LIBNAMES and len(LIBRARY_WHEELS) == 29
    assert {name: marker for name, (marker, _) in HEADERS.items()} == pathfinder.SUPPORTED_HEADERS_CTK
    assert list(HEADERS) == list(pathfinder.SUPPORTED_HEADERS_CTK) and len(HEADERS) == 17
    assert pathfinder.SUPPORTED_BITCODE_LIBS == ("device", "nccl_device", "nvshmem_device")
    assert pathfinder.SUPPORTED_STATIC_LIBS == ("cudadevrt",)
    assert PROGRAMS == pathfinder.SUPPORTED_BINARY_UTILITIES
    assert pathfinder.__version__ == "1.9.1"


@pytest.mark.parametrize(
    ("function", "parameters"),
    [
        ("find_bitcode_lib", ["name"]),
        ("find_nvidia_binary_utility", ["utility_name"]),
        ("find_nvidia_header_directory", ["libname", "major"]),  # `major` is cudapy's
        ("find_static_lib", ["name"]),
        ("get_cuda_path_or_home", []),
        ("load_nvidia_dynamic_lib", ["libname"]),
        ("locate_bitcode_lib", ["name"]),
        ("locate_nvidia_header_directory", ["libname"]),
        ("locate_static_lib", ["name"]),
        ("LoadedDL", ["abs_path", "was_already_loaded_from_elsewhere", "_handle_uint", "found_via"]),
        ("LocatedHeaderDir", ["abs_path", "found_via"]),
        ("LocatedBitcodeLib", ["name", "abs_path", "filename", "found_via"]),
        ("LocatedStaticLib", ["name", "abs_path", "filename", "found_via"]),
        ("UnsupportedArchError", ["platform_tag"]),
    ],
)
def test_parameters(function: str, parameters: list[str]) -> None:
    assert function in pathfinder.__all__
    assert list(inspect.signature(getattr(pathfinder, function)).parameters) == parameters


# -- shared libraries -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "which"), [(n, i) for i in (0, 1) for n in LIBRARY_WHEELS if (n, i) != NONE]
)
def test_libraries_in_wheels(machine: Make, opened: list[str], name: str, which: int) -> None:
    def file(name: str) -> str:
        folder, numbers = LIBRARY_WHEELS[name]
        return f"site/{folder if which else 'nvidia/cu13/lib'}/lib{name}.so.{numbers.split()[which]}"

    needed = NEEDED.get(name, "").split()
    base = machine(*map(file, (name, *needed)))
    expected = pathfinder.LoadedDL(str(base / file(name)), False, 77, "site-packages")
    assert pathfinder.load_nvidia_dynamic_lib(name) == expected
    assert set(opened) == {str(base / file(name)) for name in (name, *needed)}
    assert opened[-1] == expected.abs_path, "what it needs is opened before it"
    assert pathfinder.load_nvidia_dynamic_lib(name) == expected and len(opened) == 1 + len(needed)


@pytest.mark.parametrize(
    ("variable", "folder", "via"),
    [
        ("CONDA_PREFIX", "lib/libcufft.so.12", "conda"),
        ("CUDA_PATH", "lib64/libcufft.so.11", "CUDA_PATH"),
        ("CUDA_HOME", "lib/libcufft.so.12", "CUDA_PATH"),
    ],
)
def test_libraries_in_environments(
    machine: Make, opened: list[str], variable: str, folder: str, via: str
) -> None:
    base = machine(f"tree/{folder}", **{variable: "tree"})
    loaded = pathfinder.load_nvidia_dynamic_lib("cufft")
    assert (loaded.abs_path, loaded.found_via) == (str(base / "tree" / folder), via)


def test_cupti_has_a_folder_of_its_own_in_a_toolkit(machine: Make, opened: list[str]) -> None:
    base = machine("root/usr/local/cuda/extras/CUPTI/lib64/libcupti.so.13")
    loaded = pathfinder.load_nvidia_dynamic_lib("cupti")
    assert loaded.abs_path == str(base / "root/usr/local/cuda/extras/CUPTI/lib64/libcupti.so.13")
    assert loaded.found_via == "system-search"


def test_the_loader_is_asked_for_every_soname(machine: Make) -> None:
    machine()
    asked = [c.path for c in pathfinder.find("cufft") if c.path.startswith("libcufft")]
    assert asked == ["libcufft.so.12", "libcufft.so.11"]


def test_a_needed_library_that_is_missing_is_named(machine: Make, opened: list[str]) -> None:
    machine("site/nvidia/cu13/lib/libcusolver.so.12", "site/nvidia/cu13/lib/libnvJitLink.so.13")
    with pytest.raises(pathfinder.DynamicLibNotFoundError, match="cusparse was not found") as caught:
        pathfinder.load_nvidia_dynamic_lib("cusolver")
    assert isinstance(caught.value, pathfinder.LibraryNotFound) and caught.value.name == "cusparse"


def test_unknown_libraries_and_those_of_other_platforms(machine: Make, opened: list[str]) -> None:
    machine(platform="win32")
    with pytest.raises(pathfinder.DynamicLibUnknownError, match=r"no library 'cudnn': cudapy knows .*cublas"):
        pathfinder.load_nvidia_dynamic_lib("cudnn")
    with pytest.raises(pathfinder.DynamicLibUnknownError, match="no library 5"):
        pathfinder.load_nvidia_dynamic_lib(5)
    with pytest.raises(pathfinder.DynamicLibNotAvailableError, match="no cufile for Windows"):
        pathfinder.load_nvidia_dynamic_lib("cufile")
    with pytest.raises(pathfinder.UnsupportedArchError, match="Unsupported Windows Python platform tag: '"):
        pathfinder.load_nvidia_dynamic_lib("nvrtc")  # this is no Windows


def test_the_driver_is_known(machine: Make, opened: list[str]) -> None:
    base = machine("root/usr/lib/wsl/lib/libnvidia-ml.so.1")
    loaded = pathfinder.load_nvidia_dynamic_lib("nvml")
    assert loaded.abs_path == str(base / "root/usr/lib/wsl/lib/libnvidia-ml.so.1")
    with pytest.raises(pathfinder.DynamicLibNotFoundError, match="no NVIDIA driver"):
        pathfinder.load_nvidia_dynamic_lib("cuda")


def test_a_library_that_another_package_has_opened(
    machine: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gcc = shutil.which("gcc")
    if gcc is None or not sys.platform.startswith("linux"):
        pytest.skip("needs gcc on Linux, to build libraries that load")
    base = machine()
    code = base / "code.c"
    code.write_text("int answer(void) { return 42; }")
    theirs, ours = base / "libcudapy_own.so.7", base / "site/nvidia/cu13/lib/libcudapy_own.so.7"
    ours.parent.mkdir(parents=True)
    for file in (theirs, ours):
        options = ["-shared", "-fPIC", "-Wl,-soname,libcudapy_own.so.7"]
        subprocess.run([gcc, *options, "-o", file, code], check=True)
    row = LIBRARIES["nvjpeg"]._replace(linux=("libcudapy_own.so.7",), name="own")
    monkeypatch.setattr(nvidia, "LIBRARIES", {"own": row})
    monkeypatch.setattr(pathfinder, "LIBRARIES", {"own": row})
    keep = ctypes.CDLL(str(theirs))
    via = "was-already-loaded-from-elsewhere"
    expected = pathfinder.LoadedDL(str(theirs), True, keep._handle, via)
    assert pathfinder.load_nvidia_dynamic_lib("own") == expected
    assert pathfinder.load("own").path == str(ours)
    loaded = pathfinder.load_nvidia_dynamic_lib("own")
    assert (loaded.abs_path, loaded.was_already_loaded_from_elsewhere) == (str(ours), False)


def test_asking_whether_a_library_is_open_does_not_open_it(
    machine: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not hasattr(os, "RTLD_NOLOAD"):
        pytest.skip("needs dlopen")
    calls = []

    def cdll(name: str, mode: int = 0) -> None:
        calls.append((name, mode))
        raise OSError(f"{name}: not here")

    monkeypatch.setattr(ctypes, "CDLL", cdll)
    machine()
    with pytest.raises(pathfinder.DynamicLibNotFoundError):
        pathfinder.load_nvidia_dynamic_lib("nvjpeg")
    names = [f"libnvjpeg.so.{major}" for major in (13, 12)]
    assert calls == [(name, mode) for mode in (os.RTLD_NOLOAD | os.RTLD_LAZY, 0) for name in names]


def test_what_cudapy_has_opened_is_the_same(nvrtc: Any) -> None:
    nvrtc.checked.nvrtcVersion()
    loaded, own = pathfinder.load_nvidia_dynamic_lib("nvrtc"), pathfinder.load("nvrtc")
    assert pathfinder.is_open("nvrtc") and not pathfinder.is_open("nvjpeg")
    assert (loaded.abs_path, loaded._handle_uint) == (own.path, own.handle._handle)
    assert not loaded.was_already_loaded_from_elsewhere


def test_the_simulator_is_no_library_of_another_package() -> None:
    """Whoever has opened a real one."""
    code = """
from cudapy import pathfinder
from cudapy._pathfinder import nvidia
theirs = pathfinder.LoadedDL("/usr/lib/libcuda.so.1", True, 1, "was-already-loaded-from-elsewhere")
nvidia._from_elsewhere.update(cuda=theirs, cudart=theirs)
print([pathfinder.load_nvidia_dynamic_lib(name).abs_path for name in ("cuda", "cudart")])
"""
    environ = {**os.environ, "CUDAPY_DRIVER": "simulator", "PYTHONPATH": str(Path(__file__).parents[1])}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=environ, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("['cudapy simulator', 'cudapy simulator']\n", "")


def test_loaded_dl_is_compared_by_value() -> None:
    one = pathfinder.LoadedDL("/a", False, 1, "conda")
    assert one == pathfinder.LoadedDL("/a", False, 1, "conda") != pathfinder.LoadedDL("/a", False, 2, "conda")
    assert one != ("/a", False, 1, "conda")
    text = (
        "LoadedDL(abs_path='/a', was_already_loaded_from_elsewhere=False, _handle_uint=1, found_via='conda')"
    )
    assert repr(one) == text
    with pytest.raises(TypeError, match="unhashable"):
        hash(one)


# -- headers ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "which"), [(n, i) for i in (0, 1) for n in HEADERS if (n, i) != NONE])
def test_headers_in_wheels(machine: Make, name: str, which: int) -> None:
    marker, folder = HEADERS[name]
    if which == 0:
        folder = f"{CUDA13}/include/cccl" if name == "cccl" else f"{CUDA13}/include"
    base = machine(f"site/{folder}/{marker}")
    located = pathfinder.locate_nvidia_header_directory(name)
    assert located == pathfinder.LocatedHeaderDir(str(base / "site" / folder), "site-packages")
    assert located is not None and pathfinder.find_nvidia_header_directory(name) == located.abs_path


@pytest.mark.parametrize(
    ("variable", "via"), [("CONDA_PREFIX", "conda"), ("CUDA_PATH", "CUDA_PATH"), ("CUDA_HOME", "CUDA_PATH")]
)
def test_headers_in_environments(machine: Make, variable: str, via: str) -> None:
    base = machine("tree/include/cublas.h", **{variable: "tree"})
    assert pathfinder.locate_nvidia_header_directory("cublas") == (str(base / "tree/include"), via)


def test_headers_of_the_system_and_missing_ones(machine: Make) -> None:
    base = machine("root/usr/local/cuda/include/npp.h")
    expected = (str(base / "root/usr/local/cuda/include"), "system-ctk-root")
    assert pathfinder.locate_nvidia_header_directory("npp") == expected
    assert pathfinder.locate_nvidia_header_directory("cublas") is None
    assert pathfinder.find_nvidia_header_directory("cublas") is None
    with pytest.raises(RuntimeError, match="no headers 'nope'"):
        pathfinder.locate_nvidia_header_directory("nope")


# -- bitcode, static libraries, programs ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("device", "nvidia/cu13/nvvm/libdevice/libdevice.10.bc"),
        ("device", "nvidia/cuda_nvcc/nvvm/libdevice/libdevice.10.bc"),
        ("nccl_device", "nvidia/nccl/lib/libnccl_device.bc"),
        ("nvshmem_device", "nvidia/nvshmem/lib/libnvshmem_device.bc"),
    ],
)
def test_bitcode_in_wheels(machine: Make, opened: list[str], name: str, file: str) -> None:
    """Without a libNVVM, beside which "device" would be looked for."""
    base = machine(f"site/{file}")
    expected = pathfinder.LocatedBitcodeLib(name, str(base / "site" / file), Path(file).name, "site-packages")
    assert pathfinder.locate_bitcode_lib(name) == expected
    assert pathfinder.find_bitcode_lib(name) == expected.abs_path


def test_libdevice_is_that_of_libnvvm(machine: Make, opened: list[str]) -> None:
    base = machine(
        "tree/nvvm/lib64/libnvvm.so.4",
        "tree/nvvm/libdevice/libdevice.10.bc",
        "site/nvidia/cu13/nvvm/libdevice/libdevice.10.bc",
        CUDA_PATH="tree",
    )
    file = "tree/nvvm/libdevice/libdevice.10.bc"
    assert pathfinder.locate_bitcode_lib("device") == (
        *("device", str(base / file), "libdevice.10.bc", "CUDA_PATH"),
    )
    (base / file).unlink()
    with pytest.raises(pathfinder.BitcodeLibNotFoundError, match="not near"):
        pathfinder.locate_bitcode_lib("device")


@pytest.mark.parametrize(
    ("file", "environ", "via"),
    [
        ("site/nvidia/cu13/lib/libcudadevrt.a", {}, "site-packages"),
        ("site/nvidia/cuda_runtime/lib/libcudadevrt.a", {}, "site-packages"),
        ("tree/lib/libcudadevrt.a", {"CONDA_PREFIX": "tree"}, "conda"),
        ("tree/lib64/libcudadevrt.a", {"CUDA_HOME": "tree"}, "CUDA_PATH"),
        ("root/usr/local/cuda/lib64/libcudadevrt.a", {}, "system-ctk-root"),
    ],
)
def test_static_libraries(machine: Make, file: str, environ: dict[str, str], via: str) -> None:
    base = machine(file, **environ)
    expected = pathfinder.LocatedStaticLib("cudadevrt", str(base / file), "libcudadevrt.a", via)
    assert pathfinder.locate_static_lib("cudadevrt") == expected
    assert pathfinder.find_static_lib("cudadevrt") == str(base / file)


def test_a_static_library_for_windows(machine: Make) -> None:
    base = machine("tree/lib/x64/cudadevrt.lib", platform="win32", CUDA_PATH="tree")
    assert pathfinder.find_static_lib("cudadevrt") == str(base / "tree/lib/x64/cudadevrt.lib")


def test_missing_files_are_errors_that_name_the_places(machine: Make, opened: list[str]) -> None:
    base = machine()
    for name, file in (("device", "libdevice.10.bc"), ("nccl_device", "libnccl_device.bc")):
        with pytest.raises(pathfinder.BitcodeLibNotFoundError, match=f"{file} was not found") as bitcode:
            pathfinder.find_bitcode_lib(name)
        assert str(base / "site") in str(bitcode.value) and "pip install nvidia-" in str(bitcode.value)
    with pytest.raises(pathfinder.StaticLibNotFoundError, match=r"libcudadevrt.a was not found") as caught:
        pathfinder.find_static_lib("cudadevrt")
    places = (f"pip {base}/site/nvidia/cu13: no libcudadevrt.a", "conda: CONDA_PREFIX is not set")
    assert set(places) <= set(caught.value.tried)
    with pytest.raises(ValueError, match="no bitcode library 'nope': cudapy knows 'device'"):
        pathfinder.find_bitcode_lib("nope")
    with pytest.raises(ValueError, match="no static library 'nope': cudapy knows 'cudadevrt'"):
        pathfinder.find_static_lib("nope")


@pytest.mark.parametrize(
    ("file", "environ"),
    [
        ("site/nvidia/cu13/bin/{}", {}),
        ("site/nvidia/cuda_nvcc/bin/{}", {}),
        ("tree/bin/{}", {"CONDA_PREFIX": "tree"}),
        ("tree/bin/{}", {"CUDA_PATH": "tree"}),
        ("root/usr/local/cuda/bin/{}", {}),
    ],
)
def test_programs(machine: Make, file: str, environ: dict[str, str]) -> None:
    base = machine(file.format("nvdisasm"), **environ)
    assert pathfinder.find_nvidia_binary_utility("nvdisasm") == str(base / file.format("nvdisasm"))
    assert pathfinder.find_nvidia_binary_utility("nvcc") is None
    (base / file.format("nvdisasm")).chmod(0o644)
    assert pathfinder.find_nvidia_binary_utility("nvdisasm") is None, "it cannot be run"


def test_programs_with_wheels_of_their_own_and_for_windows(machine: Make) -> None:
    folders = {"nsys": "nvidia/nsight_systems", "ncu": "nvidia/nsight_compute"}
    base = machine(*(f"site/{folder}/bin/{name}" for name, folder in folders.items()))
    for name, folder in folders.items():
        assert pathfinder.find_nvidia_binary_utility(name) == str(base / f"site/{folder}/bin/{name}")
    machine("tree/bin/x64/nvcc.exe", platform="win32", CUDA_PATH="tree")
    assert pathfinder.find_nvidia_binary_utility("nvcc") == str(base / "tree/bin/x64/nvcc.exe")
    with pytest.raises(Exception, match=r"no program 'gcc': cudapy knows nvcc, .*ncu") as caught:
        pathfinder.find_nvidia_binary_utility("gcc")
    assert caught.type is pathfinder.UnsupportedBinaryError


# -- the rest ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("environ", "result", "warned"),
    [
        ({}, None, 0),
        ({"CUDA_HOME": "home"}, "home", 0),
        ({"CUDA_PATH": "path"}, "path", 0),
        ({"CUDA_PATH": "path", "CUDA_HOME": "path/../path"}, "path", 0),
        ({"CUDA_PATH": "path", "CUDA_HOME": "home"}, "path", 1),
    ],
)
def test_cuda_path_or_home(machine: Make, environ: dict[str, str], result: str | None, warned: int) -> None:
    base = machine(**environ)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert pathfinder.get_cuda_path_or_home() == (result and str(base / result))
    assert [(w.category, w.filename) for w in caught] == [(UserWarning, __file__)] * warned


@pytest.mark.parametrize(
    ("name", "bases"),
    [
        ("DynamicLibNotFoundError", [RuntimeError]),
        ("DynamicLibUnknownError", ["DynamicLibNotFoundError", RuntimeError]),
        ("DynamicLibNotAvailableError", ["DynamicLibNotFoundError", RuntimeError]),
        ("BitcodeLibNotFoundError", [RuntimeError]),
        ("StaticLibNotFoundError", [RuntimeError]),
        ("UnsupportedArchError", [RuntimeError]),
    ],
)
def test_exceptions(name: str, bases: list[Any]) -> None:
    kind = getattr(pathfinder, name)
    for base in bases:
        assert issubclass(kind, getattr(pathfinder, base) if isinstance(base, str) else base)
    error = kind("what went wrong")  # as programs raise them, too
    assert "what went wrong" in str(error) and error.args == ("what went wrong",)
    copy = pickle.loads(pickle.dumps(error))
    assert (type(copy), str(copy)) == (kind, str(error))
