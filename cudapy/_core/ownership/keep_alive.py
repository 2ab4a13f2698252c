"""Objects that CUDA uses after the call that it is told of them: kept alive as long as it may use them.

That is until the work of a stream is done, or, where the work goes into a graph, as long as the graph, a copy
of it or a launch may run it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ... import driver
from ..._bindings.errors import CUDAError
from ...driver import CUstream, checked
from .captures import is_capturing
from .deferred import deferred
from .graph_references import is_builder, retain_in_graph, with_owners

if TYPE_CHECKING:
    from ..streams.stream import Stream


def keep_alive_for_work(stream: Stream, *objects: object) -> None:
    """Keep `objects` alive until the work that `stream` has is done; what is captured, for its graph."""
    if is_capturing(stream):
        keep_alive_for_capture(stream._handle, *objects)
        return
    try:
        done = stream.record()
    except CUDAError:  # nothing tells when the work has ended that uses them: wait for it now
        driver.cuStreamSynchronize(stream._handle)
        raise
    deferred.keep_alive_until(done, *objects)


def keep_alive_for_graph(builder: object, *objects: object) -> bool:
    """Keep `objects` alive for the graph that a GraphBuilder makes; False for what is not a GraphBuilder."""
    if not is_builder(builder):
        return False
    builder._keep_alive(*objects)
    return True


def keep_alive_for_capture(stream: CUstream, *objects: object) -> None:
    """Keep `objects` alive for the graph that `stream` is captured into, whoever began the capture."""
    graph = checked.cuStreamGetCaptureInfo(stream)[2]
    if int(graph):
        retain_in_graph(graph, with_owners(objects))
