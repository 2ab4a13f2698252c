"""How the bytes that rank 0 makes come to the other ranks: by a socket, a file, or the store of torchrun.

The socket: rank 0 listens at the address; each other rank connects, says who it is, and gets the bytes. What
it says is a magic word, the number of the meeting in its process, the number of ranks and its rank.
"""

import contextlib
import itertools
import os
import socket
import struct
import time
from collections.abc import Callable

SIZE = 128  # of what is handed over
_HELLO = struct.Struct("!8sIII")
_MAGIC = b"cudapy01"
_PAUSE = 0.02
_rounds = itertools.count()


def by_socket(rank: int, size: int, make: Callable[[], bytes], host: str, port: int, timeout: float) -> bytes:
    """Rank 0 makes the bytes and hands them over at host:port. Raises TimeoutError, OSError."""
    round_, end = next(_rounds), time.monotonic() + timeout
    if rank == 0:
        return _hand_over(round_, size, make(), host, port, end, timeout)
    return _fetch(round_, rank, size, host, port, end, timeout)


def _hand_over(round_: int, size: int, key: bytes, host: str, port: int, end: float, timeout: float) -> bytes:
    family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    missing = set(range(1, size))
    with socket.socket(family, kind, protocol) as server:
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        server.bind(address)
        server.listen(size)
        while missing:
            server.settimeout(_left(end, timeout, f"rank 0 of {size} at {host}:{port}: ranks", missing))
            with contextlib.suppress(TimeoutError):
                connection, _ = server.accept()
                with connection, contextlib.suppress(OSError):  # a stranger, or one that comes again
                    connection.settimeout(5)
                    magic, its, ranks, rank = _HELLO.unpack(_read(connection, _HELLO.size))
                    if magic != _MAGIC or its != round_ or rank not in missing:
                        continue
                    if ranks != size:
                        raise RuntimeError(f"rank {rank} says that there are {ranks} ranks, rank 0 {size}")
                    connection.sendall(key)
                    if connection.recv(1) == b"!":
                        missing.discard(rank)
    return key


def _fetch(round_: int, rank: int, size: int, host: str, port: int, end: float, timeout: float) -> bytes:
    while True:
        left = _left(end, timeout, f"rank {rank} of {size}: at {host}:{port} rank", {0})
        try:
            with socket.create_connection((host, port), timeout=min(left, 5)) as connection:
                connection.sendall(_HELLO.pack(_MAGIC, round_, size, rank))
                key = _read(connection, SIZE)
                connection.sendall(b"!")
                return key
        except OSError:  # it does not listen yet, or is at the meeting before
            time.sleep(_PAUSE)


def _left(end: float, timeout: float, who: str, missing: set[int]) -> float:
    """The seconds that are left. Raises TimeoutError."""
    left = end - time.monotonic()
    if left <= 0:
        raise TimeoutError(f"{who} {', '.join(map(str, sorted(missing)))} did not come in {timeout:g} s")
    return left


def _read(connection: socket.socket, size: int) -> bytes:
    """So many bytes. Raises OSError if the other side ends before."""
    data = b""
    while len(data) < size:
        part = connection.recv(size - len(data))
        if not part:
            raise ConnectionError("the connection was closed")
        data += part
    return data


def by_file(rank: int, make: Callable[[], bytes], path: str, timeout: float) -> bytes:
    """Rank 0 writes the bytes to a file that is not there yet; the others wait for it.

    Raises FileExistsError on rank 0, TimeoutError on the others.
    """
    end = time.monotonic() + timeout
    if rank == 0:
        if os.path.exists(path):
            raise FileExistsError(f"{path} is there already, of an earlier run perhaps: remove it first")
        part = f"{path}.{os.getpid()}"
        with open(part, "xb") as file:
            file.write(key := make())
        os.replace(part, path)  # it appears whole
        return key
    while not os.path.exists(path):
        if time.monotonic() > end:
            raise TimeoutError(f"rank {rank}: rank 0 did not write {path} in {timeout:g} s")
        time.sleep(_PAUSE)
    with open(path, "rb") as written:
        key = written.read()
    if len(key) != SIZE:
        raise ValueError(f"{path} has {len(key)} bytes, and not the {SIZE} of an id")
    return key


def by_store(rank: int, make: Callable[[], bytes], host: str, port: int, timeout: float) -> bytes:
    """By the store that torchrun keeps at host:port, with PyTorch, which torchrun is a part of."""
    from datetime import timedelta
    from importlib import import_module

    store = import_module("torch.distributed").TCPStore(
        host, port, is_master=False, timeout=timedelta(seconds=timeout)
    )
    name = f"cudapy/{os.environ.get('TORCHELASTIC_RESTART_COUNT', '0')}/{next(_rounds)}"
    if rank == 0:
        store.set(name, make())
    return bytes(store.get(name))
