"""The picture: what a launch takes in each layer, and how the ratios changed from baseline to baseline."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

from turns.comparison import key, of
from turns.document import Document
from turns.record import Record
from turns.rounds import spread

from . import baselines
from .labels import ORDER
from .measured import CUDAPY

GROUPS = ("launch", "overhead, on a null libcuda")
"""What is drawn: the first of these that was measured."""

ANCHORS = ("C++", "plain ctypes")
"""What the history shows the ratio to: the first of these that took part."""

COLOURS = {who: f"C{i}" for i, who in enumerate((CUDAPY, *ORDER))}


class NothingToDraw(ValueError):
    """What a picture shows was not measured."""


def draw(path: Path, document: Document) -> None:
    """Draw `document` into `path`, a PNG or SVG by its name.

    NothingToDraw if no launch was measured, ImportError without matplotlib.
    """
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot
    from matplotlib.ticker import LogLocator, NullFormatter

    group = next((g for g in GROUPS if any(r.group == g for r in document.records)), None)
    if group is None:
        raise NothingToDraw(f"nothing to draw was measured: {' or '.join(GROUPS)}")
    records = [record for record in document.records if record.group == group]
    pyplot.rcParams["svg.hashsalt"] = "cudapy"
    height = 1.4 + 0.34 * len(records)
    figure, (left, right) = pyplot.subplots(
        1, 2, figsize=(13, height), width_ratios=(3, 2), layout="constrained", sharey=True
    )
    _latencies(left, group, records)
    _history(right, document, records)
    for axes in (left, right):
        axes.set_xscale("log")
        axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.xaxis.set_major_formatter("{x:g}")
        axes.xaxis.set_minor_formatter(NullFormatter())
        axes.grid(axis="x", alpha=0.3)
    gpu = document.machine.get("GPU", "")
    where = document.machine.get("CPU", "") if gpu.startswith("none") else gpu
    figure.suptitle(f"cudapy {document.machine.get('cudapy', '')} on {where}")
    figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)
    pyplot.close(figure)


def _latencies(axes: Any, group: str, records: Sequence[Record]) -> None:
    """A row for each comparison, a dot for each contender: the median, and the middle half of the rounds."""
    for y, record in enumerate(records):
        for who in (*ORDER, CUDAPY):
            if who in record.times:
                low, middle, high = (1e6 * t for t in spread(record.times[who]))
                axes.plot([low, high], [y, y], color=COLOURS[who], linewidth=2, alpha=0.5)
                axes.plot(middle, y, "o", color=COLOURS[who], markersize=8 if who == CUDAPY else 6)
    for who in (CUDAPY, *ORDER):
        if any(who in record.times for record in records):
            axes.plot([], [], "o", color=COLOURS[who], label=who)
    axes.set_yticks(range(len(records)), [record.name for record in records])
    axes.invert_yaxis()
    axes.set_xlabel("microseconds of the host for one call")
    axes.set_title(group)
    axes.legend(fontsize="small")


def _history(axes: Any, document: Document, records: Sequence[Record]) -> None:
    """The ratios of the same rows in all baselines of this machine, and now: the darkest."""
    points = [*baselines.history(document.machine), of([document])]
    for i, point in enumerate(points):
        found = [
            (median(ratios[anchor]), y)
            for y, record in enumerate(records)
            if (ratios := point.rows.get(key(record)))
            and (anchor := next((who for who in ANCHORS if who in ratios), None))
        ]
        date = "now" if point is points[-1] else point.machine.get("date", "")[:10]
        strength = 0.25 + 0.75 * (i + 1) / len(points)
        if not found:
            continue
        axes.plot(*zip(*found, strict=True), "D", color=COLOURS[CUDAPY], alpha=strength, label=date)
    axes.set_xlabel("ratio to C++, or to ctypes by hand")
    axes.set_title("history")
    axes.legend(fontsize="small")
