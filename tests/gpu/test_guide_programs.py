"""Programs in the forms of the guides to NVIDIA's packages: each section of one, whole, with its clean-up."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from cudapy.core.graph import GraphDebugPrintOptions

from cudapy import core, driver, nvrtc, runtime
from cudapy.core import (
    LEGACY_DEFAULT_STREAM,
    PER_THREAD_DEFAULT_STREAM,
    Buffer,
    Device,
    DeviceMemoryResource,
    DeviceMemoryResourceOptions,
    EventOptions,
    LaunchConfig,
    LegacyPinnedMemoryResource,
    Linker,
    LinkerOptions,
    ManagedMemoryResource,
    ObjectCode,
    PinnedMemoryResource,
    Program,
    ProgramOptions,
    Stream,
    StreamOptions,
    launch,
    system,
)

pytestmark = pytest.mark.gpu

ADD = """
template<typename T>
__global__ void add(const T* a, const T* b, T* c, size_t n) {
    for (size_t i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += gridDim.x * blockDim.x)
        c[i] = a[i] + b[i];
}
"""


@pytest.fixture
def dev() -> Device:
    dev = Device(0)
    dev.set_current()
    return dev


def test_devices(dev) -> None:
    assert Device(0) is dev and Device(dev) is dev
    assert dev.name and dev.uuid and dev.pci_bus_id and dev.device_id == 0
    assert dev.arch == "".join(map(str, dev.compute_capability))
    props = dev.properties
    assert (props.compute_capability_major, props.compute_capability_minor) == dev.compute_capability
    for name in ("multiprocessor_count", "max_threads_per_block", "max_shared_memory_per_block", "warp_size"):
        assert getattr(props, name) > 0
    assert isinstance(props.memory_pools_supported, bool)
    for other in Device.get_all_devices():
        assert other.device_id == 0 or isinstance(dev.can_access_peer(other), bool)
    s, e, buf = dev.create_stream(), dev.create_event(), dev.allocate(1024)
    dev.sync()
    buf.close()
    e.close()
    s.close()
    assert system.get_num_devices() == len(Device.get_all_devices()) and system.driver_version  # type: ignore[attr-defined]
    assert dev.to_system_device()


def test_streams(dev) -> None:
    stream = dev.create_stream()
    stream = dev.create_stream(options=StreamOptions(nonblocking=True, priority=0))
    assert stream.is_nonblocking and stream.priority == 0 and stream.device is dev
    stream.sync()
    other = dev.create_stream()
    stream.wait(other)
    event = stream.record()
    event.sync()
    assert event.is_done and LEGACY_DEFAULT_STREAM.handle != PER_THREAD_DEFAULT_STREAM.handle
    foreign = Stream.from_handle(int(other.handle))
    foreign.sync()
    stream.close()


def test_events(dev) -> None:
    stream = dev.create_stream()
    event = dev.create_event(
        options=EventOptions(enable_timing=True, busy_waited_sync=False, ipc_enabled=False)
    )
    start = stream.record(options=EventOptions(enable_timing=True))
    end = stream.record(options=EventOptions(enable_timing=True))
    end.sync()
    assert end - start >= 0
    event.sync()
    assert event.is_done
    stream.wait(event)
    assert stream.record(options=EventOptions(ipc_enabled=True)).get_ipc_descriptor()
    event.close()
    stream.close()


def test_memory(dev) -> None:
    stream = dev.create_stream()
    buf = dev.allocate(size=1024, stream=stream)
    assert buf.handle and buf.size == 1024
    device_buf = dev.memory_resource.allocate(4096, stream=stream)
    pinned_buf = LegacyPinnedMemoryResource().allocate(4096, stream=stream)
    newer = PinnedMemoryResource().allocate(4096, stream=stream)
    managed_buf = ManagedMemoryResource().allocate(4096, stream=stream)
    src_buf, dst_buf = dev.allocate(1024, stream=stream), dev.allocate(1024, stream=stream)
    src_buf.copy_to(dst_buf, stream=stream)
    src_buf.copy_from(np.arange(256, dtype=np.float32), stream=stream)
    buf.fill(value=0, stream=stream)
    buf.fill(value=b"\xff", stream=stream)
    stream.sync()
    arrays = [np.from_dlpack(memory) for memory in (pinned_buf, newer, managed_buf)]
    for i, array in enumerate(arrays):
        array[:] = i + 1
    not_owned = Buffer.from_handle(ptr=int(device_buf.handle), size=4096)
    assert not_owned.size == 4096
    closed = [buf, device_buf, pinned_buf, newer, managed_buf, src_buf, dst_buf]
    for each in closed:
        each.close(stream)
        assert not each.handle
    with dev.allocate(1024, stream=stream) as buf:
        assert buf.handle
    assert not buf.handle
    stream.close()
    assert [set(array.tolist()) for array in arrays] == [{1}, {2}, {3}], "arrays have their memory still"


def test_memory_for_other_processes(dev) -> None:
    if not dev.properties.handle_type_posix_file_descriptor_supported:
        pytest.skip("memory of this device cannot be shared with other processes")
    stream = dev.create_stream()
    mr = DeviceMemoryResource(dev, DeviceMemoryResourceOptions(ipc_enabled=True))
    buf = mr.allocate(64, stream=stream)
    assert buf.get_ipc_descriptor().size == 64
    buf.close(stream)
    stream.close()


def test_programs(dev, tmp_path: Path) -> None:
    options = ProgramOptions(
        name="add_program",
        arch=f"sm_{dev.arch}",
        std="c++17",
        relocatable_device_code=False,
        debug=False,
        lineinfo=False,
        ftz=False,
        prec_sqrt=True,
        prec_div=True,
        fma=True,
        use_fast_math=False,
        max_register_count=None,
        define_macro=["DEBUG", ("VERSION", "2")],
        include_path=[str(tmp_path)],
    )
    prog = Program(ADD, code_type="c++", options=options)
    logs = io.StringIO()
    code = prog.compile(target_type="cubin", name_expressions=("add<float>", "add<double>"), logs=logs)
    assert prog.backend == "NVRTC" and code.code_type == "cubin"
    ptx = ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry simple(.param .u64 p) { ret; }"
    assert Program(ptx, code_type="ptx").link("cubin").get_kernel("simple")
    prog.close()
    file = tmp_path / "add.cubin"
    file.write_bytes(code.code)
    assert ObjectCode.from_cubin(str(file)).code_type == "cubin"
    named = ObjectCode.from_cubin(file.read_bytes(), name="kernels", symbol_mapping=code.symbol_mapping)
    kernel = named.get_kernel("add<float>")
    attrs = kernel.attributes
    for limit in (attrs.max_threads_per_block, attrs.num_regs):
        assert limit() > 0
    assert attrs.shared_size_bytes() >= 0 and attrs.local_size_bytes() >= 0
    occ = kernel.occupancy
    assert occ.max_active_blocks_per_multiprocessor(block_size=256, dynamic_shared_memory_size=0) > 0
    best = occ.max_potential_block_size(dynamic_shared_memory_needed=0, block_size_limit=0)
    assert best.min_grid_size > 0 and best.max_block_size > 0
    assert (named.code_type, named.name) == ("cubin", "kernels") and named.handle


def test_launches(dev) -> None:
    stream, size = dev.create_stream(), 5000
    prog = Program(ADD, code_type="c++", options=ProgramOptions(std="c++17", arch=f"sm_{dev.arch}"))
    ker = prog.compile("cubin", name_expressions=("add<float>",)).get_kernel("add<float>")
    mr = LegacyPinnedMemoryResource()
    bufs = [mr.allocate(4 * size, stream=stream) for _ in range(3)]
    a, b, c = (np.from_dlpack(buf).view(np.float32) for buf in bufs)
    rng = np.random.default_rng(7)
    a[:], b[:], c[:] = rng.random(size, np.float32), rng.random(size, np.float32), 0
    dev.sync()
    config = LaunchConfig(grid=(size + 255) // 256, block=256, shmem_size=0)
    launch(stream, config, ker, a.ctypes.data, b.ctypes.data, c.ctypes.data, np.uint64(size))
    stream.sync()
    assert np.allclose(c, a + b)
    LaunchConfig(grid=(16, 16, 1), block=(8, 8, 4))
    if dev.compute_capability >= (9, 0):
        LaunchConfig(grid=(4, 4, 1), cluster=(2, 2, 1), block=(128, 1, 1))
    assert LaunchConfig(grid=4, block=256, cooperative_launch=True).cooperative_launch
    for buf in bufs:
        buf.close(stream)
    stream.close()


STEPS = """
extern "C" __global__ void plus(float* x, size_t n) {
    size_t i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i < n) x[i] += 1;
}
extern "C" __global__ void twice(float* x, size_t n) {
    size_t i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i < n) x[i] *= 2;
}
"""


def test_graphs(dev, tmp_path: Path, capsys) -> None:
    stream = dev.create_stream()
    code = Program(STEPS, code_type="c++", options=ProgramOptions(arch=f"sm_{dev.arch}")).compile("cubin")
    plus, twice = code.get_kernel("plus"), code.get_kernel("twice")
    data_buf = LegacyPinnedMemoryResource().allocate(4000, stream=stream)
    data = np.from_dlpack(data_buf).view(np.float32)
    data[:] = 0
    config, n = LaunchConfig(grid=4, block=256), np.uint64(1000)
    builder = stream.create_graph_builder()
    builder.begin_building()
    launch(builder, config, plus, data.ctypes.data, n)
    launch(builder, config, twice, data.ctypes.data, n)
    buf = dev.allocate(1024, stream=builder)
    buf.fill(0, stream=builder)
    definition = builder.end_building()
    graph = definition.complete()
    graph.upload(stream)
    for _ in range(3):
        graph.launch(stream)
    stream.sync()
    assert set(data.tolist()) == {14.0}
    file = tmp_path / "graph.dot"
    definition.debug_dot_print(str(file), GraphDebugPrintOptions(verbose=True, kernel_node_params=True))
    assert "plus" in file.read_text()
    buf.close(stream)
    graph.close()
    definition.debug_print(options=GraphDebugPrintOptions(verbose=True, kernel_node_params=True))
    assert "twice" in capsys.readouterr().out
    builder.close()
    stream.close()
    data_buf.close()


def test_links(dev) -> None:
    square = 'extern "C" __device__ float square(float x) { return x * x; }'
    apply = """extern "C" __device__ float square(float x);
    extern "C" __global__ void apply(float* x, size_t n) {
        if (threadIdx.x < n) x[threadIdx.x] = square(x[threadIdx.x]);
    }"""
    options = ProgramOptions(arch=f"sm_{dev.arch}", relocatable_device_code=True)
    parts = [Program(code, code_type="c++", options=options).compile("cubin") for code in (square, apply)]
    settings = LinkerOptions(name="linked", arch=f"sm_{dev.arch}", link_time_optimization=False, debug=False)
    linker = Linker(*parts, options=settings)
    linked = linker.link(target_type="cubin")
    assert isinstance(linker.get_info_log(), str) and isinstance(linker.get_error_log(), str)
    assert linker.backend in ("nvJitLink", "driver")
    kernel = linked.get_kernel("apply")
    linker.close()
    buf = LegacyPinnedMemoryResource().allocate(16, stream=dev.default_stream)
    x = np.from_dlpack(buf).view(np.float32)
    x[:] = 3
    launch(dev.default_stream, LaunchConfig(grid=1, block=32), kernel, buf, np.uint64(4))
    dev.sync()
    assert x.tolist() == [9.0] * 4
    buf.close()


def test_functions_of_c() -> None:
    driver.cuInit(0)
    assert driver.cuDeviceGetCount()[1] > 0
    device = driver.cuDeviceGet(0)[1]
    name = driver.cuDeviceGetName(256, device)[1].rstrip(b"\0").decode()
    context = driver.cuCtxCreate(0, device)[1]
    runtime.cudaSetDevice(0)
    assert runtime.cudaGetDeviceProperties(0)[1].name.decode() == name
    pointer = runtime.cudaMalloc(1024)[1]
    assert runtime.cudaMemset(pointer, 0, 1024) == runtime.cudaFree(pointer) == (0,)
    prog = nvrtc.nvrtcCreateProgram(b'extern "C" __global__ void kernel() {}', b"kernel.cu", 0, [], [])[1]
    assert nvrtc.nvrtcCompileProgram(prog, 0, []) == (0,)
    size = nvrtc.nvrtcGetPTXSize(prog)[1]
    assert b".entry kernel" in nvrtc.nvrtcGetPTX(prog, size)[1]
    ptx = b" " * size
    assert nvrtc.nvrtcGetPTX(prog, ptx) == (0,) and b".entry kernel" in ptx
    assert nvrtc.nvrtcDestroyProgram(prog) == driver.cuCtxDestroy(context) == (0,)


def test_the_package_as_a_name(dev) -> None:
    device = core.Device()
    assert device.name and device.compute_capability and device.total_memory / 1e9 > 0.1
    with core.Stream() as stream:
        stream.sync()
    assert not stream.handle


def test_the_errors_of_the_first_guide() -> None:
    (err,) = driver.cuInit(0)
    assert err == driver.CUresult.CUDA_SUCCESS
    err, device = driver.cuDeviceGet(0)
    err, name = driver.cuDeviceGetName(128, device)
    assert not err and name.decode()
    assert driver.cuGetErrorName(driver.CUresult.CUDA_ERROR_INVALID_VALUE)[1] == b"CUDA_ERROR_INVALID_VALUE"
    assert nvrtc.nvrtcGetErrorString(nvrtc.nvrtcResult(1))[1] == b"NVRTC_ERROR_OUT_OF_MEMORY"
