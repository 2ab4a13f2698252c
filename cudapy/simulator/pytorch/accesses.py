"""What operators read and write, for races between streams.

An operator has been computed in the program's thread when it is entered as a work of its stream, with the
elements of its tensors. What only some elements are picked from, by indices, is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import torch

from ..calling import call_site
from ..memory.stream_races import computed
from ..streams.stream import Stream
from .tensors import each_tensor

PICKED = (
    "_embedding_bag", "_index_put_impl_", "embedding", "gather", "grid_sampler", "index", "masked_scatter_",
    "masked_select", "put_", "scatter", "take",
)  # fmt: skip
"""What the names of operators begin with that touch only some elements of their first argument."""
_MOST = 1 << 16
"""Ranges of a tensor that are looked at."""


class Accesses:
    """What one call of an operator does with memory. name: of the operator; written: what it writes."""

    def __init__(self, name: str, args: Any, read: Iterable[Any], written: Iterable[Any]) -> None:
        self._call = call_site()._replace(function=f"aten::{name}")
        first = args[0] if args and name.startswith(PICKED) else None
        self._read = [tensor for tensor in read if tensor is not first]
        self._written: list[Any] = []
        self.write([each for each in written if each is not first])

    def write(self, values: Iterable[Any]) -> None:
        """It writes these tensors as well, such as its results."""
        each_tensor(values, self._written.append)

    def submit(self, stream: Stream, source: Stream | None) -> None:
        """They are those of a work of a stream. source: in which it is between two works of `stream`."""
        if source is None:
            stream.submit(self.enter, soon=True)
        else:
            ready = stream.submit(None, soon=True)
            done = source.submit(self.enter, [ready], soon=True)
            stream.submit(None, [done], soon=True)

    def enter(self) -> None:
        """They are those of the work that this thread does."""
        both = ((self._read, False), (self._written, True))
        computed(self._call, [found for tensors, is_write in both for found in _ranges(tensors, is_write)])


def _ranges(tensors: list[Any], is_write: bool) -> Iterator[tuple[int, Any, Any, bool]]:
    """For each tensor its address, and where ranges of its elements start and end, from there on."""
    for tensor in tensors:
        if tensor.numel() and tensor.layout == torch.strided:
            yield (tensor.data_ptr(), *_runs(tensor), is_write)


def _runs(tensor: Any) -> tuple[Any, Any]:
    """Where ranges of a tensor's elements start and end in bytes, from its first one on: sorted and apart."""
    size = tensor.element_size()
    starts, sorted_axes = np.zeros(1, np.int64), sorted(zip(tensor.stride(), tensor.size(), strict=True))
    for stride, count in sorted_axes:
        if stride == size // tensor.element_size() and count > 1:
            size *= count  # one range still
        elif stride and count > 1:
            step = stride * tensor.element_size()
            starts = (starts[:, None] + step * np.arange(min(count, _MOST // len(starts) or 1))).ravel()
    starts = np.unique(starts)
    is_first = np.concatenate([[True], starts[1:] > starts[:-1] + size])
    is_last = np.concatenate([is_first[1:], [True]])
    return starts[is_first], starts[is_last] + size
