"""What a test finds out."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

OK, FAILED, NOT_RUN, TOLD = "ok", "FAILED", "not run", "told"


@dataclass(frozen=True)
class Figure:
    """One row: what was asked for, what was measured, and whether that will do.

    verdict: OK, FAILED, NOT_RUN (`why` says why), or TOLD: a figure that nothing was asked of.
    """

    what: str
    asked: str
    measured: str
    verdict: str
    why: str = ""

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def judged(what: str, asked: str, measured: object, holds: object, why: str = "") -> Figure:
    """A figure that is as asked for if `holds`; if not, `why` has what was seen."""
    return Figure(what, asked, str(measured), OK if holds else FAILED, "" if holds else why)


def told(what: str, measured: object, why: str = "") -> Figure:
    """A figure that nothing is asked of."""
    return Figure(what, "", str(measured), TOLD, why)


def not_run(what: str, asked: str, why: str) -> Figure:
    """What could not be found out here."""
    return Figure(what, asked, "", NOT_RUN, why)
