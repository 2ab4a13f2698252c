"""Kernels of Triton give what NumPy does."""

from __future__ import annotations

import importlib.util

import pytest

pytestmark = pytest.mark.thorough
WHICH = ("add", "softmax", "cumsum", "atomics", "casts_90", "matmul_f16_80", "matmul_f16_90", "conv1d")
"""A few: `python -m tests.triton_ptx` runs all."""


@pytest.mark.gpu
@pytest.mark.parametrize("name", WHICH)
def test_kernel(name: str) -> None:
    if importlib.util.find_spec("triton") is None:
        pytest.skip("needs Triton, which is not installed")
    from .cases import CASES

    CASES[name]()
