"""Memory that pools and graphs hold, and the operations that give it out and take it back."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np

from ..._types.driver.enums import CUgraphNodeType as Type
from ..calling import call_site
from ..engine import QUARANTINE, Allocation, Place
from ..refused import invalid
from ..streams.operations import Operation
from ..streams.stream import Stream
from ..streams.threads import guard
from ..streams.work import Work
from . import stream_races
from .allocations import fresh, table
from .pages import File, replace


class Storage:
    """Memory that a pool holds, and gives out again."""

    def __init__(self, size: int, file: File | None = None) -> None:
        self.size = size
        self.region = file.take(size) if file is not None else None
        self._data: Any = None  # an array, which what kernels may touch keeps
        if self.region is not None:
            self.address = self.region.address
        else:
            block = np.empty(size + 1024, np.uint8)
            start = 512 - int(block.ctypes.data) % 512
            self._data = block[start : start + size]
            self.address = int(block.ctypes.data) + start
        self.stream: Stream | None = None  # where it was freed
        self.work: Work | None = None
        self.is_live = False  # of a graph: a launch has allocated it and nothing has freed it
        self.users = 0  # operations that allocate it
        self.on_unused: Callable[[], Any] | None = None  # of a graph: what is left once it has no use

    def show(self, size: int, kind: str, place: Place, reach: Any) -> None:
        """From here on kernels may touch the first `size` bytes; what was in them is gone."""
        with guard:
            hide(self.address)  # a launch of a graph that a fault ended did not free it
            fresh(self.address, size, kind, place, reach, None if self._data is None else self._data[:size])

    def release(self) -> None:
        """Return it to the system, once no kernel runs that may touch it."""
        table.when_unused(self._release)  # which keeps this, and so the memory

    def _release(self) -> None:
        if self.region is not None:
            self.region.release()

    def abandon(self) -> None:
        """Nobody uses it any more: its memory goes, and its addresses stay."""
        if self.region is not None:
            replace(self.region.address, self.region.whole)

    def release_if_unused(self) -> None:
        """Release it if no graph can allocate it again and nothing has it."""
        if self.on_unused is not None and not self.users and not self.is_live:
            self.on_unused()
            self.on_unused = None
            self.release()


_quarantine: deque[Storage] = deque()
"""What pools would have given out again, the oldest first."""


def fresh_in_place_of(storage: Storage) -> Storage:
    """What a pool gives out that would give out memory again. With the checks on it is other memory, and
    those addresses stay unused for a while, so that a late use of them is found. With `guard` locked.
    """
    if not (table.settings.check_races or table.settings.check_uninitialized):
        return storage
    other = Storage(storage.size, None if storage.region is None else storage.region.file)
    _quarantine.append(storage)
    held = sum(one.size for one in _quarantine)
    while held > QUARANTINE and (_quarantine[0].work is None or _quarantine[0].work.done):
        oldest = _quarantine.popleft()
        held -= oldest.size
        oldest.release()
    return other


def hide(address: int) -> Allocation | None:
    """Kernels may touch memory that starts there no more. Returns it if they might; with `guard` locked."""
    allocation = table.find(address)
    if allocation is None or allocation.address != address:
        return None
    table.release(address)
    return allocation


graph_memory: dict[int, Storage] = {}
"""The memory of all graphs, by address."""


class Alloc(Operation):
    """From here on kernels may touch the memory: fresh, and so of no use before it is written."""

    type = Type.CU_GRAPH_NODE_TYPE_MEM_ALLOC

    def __init__(self, storage: Storage, size: int, kind: str = "device", reach: Any = None) -> None:
        self.storage = storage
        self.size = size  # what was asked for: one byte more is out of bounds
        self.kind = kind
        self.reach = reach  # which contexts' kernels may touch it
        self.props: Any = None  # of a node: what it was made from
        self.place = call_site().place
        storage.users += 1

    def clone(self) -> Operation:
        self.storage.users += 1
        return super().clone()

    def forget(self) -> None:
        with guard:
            self.storage.users -= 1
            self.storage.release_if_unused()
            del self.storage  # nodes refer to their graph, which only a collection frees

    def run(self) -> None:
        self.storage.show(self.size, self.kind, self.place, self.reach)
        stream_races.allocated(self.storage.address)


class Free(Operation):
    """From here on they may not."""

    type = Type.CU_GRAPH_NODE_TYPE_MEM_FREE
    is_bookkeeping = True  # what is freed is given out again

    def __init__(self, address: int) -> None:
        self.address = address
        self._storage: Storage | None = None  # its memory is there until this has run

    def announce(self) -> None:
        """It was queued. Raises Refused for memory of a graph that nothing has allocated."""
        storage = graph_memory.get(self.address)
        if storage is not None:
            if not storage.is_live:
                raise invalid(f"{self.address:#x} is not allocated: no launch of its graph has done it")
            storage.is_live = False
            self._storage = storage
            with guard:
                storage.release_if_unused()

    def run(self) -> None:
        with guard:
            gone = hide(self.address)
            if gone is not None and self._storage is not None:  # else an instance has freed it by itself
                self._storage.release()  # kernels that run now may touch it yet
        if gone is not None:
            stream_races.freed(gone)
