"""Operations with a quick way for the common case: what it gives, and what goes the long way."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from cudapy.simulator.engine.arithmetic.double import fma64
from cudapy.simulator.engine.fault import Fault

from .machine import Machine

ONE_ADDRESS = """
extern "C" __global__ void one_address(const float *x, float *out)
{
    __shared__ float4 tile[16];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    ((float *)tile)[threadIdx.x] = x[i];
    __syncthreads();
    float sum = 0;
#pragma unroll 1
    for (int k = 0; k < 16; ++k) sum += tile[k].x - 2 * tile[k].w;
#pragma unroll 1
    for (int k = 0; k < 64; k += 5) sum += ((float *)tile)[k];
    out[i] = sum;
}
extern "C" __global__ void behind(float *out, int k)
{
    __shared__ float tile[64];
    tile[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = tile[k];
}
"""


def test_all_threads_read_shared_memory_at_one_address() -> None:
    machine, blocks = Machine(), 5
    x = np.random.default_rng(1).integers(-99, 99, (blocks, 64)).astype(np.float32)
    out = machine.zeros(x.size, np.float32)
    machine.run(machine.load(ONE_ADDRESS), "one_address", blocks, 64, machine.array(x.ravel()), out)
    sums = x[:, ::4].sum(1) - 2 * x[:, 3::4].sum(1) + x[:, ::5].sum(1)
    np.testing.assert_array_equal(out.get().reshape(x.shape), np.repeat(sums, 64).reshape(x.shape))


def test_one_address_behind_the_end() -> None:
    machine = Machine()
    with pytest.raises(Fault, match="the block's __shared__ memory has 256 bytes"):
        machine.run(machine.load(ONE_ADDRESS), "behind", 3, 64, machine.zeros(64, np.float32), np.int32(64))


def test_fma_of_binary64_is_rounded_once() -> None:
    """Numbers of few bits, whose sums often lie halfway between two results or next to that."""
    random, count = np.random.default_rng(1), 5000  # more than a piece
    a = random.integers(1, 1 << 27, count) * 2.0 ** random.integers(-30, 30, count)
    b = random.integers(-1 << 27, 1 << 27, count) * 2.0 ** random.integers(-30, 30, count)
    c = random.integers(-1 << 53, 1 << 53, count) * 2.0 ** random.integers(-60, 60, count)
    halfway = random.integers(1 << 52, 1 << 53, count).astype(np.float64)
    near = random.choice([1.0, -1.0, 1 + 2.0**-52, 1 - 2.0**-53, -1 + 2.0**-53], count)
    for x, y, z in ((a, b, c), (np.full(count, 0.5), near, halfway), (a, b, -(a * b))):
        exact = [
            Fraction(p) * Fraction(q) + Fraction(r)
            for p, q, r in zip(x.tolist(), y.tolist(), z.tolist(), strict=True)
        ]
        assert fma64(x, y, z).tolist() == [float(one) for one in exact]  # rounded to nearest by Python
