"""graphMemoryNodes: a graph that allocates what it needs.

    python samples/cuda_features/graph_memory_nodes.py

An allocation node has its address from the start, and memory there from the allocation to the freeing node
of each launch. The driver gives memory that one node freed to a later one: a chain of temporary arrays
takes less than all of them together.
"""

from __future__ import annotations

import sys

import numpy as np

from cudapy import simulator
from cudapy.core import Device, LaunchConfig, Program, graph
from cudapy.driver import CUgraphMem_attribute
from cudapy.driver import checked as cu

KERNEL = """
extern "C" __global__ void square(const int *input, int *output)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    output[i] = input[i] * input[i] % 10007;
}
"""
N, THREADS, STEPS = 1 << 20, 256, 8


def main() -> int:
    simulator.stand_in()
    device = Device()
    device.set_current()
    if not device.properties.memory_pools_supported:
        print("WAIVED: this device has no memory pools")
        return 77
    stream = device.create_stream()
    kernel = Program(KERNEL, "c++").compile("cubin").get_kernel("square")
    config = LaunchConfig(grid=N // THREADS, block=THREADS)

    numbers = np.random.default_rng(0).integers(0, 10007, N, dtype=np.int32)
    result = np.zeros_like(numbers)
    definition = graph.GraphDefinition()
    memory = definition.allocate(numbers.nbytes)
    node: graph.GraphNode = memory.memcpy(memory.dptr, numbers, numbers.nbytes)
    for _ in range(STEPS):
        following = node.allocate(numbers.nbytes)
        node = following.launch(config, kernel, memory.dptr, following.dptr).deallocate(memory.dptr)
        memory = following
    node.memcpy(result, memory.dptr, result.nbytes).deallocate(memory.dptr)
    executable = definition.instantiate()

    expected = numbers
    for _ in range(STEPS):
        expected = expected * expected % 10007
    right = True
    for _ in range(3):
        result[:] = 0
        executable.launch(stream)
        stream.sync()
        right = right and np.array_equal(result, expected)

    high = CUgraphMem_attribute.CU_GRAPH_MEM_ATTR_USED_MEM_HIGH
    most = cu.cuDeviceGetGraphMemAttribute(device.device_id, high)
    print(f"{STEPS + 1} arrays of {numbers.nbytes >> 20} MiB, at most {most >> 20} MiB in use")
    right = right and most < (STEPS + 1) * numbers.nbytes
    print("PASS" if right else "FAIL")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
