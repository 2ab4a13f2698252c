"""What the ranks of a communicator tell each other: who has come to which call, with what.

A call of several ranks is a slot of the board. A rank posts what it calls and the data that others need; once
it has read theirs, it says so; and when all have read, it goes on. So a rank's memory is as it was until all
have what they need of it.
"""

from __future__ import annotations

import threading
from collections import Counter
from typing import Any, NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable

    from .communicator import Clique, Communicator
    from .transfers import Together
    from .waiting import Wait

changed = threading.Condition(threading.RLock())
"""Guards all boards and the lists below; notified whenever something is posted."""
cliques: dict[bytes, Clique] = {}
"""By their ids."""
issued: list[Together] = []
"""Calls that are queued or run, in the order of the calls."""
waits: list[Wait] = []
"""All waits there are, of all threads."""


class Header(NamedTuple):
    """What a rank calls: all that has to be the same on every rank."""

    kind: str
    elements: int = 0
    type: str = ""
    operator: str = ""
    root: int = -1

    def __str__(self) -> str:
        text = self.kind
        if self.type:
            text += f" of {self.elements} {self.type}"
        if self.operator:
            text += f", {self.operator}"
        return text + (f", root {self.root}" if self.root >= 0 else "")


class Post(NamedTuple):
    """What a rank has posted. data: an array of bytes, or None."""

    header: Header
    data: Any


class Slot:
    """What there is of one call."""

    def __init__(self) -> None:
        self.posts: dict[int, Post] = {}
        self.read: set[int] = set()
        self.left: set[int] = set()


class Board:
    """The slots of a communicator, in one process. `tell`: passes what this process posts on to others."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.slots: dict[Hashable, Slot] = {}
        self.gone: dict[int, str] = {}  # ranks that will not come any more, and why
        self.local: set[int] = set()
        self.tell: Callable[..., None] | None = None
        self.said: Counter[int] = Counter()  # messages of the ranks here that other processes get
        self.heard: Counter[int] = Counter()  # those of other processes' ranks that have come

    def slot(self, key: Hashable) -> Slot:
        """The slot of a call; for those that have `changed`."""
        return self.slots.setdefault(key, Slot())

    def post(
        self, key: Hashable, rank: int, header: Header, data: Any = None, ranks: Iterable[int] | None = None
    ) -> None:
        """A rank has come to a call. ranks: whom it concerns; None: all."""
        with changed:
            self.said[rank] += self.tell is not None
            self.note(key, rank, Post(header, data))
        if self.tell is not None:
            self.tell("post", key, rank, header, data, ranks)

    def hand_over(self, key: Hashable, rank: int, target: int, post: Post) -> None:
        """Leave something for one rank, which takes it when it comes to that; nobody says that it has."""
        if target in self.local:
            self.note(key, rank, post)
        elif self.tell is not None:
            with changed:
                self.said[rank] += 1
            self.tell("put", key, rank, post.header, post.data, (target,))

    def note(self, key: Hashable, rank: int, post: Post) -> None:
        """The same, in this process alone."""
        with changed:
            self.slot(key).posts[rank] = post
            changed.notify_all()

    def has_read(self, key: Hashable, rank: int, ranks: Iterable[int] | None = None) -> None:
        """A rank has what it needs of the others. ranks: as for `post`."""
        with changed:
            self.said[rank] += self.tell is not None
            self.note_read(key, rank)
        if self.tell is not None:
            self.tell("read", key, rank, ranks=ranks)

    def note_read(self, key: Hashable, rank: int) -> None:
        """The same, in this process alone."""
        with changed:
            self.slot(key).read.add(rank)
            changed.notify_all()

    def missing(self, key: Hashable, ranks: Iterable[int]) -> list[int]:
        """The ranks that have not come."""
        posts = self.slot(key).posts
        return [rank for rank in ranks if rank not in posts]

    def unread(self, key: Hashable, ranks: Iterable[int]) -> list[int]:
        """The ranks that have not read."""
        read = self.slot(key).read
        return [rank for rank in ranks if rank not in read]

    def leave(self, key: Hashable, rank: int, ranks: Iterable[int]) -> None:
        """A rank is done with a call; with the last one here the slot goes."""
        with changed:
            slot = self.slot(key)
            slot.left.add(rank)
            if slot.left >= {each for each in ranks if each % self.size in self.local}:
                del self.slots[key]
        if self.tell is not None:
            self.tell("left", key, rank)

    def end(self, rank: int, why: str) -> None:
        """A rank will not come any more."""
        self.note_end(rank, why)
        if self.tell is not None:
            self.tell("end", None, rank, why)

    def note_end(self, rank: int, why: str) -> None:
        """The same, in this process alone."""
        with changed:
            self.gone.setdefault(rank, why)
            changed.notify_all()


def all_here() -> list[Communicator]:
    """All communicators of this process."""
    return [comm for clique in cliques.values() for comm in clique.ranks.values()]
