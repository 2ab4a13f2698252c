"""Compare cudapy with the installed `cuda.bindings`, call by call, on a stub of libcuda:

    pip install cuda-bindings==13.3.1 numpy && python -m tests.peers.compare [RECORD]

prints what a program would notice, and writes what the peer does to the file RECORD, for `test_peers.py`.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from tests.stub import REPOSITORY, source
from tests.stub.build import build, declared

from .calls import Facts, on_purpose

RESOLVER = """
static struct { const char *name; int since; void *function; } stub_entries[] = { %s };
int cuGetProcAddress_v2(const char *symbol, void **pfn, int version, unsigned long long flags, int *status)
{
    *pfn = 0;
    for (unsigned i = 0; i < sizeof stub_entries / sizeof *stub_entries; i++)
        if (!strcmp(stub_entries[i].name, symbol) && (!*pfn || stub_entries[i].since <= version))
            *pfn = stub_entries[i].function;
    if (status)
        *status = !*pfn;
    return 0;
}
"""
"""How `cuda.bindings` finds the functions: the newest one that there was in a version."""


def stub(folder: Path) -> dict[str, Path]:
    """A stub libcuda that answers cuGetProcAddress with its own functions, and one of libcudart, for us."""
    rows = []
    for symbol, function in declared(source("driver")).items():
        base, _, version = re.fullmatch(r"(\w+?)(_v(\d+))?", symbol).groups()
        major, minor = (function.__declaration__.since or "0.0").split(".")
        rows.append((base, int(major) * 1000 + int(minor) * 10, int(version or 1), symbol))
    recorded = {"cuGetProcAddress_v2": "cuGetProcAddress_v2_recorded"}
    table = ", ".join(f'{{"{b}", {v}, {recorded.get(s, s)}}}' for b, v, _, s in sorted(rows))
    driver = folder / "driver" / "libcuda.so.1"
    driver.parent.mkdir()
    runtime = build(source("runtime-13"), folder / "libcudart_stub.so")
    build(source("driver"), driver, without=recorded, names=recorded, extra=RESOLVER % table)
    return {"driver": driver, "runtime-13": runtime}


def run(package: str, api: str, path: Path) -> dict[tuple[str, str], Any]:
    """Everything that one package does, by (function, what is special about the call)."""
    found: dict[tuple[str, str], Any] = {}
    first, environ = 0, {**os.environ, "LD_LIBRARY_PATH": str(path.parent), "PYTHONPATH": str(REPOSITORY)}
    while True:
        worker = [sys.executable, "-X", "faulthandler", "-m", "tests.peers.worker"]
        command = [*worker, package, api, str(path), str(first)]
        done = subprocess.run(command, cwd=REPOSITORY, env=environ, capture_output=True, text=True)
        last = ""
        for line in done.stdout.split("\n"):
            number, _, text = line.partition(" ")
            if not number.isdigit():
                continue
            last = number
            if text:
                name, label, *rest = json.loads(text)
                found[name, label] = rest
        if not done.returncode:
            return found
        if not last:
            raise SystemExit(done.stderr)
        print(f"{package}: call {last} ended with {done.returncode}: {done.stderr.splitlines()[-1:]}")
        first = int(last) + 1


def differences(ours: Any, theirs: Any) -> str:
    """What a program would notice, "" for nothing: where the peer raises, we may do as we like."""
    (outcome, calls), (wanted, wanted_calls) = ours, theirs
    if wanted[0] != "returned":
        return ""
    if outcome[0] != "returned":
        return f"refused: {outcome[1:]}"
    if not wanted_calls and not calls:  # there is no driver
        return "" if len(outcome[1][1]) == len(wanted[1][1]) else f"{outcome[1]}, not {wanted[1]}"
    if calls != wanted_calls:
        return f"C got {calls}, not {wanted_calls}"
    return "" if outcome == wanted else f"returned {outcome[1]}, not {wanted[1]}"


def record(theirs: dict[tuple[str, str], Any], path: str) -> None:
    """Write down what the peer takes and does, less the calls in which we differ on purpose."""
    facts = Facts()
    for (name, label), (outcome, calls) in theirs.items():
        if outcome[0] == "returned" and not on_purpose(name, label):
            facts.add(name, label, outcome, calls)
    facts.write(path)


def main(path_of_record: str = "") -> None:
    with tempfile.TemporaryDirectory() as folder:
        for api, path in stub(Path(folder)).items():
            theirs, ours = run("bindings", api, path), run("cudapy", api, path)
            if path_of_record and api == "driver":
                record(theirs, path_of_record)
            outcomes = Counter(wanted[0][0] for wanted in theirs.values())
            print(f"{api}: {len(theirs)} calls of cuda.bindings: {dict(outcomes)}")
            for key, wanted in theirs.items():
                found = differences(ours[key], wanted) if key in ours else "is missing"
                if found and not on_purpose(*key):
                    print(f"{key[0]}({key[1]}): {found}"[:600])


if __name__ == "__main__":
    main(*sys.argv[1:])
