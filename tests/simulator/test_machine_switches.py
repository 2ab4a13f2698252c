"""brx.idx in machine code: the same as NumPy, and no way out of the region."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cudapy.simulator.engine import Counters, back_ends, coverage, launch
from cudapy.simulator.engine.memory import Memory
from cudapy.simulator.engine.module import Module
from cudapy.simulator.engine.settings import Settings

PTX = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 data, .param .u32 steps)
{
    .reg .b32 %r<8>;
    .reg .b64 %rd<4>;
    .reg .pred %p<3>;
    ld.param.u64 %rd1, [data];
    ld.param.u32 %r1, [steps];
    mov.u32 %r2, %tid.x;
    mov.u32 %r3, %ntid.x;
    mov.u32 %r4, %ctaid.x;
    mad.lo.u32 %r2, %r4, %r3, %r2;
    mul.wide.u32 %rd2, %r2, 4;
    add.u64 %rd1, %rd1, %rd2;
    mov.u32 %r4, %r2;
    bra LOOP;
AGAIN:
    add.u32 %r2, %r2, 11;
    bra LOOP;
LOOP:
    setp.eq.u32 %p1, %r1, 0;
    @%p1 bra END;
    sub.u32 %r1, %r1, 1;
    MASK
    WAYS: .branchtargets FIRST, AGAIN, SECOND, LEAVE, AGAIN;
    brx.idx %r5, WAYS;
FIRST:
    mul.lo.u32 %r2, %r2, 5;
    bra LOOP;
SECOND:
    xor.b32 %r2, %r2, 0x5a5a;
    shr.u32 %r2, %r2, 1;
    bra LOOP;
LEAVE:
    setp.lt.u32 %p2, %r4, 90;
    @%p2 bra FIRST;
    st.global.u32 [%rd1], %r2;
    ret;
END:
    add.u32 %r2, %r2, 1;
    st.global.u32 [%rd1], %r2;
    ret;
}
"""
DIVERGED = "rem.u32 %r5, %r2, 5;"


def run(mask: str, block: int, **options: Any) -> tuple[list[int], Counters, Any]:
    coverage.reset()
    memory = Memory()
    function = Module(PTX.replace("MASK", mask), memory).functions["k"]
    data = memory.upload(np.zeros(128, np.uint32))
    counters = launch(function, 128 // block, block, (data, 30), settings=Settings(**options))
    counts = [(one.lines(), one.branches()) for one in coverage.report()]
    coverage.reset()
    return memory.download(data, 128, np.uint32).tolist(), counters, counts


def expected(thread: int) -> int:
    value, steps, way = thread, 30, -1
    while steps:
        steps -= 1
        way = value % 5
        if way == 3 and thread >= 90:
            return value
        if way in (0, 3):
            value = value * 5 & 0xFFFFFFFF
        elif way == 2:
            value = (value ^ 0x5A5A) >> 1
        else:
            value += 11
    return value + 1


@pytest.mark.parametrize("block", [32, 16, 128])
@pytest.mark.parametrize("is_covered", [False, True])
def test_switches_in_machine_code(block: int, is_covered: bool) -> None:
    results, _, counts = run(DIVERGED, block, machine_code="never", coverage=is_covered)
    fast, counters, fast_counts = run(DIVERGED, block, machine_code="always", coverage=is_covered)
    assert fast == results == [expected(thread) for thread in range(128)]
    assert fast_counts == counts
    if not counters.region_runs:
        pytest.skip("no machine code for this processor")
    assert counters.region_runs == 1 and counters.numpy_runs <= 2


def test_all_threads_may_take_one_way() -> None:
    results, *_ = run("and.b32 %r5, %r1, 1;", 32, machine_code="never")
    assert run("and.b32 %r5, %r1, 1;", 32, machine_code="always")[0] == results


@pytest.mark.skipif(len(back_ends.names()) < 2, reason="no machine code for this processor")
def test_an_index_beyond_the_table_takes_the_last_way() -> None:
    """PTX leaves that undefined; machine code must not jump elsewhere."""
    results, *_ = run("mov.u32 %r5, 4;", 32, machine_code="never")
    assert run("mov.u32 %r5, 4000000000;", 32, machine_code="always")[0] == results
