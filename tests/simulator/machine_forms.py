"""Instructions that there is machine code for, with registers and numbers as operands, for tests of it."""

from __future__ import annotations

import functools
import random
from typing import NamedTuple

from cudapy.simulator.engine import instructions
from cudapy.simulator.engine.compile.function import FunctionCompiler
from cudapy.simulator.engine.compile.graph import Step
from cudapy.simulator.engine.jit import supported
from cudapy.simulator.engine.ptx.parser import parse

HEAD = ".version 8.8\n.target sm_90\n.address_size 64\n"
ARCHITECTURE = 90
LETTERS = {1: "h", 2: "h", 4: "r", 8: "d"}
"""What registers for types of so many bytes begin with; of predicates "p", of floats "f" and "g"."""
FLOATS = {4: "f", 8: "g"}
DECLARED = {"p": "pred", "h": "b16", "r": "b32", "d": "b64", "f": "f32", "g": "f64"}
_WIDER = {"h": "hhhrd", "r": "rrrrfd", "f": "ffffrd", "d": "dddg", "g": "gggd", "p": "p"}
_FLOATS = {
    "f32": "0f00000000 0f80000000 0f3F800000 0fBF000000 0f7F800000 0f7FC00000 0f7F812345 0f00000001 1.5",
    "f64": "0d0000000000000000 0d8000000000000000 0d3FF0000000000000 0d7FF0000000000000 0d7FF8000000000123",
}
_NUMBERS = (0, 1, 2, 3, 7, 8, 15, 16, 31, 32, 33, 63, 64, 65, 127, 128, 255, 256, 32767, 32768, 65535, 65536)
_LARGE = (0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x7FFFFFFFFFFFFFFF, -0x8000000000000000, 0x123456789ABCDEF)


class Form(NamedTuple):
    opcode: str
    types: tuple[str, ...]
    """Of the operands, the target's first."""

    def text(self, chance: random.Random | None, counts: dict[str, int]) -> str:
        """With random operands: registers, `counts` of each letter, sometimes wider ones, and numbers;
        without `chance` one register of its own for each operand.
        """
        operands = [self._operand(chance, place, kind, counts) for place, kind in enumerate(self.types)]
        if self.opcode.startswith("lop3"):
            operands[4] = str(chance.randrange(256) if chance else 0xCA)
        return f"{self.opcode} {', '.join(operands)};"

    def _operand(self, chance: random.Random | None, place: int, name: str, counts: dict[str, int]) -> str:
        kind = instructions.rule.TYPES[name]  # type: ignore[attr-defined]
        letter = (
            FLOATS.get(kind.size, "h")
            if kind.kind == "f"
            else "p"
            if kind.kind == "p"
            else LETTERS[kind.size]
        )
        if chance is None:
            return f"%{letter}{place}"
        if place and letter != "p" and chance.random() < 0.15 and (kind.kind != "f" or name in _FLOATS):
            if kind.kind == "f":
                return chance.choice(_FLOATS[name].split())
            bits = 8 * kind.size
            number = chance.choice(_NUMBERS + _LARGE) % (1 << bits)
            return str(number if kind.kind != "s" or number >> (bits - 1) == 0 else number - (1 << bits))
        if place == 0 and letter == "p" and self.opcode.startswith("setp") and chance.random() < 0.3:
            one, two = chance.sample(range(counts["p"]), 2)
            return f"%p{one}|%p{two}"
        negated = (
            "!" if place and letter == "p" and chance.random() < 0.2 and "combine" in self._groups() else ""
        )
        letter = chance.choice(_WIDER[letter]) if not self.opcode.startswith("mov.") else letter
        return f"{negated}%{letter}{chance.randrange(counts[letter])}"

    def _groups(self) -> set[str]:
        match = instructions.match(self.opcode)
        assert match is not None
        return {name for name, value in match.groups.items() if value}


def _is_one_of_many(groups: dict[str, str]) -> bool:
    """Whether it combines a comparison with a predicate, which is the same for all but the first."""
    combines = groups.get("combine") or groups.get("by")
    return bool(combines) and groups.get("relation", "lt") != "lt"


@functools.cache
def forms() -> tuple[Form, ...]:
    """All of computations that there is machine code for."""
    found, texts = [], []
    for table in instructions.TABLES:
        for rule in table.RULES:
            if not rule.is_plain and rule.effect != "move":
                continue
            for opcode in rule.opcodes():
                match = instructions.match(opcode)
                if match is None or match.rule is not rule or _is_one_of_many(match.groups):
                    continue
                types = [rule.slot_type(slot, match.groups).name for slot in rule.slots]
                if match.groups.get("combine") and rule.name != "lop3":
                    types.append("pred")
                if any(instructions.rule.TYPES[one].size > 8 for one in types):  # type: ignore[attr-defined]
                    continue
                form = Form(opcode, tuple(types))
                found.append((form, match))
                texts.append(form.text(None, {}))
    declared = "".join(f".reg .{kind} %{letter}<6>;\n" for letter, kind in DECLARED.items())
    text = parse(f"{HEAD}.visible .entry k()\n{{\n{declared}{chr(10).join(texts)}\nret;\n}}\n").functions["k"]
    function = FunctionCompiler(text, ARCHITECTURE, lambda _: None)
    return tuple(
        form
        for (form, match), instruction in zip(found, text.instructions, strict=False)
        if supported.is_supported(Step(instruction, match), function)
    )
