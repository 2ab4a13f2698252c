"""The state spaces that addresses mean, by their names and by generic addresses.

Source: PTX ISA, "State Spaces", "Generic Addressing", "isspacep", "cp.async".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..access import READ, START, WRITE, Access, Scattered, accessed, put
from ..addresses import FUNCTIONS, LOCAL, SHARED

if TYPE_CHECKING:
    from ..access import Places
    from ..aliases import U64, Array, Bools, Lanes
    from .global_memory import GlobalMemory
    from .local import LocalMemory
    from .shared import SharedMemory
    from .threads import Threads
    from .undefined import UndefinedBytes

_WORD, _BYTE = np.dtype("u4"), np.dtype("u1")


class Spaces:
    """The memories of a batch."""

    def __init__(
        self,
        threads: Threads,
        global_memory: GlobalMemory,
        shared: SharedMemory,
        local: LocalMemory,
        undefined: UndefinedBytes,
    ) -> None:
        self._threads, self._undefined = threads, undefined
        self.global_memory, self.shared, self.local = global_memory, shared, local
        self.races = shared.races

    def at(self, space: str, a: U64, access: Access, lanes: Lanes, *values: Array) -> Places:
        """The places of addresses of a space: see `instructions.accesses`. Raises Fault."""
        if space in ("global", "const"):
            return self.global_memory.at(a, access, lanes, *values)
        if space == "shared":
            return self.shared.at(a, access, lanes, *values)
        if space == "cluster":
            return self.shared.at_cluster(a, access, lanes, *values)
        if space == "local":
            return self.local.at(a, access, lanes)
        return self.at_generic(a, access, lanes, *values)

    def at_generic(self, a: U64, access: Access, lanes: Lanes, *values: Array) -> Places:
        """The places of generic addresses; `values` are about to be stored there. Raises Fault."""
        low, high = (int(a.min()), int(a.max())) if a.ndim else (int(a), int(a))
        if high < SHARED:
            return self.global_memory.at(a, access, lanes, *values)
        if low >= SHARED and high < LOCAL:
            return self.shared.at_cluster(a - np.uint64(SHARED), access, lanes, *values)
        if low >= LOCAL and high < FUNCTIONS:
            return self.local.at(a - np.uint64(LOCAL), access, lanes)
        if low >= FUNCTIONS or not a.ndim:
            return self.global_memory.across(a, access, lanes, *values)
        scattered = Scattered(len(a), access.dtype)
        numbers = self._threads.numbers(lanes)
        window = np.digitize(a, np.array([SHARED, LOCAL, FUNCTIONS], np.uint64))
        for one in np.unique(window):
            positions = np.flatnonzero(window == one)
            stored = tuple(value[positions] if value.ndim else value for value in values)
            inner = self.at_generic(a[positions], access, numbers[positions], *stored)
            scattered.add(inner, positions)
        return scattered, START

    def is_in(self, a: U64, space: str, lanes: Lanes) -> Bools:
        """isspacep: whether generic addresses are of a space."""
        if space in ("shared", "cluster"):
            inside = (a >= np.uint64(SHARED)) & (a < np.uint64(LOCAL))
            return inside & self.shared.is_own(a, lanes) if space == "shared" else inside
        if space == "local":
            return (a >= np.uint64(LOCAL)) & (a < np.uint64(FUNCTIONS))
        inside = a < np.uint64(SHARED)
        return inside if space == "global" else inside & self._is_constant(a, space)

    def _is_constant(self, a: U64, space: str) -> Bools:
        """Whether addresses lie in `.const` variables or in the kernel's parameters."""
        kind = {"const": "constant", "param": "parameters"}[space]
        allocations = [self.global_memory.allocations.find(int(one)) for one in np.atleast_1d(a)]
        return np.array([one is not None and one.kind.startswith(kind) for one in allocations]).reshape(
            a.shape
        )

    def copy_async(
        self, target: U64, source: U64, size: int, amount: Array | None, lanes: Lanes, number: int
    ) -> None:
        """cp.async: `size` bytes from global to shared memory, of which those past `amount` are 0."""
        words = size // 4
        if amount is None:
            array, index = self.global_memory.at(source, accessed(_WORD, words, number, READ), lanes)
            values = [array.take(index + step) for step in range(words)]
        else:
            values = self._copy_some(source, size, amount, lanes, number)
        self._undefined.moved_on()
        array, index = self.shared.at(target, accessed(_WORD, words, number, WRITE), lanes)
        self._undefined.stored()
        if self.races is not None:
            self.races.began(np.asarray(index) * _WORD.itemsize, size, lanes)
        for step, value in enumerate(values):
            put(array, index + step, value)

    def commit_copies(self, lanes: Lanes) -> None:
        """cp.async.commit_group"""
        if self.races is not None:
            self.races.commit_copies(lanes)

    def wait_for_copies(self, max_pending: int, lanes: Lanes) -> None:
        """cp.async.wait_group: all but the last `max_pending` groups of a lane are there."""
        if self.races is not None:
            self.races.wait_for_copies(lanes, int(max_pending))

    def wait_for_all_copies(self, lanes: Lanes) -> None:
        """cp.async.wait_all: those of the open group, too."""
        self.commit_copies(lanes)
        self.wait_for_copies(0, lanes)

    def _copy_some(self, source: U64, size: int, amount: Array, lanes: Lanes, number: int) -> list[Array]:
        numbers = self._threads.numbers(lanes)
        source, amount = np.broadcast_to(source, numbers.shape), np.broadcast_to(amount, numbers.shape)
        raw_bytes = np.zeros((len(numbers), size), np.uint8)
        parts = []
        access = accessed(_BYTE, 1, number, READ)
        for step in range(size):
            wanted = np.flatnonzero(amount > step)
            if len(wanted):
                address = source[wanted] + np.uint64(step)
                array, index = self.global_memory.at(address, access, numbers[wanted])
                raw_bytes[wanted, step] = array.take(index)
                parts.append((step, self._undefined.take_rows()))
        self._undefined.give_rows(parts, size)
        return list(raw_bytes.view(_WORD).T)

    def read_string(self, lane: int, address: int, number: int, most: int | None = None) -> str:
        """The C string that one lane sees at a generic address, `most` bytes of it at most. Raises Fault."""
        text = bytearray()
        if not SHARED <= address < FUNCTIONS:
            text += self.global_memory.characters(address, most)
        while most is None or len(text) < most:
            byte = self.read_bytes(lane, address + len(text), 1, number)
            if byte == b"\0":
                break
            text += byte
        return text.decode("utf-8", "replace")

    def read_bytes(self, lane: int, address: int, size: int, number: int) -> bytes:
        """Bytes that one lane sees at a generic address. Raises Fault."""
        a = np.arange(size, dtype=np.uint64) + np.uint64(address)
        array, index = self.at_generic(a, accessed(_BYTE, 1, number, READ), np.array([lane]).repeat(size))
        return bytes(array.take(index).tobytes())
