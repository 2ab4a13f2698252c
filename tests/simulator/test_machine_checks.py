"""The checks in machine code: what they find and count is what NumPy finds and counts."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from cudapy.simulator.engine import coverage, settings
from cudapy.simulator.engine.jit import processor

from .machine_programs import program, run

pytestmark = pytest.mark.skipif(
    not processor.is_supported(), reason="there is machine code for x86-64 with AVX2 alone"
)


@pytest.fixture
def checks(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The settings, which a test may change."""
    current = dataclasses.replace(settings.current)
    monkeypatch.setattr(settings, "current", current)
    coverage.reset()
    yield current
    coverage.reset()


@pytest.mark.parametrize("seed", range(400, 410))
def test_coverage_of_random_programs(seed: int, checks: Any) -> None:
    checks.coverage = True
    found = []
    for value in ("never", "always"):
        coverage.reset()
        _, failed = run(program(seed), value)
        (counts,) = coverage.report()
        assert failed is None
        found.append((counts.lines(), counts.branches()))
    assert found[0] == found[1]
