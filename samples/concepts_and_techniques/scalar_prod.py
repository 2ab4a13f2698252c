"""scalarProd: the scalar products of many pairs of vectors.

    python samples/concepts_and_techniques/scalar_prod.py

A block takes one pair after the other. Each of its threads sums every 256th product, so that neighbours read
neighbours; the sums of the threads are then added in pairs, in shared memory.
"""

from __future__ import annotations

import sys

import numpy as np

from cudapy import simulator
from cudapy.core import Device, LaunchConfig, Program, launch

KERNEL = """
const int THREADS = 256;

extern "C" __global__ void scalar_products(const float *a, const float *b, float *products, int vectors,
                                           int size)
{
    __shared__ float sums[THREADS];
    for (int vector = blockIdx.x; vector < vectors; vector += gridDim.x) {
        float sum = 0;
        for (int i = threadIdx.x; i < size; i += THREADS)
            sum += a[vector * size + i] * b[vector * size + i];
        sums[threadIdx.x] = sum;
        for (int half = THREADS / 2; half > 0; half /= 2) {
            __syncthreads();
            if (threadIdx.x < half)
                sums[threadIdx.x] += sums[threadIdx.x + half];
        }
        if (threadIdx.x == 0)
            products[vector] = sums[0];
        __syncthreads();  // before the next pair is summed in the same place
    }
}
"""
VECTORS, SIZE = 256, 4096
BLOCKS, THREADS = 128, 256


def main() -> int:
    simulator.stand_in()
    device = Device()
    device.set_current()
    stream = device.create_stream()
    kernel = Program(KERNEL, "c++").compile("cubin").get_kernel("scalar_products")

    generator = np.random.default_rng(0)
    a, b = (generator.random((VECTORS, SIZE), dtype=np.float32) for _ in range(2))
    products = np.empty(VECTORS, np.float32)
    d_a, d_b, d_products = (device.allocate(m.nbytes, stream=stream) for m in (a, b, products))
    d_a.copy_from(a, stream=stream)
    d_b.copy_from(b, stream=stream)
    launch(stream, LaunchConfig(grid=BLOCKS, block=THREADS), kernel, d_a, d_b, d_products, VECTORS, SIZE)
    d_products.copy_to(products, stream=stream)
    stream.sync()

    exact = (a.astype(np.float64) * b).sum(axis=1)
    error = float(np.abs(products / exact - 1).max())
    right = error < 1e-6
    print(f"{VECTORS} pairs of {SIZE} numbers, off by {error:.1e}")
    print("PASS" if right else "FAIL")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
