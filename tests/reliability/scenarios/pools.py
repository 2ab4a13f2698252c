"""Memory resources that are pools."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

from ..world import World


def device_pool(w: World) -> None:
    stream = w.device.create_stream()
    options = w.core.DeviceMemoryResourceOptions(max_size=1 << 20)
    with w.core.DeviceMemoryResource(0, options) as resource:
        buffer = resource.allocate(64, stream=stream)
        again = resource.allocate(128, stream)
        again.close()
        pointer = w.driver.checked.cuMemAllocFromPoolAsync(64, resource.handle, stream.handle)
        resource.deallocate(pointer, 64, stream)
        resource.trim()
        assert resource.is_handle_owned and int(resource.handle) and not resource.is_mapped
        assert (resource.device_id, resource.is_device_accessible) == (0, True)
        assert not resource.is_host_accessible and not resource.is_managed
        assert not resource.is_ipc_enabled and resource.uuid is None
    assert resource.is_closed
    buffer.close()
    w.core.DeviceMemoryResource(0, options).allocate(64, stream=stream)
    _not_shared(w, w.core.DeviceMemoryResource, w.core.DeviceMemoryResource(0, options))


def _not_shared(w: World, cls: Any, resource: Any) -> None:
    uuid = uuid4()
    uses = (
        lambda: resource.allocation_handle,
        lambda: resource.register(uuid),
        lambda: cls.from_registry(uuid),
    )
    for use in uses:
        try:
            use()
        except RuntimeError as error:
            assert not isinstance(error, w.core.CUDAError)
        else:
            raise AssertionError("a pool of one process was shared")


def attributes(w: World) -> None:
    with w.core.DeviceMemoryResource(0, w.core.DeviceMemoryResourceOptions()) as resource:
        found = resource.attributes
        found.release_threshold = 1 << 20
        found.reuse_allow_opportunistic = False
        assert found.release_threshold == 1 << 20 and not found.reuse_allow_opportunistic
        assert found.used_mem_current == 0


def peers(w: World) -> None:
    with w.core.DeviceMemoryResource(0, w.core.DeviceMemoryResourceOptions()) as resource:
        resource.peer_accessible_by = [1]
        peers = resource.peer_accessible_by
        assert peers == {w.core.Device(1)} and w.core.Device(1) in peers
        peers.clear()
        peers.add(w.core.Device(1))
        peers.discard(w.core.Device(1))
        assert not peers


def pinned_pool(w: World) -> None:
    stream = w.device.create_stream()
    with w.core.PinnedMemoryResource(w.core.PinnedMemoryResourceOptions(numa_id=0)) as resource:
        assert resource.numa_id == 0 and resource.device_id == -1 and resource.is_host_accessible
        assert resource.is_device_accessible and not resource.is_managed and not resource.is_mapped
        assert resource.is_handle_owned and resource.attributes.used_mem_current == 0
        assert not resource.is_ipc_enabled and resource.uuid is None and int(resource.handle)
        buffer = resource.allocate(64, stream=stream)
        made = buffer.copy_to(w.device.allocate(64, stream), stream=stream)
        made.copy_to(buffer, stream=stream)
        stream.sync()
        resource.trim()
        _not_shared(w, w.core.PinnedMemoryResource, resource)
    shared = w.core.PinnedMemoryResource()
    shared.allocate(64, stream=stream).close()
    shared.close()
    assert shared.is_closed


def managed_pool(w: World) -> None:
    stream = w.device.create_stream()
    options = w.core.ManagedMemoryResourceOptions(0, "device")
    with w.core.ManagedMemoryResource(options) as resource:
        assert resource.preferred_location == ("device", 0) and resource.device_id == 0
        assert resource.is_managed and resource.is_host_accessible and resource.is_device_accessible
        assert not resource.is_ipc_enabled and not resource.is_mapped and resource.uuid is None
        assert resource.is_handle_owned and int(resource.handle) and not resource.attributes.used_mem_current
        buffer, other = (resource.allocate(4096, stream) for _ in range(2))
        buffer.fill(1, stream=stream)
        buffer.read_mostly = True
        buffer.preferred_location = w.device
        buffer.accessed_by = [w.core.Device(1), w.core.Host()]
        buffer.accessed_by.discard(w.core.Host())
        assert buffer.read_mostly and buffer.preferred_location is w.device
        assert buffer.accessed_by == {w.core.Device(1)}
        buffer.preferred_location = None
        buffer.prefetch(w.core.Device(1), stream=stream)
        buffer.prefetch(w.core.Host.numa_current(), stream=stream)
        buffer.discard_prefetch(w.core.Host(), stream=stream)
        buffer.discard(stream=stream)
        w.utils.prefetch_batch(stream, [buffer, other], [w.device, w.core.Host(0)])
        w.utils.discard_prefetch_batch(stream, [buffer, other], w.device)
        w.utils.discard_batch(stream, [buffer, other])
        assert buffer.__dlpack_device__()[0] == 13
        resource.trim()
    shared = w.core.ManagedMemoryResource().allocate(64, stream)
    view = w.core.ManagedBuffer.from_handle(shared.handle, 64)
    assert view.is_managed and view.is_host_accessible and view.device_id == 0
    view.close()


def graph_pool(w: World) -> None:
    stream = w.device.create_stream()
    resource = w.core.GraphMemoryResource(0)
    assert resource.device_id == 0 and resource.is_device_accessible
    assert not resource.is_host_accessible and not resource.is_managed
    builder = stream.create_graph_builder().begin_building()
    with resource.allocate(64, builder) as buffer:
        buffer.fill(1, stream=builder)
    graph = builder.end_building().complete()
    graph.launch(stream)
    stream.sync()
    assert resource.attributes.reserved_mem_current
    resource.attributes.used_mem_high = 0
    graph.close()
    builder.close()
    resource.trim()
    resource.close()
