"""The fast lane of `launch`: the launches of a kernel whose arguments have the types of its last launch.

`_ffi.lanes` says what a fast lane is. This one has a routine of its own, `launch_code.ROUTINE`. It looks at
the three objects that each launch takes, a Stream, a LaunchConfig and a Kernel, and at what the kernel keeps
for the types of its last launch: the ARGUMENTs. It builds the CUlaunchConfig, the values and the table of
pointers to them on its stack, so that launches of several threads share nothing, and calls cuLaunchKernelEx.

Every other launch goes on to the Python function: other types, closed objects, GraphBuilders and streams of
other libraries, numbers that do not fit, objects whose value only Python knows. A failure is told by the
function that `install` got.

The function of a prepared launch has a routine as well, `launch_code.PREPARED_ROUTINE`, which sets the
arguments of a graph and runs it.
"""

from __future__ import annotations

import functools
import struct
from typing import TYPE_CHECKING, Any

from ..._ffi import lanes
from ..._ffi.codes import SIGNED
from ..._ffi.lane_layout import length_at, memory_of, slot_at, words
from ..._ffi.lane_types import is_plain_storage
from ...driver import CUstream
from ..memory.buffer import Buffer
from ..streams.stream import Stream
from .arguments import Encoding, keep
from .kernel import NO_LANE, Kernel
from .launch_code import PREPARED_ROUTINE, ROUTINE
from .launch_config import LaunchConfig

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

MOST_ARGUMENTS, MOST_BYTES = 512, 4096
"""Of the launches that have a lane: so much room there is on its stack."""

OF_PYTHON = (
    "int", "none", "monitors", "thread", "tracers_at", "code_at", "storage_at", "bytes_at", "no_digits",
    "one_digit", "two_digits", "items_at", "save_thread", "restore_thread", "incref", "decref", "from_signed",
    "call", "small",
)  # fmt: skip
"""Words of `lanes.CONTEXT`."""
SHARED = (
    *OF_PYTHON, "slow", "code", "failed", "minus_one_digit", "minus_two_digits", "kernel", "kept_at",
    "stream", "handle_at", "handle", "config", "shape_at", "more_at",
)  # fmt: skip
"""The words that all launches share: objects, and where objects have what, in bytes.

slow: the vectorcall that the function had; code: its code object, of which the lane does the same; failed:
called with the status of a failure, the kernel, the config and the stream.
"""
PREPARED = (
    "shared", "code", "busy", "captures", "is_capturing", "stream", "get_current", "context", "locked",
    "set_arguments", "executable", "node", "run_graph", "where", *(f"parameters {i}" for i in range(9)),
    "count",
)  # fmt: skip
"""The words of a prepared launch, which its ARGUMENTs follow.

shared: where SHARED is; code: of its function; busy: whether its graph is in use; captures: where it is said
how many reasons there are to ask whether the stream is captured; is_capturing: cuStreamIsCapturing; stream:
where its handle is, nothing once it is closed; get_current: cuCtxGetCurrent, or 0, and the context that it
has to name; locked: whether C is called with the GIL; set_arguments: cuGraphExecKernelNodeSetParams, and what
it takes; run_graph: cuGraphLaunch; where: the stream; parameters: a CUDA_KERNEL_NODE_PARAMS; count: how many
ARGUMENTs there are.
"""
TABLE_IN_PARAMETERS = 5
KERNEL = ("count", "function", "c", "locked")
"""The words of a kernel, which its ARGUMENTs follow: how many there are, what C takes of the kernel, the C
function, and whether that is called with the GIL.
"""
ARGUMENT = ("kind", "class", "at", "limit", "least", "offset")
"""kind: see below; class: of the object; at: where in it the value is; limit: the highest number, or how many
bytes; least: how far below zero; offset: where the value goes. Offsets grow: eight bytes are written of each.
"""
ADDRESS, INTEGER, INT_TO_SINGLE, INT_TO_DOUBLE, INLINE, SINGLE, STORED, NULL = range(8)
"""The value is: the int in a slot; an int, as it is or as a float; bytes of the object; those of a double,
which become a float; bytes in the storage of a ctypes object; 0.
"""
DIGITS_AT, TAG_AT = 24, 16  # of an int
VALUE_AT = 16  # of a float, a complex and a NumPy scalar: behind the head that each object has

_ADDRESS = vars(Buffer)[Buffer._vital]  # its slot
_EXACT = 1 << 53  # up to here a double has every int
_STATIC = 1 << 9  # a class without this flag was made in C
Lane = tuple[Any, ...]


def install(launch: Callable[..., None], failed: Callable[..., None]) -> bool:
    """Give `launch` its lane, unless it has it; False if there can be none in this process.

    failed: called with (status, kernel, config, stream); it raises.
    """
    common = lanes.lanes()
    if common is None or not _is_as_expected(common.context):
        return False
    code, refused = lanes.immortal(launch.__code__), lanes.immortal(failed)
    common.enter(launch, ROUTINE, SHARED, {**_shared(common), "code": code, "failed": refused})
    return True


def _shared(common: Any) -> dict[str, int]:
    """The words that all launches share, but for those of `launch` itself."""
    minus_one, minus_two, small = -(1 << 29), -(1 << 59), common.context["small"]
    return {
        **common.context,
        "minus_one_digit": words(minus_one)[TAG_AT // 8] | small,
        "minus_two_digits": words(minus_two)[TAG_AT // 8] | small,
        "kernel": lanes.immortal(Kernel),
        "kept_at": slot_at(Kernel, "_lane"),
        "stream": lanes.immortal(Stream),
        "handle_at": slot_at(Stream, "_handle"),
        "handle": lanes.immortal(CUstream),
        "config": lanes.immortal(LaunchConfig),
        "shape_at": slot_at(LaunchConfig, "_shape"),
        "more_at": slot_at(LaunchConfig, "_more"),
    }


def _is_as_expected(context: dict[str, int]) -> bool:
    value = 0.1
    is_int = (context["tag_at"], context["digits_at"]) == (TAG_AT, DIGITS_AT)
    return is_int and memory_of(value, VALUE_AT, 8) == struct.pack("=d", value)


def lane_of(
    function: int, c_function: Any, args: Sequence[Any], encodings: Sequence[Encoding], offsets: Sequence[int]
) -> Lane:
    """What a kernel keeps for launches with arguments of the types of `args`; NO_LANE if there can be none.

    function: the kernel's handle. c_function: cuLaunchKernelEx.
    """
    called = lanes.callable_by_address(c_function)
    told = _arguments(args, encodings, offsets)
    if called is None or told is None:
        return NO_LANE
    words = [len(args), function, *called, *told]
    return struct.pack(f"={len(words)}Q", *words), (c_function, *map(type, args))


_kept: dict[Any, tuple[int, int, int, int] | None] = {}  # what `_how` returned


def _arguments(
    args: Sequence[Any], encodings: Sequence[Encoding], offsets: Sequence[int]
) -> list[int] | None:
    """The words of all ARGUMENTs; None if one of them is only for Python, or there is no room for them."""
    words: list[int] = []
    end = 0
    for value, each, offset in zip(args, encodings, offsets, strict=True):
        key = type(value), each.codes
        how = _kept.get(key) or keep(_kept, key, _how(value, each))
        if how is None or offset < end:
            return None
        end = offset + each.size
        kind, at, limit, least = how
        words += kind, id(type(value)), at, limit, least, offset
    return words if len(args) <= MOST_ARGUMENTS and end <= MOST_BYTES else None


class Graph:
    """What a prepared launch runs: an executable graph of one node, in a stream of a context.

    parameters: a CUDA_KERNEL_NODE_PARAMS, its bytes. looks: whether the current context has to be `context`.
    """

    __slots__ = ("context", "executable", "looks", "node", "parameters", "stream")

    def __init__(
        self, executable: int, node: int, parameters: bytes, stream: Stream, context: int, looks: bool
    ) -> None:  # no NamedTuple, which compiles a function when launches have their first
        self.executable, self.node, self.parameters = executable, node, parameters
        self.stream, self.context, self.looks = stream, context, looks


def prepared_lane(
    function: Callable[..., None],
    c_functions: dict[str, Any],
    captures: Any,
    graph: Graph,
    args: Sequence[Any],
    encodings: Sequence[Encoding],
    offsets: Sequence[int],
) -> lanes.Place | None:
    """Give the function of a prepared launch its lane; what is returned is kept by it. None: it has none.

    c_functions: those of PREPARED, by its names. captures: the container of reasons to look for them. args:
    of the types that the lane takes.
    """
    routine = _prepared()
    called = {name: lanes.callable_by_address(each) for name, each in c_functions.items()}
    told = _arguments(args, encodings, offsets)
    found = {name: each for name, each in called.items() if each is not None}
    locked = {lock for _, lock in found.values()}
    if routine is None or told is None or len(locked) > 1 or len(found) < len(called):
        return None
    known = {name: address for name, (address, _) in found.items()}
    known |= {
        "shared": routine.shared,
        "code": id(function.__code__),
        "captures": length_at(captures),
        "stream": id(graph.stream) + slot_at(Stream, "_handle"),
        "get_current": known["get_current"] * graph.looks,
        "context": graph.context,
        "locked": locked.pop(),
        "executable": graph.executable,
        "node": graph.node,
        "where": int(graph.stream._handle),
        "count": len(args),
        "busy": 0,
        **{f"parameters {i}": word for i, word in enumerate(struct.unpack("=9Q", graph.parameters))},
    }
    kept = function.__code__, captures, graph.stream, c_functions, *map(type, args)
    return routine.enter(function, [*[known[name] for name in PREPARED], *told], kept)


class _Prepared(lanes.Routine):
    """The routine of prepared launches, and where the words are that they share."""

    def __init__(self, common: Any) -> None:
        super().__init__(common, PREPARED_ROUTINE)
        known = {**_shared(common), "slow": common.entry.plain, "code": 0, "failed": 0}
        self.shared, memory = common.words(len(SHARED))
        for i, name in enumerate(SHARED):
            memory[i] = known[name]


@functools.cache
def _prepared() -> _Prepared | None:
    common = lanes.lanes()
    return None if common is None or not _is_as_expected(common.context) else _Prepared(common)


def _how(value: Any, encoding: Encoding) -> tuple[int, int, int, int] | None:
    """The kind of an argument, where its value is, and the limits; None if only Python can pack it."""
    cls, size, codes = type(value), encoding.size, encoding.codes
    if value is None:
        return NULL, 0, 0, 0
    if isinstance(value, Buffer):
        is_slot = getattr(cls, Buffer._vital) is _ADDRESS
        return (ADDRESS, slot_at(Buffer, Buffer._vital), 2**64 - 1, 0) if is_slot else None
    if isinstance(value, int) and codes in SIGNED.values():
        return INTEGER, 0, 2 ** (8 * size) - 1, 2 ** (8 * size - 1)
    if cls in (int, bool) and codes in ("f", "d"):
        return INT_TO_SINGLE if codes == "f" else INT_TO_DOUBLE, 0, _EXACT, _EXACT
    if cls is float and codes == "f":
        return SINGLE, VALUE_AT, 0, 0
    if (cls is float and codes == "d") or (cls is complex and codes == "dd"):
        return INLINE, VALUE_AT, size, 0
    if cls.__module__ == "numpy" and not cls.__flags__ & _STATIC and codes[-1] != "s":
        is_there = cls.__basicsize__ >= VALUE_AT + size
        if is_there and memory_of(value, VALUE_AT, size) == value.tobytes():
            return INLINE, VALUE_AT, size, 0
    if is_plain_storage(cls):
        return STORED, 0, size, 0
    return None
