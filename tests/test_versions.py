"""One package for every driver: missing libraries and functions, forms of CUDA 12 and 13, other symbols."""

from __future__ import annotations

import importlib
import pickle
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from .stub import module, python
from .stub.build import build, declared
from .stub.record import Stub

driver = module("driver")
CUresult = driver.CUresult
OK = CUresult.CUDA_SUCCESS


# -- what a library lacks --------------------------------------------------------------------------------


def no_file(library: Any, candidate: Any, host: Any) -> None:
    raise OSError(f"{candidate.path}: cannot open shared object file")


def test_no_library(fresh: ModuleType, stub: Stub, monkeypatch: pytest.MonkeyPatch) -> None:
    """Importing needs none; a call says so, each time; and when there is one after all, it works."""
    pathfinder = importlib.import_module(".pathfinder", fresh.__package__)
    with monkeypatch.context() as patch:
        nowhere = pathfinder.Host(paths=(), environ={}, platform="linux", cpu="x86_64", root="/nonexistent")
        patch.setattr(pathfinder, "this_host", lambda: nowhere)
        patch.setattr(pathfinder, "open_candidate", no_file)
        for _ in range(2):
            with pytest.raises(pathfinder.LibraryNotFound, match=r"(?s)no NVIDIA driver.*libcuda\.so\.1"):
                fresh.cuInit(0)
    fresh.libcuda.load = lambda: stub.library
    assert fresh.cuInit(0) == (OK,)


@pytest.fixture
def older(gcc: str, fresh: ModuleType, tmp_path: Path) -> Any:
    """The driver of a fresh copy on a library of CUDA 12.0: it lacks what later releases added."""
    functions = declared(driver)
    old = [symbol for symbol, f in functions.items() if f.__declaration__.since is None]
    assert len(old) > 400
    only = old if len(functions) - len(old) > 50 else ()
    stub = Stub(build(driver, tmp_path / "libcuda_12.so", only=only))
    fresh.libcuda.load = lambda: stub.library
    return fresh, stub


def test_a_missing_function_says_which_version_has_it(older: Any) -> None:
    d, _ = older
    for _ in range(2):
        with pytest.raises(RuntimeError) as caught:
            d.cuMemDiscardBatchAsync([], [], 0, 0, 1)
        version = r"this driver, which has CUDA \d+\.\d+: it needs CUDA 13\.0 or newer"
        assert re.fullmatch(rf'Function "cuMemDiscardBatchAsync" not found in {version}', str(caught.value))
        assert caught.value.symbol == "cuMemDiscardBatchAsync"  # type: ignore[attr-defined]
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), again.symbol) == (str(caught.value), "cuMemDiscardBatchAsync")
    with pytest.raises(RuntimeError, match="cuMemDiscardBatchAsync"):
        d.checked.cuMemDiscardBatchAsync([], [], 0, 0, 1)


def test_forms_of_13_on_a_library_of_12(older: Any) -> None:
    """They work where nothing that only 13 knows is asked for."""
    d, stub = older
    forms = {
        "cuCtxCreate_v2": lambda: d.cuCtxCreate(None, 0, 0),
        "cuGraphAddDependencies": lambda: d.cuGraphAddDependencies(1, [2], [3], None, 1),
        "cuGraphRemoveDependencies": lambda: d.cuGraphRemoveDependencies(1, [2], [3], None, 1),
        "cuMemAdvise": lambda: d.cuMemAdvise(1, 2, 1, location=3),
        "cuStreamUpdateCaptureDependencies": lambda: d.cuStreamUpdateCaptureDependencies(1, [2], None, 1, 0),
    }
    for symbol, form in forms.items():
        assert form()[0] == OK
        assert [call.symbol for call in stub.calls() if call.symbol != "cuDriverGetVersion"] == [symbol]
    status, *_, nodes, edges, count = d.cuStreamGetCaptureInfo(1)
    assert status == OK
    assert len(nodes) == len(edges) == count > 0
    assert not any(map(any, map(bytes, edges)))  # the data of plain edges
    edges = [d.CUgraphEdgeData(from_port=1)]
    for form in (
        lambda: d.cuCtxCreate(d.CUctxCreateParams(), 0, 0),
        lambda: d.cuGraphAddDependencies(1, [2], [3], edges, 1),
    ):
        with pytest.raises(RuntimeError, match="not found"):
            form()


# -- other symbols ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("setting", "expected"), [("1", "_ptsz _ptds "), ("0", "  "), ("", "  ")])
def test_per_thread_default_stream(setting: str, expected: str, gcc: str, tmp_path: Path) -> None:
    only = {"cuMemsetD8Async": "_ptsz", "cuMemcpyHtoD_v2": "_ptds", "cuMemAlloc_v2": ""}
    names = {symbol: symbol + suffix for symbol, suffix in only.items() if suffix}
    path = build(driver, tmp_path / "libcuda_ptds.so", only=only, names=names)
    code = """
import sys
from tests.stub import module
from tests.stub.record import Stub
stub, d = Stub(sys.argv[1]), module("driver")
d.cuMemsetD8Async(1, 2, 3, 4)
d.cuMemcpyHtoD(1, b"abc", 3)
d.cuMemAlloc(5)
print(*(call.symbol for call in stub.calls()))
"""
    done = python(code, path, CUDA_PYTHON_CUDA_PER_THREAD_DEFAULT_STREAM=setting)
    assert done.returncode == 0, done.stderr
    names = [symbol + suffix for symbol, suffix in zip(only, expected.split(" "), strict=True)]
    assert done.stdout.split() == names


# -- which library it is ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("api", "library", "said", "asks"),
    [
        ("nvrtc", "nvrtc", "NVRTC", "nvrtcVersion"),
        ("nvjitlink", "nvJitLink", "nvJitLink", "nvJitLinkVersion"),
        ("nvvm", "nvvm", "libNVVM", "nvvmVersion"),
        ("nvfatbin", "nvfatbin", "nvFatbin", "nvFatbinVersion"),
    ],
)
def test_a_message_says_which_library_was_found(api: str, library: str, said: str, asks: str) -> None:
    """Its path and its release, where it lacks a function."""
    from cudapy import pathfinder

    declares = importlib.import_module(f"cudapy.{api}")
    try:
        loaded = pathfinder.load(library)
    except pathfinder.LibraryNotFound as error:
        pytest.skip(str(error).splitlines()[0])
    _, major, minor = getattr(declares, asks)()
    described = getattr(declares, f"lib{api}").describe()
    assert described.startswith(f"{loaded.path}, which is {said} {major}.{minor}")


def test_a_message_says_which_driver_nvml_is_of(monkeypatch: pytest.MonkeyPatch) -> None:
    from cudapy import nvml, pathfinder

    monkeypatch.setattr(
        pathfinder, "load", lambda name: type("Loaded", (), {"path": "/lib/libnvidia-ml.so.1"})
    )
    monkeypatch.setattr(nvml, "nvmlSystemGetDriverVersion", lambda: (0, b"580.65.06\0\0"))
    assert nvml.libnvml.describe() == "/lib/libnvidia-ml.so.1 of driver 580.65.06"
    monkeypatch.setattr(nvml, "nvmlSystemGetDriverVersion", lambda: (1, None))
    assert nvml.libnvml.describe() == "/lib/libnvidia-ml.so.1"


def test_a_linker_older_than_its_version(monkeypatch: pytest.MonkeyPatch) -> None:
    from cudapy import nvjitlink, pathfinder

    older = type("Loaded", (), {"path": "/lib/libnvJitLink.so.12", "handle": object()})
    monkeypatch.setattr(pathfinder, "load", lambda name: older)
    assert (
        nvjitlink.libnvjitlink.describe() == "/lib/libnvJitLink.so.12, which is an nvJitLink older than 12.3"
    )


# -- declarations that cannot be ----------------------------------------------------------------------------


def test_a_function_with_a_parameter_that_c_has_not() -> None:
    @driver.libcuda("CUresult cuInit(unsigned int Flags)")
    def wrong(Flag: int) -> tuple[Any]:  # type: ignore[empty-body]
        """Not `Flags`."""

    with pytest.raises(TypeError, match="wrong: the prototype has no parameter Flag"):
        wrong(0)


def test_a_face_with_too_few_parameters() -> None:
    nvml = module("nvml")

    def short() -> None:
        """None of them."""

    with pytest.raises(TypeError, match="short lacks parameters of nvmlDeviceGetName"):
        nvml._face(nvml.nvmlDeviceGetName)(short)


def test_a_function_that_neither_library_has() -> None:
    """Of the forms of both CUDAs the one that was meant is named."""
    library = module("_ffi.library")

    def newer(a: int, b: int) -> None: ...

    def older(a: int) -> None: ...

    made = []
    for function, inputs in ((newer, ("a", "b")), (older, ("a",))):
        declaration = type("Declaration", (), {"inputs": inputs})

        def call(*args: Any, symbol: str = function.__name__, **kwargs: Any) -> None:
            raise library.SymbolNotFound(symbol, "it lacks it")

        call.__declaration__ = declaration  # type: ignore[attr-defined]
        made.append(call)
    both = library.either(*made, None)
    for arguments in ((1,), (1, 2)):
        with pytest.raises(library.SymbolNotFound) as caught:
            both(*arguments)
        assert caught.value.symbol == ("older", "newer")[len(arguments) - 1]
