"""Groups: what a thread calls between ncclGroupStart and ncclGroupEnd."""

from __future__ import annotations

import inspect
import threading

from ..fresh_devices import forgotten
from ..refused import Refused
from ..streams.stream import Stream
from .communicator import Communicator
from .transfers import AnyCall, issue
from .waiting import Ended, drive, refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .waiting import Task


class _Group(threading.local):
    """The group that a thread has open."""

    def __init__(self) -> None:
        self.depth = 0
        self.calls: list[tuple[AnyCall, Stream]] = []
        self.tasks: list[tuple[Task, Communicator | None]] = []
        self.error: Refused | None = None


_group = _Group()


@forgotten
def _forget() -> None:
    """In every thread."""
    global _group
    _group = _Group()


def start() -> None:
    """ncclGroupStart."""
    _group.depth += 1


def end() -> None:
    """ncclGroupEnd. Raises Refused: what a call of the group was refused for, too."""
    if not _group.depth:
        raise Refused("ncclInvalidUsage", "ncclGroupEnd without ncclGroupStart")
    _group.depth -= 1
    if _group.depth:
        return
    calls, tasks, error = _group.calls, _group.tasks, _group.error
    _group.calls, _group.tasks, _group.error = [], [], None
    if error is not None:
        _discard(tasks)
        raise error
    _set_up(tasks)
    issue(calls)


def note(error: Refused) -> None:
    """A call was refused: in a group, none of the others will be made."""
    if _group.depth and _group.error is None:
        _group.error = error


def set_up(task: Task, comm: Communicator | None = None) -> None:
    """Make a communicator, now or at the end of the group. Raises Refused.

    comm: what is there of it before the task begins.
    """
    if _group.depth:
        _group.tasks.append((task, comm))
    else:
        _set_up([(task, comm)])


def _set_up(tasks: list[tuple[Task, Communicator | None]]) -> None:
    try:
        drive([task for task, _ in tasks], True, refused("ncclSystemError"))
    except Ended:
        raise Refused("ncclInvalidUsage", "the communicator was aborted, or its device has a fault") from None
    finally:
        _discard(tasks)


def _discard(tasks: list[tuple[Task, Communicator | None]]) -> None:
    """End tasks that have not ended, and the communicators of those that did not begin."""
    for task, comm in tasks:
        if comm is not None and inspect.getgeneratorstate(task) == inspect.GEN_CREATED:
            comm.end("it was not made")
        task.close()


def make(call: AnyCall, stream: Stream, waits: bool = True) -> None:
    """Make a call, now or at the end of the group. Raises Refused.

    waits: whether NCCL waits in it for the other ranks to make theirs.
    """
    if _group.depth:
        _group.calls.append((call, stream))
        return
    if waits:
        _alone(call.comm)
    issue([(call, stream)])


def _alone(comm: Communicator) -> None:
    """Raise Refused where a thread has made calls of two ranks outside of groups: NCCL waits for ever."""
    by_thread, me = comm.clique.by_thread, threading.get_ident()
    other = by_thread.setdefault(me, comm)
    if other is not comm and other.clique.ranks.get(other.rank) is other:
        raise Refused(
            "ncclInvalidUsage",
            f"this thread calls for {comm.name} after it has called for {other.name}, and not in one group: "
            "NCCL waits in the first call for the second; put both between ncclGroupStart and ncclGroupEnd",
        )
    by_thread[me] = comm
