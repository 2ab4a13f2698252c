"""MC_EstimatePi: pi by throwing darts.

    python samples/concepts_and_techniques/monte_carlo_pi.py

Of points drawn evenly from a square, pi / 4 fall into the quarter of a circle. Each thread has a random
generator of its own, a counter that is mixed until it looks random (splitmix64): no state is shared, and
the same seed gives the same points, which lets the host count them, too.
"""

from __future__ import annotations

import math
import sys

import numpy as np

from cudapy import simulator
from cudapy.core import Device, LaunchConfig, Program, launch

KERNEL = """
typedef unsigned long long u64;

__device__ u64 mix(u64 x)
{
    x += 0x9E3779B97F4A7C15ull;
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9ull;
    x = (x ^ x >> 27) * 0x94D049BB133111EBull;
    return x ^ x >> 31;
}

extern "C" __global__ void throw_darts(u64 seed, int each, unsigned *inside)
{
    unsigned thread = blockIdx.x * blockDim.x + threadIdx.x, mine = 0;
    for (int i = 0; i < each; ++i) {
        u64 bits = mix(seed + u64(thread) * each + i);
        u64 x = bits >> 32, y = bits & 0xFFFFFFFFu;  // 32 bits each
        // Halved, so that the sum of the squares fits 64 bits.
        mine += (x * x >> 1) + (y * y >> 1) < 1ull << 63;
    }
    mine += __shfl_xor_sync(~0u, mine, 16);
    mine += __shfl_xor_sync(~0u, mine, 8);
    mine += __shfl_xor_sync(~0u, mine, 4);
    mine += __shfl_xor_sync(~0u, mine, 2);
    mine += __shfl_xor_sync(~0u, mine, 1);
    if (threadIdx.x % 32 == 0)
        atomicAdd(inside, mine);
}
"""
BLOCKS, THREADS, EACH = 64, 256, 64
N = BLOCKS * THREADS * EACH
SEED = 2026


def on_the_host() -> int:
    """The same points, counted with NumPy."""
    with np.errstate(over="ignore"):
        x = np.arange(N, dtype=np.uint64) + np.uint64(SEED) + np.uint64(0x9E3779B97F4A7C15)
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        bits = x ^ (x >> np.uint64(31))
    a, b = bits >> np.uint64(32), bits & np.uint64(0xFFFFFFFF)
    return int(np.count_nonzero(((a * a) >> np.uint64(1)) + ((b * b) >> np.uint64(1)) < np.uint64(1 << 63)))


def main() -> int:
    simulator.stand_in()
    device = Device()
    device.set_current()
    stream = device.create_stream()
    kernel = Program(KERNEL, "c++").compile("cubin").get_kernel("throw_darts")

    inside = device.allocate(4, stream=stream)
    inside.fill(0, stream=stream)
    launch(stream, LaunchConfig(grid=BLOCKS, block=THREADS), kernel, SEED, EACH, inside)
    found = np.empty(1, np.uint32)
    inside.copy_to(found, stream=stream)
    stream.sync()

    pi = 4 * int(found[0]) / N
    deviation = 4 * math.sqrt(math.pi / 4 * (1 - math.pi / 4) / N)
    right = int(found[0]) == on_the_host() and abs(pi - math.pi) < 5 * deviation
    print(f"{N} darts: pi is about {pi:.5f} +- {deviation:.5f}")
    print("PASS" if right else "FAIL")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
