"""Textures and surfaces, by the handles of their objects.

Source: PTX ISA, "Texture Instructions", "Surface Instructions".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..ptx.syntax import parts_of
from .rule import rule

if TYPE_CHECKING:
    from ..ptx.syntax import Instruction

_SHAPES = "1d|2d|3d|a1d|a2d|cube|acube"


def _count(instruction: Instruction, groups: dict[str, str]) -> int:
    """The registers that suld gives."""
    return len(parts_of(instruction.operands[0]))


_TEXTURE = f"<shape:{_SHAPES}>.v4.<D:u32|s32|f32>"
_SAMPLE = "textures.sample(h, shape, c, D_name, lanes, site{}), TRUE"
"""All texels are always there."""
_ELEMENT = "[.vector:v2|v4].<T:b8|b16|b32|b64>.<outside:trap|clamp|zero>"
_SURFACES = "1d|2d|3d|a1d|a2d"

RULES = [
    rule(
        f"tex[.how:base].{_TEXTURE}.<C:s32|f32>",
        "{d}:D|p:pred [h,{c}:C] ...",
        _SAMPLE.format(""),
        has_effect=True,
    ),
    rule(
        f"tex.level.{_TEXTURE}.<C:f32>",
        "{d}:D|p:pred [h,{c}:C] l:f32 ...",
        _SAMPLE.format(", level=l"),
        has_effect=True,
    ),
    rule(
        f"tex.grad.{_TEXTURE}.<C:f32>",
        "{d}:D|p:pred [h,{c}:C] {x}:f32 {y}:f32 ...",
        _SAMPLE.format(", slopes=(x, y)"),
        has_effect=True,
    ),
    rule(
        "tld4.<channel:r|g|b|a>.<shape:2d|a2d>.v4.<D:u32|s32|f32>.f32",
        "{d}:D|p:pred [h,{c}:f32] ...",
        "textures.gather(h, shape, c, 'rgba'.index(channel), D_name, lanes, site), TRUE",
        has_effect=True,
    ),
    rule(
        "txq.<what:width|height|depth|array_size|num_mipmap_levels>.b32",
        "d:u32 [h]",
        "textures.query('txq', h, what, lanes, site)",
        has_effect=True,
    ),
    rule(
        "suq.<what:width|height|depth|array_size>.b32",
        "d:u32 [h]",
        "textures.query('suq', h, what, lanes, site)",
        has_effect=True,
    ),
    rule(
        f"suld.b.<shape:{_SURFACES}>[.cop:ca|cg|cs|cv]{_ELEMENT}",
        "{d} [h,{c}:s32]",
        "textures.load_surface(h, shape, c, T, form, outside, lanes, site)",
        describe=_count,
        has_effect=True,
    ),
    rule(
        f"sust.b.<shape:{_SURFACES}>[.cop:wb|cg|cs|wt]{_ELEMENT}",
        "- [h,{c}:s32] {v}",
        "textures.store_surface(h, shape, c, T, v, outside, lanes, site)",
        has_effect=True,
    ),
]
