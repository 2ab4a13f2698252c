"""Python functions from text that the engine wrote."""

import itertools
from typing import Any

_numbers = itertools.count()


class _Text:
    """What `linecache` asks for the text of a module when a traceback or a debugger shows it."""

    def __init__(self, text: str) -> None:
        self._text = text

    def get_source(self, name: str) -> str:
        return self._text


def functions(source: str, title: str, scope: dict[str, Any]) -> dict[str, Any]:
    """The functions that `source` defines, by name. `scope` are their globals, and nobody else's: it keeps
    the text, too, for tracebacks, which show `title` as the file's name.
    """
    filename = f"<{title}> {next(_numbers)}"  # linecache ignores names that end with >
    scope.update(__name__=filename, __loader__=_Text(source))
    defined: dict[str, Any] = {}
    exec(compile(source, filename, "exec"), scope, defined)
    return defined
