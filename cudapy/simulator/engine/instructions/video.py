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
_LANES = {2: ("h", "10", "32"), 4: ("b", "3210", "7654")}
"""The letter of selections; which lanes the first and the second operand are made of if they do not say."""


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


def _lanes(writer: BlockWriter, instruction: Instruction, groups: dict[str, str]) -> None:
    (target, mask), (a, first), (b, second), (c, none) = [_apart(one) for one in instruction.operands]
    count = int(instruction.name[-1])
    letter, *usual = _LANES[count]
    chosen = []
    for text, default, length in ((mask, usual[0], 0), (first, usual[0], count), (second, usual[1], count)):
        digits = text[1:] if text else default
        limit = 2 * count if length else count
        if text and (text[0] != letter or not digits or any(not "0" <= one < str(limit) for one in digits)):
            raise PTXError(f".{text} is no selection of lanes")
        if length and len(digits) != length:
            raise PTXError(f".{text} selects {len(digits)} lanes, there are {length}")
        chosen.append(digits)
    if none:
        raise PTXError("the third operand is a whole register")
    names = ", ".join(writer.read(operand, _WORD) for operand in (a, b, c))
    name = groups.get("relation") or instruction.name[1:-1]
    call = (
        f"video_lanes({names}, name={name!r}, signs={_signs(groups)!r}, count={count}, "
        f"chosen={tuple(chosen)!r}, saturates={bool(groups.get('sat'))}, adds={bool(groups.get('then'))})"
    )
    writer.write(target, call, _WORD)


_KIND = "u32|s32"
_OPERANDS = f".<A:{_KIND}>.<B:{_KIND}>"
_THEN = "[.then:add|min|max]"
_RELATION = ".<relation:eq|ne|lt|le|gt|ge>"


def _rules() -> list[Rule]:
    scalar: dict[str, Any] = {"emit": _scalar, "copies": True}
    lanes: dict[str, Any] = {"emit": _lanes, "copies": True}
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
        rules += [
            rule(f"v{name}{count}.<D:{_KIND}>{_OPERANDS}{rest}", **lanes)
            for name in ("add", "sub", "avrg", "absdiff", "min", "max")
            for rest in ("[.sat]", ".<then:add>")
        ]
        rules.append(rule(f"vset{count}{_OPERANDS}{_RELATION}[.then:add]", **lanes))
    return rules


RULES = _rules()
