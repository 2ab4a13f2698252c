"""What threads of a warp do together, for all warps of a batch at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .threads import cached

if TYPE_CHECKING:
    from ..aliases import I64, U32, Array, Bools, Lanes
    from .race_detector import RaceDetector
    from .threads import Threads

_ONE = np.uint32(1)
_FULL = 0xFFFFFFFF


class Warps:
    """The warps of a batch."""

    def __init__(self, threads: Threads, races: RaceDetector | None) -> None:
        self._threads, self._races = threads, races
        key = threads.key
        places = cached(("places", *key), lambda: threads.all_lanes % threads.per_block % 32)
        self._places: I64 = places  # of each lane in its warp
        self._starts: I64 = cached(("starts", *key), lambda: threads.all_lanes - places)
        self._bits: U32 = cached(("bits", *key), lambda: _ONE << places.astype(np.uint32))
        self._alive: U32 = cached(("alive", *key), lambda: self.bits_of(None)).copy()

    def exited(self, lanes: Lanes) -> None:
        """Lanes run no longer."""
        self._alive &= ~self.bits_of(lanes)

    def bits_of(self, lanes: Lanes, chosen: Bools | None = None) -> U32:
        """A mask for each warp: the bits of those `lanes` where `chosen` holds (or all)."""
        if chosen is not None and not chosen.ndim:
            if not chosen:
                return np.zeros(self._threads.warp_count, np.uint32)
            chosen = None
        if self._threads.per_block % 32 == 0:  # each warp has 32 bits of the batch's, in order
            if lanes is None:
                present = np.ones(self._threads.count, bool) if chosen is None else chosen
            else:
                present = np.zeros(self._threads.count, bool)
                present[lanes] = True if chosen is None else chosen
            return np.packbits(present, bitorder="little").view("<u4").astype(np.uint32, copy=False)
        numbers = self._threads.numbers(lanes) if chosen is None else self._threads.numbers(lanes)[chosen]
        result = np.zeros(self._threads.warp_count, np.uint32)
        np.bitwise_or.at(result, self._threads.warps[numbers], self._bits[numbers])
        return result

    def are_outside(self, mask: U32, numbers: I64) -> Bools:
        """Which lanes' masks do not name them."""
        outside: Bools = mask & self._bits.take(numbers) == 0
        return outside

    def gathered(self, mask: U32 | np.uint32, lanes: I64) -> Bools:
        """Which of `lanes` have with them all that their mask names and that still run."""
        present = self.bits_of(lanes)
        warps = self._threads.warps.take(lanes)
        return (mask & self._alive[warps] & ~present[warps]) == 0

    def _own_warps(self, lanes: Lanes) -> I64:
        return self._threads.warps if lanes is None else self._threads.warps.take(lanes)

    def _spread(self, value: Array, lanes: Lanes) -> Array:
        """Values of `lanes` as an array over all lanes."""
        if lanes is None and value.ndim:
            return value
        result = np.zeros(self._threads.count, value.dtype)
        if lanes is None:
            result[:] = value
        else:
            result[lanes] = value
        return result

    def shuffle(self, mode: str, a: Array, b: U32, c: U32, lanes: Lanes) -> tuple[Array, Bools]:
        if self._races is not None:
            self._races.exchange(lanes)
        lane, starts = self._places, self._starts
        if lanes is not None:
            lane, starts = lane.take(lanes), starts.take(lanes)
        b = (b & np.uint32(31)).astype(np.int64)
        clamp, segment = (
            (c & np.uint32(31)).astype(np.int64),
            (c >> np.uint32(8) & np.uint32(31)).astype(np.int64),
        )
        last = (lane & segment) | (clamp & ~segment)
        if mode == "up":
            source = lane - b
            valid = source >= last
        elif mode == "down":
            source = lane + b
            valid = source <= last
        elif mode == "bfly":
            source = lane ^ b
            valid = source <= last
        else:
            source = (lane & segment) | (b & ~segment)
            valid = source <= last
        source = np.where(valid, source, lane)
        values = self._spread(a, lanes)
        return values.take(np.minimum(starts + source, self._threads.count - 1)), valid

    def vote(self, mode: str, p: Bools, mask: U32, lanes: Lanes) -> U32 | Bools:
        if self._races is not None:
            self._races.exchange(lanes)
        warps = self._own_warps(lanes)
        yes = self.bits_of(lanes, p)[warps] & mask
        if mode == "ballot":
            return yes
        if mode == "any":
            return yes != 0
        all_of_them = yes == (self.bits_of(lanes)[warps] & mask)
        return all_of_them if mode == "all" else all_of_them | (yes == 0)

    def active_mask(self, lanes: Lanes) -> U32:
        return self.bits_of(lanes)[self._own_warps(lanes)]

    def match(self, mode: str, a: Array, mask: U32, lanes: Lanes) -> tuple[U32, Bools | np.bool_]:
        """The lanes of the mask with the same value; for `all` that mask, or 0, and whether all have it."""
        numbers = self._threads.numbers(lanes)
        warps = self._own_warps(lanes)
        values = np.broadcast_to(a, numbers.shape)
        order = np.lexsort((values, warps))
        fresh = np.ones(len(order), bool)
        fresh[1:] = (warps[order][1:] != warps[order][:-1]) | (values[order][1:] != values[order][:-1])
        group = np.empty(len(order), np.int64)
        group[order] = np.cumsum(fresh) - 1
        same_value = np.zeros(int(group.max()) + 1, np.uint32)
        np.bitwise_or.at(same_value, group, self._bits.take(numbers))
        same = same_value[group] & mask
        if mode == "any":
            return same, np.True_
        everybody = self.bits_of(lanes)[warps] & mask
        agree = same == everybody
        return np.where(agree, everybody, np.uint32(0)), agree

    def redux(self, op: str, a: Array, mask: U32, lanes: Lanes) -> Array:
        numbers = self._threads.numbers(lanes)
        key = self._own_warps(lanes).astype(np.int64) << 32 | np.broadcast_to(mask, numbers.shape).astype(
            np.int64
        )
        _, group = np.unique(key, return_inverse=True)
        function = {
            "add": np.add,
            "min": np.minimum,
            "max": np.maximum,
            "and": np.bitwise_and,
            "or": np.bitwise_or,
            "xor": np.bitwise_xor,
        }[op]
        limits = np.iinfo(a.dtype)
        start = {"min": limits.max, "max": limits.min, "and": limits.max}.get(op, 0)
        result = np.full(int(group.max()) + 1, start, a.dtype)
        function.at(result, group, np.broadcast_to(a, numbers.shape))
        return result[group]

    def redux_float(self, op: str, a: Array, mask: U32, lanes: Lanes, is_size: bool, spreads: bool) -> Array:
        """The least or greatest number of a warp's lanes, found as integers in the same order. NaN is none of
        them, unless all are NaN or it spreads.
        """
        bits = np.broadcast_to(np.abs(a) if is_size else a, self._threads.numbers(lanes).shape).view(np.int32)
        bad = (bits & 0x7FFFFFFF) > 0x7F800000
        ordered = np.where(bits < 0, bits ^ 0x7FFFFFFF, bits)
        first = (op == "min") != spreads  # a NaN is behind all numbers, or before them
        place = np.where(bad, np.int32(0x7FFFFFFF if first else -0x80000000), ordered)
        reduced = self.redux(op, place.astype(np.int32), mask, lanes)
        result = np.where(reduced < 0, reduced ^ 0x7FFFFFFF, reduced).astype(np.int32)
        is_nan = (reduced == 0x7FFFFFFF) | (reduced == -0x80000000)
        return np.where(is_nan, np.int32(0x7FFFFFFF), result).astype(np.int32).view(np.float32)

    def elect(self, mask: U32, lanes: Lanes) -> tuple[U32, Bools]:
        """The lowest lane of the mask, and whether one is it."""
        mask = np.broadcast_to(mask, self._threads.numbers(lanes).shape)
        lowest = mask & (~mask + _ONE)
        bits = self._bits if lanes is None else self._bits.take(lanes)
        return np.bitwise_count(lowest - _ONE).astype(np.uint32), lowest == bits

    def synchronize(self, mask: U32, lanes: Lanes) -> None:
        """bar.warp.sync"""
        if self._races is not None:
            self._races.meet_warps(lanes, mask, self._alive[self._own_warps(lanes)].astype(np.int64))
