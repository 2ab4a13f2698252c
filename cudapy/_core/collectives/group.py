"""Groups: calls that NCCL is given together, of one communicator or of several.

    with group():
        for comm, array in zip(comms, arrays):
            comm.all_reduce(array)

What is called in the block is checked at once and issued at its end, between ncclGroupStart and ncclGroupEnd.
If the block raises, nothing is issued.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import TracebackType
from typing import Any, NamedTuple

from ... import nccl
from ..._bindings.errors import CUDAError
from .failure import failure


class Call(NamedTuple):
    """One call of NCCL. do: makes it, and returns its status; after: does what comes once it is issued; kept:
    what has to live until then.
    """

    do: Callable[[], Any]
    where: Callable[[], str]  # which rank does what, for a message
    rank: int
    size: int
    peer: int | None
    function: str
    after: Callable[[], None] | None = None
    kept: object = None

    def run(self) -> None:
        """Make it. Raises CollectiveError."""
        try:
            status = self.do()
        except CUDAError as error:
            raise failure(self.where(), error, self.rank, self.size, self.peer) from None
        if status and status != nccl.libnccl.pending:
            raise self.failed(status)

    def failed(self, status: Any) -> Exception:
        """The exception for a status."""
        error = nccl.libnccl.error(self.function, status, {})
        return failure(self.where(), error, self.rank, self.size, self.peer)


class _Open(threading.local):
    """The calls of the group that this thread has open; None: it has none."""

    calls: list[Call] | None = None


_open = _Open()


def is_open() -> bool:
    """Whether this thread is in a group."""
    return _open.calls is not None


def issue(call: Call) -> None:
    """Make a call, now or at the end of the group that this thread has open."""
    if _open.calls is not None:
        _open.calls.append(call)
        return
    call.run()
    if call.after is not None:
        call.after()


class group:
    """`with group():` gives NCCL the calls of the block together, at its end. Groups can be nested.

    Calls of several communicators of one thread have to be in one group, else the first waits for what the
    thread has yet to call; so do sends and receives that are to be under way at the same time. What comes
    behind a collective in its stream must be queued after the block. Raises CollectiveError at the end.
    Source: ncclGroupStart, ncclGroupEnd.
    """

    __slots__ = ("_is_outermost",)

    def __enter__(self) -> group:
        self._is_outermost = _open.calls is None
        if self._is_outermost:
            _open.calls = []
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self._is_outermost:
            return
        calls, _open.calls = _open.calls or [], None
        if kind is None and calls:
            _run(calls)


def _run(calls: list[Call]) -> None:
    (status,) = nccl.ncclGroupStart()
    if status:
        raise calls[0]._replace(function="ncclGroupStart").failed(status)
    issued = 0
    try:
        for call in calls:
            call.run()
            issued += 1
    except BaseException as error:
        if not isinstance(error, Exception):
            # Interrupted: a call that is wrong keeps the others from being issued.
            nccl.ncclAllReduce(None, None, 0, 0, 0, None, None)
        nccl.ncclGroupEnd()
        raise
    (status,) = nccl.ncclGroupEnd()
    if status and status != nccl.libnccl.pending:
        first = calls[0]
        raise failure(
            f"a group of {len(calls)} calls, the first of which is {first.where()}",
            nccl.libnccl.error("ncclGroupEnd", status, {}),
            first.rank,
            first.size,
        )
    for call in calls:
        if call.after is not None:
            call.after()
