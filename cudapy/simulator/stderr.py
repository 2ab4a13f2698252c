"""What the simulator tells people, in the middle of a program that may have closed its standard error."""

import sys

_shown: set[tuple[object, ...]] = set()


def say(text: str) -> bool:
    """Print lines on stderr; whether that was possible, which is not a reason for a program to fail."""
    if sys.stderr is None:
        return False
    try:
        print(f"cudapy simulator: {text}", file=sys.stderr, flush=True)
    except (OSError, ValueError):  # it is closed, or nobody reads it
        return False
    return True


def say_mistake(what: str, error: BaseException) -> str:
    """Print where an exception comes from that is a mistake in the simulator itself, the first time, however
    many calls it breaks; returns the reason for the log. what: the work that it ended.
    """
    import traceback

    frames = traceback.extract_tb(error.__traceback__)
    place = type(error), *((frame.filename, frame.lineno) for frame in frames[-1:])
    if place not in _shown:
        _shown.add(place)
        text = "".join(traceback.format_exception(type(error), error, error.__traceback__)).rstrip()
        say(f"{what} failed, which is a mistake in the simulator:\n{text}")
    return f"a mistake in the simulator: {type(error).__name__}: {error}"
