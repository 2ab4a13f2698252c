"""Host memory that the device can reach: page-locked, registered and managed."""

from __future__ import annotations

import ctypes
import mmap
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from cudapy import driver, runtime
from cudapy.driver import CUdevice_attribute, CUpointer_attribute

from .apis import DRIVER, Api, only
from .apis import api as api
from .kernels import DEVICE, needs, needs_driver, no_context, ok, owned
from .runtime_kernels import FILL_TYPES, words

pytestmark = pytest.mark.gpu

SIZE = 1 << 16


def fill(api: Api, pointer: Any, value: int, count: int) -> None:
    """Let the device write."""
    api.launch(api.kernel("fill"), count, (int(pointer), value, count), FILL_TYPES)
    ok(api.CtxSynchronize())


def kind_of(address: Any) -> Any:
    """The status and the type of the memory at an address, as the driver has them."""
    name = CUpointer_attribute.CU_POINTER_ATTRIBUTE_MEMORY_TYPE
    return driver.cuPointerGetAttribute(name, address)


class TestPageLocked:
    def test_the_device_writes_to_mapped_memory(self, api: Api) -> None:
        flags = api.HostAllocMapped | api.HostAllocPortable
        with owned(api.HostAlloc(256, flags), api.FreeHost) as host:
            words(host, 64)[:] = [0] * 64
            assert ok(api.HostGetFlags(host)) & api.HostAllocMapped
            pointer = ok(api.HostGetDevicePointer(host, 0))
            fill(api, pointer, 7, 60)
            assert list(words(host, 64)) == [7] * 60 + [0] * 4
            if not api.is_driver:
                found = ok(runtime.cudaPointerGetAttributes(host))
                assert found.type == api.MemoryTypeHost
                assert (found.hostPointer, found.devicePointer) == (host, pointer)

    def test_write_combined_memory_says_so(self, api: Api) -> None:
        flags = api.HostAllocWriteCombined
        with owned(api.HostAlloc(256, flags), api.FreeHost) as host:
            assert ok(api.HostGetFlags(host)) & flags

    def test_plain_allocation(self, api: Api) -> None:
        with owned(api.MallocHost(256), api.FreeHost) as host:
            words(host, 64)[:] = range(64)  # type: ignore[call-overload]
            assert ok(api.HostGetDevicePointer(host, 0)) == host
            start, size = ok(driver.cuMemGetAddressRange(host))
            assert start == host and size >= 256
        assert api.HostAlloc(256, 1 << 20) == (api.ErrorInvalidValue, None)


class TestRegistered:
    @pytest.fixture
    def pages(self) -> np.ndarray:
        needs(CUdevice_attribute.CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED)
        return np.frombuffer(mmap.mmap(-1, SIZE), np.int32)

    def test_the_device_writes_to_it(self, api: Api, pages: np.ndarray) -> None:
        ok(api.HostRegister(pages, SIZE, api.HostRegisterMapped))
        fill(api, ok(api.HostGetDevicePointer(pages, 0)), 9, 100)
        host = driver.CUmemorytype.CU_MEMORYTYPE_HOST
        assert ok(kind_of(pages.ctypes.data)) == host
        if not api.is_driver:
            assert ok(runtime.cudaPointerGetAttributes(pages)).type == api.MemoryTypeHost
        ok(api.HostUnregister(pages))
        assert pages[:101].tolist() == [9] * 100 + [0]
        assert kind_of(pages.ctypes.data) == (driver.CUresult.CUDA_ERROR_INVALID_VALUE, None)
        if not api.is_driver:
            assert ok(runtime.cudaPointerGetAttributes(pages)).type == api.MemoryTypeUnregistered

    def test_twice_is_an_error_both_ways(self, api: Api, pages: np.ndarray) -> None:
        ok(api.HostRegister(pages, SIZE, 0))
        twice = api.HostRegister(pages, SIZE, 0)
        ok(api.HostUnregister(pages))
        assert twice == (api.ErrorHostMemoryAlreadyRegistered,)
        assert api.HostUnregister(pages) == (api.ErrorHostMemoryNotRegistered,)

    def test_only_its_start_unregisters_it(self, api: Api, pages: np.ndarray) -> None:
        address = pages.ctypes.data
        ok(api.HostRegister(address, SIZE, 0))
        for wrong in (0, address + 8, address + SIZE - 1):
            assert api.HostUnregister(wrong) == (api.ErrorInvalidValue,)
        ok(api.HostUnregister(address))

    @only(DRIVER)
    def test_no_context_is_needed_to_unregister(self, pages: np.ndarray) -> None:
        ok(driver.cuMemHostRegister(pages, SIZE, 0))
        with no_context():
            assert driver.cuMemHostUnregister(pages) == (0,)

    def test_more_bytes_than_the_buffer_has(self, api: Api, pages: np.ndarray) -> None:
        with pytest.raises(ValueError, match="the call needs"):
            api.HostRegister(pages, SIZE + 1, 0)


class TestManaged:
    @pytest.fixture
    def managed(self, api: Api) -> Iterator[Any]:
        needs(CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY)
        needs(CUdevice_attribute.CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS)
        with owned(api.MallocManaged(SIZE, api.MemAttachGlobal), api.Free) as pointer:
            yield pointer

    @pytest.fixture
    def get(self, api: Api, managed: Any) -> Any:
        """An attribute of the memory."""

        def found(name: Any, size: int = 4) -> Any:
            return ok(api.MemRangeGetAttribute(size, name, managed, SIZE))

        return found

    @pytest.fixture(params=["cuda12", "cuda13"])
    def place(self, api: Api, request: pytest.FixtureRequest) -> Any:
        """The device, or the host, as either CUDA has it: an ordinal or a location."""

        def named(ordinal: int) -> Any:
            if request.param == "cuda12":
                return ordinal
            if ordinal == DEVICE:
                return api.device_location()
            return api.MemLocation(type=api.MemLocationTypeHost)

        if request.param == "cuda13":
            needs_driver(12, 2)
        return named

    def test_host_and_device_share_it(self, api: Api, managed: Any) -> None:
        view = words(int(managed), 64)
        view[:] = range(64)  # type: ignore[call-overload]
        api.launch(api.kernel("add"), 64, (int(managed), 100), (ctypes.c_void_p, ctypes.c_int))
        ok(api.CtxSynchronize())
        assert list(view) == list(range(100, 164))
        if not api.is_driver:
            found = ok(runtime.cudaPointerGetAttributes(managed))
            assert found.type == api.MemoryTypeManaged
            assert found.devicePointer == found.hostPointer == managed

    def test_mostly_read(self, api: Api, managed: Any, get: Any, place: Any) -> None:
        name = api.MemRangeAttributeReadMostly
        assert get(name) == 0
        ok(api.MemAdvise(managed, SIZE, api.MemAdviseSetReadMostly, place(DEVICE)))
        assert get(name) == 1
        ok(api.MemAdvise(managed, SIZE, api.MemAdviseUnsetReadMostly, place(DEVICE)))
        assert get(name) == 0

    def test_preferred_location(self, api: Api, managed: Any, get: Any, place: Any) -> None:
        for ordinal in (DEVICE, api.DeviceCpu):
            ok(api.MemAdvise(managed, SIZE, api.MemAdviseSetPreferredLocation, place(ordinal)))
            assert get(api.MemRangeAttributePreferredLocation) == ordinal

    def test_the_location_has_a_type(self, api: Api, managed: Any, get: Any) -> None:
        needs_driver(12, 2)
        place = api.device_location()
        ok(api.MemAdvise(managed, SIZE, api.MemAdviseSetPreferredLocation, location=place))
        assert get(api.MemRangeAttributePreferredLocationType) is api.MemLocationTypeDevice
        assert get(api.MemRangeAttributePreferredLocationId) == DEVICE

    def test_accessed_by_is_a_list(self, api: Api, managed: Any, get: Any) -> None:
        name, none = api.MemRangeAttributeAccessedBy, api.DeviceInvalid
        assert get(name, 12) == [none] * 3
        ok(api.MemAdvise(managed, SIZE, api.MemAdviseSetAccessedBy, DEVICE))
        assert get(name, 12) == [DEVICE, none, none]

    def test_accessed_by_is_sorted(self, api: Api, managed: Any, get: Any) -> None:
        """The host, which is -1, comes last whenever it was named."""
        for place in (api.DeviceCpu, DEVICE):
            ok(api.MemAdvise(managed, SIZE, api.MemAdviseSetAccessedBy, place))
        assert get(api.MemRangeAttributeAccessedBy, 12) == [DEVICE, api.DeviceCpu, api.DeviceInvalid]

    def test_prefetch(self, api: Api, managed: Any, get: Any, place: Any) -> None:
        name, to = api.MemRangeAttributeLastPrefetchLocation, place(DEVICE)
        words(int(managed), 1)[0] = 5
        assert get(name) == api.DeviceInvalid
        with api.stream() as queue:
            flags = () if to == DEVICE else (0,)
            ok(api.MemPrefetchAsync(managed, SIZE, to, *flags, queue))
            ok(api.StreamSynchronize(queue))
        assert get(name) == DEVICE
        assert words(int(managed), 1)[0] == 5

    def test_several_attributes_at_once(self, api: Api, managed: Any) -> None:
        ok(api.MemAdvise(managed, SIZE, api.MemAdviseSetAccessedBy, DEVICE))
        names = [
            api.MemRangeAttributeReadMostly,
            api.MemRangeAttributeAccessedBy,
            api.MemRangeAttributePreferredLocation,
        ]
        none = api.DeviceInvalid
        assert ok(api.MemRangeGetAttributes([4, 8, 4], names, 3, managed, SIZE)) == [0, [DEVICE, none], none]

    def test_a_wrong_size_is_an_error(self, api: Api, managed: Any) -> None:
        name = api.MemRangeAttributeReadMostly
        assert api.MemRangeGetAttribute(8, name, managed, SIZE) == (api.ErrorInvalidValue, None)

    @pytest.mark.parametrize("name", ["MemDiscard", "MemPrefetch", "MemDiscardAndPrefetch"])
    def test_batches(self, api: Api, managed: Any, name: str) -> None:
        api.needs_function(f"{name}BatchAsync")
        needs_driver(13, 0)
        places = () if name == "MemDiscard" else ([api.device_location()], [0], 1)
        words(int(managed), 64)[:] = [1] * 64
        with api.stream() as queue:
            ok(getattr(api, f"{name}BatchAsync")([managed], [SIZE], 1, *places, 0, queue))
            ok(api.StreamSynchronize(queue))
        fill(api, managed, 3, 64)
        assert list(words(int(managed), 64)) == [3] * 64

    def test_memory_of_one_stream(self, api: Api) -> None:
        needs(CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY)
        made = api.MallocManaged(SIZE, api.MemAttachHost)
        with owned(made, api.Free) as pointer, api.stream() as queue:
            ok(api.StreamAttachMemAsync(queue, pointer, 0, api.MemAttachSingle))
            api.launch(api.kernel("fill"), 64, (int(pointer), 4, 64), FILL_TYPES, queue)
            ok(api.StreamSynchronize(queue))
            assert list(words(int(pointer), 64)) == [4] * 64

    def test_an_unknown_flag_is_an_error(self, api: Api) -> None:
        assert api.MallocManaged(SIZE, 99) == (api.ErrorInvalidValue, None)
