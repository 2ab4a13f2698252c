"""What was found wrong with a program's kernels and memory, by this process and those that it started.

Each finding is a line of JSON, added to the file that CUDAPY_SIMULATOR_RECORD names as soon as it is found:
what a child found before it was killed is there, too.
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from typing import Any

VARIABLE, LEAKS_VARIABLE = "CUDAPY_SIMULATOR_RECORD", "CUDAPY_SIMULATOR_RECORD_LEAKS"
CHECKS = ("races", "uninitialized", "leaks")
"""What can be looked for beside faults."""
FAULT, RACE, UNINITIALIZED, LEAK = "fault", "race", "uninitialized", "leak"
_NAMES = {
    FAULT: ("fault", "faults"),
    RACE: ("race", "races"),
    UNINITIALIZED: ("read of uninitialized memory", "reads of uninitialized memory"),
    LEAK: ("leak", "leaks"),
}
_PLACE = re.compile(r"^ +in (?P<kernel>[^,]+)(?:, (?P<line>[^,]+:\d+))?, PTX line (?P<ptx>\d+)", re.M)
_BY = re.compile(r"^ +by (?P<threads>.*)$", re.M)


def kind_of(report: str) -> str:
    """What the report of a fault is about."""
    first = report.partition("\n")[0].lower()
    return RACE if first.startswith("race") else UNINITIALIZED if "nobody wrote" in first else FAULT


def reference(report: str) -> str:
    """One line for a report that the program has had already."""
    place = _PLACE.search(report)
    if place is None:
        where = f"that was reported before: {report.partition(chr(10))[0]}"
    else:
        where = f"in {place['kernel']} at {place['line'] or 'PTX line ' + place['ptx']}, reported before"
    return f"the context is lost since the fault {where}"


def note(kind: str, report: str, **more: Any) -> None:
    """Record a finding, if this process or one that started it records them."""
    path = os.environ.get(VARIABLE)
    if not path:
        return
    place, by = _PLACE.search(report), _BY.search(report)
    finding = {"kind": kind, "message": report.partition("\n")[0], **more}
    if place:
        finding |= {"kernel": place["kernel"], "line": place["line"], "ptx_line": int(place["ptx"])}
    if by:
        finding["threads"] = by["threads"]
    line = json.dumps({**finding, "report": report, "process": os.getpid()}) + "\n"
    with open(path, "a") as file:
        file.write(line)  # in one piece, whatever other processes do


def note_leaks() -> None:
    """Record the memory that the program has allocated and not freed."""
    from .memory.allocations import blocks
    from .memory.pool_memory import graph_memory

    for block in blocks.all():
        is_lost = block.context.is_lost  # with its context, in which nothing can be freed
        if block.address not in graph_memory and not is_lost:  # a graph has its memory for good
            text = f"{block.size} bytes of {block.kind} memory at {block.address:#x} were not freed"
            note(LEAK, text, bytes=block.size, device=block.device.ordinal)


def note_leaks_if_asked() -> None:
    """`note_leaks` in a program that is not Python's, at its end."""
    if os.environ.get(LEAKS_VARIABLE):
        note_leaks()


def recorded(path: str) -> list[dict[str, Any]]:
    """All findings in a file."""
    with open(path) as file:
        return [json.loads(line) for line in file]


def summary(findings: list[dict[str, Any]], checks: tuple[str, ...]) -> str:
    """One line for people."""
    looked = ", ".join(("faults", *checks))
    if not findings:
        return f"no errors (checked: {looked})"
    counts = Counter(finding["kind"] for finding in findings)
    leaked = sum(finding["bytes"] for finding in findings if finding["kind"] == LEAK)
    parts = [
        f"{count} {_NAMES[kind][count > 1]}{f' of {leaked} bytes' if kind == LEAK else ''}"
        for kind, count in counts.items()
    ]
    return f"{', '.join(parts)} (checked: {looked})"
