"""`python -m tests.clients.simulated`: numba-cuda's own tests over NVIDIA's compiled bindings, without a GPU.

They run as they are, under `python -m cudapy.simulator`. What fails is printed by its reason. With `--passed
FILE`, the results that tests.clients.compare kept on a GPU (nvidia.json in `--logs`), the tests that pass
there are those that count. Exit code 1: fewer than `--share` of them pass.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

from .compare import Result, count, run

LAUNCHER = ("-m", "cudapy.simulator")


def reason(result: Result) -> str:
    """The last line of what pytest says of a failure that names an error."""
    lines = [line for line in result.why.splitlines() if line.startswith("E ")]
    return lines[-1][2:].strip()[:200] if lines else (result.why.splitlines() or ["?"])[-1][:200]


def report(results: Mapping[str, Result]) -> None:
    """Print what fails, by reason."""
    reasons: dict[str, list[str]] = defaultdict(list)
    for name, result in results.items():
        if result.outcome == "failed":
            reasons[reason(result)].append(name)
    for why, names in sorted(reasons.items(), key=lambda item: -len(item[1])):
        print(f"{len(names)} {why}", *sorted(names), sep="\n    ")


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.clients.simulated", description=__doc__)
    parser.add_argument("tests", nargs="*", default=["."], help="files of the suite; all")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="processes")
    parser.add_argument("--seconds", type=float, default=3600, help="how long all may take")
    parser.add_argument("--each", type=float, default=300, help="how long a test may take")
    parser.add_argument("--passed", type=Path, help="results on a GPU")
    parser.add_argument("--share", type=float, default=0.98, help="of the tests, that have to pass")
    parser.add_argument("--logs", type=Path, help="a folder for what pytest says, and the results as JSON")
    asked = parser.parse_args(arguments)
    logs = asked.logs or Path(tempfile.mkdtemp(prefix="simulated-"))
    logs.mkdir(parents=True, exist_ok=True)
    os.environ["CLIENTS_FRESH"] = "1"
    start = time.monotonic()
    log = logs / "simulated.log"
    results = run("nvidia", asked.tests, asked.workers, asked.seconds, log, LAUNCHER, asked.each)
    (logs / "simulated.json").write_text(json.dumps(results, indent=0))
    report(results)
    print(f"{count(results)}, in {time.monotonic() - start:.0f} s; logs: {logs}")
    wanted = [name for name, result in results.items() if result.outcome != "skipped"]
    if asked.passed:
        there = json.loads(asked.passed.read_text())
        wanted = [name for name, (outcome, *_) in there.items() if outcome == "passed"]
    passed = [name for name in wanted if name in results and results[name].outcome == "passed"]
    print(f"{len(passed)} of {len(wanted)} pass: {len(passed) / max(len(wanted), 1):.1%}")
    return int(len(passed) < asked.share * len(wanted) or not wanted)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
