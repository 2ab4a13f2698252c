"""Kernels that look for ever at memory, and those that take too long."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from cudapy.simulator.code.engine_devices import engine_device
from cudapy.simulator.devices.device import existing
from cudapy.simulator.engine import fault, settings
from cudapy.simulator.engine.fault import Fault
from cudapy.simulator.engine.run import watchdog
from cudapy.simulator.options import Options

from .machine import Machine

i32 = np.int32
SOURCE = r"""
extern "C" __global__ void never(volatile int *flag, int *out)
{
    if (threadIdx.x < 40) while (*flag == 0);
    __syncthreads();
    out[threadIdx.x] = 1;
}
extern "C" __global__ void locked(int *lock, int *out)
{
    while (atomicCAS(lock, 0, 1) != 0) __nanosleep(100);
    *out += 1;
}
extern "C" __global__ void queue(int *lock, volatile int *out)
{
    for (int done = 0; !done;) {
        if (atomicCAS(lock, 0, 1)) continue;
        for (int i = 0; i < 8; ++i) *out += 1;
        __threadfence();
        atomicExch(lock, 0);
        done = 1;
    }
    __syncthreads();
}
extern "C" __global__ void busy(int *out, int n) { while (n) out[threadIdx.x] += n; }
extern "C" __global__ void mixed(volatile int *flag, int *out, int n)
{
    if (threadIdx.x) { while (*flag == 0); return; }
    for (int i = 0; i != n; ++i) out[i & 7] += i;
    *flag = 1;
}
"""


@pytest.fixture
def limited() -> Iterator[Any]:
    before = settings.current
    settings.current = settings.Settings()
    yield settings.current
    settings.current = before


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """It says at once what it would say after seconds, on a clock that goes on whenever somebody looks at it:
    how much a kernel runs until then does not depend on the machine.
    """
    ticks = itertools.count()
    clock = SimpleNamespace(monotonic=lambda: next(ticks) * 0.01)
    monkeypatch.setattr(watchdog, "time", clock)
    monkeypatch.setattr(watchdog, "PATIENCE", -1.0)
    monkeypatch.setattr(watchdog, "_BETWEEN", 0.0)


def test_a_flag_that_nobody_sets(machine: Machine, limited: Any, impatient: None) -> None:
    limited.timeout = 0.3
    told: list[str] = []
    machine.device.notify = told.append
    flag, out = machine.zeros(1, i32), machine.zeros(64, i32)
    with pytest.raises(Fault) as caught:
        machine.run(machine.load(SOURCE, 80), "never", 1, 64, flag, out)
    assert caught.value.status == fault.LAUNCH_TIMEOUT
    limit, *places = caught.value.report.split("\n")
    assert limit == "never has run for 0 s, longer than the limit of 0.3 s"
    assert len(told) == 1, "it is said once"
    said = told[0].split("\n")
    assert said[0] == "never has run for 0 s, and its threads only look at memory that none of them changes"
    for lines in (places, said[1:]):
        assert lines[0] == "    40 threads are at, the first is block (0,0,0) thread (0,0,0)"
        assert "program.cu:4, PTX line " in lines[1] and "ld.volatile" in lines[1]
        assert lines[2] == "    24 threads wait for barrier 0, the first is block (0,0,0) thread (40,0,0)"
        assert "program.cu:5" in lines[3] and "bar.sync" in lines[3]
    assert said[5] == "    CUDAPY_SIMULATOR_TIMEOUT=seconds or Ctrl-C in a wait ends such kernels"
    assert len(said) == 6


def test_a_lock_that_nobody_gives_back(machine: Machine, limited: Any, impatient: None, capfd: Any) -> None:
    limited.timeout = 0.2
    with pytest.raises(Fault, match="longer than the limit"):
        machine.run(
            machine.load(SOURCE, 80), "locked", 1, 1, machine.array(np.ones(1, i32)), machine.zeros(1, i32)
        )
    assert "atom" in capfd.readouterr().err


def test_a_lock_that_goes_from_hand_to_hand(
    machine: Machine, limited: Any, impatient: None, capfd: Any
) -> None:
    limited.machine_code = "never"
    out = machine.zeros(1, i32)
    machine.run(machine.load(SOURCE, 80), "queue", 1, 256, machine.zeros(1, i32), out)
    assert out.get().tolist() == [8 * 256]
    assert capfd.readouterr().err == ""


def test_an_endless_loop_ends_and_is_no_wait(
    machine: Machine, limited: Any, impatient: None, capfd: Any
) -> None:
    limited.timeout = 0.2
    with pytest.raises(Fault, match=r"32 threads are at, the first is block \(0,0,0\)"):
        machine.run(machine.load(SOURCE, 80), "busy", 1, 32, machine.zeros(32, i32), i32(7))
    assert capfd.readouterr().err == ""


def test_who_works_is_waited_for(machine: Machine, limited: Any, impatient: None, capfd: Any) -> None:
    flag, out = machine.zeros(1, i32), machine.zeros(8, i32)
    machine.run(machine.load(SOURCE, 80), "mixed", 1, 32, flag, out, i32(3000))
    assert out.get().tolist() == [sum(range(place, 3000, 8)) for place in range(8)]
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("text", ["soon", "-1", "nan", "inf"])
def test_what_is_no_timeout(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("CUDAPY_SIMULATOR_TIMEOUT", text)
    with pytest.raises(ValueError, match=f"a timeout is a number of seconds, or 0 for none, not {text}"):
        Options.from_environment(Options()).validate()


def test_the_argument_goes_before_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDAPY_SIMULATOR_TIMEOUT", "2.5")
    assert Options.from_environment(Options()).timeout == 2.5
    assert Options.from_environment(Options(timeout=3)).timeout == 3
    monkeypatch.delenv("CUDAPY_SIMULATOR_TIMEOUT")
    assert Options.from_environment(Options()).timeout is None


def test_the_driver_prints_what_it_is_told(capfd: pytest.CaptureFixture[str]) -> None:
    engine_device(existing()[0]).notify("that all threads wait")
    assert capfd.readouterr().err == "cudapy simulator: that all threads wait\n"
