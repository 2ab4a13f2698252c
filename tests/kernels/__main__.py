"""Run the kernels, or list them."""

from __future__ import annotations

import argparse
import sys
import time
import traceback

from cudapy import simulator

from .families import chosen


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.kernels", description="Kernels and their references."
    )
    parser.add_argument("names", nargs="*", help="kernels or families; all without any")
    parser.add_argument("--list", action="store_true", help="a table of the kernels, which are not run")
    parser.add_argument("--traceback", action="store_true", help="the whole of each failure")
    arguments = parser.parse_args()
    try:
        kernels = chosen(arguments.names)
    except KeyError as error:
        parser.error(error.args[0])
    if arguments.list:
        print("| family | kernel | what it does | algorithm | reference |\n|---|---|---|---|---|")
        for one in kernels:
            print(f"| {one.family} | `{one.name}` | {one.title} | {one.algorithm} | {one.reference} |")
        return 0

    simulator.stand_in()
    failed, started = [], time.perf_counter()
    for one in kernels:
        before, reason = time.perf_counter(), ""
        try:
            one.check()
        except Exception as error:  # any of them is a failure of this kernel, and the others are run
            failed.append(one.name)
            reason = traceback.format_exc() if arguments.traceback else str(error).strip()[:2000]
        took = time.perf_counter() - before
        print(f"{'FAIL' if reason else 'pass'}  {took * 1e3:7.0f} ms  {one.family}.{one.name}", flush=True)
        if reason:
            print("      " + reason.replace("\n", "\n      "), flush=True)
    print(
        f"{len(kernels) - len(failed)} of {len(kernels)} kernels are right,"
        f" {time.perf_counter() - started:.1f} s" + (f"; wrong: {', '.join(failed)}" if failed else "")
    )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
