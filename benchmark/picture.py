"""The picture of launches: what one takes in each layer, with cudapy and with others."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from turns.document import Document
from turns.record import Record
from turns.rounds import spread

from . import charts
from .labels import ORDER
from .measured import CUDAPY

GROUPS = ("launch", "overhead, on a null libcuda")
"""What is drawn: the first of these that was measured."""

COLOURS = {
    CUDAPY: "#2f81f7",
    "C++": "#2da44e",
    "C++, a graph": "#7ccf8f",
    "cuda.bindings": "#e5534b",
    "cuda.core": "#d29922",
    "plain ctypes": "#8b949e",
    "CuPy": "#a371f7",
    "Numba": "#39a9b5",
    "PyCUDA": "#b5651d",
    "Triton": "#db61a2",
}
"""Of each contender: to be told apart on white and on black."""
OTHER = "#6e7681"


class NothingToDraw(ValueError):
    """What a picture shows was not measured."""


def draw(path: Path, document: Document) -> None:
    """Draw the launches of `document` into a PNG or SVG, by the name of the file.

    NothingToDraw if no launch was measured, ImportError without matplotlib.
    """
    records = launches(document)
    if not records:
        raise NothingToDraw(f"nothing to draw was measured: {' or '.join(GROUPS)}")
    _draw(path, document, records)


def launches(document: Document) -> list[Record]:
    """The rows that are drawn: a launch of five arguments in each form."""
    for group in GROUPS:
        records = [record for record in document.records if record.group == group]
        found = [r for r in records if "aunch" in r.name and ("5 arguments" in r.name or group != GROUPS[0])]
        if found:
            return [record for record in found if "Graph" not in record.name]
    return []


def _draw(path: Path, document: Document, records: Sequence[Record]) -> None:
    """A row for each form, a dot for each contender: the median, and a line for the middle half."""
    pyplot = charts.begin()
    from matplotlib.ticker import LogLocator, NullFormatter

    figure, axes = pyplot.subplots(figsize=(9, 1.6 + 0.42 * len(records)), layout="constrained")
    shown = [who for who in (CUDAPY, *ORDER) if any(who in record.times for record in records)]
    for y, record in enumerate(records):
        for who in reversed(shown):
            if who in record.times:
                low, middle, high = (1e6 * t for t in spread(record.times[who]))
                axes.plot([low, high], [y, y], color=colour_of(who), linewidth=3, alpha=0.5)
                size = 9 if who == CUDAPY else 6
                axes.plot(middle, y, "o", color=colour_of(who), markersize=size)
    for who in shown:
        axes.plot([], [], "o", color=colour_of(who), label=who)
    axes.set_yticks(range(len(records)), [_label(record) for record in records])
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.xaxis.set_major_formatter("{x:g}")
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.grid(axis="x", alpha=0.4)
    axes.set_frame_on(False)
    axes.set_xlabel("microseconds of the host for one launch, logarithmic")
    figure.suptitle(f"Launches of a kernel of five arguments, {_where(document)}", fontsize="medium")
    figure.legend(loc="outside lower center", ncols=5, frameon=False, fontsize="small")
    charts.save(figure, path)


def colour_of(who: str) -> str:
    """The colour of a contender."""
    return COLOURS.get(who, OTHER)


def _label(record: Record) -> str:
    """Its name, without what all rows share."""
    return record.name.replace("5 arguments: ", "").replace(", 5 arguments", "")


def _where(document: Document) -> str:
    gpu = document.machine.get("GPU", "")
    return f"null libcuda, {document.machine.get('CPU', '')}" if gpu.startswith("none") else gpu
