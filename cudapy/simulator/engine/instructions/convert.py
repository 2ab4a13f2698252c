"""Conversions.

Source: PTX ISA, "Data Movement and Conversion Instructions: cvt, cvt.pack".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..ptx.syntax import PTXError
from ..ptx.types import TYPES
from .rule import Rule, rule

if TYPE_CHECKING:
    from ..compile.block import BlockWriter
    from ..ptx.syntax import Instruction
    from ..ptx.types import Type

_WHOLE = "u8|s8|u16|s16|u32|s32|u64|s64"
_FLOATS = "f16|f32|f64"


def _convert(writer: BlockWriter, instruction: Instruction, groups: dict[str, str]) -> None:
    """From S to D. `way` is how to round: rni ... to whole numbers, rn ... to what the format has."""
    source, target = TYPES[groups["S"]], TYPES[groups["D"]]
    is_rounded, flushes = bool(groups.get("way")), bool(groups.get("ftz"))
    read = writer.canonicalized if target.name == "f64" else writer.read  # which keeps the bits of a NaN
    x = read(instruction.operands[1], source)
    unspecified_nan = source.name in ("f16", "f32") and (groups["S"] + groups["D"] != "f32f32" or is_rounded)
    unspecified_nan = unspecified_nan or (flushes and source.name != "f64")
    if flushes and source.name == "f32" and target.name != "f16":
        x = writer.let(f"canonicalize_nan(flush({x}))")
    if source.name == "bf16":
        x = writer.let(f"bfloat_to_single({x})")
    if target.kind not in "fx":
        expression = _to_integer(writer, x, source, target, groups)
    elif source.kind not in "fx":
        expression = _integer_to_float(x, target, groups)
    else:
        expression = _float_to_float(writer, x, source, target, groups)
    writer.write(
        instruction.operands[0],
        expression,
        target,
        unspecified_nan=unspecified_nan and target.code in ("f4", "f2"),
    )


def _to_integer(writer: BlockWriter, x: str, source: Type, target: Type, groups: dict[str, str]) -> str:
    if source.kind in "fx":
        return f"float_to_integer({x}, mode={groups.get('way') or None!r}, dtype={target.code})"
    if groups.get("sat"):
        x = writer.let(f"clamp({x}, {target.code})")
    return f"{x}.astype({target.code})"


def _integer_to_float(x: str, target: Type, groups: dict[str, str]) -> str:
    way = groups.get("way") or None
    if target.name == "bf16":
        return f"integer_to_bfloat({x}, {way!r})"
    x = f"integer_to_float({x}, {target.code}, {way!r})"
    return f"saturate({x})" if groups.get("sat") else x


def _float_to_float(writer: BlockWriter, x: str, source: Type, target: Type, groups: dict[str, str]) -> str:
    way, relu = groups.get("way") or None, bool(groups.get("relu"))
    if {source.name, target.name} == {"f16", "bf16"}:  # to which ptxas rounds without a word about it
        way = way or "rn"
    if way in ("rni", "rzi", "rmi", "rpi"):
        x, way = writer.let(f"round_to_integer({x}, {way!r})"), None
    if groups.get("sat"):
        x = writer.let(f"saturate({x})")
    if groups.get("satfinite"):
        x = writer.let(f"limited({x}, {target.name!r})")
    if target.name == "bf16":
        return f"to_bfloat16({x}, {way!r}, {relu})"
    if relu:
        x = writer.let(f"positive({x})")
    if target.code != source.code:
        x = f"float_to_float({x}, {target.code}, {way!r})"
    return f"flush({x})" if groups.get("ftz") and target.name == "f32" else x


def _pack_floats(writer: BlockWriter, instruction: Instruction, groups: dict[str, str]) -> None:
    """Two binary32 numbers into a pair; the first goes into the upper half."""
    function = "to_half" if groups["D"] == "f16x2" else "to_bfloat16"
    relu = bool(groups.get("relu"))
    numbers = [writer.read(operand, TYPES["f32"]) for operand in instruction.operands[1:]]
    if groups.get("satfinite"):
        numbers = [writer.let(f"limited({x}, {groups['D']!r})") for x in numbers]
    high, low = (writer.let(f"{function}({x}, {groups['way']!r}, {relu})") for x in numbers)
    writer.write(instruction.operands[0], f"join({low}, {high})", TYPES["b32"])


def _pack_integers(writer: BlockWriter, instruction: Instruction, groups: dict[str, str]) -> None:
    """cvt.pack.sat: two numbers clamped and put beside each other below the rest of a third."""
    source, target = TYPES[groups["S"]], TYPES[groups["D"]]
    a, b = (writer.read(operand, source) for operand in instruction.operands[1:3])
    unsigned = f"u{target.size}"
    high, low = (writer.let(f"clamp({x}, {target.code}).astype({unsigned}).astype(u4)") for x in (a, b))
    width = 8 * target.size
    result = f"{low} | {high} << np.uint32({width})"
    if len(instruction.operands) == 4:
        rest = writer.read(instruction.operands[3], TYPES["b32"])
        result += f" | {rest} << np.uint32({2 * width})"
    writer.write(instruction.operands[0], result, TYPES["b32"])


def _stochastic(writer: BlockWriter, instruction: Instruction, groups: dict[str, str]) -> None:
    """cvt.rs of four binary32 numbers; the first goes into the uppermost part."""
    target, vector, random = instruction.operands
    items = writer.items(vector)
    if len(items) != 4:
        raise PTXError("four numbers in braces are expected")
    numbers = [writer.read(item, TYPES["f32"]) for item in items]
    bits = writer.read(random, TYPES["b32"])
    name, clips = groups["F"].removesuffix("x4"), bool(groups.get("relu"))
    writer.write(
        target,
        f"stochastic_four({', '.join(numbers)}, {bits}, name={name!r}, clips={clips})",
        TYPES[groups["F"]],
    )


_SMALL = (("e4m3x2|e5m2x2", 89), ("e3m2x2|e2m3x2|e2m1x2", 100))
"""Formats, and the architecture that came with them."""


def _small(names: str, since: int) -> list[Rule]:
    """Between pairs of a small format and others."""
    to = f"cvt.rn.satfinite[.relu].<F:{names}>"
    return [
        rule(f"{to}.f32", "d:F a:f32 b:f32", "to_small(a, b, name=F[:4], clips=bool(relu))", since=since),
        *(
            one
            for pair, its in (("f16x2", since), ("bf16x2", 100))
            for one in (
                rule(
                    f"{to}.<S:{pair}>",
                    "d:F a:S",
                    "pair_to_small(a, name=F[:4], source=S, clips=bool(relu))",
                    since=its,
                ),
                rule(
                    f"cvt.rn[.relu].<G:{pair}>.<F:{names}>",
                    "d:G a:F",
                    "from_small(a, name=F[:4], target=G, clips=bool(relu))",
                    since=its,
                ),
            )
        ),
    ]


RULES = [
    rule(f"cvt[.sat].<D:{_WHOLE}>.<S:{_WHOLE}>", "d:D a:S", emit=_convert),
    rule(f"cvt.<way:rni|rzi|rmi|rpi>[.ftz][.sat].<D:{_WHOLE}>.<S:{_FLOATS}|bf16>", "d:D a:S", emit=_convert),
    rule(f"cvt.<way:rounding>[.ftz][.sat].<D:{_FLOATS}|bf16>.<S:{_WHOLE}>", "d:D a:S", emit=_convert),
    rule("cvt[.ftz][.sat].<D:f32|f64>.<S:f16|f32|bf16>", "d:D a:S", emit=_convert),
    rule("cvt.<way:rounding>[.ftz].<D:f32>.<S:bf16>", "d:D a:S", emit=_convert),
    rule("cvt.<way:rounding>.<D:f16|f64>.<S:bf16>", "d:D a:S", emit=_convert),
    rule("cvt.<way:rounding>.<ftz:ftz>.<D:bf16>.<S:f32>", "d:D a:S", emit=_convert),
    rule("cvt[.sat].<D:f16|f64>.<S:f16|f64>", "d:D a:S", emit=_convert),
    rule("cvt.<way:rounding>[.ftz][.sat].<D:f16|f32>.<S:f64>", "d:D a:S", emit=_convert),
    rule("cvt.<way:rounding>[.ftz][.sat].<D:f16>.<S:f32>", "d:D a:S", emit=_convert),
    rule("cvt.<way:rn|rz>.<relu:relu>.<D:f16|bf16>.<S:f32>", "d:D a:S", emit=_convert),
    rule("cvt.<way:rounding>[.sat].<D:bf16>.<S:f32|f64|f16|bf16>", "d:D a:S", emit=_convert),
    rule("cvt.<D:bf16>.<S:f16>", "d:D a:S", emit=_convert),
    rule("cvt.<D:f16>.<S:bf16>", "d:D a:S", emit=_convert),
    rule("cvt.<way:rni|rzi|rmi|rpi>.<D:bf16>.<S:bf16>", "d:D a:S", emit=_convert),
    rule("cvt.<way:rni|rzi|rmi|rpi>[.ftz][.sat].<D:f16>.<S:f16>", "d:D a:S", emit=_convert),
    rule("cvt.<way:rni|rzi|rmi|rpi>[.ftz][.sat].<D:f32>.<S:f32>", "d:D a:S", emit=_convert),
    rule("cvt.<way:rni|rzi|rmi|rpi>[.sat].<D:f64>.<S:f64>", "d:D a:S", emit=_convert),
    rule("cvt.<way:rn|rz>[.relu].<satfinite:satfinite>.<D:f16|bf16>.<S:f32>", "d:D a:S", emit=_convert),
    rule("cvt.<way:rn|rz>[.relu][.satfinite].<D:f16x2|bf16x2>.f32", "d:b32 a:f32 b:f32", emit=_pack_floats),
    rule(
        "cvt.<way:rna>[.satfinite].tf32.f32",
        "d:f32 a:f32",
        "to_tf32(a, way, finite=bool(satfinite))",
        copies=True,
    ),
    rule("cvt.<way:rn|rz>[.relu].tf32.f32", "d:f32 a:f32", "to_tf32(a, way, clips=bool(relu))", copies=True),
    rule(
        "cvt.<way:rn|rz>[.relu].satfinite.tf32.f32",
        "d:f32 a:f32",
        "to_tf32(a, way, clips=bool(relu), finite=True)",
        copies=True,
        since=100,
    ),
    rule(
        "cvt.rs[.relu][.satfinite].<F:f16x2|bf16x2>.f32",
        "d:F a:f32 b:f32 c:b32",
        "stochastic_pair(a, b, c, name=F[:-2], clips=bool(relu), finite=bool(satfinite))",
        since=100,
    ),
    rule(
        "cvt.rs[.relu].satfinite.<F:e4m3x4|e5m2x4|e3m2x4|e2m3x4|e2m1x4>.f32",
        "d:F a:f32",
        emit=_stochastic,
        since=100,
    ),
    rule("cvt.pack.sat.<D:u16|s16>.<S:s32>", "d:b32 a:S b:S", emit=_pack_integers),
    rule("cvt.pack.sat.<D:u8|s8>.<S:s32>.b32", "d:b32 a:S b:S c:b32", emit=_pack_integers),
    *(one for names, since in _SMALL for one in _small(names, since)),
    rule(
        "cvt.<way:rz|rp>[.satfinite].<F:ue8m0x2>.f32",
        "d:F a:f32 b:f32",
        "to_powers(a, b, mode=way, finite=bool(satfinite))",
        since=100,
    ),
    rule(
        "cvt.<way:rz|rp>[.satfinite].<F:ue8m0x2>.bf16x2",
        "d:F a:bf16x2",
        "pair_to_powers(a, mode=way, finite=bool(satfinite))",
        since=100,
    ),
    rule("cvt.rn.bf16x2.<F:ue8m0x2>", "d:bf16x2 a:F", "from_powers(a)", since=100),
]
