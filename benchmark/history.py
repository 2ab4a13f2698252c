"""The picture of all that was kept: how the ratios of each row changed from commit to commit."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

from turns.comparison import Baseline

from .baselines import RULES
from .picture import COLOURS, NothingToDraw

COLUMNS = 3
MARKERS = "oDs^vPX*"
"""A machine each; from the first again if there are more."""

Point = tuple[int, float, float, float]
"""Which commit; the median ratio, the least and the greatest of its processes."""


def commits(kept: Sequence[Baseline]) -> list[str]:
    """What each was read of, in their order, a commit once: the date where the commit is not known."""
    return list(dict.fromkeys(map(_commit, kept)))


def series(kept: Sequence[Baseline], row: str) -> dict[tuple[str, str], list[Point]]:
    """The points of a row by machine and rival, in the order of the commits."""
    places = {commit: i for i, commit in enumerate(commits(kept))}
    found: dict[tuple[str, str], list[Point]] = {}
    for baseline in kept:
        for rival, ratios in baseline.rows.get(row, {}).items():
            points = found.setdefault((_machine(baseline), rival), [])
            points.append((places[_commit(baseline)], median(ratios), min(ratios), max(ratios)))
    return found


def draw(path: Path, kept: Sequence[Baseline]) -> None:
    """Draw a panel for each row into `path`, a PNG or SVG by its name, the oldest of `kept` first.

    NothingToDraw if nothing was kept, ImportError without matplotlib.
    """
    rows = list(dict.fromkeys(row for baseline in kept for row in baseline.rows))
    if not rows:
        raise NothingToDraw("there are no baselines to draw: --save NAME makes one")
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot
    from matplotlib.ticker import LogLocator, NullFormatter

    pyplot.rcParams |= {"svg.hashsalt": "cudapy", "svg.fonttype": "none"}
    names = commits(kept)
    machines = list(dict.fromkeys(map(_machine, kept)))
    count = -(-len(rows) // COLUMNS)
    figure, panels = pyplot.subplots(
        count, COLUMNS, figsize=(15, 1.2 + 1.5 * count), layout="constrained", sharex=True, squeeze=False
    )
    for axes in panels.flat[len(rows) :]:
        axes.set_visible(False)
    for axes, row in zip(panels.flat, rows, strict=False):
        _panel(axes, series(kept, row), machines)
        axes.set_title(row, fontsize="small")
        axes.set_yscale("log")
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 1.2, 1.5, 2, 3, 5)))
        axes.yaxis.set_major_formatter("{x:g}")
        axes.yaxis.set_minor_formatter(NullFormatter())
        axes.set_xticks(range(len(names)), names, rotation=45, ha="right", fontsize="x-small")
        axes.set_xlim(-0.5, len(names) - 0.5)
        axes.grid(axis="y", alpha=0.3)
    _legend(figure, panels.flat[0], kept, machines)
    figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)
    pyplot.close(figure)


def _panel(axes: Any, lines: dict[tuple[str, str], list[Point]], machines: Sequence[str]) -> None:
    """A line for each rival on each machine: medians, and bars from the least to the greatest process."""
    axes.axhline(1, color="black", linewidth=0.5)
    for (machine, rival), points in lines.items():
        places, medians, lows, highs = zip(*points, strict=True)
        bars = (
            [m - low for m, low in zip(medians, lows, strict=True)],
            [high - m for m, high in zip(medians, highs, strict=True)],
        )
        marker = MARKERS[machines.index(machine) % len(MARKERS)]
        axes.errorbar(places, medians, bars, marker=marker, color=COLOURS.get(rival), markersize=4, capsize=2)


def _legend(figure: Any, axes: Any, kept: Sequence[Baseline], machines: Sequence[str]) -> None:
    rivals = dict.fromkeys(rival for baseline in kept for row in baseline.rows.values() for rival in row)
    handles = [axes.plot([], [], color=COLOURS.get(rival), label=f"to {rival}")[0] for rival in rivals]
    for i, machine in enumerate(machines):
        marker = MARKERS[i % len(MARKERS)]
        handles += axes.plot([], [], marker=marker, linestyle="", color="grey", label=machine)
    figure.suptitle("cudapy's time over that of others: below 1 cudapy is faster")
    figure.legend(handles=handles, loc="outside lower center", ncols=4, fontsize="small")


def _commit(baseline: Baseline) -> str:
    return baseline.machine.get("commit") or baseline.machine.get("date", "")[:10] or "unknown"


def _machine(baseline: Baseline) -> str:
    """The GPU, or the CPU where there was none."""
    gpu, cpu = (baseline.machine.get(name, "") for name in RULES.same)
    return cpu if gpu.startswith("none") else gpu
