"""The numbers of CUDA's generators, as PyTorch's kernels draw them: `cudapy.simulator.pytorch.philox`."""

from __future__ import annotations

import numpy as np

from cudapy.simulator.pytorch import philox


def test_words_are_those_of_the_paper() -> None:
    """Known answers of Philox4x32-10: counter and key 0, and all bits of both."""
    zero = philox.words(0, 0, [0])[0, :, 0]
    assert [*map(hex, zero)] == ["0x6627e8d5", "0xe169c58d", "0xbc57ac4c", "0x9b00dbd8"]
    ones = (1 << 64) - 1
    every = philox.words(ones, 4 * ones, np.array([ones], np.uint64))[0, :, 0]
    assert [*map(hex, every)] == ["0x408f276d", "0x41c83b0e", "0xa20bc7c6", "0x6d5451fd"]


def test_numbers_are_those_of_a_gpu() -> None:
    """What torch.rand and torch.randn give on CUDA for the seeds 0 and 42."""
    layout = philox.Layout(5, 4)
    drawn = {seed: philox.words(seed, 0, np.arange(layout.threads)) for seed in (0, 42)}
    uniform = layout.dealt(philox.uniform(drawn[0]))
    assert np.round(uniform, 4).tolist() == np.float32([0.3990, 0.5167, 0.0249, 0.9401, 0.9459]).tolist()
    normal = layout.dealt(philox.normal(drawn[42]))
    assert np.allclose(normal, [0.1940, 2.1614, -0.1721, 0.8491, -1.9244], atol=6e-5)


def test_a_thread_draws_again_when_there_are_more_elements_than_threads() -> None:
    """A grid has 270,336 threads: each takes four elements, a grid's width apart, and goes on with the next
    call.
    """
    layout = philox.Layout(5 * philox.MOST_THREADS, 4)
    assert (layout.threads, layout.calls, layout.increment) == (philox.MOST_THREADS, 2, 8)
    drawn = np.arange(2 * 4 * layout.threads).reshape(2, 4, layout.threads)
    dealt = layout.dealt(drawn)
    assert dealt[philox.MOST_THREADS] == drawn[0, 1, 0]
    assert dealt[4 * philox.MOST_THREADS + 7] == drawn[1, 0, 7]


def test_doubles_take_two_words() -> None:
    drawn = philox.words(0, 0, np.arange(256))
    values, normals = philox.uniform_double(drawn), philox.normal_double(drawn)
    assert values.shape == normals.shape == (1, 2, 256)
    assert values.min() > 0 and values.max() <= 1
    low, high = int(drawn[0, 0, 0]), int(drawn[0, 1, 0])
    assert values[0, 0, 0] == ((low ^ high << 21) + 0.5) * 2**-53
    assert abs(normals.mean()) < 0.2 and abs(normals.std() - 1) < 0.1
