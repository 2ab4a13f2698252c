"""Ranks in other processes of this machine: a socket for what they post, shared memory for the data.

Whoever made the id listens, and passes on what each process posts to all others; the secret in the id lets
them in. Data of more than a page goes through a file of memory, as that of simulated IPC does. A process
whose connection ends has ended, or is done with the communicator. On Linux only: elsewhere all ranks are in
one process.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import threading
from typing import Any

import numpy as np

from ... import _forks
from ..memory.pages import IS_SUPPORTED, File, IpcHandle, Region
from ..refused import Refused
from .board import Header, Post, changed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .communicator import Clique

KIND = b"cudapyN"
INLINE = 4096  # bytes that go with a message
NAME, SECRET = slice(12, 28), slice(28, 44)
"""Where the two are in an id, behind the magic word and the number of the process."""
_lock = threading.Lock()
_hubs: dict[bytes, Hub] = {}
_links: dict[bytes, Link] = {}
_files: list[File] = []


def listen(key: bytes) -> None:
    """Let other processes meet by an id that is made here."""
    if IS_SUPPORTED:
        hub = Hub(key)
        with _lock:
            _hubs[key] = hub


def connect(clique: Clique) -> None:
    """Reach the ranks that are not in this process, if there are any. Raises Refused."""
    with changed:
        is_whole = len(clique.ranks) == clique.size
    if is_whole:
        _close_hub(clique.key)
        return
    with _lock:
        if clique.key in _links:
            return
        hub = _hubs.get(clique.key)
        link = _links[clique.key] = Link(clique) if hub is None else HubLink(clique, hub)
    link.open()


def close(clique: Clique) -> None:
    """This process is done with a communicator."""
    with _lock:
        link = _links.pop(clique.key, None)
    if link is not None:
        link.close()
    _close_hub(clique.key)


def _close_hub(key: bytes) -> None:
    with _lock:
        hub = _hubs.pop(key, None)
    if hub is not None:
        hub.close()


@_forks.in_child
def _forked() -> None:
    """In a child: what there is is the parent's."""
    global _lock
    _lock = threading.Lock()
    _hubs.clear()
    _links.clear()
    _files.clear()


def _address(key: bytes) -> str:
    return f"\0cudapy-nccl-{key[NAME].hex()}"  # a name that is in no folder, and goes with the socket


def _file() -> File:
    with _lock:
        if not _files:
            _files.append(File("cudapy simulator: collectives"))
        return _files[0]


# -- messages -----------------------------------------------------------------------------------------------


class Message:
    """What a process tells the others: (what, key of the slot, rank, more), and data.

    ranks: whom it concerns; None: all.
    """

    def __init__(
        self, what: str, key: Any, rank: int, more: Any = None, data: Any = None, ranks: Any = None
    ) -> None:
        self.ranks = None if ranks is None else list(ranks)
        self.what = what
        self.key = key
        self.rank = rank
        self.more = more
        self.data = data
        self.region: Region | None = None  # the memory that other processes read the data from

    def packed(self) -> bytes:
        """A line of JSON, and small data behind it."""
        size = -1 if self.data is None else len(self.data)
        ipc_handle = ""
        if size > INLINE:
            self.region = _file().take(size)
            np.frombuffer(self.region.view, np.uint8)[:size] = self.data
            ipc_handle = self.region.ipc_handle(KIND, size, 0).hex()
        line = (
            json.dumps([self.what, self.key, self.rank, self.more, self.ranks, size, ipc_handle]).encode()
            + b"\n"
        )
        return line if size <= 0 or ipc_handle else line + self.data.tobytes()

    @classmethod
    def apply(cls, raw: bytes, clique: Clique) -> None:
        """Note what another process told on this one's board. Raises Refused if its memory is out of reach.

        What does not concern a rank of this process may be gone by now.
        """
        line, _, rest = raw.partition(b"\n")
        what, key, rank, more, ranks, size, ipc_handle = json.loads(line)
        board = clique.board
        if ranks is not None and not board.local.intersection(ranks):
            return
        data = None
        if ipc_handle:
            data = _copy_of_mapped(bytes.fromhex(ipc_handle), size)
        elif size >= 0:
            data = np.frombuffer(rest, np.uint8)
        if what == "post":
            board.note(key, rank, Post(Header(*more), data))
        elif what == "read":
            board.note_read(key, rank)
        else:
            board.note_end(rank, more)


def _copy_of_mapped(data: bytes, size: int) -> Any:
    """A copy of memory of another process."""
    ipc_handle = IpcHandle(data, KIND)
    file = ipc_handle.open()
    try:
        mapping = ipc_handle.map(file)
    finally:
        os.close(file)
    found = np.frombuffer(mapping.view, np.uint8)[:size].copy()
    mapping.release()
    return found


# -- processes ----------------------------------------------------------------------------------------------


class Link:
    """This process among others, by a connection to the one that made the id."""

    def __init__(self, clique: Clique) -> None:
        self.clique = clique
        self._regions: dict[tuple[str | None, int], Region] = {}
        self._connection: Any = None
        self._lock = threading.Lock()

    def open(self) -> None:
        """Connect, and hear from then on. Raises Refused."""
        from multiprocessing import AuthenticationError
        from multiprocessing.connection import Client

        key = self.clique.key
        try:
            self._connection = Client(_address(key), "AF_UNIX", key[SECRET])
        except (OSError, EOFError, AuthenticationError) as error:
            raise Refused(
                "ncclSystemError",
                f"process {int.from_bytes(key[8:12], 'little')}, which made the id, does not answer: {error}",
            ) from None
        threading.Thread(target=self._hear, daemon=True, name="cudapy NCCL link").start()
        self.clique.board.tell = self.tell

    def tell(
        self, what: str, key: Any, rank: int, more: Any = None, data: Any = None, ranks: Any = None
    ) -> None:
        """Pass on what this process posts; what all have read that it concerns needs no memory any more."""
        if what == "left":
            region = self._regions.pop((key, rank), None)
            if region is not None:
                region.release()
            return
        message = Message(what, key, rank, more, data, ranks)
        raw = message.packed()
        if message.region is not None:
            self._regions[key, rank] = message.region
        self.send(raw)

    def send(self, raw: bytes) -> None:
        """To all other processes."""
        with self._lock, contextlib.suppress(OSError):  # the other side has ended: `_hear` notes it
            self._connection.send_bytes(raw)

    def _hear(self) -> None:
        why = "the process that made the id has ended, or is done with it"
        try:
            while True:
                Message.apply(self._connection.recv_bytes(), self.clique)
        except Refused as refused:
            why = refused.reason
        except (OSError, EOFError, TypeError):  # TypeError: it was closed meanwhile
            pass
        for rank in range(self.clique.size):
            if rank not in self.clique.board.local:
                self.clique.board.note_end(rank, why)

    def close(self) -> None:
        """Be done with it."""
        self.clique.board.tell = None
        for region in self._regions.values():
            region.release()
        self._regions = {}
        if self._connection is not None:
            with self._lock, contextlib.suppress(OSError):
                self._connection.close()


class HubLink(Link):
    """The process that made the id, itself."""

    def __init__(self, clique: Clique, hub: Hub) -> None:
        super().__init__(clique)
        self._hub = hub

    def open(self) -> None:
        self._hub.serve(self.clique)
        self.clique.board.tell = self.tell

    def send(self, raw: bytes) -> None:
        self._hub.send(raw)


class Hub:
    """Who listens: passes each message on to all other processes."""

    def __init__(self, key: bytes) -> None:
        from multiprocessing.connection import Listener

        self._key = key
        self._listener = Listener(_address(key), "AF_UNIX", backlog=64, authkey=key[SECRET])
        self._connections: dict[Any, set[int]] = {}  # and the ranks there
        self._history: list[bytes] = []  # for processes that come later
        self._clique: Clique | None = None
        self._lock = threading.Lock()
        self._is_closed = False
        threading.Thread(target=self._accept, daemon=True, name="cudapy NCCL hub").start()

    def _accept(self) -> None:
        from multiprocessing import AuthenticationError

        while not self._is_closed:
            try:
                connection = self._listener.accept()
            except (OSError, EOFError, AuthenticationError):  # closed, or a stranger without the secret
                continue
            with self._lock:
                for raw in self._history:
                    connection.send_bytes(raw)
                self._connections[connection] = set()
            threading.Thread(
                target=self._serve, args=(connection,), daemon=True, name="cudapy NCCL peer"
            ).start()
        self._listener.close()

    def _serve(self, connection: Any) -> None:
        with contextlib.suppress(OSError, EOFError, TypeError, Refused):  # Refused: it has ended
            while True:
                raw = connection.recv_bytes()
                what, key, rank = json.loads(raw.partition(b"\n")[0])[:3]
                with self._lock:
                    if what == "post" and key == "join":
                        self._connections[connection].add(rank)
                    elif what == "end":
                        self._connections[connection].discard(rank)
                self.send(raw, connection)
                self._apply(raw)
        with self._lock:
            ranks = self._connections.pop(connection, set())
        for rank in ranks:
            raw = Message("end", None, rank, "its process has ended").packed()
            self.send(raw)
            self._apply(raw)

    def send(self, raw: bytes, but: Any = None) -> None:
        """Pass a message on."""
        with self._lock:
            if raw.startswith((b'["post", "join"', b'["end"')):
                self._history.append(raw)
            for connection in self._connections:
                if connection is not but:
                    with contextlib.suppress(OSError):
                        connection.send_bytes(raw)

    def _apply(self, raw: bytes) -> None:
        with self._lock:
            clique = self._clique
        if clique is not None:
            Message.apply(raw, clique)

    def serve(self, clique: Clique) -> None:
        """Ranks of this process meet by the id, too."""
        with self._lock:
            self._clique = clique
            history = list(self._history)
        for raw in history:
            Message.apply(raw, clique)

    def close(self) -> None:
        """Listen no more, and end the connections."""
        self._is_closed = True
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as one, contextlib.suppress(OSError):
            one.connect(_address(self._key))  # wakes the thread that accepts
        with self._lock:
            connections, self._connections = list(self._connections), {}
        for connection in connections:
            with contextlib.suppress(OSError):
                connection.close()
