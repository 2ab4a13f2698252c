"""`python -m samples`: list the samples, or run some or all of them.

    python -m samples                      # lists them; python -m samples list introduction: a part
    python -m samples run vector_add scan  # runs some, by name or by category
    python -m samples run --all            # runs all, each in a process of its own
    python -m samples run --all --simulator --jobs 4

Exit code 0: all that ran passed; 1: one failed; 77: all that were asked for were waived, because this
machine lacks what they need.
"""

from __future__ import annotations

import argparse
import ast
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).parent
WAIVED = 77
LIMIT = 300
"""Seconds after which a sample that has not ended is stopped, and has failed."""


class Sample:
    """A program in this folder."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.name = path.stem
        self.category = path.parent.name if path.parent != HERE else ""

    @property
    def title(self) -> str:
        """The first line of its docstring."""
        text = ast.get_docstring(ast.parse(self.path.read_text(encoding="utf-8"))) or ""
        return text.partition("\n")[0]

    def run(self, simulator: bool) -> tuple[int, str]:
        """Run it alone: its exit code, and what it printed."""
        environment = dict(os.environ, PYTHONIOENCODING="utf-8")
        if simulator:
            environment["CUDAPY_DRIVER"] = "simulator"
        try:
            done = subprocess.run(
                [sys.executable, str(self.path)],
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                encoding="utf-8",
                errors="replace",
                timeout=LIMIT,
                env=environment,
            )
        except subprocess.TimeoutExpired as error:
            said = error.stdout.decode(errors="replace") if isinstance(error.stdout, bytes) else error.stdout
            return 1, f"{said or ''}\nstopped after {LIMIT} seconds"
        return done.returncode, done.stdout


def samples() -> list[Sample]:
    """All of them, category by category."""
    paths = [path for path in HERE.glob("**/*.py") if not path.name.startswith("_")]
    return [Sample(path) for path in sorted(paths, key=lambda path: (path.parent != HERE, path))]


def chosen(names: list[str]) -> Iterator[Sample]:
    """Those with one of these names, or in a category of that name. SystemExit for an unknown one."""
    there = samples()
    unknown = set(names) - {sample.name for sample in there} - {sample.category for sample in there}
    if unknown:
        raise SystemExit(
            f"there is no sample and no category {', '.join(sorted(unknown))}: `python -m samples` lists them"
        )
    return (sample for sample in there if sample.name in names or sample.category in names)


def show(which: list[Sample]) -> int:
    """Print the list."""
    category, width = None, max(len(sample.name) for sample in which)
    for sample in which:
        if sample.category != category:
            category = sample.category
            print(f"\n{category}" if category else "")
        print(f"  {sample.name:{width}}  {sample.title}")
    return 0


def run(which: list[Sample], simulator: bool, verbose: bool, jobs: int = 1) -> int:
    """Run them, `jobs` at a time, and sum up."""
    counts = {"pass": 0, "waived": 0, "FAIL": 0}
    width, digits = max(len(sample.name) for sample in which), len(str(len(which)))

    def timed(sample: Sample) -> tuple[int, str, float]:
        start = time.perf_counter()
        return *sample.run(simulator), time.perf_counter() - start

    with ThreadPoolExecutor(jobs) as pool:
        running = [pool.submit(timed, sample) for sample in which]
        for i, (sample, ended) in enumerate(zip(which, running, strict=True), 1):
            print(f"[{i:{digits}}/{len(which)}] {sample.name:{width}}  ", end="", flush=True)
            code, text, seconds = ended.result()
            result = {0: "pass", WAIVED: "waived"}.get(code, "FAIL")
            counts[result] += 1
            why = next((line for line in text.splitlines() if line.startswith("WAIVED")), "")
            print(f"{result:6} {seconds:6.1f} s  {why.removeprefix('WAIVED: ')}".rstrip())
            if verbose or result == "FAIL":
                print("".join(f"    {line}\n" for line in text.splitlines()), end="")
                if result == "FAIL":
                    print(f"    exit code {code}")
    print(f"{counts['pass']} passed, {counts['FAIL']} failed, {counts['waived']} waived")
    if counts["FAIL"]:
        return 1
    return WAIVED if counts["waived"] and not counts["pass"] else 0


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m samples", description="Ported CUDA samples.")
    commands = parser.add_subparsers(dest="command")
    listing = commands.add_parser("list", help="list the samples (the default)")
    listing.add_argument("names", nargs="*", help="samples or categories (all)")
    running = commands.add_parser("run", help="run samples")
    running.add_argument("names", nargs="*", help="samples or categories")
    running.add_argument("--all", action="store_true", help="run all samples")
    running.add_argument("--simulator", action="store_true", help="use the simulator even if there is a GPU")
    running.add_argument("--verbose", action="store_true", help="show the output of each")
    running.add_argument("--jobs", type=int, default=1, help="how many to run at a time (1)")
    arguments = parser.parse_args()
    if arguments.command != "run":
        names = getattr(arguments, "names", [])
        return show(list(chosen(names)) if names else samples())
    if arguments.all == bool(arguments.names):
        running.error("name the samples to run, or say --all")
    if arguments.jobs < 1:
        running.error("--jobs is at least 1")
    which = samples() if arguments.all else list(chosen(arguments.names))
    return run(which, arguments.simulator, arguments.verbose, arguments.jobs)


if __name__ == "__main__":
    try:
        code = main()
        sys.stdout.flush()
    except BrokenPipeError:  # `| head`; what is left must not fail again when Python ends
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    sys.exit(code)
