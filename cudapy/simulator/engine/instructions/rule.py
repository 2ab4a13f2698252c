"""What one line of an instruction table says.

A pattern is an opcode as the PTX manual writes it: `[.ftz]` may be there, `[.rnd:rn|rz]` is one of these or
nothing, `<T:f32|f64>` is one of these. T is the type that the operands have. The operands follow, each with
its type where that is not T: a type of PTX, the name of a group of the pattern, `B` (as wide as T, untyped),
`U` (the same, a number without a sign), `W` (twice as wide as T), `T>W` (of T, taken as W), `A.register` (of
a register that holds elements of A), `number` (a number in the text), or `mask4`, `lanes4` and the like (a
word of which the text may select lanes: `a_part` is that text for `a`). The first is the destination. Of all:

    -             there is no destination            {a}       all registers of a vector
    d?            it may be left out                 [a]       an address
    d|p:pred      a second one, which may be there   [a,{b}]   an address and a vector, in brackets
    a?            it may be left out: None           k=%cc     a register that the text does not name
    a?hint        it is there with that group        ...       more, which are not looked at

Then comes the result as a Python expression of the operands and groups. It is what every back end runs: over
NumPy arrays with the functions of `arithmetic/`, over `Term` with those that `jit/` has machine code for. In
it a group is its text, `T`, `W` and `D` (the destination's) are types of NumPy, `T_name` is the name of T,
`space` the state space of an access, `{relation}` the operator of a comparison, and `form` what `describe`
makes of the instruction. Where there are two destinations it gives two results, for a vector one for each
register.

What has an effect is a function of a part of the batch, such as `warps.shuffle`, of which back ends have
functions of that name, too. It is told the threads that run it, `lanes`, and where it can fail the number of
the instruction, `site`. Other effects have no expression: loads, stores and atomics, which back ends make of
`accesses.MemoryAccess`, and the ends of blocks, which the scheduler makes of data.

.ftz of f32, and .sat, need not be said in an expression: they are applied to what it takes and gives. So is
the predicate that a group `combine` stands for, the last operand: to each predicate that it gives.
"""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from ..ptx.syntax import (
    Address,
    Bracket,
    Instruction,
    Integer,
    Operand,
    Pair,
    Part,
    PTXError,
    Register,
    Sink,
    parts_of,
)
from ..ptx.types import BITS, TYPES, Type, register_of, wider
from .accesses import space_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from ..compile.block import BlockWriter

INTEGERS = "u16|s16|u32|s32|u64|s64"
SETS = {
    "integers": INTEGERS,
    "signed": "s16|s32|s64",
    "bits": "b16|b32|b64",
    "data": "b8|b16|b32|b64|u8|u16|u32|u64|s8|s16|s32|s64|f32|f64",
    "rounding": "rn|rz|rm|rp",
}
"""Names for often needed choices."""

_GROUP = re.compile(
    r"\[\.(?P<optional>\w+)(?::(?P<some>[^\]]+))?\]|<(?P<name>\w+):(?P<choice>[^>]+)>|(?P<text>[^\[<]+)"
)
_NAME = re.compile(r"^[^.\[<]*")
_WIDENED = ("u8", "s8", "u16", "s16", "u32", "s32")
_DEFAULTS = {"rnd": "rn"}
"""What a group stands for that is not there."""
_WORD = re.compile(r"(?<![.\w])[A-Za-z_]\w*\b(?!=[^=])")
"""A name in an expression, but for those of keyword arguments."""
_OPERATORS = {
    "eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "lo": "<", "ls": "<=", "hi": ">",
    "hs": ">=",
}  # fmt: skip
_SELECTIONS = {"mask2": "h[01]+", "lanes2": "h[0-3]{2}", "mask4": "b[0-3]+", "lanes4": "b[0-7]{4}"}
_SELECTIONS["part"] = "b[0-3]|h[01]"
"""What may stand behind a word: lanes of a result, or those of two operands that one is made of."""
_COMBINE = {"and": "&", "or": "|", "xor": "^"}


class Slot(NamedTuple):
    """An operand: its name in the expression, and where its type comes from."""

    name: str
    type: str
    is_widened: bool = False
    """It is taken as twice as wide as it is read."""
    is_literal: bool = False
    """It has to be a number in the text."""
    selection: str = ""
    """The pattern of what the text may select of it."""
    shape: str = ""
    """"[" an address, "{" the registers of a vector."""
    place: tuple[Slot, ...] = ()
    """The parts of an operand in brackets."""
    optional: str | None = None
    """The group that it is there with; "" if it may be left out; None if it may not."""
    register: str = ""
    """The register that it always is."""

    def apart(self, operand: Operand) -> tuple[Operand, str]:
        """An operand without what is selected of it, and that. Raises PTXError."""
        if not isinstance(operand, Part):
            return operand, ""
        if not re.fullmatch(self.selection, operand.selector):
            raise PTXError(f".{operand.selector} is not a selection of it")
        return operand.register, operand.selector


class Reading(NamedTuple):
    """How an instruction is computed by an expression."""

    expression: str
    destination: Operand | None
    operands: tuple[tuple[Slot, Operand | None], ...]
    constants: dict[str, str | Type]
    """What names in the expression stand for, other than operands: texts, and types."""


_COMBINED = Slot("combined", "pred")
_NOTHING = Slot("-", "")
"""In the place of a destination."""
_REST = Slot("...", "")
BATCH = (
    "warps", "spaces", "shared", "local", "mbarriers", "bulk", "tensors", "matrices", "warpgroups",
    "textures",
)  # fmt: skip
"""The parts of a batch that expressions name."""
_BATCH_NAMES = {name: f"L.{name}" for name in BATCH} | {"batch": "L", "lanes": "I"}


@dataclass(frozen=True)
class Rule:
    pattern: str
    slots: tuple[Slot, ...]
    expression: str
    end: Callable[[BlockWriter, Instruction, dict[str, str]], None] | None = None
    """Ends a block: says how, for the scheduler."""
    also: Slot | None = None
    """A second destination: the expression gives two results."""
    literal: str = ""
    """The expression where the last operand is a number below the width of T, which is read as of type T."""
    then: str = ""
    """What becomes of the predicate `d` that the expression gives."""
    second: str = ""
    """What a second destination, a predicate, gets: an expression of the result `d`, too."""
    effect: str = ""
    """What a rule without an expression does, by the name of each back end's function for it."""
    describe: Callable[[Instruction, dict[str, str]], Any] | None = None
    """Makes what that function takes, or `form`, of an instruction and the groups. Raises PTXError."""
    has_effect: bool = False
    """It does more than to compute its result: where its guard is false it must not run at all."""
    copies: bool = False
    """The bits of its operands come out unchanged: a NaN stays the NaN that it was."""
    wraps: bool = False
    """The bits of its result are the same whether whole numbers have a sign or not."""
    yields: bool = False
    """Loops that wait for others contain it: others go first afterwards."""
    since: int = 0
    """The first architecture that has it, as in sm_89, of those that came after sm_75."""
    convergence_mask: str = ""
    """Its warp comes together before it: where the mask of those that take part stands."""

    @property
    def name(self) -> str:
        return _NAME.findall(self.pattern)[0]

    @property
    def ends_block(self) -> bool:
        return self.end is not None

    @cached_property
    def is_fixed(self) -> bool:
        """Whether each operand of the text has a slot, and each slot an operand: registers and numbers."""
        return bool(self.slots) and not any(
            slot.shape
            or slot.place
            or slot.register
            or slot.optional is not None
            or slot in (_NOTHING, _REST)
            for slot in self.slots
        )

    @property
    def is_plain(self) -> bool:
        """Whether it computes one result of registers and numbers that the text names."""
        return bool(self.expression) and self.is_fixed and self.also is None and not self.has_effect

    @cached_property
    def _pieces(self) -> list[tuple[str, tuple[str, ...], int]]:
        """Parts of the pattern: the name of a group, what may stand there, in the order in which it is tried,
        and how much of that the group leaves out.
        """
        pieces: list[tuple[str, tuple[str, ...], int]] = []
        for piece in _GROUP.finditer(self.pattern):
            if piece["text"]:
                pieces.append(("", (piece["text"],), 0))
            elif name := piece["optional"]:
                some = _choices(piece["some"] or name)
                pieces.append((name, (*(f".{one}" for one in some), ""), 1))
            else:
                pieces.append((piece["name"], tuple(_choices(piece["choice"])), 0))
        return pieces

    def groups(self, opcode: str) -> dict[str, str] | None:
        """What the groups stand for in a whole opcode, "" those that are not there; None if it is another."""
        parts = self._parts(opcode, 0, 0)
        if parts is None:
            return None
        return {
            name: part[skipped:] for (name, _, skipped), part in zip(self._pieces, parts, strict=True) if name
        }

    def _parts(self, opcode: str, place: int, start: int) -> list[str] | None:
        """An opcode from `start` on in parts for the pieces from `place` on."""
        if place == len(self._pieces):
            return [] if start == len(opcode) else None
        for one in self._pieces[place][1]:
            if opcode.startswith(one, start):
                rest = self._parts(opcode, place + 1, start + len(one))
                if rest is not None:
                    return [one, *rest]
        return None

    def opcodes(self) -> Iterator[str]:
        """Everything that the pattern stands for."""
        for chosen in itertools.product(*(sorted(some, key=bool) for _, some, _ in self._pieces)):
            yield "".join(chosen)

    def slot_type(self, slot: Slot, groups: dict[str, str]) -> Type:
        """The type of an operand, once the opcode is known."""
        name, _, register = slot.type.partition(".")
        if register:
            return register_of(groups.get(name, ""))
        if name == "U":
            return self.unsigned(groups)
        if name == "B":
            return TYPES[BITS[TYPES[groups["T"]].size]]
        if name == "W":
            return TYPES[wider(groups["T"])]
        return TYPES[groups.get(name) or name]

    def unsigned(self, groups: dict[str, str]) -> Type:
        """T without a sign."""
        return TYPES[f"u{8 * TYPES[groups['T']].size}"] if TYPES[groups["T"]].size <= 8 else TYPES["b128"]

    def inputs(self, groups: dict[str, str]) -> tuple[Slot, ...]:
        """The operands that it takes."""
        return (*self.slots[1:], _COMBINED) if groups.get("combine") else self.slots[1:]

    def takes(self, count: int, groups: dict[str, str]) -> bool:
        """Whether it may have so many operands."""
        if self.is_fixed:
            return count == len(self.slots) + bool(groups.get("combine"))
        named = [slot for slot in (*self.slots[:1], *self.inputs(groups)) if not slot.register]
        wanted = [slot for slot in named if slot not in (_NOTHING, _REST)]
        least = sum(slot.optional is None or bool(groups.get(slot.optional)) for slot in wanted)
        most = sum(slot.optional in (None, "") or bool(groups.get(slot.optional or "")) for slot in wanted)
        return least <= count <= most or (_REST in named and count >= least)

    def bound(
        self, instruction: Instruction, groups: dict[str, str]
    ) -> tuple[Operand | None, list[tuple[Slot, Operand | None]]]:
        """The destination, and each slot with its operand. Raises PTXError."""
        operands, slots = list(instruction.operands), self.inputs(groups)
        if not self.takes(len(operands), groups):
            wanted = sum(slot != _NOTHING and not slot.register for slot in (*self.slots[:1], *slots))
            raise PTXError(f"{wanted} operand{'s are' if wanted != 1 else ' is'} expected")
        if self.is_fixed:
            return operands[0], list(zip(slots, operands[1:], strict=True))
        destination: Operand | None = None
        if self.slots[0].register:
            destination = Register(self.slots[0].register)
        elif self.slots[0].optional is not None and isinstance(operands[0], Address):
            destination = Sink()
        elif self.slots[0] is not _NOTHING:
            destination = operands.pop(0)
        found: list[tuple[Slot, Operand | None]] = []
        for slot in slots:
            if slot.register:
                found.append((slot, Register(slot.register)))
            elif slot.optional and not groups.get(slot.optional):
                found.append((slot, None))
            elif slot.place:
                operand = operands.pop(0)
                if not isinstance(operand, Bracket) or len(operand.items) != len(slot.place):
                    raise PTXError("an address and a vector in brackets are expected")
                found += zip(slot.place, operand.items, strict=True)
            elif slot is not _REST:
                if not operands and slot.optional is None:
                    raise PTXError("an operand is missing")
                found.append((slot, operands.pop(0) if operands else None))
        return destination, found

    def reading(self, instruction: Instruction, groups: dict[str, str]) -> Reading:
        """The expression for an instruction, and what it takes. Raises PTXError."""
        destination, operands = self.bound(instruction, groups)
        expression = self.expression
        if self.literal:
            last, operand = operands[-1]
            if isinstance(operand, Integer) and 0 <= operand.value < 8 * TYPES[groups["T"]].size:
                expression, operands[-1] = self.literal, (Slot(last.name, "T", is_literal=True), operand)
        if "relation" in groups:
            expression = expression.replace("{relation}", _OPERATORS.get(groups["relation"], ""))
        constants = self._constants(groups)
        if destination is not None:
            kind = self.slot_type(self.slots[0], groups)
            if kind.name == "f32" and groups.get("ftz") and not (self.copies or self.then):
                expression = f"flush({expression})"
            if kind.kind == "f" and groups.get("sat"):
                expression = f"saturate({expression})"
            destination, constants["d_part"] = self.slots[0].apart(destination)
        whole: list[tuple[Slot, Operand | None]] = []
        for slot, given in operands:
            if slot.is_literal and given is not None and not isinstance(given, Integer):
                raise PTXError("a number is expected")
            register, selected = (None, "") if given is None else slot.apart(given)
            constants[f"{slot.name}_part"] = selected
            whole.append((slot, register))
        return Reading(expression, destination, tuple(whole), constants)

    def _constants(self, groups: dict[str, str]) -> dict[str, str | Type]:
        names: dict[str, str | Type] = {
            name: value or _DEFAULTS.get(name, "") for name, value in groups.items()
        }
        if "space" in groups:
            names["space"] = space_of(groups)
        if self.slots[0] is not _NOTHING:
            names["D"] = kind = self.slot_type(self.slots[0], groups)
            names["D_name"] = groups.get("D") or kind.name
        if "T" in groups:
            names["T_name"] = groups["T"]
        if groups.get("T") in TYPES:
            names["T"] = TYPES[groups["T"]]
            names["U"] = self.unsigned(groups)
            if groups["T"] in _WIDENED:
                names["W"] = TYPES[wider(groups["T"])]
        return names

    def canonicalizes(self, groups: dict[str, str], has_unspecified_nan: list[bool]) -> bool:
        """Whether NaN in operands have to have the bits that the hardware gives them: where they matter, and
        beside some that keep theirs.
        """
        is_wide = self.slots[0] is not _NOTHING and self.slot_type(self.slots[0], groups).name == "f64"
        return self.has_effect or is_wide or (self.copies and len(set(has_unspecified_nan)) > 1)

    def outputs(
        self,
        destination: Operand | None,
        groups: dict[str, str],
        result: Any,
        evaluate: Callable[[str, Any], Any],
    ) -> list[tuple[Operand, Any, Type]]:
        """What destinations get, as values of a back end: `evaluate` gives that of an expression of `d`.
        Raises PTXError.
        """
        if destination is None:
            return []
        kind = self.slot_type(self.slots[0], groups)
        results: list[tuple[Operand, Any, Type]] = []
        if self.also is not None:
            named = destination.second if isinstance(destination, Pair) else None
            second = Register(self.also.register) if self.also.register else named
            if second is not None:
                results.append((second, evaluate("d[1]", result), self.slot_type(self.also, groups)))
            result = evaluate("d[0]", result)
            destination = destination.first if isinstance(destination, Pair) else destination
        if self.slots[0].shape == "{":
            items = enumerate(parts_of(destination))
            return [(item, evaluate(f"d[{place}]", result), kind) for place, item in items] + results
        if self.also is not None:
            return [(destination, result, kind), *results]
        return self._combined(destination, groups.get("combine"), kind, result, evaluate)

    def _combined(
        self,
        destination: Operand,
        combine: str | None,
        kind: Type,
        result: Any,
        evaluate: Callable[[str, Any], Any],
    ) -> list[tuple[Operand, Any, Type]]:
        """`outputs` of what has one result, and perhaps its opposite."""
        is_truth = kind.kind == "p" or bool(self.then)

        def combined(truth: Any) -> Any:
            return evaluate(f"d {_COMBINE[combine]} combined", truth) if combine else truth

        if not isinstance(destination, Pair):
            if combine and not is_truth:
                raise PTXError("two destinations are expected")
            result = combined(result)
            return [(destination, evaluate(self.then, result) if self.then else result, kind)]
        if not self.second:
            raise PTXError("one destination is expected")
        also = combined(evaluate(self.second, result))
        first = combined(result) if is_truth else result
        return [(destination.first, first, kind), (destination.second, also, TYPES["pred"])]

    def operand_names(
        self,
        reading: Reading,
        groups: dict[str, str],
        read: Callable[[Slot, Operand, Type], Any],
        address: Callable[[Operand], Any],
        together: Callable[[tuple[Any, ...]], Any],
    ) -> dict[str, Any]:
        """What the names of operands stand for, as values of a back end. Raises PTXError."""
        names: dict[str, Any] = {}
        for slot, operand in reading.operands:
            if operand is None:
                names[slot.name] = None
            elif slot.shape == "[":
                names[slot.name] = address(
                    operand if isinstance(operand, Address) else Address(operand, 0)  # type: ignore[arg-type]
                )
            elif slot.shape == "{":
                kind = self.slot_type(slot, groups)
                names[slot.name] = together(tuple(read(slot, one, kind) for one in parts_of(operand)))
            else:
                names[slot.name] = read(slot, operand, self.slot_type(slot, groups))
        return names

    def write(self, writer: BlockWriter, instruction: Instruction, groups: dict[str, str]) -> None:
        """Write the code of an instruction. Raises PTXError."""
        if self.end is not None:
            self.end(writer, instruction, groups)
        elif self.expression:
            self._compute(writer, instruction, groups)
        else:
            writer.perform(self.effect, self.description(instruction, groups))

    def description(self, instruction: Instruction, groups: dict[str, str]) -> Any:
        """What `describe` makes of an instruction. Raises PTXError."""
        try:
            return None if self.describe is None else self.describe(instruction, groups)
        except (IndexError, ValueError) as error:  # there are fewer operands, or more
            raise PTXError(f"not as expected ({error})") from None

    def _compute(self, writer: BlockWriter, instruction: Instruction, groups: dict[str, str]) -> None:
        """Write the code of the expression."""
        if self.wraps:
            groups = writer.in_known_sign(instruction, groups)
        reading = self.reading(instruction, groups)
        names = _BATCH_NAMES | constant_names(reading.constants)
        names["site"], names["frame_size"] = str(writer.number), str(writer.function.compiled.local_size)
        if self.describe is not None:
            names["form"] = writer.function.constant_object(self.description(instruction, groups))
        floats = [one for slot, one in reading.operands if one and self.slot_type(slot, groups).kind == "f"]
        is_canonical = self.canonicalizes(groups, [writer.has_unspecified_nan(one) for one in floats])
        take = writer.canonicalized if is_canonical else writer.read

        def read(slot: Slot, operand: Operand, kind: Type) -> str:
            if slot.is_literal and isinstance(operand, Integer):
                return writer.constant(operand.value, kind.code)
            name = take(operand, kind)
            if groups.get("ftz") and kind.name == "f32" and not self.copies:
                name = writer.let(f"flush({name})")
            return writer.whole(name, "astype", names["W"]) if slot.is_widened else name

        names |= self.operand_names(
            reading, groups, read, writer.address, lambda several: f"({', '.join(several)},)"
        )
        unspecified_nan = not self.has_effect and (
            (not self.copies and bool(floats)) or any(writer.has_unspecified_nan(one) for one in floats)
        )

        def evaluate(text: str, d: str = "") -> str:
            known = names | {"d": d} if d else names
            return evaluated(text, known)

        def of_result(text: str, d: str) -> str:
            return writer.let(evaluate(text, writer.let(d)))

        result = evaluate(reading.expression)
        if reading.destination is None:
            writer.line(result)
            return
        is_pair = bool(self.second) and isinstance(reading.destination, Pair)
        if is_pair or self.also is not None or self.slots[0].shape:
            result = writer.let(result)
        for operand, value, kind in self.outputs(reading.destination, groups, result, of_result):
            writer.write(operand, value, kind, unspecified_nan and kind.code in ("f4", "f2"))


def evaluated(text: str, known: Mapping[str, object]) -> str:
    """An expression with other names in the place of some."""
    return _WORD.sub(lambda word: str(known.get(word[0], word[0])), text)


def constant_names(constants: dict[str, str | Type]) -> dict[str, str]:
    """What the names of groups and types in an expression are in the text of a block."""
    return {name: repr(value) if isinstance(value, str) else value.code for name, value in constants.items()}


def _choices(text: str) -> list[str]:
    return "|".join(SETS.get(one, one) for one in text.split("|")).split("|")


def rule(pattern: str, operands: str = "", expression: str = "", **more: Any) -> Rule:
    """A line of a table."""
    first, *others = operands.split() or [""]
    first, _, second = first.partition("|")
    slots = [_slot(one) for one in (first, *others) if one]
    return Rule(pattern, tuple(slots), expression, also=_slot(second) if second else None, **more)


def _slot(text: str) -> Slot:
    if text in ("-", "..."):
        return _NOTHING if text == "-" else _REST
    if text.startswith("[") and "," in text:
        parts = text[1:-1].split(",")
        return Slot("", "", place=(_slot(f"[{parts[0]}]"), *map(_slot, parts[1:])))
    name, _, kind = text.partition(":")
    name, _, register = name.partition("=")
    name, is_optional, group = name.partition("?")
    shape = name[0] if name[0] in "[{" else ""
    read, _, widened = kind.partition(">")
    is_literal, selection = kind == "number", _SELECTIONS.get(kind, "")
    read = "u32" if is_literal else "b32" if selection else read or "T"
    return Slot(
        name.strip("[{}]"),
        "u64" if shape == "[" else read,
        bool(widened),
        is_literal,
        selection,
        shape,
        optional=group if is_optional else None,
        register=register,
    )
