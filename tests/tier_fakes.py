"""Tests of tests/gpu_tier that end in every way, for those of its scheduler."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator

from .gpu_tier.figures import Figure, judged
from .gpu_tier.scale import Scale

SLEEPER = [sys.executable, "-c", "import time; time.sleep(600)"]


def passes(scale: Scale) -> Iterator[Figure]:
    yield judged("size", "any", "small" if scale.small else "full", True)
    yield judged("part", "any", list(scale.part(7)), True)
    yield judged("workers", "any", scale.workers, True)


def fails(scale: Scale) -> Iterator[Figure]:
    yield judged("this", "1", "1", True, "nothing")
    yield judged("that", "1", "2", False, "it is 2")


def raises(scale: Scale) -> Iterator[Figure]:
    yield judged("this", "1", "1", True)
    raise ValueError("no more of that")


def crashes(scale: Scale) -> Iterator[Figure]:
    yield judged("this", "1", "1", True)
    os.kill(os.getpid(), signal.SIGSEGV)


def leaves_early(scale: Scale) -> Iterator[Figure]:
    yield judged("this", "1", "1", True)
    os._exit(3)


def finds_nothing(scale: Scale) -> Iterator[Figure]:
    yield from ()


def a_place_to_hang() -> None:
    time.sleep(600)


def hangs(scale: Scale) -> Iterator[Figure]:
    child = subprocess.Popen(SLEEPER)
    yield judged("child", "one that hangs", child.pid, True)
    a_place_to_hang()


def waits(scale: Scale) -> Iterator[Figure]:
    """Says when it began and when it ended."""
    began = time.monotonic()
    time.sleep(0.3)
    yield judged("from", "", began, True)
    yield judged("to", "", time.monotonic(), True)
