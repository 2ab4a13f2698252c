"""Memory pools: allocation in the order of streams."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

from ..._ffi.sizes import round_up
from ..._types.driver.enums import CUmemAllocationHandleType, CUmemAllocationType, CUmemLocationType
from ..._types.driver.enums import CUmemPool_attribute as Attribute
from ..addresses import Pointer
from ..devices.device import Device, device, devices
from ..handles import Object, every, find
from ..library import provides
from ..refused import Refused, invalid, unsupported
from ..streams.capturing import forbid
from ..streams.operations import needed
from ..streams.stream import Stream, once_waited, stream
from ..streams.threads import guard
from .allocations import Block, blocks, freed_before, release, table
from .pages import IS_SUPPORTED, File
from .pool_memory import Alloc, Free, Storage, fresh_in_place_of

if TYPE_CHECKING:
    from ..._types.driver.structs import CUmemLocation


REUSE = (
    Attribute.CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES,
    Attribute.CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC,
    Attribute.CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES,
)
GRANULARITY = 512
DEVICE = int(CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE)
FILE = int(CUmemAllocationHandleType.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
HOST_PLACES = (
    int(CUmemLocationType.CU_MEM_LOCATION_TYPE_HOST),
    int(CUmemLocationType.CU_MEM_LOCATION_TYPE_HOST_NUMA),
    int(CUmemLocationType.CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT),
)


class Pool(Object):
    """A pool of one device."""

    noun = "memory pool"

    def __init__(
        self, device: Device, maximum: int = 0, kind: str = "device", file: File | None = None
    ) -> None:
        super().__init__()
        self.device = device
        self.kind = kind
        self.file = file  # that its memory is in, for other processes to open
        self.maximum = maximum
        self.values: dict[int, int] = dict.fromkeys(map(int, REUSE), 1)
        self.threshold = 0
        self.used = self.reserved = self.used_high = self.reserved_high = 0
        self._cached: list[Storage] = []
        self.access: dict[int, int] = {device.ordinal: 3}
        self.is_leaving = False

    def take(self, size: int, stream: Stream) -> Storage:
        """Memory for `size` bytes: what the stream itself has freed, what nothing uses any more, or fresh."""
        whole = round_up(size, GRANULARITY)
        with guard:
            for storage in self._cached:
                idle = storage.work is None or storage.work.done
                if storage.size == whole and (idle or storage.stream is stream):
                    self._cached.remove(storage)
                    storage = fresh_in_place_of(storage)
                    break
            else:
                if self.maximum and self.reserved + whole > self.maximum:
                    raise Refused(
                        "CUDA_ERROR_OUT_OF_MEMORY", f"{size} bytes are asked for, of {self.maximum} at most"
                    )
                self.device.claim(whole)
                storage = Storage(whole, self.file)
                self.reserved += whole
            self.used += whole
            self.used_high = max(self.used_high, self.used)
            self.reserved_high = max(self.reserved_high, self.reserved)
        return storage

    def allocate(self, size: int, stream: Stream) -> int:
        """Memory in the order of a stream; its address."""
        if not size:
            raise invalid("no bytes are asked for")
        if stream.capture is not None:
            return int(stream.capture.allocate(stream, size))
        forbid()
        storage = self.take(size, stream)
        operation = Alloc(storage, size, self.kind, self.reach())
        work = stream.add(operation)
        with guard:
            if work is not None and not work.done:
                table.announce(storage.address, size, self.kind, _TO_COME, operation.place)
        root = stream.context.root
        block = Block(storage.address, size, self.kind, root, 1, pool=self, place=operation.place)
        block.extra = storage
        blocks.add(block)
        return storage.address

    def reach(self) -> Any:
        """Which contexts' kernels may touch its memory: those of the devices that were given access."""
        if len(devices) == 1 or self.kind != "device":
            return None
        return lambda asking: bool(self.access.get(asking.device.ordinal))

    def free(self, block: Block, stream: Stream) -> None:
        """Give memory back in the order of a stream."""
        storage = block.extra
        blocks.remove(block)
        storage.stream, storage.work = stream, stream.add(Free(block.address))
        with guard:
            self.used -= storage.size
            self._cached.append(storage)
        if self.is_leaving:
            self.trim(0)

    def trim(self, keep: int) -> None:
        """Give what nothing uses back to the system, down to `keep` bytes."""
        with guard:
            for storage in list(self._cached):
                if self.reserved <= keep:
                    return
                if storage.work is None or storage.work.done:
                    self._cached.remove(storage)
                    self.reserved -= storage.size
                    self.device.unclaim(storage.size)
                    storage.release()
            if self.is_leaving and not self.reserved:
                leaving.discard(self)
                if self.file is not None:
                    self.file.close()

    def leave(self) -> None:
        """It is destroyed: its memory goes as the program frees it."""
        self.forget()
        self.is_leaving = True
        leaving.add(self)
        self.trim(0)

    def abandon(self) -> None:
        """Nothing is given out of it any more, and nothing that is there is given back."""
        with guard:
            for storage in self._cached:
                storage.abandon()
            self._cached.clear()
        if self.file is not None:
            self.file.abandon()

    def get(self, name: Attribute) -> int:
        """An attribute."""
        if name in REUSE:
            return self.values[int(name)]
        return {
            Attribute.CU_MEMPOOL_ATTR_RELEASE_THRESHOLD: self.threshold,
            Attribute.CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT: self.reserved,
            Attribute.CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH: self.reserved_high,
            Attribute.CU_MEMPOOL_ATTR_USED_MEM_CURRENT: self.used,
            Attribute.CU_MEMPOOL_ATTR_USED_MEM_HIGH: self.used_high,
        }[name]

    def set(self, name: Attribute, value: int) -> None:
        """Set one."""
        if name in REUSE:
            self.values[int(name)] = int(bool(value))
        elif name == Attribute.CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
            self.threshold = value
        elif name == Attribute.CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH and value == 0:
            self.reserved_high = self.reserved
        elif name == Attribute.CU_MEMPOOL_ATTR_USED_MEM_HIGH and value == 0:
            self.used_high = self.used
        else:
            raise invalid(f"{name.name} cannot be set to {value}")


_TO_COME = "that its stream has not allocated yet: an event behind the allocation can be waited for"
leaving: set[Pool] = set()
"""The pools that are destroyed, and some of whose memory is in use."""


def shrink(device: Device) -> None:
    """What synchronization does: pools release what is above their threshold."""
    for pool in every(Pool):
        if pool.device is device:
            pool.trim(pool.threshold)
    for pool in list(leaving):
        if pool.device is device:
            pool.trim(0)


once_waited.append(shrink)


def attribute(attr: int) -> Attribute:
    """The attribute with this number. Raises Refused."""
    if (
        not Attribute.CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES
        <= attr
        <= Attribute.CU_MEMPOOL_ATTR_USED_MEM_HIGH
    ):
        raise invalid(f"{attr} is not an attribute of a pool here")
    return Attribute(attr)


@provides("driver")
def cuMemAllocFromPoolAsync(bytesize: int, pool: int, hStream: int) -> int:
    in_stream = stream(hStream)
    return find(pool, Pool, "CUDA_ERROR_INVALID_VALUE").allocate(bytesize, in_stream)


@provides("driver")
def cuMemFreeAsync(dptr: int, hStream: int) -> None:
    in_stream = stream(hStream)
    block = blocks.at(dptr)
    if in_stream.capture is not None:
        if block is None or block.pool is None or isinstance(block.pool, Pool):
            raise invalid(f"{dptr:#x} is not memory that the graph allocates")
        in_stream.add(Free(dptr))
        return
    forbid()
    if block is None or (block.kind != "device" and block.pool is None):
        raise invalid(f"no device memory starts at {dptr:#x}{freed_before(dptr)}")
    if block.pool is not None:
        block.pool.free(block, in_stream)
    else:
        in_stream.submit(lambda: release(block), is_bookkeeping=True)


def file_for(kind: str, device: Device, handle_types: int) -> File | None:
    """The file that a pool with these types of handles has its memory in. Raises Refused."""
    if not handle_types:
        return None
    if handle_types != FILE or not IS_SUPPORTED:
        raise unsupported("the simulator shares pools as file descriptors alone, on Linux")
    if kind == "managed":
        raise invalid("managed memory is not shared with other processes")
    return File(f"cudapy simulator: {kind} pool of device {device.ordinal}")


@provides("driver")
def cuMemPoolCreate(poolProps: Pointer) -> int:
    props = needed(poolProps, "poolProps")
    forbid()
    device, kind = asked(props.location, int(props.allocType))
    return Pool(device, props.maxSize, kind, file_for(kind, device, int(props.handleTypes))).handle


def asked(location: CUmemLocation, allocation_type: int) -> tuple[Device, str]:
    """The device and the kind of memory that a location and a type of allocation mean. Raises Refused."""
    place = int(location.type)
    if allocation_type == CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_MANAGED:
        return device(location.id if place == DEVICE else 0), "managed"
    if allocation_type != CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED:
        raise invalid(f"{allocation_type} is not a type of allocation for a pool")
    if place == DEVICE:
        return device(location.id), "device"
    if place in HOST_PLACES:
        return device(0), "host"
    raise invalid(f"{place} is not a location for a pool")


@provides("driver")
def cuMemPoolDestroy(pool: int) -> None:
    gone = find(pool, Pool, "CUDA_ERROR_INVALID_VALUE")
    if gone is gone.device.default_pool:
        raise invalid("the default pool of a device cannot be destroyed")
    forbid()
    if gone is gone.device.pool:
        gone.device.pool = None
    gone.leave()


@provides("driver")
def cuMemPoolTrimTo(pool: int, minBytesToKeep: int) -> None:
    this_pool = find(pool, Pool, "CUDA_ERROR_INVALID_VALUE")
    forbid()
    this_pool.trim(minBytesToKeep)


@provides("driver")
def cuMemPoolGetAttribute(pool: int, attr: int, value: int | None) -> None:
    name = attribute(attr)
    value_found = find(pool, Pool, "CUDA_ERROR_INVALID_VALUE").get(name)
    _storage(name).from_address(value or 0).value = value_found


@provides("driver")
def cuMemPoolSetAttribute(pool: int, attr: int, value: int | None) -> None:
    name = attribute(attr)
    find(pool, Pool, "CUDA_ERROR_INVALID_VALUE").set(name, _storage(name).from_address(value or 0).value)


def _storage(name: Attribute) -> type[ctypes.c_int | ctypes.c_uint64]:
    return ctypes.c_int if name in REUSE else ctypes.c_uint64


HOST = -1


def _who(location: CUmemLocation) -> int:
    """A device by its number, the host by -1. Raises Refused."""
    if int(location.type) in HOST_PLACES:
        return HOST
    if int(location.type) != DEVICE:
        raise invalid(f"{int(location.type)} is not a location that has access")
    return device(location.id).ordinal


@provides("driver")
def cuMemPoolSetAccess(pool: int, map: Pointer, count: int) -> None:  # noqa: A002
    this_pool = find(pool, Pool, "CUDA_ERROR_INVALID_VALUE")
    for i in range(count):
        who, flags = _who(map[i].location), int(map[i].flags)
        if flags not in (0, 1, 3) or (who == this_pool.device.ordinal and flags != 3):
            raise invalid(f"a pool on device {this_pool.device.ordinal} cannot have the access {flags}")
        this_pool.access[who] = flags
    table.reach_changed()


@provides("driver")
def cuMemPoolGetAccess(memPool: int, location: Pointer) -> int:
    this_pool = find(memPool, Pool, "CUDA_ERROR_INVALID_VALUE")
    return this_pool.access.get(_who(needed(location, "location")), 0 if this_pool.kind == "device" else 3)
