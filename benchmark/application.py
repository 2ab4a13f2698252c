"""The whole SAXPY program: where its time goes, as a picture and as the table that NVIDIA publishes.

NVIDIA's table, in the overview of CUDA Python, has the time of the kernel and of the application, in C++ and
in Python, of blocks of 512 threads and 32,768 of them: so have programs/saxpy.py and cpp/saxpy.cpp, but
for the simulator, which has 2,048 blocks.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from statistics import median
from time import perf_counter

from turns.document import Document
from turns.record import Record
from turns.rounds import Program

from . import charts
from .measured import CUDAPY
from .picture import NothingToDraw

PHASES = ("start", "imports", "cuInit", "compilation", "context", "work", "exit")
"""What a program is made of, in this order.

From the process's start to its first line, with Python the interpreter's own; imports, or for C++ the opening
of NVRTC; cuInit; the compilation of the kernel; the context; copies, kernel and check; what comes after it.
"""
WHOLE = "start to exit"
GROUP = "application"
SIMULATED = f"{GROUP}, 1 million elements on the simulator"
WITHOUT_NUMPY = "cudapy, no NumPy"
KERNEL = ("SAXPY", "kernel, 3 x 64 MiB, by events")
"""The row of the kernel of this size."""
BARS = ("C++", "cuda.bindings", CUDAPY, WITHOUT_NUMPY)


def phases(program: Program) -> dict[str, float]:
    """Run a program that prints when its phases end: the seconds of each, and of the whole.

    Its clock and perf_counter here are one: CLOCK_MONOTONIC on Linux, QueryPerformanceCounter on Windows.
    """
    before = start = perf_counter()
    printed = program.output()
    end = perf_counter()
    marks = {name: float(when) for name, when in (line.split() for line in printed.splitlines())}
    marks[PHASES[-1]] = end
    if tuple(marks) != PHASES:
        raise RuntimeError(f"the program has the phases {', '.join(marks)}")
    found = {}
    for name, when in marks.items():
        found[name], before = when - before, when
    return {**found, WHOLE: end - start}


def measure(
    group: str, programs: Mapping[str, Program], rounds: int, missing: dict[str, str]
) -> list[Record]:
    """A row for each phase and the whole: the programs in turns, `rounds` times. missing: who cannot run."""
    found: dict[str, dict[str, list[float]]] = {name: {} for name in (*PHASES, WHOLE)}
    order = list(programs.items())
    for _ in range(rounds):
        for who, program in order:
            for name, seconds in phases(program).items():
                found[name].setdefault(who, []).append(seconds)
        order = order[1:] + order[:1]
    return [Record(group, name, times, missing=missing) for name, times in found.items()]


def rows(document: Document) -> dict[str, Record]:
    """The rows of one group of a document by their names: of the GPU, else of the simulator.

    NothingToDraw if neither was measured.
    """
    for group in (GROUP, SIMULATED):
        if found := {record.name: record for record in document.records if record.group == group}:
            return found
    raise NothingToDraw("no application was measured: -k application does")


def table(document: Document) -> str:
    """Medians of the kernel and of the application by contender, in Markdown. NothingToDraw as `rows`."""
    whole = rows(document)[WHOLE]
    records = {(record.group, record.name): record for record in document.records}
    kernel = records.get(KERNEL) if whole.group == GROUP else None
    present = [who for who in BARS if who in whole.times]
    lines = [["", *present], ["---"] * (len(present) + 1)]
    if kernel:
        by_who = {who: f"{median(times) * 1e6:.1f} us" for who, times in kernel.times.items()}
        lines.append(["kernel", *(by_who.get(who, "") for who in present)])
    lines.append([whole.group, *(f"{median(whole.times[who]) * 1e3:.0f} ms" for who in present)])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def draw(path: Path, document: Document) -> None:
    """Draw a bar for each contender, the median of each phase one after the other, into a PNG or SVG.

    NothingToDraw as `rows`, ImportError without matplotlib.
    """
    found = rows(document)
    pyplot = charts.begin()
    present = [who for who in BARS if who in found[WHOLE].times]
    figure, axes = pyplot.subplots(figsize=(10, 1.6 + 0.5 * len(present)), layout="constrained")
    lefts = [0.0] * len(present)
    for phase in PHASES:
        widths = [median(found[phase].times[who]) * 1e3 for who in present]
        bars = axes.barh(present, widths, left=lefts, label=phase, height=0.7)
        longest = max(median(found[WHOLE].times[who]) for who in present) * 1e3
        labels = [f"{width:.0f}" if width > longest / 25 else "" for width in widths]
        axes.bar_label(bars, labels, label_type="center", fontsize="small", color="black")
        lefts = [left + width for left, width in zip(lefts, widths, strict=True)]
    axes.invert_yaxis()
    axes.set_xlabel("milliseconds, medians")
    where = document.machine.get("CPU" if found[WHOLE].group == SIMULATED else "GPU", "")
    axes.set_title(f"SAXPY from start to exit: {found[WHOLE].group}, {where}")
    figure.legend(loc="outside lower center", ncols=len(PHASES), fontsize="small")
    charts.save(figure, path)
