"""Machine code that runs whole blocks to their ends, barriers included, gives what NumPy gives."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from cudapy.simulator.engine import Fault, launch, settings
from cudapy.simulator.engine.jit import processor
from cudapy.simulator.engine.jit.workers import Pace
from cudapy.simulator.engine.module import Module
from cudapy.simulator.engine.run.batch import Counters

from .machine import Machine
from .test_workers import kernel

pytestmark = pytest.mark.skipif(
    not processor.is_supported(), reason="there is machine code for x86-64 with AVX2 alone"
)
ADDRESS = "mul.wide.u32 %o, %i, 4;\nadd.u64 %o, %a0, %o;\nld.global.u32 %v, [%o];\n"
STORE = "st.global.u32 [%o], %v;\n"
OWN = ".reg .b32 %s, %u, %left; .shared .align 4 .b8 tile[4096];"
EXCHANGE = """
shl.b32 %s, %t, 2;
mov.u32 %u, tile;
add.u32 %s, %s, %u;
st.shared.u32 [%s], %v;
bar.sync 0;
xor.b32 %w, %t, 33;
shl.b32 %w, %w, 2;
add.u32 %w, %w, %u;
ld.shared.u32 %w, [%w];
mad.lo.u32 %v, %v, 5, %w;
bar.sync 0;
"""
AGAIN = "sub.u32 %left, %left, 1;\nsetp.ne.u32 %p, %left, 0;\n@%p bra again;\n"
LOOP = f"mov.b32 %left, 7;\nagain:\n{EXCHANGE}{AGAIN}"
LONG = """
shr.u32 %w, %t, 5;
setp.ne.u32 %p, %w, 1;
@%p bra.uni quick;
setp.ne.u32 %p, %left, 4;
@%p bra.uni quick;
mov.b32 %many, 41000;
slow:
add.u32 %v, %v, %many;
sub.u32 %many, %many, 1;
setp.ne.u32 %p, %many, 0;
@%p bra slow;
quick:
"""
SOME_EXIT = "setp.ge.u32 %p, %t, 70;\n@%p bra end;\nbar.sync 0;\nadd.u32 %v, %v, 9;\nend:\n"
WARPS_EXIT = SOME_EXIT.replace("70", "64")
EXIT_LATER = f"""
mov.b32 %left, 5;
again:
bar.sync 0;
add.u32 %v, %v, %left;
setp.ge.u32 %p, %t, 64;
@!%p bra.uni on;
setp.eq.u32 %p, %left, 3;
@%p bra.uni end;
on:
{AGAIN}
end:
"""
DIVERGENT = """
and.b32 %w, %t, 1;
setp.ne.u32 %p, %w, 0;
@%p bra odd;
add.u32 %v, %v, 1;
bar.sync 0;
mul.lo.u32 %v, %v, 3;
bra.uni end;
odd:
bar.sync 0;
add.u32 %v, %v, 100;
end:
bar.sync 0;
"""
TWO_ALLOCATIONS = """
and.b32 %w, %t, 7;
setp.eq.u32 %p, %w, 3;
selp.b64 %o2, %a1, %a0, %p;
mul.wide.u32 %o3, %i, 4;
add.u64 %o2, %o2, %o3;
ld.global.u32 %w, [%o2];
bar.sync 0;
add.u32 %v, %v, %w;
"""
CHECKS: list[tuple[str, ...]] = [
    (),
    ("check_uninitialized",),
    ("check_races",),
    ("check_races", "check_uninitialized"),
]
SHAPES = [(3, 32), (40, 96), (40, 128), (5, 1024)]
UNEVEN = [(40, 16), (9, 100)]
"""Blocks whose last warp has fewer threads."""
CASES = [
    *(((), shape) for shape in SHAPES),
    *((one, (40, 96)) for one in CHECKS[1:3]),
    *((CHECKS[3], shape) for shape in SHAPES[2:]),
    *((CHECKS[0], shape) for shape in UNEVEN),
    *((CHECKS[3], shape) for shape in UNEVEN),
]
BODIES = {
    "loop": (LOOP, OWN),
    "exits": (SOME_EXIT, ""),
    "warps exit": (WARPS_EXIT, ""),
    "last exit later": (EXIT_LATER, OWN),
    "first exit later": (EXIT_LATER.replace("ge", "lt").replace("64", "32"), OWN),
    "two barriers": (DIVERGENT.replace("and.b32 %w, %t, 1", "and.b32 %w, %t, 32"), ""),
    "divergent": (DIVERGENT, ""),
    "two allocations": (TWO_ALLOCATIONS, ".reg .b64 %o2, %o3;"),
    "none": ("add.u32 %v, %v, %t;", ""),
}


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Runs the kernel in a mode, with so many workers: what it left in memory, or what was found, and its
    counters.
    """
    monkeypatch.setattr(Pace, "wants_help", lambda self, chunks: True)
    monkeypatch.setattr(Pace, "is_known", True)

    def ran(text: str, mode: str, workers: int, grid: Any, block: Any, checks: tuple[str, ...] = ()) -> Any:
        for one in ("check_races", "check_uninitialized"):
            monkeypatch.setattr(settings.current, one, one in checks)
        monkeypatch.setattr(settings.current, "machine_code", mode)
        monkeypatch.setattr(settings.current, "workers", workers)
        count = int(np.prod(grid) * np.prod(block))
        machine = Machine()
        arrays = [machine.array(np.arange(count, dtype=np.uint32) * number) for number in (3, 7)]
        function = Module(text, machine.memory).functions["k"]
        try:
            counters = launch(function, grid, block, [one.address for one in arrays], device=machine.device)
        except Fault as fault:
            findings = [dataclasses.replace(one, running=0) for one in fault.findings]
            return [findings[0].kind, findings], Counters()
        return [one.get().tobytes() for one in arrays], counters

    return ran


@pytest.mark.parametrize(("checks", "shape"), CASES, ids=str)
@pytest.mark.parametrize("name", BODIES)
def test_blocks_give_what_numpy_gives(
    name: str, checks: tuple[str, ...], shape: tuple[int, int], run: Any
) -> None:
    body, registers = BODIES[name]
    if shape[1] % 64:
        body = body.replace("33", "1")  # threads give each other what they have
    text = kernel(ADDRESS + body + STORE, registers)
    # barriers in divergent code, or that some who were at an earlier one do not come to
    has_left = name.endswith("exit later") and shape[1] > 64
    is_bad = "check_races" in checks and (name == "divergent" or has_left)
    expected, _ = run(text, "never", 1, *shape, checks if is_bad else ())
    assert (expected[0] == "barrier") == is_bad
    parts = ["divergent", "exits", "two allocations"]
    if "check_races" in checks:
        parts += ["warps exit", "two barriers"]
    for workers in (1, 2):
        found, counters = run(text, "always", workers, *shape, checks)
        assert found == expected
        if not is_bad and name not in parts:  # of which NumPy runs a part
            are_lanes = name == "none" and shape[1] % 32 and "check_races" not in checks
            assert (counters.region_runs, counters.numpy_runs) == (1, int(bool(are_lanes)))


def test_blocks_that_run_for_long(run: Any) -> None:
    """Others may be what they wait for: NumPy has all threads of the block go on, at the barrier or not."""
    steps = "add.u32 %v, %v, %left;\nbar.sync 0;"
    body = LOOP.replace(EXCHANGE, steps).replace("%left, 7", "%left, 41000")
    (found, _), counters = run(kernel(ADDRESS + body + STORE, OWN), "always", 2, 2, 64)
    total = 41000 * 41001 // 2
    assert np.frombuffer(found, np.uint32).tolist() == [(3 * i + total) % (1 << 32) for i in range(128)]
    assert counters.region_runs > 1


def test_a_warp_that_runs_for_long(run: Any) -> None:
    """Those behind it in its block have gone on from the barrier before that, too."""
    exchange = EXCHANGE.replace("33", "64")  # each warp reads what the next but one wrote
    body = f"mov.b32 %left, 7;\nagain:\n{LONG}{exchange}{AGAIN}"
    text = kernel(ADDRESS + body + STORE, OWN.replace("%left", "%left, %many"))
    assert run(text, "always", 1, 3, 128)[0] == run(text, "never", 1, 3, 128)[0]


def test_what_warps_left_when_they_exited(run: Any) -> None:
    """The memory is still that of their block, until the others have ended."""
    own = "shl.b32 %s, %t, 2;\nmov.u32 %u, tile;\nadd.u32 %s, %s, %u;\nst.shared.u32 [%s], %v;\n"
    leave = "setp.ge.u32 %p, %t, 64;\n@%p bra end;\nmov.b32 %left, 7;\n"
    loop = f"again:\nbar.sync 0;\nld.shared.u32 %w, [%s+256];\nmad.lo.u32 %v, %v, 3, %w;\n{AGAIN}end:\n"
    text = kernel(ADDRESS + own + leave + loop + STORE, OWN)
    expected, _ = run(text, "never", 1, 5, 128)
    for checks in CHECKS:
        assert run(text, "always", 1, 5, 128, checks)[0] == expected


@pytest.mark.parametrize("size", [4096, 256])
@pytest.mark.parametrize("hole", [1000, 0, 37, 165])
def test_undefined_bytes_of_a_block(hole: int, size: int, run: Any) -> None:
    """NumPy goes on with it where it reads them, and reports what it would have. size: of the array of which
    threads write 256 bytes.
    """
    store = f"setp.eq.u32 %p, %i, {hole};\n@!%p st.shared.u32"
    exchange = EXCHANGE.replace("st.shared.u32", store) + "setp.gt.u32 %p, %v, 50;\n@%p add.u32 %v, %v, 1;\n"
    body = f"mov.b32 %left, 3;\nagain:\n{exchange}{AGAIN}"
    text = kernel(ADDRESS + body + STORE, OWN.replace("4096", str(size)))
    found, counters = run(text, "always", 1, 3, 64, CHECKS[1])
    assert found == run(text, "never", 1, 3, 64, CHECKS[1])[0]
    assert (found[0] == "uninitialized") == (hole < 1000)
    assert hole < 1000 or counters.numpy_runs == 0


@pytest.mark.parametrize(("name", "batches"), [("none", 3), ("loop", 3), ("divergent", 8)])
def test_batches_grow(name: str, batches: int, run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """As long as nothing is kept for each of their threads."""
    monkeypatch.setattr(settings.current, "batch", 64)
    body, registers = BODIES[name]
    text = kernel(ADDRESS + body + STORE, registers)
    found, counters = run(text, "always", 1, 64, 64)
    assert found == run(text, "never", 1, 64, 64)[0]
    assert counters.batches == batches
