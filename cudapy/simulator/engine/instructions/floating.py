"""Binary32 and binary64.

Source: PTX ISA, "Floating Point Instructions".
"""

from .rule import rule

RULES = [
    rule("add[.rnd:rounding][.ftz][.sat].<T:f32>", "d a b", "add32(a, b, rnd)"),
    rule("add[.rnd:rounding].<T:f64>", "d a b", "add64(a, b, rnd)"),
    rule("sub[.rnd:rounding][.ftz][.sat].<T:f32>", "d a b", "add32(a, -b, rnd)"),
    rule("sub[.rnd:rounding].<T:f64>", "d a b", "subtract64(a, b, rnd)"),
    rule("mul[.rnd:rounding][.ftz][.sat].<T:f32>", "d a b", "multiply32(a, b, rnd, bool(ftz))"),
    rule("mul[.rnd:rounding].<T:f64>", "d a b", "multiply64(a, b, rnd)"),
    rule("fma.<rnd:rounding>[.ftz][.sat].<T:f32>", "d a b c", "fma32(a, b, c, rnd, bool(ftz))"),
    rule("fma.<rnd:rounding>.<T:f64>", "d a b c", "fma64(a, b, c, mode=rnd)"),
    rule("mad.<rnd:rounding>[.ftz][.sat].<T:f32>", "d a b c", "fma32(a, b, c, rnd, bool(ftz))"),
    rule("mad.<rnd:rounding>.<T:f64>", "d a b c", "fma64(a, b, c, mode=rnd)"),
    rule("div.<rnd:rounding>[.ftz].<T:f32>", "d a b", "divide32(a, b, rnd, bool(ftz))"),
    rule("div.<rnd:rounding>.<T:f64>", "d a b", "divide64(a, b, rnd)"),
    rule("div.approx[.ftz].<T:f32>", "d a b", "divide_approximately(a, b)"),
    rule("div.full[.ftz].<T:f32>", "d a b", "a / b"),
    rule("rcp.<rnd:rounding>[.ftz].<T:f32>", "d a", "divide32(np.float32(1), a, rnd, bool(ftz))"),
    rule("rcp.<rnd:rounding>.<T:f64>", "d a", "divide64(np.float64(1), a, rnd)"),
    rule("rcp.approx[.ftz].<T:f32>", "d a", "np.float32(1) / a"),
    rule("rcp.approx.ftz.<T:f64>", "d a", "reciprocal64(a)"),
    rule("sqrt.<rnd:rounding>[.ftz].<T:f32>", "d a", "root32(a, rnd)"),
    rule("sqrt.<rnd:rounding>.<T:f64>", "d a", "root64(a, rnd)"),
    rule("sqrt.approx[.ftz].<T:f32>", "d a", "np.sqrt(a)"),
    rule("rsqrt.approx[.ftz].<T:f32>", "d a", "inverse_root(a)"),
    rule("rsqrt.approx.<T:f64>", "d a", "inverse_root(a)"),
    rule("rsqrt.approx.ftz.<T:f64>", "d a", "inverse_root64(a)"),
    rule("sin.approx[.ftz].<T:f32>", "d a", "sine(a)"),
    rule("cos.approx[.ftz].<T:f32>", "d a", "cosine(a)"),
    rule("lg2.approx[.ftz].<T:f32>", "d a", "log2(a)"),
    rule("ex2.approx[.ftz].<T:f32>", "d a", "exp2(a)"),
    rule("tanh.approx.<T:f32>", "d a", "tanh(a)"),
    rule("neg[.ftz].<T:f32>", "d a", "-a"),
    rule("neg.<T:f64>", "d a", "choose(a == a, -a, canonicalize_nan64(a))"),
    rule("abs[.ftz].<T:f32>", "d a", "np.abs(a)"),
    rule("abs.<T:f64>", "d a", "choose(a == a, np.abs(a), canonicalize_nan64(a))"),
    rule("min[.ftz][.NaN].<T:f32>", "d a b", "minimum(a, b, bool(NaN))"),
    rule("max[.ftz][.NaN].<T:f32>", "d a b", "maximum(a, b, bool(NaN))"),
    rule("min[.ftz][.NaN].xorsign.abs.<T:f32>", "d a b", "xor_sign(minimum, a, b, bool(NaN))"),
    rule("max[.ftz][.NaN].xorsign.abs.<T:f32>", "d a b", "xor_sign(maximum, a, b, bool(NaN))"),
    *(
        rule(
            f"{name}[.ftz][.NaN][.size:abs].<T:f32>",
            "d a b c",
            f"of_three({function}, a, b, c, spreads=bool(NaN), is_size=bool(size))",
            since=100,
        )
        for name, function in (("min", "minimum"), ("max", "maximum"))
    ),
    rule("min.<T:f64>", "d a b", "minimum64(a, b)"),
    rule("max.<T:f64>", "d a b", "maximum64(a, b)"),
    *(
        rule(
            f"{name}[.ftz].<T:f32x2>",
            operands,
            f"of_singles({call}, flushes=bool(ftz))",
            since=100,
        )
        for name, operands, call in (
            ("add[.rnd:rounding]", "d a b", "add32, a, b, mode=rnd"),
            ("sub[.rnd:rounding]", "d a b", "subtract32, a, b, mode=rnd"),
            ("mul[.rnd:rounding]", "d a b", "multiply32, a, b, mode=rnd"),
            ("fma.<rnd:rounding>", "d a b c", "fma32, a, b, c, mode=rnd"),
        )
    ),
    rule("copysign.<T:f32|f64>", "d a b", "with_sign(a, b)", copies=True),
    rule(
        "testp.<kind:finite|infinite|number|notanumber|normal|subnormal>.<T:f32|f64>",
        "d:pred a",
        "is_kind(a, kind)",
    ),
]
