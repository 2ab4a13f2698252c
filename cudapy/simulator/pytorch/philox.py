"""The numbers that CUDA's threads draw from cuRAND's Philox generator, as PyTorch's kernels use it.

Source: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3" (2011), Philox4x32-10; the
cuRAND documentation, "Device API", of `curand_init`, `curand_uniform4`, `curand_normal4`; PyTorch's
documentation of `torch.Generator.get_offset`. How elements are dealt out to threads is seen on GPUs.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

THREADS = 256
"""In a block of PyTorch's kernels that fill tensors with random numbers."""
MOST_THREADS = 132 * 2048
"""In one of their grids: what the multiprocessors of an H100 or H200 hold. Smaller GPUs have fewer."""
_MULTIPLIERS = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
_KEY_STEPS = 0x9E3779B9, 0xBB67AE85
_LOW, _SHIFT = np.uint64(0xFFFFFFFF), np.uint64(32)
_TO_FLOAT, _TO_DOUBLE = np.float32(2**-32), 2**-53


def words(seed: int, offset: int, threads: Any, calls: int = 1) -> Any:
    """What threads draw in their first `calls` calls for four words.

    offset: where the generator begins, a multiple of 4; threads: their numbers, an array. Returns an array of
    uint64, each below 2 ** 32, of the shape (calls, 4, *threads.shape).
    """
    threads = np.asarray(threads, np.uint64)
    counts = (np.uint64(offset // 4) + np.arange(calls, dtype=np.uint64)).reshape(-1, *[1] * threads.ndim)
    shape = np.broadcast_shapes(counts.shape, threads.shape)
    one, two = np.broadcast_to(counts & _LOW, shape), np.broadcast_to(counts >> _SHIFT, shape)
    three, four = np.broadcast_to(threads & _LOW, shape), np.broadcast_to(threads >> _SHIFT, shape)
    keys = seed & 0xFFFFFFFF, seed >> 32 & 0xFFFFFFFF
    for _ in range(10):
        first, second = one * _MULTIPLIERS[0], three * _MULTIPLIERS[1]
        one, two, three, four = (
            second >> _SHIFT ^ two ^ np.uint64(keys[0]),
            second & _LOW,
            first >> _SHIFT ^ four ^ np.uint64(keys[1]),
            first & _LOW,
        )
        keys = (keys[0] + _KEY_STEPS[0]) & 0xFFFFFFFF, (keys[1] + _KEY_STEPS[1]) & 0xFFFFFFFF
    return np.stack([one, two, three, four], 1)


class Layout:
    """How a kernel deals out `count` elements: each thread takes `unroll` at a time, a grid's width apart."""

    def __init__(self, count: int, unroll: int) -> None:
        self._count = count
        self.threads = min(-(-count // THREADS) * THREADS, MOST_THREADS)
        self.calls = (count - 1) // (self.threads * unroll) + 1
        self.increment = 4 * self.calls
        """By how much the generator's offset grows."""

    def dealt(self, drawn: Any) -> Any:
        """The elements in their order. drawn: of the shape (calls, unroll, threads)."""
        return drawn.reshape(-1)[: self._count]


def uniform(drawn: Any) -> Any:
    """float32 in (0, 1], as curand_uniform4 has them. drawn: words, of any shape."""
    return drawn.astype(np.float32) * _TO_FLOAT + _TO_FLOAT / 2


def uniform_double(drawn: Any) -> Any:
    """float64 in (0, 1], as curand_uniform2_double has them: two of four words.

    drawn: words of the shape (calls, 4, threads).
    """
    return _double(drawn[:, 0::2], drawn[:, 1::2])


def _double(low: Any, high: Any) -> Any:
    return (low ^ high << np.uint64(21)).astype(np.float64) * _TO_DOUBLE + _TO_DOUBLE / 2


def normal(drawn: Any) -> Any:
    """float32, normally distributed, as curand_normal4 has them: by Box and Muller, from pairs of words.

    drawn: of the shape (calls, 4, threads). A GPU's logarithm and sine differ in the last bits.
    """
    radius = np.sqrt(-2 * np.log(uniform(drawn[:, 0::2]), dtype=np.float32))
    turn = np.float32(2**-32 * 2 * math.pi)
    angle = drawn[:, 1::2].astype(np.float32) * turn + turn / 2
    return _pairs(radius * np.sin(angle), radius * np.cos(angle))


def normal_double(drawn: Any) -> Any:
    """float64, normally distributed, as curand_normal2_double has them: two of four words."""
    first = _double(drawn[:, 0:1], drawn[:, 1:2])
    angle = math.pi * 2 * _double(drawn[:, 2:3], drawn[:, 3:4])
    radius = np.sqrt(-2 * np.log(first))
    return _pairs(radius * np.sin(angle), radius * np.cos(angle))


def _pairs(sines: Any, cosines: Any) -> Any:
    calls, half, threads = sines.shape
    return np.stack([sines, cosines], 2).reshape(calls, 2 * half, threads)


def pairs_of_words(drawn: Any) -> Any:
    """uint64, of two words each, the first of which is the upper half."""
    return drawn[:, 0::2] << _SHIFT | drawn[:, 1::2]
