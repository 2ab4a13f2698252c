"""Text of a function into the function, its lines kept where tracebacks and debuggers look for them."""

from __future__ import annotations

import itertools
import linecache
from _thread import RLock
from typing import Any

from .. import _forks

_numbers = itertools.count(1)
_installing = RLock()  # a finalizer may come by that calls something for the first time


@_forks.in_child
def _unlock() -> None:
    """In a process that was forked while another thread held it."""
    global _installing
    _installing = RLock()


class Source:
    """What `linecache` asks for the text of a function when somebody looks, and not before."""

    def __init__(self, text: str) -> None:
        self.text = text

    def get_source(self, name: str) -> str:
        return self.text


def functions(
    source: str, filename: str, scope: dict[str, Any], *, own_scope: bool = False
) -> dict[str, Any]:
    """The functions that `source` defines, by name; `scope` is their globals, and gets none of these names.

    own_scope: nothing else has this scope. It gets the text, which goes with it; otherwise linecache keeps
        the text until the process ends.
    """
    if own_scope:
        scope.update(__name__=filename, __loader__=Source(source))
    else:
        linecache.cache[filename] = (len(source), None, source.splitlines(True), filename)
    defined: dict[str, Any] = {}
    exec(compile(source, filename, "exec"), scope, defined)
    return defined


def function(name: str, source: str, filename: str, scope: dict[str, Any]) -> Any:
    """The function `name` that `source` defines, of a scope that others have, too."""
    return functions(source, filename, scope)[name]


def function_of_object(name: str, source: str, filename: str, scope: dict[str, Any]) -> Any:
    """The same for a function of one object, which goes with it, and which has a scope of its own.

    `filename` gets a number, so that there is no other of that name.
    """
    return functions(source, f"{filename}, {next(_numbers)}", scope, own_scope=True)[name]


def install_code(stub: Any, written: Any, trampoline: Any) -> None:
    """Give `stub` the code that was written for it in the place of the trampoline's, once.

    Threads whose first calls meet each write one. What the first of them set stays: code that another thread
    may be about to enter is not taken away, which interpreters without a GIL do not guard against.
    """
    with _installing:
        if stub.__code__ is trampoline:
            stub.__code__ = written
