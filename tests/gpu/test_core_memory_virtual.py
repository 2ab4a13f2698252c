"""Virtual memory that grows, and memory of graphs."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import cudapy._core.memory.virtual as virtual_module
from cudapy import driver
from cudapy._core.memory.graph import owning  # type: ignore[attr-defined]
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


def mapped(virtual, buffer):
    """The bytes of the memory behind a buffer."""
    return sum(size for _, size in virtual._mappings[int(buffer.handle)].pieces)


def test_virtual_memory(virtual, device, stream) -> None:
    buffer = virtual.allocate(3 * MEGABYTE, stream=stream)
    address = buffer.handle
    assert (buffer.device_id, buffer.is_device_accessible, buffer.is_host_accessible) == (DEVICE, True, False)
    assert is_allocated(address) and is_allocated(address + 3 * MEGABYTE - 1)
    assert not virtual.is_managed
    buffer.fill(7, stream=stream)
    assert (content(buffer, np.uint8, stream) == 7).all()
    buffer.close()
    assert not is_allocated(address) and virtual._mappings == {}
    assert virtual.allocate(0).handle == 0


def test_an_allocation_grows_where_it_is(virtual, device, stream, monkeypatch) -> None:
    """If the addresses behind it are free."""
    reserve, asked = virtual_module._reserve, []

    def noted(*given):
        asked.append(given[3])
        return reserve(*given)

    buffer = virtual.allocate(MEGABYTE)
    address, unit = int(buffer.handle), mapped(virtual, buffer)
    monkeypatch.setattr(virtual_module, "_reserve", noted)
    buffer.copy_from(np.arange(1000, dtype=np.int32), stream=stream)
    grown = virtual.modify_allocation(buffer, 9 * MEGABYTE)
    assert grown is buffer and buffer.size == 9 * MEGABYTE
    assert content(buffer, np.int32, stream)[:1000].tolist() == list(range(1000))
    assert asked[0] == address + unit
    assert (int(buffer.handle) == address) == (len(asked) == 1)
    assert mapped(virtual, buffer) < 9 * MEGABYTE + unit, "no more than that takes"
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


def test_a_buffer_grows_into_what_is_mapped_already(virtual, stream, monkeypatch) -> None:
    """Sizes are rounded up to the granularity: up to there nothing has to be made."""
    buffer = virtual.allocate(1000)
    address = buffer.handle
    monkeypatch.setattr(virtual_module, "_reserve", None)
    for size in (2000, mapped(virtual, buffer)):
        assert virtual.modify_allocation(buffer, size) is buffer
        assert (buffer.handle, buffer.size) == (address, size)
    buffer.fill(1, stream=stream)
    assert (content(buffer, np.uint8, stream) == 1).all()


def test_options_that_give_no_access_and_export_nothing(device) -> None:
    needs = {"handle_type": None, "self_access": None, "peer_access": None}
    options = VirtualMemoryResource(device, needs).config
    assert (options.handle_type, options.self_access, options.peer_access) == (None, None, None)
    buffer = VirtualMemoryResource(device, {"handle_type": None}).allocate(1000)
    piece = driver.checked.cuMemRetainAllocationHandle(buffer.handle)
    found = driver.checked.cuMemGetAllocationPropertiesFromHandle(piece)
    assert found.requestedHandleTypes == driver.CUmemAllocationHandleType.CU_MEM_HANDLE_TYPE_NONE


@pytest.mark.parametrize(
    ("lacking", "options", "said"),
    [
        ("virtual_memory_management_supported", {}, "has no virtual memory management"),
        ("gpu_direct_rdma_with_cuda_vmm_supported", {"gpu_direct_rdma": True}, "has no GPUDirect RDMA"),
    ],
)
def test_a_device_that_lacks_what_virtual_memory_needs(device, monkeypatch, lacking, options, said) -> None:
    class Properties:
        virtual_memory_management_supported = gpu_direct_rdma_with_cuda_vmm_supported = True

    monkeypatch.setattr(Properties, lacking, False)
    monkeypatch.setattr(device, "properties", Properties())
    with pytest.raises(RuntimeError, match=f"device 0 {said}"):
        VirtualMemoryResource(device, options)


def test_where_virtual_memory_of_the_host_is_asked_for(monkeypatch) -> None:
    """Which C is asked for; not all drivers have such memory."""
    monkeypatch.setattr(driver.checked, "cuDeviceGetAttribute", lambda attribute, device: 3)
    options = VirtualMemoryResourceOptions(location_type="host_numa")
    place = options._properties(0).location
    assert (place.type, place.id) == (driver.CUmemLocationType.CU_MEM_LOCATION_TYPE_HOST_NUMA, 3)
    host = driver.CUmemLocationType.CU_MEM_LOCATION_TYPE_HOST
    found = [(access.location.type, access.flags) for access in options._access(0, True)]
    assert found[1:] == [(host, driver.CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_READWRITE)]


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
    with pytest.raises(ValueError, match="not of this memory resource"):
        virtual.modify_allocation(VirtualMemoryResource(device).allocate(0), 128)


def test_memory_is_freed_once_its_stream_is_done(virtual, stream, monkeypatch) -> None:
    """Or at once, if none was named."""
    calls = []
    synchronize = driver.checked.cuStreamSynchronize
    monkeypatch.setattr(
        driver.checked,
        "cuStreamSynchronize",
        lambda handle: (calls.append(int(handle)), synchronize(handle)),
    )
    virtual.allocate(1000).close()
    assert calls == []
    virtual.allocate(1000, stream).close()
    assert calls == [int(stream.handle)]


def test_where_an_allocation_begins_may_be_asked_for(device, monkeypatch) -> None:
    hints, reserve = [], virtual_module._reserve
    monkeypatch.setattr(
        virtual_module, "_reserve", lambda *given: (hints.append(given[3]), reserve(*given))[1]
    )
    for hint in (None, 1 << 40):
        VirtualMemoryResource(device, {"addr_hint": hint}).allocate(1000).close()
    assert hints == [0, 1 << 40]


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
    with pytest.raises(ValueError, match="only be reset to 0"):
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


@pytest.mark.parametrize("resource", ["graph", "pool"])
@pytest.mark.parametrize("launched", [False, True])
def test_memory_outlives_the_builder_that_allocates_it(device, stream, resource, launched) -> None:
    """The stream that the builder had to itself is there until the memory was freed in it."""
    mr = GraphMemoryResource(0) if resource == "graph" else DeviceMemoryResource(0)
    builder = device.create_graph_builder().begin_building()
    made = mr.allocate(4096, stream=builder)
    made.fill(3, stream=builder)
    graph = None
    if launched:
        graph = builder.end_building().complete()
        graph.launch(stream)
        assert (content(made, np.uint8, stream) == 3).all()
    builder.close()
    address = made.handle
    made.close()
    device.sync()
    if graph is not None:
        graph.launch(stream)  # only possible since it was freed
        driver.checked.cuMemFreeAsync(address, stream.handle)
        stream.sync()


def test_the_memory_of_graphs_is_that_of_a_device(device) -> None:
    resource = GraphMemoryResource(device)
    assert pickle.loads(pickle.dumps(resource)) == resource
    numbers = resource.attributes
    assert repr(numbers) == (
        f"<GraphMemoryResourceAttributes used {numbers.used_mem_current} (high {numbers.used_mem_high}), "
        f"reserved {numbers.reserved_mem_current} (high {numbers.reserved_mem_high})>"
    )


def test_a_free_that_is_refused_says_so(device, stream, monkeypatch) -> None:
    """But where the graph has not run there is nothing to free."""

    def refuse(cell, stream):
        raise CUDAError("refused", driver.CUresult.CUDA_ERROR_INVALID_VALUE, "cuMemFreeAsync")

    buffer = device.allocate(64, stream)
    monkeypatch.setattr(owning, "cuMemFreeAsync", refuse)
    resource = GraphMemoryResource(device)
    with pytest.raises(CUDAError, match="refused"):
        resource.deallocate(buffer.handle, 64, stream)
    resource.deallocate(1 << 60, 64, stream)
