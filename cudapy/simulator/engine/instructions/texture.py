"""Textures and surfaces, by the handles of their objects.

Source: PTX ISA, "Texture Instructions", "Surface Instructions".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..ptx.syntax import Bracket, Pair, PTXError, Vector, parts_of
from ..ptx.types import TYPES
from .rule import rule

if TYPE_CHECKING:
    from ..compile.block import BlockWriter
    from ..ptx.syntax import Instruction, Operand

_SHAPES = "1d|2d|3d|a1d|a2d|cube|acube"
_COORDINATES = {"1d": 1, "2d": 2, "3d": 3, "a1d": 2, "a2d": 3, "cube": 3, "acube": 4}
"""Of each shape, a layer first among them."""
_AXES = {"1d": 1, "2d": 2, "3d": 3, "a1d": 1, "a2d": 2, "cube": 3, "acube": 3}


def _place(writer: BlockWriter, operand: Operand, shape: str, kind: str) -> tuple[str, list[str]]:
    """The handle, and the coordinates: a layer is an integer."""
    if not isinstance(operand, Bracket) or len(operand.items) != 2:
        raise PTXError("[handle, {coordinates}] is expected")
    handle = writer.read(operand.items[0], TYPES["u64"])
    coordinates = parts_of(operand.items[1])[: _COORDINATES[shape]]
    names = []
    for place, one in enumerate(coordinates):
        is_layer = shape.startswith("a") and not place
        names.append(writer.read(one, TYPES["u32" if is_layer else kind]))
    return handle, names


def _give(writer: BlockWriter, target: Operand, call: str, kind: str) -> None:
    """Four results; each is an array of its own."""
    values = writer.let(call)
    if isinstance(target, Pair):  # whether all texels are there
        writer.write(target.second, "TRUE", TYPES["pred"])
        target = target.first
    for place, item in enumerate(parts_of(target)):
        writer.write(item, f"{values}[{place}]", TYPES[kind])


def _texture(writer: BlockWriter, instruction: Instruction, groups: dict[str, str]) -> None:
    shape = groups["shape"]
    operands = instruction.operands
    handle, coordinates = _place(writer, operands[1], shape, groups["C"])
    more = ""
    if groups.get("how") == "level":
        more = f", level={writer.read(operands[2], TYPES['f32'])}"
    elif groups.get("how") == "grad":
        axes = _AXES[shape]
        slopes = [
            writer.read(one, TYPES["f32"])
            for operand in operands[2:4]
            if isinstance(operand, Vector)
            for one in operand.items[:axes]
        ] or [writer.read(operand, TYPES["f32"]) for operand in operands[2:4]]
        more = f", slopes=({', '.join(slopes)},)"
    arguments = f"{handle}, {shape!r}, ({', '.join(coordinates)},), {groups['D']!r}, I, {writer.number}{more}"
    _give(writer, operands[0], f"L.textures.sample({arguments})", groups["D"])


def _gather(writer: BlockWriter, instruction: Instruction, groups: dict[str, str]) -> None:
    """tld4: one channel of the four texels that a linear filter would mix."""
    shape = groups["shape"]
    handle, coordinates = _place(writer, instruction.operands[1], shape, "f32")
    channel = "rgba".index(groups["channel"])
    place = f"{handle}, {shape!r}, ({', '.join(coordinates)},)"
    call = f"L.textures.gather({place}, {channel}, {groups['D']!r}, I, {writer.number})"
    _give(writer, instruction.operands[0], call, groups["D"])


def _query(writer: BlockWriter, instruction: Instruction, groups: dict[str, str]) -> None:
    operand = instruction.operands[1]
    handle = writer.read(getattr(operand, "base", operand), TYPES["u64"])
    call = f"L.textures.query({instruction.name!r}, {handle}, {groups['what']!r}, I, {writer.number})"
    writer.write(instruction.operands[0], call, TYPES["u32"])


def _load_surface(writer: BlockWriter, instruction: Instruction, groups: dict[str, str]) -> None:
    kind = TYPES[groups["T"]]
    shape = groups["shape"]
    handle, coordinates = _place(writer, instruction.operands[1], shape, "s32")
    items = parts_of(instruction.operands[0])
    where = f"{handle}, {shape!r}, ({', '.join(coordinates)},)"
    what = f"{kind.code}, {len(items)}, {groups['outside']!r}"
    call = f"L.textures.load_surface({where}, {what}, I, {writer.number})"
    values = writer.let(call)
    for place, item in enumerate(items):
        writer.write(item, f"{values}[{place}]", kind)


def _store_surface(writer: BlockWriter, instruction: Instruction, groups: dict[str, str]) -> None:
    kind = TYPES[groups["T"]]
    shape = groups["shape"]
    handle, coordinates = _place(writer, instruction.operands[0], shape, "s32")
    values = [writer.canonicalized(item, kind) for item in parts_of(instruction.operands[1])]
    place = f"{handle}, {shape!r}, ({', '.join(coordinates)},)"
    what = f"{kind.code}, ({', '.join(values)},), {groups['outside']!r}"
    writer.line(f"L.textures.store_surface({place}, {what}, I, {writer.number})")


_ELEMENT = "[.vector:v2|v4].<T:b8|b16|b32|b64>.<outside:trap|clamp|zero>"
_SURFACES = "1d|2d|3d|a1d|a2d"

RULES = [
    rule(f"tex[.how:base].<shape:{_SHAPES}>.v4.<D:u32|s32|f32>.<C:s32|f32>", emit=_texture, has_effect=True),
    rule(
        f"tex.<how:level|grad>.<shape:{_SHAPES}>.v4.<D:u32|s32|f32>.<C:f32>", emit=_texture, has_effect=True
    ),
    rule("tld4.<channel:r|g|b|a>.<shape:2d|a2d>.v4.<D:u32|s32|f32>.f32", emit=_gather, has_effect=True),
    rule("txq.<what:width|height|depth|array_size|num_mipmap_levels>.b32", emit=_query, has_effect=True),
    rule("suq.<what:width|height|depth|array_size>.b32", emit=_query, has_effect=True),
    rule(f"suld.b.<shape:{_SURFACES}>[.cop:ca|cg|cs|cv]{_ELEMENT}", emit=_load_surface, has_effect=True),
    rule(f"sust.b.<shape:{_SURFACES}>[.cop:wb|cg|cs|wt]{_ELEMENT}", emit=_store_surface, has_effect=True),
]
