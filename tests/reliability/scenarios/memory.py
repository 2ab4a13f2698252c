"""Buffers, and memory resources that are no pools."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np

from ..world import World


def in_a_stream(w: World) -> None:
    stream = w.device.create_stream()
    first, second = w.device.allocate(64, stream), w.device.allocate(64, stream=stream)
    first.fill(1, stream=stream)
    first.fill(b"ab", stream=stream)
    first.fill(np.uint32(5), stream=stream)
    first.copy_to(second, stream=stream)
    second.copy_from(bytes(64), stream=stream)
    second.close()
    third = first.copy_to(stream=stream)
    found = np.empty(16, np.uint32)
    third.copy_to(found, stream=stream)
    third.set_deallocation_stream(w.device.create_stream())
    stream.sync()
    assert found.tolist() == [5] * 16
    stream.close()
    first.close(w.device.create_stream())


def in_the_default_stream(w: World) -> None:
    buffer = w.device.allocate(64)
    w.device.allocate(64).close(w.device.create_stream())
    buffer.set_deallocation_stream(w.core.PER_THREAD_DEFAULT_STREAM)
    with w.device.allocate(32, w.core.LEGACY_DEFAULT_STREAM):
        pass
    assert buffer == buffer and buffer.memory_resource is w.device.memory_resource


def uploaded_and_downloaded(w: World) -> None:
    numbers = np.arange(16, dtype=np.uint32)
    stream = w.device.create_stream()
    for buffer in (w.device.upload(numbers), w.device.upload(numbers[::-1], stream)):
        assert sorted(buffer.download(np.uint32).tolist()) == list(range(16))
        assert buffer.download("u1", 4, stream=stream)[1:].tolist() == [0, 0, 0]


def facts(w: World) -> None:
    stream = w.device.create_stream()
    made = w.device.allocate(64, stream)
    own, view = (w.core.Buffer.from_handle(made.handle, 64, owner=made) for _ in range(2))
    for buffer in (made, own):
        assert (buffer.device_id, buffer.size) == (0, 64) and not buffer.is_closed and not buffer.is_mapped
        assert buffer.is_device_accessible and not buffer.is_host_accessible and not buffer.is_managed
        assert buffer.__cuda_array_interface__ and buffer.__dlpack_device__() == (2, 0)
        assert not hasattr(buffer, "__array_interface__")
    assert own.owner is made and view == own
    other = w.device.create_stream()
    made.__dlpack__(stream=int(other.handle))
    _unshared(w, made)


def _unshared(w: World, buffer: Any) -> None:
    for ask in (lambda: buffer.ipc_descriptor, buffer.get_ipc_descriptor, lambda: pickle.dumps(buffer)):
        try:
            ask()
        except RuntimeError as error:
            if isinstance(error, w.core.CUDAError):
                raise
        else:
            raise AssertionError("a buffer of the current pool was exported")


def a_resource_of_ones_own(w: World) -> None:
    class Mine(w.core.MemoryResource):  # type: ignore[misc, name-defined]
        device_id, is_device_accessible, is_host_accessible = 0, True, False

        def allocate(self, size: int, stream: Any = None) -> Any:
            pointer = w.driver.checked.cuMemAlloc(size)
            try:
                return w.core.Buffer.from_handle(pointer, size, mr=self, stream=stream)
            except BaseException:
                w.driver.checked.cuMemFree(pointer)
                raise

        def deallocate(self, ptr: Any, size: int, stream: Any = None) -> None:
            w.driver.checked.cuMemFree(ptr)

    mine = Mine()
    assert not mine.is_managed
    mine.allocate(64).fill(1)
    mine.allocate(64, w.device.create_stream()).close()


def synchronous(w: World) -> None:
    resource = w.module("_core.memory.legacy").SynchronousMemoryResource(0)
    resource.allocate(64).close()
    resource.allocate(64, stream=w.device.create_stream())


def pinned(w: World) -> None:
    stream = w.device.create_stream()
    resource = w.core.LegacyPinnedMemoryResource()
    assert (resource.device_id, resource.is_host_accessible, resource.is_managed) == (-1, True, False)
    assert resource.is_device_accessible
    buffer = resource.allocate(64, stream=stream)
    np.asarray(buffer)[:] = 7
    made = buffer.copy_to(w.device.allocate(64, stream), stream=stream)
    back, found = resource.allocate(64), bytearray(64)
    back.copy_from(made, stream=stream)
    stream.sync()
    assert bytes(np.asarray(back)) == bytes([7]) * 64 and back.__array_interface__
    back.copy_from(bytes(64), stream=stream)
    back.copy_to(found, stream=stream)
    assert w.core.Buffer.from_handle(back.handle, 64, owner=back).is_host_accessible
    resource.deallocate(w.driver.checked.cuMemAllocHost(64), 64)
    np.from_dlpack(back)
    stream.sync()
    back.close()
    shown = resource.allocate(64, stream=stream)
    other = w.core.Buffer.from_handle(shown.handle, 64, owner=shown)
    arrays = [np.asarray(shown), np.from_dlpack(shown), np.asarray(other), shown.__dlpack__(stream=-1)]
    shown.close(w.device.create_stream())
    while arrays:  # the last of them frees it
        arrays.pop()


def virtual(w: World) -> None:
    resource = w.core.VirtualMemoryResource(0)
    assert resource.config == w.core.VirtualMemoryResourceOptions() and resource.device_id == 0
    assert resource.is_device_accessible and not resource.is_host_accessible and not resource.is_managed
    buffer = resource.allocate(64)
    resource.modify_allocation(buffer, 3 << 20)
    buffer.fill(1)
    assert buffer.size == 3 << 20
    capsule, behind = buffer.__dlpack__(stream=-1), resource.allocate(64)
    resource.modify_allocation(buffer, 9 << 20)
    del behind
    buffer.close()
    assert capsule
    resource.allocate(64, stream=w.device.create_stream()).close()
