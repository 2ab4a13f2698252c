"""Items in processes of their own: who watches them, and what becomes of one that does not come back."""

from __future__ import annotations

import faulthandler
import json
import os
import resource
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

CPU, WALL, GRACE = 4.0, 30.0, 30.0
"""Seconds that an item may compute, and may take beside others; and that C code may take to end."""
MEMORY = 2 << 30
"""Address space that a process of a fuzzer may have beyond what it begins with."""
TOO_LONG = 70


class Fuzz(Protocol):
    """A fuzzer in a process: `at_once` items in each, fewer when it is spent."""

    at_once: int
    is_spent: bool

    def item(self, number: int) -> str:
        """Make one, and try it: in a word what became of it. Raises AssertionError for a mistake."""


@dataclass
class _Worker:
    pid: int
    reader: int
    stderr: Any
    next: int
    end: int
    since: float = field(default_factory=time.monotonic)
    said: bytes = b""


class Runner:
    """`make` makes a fuzzer, in each process."""

    def __init__(self, make: Callable[[], Fuzz], processes: int) -> None:
        self.outcomes: Counter[str] = Counter()
        self.wrong: list[tuple[int, str]] = []
        self._make, self._processes = make, processes

    def run(self, first: int, count: int, seconds: float = 0) -> int:
        """Try `count` items, fewer if that takes more than `seconds`; how many it were."""
        self._next, self._end = first, first + count
        workers: list[_Worker] = []
        until = time.monotonic() + seconds if seconds else float("inf")
        while self._next < self._end or workers:
            if time.monotonic() > until:
                self._end = self._next
            while len(workers) < self._processes and self._next < self._end:
                part = min(self._end, self._next + getattr(self._make, "at_once", 100))
                workers.append(self._start(self._next, part))
                self._next = part
            for worker in workers[:]:
                again = self._look(worker)
                if again is not worker:
                    workers.remove(worker)
                    workers += [again] if again is not None else []
            time.sleep(0.01)
        return sum(self.outcomes.values()) + len(self.wrong)

    def _start(self, first: int, end: int) -> _Worker:
        reader, writer = os.pipe()
        stderr = tempfile.TemporaryFile()  # noqa: SIM115 (closed when the process has ended)
        sys.stdout.flush()
        pid = os.fork()
        if not pid:
            code = 1
            try:
                os.close(reader)
                os.dup2(stderr.fileno(), 2)
                os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
                _work(self._make, first, end, writer)
                code = 0
            except BaseException:
                sys.excepthook(*sys.exc_info())
            finally:
                sys.stderr.flush()
                os._exit(code)
        os.close(writer)
        os.set_blocking(reader, False)
        return _Worker(pid, reader, stderr, first, end)

    def _look(self, worker: _Worker) -> _Worker | None:
        """Take what a process said; it, the one that goes on in its place, or None after the last item."""
        ended, status = os.waitpid(worker.pid, os.WNOHANG)
        while True:
            try:
                data = os.read(worker.reader, 1 << 16)
            except BlockingIOError:
                break
            if not data:
                break
            worker.said += data
        *lines, worker.said = worker.said.split(b"\n")
        for line in lines:
            number, outcome, wrong = json.loads(line)
            worker.next, worker.since = number + 1, time.monotonic()
            if wrong:
                self.wrong.append((number, wrong))
            else:
                self.outcomes[outcome] += 1
        if not ended and time.monotonic() - worker.since > WALL + GRACE:
            os.kill(worker.pid, signal.SIGKILL)
        if not ended:
            return worker
        os.close(worker.reader)
        worker.stderr.seek(0)
        said = worker.stderr.read().decode(errors="replace")[-3000:]
        worker.stderr.close()
        if not status:
            return self._start(worker.next, worker.end) if worker.next < worker.end else None
        code = os.waitstatus_to_exitcode(status)
        how = f"ended by {signal.Signals(-code).name}" if code < 0 else f"ended with code {code}"
        self.wrong.append((worker.next, f"{'takes too long' if code == TOO_LONG else how}\n{said}"))
        print(f"{worker.next}: {how}", file=sys.stderr)
        return self._start(worker.next + 1, worker.end) if worker.next + 1 < worker.end else None


def _work(make: Callable[[], Fuzz], first: int, end: int, writer: int) -> None:
    faulthandler.enable()
    fuzzer = make()
    with open("/proc/self/statm") as file:
        used = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))
    signal.signal(signal.SIGPROF, _too_long)
    signal.signal(signal.SIGALRM, _too_long)
    for number in range(first, end):
        signal.setitimer(signal.ITIMER_PROF, CPU)
        signal.setitimer(signal.ITIMER_REAL, WALL)
        outcome = wrong = ""
        try:
            outcome = fuzzer.item(number)
        except AssertionError as error:
            wrong = str(error) or "an assertion"
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
        os.write(writer, json.dumps([number, outcome, wrong[:3000]]).encode() + b"\n")
        if fuzzer.is_spent:
            return


def _too_long(number: int, frame: object) -> None:
    faulthandler.dump_traceback(file=2)
    os._exit(TOO_LONG)
