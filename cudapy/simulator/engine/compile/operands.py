"""Operands of instructions, read and written: once for all back ends, over the values that each has.

A back end says what a register, a constant or a special register is among its values; what an operand may be,
and of which type, is decided here.
"""

from __future__ import annotations

import abc
import struct
from typing import TYPE_CHECKING, Generic, TypeVar

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
)
from ..ptx.types import TYPES, Type

if TYPE_CHECKING:
    from .function import FunctionCompiler

FRAME, SITE = "%frame", "%site"
"""The registers that hold the address of the frame's local memory, and where the function was called."""
CARRY, STACK = "%cc", "%stack"
"""The registers of the carry, and of how many bytes `alloca` took behind the frame's local memory."""
PRED, WORD, LONG = TYPES["pred"], TYPES["u32"], TYPES["u64"]

V = TypeVar("V")
"""What a back end has of an operand: the name of a Python variable, or numbers of vectors."""


class Operands(abc.ABC, Generic[V]):
    """Reads and writes operands for one back end."""

    function: FunctionCompiler

    # What a back end has.

    @abc.abstractmethod
    def register(self, name: str, kind: Type) -> V:
        """What is in a register that has the size of `kind` at least."""

    @abc.abstractmethod
    def constant_bits(self, bits: int, kind: Type) -> V:
        """A number that is the same in all threads, by its bits."""

    @abc.abstractmethod
    def special(self, name: str, kind: Type) -> V:
        """What a special register holds."""

    @abc.abstractmethod
    def address_of(self, expression: str) -> V:
        """An address of 64 bits that is known when the kernel runs, by the expression that Python reads."""

    @abc.abstractmethod
    def added(self, value: V, offset: int, kind: Type) -> V:
        """A number of a type and a constant, added; it wraps around."""

    @abc.abstractmethod
    def resized(self, value: V, kind: Type, to: Type) -> V:
        """An unsigned number of a type as another."""

    @abc.abstractmethod
    def inverted(self, value: V) -> V:
        """The other truth."""

    @abc.abstractmethod
    def assign(self, name: str, value: V, kind: Type, unspecified_nan: bool) -> None:
        """Give a register, which is large enough, a value of type `kind`."""

    # What is the same for all.

    def read(self, operand: Operand, kind: Type) -> V:
        """The value of an operand as `kind`. Raises PTXError."""
        if isinstance(operand, Register):
            self._require_size(operand.name, kind)
            return self.register(operand.name, kind)
        if isinstance(operand, Special):
            if operand.name not in self.function.specials:
                raise PTXError(f"{operand.name} is not a register, or the simulator does not have it")
            return self.special(operand.name, kind)
        if isinstance(operand, (Integer, Float)):
            return self.constant_bits(_bits(operand, kind), kind)
        if isinstance(operand, Negation) and kind.kind == "p":
            return self.inverted(self.read(operand.operand, kind))
        if isinstance(operand, Symbol):
            return self._symbol(operand, kind)
        if isinstance(operand, Address) and isinstance(operand.base, Special):
            raise PTXError(f"{operand.base.name} cannot be added to")
        raise PTXError(f"an operand of type {kind.name} is expected")

    def address(self, operand: Operand) -> V:
        """[base + offset] as a number of 64 bits. Raises PTXError."""
        if not isinstance(operand, Address):
            raise PTXError("an address is expected")
        base, offset = operand.base, operand.offset
        if isinstance(base, Symbol):
            return self._symbol(Symbol(base.name, base.offset + offset), LONG)
        if isinstance(base, Integer):
            return self.constant_bits(_bits(Integer(base.value + offset), LONG), LONG)
        is_narrow = isinstance(base, Register) and self._declared(base.name).size == 4
        kind = WORD if is_narrow else LONG
        value = self.read(base, kind)
        if offset:  # an address of 32 bits wraps at 2**32
            value = self.added(value, offset, kind)
        return self.resized(value, kind, LONG) if is_narrow else value

    def write(self, operand: Operand, value: V, kind: Type, unspecified_nan: bool = False) -> None:
        """Give a register a value of type `kind`. Raises PTXError.

        unspecified_nan: NaN in it may have other bits than the hardware gives them.
        """
        if isinstance(operand, Sink):
            return
        if not isinstance(operand, Register):
            raise PTXError("the first operand must be a register")
        target = self._declared(operand.name)
        is_misfit = target.size < kind.size or (target.size == 16 and kind.size != 16)
        if (target.kind == "p") != (kind.kind == "p") or is_misfit:
            raise PTXError(f"{operand.name} is .{target.name}, which cannot hold .{kind.name}")
        self.assign(operand.name, value, kind, unspecified_nan)

    def is_alike(self, target: Operand, source: Operand) -> bool:
        """Whether one register may get the bits of the other as they are."""
        if not isinstance(target, Register) or not isinstance(source, Register):
            return False
        one, other = self._declared(target.name), self._declared(source.name)
        return one.size == other.size and (one.kind == "p") == (other.kind == "p")

    def truth(self, instruction: Instruction) -> V | None:
        """What the instruction's guard says; None without one."""
        if instruction.guard is None:
            return None
        value = self.read(instruction.guard, PRED)
        return self.inverted(value) if instruction.negated else value

    def _symbol(self, operand: Symbol, kind: Type) -> V:
        if kind.size not in (4, 8) or kind.kind in "fp":
            raise PTXError(f"{operand.name} is an address")
        resolved, offset = self.function.resolve(operand.name), operand.offset
        if isinstance(resolved, int):
            return self.constant_bits(_bits(Integer(resolved + offset), kind), kind)
        if isinstance(resolved, tuple):
            value, offset = self.register(FRAME, LONG), offset + resolved[0]
        else:
            value = self.address_of(resolved)
        if offset:
            value = self.added(value, offset, LONG)
        return value if kind.size == 8 else self.resized(value, LONG, kind)

    def _declared(self, name: str) -> Type:
        declared = self.function.registers.get(name)
        if declared is None:
            raise PTXError(f"{name} is not declared")
        return declared

    def _require_size(self, name: str, kind: Type) -> None:
        declared = self._declared(name)
        if (declared.kind == "p") != (kind.kind == "p"):
            raise PTXError(f"{name} is not of type .{kind.name}")
        if declared.size < kind.size or (declared.size == 16 and kind.size != 16):  # mov tells halves of 128
            raise PTXError(f"{name} has {8 * declared.size} bits, .{kind.name} needs {8 * kind.size}")


def _bits(operand: Integer | Float, kind: Type) -> int:
    """A number in the text, as the bits of a type. Raises PTXError."""
    if isinstance(operand, Float) and (kind.kind != "f" or kind.size == operand.size):
        if kind.size == operand.size:
            return operand.bits
        if kind.size != 4:
            raise PTXError(f"a number of {operand.size} bytes is not a .{kind.name}")
        return int.from_bytes(struct.pack("<f", operand.number), "little")
    if kind.kind == "f":
        number = operand.number if isinstance(operand, Float) else operand.value
        return int.from_bytes(np.array(number, kind.code).tobytes(), "little")
    assert isinstance(operand, Integer)
    return bool(operand.value) if kind.kind == "p" else operand.value & ((1 << 8 * kind.size) - 1)
