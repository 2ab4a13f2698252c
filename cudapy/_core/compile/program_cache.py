"""Caches of compiled programs for callers to make, fill and ask: mappings from a key to the code's bytes."""

import os
import threading
from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from typing import TypeVar

from ..._ffi.shown import type_name
from ..kernels.object_code import ObjectCode
from .cache_folder import Folder, user_cache

__all__ = ["FileStreamProgramCache", "InMemoryProgramCache", "ProgramCacheResource"]

Key = bytes | str
Value = bytes | bytearray | memoryview | ObjectCode
Self = TypeVar("Self", bound="ProgramCacheResource")


class ProgramCacheResource(ABC):
    """A mapping from keys to the bytes of compiled code.

    A key is bytes or str, such as `make_program_cache_key` makes; "k" and b"k" are the same. A value is
    bytes, or an ObjectCode, of which the bytes alone are kept. Ask with `get`, or `[]` and KeyError: there is
    no `in`, since another process may remove an entry after the answer.
    """

    @abstractmethod
    def __getitem__(self, key: Key) -> bytes: ...

    @abstractmethod
    def __setitem__(self, key: Key, value: Value) -> None: ...

    @abstractmethod
    def __delitem__(self, key: Key) -> None: ...

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def clear(self) -> None:
        """Remove all entries."""

    __contains__ = None
    __iter__ = None

    def get(self, key: Key, default: bytes | None = None) -> bytes | None:
        """The bytes for `key`, or `default`."""
        try:
            return self[key]
        except KeyError:
            return default

    def update(self, items: Mapping[Key, Value] | Iterable[tuple[Key, Value]], /) -> None:
        """Store all of `items`, a mapping or pairs."""
        for key, value in items.items() if isinstance(items, Mapping) else items:
            self[key] = value

    def close(self) -> None:  # noqa: B027
        """Release what the cache holds open: nothing, unless a class says otherwise."""

    def __enter__(self: Self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


class InMemoryProgramCache(ProgramCacheResource):
    """A cache in this process, for all of its threads.

    max_size_bytes: of all values; what was not used for longest goes first. None: no limit.
    """

    def __init__(self, *, max_size_bytes: int | None = None) -> None:
        self._limit = limit(max_size_bytes)
        self._entries: OrderedDict[bytes, bytes] = OrderedDict()
        self._unlock()

    def _unlock(self) -> None:
        """Nobody holds the lock: this is new, or a process forked while another thread held it."""
        self._lock = threading.RLock()
        self._size = sum(map(len, self._entries.values()))

    def __getitem__(self, key: Key) -> bytes:
        encoded = key_bytes(key)
        with self._lock:
            if encoded not in self._entries:
                raise KeyError(key)
            self._entries.move_to_end(encoded)
            return self._entries[encoded]

    def __setitem__(self, key: Key, value: Value) -> None:
        encoded, data = key_bytes(key), value_bytes(value)
        with self._lock:
            self._size += len(data) - len(self._entries.pop(encoded, b""))
            self._entries[encoded] = data
            while self._limit is not None and self._size > self._limit:
                self._size -= len(self._entries.popitem(last=False)[1])

    def __delitem__(self, key: Key) -> None:
        encoded = key_bytes(key)
        with self._lock:
            if encoded not in self._entries:
                raise KeyError(key)
            self._size -= len(self._entries.pop(encoded))

    def __len__(self) -> int:
        return len(self._entries)

    def clear(self) -> None:
        """Remove all entries."""
        with self._lock:
            self._entries.clear()
            self._size = 0


class FileStreamProgramCache(ProgramCacheResource):
    """A cache in a folder, for any number of processes of one user.

    path: the folder, made if it is not there; None: one of cudapy's in the user's cache folder.
    max_size_bytes: of all files; what was not used for longest goes first. None: no limit.
    A file that is not whole, or not this user's, is not an entry.

    Raises PermissionError if the folder is a symbolic link or not this user's alone to write.
    """

    def __init__(
        self, path: str | os.PathLike[str] | None = None, *, max_size_bytes: int | None = None
    ) -> None:
        where = os.path.join(user_cache(), "program-cache") if path is None else os.fspath(path)
        self._folder = Folder(where, limit(max_size_bytes))

    @property
    def path(self) -> str:
        """The folder, absolute."""
        return self._folder.path

    def __getitem__(self, key: Key) -> bytes:
        data = self._folder.get(key_bytes(key))
        if data is None:
            raise KeyError(key)
        return data

    def __setitem__(self, key: Key, value: Value) -> None:
        self._folder.put(key_bytes(key), value_bytes(value))

    def __delitem__(self, key: Key) -> None:
        if not self._folder.remove(key_bytes(key)):
            raise KeyError(key)

    def __len__(self) -> int:
        return self._folder.size()[0]

    def clear(self) -> None:
        """Remove all entries."""
        self._folder.clear()


def key_bytes(key: Key) -> bytes:
    """A key as bytes. Raises TypeError for what is neither bytes nor str."""
    if isinstance(key, str):
        return key.encode()
    if not isinstance(key, bytes):
        raise TypeError(f"a key must be bytes or str, not {type(key).__name__}")
    return key


def value_bytes(value: Value) -> bytes:
    """A value as bytes. Raises TypeError for what is neither bytes nor an ObjectCode."""
    if isinstance(value, ObjectCode):
        return value.code
    if not isinstance(value, (bytes, bytearray, memoryview)):
        raise TypeError(f"a value must be bytes or an ObjectCode, not {type_name(value)}")
    return bytes(value)


def limit(size: int | None) -> int | None:
    """A size limit. Raises ValueError for a negative one."""
    if size is not None and size < 0:
        raise ValueError(f"max_size_bytes must not be negative, and is {size}")
    return size
