"""A launch as C takes it: the configuration, the values, and a table of pointers to these.

`core.launch`, prepared launches and Triton's kernels have functions that are written here, each for the types
of its arguments: one `struct` call packs all values.
"""

from __future__ import annotations

import ctypes
import struct
from itertools import groupby

from .codegen import function_of_object

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

SHAPE = struct.Struct("=7I4x")
"""The first part of a CUlaunchConfig: the blocks of the grid, the threads of a block, shared memory."""
STREAM = struct.Struct("=Q")
ATTRIBUTES = struct.Struct("=QI4x")
"""The last part: where the attributes are, and how many."""
CONFIG = struct.Struct("=7I4xQQI4x")
"""All of it. Its class, and those beside it, take milliseconds to make."""
PACK_ERRORS = (struct.error, TypeError, OverflowError, AttributeError, LookupError, ValueError)


class Layout:
    """Where the values of a launch lie, in a block behind the table of pointers to them.

    codes: how `struct` packs each; offsets: its place in bytes, in growing order. head: a `struct` format of
    what is packed with the values and lies ahead of them, at 0; the driver gets no pointer to it.
    """

    def __init__(self, codes: Sequence[str], offsets: Sequence[int], head: str = "") -> None:
        pieces, end = [head] * bool(head), struct.calcsize(f"={head}")
        for code, offset in zip(codes, offsets, strict=True):
            pieces += [f"{offset - end}x"] * (offset > end) + [code]
            end = offset + struct.calcsize(f"={code}")
        runs = [(piece, len(list(same))) for piece, same in groupby(pieces)]
        self.struct = struct.Struct(
            "=" + "".join(f"{n}{piece}" if len(piece) == 1 else piece * n for piece, n in runs)
        )
        self.offsets = list(offsets)
        self.base = 8 * (len(codes) + len(codes) % 2)  # values may have to lie at multiples of 16
        self._block = ctypes.c_char * (self.base + self.struct.size + 16)
        self._table = 8 * len(codes)
        self._put = struct.Struct(f"{self._table}s").pack_into
        # The table as one number: the address of the block in each word, and the places.
        places = struct.pack(f"<{len(codes)}Q", *[self.base + offset for offset in offsets])
        self._places = int.from_bytes(places, "little")
        self._each = int.from_bytes(struct.pack("<Q", 1) * len(codes), "little")

    def block(self) -> Any:
        """A table of pointers to the values, and the room for these, at `base`."""
        block = self._block()
        table = ctypes.addressof(block) * self._each + self._places
        self._put(block, 0, table.to_bytes(self._table, "little"))
        return block

    def make(self) -> tuple[Any, Any]:
        """A block: the room for the values, and the table of pointers to them as C takes it."""
        block = self.block()
        return memoryview(block).cast("B")[self.base : self.base + self.struct.size], ctypes.byref(block)

    def head_of(self, room: Any) -> Any:
        """The head in the room of a block, as C takes it."""
        return ctypes.byref(room.obj, self.base)


def launch_function(
    what: str,
    scope: dict[str, Any],
    parameters: str,
    before: Sequence[str],
    slot: str,
    packing: Sequence[str],
    otherwise: Sequence[str],
    call: Sequence[str],
    after: Sequence[str] = (),
) -> Any:
    """The function of a launch, from its lines.

    before: what comes first. slot: names for what `make()` in the scope makes, a tuple with room for the
    values; "": the call needs none. packing: what packs the values, and otherwise: where that raised.
    call: what makes the call and sets `err`; after: what follows once the slot is free.

    A slot is taken from a list and put back: the foreign call gives up the GIL before the driver reads the
    values, so two threads must not share one.
    """
    free: list[Any] = []
    scope.update(pop=free.pop, push=free.append, PACK_ERRORS=PACK_ERRORS)
    packed = attempt(packing, otherwise) if packing else []
    taken = ["try:", f"    {slot} = slot = pop()", "except IndexError:", f"    {slot} = slot = make()"]
    body = [*before, *(taken if slot else []), *packed, *call, *(["push(slot)"] if slot else []), *after]
    source = f"def run({parameters}):\n" + "".join(f"{line}\n" for line in _indented(body))
    return function_of_object("run", source, f"cudapy launch of {what}", scope)


def attempt(packing: Sequence[str], otherwise: Sequence[str]) -> list[str]:
    """The lines that pack values, and others where that raises."""
    return ["try:", *_indented(packing), "except PACK_ERRORS:", *_indented(otherwise)]


def _indented(lines: Sequence[str]) -> list[str]:
    return [f"    {line}" for line in lines]
