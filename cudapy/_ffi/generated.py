"""Text of a function into the function, its lines kept where tracebacks and debuggers look for them."""

from __future__ import annotations

import itertools
import linecache
import os
from _thread import RLock
from typing import Any

_numbers = itertools.count(1)
_settling = RLock()  # a finalizer may come by that calls something for the first time


def _unlock() -> None:
    """In a process that was forked while another thread held it."""
    global _settling
    _settling = RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_unlock)


class Source:
    """What `linecache` asks for the text of a function when somebody looks, and not before."""

    def __init__(self, text: str) -> None:
        self.text = text

    def get_source(self, name: str) -> str:
        return self.text


def function_of_object(name: str, source: str, filename: str, scope: dict[str, Any]) -> Any:
    """The same for a function of one object, which goes with it: its globals have the text, and no table.

    `filename` gets a number, so that there is no other of that name.
    """
    filename = f"{filename}, {next(_numbers)}"
    scope.update(__name__=filename, __loader__=Source(source))
    made: dict[str, Any] = {}
    exec(compile(source, filename, "exec"), scope, made)
    return made[name]


def function(name: str, source: str, filename: str, scope: dict[str, Any]) -> Any:
    """The function `name` that `source` defines; `scope` is its globals, and gets no name from it."""
    linecache.cache[filename] = (len(source), None, source.splitlines(True), filename)
    made: dict[str, Any] = {}
    exec(compile(source, filename, "exec"), scope, made)
    return made[name]


def settle(stub: Any, written: Any, trampoline: Any) -> None:
    """Give `stub` the code that was written for it in the place of the trampoline's, once.

    Threads whose first calls meet each write one. What the first of them set stays: code that another thread
    may be about to enter is not taken away, which interpreters without a GIL do not guard against.
    """
    with _settling:
        if stub.__code__ is trampoline:
            stub.__code__ = written
