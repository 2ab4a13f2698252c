"""Every opcode against what an H200 gave: `reference.json`, which `python -m tests.simulator.reference`
makes.
"""

from __future__ import annotations

import functools
import json
from typing import Any

import numpy as np
import pytest

from .columns import Column, all_columns, grouped
from .reference import SAMPLE, STORED, digest, errors, legal_columns, simulated, unpacked

BOUNDS = {
    "div.approx": (2, 0.0),
    "div.full": (2, 0.0),
    "rcp.approx": (1, 0.0),
    "rcp.approx.ftz.f64": (1 << 32, 0.0),  # one unit of the upper word
    "sqrt.approx": (1, 0.0),
    "rsqrt.approx": (1, 0.0),
    "rsqrt.approx.ftz.f64": (1 << 32, 0.0),
    "sin.approx": (0, 5e-7),
    "cos.approx": (0, 5e-7),
    "lg2.approx": (1, 2.4e-7),
    "ex2.approx": (2, 0.0),
    "tanh.approx": (128, 0.0),
    "tanh.approx.f16": (1, 0.0),
    "tanh.approx.bf16": (1, 0.0),
}
"""Of approximate opcodes, by what they begin with: units in the last place, and an absolute error that is as
good. docs/simulator.md has the same.
"""


@functools.cache
def stored() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(STORED.read_text())
    return found


COLUMNS = list(legal_columns())
GROUPS = grouped(COLUMNS)


@pytest.mark.parametrize("columns", GROUPS, ids=lambda columns: columns[0].name)
def test_columns(columns: list[Column]) -> None:
    results = simulated(columns)
    different = []
    for column in columns:
        if not column.is_approximate and digest(column, results[column.name]) != stored()["exact"].get(
            column.name
        ):
            different.append(column.name)
    assert not different


@pytest.mark.parametrize("column", [one for one in COLUMNS if one.is_approximate], ids=lambda one: one.name)
def test_approximate_columns(column: Column) -> None:
    hardware = unpacked(column, stored()["approximate"][column.name]).astype(np.uint64)
    mine = simulated([column])[column.name][::SAMPLE]
    units, absolute = BOUNDS[max((name for name in BOUNDS if column.name.startswith(name)), key=len)]
    assert errors(column, hardware, mine, absolute)[0] <= units
    assert errors(column, hardware, mine)[2] == 0, "NaN in one of them alone"


def test_every_opcode_of_the_tables_has_a_column_or_is_no_ptx() -> None:
    stored_names = {*stored()["exact"], *stored()["approximate"]}
    assert {column.name for column in COLUMNS} == stored_names
    assert len(stored_names) > 2300
    assert stored_names <= {column.name for column in all_columns()}
