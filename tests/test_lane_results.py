"""Results of the fast lane that are used again: only those that nothing else has."""

from __future__ import annotations

import ctypes
import gc
import inspect
import os
import random
import weakref
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest

from .stub.record import Stub
from .test_lanes import FAILURE, faces_of, has_lane, needs_lanes, outcome, without_lane
from .test_lanes import _switched_on as _switched_on
from .threads import at_once

pytestmark = needs_lanes
KEPT = 2
"""How many handles of a class the lanes keep."""


@pytest.fixture
def _allocation(d: ModuleType, stub: Stub) -> Iterator[None]:
    """cuMemAlloc as a C function that returns one more than it is given."""

    @ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t)
    def allocate(cell: int, size: int) -> int:
        ctypes.c_uint64.from_address(cell).value = size + 1
        return 0

    class Library:
        def __getitem__(self, symbol: str) -> Any:
            return allocate

    d.cuMemAlloc(16)
    d.libcuda.load = Library
    d.libcuda.rebind()
    assert d.cuMemAlloc(16) == (0, 17)
    assert has_lane(d.cuMemAlloc)
    yield


@pytest.fixture
def allocate(d: ModuleType, _allocation: None) -> Any:
    """What returns a new address, one more than it is given."""
    return d.checked.cuMemAlloc


@pytest.fixture
def count(d: ModuleType, stub: Stub) -> Iterator[list[int]]:
    """What cuDeviceGetCount returns, whose C function is one of Python."""
    number = [0]

    @ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)
    def get(cell: int) -> int:
        ctypes.c_int.from_address(cell).value = number[0]
        return 0

    class Library:
        def __getitem__(self, symbol: str) -> Any:
            return get

    d.cuDeviceGetCount()
    d.libcuda.load = Library
    d.libcuda.rebind()
    d.cuDeviceGetCount()
    assert has_lane(d.cuDeviceGetCount)
    yield number


def clear(allocate: Any) -> None:
    """Have the lanes keep none of the handles that were made before."""
    handles = [allocate(16) for _ in range(2 * KEPT)]
    assert len({*map(id, handles)}) == 2 * KEPT


def test_nothing_has_it(allocate: Any) -> None:
    clear(allocate)
    places = set()
    for i in range(100):
        handle = allocate(i)  # while the name has the one before
        assert handle.value == i + 1
        places.add(id(handle))
    assert len(places) <= 2 * KEPT


def test_it_is_in_a_list(allocate: Any) -> None:
    handles = [allocate(i) for i in range(50)]
    del handles[::2]
    handles += [allocate(i) for i in range(50, 100)]
    assert [handle.value for handle in handles] == [*range(2, 51, 2), *range(51, 101)]
    assert len({*map(id, handles)}) == 75


def test_only_its_tuple_is_kept(d: ModuleType, allocate: Any) -> None:
    results = [d.cuMemAlloc(i) for i in range(50)]
    assert results == [(0, i + 1) for i in range(50)]
    del results[::2]
    assert allocate(99) == d.cuMemAlloc(99)[1] == 100
    assert results == [(0, i + 1) for i in range(1, 50, 2)]


def test_it_was_changed(allocate: Any) -> None:
    for i in range(20):
        handle = allocate(i)
        assert (handle.value, memoryview(handle).tobytes()) == (i + 1, (i + 1).to_bytes(8, "little"))
        handle.value = 2**64 - 1


def test_its_memory_is_seen(allocate: Any) -> None:
    views = [memoryview(allocate(i)) for i in range(20)]
    assert [view.tobytes() for view in views] == [i.to_bytes(8, "little") for i in range(1, 21)]


def test_it_has_weak_references(allocate: Any) -> None:
    clear(allocate)
    gone: list[int] = []
    noted = [weakref.ref(allocate(i), lambda _, i=i: gone.append(i)) for i in range(20)]  # type: ignore[misc]
    living = [reference() for reference in noted]
    assert [i for i in range(20) if living[i] is None] == gone == [*range(20 - KEPT)]
    assert [handle.value for handle in living if handle] == [*range(21 - KEPT, 21)]
    again = allocate(99)
    assert not weakref.getweakrefcount(again)
    assert not any(again is handle for handle in living)


def test_it_has_attributes(allocate: Any) -> None:
    class Note:
        pass

    for i in range(20):
        handle = allocate(i)
        assert not vars(handle)
        handle.note = Note()
        handle.itself = handle  # a cycle, which is collected
        noted = weakref.ref(handle.note)
        del handle
    for i in range(2 * KEPT):
        assert not vars(allocate(i))
    gc.collect()
    assert noted() is None


def test_its_tuple_is_in_a_cycle(d: ModuleType, allocate: Any) -> None:
    class Note:
        pass

    noted = []
    for i in range(20):
        result = d.cuMemAlloc(i)
        gc.collect()  # which no longer looks at tuples of what cannot be in a cycle
        assert (result, gc.is_tracked(result)) == ((0, i + 1), True)
        result[1].note = note = Note()
        result[1].result = result
        noted.append(weakref.ref(note))
        del note, result
    assert d.cuMemAlloc(5) == (0, 6)
    clear(allocate)
    gc.collect()
    assert not any(reference() for reference in noted)


def test_its_tuple_is_asked_for_as_it_is_made(d: ModuleType, allocate: Any) -> None:
    """By what runs as the result before it goes, which calls the same function."""
    inner: list[Any] = []
    for i in range(20):
        result = d.cuMemAlloc(i)
        assert result == (0, i + 1)
        weakref.finalize(result[1], lambda i=i: inner.append(d.cuMemAlloc(100 + i)))  # type: ignore[misc]
        del result
    for i in range(4):
        assert d.cuMemAlloc(i) == (0, i + 1)
    clear(allocate)
    assert sorted(result[1].value for result in inner) == [*range(101, 121)]
    assert len({*map(id, inner)}) == 20


def test_results_of_a_failure_are_not_those_before(d: ModuleType, stub: Stub) -> None:
    for function, arguments in ((d.cuMemGetInfo, ()), (d.cuGetErrorString, (0,)), (d.cuDeviceGet, (0,))):
        expected = function(*arguments)
        kept = function(*arguments)
        stub.status = FAILURE
        failed = function(*arguments)
        stub.status = 0
        again = function(*arguments)
        assert expected == kept == again
        assert len({id(expected), id(kept), id(again)}) == 3
        assert failed == (FAILURE, *[None] * (len(kept) - 1))


def test_a_number_stays_in_its_tuple(d: ModuleType, count: list[int]) -> None:
    for number in (5, 5, 7, 7, 2**31 - 1, 2**31 - 1, 0, -1, -1):
        count[0] = number
        assert d.cuDeviceGetCount() == (0, number)
    count[0] = 1000
    _, first = d.cuDeviceGetCount()
    _, second = d.cuDeviceGetCount()
    assert first is second, "the number was made again"
    kept = d.cuDeviceGetCount()
    count[0] = 2000
    other = d.cuDeviceGetCount()
    count[0] = 1000
    assert (kept, other, d.cuDeviceGetCount()) == ((0, 1000), (0, 2000), (0, 1000))
    assert {hash(kept): kept, hash(other): other}[hash((0, 2000))] is other
    assert d.checked.cuDeviceGetCount() == d.cuDeviceGetCount()[1] == 1000


def test_it_has_another_class(allocate: Any) -> None:
    class Address(type(allocate(0))):  # type: ignore[misc]
        pass

    expected = type(allocate(0))
    for i in range(20):
        handle = allocate(i)
        assert type(handle) is expected
        handle.__class__ = Address
        del handle


def test_it_has_more_memory(allocate: Any) -> None:
    for i in range(20):
        handle = allocate(i)
        assert (handle.value, ctypes.sizeof(handle)) == (i + 1, 8)
        ctypes.resize(handle, 64)
        handle.value = 7
        del handle


def test_a_callback_is_called_as_it_goes(allocate: Any) -> None:
    """Which calls the same function."""
    clear(allocate)
    inner: list[Any] = []
    noted = []
    for i in range(10):
        handle = allocate(i)
        noted.append(weakref.ref(handle, lambda _, i=i: inner.append(allocate(100 + i))))  # type: ignore[misc]
        assert handle.value == i + 1
        del handle
    clear(allocate)
    assert sorted(handle.value for handle in inner) == [*range(101, 111)]


def test_threads(d: ModuleType, allocate: Any) -> None:
    """The C function is Python's, so that threads take turns in it."""

    def work(number: int) -> None:
        kept: list[tuple[int, Any]] = []
        for i in range(200):
            size = 1000 * number + i
            result = d.cuMemAlloc(size)
            kept += [(size, allocate(size)), (size, result[1])]
            del kept[: i % 5]
            assert result == (0, size + 1)
            del result
            assert all(handle.value == size + 1 for size, handle in kept)

    at_once(work)


def test_random_uses(d: ModuleType, allocate: Any) -> None:
    """Handles are kept, dropped, changed and referred to in any order: each has the value it was given."""
    seed = int(os.environ.get("CUDAPY_LANE_SEED", "0"))
    rounds = int(os.environ.get("CUDAPY_LANE_ROUNDS", "800"))
    chance = random.Random(seed)
    kept: list[tuple[int, Any]] = []
    results: list[tuple[int, Any]] = []
    others: list[Any] = []
    noted: list[tuple[int, Any]] = []
    for _ in range(rounds):
        value = chance.getrandbits(chance.choice((3, 30, 62)))
        if chance.random() < 0.5:
            results.append((value + 1, d.cuMemAlloc(value)))
            handle = results[-1][1][1]
        else:
            handle = allocate(value)
        assert (type(handle), handle.value, vars(handle)) == (d.CUdeviceptr, value + 1, {})
        assert not weakref.getweakrefcount(handle)
        use = chance.randrange(8)
        if use < 3:
            kept.append((value + 1, handle))
        elif use == 3:
            handle.note = others, handle
        elif use == 4:
            noted.append((value + 1, weakref.ref(handle)))
        elif use == 5:
            others.append(memoryview(handle))
        elif use == 6 and not results:
            handle.value = chance.getrandbits(64)
        del handle
        for some in (kept, results, others, noted):
            if len(some) > 20 or chance.random() < 0.1:
                del some[: chance.randrange(len(some) + 1)]
        assert all(handle.value == value for value, handle in kept), seed
        assert all(result == (0, value) for value, result in results), seed
        assert all(reference() is None or reference().value == value for value, reference in noted), seed


def test_an_attribute_decides_the_type(d: ModuleType, stub: Stub) -> None:
    """Of all functions and attributes: the same as the functions' own code; no lane has structs."""
    stub.peek = 1
    tried = 0
    for function in [*vars(d).values()]:
        declaration = getattr(function, "__declaration__", None)
        variants = dict(getattr(declaration, "variants", ()))
        inputs = list(inspect.signature(function).parameters) if variants else ()
        if not variants or set(variants) & set(inputs):
            continue
        ((key, table),) = variants.values()
        types = getattr(d, table)
        for face in faces_of(function):
            outcome(face, (0,) * len(inputs))
            twin = without_lane(face)
            for attribute in (*types, *range(-1, max(types) + 2), 1 << 31, None):
                arguments = tuple([attribute if name == key else 16 for name in inputs])
                for stub.status in (0, FAILURE):
                    found, expected = outcome(face, arguments), outcome(twin, arguments)
                    assert found == expected, (face.__name__, attribute)
                    tried += 1
            assert has_lane(face)
    assert tried > 500
