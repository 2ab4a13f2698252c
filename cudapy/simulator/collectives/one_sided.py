"""One-sided calls: a rank writes to a window of another and signals it, which waits for signals.

A put leaves a copy of its data for its target, and does not wait. The target takes what has come, in the
order of each rank's calls, when its own calls run: a rank knows what it has when it has waited for a signal.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..addresses import Pointer, pointed, require
from ..library import provides
from ..memory.allocations import table
from ..memory.copies import bytes_at
from ..refused import Refused
from . import group, numbers
from .board import Header, Post, changed
from .checks import check_memory, invalid, stream_of, usable
from .communicator import Communicator
from .waiting import Wait

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .waiting import Task

DESCRIPTION = 16  # bytes of an ncclWaitSignalDesc_t


@dataclass(frozen=True)
class Put:
    """Data for a window of a rank, and a signal; or the signal alone. window: its number among the rank's."""

    comm: Communicator
    peer: int
    address: int = 0
    size: int = 0
    window: int = -1
    offset: int = 0

    def __str__(self) -> str:
        if self.window < 0:
            return f"signal to rank {self.peer}"
        return f"put of {self.size} bytes to window {self.window} of rank {self.peer}, offset {self.offset}"

    def task(self) -> Task:
        """Leave it for the target, which may be in another process."""
        comm = self.comm
        comm.history = str(self)
        data = bytes_at(self.address, self.size).copy() if self.size else None
        comm.put[self.peer] += 1
        key, header = (
            _key(comm.rank, self.peer, comm.put[self.peer]),
            Header("put", self.offset, str(self.window)),
        )
        comm.board.hand_over(key, comm.rank, self.peer, Post(header, data))
        yield from ()


@dataclass(frozen=True)
class WaitSignal:
    """Waits for so many signals of each rank."""

    comm: Communicator
    counts: dict[int, int]

    def __str__(self) -> str:
        return "ncclWaitSignal"

    def task(self) -> Task:
        """Wait for them, and take what has come before them."""
        comm = self.comm
        comm.history = str(self)

        def missing() -> list[int]:
            return [
                rank
                for rank, count in self.counts.items()
                if comm.signals[rank] + _coming(comm, rank) < count
            ]

        yield Wait(comm, str(self), missing, "signal it")
        take(comm, self.counts)
        for rank, count in self.counts.items():
            comm.signals[rank] -= count


def _key(source: int, target: int, number: int) -> str:
    return f"put from {source} to {target}, {number}"


def _coming(comm: Communicator, rank: int) -> int:
    """How many puts and signals of a rank have come and were not taken."""
    count = 0
    while _key(rank, comm.rank, comm.taken[rank] + count + 1) in comm.board.slots:
        count += 1
    return count


def take(comm: Communicator, signalled: dict[int, int] | None = None) -> None:
    """Write what has come to the windows of a rank, and count the signals.

    signalled: ranks that the rank has waited for, of whose puts it has to have the windows. Raises Refused.
    """
    board = comm.board
    for rank in range(comm.size):
        while True:
            key = _key(rank, comm.rank, comm.taken[rank] + 1)
            with changed:
                slot = board.slots.get(key)
                if slot is None:
                    break
                (_, offset, number, *_), data = slot.posts[rank]
                window = int(number)
                place = comm.window_at(window) if window >= 0 else None
                if window >= 0 and place is None and (signalled is None or rank not in signalled):
                    break  # it may be registered later
                del board.slots[key]
            if data is not None:
                _write(comm, rank, place, window, offset, data)
            comm.taken[rank] += 1
            comm.signals[rank] += 1


def _write(
    comm: Communicator, rank: int, place: tuple[int, int] | None, window: int, offset: int, data: Any
) -> None:
    what = f"rank {rank} puts {len(data)} bytes at offset {offset} of window {window} of {comm.name}"
    if place is None or offset + len(data) > place[1]:
        size = "is not registered" if place is None else f"has {place[1]} bytes"
        comm.note_error("ncclInvalidUsage", f"{what}, which {size}")
        raise Refused("CUDA_ERROR_LAUNCH_FAILED", f"{what}, which {size}")
    bytes_at(place[0] + offset, len(data))[:] = data
    table.written(place[0] + offset, len(data))


# -- Functions ----------------------------------------------------------------------------------------------


def _checked(comm: Communicator, peer: int, index: int, context: int, flags: int) -> None:
    if not 0 <= peer < comm.size:
        raise invalid(f"peer = {peer} is not a rank of {comm.size}")
    for name, value in (("sigIdx", index), ("ctx", context), ("flags", flags)):
        if value:
            raise invalid(f"{name} = {value}: the simulator has 0 alone")


@provides("nccl")
def ncclPutSignal(
    localbuff: int | None,
    count: int,
    datatype: int,
    peer: int,
    peerWin: int | None,
    peerWinOffset: int,
    sigIdx: int,
    ctx: int,
    flags: int,
    comm: int,
    stream: int | None,
) -> None:
    communicator = usable(comm)
    _checked(communicator, peer, sigIdx, ctx, flags)
    if datatype not in numbers.SIZES:
        raise invalid(f"{datatype} is not an ncclDataType_t")
    size = count * numbers.SIZES[datatype]  # type: ignore[index]
    window = communicator.window_number(peerWin or 0)
    if window is None:
        raise invalid(f"{peerWin} is not a window of this communicator")
    address = check_memory(communicator, localbuff, size, "localbuff") if size else 0
    call = Put(communicator, peer, address, size, window, peerWinOffset)
    group.make(call, stream_of(communicator, stream), waits=False)


@provides("nccl")
def ncclSignal(peer: int, sigIdx: int, ctx: int, flags: int, comm: int, stream: int | None) -> None:
    communicator = usable(comm)
    _checked(communicator, peer, sigIdx, ctx, flags)
    group.make(Put(communicator, peer), stream_of(communicator, stream), waits=False)


@provides("nccl")
def ncclWaitSignal(nDesc: int, signalDescs: Pointer, comm: int, stream: int | None) -> None:
    communicator = usable(comm)
    if nDesc < 0:
        raise invalid(f"nDesc = {nDesc} is negative")
    if nDesc:
        require(pointed(signalDescs), DESCRIPTION * nDesc, "signalDescs")
    counts: dict[int, int] = {}
    for description in (signalDescs[i] for i in range(nDesc)):
        _checked(communicator, description.peer, description.sigIdx, description.ctx, 0)
        if description.opCnt < 0:
            raise invalid(f"opCnt = {description.opCnt} is negative")
        counts[description.peer] = counts.get(description.peer, 0) + description.opCnt
    group.make(WaitSignal(communicator, counts), stream_of(communicator, stream), waits=False)
