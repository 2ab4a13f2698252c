"""How often a comparison finds what is there, and what is not: `python -m benchmark.experiments`.

Processes of one commit are measured, all alike: launches with core on a null libcuda, or the driver's rows of
the gate on a GPU, by the gate's rules (its other rows take most of a process's time, for packages that are
slow to import).
Comparisons are then drawn from them, none twice in a comparison, of which one side is multiplied by what was
planted.
"""

from __future__ import annotations

import argparse
import random
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from turns.__main__ import of_a_gate
from turns.comparison import SLOWER, Baseline, Comparison, Rules, key, of
from turns.document import Document
from turns.record import Record

from .baselines import RULES
from .command import SUITE
from .overhead import PARTS, in_a_process

ROWS = 70
"""How many rows a whole comparison has, about: the rate of false alarms is divided by them."""
PLANTED = (0.0, 0.02, 0.05, 0.10)
GROUP = "overhead"


def on_a_gpu(count: int) -> list[Document]:
    """What `count` processes measured of the driver's rows of the gate, one after the other."""
    with tempfile.TemporaryDirectory(prefix="cudapy-experiments-") as folder:
        side = SUITE.side(Path(folder))
        for _ in range(count):
            side.measure(["-m", "gate and gpu", "-k", "test_driver", "--turns-quick"])
    if side.status:
        raise SystemExit(f"a process failed: exit code {side.status}")
    return side.documents


def on_a_null_libcuda(count: int, jobs: int) -> list[Document]:
    """What `count` processes measured of launches with core, `jobs` at a time."""

    def measure(_: int) -> Document:
        rows = [row for part in PARTS for row in in_a_process("core", part, 151, PYTHONHASHSEED="0")]
        return Document({}, [Record(GROUP, name, times) for name, times, _ in rows], {})

    with ThreadPoolExecutor(jobs) as pool:
        return list(pool.map(measure, range(count)))


def slowed(side: list[Document], row: str, planted: float) -> Baseline:
    """The ratios of some processes, in which a row takes longer by `planted`."""
    found = of(side)
    found.rows = {
        name: {who: [ratio * (1 + planted * (name == row)) for ratio in sample] for who, sample in of.items()}
        for name, of in found.rows.items()
    }
    return found


def verdict(
    documents: list[Document], row: str, planted: float, draw: random.Random, rules: Rules = RULES
) -> tuple[set[str], int]:
    """The rows that one comparison finds slower, by such rules, and after how many processes."""
    most = rules.looks[-1]
    chosen = draw.sample(documents, 2 * most)
    rows = len(documents[0].records)
    comparison = Comparison(replace(rules, false_alarms=rules.false_alarms * rows / ROWS))
    count = 0
    while comparison.processes and (not count or comparison.open):
        count = comparison.processes
        sides = chosen[:count], chosen[most : most + count]
        comparison.look(slowed(sides[0], row, 0), slowed(sides[1], row, planted))
    return set(comparison.rows(SLOWER)), count


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmark.experiments", description=__doc__)
    parser.add_argument("--gpu", action="store_true", help="the driver's rows of the gate on the GPU")
    parser.add_argument("--processes", type=int, default=100)
    parser.add_argument("--jobs", type=int, default=1, help="processes at a time (1)")
    parser.add_argument("--comparisons", type=int, default=1000, help="drawn for each line (1000)")
    chosen = parser.parse_args()
    rules = of_a_gate(RULES) if chosen.gpu else RULES
    most = rules.looks[-1]
    if chosen.processes < 2 * most:
        parser.error(f"a comparison takes {2 * most} processes")
    count = chosen.processes
    documents = on_a_gpu(count) if chosen.gpu else on_a_null_libcuda(count, chosen.jobs)
    draw = random.Random(0)
    rows = [key(record) for record in documents[0].records]
    print(f"{len(documents)} processes, {chosen.comparisons} comparisons of at most {most} a side")
    for planted in PLANTED:
        for row in rows if planted else rows[:1]:
            found = [verdict(documents, row, planted, draw, rules) for _ in range(chosen.comparisons)]
            hits = sum(row in each if planted else bool(each) for each, _ in found)
            took = sum(count for _, count in found) / len(found)
            what = f"{row} slower by {planted:.0%}" if planted else "nothing changed, any row"
            print(f"{what:70} found in {hits / chosen.comparisons:.1%}, {took:.0f} a side", flush=True)


if __name__ == "__main__":
    main()
