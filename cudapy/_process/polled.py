"""What threads ask about again and again until it is done: waits that Ctrl-C ends, as they are in Python.

core says it here, and the simulator reads it, which looks for ranks that wait for each other.
"""

from typing import Any

polled: dict[int, tuple[Any, float]] = {}
"""By the number of a thread the handle of a stream or an event, and since when (time.monotonic)."""
