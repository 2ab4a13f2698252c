"""Operators and kernels in two streams, ordered or not: `python -m cudapy.simulator --check races` tells.

MISTAKES in the environment leaves out the waits that the lines marked "ordered" have.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import torch

MISTAKES = "MISTAKES" in os.environ
DOUBLE = """
extern "C" __global__ void twice(float *data) { data[threadIdx.x] *= 2; }
"""
kept: list[Any] = []
"""Tensors that other streams may still use."""


def wait(stream: Any, other: Any) -> None:
    if not MISTAKES:
        stream.wait_stream(other)  # ordered


def after_a_kernel(main: Any, side: Any) -> None:
    kernel = torch.cuda._compile_kernel(DOUBLE, "twice", nvcc_options=["-lineinfo"])
    data = torch.ones(64, device="cuda")
    kept.append(data)
    torch.cuda.synchronize()
    kernel((1, 1, 1), (64, 1, 1), (data,), stream=side)
    wait(main, side)
    data.add(1)  # read


def of_a_result(main: Any, side: Any) -> None:
    grid = torch.ones(8, 8, device="cuda")
    torch.cuda.synchronize()
    with torch.cuda.stream(side):
        product = grid @ grid
    kept.extend((grid, product))
    wait(main, side)
    product.mul_(2)  # write


def while_training(main: Any, side: Any) -> None:
    layer = torch.nn.Linear(8, 1).cuda()
    optimizer = torch.optim.Adam(layer.parameters())
    for _ in range(2):
        given = torch.ones(16, 8).pin_memory()
        with torch.cuda.stream(side):
            there = given.to("cuda", non_blocking=True)
        kept.extend((given, there))
        wait(main, side)
        layer(there).sum().backward()  # forward and backward
        optimizer.step()
        optimizer.zero_grad()
        torch.cuda.synchronize()


def in_a_graph(main: Any, side: Any) -> None:
    total = torch.zeros(64, device="cuda")
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        capturing = torch.cuda.current_stream()
        side.wait_stream(capturing)
        with torch.cuda.stream(side):
            total.add_(1)
        wait(capturing, side)
        total.mul_(2)  # node
        capturing.wait_stream(side)
    graph.replay()


def never(main: Any, side: Any) -> None:
    """What is apart, what the program waits for, and what is freed and allocated again."""
    halves = torch.ones(8, 8, device="cuda")
    halves.sum().item()
    with torch.cuda.stream(side):
        halves[:, :4].mul_(2)
        count = len(halves[:, :4].nonzero())
    halves.mul_(count)
    torch.cuda.synchronize()
    with torch.cuda.stream(side):
        for _ in range(3):
            torch.ones(64, device="cuda").sum()
    for _ in range(3):
        torch.ones(64, device="cuda").sum()


if __name__ == "__main__":
    parts: tuple[Callable[[Any, Any], None], ...] = (
        after_a_kernel, of_a_result, while_training, in_a_graph, never,
    )  # fmt: skip
    for part in parts:
        part(torch.cuda.current_stream(), torch.cuda.Stream())
        torch.cuda.synchronize()
