"""graphConditionalNodes: a loop that the device decides on.

    python samples/cuda_features/graph_conditional_nodes.py

A conditional node holds a graph that runs if, or while, a condition holds, and kernels set the condition.
Newton's method runs until it has converged, and the host launches once, without knowing how many steps
there will be.
"""

from __future__ import annotations

import sys

import numpy as np

from cudapy import simulator
from cudapy.core import Device, LaunchConfig, Program, launch
from cudapy.driver import checked as cu

KERNEL = """
extern "C" __device__ __cudart_builtin__ void CUDARTAPI cudaGraphSetConditional(
    cudaGraphConditionalHandle handle, unsigned int value);

// A step of Newton's method towards the square root of a, for one number.
extern "C" __global__ void step(cudaGraphConditionalHandle again, double a, double *x, int *steps)
{
    double next = 0.5 * (*x + a / *x);
    bool better = fabs(next - *x) > 1e-15 * next;
    *x = next;
    ++*steps;
    cudaGraphSetConditional(again, better && *steps < 100);
}
"""
A = 1e10


def main() -> int:
    simulator.stand_in()
    device = Device()
    device.set_current()
    version = cu.cuDriverGetVersion()
    if version < 12040:
        print(f"WAIVED: needs a driver of CUDA 12.4; this one is of {version // 1000}.{version % 1000 // 10}")
        return 77
    stream = device.create_stream()
    kernel = Program(KERNEL, "c++").compile("cubin").get_kernel("step")
    x, steps = device.allocate(8, stream=stream), device.allocate(4, stream=stream)
    x.copy_from(np.ones(1), stream=stream)
    steps.fill(0, stream=stream)

    builder = device.create_graph_builder().begin_building()
    again = builder.create_condition(default_value=1)
    body = builder.while_loop(again).begin_building()
    launch(body, LaunchConfig(grid=1, block=1), kernel, again, A, x, steps)
    body.end_building()
    builder.end_building().complete().launch(stream)

    root, count = np.empty(1), np.empty(1, np.int32)
    x.copy_to(root, stream=stream)
    steps.copy_to(count, stream=stream)
    stream.sync()

    right = bool(abs(root[0] - np.sqrt(A)) <= 1e-15 * np.sqrt(A)) and 1 < count[0] < 100
    print(f"the square root of {A:.0f} is {root[0]:.9f}, after {count[0]} steps and one launch")
    print("PASS" if right else "FAIL")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
