"""The samples that run over ranks, with several simulated ranks, a process for each."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from samples.__main__ import Sample, samples

OVER_RANKS = [sample for sample in samples() if sample.name.endswith("_ranks")]


def test_there_are_some() -> None:
    assert {"saxpy_ranks", "train_ranks"} <= {sample.name for sample in OVER_RANKS}


@pytest.mark.thorough
@pytest.mark.usefixtures("nvrtc")
@pytest.mark.parametrize("ranks", [2, 4, 8])
@pytest.mark.parametrize("sample", OVER_RANKS, ids=lambda sample: sample.name)
def test_with_several_ranks_the_result_is_right(sample: Sample, ranks: int) -> None:
    done = subprocess.run(
        [sys.executable, str(sample.path), str(ranks)],
        capture_output=True,
        text=True,
        timeout=240,
        env={**os.environ, "CUDAPY_DRIVER": "simulator"},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{ranks} rank(s)" in done.stdout
    assert "PASS" in done.stdout
