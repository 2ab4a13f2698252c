"""What one line of an instruction table says.

A pattern is an opcode as the PTX manual writes it: `[.ftz]` may be there, `[.rnd:rn|rz]` is one of these or
nothing, `<T:f32|f64>` is one of these. T is the type that the operands have. The operands follow, each with
its type where that is not T: a type of PTX, the name of a group of the pattern, `B` (as wide as T, untyped)
or `W` (twice as wide as T). The first is the destination. Then comes the result as a Python expression of the
operands and groups, over the functions of `arithmetic/`; or a function that writes the code itself.

.ftz and .sat of f32 and f64 need not be said in an expression: they are applied to what it takes and gives.
"""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from ..ptx.syntax import Instruction, PTXError
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
_DEFAULTS = {"rnd": "rn"}
"""What a group stands for that is not there."""
_WORD = re.compile(r"\b[A-Za-z_]\w*\b")


class Slot(NamedTuple):
    """An operand: its name in the expression, and where its type comes from."""

    name: str
    type: str


@dataclass(frozen=True)
class Rule:
    pattern: str
    slots: tuple[Slot, ...]
    expression: str
    emit: Callable[[BlockWriter, Instruction, dict[str, str]], None] | None = None
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

    def write(self, writer: BlockWriter, instruction: Instruction, groups: dict[str, str]) -> None:
        """Write the code of an instruction. Raises PTXError."""
        if self.emit is not None:
            self.emit(writer, instruction, groups)
            return
        if len(instruction.operands) != len(self.slots):
            raise PTXError(f"{len(self.slots)} operands are expected")
        if self.wraps:
            groups = writer.in_known_sign(instruction, groups)
        names: dict[str, str] = {
            name: repr(value or _DEFAULTS.get(name, "")) for name, value in groups.items()
        }
        has_ftz = bool(groups.get("ftz"))
        unspecified_nan = not self.copies
        kinds = [self.slot_type(slot, groups) for slot in self.slots[1:]]
        read = writer.read
        if self.copies:  # what is no result of arithmetic keeps its bits, beside what is one
            floats = [
                one for one, kind in zip(instruction.operands[1:], kinds, strict=True) if kind.kind == "f"
            ]
            if len({writer.has_unspecified_nan(one) for one in floats}) > 1:
                read = writer.canonicalized
        for slot, operand, kind in zip(self.slots[1:], instruction.operands[1:], kinds, strict=True):
            names[slot.name] = read(operand, kind)
            unspecified_nan = unspecified_nan or writer.has_unspecified_nan(operand)
            if has_ftz and kind.name == "f32" and not self.copies:
                names[slot.name] = writer.let(f"flush({names[slot.name]})")
        kind = self.slot_type(self.slots[0], groups)
        names["D"] = kind.code
        if "T" in groups:
            names["T"] = TYPES[groups["T"]].code
        expression = _WORD.sub(lambda word: names.get(word[0], word[0]), self.expression)
        if kind.name in ("f32", "f64"):
            if has_ftz and not self.copies:
                expression = f"flush({expression})"
            if groups.get("sat"):
                expression = f"saturate({expression})"
        writer.write(
            instruction.operands[0],
            expression,
            kind,
            unspecified_nan=unspecified_nan and kind.code in ("f4", "f2"),
        )


def _choices(text: str) -> str:
    return "|".join(SETS.get(one, one) for one in text.split("|"))


def rule(pattern: str, operands: str = "", expression: str = "", emit: Any = None, **more: Any) -> Rule:
    """A line of a table."""
    slots = []
    for operand in operands.split():
        name, _, kind = operand.partition(":")
        slots.append(Slot(name, kind or "T"))
    return Rule(pattern, tuple(slots), expression, emit, **more)
