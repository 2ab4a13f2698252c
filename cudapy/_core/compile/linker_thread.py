"""The one thread in which nvJitLink works.

A link that fails leaves something in its thread that nvJitLink (12.9 to 13.5) uses after that thread is gone,
or when the linker is destroyed in another: the process ends with a segmentation fault. So all of it is done
in one thread that lives as long as the process, and serves every copy of this package that libraries have
brought into it. Links wait for each other; `split_compile` makes one faster.
"""

import os
import queue
import sys
import threading
from collections.abc import Callable
from typing import Any, TypeVar

from ..._process import forks

T = TypeVar("T")

Task = tuple[Callable[..., Any], tuple[Any, ...], "_Result | None"]


class _Result:
    """What a task gave, for the thread that waits for it."""

    def __init__(self) -> None:
        self.ready = threading.Event()
        self.value: Any = None
        self.error: BaseException | None = None


class _Line:
    """The thread, and what waits for it."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        # A finalizer may put something into it while another put is under way in the same thread.
        self.tasks: queue.SimpleQueue[Task] = queue.SimpleQueue()
        self.process = 0  # the one that the thread is in
        self.thread = 0


_line: _Line = vars(sys).setdefault("_cudapy_nvjitlink", _Line())
"""One for the process, whatever libraries have copies of this package in it."""


@forks.in_child
def _unlock() -> None:
    """In a process that was forked while another thread held it."""
    _line.lock = threading.Lock()


def call(function: Callable[..., T], *args: Any) -> T:
    """`function(*args)`, done in that thread."""
    if threading.get_ident() == _line.thread and _line.process == os.getpid():
        return function(*args)
    _start()
    result = _Result()
    _line.tasks.put((function, args, result))
    result.ready.wait()
    if result.error is not None:
        raise result.error
    value: T = result.value
    return value


def later(function: Callable[..., object], *args: Any) -> None:
    """`function(*args)`, done in that thread at some time: nobody waits, so a finalizer may ask for it."""
    _line.tasks.put((function, args, None))


def _start() -> None:
    """Start the thread, unless it runs; in a process that was forked it does not."""
    with _line.lock:
        if _line.process != os.getpid():
            tasks: queue.SimpleQueue[Task] = queue.SimpleQueue()
            threading.Thread(target=_work, args=(tasks,), name="cudapy nvJitLink", daemon=True).start()
            _line.process, _line.tasks = os.getpid(), tasks  # a thread that did not start works on nothing


def _work(tasks: queue.SimpleQueue[Task]) -> None:
    _line.thread = threading.get_ident()
    while True:
        function, args, result = tasks.get()
        try:
            value = function(*args)
        except BaseException as error:
            if result is None:
                sys.excepthook(type(error), error, error.__traceback__)
            else:
                result.error = error
        else:
            if result is not None:
                result.value = value
        if result is not None:
            result.ready.set()
        function = args = result = value = None  # type: ignore[assignment]  # nothing is kept until the next
