"""Events and pools for other processes, opened in the same one, which the simulator lets be done."""

from __future__ import annotations

import pickle
from typing import Any
from uuid import uuid4

from ..world import World


def event(w: World) -> None:
    stream = w.device.create_stream()
    made = w.device.create_event(w.core.EventOptions(ipc_enabled=True))
    stream.record(made)
    descriptor = pickle.loads(pickle.dumps(made.get_ipc_descriptor()))
    assert made.is_ipc_enabled and descriptor == made.ipc_descriptor
    with w.core.Event.from_ipc_descriptor(descriptor) as opened:
        stream.wait(opened)
        opened.sync()
    stream.sync()


def _pool(w: World, made: Any, *place: object) -> None:
    stream, cls = w.device.create_stream(), type(made)
    assert made.is_ipc_enabled and not made.is_mapped
    with made:
        handle = made.allocation_handle
        opened = cls.from_allocation_handle(*place, handle)
        assert opened.is_mapped and opened.uuid == made.uuid
        buffer = made.allocate(64, stream)
        descriptor = pickle.loads(pickle.dumps(buffer.get_ipc_descriptor()))
        assert descriptor == buffer.ipc_descriptor and descriptor.size == 64
        first, second = (w.core.Buffer.from_ipc_descriptor(opened, descriptor, stream) for _ in range(2))
        assert first == second and first.is_mapped
        first.fill(1, stream=stream)
        first.close()
        second.close()
        uuid = uuid4()
        assert opened.register(uuid) is opened is cls.from_registry(uuid)
        opened.close()
        buffer.close()
        stream.sync()
    handle.close()


def device_pool(w: World) -> None:
    _pool(w, w.core.DeviceMemoryResource(0, w.core.DeviceMemoryResourceOptions(ipc_enabled=True)), 0)


def pinned_pool(w: World) -> None:
    options = w.core.PinnedMemoryResourceOptions(ipc_enabled=True, numa_id=0)
    _pool(w, w.core.PinnedMemoryResource(options))


def managed_buffer(w: World) -> None:
    """There are no managed pools for other processes, so no descriptor fits."""
    resource = w.core.ManagedMemoryResource()
    try:
        w.core.ManagedBuffer.from_ipc_descriptor(
            resource, w.module("_core.memory.ipc_buffer").IPCBufferDescriptor._of(bytes(64), 8)
        )
    except RuntimeError as error:
        assert "one process" in str(error) or isinstance(error, w.core.CUDAError)
