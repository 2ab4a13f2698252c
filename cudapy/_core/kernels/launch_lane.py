"""The fast lane of `launch`: the launches of a kernel whose arguments have the types of its last launch.

`_ffi.lanes` says what a fast lane is. This one has a routine of its own, `launch_code.ROUTINE`. It looks at
the three objects that each launch takes, a Stream, a LaunchConfig and a Kernel, and at what the kernel keeps
for the types of its last launch: the ARGUMENTs. It builds the CUlaunchConfig, the values and the table of
pointers to them on its stack, so that launches of several threads share nothing, and calls cuLaunchKernelEx.

Every other launch goes on to the Python function: other types, closed objects, GraphBuilders and streams of
other libraries, numbers that do not fit, objects whose value only Python knows. A failure is told by the
function that `install` got.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

from ..._ffi import lanes
from ..._ffi.codes import SIGNED
from ..._ffi.lane_layout import memory_of, word_of, words
from ..._ffi.lane_types import is_plain_storage
from ...driver import CUstream
from ..memory.buffer import Buffer
from ..streams.stream import Stream
from .kernel import Kernel
from .launch_code import ROUTINE
from .launch_config import LaunchConfig

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .arguments import Encoding

MOST_ARGUMENTS, MOST_BYTES = 64, 1024
"""Of the launches that have a lane: so much room there is on its stack."""

OF_PYTHON = (
    "int", "none", "monitors", "thread", "tracers_at", "code_at", "storage_at", "bytes_at", "no_digits",
    "one_digit", "two_digits", "items_at", "save_thread", "restore_thread", "incref", "decref", "from_signed",
    "call",
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
NO_LANE: Lane = struct.pack("=Q", (1 << 63) - 1), None  # a count that no launch has


def install(launch: Callable[..., None], failed: Callable[..., None]) -> bool:
    """Give `launch` its lane; False if there can be none in this process.

    failed: called with (status, kernel, config, stream); it raises.
    """
    common = lanes.lanes()
    if common is None or not _is_as_expected(common.context):
        return False
    stream: Any = object.__new__(Stream)
    config: Any = object.__new__(LaunchConfig)
    kernel: Any = object.__new__(Kernel)
    mark, more = object(), object()
    stream._handle = config._shape = kernel._lane = mark
    config._more = more
    minus_one, minus_two = -(1 << 29), -(1 << 59)
    found = {
        **common.context,
        "code": lanes.immortal(launch.__code__),
        "failed": lanes.immortal(failed),
        "minus_one_digit": words(minus_one)[TAG_AT // 8],
        "minus_two_digits": words(minus_two)[TAG_AT // 8],
        "kernel": lanes.immortal(Kernel),
        "kept_at": word_of(kernel, id(mark), "what a kernel keeps"),
        "stream": lanes.immortal(Stream),
        "handle_at": word_of(stream, id(mark), "the handle of a stream"),
        "handle": lanes.immortal(CUstream),
        "config": lanes.immortal(LaunchConfig),
        "shape_at": word_of(config, id(mark), "the shape of a launch"),
        "more_at": word_of(config, id(more), "the attributes of a launch"),
    }
    return common.enter(launch, ROUTINE, SHARED, found)


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
    ends = [offset + each.size for offset, each in zip(offsets, encodings, strict=True)]
    grow = all(end <= start for end, start in zip(ends, offsets[1:], strict=False))
    if called is None or len(args) > MOST_ARGUMENTS or not grow or (ends and ends[-1] > MOST_BYTES):
        return NO_LANE
    words = [len(args), function, *called]
    for value, each, offset in zip(args, encodings, offsets, strict=True):
        how = _how(value, each)
        if how is None:
            return NO_LANE
        kind, at, limit, least = how
        words += kind, id(type(value)), at, limit, least, offset
    return struct.pack(f"={len(words)}Q", *words), (c_function, *map(type, args))


def _how(value: Any, encoding: Encoding) -> tuple[int, int, int, int] | None:
    """The kind of an argument, where its value is, and the limits; None if only Python can pack it."""
    cls, size, codes = type(value), encoding.size, encoding.codes
    if value is None:
        return NULL, 0, 0, 0
    if isinstance(value, Buffer):
        return (ADDRESS, _address_at(), 2**64 - 1, 0) if getattr(cls, Buffer._vital) is _ADDRESS else None
    if isinstance(value, int) and codes in SIGNED.values():
        return INTEGER, 0, 2 ** (8 * size) - 1, 2 ** (8 * size - 1)
    if cls in (int, bool) and codes in ("f", "d"):
        return INT_TO_SINGLE if codes == "f" else INT_TO_DOUBLE, 0, _EXACT, _EXACT
    if cls is float and codes == "f":
        return SINGLE, VALUE_AT, 0, 0
    if (cls is float and codes == "d") or (cls is complex and codes == "dd"):
        return INLINE, VALUE_AT, size, 0
    if is_plain_storage(cls):
        return STORED, 0, size, 0
    if cls.__module__ == "numpy" and not cls.__flags__ & _STATIC and hasattr(value, "tobytes"):
        is_there = cls.__basicsize__ >= VALUE_AT + size and value.dtype.kind in "biufcmM"
        if is_there and memory_of(value, VALUE_AT, size) == value.tobytes():
            return INLINE, VALUE_AT, size, 0
    return None


def _address_at() -> int:
    """Where a Buffer has its address."""
    buffer, mark = object.__new__(Buffer), object()
    slots: Any = buffer
    slots._address = mark
    return word_of(buffer, id(mark), "the address of a buffer")
