"""Loads and stores: from addresses to places in arrays, every one of them checked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .. import fault
from . import layout
from .report import Reporter

if TYPE_CHECKING:
    from ..device import Device
    from ..memory import Memory

READ, WRITE, ATOMIC = 0, 1, 2
VERBS = {READ: "read", WRITE: "write", ATOMIC: "atomic"}
_START = np.int64(0)


class Scattered:
    """Memory of several kinds or allocations, seen by the lanes of one access: stands in for an array."""

    def __init__(self, count: int, dtype: Any) -> None:
        self.count = count
        self.dtype = dtype
        self.parts: list[tuple[Any, Any, Any]] = []
        """An array, places in it, and the positions of the lanes that mean them."""

    def add(self, array: Any, index: Any, positions: Any) -> None:
        if isinstance(array, Scattered):
            for inner, places, where in array.parts:
                self.parts.append((inner, places, positions[where]))
        else:
            self.parts.append((array, np.broadcast_to(index, positions.shape), positions))

    def take(self, step: Any) -> Any:
        """What the lanes read, `step` items on."""
        result = np.empty(self.count, self.dtype)
        for array, index, positions in self.parts:
            result[positions] = array.take(index + step)
        return result

    def put(self, step: Any, value: Any) -> None:
        for array, index, positions in self.parts:
            array[index + step] = value[positions] if value.ndim else value


def put(array: Any, index: Any, value: Any) -> None:
    """Store values; of several for one place the last lane's stays."""
    if isinstance(array, Scattered):
        array.put(index, value)
    elif index.ndim or not value.ndim:
        array[index] = value
    else:
        array[index] = value[-1]


class Access(Reporter):
    """The part of a batch that reaches memory. `lanes` is None for all of them."""

    memory: Memory
    device: Device
    shared: Any
    shared_size: int
    """Bytes of one block."""
    shared_stride: int
    local: Any
    shared_base: Any
    """Where the shared memory of each lane's block starts."""
    _shared_views: dict[Any, Any]
    local_stride: int
    local_base: Any
    """Where the local memory of each lane starts."""
    local_written: Any
    """A bool for each byte of local memory, where somebody asked."""
    watch: Any
    """Looks for races and unwritten memory; None if nobody asked."""

    def shared_view(self, dtype: Any) -> Any:
        """The shared memory of all blocks as an array of `dtype`."""
        view = self._shared_views.get(dtype)
        if view is None:
            view = self._shared_views[dtype] = self.shared.view(dtype)
        return view

    def mark_or_check(
        self, written: Any, offset: Any, a: Any, size: int, lanes: Any, number: int, mode: int, what: str
    ) -> None:
        """Mark bytes as written, or check that bytes read are."""
        first = np.atleast_1d(offset)
        width = min(size, 8)  # of so many bytes at once
        if (int(np.bitwise_or.reduce(first)) | len(written)) & (width - 1):
            width = 1
        words, all_written = written.view(f"u{width}"), int.from_bytes(b"\1" * width, "little")
        places = first // width + np.arange(size // width)[:, None]
        if mode == WRITE:
            words[places] = all_written
            return
        bad = (words.take(places) != all_written).any(0)
        if bad.any():
            text = f"Read of {what} that nobody wrote"
            self.fail(fault.LAUNCH_FAILED, text, number, lanes, bad if len(bad) > 1 else bad[0], a, size)

    def at_global(
        self, a: Any, dtype: Any, count: int, lanes: Any, number: int, mode: int
    ) -> tuple[Any, Any]:
        size = dtype.itemsize * count
        if not a.ndim:
            low = high = bits = int(a)
        else:
            low, high, bits = int(a.min()), int(a.max()), int(np.bitwise_or.reduce(a))
        found = self.memory.find(low)
        if found is None or high + size > found.end or bits & (size - 1):
            return self._across(a, dtype, size, lanes, number, mode)
        if found.reach is not None:
            self._reach(found, a, size, lanes, number, mode)
        array, start = found.view(dtype)
        if found.written is not None:
            self._written(found, a, size, lanes, number, mode)
        if not a.ndim:
            return array, np.int64((low - start) // dtype.itemsize)
        return array, ((a - np.uint64(start)) >> np.uint64(dtype.itemsize.bit_length() - 1)).view(np.int64)

    def _across(self, a: Any, dtype: Any, size: int, lanes: Any, number: int, mode: int) -> tuple[Any, Any]:
        """An access to several allocations, or to what is none."""
        what = f"__global__ {VERBS[mode]}"
        every = np.atleast_1d(a)
        crooked = every & np.uint64(size - 1) != 0
        if crooked.any():
            self.fail(fault.MISALIGNED_ADDRESS, f"Misaligned {what}", number, lanes, crooked, every, size)
        starts, ends = self.memory.bounds()
        place = np.searchsorted(starts, every, "right").astype(np.int64) - 1
        outside = place < 0
        if len(ends):
            outside |= every + np.uint64(size) > ends[np.maximum(place, 0)]
        outside |= every + np.uint64(size) < every
        if outside.any():
            self.fail(fault.ILLEGAL_ADDRESS, f"Invalid {what}", number, lanes, outside, every, size)
        scattered = Scattered(len(every), dtype)
        for one in np.unique(place):
            positions = np.flatnonzero(place == one)
            found = self.memory.find(int(starts[one]))
            assert found is not None
            if found.reach is not None:
                self._reach(found, every, size, lanes, number, mode)
            array, start = found.view(dtype)
            if found.written is not None:
                chosen = self.numbers(lanes)[positions]
                self._written(found, every[positions], size, chosen, number, mode)
            index = (every[positions] - np.uint64(start)) // np.uint64(dtype.itemsize)
            scattered.add(array, index.view(np.int64), positions)
        return scattered, _START

    def _reach(self, found: Any, a: Any, size: int, lanes: Any, number: int, mode: int) -> None:
        if not found.reach(self.device.origin):
            text = f"Invalid __global__ {VERBS[mode]}"
            more = f"in {found!r}, to which this device was given no access"
            self.fail(fault.ILLEGAL_ADDRESS, text, number, lanes, True, a, size, more)

    def _written(self, found: Any, a: Any, size: int, lanes: Any, number: int, mode: int) -> None:
        offset = (np.atleast_1d(a) - np.uint64(found.address)).view(np.int64)
        self.mark_or_check(
            found.written, offset, a, size, lanes, number, mode, f"__global__ {found.kind} memory"
        )

    def at_shared(
        self, a: Any, dtype: Any, count: int, lanes: Any, number: int, mode: int
    ) -> tuple[Any, Any]:
        size = dtype.itemsize * count
        if not a.ndim:
            high = bits = int(a)
        else:
            high, bits = int(a.max()), int(np.bitwise_or.reduce(a))
        # a compiler makes vectors of reads, the last of which may end behind what the block has
        behind = high if count > 1 and mode == READ else high + size - 1
        if behind >= self.shared_size or bits & (size - 1):
            if high >> layout.RANK and self.is_own(a, lanes).all():
                return self.at_cluster(a, dtype, count, lanes, number, mode)
            self._refuse("__shared__", a, size, self.shared_size, lanes, number, mode)
        offset = a.view(np.int64)
        if self.block_count > 1:
            base = self.shared_base
            offset = offset + (base if lanes is None else base.take(lanes))
        if self.watch is not None:
            self.watch.shared(self, offset, a, size, lanes, number, mode)
        return self.shared_view(dtype), offset >> np.int64(dtype.itemsize.bit_length() - 1)

    def at_cluster(
        self, a: Any, dtype: Any, count: int, lanes: Any, number: int, mode: int
    ) -> tuple[Any, Any]:
        """Shared memory of any block of the cluster: see `Clusters`."""
        raise NotImplementedError

    def is_own(self, a: Any, lanes: Any) -> Any:
        """Whether shared addresses are of the lane's own block: see `Clusters`."""
        raise NotImplementedError

    def at_local(self, a: Any, dtype: Any, count: int, lanes: Any, number: int, mode: int) -> tuple[Any, Any]:
        size = dtype.itemsize * count
        if not a.ndim:
            high = bits = int(a)
        else:
            high, bits = int(a.max()), int(np.bitwise_or.reduce(a))
        if high + size > self.local_stride or bits & (size - 1):
            self._refuse("__local__", a, size, self.local_stride, lanes, number, mode)
        offset = a.view(np.int64) + (self.local_base if lanes is None else self.local_base.take(lanes))
        if self.local_written is not None:
            self.mark_or_check(self.local_written, offset, a, size, lanes, number, mode, "__local__ memory")
        return self.local.view(dtype), offset >> np.int64(dtype.itemsize.bit_length() - 1)

    def _refuse(self, space: str, a: Any, size: int, limit: int, lanes: Any, number: int, mode: int) -> None:
        every = np.atleast_1d(a)
        what = f"{space} {VERBS[mode]}"
        outside = (every > np.uint64(limit)) | (every + np.uint64(size) > np.uint64(limit))
        owner = "thread" if space == "__local__" else "block"
        more = f"the {owner}'s {space} memory has {limit} bytes"
        if space == "__shared__" and (every >> np.uint64(layout.RANK)).any():
            more += "; the address is of another block of the cluster, which takes shared::cluster"
        if outside.any():
            self.fail(fault.ILLEGAL_ADDRESS, f"Invalid {what}", number, lanes, outside, every, size, more)
        crooked = every & np.uint64(size - 1) != 0
        self.fail(fault.MISALIGNED_ADDRESS, f"Misaligned {what}", number, lanes, crooked, every, size, more)

    def at_generic(
        self, a: Any, dtype: Any, count: int, lanes: Any, number: int, mode: int
    ) -> tuple[Any, Any]:
        low, high = (int(a.min()), int(a.max())) if a.ndim else (int(a), int(a))
        if high < layout.SHARED:
            return self.at_global(a, dtype, count, lanes, number, mode)
        if low >= layout.SHARED and high < layout.LOCAL:
            return self.at_cluster(a - np.uint64(layout.SHARED), dtype, count, lanes, number, mode)
        if low >= layout.LOCAL and high < layout.FUNCTIONS:
            return self.at_local(a - np.uint64(layout.LOCAL), dtype, count, lanes, number, mode)
        if low >= layout.FUNCTIONS or not a.ndim:
            return self._across(a, dtype, dtype.itemsize * count, lanes, number, mode)
        scattered = Scattered(len(a), dtype)
        numbers = self.numbers(lanes)
        window = np.digitize(a, np.array([layout.SHARED, layout.LOCAL, layout.FUNCTIONS], np.uint64))
        for one in np.unique(window):
            positions = np.flatnonzero(window == one)
            array, index = self.at_generic(a[positions], dtype, count, numbers[positions], number, mode)
            scattered.add(array, index, positions)
        return scattered, _START

    def is_in_space(self, a: Any, space: str, lanes: Any) -> Any:
        if space in ("shared", "cluster"):
            inside = (a >= np.uint64(layout.SHARED)) & (a < np.uint64(layout.LOCAL))
            return inside & self.is_own(a, lanes) if space == "shared" else inside
        if space == "local":
            return (a >= np.uint64(layout.LOCAL)) & (a < np.uint64(layout.FUNCTIONS))
        inside = a < np.uint64(layout.SHARED)
        return inside if space == "global" else inside & self.is_constant(a, space)

    def is_constant(self, a: Any, space: str) -> Any:
        """Whether addresses lie in `.const` variables or in the kernel's parameters."""
        kind = {"const": "constant", "param": "parameters"}[space]
        found = [self.memory.find(int(one)) for one in np.atleast_1d(a)]
        result = np.array([one is not None and one.kind.startswith(kind) for one in found])
        return result if a.ndim else result[0]

    def copy_async(self, target: Any, source: Any, size: int, amount: Any, lanes: Any, number: int) -> None:
        """cp.async: `size` bytes from global to shared memory, of which those past `amount` are 0."""
        words = size // 4
        wide = np.dtype("u4")
        if amount is None:
            array, index = self.at_global(source, wide, words, lanes, number, READ)
            values = [array.take(index + step) for step in range(words)]
        else:
            values = self._copy_some(source, size, amount, lanes, number)
        array, index = self.at_shared(target, wide, words, lanes, number, WRITE)
        for step, value in enumerate(values):
            put(array, index + step, value)

    def _copy_some(self, source: Any, size: int, amount: Any, lanes: Any, number: int) -> list[Any]:
        numbers = self.numbers(lanes)
        source, amount = np.broadcast_to(source, numbers.shape), np.broadcast_to(amount, numbers.shape)
        octets = np.zeros((len(numbers), size), np.uint8)
        for step in range(size):
            wanted = np.flatnonzero(amount > step)
            if len(wanted):
                address = source[wanted] + np.uint64(step)
                array, index = self.at_global(address, np.dtype("u1"), 1, numbers[wanted], number, READ)
                octets[wanted, step] = array.take(index)
        return list(octets.view("u4").T)

    def read_bytes(self, lane: int, address: int, size: int, number: int) -> bytes:
        """Bytes that one lane sees at a generic address."""
        lanes = np.array([lane])
        a = np.arange(address, address + size, dtype=np.uint64)
        array, index = self.at_generic(a, np.dtype("u1"), 1, lanes.repeat(size), number, READ)
        return bytes(array.take(index).tobytes())

    def read_string(self, address: int) -> str:
        """A C string in global memory."""
        found = self.memory.find(address)
        if found is None:
            return f"(bad string address {address:#x})"
        data = found.data[address - found.address :]
        end = np.flatnonzero(data == 0)
        return bytes(data[: end[0] if len(end) else None]).decode("utf-8", "replace")
