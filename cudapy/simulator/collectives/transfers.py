"""Collectives, sends and receives: what each rank gives, what it gets, and their place in a stream."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ..memory.allocations import table
from ..memory.copies import bytes_at
from ..refused import Refused
from ..streams.capturing import implicit
from ..streams.faults import learn_here, work_here
from ..streams.operations import Operation
from ..streams.stream import Stream
from ..streams.work import Work
from . import numbers
from .board import Header, Post, changed, issued
from .communicator import Communicator
from .puts import take
from .waiting import Ended, Wait, drive

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..engine import U8
    from .waiting import Task


class AnyCall(Protocol):
    """A call of a rank, of any kind."""

    @property
    def comm(self) -> Communicator: ...

    def task(self) -> Task: ...


@dataclass(frozen=True)
class Call:
    """A call of one rank. send, recv: addresses; count: of elements, as NCCL counts them; peer: or root."""

    comm: Communicator
    kind: str
    send: int
    recv: int
    count: int
    data_type: int
    operator: str = ""
    peer: int = -1
    scalar: bytes | int | None = None  # of a premultiplied sum: its bytes, or their address

    @property
    def unit(self) -> int:
        """The bytes of `count` elements."""
        return self.count * numbers.SIZES[self.data_type]  # type: ignore[index]

    @property
    def given(self) -> int:
        """How many bytes the rank reads."""
        if (self.kind in ("broadcast", "scatter") and self.comm.rank != self.peer) or self.kind == "recv":
            return 0
        return self.unit * (self.comm.size if self.kind in ("reduce_scatter", "all_to_all", "scatter") else 1)

    @property
    def taken(self) -> int:
        """How many bytes the rank writes."""
        if (self.kind in ("reduce", "gather") and self.comm.rank != self.peer) or self.kind == "send":
            return 0
        return self.unit * (self.comm.size if self.kind in ("all_gather", "all_to_all", "gather") else 1)

    @property
    def header(self) -> Header:
        """What has to be the same on every rank."""
        kind = "send and receive" if self.kind in ("send", "recv") else self.kind
        root = self.peer if self.kind in ("broadcast", "reduce", "gather", "scatter") else -1
        return Header(kind, self.count, numbers.name_of(self.data_type), self.operator, root)

    def __str__(self) -> str:
        way = {"send": f" to rank {self.peer}", "recv": f" from rank {self.peer}"}.get(self.kind, "")
        return str(self.header).replace("send and receive", self.kind) + way

    def payload(self) -> U8 | None:
        """What the others need of this rank: an array of bytes, or None."""
        if not self.given:
            return None
        data = bytes_at(self.send, self.given)
        if self.scalar is None:
            return data
        size = numbers.SIZES[self.data_type]  # type: ignore[index]
        scalar = self.scalar if isinstance(self.scalar, bytes) else bytes(bytes_at(self.scalar, size))
        return numbers.scaled(data, self.data_type, np.frombuffer(scalar, np.uint8))

    def result(self, posts: dict[int, Post]) -> U8 | None:
        """What this rank gets: an array of bytes, or None."""
        if not self.taken:
            return None
        size, unit = self.comm.size, self.unit
        mine = slice(self.comm.rank * unit, (self.comm.rank + 1) * unit)
        if self.kind in ("all_reduce", "reduce", "reduce_scatter"):
            data = [posts[rank].data for rank in range(size)]
            if self.kind == "reduce_scatter":
                data = [part[mine] for part in data]
            return numbers.reduced(data, self.data_type, self.operator)
        if self.kind in ("broadcast", "scatter"):
            data_of_root: U8 = posts[self.peer].data
            return data_of_root.copy() if self.kind == "broadcast" else data_of_root[mine].copy()
        if self.kind == "all_to_all":
            return np.concatenate([posts[rank].data[mine] for rank in range(size)])
        return np.concatenate([posts[rank].data for rank in range(size)])

    def write(self, result: U8 | None) -> None:
        """Put it into the rank's memory."""
        if result is not None:
            bytes_at(self.recv, len(result))[:] = result
            table.written(self.recv, len(result))

    def task(self) -> Task:
        """Do it, with the others."""
        return {"send": _sent, "recv": _received}.get(self.kind, _together)(self)


def _together(call: Call) -> Task:
    """A collective."""
    comm, board, everybody = call.comm, call.comm.board, range(call.comm.size)
    comm.collectives += 1
    key, header = f"collective {comm.collectives}", call.header
    comm.history = str(call)
    board.post(key, comm.rank, header, call.payload())

    def missing() -> list[int]:
        posts = dict(board.slot(key).posts)  # others may come meanwhile
        for rank, post in posts.items():
            if post.header != header:
                raise _mismatch(comm, comm.collectives, header, rank, post.header)
        return board.missing(key, everybody)

    yield Wait(comm, str(call), missing, "make the same call")
    with changed:
        posts = dict(board.slot(key).posts)
    result = call.result(posts)
    del posts
    board.has_read(key, comm.rank)
    yield Wait(comm, str(call), lambda: board.unread(key, everybody), "read what it needs")
    call.write(result)
    board.leave(key, comm.rank, everybody)


def _mismatch(comm: Communicator, number: int, mine: Header, rank: int, other: Header) -> Refused:
    report = (
        f"the ranks of a communicator make different calls\n"
        f"  {comm.name}: collective {number} is {mine}\n"
        f"  rank {rank} of {comm.size}: collective {number} is {other}"
    )
    comm.note_error("ncclInvalidUsage", report)
    return Refused("CUDA_ERROR_LAUNCH_FAILED", report)


def _pair(call: Call, source: int, target: int, number: int) -> tuple[str, int, int]:
    """The slot of a send and its receive, and how the two of them are called there."""
    return f"from {source} to {target}, {number}", source, call.comm.size + target


def _differ(call: Call, key: str, other: int) -> None:
    """Raise Refused if the two mean different things."""
    post = call.comm.board.slot(key).posts.get(other)
    if post is None or post.header == call.header:
        return
    sends = call.kind == "send"
    report = (
        f"a send and its receive differ\n  {call.comm.name}: {call}\n"
        f"  rank {call.peer} of {call.comm.size}: {str(post.header).replace('send and receive', '').strip()} "
        f"{'received' if sends else 'sent'}"
    )
    call.comm.note_error("ncclInvalidUsage", report)
    raise Refused("CUDA_ERROR_LAUNCH_FAILED", report)


def _sent(call: Call) -> Task:
    comm, board = call.comm, call.comm.board
    comm.sent[call.peer] += 1
    key, me, other = _pair(call, comm.rank, call.peer, comm.sent[call.peer])
    comm.history = str(call)
    board.post(key, me, call.header, call.payload(), (comm.rank, call.peer))

    def missing() -> list[int]:
        _differ(call, key, other)
        return [rank % comm.size for rank in board.unread(key, [other])]

    yield Wait(comm, str(call), missing, "receive it")
    board.leave(key, me, (me, other))


def _received(call: Call) -> Task:
    comm, board = call.comm, call.comm.board
    comm.received[call.peer] += 1
    key, other, me = _pair(call, call.peer, comm.rank, comm.received[call.peer])
    comm.history = str(call)
    board.post(key, me, call.header, ranks=(comm.rank, call.peer))

    def missing() -> list[int]:
        _differ(call, key, other)
        return board.missing(key, [other])

    yield Wait(comm, str(call), missing, "send it")
    with changed:
        data = board.slot(key).posts[other].data
    result = data.copy() if data is not None else None
    board.has_read(key, me, (comm.rank, call.peer))
    call.write(result)
    board.leave(key, me, (me, other))


class Together(Operation):
    """Calls that are one in a stream, or a node of a graph: those of a group."""

    soon = False

    def __init__(self, calls: list[AnyCall], stream: Stream) -> None:
        self.calls = calls
        self.stream = stream
        self.context = stream.context
        self.comms = list(dict.fromkeys(call.comm for call in calls))
        self.work: Work | None = None  # that does it now
        self.since = time.monotonic()

    @property
    def is_running(self) -> bool:
        return self.work is not None

    def run(self) -> None:
        locked = sorted(self.comms, key=lambda comm: comm.handle)
        for comm in locked:
            comm.lock.acquire()
        with changed:
            self.work = work_here()
            if self not in issued:  # a node of a graph
                issued.append(self)
        try:
            for comm in self.comms:
                take(comm)
            drive([call.task() for call in self.calls], False, self._fail)
            learn_here()
        except Ended:
            pass
        except Refused as refused:
            for comm in self.comms:
                comm.board.end(comm.rank, f"its device has a fault: {refused.reason.splitlines()[0]}")
            raise
        finally:
            with changed:
                self.work = None
                issued.remove(self)
            for comm in locked:
                comm.lock.release()

    def _fail(self, report: str) -> Exception:
        for comm in self.comms:
            comm.note_error("ncclTimeout", report)
        return Refused("CUDA_ERROR_LAUNCH_FAILED", report)

    def details(self) -> list[str]:
        return [f"{call.comm.name}: {call}" for call in self.calls]


def issue(calls: list[tuple[AnyCall, Stream]]) -> None:
    """Queue the calls of a group, or make nodes of them."""
    captured: dict[object, list[tuple[AnyCall, Stream]]] = {}
    queued: dict[object, list[tuple[AnyCall, Stream]]] = {}
    for call, stream in calls:
        if stream.capture is not None:
            captured.setdefault(stream.capture, []).append((call, stream))
        else:
            if stream.is_legacy:
                implicit(stream.context)
            queued.setdefault(call.comm, []).append((call, stream))
    for capture, members in captured.items():
        _capture(capture, members)
    for members in queued.values():
        _queue(members)


def _capture(capture: Any, members: list[tuple[AnyCall, Stream]]) -> None:
    streams = list(dict.fromkeys(stream for _, stream in members))
    first, *others = streams
    for call, _ in members:
        call.comm.is_captured = True
    for other in others:
        capture.join(first, capture.follows[other])
    node = capture.add(first, Together([call for call, _ in members], first))
    for other in others:
        capture.follows[other] = {node: bytes(8)}


def _queue(members: list[tuple[AnyCall, Stream]]) -> None:
    streams = list(dict.fromkeys(member for _, member in members))
    first, *others = streams
    comm = members[0][0].comm
    operation = Together([call for call, _ in members], first)
    after = [last for stream in others if (last := stream.queue.newest) is not None]
    if comm.last is not None:
        after.append(comm.last)
    with changed:
        issued.append(operation)
    work = comm.last = first.submit(operation.run, after)
    for other in others:
        other.submit(None, [work], soon=True)
