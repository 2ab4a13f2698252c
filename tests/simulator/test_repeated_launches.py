"""Launches of one kernel after the other: what machine code keeps from one to the next shows nowhere."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

from cudapy.simulator.engine import launch, settings
from cudapy.simulator.engine.fault import Fault
from cudapy.simulator.engine.jit import layout, processor
from cudapy.simulator.engine.jit.run import Run
from cudapy.simulator.engine.memory import Memory
from cudapy.simulator.engine.module import Module

pytestmark = pytest.mark.skipif(
    not processor.is_supported(), reason="there is machine code for x86-64 with AVX2 alone"
)
PTX = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 a, .param .u16 b)
{
    .reg .b64 %d<3>; .reg .b32 %r<9>; .reg .b16 %h; .reg .pred %p;
    .shared .b32 own[256];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mov.u32 %r8, %laneid;
    mad.lo.u32 %r4, %r2, %r3, %r1;
    ld.param.u32 %r5, [a];
    ld.param.u16 %h, [b];
    cvt.u32.u16 %r6, %h;
    shl.b32 %r7, %r1, 2;
    mad.lo.u32 %r5, %r4, %r5, %r6;
    st.shared.u32 [%r7], %r5;
    bar.sync 0;
    xor.b32 %r7, %r7, 4;
    ld.shared.u32 %r5, [%r7];
    setp.gt.u32 %p, %r5, 40;
    @%p add.u32 %r5, %r5, %r8;
    ld.param.u64 %d1, [out];
    mul.wide.u32 %d2, %r4, 4;
    add.u64 %d1, %d1, %d2;
    st.global.u32 [%d1], %r5;
    ret;
}
"""
LAUNCHES = [(1, 32), (2, 48), (1, 32), (1, 64), (64, 64), (3, 32), (1, 2), (2, 32), (64, 64), (1, 32)]


def expected(grid: int, block: int, a: int, b: int) -> Any:
    i = np.arange(grid * block)
    value = (i // block * block + (i % block ^ 1)) * a + b
    return (value + (value > 40) * (i % block % 32)).astype(np.uint32)


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Has machine code run; the memories that it made."""
    memories: list[Any] = []

    def counted(images: Any) -> Any:
        memories.append(ring(images))
        return memories[-1]

    ring = layout.ring
    monkeypatch.setattr(layout, "ring", counted)
    monkeypatch.setattr(settings.current, "machine_code", "always")
    monkeypatch.setattr(settings.current, "workers", 1)
    return memories


@pytest.mark.parametrize("checks", [{}, {"check_races": True}, {"check_uninitialized": True}])
def test_shapes_and_parameters_change(
    checks: dict[str, bool], made: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in checks.items():
        monkeypatch.setattr(settings.current, name, value)
    memory = Memory()
    function = Module(PTX, memory).functions["k"]
    for number, (grid, block) in enumerate(LAUNCHES):
        for a, b in ((number, 3), (5, 0xFFF0), (5, number)):
            out = memory.upload(np.zeros(grid * block, np.uint32))
            launch(function, grid, block, (out, a, b))
            np.testing.assert_array_equal(
                memory.download(out, grid * block, np.uint32), expected(grid, block, a, b)
            )
            if a == 5:
                memory.release(out)  # its place is the next one's
    # one batch after the other runs in one memory: for each number of warps in a block, as there is a barrier
    assert len(made) == 2


COUNTS = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out)
{
    .reg .b64 %d; .reg .b32 %r<6>;
    ld.param.u64 %d, [out];
    mov.b32 %r1, 3;
    add.u32 %r2, %r1, 4;
    mul.lo.u32 %r3, %r2, %r1;
    xor.b32 %r4, %r3, %r2;
    red.global.add.u32 [%d], %r4;
    ret;
}
"""


def test_threads_that_do_not_ask_which_they_are(made: list[Any]) -> None:
    memory = Memory()
    function, out = Module(COUNTS, memory).functions["k"], memory.upload(np.zeros(1, np.uint32))
    total = 0
    for grid, block in LAUNCHES:
        launch(function, grid, block, (out,))
        total += (21 ^ 7) * grid * block
        assert memory.download(out, 1, np.uint32)[0] == total
    assert len(made) == 2


def test_freed_memory_is_not_remembered(made: list[Any]) -> None:
    memory = Memory()
    function, out = Module(COUNTS, memory).functions["k"], memory.upload(np.zeros(1, np.uint32))
    launch(function, 1, 32, (out,))
    memory.release(out)
    with pytest.raises(Fault):
        launch(function, 1, 32, (out,))


MASKED = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 mask)
{
    .reg .b64 %d<3>; .reg .b32 %r<6>;
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mad.lo.u32 %r4, %r2, %r3, %r1;
    ld.param.u32 %r5, [mask];
    and.b32 %r5, %r4, %r5;
    ld.param.u64 %d1, [out];
    mul.wide.u32 %d2, %r5, 4;
    add.u64 %d1, %d1, %d2;
    st.global.u32 [%d1], %r4;
    ret;
}
"""


def test_each_launch_has_races_of_its_own(made: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings.current, "check_races", True)
    memory = Memory()
    function, out = Module(MASKED, memory).functions["k"], memory.upload(np.zeros(64, np.uint32))
    for _ in range(3):
        launch(function, 2, 32, (out, 63))
        assert memory.download(out, 64, np.uint32).tolist() == [*range(64)]
        with pytest.raises(Fault, match="Race in __global__ memory"):
            launch(function, 2, 32, (out, 31))


def test_a_shadow_that_no_parameter_tells_of_is_that_of_its_launch(
    made: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings.current, "check_races", True)
    memory = Memory()
    load = "ld.param.u64 %d1, [out];"
    more = "ld.global.u64 %d1, [%d1]; ld.param.u64 %d2, [other]; ld.global.u32 %r1, [%d2+252];"
    text = MASKED.replace(load, f"{load} {more}").replace("mask)", "mask, .param .u64 other)")
    out, other = (memory.upload(np.zeros(64, np.uint32)) for _ in range(2))
    function, place = Module(text, memory).functions["k"], memory.upload(np.array([out], np.uint64))
    for _ in range(3):
        launch(function, 1, 32, (place, 63, other))
        with pytest.raises(Fault, match="Race in __global__ memory"):
            launch(function, 2, 32, (place, 31, other))


EXCHANGE = """
    setp.eq.u32 %p, %r5, 0;
    shl.b32 %s, %r1, 2;
    mov.u32 %r2, tile;
    add.u32 %s, %s, %r2;
    st.shared.u32 [%s], %r4;
    @%p bra.uni read;
    bar.sync 0;
read:
    xor.b32 %s, %s, 128;
    mul.wide.u32 %d2, %r4, 4;
    ld.shared.u32 %r4, [%s];
"""
EXCHANGE = MASKED.replace("and.b32 %r5, %r4, %r5;", "").replace("mul.wide.u32 %d2, %r5, 4;", EXCHANGE)
EXCHANGE = EXCHANGE.replace(".reg .b64", ".reg .pred %p; .reg .b32 %s; .shared .u32 tile[64]; .reg .b64")


def test_barriers_of_one_launch_order_nothing_in_the_next(
    made: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings.current, "check_races", True)
    memory = Memory()
    function, out = Module(EXCHANGE, memory).functions["k"], memory.upload(np.zeros(192, np.uint32))
    for _ in range(2):
        launch(function, 3, 64, (out, 1))
        expected = np.arange(192, dtype=np.uint32).reshape(3, 2, 32)[:, ::-1]
        assert memory.download(out, 192, np.uint32).tolist() == expected.reshape(-1).tolist()
        with pytest.raises(Fault, match="Race in __shared__ memory"):
            launch(function, 3, 64, (out, 0))


def test_shadows_are_there_from_the_second_launch_on(
    made: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of what a parameter points to, even if it is other memory now."""
    monkeypatch.setattr(settings.current, "check_races", True)
    left: list[int] = []

    def counted(*arguments: Any) -> None:
        left.append(1)
        access(*arguments)

    access = Run._access
    monkeypatch.setattr(Run, "_access", counted)
    memory = Memory()
    function = Module(MASKED, memory).functions["k"]
    counts = []
    for kind in ("device", "device", "constant"):
        out = memory.allocate(256, kind)
        if kind == "constant":
            with pytest.raises(Fault, match="Write to __constant__ memory"):
                launch(function, 2, 32, (out, 63))
        else:
            launch(function, 2, 32, (out, 63))
        counts.append(len(left))
    assert counts == [1, 1, 3]


def test_what_failed_leaves_nothing(made: list[Any]) -> None:
    memory = Memory()
    function = Module(PTX, memory).functions["k"]
    out = memory.upload(np.zeros(64, np.uint32))
    for _ in range(3):
        with pytest.raises(Fault):
            launch(function, 2, 64, (out, 1, 2))
        launch(function, 2, 32, (out, 1, 2))
        np.testing.assert_array_equal(memory.download(out, 64, np.uint32), expected(2, 32, 1, 2))


def test_launches_side_by_side(made: list[Any]) -> None:
    memory = Memory()
    function = Module(PTX, memory).functions["k"]
    launch(function, 1, 32, (memory.upload(np.zeros(32, np.uint32)), 1, 1))
    wrong = []

    def launch_often(number: int) -> None:
        grid, block = LAUNCHES[number]
        out = memory.upload(np.zeros(grid * block, np.uint32))
        for a in range(20):
            launch(function, grid, block, (out, a, number))
            if (memory.download(out, grid * block, np.uint32) != expected(grid, block, a, number)).any():
                wrong.append((number, a))

    threads = [threading.Thread(target=launch_often, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
