"""Every kind of object that NVIDIA's cuda.core has, made and used with NumPy alone."""

import multiprocessing
import tempfile
from collections.abc import Callable
from typing import Any

import numpy as np
from cuda.core import (
    LEGACY_DEFAULT_STREAM,
    PER_THREAD_DEFAULT_STREAM,
    ContextOptions,
    Device,
    DeviceMemoryResource,
    DeviceMemoryResourceOptions,
    EventOptions,
    GraphMemoryResource,
    Host,
    Kernel,
    LaunchConfig,
    LegacyPinnedMemoryResource,
    Linker,
    LinkerOptions,
    ManagedMemoryResource,
    ObjectCode,
    PinnedMemoryResource,
    Program,
    ProgramOptions,
    SMResourceOptions,
    Stream,
    StreamOptions,
    VirtualMemoryResource,
    WorkqueueResourceOptions,
    launch,
    system,
)
from cuda.core.graph import GraphBuilder, GraphDefinition
from cuda.core.texture import OpaqueArrayOptions, ResourceDescriptor, TextureObjectOptions
from cuda.core.utils import (
    FileStreamProgramCache,
    InMemoryProgramCache,
    StridedMemoryView,
    copy_batch,
    prefetch_batch,
)

CODE = """
extern "C" __global__ void add(int *p, int by) { p[threadIdx.x] += by; }
extern "C" __global__ void read(unsigned long long texture, float *out)
{ out[threadIdx.x] = tex1D<float>(texture, threadIdx.x + 0.5f); }
extern "C" __global__ void count(int *p)
{ asm("mov.u32 %0, %%nsmid;" : "=r"(p[threadIdx.x])); }
extern "C" __global__ void write(unsigned long long surface)
{ surf1Dwrite(threadIdx.x * 3.0f, surface, threadIdx.x * 4); }
"""
ONE = LaunchConfig(grid=1, block=32)


def compiled(device: Device, code: str = CODE, kind: str = "cubin", **options: Any) -> ObjectCode:
    return Program(code, "c++", ProgramOptions(arch=f"sm_{device.arch}", **options)).compile(kind)


def ints(stream: Stream, buffer: Any, count: int = 32) -> list[int]:
    host = np.zeros(count, np.int32)
    pinned = LegacyPinnedMemoryResource().allocate(host.nbytes, stream=stream)
    buffer.copy_to(pinned, stream=stream)
    stream.sync()
    host[:] = np.from_dlpack(pinned).view(np.int32)[:count]
    return host.tolist()


def streams_and_events(device: Device) -> None:
    first = device.create_stream(options=StreamOptions(nonblocking=True, priority=-1))
    second = device.create_stream()
    assert first.is_nonblocking and first.priority == -1 and first.device == device
    event = first.record(options=EventOptions(timing_enabled=True))
    second.wait(event)
    second.wait(first)
    event.sync()
    assert event.is_done
    for stream in (LEGACY_DEFAULT_STREAM, PER_THREAD_DEFAULT_STREAM, Stream.from_handle(int(first.handle))):
        stream.sync()
    device.sync()


def memory(device: Device) -> None:
    stream = device.create_stream()
    add = compiled(device).get_kernel("add")
    resources = [
        device.memory_resource,
        DeviceMemoryResource(device, DeviceMemoryResourceOptions(max_size=1 << 20)),
        PinnedMemoryResource(),
        ManagedMemoryResource(),
        LegacyPinnedMemoryResource(),
        VirtualMemoryResource(device),
    ]
    for resource in resources:
        buffer = resource.allocate(128, stream=stream)
        if isinstance(resource, (VirtualMemoryResource, LegacyPinnedMemoryResource)):
            stream.sync()
        buffer.fill(np.int32(5), stream=stream)
        launch(stream, ONE, add, buffer, np.int32(2))
        small = device.allocate(128, stream=stream)
        if buffer.size == small.size:
            small.copy_from(buffer, stream=stream)
            assert ints(stream, small) == [7] * 32, type(resource)
        stream.sync()
        buffer.close(stream)
    managed = ManagedMemoryResource().allocate(4096, stream=stream)
    managed.fill(1, stream=stream)
    prefetch_batch(stream, [managed], [Host()])
    buffers = [device.allocate(64, stream=stream) for _ in range(4)]
    for i, buffer in enumerate(buffers[:2]):
        buffer.fill(np.int32(i + 1), stream=stream)
    copy_batch(stream, buffers[:2], buffers[2:])
    assert ints(stream, buffers[3], 16) == [2] * 16
    view = StridedMemoryView.from_any_interface(buffers[0], stream_ptr=-1)
    assert view.ptr == int(buffers[0].handle) and view.is_device_accessible


def compilers(device: Device) -> None:
    stream = device.create_stream()
    buffer = device.allocate(128, stream=stream)
    buffer.fill(0, stream=stream)
    ptx = compiled(device, kind="ptx")
    sources = [ptx, ObjectCode.from_ptx(bytes(ptx.code)), compiled(device)]
    sources.append(ObjectCode.from_cubin(bytes(sources[-1].code)))
    sources.append(Program(bytes(ptx.code).decode(), "ptx", ProgramOptions()).compile("cubin"))
    units = [
        'extern "C" __device__ int by(int x) { return x; }',
        'extern "C" __device__ int by(int); extern "C" __global__ void add(int *p, int x) '
        "{ p[threadIdx.x] += by(x); }",
    ]
    for kind, options in (("ptx", {}), ("cubin", {}), ("ltoir", {"link_time_optimization": True})):
        parts = [compiled(device, unit, kind, relocatable_device_code=True, **options) for unit in units]
        linker = Linker(*parts, options=LinkerOptions(arch=f"sm_{device.arch}", **options))
        sources.append(linker.link("cubin"))
    for source in sources:
        kernel = source.get_kernel("add")
        assert isinstance(kernel, Kernel) and kernel.num_arguments == 2
        launch(stream, ONE, kernel, buffer, np.int32(1))
    assert ints(stream, buffer) == [len(sources)] * 32
    kernel = sources[2].get_kernel("add")
    assert kernel.attributes.max_threads_per_block == 1024
    assert kernel.occupancy.max_active_blocks_per_multiprocessor(256, 0) > 0
    with tempfile.TemporaryDirectory() as folder:
        for cache in (InMemoryProgramCache(), FileStreamProgramCache(folder)):
            for _ in range(2):
                options = ProgramOptions(arch=f"sm_{device.arch}")
                found = Program(CODE, "c++", options).compile("cubin", cache=cache)
                launch(stream, ONE, found.get_kernel("add"), buffer, np.int32(1))
            stream.sync()


def graphs(device: Device) -> None:
    stream = device.create_stream()
    add = compiled(device).get_kernel("add")
    buffer = device.allocate(128, stream=stream)
    buffer.fill(0, stream=stream)
    calls: list[int] = []
    builder = device.create_graph_builder().begin_building()
    launch(builder, ONE, add, buffer, np.int32(1))
    left, right = builder.split(2)
    launch(left, ONE, add, buffer, np.int32(10))
    right.callback(lambda: calls.append(1))
    graph = GraphBuilder.join(left, right).end_building().complete()
    for _ in range(3):
        graph.launch(stream)
    assert ints(stream, buffer) == [33] * 32 and calls == [1, 1, 1]

    definition = GraphDefinition()
    first = definition.memset(int(buffer.handle), np.int32(4), 32)
    condition = definition.create_condition(default_value=1)
    then = first.if_then(condition)
    then.then.launch(ONE, add, buffer, np.int32(5))
    assert len(definition.nodes()) == 2
    definition.instantiate().launch(stream)
    assert ints(stream, buffer) == [9] * 32

    captured = GraphMemoryResource(device)
    builder = stream.create_graph_builder().begin_building()
    inside = captured.allocate(128, stream=builder)
    inside.fill(np.int32(1), stream=builder)
    launch(builder, ONE, add, inside, np.int32(1))
    buffer.copy_from(inside, stream=builder)
    inside.close(builder)
    builder.end_building().complete().launch(stream)
    assert ints(stream, buffer) == [2] * 32


def textures(device: Device) -> None:
    stream = device.create_stream()
    code = compiled(device)
    host = np.arange(32, dtype=np.float32)
    array = device.create_opaque_array(OpaqueArrayOptions(shape=(32,), format="float32", num_channels=1))
    array.copy_from(host, stream=stream)
    texture = device.create_texture_object(
        resource=ResourceDescriptor.from_opaque_array(array), options=TextureObjectOptions()
    )
    out = device.allocate(128, stream=stream)
    launch(stream, ONE, code.get_kernel("read"), np.uint64(int(texture.handle)), out)
    assert np.array(ints(stream, out), np.int32).view(np.float32).tolist() == host.tolist()
    options = OpaqueArrayOptions(shape=(32,), format="float32", num_channels=1, is_surface_load_store=True)
    written = device.create_opaque_array(options)
    surface = device.create_surface_object(resource=ResourceDescriptor.from_opaque_array(written))
    launch(stream, ONE, code.get_kernel("write"), np.uint64(int(surface.handle)))
    back = np.zeros(32, np.float32)
    written.copy_to(back, stream=stream)
    stream.sync()
    assert back.tolist() == (3 * host).tolist()
    buffer = device.allocate(1024, stream=stream)
    view = StridedMemoryView.from_buffer(buffer, (16, 16), dtype=np.dtype(np.float32))
    assert view.as_tensor_map(box_dim=(4, 16)).device == device


def green_contexts(device: Device) -> None:
    whole = device.resources.sm
    for options in (SMResourceOptions(), SMResourceOptions(count=2), SMResourceOptions(count=(2, None))):
        for dry_run in (True, False):
            groups, rest = whole.split(options, dry_run=dry_run)
            assert sum(group.sm_count for group in groups) + rest.sm_count == whole.sm_count
    queue = device.resources.workqueue
    queue.configure(WorkqueueResourceOptions(sharing_scope="green_ctx_balanced", concurrency_limit=2))
    (group,), rest = whole.split(SMResourceOptions(count=2))
    first = device.create_context(ContextOptions(resources=[group]))
    second = device.create_context(ContextOptions(resources=[rest, queue]))
    assert first.is_green and first.resources.sm.sm_count == 2
    assert second.resources.workqueue.concurrency_limit == 2
    kernel = compiled(device).get_kernel("count")
    for context in (first, second):
        stream = context.create_stream()
        assert stream.context == context and stream.resources.sm.sm_count == context.resources.sm.sm_count
        buffer = device.allocate(128, stream=stream)
        launch(stream, ONE, kernel, buffer)
        stream.record().sync()
        assert ints(stream, buffer) == [context.resources.sm.sm_count] * 32
        buffer.close(stream)
        stream.close()
    first.close()


def receive(connection: Any) -> None:
    """In another process: add to the buffer that comes."""
    device = Device()
    device.set_current()
    stream = device.create_stream()
    resource, buffer = connection.recv(), connection.recv()
    launch(stream, ONE, compiled(device).get_kernel("add"), buffer, np.int32(8))
    stream.sync()
    buffer.close(stream)
    resource.close()
    connection.send("done")


def processes(device: Device) -> None:
    stream = device.create_stream()
    resource = DeviceMemoryResource(device, DeviceMemoryResourceOptions(max_size=1 << 21, ipc_enabled=True))
    buffer = resource.allocate(128, stream=stream)
    buffer.fill(np.int32(1), stream=stream)
    stream.sync()
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.Process(target=receive, args=(theirs,))
    process.start()
    ours.send(resource)
    ours.send(buffer)
    assert ours.recv() == "done"
    process.join()
    assert process.exitcode == 0 and ints(stream, buffer) == [9] * 32


def raised(work: Callable[[], Any]) -> str:
    try:
        work()
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""


def errors(device: Device) -> None:
    """What was made before is destroyed while the exception is pending, which stays what it is."""
    broken = ObjectCode.from_ptx(b".version 8.0 garbage")
    stream = device.create_stream()
    compiled = raised(lambda: Program("garbage;", "c++").compile("ptx"))
    assert compiled.startswith("NVRTCError") and "no storage class" in compiled
    linked = raised(lambda: Linker(broken, options=LinkerOptions(arch="sm_90")).link("cubin"))
    assert linked.startswith("nvJitLinkError") and "Missing .target" in linked
    allocated = raised(lambda: device.memory_resource.allocate(1 << 50, stream=stream))
    assert allocated.startswith("CUDAError: CUDA_ERROR_OUT_OF_MEMORY")


def devices(device: Device) -> None:
    assert system.get_num_devices() >= 1 and device.compute_capability >= (5, 0)
    assert device.properties.warp_size == 32 and len(device.uuid) == 36
    assert str(device.pci_bus_id) and device.arch.isdigit()
    assert device.to_system_device().memory_info.total > 0


ALL: tuple[Callable[[Device], None], ...] = (
    streams_and_events, memory, compilers, graphs, textures, green_contexts, processes, errors, devices,
)  # fmt: skip

if __name__ == "__main__":
    multiprocessing.set_start_method("spawn")
    here = Device()
    here.set_current()
    for each in ALL:
        each(here)
        print(each.__name__)
