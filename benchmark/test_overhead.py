"""What cudapy itself costs in a call: the same calls against a libcuda that does nothing. Needs no GPU."""

from __future__ import annotations

import pytest

from .conftest import Rows
from .overhead import in_a_process
from .record import Record
from .twin import Absent

GROUP = "overhead, on a null libcuda"


@pytest.mark.parametrize("layer", ["driver", "core"])
def test_overhead(rows: Rows, layer: str) -> None:
    pytest.importorskip(f"cudapy.{layer}", exc_type=ImportError)
    try:
        found = in_a_process(layer, rows.rounds(101))
    except Absent as error:
        pytest.skip(f"no null libcuda: {error}")
    for name, times, missing in found:
        rows.add(Record(GROUP, name, times, missing=missing))
