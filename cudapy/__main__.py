"""`python -m cudapy`: what was found on this machine, and what is wrong with it; `ranks`, `top`, `vendor`."""

import argparse
import io
import os
import sys
from collections.abc import Sequence

from . import __version__
from ._commands.doctor.machine import this_machine
from ._commands.doctor.problems import problems
from ._commands.doctor.report import as_json, as_text
from ._commands.ranks import main as ranks
from ._commands.vendor import main as vendor


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the report; 0 if a kernel was compiled and run, 1 if not.

    `ranks` runs a program in several processes; `top` shows the devices and their processes; `vendor` makes a
    copy of the package.
    """
    given = sys.argv[1:] if arguments is None else arguments
    if given[:1] == ["vendor"]:
        return vendor(given[1:])
    if given[:1] == ["ranks"]:
        return ranks(given[1:], f"python -m {__package__} ranks")
    if given[:1] == ["top"]:
        from ._commands.top.command import main as top

        return top(given[1:], f"python -m {__package__}")
    parser = argparse.ArgumentParser(
        prog=f"python -m {__package__}",
        description="Reports what this machine has of CUDA, and the problems found. Exit code 0: a kernel "
        "was compiled and run on a device or, where there is no NVIDIA driver, on the simulator; 1: it was "
        "not. Other commands, each with --help: `ranks` runs a program in a process for each rank, `top` "
        "shows the devices and the processes on them, `vendor` copies this package into another project.",
    )
    parser.add_argument("--json", action="store_true", help="print the report as JSON, for bug reports")
    parser.add_argument("--version", action="version", version=f"{__package__} {__version__}")
    if given and given[0] in ("simulator", "alias"):
        parser.error(f"{given[0]} is a module: python -m {__package__}.{' '.join(given)}")
    if given and not given[0].startswith("-"):
        parser.error(f"there is no command {given[0]!r}: ranks, top, vendor")
    options = parser.parse_args(given)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a path may have what a terminal has not
    facts = this_machine()
    problems_found = problems(facts)
    try:
        print(as_json(facts, problems_found) if options.json else as_text(facts, problems_found), flush=True)
    except BrokenPipeError:  # `| head`; what is left must not fail again when Python ends
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0 if facts.runs_kernels else 1


if __name__ == "__main__":
    sys.exit(main())
