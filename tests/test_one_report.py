"""What a worker sends of a test: one report, and those of its setup and its teardown that have not passed."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from . import conftest


@pytest.mark.parametrize(
    ("outcomes", "told"),
    [
        ({"setup": "passed", "call": "passed", "teardown": "passed"}, ["call passed"]),
        ({"setup": "passed", "call": "failed", "teardown": "passed"}, ["call failed"]),
        ({"setup": "passed", "call": "skipped", "teardown": "failed"}, ["call skipped", "teardown failed"]),
        ({"setup": "failed", "teardown": "passed"}, ["setup failed"]),
        ({"setup": "skipped", "teardown": "passed"}, ["setup skipped"]),
        ({"setup": "passed", "teardown": "passed"}, ["setup passed"]),  # --setup-only
    ],
)
def test_what_is_told(monkeypatch: pytest.MonkeyPatch, outcomes: dict[str, Any], told: list[str]) -> None:
    location = ("test_x.py", 1, "test_x")
    reports = [
        pytest.TestReport("test_x.py::test_x", location, {}, outcome, None, when, duration=0.5)
        for when, outcome in outcomes.items()
    ]
    said: list[Any] = []
    hooks = SimpleNamespace(
        pytest_runtest_logstart=lambda nodeid, location: said.append("start"),
        pytest_runtest_logreport=lambda report: said.append(report),
        pytest_runtest_logfinish=lambda nodeid, location: said.append("finish"),
    )
    item: Any = SimpleNamespace(nodeid="test_x.py::test_x", location=location, ihook=hooks)
    monkeypatch.setattr(conftest, "runtestprotocol", lambda *_, **__: reports)
    assert conftest.OneReport().pytest_runtest_protocol(item, None)
    start, *sent, finish = said
    assert (start, finish) == ("start", "finish")
    assert [f"{report.when} {report.outcome}" for report in sent] == told
    assert sum(report.duration for report in sent) == 0.5 * (len(outcomes) + len(told) - 1)
