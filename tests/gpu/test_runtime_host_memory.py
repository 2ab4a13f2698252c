"""The Runtime API: host memory that the device can reach, page-locked, registered and managed."""

from __future__ import annotations

import ctypes
import mmap
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from cudapy import runtime as rt
from cudapy.runtime import (
    cudaDeviceAttr,
    cudaError_t,
    cudaMemLocation,
    cudaMemLocationType,
    cudaMemoryAdvise,
    cudaMemoryType,
    cudaMemRangeAttribute,
)

from .kernels import DEVICE, needs_driver, ok, owned
from .runtime_kernels import device as device
from .runtime_kernels import device_location, fill, kernel, launch, needs, needs_function, stream, words

pytestmark = pytest.mark.gpu

SIZE = 1 << 16
Advice = cudaMemoryAdvise
Attribute = cudaMemRangeAttribute


class TestPageLocked:
    def test_the_device_writes_to_mapped_memory(self) -> None:
        flags = rt.cudaHostAllocMapped | rt.cudaHostAllocPortable
        with owned(rt.cudaHostAlloc(256, flags), rt.cudaFreeHost) as host:
            words(host, 64)[:] = [0] * 64
            assert ok(rt.cudaHostGetFlags(host)) & rt.cudaHostAllocMapped
            pointer = ok(rt.cudaHostGetDevicePointer(host, 0))
            fill(pointer, 7, 60)
            ok(rt.cudaDeviceSynchronize())
            assert list(words(host, 64)) == [7] * 60 + [0] * 4
            found = ok(rt.cudaPointerGetAttributes(host))
            assert found.type == cudaMemoryType.cudaMemoryTypeHost
            assert (found.hostPointer, found.devicePointer) == (host, pointer)

    def test_write_combined_memory_says_so(self) -> None:
        flags = rt.cudaHostAllocWriteCombined
        with owned(rt.cudaHostAlloc(256, flags), rt.cudaFreeHost) as host:
            assert ok(rt.cudaHostGetFlags(host)) & flags

    def test_plain_allocation(self) -> None:
        with owned(rt.cudaMallocHost(256), rt.cudaFreeHost) as host:
            words(host, 64)[:] = range(64)  # type: ignore[call-overload]
            assert ok(rt.cudaHostGetDevicePointer(host, 0)) == host
        assert rt.cudaHostAlloc(256, 1 << 20) == (cudaError_t.cudaErrorInvalidValue, None)


class TestRegistered:
    @pytest.fixture
    def pages(self) -> np.ndarray:
        needs(cudaDeviceAttr.cudaDevAttrHostRegisterSupported)
        return np.frombuffer(mmap.mmap(-1, SIZE), np.int32)

    def test_the_device_writes_to_it(self, pages: np.ndarray) -> None:
        ok(rt.cudaHostRegister(pages, SIZE, rt.cudaHostRegisterMapped))
        fill(ok(rt.cudaHostGetDevicePointer(pages, 0)), 9, 100)
        ok(rt.cudaDeviceSynchronize())
        registered = ok(rt.cudaPointerGetAttributes(pages)).type
        ok(rt.cudaHostUnregister(pages))
        assert registered == cudaMemoryType.cudaMemoryTypeHost
        assert pages[:101].tolist() == [9] * 100 + [0]
        found = ok(rt.cudaPointerGetAttributes(pages))
        assert found.type == cudaMemoryType.cudaMemoryTypeUnregistered

    def test_twice_is_an_error_both_ways(self, pages: np.ndarray) -> None:
        ok(rt.cudaHostRegister(pages, SIZE, 0))
        twice = rt.cudaHostRegister(pages, SIZE, 0)
        ok(rt.cudaHostUnregister(pages))
        assert twice == (cudaError_t.cudaErrorHostMemoryAlreadyRegistered,)
        assert rt.cudaHostUnregister(pages) == (cudaError_t.cudaErrorHostMemoryNotRegistered,)

    def test_more_bytes_than_the_buffer_has(self, pages: np.ndarray) -> None:
        with pytest.raises(ValueError, match="the call needs"):
            rt.cudaHostRegister(pages, SIZE + 1, 0)


class TestManaged:
    @pytest.fixture
    def managed(self) -> Iterator[int]:
        needs(cudaDeviceAttr.cudaDevAttrManagedMemory)
        needs(cudaDeviceAttr.cudaDevAttrConcurrentManagedAccess)
        with owned(rt.cudaMallocManaged(SIZE, rt.cudaMemAttachGlobal), rt.cudaFree) as pointer:
            yield pointer

    def get(self, name: cudaMemRangeAttribute, pointer: int, size: int = 4) -> Any:
        return ok(rt.cudaMemRangeGetAttribute(size, name, pointer, SIZE))

    def test_host_and_device_share_it(self, managed: int) -> None:
        view = words(managed, 64)
        view[:] = range(64)  # type: ignore[call-overload]
        add = kernel("add")
        launch(add, 64, (managed, 100), (ctypes.c_void_p, ctypes.c_int))
        ok(rt.cudaDeviceSynchronize())
        assert list(view) == list(range(100, 164))
        found = ok(rt.cudaPointerGetAttributes(managed))
        assert found.type == cudaMemoryType.cudaMemoryTypeManaged
        assert found.devicePointer == found.hostPointer == managed

    @pytest.mark.parametrize("form", ["cuda12", "cuda13"])
    def test_mostly_read(self, managed: int, form: str) -> None:
        place = DEVICE if form == "cuda12" else device_location()
        assert self.get(Attribute.cudaMemRangeAttributeReadMostly, managed) == 0
        ok(rt.cudaMemAdvise(managed, SIZE, Advice.cudaMemAdviseSetReadMostly, place))
        assert self.get(Attribute.cudaMemRangeAttributeReadMostly, managed) == 1
        ok(rt.cudaMemAdvise(managed, SIZE, Advice.cudaMemAdviseUnsetReadMostly, place))
        assert self.get(Attribute.cudaMemRangeAttributeReadMostly, managed) == 0

    @pytest.mark.parametrize("form", ["cuda12", "cuda13"])
    def test_preferred_location(self, managed: int, form: str) -> None:
        host = cudaMemLocation(type=cudaMemLocationType.cudaMemLocationTypeHost)
        places = {
            DEVICE: DEVICE if form == "cuda12" else device_location(),
            rt.cudaCpuDeviceId: rt.cudaCpuDeviceId if form == "cuda12" else host,
        }
        for ordinal, place in places.items():
            ok(rt.cudaMemAdvise(managed, SIZE, Advice.cudaMemAdviseSetPreferredLocation, place))
            assert self.get(Attribute.cudaMemRangeAttributePreferredLocation, managed) == ordinal

    def test_the_location_has_a_type(self, managed: int) -> None:
        needs_driver(12, 2)
        place = device_location()
        ok(rt.cudaMemAdvise(managed, SIZE, Advice.cudaMemAdviseSetPreferredLocation, location=place))
        kind = self.get(Attribute.cudaMemRangeAttributePreferredLocationType, managed)
        assert kind is cudaMemLocationType.cudaMemLocationTypeDevice
        assert self.get(Attribute.cudaMemRangeAttributePreferredLocationId, managed) == DEVICE

    def test_accessed_by_is_a_list(self, managed: int) -> None:
        name = Attribute.cudaMemRangeAttributeAccessedBy
        none = rt.cudaInvalidDeviceId
        assert self.get(name, managed, 12) == [none] * 3
        ok(rt.cudaMemAdvise(managed, SIZE, Advice.cudaMemAdviseSetAccessedBy, DEVICE))
        assert self.get(name, managed, 12) == [DEVICE, none, none]
        names = [Attribute.cudaMemRangeAttributeReadMostly, name]
        found = ok(rt.cudaMemRangeGetAttributes([4, 8], names, 2, managed, SIZE))
        assert found == [0, [DEVICE, none]]

    @pytest.mark.parametrize("form", ["cuda12", "cuda13"])
    def test_prefetch(self, managed: int, form: str) -> None:
        name = Attribute.cudaMemRangeAttributeLastPrefetchLocation
        words(managed, 1)[0] = 5
        assert self.get(name, managed) == rt.cudaInvalidDeviceId
        with stream() as queue:
            if form == "cuda12":
                ok(rt.cudaMemPrefetchAsync(managed, SIZE, DEVICE, queue))
            else:
                ok(rt.cudaMemPrefetchAsync(managed, SIZE, device_location(), 0, queue))
            ok(rt.cudaStreamSynchronize(queue))
        assert self.get(name, managed) == DEVICE
        assert words(managed, 1)[0] == 5

    def test_a_wrong_size_is_an_error(self, managed: int) -> None:
        name = Attribute.cudaMemRangeAttributeReadMostly
        status, value = rt.cudaMemRangeGetAttribute(8, name, managed, SIZE)
        assert (status, value) == (cudaError_t.cudaErrorInvalidValue, None)

    @pytest.mark.parametrize(
        ("symbol", "call"),
        [
            ("cudaMemDiscardBatchAsync", lambda p, q: rt.cudaMemDiscardBatchAsync([p], [SIZE], 1, 0, q)),
            (
                "cudaMemPrefetchBatchAsync",
                lambda p, q: rt.cudaMemPrefetchBatchAsync([p], [SIZE], 1, [device_location()], [0], 1, 0, q),
            ),
            (
                "cudaMemDiscardAndPrefetchBatchAsync",
                lambda p, q: rt.cudaMemDiscardAndPrefetchBatchAsync(
                    [p], [SIZE], 1, [device_location()], [0], 1, 0, q
                ),
            ),
        ],
    )
    def test_batches(self, managed: int, symbol: str, call: Callable[[int, Any], tuple[Any, ...]]) -> None:
        needs_function(symbol)
        needs_driver(13, 0)
        words(managed, 64)[:] = [1] * 64
        with stream() as queue:
            ok(call(managed, queue))
            ok(rt.cudaStreamSynchronize(queue))
        fill(managed, 3, 64)
        ok(rt.cudaDeviceSynchronize())
        assert list(words(managed, 64)) == [3] * 64

    def test_memory_of_one_stream(self) -> None:
        needs(cudaDeviceAttr.cudaDevAttrManagedMemory)
        with (
            owned(rt.cudaMallocManaged(SIZE, rt.cudaMemAttachHost), rt.cudaFree) as pointer,
            stream() as queue,
        ):
            ok(rt.cudaStreamAttachMemAsync(queue, pointer, 0, rt.cudaMemAttachSingle))
            fill(pointer, 4, 64, queue)
            ok(rt.cudaStreamSynchronize(queue))
            assert list(words(pointer, 64)) == [4] * 64

    def test_an_unknown_flag_is_an_error(self) -> None:
        assert rt.cudaMallocManaged(SIZE, 99) == (cudaError_t.cudaErrorInvalidValue, None)
