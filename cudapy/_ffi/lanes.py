"""The fast lane: declared functions called without a step of Python.

A call of a declared function comes to machine code (`lane_entries` says how), which looks at the arguments.
If there are as many as C has inputs, all by position, and each is what people pass most often (an int that
fits, a handle or an enum of the very class, None), it calls C and makes the result. Anything else goes on to
the function's own code, which says what is wrong. The function object stays what it is.

The machine code is one routine (`lane_code.ROUTINE`), the same for all functions and in all processes. What a
function takes and returns is in a table of numbers. Between the two there is a stub for each function, which
loads the address of its table. The routine and the stubs are written before their pages are made executable.

`environment.FAST_LANE` switches lanes off. Where Python keeps what the routine reads is looked up in
objects made for that, not assumed; then functions of libc are called in that way. If anything is other than
expected, there are no lanes: see `why_not`.

While a tool of `sys.monitoring`, a profiler or a tracer is active, and once somebody gave a function another
`__code__`, calls go to the function's own code.
"""

from __future__ import annotations

import _ctypes
import ctypes
import os
import struct
import sys
from _thread import RLock
from typing import NamedTuple

from .._process import environment, forks
from .._process.interrupt_safe import finalizer
from .enums import Enum
from .handles import Handle, Int, Pointer, Thunk, entry, maker
from .lane_code import CLASS_CALL, FIRST_CALL, NUMBER_ITSELF, ROUTINE
from .lane_entries import Forwarder, Vectorcall, python_of
from .lane_entries import called_for as called_for
from .lane_layout import (
    CONTEXT,
    PAGE,
    NoLanes,
    class_layout,
    context,
    new_of,
    references_of,
    slot_at,
    version_of,
    words,
)
from .lane_recipes import NO_LANE, OF_ATTRIBUTE, SLOTS, ZERO, Recipes, Rows, result_of
from .lane_types import (
    ADDRESS,
    ARRAY,
    BYTES,
    INTEGER,
    NONE,
    NUMBERS,
    OBJECT,
    RESULTS,
    UNSEEN,
    argument,
    result,
)
from .lazy_types import find
from .prototypes import public_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any, TypeVar

    from .lane_types import Argument, Result
    from .library import Declaration, Library
    from .snake_case import Face

    M = TypeVar("M", bound=Callable[..., Any])

TESTED = ((3, 10), (3, 11), (3, 12), (3, 13), (3, 14))
"""The versions of CPython that have lanes: those on which the tests have run."""

STUB = 16  # bytes
STUBS = PAGE // STUB
MOST_BLOCKS = 16

FUNCTION = (
    "slow", "code", "count", "inputs", "parts", "arguments", "results", "outputs", "c", "locked", "on_stack",
    "only", "room", "first", "failed", "kept", "special", "number_in", "last", "sized", "found", "second",
    "returned", "guards", "asked", "notes", "only_noted", "again", "times",
    "expected", "chosen", "required",
    "state_at", "state", "gone_at", "copied", "copy_size", "handle_at", "also_at", "number_at",
    "wrapper", "wrapper_size", "owner_at", "same_at",
)  # fmt: skip
"""The words of a function's table.

slow: the vectorcall of functions; code: its code object, of which the lane does the same; count: of
arguments, which no call has while the lane is closed; inputs: how many there are; arguments, outputs:
addresses of ARGUMENTs and RESULTs; parts, results: how many of those there are; c: the C function; locked:
whether it is called with the GIL; on_stack: how many of its parameters are. After a success it returns
`only`, if there are no results; else a tuple with `room` for `first`, the status, unless that is 0, and the
results; or the one result, if the room is 0. After a failure it calls `failed` with the status and the
arguments. kept: 0, or the last tuple: if nothing else has it any more, it is the next one, too.
number_in: where in such a tuple is the one result, if that is a number, or 0: it stays there while C gives
the `last` one again. special: whether `sized`, or any word behind `found`, is other than 0.

sized: whether bytes have to be as many as a number says. found: the C function, which the end of the routine
puts into `c` in the first call (see `prepare`). second: what is called after a success of the C function,
with the same arguments. returned: which argument is the result: 8 for the first one, 0 for none.
guards: where the addresses of words are that must be 0, before a 0; 0: there are none. asked: a C function
that fills a word, or 0; expected: the slot of the argument that the word must be.
notes: after a success the NOTED handle gets 1 in its note besides what it has, 2: what the NOTING one has; 0:
nothing. only_noted: 0, or guards: unless one of them is other than 0, `second` is called only if the NOTING
handle has a note; one of 1 is 0 from then on. again, times: a status, and how often the C function is called
while it returns that.
chosen: 0, or where it is said which RESULT there is for which attribute: the slot of the attribute, a number
that is higher than all of them, and the address of the RESULT for each, or 0.

required: 0, or where it is said what the first argument, an owner, must have: places in it and objects,
before a 0; its handle is not 0. It gets the object `state` at state_at, and nothing at gone_at unless that
is 0; the C function releases what it owned; its handle is 0 afterwards. The result is None, as it is where
nothing is to be gone and the owner has that state.
copied: an object of which the result is a copy, of copy_size bytes; at handle_at, also_at and number_at it
gets the handle that C fills, the same one again, and its number, each unless that is 0.
wrapper: 0, or an object of which the result is a copy instead, of wrapper_size bytes. At owner_at it gets the
other copy, at same_at the same handle, and the number is its own.
"""


class Released(NamedTuple):
    """Where it is said what an owner must have to be released, and what it has afterwards."""

    required: int
    state_at: int
    state: int
    gone_at: int


NOTHING_RELEASED = Released(0, 0, 0, 0)


def released(cls: type, required: Mapping[str, object], state: object, gone: str) -> tuple[Released, Any]:
    """What is to be known of owners of a class, and the words of what they must have.

    required: by slots, of which the first one has the state.
    """
    known = _state
    assert isinstance(known, _Lanes)
    start, words = known.words(2 * len(required) + 1)
    places = [slot_at(cls, slot) for slot in required]
    for i, (place, obj) in enumerate(zip(places, required.values(), strict=True)):
        words[2 * i], words[2 * i + 1] = place, immortal(obj)
    return Released(start, places[0], immortal(state), slot_at(cls, gone) if gone else 0), words


class Noted(NamedTuple):
    """What a call has to do with notes."""

    notes: int
    only_noted: int
    again: int
    times: int


NOTHING_NOTED = Noted(0, 0, 0, 0)


class Copied(NamedTuple):
    """What the result is a copy of, and where in that go the handle that C fills, and its number.

    wrapper: what it is a copy of instead, and where in that go the owner of the handle, and the handle.
    """

    template: int
    size: int
    handle_at: int
    also_at: int
    number_at: int
    wrapper: int = 0
    wrapper_size: int = 0
    owner_at: int = 0
    same_at: int = 0


NOTHING_COPIED = Copied(0, 0, 0, 0, 0)


def copied(
    template: object,
    slots: Sequence[str],
    number: str,
    wrapper: object = None,
    owner: str = "",
    same: str = "",
) -> Copied:
    """What is to be known of templates without weak references, whose classes have `__slots__` alone."""
    cls, outer = type(template), type(template if wrapper is None else wrapper)
    for each in (cls, outer):
        if each.__dictoffset__ or each.__itemsize__:
            raise TypeError(f"a {each.__name__} has more than slots")
    first, *more = [slot_at(cls, slot) for slot in slots]
    return Copied(
        immortal(template),
        cls.__basicsize__,
        first,
        more[0] if more else 0,
        slot_at(outer, number) if number else 0,
        *_wrapped(wrapper, owner, same),
    )


def _wrapped(wrapper: object, owner: str, same: str) -> tuple[int, ...]:
    cls = type(wrapper)
    return (immortal(wrapper), cls.__basicsize__, slot_at(cls, owner), slot_at(cls, same)) if wrapper else ()


ARGUMENT = ("kind", "class", "limit", "slot", "inside", "size", "place", "step", "width", "less")
"""The words of an Argument. slot, size: in bytes; step: how far the next object is; inside: of an array, the
class of its handles.
"""
RESULT = ("slot", "kind", "object", "template", "size", "kept")
"""Fields of a Result. kind: an index of RESULTS; object: an enum's members, the class of a handle or struct;
template: a null handle, what makes a struct, the list of spare ones, the slot of the number of chars, the
table of a thread. size: of a handle, of the table. kept: 0, or where the two handles of the class are that
were made last, for all functions: one that nothing else has any more, and that nobody gave an attribute or a
weak reference, is the next result.
"""

CLASS = ("function", "entry", "version_at", "version", "thread", "call")
"""The words of a class. function: its `__new__`; entry: what is called for that; version_at: where its
version is; thread, call: PyThreadState_Get, and what calls a class without vectorcall, with its result.
"""

_BASES = ctypes.Structure, ctypes.Union
_NEVER = (1 << 63) - 1  # a count that no call has
_HEAD = len(FUNCTION)
_ENUM, _OF_THREAD, _STRUCT, _SPARE = map(RESULTS.index, ("enum", "of thread", "struct", "spare struct"))
_SLOW, _COUNT, _INPUTS, _C, _FOUND, _LOCKED, _CODE, _CHOSEN, _NUMBER_IN = map(
    FUNCTION.index, ("slow", "count", "inputs", "c", "found", "locked", "code", "chosen", "number_in")
)
_USUAL = FUNCTION.index("found") + 1  # the words that declared functions need
_usual = struct.Struct(f"{_USUAL}Q{8 * (_HEAD - _USUAL)}x").pack
_KIND, _TEMPLATE = map(RESULT.index, ("kind", "template"))
_find_symbol: Any = getattr(_ctypes, "dlsym", None)
_lock = RLock()


@forks.in_child
def _unlock() -> None:
    """In a process that was forked while another thread held it."""
    global _lock
    _lock = RLock()


# -- What stays: machine code may use it longer than modules live ------------------------------------------

_kept: list[Any] = []
if hasattr(ctypes, "pythonapi"):
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(_kept))


def immortal(obj: Any) -> int:
    """The address of an object that is kept for good."""
    _kept.append(obj)
    return id(obj)


class _Words:
    """Words that are kept for good, beside one another."""

    MANY = 4096

    def __init__(self) -> None:
        self._used = self.MANY
        self._memory: Any = None

    def room(self, count: int) -> tuple[int, Any]:
        """The address of so many words, and the words."""
        if self._used + count > self.MANY:
            block = (ctypes.c_uint64 * self.MANY)()
            self._memory, self._used = memoryview(block).cast("B").cast("Q"), 0
            self._start = ctypes.addressof(block)
            immortal(self._memory)
        first, self._used = self._used, self._used + count
        return self._start + 8 * first, self._memory[first : self._used]


# -- Executable memory -----------------------------------------------------------------------------------


_NOP = b"\x90"


def _numbers(first: int, step: int) -> memoryview:
    """A number of four bytes for each stub of a page."""
    numbers = range(first, first + step * STUBS, step)
    return memoryview(struct.pack(f"{STUBS}i", *numbers)).cast("i")


class _Pages:
    """What makes blocks: all have the same stubs, and the same words that functions share."""

    def __init__(self, context: dict[str, int], prologue: bytes) -> None:
        self._libc = libc = ctypes.CDLL(None, use_errno=True)
        libc.mmap.restype = ctypes.c_void_p
        libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
        libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
        self._shared = struct.pack(f"{len(CONTEXT)}Q", *[context[name] for name in CONTEXT])
        code = _NOP + b"\x48\x8b\x05...." + prologue.ljust(3, _NOP) + b"\xe9...."  # mov RAX, [..]; jmp
        stubs = memoryview(bytearray(code * STUBS)).cast("i")
        stubs[1::4] = _numbers(PAGE + len(self._shared) - 8, 8 - STUB)
        stubs[3::4] = _numbers(-PAGE - STUB, -STUB)
        self._stubs = bytes(stubs)

    def block(self, routine: bytes) -> _Block:
        """A block with a routine: a page with that, one of stubs, both executable, and one of words."""
        libc, data = self._libc, 2 * PAGE
        start = libc.mmap(None, 3 * PAGE, 1 | 2, 2 | 0x20, -1, 0)  # read, write; private, anonymous
        if start in (None, 2**64 - 1):
            raise NoLanes("there is no memory for machine code")
        ctypes.memmove(start, routine.ljust(PAGE, b"\xcc") + self._stubs, data)
        ctypes.memmove(start + data, self._shared, len(self._shared))
        if libc.mprotect(start, data, 1 | 4):  # read, execute
            raise NoLanes(f"memory must not become executable: {os.strerror(ctypes.get_errno())}")
        return _Block(start, start + data + len(self._shared))


class _Block:
    """Stubs of a routine, and where the addresses of the tables are that they load: never unmapped."""

    def __init__(self, routine: int, tables: int) -> None:
        self.routine = routine
        self._stubs = routine + PAGE
        self._tables = (ctypes.c_uint64 * STUBS).from_address(tables)
        self.used = 0

    def stub(self, table: int) -> int:
        """The address of a stub for a function's table."""
        stub, self.used = self.used, self.used + 1
        self._tables[stub] = table
        return self._stubs + STUB * stub

    def set_table(self, stub: int, table: int) -> int:
        """Have a stub load another table; its address is returned."""
        self._tables[stub] = table
        return self._stubs + STUB * stub


class Place:
    """A stub of a Routine, for as long as this is kept: by the function, and as long as it may be called."""

    __slots__ = ("_free", "_kept", "stub")

    def __init__(self, stub: tuple[_Block, int], free: list[tuple[_Block, int]], kept: Any) -> None:
        self.stub, self._free, self._kept = stub, free, kept

    @finalizer
    def __del__(self) -> None:
        self._free.append(self.stub)


class Routine:
    """Machine code that functions with words of their own enter, which come and go."""

    def __init__(self, common: _Lanes, routine: bytes) -> None:
        self._common, self._routine = common, routine
        self._free: list[tuple[_Block, int]] = []

    def enter(self, function: Any, words: Sequence[int], kept: Any) -> Place:
        """Have calls of a function enter the routine, with the address of these words in RAX.

        kept: what the routine uses of them.
        """
        memory = (ctypes.c_uint64 * len(words))(*words)
        try:
            block, number = stub = self._free.pop()
        except IndexError:
            block = self._common.pages.block(self._routine)
            self._free += [(block, i) for i in range(1, STUBS)]
            block, number = stub = block, 0
        address = block.set_table(number, ctypes.addressof(memory))
        self._common.entry.enter(function, address, None)
        return Place(stub, self._free, (memory, kept))


class _Lanes:
    """What gives functions their lanes."""

    def __init__(self) -> None:
        self.context = context()
        self.entry = Forwarder() if sys.version_info[:2] == (3, 11) else Vectorcall()
        self.pages = _Pages(self.context, self.entry.prologue)
        self._blocks = [self.pages.block(ROUTINE)]
        self.first_call = self._blocks[0].routine + FIRST_CALL
        self.number_itself = ctypes.PYFUNCTYPE(ctypes.c_int)(self._blocks[0].routine + NUMBER_ITSELF)
        self._classes: _Block | None = None
        self._words = _Words()
        self._templates = {width: self._template(cls) for width, cls in ((4, Int), (8, Pointer))}
        if not self._templates[8][0]:
            raise NoLanes("a handle is not what was expected")
        self._kept_handles: dict[Any, int] = {}
        self._items_at = self.context["items_at"]

    def install(
        self,
        function: Any,
        c_function: Any,
        arguments: list[Argument],
        results: list[Result],
        failed: Callable[..., Any],
        ok: Any,
        alone: bool = False,
        second: int = 0,
        returned: int = 0,
        guards: Sequence[int] = (),
        asked: tuple[int, int] = (0, 0),
        noted: Noted = NOTHING_NOTED,
        released: Released = NOTHING_RELEASED,
        copied: Copied = NOTHING_COPIED,
        before: Any = None,
    ) -> Any:
        """Give a function its lane; return its table, None if it has one or there can be none.

        failed: called with the status, if it is not 0, and the arguments; its result is that of the call.
        ok: what the results follow in a tuple; with `alone` they have none before them, and one is not a
        tuple; the whole result if there are no others.
        second: the address of what is called after a success, with the same arguments, six at most.
        returned: the number of the argument, from 1, that is the result.
        guards: the addresses of words that must be 0.
        asked: the address of a C function that fills a word, and the slot of the argument that this must be.
        noted: what the note of a NOTED or NOTING argument says.
        before: the table of the function's lane, if this one is for calls which that leaves to Python.
        """
        with _lock:
            outputs = [(slot, self.result_words(kind, cls, count)) for slot, kind, cls, count in results]
            block = self._block_with_room()
            is_free = before[_SLOW] == self.entry.plain if before else self.entry.is_free(function)
            if block is None or not all(words for _, words in outputs) or not is_free:
                return None
            code = python_of(function).__code__
            last, is_sized, objects = 0, 0, 0
            rest: list[int] = []
            _kept.extend((code, ok, failed))
            for kind, cls, limit, slot, inside, size, place, step, width, less in arguments:
                at = 0 if cls is None else immortal(cls)
                rest += kind, at, limit, slot, inside, size, place, step, width, less
                objects += step
                is_sized |= size
                if slot > last and not kind & (OBJECT | UNSEEN):
                    last = slot
            for slot, words in outputs:
                rest += slot, *words
                if slot > last:
                    last = slot
            in_c, count, parts = last // 8, len(results), len(arguments)
            address, table = self._words.room(_HEAD + len(rest))
            at = address + 8 * _HEAD
            is_made = count or returned or released.required or copied.template
            special = is_sized or returned or guards or asked[0] or released.required or copied.template
            struct.pack_into(
                f"{len(table)}Q", table, 0,
                self.entry.plain, id(code), _NEVER, objects // 8, parts, at, count,
                at + 8 * len(ARGUMENT) * parts, 0, 0, in_c - 5 if in_c > 5 else 0, 0 if is_made else id(ok),
                0 if alone and count == 1 else count + (not alone), 0 if alone else id(ok), id(failed), 0,
                bool(special), 0, 0, is_sized, 0, second, 8 * returned,
                self.guards(guards) if guards else 0, asked[0], *noted,
                8 * asked[1], 0, *released, *copied, *rest,
            )  # fmt: skip
            set_function(table, c_function)
            if before:
                before[_SLOW] = block.stub(address)
            else:
                self.entry.enter(function, block.stub(address), None)
            return table

    def open(
        self,
        function: Any,
        c_function: Any,
        declaration: Declaration,
        rows: Rows,
        recipe: str,
        failed: Callable[..., Any] | None = None,
        names: tuple[str, ...] | None = None,
        owning: bool = False,
        is_early: bool = False,
    ) -> Any:
        """What `install` does, for a declared function with a recipe.

        c_function: the address of one that returns an int and does not need the GIL, or a function. failed:
        None: the status is the first result, in a failure as well. names: of the parameters, if they are
        passed on by a forwarder. owning: C fills the first argument with the one result, if that is a handle.
        is_early: before the first call.
        """
        letters, more = recipe, ""
        if ":" in recipe:
            letters, _, more = recipe.partition(":")
        arguments: list[bytes] = []
        outputs: list[bytes] = []
        parts = count = place = shift = 0
        for letter in letters:
            row = rows[letter] if letter in rows else rows.make(letter, declaration, place)
            if row is None:
                return None
            before, behind, kind, cls = row
            if kind >= 0:
                arguments += before, SLOTS[place], behind
                parts += 1
            elif not owning:
                outputs += SLOTS[place], behind
                count += 1
            elif shift or not (isinstance(cls, type) and issubclass(cls, Handle)):
                return None
            else:
                arguments[:0] = rows.cell(cls, SLOTS[place])
                shift = len(ARGUMENT)
                parts += 1
            place += 1
        block = self._block_with_room()
        if block is None or (owning and not shift):
            return None
        if failed is None:
            failed, ok = rows.failing(count), rows.success if count else rows.only
            room, first, only = count + 1, id(ok), 0 if count else id(ok)
        else:
            room, first, only = 0 if count == 1 else count, 0, 0 if count else id(None)
        first_output = _HEAD + len(ARGUMENT) * parts
        address, table = self._words.room(first_output + len(RESULT) * count)
        found = c_function if type(c_function) is int else 0
        head = _usual(
            self.entry.plain, id(function.__code__), parts, parts, parts, address + 8 * _HEAD, count,
            address + 8 * first_output, self.first_call if is_early else found, 0,
            place - 6 if place > 6 else 0, only, room, first, id(failed), 0, more != "",
            0, 0, more != "", found,
        )  # fmt: skip
        table[:] = memoryview(head + b"".join(arguments) + b"".join(outputs)).cast("Q")
        if count == 1 and room and table[first_output + _KIND] in NUMBERS:
            table[_NUMBER_IN] = self._items_at + 8 * (first != 0)
        for i in range(0, len(more), 2):
            word = ord(more[i]) - ZERO
            table[word + shift if word >= _HEAD else word] = ord(more[i + 1]) - ZERO
        for slot, letter in enumerate(letters if more else ""):
            *_, kind, types = rows[letter]
            if kind == OF_ATTRIBUTE:
                table[_CHOSEN] = self._chosen(types, 8 * slot, table[first_output + _TEMPLATE])
        _kept.extend((function.__code__, failed))
        if not found:
            set_function(table, c_function)
        if names is None and self.entry.passes_all:
            names = declaration.inputs
        self.entry.enter(function, block.stub(address), names)
        return table

    def _block_with_room(self) -> _Block | None:
        """A block with room for another stub; None if there can be none."""
        block = self._blocks[-1]
        if block.used == STUBS:
            if len(self._blocks) == MOST_BLOCKS:
                return None
            block = self.pages.block(ROUTINE)
            self._blocks.append(block)
        return block

    def enter(self, function: Any, routine: bytes, names: tuple[str, ...], known: dict[str, int]) -> None:
        """Have calls of a function enter a routine of its own, with the address of its words in RAX.

        names: of the words, known: what they are, but for "slow": the vectorcall of functions. A function
        that has a lane, as another thread may have given it, keeps that.
        """
        with _lock:
            if not self.entry.is_free(function):
                return
            address, table = self._words.room(len(names))
            known = {**known, "slow": self.entry.plain}
            struct.pack_into(f"{len(names)}Q", table, 0, *[known[name] for name in names])
            stub = self.pages.block(routine).stub(address)
            self.entry.enter(function, stub, None)

    def enter_class(self, cls: Any) -> None:
        """Have calls of a class without `__init__` go straight to its `__new__`, until it is changed."""
        at, version_at, call = class_layout()
        with _lock:
            vectorcall = ctypes.c_uint64.from_address(id(cls) + at)
            version = version_of(cls, version_at)
            if vectorcall.value or not version:
                return
            if self._classes is None or self._classes.used == STUBS:
                pages = _Pages(self.context, b"") if self.entry.prologue else self.pages
                self._classes = pages.block(CLASS_CALL)
            address, table = self._words.room(len(CLASS))
            of_class = immortal(cls.__new__), self.entry.of(cls.__new__), version_at, version
            struct.pack_into(f"{len(CLASS)}Q", table, 0, *of_class, self.context["thread"], call)
            vectorcall.value = self._classes.stub(address)

    def words(self, count: int) -> tuple[int, Any]:
        """The address of so many words that are kept for good, and the words, which are 0."""
        with _lock:
            return self._words.room(count)

    def guards(self, addresses: Sequence[int]) -> int:
        """Where the addresses of these words are, before a 0."""
        start, words = self.words(len(addresses) + 1)
        for i, address in enumerate(addresses):
            words[i] = address
        return start

    def result_words(self, kind: int, cls: Any, count: int = 0) -> tuple[int, ...]:
        """The words of a RESULT behind its slot; () if there can be none."""
        if cls is None:
            return kind, 0, count, 0, 0
        if kind == _OF_THREAD:
            return kind, immortal(cls.function), cls.address, cls.count, 0
        if kind == _STRUCT:
            return kind, immortal(cls), new_of(_BASES[issubclass(cls, ctypes.Union)]), 0, 0
        if kind == _SPARE:
            return kind, immortal(cls), immortal(cls._spare_), 0, 0
        if kind == _ENUM:
            return kind, immortal(cls._by_value), 0, 0, 0
        template, size = self._templates[ctypes.sizeof(cls)]
        if cls.__basicsize__ != size:
            return ()
        kept = self._kept_handles.get(cls)
        if kept is None:
            used_again = references_of(cls) == references_of(Pointer)
            kept = self._kept_handles[cls] = self.words(2)[0] if used_again else 0
        return kind, immortal(cls), template, size, kept

    def _chosen(self, table: Mapping[Any, Any], slot: int, key: int) -> int:
        """Where it is said which RESULT there is for which attribute.

        table: their types, as `results.Variants` has them. slot, key: where C gets the result's address, and
        the attribute.
        """
        count = max(map(int, table)) + 1
        start, words = self._words.room(2 + count)
        words[0], words[1] = key, count
        known: dict[Any, int] = {}
        for attribute, cls in table.items():
            if cls not in known:
                known[cls], made = 0, result_of(cls)
                if made and (record := self.result_words(*made)):
                    known[cls], room = self._words.room(len(RESULT))
                    for i, word in enumerate((slot, *record)):
                        room[i] = word
            words[2 + int(attribute)] = known[cls]
        return start

    def _template(self, cls: Any) -> tuple[int, int]:
        """A handle that is all zeros, and the size of it; 0, 0 if a copy would not be one of any class."""
        made = maker(cls)()
        size = cls.__basicsize__
        inside = 0 < ctypes.addressof(made) - id(made) <= size - 2 * ctypes.sizeof(made)  # with a note
        at = self.context["storage_at"]
        known = inside and words(made)[at // 8] == ctypes.addressof(made) and size % 8 == 0
        return (immortal(made), size) if known else (0, 0)


def set_function(table: Any, c_function: Any) -> None:
    """Have a lane call a C function. If it cannot, all calls go to the function's own code."""
    table[_COUNT] = _NEVER
    called = (c_function, 0) if type(c_function) is int else callable_by_address(c_function)
    if called is not None:
        _kept.append(c_function)
        table[_FOUND], table[_LOCKED] = called
        table[_COUNT] = table[_INPUTS]
    table[_C] = table[_FOUND]


def is_called(table: Any) -> bool:
    """Whether a lane calls its C function itself, not what notes the first call: see `prepare`."""
    return bool(table[_C] == table[_FOUND])


def close(table: Any) -> None:
    """Have the first call of a lane find the C function, if there was none."""
    if not is_called(table):
        table[_COUNT] = _NEVER


def reopen(table: Any, declaration: Declaration) -> bool:
    """Have a lane whose first call was left to Python call the C function, which is found now.

    Returns whether the lane takes that call now: it was closed. Raises what `attach` raises.
    """
    if is_called(table):
        return False
    was_closed = bool(table[_COUNT] == _NEVER)
    set_function(table, declaration.library.address(_find_symbol, declaration))
    return was_closed


def callable_by_address(c_function: Any) -> tuple[int, int] | None:
    """The address of a C function that returns an int, and whether it needs the GIL; None for another one."""
    if isinstance(c_function, Thunk) and c_function.restype is ctypes.c_int and c_function._flags_ | 4 == 5:
        return entry(c_function), c_function._flags_ & 4
    return None


def set_code(table: Any, function: Any, code: Any, trampoline: Any) -> None:
    """Have a lane leave calls to the code that was written for its function; that replaces the trampoline."""
    from .codegen import install_code

    python = python_of(function)
    if python.__code__ is trampoline:
        install_code(python, code, trampoline)
        table[_CODE] = immortal(python.__code__)


_state: _Lanes | NoLanes | None = None


def lanes() -> _Lanes | None:
    """What gives functions their lanes; None if there are none in this process."""
    global _state
    if _state is None:
        with _lock:
            if _state is None:
                try:
                    _state = _begin()
                except NoLanes as reason:
                    _state = reason.with_traceback(None)  # whose frames have the arguments of a call
                except Exception as error:
                    _state = NoLanes(f"{type(error).__name__}: {error}")
    return _state if isinstance(_state, _Lanes) else None


def why_not() -> str:
    """Why calls have no lanes in this process; "" if they have."""
    return "" if lanes() else str(_state)


def _begin() -> _Lanes:
    if not environment.LANES_WANTED:
        raise NoLanes(f"{environment.FAST_LANE} is 0")
    if sys.platform != "linux" or os.uname().machine != "x86_64" or ctypes.sizeof(ctypes.c_void_p) != 8:
        raise NoLanes("there is machine code for Linux on x86-64 alone")
    if sys.implementation.name != "cpython" or sys.version_info[:2] not in TESTED or sys.abiflags:
        raise NoLanes(
            "there are lanes in CPython " + " and ".join(f"{major}.{minor}" for major, minor in TESTED)
        )
    lanes = _Lanes()
    if not _agrees(lanes):
        raise NoLanes("a call that was tried went wrong")
    return lanes


def _agrees(lanes: _Lanes) -> bool:
    """Whether functions of libc that have a lane do what they should: with ints of all lengths, None, bytes,
    a ctypes object and results, and with what is left to the function's own code.
    """
    libc = ctypes.CDLL(None)
    text = ctypes.create_string_buffer(b"0123456789")
    address = ctypes.addressof(text)
    handle = ctypes.c_size_t(address)

    def compare(*arguments: Any) -> Any:
        return "slow", *arguments

    def scan(*arguments: Any) -> Any:
        return "slow", *arguments

    lanes.install(
        compare,
        libc.memcmp,
        [
            argument(0, INTEGER | NONE, ctypes.c_size_t, 2**64 - 1),
            argument(1, BYTES, bytes, size=3),
            argument(2, INTEGER, limit=2**32),
        ],
        [],
        ok=_agrees,
        failed=lambda status, *arguments: (status > 0, *arguments),
    )
    lanes.install(
        scan,
        libc.sscanf,
        [argument(0, BYTES, bytes), argument(1, BYTES, bytes)],
        [result(2, "signed 4"), result(3, "unsigned 8")],
        ok=None,
        failed=lambda status, *arguments: ("failed", status),
    )
    return (
        compare(address, b"0123456789", 10) is _agrees
        and compare(handle, b"012345678 ", 10) == (True, handle, b"012345678 ", 10)
        and compare(handle, b"012345678z", 10)[0] is False
        and compare(None, b"", 0) is _agrees
        and all(compare(*wrong) == ("slow", *wrong) for wrong in _left(address))
        and scan(b"-12 345", b"%*d%n %*d%n") == (None, 3, 7)
        and scan(b"-12", b"%d%d") == ("failed", 1)
    )


def _left(address: int) -> list[tuple[Any, ...]]:
    """Arguments that a lane leaves to the function's own code."""
    bytes_ = b"0"
    numbers = (-1, 1 << 33, 1 << 60, 1 << 64, True, None, 1.0)
    return [
        (address, bytes_),
        (address, bytearray(bytes_), 1),
        (address, bytes_, 2),
        *((address, bytes_, each) for each in numbers),
    ]


# -- What declarations say -------------------------------------------------------------------------------


def attach(declaration: Declaration, function: Any, raising: bool = False, owning: bool = False) -> Any:
    """Give the function of a declaration its lane, if there is one for what it takes and returns.

    function: what gets it: the stub of the declaration, or one that does the same, with the same parameters.
    raising: whether it returns the results alone, and raises an exception for a failure. owning: it has a
    cell first, for the one result, and returns None.

    Returns its table, None if it got no lane. Raises SymbolNotFound, or what loading the library raises.
    """
    common = _state if type(_state) is _Lanes else lanes()
    if common is None:
        return None
    library = declaration.library
    rows = library.rows
    if rows is None:
        rows = library.rows = _rows(common, declaration)
    if not raising:
        return _attach(common, declaration, function, rows)

    def failed(status: int, *values: Any) -> Any:
        if status == library.pending:
            return None
        if owning:
            cell, *values = values  # type: ignore[assignment]
            cell.value = 0
        shown = map(_as_passed, rows.passed(declaration), values)
        named = dict(zip(declaration.inputs, shown, strict=True))
        raise library.error(public_name(declaration.stub.__name__), rows.status(status), named)

    names = ("cell", *declaration.inputs) if owning else None
    return _attach(common, declaration, function, rows, failed, names, owning)


def attach_face(face: Face, declaration: Declaration, function: Any, names: tuple[str, ...]) -> Any:
    """Like `attach`, for a function of a snake_case face, whose parameters have these names."""
    common = lanes()
    if common is None or len(names) != len(declaration.inputs):
        return None
    rows = face.rows
    if rows is None:
        rows = face.rows = _rows(common, declaration, face.twins)

    def failed(status: int, *values: Any) -> Any:
        if status == declaration.library.pending:
            return None
        raise face.failed(declaration.stub, rows.status(status), names, values)

    return _attach(common, declaration, function, rows, failed, names)


def _rows(common: _Lanes, declaration: Declaration, twins: Mapping[type, Any] | None = None) -> Rows:
    library, scope = declaration.library, declaration.stub.__globals__
    recipes = library.rows.recipes if library.rows else Recipes(library.declared, *library.recipes())
    return Rows(
        recipes,
        find(scope, library.status),
        scope,
        twins,
        library.address_class,
        immortal,
        common.result_words,
    )


def _attach(
    common: _Lanes,
    declaration: Declaration,
    function: Any,
    rows: Rows,
    failed: Callable[..., Any] | None = None,
    names: tuple[str, ...] | None = None,
    owning: bool = False,
) -> Any:
    """Give a function its lane. failed: see `install`; None: what returns the status as well as the results.

    names: what the function calls the parameters of the declaration, if not as that does. owning: it has a
    cell first, for the one result.
    """
    recipe = rows.recipes.get(declaration, NO_LANE)
    if recipe == NO_LANE:
        return None
    library = declaration.library
    c_function = library.address(_find_symbol, declaration)
    with _lock:  # threads whose first calls meet come here for the same function
        tables = library.lanes.get(declaration)
        if tables is None:
            tables = library.lanes[declaration] = {}
        if function not in tables:
            table = common.open(function, c_function, declaration, rows, recipe, failed, names, owning)
            if table is None:
                return None
            tables[function] = table
        elif not is_called(tables[function]):
            set_function(tables[function], c_function)
        return tables[function]


def prepare(library: Library) -> bool:
    """Give the functions that programs call most their lanes before they are called: in the first call of
    their library, which takes hundreds of times as long.

    Otherwise it is as if they had none: those that were called alone count as found, and a lane is closed
    when another library takes the place of this one, until the first call finds the C function there. Left
    out is what the library lacks, what somebody watches or has changed, and what has a lane.
    """
    loaded, common, rows = library.load(), lanes(), library.rows
    library.is_prepared = True
    if common is None or not common.entry.is_quick or type(loaded) is not ctypes.CDLL or library.suffixes():
        return False
    recipes, handle, find_symbol = rows.recipes, loaded._handle, _find_symbol
    with _lock:
        for declaration in recipes.usual:
            function, symbol = declaration.untouched()
            try:
                address = function and find_symbol(handle, symbol)
            except OSError:
                continue
            if address:
                table = common.open(function, address, declaration, rows, recipes[declaration], is_early=True)
                if table is not None:
                    library.add_early(declaration, function, symbol, table)
    return True


def _as_passed(argument: tuple[int, Any], value: Any) -> Any:
    """What the function's own code has made of an argument by the time that the call fails."""
    kind, cls = argument
    if kind & ARRAY:
        from .convert import array  # which few calls need, and fewer that fail

        try:
            return array(value, cls, None, "")
        except Exception:  # the list has changed since
            return value
    if kind & ADDRESS:
        if type(value) is int:
            return ctypes.c_void_p.from_param(value) if value else None
        return ctypes.c_void_p(int(value)) if isinstance(value, (Enum, Handle)) else value
    if isinstance(value, Enum) and type(value) is not cls:
        value = int(value)
    is_handle = cls is not None and issubclass(cls, Handle)
    return cls(value or 0) if is_handle and (value is None or type(value) is int) else value
