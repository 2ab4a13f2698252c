"""How the scheduler puts groups of lanes together."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import numpy as np
import pytest

from cudapy.simulator.engine import settings
from cudapy.simulator.engine.run.groups import Groups, Key
from cudapy.simulator.engine.run.scheduler import Scheduler, _merged

from .machine import Machine

COUNT = 6400


def lanes(*parts: range) -> list[np.ndarray]:
    return [np.array(part, np.int64) for part in parts]


@pytest.mark.parametrize(
    "parts",
    [
        [range(3, 9)],
        [range(10, 20), range(5)],  # so few that they are sorted
        [range(1, COUNT, 2), range(0, 3000, 2)],
        [range(100), range(200, 300), range(100, 200)],
    ],
)
def test_lanes_of_several_groups_come_in_order(parts: list[range]) -> None:
    merged = _merged(lanes(*parts), COUNT)
    assert merged.tolist() == sorted(lane for part in parts for lane in part)
    assert merged.dtype == np.int64


@pytest.mark.parametrize("parts", [[range(COUNT)], [range(COUNT // 2, COUNT), range(COUNT // 2)]])
def test_all_lanes_of_a_batch_are_none(parts: list[range]) -> None:
    assert _merged(lanes(*parts), COUNT) is None
    assert _merged([None], COUNT) is None


PARTED = """
extern "C" __global__ void parted(unsigned *x, int steps)
{
    unsigned value = x[threadIdx.x];
    if (threadIdx.x & 1)
#pragma unroll 1
        for (int i = 0; i < steps; ++i) value = value * 3 + 1;
    else
#pragma unroll 1
        for (int i = 0; i < steps; ++i) value = value * 5 + 2;
    x[threadIdx.x] = value;
}
"""


def run_parted(steps: int) -> None:
    machine = Machine()
    x = machine.array(np.arange(64, dtype=np.uint32))
    machine.run(machine.load(PARTED), "parted", 1, 64, x, np.int32(steps))
    odd, even = np.arange(1, 64, 2, dtype=np.uint32), np.arange(0, 64, 2, dtype=np.uint32)
    for _ in range(steps):
        odd, even = odd * 3 + 1, even * 5 + 2
    np.testing.assert_array_equal(x.get()[1::2], odd)
    np.testing.assert_array_equal(x.get()[::2], even)


def test_a_group_goes_on_while_it_is_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings.current, "machine_code", "never")
    chosen = []
    choose = Scheduler._choose

    def counted(self: Scheduler) -> Key:
        chosen.append(choose(self))
        return chosen[-1]

    monkeypatch.setattr(Scheduler, "_choose", counted)
    run_parted(100)
    assert len(chosen) < 10
    chosen.clear()
    run_parted(1000)
    assert len({key.block for key in chosen}) > 1, "others have their turn now and then"


def test_what_threads_had_goes_when_they_have_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not only when the garbage collector comes."""
    alive = []
    make = Groups.__init__

    def noted(self: Groups, *arguments: Any) -> None:
        make(self, *arguments)
        alive.append(weakref.ref(self))

    monkeypatch.setattr(Groups, "__init__", noted)
    gc.collect()
    gc.disable()
    try:
        run_parted(3)
        assert len(alive) == 1
        assert alive[0]() is None
    finally:
        gc.enable()
