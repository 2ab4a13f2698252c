"""Mistakes in the simulator itself: shown once each, however many calls they break."""

from __future__ import annotations

import traceback

from .stderr import say

_shown: set[tuple[object, ...]] = set()


def show(what: str, error: BaseException) -> str:
    """Print where an exception comes from, the first time; returns the reason for the log.

    what: the work that it ended.
    """
    frames = traceback.extract_tb(error.__traceback__)
    place = type(error), *((frame.filename, frame.lineno) for frame in frames[-1:])
    if place not in _shown:
        _shown.add(place)
        text = "".join(traceback.format_exception(type(error), error, error.__traceback__)).rstrip()
        say(f"{what} failed, which is a mistake in the simulator:\n{text}")
    return f"a mistake in the simulator: {type(error).__name__}: {error}"
