"""thread block clusters: blocks that read each other's shared memory.

    python samples/cuda_features/thread_block_cluster.py

From compute capability 9.0 on, neighbouring blocks can form a cluster. They run at the same time and reach
each other's shared memory, so a histogram may have more bins than one block has room for: each block of a
cluster holds a part, and counts for all.
"""

from __future__ import annotations

import sys

import numpy as np

from cudapy import simulator
from cudapy.core import Device, LaunchConfig, Program, launch

KERNEL = """
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

extern "C" __global__ void histogram(const unsigned *values, int n, unsigned *bins, int bins_of_a_block)
{
    extern __shared__ unsigned mine[];
    cg::cluster_group cluster = cg::this_cluster();
    for (int i = threadIdx.x; i < bins_of_a_block; i += blockDim.x)
        mine[i] = 0;
    cluster.sync();  // all parts are empty

    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        unsigned bin = values[i];
        unsigned *part = cluster.map_shared_rank(mine, bin / bins_of_a_block);
        atomicAdd(&part[bin % bins_of_a_block], 1);
    }
    cluster.sync();  // all have counted; and nobody leaves while others still do

    unsigned *out = bins + cluster.block_rank() * bins_of_a_block;
    for (int i = threadIdx.x; i < bins_of_a_block; i += blockDim.x)
        atomicAdd(&out[i], mine[i]);
}
"""
N = 1 << 18
CLUSTER, CLUSTERS, THREADS = 4, 2, 128
BINS = 4096


def main() -> int:
    simulator.stand_in()
    device = Device()
    device.set_current()
    if not device.properties.cluster_launch:
        print("WAIVED: this device has no clusters")
        return 77
    stream = device.create_stream()
    kernel = Program(KERNEL, "c++").compile("cubin").get_kernel("histogram")

    values = np.random.default_rng(0).integers(0, BINS, N, dtype=np.uint32)
    d_values = device.allocate(values.nbytes, stream=stream)
    d_bins = device.allocate(4 * BINS, stream=stream)
    d_values.copy_from(values, stream=stream)
    d_bins.fill(0, stream=stream)
    part = BINS // CLUSTER
    config = LaunchConfig(grid=CLUSTERS, cluster=CLUSTER, block=THREADS, shmem_size=4 * part)  # in clusters
    launch(stream, config, kernel, d_values, N, d_bins, part)
    bins = np.empty(BINS, np.uint32)
    d_bins.copy_to(bins, stream=stream)
    stream.sync()

    right = np.array_equal(bins, np.bincount(values, minlength=BINS))
    print(f"{BINS} bins in the shared memory of {CLUSTER} blocks, {N} values counted")
    print("PASS" if right else "FAIL")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
