"""Functions cut into basic blocks, and what is live between them."""

from __future__ import annotations

import dataclasses
import itertools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..instructions import Match, find
from ..ptx.syntax import (
    Address,
    Bracket,
    Instruction,
    Negation,
    Operand,
    Pair,
    Part,
    PTXError,
    Register,
    Special,
    Symbol,
    Vector,
)
from .liveness import NONE, Registers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ..aliases import Lanes
    from ..ptx.syntax import FunctionText
    from ..run.batch import Batch
    from ..run.frame import Frame

CLOCKS = ("%clock", "%globaltimer")
"""Registers that change by themselves."""
_WORTH_A_BLOCK = 6
"""Steps that take longer one by one than to leave the code around them, and to come back."""


@dataclass
class Step:
    """An instruction and the rule for it."""

    instruction: Instruction
    match: Match


@dataclass
class Block:
    """Instructions that run one after the other. Threads of a group run a block together."""

    index: int
    steps: list[Step]
    end: str = "next"
    """How it ends: next, branch, switch, return, exit, barrier, call."""
    targets: list[int] = field(default_factory=list)
    """The blocks of a branch (one) or a switch."""
    is_certain: bool = True
    """The branch, return or exit is not guarded."""
    info: Any = None
    """What the scheduler needs for the end: see `run/`."""
    run: Callable[[Batch, Frame, Lanes], Any] = field(init=False)
    """The compiled function."""
    convergence_mask: int | tuple[str, int] | None = None
    """None, or the mask of those of its warp that wait for each other before it: a number, or a register's
    slot.
    """
    is_fast: bool = False
    """Whether a back end besides NumPy supports all of it."""
    gathers: bool = False
    """Whether it begins with a warp operation."""
    meets: bool = False
    """Whether it is nothing but a barrier of all threads of a block that this back end supports."""
    is_entry: bool = False
    """Whether that back end may take over from here."""
    yields: bool = False
    """Others go first afterwards: threads may be waiting for them here."""
    looks_at: Instruction | None = None
    """What in it may wait for another thread's write, if `yields`."""
    only_looks: bool = False
    """It does nothing but that."""
    is_idle: bool = False
    """It does nothing that a thread may wait for, as a loop that asks a barrier again."""
    uses: set[str] = field(default_factory=set)
    """Registers read before they are written."""
    defines: set[str] = field(default_factory=set)
    uses_at_end: set[str] = field(default_factory=set)
    live_in: Registers = NONE
    live_out: Registers = NONE
    line: int = 0

    def successors(self) -> list[int]:
        """The blocks that may run after it in its function."""
        if self.end in ("branch", "switch"):
            return self.targets if self.is_certain else [*self.targets, self.index + 1]
        if self.end in ("return", "exit") and self.is_certain:
            return []
        return [self.index + 1]


def split_basic_blocks(
    function: FunctionText,
    is_fast: Callable[[Step], bool] = lambda _: False,
    is_alone: Callable[[Step], bool] = lambda _: False,
) -> list[Block]:
    """The blocks of a function, in the order of its text; the last one returns. Long runs of steps that
    `is_fast` accepts are blocks of their own, and so is each step that `is_alone`. Raises PTXError.
    """
    steps, labels = _without_guards(function)
    count = len(steps)
    fast = [is_fast(step) for step in steps]
    leaders = {0, count, *labels.values(), *_fast_stretches(fast)}
    for place, step in enumerate(steps):
        if step.match.rule.ends_block:
            leaders.add(place + 1)
        if step.match.rule.convergence_mask or (fast[place] and _meets(step)):
            leaders.add(place)
        if is_alone(step):
            leaders.update((place, place + 1))
    cuts = sorted(leaders)
    numbers = {place: number for number, place in enumerate(cuts)}
    blocks = [
        Block(number, steps[start:end], line=steps[start].instruction.line)
        for number, (start, end) in enumerate(itertools.pairwise(cuts))
    ]
    for block, (start, end) in zip(blocks, itertools.pairwise(cuts), strict=True):
        block.is_fast = all(fast[start:end])
        _describe(block)
        last = block.steps[-1].instruction
        if last.name in ("bra", "brx"):
            block.targets = [numbers[labels[name]] for name in _targets(last, function, labels)]
    blocks.append(Block(len(blocks), [], "return", line=function.line))
    return blocks


def _describe(block: Block) -> None:
    """What its steps say of a block, but for `is_fast`, which is known."""
    looks = [step.instruction for step in block.steps if _yields(step)]
    block.looks_at = min(looks, key=_is_sleep, default=None)
    block.yields = block.looks_at is not None
    block.only_looks = all(_is_idle(step) or _yields(step) for step in block.steps)
    block.is_idle = all(_is_idle(step) for step in block.steps)
    block.gathers = bool(block.steps[0].match.rule.convergence_mask)
    block.meets = block.is_fast and _meets(block.steps[0])


def _targets(branch: Instruction, function: FunctionText, labels: dict[str, int]) -> list[str]:
    """The labels that a branch may go to. Raises PTXError."""
    place = 0 if branch.name == "bra" else 1  # brx.idx: of the table
    target = branch.operands[place] if len(branch.operands) > place else None
    names: list[str] = []
    if isinstance(target, Symbol):
        names = [target.name] if branch.name == "bra" else function.tables.get(target.name, [])
    if not names or any(name not in labels for name in names):
        raise PTXError(f"line {branch.line}: {branch.text}: no such label")
    return names


def _meets(step: Step) -> bool:
    return step.match.rule.ends_block and step.instruction.name in ("bar", "barrier")


def _fast_stretches(fast: list[bool]) -> Iterator[int]:
    """Where those start and end that are worth a block."""
    start = 0
    for is_fast, stretch in itertools.groupby(fast):
        end = start + len(list(stretch))
        if is_fast and end - start >= _WORTH_A_BLOCK:
            yield from (start, end)
        start = end


def _yields(step: Step) -> bool:
    groups = step.match.groups
    polls = groups.get("order") in ("volatile", "relaxed", "acquire") and step.instruction.name == "ld"
    return step.match.rule.yields or polls or groups.get("op") in ("cas", "exch")


def waiting_loops(blocks: list[Block]) -> dict[int, Instruction]:
    """The blocks that only look, of loops that wait for other threads, and the instruction that does."""
    waiting: dict[int, Instruction] = {}
    for loop in _loops([block.successors() for block in blocks]):
        looks = [found for one in sorted(loop) if (found := blocks[one].looks_at) is not None]
        if looks:
            first = min(looks, key=_is_sleep)
            waiting.update((one, first) for one in loop if blocks[one].only_looks)
    return waiting


def _is_sleep(instruction: Instruction) -> bool:
    return instruction.name == "nanosleep"


def _loops(following: list[list[int]]) -> Iterator[list[int]]:
    """The blocks of each loop, with all loops that share blocks with it.

    Source: Tarjan, Depth-first search and linear graph algorithms (1972), without recursion.
    """
    order: dict[int, int] = {}
    lowest: dict[int, int] = {}
    path: list[int] = []
    on_path: set[int] = set()
    for start in range(len(following)):
        pending = [(start, iter(following[start]))] if start not in order else []
        while pending:
            one, others = pending[-1]
            if one not in order:
                order[one] = lowest[one] = len(order)
                path.append(one)
                on_path.add(one)
            for other in others:
                if other >= len(following):
                    continue
                if other not in order:
                    pending.append((other, iter(following[other])))
                    break
                if other in on_path:
                    lowest[one] = min(lowest[one], order[other])
            else:
                pending.pop()
                if pending:
                    lowest[pending[-1][0]] = min(lowest[pending[-1][0]], lowest[one])
                if lowest[one] == order[one]:
                    loop = [path.pop()]
                    while loop[-1] != one:
                        loop.append(path.pop())
                    on_path.difference_update(loop)
                    if len(loop) > 1 or one in following[one]:
                        yield loop


_LOOKS = (
    "fence",
    "membar",
    "ld",
    "mbarrier.t",
    "shfl",
    "vote",
    "match",
    "redux",
    "elect",
    "activemask",
    "bar.warp",
    "nanosleep",
)
_JUMPS = ("bra", "brx", "call", "ret")


def _is_idle(step: Step) -> bool:
    """Whether no thread can learn that an instruction ran; reading a clock is none, as it may end a loop."""
    instruction = step.instruction
    clocks = any(isinstance(one, Special) and one.name.startswith(CLOCKS) for one in instruction.operands)
    has_no_effect = not step.match.rule.has_effect and instruction.name != "exit"
    return not clocks and (has_no_effect or instruction.opcode.startswith((*_LOOKS, *_JUMPS)))


def _without_guards(function: FunctionText) -> tuple[list[Step], dict[str, int]]:
    """What has effects and a guard becomes itself with a branch around it; labels move along."""
    steps: list[Step] = []
    moved: dict[int, int] = {}
    labels: dict[str, int] = {}
    for place, instruction in enumerate(function.instructions):
        moved[place] = len(steps)
        match = find(instruction)
        guarded = instruction.guard is not None and match.rule.has_effect
        if guarded:
            label = f"after {place}"
            jump = dataclasses.replace(
                instruction, opcode="bra", operands=(Symbol(label),), negated=not instruction.negated
            )
            steps.append(Step(jump, find(jump)))
            instruction = dataclasses.replace(instruction, guard=None)
            labels[label] = len(steps) + 1
        steps.append(Step(instruction, match))
    moved[len(function.instructions)] = len(steps)
    labels.update({name: moved[place] for name, place in function.labels.items()})
    return steps, labels


def read_registers(instruction: Instruction) -> set[str]:
    """All but those that are only written; of the first operand, the registers of an address."""
    first, *others = instruction.operands or (None,)
    names = {instruction.guard.name} if instruction.guard is not None else set()
    stores = instruction.name in (
        "st",
        "red",
        "bra",
        "brx",
        "bar",
        "barrier",
        "cp",
        "call",
        "mbarrier",
        "sust",
    )
    for operand in (first, *others) if stores or isinstance(first, (Address, Bracket)) else others:
        names.update(registers_of(operand))
    return names


def registers_of(operand: Operand | None) -> list[str]:
    """All registers in an operand."""
    if isinstance(operand, Pair):
        return [*registers_of(operand.first), *registers_of(operand.second)]
    if isinstance(operand, (Vector, Bracket)):
        return [name for one in operand.items for name in registers_of(one)]
    if isinstance(operand, Address):
        return registers_of(operand.base)
    if isinstance(operand, Negation):
        return [operand.operand.name]
    if isinstance(operand, Part):
        return [operand.register.name]
    return [operand.name] if isinstance(operand, Register) else []
