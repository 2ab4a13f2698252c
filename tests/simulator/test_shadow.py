"""Shadow memory of the race detector."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from cudapy.simulator.engine.run import shadow
from cudapy.simulator.engine.run.shadow import BAND, ROW, STRETCH, Record, Shadow


def test_runs_are_stretches_of_one_site(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of rows that warps accessed as a whole, and of parts that were accessed by themselves."""
    random = np.random.default_rng(1)
    for rows, most in itertools.product((1, 2, 3, 9, 2 * STRETCH + 3), (0, 4096)):
        monkeypatch.setattr(shadow, "_MOST_KEPT", most)
        for which in range(20):
            record, sites = Record(rows * ROW), np.full(rows * ROW, -1)
            first = 298 * (which % 2)  # few sites take a byte each
            for row in range(rows):
                kind, site = random.integers(4), first + int(random.integers(2))
                if which < 4:  # one stretch
                    kind, site = (0, 1)[which <= row < rows - which], first + 1
                places = row * ROW + (random.permutation(ROW)[:9] if kind == 2 else np.arange(ROW))
                if kind == 1:
                    record._open_bands(np.array([row // BAND]))
                    record._rows[row] = 5 << 32 | 1, site + 1  # as machine code enters it
                    record._touched[row // STRETCH] = 1
                elif kind:
                    record.set(places, places, 1, site)
                if kind:
                    sites[places] = site
            found = np.full(rows * ROW, -1)
            runs = record.runs(first + 2)
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


@pytest.mark.parametrize("part", [4, 16])
def test_shadows_of_another_launch_are_blank(part: int) -> None:
    """Whatever it has accessed."""
    size = part * ROW * STRETCH * 50
    one = Shadow.blank(size, part)
    for record, first in ((one.write, 7), (one.first_read, 3 * STRETCH * ROW), (one.last_read, 45 * STRETCH)):
        record.set(np.arange(first, first + 90), np.arange(90), 7, 2)
        record._open_bands(np.array([STRETCH * 48 // BAND]))
        record._rows[STRETCH * 48] = 5 << 32 | 1, 3
        record._touched[48] = 1
    one.written[0] = 7
    one.leave()
    again = Shadow.blank(size, part)
    assert again is one
    assert Shadow.blank(size, part) is not one
    assert not again.written[0]
    for record in (one.write, one.first_read, one.last_read):
        assert not record.runs(9).exist
        assert not record._rows.any()


def test_shadows_that_have_much_are_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shadow, "_MOST_ROWS", 2 * STRETCH)
    one = Shadow.blank(12 * ROW * STRETCH, 4)
    one.write.set(np.array([0, 2 * ROW * STRETCH]), np.array([1, 2]), 3, 4)
    one.leave()
    assert Shadow.blank(12 * ROW * STRETCH, 4) is not one


def test_smaller_parts_have_what_larger_ones_had() -> None:
    one = Shadow(16 * ROW * (STRETCH + 3), 16)
    one.write.set(np.array([5, ROW * STRETCH + 7]), np.array([1, 2]), 3, 4)
    one.refine(4)
    runs = one.write.runs(9)
    assert [*zip(*runs.found, strict=True)] == [
        (20, 24, 4),
        (4 * (ROW * STRETCH + 7), 4 * (ROW * STRETCH + 8), 4),
    ]
    assert not one.first_read.runs(9).exist


def _enter(record: Record, band: int, thread: int, site: int, rows: int) -> None:
    """What the warps of a block did to the first rows of a band, as machine code notes it."""
    record._bands[band] = thread + 1 << 32 | 7, rows << 32 | site + 1
    record._touched[band * BAND // STRETCH] = 1


def test_bands_have_what_their_rows_would_have() -> None:
    random = np.random.default_rng(2)
    size = ROW * BAND
    for which in range(60):
        one, other = Record(5 * size), Record(5 * size)
        for band in range(random.integers(1, 6)):
            rows = int(random.choice((0, 2, BAND, BAND, BAND)[which % 5 :]))
            thread, site = int(random.integers(1 << 20)), int(random.integers(1 + which % 2))
            places = band * size + np.arange(rows * ROW)
            other.set(places, thread + np.arange(len(places)), 7, site)
            if rows:
                _enter(one, band, thread, site, rows)
        if which % 3 == 0:  # another thread comes
            for record in (one, other):
                record.set(np.array([size + 3]), np.array([5]), 8, 1)
        if which % 7 == 0:
            for record in (one, other):
                record.repeat(4)
        runs, expected = one.runs(9), other.runs(9)
        assert (runs.exist, runs.is_dense) == (expected.exist, expected.is_dense)
        assert not runs.exist or (runs.start, runs.end) == (expected.start, expected.end)
        assert all((a == b).all() for a, b in zip(runs.found, expected.found, strict=True))
        places = np.arange(5 * size)
        assert all((a == b).all() for a, b in zip(one.at(places), other.at(places), strict=True))
        one.clear()
        assert not one._bands.any() and not one._rows.any() and not one.runs(9).exist
