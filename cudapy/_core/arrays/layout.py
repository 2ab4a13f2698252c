"""Strided layouts: at which offset each element of an array is. No memory is touched here."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from math import prod
from typing import Any

from ..memory.dlpack import dense
from .relayout import Rearranged, permutation


class StridedLayout(Rearranged):
    """Shape, strides and size of the elements of an array.

    shape: the extent of each axis. strides: the step along each axis, counted in elements; with
    `divide_strides` in bytes; None: C order. itemsize: bytes of an element. The element at index (0, ..., 0)
    is `slice_offset` elements behind the start, which is 0 unless the layout was sliced.
    """

    __slots__ = ("_shape", "_strides", "itemsize", "slice_offset")
    _shape: tuple[int, ...]
    _strides: tuple[int, ...] | None
    itemsize: int
    slice_offset: int

    def __init__(
        self,
        shape: Sequence[int],
        strides: Sequence[int] | None,
        itemsize: int,
        divide_strides: bool = False,
    ) -> None:
        self._shape = tuple(operator.index(extent) for extent in shape)
        self.itemsize = operator.index(itemsize)
        self.slice_offset = 0
        if any(extent < 0 for extent in self._shape):
            raise ValueError(f"shape = {self._shape}: no extent can be negative")
        if self.itemsize < 1:
            raise ValueError(f"itemsize = {self.itemsize}: an element has at least one byte")
        self._strides = None if strides is None else tuple(operator.index(stride) for stride in strides)
        if self._strides is None:
            return
        if len(self._strides) != len(self._shape):
            raise ValueError(f"{len(self._shape)} axes have {len(self._strides)} strides")
        if divide_strides:
            if any(stride % self.itemsize for stride in self._strides):
                raise ValueError(
                    f"strides of {self._strides} bytes are not multiples of itemsize = {itemsize}"
                )
            self._strides = tuple(stride // self.itemsize for stride in self._strides)
        if 0 in self._shape:
            self._strides = (0,) * len(self._shape)

    def _new(
        self, shape: Sequence[int], strides: Sequence[int], itemsize: int = 0, offset: Any = None
    ) -> Any:
        layout = StridedLayout(shape, strides, itemsize or self.itemsize)
        layout.slice_offset = self.slice_offset if offset is None else offset
        return layout

    @classmethod
    def dense(
        cls, shape: Sequence[int], itemsize: int, stride_order: str | Sequence[int] = "C"
    ) -> StridedLayout:
        """A layout without gaps. stride_order: "C", "F", or the axes from the largest stride to the least."""
        axes = range(len(shape))
        if stride_order == "C":
            order: Sequence[int] = axes
        elif stride_order == "F":
            order = axes[::-1]
        elif isinstance(stride_order, str):
            raise ValueError(f'stride_order = {stride_order!r} is not "C", "F" or a permutation of the axes')
        else:
            order = permutation(stride_order, len(shape))
        steps = dense([shape[axis] for axis in order])
        strides = dict(zip(order, steps, strict=True))
        return cls(shape, [strides[axis] for axis in axes], itemsize)

    @classmethod
    def dense_like(cls, other: StridedLayout, stride_order: str | Sequence[int] = "K") -> StridedLayout:
        """The shape of `other` without gaps; stride_order "K" keeps the order of its strides."""
        order = other.stride_order if stride_order == "K" else stride_order
        return cls.dense(other._shape, other.itemsize, order)

    def to_dense(self, stride_order: str | Sequence[int] = "K") -> StridedLayout:
        """The same shape without gaps, as `dense_like` has it."""
        return StridedLayout.dense_like(self, stride_order)

    # -- what it is -------------------------------------------------------------------------------

    @property
    def ndim(self) -> int:
        """How many axes it has."""
        return len(self._shape)

    @property
    def shape(self) -> tuple[int, ...]:
        """The extents."""
        return self._shape

    @property
    def strides(self) -> tuple[int, ...] | None:
        """The strides, counted in elements; None if it was made without."""
        return self._strides

    @property
    def strides_in_bytes(self) -> tuple[int, ...] | None:
        """The strides in bytes; None if it was made without."""
        return None if self._strides is None else tuple(stride * self.itemsize for stride in self._strides)

    @property
    def _steps(self) -> tuple[int, ...]:
        return dense(self._shape) if self._strides is None else self._strides

    @property
    def stride_order(self) -> tuple[int, ...]:
        """The axes from the largest stride to the least."""
        steps = self._steps
        return tuple(sorted(range(self.ndim), key=lambda axis: (-abs(steps[axis]), -self._shape[axis], axis)))

    @property
    def volume(self) -> int:
        """How many elements there are."""
        return prod(self._shape)

    @property
    def offset_bounds(self) -> tuple[int, int]:
        """The least and the largest offset of an element; (0, -1) if there is none."""
        if not self.volume:
            return 0, -1
        reach = [stride * (extent - 1) for stride, extent in zip(self._steps, self._shape, strict=True)]
        low, high = sum(min(r, 0) for r in reach), sum(max(r, 0) for r in reach)
        return self.slice_offset + low, self.slice_offset + high

    @property
    def min_offset(self) -> int:
        """The least offset of an element."""
        return self.offset_bounds[0]

    @property
    def max_offset(self) -> int:
        """The largest offset of an element."""
        return self.offset_bounds[1]

    @property
    def slice_offset_in_bytes(self) -> int:
        """Where the element at index (0, ..., 0) is, in bytes."""
        return self.slice_offset * self.itemsize

    def required_size_in_bytes(self) -> int:
        """The bytes that memory for it has to have. Raises ValueError if elements lie before the start."""
        low, high = self.offset_bounds
        if low < 0:
            raise ValueError(f"an element lies {-low} elements before the start of the memory")
        return (high + 1) * self.itemsize

    @property
    def is_contiguous_c(self) -> bool:
        """Whether elements follow each other in C order, the last axis first."""
        return self._is_contiguous(range(self.ndim))

    @property
    def is_contiguous_f(self) -> bool:
        """Whether they do in Fortran order, the first axis first."""
        return self._is_contiguous(range(self.ndim)[::-1])

    @property
    def is_contiguous_any(self) -> bool:
        """Whether they do in some order of axes."""
        return self._is_contiguous(self.stride_order)

    def _is_contiguous(self, order: Sequence[int]) -> bool:
        step = 1
        for axis in reversed(order):
            if self._shape[axis] != 1 and self._steps[axis] != step and self.volume:
                return False
            step *= self._shape[axis]
        return True

    @property
    def is_dense(self) -> bool:
        """Whether elements fill the memory from its start, in some order of axes."""
        return self.is_contiguous_any and not self.slice_offset

    @property
    def is_unique(self) -> bool:
        """Whether no two elements share memory; False also for some odd strides that cannot be told."""
        reach = 0
        for axis in reversed(self.stride_order):
            if self._shape[axis] > 1 and self.volume:
                if abs(self._steps[axis]) <= reach:
                    return False
                reach += abs(self._steps[axis]) * (self._shape[axis] - 1)
        return True

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, StridedLayout):
            return NotImplemented
        return self._key() == other._key()

    def _key(self) -> tuple[Any, ...]:
        return self._shape, self._steps if self.volume else None, self.itemsize, self.slice_offset

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        offset = f", slice_offset={self.slice_offset}" if self.slice_offset else ""
        return f"StridedLayout({self._shape}, {self._strides}, {self.itemsize}{offset})"
