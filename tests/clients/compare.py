"""`python -m tests.clients.compare`: numba-cuda's own test suite over NVIDIA's bindings and over cudapy.

Its wheel ships the suite, which runs over both at the same time. The tests whose results differ run again,
each in a process of its own, since a test that loses the context takes the others of its process along.
Then the difference is printed by name. `DIFFERENT` has what is known, with the reason. Exit code 0: nothing
else fails over cudapy that passes over NVIDIA's; 77: there is no GPU. Needs numba-cuda, cuda-bindings,
cuda-core, filecheck, pytest and pytest-xdist.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from .environment import BINDINGS, REPOSITORY, environment

LEFT_OUT = ("benchmarks",)  # measurements, which want pytest-benchmark
DIFFERENT: dict[str, str] = {}


class Result(NamedTuple):
    """What became of a test: "passed", "skipped" or "failed", or "missing" where it was not reached."""

    outcome: str
    why: str = ""
    seconds: float = 0


MISSING = Result("missing")


def suite() -> Path:
    """The folder of the tests in the numba-cuda that is installed. Raises SystemExit if there is none."""
    found = importlib.util.find_spec("numba_cuda")
    if found is None or found.origin is None:
        raise SystemExit("numba-cuda is not installed: pip install numba-cuda filecheck")
    return Path(found.origin).parent / "numba" / "cuda" / "tests"


def command(tests: Sequence[str], workers: int, each: float, launcher: Sequence[str] = ()) -> list[str]:
    """pytest over some tests of the suite, `each` seconds for one at most; `launcher` runs `-m pytest`."""
    folder = suite()
    options = ["-p", "numba_suite", "-p", "no:cacheprovider", f"--rootdir={folder}"]
    options += ["-o", "addopts=", "-q", "--tb=short", "--continue-on-collection-errors"]
    options += [f"--ignore={folder / name}" for name in LEFT_OUT]
    if importlib.util.find_spec("pytest_timeout"):
        options += [f"--timeout={each}", "--timeout-method=thread"]
    if workers:
        options += ["-n", str(workers), "--dist=worksteal", "--max-worker-restart=1000"]
    return [sys.executable, *launcher, "-m", "pytest", *options, *(str(folder / test) for test in tests)]


def run(
    bindings: str,
    tests: Sequence[str],
    workers: int,
    limit: float,
    log: Path,
    launcher: Sequence[str] = (),
    each: float = 100,
) -> dict[str, Result]:
    """The results by name, as far as `limit` seconds go. `log` gets what is printed."""
    with tempfile.TemporaryDirectory() as folder:
        record = Path(folder, "record")
        record.touch()
        libraries = Path(folder, "lib")
        libraries.mkdir()
        variables = environment(bindings, libraries) | {"CLIENTS_RECORD": str(record)}
        with log.open("a") as output:
            process = subprocess.Popen(
                command(tests, workers, min(limit, each), launcher),
                cwd=folder,
                env=variables,
                stdout=output,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
                start_new_session=True,
            )
            try:
                process.wait(limit)
            except subprocess.TimeoutExpired:
                output.write(f"\nended after {limit:.0f} s\n")
            finally:
                _end(process)
        lines = [json.loads(line) for line in record.read_text().splitlines() if line.endswith("}")]
    return {line["name"]: Result(line["outcome"], line["why"], line["seconds"]) for line in lines}


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a process and all that it started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def difference(nvidia: Mapping[str, Result], cudapy: Mapping[str, Result]) -> list[str]:
    """The tests whose outcome is another over cudapy."""
    names = sorted({*nvidia, *cudapy})
    return [n for n in names if nvidia.get(n, MISSING).outcome != cudapy.get(n, MISSING).outcome]


def again(names: Sequence[str], at_once: int, limit: float, log: Path) -> dict[str, dict[str, Result]]:
    """Run tests again over both, each in a process of its own, as far as `limit` seconds go."""
    end = time.monotonic() + limit

    def one(job: tuple[str, str]) -> dict[str, Result]:
        bindings, name = job
        seconds = min(end - time.monotonic(), 100)
        return run(bindings, [name], 0, seconds, log) if seconds > 5 else {}

    results: dict[str, dict[str, Result]] = {bindings: {} for bindings in BINDINGS}
    jobs = [(bindings, name) for name in names for bindings in BINDINGS]
    with ThreadPoolExecutor(at_once) as pool:
        for (bindings, _), result in zip(jobs, pool.map(one, jobs), strict=True):
            results[bindings].update(result)
    return results


def _no_gpu() -> str:
    """Why there is no GPU; "" if there is one."""
    program = "from cudapy import driver; driver.checked.cuInit(0); assert driver.checked.cuDeviceGetCount()"
    command = [sys.executable, "-c", program]
    variables = {name: value for name, value in os.environ.items() if name != "CUDAPY_DRIVER"}
    done = subprocess.run(command, cwd=REPOSITORY, env=variables, capture_output=True, text=True, timeout=100)
    return done.stderr.strip().splitlines()[-1] if done.returncode else ""


def count(results: Mapping[str, Result]) -> str:
    """How many tests passed, failed and were skipped."""
    outcomes = [result.outcome for result in results.values()]
    return ", ".join(f"{outcomes.count(outcome)} {outcome}" for outcome in ("passed", "failed", "skipped"))


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.clients.compare", description=__doc__)
    parser.add_argument(
        "tests", nargs="*", default=["."], help="files of the suite, such as cudapy/test_sm.py; all"
    )
    parser.add_argument(
        "--workers", type=int, default=min(os.cpu_count() or 1, 8), help="processes for each run"
    )
    parser.add_argument("--seconds", type=float, default=240, help="how long each of the two runs may take")
    parser.add_argument(
        "--again", type=float, default=100, help="how long the tests that differ may run again"
    )
    parser.add_argument(
        "--one-by-one", action="store_true", help="the run over cudapy after the other, not beside it"
    )
    parser.add_argument("--logs", type=Path, help="a folder for what pytest says, and the results as JSON")
    asked = parser.parse_args(arguments)
    if missing := _no_gpu():
        print(f"no GPU: {missing}")
        return 77
    logs = asked.logs or Path(tempfile.mkdtemp(prefix="clients-"))
    logs.mkdir(parents=True, exist_ok=True)

    def whole(bindings: str) -> dict[str, Result]:
        start = time.monotonic()
        results = run(bindings, asked.tests, asked.workers, asked.seconds, logs / f"{bindings}.log")
        print(f"{bindings}: {count(results)}, in {time.monotonic() - start:.0f} s", flush=True)
        (logs / f"{bindings}.json").write_text(json.dumps(results, indent=0))
        return results

    with ThreadPoolExecutor(1 if asked.one_by_one else len(BINDINGS)) as pool:
        results = dict(zip(BINDINGS, pool.map(whole, BINDINGS), strict=True))
    names = difference(results["nvidia"], results["cudapy"])
    print(f"{len(names)} differ; again, one by one:", flush=True)
    second = again(names, 2 * asked.workers, asked.again, logs / "again.log")
    for bindings in BINDINGS:
        results[bindings] |= second[bindings]
    (logs / "both.json").write_text(json.dumps(results, indent=0))
    open_ = report(results["nvidia"], results["cudapy"])
    print(f"logs: {logs}")
    return 1 if open_ or not results["cudapy"] else 0


def report(nvidia: Mapping[str, Result], cudapy: Mapping[str, Result]) -> list[str]:
    """Print what fails over both, and what differs; returns what fails over cudapy alone and is not known."""
    failed = [name for name in sorted(nvidia) if nvidia[name].outcome == "failed"]
    both = [name for name in failed if cudapy.get(name, MISSING).outcome == "failed"]
    print(f"\n{len(both)} fail over both:", *both, sep="\n    ")
    names = difference(nvidia, cudapy)
    print(f"\n{len(names)} differ:")
    for name in names:
        ours, theirs = cudapy.get(name, MISSING), nvidia.get(name, MISSING)
        print(f"    {name}: {theirs.outcome} over NVIDIA's, {ours.outcome} over cudapy")
        reason = DIFFERENT.get(name) or (ours if ours.outcome == "failed" else theirs).why
        print("".join(f"        {line}\n" for line in reason.splitlines()[-12:]), end="")
    return [n for n in names if n not in DIFFERENT and cudapy.get(n, MISSING).outcome != "passed"]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
