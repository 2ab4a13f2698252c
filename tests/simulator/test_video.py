"""Video instructions, against Python's integers."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from cudapy.simulator.engine.module import PTXError

from .machine import computed

SPECIAL = [0, 1, 2, 0x7F, 0x80, 0xFF, 0x100, 0x7FFF, 0x8000, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF]
SPECIAL += [0x80FF7F01, 0x7F80FF00, 0x12345678, 0xFEDCBA98]
A, B = (np.array(one, np.uint32) for one in zip(*itertools.product(SPECIAL, SPECIAL), strict=True))
C = np.roll(A, 5) ^ np.roll(B, 3)


def field(word: int, start: int, bits: int, kind: str) -> int:
    value = word >> start & (1 << bits) - 1
    return value - (1 << bits) if kind == "s32" and value >> bits - 1 else value


def clamp(value: int, bits: int, kind: str) -> int:
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if kind == "s32" else (0, (1 << bits) - 1)
    return min(max(value, low), high)


def operate(name: str, a: int, b: int) -> int:
    total = a + b
    return {
        "add": total,
        "sub": a - b,
        "absdiff": abs(a - b),
        "min": min(a, b),
        "max": max(a, b),
        "avrg": -(-total // 2) if total >= 0 else total // 2,
        "lt": int(a < b),
        "ge": int(a >= b),
        "eq": int(a == b),
    }[name]


def part(selector: str) -> tuple[int, int]:
    if not selector:
        return 0, 32
    bits = 8 if selector[0] == "b" else 16
    return int(selector[1]) * bits, bits


def scalar(opcode: str, target: str, first: str, second: str, words: tuple[int, int, int]) -> int:
    name, *modifiers = opcode.split(".")
    relation = name == "vset"
    kinds = ["u32", *modifiers[:2]] if relation else modifiers[:3]
    name = modifiers[2] if relation else name[1:]
    a, b = (
        field(word, *part(one), kind)
        for word, one, kind in zip(words, (first, second), kinds[1:], strict=False)
    )
    result = operate(name, a, b)
    start, bits = part(target)
    if "sat" in modifiers:
        result = clamp(result, bits, kinds[0])
    then = modifiers[-1] if modifiers[-1] in ("add", "min", "max") else ""
    c = field(words[2], 0, 32, kinds[0])
    if then:
        result = operate(then, field(result, 0, 32, kinds[0]), c)
    elif target:
        mask = (1 << bits) - 1 << start
        result = words[2] & ~mask | (result << start) & mask
    return result & 0xFFFFFFFF


@pytest.mark.parametrize(
    "opcode, target, first, second",
    [
        ("vadd.u32.u32.u32", "", "", ""),
        ("vadd.s32.s32.s32.sat", "", "", ""),
        ("vadd.u32.s32.s32.sat.add", "", "h1", "b3"),
        ("vsub.u32.u32.u32.sat", "b1", "b2", "b0"),
        ("vsub.s32.u32.s32.sat", "h1", "", "h0"),
        ("vsub.s32.s32.s32.min", "", "", ""),
        ("vabsdiff.u32.s32.s32", "", "", ""),
        ("vabsdiff.s32.u32.u32.add", "", "b0", "b1"),
        ("vmin.s32.s32.s32", "b3", "b1", "b2"),
        ("vmax.u32.u32.u32.max", "", "h0", "h1"),
        ("vset.s32.s32.lt", "", "b3", "b3"),
        ("vset.u32.s32.ge.add", "", "", ""),
        ("vset.u32.u32.eq", "h0", "b0", "b0"),
    ],
)
def test_scalars(opcode: str, target: str, first: str, second: str) -> None:
    target, first, second = (one and "." + one for one in (target, first, second))
    third = ", %c" if target or opcode.endswith((".add", ".min", ".max")) else ""
    found = computed(f"{opcode} %z{target}, %a{first}, %b{second}{third};", "b32 b32 b32", "b32", A, B, C)
    rows = zip(A.tolist(), B.tolist(), C.tolist(), strict=True)
    assert found.tolist() == [scalar(opcode, target[1:], first[1:], second[1:], row) for row in rows]


def test_shifts() -> None:
    amount = np.array([n % 70 for n in range(len(A))], np.uint32)
    rows = list(zip(A.tolist(), amount.tolist(), strict=True))
    found = computed("vshl.u32.u32.u32.wrap %z, %a, %b;", "b32 b32", "b32", A, amount)
    assert found.tolist() == [(a << (n & 31)) & 0xFFFFFFFF for a, n in rows]
    found = computed("vshl.s32.s32.u32.sat.clamp %z, %a, %b;", "b32 b32", "b32", A, amount)
    expected = [clamp(field(a, 0, 32, "s32") << min(n, 32), 32, "s32") & 0xFFFFFFFF for a, n in rows]
    assert found.tolist() == expected
    found = computed("vshr.s32.s32.u32.clamp.add %z, %a.h1, %b, 7;", "b32 b32", "b32", A, amount)
    assert found.tolist() == [(field(a, 16, 16, "s32") >> min(n, 32)) + 7 & 0xFFFFFFFF for a, n in rows]


def test_multiply_add() -> None:
    rows = list(zip(A.tolist(), B.tolist(), C.tolist(), strict=True))
    found = computed("vmad.u32.u32.u32.sat.shr7 %z, %a, %b.h1, %c;", "b32 b32 b32", "b32", A, B, C)
    assert found.tolist() == [min(a * (b >> 16) + c >> 7, 0xFFFFFFFF) for a, b, c in rows]
    found = computed("vmad.u32.u32.u32 %z, %a, %b, %c;", "b32 b32 b32", "b32", A, B, C)
    assert found.tolist() == [a * b + c & 0xFFFFFFFF for a, b, c in rows]
    found = computed("vmad.s32.s32.u32.po.shr15 %z, %a.b2, %b, %c;", "b32 b32 b32", "b32", A, B, C)
    whole = [(field(a, 16, 8, "s32") * b + field(c, 0, 32, "s32") + 1 >> 15, 0) for a, b, c in rows]
    assert found.tolist() == [one & 0xFFFFFFFF for one, _ in whole]


def lanes(opcode: str, mask: str, first: str, second: str, words: tuple[int, int, int]) -> int:
    name, *modifiers = opcode.split(".")
    count = int(name[-1])
    bits = 32 // count
    relation = name.startswith("vset")
    kinds = ["u32", *modifiers[:2]] if relation else modifiers[:3]
    name = modifiers[2] if relation else name[1:-1]
    both = words[0] | words[1] << 32
    total, out = words[2], words[2]
    for lane in range(count):
        a, b = (
            field(both, int(chosen[-1 - lane]) * bits, bits, kind)
            for chosen, kind in ((first, kinds[1]), (second, kinds[2]))
        )
        result = operate(name, a, b)
        if "sat" in modifiers:
            result = clamp(result, bits, kinds[0])
        if str(lane) in mask:
            total += result
            field_mask = (1 << bits) - 1 << lane * bits
            out = out & ~field_mask | result << lane * bits & field_mask
    return (total if modifiers[-1] == "add" else out) & 0xFFFFFFFF


@pytest.mark.parametrize(
    "opcode, mask, first, second",
    [
        ("vadd2.u32.u32.u32", "", "", ""),
        ("vadd2.s32.s32.s32.sat", "", "h01", "h33"),
        ("vadd4.u32.s32.u32.sat", "", "", ""),
        ("vsub4.s32.s32.s32.sat", "b31", "b0246", "b7777"),
        ("vsub2.u32.u32.u32.add", "h1", "", ""),
        ("vavrg2.s32.s32.s32", "", "", ""),
        ("vavrg4.u32.u32.u32", "", "", ""),
        ("vavrg4.s32.s32.s32.add", "", "", ""),
        ("vabsdiff4.u32.s32.s32.add", "", "", ""),
        ("vabsdiff2.u32.u32.u32", "h0", "h32", "h10"),
        ("vmin4.s32.s32.s32", "", "", ""),
        ("vmax2.u32.u32.u32", "", "", ""),
        ("vset4.u32.u32.lt", "b210", "", ""),
        ("vset2.s32.s32.ge.add", "", "", ""),
    ],
)
def test_lanes(opcode: str, mask: str, first: str, second: str) -> None:
    said = ["." + one if one else "" for one in (mask, first, second)]
    body = f"{opcode} %z{said[0]}, %a{said[1]}, %b{said[2]}, %c;"
    found = computed(body, "b32 b32 b32", "b32", A, B, C)
    usual = ("10", "10", "32") if "2." in opcode.partition(".")[0] + "." else ("3210", "3210", "7654")
    chosen = [one[1:] or other for one, other in zip((mask, first, second), usual, strict=True)]
    rows = zip(A.tolist(), B.tolist(), C.tolist(), strict=True)
    assert found.tolist() == [lanes(opcode, *chosen, row) for row in rows]  # type: ignore[call-arg]


@pytest.mark.parametrize(
    "text",
    [
        "vadd.u32.u32.u32 %z, %a.b4, %b;",
        "vadd.u32.u32.u32 %z.b0, %a, %b;",
        "vadd.u32.u32.u32 %z, %a, %b, %c;",
        "vadd2.u32.u32.u32 %z, %a.h14, %b, %c;",
        "vadd4.u32.u32.u32 %z, %a.b123, %b, %c;",
        "vadd2.u32.u32.u32 %z.b0, %a, %b, %c;",
    ],
)
def test_selections_that_are_none(text: str) -> None:
    with pytest.raises(PTXError, match=r"line \d+: v"):
        computed(text, "b32 b32 b32", "b32", A, B, C)
