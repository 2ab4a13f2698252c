"""Shadow memory of the race detector."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from cudapy.simulator.engine.run import shadow
from cudapy.simulator.engine.run.shadow import ROW, Record


def test_runs_are_stretches_of_one_site(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of rows that warps accessed as a whole, and of parts that were accessed by themselves."""
    random = np.random.default_rng(1)
    for rows, most in itertools.product((1, 2, 3, 9), (0, 4096)):
        monkeypatch.setattr(shadow, "_MOST_KEPT", most)
        for _ in range(20):
            record, sites = Record(rows * ROW), np.full(rows * ROW, -1)
            for row in range(rows):
                kind, site = random.integers(4), int(random.integers(2))
                places = row * ROW + (random.permutation(ROW)[:9] if kind == 2 else np.arange(ROW))
                if kind == 1:
                    record._rows[row] = 5 << 32 | 1, site + 1  # as machine code enters it
                elif kind:
                    record.set(places, places, 1, site)
                if kind:
                    sites[places] = site
            found = np.full(rows * ROW, -1)
            runs = record.runs()
            touched = np.flatnonzero(sites >= 0)
            assert runs.exist == (len(touched) > 0)
            if runs.exist:
                assert (runs.start, runs.end) == (touched[0], touched[-1] + 1)
                assert runs.is_dense == (runs.end - runs.start == len(touched))
            starts, ends, numbers = runs.found
            for start, end, number in zip(starts, ends, numbers, strict=True):
                found[start:end] = number
            assert (found == sites).all()
            beside = ends[:-1] == starts[1:]
            assert (ends[:-1] <= starts[1:]).all()
            assert (numbers[:-1] != numbers[1:])[beside].all()
