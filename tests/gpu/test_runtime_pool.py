"""The Runtime API: memory pools, allocation in the order of a stream."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest

from cudapy import driver
from cudapy import runtime as rt
from cudapy.runtime import (
    cudaDeviceAttr,
    cudaError_t,
    cudaMemAccessDesc,
    cudaMemAccessFlags,
    cudaMemAllocationHandleType,
    cudaMemAllocationType,
    cudaMemPool_t,
    cudaMemPoolAttr,
    cudaMemPoolProps,
)

from .kernels import DEVICE, needs_driver, ok, owned
from .runtime_kernels import device as device
from .runtime_kernels import device_location, needs, needs_function, read, stream

pytestmark = pytest.mark.gpu

Attribute = cudaMemPoolAttr
FILE = cudaMemAllocationHandleType.cudaMemHandleTypePosixFileDescriptor
MEGABYTE = 1 << 20
PINNED = cudaMemAllocationType.cudaMemAllocationTypePinned


def properties(handles: int = 0) -> cudaMemPoolProps:
    return cudaMemPoolProps(allocType=PINNED, handleTypes=handles, location=device_location())


@pytest.fixture
def pool() -> Iterator[cudaMemPool_t]:
    needs(cudaDeviceAttr.cudaDevAttrMemoryPoolsSupported)
    with owned(rt.cudaMemPoolCreate(properties()), rt.cudaMemPoolDestroy) as made:
        yield made


def get(pool: cudaMemPool_t, name: cudaMemPoolAttr) -> Any:
    return ok(rt.cudaMemPoolGetAttribute(pool, name))


def test_memory_comes_and_goes_in_order(pool: cudaMemPool_t) -> None:
    with stream() as queue:
        pointer = ok(rt.cudaMallocFromPoolAsync(MEGABYTE, pool, queue))
        ok(rt.cudaMemsetAsync(pointer, 1, 32, queue))
        assert read(pointer, 8) == [0x01010101] * 8
        ok(rt.cudaFreeAsync(pointer, queue))
        again = ok(rt.cudaMallocFromPoolAsync(MEGABYTE, pool, queue))
        assert again == pointer  # the same stream may have it back at once
        ok(rt.cudaFreeAsync(again, queue))
        ok(rt.cudaStreamSynchronize(queue))


def test_from_the_pool_of_the_device() -> None:
    needs(cudaDeviceAttr.cudaDevAttrMemoryPoolsSupported)
    with stream() as queue:
        pointer = ok(rt.cudaMallocAsync(MEGABYTE, queue))
        assert isinstance(pointer, int) and pointer
        used = get(ok(rt.cudaDeviceGetMemPool(DEVICE)), Attribute.cudaMemPoolAttrUsedMemCurrent)
        ok(rt.cudaFreeAsync(pointer, queue))
        ok(rt.cudaStreamSynchronize(queue))
        assert used >= MEGABYTE
        assert rt.cudaMallocAsync(1 << 60, queue) == (cudaError_t.cudaErrorMemoryAllocation, None)


def test_figures(pool: cudaMemPool_t) -> None:
    used, high = Attribute.cudaMemPoolAttrUsedMemCurrent, Attribute.cudaMemPoolAttrUsedMemHigh
    reserved = Attribute.cudaMemPoolAttrReservedMemCurrent
    assert get(pool, used) == get(pool, reserved) == 0
    with stream() as queue:
        pointer = ok(rt.cudaMallocFromPoolAsync(MEGABYTE, pool, queue))
        ok(rt.cudaStreamSynchronize(queue))
        assert get(pool, reserved) >= get(pool, used) >= MEGABYTE
        ok(rt.cudaFreeAsync(pointer, queue))
        ok(rt.cudaStreamSynchronize(queue))
    assert get(pool, used) == 0
    assert get(pool, high) >= MEGABYTE
    ok(rt.cudaMemPoolSetAttribute(pool, high, 0))
    assert get(pool, high) == 0
    assert rt.cudaMemPoolSetAttribute(pool, high, 1) == (cudaError_t.cudaErrorInvalidValue,)


def test_a_threshold_keeps_memory_until_it_is_trimmed(pool: cudaMemPool_t) -> None:
    threshold = Attribute.cudaMemPoolAttrReleaseThreshold
    reserved = Attribute.cudaMemPoolAttrReservedMemCurrent
    assert get(pool, threshold) == 0
    ok(rt.cudaMemPoolSetAttribute(pool, threshold, 2**64 - 1))
    assert get(pool, threshold) == 2**64 - 1
    with stream() as queue:
        pointer = ok(rt.cudaMallocFromPoolAsync(MEGABYTE, pool, queue))
        ok(rt.cudaFreeAsync(pointer, queue))
        ok(rt.cudaStreamSynchronize(queue))
    assert get(pool, reserved) >= MEGABYTE
    ok(rt.cudaMemPoolTrimTo(pool, 0))
    assert get(pool, reserved) == 0


@pytest.mark.parametrize(
    "name", ["FollowEventDependencies", "AllowOpportunistic", "AllowInternalDependencies"]
)
def test_reuse_policies_are_on_at_first(pool: cudaMemPool_t, name: str) -> None:
    policy = Attribute[f"cudaMemPoolReuse{name}"]  # type: ignore[misc, valid-type]
    assert get(pool, policy) == 1
    ok(rt.cudaMemPoolSetAttribute(pool, policy, 0))
    assert get(pool, policy) == 0


def test_access(pool: cudaMemPool_t) -> None:
    both = cudaMemAccessFlags.cudaMemAccessFlagsProtReadWrite
    ok(rt.cudaMemPoolSetAccess(pool, [cudaMemAccessDesc(location=device_location(), flags=both)], 1))
    access = ok(rt.cudaMemPoolGetAccess(pool, device_location()))
    assert access is both


def test_the_pool_of_a_device_can_be_replaced(pool: cudaMemPool_t) -> None:
    default = ok(rt.cudaDeviceGetDefaultMemPool(DEVICE))
    assert default == ok(driver.cuDeviceGetDefaultMemPool(DEVICE)) != pool
    before = ok(rt.cudaDeviceGetMemPool(DEVICE))
    try:
        ok(rt.cudaDeviceSetMemPool(DEVICE, pool))
        assert ok(rt.cudaDeviceGetMemPool(DEVICE)) == pool
        with stream() as queue:
            pointer = ok(rt.cudaMallocAsync(64, queue))
            assert get(pool, Attribute.cudaMemPoolAttrUsedMemCurrent) >= 64
            ok(rt.cudaFreeAsync(pointer, queue))
            ok(rt.cudaStreamSynchronize(queue))
    finally:
        ok(rt.cudaDeviceSetMemPool(DEVICE, before))
    assert ok(rt.cudaDeviceGetMemPool(DEVICE)) == before


def test_cuda13_asks_by_location(pool: cudaMemPool_t) -> None:
    needs_function("cudaMemGetMemPool")
    needs_driver(13, 0)
    place = device_location()
    assert ok(rt.cudaMemGetDefaultMemPool(place, PINNED)) == ok(rt.cudaDeviceGetDefaultMemPool(DEVICE))
    before = ok(rt.cudaMemGetMemPool(place, PINNED))
    try:
        ok(rt.cudaMemSetMemPool(place, PINNED, pool))
        assert ok(rt.cudaMemGetMemPool(place, PINNED)) == pool
    finally:
        ok(rt.cudaMemSetMemPool(place, PINNED, before))


def test_a_pool_as_a_file_descriptor() -> None:
    needs(cudaDeviceAttr.cudaDevAttrMemoryPoolsSupported)
    if not needs(cudaDeviceAttr.cudaDevAttrMemoryPoolSupportedHandleTypes) & FILE:
        pytest.skip("pools cannot be exported as file descriptors here")
    with owned(rt.cudaMemPoolCreate(properties(FILE)), rt.cudaMemPoolDestroy) as shared, stream() as queue:
        descriptor = ok(rt.cudaMemPoolExportToShareableHandle(shared, FILE, 0))
        assert type(descriptor) is int
        os.fstat(descriptor)
        os.close(descriptor)
        pointer = ok(rt.cudaMallocFromPoolAsync(64, shared, queue))
        ok(rt.cudaStreamSynchronize(queue))
        exported = ok(rt.cudaMemPoolExportPointer(pointer))
        assert len(exported.reserved) == 64 and any(exported.reserved)
        ok(rt.cudaFreeAsync(pointer, queue))
        ok(rt.cudaStreamSynchronize(queue))


def test_a_pool_that_is_not_meant_to_be_shared(pool: cudaMemPool_t) -> None:
    status, descriptor = rt.cudaMemPoolExportToShareableHandle(pool, FILE, 0)
    assert (status, descriptor) == (cudaError_t.cudaErrorInvalidValue, None)
