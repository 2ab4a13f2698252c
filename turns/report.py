"""The report: a table for the terminal, ratios first."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from .record import Record
from .rounds import Spread, modes


class Labels(NamedTuple):
    """The order of the report: its tables from the top, its columns from the left; others follow."""

    groups: Sequence[str] = ()
    columns: Sequence[str] = ()


UNITS = ((1.0, 1.0, 2, "s"), (1e-3, 1e-3, 1, "ms"), (1e-5, 1e-6, 1, "us"), (0.0, 1e-9, 0, "ns"))
"""From how many seconds on it is used, seconds in one, digits after the point, name."""


def text(
    machine: Mapping[str, str],
    records: Sequence[Record],
    skipped: Mapping[str, str],
    labels: Labels = Labels(),  # noqa: B008  # a constant
) -> str:
    """The tables, with what they were read on before them, and what is missing after them."""
    width = max(map(len, machine), default=0)
    lines = [f"{name:{width}}  {value}" for name, value in machine.items()]
    subjects = list(dict.fromkeys(record.subject for record in records))
    who = subjects[0] if len(subjects) == 1 else "the last column"
    lines += ["", f"{who}'s time over that of the others: below 1 {who} is faster. Medians of the rounds:"]
    lines += [
        "those of ratios ± half of their 95 % confidence interval, times ± half of the interquartile range."
    ]
    for group, members in _grouped(records, labels.groups).items():
        lines += ["", *_table(group, members, labels.columns)]
    if two := _two_speeds(records):
        lines += ["", "two speeds, most often of the processor's frequency or of neighbours:", *two]
    absent = _absent(records)
    if absent:
        lines += ["", "absent:", *(f"  {who}: {why}" for who, why in absent)]
    if skipped:
        lines += ["", "not measured:", *(f"  {what}: {why}" for what, why in _skipped(skipped))]
    return "\n".join(lines)


def _grouped(records: Iterable[Record], order: Sequence[str]) -> dict[str, list[Record]]:
    groups: dict[str, list[Record]] = defaultdict(list)
    for record in records:
        groups[record.group].append(record)
    return {group: groups[group] for group in [*order, *groups] if group in groups}


def _table(group: str, records: Sequence[Record], order: Sequence[str]) -> list[str]:
    found = {who for record in records for who in record.ratios()}
    columns = [who for who in order if who in found] + sorted(found.difference(order))
    rows = [[group, *(f"/ {who}" for who in columns), records[0].subject, ""]]
    for record in records:
        ratios = record.ratios()
        cells = [_ratio(ratios[who]) if who in ratios else "" for who in columns]
        rows.append([record.name, *cells, _cost(record), record.note])
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = [
        f"{row[0]:{widths[0]}}  "
        + "  ".join(f"{cell:>{width}}" for cell, width in zip(row[1:-1], widths[1:-1], strict=True))
        + f"  {row[-1]}"
        for row in rows
    ]
    lines = [line.rstrip() for line in lines]
    return [lines[0], "-" * len(lines[0]), *lines[1:]]


def _two_speeds(records: Iterable[Record]) -> list[str]:
    """The rows whose ratio has two values, neither of them rare: their median is one of both by chance."""
    lines = []
    for record in records:
        for who, ratios in record.samples().items():
            if found := modes(ratios):
                low, high, share = found
                said = f"{low:.2f} in {share:.0%} of the rounds, {high:.2f} in the others"
                lines.append(f"  {record.group}: {record.name}, to {who}: {said}")
    return lines


def _ratio(ratio: Spread) -> str:
    return f"{ratio.median:.2f} ±{ratio.half:.2f}"


def _cost(record: Record) -> str:
    cost = record.cost()
    if record.unit == "B":
        return f"{cost.median / 1000:.0f} KB"
    size = max(abs(cost.median), cost.half)
    _, scale, digits, unit = next(unit for unit in UNITS if size >= unit[0])
    return f"{cost.median / scale:.{digits}f} ±{cost.half / scale:.{digits}f} {unit}"


def _absent(records: Iterable[Record]) -> list[tuple[str, str]]:
    """Each rival that could not take part and why; where it did take part elsewhere, the rows and why."""
    lines: dict[tuple[str, str], list[str]] = defaultdict(list)
    taken: set[str] = set()
    for record in records:
        taken.update(record.times)
        for who, why in record.missing.items():
            lines[who, why].append(record.name)
    everywhere = {who: why for who, why in reversed(lines) if who not in taken}
    in_part = [(who, f"{why} (in {'; '.join(rows)})") for (who, why), rows in lines.items() if who in taken]
    return sorted(everywhere.items()) + in_part


def _skipped(skipped: Mapping[str, str]) -> list[tuple[str, str]]:
    """The tests that did not run, those of a file together, and why."""
    tests: dict[tuple[str, str], list[str]] = defaultdict(list)
    for test, why in skipped.items():
        file, _, name = test.partition("::")
        tests[file, why].append(name)
    return [
        (f"{file}::{names[0]}" if len(names) == 1 else f"{len(names)} of {file}", why)
        for (file, why), names in tests.items()
    ]
