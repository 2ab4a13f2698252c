"""How often a comparison finds what is there, and what is not: `python -m benchmark.experiments`.

Processes of one commit are measured on a null libcuda, all alike. Comparisons are then drawn from them, none
twice in a comparison, of which one side is multiplied by what was planted.
"""

from __future__ import annotations

import argparse
import random
from concurrent.futures import ThreadPoolExecutor

from . import baseline
from .__main__ import AGAIN, RUNS
from .baseline import Baseline
from .document import Document
from .overhead import in_a_process
from .record import Record

ROWS = 70
"""How many rows a whole comparison has, about: the rate of false alarms is divided by them."""
PLANTED = (0.0, 0.02, 0.05, 0.10)
GROUP = "overhead"


def processes(count: int, jobs: int) -> list[Document]:
    """What `count` processes measured of launches with core, `jobs` at a time."""

    def measure(_: int) -> Document:
        rows = in_a_process("core", 151, PYTHONHASHSEED="0")
        return Document({}, [Record(GROUP, name, times) for name, times, _ in rows], {})

    with ThreadPoolExecutor(jobs) as pool:
        return list(pool.map(measure, range(count)))


def slowed(side: list[Document], row: str, planted: float) -> Baseline:
    """The ratios of some processes, in which a row takes longer by `planted`."""
    found = baseline.of(side)
    found.rows = {
        name: {who: [ratio * (1 + planted * (name == row)) for ratio in sample] for who, sample in of.items()}
        for name, of in found.rows.items()
    }
    return found


def verdict(documents: list[Document], row: str, planted: float, draw: random.Random) -> set[str]:
    """The rows that one comparison finds slower: the rule of `python -m benchmark --against`."""
    chosen = draw.sample(documents, 2 * (RUNS + AGAIN))
    sides = iter([chosen[:RUNS], chosen[RUNS : 2 * RUNS], chosen[2 * RUNS : -AGAIN], chosen[-AGAIN:]])
    first = slowed(next(sides), row, 0).changes(slowed(next(sides), row, planted))
    doubtful = baseline.suspects(first)
    decided = slowed(next(sides), row, 0).changes(slowed(next(sides), row, planted))
    limit = baseline.FALSE_ALARMS / ROWS
    return {name for name in doubtful if decided[name].slower < limit}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmark.experiments", description=__doc__)
    parser.add_argument("--processes", type=int, default=100)
    parser.add_argument("--jobs", type=int, default=1, help="processes at a time (1)")
    parser.add_argument("--comparisons", type=int, default=1000, help="drawn for each line (1000)")
    chosen = parser.parse_args()
    if chosen.processes < 2 * (RUNS + AGAIN):
        parser.error(f"a comparison takes {2 * (RUNS + AGAIN)} processes")
    documents = processes(chosen.processes, chosen.jobs)
    draw = random.Random(0)
    rows = [baseline.key(record) for record in documents[0].records]
    print(f"{len(documents)} processes, {chosen.comparisons} comparisons of {RUNS} and {AGAIN} a side")
    for planted in PLANTED:
        for row in rows if planted else rows[:1]:
            found = [verdict(documents, row, planted, draw) for _ in range(chosen.comparisons)]
            hits = sum(row in each if planted else bool(each) for each in found)
            what = f"{row} slower by {planted:.0%}" if planted else "nothing changed, any row"
            print(f"{what:70} found in {hits / chosen.comparisons:.1%}", flush=True)


if __name__ == "__main__":
    main()
