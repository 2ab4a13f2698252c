"""The machine code of blocks of a function, all of whose instructions there is machine code for.

Lanes of a chunk run the block that comes first of those that they are at, until they have left the region:
the order that the scheduler has, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..access import ATOMIC, READ, WRITE, Access, accessed
from ..assembler.x86_64 import R8, RAX, RBX, RDI, RDX, Assembler, At
from ..compile.graph import read_registers, registers_of
from ..generated import functions
from ..ptx.syntax import Instruction, Operand, Register, Vector
from ..ptx.types import TYPES, Type
from ..rounding import round_up
from . import layout, vectors
from .accesses import (
    CHECKS,
    access_address,
    access_of,
    atomic_of,
    gives_old,
    is_access,
    is_atomic,
    is_load,
)
from .atomics import write_atomic
from .lanes import Lanes, Value
from .layout import NARROW, WIDE
from .lowering import lower
from .processor import place_code
from .warp_operations import write_warp_operation

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable

    from ..aliases import I64, U32
    from ..compile.function import FunctionCompiler
    from ..compile.graph import Block, Step
    from ..run.batch import Batch

_DTYPES = {f"{letter}{size}": np.dtype(f"{letter}{size}") for letter in "ui" for size in (1, 2, 4, 8)} | {
    "f4": np.dtype("f4"),
    "f8": np.dtype("f8"),
}
VECTOR = 32  # bytes of a register of the processor
_FOUND = 16
"""Bytes of what a load or store of global memory remembers: an allocation's address and size."""


class MemoryStep(NamedTuple):
    """A load or store, for when Python has to make it."""

    space: str
    access: Access
    items: tuple[int, ...]
    """The offsets of the arrays that the items go to, or come from."""
    operation: tuple[str, str] | None = None
    """Of an atomic, and its type: the second array gets what was there."""


class Carried(NamedTuple):
    """A register that lanes bring into a region, or may change there."""

    slot: int
    """Its place in frames."""
    location: int
    dtype: np.dtype[Any]
    """Of what frames keep it in."""
    stays: bool
    """Whether the region leaves it as it is."""


class Part(NamedTuple):
    """Consecutive bytes of a region's code."""

    block: int | None
    """None: an exit."""
    instructions: tuple[Instruction, ...]
    """The PTX that it belongs to; none: the beginning or end of the block."""
    steps: tuple[vectors.Step, ...]
    """What is computed for eight lanes at a time, four times."""
    start: int
    end: int


class Region:
    """The blocks `numbers` of a function."""

    def __init__(self, function: FunctionCompiler, blocks: list[Block], numbers: list[int]) -> None:
        self.function, self._blocks = function, blocks
        self.numbers = numbers
        self._places = {number: place for place, number in enumerate(numbers)}
        self.exits: list[int] = []
        """The blocks that lanes leave it to, by number in PLACE."""
        self.accesses: list[MemoryStep] = []
        self.found: list[int] = []
        """The offsets of what accesses remember."""
        self.locations: dict[str, int] = {}
        """Of each register, its offset in bytes."""
        self._constants: dict[tuple[int, int], int] = {}
        self._inputs: dict[str, tuple[int, Type]] = {}
        self._spills: list[int] = []
        self._end = layout.END
        self._gates = {number for number in numbers if blocks[number].gathers}
        """The blocks that lanes leave the region before, unless all of their warp are active."""
        self._crossing: set[str] = set().union(*(block.live_in for block in blocks))
        self._read: dict[int, set[str]] = {}
        self._written: dict[int, set[str]] = {}
        self.parts: list[Part] = []
        """What its code is made of."""
        out = Assembler()
        for number in numbers:
            _Writer(self, out, blocks[number]).write()
        for place in range(len(self.exits)):
            begin = len(out)
            out.label(f"exit {place}")
            out.set(RAX, layout.LEFT | place)
            out.jump_to(_routine(layout.EXIT))
            self.parts.append(Part(None, (), (), begin, len(out)))
        self.code = out.finish()
        start = place_code(self.code)
        names = [f"block {number}" for number in numbers]
        names += [f"exit {place}" for place in range(len(self.exits))]
        self.table = np.array([start + out.labels[name] for name in names], np.uint64)
        """The addresses of the code of blocks and exits."""
        self.image = layout.image(round_up(self._end, 64))
        """What its memory holds at first."""
        for (bits, size), offset in self._constants.items():
            self.image[offset : offset + size] = np.frombuffer(bits.to_bytes(size, "little"), np.uint8)
        self.uses = {one.space for one in self.accesses}
        """The spaces that it accesses."""
        expressions = "".join(f"{one}, " for one in self._inputs)
        text = f"def inputs(L):\n return ({expressions})\n"
        defined = functions(text, "inputs", dict(_DTYPES))
        self.read_inputs: Callable[[Batch], tuple[Any, ...]] = defined["inputs"]
        """What does not change in a batch."""
        self.inputs = list(self._inputs.values())
        """Their locations, and types."""
        self._changes = set().union(*self._written.values())
        self._entries: dict[int, tuple[list[Carried], list[Carried]]] = {}
        self._written_from: dict[int, set[str]] = {}
        """What lanes that enter at a block may change. Other locations may hold values of earlier lanes."""

    def place(self, number: int) -> int:
        """The number of a block in PLACE; it may be an exit."""
        place = self._places.get(number)
        if place is not None:
            return place
        return len(self.numbers) + self.exit_to(number)

    def exit_to(self, number: int) -> int:
        """The number of the exit to a block."""
        if number not in self.exits:
            self.exits.append(number)
        return self.exits.index(number)

    def block_at(self, place: int) -> int:
        """The block that a number in PLACE means."""
        return self.exits[place - layout.LEFT] if place >= layout.LEFT else self.numbers[place]

    def blocks_at(self, places: U32) -> I64:
        """The blocks that numbers in PLACE mean."""
        index = places & np.uint32(layout.LEFT - 1)
        index += (places >= np.uint32(layout.LEFT)) * np.uint32(len(self.numbers))
        return np.array([*self.numbers, *self.exits], np.int64).take(index)

    def live_at(self, numbers: Iterable[int], entry: int) -> list[Carried]:
        """The registers that lanes may have changed since they entered, and that are read from blocks on."""
        live = set().union(*(self._blocks[one].live_in for one in numbers))
        return self._described(self._written_from[entry] & live)

    def registers_at(self, entry: int) -> tuple[list[Carried], list[Carried]]:
        """The registers that lanes bring along where they enter, and those that they may change."""
        known = self._entries.get(entry)
        if known is None:
            reached, pending = {entry}, [entry]
            wanted: set[str] = set()
            while pending:
                if pending[-1] in self._gates:
                    wanted.update(self._blocks[pending[-1]].live_in)
                for following in self._blocks[pending.pop()].successors():
                    if following not in self._places:
                        wanted.update(self._blocks[following].live_in)
                    elif following not in reached:
                        reached.add(following)
                        pending.append(following)
            written = set().union(*(self._written[one] for one in reached))
            used = set().union(*(self._read[one] for one in reached)) | written
            brought = self._described(used & self.locations.keys() & {*self._blocks[entry].live_in})
            self._written_from[entry] = written
            known = self._entries[entry] = brought, self._described(written & wanted)
        return known

    def _described(self, names: set[str]) -> list[Carried]:
        return [
            Carried(
                self.function.slot(name),
                self.locations[name],
                np.dtype(self.function.register_dtype(name)),
                name not in self._changes,
            )
            for name in sorted(names)
        ]

    # What blocks need: `lanes.CodeContext`.

    def location(self, name: str) -> int:
        location = self.locations.get(name)
        if location is None:
            location = self.locations[name] = self._room(
                WIDE if self.function.registers[name].size == 8 else NARROW
            )
        return location

    def constant(self, bits: int, size: int) -> int:
        offset = self._constants.get((bits, size))
        if offset is None:
            offset = self._constants[bits, size] = self._room(8)
        return offset

    def input(self, expression: str, kind: Type) -> int:
        known = self._inputs.get(expression)
        if known is None:
            known = self._inputs[expression] = self._room(WIDE if kind.size == 8 else NARROW), kind
        return known[0]

    # What the code of blocks needs besides.

    def is_shared_by_blocks(self, name: str) -> bool:
        """Whether another block may read what is in a register."""
        return name in self._crossing

    def room_for_found(self) -> int:
        """The offset of what an access remembers."""
        self.found.append(self._room(_FOUND))
        return self.found[-1]

    def covers(self, number: int, read: set[str], written: set[str]) -> None:
        """What a block reads and writes."""
        self._read[number], self._written[number] = read, written

    def spill(self, number: int) -> int:
        """The offset of one of the places for vectors for which registers do not suffice."""
        while number >= len(self._spills):
            self._spills.append(self._room(VECTOR))
        return self._spills[number]

    def _room(self, size: int) -> int:
        offset = self._end
        self._end += size
        return offset


def _routine(number: int) -> At:
    return At(RBX, layout.ROUTINES + 8 * number)


def _needed(instruction: Instruction) -> set[str]:
    """The registers that an instruction reads; where its guard is false its target stays what it was."""
    needed = read_registers(instruction)
    if instruction.guard is not None:
        needed |= set().union(*(registers_of(one) for one in instruction.operands[:1]))
    return needed


def _bits_of(kind: Type) -> Type:
    """The type of what is loaded: of a float its bits, and a whole number keeps its sign."""
    return TYPES[f"b{8 * kind.size}"] if kind.kind == "f" else kind


class _Writer:
    """Writes one block."""

    def __init__(self, region: Region, out: Assembler, block: Block) -> None:
        self._region, self._out, self._block = region, out, block
        self._lanes = Lanes(region)
        self._read: set[str] = set()
        self._written: set[str] = set()
        self._instructions: list[Instruction] = []
        """Those of the part at hand, which begins at `_begin`."""
        self._begin = len(out)
        after: set[str] = set(block.live_out)
        self._read_after: list[set[str]] = []
        """What is read behind each step."""
        for step in reversed(block.steps):
            self._read_after.append(set(after))
            after |= _needed(step.instruction)
        self._read_after.reverse()

    def write(self) -> None:
        block, out = self._block, self._out
        out.label(f"block {block.index}")
        if block.gathers:
            alone = f"exit {self._region.exit_to(block.index)}"
            out.number("cmp", At(RBX, layout.ACTIVE), -1, wide=False)
            out.jump_if("ne", alone)
            out.number("cmp", At(RBX, layout.ALIGNED), 1, wide=False)
            out.jump_if("ne", alone)
        if not block.is_idle:
            out.put(At(RBX, layout.EFFECTS), 1)
        ends = None
        self._end_part()
        for place, step in enumerate(block.steps):
            self._instructions.append(step.instruction)
            if step.match.rule.ends_block:
                ends = step
            elif is_access(step):
                self._access(step, place)
            elif is_atomic(step):
                self._atomic(step, place)
            elif step.match.rule.convergence_mask:
                self._together(step, place)
            else:
                lower(self._lanes, step.instruction, step.match)
                continue
            if ends is None:  # what is behind the addresses and values, which were written before
                self._instructions.append(step.instruction)
                self._end_part()
        condition = None
        if ends is not None:
            condition = self._lanes.truth(ends.instruction)
            if condition is not None:
                self._lanes.code.store(layout.CONDITION, condition)
                self._lanes.code.bits(condition)
        self._flush(block.live_out)
        self._region.covers(block.index, self._read, self._written)
        self._end(condition is not None)
        self._end_part()

    def _end_part(self, steps: Iterable[vectors.Step] = ()) -> None:
        """The code from here on belongs to other instructions."""
        if len(self._out) > self._begin:
            instructions = tuple(self._instructions)
            number = self._block.index
            self._region.parts.append(Part(number, instructions, tuple(steps), self._begin, len(self._out)))
            self._begin = len(self._out)
            self._instructions.clear()

    def _end(self, is_conditional: bool) -> None:
        block, out, region = self._block, self._out, self._region
        following = block.index + 1
        target = block.targets[0] if block.end == "branch" else following
        to, next_ = region.place(target), region.place(following) if is_conditional else 0
        general = out.new_label()
        out.fetch(RAX, At(RBX, layout.ACTIVE), 4)
        if is_conditional:
            out.word("and", RDX, RAX, wide=False)
        out.word("cmp", RAX, At(RBX, layout.UNFINISHED), wide=False)
        out.jump_if("ne", general)
        if is_conditional:
            otherwise = out.new_label()
            out.test(RDX, RDX, wide=False)
            out.jump_if("z", otherwise)
            out.word("cmp", RDX, RAX, wide=False)
            out.jump_if("ne", general)
            self._direct(target)
            out.label(otherwise)
            self._direct(following)
        else:
            self._direct(target)
        out.label(general)
        out.set(RAX, to)
        if is_conditional:
            out.set(RDX, next_)
        out.jump_to(_routine(layout.DIVERGE if is_conditional else layout.GO_ON))

    def _direct(self, number: int) -> None:
        """All go to a block."""
        out, region = self._out, self._region
        place = region.place(number)
        if place >= len(region.numbers):
            out.jump(f"exit {place - len(region.numbers)}")
            return
        if number <= self._block.index:
            out.number("sub", At(RBX, layout.BUDGET), 1)
            out.jump_if("ns", f"block {number}")
            out.set(RAX, place)
            out.jump_to(_routine(layout.GO_ON))
        else:
            out.jump(f"block {number}")

    def _flush(self, wanted: Container[str]) -> None:
        """Put changed registers that somebody wants into their locations, and begin anew."""
        lanes, region = self._lanes, self._region
        self._read |= lanes.values.keys()
        code = lanes.code
        out: list[tuple[str, Value]] = []
        for name in lanes.changed:
            if name not in wanted:
                continue
            self._written.add(name)
            value, nan = lanes.values[name]
            if nan and not region.function.has_unspecified_nan(name):
                value = lanes.canonical(value, region.function.registers[name].size)
            # what is another register's location is read before that is written
            out.append((name, tuple(code.copy(one) for one in value)))
        for name, value in out:
            location = region.location(name)
            if region.is_shared_by_blocks(name):
                mask = code.load(layout.MASK)
                value = lanes.choose(mask, value, lanes.at(location, len(value) == 2))
            self._store(value, location)
        code.emit(self._out, region.spill)
        self._end_part(code.steps)
        self._lanes = Lanes(region)

    def _access(self, step: Step, place: int) -> None:
        """A load or store: its addresses and what it stores are put where the routines look for it."""
        region, out = self._region, self._out
        space, kind, count = access_of(step)
        loads = is_load(step)
        self._store(access_address(self._lanes, step), layout.ADDRESS)
        data = step.instruction.operands[0 if loads else 1]
        operands = data.items if isinstance(data, Vector) else (data,)
        offsets = []
        direct = loads and all(self._is_direct(one, kind) for one in operands)
        for number, operand in enumerate(operands):
            offset = (layout.LOADED if loads else layout.VALUES) + number * WIDE
            if direct and isinstance(operand, Register):
                offset = region.location(operand.name)
            elif not loads:
                self._put(operand, kind, offset)
            offsets.append(offset)
        self._flush(self._read_after[place] | _needed(step.instruction))
        if direct:
            self._written |= {one.name for one in operands if isinstance(one, Register)}
        access = accessed(
            np.dtype(kind.code), count, region.function.number(step.instruction), READ if loads else WRITE
        )
        resume = self._check(MemoryStep(space, access, tuple(offsets)))
        routine = (layout.LOAD if loads else layout.STORE) + kind.size.bit_length() - 1
        for item, offset in enumerate(offsets):
            out.lea(RDI, At(RBX, offset))
            out.set(R8, item * kind.size)
            out.call_at(_routine(routine))
        out.label(resume)
        if loads and not direct:
            for operand, offset in zip(operands, offsets, strict=True):
                value = self._lanes.at(offset, kind.size == 8)
                self._lanes.write(operand, value, _bits_of(kind))

    def _check(self, step: MemoryStep) -> str:
        """Go on if the addresses are good; else Python makes the access. Returns where it goes on then."""
        region, out = self._region, self._out
        region.accesses.append(step)
        good, resume = out.new_label(), out.new_label()
        out.lea(RDX, At(RBX, region.room_for_found()))
        out.set(R8, step.access.size)
        out.call_at(_routine(CHECKS[step.space]))
        out.test(RAX, RAX, wide=False)
        out.jump_if("z", good)
        out.put(At(RBX, layout.WHICH), len(region.accesses) - 1)
        out.load_label(RAX, resume)
        out.keep(At(RBX, layout.RESUME), RAX)
        out.set(RAX, layout.ACCESSES)
        out.jump_to(_routine(layout.LEAVE))
        out.label(good)
        return resume

    def _atomic(self, step: Step, place: int) -> None:
        """Lane after lane, as no other thread of Python runs."""
        region, out = self._region, self._out
        space, kind, op = atomic_of(step)
        self._store(access_address(self._lanes, step), layout.ADDRESS)
        operands = step.instruction.operands
        self._put(operands[2 if gives_old(step) else 1], kind, layout.VALUES)
        self._flush(self._read_after[place] | _needed(step.instruction))
        access = accessed(np.dtype(kind.code), 1, region.function.number(step.instruction), ATOMIC)
        values, found = layout.VALUES, layout.LOADED
        resume = self._check(MemoryStep(space, access, (values, found), (op, kind.name)))
        write_atomic(out, op, kind, space, values, found, region)
        out.label(resume)
        if gives_old(step):
            value = self._lanes.at(found, kind.size == 8)
            self._lanes.write(operands[0], value, _bits_of(kind))

    def _together(self, step: Step, place: int) -> None:
        wanted = self._read_after[place] | _needed(step.instruction)

        def flush() -> Lanes:
            self._flush(wanted)
            if step.match.rule.effect == "vote":
                self._out.keep(At(RBX, layout.VOTES), RDX, 4)
            return self._lanes

        self._lanes = write_warp_operation(self._lanes, step, flush)
        if step.match.rule.effect == "shuffle":  # before the next one puts there what lanes give
            self._flush(self._read_after[place])

    def _is_direct(self, operand: Operand, kind: Type) -> bool:
        """Whether what is loaded can go to the location of a register as it is."""
        declared = (
            self._region.function.registers.get(operand.name) if isinstance(operand, Register) else None
        )
        if declared is None or declared.kind == "p":
            return False
        if kind.size >= 4:
            return declared.size == kind.size
        return kind.kind != "s" and kind.size <= declared.size <= 4

    def _put(self, operand: Operand, kind: Type, offset: int) -> None:
        lanes = self._lanes
        bits = TYPES[f"b{8 * kind.size}"]
        self._store(lanes.read(operand, bits if isinstance(operand, Register) else kind), offset)

    def _store(self, value: Value, offset: int) -> None:
        """Put a value into an array or a location."""
        for part, one in enumerate(value):
            self._lanes.code.store(offset + 32 * part, one, len(value))
