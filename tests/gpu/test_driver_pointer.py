"""What the driver knows of an address."""

from __future__ import annotations

import ctypes

import pytest

from cudapy import driver
from cudapy.driver import (
    CU_MEMHOSTALLOC_DEVICEMAP,
    CUDA_POINTER_ATTRIBUTE_ACCESS_FLAGS,
    CUcontext,
    CUdevice_attribute,
    CUdeviceptr,
    CUmemAttach_flags,
    CUmemoryPool,
    CUmemorytype,
    CUpointer_attribute,
    CUresult,
)

from .kernels import DEVICE, memory, needs, ok, owned, stream
from .kernels import context as context

pytestmark = pytest.mark.gpu

Attribute = CUpointer_attribute


def get(name: CUpointer_attribute, pointer: CUdeviceptr | int) -> object:
    return ok(driver.cuPointerGetAttribute(name, pointer))


def test_device_memory(context: CUcontext) -> None:
    with memory(1024) as pointer:
        inside = int(pointer) + 100
        whose = get(Attribute.CU_POINTER_ATTRIBUTE_CONTEXT, inside)
        assert isinstance(whose, CUcontext) and whose == context
        kind = get(Attribute.CU_POINTER_ATTRIBUTE_MEMORY_TYPE, inside)
        assert isinstance(kind, CUmemorytype) and kind == CUmemorytype.CU_MEMORYTYPE_DEVICE
        start = get(Attribute.CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, inside)
        assert isinstance(start, CUdeviceptr) and start == pointer
        size = get(Attribute.CU_POINTER_ATTRIBUTE_RANGE_SIZE, inside)
        assert type(size) is int and size >= 1024
        assert get(Attribute.CU_POINTER_ATTRIBUTE_DEVICE_POINTER, inside) == inside
        assert get(Attribute.CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, inside) == DEVICE
        assert get(Attribute.CU_POINTER_ATTRIBUTE_IS_MANAGED, inside) is False
        assert get(Attribute.CU_POINTER_ATTRIBUTE_MAPPED, inside) is True
        assert get(Attribute.CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, inside) == 0
        flags = get(Attribute.CU_POINTER_ATTRIBUTE_ACCESS_FLAGS, inside)
        assert flags == CUDA_POINTER_ATTRIBUTE_ACCESS_FLAGS.CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE
        assert isinstance(flags, CUDA_POINTER_ATTRIBUTE_ACCESS_FLAGS)
        assert type(get(Attribute.CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES, inside)) is int
        mapping = get(Attribute.CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR, inside)
        assert isinstance(mapping, CUdeviceptr) and 0 < int(mapping) <= int(pointer)
        assert get(Attribute.CU_POINTER_ATTRIBUTE_MAPPING_SIZE, inside)
        status, host = driver.cuPointerGetAttribute(Attribute.CU_POINTER_ATTRIBUTE_HOST_POINTER, inside)
        assert (status, host) == (CUresult.CUDA_ERROR_INVALID_VALUE, None)


def test_each_allocation_has_an_id() -> None:
    with memory(64) as first, memory(64) as second:
        ids = [get(Attribute.CU_POINTER_ATTRIBUTE_BUFFER_ID, pointer) for pointer in (first, second, first)]
    assert ids[0] == ids[2] != ids[1]


def test_page_locked_memory() -> None:
    with owned(driver.cuMemHostAlloc(64, CU_MEMHOSTALLOC_DEVICEMAP), driver.cuMemFreeHost) as host:
        assert get(Attribute.CU_POINTER_ATTRIBUTE_MEMORY_TYPE, host) == CUmemorytype.CU_MEMORYTYPE_HOST
        assert get(Attribute.CU_POINTER_ATTRIBUTE_HOST_POINTER, host) == host
        pointer = ok(driver.cuMemHostGetDevicePointer(host, 0))
        assert get(Attribute.CU_POINTER_ATTRIBUTE_DEVICE_POINTER, host) == pointer


def test_managed_memory() -> None:
    needs(CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY)
    with owned(
        driver.cuMemAllocManaged(4096, CUmemAttach_flags.CU_MEM_ATTACH_GLOBAL), driver.cuMemFree
    ) as pointer:
        assert get(Attribute.CU_POINTER_ATTRIBUTE_IS_MANAGED, pointer) is True
        assert get(Attribute.CU_POINTER_ATTRIBUTE_HOST_POINTER, pointer) == pointer


def test_pool_memory() -> None:
    needs(CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED)
    with stream() as queue:
        pointer = ok(driver.cuMemAllocAsync(64, queue))
        ok(driver.cuStreamSynchronize(queue))
        pool = get(Attribute.CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, pointer)
        ok(driver.cuMemFreeAsync(pointer, queue))
        ok(driver.cuStreamSynchronize(queue))
    assert isinstance(pool, CUmemoryPool)
    assert pool == ok(driver.cuDeviceGetMemPool(DEVICE))


def test_synchronous_operations_can_be_demanded() -> None:
    name = Attribute.CU_POINTER_ATTRIBUTE_SYNC_MEMOPS
    with memory(64) as pointer:
        assert get(name, pointer) is False
        ok(driver.cuPointerSetAttribute(True, name, pointer))
        assert get(name, pointer) is True
        ok(driver.cuPointerSetAttribute(0, name, pointer))
        assert get(name, pointer) is False


def test_a_read_only_attribute_cannot_be_set() -> None:
    with memory(64) as pointer:
        status = driver.cuPointerSetAttribute(1, Attribute.CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, pointer)
        assert status == (CUresult.CUDA_ERROR_INVALID_VALUE,)


def test_an_attribute_without_a_known_type_is_refused() -> None:
    with pytest.raises(ValueError, match="type of attribute 999"):
        driver.cuPointerGetAttribute(999, 4096)


SEVERAL = [
    Attribute.CU_POINTER_ATTRIBUTE_CONTEXT,
    Attribute.CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
    Attribute.CU_POINTER_ATTRIBUTE_IS_MANAGED,
    Attribute.CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
    Attribute.CU_POINTER_ATTRIBUTE_RANGE_START_ADDR,
]


def test_several_at_once(context: CUcontext) -> None:
    with memory(64) as pointer:
        values = ok(driver.cuPointerGetAttributes(len(SEVERAL), SEVERAL, pointer))
        assert values == [context, CUmemorytype.CU_MEMORYTYPE_DEVICE, False, DEVICE, pointer]
        assert [type(value) for value in values] == [CUcontext, CUmemorytype, bool, int, CUdeviceptr]
        assert ok(driver.cuPointerGetAttributes(2, SEVERAL, pointer)) == values[:2]


def test_memory_that_is_none_of_cudas() -> None:
    own = ctypes.create_string_buffer(64)
    address = ctypes.addressof(own)
    kind = Attribute.CU_POINTER_ATTRIBUTE_MEMORY_TYPE
    assert driver.cuPointerGetAttribute(kind, address) == (CUresult.CUDA_ERROR_INVALID_VALUE, None)
    whose, what, managed = ok(driver.cuPointerGetAttributes(3, SEVERAL, address))
    assert (whose, what, managed) == (0, 0, False)
    assert isinstance(what, CUmemorytype)
