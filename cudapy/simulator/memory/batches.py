"""Copies with attributes, and many copies, prefetches or discards in one call."""

from __future__ import annotations

import contextlib
import ctypes
from bisect import bisect_right
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from ..._types.driver.enums import CUmemcpy3DOperandType as OperandType
from ..._types.driver.enums import CUmemcpyFlags, CUmemcpySrcAccessOrder, CUmemLocationType
from ..addresses import Pointer, pointed, require
from ..devices.device import device
from ..library import provides
from ..refused import Refused, invalid
from ..streams.operations import needed
from ..streams.stream import Stream, stream
from .copies import ARRAY, UNIFIED, Copy, Side, is_host, is_pageable, line, queue
from .managed import AT_DEVICE, location_of, managed_range, prefetch

if TYPE_CHECKING:
    from collections.abc import Iterator

IN_STREAM_ORDER = int(CUmemcpySrcAccessOrder.CU_MEMCPY_SRC_ACCESS_ORDER_STREAM)
DURING_API_CALL = int(CUmemcpySrcAccessOrder.CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL)
ANY = int(CUmemcpySrcAccessOrder.CU_MEMCPY_SRC_ACCESS_ORDER_ANY)
COPY_FLAGS = int(CUmemcpyFlags.CU_MEMCPY_FLAG_PREFER_OVERLAP_WITH_COMPUTE)
HINTS = tuple(
    int(CUmemLocationType[f"CU_MEM_LOCATION_TYPE_{name}"])
    for name in ("NONE", "DEVICE", "HOST", "HOST_NUMA", "HOST_NUMA_CURRENT", "DEVICE_LOCALITY_DOMAIN")
)
NO_INDEX = 2**64 - 1
"""The index that tells of an error which no operation of a batch is the reason for."""


def _batch_stream(hStream: int) -> Stream:
    """The stream of a batch. Raises Refused."""
    in_stream = stream(hStream)
    if in_stream.is_legacy:
        raise invalid("a batch is not for the legacy default stream")
    return in_stream


def _items(array: Pointer, count: int, what: str) -> list[Any]:
    """The items of a C array. Raises Refused if there are none, or not all of them are memory."""
    if not count:
        raise invalid(f"{what} has no items")
    require(pointed(array), count * ctypes.sizeof(array._type_), what)  # type: ignore[attr-defined]
    return [array[i] for i in range(count)]


def _entries(
    entries: Pointer, indexes: Pointer, number: int, count: int, what: str, may_repeat: bool = False
) -> list[Any]:
    """For each of `count` operations its entry: entry k holds from operation `indexes[k]` on.

    may_repeat: an index may be that of the entry before, for which no operation is left.

    Raises Refused unless the indexes begin with 0, rise, and are those of operations.
    """
    if not 1 <= number <= count:
        raise invalid(f"{count} operations cannot have {number} {what}")
    firsts = _items(indexes, number, f"the indexes of the {what}")
    if firsts[0]:
        raise invalid(f"the {what} must begin with operation 0, not {firsts[0]}")
    if any(after < before + (not may_repeat) for before, after in pairwise(firsts)):
        raise invalid(f"the indexes of the {what} must rise: {firsts}")
    if firsts[-1] >= count:
        raise invalid(f"{what} for operation {firsts[-1]} of {count}")
    items = _items(entries, number, f"the {what}")
    return [items[bisect_right(firsts, i) - 1] for i in range(count)]


def _without_flags(flags: int) -> None:
    if flags:
        raise invalid(f"flags must be 0, not {flags:#x}")


# -- Copies ------------------------------------------------------------------------------------------------


def _check_attributes(order: int, flags: int) -> None:
    """Raise Refused for an order or flags of a copy that CUDA does not define."""
    if order not in (IN_STREAM_ORDER, DURING_API_CALL, ANY):
        raise invalid(f"srcAccessOrder is {order}, which is not STREAM, DURING_API_CALL or ANY")
    if flags & ~COPY_FLAGS:
        raise invalid(f"unknown flags {flags & ~COPY_FLAGS:#x} of a copy")


def _check_line_attributes(attributes: Any) -> None:
    """Raise Refused for attributes that CUDA does not define. The hints have no effect here."""
    _check_attributes(attributes.srcAccessOrder, attributes.flags)
    for hint in (attributes.srcLocHint, attributes.dstLocHint):
        if int(hint.type) not in HINTS:
            raise invalid(f"{int(hint.type)} is not a CUmemLocationType for the side of a copy")
        if int(hint.type) == AT_DEVICE:
            _device(hint.id)


def _device(ordinal: int) -> None:
    """Raise Refused if there is no such device, with the status that batches have for it."""
    try:
        device(ordinal)
    except Refused as refused:
        raise invalid(refused.reason) from None


def _check_capture(in_stream: Stream) -> None:
    """Raise Refused in a capture, which goes on: nodes of graphs have no such attributes."""
    if in_stream.capture is not None:
        raise Refused("CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", "copies with attributes cannot be captured")


def _queue(copy: Copy, order: int, in_stream: Stream) -> None:
    """Queue a copy whose source may be read when its order says.

    Where that is not after the call, the call copies what the host has there, and waits for what a device
    has, as an H200 does. It waits for pageable memory too: that may be gone after it.
    """
    copy.check_access()
    pageable, during = is_pageable(copy.src), order == DURING_API_CALL
    is_read_now = (during and is_host(copy.src)) or (order == ANY and pageable)
    queue(copy, in_stream, is_read_now, waits=(during or pageable) and not is_read_now)


def _line(dst: int, src: int, size: int, order: int, in_stream: Stream) -> None:
    if not size or not dst or not src:
        raise invalid(f"a copy of {size} bytes from {src:#x} to {dst:#x}")
    _queue(line(dst, UNIFIED, src, UNIFIED, size), order, in_stream)


def _lines(
    dsts: Pointer,
    srcs: Pointer,
    sizes: Pointer,
    count: int,
    attrs: Pointer,
    attrsIdxs: Pointer,
    numAttrs: int,
    in_stream: Stream,
    failIdx: Pointer | None = None,
) -> None:
    """Queue a batch of copies; those before one that is refused are done."""
    attributes = _entries(attrs, attrsIdxs, numAttrs, count, "attributes")
    copies = zip(
        _items(dsts, count, "dsts"), _items(srcs, count, "srcs"), _items(sizes, count, "sizes"), strict=True
    )
    for each in attributes:
        _check_line_attributes(each)
    _check_capture(in_stream)
    for i, copy in enumerate(copies):
        with _telling(failIdx, i):
            _line(*copy, attributes[i].srcAccessOrder, in_stream)


@contextlib.contextmanager
def _telling(failIdx: Pointer | None, i: int) -> Iterator[None]:
    """Tell the program that operation `i` is the one that is refused, if it is."""
    try:
        yield
    except Refused:
        if failIdx:
            failIdx[0] = i
        raise


@provides("driver")
def cuMemcpyBatchAsync_v2(
    dsts: Pointer,
    srcs: Pointer,
    sizes: Pointer,
    count: int,
    attrs: Pointer,
    attrsIdxs: Pointer,
    numAttrs: int,
    hStream: int,
) -> None:
    _lines(dsts, srcs, sizes, count, attrs, attrsIdxs, numAttrs, _batch_stream(hStream))


@provides("driver")
def cuMemcpyBatchAsync(
    dsts: Pointer,
    srcs: Pointer,
    sizes: Pointer,
    count: int,
    attrs: Pointer,
    attrsIdxs: Pointer,
    numAttrs: int,
    failIdx: Pointer,
    hStream: int,
) -> None:
    if failIdx:
        failIdx[0] = NO_INDEX
    in_stream = _batch_stream(hStream)
    _lines(dsts, srcs, sizes, count, attrs, attrsIdxs, numAttrs, in_stream, failIdx)


@provides("driver")
def cuMemcpyWithAttributesAsync(dst: int, src: int, size: int, attr: Pointer, hStream: int) -> None:
    attributes, in_stream = needed(attr, "attr"), stream(hStream)
    _check_line_attributes(attributes)
    _check_capture(in_stream)
    _line(dst, src, size, attributes.srcAccessOrder, in_stream)


# -- Copies of boxes ---------------------------------------------------------------------------------------


def _operand(operand: Any, extent: Any) -> tuple[Side, int]:
    """One side of the copy of a box, and the bytes of an element there, 0 if it does not say."""
    if operand.type == OperandType.CU_MEMCPY_OPERAND_TYPE_POINTER:
        place = operand.op.ptr
        if 0 < place.rowLength < extent.width or 0 < place.layerHeight < extent.height:
            raise invalid(
                f"rows of {place.rowLength} elements and layers of {place.layerHeight} rows are smaller than"
                f" the box of {extent.width} x {extent.height}"
            )
        pitch, height = place.rowLength or extent.width, place.layerHeight or extent.height
        return Side(UNIFIED, int(place.ptr), pitch, height), 0
    if operand.type != OperandType.CU_MEMCPY_OPERAND_TYPE_ARRAY:
        raise invalid(f"{int(operand.type)} is not a CUmemcpy3DOperandType")
    from ..textures.array import find_array

    array, offset = operand.op.array.array, operand.op.array.offset
    size = find_array(int(array)).element_size
    return Side(ARRAY, int(array), 0, 0, offset.x * size, offset.y, offset.z), size


def _box(op: Any) -> tuple[Side, Side, int]:
    """Both sides of the copy that a CUDA_MEMCPY3D_BATCH_OP describes, and the bytes of a row of it.

    Raises Refused for what is wrong with it, wherever its pointers point.
    """
    extent = op.extent
    _check_attributes(op.srcAccessOrder, op.flags)
    if not (extent.width and extent.height and extent.depth):
        raise invalid(f"a box of {extent.width} x {extent.height} x {extent.depth} elements is empty")
    (dst, dst_size), (src, src_size) = _operand(op.dst, extent), _operand(op.src, extent)
    if dst_size and src_size and dst_size != src_size:
        raise invalid(f"elements of {src_size} bytes cannot be copied to elements of {dst_size} bytes")
    size = dst_size or src_size or 1
    for side in (dst, src):
        side.check_array(extent.width * size, extent.height, extent.depth)
    return _in_bytes(dst, size), _in_bytes(src, size), extent.width * size


def _in_bytes(side: Side, size: int) -> Side:
    return replace(side, pitch=side.pitch * size) if side.kind == UNIFIED else side


def _boxes(ops: list[Any], in_stream: Stream, failIdx: Pointer | None = None) -> None:
    """Queue copies of boxes; those before one that is refused for its memory are done."""
    boxes = []
    for i, op in enumerate(ops):
        with _telling(failIdx, i):
            boxes.append(_box(op))
    _check_capture(in_stream)
    for op, box in zip(ops, boxes, strict=True):
        _queue(Copy(*box, op.extent.height, op.extent.depth), op.srcAccessOrder, in_stream)


@provides("driver")
def cuMemcpy3DBatchAsync_v2(numOps: int, opList: Pointer, flags: int, hStream: int) -> None:
    in_stream = _batch_stream(hStream)
    _without_flags(flags)
    _boxes(_items(opList, numOps, "opList"), in_stream)


@provides("driver")
def cuMemcpy3DBatchAsync(numOps: int, opList: Pointer, failIdx: Pointer, flags: int, hStream: int) -> None:
    if failIdx:
        failIdx[0] = NO_INDEX
    in_stream = _batch_stream(hStream)
    _without_flags(flags)
    _boxes(_items(opList, numOps, "opList"), in_stream, failIdx)


@provides("driver")
def cuMemcpy3DWithAttributesAsync(op: Pointer, flags: int, hStream: int) -> None:
    in_stream = stream(hStream)
    _without_flags(flags)
    _boxes([needed(op, "op")], in_stream)


# -- Managed memory ----------------------------------------------------------------------------------------


def _batch_location(location: Any) -> tuple[int, int]:
    """The type of a location and its number. Raises Refused."""
    if int(location.type) == AT_DEVICE:
        _device(location.id)
    return location_of(location)


@provides("driver")
def cuMemPrefetchBatchAsync(
    dptrs: Pointer,
    sizes: Pointer,
    count: int,
    prefetchLocs: Pointer,
    prefetchLocIdxs: Pointer,
    numPrefetchLocs: int,
    flags: int,
    hStream: int,
) -> None:
    in_stream = _batch_stream(hStream)
    _without_flags(flags)
    locations = _entries(prefetchLocs, prefetchLocIdxs, numPrefetchLocs, count, "locations", may_repeat=True)
    places = [_batch_location(location) for location in locations]
    for each in zip(_items(dptrs, count, "dptrs"), _items(sizes, count, "sizes"), places, strict=True):
        prefetch(*each, in_stream)


@provides("driver")
def cuMemDiscardBatchAsync(dptrs: Pointer, sizes: Pointer, count: int, flags: int, hStream: int) -> None:
    in_stream = _batch_stream(hStream)
    _without_flags(flags)
    for address, size in zip(_items(dptrs, count, "dptrs"), _items(sizes, count, "sizes"), strict=True):
        managed_range(address, size)
    # A read of what was discarded may give anything: here what was there before.
    in_stream.add_uncapturable(None, "a batch of discards", soon=True)


@provides("driver")
def cuMemDiscardAndPrefetchBatchAsync(
    dptrs: Pointer,
    sizes: Pointer,
    count: int,
    prefetchLocs: Pointer,
    prefetchLocIdxs: Pointer,
    numPrefetchLocs: int,
    flags: int,
    hStream: int,
) -> None:
    cuMemPrefetchBatchAsync(  # a discard changes nothing here
        dptrs, sizes, count, prefetchLocs, prefetchLocIdxs, numPrefetchLocs, flags, hStream
    )
