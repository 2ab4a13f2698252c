"""Operations with a quick way for the common case: what it gives, and what goes the long way."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from cudapy.simulator.engine import settings
from cudapy.simulator.engine.arithmetic.double import fma64
from cudapy.simulator.engine.arithmetic.floating import fma32
from cudapy.simulator.engine.compile import function
from cudapy.simulator.engine.fault import Fault
from cudapy.simulator.engine.module import Module
from cudapy.simulator.engine.run.global_memory import GlobalMemory
from cudapy.simulator.engine.run.shared import SharedMemory

from .machine import Machine

ONE_ADDRESS = """
extern "C" __global__ void one_address(const float *x, float *out)
{
    __shared__ float4 tile[16];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    ((float *)tile)[threadIdx.x] = x[i];
    __syncthreads();
    float sum = 0;
#pragma unroll 1
    for (int k = 0; k < 16; ++k) sum += tile[k].x - 2 * tile[k].w;
#pragma unroll 1
    for (int k = 0; k < 64; k += 5) sum += ((float *)tile)[k];
    out[i] = sum;
}
extern "C" __global__ void behind(float *out, int k)
{
    __shared__ float tile[64];
    tile[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = tile[k];
}
"""


def test_all_threads_read_shared_memory_at_one_address() -> None:
    machine, blocks = Machine(), 5
    x = np.random.default_rng(1).integers(-99, 99, (blocks, 64)).astype(np.float32)
    out = machine.zeros(x.size, np.float32)
    machine.run(machine.load(ONE_ADDRESS), "one_address", blocks, 64, machine.array(x.ravel()), out)
    sums = x[:, ::4].sum(1) - 2 * x[:, 3::4].sum(1) + x[:, ::5].sum(1)
    np.testing.assert_array_equal(out.get().reshape(x.shape), np.repeat(sums, 64).reshape(x.shape))


def test_one_address_behind_the_end() -> None:
    machine = Machine()
    with pytest.raises(Fault, match="the block's __shared__ memory has 256 bytes"):
        machine.run(machine.load(ONE_ADDRESS), "behind", 3, 64, machine.zeros(64, np.float32), np.int32(64))


def test_fma_of_binary64_is_rounded_once() -> None:
    """Numbers of few bits, whose sums often lie halfway between two results or next to that."""
    random, count = np.random.default_rng(1), 5000  # more than a piece
    a = random.integers(1, 1 << 27, count) * 2.0 ** random.integers(-30, 30, count)
    b = random.integers(-1 << 27, 1 << 27, count) * 2.0 ** random.integers(-30, 30, count)
    c = random.integers(-1 << 53, 1 << 53, count) * 2.0 ** random.integers(-60, 60, count)
    halfway = random.integers(1 << 52, 1 << 53, count).astype(np.float64)
    near = random.choice([1.0, -1.0, 1 + 2.0**-52, 1 - 2.0**-53, -1 + 2.0**-53], count)
    for x, y, z in ((a, b, c), (np.full(count, 0.5), near, halfway), (a, b, -(a * b))):
        exact = [
            Fraction(p) * Fraction(q) + Fraction(r)
            for p, q, r in zip(x.tolist(), y.tolist(), z.tolist(), strict=True)
        ]
        assert fma64(x, y, z).tolist() == [float(one) for one in exact]  # rounded to nearest by Python


def _binary32(number: Fraction) -> np.float32:
    """A number rounded once, to nearest even."""
    nearest = np.float32(float(number))
    candidates = [
        np.nextafter(nearest, np.float32(-np.inf)),
        nearest,
        np.nextafter(nearest, np.float32(np.inf)),
    ]
    return min(candidates, key=lambda one: (abs(Fraction(float(one)) - number), int(one.view(np.uint32)) & 1))


@pytest.mark.parametrize("shapes", ["aaa", "aan", "ana", "naa", "nna", "ann", "nnn"])
def test_fma_of_binary32_is_rounded_once(shapes: str) -> None:
    """Arrays (a) and single numbers (n) whose sums lie halfway between two results, next to that, or below
    the normal numbers; halfway exactly or only once it is rounded to binary64.
    """
    random, count = np.random.default_rng(1), 400 if "a" in shapes else 1
    few_bits = random.integers(1, 1 << 12, (3, count)).astype(np.float32)
    halfway = [few_bits[0] * 2 + 1, np.full(count, 0.5, np.float32), few_bits[2] + np.float32(1 << 23)]
    tiny = np.float32(2.0**-100)
    next_to_it = [np.full(count, 1 + 2.0**-23, np.float32), tiny * few_bits[1], np.full(count, 2.0**-77)]
    smallest = [few_bits[0] * np.float32(2.0**-70), few_bits[1] * np.float32(2.0**-79), few_bits[2] * 0]
    for rows in (list(few_bits), halfway, next_to_it, smallest):
        operands = [
            np.asarray(row, np.float32) if shape == "a" else np.float32(row[0])
            for row, shape in zip(rows, shapes, strict=True)
        ]
        spread = [np.broadcast_to(one, count).tolist() for one in operands]
        exact = [Fraction(p) * Fraction(q) + Fraction(r) for p, q, r in zip(*spread, strict=True)]
        results = np.broadcast_to(fma32(*operands), count)
        assert results.tolist() == [_binary32(one) for one in exact]


NEAR = """
.version 7.1
.target sm_80
.address_size 64
.visible .entry near(.param .u64 out, .param .u32 last, .param .u32 back)
{
    .shared .align 8 .b8 tile[1024];
    .reg .b32 %r<10>;
    .reg .b64 %rd<9>;
    .reg .pred %p;
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, tile;
    mad.lo.u32 %r4, %r1, 8, %r3;
    mad.lo.u32 %r5, %r2, 1000, %r1;
    st.shared.u32 [%r4+256], %r5;
    add.u32 %r5, %r5, 500;
    st.shared.u32 [%r4+260], %r5;
    bar.sync 0;
    ld.param.u32 %r6, [last];
    setp.gt.u32 %p, %r1, %r6;
    @%p bra done;
    ld.param.u32 %r7, [back];
    add.u32 %r4, %r4, %r7;
    sub.u32 %r8, %r4, 4096;
    ld.shared.u32 %r1, [%r4+256];
    ld.shared.v2.u32 {%r2, %r3}, [%r4+264];
    ld.shared.u32 %r5, [%r8+4352];
    ld.shared.u32 %r7, [%r8+4356];
    cvt.u64.u32 %rd3, %r4;
    add.u64 %rd3, %rd3, 512;
    ld.shared.u32 %r8, [%rd3+-252];
    ld.shared.u16 %r6, [%rd3+-256];
    ld.param.u64 %rd1, [out];
    mov.u32 %r4, %tid.x;
    mov.u32 %r9, %ctaid.x;
    mad.lo.u32 %r4, %r9, 32, %r4;
    mad.wide.u32 %rd2, %r4, 28, %rd1;
    st.global.u32 [%rd2], %r1;
    st.global.u32 [%rd2+4], %r2;
    st.global.u32 [%rd2+8], %r3;
    st.global.u32 [%rd2+12], %r5;
    st.global.u32 [%rd2+16], %r7;
    st.global.u32 [%rd2+20], %r8;
    st.global.u32 [%rd2+24], %r6;
done:
    ret;
}
"""


@pytest.mark.parametrize("last", [30, 7])
@pytest.mark.parametrize("blocks", [1, 3])
def test_accesses_near_each_other(blocks: int, last: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """At distances before and behind an address, of all threads and of some; where the addresses wrap, and
    there alone, each access is looked at by itself.
    """
    monkeypatch.setattr(settings.current, "machine_code", "never")
    machine, alone = Machine(), []
    one_by_one = SharedMemory.at

    def at(self: SharedMemory, *arguments: Any) -> Any:
        alone.append(arguments)
        return one_by_one(self, *arguments)

    monkeypatch.setattr(SharedMemory, "at", at)
    out = machine.zeros((blocks, 32, 7), np.uint32)
    machine.run(Module(NEAR, machine.memory), "near", blocks, 32, out, np.uint32(last), np.uint32(0))
    block, thread = np.arange(blocks, dtype=np.uint32)[:, None], np.arange(32, dtype=np.uint32)
    own = block * 1000 + thread
    expected = np.stack([own, own + 1, own + 501, own, own + 500, own + 500, own], 2)
    expected[:, last + 1 :] = 0
    np.testing.assert_array_equal(out.get(), expected)
    assert len(alone) == 2


@pytest.mark.parametrize(
    ("back", "message"),
    [
        (2, "Misaligned __shared__ read of 4 bytes"),
        (1024, "Invalid __shared__ read of 4 bytes"),
        (-512 & 0xFFFFFFFF, "Invalid __shared__ read of 4 bytes"),
    ],
)
def test_a_fault_of_accesses_near_each_other(back: int, message: str) -> None:
    machine = Machine()
    out = machine.zeros((2, 32, 7), np.uint32)
    with pytest.raises(Fault, match=message):
        machine.run(Module(NEAR, machine.memory), "near", 2, 32, out, np.uint32(31), np.uint32(back))


SIGNS = """
.version 7.1
.target sm_80
.address_size 64
.visible .entry signs(.param .u64 x, .param .u64 out)
{
    .reg .b32 %r<9>;
    .reg .b64 %rd<9>;
    .reg .pred %p<3>;
    ld.param.u64 %rd1, [x];
    mov.u32 %r1, %tid.x;
    mad.wide.u32 %rd2, %r1, 4, %rd1;
    ld.global.u32 %r2, [%rd2];
    mov.u32 %r3, 0;
    mov.u32 %r8, 0;
again:
    add.s32 %r4, %r2, -5;
    sub.u32 %r5, %r3, %r4;
    mad.lo.s32 %r2, %r4, %r5, 7;
    shr.s32 %r6, %r2, 3;
    xor.b32 %r8, %r8, %r6;
    shr.u32 %r6, %r2, 5;
    and.b32 %r6, %r6, -3;
    shl.b32 %r7, %r6, 31;
    or.b32 %r6, %r6, %r7;
    not.b32 %r7, %r5;
    setp.lt.s32 %p1, %r7, %r6;
    setp.lt.u32 %p2, %r7, %r6;
    @%p1 mul.lo.u32 %r8, %r8, %r6;
    @%p2 add.u32 %r8, %r8, %r7;
    add.s32 %r3, %r3, 1;
    setp.lt.s32 %p1, %r3, 20;
    @%p1 bra again;
    mul.wide.s32 %rd3, %r8, -3;
    mul.wide.u32 %rd4, %r8, %r2;
    shl.b64 %rd5, %rd3, 33;
    shr.s64 %rd6, %rd5, 7;
    xor.b64 %rd3, %rd4, %rd6;
    shl.b64 %rd4, %rd3, 64;
    sub.s64 %rd3, %rd3, %rd4;
    ld.param.u64 %rd7, [out];
    shl.b32 %r1, %r1, 3;
    cvt.u64.u32 %rd8, %r1;
    add.s64 %rd7, %rd7, %rd8;
    st.global.u64 [%rd7], %rd3;
    ret;
}
"""


def _signs(value: int) -> int:
    """What SIGNS makes of a number."""

    def signed(number: int, bits: int = 32) -> int:
        return (number + (1 << bits - 1)) % (1 << bits) - (1 << bits - 1)

    word, long = (1 << 32) - 1, (1 << 64) - 1
    result = 0
    for step in range(20):
        less = value - 5 & word
        difference = step - less & word
        value = less * difference + 7 & word
        result ^= signed(value) >> 3 & word
        field = (value >> 5) & (-3 & word)
        field |= field << 31 & word
        opposite = ~difference & word
        if signed(opposite) < signed(field):
            result = result * field & word
        if opposite < field:
            result = result + opposite & word
    shifted = (signed(result) * -3 & long) << 33 & long
    return result * value ^ signed(shifted, 64) >> 7 & long


def test_signs_of_whole_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of sums, products and bits it does not matter whether their operands have one: these are not converted,
    and what is compared, widened or shifted to the right is as its instruction says.
    """
    texts = []
    compile_functions = function.functions  # type: ignore[attr-defined]

    def noted(text: str, *arguments: Any, **more: Any) -> Any:
        texts.append(text)
        return compile_functions(text, *arguments, **more)

    monkeypatch.setattr(function, "functions", noted)
    machine = Machine()
    values = np.random.default_rng(1).integers(0, 1 << 32, 64, np.uint32)
    out = machine.zeros(64, np.uint64)
    machine.run(Module(SIGNS, machine.memory), "signs", 1, 64, machine.array(values), out)
    assert out.get().tolist() == [_signs(one) for one in values.tolist()]
    loop = texts[0].split("def block")[2]
    assert loop.count(".view(") < 9


SUMS = """
.version 7.1
.target sm_80
.address_size 64
.visible .entry sums(.param .u64 x, .param .u64 out, .param .u32 steps)
{
    .reg .b32 %r<9>;
    .reg .b64 %rd<9>;
    .reg .pred %p;
    ld.param.u64 %rd1, [x];
    ld.param.u64 %rd2, [out];
    ld.param.u32 %r6, [steps];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, 0;
again:
    mul.wide.u32 %rd3, %r1, 4;
    add.s64 %rd4, %rd1, %rd3;
    ld.global.u32 %r3, [%rd4];
    add.s64 %rd5, %rd3, %rd2;
    ld.global.u32 %r4, [%rd5];
    mad.lo.u32 %r3, %r4, 3, %r3;
    st.global.u32 [%rd5], %r3;
    add.s64 %rd6, %rd4, %rd3;
    ld.global.u32 %r5, [%rd6];
    add.u32 %r5, %r5, %r3;
    st.global.u32 [%rd5], %r5;
    xor.b32 %r1, %r1, 1;
    add.u32 %r2, %r2, 1;
    setp.lt.u32 %p, %r2, %r6;
    @%p bra again;
    ret;
}
"""


@pytest.mark.parametrize("steps", [1, 2, 5])
def test_addresses_with_a_common_offset(steps: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether they lie side by side is seen once for each offset; one is added to another array, too."""
    monkeypatch.setattr(settings.current, "machine_code", "never")
    seen = []
    is_row = GlobalMemory._is_row

    def noted(self: GlobalMemory, *arguments: Any) -> bool:
        seen.append(is_row(self, *arguments))
        return seen[-1]

    monkeypatch.setattr(GlobalMemory, "_is_row", noted)
    machine, count = Machine(), 1024
    x = np.random.default_rng(1).integers(0, 1 << 32, 2 * count, np.uint32)
    out = machine.zeros(count, np.uint32)
    arguments = (machine.array(x), out, np.uint32(steps))
    machine.run(Module(SUMS, machine.memory), "sums", 1, count, *arguments)
    expected, places = np.zeros(count, np.uint32), np.arange(count)
    for _ in range(steps):
        expected[places] = expected[places] * 3 + x[places] + x[2 * places]
        places = places ^ 1
    np.testing.assert_array_equal(out.get(), expected)
    assert seen.count(True) == (steps + 1) // 2
