"""The order that a seed gives to machine code: of blocks, of a block's warps, and of diverged threads."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cudapy.simulator.engine import launch, settings
from cudapy.simulator.engine.jit import processor
from cudapy.simulator.engine.jit.workers import Pace
from cudapy.simulator.engine.module import Module

from .machine import Machine
from .test_workers import kernel

pytestmark = pytest.mark.skipif(
    not processor.is_supported(), reason="there is machine code for x86-64 with AVX2 alone"
)
OWN = ".reg .b32 %w, %ticket; .reg .pred %q; .shared .align 4 .b8 tile[4096];"
PLACE = "mul.wide.u32 %o, %i, 4; add.u64 %o, %o, %a0;"
TICKET = "atom.global.add.u32 %ticket, [%a1], 1;"
MEET = "bar.sync 0;"
PARTS = """
and.b32 %w, %i, 3; setp.lt.u32 %q, %w, 2;
@%q bra low;
{ticket}
bra both;
low:
{ticket}
both:
{meet}
"""
ORDERS = {
    "blocks and warps": TICKET,
    "warps of blocks with barriers": MEET + TICKET + MEET,
    "diverged threads": PARTS.format(ticket=TICKET, meet=""),
    "diverged threads before a barrier": PARTS.format(ticket=TICKET, meet=MEET),
}


def tickets(body: str, seed: int | None, threads: int = 128, **more: Any) -> list[int]:
    """The turns in which the threads of a kernel came."""
    module_settings = settings.current.changed(seed=seed, **{"machine_code": "always", **more})
    machine = Machine()
    out, count = machine.zeros(512, "u4"), machine.zeros(1, "u4")
    function = Module(kernel(f"{PLACE}\n{body}\nst.global.u32 [%o], %ticket;\nret;", OWN), machine.memory)
    places = [out.address, count.address]
    blocks = 512 // threads
    counters = launch(
        function.functions["k"], blocks, threads, places, device=machine.device, settings=module_settings
    )
    assert counters.numpy_runs == 0
    turns: list[int] = out.get().tolist()
    return turns


@pytest.mark.parametrize("body", ORDERS.values(), ids=ORDERS)
@pytest.mark.parametrize("checks", [{}, {"check_races": True, "check_uninitialized": True}])
def test_a_seed_varies_the_order(body: str, checks: dict[str, bool]) -> None:
    plain = tickets(body, None, **checks)
    seen = [tickets(body, seed, **checks) for seed in range(4)]
    assert all(sorted(one) == [*range(512)] for one in [plain, *seen])
    assert len({tuple(one) for one in [plain, *seen]}) == 5


@pytest.mark.parametrize("body", ORDERS.values(), ids=ORDERS)
def test_the_order_does_not_depend_on_workers_and_checks(body: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Pace, "wants_help", lambda self, chunks: True)
    monkeypatch.setattr(Pace, "is_known", True)
    expected = tickets(body, 7)
    assert tickets(body, 7, machine_code="auto") == expected  # from the first launch on
    assert tickets(body, 7, workers=16) == expected
    assert tickets(body, 7, check_uninitialized=True) == expected
    assert tickets(body, 7, check_races=True) == expected


def test_which_order_each_kind_has() -> None:
    first = np.array([tickets(ORDERS["warps of blocks with barriers"], seed) for seed in range(8)])
    warps = first.reshape(8, 4, 4, 32)  # of a seed, a block
    assert (np.diff(warps, axis=3) == 1).all()
    assert len(np.unique(warps[..., 0] % 128, axis=0)) > 4  # warps
    assert len(np.unique(warps[:, :, 0, 0] // 128, axis=0)) > 4  # blocks
    parts = np.array([tickets(ORDERS["diverged threads"], seed) for seed in range(8)]).reshape(8, 16, 32)
    is_low_first = parts[..., 0] < parts[..., 2]
    assert 0.2 < is_low_first.mean() < 0.8
