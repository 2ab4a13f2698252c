"""Bits, comparisons and selections.

Source: PTX ISA, "Logic and Shift Instructions", "Comparison and Selection Instructions".
"""

from .rule import Rule, rule

_COMPARED = "b16|b32|b64|integers"
_RELATIONS = "eq|ne|lt|le|gt|ge|lo|ls|hi|hs"
_ORDERED, _UNORDERED = "eq|lt|le|gt|ge", "ne|equ|neu|ltu|leu|gtu|geu|num|nan"
_FLOAT_RELATIONS = f"{_ORDERED}|{_UNORDERED}"
_COMBINED = "[.combine:and|or|xor]"
_PAIRS = "compare_pairs(a, b, relation, T_name, bool(ftz))"


def _comparisons(name: str, more: str, destination: str, then: str = "", types: str = "") -> list[Rule]:
    """setp, or set to a type: the rules for each kind of numbers that may be compared."""
    rules = []
    for relations, operand_types, expression in (
        (f"{_RELATIONS}>{_COMBINED}", _COMPARED, "a {relation} b"),
        (f"{_ORDERED}>{_COMBINED}[.ftz]", "f32|f64", "a {relation} b"),
        (f"{_UNORDERED}>{_COMBINED}[.ftz]", "f32|f64", "compare(a, b, relation)"),
        (
            f"{_FLOAT_RELATIONS}>{_COMBINED}[.ftz]",
            "f16",
            "relate(flush16(a) if ftz else a, flush16(b) if ftz else b, relation)",
        ),
        (
            f"{_FLOAT_RELATIONS}>{_COMBINED}[.ftz]",
            "bf16",
            "relate(bfloat_to_single(a), bfloat_to_single(b), relation)",
        ),
    ):
        chosen = "|".join(one for one in operand_types.split("|") if not types or one in types.split("|"))
        if chosen:
            pattern = f"{name}.<relation:{relations}{more}.<T:{chosen}>"
            second = "" if then else "~d"
            rules.append(rule(pattern, f"d:{destination} a b", expression, then=then, second=second))
    return rules


RULES = [
    rule("and.<T:pred|bits>", "d a b", "a & b", wraps=True),
    rule("or.<T:pred|bits>", "d a b", "a | b", wraps=True),
    rule("xor.<T:pred|bits>", "d a b", "a ^ b", wraps=True),
    rule("not.<T:pred|bits>", "d a", "~a", wraps=True),
    rule("cnot.<T:bits>", "d a", "(a == 0).astype(T)"),
    rule("lop3.<T:b32>", "d a b c e:number", "logic3(a, b, c, e)"),
    rule("lop3.<combine:or|and>.<T:b32>", "d a b c e:number", "logic3(a, b, c, e)", second="d != 0"),
    rule("shl.<T:bits>", "d a b:u32", "shift_left(a, b)", literal="a << b", wraps=True),
    rule("shr.<T:bits|integers>", "d a b:u32", "shift_right(a, b)", literal="a >> b"),
    rule("shf.l.clamp.<T:b32>", "d a b c", "funnel_left(a, b, np.minimum(c, np.uint32(32)))"),
    rule("shf.l.wrap.<T:b32>", "d a b c", "funnel_left(a, b, c & np.uint32(31))"),
    rule("shf.r.clamp.<T:b32>", "d a b c", "funnel_right(a, b, np.minimum(c, np.uint32(32)))"),
    rule("shf.r.wrap.<T:b32>", "d a b c", "funnel_right(a, b, c & np.uint32(31))"),
    rule("prmt.<T:b32>", "d a b c", "permute(a, b, c)"),
    rule("prmt.<T:b32>.<mode:f4e|b4e|rc8|ecl|ecr|rc16>", "d a b c", "permute_mode(a, b, c, mode)"),
    *_comparisons("setp", "", "pred"),
    rule(
        f"setp.<relation:{_FLOAT_RELATIONS}>{_COMBINED}[.ftz].<T:f16x2|bf16x2>",
        "d:pred a:B b:B",
        f"{_PAIRS}[0]",
        second=f"{_PAIRS}[1]",
    ),
    *_comparisons("set", ".<E:u32|s32>", "s32", "-d.astype(i4)"),
    *_comparisons("set", ".f32", "f32", "d.astype(f4)", types="b16|b32|b64|integers|f32|f64"),
    *_comparisons("set", ".f16", "u16", "d.astype(u2) * np.uint16(0x3C00)", types="f16|bf16"),
    *_comparisons("set", ".bf16", "u16", "d.astype(u2) * np.uint16(0x3F80)", types="f16|bf16"),
    *_comparisons("set", ".<E:u16|s16>", "E", "(-d.astype(i2)).view(D)", types="f16|bf16"),
    *(
        one
        for name in ("f16x2", "bf16x2")
        for one in (
            rule(
                f"set.<relation:{_FLOAT_RELATIONS}>[.ftz].<E:{name}|u32|s32>.<T:{name}>",
                "d:B a:B b:B",
                f"join_truth(*{_PAIRS}, E)",
            ),
            rule(
                f"set.<relation:{_FLOAT_RELATIONS}>.<by:and|or|xor>[.ftz].<E:{name}|u32|s32>.<T:{name}>",
                "d:B a:B b:B c:pred",
                f"join_truth(*combine_pairs({_PAIRS}, c, by), E)",
            ),
        )
    ),
    rule("selp.<T:bits|integers|f32|f64>", "d a b c:pred", "choose(c, a, b)", copies=True),
    rule("slct.<T:bits|integers|f32|f64>.s32", "d a b c:s32", "choose(c >= 0, a, b)", copies=True),
    rule(
        "slct[.ftz].<T:bits|integers|f32|f64>.f32",
        "d a b c:f32",
        "choose((flush(c) if ftz else c) >= 0, a, b)",
        copies=True,
    ),
]
