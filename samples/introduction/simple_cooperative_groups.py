"""simpleCooperativeGroups: groups of threads, and parts of them, that work together.

    python samples/introduction/simple_cooperative_groups.py

The same function sums over whatever group it is given: the block, or each tile of 16 threads of it. A group
knows its size, the rank of a thread in it, and how to wait for its own threads alone.
"""

from __future__ import annotations

import sys

import numpy as np

from cudapy import simulator
from cudapy.core import Device, LaunchConfig, Program, launch

KERNEL = """
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
const int TILE = 16;

// The sum of `value` over a group, in its thread of rank 0; `room` has a number for each thread.
template <class Group>
__device__ int sum_of(const Group &group, int *room, int value)
{
    int rank = group.thread_rank();
    for (int half = group.size() / 2; half > 0; half /= 2) {
        room[rank] = value;
        group.sync();
        if (rank < half)
            value += room[rank + half];
        group.sync();
    }
    return value;
}

// sums: of each tile, and behind them of each block
extern "C" __global__ void groups(const int *numbers, int *tile_sums, int *block_sums)
{
    extern __shared__ int room[];
    cg::thread_block block = cg::this_thread_block();
    int i = blockIdx.x * block.size() + block.thread_rank(), number = numbers[i];

    cg::thread_block_tile<TILE> tile = cg::tiled_partition<TILE>(block);
    int sum = sum_of(tile, room + tile.meta_group_rank() * TILE, number);
    if (tile.thread_rank() == 0)
        tile_sums[i / TILE] = sum;
    block.sync();
    sum = sum_of(block, room, number);
    if (block.thread_rank() == 0)
        block_sums[blockIdx.x] = sum;
}
"""
TILE, THREADS, BLOCKS = 16, 256, 8
N = BLOCKS * THREADS


def main() -> int:
    simulator.stand_in()
    device = Device()
    device.set_current()
    stream = device.create_stream()
    kernel = Program(KERNEL, "c++").compile("cubin").get_kernel("groups")

    numbers = np.random.default_rng(0).integers(-100, 100, N, dtype=np.int32)
    tiles, blocks = np.empty(N // TILE, np.int32), np.empty(BLOCKS, np.int32)
    d_numbers, d_tiles, d_blocks = (
        device.allocate(m.nbytes, stream=stream) for m in (numbers, tiles, blocks)
    )
    d_numbers.copy_from(numbers, stream=stream)
    config = LaunchConfig(grid=BLOCKS, block=THREADS, shmem_size=4 * THREADS)
    launch(stream, config, kernel, d_numbers, d_tiles, d_blocks)
    d_tiles.copy_to(tiles, stream=stream)
    d_blocks.copy_to(blocks, stream=stream)
    stream.sync()

    right = np.array_equal(tiles, numbers.reshape(-1, TILE).sum(axis=1))
    right = right and np.array_equal(blocks, numbers.reshape(-1, THREADS).sum(axis=1))
    print(f"sums over {tiles.size} tiles of {TILE} threads and {BLOCKS} blocks of {THREADS}")
    print("PASS" if right else "FAIL")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
