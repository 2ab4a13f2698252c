"""Functions in place of their calls: kernels do, and reports say, what they do with calls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from cudapy.simulator.engine import Fault, coverage, launch, settings
from cudapy.simulator.engine.compile import inline
from cudapy.simulator.engine.compile.inline import inlined
from cudapy.simulator.engine.memory import Memory
from cudapy.simulator.engine.module import Module
from cudapy.simulator.engine.ptx.parser import parse
from cudapy.simulator.engine.settings import Settings

from .machine import Machine

PTX = """
.version 8.0
.target sm_80
.address_size 64
.shared .b32 box;

.func (.param .b32 result) twice(.param .b32 value)
{
    .reg .b32 %r<3>;
    ld.param.u32 %r1, [value];
    add.u32 %r1, %r1, %r1;
    st.param.b32 [result], %r1;
    ret;
}
.func (.param .b32 result) one_of(.param .align 8 .b8 both[16])
{
    .reg .b32 %r<6>;
    .reg .pred %p<3>;
    ld.param.u32 %r1, [both];
    ld.param.u32 %r2, [both+12];
    setp.gt.u32 %p1, %r1, 2;
    @%p1 bra OTHER;
    setp.eq.u32 %p2, %r1, 0;
    @%p2 bra LEAVE;
    {
        .param .b32 in;
        .param .b32 out;
        st.param.b32 [in], %r2;
        call.uni (out), twice, (in);
        ld.param.b32 %r3, [out];
    }
    bra END;
OTHER:
    mul.lo.u32 %r3, %r2, 7;
    xor.b32 %r3, %r3, %r1;
    bra END;
LEAVE:
    st.param.b32 [result], 3;
    ret;
END:
    st.param.b32 [result], %r3;
    ret;
}
.func (.param .b32 result) sum_up(.param .b32 count)
{
    .reg .b32 %r<5>;
    .reg .pred %p<3>;
    ld.param.u32 %r1, [count];
    mov.u32 %r2, 0;
AGAIN:
    add.u32 %r2, %r2, %r1;
    sub.u32 %r1, %r1, 1;
    setp.gt.s32 %p1, %r1, 0;
    @%p1 bra AGAIN;
    st.param.b32 [result], %r2;
    ret;
}
.func put(.param .b64 place, .param .b32 value)
{
    .reg .b32 %r<3>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [place];
    ld.param.u32 %r1, [value];
    st.u32 [%rd1], %r1;
    ret;
}
.func (.param .b32 result) get(.param .b64 place)
{
    .reg .b32 %r<3>;
    .reg .b64 %rd<3>;
    .reg .pred %p<3>;
    ld.param.u64 %rd1, [place];
    ld.u32 %r1, [%rd1];
    setp.eq.u32 %p1, %r1, 0;
    @%p1 bra END;
    add.u32 %r1, %r1, 1;
END:
    st.param.b32 [result], %r1;
    ret;
}
.visible .entry k(.param .u64 data, .param .u32 steps)
{
    .reg .b32 %r<10>;
    .reg .b64 %rd<6>;
    .reg .pred %p<4>;
    ld.param.u64 %rd1, [data];
    ld.param.u32 %r6, [steps];
    mov.u32 %r1, %tid.x;
    mov.u32 %r7, %ctaid.x;
    mov.u32 %r8, %ntid.x;
    mad.lo.u32 %r7, %r7, %r8, %r1;
    mul.wide.u32 %rd2, %r7, 4;
    add.u64 %rd3, %rd1, %rd2;
    mov.u32 %r2, %r7;
LOOP:
    and.b32 %r3, %r2, 3;
    {
        .param .align 8 .b8 both[16];
        .param .b32 out;
        st.param.b32 [both+0], %r3;
        st.param.b32 [both+8], %r1;
        st.param.b32 [both+12], %r2;
        call.uni (out), one_of, (both);
        ld.param.b32 %r4, [out];
    }
    add.u32 %r2, %r2, %r4;
    and.b32 %r5, %r2, 7;
    setp.gt.u32 %p1, %r5, 3;
    {
        .param .b32 in;
        .param .b32 out;
        st.param.b32 [in], %r5;
        @%p1 call (out), sum_up, (in);
        ld.param.b32 %r4, [out];
    }
    add.u32 %r2, %r2, %r4;
    sub.u32 %r6, %r6, 1;
    setp.ne.u32 %p2, %r6, 0;
    @%p2 bra LOOP;
    {
        .param .b64 place;
        .param .b32 value;
        st.param.b64 [place], %rd3;
        st.param.b32 [value], %r2;
        call put, (place, value);
    }
    ret;
}
.visible .entry wrong(.param .u64 data)
{
    .reg .b32 %r<6>;
    .reg .b64 %rd<6>;
    .reg .pred %p<4>;
    ld.param.u64 %rd1, [data];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4;
    setp.lt.u32 %p1, %r1, 40;
    @%p1 bra NEAR;
    mov.u64 %rd1, 64;
NEAR:
    add.u64 %rd2, %rd2, %rd1;
    {
        .param .b64 place;
        .param .b32 value;
        st.param.b64 [place], %rd2;
        st.param.b32 [value], %r1;
        call put, (place, value);
    }
    ret;
}
.visible .entry racing(.param .u64 data)
{
    .reg .b32 %r<6>;
    .reg .b64 %rd<6>;
    .reg .pred %p<4>;
    ld.param.u64 %rd1, [data];
    mov.u32 %r1, %tid.x;
    mov.u64 %rd2, box;
    cvta.shared.u64 %rd2, %rd2;
    setp.lt.u32 %p1, %r1, 40;
    @%p1 bra NEAR;
    {
        .param .b64 place;
        .param .b32 value;
        st.param.b64 [place], %rd2;
        st.param.b32 [value], %r1;
        call put, (place, value);
    }
NEAR:
    {
        .param .b64 place;
        .param .b32 value;
        .param .b32 out;
        st.param.b64 [place], %rd1;
        call (out), get, (place);
        ld.param.b32 %r2, [out];
        st.param.b64 [place], %rd2;
        st.param.b32 [value], %r2;
        call put, (place, value);
    }
    ret;
}
"""


@pytest.fixture(params=["never", "always"])
def machine_code(request: Any) -> str:
    return str(request.param)


def with_and_without(monkeypatch: pytest.MonkeyPatch, run: Callable[[], Any]) -> tuple[Any, Any]:
    """What a test sees with functions in place of calls, and with calls."""
    copied = run()
    monkeypatch.setattr(inline, "LARGEST", 0)
    return copied, run()


def results(memory: Memory, module: Module, options: Settings, steps: int) -> tuple[Any, Any]:
    data = memory.upload(np.zeros(256, np.uint32))
    counters = launch(module.functions["k"], 4, 64, (data, steps), settings=options)
    return memory.download(data, 256, np.uint32).tolist(), counters


def expected(thread: int, steps: int) -> int:
    value, total = thread, 0
    for _ in range(steps):
        which = value & 3
        value += 3 if which == 0 else 2 * value if which < 3 else (7 * value & 0xFFFFFFFF) ^ which
        value &= 0xFFFFFFFF
        low = value & 7
        total = low * (low + 1) // 2 if low > 3 else total
        value = value + total & 0xFFFFFFFF
    return value


def test_results_are_the_same(machine_code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def run() -> Any:
        memory = Memory()
        return results(memory, Module(PTX, memory), Settings(machine_code=machine_code), 20)[0]

    copied, called = with_and_without(monkeypatch, run)
    assert copied == called == [expected(thread, 20) for thread in range(256)]


BY_NAME = "call.uni (q), f, (p0);"
BY_ADDRESS = """mov.u64 %d3, f; of: .callprototype (.param .b64 _) _ (.param .b32 _);
    call (q), %d3, (p0), of;"""


@pytest.mark.parametrize("machine_code", ["never", "always"])
@pytest.mark.parametrize("call", [BY_NAME, BY_ADDRESS], ids=["by name", "by address"])
@pytest.mark.parametrize("kind", ["u8", "s8", "u16", "s16", "u32"])
def test_a_parameter_is_read_in_another_size_than_it_was_written(
    kind: str, call: str, machine_code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Compilers read the low bytes of an int where a function uses no more of it."""
    text = f""".version 8.0
        .target sm_80
        .address_size 64
        .func (.param .b64 r) f(.param .b32 a)
        {{ .reg .b32 %r<2>; .reg .b64 %d<2>; ld.param.{kind} %r1, [a]; cvt.u64.u32 %d1, %r1;
           st.param.b64 [r], %d1; ret; }}
        .visible .entry k(.param .u64 p) {{ .reg .b32 %r<3>; .reg .b64 %d<5>;
        ld.param.u64 %d1, [p]; mov.u32 %r2, %tid.x; mul.lo.u32 %r1, %r2, 0x12345678;
        {{ .param .b32 p0; .param .b64 q; st.param.b32 [p0], %r1; {call} ld.param.b64 %d2, [q]; }}
        mul.wide.u32 %d4, %r2, 8; add.s64 %d1, %d1, %d4; st.global.u64 [%d1], %d2; ret; }}"""
    monkeypatch.setattr(settings.current, "machine_code", machine_code)
    machine = Machine()
    out = machine.zeros(32, np.uint64)
    machine.run(Module(text, machine.memory), "k", 1, 32, out)
    written = np.arange(32, dtype=np.uint32) * np.uint32(0x12345678)
    low = written.astype({"u8": "u1", "s8": "i1", "u16": "u2", "s16": "i2", "u32": "u4"}[kind])
    assert np.array_equal(out.get(), low.astype(np.int64).astype(np.uint32))


def test_a_loop_with_calls_is_one_region(monkeypatch: pytest.MonkeyPatch) -> None:
    def run() -> Any:
        memory = Memory()
        return results(memory, Module(PTX, memory), Settings(machine_code="always"), 20)[1]

    copied, called = with_and_without(monkeypatch, run)
    if not called.region_runs:
        pytest.skip("no machine code for this processor")
    assert copied.region_runs == 1 and copied.numpy_runs <= 1
    assert called.region_runs + called.numpy_runs > 40


def test_coverage_is_that_of_the_functions(machine_code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def run() -> Any:
        coverage.reset()
        memory = Memory()
        results(memory, Module(PTX, memory), Settings(machine_code=machine_code, coverage=True), 5)
        (counts,) = coverage.report()
        coverage.reset()
        return counts.lines(), counts.branches()

    copied, called = with_and_without(monkeypatch, run)
    assert copied == called
    lines, branches = copied
    assert {name for name, _ in branches} == {"k", "one_of", "sum_up"}
    assert lines["", 1 + PTX.split("\n").index("    add.u32 %r1, %r1, %r1;")] > 0


def test_a_function_that_nobody_called_has_no_lines() -> None:
    coverage.reset()
    memory = Memory()
    one = PTX.replace("@%p1 call (out), sum_up", "@%p3 call (out), sum_up")
    results(memory, Module(one, memory), Settings(coverage=True), 1)
    (counts,) = coverage.report()
    coverage.reset()
    assert not any(name == "sum_up" for name, _ in counts.branches())
    assert ("", 1 + PTX.split("\n").index("AGAIN:")) not in counts.lines()


@pytest.mark.parametrize(
    ("kernel", "checks"), [("wrong", {}), ("wrong", {"check_races": True}), ("racing", {"check_races": True})]
)
def test_faults_and_races_name_the_function(
    kernel: str, checks: dict[str, bool], machine_code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run() -> Any:
        memory = Memory()
        data = memory.upload(np.zeros(64, np.uint32))
        with pytest.raises(Fault) as caught:
            function = Module(PTX, memory).functions[kernel]
            launch(function, 1, 64, (data,), settings=Settings(machine_code=machine_code, **checks))
        findings = caught.value.findings
        assert {one.place.function for one in findings} == {"put"}
        if machine_code == "always":  # 32 threads run side by side in regions, and all of them outside
            return [(one.kind, one.place) for one in findings]
        return caught.value.report.replace(hex(data)[:-3], "")

    copied, called = with_and_without(monkeypatch, run)
    assert copied == called


def test_undefined_bytes_are_read_by_the_function(machine_code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    options = Settings(machine_code=machine_code, check_uninitialized=True)

    def run() -> Any:
        memory = Memory(options)
        data = memory.allocate(4, "device")
        with pytest.raises(Fault) as caught:
            launch(Module(PTX, memory).functions["racing"], 1, 32, (data,), settings=options)
        assert caught.value.details is not None and caught.value.details.place.function == "get"
        return caught.value.report.replace(hex(data), "")

    copied, called = with_and_without(monkeypatch, run)
    assert copied == called


FUNCTION = """
.version 8.0
.target sm_80
.address_size 64
.func (.param .b32 result) f(.param .b32 value)
{
    .reg .b32 %r<3>;
    .reg .pred %p;
    ld.param.u32 %r1, [value];
    BODY
    st.param.b32 [result], %r1;
    ret;
}
.visible .entry k()
{
    .reg .b32 %r<3>;
    .param .b32 in;
    .param .b32 out;
    st.param.b32 [in], 3;
    CALL
    ret;
}
"""
CALL = "call (out), f, (in);"


@pytest.mark.parametrize(
    ("body", "call", "is_copied"),
    [
        ("", CALL, True),
        ("", "call (in), f, (in);", False),
        ("", "call (out), f, (in, in);", False),
        ("shfl.sync.bfly.b32 %r1, %r1, 1, 31, -1;", CALL, False),
        ("bar.sync 0;", CALL, False),
        ("@%p ret;", CALL, False),
        (".local .b32 own;", CALL, False),
        ("st.param.b32 [value], 1;", CALL, False),
        ("trap;", CALL, True),
        ("{ .param .b32 a; .param .b32 b; st.param.b32 [a], 1; call (b), f, (a); }", CALL, False),
        ("add.u32 %r1, %r1, 1;" * inline.LARGEST, CALL, False),
    ],
)
def test_which_functions_take_the_place_of_calls(body: str, call: str, is_copied: bool) -> None:
    text = parse(FUNCTION.replace("BODY", body).replace("CALL", call))
    kernel = inlined(text.functions, text.aliases)["k"]
    assert any(one.function == "f" for one in kernel.instructions) is is_copied
    assert any(one.name == "call" for one in kernel.instructions) is not is_copied


def test_functions_grow_no_further_than_to_the_limit() -> None:
    body = "add.u32 %r1, %r1, 1;" * (inline.LARGEST - 4)
    text = parse(FUNCTION.replace("BODY", body).replace("CALL", CALL * 1000))
    kernel = inlined(text.functions, text.aliases)["k"]
    assert len(kernel.instructions) + inline.LARGEST > inline.MOST
    assert len(kernel.instructions) <= inline.MOST + 1000
