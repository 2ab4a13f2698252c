"""The memory that graphs allocate."""

import ctypes
import threading
from typing import Any

from ..._ffi.sizes import round_up
from ..._types.driver.enums import CUgraphMem_attribute
from ..._types.driver.structs import CUmemPoolProps
from ..devices.device import Device
from ..devices.device import device as find_device
from ..fresh_devices import forgotten
from ..library import provides
from ..memory.allocations import Block, blocks, table
from ..memory.pool_memory import Alloc, Free, Storage, graph_memory
from ..refused import Refused, invalid
from .graph import Graph


class GraphMemory:
    """The physical memory of a device that graphs use, and the most that it was.

    A launch reserves what it needs. Executable graphs that free what they allocate share the same memory in
    turn; it stays reserved, and counts as used, until the device is trimmed, also when they are destroyed and
    their memory is freed. Sources: CUDA Programming Guide, "Graph Memory Nodes"; an H200 with driver 580.
    """

    def __init__(self) -> None:
        self.reserved = self.reserved_high = self.used_high = 0
        self.storages: dict[int, Storage] = {}
        self._lock = threading.Lock()

    def allocate(self, size: int, of: Graph) -> Storage:
        """Memory for a node: it has its address for good."""
        device = of.context.device
        if not size or size > device.total_memory - device.used_memory:
            raise Refused("CUDA_ERROR_OUT_OF_MEMORY" if size else "CUDA_ERROR_INVALID_VALUE", f"{size} bytes")
        storage = Storage(round_up(size, 512))
        block = Block(storage.address, size, "device", of.context, pool=GraphPool())

        def forget() -> None:
            blocks.remove(block)
            del self.storages[block.address], graph_memory[block.address]

        storage.on_unused = forget
        with self._lock:
            self.storages[storage.address] = graph_memory[storage.address] = storage
        blocks.add(block)
        return storage

    def note(self) -> None:
        """A launch has allocated some of it."""
        with self._lock:
            self.reserved = max(self.reserved, self._allocated())
            self.used_high = max(self.used_high, self.reserved)
            self.reserved_high = max(self.reserved_high, self.reserved)

    def trim(self) -> None:
        """Free what no graph has allocated."""
        with self._lock:
            self.reserved = self._allocated()

    def _allocated(self) -> int:
        """The bytes that launches have allocated and nothing has freed."""
        return sum(s.size for s in list(self.storages.values()) if table.find(s.address) is not None)


class GraphPool:
    """Stands for the pool of memory that a graph allocated: freed elsewhere, it waits for the next launch."""

    handle = 0

    def reach(self) -> None:
        """All devices may copy its memory."""

    def free(self, block: Block, stream: Any) -> None:
        operation = Free(block.address)
        operation.announce()
        stream.add(operation)


_memories: dict[int, GraphMemory] = {}
forgotten(_memories.clear)


def memory_of(device: Device) -> GraphMemory:
    """The memory of graphs on a device."""
    return _memories.setdefault(device.ordinal, GraphMemory())


def alloc_of(of: Graph, params: Any) -> Alloc:
    storage = memory_of(of.context.device).allocate(params.bytesize, of)
    params.dptr = storage.address
    alloc = Alloc(storage, params.bytesize)
    alloc.props = CUmemPoolProps.from_buffer_copy(params.poolProps)
    return alloc


@provides("driver")
def cuDeviceGraphMemTrim(device: int) -> None:
    memory_of(find_device(device)).trim()


@provides("driver")
def cuDeviceGetGraphMemAttribute(device: int, attr: int, value: int | None) -> None:
    memory = memory_of(find_device(device))
    values = {
        CUgraphMem_attribute.CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT: memory.reserved,
        CUgraphMem_attribute.CU_GRAPH_MEM_ATTR_USED_MEM_HIGH: memory.used_high,
        CUgraphMem_attribute.CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT: memory.reserved,
        CUgraphMem_attribute.CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH: memory.reserved_high,
    }
    if attr not in values or not value:
        raise invalid(f"{attr} is not a CUgraphMem_attribute, or there is no place for its value")
    ctypes.c_uint64.from_address(value).value = values[CUgraphMem_attribute(attr)]


@provides("driver")
def cuDeviceSetGraphMemAttribute(device: int, attr: int, value: int | None) -> None:
    memory = memory_of(find_device(device))
    if not value or ctypes.c_uint64.from_address(value).value:
        raise invalid("the attributes of the memory of graphs can only be reset to 0")
    if attr == CUgraphMem_attribute.CU_GRAPH_MEM_ATTR_USED_MEM_HIGH:
        memory.used_high = memory.reserved
    elif attr == CUgraphMem_attribute.CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH:
        memory.reserved_high = memory.reserved
    else:
        raise invalid(f"{attr} cannot be set")
