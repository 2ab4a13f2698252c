"""compute-sanitizer over the scenarios: what kernels and calls do to memory, and what is left of it."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from ..gpu.core_kernels import ROOT
from .figures import Figure, judged, not_run
from .scale import Scale
from .scenarios import SCENARIOS

OPTIONS = [
    "--tool",
    "memcheck",
    "--leak-check",
    "full",
    "--report-api-errors",
    "no",
    "--show-backtrace",
    "no",
]
PLACES = ("/usr/local/cuda/bin", "/opt/cuda/bin")
WHEEL = "nvidia/cu13/bin"  # of nvidia-cuda-sanitizer-api


def compute_sanitizer() -> str | None:
    """Its path: from the PATH, the toolkit, or the wheel."""
    wheels = [str(Path(folder, WHEEL)) for folder in sys.path if folder]
    found = (shutil.which("compute-sanitizer", path=path) for path in (None, *PLACES, *wheels))
    return next(filter(None, found), None)


def no_errors(scale: Scale) -> Iterator[Figure]:
    """The scenarios, and the two summaries of the sanitizer."""
    program = [sys.executable, "-W", "ignore::DeprecationWarning", "-m", f"{__package__}.scenarios"]
    tool = None if scale.simulated else compute_sanitizer()
    done = subprocess.run(
        [*([tool, *OPTIONS] if tool else []), *program], cwd=ROOT, capture_output=True, text=True, timeout=140
    )
    said = done.stdout + done.stderr
    count = len(re.findall("^[a-z_]+ done$", done.stdout, re.MULTILINE))
    whole = f"{len(SCENARIOS)} of {len(SCENARIOS)}, exit 0"
    measured = f"{count}, exit {done.returncode}"
    yield judged("scenarios", whole, measured, count == len(SCENARIOS) and not done.returncode, said[-1500:])
    if tool is None:
        why = "the simulator runs no machine code" if scale.simulated else "there is no compute-sanitizer"
        yield not_run("memcheck", "0 errors", why)
        yield not_run("leak check", "0 bytes", why)
        return
    errors = re.search(r"ERROR SUMMARY: (\d+) error", said)
    leaks = re.search(r"LEAK SUMMARY: (\d+) bytes leaked in (\d+) allocation", said)
    reports = "\n".join(line for line in said.splitlines() if line.startswith("====="))[:3000]
    yield judged(
        "memcheck", "0 errors", errors[1] if errors else "none said", errors and errors[1] == "0", reports
    )
    left = f"{leaks[1]} bytes in {leaks[2]}" if leaks else "none said"
    yield judged("leak check", "0 bytes in 0 allocations", left, leaks and leaks[1] == "0", reports)
