"""Lanes that functions get in the first call of their library: otherwise it is as if they had none."""

from __future__ import annotations

import ctypes
import importlib
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from .stub import source
from .stub.build import build, declared
from .stub.record import Stub
from .test_lanes import _switched_on as _switched_on
from .test_lanes import has_lane, needs_lanes
from .threads import at_once

pytestmark = needs_lanes


@pytest.fixture(autouse=True)
def _in_each_version(fresh: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where it would take longer than it saves."""
    entries = importlib.import_module("._ffi.lane_entries", fresh.__package__)
    monkeypatch.setattr(entries.Forwarder, "is_quick", True)


def observed(d: ModuleType) -> list[str]:
    return [name for name in d.libcuda.observed() if name.startswith("cu")]


class Other:
    """A library of Python functions: cuMemAlloc counts up, the others are those of a stub, or missing."""

    def __init__(self, stub: Stub, missing: str = "") -> None:
        self.stub, self.missing, self.asked = stub, missing, list[str]()

    def __getitem__(self, symbol: str) -> Any:
        self.asked.append(symbol)
        if symbol == self.missing:
            raise AttributeError(symbol)
        return allocate if symbol == "cuMemAlloc_v2" else self.stub.library[symbol]


@ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t)
def allocate(cell: int, size: int) -> int:
    ctypes.c_uint64.from_address(cell).value = size + 1
    return 0


def test_usual_functions_have_one(d: ModuleType, stub: Stub) -> None:
    d.cuInit(0)
    assert all(map(has_lane, (d.cuMemAlloc, d.cuMemFree, d.cuLaunchKernel, d.cuStreamSynchronize)))
    assert not has_lane(d.cuMemAdvise)
    assert len(stub.calls()) == 1


def test_they_are_found_when_they_are_called(d: ModuleType, stub: Stub) -> None:
    """Also by an observer that came in between."""
    names: set[Any] = set()
    others: set[Any] = set()
    d.libcuda.observe("cuMemFree_v2", others)
    d.cuInit(0)
    d.libcuda.observe("cuMemAlloc_v2", names)
    assert observed(d) == ["cuInit"]
    assert not names | others
    d.cuMemAlloc(16)
    d.cuStreamQuery(0)
    with pytest.raises(TypeError):
        d.cuStreamSynchronize("a")
    d.cuMemFree(dptr=16)
    assert sorted(observed(d)) == [
        "cuInit", "cuMemAlloc_v2", "cuMemFree_v2", "cuStreamQuery", "cuStreamSynchronize",
    ]  # fmt: skip
    assert (names, others) == ({"cuMemAlloc_v2"}, {"cuMemFree_v2"})
    assert [call.symbol for call in stub.calls()] == [
        "cuInit",
        "cuMemAlloc_v2",
        "cuStreamQuery",
        "cuMemFree_v2",
    ]


def test_a_symbol_that_is_missing(gcc: str, fresh: ModuleType, tmp_path: Path) -> None:
    """An error when it is called, and no sooner."""
    functions = declared(source("driver"))
    only = [symbol for symbol in functions if symbol != "cuMemAlloc_v2"]
    stub = Stub(build(source("driver"), tmp_path / "libcuda.so", only=only))
    fresh.libcuda.load = lambda: stub.library
    fresh.cuInit(0)
    assert has_lane(fresh.cuMemFree)
    for _ in range(2):
        with pytest.raises(RuntimeError, match="cuMemAlloc_v2"):
            fresh.cuMemAlloc(16)


def test_others_come_by_themselves(d: ModuleType, stub: Stub) -> None:
    """Functions that were not called are looked for in the library that there is when they are."""
    d.cuInit(0)
    other = Other(stub)
    d.libcuda.load = lambda: other
    assert d.cuMemAlloc(16)[1] == 17
    assert d.cuLaunchKernel(1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0) == (0,)
    assert has_lane(d.cuMemAlloc)
    assert other.asked == ["cuMemAlloc_v2", "cuLaunchKernel"]


@pytest.mark.parametrize("missing", ["", "cuMemFree_v2"])
def test_rebind_finds_what_was_called(d: ModuleType, stub: Stub, missing: str) -> None:
    """What was not called may be missing: that is an error when it is."""
    d.cuInit(0)
    d.cuStreamQuery(0)
    other = Other(stub, missing)
    d.libcuda.load = lambda: other
    d.libcuda.rebind()
    assert sorted(other.asked) == ["cuInit", "cuStreamQuery"]
    assert d.cuMemAlloc(16)[1] == 17
    if missing:
        with pytest.raises(RuntimeError, match=missing):
            d.cuMemFree(16)
    else:
        assert d.cuMemFree(16) == (0,)


def test_a_provider_takes_the_place(fresh: ModuleType, stub: Stub) -> None:
    """Of a library that was loaded: the same as ever, functions that were called stay."""
    pathfinder = importlib.import_module(".pathfinder", fresh.__package__)
    real, other = (
        pathfinder.Loaded("cuda", handle, path, "here", None)
        for handle, path in ((stub.library, "/one"), (Other(stub), "/other"))
    )
    pathfinder.register("cuda", lambda major, below: real)
    fresh.cuInit(0)
    assert has_lane(fresh.cuMemAlloc)
    pathfinder.register("cuda", lambda major, below: other)
    assert fresh.cuMemAlloc(16)[1] == 17
    assert fresh.cuInit(0) == (0,)
    assert other.handle.asked == ["cuMemAlloc_v2"]


def test_functions_that_were_changed(d: ModuleType, stub: Stub) -> None:
    """Before and after they got a lane: their own code is run."""

    def mine(*_: Any, declaration: Any = None) -> str:
        return "mine"

    d.cuMemFree.__code__ = mine.__code__
    d.cuInit(0)
    assert not has_lane(d.cuMemFree)
    before = d.cuMemAlloc.__code__
    d.cuMemAlloc.__code__ = mine.__code__
    assert d.cuMemAlloc(16) == d.cuMemFree(16) == "mine"
    d.cuMemAlloc.__code__ = before
    assert d.cuMemAlloc(16)[0] == 0


def test_calls_that_are_left_to_python(d: ModuleType, stub: Stub) -> None:
    """The first one of a function, with keywords, wrong or odd arguments; then the lane."""
    d.cuInit(0)
    odd = type("Odd", (int,), {})(16)
    assert d.cuMemAlloc(odd) == d.cuMemAlloc(bytesize=16) == d.cuMemAlloc(16)
    with pytest.raises(TypeError, match="cuStreamQuery"):
        d.cuStreamQuery("a")
    assert d.cuLaunchKernel(1, 1, 1, 1, 1, 1, 1, 0, 0, ((1,), (ctypes.c_int,)), 0) == (0,)


def test_the_raising_face_is_opened_when_it_is_called(d: ModuleType, stub: Stub) -> None:
    d.checked.cuInit(0)
    assert not has_lane(d.cuMemAlloc)
    d.cuInit(0)
    assert has_lane(d.cuMemAlloc)
    assert d.checked.cuMemAlloc(16) == d.cuMemAlloc(16)[1]


def test_a_library_that_is_not_one_of_the_system(d: ModuleType, stub: Stub) -> None:
    """As the simulator's: nothing is asked for before it is called."""
    other = Other(stub)
    d.libcuda.load = lambda: other
    d.cuInit(0)
    assert other.asked == ["cuInit"]


def test_threads_that_meet(d: ModuleType, stub: Stub) -> None:
    """All in the first call of the library."""
    calls = (
        lambda: d.cuInit(0), lambda: d.cuMemAlloc(16), lambda: d.cuMemFree(16), lambda: d.cuStreamQuery(0),
        lambda: d.cuLaunchKernel(1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0), lambda: d.cuMemAdvise(1, 1, 1, 0),
    )  # fmt: skip
    found: list[Any] = []
    at_once(lambda number: found.append((number % 6, calls[number % 6]())), count=12)
    assert len(found) == 12
    for number, result in found:
        assert repr(result) == repr(calls[number]())
    assert len(d.libcuda.lanes[d.cuMemAlloc.__declaration__]) == 1
    assert {"cuInit", "cuMemAlloc_v2", "cuMemFree_v2", "cuStreamQuery", "cuLaunchKernel"} <= {*observed(d)}
