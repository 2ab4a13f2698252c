"""streamOrderedAllocation: memory that is allocated and freed in a stream.

    python samples/concepts_and_techniques/stream_ordered_allocation.py

An allocation in stream order costs no synchronisation: the memory is there for what the stream does next,
and goes back to its pool when the stream gets to the freeing. The pool keeps it for the next allocation,
which is then a matter of a microsecond; how much it keeps at a synchronisation is its release threshold.
"""

from __future__ import annotations

import sys

import numpy as np

from cudapy import simulator
from cudapy.core import Device, LaunchConfig, Program, launch
from cudapy.driver import CUmemPool_attribute
from cudapy.driver import checked as cu

KERNEL = """
extern "C" __global__ void vector_add(const float *a, const float *b, float *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = a[i] + b[i];
}
"""
N = 1 << 20
THREADS = 256
ROUNDS = 20


def main() -> int:
    simulator.stand_in()
    device = Device()
    device.set_current()
    if not device.properties.memory_pools_supported:
        print("WAIVED: this device has no memory pools")
        return 77
    stream = device.create_stream()
    kernel = Program(KERNEL, "c++").compile("cubin").get_kernel("vector_add")
    pool = cu.cuDeviceGetDefaultMemPool(device.device_id)
    threshold = CUmemPool_attribute.CU_MEMPOOL_ATTR_RELEASE_THRESHOLD
    cu.cuMemPoolSetAttribute(pool, threshold, 2**64 - 1)  # keep everything

    generator = np.random.default_rng(0)
    a, b = generator.random(N, dtype=np.float32), generator.random(N, dtype=np.float32)
    found = np.empty_like(a)
    addresses: set[int] = set()
    right = True
    for _ in range(ROUNDS):
        d_a, d_b, d_c = (int(cu.cuMemAllocAsync(a.nbytes, stream.handle)) for _ in range(3))
        addresses.update((d_a, d_b, d_c))
        cu.cuMemcpyHtoDAsync(d_a, a, a.nbytes, stream.handle)
        cu.cuMemcpyHtoDAsync(d_b, b, b.nbytes, stream.handle)
        config = LaunchConfig(grid=(N + THREADS - 1) // THREADS, block=THREADS)
        launch(stream, config, kernel, d_a, d_b, d_c, N)
        cu.cuMemFreeAsync(d_a, stream.handle)
        cu.cuMemFreeAsync(d_b, stream.handle)
        cu.cuMemcpyDtoHAsync(found, d_c, found.nbytes, stream.handle)
        cu.cuMemFreeAsync(d_c, stream.handle)
        stream.sync()
        right = right and np.array_equal(found, a + b)
        found[:] = 0

    used = cu.cuMemPoolGetAttribute(pool, CUmemPool_attribute.CU_MEMPOOL_ATTR_USED_MEM_CURRENT)
    kept = cu.cuMemPoolGetAttribute(pool, CUmemPool_attribute.CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT)
    right = right and kept >= 3 * a.nbytes and len(addresses) < 3 * ROUNDS
    print(f"{3 * ROUNDS} allocations at {len(addresses)} addresses; in use now {used} bytes, kept {kept}")
    cu.cuMemPoolTrimTo(pool, 0)
    print("PASS" if right else "FAIL")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
