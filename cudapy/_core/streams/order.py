"""The order of a stream: what has to come after its work."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..._bindings.errors import CUDAError
from ...driver import CUresult
from ..context.current import current_context, with_context
from ..ownership.captures import is_capturing

if TYPE_CHECKING:
    from collections.abc import Callable

    from .stream import Stream


def queue(stream: Stream, function: Callable[..., object], *arguments: object) -> None:
    """`function(*arguments, stream)`, whichever context is current.

    For memory of a pool drivers ask what the current context may access, not what the stream's may.
    """
    try:
        function(*arguments, stream._handle)
    except CUDAError as error:
        queue_again(error, stream, function, *arguments)


def queue_again(
    error: CUDAError, stream: Stream, function: Callable[..., object], *arguments: object
) -> None:
    """What failed, in the context of the stream, if that is another one and may be why; else it is raised."""
    if error.code != CUresult.CUDA_ERROR_INVALID_VALUE:
        raise error
    context = stream._context or stream._asked_context()
    if current_context() == context:
        raise error
    with_context(context, function, *arguments, stream._handle)


def follow(consumer: Stream, producer: Stream | None) -> None:
    """Let later work in `consumer` wait for the work that `producer` has, unless that goes into a graph."""
    if producer is None or int(producer._handle) == int(consumer._handle) or is_capturing(producer):
        return
    with_context(producer._context, consumer.wait, producer)
