"""f16, bf16 and pairs of them.

Source: PTX ISA, "Half Precision Floating Point Instructions".
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ..ptx.syntax import PTXError
from ..ptx.types import TYPES
from .rule import Rule, rule

if TYPE_CHECKING:
    from ..compile.block import BlockWriter
    from ..ptx.syntax import Instruction

_WORDS = {"f16": "b16", "bf16": "b16", "f16x2": "b32", "bf16x2": "b32"}
_FLAGS = ("ftz", "sat", "relu", "NaN", "xorsign")


def _operands(name: str) -> int:
    """How many an instruction takes, without its destination."""
    return {"fma": 3, "neg": 1, "abs": 1, "ex2": 1, "tanh": 1}.get(name, 2)


def _compute(writer: BlockWriter, instruction: Instruction, groups: dict[str, str]) -> None:
    """All of them: `arithmetic.half.compute`, told the name, the type and what is to be done besides."""
    bits = TYPES[_WORDS[groups["T"]]]
    wanted = _operands(instruction.name)
    if len(instruction.operands) != wanted + 1:
        raise PTXError(f"{wanted + 1} operands are expected")
    operands = [writer.read(operand, bits) for operand in instruction.operands[1:]]
    flags = [f"{flag.lower()}=True" for flag in _FLAGS if groups.get(flag)]
    arguments = ", ".join([repr(instruction.name), repr(groups["T"]), *operands, *flags])
    writer.write(instruction.operands[0], f"compute({arguments})", bits)


def _half(pattern: str) -> Rule:
    count = _operands(re.split(r"[.\[<]", pattern)[0])
    return rule(pattern, " ".join("dabc"[: count + 1]), emit=_compute)


RULES = [
    *(
        _half(f"{name}{rest}")
        for name in ("add", "sub", "mul")
        for rest in ("[.rnd:rn][.ftz][.sat].<T:f16|f16x2>", "[.rnd:rn].<T:bf16|bf16x2>")
    ),
    _half("fma.rn[.ftz][.sat].<T:f16|f16x2>"),
    _half("fma.rn[.ftz].<relu:relu>.<T:f16|f16x2>"),
    _half("fma.rn[.relu].<T:bf16|bf16x2>"),
    *(_half(f"{name}[.ftz].<T:f16|f16x2>") for name in ("neg", "abs")),
    *(_half(f"{name}.<T:bf16|bf16x2>") for name in ("neg", "abs")),
    *(
        _half(f"{name}{rest}")
        for name in ("min", "max")
        for rest in (
            "[.ftz][.NaN].<T:f16|f16x2>",
            "[.NaN].<T:bf16|bf16x2>",
            "[.ftz][.NaN].<xorsign:xorsign>.abs.<T:f16|f16x2>",
            "[.NaN].<xorsign:xorsign>.abs.<T:bf16|bf16x2>",
        )
    ),
    _half("ex2.approx.<T:f16|f16x2>"),
    _half("ex2.approx.<ftz:ftz>.<T:bf16|bf16x2>"),
    _half("tanh.approx.<T:f16|f16x2|bf16|bf16x2>"),
]
