"""What the driver knows of an address, and what a program advises it to do with managed memory."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

from ..._ffi.results import storage
from ..._types.driver import structs
from ..._types.driver.attributes import POINTER_ATTRIBUTES
from ..._types.driver.enums import CUmem_advise, CUmemAllocationHandleType, CUmemLocationType, CUmemorytype
from ..._types.driver.enums import CUmem_range_attribute as RangeAttribute
from ..._types.driver.enums import CUpointer_attribute as Attribute
from ..addresses import Pointer, require
from ..devices.context import current, top
from ..devices.device import device
from ..library import provides
from ..refused import Refused, invalid
from ..streams.stream import stream
from .allocations import Block, blocks
from .pages import IS_SUPPORTED

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..._types.driver.structs import CUmemLocation


FILE = int(CUmemAllocationHandleType.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
CPU, NOWHERE = -1, -2  # CU_DEVICE_CPU, CU_DEVICE_INVALID
READ_WRITE = 3  # CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE
INVALID, AT_DEVICE, AT_HOST = (
    int(CUmemLocationType.CU_MEM_LOCATION_TYPE_INVALID),
    int(CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE),
    int(CUmemLocationType.CU_MEM_LOCATION_TYPE_HOST),
)
UNKNOWN = {Attribute.CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: NOWHERE}
"""What is told of memory that is none of CUDA's, where it is not 0."""


def attribute(block: Block, name: Attribute, address: int) -> int:
    """What is known of an address in a block. Raises Refused."""
    memory_type = CUmemorytype.CU_MEMORYTYPE_HOST if block.is_host else CUmemorytype.CU_MEMORYTYPE_DEVICE
    values = {
        Attribute.CU_POINTER_ATTRIBUTE_CONTEXT: 0 if block.pool is not None else block.context.handle,
        Attribute.CU_POINTER_ATTRIBUTE_MEMORY_TYPE: int(memory_type),
        Attribute.CU_POINTER_ATTRIBUTE_DEVICE_POINTER: address,
        Attribute.CU_POINTER_ATTRIBUTE_SYNC_MEMOPS: int(block.is_synchronous),
        Attribute.CU_POINTER_ATTRIBUTE_BUFFER_ID: block.id,
        Attribute.CU_POINTER_ATTRIBUTE_IS_MANAGED: int(block.is_managed),
        Attribute.CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: block.device.ordinal,
        Attribute.CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE: int(
            IS_SUPPORTED and block.kind == "device" and block.pool is None
        ),
        Attribute.CU_POINTER_ATTRIBUTE_RANGE_START_ADDR: block.address,
        Attribute.CU_POINTER_ATTRIBUTE_RANGE_SIZE: block.size,
        Attribute.CU_POINTER_ATTRIBUTE_MAPPED: 1,
        Attribute.CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES: _handle_types(block),
        Attribute.CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE: 0,
        Attribute.CU_POINTER_ATTRIBUTE_ACCESS_FLAGS: READ_WRITE,
        Attribute.CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE: block.pool.handle if block.pool is not None else 0,
        Attribute.CU_POINTER_ATTRIBUTE_MAPPING_SIZE: block.size,
        Attribute.CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR: block.address,
        Attribute.CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID: block.id,
        Attribute.CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE: 0,
    }
    if block.is_host or block.is_managed:
        values[Attribute.CU_POINTER_ATTRIBUTE_HOST_POINTER] = address
    if name not in values:
        raise invalid(f"{block.kind} memory has no {name.name}")
    return values[name]


def _handle_types(block: Block) -> int:
    """The types of handles by which other processes open the memory."""
    if block.kind in ("mapped", "multicast"):
        return int(block.extra.handle_types)
    return FILE if getattr(block.pool, "file", None) is not None else 0


def _write(place: int | None, name: Attribute, value: int) -> None:
    cls = POINTER_ATTRIBUTES.get(name)
    if cls is None:
        raise invalid(f"{int(name)} is no attribute of a pointer here")
    if isinstance(cls, str):
        cls = getattr(structs, cls)
    value_class: Any = ctypes.c_bool if cls is bool else storage(cls)
    target = value_class.from_address(
        require(place, ctypes.sizeof(value_class), "the place for an attribute")
    )
    if hasattr(target, "value"):
        target.value = value
    else:  # a struct, of which nothing is known
        ctypes.memset(ctypes.addressof(target), 0, ctypes.sizeof(value_class))


@provides("driver")
def cuPointerGetAttribute(data: int | None, attribute: int, ptr: int) -> None:
    from .pointer import attribute as get

    if top() is not None:
        current()
    block = blocks.find(ptr)
    if block is None or _is_to_come(block) or not data:
        raise invalid(f"{ptr:#x} lies in no memory that was allocated or registered")
    name = Attribute(attribute)
    _write(data, name, get(block, name, ptr))


def _is_to_come(block: Block) -> bool:
    """Whether it is memory of a graph that no launch has allocated, or that was freed since."""
    from .pool_memory import graph_memory

    memory = graph_memory.get(block.address)
    return memory is not None and not memory.is_live


@provides("driver")
def cuPointerGetAttributes(numAttributes: int, attributes: Pointer, data: Pointer, ptr: int) -> None:
    block = blocks.find(ptr)
    for i in range(numAttributes):
        name = Attribute(attributes[i])
        try:
            value = UNKNOWN.get(name, 0) if block is None else attribute(block, name, ptr)
        except Refused:
            value = 0
        _write(data[i], name, value)


@provides("driver")
def cuPointerSetAttribute(value: int | None, attribute: int, ptr: int) -> None:
    block = blocks.find(ptr)
    if block is None or not value or attribute != Attribute.CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
        raise invalid(
            "CU_POINTER_ATTRIBUTE_SYNC_MEMOPS of memory that was allocated can be set, and no other"
        )
    block.is_synchronous = bool(ctypes.c_uint32.from_address(value).value)


# -- Managed memory ----------------------------------------------------------------------------------------


def _managed(pointer: int, count: int) -> Block:
    current()
    block = blocks.find(pointer)
    if block is None or not block.is_managed or not count or pointer + count > block.end:
        raise invalid(f"{count} bytes from {pointer:#x} are no managed memory")
    return block


def _place(location: CUmemLocation) -> tuple[int, int]:
    """The type of a location and its number."""
    kind = int(location.type)
    if kind == AT_DEVICE:
        return kind, device(location.id).ordinal
    if kind in (AT_HOST, 3, 4):  # one of the host, of a node of it, of the current one
        return kind, location.id if kind == 3 else 0
    raise invalid(f"{kind} is no CUmemLocationType for managed memory")


def _ordinal(place: int) -> tuple[int, int]:
    """The same for a device number as CUDA 12 has it."""
    return (AT_HOST, 0) if place == CPU else (AT_DEVICE, device(place).ordinal)


def _advise(devPtr: int, count: int, advice: int, place: Callable[[], tuple[int, int]]) -> None:
    block = _managed(devPtr, count)
    known = block.advice
    if advice == CUmem_advise.CU_MEM_ADVISE_SET_READ_MOSTLY:
        known["read mostly"] = True
    elif advice == CUmem_advise.CU_MEM_ADVISE_UNSET_READ_MOSTLY:
        known["read mostly"] = False
    elif advice == CUmem_advise.CU_MEM_ADVISE_SET_PREFERRED_LOCATION:
        known["preferred"] = place()
    elif advice == CUmem_advise.CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION:
        known.pop("preferred", None)
    elif advice == CUmem_advise.CU_MEM_ADVISE_SET_ACCESSED_BY:
        known.setdefault("accessed by", {})[_number(place())] = True
    elif advice == CUmem_advise.CU_MEM_ADVISE_UNSET_ACCESSED_BY:
        known.get("accessed by", {}).pop(_number(place()), None)
    else:
        raise invalid(f"{advice} is no CUmem_advise")


@provides("driver")
def cuMemAdvise(devPtr: int, count: int, advice: int, device: int) -> None:
    _advise(devPtr, count, advice, lambda: _ordinal(device))


@provides("driver")
def cuMemAdvise_v2(devPtr: int, count: int, advice: int, location: CUmemLocation) -> None:
    _advise(devPtr, count, advice, lambda: _place(location))


def _prefetch(pointer: int, count: int, place: tuple[int, int], hStream: int) -> None:
    block = _managed(pointer, count)

    def arrive() -> None:
        block.advice["prefetched"] = place

    stream(hStream).submit(arrive, soon=True)


@provides("driver")
def cuMemPrefetchAsync(devPtr: int, count: int, dstDevice: int, hStream: int) -> None:
    _prefetch(devPtr, count, _ordinal(dstDevice), hStream)


@provides("driver")
def cuMemPrefetchAsync_v2(devPtr: int, count: int, location: CUmemLocation, flags: int, hStream: int) -> None:
    if flags:
        raise invalid(f"flags must be 0, not {flags}")
    _prefetch(devPtr, count, _place(location), hStream)


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
    if flags or not numPrefetchLocs or prefetchLocIdxs[0]:
        raise invalid("flags must be 0, and the locations begin at the first range")
    for i in range(count):
        which = max(j for j in range(numPrefetchLocs) if prefetchLocIdxs[j] <= i)
        _prefetch(dptrs[i], sizes[i], _place(prefetchLocs[which]), hStream)


@provides("driver")
def cuMemDiscardBatchAsync(dptrs: Pointer, sizes: Pointer, count: int, flags: int, hStream: int) -> None:
    if flags:
        raise invalid(f"flags must be 0, not {flags}")
    for i in range(count):
        _managed(dptrs[i], sizes[i])
        stream(hStream).submit(None, soon=True)  # what it holds is of no use any more


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
    cuMemDiscardBatchAsync(dptrs, sizes, count, flags, hStream)
    cuMemPrefetchBatchAsync(
        dptrs, sizes, count, prefetchLocs, prefetchLocIdxs, numPrefetchLocs, flags, hStream
    )


def _number(place: tuple[int, int] | None) -> int:
    """A location as a device number."""
    if place is None:
        return NOWHERE
    return place[1] if place[0] == AT_DEVICE else CPU


def _range_values(block: Block, name: RangeAttribute, size: int) -> list[int]:
    known = block.advice
    if name == RangeAttribute.CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY:
        if not size or size % 4:
            raise invalid(f"{size} bytes are no list of device numbers")
        named = known.get("accessed by", {})
        ordinals = sorted(named, key=lambda place: (place == CPU, place))[: size // 4]
        return ordinals + [NOWHERE] * (size // 4 - len(ordinals))
    if size != 4:
        raise invalid(f"{name.name} has 4 bytes, not {size}")
    if name == RangeAttribute.CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY:
        return [int(known.get("read mostly", False))]
    which = "preferred" if "PREFERRED" in name.name else "prefetched"
    place = known.get(which)
    if name.name.endswith("_TYPE"):
        return [place[0] if place else INVALID]
    if name.name.endswith("_ID"):
        return [place[1] if place else 0]
    return [_number(place)]


@provides("driver")
def cuMemRangeGetAttribute(data: int | None, dataSize: int, attribute: int, devPtr: int, count: int) -> None:
    if not any(attribute == known for known in RangeAttribute) or not data:
        raise invalid(f"{attribute} is no CUmem_range_attribute, or there is no place for its value")
    values = _range_values(_managed(devPtr, count), RangeAttribute(attribute), dataSize)
    place: Any = (ctypes.c_int * len(values)).from_address(data)
    place[:] = values


@provides("driver")
def cuMemRangeGetAttributes(
    data: Pointer, dataSizes: Pointer, attributes: Pointer, numAttributes: int, devPtr: int, count: int
) -> None:
    for i in range(numAttributes):
        cuMemRangeGetAttribute(data[i], dataSizes[i], attributes[i], devPtr, count)
