"""Strided layouts: at which offset each element of an array is. No memory is touched here."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from math import prod
from typing import Any

from .dlpack import dense


class StridedLayout:
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
                    f"strides of {self._strides} bytes are no multiples of itemsize = {itemsize}"
                )
            self._strides = tuple(stride // self.itemsize for stride in self._strides)
        if 0 in self._shape:
            self._strides = (0,) * len(self._shape)

    def _new(
        self, shape: Sequence[int], strides: Sequence[int], itemsize: int = 0, offset: Any = None
    ) -> Any:
        made = StridedLayout(shape, strides, itemsize or self.itemsize)
        made.slice_offset = self.slice_offset if offset is None else offset
        return made

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
            order = _permutation(stride_order, len(shape))
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

    # -- other layouts of the same elements -------------------------------------------------------

    def permuted(self, axis_order: Sequence[int]) -> StridedLayout:
        """The axes in another order."""
        order = _permutation(axis_order, self.ndim)
        made: StridedLayout = self._new([self._shape[a] for a in order], [self._steps[a] for a in order])
        return made

    def flattened_axis_mask(self) -> int:
        """Bit i: axis i can be merged with the one before it."""
        return sum(
            1 << axis
            for axis in range(1, self.ndim)
            if self._steps[axis - 1] == self._steps[axis] * self._shape[axis]
        )

    def flattened(self, start_axis: int = 0, end_axis: int = -1, mask: int | None = None) -> StridedLayout:
        """Axes from `start_axis` to `end_axis`, or those of `mask`, merged where one stride does for both."""
        if mask is None:
            mask = self.flattened_axis_mask()
            first, last = start_axis % max(self.ndim, 1), end_axis % max(self.ndim, 1)
            mask &= sum(1 << axis for axis in range(first + 1, last + 1))
        shape: list[int] = []
        strides: list[int] = []
        for axis, (extent, stride) in enumerate(zip(self._shape, self._steps, strict=True)):
            if axis and mask >> axis & 1:
                if strides[-1] != stride * extent:
                    raise ValueError(f"axes {axis - 1} and {axis} cannot be merged")
                shape[-1] *= extent
                strides[-1] = stride
            else:
                shape.append(extent)
                strides.append(stride)
        made: StridedLayout = self._new(shape, strides)
        return made

    def squeezed(self) -> StridedLayout:
        """Without the axes of extent 1; one axis of extent 0 if there is no element."""
        kept = [axis for axis in range(self.ndim) if self._shape[axis] != 1] if self.volume else []
        shape = [self._shape[axis] for axis in kept] if self.volume else [0]
        made: StridedLayout = self._new(shape, [self._steps[a] for a in kept] if self.volume else [0])
        return made

    def unsqueezed(self, axis: int | Sequence[int]) -> StridedLayout:
        """With axes of extent 1 at these places of the new shape."""
        axes = (axis,) if isinstance(axis, int) else tuple(axis)
        ndim = self.ndim + len(axes)
        if any(not -ndim <= each < ndim for each in axes) or len({each % ndim for each in axes}) < len(axes):
            raise ValueError(f"axes {axes} are no different axes of {ndim}")
        shape, strides = list(self._shape), list(self._steps)
        for each in sorted(each % ndim for each in axes):
            step = shape[each] * strides[each] if each < len(shape) else 1
            shape.insert(each, 1)
            strides.insert(each, step)
        made: StridedLayout = self._new(shape, strides)
        return made

    def broadcast_to(self, shape: Sequence[int]) -> StridedLayout:
        """Axes of extent 1 stretched, and new ones before them, by a stride of 0."""
        new = len(shape) - self.ndim
        old = (1,) * new + self._shape
        steps = (0,) * new + self._steps
        if new < 0 or any(a not in (1, b) for a, b in zip(old, shape, strict=True)):
            raise ValueError(f"an array of shape {self._shape} cannot be broadcast to {tuple(shape)}")
        made: StridedLayout = self._new(
            shape, [s if a == b else 0 for s, a, b in zip(steps, old, shape, strict=True)]
        )
        return made

    def reshaped(self, shape: Sequence[int]) -> StridedLayout:
        """Another shape with the same elements in C order; one extent may be -1. Raises ValueError."""
        wanted = list(shape)
        if wanted.count(-1) == 1:
            rest = -prod(wanted)
            wanted[wanted.index(-1)] = self.volume // rest if rest else 0
        if prod(wanted) != self.volume or any(extent < 0 for extent in wanted):
            raise ValueError(f"an array of shape {self._shape} cannot get the shape {tuple(shape)}")
        if not self.volume:
            made: StridedLayout = self._new(wanted, [0] * len(wanted))
            return made
        merged = self.squeezed().flattened()
        left = [list(pair) for pair in zip(merged._shape, merged._steps, strict=True)]
        strides: list[int] = []
        step = 1
        for extent in reversed(wanted):
            if extent == 1:
                strides.append(step)
                continue
            have, step = left[-1]
            if have % extent:
                raise ValueError(f"strides {self._steps} do not allow the shape {tuple(shape)}")
            strides.append(step)
            step *= extent
            left[-1] = [have // extent, step]
            if have == extent:
                left.pop()
        made = self._new(wanted, strides[::-1])
        return made

    def repacked(
        self, itemsize: int, data_ptr: int = 0, axis: int = -1, keep_dim: bool = True
    ) -> StridedLayout:
        """The same bytes as larger or smaller elements, along `axis`, whose stride must be 1.

        data_ptr: where it lies, if larger elements must be aligned. Raises ValueError.
        """
        axis = self._axis(axis)
        shape, strides, offset = list(self._shape), list(self._steps), self.slice_offset
        small, large = sorted((self.itemsize, itemsize))
        if small < 1 or large % small:
            raise ValueError(f"elements of {self.itemsize} bytes cannot be taken as {itemsize} bytes")
        if strides[axis] != 1 or not shape[axis]:
            raise ValueError(f"axis {axis} must have elements, and the stride 1")
        factor = large // small
        others = [each for each in range(self.ndim) if each != axis]
        if itemsize <= self.itemsize:
            shape[axis] *= factor
            for each in others:
                strides[each] *= factor
            made: StridedLayout = self._new(shape, strides, itemsize, offset * factor)
            return made
        if shape[axis] % factor or offset % factor or any(strides[each] % factor for each in others):
            raise ValueError(f"extent, strides and offset are no multiples of {factor} elements")
        if data_ptr % itemsize:
            raise ValueError(f"{data_ptr:#x} is not aligned to {itemsize} bytes")
        shape[axis] //= factor
        for each in others:
            strides[each] //= factor
        if not keep_dim and shape[axis] == 1:
            del shape[axis], strides[axis]
        made = self._new(shape, strides, itemsize, offset // factor)
        return made

    def max_compatible_itemsize(self, max_itemsize: int = 16, data_ptr: int = 0, axis: int = -1) -> int:
        """The largest itemsize, up to `max_itemsize`, that `repacked` takes."""
        axis, best = self._axis(axis), self.itemsize
        size = 2 * best
        while size <= max_itemsize:
            try:
                self.repacked(size, data_ptr, axis)
            except ValueError:
                break
            best, size = size, 2 * size
        return best

    def _axis(self, axis: int) -> int:
        if not -self.ndim <= axis < self.ndim:
            raise ValueError(f"there is no axis {axis} among {self.ndim}")
        return axis % self.ndim

    def sliced(self, slices: int | slice | Sequence[int | slice]) -> StridedLayout:
        """A part: an int takes one index of an axis, which is then gone, a slice a range of them."""
        given = tuple(slices) if isinstance(slices, (tuple, list)) else (slices,)
        if len(given) > self.ndim:
            raise ValueError(f"{len(given)} slices for {self.ndim} axes")
        shape, strides, offset = [], [], self.slice_offset
        for axis, (extent, stride) in enumerate(zip(self._shape, self._steps, strict=True)):
            part = given[axis] if axis < len(given) else slice(None)
            if isinstance(part, slice):
                start, stop, step = part.indices(extent)
                count = len(range(start, stop, step))
                shape.append(count)
                strides.append(stride * step)
                offset += stride * start if count else 0
                continue
            index = operator.index(part)
            if not -extent <= index < extent:
                raise ValueError(f"index {index} is outside of axis {axis}, which has {extent}")
            offset += stride * (index % extent)
        made: StridedLayout = self._new(shape, strides, offset=offset if 0 not in shape else 0)
        return made

    __getitem__ = sliced

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


def _permutation(order: Sequence[int], ndim: int) -> list[int]:
    axes = [operator.index(axis) for axis in order]
    if sorted(axes) != list(range(ndim)):
        raise ValueError(f"{tuple(axes)} is no permutation of {ndim} axes")
    return axes
