"""BlackScholes: the price of an option, a formula for each of many.

    python samples/concepts_and_techniques/black_scholes.py

Nothing is shared and nothing depends on anything: one thread for each option, and the device's arithmetic
is all that counts.
"""

from __future__ import annotations

import math
import sys

import numpy as np

from cudapy import simulator
from cudapy.core import Device, LaunchConfig, Program, launch

KERNEL = """
__device__ float cumulative_normal(float d) { return 0.5f * erfcf(-d * 0.70710678f); }

extern "C" __global__ void black_scholes(float *call, float *put, const float *price, const float *strike,
                                         const float *years, float rate, float volatility, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float S = price[i], X = strike[i], T = years[i], root = sqrtf(T);
    float d1 = (logf(S / X) + (rate + 0.5f * volatility * volatility) * T) / (volatility * root);
    float d2 = d1 - volatility * root;
    float now = expf(-rate * T);  // what a unit of money then is worth today
    call[i] = S * cumulative_normal(d1) - X * now * cumulative_normal(d2);
    put[i] = X * now * cumulative_normal(-d2) - S * cumulative_normal(-d1);
}
"""
N = 100_000
THREADS = 128
RATE, VOLATILITY = 0.02, 0.30


def on_the_host(price: np.ndarray, strike: np.ndarray, years: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The formula of Black and Scholes (1973), in double precision."""
    S, X, T = (array.astype(np.float64) for array in (price, strike, years))
    d1 = (np.log(S / X) + (RATE + 0.5 * VOLATILITY**2) * T) / (VOLATILITY * np.sqrt(T))
    d2 = d1 - VOLATILITY * np.sqrt(T)
    normal = np.vectorize(lambda d: 0.5 * math.erfc(-d / math.sqrt(2)))
    now = np.exp(-RATE * T)
    return S * normal(d1) - X * now * normal(d2), X * now * normal(-d2) - S * normal(-d1)


def main() -> int:
    simulator.stand_in()
    device = Device()
    device.set_current()
    stream = device.create_stream()
    kernel = Program(KERNEL, "c++").compile("cubin").get_kernel("black_scholes")

    generator = np.random.default_rng(0)
    price = generator.uniform(5, 30, N).astype(np.float32)
    strike = generator.uniform(1, 100, N).astype(np.float32)
    years = generator.uniform(0.25, 10, N).astype(np.float32)
    buffers = [device.allocate(4 * N, stream=stream) for _ in range(5)]
    for buffer, array in zip(buffers[2:], (price, strike, years), strict=True):
        buffer.copy_from(array, stream=stream)
    config = LaunchConfig(grid=(N + THREADS - 1) // THREADS, block=THREADS)
    launch(stream, config, kernel, *buffers, RATE, VOLATILITY, N)
    call, put = np.empty(N, np.float32), np.empty(N, np.float32)
    buffers[0].copy_to(call, stream=stream)
    buffers[1].copy_to(put, stream=stream)
    stream.sync()

    errors = [
        np.abs(found - exact).max()
        for found, exact in zip((call, put), on_the_host(price, strike, years), strict=True)
    ]
    right = max(errors) < 2e-4  # prices are up to 100: some units in the last place of that
    print(f"{N} options, largest errors {errors[0]:.1e} and {errors[1]:.1e}")
    print("PASS" if right else "FAIL")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
