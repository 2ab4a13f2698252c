"""Video instructions: arithmetic with parts of words, or with all of their bytes or halves.

Source: PTX ISA, "Scalar Video Instructions", "SIMD Video Instructions".
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ..ptx.syntax import Operand, Part, PTXError
from ..ptx.types import TYPES
from .rule import Rule, rule

if TYPE_CHECKING:
    from ..compile.block import BlockWriter
    from ..ptx.syntax import Instruction

_WORD = TYPES["b32"]
_PARTS = re.compile(r"b[0-3]|h[01]")


def _apart(operand: Operand) -> tuple[Operand, str]:
    """An operand without its selection, and that."""
    return (operand.register, operand.selector) if isinstance(operand, Part) else (operand, "")


def _signs(groups: dict[str, str]) -> str:
    return "".join((groups.get(name) or "u32")[0] for name in "DAB")


def _scalar(writer: BlockWriter, instruction: Instruction, groups: dict[str, str]) -> None:
    apart = [_apart(operand) for operand in instruction.operands]
    (target, part), *sources = apart
    then = groups.get("then", "")
    takes_third = bool(then or part or instruction.name == "vmad")
    if len(sources) != 2 + takes_third or (then and part):
        raise PTXError("an operand is missing, or there is one too many")
    parts = (part, sources[0][1], sources[1][1])
    if any(one and not _PARTS.fullmatch(one) for one in parts) or (takes_third and sources[2][1]):
        raise PTXError("a part of a register is .b0 to .b3, .h0 or .h1")
    names = [writer.read(operand, _WORD) for operand, _ in sources]
    a, b, c = names if takes_third else (*names, "ZERO")
    arguments = (
        f"{a}, {b}, {c}, signs={_signs(groups)!r}, parts={parts!r}, saturates={bool(groups.get('sat'))}"
    )
    name = groups.get("relation") or instruction.name[1:]
    if name == "mad":
        if part:
            raise PTXError("the result is a whole register")
        shift = int((groups.get("scale") or "shr0")[3:])
        call = f"video_multiply_add({arguments}, shift={shift}, more={int(bool(groups.get('po')))})"
    elif name in ("shl", "shr"):
        call = f"video_shift({arguments}, name={name!r}, wraps={groups['mode'] == 'wrap'}, then={then!r})"
    else:
        call = f"video({arguments}, name={name!r}, then={then!r})"
    writer.write(target, call, _WORD)


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
    scalar: dict[str, Any] = {"emit": _scalar, "copies": True}
    rules = [
        rule(f"{name}.<D:{_KIND}>{_OPERANDS}[.sat]{_THEN}", **scalar)
        for name in ("vadd", "vsub", "vabsdiff", "vmin", "vmax")
    ]
    rules += [
        rule(f"{name}.<D:{_KIND}>.<A:{_KIND}>.<B:u32>[.sat].<mode:clamp|wrap>{_THEN}", **scalar)
        for name in ("vshl", "vshr")
    ]
    rules.append(rule(f"vmad.<D:{_KIND}>{_OPERANDS}[.po][.sat][.scale:shr7|shr15]", **scalar))
    rules.append(rule(f"vset{_OPERANDS}{_RELATION}{_THEN}", **scalar))
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
