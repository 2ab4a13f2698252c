"""The order of a stream: what has to come after its work, and what must outlive it."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from ... import driver
from ..._errors import CUDAError
from ...driver import CUresult, checked
from ..context.current import RelaxedCaptureMode, with_context
from ..ownership.captures import (
    OTHER,
    beginning,
    capture_may_be_active,
    capture_of,
    freeing,
    is_capturing,
    too_early,
    with_relaxed_capture,
)
from ..ownership.deferred import deferred
from ..ownership.graph_references import keep_for_capture
from .stream import DEFAULT_ADDRESSES, default_stream

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..memory.pointer import Address
    from ..memory.resource import MemoryResource
    from .stream import Stream


def keep_for(stream: Stream, *things: object) -> None:
    """Keep `things` alive until the work that `stream` has is done.

    What is captured is kept as long as the graph, a copy of it or a launch may use it.
    """
    if is_capturing(stream):
        keep_for_capture(stream._handle, *things)
        return
    try:
        done = stream.record()
    except CUDAError:  # nothing tells when the work has ended that uses them: wait for it now
        driver.cuStreamSynchronize(stream._handle)
        raise
    deferred.keep_until(done, *things)


def queue(stream: Stream, function: Callable[..., object], *arguments: object) -> None:
    """`function(*arguments, stream)`, whichever context is current.

    For memory of a pool drivers ask what the current context may access, not what the stream's may.
    """
    try:
        function(*arguments, stream._handle)
    except CUDAError as error:
        if error.code != CUresult.CUDA_ERROR_INVALID_VALUE:
            raise
        context = stream._context or stream._asked_context()
        if checked.cuCtxGetCurrent().value == context:
            raise
        with_context(context, function, *arguments, stream._handle)


def follow(consumer: Stream, producer: Stream | None) -> None:
    """Let later work in `consumer` wait for the work that `producer` has, unless that goes into a graph."""
    if producer is None or int(producer._handle) == int(consumer._handle) or is_capturing(producer):
        return
    with_context(producer._context, consumer.wait, producer)


def deallocate_in_context(
    cell: Address, context: int, resource: MemoryResource, size: int, stream: Stream | None, capture: int
) -> None:
    """`deallocate` with `context` current."""
    with_context(context, deallocate, cell, resource, size, stream, capture)


def deallocate(
    cell: Address, resource: MemoryResource, size: int, stream: Stream | None, capture: int = 0
) -> None:
    """Free what nobody refers to any more, without harm to a capture under way.

    capture: the number of the one that allocates the memory; into another one it is not freed.
    """
    ordered = getattr(resource, "_is_ordered", False)  # a class of others need not derive from core's
    if stream is None:
        given = None if getattr(resource, "_takes_no_stream", False) else default_stream()
        with_relaxed_capture(_deallocate, resource, cell, size, given)
        return
    if ordered and not capture_may_be_active and stream._address not in DEFAULT_ADDRESSES:
        try:
            _deallocate(resource, cell, size, stream)
        except CUDAError as error:
            if error.code != CUresult.CUDA_ERROR_INVALID_VALUE:
                raise
            if is_capturing(stream):
                raise too_early("a Buffer cannot be freed") from None
            if not capture:
                raise
        return
    try:
        if ordered:  # others may wait for the device
            freeing.append(stream)  # in here, as Ctrl-C may come right after it
        now = capture_of(stream._handle)
        becomes_a_node = now and ordered and now == capture != OTHER  # and harms no capture that begins
        if not becomes_a_node and (now or (ordered and beginning)):
            raise too_early("a Buffer cannot be freed")
        try:
            with nullcontext() if now else RelaxedCaptureMode():
                _deallocate(resource, cell, size, stream)
        except CUDAError as error:
            # The memory of a graph is there after the graph has run, and no more once it was freed.
            if now or not capture or error.code != CUresult.CUDA_ERROR_INVALID_VALUE:
                raise
    finally:
        if ordered:
            freeing.pop()


def _deallocate(resource: Any, cell: Address, size: int, stream: Stream | None) -> None:
    """`resource.deallocate`, after which `cell` is empty; at once where it is a program's own."""
    if hasattr(getattr(type(resource), "deallocate", None), "empties"):
        resource.deallocate(cell, size, stream=stream)
        return
    address, cell.value = cell.value, 0
    try:
        resource.deallocate(address, size, stream=stream)
    except CUDAError:
        cell.value = address
        raise
