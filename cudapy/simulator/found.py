"""What was found in the kernels of this process, as data."""

import math
import threading
from collections.abc import Hashable
from dataclasses import replace
from typing import Any

from .._ffi.mangled import readable, readable_in
from . import record
from .engine import CLASSES, AllocatedMemory, Finding, Place, Value
from .options import RAISE
from .stderr import say

MOST = 1000
"""Findings that are kept, each for one place."""


class _Found:
    """mode: see MODES. findings: by what tells them apart, in the order in which they were found.

    recent: those of the last launch that failed, by their reports.
    """

    def __init__(self) -> None:
        self.mode = RAISE
        self.findings: dict[Hashable, Finding] = {}
        self.recent: dict[str, Finding] = {}
        self.lock = threading.Lock()
        self.prints = True


_found = _Found()


def mode() -> str:
    """What becomes of findings: one of MODES."""
    return _found.mode


def set_mode(mode: str) -> None:
    """Set what becomes of findings."""
    _found.mode = mode


def prints() -> bool:
    """Whether findings are printed."""
    return _found.prints


def set_prints(prints: bool) -> None:
    """Whether findings are printed."""
    _found.prints = prints


def add(findings: tuple[Finding, ...]) -> list[Finding]:
    """Keep what was found in a launch. Returns what was not found before."""
    new = []
    with _found.lock:
        named = [_by_source_names(one) for one in findings]
        _found.recent = {report_of(one): known for one, known in zip(findings, named, strict=True)}
        for one in named:
            key = one.kind, one.what, one.place, one.other and one.other.place
            known = _found.findings.get(key)
            if known is not None:
                _found.findings[key] = replace(known, times=known.times + one.times)
            elif len(_found.findings) < MOST:
                _found.findings[key] = one
                new.append(one)
    return new


def _by_source_names(finding: Finding) -> Finding:
    """The finding with the names of its kernel and functions as in their source."""

    def named(place: Place) -> Place:
        return replace(place, kernel=readable(place.kernel), function=readable(place.function))

    other = finding.other and replace(finding.other, place=named(finding.other.place))
    return replace(finding, place=named(finding.place), other=other)


def all_of_them() -> list[Finding]:
    """What was found so far."""
    with _found.lock:
        return [*_found.findings.values()]


def forget() -> None:
    """Begin again, with nothing found."""
    with _found.lock:
        _found.findings.clear()


def _record(finding: Finding, **more: Any) -> None:
    """Record what was found in a kernel."""
    record.note(check_of(finding), report_of(finding), **as_json(finding), **more)


def note(report: str, status: str) -> None:
    """Record the report of a fault, with its data if it is one of an instruction."""
    finding = _found.recent.get(report)
    if finding is None:
        record.note(record.FAULT, report, status=status)
    else:
        _record(finding, status=status)


def keep_and_tell(findings: tuple[Finding, ...]) -> None:
    """Keep what was found in a launch that goes on; print and record what was not found before."""
    for one in add(findings):
        _record(one)
        if not _found.prints or say(report_of(one)):
            record.note_told(report_of(one))


def report_of(finding: Finding) -> str:
    """The report of a finding, in lines for people."""
    return readable_in(str(finding))


def as_json(finding: Finding) -> dict[str, object]:
    """A finding as `--json` has it."""
    place, other = finding.place, finding.other
    result: dict[str, object] = {
        "class": finding.kind,
        "kernel": place.kernel or None,
        "function": place.function,
        "line": place.shown_line,
        "inlined_from": place.inlined or None,
        "ptx_line": place.ptx_line or None,
        "instruction": place.instruction or None,
        "block": finding.block,
        "thread": finding.thread,
        "threads": finding.threads(),
        "count": finding.count,
        "times": finding.times,
    }
    if finding.address is not None:
        result |= {"address": finding.address, "size": finding.size}
    if finding.verb:
        result |= {"access": finding.verb, "value": _value(finding.value)}
    if finding.allocation is not None:
        result["allocation"] = _allocation(finding.allocation)
    if finding.note:
        result["note"] = finding.note
    if other is not None:
        result["other"] = {
            "access": other.verb,
            "function": other.place.function,
            "line": other.place.shown_line,
            "ptx_line": other.place.ptx_line or None,
            "block": other.block,
            "thread": other.thread,
            "value": _value(other.value),
        }
    return result


def _allocation(memory: AllocatedMemory) -> dict[str, object]:
    result: dict[str, object] = {"kind": memory.kind, "address": memory.address, "size": memory.size}
    if memory.place is not None:
        result |= {"function": memory.place.function, "line": memory.place.shown_line}
    return result | ({"fate": memory.fate} if memory.fate else {})


def _value(value: Value) -> object:
    """Numbers as JSON has them, which knows no NaN and no infinity."""
    if isinstance(value, tuple):
        return [_value(one) for one in value]
    return value if value is None or math.isfinite(value) else repr(value)


def check_of(finding: Finding) -> str:
    """What it is counted as: a race, a read of uninitialized memory, or a fault."""
    known = CLASSES.get(finding.kind)
    return "fault" if known is None else {"races": "race"}.get(known.check, known.check)
