"""Triton kernels with a mistake each: `python -m cudapy.simulator --check all -m pytest` finds them."""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl


@triton.jit
def add(left, right, out, count, BLOCK: tl.constexpr):
    places = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.load(left + places, places < count) + tl.load(right + places, places < count)
    tl.store(out + places, total, places < count)


@triton.jit
def add_without_mask(left, right, out, count, BLOCK: tl.constexpr):
    places = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.load(left + places, places < count) + tl.load(right + places, places < count)
    tl.store(out + places, total)  # past the end


@triton.jit
def smooth_in_place(data, count, BLOCK: tl.constexpr):
    places = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    following = tl.load(data + places + 1, places + 1 < count, 0.0)  # which others write
    tl.store(data + places, (tl.load(data + places, places < count) + following) / 2, places < count)


def launch(kernel: Any) -> None:
    left, right = torch.rand(1000, device="cuda"), torch.rand(1000, device="cuda")
    out = torch.empty_like(left)
    kernel[(4,)](left, right, out, 1000, BLOCK=256)
    torch.testing.assert_close(out, left + right)


def test_add() -> None:
    launch(add)


def test_add_without_mask() -> None:
    launch(add_without_mask)


def test_add_again() -> None:
    launch(add)


def test_smooth_in_place() -> None:
    data = torch.rand(1000, device="cuda")
    smooth_in_place[(4,)](data, 1000, BLOCK=256)
    torch.cuda.synchronize()
