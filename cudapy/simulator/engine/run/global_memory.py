"""Global memory: allocations of the device, found by address."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .. import fault
from ..access import START, Access, Scattered, put
from .threads import cached

if TYPE_CHECKING:
    from ..access import Places
    from ..aliases import U64, Array, Lanes
    from ..device import Device
    from ..memory import Allocation
    from .race_detector import RaceDetector
    from .report import Reporter
    from .threads import Threads
    from .undefined import UndefinedBytes

_CHARACTERS = 256
"""Of a string that are looked at together."""
_RUN = 64
"""From so many lanes on it is seen whether they take what lies beside each other."""


class GlobalMemory:
    """What the threads of a batch see of the allocations of its device."""

    def __init__(
        self,
        threads: Threads,
        report: Reporter,
        device: Device,
        races: RaceDetector | None,
        undefined: UndefinedBytes,
    ) -> None:
        self._races, self._undefined = races, undefined
        self._threads, self._report = threads, report
        self.allocations = device.memory
        self._origin = device.origin
        self._offset: Array | None = None
        self._step = 0
        """What was added to an address last so that lane after lane lies so many bytes apart."""

    def at(self, a: U64, access: Access, lanes: Lanes, *values: Array) -> Places:
        """The places of addresses; `values` are about to be stored there. Raises Fault."""
        size = access.size
        first = int(a[0] if a.ndim else a)
        allocation = self.allocations.find(first)
        if allocation is None:
            return self.across(a, access, lanes, *values)
        offset = a - np.uint64(allocation.address)  # what lies before it wraps, far behind its end
        high = bits = int(np.bitwise_or.reduce(offset) if a.ndim else offset)
        if a.ndim and high + size > allocation.size:
            high = int(np.maximum.reduce(offset))
        if allocation.address & (size - 1):
            bits = int(np.bitwise_or.reduce(a) if a.ndim else a)
        if high + size > allocation.size or bits & (size - 1):
            return self.across(a, access, lanes, *values)
        if allocation.reach is not None:
            self.check_reach(allocation, a, access, lanes)
        array, start = allocation.view(access.dtype)
        self.follow_undefined(allocation, a, access, lanes)
        if self._races is not None:
            self._races.in_global(allocation, a, access, lanes, values)
        if not a.ndim:
            return array, np.int64((first - start) // access.dtype.itemsize)
        if start != allocation.address:
            offset = a - np.uint64(start)
        return array, (offset >> access.shift).view(np.int64)

    def load(self, a: U64, access: Access, lanes: Lanes, *terms: Array) -> Array:
        """What lies at addresses, which may be given as the sum of two terms, too; nobody changes the second.
        Raises Fault.
        """
        run = self._run(a, access, terms)
        if run is not None:
            return run.copy()
        array, index = self.at(a, access, lanes)
        return array.take(index)

    def store(self, a: U64, access: Access, value: Array, lanes: Lanes, *terms: Array) -> None:
        """Store values at addresses, as `load`; of several for one the last lane's stays. Raises Fault."""
        run = self._run(a, access, terms)
        if run is not None:
            run[:] = value
            return
        array, index = self.at(a, access, lanes, value)
        put(array, index, value)

    def _run(self, a: U64, access: Access, terms: tuple[Array, ...]) -> Array | None:
        """The piece of memory that the addresses are, lane by lane; None if more is to be checked."""
        size = access.size
        if self._races is not None or not a.ndim or len(a) < _RUN:
            return None
        first, last = int(a[0]), int(a[-1])
        if last - first != (len(a) - 1) * size or first & (size - 1):
            return None
        allocation = self.allocations.find(first)
        if (
            allocation is None
            or last + size > allocation.end
            or allocation.reach
            or allocation.undefined is not None
        ):
            return None
        offset = terms[1] if terms and not terms[0].ndim else None
        if offset is None or offset is not self._offset or size != self._step:
            if not self._is_row(a, first, size):
                return None
            self._offset, self._step = offset, size
        array, start = allocation.view(access.dtype)
        place = (first - start) // size
        return array[place : place + len(a)]

    def _is_row(self, a: U64, first: int, size: int) -> bool:
        """Whether addresses from `first` on are `size` bytes apart."""
        longest = len(a).bit_length()
        steps = cached(
            ("steps", size, longest), lambda: np.arange(1 << longest, dtype=np.uint64) * np.uint64(size)
        )
        return not np.count_nonzero(a - np.uint64(first) != steps[: len(a)])

    def across(self, a: U64, access: Access, lanes: Lanes, *values: Array) -> Places:
        """An access to several allocations, or to what is none."""
        what, number, size = f"__global__ {access.verb}", access.number, access.size
        every = np.atleast_1d(a)
        misaligned = every & np.uint64(size - 1) != 0
        if misaligned.any():
            text = f"Misaligned {what}"
            self._report.fail(fault.MISALIGNED_ADDRESS, text, number, lanes, misaligned, every, size)
        starts, ends = self.allocations.bounds()
        place = np.searchsorted(starts, every, "right").astype(np.int64) - 1
        outside = place < 0
        if len(ends):
            outside |= every + np.uint64(size) > ends[np.maximum(place, 0)]
        outside |= every + np.uint64(size) < every
        if outside.any():
            self._report.fail(fault.ILLEGAL_ADDRESS, f"Invalid {what}", number, lanes, outside, every, size)
        scattered = Scattered(len(every), access.dtype)
        for one in np.unique(place):
            positions = np.flatnonzero(place == one)
            allocation = self.allocations.find(int(starts[one]))
            assert allocation is not None
            if allocation.reach is not None:
                self.check_reach(allocation, every, access, lanes)
            array, start = allocation.view(access.dtype)
            chosen = self._threads.numbers(lanes)[positions]
            self.follow_undefined(allocation, every[positions], access, chosen)
            if self._races is not None:
                stored = tuple(value[positions] if value.ndim else value for value in values)
                self._races.in_global(allocation, every[positions], access, chosen, stored)
            index = (every[positions] - np.uint64(start)) // np.uint64(access.dtype.itemsize)
            scattered.add((array, index.view(np.int64)), positions)
        return scattered, START

    def characters(self, address: int, most: int | None) -> bytes:
        """What lies at an address before a zero or the end of its memory, `most` bytes at most."""
        allocation, text = self.allocations.find(address), bytearray()
        if allocation is None or allocation.team is not None:
            return b""
        data = allocation.data[address - allocation.address :][:most]
        for start in range(0, len(data), _CHARACTERS):
            part, end, _ = bytes(data[start : start + _CHARACTERS]).partition(b"\0")
            text += part
            if end:
                break
        return bytes(text)

    def check_reach(
        self, allocation: Allocation, a: U64, access: Access, lanes: Lanes, is_multimem: bool = False
    ) -> None:
        """Raise Fault unless this device may access memory, with such an instruction."""
        more = ""
        if allocation.team is not None and not is_multimem:
            more = f"in {allocation!r}, which only multimem instructions access"
        elif allocation.reach is not None and not allocation.reach(self._origin):
            more = f"in {allocation!r}, to which this device was given no access"
        if more:
            text = f"Invalid {'multimem' if is_multimem else '__global__'} {access.verb}"
            self._report.fail(fault.ILLEGAL_ADDRESS, text, access.number, lanes, True, a, access.size, more)

    def follow_undefined(self, allocation: Allocation, a: U64, access: Access, lanes: Lanes) -> None:
        """Follow the undefined bytes that an access reads or writes, where they are looked for."""
        bits = allocation.undefined
        if bits is not None:
            offset = (np.atleast_1d(a) - np.uint64(allocation.address)).view(np.int64)
            self._undefined.access(bits, offset, a, access, lanes, f"__global__ {allocation.kind} memory")
