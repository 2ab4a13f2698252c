"""`python -m benchmark`: the whole benchmark, its report, and the comparison with an earlier one."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from . import baseline, report
from .document import Document, merged
from .timing import ROOT

RUNS = 3
"""Processes that a baseline is the result of: what they differ by is the noise."""


def main() -> int:
    """Run the suites through pytest. 0: fine; 1: something failed or became slower; 2: a wrong command."""
    parser = argparse.ArgumentParser(prog="python -m benchmark", description="What pure Python costs.")
    parser.add_argument("--quick", action="store_true", help="a fifth of the rounds: a look, not a record")
    parser.add_argument("--json", type=Path, metavar="PATH", help="write machine, ratios and raw times there")
    parser.add_argument(
        "--picture", type=Path, metavar="PATH", help="draw the launches and the history there"
    )
    parser.add_argument("--save", metavar="NAME", help=f"keep the ratios as {baseline.FOLDER.name}/NAME.json")
    parser.add_argument("--compare", metavar="NAME", help="fail if a ratio is worse than in that baseline")
    parser.add_argument(
        "--runs", type=int, metavar="N", help=f"processes; 1, or {RUNS} with --save, --compare"
    )
    parser.add_argument("pytest", nargs="*", help="arguments for pytest, after --, such as -k launch")
    chosen = parser.parse_args()
    try:
        before = baseline.load(chosen.compare) if chosen.compare else None
    except baseline.Unfit as error:
        parser.error(str(error))
    runs = chosen.runs or (RUNS if chosen.save or chosen.compare else 1)
    arguments = [*(["--quick"] if chosen.quick else []), *chosen.pytest]
    documents, status = measure(arguments, runs)
    if not documents:
        return status
    whole = merged(documents)
    print(report.text(whole.machine, whole.records, whole.skipped))
    if chosen.json:
        whole.write(chosen.json)
    if before:
        try:
            status = compare(before, documents, arguments) or status
        except baseline.Unfit as error:
            parser.error(str(error))
    if chosen.save:
        print(f"\nsaved as {baseline.save(chosen.save, documents)}")
    if chosen.picture:
        from .picture import draw

        draw(chosen.picture, whole)
        print(f"\ndrawn in {chosen.picture}")
    return status


def measure(arguments: Sequence[str], runs: int) -> tuple[list[Document], int]:
    """What `runs` processes measured, one after the other, and pytest's first exit code that is not 0."""
    here = Path(__file__).parent
    command = [sys.executable, "-m", "pytest", str(here), f"--rootdir={ROOT}", "-q", "-rN", "--tb=native"]
    command += ["--benchmark-quiet", "-p", "no:cacheprovider", "-n", "0"]
    documents, status = [], 0
    alike = {**os.environ, "PYTHONHASHSEED": "0"}  # else each has other collisions in its dictionaries
    with tempfile.TemporaryDirectory(prefix="cudapy-benchmark-") as folder:
        for run in range(runs):
            raw = Path(folder) / f"{run}.json"
            if runs > 1:
                print(f"run {run + 1} of {runs}", file=sys.stderr, flush=True)
            done = subprocess.run([*command, f"--raw={raw}", *arguments], cwd=ROOT, env=alike)
            status = status or done.returncode
            if raw.exists():
                documents.append(Document.read(raw))
    return documents, status


def compare(before: baseline.Baseline, documents: Sequence[Document], arguments: Sequence[str]) -> int:
    """Print what became slower. Rows that seem to be are measured once more, and all of it counts."""
    now = baseline.of(documents)
    suspects = before.worse(now)
    if suspects:
        print(f"\nonce more, as they seem slower: {'; '.join(sorted(suspects))}")
        only = [f"--only={test}" for test in baseline.tests(documents, suspects)]
        again, _ = measure([*arguments, *only], len(documents))
        now = baseline.of([*documents, *again])
        suspects &= before.worse(now)
    print("\n" + before.text(now, suspects))
    return 1 if suspects else 0


if __name__ == "__main__":
    sys.exit(main())
