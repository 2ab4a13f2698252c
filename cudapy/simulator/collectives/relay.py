"""Ranks in other processes."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .communicator import Clique


def listen(key: bytes) -> None: ...


def connect(clique: Clique) -> None: ...


def close(clique: Clique) -> None: ...
