"""The echo tests are put to the test: declarations with a type that is too narrow or too wide are caught."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from .headers import wheels
from .headers.reader import read
from .stub import APIS, REPOSITORY, source
from .stub.build import declared
from .stub.mutants import WIDER, mutants

pytestmark = pytest.mark.thorough

PARTS = 2
FLOOR = {"driver": 1200, "runtime-12": 800, "runtime-13": 800}
"""How many mutants there must be, at least."""


@pytest.mark.parametrize("api", APIS)
def test_narrow_mutants_are_killed_by_echo(api: str, path_of: Callable[[str], Path]) -> None:
    """A type that loses bits on the way, in any parameter of any function: 99% must be seen."""
    command = [sys.executable, "-m", "tests.stub.mutants", api, str(path_of(api))]
    parts = [
        subprocess.Popen(
            [*command, str(part), str(PARTS)],
            cwd=REPOSITORY,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for part in range(PARTS)
    ]
    total, survivors = 0, []
    for process in parts:
        out, err = process.communicate(timeout=300)
        assert process.returncode == 0, err
        found = json.loads(out)
        total += found["total"]
        survivors += found["survivors"]
    ratio = 1 - len(survivors) / total
    print(f"{api}: {total} narrow mutants, {ratio:.2%} killed; survivors: {survivors}")
    assert total > FLOOR.get(api, 10)
    assert ratio >= 0.99, survivors


HEADERS = {"driver": ("cuda.h", 380), "runtime-13": ("cuda_runtime_api.h", 200)}
"""Where the functions of a library are declared, and how many mutants there must be, at least."""


@pytest.mark.parametrize("api", HEADERS)
def test_wide_mutants_are_killed_by_the_headers(api: str) -> None:
    """A type that is too wide hides in registers; as text it differs from the header of its release."""
    name, floor = HEADERS[api]
    try:
        folders = wheels.fetch("13.5", "runtime")
    except (RuntimeError, OSError) as error:
        pytest.skip(f"no headers of CUDA 13.5 to compare with: {str(error).splitlines()[0]}")
    header = read([folder / name for folder in folders if (folder / name).exists()])
    real = {**header.legacy, **header.functions}
    total = 0
    for symbol, function in declared(source(api)).items():
        if symbol not in real or as_text(function.__declaration__.prototype) != real[symbol]:
            continue  # of another header, or another release
        for mutant in mutants(function, symbol, WIDER):
            total += 1
            assert as_text(mutant.prototype) != real[symbol], mutant
    print(f"{api}: {total} wide mutants, all killed")
    assert total > floor


def as_text(prototype: str) -> str:
    return re.sub(r"\s+", " ", prototype).strip()
