"""Operators in the order of their streams.

An operator waits for the stream that it is called in, with what that waits for, and runs in the thread of the
program. In a capture it becomes a host node of the graph.
"""

from __future__ import annotations

from collections.abc import Callable

import torch

from ..._types.driver.enums import CUgraphNodeType as Type
from ..devices.primary import retained
from ..handles import find
from ..streams.faults import go_on
from ..streams.operations import Operation
from ..streams.order import may_race, unseen
from ..streams.stream import LEGACY, PER_THREAD, Stream


class Computation(Operation):
    """An operator as a node of a graph."""

    type = Type.CU_GRAPH_NODE_TYPE_HOST
    soon = False

    def __init__(self, name: str, action: Callable[[], object]) -> None:
        self._name = name
        self._action = action

    def run(self) -> None:
        go_on(self._name)
        with torch.no_grad():
            self._action()

    def details(self) -> list[str]:
        return [self._name]


def current_stream(device: int) -> Stream:
    """PyTorch's current stream of a device."""
    handle = torch._C._cuda_getCurrentRawStream(device)
    if handle in (0, LEGACY):
        return retained(device).legacy
    if handle == PER_THREAD:
        return retained(device).own_stream()  # type: ignore[no-any-return]
    return find(handle, Stream)


def await_turn(device: int) -> Stream:
    """Wait for the work of PyTorch's current stream, unless it is in a capture, and return the stream.

    This orders nothing, as no GPU waits. Raises torch.AcceleratorError after a fault, as PyTorch does.
    """
    stream = current_stream(device)
    context = stream.context
    if stream.capture is None and (context.busy or context.is_lost):
        with unseen():
            if not context.is_lost:
                stream.submit(None, soon=True)  # it waits for the default stream, if it has to
            torch.cuda.current_stream(device).synchronize()
    return stream


def await_value(device: int) -> Stream:
    """Wait for the work of PyTorch's current stream, for a call that reads memory. A capture forbids it."""
    stream = await_turn(device)
    if stream.capture is not None or may_race():
        torch.cuda.current_stream(device).synchronize()  # raises, and invalidates the capture
    return stream
