"""Whether rows are slower than they were, decided by a sequential test with stated error rates.

What is kept of a row is the median of its ratio to each rival, in each of several processes: where objects
lie in memory differs from process to process, and with it the ratio, by more than the rounds within one tell.
So processes are the sample. They are looked at several times, after each of `Rules.looks` on each side. At a
look, Student's t-test of the logarithms compares a row's ratio to the rival for which it varies least:
another Python package is disturbed in the same way as the subject, C++ is not.

`Rules.false_alarms` holds for a whole comparison: each look spends a share of it, divided among the rows
(Bonferroni, over rows and looks). A row for which a look finds nothing that more processes might confirm is
measured no further; that costs power alone, never a false alarm.
"""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean, variance
from typing import Any, NamedTuple

from .document import Document
from .record import Record


class Unfit(ValueError):
    """There is nothing to compare with, or it says nothing about this machine."""


@dataclass(frozen=True)
class Rules:
    """How a comparison decides.

    false_alarms: the probability that a comparison of equal commits finds any slower row. looks: the numbers
    of processes a side after which is decided. shares: what each look spends of `false_alarms`; their sum is
    1. keep: a row goes on after a look if the probability of its difference by chance is below this. same:
    the facts of a machine that both sides must share. versions: for rivals, the fact that is their version;
    one of another version is another rival.
    """

    false_alarms: float = 0.01
    looks: tuple[int, ...] = (5, 10, 15, 20, 30)
    shares: tuple[float, ...] = (0.1, 0.2, 0.2, 0.2, 0.3)
    keep: tuple[float, ...] = (0.2, 0.1, 0.05, 0.02, 0.0)
    same: tuple[str, ...] = ("CPU",)
    versions: Mapping[str, str] = field(default_factory=dict)

    def limit(self, look: int, rows: int) -> float:
        """The probability below which a row has changed at this look, of so many rows."""
        return self.false_alarms * self.shares[look] / rows


class Change(NamedTuple):
    """How a row changed: its time over what it was, with the bounds of 95 %, and how likely chance does so.

    slower, faster: the probability of such a difference, or a greater one in that direction, by chance alone.
    """

    factor: float
    low: float
    high: float
    slower: float
    faster: float

    @property
    def chance(self) -> float:
        """The lower of both."""
        return min(self.slower, self.faster)


@dataclass
class Baseline:
    """The ratios of each row by rival, a process each, and what they were read on."""

    machine: Mapping[str, str]
    rows: Mapping[str, Mapping[str, Sequence[float]]]

    def require_same(self, machine: Mapping[str, str], facts: Iterable[str]) -> None:
        """Raise Unfit if `machine` has one of these facts in another form than this was read on."""
        for name in facts:
            if self.machine.get(name) != machine.get(name):
                here, there = machine.get(name), self.machine.get(name)
                raise Unfit(f"the baseline is of another {name}: {there}, not {here}")

    def changes(self, now: Baseline, rules: Rules) -> dict[str, Change]:
        """How each row changed that both have, in two processes a side or more. Raises Unfit."""
        self.require_same(now.machine, rules.same)
        others = {
            who for who, fact in rules.versions.items() if self.machine.get(fact) != now.machine.get(fact)
        }
        found = {row: _change(self.rows[row], now.rows[row], others) for row in now.rows if row in self.rows}
        return {row: change for row, change in found.items() if change is not None}

    def write(self, path: Path) -> None:
        """Keep it as JSON."""
        path.write_text(json.dumps({"machine": dict(self.machine), "rows": self.rows}, indent=1) + "\n")

    @classmethod
    def read(cls, path: Path) -> Baseline:
        """What `write` wrote, or the ratios of a Document."""
        data = json.loads(path.read_text())
        if "records" in data:
            return of([Document.read(path)])
        return cls(data["machine"], data["rows"])


def _change(
    before: Mapping[str, Sequence[float]], now: Mapping[str, Sequence[float]], others: Collection[str]
) -> Change | None:
    """By the ratio that varies least; None where none was measured in two processes a side."""
    from scipy import special  # scipy.stats takes three times as long to import

    samples = [
        [[math.log(ratio) for ratio in side[rival]] for side in (before, now)]
        for rival in before
        if rival not in others and min(len(before[rival]), len(now.get(rival, ()))) > 1
    ]
    if not samples:
        return None
    old, new = min(samples, key=lambda sides: sum(variance(side) * (len(side) - 1) for side in sides))
    difference = mean(new) - mean(old)
    factor = math.exp(difference)
    if variance(old) == variance(new) == 0:  # no noise at all, as of sizes
        return Change(factor, factor, factor, float(factor <= 1), float(factor >= 1))
    freedom = len(old) + len(new) - 2
    pooled = sum(variance(side) * (len(side) - 1) for side in (old, new)) / freedom
    error = math.sqrt(pooled * (1 / len(old) + 1 / len(new)))
    slower, faster = (float(special.stdtr(freedom, sign * difference / error)) for sign in (-1, 1))
    bound = float(special.stdtrit(freedom, 0.975)) * error
    return Change(factor, math.exp(difference - bound), math.exp(difference + bound), slower, faster)


SLOWER, FASTER, UNCHANGED, UNDECIDED = "slower", "faster", "unchanged", "undecided"


class Verdict(NamedTuple):
    """What was decided about a row, after so many processes a side."""

    change: Change
    said: str
    """SLOWER, FASTER, UNCHANGED (no change was shown) or UNDECIDED (the time was up)."""
    processes: int


class Comparison:
    """The verdicts of a comparison, look by look."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.verdicts: dict[str, Verdict] = {}
        self.open: set[str] = set()
        """The rows to measure in more processes."""
        self._look = -1

    @property
    def processes(self) -> int:
        """How many a side there are at the next look; 0 after the last."""
        looks = self.rules.looks
        return looks[self._look + 1] if self._look + 1 < len(looks) else 0

    def look(self, before: Baseline, now: Baseline) -> None:
        """Decide what can be decided by these processes: all there were up to now. Raises Unfit."""
        changes = before.changes(now, self.rules)
        first, self._look = self._look < 0, self._look + 1
        rows = set(changes) if first else self.open
        self.open = set()
        limit = self.rules.limit(self._look, len(self.verdicts) or len(changes) or 1)
        for row in rows:
            change = changes[row]
            certain = limit if change.low != change.high else 0.5
            if change.chance < certain:
                said = SLOWER if change.slower < change.faster else FASTER
            elif change.chance < self.rules.keep[self._look] and self.processes:
                said = UNDECIDED
                self.open.add(row)
            else:
                said = UNCHANGED
            self.verdicts[row] = Verdict(change, said, self.rules.looks[self._look])

    def rows(self, said: str) -> list[str]:
        """The rows of which this was said."""
        return sorted(row for row, verdict in self.verdicts.items() if verdict.said == said)


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


# -- what is said of it --------------------------------------------------------------------------------------


def text(comparison: Comparison, before: Baseline, now: Baseline) -> str:
    """The verdicts, for a terminal."""
    slow, fast, open_ = (comparison.rows(said) for said in (SLOWER, FASTER, UNDECIDED))
    verdicts = comparison.verdicts
    lines = [
        f"compared with {_commit(before)}, {len(verdicts)} rows: {len(slow) or 'none'} slower, "
        f"{len(fast) or 'none'} faster" + (f", {len(open_)} undecided" if open_ else ""),
        f"(of such comparisons of equal commits, {comparison.rules.false_alarms:.0%} find a slower row)",
    ]
    width = max(map(len, verdicts), default=0)
    lines += [
        f"  {verdicts[row].said}  {row:{width}}  {_factor(verdicts[row])}" for row in slow + fast + open_
    ]
    lines += [f"  not compared: {row}" for row in before.rows if row not in verdicts and row in now.rows]
    lines += [f"  not measured this time: {row}" for row in before.rows if row not in now.rows]
    lines += [f"  not measured before: {row}" for row in now.rows if row not in before.rows]
    return "\n".join(lines)


def markdown(comparison: Comparison, before: Baseline, now: Baseline) -> str:
    """The verdicts as a table for a pull request: what changed first, the rest folded."""
    changed = [*comparison.rows(SLOWER), *comparison.rows(FASTER), *comparison.rows(UNDECIDED)]
    same = comparison.rows(UNCHANGED)
    slow = len(comparison.rows(SLOWER))
    lines = [
        f"**{slow or 'No'} slower row{'' if slow == 1 else 's'}** of {len(comparison.verdicts)}: "
        f"{_commit(now)} against {_commit(before)}, {now.machine.get('CPU', 'unknown CPU')}"
        + (f", {now.machine['GPU']}" if now.machine.get("GPU", "none")[:4] != "none" else "")
        + f". Of comparisons of equal commits, {comparison.rules.false_alarms:.0%} find a slower row.",
    ]
    if changed:
        lines += ["", *_rows(comparison, changed)]
    if same:
        title = f"{len(same)} rows without a shown change"
        lines += ["", f"<details><summary>{title}</summary>", "", *_rows(comparison, same), "", "</details>"]
    return "\n".join(lines) + "\n"


def _rows(comparison: Comparison, rows: Sequence[str]) -> list[str]:
    lines = ["| row | time / before | 95 % | | processes |", "|---|---:|---:|---|---:|"]
    for row in rows:
        change, said, processes = comparison.verdicts[row]
        name = row.replace("|", "\\|")
        said = f"**{said}**" if said == SLOWER else said
        lines.append(
            f"| {name} | {change.factor:.3f} | {change.low:.3f} to {change.high:.3f} | {said} | {processes} |"
        )
    return lines


def github_commands(comparison: Comparison) -> str:
    """What changed, as GitHub shows it beside a commit: errors for what is slower, notices for the rest.

    Source: "Workflow commands for GitHub Actions".
    """
    lines = []
    for command, said in (("error", SLOWER), ("notice", FASTER)):
        for row in comparison.rows(said):
            message = f"{row}: {_factor(comparison.verdicts[row])}"
            escaped = message.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
            lines.append(f"::{command} title={said}::{escaped}")
    return "\n".join(lines)


def _factor(verdict: Verdict) -> str:
    factor, low, high, *_ = verdict.change
    return f"{factor:.3f} of what it was ({low:.3f} to {high:.3f}, {verdict.processes} processes)"


def _commit(baseline: Baseline) -> str:
    facts: Mapping[str, Any] = baseline.machine
    return str(facts.get("commit") or facts.get("date") or "before")
