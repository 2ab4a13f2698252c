"""The fast lane: declared functions called without a step of Python.

A Python function is called through its `vectorcall`. That of a declared function becomes machine code, which
looks at the arguments: if there are as many as C has inputs, all by position, and each is what people pass
most often (an int that fits, a handle or an enum of the very class, None), it calls C and makes the result.
Anything else goes on to the vectorcall that the function had, and so to the function's own code, which says
what is wrong. The function object stays what it is.

The machine code is one routine (`lane_code.ROUTINE`), the same for all functions and in all processes. What a
function takes and returns is in a table of numbers. Between the two there is a stub for each function, which
loads the address of its table. The routine and the stubs are written before their pages are made executable.

FAST_LANE switches lanes off. Where Python keeps what the routine reads is looked up in
objects made for that, not assumed; then functions of libc are called in that way. If anything is other than
expected, there are no lanes: see `why_not`.

While a tool of `sys.monitoring`, a profiler or a tracer is active, and once somebody gave a function another
`__code__`, calls go to the function's own code.
"""

from __future__ import annotations

import ctypes
import os
import sys
from _thread import RLock

from .. import _forks
from .enums import Enum
from .handles import Callback, Handle, Thunk, entry, maker
from .library import FAST_LANE
from .scalars import AGGREGATES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .functions import Writer
    from .library import Declaration
    from .prototypes import CParameter

TESTED = ((3, 12), (3, 13))
"""The versions of CPython that have lanes: those on which the tests have run."""

PAGE = 4096
STUB = 16  # bytes
STUBS = PAGE // STUB
MOST_BLOCKS = 16
MOST_PARAMETERS = 16
MOST_RESULTS = 3

CONTEXT = (
    "int", "none", "monitors", "code_at", "storage_at", "bytes_at", "tag_at", "digits_at", "no_digits",
    "one_digit", "two_digits", "save_thread", "restore_thread", "incref", "decref", "tuple_new", "tuple_set",
    "from_signed", "from_unsigned", "get_item", "allocate", "call",
)  # fmt: skip
"""The words that all functions share."""
FUNCTION = (
    "slow", "code", "count", "inputs", "arguments", "results", "outputs", "c", "locked", "on_stack", "only",
    "ok", "failed",
)  # fmt: skip
"""The words of a function's table.

slow: the vectorcall that it had; code: its code object, of which the lane does the same; count: of arguments,
which no call has while the lane is closed; inputs: how many there are; arguments, outputs: addresses of
ARGUMENTs and RESULTs; results: how many there are beside the status; c: the C function; locked: whether it is
called with the GIL; on_stack: how many of its parameters are; only: the tuple for a success without results,
else 0; ok: the status of a success; failed: what makes the tuple for another.
"""
ARGUMENT = ("kind", "class", "limit", "slot")
"""kind: bits, see below; class: that it may have beside int; limit: the highest int; slot: where it goes."""
INTEGER, NONE, ENUM, BYTES, PLACE, NARROW = (1 << i for i in range(6))
"""INTEGER, NONE: may be an int, None. Objects of the class are ints (ENUM), or bytes, or ctypes objects,
passed by their address (PLACE) or by their value, of four bytes (NARROW) or eight.
"""
RESULT = ("slot", "kind", "object", "template", "size")
"""kind: an index of RESULTS; object: an enum's members, a handle's class; template: a handle; its size."""
RESULTS = ("unsigned 4", "unsigned 8", "signed 4", "signed 8", "enum", "handle 4", "handle 8")

_NEVER = (1 << 63) - 1  # a count that no call has
_api: Any = getattr(ctypes, "pythonapi", None)
_lock = RLock()


@_forks.in_child
def _unlock() -> None:
    """In a process that was forked while another thread held it."""
    global _lock
    _lock = RLock()


class NoLanes(Exception):
    """Why there are none in this process."""


def words(obj: Any) -> Any:
    """The words of an object, as many as all objects of its class have."""
    return (ctypes.c_uint64 * (type(obj).__basicsize__ // 8)).from_address(id(obj))


def _the_only(found: list[int], what: str) -> int:
    if len(found) != 1:
        raise NoLanes(f"{what} is not where it was expected")
    return found[0]


def _word_of(obj: Any, value: int, what: str) -> int:
    """Where in an object there is a word, in bytes."""
    return _the_only([8 * i for i, word in enumerate(words(obj)) if word == value], what)


def _address(name: str) -> int:
    return ctypes.cast(_api[name], ctypes.c_void_p).value or 0


def _immortal(obj: Any) -> int:
    """The address of an object that is kept for good: machine code may use it longer than modules live."""
    _api.Py_IncRef(ctypes.py_object(obj))
    return id(obj)


def _table(numbers: list[int]) -> Any:
    """Words that are kept for good."""
    table = (ctypes.c_uint64 * max(len(numbers), 1))(*numbers)
    _immortal(table)
    return table


# -- What Python looks like ------------------------------------------------------------------------------


def _monitors() -> int:
    """Where the interpreter has which tools get which events: 8 bytes, of the events from PY_START on."""
    from .memory import NotMappedError, read_mapped

    monitoring: Any = sys.monitoring  # type: ignore[attr-defined,unused-ignore]
    tools = range(6)
    if any(map(monitoring.get_tool, tools)) or sys.gettrace() or sys.getprofile():
        raise NoLanes("a profiler, tracer or tool of sys.monitoring is active")
    get = _api.PyInterpreterState_Get
    main = _api.PyInterpreterState_Main
    get.restype = main.restype = ctypes.c_void_p
    interpreter: int = get()
    if interpreter != main():
        raise NoLanes("this is not the main interpreter")
    tool = tools[3]
    mark = bytes([1 << tool]) * 8
    monitoring.use_tool_id(tool, __name__)
    monitoring.set_events(tool, 0xFF)
    try:
        place = -1
        for hint in _HINTS:
            if read_mapped(interpreter + hint, 8) == mark:
                place = hint
        if place < 0:
            found = b""
            while len(found) < 1 << 20:
                found += read_mapped(interpreter + len(found), PAGE)
                place = found.find(mark)
                if place >= 0:
                    break
    except NotMappedError:
        place = -1
    finally:
        monitoring.set_events(tool, 0)
        monitoring.free_tool_id(tool)
    if place < 0 or read_mapped(interpreter + place, 8) != bytes(8):
        raise NoLanes("the events of sys.monitoring are not where they were expected")
    return interpreter + place


_HINTS = (381744, 193136)  # of 3.12.1 and 3.13.0


def _context() -> dict[str, int]:
    """The words of CONTEXT."""

    def function() -> None: ...

    cell = ctypes.c_size_t(0x1234_5678)
    none, one, two = 0, 1 << 29, (1 << 59) + 12345
    tags = [words(number)[2] for number in (none, one, two)]
    digits = [ctypes.c_uint32.from_address(id(two) + 24 + 4 * i).value for i in range(2)]
    if (
        int.__basicsize__ != 24
        or len({*tags}) != 3
        or ctypes.c_uint32.from_address(id(one) + 24).value != one
        or digits[0] + (digits[1] << 30) != two
        or words(-one)[2] in tags
        or words(one)[1] != id(int)
    ):
        raise NoLanes("an int does not look as expected")
    text = b"cudapy, fast lane"
    bytes_at = bytes.__basicsize__ - 1
    if ctypes.string_at(id(text) + bytes_at, len(text) + 1) != text + b"\0":
        raise NoLanes("bytes do not look as expected")
    return {
        "int": id(int),
        "none": id(None),
        "monitors": _monitors(),
        "code_at": _word_of(function, id(function.__code__), "the code of a function"),
        "storage_at": _word_of(cell, ctypes.addressof(cell), "the storage of a ctypes object"),
        "bytes_at": bytes_at,
        "tag_at": 16,
        "digits_at": 24,
        "no_digits": tags[0],
        "one_digit": tags[1],
        "two_digits": tags[2],
        "save_thread": _address("PyEval_SaveThread"),
        "restore_thread": _address("PyEval_RestoreThread"),
        "incref": _address("Py_IncRef"),
        "decref": _address("Py_DecRef"),
        "tuple_new": _address("PyTuple_New"),
        "tuple_set": _address("PyTuple_SetItem"),
        "from_signed": _address("PyLong_FromLongLong"),
        "from_unsigned": _address("PyLong_FromUnsignedLongLong"),
        "get_item": _address("PyObject_GetItem"),
        "allocate": _address("PyType_GenericAlloc"),
        "call": _address("PyObject_CallFunctionObjArgs"),
    }


def _vectorcall_at() -> int:
    """Where a function has its vectorcall, in words."""

    def function() -> None: ...

    before = [*words(function)]
    mark = 0x1234_5678_1234_5678
    _set_vectorcall(function, mark)
    at = _word_of(function, mark, "the vectorcall of a function") // 8
    words(function)[at] = before[at]
    return at


def _set_vectorcall(function: Any, address: int) -> None:
    call = _api.PyFunction_SetVectorcall
    call.argtypes, call.restype = [ctypes.py_object, ctypes.c_void_p], None
    call(function, address)


# -- Executable memory -----------------------------------------------------------------------------------


class _Block:
    """A page with the routine, one of stubs, both executable, and one of words: never unmapped."""

    def __init__(self, context: dict[str, int]) -> None:
        from .lane_code import ROUTINE

        libc = ctypes.CDLL(None, use_errno=True)
        libc.mmap.restype = ctypes.c_void_p
        libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
        libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
        start = libc.mmap(None, 3 * PAGE, 1 | 2, 2 | 0x20, -1, 0)  # read, write; private, anonymous
        if start in (None, 2**64 - 1):
            raise NoLanes("there is no memory for machine code")
        data = 2 * PAGE
        first = data + 8 * len(CONTEXT)
        code = bytearray(ROUTINE.ljust(PAGE, b"\xcc"))
        for i in range(STUBS):
            at = PAGE + STUB * i
            code += b"\x48\x8b\x05" + (first + 8 * i - at - 7).to_bytes(4, "little")  # mov RAX, [RIP + ..]
            code += (
                b"\xe9" + (-at - 12).to_bytes(4, "little", signed=True) + b"\xcc" * 4
            )  # jmp to the routine
        ctypes.memmove(start, bytes(code), len(code))
        ctypes.memmove(start + data, _table([context[name] for name in CONTEXT]), 8 * len(CONTEXT))
        if libc.mprotect(start, 2 * PAGE, 1 | 4):  # read, execute
            raise NoLanes(f"memory must not become executable: {os.strerror(ctypes.get_errno())}")
        self._stubs: int = start + PAGE
        self._tables = (ctypes.c_uint64 * STUBS).from_address(start + first)
        self.used = 0

    def stub(self, table: int) -> int:
        """The address of a stub for a function's table."""
        self._tables[self.used] = table
        self.used += 1
        return self._stubs + STUB * (self.used - 1)


class _Lanes:
    """What gives functions their lanes."""

    def __init__(self) -> None:
        self._context = _context()
        self._vectorcall = _vectorcall_at()
        self._plain = words(lambda: None)[self._vectorcall]
        self._blocks = [_Block(self._context)]

    def install(self, function: Any, c_function: Any, arguments: Any, results: Any, **rest: Any) -> Any:
        """Give a function its lane; return its table, None if it has one or there are too many."""
        block = self._blocks[-1]
        if words(function)[self._vectorcall] != self._plain:
            return None
        if block.used == STUBS:
            if len(self._blocks) == MOST_BLOCKS:
                return None
            block = _Block(self._context)
            self._blocks.append(block)
        entries = {
            "slow": self._plain,
            "code": _immortal(function.__code__),
            "inputs": len(arguments),
            "arguments": ctypes.addressof(_table([word for each in arguments for word in each])),
            "results": len(results),
            "outputs": ctypes.addressof(_table([word for each in results for word in each])),
            "on_stack": max(len(arguments) + len(results) - 6, 0),
            **rest,
        }
        table = _table([0] * len(FUNCTION))
        for name, value in entries.items():
            table[FUNCTION.index(name)] = value
        set_function(table, c_function)
        _set_vectorcall(function, block.stub(ctypes.addressof(table)))
        return table

    def template(self, cls: Any) -> tuple[int, int] | None:
        """A handle of a class that is all zeros, and the size of those; None if a copy would not be one."""
        made = maker(cls)()
        size = cls.__basicsize__
        inside = 0 < ctypes.addressof(made) - id(made) <= size - ctypes.sizeof(made)
        at = self._context["storage_at"]
        known = inside and words(made)[at // 8] == ctypes.addressof(made) and size % 8 == 0
        return (_immortal(made), size) if known else None


def set_function(table: Any, c_function: Any) -> None:
    """Have a lane call a C function. If it cannot, all calls go to the function's own code."""
    flags = getattr(type(c_function), "_flags_", 0)
    count = FUNCTION.index("count")
    table[count] = _NEVER
    if isinstance(c_function, Thunk) and flags | 4 == 1 | 4 and c_function.restype is ctypes.c_int:
        _immortal(c_function)
        table[FUNCTION.index("c")] = entry(c_function)
        table[FUNCTION.index("locked")] = flags & 4
        table[count] = table[FUNCTION.index("inputs")]


_state: _Lanes | NoLanes | None = None


def _lanes() -> _Lanes | None:
    global _state
    if _state is None:
        with _lock:
            if _state is None:
                try:
                    _state = _begin()
                except NoLanes as reason:
                    _state = reason
                except Exception as error:
                    _state = NoLanes(f"{type(error).__name__}: {error}")
    return _state if isinstance(_state, _Lanes) else None


def why_not() -> str:
    """Why calls have no lanes in this process; "" if they have."""
    return "" if _lanes() else str(_state)


def _begin() -> _Lanes:
    if os.environ.get(FAST_LANE) == "0":
        raise NoLanes(f"{FAST_LANE} is 0")
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
            (INTEGER | NONE, id(ctypes.c_size_t), 2**64 - 1, 0),
            (BYTES, id(bytes), 0, 8),
            (INTEGER, 0, 2**32, 16),
        ],
        [],
        only=id(_agrees),
        ok=0,
        failed=_immortal(lambda status: status > 0),
    )
    lanes.install(
        scan,
        libc.sscanf,
        [(BYTES, id(bytes), 0, 0), (BYTES, id(bytes), 0, 8)],
        [(16, RESULTS.index("signed 4"), 0, 0, 0), (24, RESULTS.index("unsigned 8"), 0, 0, 0)],
        only=0,
        ok=id(None),
        failed=_immortal(lambda status: ("failed", status)),
    )
    return (
        compare(address, b"0123456789", 10) is _agrees
        and compare(handle, b"012345678 ", 10) is True
        and compare(handle, b"012345678z", 10) is False
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
        *((address, bytes_, each) for each in numbers),
    ]


# -- What declarations say -------------------------------------------------------------------------------


def attach(declaration: Declaration, function: Any = None) -> None:
    """Give a declared function that has its own code a lane, if there is one for what it takes and returns.

    function: another one that does the same, with the same parameters.
    """
    lanes = _lanes()
    if lanes is None:
        return
    writer = declaration.writer()
    described = _described(lanes, writer, declaration)
    if described is None:
        return
    arguments, results = described
    library = declaration.library
    kind, count = writer.scope[library.status], len(results)

    def failed(number: int) -> tuple[Any, ...]:
        return kind(number), *[None] * count

    with _lock:
        table = lanes.install(
            function or declaration.stub,
            writer.scope[writer.c_name],
            arguments,
            results,
            only=0 if results else _immortal(writer.scope[f"_{library.status}_only"]),
            ok=_immortal(writer.scope[f"_{library.status}_ok"]),
            failed=_immortal(failed),
        )
        if table is not None:
            library.lanes.setdefault(writer.c_name, []).append(table)


def _described(lanes: _Lanes, writer: Writer, declaration: Declaration) -> Any:
    """The ARGUMENTs in the order of Python, and the RESULTs; None if a lane is not possible."""
    parameters = writer.prototype.parameters
    if (
        writer.prototype.returns != declaration.library.status
        or len(parameters) > MOST_PARAMETERS
        or declaration.keeps
        or declaration.frees
        or declaration.variants
        or declaration.whole
        or issubclass(writer.scope[declaration.library.status], AGGREGATES)
    ):
        return None
    arguments: dict[str, Any] = {}
    results: list[Any] = []
    for slot, parameter in enumerate(parameters):
        if parameter.name in writer.inputs:
            described = _argument(writer, parameter)
            if described is None:
                return None
            arguments[parameter.name] = (*described, 8 * slot)
        else:
            returned = _result(lanes, writer, parameter)
            if returned is None:
                return None
            results.append((8 * slot, *returned))
    if len(results) > MOST_RESULTS or (results and declaration.library.pending is not None):
        return None
    return [arguments[name] for name in writer.inputs], results


def _argument(writer: Writer, parameter: CParameter) -> tuple[int, int, int] | None:
    """Kind, class and limit of a parameter; None if a lane is not possible."""
    cls, stars, name = writer.type_of(parameter), parameter.stars, parameter.name
    if name in writer.in_place:
        return PLACE, _immortal(cls), 0
    if stars == 0:
        return None if cls is None or issubclass(cls, AGGREGATES) else _value(cls)
    if writer.is_in_out(parameter) or writer.public_name.endswith("ImportFromShareableHandle"):
        return None
    address = (
        (stars == 1 and cls is None) or (stars == 2 and cls is not ctypes.c_char) or name in writer.later
    )
    if address:
        return INTEGER | NONE, 0, 2**64 - 1
    if stars == 1 and cls is ctypes.c_char and parameter.const and name not in writer.sizes:
        return BYTES | NONE, id(bytes), 0
    return None


def _value(cls: Any) -> tuple[int, int, int] | None:
    if issubclass(cls, Handle):
        width = ctypes.sizeof(cls)
        if width not in (4, 8) or issubclass(cls, Callback):
            return None
        signed = cls._type_ in "il"
        narrow = NARROW if width == 4 else 0
        return INTEGER | NONE | narrow, _immortal(cls), 2 ** (8 * width - signed) - 1
    if issubclass(cls, Enum):
        return INTEGER | ENUM, _immortal(cls), 2**32 - 1
    width = ctypes.sizeof(cls)
    if cls._type_ not in "bBhHiIlLqQ":
        return None
    return INTEGER, 0, 2 ** (8 * width - (cls._type_ in "bhilq")) - 1


def _result(lanes: _Lanes, writer: Writer, parameter: CParameter) -> tuple[int, int, int, int] | None:
    """Kind, object, template and size of a result; None if a lane is not possible."""
    cls, stars = writer.type_of(parameter), parameter.stars
    if cls is None or parameter.name in writer.sizes or cls is ctypes.c_char or issubclass(cls, AGGREGATES):
        return None
    if issubclass(cls, Handle):
        width = ctypes.sizeof(cls)
        if (stars != 1 and parameter.type == cls.__name__) or width not in (4, 8):
            return None
        template = lanes.template(cls)
        return template and (RESULTS.index(f"handle {width}"), _immortal(cls), *template)
    if stars != 1:
        return None
    if issubclass(cls, Enum):
        return RESULTS.index("enum"), _immortal(cls._by_value), 0, 0
    if cls._type_ not in "iIlLqQ":
        return None
    sign = "signed" if cls._type_ in "ilq" else "unsigned"
    return RESULTS.index(f"{sign} {ctypes.sizeof(cls)}"), 0, 0, 0
