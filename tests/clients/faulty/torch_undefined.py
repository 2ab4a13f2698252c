"""Operators that compute with elements that nobody wrote: the simulator reports each with its line."""

from __future__ import annotations

import torch


def moved() -> None:
    """Copies are no mistake, nor is what is written before it is read."""
    some = torch.empty(8, device="cuda").clone()
    some[:4] = 1
    assert some[:4].sum() == 4
    grid = torch.empty(4, 4, device="cuda")
    grid[:, 0] = 1
    zeros = torch.tensor([0, 0], device="cuda")
    assert grid.index_select(1, zeros).sum() == 8
    torch.empty(5, device="cuda").normal_().add_(1)
    torch.add(torch.ones(3, device="cuda"), 1, out=torch.empty(3, device="cuda"))


def computed() -> None:
    some = torch.empty(8, device="cuda")
    some[:4] = 1
    more = torch.cat([some, torch.ones(2, device="cuda")])
    torch.mul(more, 2)  # 4 of 10


def brought_to_the_host() -> None:
    torch.empty(3, device="cuda").cpu()


def picked() -> None:
    grid = torch.empty(4, 4, device="cuda")
    grid[:, 0] = 1
    picked = grid.index_select(1, torch.tensor([0, 1], device="cuda"))
    picked.sum()  # 4 of 8


if __name__ == "__main__":
    for part in (moved, computed, brought_to_the_host, picked):
        part()
