"""The memory that graphs allocate."""

from __future__ import annotations

import ctypes
import threading
from typing import Any

from ..._types.driver.enums import CUgraphMem_attribute
from ..._types.driver.structs import CUmemPoolProps
from ..devices.device import Device
from ..library import provides
from ..log import Refused, invalid
from ..memory.allocations import Block, blocks
from ..memory.pool_memory import Alloc, Free, Storage, graph_memory
from .graph import Graph


class GraphMemory:
    """The physical memory of a device that graphs use, and the most that it was.

    A launch reserves what it needs. Executable graphs that free what they allocate share the same memory in
    turn; it stays mapped to them until they are destroyed, or the device is trimmed. Source: CUDA Programming
    Guide, "Graph Memory Nodes".
    """

    def __init__(self) -> None:
        self.reserved = self.reserved_high = self.used_high = 0
        self.storages: dict[int, Storage] = {}
        self._mapped: dict[int, int] = {}  # bytes by the handle of the executable graph
        self._lock = threading.Lock()

    def allocate(self, size: int, of: Graph) -> Storage:
        """Memory for a node: it has its address for good."""
        on = of.context.device
        if not size or size > on.total_memory - on.used_memory:
            raise Refused("CUDA_ERROR_OUT_OF_MEMORY" if size else "CUDA_ERROR_INVALID_VALUE", f"{size} bytes")
        storage = Storage(-(-size // 512) * 512)
        with self._lock:
            self.storages[storage.address] = graph_memory[storage.address] = storage
        blocks.add(Block(storage.address, size, "device", of.context, pool=GraphPool()))
        return storage

    def note(self, graph: int, storages: list[Storage]) -> None:
        """An executable graph with these allocations has made one."""
        with self._lock:
            self._mapped[graph] = max(self._mapped.get(graph, 0), _allocated(storages))
            used = self.used
            self.reserved = max(self.reserved, used)
            self.used_high = max(self.used_high, used)
            self.reserved_high = max(self.reserved_high, self.reserved)

    def unmap(self, graph: int) -> None:
        """An executable graph is no more."""
        with self._lock:
            self._mapped.pop(graph, None)

    def trim(self) -> None:
        """Give back what no graph has allocated."""
        with self._lock:
            self._mapped.clear()
            self.reserved = self.used

    @property
    def used(self) -> int:
        """Bytes that are allocated or mapped."""
        return max(_allocated(list(self.storages.values())), *self._mapped.values(), 0)


def _allocated(storages: list[Storage]) -> int:
    """The bytes that launches have allocated and nothing has freed."""
    from ..memory.allocations import table

    return sum(s.size for s in storages if table.find(s.address) is not None)


class GraphPool:
    """Stands for the pool of memory that a graph allocated: freed elsewhere, it waits for the next launch."""

    handle = 0

    def reach(self) -> None:
        """All devices may copy its memory."""

    def free(self, block: Block, on: Any) -> None:
        operation = Free(block.address)
        operation.announce()
        on.add(operation)


_memories: dict[int, GraphMemory] = {}


def memory_of(on: Device) -> GraphMemory:
    """The memory of graphs on a device."""
    return _memories.setdefault(on.ordinal, GraphMemory())


def alloc_of(of: Graph, params: Any) -> Alloc:
    storage = memory_of(of.context.device).allocate(params.bytesize, of)
    params.dptr = storage.address
    made = Alloc(storage, params.bytesize)
    made.props = CUmemPoolProps.from_buffer_copy(params.poolProps)
    return made


@provides("driver")
def cuDeviceGraphMemTrim(device: int) -> None:
    from ..devices.device import device as find_device

    memory_of(find_device(device)).trim()


@provides("driver")
def cuDeviceGetGraphMemAttribute(device: int, attr: int, value: int | None) -> None:
    from ..devices.device import device as find_device

    memory = memory_of(find_device(device))
    found = {
        CUgraphMem_attribute.CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT: memory.used,
        CUgraphMem_attribute.CU_GRAPH_MEM_ATTR_USED_MEM_HIGH: memory.used_high,
        CUgraphMem_attribute.CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT: memory.reserved,
        CUgraphMem_attribute.CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH: memory.reserved_high,
    }
    if attr not in found or not value:
        raise invalid(f"{attr} is no CUgraphMem_attribute, or there is no place for its value")
    ctypes.c_uint64.from_address(value).value = found[CUgraphMem_attribute(attr)]


@provides("driver")
def cuDeviceSetGraphMemAttribute(device: int, attr: int, value: int | None) -> None:
    from ..devices.device import device as find_device

    memory = memory_of(find_device(device))
    if not value or ctypes.c_uint64.from_address(value).value:
        raise invalid("the attributes of the memory of graphs can be set to 0 alone")
    if attr == CUgraphMem_attribute.CU_GRAPH_MEM_ATTR_USED_MEM_HIGH:
        memory.used_high = 0
    elif attr == CUgraphMem_attribute.CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH:
        memory.reserved_high = 0
    else:
        raise invalid(f"{attr} cannot be set")
