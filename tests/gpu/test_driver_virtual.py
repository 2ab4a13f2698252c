"""Virtual memory: addresses and what they are mapped to, each on its own."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import NamedTuple

import pytest

from cudapy import driver
from cudapy.driver import (
    CUdevice_attribute,
    CUmemAccess_flags,
    CUmemAccessDesc,
    CUmemAllocationGranularity_flags,
    CUmemAllocationHandleType,
    CUmemAllocationProp,
    CUmemAllocationType,
    CUmemGenericAllocationHandle,
    CUmemLocationType,
    CUmemRangeHandleType,
    CUresult,
)

from .kernels import DEVICE, device_location, needs, ok, owned, read, write
from .kernels import context as context

pytestmark = pytest.mark.gpu

FILE = CUmemAllocationHandleType.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
BOTH = CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_READWRITE


class Space(NamedTuple):
    """Addresses for two allocations, the size of one, and how to make one."""

    start: int
    size: int
    properties: CUmemAllocationProp

    def map(self, index: int, handle: CUmemGenericAllocationHandle, access: bool = True) -> int:
        """Map an allocation at one half; the address."""
        address = self.start + index * self.size
        ok(driver.cuMemMap(address, self.size, 0, handle, 0))
        if access:
            ok(
                driver.cuMemSetAccess(
                    address, self.size, [CUmemAccessDesc(location=device_location(), flags=BOTH)], 1
                )
            )
        return address

    def unmap(self, *indices: int) -> None:
        """Undo `map`."""
        for index in indices:
            ok(driver.cuMemUnmap(self.start + index * self.size, self.size))


@pytest.fixture
def space() -> Iterator[Space]:
    needs(CUdevice_attribute.CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED)
    shareable = needs(CUdevice_attribute.CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED)
    properties = CUmemAllocationProp(
        type=CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED,
        requestedHandleTypes=FILE if shareable else 0,
        location=device_location(),
    )
    size = ok(
        driver.cuMemGetAllocationGranularity(
            properties, CUmemAllocationGranularity_flags.CU_MEM_ALLOC_GRANULARITY_MINIMUM
        )
    )
    start = ok(driver.cuMemAddressReserve(2 * size, 0, 0, 0))
    yield Space(int(start), size, properties)
    ok(driver.cuMemAddressFree(start, 2 * size))


def test_granularity_is_a_power_of_two(space: Space) -> None:
    recommended = ok(
        driver.cuMemGetAllocationGranularity(
            space.properties, CUmemAllocationGranularity_flags.CU_MEM_ALLOC_GRANULARITY_RECOMMENDED
        )
    )
    assert space.size & (space.size - 1) == 0
    assert recommended % space.size == 0
    assert space.start % space.size == 0


def test_a_size_off_the_granularity_is_an_error(space: Space) -> None:
    status = driver.cuMemCreate(space.size + 1, space.properties, 0)
    assert status == (CUresult.CUDA_ERROR_INVALID_VALUE, None)


def test_mapped_memory_holds_data(space: Space) -> None:
    with owned(driver.cuMemCreate(space.size, space.properties, 0), driver.cuMemRelease) as handle:
        address = space.map(0, handle)
        write(address, range(256))
        last = address + space.size - 1024
        ok(driver.cuMemcpyDtoD(last, address, 1024))
        assert read(last, 256) == list(range(256))
        space.unmap(0)


def test_one_allocation_at_two_addresses(space: Space) -> None:
    with owned(driver.cuMemCreate(space.size, space.properties, 0), driver.cuMemRelease) as handle:
        first, second = space.map(0, handle), space.map(1, handle)
        ok(driver.cuMemsetD32(first, 77, 8))
        assert read(second, 8) == [77] * 8
        space.unmap(0, 1)


def test_two_allocations_side_by_side(space: Space) -> None:
    create = driver.cuMemCreate(space.size, space.properties, 0)
    with (
        owned(create, driver.cuMemRelease) as a,
        owned(driver.cuMemCreate(space.size, space.properties, 0), driver.cuMemRelease) as b,
    ):
        space.map(0, a)
        seam = space.map(1, b) - 16
        ok(driver.cuMemsetD32(seam, 5, 8))  # across both
        assert read(seam, 8) == [5] * 8
        space.unmap(0, 1)


def test_access_begins_with_being_given(space: Space) -> None:
    with owned(driver.cuMemCreate(space.size, space.properties, 0), driver.cuMemRelease) as handle:
        address = space.map(0, handle, access=False)
        assert ok(driver.cuMemGetAccess(device_location(), address)) == 0
        ok(
            driver.cuMemSetAccess(
                address, space.size, [CUmemAccessDesc(location=device_location(), flags=BOTH)], 1
            )
        )
        assert ok(driver.cuMemGetAccess(device_location(), address)) == BOTH
        space.unmap(0)


def test_unmapping_what_nobody_may_use(space: Space) -> None:
    """Neither an access that was refused nor one that was taken away is in the way."""
    here, nowhere = device_location(), device_location()
    nowhere.id = ok(driver.cuDeviceGetCount())
    none = CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_NONE
    refused = [CUmemAccessDesc(location=where, flags=BOTH) for where in (here, nowhere)]
    for access in ([], refused, [CUmemAccessDesc(location=here, flags=none)]):
        handle = ok(driver.cuMemCreate(space.size, space.properties, 0))
        ok(driver.cuMemMap(space.start, space.size, 0, handle, 0))
        ok(driver.cuMemRelease(handle))
        if access:
            (status,) = driver.cuMemSetAccess(space.start, space.size, access, len(access))
            assert bool(status) == (access is refused)
        ok(driver.cuMemUnmap(space.start, space.size))


def test_the_properties_come_back(space: Space) -> None:
    with owned(driver.cuMemCreate(space.size, space.properties, 0), driver.cuMemRelease) as handle:
        found = ok(driver.cuMemGetAllocationPropertiesFromHandle(handle))
        assert found.type == CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
        assert found.requestedHandleTypes == space.properties.requestedHandleTypes
        assert found.location.type == CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
        assert found.location.id == DEVICE


def test_memory_outlives_its_handle_while_it_is_mapped(space: Space) -> None:
    handle = ok(driver.cuMemCreate(space.size, space.properties, 0))
    address = space.map(0, handle)
    ok(driver.cuMemRelease(handle))
    write(address, [1, 2, 3])
    with owned(driver.cuMemRetainAllocationHandle(address + 100), driver.cuMemRelease) as again:
        space.map(1, again)
        assert read(space.start + space.size, 3) == [1, 2, 3]
        space.unmap(1)
    space.unmap(0)


def test_an_allocation_as_a_file_descriptor(space: Space) -> None:
    with owned(driver.cuMemCreate(space.size, space.properties, 0), driver.cuMemRelease) as handle:
        descriptor = ok(driver.cuMemExportToShareableHandle(handle, FILE, 0))
        assert type(descriptor) is int
        with owned(driver.cuMemImportFromShareableHandle(descriptor, FILE), driver.cuMemRelease) as imported:
            os.close(descriptor)
            first, second = space.map(0, handle), space.map(1, imported)
            write(first, [4, 5, 6])
            assert read(second, 3) == [4, 5, 6]
            space.unmap(0, 1)


def test_a_handle_kind_without_a_known_type_is_refused(space: Space) -> None:
    with owned(driver.cuMemCreate(space.size, space.properties, 0), driver.cuMemRelease) as handle:
        with pytest.raises(ValueError, match="not known"):
            driver.cuMemExportToShareableHandle(handle, 64, 0)
        assert ok(driver.cuMemGetAllocationPropertiesFromHandle(handle)).location.id == DEVICE


def test_an_address_range_as_a_file_descriptor() -> None:
    needs(CUdevice_attribute.CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED)
    size = 2 << 20
    with owned(driver.cuMemAlloc(size), driver.cuMemFree) as pointer:
        kind = CUmemRangeHandleType.CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD
        descriptor = ok(driver.cuMemGetHandleForAddressRange(pointer, size, kind, 0))
        assert type(descriptor) is int
        os.fstat(descriptor)
        os.close(descriptor)
