"""What a program advises the driver to do with managed memory, and what it knows of that."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

from ..._types.driver.enums import CUmem_advise, CUmemLocationType
from ..._types.driver.enums import CUmem_range_attribute as RangeAttribute
from ..addresses import Pointer
from ..devices.context import current
from ..devices.device import device
from ..library import provides
from ..refused import invalid
from ..streams.stream import Stream, stream
from .allocations import Block, blocks

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..._types.driver.structs import CUmemLocation

CPU, NOWHERE = -1, -2  # CU_DEVICE_CPU, CU_DEVICE_INVALID
INVALID, AT_DEVICE, AT_HOST, AT_NODE, AT_CURRENT_NODE = (
    int(CUmemLocationType[f"CU_MEM_LOCATION_TYPE_{name}"])
    for name in ("INVALID", "DEVICE", "HOST", "HOST_NUMA", "HOST_NUMA_CURRENT")
)


def managed_range(pointer: int, count: int) -> Block:
    """The managed memory that `count` bytes lie in. Raises Refused."""
    current()
    block = blocks.find(pointer)
    if block is None or not block.is_managed or not count or pointer + count > block.end:
        raise invalid(f"{count} bytes from {pointer:#x} are not managed memory")
    return block


def location_of(location: CUmemLocation) -> tuple[int, int]:
    """The type of a location and its number. Raises Refused."""
    kind = int(location.type)
    if kind == AT_DEVICE:
        return kind, device(location.id).ordinal
    if kind == AT_NODE and location.id:
        raise invalid(f"the host has no NUMA node {location.id}, but one")
    if kind in (AT_HOST, AT_NODE, AT_CURRENT_NODE):
        return kind, 0
    raise invalid(f"{kind} is not a CUmemLocationType for managed memory")


def _ordinal(place: int) -> tuple[int, int]:
    """The ordinal of a device number as CUDA 12 has it."""
    return (AT_HOST, 0) if place == CPU else (AT_DEVICE, device(place).ordinal)


def _advise(devPtr: int, count: int, advice: int, place: Callable[[], tuple[int, int]]) -> None:
    block = managed_range(devPtr, count)
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
        raise invalid(f"{advice} is not a CUmem_advise")


@provides("driver")
def cuMemAdvise(devPtr: int, count: int, advice: int, device: int) -> None:
    _advise(devPtr, count, advice, lambda: _ordinal(device))


@provides("driver")
def cuMemAdvise_v2(devPtr: int, count: int, advice: int, location: CUmemLocation) -> None:
    _advise(devPtr, count, advice, lambda: location_of(location))


def prefetch(pointer: int, count: int, place: tuple[int, int], in_stream: Stream) -> None:
    """Queue what a program may ask of afterwards. Raises Refused."""
    block = managed_range(pointer, count)

    def arrive() -> None:
        block.advice["prefetched"] = place

    in_stream.add_uncapturable(arrive, "a prefetch", soon=True)


@provides("driver")
def cuMemPrefetchAsync(devPtr: int, count: int, dstDevice: int, hStream: int) -> None:
    prefetch(devPtr, count, _ordinal(dstDevice), stream(hStream))


@provides("driver")
def cuMemPrefetchAsync_v2(devPtr: int, count: int, location: CUmemLocation, flags: int, hStream: int) -> None:
    if flags:
        raise invalid(f"flags must be 0, not {flags}")
    prefetch(devPtr, count, location_of(location), stream(hStream))


def _number(place: tuple[int, int] | None) -> int:
    """A location as a device number."""
    if place is None:
        return NOWHERE
    return place[1] if place[0] == AT_DEVICE else CPU


def _range_values(block: Block, name: RangeAttribute, size: int) -> list[int]:
    known = block.advice
    if name == RangeAttribute.CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY:
        if not size or size % 4:
            raise invalid(f"{size} bytes are not a list of device numbers")
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
        raise invalid(f"{attribute} is not a CUmem_range_attribute, or there is no place for its value")
    values = _range_values(managed_range(devPtr, count), RangeAttribute(attribute), dataSize)
    place: Any = (ctypes.c_int * len(values)).from_address(data)
    place[:] = values


@provides("driver")
def cuMemRangeGetAttributes(
    data: Pointer, dataSizes: Pointer, attributes: Pointer, numAttributes: int, devPtr: int, count: int
) -> None:
    for i in range(numAttributes):
        cuMemRangeGetAttribute(data[i], dataSizes[i], attributes[i], devPtr, count)
