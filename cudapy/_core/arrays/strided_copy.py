"""Copies between arrays whose elements lie differently, by the copy engines alone: no kernel, no temporary.

The axes that both arrays step through alike are merged; what is left of them is one row, a stack of rows
or of slices for each call of cuMemcpy3DAsync.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from ..._ffi.shown import type_name
from ...driver import CUDA_MEMCPY3D, CUdeviceptr, CUmemorytype, checked
from ..ownership.keep_alive import keep_alive_for_work
from ..streams.order import queue
from ..upward import upward

if TYPE_CHECKING:
    from ..streams.stream import Stream
    from .strided import StridedMemoryView

MAX_PITCH = 2**31 - 1  # bytes from row to row: CU_DEVICE_ATTRIBUTE_MAX_PITCH of all devices


class Axis(NamedTuple):
    """An extent, and the bytes to the next element in both arrays."""

    extent: int
    to: int
    at: int


class Plan(NamedTuple):
    """What one call copies, `width` bytes times `rows` times `slices`, and what it is repeated for."""

    width: int
    rows: Axis
    slices: Axis
    rest: list[Axis]
    to: int  # where the first row starts, relative to the first element
    at: int


def copy(dst: StridedMemoryView, src: StridedMemoryView, stream: Stream, blocking: bool | None) -> None:
    """Copy `src` to `dst` in `stream`. Raises ValueError for arrays that do not match."""
    for each in (dst, src):
        if not isinstance(each, upward.strided_view):
            raise TypeError(
                "a copy takes StridedMemoryViews, which from_any_interface() makes of other arrays, "
                f"not {type_name(each)}"
            )
        if each._buffer is not None:
            each._buffer._address  # noqa: B018  # raises what a closed buffer has to say
    if dst.shape != src.shape:
        raise ValueError(f"an array of shape {src.shape} cannot be copied to one of shape {dst.shape}")
    if dst._layout.itemsize != src._layout.itemsize or not _same_type(dst, src):
        raise ValueError(f"elements of {src!r} cannot be copied to {dst!r}: their types differ")
    if dst.readonly:
        raise ValueError(f"{dst!r} is read-only")
    if not dst._layout.is_unique:
        raise ValueError(f"{dst!r} has elements that share memory")
    on_device = dst.is_device_accessible, src.is_device_accessible
    if dst.size and not any(on_device):
        stream.sync()
        _array(dst)[...] = _array(src)
        return
    if dst.size:
        _enqueue(dst, src, stream)
    if blocking or (blocking is None and not all(on_device)):
        stream.sync()


def _same_type(one: StridedMemoryView, other: StridedMemoryView) -> bool:
    """Whether elements are of one type, as far as that is known: structs (V) may be anything."""
    if one._element is not None and other._element is not None:
        return one._element == other._element
    types = one._known_dtype(), other._known_dtype()
    return types[0] == types[1] or any(each is None or each.kind == "V" for each in types)


def _array(view: StridedMemoryView) -> Any:
    """Host memory as bytes of NumPy's: `[..., itemsize]`."""
    import numpy

    size = view._layout.itemsize
    strides = [step * size for step in view._layout._steps]
    interface = {
        "data": (view.ptr, False),
        "shape": (*view.shape, size),
        "strides": (*strides, 1),
        "typestr": "|u1",
        "version": 3,
    }
    holder = type("Memory", (), {"__array_interface__": interface})()
    return numpy.asarray(holder)


def _enqueue(dst: StridedMemoryView, src: StridedMemoryView, stream: Stream) -> None:
    size = dst._layout.itemsize
    steps = zip(dst.shape, dst._layout._steps, src._layout._steps, strict=True)
    plan = make_plan([Axis(extent, to * size, at * size) for extent, to, at in steps], size)
    call = _call(dst, src, plan)
    for indices in itertools.product(*(range(axis.extent) for axis in plan.rest)):
        to, at = dst.ptr + plan.to, src.ptr + plan.at
        for index, axis in zip(indices, plan.rest, strict=True):
            to, at = to + index * axis.to, at + index * axis.at
        if dst.is_device_accessible:
            call.dstDevice = CUdeviceptr(to)
        else:
            call.dstHost = to
        if src.is_device_accessible:
            call.srcDevice = CUdeviceptr(at)
        else:
            call.srcHost = at
        if plan.rows.extent == plan.slices.extent == 1:
            queue(stream, checked.cuMemcpyAsync, to, at, plan.width)
        else:
            queue(stream, checked.cuMemcpy3DAsync, call)
    keep_alive_for_work(stream, dst, src)


def _call(dst: StridedMemoryView, src: StridedMemoryView, plan: Plan) -> CUDA_MEMCPY3D:
    unified, host = CUmemorytype.CU_MEMORYTYPE_UNIFIED, CUmemorytype.CU_MEMORYTYPE_HOST
    return CUDA_MEMCPY3D(
        dstMemoryType=unified if dst.is_device_accessible else host,
        srcMemoryType=unified if src.is_device_accessible else host,
        dstPitch=plan.rows.to,
        srcPitch=plan.rows.at,
        dstHeight=plan.slices.to // plan.rows.to,
        srcHeight=plan.slices.at // plan.rows.at,
        WidthInBytes=plan.width,
        Height=plan.rows.extent,
        Depth=plan.slices.extent,
    )


def make_plan(axes: list[Axis], itemsize: int) -> Plan:
    """How to copy in the fewest calls that the rules of cuMemcpy3D allow: rows and slices do not overlap."""
    to = at = 0
    turned = []
    for axis in axes:
        if axis.extent == 1:
            continue
        if axis.to < 0:  # from the other end
            to += (axis.extent - 1) * axis.to
            at += (axis.extent - 1) * axis.at
            axis = Axis(axis.extent, -axis.to, -axis.at)
        turned.append(axis)
    merged: list[Axis] = []
    for axis in sorted(turned, key=lambda axis: (axis.to, axis.at)):  # the innermost first
        inner = merged[-1] if merged else Axis(1, itemsize, itemsize)
        if (axis.to, axis.at) == (inner.to * inner.extent, inner.at * inner.extent):
            merged[-1:] = [Axis(inner.extent * axis.extent, inner.to, inner.at)]
        else:
            merged.append(axis)
    width = itemsize
    if merged and merged[0].to == merged[0].at == itemsize:
        width *= merged.pop(0).extent
    rows, slices = max(_stacks(merged, width), key=lambda pair: pair[0].extent * pair[1].extent)
    rest = [axis for axis in merged if axis is not rows and axis is not slices]
    return Plan(width, rows, slices, rest, to, at)


def _stacks(axes: list[Axis], width: int) -> Iterator[tuple[Axis, Axis]]:
    """Rows and slices that one call can copy: rows do not overlap, slices are a multiple of rows apart."""
    yield Axis(1, width, width), Axis(1, width, width)
    for rows in axes:
        if width <= min(rows.to, rows.at) and max(rows.to, rows.at) <= MAX_PITCH:
            yield rows, Axis(1, rows.extent * rows.to, rows.extent * rows.at)
            for slices in axes:
                steps = ((slices.to, rows.to), (slices.at, rows.at))
                if all(outer % inner == 0 and outer // inner >= rows.extent for outer, inner in steps):
                    yield rows, slices
