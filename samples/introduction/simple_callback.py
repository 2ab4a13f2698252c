"""simpleCallback: a Python function that a stream calls.

    python samples/introduction/simple_callback.py

cuLaunchHostFunc queues a function of the host between the work of a stream. Several streams compute, each
hands its result to a function on the host when it gets there, and nobody waits for anybody. The function
runs in a thread of the driver and must not call CUDA.
"""

from __future__ import annotations

import ctypes
import sys
import threading

import numpy as np

from cudapy import simulator
from cudapy.core import Device, LaunchConfig, LegacyPinnedMemoryResource, Program, launch
from cudapy.driver import checked as cu

KERNEL = """
extern "C" __global__ void scale(float *data, float factor)
{
    data[blockIdx.x * blockDim.x + threadIdx.x] *= factor;
}
"""
STREAMS = 8
N = 1 << 14
THREADS = 256


def main() -> int:
    simulator.stand_in()
    device = Device()
    device.set_current()
    kernel = Program(KERNEL, "c++").compile("cubin").get_kernel("scale")

    streams = [device.create_stream() for _ in range(STREAMS)]
    pinned = LegacyPinnedMemoryResource()
    results = [pinned.allocate(4 * N) for _ in range(STREAMS)]
    buffers = [device.allocate(4 * N, stream=stream) for stream in streams]
    arrays = [np.from_dlpack(result).view(np.float32) for result in results]  # a callback may not ask CUDA
    sums: dict[int, float] = {}
    threads: set[int] = set()

    def finished(data: int | None) -> None:
        """Called when the stream gets here: `data` is what cuLaunchHostFunc was given."""
        i = data or 0
        sums[i] = float(arrays[i].sum(dtype=np.float64))
        threads.add(threading.get_ident())

    callback = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(finished)
    ones = np.ones(N, np.float32)
    for i, stream in enumerate(streams):
        buffers[i].copy_from(ones, stream=stream)
        launch(stream, LaunchConfig(grid=N // THREADS, block=THREADS), kernel, buffers[i], float(i + 1))
        buffers[i].copy_to(results[i], stream=stream)
        cu.cuLaunchHostFunc(stream.handle, callback, i)
    device.sync()

    right = sums == {i: float(N * (i + 1)) for i in range(STREAMS)}
    where = "this thread" if threading.get_ident() in threads else "another thread"
    print(f"{len(sums)} callbacks, in {where}: {'PASS' if right else 'FAIL'}")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
