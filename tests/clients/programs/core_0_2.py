"""cuda.core 0.2.0 as NVIDIA published it, over cuda.bindings: programs, launches, streams, memory, linking.

Runs with its wheel on the path, and `--only cuda.bindings` aliased.
"""

import numpy as np
from cuda.core.experimental import (
    Device,
    EventOptions,
    LaunchConfig,
    Linker,
    LinkerOptions,
    ObjectCode,
    Program,
    ProgramOptions,
    StreamOptions,
    launch,
    system,
)
from cuda.core.experimental.utils import StridedMemoryView, args_viewable_as_strided_memory

SAXPY = """
template <typename T>
__global__ void saxpy(T a, const T *x, const T *y, T *out, size_t n)
{
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        out[i] = a * x[i] + y[i];
}
"""
CALLED = "__device__ float half_of(float x) { return x / 2; }"
CALLER = """
extern __device__ float half_of(float x);
extern "C" __global__ void halve(float *x) { x[threadIdx.x] = half_of(x[threadIdx.x]); }
"""
N = 1000


class Ours:
    """A stream of another library."""

    def __init__(self, stream):
        self.handle = int(stream.handle)

    def __cuda_stream__(self):
        return 0, self.handle


def saxpy(device, stream, arch):
    program = Program(SAXPY, "c++", ProgramOptions(std="c++17", arch=f"sm_{arch}"))
    code = program.compile("cubin", name_expressions=("saxpy<float>", "saxpy<double>"))
    for name, scalar in (("saxpy<float>", np.float32), ("saxpy<double>", np.float64)):
        kernel = code.get_kernel(name)
        x, y = np.arange(N, dtype=scalar), np.full(N, 3, scalar)
        buffers = [device.allocate(x.nbytes, stream=stream) for _ in range(3)]
        copy(x, buffers[0], stream)
        copy(y, buffers[1], stream)
        launch(stream, LaunchConfig(grid=8, block=64), kernel, scalar(2), *buffers, np.uint64(N))
        assert np.array_equal(fetch(buffers[2], scalar, stream), 2 * x + 3)
        for buffer in buffers:
            buffer.close(stream)
    assert kernel.attributes.max_threads_per_block() >= 64 and kernel.attributes.num_regs() > 0
    assert (
        ObjectCode.from_cubin(code.code).get_kernel(next(iter(code._sym_map.values())).decode()) is not None
    )


def copy(array, buffer, stream):
    from cuda.bindings import driver

    status = driver.cuMemcpyAsync(int(buffer.handle), array.ctypes.data, array.nbytes, stream.handle)[0]
    assert status == driver.CUresult.CUDA_SUCCESS


def fetch(buffer, dtype, stream):
    from cuda.bindings import driver

    out = np.empty(buffer.size // np.dtype(dtype).itemsize, dtype)
    status = driver.cuMemcpyAsync(out.ctypes.data, int(buffer.handle), out.nbytes, stream.handle)[0]
    stream.sync()
    assert status == driver.CUresult.CUDA_SUCCESS
    return out


def linking(device, stream, arch):
    parts = [
        Program(source, "c++", ProgramOptions(arch=f"sm_{arch}", relocatable_device_code=True)).compile("ptx")
        for source in (CALLED, CALLER)
    ]
    code = Linker(*parts, options=LinkerOptions(arch=f"sm_{arch}")).link("cubin")
    x = np.arange(64, dtype=np.float32)
    buffer = device.allocate(x.nbytes, stream=stream)
    copy(x, buffer, stream)
    launch(stream, LaunchConfig(grid=1, block=64), code.get_kernel("halve"), buffer)
    assert np.array_equal(fetch(buffer, np.float32, stream), x / 2)
    link = Program(
        CALLED,
        "c++",
        ProgramOptions(arch=f"sm_{arch}", relocatable_device_code=True, link_time_optimization=True),
    )
    assert link.compile("ltoir").code


def streams_and_events(device):
    first = device.create_stream(options=StreamOptions(nonblocking=True, priority=0))
    second = device.create_stream(Ours(first))
    assert int(second.handle) == int(first.handle) and first.is_nonblocking
    begin = first.record(options=EventOptions(enable_timing=True))
    end = first.record(options=EventOptions(enable_timing=True))
    third = device.create_stream()
    third.wait(end)
    third.sync()
    assert end.is_done and end - begin >= 0
    device.sync()
    assert device.default_stream is not None


@args_viewable_as_strided_memory((0,))
def total(array, stream):
    view = array.view(-1 if stream is None else int(stream.handle))
    assert isinstance(view, StridedMemoryView)
    return view.shape, view.is_device_accessible


def main():
    assert system.num_devices >= 1 and system.driver_version >= (12, 0)
    device = Device()
    device.set_current()
    assert device.device_id == 0 and device.name and device.properties.warp_size == 32
    stream = device.create_stream()
    arch = "".join(f"{part}" for part in device.compute_capability)
    saxpy(device, stream, arch)
    linking(device, stream, arch)
    streams_and_events(device)
    assert total(np.zeros((3, 4)), None) == ((3, 4), False)
    try:
        Program("this is no C++", "c++").compile("ptx")
    except Exception as error:
        assert "error" in str(error)
    else:
        raise AssertionError("it compiled")


main()
