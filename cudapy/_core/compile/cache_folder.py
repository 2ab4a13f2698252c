"""A folder of cached bytes: one file an entry, safe between processes, and from other users.

- An entry is written beside its place and moved there in one step (os.replace): nobody sees half of one.
- A file begins with a mark and the SHA-256 of its key and its bytes. One that was cut short, changed or
  renamed is not an entry: it is removed.
- The folder is this user's alone to write, and so is every file read from it; neither is a symbolic link. The
  folder is opened once for each operation, and its files through it, so that nobody can put another in its
  place in between. (Windows has no such call, and a user's folders are private there.)
- What was not used for longest goes first when the folder grows over its limit; a file's modification time is
  that of its last use.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import stat
import sys
import time
from collections.abc import Iterator
from typing import Any, NamedTuple

MARK = b"cudapy cache 1\n"
DIGEST = hashlib.sha256().digest_size
LEFT_BEHIND = 3600  # seconds after which a file that was never finished is nobody's any more

_BY_DESCRIPTOR = os.open in os.supports_dir_fd and hasattr(os, "geteuid")
_SAFELY = sum(getattr(os, flag, 0) for flag in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY"))
"""No symbolic link is followed, no pipe is waited for."""


class Refused(PermissionError):
    """A folder is a symbolic link, or not this user's alone to write."""


class File(NamedTuple):
    """A file of the folder."""

    name: str
    size: int
    used: float  # seconds since the epoch


class Folder:
    """The entries in the folder `path`, made if it is not there. limit: bytes in all; None: no limit.

    Raises Refused if the folder is not this user's alone, OSError if it cannot be made.
    """

    def __init__(self, path: str, limit: int | None = None) -> None:
        self.path = own_folder(path)
        self.limit = limit

    def get(self, key: bytes) -> bytes | None:
        """The bytes of an entry; None if there is none that is whole and this user's."""
        name = name_of(key)
        if not os.path.lexists(self.path):  # somebody tidied up
            return None
        with _Opened(self.path) as folder:
            try:
                with open(folder.open(name, os.O_RDONLY), "rb") as file:
                    status = os.fstat(file.fileno())
                    if _foreign(status, stat.S_ISREG):
                        return None
                    if self.limit is not None and status.st_size > self.limit:  # nothing that `put` wrote
                        return None
                    content = file.read()
            except OSError:  # none, a symbolic link, or gone meanwhile
                return None
            data = content[len(MARK) + DIGEST :]
            if not content.startswith(MARK) or content[len(MARK) : -len(data) or None] != _digest(key, data):
                folder.remove(name)
                return None
            folder.use(name)
            return data

    def put(self, key: bytes, data: bytes) -> None:
        """Make or replace an entry, and remove those not used for longest. Raises OSError."""
        content = b"".join((MARK, _digest(key, data), data))
        if self.limit is not None and len(content) > self.limit:
            return
        name = name_of(key)
        unfinished = f"{name}.{os.getpid()}.{secrets.token_hex(4)}.tmp"
        with _Opened(own_folder(self.path)) as folder:
            try:
                with open(folder.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL), "wb") as file:
                    file.write(content)
                folder.replace(unfinished, name)
            except BaseException:
                folder.remove(unfinished)
                raise
            self._evict(folder)

    def remove(self, key: bytes) -> bool:
        """Remove an entry; False if there is none."""
        with _Opened(self.path) as folder:
            return folder.remove(name_of(key))

    def clear(self) -> None:
        """Remove all entries."""
        with _Opened(self.path) as folder:
            for file in folder.files():
                folder.remove(file.name)

    def size(self) -> tuple[int, int]:
        """How many entries there are, and their bytes."""
        with _Opened(self.path) as folder:
            sizes = [file.size for file in folder.files() if not file.name.endswith(".tmp")]
        return len(sizes), sum(sizes)

    def _evict(self, folder: _Opened) -> None:
        if self.limit is None:
            return
        files = sorted(folder.files(), key=lambda file: file.used)
        total = sum(file.size for file in files)
        for file in files:
            unfinished = file.name.endswith(".tmp")
            if unfinished and file.used > time.time() - LEFT_BEHIND:
                continue
            if unfinished or total > self.limit:
                folder.remove(file.name)
                total -= file.size


class _Opened:
    """The folder, open: what was checked is what is used."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.at: dict[str, Any] = {}  # how to name its files to the functions of os

    def __enter__(self) -> _Opened:
        if _BY_DESCRIPTOR:
            try:
                descriptor = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY | _SAFELY)
            except OSError:
                check(self.path)  # says what it is, if it is there
                raise
            self.at = {"dir_fd": descriptor}
            if why := _foreign(os.fstat(descriptor), stat.S_ISDIR):
                os.close(descriptor)
                raise Refused(f"the cache folder {self.path} {why}")
        else:
            check(self.path)
        return self

    def __exit__(self, *exception: object) -> None:
        if self.at:
            os.close(self.at["dir_fd"])

    def place(self, name: str) -> str:
        """A file of it, for the functions of os that take `at` as well."""
        return name if self.at else os.path.join(self.path, name)

    def open(self, name: str, flags: int) -> int:
        """A descriptor of a file; never of what a symbolic link leads to."""
        place = self.place(name)
        if not self.at and os.path.islink(place):
            raise PermissionError(f"{place} is a symbolic link")
        return os.open(place, flags | _SAFELY, 0o600, **self.at)

    def replace(self, old: str, new: str) -> None:
        """Move a file onto another."""
        if self.at:
            descriptor = self.at["dir_fd"]
            os.replace(old, new, src_dir_fd=descriptor, dst_dir_fd=descriptor)
        else:
            os.replace(self.place(old), self.place(new))

    def use(self, name: str) -> None:
        """Note that a file was used now."""
        try:
            os.utime(self.place(name), **self.at)
        except OSError:  # removed meanwhile, or nothing may be written: then there is no order
            return

    def remove(self, name: str) -> bool:
        """Remove a file; False if it is not there, or in use as Windows sees it."""
        try:
            os.unlink(self.place(name), **self.at)
        except OSError:
            return False
        return True

    def files(self) -> Iterator[File]:
        """All entries, finished or not; nothing else that somebody put there."""
        with os.scandir(self.at.get("dir_fd", self.path)) as entries:
            for entry in entries:
                if entry.name[: 2 * DIGEST].strip("0123456789abcdef") or len(entry.name) < 2 * DIGEST:
                    continue
                try:
                    status = entry.stat(follow_symlinks=False)
                except OSError:  # removed meanwhile
                    continue
                yield File(entry.name, status.st_size, status.st_mtime)


def name_of(key: bytes) -> str:
    """What the file of an entry is called."""
    return hashlib.sha256(key).hexdigest()


def _digest(key: bytes, data: bytes) -> bytes:
    return hashlib.sha256(b"%d\n%b%b" % (len(key), key, data)).digest()


def own_folder(path: str) -> str:
    """`path`, a folder that is this user's alone to write; made, with its parents, if it is not there.

    Raises Refused if it is somebody else's or a symbolic link, OSError if it cannot be made.
    """
    path = os.path.abspath(path)
    _make_parents(os.path.dirname(path))
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:
        check(path)
    return path


def _make_parents(path: str) -> None:
    """Make the folder `path` and those above it, as far as they are not there, for this user alone."""
    if os.path.isdir(path):
        return
    _make_parents(os.path.dirname(path))
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:
        if not os.path.isdir(path):  # else another process was faster
            raise


def check(path: str) -> None:
    """Raise Refused unless `path` is a folder and this user's alone to write."""
    if why := _foreign(os.lstat(path), stat.S_ISDIR):
        raise Refused(f"the cache folder {path} {why}")


def _foreign(status: os.stat_result, kind: Any) -> str:
    """Why a file must not be used; "" if it may be."""
    if stat.S_ISLNK(status.st_mode):
        return "is a symbolic link"
    if not kind(status.st_mode):
        return "is not what it should be"
    if not _BY_DESCRIPTOR:
        return ""
    if status.st_uid != os.geteuid():
        return f"belongs to user {status.st_uid}, not to this one ({os.geteuid()})"
    if status.st_mode & 0o022:
        return f"may be written by others (mode {stat.S_IMODE(status.st_mode):o})"
    return ""


def user_cache() -> str:
    """The folder of all that cudapy caches for this user: CUDAPY_CACHE_DIR, or by the platform's convention.

    Raises ValueError if CUDAPY_CACHE_DIR is not an absolute path, or there is no home.
    """
    given = os.environ.get("CUDAPY_CACHE_DIR", "")
    if given:
        if not os.path.isabs(given):
            raise ValueError(f"CUDAPY_CACHE_DIR={given!r} is not an absolute path")
        return given
    if sys.platform == "win32":
        variable, convention = "LOCALAPPDATA", "~/AppData/Local"
    elif sys.platform == "darwin":
        variable, convention = "", "~/Library/Caches"
    else:
        variable, convention = "XDG_CACHE_HOME", "~/.cache"
    base = os.environ.get(variable, "") if variable else ""
    if not os.path.isabs(base):  # the convention for XDG_CACHE_HOME as well
        base = os.path.expanduser(convention)
    if not os.path.isabs(base):
        raise ValueError("there is no home folder: set CUDAPY_CACHE_DIR to an absolute path")
    return os.path.join(base, "cudapy")
