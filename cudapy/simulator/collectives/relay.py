"""Ranks in other processes of this machine: sockets for what they post, shared memory for the data.

Each process has an address of its own, and a connection to every other. Who made the id introduces them: a
process that comes says its address there, is told those of the processes that came before, and connects to
them; the secret in the id lets it in. What two ranks tell each other concerns no third process, which may
have ended. Data of more than a page goes through a file of memory, as that of simulated IPC does. A process
whose connection ends has ended, or is done with the communicator. On Linux only: elsewhere all ranks are in
one process.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import socket
import threading
from typing import Any

import numpy as np

from ..._process import forks
from ..memory.pages import IS_SUPPORTED, File, IpcHandle, Region
from ..refused import Refused
from . import deadlocks
from .board import Header, Post, changed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from multiprocessing.connection import Connection

    from ..engine import U8
    from .communicator import Clique

KIND = b"cudapyN"
INLINE = 4096  # bytes that go with a message
PROCESS, NAME, SECRET = slice(8, 12), slice(12, 28), slice(28, 44)
"""Where the three are in an id, behind the magic word."""
_lock = threading.Lock()
_introductions: dict[bytes, Introductions] = {}
_links: dict[bytes, Link] = {}
_files: list[File] = []


def listen(key: bytes) -> None:
    """Let other processes meet by an id that is made here."""
    if IS_SUPPORTED:
        introductions = Introductions(key)
        with _lock:
            _introductions[key] = introductions


def connect(clique: Clique) -> None:
    """Reach the ranks that are not in this process, if there are any. Raises Refused."""
    if _is_whole(clique):
        _introduce_no_more(clique.key)
        return
    with _lock:
        link = _links.setdefault(clique.key, Link(clique))
    try:
        link.open()
    except Refused:
        if not _is_whole(clique):  # or other threads have made the other ranks meanwhile, and closed the door
            raise


def _is_whole(clique: Clique) -> bool:
    with changed:
        return len(clique.ranks) == clique.size


def close(clique: Clique) -> None:
    """This process is done with a communicator."""
    with _lock:
        link = _links.pop(clique.key, None)
    if link is not None:
        link.close()
    _introduce_no_more(clique.key)


def _introduce_no_more(key: bytes) -> None:
    with _lock:
        introductions = _introductions.pop(key, None)
    if introductions is not None:
        introductions.door.close()


@forks.in_child
def _forked() -> None:
    """In a child: what there is is the parent's, whose connections end when the parent's do."""
    global _lock
    _lock = threading.Lock()
    for introductions in _introductions.values():
        introductions.door.drop()
    for link in _links.values():
        link.drop()
    _introductions.clear()
    _links.clear()
    _files.clear()


def _address(process: int, name: bytes) -> str:
    return f"\0cudapy-nccl-{process}-{name.hex()}"  # in no folder: it goes with the socket


def _address_of(key: bytes) -> str:
    return _address(int.from_bytes(key[PROCESS], "little"), key[NAME])


def _called(address: str, secret: bytes) -> Connection[Any, Any]:
    """A connection to an address. Raises OSError."""
    from multiprocessing import AuthenticationError
    from multiprocessing.connection import Client

    try:
        return Client(address, "AF_UNIX", secret)
    except (EOFError, AuthenticationError) as error:
        raise ConnectionError(f"{type(error).__name__}: {error}") from None


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
        if size > INLINE and self.what != "put":  # of which nobody says when it has been read
            self.region = _file().take(size)
            np.frombuffer(self.region.view, np.uint8)[:size] = self.data
            ipc_handle = self.region.ipc_handle(KIND, size, 0).hex()
        line = (
            json.dumps([self.what, self.key, self.rank, self.more, self.ranks, size, ipc_handle]).encode()
            + b"\n"
        )
        return line if size <= 0 or ipc_handle else line + self.data.tobytes()

    @classmethod
    def apply(cls, raw: bytes, clique: Clique, there: set[int]) -> None:
        """Note what another process told on this one's board. Raises Refused if its memory is out of reach.

        there: the ranks that the process has, which are brought up to date. What does not concern a rank of
        this process may be gone by now.
        """
        line, _, rest = raw.partition(b"\n")
        what, key, rank, more, ranks, size, ipc_handle = json.loads(line)
        board = clique.board
        if ranks is not None and not board.local.intersection(ranks):
            with changed:
                board.heard[rank] += 1
            return
        data = None
        if ipc_handle:
            data = _copy_of_mapped(bytes.fromhex(ipc_handle), size)
        elif size >= 0:
            data = np.frombuffer(rest, np.uint8)
        if what in ("post", "put"):
            if key == "join":
                there.add(rank)
            with changed:
                board.heard[rank] += 1
                board.note(key, rank, Post(Header(*more), data))
        elif what == "read":
            with changed:
                board.heard[rank] += 1
                board.note_read(key, rank)
        elif what in ("waits", "deadlock"):
            deadlocks.receive(what, more)
        else:
            there.discard(rank)
            board.note_end(rank, more)


def _copy_of_mapped(data: bytes, size: int) -> U8:
    """A copy of memory of another process."""
    ipc_handle = IpcHandle(data, KIND)
    file = ipc_handle.open()
    try:
        mapping = ipc_handle.map(file)
    finally:
        os.close(file)
    copy = np.frombuffer(mapping.view, np.uint8)[:size].copy()
    mapping.release()
    return copy


# -- processes ----------------------------------------------------------------------------------------------


class Door:
    """Where this process takes connections: `take(connection)` runs in a thread for each."""

    def __init__(self, address: str, secret: bytes, take: Callable[[Connection[Any, Any]], None]) -> None:
        from multiprocessing.connection import Listener

        self.address = address
        self._take = take
        self._listener = Listener(address, "AF_UNIX", backlog=64, authkey=secret)
        self._is_closed = False
        threading.Thread(target=self._accept, daemon=True, name="cudapy NCCL door").start()

    def _accept(self) -> None:
        from multiprocessing import AuthenticationError

        while not self._is_closed:
            try:
                connection = self._listener.accept()
            except (OSError, EOFError, AuthenticationError):  # closed, or a stranger without the secret
                continue
            threading.Thread(
                target=self._take, args=(connection,), daemon=True, name="cudapy NCCL peer"
            ).start()
        self._listener.close()

    def close(self) -> None:
        """Take none any more."""
        self._is_closed = True
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as one, contextlib.suppress(OSError):
            one.connect(self.address)  # wakes the thread that accepts

    def drop(self) -> None:
        """In a forked child: without the thread, and without an end for the parent."""
        self._listener.close()


class Introductions:
    """The addresses of the processes that have come, at the address that the id has."""

    def __init__(self, key: bytes) -> None:
        self._addresses: list[str] = []
        self._lock = threading.Lock()
        self.door = Door(_address_of(key), key[SECRET], self._introduce)

    def _introduce(self, connection: Connection[Any, Any]) -> None:
        """Tell a process who came before, and those that come later of it."""
        with connection, contextlib.suppress(OSError, EOFError):  # it has ended
            address = connection.recv_bytes().decode()
            with self._lock:
                connection.send_bytes(json.dumps(self._addresses).encode())
                self._addresses.append(address)


class Link:
    """This process among those of a communicator."""

    def __init__(self, clique: Clique) -> None:
        self.clique = clique
        self._door: Door | None = None
        self._connections: list[Connection[Any, Any]] = []
        self._history: list[bytes] = []  # which ranks are here, and which were, for processes that come later
        self._regions: dict[tuple[str | None, int], Region] = {}
        self._lock = threading.Lock()
        self._opening = threading.Lock()
        self._is_closed = False

    def open(self) -> None:
        """Be connected to all processes that have come, and to those that come later. Raises Refused."""
        with self._opening:
            if self.clique.board.tell is not None:
                return
            secret = self.clique.key[SECRET]
            if self._door is None:
                self._door = Door(_address(os.getpid(), os.urandom(16)), secret, self._hear)
            for address in self._introduced(self._door.address):
                try:
                    connection = _called(address, secret)
                except OSError as error:
                    process = address.split("-")[2]
                    raise Refused(
                        "ncclRemoteError", f"process {process}, which came first, has ended: {error}"
                    ) from None
                threading.Thread(
                    target=self._hear, args=(connection,), daemon=True, name="cudapy NCCL peer"
                ).start()
            self.clique.board.tell = self.tell

    def _introduced(self, address: str) -> list[str]:
        """The addresses of the processes that have come before; those that come later get this one."""
        key = self.clique.key
        try:
            with _called(_address_of(key), key[SECRET]) as connection:
                connection.send_bytes(address.encode())
                return list(json.loads(connection.recv_bytes()))
        except (OSError, EOFError) as error:
            process = int.from_bytes(key[PROCESS], "little")
            raise Refused(
                "ncclSystemError", f"process {process}, which made the id, does not answer: {error}"
            ) from None

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
        with self._lock:
            if what == "end" or key == "join":
                self._history.append(raw)
            for connection in self._connections:
                if what != "waits" or _takes_more(connection):
                    _send(connection, raw)

    def _hear(self, connection: Connection[Any, Any]) -> None:
        """Note what another process tells, until it ends."""
        with self._lock:
            for raw in self._history:
                _send(connection, raw)
            self._connections.append(connection)
            is_closed = self._is_closed
        if is_closed:
            _hang_up(connection)
        there: set[int] = set()
        why = "its process has ended"
        try:
            while True:
                Message.apply(connection.recv_bytes(), self.clique, there)
        except Refused as refused:
            why = refused.reason
        except (OSError, EOFError):
            pass
        with self._lock:
            self._connections.remove(connection)
            connection.close()
        for rank in there:
            self.clique.board.note_end(rank, why)

    def close(self) -> None:
        """Be done with it: the other processes hear the end when they have heard what was told before."""
        self.clique.board.tell = None
        if self._door is not None:
            self._door.close()
        for region in self._regions.values():
            region.release()
        self._regions = {}
        with self._lock:
            self._is_closed = True
            for connection in self._connections:
                _hang_up(connection)

    def drop(self) -> None:
        """In a forked child: without an end for the parent."""
        if self._door is not None:
            self._door.drop()
        for connection in self._connections:
            connection.close()


def _send(connection: Connection[Any, Any], raw: bytes) -> None:
    with contextlib.suppress(OSError):  # the other side has ended: who hears it notes that
        connection.send_bytes(raw)


def _takes_more(connection: Connection[Any, Any]) -> bool:
    """Whether what is sent can be left there at once: a process that is stopped does not hear it."""
    return bool(select.select([], [connection], [], 0)[1])


def _hang_up(connection: Connection[Any, Any]) -> None:
    """End a connection, for the thread that hears it, too: it closes it."""
    with socket.socket(fileno=os.dup(connection.fileno())) as one, contextlib.suppress(OSError):
        one.shutdown(socket.SHUT_RDWR)
