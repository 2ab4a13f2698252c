"""Baselines: the ratios of an earlier commit, and whether today's differ from them.

What is kept of a row is the median of its ratio to each rival, in each of several processes: where objects
lie in memory differs from process to process, and with it the ratio, by more than its rounds within one tell.
So processes are the sample. A row is slower if Student's t-test of the logarithms says so, for the ratio that
varies least: another package in Python is disturbed as cudapy is, C++ is not. `FALSE_ALARMS` is divided among
the rows (Bonferroni), so that it holds for all of them together.
"""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, variance
from typing import NamedTuple

from .document import Document
from .record import Record

FOLDER = Path(__file__).parent / "baselines"
FALSE_ALARMS = 0.01
"""How likely a comparison may say that anything is slower where nothing is."""
SUSPECT = 0.2
"""How likely that may be for a row after the first processes: it is measured in more of them."""
PACKAGES = {"cuda.bindings": "cuda-bindings", "cuda.core": "cuda-core", "CuPy": "cupy-cuda13x"}
"""The versions of rivals among the facts of a machine: another one is another rival."""
SAME = ("GPU", "CPU")
"""What two runs must have been read on alike, so that their ratios can be compared."""


class Unfit(ValueError):
    """There is no such baseline, or it says nothing about this machine."""


class Change(NamedTuple):
    """How a row changed: its time over what it was, with the bounds of 95 %, and how likely chance does so.

    slower, faster: the probability of such a difference, or a greater one in that direction, by chance alone.
    """

    factor: float
    low: float
    high: float
    slower: float
    faster: float


@dataclass
class Baseline:
    """The ratios of each row by anchor, a process each, and what they were read on."""

    machine: Mapping[str, str]
    rows: Mapping[str, Mapping[str, Sequence[float]]]

    def require_same(self, machine: Mapping[str, str]) -> None:
        """Raise Unfit if `machine` is another one than this was read on."""
        for name in SAME:
            if self.machine.get(name) != machine.get(name):
                here, there = machine.get(name), self.machine.get(name)
                raise Unfit(f"the baseline is of another {name}: {there}, not {here}")

    def changes(self, now: Baseline) -> dict[str, Change]:
        """How each row changed that both have, in two processes a side or more. Raises Unfit."""
        self.require_same(now.machine)
        others = {who for who, name in PACKAGES.items() if self.machine.get(name) != now.machine.get(name)}
        found = {row: _change(self.rows[row], now.rows[row], others) for row in now.rows if row in self.rows}
        return {row: change for row, change in found.items() if change is not None}

    def text(self, now: Baseline, changes: Mapping[str, Change]) -> str:
        """What `now` is in comparison, for people."""
        slow, fast = slower(changes), faster(changes)
        lines = [
            f"compared with {self.machine.get('commit') or self.machine.get('date')}, {len(changes)} rows: "
            f"{len(slow) or 'none'} slower, {len(fast) or 'none'} faster",
            f"(of such comparisons of equal commits, {FALSE_ALARMS:.0%} find a slower row)",
        ]
        width = max(map(len, changes), default=0)
        for what, rows in (("slower", slow), ("faster", fast)):
            for row in sorted(rows):
                factor, low, high, *_ = changes[row]
                lines.append(
                    f"  {what}  {row:{width}}  {factor:.3f} of what it was ({low:.3f} to {high:.3f})"
                )
        lines += [f"  not compared: {row}" for row in self.rows if row not in changes and row in now.rows]
        lines += [f"  not measured this time: {row}" for row in self.rows if row not in now.rows]
        lines += [f"  not in the baseline: {row}" for row in now.rows if row not in self.rows]
        return "\n".join(lines)


def _change(
    before: Mapping[str, Sequence[float]], now: Mapping[str, Sequence[float]], others: Collection[str]
) -> Change | None:
    """By the ratio that varies least; None where none was measured in two processes a side."""
    from scipy import stats

    samples = [
        [[math.log(ratio) for ratio in side[rival]] for side in (before, now)]
        for rival in before
        if rival not in others and min(len(before[rival]), len(now.get(rival, ()))) > 1
    ]
    if not samples:
        return None
    old, new = min(samples, key=lambda sides: sum(variance(side) * (len(side) - 1) for side in sides))
    factor = math.exp(mean(new) - mean(old))
    if variance(old) == variance(new) == 0:  # no noise at all, as of sizes
        return Change(factor, factor, factor, float(factor <= 1), float(factor >= 1))
    test = stats.ttest_ind(new, old, alternative="greater")
    low, high = stats.ttest_ind(new, old).confidence_interval(0.95)
    return Change(factor, math.exp(low), math.exp(high), float(test.pvalue), float(1 - test.pvalue))


def suspects(changes: Mapping[str, Change]) -> set[str]:
    """The rows that may be slower, or faster: more processes tell."""
    return {row for row, change in changes.items() if min(change.slower, change.faster) < SUSPECT}


def slower(changes: Mapping[str, Change]) -> set[str]:
    """The rows that are slower."""
    return {row for row, change in changes.items() if change.slower < FALSE_ALARMS / len(changes)}


def faster(changes: Mapping[str, Change]) -> set[str]:
    """The rows that are faster."""
    return {row for row, change in changes.items() if change.faster < FALSE_ALARMS / len(changes)}


def github_commands(changes: Mapping[str, Change]) -> str:
    """What changed, as GitHub shows it beside a commit: errors for what is slower, notices for the rest.

    Source: "Workflow commands for GitHub Actions".
    """
    lines = []
    for command, title, rows in (("error", "slower", slower(changes)), ("notice", "faster", faster(changes))):
        for row in sorted(rows):
            factor, low, high, *_ = changes[row]
            said = f"{row}: {factor:.3f} of what it was ({low:.3f} to {high:.3f})"
            escaped = said.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
            lines.append(f"::{command} title={title}::{escaped}")
    return "\n".join(lines)


def key(record: Record) -> str:
    """The name of a row among all."""
    return f"{record.group}: {record.name}"


def of(documents: Sequence[Document]) -> Baseline:
    """The ratios of several runs."""
    rows: dict[str, dict[str, list[float]]] = {}
    for document in documents:
        for record in document.records:
            for rival, ratio in record.ratios().items():
                rows.setdefault(key(record), {}).setdefault(rival, []).append(round(ratio.median, 4))
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


def kept() -> list[Baseline]:
    """All that there are, the oldest first."""
    found = [_read(path) for path in FOLDER.glob("*.json")]
    return sorted(found, key=lambda baseline: baseline.machine.get("date", ""))


def history(machine: Mapping[str, str]) -> list[Baseline]:
    """Those that were read on such a machine, the oldest first."""
    return [b for b in kept() if all(b.machine.get(name) == machine.get(name) for name in SAME)]


def _path(name: str) -> Path:
    if not name or Path(name).name != name:
        raise Unfit(f"{name!r} is not the name of a file")
    return FOLDER / f"{name}.json"


def _read(path: Path) -> Baseline:
    data = json.loads(path.read_text())
    if "records" in data:  # a file of --json
        return of([Document.read(path)])
    return Baseline(data["machine"], data["rows"])
