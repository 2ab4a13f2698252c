"""What one line of an instruction table says.

A pattern is an opcode as the PTX manual writes it: `[.ftz]` may be there, `[.rnd:rn|rz]` is one of these or
nothing, `<T:f32|f64>` is one of these. T is the type that the operands have. The operands follow, each with
its type where that is not T: a type of PTX, the name of a group of the pattern, `B` (as wide as T, untyped),
`W` (twice as wide as T), `T>W` (of T, taken as W), `number` (a number in the text), or `mask4`, `lanes4` and
the like (a word of which the text may select lanes: `a_part` is that text for `a`). The first is the
destination. Then comes the result as a Python expression of the operands and groups; or a function that
writes the code itself.

An expression is what every back end runs: over NumPy arrays with the functions of `arithmetic/`, over `Term`
with those that `jit/` has machine code for. In it a group is its text, `T`, `W` and `D` (the destination's)
are types of NumPy, `T_name` is the name of T, `{relation}` the operator of a comparison.

.ftz of f32, and .sat, need not be said in an expression: they are applied to what it takes and gives. So is
the predicate that a group `combine` stands for, the last operand: to each predicate that it gives.
"""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from ..ptx.syntax import Instruction, Integer, Operand, Pair, Part, PTXError
from ..ptx.types import BITS, TYPES, Type, wider

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

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
_WIDENED = ("u8", "s8", "u16", "s16", "u32", "s32")
_DEFAULTS = {"rnd": "rn"}
"""What a group stands for that is not there."""
_WORD = re.compile(r"\b[A-Za-z_]\w*\b(?!=[^=])")
"""A name in an expression, but for those of keyword arguments."""
_OPERATORS = {
    "eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "lo": "<", "ls": "<=", "hi": ">",
    "hs": ">=",
}  # fmt: skip
_SELECTIONS = {"mask2": "h[01]+", "lanes2": "h[0-3]{2}", "mask4": "b[0-3]+", "lanes4": "b[0-7]{4}"}
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
    slots: tuple[Slot, ...]
    destination: Operand
    operands: tuple[Operand, ...]
    """One for each of the slots."""
    constants: dict[str, str | Type]
    """What names in the expression stand for, other than operands: texts, and types."""


_COMBINED = Slot("combined", "pred")


@dataclass(frozen=True)
class Rule:
    pattern: str
    slots: tuple[Slot, ...]
    expression: str
    emit: Callable[[BlockWriter, Instruction, dict[str, str]], None] | None = None
    literal: str = ""
    """The expression where the last operand is a number below the width of T, which is read as of type T."""
    then: str = ""
    """What becomes of the predicate `d` that the expression gives."""
    second: str = ""
    """What a second destination, a predicate, gets: an expression of the result `d`, too."""
    effect: str = ""
    """What a rule without an expression does, by the name of each back end's function for it."""
    describe: Callable[[Instruction, dict[str, str]], Any] | None = None
    """Makes what that function takes, of an instruction and the groups. Raises PTXError."""
    has_effect: bool = False
    """It does more than to compute its result: where its guard is false it must not run at all."""
    copies: bool = False
    """The bits of its operands come out unchanged: a NaN stays the NaN that it was."""
    wraps: bool = False
    """The bits of its result are the same whether whole numbers have a sign or not."""
    ends_block: bool = False
    yields: bool = False
    """Loops that wait for others contain it: others go first afterwards."""
    since: int = 0
    """The first architecture that has it, as in sm_89, of those that came after sm_75."""
    convergence_mask: str = ""
    """Its warp comes together before it: where the mask of those that take part stands."""

    @property
    def name(self) -> str:
        return re.split(r"[.\[<]", self.pattern)[0]

    def regex(self) -> re.Pattern[str]:
        parts = []
        for piece in _GROUP.finditer(self.pattern):
            if piece["text"]:
                parts.append(re.escape(piece["text"]))
            elif piece["optional"]:
                parts.append(
                    rf"(?:\.(?P<{piece['optional']}>{_choices(piece['some'] or piece['optional'])}))?"
                )
            else:
                parts.append(f"(?P<{piece['name']}>{_choices(piece['choice'])})")
        return re.compile("".join(parts) + "$")

    def opcodes(self) -> Iterator[str]:
        """Everything that the pattern stands for."""
        parts: list[list[str]] = []
        for piece in _GROUP.finditer(self.pattern):
            if piece["text"]:
                parts.append([piece["text"]])
            elif piece["optional"]:
                some = _choices(piece["some"] or piece["optional"]).split("|")
                parts.append(["", *("." + one for one in some)])
            else:
                parts.append(_choices(piece["choice"]).split("|"))
        for chosen in itertools.product(*parts):
            yield "".join(chosen)

    def slot_type(self, slot: Slot, groups: dict[str, str]) -> Type:
        """The type of an operand, once the opcode is known."""
        name = slot.type
        if name == "B":
            return TYPES[BITS[TYPES[groups["T"]].size]]
        if name == "W":
            return TYPES[wider(groups["T"])]
        return TYPES[groups.get(name) or name]

    def inputs(self, groups: dict[str, str]) -> tuple[Slot, ...]:
        """The operands that it takes."""
        return (*self.slots[1:], _COMBINED) if groups.get("combine") else self.slots[1:]

    def reading(self, instruction: Instruction, groups: dict[str, str]) -> Reading:
        """The expression for an instruction, and what it takes. Raises PTXError."""
        slots, operands = self.inputs(groups), instruction.operands[1:]
        if len(operands) != len(slots):
            raise PTXError(f"{len(slots) + 1} operands are expected")
        expression = self.expression
        if self.literal:
            last = operands[-1]
            if isinstance(last, Integer) and 0 <= last.value < 8 * TYPES[groups["T"]].size:
                expression, slots = self.literal, (*slots[:-1], Slot(slots[-1].name, "T", is_literal=True))
        for slot, operand in zip(slots, operands, strict=True):
            if slot.is_literal and not isinstance(operand, Integer):
                raise PTXError("the last operand is a number")
        if "relation" in groups:
            expression = expression.replace("{relation}", _OPERATORS.get(groups["relation"], ""))
        kind = self.slot_type(self.slots[0], groups)
        if kind.name == "f32" and groups.get("ftz") and not (self.copies or self.then):
            expression = f"flush({expression})"
        if kind.kind == "f" and groups.get("sat"):
            expression = f"saturate({expression})"
        constants = self._constants(groups)
        destination, constants["d_part"] = self.slots[0].apart(instruction.operands[0])
        whole = []
        for slot, operand in zip(slots, operands, strict=True):
            register, constants[f"{slot.name}_part"] = slot.apart(operand)
            whole.append(register)
        return Reading(expression, slots, destination, tuple(whole), constants)

    def _constants(self, groups: dict[str, str]) -> dict[str, str | Type]:
        names: dict[str, str | Type] = {
            name: value or _DEFAULTS.get(name, "") for name, value in groups.items()
        }
        names["D"] = self.slot_type(self.slots[0], groups)
        if "T" in groups:
            names["T"], names["T_name"] = TYPES[groups["T"]], groups["T"]
            if groups["T"] in _WIDENED:
                names["W"] = TYPES[wider(groups["T"])]
        return names

    def canonicalizes(self, groups: dict[str, str], has_unspecified_nan: list[bool]) -> bool:
        """Whether NaN in operands have to have the bits that the hardware gives them: where they matter, and
        beside some that keep theirs.
        """
        is_wide = self.slot_type(self.slots[0], groups).name == "f64"
        return is_wide or (self.copies and len(set(has_unspecified_nan)) > 1)

    def outputs(
        self, destination: Operand, groups: dict[str, str], result: Any, evaluate: Callable[[str, Any], Any]
    ) -> list[tuple[Operand, Any, Type]]:
        """What destinations get, as values of a back end: `evaluate` gives that of an expression of `d`.
        Raises PTXError.
        """
        combine, kind = groups.get("combine"), self.slot_type(self.slots[0], groups)
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
        second = combined(evaluate(self.second, result))
        first = combined(result) if is_truth else result
        return [(destination.first, first, kind), (destination.second, second, TYPES["pred"])]

    def write(self, writer: BlockWriter, instruction: Instruction, groups: dict[str, str]) -> None:
        """Write the code of an instruction. Raises PTXError."""
        if self.emit is not None:
            self.emit(writer, instruction, groups)
        elif self.expression:
            self._compute(writer, instruction, groups)
        elif self.describe is not None:
            writer.perform(self.effect, self.describe(instruction, groups))

    def _compute(self, writer: BlockWriter, instruction: Instruction, groups: dict[str, str]) -> None:
        """Write the code of the expression."""
        if self.wraps:
            groups = writer.in_known_sign(instruction, groups)
        expression, slots, destination, operands, constants = self.reading(instruction, groups)
        names = constant_names(constants)
        kinds = [self.slot_type(slot, groups) for slot in slots]
        floats = [one for one, kind in zip(operands, kinds, strict=True) if kind.kind == "f"]
        is_canonical = self.canonicalizes(groups, [writer.has_unspecified_nan(one) for one in floats])
        read = writer.canonicalized if is_canonical else writer.read
        for slot, operand, kind in zip(slots, operands, kinds, strict=True):
            if slot.is_literal and isinstance(operand, Integer):
                names[slot.name] = writer.constant(operand.value, kind.code)
                continue
            name = read(operand, kind)
            if groups.get("ftz") and kind.name == "f32" and not self.copies:
                name = writer.let(f"flush({name})")
            names[slot.name] = writer.whole(name, "astype", names["W"]) if slot.is_widened else name
        unspecified_nan = (not self.copies and bool(floats)) or any(
            writer.has_unspecified_nan(one) for one in floats
        )

        def evaluate(text: str, d: str = "") -> str:
            known = names | {"d": d} if d else names
            return evaluated(text, known)

        def of_result(text: str, d: str) -> str:
            return writer.let(evaluate(text, writer.let(d)))

        result = evaluate(expression)
        if self.second and isinstance(destination, Pair):
            result = writer.let(result)
        for operand, value, kind in self.outputs(destination, groups, result, of_result):
            writer.write(operand, value, kind, unspecified_nan and kind.code in ("f4", "f2"))


def evaluated(text: str, known: dict[str, str]) -> str:
    """An expression with other names in the place of some."""
    return _WORD.sub(lambda word: known.get(word[0], word[0]), text)


def constant_names(constants: dict[str, str | Type]) -> dict[str, str]:
    """What the names of groups and types in an expression are in the text of a block."""
    return {name: repr(value) if isinstance(value, str) else value.code for name, value in constants.items()}


def _choices(text: str) -> str:
    return "|".join(SETS.get(one, one) for one in text.split("|"))


def rule(pattern: str, operands: str = "", expression: str = "", emit: Any = None, **more: Any) -> Rule:
    """A line of a table."""
    slots = []
    for operand in operands.split():
        name, _, kind = operand.partition(":")
        read, _, widened = kind.partition(">")
        is_literal, selection = kind == "number", _SELECTIONS.get(kind, "")
        read = "u32" if is_literal else "b32" if selection else read or "T"
        slots.append(Slot(name, read, bool(widened), is_literal, selection))
    return Rule(pattern, tuple(slots), expression, emit, **more)
