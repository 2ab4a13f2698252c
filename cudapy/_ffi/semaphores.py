"""Semaphores of the C library: any thread can post them without Python, and Python sees later which were."""

from __future__ import annotations

import ctypes
import errno
import sys

from .handles import entry

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_COUNT = 64  # semaphores in a block
_SIZE = 64  # bytes from one to the next; no C library has larger ones


class Post:
    """The C function that posts a semaphore, at `address`; `prepare(address)` makes one ready for it."""

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
        self.address = entry(function)


class Signal:
    """Something to wait for: the C function at `address` sends it, called with `argument` in any thread."""

    argument: int
    send: Callable[[], object]
    wait: Callable[[], bool]  # until it was sent since the last wait; False if nothing can be waited for

    def __init__(self) -> None:
        if sys.platform == "win32":
            kernel = ctypes.WinDLL("kernel32")
            kernel.CreateEventW.restype = ctypes.c_void_p
            function, event = kernel.SetEvent, kernel.CreateEventW(None, False, False, None)
            if not event:
                raise ctypes.WinError()
            self.argument = event
            self.wait = lambda: not kernel.WaitForSingleObject(ctypes.c_void_p(event), -1)
            self.send = lambda: function(ctypes.c_void_p(event))
        else:
            library = ctypes.CDLL(None, use_errno=True)
            self.memory = ctypes.create_string_buffer(_SIZE)
            self.argument = ctypes.addressof(self.memory)
            semaphore, function = ctypes.c_void_p(self.argument), library.sem_post
            library.sem_init(semaphore, ctypes.c_int(0), ctypes.c_uint(0))

            def wait() -> bool:
                while library.sem_wait(semaphore):
                    if ctypes.get_errno() != errno.EINTR:
                        return False
                return True

            self.wait = wait
            self.send = lambda: library.sem_post(semaphore)
        self.address = entry(function)


class Block:
    """Semaphores side by side: one comparison of memory tells whether any was posted."""

    def __init__(self, post: Post) -> None:
        self.memory = ctypes.create_string_buffer(_COUNT * _SIZE)
        self.first = ctypes.addressof(self.memory)
        for address in self.addresses():
            post.prepare(address)
        self.fresh = self.memory.raw

    def addresses(self) -> range:
        """Where the semaphores are."""
        return range(self.first, self.first + _COUNT * _SIZE, _SIZE)

    def posted(self) -> list[int]:
        """The addresses of the semaphores that were posted."""
        now, fresh = self.memory.raw, self.fresh
        if now == fresh:
            return []
        return [a for a in self.addresses() if now[(i := a - self.first) : i + _SIZE] != fresh[i : i + _SIZE]]
