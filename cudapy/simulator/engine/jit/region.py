"""The machine code of blocks of a function, all of whose instructions there is machine code for.

Lanes of a chunk run the block that comes first of those that they are at, until they have left the region:
the order that the scheduler has, too.
"""

from __future__ import annotations

import collections
import dataclasses
import itertools
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..addresses import round_up
from ..assembler.x86_64 import RAX, RBX, RCX, RDI, RDX, Assembler, At
from ..checks import BOUNDS, COVERAGE, RACES, UNDEFINED
from ..compile.graph import read_registers, registers_of
from ..generated import functions
from ..ptx.types import TYPES, Type
from ..run.shadow import WIDEST
from . import layout, vectors
from .accesses import MemoryStep
from .data import FIXED, given_by
from .lanes import Lanes, Unsupported, Value
from .layout import NARROW, WIDE
from .library import routine
from .lowering import lower
from .phases import calm_blocks
from .processor import assembler, place_code
from .streams import Stream, may_stream
from .strides import Strides
from .warp_operations import require_whole_warp
from .workers import Pace

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable

    from ..aliases import I64, U32
    from ..compile.function import FunctionCompiler
    from ..compile.graph import Block, Step
    from ..ptx.syntax import Instruction
    from ..run.batch import Batch

_DTYPES = {f"{letter}{size}": np.dtype(f"{letter}{size}") for letter in "ui" for size in (1, 2, 4, 8)} | {
    "f4": np.dtype("f4"),
    "f8": np.dtype("f8"),
}
OF_BLOCKS = frozenset({BOUNDS, UNDEFINED, RACES})
"""The checks with which whole blocks may run."""
VECTOR = 32  # bytes of a register of the processor


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


class Inputs(NamedTuple):
    """What a region is given for all lanes of a batch."""

    read: Callable[[Batch], tuple[Any, ...]]
    places: list[tuple[int, Type]]
    """The location and type of each."""


_SHAPE = tuple(f"L.special.parts('{name}" for name in FIXED)
_GROUPS: tuple[tuple[str, ...], ...] = (_SHAPE, ("L.parameter(",), ("",))
"""How the expressions of inputs begin."""


def _grouped(inputs: dict[str, tuple[int, Type]]) -> list[Inputs]:
    groups: list[dict[str, tuple[int, Type]]] = [{} for _ in _GROUPS]
    for expression, place in inputs.items():
        number = next(i for i, begins in enumerate(_GROUPS) if expression.startswith(begins))
        groups[number][expression] = place
    texts = (
        f"def inputs{i}(L): return ({''.join(f'{one}, ' for one in group)})\n"
        for i, group in enumerate(groups)
    )
    defined = functions("".join(texts), "inputs", dict(_DTYPES))
    return [Inputs(defined[f"inputs{i}"], list(group.values())) for i, group in enumerate(groups)]


class LeftToPython(NamedTuple):
    """Where the code of a region goes on for Python to make an access, and where behind that."""

    failed: str
    resume: str
    step: MemoryStep
    block: int
    instruction: Instruction


class Region:
    """The blocks `numbers` of a function, with the code of `checks`."""

    def __init__(
        self, function: FunctionCompiler, blocks: list[Block], numbers: list[int], checks: frozenset[str]
    ) -> None:
        self.function, self._blocks = function, blocks
        self.numbers, self.checks = numbers, checks
        self._places = {number: place for place, number in enumerate(numbers)}
        self.exits: list[int] = []
        """The blocks that lanes leave it to, by number in PLACE."""
        self.left_to_python: list[LeftToPython] = []
        self.found: dict[int, int] = {}
        """The offsets of what accesses remember, by the identity of their steps."""
        self.sites: list[tuple[int, int, int]] = []
        """Of accesses that are checked for races: the offset of the number of the site, the number of the
        instruction, and the mode.
        """
        self.counts: dict[int, int] = {}
        """Of each block the offset of two counts: threads that ran it, and that took its branch."""
        self.locations: dict[str, int] = {}
        """Of each register, its offset in bytes."""
        self._constants: dict[tuple[int, int], int] = {}
        self._inputs: dict[str, tuple[int, Type]] = {}
        self._switches: dict[int, list[int]] = {}
        """The offsets of tables of numbers in PLACE."""
        self._spills: list[int] = []
        self._pointers: list[int] = []
        self._end = layout.END
        self._sync_points = {number for number in numbers if blocks[number].gathers or blocks[number].meets}
        """The blocks before which lanes may leave: warp operations, barriers, loads of undefined bytes."""
        self._left_before: dict[int, str] = {}
        self._crossing: set[str] = set().union(*(block.live_in for block in blocks))
        self._is_entered_once = not any(0 in block.successors() for block in blocks)
        self._given = self._find_given()
        """Registers that are inputs: once they are set they lie where those do, and nobody copies them."""
        self._read: dict[int, set[str]] = {}
        self._written: dict[int, set[str]] = {}
        self._kinds: dict[int, list[bool | None]] = {}
        self.parts: list[Part] = []
        """What its code is made of."""
        out = assembler()
        runs = self._runs()
        for number in numbers:
            out.label(f"block {number}")
            self._write_ahead(out, runs, number)
            _Writer(self, out, blocks[number], self._kinds_of(blocks[number])).write()
        for which, one in enumerate(self.left_to_python):
            self._leave(out, which, one)
        for number, label in self._left_before.items():
            self._go_before(out, number, label)
        for place in range(len(self.exits)):
            begin = len(out)
            out.label(f"exit {place}")
            out.set(RAX, layout.LEFT | place)
            out.jump_to(routine(layout.EXIT))
            self.parts.append(Part(None, (), (), begin, len(out)))
        if len(out) > out.REACH:
            raise Unsupported
        self.code = out.finish()
        start = place_code(self.code)
        names = [f"block {number}" for number in numbers]
        names += [f"exit {place}" for place in range(len(self.exits))]
        self.table = np.array([start + out.labels[name] for name in names], np.uint64)
        """The addresses of the code of blocks and exits."""
        self.draws = np.array([not (blocks[one].gathers or blocks[one].meets) for one in numbers], np.uint8)
        """For `layout.DRAWS`."""
        self.draws = np.pad(self.draws, (0, len(self.exits)), constant_values=1)
        self.image = layout.image(round_up(self._end, 64))
        """What its memory holds at first."""
        for offset, places in self._switches.items():
            self.image[offset : offset + 4 * len(places)].view(np.uint32)[:] = places
        for (bits, size), offset in self._constants.items():
            self.image[offset : offset + size] = np.frombuffer(bits.to_bytes(size, "little"), np.uint8)
        own = [one.step.access.size for one in self.left_to_python if one.step.space in ("shared", "generic")]
        self.least_shared = min(own, default=WIDEST)
        """Bytes of its least access to shared memory."""
        self.uses = {one.step.space for one in self.left_to_python}
        """The spaces that it accesses."""
        ends = [number for number in self.exits if number not in self._left_before]
        self.end = self.exits.index(ends[0]) | layout.LEFT if ends else 0
        """What PLACE is for lanes that have ended."""
        is_closed = bool(ends) and all(only_ends(blocks[number]) for number in ends)
        self.is_whole = is_closed and function.text.is_entry and checks <= OF_BLOCKS
        """Whether whole blocks can run in it, each to its end, with the barriers that `has_barriers`."""
        self.has_barriers = any(blocks[number].meets for number in numbers)
        ordered = any(one.step.keeps_order for one in self.left_to_python)
        self.keeps_order = ordered or not checks <= {BOUNDS, COVERAGE}
        """Whether chunks have to run one after the other for the same results."""
        self.paces: collections.defaultdict[int, Pace] = collections.defaultdict(Pace)
        """How long chunks take, by the block where they enter."""
        self.inputs = _grouped(self._inputs)
        """What does not change in a batch: what its shape says, the kernel's parameters, and all else."""
        self.at_rest: collections.defaultdict[int, list[Any]] = collections.defaultdict(list)
        """What has run it in a batch, and can in the next one, by the number of its memories."""
        self._changes = set().union(*self._written.values())
        self._entries: dict[int, tuple[list[Carried], list[Carried], list[Carried]]] = {}
        self._written_from: dict[int, set[str]] = {}
        """What lanes that enter at a block may change. Other locations may hold values of earlier lanes."""

    def _runs(self) -> dict[int, list[Block]]:
        """Blocks that follow each other, by the first of them: threads come to the others from the one before
        alone. There are many where undefined bytes are followed, as each load is a block then.
        """
        runs: dict[int, list[Block]] = {}
        if UNDEFINED not in self.checks or COVERAGE in self.checks:
            return runs
        targets = {target for block in self._blocks for target in block.targets}
        run: list[Block] = []
        for number in self.numbers:
            block = self._blocks[number]
            if not (run and run[-1].end == "next" and run[-1].index == number - 1) or number in targets:
                run = runs[number] = []
            if block.meets or block.gathers:
                run = []
            else:
                run.append(block)
        return runs

    def _write_ahead(self, out: Assembler, runs: dict[int, list[Block]], number: int) -> None:
        """Write the code of a stream for the blocks of a run, if there is one. What it does not take is a run
        of its own.
        """
        run = runs.get(number, [])
        while len(run) > 1:
            steps = [step for block in run for step in block.steps]
            is_idle = all(block.is_idle for block in run)
            joined = dataclasses.replace(run[-1], steps=steps, is_idle=is_idle)
            kinds = [kind for block in run for kind in self._kinds_of(block)]
            taken = _Writer(self, out, joined, kinds).write_ahead(number)
            ends = itertools.accumulate(len(block.steps) for block in run)
            count = sum(end <= taken for end in ends)
            if count < len(run):
                rest = run[max(count, 1) :]
                runs[rest[0].index] = rest
            if taken == len(steps):
                return
            run = run[:count]

    def _kinds_of(self, block: Block) -> list[bool | None]:
        """What `may_stream` says of each step of a block."""
        if block.index not in self._kinds:
            is_calm = block.index in self.calm if RACES in self.checks else None
            self._kinds[block.index] = [may_stream(step, self.strides, is_calm) for step in block.steps]
        return self._kinds[block.index]

    def _find_given(self) -> set[str]:
        """The registers that one instruction sets, in the first block, to what is an input of the region."""
        found: dict[str, int] = {}
        written: collections.Counter[str] = collections.Counter()
        for block in self._blocks:
            for step in block.steps:
                written.update(registers_of(next(iter(step.instruction.operands), None)))
        if not self._is_entered_once:
            return set()
        for step in self._blocks[0].steps:
            for register, expression, kind in given_by(self.function, step):
                if written[register] == 1:
                    found[register] = self.input(expression, kind)
        self.locations.update(found)
        return {*found}

    def has(self, number: int) -> bool:
        return number in self._places

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

    def registers_at(self, entry: int) -> tuple[list[Carried], list[Carried], list[Carried]]:
        """The registers that lanes bring along where they enter, those that they may change, and what they
        may change besides if some have to leave early.
        """
        known = self._entries.get(entry)
        if known is None:
            reached, pending = {entry}, [entry]
            wanted: set[str] = set()
            early: set[str] = set()
            while pending:
                if pending[-1] in self._sync_points:
                    early.update(self._blocks[pending[-1]].live_in)
                for following in self._blocks[pending.pop()].successors():
                    if following not in self._places:
                        wanted.update(self._blocks[following].live_in)
                    elif following not in reached:
                        reached.add(following)
                        pending.append(following)
            written = set().union(*(self._written[one] for one in reached))
            used = set().union(*(self._read[one] for one in reached)) | written
            live = {*self._blocks[entry].live_in} - self._given
            brought = self._described(used & self.locations.keys() & live)
            self._written_from[entry] = written
            changed = self._described(written & wanted), self._described((written & early) - wanted)
            known = self._entries[entry] = brought, *changed
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

    def _leave(self, out: Assembler, which: int, one: LeftToPython) -> None:
        begin = len(out)
        out.label(one.failed)
        out.put(At(RBX, layout.WHICH), which)
        out.load_label(RAX, one.resume)
        out.keep(At(RBX, layout.RESUME), RAX)
        out.set(RAX, layout.ACCESSES)
        out.jump_to(routine(layout.LEAVE))
        self.parts.append(Part(one.block, (one.instruction,), (), begin, len(out)))

    def _go_before(self, out: Assembler, number: int, label: str) -> None:
        begin = len(out)
        out.label(label)
        out.number("cmp", At(RBX, layout.WARPS), 0, wide=False)
        alone = out.new_label()
        out.jump_if("e", alone)
        out.set(RAX, self._places[number])
        out.jump_to(routine(layout.GIVE_UP))
        out.label(alone)
        if number in self.counts and not self._blocks[number].gathers:  # it is to be counted where it runs
            out.fetch(RCX, At(RBX, layout.ACTIVE), 4)
            out.count_bits(RCX, RCX)
            out.set(RAX, 0)
            out.word("sub", RAX, RCX)
            out.add_to(At(RBX, self.counts[number]), RAX)
        out.word("mov", RAX, At(RBX, layout.OUT_ALL))
        out.keep(At(RBX, layout.OUT_NOW), RAX)
        out.put(At(RBX, layout.EARLY), 1)
        out.jump(f"exit {self.exits.index(number)}")
        self.parts.append(Part(number, (), (), begin, len(out)))

    # What blocks need.

    @cached_property
    def registers_read(self) -> set[str]:
        """Those that any instruction of the function reads."""
        return set().union(*(_needed(step) for block in self._blocks for step in block.steps))

    def leave_before(self, number: int) -> str:
        """The label at which lanes leave before a block."""
        if number not in self._left_before:
            self._sync_points.add(number)
            self.exit_to(number)
            self._left_before[number] = f"before {number}"
        return self._left_before[number]

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

    def has_all_lanes(self, number: int) -> bool:
        """Whether a block runs once, with all lanes of the chunk."""
        return number == 0 and self._is_entered_once

    def is_given(self, name: str) -> bool:
        """Whether a register lies where an input does."""
        return name in self._given

    def found_by(self, step: Step) -> int:
        """The offset of what an access remembers."""
        if id(step) not in self.found:
            self.found[id(step)] = self._room(layout.FOUND)
        return self.found[id(step)]

    def room_for_site(self) -> int:
        """The offset of the number that a race detector has for an access."""
        return self._room(8)

    def room_for_places(self, numbers: list[int]) -> int:
        """The offset of a table of what blocks have in PLACE."""
        offset = self._room(round_up(4 * len(numbers), 8))
        self._switches[offset] = [self.place(one) for one in numbers]
        return offset

    def counts_of(self, number: int) -> int:
        """The offset of a block's counts."""
        if number not in self.counts:
            self.counts[number] = self._room(16)
        return self.counts[number]

    def covers(self, number: int, read: set[str], written: set[str]) -> None:
        """What a block reads and writes."""
        self._read.setdefault(number, set()).update(read)
        self._written.setdefault(number, set()).update(written)

    def spill(self, number: int) -> int:
        """The offset of one of the places for vectors for which registers do not suffice."""
        while number >= len(self._spills):
            self._spills.append(self._room(VECTOR))
        return self._spills[number]

    def room_for_pointer(self, number: int) -> int:
        """The offset of one of the places for pointers of streams, one for each lane."""
        while number >= len(self._pointers):
            self._pointers.append(self._room(WIDE))
        return self._pointers[number]

    @cached_property
    def calm(self) -> frozenset[int]:
        """The blocks in whose phases nobody writes shared memory."""
        return calm_blocks(self._blocks)

    @cached_property
    def strides(self) -> Strides:
        """How far apart the addresses of neighbouring threads probably lie."""
        return Strides(step for block in self._blocks for step in block.steps)

    def _room(self, size: int) -> int:
        offset = self._end
        self._end += size
        return offset


def only_ends(block: Block) -> bool:
    """Whether threads that come to a block of a kernel end there."""
    return block.is_certain and all(step.instruction.name in ("ret", "exit") for step in block.steps)


def _needed(step: Step) -> set[str]:
    """The registers that an instruction reads; where its guard is false its target stays what it was."""
    instruction, rule = step.instruction, step.match.rule
    needed = read_registers(instruction) | {slot.register for slot in rule.slots[1:] if slot.register}
    if instruction.guard is not None:
        needed |= set().union(*(registers_of(one) for one in instruction.operands[:1]))
        needed |= {one.register for one in (rule.also, *rule.slots[:1]) if one is not None and one.register}
    return needed


class _Writer:
    """Writes one block. It is the context of its instructions: `lanes.CodeContext`."""

    def __init__(self, region: Region, out: Assembler, block: Block, kinds: list[bool | None]) -> None:
        self._region, self.out, self._block = region, out, block
        self.function, self.checks, self.number = region.function, region.checks, 0
        self.location, self.constant, self.input = region.location, region.constant, region.input
        self.stream: Stream | None = None
        self._lanes = Lanes(self)
        self._read: set[str] = set()
        self._written: set[str] = set()
        self._instructions: list[Instruction] = []
        """The instructions of the part at hand, which begins at `_begin`."""
        self._begin = len(out)
        self._place = 0
        """Of the step at hand."""
        self.is_calm = RACES in self.checks and block.index in region.calm
        self._kinds = kinds
        steps = block.steps
        self._ends = steps[-1] if steps and steps[-1].match.rule.ends_block else None
        """The step that ends the block."""
        self._count = len(steps) - (self._ends is not None)
        """Of steps before that."""

    @cached_property
    def _wanted(self) -> list[set[str]]:
        after, wanted = {*self._block.live_out}, []
        for step in reversed(self._block.steps):
            after |= _needed(step)
            wanted.append({*after})
        return wanted[::-1]

    def write(self) -> None:
        block, out = self._block, self.out
        if block.meets:
            self._write_barrier()
            return
        if block.gathers:
            require_whole_warp(self._lanes, block, self._region.leave_before(block.index))
        if not block.is_idle:
            out.put(At(RBX, layout.EFFECTS), 1)
        if COVERAGE in self.checks:
            out.fetch(RAX, At(RBX, layout.ACTIVE), 4)
            out.count_bits(RAX, RAX)
            out.add_to(At(RBX, self._region.counts_of(block.index)), RAX)
        self._end_part()
        place, has_ended = 0, False
        while place < self._count:
            stop = self._write_stream(place)
            has_ended = place < stop == self._count
            if stop == place:
                stop = self._plain_end(place)
                self._lower(range(place, stop))
            place = stop
        if not has_ended:
            self._finish()
        self._region.covers(block.index, self._read, self._written)
        self._end()
        self._end_part()

    def write_ahead(self, first: int) -> int:
        """Write all steps as a stream, with the code of block `first` behind it for where that does not fit.
        Returns how many steps the stream takes: if these are not all, nothing is written.
        """
        stream, lanes, stop = self._collect(0)
        if not stream.has_any or stop < self._count:
            return stop if stream.has_any else 0
        general = self.out.new_label()
        self._go_where_it_fits(stream, lanes, general)
        if not self._block.is_idle:
            self.out.put(At(RBX, layout.EFFECTS), 1)
        self._lanes = lanes
        self._finish(is_full=True)
        self._region.covers(first, self._read, self._written)
        self._end()
        self._end_part()
        self.out.label(general)
        return len(self._block.steps)

    def _write_barrier(self) -> None:
        """Where chunks are warps of whole blocks, and all lanes of one come, other warps have their turn."""
        block, out, region = self._block, self.out, self._region
        self._instructions.append(block.steps[0].instruction)
        alone, after = region.leave_before(block.index), out.new_label()
        out.number("cmp", At(RBX, layout.WARPS), 0, wide=False)
        out.jump_if("e", alone)
        out.fetch(RAX, At(RBX, layout.ACTIVE), 4)
        out.word("cmp", RAX, At(RBX, layout.UNFINISHED), wide=False)
        out.jump_if("ne", alone)
        out.put(At(RBX, layout.EFFECTS), 1)
        out.set(RAX, region.place(block.index))
        out.load_label(RDX, after)
        out.jump_to(routine(layout.BARRIER))
        out.label(after)
        region.covers(block.index, set(), set())
        self._direct(block.index + 1)
        self._end_part()

    def _lower(self, places: Iterable[int]) -> None:
        for self._place in places:
            step = self._block.steps[self._place]
            self._instructions.append(step.instruction)
            self.number = self.function.number(step.instruction)
            lower(self._lanes, step.instruction, step.match)
            if self.stream is None:
                self._end_part()

    def _plain_end(self, place: int) -> int:
        """The step behind the next access, from which on a stream may begin."""
        accesses = (one for one in range(place, self._count) if self._kinds[one] is not None)
        return next(accesses, self._count - 1) + 1

    def _collect(self, start: int) -> tuple[Stream, Lanes, int]:
        """The stream of the steps from `start` on that can be in one, what these compute, and the step behind
        them. `_instructions` are theirs.
        """
        region, plain, stop = self._region, self._lanes, start
        while stop < self._count and self._kinds[stop] is not False:
            stop += 1
        lanes, stream = Lanes(self), Stream(self, region.strides, region.room_for_pointer)
        self._instructions = []
        if True not in self._kinds[start:stop]:
            return stream, lanes, start
        self._lanes, self.stream = lanes, stream
        for place in range(start, stop):
            try:
                self._lower((place,))
            except Unsupported:
                self._instructions.pop()
                stop = place
                break
        self._lanes, self.stream = plain, None
        return stream, lanes, stop

    def _go_where_it_fits(self, stream: Stream, lanes: Lanes, general: str) -> None:
        """Go on if the stream fits, else to `general`."""
        out = self.out
        out.number("cmp", At(RBX, layout.ACTIVE), -1, wide=False)
        out.jump_if("ne", general)
        if stream.takes_shared:
            out.number("cmp", At(RBX, layout.ALIGNED), 1, wide=False)
            out.jump_if("ne", general)
        stream.write_checks(lanes, self._region.spill, general)

    def _write_stream(self, start: int) -> int:
        """Write steps as a stream, and as usual for where that does not fit. Returns the step behind them:
        `start` if there is no access that could be in it.
        """
        before = self._instructions
        stream, lanes, stop = self._collect(start)
        after, self._instructions = self._instructions, before
        if not stream.has_any:
            return start
        self._flush(self._wanted[start])
        self._instructions = after
        out, general, over = self.out, self.out.new_label(), self.out.new_label()
        self._go_where_it_fits(stream, lanes, general)
        for is_full in (True, False):
            if is_full:
                self._lanes = lanes
            else:
                self._lower(range(start, stop))
            if stop == self._count:
                self._finish(is_full)
            else:
                self._flush(self._wanted[stop], is_full)
            if is_full:
                out.jump(over)
                self._end_part()
                out.label(general)
        out.label(over)
        return stop

    def _finish(self, is_full: bool = False) -> None:
        """What the end of the block depends on, and all that is read behind it."""
        ends = self._ends
        if ends is not None:
            self._place = self._count
            self._instructions.append(ends.instruction)
            if self._block.end == "switch":
                self._lanes.put(ends.instruction.operands[0], TYPES["u32"], layout.CONDITION)
            else:
                condition = self._lanes.truth(ends.instruction)
                if condition is not None:
                    self._lanes.store(condition, layout.CONDITION)
                    self._lanes.code.bits(condition[0])
        self._flush(self._block.live_out, is_full)

    # What instructions call.

    def is_read(self, name: str) -> bool:
        return name in self._region.registers_read

    def end_stretch(self) -> None:
        self._flush(self._wanted[self._place])
        self._instructions.append(self._block.steps[self._place].instruction)

    def changes(self, registers: Iterable[str]) -> None:
        self._written.update(registers)

    def leave_before(self) -> str | None:
        return None if self._place else self._region.leave_before(self._block.index)

    @property
    def found(self) -> int:
        return self._region.found_by(self._block.steps[self._place])

    def room_for_site(self, mode: int) -> int:
        self._region.sites.append((self._region.room_for_site(), self.number, mode))
        return self._region.sites[-1][0]

    def leave_to_python(self, step: MemoryStep) -> tuple[str, str]:
        failed, resume = self.out.new_label(), self.out.new_label()
        instruction = self._block.steps[self._place].instruction
        self._region.left_to_python.append(LeftToPython(failed, resume, step, self._block.index, instruction))
        return failed, resume

    # Inside.

    def _end_part(self, steps: Iterable[vectors.Step] = ()) -> None:
        """The code from here on belongs to other instructions."""
        if len(self.out) > self._begin:
            instructions = tuple(self._instructions)
            number = self._block.index
            self._region.parts.append(Part(number, instructions, tuple(steps), self._begin, len(self.out)))
            self._begin = len(self.out)
            self._instructions.clear()

    def _end(self) -> None:
        block, out, region, ends = self._block, self.out, self._region, self._ends
        is_conditional = ends is not None and ends.instruction.guard is not None and block.end != "switch"
        if block.end == "switch":
            out.lea(RDI, At(RBX, region.room_for_places(block.targets)))
            out.set(RDX, len(block.targets) - 1)
            out.jump_to(routine(layout.SWITCH))
            return
        following = block.index + 1
        target = block.targets[0] if block.end == "branch" else following
        to, next_ = region.place(target), region.place(following) if is_conditional else 0
        general = out.new_label()
        out.fetch(RAX, At(RBX, layout.ACTIVE), 4)
        if is_conditional:
            out.word("and", RDX, RAX, wide=False)
            if COVERAGE in self.checks:
                out.count_bits(RCX, RDX)
                out.add_to(At(RBX, region.counts_of(block.index) + 8), RCX)
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
        out.jump_to(routine(layout.DIVERGE if is_conditional else layout.GO_ON))

    def _direct(self, number: int) -> None:
        out, region = self.out, self._region
        place = region.place(number)
        if place >= len(region.numbers):
            out.jump(f"exit {place - len(region.numbers)}")
            return
        if number <= self._block.index:
            out.number("sub", At(RBX, layout.BUDGET), 1)
            out.jump_if("ns", f"block {number}")
            out.set(RAX, place)
            out.jump_to(routine(layout.GO_ON))
        else:
            out.jump(f"block {number}")

    def _flush(self, wanted: Container[str], is_full: bool = False) -> None:
        """Put changed registers that somebody wants into their locations, and begin anew.

        is_full: all lanes are active.
        """
        lanes, region = self._lanes, self._region
        is_full |= region.has_all_lanes(self._block.index)
        self._read |= lanes.values.keys()
        code = lanes.code
        out: list[tuple[str, Value]] = []
        for name in lanes.changed:
            if name not in wanted:
                continue
            self._written.add(name)
            if region.is_given(name):
                continue
            value, nan = lanes.values[name]
            if nan and not region.function.has_unspecified_nan(name):
                value = lanes.canonical(value, region.function.registers[name].size)
            # what is another register's location is read before that is written
            out.append((name, tuple(code.copy(one) for one in value)))
        for name, value in out:
            location = region.location(name)
            if not is_full and region.is_shared_by_blocks(name):
                mask = code.load(layout.MASK)
                value = lanes.choose(mask, value, lanes.at(location, len(value) == 2))
            lanes.store(value, location)
        code.emit(self.out, region.spill)
        self._end_part(code.steps)
        lanes.begin()
