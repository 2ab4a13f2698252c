"""Virtual memory that grows, and memory of graphs."""

from __future__ import annotations

import numpy as np
import pytest

import cudapy._core.memory.virtual as virtual_module
from cudapy import driver
from cudapy._core.memory.pointer import is_allocated
from cudapy.core import (
    CUDAError,
    Device,
    DeviceMemoryResource,
    GraphMemoryResource,
    VirtualMemoryResource,
    VirtualMemoryResourceOptions,
)

from .core_kernels import content
from .kernels import DEVICE

pytestmark = pytest.mark.gpu

MEGABYTE = 1 << 20
RELAXED = driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED


@pytest.fixture
def virtual(device):
    if not device.properties.virtual_memory_management_supported:
        pytest.skip("the device has no virtual memory management")
    return VirtualMemoryResource(device)


def test_virtual_memory(virtual, device, stream) -> None:
    buffer = virtual.allocate(3 * MEGABYTE, stream=stream)
    address = buffer.handle
    assert (buffer.device_id, buffer.is_device_accessible, buffer.is_host_accessible) == (DEVICE, True, False)
    assert is_allocated(address) and is_allocated(address + 3 * MEGABYTE - 1)
    buffer.fill(7, stream=stream)
    assert (content(buffer, np.uint8, stream) == 7).all()
    buffer.close()
    assert not is_allocated(address) and virtual._mappings == {}
    assert virtual.allocate(0).handle == 0


def test_an_allocation_grows_where_it_is(virtual, device, stream) -> None:
    buffer = virtual.allocate(MEGABYTE)
    address = buffer.handle
    buffer.copy_from(np.arange(1000, dtype=np.int32), stream=stream)
    grown = virtual.modify_allocation(buffer, 9 * MEGABYTE)
    assert grown is buffer and buffer.size == 9 * MEGABYTE
    assert content(buffer, np.int32, stream)[:1000].tolist() == list(range(1000))
    buffer.fill(1, stream=stream)
    assert (content(buffer, np.uint8, stream) == 1).all(), "all of it can be used"
    assert virtual.modify_allocation(buffer, MEGABYTE) is buffer and buffer.size == 9 * MEGABYTE
    del address, buffer, grown
    assert virtual._mappings == {}


def test_a_buffer_without_memory_grows(virtual, device, stream) -> None:
    buffer = virtual.allocate(0)
    assert virtual.modify_allocation(buffer, 1000, {"granularity": "minimum"}) is buffer
    buffer.fill(1, stream=stream)
    assert (content(buffer, np.uint8, stream) == 1).all() and buffer.size == 1000
    buffer.close()
    assert virtual._mappings == {}


def test_access_that_cannot_be_given_leaves_nothing(virtual, device) -> None:
    config = {"peers": (len(Device.get_all_devices()),), "addr_hint": None}
    with pytest.raises(CUDAError) as caught:
        VirtualMemoryResource(device, config).allocate(1000)
    assert caught.value.function == "cuMemSetAccess"
    with pytest.raises(TypeError, match="VirtualMemoryResourceOptions"):
        VirtualMemoryResource(device, 5)


def test_an_allocation_moves_to_grow(virtual, device, stream, monkeypatch) -> None:
    reserve = virtual_module._reserve
    monkeypatch.setattr(  # as if the addresses behind an allocation were taken
        virtual_module,
        "_reserve",
        lambda undo, size, alignment, hint: reserve(undo, size, alignment, hint and hint + (1 << 30)),
    )
    buffer = virtual.allocate(MEGABYTE, stream=stream)
    address = buffer.handle
    gap = driver.checked.cuMemAddressReserve(64 * MEGABYTE, 0, 0, 0)
    buffer.copy_from(np.arange(1000, dtype=np.int32), stream=stream)
    try:
        virtual.modify_allocation(buffer, 5 * MEGABYTE)
        assert buffer.handle != address and not is_allocated(address)
        assert content(buffer, np.int32, stream)[:1000].tolist() == list(range(1000))
        virtual.modify_allocation(buffer, 33 * MEGABYTE)
        assert content(buffer, np.int32, stream)[:1000].tolist() == list(range(1000))
        buffer.fill(1, stream=stream)
        assert (content(buffer, np.uint8, stream) == 1).all()
    finally:
        driver.checked.cuMemAddressFree(gap, 64 * MEGABYTE)
    buffer.close()
    assert virtual._mappings == {}


def test_growing_that_fails_changes_nothing(virtual, device, stream) -> None:
    buffer = virtual.allocate(MEGABYTE)
    buffer.fill(4, stream=stream)
    address = buffer.handle
    with pytest.raises(MemoryError):
        virtual.modify_allocation(buffer, 1 << 42)
    assert (buffer.handle, buffer.size) == (address, MEGABYTE)
    assert (content(buffer, np.uint8, stream) == 4).all() and list(virtual._mappings) == [address]
    with pytest.raises(ValueError, match="not of this memory resource"):
        virtual.modify_allocation(device.allocate(64, stream), 128)


@pytest.mark.parametrize("kind", ["host_numa", "host"])
def test_virtual_memory_of_the_host(device, stream, kind) -> None:
    if not device.properties.host_numa_virtual_memory_management_supported:
        pytest.skip("the driver maps no memory of the host")
    mr = VirtualMemoryResource(device, VirtualMemoryResourceOptions(location_type=kind, handle_type=None))
    assert mr.device_id == -1 and mr.is_host_accessible
    buffer = mr.allocate(4096)
    buffer.fill(6, stream=stream)
    stream.sync()
    assert (np.asarray(buffer) == 6).all()


def test_options_that_are_none(device) -> None:
    for wrong in (
        {"location_type": "moon"},
        {"handle_type": "paper"},
        {"self_access": "w"},
        {"addr_hint": -1},
    ):
        with pytest.raises(ValueError):
            VirtualMemoryResourceOptions(**wrong)
    assert VirtualMemoryResourceOptions(peers=[1]).peers == (1,)


def test_many_virtual_allocations_leave_nothing(virtual, device) -> None:
    """More than the device has, one after the other."""
    size = device.total_memory // 64
    for _ in range(70):
        buffer = virtual.allocate(size // 2)
        virtual.modify_allocation(buffer, size)
        del buffer
    assert virtual._mappings == {}


# -- memory of graphs ---------------------------------------------------------------------------------------


def capture(stream, body):
    """The graph of what `body` does in `stream`, ready to run."""
    driver.checked.cuStreamBeginCapture(stream.handle, RELAXED)
    try:
        result = body()
    finally:
        graph = driver.checked.cuStreamEndCapture(stream.handle)
    runnable = driver.checked.cuGraphInstantiate(graph, 0)
    driver.checked.cuGraphDestroy(graph)
    return runnable, result


def test_memory_within_a_graph(device, stream) -> None:
    mr = GraphMemoryResource(device)
    assert mr is GraphMemoryResource(0) and mr.device_id == 0 and not mr.is_host_accessible
    out = device.allocate(64, stream)

    def body():
        scratch = mr.allocate(64, stream=stream)
        scratch.fill(8, stream=stream)
        scratch.copy_to(out, stream=stream)
        scratch.close()

    runnable, _ = capture(stream, body)
    for value in (1, 2):
        out.fill(value, stream=stream)
        driver.checked.cuGraphLaunch(runnable, stream.handle)
        assert (content(out, np.uint8, stream) == 8).all()
    assert mr.attributes.used_mem_high >= 64 and mr.attributes.reserved_mem_high >= 64
    driver.checked.cuGraphExecDestroy(runnable)
    device.sync()
    mr.attributes.used_mem_high = 0
    assert mr.attributes.used_mem_high == mr.attributes.used_mem_current
    mr.trim()
    assert mr.attributes.reserved_mem_current == mr.attributes.used_mem_current, "the rest was returned"
    with pytest.raises(ValueError, match="0 alone"):
        mr.attributes.reserved_mem_high = 5
    with pytest.raises(RuntimeError, match="captured"):
        mr.allocate(64, stream=stream)


@pytest.mark.parametrize("resource", ["graph", "pool"])
def test_memory_that_outlives_its_graph(device, stream, resource) -> None:
    """Allocated in a graph and freed after it ran: the same for both resources, as the driver has it."""
    mr = GraphMemoryResource(0) if resource == "graph" else DeviceMemoryResource(0)

    def body():
        made = mr.allocate(4096, stream=stream)
        made.fill(3, stream=stream)
        return made

    runnable, made = capture(stream, body)
    driver.checked.cuGraphLaunch(runnable, stream.handle)
    assert (content(made, np.uint8, stream) == 3).all()
    address = made.handle
    made.close(stream)
    driver.checked.cuGraphLaunch(runnable, stream.handle)  # only possible since it was freed
    driver.checked.cuMemFreeAsync(address, stream.handle)
    device.sync()
    driver.checked.cuGraphExecDestroy(runnable)
    GraphMemoryResource(0).trim()
