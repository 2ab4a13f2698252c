"""mergeSort: pieces that are sorted by a block each, and merged two by two.

    python samples/concepts_and_techniques/merge_sort.py

Where a number goes when two sorted pieces become one is its place in its own piece, plus how many of the
other piece come before it, which a binary search tells. So all numbers move at once. Of equal ones those of
the first piece come first, and the order of equal keys stays as it was.
"""

from __future__ import annotations

import sys

import numpy as np

from cudapy import simulator
from cudapy.core import Device, LaunchConfig, Program, launch

KERNEL = """
const int PIECE = 512;

// How many of `sorted` come before a key; with `or_equal`, those that equal it count as well.
__device__ int count_before(const unsigned *sorted, int size, unsigned key, bool or_equal)
{
    int low = 0, high = size;
    while (low < high) {
        int middle = (low + high) / 2;
        if (sorted[middle] < key || (or_equal && sorted[middle] == key))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// Merges each two runs of `run` numbers in `from` to one in `to`; thread i moves number i.
__device__ void merge(const unsigned *keys, const unsigned *values, unsigned *sorted_keys,
                      unsigned *sorted_values, int i, int run, int n)
{
    int pair = i / (2 * run) * (2 * run), middle = min(pair + run, n), end = min(pair + 2 * run, n);
    bool first = i < middle;
    int place = first ? i + count_before(keys + middle, end - middle, keys[i], false)
                      : i - middle + pair + count_before(keys + pair, middle - pair, keys[i], true);
    sorted_keys[place] = keys[i];
    sorted_values[place] = values[i];
}

extern "C" __global__ void sort_pieces(unsigned *keys, unsigned *values, int n)
{
    __shared__ unsigned k[2][PIECE], v[2][PIECE];
    int start = blockIdx.x * PIECE, size = min(PIECE, n - start), i = threadIdx.x, now = 0;
    if (i < size)
        k[0][i] = keys[start + i], v[0][i] = values[start + i];
    for (int run = 1; run < PIECE; run *= 2, now = 1 - now) {
        __syncthreads();
        if (i < size)
            merge(k[now], v[now], k[1 - now], v[1 - now], i, run, size);
    }
    __syncthreads();
    if (i < size)
        keys[start + i] = k[now][i], values[start + i] = v[now][i];
}

extern "C" __global__ void merge_runs(const unsigned *keys, const unsigned *values, unsigned *sorted_keys,
                                      unsigned *sorted_values, int run, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        merge(keys, values, sorted_keys, sorted_values, i, run, n);
}
"""
PIECE = 512
N = 40_000  # neither pieces nor pairs of them are all whole


def main() -> int:
    simulator.stand_in()
    device = Device()
    device.set_current()
    stream = device.create_stream()
    code = Program(KERNEL, "c++").compile("cubin")
    sort_pieces, merge_runs = code.get_kernel("sort_pieces"), code.get_kernel("merge_runs")

    keys = np.random.default_rng(0).integers(0, N // 4, N, dtype=np.uint32)  # each is there about four times
    values = np.arange(N, dtype=np.uint32)
    now, following = ([device.allocate(4 * N, stream=stream) for _ in range(2)] for _ in range(2))
    now[0].copy_from(keys, stream=stream)
    now[1].copy_from(values, stream=stream)
    config = LaunchConfig(grid=(N + PIECE - 1) // PIECE, block=PIECE)
    launch(stream, config, sort_pieces, *now, N)
    run, merges = PIECE, 0
    while run < N:
        launch(stream, config, merge_runs, *now, *following, run, N)
        now, following = following, now
        run, merges = 2 * run, merges + 1
    sorted_keys, sorted_values = np.empty_like(keys), np.empty_like(values)
    now[0].copy_to(sorted_keys, stream=stream)
    now[1].copy_to(sorted_values, stream=stream)
    stream.sync()

    order = np.argsort(keys, kind="stable")
    right = np.array_equal(sorted_keys, keys[order]) and np.array_equal(sorted_values, values[order])
    print(f"{N} pairs of key and value in pieces of {PIECE}, merged {merges} times")
    print("PASS" if right else "FAIL")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
