"""Copies in one, two and three dimensions, at once and queued."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._types.driver.enums import CUgraphNodeType as Type
from ..._types.driver.enums import CUmemorytype
from ..._types.driver.structs import CUDA_MEMCPY3D
from ..addresses import Pointer, require
from ..devices.context import current, get
from ..library import provides
from ..refused import invalid
from ..streams.capturing import forbid
from ..streams.faults import may_wait
from ..streams.operations import Operation, needed
from ..streams.order import may_race
from ..streams.stream import Stream, stream
from .allocations import Block, blocks, check_range, table
from .stream_races import copied

if TYPE_CHECKING:
    from ..._types.driver.structs import CUDA_MEMCPY2D, CUDA_MEMCPY3D, CUDA_MEMCPY3D_PEER
    from ..engine import U8


HOST, DEVICE, ARRAY, UNIFIED = (int(member) for member in CUmemorytype)


@dataclass(frozen=True)
class Side:
    """Where a copy begins on one side: memory of a kind, an address or an array, and a place in it."""

    kind: int
    address: int = 0  # or the handle of an array
    pitch: int = 0  # bytes from row to row
    height: int = 0  # rows from layer to layer
    x: int = 0  # bytes
    y: int = 0
    z: int = 0
    level: int = 0

    def resolved(self) -> Side:
        """The same as plain memory."""
        if self.kind != ARRAY:
            return self
        from ..textures.array import find_array

        array = find_array(self.address)
        if array.level:
            raise invalid("a copy takes an array, or a level of a mipmapped array, not all of its levels")
        return Side(DEVICE, array.address, array.pitch, array.rows, self.x, self.y, self.z)

    def check_array(self, width: int, height: int, depth: int) -> None:
        """Raise Refused for an array in which a box of that many bytes, rows and layers does not lie."""
        if self.kind != ARRAY:
            return
        from ..textures.array import find_array

        array = find_array(self.address)
        ends = (self.x + width, self.y + height, self.z + depth)
        if any(end > most for end, most in zip(ends, (array.pitch, array.rows, array.layers), strict=True)):
            raise invalid(
                f"a box up to byte {ends[0]}, row {ends[1]} and layer {ends[2]} is not in an array of"
                f" {array.pitch} bytes, {array.rows} rows and {array.layers} layers"
            )

    @property
    def start(self) -> int:
        """The address of the first byte."""
        return self.address + (self.z * self.height + self.y) * self.pitch + self.x


def bytes_at(address: int, size: int) -> U8:
    """Memory as a NumPy array of bytes."""
    place: Any = (ctypes.c_uint8 * size).from_address(address)
    return np.frombuffer(place, np.uint8)


class Copy(Operation):
    """A copy of `depth` layers of `height` rows of `width` bytes."""

    type = Type.CU_GRAPH_NODE_TYPE_MEMCPY

    def __init__(self, dst: Side, src: Side, width: int, height: int = 1, depth: int = 1) -> None:
        self.dst = dst
        self.src = src
        self.width = width
        self.height = height
        self.depth = depth
        self._pooled: list[tuple[Block, Any]] = []  # memory that not every device reaches, and which do
        self.check()

    def check(self) -> None:
        """Raise Refused if it leaves the memory that there is."""
        if not (self.width and self.height and self.depth):
            return
        for side in (self.dst, self.src):
            plain = side.resolved()
            if self.height * self.depth > 1 and plain.pitch < self.width:
                raise invalid(f"a pitch of {plain.pitch} bytes is less than the width of {self.width}")
            if self.depth > 1 and plain.height < self.height:
                raise invalid(f"layers of {plain.height} rows have no {self.height} rows")
            if plain.kind == DEVICE or (plain.kind == UNIFIED and blocks.find(plain.start) is not None):
                block = check_range(plain.start, self._extent(plain))
                reach = None if block.pool is None else block.pool.reach()
                if reach is not None:
                    self._pooled.append((block, reach))
            else:
                require(plain.start, self._extent(plain), "the host's side of a copy")

    def check_access(self) -> None:
        """Raise Refused if the pool of its memory gives the current device no access, in any stream."""
        for block, reach in self._pooled:
            if not reach(context := current()):
                place = f"{block.size} bytes at {block.address:#x}"
                raise invalid(f"the pool of the {place} gives device {context.device.ordinal} no access")

    def _extent(self, side: Side) -> int:
        """The bytes from the first to the last."""
        return ((self.depth - 1) * side.height + self.height - 1) * side.pitch + self.width

    def run(self) -> None:
        if not (self.width and self.height and self.depth):
            return
        dst, src = self.dst.resolved(), self.src.resolved()
        if self.height * self.depth == 1:
            ctypes.memmove(dst.start, src.start, self.width)
        else:
            target, source = self._view(dst), self._view(src)
            np.copyto(target, source)
        if may_race():
            copied(self._rows(src), self._rows(dst), self.width)
        if blocks.find(dst.start) is not None:
            for z in range(self.depth):
                for y in range(self.height):
                    row, other = ((z * side.height + y) * side.pitch for side in (dst, src))
                    table.copied(dst.start + row, src.start + other, self.width)

    def _rows(self, side: Side) -> list[int]:
        """The addresses of its rows on one side."""
        places = ((z * side.height + y) * side.pitch for z in range(self.depth) for y in range(self.height))
        return [side.start + place for place in places]

    def _view(self, side: Side) -> U8:
        data = bytes_at(side.start, self._extent(side))
        return np.lib.stride_tricks.as_strided(
            data, (self.depth, self.height, self.width), (side.height * side.pitch, side.pitch, 1)
        )

    def details(self) -> list[str]:
        sides = f"{self.src.address:#x} to {self.dst.address:#x}"
        return [sides, f"{self.width} x {self.height} x {self.depth} bytes"]

    def snapshot(self) -> Copy:
        """The same from what its source holds now."""
        if not (self.width and self.height and self.depth):
            return self
        src = self.src.resolved()
        size = self._extent(src)
        data = bytes_at(src.start, size).copy()
        side = Side(HOST, int(data.ctypes.data), src.pitch, src.height)
        copy = Copy(self.dst, side, self.width, self.height, self.depth)
        copy.keep = data  # type: ignore[attr-defined]
        return copy

    def params(self) -> CUDA_MEMCPY3D:
        """As a graph's node has it."""
        params = CUDA_MEMCPY3D(WidthInBytes=self.width, Height=self.height, Depth=self.depth)
        for prefix, side in (("src", self.src), ("dst", self.dst)):
            setattr(params, prefix + "MemoryType", side.kind)
            field = {HOST: "Host", ARRAY: "Array"}.get(side.kind, "Device")
            setattr(params, prefix + field, side.address)
            for name, value in (
                ("XInBytes", side.x),
                ("Y", side.y),
                ("Z", side.z),
                ("LOD", side.level),
                ("Pitch", side.pitch),
                ("Height", side.height),
            ):
                setattr(params, prefix + name, value)
        return params


def is_pageable(side: Side) -> bool:
    """Whether it is memory of the program that CUDA knows nothing of."""
    return side.kind in (HOST, UNIFIED) and blocks.find(side.start) is None


def is_host(side: Side) -> bool:
    """Whether it is memory of the host, page-locked or not."""
    if side.kind == ARRAY:
        return False
    block = blocks.find(side.start)
    return block is None or block.is_host


def boxed(params: CUDA_MEMCPY2D | CUDA_MEMCPY3D | CUDA_MEMCPY3D_PEER) -> Copy:
    """The copy that a CUDA_MEMCPY2D, CUDA_MEMCPY3D or CUDA_MEMCPY3D_PEER describes."""
    is_flat = not hasattr(params, "Depth")
    sides = []
    for prefix in ("dst", "src"):
        kind = int(getattr(params, prefix + "MemoryType"))
        if kind not in (HOST, DEVICE, ARRAY, UNIFIED):
            raise invalid(f"{kind} is not a CUmemorytype")
        field = {HOST: "Host", ARRAY: "Array"}.get(kind, "Device")
        sides.append(
            Side(
                kind,
                int(getattr(params, prefix + field)),
                getattr(params, prefix + "Pitch") or params.WidthInBytes,
                params.Height if is_flat else getattr(params, prefix + "Height") or params.Height,
                getattr(params, prefix + "XInBytes"),
                getattr(params, prefix + "Y"),
                0 if is_flat else getattr(params, prefix + "Z"),
                0 if is_flat else getattr(params, prefix + "LOD"),
            )
        )
    return Copy(sides[0], sides[1], params.WidthInBytes, params.Height, getattr(params, "Depth", 1))


# -- One dimension, at once --------------------------------------------------------------------------------


def now(operation: Operation, in_stream: Stream | None = None, is_safe: bool = False) -> None:
    """Do it in the legacy default stream, and wait; what is safe spoils no capture of other streams."""
    may_wait()
    in_stream = in_stream or stream(0)
    if in_stream.capture is not None:
        in_stream.check()
    if not is_safe:
        forbid()
    if isinstance(operation, Copy):
        operation.check_access()
    work = in_stream.add(operation)
    if work is not None:
        work.wait()
    in_stream.context.check()


def later(operation: Operation, hStream: int) -> None:
    """Queue it. What is pageable is read before the call ends, and written before it ends."""
    in_stream = stream(hStream)
    if isinstance(operation, Copy):
        operation.check_access()
        queue(operation, in_stream, is_pageable(operation.src), is_pageable(operation.dst))
    else:
        in_stream.add(operation)


def queue(copy: Copy, in_stream: Stream, is_read_now: bool, waits: bool) -> None:
    """Queue it, or make it a node of the stream's capture.

    is_read_now: what the source holds now is copied.
    waits: the call ends once it is done.
    """
    waits = waits and in_stream.capture is None
    if waits:
        may_wait()
    work = in_stream.add(copy, copy.snapshot if is_read_now else None)
    if waits and work is not None:
        work.wait()
        in_stream.context.check()


def line(dst: int, dst_kind: int, src: int, src_kind: int, size: int) -> Copy:
    return Copy(Side(dst_kind, dst), Side(src_kind, src), size)


@provides("driver")
def cuMemcpy(dst: int, src: int, ByteCount: int) -> None:
    now(line(dst, UNIFIED, src, UNIFIED, ByteCount))


@provides("driver")
def cuMemcpyHtoD_v2(dstDevice: int, srcHost: int | None, ByteCount: int) -> None:
    now(line(dstDevice, DEVICE, srcHost or 0, HOST, ByteCount), is_safe=True)


@provides("driver")
def cuMemcpyDtoH_v2(dstHost: int | None, srcDevice: int, ByteCount: int) -> None:
    now(line(dstHost or 0, HOST, srcDevice, DEVICE, ByteCount))


@provides("driver")
def cuMemcpyDtoD_v2(dstDevice: int, srcDevice: int, ByteCount: int) -> None:
    now(line(dstDevice, DEVICE, srcDevice, DEVICE, ByteCount))


@provides("driver")
def cuMemcpyPeer(dstDevice: int, dstContext: int, srcDevice: int, srcContext: int, ByteCount: int) -> None:
    get(dstContext), get(srcContext)
    now(line(dstDevice, DEVICE, srcDevice, DEVICE, ByteCount))


def _along(array: int, offset: int) -> Side:
    return Side(ARRAY, array, x=offset)


@provides("driver")
def cuMemcpyDtoA_v2(dstArray: int, dstOffset: int, srcDevice: int, ByteCount: int) -> None:
    now(Copy(_along(dstArray, dstOffset), Side(DEVICE, srcDevice), ByteCount))


@provides("driver")
def cuMemcpyAtoD_v2(dstDevice: int, srcArray: int, srcOffset: int, ByteCount: int) -> None:
    now(Copy(Side(DEVICE, dstDevice), _along(srcArray, srcOffset), ByteCount))


@provides("driver")
def cuMemcpyHtoA_v2(dstArray: int, dstOffset: int, srcHost: int | None, ByteCount: int) -> None:
    now(Copy(_along(dstArray, dstOffset), Side(HOST, srcHost or 0), ByteCount))


@provides("driver")
def cuMemcpyAtoH_v2(dstHost: int | None, srcArray: int, srcOffset: int, ByteCount: int) -> None:
    now(Copy(Side(HOST, dstHost or 0), _along(srcArray, srcOffset), ByteCount))


@provides("driver")
def cuMemcpyAtoA_v2(dstArray: int, dstOffset: int, srcArray: int, srcOffset: int, ByteCount: int) -> None:
    now(Copy(_along(dstArray, dstOffset), _along(srcArray, srcOffset), ByteCount))


# -- Boxes -------------------------------------------------------------------------------------------------


@provides("driver", "cuMemcpy2D_v2", "cuMemcpy2DUnaligned_v2", "cuMemcpy3D_v2", "cuMemcpy3DPeer")
def cuMemcpy3D_v2(pCopy: Pointer) -> None:
    current()
    now(boxed(needed(pCopy, "pCopy")))


@provides("driver", "cuMemcpy2DAsync_v2", "cuMemcpy3DAsync_v2", "cuMemcpy3DPeerAsync")
def cuMemcpy3DAsync_v2(pCopy: Pointer, hStream: int) -> None:
    later(boxed(needed(pCopy, "pCopy")), hStream)


# -- One dimension, queued ---------------------------------------------------------------------------------


@provides("driver")
def cuMemcpyAsync(dst: int, src: int, ByteCount: int, hStream: int) -> None:
    later(line(dst, UNIFIED, src, UNIFIED, ByteCount), hStream)


@provides("driver")
def cuMemcpyHtoDAsync_v2(dstDevice: int, srcHost: int | None, ByteCount: int, hStream: int) -> None:
    later(line(dstDevice, DEVICE, srcHost or 0, HOST, ByteCount), hStream)


@provides("driver")
def cuMemcpyDtoHAsync_v2(dstHost: int | None, srcDevice: int, ByteCount: int, hStream: int) -> None:
    later(line(dstHost or 0, HOST, srcDevice, DEVICE, ByteCount), hStream)


@provides("driver")
def cuMemcpyDtoDAsync_v2(dstDevice: int, srcDevice: int, ByteCount: int, hStream: int) -> None:
    later(line(dstDevice, DEVICE, srcDevice, DEVICE, ByteCount), hStream)


@provides("driver")
def cuMemcpyPeerAsync(
    dstDevice: int, dstContext: int, srcDevice: int, srcContext: int, ByteCount: int, hStream: int
) -> None:
    get(dstContext), get(srcContext)
    later(line(dstDevice, DEVICE, srcDevice, DEVICE, ByteCount), hStream)


@provides("driver")
def cuMemcpyHtoAAsync_v2(
    dstArray: int, dstOffset: int, srcHost: int | None, ByteCount: int, hStream: int
) -> None:
    later(Copy(_along(dstArray, dstOffset), Side(HOST, srcHost or 0), ByteCount), hStream)


@provides("driver")
def cuMemcpyAtoHAsync_v2(
    dstHost: int | None, srcArray: int, srcOffset: int, ByteCount: int, hStream: int
) -> None:
    later(Copy(Side(HOST, dstHost or 0), _along(srcArray, srcOffset), ByteCount), hStream)
