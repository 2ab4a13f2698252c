"""`python -m turns --against COMMIT TESTS`: is this working tree slower than that commit?"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from . import comparison, formats
from .comparison import Baseline, Comparison, Rules, Unfit
from .document import Document, merged
from .sides import Side, Suite, compare


def main() -> int:
    """0: no row became slower; 1: one did, or a test failed; 2: a wrong command."""
    parser = commands()
    chosen = parser.parse_args()
    try:
        if chosen.convert:
            convert(*chosen.convert)
            return 0
        if not chosen.against and not chosen.compare:
            parser.error("choose what to compare with: --against COMMIT or --compare PATH")
        return measure(chosen)
    except Unfit as error:
        parser.error(str(error))
    except (OSError, ValueError, KeyError) as error:
        if not chosen.convert:
            raise
        parser.error(f"--convert: {type(error).__name__}: {error}")


def commands() -> argparse.ArgumentParser:
    """What can be asked for."""
    parser = argparse.ArgumentParser(prog="python -m turns", description=__doc__)
    add_options(parser)
    parser.add_argument("--compare", type=Path, metavar="PATH", help="compare with ratios that --save wrote")
    parser.add_argument("--save", type=Path, metavar="PATH", help="write the ratios of this comparison there")
    parser.add_argument(
        "--parts", nargs="+", default=["."], metavar="PATH", help="what is taken from the commit: the package"
    )
    parser.add_argument("--path", default=".", metavar="FOLDER", help="goes on sys.path, such as src")
    parser.add_argument(
        "--convert",
        nargs=3,
        metavar=("FORMAT", "FROM", "TO"),
        help="measure nothing: convert between this library's files and those of FORMAT, "
        "pytest-benchmark or pyperf, whichever FROM is",
    )
    parser.add_argument("tests", nargs="*", help="arguments of pytest: the tests that measure")
    return parser


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of every command that compares."""
    parser.add_argument("--against", metavar="COMMIT", help="fail if a row is slower than at that commit")
    parser.add_argument("--gate", action="store_true", help="only the tests marked `gate`, in two minutes")
    parser.add_argument(
        "--seconds", type=float, default=0, help="decide within this time (as long as it takes)"
    )
    parser.add_argument(
        "--markdown", type=Path, metavar="PATH", help="write the verdicts there, for a pull request"
    )


GATE = 120.0
"""Seconds that a gate may take."""


def of_a_gate(rules: Rules) -> Rules:
    """The rules by which a gate decides: more often, after fewer processes."""
    return replace(
        rules, looks=(4, 8, 12, 16, 20), shares=(0.1, 0.2, 0.2, 0.2, 0.3), keep=(0.2, 0.1, 0.05, 0.02, 0.0)
    )


def limits(chosen: argparse.Namespace, rules: Rules) -> tuple[list[str], float, Rules]:
    """What `--gate` and `--seconds` mean: options of pytest, the time, and the rules.

    A gate has a fifth of the rounds, and decides more often.
    """
    if not chosen.gate:
        return [], chosen.seconds, rules
    return ["-m", "gate", "--turns-quick"], chosen.seconds or GATE, of_a_gate(rules)


def measure(chosen: argparse.Namespace) -> int:
    """Compare; the exit code. Raises Unfit."""
    options, seconds, rules = limits(chosen, Rules())
    suite = Suite(Path.cwd(), chosen.tests, chosen.parts, chosen.path)
    with tempfile.TemporaryDirectory(prefix="turns-") as name:
        before: Side | Baseline
        if chosen.against:
            before = suite.side_of(Path(name) / "before", chosen.against)
        else:
            before = Baseline.read(chosen.compare)
        now = suite.side(Path(name) / "now")
        done = compare(before, now, rules, options, seconds)
        kept = comparison.of(before.documents) if isinstance(before, Side) else before
        current = comparison.of(now.documents)
        if chosen.save:
            current.write(chosen.save)
        tell(done, kept, current, chosen.markdown)
        failed = now.status or (before.status if isinstance(before, Side) else 0)
        return 1 if failed or done.rows(comparison.SLOWER) else 0


def tell(done: Comparison, before: Baseline, now: Baseline, markdown: Path | None) -> None:
    """Print the verdicts, and write and annotate what was asked for."""
    print("\n" + comparison.text(done, before, now))
    if markdown:
        markdown.write_text(comparison.markdown(done, before, now))
    if os.environ.get("GITHUB_ACTIONS"):
        print(comparison.github_commands(done))


def convert(name: str, source: str, target: str) -> None:
    """Between a Document and a file of another program. ValueError for a format or file that is neither."""
    writers = {"pytest-benchmark": formats.to_pytest_benchmark, "pyperf": formats.to_pyperf}
    readers = {"pytest-benchmark": formats.from_pytest_benchmark, "pyperf": formats.from_pyperf}
    if name not in writers:
        raise ValueError(f"{name!r} is not one of {', '.join(writers)}")
    data = json.loads(Path(source).read_text())
    if "records" in data:
        Path(target).write_text(json.dumps(writers[name](Document.read(Path(source))), indent=1) + "\n")
    else:
        merged([readers[name](data)]).write(Path(target))


if __name__ == "__main__":
    sys.exit(main())
