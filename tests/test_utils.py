"""cudapy.utils: what cuda.bindings.utils 13.5.0 answers, and the releases that the modules stand for."""

from __future__ import annotations

import threading
import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import cudapy
from cudapy import core, driver, nvvm, pathfinder, runtime, utils

OPAQUE = {
    "driver": """
        CUarray CUasyncCallbackHandle CUcheckpointOperationHandle CUcontext CUcoredumpCallbackHandle
        CUdevResourceDesc CUeglStreamConnection CUevent CUexternalMemory CUexternalSemaphore
        CUfunction CUgraph CUgraphDeviceNode CUgraphExec CUgraphNode CUgraphicsResource CUgreenCtx
        CUkernel CUlibrary CUlinkState CUlogsCallbackHandle CUmemoryPool CUmipmappedArray CUmodule
        CUstream CUsurfref CUtexref CUuserObject EGLImageKHR EGLStreamKHR EGLSyncKHR
    """,
    "runtime": """
        EGLImageKHR EGLStreamKHR EGLSyncKHR cudaArray_const_t cudaArray_t cudaAsyncCallbackHandle_t
        cudaDevResourceDesc_t cudaEglStreamConnection cudaEvent_t cudaExecutionContext_t
        cudaExternalMemory_t cudaExternalSemaphore_t cudaFunction_t cudaGraphDeviceNode_t
        cudaGraphExec_t cudaGraphNode_t cudaGraph_t cudaGraphicsResource_t cudaKernel_t
        cudaLibrary_t cudaLogsCallbackHandle cudaMemPool_t cudaMipmappedArray_const_t
        cudaMipmappedArray_t cudaStream_t cudaUserObject_t
    """,
}
"""The types that cuda.bindings.utils.get_cuda_native_handle takes."""


@pytest.mark.parametrize(
    ("module", "name"), [(m, name) for m, names in OPAQUE.items() for name in names.split()]
)
def test_native_handles(module: str, name: str) -> None:
    handle = getattr({"driver": driver, "runtime": runtime}[module], name)
    assert utils.get_cuda_native_handle(handle(0x7F1234567890)) == 0x7F1234567890
    assert utils.get_cuda_native_handle(handle()) == 0


@pytest.mark.parametrize(
    "value",
    [driver.CUdeviceptr(5), driver.CUdevice(3), driver.CUhostFn(0), driver.CUdevprop(), 5, None, "7"],
    ids=lambda value: type(value).__name__,
)
def test_what_is_no_handle(value: Any) -> None:
    with pytest.raises(TypeError, match=f"Unknown type: .*{type(value).__name__}"):
        utils.get_cuda_native_handle(value)


@pytest.mark.parametrize(
    ("ptx", "version"),
    [
        (".version 8.8\n.target sm_86\n", "8.8"),
        ("// made by hand\n\n  .version\t 7.0\n.version 9.9", "7.0"),
        (".version  8.10", "8.10"),
    ],
)
def test_ptx_version(ptx: str, version: str) -> None:
    assert utils.get_ptx_ver(ptx) == version


@pytest.mark.parametrize("ptx", ["", ".target sm_90", ".version", ".version 8", "version 8.0"])
def test_no_ptx_version(ptx: str) -> None:
    with pytest.raises(ValueError, match=r"No \.version directive"):
        utils.get_ptx_ver(ptx)


@pytest.mark.parametrize(
    ("version", "cuda"),
    [
        *(("1.0", 1000), ("1.4", 2020), ("2.0", 3000), ("3.2", 5050), ("4.3", 7050), ("5.0", 8000)),
        *(("6.0", 9000), ("6.5", 10020), ("7.0", 11000), ("7.8", 11080), ("8.0", 12000), ("8.5", 12050)),
        *(("8.6", 12070), ("8.7", 12080), ("8.8", 12090), ("9.0", 13000), ("9.5", 13050)),
    ],
)
def test_the_release_for_a_ptx_version(version: str, cuda: int) -> None:
    assert utils.get_minimal_required_cuda_ver_from_ptx_ver(version) == cuda


@pytest.mark.parametrize("version", ["", "8", "8.9", "9.6", "8.8 "])
def test_unknown_ptx_versions(version: str) -> None:
    with pytest.raises(ValueError, match=f"Unknown or unsupported PTX ISA version: {version}"):
        utils.get_minimal_required_cuda_ver_from_ptx_ver(version)


@pytest.fixture
def libnvvm() -> None:
    try:
        pathfinder.load("nvvm")
    except pathfinder.LibraryNotFound as error:
        pytest.skip(str(error).splitlines()[0])


@pytest.mark.parametrize(
    ("options", "known"),
    [
        ([], True),
        (["-arch=compute_90"], True),
        (["-arch=compute_100"], True),
        (("-arch=compute_90", "-g"), True),
        (["-nonsense"], False),
        (["-arch=compute_90", "-opt=9"], False),
    ],
)
def test_nvvm_options(libnvvm: None, options: Any, known: bool) -> None:
    assert utils.check_nvvm_compiler_options(options) is known


def test_nvvm_options_that_are_none_and_other_failures(
    libnvvm: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    destroyed = []
    destroy = nvvm.destroy_program
    monkeypatch.setattr(nvvm, "destroy_program", lambda program: destroyed.append(destroy(program)))
    for bad in ([1], "-g", [b"-g"], 5):
        with pytest.raises(TypeError):
            utils.check_nvvm_compiler_options(bad)
    assert destroyed == []
    monkeypatch.setattr(nvvm, "ir_version", lambda: (99, 0, 99, 0))
    with pytest.raises(nvvm.nvvmError):
        utils.check_nvvm_compiler_options([])
    assert len(destroyed) == 1


def test_nvvm_options_without_libnvvm(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(name: str) -> None:
        raise pathfinder.LibraryNotFound(f"no {name}")

    monkeypatch.setattr(pathfinder, "load", none)
    assert utils.check_nvvm_compiler_options(["-g"]) is False


@pytest.mark.parametrize(
    ("version", "variable", "warned"),
    [
        *((12090, None, 1), (13000, None, 0), (14000, None, 0), (12090, "1", 0), (12090, "yes", 0)),
        *((12090, "0", 1), (12090, "", 1), (12090, " OFF ", 1), (12090, "false", 1)),
    ],
)
def test_a_driver_of_an_older_major(
    monkeypatch: pytest.MonkeyPatch, version: int, variable: str | None, warned: int
) -> None:
    monkeypatch.setattr(utils, "_warn_once", threading.Lock())
    monkeypatch.setattr(driver, "checked", SimpleNamespace(cuDriverGetVersion=lambda: version))
    monkeypatch.delenv("CUDA_PYTHON_DISABLE_MAJOR_VERSION_WARNING", raising=False)
    if variable is not None:
        monkeypatch.setenv("CUDA_PYTHON_DISABLE_MAJOR_VERSION_WARNING", variable)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(2):
            utils.warn_if_cuda_major_version_mismatch()
    assert [(w.category, w.filename) for w in caught] == [(UserWarning, __file__)] * warned
    for warning in caught:
        assert "of CUDA 13, and the NVIDIA driver supports CUDA 12" in str(warning.message)


def test_releases() -> None:
    """Of cudapy itself, and those whose names the modules have, as the recorded ones are called."""
    recorded = {path.stem for path in Path(__file__).with_name("peers").glob("*.json")}
    assert f"bindings-{cudapy.bindings_version}" in recorded
    assert f"core-{core.__version__}" in recorded
    major, minor, _ = map(int, cudapy.bindings_version.split("."))
    assert 1000 * major + 10 * minor == driver.CUDA_VERSION
    assert pathfinder.__version__ == "1.9.1"
    assert cudapy.__version__ not in (core.__version__, cudapy.bindings_version)


@pytest.mark.parametrize(
    ("value", "on"),
    [
        *((value, True) for value in ("1", "YES", "abc", "2", "1.5")),
        *((value, False) for value in ("off", " No ", "-0", "0x0")),
        *((value, None) for value in ("", " ", None)),
    ],
)
def test_variables_of_the_environment(
    monkeypatch: pytest.MonkeyPatch, value: str | None, on: bool | None
) -> None:
    """As cuda.bindings 13.5 reads them; None is the default."""
    monkeypatch.delenv("CUDAPY_TEST", raising=False)
    if value is not None:
        monkeypatch.setenv("CUDAPY_TEST", value)
    for default in (False, True):
        assert utils.envvar_bool("CUDAPY_TEST", default) is (default if on is None else on)
    assert utils.envvar_bool("CUDAPY_TEST") is (on or False)
