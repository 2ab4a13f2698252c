"""core on a real GPU: what each class does, and that nothing is lost or left changed."""

from __future__ import annotations

import ctypes
import gc
import os
import pickle
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from cudapy import driver
from cudapy.core import (
    LEGACY_DEFAULT_STREAM,
    PER_THREAD_DEFAULT_STREAM,
    Buffer,
    CompileError,
    CUDAError,
    Device,
    Event,
    EventOptions,
    Kernel,
    LaunchConfig,
    LegacyPinnedMemoryResource,
    MemoryResource,
    ObjectCode,
    Program,
    ProgramOptions,
    Stream,
    StreamOptions,
    launch,
)

from .kernels import needs_no_sanitizer

pytestmark = pytest.mark.gpu

ROOT = Path(__file__).parents[2]

KERNELS = """
extern "C" __global__ void axpy(float a, const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += a * x[i];
}
extern "C" __global__ void spin(long long cycles) {
    long long start = clock64();
    while (clock64() - start < cycles) { }
}
extern "C" __global__ void shared(int *out) {
    extern __shared__ int room[];
    room[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = room[blockDim.x - 1 - threadIdx.x];
}
template <typename T> __global__ void add_one(T *x) { x[threadIdx.x] += 1; }
"""


@pytest.fixture
def device():
    device = Device(0)
    device.set_current()
    yield device
    device.set_current()
    device.sync()


@pytest.fixture
def stream(device):
    return device.create_stream()


@pytest.fixture(scope="module")
def code():
    Device(0).set_current()
    return Program(KERNELS, "c++").compile("cubin", name_expressions=("add_one<int>", "add_one<double>"))


def spin(code, stream, milliseconds):
    """Keep `stream` busy."""
    cycles = int(milliseconds * Device().properties.clock_rate)
    launch(stream, LaunchConfig(grid=1, block=1), code.get_kernel("spin"), cycles)


def content(buffer, dtype, stream):
    found = np.empty(buffer.size // np.dtype(dtype).itemsize, dtype)
    buffer.copy_to(found, stream=stream)
    stream.sync()
    return found


def current():
    return int(driver.checked.cuCtxGetCurrent())


def run(source, **environment):
    """Run Python code in a process of its own."""
    prelude = (
        "from cudapy.core import *\n"
        "dev = Device(0); dev.set_current(); s = dev.create_stream()\n"
        "def start(body, *args):\n"
        "    code = 'extern \"C\" __global__ void k(int *p) {' + body + '}'\n"
        "    kernel = Program(code, 'c++').compile('cubin').get_kernel('k')\n"
        "    launch(s, LaunchConfig(grid=1, block=1), kernel, *args)\n"
        "    return kernel\n"
    )
    return subprocess.Popen(
        [sys.executable, "-W", "ignore::DeprecationWarning", "-c", prelude + source],
        cwd=ROOT,
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


# -- Device -----------------------------------------------------------------------------------------------


def test_a_device_is_one_object_in_a_thread(device) -> None:
    assert Device(0) is device is Device(device) is Device()
    others = []
    thread = threading.Thread(target=lambda: others.append(Device(0)))
    thread.start()
    thread.join()
    assert others[0] is not device and others[0].uuid == device.uuid
    assert pickle.loads(pickle.dumps(device)) is device
    assert Device.get_all_devices()[0] is device
    assert int(device) == device.device_id == 0


def test_what_a_device_is(device) -> None:
    assert "NVIDIA" in device.name or device.name.startswith(("Tesla", "Quadro", "GeForce"))
    assert [len(part) for part in device.uuid.split("-")] == [8, 4, 4, 4, 12]
    assert len(device.pci_bus_id.split(":")) == 3
    major, minor = device.compute_capability
    assert device.arch == f"{major}{minor}"
    assert not device.can_access_peer(device)


def test_every_property_has_its_type(device) -> None:
    kinds = type(device.properties).__annotations__
    assert len(kinds) == 143
    for name, kind in kinds.items():
        value = getattr(device.properties, name)
        assert type(value).__name__ == kind, name
    assert device.properties.warp_size == 32
    assert device.properties.max_threads_per_block == 1024
    assert device.properties.unified_addressing is True
    with pytest.raises(AttributeError, match="no property 'warp'"):
        _ = device.properties.warp


def test_a_device_that_does_not_exist() -> None:
    for ordinal in (-1, 1000):
        with pytest.raises(ValueError, match=f"no device {ordinal}"):
            Device(ordinal)


def test_a_thread_without_a_context_is_told_so(device) -> None:
    said = []

    def work():
        try:
            Device(0).create_stream()
        except CUDAError as error:
            said.append(str(error))
        Device(0).set_current()
        said.append(Device(0).create_stream().device is Device(0))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert "set_current()" in said[0] and said[1] is True


def test_set_current_with_a_context_gives_the_one_before(device) -> None:
    context = device.context
    assert device.set_current(context) == context
    assert device.context == context and not context.is_green and not context.is_closed


def test_sync_waits_for_every_stream(device, code, stream) -> None:
    other = device.create_stream()
    spin(code, stream, 20)
    spin(code, other, 20)
    device.sync()
    for each in (stream, other):
        assert driver.cuStreamQuery(each.handle) == (driver.CUresult.CUDA_SUCCESS,)


# -- Stream and Event -------------------------------------------------------------------------------------


def test_stream_options(device) -> None:
    assert device.create_stream().is_nonblocking
    low, high = driver.checked.cuCtxGetStreamPriorityRange()
    made = device.create_stream(options=StreamOptions(nonblocking=False, priority=high))
    assert not made.is_nonblocking and made.priority == high
    with pytest.raises(ValueError, match="priority"):
        device.create_stream(options=StreamOptions(priority=low + 1))


def test_a_stream_knows_where_it_is(device, stream) -> None:
    assert stream.device is device and stream.context == device.context
    assert stream.__cuda_stream__() == (0, int(stream.handle))
    for default in (LEGACY_DEFAULT_STREAM, PER_THREAD_DEFAULT_STREAM):
        assert default.device is device
        default.close()
        default.sync()
    assert device.default_stream is LEGACY_DEFAULT_STREAM


def test_streams_of_other_libraries(device, stream, code) -> None:
    class Foreign:
        def __cuda_stream__(self):
            return stream.__cuda_stream__()

    for same in (Stream.from_handle(int(stream.handle)), device.create_stream(Foreign())):
        assert same.handle == stream.handle and same.is_nonblocking
        spin(code, stream, 10)
        same.sync()
        assert driver.cuStreamQuery(stream.handle) == (driver.CUresult.CUDA_SUCCESS,)
        same.close()
    stream.sync()  # it was not theirs to destroy
    with pytest.raises(TypeError, match="__cuda_stream__"):
        stream.wait(object())


def test_sync_and_is_done(code, stream) -> None:
    spin(code, stream, 30)
    event = stream.record()
    assert not event.is_done
    event.sync()
    assert event.is_done
    spin(code, stream, 30)
    last = stream.record()
    stream.sync()
    assert last.is_done


@pytest.mark.parametrize(
    "options", [EventOptions(enable_timing=True), EventOptions(True, busy_waited_sync=True)]
)
def test_events_time_work(code, stream, options) -> None:
    spin(code, stream, 1)
    start = stream.record(options=options)
    spin(code, stream, 20)
    end = stream.record(options=options)
    with pytest.raises(CUDAError, match=r"sync\(\)"):
        _ = end - start
    end.sync()
    assert 10 < end - start < 60
    assert start - end == pytest.approx(-(end - start), abs=0.01)


def test_events_without_time(device, stream) -> None:
    plain = stream.record()
    timed = stream.record(options=EventOptions(timing_enabled=True))
    stream.sync()
    with pytest.raises(CUDAError, match="timing_enabled=True"):
        _ = timed - plain
    with pytest.raises(CUDAError, match="record"):
        _ = device.create_event(EventOptions(True)) - timed
    assert timed.is_timing_enabled and not plain.is_timing_enabled
    assert plain.device is device and plain.context == stream.context
    assert device.create_event().is_done
    with pytest.raises(TypeError):
        _ = timed - 1


def test_a_stream_waits_for_another(device, code) -> None:
    first, second = device.create_stream(), device.create_stream()
    x = device.allocate(4, first)
    x.fill(0, stream=first)
    spin(code, first, 30)
    x.fill(7, stream=first)
    second.wait(first)
    found = content(x, np.uint8, second)
    assert found.tolist() == [7, 7, 7, 7]


def test_an_event_is_recorded_again(code, stream, device) -> None:
    event = device.create_event()
    spin(code, stream, 20)
    assert stream.record(event) is event and not event.is_done
    event.sync()


def test_ipc_events_are_described(stream) -> None:
    event = stream.record(options=EventOptions(ipc_enabled=True))
    described = pickle.loads(pickle.dumps(event.get_ipc_descriptor()))
    assert len(described.reserved) == 64
    with pytest.raises(RuntimeError, match="ipc_enabled"):
        _ = stream.record().ipc_descriptor
    with pytest.raises(ValueError, match="timing"):
        EventOptions(timing_enabled=True, ipc_enabled=True)


# -- Buffer -----------------------------------------------------------------------------------------------


def test_copies_between_host_and_device(device, stream) -> None:
    numbers = np.arange(1000, dtype=np.float32).reshape(10, 100)
    buffer = device.allocate(numbers.nbytes, stream)
    buffer.copy_from(numbers, stream=stream)
    back = np.zeros_like(numbers)
    assert buffer.copy_to(back, stream=stream) is back
    stream.sync()
    assert np.array_equal(back, numbers)
    buffer.copy_from(b"\xff" * 4, stream=stream)
    short = bytearray(8)
    buffer.copy_to(short, stream=stream)
    stream.sync()
    assert bytes(short) == b"\xff" * 4 + numbers.tobytes()[4:8]


def test_copies_between_buffers(device, stream) -> None:
    source = device.allocate(16, stream)
    source.copy_from(bytes(range(16)), stream=stream)
    target = device.allocate(16, stream)
    assert source.copy_to(target, stream=stream) is target
    third = target.copy_to(stream=stream)
    assert third.memory_resource is target.memory_resource and third.handle != target.handle
    assert content(third, np.uint8, stream).tolist() == list(range(16))
    with pytest.raises(ValueError, match="15 bytes"):
        source.copy_from(device.allocate(15, stream), stream=stream)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0, 0x00000000),
        (171, 0xABABABAB),
        (b"\xff", 0xFFFFFFFF),
        (b"\x01\x02", 0x02010201),
        (np.uint32(0xDEADBEEF), 0xDEADBEEF),
        (np.float32(1.0), 0x3F800000),
    ],
)
def test_fill(device, stream, value, expected) -> None:
    buffer = device.allocate(64, stream)
    buffer.fill(value, stream=stream)
    assert (content(buffer, np.uint32, stream) == expected).all()


def test_what_cannot_be_filled_or_copied(device, stream) -> None:
    buffer = device.allocate(6, stream)
    for value, error in (
        (256, OverflowError),
        (-1, OverflowError),
        (b"abc", ValueError),
        (b"abcd", ValueError),
    ):
        with pytest.raises(error):
            buffer.fill(value, stream=stream)
    with pytest.raises(ValueError, match="7 bytes"):
        buffer.copy_from(bytes(7), stream=stream)
    with pytest.raises(ValueError, match="contiguous"):
        buffer.copy_from(np.zeros(4, np.uint8)[::2], stream=stream)
    with pytest.raises(ValueError, match="writable"):
        frozen = np.zeros(4, np.uint8)
        frozen.flags.writeable = False
        buffer.copy_to(frozen, stream=stream)
    with pytest.raises(ValueError, match="cannot be -1"):
        device.allocate(-1)


def test_what_a_buffer_is(device, stream) -> None:
    buffer = device.allocate(size=100, stream=stream)
    assert (buffer.size, buffer.device_id, buffer.memory_resource) == (100, 0, device.memory_resource)
    assert buffer.is_device_accessible and not buffer.is_host_accessible and not buffer.is_managed
    seen = Buffer.from_handle(buffer.handle, 100, owner=buffer)
    assert (seen.handle, seen.size, seen.owner, seen.memory_resource) == (buffer.handle, 100, buffer, None)
    assert (seen.device_id, seen.is_device_accessible, seen.is_host_accessible) == (0, True, False)
    host = np.zeros(4)
    outside = Buffer.from_handle(host.ctypes.data, host.nbytes)
    assert (outside.device_id, outside.is_host_accessible) == (-1, True)
    assert device.allocate(0).handle == 0


def test_pinned_memory(device, stream) -> None:
    buffer = LegacyPinnedMemoryResource().allocate(16)
    assert (buffer.device_id, buffer.is_device_accessible, buffer.is_host_accessible) == (-1, True, True)
    assert Buffer.from_handle(buffer.handle, 16).is_host_accessible
    ctypes.memmove(buffer.handle, bytes(range(16)), 16)
    on_device = device.allocate(16, stream)
    on_device.copy_from(buffer, stream=stream)
    assert content(on_device, np.uint8, stream).tolist() == list(range(16))
    on_device.fill(9, stream=stream)
    on_device.copy_to(buffer, stream=stream)
    stream.sync()
    assert ctypes.string_at(buffer.handle, 16) == b"\x09" * 16


def test_memory_that_there_is_not(device, stream) -> None:
    with pytest.raises(MemoryError) as caught:
        device.allocate(1 << 50, stream)
    assert isinstance(caught.value, CUDAError) and caught.value.function == "cuMemAllocFromPoolAsync"
    assert device.allocate(1 << 20, stream).handle, "and there still is other memory"


def test_a_memory_resource_of_ones_own(device, stream) -> None:
    freed = []

    class Counting(MemoryResource):
        device_id, is_device_accessible, is_host_accessible = 0, True, False

        def allocate(self, size, stream=None):
            return Buffer.from_handle(0x1000, size, mr=self)

        def deallocate(self, ptr, size, stream=None):
            freed.append((int(ptr), size))

    before, device.memory_resource = device.memory_resource, Counting()
    try:
        buffer = device.allocate(8, stream)
        assert buffer.memory_resource is device.memory_resource
        buffer.close()
        buffer.close()
        assert freed == [(0x1000, 8)]
        device.allocate(9)
        gc.collect()
        assert freed == [(0x1000, 8), (0x1000, 9)]
    finally:
        device.memory_resource = before
    with pytest.raises(TypeError, match="MemoryResource"):
        device.memory_resource = 1


# -- ObjectCode and Kernel --------------------------------------------------------------------------------


def test_kernels_run_right(device, code, stream) -> None:
    n = 100_000
    x, y = (np.random.default_rng(seed).random(n, dtype=np.float32) for seed in (1, 2))
    dx, dy = device.allocate(x.nbytes, stream), device.allocate(y.nbytes, stream)
    dx.copy_from(x, stream=stream)
    dy.copy_from(y, stream=stream)
    launch(stream, LaunchConfig(grid=(n + 255) // 256, block=256), code.get_kernel("axpy"), 2.0, dx, dy, n)
    assert np.allclose(content(dy, np.float32, stream), y + 2 * x)


@pytest.mark.parametrize("dtype", [np.int32, np.float64])
def test_name_expressions_find_kernels(device, code, stream, dtype) -> None:
    name = {np.int32: "add_one<int>", np.float64: "add_one<double>"}[dtype]
    x = device.allocate(32 * np.dtype(dtype).itemsize, stream)
    x.copy_from(np.arange(32, dtype=dtype), stream=stream)
    kernel = code.get_kernel(name)
    assert (
        kernel.name == code.symbol_mapping[name] and code.get_kernel(kernel.name.encode()).name == kernel.name
    )
    launch(stream, LaunchConfig(grid=1, block=32), kernel, x)
    assert content(x, dtype, stream).tolist() == list(range(1, 33))


def test_a_kernel_that_does_not_exist(code) -> None:
    with pytest.raises(CUDAError, match="add_one") as caught:
        code.get_kernel("add_one<float>")
    message = str(caught.value)
    assert "add_one<float>" in message and "name_expressions" in message and 'extern "C"' in message
    if driver.checked.cuDriverGetVersion() >= 12040:
        assert "axpy" in message and "spin" in message


def test_arguments_info(code) -> None:
    if driver.checked.cuDriverGetVersion() < 12040:
        pytest.skip("the driver cannot tell the parameters of a kernel before CUDA 12.4")
    axpy = code.get_kernel("axpy")
    assert axpy.arguments_info == [(0, 4), (8, 8), (16, 8), (24, 4)] and axpy.num_arguments == 4
    assert axpy.arguments_info[1].offset == axpy.arguments_info[1].size == 8


def test_attributes(device, code) -> None:
    attributes = code.get_kernel("axpy").attributes
    assert attributes.max_threads_per_block == attributes.max_threads_per_block() == 1024
    assert attributes.num_regs > 0 and attributes.shared_size_bytes == 0
    assert attributes.binary_version == int(device.arch)
    assert attributes.cluster_size_must_be_set is False
    assert attributes[device].num_regs == attributes[0].num_regs == attributes.num_regs
    for name in type(attributes).__annotations__:
        assert isinstance(getattr(attributes, name), int), name
    with pytest.raises(AttributeError, match="no attribute"):
        attributes.registers = 1


def test_more_shared_memory_than_usual(device, code, stream) -> None:
    kernel = code.get_kernel("shared")
    room = device.properties.max_shared_memory_per_block_optin
    kernel.attributes.max_dynamic_shared_size_bytes = room
    assert kernel.attributes.max_dynamic_shared_size_bytes == room
    out = device.allocate(4 * 64, stream)
    launch(stream, LaunchConfig(grid=1, block=64, shmem_size=room), kernel, out)
    assert content(out, np.int32, stream).tolist() == list(range(63, -1, -1))


def test_occupancy(device, code) -> None:
    occupancy = code.get_kernel("shared").occupancy
    alone = occupancy.max_active_blocks_per_multiprocessor(256, 0)
    crowded = occupancy.max_active_blocks_per_multiprocessor(256, dynamic_shared_memory_size=40_000)
    assert alone == device.properties.max_threads_per_multiprocessor // 256
    assert 1 <= crowded < alone
    best = occupancy.max_potential_block_size(dynamic_shared_memory_needed=0, block_size_limit=128)
    assert best.max_block_size <= 128
    assert best.min_grid_size >= device.properties.multiprocessor_count
    by_size = ctypes.CFUNCTYPE(ctypes.c_size_t, ctypes.c_int)(lambda block: 4 * block)
    assert occupancy.max_potential_block_size(by_size).max_block_size > 0
    assert occupancy.available_dynamic_shared_memory_per_block(1, 256) > 40_000


def test_clusters(device, code, stream) -> None:
    if not device.properties.cluster_launch:
        pytest.skip("this device has no clusters")
    occupancy = code.get_kernel("axpy").occupancy
    config = LaunchConfig(grid=4, cluster=2, block=128)
    assert occupancy.max_active_clusters(config, stream=stream) >= 1
    assert occupancy.max_potential_cluster_size(config, stream=stream) >= 2


@pytest.mark.parametrize("target", ["ptx", "cubin"])
def test_code_from_a_file(device, stream, tmp_path, target) -> None:
    path = tmp_path / f"k.{target}"
    path.write_bytes(Program(KERNELS, "c++").compile(target).code)
    made = getattr(ObjectCode, f"from_{target}")(path, name="file", symbol_mapping={"sum": "axpy"})
    assert made.get_kernel("sum").name == "axpy"
    assert int(made.handle) and int(made.get_module())
    kernel = Kernel.from_handle(int(made.get_kernel("spin").handle), made)
    assert kernel.name == "spin"
    launch(stream, LaunchConfig(grid=1, block=1), kernel, 10)
    stream.sync()


def test_ptx_is_linked_by_the_driver(device, stream) -> None:
    ptx = Program(KERNELS, "c++").compile("ptx").code
    program = Program(ptx.rstrip(b"\0").decode(), "ptx", ProgramOptions(max_register_count=32))
    made = program.link("cubin")
    assert program.backend == "driver" and made.code.startswith(b"\x7fELF")
    launch(stream, LaunchConfig(grid=1, block=1), made.get_kernel("spin"), 10)
    stream.sync()


def test_ptx_that_is_wrong(device) -> None:
    wrong = f".version 8.0\n.target sm_{device.arch}\n.address_size 64\n.entry k() {{ nonsense; }}\n"
    with pytest.raises(CUDAError, match="nonsense"):
        ObjectCode.from_ptx(wrong).get_kernel("k")
    with pytest.raises(CompileError, match="nonsense"):
        Program(wrong, "ptx").link("cubin")


# -- lifetimes --------------------------------------------------------------------------------------------


def test_closed_objects_say_so(device, stream) -> None:
    other, buffer = device.create_stream(), device.allocate(8, stream)
    event = stream.record()
    for thing, use in (
        (other, other.sync),
        (event, event.sync),
        (buffer, lambda: buffer.fill(0, stream=stream)),
    ):
        thing.close()
        thing.close()
        assert thing.is_closed and "closed" in repr(thing)
        with pytest.raises(RuntimeError, match=f"this {type(thing).__name__} is closed"):
            use()
    with pytest.raises(RuntimeError, match="this Stream is closed"):
        device.allocate(8, other)


def test_a_buffer_outlives_the_stream_it_is_freed_in(device) -> None:
    stream = device.create_stream()
    buffer = device.allocate(1 << 20, stream)
    stream.close()
    buffer.fill(1)
    buffer.close()
    device.sync()


def test_buffers_are_freed_in_the_stream_they_were_closed_with(device, stream) -> None:
    pool = device.memory_resource.handle
    used = driver.CUmemPool_attribute.CU_MEMPOOL_ATTR_USED_MEM_CURRENT
    before = driver.checked.cuMemPoolGetAttribute(pool, used)
    other = device.create_stream()
    buffer = device.allocate(64 << 20, stream)
    assert driver.checked.cuMemPoolGetAttribute(pool, used) >= before + (64 << 20)
    buffer.close(other)
    other.sync()
    assert driver.checked.cuMemPoolGetAttribute(pool, used) <= before


def test_the_garbage_collector_leaves_no_trace(device, stream) -> None:
    """Collected in a thread without a context, and that thread has none afterwards."""
    things = [device.allocate(1024, stream), stream.record(), device.create_stream()]
    things.append(LegacyPinnedMemoryResource().allocate(64))
    contexts = []

    def collect():
        things.clear()
        gc.collect()
        contexts.append(current())

    thread = threading.Thread(target=collect)
    thread.start()
    thread.join()
    assert contexts == [0] and current() == int(device.context.handle)
    stream.sync()


def test_what_is_dropped_during_a_capture_is_freed_after_it(device, stream) -> None:
    pool = device.memory_resource.handle
    used = driver.CUmemPool_attribute.CU_MEMPOOL_ATTR_USED_MEM_CURRENT
    before = driver.checked.cuMemPoolGetAttribute(pool, used)

    def things():
        code = Program('extern "C" __global__ void k() { }', "c++").compile("cubin")
        pinned = LegacyPinnedMemoryResource().allocate(64)
        in_default_stream = device.allocate(1 << 20)
        in_stream = device.allocate(32 << 20, stream)
        return [in_default_stream, in_stream, pinned, code.get_kernel("k"), device.create_stream(), Event()]

    kept, other = device.allocate(1024, stream), device.create_stream()
    source = LegacyPinnedMemoryResource().allocate(1024)
    device.sync()
    for mode in driver.CUstreamCaptureMode:
        dropped = things()
        kept.copy_from(source, stream=other)
        device.sync()
        kept.copy_from(source, stream=other)
        driver.checked.cuStreamBeginCapture(stream.handle, mode)
        kept.fill(1, stream=stream)
        dropped.clear()
        gc.collect()
        kept.copy_from(source, stream=other)
        graph = driver.checked.cuStreamEndCapture(stream.handle)
        assert len(driver.checked.cuGraphGetNodes(graph, 10)[0]) == 1, "the memset alone"
        driver.checked.cuGraphDestroy(graph)
        device.create_event()
        device.sync()
        assert driver.checked.cuMemPoolGetAttribute(pool, used) <= before + 1024
    kept.close()
    device.sync()
    assert driver.checked.cuMemPoolGetAttribute(pool, used) <= before


def test_the_source_of_a_copy_may_be_dropped_at_once(device, code, stream) -> None:
    size = 1 << 20
    target = device.allocate(size, stream)
    for value in range(20):
        source = LegacyPinnedMemoryResource().allocate(size)
        ctypes.memset(source.handle, value, size)
        spin(code, stream, 2)
        target.copy_from(source, stream=stream)
        del source
        rubbish = LegacyPinnedMemoryResource().allocate(size)
        ctypes.memset(rubbish.handle, 255, size)
        assert (content(target, np.uint8, stream) == value).all()


def test_the_array_of_a_copy_may_be_dropped_at_once(device, code, stream) -> None:
    size = 1 << 16
    target = device.allocate(size, stream)
    for value in range(20):
        spin(code, stream, 2)
        target.copy_from(np.full(size, value, np.uint8), stream=stream)
        rubbish = np.full(size, 255, np.uint8)
        assert (content(target, np.uint8, stream) == value).all() and rubbish[0] == 255


def test_device_memory_stays_flat(device, code) -> None:
    def round_trip():
        stream = device.create_stream()
        with stream.record(), device.allocate(1 << 20, stream) as buffer:
            buffer.fill(0, stream=stream)
        ObjectCode.from_cubin(code.code).get_kernel("axpy")
        Event()

    for _ in range(50):
        round_trip()
    device.sync()
    free, _ = driver.checked.cuMemGetInfo()
    for _ in range(1000):
        round_trip()
    device.sync()
    assert free - driver.checked.cuMemGetInfo()[0] <= 2 << 20


def test_exit_with_live_objects_is_silent() -> None:
    process = run(
        "b = dev.allocate(1 << 20, s); e = s.record(); p = LegacyPinnedMemoryResource().allocate(64)\n"
        "k = start('for (int i = 0; i < 1000000; i++) __nanosleep(100);', None)\n"
        "cycle = [b, e, p]; cycle.append(cycle)\n"
    )
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (0, "", "")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_child_is_told_and_frees_nothing() -> None:
    process = run(
        "import gc, os, sys\n"
        "b = dev.allocate(64, s)\n"
        "if not os.fork():\n"
        "    del b, s; gc.collect()\n"
        "    try: Device(0)\n"
        "    except CUDAError as error: print(error)\n"
        "    sys.stdout.flush(); os._exit(0)\n"
        "os.wait(); b.fill(1, stream=s); s.sync(); print('parent goes on')\n"
    )
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0 and err == ""
    assert "fork" in out and "spawn" in out and out.endswith("parent goes on\n")


@pytest.mark.skipif(sys.platform == "win32", reason="signals differ there")
@pytest.mark.parametrize("wait", ["s.sync()", "s.record().sync()"])
def test_ctrl_c_ends_a_wait(wait) -> None:
    process = run(
        "import time\n"
        "k = start('for (int i = 0; i < 5000; i++) __nanosleep(1000000);', None)\n"
        "print('waiting', flush=True)\n"
        f"try: {wait}\n"
        "except KeyboardInterrupt: print(time.time(), flush=True)\n"
        "import os; os._exit(0)\n"
    )
    assert process.stdout.readline() == "waiting\n"
    time.sleep(0.5)
    sent = time.time()
    process.send_signal(2)
    assert float(process.stdout.readline()) - sent < 0.2
    process.communicate(timeout=60)


def test_an_illegal_address_is_one_clear_error() -> None:
    needs_no_sanitizer()
    process = run(
        "b = dev.allocate(64, s)\n"
        "k = start('*p = 1;', 0xdead0000)\n"
        "for _ in range(2):\n"
        "    try: s.sync()\n"
        "    except CUDAError as error: print(error.name, 'restart' in str(error))\n"
        "b.close(); s.close(); del k\n"
    )
    out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, "")
    assert out == "CUDA_ERROR_ILLEGAL_ADDRESS True\n" * 2


def test_threads_share_a_kernel(device, code) -> None:
    kernel, config = code.get_kernel("add_one<int>"), LaunchConfig(grid=1, block=32)
    results = []

    def work():
        mine = Device(0)
        mine.set_current()
        stream = mine.create_stream()
        x = mine.allocate(128, stream)
        x.fill(0, stream=stream)
        for _ in range(500):
            launch(stream, config, kernel, x)
        results.append(set(content(x, np.int32, stream).tolist()))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [{500}] * 8
