"""What PTX instructions do to the lanes of a chunk, in steps of `vectors`.

Results are bit for bit those of `instructions/` and `arithmetic/`. What is not here raises Unsupported, and
runs there.

Source: PTX ISA, "Instruction Set".
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Protocol

import numpy as np

from ..compile.values import FRAME
from ..ptx.syntax import (
    Address,
    Float,
    Instruction,
    Integer,
    Negation,
    Operand,
    Pair,
    Register,
    Sink,
    Special,
    Symbol,
    Vector,
)
from ..ptx.types import BITS, TYPES, Type, wider
from ..run.layout import SPACES
from . import layout
from .vectors import Vectors

if TYPE_CHECKING:
    from collections.abc import Callable

Value = tuple[int, ...]
"""The numbers of the results that a value of eight lanes is: one, or two of four lanes of 64 bits each."""

PRED, U32, S32, U64, F32, F64 = (TYPES[name] for name in ("pred", "u32", "s32", "u64", "f32", "f64"))
_NAN = 0x7FFFFFFF
_SIGN32, _SIGN64 = 1 << 31, 1 << 63
_COMPARED = {
    "eq": 0x00, "lt": 0x11, "le": 0x12, "gt": 0x1E, "ge": 0x1D, "ne": 0x0C, "equ": 0x08, "neu": 0x04,
    "ltu": 0x19, "leu": 0x1A, "gtu": 0x16, "geu": 0x15, "num": 0x07, "nan": 0x03,
}  # fmt: skip
"""The number with which cmpps is told the relation."""
_ROUNDED = {"rni": 8, "rmi": 9, "rpi": 10, "rzi": 11}
_WAYS = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}


class Unsupported(Exception):
    """There is no machine code for it here."""


class Surroundings(Protocol):
    """What a block needs of its function, and of the region that it is in."""

    registers: dict[str, Type]

    def has_unspecified_nan(self, name: str) -> bool:
        """Whether a NaN in a register may not have the bits that the hardware gives it."""

    def home(self, name: str) -> int:
        """The offset of a register's home."""

    def constant(self, bits: int, size: int) -> int:
        """The offset of a constant."""

    def input(self, expression: str, kind: Type) -> int:
        """The offset of the home of what does not change in a batch: see `inputs.py`."""

    def resolve(self, name: str) -> int | str | tuple[int]:
        """As `FunctionCompiler.resolve`."""

    def parameter(self, name: str, offset: int, kind: Type) -> str | None:
        """The expression of a kernel's parameter; None: its parts are registers of the function."""

    def part_size(self, name: str, offset: int) -> int:
        """The size of the register of a part of a parameter."""

    def is_shared_by_blocks(self, name: str) -> bool:
        """Whether another block may read what is in a register."""


class Lanes:
    """The values of registers in one stretch of a block."""

    def __init__(self, around: Surroundings) -> None:
        self.around = around
        self.code = Vectors()
        self.values: dict[str, tuple[Value, bool]] = {}
        """What registers hold, and whether NaN may have other bits than the hardware's."""
        self.changed: dict[str, None] = {}
        self.guard: int | None = None

    # Constants and operations of either width.

    def constant(self, bits: int, size: int) -> Value:
        one = self.code.constant(self.around.constant(bits & ((1 << 8 * size) - 1), size), size)
        return (one, one) if size == 8 else (one,)

    def each(self, name: str, a: Value, b: Value, number: int | None = None) -> Value:
        return tuple(self.code.op(name, x, y, number) for x, y in zip(a, b, strict=True))

    def one(self, name: str, a: Value, number: int | None = None) -> Value:
        return tuple(self.code.unary(name, x, number) for x in a)

    def shifted(self, name: str, a: Value, count: int) -> Value:
        return tuple(self.code.shift(name, x, count) for x in a)

    def choose(self, mask: int, a: Value, b: Value) -> Value:
        """`a` where a mask of 32-bit lanes is set, else `b`."""
        masks = self.wide_mask(mask) if len(a) == 2 else (mask,)
        return tuple(self.code.blend(y, x, m) for x, y, m in zip(a, b, masks, strict=True))

    def choose_by(self, masks: Value, a: Value, b: Value) -> Value:
        """As `choose`, by masks of the same width."""
        return tuple(self.code.blend(y, x, m) for x, y, m in zip(a, b, masks, strict=True))

    def wide_mask(self, mask: int) -> Value:
        return self.widened((mask,), signed=True)

    def widened(self, a: Value, signed: bool) -> Value:
        name = "pmovsxdq" if signed else "pmovzxdq"
        return self.code.widen(name, a[0]), self.code.widen(name, self.code.upper(a[0]))

    def low_words(self, a: Value) -> Value:
        """The lower 32 bits of 64."""
        return (self.code.unary("permq", self.code.op("shufps", a[0], a[1], 0x88), 0xD8),)

    def high_words(self, a: Value) -> Value:
        return (self.code.unary("permq", self.code.op("shufps", a[0], a[1], 0xDD), 0xD8),)

    def words(self, low: Value, high: Value) -> Value:
        """64 bits of two times 32."""
        return self.each(
            "por", self.widened(low, False), self.shifted("psllq", self.widened(high, False), 32)
        )

    def inverted(self, mask: Value) -> Value:
        return self.each("pxor", mask, self.all_ones(len(mask)))

    def all_ones(self, parts: int) -> Value:
        return self.constant(-1, 8 if parts == 2 else 4)

    def doubles(self, a: Value, signed: bool) -> Value:
        """Whole numbers of 32 bits in binary64."""
        if signed:
            return self.code.widen("cvtdq2pd", a[0]), self.code.widen("cvtdq2pd", self.code.upper(a[0]))
        moved = self.each("pxor", a, self.constant(_SIGN32, 4))
        return self.each("addpd", self.doubles(moved, True), self.number64(2.0**31))

    def whole(self, a: Value, signed: bool) -> Value:
        """Binary64 in the range of 32 bits, cut to a whole number."""
        if not signed:
            moved = self.each("subpd", self.one("roundpd", a, 11), self.number64(2.0**31))
            return self.each("pxor", self.whole(moved, True), self.constant(_SIGN32, 4))
        low, high = (self.code.narrow("cvttpd2dq", x) for x in a)
        return (self.code.op("inserti128", low, high, 1),)

    def singles_of(self, a: Value) -> Value:
        """Binary64 as binary32."""
        low, high = (self.code.narrow("cvtpd2ps", x) for x in a)
        return (self.code.op("inserti128", low, high, 1),)

    def doubles_of(self, a: Value) -> Value:
        """Binary32 as binary64."""
        return self.code.widen("cvtps2pd", a[0]), self.code.widen("cvtps2pd", self.code.upper(a[0]))

    def number32(self, x: float) -> Value:
        return self.constant(struct.unpack("<I", struct.pack("<f", x))[0], 4)

    def number64(self, x: float) -> Value:
        return self.constant(struct.unpack("<Q", struct.pack("<d", x))[0], 8)

    def canonical(self, a: Value) -> Value:
        """Binary32 with the hardware's NaN."""
        return self.choose(self.code.op("cmpps", a[0], a[0], 3), self.constant(_NAN, 4), a)

    def flushed(self, a: Value) -> Value:
        size = self.each("pand", a, self.constant(_NAN, 4))
        small = self.code.op("cmpps", size[0], self.number32(2.0**-126)[0], 0x11)
        return self.choose(small, self.each("pand", a, self.constant(_SIGN32, 4)), a)

    def extended(self, a: Value, kind: Type) -> Value:
        """The lower 8 or 16 bits, extended to 32."""
        bits = 32 - 8 * kind.size
        if kind.kind == "s":
            return self.shifted("psrad", self.shifted("pslld", a, bits), bits)
        return self.each("pand", a, self.constant((1 << 8 * kind.size) - 1, 4))

    # Registers and operands.

    def value(self, name: str) -> tuple[Value, bool]:
        known = self.values.get(name)
        if known is None:
            kind = self.around.registers.get(name)
            if kind is None or kind.size == 16:
                raise Unsupported
            home = self.around.home(name)
            known = self.at(home, kind.size == 8), self.around.has_unspecified_nan(name)
            self.values[name] = known
        return known

    def at(self, offset: int, wide: bool) -> Value:
        """What lies in a home."""
        if wide:
            return self.code.load(offset, 2), self.code.load(offset + 32, 2)
        return (self.code.load(offset),)

    def read(self, operand: Operand, kind: Type) -> Value:
        if isinstance(operand, Register):
            return self._read_register(operand.name, kind)
        if isinstance(operand, Integer):
            if kind.kind == "p":
                return self.constant(-1 if operand.value else 0, 4)
            if kind.kind == "f":
                return self._float(float(operand.value), kind)
            return self._whole_constant(operand.value, kind)
        if isinstance(operand, Float):
            if kind.kind == "f" and kind.size != operand.size:
                return self._float(operand.number, kind)
            if kind.size != operand.size:
                raise Unsupported
            return self.constant(operand.bits, kind.size)
        if isinstance(operand, Negation):
            return self.inverted(self._read_register(operand.operand.name, kind))
        if isinstance(operand, Special):
            return self._special(operand.name, kind)
        if isinstance(operand, Symbol):
            return self._symbol(operand, kind)
        raise Unsupported

    def _whole_constant(self, value: int, kind: Type) -> Value:
        if kind.size >= 4:
            return self.constant(value, kind.size)
        value &= (1 << 8 * kind.size) - 1
        if kind.kind == "s" and value >> (8 * kind.size - 1):
            value -= 1 << 8 * kind.size
        return self.constant(value, 4)

    def _float(self, x: float, kind: Type) -> Value:
        if kind.size < 4:
            raise Unsupported
        return self.constant(int.from_bytes(np.array(x, kind.code).tobytes(), "little"), kind.size)

    def _read_register(self, name: str, kind: Type) -> Value:
        declared = self.around.registers.get(name)
        if declared is None or (declared.kind == "p") != (kind.kind == "p") or declared.size < kind.size:
            raise Unsupported
        value, nan = self.value(name)
        if nan and kind.name != "f32":
            value = self.canonical(value)
            self.values[name] = value, False
        if kind.kind == "p":
            return value
        if declared.size == 8 and kind.size < 8:
            value = self.low_words(value)
        if kind.size < 4 and (declared.size > kind.size or kind.kind == "s"):
            value = self.extended(value, kind)
        return value

    def has_nan(self, operand: Operand) -> bool:
        return isinstance(operand, Register) and self.value(operand.name)[1]

    def _special(self, name: str, kind: Type) -> Value:
        if name.startswith(("%clock", "%globaltimer")) or kind.kind == "p" or kind.size < 4:
            raise Unsupported
        wide = name in ("%gridid", "%current_graph_exec")
        if name == "%is_explicit_cluster" or (kind.size == 8 and not wide):
            raise Unsupported
        value = self.at(self.around.input(f"special {name}", U64 if wide else U32), wide)
        return self.low_words(value) if wide and kind.size == 4 else value

    def _symbol(self, operand: Symbol, kind: Type) -> Value:
        if kind.size < 4 or kind.kind in "fp":
            raise Unsupported
        resolved = self.around.resolve(operand.name)
        if isinstance(resolved, int):
            return self.constant(resolved + operand.offset, kind.size)
        if isinstance(resolved, tuple):
            base = self._read_register(FRAME, U64)
            offset = resolved[0] + operand.offset
        else:
            base, offset = self.at(self.around.input(resolved, U64), True), operand.offset
        value = self.each("paddq", base, self.constant(offset, 8)) if offset else base
        return value if kind.size == 8 else self.low_words(value)

    def address(self, operand: Operand) -> Value:
        if not isinstance(operand, Address):
            raise Unsupported
        base, offset = operand.base, operand.offset
        if isinstance(base, Symbol):
            return self._symbol(Symbol(base.name, base.offset + offset), U64)
        if isinstance(base, Integer):
            return self.constant(base.value + offset, 8)
        if not isinstance(base, Register) or base.name not in self.around.registers:
            raise Unsupported
        if self.around.registers[base.name].size == 4:
            value = self.read(base, U32)
            if offset:
                value = self.each("paddd", value, self.constant(offset, 4))
            return self.widened(value, False)
        value = self.read(base, U64)
        return self.each("paddq", value, self.constant(offset, 8)) if offset else value

    def write(self, operand: Operand, value: Value, kind: Type, nan: bool = False) -> None:
        """As `BlockWriter.write`. Numbers of less than 32 bits may have anything above."""
        if isinstance(operand, Sink):
            return
        if not isinstance(operand, Register):
            raise Unsupported
        target = self.around.registers.get(operand.name)
        if target is None or target.size < kind.size or target.size == 16:
            raise Unsupported
        if (target.kind == "p") != (kind.kind == "p"):
            raise Unsupported
        if kind.kind != "p":
            if nan and target.size > 4:
                value, nan = self.canonical(value), False
            if kind.size < 4:
                value = self.extended(value, kind)
            if target.size == 8 and kind.size < 8:
                value = self.widened(value, kind.kind == "s")
            elif target.size == 2 and kind.kind == "s":
                value = self.each("pand", value, self.constant(0xFFFF, 4))
        self.set(operand.name, value, nan)

    def set(self, name: str, value: Value, nan: bool = False) -> None:
        if self.guard is not None:
            old, was = self.value(name)
            value, nan = self.choose(self.guard, value, old), nan or was
        self.values[name] = value, nan
        self.changed[name] = None

    def truth(self, instruction: Instruction) -> int | None:
        if instruction.guard is None:
            return None
        value = self.read(instruction.guard, PRED)
        return (self.inverted(value) if instruction.negated else value)[0]

    def run(self, instruction: Instruction, groups: dict[str, str]) -> None:
        """Add the steps of an instruction. Raises Unsupported."""
        name = instruction.name
        if name in ("ld", "st"):
            name += ".param"
        rule = _INSTRUCTIONS.get(name)
        if rule is None:
            raise Unsupported
        self.guard = None
        self.guard = self.truth(instruction)
        try:
            rule(self, instruction, groups)
        except (KeyError, IndexError, ValueError) as error:
            raise Unsupported from error
        self.guard = None


# Whole numbers.


def _kind(groups: dict[str, str]) -> Type:
    kind = TYPES[groups["T"]]
    if kind.kind == "x" or kind.size == 16 or kind.name in ("f16", "tf32"):
        raise Unsupported
    return kind


def _pick(kind: Type, name: str) -> str:
    """The name of a packed operation on 32 or 64 bits."""
    return name + ("q" if kind.size == 8 else "d")


def _product(lanes: Lanes, a: Value, b: Value, kind: Type) -> Value:
    if kind.size < 8:
        return lanes.each("pmulld", a, b)
    low = lanes.each("pmuludq", a, b)
    first = lanes.each("pmuludq", lanes.shifted("psrlq", a, 32), b)
    second = lanes.each("pmuludq", a, lanes.shifted("psrlq", b, 32))
    return lanes.each("paddq", low, lanes.shifted("psllq", lanes.each("paddq", first, second), 32))


def _wide_product(lanes: Lanes, a: Value, b: Value, kind: Type) -> Value:
    """64 bits of 32, or 32 of 16."""
    if kind.size == 2:
        return lanes.each("pmulld", a, b)
    signed = kind.kind == "s"
    wide = [lanes.widened(one, signed) for one in (a, b)]
    return lanes.each("pmuldq" if signed else "pmuludq", *wide)


def _add(lanes: Lanes, instruction: Instruction, groups: dict[str, str]) -> None:
    kind = _kind(groups)
    if kind.kind == "f":
        _float_sum(lanes, instruction, groups, kind)
        return
    _refuse(groups, instruction, "sat")
    if instruction.opcode.count(".") > 1 or len(instruction.operands) != 3:
        raise Unsupported
    target, x, y = instruction.operands
    a, b = lanes.read(x, kind), lanes.read(y, kind)
    lanes.write(target, lanes.each(_pick(kind, "p" + instruction.name), a, b), kind)


def _refuse(groups: dict[str, str], instruction: Instruction, *names: str) -> None:
    if any(groups.get(name) for name in names) or any(f".{name}" in instruction.opcode for name in names):
        raise Unsupported


def _multiply(lanes: Lanes, instruction: Instruction, groups: dict[str, str]) -> None:
    """mul and mad of whole numbers."""
    kind = _kind(groups)
    if kind.kind == "f":
        _float_product(lanes, instruction, groups, kind)
        return
    _refuse(groups, instruction, "sat", "cc")
    target, x, y, *more = instruction.operands
    a, b = lanes.read(x, kind), lanes.read(y, kind)
    if ".wide" in instruction.opcode:
        result, kind = _wide_product(lanes, a, b, kind), TYPES[wider(kind.name)]
    elif ".hi" in instruction.opcode:
        if kind.size == 2:
            result = lanes.shifted("psrad", lanes.each("pmulld", a, b), 16)
        elif kind.size == 4:
            result = lanes.high_words(_wide_product(lanes, a, b, kind))
        else:
            result = _high_product64(lanes, a, b, kind.kind == "s")
    else:
        result = _product(lanes, a, b, kind)
    if more:
        result = lanes.each(_pick(kind, "padd"), result, lanes.read(more[0], kind))
    lanes.write(target, result, kind)


def _high_product64(lanes: Lanes, a: Value, b: Value, signed: bool) -> Value:
    mask = lanes.constant(0xFFFFFFFF, 8)
    x1, y1 = lanes.shifted("psrlq", a, 32), lanes.shifted("psrlq", b, 32)
    lowest = lanes.shifted("psrlq", lanes.each("pmuludq", a, b), 32)
    middle = lanes.each("paddq", lanes.each("pmuludq", x1, b), lowest)
    other = lanes.each("paddq", lanes.each("pand", middle, mask), lanes.each("pmuludq", a, y1))
    high = lanes.each("paddq", lanes.each("pmuludq", x1, y1), lanes.shifted("psrlq", middle, 32))
    high = lanes.each("paddq", high, lanes.shifted("psrlq", other, 32))
    if signed:
        for one, factor in ((a, b), (b, a)):
            high = lanes.each("psubq", high, lanes.each("pand", _negative(lanes, one), factor))
    return high


def _negative(lanes: Lanes, a: Value) -> Value:
    """The masks of negative whole numbers."""
    if len(a) == 2:
        return lanes.each("pcmpgtq", lanes.constant(0, 8), a)
    return lanes.shifted("psrad", a, 31)


def _divide(lanes: Lanes, instruction: Instruction, groups: dict[str, str]) -> None:
    """div and rem: in binary64, which has each quotient of 32 bits exactly enough to cut it."""
    kind = _kind(groups)
    if kind.kind == "f":
        _float_quotient(lanes, instruction, groups, kind)
        return
    if kind.size == 8:
        raise Unsupported
    signed = kind.kind == "s"
    target, x, y = instruction.operands
    a, b = lanes.read(x, kind), lanes.read(y, kind)
    ratio = lanes.each("divpd", lanes.doubles(a, signed), lanes.doubles(b, signed))
    result = lanes.whole(ratio, signed)
    if instruction.name == "rem":
        result = lanes.each("psubd", a, lanes.each("pmulld", result, b))
    by_zero = lanes.each("pcmpeqd", b, lanes.constant(0, 4))
    lanes.write(target, lanes.each("por", result, by_zero), kind)


def _extreme(lanes: Lanes, instruction: Instruction, groups: dict[str, str]) -> None:
    """min and max."""
    kind = _kind(groups)
    if kind.kind == "f":
        _float_extreme(lanes, instruction, groups, kind)
        return
    _refuse(groups, instruction, "relu")
    target, x, y = instruction.operands
    a, b = lanes.read(x, kind), lanes.read(y, kind)
    if kind.size == 8:
        first, second = (a, b) if instruction.name == "max" else (b, a)
        result = lanes.choose_by(_greater(lanes, first, second, kind), a, b)
    else:
        result = lanes.each(f"p{instruction.name}{'s' if kind.kind == 's' else 'u'}d", a, b)
    lanes.write(target, result, kind)


def _greater(lanes: Lanes, a: Value, b: Value, kind: Type) -> Value:
    """The masks of a > b, of whole numbers."""
    if kind.kind != "s":
        sign = lanes.constant(_SIGN64 if kind.size == 8 else _SIGN32, 8 if kind.size == 8 else 4)
        a, b = lanes.each("pxor", a, sign), lanes.each("pxor", b, sign)
    return lanes.each(_pick(kind, "pcmpgt"), a, b)


def _negate(lanes: Lanes, instruction: Instruction, groups: dict[str, str]) -> None:
    """neg and abs."""
    kind = _kind(groups)
    target, x = instruction.operands
    a = lanes.read(x, kind)
    if kind.kind == "f":
        _float_sign(lanes, instruction, groups, kind, a)
        return
    if instruction.name == "neg":
        result = lanes.each(_pick(kind, "psub"), lanes.constant(0, max(kind.size, 4)), a)
    elif kind.size < 8:
        result = lanes.one("pabsd", a)
    else:
        negative = _negative(lanes, a)
        result = lanes.each("psubq", lanes.each("pxor", a, negative), negative)
    lanes.write(target, result, kind)


def _logic(lanes: Lanes, instruction: Instruction, groups: dict[str, str]) -> None:
    """and, or, xor."""
    kind = _kind(groups)
    target, x, y = instruction.operands
    lanes.write(target, lanes.each(f"p{instruction.name}", lanes.read(x, kind), lanes.read(y, kind)), kind)


def _not(lanes: Lanes, instruction: Instruction, groups: dict[str, str]) -> None:
    kind = _kind(groups)
    target, x = instruction.operands
    lanes.write(target, lanes.inverted(lanes.read(x, kind)), kind)


def _logic_of_three(lanes: Lanes, instruction: Instruction, groups: dict[str, str]) -> None:
    """lop3: by the third operand one of two functions of the others."""
    target, x, y, z, *more = instruction.operands
    table = more[0] if len(more) == 1 else None
    if not isinstance(table, Integer) or not isinstance(target, (Register, Sink)):
        raise Unsupported
    bits = TYPES["b32"]
    a, b, c = (lanes.read(one, bits) for one in (x, y, z))

    def of_one(yes: bool, no: bool) -> Value:
        if yes == no:
            return lanes.constant(-1 if yes else 0, 4)
        return a if yes else lanes.inverted(a)

    def chosen(mask: Value, yes: Value, no: Value) -> Value:
        if yes == no:
            return yes
        return lanes.each("pxor", no, lanes.each("pand", lanes.each("pxor", yes, no), mask))

    def of_two(last: int) -> Value:
        def entry(first: int, second: int) -> bool:
            return bool(table.value >> (first << 2 | second << 1 | last) & 1)

        yes, no = (of_one(entry(1, second), entry(0, second)) for second in (1, 0))
        return chosen(b, yes, no)

    lanes.write(target, chosen(c, of_two(1), of_two(0)), bits)


def _shift(lanes: Lanes, instruction: Instruction, groups: dict[str, str]) -> None:
    """shl and shr: an amount beyond the width leaves nothing but the sign."""
    kind = _kind(groups)
    target, x, amount = instruction.operands
    a = lanes.read(x, kind)
    left = instruction.name == "shl"
    if isinstance(amount, Integer) and 0 <= amount.value < 8 * kind.size:
        count = amount.value
        if kind.size == 8 and not left and kind.kind == "s":
            negative = _negative(lanes, a)
            moved = lanes.shifted("psrlq", lanes.each("pxor", a, negative), count)
            result = lanes.each("pxor", moved, negative)
        else:
            name = "psll" if left else "psra" if kind.kind == "s" else "psrl"
            result = lanes.shifted(_pick(kind, name), a, count)
    else:
        count32 = lanes.read(amount, U32)
        if kind.size < 8:
            name = "psllvd" if left else "psravd" if kind.kind == "s" else "psrlvd"
            result = lanes.each(name, a, count32)
        else:
            count64 = lanes.widened(count32, False)
            if left or kind.kind != "s":
                result = lanes.each("psllvq" if left else "psrlvq", a, count64)
            else:
                negative = _negative(lanes, a)
                moved = lanes.each("psrlvq", lanes.each("pxor", a, negative), count64)
                result = lanes.each("pxor", moved, negative)
    lanes.write(target, result, kind)


def _shift_funnel(lanes: Lanes, instruction: Instruction, groups: dict[str, str]) -> None:
    target, *operands = instruction.operands
    a, b, n = (lanes.read(one, TYPES["b32"]) for one in operands)
    if groups["mode"] == "clamp":
        n = lanes.each("pminud", n, lanes.constant(32, 4))
    else:
        n = lanes.each("pand", n, lanes.constant(31, 4))
    rest = lanes.each("psubd", lanes.constant(32, 4), n)
    if groups["way"] == "l":
        result = lanes.each("por", lanes.each("psllvd", b, n), lanes.each("psrlvd", a, rest))
    else:
        result = lanes.each("por", lanes.each("psrlvd", a, n), lanes.each("psllvd", b, rest))
    lanes.write(target, result, TYPES["b32"])


def _relation(lanes: Lanes, instruction: Instruction, groups: dict[str, str]) -> int:
    kind = _kind(groups)
    a, b = (lanes.read(one, kind) for one in instruction.operands[1:3])
    relation = groups["relation"]
    if kind.kind == "f":
        if groups.get("ftz"):
            a, b = lanes.flushed(a), lanes.flushed(b)
        masks = lanes.each("cmppd" if kind.size == 8 else "cmpps", a, b, _COMPARED[relation])
    else:
        relation = _WAYS.get(relation, relation)
        if relation in ("eq", "ne"):
            masks = lanes.each(_pick(kind, "pcmpeq"), a, b)
        else:
            masks = _greater(lanes, *((a, b) if relation in ("gt", "le") else (b, a)), kind)
        if relation in ("ne", "le", "ge"):
            masks = lanes.inverted(masks)
    return lanes.low_words(masks)[0] if len(masks) == 2 else masks[0]


def _set_predicate(lanes: Lanes, instruction: Instruction, groups: dict[str, str]) -> None:
    """setp"""
    target = instruction.operands[0]
    plain: Value = (_relation(lanes, instruction, groups),)
    results = [plain, lanes.inverted(plain)] if isinstance(target, Pair) else [plain]
    if groups.get("combine"):
        other = lanes.read(instruction.operands[3], PRED)
        results = [lanes.each(f"p{groups['combine']}", one, other) for one in results]
    targets = (target.first, target.second) if isinstance(target, Pair) else (target,)
    for one, result in zip(targets, results, strict=True):
        lanes.write(one, result, PRED)


def _set(lanes: Lanes, instruction: Instruction, groups: dict[str, str]) -> None:
    """set"""
    if groups.get("combine") or groups["D"] not in ("u32", "s32", "f32"):
        raise Unsupported
    result: Value = (_relation(lanes, instruction, groups),)
    if groups["D"] == "f32":
        result = lanes.each("pand", result, lanes.number32(1.0))
    lanes.write(instruction.operands[0], result, TYPES[groups["D"]])


def _select(lanes: Lanes, instruction: Instruction, groups: dict[str, str]) -> None:
    """selp"""
    kind = _kind(groups)
    target, x, y, condition = instruction.operands
    nan = lanes.has_nan(x) or lanes.has_nan(y)
    if nan and kind.name != "f32":
        nan = False
    a, b = lanes.read(x, kind), lanes.read(y, kind)
    lanes.write(target, lanes.choose(lanes.read(condition, PRED)[0], a, b), kind, nan)


# Floats.


def _require(groups: dict[str, str]) -> bool:
    """Whether subnormal numbers are flushed; Unsupported but for rounding to nearest."""
    if (groups.get("rnd") or "rn") != "rn":
        raise Unsupported
    return bool(groups.get("ftz"))


def _finish(lanes: Lanes, target: Operand, value: Value, kind: Type, groups: dict[str, str]) -> None:
    if groups.get("ftz") and kind.size == 4:
        value = lanes.flushed(value)
    if groups.get("sat"):
        if kind.size == 8:
            raise Unsupported
        value = lanes.each("minps", lanes.each("maxps", value, lanes.number32(0.0)), lanes.number32(1.0))
    lanes.write(target, value, kind, nan=kind.size == 4)


def _operands(lanes: Lanes, instruction: Instruction, groups: dict[str, str], kind: Type) -> list[Value]:
    flushes = groups.get("ftz") and kind.size == 4
    values = [lanes.read(one, kind) for one in instruction.operands[1:]]
    return [lanes.flushed(one) for one in values] if flushes else values


def _float_sum(lanes: Lanes, instruction: Instruction, groups: dict[str, str], kind: Type) -> None:
    _require(groups)
    a, b = _operands(lanes, instruction, groups, kind)
    if kind.size == 4:
        result = lanes.each(f"{instruction.name}ps", a, b)
    elif instruction.name == "add":
        result = lanes.each("addpd", b, a)  # of two NaN the second one is chosen
    else:
        result = _nan64(lanes, lanes.each("subpd", a, b), a, b, a)
    _finish(lanes, instruction.operands[0], result, kind, groups)


def _nan64(lanes: Lanes, result: Value, a: Value, b: Value, c: Value) -> Value:
    return tuple(lanes.code.nan64(*each) for each in zip(result, a, b, c, strict=True))


def _float_product(lanes: Lanes, instruction: Instruction, groups: dict[str, str], kind: Type) -> None:
    """mul, mad and fma."""
    flushes = _require(groups)
    a, b, *more = _operands(lanes, instruction, groups, kind)
    if kind.size == 8:
        if more:
            result = tuple(
                lanes.code.fused("fmadd213pd", x, y, z) for x, y, z in zip(a, b, more[0], strict=True)
            )
            result = _nan64(lanes, result, a, b, more[0])
        else:
            result = lanes.each("mulpd", b, a)
    else:
        if more:
            result = (lanes.code.fused("fmadd213ps", a[0], b[0], more[0][0]),)
        else:
            result = lanes.each("mulps", a, b)
        if flushes:
            result = (lanes.code.settled(result[0], a[0], b[0], more[0][0] if more else None),)
    _finish(lanes, instruction.operands[0], result, kind, groups)


def _float_quotient(lanes: Lanes, instruction: Instruction, groups: dict[str, str], kind: Type) -> None:
    """div"""
    a, b = _operands(lanes, instruction, groups, kind)
    if ".approx" not in instruction.opcode and ".full" not in instruction.opcode and _require(groups):
        raise Unsupported  # of a result that is flushed it matters how it was rounded
    result = lanes.each("divpd" if kind.size == 8 else "divps", a, b)
    if ".approx" in instruction.opcode:
        size = lanes.each("pand", b, lanes.constant(_NAN, 4))
        above = lanes.each("cmpps", size, lanes.number32(2.0**126), _COMPARED["gt"])
        finite = lanes.each("cmpps", size, lanes.constant(0x7F800000, 4), _COMPARED["lt"])
        zero = lanes.each("pand", b, lanes.constant(_SIGN32, 4))
        lost = lanes.each("mulps", a, zero)
        result = lanes.choose(lanes.each("pand", above, finite)[0], lost, result)
    _finish(lanes, instruction.operands[0], result, kind, groups)


def _reciprocal(lanes: Lanes, instruction: Instruction, groups: dict[str, str]) -> None:
    """rcp, sqrt, rsqrt"""
    kind = _kind(groups)
    approximate = ".approx" in instruction.opcode
    if kind.size == 8 and approximate and groups.get("ftz", "ftz" in instruction.opcode):
        raise Unsupported
    flushes = False if approximate else _require(groups)
    if flushes and instruction.name == "rcp":
        raise Unsupported
    (a,) = _operands(lanes, instruction, groups, kind)
    suffix = "pd" if kind.size == 8 else "ps"
    if instruction.name == "sqrt":
        result = lanes.one(f"sqrt{suffix}", a)
    elif instruction.name == "rcp":
        one = lanes.number64(1.0) if kind.size == 8 else lanes.number32(1.0)
        result = lanes.each(f"div{suffix}", one, a)
    else:
        wide = a if kind.size == 8 else lanes.doubles_of(a)
        result = lanes.each("divpd", lanes.number64(1.0), lanes.one("sqrtpd", wide))
        if kind.size == 4:
            result = lanes.singles_of(result)
    _finish(lanes, instruction.operands[0], result, kind, groups)


def _float_extreme(lanes: Lanes, instruction: Instruction, groups: dict[str, str], kind: Type) -> None:
    """min and max: -0 is before +0; of a number and NaN the number, unless .NaN is said."""
    _refuse(groups, instruction, "xorsign", "abs")
    if len(instruction.operands) != 3:
        raise Unsupported
    a, b = _operands(lanes, instruction, groups, kind)
    suffix = "pd" if kind.size == 8 else "ps"
    result = lanes.each(f"{instruction.name}{suffix}", a, b)
    result = lanes.choose_by(lanes.each(f"cmp{suffix}", b, b, 3), a, result)
    same = lanes.each("por" if instruction.name == "min" else "pand", a, b)
    result = lanes.choose_by(lanes.each(f"cmp{suffix}", a, b, 0), same, result)
    if kind.size == 8:
        result = _nan64(lanes, result, a, b, a)
    elif groups.get("NaN"):
        result = lanes.choose_by(lanes.each("cmpps", a, b, 3), lanes.constant(_NAN, 4), result)
    _finish(lanes, instruction.operands[0], result, kind, groups)


def _float_sign(lanes: Lanes, instruction: Instruction, groups: dict[str, str], kind: Type, a: Value) -> None:
    """neg and abs"""
    if groups.get("ftz"):
        a = lanes.flushed(a)
    size, sign = (8, _SIGN64) if kind.size == 8 else (4, _SIGN32)
    if instruction.name == "neg":
        result = lanes.each("pxor", a, lanes.constant(sign, size))
    else:
        result = lanes.each("pand", a, lanes.constant(sign - 1, size))
    if size == 8:
        result = lanes.choose_by(lanes.each("cmppd", a, a, 3), lanes.each("addpd", a, a), result)
    _finish(lanes, instruction.operands[0], result, kind, groups)


# Conversions.


def _convert(lanes: Lanes, instruction: Instruction, groups: dict[str, str]) -> None:
    """cvt"""
    source, target = TYPES[groups["S"]], TYPES[groups["D"]]
    if len(instruction.operands) != 2:
        raise Unsupported
    way = groups.get("way") or ""
    _refuse(groups, instruction, "ftz", "relu", "satfinite")
    destination, x = instruction.operands
    plain = (*F32, *F64)
    if (source.kind in "fx" and source.name not in plain) or (target.kind in "fx" and target.name not in plain):
        raise Unsupported
    if target.kind != "f":
        if source.kind == "f":
            value = _to_whole(lanes, lanes.read(x, source), source, target, way)
        else:
            if groups.get("sat"):
                raise Unsupported
            value = lanes.read(x, source)
            if source.size == 8 and target.size < 8:
                value = lanes.low_words(value)
            elif target.size == 8 and source.size < 8:
                value = lanes.widened(value, source.kind == "s")
        lanes.write(destination, value, target)
        return
    if source.kind != "f":
        if source.size == 8 or way != "rn":
            raise Unsupported
        value = lanes.read(x, source)
        signed = source.kind == "s" or source.size < 4
        if target.size == 8:
            value = lanes.doubles(value, signed)
        elif signed:
            value = lanes.one("cvtdq2ps", value)
        else:
            value = lanes.singles_of(lanes.doubles(value, False))
        nan = False
    elif source.size == target.size:
        value = lanes.read(x, source)
        nan = lanes.has_nan(x) if not way else source.size == 4
        if way:
            value = lanes.one("roundpd" if source.size == 8 else "roundps", value, _ROUNDED[way])
    elif target.size == 8:
        value = lanes.read(x, source)
        if lanes.has_nan(x):
            value = lanes.canonical(value)
        value, nan = lanes.doubles_of(value), False
    else:
        if way != "rn":
            raise Unsupported
        value, nan = lanes.singles_of(lanes.read(x, source)), False
    if groups.get("sat"):
        if target.size == 8:
            raise Unsupported
        value = lanes.each("minps", lanes.each("maxps", value, lanes.number32(0.0)), lanes.number32(1.0))
    lanes.write(destination, value, target, nan)


def _to_whole(lanes: Lanes, value: Value, source: Type, target: Type, way: str) -> Value:
    """Clamped to the range of the target."""
    if target.size == 8:
        raise Unsupported
    wide = lanes.doubles_of(value) if source.size == 4 else value
    rounded = lanes.one("roundpd", wide, _ROUNDED[way])
    limits = np.iinfo(target.code)
    clamped = lanes.each("maxpd", rounded, lanes.number64(float(limits.min)))
    clamped = lanes.each("minpd", clamped, lanes.number64(float(limits.max)))
    result = lanes.whole(clamped, target.kind == "s")
    bad = lanes.low_words(lanes.each("cmppd", wide, wide, 3))
    if source.size == 8:
        nothing = (1 << (8 * target.size - 1)) if target.kind == "u" else int(limits.min)
    else:
        nothing = 0
    return lanes.choose(bad[0], lanes.constant(nothing, 4), result)


# Data.


def _move(lanes: Lanes, instruction: Instruction, groups: dict[str, str]) -> None:
    kind = TYPES[groups["T"]]
    target, source = instruction.operands
    if kind.size == 16:
        raise Unsupported
    if isinstance(target, Vector):
        if kind.size != 8 or len(target.items) != 2:
            raise Unsupported
        value = lanes.read(source, U64)
        for item, half in zip(target.items, (lanes.low_words(value), lanes.high_words(value)), strict=True):
            lanes.write(item, half, U32)
        return
    if isinstance(source, Vector):
        if kind.size != 8 or len(source.items) != 2:
            raise Unsupported
        low, high = (lanes.read(item, U32) for item in source.items)
        lanes.write(target, lanes.words(low, high), TYPES["b64"])
        return
    registers = lanes.around.registers
    if (
        isinstance(source, Register)
        and isinstance(target, Register)
        and source.name in registers
        and target.name in registers
        and registers[source.name].size == registers[target.name].size < 16
        and registers[source.name].kind != "p"
    ):
        lanes.set(target.name, *lanes.value(source.name))
        return
    lanes.write(target, lanes.read(source, kind), kind, lanes.has_nan(source) and kind.name == "f32")


def _convert_address(lanes: Lanes, instruction: Instruction, groups: dict[str, str]) -> None:
    space, _, part = groups["space"].partition("::")
    base = SPACES.get("cluster" if part == "cluster" else space, 0)
    target, source = instruction.operands
    value = lanes.read(source, U64)
    if base:
        value = lanes.each("psubq" if groups.get("to") else "paddq", value, lanes.constant(base, 8))
    lanes.write(target, value, U64)


def _load_parameter(lanes: Lanes, instruction: Instruction, groups: dict[str, str]) -> None:
    """ld.param: what all threads have, or a register of the function."""
    kind = TYPES[groups["T"]]
    target, address = instruction.operands
    if not isinstance(address, Address) or not isinstance(address.base, Symbol):
        raise Unsupported
    items = target.items if isinstance(target, Vector) else (target,)
    for number, item in enumerate(items):
        name, offset = address.base.name, address.base.offset + address.offset + number * kind.size
        expression = lanes.around.parameter(name, offset, kind)
        if expression is not None:
            value = lanes.at(lanes.around.input(expression, kind), kind.size == 8)
            if kind.size < 4:
                value = lanes.extended(value, kind)
            lanes.write(item, value, kind)
        elif lanes.around.part_size(name, offset) != kind.size or kind.kind == "p":
            raise Unsupported
        else:
            nan = kind.name == "f32" and lanes.value(f"{name}+{offset}")[1]
            lanes.write(item, lanes.read(Register(f"{name}+{offset}"), kind), kind, nan)


def _store_parameter(lanes: Lanes, instruction: Instruction, groups: dict[str, str]) -> None:
    """st.param, into registers."""
    kind = TYPES[groups["T"]]
    address, source = instruction.operands
    if not isinstance(address, Address) or not isinstance(address.base, Symbol):
        raise Unsupported
    items = source.items if isinstance(source, Vector) else (source,)
    for number, item in enumerate(items):
        name, offset = address.base.name, address.base.offset + address.offset + number * kind.size
        if lanes.around.part_size(name, offset) != kind.size:
            raise Unsupported
        bits = TYPES[BITS[kind.size]]
        lanes.write(Register(f"{name}+{offset}"), lanes.read(item, bits), bits)


# What the lanes of a warp do together: all of them are active.


def shuffle(lanes: Lanes, instruction: Instruction, groups: dict[str, str]) -> None:
    """shfl, of what lies at VALUES. As in `run/warp.py`."""
    target, _, *operands = instruction.operands
    b, c = (lanes.read(one, TYPES["b32"]) for one in operands[:2])
    low, lane = lanes.constant(31, 4), lanes.at(layout.LANE, False)
    b, clamp = lanes.each("pand", b, low), lanes.each("pand", c, low)
    segment = lanes.each("pand", lanes.shifted("psrld", c, 8), low)
    first = lanes.each("pand", lane, segment)
    last = lanes.each("por", first, lanes.each("pandn", segment, clamp))
    mode = groups["mode"]
    if mode == "up":
        source = lanes.each("psubd", lane, b)
        lost = lanes.each("pcmpgtd", last, source)
    else:
        if mode == "down":
            source = lanes.each("paddd", lane, b)
        elif mode == "bfly":
            source = lanes.each("pxor", lane, b)
        else:
            source = lanes.each("por", first, lanes.each("pandn", segment, b))
        lost = lanes.each("pcmpgtd", source, last)
    source = lanes.each("pand", lanes.choose(lost[0], lane, source), low)
    first_target, second = (target.first, target.second) if isinstance(target, Pair) else (target, None)
    valid = lanes.inverted(lost)
    lanes.write(first_target, _picked(lanes, layout.VALUES, source), TYPES["b32"])
    if second is not None:
        lanes.write(second, valid, PRED)


def _picked(lanes: Lanes, offset: int, source: Value) -> Value:
    """Of an array of 32 bits for each lane what is at `source`; gathering it takes longer."""
    part, result = lanes.shifted("psrld", source, 3), None
    for number in range(4):
        eight = lanes.code.load(offset + 32 * number, 0)
        found = (lanes.code.op("permd", source[0], eight),)  # by the lowest three bits
        if result is None:
            result = found
        else:
            is_there = lanes.each("pcmpeqd", part, lanes.constant(number, 4))
            result = lanes.choose(is_there[0], found, result)
    assert result is not None
    return result


def vote(lanes: Lanes, instruction: Instruction, groups: dict[str, str]) -> None:
    """vote, of the bits at VOTES."""
    one = lanes.code.constant(layout.VOTES, 4)
    mask = lanes.read(instruction.operands[2], TYPES["b32"])
    yes = lanes.each("pand", (one,), mask)
    if groups["mode"] == "ballot":
        lanes.write(instruction.operands[0], yes, TYPES["b32"])
        return
    nobody = lanes.each("pcmpeqd", yes, lanes.constant(0, 4))
    everybody = lanes.each("pcmpeqd", yes, mask)
    result = {
        "any": lambda: lanes.inverted(nobody),
        "all": lambda: everybody,
        "uni": lambda: lanes.each("por", everybody, nobody),
    }[groups["mode"]]()
    lanes.write(instruction.operands[0], result, PRED)


def active_mask(lanes: Lanes, instruction: Instruction, groups: dict[str, str]) -> None:
    """activemask"""
    lanes.write(instruction.operands[0], lanes.all_ones(1), TYPES["b32"])


def _nothing(lanes: Lanes, instruction: Instruction, groups: dict[str, str]) -> None:
    """Without an effect that a program can see."""


_INSTRUCTIONS: dict[str, Callable[[Lanes, Instruction, dict[str, str]], None]] = {
    "add": _add,
    "sub": _add,
    "mul": _multiply,
    "mad": _multiply,
    "fma": _multiply,
    "div": _divide,
    "rem": _divide,
    "min": _extreme,
    "max": _extreme,
    "neg": _negate,
    "abs": _negate,
    "and": _logic,
    "or": _logic,
    "xor": _logic,
    "not": _not,
    "lop3": _logic_of_three,
    "shl": _shift,
    "shr": _shift,
    "shf": _shift_funnel,
    "setp": _set_predicate,
    "set": _set,
    "selp": _select,
    "rcp": _reciprocal,
    "sqrt": _reciprocal,
    "rsqrt": _reciprocal,
    "cvt": _convert,
    "mov": _move,
    "cvta": _convert_address,
    "ld.param": _load_parameter,
    "st.param": _store_parameter,
    "activemask": active_mask,
    "bar": _nothing,
    "membar": _nothing,
    "fence": _nothing,
}
