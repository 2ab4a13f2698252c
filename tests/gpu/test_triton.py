"""The driver for Triton: how it launches kernels, and what it refuses. None of it needs Triton."""

from __future__ import annotations

import sys
import threading
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

import cudapy.triton
from cudapy.core import CUDAError, Device, Program
from cudapy.driver import CUlaunchAttributeID, checked
from cudapy.triton import Tensor, _Driver, _Launcher

pytestmark = pytest.mark.gpu

CODE = r"""
typedef unsigned long long u64;
extern "C" __global__ void every(
    double *o, signed char i8, short i16, int i32, long long i64, unsigned char u8, unsigned short u16,
    unsigned u32, u64 u64_, bool u1, unsigned short fp16, unsigned short bf16, float fp32, double fp64,
    const int *p, u64, u64)
{
    double v[] = {(double)i8, (double)i16, (double)i32, (double)i64, (double)u8, (double)u16, (double)u32,
        (double)u64_, (double)u1, (double)fp16, (double)bf16, fp32, fp64, p ? (double)*p : -1.0};
    for (int i = 0; i < 14; i++) o[i] = v[i];
}
extern "C" __global__ void add(int *x, int n, u64, u64)
{
    if (threadIdx.x == 0) atomicAdd(x + blockIdx.x, n);
}
extern "C" __global__ void shape(int *o, u64, u64)
{
    unsigned blocks;
    asm("mov.u32 %0, %%cluster_nctaid.x;" : "=r"(blocks));
    int v[] = {(int)gridDim.x, (int)gridDim.y, (int)gridDim.z, (int)blockDim.x, (int)blocks};
    if (threadIdx.x < 5) o[threadIdx.x] = v[threadIdx.x];
}
extern "C" __global__ void shared(int *o, u64, u64)
{
    extern __shared__ int room[];
    room[20000 + threadIdx.x] = threadIdx.x;
    __syncthreads();
    o[threadIdx.x] = room[20000 + 31 - threadIdx.x];
}
"""
KINDS = (
    "*fp64", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "u1", "fp16", "bf16", "fp32", "fp64",
    "*i32",
)  # fmt: skip


class Launches:
    """One kernel of CODE, as Triton would have compiled it."""

    def __init__(self, name: str, *kinds: Any, **metadata: Any) -> None:
        settings = {
            "name": name, "num_warps": 1, "num_ctas": 1, "shared": 0, "launch_pdl": False,
            "launch_cooperative_grid": False, "global_scratch_size": 0, "profile_scratch_size": 0,
        }  # fmt: skip
        self.metadata = SimpleNamespace(**settings | metadata)
        self.driver = _Driver()
        code = Program(CODE, "c++").compile("cubin").code
        self.module, self.kernel, *_ = self.driver.load_binary(name, code, self.metadata.shared, 0)
        signature = {f"p{i}": kind for i, kind in enumerate(kinds)}
        self.run = self.driver.launcher_cls(SimpleNamespace(signature=signature), self.metadata)

    def __call__(self, *args: Any, grid: Any = (1, 1, 1), hooks: Any = (None, None)) -> None:
        self.run(*grid, self.driver.get_current_stream(0), self.kernel, None, "metadata", *hooks, *args)


def zeros(device: Device, count: int, dtype: Any = np.int32) -> Tensor:
    buffer = device.allocate(count * np.dtype(dtype).itemsize)
    buffer.fill(b"\0", stream=device.default_stream)
    return Tensor(buffer, dtype)


def values(tensor: Tensor) -> list[Any]:
    found = np.empty(tensor.shape, tensor.dtype)
    tensor.base.copy_to(found, stream=Device().default_stream)
    Device().sync()
    return found.tolist()


def test_every_type_arrives(device: Device) -> None:
    every, out, seven = Launches("every", *KINDS), zeros(device, 14, "f8"), zeros(device, 1)
    seven.base.copy_from(np.array([7], np.int32), stream=device.default_stream)
    numbers = -5, -300, -70000, -(2**40), 200, 60000, 4 * 10**9, 2**63, True, 1.5, 3.0, 0.25, 1e300
    every(out, *numbers, seven)
    half, upper = np.float16(1.5).view("u2"), np.float32(3).view("u4") >> 16
    assert values(out) == [*map(float, numbers[:9]), half, upper, 0.25, 1e300, 7]
    # No pointer; addresses; what float32 cannot hold is infinite, as in C:
    every(out.data_ptr(), *numbers[:10], 1e39, 1e39, 2.0, None)
    assert values(out)[10:] == [float(0x7F80), float("inf"), 2.0, -1.0]


BYTE = "'b' format" if sys.version_info >= (3, 12) else "byte format"
"""What `struct` calls a number that does not fit into a byte."""


@pytest.mark.parametrize(
    "place, value, error, message",
    [
        (1, 128, TypeError, f"every: argument 'p1' of type i8: {BYTE} requires -128 <= number <= 127"),
        (3, 1.5, TypeError, "every: argument 'p3' of type i32: required argument is not an integer"),
        (3, None, TypeError, "every: argument 'p3' of type i32: "),
        (12, "x", TypeError, "every: argument 'p12' of type fp32: "),
        (10, 1e5, OverflowError, "every: argument 'p10' of type fp16: float too large to pack"),
        (14, 2.5, TypeError, "a float has no data_ptr(); wrap it in cudapy.triton.Tensor"),
        (14, -1, TypeError, "every: argument 'p14' of type *: "),
    ],
)  # fmt: skip
def test_an_argument_that_does_not_fit(
    device: Device, place: int, value: Any, error: type[Exception], message: str
) -> None:
    out = zeros(device, 14, "f8")
    given = [out, 1, 1, 1, 1, 1, 1, 1, 1, True, 1.0, 1.0, 1.0, 1.0, None]
    given[place] = value
    with pytest.raises(error) as caught:
        Launches("every", *KINDS)(*given)
    assert message in str(caught.value)
    assert values(out) == [0] * 14


def test_memory_of_the_host_is_refused(device: Device) -> None:
    array = np.zeros(4, np.int32)
    tensor = SimpleNamespace(data_ptr=lambda: array.ctypes.data, dtype=array.dtype)
    with pytest.raises(ValueError, match=r"add: argument 'p0' .* is it a tensor of the CPU\?"):
        Launches("add", "*i32", "i32")(tensor, 1)


def test_tuples_and_constants(device: Device) -> None:
    x = zeros(device, 1)
    Launches("add", "constexpr", (("*i32", "constexpr"), "i32"), "constexpr")(None, ((x, 5), 3), "no matter")
    assert values(x) == [3]


def test_grids(device: Device) -> None:
    x, add = zeros(device, 4), Launches("add", "*i32", "i32")
    add(x, 1, grid=(4, 1, 1))
    for grid in ((0, 1, 1), (4, 0, 1), (4, 1, 0)):
        add(x, 1, grid=grid)  # nothing
    add(x, 1, grid=(2, 3, 1))
    assert values(x) == [4, 4, 1, 1]
    for grid in ((-1, 1, 1), (1.0, 1, 1), (2**32, 1, 1)):
        with pytest.raises(ValueError, match=r"add: there is no grid of"):
            add(x, 1, grid=grid)
    with pytest.raises(CUDAError, match=r"cuLaunchKernelEx: .*kernel='?add.*grid=\(1, 70000, 1\)"):
        add(x, 1, grid=(1, 70000, 1))


def test_warps_and_clusters(device: Device) -> None:
    out = zeros(device, 5)
    Launches("shape", "*i32", num_warps=4)(out, grid=(3, 2, 5))
    assert values(out) == [3, 2, 5, 128, 1]
    if device.properties.cluster_launch:
        Launches("shape", "*i32", num_ctas=2)(out, grid=(3, 2, 5))
        assert values(out) == [6, 2, 5, 32, 2]


def test_attributes() -> None:
    launcher = _Launcher(
        SimpleNamespace(signature={}),
        Launches("shape", "*i32", num_ctas=4, launch_pdl=True, launch_cooperative_grid=True).metadata,
    )
    kind = CUlaunchAttributeID
    pdl, cooperative, cluster, policy = launcher._attributes()
    assert pdl.id == kind.CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION
    assert pdl.value.programmaticStreamSerializationAllowed == 1
    assert cooperative.id == kind.CU_LAUNCH_ATTRIBUTE_COOPERATIVE and cooperative.value.cooperative == 1
    size = cluster.value.clusterDim
    assert cluster.id == kind.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION and (size.x, size.y, size.z) == (4, 1, 1)
    assert policy.id == kind.CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE
    assert policy.value.clusterSchedulingPolicyPreference.name.endswith("SPREAD")


def test_shared_memory_beyond_48_kib(device: Device) -> None:
    out = zeros(device, 32)
    Launches("shared", "*i32", shared=96 << 10)(out)
    assert values(out) == list(range(31, -1, -1))


def test_hooks(device: Device) -> None:
    seen: list[Any] = []
    add, x = Launches("add", "*i32", "i32"), zeros(device, 1)
    hooks = lambda told: seen.append(("enter", told)), lambda told: seen.append(("exit", told))
    add(x, 1, hooks=hooks)
    assert seen == [("enter", "metadata"), ("exit", "metadata")]
    with pytest.raises(TypeError):
        add(x, "1", hooks=hooks)
    assert [name for name, _ in seen] == ["enter", "exit", "enter"]


def test_threads(device: Device) -> None:
    """Each has values of its own while it launches, and one without a context gets it."""
    x, add = zeros(device, 8), Launches("add", "*i32", "i32")
    found: list[int] = []

    def launch(place: int) -> None:
        if place % 2:
            found.append(add.driver.get_current_device())
        for _ in range(50):
            add.run(1, 1, 1, 0, add.kernel, None, None, None, None, x.data_ptr() + 4 * place, place + 1)

    threads = [threading.Thread(target=launch, args=(place,)) for place in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert values(x) == [50 * (place + 1) for place in range(8)]
    assert found == [0, 0, 0, 0]


def test_a_type_that_is_not_known(device: Device) -> None:
    with pytest.raises(NotImplementedError, match=r"add: cudapy\.triton knows no arguments of type f8"):
        Launches("add", "*i32", "f8")
    with pytest.raises(NotImplementedError, match="gsan"):
        Launches("add", "*i32", "i32", instrumentation_mode="gsan")


def test_streams(device: Device) -> None:
    x, add, get = zeros(device, 1), Launches("add", "*i32", "i32"), _Driver.get_current_stream
    stream = device.create_stream()
    device.sync()
    assert get(0) == 0
    cudapy.triton.set_stream(stream)
    assert get(0) == int(stream.handle)
    builder = stream.create_graph_builder().begin_building("relaxed")
    cudapy.triton.set_stream(builder)
    try:
        add(x, 2)
    finally:
        cudapy.triton.set_stream(None)
    graph = builder.end_building().complete()
    for _ in range(3):
        graph.launch(stream)
    stream.sync()
    assert get(0) == 0 and values(x) == [6]
    with pytest.raises(TypeError, match=r"set_stream: an? int has no __cuda_stream__\(\)"):
        cudapy.triton.set_stream(5)


def test_the_stream_of_pytorch(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    used = False
    torch = SimpleNamespace(cuda=SimpleNamespace(is_initialized=lambda: used))
    torch._C = SimpleNamespace(_cuda_getCurrentRawStream=lambda device: 1000 + device)
    monkeypatch.setitem(sys.modules, "torch", torch)
    assert _Driver.get_current_stream(3) == 0
    assert hasattr(_Driver.get_device_interface(), "Event")
    used = True
    assert _Driver.get_current_stream(3) == 1003
    assert _Driver.get_device_interface() is torch.cuda


class TestTensors:
    def test_of_a_buffer(self, device: Device) -> None:
        buffer = device.allocate(48)
        tensor = Tensor(buffer, np.int16, (2, 3, 4))
        assert tensor.data_ptr() == buffer.handle and tensor.base is buffer and tensor.dtype == np.int16
        assert tensor.shape == (2, 3, 4) and tensor.stride() == (12, 4, 1)
        assert Tensor(buffer, "f4").shape == (12,)
        kind = SimpleNamespace(primitive_bitwidth=16)  # as that of triton.language
        assert Tensor(buffer, kind).dtype is kind and Tensor(buffer, kind).shape == (24,)
        with pytest.raises(TypeError, match="pass dtype="):
            Tensor(buffer)
        with pytest.raises(ValueError, match="needs 100 bytes"):
            Tensor(buffer, "u1", (100,))

    def test_of_an_array(self, device: Device) -> None:
        buffer = device.allocate(48)
        interface = {"typestr": "<f4", "data": (buffer.handle, False), "version": 3}
        array = SimpleNamespace(__cuda_array_interface__={"shape": (3, 2), "strides": (16, 4), **interface})
        tensor = Tensor(array)
        assert tensor.data_ptr() == buffer.handle and tensor.dtype == np.float32
        assert tensor.shape == (3, 2) and tensor.stride() == (4, 1)
        with pytest.raises(TypeError, match="has a shape of its own"):
            Tensor(array, shape=(6,))
        view = Tensor(buffer.view(np.int64))  # DLPack
        assert view.dtype == np.int64 and view.shape == (6,)

    def test_of_the_host(self, device: Device) -> None:
        with pytest.raises(TypeError, match=r"Tensor: an? ndarray is in the memory of the host"):
            Tensor(np.zeros(3))


def test_scratch_memory(device: Device) -> None:
    stream = device.create_stream()
    for handle in (None, int(stream.handle)):
        tensor = cudapy.triton.allocate(1000, 128, handle)
        device.sync()
        assert values(tensor) == [0] * 1000 and tensor.data_ptr() % 256 == 0
        del tensor  # before its stream


def test_what_a_driver_tells(device: Device) -> None:
    driver = _Driver()
    assert driver.get_device_capability(0) == tuple(device.compute_capability)
    told = driver.get_device_properties(0)
    assert told["multiprocessor_count"] == device.properties.multiprocessor_count
    assert told["max_shared_mem"] == device.properties.max_shared_memory_per_block_optin
    assert set(told) == {
        "max_shared_mem", "max_num_regs", "multiprocessor_count", "warpSize", "sm_clock_rate",
        "mem_clock_rate", "mem_bus_width",
    }  # fmt: skip
    driver.set_current_device(0)
    assert driver.get_current_device() == 0 and driver.is_active()
    shape = Launches("shape", "*i32")
    if device.properties.cluster_launch:
        assert driver.cuOccupancyMaxActiveClusters(shape.kernel, 0, 2) > 0
    driver.unload_module(shape.module)
    with pytest.raises(CUDAError, match="every_one"):
        driver.load_binary("every_one", Program(CODE, "c++").compile("cubin").code, 0, 0)


def test_a_tensor_map(device: Device) -> None:
    """Sizes and strides are in Triton's order, and in elements."""
    if not device.properties.tensor_map_access_supported:
        pytest.skip("tensor maps need compute capability 9.0")
    address = device.allocate(1 << 20).handle
    made = _Driver.fill_tma_descriptor_tiled(address, 3, 2, 6, [16, 64], [500, 300], [512, 1], 1)
    same = checked.cuTensorMapEncodeTiled(6, 2, address, [300, 500], [1024], [64, 16], [1, 1], 0, 3, 2, 1)
    assert made == bytes(same)
    assert len(_Driver.fill_tma_descriptor_tiled(address, 0, 4, 7, [64], [500], [1], 0)) == 128
    windows = [16, 32], [2, 20, 30, 64], [38400, 1920, 64, 1], 0, [-1, -2], [3, 4], [1, 1, 2, 1]
    made = _Driver.fill_tma_descriptor_im2col(address, 2, 2, 6, *windows)
    corners = [-2, -1], [4, 3]
    same = checked.cuTensorMapEncodeIm2col(
        6, 4, address, [64, 30, 20, 2], [128, 3840, 76800], *corners, 32, 16, [1, 2, 1, 1], 0, 2, 2, 0
    )
    assert made == bytes(same)


def test_times_for_benchmarks(device: Device) -> None:
    driver, interface = _Driver(), _Driver.get_device_interface()
    start, end = (interface.Event(enable_timing=True) for _ in range(2))
    start.record()
    driver.clear_cache(driver.get_empty_cache_for_benchmark())
    end.record()
    interface.synchronize()
    assert start.elapsed_time(end) > 0


@pytest.mark.parametrize(
    "release, known", [("3.5.1", False), ("3.6.0", True), ("3.9.0+git", True), ("3.10.0", False)]
)
def test_releases(release: str, known: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    active: list[Any] = []
    triton = ModuleType("triton")
    triton.__version__ = release  # type: ignore[attr-defined]
    triton.runtime = SimpleNamespace(driver=SimpleNamespace(set_active=active.append))  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "triton", triton)
    monkeypatch.setattr(cudapy.triton, "_release", cudapy.triton.LAST)
    if known:
        cudapy.triton.install()
        assert [type(one) for one in active] == [_Driver]
    else:
        with pytest.raises(RuntimeError, match=f"is for Triton 3.6 to 3.9; this is Triton {release}"):
            cudapy.triton.install()
        assert active == []


def test_no_triton(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "triton", None)
    with pytest.raises(ImportError, match="triton"):
        cudapy.triton.install()
