"""DLPack: the same memory in several libraries.

    python samples/interop/dlpack.py

DLPack hands an array to another library without a copy. Memory of cudapy becomes a NumPy array where the
host can use it, and a tensor of PyTorch where only the device can; and any library's array becomes a
StridedMemoryView.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np

from cudapy import simulator
from cudapy.core import Device, LaunchConfig, LegacyPinnedMemoryResource, Program, launch

KERNEL = """
extern "C" __global__ void add(float *x, float value) { x[blockIdx.x * blockDim.x + threadIdx.x] += value; }
"""
N, THREADS = 4096, 256


def main() -> int:
    simulated = simulator.stand_in()
    device = Device()
    device.set_current()
    stream = device.create_stream()
    kernel = Program(KERNEL, "c++").compile("cubin").get_kernel("add")
    config = LaunchConfig(grid=N // THREADS, block=THREADS)

    pinned = LegacyPinnedMemoryResource().allocate(4 * N)
    array = np.from_dlpack(pinned).view(np.float32)  # page-locked memory, as an array
    array[:] = np.arange(N)
    launch(stream, config, kernel, pinned, 1.0)
    stream.sync()
    right = np.array_equal(array, np.arange(N, dtype=np.float32) + 1)
    print(f"NumPy sees {array[:3].tolist()} ... where the kernel wrote")

    if not simulated and find_spec("torch"):
        torch: Any = import_module("torch")
        buffer = device.allocate(4 * N, stream=stream)
        buffer.copy_from(pinned, stream=stream)
        stream.sync()
        tensor = torch.from_dlpack(buffer).view(torch.float32)  # device memory, as a tensor
        launch(stream, config, kernel, buffer, 1.0)
        stream.sync()
        right = (
            right and tensor.data_ptr() == buffer.handle and bool((tensor.cpu() == torch.arange(N) + 2).all())
        )
        print(f"PyTorch sees {tensor[:3].tolist()} ... in the same memory")
    print("PASS" if right else "FAIL")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
