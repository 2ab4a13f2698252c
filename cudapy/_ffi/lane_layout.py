"""Where CPython keeps what the machine code of the fast lane reads: looked up in objects made for that."""

from __future__ import annotations

import ctypes
import struct
import sys
from _weakref import ref
from functools import cache
from types import MemberDescriptorType

from .enums import EnumType
from .handles import Pointer, maker

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

PAGE = 4096
CONTEXT = (
    "int", "none", "monitors", "thread", "thread_id", "tracers_at", "code_at", "storage_at", "bytes_at",
    "tag_at", "digits_at", "no_digits", "one_digit", "two_digits", "items_at", "save_thread",
    "restore_thread", "incref", "decref", "tuple_new", "from_signed", "from_unsigned", "from_float",
    "from_text", "get_item", "allocate", "call", "empty", "from_size", "list", "tuple", "enum_type",
    "weak_at", "dict_at", "true", "false", "hash_at",
    "values_at", "small",
)  # fmt: skip
"""The words that all functions share: objects, where objects have what, and functions of CPython's C API."""

_api: Any = getattr(ctypes, "pythonapi", None)


class NoLanes(Exception):
    """Why there are none in this process."""


def words(obj: Any) -> Any:
    """The words of an object, as many as all objects of its class have; it must be kept."""
    return (ctypes.c_uint64 * (type(obj).__basicsize__ // 8)).from_address(id(obj))


def _the_only(found: list[int], what: str) -> int:
    if len(found) != 1:
        raise NoLanes(f"{what} is not where it was expected")
    return found[0]


def word_of(obj: Any, value: int, what: str) -> int:
    """Where in an object there is a word, in bytes."""
    return _the_only([8 * i for i, word in enumerate(words(obj)) if word == value], what)


def memory_of(obj: Any, at: int, size: int) -> bytes:
    """What an object has in its memory from `at` on."""
    return ctypes.string_at(id(obj) + at, size)


def _address(name: str) -> int:
    return ctypes.cast(_api[name], ctypes.c_void_p).value or 0


def _watchers() -> dict[str, int]:
    """Where CPython has whether a tool watches calls: from 3.12 on for all threads, before that for each."""
    monitoring: Any = getattr(sys, "monitoring", None)
    tools = map(monitoring.get_tool, range(6)) if monitoring else ()
    if any(tools) or sys.gettrace() or sys.getprofile():
        raise NoLanes("a profiler, tracer or tool of sys.monitoring is active")
    get = _api.PyInterpreterState_Get
    main = _api.PyInterpreterState_Main
    get.restype = main.restype = ctypes.c_void_p
    interpreter: int = get()
    if interpreter != main():
        raise NoLanes("this is not the main interpreter")
    if monitoring:
        return {"monitors": _monitors(monitoring, interpreter), "tracers_at": 0}
    return {"monitors": 0, "tracers_at": _tracers_at()}


_CHANGES = [[False] * 4, [True, False, True, False], [False, True, False, True]]


def _tracers_at() -> int:
    """Where the state of a thread has the C functions of a profiler and of a tracer; their objects follow."""
    get = _api.PyThreadState_Get
    get.restype = ctypes.c_void_p
    state = (ctypes.c_uint64 * 40).from_address(get())

    def profiler(*_: object) -> None: ...

    def tracer(*_: object) -> None: ...

    idle = [*state]
    sys.setprofile(profiler)
    profiled = [*state]
    sys.setprofile(None)
    sys.settrace(tracer)
    traced = [*state]
    sys.settrace(None)
    for at in range(len(idle) - 3):
        each = [words[at : at + 4] for words in (idle, profiled, traced)]
        changes = [[*map(bool, words)] for words in each]
        objects = each[1][2], each[2][3]
        if changes == _CHANGES and objects == (id(profiler), id(tracer)):
            return 8 * at
    raise NoLanes("the tracers of a thread are not where they were expected")


def _monitors(monitoring: Any, interpreter: int) -> int:
    """Where the interpreter has which tools get which events: 8 bytes, of the events from PY_START on."""
    tool = 3
    monitoring.use_tool_id(tool, __name__)
    monitoring.set_events(tool, 0xFF)
    try:
        place = _search(interpreter, bytes([1 << tool]) * 8)
    finally:
        monitoring.set_events(tool, 0)
        monitoring.free_tool_id(tool)
    if not place or _mapped(place, 8) != bytes(8):
        raise NoLanes("the events of sys.monitoring are not where they were expected")
    return place


_HINTS = (381744, 193136, 223240)  # in 3.12.1, 3.13.0 and 3.14.10
_FARTHEST = 1 << 20


def _search(start: int, mark: bytes) -> int:
    """Where in the memory from `start` on there is a mark; 0 if it is not found."""
    for hint in _HINTS:
        if _mapped(start + hint, len(mark)) == mark:
            return start + hint
    found, piece = b"", 1 << 16
    while piece >= len(mark) and len(found) < _FARTHEST:
        more = _mapped(start + len(found), piece)
        if not more:  # as far as there is memory
            piece //= 2
            continue
        begin = max(len(found) - len(mark), 0)
        found += more
        place = found.find(mark, begin)
        if place >= 0:
            return start + place
    return 0


def _mapped(address: int, size: int) -> bytes:
    """The bytes at an address; none if there is no memory."""
    from .memory import NotMappedError, read_mapped

    try:
        return read_mapped(address, size)
    except NotMappedError:
        return b""


def context() -> dict[str, int]:
    """The words of CONTEXT."""

    def function() -> None: ...

    cell = ctypes.c_size_t(0x1234_5678)
    none, one, two, negative = 0, 1 << 29, (1 << 59) + 12345, -(1 << 29)
    small = words(7)[2] ^ words(one)[2]  # from 3.14 on ints that CPython has once have another tag
    tags = [words(number)[2] | small for number in (none, one, two)]
    digits = [ctypes.c_uint32.from_address(id(two) + 24 + 4 * i).value for i in range(2)]
    if (
        int.__basicsize__ != 24
        or len({*tags}) != 3
        or ctypes.c_uint32.from_address(id(one) + 24).value != one
        or digits[0] + (digits[1] << 30) != two
        or any(words(number)[2] | small in tags for number in (negative, -7))
        or words(one)[1] != id(int)
    ):
        raise NoLanes("an int does not look as expected")
    text = b"cudapy, fast lane"
    bytes_at = bytes.__basicsize__ - 1
    if ctypes.string_at(id(text) + bytes_at, len(text) + 1) != text + b"\0" or words(text)[2] != len(text):
        raise NoLanes("bytes do not look as expected")
    pair = (text, none)
    more = [*pair, pair]
    if words(more)[2] != 3 or ctypes.string_at(words(more)[3], 24) != struct.pack("3Q", *map(id, more)):
        raise NoLanes("a list does not look as expected")
    items_at = tuple.__basicsize__
    if [ctypes.c_uint64.from_address(id(pair) + items_at + 8 * i).value for i in range(2)] != [
        *map(id, pair)
    ]:
        raise NoLanes("a tuple does not look as expected")
    return {
        "int": id(int),
        "none": id(None),
        "true": id(True),
        "false": id(False),
        "empty": id(()),
        "list": id(list),
        "tuple": id(tuple),
        "enum_type": id(EnumType),
        **_references(),
        **_watchers(),
        "thread": _address("PyThreadState_Get"),
        "thread_id": _address("PyThreadState_GetID"),
        "code_at": word_of(function, id(function.__code__), "the code of a function"),
        "storage_at": word_of(cell, ctypes.addressof(cell), "the storage of a ctypes object"),
        "bytes_at": bytes_at,
        "tag_at": 16,
        "digits_at": 24,
        "small": small,
        "no_digits": tags[0],
        "one_digit": tags[1],
        "two_digits": tags[2],
        "save_thread": _address("PyEval_SaveThread"),
        "restore_thread": _address("PyEval_RestoreThread"),
        "incref": _address("Py_IncRef"),
        "decref": _address("Py_DecRef"),
        "tuple_new": _address("PyTuple_New"),
        "items_at": items_at,
        "hash_at": _hash_at(),
        "from_float": _address("PyFloat_FromDouble"),
        "from_size": _address("PyBytes_FromStringAndSize"),
        "from_text": _address("PyBytes_FromString"),
        "from_signed": _address("PyLong_FromLongLong"),
        "from_unsigned": _address("PyLong_FromUnsignedLongLong"),
        "get_item": _address("PyObject_GetItem"),
        "allocate": _address("PyType_GenericAlloc"),
        "call": _address("PyObject_VectorcallDict"),
    }


def references_of(cls: Any) -> tuple[int, int, int]:
    """Where the objects of a class have their weak references and their attributes, in bytes.

    From 3.14 on there may be attributes behind the object, after a word that says how many: where that is; or
    0.
    """
    in_front = -24  # of a type whose attributes CPython manages: before what the garbage collector has
    attributes = cls.__dictoffset__ if cls.__dictoffset__ > 0 else in_front
    return cls.__weakrefoffset__, attributes, cls.__basicsize__ if cls.__flags__ & _INLINE_VALUES else 0


_INLINE_VALUES = 4
NO_VALUES = 0x10100
"""Of the word before attributes, without its first byte: there are 0, in the object, and they are valid."""


def _references() -> dict[str, int]:
    """Where handles have these, and have 0, or NO_VALUES, as long as there are none."""
    weak_at, dict_at, values_at = references_of(Pointer)
    made = maker(Pointer)()
    weak, attributes = (ctypes.c_uint64.from_address(id(made) + at) for at in (weak_at, dict_at))
    values = (
        ctypes.c_uint32.from_address(id(made) + values_at + 1) if values_at else ctypes.c_uint32(NO_VALUES)
    )
    before = weak.value, attributes.value, values.value
    noted, made.noted = ref(made), ()
    changed = attributes.value or values.value != NO_VALUES
    if before != (0, 0, NO_VALUES) or not weak.value or not changed or noted() is not made:
        raise NoLanes("what refers to a handle is not where it was expected")
    return {"weak_at": weak_at % 2**64, "dict_at": dict_at % 2**64, "values_at": values_at}


def _hash_at() -> int:
    """Where a tuple keeps its hash, from 3.14 on, or -1 as long as nobody asked for that; 0: it does not."""
    pair: Any = object(), 0
    number, at = hash(pair), tuple.__basicsize__ - 8
    known = ctypes.c_int64.from_address(id(pair) + at).value
    if known != number:
        return 0
    if ctypes.c_int64.from_address(id((object(), 1)) + at).value != -1:
        raise NoLanes("the hash of a tuple is not where it was expected")
    return at


def new_of(cls: Any) -> int:
    """The C function that makes an object of a class, called as (class, empty tuple, 0)."""
    get = _api.PyType_GetSlot
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_int]
    return int(get(cls, _TP_NEW) or 0)


_TP_NEW = 65


@cache
def class_layout() -> tuple[int, int, int]:
    """Where a class has its vectorcall, which is 0, and its version; and what calls it without that."""

    class Probe: ...

    at = words(type)[_VECTORCALL_OFFSET]
    if at % 8 or not 0 < at < type.__basicsize__ or words(Probe)[at // 8] or not words(list)[at // 8]:
        raise NoLanes("the vectorcall of a class is not where it was expected")
    seen = []
    for value in range(3):
        version_of(Probe, 0)
        seen.append([*words(Probe)])
        Probe.__new__ = value  # type: ignore[assignment,method-assign]
        seen.append([*words(Probe)])
    columns = enumerate(zip(*seen, strict=True))
    places = [8 * i for i, (a, x, b, y, c, z) in columns if x == y == z < a < b < c]
    return at, _the_only(places, "the version of a class"), _address("_PyObject_MakeTpCall")


_VECTORCALL_OFFSET = 7  # a word of a type


def version_of(cls: Any, at: int) -> int:
    """The version of a class, another one once it was changed; 0: it has none."""
    hasattr(cls, "__new__")  # gives it one
    version: int = words(cls)[at // 8]
    return version


def thread_id() -> int:
    """What tells this thread from all others that were and will be."""
    get, number = _api.PyThreadState_Get, _api.PyThreadState_GetID
    get.restype, number.restype, number.argtypes = ctypes.c_void_p, ctypes.c_uint64, [ctypes.c_void_p]
    return int(number(get()))


def slot_at(cls: type, name: str) -> int:
    """Where the objects of a class have what is in one of their `__slots__`, in bytes."""
    found = _slots_of(cls).get(name)
    if found is None:
        raise NoLanes(f"{name} of a {cls.__name__} is not where it was expected")
    return found


@cache
def _slots_of(cls: type) -> dict[str, int]:
    """Where the objects of a class have all that is in their `__slots__`, but for what is there twice."""
    probe: Any = object.__new__(cls)
    names = [name for base in cls.__mro__ for name in base.__dict__.get("__slots__", ())]
    slots = {name: slot for name in names if type(slot := getattr(cls, name, None)) is MemberDescriptorType}
    for slot in slots.values():
        slot.__set__(probe, slot)
    places: dict[int, list[int]] = {}
    for i, word in enumerate(words(probe)):
        places.setdefault(word, []).append(8 * i)
    for slot in slots.values():
        slot.__delete__(probe)
    return {name: places[id(slot)][0] for name, slot in slots.items() if len(places.get(id(slot), ())) == 1}


def length_at(container: Any) -> int:
    """The address of how many items a list, deque, set or dict has."""
    cls: Any = type(container)
    return id(container) + _length_of(cls)


@cache
def _length_of(cls: Any) -> int:
    count = 77
    items = range(count + 1)
    probe = cls(dict.fromkeys(items) if issubclass(cls, dict) else items)
    getattr(probe, "popitem", probe.pop)()  # what has room for it still has
    return word_of(probe, count, f"the length of a {cls.__name__}")
