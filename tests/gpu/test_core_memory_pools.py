"""Memory resources that have a pool of the driver: device, pinned and managed memory."""

from __future__ import annotations

import gc
import pickle

import numpy as np
import pytest
from cudapy.core.utils import discard_batch, discard_prefetch_batch, prefetch_batch

from cudapy import driver, simulator
from cudapy.core import (
    CUDAError,
    Device,
    DeviceMemoryResource,
    DeviceMemoryResourceOptions,
    Host,
    ManagedBuffer,
    ManagedMemoryResource,
    ManagedMemoryResourceOptions,
    PinnedMemoryResource,
    PinnedMemoryResourceOptions,
)

from .core_kernels import content
from .kernels import needs_driver

pytestmark = pytest.mark.gpu

MEGABYTE = 1 << 20


# -- device memory ------------------------------------------------------------------------------------------


def test_a_pool_of_its_own(device, stream) -> None:
    mr = DeviceMemoryResource(device, DeviceMemoryResourceOptions())
    assert mr.is_handle_owned and mr.handle != device.memory_resource.handle and not mr.is_ipc_enabled
    assert mr.uuid is None and not mr.is_mapped and (mr.device_id, mr.is_host_accessible) == (0, False)
    before = mr.attributes.used_mem_current
    buffer = mr.allocate(MEGABYTE, stream=stream)
    assert buffer.memory_resource is mr and mr.attributes.used_mem_current == before + MEGABYTE
    buffer.fill(3, stream=stream)
    assert (content(buffer, np.uint8, stream) == 3).all()
    buffer.close()
    stream.sync()
    assert mr.attributes.used_mem_current == before


def test_options_may_be_a_dict(device, stream) -> None:
    pool = DeviceMemoryResource(device, {"max_size": 1 << 20})
    assert pool.is_handle_owned
    with pytest.raises(MemoryError):
        pool.allocate(64 << 20, stream=stream)
    for wrong in (5, PinnedMemoryResourceOptions()):
        with pytest.raises(TypeError, match="DeviceMemoryResourceOptions"):
            DeviceMemoryResource(device, wrong)
    for kind in (PinnedMemoryResource, ManagedMemoryResource):
        with pytest.raises(TypeError, match=kind.__name__ + "Options"):
            kind(DeviceMemoryResourceOptions())


def test_the_pool_of_the_device_is_shared(device) -> None:
    mr, other = DeviceMemoryResource(0), DeviceMemoryResource(device)
    assert mr.handle == other.handle == driver.checked.cuDeviceGetMemPool(0)
    assert not mr.is_handle_owned
    mr.close()
    assert other.allocate(64).handle, "closing one does not close the pool"


def test_a_pool_with_a_limit(device, stream) -> None:
    mr = DeviceMemoryResource(0, DeviceMemoryResourceOptions(max_size=64 * MEGABYTE))
    with pytest.raises(MemoryError):
        mr.allocate(128 * MEGABYTE, stream=stream)
    assert mr.allocate(MEGABYTE, stream=stream).handle


def test_buffers_outlive_the_resource(device, stream) -> None:
    mr = DeviceMemoryResource(0, DeviceMemoryResourceOptions())
    buffer = mr.allocate(MEGABYTE, stream=stream)
    mr.close()
    assert mr.is_closed
    with pytest.raises(RuntimeError, match="this DeviceMemoryResource is closed"):
        mr.allocate(1, stream=stream)
    buffer.fill(1, stream=stream)
    assert (content(buffer, np.uint8, stream) == 1).all()
    buffer.close()
    stream.sync()


def test_the_settings_of_a_pool(device, stream) -> None:
    mr = DeviceMemoryResource(0, DeviceMemoryResourceOptions())
    settings = mr.attributes
    assert settings.release_threshold == 2**64 - 1, "it keeps its memory from the start"
    assert settings.reuse_allow_opportunistic is True
    settings.reuse_allow_opportunistic = False
    assert mr.attributes.reuse_allow_opportunistic is False
    mr.allocate(8 * MEGABYTE, stream=stream).close()
    stream.sync()
    assert settings.used_mem_high >= 8 * MEGABYTE and settings.reserved_mem_current >= 8 * MEGABYTE
    settings.used_mem_high = 0
    assert settings.used_mem_high == 0
    mr.trim()
    assert settings.reserved_mem_current == 0
    with pytest.raises(AttributeError, match="cannot be set"):
        settings.used_mem_current = 0
    with pytest.raises(AttributeError, match="no attribute 'colour'"):
        _ = settings.colour
    with pytest.raises(TypeError, match="integer"):
        settings.release_threshold = "1"  # type: ignore[assignment]
    assert "release_threshold=" in repr(settings) and "release_threshold" in dir(settings)


def test_sizes_and_streams_of_all_kinds(device, stream) -> None:
    mr = device.memory_resource
    assert mr.allocate(np.int64(64), stream=stream).size == 64
    assert mr.allocate(0, stream=stream).handle == 0
    for given in (-1, None, "64"):
        with pytest.raises((TypeError, ValueError)):
            mr.allocate(given, stream=stream)
    with pytest.warns(RuntimeWarning, match="a size in bytes is an integer"):
        assert mr.allocate(64.5, stream=stream).size == 64
    with pytest.raises((OverflowError, MemoryError)):
        mr.allocate(2**64, stream=stream)

    class Foreign:
        def __cuda_stream__(self):
            return stream.__cuda_stream__()

    for each in (None, Foreign(), stream, device.default_stream):
        buffer = mr.allocate(256, stream=each)
        buffer.fill(5, stream=each)
        device.sync()
        assert (content(buffer, np.uint8, stream) == 5).all()


def test_peer_access(device, stream) -> None:
    mr = DeviceMemoryResource(0, DeviceMemoryResourceOptions())
    assert set(mr.peer_accessible_by) == set() and len(mr.peer_accessible_by) == 0
    assert device not in mr.peer_accessible_by
    mr.peer_accessible_by = [device]  # itself: no change
    mr.peer_accessible_by.update([0])
    mr.peer_accessible_by.clear()
    assert mr.peer_accessible_by == set() and 1000 not in mr.peer_accessible_by
    with pytest.raises(ValueError, match="no device"):
        mr.peer_accessible_by.add(1000)
    others = [each for each in Device.get_all_devices() if each.can_access_peer(0)]
    if others:
        mr.peer_accessible_by = others
        assert set(mr.peer_accessible_by) == set(others)
        mr.peer_accessible_by.discard(others[0])
        assert others[0] not in mr.peer_accessible_by


# -- pinned memory ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [None, PinnedMemoryResourceOptions(), PinnedMemoryResourceOptions(numa_id=0, max_size=1 << 30)],
    ids=["default", "own", "numa"],
)
def test_pinned_memory(device, stream, options) -> None:
    if not device.properties.host_memory_pools_supported:
        pytest.skip("the driver has no pools of host memory")
    mr = PinnedMemoryResource(options)
    assert (mr.device_id, mr.is_device_accessible, mr.is_host_accessible) == (-1, True, True)
    assert mr.numa_id == (0 if options is not None and options.numa_id == 0 else -1)
    buffer = mr.allocate(4096, stream=stream)
    stream.sync()
    host = np.asarray(buffer)
    host[:] = np.arange(4096) % 251
    on_device = device.allocate(4096, stream)
    on_device.copy_from(buffer, stream=stream)
    assert (content(on_device, np.uint8, stream) == np.arange(4096) % 251).all()
    buffer.fill(9, stream=stream)
    stream.sync()
    assert (host == 9).all(), "the device writes the same memory"
    with pytest.raises(ValueError, match="numa_id"):
        PinnedMemoryResourceOptions(numa_id=-1)


# -- managed memory -----------------------------------------------------------------------------------------


@pytest.fixture
def managed(device, stream):
    needs_driver(13, 0)
    if not device.properties.concurrent_managed_access:
        pytest.skip("the host may not use managed memory while the device works")
    return ManagedMemoryResource()


def test_managed_memory(managed, device, stream) -> None:
    buffer = managed.allocate(MEGABYTE, stream=stream)
    assert type(buffer) is ManagedBuffer and buffer.is_managed and managed.is_managed
    assert buffer.is_host_accessible and buffer.is_device_accessible
    buffer.fill(4, stream=stream)
    stream.sync()
    host = np.asarray(buffer)
    assert (host == 4).all()
    host[:3] = 7
    assert content(buffer, np.uint8, stream)[:4].tolist() == [7, 7, 7, 4]


@pytest.mark.parametrize(
    ("options", "preferred", "ordinal"),
    [
        (ManagedMemoryResourceOptions(), None, -1),
        (ManagedMemoryResourceOptions(0), ("device", 0), 0),
        (ManagedMemoryResourceOptions(-1), ("host", None), -1),
        (ManagedMemoryResourceOptions(preferred_location_type="host"), ("host", None), -1),
        (ManagedMemoryResourceOptions(0, "host_numa"), ("host_numa", 0), -1),
    ],
)
def test_where_managed_memory_would_rather_be(managed, device, stream, options, preferred, ordinal) -> None:
    mr = ManagedMemoryResource(options)
    assert mr.preferred_location == preferred and mr.device_id == ordinal and mr.is_handle_owned
    buffer = mr.allocate(4096, stream=stream)
    buffer.fill(1, stream=stream)
    assert (content(buffer, np.uint8, stream) == 1).all()


def test_locations_that_are_none() -> None:
    for arguments in ((-2,), (0, "host"), (None, "device"), (-1, "host_numa"), (0, "moon")):
        with pytest.raises(ValueError):
            ManagedMemoryResourceOptions(*arguments)


@pytest.fixture
def advised(device):
    """Managed memory that is of no pool: drivers of CUDA 13.0 take no advice for that of a pool."""
    address = driver.checked.cuMemAllocManaged(MEGABYTE, driver.CUmemAttach_flags.CU_MEM_ATTACH_GLOBAL)
    yield ManagedBuffer.from_handle(address, MEGABYTE)
    device.sync()
    driver.checked.cuMemFree(address)


def test_advice(managed, device, advised) -> None:
    buffer = advised
    assert type(buffer) is ManagedBuffer and buffer.is_managed
    assert buffer.read_mostly is False
    buffer.read_mostly = True
    assert buffer.read_mostly is True
    buffer.read_mostly = False
    assert buffer.read_mostly is False
    for place in (device, Host(), None):
        buffer.preferred_location = place
        assert buffer.preferred_location == place
    assert buffer.accessed_by == set()
    buffer.accessed_by.add(device)
    assert device in buffer.accessed_by and len(buffer.accessed_by) == 1
    buffer.accessed_by = {Host()}
    assert set(buffer.accessed_by) == {Host()}
    buffer.accessed_by.discard(Host())
    assert buffer.accessed_by == set()
    with pytest.raises(TypeError, match="Device or a Host"):
        buffer.preferred_location = "moon"  # type: ignore[assignment]


def last_prefetch(buffer) -> tuple[int, int]:
    attribute = driver.CUmem_range_attribute
    return tuple(  # type: ignore[return-value]
        int(driver.checked.cuMemRangeGetAttribute(4, each, buffer.handle, buffer.size))
        for each in (
            attribute.CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE,
            attribute.CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID,
        )
    )


def test_prefetch_and_discard(managed, device, stream) -> None:
    buffers = [managed.allocate(4 * MEGABYTE, stream=stream) for _ in range(2)]
    for buffer in buffers:
        buffer.fill(1, stream=stream)
        buffer.prefetch(Host(), stream=stream)
    stream.sync()
    assert [last_prefetch(buffer)[0] for buffer in buffers] == [2, 2]
    prefetch_batch(stream, buffers, device)
    stream.sync()
    assert [last_prefetch(buffer) for buffer in buffers] == [(1, 0), (1, 0)]
    prefetch_batch(stream, buffers, [device, Host()])
    stream.sync()
    assert [last_prefetch(buffer)[0] for buffer in buffers] == [1, 2]
    assert (content(buffers[1], np.uint8, stream) == 1).all(), "moving keeps what is in it"
    discard_batch(stream, buffers)
    discard_prefetch_batch(stream, buffers, device)
    buffers[0].discard(stream=stream)
    buffers[0].discard_prefetch(Host(), stream=stream)
    buffers[0].fill(2, stream=stream)
    assert (content(buffers[0], np.uint8, stream) == 2).all()
    with pytest.raises(ValueError, match="1 locations for 2"):
        prefetch_batch(stream, buffers, [device])
    with pytest.raises(ValueError, match="not managed"):
        prefetch_batch(stream, [device.allocate(64, stream)], device)
    with pytest.raises(TypeError, match="sequence"):
        prefetch_batch(stream, buffers[0], device)


def test_places_of_the_host() -> None:
    with pytest.raises(ValueError, match="True is not the number of a NUMA node"):
        Host(True)
    assert Host(1) is Host(numa_id=1) and Host.numa_current() is Host(is_numa_current=True)
    for place, shown in (
        (Host(), "Host()"),
        (Host(1), "Host(numa_id=1)"),
        (Host.numa_current(), "Host.numa_current()"),
    ):
        assert repr(place) == shown and pickle.loads(pickle.dumps(place)) is place
    with pytest.raises(ValueError, match="two ways to name one node"):
        Host(1, is_numa_current=True)
    for wrong in (-1, 1.5, "1"):
        with pytest.raises(ValueError, match="not the number of a NUMA node"):
            Host(wrong)


def test_nodes_of_the_host_are_preferred(managed, advised) -> None:
    for place in (Host(0), Host.numa_current()):
        advised.preferred_location = place
        told = (place,) if simulator.is_enabled() else (place, None)  # driver 580 of an H200 tells no node
        assert advised.preferred_location in told


def test_the_node_next_to_the_device(managed, device, stream, monkeypatch) -> None:
    """Source: cuDeviceGetAttribute with CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID."""
    node = [0]
    monkeypatch.setattr(driver.checked, "cuDeviceGetAttribute", lambda attribute, device: node[0])
    options = ManagedMemoryResourceOptions(preferred_location_type="host_numa")
    assert ManagedMemoryResource(options).preferred_location == ("host_numa", 0)
    node[0] = -1
    with pytest.raises(RuntimeError, match="does not say which NUMA node"):
        ManagedMemoryResource(options)


def test_managed_buffers_of_no_bytes(managed, device, stream) -> None:
    empty, full = managed.allocate(0, stream=stream), managed.allocate(4096, stream=stream)
    assert type(empty) is ManagedBuffer
    empty.preferred_location = device
    assert empty.preferred_location is None and empty.accessed_by == set()
    prefetch_batch(stream, [empty], device)
    discard_batch(stream, [empty])
    discard_prefetch_batch(stream, [empty], device)
    prefetch_batch(stream, [empty, full], [device, Host()])
    stream.sync()
    assert last_prefetch(full)[0] == 2
    with pytest.raises(TypeError, match="takes Buffers, not bytes"):
        prefetch_batch(stream, [full, b"1234"], device)


def test_who_has_a_way_to_a_managed_buffer(managed, device, advised) -> None:
    advised.accessed_by = {device}
    both = advised.accessed_by | {Host()}
    assert both == {device, Host()} and type(both) is set
    assert repr(advised.accessed_by) == repr({device})


def test_a_driver_that_knows_no_kinds_of_places(managed, device, advised, monkeypatch) -> None:
    """Before CUDA 12.2 it tells one number: of a device, -1 for the host, -2 for none."""
    ask = driver.checked.cuMemRangeGetAttribute

    def older(size, attribute, address, count):
        if attribute.name.endswith(("_LOCATION_TYPE", "_LOCATION_ID")):
            raise CUDAError("no such attribute", driver.CUresult.CUDA_ERROR_INVALID_VALUE, "x")
        return ask(size, attribute, address, count)

    monkeypatch.setattr(driver.checked, "cuMemRangeGetAttribute", older)
    for place in (device, Host(), None):
        advised.preferred_location = place
        assert advised.preferred_location == place


def test_a_resource_whose_class_was_derived_from(device, stream) -> None:
    """`deallocate` of a derived class is what frees its buffers."""
    freed = []

    class Logged(DeviceMemoryResource):
        def deallocate(self, ptr, size, stream=None):
            freed.append(size)
            super().deallocate(ptr, size, stream)

    mr = Logged(0, DeviceMemoryResourceOptions())
    mr.allocate(64, stream=stream).close()
    buffer = mr.allocate(128, stream=stream)
    del buffer
    stream.sync()
    assert freed == [64, 128] and mr.attributes.used_mem_current == 0


def test_an_error_names_the_function(device, stream) -> None:
    with pytest.raises(CUDAError) as caught:
        device.memory_resource.allocate(1 << 55, stream=stream)
    assert caught.value.function == "cuMemAllocFromPoolAsync" and str(1 << 55) in str(caught.value)


def test_pools_come_and_go(device, stream) -> None:
    """In every order of pool, buffer and stream, with work under way or without."""

    def filled(resource, value, its_stream):
        made = resource.allocate(MEGABYTE, stream=its_stream)
        made.fill(value, stream=its_stream)
        return made

    for number in range(60):
        other = device.create_stream()
        mr = DeviceMemoryResource(device, DeviceMemoryResourceOptions())
        buffers = [filled(mr, number, each) for each in (stream, other)]
        if number % 2:
            mr.close()
        if number % 3:
            del other
        if number % 5:
            cycle = [mr, buffers, stream]
            cycle.append(cycle)
            del cycle
        del mr, buffers
    device.sync()
    buffer = device.allocate(MEGABYTE, stream=stream)
    buffer.fill(1, stream=stream)
    assert (content(buffer, np.uint8, stream) == 1).all()


@pytest.mark.parametrize("in_use", [False, True])
def test_attributes_stay_good_after_close(device, stream, in_use) -> None:
    resource = DeviceMemoryResource(device, DeviceMemoryResourceOptions(max_size=1 << 26))
    attributes = resource.attributes
    assert resource.attributes is attributes
    buffer = resource.allocate(64, stream=stream) if in_use else None
    resource.close()
    with pytest.raises(RuntimeError, match="closed"):
        _ = resource.attributes
    assert (attributes.used_mem_current > 0) == in_use
    attributes.release_threshold = 4096
    assert attributes.release_threshold == 4096 and "release_threshold=4096" in repr(attributes)
    if buffer is not None:
        buffer.close()
    stream.sync()
    del resource, buffer
    gc.collect()
    assert attributes.used_mem_current == 0
