"""Python objects that the driver holds, as long as a graph, a copy of it or a launch of it may use them.

The driver has such references: a user object, which a graph retains. Copies of the graph, made by embedding
or instantiating it, retain it too, and a launch that is under way does until it has ended. Python cannot
know any of that; the driver tells by calling a function of ours once the last reference is gone.

That happens in a thread of the driver, from which CUDA must not be called, and perhaps while the interpreter
shuts down. So it is no Python function but the C library's `sem_post`, on a semaphore that each user object
has; whoever comes by later (`sweep`) sees it posted and drops what was held.
"""

from __future__ import annotations

import ctypes
import sys
import threading
from collections.abc import Callable

from ...driver import CUuserObject, CUuserObject_flags, checked
from .. import lifetime

_COUNT = 64  # semaphores in a block
_SIZE = 64  # bytes from one to the next; no C library has larger ones


class _Signal:
    """The C function that the driver calls, and how the memory it is called with is made ready for it."""

    prepare: Callable[[int], object]

    def __init__(self) -> None:
        if sys.platform == "win32":  # which has no sem_post; this function writes zeros
            function = ctypes.WinDLL("kernel32").InitializeSRWLock
            self.prepare = lambda address: ctypes.memset(address, 255, ctypes.sizeof(ctypes.c_void_p))
        else:
            library = ctypes.CDLL(None)
            function, prepare = library.sem_post, library.sem_init
            prepare.argtypes = ctypes.c_void_p, ctypes.c_int, ctypes.c_uint
            self.prepare = lambda address: prepare(address, 0, 0)
        self.address = ctypes.cast(function, ctypes.c_void_p).value


class _Block:
    """Semaphores side by side: one comparison of memory tells whether any was posted."""

    def __init__(self, signal: _Signal) -> None:
        self.memory = ctypes.create_string_buffer(_COUNT * _SIZE)
        self.first = ctypes.addressof(self.memory)
        for address in self.addresses():
            signal.prepare(address)
        self.fresh = self.memory.raw

    def addresses(self) -> range:
        return range(self.first, self.first + _COUNT * _SIZE, _SIZE)

    def posted(self) -> list[int]:
        """The addresses of the semaphores that were posted."""
        now, fresh = self.memory.raw, self.fresh
        if now == fresh:
            return []
        return [a for a in self.addresses() if now[(i := a - self.first) : i + _SIZE] != fresh[i : i + _SIZE]]


_signal: _Signal | None = None
_blocks: list[_Block] = []
_free: list[int] = []
_things: dict[int, object] = {}  # by the address of their semaphore
_sweeping = threading.Lock()


def hold(thing: object) -> CUuserObject:
    """A user object that keeps `thing` alive; the one reference to it is the caller's.

    Source: cuUserObjectCreate.
    """
    global _signal
    sweep()
    if _signal is None:
        _signal = _Signal()
        lifetime.after_waiting.append(sweep)
    try:
        address = _free.pop()
    except IndexError:
        block = _Block(_signal)
        _blocks.append(block)
        address, *others = block.addresses()
        _free.extend(others)
    _things[address] = thing
    try:
        made: CUuserObject = checked.cuUserObjectCreate(
            address, _signal.address, 1, CUuserObject_flags.CU_USER_OBJECT_NO_DESTRUCTOR_SYNC
        )
    except BaseException:
        del _things[address]
        _free.append(address)
        raise
    return made


def sweep() -> None:
    """Drop what no graph refers to any more."""
    if not _blocks or not _sweeping.acquire(blocking=False):
        return
    assert _signal is not None
    dropped = []
    try:
        for block in _blocks:
            for address in block.posted():
                _signal.prepare(address)
                if address in _things:
                    dropped.append(_things.pop(address))
                    _free.append(address)
    finally:
        _sweeping.release()
    # `dropped` goes here: what that sets free may come by again
