"""What hypothesis may spend on a test, by profile; and what it once found.

HYPOTHESIS_PROFILE=nightly: new examples in every run, HYPOTHESIS_FACTOR (20) times as many. Otherwise a few,
the same in every run. No test has a clock.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, settings

NIGHTLY = os.environ.get("HYPOTHESIS_PROFILE") == "nightly"
MORE = int(os.environ.get("HYPOTHESIS_FACTOR", "20")) if NIGHTLY else 1

budget = settings(
    max_examples=100 * MORE,
    deadline=None,
    derandomize=not NIGHTLY,
    database=None,
    print_blob=NIGHTLY,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
thorough = settings(budget, max_examples=300 * MORE)
fuzz = settings(budget, max_examples=200 * MORE)
"""For bytes of strangers: cubins, capsules, descriptors, cache entries."""

ONCE_FAILED = Path(__file__).with_name("once_failed.json")


def once_failed(name: str) -> list[Any]:
    """The examples of a fuzzer that found a mistake at some time: they are tried in each run."""
    found: list[Any] = json.loads(ONCE_FAILED.read_text())[name]
    return found
