"""Files of pytest-benchmark and of pyperf, written and read.

Both keep a benchmark for each function; a row here has several contenders. So a row is written as one
benchmark for each contender, whose metadata say which row it is of: such a file is read as the rows that it
was made of, without their notes. A benchmark that another program wrote becomes a row of one contender.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping
from typing import Any

from .document import Document
from .record import Record

ROW = "turns"


def to_pytest_benchmark(document: Document) -> dict[str, Any]:
    """What `--benchmark-json` writes. Source: pytest-benchmark's documentation, "Comparing past runs"."""
    return {
        "machine_info": dict(document.machine),
        "commit_info": {"id": document.machine.get("commit", "")},
        "benchmarks": [
            {
                "group": record.group,
                "name": f"{record.name} [{who}]",
                "fullname": f"{record.test}[{who}]",
                "params": None,
                "param": None,
                "extra_info": {ROW: _row(record, who)},
                "options": {},
                "stats": _stats(times),
            }
            for record, who, times in _contenders(document)
        ],
        "datetime": document.machine.get("date", ""),
        "version": "5.0.0",
    }


def from_pytest_benchmark(data: Mapping[str, Any]) -> Document:
    """The rows of a file of `--benchmark-json`.

    ValueError for a benchmark without its times: they are there with --benchmark-json, and with
    --benchmark-save with --benchmark-save-data.
    """
    joined = _Joined()
    for each in data["benchmarks"]:
        times = each["stats"].get("data")
        if not times:
            raise ValueError(f"{each['name']} has no times: write it with --benchmark-save-data")
        known = (each.get("extra_info") or {}).get(ROW)
        joined.add(known, each.get("group") or "", each["name"], [float(t) for t in times])
    machine = {name: str(value) for name, value in data.get("machine_info", {}).items()}
    machine.setdefault("commit", str((data.get("commit_info") or {}).get("id", "")))
    return Document(machine, joined.records(), {})


def to_pyperf(document: Document) -> dict[str, Any]:
    """A suite of benchmarks. Source: pyperf's documentation, "pyperf JSON"."""
    return {
        "version": "1.0",
        "metadata": {name: value for name, value in document.machine.items() if value},
        "benchmarks": [
            {
                "metadata": {
                    "name": f"{record.group}: {record.name} [{who}]",
                    "unit": "second" if record.unit == "s" else "byte",
                    "loops": 1,
                    **{
                        f"{ROW}_{name}": value
                        for name, value in _row(record, who).items()
                        if value is not None
                    },
                },
                "runs": [{"values": [float(t) for t in times]}],
            }
            for record, who, times in _contenders(document)
        ],
    }


def from_pyperf(data: Mapping[str, Any]) -> Document:
    """The rows of a file of pyperf: the values of all runs, warm-ups left out."""
    joined = _Joined()
    common = data.get("metadata", {})
    for each in data["benchmarks"]:
        facts = {**common, **each.get("metadata", {})}
        values = [float(value) for run in each["runs"] for value in run.get("values", ())]
        if not values:
            raise ValueError(f"{facts.get('name', 'a benchmark')} has no values")
        known = {name.removeprefix(f"{ROW}_"): v for name, v in facts.items() if name.startswith(f"{ROW}_")}
        joined.add(known, "", str(facts.get("name", "benchmark")), values)
    return Document({name: str(value) for name, value in common.items()}, joined.records(), {})


def _contenders(document: Document) -> Iterable[tuple[Record, str, list[float]]]:
    return ((record, who, times) for record in document.records for who, times in record.times.items())


def _row(record: Record, who: str) -> dict[str, Any]:
    return {
        "group": record.group,
        "name": record.name,
        "contender": who,
        "unit": record.unit,
        "baseline": record.baseline,
        "test": record.test,
    }


class _Joined:
    """Rows, of which each contender is told in turn."""

    def __init__(self) -> None:
        self.rows: dict[tuple[str, str], Record] = {}

    def add(self, known: Mapping[str, Any] | None, group: str, name: str, times: list[float]) -> None:
        """known: what `_row` made, if this library wrote it."""
        row = dict(known or {})
        who = row.get("contender", name)
        place = row.get("group", group), row.get("name", name)
        record = self.rows.get(place)
        if record is None:
            record = self.rows[place] = Record(*place, {}, row.get("unit", "s"))
            record.baseline, record.test = row.get("baseline"), row.get("test", "")
        record.times[who] = times

    def records(self) -> list[Record]:
        return list(self.rows.values())


def _stats(times: list[float]) -> dict[str, Any]:
    quartiles = statistics.quantiles(times, n=4, method="inclusive") if len(times) > 1 else times * 3
    average = statistics.fmean(times)
    deviation = statistics.stdev(times) if len(times) > 1 else 0.0
    low, high = (quartiles[i] + side * 1.5 * (quartiles[2] - quartiles[0]) for i, side in ((0, -1), (2, 1)))
    far = sum(abs(t - average) > deviation for t in times)
    outside = sum(not low <= t <= high for t in times)
    return {
        "min": min(times),
        "max": max(times),
        "mean": average,
        "stddev": deviation,
        "median": quartiles[1],
        "q1": quartiles[0],
        "q3": quartiles[2],
        "iqr": quartiles[2] - quartiles[0],
        "ld15iqr": min(t for t in times if t >= low),
        "hd15iqr": max(t for t in times if t <= high),
        "stddev_outliers": far,
        "iqr_outliers": outside,
        "outliers": f"{far};{outside}",
        "ops": 1 / average if average else 0.0,
        "total": sum(times),
        "rounds": len(times),
        "iterations": 1,
        "data": times,
    }
