"""What was found wrong with a program's kernels and memory, by this process and those that it started.

Each finding is a line of JSON, added as soon as it is found to the record that CUDAPY_SIMULATOR_RECORD names:
what a process found before it was killed is there, too. The record is a file without a name, of the process
that tells the findings at the end, so neither a full disk nor a program that tidies up loses it.
"""

import ctypes
import errno
import json
import os
import re
from collections import Counter
from typing import Any, NamedTuple

from .engine import classes
from .stderr import say

_NAME = "cudapy-findings"
VARIABLE, LEAKS_VARIABLE = "CUDAPY_SIMULATOR_RECORD", "CUDAPY_SIMULATOR_RECORD_LEAKS"
CHECKS = ("races", "uninitialized", "leaks")
"""What can be looked for beside faults."""
FAULT, LEAK, REFUSAL = "fault", "leak", "refusal"
_NAMES = {name: (one.one, one.several) for name, one in classes.CLASSES.items()} | {
    FAULT: ("fault", "faults"),
    LEAK: ("leak", "leaks"),
    REFUSAL: ("library that does not run on the simulator", "libraries that do not run on the simulator"),
}
refusals: list[str] = []
"""Why libraries in this process do not run on the simulator: they may have gone on without a device."""
STEPS = STARTED, LOOKED_FOR_LEAKS = "started", "looked for leaks"
"""How far a process came."""
INCOMPLETE = 3
"""The exit code where a check could not be done, or what it found cannot be told."""
_PLACE = re.compile(r"^ +in (?P<kernel>.+?)(?:, (?P<line>[^,]+:\d+))?, PTX line (?P<ptx>\d+)", re.M)


def reference(report: str) -> str:
    """One line for a report that the program has had already."""
    place = _PLACE.search(report)
    if place is None:
        where = f"that was reported before: {report.partition(chr(10))[0]}"
    else:
        where = f"in {place['kernel']} at {place['line'] or 'PTX line ' + place['ptx']}, reported before"
    return f"the context is lost since the fault {where}"


class _Record:
    """The record that this process adds to, whatever becomes of its environment, or its descriptors.

    path: its name, under which other processes open it; "" where there is none.
    descriptor: of the process that made it.
    lost: the first byte of the file, which is not 0 if something was found but not recorded.
    looks_for_leaks: whether a program that is not Python's is to look for leaks at its end.
    """

    path = ""
    descriptor = -1
    lost: ctypes.c_uint8 | None = None
    looks_for_leaks = False


def _initial(variable: str) -> str:
    """What an environment variable is, or was when this process began."""
    if variable not in os.environ and os.path.exists("/proc/self/environ"):
        with open("/proc/self/environ", "rb") as file:
            for item in file.read().split(b"\0"):
                name, _, value = item.partition(b"=")
                if name == variable.encode():
                    return os.fsdecode(value)
    return os.environ.get(variable, "")


def _open() -> None:
    """Add to the record of the process that has started this one, if it is there yet."""
    path = _initial(VARIABLE)
    if not path or (os.path.exists("/proc/self") and not _is_record(path)):
        return
    _Record.path, _Record.looks_for_leaks = path, bool(_initial(LEAKS_VARIABLE))
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return  # note() ends this process
    _map(descriptor)
    os.close(descriptor)


def _is_record(path: str) -> bool:
    """Whether it is the name of a record, and not what another process has there now."""
    try:
        return _NAME in os.readlink(path)
    except OSError as error:
        return error.errno in (errno.EACCES, errno.EPERM)


def _map(descriptor: int) -> None:
    """Get ready to say that something was lost, which has to work when nothing can be opened."""
    from .memory.pages import map_file

    _Record.lost = ctypes.c_uint8.from_address(map_file(descriptor, 1))


def begin(leaks: bool) -> None:
    """Make a record for processes that this one starts. Raises OSError.

    leaks: have programs that are not Python's look for leaks at their end.
    """
    if not hasattr(os, "memfd_create"):
        raise OSError("only Linux has files without a name")
    from .memory.pages import unnamed_file

    descriptor = unnamed_file(_NAME)
    os.write(descriptor, b"\0")
    _map(descriptor)
    _Record.path = f"/proc/{os.getpid()}/fd/{descriptor}"
    _Record.descriptor, _Record.looks_for_leaks = descriptor, leaks


def join() -> None:
    """In a process forked from the one that made the record: add to it, and have others do so."""
    os.close(_Record.descriptor)
    os.environ[VARIABLE] = _Record.path
    if _Record.looks_for_leaks:
        os.environ[LEAKS_VARIABLE] = "1"


def _add(line: dict[str, Any]) -> None:
    """Add a line to the record."""
    data = json.dumps({**line, "process": os.getpid()}).encode() + b"\n"
    try:
        if not _is_record(_Record.path):
            raise OSError
        descriptor = os.open(_Record.path, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)
        try:
            is_there = os.write(descriptor, data) == len(data)  # in one piece, whatever other processes do
        finally:
            os.close(descriptor)
    except OSError:
        is_there = False
    if is_there:
        return
    if _Record.lost is not None:
        _Record.lost.value = 1
        return
    say("this process cannot record what was found, and ends")
    os._exit(INCOMPLETE)


def note(kind: str, report: str, **more: Any) -> None:
    """Record a finding, if this process or one that started it records them."""
    if not _Record.path:
        return
    _add({"kind": kind, "message": report.partition("\n")[0], **more, "report": report})


def note_refusal(library: str, reason: str) -> None:
    """Tell, and record, that a library, or the program itself, does not run on the simulator."""
    refusals.append(reason)
    note(REFUSAL, reason, library=library)
    if say(f"{reason}."):
        note_told(reason)


def note_step(step: str) -> None:
    """Record how far this process came, one of STEPS."""
    if _Record.path:
        _add({"step": step})


def note_told(report: str) -> None:
    """Record that people have a report from this process, or want none."""
    if _Record.path:
        _add({"told": report})


def is_recorded() -> bool:
    """Whether findings of this process are recorded."""
    return bool(_Record.path)


def looks_for_leaks() -> bool:
    """Whether a program that is not Python's is to look for leaks at its end."""
    return _Record.looks_for_leaks


class Recorded(NamedTuple):
    """What is in a record.

    steps: how far which process came.
    told: reports, and the process that has printed it.
    is_incomplete: whether something was found that is not here.
    """

    findings: list[dict[str, Any]]
    steps: set[tuple[str, int]]
    told: set[tuple[str, int]]
    is_incomplete: bool

    def untold(self) -> list[str]:
        """The reports of faults that their processes had no time to print."""
        reports = (
            (finding["report"], finding["process"]) for finding in self.findings if finding["kind"] != LEAK
        )
        return [report for report, process in dict.fromkeys(reports) if (report, process) not in self.told]


def recorded() -> Recorded:
    """All that there is in the record that this process has made."""
    with open(_Record.descriptor, "rb", closefd=False) as file:
        file.seek(0)
        lost, lines = file.read(1), [json.loads(line) for line in file]
    found = [line for line in lines if "kind" in line]
    steps, told = (
        {(line[key], line["process"]) for line in lines if key in line} for key in ("step", "told")
    )
    return Recorded(found, steps, told, lost != b"\0")


def summary(findings: list[dict[str, Any]], checks: tuple[str, ...], is_incomplete: bool = False) -> str:
    """One line for people: how many there are of each class, and of what has none."""
    looked = ", ".join(("faults", *checks))
    if not findings:
        return f"no errors{' seen' if is_incomplete else ''} (checked: {looked})"
    counts = Counter(finding.get("class", finding["kind"]) for finding in findings)
    leaked = sum(finding["bytes"] for finding in findings if finding["kind"] == LEAK)
    parts = [
        f"{count} {_NAMES[kind][count > 1]}{f' of {leaked} bytes' if kind == LEAK else ''}"
        for kind, count in counts.items()
    ]
    return f"{', '.join(parts)} (checked: {looked})"


_open()
