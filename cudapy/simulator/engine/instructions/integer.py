"""Integers: arithmetic, bits, shifts.

Source: PTX ISA, "Integer Arithmetic Instructions", "Extended-Precision Integer Arithmetic Instructions".
"""

from .rule import Rule, rule


def _with_carry(name: str, own: str, after: str, operands: str, call: str, first: str) -> list[Rule]:
    """The instruction that begins with a carry of `first`, and those that take it from its register.

    Hardware subtracts by adding the complement, so that a difference that borrows leaves no carry; PTX of
    NVRTC reads it by addc.
    """
    kinds, out, taken = "<T:u32|s32|u64|s64>", "d:U|k=%cc:u32", "k=%cc:u32"
    return [
        rule(f"{own}.{kinds}", f"{out} {operands}", f"{call}, {first})"),
        rule(f"{name}{after}.cc.{kinds}", f"{out} {operands} {taken}", f"{call}, k)"),
        rule(f"{name}{after}.{kinds}", f"d:U {operands} {taken}", f"{call}, k)[0]"),
    ]


_PRODUCT = "(a * b if half == 'lo' else multiply_high(a, b)).view(U)"
_CARRIES = [
    *_with_carry("addc", "add.cc", "", "a:U b:U", "add_carry(a, b", "np.uint32(0)"),
    *_with_carry("subc", "sub.cc", "", "a:U b:U", "subtract_carry(a, b", "np.uint32(1)"),
    *_with_carry(
        "madc", "mad.<half:lo|hi>.cc", ".<half:lo|hi>", "a b c:U", f"add_carry({_PRODUCT}, c", "np.uint32(0)"
    ),
]
RULES = [
    rule("add.<T:integers>", "d a b", "a + b", wraps=True),
    rule("add.sat.<T:s32>", "d a b", "add_saturated(a, b)"),
    rule("sub.<T:integers>", "d a b", "a - b", wraps=True),
    rule("sub.sat.<T:s32>", "d a b", "subtract_saturated(a, b)"),
    rule("mul.lo.<T:integers>", "d a b", "a * b", wraps=True),
    rule("mul.hi.<T:integers>", "d a b", "multiply_high(a, b)"),
    rule("mul.wide.<T:u16|s16|u32|s32>", "d:W a:T>W b:T>W", "a * b"),
    rule("mad.lo.<T:integers>", "d a b c", "a * b + c", wraps=True),
    rule("mad.hi.<T:integers>", "d a b c", "multiply_high(a, b) + c"),
    rule("mad.hi.sat.<T:s32>", "d a b c", "add_saturated(multiply_high(a, b), c)"),
    rule("mad.wide.<T:u16|s16|u32|s32>", "d:W a:T>W b:T>W c:W", "a * b + c"),
    rule("mul24.lo.<T:u32|s32>", "d a b", "(low24(a) * low24(b)).astype(T)"),
    rule("mul24.hi.<T:u32|s32>", "d a b", "(low24(a) * low24(b) >> 16).astype(T)"),
    rule("mad24.lo.<T:u32|s32>", "d a b c", "(low24(a) * low24(b)).astype(T) + c"),
    rule("mad24.hi.<T:u32|s32>", "d a b c", "(low24(a) * low24(b) >> 16).astype(T) + c"),
    rule("mad24.hi.sat.<T:s32>", "d a b c", "add_saturated((low24(a) * low24(b) >> 16).astype(T), c)"),
    rule("sad.<T:integers>", "d a b c", "absolute_difference(a, b) + c"),
    rule("div.<T:integers>", "d a b", "divide(a, b)"),
    rule("rem.<T:integers>", "d a b", "remainder(a, b)"),
    rule("abs.<T:signed>", "d a", "np.abs(a)"),
    rule("neg.<T:signed>", "d a", "-a"),
    rule("min.<T:integers>", "d a b", "np.minimum(a, b)"),
    rule("max.<T:integers>", "d a b", "np.maximum(a, b)"),
    rule("min.relu.<T:s32>", "d a b", "np.maximum(np.minimum(a, b), i4.type(0))"),
    rule("max.relu.<T:s32>", "d a b", "np.maximum(np.maximum(a, b), i4.type(0))"),
    rule("add.<T:u16x2|s16x2>", "d a b", "of_pairs(a, b, name='add', signed=False)"),
    rule("min.<T:s16x2>", "d a b", "of_pairs(a, b, name='min', signed=True)"),
    rule("min.<T:s16x2>.relu", "d a b", "of_pairs(a, b, name='min', signed=True, relu=True)"),
    rule("max.<T:s16x2>", "d a b", "of_pairs(a, b, name='max', signed=True)"),
    rule("max.<T:s16x2>.relu", "d a b", "of_pairs(a, b, name='max', signed=True, relu=True)"),
    rule("min.<T:u16x2>", "d a b", "of_pairs(a, b, name='min', signed=False)"),
    rule("max.<T:u16x2>", "d a b", "of_pairs(a, b, name='max', signed=False)"),
    rule("popc.<T:b32|b64>", "d:u32 a", "count_ones(a)"),
    rule("clz.<T:b32|b64>", "d:u32 a", "leading_zeros(a)"),
    rule("bfind.<T:u32|s32|u64|s64>", "d:u32 a", "find_leading(a, False)"),
    rule("bfind.shiftamt.<T:u32|s32|u64|s64>", "d:u32 a", "find_leading(a, True)"),
    rule("fns.<T:b32>", "d a b:u32 c:s32", "find_nth(a, b, c)"),
    rule("brev.<T:b32|b64>", "d a", "reverse_bits(a)"),
    rule("bfe.<T:u32|s32|u64|s64>", "d a b:u32 c:u32", "extract_field(a, b, c)"),
    rule("bfi.<T:b32|b64>", "d a b c:u32 e:u32", "insert_field(a, b, c, e)"),
    rule("bmsk.clamp.<T:b32>", "d a b", "bit_mask(a, b, False)"),
    rule("bmsk.wrap.<T:b32>", "d a b", "bit_mask(a, b, True)"),
    rule("szext.clamp.<T:u32|s32>", "d a b:u32", "extend_field(a, b, False)"),
    rule("szext.wrap.<T:u32|s32>", "d a b:u32", "extend_field(a, b, True)"),
    rule("dp4a.<A:u32|s32>.<E:u32|s32>", "d:b32 a:b32 b:b32 c:E", "dot4(a, b, c, types=A[0] + E[0])"),
    rule(
        "dp2a.lo.<A:u32|s32>.<E:u32|s32>",
        "d:b32 a:b32 b:b32 c:E",
        "dot2(a, b, c, types=A[0] + E[0], high=False)",
    ),
    rule(
        "dp2a.hi.<A:u32|s32>.<E:u32|s32>",
        "d:b32 a:b32 b:b32 c:E",
        "dot2(a, b, c, types=A[0] + E[0], high=True)",
    ),
    *_CARRIES,
]
