"""What a block does with undefined bits in registers: lines beside those of its instructions.

A register has a second name for its undefined bits, whose value is None where all is defined; what these
lines call is `run/undefined.py`. Most of what runs finds None, and asks nothing more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..access import MASKING
from ..instructions.rule import constant_names, evaluated
from ..ptx.syntax import Address, Instruction, Integer, Negation, Operand, Pair, Part, Register, Vector
from ..ptx.types import TYPES, Type
from .graph import Step, registers_of
from .parameters import parameter_items

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..instructions.accesses import MemoryAccess
    from ..instructions.rule import Reading, Slot
    from .block import BlockWriter

_MOVED = {
    "shl": "a", "shr": "a", "shf": "ab", "prmt": "ab", "bfe": "a", "bfi": "ab", "brev": "a", "szext": "a",
    "selp": "ab", "slct": "ab",
}  # fmt: skip
"""Instructions that move bits: the operands whose bits come out."""
_BITWISE = ("and", "or", "xor", "not", "lop3")
_CARRIED_UP = ("add", "sub", "neg", "mul.lo", "mul.wide", "mad.lo", "mad.wide")
"""Instructions of whole numbers in which a bit changes none below it."""
_WIDEST = 8
"""Bytes of registers that are followed; those of 128 bits count as used where they are read."""
_HOW = dict.fromkeys(("bra", "exit", "ret", "brx"), "decides a branch")
"""What undefined bits do, as a report says it; elsewhere they are used."""


class UndefinedBits:
    """Writes the lines of one block. `begin` comes before the lines of an instruction, `end` after them."""

    def __init__(self, writer: BlockWriter) -> None:
        self._writer = writer
        self._names: dict[str, str] = {}
        self.live_in: dict[str, str] = {}
        """The names of what registers have at the start, by register."""
        self._written: dict[str, Type | None] = {}
        self._results: dict[str, str] = {}
        self._ends: list[str] = []
        self._by = ""
        self._how = ""
        self._of_memory = {"load": self._load, "store": self._store, "atomic": self._atomic}

    def name(self, operand: Operand) -> str:
        """The name of an operand's undefined bits; "" if all are defined."""
        if isinstance(operand, Negation):
            operand = operand.operand
        if isinstance(operand, Part):
            operand = operand.register
        if not isinstance(operand, Register) or operand.name.startswith("%cc"):
            return ""
        kind = self._writer.function.registers.get(operand.name)
        if kind is None or kind.size > _WIDEST:
            return ""
        name = self._names.get(operand.name)
        if name is None:
            name = f"v{self._writer.slot(operand.name)}"
            self._names[operand.name] = self.live_in[operand.name] = name
        return name

    def has_written(self, register: str, kind: Type | None = None) -> None:
        """The instruction at hand has set a register, to a value of type `kind`; None: of its own."""
        self._written[register] = kind

    def begin(self, step: Step) -> None:
        """Before the lines of an instruction."""
        instruction, rule = step.instruction, step.match.rule
        self._how = _HOW.get(instruction.name, "is used")
        self._written, self._results, self._ends = {}, {}, []
        self._by = self.name(instruction.guard) if instruction.guard is not None else ""
        if rule.ends_block and instruction.guard is not None:
            self._uses([instruction.guard])
        if instruction.name in ("mov", "cvta") and len(instruction.operands) == 2:
            self._move(step)
        elif rule.is_plain:
            self._expression(step)
        elif rule.effect in self._of_memory:
            self._of_memory[rule.effect](rule.description(instruction, step.match.groups))
        elif instruction.name == "shfl":
            self._shuffle(step)
        elif rule.effect == "copy_async":
            self._writer.function.compiled.carries.add(self._writer.number)
            self._uses(instruction.operands)
        elif rule.effect != "nothing" and instruction.name != "call":
            self._uses(_sources(step))

    def end(self, step: Step) -> None:
        """After the lines of an instruction."""
        writer, number = self._writer, self._writer.number
        for line in self._ends:
            writer.line(line)
        for register, kind in self._written.items():
            target = writer.function.registers[register]
            result = self._results.get(register, "")
            if result and kind is not None and kind.size < target.size:
                code = ("i" if kind.kind == "s" else "u") + str(kind.size)
                result = f"U.widened({writer.let(result)}, {code!r}, {target.size})"
            guard = writer.guard
            if guard is not None:
                old = self.name(Register(register))
                new = writer.let(result) if result else ""
                some = _all_none(filter(None, (new, old, self._by)))
                if some:
                    names = ", ".join(one or "None" for one in (new, old, self._by))
                    result = f"None if {some} else U.chosen({number}, {guard}, {names})"
            self._names[register] = writer.let(result) if result else ""

    def at_end(self, slots: Iterable[tuple[int, str]]) -> list[str]:
        """The lines that keep what is live after the block: slots, and their registers."""
        kept = [(slot, self._names.get(register, "")) for slot, register in slots]
        if not kept:
            return []
        names = sorted({name for _, name in kept if name})
        some = "".join(f" or {name} is not None" for name in names)
        pairs = ", ".join(f"({slot}, {name or None})" for slot, name in kept)
        return [f" if F.undefined{some}: F.set_undefined(({pairs},), I)"]

    def at_start(self) -> list[str]:
        """The lines that get what registers have before the block."""
        if not self.live_in:
            return []
        names = ", ".join(self.live_in.values())
        slots = ", ".join(str(self._writer.slot(register)) for register in self.live_in)
        return [
            f" if F.undefined: {names}, = F.get_undefined(({slots},), I)",
            f" else: {' = '.join(self.live_in.values())} = None",
        ]

    # Instructions.

    def _uses(self, operands: Iterable[Operand]) -> None:
        """Report undefined operands."""
        writer = self._writer
        for operand in operands:
            for register in registers_of(operand):
                undefined = self.name(Register(register))
                if undefined:
                    how = "is the address" if isinstance(operand, Address) else self._how
                    writer.line(
                        f"if {undefined} is not None: U.used({undefined}, {how!r}, {writer.number}, I)"
                    )

    def _expression(self, step: Step) -> None:
        writer, rule = self._writer, step.match.rule
        instruction, groups = step.instruction, step.match.groups
        if rule.wraps:
            groups = writer.in_known_sign(instruction, groups)
        reading = rule.reading(instruction, groups)
        operands = [operand for _, operand in _operands(reading)]
        undefined = [self.name(operand) for operand in operands]
        none = _all_none(filter(None, undefined))
        if not none:
            return
        kinds = [rule.slot_type(slot, groups) for slot, _ in _operands(reading)]
        wanted = rule.slot_type(rule.slots[0], groups)
        code = "?" if wanted.kind == "p" or rule.then else f"u{wanted.size}"
        destination = reading.destination
        first = destination.first if isinstance(destination, Pair) else destination
        arguments = _with_codes(undefined, kinds)

        def computed(code: str, is_carried_up: bool = False) -> str:
            return f"U.computed({writer.number}, {code!r}, {is_carried_up}, {arguments})"

        whole, is_combined = all(kind.kind != "f" for kind in kinds), bool(groups.get("combine"))
        if rule.then:
            result = computed(f"u{wanted.size}")
        elif instruction.name in _BITWISE and not is_combined:
            result = self._bitwise(reading, kinds, undefined, code)
        elif (moved := _moved(step)) and wanted.kind != "p":
            result = self._moved_by(reading, kinds, undefined, moved, code)
        elif whole and code != "?" and _carries_up(instruction):
            result = computed(code, True)
        elif instruction.name == "setp" and whole and _tells_equal(groups) and not is_combined:
            a, b = (writer.read(operand, kind) for operand, kind in zip(operands, kinds, strict=True))
            one, other = (each or "None" for each in undefined)
            result = f"U.compared({writer.number}, {one}, {other}, {a}, {b})"
        else:
            result = computed(code)
        if isinstance(first, Register):
            self._results[first.name] = f"None if {none} else {result}"
        if isinstance(destination, Pair) and isinstance(destination.second, Register):
            self._results[destination.second.name] = f"None if {none} else {computed('?')}"

    def _bitwise(self, reading: Reading, kinds: list[Type], undefined: list[str], code: str) -> str:
        """The bits that depend on undefined ones of the operands."""
        writer = self._writer
        parameters, given, known = [], [], {}
        for (slot, operand), kind, name in zip(_operands(reading), kinds, undefined, strict=True):
            if slot.is_literal and isinstance(operand, Integer):
                known[slot.name] = writer.constant(operand.value, kind.code)
            else:
                parameters.append(slot.name)
                given.append(f"{name or None}, {writer.read(operand, kind)}")
        text = _text(reading, known)
        return f"U.bitwise({code!r}, lambda {', '.join(parameters)}: {text}, {', '.join(given)})"

    def _moved_by(
        self, reading: Reading, kinds: list[Type], undefined: list[str], moved: str, code: str
    ) -> str:
        """The bits of operands `moved`, where the expression takes those of them that it is given."""
        writer = self._writer
        parameters, operands, controls, known = [], [], [], {}
        for (slot, operand), kind, name in zip(_operands(reading), kinds, undefined, strict=True):
            if slot.name in moved:
                as_bits = kind.code.replace("f", "u")
                parameters.append(slot.name)
                operands.append(f"{name or None}, {as_bits!r}")
                continue
            known[slot.name] = (
                writer.constant(operand.value, kind.code)
                if slot.is_literal and isinstance(operand, Integer)
                else writer.read(operand, kind)
            )
            if name:
                controls.append(f"{name}, {'?' if kind.kind == 'p' else f'u{kind.size}'!r}")
        text = _text(reading, known)
        return (
            f"U.moved({writer.number}, {code!r}, lambda {', '.join(parameters)}: {text}, "
            f"({', '.join(operands)},), ({', '.join(controls)}{',' * bool(controls)}))"
        )

    def _move(self, step: Step) -> None:
        target, source = step.instruction.operands
        size = TYPES[step.match.groups["T"]].size
        if isinstance(target, Vector):
            name = self.name(source)
            if name and size <= _WIDEST:
                part = size // len(target.items)
                for place, item in enumerate(target.items):
                    if isinstance(item, Register):
                        text = f"U.part({name}, {8 * part * place}, 'u{part}')"
                        self._results[item.name] = f"None if {name} is None else {text}"
            return
        if not isinstance(target, Register):
            return
        if isinstance(source, Vector):
            if size > _WIDEST:
                self._uses(source.items)
                return
            self._join(target, source.items, size // len(source.items), size)
            return
        if name := self.name(source):
            self._results[target.name] = name

    def _join(self, target: Operand, items: Iterable[Operand], part: int, size: int) -> None:
        """A register out of parts that lie one after the other."""
        names = [self.name(item) for item in items]
        none = _all_none(filter(None, names))
        if none and isinstance(target, Register):
            parts = ", ".join(
                f"{name}, 'u{part}', {8 * part * place}" for place, name in enumerate(names) if name
            )
            self._results[target.name] = f"None if {none} else U.joined('u{size}', {parts})"

    def _load(self, access: MemoryAccess) -> None:
        writer = self._writer
        if access.is_of_parameter:
            for target, slots, part, _ in parameter_items(writer.function, access):
                self._join(target, slots, part.size, access.kind.size)
            return
        self._uses([access.address])
        if access.kind.size <= _WIDEST:
            writer.function.compiled.carries.add(writer.number)
            self._take(access.items, access.kind.size)

    def _take(self, items: tuple[Operand, ...], size: int) -> None:
        """Registers get what a load has found."""
        names = [self._writer.new_name() for _ in items]
        nothing = f"({'None, ' * len(names)})"
        taken = f"U.take({(size,) * len(items)}, I)"
        self._ends.append(f"{', '.join(names)}, = {nothing} if U.found is None else {taken}")
        for item, name in zip(items, names, strict=True):
            if isinstance(item, Register):
                self._results[item.name] = name

    def _store(self, access: MemoryAccess) -> None:
        if access.is_of_parameter:
            for source, slots, part, _ in parameter_items(self._writer.function, access):
                if name := self.name(source):
                    for place, slot in enumerate(slots):
                        text = f"U.part({name}, {8 * part.size * place}, 'u{part.size}')"
                        self._results[slot.name] = f"None if {name} is None else {text}"
            return
        self._uses([access.address])
        if access.kind.size <= _WIDEST:
            self._pass_on(access.items, access.kind.size)
        else:
            self._uses(access.items)

    def _pass_on(self, items: Iterable[Operand], size: int) -> None:
        """Memory gets what registers have."""
        names = [self.name(item) for item in items]
        none = _all_none(filter(None, names))
        if none:
            values = ", ".join(f"({name or None}, {size})" for name in names)
            self._writer.line(f"if not ({none}): U.storing(({values},), {self._writer.number}, I)")
            self._ends.append("U.stored()")

    def _atomic(self, access: MemoryAccess) -> None:
        writer = self._writer
        self._uses([access.address])
        if access.operation in MASKING and access.kind.size <= _WIDEST:
            self._uses(access.items)
            writer.function.compiled.carries.add(writer.number)
            values = ", ".join(writer.read(item, access.kind) for item in access.items)
            writer.line(f"U.masking({access.operation!r}, ({values},), I)")
            if access.targets:
                self._take(access.targets, access.kind.size)
            self._ends.append("U.masked()")
            return
        if access.operation != "exch" or access.kind.size > _WIDEST:
            self._uses([*access.items, *filter(None, [access.swap])])
            return
        writer.function.compiled.carries.add(writer.number)
        self._pass_on(access.items, access.kind.size)
        self._take(access.targets, access.kind.size)

    def _shuffle(self, step: Step) -> None:
        writer, instruction = self._writer, step.instruction
        target, source, *others = instruction.operands
        self._uses(others)
        name, first = self.name(source), target.first if isinstance(target, Pair) else target
        if name and isinstance(first, Register):
            b, c = (writer.read(operand, TYPES["b32"]) for operand in others[:2])
            call = f"lambda x: L.warps.shuffle({step.match.groups['mode']!r}, x, {b}, {c}, I)[0]"
            self._results[first.name] = f"None if {name} is None else U.shuffled({name}, {call})"


def _operands(reading: Reading) -> list[tuple[Slot, Operand]]:
    return [(slot, operand) for slot, operand in reading.operands if operand is not None]


def _text(reading: Reading, known: dict[str, str]) -> str:
    """The expression of an instruction, with names for operands that it does not get as parameters."""
    return evaluated(reading.expression, constant_names(reading.constants) | known)


def _with_codes(undefined: list[str], kinds: list[Type]) -> str:
    """Those that there are, each with the code of its type, as arguments."""
    codes = ["?" if kind.kind == "p" else f"u{kind.size}" for kind in kinds]
    return ", ".join(f"{one}, {code!r}" for one, code in zip(undefined, codes, strict=True) if one)


def _carries_up(instruction: Instruction) -> bool:
    """Whether an undefined bit makes those above it undefined, and no others."""
    return instruction.opcode.startswith(_CARRIED_UP) and "sat" not in instruction.opcode


def _tells_equal(groups: dict[str, str]) -> bool:
    return groups.get("relation") in ("eq", "ne")


def _moved(step: Step) -> str:
    """The operands whose bits an instruction moves; "" if it computes."""
    name, groups = step.instruction.name, step.match.groups
    if name == "cvt":
        kinds = [TYPES.get(groups.get(one, "")) for one in "DS"]
        whole = all(kind is not None and kind.kind in "us" for kind in kinds)
        return "a" if whole and not groups.get("sat") and not groups.get("way") else ""
    return _MOVED.get(name, "")


def _sources(step: Step) -> list[Operand]:
    """The operands that an instruction reads, as far as its text tells."""
    instruction, rule = step.instruction, step.match.rule
    if rule.expression:
        _, found = rule.bound(instruction, step.match.groups)
        return [operand for slot, operand in found if operand is not None and not slot.register]
    first, *others = instruction.operands or (None,)
    if first is None:
        return []
    is_read = isinstance(first, Address) or instruction.name in ("brx", "bar", "barrier", "cp")
    return [first, *others] if is_read else others


def _all_none(names: Iterable[str]) -> str:
    return " and ".join(f"{name} is None" for name in dict.fromkeys(names))
