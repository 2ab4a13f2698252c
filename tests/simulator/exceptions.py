"""The GPU tests that do not run on the simulator, each with its reason."""

from __future__ import annotations

import pytest

REASONS: dict[str, str] = {}
"""The beginning of a test's name, as "test_driver_green.py" or "test_driver_log.py::test_a_file", to why."""


def not_on_the_simulator(item: pytest.Item) -> str:
    """Why a GPU test does not run there; "" if it does."""
    name = item.nodeid.rpartition("gpu/")[2]
    for prefix, reason in REASONS.items():
        if name == prefix or name.startswith((prefix + "::", prefix + "[")):
            return reason
    return ""
