"""Each kernel gives what its reference does: one of most families in the first tier, others in the second."""

from __future__ import annotations

import pytest

from .families import chosen
from .kernel import KERNELS, Kernel

LARGE = {"cub", "cooperative_groups", "libcudacxx"}
"""Families whose headers take seconds to compile."""
FIRST = {one.family: one.name for one in reversed(KERNELS.values()) if one.family not in LARGE}.values()


@pytest.mark.gpu
@pytest.mark.parametrize(
    "kernel",
    [
        pytest.param(one, id=one.name, marks=() if one.name in FIRST else pytest.mark.thorough)
        for one in KERNELS.values()
    ],
)
def test_kernel(kernel: Kernel) -> None:
    kernel.check()


def test_chosen_by_name_and_by_family() -> None:
    name, one = next(iter(KERNELS.items()))
    assert chosen([name]) == [one]
    assert one in chosen([one.family]) and {other.family for other in chosen([one.family])} == {one.family}
    assert chosen() == list(KERNELS.values())
    with pytest.raises(KeyError, match="no kernel or family nobody"):
        chosen(["nobody"])
