"""What the modules of functions begin with: each declares the functions of one library."""

from __future__ import annotations

from .._ffi.library import Library
from .._process import environment

TYPE_CHECKING = False
if TYPE_CHECKING:
    import ctypes
    from collections.abc import Callable
    from typing import Any


def loader(name: str) -> Callable[[], ctypes.CDLL]:
    """What loads the library that `pathfinder` knows by this name, and returns its handle."""
    pathfinder: Any = None

    def load() -> ctypes.CDLL:
        nonlocal pathfinder
        if pathfinder is None:
            from .. import pathfinder
            from .._pathfinder.opened import when_replaced

            if Library.close_early not in when_replaced:
                when_replaced.append(Library.close_early)
        return pathfinder.load(name).handle  # type: ignore[no-any-return]

    return load


def meanings(table: str) -> Callable[[], dict[str, tuple[str, str]]]:
    """What returns a table of `_types.meanings`, such as "CURESULT": of each status a sentence and a hint."""

    def read() -> dict[str, tuple[str, str]]:
        from .._types import meanings

        meaning: dict[str, tuple[str, str]] = getattr(meanings, table)
        return meaning

    return read


def recipes(library: str) -> Callable[[], tuple[str, str, int, str]]:
    """What returns what `_types.lanes` has of a library."""

    def read() -> tuple[str, str, int, str]:
        from .._types import lanes

        found: tuple[str, str, int, str] = getattr(lanes, library)
        return found

    return read


def suffixes() -> tuple[str, ...]:
    """What is tried before the bare name of a function that has a form for the default stream of a thread."""
    return ("_ptsz", "_ptds") if environment.PER_THREAD_DEFAULT_STREAM else ()
