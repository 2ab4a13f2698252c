"""A kernel of `torch.cuda._compile_kernel` with a mistake: `--check all` of the simulator finds it."""

from __future__ import annotations

import torch

REVERSE = """
extern "C" __global__ void reverse(float *data) {
    __shared__ float kept[256];
    kept[threadIdx.x] = data[threadIdx.x];
    data[threadIdx.x] = kept[255 - threadIdx.x];
}
"""


def test_reverse() -> None:
    """There is no barrier before the second line."""
    kernel = torch.cuda._compile_kernel(REVERSE, "reverse", nvcc_options=["-lineinfo"])
    data = torch.arange(256.0, device="cuda")
    kernel((1, 1, 1), (256, 1, 1), (data,))
    torch.cuda.synchronize()
