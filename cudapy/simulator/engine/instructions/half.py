"""f16, bf16 and pairs of them.

Source: PTX ISA, "Half Precision Floating Point Instructions".
"""

import re

from .rule import Rule, rule

_FLAGS = ("ftz", "sat", "relu", "NaN", "xorsign")


def _operands(name: str) -> int:
    """How many an instruction takes, without its destination."""
    return {"fma": 3, "neg": 1, "abs": 1, "ex2": 1, "tanh": 1}.get(name, 2)


def _half(pattern: str) -> Rule:
    """All of them are `compute`, told the name, the type and what is to be done besides."""
    name = re.split(r"[.\[<]", pattern)[0]
    letters = "abc"[: _operands(name)]
    flags = [f"{flag.lower()}=bool({flag})" for flag in _FLAGS if re.search(rf"[.<]{flag}\b", pattern)]
    arguments = ", ".join([repr(name), "T_name", *letters, *flags])
    return rule(pattern, " ".join(f"{one}:B" for one in "d" + letters), f"compute({arguments})")


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
