"""Host memory that the device can reach: page-locked, registered and managed."""

from __future__ import annotations

import ctypes
import mmap
from collections.abc import Callable, Iterator

import numpy as np
import pytest

from cudapy import driver
from cudapy.driver import (
    CU_DEVICE_CPU,
    CU_DEVICE_INVALID,
    CU_MEMHOSTALLOC_DEVICEMAP,
    CU_MEMHOSTALLOC_PORTABLE,
    CU_MEMHOSTALLOC_WRITECOMBINED,
    CU_MEMHOSTREGISTER_DEVICEMAP,
    CUdevice,
    CUdevice_attribute,
    CUdeviceptr,
    CUmem_advise,
    CUmem_range_attribute,
    CUmemAttach_flags,
    CUmemLocation,
    CUmemLocationType,
    CUmemorytype,
    CUpointer_attribute,
    CUresult,
)

from .kernels import (
    DEVICE,
    device_location,
    function,
    launch,
    needs,
    needs_driver,
    no_context,
    ok,
    owned,
    stream,
)
from .kernels import context as context

pytestmark = pytest.mark.gpu

SIZE = 1 << 16
Attribute = CUmem_range_attribute


def words(address: int, count: int) -> ctypes.Array[ctypes.c_int]:
    """A view of memory at an address."""
    return (ctypes.c_int * count).from_address(address)


def fill(pointer: CUdeviceptr | int, value: int, count: int) -> None:
    """Let the device write."""
    launch(
        function("fill"), count, (int(pointer), value, count), (ctypes.c_void_p, ctypes.c_int, ctypes.c_int)
    )
    ok(driver.cuCtxSynchronize())


class TestPageLocked:
    def test_the_device_writes_to_mapped_memory(self) -> None:
        flags = CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_PORTABLE
        with owned(driver.cuMemHostAlloc(256, flags), driver.cuMemFreeHost) as host:
            words(host, 64)[:] = [0] * 64
            assert ok(driver.cuMemHostGetFlags(host)) & CU_MEMHOSTALLOC_DEVICEMAP
            fill(ok(driver.cuMemHostGetDevicePointer(host, 0)), 7, 60)
            assert list(words(host, 64)) == [7] * 60 + [0] * 4

    def test_write_combined_memory_says_so(self) -> None:
        flags = CU_MEMHOSTALLOC_WRITECOMBINED
        with owned(driver.cuMemHostAlloc(256, flags), driver.cuMemFreeHost) as host:
            assert ok(driver.cuMemHostGetFlags(host)) & flags

    def test_plain_allocation(self) -> None:
        with owned(driver.cuMemAllocHost(256), driver.cuMemFreeHost) as host:
            words(host, 64)[:] = range(64)  # type: ignore[call-overload]
            assert ok(driver.cuMemHostGetDevicePointer(host, 0)) == host
            start, size = ok(driver.cuMemGetAddressRange(host))
            assert start == host and size >= 256


class TestRegistered:
    @pytest.fixture
    def pages(self) -> Iterator[np.ndarray]:
        needs(CUdevice_attribute.CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED)
        yield np.frombuffer(mmap.mmap(-1, SIZE), np.int32)

    def test_the_device_writes_to_it(self, pages: np.ndarray) -> None:
        ok(driver.cuMemHostRegister(pages, SIZE, CU_MEMHOSTREGISTER_DEVICEMAP))
        pointer = ok(driver.cuMemHostGetDevicePointer(pages, 0))
        fill(pointer, 9, 100)
        kind = CUpointer_attribute.CU_POINTER_ATTRIBUTE_MEMORY_TYPE
        assert ok(driver.cuPointerGetAttribute(kind, pointer)) == CUmemorytype.CU_MEMORYTYPE_HOST
        ok(driver.cuMemHostUnregister(pages))
        assert pages[:101].tolist() == [9] * 100 + [0]
        assert driver.cuPointerGetAttribute(kind, pages.ctypes.data) == (
            CUresult.CUDA_ERROR_INVALID_VALUE,
            None,
        )

    def test_twice_is_an_error_both_ways(self, pages: np.ndarray) -> None:
        ok(driver.cuMemHostRegister(pages, SIZE, 0))
        assert driver.cuMemHostRegister(pages, SIZE, 0) == (
            CUresult.CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED,
        )
        ok(driver.cuMemHostUnregister(pages))
        assert driver.cuMemHostUnregister(pages) == (CUresult.CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED,)

    def test_only_its_start_unregisters_it(self, pages: np.ndarray) -> None:
        address = pages.ctypes.data
        ok(driver.cuMemHostRegister(address, SIZE, 0))
        for wrong in (0, address + 8, address + SIZE - 1):
            assert driver.cuMemHostUnregister(wrong) == (CUresult.CUDA_ERROR_INVALID_VALUE,)
        ok(driver.cuMemHostUnregister(address))

    def test_no_context_is_needed_to_unregister(self, pages: np.ndarray) -> None:
        ok(driver.cuMemHostRegister(pages, SIZE, 0))
        with no_context():
            assert driver.cuMemHostUnregister(pages) == (0,)

    def test_more_bytes_than_the_buffer_has(self, pages: np.ndarray) -> None:
        with pytest.raises(ValueError, match="the call needs"):
            driver.cuMemHostRegister(pages, SIZE + 1, 0)


class TestManaged:
    @pytest.fixture
    def managed(self) -> Iterator[CUdeviceptr]:
        needs(CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY)
        needs(CUdevice_attribute.CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS)
        with owned(
            driver.cuMemAllocManaged(SIZE, CUmemAttach_flags.CU_MEM_ATTACH_GLOBAL), driver.cuMemFree
        ) as pointer:
            yield pointer

    def get(self, name: CUmem_range_attribute, pointer: CUdeviceptr, size: int = 4) -> object:
        return ok(driver.cuMemRangeGetAttribute(size, name, pointer, SIZE))

    def test_host_and_device_share_it(self, managed: CUdeviceptr) -> None:
        view = words(int(managed), 64)
        view[:] = range(64)  # type: ignore[call-overload]
        launch(function("add"), 64, (int(managed), 100), (ctypes.c_void_p, ctypes.c_int))
        ok(driver.cuCtxSynchronize())
        assert list(view) == list(range(100, 164))

    def test_mostly_read(self, managed: CUdeviceptr) -> None:
        assert self.get(Attribute.CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, managed) == 0
        ok(driver.cuMemAdvise(managed, SIZE, CUmem_advise.CU_MEM_ADVISE_SET_READ_MOSTLY, DEVICE))
        assert self.get(Attribute.CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, managed) == 1
        ok(driver.cuMemAdvise(managed, SIZE, CUmem_advise.CU_MEM_ADVISE_UNSET_READ_MOSTLY, CUdevice(DEVICE)))
        assert self.get(Attribute.CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, managed) == 0

    @pytest.mark.parametrize("form", ["cuda12", "cuda13"])
    def test_preferred_location(self, managed: CUdeviceptr, form: str) -> None:
        host = CUmemLocation(type=CUmemLocationType.CU_MEM_LOCATION_TYPE_HOST)
        places = {
            DEVICE: DEVICE if form == "cuda12" else device_location(),
            CU_DEVICE_CPU: CU_DEVICE_CPU if form == "cuda12" else host,
        }
        if form == "cuda13":
            needs_driver(12, 2)
        for ordinal, place in places.items():
            ok(driver.cuMemAdvise(managed, SIZE, CUmem_advise.CU_MEM_ADVISE_SET_PREFERRED_LOCATION, place))
            assert self.get(Attribute.CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, managed) == ordinal

    def test_the_location_has_a_type(self, managed: CUdeviceptr) -> None:
        needs_driver(12, 2)
        ok(
            driver.cuMemAdvise(
                managed, SIZE, CUmem_advise.CU_MEM_ADVISE_SET_PREFERRED_LOCATION, location=device_location()
            )
        )
        kind = self.get(Attribute.CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE, managed)
        assert kind == CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
        assert isinstance(kind, CUmemLocationType)
        assert self.get(Attribute.CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID, managed) == DEVICE

    def test_accessed_by_is_a_list(self, managed: CUdeviceptr) -> None:
        name = Attribute.CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY
        assert self.get(name, managed, 12) == [CU_DEVICE_INVALID] * 3
        ok(driver.cuMemAdvise(managed, SIZE, CUmem_advise.CU_MEM_ADVISE_SET_ACCESSED_BY, DEVICE))
        assert self.get(name, managed, 12) == [DEVICE, CU_DEVICE_INVALID, CU_DEVICE_INVALID]

    def test_accessed_by_is_sorted(self, managed: CUdeviceptr) -> None:
        """The host, which is -1, comes last whenever it was named."""
        for place in (CU_DEVICE_CPU, DEVICE):
            ok(driver.cuMemAdvise(managed, SIZE, CUmem_advise.CU_MEM_ADVISE_SET_ACCESSED_BY, place))
        name = Attribute.CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY
        assert self.get(name, managed, 12) == [DEVICE, CU_DEVICE_CPU, CU_DEVICE_INVALID]

    @pytest.mark.parametrize("form", ["cuda12", "cuda13"])
    def test_prefetch(self, managed: CUdeviceptr, form: str) -> None:
        name = Attribute.CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION
        words(int(managed), 1)[0] = 5
        assert self.get(name, managed) == CU_DEVICE_INVALID
        with stream() as queue:
            if form == "cuda12":
                ok(driver.cuMemPrefetchAsync(managed, SIZE, DEVICE, queue))
            else:
                needs_driver(12, 2)
                ok(driver.cuMemPrefetchAsync(managed, SIZE, device_location(), 0, queue))
            ok(driver.cuStreamSynchronize(queue))
        assert self.get(name, managed) == DEVICE
        assert words(int(managed), 1)[0] == 5

    def test_several_attributes_at_once(self, managed: CUdeviceptr) -> None:
        ok(driver.cuMemAdvise(managed, SIZE, CUmem_advise.CU_MEM_ADVISE_SET_ACCESSED_BY, DEVICE))
        values = ok(
            driver.cuMemRangeGetAttributes(
                [4, 8, 4],
                [
                    Attribute.CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY,
                    Attribute.CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY,
                    Attribute.CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION,
                ],
                3,
                managed,
                SIZE,
            )
        )
        assert values == [0, [DEVICE, CU_DEVICE_INVALID], CU_DEVICE_INVALID]

    def test_a_wrong_size_is_an_error(self, managed: CUdeviceptr) -> None:
        name = Attribute.CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY
        assert driver.cuMemRangeGetAttribute(8, name, managed, SIZE) == (
            CUresult.CUDA_ERROR_INVALID_VALUE,
            None,
        )

    @pytest.mark.parametrize(
        "discard",
        [
            pytest.param(lambda p, q: driver.cuMemDiscardBatchAsync([p], [SIZE], 1, 0, q), id="discard"),
            pytest.param(
                lambda p, q: driver.cuMemPrefetchBatchAsync(
                    [p], [SIZE], 1, [device_location()], [0], 1, 0, q
                ),
                id="prefetch",
            ),
            pytest.param(
                lambda p, q: driver.cuMemDiscardAndPrefetchBatchAsync(
                    [p], [SIZE], 1, [device_location()], [0], 1, 0, q
                ),
                id="both",
            ),
        ],
    )
    def test_batches(self, managed: CUdeviceptr, discard: Callable[..., tuple[CUresult]]) -> None:
        needs_driver(13, 0)
        words(int(managed), 64)[:] = [1] * 64
        with stream() as queue:
            ok(discard(managed, queue))
            ok(driver.cuStreamSynchronize(queue))
        fill(managed, 3, 64)
        assert list(words(int(managed), 64)) == [3] * 64

    def test_memory_of_one_stream(self) -> None:
        needs(CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY)
        host, single = CUmemAttach_flags.CU_MEM_ATTACH_HOST, CUmemAttach_flags.CU_MEM_ATTACH_SINGLE
        with owned(driver.cuMemAllocManaged(SIZE, host), driver.cuMemFree) as pointer, stream() as queue:
            ok(driver.cuStreamAttachMemAsync(queue, pointer, 0, single))
            values = (int(pointer), 4, 64)
            launch(function("fill"), 64, values, (ctypes.c_void_p, ctypes.c_int, ctypes.c_int), queue)
            ok(driver.cuStreamSynchronize(queue))
            assert list(words(int(pointer), 64)) == [4] * 64

    def test_an_unknown_flag_is_an_error(self) -> None:
        assert driver.cuMemAllocManaged(SIZE, 99) == (CUresult.CUDA_ERROR_INVALID_VALUE, None)
