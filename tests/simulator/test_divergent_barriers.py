"""__syncthreads() in divergent code, with the check of races on."""

from __future__ import annotations

import numpy as np
import pytest

from cudapy.simulator.engine import settings
from cudapy.simulator.engine.fault import Fault

from .machine import Machine

i32 = np.int32
SOURCE = r"""
#define WAIT(how) asm volatile(how " 0;" ::: "memory")
extern "C" __global__ void divided(int *out, int from, int aligned)
{
    int t = threadIdx.x;
    if (t < from) {
        out[t] = 1;
        if (aligned) WAIT("bar.sync"); else WAIT("barrier.sync");
    } else {
        out[t] = 2;
        if (aligned) WAIT("bar.sync"); else WAIT("barrier.sync");
    }
    out[t] += 10;
}
extern "C" __global__ void joined(int *out, int from)
{
    int t = threadIdx.x, sum = 0;
    if (t < from) for (int i = 0; i < t; ++i) sum += out[i % 64];
    asm volatile("bar.sync 0;" ::: "memory");
    out[t] = sum;
}
"""


def run(machine: Machine, first: int, aligned: int) -> None:
    out = machine.zeros(64, i32)
    machine.run(machine.load(SOURCE, 80), "divided", 1, 64, out, i32(first), i32(aligned))
    assert np.array_equal(out.get(), np.where(np.arange(64) < first, 11, 12))


def test_within_a_warp(machine: Machine) -> None:
    with pytest.raises(Fault, match=r"A barrier \(0\) in divergent code") as caught:
        run(machine, 40, 1)
    assert "others of the warp wait in divided, " in caught.value.report
    assert "all of a warp come to the same bar.sync" in caught.value.report


def test_between_warps(machine: Machine) -> None:
    run(machine, 32, 1)


@pytest.mark.parametrize("seed", range(6))
def test_ways_that_have_joined(machine: Machine, seed: int) -> None:
    """Threads of a warp come to one barrier one after the other."""
    settings.current.seed = seed
    out = machine.array(np.ones(64, i32))
    machine.run(machine.load(SOURCE, 80), "joined", 1, 64, out, i32(40))
    assert np.array_equal(out.get(), np.where(np.arange(64) < 40, np.arange(64), 0))


def test_barriers_that_may_diverge(machine: Machine) -> None:
    run(machine, 40, 0)


def test_without_the_check(machine: Machine) -> None:
    settings.current.check_races = False
    run(machine, 40, 1)
