"""Pages of the host's memory, and files of it that have no name: several processes map the same pages.

On Linux only. The system takes such a file back with the last process that has it, however that ends.
"""

from __future__ import annotations

import ctypes
import itertools
import mmap
import os
import struct
import sys
import threading
from collections import deque
from typing import Any

from ..._ffi.sizes import round_up
from ..refused import Refused, invalid

IS_SUPPORTED = sys.platform == "linux"
PAGE = mmap.PAGESIZE
MAP_FIXED, MAP_NORESERVE = 0x10, 0x4000
NO_ACCESS = 0
REMOVE, DONT_NEED = 9, 4  # MADV_REMOVE, which is for shared pages, and MADV_DONTNEED
PUNCH_HOLE = 3  # FALLOC_FL_KEEP_SIZE | FALLOC_FL_PUNCH_HOLE
QUARANTINE = 1024
"""How many regions that were given back keep their addresses, so that a late use of them is found."""

IPC_HANDLE = struct.Struct("<8sIIQQQQQi")
"""A region in the eyes of another process: what it is, the process and the descriptor of its file, the file's
inode, the region's offset, its size without and with what fills the last page, its tag, and the number of a
device.
"""
HANDLE_SIZE = 64
"""Bytes of a handle, whatever it is of."""
TAG = struct.Struct("<Q")
_tags = itertools.count(int.from_bytes(os.urandom(6), "little") << 16)


def _libc() -> Any:
    libc = ctypes.CDLL(None, use_errno=True)
    size, number, offset = ctypes.c_size_t, ctypes.c_int, ctypes.c_long
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = (ctypes.c_void_p, size, number, number, number, offset)
    libc.munmap.argtypes = (ctypes.c_void_p, size)
    libc.madvise.argtypes = (ctypes.c_void_p, size, number)
    libc.fallocate.argtypes = (number, number, offset, offset)
    return libc


_c: list[Any] = []


def _system() -> Any:
    if not _c:
        _c.append(_libc())
    return _c[0]


def unnamed_file(name: str) -> int:
    """A descriptor of a new file in memory. It is not one of the standard streams, which a program may have
    closed: what it prints then would go into the file.
    """
    import fcntl

    first = os.memfd_create(name)
    try:
        return fcntl.fcntl(first, fcntl.F_DUPFD_CLOEXEC, 3)
    finally:
        os.close(first)


def emptied(address: int, size: int) -> bool:
    """Make zeros of memory, which takes no time: the system has its pages when they are touched. False where
    it does not do so.
    """
    start, end = round_up(address, PAGE), (address + size) // PAGE * PAGE
    if not IS_SUPPORTED or end <= start:
        return False
    mark = ctypes.c_uint8.from_address(start)
    mark.value = 1
    if _system().madvise(start, end - start, REMOVE):
        _system().madvise(start, end - start, DONT_NEED)
    if mark.value:
        return False
    ctypes.memset(address, 0, start - address)
    ctypes.memset(end, 0, address + size - end)
    return True


def _mapped(address: int, size: int, access: int, flags: int, file: int, offset: int = 0) -> int:
    start = _system().mmap(address or None, size, access, flags, file, offset)
    if start in (None, ctypes.c_void_p(-1).value):
        raise Refused("CUDA_ERROR_OUT_OF_MEMORY", os.strerror(ctypes.get_errno()))
    return int(start)


def blank(address: int, size: int) -> int:
    """Addresses that nothing is behind, at `address` or, for 0, where there is room. Raises Refused."""
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | MAP_NORESERVE | (MAP_FIXED if address else 0)
    return _mapped(address, size, NO_ACCESS, flags, -1)


def map_file(file: int, size: int, offset: int = 0, address: int = 0) -> int:
    """Map `size` bytes of a file, at `address` or, for 0, where there is room. Raises Refused."""
    flags = mmap.MAP_SHARED | (MAP_FIXED if address else 0)
    return _mapped(address, size, mmap.PROT_READ | mmap.PROT_WRITE, flags, file, offset)


def replace(address: int, size: int) -> None:
    """Have other memory at these addresses, of this process alone, with nothing in it yet. Raises Refused."""
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED
    _mapped(address, size, mmap.PROT_READ | mmap.PROT_WRITE, flags, -1)


def hide(address: int, size: int) -> None:
    """Map it no more."""
    _system().munmap(address, size)


class File:
    """A file of memory; its `regions` are whole pages, with a tag behind what was asked for."""

    def __init__(self, name: str) -> None:
        self.descriptor = unnamed_file(name)
        self.inode = os.fstat(self.descriptor).st_ino
        self._end = self._regions = 0
        self._is_closing = self._is_closed = False
        self._lock = threading.Lock()
        self._gone: deque[tuple[int, int]] = deque()

    def take(self, size: int) -> Region:
        """`size` bytes of it. Raises Refused."""
        whole = round_up(size + TAG.size, PAGE)
        with self._lock:
            offset, self._end = self._end, self._end + whole
            os.ftruncate(self.descriptor, self._end)
            address = map_file(self.descriptor, whole, offset)
            self._regions += 1
        region = Region(self, offset, size, whole, address)
        TAG.pack_into(region.view, whole - TAG.size, region.tag)
        return region

    def release(self, region: Region) -> None:
        """The end of a region: its memory goes at once, its addresses later."""
        _system().fallocate(self.descriptor, PUNCH_HOLE, region.offset, region.whole)
        with self._lock:
            self._regions -= 1
            self._gone.append((region.address, region.whole))
            gone = self._gone.popleft() if len(self._gone) > QUARANTINE else None
        if gone is not None:
            hide(*gone)
        self._end_if_unused()

    def close(self) -> None:
        """Close it, once it has no regions."""
        self._is_closing = True
        self._end_if_unused()

    def abandon(self) -> None:
        """Close it, whatever is mapped of it."""
        with self._lock:
            if not self._is_closed:
                self._is_closed = True
                os.close(self.descriptor)

    def _end_if_unused(self) -> None:
        with self._lock:
            if self._regions or not self._is_closing or self._is_closed:
                return
            self._is_closed = True
            gone, self._gone = self._gone, deque()
            os.close(self.descriptor)
        for address, whole in gone:
            hide(address, whole)


class Region:
    """Pages of a file, mapped: `size` bytes from `address`, `whole` with what fills the last page."""

    def __init__(self, file: File, offset: int, size: int, whole: int, address: int) -> None:
        self.file = file
        self.offset = offset
        self.size = size
        self.whole = whole
        self.address = address
        self.tag = next(_tags)

    @property
    def view(self) -> Any:
        """Its bytes."""
        return (ctypes.c_uint8 * self.whole).from_address(self.address)

    def ipc_handle(self, kind: bytes, size: int, device: int) -> bytes:
        """The handle by which another process finds the first `size` bytes of it."""
        Sharing.is_shared = True
        file = self.file
        who = kind, os.getpid(), file.descriptor, file.inode
        return IPC_HANDLE.pack(*who, self.offset, size, self.whole, self.tag, device).ljust(
            HANDLE_SIZE, b"\0"
        )

    def release(self) -> None:
        """Return it to its file."""
        self.file.release(self)


class Sharing:
    """Whether this process and another one may have memory or events in common."""

    is_shared = False


class IpcHandle:
    """What `Region.ipc_handle` made, read in another process. Raises Refused for another `kind`."""

    def __init__(self, data: bytes, kind: bytes) -> None:
        magic, self.process, self.descriptor, self.inode, *place = IPC_HANDLE.unpack_from(data)
        self.offset, self.size, self.whole, self.tag, self.device = place
        if magic.rstrip(b"\0") != kind:
            raise invalid("the handle is of nothing that the simulator shares")
        Sharing.is_shared = True
        if self.whole % PAGE or not 0 < self.size <= self.whole - TAG.size or self.offset < 0:
            raise invalid("the handle is damaged: its memory cannot have such a size")

    def open(self) -> int:
        """A descriptor of the file, through the process that has it. Raises Refused."""
        try:
            file = os.open(f"/proc/{self.process}/fd/{self.descriptor}", os.O_RDWR | os.O_CLOEXEC)
        except OSError as error:
            raise invalid(
                f"process {self.process}, which made the handle, is out of reach: {error.strerror}"
            ) from None
        if os.fstat(file).st_ino != self.inode:
            os.close(file)
            raise invalid(f"process {self.process} has given back what the handle is of")
        return file

    def map(self, file: int) -> Mapping:
        """Map the region. Raises Refused if it was given back."""
        state = os.fstat(file)
        if state.st_ino != self.inode or self.offset % PAGE or self.offset + self.whole > state.st_size:
            raise invalid("the handle is of another file")
        mapping = Mapping(map_file(file, self.whole, self.offset), self.whole)
        if TAG.unpack_from(mapping.view, self.whole - TAG.size)[0] != self.tag:
            mapping.release()
            raise invalid(f"process {self.process} has given back what the handle is of")
        return mapping


class Mapping:
    """A region of a file of another process, mapped here."""

    def __init__(self, address: int, whole: int) -> None:
        self.address = address
        self.whole = whole

    @property
    def view(self) -> Any:
        """Its bytes."""
        return (ctypes.c_uint8 * self.whole).from_address(self.address)

    def release(self) -> None:
        """Map it no more."""
        hide(self.address, self.whole)
