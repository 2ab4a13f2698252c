"""Memory pools: allocation in the order of a stream."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest

from cudapy import driver
from cudapy.driver import CUdevice_attribute

from .apis import Api
from .apis import api as api
from .kernels import DEVICE, needs, needs_driver, ok, owned

pytestmark = pytest.mark.gpu

MEGABYTE = 1 << 20


def properties(api: Api, handles: int = 0) -> Any:
    pinned = api.MemAllocationTypePinned
    return api.MemPoolProps(allocType=pinned, handleTypes=handles, location=api.device_location())


@pytest.fixture
def pool(api: Api) -> Iterator[Any]:
    needs(CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED)
    with owned(api.MemPoolCreate(properties(api)), api.MemPoolDestroy) as made:
        yield made


@pytest.fixture
def get(api: Api, pool: Any) -> Any:
    """The value of an attribute of the pool."""
    return lambda name: ok(api.MemPoolGetAttribute(pool, name))


def test_memory_comes_and_goes_in_order(api: Api, pool: Any) -> None:
    with api.stream() as queue:
        pointer = ok(api.MallocFromPoolAsync(MEGABYTE, pool, queue))
        ok(api.MemsetAsync(pointer, 1, 32, queue))
        assert api.read(pointer, 8) == [0x01010101] * 8
        ok(api.FreeAsync(pointer, queue))
        again = ok(api.MallocFromPoolAsync(MEGABYTE, pool, queue))
        assert again == pointer  # the same stream may have it back at once
        ok(api.FreeAsync(again, queue))
        ok(api.StreamSynchronize(queue))


def test_from_the_pool_of_the_device(api: Api) -> None:
    needs(CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED)
    with api.stream() as queue:
        pointer = ok(api.MallocAsync(MEGABYTE, queue))
        assert int(pointer)
        used = ok(api.MemPoolGetAttribute(ok(api.DeviceGetMemPool(DEVICE)), api.MemPoolAttrUsedMemCurrent))
        ok(api.FreeAsync(pointer, queue))
        ok(api.StreamSynchronize(queue))
        assert used >= MEGABYTE
        assert api.MallocAsync(1 << 60, queue) == (api.ErrorMemoryAllocation, None)


def test_figures(api: Api, pool: Any, get: Any) -> None:
    used, high = api.MemPoolAttrUsedMemCurrent, api.MemPoolAttrUsedMemHigh
    reserved = api.MemPoolAttrReservedMemCurrent
    assert get(used) == get(reserved) == 0
    with api.stream() as queue:
        pointer = ok(api.MallocFromPoolAsync(MEGABYTE, pool, queue))
        ok(api.StreamSynchronize(queue))
        assert get(reserved) >= get(used) >= MEGABYTE
        ok(api.FreeAsync(pointer, queue))
        ok(api.StreamSynchronize(queue))
    assert get(used) == 0
    assert get(high) >= MEGABYTE
    ok(api.MemPoolSetAttribute(pool, high, 0))
    assert get(high) == 0
    assert api.MemPoolSetAttribute(pool, high, 1) == (api.ErrorInvalidValue,)


def test_a_threshold_keeps_memory_until_it_is_trimmed(api: Api, pool: Any, get: Any) -> None:
    threshold, reserved = api.MemPoolAttrReleaseThreshold, api.MemPoolAttrReservedMemCurrent
    assert get(threshold) == 0
    ok(api.MemPoolSetAttribute(pool, threshold, 2**64 - 1))
    assert get(threshold) == 2**64 - 1
    with api.stream() as queue:
        pointer = ok(api.MallocFromPoolAsync(MEGABYTE, pool, queue))
        ok(api.FreeAsync(pointer, queue))
        ok(api.StreamSynchronize(queue))
    assert get(reserved) >= MEGABYTE
    ok(api.MemPoolTrimTo(pool, 0))
    assert get(reserved) == 0


@pytest.mark.parametrize(
    "name", ["FollowEventDependencies", "AllowOpportunistic", "AllowInternalDependencies"]
)
def test_reuse_policies_are_on_at_first(api: Api, pool: Any, get: Any, name: str) -> None:
    policy = getattr(api, f"MemPoolReuse{name}")
    assert get(policy) == 1
    ok(api.MemPoolSetAttribute(pool, policy, 0))
    assert get(policy) == 0


def test_values_of_a_wrong_type_are_refused(api: Api, pool: Any, get: Any) -> None:
    threshold = api.MemPoolAttrReleaseThreshold
    with pytest.raises(TypeError):
        api.MemPoolSetAttribute(pool, threshold, "1 MB")
    with pytest.raises(OverflowError):
        api.MemPoolSetAttribute(pool, threshold, -1)
    assert get(threshold) == 0


def test_access(api: Api, pool: Any) -> None:
    both = api.MemAccessFlagsProtReadWrite
    ok(api.MemPoolSetAccess(pool, [api.MemAccessDesc(location=api.device_location(), flags=both)], 1))
    assert ok(api.MemPoolGetAccess(pool, api.device_location())) is both


def test_the_pool_of_a_device_can_be_replaced(api: Api, pool: Any, get: Any) -> None:
    default = ok(api.DeviceGetDefaultMemPool(DEVICE))
    assert default == ok(driver.cuDeviceGetDefaultMemPool(DEVICE)) != pool
    before = ok(api.DeviceGetMemPool(DEVICE))
    ok(api.DeviceSetMemPool(DEVICE, pool))
    try:
        assert ok(api.DeviceGetMemPool(DEVICE)) == pool
        with api.stream() as queue:
            pointer = ok(api.MallocAsync(64, queue))
            whose = driver.CUpointer_attribute.CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE
            assert ok(driver.cuPointerGetAttribute(whose, int(pointer))) == pool
            assert get(api.MemPoolAttrUsedMemCurrent) >= 64
            ok(api.FreeAsync(pointer, queue))
            ok(api.StreamSynchronize(queue))
    finally:
        ok(api.DeviceSetMemPool(DEVICE, before))
    assert ok(api.DeviceGetMemPool(DEVICE)) == before


def test_cuda13_asks_by_location(api: Api, pool: Any) -> None:
    api.needs_function("MemGetMemPool")
    needs_driver(13, 0)
    place, pinned = api.device_location(), api.MemAllocationTypePinned
    assert ok(api.MemGetDefaultMemPool(place, pinned)) == ok(api.DeviceGetDefaultMemPool(DEVICE))
    before = ok(api.MemGetMemPool(place, pinned))
    ok(api.MemSetMemPool(place, pinned, pool))
    try:
        assert ok(api.MemGetMemPool(place, pinned)) == pool
    finally:
        ok(api.MemSetMemPool(place, pinned, before))


def test_a_pool_as_a_file_descriptor(api: Api) -> None:
    needs(CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED)
    kind = api.MemHandleTypePosixFileDescriptor
    if not needs(CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MEMPOOL_SUPPORTED_HANDLE_TYPES) & kind:
        pytest.skip("pools cannot be exported as file descriptors here")
    made = api.MemPoolCreate(properties(api, kind))
    with owned(made, api.MemPoolDestroy) as pool, api.stream() as queue:
        descriptor = ok(api.MemPoolExportToShareableHandle(pool, kind, 0))
        assert type(descriptor) is int
        os.fstat(descriptor)
        os.close(descriptor)
        pointer = ok(api.MallocFromPoolAsync(64, pool, queue))
        ok(api.StreamSynchronize(queue))
        exported = ok(api.MemPoolExportPointer(pointer))
        assert len(exported.reserved) == 64 and any(exported.reserved)
        ok(api.FreeAsync(pointer, queue))
        ok(api.StreamSynchronize(queue))


def test_a_pool_that_is_not_meant_to_be_shared(api: Api, pool: Any) -> None:
    kind = api.MemHandleTypePosixFileDescriptor
    status, descriptor = api.MemPoolExportToShareableHandle(pool, kind, 0)
    assert (status, descriptor) == (api.ErrorInvalidValue, None)
