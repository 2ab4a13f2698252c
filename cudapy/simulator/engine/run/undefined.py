"""Undefined bytes: memory that nobody wrote, what is loaded from it, and where that matters.

A byte of shadow memory for each byte has the bits of it that are undefined, so 0 where all was written. What
is loaded is moved, stored and copied with its undefined bits. It matters, and is reported, where it decides a
branch, is an address, takes part in a warp operation or an atomic, or where a result that was computed with
it is stored; and where nothing but undefined bytes is stored in global memory. So padding of structs, and
parts of words that are masked out, are not findings.

Source: Seward and Nethercote, Using Valgrind to detect undefined value errors with bit-precision (2005).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..access import ATOMIC, MASKING, READ, WRITE
from ..classes import UNINITIALIZED
from ..undefined_bits import UNDEFINED
from .report import place_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..access import Access
    from ..aliases import I32, I64, U8, U64, Array, Bools, Lanes
    from ..compile.function import CompiledFunction
    from ..undefined_bits import UndefinedBits
    from .report import Reporter
    from .threads import Threads

_VALUE = 4
"""From so many bytes on what is stored is taken for a value, and not for a part of one that is moved."""


_NO_MASKS: tuple[str, tuple[Array, ...], Lanes] = ("", (), None)


class Undefined(NamedTuple):
    """The undefined bits of a register, for the lanes of a group."""

    bits: Array
    """Unsigned, as wide as the register; of predicates bool."""
    loaded: I32
    """The number of the load, 0 where all is defined."""
    computed: I32
    """The number of the first instruction that computed with it, 0 for bits that were only moved."""

    def of(self, lanes: I64) -> Undefined | None:
        """Some of them."""
        return cleaned(*(one[lanes] for one in self))


class Site(NamedTuple):
    """An instruction that loaded undefined bytes, or computed with them."""

    function: CompiledFunction
    number: int
    memory: str = ""
    size: int = 0


class _Rows(NamedTuple):
    """Undefined bits on their way between memory and registers: bytes of each lane of the batch."""

    bits: U8
    loaded: I32

    def pack(self, start: int, size: int, lanes: Lanes) -> Undefined | None:
        """`size` bytes of each row as a register."""
        rows = self.bits[:, start : start + size]
        chosen = np.ascontiguousarray(rows if lanes is None else rows[lanes])
        bits = chosen.view(f"u{size}")[:, 0]
        loaded = self.loaded if lanes is None else self.loaded[lanes]
        return cleaned(bits, loaded, np.zeros(len(bits), np.int32))


class UndefinedBytes:
    """What the threads of a batch know of undefined bits; blocks that are compiled for that call it.

    is_wanted: whether memory gets a shadow for them.
    found: the undefined bytes that the last load, or exchange, has found; None if there were none.
    """

    def __init__(self, threads: Threads, report: Reporter, is_wanted: bool) -> None:
        self._threads, self._report = threads, report
        self.is_wanted = is_wanted
        self.found: _Rows | None = None
        self._pending: _Rows | None = None  # what the store at hand writes
        self._masks = _NO_MASKS
        self._sites: list[Site | None] = [None]
        self._numbers: dict[tuple[int, int, str], int] = {}
        self._addresses: dict[int, U64] = {}  # by site: where each lane loaded last

    # Memory.

    def access(
        self,
        undefined: UndefinedBits,
        offset: I64,
        a: U64 | np.uint64,
        access: Access,
        lanes: Lanes,
        memory: str,
    ) -> None:
        """Follow an access to memory, in whose `undefined` bits each lane's bytes start at `offset`.

        memory: what it is, for reports.
        """
        makes_some = access.mode == WRITE and self._pending is not None
        shadow = undefined.changing() if makes_some else undefined.seen()
        first, size = np.atleast_1d(offset), access.size
        width = min(size, 8)  # of so many bytes at once
        if (int(np.bitwise_or.reduce(first)) | len(shadow)) & (width - 1):
            width = 1
        words = shadow.view(f"u{width}")
        places = first // width + np.arange(size // width)[:, None]
        if access.mode != WRITE:
            bits = words.take(places)
            if bits.any():
                self._read(np.ascontiguousarray(bits.T).view(np.uint8), a, access, lanes, memory)
            if access.mode == READ:
                return
        numbers = self._threads.numbers(lanes)
        start = np.broadcast_to(first, numbers.shape)[:, None] + np.arange(size)
        if access.mode == ATOMIC and self._masks is not _NO_MASKS:
            if bits.any():
                np.bitwise_and.at(shadow, start, self._kept(numbers, lanes))
            return
        if self._pending is None:
            words[places] = 0
        else:
            tells = memory.startswith("__global__") and size >= _VALUE
            shadow[start] = self._stored(self._pending, numbers, access.number if tells else None)

    def _stored(self, pending: _Rows, numbers: I64, tell: int | None) -> Array:
        """The bits of what lanes store. tell: the instruction, if values that nobody wrote are reported."""
        rows = pending.bits[numbers]
        if tell is not None:
            whole = (rows == UNDEFINED).all(1)
            if whole.any():
                self._tell(pending.loaded[numbers], None, whole, "is stored", tell, numbers)
                rows[whole] = 0
        return rows

    def _read(self, rows: U8, a: U64 | np.uint64, access: Access, lanes: Lanes, memory: str) -> None:
        """Undefined bytes are read: by a load, which passes them on, or where they matter at once."""
        numbers, function = self._threads.numbers(lanes), self._report.function
        rows = np.broadcast_to(rows, (len(numbers), access.size))
        if access.number not in function.carries:
            self._report.find(
                UNINITIALIZED,
                f"Read of {memory} that nobody wrote",
                access.number,
                lanes,
                rows.any(1),
                a,
                access.size,
            )
            return
        site = self._site(function, access.number, memory, access.size)
        if self.found is None:
            count = self._threads.count
            self.found = _Rows(np.zeros((count, access.size), np.uint8), np.zeros(count, np.int32))
        self.found.bits[numbers] = rows
        self.found.loaded[numbers] = np.where(rows.any(1), site, 0)
        self._addresses[site][numbers] = a

    def moved_on(self) -> None:
        """What was found is what the next accesses store, until `stored`."""
        self._pending, self.found = self.found, None

    def take_rows(self) -> _Rows | None:
        """What was found, as it lies in memory."""
        found, self.found = self.found, None
        return found

    def give_rows(self, parts: list[tuple[int, _Rows | None]], size: int) -> None:
        """Parts of `size` bytes were found one by one, each at its offset."""
        for start, part in parts:
            if part is not None:
                if self.found is None:
                    shape = len(part.bits), size
                    self.found = _Rows(np.zeros(shape, np.uint8), np.zeros_like(part.loaded))
                self.found.bits[:, start : start + part.bits.shape[1]] = part.bits
                np.maximum(self.found.loaded, part.loaded, out=self.found.loaded)

    def take(self, sizes: tuple[int, ...], lanes: Lanes) -> list[Undefined | None]:
        """What was found, in registers of these sizes."""
        found, self.found = self.found, None
        assert found is not None
        starts = np.cumsum((0, *sizes)).tolist()
        return [found.pack(start, size, lanes) for start, size in zip(starts, sizes)]  # noqa: B905

    def storing(self, values: tuple[tuple[Undefined | None, int], ...], number: int, lanes: Lanes) -> None:
        """The next access stores registers, of each of which `size` bytes, and their undefined bits."""
        numbers, count = self._threads.numbers(lanes), self._threads.count
        rows = _Rows(np.zeros((count, sum(size for _, size in values)), np.uint8), np.zeros(count, np.int32))
        start = 0
        for value, size in values:
            value = _narrowed(value, f"u{size}")
            if value is not None:
                self._tell(value.loaded, value.computed, value.computed > 0, "is stored", number, lanes)
                bits = np.where(value.computed > 0, 0, value.bits).astype(f"u{size}")
                rows.bits[numbers, start : start + size] = bits.view(np.uint8).reshape(-1, size)
                rows.loaded[numbers] = np.maximum(rows.loaded[numbers], value.loaded)
            start += size
        self._pending = rows

    def masking(self, operation: str, values: tuple[Array, ...], lanes: Lanes) -> None:
        """The next access is an atomic with values, until `masked`: and, or, xor define bits one by one."""
        if operation in MASKING:
            self._masks = operation, values, lanes

    def masked(self) -> None:
        """The atomic is made, and what it found is not used."""
        self._masks, self.found = _NO_MASKS, None

    def _kept(self, numbers: I64, lanes: Lanes) -> U8:
        """The bits of memory that stay undefined, as rows of bytes for lanes: those that an atomic does not
        set to a value whatever they are.
        """
        operation, values, asking = self._masks
        columns = []
        for value in values:
            bits = value.view(f"u{value.dtype.itemsize}")
            kept = {"and": bits, "or": ~bits}.get(operation, np.full_like(bits, ~bits.dtype.type(0)))
            whole = np.zeros(self._threads.count, bits.dtype)
            whole[self._threads.numbers(asking)] = kept
            columns.append(whole[numbers].view(np.uint8).reshape(len(numbers), -1))
        return np.concatenate(columns, axis=1)

    def stored(self) -> None:
        """The store is made."""
        self._pending = None

    # Registers.

    def computed(self, number: int, code: str, is_carried_up: bool, *operands: Any) -> Undefined | None:
        """The result of an instruction that computes: of type `code`, from operands that are given each with
        the type that it is taken as.

        is_carried_up: bits below the lowest undefined one do not depend on it, as in sums.
        """
        value = self._merged(operands)
        if value is None:
            return None
        is_undefined = value.bits != 0
        bits: Array = is_undefined
        if code != "?":
            spread = np.negative(value.bits) | value.bits if is_carried_up else ~np.uint64(0)
            bits = np.where(is_undefined, spread, np.uint64(0)).astype(code)
        site = self._site(self._report.function, number)
        computed = np.where(value.computed > 0, value.computed, site).astype(np.int32)
        return cleaned(bits, value.loaded, computed)

    def compared(
        self, number: int, first: Undefined | None, second: Undefined | None, a: Array, b: Array
    ) -> Undefined | None:
        """Of a comparison for equality: defined bits that differ decide it."""
        code = f"u{a.dtype.itemsize}"
        value = self.computed(number, "?", False, first, code, second, code)
        if value is None:
            return None
        unknown = np.zeros(len(value.bits), code)
        for one in (first, second):
            if one is not None:
                unknown |= one.bits.astype(code)
        differ = (a.view(code) ^ b.view(code)) & ~unknown
        return cleaned(value.bits & (differ == 0), value.loaded, value.computed)

    def moved(
        self,
        number: int,
        code: str,
        move: Callable[..., Array],
        operands: tuple[Any, ...],
        controls: tuple[Any, ...],
    ) -> Undefined | None:
        """The result of an instruction that moves bits of `operands`, each with the type that it is taken as,
        as `move` does. If one of `controls` is undefined, so is all of it.
        """
        source = self._merged(operands)
        control = self.computed(number, code, False, *controls) if controls else None
        if source is None:
            return control
        length = len(source.bits)
        taken = []
        for value, kind in zip(operands[::2], operands[1::2]):  # noqa: B905
            bits = np.zeros(length, f"u{int(kind[1:])}") if value is None else value.bits
            taken.append(bits.astype(f"u{int(kind[1:])}").view(kind))
        bits = np.broadcast_to(move(*taken), (length,))
        result = cleaned(bits.view(f"u{bits.dtype.itemsize}").astype(code), source.loaded, source.computed)
        return _either(result, control)

    def bitwise(self, code: str, combine: Callable[..., Array], *operands: Any) -> Undefined | None:
        """The result of a logical instruction, from operands that are given each with its value: bits that
        are the same whatever the undefined bits are, are defined.
        """
        values, numbers = operands[::2], operands[1::2]
        codes = [one.dtype.str.lstrip("<|").replace("b1", "?") for one in numbers]
        source = self._merged(
            tuple(one for pair in zip(values, (c.replace("i", "u") for c in codes)) for one in pair)  # noqa: B905
        )
        if source is None:
            return None
        masks = [
            None if value is None else value.bits.astype(kind.replace("i", "u")).view(kind)
            for value, kind in zip(values, codes)  # noqa: B905
        ]
        base: Array | None = None
        changed: Any = None
        for choice in range(1 << len(numbers)):
            if any(choice >> place & 1 and mask is None for place, mask in enumerate(masks)):
                continue
            taken = [
                number if mask is None else (number | mask if choice >> place & 1 else number & ~mask)
                for place, (number, mask) in enumerate(zip(numbers, masks))  # noqa: B905
            ]
            result = combine(*taken)
            if base is None:
                base, changed = result, result ^ result
            changed = changed | (result ^ base)
        bits = changed if code == "?" else changed.view(f"u{changed.dtype.itemsize}").astype(code)
        return cleaned(bits, source.loaded, source.computed)

    def part(self, value: Undefined, shift: int, code: str) -> Undefined | None:
        """Some bits of a register, as of type `code`."""
        return cleaned((value.bits >> shift).astype(code), value.loaded, value.computed)

    def joined(self, code: str, *parts: Any) -> Undefined | None:
        """A register out of parts: each with its type and where it goes."""
        result: Undefined | None = None
        for value, kind, shift in zip(parts[::3], parts[1::3], parts[2::3]):  # noqa: B905
            value = _narrowed(value, kind)
            if value is not None:
                bits = value.bits.astype(code) << np.dtype(code).type(shift)
                result = _either(result, Undefined(bits, value.loaded, value.computed))
        return result

    def widened(self, value: Undefined | None, code: str, size: int) -> Undefined | None:
        """A value of type `code` in a register of more bytes."""
        if value is None:
            return None
        value = _narrowed(value, f"u{code[1:]}")
        if value is None:
            return None
        bits = value.bits.view(code).astype(f"{code[0]}{size}").view(f"u{size}")
        return Undefined(bits, value.loaded, value.computed)

    def chosen(
        self, number: int, guard: Bools, new: Undefined | None, old: Undefined | None, by: Undefined | None
    ) -> Undefined | None:
        """A register that an instruction with a guard has set, where that is true; `by` is the guard's."""
        some = new or old or by
        if some is None:
            return None
        zeros = Undefined(np.zeros_like(some.bits), np.zeros_like(some.loaded), np.zeros_like(some.loaded))
        one, other = new or zeros, old or zeros
        result: Undefined | None = None
        if new is not None or old is not None:
            result = cleaned(*(np.where(guard, a, b) for a, b in zip(one, other)))  # noqa: B905
        if by is None:
            return result
        code = "?" if some.bits.dtype == bool else f"u{some.bits.dtype.itemsize}"
        return _either(result, self.computed(number, code, False, by, "?"))

    def shuffled(self, value: Undefined, shuffle: Callable[[Array], Array]) -> Undefined | None:
        """A register that comes from other lanes."""
        return cleaned(*(shuffle(one) for one in value))

    def used(self, value: Undefined, how: str, number: int, lanes: Lanes) -> None:
        """Report undefined bits that matter to an instruction."""
        self._tell(value.loaded, value.computed, value.bits != 0, how, number, lanes)

    # Inside.

    def _merged(self, operands: tuple[Any, ...]) -> Undefined | None:
        """All undefined bits of several registers, each of which is taken as of a type, as one word."""
        result: Undefined | None = None
        for value, code in zip(operands[::2], operands[1::2]):  # noqa: B905
            value = _narrowed(value, code)
            if value is not None:
                one = Undefined(value.bits.astype(np.uint64), value.loaded, value.computed)
                result = _either(result, one)
        return result

    def _site(self, function: CompiledFunction, number: int, memory: str = "", size: int = 0) -> int:
        key = (id(function), number, memory)
        site = self._numbers.get(key)
        if site is None:
            site = self._numbers[key] = len(self._sites)
            self._sites.append(Site(function, number, memory, size))
            if memory:
                self._addresses[site] = np.zeros(self._threads.count, np.uint64)
        return site

    def _tell(
        self, loaded: I32, computed: I32 | None, bad: Bools, how: str, number: int, lanes: Lanes
    ) -> None:
        """Report the loads of values that matter in `bad` lanes."""
        report, user = self._report, self._report.function
        for one in np.unique(loaded[bad]).tolist():
            site = self._sites[one]
            if site is None:
                continue
            guilty = bad & (loaded == one)
            place = place_of(report.kernel_name, user, user.instructions[number])
            uses = [f"it {how} {place}"]
            by = 0 if computed is None else int(computed[guilty][0])
            through = self._sites[by]
            if through is not None and (through.function, through.number) != (user, number):
                instruction = through.function.instructions[through.number]
                first = place_of(report.kernel_name, through.function, instruction)
                uses = [f"a result was computed with it {first}", f"the result {how} {place}"]
            numbers = self._threads.numbers(lanes)
            is_global = site.memory.startswith("__global__")
            text, where = f"Read of {site.memory} that nobody wrote", self._addresses[one][numbers]
            note = "\n    ".join(uses)
            report.find(
                UNINITIALIZED,
                text,
                site.number,
                lanes,
                guilty,
                where,
                site.size,
                "" if is_global else note,
                function=site.function,
                also=note if is_global else "",
            )


def cleaned(bits: Array, loaded: I32, computed: I32) -> Undefined | None:
    """None if no bit is undefined."""
    is_undefined = bits != 0
    if not is_undefined.any():
        return None
    return Undefined(
        bits, np.where(is_undefined, loaded, np.int32(0)), np.where(is_undefined, computed, np.int32(0))
    )


def spread(value: Undefined | None, old: Undefined | None, lanes: I64, count: int) -> Undefined | None:
    """What all `count` lanes have: `lanes` what is in `value`, the others what they had."""
    one = value or old
    if one is None:
        return None
    whole = []
    for place, part in enumerate(one):
        column = np.zeros(count, part.dtype) if old is None else old[place].copy()
        column[lanes] = 0 if value is None else value[place]
        whole.append(column)
    return cleaned(*whole)


def _narrowed(value: Undefined | None, code: str) -> Undefined | None:
    """The lower bits of a register, as an unsigned type; a predicate is one bit."""
    if value is None or code == "?" or value.bits.dtype == bool:
        return value
    size = int(code[1:])
    if size >= value.bits.dtype.itemsize:
        return value
    return cleaned(value.bits.astype(f"u{size}"), value.loaded, value.computed)


def _either(one: Undefined | None, other: Undefined | None) -> Undefined | None:
    """Bits that are undefined in one of two."""
    if one is None or other is None:
        return one or other
    return Undefined(
        one.bits | other.bits,
        np.maximum(one.loaded, other.loaded),
        np.maximum(one.computed, other.computed),
    )
