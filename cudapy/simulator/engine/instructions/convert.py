"""Conversions.

Source: PTX ISA, "Data Movement and Conversion Instructions: cvt, cvt.pack".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..ptx.syntax import PTXError, parts_of
from .rule import Rule, rule

if TYPE_CHECKING:
    from ..ptx.syntax import Instruction

_WHOLE = "u8|s8|u16|s16|u32|s32|u64|s64"
_FLOATS = "f16|f32|f64"


def _require_four(instruction: Instruction, groups: dict[str, str]) -> None:
    """Raises PTXError."""
    if len(parts_of(instruction.operands[1])) != 4:
        raise PTXError("four numbers in braces are expected")


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


_TO_WHOLE = "<way:rni|rzi|rmi|rpi>"
_SINGLE = "bfloat_to_single(a)"
_FLUSHED = "canonicalize_nan(flush({0})) if ftz else {0}"
_PACKED = {
    "f16x2": "to_half(limited({0}, 'f16') if satfinite else {0}, way, bool(relu))",
    "bf16x2": "to_bfloat16(limited({0}, 'bf16') if satfinite else {0}, way, bool(relu))",
}


def _pack(name: str) -> str:
    """Two binary32 numbers into a pair; the first goes into the upper half."""
    low, high = (_PACKED[name].format(one) for one in "ba")
    return f"join({low}, {high})"


RULES = [
    # to whole numbers
    rule(f"cvt[.sat].<D:{_WHOLE}>.<S:{_WHOLE}>", "d:D a:S", "(clamp(a, D) if sat else a).astype(D)"),
    rule(
        f"cvt.{_TO_WHOLE}[.ftz][.sat].<D:{_WHOLE}>.<S:{_FLOATS}>",
        "d:D a:S",
        "float_to_integer(a, mode=way, dtype=D)",
    ),
    rule(
        f"cvt.{_TO_WHOLE}[.ftz][.sat].<D:{_WHOLE}>.<S:bf16>",
        "d:D a:S",
        f"float_to_integer({_SINGLE}, mode=way, dtype=D)",
    ),
    # from them
    rule(
        f"cvt.<way:rounding>[.ftz][.sat].<D:{_FLOATS}>.<S:{_WHOLE}>", "d:D a:S", "integer_to_float(a, D, way)"
    ),
    rule(f"cvt.<way:rounding>[.ftz][.sat].<D:bf16>.<S:{_WHOLE}>", "d:D a:S", "integer_to_bfloat(a, way)"),
    # floats to the same or a wider format
    rule("cvt[.ftz][.sat].<D:f32>.<S:f32>", "d:D a:S", _FLUSHED.format("a"), copies=True),
    rule(
        "cvt[.ftz][.sat].<D:f64>.<S:f32>",
        "d:D a:S",
        "float_to_float(canonicalize_nan(a) if ftz else a, D, None)",
    ),
    rule("cvt[.ftz][.sat].<D:f32|f64>.<S:f16>", "d:D a:S", "float_to_float(a, D, None)"),
    rule("cvt[.ftz][.sat].<D:f32>.<S:bf16>", "d:D a:S", _FLUSHED.format(_SINGLE), copies=True),
    rule("cvt[.ftz][.sat].<D:f64>.<S:bf16>", "d:D a:S", f"float_to_float({_SINGLE}, D, None)"),
    rule("cvt.<way:rounding>[.ftz].<D:f32>.<S:bf16>", "d:D a:S", _FLUSHED.format(_SINGLE), copies=True),
    rule("cvt.<way:rounding>.<D:f64>.<S:bf16>", "d:D a:S", f"float_to_float({_SINGLE}, D, way)"),
    rule("cvt[.sat].<D:f16>.<S:f16>", "d:D a:S", "a"),
    rule("cvt[.sat].<D:f64>.<S:f64>", "d:D a:S", "a", copies=True),
    rule("cvt[.sat].<D:f64>.<S:f16>", "d:D a:S", "float_to_float(a, D, None)"),
    # to a narrower one; binary64 gives NaN its bits
    rule("cvt[.sat].<D:f16>.<S:f64>", "d:D a:S", "float_to_float(a, D, None)", copies=True),
    rule(
        "cvt.<way:rounding>[.ftz][.sat].<D:f32>.<S:f64>",
        "d:D a:S",
        "flush(float_to_float(a, D, way)) if ftz else float_to_float(a, D, way)",
        copies=True,
    ),
    rule(
        "cvt.<way:rounding>[.ftz][.sat].<D:f16>.<S:f64>", "d:D a:S", "float_to_float(a, D, way)", copies=True
    ),
    rule("cvt.<way:rounding>[.flag:ftz][.sat].<D:f16>.<S:f32>", "d:D a:S", "float_to_float(a, D, way)"),
    rule("cvt.<way:rn|rz>.relu.<D:f16>.<S:f32>", "d:D a:S", "float_to_float(positive(a), D, way)"),
    rule(
        "cvt.<way:rn|rz>[.relu].satfinite.<D:f16>.<S:f32>",
        "d:D a:S",
        "float_to_float(positive(limited(a, 'f16')) if relu else limited(a, 'f16'), D, way)",
    ),
    rule("cvt.<way:rounding>.<D:f16>.<S:bf16>", "d:D a:S", f"float_to_float({_SINGLE}, D, way)", copies=True),
    rule("cvt.<D:f16>.<S:bf16>", "d:D a:S", f"float_to_float({_SINGLE}, D, 'rn')", copies=True),
    rule("cvt.<way:rounding>.<ftz:ftz>.<D:bf16>.<S:f32>", "d:D a:S", "to_bfloat16(a, way)"),
    rule("cvt.<way:rn|rz>.relu.<D:bf16>.<S:f32>", "d:D a:S", "to_bfloat16(a, way, True)"),
    rule(
        "cvt.<way:rn|rz>[.relu].satfinite.<D:bf16>.<S:f32>",
        "d:D a:S",
        "to_bfloat16(limited(a, 'bf16'), way, bool(relu))",
    ),
    rule(
        "cvt.<way:rounding>[.sat].<D:bf16>.<S:f32|f64|f16>",
        "d:D a:S",
        "to_bfloat16(saturate(a) if sat else a, way)",
    ),
    rule(
        "cvt.<way:rounding>[.sat].<D:bf16>.<S:bf16>",
        "d:D a:S",
        f"to_bfloat16(saturate({_SINGLE}) if sat else {_SINGLE}, way)",
    ),
    rule("cvt.<D:bf16>.<S:f16>", "d:D a:S", "to_bfloat16(a, 'rn')"),
    # to the float of a whole number
    rule(
        f"cvt.{_TO_WHOLE}.<D:bf16>.<S:bf16>",
        "d:D a:S",
        f"to_bfloat16(round_to_integer({_SINGLE}, way), None)",
    ),
    rule(f"cvt.{_TO_WHOLE}[.ftz][.sat].<D:f16>.<S:f16>", "d:D a:S", "round_to_integer(a, way)"),
    rule(f"cvt.{_TO_WHOLE}[.ftz][.sat].<D:f32>.<S:f32>", "d:D a:S", "round_to_integer(a, way)"),
    rule(f"cvt.{_TO_WHOLE}[.sat].<D:f64>.<S:f64>", "d:D a:S", "round_to_integer(a, way)"),
    # two numbers into one register
    *(
        rule(f"cvt.<way:rn|rz>[.relu][.satfinite].{name}.f32", "d:b32 a:f32 b:f32", _pack(name))
        for name in _PACKED
    ),
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
        "d:F {a}:f32 b:b32",
        "stochastic_four(*a, b, name=F[:-2], clips=bool(relu))",
        describe=_require_four,
        since=100,
    ),
    *(
        rule(
            f"cvt.pack.sat.{name}.s32",
            "d:b32 a:s32 b:s32",
            f"join(clamp(b, {code}).astype(u2), clamp(a, {code}).astype(u2))",
        )
        for name, code in (("u16", "u2"), ("s16", "i2"))
    ),
    *(
        rule(
            f"cvt.pack.sat.{name}.s32.b32",
            "d:b32 a:s32 b:s32 c:b32",
            f"clamp(b, {code}).astype(u1).astype(u4) | clamp(a, {code}).astype(u1).astype(u4) << np.uint32(8)"
            " | c << np.uint32(16)",
        )
        for name, code in (("u8", "u1"), ("s8", "i1"))
    ),
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
