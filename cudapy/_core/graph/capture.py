"""What is recorded between the beginning and the end of a capture."""

from collections.abc import Callable
from functools import partial
from typing import Any

from ..._bindings.errors import CUDAError
from ...driver import (
    CUgraph,
    CUgraphNode,
    CUresult,
    CUstream,
    CUstreamCaptureMode,
    CUstreamUpdateCaptureDependencies_flags,
    checked,
)
from ..context.current import RelaxedCaptureMode, owning, with_context
from ..ownership.captures import captures, is_invalidated
from ..ownership.deferred import deferred
from ..ownership.graph_references import GraphOwnership
from ..ownership.owned import Ownership
from ..streams.stream import Stream, StreamOptions
from .hierarchy import GraphHierarchy

MODES = {
    "global": CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_GLOBAL,
    "thread_local": CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_THREAD_LOCAL,
    "relaxed": CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED,
}
_WHY = {
    CUresult.CUDA_ERROR_STREAM_CAPTURE_INVALIDATED: (
        "Something was done meanwhile that no graph can have, and raised an exception then: waiting for the "
        "stream, or for an event recorded in it; work in the legacy default stream; in the modes "
        '"global" and "thread_local", allocating or freeing as well, making or trimming a pool, and making a '
        "graph that can be launched."
    ),
}


class Capture:
    """A capture in `stream`, into a new graph, or into one that is part of `hierarchy`.

    It ends with `end`, or with the last reference to it, which its builder has: no stream is left capturing.
    Neither what was recorded nor what has to wait for its end refers to it.
    """

    def __init__(
        self, stream: Stream, mode: str, hierarchy: GraphHierarchy | None, into: CUgraph | None
    ) -> None:
        try:
            how = MODES[mode]
        except (KeyError, TypeError):
            raise ValueError(f"mode = {mode!r} is none of {', '.join(MODES)}") from None
        self.stream = stream = (
            stream._for_deallocation()
        )  # which can be closed, and has to be ended all the same
        self.context = int(stream.context._handle)
        self.open_forks = 0
        self.streams = [stream]  # those that fork too: to destroy one now would spoil the capture
        self._cell = CUgraph()  # for the graph, once that is there
        owned = self._cell if into is None else CUgraph()  # one that is part of another goes with that
        self._captured = captured = GraphOwnership(owned)
        given_up = CUstream(stream._handle.value), self.streams, self._cell, captured
        self._abandoned = Ownership(_abandon, *given_up)
        self._inside = captured.inside if hierarchy is None else hierarchy.inside
        self._number = 0
        try:
            if into is None:
                captures.begin(captured, "cuStreamBeginCapture", stream._handle, how)
            else:
                captures.begin(
                    captured, "cuStreamBeginCaptureToGraph", stream._handle, into, None, None, 0, how
                )
            _, number, self.graph, *_ = checked.cuStreamGetCaptureInfo(stream._handle)
            self.hierarchy = hierarchy or GraphHierarchy(self.graph, self.context, captured, True)
            self._number = int(number)
            captured.begun(self._number, self.hierarchy.references if into is None else None)
            if into is not None:
                self._inside[self._number] = partial(_abandon, *given_up)
        except BaseException:
            self._abandoned.close()
            raise

    @property
    def is_over(self) -> bool:
        """Whether it has ended, or was abandoned."""
        return not captures.is_begun(self._captured)

    def fork(self, stream: Stream) -> Stream:
        """A new stream whose work follows what `stream` has now."""
        with RelaxedCaptureMode():
            fork = with_context(self.context, Stream, StreamOptions(priority=stream.priority))
        fork.wait(stream)
        self.streams.append(fork)
        self.open_forks += 1
        return fork

    def insert(self, stream: Stream, add: Callable[..., object], *args: Any) -> CUgraphNode:
        """The node that `add(cell, graph, nodes before, count, *args)` writes to `cell`, next in `stream`."""
        _, _, graph, before, edges, count = checked.cuStreamGetCaptureInfo(stream._handle)
        node = CUgraphNode()
        try:
            add(node, graph, None, 0, *args)
            if any(map(any, map(bytes, edges))):
                checked.cuGraphAddDependencies(graph, before, [node] * count, edges, count)
            elif before:
                checked.cuGraphAddDependencies(graph, before, [node] * count, count)
            replace = CUstreamUpdateCaptureDependencies_flags.CU_STREAM_SET_CAPTURE_DEPENDENCIES
            checked.cuStreamUpdateCaptureDependencies(stream._handle, [node], 1, replace)
            self.hierarchy.added(node)
            return node
        except BaseException:  # it would run in no order
            self.hierarchy.take_back(node, {})
            raise

    def end(self) -> GraphHierarchy:
        """What was captured. Raises CUDAError that says why it is not a graph; the capture is over then."""
        failed = None
        if self.open_forks or is_invalidated(self.stream._handle):  # this destroys the graph
            self._captured.end_inside()
        try:
            owning.cuStreamEndCapture(self._cell, self.stream._handle)
        except CUDAError as error:
            failed = error
        if failed is not None:
            self._captured.drop(failed)
        elif self.hierarchy.root == self.graph:
            self.hierarchy.references.end_recording()
        captures.end(self._captured)
        self._inside.pop(self._number, None)
        self._abandoned.forget()  # interrupted before, it is left to that
        if deferred.after_capture:
            deferred.retry()
        if failed is not None:
            status = CUresult(failed.code)
            raise CUDAError(f"{failed} {self._why(status)}".rstrip(), status, "cuStreamEndCapture")
        return self.hierarchy

    def _why(self, status: CUresult) -> str:
        if status == CUresult.CUDA_ERROR_STREAM_CAPTURE_UNJOINED and self.open_forks:
            return (
                f"{self.open_forks} of the builders that split() made were not joined: call "
                "GraphBuilder.join() with them before end_building()."
            )
        return _WHY.get(status, "")

    def abandon(self) -> None:
        """End it, and drop the graph."""
        if not self.is_over:
            self._abandoned.close()
            if deferred.after_capture:
                deferred.retry()


def _abandon(handle: CUstream, streams: list[Stream], cell: CUgraph, captured: GraphOwnership) -> None:
    """streams: what must not be destroyed before; cell: where the graph goes, of which `captured` is told.

    The graph is destroyed now, though memory that it allocates refers to it: that will never be there.
    """
    if len(streams) > 1 or is_invalidated(handle):  # the end destroys the graph
        captured.end_inside()
    failure = None
    if captures.is_begun(captured) and not cell.value:  # else it was interrupted before or behind this
        try:
            owning.cuStreamEndCapture(cell, handle)
        except CUDAError as error:
            failure = error
    if not captured.is_dropped:
        captured.drop(failure)
    captures.end(captured)
    captured.close()
    handle.value = 0
