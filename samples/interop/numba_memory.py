"""Numba: its arrays in memory that cudapy allocates, and kernels of both on them.

    python samples/interop/numba_memory.py

Numba takes device memory from a plugin, its External Memory Management interface. This one allocates from
the pool of cudapy's device: what one library frees the other gets, and nothing is held twice. A kernel that
Numba compiles from Python fills an array, one of CUDA C++ goes on with it.
"""

from __future__ import annotations

import ctypes
import gc
import sys
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np

from cudapy import simulator
from cudapy.core import Buffer, Device, LaunchConfig, Program, launch
from cudapy.driver import checked as cu

KERNEL = """
extern "C" __global__ void square(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] *= x[i];
}
"""
N, THREADS = 100_000, 256
living: dict[int, Buffer] = {}
"""What Numba has of us now, by address."""


def memory_manager(cuda: Any) -> Any:
    """The plugin: a class, of which Numba makes an instance for each of its contexts."""

    class Manager(cuda.HostOnlyCUDAMemoryManager):  # type: ignore[misc]
        """Device memory comes from cudapy; the base class sees to the host's."""

        interface_version = 1

        def initialize(self) -> None:
            """Nothing to do: the pool is there."""

        def memalloc(self, size: int) -> Any:
            buffer = Device(self.context.device.id).allocate(size)
            address = int(buffer.handle)
            living[address] = buffer

            def free() -> None:
                living.pop(address).close()

            return cuda.MemoryPointer(self.context, ctypes.c_void_p(address), size, finalizer=free)

        def get_memory_info(self) -> Any:
            free, total = cu.cuMemGetInfo()
            return cuda.MemoryInfo(free=free, total=total)

        def get_ipc_handle(self, memory: Any) -> Any:
            raise NotImplementedError("memory of a pool has no such handle")

    return Manager


def main() -> int:
    if not find_spec("numba"):
        print("WAIVED: needs Numba")
        return 77
    if simulator.stand_in():
        print("WAIVED: Numba needs a GPU")
        return 77
    vars(np).setdefault("row_stack", np.vstack)  # numba-cuda needs this old name, NumPy 2.5 has dropped it
    try:
        cuda: Any = import_module("numba.cuda")
    except (ImportError, AttributeError) as error:  # a Numba older than this NumPy
        print(f"WAIVED: Numba cannot be imported: {error}")
        return 77
    cuda.set_memory_manager(memory_manager(cuda))  # before Numba's first call of CUDA
    if not cuda.is_available():
        print("WAIVED: Numba finds no GPU")
        return 77
    device = Device()
    device.set_current()
    square = Program(KERNEL, "c++").compile("cubin").get_kernel("square")

    @cuda.jit  # type: ignore[untyped-decorator]
    def add_index(x: Any, value: float) -> None:
        i = cuda.grid(1)
        if i < x.size:
            x[i] += value * i

    blocks = (N + THREADS - 1) // THREADS
    numbers = np.random.default_rng(0).random(N, dtype=np.float32)
    array = cuda.to_device(numbers)
    ours = array.__cuda_array_interface__["data"][0] in living
    add_index[blocks, THREADS](array, np.float32(0.25))
    config = LaunchConfig(grid=blocks, block=THREADS)
    launch(device.default_stream, config, square, array, N)  # the stream that Numba uses
    found = array.copy_to_host()
    size = sum(buffer.size for buffer in living.values())

    expected = (numbers + 0.25 * np.arange(N)) ** 2  # in double precision
    del array
    gc.collect()
    right = ours and not living and bool(np.allclose(found, expected, rtol=1e-6))
    print(f"Numba had {size} bytes of the pool, and gave them back: {not living}")
    print("PASS" if right else "FAIL")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
