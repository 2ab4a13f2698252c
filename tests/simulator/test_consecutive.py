"""Lanes that take what lies beside each other, which loads and stores move in one piece, and near misses."""

from __future__ import annotations

import numpy as np
import pytest

from cudapy.simulator.engine.fault import Fault

from .machine import Machine

COPY = """
extern "C" __global__ void copy(const int *x, const int *from, const int *to, int *out)
{
    int i = threadIdx.x;
    out[to[i]] = x[from[i]] + 1;
}
"""
FILL = 'extern "C" __global__ void fill(int *out) { out[threadIdx.x] = 7; }'


@pytest.mark.parametrize("swapped", [None, (3, 4), (126, 64)])
@pytest.mark.parametrize("count", [128, 65])
def test_places_between_the_first_and_the_last(count: int, swapped: tuple[int, int] | None) -> None:
    """The ends are where those of consecutive lanes are, and what is between them is looked at, too."""
    machine = Machine()
    places = np.arange(count, dtype=np.int32)
    if swapped is not None and max(swapped) < count - 1:
        places[list(swapped)] = places[list(swapped[::-1])]
    values = np.random.default_rng(1).integers(0, 1000, count, np.int32)
    module, own = machine.load(COPY), np.arange(count, dtype=np.int32)
    for source, target in ((places, own), (own, places), (places, places)):
        out = machine.zeros(count, np.int32)
        machine.run(module, "copy", 1, count, *(machine.array(one) for one in (values, source, target)), out)
        expected = np.zeros(count, np.int32)
        expected[target] = values[source] + 1
        np.testing.assert_array_equal(out.get(), expected)


def test_several_lanes_for_one_place() -> None:
    """The last of them stays."""
    machine, count = Machine(), 128
    target = np.arange(count, dtype=np.int32)
    target[5] = 6
    values, own = np.arange(count, dtype=np.int32), np.arange(count, dtype=np.int32)
    out = machine.zeros(count, np.int32)
    arrays = (machine.array(one) for one in (values, own, target))
    machine.run(machine.load(COPY), "copy", 1, count, *arrays, out)
    assert out.get()[4:8].tolist() == [5, 0, 7, 8]


def test_behind_the_end() -> None:
    machine = Machine()
    out = machine.zeros(100, np.int32)
    with pytest.raises(
        Fault, match=r"(?s)Invalid __global__ write of 4 bytes.*thread \(100,0,0\) and 27 more"
    ):
        machine.run(machine.load(FILL), "fill", 1, 128, out)
