"""Each kernel gives what its reference does: one of most families in the first tier, others in the second."""

from __future__ import annotations

import pytest

from cudapy import simulator
from cudapy.simulator.engine import settings
from cudapy.simulator.engine.jit import processor

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


@pytest.mark.thorough
@pytest.mark.skipif(not processor.is_supported(), reason="there is machine code for x86-64 with AVX2 alone")
@pytest.mark.parametrize(
    "kernel", [pytest.param(one, id=one.name) for one in KERNELS.values() if one.family not in LARGE]
)
def test_kernel_in_machine_code(kernel: Kernel, monkeypatch: pytest.MonkeyPatch) -> None:
    """From its first launch on, not only once it is warm."""
    if not simulator.is_enabled():
        pytest.skip("a GPU runs the kernels")
    monkeypatch.setattr(settings.current, "machine_code", "always")
    kernel.check()


def test_chosen_by_name_and_by_family() -> None:
    name, one = next(iter(KERNELS.items()))
    assert chosen([name]) == [one]
    assert one in chosen([one.family]) and {other.family for other in chosen([one.family])} == {one.family}
    assert chosen() == list(KERNELS.values())
    with pytest.raises(KeyError, match="no kernel or family nobody"):
        chosen(["nobody"])
