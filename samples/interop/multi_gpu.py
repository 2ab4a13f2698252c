"""simpleMultiGPU: a sum over all devices, from one process.

    python samples/interop/multi_gpu.py

Each device gets a stream and a part of the data; everything is queued on all devices before the host waits
for any of them. With one device there is one part.
"""

from __future__ import annotations

import os
import sys

import numpy as np

from cudapy import simulator
from cudapy.core import Device, LaunchConfig, LegacyPinnedMemoryResource, Program, launch

KERNEL = """
extern "C" __global__ void reduce(const float *input, double *sums, int n)
{
    double sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        sum += input[i];
    for (int offset = 16; offset > 0; offset /= 2)
        sum += __shfl_down_sync(~0u, sum, offset);
    if (threadIdx.x % 32 == 0)
        sums[(blockIdx.x * blockDim.x + threadIdx.x) / 32] = sum;
}
"""
N, BLOCKS, THREADS = 1 << 21, 32, 256
SUMS = BLOCKS * THREADS // 32


def main() -> int:
    os.environ.setdefault("CUDAPY_SIMULATOR_DEVICES", "2")  # where the simulator stands in, there are two
    simulator.stand_in()
    devices = Device.get_all_devices()
    numbers = np.random.default_rng(0).random(N, dtype=np.float32)
    parts = np.array_split(numbers, len(devices))

    work = []
    for device, part in zip(devices, parts, strict=True):
        device.set_current()
        stream = device.create_stream()
        kernel = Program(KERNEL, "c++").compile("cubin").get_kernel("reduce")
        data = device.allocate(part.nbytes, stream=stream)
        sums = device.allocate(8 * SUMS, stream=stream)
        result = LegacyPinnedMemoryResource().allocate(8 * SUMS)
        data.copy_from(part, stream=stream)
        launch(stream, LaunchConfig(grid=BLOCKS, block=THREADS), kernel, data, sums, part.size)
        sums.copy_to(result, stream=stream)
        work.append((stream, result, data, sums))
    total = 0.0
    for stream, result, *_ in work:
        stream.sync()
        total += float(np.from_dlpack(result).view(np.float64).sum())

    expected = float(numbers.sum(dtype=np.float64))
    right = abs(total - expected) < 1e-9 * expected
    print(f"{N} numbers on {len(devices)} device(s): {total:.6f}")
    print("PASS" if right else "FAIL")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
