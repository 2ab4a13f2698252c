"""Global memory: allocations of the device, found by address."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .. import fault
from .access import START, Access, Scattered, mark_or_check

if TYPE_CHECKING:
    from ..aliases import U64, Bools, Lanes
    from ..device import Device
    from ..memory import Allocation
    from .access import Places
    from .report import Reporter
    from .threads import Threads


class GlobalMemory:
    """What the threads of a batch see of the allocations of its device."""

    def __init__(self, threads: Threads, report: Reporter, device: Device) -> None:
        self._threads, self._report = threads, report
        self.allocations = device.memory
        self._origin = device.origin

    def at(self, a: U64, access: Access, lanes: Lanes) -> Places:
        """The places of addresses. Raises Fault."""
        size = access.size
        if not a.ndim:
            low = high = bits = int(a)
        else:
            low, high, bits = int(a.min()), int(a.max()), int(np.bitwise_or.reduce(a))
        found = self.allocations.find(low)
        if found is None or high + size > found.end or bits & (size - 1):
            return self.across(a, access, lanes)
        if found.reach is not None:
            self._check_reach(found, a, access, lanes)
        array, start = found.view(access.dtype)
        if found.written is not None:
            self._check_written(found, found.written, a, access, lanes)
        if not a.ndim:
            return array, np.int64((low - start) // access.dtype.itemsize)
        return array, ((a - np.uint64(start)) >> access.shift).view(np.int64)

    def across(self, a: U64, access: Access, lanes: Lanes) -> Places:
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
            found = self.allocations.find(int(starts[one]))
            assert found is not None
            if found.reach is not None:
                self._check_reach(found, every, access, lanes)
            array, start = found.view(access.dtype)
            if found.written is not None:
                chosen = self._threads.numbers(lanes)[positions]
                self._check_written(found, found.written, every[positions], access, chosen)
            index = (every[positions] - np.uint64(start)) // np.uint64(access.dtype.itemsize)
            scattered.add((array, index.view(np.int64)), positions)
        return scattered, START

    def read_string(self, address: int) -> str:
        """A C string."""
        found = self.allocations.find(address)
        if found is None:
            return f"(bad string address {address:#x})"
        data = found.data[address - found.address :]
        end = np.flatnonzero(data == 0)
        return bytes(data[: end[0] if len(end) else None]).decode("utf-8", "replace")

    def _check_reach(self, found: Allocation, a: U64, access: Access, lanes: Lanes) -> None:
        if found.reach is not None and not found.reach(self._origin):
            text = f"Invalid __global__ {access.verb}"
            more = f"in {found!r}, to which this device was given no access"
            self._report.fail(fault.ILLEGAL_ADDRESS, text, access.number, lanes, True, a, access.size, more)

    def _check_written(self, found: Allocation, written: Bools, a: U64, access: Access, lanes: Lanes) -> None:
        offset = (np.atleast_1d(a) - np.uint64(found.address)).view(np.int64)
        what = f"__global__ {found.kind} memory"
        mark_or_check(self._report, written, offset, a, access, lanes, what)
