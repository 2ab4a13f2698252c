"""SAXPY with NVIDIA's cuda.core: a templated kernel, device memory, pinned memory by DLPack, events."""

import numpy as np
from cuda.core import (
    Device,
    EventOptions,
    LaunchConfig,
    LegacyPinnedMemoryResource,
    Program,
    ProgramOptions,
    launch,
)

CODE = """
template<typename T> __global__ void saxpy(const T a, const T *x, const T *y, T *out, size_t n)
{
    const size_t first = threadIdx.x + blockIdx.x * size_t(blockDim.x);
    for (size_t i = first; i < n; i += gridDim.x * size_t(blockDim.x))
        out[i] = a * x[i] + y[i];
}
"""

device = Device()
device.set_current()
stream = device.create_stream()
options = ProgramOptions(std="c++17", arch=f"sm_{device.arch}")
program = Program(CODE, code_type="c++", options=options)
module = program.compile("cubin", name_expressions=("saxpy<float>", "saxpy<double>"))
pinned = LegacyPinnedMemoryResource()

for dtype, name, n in ((np.float32, "saxpy<float>", 100_000), (np.float64, "saxpy<double>", 1000)):
    kernel = module.get_kernel(name)
    size = n * np.dtype(dtype).itemsize
    hosts = [pinned.allocate(size, stream=stream) for _ in range(3)]
    x, y, out = (np.from_dlpack(host).view(dtype) for host in hosts)
    random = np.random.default_rng(7)
    x[:], y[:] = random.random(n, dtype=dtype), random.random(n, dtype=dtype)
    devices = [device.allocate(size, stream=stream) for _ in range(3)]
    for host, there in zip(hosts[:2], devices[:2], strict=True):
        there.copy_from(host, stream=stream)
    start = stream.record(options=EventOptions(timing_enabled=True))
    launch(stream, LaunchConfig(grid=64, block=256), kernel, dtype(10), *devices, np.uint64(n))
    end = stream.record(options=EventOptions(timing_enabled=True))
    devices[2].copy_to(hosts[2], stream=stream)
    stream.sync()
    np.testing.assert_allclose(out, 10 * x + y, rtol=1e-6)
    assert end - start >= 0
    for buffer in (*hosts, *devices):
        buffer.close(stream)
stream.close()
print("saxpy", device.name)
