"""The log of the driver: it tells the program why functions failed.

Source: cuLogsRegisterCallback and its kin, since CUDA 12.9.
"""

import atexit
import ctypes
import itertools
import re
import threading
import time
from collections import deque
from typing import Any

from .._process import forks
from .._types.driver.enums import CUlogLevel
from .record import note_told, reference
from .refused import Refused, invalid
from .stderr import say

LENGTH = 100  # entries
SIZE = 25600  # bytes: what cuLogsDumpToMemory is documented to need at most
PATIENCE = 2  # calls that may fail with a report before it is printed: a wait polls, and then asks again
_IGNORED = re.compile("Query|Free|Destroy|Unload|Release|Unregister|Capturing|CaptureInfo")
"""Calls whose failure libraries ignore, once a context is lost, and with it the reason that they read."""
QUIET = frozenset({"CUDA_ERROR_NOT_READY"})  # an answer rather than an error


class _Report:
    """What there is to know of the report of a fault.

    prints: whether it may be printed. calls: how many have failed with it. is_asked: one of them was not of
    those that libraries ignore. is_told: the program has read it.
    """

    def __init__(self, prints: bool) -> None:
        self.prints = prints
        self.calls = 0
        self.is_asked = False
        self.is_told = False


class Log:
    """The last entries, and who wants to be called about new ones."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._entries: deque[tuple[int, bytes]] = deque(maxlen=LENGTH)
        self._next = 1
        self._callbacks: dict[int, tuple[Any, int | None]] = {}
        self._ids = itertools.count(1)
        self._reports: dict[str, _Report] = {}  # of faults, the newest last
        self._is_over = False
        atexit.register(self.tell)

    def report(self, text: str, prints: bool) -> None:
        """A fault. It is printed, if at all, if the program goes on, or ends, without having read it here."""
        with self._lock:
            self._reports.pop(text, None)
            self._reports[text] = _Report(prints)
            if len(self._reports) > LENGTH:
                del self._reports[next(iter(self._reports))]
        if not prints:
            note_told(text)
        elif self._is_over:
            self.show(text)

    def forked(self) -> None:
        """In a forked child: what its parent's calls have reported, the parent tells."""
        self._lock = threading.Lock()
        self._reports.clear()

    def tell(self) -> None:
        """Print the reports that the program has not read: it ends. Later ones are printed at once."""
        self._is_over = True
        self.show_all()

    def show_all(self) -> None:
        """Print the reports that the program has not read."""
        for text in list(self._reports):
            self.show(text)

    def show(self, text: str) -> None:
        """Print a report, unless the program has read it."""
        with self._lock:
            report = self._reports.get(text)
            if report is None or report.is_told or not report.prints:
                return
            report.is_told = True
        if say(text):
            note_told(text)

    def _told(self) -> None:
        """The program has read what the last calls failed with."""
        for text, report in list(self._reports.items()):
            if report.is_asked and not report.is_told:
                report.is_told = True
                note_told(text)

    def refused(self, symbol: str, refused: Refused) -> None:
        """What a call that failed leaves: the reason, and a last line with the status."""
        if refused.status in QUIET:
            return
        report = self._reports.get(refused.reason)
        if report is not None and report.is_told:
            self.write(reference(refused.reason))
        elif refused.reason:
            self.write(refused.reason)
        if report is not None:
            report.calls += 1
            report.is_asked = report.is_asked or not _IGNORED.search(symbol)
            if report.calls > PATIENCE:
                self.show(refused.reason)
        self.write(f"Returning {refused.code} ({refused.status}) from {symbol.rpartition('_v')[0] or symbol}")

    def write(self, message: str) -> None:
        """Add one entry."""
        stamp = time.strftime("%H:%M:%S")
        for line in message.splitlines():
            text = f"[{stamp}][{threading.get_ident()}][CUDA][E] {line}".encode()
            with self._lock:
                self._entries.append((self._next, text))
                self._next += 1
                callbacks = list(self._callbacks.values())
            if callbacks:
                self._told()
            for callback, data in callbacks:
                callback(data, int(CUlogLevel.CU_LOG_LEVEL_ERROR), text, len(text))

    def current(self) -> int:
        """The place behind the last entry."""
        return self._next

    def since(self, place: int) -> bytes:
        """The entries from `place` on, the last SIZE bytes of them."""
        self._told()
        with self._lock:
            lines = [text for number, text in self._entries if number >= place]
        while sum(len(line) + 1 for line in lines) >= SIZE:
            lines.pop(0)
        return b"".join(line + b"\n" for line in lines)

    def call(self, address: int, data: int | None) -> int:
        """Have the function at `address` called with each new entry; what `forget` takes."""
        handle = next(self._ids)
        prototype = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_size_t)
        with self._lock:
            self._callbacks[handle] = prototype(address), data
        return handle

    def forget(self, handle: int) -> None:
        """Call it no more."""
        with self._lock:
            if self._callbacks.pop(handle, None) is None:
                raise invalid("no callback is registered under this handle")


log = Log()
forks.in_child(log.forked)
