"""The types of PTX, and how their values are kept in NumPy arrays.

Source: PTX ISA, "Types".
"""

from typing import NamedTuple


class Type(NamedTuple):
    """A type: `code` is the NumPy type of an array of its values, `kind` one of "usbfp" or "x" (packed)."""

    name: str
    size: int
    code: str
    kind: str


def register_of(element: str) -> Type:
    """The type of registers that hold elements of a type of matrices."""
    return TYPES[element if element in ("f32", "s32", "f64") else "b32"]


def _types() -> dict[str, Type]:
    types = {"pred": Type("pred", 1, "?", "p")}
    for size in (1, 2, 4, 8):
        for kind, letter in (("u", "u"), ("s", "i"), ("b", "u")):
            name = f"{kind}{8 * size}"
            types[name] = Type(name, size, f"{letter}{size}", kind)
    for size in (2, 4, 8):
        types[f"f{8 * size}"] = Type(f"f{8 * size}", size, f"f{size}", "f")
    types["bf16"] = Type("bf16", 2, "u2", "x")  # NumPy has none: kept as its bits
    types["tf32"] = Type("tf32", 4, "f4", "f")
    for name in ("f16x2", "bf16x2", "u16x2", "s16x2", "e4m3x4", "e5m2x4", "e3m2x4", "e2m3x4"):
        types[name] = Type(name, 4, "u4", "x")
    for name in ("e4m3x2", "e5m2x2", "e3m2x2", "e2m3x2", "e2m1x4", "ue8m0x2"):
        types[name] = Type(name, 2, "u2", "x")
    for name in ("e2m1x2", "e4m3", "e5m2"):
        types[name] = Type(name, 1, "u1", "x")
    types["f32x2"] = Type("f32x2", 8, "u8", "x")
    types["b128"] = Type("b128", 16, "c16", "b")  # see arithmetic/bits.py
    return types


TYPES = _types()
BITS = {1: "b8", 2: "b16", 4: "b32", 8: "b64", 16: "b128"}
"""The untyped type of a size."""


def wider(name: str) -> str:
    """The integer type of twice the size."""
    return name[0] + str(2 * int(name[1:]))
