"""`python -m cudapy`: what was found on this machine, and what is wrong with it."""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Sequence

from ._doctor.machine import this_machine
from ._doctor.problems import problems
from ._doctor.report import as_json, as_text


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the report; 0 if a kernel was compiled and run on a device, 1 if not."""
    parser = argparse.ArgumentParser(
        prog=f"python -m {__package__}",
        description="Says what CUDA has on this machine, and what is wrong with it. Exit code 0: a kernel "
        "was compiled and run on a device; 1: it was not.",
    )
    parser.add_argument("--json", action="store_true", help="the report as JSON, for bug reports")
    options = parser.parse_args(arguments)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a path may have what a terminal has not
    facts = this_machine()
    found = problems(facts)
    try:
        print(as_json(facts, found) if options.json else as_text(facts, found), flush=True)
    except BrokenPipeError:  # `| head`; what is left must not fail again when Python ends
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0 if facts.job.works else 1


if __name__ == "__main__":
    sys.exit(main())
