"""Text of a function into the function, its lines kept where tracebacks and debuggers look for them."""

from __future__ import annotations

import linecache
from typing import Any


def function(name: str, source: str, filename: str, scope: dict[str, Any]) -> Any:
    """The function `name` that `source` defines; `scope` is its globals, and gets no name from it."""
    linecache.cache[filename] = (len(source), None, source.splitlines(True), filename)
    made: dict[str, Any] = {}
    exec(compile(source, filename, "exec"), scope, made)
    return made[name]
