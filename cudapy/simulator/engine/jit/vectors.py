"""Straight-line code for all lanes of a chunk: eight at a time, in the sixteen registers of AVX.

Results are numbers that are set once. What they are kept in is chosen when all of them are known, as in
M. Poletto and V. Sarkar, "Linear Scan Register Allocation", ACM TOPLAS 21 (1999), with the next use that is
farthest away to make room.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ..assembler.x86_64 import R8, R9, R10, R11, RAX, RBX, RCX, RDI, RDX, RSI, Assembler, At
from . import layout

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

_LATE = ("nan64", "flush")
"""Steps that take their operands after they have begun to make their result."""
_POINTERS = (RSI, RDI, R8, R9, R10, R11)
"""Registers for the first pointers of `beside` and its like; others are loaded for each use."""
_ROUNDED = ("vector", "unary", "narrow", "fused")
"""Forms of steps whose results may depend on how the processor rounds."""


_SPARE = 2
"""The last registers, for steps that need some for themselves."""


class Step(NamedTuple):
    """One instruction: its result (-1: none), what it takes, and what it needs besides."""

    name: str
    result: int
    operands: tuple[int, ...]
    number: int | None = None
    form: str = "vector"
    control: tuple[int, int] | None = None
    """The offsets of the MXCSR that it rounds by, if not to nearest, and of the usual one."""
    pointer: int | None = None
    """Where the pointer lies through which it stores; `number` is what is added."""
    label: str = ""
    """Where the code goes on if what it takes is not zero."""


class Vectors:
    """Steps that all lanes of a chunk take before anything else happens."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self._count = 0
        self._known: dict[object, int] = {}
        self._loaded: set[int] = set()
        self._of_memory: set[int] = set()
        self.numbers: dict[int, int] = {}
        """The bits of results that are constants."""
        self.control: tuple[int, int] | None = None
        """The control of arithmetic that is added: see `Step`."""

    def op(self, name: str, a: int, b: int, number: int | None = None) -> int:
        return self._add(name, (a, b), number, "vector")

    def unary(self, name: str, a: int, number: int | None = None) -> int:
        return self._add(name, (a,), number, "unary")

    def widen(self, name: str, a: int) -> int:
        """Of the lower four lanes: a conversion from 32 bits to 64."""
        return self._add(name, (a,), None, "widen")

    def narrow(self, name: str, a: int) -> int:
        """To 32 bits, in the lower four lanes."""
        return self._add(name, (a,), None, "narrow")

    def upper(self, a: int) -> int:
        """The upper four lanes of 32 bits, as the lower ones."""
        return self._add("extracti128", (a,), 1, "extract")

    def shift(self, name: str, a: int, count: int) -> int:
        return self._add(name, (a,), count, "shift")

    def blend(self, a: int, b: int, mask: int) -> int:
        """`b` where the mask is set, else `a`, by the sign of each 32 bits."""
        return self._add("blendvps", (a, b, mask), None, "blend")

    def fused(self, name: str, a: int, b: int, c: int) -> int:
        """a * b + c"""
        return self._add(name, (a, b, c), None, "fused")

    def nan64(self, result: int, a: int, b: int, c: int) -> int:
        """A binary64 result; where it is NaN, the first of `b`, `c` and `a` that is one, quiet."""
        return self._add("nan64", (result, a, b, c), None, "nan64")

    def flush_least(self, result: int, a: int, b: int, c: int | None) -> int:
        """.ftz of a * b + c in binary32, where the result is the least normal number: 0 if it would have been
        below that with any exponent.
        """
        return self._add("flush", (result, a, b, result if c is None else c), int(c is not None), "flush")

    def load(self, offset: int, scale: int = 1) -> int:
        """Eight lanes at an offset: of 4 bytes each; scale 2: four of 8; scale 0: in all parts the same."""
        result = self._known_or("load", (offset, scale))
        self._loaded.add(result)
        return result

    def constant(self, offset: int, size: int) -> int:
        """A number of 4 or 8 bytes at an offset, in every lane."""
        return self._known_or(f"constant{size}", (offset, 0))

    def beside(self, pointer: int, displacement: int, size: int) -> int:
        """What eight lanes find beside each other, with `displacement` bytes before it, at the address that
        lies at `pointer` for each part of a chunk: numbers of 1, 2 or 4 bytes in words, or four of 8.
        """
        return self._in_memory(f"beside{size}", pointer, displacement)

    def alike(self, pointer: int, displacement: int, size: int) -> int:
        """The number of 4 or 8 bytes that all lanes of a part find there."""
        return self._in_memory(f"alike{size}", pointer, displacement)

    def store_beside(self, pointer: int, displacement: int, a: int) -> None:
        """Store a vector there."""
        self.steps.append(Step("store", -1, (a,), displacement, "beside", pointer=pointer))

    def depends_on_memory(self, values: Iterable[int]) -> bool:
        """Whether values were made of what `beside` or `alike` found."""
        return not self._of_memory.isdisjoint(values)

    def store(self, offset: int, a: int, scale: int = 1) -> None:
        self.steps.append(Step("store", -1, (a,), offset, f"store{scale}"))

    def bits(self, a: int) -> None:
        """The signs of 32 bits, gathered in edx: the first lane's is the lowest."""
        self.steps.append(Step("bits", -1, (a,), None, "bits"))

    def copy(self, a: int) -> int:
        """A value that stays what it is when memory that it was loaded from is written."""
        return self._add("movups", (a,), None, "unary") if a in self._loaded else a

    def emit(self, out: Assembler, spill: Callable[[int], int]) -> None:
        """The code: a loop over the four parts of a chunk. spill: the offset of a number's 32 bytes.

        The kernel's memory is written at last, so what was loaded from it can be loaded again before.
        """
        if self.steps:
            self.steps.sort(key=lambda step: step.form == "beside")
            _Allocation(self.steps, spill).emit(out)

    def emit_before(
        self,
        out: Assembler,
        spill: Callable[[int], int],
        kept: Iterable[tuple[int, int]],
        zero: int,
        label: str,
    ) -> None:
        """Code that comes before that of all steps: it keeps addresses, each at the offset given with it, and
        goes to a label unless `zero` is 0 in all lanes.
        """
        steps = [step for step in self.steps if step.result >= 0]
        steps += [Step("store", -1, (address,), offset, "store2") for offset, address in kept]
        steps.append(Step("require zero", -1, (zero,), None, "require zero", label=label))
        _Allocation(steps, spill).emit(out)

    def _in_memory(self, name: str, pointer: int, displacement: int) -> int:
        result = self._known_or(name, (pointer, displacement))
        self._of_memory.add(result)
        return result

    def _known_or(self, name: str, place: tuple[int, int]) -> int:
        result = self._known.get((name, place))
        if result is None:
            result = self._known[name, place] = self._add(name, place, None, "source")
        return result

    def _add(self, name: str, operands: tuple[int, ...], number: int | None, form: str) -> int:
        control = self.control if form in _ROUNDED else None
        key = (name, operands, number, control)
        known = self._known.get(key)
        if known is not None:
            return known
        result = self._known[key] = self._count
        self._count += 1
        if form != "source" and self.depends_on_memory(operands):
            self._of_memory.add(result)
        self.steps.append(Step(name, result, operands, number, form, control))
        return result


class _Allocation:
    """Chooses registers while it writes the code."""

    def __init__(self, steps: list[Step], spill: Callable[[int], int]) -> None:
        self._steps, self._spill = _needed(steps), spill
        self._uses: dict[int, list[int]] = {}
        for place in range(len(self._steps) - 1, -1, -1):
            step = self._steps[place]
            if step.form != "source":
                for operand in step.operands:
                    self._uses.setdefault(operand, []).append(place)
        self._sources = {step.result: step for step in self._steps if step.form == "source"}
        self._where: dict[int, int] = {}
        self._free: list[int] = []
        self._spilled: dict[int, int] = {}
        self._spill_slots: list[int] = []  # those that are free again
        self._spill_count = 0
        pointers = dict.fromkeys(one for one in map(_pointer, self._steps) if one is not None)
        self._pointers = dict(zip(pointers, _POINTERS, strict=False))

    def emit(self, out: Assembler) -> None:
        self._free = list(range(out.VECTORS - _SPARE))[::-1]
        start = out.new_label()
        out.set(RCX, 0)
        out.label(start)
        for pointer, register in self._pointers.items():
            out.word("mov", register, At(RBX, pointer, RCX, 2))
        for place, step in enumerate(self._steps):
            if step.form != "source":
                self._step(out, place, step)
        out.number("add", RCX, 32, wide=False)
        out.number("cmp", RCX, 128, wide=False)
        out.jump_if("ne", start)

    def _step(self, out: Assembler, place: int, step: Step) -> None:
        held: list[int] = []
        taken = [self._get(out, operand, held) for operand in step.operands]
        last = []
        for operand in dict.fromkeys(step.operands):
            uses = self._uses[operand]
            while uses and uses[-1] == place:
                uses.pop()
            if not uses:
                last.append(operand)
        if step.result < 0:
            self._effect(out, step, taken)
            self._release(last)
            return
        if step.control is not None:
            out.load_control(At(RBX, step.control[0]))
        target = self._compute(out, step, taken, last)
        if step.control is not None:
            out.load_control(At(RBX, step.control[1]))
        self._where[step.result] = target
        if not self._uses.get(step.result):
            self._release([step.result])

    def _compute(self, out: Assembler, step: Step, taken: list[int], last: list[int]) -> int:
        """Write one step. Returns the register of its result; those of operands used `last` are free."""
        if step.form == "fused":  # its first factor is its target
            target = self._room(out, step.operands)
            out.unary("movups", target, taken[0])
            out.vector(step.name, target, taken[1], taken[2])
            self._release(last)
            return target
        if step.form not in _LATE:
            self._release(last)
        target = self._room(out, step.operands if step.form in _LATE else ())
        if step.form == "vector":
            out.vector(step.name, target, taken[0], taken[1], step.number)
        elif step.form == "unary":
            out.unary(step.name, target, taken[0], step.number)
        elif step.form in ("widen", "narrow"):
            out.unary(step.name, target, taken[0])
        elif step.form == "extract":
            out.store("extracti128", target, taken[0], step.number)
        elif step.form == "shift":
            assert step.number is not None
            out.shift(step.name, target, taken[0], step.number)
        elif step.form == "blend":
            out.vector("blendvps", target, taken[0], taken[1], taken[2] << 4)
        else:
            (self._choose_nan if step.form == "nan64" else self._flush_least)(out, target, taken, step.number)
            self._release(last)
        return target

    def _flush_least(self, out: Assembler, target: int, taken: list[int], has_sum: int | None) -> None:
        first, second = range(out.VECTORS - _SPARE, out.VECTORS)
        over = out.new_label()
        out.unary("movups", target, taken[0])
        out.shift("pslld", first, taken[0], 1)
        out.unary("broadcastd", second, At(RBX, layout.LEAST))
        out.vector("pcmpeqd", first, first, second)
        out.unary("ptest", first, first)
        out.jump_if("z", over)
        for place, register in enumerate(taken):
            out.store("movups", At(RBX, layout.MOVED + 32 * place), register)
        if not has_sum:
            out.vector("pxor", first, first, first)
            out.store("movups", At(RBX, layout.MOVED + 96), first)
        out.call_at(At(RBX, layout.ROUTINES + 8 * layout.FLUSH_LEAST))
        out.unary("movups", target, At(RBX, layout.MOVED))
        out.label(over)

    def _choose_nan(self, out: Assembler, target: int, taken: list[int], _: int | None) -> None:
        result, a, b, c = taken
        first, second = range(out.VECTORS - _SPARE, out.VECTORS)
        over = out.new_label()
        out.unary("movups", target, result)
        out.vector("cmppd", first, result, result, 3)
        out.unary("ptest", first, first)
        out.jump_if("z", over)
        for operand in (a, c, b):
            out.vector("cmppd", first, operand, operand, 3)
            out.vector("cmppd", second, result, result, 3)
            out.vector("pand", first, first, second)
            out.vector("addpd", second, operand, operand)  # quiet
            out.vector("blendvps", target, target, second, first << 4)
        out.label(over)

    def _effect(self, out: Assembler, step: Step, taken: list[int]) -> None:
        if step.form == "bits":
            out.unary("movmskps", RAX, taken[0])
            out.shift_word("shr", RDX, 8, wide=False)
            out.shift_word("shl", RAX, 24, wide=False)
            out.word("or", RDX, RAX, wide=False)
        elif step.form == "require zero":
            out.unary("ptest", taken[0], taken[0])
            out.jump_if("nz", step.label)
        elif step.form == "beside":
            out.store("movups", self._at(out, step), taken[0])
        else:
            scale = int(step.form[-1])
            assert step.number is not None
            out.store("movups", At(RBX, step.number, RCX, scale), taken[0])

    def _get(self, out: Assembler, value: int, held: list[int]) -> int:
        """The register of a value, which is loaded if it is in none."""
        register = self._where.get(value)
        if register is None:
            register = self._room(out, held)
            source = self._sources.get(value)
            if source is not None:
                self._load(out, source, register)
            else:
                out.unary("movups", register, At(RBX, self._spill(self._spilled[value])))
            self._where[value] = register
        held.append(value)
        return register

    def _load(self, out: Assembler, source: Step, register: int) -> None:
        offset, scale = source.operands
        if source.name == "load":
            out.unary("movups", register, At(RBX, offset, RCX, scale) if scale else At(RBX, offset))
        elif source.name.startswith("constant"):
            out.unary(_BROADCASTS[source.name[-1]], register, At(RBX, offset))
        elif source.name.startswith("alike"):
            out.unary(_BROADCASTS[source.name[-1]], register, self._at(out, source))
        else:
            out.unary(_BESIDE[source.name[-1]], register, self._at(out, source))

    def _at(self, out: Assembler, step: Step) -> At:
        """Where a step finds, or stores, what lies in the kernel's memory."""
        pointer, displacement = _pointer(step), step.operands[1] if step.result >= 0 else step.number
        assert pointer is not None and displacement is not None
        register = self._pointers.get(pointer)
        if register is None:
            register = RAX
            out.word("mov", register, At(RBX, pointer, RCX, 2))
        return At(register, displacement)

    def _room(self, out: Assembler, held: Sequence[int]) -> int:
        """A register that is free, or made so by a value that is not `held`."""
        if self._free:
            return self._free.pop()
        victim = max(
            (value for value in self._where if value not in held), key=lambda value: self._uses[value][-1]
        )
        register = self._where.pop(victim)
        if victim not in self._sources and victim not in self._spilled:
            if not self._spill_slots:
                self._spill_slots.append(self._spill_count)
                self._spill_count += 1
            slot = self._spilled[victim] = self._spill_slots.pop()
            out.store("movups", At(RBX, self._spill(slot)), register)
        return register

    def _release(self, values: list[int]) -> None:
        for value in values:
            register = self._where.pop(value, None)
            if register is not None:
                self._free.append(register)
            slot = self._spilled.pop(value, None)
            if slot is not None:
                self._spill_slots.append(slot)


def _needed(steps: list[Step]) -> list[Step]:
    """The steps whose results are used, and those that have an effect."""
    wanted: set[int] = set()
    kept = []
    for step in reversed(steps):
        if step.result < 0 or step.result in wanted:
            kept.append(step)
            if step.form != "source":
                wanted.update(step.operands)
    return kept[::-1]


_BROADCASTS = {"4": "broadcastd", "8": "broadcastq"}
_BESIDE = {"1": "pmovzxbd", "2": "pmovzxwd", "4": "movups", "8": "movups"}


def _pointer(step: Step) -> int | None:
    """Where the pointer lies that a step needs."""
    is_of_memory = step.form == "source" and step.name.startswith(("beside", "alike"))
    return step.operands[0] if is_of_memory else step.pointer
