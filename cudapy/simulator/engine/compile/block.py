"""The code of one basic block."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..ptx.syntax import Address, Operand, PTXError, Register, Sink
from ..ptx.types import Type
from .effects import EFFECTS
from .graph import Block
from .operands import STACK
from .undefined import UndefinedBits
from .values import Value, ValueReader

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .function import FunctionCompiler


class BlockWriter(ValueReader):
    """Writes the Python function of a block. Rules call it for the names of operands, and with results."""

    def __init__(self, function: FunctionCompiler, block: Block) -> None:
        super().__init__(function)
        self.block = block
        self.number = 0
        """The number of the instruction at hand in its function: what a fault is reported with."""
        self.guard: str | None = None
        """The name of what the guard of the instruction at hand says."""
        self._undefined = UndefinedBits(self) if function.follows_undefined else None
        self.result = "None" if block.steps else "True"  # who comes to the end of the text returns
        """What the block's function returns."""

    # What rules call.

    def line(self, text: str) -> None:
        self._lines.append(text)

    def perform(self, effect: str, description: Any) -> None:
        """Write the code of an effect. Raises PTXError."""
        EFFECTS[effect](self, description)

    def write(self, operand: Operand, value: str, kind: Type, unspecified_nan: bool = False) -> None:
        """As `Operands.write`: `value` may be an expression, which has to run if it gives nobody anything."""
        if isinstance(operand, Sink):
            self._lines.append(value)
        super().write(operand, value, kind, unspecified_nan)

    def assign(self, name: str, value: str, kind: Type, unspecified_nan: bool) -> None:
        if self._undefined is not None:
            self._undefined.has_written(name, kind)
        target, value, code = self.function.registers[name], self.let(value), kind.code
        if target.size > kind.size:
            if unspecified_nan:
                value = self.let(f"canonicalize_nan({value})")
            code = ("i" if kind.kind == "s" else "u") + str(target.size)
            bits = value if kind.code[0] in "ui" else f"{value}.view(u{kind.size})"
            value, unspecified_nan = self.whole(self.let(bits), "astype", code), False
        self._set(name, Value(value, code, unspecified_nan))

    def move(self, operand: Operand, source: Operand, kind: Type) -> None:
        """mov: no code at all where one register gets the bits of another."""
        if self.is_alike(operand, source):
            assert isinstance(operand, Register) and isinstance(source, Register)
            self._set(operand.name, self._value(source.name))
            if self._undefined is not None:
                self._undefined.has_written(operand.name)
            return
        self.write(operand, self.read(source, kind), kind)

    def keep_stack(self) -> None:
        """What `alloca` took is asked for where the block ends."""
        if self.function.compiled.stack_slot is not None:
            self.block.uses_at_end.add(STACK)

    # The block as a whole.

    def compile(self) -> None:
        """Write the code of all steps. Raises PTXError."""
        self._shared_accesses.update(_shared_bases(self.block))
        for step in self.block.steps:
            instruction = step.instruction
            self.number = self.function.number(instruction)
            try:
                if step.match.rule.since > self.function.architecture:
                    raise PTXError(f"it takes .target sm_{step.match.rule.since} or newer")
                guarded = instruction.guard is not None and not step.match.rule.ends_block
                self.guard = self.truth(instruction) if guarded else None
                if self._undefined is not None:
                    self._undefined.begin(step)
                step.match.rule.write(self, instruction, step.match.groups)
                if self._undefined is not None:
                    self._undefined.end(step)
            except PTXError as error:
                if str(error).startswith("line "):
                    raise
                raise PTXError(f"line {instruction.line}: {instruction.text}: {error}") from None
            except (IndexError, ValueError) as error:
                text = f"line {instruction.line}: {instruction.text}: not as expected ({error})"
                raise PTXError(text) from None
            self.guard = None
        self.block.uses = set(self._live_in)
        self.block.defines = {
            name
            for name, value in self._values.items()
            if self._live_in.get(name) not in value.names.values()
        }

    def text(self) -> str:
        """The function, once it is known what is live after the block."""
        out = []
        kept = sorted(name for name in self.block.defines if name in self.block.live_out)
        for name in kept:
            value = self._values[name]
            code = self.function.register_dtype(name)
            if (
                value.has_unspecified_nan
                and code in value.names
                and not self.function.has_unspecified_nan(name)
            ):
                value = Value(self.let(f"canonicalize_nan({value.names[code]})"), code)
            value_name = self._as(
                value, Type(name, value.size, code, code[0].replace("i", "s").replace("?", "p")), name
            )
            out.append((self.slot(name), value_name))
        lines = [f"def block{self.block.index}(L, F, I):"]
        ins = [(local, f"F[{self.slot(name)}]") for name, local in self._live_in.items()]
        ins += [(local, f"L.special.read({name!r})") for name, local in self._specials.items()]
        if self._undefined is not None:
            lines += [" U = L.undefined", *self._undefined.at_start()]
        if ins:
            lines += [" if I is None:", *(f"  {local} = {what}" for local, what in ins)]
            lines += [" else:", *(f"  {local} = part({what}, I)" for local, what in ins)]
        lines += [f" {line}" for line in self._lines]
        if out:
            lines += [" if I is None:", *(f"  F[{slot}] = {name}" for slot, name in out), "  F.owned.clear()"]
            lines += [" else:", *(f"  F.merge({slot}, {name}, I)" for slot, name in out)]
        if self._undefined is not None:
            lines += self._undefined.at_end([(self.slot(name), name) for name in kept])
        return "\n".join([*lines, f" return {self.result}", ""])

    # Inside.

    def _set(self, register: str, value: Value) -> None:
        if self.guard is not None:
            old = self._value(register)
            if value.has_unspecified_nan != old.has_unspecified_nan:
                self.canonicalize(value)
                self.canonicalize(old)
            code = next((one for one in value.names if one in old.names), None) or next(iter(value.names))
            kind = Type(register, value.size, code, "p" if code == "?" else "b")
            name = self.let(f"choose({self.guard}, {value.names[code]}, {self._as(old, kind, register)})")
            value = Value(name, code, value.has_unspecified_nan)
        self._values[register] = value


def _shared_bases(block: Block) -> Iterator[str]:
    """The register with the addresses of each load and store of shared memory that has one."""
    for step in block.steps:
        instruction = step.instruction
        if instruction.name in ("ld", "st") and step.match.groups.get("space") in ("shared", "shared::cta"):
            for operand in instruction.operands:
                if isinstance(operand, Address) and isinstance(operand.base, Register):
                    yield operand.base.name
