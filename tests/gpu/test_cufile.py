"""Files to and from the memory of a GPU, through libcufile in compatibility mode."""

from __future__ import annotations

from pathlib import Path

import pytest

from cudapy import simulator
from tests import cufile_round_trip

pytestmark = pytest.mark.gpu


def test_a_file_comes_back_in_every_way(tmp_path: Path) -> None:
    """tests/test_cufile.py does the same on the simulator, but for reads in a stream."""
    if simulator.is_enabled():
        pytest.skip("there is no GPU")
    if cufile_round_trip.no_files():
        pytest.skip(cufile_round_trip.no_files())
    found = cufile_round_trip.run(tmp_path, 8 << 20)
    assert {found.get(way, "") for way in cufile_round_trip.WAYS} == {""}
    assert {"asynchronous", "batch"} <= set(found)
    assert (found["written"], found["open"]) == ("", 0)
