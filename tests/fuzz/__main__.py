"""Run a fuzzer, in several processes."""

from __future__ import annotations

import argparse
import importlib
import sys
import time

from .runner import Runner

FUZZERS = ("ptx", "calls", "machine", "programs", "warps", "lifetimes", "lanes", "core_lanes")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description="Fuzzers of the simulator.")
    parser.add_argument("fuzzer", choices=FUZZERS)
    parser.add_argument("--count", type=int, default=1000, help="how many items (1000)")
    parser.add_argument("--first", type=int, default=0, help="the number of the first one (0)")
    parser.add_argument("--processes", type=int, default=2, help="how many run side by side (2)")
    parser.add_argument("--seconds", type=float, default=0, help="stop after that long, whatever the count")
    arguments = parser.parse_args()
    module = importlib.import_module(f"{__package__}.{arguments.fuzzer}")
    module.prepare()
    started = time.monotonic()
    runner = Runner(module.Fuzzer, arguments.processes)
    done = runner.run(arguments.first, arguments.count, arguments.seconds)
    for number, wrong in sorted(runner.wrong):
        print(f"{number}: {wrong}")
    outcomes = ", ".join(f"{count} {what}" for what, count in runner.outcomes.most_common())
    print(f"{done} items in {time.monotonic() - started:.0f} s: {outcomes}; {len(runner.wrong)} wrong")
    return 1 if runner.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
