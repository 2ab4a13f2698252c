"""The samples over ranks under torchrun, where PyTorch is installed: its store hands over the id."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys

import pytest

from samples.__main__ import Sample, samples

from .test_samples_ranks import SMALL
from .warm import REPOSITORY

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="PyTorch is not installed"),
    pytest.mark.usefixtures("nvrtc"),
]


@pytest.mark.parametrize(
    "sample",
    [sample for sample in samples() if sample.name in ("matrix_mul_ranks", "sort_ranks")],
    ids=lambda sample: sample.name,
)
def test_a_sample_runs_under_torchrun(sample: Sample) -> None:
    """Two simulated ranks, in the processes that torchrun starts."""
    launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    done = subprocess.run(
        [*launcher, str(sample.path), *SMALL[sample.name]],
        cwd=REPOSITORY,
        env={**os.environ, "CUDAPY_DRIVER": "simulator", "PYTHONPATH": str(REPOSITORY)},
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"^2 rank\(s\)", done.stdout, re.MULTILINE)
    assert done.stdout.rstrip().endswith("PASS")


def test_a_rank_that_fails_ends_torchrun() -> None:
    """A size that the sample refuses: both ranks end, and torchrun says which one."""
    sample = next(sample for sample in samples() if sample.name == "matrix_mul_ranks")
    launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    done = subprocess.run(
        [*launcher, str(sample.path), "--size", "17"],
        cwd=REPOSITORY,
        env={**os.environ, "CUDAPY_DRIVER": "simulator", "PYTHONPATH": str(REPOSITORY)},
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert done.returncode != 0
    assert "--size must be a multiple of 32 with 2 rank(s)" in done.stderr
