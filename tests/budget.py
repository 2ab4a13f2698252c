"""What hypothesis may spend on a test: a number of examples, the same in every run, and no clock."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

budget = settings(
    max_examples=100,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
thorough = settings(budget, max_examples=300)
