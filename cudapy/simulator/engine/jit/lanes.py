"""The lanes of a chunk in one stretch of a block: what registers hold, as numbers of steps of `vectors`."""

from __future__ import annotations

import contextlib
import struct
from typing import TYPE_CHECKING, Protocol

from ..compile.graph import CLOCKS
from ..compile.operands import LONG, WORD, Operands
from ..ptx.syntax import Operand, Register
from ..ptx.types import BITS, TYPES, Type
from .vectors import Vectors

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ..assembler.x86_64 import Assembler
    from ..compile.function import FunctionCompiler
    from .accesses import MemoryStep
    from .streams import Stream

Value = tuple[int, ...]
"""The numbers of the results that a value of eight lanes is: one, or two of four lanes of 64 bits each."""

NAN = 0x7FFFFFFF
"""The bits of the hardware's NaN of binary32; of any number without its sign."""
NAN16, INFINITY16, ONE16 = 0x7FFF, 0x7C00, 0x3C00
"""The NaN of binary16, and the bits of its infinity and of 1."""
SIGN32, SIGN64 = 1 << 31, 1 << 63


class Unsupported(Exception):
    """There is no machine code for it here."""


class CodeContext(Protocol):
    """What instructions need of the block that they are in, and of its region."""

    function: FunctionCompiler
    out: Assembler
    number: int
    """The number of the instruction at hand in its function."""
    checks: frozenset[str]
    """What is checked: see `checks`."""
    stream: Stream | None
    """What takes the accesses of the stretch at hand."""

    def location(self, name: str) -> int:
        """The location of a register."""

    def constant(self, bits: int, size: int) -> int:
        """The offset of a constant."""

    def input(self, expression: str, kind: Type) -> int:
        """The location of what does not change in a batch, by the expression that Python reads."""

    def is_read(self, name: str) -> bool:
        """Whether any instruction of the function reads a register."""

    def end_stretch(self) -> None:
        """Write the code of all that was added so far: what is written to `out` comes behind it."""

    def changes(self, registers: Iterable[str]) -> None:
        """Code in `out` puts something into the locations of registers."""

    @property
    def found(self) -> int:
        """The offset of what the access at hand remembers."""

    @property
    def is_calm(self) -> bool:
        """Whether the block is one of `phases.calm_blocks`."""

    def room_for_site(self, mode: int) -> int:
        """The offset of the number that a race detector has for the instruction at hand."""

    def leave_before(self) -> str | None:
        """A label to go to so that active lanes leave the region before the instruction at hand; None if it
        is not the first one of its block: then the function does not follow undefined bytes.
        """

    def leave_to_python(self, step: MemoryStep) -> tuple[str, str]:
        """Two labels: to go to where Python has to make an access, and one to set where the code goes on."""


class Lanes(Operands[Value]):
    """The values of registers in one stretch of a block."""

    def __init__(self, context: CodeContext) -> None:
        self.context, self.function = context, context.function
        self.guard: int | None = None
        self.begin()

    def begin(self) -> None:
        """A new stretch: all registers are in their locations."""
        self.code = Vectors()
        self.values: dict[str, tuple[Value, bool]] = {}
        """What registers hold, and whether NaN may have other bits than the hardware's."""
        self.changed: dict[str, None] = {}

    def require_unchecked(self, check: str) -> None:
        """Raises Unsupported in a region that makes a check which NumPy tells of what this does."""
        if check in self.context.checks:
            raise Unsupported

    # Constants and operations of either width.

    def constant(self, bits: int, size: int) -> Value:
        bits &= (1 << 8 * size) - 1
        one = self.code.constant(self.context.constant(bits, size), size)
        self.code.numbers[one] = bits
        return (one, one) if size == 8 else (one,)

    def power_of_two(self, a: Value) -> int | None:
        """Which power of two all lanes have, if the text of the program says so."""
        number = self.code.numbers.get(a[0], 0) if len({*a}) == 1 else 0
        return number.bit_length() - 1 if number and not number & (number - 1) else None

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
        number = self.code.numbers.get(a[0])
        if number is not None:
            return self.constant(number - (number >> 31 << 32 if signed else 0), 8)
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
        moved = self.each("pxor", a, self.constant(SIGN32, 4))
        return self.each("addpd", self.doubles(moved, True), self.number64(2.0**31))

    def whole(self, a: Value, signed: bool) -> Value:
        """Binary64 in the range of 32 bits, cut to a whole number."""
        if not signed:
            moved = self.each("subpd", self.one("roundpd", a, 11), self.number64(2.0**31))
            return self.each("pxor", self.whole(moved, True), self.constant(SIGN32, 4))
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

    def canonical(self, a: Value, size: int = 4) -> Value:
        """Binary32, or binary16 in words, with the hardware's NaN."""
        if size == 2:
            magnitude = self.each("pand", a, self.constant(NAN16, 4))
            is_nan = self.each("pcmpgtd", magnitude, self.constant(INFINITY16, 4))
            return self.choose(is_nan[0], self.constant(NAN16, 4), a)
        return self.choose(self.code.op("cmpps", a[0], a[0], 3), self.constant(NAN, 4), a)

    def negative(self, a: Value) -> Value:
        """The masks of negative whole numbers."""
        if len(a) == 2:
            return self.each("pcmpgtq", self.constant(0, 8), a)
        return self.shifted("psrad", a, 31)

    def flushed(self, a: Value) -> Value:
        size = self.each("pand", a, self.constant(NAN, 4))
        small = self.code.op("cmpps", size[0], self.number32(2.0**-126)[0], 0x11)
        return self.choose(small, self.each("pand", a, self.constant(SIGN32, 4)), a)

    def saturated(self, a: Value) -> Value:
        """.sat of binary32: into 0 to 1; NaN becomes +0."""
        return self.each("minps", self.each("maxps", a, self.number32(0.0)), self.number32(1.0))

    def extended(self, a: Value, kind: Type) -> Value:
        """The lower 8 or 16 bits, extended to 32."""
        bits = 32 - 8 * kind.size
        if kind.kind == "s":
            return self.shifted("psrad", self.shifted("pslld", a, bits), bits)
        return self.each("pand", a, self.constant((1 << 8 * kind.size) - 1, 4))

    @contextlib.contextmanager
    def rounding(self, mode: str | None) -> Iterator[None]:
        """Arithmetic that is added meanwhile rounds as PTX says: rn, rz, rm, rp."""
        if (mode or "rn") != "rn":
            controls = self.context.out.CONTROL
            one, usual = (self.context.constant(controls[each], 4) for each in (mode or "rn", "rn"))
            self.code.control = one, usual
        try:
            yield
        finally:
            self.code.control = None

    # Registers and operands.

    def value(self, name: str) -> tuple[Value, bool]:
        known = self.values.get(name)
        if known is None:
            kind = self.function.registers.get(name)
            if kind is None or kind.size == 16:
                raise Unsupported
            location = self.context.location(name)
            known = self.at(location, kind.size == 8), self.function.has_unspecified_nan(name)
            self.values[name] = known
        return known

    def at(self, offset: int, wide: bool) -> Value:
        """What lies in a location."""
        if wide:
            return self.code.load(offset, 2), self.code.load(offset + 32, 2)
        return (self.code.load(offset),)

    def store(self, value: Value, offset: int) -> None:
        """Put a value into an array or a location."""
        for part, one in enumerate(value):
            self.code.store(offset + 32 * part, one, len(value))

    def put(self, operand: Operand, kind: Type, offset: int) -> None:
        """Put the bits of an operand into an array."""
        bits = TYPES[BITS[kind.size]] if isinstance(operand, Register) else kind
        self.store(self.read(operand, bits), offset)

    def constant_bits(self, bits: int, kind: Type) -> Value:
        if kind.kind == "p":
            return self.constant(-bits, 4)
        return self.whole_constant(bits, kind)

    def whole_constant(self, value: int, kind: Type) -> Value:
        if kind.size >= 4:
            return self.constant(value, kind.size)
        value &= (1 << 8 * kind.size) - 1
        if kind.kind == "s" and value >> (8 * kind.size - 1):
            value -= 1 << 8 * kind.size
        return self.constant(value, 4)

    def register(self, name: str, kind: Type) -> Value:
        declared = self.function.registers[name]
        value, nan = self.value(name)
        if nan and (kind.kind != "f" or kind.size != declared.size):
            value = self.canonical(value, declared.size)
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

    def special(self, name: str, kind: Type) -> Value:
        if name.startswith(CLOCKS) or kind.kind == "p" or kind.size < 4:
            raise Unsupported
        wide = name in ("%gridid", "%current_graph_exec")
        if name == "%is_explicit_cluster" or (kind.size == 8 and not wide):
            raise Unsupported
        value = self.at(self.context.input(f"L.special.parts({name!r})", LONG if wide else WORD), wide)
        return self.low_words(value) if wide and kind.size == 4 else value

    def address_of(self, expression: str) -> Value:
        return self.at(self.context.input(expression, LONG), True)

    def added(self, value: Value, offset: int, kind: Type) -> Value:
        return self.each("paddq" if kind.size == 8 else "paddd", value, self.constant(offset, kind.size))

    def resized(self, value: Value, kind: Type, to: Type) -> Value:
        return self.widened(value, False) if to.size == 8 else self.low_words(value)

    def assign(self, name: str, value: Value, kind: Type, unspecified_nan: bool) -> None:
        """Numbers of less than 32 bits may have anything above."""
        target = self.function.registers[name]
        if target.size == 16:
            raise Unsupported
        if kind.kind != "p":
            if unspecified_nan and target.size > kind.size:
                value, unspecified_nan = self.canonical(value, kind.size), False
            if kind.size < 4:
                value = self.extended(value, kind)
            if target.size == 8 and kind.size < 8:
                value = self.widened(value, kind.kind == "s")
            elif target.size == 2 and kind.kind == "s":
                value = self.each("pand", value, self.constant(0xFFFF, 4))
        self.set(name, value, unspecified_nan)

    def set(self, name: str, value: Value, nan: bool = False) -> None:
        if self.guard is not None:
            old, was = self.value(name)
            value, nan = self.mixed(self.guard, (value, nan), (old, was), self.function.registers[name].size)
        self.values[name] = value, nan
        self.changed[name] = None

    def mixed(self, mask: int, a: tuple[Value, bool], b: tuple[Value, bool], size: int) -> tuple[Value, bool]:
        """`a` where the mask is set, else `b`; what no arithmetic computed keeps the bits of its NaN."""
        if a[1] == b[1]:
            return self.choose(mask, a[0], b[0]), a[1]
        first, second = (self.canonical(value, size) if nan else value for value, nan in (a, b))
        return self.choose(mask, first, second), False
