"""Communicators and the ids that their ranks find each other by."""

from __future__ import annotations

import math
import os
import threading
from collections import Counter

from ..devices.context import Context
from ..fresh_devices import forgotten
from ..handles import Object, every
from ..refused import Refused
from ..streams.work import Work
from .board import Board, Header, changed, cliques, issued
from .relay import close, connect, listen
from .waiting import Wait

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .transfers import Together
    from .waiting import Task

MAGIC = b"cudapyC1"
ID_SIZE, KEY_SIZE = 128, 44


class Clique:
    """The ranks of a communicator that are in this process, and what all of them tell each other."""

    def __init__(self, key: bytes, size: int) -> None:
        self.key = key
        self.size = size
        self.board = Board(size)
        self.ranks: dict[int, Communicator] = {}
        self.by_thread: dict[int, Communicator] = {}  # who made calls outside of groups


_last_error = [""]


def last_error() -> str:
    """What ncclGetLastError says."""
    return _last_error[0]


def note_last_error(text: str) -> None:
    """What it is to say from now on."""
    _last_error[0] = text


def unique_id() -> bytes:
    """A new id: a magic word, this process, a name and a secret for those of other processes."""
    key = MAGIC + os.getpid().to_bytes(4, "little") + os.urandom(32)
    listen(key)
    return key.ljust(ID_SIZE, b"\0")


def join(key: bytes, size: int, rank: int, context: Context) -> Communicator:
    """Rank `rank` of the communicator with this id. Raises Refused."""
    if not key.startswith(MAGIC):
        raise Refused("ncclInvalidArgument", "the id is none of ncclGetUniqueId's on the simulator")
    if not 0 <= rank < size:
        raise Refused("ncclInvalidArgument", f"rank {rank} is outside 0 .. {size - 1}")
    with changed:
        clique = cliques.get(key)
        if clique is None:
            clique = cliques[key] = Clique(key, size)
        if clique.size != size:
            raise Refused(
                "ncclInvalidArgument", f"another rank of the id said {clique.size} ranks, not {size}"
            )
        if rank in clique.ranks:
            raise Refused("ncclInvalidUsage", f"rank {rank} of this id is there already")
        for other in clique.ranks.values():
            if other.context.device is context.device:
                raise Refused(
                    "ncclInvalidUsage",
                    f"ranks {other.rank} and {rank} are both on device {context.device.ordinal}: NCCL has "
                    "one rank a device",
                )
        comm = Communicator(clique, rank, context)
        clique.ranks[rank] = comm
        clique.board.local.add(rank)
    return comm


class Communicator(Object):
    """One rank. `error` is what ncclCommGetAsyncError says: a status and a report."""

    noun = "communicator"

    def __init__(self, clique: Clique, rank: int, context: Context) -> None:
        super().__init__()
        self.clique = clique
        self.board = clique.board
        self.rank = rank
        self.size = clique.size
        self.context = context
        self.is_aborted = False
        self.error: tuple[str, str] | None = None
        self.asked = -math.inf  # when the program last asked for it
        self.is_told = False  # whether it was told of one
        self.lock = threading.Lock()  # one call at a time has the communicator
        self.collectives = self.splits = 0
        self.sent: Counter[int] = Counter()
        self.received: Counter[int] = Counter()
        self.last: Work | None = None
        self.is_met = False  # whether all ranks have been made
        self.is_captured = False  # whether a graph has calls of it
        self.history = "nothing yet"
        self.operators: dict[int, tuple[int, bytes | int]] = {}  # number to type and scalar, or its address
        self.windows: dict[int, int] = {}  # number to address
        self.shared_windows: list[int] = []  # the numbers of those that all ranks register, in their order
        self.window_sizes: dict[int, int] = {}
        self.put: Counter[int] = Counter()  # puts and signals to each rank
        self.taken: Counter[int] = Counter()  # of each rank
        self.signals: Counter[int] = Counter()  # of each rank, not waited for yet
        self.suspensions = 0
        self.is_suspended = False
        self.grow_key: bytes | None = None  # of the id for new ranks, until they have come
        self.grows = 0

    @property
    def name(self) -> str:
        """What a report calls it."""
        return f"rank {self.rank} of {self.size} (device {self.context.device.ordinal})"

    def window_number(self, window: int) -> int | None:
        """Which of the windows of all ranks this is; they register them in the same order."""
        return self.shared_windows.index(window) if window in self.shared_windows else None

    def window_at(self, number: int) -> tuple[int, int] | None:
        """The address and size of the window that is the number-th on all ranks."""
        if number >= len(self.shared_windows):
            return None
        window = self.shared_windows[number]
        return (self.windows[window], self.window_sizes[window]) if window in self.windows else None

    def note_error(self, status: str, report: str) -> None:
        """What goes wrong in work that was queued."""
        if self.error is None:
            self.error = status, report
            note_last_error(report)

    def about(self, rank: int) -> str:
        """What is known of another rank, for a report."""
        gone = self.board.gone.get(rank)
        if gone is not None:
            return f"rank {rank} will not come: {gone}"
        other = self.clique.ranks.get(rank)
        if other is None:
            return f"rank {rank} is in another process" + ("" if self.is_met else ", or was not made")
        text = f"rank {rank} has made {other.collectives} collectives, the last: {other.history}"
        queued = other.queued()
        held = [] if queued is None else other.held_up_by(queued)
        if held:
            names = dict.fromkeys(comm.name for op in held for comm in op.comms)
            text += "; its next call stands behind one of " + ", ".join(names)
        return text

    def queued(self) -> Together | None:
        """Its next call, if that is in a stream and does not run."""
        return next((op for op in issued if self in op.comms and not op.is_running), None)

    def held_up_by(self, queued: Together) -> list[Together]:
        """The calls that run and stand before its next one, in its stream for one."""
        before = issued[: issued.index(queued)]
        held = [op for op in before if op.stream is queued.stream or set(op.comms) & set(queued.comms)]
        return [op for op in held if op.is_running]

    def pending(self) -> list[Together]:
        """Its calls that are not done."""
        with changed:
            return [op for op in issued if self in op.comms]

    def end(self, why: str) -> None:
        """It is no more."""
        with changed:
            self.forget()
            self.clique.ranks.pop(self.rank, None)
        self.board.end(self.rank, why)
        if not self.clique.ranks:
            close(self.clique)
            cliques.pop(self.clique.key, None)


@forgotten
def _forget() -> None:
    for comm in every(Communicator):
        comm.is_aborted = True
        comm.end("its process has reset its devices")


def meeting(comm: Communicator) -> Task:
    """Wait until all ranks of a communicator have been made."""
    connect(comm.clique)
    everybody = range(comm.size)
    header = Header(f"ncclCommInitRank of {comm.size} ranks")
    comm.board.post("join", comm.rank, header)
    yield Wait(comm, "ncclCommInitRank", lambda: comm.board.missing("join", everybody), "be made")
    with changed:
        posts = comm.board.slot("join").posts
        different = [rank for rank, post in posts.items() if post.header != header]
    if different:
        raise Refused("ncclInvalidArgument", f"rank {different[0]} said another number of ranks")
    comm.board.has_read("join", comm.rank)
    yield Wait(comm, "ncclCommInitRank", lambda: comm.board.unread("join", everybody), "be made")
    comm.board.leave("join", comm.rank, everybody)
    comm.is_met = True
