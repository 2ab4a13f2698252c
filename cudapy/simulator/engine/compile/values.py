"""What registers and operands hold within one basic block, by the names of Python variables."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from ..ptx.syntax import Address, Instruction, Operand, PTXError, Register
from ..ptx.types import TYPES, Type
from .graph import CLOCKS
from .operands import LONG, WORD, Operands

if TYPE_CHECKING:
    from .function import FunctionCompiler

_COMPUTED = re.compile(r"(?P<a>\w+) (?P<operator>\+|-|\*|<<) (?P<b>\w+)")


class Value:
    """What a register holds: the names of the same bits, by NumPy type."""

    __slots__ = ("has_unspecified_nan", "names", "size")

    def __init__(self, name: str, code: str, has_unspecified_nan: bool = False) -> None:
        self.names = {code: name}
        self.size = 1 if code == "?" else int(code[1:])
        self.has_unspecified_nan = (
            has_unspecified_nan  # a NaN in it may not have the bits that the hardware gives it
        )


class ValueReader(Operands[str]):
    """Operands by the names of Python variables: each result has one of its own, which never changes."""

    def __init__(self, function: FunctionCompiler) -> None:
        self.function = function
        self._lines: list[str] = []
        self._values: dict[str, Value] = {}
        self._live_in: dict[str, str] = {}
        self._specials: dict[str, str] = {}
        self._count = 0
        self._shared_accesses: Counter[str] = Counter()
        """How many accesses to shared memory have their addresses in a register, as far as names tell."""
        self._near: dict[str, str] = {}
        self._computed: dict[str, tuple[str, str, str]] = {}
        """What was made by an operator, which makes a new array: its operands around it."""

    # What rules call.

    def let(self, expression: str) -> str:
        """A new name for the value of an expression."""
        if expression.isidentifier():
            return expression
        self._count += 1
        name = f"t{self._count}"
        self._lines.append(f"{name} = {expression}")
        computed = _COMPUTED.fullmatch(expression)
        if computed is not None:
            self._computed[name] = computed["a"], computed["operator"], computed["b"]
        return name

    def new_name(self) -> str:
        """A name that nothing has yet."""
        self._count += 1
        return f"t{self._count}"

    def terms(self, name: str) -> str:
        """The names of the two terms of a sum, of which the second one was computed in this block, so that
        nobody changes it later; "" if it is no such sum.
        """
        a, operator, b = self._computed.get(name, ("", "", ""))
        if operator != "+":
            return ""
        return f"{a}, {b}" if b in self._computed else f"{b}, {a}" if a in self._computed else ""

    def whole(self, name: str, method: str, code: str) -> str:
        """A new name for whole numbers in another type: by `view` or `astype` if they are many."""
        constant = self.function.constant_value(name)
        if constant is not None:
            return self.constant(constant, code)
        return self.let(f"{name}.{method}({code}) if {name}.ndim else one_{code}({name})")

    def let_pair(self, expression: str) -> tuple[str, str]:
        """Two new names for the two values of an expression."""
        self._count += 2
        one, two = f"t{self._count - 1}", f"t{self._count}"
        self._lines.append(f"{one}, {two} = {expression}")
        return one, two

    def register(self, name: str, kind: Type) -> str:
        return self._as(self._value(name), kind, name)

    def constant_bits(self, bits: int, kind: Type) -> str:
        if kind.kind == "p":
            return "TRUE" if bits else "FALSE"
        return self.constant(bits, kind.code)

    def special(self, name: str, kind: Type) -> str:
        return self._as(self._special(name), kind, name)

    def address_of(self, expression: str) -> str:
        return self.let(expression)

    def added(self, value: str, offset: int, kind: Type) -> str:
        return self.let(f"{value} + {self.constant(offset, kind.code)}")

    def resized(self, value: str, kind: Type, to: Type) -> str:
        return self.whole(value, "astype", to.code)

    def inverted(self, value: str) -> str:
        return self.let(f"~{value}")

    def in_known_sign(self, instruction: Instruction, groups: dict[str, str]) -> dict[str, str]:
        """The groups of an instruction to whose result the sign of T does not matter: with T as most of its
        operands are at hand.
        """
        kind = TYPES[groups["T"]]
        if kind.kind == "p" or kind.size < 4 or not self._has_size(instruction.operands[0], kind.size):
            return groups  # a smaller type says how the rest of a register is filled
        known = Counter(
            code
            for operand in instruction.operands[1:]
            if isinstance(operand, Register) and self._has_size(operand, kind.size)
            for code in self._value(operand.name).names
        )
        bits = 8 * kind.size
        signed, unsigned = known[f"i{kind.size}"], known[f"u{kind.size}"]
        if signed == unsigned:
            return groups
        return groups | {"T": f"s{bits}" if signed > unsigned else f"u{bits}"}

    def _has_size(self, operand: Operand, size: int) -> bool:
        kind = self.function.registers.get(operand.name) if isinstance(operand, Register) else None
        return kind is not None and kind.size == size and kind.kind != "p"

    def has_unspecified_nan(self, operand: Operand) -> bool:
        value = self._values.get(operand.name) if isinstance(operand, Register) else None
        return value is not None and value.has_unspecified_nan

    def near(self, operand: Operand) -> str | None:
        """What `SharedMemory.load_near` takes for [register + offset]: the name of what is known of the
        register's addresses, and the offset. None if the block has no other access near them.
        """
        base = operand.base if isinstance(operand, Address) else None
        if not isinstance(operand, Address) or not isinstance(base, Register):
            return None
        if self._shared_accesses[base.name] < 2:
            return None
        addresses = self.read(base, WORD if self.function.registers[base.name].size == 4 else LONG)
        name = self._near.get(addresses)
        if name is None:
            name = self._near[addresses] = self.let(f"L.shared.near({addresses})")
        return f"{name}, {operand.offset}"

    def constant(self, value: int, code: str) -> str:
        """The name of an integer constant."""
        return self.function.constant(value, code)

    def slot(self, name: str) -> int:
        """The place of a register in the frames of its function."""
        return self.function.slot(name)

    # Inside.

    def _value(self, register: str) -> Value:
        value = self._values.get(register)
        if value is None:
            slot = self.slot(register)
            self._live_in[register] = f"r{slot}"
            value = self._values[register] = Value(f"r{slot}", self.function.register_dtype(register))
            value.has_unspecified_nan = self.function.has_unspecified_nan(register)
        return value

    def _special(self, name: str) -> Value:
        code = "u8" if name.endswith(("64", "globaltimer")) else self.function.special_code(name)
        if name.startswith(CLOCKS):
            return Value(self.let(f"L.special.read({name!r})"), code)
        local = self._specials.setdefault(name, "s_" + "".join(c if c.isalnum() else "_" for c in name[1:]))
        return Value(local, code)

    def _as(self, value: Value, kind: Type, register: str) -> str:
        code = kind.code
        name = value.names.get(code)
        if name is not None:
            return name
        if code == "?" or "?" in value.names:
            raise PTXError(f"{register} is not of type .{kind.name}")
        have = next(iter(value.names))
        name = value.names[have]
        if value.size < kind.size or (
            value.size == 16 and kind.size != 16
        ):  # halves of 128 bits are told by mov
            raise PTXError(f"{register} has {8 * value.size} bits, .{kind.name} needs {8 * kind.size}")
        if value.has_unspecified_nan:
            self.canonicalize(value)
            name = value.names[have]
        if value.size > kind.size:
            if have[0] not in "ui":
                name = self.let(f"{name}.view(u{value.size})")
            name = self.whole(name, "astype", f"u{kind.size}")
            return name if code[0] == "u" else self.let(f"{name}.view({code})")
        whole = have[0] in "ui" and code[0] in "ui"
        name = self.whole(name, "view", code) if whole else self.let(f"{name}.view({code})")
        value.names[code] = name
        return name

    def canonicalized(self, operand: Operand, kind: Type) -> str:
        """As `read`, for what goes to memory: every NaN with the bits that the hardware gives it."""
        name = self.read(operand, kind)
        if self.has_unspecified_nan(operand) and isinstance(operand, Register):
            value = self._values[operand.name]
            self.canonicalize(value)
            name = value.names[kind.code]
        return name

    def canonicalize(self, value: Value) -> None:
        """Have each NaN of a float have the bits that the hardware gives it, if that is not so."""
        if value.has_unspecified_nan:
            code, name = next(iter(value.names.items()))
            value.names = {code: self.let(f"canonicalize_nan({name})")}
            value.has_unspecified_nan = False
