"""Local memory: what each thread has for itself, the stack of its calls."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .. import fault
from ..addresses import round_up
from ..memory import POISON
from ..undefined_bits import UndefinedBits, distance

if TYPE_CHECKING:
    from ..access import Access, Places
    from ..aliases import U8, U64, Array, DType, Lanes
    from .report import Reporter
    from .threads import Threads
    from .undefined import UndefinedBytes

_STEP = 256


class LocalMemory:
    """The local memory of a batch; `limit` is the most bytes that a thread may have."""

    def __init__(self, threads: Threads, report: Reporter, limit: int, undefined: UndefinedBytes) -> None:
        self._threads, self._report, self._limit = threads, report, limit
        self._undefined = undefined
        self._data: U8 = np.empty(0, np.uint8)
        self._stride = 0
        self._base: U64 = threads.all_lanes.view(np.uint64)
        """Where the memory of each lane starts."""
        self._shadow: UndefinedBits | None = None
        """The undefined bits of each byte, if these are looked for."""

    @property
    def size(self) -> int:
        """Bytes of each lane."""
        return self._stride

    @property
    def shadow_distance(self) -> int:
        """How far behind the memory its undefined bits lie in this process; 0 if there are none."""
        return distance(self._shadow, self._data)

    def addresses(self) -> U64:
        """Where that of each lane lies in this process."""
        return self._base + np.uint64(self._data.__array_interface__["data"][0])

    def reserve(self, size: int) -> None:
        """Have at least `size` bytes for each thread."""
        if size <= self._stride:
            return
        count, old = self._threads.count, self._stride
        stride = max(round_up(size, _STEP), 2 * old)
        grown = np.full((count, stride), POISON, np.uint8)
        grown[:, :old] = self._data.reshape(count, old)
        if self._undefined.is_wanted:
            shadow = UndefinedBits(count * stride)
            if self._shadow is not None:
                shadow.changing().reshape(count, stride)[:, :old] = self._shadow.seen().reshape(count, old)
            self._shadow = shadow
        self._data, self._stride = grown.reshape(-1), stride
        self._base = (self._threads.all_lanes * stride).view(np.uint64)

    def allocate(
        self, frame_end: U64, used: U64, size: Array, align: int, dtype: DType, lanes: Lanes, number: int
    ) -> tuple[Array, U64]:
        """alloca: the address of `size` bytes behind those that are `used` behind the frame, as `dtype`, and
        what is used then; they go when the function returns. Raises Fault.
        """
        size = size.astype(np.uint64)
        start = (frame_end + used + np.uint64(align - 1)) & ~np.uint64(align - 1)
        end = start + size
        bad = (end < start) | (end > np.uint64(self._limit))
        if bad.any():
            more = f"a stack has {self._limit} bytes"
            self._report.fail(
                fault.HARDWARE_STACK_ERROR, "Stack overflow", number, lanes, bad, size, more=more
            )
        self.reserve(int(end.max()))
        return start.astype(dtype), end - frame_end

    def at(self, a: U64, access: Access, lanes: Lanes) -> Places:
        """The places of addresses, which count from the start of each thread's memory. Raises Fault."""
        size = access.size
        if not a.ndim:
            high = bits = int(a)
        else:
            high, bits = int(a.max()), int(np.bitwise_or.reduce(a))
        if high + size > self._stride or bits & (size - 1):
            refuse(self._report, "thread", "__local__", a, access, self._stride, lanes)
        offset = a + (self._base if lanes is None else self._base.take(lanes))
        if self._shadow is not None:
            where = offset.view(np.int64)
            self._undefined.access(self._shadow, where, a, access, lanes, "__local__ memory")
        return self._data.view(access.dtype), (offset >> access.shift).view(np.int64)


def refuse(
    report: Reporter, owner: str, space: str, a: U64, access: Access, limit: int, lanes: Lanes, hint: str = ""
) -> None:
    """Raise the Fault of addresses outside of their owner's `limit` bytes, or of misaligned ones."""
    every, size, number = np.atleast_1d(a), access.size, access.number
    what = f"{space} {access.verb}"
    outside = (every > np.uint64(limit)) | (every + np.uint64(size) > np.uint64(limit))
    more = f"the {owner}'s {space} memory has {limit} bytes{hint}"
    if outside.any():
        report.fail(fault.ILLEGAL_ADDRESS, f"Invalid {what}", number, lanes, outside, every, size, more)
    misaligned = every & np.uint64(size - 1) != 0
    report.fail(fault.MISALIGNED_ADDRESS, f"Misaligned {what}", number, lanes, misaligned, every, size, more)
