"""A row: the times of one subject and of its rivals, round by round."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from .rounds import Spread, interval, spread


@dataclass
class Record:
    """One row: the times of a subject, the first in `times`, and of its rivals in the same rounds.

    group, name: where it stands in the report. times: seconds (bytes where `unit` is "B") for each contender,
    the subject first, one value a round. baseline: the contender whose time is subtracted from all others
    first, such as a bare interpreter for imports. note: what else is to be said. test: which test it is of.
    """

    group: str
    name: str
    times: dict[str, list[float]]
    unit: str = "s"
    baseline: str | None = None
    note: str = ""
    test: str = ""
    missing: dict[str, str] = field(default_factory=dict)  # rivals that could not take part, and why

    @property
    def subject(self) -> str:
        """Who is compared with the others."""
        return next(iter(self.times))

    def values(self, who: str) -> list[float]:
        """The sample of a contender, the baseline subtracted."""
        if self.baseline is None or who == self.baseline:
            return self.times[who]
        return [t - b for t, b in zip(self.times[who], self.times[self.baseline], strict=True)]

    def cost(self) -> Spread:
        """What the subject takes."""
        return spread(self.values(self.subject))

    def ratios(self) -> dict[str, Spread]:
        """The subject's time over that of each rival, taken round by round: below 1 it is faster.

        The median with its confidence interval.
        """
        return {who: interval(ratios) for who, ratios in self.samples().items()}

    def samples(self) -> dict[str, list[float]]:
        """The ratio to each rival in each round."""
        mine = self.values(self.subject)
        return {
            who: [m / t for m, t in zip(mine, self.values(who), strict=True)]
            for who in self.times
            if who not in (self.subject, self.baseline)
        }

    def joined(self, other: Record) -> Record:
        """The rounds of both, of those who took part in both."""
        times = {who: [*mine, *other.times[who]] for who, mine in self.times.items() if who in other.times}
        return replace(self, times=times, missing=self.missing | other.missing)

    def as_json(self) -> dict[str, Any]:
        """Plain data: medians and ratios for people, every round for programs (nanoseconds, or bytes)."""
        scale, digits = (1e9, 1) if self.unit == "s" else (1, 0)
        return {
            "group": self.group,
            "name": self.name,
            "unit": "ns" if self.unit == "s" else self.unit,
            "ratios": {who: [round(x, 4) for x in r] for who, r in self.ratios().items()},
            "baseline": self.baseline,
            "note": self.note,
            "test": self.test,
            "missing": self.missing,
            "rounds": {who: [round(t * scale, digits) for t in times] for who, times in self.times.items()},
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Record:
        """What `as_json` made, as exact as that was."""
        seconds = data["unit"] == "ns"
        return cls(
            data["group"],
            data["name"],
            {who: [t * 1e-9 if seconds else t for t in times] for who, times in data["rounds"].items()},
            "s" if seconds else data["unit"],
            data["baseline"],
            data["note"],
            data["test"],
            data["missing"],
        )
