"""histogram: counting bytes with atomic operations, in shared memory first.

    python samples/concepts_and_techniques/histogram.py [--save histogram.png]

If all threads count in the same 256 numbers of device memory, they wait for each other. So each block
counts in 256 numbers of its own shared memory, and adds them to those of all at its end.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys

import numpy as np

from cudapy import simulator
from cudapy.core import Device, LaunchConfig, Program, launch

KERNEL = """
extern "C" __global__ void histogram(const unsigned *words, int count, unsigned *bins)
{
    __shared__ unsigned mine[256];
    for (int i = threadIdx.x; i < 256; i += blockDim.x)
        mine[i] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        unsigned word = words[i];  // four bytes with one access
        atomicAdd(&mine[word & 255], 1);
        atomicAdd(&mine[word >> 8 & 255], 1);
        atomicAdd(&mine[word >> 16 & 255], 1);
        atomicAdd(&mine[word >> 24], 1);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < 256; i += blockDim.x)
        atomicAdd(&bins[i], mine[i]);
}
"""
N = 1 << 22
THREADS = 256


def save(file: str, bins: np.ndarray) -> None:
    """Draw a bar for each bin."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 3), layout="constrained")
    axes = figure.subplots()
    axes.bar(np.arange(256), bins, width=1, color="#3572b0")
    axes.set(xlabel="byte", ylabel="how often", xlim=(-1, 256))
    figure.savefig(file, dpi=100)
    print(f"written to {file}")


def main() -> int:
    parser = argparse.ArgumentParser(description="Counting bytes.")
    parser.add_argument("--save", metavar="PNG", help="draw the histogram there (needs matplotlib)")
    chosen = parser.parse_args()
    if chosen.save and not importlib.util.find_spec("matplotlib"):
        parser.error("--save needs matplotlib: pip install matplotlib")
    simulator.stand_in()
    device = Device()
    device.set_current()
    stream = device.create_stream()
    kernel = Program(KERNEL, "c++").compile("cubin").get_kernel("histogram")

    generator = np.random.default_rng(0)
    data = np.clip(generator.normal(128, 30, N), 0, 255).astype(np.uint8)  # some bins are crowded
    d_data, d_bins = device.allocate(N, stream=stream), device.allocate(1024, stream=stream)
    d_data.copy_from(data, stream=stream)
    d_bins.fill(0, stream=stream)
    blocks = 2 * device.properties.multiprocessor_count
    launch(stream, LaunchConfig(grid=blocks, block=THREADS), kernel, d_data, N // 4, d_bins)
    bins = np.empty(256, np.uint32)
    d_bins.copy_to(bins, stream=stream)
    stream.sync()

    if chosen.save:
        save(chosen.save, bins)
    right = np.array_equal(bins, np.bincount(data, minlength=256))
    print(f"{N} bytes, the most frequent is {bins.argmax()} ({bins.max()} times)")
    print("PASS" if right else "FAIL")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
