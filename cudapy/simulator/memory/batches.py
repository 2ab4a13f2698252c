"""Many copies in one call."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ..._types.driver.enums import CUmemcpy3DOperandType
from ..addresses import Pointer
from ..library import provides
from ..refused import invalid
from ..streams.stream import Stream, stream
from .copies import ARRAY, UNIFIED, Copy, Side, line


def _add(copies: list[Copy], stream: Stream) -> None:
    for copy in copies:
        copy.check_access()
    for copy in copies:
        stream.add(copy)


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
    in_stream = stream(hStream)
    if in_stream.is_legacy:
        raise invalid("a batch is not for the legacy default stream")
    if not numAttrs or numAttrs > count or attrsIdxs[0]:
        raise invalid("the attributes of a batch begin at its first copy")
    _add([line(dsts[i], UNIFIED, srcs[i], UNIFIED, sizes[i]) for i in range(count)], in_stream)


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
        failIdx[0] = 2**64 - 1  # as documented for an error that is not of one copy
    cuMemcpyBatchAsync_v2(dsts, srcs, sizes, count, attrs, attrsIdxs, numAttrs, hStream)


def _operand(operand: Any, extent: Any) -> tuple[Side, int]:
    """One side of a copy in a batch, and the bytes of an element there."""
    if operand.type == CUmemcpy3DOperandType.CU_MEMCPY_OPERAND_TYPE_POINTER:
        place = operand.op.ptr
        return Side(
            UNIFIED, int(place.ptr), place.rowLength or extent.width, place.layerHeight or extent.height
        ), 1
    from ..textures.array import find_array

    array, offset = operand.op.array.array, operand.op.array.offset
    size = find_array(int(array)).element_size
    return Side(ARRAY, int(array), 0, 0, offset.x * size, offset.y, offset.z), size


def _box(op: Any) -> Copy:
    (dst, size), (src, other) = _operand(op.dst, op.extent), _operand(op.src, op.extent)
    size = max(size, other)  # widths count elements where there is an array
    dst, src = (
        replace(side, pitch=side.pitch * size) if side.kind == UNIFIED else side for side in (dst, src)
    )
    return Copy(dst, src, op.extent.width * size, op.extent.height or 1, op.extent.depth or 1)


@provides("driver")
def cuMemcpy3DBatchAsync_v2(numOps: int, opList: Pointer, flags: int, hStream: int) -> None:
    in_stream = stream(hStream)
    if flags or in_stream.is_legacy:
        raise invalid("flags must be 0, and a batch is not for the legacy default stream")
    _add([_box(opList[i]) for i in range(numOps)], in_stream)


@provides("driver")
def cuMemcpy3DBatchAsync(numOps: int, opList: Pointer, failIdx: Pointer, flags: int, hStream: int) -> None:
    cuMemcpy3DBatchAsync_v2(numOps, opList, flags, hStream)
