"""Virtual memory: addresses and what they are mapped to, each on its own.

A physical allocation is an anonymous file of the host, so two addresses can show one allocation, and another
process can open it by a file descriptor. On Linux only.
"""

import ctypes
import os
import threading
from typing import TYPE_CHECKING, Any, TypeGuard

from ..._ffi.sizes import round_up
from ..._types.driver.enums import CUmemAllocationHandleType as HandleType
from ..._types.driver.enums import CUmemAllocationType, CUmemLocationType
from ..._types.driver.structs import CUmemAllocationProp
from ..addresses import Pointer
from ..devices.context import owner
from ..devices.device import device, devices
from ..handles import Object, find, relist
from ..library import provides
from ..refused import Refused, invalid, unsupported
from ..streams.operations import needed
from ..streams.threads import guard
from .allocations import LARGEST, Block, blocks, table
from .pages import IS_SUPPORTED, Sharing, blank, map_file, unnamed_file

if TYPE_CHECKING:
    from ..engine import Member

GRANULARITY = 2 << 20
FILE = int(HandleType.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)

reserved: dict[int, int] = {}
_lock = threading.RLock()


class Mappable(Object):
    """What addresses can be mapped to. It lives as long as it has handles or mappings."""

    noun = "physical allocation or multicast object"
    kind = "mapped"

    def __init__(self, size: int, handle_types: int) -> None:
        super().__init__()
        self.size = size
        self.handle_types = handle_types
        self.team: dict[int, Member] | None = None
        self.references = 1
        self.mappings = 0

    def retain(self) -> None:
        """One handle more, perhaps after the last was released."""
        with _lock:
            self.references += 1
            relist(self)

    def release(self) -> None:
        """One handle less."""
        with _lock:
            self.references -= 1
            if not self.references:
                self.forget()
            self._end_if_unused()

    def map(self) -> None:
        """One mapping more."""
        with _lock:
            self.mappings += 1

    def unmap(self) -> None:
        """One mapping less."""
        with _lock:
            self.mappings -= 1
            self._end_if_unused()

    def _end_if_unused(self) -> None:
        if not self.references and not self.mappings:
            self.end()

    def show(self, address: int, size: int, offset: int) -> None:
        """Have addresses mean it."""
        raise NotImplementedError

    def end(self) -> None:
        """Free it."""
        raise NotImplementedError


class Physical(Mappable):
    """Memory without an address."""

    noun = "physical allocation"

    def __init__(self, size: int, properties: Any, file: int, *, is_imported: bool = False) -> None:
        super().__init__(size, int(properties.requestedHandleTypes))
        self.counted = 0 if is_imported else size  # who made it counts it
        self.properties = properties
        self.file = file
        self.device = device(properties.location.id)
        self.device.claim(self.counted)

    def show(self, address: int, size: int, offset: int) -> None:
        map_file(self.file, size, offset, address)

    def end(self) -> None:
        os.close(self.file)
        self.device.unclaim(self.counted)


def _properties(prop: Any) -> CUmemAllocationProp:
    if not IS_SUPPORTED:
        raise unsupported("the simulator has virtual memory on Linux alone")
    told = needed(prop, "prop")
    if told.type != CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED:
        raise invalid("the type must be CU_MEM_ALLOCATION_TYPE_PINNED")
    if told.location.type != CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE:
        raise unsupported("the simulator's physical allocations are on devices")
    if int(told.requestedHandleTypes) & ~FILE:
        raise unsupported("the simulator shares allocations as file descriptors alone")
    device(told.location.id)
    return CUmemAllocationProp.from_buffer_copy(told)


@provides("driver")
def cuMemGetAllocationGranularity(prop: Pointer, option: int) -> int:
    _properties(prop)
    return GRANULARITY


@provides("driver")
def cuMemAddressReserve(size: int, alignment: int, addr: int, flags: int) -> int:
    if not IS_SUPPORTED:
        raise unsupported("the simulator has virtual memory on Linux alone")
    if not size or size % GRANULARITY or flags or alignment & (alignment - 1):
        raise invalid(
            f"{size} is not a multiple of {GRANULARITY}, or the alignment not a power of two, or flags not 0"
        )
    align = max(alignment, GRANULARITY)
    whole = blank(0, size + align)
    start = round_up(whole, align)
    reserved[start] = size
    return start


@provides("driver")
def cuMemAddressFree(ptr: int, size: int) -> None:
    if any(ptr <= block.address < ptr + size for block in mapped()):
        raise invalid("something is still mapped there")
    with _lock:
        if reserved.get(ptr) != size:
            raise invalid(f"{size} bytes at {ptr:#x} were not reserved")
        del reserved[ptr]  # the addresses stay blank, so that their use is found


def mapped() -> list[Block]:
    """All mappings."""
    return [block for block in blocks.all() if _is_mapped(block)]


def _is_mapped(block: Block | None) -> TypeGuard[Block]:
    return block is not None and isinstance(block.extra, Mappable)


@provides("driver")
def cuMemCreate(size: int, prop: Pointer, flags: int) -> int:
    properties = _properties(prop)
    if not size or size % GRANULARITY or flags:
        raise invalid(f"{size} is not a multiple of {GRANULARITY}, or flags is not 0")
    if size > LARGEST:
        raise Refused("CUDA_ERROR_OUT_OF_MEMORY", f"{size} bytes are asked for")
    file = unnamed_file("cudapy simulator")
    try:
        os.ftruncate(file, size)
        return Physical(size, properties, file).handle
    except BaseException:
        os.close(file)
        raise


def _physical(handle: int) -> Physical:
    return find(handle, Physical, "CUDA_ERROR_INVALID_VALUE")


def _mappable(handle: int) -> Mappable:
    return find(handle, Mappable, "CUDA_ERROR_INVALID_VALUE")


@provides("driver")
def cuMemRelease(handle: int) -> None:
    _mappable(handle).release()


@provides("driver")
def cuMemRetainAllocationHandle(addr: int | None) -> int:
    block = blocks.find(addr or 0)
    if not _is_mapped(block):
        raise invalid(f"nothing is mapped at {addr or 0:#x}")
    physical: Mappable = block.extra
    physical.retain()
    return physical.handle


@provides("driver")
def cuMemGetAllocationPropertiesFromHandle(handle: int) -> Any:
    return _physical(handle).properties


@provides("driver")
def cuMemMap(ptr: int, size: int, offset: int, handle: int, flags: int) -> None:
    physical = _mappable(handle)
    ranges = list(reserved.items())
    inside = any(start <= ptr and ptr + size <= start + length for start, length in ranges)
    if not inside or size != physical.size or offset or flags or ptr % GRANULARITY:
        raise invalid("the addresses must be reserved and the whole allocation be mapped, at an offset of 0")
    if blocks.find(ptr) is not None:
        raise invalid(f"something is mapped at {ptr:#x} already")
    physical.show(ptr, size, offset)
    physical.map()
    context = owner()
    block = Block(ptr, size, physical.kind, context)
    if isinstance(physical, Physical):
        block.device = physical.device
    block.extra = physical
    blocks.add(block)


@provides("driver")
def cuMemUnmap(ptr: int, size: int) -> None:
    inside = _whole_mappings(ptr, size)
    owner().finish()
    for block in inside:
        with guard:
            if table.find(block.address) is not None:
                table.release(block.address)
        blocks.remove(block)
        blank(block.address, block.size)
        block.extra.unmap()


def _whole_mappings(ptr: int, size: int) -> list[Block]:
    """The mappings that make up a range. Raises Refused if they do not."""
    inside = [block for block in mapped() if ptr <= block.address and block.end <= ptr + size]
    if not inside or sum(block.size for block in inside) != size:
        raise invalid(f"{size} bytes from {ptr:#x} are not whole mappings")
    return inside


def _reach(access: dict[int, int]) -> Any:
    return None if len(devices) == 1 else lambda asking: bool(access.get(asking.device.ordinal))


@provides("driver")
def cuMemSetAccess(ptr: int, size: int, desc: Pointer, count: int) -> None:
    wanted = {device(desc[i].location.id).ordinal: int(desc[i].flags) for i in range(count)}
    for block in _whole_mappings(ptr, size):
        access = block.advice.setdefault("access", {})
        access.update(wanted)
        allowed, known = any(access.values()), table.find(block.address)
        with guard:
            if allowed and known is None:
                reach, team = _reach(access), block.extra.team
                table.adopt(block.address, block.size, block.kind, reach, team, place=block.place)
            elif not allowed and known is not None:
                table.release(block.address)
            else:
                table.reach_changed()


@provides("driver")
def cuMemGetAccess(location: Pointer, ptr: int) -> int:
    block = blocks.find(ptr)
    if not _is_mapped(block):
        raise invalid(f"nothing is mapped at {ptr:#x}")
    access: int = block.advice.get("access", {}).get(device(needed(location, "location").id).ordinal, 0)
    return access


@provides("driver")
def cuMemExportToShareableHandle(
    shareableHandle: int | None, handle: int, handleType: int, flags: int
) -> None:
    physical = _mappable(handle)
    if not isinstance(physical, Physical):
        raise unsupported("the simulator shares no multicast objects with other processes")
    if handleType != FILE or not int(physical.properties.requestedHandleTypes) & FILE or flags:
        raise invalid("the allocation was not made to be shared as a file descriptor")
    Sharing.is_shared = True
    ctypes.c_int.from_address(shareableHandle or 0).value = os.dup(physical.file)


@provides("driver")
def cuMemImportFromShareableHandle(osHandle: int | None, shHandleType: int) -> int:
    if shHandleType != FILE:
        raise unsupported("the simulator shares allocations as file descriptors alone")
    try:
        file = os.dup(osHandle or 0)
        size = os.fstat(file).st_size
    except (OSError, OverflowError) as error:
        raise invalid(str(error)) from None
    properties = CUmemAllocationProp(
        type=CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED, requestedHandleTypes=FILE
    )
    properties.location.type = CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
    Sharing.is_shared = True
    return Physical(size, properties, file, is_imported=True).handle
