"""Text of a function into the function, its lines kept where tracebacks and debuggers look for them."""

import itertools
import sys
from _thread import RLock
from types import CodeType, FunctionType
from typing import Any

from .._process import forks

_numbers = itertools.count(1)
_installing = RLock()  # a finalizer may come by that calls something for the first time


@forks.in_child
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


_codes: dict[str, CodeType] = {}
_MOST = 1024
"""How many texts are remembered. A program has some hundred; one that makes kernels for ever has no end."""


def _code_of(source: str) -> CodeType:
    """The code of the one function that `source` defines, compiled once."""
    code = _codes.get(source)
    if code is None:
        (code,) = (each for each in compile(source, "", "exec").co_consts if type(each) is CodeType)
        if len(_codes) >= _MOST:
            _codes.clear()
        _codes[source] = code
    return code


_lines: dict[str, Any] = {}  # what `linecache` is to have once something imports it


def _show(filename: str, lines: Any) -> None:
    """Have tracebacks and debuggers find the text of a function: `linecache` has it, if it is imported.

    It is not imported for that, which takes longer than to write a function. What is written before somebody
    else imports it gets there with the next function that is written.
    """
    _lines[filename] = lines
    cache = getattr(sys.modules.get("linecache"), "cache", None)
    while cache is not None and _lines:
        try:
            filename, lines = _lines.popitem()
        except KeyError:  # another thread was here
            return
        cache[filename] = lines


def function(name: str, source: str, filename: str, scope: dict[str, Any]) -> Any:
    """The function `name` that `source` defines. `scope` are its globals, which others have, too."""
    _show(filename, (len(source), None, source.splitlines(True), filename))
    defined: dict[str, Any] = {}
    exec(compile(source, filename, "exec"), scope, defined)
    return defined[name]


def function_of_object(name: str, source: str, filename: str, scope: dict[str, Any]) -> Any:
    """As `function`, for a function of one object, which goes with it, and which has a scope of its own.

    `filename` gets a number, so that there is no other of that name.
    """
    filename = f"{filename}, {next(_numbers)}"
    scope.update(__name__=filename, __loader__=Source(source))
    return FunctionType(_code_of(source).replace(co_filename=filename), scope)


def install_code(stub: Any, written: Any, trampoline: Any) -> None:
    """Give `stub` the code that was written for it in the place of the trampoline's, once.

    Threads whose first calls meet each write one. What the first of them set stays: code that another thread
    may be about to enter is not taken away, which interpreters without a GIL do not guard against.
    """
    with _installing:
        if stub.__code__ is trampoline:
            stub.__code__ = written
