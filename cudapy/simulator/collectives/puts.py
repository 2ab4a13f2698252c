"""What one-sided calls do: leave data for a rank, wait for signals, and take what has come."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..memory.allocations import table
from ..memory.copies import bytes_at
from ..refused import Refused
from .board import Header, Post, changed
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
