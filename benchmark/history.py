"""The picture of all that was kept: how the ratios of each group of rows changed from commit to commit."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from turns.comparison import Baseline

from . import charts
from .baselines import RULES
from .picture import NothingToDraw, colour_of

COLUMNS = 2
STYLES = ("-", "--", ":", "-.")
"""A machine each; from the first again if there are more."""

Point = tuple[int, float, float, float]
"""Which commit; the mean ratio, the lowest and the highest of its processes."""


def commits(kept: Sequence[Baseline]) -> list[str]:
    """What each was read of, in their order, a commit once: the date where the commit is not known."""
    return list(dict.fromkeys(map(_commit, kept)))


def series(kept: Sequence[Baseline], group: str) -> dict[tuple[str, str], list[Point]]:
    """The points of a group by machine and rival, in the order of the commits.

    A point is the geometric mean of the ratios of all rows that this machine has at each commit, in each
    process: the mean, the lowest and the highest.
    """
    places = {commit: i for i, commit in enumerate(commits(kept))}
    found: dict[tuple[str, str], list[Point]] = {}
    for machine in dict.fromkeys(map(_machine, kept)):
        there = [baseline for baseline in kept if _machine(baseline) == machine and _of(baseline, group)]
        rows_of_all = [row for baseline in there for row in _of(baseline, group).values()]
        rivals = dict.fromkeys(rival for row in rows_of_all for rival in row)
        for rival in rivals:
            having = [b for b in there if any(rival in row for row in _of(b, group).values())]
            rows = set.intersection(
                *({name for name, row in _of(b, group).items() if rival in row} for b in having)
            )
            if not rows:
                continue
            for baseline in having:
                columns = [_of(baseline, group)[name][rival] for name in sorted(rows)]
                means = [math.exp(fmean(map(math.log, each))) for each in zip(*columns, strict=False)]
                middle = math.exp(fmean(map(math.log, means)))
                point = places[_commit(baseline)], middle, min(means), max(means)
                found.setdefault((machine, rival), []).append(point)
    return found


def change(lines: Mapping[tuple[str, str], Sequence[Point]]) -> float:
    """By how much the line of a group that changed most has: the logarithm of its last ratio to its first."""
    return max((abs(math.log(points[-1][1] / points[0][1])) for points in lines.values()), default=0.0)


def draw(path: Path, kept: Sequence[Baseline]) -> None:
    """Draw a panel for each group into `path`, a PNG or SVG by its name, what changed most first.

    kept: the oldest first. NothingToDraw if nothing was kept, ImportError without matplotlib.
    """
    groups = dict.fromkeys(row.partition(": ")[0] for baseline in kept for row in baseline.rows)
    panels = {group: series(kept, group) for group in groups}
    order = sorted((group for group in panels if panels[group]), key=lambda group: -change(panels[group]))
    if not order:
        raise NothingToDraw("there are no baselines to draw: --save NAME makes one")
    pyplot = charts.begin()
    names = commits(kept)
    machines = list(dict.fromkeys(map(_machine, kept)))
    count = -(-len(order) // COLUMNS)
    figure, all_axes = pyplot.subplots(
        count, COLUMNS, figsize=(12, 1.5 + 2.6 * count), layout="constrained", squeeze=False
    )
    for axes in all_axes.flat[len(order) :]:
        axes.set_visible(False)
    for axes, group in zip(all_axes.flat, order, strict=False):
        _panel(axes, panels[group], machines)
        axes.set_title(group, fontsize="medium")
        axes.set_xticks(range(len(names)), names, rotation=30, ha="right", fontsize="small")
        axes.set_xlim(-0.5, len(names) - 0.5)
    _legend(figure, all_axes.flat[0], panels, machines)
    charts.save(figure, path)


def _panel(axes: Any, lines: Mapping[tuple[str, str], Sequence[Point]], machines: Sequence[str]) -> None:
    """A line for each rival on each machine: the means, and a band from the lowest to the highest process."""
    from matplotlib.ticker import LogLocator, NullFormatter

    axes.axhline(1, color=charts.TEXT, linewidth=0.6)
    for (machine, rival), points in lines.items():
        places, middles, lows, highs = zip(*points, strict=True)
        style = STYLES[machines.index(machine) % len(STYLES)]
        colour = colour_of(rival)
        axes.plot(places, middles, style, marker="o", markersize=4, color=colour)
        axes.fill_between(places, lows, highs, color=colour, alpha=0.2)
        if len(points) == 1:
            axes.vlines(places, lows, highs, color=colour, alpha=0.4)
    axes.set_yscale("log")
    shown = [1.0, *(value for points in lines.values() for point in points for value in point[1:])]
    low, high = min(shown), max(shown)
    margin = max(1.1, math.sqrt(2 * low / high))  # a panel spans a factor of two or more
    axes.set_ylim(low / margin, high * margin)
    narrow = high / low < 8
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 1.2, 1.5, 2, 3, 4, 5, 7) if narrow else (1, 2, 5)))
    axes.yaxis.set_major_formatter("{x:g}")
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.grid(axis="y", alpha=0.3)


def _legend(
    figure: Any,
    axes: Any,
    panels: Mapping[str, Mapping[tuple[str, str], object]],
    machines: Sequence[str],
) -> None:
    rivals = dict.fromkeys(rival for lines in panels.values() for _, rival in lines)
    handles = [axes.plot([], [], color=colour_of(rival), label=f"to {rival}")[0] for rival in rivals]
    for i, machine in enumerate(machines):
        handles += axes.plot([], [], STYLES[i % len(STYLES)], color="grey", label=machine)
    figure.suptitle("cudapy's time over that of others, geometric means of rows: below 1 cudapy is faster")
    figure.legend(handles=handles, loc="outside lower center", ncols=4, fontsize="small")


def _of(baseline: Baseline, group: str) -> dict[str, Mapping[str, Sequence[float]]]:
    """The rows of a group that have a time, and so a ratio above 0."""
    return {
        name: {rival: ratios for rival, ratios in row.items() if min(ratios) > 0}
        for name, row in baseline.rows.items()
        if name.partition(": ")[0] == group
    }


def _commit(baseline: Baseline) -> str:
    return baseline.machine.get("commit") or baseline.machine.get("date", "")[:10] or "unknown"


def _machine(baseline: Baseline) -> str:
    """The GPU, or the CPU where there was none."""
    gpu, cpu = (baseline.machine.get(name, "") for name in RULES.same)
    return cpu if gpu.startswith("none") else gpu
