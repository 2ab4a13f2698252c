"""Classes whose calls go to their `__new__` by machine code: the same happens as without."""

from __future__ import annotations

import ctypes
import functools
import operator
import sys
from collections.abc import Callable
from types import MethodType
from typing import Any
from unittest import mock

import pytest

from .stub import module
from .test_lanes import _switched_on as _switched_on
from .test_lanes import lanes, needs_lanes
from .threads import at_once

pytestmark = needs_lanes
calls = module("_ffi.status_calls")
layout = module("_ffi.lane_layout")
WITH_ROOM = 1 << 63  # PY_VECTORCALL_ARGUMENTS_OFFSET


PROTOCOL = ctypes.PYFUNCTYPE(
    ctypes.py_object, ctypes.py_object, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p
)


def plain() -> Any:
    """A class that says what its `__new__` got, by position and by name."""

    class Called:
        def __new__(cls, first: Any = 1, *more: Any, named: Any = None, **names: Any) -> Any:
            if first is None:
                raise KeyError("none")
            if first == "object":
                return object.__new__(cls)
            return cls.__name__, first, more, named, names

    return Called


def fast() -> Any:
    """The same, called by machine code."""
    cls = plain()
    calls.give_class_lane(cls)
    assert vectorcall(cls)
    return cls


def vectorcall(cls: Any) -> int:
    at: int = layout.class_layout()[0]
    return ctypes.c_uint64.from_address(id(cls) + at).value


def by_protocol(cls: Any, *arguments: Any, room: bool = True, names: tuple[str, ...] = ()) -> Any:
    """What the vectorcall of a class returns. The word before the arguments is the same afterwards."""
    words = (ctypes.c_uint64 * (1 + len(arguments)))(0x1234, *map(id, arguments))
    count = len(arguments) - len(names) | (WITH_ROOM if room else 0)
    result = PROTOCOL(vectorcall(cls))(cls, ctypes.addressof(words) + 8, count, id(names) if names else 0)
    assert words[0] == 0x1234
    return result


CALLS: list[Callable[[Any], Any]] = [
    lambda cls: cls(),
    lambda cls: cls(2),
    lambda cls: cls(2, 3, 4),
    lambda cls: cls(first=2),
    lambda cls: cls(2, named=3),
    lambda cls: cls(2, 3, other=4, named=5),
    lambda cls: cls(*range(3)),
    lambda cls: cls(*range(20_000)),
    lambda cls: cls(*[2, 3], named=4),
    lambda cls: cls(2, first=3),
    lambda cls: cls(None),
    lambda cls: type(cls("object")).__name__,
    lambda cls: list(map(cls, range(3), range(3))),
    lambda cls: sorted([3, 1, 2], key=cls),
    lambda cls: functools.partial(cls, 2)(3, named=4),
    lambda cls: functools.reduce(cls, [1, 2, 3]),
    lambda cls: MethodType(cls, 2)(3),
    lambda cls: operator.call(cls, 2) if hasattr(operator, "call") else cls(2),
    lambda cls: type.__call__(cls, 2, named=3),
    lambda cls: cls.__call__(2),
    lambda cls: cls.__new__(cls, 2),
    lambda cls: type("Derived", (cls,), {})(2, named=3),
    lambda cls: type("Derived", (cls,), {"__init__": lambda self, *_: None})("object").__class__.__name__,
]


@pytest.mark.parametrize("number", range(len(CALLS)))
def test_calls_are_what_they_were(number: int) -> None:
    def outcome(cls: Any) -> Any:
        try:
            return CALLS[number](cls)
        except Exception as error:
            return type(error), str(error)

    for _ in range(3):  # from the second on, the interpreter knows the class
        assert outcome(fast()) == outcome(plain())
    quick = fast()
    version = layout.version_of(quick, layout.class_layout()[1])
    for _ in range(50):
        assert outcome(quick) == outcome(plain())
    assert layout.version_of(quick, layout.class_layout()[1]) == version


def test_arguments_and_what_is_before_them() -> None:
    cls = fast()
    for room in (True, False):
        assert by_protocol(cls, room=room) == ("Called", 1, (), None, {})
        assert by_protocol(cls, 2, 3, room=room) == ("Called", 2, (3,), None, {})
        assert by_protocol(cls, 2, 4, 5, room=room, names=("named", "x")) == ("Called", 2, (), 4, {"x": 5})
        with pytest.raises(KeyError):
            by_protocol(cls, None, room=room)


def test_what_is_before_the_arguments_without_room() -> None:
    """It belongs to somebody else, during the call as well."""

    class Called:
        def __new__(cls, address: int) -> Any:
            return ctypes.c_uint64.from_address(address).value

    calls.give_class_lane(Called)
    words = (ctypes.c_uint64 * 2)(0x1234)
    address = ctypes.addressof(words)
    words[1] = id(address)
    assert PROTOCOL(vectorcall(Called))(Called, address + 8, 1, None) == 0x1234


def test_a_class_that_somebody_changes() -> None:
    cls = fast()
    original = cls.__dict__["__new__"]
    with mock.patch.object(cls, "__new__", lambda cls, *arguments: ("patched", *arguments)):
        assert (cls(), cls(2), [*map(cls, [3])]) == (("patched",), ("patched", 2), [("patched", 3)])
    assert cls(2) == ("Called", 2, (), None, {})
    cls = fast()
    cls.__init__ = lambda self, *arguments: setattr(self, "told", arguments)
    assert cls("object").told == ("object",)
    del cls.__init__
    assert not hasattr(cls("object"), "told") and cls(2)[1] == 2
    cls = fast()
    cls.__new__ = original
    cls.note = "of no call"
    assert cls(2) == ("Called", 2, (), None, {})
    cls = fast()
    cls.__new__.__code__ = (lambda cls, *arguments, **names: ("other", arguments, names)).__code__
    assert cls(2, x=3) == ("other", (2,), {"x": 3})


def test_a_base_that_somebody_changes() -> None:
    class Base:
        pass

    class Called(Base):
        def __new__(cls, *arguments: Any) -> Any:
            return object.__new__(cls)

    calls.give_class_lane(Called)
    assert type(Called(2)) is Called
    Base.__init__ = lambda self, *arguments: setattr(self, "told", arguments)  # type: ignore[method-assign]
    assert Called(2).told == (2,)


def test_tools_see_the_function() -> None:
    cls = fast()
    seen: list[tuple[str, str]] = []

    def note(frame: Any, event: str, argument: Any) -> None:
        seen.append((event, frame.f_code.co_name))

    for start in (sys.setprofile, sys.settrace):
        seen.clear()
        start(note)
        try:
            cls(2)
        finally:
            start(None)
        assert seen.count(("call", "__new__")) == 1


def test_errors_have_no_frame_of_ours() -> None:
    cls = fast()
    with pytest.raises(KeyError) as caught:
        cls(None)
    assert [entry.name for entry in caught.traceback] == ["test_errors_have_no_frame_of_ours", "__new__"]


def test_no_reference_is_lost_or_kept() -> None:
    cls, argument = fast(), object()
    before = sys.getrefcount(cls), sys.getrefcount(argument)
    for _ in range(1000):
        cls(argument)
        cls(argument, named=argument)
        cls(*[argument])
        by_protocol(cls, argument)
        with pytest.raises(KeyError):
            cls(None, argument)
    assert (sys.getrefcount(cls), sys.getrefcount(argument)) == before


def test_threads() -> None:
    cls = fast()
    wrong: list[Any] = []

    def work(number: int) -> None:
        for i in range(2000):
            if cls(number, i) != ("Called", number, (i,), None, {}):
                wrong.append((number, i))

    at_once(work, 4)
    assert not wrong


def test_what_is_not_as_expected(monkeypatch: pytest.MonkeyPatch) -> None:
    """Then the class stays as it is."""

    def unknown() -> None:
        raise layout.NoLanes("the version of a class is not where it was expected")

    monkeypatch.setattr(lanes, "class_layout", unknown)
    cls = plain()
    calls.give_class_lane(cls)
    assert not vectorcall(cls) and cls(2)[1] == 2


def test_a_lane_for_what_another_one_leaves() -> None:
    """The first takes an int, of which the result is made; the second one nothing."""

    def get(which: object = None, *more: object) -> object:
        return "left", which, more

    kept = calls.OfThread(lambda number: ("other", number), 3)
    mine = object()
    kept.keep(1, mine)

    def told(status: int, *arguments: object) -> object:
        return "failed", status, arguments

    function = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(lambda cell: 7)
    given: Any = (0, "of thread", kept)
    calls.give_lane(get, None, [(0, calls.SIGNED)], told, gives=(1, "of thread", kept))
    calls.give_lane(get, function, [], told, gives=given, more=True)
    before = sys.getrefcount(mine)
    found = [get(1) for _ in range(100)]
    assert all(each is mine for each in found) and sys.getrefcount(mine) == before + 100
    assert get(2) == ("other", 2) and get(2**31 - 1) == ("other", 2**31 - 1)
    assert get() == ("failed", 7, ()) or lanes.lanes().entry.passes_all
    for wrong in (-1, 2**31, None, 1.0, "1"):
        assert get(wrong) == ("left", wrong, ())
    assert get(1, 2) == ("left", 1, (2,))
