"""The generators of CUDA: a seed and an offset, which each operator that draws advances.

So `manual_seed`, `get_rng_state`, `set_rng_state` and checkpointing work. `distributions` has the operators
whose numbers are a GPU's. Others get numbers of the CPU's generator, seeded by both.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import threading
from collections.abc import Iterator
from typing import Any

import torch

STEP = 4  # offsets of PyTorch's generators are its multiples
_lock = threading.RLock()
_captured = itertools.count()


class Draws:
    """What one call of an operator draws from: `generator`, or that of its device.

    is_captured: the call is a node of a graph, which draws other numbers at each launch.
    """

    def __init__(self, generator: Any, device: int, is_captured: bool = False) -> None:
        self._generator = generator
        if generator is None:
            self._generator = torch.cuda.default_generators[device]
        self._node = next(_captured) if is_captured else None
        self._launches = itertools.count()

    def take(self, increment: int) -> tuple[int, int]:
        """The seed, and the offset, which then grows, of the next numbers."""
        seed = self._generator.initial_seed()
        if self._node is not None:
            return _mixed(f"{seed} node {self._node} launch {next(self._launches)}"), 0
        offset = self._generator.get_offset()
        self._generator.set_offset(offset + increment)
        return seed, offset

    @contextlib.contextmanager
    def drawn(self) -> Iterator[None]:
        """Have the CPU's default generator give these numbers."""
        with _lock:
            before = torch.default_generator.get_state()
            seed, offset = self.take(STEP)
            torch.default_generator.manual_seed(_mixed(f"{seed} {offset}"))
            try:
                yield
            finally:
                torch.default_generator.set_state(before)


def _mixed(text: str) -> int:
    """A seed of its own for what a text says."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little", signed=True)
