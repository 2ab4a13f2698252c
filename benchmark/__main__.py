"""`python -m benchmark`: the whole benchmark, and its report."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import pytest


def main() -> int:
    """Run the suites through pytest; the exit code is pytest's."""
    parser = argparse.ArgumentParser(prog="python -m benchmark", description="What pure Python costs.")
    parser.add_argument("--quick", action="store_true", help="a fifth of the rounds: a look, not a record")
    parser.add_argument("--json", type=Path, metavar="PATH", help="write machine, ratios and raw times there")
    parser.add_argument("pytest", nargs="*", help="arguments for pytest, after --, such as -k launch")
    chosen = parser.parse_args()
    here = Path(__file__).parent
    arguments = [str(here), f"--rootdir={here.parent}", "-q", "-rN", "--tb=native", "--benchmark-quiet"]
    if chosen.quick:
        arguments.append("--quick")
    if chosen.json:
        arguments.append(f"--json={chosen.json.resolve()}")
    return int(pytest.main([*arguments, *chosen.pytest]))


if __name__ == "__main__":
    sys.exit(main())
