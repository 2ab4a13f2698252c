"""Threads that meet in the first call of a function, the first look at an enum, the first import of types."""

from __future__ import annotations

import contextlib
import importlib
import threading
from types import ModuleType
from typing import Any

import pytest

from tests.stub import python
from tests.threads import at_once


def test_a_function_is_written_into_its_place_once(d: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the codes that threads wrote, the first to be set stays: none is taken from under a thread."""
    declaration = d.cuMemAlloc.__declaration__
    trampoline, write = d.cuMemAlloc.__code__, type(declaration).write
    barrier, seen = threading.Barrier(8, timeout=60), []

    def together(self: Any) -> Any:
        written = write(self)
        barrier.wait()  # all have written before one of them sets it
        return written

    monkeypatch.setattr(type(declaration), "write", together)

    def work(number: int) -> None:
        declaration.install()
        seen.append(d.cuMemAlloc.__code__)

    at_once(work)
    assert len({id(code) for code in seen}) == 1 and seen[0] is not trampoline
    assert d.cuMemAlloc(16)[0] == 0 and d.cuMemAlloc.__code__ is seen[0]


def test_a_face_is_written_into_its_place_once(monkeypatch: pytest.MonkeyPatch, fresh: ModuleType) -> None:
    nvvm = importlib.import_module(".nvvm", fresh.__package__)
    how = nvvm.version.__kwdefaults__
    face, barrier, seen = how["face"], threading.Barrier(8, timeout=60), []
    write = type(face).write

    def together(self: Any, *how: Any) -> Any:
        written = write(self, *how)
        barrier.wait()
        return written

    monkeypatch.setattr(type(face), "write", together)

    def work(number: int) -> None:
        face.install(how["function"], nvvm.version, how["names"])
        seen.append(nvvm.version.__code__)

    at_once(work)
    assert len({id(code) for code in seen}) == 1


@pytest.mark.parametrize("what", ["function", "library", "kernel"])
def test_a_finalizer_that_comes_by_does_not_wait_for_itself(d: ModuleType, what: str) -> None:
    """It may find its own thread within the first call of something, and make one of its own."""

    def part(name: str) -> Any:
        return importlib.import_module(f".{name}", d.__package__)

    code = part("core").ObjectCode.from_cubin(b"code")
    first_use = {
        "function": (part("_ffi.codegen")._installing, lambda: d.cuMemAlloc(16)),
        "library": (part("pathfinder")._lock, lambda: part("pathfinder").load("nvrtc")),
        "kernel": (part("_core.kernels.object_code")._loading, lambda: code.handle),
    }
    lock, use = first_use[what]
    done = []

    def finalizer() -> None:
        with lock, contextlib.suppress(part("pathfinder").LibraryNotFound):
            use()
        done.append(True)

    thread = threading.Thread(target=finalizer, daemon=True)
    thread.start()
    thread.join(60)
    assert done


def test_code_that_a_finalizer_loads_meanwhile_is_loaded_once(
    d: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = importlib.import_module("._core.kernels.object_code", d.__package__)
    codes, loaded, unloaded = [module.ObjectCode.from_cubin(b"code")], [], []

    def load(cell: Any, *_: Any) -> None:
        loaded.append(number := len(loaded) + 1)
        if number == 1:
            assert int(codes[0]._loaded()) == 2  # what a __del__ might do
        cell.value = number

    monkeypatch.setattr(module, "_unload", lambda library, log: unloaded.append(int(library)))
    monkeypatch.setitem(vars(module.owning), "cuLibraryLoadData", load)
    assert int(codes[0]._loaded()) == 2 and loaded == [1, 2]
    assert unloaded == [1]
    codes.clear()
    assert unloaded == [1, 2]


ALL_AT_ONCE = """
import pathlib, re, sys, threading
from tests.stub import REPOSITORY, module
from tests.stub.build import declared
from tests.stub.echo import cases
from tests.stub.record import Stub
from tests.threads import at_once
stub = Stub(sys.argv[1])
driver = module("driver")
text = (REPOSITORY / "cudapy/_types/driver/enums.py").read_text()  # which nobody has imported yet
enums = re.findall(r"^class (CU\\w+)\\(Enum\\):", text, re.M)
assert len(enums) > 100 and not vars(driver).keys() & {*enums}
functions = list(declared(driver).values())[::3]
unwritten = {function.__name__: function.__code__ for function in functions}
barrier = threading.Barrier(8, timeout=60)
members, codes = [], []

def work(number):
    for name in enums:
        barrier.wait()
        members.append((name, *map(id, getattr(driver, name).__members__.values())))
    structs = [driver.CUlaunchConfig(gridDimX=number + 1), driver.CUDA_MEMCPY2D()]
    assert structs[0].gridDimX == number + 1 and structs[1].WidthInBytes == 0
    for function in functions:
        made = next(cases(function))
        barrier.wait()
        status, *results = function(*made.arguments())
        if function.__code__ is not unwritten[function.__name__]:  # a lane may take the call before
            codes.append((function.__name__, id(function.__code__)))
        assert status is driver.CUresult.CUDA_SUCCESS
    for _ in range(200):
        assert driver.cuCtxGetFlags()[0] == 0

at_once(work)
print(len(functions), len(enums), len({*members}), len({*codes}))
"""


def test_everything_at_once_for_the_first_time(stub_path: Any) -> None:
    """Types, enums and a third of all functions, by eight threads of a process that has used none of them.

    All get the same members, and code that is written for a function is not replaced.
    """
    done = python(ALL_AT_ONCE, stub_path, flags=("-X", "dev"))
    assert (done.returncode, done.stderr) == (0, "")
    functions, enums, members, codes = map(int, done.stdout.split())
    assert functions > 150 and members == enums and 0 < codes <= functions
