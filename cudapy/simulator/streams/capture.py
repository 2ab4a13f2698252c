"""Graphs recorded from the work of streams."""

from __future__ import annotations

import ctypes
import itertools
import threading
from typing import Any

from ..._types.driver.enums import CUstreamCaptureMode as Mode
from ..._types.driver.enums import CUstreamCaptureStatus as Status
from ..._types.driver.structs import CUgraphEdgeData, CUmemPoolProps
from ..addresses import Pointer
from ..graphs.graph import Graph, Node, graph, list_of
from ..graphs.memory import memory_of
from ..library import provides
from ..memory.pool_memory import Alloc
from ..refused import Refused, invalid
from .capturing import active, exchange_mode
from .operations import Operation
from .stream import Stream, stream

_ids = itertools.count(1)


class Capture:
    """A capture, from `origin`; `follows` says for each stream in it which nodes its next work follows."""

    def __init__(
        self, origin: Stream, into: Graph | None, mode: Mode, follows: dict[Node, bytes] | None = None
    ) -> None:
        self.id = next(_ids)
        self.origin = origin
        self.graph = Graph() if into is None else into
        self.is_own = into is None  # a graph that nobody has seen yet
        self.mode = mode
        self.thread = threading.get_ident()
        self.is_valid = True
        self.follows: dict[Stream, dict[Node, bytes]] = {origin: dict(follows or {})}
        origin.capture = self
        active.append(self)
        self._array: Any = None
        self._data: Any = None

    def add(self, stream: Stream, operation: Operation) -> Node:
        """The work of a stream becomes a node."""
        if not self.is_valid:
            raise Refused("CUDA_ERROR_STREAM_CAPTURE_INVALIDATED", "the capture was invalidated before")
        node = Node(self.graph, operation, self.follows[stream])
        self.follows[stream] = {node: bytes(8)}
        return node

    def allocate(self, stream: Stream, size: int) -> int:
        """Memory that the graph will allocate; its address."""
        storage = memory_of(stream.context.device).allocate(size, self.graph)
        operation = Alloc(storage, size)
        operation.props = CUmemPoolProps(allocType=1)  # CU_MEM_ALLOCATION_TYPE_PINNED
        operation.props.location.type = 1  # CU_MEM_LOCATION_TYPE_DEVICE
        operation.props.location.id = stream.context.device.ordinal
        try:
            self.add(stream, operation)
        except Refused:
            operation.forget()
            raise
        return storage.address

    def here(self, stream: Stream) -> Point:
        """Where a stream is: what an event recorded in it stands for."""
        return Point(self, dict(self.follows[stream]))

    def join(self, stream: Stream, nodes: dict[Node, bytes]) -> None:
        """A stream waits for nodes, and so takes part."""
        if stream.capture is not None and stream.capture is not self:
            stream.capture.invalidate()
            self.invalidate()
            raise Refused("CUDA_ERROR_STREAM_CAPTURE_MERGE", "two captures cannot become one")
        stream.capture = self
        self.follows.setdefault(stream, {}).update(nodes)

    def invalidate(self) -> None:
        """It will come to nothing."""
        self.is_valid = False

    def leave(self) -> None:
        """No stream takes part any more."""
        active.remove(self)
        for member in self.follows:
            member.capture = None

    def lose(self, stream: Stream) -> None:
        """A stream is destroyed: with the first the capture ends; the work of another has to be joined."""
        if stream is self.origin:
            self.leave()
        else:
            stream.capture = None

    def fail(self, status: str, reason: str) -> Refused:
        """It has come to nothing, and so has its graph; what to raise."""
        if self.is_own:
            self.graph.forget()
        return Refused(status, reason)

    def end(self) -> Graph:
        """The graph. Raises Refused."""
        self.leave()
        if not self.is_valid:
            raise self.fail("CUDA_ERROR_STREAM_CAPTURE_INVALIDATED", "the capture was invalidated before")
        reached: set[Node] = set()
        todo = list(self.follows[self.origin])
        while todo:
            one = todo.pop()
            if one not in reached:
                reached.add(one)
                todo += one.after
        for member, nodes in self.follows.items():
            if any(one not in reached for one in nodes):
                raise self.fail(
                    "CUDA_ERROR_STREAM_CAPTURE_UNJOINED",
                    f"stream {member.handle:#x} took part, and the first does not wait for its last work",
                )
        return self.graph

    def arrays(self, stream: Stream) -> tuple[int, int, int]:
        """What the next work of a stream follows, as C arrays that live on: the nodes, data of the edges."""
        nodes = self.follows[stream]
        self._array = (ctypes.c_void_p * max(1, len(nodes)))(*[one.handle for one in nodes])
        self._data = (CUgraphEdgeData * max(1, len(nodes)))(
            *[CUgraphEdgeData.from_buffer_copy(data) for data in nodes.values()]
        )
        return ctypes.addressof(self._array), ctypes.addressof(self._data), len(nodes)


class Point:
    """A place in a capture."""

    def __init__(self, capture: Capture, nodes: dict[Node, bytes]) -> None:
        self.capture = capture
        self.nodes = nodes

    def join(self, stream: Stream) -> None:
        """A stream waits for it."""
        if self.capture not in active:
            raise Refused("CUDA_ERROR_CAPTURED_EVENT", "the event was recorded in a capture that has ended")
        self.capture.join(stream, self.nodes)


def _begin(stream: Stream, into: Graph | None, mode: int, follows: dict[Node, bytes] | None) -> None:
    if stream.is_legacy or stream.capture is not None:
        raise Refused(
            "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED" if stream.is_legacy else "CUDA_ERROR_ILLEGAL_STATE",
            "the legacy default stream cannot be captured, and no stream twice at once",
        )
    if not any(mode == known for known in Mode):
        raise invalid(f"{mode} is not a CUstreamCaptureMode")
    Capture(stream, into, Mode(mode), follows)


@provides("driver")
def cuStreamBeginCapture_v2(hStream: int, mode: int) -> None:
    _begin(stream(hStream), None, mode, None)


@provides("driver", prototype="CUresult cuStreamBeginCapture(CUstream hStream)")
def cuStreamBeginCapture(hStream: int) -> None:
    cuStreamBeginCapture_v2(hStream, int(Mode.CU_STREAM_CAPTURE_MODE_GLOBAL))


@provides("driver")
def cuStreamBeginCaptureToGraph(
    hStream: int,
    hGraph: int,
    dependencies: Pointer,
    dependencyData: Pointer | None,
    numDependencies: int,
    mode: int,
) -> None:
    into = graph(hGraph)
    _begin(stream(hStream), into, mode, list_of(dependencies, dependencyData, numDependencies, into))


@provides("driver")
def cuStreamEndCapture(hStream: int, phGraph: Pointer) -> None:
    in_stream = stream(hStream)
    if in_stream.capture is None:
        raise Refused("CUDA_ERROR_ILLEGAL_STATE", "the stream is not being captured")
    relaxed = in_stream.capture.mode == Mode.CU_STREAM_CAPTURE_MODE_RELAXED
    if not relaxed and in_stream.capture.thread != threading.get_ident():
        gone = in_stream.capture
        gone.leave()
        raise gone.fail("CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD", "another thread began the capture")
    if in_stream.capture.origin is not in_stream:
        in_stream.capture.invalidate()
        raise Refused("CUDA_ERROR_STREAM_CAPTURE_UNMATCHED", "the capture was begun on another stream")
    phGraph[0] = 0
    phGraph[0] = in_stream.capture.end().handle


@provides("driver")
def cuStreamIsCapturing(hStream: int) -> int:
    return int(_status(stream(hStream).capture))


def _status(capture: Capture | None) -> Status:
    if capture is None:
        return Status.CU_STREAM_CAPTURE_STATUS_NONE
    if capture.is_valid:
        return Status.CU_STREAM_CAPTURE_STATUS_ACTIVE
    return Status.CU_STREAM_CAPTURE_STATUS_INVALIDATED


@provides("driver")
def cuStreamGetCaptureInfo_v3(hStream: int) -> tuple[int, int, int, int | None, int | None, int]:
    in_stream = stream(hStream)
    capture = in_stream.capture  # once: the thread that captures may end it meanwhile
    status = _status(capture)
    if status != Status.CU_STREAM_CAPTURE_STATUS_ACTIVE:
        return int(status), 0, 0, None, None, 0
    nodes, data, count = capture.arrays(in_stream)
    return int(status), capture.id, capture.graph.handle, nodes, data, count


@provides("driver")
def cuStreamGetCaptureInfo_v2(hStream: int) -> tuple[int, int, int, int | None, int]:
    status, number, into, nodes, _, count = cuStreamGetCaptureInfo_v3(hStream)
    return status, number, into, nodes, count


@provides(
    "driver",
    prototype="CUresult cuStreamGetCaptureInfo(CUstream hStream, CUstreamCaptureStatus *captureStatus_out, "
    "cuuint64_t *id_out)",
)
def cuStreamGetCaptureInfo(hStream: int) -> tuple[int, int]:
    return cuStreamGetCaptureInfo_v3(hStream)[:2]


@provides("driver")
def cuStreamUpdateCaptureDependencies_v2(
    hStream: int, dependencies: Pointer, dependencyData: Pointer | None, numDependencies: int, flags: int
) -> None:
    in_stream = stream(hStream)
    if in_stream.capture is None:
        raise Refused("CUDA_ERROR_ILLEGAL_STATE", "the stream is not being captured")
    if flags not in (0, 1):
        raise invalid(f"{flags} is not a CUstreamUpdateCaptureDependencies_flags")
    nodes = list_of(dependencies, dependencyData, numDependencies, in_stream.capture.graph)
    if flags:  # CU_STREAM_SET_CAPTURE_DEPENDENCIES
        in_stream.capture.follows[in_stream] = {}
    in_stream.capture.follows[in_stream].update(nodes)


@provides("driver")
def cuStreamUpdateCaptureDependencies(
    hStream: int, dependencies: Pointer, numDependencies: int, flags: int
) -> None:
    cuStreamUpdateCaptureDependencies_v2(hStream, dependencies, None, numDependencies, flags)


@provides("driver")
def cuThreadExchangeStreamCaptureMode(mode: Pointer) -> None:
    if not any(mode[0] == known for known in Mode):
        raise invalid(f"{mode[0]} is not a CUstreamCaptureMode")
    mode[0] = int(exchange_mode(Mode(mode[0])))
