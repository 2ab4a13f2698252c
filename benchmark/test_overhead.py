"""What cudapy itself costs in a call: the same calls against a libcuda that does nothing. Needs no GPU."""

from __future__ import annotations

import pytest

from turns.record import Record
from turns.rows import Rows
from turns.twin import Absent

from .overhead import in_a_process

GROUP = "overhead, on a null libcuda"


@pytest.mark.parametrize("part", [pytest.param("gate", marks=pytest.mark.gate), "rest"])
@pytest.mark.parametrize("layer", ["driver", "core"])
def test_overhead(turns: Rows, layer: str, part: str) -> None:
    pytest.importorskip(f"cudapy.{layer}", exc_type=ImportError)
    try:
        found = in_a_process(layer, part, turns.rounds(101))
    except Absent as error:
        pytest.skip(f"no null libcuda: {error}")
    for name, times, missing in found:
        turns.add(Record(GROUP, name, times, missing=missing))
