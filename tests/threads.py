"""Threads that do the same thing at the same time."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable


def at_once(work: Callable[[int], object], count: int = 8, interval: float = 1e-6) -> None:
    """Run `work(0)`, `work(1)` ... on threads that are switched every `interval` seconds, or nearly.

    Raises what one raised.
    """
    wrong: list[BaseException] = []

    def run(number: int) -> None:
        try:
            work(number)
        except BaseException as error:
            wrong.append(error)

    before = sys.getswitchinterval()
    sys.setswitchinterval(interval)
    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    sys.setswitchinterval(before)
    if wrong:
        raise wrong[0]
