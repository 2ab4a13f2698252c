"""Atomics: the lanes that mean one place take turns, in the order of their numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from ..access import Scattered
from ..arithmetic.double import add64
from ..arithmetic.floating import canonicalize_nan, flush
from ..arithmetic.half import compute
from ..ptx.types import TYPES

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..aliases import I64, Array, Index, Lanes
    from .shared import SharedMemory
    from .threads import Threads

    Combiner: TypeAlias = Callable[[Array, Array], Array]
    """What makes of old values and new ones those that stay."""

_UFUNCS: dict[str, np.ufunc] = {
    "add": np.add,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "min": np.minimum,
    "max": np.maximum,
}
_MANY = 32
"""From so many lanes on, one place is treated by itself."""


def _increment(old: Array, bound: Array) -> Array:
    return np.where(old >= bound, old.dtype.type(0), old + old.dtype.type(1))


def _decrement(old: Array, bound: Array) -> Array:
    return np.where((old == 0) | (old > bound), bound, old - old.dtype.type(1))


def _add32(old: Array, b: Array) -> Array:
    return canonicalize_nan(old + b)


def _add64(old: Array, b: Array) -> Array:
    """In global memory a NaN stays what it is, signaling or not, the new value's first."""
    total = old + b
    return np.where(b != b, b, np.where(old != old, old, total))


def _add_flushed(old: Array, b: Array) -> Array:
    """Global memory adds no subnormal binary32 numbers."""
    return canonicalize_nan(flush(flush(old) + flush(b)))


_FLOAT_ADD = {
    "f32": _add32,
    "global f32": _add_flushed,
    "f64": lambda old, b: add64(b, old),
    "global f64": _add64,
}


def combiner(op: str, kind: str) -> Combiner:
    """The function for an operation."""
    if op in ("add", "min", "max") and kind in ("f16", "f16x2", "bf16", "bf16x2"):
        code = TYPES[kind].code
        bits = f"u{code[1]}"
        return lambda old, b: compute(op, kind, old.view(bits), b.view(bits)).view(code)
    if op == "add" and kind in _FLOAT_ADD:
        return _FLOAT_ADD[kind]
    others: dict[str, Combiner] = {
        "inc": _increment,
        "dec": _decrement,
        "exch": lambda old, b: b,
    }
    return others.get(op) or _UFUNCS[op]


class Atomics:
    """The atomics of a batch."""

    def __init__(self, threads: Threads, shared: SharedMemory) -> None:
        self._threads, self._shared = threads, shared

    def apply(
        self,
        op: str,
        kind: str,
        array: Array | Scattered,
        index: Index,
        b: Array,
        c: Array | None,
        lanes: Lanes,
        is_used: bool,
    ) -> Array | None:
        """Do it for all lanes; returns what each found, if anybody reads that."""
        count = self._threads.count if lanes is None else len(lanes)
        if isinstance(array, Scattered):
            old = np.empty(count, array.dtype)
            for inner, places, positions in array.parts:
                own_b = np.broadcast_to(b, (count,))[positions]
                own_c = None if c is None else np.broadcast_to(c, (count,))[positions]
                numbers = self._threads.numbers(lanes)[positions]
                result = self.apply(op, kind, inner, places + index, own_b, own_c, numbers, is_used)
                if is_used:
                    old[positions] = result
            return old
        if op == "add" and kind in ("f32", "f64") and array is not self._shared.view(array.dtype):
            kind = f"global {kind}"
        plain = op in _UFUNCS and kind[0] in "usb" and kind[1] != "f"
        if plain and not is_used:
            if index.ndim:
                _UFUNCS[op].at(array, index, b)
                return None
            terms = np.concatenate((array[index : index + 1], np.broadcast_to(b, (count,))))
            array[index] = _UFUNCS[op].accumulate(terms, dtype=array.dtype)[-1]
            return None
        index = np.broadcast_to(index, (count,))
        b = np.broadcast_to(b, (count,))
        desired = b if c is None else np.broadcast_to(c, (count,))
        return _in_turn(op, kind, array, index, b, desired)


def _combine_one(op: str, kind: str, first: Array, values: Array) -> tuple[Array, Array]:
    """What each of many lanes finds at one place, and what is there in the end. first: what is there now."""
    if op == "exch":
        return np.concatenate((first, values[:-1])), values[-1]
    if op in _UFUNCS and kind[0] in "usb" and kind[1] != "f":
        run = _UFUNCS[op].accumulate(np.concatenate((first, values)), dtype=first.dtype)
        return run[:-1], run[-1]
    combine, old, now = combiner(op, kind), np.empty(len(values), first.dtype), first.copy()
    for lane, value in enumerate(values):
        old[lane] = now[0]
        now[0] = combine(now[0], value)
    return old, now[0]


def _in_turn(op: str, kind: str, array: Array, index: I64, b: Array, c: Array) -> Array:
    count = len(index)
    if kind == "b128":
        return _wide_in_turn(op, array, index, b, c)
    combine = combiner(op, kind) if op != "cas" else None
    old = np.empty(count, array.dtype)
    order = np.argsort(index, kind="stable")
    places = index[order]
    starts = np.flatnonzero(np.concatenate(([True], places[1:] != places[:-1])))
    lengths = np.diff(np.concatenate((starts, [count])))
    rank = np.arange(count) - np.repeat(starts, lengths)
    for many in np.flatnonzero(lengths > _MANY):
        lanes = order[starts[many] : starts[many] + lengths[many]]
        place = places[starts[many]]
        if op == "cas":
            old[lanes], array[place] = _swap_one(array[place], b[lanes], c[lanes])
        else:
            old[lanes], array[place] = _combine_one(op, kind, array[place : place + 1], b[lanes])
    few = np.repeat(lengths <= _MANY, lengths)
    for turn in range(int(rank[few].max()) + 1 if few.any() else 0):
        chosen = few & (rank == turn)
        lanes, where = order[chosen], places[chosen]
        current = array[where]
        old[lanes] = current
        if op == "cas":
            array[where] = np.where(
                current.view(_bits(current)) == b[lanes].view(_bits(current)), c[lanes], current
            )
        else:
            array[where] = combine(current, b[lanes])  # type: ignore[misc]
    return old


def _wide_in_turn(op: str, array: Array, index: I64, b: Array, c: Array) -> Array:
    """exch and cas of 128 bits, one lane after the other."""
    old = np.empty(len(index), array.dtype)
    words = array.view(np.uint64).reshape(-1, 2)
    for lane, place in enumerate(index):
        old[lane] = array[place]
        if op == "exch":
            array[place] = b[lane]
        elif (words[place] == b[lane : lane + 1].view(np.uint64)).all():
            array[place] = c[lane]
    return old


def _bits(x: Array) -> str:
    return f"u{x.dtype.itemsize}"


def _swap_one(value: Array, expected: Array, desired: Array) -> tuple[Array, Array]:
    """cas on one place by many lanes: what each finds, and what stays."""
    old = np.empty(len(expected), desired.dtype)
    start = 0
    while start < len(expected):
        hits = np.flatnonzero(expected[start:] == value)
        if not len(hits):
            old[start:] = value
            break
        hit = start + int(hits[0])
        old[start : hit + 1] = value
        value = desired[hit]
        start = hit + 1
    return old, value
