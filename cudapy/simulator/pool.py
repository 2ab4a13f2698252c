"""Memory pools: allocation in the order of streams."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from .._types.driver.enums import CUgraphNodeType as Type
from .._types.driver.enums import CUmemAllocationHandleType, CUmemAllocationType, CUmemLocationType
from .._types.driver.enums import CUmemPool_attribute as Attribute
from .device import Device, device
from .engine.memory import POISON
from .handles import Object, every, find
from .library import provides
from .log import Refused, invalid, unsupported
from .memory import Block, blocks, table
from .operations import Operation, needed
from .stream import Stream, stream
from .work import Work, progress

REUSE = (
    Attribute.CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES,
    Attribute.CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC,
    Attribute.CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES,
)
GRANULARITY = 512
DEVICE = int(CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE)
HOST_PLACES = (
    int(CUmemLocationType.CU_MEM_LOCATION_TYPE_HOST),
    int(CUmemLocationType.CU_MEM_LOCATION_TYPE_HOST_NUMA),
    int(CUmemLocationType.CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT),
)


class Storage:
    """Memory that a pool holds, and gives out again."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._block = np.empty(size + 1024, np.uint8)
        self.address = int(self._block.ctypes.data) + 512 - self._block.ctypes.data % 512
        self.stream: Stream | None = None  # where it was freed
        self.work: Work | None = None
        self.is_live = False  # of a graph: a launch has allocated it and nothing has freed it


graph_memory: dict[int, Storage] = {}
"""The memory of all graphs, by address."""


class Alloc(Operation):
    """From here on kernels may touch the memory: fresh, and so of no use before it is written."""

    type = Type.CU_GRAPH_NODE_TYPE_MEM_ALLOC

    def __init__(self, storage: Storage, size: int, kind: str = "device") -> None:
        self.storage = storage
        self.size = size  # what was asked for: one byte more is out of bounds
        self.kind = kind
        self.props: Any = None  # of a node: what it was made from

    def run(self) -> None:
        with progress:
            ctypes.memset(self.storage.address, 0 if self.kind == "managed" else POISON, self.size)
            table.adopt(self.storage.address, self.size, self.kind)
            made = table.find(self.storage.address)
            if made is not None and made.written is not None and self.kind == "device":
                made.written[:] = False


class Free(Operation):
    """From here on they may not."""

    type = Type.CU_GRAPH_NODE_TYPE_MEM_FREE

    def __init__(self, address: int) -> None:
        self.address = address

    def announce(self) -> None:
        """It was queued. Raises Refused for memory of a graph that nothing has allocated."""
        storage = graph_memory.get(self.address)
        if storage is not None:
            if not storage.is_live:
                raise invalid(f"{self.address:#x} is not allocated: no launch of its graph has done it")
            storage.is_live = False

    def run(self) -> None:
        with progress:
            if table.find(self.address) is not None:  # an instance that frees by itself finds it freed
                table.release(self.address)


class Pool(Object):
    """A pool of one device."""

    noun = "memory pool"

    def __init__(self, on: Device, maximum: int = 0, kind: str = "device") -> None:
        super().__init__()
        self.device = on
        self.kind = kind
        self.maximum = maximum
        self.values: dict[int, int] = dict.fromkeys(map(int, REUSE), 1)
        self.threshold = 0
        self.used = self.reserved = self.used_high = self.reserved_high = 0
        self._cached: list[Storage] = []
        self.access: dict[int, int] = {on.ordinal: 3}

    def take(self, size: int, on: Stream) -> Storage:
        """Memory for `size` bytes: what the stream itself has freed, what nothing uses any more, or fresh."""
        whole = -(-size // GRANULARITY) * GRANULARITY
        with progress:
            for storage in self._cached:
                idle = storage.work is None or storage.work.done
                if storage.size == whole and (idle or storage.stream is on):
                    self._cached.remove(storage)
                    break
            else:
                free = self.device.total_memory - self.device.used_memory
                if whole > free or (self.maximum and self.reserved + whole > self.maximum):
                    raise Refused("CUDA_ERROR_OUT_OF_MEMORY", f"{size} bytes are asked for, {free} are free")
                storage = Storage(whole)
                self.reserved += whole
                self.device.used_memory += whole
            self.used += whole
            self.used_high = max(self.used_high, self.used)
            self.reserved_high = max(self.reserved_high, self.reserved)
        return storage

    def allocate(self, size: int, on: Stream) -> int:
        """Memory in the order of a stream; its address."""
        if not size:
            raise invalid("no bytes are asked for")
        if on.capture is not None:
            return int(on.capture.allocate(on, size))
        storage = self.take(size, on)
        on.add(Alloc(storage, size, self.kind))
        block = Block(storage.address, size, self.kind, on.context, 1, pool=self)
        block.extra = storage
        blocks.add(block)
        return storage.address

    def free(self, block: Block, on: Stream) -> None:
        """Give memory back in the order of a stream."""
        storage = block.extra
        blocks.remove(block)
        storage.stream, storage.work = on, on.add(Free(block.address))
        with progress:
            self.used -= storage.size
            self._cached.append(storage)

    def trim(self, keep: int) -> None:
        """Give what nothing uses back to the system, down to `keep` bytes."""
        with progress:
            for storage in list(self._cached):
                if self.reserved <= keep:
                    return
                if storage.work is None or storage.work.done:
                    self._cached.remove(storage)
                    self.reserved -= storage.size
                    self.device.used_memory -= storage.size

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


def shrink(on: Device) -> None:
    """What synchronization does: pools give back what is above their threshold."""
    for pool in every(Pool):
        if pool.device is on:
            pool.trim(pool.threshold)


def default_pool(on: Device) -> Pool:
    """The pool that a device has by itself."""
    if on.default_pool is None:
        on.default_pool = Pool(on)
    return on.default_pool  # type: ignore[no-any-return]


def pool_of(on: Device) -> Pool:
    """The pool that a device uses."""
    return on.pool or default_pool(on)


def attribute(attr: int) -> Attribute:
    """The attribute with this number. Raises Refused."""
    if (
        not Attribute.CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES
        <= attr
        <= Attribute.CU_MEMPOOL_ATTR_USED_MEM_HIGH
    ):
        raise invalid(f"{attr} is no attribute of a pool here")
    return Attribute(attr)


@provides("driver")
def cuMemAllocAsync(bytesize: int, hStream: int) -> int:
    on = stream(hStream)
    return pool_of(on.context.device).allocate(bytesize, on)


@provides("driver")
def cuMemAllocFromPoolAsync(bytesize: int, pool: int, hStream: int) -> int:
    on = stream(hStream)
    return find(pool, Pool, "CUDA_ERROR_INVALID_VALUE").allocate(bytesize, on)


@provides("driver")
def cuMemFreeAsync(dptr: int, hStream: int) -> None:
    on = stream(hStream)
    block = blocks.at(dptr)
    if on.capture is not None:
        if block is None or block.pool is None or isinstance(block.pool, Pool):
            raise invalid(f"{dptr:#x} is no memory that the graph allocates")
        on.add(Free(dptr))
        return
    if block is None or (block.kind != "device" and block.pool is None):
        raise invalid(f"no device memory starts at {dptr:#x}")
    if block.pool is not None:
        block.pool.free(block, on)
    else:
        from .memory import release

        on.submit(lambda: release(block))


@provides("driver")
def cuMemPoolCreate(poolProps: Any) -> int:
    props = needed(poolProps, "poolProps")
    if props.handleTypes != CUmemAllocationHandleType.CU_MEM_HANDLE_TYPE_NONE:
        raise unsupported("the simulator's pools cannot be shared with other processes")
    on, kind = _asked(props.location, int(props.allocType))
    return Pool(on, props.maxSize, kind).handle


def _asked(location: Any, allocation_type: int) -> tuple[Device, str]:
    """The device and the kind of memory that a location and a type of allocation mean. Raises Refused."""
    place = int(location.type)
    if allocation_type == CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_MANAGED:
        return device(location.id if place == DEVICE else 0), "managed"
    if allocation_type != CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED:
        raise invalid(f"{allocation_type} is no type of allocation for a pool")
    if place == DEVICE:
        return device(location.id), "device"
    if place in HOST_PLACES:
        return device(0), "host"
    raise invalid(f"{place} is no location for a pool")


@provides("driver")
def cuMemPoolDestroy(pool: int) -> None:
    gone = find(pool, Pool, "CUDA_ERROR_INVALID_VALUE")
    if gone is gone.device.default_pool:
        raise invalid("the default pool of a device cannot be destroyed")
    if gone is gone.device.pool:
        gone.device.pool = None
    gone.trim(0)
    gone.forget()


@provides("driver")
def cuMemPoolExportToShareableHandle(handle_out: int | None, pool: int, handleType: int, flags: int) -> None:
    find(pool, Pool, "CUDA_ERROR_INVALID_VALUE")
    raise invalid("the pool was not made to be shared: the simulator has no pools that are")


@provides("driver")
def cuMemPoolTrimTo(pool: int, minBytesToKeep: int) -> None:
    find(pool, Pool, "CUDA_ERROR_INVALID_VALUE").trim(minBytesToKeep)


@provides("driver")
def cuMemPoolGetAttribute(pool: int, attr: int, value: int | None) -> None:
    name = attribute(attr)
    found = find(pool, Pool, "CUDA_ERROR_INVALID_VALUE").get(name)
    _storage(name).from_address(value or 0).value = found


@provides("driver")
def cuMemPoolSetAttribute(pool: int, attr: int, value: int | None) -> None:
    name = attribute(attr)
    find(pool, Pool, "CUDA_ERROR_INVALID_VALUE").set(name, _storage(name).from_address(value or 0).value)


def _storage(name: Attribute) -> Any:
    return ctypes.c_int if name in REUSE else ctypes.c_uint64


HOST = -1


def _who(location: Any) -> int:
    """A device by its number, the host by -1. Raises Refused."""
    if int(location.type) in HOST_PLACES:
        return HOST
    if int(location.type) != DEVICE:
        raise invalid(f"{int(location.type)} is no location that has access")
    return device(location.id).ordinal


@provides("driver")
def cuMemPoolSetAccess(pool: int, map: Any, count: int) -> None:  # noqa: A002
    found = find(pool, Pool, "CUDA_ERROR_INVALID_VALUE")
    for i in range(count):
        who, flags = _who(map[i].location), int(map[i].flags)
        if flags not in (0, 1, 3) or (who == found.device.ordinal and flags != 3):
            raise invalid(f"a pool on device {found.device.ordinal} cannot have the access {flags}")
        found.access[who] = flags


@provides("driver")
def cuMemPoolGetAccess(memPool: int, location: Any) -> int:
    found = find(memPool, Pool, "CUDA_ERROR_INVALID_VALUE")
    return found.access.get(_who(needed(location, "location")), 0 if found.kind == "device" else 3)


# -- The pool of a device ----------------------------------------------------------------------------------


@provides("driver")
def cuDeviceGetDefaultMemPool(dev: int) -> int:
    return default_pool(device(dev)).handle


@provides("driver")
def cuDeviceGetMemPool(dev: int) -> int:
    return pool_of(device(dev)).handle


@provides("driver")
def cuDeviceSetMemPool(dev: int, pool: int) -> None:
    on, chosen = device(dev), find(pool, Pool, "CUDA_ERROR_INVALID_VALUE")
    if chosen.device is not on:
        raise invalid("the pool is one of another device")
    on.pool = chosen


_defaults: dict[tuple[str, int], Pool] = {}
_chosen: dict[tuple[str, int], Pool] = {}


@provides("driver")
def cuMemGetDefaultMemPool(location: Any, typename: int) -> int:
    on, kind = _asked(needed(location, "location"), typename)
    if kind == "device":
        return default_pool(on).handle
    return _defaults.setdefault(
        (kind, on.ordinal), _defaults.get((kind, on.ordinal)) or Pool(on, 0, kind)
    ).handle


@provides("driver")
def cuMemGetMemPool(location: Any, typename: int) -> int:
    on, kind = _asked(needed(location, "location"), typename)
    if kind == "device":
        return pool_of(on).handle
    chosen = _chosen.get((kind, on.ordinal))
    return chosen.handle if chosen is not None else cuMemGetDefaultMemPool(location, typename)


@provides("driver")
def cuMemSetMemPool(location: Any, typename: int, pool: int) -> None:
    on, kind = _asked(needed(location, "location"), typename)
    if kind == "device":
        cuDeviceSetMemPool(on.ordinal, pool)
        return
    chosen = find(pool, Pool, "CUDA_ERROR_INVALID_VALUE")
    if chosen.kind != kind:
        raise invalid(f"the pool has {chosen.kind} memory, not {kind}")
    _chosen[kind, on.ordinal] = chosen
