"""The table of allocations: which addresses kernels may touch. A device pointer is a real host address."""

from __future__ import annotations

import bisect
import collections
import contextlib
import ctypes
import itertools
import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from . import settings as engine_settings
from .undefined_bits import UndefinedBits, distance

if TYPE_CHECKING:
    from .aliases import I64, U8, U64, Array, DType
    from .fault import Place
    from .settings import Settings

LAZY = 64 << 20
"""Bytes from which on the system has no memory at hand, and makes it when it is touched, with zeros in it."""
POISON = 0xCD
"""What every byte of fresh memory is: a program that reads it before writing gets the same nonsense each
time.
"""
QUARANTINE = 64 << 20
"""Bytes of released memory that are kept, so that their addresses are not soon given out again."""
NOTHING: U8 = np.empty(0, np.uint8)
_LOOK = 256
"""Bytes that can be looked at while an allocation is found."""
LEAST = 4096
"""The least that an allocation counts for, because of its Python objects."""


class Allocation:
    """One range of memory: `size` bytes from `address`, of a kind ("device", "managed", "host" ...)."""

    __slots__ = (
        "_views",
        "accesses",
        "address",
        "data",
        "end",
        "fate",
        "is_adopted",
        "kind",
        "place",
        "reach",
        "size",
        "team",
        "undefined",
    )

    def __init__(self, address: int, size: int, kind: str, data: U8) -> None:
        self.address = address
        self.size = size
        self.end = address + size
        self.kind = kind
        self.data = data  # a uint8 array over the range
        self.accesses: dict[int, list[Any]] = {}  # what a driver remembers of them, by its streams
        self.is_adopted = False  # whether somebody else says when the memory is given back
        self.undefined: UndefinedBits | None = None
        """The undefined bits of each byte (see `run/undefined.py`), if these are looked for."""
        self.reach: Callable[[Any], bool] | None = None
        """Whether kernels of a `Device.origin` may touch it; None: all may."""
        self.team: dict[int, Member] | None = None
        """Of multicast memory the devices whose memories it means, by their numbers."""
        self.place: Place | None = None
        """The call that allocated it, where a driver has told."""
        self.fate = "that was freed"
        """What became of it, for reports."""
        self._views: dict[DType, tuple[Array, int]] = {}

    @property
    def shadow_distance(self) -> int:
        """How far behind the memory its undefined bits lie; 0 if it has none."""
        return distance(self.undefined, self.data)

    def view(self, dtype: DType) -> tuple[Array, int]:
        """The memory as an array of `dtype`, and the address of its first item (the first multiple of its
        size).
        """
        view = self._views.get(dtype)
        if view is None:
            skip = -self.address % dtype.itemsize
            whole = max(self.size - skip, 0) // dtype.itemsize * dtype.itemsize
            view = self._views[dtype] = self.data[skip : skip + whole].view(dtype), self.address + skip
        return view

    def __repr__(self) -> str:
        return f"<{self.kind} memory, {self.size} bytes at {self.address:#x}>"


class Member:
    """A device of a multicast object."""

    def __init__(self, address: int) -> None:
        self.address = address
        """Where its memory shows, as far as it is bound."""
        self.bound: list[tuple[int, int]] = []
        """The offsets at which bound memory starts and ends."""


class Snapshot(NamedTuple):
    """Allocations as they are at one time, which it keeps."""

    allocations: list[Allocation]
    starts: U64
    ends: U64
    shadows: I64
    """How far behind each the shadow of its undefined bytes lies; 0: there is none."""
    number: int
    """No other one has had it."""


_snapshot_numbers = itertools.count(1)


class Memory:
    """All allocations of a device, by address. Any thread may look while others add and release.

    settings: what is checked of it, of modules in it, and of their launches that have no settings of their
    own; None: what `settings.current` says at the time.
    """

    def __init__(self, settings: Settings | None = None) -> None:
        self._settings = settings
        self._lock = threading.RLock()
        self._allocations: dict[int, Allocation] = {}
        self._addresses: list[int] = []
        self._last: Allocation | None = None
        self._released: collections.deque[Allocation] = collections.deque()
        self._held = 0
        self._retired: dict[int, Allocation] = {}
        self._retired_addresses: list[int] = []
        self._bounds: tuple[U64, U64] | None = None
        self._snapshots: dict[object, Snapshot] = {}
        self._runs: set[object] = set()  # one for each kernel that runs
        self._waiting: list[tuple[set[object], Callable[[], object]]] = []
        self._looked = 0
        """How many allocations were looked at by `look_for_undefined`."""

    @property
    def settings(self) -> Settings:
        return self._settings or engine_settings.current

    def allocate(self, size: int, kind: str = "device", align: int = 256, place: Place | None = None) -> int:
        """`size` fresh bytes at a multiple of `align`. Returns their address. They are filled with a pattern;
        from `LAZY` on they are zero, and the system gives them when they are touched.

        Raises MemoryError.
        """
        block = np.empty(size + 2 * align, np.uint8)  # a gap on both sides: neighbours are never adjacent
        start = -block.ctypes.data % align
        data = block[start : start + size]
        if size < LAZY:
            data.fill(POISON)
        address = int(block.ctypes.data) + start
        allocation = Allocation(address, size, kind, data)
        allocation.place = place
        self._add(allocation)
        return address

    def upload(self, array: Array) -> int:
        """Copy an array to fresh memory. Returns its address. Raises MemoryError."""
        data = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
        address = self.allocate(data.nbytes)
        self._bytes(address, data.nbytes)[:] = data
        self.written(address, data.nbytes)
        return address

    def download(self, address: int, shape: int | tuple[int, ...], dtype: object) -> Array:
        """A copy of an array in memory. Raises ValueError if it is not within one allocation."""
        array: Array = np.empty(shape, dtype)  # type: ignore[call-overload]
        array.reshape(-1).view(np.uint8)[:] = self._bytes(address, array.nbytes)
        return array

    def _bytes(self, address: int, size: int) -> U8:
        allocation = self.find(address) if size else None
        if size and (allocation is None or address + size > allocation.end):
            raise ValueError(f"{size} bytes at {address:#x} are not within one allocation")
        return NOTHING if allocation is None else allocation.data[address - allocation.address :][:size]

    def adopt(
        self,
        address: int,
        size: int,
        kind: str,
        reach: Callable[[Any], bool] | None = None,
        team: dict[int, Member] | None = None,
        data: U8 | None = None,
        place: Place | None = None,
    ) -> None:
        """Let kernels touch memory that somebody else owns, and keeps until `release`; `reach` says which.
        Memory of an array is kept from here on, if that is given as `data`. Multicast memory, which has a
        `team`, is never read or written where it shows itself. `place` is the call that allocated it.
        """
        if data is None:
            data = np.ctypeslib.as_array((ctypes.c_uint8 * size).from_address(address))
        allocation = Allocation(address, size, kind, data)
        allocation.is_adopted, allocation.team = True, team
        allocation.reach = reach or (None if team is None else lambda _: True)
        allocation.place = place
        self._add(allocation)
        self.written(address, size)

    def release(self, address: int) -> None:
        """Take an allocation back. Raises KeyError if none starts at `address`."""
        with self._lock:
            allocation = self._allocations.pop(address)
            del self._addresses[bisect.bisect_left(self._addresses, address)]
            self._last = self._bounds = None
            self._snapshots.clear()
            if allocation.is_adopted:  # what runs has the other, and with it the memory
                place = allocation.place
                allocation = Allocation(address, allocation.size, allocation.kind, NOTHING)
                allocation.place = place
            self._keep(allocation)

    def announce(self, address: int, size: int, kind: str, fate: str, place: Place | None) -> None:
        """Memory that somebody else owns is to be adopted later.

        fate: what the report of an access before that says of it.
        """
        allocation = Allocation(address, size, kind, NOTHING)
        allocation.fate, allocation.place = fate, place
        with self._lock:
            self._keep(allocation)

    def _keep(self, allocation: Allocation) -> None:
        """Have `released` find it for a while."""
        self._released.append(allocation)
        self._held += max(allocation.size, LEAST)
        while self._held > QUARANTINE and len(self._released) > 1:
            self._held -= max(self._released.popleft().size, LEAST)

    def retire(self, fate: str) -> list[Allocation]:
        """Take all allocations back, and keep them, with their addresses, for good. Returns them.

        fate: what the report of an access to one says of it.
        """
        with self._lock:
            retired = list(self._allocations.values())
            for allocation in retired:
                allocation.fate = fate
                self._retired[allocation.address] = allocation
            self._retired_addresses = sorted(self._retired)
            self._allocations.clear()
            self._addresses.clear()
            self._last = self._bounds = None
            self._snapshots.clear()
        return retired

    @contextlib.contextmanager
    def in_use(self) -> Iterator[None]:
        """While a kernel runs."""
        run = object()
        with self._lock:
            self._runs.add(run)
        try:
            yield
        finally:
            with self._lock:
                self._runs.discard(run)
                for runs, _ in self._waiting:
                    runs.discard(run)
                over = [action for runs, action in self._waiting if not runs]
                self._waiting = [each for each in self._waiting if each[0]]
            for action in over:
                action()

    def when_unused(self, action: Callable[[], object]) -> None:
        """Give memory back to the system, by `action`, once the kernels that run now have ended.

        One of them may be about to touch it: a program with a race gets a report then, if it gets that far,
        and no signal.
        """
        with self._lock:
            if self._runs:
                self._waiting.append((set(self._runs), action))
                return
        action()

    def find(self, address: int) -> Allocation | None:
        """The allocation that `address` lies in."""
        last = self._last
        if last is not None and last.address <= address < last.end:
            return last
        with self._lock:
            place = bisect.bisect_right(self._addresses, address) - 1
            if place >= 0:
                allocation = self._allocations[self._addresses[place]]
                if address < allocation.end:
                    self._last = allocation
                    return allocation
        return None

    def written(self, address: int, size: int) -> None:
        """The host wrote `size` bytes, which are defined from now on."""
        allocation = self.find(address)
        if allocation is not None and allocation.undefined is not None:
            allocation.undefined.define(address - allocation.address, address - allocation.address + size)

    def copied(self, address: int, source: int, size: int) -> None:
        """`size` bytes were copied: undefined bits are still undefined where they are now."""
        allocation, origin = self.find(address), self.find(source)
        if allocation is None or allocation.undefined is None:
            return
        start = address - allocation.address
        if origin is None or origin.undefined is None or not origin.undefined.has_any:
            allocation.undefined.define(start, start + size)
        else:
            first = source - origin.address
            bits = origin.undefined.seen()[first : first + size]
            allocation.undefined.changing()[start : start + size] = bits

    def bounds(self) -> tuple[U64, U64]:
        """The first and the end address of every allocation, sorted: two uint64 arrays."""
        with self._lock:
            if self._bounds is None:
                ends = [self._allocations[address].end for address in self._addresses]
                self._bounds = np.array(self._addresses, np.uint64), np.array(ends, np.uint64)
            return self._bounds

    def reach_changed(self) -> None:
        """What `reach` of allocations answers is another from now on, or where bytes may be undefined."""
        with self._lock:
            self._snapshots.clear()

    def snapshot(self, asking: object, with_undefined: bool = False) -> Snapshot:
        """The allocations that the kernels of `asking` may touch: of which no byte is looked after, or, with
        undefined bytes, also the others.
        """
        key = asking, with_undefined
        with self._lock:
            known = self._snapshots.get(key)
            if known is None:
                plain = [
                    one
                    for one in (self._allocations[address] for address in self._addresses)
                    if one.team is None
                    and (with_undefined or one.undefined is None)
                    and (one.reach is None or one.reach(asking))
                ]
                known = self._snapshots[key] = Snapshot(
                    plain,
                    np.array([one.address for one in plain], np.uint64),
                    np.array([one.end for one in plain], np.uint64),
                    np.array([one.shadow_distance for one in plain], np.int64),
                    next(_snapshot_numbers),
                )
            return known

    def look_for_undefined(self, most: int) -> None:
        """Look which allocations have no undefined bytes left, at about `most` bytes of them."""
        with self._lock:
            for _ in self._addresses:
                if most <= 0:
                    return
                self._looked += 1
                address = self._addresses[self._looked % len(self._addresses)]
                bits = self._allocations[address].undefined
                most -= _LOOK
                if bits is not None and bits.has_any:
                    most -= bits.look(most)
                    if not bits.has_any:
                        self._snapshots.clear()

    def nearest(self, address: int) -> Allocation | None:
        """The allocation closest to an address that lies in none."""
        with self._lock:
            place = bisect.bisect_right(self._addresses, address)
            near = [self._allocations[start] for start in self._addresses[max(place - 1, 0) : place + 1]]
        return min(near, key=lambda one: max(one.address - address, address - one.end + 1), default=None)

    def released(self, address: int) -> Allocation | None:
        """The allocation, released or announced not long ago, or retired, that `address` lay in."""
        with self._lock:
            place = bisect.bisect_right(self._retired_addresses, address) - 1
            if place >= 0:
                retired = self._retired[self._retired_addresses[place]]
                if address < retired.end:
                    return retired
            for allocation in reversed(self._released):
                if allocation.address <= address < allocation.end:
                    return allocation
        return None

    def _add(self, allocation: Allocation) -> None:
        if self.settings.check_uninitialized:
            allocation.undefined = UndefinedBits(allocation.size)
            allocation.undefined.begins = self.reach_changed
        with self._lock:
            if allocation.address in self._allocations:
                raise ValueError(f"{self._allocations[allocation.address]!r} starts at the same address")
            self._allocations[allocation.address] = allocation
            bisect.insort(self._addresses, allocation.address)
            self._bounds = None
            self._snapshots.clear()
