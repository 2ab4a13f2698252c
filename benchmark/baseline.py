"""Baselines: the ratios of an earlier commit, and whether today's are worse.

What is kept of a row is the median of its ratio to C++, and to ctypes by hand, in each of several
processes. A row is worse if the least of today's is more than `MARGIN` above the least of the baseline's:
what disturbs a process disturbs Python more than C, for as long as it runs, and by more than what is looked
for; the process that was disturbed least is the one to compare. It has to be so for both anchors, if both
took part: they have noises of their own, and what made cudapy slower shows in both.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from .document import Document
from .record import Record

FOLDER = Path(__file__).parent / "baselines"
MARGIN = 0.05
ANCHORS = ("C++", "plain ctypes")
SAME = ("GPU", "CPU")
"""What two runs must have been read on alike, so that their ratios can be compared."""


class Unfit(ValueError):
    """There is no such baseline, or it says nothing about this machine."""


@dataclass
class Baseline:
    """The ratios of each row by anchor, a process each, and what they were read on."""

    machine: Mapping[str, str]
    rows: Mapping[str, Mapping[str, Sequence[float]]]

    def worse(self, now: Baseline) -> set[str]:
        """The rows in which `now` is slower. Raises Unfit if it was read on another machine."""
        for name in SAME:
            if self.machine.get(name) != now.machine.get(name):
                here, there = now.machine.get(name), self.machine.get(name)
                raise Unfit(f"the baseline is of another {name}: {there}, not {here}")
        return {row for row in now.rows if row in self.rows and _worse(self.rows[row], now.rows[row])}

    def text(self, now: Baseline, worse: Collection[str]) -> str:
        """What `now` is in comparison, for people."""
        both = [row for row in now.rows if row in self.rows]
        lines = [
            f"compared with the baseline of {self.machine.get('date')}, {len(both)} rows: "
            f"{len(worse) or 'none'} slower by more than {MARGIN:.0%}"
        ]
        width = max(map(len, both), default=0)
        for row in both:
            for anchor in self.rows[row] if row in worse else ():
                if anchor in now.rows[row]:
                    before, after = self.rows[row][anchor], now.rows[row][anchor]
                    lines.append(f"  {row:{width}}  / {anchor}: {_range(before)} became {_range(after)}")
        lines += [f"  not measured this time: {row}" for row in self.rows if row not in now.rows]
        lines += [f"  not in the baseline: {row}" for row in now.rows if row not in self.rows]
        return "\n".join(lines)


def _worse(before: Mapping[str, Sequence[float]], now: Mapping[str, Sequence[float]]) -> bool:
    both = [(before[anchor], now[anchor]) for anchor in before if anchor in now]
    return bool(both) and all(min(after) > (1 + MARGIN) * min(earlier) for earlier, after in both)


def _range(ratios: Sequence[float]) -> str:
    return f"{min(ratios):.3f} (to {max(ratios):.3f})"


def key(record: Record) -> str:
    """The name of a row among all."""
    return f"{record.group}: {record.name}"


def of(documents: Sequence[Document]) -> Baseline:
    """The ratios of several runs."""
    rows: dict[str, dict[str, list[float]]] = {}
    for document in documents:
        for record in document.records:
            for anchor, ratio in record.ratios().items():
                if anchor in ANCHORS:
                    ratios = rows.setdefault(key(record), {}).setdefault(anchor, [])
                    ratios.append(round(ratio.median, 4))
    return Baseline(documents[0].machine, rows)


def tests(documents: Sequence[Document], rows: Collection[str]) -> list[str]:
    """The tests that measure these rows."""
    records = (record for document in documents for record in document.records)
    return sorted({record.test for record in records if key(record) in rows})


def save(name: str, documents: Sequence[Document]) -> Path:
    """Keep the ratios under a name."""
    found = of(documents)
    FOLDER.mkdir(exist_ok=True)
    path = _path(name)
    path.write_text(json.dumps({"machine": dict(found.machine), "rows": found.rows}, indent=1) + "\n")
    return path


def load(name: str) -> Baseline:
    """The baseline of that name. Raises Unfit if there is none."""
    try:
        return _read(_path(name))
    except FileNotFoundError:
        there = ", ".join(sorted(path.stem for path in FOLDER.glob("*.json"))) or "none"
        raise Unfit(f"there is no baseline {name!r}; there is: {there}") from None


def history(machine: Mapping[str, str]) -> list[Baseline]:
    """All that were read on such a machine, the oldest first."""
    found = [_read(path) for path in FOLDER.glob("*.json")]
    same = [b for b in found if all(b.machine.get(name) == machine.get(name) for name in SAME)]
    return sorted(same, key=lambda baseline: baseline.machine.get("date", ""))


def _path(name: str) -> Path:
    if not name or Path(name).name != name:
        raise Unfit(f"{name!r} is not the name of a file")
    return FOLDER / f"{name}.json"


def _read(path: Path) -> Baseline:
    data = json.loads(path.read_text())
    return Baseline(data["machine"], data["rows"])
