"""`python -m benchmark`: the whole benchmark, its report, and the comparison with an earlier one."""

from __future__ import annotations

import argparse
import io
import os
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Sequence
from pathlib import Path

from . import application, baseline, history, machine, picture, report
from .baseline import Baseline, Change
from .document import Document, merged
from .picture import NothingToDraw
from .timing import ROOT, environment

RUNS = 5
"""Processes on each side of a comparison, and those that a baseline is the result of."""
AGAIN = 25
"""Processes on each side for the rows that seem to have changed then; they alone decide."""


def main() -> int:
    """Run the suites through pytest, or draw what was kept of such runs.

    0: fine; 1: something failed or became slower; 2: a wrong command.
    """
    parser = commands()
    chosen = parser.parse_args()
    if chosen.compare and chosen.against:
        parser.error("--compare and --against are two ways to name what to compare with: choose one")
    kept = chosen.record or chosen.history
    if kept and (chosen.save or chosen.compare or chosen.against or chosen.runs or chosen.pytest):
        parser.error("--from and --history measure nothing: they go with --json, --picture, --application")
    try:
        if chosen.history:
            history.draw(chosen.history, baseline.kept())
            print(f"drawn in {chosen.history}")
        if chosen.record:
            whole = Document.read(chosen.record)
            tell(whole, chosen)
            draw(whole, chosen)
        return 0 if kept else measure(chosen)
    except (baseline.Unfit, NothingToDraw) as error:
        parser.error(str(error))
    except (OSError, ValueError, KeyError) as error:
        if not chosen.record:
            raise
        parser.error(f"--from {chosen.record}: {type(error).__name__}: {error}")


def commands() -> argparse.ArgumentParser:
    """What can be asked for."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmark", description="Measures cudapy next to C++ and to other Python packages."
    )
    parser.add_argument("--quick", action="store_true", help="a fifth of the rounds, for a quick look")
    parser.add_argument("--json", type=Path, metavar="PATH", help="write machine, ratios and raw times there")
    parser.add_argument(
        "--picture", type=Path, metavar="PATH", help="draw the launches and the history there"
    )
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
    parser.add_argument("--save", metavar="NAME", help=f"keep the ratios as {baseline.FOLDER.name}/NAME.json")
    parser.add_argument("--compare", metavar="NAME", help="fail if a row is slower than in that baseline")
    parser.add_argument("--against", metavar="COMMIT", help="fail if a row is slower than at that commit")
    parser.add_argument(
        "--runs", type=int, metavar="N", help=f"processes; 1, or {RUNS} with --save, --compare, --against"
    )
    parser.add_argument("pytest", nargs="*", help="arguments for pytest, after --, such as -k launch")
    return parser


def measure(chosen: argparse.Namespace) -> int:
    """Measure in as many processes as were asked for; the status. Unfit if nothing is to compare with."""
    runs = chosen.runs or (RUNS if chosen.save or chosen.compare or chosen.against else 1)
    arguments = [*(["--quick"] if chosen.quick else []), *chosen.pytest]
    with tempfile.TemporaryDirectory(prefix="cudapy-benchmark-") as name:
        folder = Path(name)
        mine, other = Side(folder / "now"), None
        before = baseline.load(chosen.compare) if chosen.compare else None
        if before:
            before.require_same(machine.describe())
        if chosen.against:
            other = Side.of(folder / "before", chosen.against)
        for run in range(runs):
            if runs > 1:
                print(f"run {run + 1} of {runs}", file=sys.stderr, flush=True)
            for side in (other, mine) if other else (mine,):
                side.measure(arguments)
        if not mine.documents:
            return mine.status
        whole = merged(mine.documents)
        tell(whole, chosen)
        status = mine.status
        if before or other:
            status = compare(before, other, mine, arguments) or status
        if chosen.save:
            print(f"\nsaved as {baseline.save(chosen.save, mine.documents)}")
        draw(whole, chosen)
        return status


def tell(whole: Document, chosen: argparse.Namespace) -> None:
    """Print the report, and write what was measured."""
    print(report.text(whole.machine, whole.records, whole.skipped))
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


class Side:
    """One of the two commits that are compared: where its cudapy is, and what was measured with it."""

    def __init__(self, folder: Path, measured: Path = ROOT, commit: str = "") -> None:
        self.folder, self.documents, self.status = folder, [], 0  # type: tuple[Path, list[Document], int]
        self.environment = environment(measured)
        self.environment["PYTHONHASHSEED"] = "0"  # else dictionaries have other collisions
        self.environment |= {"BENCHMARK_CUDAPY": str(measured), machine.COMMIT: commit}
        here = Path(__file__).parent
        self.command = [
            sys.executable,
            "-m",
            "pytest",
            str(here),
            f"--rootdir={ROOT}",
            "-q",
            "-rN",
            "--progress",
        ]
        self.command += ["--tb=native", "--benchmark-quiet", "-p", "no:cacheprovider", "-n", "0"]
        self.command += ["-o", "console_output_style=classic", "--progress"]
        self.command += ["-o", f"pythonpath={measured} {ROOT}"]
        self.measured = measured

    @staticmethod
    def of(folder: Path, commit: str) -> Side:
        """That of another commit, whose cudapy is unpacked into `folder`. Raises Unfit."""
        command = ["git", "-C", str(ROOT), "archive", "--format=tar", commit, "cudapy"]
        done = subprocess.run(command, capture_output=True)
        if done.returncode:
            raise baseline.Unfit(f"--against {commit}: {done.stderr.decode().strip()}")
        with tarfile.open(fileobj=io.BytesIO(done.stdout)) as archive:
            archive.extractall(folder, filter="data")
        return Side(folder.parent / "before-raw", folder, commit)

    def measure(self, arguments: Sequence[str]) -> None:
        """Measure in one more process."""
        self.folder.mkdir(exist_ok=True)
        raw = self.folder / f"{len(self.documents)}.json"
        command = [*self.command, f"--raw={raw}", *arguments]
        if (earlier := self.folder / "0.json").exists():
            command.append(f"--expect={earlier}")
        done = subprocess.run(command, cwd=self.measured, env=self.environment)
        self.status = self.status or done.returncode
        if raw.exists():
            self.documents.append(Document.read(raw))


def compare(before: Baseline | None, other: Side | None, mine: Side, arguments: Sequence[str]) -> int:
    """Print what changed. Rows that seem to have are measured in more processes, which alone decide."""
    start = before or baseline.of(other.documents if other else [])
    now = baseline.of(mine.documents)
    changes: dict[str, Change] = start.changes(now)
    doubtful = baseline.suspects(changes)
    if doubtful:
        print(f"\nonce more, as they seem to have changed: {'; '.join(sorted(doubtful))}", flush=True)
        only = [*arguments, *(f"--only={test}" for test in baseline.tests(mine.documents, doubtful))]
        first = len(mine.documents)
        second = len(other.documents) if other else 0
        for _ in range(AGAIN):
            for side in (other, mine) if other else (mine,):
                side.measure(only)
        later = before or baseline.of(other.documents[second:] if other else [])
        decided = later.changes(baseline.of(mine.documents[first:]))
        changes |= {row: decided[row] for row in doubtful if row in decided}
    clear = {row: change if row in doubtful else _none(change) for row, change in changes.items()}
    print("\n" + start.text(now, clear))
    if os.environ.get("GITHUB_ACTIONS"):
        print(baseline.github_commands(clear))
    return 1 if baseline.slower(clear) else 0


def _none(change: Change) -> Change:
    """The same, found to be chance."""
    return change._replace(slower=1.0, faster=1.0)


if __name__ == "__main__":
    sys.exit(main())
