"""A cuTile kernel on tensors of PyTorch: a sum of tiles."""

from __future__ import annotations

from typing import Any

import cuda.tile as ct
import torch

SIZE = 128


@ct.kernel
def add(left: Any, right: Any, out: Any, size: ct.Constant[int]) -> None:
    place = (ct.bid(0),)
    total = ct.load(left, index=place, shape=(size,)) + ct.load(right, index=place, shape=(size,))
    ct.store(out, index=place, tile=total)


if __name__ == "__main__":
    left, right = torch.rand(8 * SIZE, device="cuda"), torch.rand(8 * SIZE, device="cuda")
    out = torch.empty_like(left)
    ct.launch(torch.cuda.current_stream(), (8,), add, (left, right, out, SIZE))
    torch.testing.assert_close(out, left + right)
