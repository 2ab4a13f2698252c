"""C functions of which a status is all that is needed, called by machine code where there is any.

Core calls them for its own objects, which own what C creates and releases: what the driver's Python functions
check costs more than the call.
"""

from __future__ import annotations

import ctypes
from contextlib import suppress
from types import FunctionType
from typing import NamedTuple

from .._process.interrupt_safe import unchecked_entry
from . import lanes
from .lane_layout import NoLanes, length_at, slot_at, thread_id
from .lane_types import (
    CONSTANT,
    INTEGER,
    MOST_PARAMETERS,
    NOTED,
    NOTING,
    OBJECT,
    PLACE,
    SAME,
    SLOT,
    UNSEEN,
    argument,
    result,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from .lane_types import Argument

UNSIGNED, SIGNED, SIZE = ctypes.c_uint, ctypes.c_int, ctypes.c_size_t
"""The types of numbers, for those who know of no ctypes."""


class Noted(NamedTuple):
    """A parameter of this `kind`, a handle, that gets a note once the call has succeeded: see `note`."""

    kind: Any


class Noting(NamedTuple):
    """A parameter of this `kind`, a handle, whose note is read; a Noted one beside it gets the same one."""

    kind: Any


def status_call(c_function: Any, *takes: Any, fills: Any = None) -> Callable[..., int]:
    """A function that calls `c_function`, and returns its status.

    takes: the types of its parameters, handles and numbers of ctypes, Noted ones as well. The machine code
    takes handles of exactly these classes, and ints for numbers; anything else goes through ctypes. fills:
    the class that it takes first, as itself, for the address of one.
    """
    classes = [getattr(kind, "kind", kind) for kind in takes]
    if fills is not None:
        c_function.argtypes = [ctypes.POINTER(fills), *classes]  # finds the address faster than `byref`
    made = lanes.lanes()
    if made is None or lanes.callable_by_address(c_function) is None:
        call: Callable[..., int] = c_function
        return call

    @unchecked_entry
    def through_ctypes(*arguments: Any) -> Any:
        """One step with its caller, as in the lane."""
        try:
            (status,) = map(c_function, *[(argument,) for argument in arguments])
            for place in noted:
                note(arguments[place])
            return status
        except BaseException:  # the `try`: see interrupt_safe
            raise

    arguments = [] if fills is None else [argument(0, PLACE, fills)]
    noted = [i for i, kind in enumerate(takes, len(arguments)) if type(kind) is Noted]
    arguments += [_argument_of(i, kind, None) for i, kind in enumerate(takes, len(arguments))]
    made.install(through_ctypes, c_function, arguments, [], _status, 0, noted=_notes(takes))
    call = lanes.called_for(through_ctypes)
    return call


def _argument(slot: int, cls: Any, place: int = 0) -> Argument:
    if cls._type_ in "iIlLqQ" and cls.__module__ == ctypes.__name__:
        signed = cls._type_ in "ilq"
        return argument(slot, INTEGER, limit=2 ** (8 * ctypes.sizeof(cls) - signed) - 1, place=place)
    return argument(slot, 0, cls, place=place)


def _status(status: int, *arguments: object) -> int:
    return status


def _notes(kinds: Sequence[Any]) -> lanes.Noted:
    """What a call does with the notes of its parameters, of these kinds."""
    types = set(map(type, kinds))
    return lanes.Noted((Noted in types) + ({Noted, Noting} <= types), 0, 0, 0)


def note(handle: Any, value: int = 1) -> None:
    """Note in a handle that a second function is to be called for it: see `give_lane`. 2: now and always.

    Nothing is noted where there are no lanes, and so nobody reads it: a handle need not have room for it.
    """
    if lanes.lanes() is not None:
        ctypes.c_uint64.from_address(ctypes.addressof(handle) + ctypes.sizeof(handle)).value |= value


class InSlot(NamedTuple):
    """A parameter that is an `owner`, exactly, with the handle for C in the slot `name`.

    more: whether the next one that is said is of the same object.
    """

    owner: type
    name: str
    handle: type
    more: bool = False


class Constant(NamedTuple):
    """What C gets whatever the parameter is. more: as in InSlot."""

    value: int
    more: bool = False


class Same(NamedTuple):
    """A parameter that is this object, which C does not get."""

    obj: object


class Goes(NamedTuple):
    """A parameter that goes into the slot `name` of what the call makes.

    kind: what C gets, as any other parameter; None: nothing. InSlot: nothing, and what the slot has goes.
    """

    name: str
    kind: Any = None


class Asked(NamedTuple):
    """A C function that fills a word, which must be the handle in the first parameter's slot.

    failed: called with its status, if that is not 0; the result is that of the call.
    """

    function: Any
    expected: InSlot
    failed: Callable[[int], Any]


class OfThread:
    """Objects that one thread has to itself, by number: what a call gives it for what C writes.

    function: returns what other threads get for the number, and this one for the others.
    """

    def __init__(self, function: Callable[[int], object], count: int) -> None:
        self.function, self.count = function, count
        self.address, self._words = 0, None
        made = lanes.lanes()
        if made is not None:
            self.address, self._words = made.words(count + 1)

    def keep(self, number: int, obj: object) -> None:
        """Give the calling thread, which is the same one each time and does not end, this object."""
        if self._words is not None and 0 <= number < self.count:
            self._words[1 + number] = lanes.immortal(obj)
            self._words[0] = thread_id()

    def clear(self) -> None:
        """Give no thread anything."""
        if self._words is not None:
            self._words[0] = 0


class Makes(NamedTuple):
    """What a call makes: a copy of `template`, which has in `slots` the handle that C fills, first of all.

    template: an object whose class has `__slots__` alone, and nothing in those that are named here; no
        weak reference to it may be made.
    number: the slot that gets the handle's number, "" for none.
    wrapper: another template, of which the call makes a copy as well, and returns it: in the slot `owner` it
        has the first one, in `same` the handle, and the number is its own.
    """

    template: object
    handle: type
    slots: tuple[str, ...]
    number: str = ""
    wrapper: object = None
    owner: str = ""
    same: str = ""


class Releases(NamedTuple):
    """A call that releases what the first parameter owns, an InSlot. It returns None.

    required: what its slots must have for that; the first of them has its state.
    state: the state that it gets. gone: a slot that has nothing afterwards, "" for none.
    """

    required: Mapping[str, object]
    state: object
    gone: str = ""


def give_lane(
    function: Any,
    c_function: Any,
    takes: Sequence[tuple[int, Any]],
    failed: Callable[..., Any],
    *,
    ok: object = None,
    second: Any = None,
    only_noted: Sequence[Any] = (),
    again: tuple[int, int] = (0, 0),
    gives: tuple[Any, ...] | None = None,
    returned: int = 0,
    makes: Makes | None = None,
    empty: Sequence[Any] = (),
    releases: Releases | None = None,
    asked: Asked | None = None,
    optional: int = 0,
    more: bool = False,
) -> Callable[[object], None]:
    """Give a Python function a lane, where that is possible, that calls a C function of up to six parameters.

    The function does the same; it is called with what the lane does not take.

    c_function: None: the result is made of the number that the function gets.
    takes: of each parameter of Python its place among those of C, and its type: a handle, a number of ctypes,
        InSlot, Constant, Same, or Goes, where the place does not matter if C gets nothing; Noted, Noting.
    failed: called with a status other than 0 and the arguments; its result is that of the call.
    ok: the result of a success, unless `gives` says so: the place of what C writes, and its kind, one of
        `lane_types.RESULTS`, and an OfThread where it is that; or `returned` says which argument that is,
        counted from 1; or `makes`.
    second: a C function that is called after a success, with the same arguments. only_noted: containers: as
        long as all are empty, only if the Noting parameter has a note; one of 1 is deleted before the call.
    again: a status, and how often the C function is called, at most, while it returns that.
    empty: containers that have to be empty.
    optional: how many more parameters there are, which are left out, or None.
    more: whether the lane is for calls that the function's lane does not take.

    Returns what sets the state that `releases` requires; None: no object has it.
    """
    made = lanes.lanes()
    c_function = c_function or (made and made.number_itself)
    if made is None or lanes.callable_by_address(c_function) is None:
        return _nothing
    then = 0
    if second is not None:
        called = lanes.callable_by_address(second)
        if called is None:
            return _nothing
        then = called[0]
        lanes.immortal(second)
    cls = None if makes is None else type(makes.template if makes.wrapper is None else makes.wrapper)
    if optional and made.entry.passes_all:
        takes = [*takes, *[(0, Same(None))] * optional]
    results = [] if gives is None else [result(*gives)]
    copied = lanes.NOTHING_COPIED
    released, words = lanes.NOTHING_RELEASED, [0, 0]
    try:
        arguments = [_argument_of(place, kind, cls) for place, kind in takes]
        asks = 0, 0
        if asked is not None:
            function_at = lanes.callable_by_address(asked.function)
            if function_at is None:
                return _nothing
            lanes.immortal(asked.function)
            kind, *rest = _argument_of(_EXPECTED, asked.expected._replace(more=True), cls)
            arguments.insert(0, (kind | UNSEEN, *rest))
            asks, failed = (function_at[0], _EXPECTED), _told_by(asked.failed, failed)
        if makes is not None:
            results = [result(0, "handle 8", makes.handle)]
            copied = lanes.copied(makes.template, makes.slots, *makes[3:])
        guards, noting = [[length_at(each) for each in containers] for containers in (empty, only_noted)]
        for container in (*empty, *only_noted):
            lanes.immortal(container)
        if releases is not None:
            released, words = lanes.released(takes[0][1].owner, *releases)
    except NoLanes:  # the slots of a class are not where they were expected
        return _nothing
    table = made.install(
        function,
        c_function,
        arguments,
        results,
        failed,
        ok,
        gives is not None,
        second=then,
        returned=returned,
        guards=guards,
        asked=asks,
        noted=lanes.Noted(
            _notes([kind for _, kind in takes])[0], made.guards(noting) if noting else 0, *again
        ),
        released=released,
        copied=copied,
        before=_tables.get(function) if more else None,
    )
    if table:
        _tables[function] = table

    def require(state: object) -> None:
        words[1] = 0 if state is None else lanes.immortal(state)

    return require


_tables: dict[Any, Any] = {}  # of functions, of the last lane of each


def give_class_lane(cls: type) -> None:
    """Have calls of a class without `__init__` go straight to its `__new__`, where that is possible."""
    made = lanes.lanes()
    with suppress(NoLanes):
        if made is not None:
            made.enter_class(cls)


def _told_by(not_told: Callable[[int], Any], failed: Callable[..., Any]) -> Callable[..., Any]:
    """What is called with the status of either function: of the one that is asked, with its sign changed."""

    def told(status: int, *arguments: object) -> Any:
        return not_told(-status) if status < 0 else failed(status, *arguments)

    return told


_EXPECTED, _UNUSED = MOST_PARAMETERS - 2, MOST_PARAMETERS - 1  # slots that no such function has


def _nothing(state: object) -> None:
    """There is no lane."""


def plain_copy(function: Any) -> Any:
    """A function that does the same without a lane, whatever lane the other one gets."""
    copy = FunctionType(function.__code__, function.__globals__, function.__name__, function.__defaults__)
    copy.__kwdefaults__ = function.__kwdefaults__
    return copy


def _argument_of(place: int, kind: Any, made: Any) -> Argument:
    if isinstance(kind, (Noted, Noting)):
        bits, *rest = _argument_of(place, kind.kind, made)
        return (bits | (NOTED if isinstance(kind, Noted) else NOTING), *rest)
    if isinstance(kind, InSlot):
        inside, step = slot_at(kind.owner, kind.name), 0 if kind.more else 8
        return argument(place, SLOT, kind.owner, lanes.immortal(kind.handle), inside=inside, step=step)
    if isinstance(kind, Constant):
        return argument(place, CONSTANT, limit=kind.value, step=0 if kind.more else 8)
    if isinstance(kind, Same):
        return argument(_UNUSED, SAME | UNSEEN, limit=lanes.immortal(kind.obj))
    if isinstance(kind, Goes):
        at, of = slot_at(made, kind.name), kind.kind
        if isinstance(of, InSlot):
            inside, step = slot_at(of.owner, of.name), 0 if of.more else 8
            return argument(_UNUSED, OBJECT, inside=inside, place=at, step=step)
        return argument(_UNUSED, OBJECT, place=at) if of is None else _argument(place, of, at)
    return _argument(place, kind)
