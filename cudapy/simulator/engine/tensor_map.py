"""Tensor maps: what bulk copies of tensors are told of a tensor, in the simulator's own 128 bytes.

Source: CUDA Driver API, "Tensor Map Object Management"; PTX ISA, "Tensors", "Tensor-Map".
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

SIZE = 128
"""Bytes."""
ELEMENTS = {
    "u8": 1,
    "u16": 2,
    "u32": 4,
    "s32": 4,
    "u64": 8,
    "s64": 8,
    "f16": 2,
    "f32": 4,
    "f64": 8,
    "bf16": 2,
}
"""The types of elements, in the order of CUtensorMapDataType, and their bytes."""
KINDS = tuple(ELEMENTS)
MAGIC = b"cudapyTM"
_FORM = struct.Struct("<8sQ6B5I4Q5B5H6h")


@dataclass(frozen=True)
class TensorMap:
    """A tensor in global memory, the fastest dimension first, and what one copy moves of it."""

    elements: ClassVar[dict[str, int]] = ELEMENTS
    kind: str
    """The type of an element, as PTX names it."""
    address: int
    sizes: tuple[int, ...]
    """Elements of each dimension."""
    strides: tuple[int, ...]
    """Bytes from one element to the next, of all dimensions but the first."""
    steps: tuple[int, ...]
    """Of each dimension every how many elements one is moved."""
    box: tuple[int, ...]
    """Elements of each dimension that a box spans; of windows of pixels the channels and the pixels."""
    swizzle: int
    """0, or the bytes of a row of shared memory whose 16-byte parts change places: 32, 64 or 128."""
    fills_nan: bool
    """What lies outside is NaN, not 0."""
    lower: tuple[int, ...] = ()
    """Of windows of pixels (im2col): where the box of first pixels starts, in all dimensions but those of
    channels and pictures.
    """
    upper: tuple[int, ...] = ()
    """Where it ends, counted from the tensor's end."""

    @property
    def is_windowed(self) -> bool:
        return bool(self.lower)

    def pack(self) -> bytes:
        """The 128 bytes."""
        rank = len(self.sizes)

        def filled(values: tuple[int, ...], length: int) -> tuple[int, ...]:
            return values + (0,) * (length - len(values))

        flags = KINDS.index(self.kind), rank, len(self.box), self.swizzle, self.fills_nan, len(self.lower)
        return _FORM.pack(
            MAGIC,
            self.address,
            *flags,
            *filled(tuple(size - 1 for size in self.sizes), 5),
            *filled(self.strides, 4),
            *filled(self.steps, 5),
            *filled(self.box, 5),
            *filled(self.lower, 3),
            *filled(self.upper, 3),
        ).ljust(SIZE, b"\0")

    @classmethod
    def unpack(cls, data: bytes) -> TensorMap:
        """A tensor map from its bytes. Raises ValueError if they are none."""
        magic, address, *rest = _FORM.unpack_from(data)
        if magic != MAGIC:
            raise ValueError("there is no tensor map")
        kind, rank, parts, swizzle, fills_nan, corners = rest[:6]
        return cls(
            KINDS[kind],
            address,
            tuple(size + 1 for size in rest[6 : 6 + rank]),
            tuple(rest[11 : 11 + rank - 1]),
            tuple(rest[15 : 15 + rank]),
            tuple(rest[20 : 20 + parts]),
            swizzle,
            bool(fills_nan),
            tuple(rest[25 : 25 + corners]),
            tuple(rest[28 : 28 + corners]),
        )


class Field(NamedTuple):
    """What `tensormap.replace` changes."""

    place: int
    """Among the values of the 128 bytes."""
    dimensions: int
    """How many there are of it: one, or one for a dimension."""
    least: int
    most: int
    less: int = 0
    """What the stored value is smaller by."""
    multiple: int = 1
    choices: tuple[int, ...] = ()
    """What is stored for 0, 1, ...; -1 for what the simulator does not have."""


_KINDS_BY_NUMBER = (
    "u8",
    "u16",
    "u32",
    "s32",
    "u64",
    "s64",
    "f16",
    "f32",
    "",
    "f64",
    "bf16",
    "",
    "",
    "",
    "",
    "",
)
FIELDS = {
    "global_address": Field(1, 1, 0, (1 << 64) - 1, multiple=16),
    "rank": Field(3, 1, 0, 4, less=-1),
    "box_dim": Field(22, 5, 1, 256),
    "global_dim": Field(8, 5, 1, (1 << 32) - 1, less=1),
    "global_stride": Field(13, 4, 0, (1 << 40) - 1, multiple=16),
    "element_stride": Field(17, 5, 1, 8),
    "elemtype": Field(2, 1, 0, 15, choices=tuple(KINDS.index(k) if k else -1 for k in _KINDS_BY_NUMBER)),
    "swizzle_mode": Field(5, 1, 0, 4, choices=(0, 32, 64, 128, -1)),
    "fill_mode": Field(6, 1, 0, 1),
    "interleave_layout": Field(-1, 1, 0, 2, choices=(0, -1, -1)),
    "swizzle_atomicity": Field(-1, 1, 0, 3, choices=(0, -1, -1, -1)),
}
"""By the names of PTX. Those at -1 have one value here, and are not stored.

Source: PTX ISA, "tensormap.replace"; the limits are those of `cuTensorMapEncodeTiled`.
"""


def replaced(data: bytes, name: str, ordinal: int, value: int) -> bytes:
    """A tensor map of boxes with another value of a field, to which `refusal` says nothing.

    Zeros are a tensor map without any values: code that makes one begins with them. Raises ValueError for
    other bytes that are none.
    """
    if not any(data):
        data = MAGIC + data[len(MAGIC) :]
    if TensorMap.unpack(data).is_windowed:
        raise ValueError("a tensor map of windows")
    field, values = FIELDS[name], list(_FORM.unpack_from(data))
    if field.place >= 0:
        values[field.place + ordinal] = field.choices[value] if field.choices else value - field.less
    if name == "rank":  # a box has as many dimensions as its tensor
        values[4] = values[3]
    return _FORM.pack(*values).ljust(SIZE, b"\0")


def refusal(name: str, value: int) -> str:
    """Why a field cannot have a value, or nothing."""
    field = FIELDS[name]
    if not field.least <= value <= field.most:
        return f"{name} is {field.least} to {field.most}, not {value}"
    if value % field.multiple:
        return f"{name} is a multiple of {field.multiple}, not {value}"
    if field.choices and field.choices[value] < 0:
        return f"the simulator has no tensor maps with {name} {value}"
    return ""
