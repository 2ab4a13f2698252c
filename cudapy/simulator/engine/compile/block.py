"""The code of one basic block: each result has a name of its own, and is never changed afterwards."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

import numpy as np

from ..ptx.syntax import (
    Address,
    Float,
    Instruction,
    Integer,
    Negation,
    Operand,
    PTXError,
    Register,
    Sink,
    Special,
    Symbol,
    Vector,
)
from ..ptx.types import TYPES, Type
from .graph import CLOCKS, Block

if TYPE_CHECKING:
    from .function import FunctionCompiler

CARRY = "%cc"
"""The register of the carry."""
FRAME, SITE = "%frame", "%site"
"""The registers that hold the address of the frame's local memory, and where the function was called."""


class Value:
    """What a register holds: the names of the same bits, by NumPy type."""

    __slots__ = ("is_noisy", "names", "size")

    def __init__(self, name: str, code: str, is_noisy: bool = False) -> None:
        self.names = {code: name}
        self.size = 1 if code == "?" else int(code[1])
        self.is_noisy = is_noisy  # a NaN in it may not have the bits that the hardware gives it


class BlockWriter:
    """Writes the Python function of a block. Rules call it for the names of operands, and with results."""

    def __init__(self, function: FunctionCompiler, block: Block) -> None:
        self.function = function
        self.block = block
        self.number = 0
        """The number of the instruction at hand in its function: what a fault is reported with."""
        self._lines: list[str] = []
        self._values: dict[str, Value] = {}
        self._live_in: dict[str, str] = {}
        self._specials: dict[str, str] = {}
        self._count = 0
        self._guard: str | None = None
        self.result = "None"
        """What the block's function returns."""

    # What rules call.

    def line(self, text: str) -> None:
        self._lines.append(text)

    def let(self, expression: str) -> str:
        """A new name for the value of an expression."""
        if expression.isidentifier():
            return expression
        self._count += 1
        name = f"t{self._count}"
        self._lines.append(f"{name} = {expression}")
        return name

    def let_pair(self, expression: str) -> tuple[str, str]:
        """Two new names for the two values of an expression."""
        self._count += 2
        one, two = f"t{self._count - 1}", f"t{self._count}"
        self._lines.append(f"{one}, {two} = {expression}")
        return one, two

    def read(self, operand: Operand, kind: Type) -> str:
        """The name of an operand's value as `kind`."""
        if isinstance(operand, Register):
            return self._as(self._value(operand.name), kind, operand.name)
        if isinstance(operand, Special):
            return self._as(self._special(operand.name), kind, operand.name)
        if isinstance(operand, Integer):
            return self._integer(operand.value, kind)
        if isinstance(operand, Float):
            return self._float(operand, kind)
        if isinstance(operand, Negation):
            return self.let(f"~{self.read(operand.operand, kind)}")
        if isinstance(operand, Symbol):
            return self._symbol(operand, kind)
        if isinstance(operand, Address) and isinstance(operand.base, Special):
            raise PTXError(f"{operand.base.name} cannot be added to")
        raise PTXError(f"an operand of type {kind.name} is expected")

    def is_noisy(self, operand: Operand) -> bool:
        value = self._values.get(operand.name) if isinstance(operand, Register) else None
        return value is not None and value.is_noisy

    def write(self, operand: Operand, expression: str, kind: Type, noisy: bool = False) -> None:
        """Give a register the value of an expression of type `kind`."""
        if isinstance(operand, Sink):
            self._lines.append(expression)
            return
        if not isinstance(operand, Register):
            raise PTXError("the first operand must be a register")
        target = self.function.registers[operand.name]
        if (target.kind == "p") != (kind.kind == "p") or target.size < kind.size:
            raise PTXError(f"{operand.name} is .{target.name}, which cannot hold .{kind.name}")
        name, code = self.let(expression), kind.code
        if target.size > kind.size:
            if noisy:
                name = self.let(f"quiet({name})")
            code = ("i" if kind.kind == "s" else "u") + str(target.size)
            bits = name if kind.code[0] in "ui" else f"{name}.view(u{kind.size})"
            name, noisy = self.let(f"{bits}.astype({code})"), False
        self._set(operand.name, Value(name, code, noisy))

    def move(self, operand: Operand, source: Operand, kind: Type) -> None:
        """mov: no code at all where one register gets the bits of another."""
        sizes = self.function.registers
        if (
            isinstance(source, Register)
            and isinstance(operand, Register)
            and sizes[source.name].size == sizes[operand.name].size
        ):
            self._set(operand.name, self._value(source.name))
            return
        self.write(operand, self.read(source, kind), kind)

    def items(self, operand: Operand) -> tuple[Operand, ...]:
        """The parts of a vector operand, or the operand alone."""
        return operand.items if isinstance(operand, Vector) else (operand,)

    def address(self, operand: Operand) -> str:
        """The name of [base + offset] as a 64-bit number."""
        if not isinstance(operand, Address):
            raise PTXError("an address is expected")
        base, offset = operand.base, operand.offset
        if isinstance(base, Symbol):
            return self._symbol(Symbol(base.name, base.offset + offset), TYPES["u64"])
        if isinstance(base, Integer):
            return self._integer(base.value + offset, TYPES["u64"])
        narrow = isinstance(base, Register) and self.function.registers[base.name].size == 4
        name = self.read(base, TYPES["u32" if narrow else "u64"])
        if narrow:
            name = self.let(f"{name}.astype(u8)")
        return self.let(f"{name} + {self.constant(offset, 'u8')}") if offset else name

    def constant(self, value: int, code: str) -> str:
        """The name of an integer constant."""
        return self.function.constant(value, code)

    def carry(self) -> str:
        return self._as(self._value(CARRY), TYPES["u32"], CARRY)

    def set_carry(self, name: str) -> None:
        self._set(CARRY, Value(name, "u4"))

    def slot(self, name: str) -> int:
        """The place of a register in the frames of its function."""
        return self.function.slot(name)

    def truth(self, instruction: Instruction) -> str:
        """The name of what the instruction's guard says; "True" without one."""
        if instruction.guard is None:
            return "True"
        name = self.read(instruction.guard, TYPES["pred"])
        return self.let(f"~{name}") if instruction.negated else name

    # The block as a whole.

    def compile(self) -> None:
        """Write the code of all steps. Raises PTXError."""
        for step in self.block.steps:
            instruction = step.instruction
            self.number = self.function.number(instruction)
            try:
                guarded = instruction.guard is not None and not step.match.rule.ends_block
                self._guard = self.truth(instruction) if guarded else None
                step.match.rule.write(self, instruction, step.match.groups)
            except PTXError as error:
                if str(error).startswith("line "):
                    raise
                raise PTXError(f"line {instruction.line}: {instruction.text}: {error}") from None
            except (IndexError, ValueError) as error:
                text = f"line {instruction.line}: {instruction.text}: not as expected ({error})"
                raise PTXError(text) from None
            self._guard = None
        self.block.uses = set(self._live_in)
        self.block.defines = {
            name
            for name, value in self._values.items()
            if self._live_in.get(name) not in value.names.values()
        }

    def text(self) -> str:
        """The function, once it is known what is live after the block."""
        out = []
        for name in sorted(self.block.live_out & self.block.defines):
            value = self._values[name]
            code = self.function.home(name)
            if value.is_noisy and code in value.names and not self.function.is_noisy(name):
                value = Value(self.let(f"quiet({value.names[code]})"), code)
            kept = self._as(
                value, Type(name, value.size, code, code[0].replace("i", "s").replace("?", "p")), name
            )
            out.append((self.slot(name), kept))
        lines = [f"def block{self.block.index}(L, F, I):"]
        ins = [(local, f"F[{self.slot(name)}]") for name, local in self._live_in.items()]
        ins += [(local, f"L.special({name!r})") for name, local in self._specials.items()]
        if ins:
            lines += [" if I is None:", *(f"  {local} = {what}" for local, what in ins)]
            lines += [" else:", *(f"  {local} = part({what}, I)" for local, what in ins)]
        lines += [f" {line}" for line in self._lines]
        if out:
            lines += [" if I is None:", *(f"  F[{slot}] = {name}" for slot, name in out), "  F.owned.clear()"]
            lines += [" else:", *(f"  F.merge({slot}, {name}, I)" for slot, name in out)]
        return "\n".join([*lines, f" return {self.result}", ""])

    # Inside.

    def _value(self, register: str) -> Value:
        value = self._values.get(register)
        if value is None:
            slot = self.slot(register)
            self._live_in[register] = f"r{slot}"
            value = self._values[register] = Value(f"r{slot}", self.function.home(register))
            value.is_noisy = self.function.is_noisy(register)
        return value

    def _special(self, name: str) -> Value:
        if name not in self.function.specials:
            raise PTXError(f"{name} is no register, or the simulator does not have it")
        code = "u8" if name.endswith(("64", "globaltimer")) else self.function.special_code(name)
        if name.startswith(CLOCKS):
            return Value(self.let(f"L.special({name!r})"), code)
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
        if value.size < kind.size:
            raise PTXError(f"{register} has {8 * value.size} bits, .{kind.name} needs {8 * kind.size}")
        if value.is_noisy and have in ("f4", "f2"):
            name = self.let(f"quiet({name})")
            value.names[have], value.is_noisy = name, False
        if value.size > kind.size:
            if have[0] not in "ui":
                name = self.let(f"{name}.view(u{value.size})")
            name = self.let(f"{name}.astype(u{kind.size})")
            return name if code[0] == "u" else self.let(f"{name}.view({code})")
        name = value.names[code] = self.let(f"{name}.view({code})")
        return name

    def quieted(self, operand: Operand, kind: Type) -> str:
        """As `read`, for what goes to memory: every NaN with the bits that the hardware gives it."""
        name = self.read(operand, kind)
        if self.is_noisy(operand) and isinstance(operand, Register):
            value = self._values[operand.name]
            name = value.names[kind.code] = self.let(f"quiet({name})")
            value.names = {kind.code: name}
            value.is_noisy = False
        return name

    def _set(self, register: str, value: Value) -> None:
        if self._guard is not None:
            old = self._value(register)
            code = next((one for one in value.names if one in old.names), None) or next(iter(value.names))
            kind = Type(register, value.size, code, "p" if code == "?" else "b")
            noisy = value.is_noisy or old.is_noisy
            name = self.let(f"choose({self._guard}, {value.names[code]}, {self._as(old, kind, register)})")
            value = Value(name, code, noisy)
        self._values[register] = value

    def _integer(self, value: int, kind: Type) -> str:
        if kind.kind == "p":
            return "TRUE" if value else "FALSE"
        if kind.kind == "f":
            return self.function.constant_of(np.array(value, kind.code)[()])
        return self.constant(value, kind.code)

    def _float(self, operand: Float, kind: Type) -> str:
        if kind.kind == "f" and kind.size != operand.size:
            return self.function.constant_of(np.array(operand.number, kind.code)[()])
        if kind.size != operand.size:
            if kind.size == 4:
                return self.constant(int.from_bytes(struct.pack("<f", operand.number), "little"), kind.code)
            raise PTXError(f"a number of {operand.size} bytes is no .{kind.name}")
        return self.constant(operand.bits, kind.code)

    def _symbol(self, operand: Symbol, kind: Type) -> str:
        if kind.size < 4 or kind.kind in "fp":
            raise PTXError(f"{operand.name} is an address")
        found: Any = self.function.resolve(operand.name)
        if isinstance(found, int):
            return self.constant(found + operand.offset, kind.code)
        if isinstance(found, tuple):
            found, operand = (
                self.read(Register(FRAME), TYPES["u64"]),
                Symbol(operand.name, found[0] + operand.offset),
            )
        expression = f"{found} + {self.constant(operand.offset, 'u8')}" if operand.offset else found
        name = self.let(expression)
        return name if kind.size == 8 else self.let(f"{name}.astype({kind.code})")
