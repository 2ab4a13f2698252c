"""Addresses of the host's memory that a program gives: a wrong one is refused, where C would crash."""

from __future__ import annotations

import ctypes
import functools
import itertools
import mmap
import os
import struct
import sys
from typing import Any, Protocol

import numpy as np

from .._ffi.fields import Structs
from .refused import invalid

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

PAGE = mmap.PAGESIZE
AT_ONCE = 1024
"""Pages that one call of the system looks at, the most that it takes."""
TOP = 1 << 64


class Pointer(Protocol):
    """A ctypes pointer to what C gives a function, an item or an array of them; false if it is NULL."""

    def __getitem__(self, index: int, /) -> Any: ...
    def __setitem__(self, index: int, value: Any, /) -> None: ...


def _reader() -> Any:
    """process_vm_readv, which says where it met no memory that can be read; None where there is none."""
    try:
        function = ctypes.PyDLL(None).process_vm_readv if sys.platform == "linux" else None  # keeps the GIL
    except AttributeError:
        return None
    if function is not None:
        size, pointer = ctypes.c_ulong, ctypes.c_void_p
        function.argtypes = ctypes.c_int, pointer, size, pointer, size, size
        function.restype = ctypes.c_ssize_t
    return function


_read = _reader()
_room = ctypes.create_string_buffer(AT_ONCE)
_into = np.array([[ctypes.addressof(_room), AT_ONCE]], np.uint64)
_target = _into.ctypes.data
_BYTES = struct.Struct("=QQ")


def is_readable(address: int, size: int) -> bool:
    """Whether there is memory of `size` bytes at an address; True where the system does not tell."""
    if address < 0 or address + size > TOP:
        return False
    if _read is None or size <= 0:
        return True
    start = address // PAGE
    count = (address + size - 1) // PAGE - start + 1
    if count == 1:
        return bool(_read(os.getpid(), _target, 1, _BYTES.pack(address, 1), 1, 0) == 1) or not _tells()
    for first in range(start, start + count, AT_ONCE):
        pages = np.empty((min(AT_ONCE, start + count - first), 2), np.uint64)
        pages[:, 0] = np.arange(first, first + len(pages), dtype=np.uint64) * np.uint64(PAGE)
        pages[:, 1] = 1
        if first == start:
            pages[0, 0] = address
        readable = _read(os.getpid(), _target, 1, pages.ctypes.data, len(pages), 0)
        if readable != len(pages):
            return readable < 0 and not _tells()
    return True


def gathered(places: Sequence[tuple[int, int]], size: int) -> bytes | None:
    """What there is at some addresses, each with its size, in a row: `size` bytes. None if some memory
    cannot be read, or where that takes `is_readable`: for many places, or where the system does not tell.
    """
    if _read is None or len(places) > AT_ONCE:
        return None
    room = ctypes.create_string_buffer(size)
    try:
        block = struct.pack(f"={2 * len(places)}Q", *itertools.chain(*places))
    except struct.error:  # no address
        return None
    into = _BYTES.pack(ctypes.addressof(room), size)
    return room.raw if _read(os.getpid(), into, 1, block, len(places), 0) == size else None


def _tells() -> bool:
    """Whether the system lets this process ask at all."""
    known = np.array([[ctypes.addressof(_room), 1]], np.uint64)
    return bool(_read(os.getpid(), _into.ctypes.data, 1, known.ctypes.data, 1, 0) == 1)


def require(address: int | None, size: int, what: str) -> int:
    """`address`, if there is memory of `size` bytes. Raises Refused."""
    if not address:
        raise invalid(f"{what} is NULL")
    if not is_readable(address, size):
        raise invalid(f"{what} is {address:#x}, and this process has no memory of {size} bytes there")
    return address


def require_each(places: Sequence[tuple[int, int, str]]) -> None:
    """As `require`, for what one call was given: the system is asked once, where no place crosses a page."""
    are_short = len(places) > 1 and all(address % PAGE + size <= PAGE for address, size, _ in places)
    if are_short and _read is not None:
        asked = b"".join(_BYTES.pack(address, 1) for address, *_ in places)
        if _read(os.getpid(), _target, 1, asked, len(places), 0) == len(places):
            return
    for place in places:
        require(*place)


def require_code(address: int | None, what: str) -> int:
    """`address`, if there is code there, as far as the system tells. Raises Refused."""
    if not address:
        raise invalid(f"{what} is NULL")
    if sys.platform == "linux" and not _is_code(address):
        raise invalid(f"{what} is {address:#x}, and this process has no code there")
    return address


_code: set[int] = set()
"""Pages that were found to have code."""


def _is_code(address: int) -> bool:
    if address // PAGE in _code:
        return True
    try:
        with open("/proc/self/maps") as maps:
            for line in maps:
                range_, rights, _ = line.split(None, 2)
                start, end = (int(one, 16) for one in range_.split("-"))
                if start <= address < end and "x" in rights:
                    _code.add(address // PAGE)
                    return True
    except OSError:
        return True
    return False


def require_lists(struct: Any) -> None:
    """Look at the lists that fields of a struct point to. Raises Refused."""
    cls: type = type(struct)
    for field in lists(cls):
        address = field.raw.__get__(struct)
        if address and field.own(struct) is None:
            count = getattr(struct, field.count) if field.count else 1
            require(address, count * ctypes.sizeof(field.cls), field.what)


@functools.cache
def lists(cls: type) -> tuple[Structs, ...]:
    """The fields of a struct that point to others."""
    return tuple(field for field in vars(cls).values() if isinstance(field, Structs))


def pointed(pointer: Pointer) -> int:
    """The address in a ctypes pointer; 0 for NULL."""
    plain: Any = pointer
    return ctypes.addressof(plain.contents) if plain else 0
