"""A whole function of PTX, compiled."""

from __future__ import annotations

from collections import Counter
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ..addresses import round_up
from ..generated import functions
from ..ptx.declarations import LARGEST
from ..ptx.special import SPECIALS, special_code
from ..ptx.syntax import (
    Address,
    FunctionText,
    Instruction,
    Operand,
    PTXError,
    Register,
    Vector,
)
from ..ptx.types import TYPES, Type
from . import scope
from .block import BlockWriter
from .graph import Block, Step, read_registers, split_basic_blocks, waiting_loops
from .liveness import liveness
from .operands import CARRY, FRAME, SITE, STACK
from .parameters import ParamSlots, find_param_slots
from .updates import updates

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator

    from ..aliases import Array
    from ..back_ends import BackEnd, Code
    from ..instructions import Match
    from ..instructions.rule import Slot
    from ..run.access_sites import Site
    from ..run.frame import Frame

_MASKS = ("b32", "u32", "s32")
"""The types of registers that ptxas takes as a warp's mask."""


_ACCESSES = {"ld", "st", "atom", "red"}
_OF_THE_THREAD = {"param", "const", "local"}
"""State spaces in which no other thread's accesses change anything."""


class CompiledFunction:
    """A function, ready for the scheduler: basic blocks, and what a new frame holds."""

    def __init__(self, text: FunctionText) -> None:
        self.text = text
        self.name = text.name
        self.blocks: list[Block] = []
        self.initial: list[Array] = []
        """What a new frame holds."""
        self.instructions: list[Instruction] = []
        self._numbers: dict[Hashable, int] = {}
        self.local_size = 0
        self.param_slots: dict[str, ParamSlots] = {}
        """The slots of the parameters of functions and calls."""
        self.stack_slot: int | None = None
        """The register for the bytes that `alloca` took; None if there is no `alloca`."""
        self.slots: dict[str, int] = {}
        self.calls: set[str] = set()
        """Functions named in it."""
        self.shared: set[str] = set()
        """Shared variables named in it."""
        self.takes_reserved = False
        """Whether it asks where the reserved shared memory is."""
        self.carries: set[int] = set()
        """The loads and copies that pass undefined bytes on, instead of reporting them."""
        self.code: Code | None = None
        """What a back end besides NumPy has of it."""
        self.sites: dict[tuple[int, int], Site] = {}
        """What a race detector knows of its accesses, by the number of the instruction and the mode."""

    def number(self, instruction: Instruction) -> int:
        """The place of an instruction in `instructions`, where copies in place of calls stand once."""
        key: Hashable = id(instruction)
        if instruction.function:
            key = instruction.function, instruction.number, instruction.opcode
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self.instructions)
            self.instructions.append(instruction)
        return number

    @cached_property
    def calls_by_address(self) -> bool:
        """Whether it calls a function by its address."""
        return any(block.end == "call" and block.info.name is None for block in self.blocks)

    def is_defined(self, block: Block, frame: Frame) -> bool:
        """Whether no register that is read from a block on has undefined bits."""
        undefined = frame.undefined
        return not undefined or not any(self.slots[name] in undefined for name in block.live_in)

    @property
    def shares_memory(self) -> bool:
        """Whether it uses shared memory itself, or asks where it is."""
        own = any(variable.space == "shared" for variable in self.text.variables.values())
        return own or self.takes_reserved or bool(self.shared)

    @cached_property
    def waiting_loops(self) -> dict[int, Instruction]:
        """See `graph.waiting_loops`."""
        return waiting_loops(self.blocks)

    @cached_property
    def polls(self) -> set[int]:
        """Lines of the instructions in loops that only wait for other threads, and of volatile loads of the
        same places: compilers put the first turn of a loop before it.
        """
        waiting = [block for block in self.blocks if block.index in self.waiting_loops]
        steps = [step.instruction for block in waiting for step in block.steps]
        looks = [(one.opcode, one.operands[1:]) for one in steps if one.opcode.startswith("ld.volatile")]
        again = {one.line for one in self.instructions if (one.opcode, one.operands[1:]) in looks}
        return again.union(one.line for one in steps)

    @cached_property
    def updates(self) -> dict[int, int]:
        """See `updates`."""
        return updates(self.blocks)


class FunctionCompiler:
    """Compiles one function for an architecture, such as 90, for NumPy and for `back_end`; `resolve_global`
    gives the address of a name of the module, or None. Its code follows undefined bits on request, and has
    accesses to memory that others may change in blocks of their own if it `parts_accesses`.
    """

    def __init__(
        self,
        text: FunctionText,
        architecture: int,
        resolve_global: Callable[[str], int | str | None],
        back_end: BackEnd | None = None,
        follows_undefined: bool = False,
        parts_accesses: bool = False,
    ) -> None:
        self.text = text
        self._parts_accesses = parts_accesses
        self.follows_undefined = follows_undefined
        self.architecture = architecture
        self.registers = dict(text.registers)
        self.registers.update(
            {FRAME: TYPES["u64"], SITE: TYPES["u32"], CARRY: TYPES["u32"], STACK: TYPES["u64"]}
        )
        self.compiled = CompiledFunction(text)
        self._resolve_global = resolve_global
        self._back_end = back_end
        self._constants: dict[tuple[int, str], str] = {}
        self._constant_names: set[str] = set()
        self._objects: dict[Hashable, str] = {}
        self._scope: dict[str, Any] = dict(scope.NAMES)
        self._register_dtypes: dict[str, str] = {}
        self._unspecified_nans: set[str] = set()
        for name in (FRAME, SITE):  # the first two slots, as the scheduler expects
            self.slot(name)
        if any(one.name in ("alloca", "stacksave", "stackrestore") for one in text.instructions):
            self.compiled.stack_slot = self.slot(STACK)
        self._read = {name for instruction in text.instructions for name in read_registers(instruction)}
        self.compiled.param_slots = find_param_slots(text)
        for name, param_slots in self.compiled.param_slots.items():
            for offset, size in param_slots.items():
                self.registers[f"{name}+{offset}"] = TYPES[f"b{8 * size}"]
        self._locals: dict[str, int] = {}
        size = 0
        for variable in text.variables.values():
            if variable.space == "local":
                size = round_up(size, variable.align)
                self._locals[variable.name] = size
                size += variable.size
        if size > LARGEST["local"]:
            most = LARGEST["local"]
            raise PTXError(
                f"line {text.line}: {text.name} has {size} bytes of local memory, {most} are the most"
            )
        self.compiled.local_size = round_up(size, 16)

    specials = SPECIALS

    def compile(self) -> CompiledFunction:
        """Raises PTXError."""
        back_end = self._back_end
        supports = (lambda step: back_end.supports(step, self)) if back_end else lambda _: False
        blocks = split_basic_blocks(self.text, supports, self._is_alone)
        self._choose_register_dtypes(blocks)
        writers = []
        for block in blocks:
            writer = BlockWriter(self, block)
            writer.compile()
            writers.append(writer)
            self._reconverge(block)
        liveness(blocks, self._results())
        text = "\n".join(writer.text() for writer in writers)

        def run(place: int, *arguments: Any) -> Any:
            """Run a block, the first of its function that NumPy runs: from now on it has its own code."""
            defined = functions(text, f"ptx {self.text.name}", self._scope)
            for block in blocks:
                block.run = defined[f"block{block.index}"]
            return blocks[place].run(*arguments)

        for block in blocks:
            block.run = partial(run, block.index)
        self.compiled.blocks = blocks
        if back_end is not None:
            self.compiled.code = code = back_end.compiled(self, blocks)
            for number in code.entries:
                blocks[number].is_entry = True
        self.compiled.initial = [np.zeros((), self.register_dtype(name))[()] for name in self.compiled.slots]
        return self.compiled

    def _is_alone(self, step: Step) -> bool:
        """Whether an instruction is a block of its own."""
        space = (step.match.groups.get("space") or "").partition("::")[0]
        if self._parts_accesses and step.instruction.name in _ACCESSES and space not in _OF_THE_THREAD:
            return True
        return self._leaves_region(step)

    def _leaves_region(self, step: Step) -> bool:
        """Whether threads may have to leave a region before an instruction: it may load undefined bytes."""
        if not self.follows_undefined or self._back_end is None or step.match.rule.effect != "load":
            return False
        return not (step.match.groups.get("space") or "").startswith("param")

    # What block writers ask.

    def constant(self, value: int, code: str) -> str:
        key = (value & ((1 << 8 * int(code[1])) - 1), code)
        name = self._constants.get(key)
        if name is None:
            name = self._constants[key] = f"K{len(self._constants)}"
            self._constant_names.add(name)
            self._scope[name] = np.frombuffer(key[0].to_bytes(int(code[1]), "little"), code)[0]
        return name

    def constant_value(self, name: str) -> int | None:
        """The value of a whole constant, by its name; None if it is not a name of one."""
        value = self._scope[name] if name in self._constant_names else None
        return int(value) if isinstance(value, np.integer) else None

    def constant_object(self, value: Hashable) -> str:
        """The name of an object that blocks use as it is."""
        key = type(value), value  # tuples of other classes may be equal
        name = self._objects.get(key)
        if name is None:
            name = self._objects[key] = f"O{len(self._objects)}"
            self._scope[name] = value
        return name

    def slot(self, name: str) -> int:
        return self.compiled.slots.setdefault(name, len(self.compiled.slots))

    def register_dtype(self, name: str) -> str:
        """The NumPy type that a register is kept in between blocks."""
        kind = self.registers.get(name)
        if kind is None:
            raise PTXError(f"{name} is not declared")
        return self._register_dtypes.get(name) or kind.code

    def has_unspecified_nan(self, name: str) -> bool:
        return name in self._unspecified_nans

    def special_code(self, name: str) -> str:
        self.compiled.takes_reserved |= name.startswith("%reserved_smem")
        return special_code(name)

    def number(self, instruction: Instruction) -> int:
        return self.compiled.number(instruction)

    def is_read(self, name: str) -> bool:
        """Whether any instruction takes what is in a register."""
        return name in self._read

    def resolve(self, name: str) -> int | str | tuple[int]:
        """An address; the expression of one that is known when the kernel runs; or a place in the function's
        local memory. Raises PTXError.
        """
        if name in self._locals:
            return (self._locals[name],)
        variable = self.text.variables.get(name)
        if variable is not None and variable.space == "shared":
            self.compiled.shared.add(name)
            return f"L.shared_address[{name!r}]"
        for parameter in self.text.prototype.parameters:
            if parameter.name == name and self.text.is_entry:
                return f"L.parameter_address({name!r})"
        resolved = self._resolve_global(name)
        if resolved is None:
            raise PTXError(f"{name} is not declared")
        if isinstance(resolved, str):
            self.compiled.shared.add(name)
        return resolved

    # Inside.

    def _results(self) -> set[str]:
        return {
            f"{variable.name}+{offset}"
            for variable in self.text.prototype.results
            for offset in self.compiled.param_slots.get(variable.name, ())
        }

    def _reconverge(self, block: Block) -> None:
        """Where the mask of a warp operation that a block begins with stands."""
        if not block.steps or not block.steps[0].match.rule.convergence_mask:
            return
        step = block.steps[0]
        operand = step.match.rule.convergence_mask
        if operand == "all":
            block.convergence_mask = 0xFFFFFFFF
            return
        if operand == "present":
            block.convergence_mask = None
            return
        operands = step.instruction.operands
        mask = operands[int(operand)] if int(operand) < len(operands) else None
        value = getattr(mask, "value", None)
        if isinstance(value, int):
            block.convergence_mask = value & 0xFFFFFFFF
        elif isinstance(mask, Register) and self.registers[mask.name].name in _MASKS:
            block.convergence_mask = ("slot", self.slot(mask.name))
            block.uses.add(mask.name)
        else:
            raise PTXError(f"line {block.line}: {step.instruction.text}: the mask is not supported")

    def _choose_register_dtypes(self, blocks: list[Block]) -> None:
        """Keep a register in the type that all its writers give it; a whole number in that which is taken and
        given most often by instructions to which its sign matters.
        """
        codes: dict[str, set[str]] = {}
        copied: set[str] = set()
        votes: Counter[tuple[str, str]] = Counter()
        for block in blocks:
            for step in block.steps:
                match, operands = step.match, step.instruction.operands
                votes.update(self._votes(step))
                if not operands:
                    continue
                for register in _registers(operands[0]):
                    kind = self._written_type(match, register)
                    codes.setdefault(register, set()).add(kind.code if kind else "")
                    if match.rule.copies or kind is None or not match.rule.expression:
                        copied.add(register)
        for register, register_codes in codes.items():
            declared = self.registers.get(register)
            if declared is None or declared.kind == "p":
                continue
            code = next(iter(register_codes)) if len(register_codes) == 1 else ""
            whole = {f"{letter}{declared.size}" for letter in "ui"}
            if register_codes <= whole:
                signed, unsigned = votes[register, f"i{declared.size}"], votes[register, f"u{declared.size}"]
                if signed != unsigned:
                    code = ("i" if signed > unsigned else "u") + str(declared.size)
            if code and int(code[1:] or 1) == declared.size and code != "?":
                self._register_dtypes[register] = code
                if code in ("f4", "f2") and register not in copied:
                    self._unspecified_nans.add(register)

    def _votes(self, step: Step) -> Iterator[tuple[str, str]]:
        """The registers that an instruction gives or takes as whole numbers, with their types, if it matters
        there whether they have a sign.
        """
        rule, operands = step.match.rule, step.instruction.operands
        for operand in operands:
            if isinstance(operand, Address) and isinstance(operand.base, Register):
                for size in (4, 8):
                    yield operand.base.name, f"u{size}"
        is_constant = step.instruction.name == "mov" and not any(
            isinstance(one, Register) for one in operands[1:]
        )
        if rule.wraps or is_constant:
            return
        pairs: list[tuple[Slot, Operand | None]] = list(zip(rule.slots, operands, strict=False))
        if rule.expression:
            try:
                destination, found = rule.bound(step.instruction, step.match.groups)
            except PTXError:  # which is raised where its code is written
                return
            pairs = [(rule.slots[0], destination), *found]
        for slot, one in pairs:
            kind = self._type_of(slot, step.match)
            if isinstance(one, Register) and kind is not None:
                yield one.name, kind.code

    def _written_type(self, match: Match, register: str) -> Type | None:
        if match.rule.slots:
            return self._type_of(match.rule.slots[0], match)
        return TYPES.get(match.groups.get("T", ""))

    def _type_of(self, slot: Slot, match: Match) -> Type | None:
        try:
            return match.rule.slot_type(slot, match.groups)
        except KeyError:
            return None


def _registers(operand: Operand) -> list[str]:
    if isinstance(operand, Register):
        return [operand.name]
    if isinstance(operand, Vector):
        return [one.name for one in operand.items if isinstance(one, Register)]
    return []
