"""What happens at and after the first call of a declared function; the raising face; memory."""

from __future__ import annotations

import ctypes
import inspect
import pickle
import re
import threading
import traceback
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

import pytest

from .stub import module, python
from .stub.build import FILLED, declared, pattern
from .stub.record import Stub
from .threads import at_once

driver = module("driver")
OK, FAILED = driver.CUresult.CUDA_SUCCESS, driver.CUresult.CUDA_ERROR_OUT_OF_MEMORY


# -- the first call --------------------------------------------------------------------------------------


def test_a_function_stays_the_same_object(d: ModuleType, stub: Stub) -> None:
    function, before = d.cuMemAlloc, d.cuMemAlloc.__code__
    assert function(16)[0] == 0
    assert function(bytesize=16)[0] == 0  # where there is a fast lane, the first that needs Python code
    assert function is d.cuMemAlloc is d.cuMemAlloc_v2
    assert function.__code__ is not before
    after = function.__code__
    assert function(16)[0] == 0
    assert function.__code__ is after
    assert function.__doc__.startswith("Allocate")
    assert (function.__name__, function.__module__) == ("cuMemAlloc", d.__name__)


def test_signature_before_and_after(d: ModuleType, stub: Stub) -> None:
    before = inspect.signature(d.cuGraphGetNodes), inspect.signature(d.cuCtxCreate)
    assert str(before[0]).startswith("(hGraph: 'CUgraph | int | None', numNodes: 'int' = 0) -> 'tuple[")
    d.cuGraphGetNodes(1)
    d.cuCtxCreate(None, 0, 0)
    assert (inspect.signature(d.cuGraphGetNodes), inspect.signature(d.cuCtxCreate)) == before


def test_keywords_and_defaults(stub: Stub) -> None:
    expected = driver.cuGraphGetNodes(1, 3)
    assert driver.cuGraphGetNodes(hGraph=1, numNodes=3) == driver.cuGraphGetNodes(1, numNodes=3) == expected
    assert driver.cuGraphGetNodes(1) == (OK, [], 0)
    with pytest.raises(TypeError, match="cuGraphGetNodes"):
        driver.cuGraphGetNodes()
    with pytest.raises(TypeError, match="nonsense"):
        driver.cuGraphGetNodes(1, nonsense=1)


def test_wrong_keywords_at_the_first_call(d: ModuleType, stub: Stub) -> None:
    for _ in range(2):
        with pytest.raises(TypeError, match="cuMemAlloc"):
            d.cuMemAlloc(1, 2)
    assert d.cuMemAlloc(bytesize=1)[0] == 0


def test_a_traceback_shows_the_line_that_was_written(d: ModuleType, stub: Stub) -> None:
    for _ in range(2):
        with pytest.raises(TypeError) as caught:
            d.cuMemAlloc("16")
        text = "".join(traceback.format_exception(caught.value))
        assert 'File "<cudapy cuMemAlloc_v2>"' in text
        assert re.search(r"in cuMemAlloc\n    if type\(bytesize\) is not int.*_integer\(bytesize", text)


def test_threads_that_call_first_at_once(d: ModuleType, stub: Stub) -> None:
    functions = [f for f in declared(d).values() if not f.__declaration__.inputs]
    barrier = threading.Barrier(8, timeout=60)

    def work(number: int) -> None:
        for function in functions:
            barrier.wait()
            assert function()[0] is d.CUresult.CUDA_SUCCESS, function.__name__

    at_once(work)
    assert len(stub.calls()) == 8 * len(functions) > 100


def test_optimised_python(stub_path: Path) -> None:
    """`python -OO` drops docstrings and asserts; nothing rests on them."""
    code = """
import sys
from tests.stub import module
from tests.stub.echo import cases
from tests.stub.build import declared
from tests.stub.record import Stub
stub = Stub(sys.argv[1])
d = module("driver")
for function in list(declared(d).values())[::4]:
    for made in cases(function):
        status, *results = function(*made.arguments())
        print(status.name, [type(result).__name__ for result in results])
print(d.checked.cuMemAlloc(5), d.cuMemAlloc.__doc__ is None)
stub.status = 2
try:
    d.checked.cuMemAlloc(5)
except d.libcuda.error.__call__.__globals__["CUDAError"] as error:
    print(error)
"""
    plain, optimised = python(code, stub_path), python(code, stub_path, flags=("-OO",))
    assert plain.returncode == optimised.returncode == 0, plain.stderr + optimised.stderr
    assert plain.stdout.replace(" False\n", " True\n") == optimised.stdout
    assert plain.stdout.count("CUDA_SUCCESS") > 500


# -- storage ---------------------------------------------------------------------------------------------


class Answers:
    """Stands for the CDLL of libcuda: one function, `answer`, whose parameters have the ctypes `types`."""

    def __init__(self, answer: Callable[..., object], *types: Any) -> None:
        self.thunk = ctypes.CFUNCTYPE(ctypes.c_int, *types)(lambda *args: answer(*args) or 0)

    def __getitem__(self, symbol: str) -> Any:
        return ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.cast(self.thunk, ctypes.c_void_p).value)


def test_a_getter_that_is_called_while_it_runs(fresh: ModuleType) -> None:
    """Calls reuse storage; those within a call have their own."""
    depth = 0

    def answer(out: Any) -> None:
        nonlocal depth
        depth += 1
        out[0] = here = depth
        if here < 4:
            assert fresh.cuCtxGetFlags()[1] == here + 1
            depth -= 1

    library = Answers(answer, ctypes.POINTER(ctypes.c_uint))
    fresh.libcuda.load = lambda: library
    for _ in range(2):
        assert fresh.cuCtxGetFlags()[1] == 1
        depth = 0


def test_a_getter_that_threads_call_at_once(fresh: ModuleType) -> None:
    mine, barrier = threading.local(), threading.Barrier(8, timeout=60)

    def answer(out: Any) -> None:
        out[0] = mine.number
        barrier.wait()  # all have written, none has read

    library = Answers(answer, ctypes.POINTER(ctypes.c_int))
    fresh.libcuda.load = lambda: library

    def work(number: int) -> None:
        for mine.number in range(number, 200, 8):
            assert fresh.cuDriverGetVersion() == (OK, mine.number)

    at_once(work)


def test_a_getter_after_one_that_failed(d: ModuleType, stub: Stub) -> None:
    stub.status = FAILED
    assert d.cuDriverGetVersion() == (FAILED, None)
    stub.status = 0
    version = int.from_bytes(pattern(0, 4), "little")
    assert [d.cuDriverGetVersion() for _ in range(3)] == [(OK, version)] * 3


def test_a_truth_value_of_fewer_bytes_than_the_last(fresh: ModuleType) -> None:
    """The driver writes 1, 4 or 8 bytes for one, and what any other call wrote there must be gone."""
    answers = iter([(8, 0xFF), (1, 0), (8, 0xFF), (1, 0), (4, 1), (1, 0)])

    def answer(data: int, attribute: int, pointer: int) -> None:
        size, byte = next(answers)
        ctypes.memset(data, byte, size)

    library = Answers(answer, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p)
    fresh.libcuda.load = lambda: library
    managed = fresh.CUpointer_attribute.CU_POINTER_ATTRIBUTE_IS_MANAGED
    number = fresh.CUpointer_attribute.CU_POINTER_ATTRIBUTE_BUFFER_ID
    asked = (managed, managed, number, managed, managed, managed)
    found = [fresh.cuPointerGetAttribute(attribute, 1)[1] for attribute in asked]
    assert found == [True, False, 2**64 - 1, False, True, False]
    assert [type(value) for value in found] == [bool, bool, int, bool, bool, bool]


@pytest.mark.parametrize("length", [1, 100, 2**31 - 1])
def test_a_name_is_in_the_memory_that_c_wrote_to(length: int, d: ModuleType, stub: Stub) -> None:
    """It is one object, and what C does not write to takes no memory. No other bytes have changed."""

    def resident() -> int:
        return int(Path("/proc/self/statm").read_text().split()[1]) << 12

    other, before = bytes(length), resident()
    for function in (d.cuDeviceGetName, d.cuDeviceGetName.__declaration__.write()):
        status, name = function(length, 0)
        assert (status, len(name), name[:FILLED]) == (OK, length, pattern(0, min(length, FILLED)))
        assert not any(name[FILLED : FILLED + 100])
        assert resident() - before < 1 << 27
        del name
    assert not any(other[:FILLED])


def test_what_one_of_several_outputs_is_when_c_leaves_it(fresh: ModuleType) -> None:
    """Zero, whatever an earlier call wrote: each of several outputs is new."""
    sizes = iter([(5, 7), (6, None)])

    def answer(free: Any, total: Any) -> None:
        free[0], rest = next(sizes)
        if rest is not None:
            total[0] = rest

    library = Answers(answer, *[ctypes.POINTER(ctypes.c_size_t)] * 2)
    fresh.libcuda.load = lambda: library
    assert [fresh.cuMemGetInfo()[1:] for _ in range(2)] == [(5, 7), (6, 0)]


def test_handles_and_structs_are_new_in_each_call(d: ModuleType, stub: Stub) -> None:
    for function in (d.cuCtxGetCurrent, lambda: d.cuDeviceGetUuid(0)):
        first, second = function()[1], function()[1]
        assert first is not second
        assert first.getPtr() != second.getPtr()


def test_a_struct_is_passed_by_its_address(d: ModuleType, stub: Stub) -> None:
    stub.peek = 0
    config, other = d.CUlaunchConfig(gridDimX=3), d.CUlaunchConfig()
    view = d.CUlaunchConfig(_ptr=config.getPtr())
    for struct in (config, view, other, config, None):
        d.cuLaunchKernelEx(struct, 1, None, None)
        (call,) = stub.calls()
        address = struct.getPtr() if struct else 0
        assert call.arguments["config"].raw == address.to_bytes(8, "little")
    assert other.getPtr() != config.getPtr() == view.getPtr()
    for wrong in (d.CUmemLocation(), 1, b"x"):
        with pytest.raises(TypeError, match="cuLaunchKernelEx: config must be a CUlaunchConfig, not"):
            d.cuLaunchKernelEx(wrong, 1, None, None)


def test_functions_that_were_called_can_be_bound_to_another_library(d: ModuleType, stub: Stub) -> None:
    """Of both faces, with what ctypes was told of their arguments; the others come by themselves."""

    @ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_int))
    def version(number: Any) -> int:
        number[0] = 98
        return 0

    class Other:
        asked: ClassVar[list[str]] = []

        def __getitem__(self, symbol: str) -> Any:
            self.asked.append(symbol)
            return version if symbol == "cuDriverGetVersion" else stub.library[symbol]

    before = d.cuDriverGetVersion(), d.cuMemAlloc(16), d.checked.cuDeviceGet(0)
    d.libcuda.load = Other
    assert (d.cuDriverGetVersion(), d.cuMemAlloc(16), d.checked.cuDeviceGet(0)) == before
    d.libcuda.rebind()
    assert sorted(Other.asked) == ["cuDeviceGet", "cuDriverGetVersion", "cuMemAlloc_v2"]
    assert (d.cuDriverGetVersion(), d.cuMemAlloc(16), d.checked.cuDeviceGet(0)) == ((0, 98), *before[1:])


# -- the raising face ------------------------------------------------------------------------------------


def test_checked_returns_results_alone(stub: Stub) -> None:
    checked = driver.checked
    assert checked.cuCtxSynchronize() is None
    assert checked.cuMemAlloc(16) == driver.CUdeviceptr(int.from_bytes(pattern(0, 8), "little"))
    free, total = checked.cuMemGetInfo()
    assert (free, total) == driver.cuMemGetInfo()[1:]
    assert checked.cuGraphGetNodes(1) == ([], 0)
    assert checked.cuMemAdvise(1, 1, 1, 0) is None  # by hand
    assert checked.cuMemAlloc is checked.cuMemAlloc
    with pytest.raises(AttributeError, match="no function 'cuNonsense'"):
        checked.cuNonsense  # noqa: B018


@pytest.mark.parametrize(("name", "argument"), [("cuMemAlloc", 4096), ("cuCoredumpGetAttribute", 4)])
def test_checked_raises(name: str, argument: int, stub: Stub) -> None:
    """A function that is declared, and one that is written by hand."""
    errors = module("_bindings.errors")
    stub.status = driver.CUresult.CUDA_ERROR_INVALID_VALUE
    with pytest.raises(errors.CUDAError) as caught:
        getattr(driver.checked, name)(argument)
    error = caught.value
    assert error.code is driver.CUresult.CUDA_ERROR_INVALID_VALUE
    assert (error.name, error.function) == ("CUDA_ERROR_INVALID_VALUE", name)
    assert not isinstance(error, MemoryError)
    assert str(error).startswith(f"{name}: CUDA_ERROR_INVALID_VALUE (1): ")
    assert f"={argument}" in str(error)
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again), again.code, again.name, again.function) == (
        type(error), str(error), error.code, error.name, name,
    )  # fmt: skip


def test_checked_raises_memory_error_when_there_is_none(stub: Stub) -> None:
    stub.status = FAILED
    with pytest.raises(MemoryError) as caught:
        driver.checked.cuMemAlloc(1 << 60)
    assert isinstance(caught.value, module("_bindings.errors").CUDAError)
    assert pickle.loads(pickle.dumps(caught.value)).code is FAILED


def test_an_unknown_status_is_a_status(stub: Stub) -> None:
    stub.status = 12345
    status, pointer = driver.cuMemAlloc(1)
    assert (status, status.name, pointer) == (12345, "CUresult_12345", None)
    with pytest.raises(module("_bindings.errors").CUDAError, match=r"CUresult_12345 \(12345\)"):
        driver.checked.cuMemAlloc(1)


# -- memory ----------------------------------------------------------------------------------------------

GUARDED = '''
import ctypes, os, sys
from tests.stub import module
from tests.stub.build import declared, is_aggregate, parameters
from tests.stub.echo import cases
from tests.stub.record import Stub

def is_large(p):
    """A struct that is returned; those of up to 16 bytes lie inside their object, aligned ones amid slack."""
    struct = p.role == "output" and p.c.stars == 1 and is_aggregate(p.cls)
    return struct and ctypes.sizeof(p.cls) > 16 and not p.cls._alignment_

stub = Stub(sys.argv[1])
for symbol, function in declared(module("driver")).items():
    if sys.argv[2] == "all":
        for made in cases(function):
            function(*made.arguments())
            stub.calls()
    elif any(is_large(p) for p in parameters(function)):
        child = os.fork()
        if not child:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            stub.overrun = 1
            for _ in range(2):  # a lane keeps the results of a call until the next one
                function(*next(cases(function)).arguments())
            os._exit(0)
        print(symbol, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
'''


def test_nothing_is_written_past_the_end_of_an_output(stub_path: Path) -> None:
    """Python's debug allocator keeps guard bytes around every block, and looks at them when it is freed."""
    done = python(GUARDED, stub_path, "all", PYTHONMALLOC="debug")
    assert done.returncode == 0, done.stderr[-2000:]


def test_guard_bytes_see_what_is_written_past_the_end_of_a_struct(stub_path: Path) -> None:
    done = python(GUARDED, stub_path, "overrun", PYTHONMALLOC="debug")
    assert done.returncode == 0, done.stderr
    found = [line.split() for line in done.stdout.splitlines()]
    assert len(found) > 30
    assert [symbol for symbol, code in found if code != "-6"] == []  # SIGABRT
