"""How the scheduler puts groups of lanes together."""

from __future__ import annotations

import numpy as np
import pytest

from cudapy.simulator.engine.run.scheduler import _merged

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
