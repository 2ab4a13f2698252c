"""Memory pools: allocation in the order of a stream."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest

from cudapy import driver
from cudapy.driver import (
    CUdevice_attribute,
    CUmemAccess_flags,
    CUmemAccessDesc,
    CUmemAllocationHandleType,
    CUmemAllocationType,
    CUmemoryPool,
    CUmemPool_attribute,
    CUmemPoolProps,
    CUpointer_attribute,
    CUresult,
)

from .kernels import DEVICE, device_location, needs, needs_driver, ok, owned, read, stream
from .kernels import context as context

pytestmark = pytest.mark.gpu

Attribute = CUmemPool_attribute
MEGABYTE = 1 << 20


def properties(handles: int = CUmemAllocationHandleType.CU_MEM_HANDLE_TYPE_NONE) -> CUmemPoolProps:
    return CUmemPoolProps(
        allocType=CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED,
        handleTypes=handles,
        location=device_location(),
    )


@pytest.fixture
def pool() -> Iterator[CUmemoryPool]:
    needs(CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED)
    with owned(driver.cuMemPoolCreate(properties()), driver.cuMemPoolDestroy) as made:
        yield made


def get(pool: CUmemoryPool, name: CUmemPool_attribute) -> Any:
    return ok(driver.cuMemPoolGetAttribute(pool, name))


def test_memory_comes_and_goes_in_order(pool: CUmemoryPool) -> None:
    with stream() as queue:
        pointer = ok(driver.cuMemAllocFromPoolAsync(MEGABYTE, pool, queue))
        ok(driver.cuMemsetD32Async(pointer, 42, 8, queue))
        assert read(pointer, 8) == [42] * 8
        ok(driver.cuMemFreeAsync(pointer, queue))
        again = ok(driver.cuMemAllocFromPoolAsync(MEGABYTE, pool, queue))
        assert again == pointer  # the same stream may have it back at once
        ok(driver.cuMemFreeAsync(again, queue))
        ok(driver.cuStreamSynchronize(queue))


def test_figures(pool: CUmemoryPool) -> None:
    used, used_high = Attribute.CU_MEMPOOL_ATTR_USED_MEM_CURRENT, Attribute.CU_MEMPOOL_ATTR_USED_MEM_HIGH
    reserved = Attribute.CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT
    assert get(pool, used) == get(pool, reserved) == 0
    with stream() as queue:
        pointer = ok(driver.cuMemAllocFromPoolAsync(MEGABYTE, pool, queue))
        ok(driver.cuStreamSynchronize(queue))
        assert get(pool, reserved) >= get(pool, used) >= MEGABYTE
        ok(driver.cuMemFreeAsync(pointer, queue))
        ok(driver.cuStreamSynchronize(queue))
    assert get(pool, used) == 0
    assert get(pool, used_high) >= MEGABYTE
    ok(driver.cuMemPoolSetAttribute(pool, used_high, 0))
    assert get(pool, used_high) == 0
    assert driver.cuMemPoolSetAttribute(pool, used_high, 1) == (CUresult.CUDA_ERROR_INVALID_VALUE,)


def test_a_threshold_keeps_memory_until_it_is_trimmed(pool: CUmemoryPool) -> None:
    threshold, reserved = (
        Attribute.CU_MEMPOOL_ATTR_RELEASE_THRESHOLD,
        Attribute.CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT,
    )
    assert get(pool, threshold) == 0
    ok(driver.cuMemPoolSetAttribute(pool, threshold, 2**64 - 1))
    assert get(pool, threshold) == 2**64 - 1
    with stream() as queue:
        pointer = ok(driver.cuMemAllocFromPoolAsync(MEGABYTE, pool, queue))
        ok(driver.cuMemFreeAsync(pointer, queue))
        ok(driver.cuStreamSynchronize(queue))
    assert get(pool, reserved) >= MEGABYTE
    ok(driver.cuMemPoolTrimTo(pool, 0))
    assert get(pool, reserved) == 0


@pytest.mark.parametrize(
    "name",
    [
        "CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES",
        "CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC",
        "CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES",
    ],
)
def test_reuse_policies_are_on_at_first(pool: CUmemoryPool, name: str) -> None:
    policy = Attribute[name]  # type: ignore[type-arg, valid-type]
    assert get(pool, policy) == 1
    ok(driver.cuMemPoolSetAttribute(pool, policy, 0))
    assert get(pool, policy) == 0


def test_values_of_a_wrong_type_are_refused(pool: CUmemoryPool) -> None:
    with pytest.raises(TypeError):
        driver.cuMemPoolSetAttribute(pool, Attribute.CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, "1 MB")
    with pytest.raises(OverflowError):
        driver.cuMemPoolSetAttribute(pool, Attribute.CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, -1)
    assert get(pool, Attribute.CU_MEMPOOL_ATTR_RELEASE_THRESHOLD) == 0


def test_access(pool: CUmemoryPool) -> None:
    both = CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_READWRITE
    ok(driver.cuMemPoolSetAccess(pool, [CUmemAccessDesc(location=device_location(), flags=both)], 1))
    access = ok(driver.cuMemPoolGetAccess(pool, device_location()))
    assert isinstance(access, CUmemAccess_flags) and access == both


def test_the_pool_of_a_device_can_be_replaced(pool: CUmemoryPool) -> None:
    default = ok(driver.cuDeviceGetDefaultMemPool(DEVICE))
    before = ok(driver.cuDeviceGetMemPool(DEVICE))
    ok(driver.cuDeviceSetMemPool(DEVICE, pool))
    with stream() as queue:
        pointer = ok(driver.cuMemAllocAsync(64, queue))
        whose = ok(
            driver.cuPointerGetAttribute(CUpointer_attribute.CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, pointer)
        )
        now = ok(driver.cuDeviceGetMemPool(DEVICE))
        ok(driver.cuDeviceSetMemPool(DEVICE, before))
        ok(driver.cuMemFreeAsync(pointer, queue))
        ok(driver.cuStreamSynchronize(queue))
    assert now == whose == pool != default
    assert ok(driver.cuDeviceGetMemPool(DEVICE)) == before


def test_cuda13_asks_by_location(pool: CUmemoryPool) -> None:
    needs_driver(13, 0)
    pinned = CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
    default = ok(driver.cuMemGetDefaultMemPool(device_location(), pinned))
    assert default == ok(driver.cuDeviceGetDefaultMemPool(DEVICE))
    before = ok(driver.cuMemGetMemPool(device_location(), pinned))
    ok(driver.cuMemSetMemPool(device_location(), pinned, pool))
    now = ok(driver.cuMemGetMemPool(device_location(), pinned))
    ok(driver.cuMemSetMemPool(device_location(), pinned, before))
    assert now == pool


def test_a_pool_as_a_file_descriptor() -> None:
    needs(CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED)
    kind = CUmemAllocationHandleType.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
    if not needs(CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MEMPOOL_SUPPORTED_HANDLE_TYPES) & kind:
        pytest.skip("pools cannot be exported as file descriptors here")
    with owned(driver.cuMemPoolCreate(properties(kind)), driver.cuMemPoolDestroy) as pool, stream() as queue:
        descriptor = ok(driver.cuMemPoolExportToShareableHandle(pool, kind, 0))
        assert type(descriptor) is int
        os.fstat(descriptor)
        os.close(descriptor)
        pointer = ok(driver.cuMemAllocFromPoolAsync(64, pool, queue))
        ok(driver.cuStreamSynchronize(queue))
        exported = ok(driver.cuMemPoolExportPointer(pointer))
        assert len(exported.reserved) == 64 and any(exported.reserved)
        ok(driver.cuMemFreeAsync(pointer, queue))
        ok(driver.cuStreamSynchronize(queue))


def test_a_pool_that_is_not_meant_to_be_shared(pool: CUmemoryPool) -> None:
    kind = CUmemAllocationHandleType.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
    status, descriptor = driver.cuMemPoolExportToShareableHandle(pool, kind, 0)
    assert (status, descriptor) == (CUresult.CUDA_ERROR_INVALID_VALUE, None)
