"""Undefined bytes travel, and are reported where they matter: pairs of kernels, one right and one wrong."""

from __future__ import annotations

import re
from collections.abc import Iterator
from types import ModuleType

import numpy as np
import pytest

from cudapy.simulator.engine import settings
from cudapy.simulator.engine.fault import Fault, Finding
from cudapy.simulator.engine.module import Module

from .checked.undefined import NAMES, SOURCE
from .machine import Machine


@pytest.fixture(scope="module")
def machine() -> Machine:
    return Machine()


@pytest.fixture(scope="module", autouse=True)
def check() -> Iterator[None]:
    before = settings.current
    settings.current = settings.Settings(check_uninitialized=True)
    yield
    settings.current = before


@pytest.fixture(scope="module")
def module(nvrtc: ModuleType, machine: Machine, check: None) -> Module:
    return machine.load(SOURCE)


def reports(machine: Machine, module: Module, name: str) -> tuple[Finding, ...]:
    """What is found in a kernel of 32 threads: 32 bytes with ones, memory that nobody wrote, and a result."""
    given = machine.array(np.ones(32, np.uint8)), np.uint64(machine.memory.allocate(512))
    try:
        machine.run(module, name, 1, 32, *given, machine.zeros(32, np.int32))
    except Fault as error:
        return error.findings
    return ()


@pytest.mark.parametrize("machine_code", ["never", "always"])
@pytest.mark.parametrize("name", NAMES)
def test_pairs(
    machine: Machine, module: Module, name: str, machine_code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings.current, "machine_code", machine_code)
    found = reports(machine, module, name)
    if name.startswith("ok_"):
        assert not found, "\n".join(map(str, found))
        return
    (report,) = found
    assert report.what.startswith("Read of __") and report.what.endswith("memory that nobody wrote")
    assert report.place.kernel == name
    lines = SOURCE.splitlines()
    start = next(number for number, line in enumerate(lines, 1) if f"{name}(" in line)
    used = next(number for number, line in enumerate(lines, 1) if number > start and "// used" in line)
    assert used in [int(line) for line in re.findall(r"program.cu:(\d+)", str(report))], str(report)
