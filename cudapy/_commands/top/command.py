"""The command line of `python -m cudapy top`."""

import argparse
import math
import os
import shutil
import sys
from collections.abc import Sequence

from ...core import system
from ...pathfinder import LibraryNotFound
from .readings import MachineReading, machine
from .screen import draw, quit_pressed, screen
from .table import lines


def main(arguments: Sequence[str], program: str) -> int:
    """Show the devices and their processes until q or Ctrl-C; 0, or 1 if NVML tells nothing."""
    parser = argparse.ArgumentParser(
        prog=f"{program} top",
        description="Shows the GPUs and the processes on them, refreshed until q or Ctrl-C.",
    )
    parser.add_argument(
        "--once", action="store_true", help="show them once, which is the default without a terminal"
    )
    parser.add_argument(
        "--interval",
        type=_seconds,
        default=1.0,
        metavar="SECONDS",
        help="time between two readings (default: 1)",
    )
    options = parser.parse_args(arguments)
    try:
        if options.once or not sys.stdout.isatty():
            _print(machine())
        else:
            _refresh(options.interval)
    except (LibraryNotFound, system.NvmlError) as error:
        print(f"{parser.prog}: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        pass
    except BrokenPipeError:  # `| head`; what is left must not fail again when Python ends
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def _seconds(text: str) -> float:
    seconds = float(text)
    if not 0.1 <= seconds < math.inf:
        raise argparse.ArgumentTypeError("must be 0.1 seconds at least")
    return seconds


def _print(reading: MachineReading) -> None:
    """Once: as wide as the terminal; in a pipe or a file as wide as COLUMNS says, or as need be."""
    is_terminal = sys.stdout.isatty()
    width = shutil.get_terminal_size().columns if is_terminal or "COLUMNS" in os.environ else None
    print("\n".join(lines(reading, width, colors=is_terminal and _has_colors())), flush=True)


def _refresh(interval: float) -> None:
    """Again and again, on a screen of its own."""
    reading = machine()  # what is wrong from the start is said on the screen that stays
    with screen():
        while True:
            size = shutil.get_terminal_size()
            draw(lines(reading, size.columns, _has_colors()), size.lines)
            if quit_pressed(interval):
                return
            reading = machine()


def _has_colors() -> bool:
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
