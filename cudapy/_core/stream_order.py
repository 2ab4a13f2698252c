"""The order of a stream: what has to come after its work, and what must outlive it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import driver
from .._errors import CUDAError
from ..driver import CUresult, CUstreamCaptureStatus
from .current import Uncaptured, within
from .graph.kept import keep_captured
from .lifetime import keep_until
from .pointer import is_allocated
from .stream import DEFAULT_STREAMS

if TYPE_CHECKING:
    from .memory.resource import MemoryResource
    from .stream import Stream


def is_capturing(stream: Stream) -> bool:
    """Whether what is done in `stream` goes into a graph. Source: cuStreamIsCapturing."""
    status, capture = driver.cuStreamIsCapturing(stream._handle)
    if status == CUresult.CUDA_ERROR_STREAM_CAPTURE_IMPLICIT:
        return True  # the legacy stream, while a blocking one captures
    return not status and capture != CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_NONE


# Empty until somebody began a capture by these functions.
begun = driver.libcuda.asked.setdefault("cuStreamBeginCapture_v2", [])
begun_into = driver.libcuda.asked.setdefault("cuStreamBeginCaptureToGraph", [])


def spoils_a_capture(stream: Stream, address: int) -> bool:
    """Whether to free memory in `stream` now would invalidate a capture; False if none was ever begun.

    In a stream that is being captured the driver frees the memory of graphs alone, which is not there yet; an
    attempt to free other memory, whose allocation is still to come in the stream, invalidates the capture.
    """
    if not (begun or begun_into) or not is_capturing(stream):
        return False
    with Uncaptured():
        return is_allocated(address)


def keep_for(stream: Stream, *things: object) -> None:
    """Keep `things` alive until the work that `stream` has is done.

    What is captured is kept as long as the graph, a copy of it or a launch may use it.
    """
    if is_capturing(stream):
        keep_captured(stream._handle, *things)
    else:
        keep_until(stream.record(), *things)


def follow(consumer: Stream, producer: Stream | None) -> None:
    """Let later work in `consumer` wait for the work that `producer` has, unless that goes into a graph."""
    if producer is None or int(producer._handle) == int(consumer._handle) or is_capturing(producer):
        return
    within(producer._context, consumer.wait, producer)


def deallocate(resource: MemoryResource, address: int, size: int, stream: Stream | None) -> None:
    """Free what nobody refers to any more: not into a capture, and without harm to one under way."""
    if stream is not None and stream in DEFAULT_STREAMS:
        # What is done in a default stream spoils the capture of another, unless the thread is relaxed.
        if is_capturing(stream):
            raise _captured_error()
        with Uncaptured():
            resource.deallocate(address, size, stream=stream)
        return
    if stream is not None and spoils_a_capture(stream, address):
        raise _captured_error()
    try:
        resource.deallocate(address, size, stream=stream)
    except CUDAError as error:
        refused = error.code == CUresult.CUDA_ERROR_INVALID_VALUE
        if refused and stream is not None and is_capturing(stream):
            raise _captured_error() from None
        raise


def _captured_error() -> CUDAError:
    return CUDAError(
        "a Buffer cannot be freed in a stream that is being captured",
        CUresult.CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
    )
