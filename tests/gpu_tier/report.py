"""The table at the end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .figures import FAILED, NOT_RUN, OK, TOLD
from .schedule import Outcome

HEADINGS = ("test", "what", "asked for", "measured", "verdict")
LOG = 6000  # characters of the end of a log


def table(outcomes: Sequence[Outcome]) -> str:
    """All figures in columns, below them why those failed that did, and why others did not run."""
    rows = [HEADINGS]
    for outcome in outcomes:
        rows += [(outcome.test.name, f.what, f.asked, f.measured, f.verdict) for f in outcome.figures]
    widths = [max(len(row[i]) for row in rows) for i in range(len(HEADINGS))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]
    lines.insert(1, "  ".join("-" * width for width in widths))
    for outcome in outcomes:
        for figure in outcome.figures:
            if figure.why:
                lines.append(f"{figure.verdict}: {outcome.test.name}: {figure.what}: {figure.why}")
    return "\n".join(line.rstrip() for line in lines)


def logs(outcomes: Sequence[Outcome]) -> str:
    """The ends of the logs of tests that failed."""
    return "\n".join(
        f"---- {outcome.test.name} ----\n{outcome.log[-LOG:].rstrip()}"
        for outcome in outcomes
        if outcome.log.strip() and any(figure.verdict == FAILED for figure in outcome.figures)
    )


def summary(outcomes: Sequence[Outcome]) -> str:
    """How many figures there are of each verdict."""
    verdicts = [figure.verdict for outcome in outcomes for figure in outcome.figures]
    return ", ".join(f"{verdicts.count(verdict)} {verdict}" for verdict in (OK, FAILED, NOT_RUN, TOLD))


def as_json(outcomes: Sequence[Outcome], about: dict[str, Any]) -> dict[str, Any]:
    """All of it for programs."""
    return {
        **about,
        "tests": [
            {
                "name": outcome.test.name,
                "seconds": round(outcome.seconds, 2),
                "figures": [figure.as_dict() for figure in outcome.figures],
            }
            for outcome in outcomes
        ],
    }
