"""Freeing memory in the order of a stream, without harm to captures."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from ..._bindings.errors import CUDAError
from ...driver import CUresult
from ..context.current import RelaxedCaptureMode, with_context
from ..ownership.captures import OTHER, Recorded, capture_of, captures, is_capturing, too_early
from ..streams.stream import DEFAULT_ADDRESSES, Stream, default_stream

if TYPE_CHECKING:
    from .pointer import Address
    from .resource import MemoryResource


def deallocate_in_context(
    cell: Address,
    context: int,
    resource: MemoryResource,
    size: int,
    stream: Stream | None,
    recorded: Recorded | None,
) -> None:
    """`deallocate` with `context` current; 0: that of `stream`. Not memory that never was there."""
    if recorded is not None and recorded.never_was:
        cell.value = 0
        return
    free = getattr(resource, "_free_async", None)
    if free is None or stream is None or not context:
        pass  # it takes more, or was tried
    elif not with_context(context, captures.free_outside, free, cell, stream._handle):
        return
    if not context and stream is not None:
        context = stream._context or stream._asked_context()
    capture = 0 if recorded is None else recorded.capture
    with_context(context, deallocate, cell, resource, size, stream, capture)


def deallocate(
    cell: Address, resource: MemoryResource, size: int, stream: Stream | None, capture: int = 0
) -> None:
    """Free what nobody refers to any more, without harm to a capture under way.

    capture: the number of the one that allocates the memory; into another one it is not freed.
    """
    if stream is None:
        given = None if getattr(resource, "_takes_no_stream", False) else default_stream()
        captures.relaxed(_deallocate, resource, cell, size, given)
    elif not getattr(resource, "_is_ordered", False):  # a class of others need not derive from core's
        _beside_captures(cell, resource, size, stream, capture, False)
    elif captures.may_be_active or stream._address in DEFAULT_ADDRESSES:
        try:
            captures.freeing.append(stream)  # inside: interrupt_safe
            _beside_captures(cell, resource, size, stream, capture, True)
        finally:
            captures.freeing.pop()
    else:
        _without_captures(cell, resource, size, stream, capture)


def _without_captures(
    cell: Address, resource: MemoryResource, size: int, stream: Stream, capture: int
) -> None:
    """Free it where core knows of no capture, unless there is one that others began."""
    try:
        _deallocate(resource, cell, size, stream)
    except CUDAError as error:
        if error.code != CUresult.CUDA_ERROR_INVALID_VALUE:
            raise
        if is_capturing(stream):
            raise too_early("a Buffer cannot be freed") from None
        if not capture:
            raise


def _beside_captures(
    cell: Address, resource: MemoryResource, size: int, stream: Stream, capture: int, ordered: bool
) -> None:
    """Free it in the capture that allocates it, or else once its stream is not captured.

    ordered: whether that is queued in `stream`; others may wait for the device.
    """
    now = capture_of(stream._handle)
    becomes_a_node = now and ordered and now == capture != OTHER  # and harms no capture that begins
    if not becomes_a_node and (now or (ordered and captures.beginning)):
        raise too_early("a Buffer cannot be freed")
    try:
        with nullcontext() if now else RelaxedCaptureMode():
            _deallocate(resource, cell, size, stream)
    except CUDAError as error:
        # The memory of a graph is there after the graph has run, and no more once it was freed.
        is_gone = error.code == CUresult.CUDA_ERROR_INVALID_VALUE and error.function == "cuMemFreeAsync"
        if now or not capture or not is_gone:
            raise


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
