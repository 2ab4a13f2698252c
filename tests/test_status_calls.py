"""C functions whose status core needs: the same through machine code and through ctypes."""

from __future__ import annotations

import collections
import ctypes
import gc
import sys
import threading
import time
from types import BuiltinFunctionType, FunctionType
from typing import Any

import pytest

from .stub import module

calls = module("_ffi.status_calls")
lanes = module("_ffi.lanes")
driver = module("driver")
libc = ctypes.CDLL(None)


Text, Seconds = driver.CUstream, driver.CUdeviceptr  # an address, a number of 64 bits


@pytest.fixture(params=["with lanes", "without", "in a copy without"])
def is_fast(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    if request.param == "without":
        monkeypatch.setattr(lanes, "lanes", lambda: None)
        return False
    if request.param == "in a copy without":
        monkeypatch.setattr(calls, "lanes", module("_ffi.no_lanes"))
        return False
    if lanes.why_not():
        pytest.skip(f"no fast lane: {lanes.why_not()}")
    return True


def symbol(name: str) -> ctypes._CFuncPtr:  # type: ignore[name-defined]
    return libc[name]  # a new object, which nobody else gives argtypes


def test_a_status_is_returned(is_fast: bool) -> None:
    """Whatever it is: 0, another number, a negative one; of objects of the class, and of others."""
    compare = calls.status_call(symbol("strncmp"), Text, Text, ctypes.c_size_t)
    buffers = [ctypes.create_string_buffer(text) for text in (b"abc", b"abd", b"abc")]
    first, second, third = (Text(ctypes.addressof(buffer)) for buffer in buffers)
    for _ in range(3):
        assert compare(first, third, 3) == 0 and compare(first, second, 2) == 0
        assert compare(first, second, 3) < 0 < compare(second, first, 3)
        assert compare(buffers[0], buffers[1], ctypes.c_size_t(3)) < 0
        assert compare(ctypes.c_void_p(first.value), third, 3) == 0
    with pytest.raises(ctypes.ArgumentError):
        compare(first, "abc\N{SNOWMAN}".encode, 3)
    assert (type(compare) in (FunctionType, BuiltinFunctionType)) == is_fast


def test_what_it_fills_is_filled(is_fast: bool) -> None:
    """The first parameter is the object itself, of which C gets the address."""
    fill = calls.status_call(symbol("time"), fills=Seconds)
    cell = Seconds()
    before = int(time.time())
    status = fill(cell)
    assert before - 1 <= cell.value <= time.time() and status == cell.value  # its clock is a coarse one


def test_a_number_of_64_bits_is_passed_whole(is_fast: bool) -> None:
    """Behind a parameter that is filled ctypes knows the types; else 64 bits would be cut."""
    copy = calls.status_call(symbol("memset"), calls.SIGNED, calls.SIZE, fills=Seconds)
    cell = Seconds(2**64 - 1)
    copy(cell, 0, 4)
    assert cell.value == 2**64 - 2**32


class Owner:
    """What looks like an owner of core."""

    __slots__ = ("address", "handle", "note", "owed", "state")
    address: Any
    handle: Any
    note: Any
    owed: Any
    state: Any


ALIVE, OVER = object(), object()
FAILED = 700
Returned = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)


class Library:
    """A C function of two parameters that notes what it is called with; with `status` it fails."""

    def __init__(self) -> None:
        self.status = 0
        self.calls: list[tuple[int, int]] = []
        self.function = Returned(self._called)
        self.writer = Returned(self._written)

    def _called(self, first: int | None, second: int | None) -> int:
        self.calls.append((first or 0, second or 0))
        return self.status

    def _written(self, cell: int, number: int | None) -> int:
        ctypes.c_uint64.from_address(cell).value = 0x1000 + (number or 0)
        return self.status


@pytest.fixture
def library() -> Library:
    if lanes.why_not():
        pytest.skip(f"no fast lane: {lanes.why_not()}")
    return Library()


def told(status: int, *arguments: object) -> tuple[object, ...]:
    return "failed", status, *arguments


def owner(**slots: object) -> Owner:
    made = Owner()
    for name, value in slots.items():
        setattr(made, name, value)
    return made


def test_handles_are_taken_out_of_slots(library: Library) -> None:
    """Of an object of exactly that class, if the slot has a handle of exactly that one."""

    def record(first: object, second: object) -> object:
        return "left", first, second

    takes = [(1, calls.InSlot(Owner, "handle", Text)), (0, calls.InSlot(Owner, "owed", Seconds))]
    calls.give_lane(record, library.function, takes, told, returned=2)
    first, second = owner(handle=Text(5)), owner(owed=Seconds(7))
    assert record(first, second) is second and library.calls == [(7, 5)]
    library.status = FAILED
    assert record(first, second) == ("failed", FAILED, first, second)
    derived = type("Owner", (Owner,), {"__slots__": ()})()
    derived.handle = Text(5)
    for wrong in (owner(), owner(handle=Seconds(5)), owner(handle=5), derived, None, 5):
        assert record(wrong, second) == ("left", wrong, second)
    assert len(library.calls) == 2


def test_more_than_one_handle_of_an_object(library: Library) -> None:
    def free(of: object) -> object:
        return "left", of

    takes = [(0, calls.InSlot(Owner, "owed", Text, more=True)), (1, calls.InSlot(Owner, "handle", Text))]
    calls.give_lane(free, library.function, takes, told, ok="done")
    of = owner(owed=Text(3), handle=Text(4))
    assert free(of) == "done" and library.calls == [(3, 4)]
    assert free(3) == ("left", 3)
    with pytest.raises(TypeError):
        free(of, of)  # type: ignore[call-arg]


def test_a_second_function_is_called_after_a_success(library: Library) -> None:
    def wait(first: object, second: object) -> object:
        return "left"

    other = Library()
    calls.give_lane(wait, library.function, [(0, Text), (1, Text)], told, ok=OVER, second=other.function)
    assert wait(Text(1), Text(2)) is OVER
    assert library.calls == other.calls == [(1, 2)]
    other.status = FAILED
    assert wait(Text(1), Text(2))[:2] == ("failed", FAILED)  # type: ignore[index]
    library.status = FAILED + 1
    assert wait(Text(1), Text(2))[:2] == ("failed", FAILED + 1)  # type: ignore[index]
    assert (len(library.calls), len(other.calls)) == (3, 2)


def test_what_has_to_be_empty(library: Library) -> None:
    def ask(first: object, second: object) -> object:
        return "left"

    containers: list[Any] = [[], collections.deque(), set(), {}]
    calls.give_lane(ask, library.function, [(0, Text), (1, Text)], told, ok=OVER, empty=containers)
    fill: list[Any] = [
        lambda c: c.append(1),
        lambda c: c.append(1),
        lambda c: c.add(1),
        lambda c: c.update(a=1),
    ]
    for container, put in zip(containers, fill, strict=True):
        assert ask(Text(1), Text(2)) is OVER
        put(container)
        assert ask(Text(1), Text(2)) == "left"
        container.clear()


def test_an_owner_is_made_by_the_call(library: Library) -> None:
    def make(number: object, note: object) -> object:
        return "left", number, note

    shared: list[object] = []
    template = owner(state=shared)
    takes = [(1, calls.UNSIGNED), (0, calls.Goes("note"))]
    makes = calls.Makes(template, Text, ("handle", "owed"), "address")
    calls.give_lane(make, library.writer, takes, told, makes=makes)
    before = sys.getrefcount(shared)
    made: Any = [make(number, library) for number in range(3)]
    for number, each in enumerate(made):
        assert type(each) is Owner and each.handle is each.owed and type(each.handle) is Text
        assert each.handle.value == each.address == 0x1000 + number
        assert each.note is library and each.state is shared
    del each
    assert sys.getrefcount(shared) == before + 3
    made.clear()
    assert sys.getrefcount(shared) == before
    assert make(-1, None) == ("left", -1, None)
    library.status = FAILED
    assert make(1, shared) == ("failed", FAILED, 1, shared)
    assert sys.getrefcount(shared) == before


def test_what_goes_into_an_owner_may_be_in_a_slot(library: Library) -> None:
    """C gets a constant; of the parameter only a slot goes. What may be left out is left out, or None."""

    def make(of: object, option: object = None) -> object:
        return "left", of, option

    number = object()
    makes = calls.Makes(owner(), Text, ("handle",))
    takes = [(1, calls.Constant(6, more=True)), (0, calls.Goes("note", calls.InSlot(Owner, "state", object)))]
    calls.give_lane(make, library.writer, takes, told, makes=makes, optional=1)
    before = sys.getrefcount(number)
    of = owner(state=number)
    made: Any = make(of)
    assert made.note is number and made.handle.value == 0x1006
    assert sys.getrefcount(number) == before + 2
    del made
    assert sys.getrefcount(number) == before + 1
    assert make(of, 3) == ("left", of, 3)
    library.status = FAILED
    assert make(of)[:3] == ("failed", FAILED, of)  # type: ignore[index]


def test_an_owner_may_be_inside_another(library: Library) -> None:
    """Both have the handle, the outer one its number, and what goes into a slot. No reference is lost."""
    left: list[int] = []

    class Inner(Owner):
        __slots__ = ()

        def __del__(self) -> None:
            if hasattr(self, "owed"):
                left.append(self.owed.value)

    def make(number: object, note: object) -> object:
        return "left"

    state = object()
    inner = Inner()
    inner.state = state
    makes = calls.Makes(inner, Text, ("owed",), "address", owner(state=state), "owed", "handle")
    calls.give_lane(make, library.writer, [(1, calls.UNSIGNED), (0, calls.Goes("note"))], told, makes=makes)
    before = sys.getrefcount(state), sys.getrefcount(library)
    for _ in range(50):
        made: Any = make(3, library)
        assert type(made) is Owner and type(made.owed) is Inner
        assert made.handle is made.owed.owed and made.handle.value == made.address == 0x1003
        assert made.note is library and made.state is made.owed.state is state
        assert not hasattr(made.owed, "note")
    del made
    assert left == [0x1003] * 50
    library.status = FAILED
    assert make(1, library) == ("failed", FAILED, 1, library) and left[50:] == [0]
    assert (sys.getrefcount(state), sys.getrefcount(library)) == before


def test_a_word_is_asked_for_first(library: Library) -> None:
    """What fills it is called each time; if it fails, or the word is another one, C is not called."""

    def use(of: object, second: object) -> object:
        return "left", of, second

    asked = Library()
    fill = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(lambda cell: asked._written(cell, 0))
    current = calls.Asked(fill, calls.InSlot(Owner, "handle", Text), lambda status: ("not told", status))
    takes = [(0, calls.InSlot(Owner, "owed", Text)), (1, Text)]
    calls.give_lane(use, library.function, takes, told, ok=OVER, asked=current)
    for number, expected in ((0x1000, OVER), (0x1001, "left"), (0, "left")):
        for asked.status in (0, FAILED):
            found: Any = use(owner(handle=Text(number), owed=Text(3)), Text(2))
            if asked.status:
                assert found == ("not told", FAILED)
            else:
                assert found is OVER if expected is OVER else found[0] == "left"
    assert use(owner(owed=Text(3)), Text(2))[0] == "left"  # type: ignore[index]
    assert library.calls == [(3, 2)]


def test_objects_of_one_thread(library: Library) -> None:
    """What it keeps; for all else, in all other threads, what the function returns. References are right."""

    def get(which: object) -> object:
        return "left", which

    others: list[int] = []

    def other(number: int) -> object:
        others.append(number)
        if number == 5:
            raise KeyError(number)
        return "other", number

    kept = calls.OfThread(other, 3)
    fill = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)
    numbers: list[int] = []

    def write(cell: int) -> int:
        ctypes.c_int.from_address(cell).value = numbers[-1]
        return library.status

    function = fill(write)
    calls.give_lane(get, function, [(0, calls.Same(OVER))], told, gives=(0, "of thread", kept))
    mine = object()
    kept.keep(1, mine)
    before = sys.getrefcount(mine)

    def ask(number: int, which: object = OVER) -> Any:
        numbers.append(number)
        return get(which)

    found = [ask(1) for _ in range(100)]
    assert all(each is mine for each in found) and others == []
    assert sys.getrefcount(mine) == before + 100
    assert ask(1, ALIVE) == ("left", ALIVE)
    assert [ask(number) for number in (0, 2, 3, -1, 1 << 20)] == [
        ("other", number) for number in (0, 2, 3, -1, 1 << 20)
    ]
    with pytest.raises(KeyError):
        ask(5)
    found.clear()
    thread = threading.Thread(target=lambda: found.append(ask(1)))
    thread.start()
    thread.join()
    assert found == [("other", 1)] and ask(1) is mine
    library.status = FAILED
    assert ask(1) == ("failed", FAILED, OVER)
    library.status = 0
    kept.clear()
    assert ask(1) == ("other", 1)


def test_an_owner_that_is_not_made_owes_nothing(library: Library) -> None:
    """C may have written its handle, although it failed."""
    owed: list[int] = []

    class Finalized(Owner):
        __slots__ = ()

        def __del__(self) -> None:
            if hasattr(self, "owed"):  # else it was made to find out where its slots are
                owed.append(self.owed.value)

    def make(number: object) -> object:
        return "left"

    makes = calls.Makes(Finalized(), Text, ("owed",))
    calls.give_lane(make, library.writer, [(1, calls.UNSIGNED)], told, makes=makes)
    make(1)
    assert owed == [0x1001]
    library.status = FAILED
    assert make(1) == ("failed", FAILED, 1) and owed == [0x1001, 0]


def test_an_owner_is_released_once(library: Library) -> None:
    def close(of: object) -> object:
        return "left"

    def drop(of: object) -> object:
        return "left"

    takes = [(0, calls.InSlot(Owner, "owed", Text, more=True)), (1, calls.InSlot(Owner, "handle", Text))]

    def releases(gone: str) -> Any:
        return calls.Releases({"state": ALIVE, "note": None}, OVER, gone)

    require = calls.give_lane(close, library.function, takes, told, releases=releases("address"))
    calls.give_lane(drop, library.function, takes, told, releases=releases(""))

    def of(**slots: object) -> Any:
        all_ = {"owed": Text(8), "handle": Text(9), "state": ALIVE, "note": None, "address": 77, **slots}
        return owner(**all_)

    one = of()
    assert close(one) is None and library.calls == [(8, 9)]
    assert one.owed.value == 0 and one.state is OVER and not hasattr(one, "address") and one.handle.value == 9
    assert close(one) == "left" and drop(one) is None
    for another in (of(owed=Text()), of(state=None), of(note=1), of(handle=None), 5):
        assert close(another) == drop(another) == "left"
    assert drop(of()) is None and library.calls == [(8, 9)] * 2
    library.status = FAILED
    two = of()
    assert close(two) == ("failed", FAILED, two) and two.state is OVER and two.owed.value == 8
    require(OVER)
    assert close(of()) == "left"
    require(None)
    assert close(of()) == "left"


def test_no_reference_is_lost_or_kept(library: Library) -> None:
    def make(number: object, note: object) -> object: ...

    def close(of: object) -> object: ...

    def record(first: object) -> object: ...

    state = object()
    template = owner(state=state)
    makes = calls.Makes(template, Text, ("handle", "owed"), "address")
    calls.give_lane(
        make, libc.posix_memalign, [(1, calls.UNSIGNED), (0, calls.Goes("note"))], told, makes=makes
    )
    takes = [(0, calls.InSlot(Owner, "handle", Text))]
    calls.give_lane(record, libc.isatty, takes, told, returned=1)
    calls.give_lane(
        close, libc.isatty, takes, told, releases=calls.Releases({"state": state}, OVER, "address")
    )
    objects = [state, OVER, template, library, Owner, Text, None, told]

    def many(count: int) -> None:
        for _ in range(count):
            made = make(3, library)  # not an alignment: EINVAL
            assert made[1] == 22  # type: ignore[index]
            one = owner(handle=Text(1 << 20), state=state, address=1 << 40)
            record(one)
            close(one)

    many(10)
    gc.collect()
    before, blocks = [*map(sys.getrefcount, objects)], sys.getallocatedblocks()
    many(1000)
    gc.collect()
    after = [*map(sys.getrefcount, objects)]
    assert all(abs(a - b) < 10 for a, b in zip(after, before, strict=True)), (before, after)
    assert abs(sys.getallocatedblocks() - blocks) < 100
