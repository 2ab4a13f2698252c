"""The Runtime API's memory: copies that say their direction, fills, pitched memory, pointers."""

from typing import Any

from ..._types.driver.enums import CUmemorytype
from ..._types.runtime.enums import cudaMemcpyKind
from ..._types.runtime.structs import cudaPitchedPtr, cudaPointerAttributes
from ..addresses import Pointer
from ..devices.context import current
from ..devices.primary import retained
from ..library import provides
from ..memory import allocations as memory
from ..memory.copies import ARRAY, DEVICE, HOST, UNIFIED, Copy, Side, later, now
from ..memory.shared_pool import cuMemPoolExportToShareableHandle
from ..refused import Refused, invalid
from ..streams.operations import needed
from .registered import variable

KINDS = {
    int(cudaMemcpyKind.cudaMemcpyHostToHost): (HOST, HOST),
    int(cudaMemcpyKind.cudaMemcpyHostToDevice): (DEVICE, HOST),
    int(cudaMemcpyKind.cudaMemcpyDeviceToHost): (HOST, DEVICE),
    int(cudaMemcpyKind.cudaMemcpyDeviceToDevice): (DEVICE, DEVICE),
    int(cudaMemcpyKind.cudaMemcpyDefault): (UNIFIED, UNIFIED),
}
"""The kinds of memory that a copy goes to and comes from."""


def kinds(kind: int) -> tuple[int, int]:
    """The kinds of memory on both sides. Raises Refused."""
    if kind not in KINDS:
        raise Refused("cudaErrorInvalidMemcpyDirection", f"{kind} is not a cudaMemcpyKind")
    return KINDS[kind]


def line(dst: int | None, src: int | None, count: int, kind: int) -> Copy:
    """A copy of `count` bytes."""
    to, from_ = kinds(kind)
    return Copy(Side(to, dst or 0), Side(from_, src or 0), count)


@provides("runtime")
def cudaMemcpy(dst: int | None, src: int | None, count: int, kind: int) -> None:
    now(line(dst, src, count, kind))


@provides("runtime")
def cudaMemcpyAsync(dst: int | None, src: int | None, count: int, kind: int, stream: int) -> None:
    later(line(dst, src, count, kind), stream)


@provides("runtime")
def cudaMemcpyPeer(dst: int | None, dstDevice: int, src: int | None, srcDevice: int, count: int) -> None:
    retained(dstDevice), retained(srcDevice)
    now(Copy(Side(DEVICE, dst or 0), Side(DEVICE, src or 0), count))


@provides("runtime")
def cudaMemcpyPeerAsync(
    dst: int | None, dstDevice: int, src: int | None, srcDevice: int, count: int, stream: int
) -> None:
    retained(dstDevice), retained(srcDevice)
    later(Copy(Side(DEVICE, dst or 0), Side(DEVICE, src or 0), count), stream)


# -- Two dimensions ----------------------------------------------------------------------------------------


def _plane(
    dst: int | None, dpitch: int, src: int | None, spitch: int, width: int, height: int, kind: int
) -> Copy:
    to, from_ = kinds(kind)
    if max(width, 1) > min(dpitch, spitch):
        raise Refused("CUDA_ERROR_INVALID_VALUE", f"a pitch is less than the width of {width} bytes")
    return Copy(Side(to, dst or 0, dpitch, height), Side(from_, src or 0, spitch, height), width, height)


@provides("runtime")
def cudaMemcpy2D(
    dst: int | None, dpitch: int, src: int | None, spitch: int, width: int, height: int, kind: int
) -> None:
    now(_plane(dst, dpitch, src, spitch, width, height, kind))


@provides("runtime")
def cudaMemcpy2DAsync(
    dst: int | None,
    dpitch: int,
    src: int | None,
    spitch: int,
    width: int,
    height: int,
    kind: int,
    stream: int,
) -> None:
    later(_plane(dst, dpitch, src, spitch, width, height, kind), stream)


def _to_array(
    dst: int, x: int, y: int, src: int | None, spitch: int, width: int, height: int, kind: int
) -> Copy:
    return Copy(Side(ARRAY, dst, x=x, y=y), Side(kinds(kind)[1], src or 0, spitch, height), width, height)


def _from_array(
    dst: int | None, dpitch: int, src: int, x: int, y: int, width: int, height: int, kind: int
) -> Copy:
    return Copy(Side(kinds(kind)[0], dst or 0, dpitch, height), Side(ARRAY, src, x=x, y=y), width, height)


@provides("runtime")
def cudaMemcpy2DToArray(
    dst: int, wOffset: int, hOffset: int, src: int | None, spitch: int, width: int, height: int, kind: int
) -> None:
    now(_to_array(dst, wOffset, hOffset, src, spitch, width, height, kind))


@provides("runtime")
def cudaMemcpy2DToArrayAsync(
    dst: int,
    wOffset: int,
    hOffset: int,
    src: int | None,
    spitch: int,
    width: int,
    height: int,
    kind: int,
    stream: int,
) -> None:
    later(_to_array(dst, wOffset, hOffset, src, spitch, width, height, kind), stream)


@provides("runtime")
def cudaMemcpy2DFromArray(
    dst: int | None, dpitch: int, src: int, wOffset: int, hOffset: int, width: int, height: int, kind: int
) -> None:
    now(_from_array(dst, dpitch, src, wOffset, hOffset, width, height, kind))


@provides("runtime")
def cudaMemcpy2DFromArrayAsync(
    dst: int | None,
    dpitch: int,
    src: int,
    wOffset: int,
    hOffset: int,
    width: int,
    height: int,
    kind: int,
    stream: int,
) -> None:
    later(_from_array(dst, dpitch, src, wOffset, hOffset, width, height, kind), stream)


@provides("runtime")
def cudaMemcpy2DArrayToArray(
    dst: int,
    wOffsetDst: int,
    hOffsetDst: int,
    src: int,
    wOffsetSrc: int,
    hOffsetSrc: int,
    width: int,
    height: int,
    kind: int,
) -> None:
    kinds(kind)
    now(
        Copy(
            Side(ARRAY, dst, x=wOffsetDst, y=hOffsetDst),
            Side(ARRAY, src, x=wOffsetSrc, y=hOffsetSrc),
            width,
            height,
        )
    )


def _part(dst: Side, src: Side, count: int) -> Copy:
    """Bytes of an array, row after row: its memory has no gaps."""
    return Copy(dst, src, count)


@provides("runtime")
def cudaMemcpyToArray(dst: int, wOffset: int, hOffset: int, src: int | None, count: int, kind: int) -> None:
    now(_part(Side(ARRAY, dst, x=wOffset, y=hOffset), Side(kinds(kind)[1], src or 0), count))


@provides("runtime")
def cudaMemcpyFromArray(dst: int | None, src: int, wOffset: int, hOffset: int, count: int, kind: int) -> None:
    now(_part(Side(kinds(kind)[0], dst or 0), Side(ARRAY, src, x=wOffset, y=hOffset), count))


@provides("runtime")
def cudaMemcpyArrayToArray(
    dst: int,
    wOffsetDst: int,
    hOffsetDst: int,
    src: int,
    wOffsetSrc: int,
    hOffsetSrc: int,
    count: int,
    kind: int,
) -> None:
    kinds(kind)
    there, from_ = Side(ARRAY, dst, x=wOffsetDst, y=hOffsetDst), Side(ARRAY, src, x=wOffsetSrc, y=hOffsetSrc)
    now(_part(there, from_, count))


# -- Three dimensions --------------------------------------------------------------------------------------


def box(params: Any, kind: int | None = None) -> Copy:
    """The copy that a cudaMemcpy3DParms or cudaMemcpy3DPeerParms describes; arrays count their elements."""
    from ..textures.array import find_array

    to, from_ = kinds(int(params.kind)) if kind is None else (kind, kind)
    sides, sizes = [], []
    for prefix, memory_kind in (("dst", to), ("src", from_)):
        handle = int(getattr(params, prefix + "Array"))
        place, pointer = getattr(params, prefix + "Pos"), getattr(params, prefix + "Ptr")
        if bool(handle) == bool(pointer.ptr):
            raise invalid(f"{prefix}Array or {prefix}Ptr is to be given, and not both")
        if handle:
            size = find_array(handle).element_size
            sides.append(Side(ARRAY, handle, x=place.x * size, y=place.y, z=place.z))
            sizes.append(size)
        else:
            sides.append(
                Side(memory_kind, pointer.ptr, pointer.pitch, pointer.ysize, place.x, place.y, place.z)
            )
    extent = params.extent
    return Copy(sides[0], sides[1], extent.width * max(sizes, default=1), extent.height, extent.depth)


@provides("runtime")
def cudaMemcpy3D(p: Pointer) -> None:
    now(box(needed(p, "p")))


@provides("runtime")
def cudaMemcpy3DAsync(p: Pointer, stream: int) -> None:
    later(box(needed(p, "p")), stream)


@provides("runtime")
def cudaMemcpy3DPeer(p: Pointer) -> None:
    now(box(needed(p, "p"), DEVICE))


@provides("runtime")
def cudaMemcpy3DPeerAsync(p: Pointer, stream: int) -> None:
    later(box(needed(p, "p"), DEVICE), stream)


# -- Allocation, pointers ----------------------------------------------------------------------------------


@provides("runtime")
def cudaMalloc(size: int) -> int:
    return memory.cuMemAlloc_v2(size) if size else 0


@provides("runtime")
def cudaMallocPitch(width: int, height: int) -> tuple[int, int]:
    return memory.cuMemAllocPitch_v2(width, height, 4)


@provides("runtime")
def cudaMalloc3D(extent: Any) -> cudaPitchedPtr:
    pointer, pitch = memory.cuMemAllocPitch_v2(extent.width, extent.height * extent.depth, 4)
    return cudaPitchedPtr(ptr=pointer, pitch=pitch, xsize=extent.width, ysize=extent.height)


@provides("runtime")
def cudaPointerGetAttributes(ptr: int | None) -> cudaPointerAttributes:
    current()
    block = memory.blocks.find(ptr or 0)
    if block is None:
        return cudaPointerAttributes(type=0, device=-2, hostPointer=ptr or 0)
    kind = 3 if block.is_managed else CUmemorytype.CU_MEMORYTYPE_HOST if block.is_host else 2
    both = kind != 2
    return cudaPointerAttributes(
        type=int(kind),
        device=block.device.ordinal,
        devicePointer=ptr or 0,
        hostPointer=(ptr or 0) if both else 0,
    )


@provides("runtime")
def cudaMemPoolExportToShareableHandle(
    shareableHandle: int | None, memPool: int, handleType: int, flags: int
) -> None:
    cuMemPoolExportToShareableHandle(shareableHandle, memPool, handleType, flags)


@provides("runtime")
def cudaGetSymbolAddress(symbol: int | None) -> int:
    return variable(symbol)[0]


@provides("runtime")
def cudaGetSymbolSize(symbol: int | None) -> int:
    return variable(symbol)[1]


def _piece(symbol: int | None, count: int, offset: int) -> int:
    """Where `count` bytes of a variable begin. Raises Refused."""
    address, size = variable(symbol)
    if offset + count > size:
        raise invalid(f"{count} bytes from byte {offset} are not in the {size} bytes of the variable")
    return address + offset


@provides("runtime")
def cudaMemcpyToSymbol(symbol: int | None, src: int | None, count: int, offset: int, kind: int) -> None:
    cudaMemcpy(_piece(symbol, count, offset), src, count, kind)


@provides("runtime")
def cudaMemcpyFromSymbol(dst: int | None, symbol: int | None, count: int, offset: int, kind: int) -> None:
    cudaMemcpy(dst, _piece(symbol, count, offset), count, kind)


@provides("runtime")
def cudaMemcpyToSymbolAsync(
    symbol: int | None, src: int | None, count: int, offset: int, kind: int, stream: int
) -> None:
    cudaMemcpyAsync(_piece(symbol, count, offset), src, count, kind, stream)


@provides("runtime")
def cudaMemcpyFromSymbolAsync(
    dst: int | None, symbol: int | None, count: int, offset: int, kind: int, stream: int
) -> None:
    cudaMemcpyAsync(dst, _piece(symbol, count, offset), count, kind, stream)
