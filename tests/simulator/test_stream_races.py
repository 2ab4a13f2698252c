"""Programs with streams, graphs and arrays: each mistake beside its correct twin."""

from __future__ import annotations

import pytest

from .checked.streams import PROGRAMS, all_reports
from .test_device import output


@pytest.fixture(scope="module")
def reports(nvrtc: object) -> dict[str, tuple[list[str], list[str]]]:
    """What is found in each program, and in its twin."""
    return all_reports()


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_mistake(reports: dict[str, tuple[list[str], list[str]]], name: str) -> None:
    _, what, other = PROGRAMS[name]
    first, *_ = reports[name][0]
    assert first.startswith(("Race ", "Free of ", "Use of ", "Read of "))
    assert what in first.partition("\n")[0]
    assert other in first
    if "between" in first.partition("\n")[0]:
        assert "orders the two" in first or "order the two nodes" in first


@pytest.mark.parametrize("name", PROGRAMS)
def test_its_correct_twin(reports: dict[str, tuple[list[str], list[str]]], name: str) -> None:
    assert reports[name][1] == []


def test_a_report_names_both_operations(reports: dict[str, tuple[list[str], list[str]]]) -> None:
    """The instruction of the kernel, the call of the copy, and the lines of the program that made them."""
    (report,) = reports["upload"][0]
    assert "in move, program.cu:6, PTX line" in report
    assert "the other is a write in cuMemcpyHtoDAsync, " in report
    assert report.count("checked/streams.py:") == 4
    assert "bytes 0 to 255 of device memory of 256 bytes" in report
    assert "allocated in cuMemAlloc, " in report


SHARED = """
import numpy as np
from cudapy import driver, simulator
simulator.enable(check_races=True, findings="record", reports=False)
from cudapy.core import Device
device = Device(0)
device.set_current()
one, other = device.create_stream(), device.create_stream()
memory = driver.checked.cuMemAlloc(64)
if SHARES:
    driver.checked.cuIpcGetMemHandle(memory)
for stream in one, other:
    driver.checked.cuMemsetD8Async(memory, 1, 64, stream.handle)
device.sync()
print(len(simulator.findings()))
"""


def test_other_processes_may_give_an_order() -> None:
    """So nothing is reported once memory is shared with them."""
    assert output(f"SHARES = False\n{SHARED}") == "1\n"
    assert output(f"SHARES = True\n{SHARED}") == "0\n"


MANY = """
from cudapy import driver, simulator
simulator.enable(check_races=True, findings="record", reports=False)
from cudapy.core import Device
device = Device(0)
device.set_current()
c, part, parts = driver.checked, 64, 16
found = []
for waits_for in range(parts):
    one, other = device.create_stream(), device.create_stream()
    memory, target = c.cuMemAlloc(part * parts), c.cuMemAlloc(part)
    event = c.cuEventCreate(0)
    for number in range(parts):
        c.cuMemsetD8Async(int(memory) + number * part, 1, part, one.handle)
        if number == waits_for:
            c.cuEventRecord(event, one.handle)
            c.cuStreamWaitEvent(other.handle, event, 0)
    for number in range(parts):
        if number in (waits_for, waits_for + 1):
            c.cuMemcpyDtoDAsync(target, int(memory) + number * part, part, other.handle)
    device.sync()
    found += [one.note.splitlines()[0] for one in simulator.findings(forget=True)]
print(*found, sep="\\n")
"""


def test_a_stream_is_known_up_to_an_event() -> None:
    """What it did behind the event races, however much was before."""
    first = [line.split()[1] for line in output(MANY).splitlines()]
    assert first == [str(64 * number) for number in range(1, 16)]
