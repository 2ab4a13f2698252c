"""The raising faces, `driver.checked` and its siblings: what they have, and what type checkers see."""

from __future__ import annotations

import importlib
import inspect
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from cudapy import cudla, cufile, driver, nccl, nvfatbin, nvjitlink, nvml, nvrtc, nvvm, runtime

from .checked_stubs import FOLDER, MODULES, stub
from .stub.record import Stub

ROOT = Path(__file__).parents[1]
PREFIXES = {
    driver: "cu",
    runtime: ("cuda", "getLocal"),
    nvrtc: "nvrtc",
    nvvm: "nvvm",
    nvfatbin: "nvFatbin",
    nvjitlink: "nvJitLink",
    nvml: "nvml",
    nccl: "nccl",
    cufile: "cuFile",
    cudla: "cudla",
}
"""What the names of a header's functions begin with."""

each_module = pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)


@each_module
def test_dir_has_every_function_and_nothing_else(module: ModuleType) -> None:
    functions = [name for name, value in vars(module).items() if inspect.isfunction(value)]
    assert dir(module.checked) == sorted(name for name in functions if name.startswith(PREFIXES[module]))


def test_every_function_is_there_without_a_driver(fresh: ModuleType) -> None:
    """A call looks for the library; to name a function does not."""

    class NoDriverError(Exception):
        pass

    def load() -> Any:
        raise NoDriverError

    fresh.libcuda.load = load
    functions = [getattr(fresh.checked, name) for name in dir(fresh.checked)]
    for name in ("cuMemGetInfo", "cuCtxGetFlags"):
        with pytest.raises(NoDriverError):
            getattr(fresh.checked, name)()
    assert [function.__doc__ for function in functions] == [
        getattr(fresh, name).__doc__ for name in dir(fresh.checked)
    ]


@pytest.mark.parametrize(
    ("module", "name"),
    [
        (driver, "cuMemAllocc"),
        (driver, "sizeof"),
        (driver, "either"),
        (driver, "CUresult"),
        (driver, "_cuLaunchKernel"),
        (runtime, "make_cudaExtent"),
        (nvjitlink, "create"),
        (nvjitlink, "nvJitLinkError"),
        (nvvm, "ir_version"),
    ],
)
def test_what_returns_no_status_is_not_there(module: ModuleType, name: str) -> None:
    if name != "cuMemAllocc":
        assert getattr(module, name)
    with pytest.raises(AttributeError, match=f"^{module.__name__} has no function '{name}'$") as caught:
        getattr(module.checked, name)
    assert (caught.value.name, caught.value.obj) == (name, module.checked)  # "Did you mean: 'cuMemAlloc'?"


def test_signatures_are_those_of_the_raising_functions(d: ModuleType) -> None:
    """Before the first call, and after it."""
    expected = {
        "cuCtxSynchronize": "() -> 'None'",
        "cuMemAlloc": "(bytesize: 'int') -> 'CUdeviceptr'",
        "cuMemGetInfo": "() -> 'tuple[int, int]'",
        "cuGraphGetNodes": "(hGraph: 'CUgraph | int | None', numNodes: 'int' = 0) "
        "-> 'tuple[list[CUgraphNode], int]'",
        "cuPointerGetAttributes": "(numAttributes: 'int', attributes: 'Sequence[CUpointer_attribute | int]', "
        "ptr: 'CUdeviceptr | int') -> 'list[Any]'",
    }
    for _ in range(2):
        for name, text in expected.items():
            assert str(inspect.signature(getattr(d.checked, name))) == text
        d.checked.cuCtxSynchronize()
        d.checked.cuMemAlloc(16)
        d.checked.cuGraphGetNodes(1)


def test_arguments_that_are_left_out_have_their_defaults(stub: Stub, d: ModuleType) -> None:
    assert d.checked.cuGraphGetNodes(1) == d.checked.cuGraphGetNodes(1, 0) == ([], 0)
    with pytest.raises(TypeError, match=r"cuGraphGetNodes\(\)"):
        d.checked.cuGraphGetNodes()


# -- what type checkers see ------------------------------------------------------------------------------


@each_module
def test_the_stub_is_fresh(module: ModuleType) -> None:
    """`python -m tests.checked_stubs` writes it."""
    assert (FOLDER / f"{module.__name__.rpartition('.')[2]}.pyi").read_text("utf-8") == stub(module)


def test_each_face_has_a_stub() -> None:
    modules = {path.stem for path in (ROOT / "cudapy").glob("*.py") if "\n    checked = " in path.read_text()}
    assert {path.stem for path in FOLDER.glob("*.pyi")} == modules


@each_module
def test_editors_find_the_functions_of_a_stub(module: ModuleType) -> None:
    """They look for documentation and source in the module beside it."""
    beside = importlib.import_module(f"cudapy._checked.{module.__name__.rpartition('.')[2]}")
    for name in dir(module.checked):
        assert getattr(beside, name) is getattr(module, name)


USER = """
from typing_extensions import assert_type

from cudapy import cufile, driver, nccl, nvfatbin, nvjitlink, nvml, nvrtc, nvvm, runtime
from cudapy.driver import checked

assert_type(checked.cuInit(0), None)
assert_type(checked.cuMemAlloc(4), driver.CUdeviceptr)
assert_type(checked.cuMemAlloc_v2(4), driver.CUdeviceptr)
assert_type(checked.cuMemGetInfo(), tuple[int, int])
assert_type(checked.cuGraphGetNodes(1), tuple[list[driver.CUgraphNode], int])
assert_type(checked.cuCtxCreate(None, 0, 0), driver.CUcontext)
assert_type(checked.cuCtxCreate(0, 0), driver.CUcontext)
assert_type(checked.cuMemAdvise(1, 1, 1, driver.CUmemLocation()), None)
assert_type(checked.cuMemAdvise(devPtr=1, count=1, advice=1, device=0), None)
assert_type(runtime.checked.cudaMalloc(4), int)
assert_type(runtime.checked.cudaEventCreate(), runtime.cudaEvent_t)
assert_type(nvrtc.checked.nvrtcVersion(), tuple[int, int])
assert_type(nvrtc.checked.nvrtcGetPTX(0, 100), bytes)
assert_type(nvrtc.checked.nvrtcGetPTX(0, bytearray(100)), None)
assert_type(nvjitlink.checked.nvJitLinkCreate(1, [b"-arch=sm_90"]), nvjitlink.nvJitLinkHandle)
assert_type(nvvm.checked.nvvmCreateProgram(), nvvm.nvvmProgram)
assert_type(nvfatbin.checked.nvFatbinCreate([b"-64"], 1), nvfatbin.nvFatbinHandle)
assert_type(nvml.checked.nvmlDeviceGetCount_v2(), int)
assert_type(nccl.checked.ncclCommInitAll(2, None), list[nccl.ncclComm_t])
assert_type(cufile.checked.cuFileRead(1, 2, 3, 0, 0), int)
assert_type(cufile.checked.cuFileHandleRegister(None), cufile.CUfileHandle_t)
assert_type(cufile.cuFileGetVersion(), tuple[cufile.CUfileError_t, int])
assert_type(driver.CUDA_MEMCPY2D(Height=1), driver.CUDA_MEMCPY2D)
assert_type(runtime.dim3(1, 2), runtime.dim3)
assert_type(driver.cuCtxCreate(0, 0), tuple[driver.CUresult, driver.CUcontext])
assert_type(nvrtc.nvrtcGetPTX(0, 100), tuple[nvrtc.nvrtcResult, bytes])

checked.cuMemAllocc(1)  # attr-defined
checked.CUresult  # attr-defined
checked.sizeof  # attr-defined
x: str = checked.cuMemAlloc(4)  # assignment
checked.cuMemAlloc("4")  # arg-type
checked.cuMemAlloc()  # call-arg
checked.cuMemAlloc(size=4)  # call-arg
checked.cuCtxCreate("a")  # call-overload
number: int = nvrtc.checked.nvrtcGetPTX(0, 100)  # assignment
runtime.checked.cudaMallocc(4)  # attr-defined
"""


@pytest.mark.thorough
def test_a_type_checker_sees_every_parameter_and_result(tmp_path: Path) -> None:
    """mypy --strict finds what is wrong in a user's file, and nothing else."""
    mypy = pytest.importorskip("mypy.api", reason="mypy is not installed")
    path = tmp_path / "user_of_checked.py"
    path.write_text(USER)
    cache = ROOT / ".mypy_cache" / "checked"
    options = ["--config-file=", "--strict", f"--cache-dir={cache}", "--follow-imports=silent"]
    out, err, _ = mypy.run([*options, "--no-error-summary", str(path)])
    lines = enumerate(USER.splitlines(), 1)
    expected = [(str(number), line.rpartition("# ")[2]) for number, line in lines if "  # " in line]
    found = re.findall(r"^.*\.py:(\d+): error: .*\[([a-z-]+)\]$", out, re.M)
    assert (found, err) == (expected, ""), out
