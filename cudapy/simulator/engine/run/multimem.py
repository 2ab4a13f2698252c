"""Multicast memory: what lies at one address of it is in the memories of several devices.

Source: PTX ISA, "multimem.ld_reduce, multimem.st, multimem.red". The manual leaves open in which order the
devices' values are added: here it is that of their numbers.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from .. import fault
from ..access import put
from ..arithmetic.arrays import f2, f4, f8, u1
from ..arithmetic.half import FORMATS, OPERATIONS, pairs
from ..arithmetic.small import FLOATS, narrowed
from ..ptx.types import TYPES
from .atomic import combiner

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..access import Access, Places
    from ..aliases import I64, U64, Array, Lanes
    from .atomic import Atomics
    from .global_memory import GlobalMemory
    from .report import Reporter
    from .threads import Threads

    Copies: TypeAlias = list[tuple[I64, list[Places]]]
    """Positions of lanes, and for each device the places that they mean; for each multicast object."""


class Multimem:
    """The multicast memory that a batch sees."""

    def __init__(self, threads: Threads, report: Reporter, memory: GlobalMemory, atomics: Atomics) -> None:
        self._threads, self._report, self._memory, self._atomics = threads, report, memory, atomics

    def at(self, a: U64, access: Access, lanes: Lanes) -> Copies:
        """The places of addresses. Raises Fault."""
        what, number, size = f"multimem {access.verb}", access.number, access.size
        numbers = self._threads.numbers(lanes)
        every = np.broadcast_to(a, numbers.shape)
        bad = every & np.uint64(size - 1) != 0
        if bad.any():
            self._report.fail(fault.MISALIGNED_ADDRESS, f"Misaligned {what}", number, lanes, bad, every, size)
        what, rest, copies = f"Invalid {what}", np.arange(len(every)), []
        while len(rest):
            allocation = self._memory.allocations.find(int(every[rest[0]]))
            if allocation is None or allocation.team is None:
                more = f"in {allocation!r}, which is not multicast memory" if allocation else ""
                bad = every == every[rest[0]]
                self._report.fail(fault.ILLEGAL_ADDRESS, what, number, lanes, bad, every, size, more)
            self._memory.check_reach(allocation, every, access, lanes, is_multimem=True)
            offset = every[rest] - np.uint64(allocation.address)
            inside = offset < allocation.size
            positions, offset = rest[inside], offset[inside]
            places = []
            for device, member in sorted(allocation.team.items()):
                bad = np.ones(len(offset), bool)
                for start, end in list(member.bound):
                    bad &= (offset < start) | (offset >= end)
                if bad.any():
                    more, guilty = f"no memory of device {device} is bound there", np.zeros(len(every), bool)
                    guilty[positions[bad]] = True
                    self._report.fail(fault.ILLEGAL_ADDRESS, what, number, lanes, guilty, every, size, more)
                places.append(self._memory.at(offset + np.uint64(member.address), access, numbers[positions]))
            copies.append((positions, places))
            rest = rest[~inside]
        return copies

    def load(self, copies: Copies, step: int, op: str, kind: str, precision: str | None) -> Array:
        """multimem.ld_reduce: what the devices have `step` items on, reduced."""
        result = np.empty(sum(len(positions) for positions, _ in copies), TYPES[kind].code)
        for positions, places in copies:
            values = [array.take(index + step) for array, index in places]
            result[positions] = reduced(op, kind, precision, values)
        return result

    def store(self, copies: Copies, step: int, value: Array, lanes: Lanes) -> None:
        """multimem.st"""
        value = np.broadcast_to(value, self._threads.numbers(lanes).shape)
        for positions, places in copies:
            for array, index in places:
                put(array, index + step, value[positions])

    def red(self, copies: Copies, step: int, op: str, kind: str, value: Array, lanes: Lanes) -> None:
        """multimem.red"""
        numbers = self._threads.numbers(lanes)
        value = np.broadcast_to(value, numbers.shape)
        for positions, places in copies:
            own, of = value[positions], numbers[positions]
            for array, index in places:
                self._atomics.apply(op, kind, array, index + step, own, None, of, False)


def reduced(op: str, kind: str, precision: str | None, values: list[Array]) -> Array:
    """Values of several devices in one; `precision` is that of the sums on the way, "acc::f32", "acc::f16",
    or None: the type's own.
    """
    code, name = np.dtype(TYPES[kind].code), kind[:4]
    if name in FLOATS:
        form = FLOATS[name]
        wide = [form.numbers[np.ascontiguousarray(one).reshape(-1, 1).view(u1)] for one in values]
        narrow: Callable[[Array], Array] = lambda x: narrowed(x, name).astype(u1)  # noqa: E731
        if op != "add":
            total = reduce(OPERATIONS[op], wide)
        elif precision:
            total = reduce(lambda a, b: (a + b).astype(f2).astype(f8), wide)
        else:
            total = reduce(lambda a, b: form.numbers[narrow(a + b)], wide)
        return narrow(total).view(code)[:, 0]
    if precision and op == "add":
        halves = [pairs(one) if kind.endswith("x2") else one.reshape(-1, 1) for one in values]
        half = FORMATS[kind]
        total = reduce(np.add, [half.widen(one).astype(f4) for one in halves])
        return np.ascontiguousarray(half.narrow(total.astype(f8))).view(code)[:, 0]
    return reduce(combiner(op, kind), values)
