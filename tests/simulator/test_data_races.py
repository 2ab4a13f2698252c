"""Races in shared and global memory: each mistake beside its correct twin, on the same kernel."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator

import numpy as np
import pytest

from cudapy.simulator.engine import settings
from cudapy.simulator.engine.fault import Fault
from cudapy.simulator.engine.schedule import Schedule

from .checked.races import ARCH, CLUSTERS, PAIRS, source
from .machine import Array, Machine

i32 = np.int32


@pytest.fixture(autouse=True)
def races(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(settings.current, "check_races", True)
    yield


@pytest.fixture(params=["never", "always"])
def machine_code(request: pytest.FixtureRequest, machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """`machine` brings fresh settings."""
    monkeypatch.setattr(settings.current, "machine_code", request.param)


def run(machine: Machine, name: str, right: int, out: Array | None = None) -> None:
    grid, block, *_ = PAIRS[name]
    module = machine.load(source(name), ARCH)
    cluster = (CLUSTERS[name], 1, 1) if name in CLUSTERS else None
    machine.run(module, name, grid, block, i32(right), out or machine.zeros(1024, i32), cluster=cluster)


@pytest.mark.usefixtures("machine_code")
@pytest.mark.parametrize("name", PAIRS)
def test_the_mistake(machine: Machine, name: str) -> None:
    _, _, what, why = PAIRS[name]
    with pytest.raises(Fault) as caught:
        run(machine, name, 0)
    report = caught.value.report
    one_by_one = re.sub(r"\((\w+) by several", r"(\1 after \1", what)  # warps in machine code
    found = f"Race in {what}" in report or f"Race in {one_by_one}" in report
    assert found if what else "Race" not in report
    assert why in report
    assert f"in {name}, program.cu:" in report


@pytest.mark.parametrize(
    "machine_code", [pytest.param("never", marks=pytest.mark.thorough), "always"], indirect=True
)
@pytest.mark.parametrize("name", PAIRS)
def test_its_correct_twin(machine_code: None, machine: Machine, name: str) -> None:
    run(machine, name, 1)


@pytest.mark.parametrize("order", ["first", "last", "turns"])
def test_a_flag_that_is_looked_at_once(machine: Machine, monkeypatch: pytest.MonkeyPatch, order: str) -> None:
    """The first look is not in the loop, and in most orders there is no other."""
    monkeypatch.setattr(settings.current, "schedule", Schedule.parse(order))
    run(machine, "turns", 1)


def test_the_kernel_goes_on(machine: Machine) -> None:
    out = machine.zeros(1024, i32)
    with pytest.raises(Fault) as caught:
        run(machine, "equal_values", 0, out)
    assert out.get()[0] == 31
    assert caught.value.report.count("Race in") == 1


@pytest.mark.usefixtures("machine_code")
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("parity", r"reads (0|32); the other wrote \1"),  # of the first warp, or of the second
        ("blocks", "writes 1; the other wrote 0"),
        ("vectors", r"writes \(0, 0, 0, 0\); the other read \(0, 0, 0, 0\)"),
        ("counter", "writes 1; the other read 0"),
        ("atomic_and_plain", r"reads (31|63); the other left \1"),  # of one warp, or of both
        ("part_of_a_word", "reads 16777216\n"),  # the other wrote a byte of it
    ],
)
def test_the_values(machine: Machine, name: str, words: str) -> None:
    """What both accesses have read and written, as far as they are of the same bytes."""
    with pytest.raises(Fault) as caught:
        run(machine, name, 0)
    assert re.search(f"\n    {words}", caught.value.report)


def test_a_value_that_may_have_changed_since_is_not_told(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings.current, "machine_code", "never")  # both warps read at once
    source = r"""
extern "C" __global__ void late(int *out)
{
    int i = threadIdx.x;
    int seen = out[0];
    if (i == 0) asm volatile("st.global.u32 [%0], 5;" :: "l"(out) : "memory");
    if (i == 40) asm volatile("st.global.u32 [%0], 6;" :: "l"(out) : "memory");
    out[64 + i] = seen;
}
"""
    with pytest.raises(Fault) as caught:
        machine.run(machine.load(source), "late", 1, 64, machine.zeros(1024, i32))
    texts = [str(one) for one in caught.value.findings]
    assert [re.findall("(?:writes|; the other).*", text) for text in texts] == [
        ["writes 5; the other read 0"],
        ["writes 6; the other wrote 5"],
        ["writes 6"],
    ]


@pytest.mark.parametrize("is_equal", [True, False])
def test_rows_of_a_matrix_that_lie_in_one_place(machine: Machine, is_equal: bool) -> None:
    """Triton's compiler stores equal rows several times."""
    source = r"""
extern "C" __global__ void rows(int is_equal)
{
    __shared__ alignas(16) int s[4];
    unsigned at = __cvta_generic_to_shared(s), value = is_equal ? threadIdx.x % 4 : threadIdx.x;
    asm volatile("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%0], {%1};" :: "r"(at), "r"(value) : "memory");
}
"""
    with contextlib.nullcontext() if is_equal else pytest.raises(Fault, match="write by several threads"):
        machine.run(machine.load(source, 90), "rows", 1, 32, i32(is_equal))


def test_order_that_batches_of_blocks_pass_on(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """A block reads what one that ran before it has published, or has only written."""
    monkeypatch.setattr(settings.current, "batch", 64)
    run(machine, "published", 1)
    with pytest.raises(Fault, match=r"the other is block \(0,0,0\) thread \(\d+,0,0\), write in published"):
        run(machine, "published", 0)


def test_a_block_that_a_check_leaves_to_numpy(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """A region of a function is not entered at a fence, which the check of races leaves to NumPy."""
    monkeypatch.setattr(settings.current, "machine_code", "always")
    source = r"""
extern "C" __global__ void polls(int *out)
{
    int sum = 0;
    for (int k = 0; k < 4; ++k) {
        __threadfence();
        sum += out[64 + k] * 3 + k;
        if (sum & 1) sum ^= out[68 + k] + sum / 3;
    }
    out[threadIdx.x] = sum;
}
"""
    machine.run(machine.load(source), "polls", 1, 64, machine.zeros(1024, i32))
