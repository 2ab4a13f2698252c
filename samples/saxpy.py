"""SAXPY, out = a * x + y, through cudapy.core: compile, copy, launch, time, check.

    python samples/saxpy.py

Without a GPU it runs on the simulator, and says so.
"""

from __future__ import annotations

import sys

import numpy as np

from cudapy import simulator
from cudapy.core import Device, EventOptions, LaunchConfig, Program, ProgramOptions, launch

SAXPY = """
extern "C" __global__ void saxpy(float a, const float *x, const float *y, float *out, size_t n)
{
    size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (i < n)
        out[i] = a * x[i] + y[i];
}
"""
THREADS = 256
N = 1 << 24


def main() -> int:
    simulated = simulator.stand_in()
    device = Device()
    device.set_current()
    program = Program(SAXPY, "c++", ProgramOptions(arch=f"sm_{device.arch}", fma=False))
    kernel = program.compile("cubin").get_kernel("saxpy")

    generator = np.random.default_rng(0)
    a = 2.0
    x = generator.random(N, dtype=np.float32)
    y = generator.random(N, dtype=np.float32)
    out = np.empty_like(x)

    stream = device.create_stream()
    d_x, d_y, d_out = (device.allocate(x.nbytes, stream=stream) for _ in range(3))
    d_x.copy_from(x, stream=stream)
    d_y.copy_from(y, stream=stream)

    config = LaunchConfig(grid=(N + THREADS - 1) // THREADS, block=THREADS)
    launch(stream, config, kernel, a, d_x, d_y, d_out, N)  # the first launch loads the code; it is not timed
    timed = EventOptions(timing_enabled=True)
    start = stream.record(options=timed)
    launch(stream, config, kernel, a, d_x, d_y, d_out, N)
    end = stream.record(options=timed)
    d_out.copy_to(out, stream=stream)
    stream.sync()

    right = np.array_equal(out, np.float32(a) * x + y)
    print(f"device       {device.name}")
    print(f"result       {'PASS' if right else 'FAIL'}: {N} elements against NumPy")
    rate = 3 * x.nbytes / (end - start) / 1e6
    speed = "not that of a GPU" if simulated else f"{(end - start) * 1000:.1f} us, {rate:.4g} GB/s"
    print(f"kernel time  {speed}")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
