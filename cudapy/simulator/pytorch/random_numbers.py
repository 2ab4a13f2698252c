"""Random numbers of the CPU, for the generators of CUDA.

A CUDA generator is a seed and an offset. An operator gets numbers of the CPU's generator, seeded by both, and
advances the offset, so `manual_seed`, `get_rng_state`, `set_rng_state` and checkpointing work. The numbers
differ from a GPU's: PyTorch does not document which thread there draws which.
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

    def _seed(self) -> int:
        """Of the next numbers."""
        if self._node is not None:
            place = f"node {self._node} launch {next(self._launches)}"
        else:
            offset = self._generator.get_offset()
            self._generator.set_offset(offset + STEP)
            place = str(offset)
        text = f"{self._generator.initial_seed()} {place}"
        return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little", signed=True)

    @contextlib.contextmanager
    def drawn(self) -> Iterator[None]:
        """Have the CPU's default generator give these numbers."""
        with _lock:
            before = torch.default_generator.get_state()
            torch.default_generator.manual_seed(self._seed())
            try:
                yield
            finally:
                torch.default_generator.set_state(before)
