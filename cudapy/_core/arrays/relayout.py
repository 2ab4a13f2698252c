"""Other layouts of the same elements: permuted, merged, broadcast, sliced, as larger or smaller elements."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .layout import StridedLayout


class Rearranged:
    """The part of a StridedLayout that makes others of it."""

    __slots__ = ()
    _shape: tuple[int, ...]
    itemsize: int
    slice_offset: int
    _steps: Any
    ndim: Any  # properties of the whole: ints
    volume: Any
    _new: Any

    def permuted(self, axis_order: Sequence[int]) -> StridedLayout:
        """The axes in another order."""
        order = permutation(axis_order, self.ndim)
        layout: StridedLayout = self._new([self._shape[a] for a in order], [self._steps[a] for a in order])
        return layout

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
        layout: StridedLayout = self._new(shape, strides)
        return layout

    def squeezed(self) -> StridedLayout:
        """Without the axes of extent 1; one axis of extent 0 if there is no element."""
        kept = [axis for axis in range(self.ndim) if self._shape[axis] != 1] if self.volume else []
        shape = [self._shape[axis] for axis in kept] if self.volume else [0]
        layout: StridedLayout = self._new(shape, [self._steps[a] for a in kept] if self.volume else [0])
        return layout

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
        layout: StridedLayout = self._new(shape, strides)
        return layout

    def broadcast_to(self, shape: Sequence[int]) -> StridedLayout:
        """Axes of extent 1 stretched, and new ones before them, by a stride of 0."""
        new = len(shape) - self.ndim
        old = (1,) * new + self._shape
        steps = (0,) * new + self._steps
        if new < 0 or any(a not in (1, b) for a, b in zip(old, shape, strict=True)):
            raise ValueError(f"an array of shape {self._shape} cannot be broadcast to {tuple(shape)}")
        layout: StridedLayout = self._new(
            shape, [s if a == b else 0 for s, a, b in zip(steps, old, shape, strict=True)]
        )
        return layout

    def reshaped(self, shape: Sequence[int]) -> StridedLayout:
        """Another shape with the same elements in C order; one extent may be -1. Raises ValueError."""
        wanted = list(shape)
        if wanted.count(-1) == 1:
            rest = -prod(wanted)
            wanted[wanted.index(-1)] = self.volume // rest if rest else 0
        if prod(wanted) != self.volume or any(extent < 0 for extent in wanted):
            raise ValueError(f"an array of shape {self._shape} cannot get the shape {tuple(shape)}")
        if not self.volume:
            layout: StridedLayout = self._new(wanted, [0] * len(wanted))
            return layout
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
        layout = self._new(wanted, strides[::-1])
        return layout

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
            layout: StridedLayout = self._new(shape, strides, itemsize, offset * factor)
            return layout
        if shape[axis] % factor or offset % factor or any(strides[each] % factor for each in others):
            raise ValueError(f"extent, strides and offset are not multiples of {factor} elements")
        if data_ptr % itemsize:
            raise ValueError(f"{data_ptr:#x} is not aligned to {itemsize} bytes")
        shape[axis] //= factor
        for each in others:
            strides[each] //= factor
        if not keep_dim and shape[axis] == 1:
            del shape[axis], strides[axis]
        layout = self._new(shape, strides, itemsize, offset // factor)
        return layout

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
        ndim: int = self.ndim
        if not -ndim <= axis < ndim:
            raise ValueError(f"there is no axis {axis} among {ndim}")
        return axis % ndim

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
        layout: StridedLayout = self._new(shape, strides, offset=offset if 0 not in shape else 0)
        return layout

    __getitem__ = sliced


def permutation(order: Sequence[int], ndim: int) -> list[int]:
    """`order` as a list of all axes. Raises ValueError."""
    axes = [operator.index(axis) for axis in order]
    if sorted(axes) != list(range(ndim)):
        raise ValueError(f"{tuple(axes)} is not a permutation of {ndim} axes")
    return axes
