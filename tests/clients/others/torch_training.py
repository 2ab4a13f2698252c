"""Training steps of three networks with PyTorch's operators: each loss as on the CPU."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.nn import functional

STEPS = 30


class Block(nn.Module):
    """A layer of a GPT: causal attention and a feed-forward network."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention, self.projection = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.feed = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x: Any) -> Any:
        batch, length, width = x.shape
        parts = self.attention(self.first(x)).split(width, 2)
        q, k, v = (part.view(batch, length, self.heads, -1).transpose(1, 2) for part in parts)
        mixed = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.projection(mixed.transpose(1, 2).reshape(batch, length, width))
        return x + self.feed(self.second(x))


class GPT(nn.Module):
    def __init__(self, words: int = 32, width: int = 32) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(words, width), nn.Embedding(16, width)
        self.blocks = nn.Sequential(Block(width, 4), Block(width, 4))
        self.end = nn.Linear(width, words)

    def forward(self, words: Any) -> Any:
        places = torch.arange(words.shape[1], device=words.device)
        return self.end(self.blocks(self.words(words) + self.places(places))).transpose(1, 2)


def mlp() -> nn.Module:
    return nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 4))


def cnn() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(1, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(72, 4)
    )


def losses(
    make: Callable[[], nn.Module], inputs: Any, targets: Any, device: str, compiles: bool
) -> list[float]:
    """The loss of each step."""
    torch.manual_seed(0)
    model: Any = make().to(device)
    optimizer = torch.optim.AdamW(model.parameters(), 1e-2, fused=device == "cuda")
    if compiles:
        model = torch.compile(model)
    inputs, targets = inputs.to(device), targets.to(device)
    found = []
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = functional.cross_entropy(model(inputs), targets)
        loss.backward()
        optimizer.step()
        found.append(loss.item())
    return found


def main(compiles: bool = False, shows: bool = False) -> None:
    """shows: print the loss of each step."""
    torch.backends.cudnn.allow_tf32 = False
    generator = torch.Generator().manual_seed(1)
    labels = torch.randint(4, (24,), generator=generator)
    words = torch.randint(32, (4, 17), generator=generator)
    cases: dict[str, tuple[Callable[[], nn.Module], Any, Any]] = {
        "MLP": (mlp, torch.randn(24, 16, generator=generator), labels),
        "CNN": (cnn, torch.randn(24, 1, 8, 8, generator=generator), labels),
        "GPT": (GPT, words[:, :16], words[:, 1:]),
    }
    for name, (make, inputs, targets) in cases.items():
        expected = losses(make, inputs, targets, "cpu", False)
        found = losses(make, inputs, targets, "cuda", compiles)
        torch.testing.assert_close(found, expected, rtol=1e-3, atol=1e-4)
        assert found[-1] < 0.5 * found[0]
        print(f"{name}: loss {found[0]:.3f} to {found[-1]:.4f} in {STEPS} steps, as on the CPU")
        if shows:
            print(*(f"{name} {step} {loss:.6f}" for step, loss in enumerate(found)), sep="\n")


if __name__ == "__main__":
    main(shows="--losses" in sys.argv)
