"""The operands of an expression in machine code: Python's operators and functions on them add steps of
`vectors`.

An expression of the instruction tables means the same over terms as over NumPy arrays, so one text is enough
for both.
"""

from __future__ import annotations

from types import FunctionType
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ..compile.operands import PRED
from ..ptx.types import TYPES, Type
from .lanes import SIGN32, SIGN64, Unsupported, Value

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ..ptx.syntax import Operand
    from .lanes import Lanes

COMPARED = {
    "eq": 0x00, "lt": 0x11, "le": 0x12, "gt": 0x1E, "ge": 0x1D, "ne": 0x0C, "equ": 0x08, "neu": 0x04,
    "ltu": 0x19, "leu": 0x1A, "gtu": 0x16, "geu": 0x15, "num": 0x07, "nan": 0x03,
}  # fmt: skip
"""The immediate operand of cmpps for a relation of PTX."""
_KINDS = {"?": "pred"} | {
    kind.code: name for name, kind in TYPES.items() if kind.kind in "usf" and name != "tf32"
}


def type_of(dtype: Any) -> Type:
    """The type of PTX that NumPy keeps in a `dtype`."""
    dtype = np.dtype(dtype)
    return TYPES[_KINDS["?" if dtype.kind == "b" else f"{dtype.kind}{dtype.itemsize}"]]


class Term:
    """A value of eight lanes with its type. Numbers of fewer than 32 bits are kept extended to 32."""

    __slots__ = ("factor", "kind", "lanes", "masks", "operand", "value")
    __array_ufunc__ = None  # a NumPy number beside it leaves the operator to this class
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, lanes: Lanes, value: Value, kind: Type, factor: Term | None = None) -> None:
        self.lanes, self.value, self.kind = lanes, value, kind
        self.factor = factor
        """What it was widened from to twice the size: products of such are cheaper."""
        self.masks: Value | None = None
        """Of a predicate of 64-bit numbers: its masks as wide as these."""
        self.operand: Operand | None = None
        """What it was read from, as it is."""

    # Types.

    @property
    def is_float(self) -> bool:
        """Whether the processor computes with it as a float: of binary32 or binary64."""
        return self.kind.name in ("f32", "f64")

    @property
    def dtype(self) -> np.dtype[Any]:
        return np.dtype(self.kind.code)

    @property
    def is_signed(self) -> bool:
        return self.kind.kind == "s"

    @property
    def width(self) -> int:
        return 8 * self.kind.size

    def of(self, value: Value) -> Term:
        """A result of the same type; whole numbers of fewer than 32 bits may have anything above."""
        if self.kind.size < 4 and self.kind.kind in "usb":
            value = self.lanes.extended(value, self.kind)
        return Term(self.lanes, value, self.kind)

    def again(self) -> Term:
        """The same operand, read in another stretch of code. Raises Unsupported if it is a result."""
        if self.operand is None:
            raise Unsupported
        return Term(self.lanes, self.lanes.read(self.operand, self.kind), self.kind)

    def constant(self, x: Any) -> Term:
        """A number of Python or NumPy beside this one; a plain integer takes this one's type."""
        if isinstance(x, Term):
            return x
        kind = type_of(x.dtype) if isinstance(x, np.generic) else self.kind
        if kind.kind == "p":
            return Term(self.lanes, self.lanes.constant(-1 if x else 0, 4), kind)
        if kind.kind == "f":
            bits = np.array(x, kind.code)
            return Term(self.lanes, self.lanes.constant(int(bits.view(f"u{kind.size}")), kind.size), kind)
        return Term(self.lanes, self.lanes.whole_constant(int(x), kind), kind)

    def _same(self, other: Any) -> Term:
        """The other operand, which has to be of this type but for its sign."""
        other = self.constant(other)
        if other.kind.size != self.kind.size or (other.kind.kind in "fpx") != (self.kind.kind in "fpx"):
            raise Unsupported
        return other

    def named(self, name: str) -> str:
        """The name of a packed operation for its size."""
        if self.is_float:
            return name + ("pd" if self.kind.size == 8 else "ps")
        return "p" + name + ("q" if self.kind.size == 8 else "d")

    def each(self, name: str, other: Term, number: int | None = None) -> Term:
        return self.of(self.lanes.each(name, self.value, other.value, number))

    def _require_whole(self) -> None:
        if self.kind.kind not in "usb":
            raise Unsupported

    # Arithmetic. NaN of binary64 keep their bits, which `floats` takes care of.

    def __add__(self, other: Any) -> Term:
        return self._arithmetic("add", other)

    def __sub__(self, other: Any) -> Term:
        return self._arithmetic("sub", other)

    def __radd__(self, other: Any) -> Term:
        return self.constant(other) + self

    def __rsub__(self, other: Any) -> Term:
        return self.constant(other) - self

    def __mul__(self, other: Any) -> Term:
        other = self._same(other)
        if self.kind.kind in "usb":
            return self.of(_product(self, other))
        return self._arithmetic("mul", other)

    def __truediv__(self, other: Any) -> Term:
        if self.kind.name != "f32":
            raise Unsupported
        return self.each("divps", self._same(other))

    def __rtruediv__(self, other: Any) -> Term:
        return self.constant(other) / self

    def _arithmetic(self, name: str, other: Any) -> Term:
        other = self._same(other)
        if self.kind.name != "f32":
            self._require_whole()
        return self.each(self.named(name), other)

    def __neg__(self) -> Term:
        if self.is_float:
            return self ^ self.sign_bit()
        return self.constant(0) - self

    def sign_bit(self) -> Term:
        """The bit of the sign of a float."""
        size = self.kind.size
        return Term(self.lanes, self.lanes.constant(SIGN64 if size == 8 else SIGN32, size), self.kind)

    def magnitude(self) -> Term:
        """A float without its sign."""
        size = self.kind.size
        bits = self.lanes.constant((SIGN64 if size == 8 else SIGN32) - 1, size)
        return Term(self.lanes, self.lanes.each("pand", self.value, bits), self.kind)

    # Bits.

    def __and__(self, other: Any) -> Term:
        return self.each("pand", self._same(other))

    def __or__(self, other: Any) -> Term:
        return self.each("por", self._same(other))

    def __xor__(self, other: Any) -> Term:
        return self.each("pxor", self._same(other))

    def __invert__(self) -> Term:
        return self.of(self.lanes.inverted(self.value))

    def __lshift__(self, count: Any) -> Term:
        self._require_whole()
        if isinstance(count, Term):
            return self.each(self._by("psllv"), self._count(count))
        return self.of(self.lanes.shifted(self._by("psll"), self.value, int(count)))

    def __rlshift__(self, other: Any) -> Term:
        return self.constant(other) << self

    def __rshift__(self, count: Any) -> Term:
        """By the width or more only the sign is left."""
        self._require_whole()
        if self.is_signed and self.kind.size == 8:  # there is no such instruction
            negative = self.lanes.negative(self.value)
            unsigned = Term(self.lanes, self.lanes.each("pxor", self.value, negative), TYPES["u64"])
            return Term(self.lanes, self.lanes.each("pxor", (unsigned >> count).value, negative), self.kind)
        name = "psra" if self.is_signed else "psrl"
        if isinstance(count, Term):
            return self.each(self._by(name + "v"), self._count(count))
        return self.of(self.lanes.shifted(self._by(name), self.value, int(count)))

    def _by(self, name: str) -> str:
        return name + ("q" if self.kind.size == 8 else "d")

    def _count(self, count: Term) -> Term:
        """The number of places to shift by, in lanes as wide as these."""
        if self.kind.size == 8 and count.kind.size < 8:
            return Term(self.lanes, self.lanes.widened(count.value, False), TYPES["u64"])
        return count

    # Comparisons.

    def __eq__(self, other: Any) -> Term:  # type: ignore[override]
        return self.compare(other, "eq")

    def __ne__(self, other: Any) -> Term:  # type: ignore[override]
        return self.compare(other, "neu" if self.is_float else "ne")

    def __lt__(self, other: Any) -> Term:
        return self.compare(other, "lt")

    def __le__(self, other: Any) -> Term:
        return self.compare(other, "le")

    def __gt__(self, other: Any) -> Term:
        return self.compare(other, "gt")

    def __ge__(self, other: Any) -> Term:
        return self.compare(other, "ge")

    def compare(self, other: Any, relation: str) -> Term:
        """A relation of PTX, as a predicate."""
        other = self._same(other)
        if self.is_float:
            return self.masked(
                self.lanes.each(self.named("cmp"), self.value, other.value, COMPARED[relation])
            )
        self._require_whole()
        if relation in ("eq", "ne"):
            masks = self.lanes.each(self.named("cmpeq"), self.value, other.value)
        else:
            a, b = (self, other) if relation in ("gt", "le") else (other, self)
            masks = self.lanes.each(self.named("cmpgt"), a._ordered(), b._ordered())
        return self.masked(self.lanes.inverted(masks) if relation in ("ne", "le", "ge") else masks)

    def _ordered(self) -> Value:
        """Whole numbers in the order of signed ones."""
        if self.is_signed:
            return self.value
        size = max(self.kind.size, 4)
        return self.lanes.each("pxor", self.value, self.lanes.constant(SIGN64 if size == 8 else SIGN32, size))

    def masked(self, masks: Value) -> Term:
        """The predicate of masks that are as wide as the lanes are."""
        if len(masks) == 1:
            return Term(self.lanes, masks, PRED)
        result = Term(self.lanes, self.lanes.low_words(masks), PRED)
        result.masks = masks
        return result

    def is_nan(self) -> Term:
        return self.compare(self, "nan")

    def choose(self, a: Term, b: Term) -> Term:
        """`a` where this predicate holds, else `b`."""
        if self.masks is not None and len(a.value) == 2:
            return Term(self.lanes, self.lanes.choose_by(self.masks, a.value, b.value), a.kind)
        return Term(self.lanes, self.lanes.choose(self.value[0], a.value, b.value), a.kind)

    # Other types.

    def astype(self, dtype: Any) -> Term:
        kind = type_of(dtype)
        if self.kind.kind == "p":
            one = self.constant(np.dtype(kind.code).type(1))
            value = self.lanes.wide_mask(self.value[0]) if kind.size == 8 else self.value
            return Term(self.lanes, self.lanes.each("pand", value, one.value), kind)
        if self.kind.kind not in "usb" or kind.kind not in "us":
            raise Unsupported
        if kind.size == 8 and self.kind.size < 8:
            return Term(self.lanes, self.lanes.widened(self.value, self.is_signed), kind, self)
        value = self.lanes.low_words(self.value) if kind.size < self.kind.size == 8 else self.value
        result = Term(self.lanes, value, kind)
        return result.of(value) if kind.size < 4 and kind.code != self.kind.code else result

    def view(self, dtype: Any) -> Term:
        """The same bits."""
        kind = type_of(dtype)
        result = Term(self.lanes, self.value, kind)
        return result.of(self.value) if kind.size < 4 else result


def _product(a: Term, b: Term) -> Value:
    lanes = a.lanes
    for one, other in ((a, b), (b, a)):
        power = lanes.power_of_two(other.value)
        if power is not None:
            return lanes.shifted("psllq" if a.kind.size == 8 else "pslld", one.value, power)
    if a.kind.size < 8:
        return lanes.each("pmulld", a.value, b.value)
    if a.factor is not None and b.factor is not None and a.factor.kind.kind == b.factor.kind.kind:
        return lanes.each("pmuldq" if a.factor.is_signed else "pmuludq", a.value, b.value)
    low = lanes.each("pmuludq", a.value, b.value)
    first = lanes.each("pmuludq", lanes.shifted("psrlq", a.value, 32), b.value)
    second = lanes.each("pmuludq", a.value, lanes.shifted("psrlq", b.value, 32))
    return lanes.each("paddq", low, lanes.shifted("psllq", lanes.each("paddq", first, second), 32))


# Functions of terms.

PRIMITIVES: dict[str, Callable[..., Any]] = {}
"""The functions that expressions of the instruction tables name, as machine code makes them, by name.

Each has the name and the parameters of the function of `arithmetic/` that NumPy runs, or is that function. An
instruction that needs another one runs on NumPy; so does one whose primitive raises `Unsupported`.
"""

_SHARED: dict[str, dict[str, Any]] = {}
"""The names that shared functions see, by the module that they are from."""


def share(*functions: Callable[..., Any]) -> tuple[Callable[..., Any], ...]:
    """Registers functions of `arithmetic/` whose text means the same over terms: operators, `astype`, `view`,
    and other functions, which are the primitives of their names here (see `bind`). Returns these.
    """
    shared = []
    for function in cast("tuple[FunctionType, ...]", functions):
        name, names = function.__name__, _SHARED.setdefault(function.__module__, dict(function.__globals__))
        PRIMITIVES[name] = names[name] = FunctionType(function.__code__, names, name, function.__defaults__)
        shared.append(PRIMITIVES[name])
    return tuple(shared)


def bind(scope: Mapping[str, Any]) -> None:
    """Have shared functions see what is in `scope` instead of what NumPy's have of these names."""
    for names in _SHARED.values():
        names.update((name, value) for name, value in scope.items() if name in names)


def primitive(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Registers a function, by its own name or by others."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        for name in names or (function.__name__,):
            PRIMITIVES[name] = function
        return function

    return register
