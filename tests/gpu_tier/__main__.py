"""`python -m tests.gpu_tier`: run the tests, print the figures. Exit code 0: all is as asked for."""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from . import report, schedule
from .figures import FAILED
from .plan import PLAN, chosen

DEVICES = """
from cudapy import driver
driver.checked.cuInit(0)
count = driver.checked.cuDeviceGetCount()
assert count, "the driver shows no device"
names = [driver.checked.cuDeviceGetName(128, i).split(b"\\0")[0].decode() for i in range(count)]
print(f"{count} x {names[0]}, driver {driver.checked.cuDriverGetVersion()}")
"""


def devices() -> str:
    """What there is to test on. Raises SystemExit if that is nothing."""
    done = subprocess.run(
        [sys.executable, "-c", DEVICES], cwd=schedule.REPOSITORY, capture_output=True, text=True, timeout=120
    )
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["nothing was said"])[-1]
        print(
            f"no GPU: {last}\nHint: CUDAPY_DRIVER=simulator python -m tests.gpu_tier --small", file=sys.stderr
        )
        raise SystemExit(2)
    return done.stdout.strip()


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.gpu_tier", description=__doc__)
    parser.add_argument(
        "tests", nargs="*", help=f"all without one, or some of {', '.join(t.name for t in PLAN)}"
    )
    parser.add_argument("--small", action="store_true", help="small counts, to see that the tests work")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there too")
    cores = min(os.cpu_count() or 1, 16)  # more processes would wait for one another on the device
    parser.add_argument("--cores", type=int, default=cores, help="how many to keep busy")
    parser.add_argument("--seconds", type=float, default=470, help="how long all of it may take")
    parser.add_argument("--patience", type=float, default=1, help="multiplies the limits: for a busy machine")
    asked = parser.parse_args(arguments)
    try:
        tests = chosen(asked.tests)
    except KeyError as error:
        parser.error(f"there is no test {error}")
    tests = [replace(test, limit=test.limit * asked.patience) for test in tests]
    about = {
        "device": devices(),
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "small": asked.small,
    }
    print(f"{about['device']}, {about['python']}, {asked.cores} cores", flush=True)
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        outcomes = schedule.run(
            tests,
            Path(folder),
            size="small" if asked.small else "full",
            cores=max(1, asked.cores),
            seconds=asked.seconds,
            ended=lambda outcome: print(f"{outcome.seconds:6.1f} s  {outcome.test.name}", flush=True),
        )
    seconds = time.monotonic() - began
    print(f"\n{report.table(outcomes)}\n\n{report.summary(outcomes)}, in {seconds:.0f} s")
    if report.logs(outcomes):
        print(f"\n{report.logs(outcomes)}")
    if asked.json is not None:
        found = report.as_json(outcomes, {**about, "seconds": round(seconds, 1)})
        asked.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    return int(any(figure.verdict == FAILED for outcome in outcomes for figure in outcome.figures))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
