"""Video instructions: arithmetic with parts of words, or with all of their bytes or halves.

Source: PTX ISA, "Scalar Video Instructions", "SIMD Video Instructions".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..ptx.syntax import Part, PTXError
from .rule import Rule, rule

if TYPE_CHECKING:
    from ..ptx.syntax import Instruction


def _require_third(instruction: Instruction, groups: dict[str, str]) -> None:
    """Whether the third operand is there if it is combined with the result. Raises PTXError."""
    target, *sources = instruction.operands
    is_part = isinstance(target, Part)
    if bool(groups.get("then") or is_part) != (len(sources) == 3) or (groups.get("then") and is_part):
        raise PTXError("an operand is missing, or there is one too many")


_THIRD = "np.uint32(0) if c is None else c"


def _scalar(pattern: str, call: str, operands: str = "d:part a:part b:part c?:b32", **more: Any) -> Rule:
    """Of parts of words; `call` is one of `arithmetic.video`, without what all of these take."""
    signs = " + ".join(f"{name}[0]" if f"<{name[0]}:" in pattern else "'u'" for name in ("D_name", "A", "B"))
    saturates = "bool(sat)" if "[.sat]" in pattern else "False"
    parts = "d_part, a_part, b_part"
    expression = f"{call}, signs={signs}, parts=({parts}), saturates={saturates})"
    return rule(pattern, operands, expression, copies=True, **more)


def _lanes(pattern: str, count: int, name: str, **options: str) -> Rule:
    """Of all bytes or halves of words."""
    more = "".join(f", {option}={value}" for option, value in options.items())
    return rule(
        pattern,
        f"d:mask{count} a:lanes{count} b:lanes{count} c:b32",
        f"video_lanes(a, b, c, name={name}, count={count}, parts=(d_part, a_part, b_part){more})",
        copies=True,
    )


_KIND = "u32|s32"
_OPERANDS = f".<A:{_KIND}>.<B:{_KIND}>"
_THEN = "[.then:add|min|max]"
_RELATION = ".<relation:eq|ne|lt|le|gt|ge>"


def _rules() -> list[Rule]:
    checked: dict[str, Any] = {"describe": _require_third}
    rules = [
        _scalar(
            f"{name}.<D:{_KIND}>{_OPERANDS}[.sat]{_THEN}",
            f"video(a, b, {_THIRD}, name={name[1:]!r}, then=then",
            **checked,
        )
        for name in ("vadd", "vsub", "vabsdiff", "vmin", "vmax")
    ]
    rules += [
        _scalar(
            f"{name}.<D:{_KIND}>.<A:{_KIND}>.<B:u32>[.sat].<mode:clamp|wrap>{_THEN}",
            f"video_shift(a, b, {_THIRD}, name={name[1:]!r}, wraps=mode == 'wrap', then=then",
            **checked,
        )
        for name in ("vshl", "vshr")
    ]
    rules += [
        _scalar(
            f"vmad.<D:{_KIND}>{_OPERANDS}[.po][.sat][.scale:shr7|shr15]",
            "video_multiply_add(a, b, c, shift=int(scale[3:] or 0), more=int(bool(po))",
            "d:b32 a:part b:part c:b32",
        ),
        _scalar(
            f"vset{_OPERANDS}{_RELATION}{_THEN}",
            f"video(a, b, {_THIRD}, name=relation, then=then",
            **checked,
        ),
    ]
    for count in (2, 4):
        for name in ("add", "sub", "avrg", "absdiff", "min", "max"):
            pattern = f"v{name}{count}.<E:{_KIND}>{_OPERANDS}"
            signs = "E[0] + A[0] + B[0]"
            rules.append(_lanes(f"{pattern}[.sat]", count, repr(name), signs=signs, saturates="bool(sat)"))
            rules.append(_lanes(f"{pattern}.add", count, repr(name), signs=signs, adds="True"))
        pattern = f"vset{count}{_OPERANDS}{_RELATION}[.then:add]"
        rules.append(_lanes(pattern, count, "relation", signs="'u' + A[0] + B[0]", adds="bool(then)"))
    return rules


RULES = _rules()
