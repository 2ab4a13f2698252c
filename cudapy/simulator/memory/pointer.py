"""What the driver knows of an address."""

import ctypes
from typing import Any

from ..._ffi.results import storage
from ..._types.driver import structs
from ..._types.driver.attributes import POINTER_ATTRIBUTES
from ..._types.driver.enums import CUmemAllocationHandleType, CUmemorytype
from ..._types.driver.enums import CUpointer_attribute as Attribute
from ..addresses import Pointer, require
from ..devices.context import current, top
from ..library import provides
from ..refused import Refused, invalid
from .allocations import Block, blocks
from .pages import IS_SUPPORTED

FILE = int(CUmemAllocationHandleType.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
NOWHERE = -2  # CU_DEVICE_INVALID
READ_WRITE = 3  # CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE
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
        raise invalid(f"{int(name)} is not an attribute of a pointer here")
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
