"""The programs of compute capability 9.0 through the driver; one that fails says nothing about the others."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from . import hopper

REPOSITORY = Path(__file__).parents[2]
ENDINGS = """
import os, sys, time
for number in range(int(sys.argv[1]), 8):
    if number == 4:
        os._exit(3)
    if number == 5:
        time.sleep(600)
    if number == 2:
        print("what a kernel prints")
    print("result:", "wrong" if number in (1, 6) else "", flush=True)
    if number in (1, 6):
        sys.exit()
sys.exit(7)
"""


@pytest.mark.thorough
@pytest.mark.usefixtures("nvrtc")
def test_on_the_simulator() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.simulator.hopper"],
        cwd=REPOSITORY,
        env={**os.environ, "CUDAPY_DRIVER": "simulator"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    count = len(hopper.calls())
    assert count > 60
    assert done.stdout == f"cudapy simulator: {count} programs, 0 not as on the simulator\n"
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.thorough  # one of them is waited for in vain
def test_every_ending_is_of_one_program() -> None:
    found = dict(hopper.results([sys.executable, "-c", ENDINGS], 8, 10))
    assert found == {
        1: "wrong",
        4: "the process ended with 3",
        5: "nothing for 10 seconds",
        6: "wrong",
        7: "all as it should be, and then the process ended with 7",
    }


def test_an_exit_code_says_that_there_is_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Named:
        name = "a device"

    monkeypatch.setattr(hopper, "Device", Named)
    monkeypatch.setattr(sys, "argv", ["hopper"])
    monkeypatch.setattr(hopper, "results", lambda *_: iter([(2, "why"), (3, "why not")]))
    assert hopper.main() == 1
    first, second, last = capsys.readouterr().out.splitlines()
    assert first.endswith("test_clusters.test_the_shared_memory_of_the_next_block {}: why")
    assert second.endswith(": why not")
    assert last == f"a device: {len(hopper.calls())} programs, 2 not as on the simulator"


def test_what_a_failed_assertion_says() -> None:
    def computes(read: Any) -> None:
        expected = np.arange(6, dtype=np.float32).reshape(2, 3)
        assert np.array_equal(read, expected)

    machine = hopper.Hardware()
    machine.read = np.array([0, 1, 2, 3, 9, 8], np.float32)
    with pytest.raises(AssertionError) as caught:
        computes(machine.read)
    said = hopper.reason(caught.value, machine)
    assert said.startswith("AssertionError: test_hopper.py, line ")
    assert said.endswith("assert np.array_equal(read, expected): 2 of 6 differ, at (1, 1) 9.0 for 4.0")
    assert hopper.reason(ValueError("one\ntwo"), machine) == "ValueError: one"
