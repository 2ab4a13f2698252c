"""What `python -m benchmark` does: the whole benchmark, its report, the comparison with an earlier one."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from turns import __main__ as turns_command
from turns import comparison, report
from turns.comparison import Baseline, Unfit
from turns.document import Document, merged
from turns.sides import Side, Suite, compare

from . import application, baselines, history, machine, picture
from .labels import LABELS
from .measured import ROOT
from .picture import NothingToDraw

RUNS = 5
"""Processes that a baseline is the result of."""
SUITE = Suite(ROOT, ["benchmark", "--benchmark-quiet", "-n", "0"], ["cudapy"])


def main() -> int:
    """Run the suites through pytest, or draw what was kept of such runs.

    0: fine; 1: something failed or became slower; 2: a wrong command.
    """
    parser = commands()
    chosen = parser.parse_args()
    if chosen.compare and chosen.against:
        parser.error("--compare and --against are two ways to name what to compare with: choose one")
    if (chosen.compare or chosen.against) and (chosen.runs or chosen.save):
        parser.error(
            "--runs and --save go with measurements that are not compared: a comparison counts itself"
        )
    if chosen.gate and not (chosen.compare or chosen.against):
        parser.error("--gate is a comparison: choose one with --against or --compare")
    if (chosen.seconds or chosen.markdown) and not (chosen.compare or chosen.against):
        parser.error("--seconds and --markdown go with a comparison: choose one with --against or --compare")
    kept = chosen.record or chosen.history
    if kept and (chosen.save or chosen.compare or chosen.against or chosen.runs or chosen.pytest):
        parser.error("--from and --history measure nothing: they go with --json, --picture, --application")
    try:
        if chosen.history:
            history.draw(chosen.history, baselines.kept())
            print(f"drawn in {chosen.history}")
        if chosen.record:
            whole = Document.read(chosen.record)
            tell(whole, chosen)
            draw(whole, chosen)
        return 0 if kept else measure(chosen)
    except (Unfit, NothingToDraw) as error:
        parser.error(str(error))
    except (OSError, ValueError, KeyError) as error:
        if not kept:
            raise
        option = "--from" if chosen.record else "--history"
        parser.error(f"{option} {kept}: {type(error).__name__}: {error}")


def commands() -> argparse.ArgumentParser:
    """What can be asked for."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmark", description="Measures cudapy next to C++ and to other Python packages."
    )
    parser.add_argument("--quick", action="store_true", help="a fifth of the rounds, for a quick look")
    parser.add_argument(
        "--json", type=Path, metavar="PATH", help="write machine, ratios and raw times there, as they come"
    )
    parser.add_argument("--picture", type=Path, metavar="PATH", help="draw the launches there")
    parser.add_argument(
        "--application",
        type=Path,
        metavar="PATH",
        help="draw where the time of the whole SAXPY program goes there, and print NVIDIA's table of it",
    )
    parser.add_argument(
        "--from",
        dest="record",
        type=Path,
        metavar="PATH",
        help="measure nothing: report and draw what an earlier --json wrote there",
    )
    parser.add_argument(
        "--history",
        nargs="?",
        type=Path,
        const=Path("history.svg"),
        metavar="PATH",
        help="measure nothing: draw the ratios of all baselines by commit there (history.svg)",
    )
    parser.add_argument(
        "--save", metavar="NAME", help=f"keep the ratios as {baselines.FOLDER.name}/NAME.json"
    )
    parser.add_argument("--compare", metavar="NAME", help="fail if a row is slower than in that baseline")
    turns_command.add_options(parser)
    parser.add_argument(
        "--runs", type=int, metavar="N", help=f"processes, without a comparison: 1, or {RUNS} with --save"
    )
    parser.add_argument("pytest", nargs="*", help="arguments for pytest, after --, such as -k launch")
    return parser


def measure(chosen: argparse.Namespace) -> int:
    """Measure, and compare if asked for; the status. Unfit if there is nothing to compare with."""
    options = [*(["--turns-quick"] if chosen.quick else []), *chosen.pytest]
    if chosen.json and not (chosen.compare or chosen.against):
        options.append(f"--turns-so-far={chosen.json.resolve()}")
    with tempfile.TemporaryDirectory(prefix="cudapy-benchmark-") as name:
        mine = SUITE.side(Path(name) / "now")
        if chosen.compare or chosen.against:
            return compared(chosen, Path(name) / "before", mine, options)
        runs = chosen.runs or (RUNS if chosen.save else 1)
        for run in range(runs):
            if runs > 1:
                print(f"run {run + 1} of {runs}", file=sys.stderr, flush=True)
            mine.measure(options)
            if not mine.documents:
                print(f"nothing was measured: pytest ended with {mine.status}, no test ran", file=sys.stderr)
                return mine.status
        whole = merged(mine.documents)
        tell(whole, chosen)
        if chosen.save:
            print(f"\nsaved as {baselines.save(chosen.save, mine.documents)}")
        draw(whole, chosen)
        return mine.status


def compared(chosen: argparse.Namespace, folder: Path, mine: Side, options: Sequence[str]) -> int:
    """Measure and compare; 1 if a row became slower, or if anything failed. Raises Unfit."""
    before: Side | Baseline
    if chosen.against:
        before = SUITE.side_of(folder, chosen.against)
    else:
        before = baselines.load(chosen.compare)
        before.require_same(machine.describe(), baselines.RULES.same)
    more, seconds, rules = turns_command.limits(chosen, baselines.RULES)
    if chosen.gate:
        there = machine.describe()["GPU"][:4] != "none"
        more[1] = "gate and gpu" if there else "gate and not gpu"
    done = compare(before, mine, rules, [*options, *more], seconds)
    whole = merged(mine.documents)
    tell(whole, chosen)
    kept = comparison.of(before.documents) if isinstance(before, Side) else before
    turns_command.tell(done, kept, comparison.of(mine.documents), chosen.markdown)
    draw(whole, chosen)
    failed = mine.status or (before.status if isinstance(before, Side) else 0)
    return 1 if failed or done.rows(comparison.SLOWER) else 0


def tell(whole: Document, chosen: argparse.Namespace) -> None:
    """Print the report, and write what was measured."""
    print(report.text(whole.machine, whole.records, whole.skipped, LABELS))
    if chosen.json:
        whole.write(chosen.json)


def draw(whole: Document, chosen: argparse.Namespace) -> None:
    """Draw what was asked for. NothingToDraw if it was not measured."""
    if chosen.picture:
        picture.draw(chosen.picture, whole)
        print(f"\ndrawn in {chosen.picture}")
    if chosen.application:
        application.draw(chosen.application, whole)
        print(f"\n{application.table(whole)}\n\ndrawn in {chosen.application}")
