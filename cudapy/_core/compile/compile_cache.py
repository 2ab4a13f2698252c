"""cudapy's own cache of what programs were compiled to: in this process, and in a folder for all of a user.

CUDAPY_CACHE=0 switches it off. CUDAPY_CACHE_DIR: the folder, instead of the platform's. CUDAPY_CACHE_SIZE:
how many bytes it may have, 1 GiB unless told; 0: none on disk. All are read at each compilation.
"""

import json
import os
import warnings
from collections.abc import Callable
from typing import NamedTuple

from ..._process import forks
from .build import Built
from .cache_folder import Folder, Refused, user_cache
from .program_cache import FileStreamProgramCache, InMemoryProgramCache
from .program_key import NotCacheable

IN_MEMORY = 1 << 26  # bytes
ON_DISK = 1 << 30
FOLDER = "programs"

_memory = InMemoryProgramCache(max_size_bytes=IN_MEMORY)
forks.in_child(_memory._unlock)
_disks: dict[tuple[str, int], FileStreamProgramCache | None] = {}
_OFF = ("0", "off", "no", "false")


def cached(key: Callable[[], bytes], build: Callable[[], Built]) -> Built:
    """What was built for `key()` before, or what `build()` makes now, kept for the next time.

    A key that changes while something is built, as with a header that is edited, is not used: who knows which
    of the two went into it. Neither is one that cannot be made.
    """
    if not enabled():
        return build()
    try:
        name = key()
    except NotCacheable:
        return build()
    built = _find(name)
    if built is None:
        built = build()
        if key() == name:
            _keep(name, pack(built))
    return built


def enabled() -> bool:
    """Whether CUDAPY_CACHE leaves the cache on."""
    return os.environ.get("CUDAPY_CACHE", "").strip().lower() not in _OFF


def clear() -> None:
    """Forget what this process knows; the folder stays."""
    _memory.clear()
    _disks.clear()


def disk() -> FileStreamProgramCache | None:
    """The part on disk; None if there is none.

    A warning says why, once for each CUDAPY_CACHE_DIR, if that cannot be used or a folder must not be.
    """
    size = _size()
    if not size:
        return None
    place = os.environ.get("CUDAPY_CACHE_DIR", ""), size
    if place not in _disks:
        _disks[place] = None
        try:
            folder = os.path.join(user_cache(), FOLDER)
            _disks[place] = FileStreamProgramCache(folder, max_size_bytes=size)
        except (OSError, ValueError) as error:
            if place[0] or isinstance(error, Refused):  # that there is no home to write to is nothing unusual
                _warn(error)
    return _disks[place]


class State(NamedTuple):
    """What a report says of the part on disk."""

    path: str  # "": there is none
    entries: int = 0
    size: int = 0  # bytes
    problem: str = ""  # why it is not used, though it is not switched off


def state() -> State:
    """The part on disk as it is; nothing is made."""
    try:
        if not (enabled() and _size()):
            return State("")
        path = os.path.join(user_cache(), FOLDER)
    except ValueError as error:
        return State("", problem=str(error))
    try:
        return State(path, *Folder(path).size()) if os.path.lexists(path) else State(path)
    except OSError as error:
        return State(path, problem=str(error))


def _size() -> int:
    given = os.environ.get("CUDAPY_CACHE_SIZE", "")
    if not given:
        return ON_DISK
    if not given.isdecimal():
        raise ValueError(f"CUDAPY_CACHE_SIZE={given!r} is not a number of bytes")
    return int(given)


def _find(name: bytes) -> Built | None:
    data = _memory.get(name)
    if data is None and (folder := disk()) is not None:
        try:
            data = folder.get(name)
        except OSError as error:
            _lost(folder, error)
        if data is not None:
            _memory[name] = data
    return None if data is None else unpack(data)


def _keep(name: bytes, data: bytes) -> None:
    _memory[name] = data
    if (folder := disk()) is not None:
        try:
            folder[name] = data
        except OSError as error:  # the disk is full, say
            _lost(folder, error)


def _lost(folder: FileStreamProgramCache, error: OSError) -> None:
    """Do without a folder that worked before, from here on."""
    for place, cache in list(_disks.items()):
        if cache is folder:
            _disks[place] = None
    _warn(error)


def _warn(error: Exception) -> None:
    text = f"compiled programs are not kept on disk: {error}"
    warnings.warn(text, RuntimeWarning, stacklevel=6)  # at the caller of Program.compile


def pack(built: Built) -> bytes:
    """Code, log and symbols as bytes."""
    symbols = [[_text(name), type(name) is bytes, _text(symbol)] for name, symbol in built.symbols.items()]
    rest = json.dumps({"log": built.log, "symbols": symbols}).encode()
    return b"%d\n%b%b" % (len(rest), rest, built.code)


def unpack(data: bytes) -> Built | None:
    """What `pack` packed; None for anything else, as another version may have written it.

    A digest says that the bytes are whole, not what they mean.
    """
    length, newline, data = data.partition(b"\n")
    if not newline or not length.isdigit() or len(length) > 18 or int(length) > len(data):
        return None
    try:
        rest = json.loads(data[: int(length)])
        log, symbols = rest["log"], [_symbol(*entry) for entry in rest["symbols"]]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    return Built(data[int(length) :], log, dict(symbols)) if isinstance(log, str) else None


def _symbol(name: str, is_bytes: bool, symbol: str) -> tuple[str | bytes, bytes]:
    if not isinstance(name, str) or not isinstance(is_bytes, bool) or not isinstance(symbol, str):
        raise TypeError("a name and its symbol are text")
    return (name.encode() if is_bytes else name), symbol.encode()


def _text(name: str | bytes) -> str:
    return name.decode() if isinstance(name, bytes) else name
