"""Bulk copies of tensors: boxes of one to five dimensions, swizzles, edges, windows of pixels."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from cudapy.simulator.engine import fault
from cudapy.simulator.engine.fault import Fault
from cudapy.simulator.engine.tensor_map import TensorMap

from .machine import Machine

f16, f32, i32, u8, u16, u32 = np.float16, np.float32, np.int32, np.uint8, np.uint16, np.uint32

SOURCE = r"""
typedef unsigned long long Word;
struct __align__(64) Map { Word words[16]; };
struct At { int v[5]; };
__device__ unsigned at(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ void init(Word *b)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1; fence.mbarrier_init.release.cluster;"
                 :: "r"(at(b)) : "memory");
}
__device__ void expect(Word *b, unsigned n)
{ asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" :: "r"(at(b)), "r"(n) : "memory"); }
__device__ void wait(Word *b)
{
    unsigned over = 0;
    while (!over)
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0;"
                     " selp.u32 %0, 1, 0, p; }" : "=r"(over) : "r"(at(b)) : "memory");
}
#define ONE "{%3}"
#define TWO "{%3, %4}"
#define THREE "{%3, %4, %5}"
#define FOUR "{%3, %4, %5, %6}"
#define FIVE "{%3, %4, %5, %6, %7}"
#define VALUES "r"(c.v[0]), "r"(c.v[1]), "r"(c.v[2]), "r"(c.v[3]), "r"(c.v[4])
#define LOAD(rank, form)                                                                                     \
    case rank:                                                                                               \
        asm volatile("cp.async.bulk.tensor." #rank "d.shared::cluster.global.tile"                           \
                     ".mbarrier::complete_tx::bytes [%0], [%1, " form "], [%2];"                             \
                     :: "r"(at(box)), "l"(&map), "r"(at(&b)), VALUES : "memory");                            \
        break
#define STORE(rank, form)                                                                                    \
    case rank:                                                                                               \
        asm volatile("cp.async.bulk.tensor." #rank "d.global.shared::cta.bulk_group [%1, " form "], [%0];"   \
                     :: "r"(at(box)), "l"(&map), "r"(0), VALUES : "memory");                                 \
        break
extern "C" __global__ void load(const __grid_constant__ Map map, At c, int rank, int bytes, int *out)
{
    extern __shared__ __align__(1024) int box[];
    __shared__ Word b;
    for (int i = threadIdx.x; i < bytes / 4; i += blockDim.x) box[i] = 0xABABABAB;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    if (threadIdx.x == 0) init(&b);
    __syncthreads();
    if (threadIdx.x == 0) {
        expect(&b, bytes);
        switch (rank) {
            LOAD(1, ONE); LOAD(2, TWO); LOAD(3, THREE); LOAD(4, FOUR); LOAD(5, FIVE);
        }
    }
    wait(&b);
    for (int i = threadIdx.x; i < bytes / 4; i += blockDim.x) out[i] = box[i];
}
extern "C" __global__ void store(const __grid_constant__ Map map, At c, int rank, int bytes, const int *in)
{
    extern __shared__ __align__(1024) int box[];
    for (int i = threadIdx.x; i < bytes / 4; i += blockDim.x) box[i] = in[i];
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0) {
        switch (rank) {
            STORE(1, ONE); STORE(2, TWO); STORE(3, THREE); STORE(4, FOUR); STORE(5, FIVE);
        case 6:  // a reduction in two dimensions
            asm volatile("cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group"
                         " [%1, {%2, %3}], [%0];"
                         :: "r"(at(box)), "l"(&map), "r"(c.v[0]), "r"(c.v[1]) : "memory");
        }
        asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0;" ::: "memory");
    }
}
extern "C" __global__ void to_all(const __grid_constant__ Map map, int *out)
{
    __shared__ __align__(128) int box[2][64];
    __shared__ Word b;
    unsigned t = threadIdx.x, rank = blockIdx.x;
    if (t == 0) init(&b), expect(&b, 512);
    asm volatile("barrier.cluster.arrive; barrier.cluster.wait;" ::: "memory");
    if (t == 0)  // each block brings half of it to both
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
                     ".multicast::cluster.L2::cache_hint [%0], [%1, {%2, %3}], [%4], %5, %6;"
                     :: "r"(at(box[rank])), "l"(&map), "r"(16 * rank), "r"(0), "r"(at(&b)),
                        "h"((short)3), "l"(0ull) : "memory");
    wait(&b);
    for (int i = t; i < 128; i += 32) out[rank * 128 + i] = box[i / 64][i % 64];
    asm volatile("barrier.cluster.arrive; barrier.cluster.wait;" ::: "memory");
}
extern "C" __global__ void windows(const __grid_constant__ Map map, At c, int w, int h, int bytes, int *out)
{
    extern __shared__ __align__(1024) int box[];
    __shared__ Word b;
    if (threadIdx.x == 0) {
        init(&b);
        expect(&b, bytes);
        asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes"
                     " [%0], [%1, {%3, %4, %5, %6}], [%2], {%7, %8};"
                     :: "r"(at(box)), "l"(&map), "r"(at(&b)), "r"(c.v[0]), "r"(c.v[1]), "r"(c.v[2]),
                        "r"(c.v[3]), "h"((short)w), "h"((short)h) : "memory");
    }
    __syncthreads();
    wait(&b);
    for (int i = threadIdx.x; i < bytes / 4; i += blockDim.x) out[i] = box[i];
}
extern "C" __global__ void wrong(const __grid_constant__ Map map, At c, int how)
{
    extern __shared__ __align__(1024) int box[];
    __shared__ Word b;
    init(&b);
    asm volatile("prefetch.tensormap [%0];" :: "l"(&map));
    if (how == 0)
        asm volatile("cp.async.bulk.tensor.1d.shared::cta.global.mbarrier::complete_tx::bytes"
                     " [%0], [%1, {%3}], [%2];"
                     :: "r"(at(box)), "l"(&map), "r"(at(&b)), "r"(0) : "memory");
    if (how == 1)
        asm volatile("cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes"
                     " [%0], [%1, {%3, %4}], [%2];"
                     :: "r"(at(box + how * 16)), "l"(&map), "r"(at(&b)), "r"(0), "r"(0) : "memory");
    if (how == 2)
        asm volatile("cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes"
                     " [%0], [%1, {%3, %4}], [%2];"
                     :: "r"(at(box)), "l"(&map), "r"(at(&b)), "r"(0), "r"(0) : "memory");
}
"""


KINDS = {"u8": u8, "u16": u16, "s32": i32, "f16": f16, "f32": f32, "f64": np.float64, "bf16": u16}


def described(array: Any, tensor: Any, kind: str, box: tuple[int, ...], **more: Any) -> TensorMap:
    """The tensor map of an Array; `tensor` has its values, slowest dimension first."""
    strides = tuple(reversed(tensor.strides[:-1]))
    steps = more.pop("steps", (1,) * tensor.ndim)
    options = {"swizzle": 0, "fills_nan": False, **more}
    return TensorMap(kind, array.address, tensor.shape[::-1], strides, steps, box, **options)


def numbers(*values: int) -> bytes:
    """Coordinates, filled up to five."""
    return np.array((*values, 0, 0, 0, 0, 0)[:5], i32).tobytes()


def cut(tensor: Any, start: tuple[int, ...], box: tuple[int, ...], steps: tuple[int, ...], fill: Any) -> Any:
    """The box that starts at `start`, element by element; all three are fastest dimension first."""
    counts = [
        -(-size // (step if axis else 1)) for axis, (size, step) in enumerate(zip(box, steps, strict=True))
    ]
    found = np.full(counts[::-1], fill, tensor.dtype)
    for place in itertools.product(*map(range, counts)):
        where = [
            s + p * (t if axis else 1) for axis, (s, p, t) in enumerate(zip(start, place, steps, strict=True))
        ]
        if all(0 <= w < size for w, size in zip(where, tensor.shape[::-1], strict=True)):
            found[place[::-1]] = tensor[tuple(where[::-1])]
    return found


def load(machine: Machine, tensor: TensorMap, start: tuple[int, ...], result: Any) -> Any:
    """What shared memory holds then, as an array like `result`."""
    out = machine.zeros(result.nbytes // 4, i32)
    machine.run(
        machine.load(SOURCE, 90), "load", 1, 32, tensor.pack(), numbers(*start), i32(len(start)),
        i32(result.nbytes), out, shared=result.nbytes,
    )  # fmt: skip
    return out.get().view(result.dtype).reshape(result.shape)


LOADED = [
    ("f32", (52,), (64,), (-4,), (1,)),
    ("f32", (50,), (64,), (-4,), (1,)),
    ("s32", (20, 32), (16, 5), (20, 17), (1, 1)),
    ("u8", (9, 64), (32, 4), (-16, -2), (1, 1)),
    ("u8", (9, 64), (128, 12), (-48, -1), (1, 1)),
    ("f16", (6, 7, 16), (16, 3, 2), (8, 5, 5), (1, 1, 1)),
    ("f64", (4, 3, 5, 6), (4, 3, 2, 2), (4, -1, 1, 3), (1, 1, 1, 1)),
    ("u16", (3, 4, 3, 5, 16), (16, 2, 3, 2, 2), (-8, 3, -1, 3, 2), (1, 1, 1, 1, 1)),
    ("s32", (20, 9, 8), (8, 7, 8), (4, 1, 3), (2, 3, 4)),
]
"""Type, shape of the tensor, and of the box, where it starts, and its steps (the fastest dimension first)."""
STORED = [
    ("f32", (52,), (64,), (4,), (1,)),
    ("s32", (20, 32), (16, 5), (20, 17), (1, 1)),
    ("u8", (9, 64), (32, 4), (48, 7), (1, 1)),
    ("u8", (9, 64), (128, 12), (0, 0), (1, 1)),
    ("f16", (6, 7, 16), (16, 3, 2), (8, 5, 5), (1, 1, 1)),
    ("f64", (4, 3, 5, 6), (4, 3, 2, 2), (4, 3, 2, 3), (1, 1, 1, 1)),
    ("u16", (3, 4, 3, 5, 16), (16, 2, 3, 2, 2), (8, 4, 0, 3, 2), (1, 1, 1, 1, 1)),
    ("s32", (20, 9, 8), (8, 7, 8), (4, 1, 3), (2, 3, 4)),
]
"""The same. Rows are whole parts of 16 bytes: of others hardware may write what is behind them."""


@pytest.mark.parametrize("kind, shape, box, start, steps", LOADED)
def test_boxes(
    machine: Machine, kind: str, shape: Any, box: tuple[int, ...], start: tuple[int, ...], steps: Any
) -> None:
    values = np.random.default_rng(1).integers(1, 200, shape).astype(KINDS[kind])
    array = machine.array(values)
    expected = cut(values, start, box, steps, 0)
    tensor = described(array, values, kind, box, steps=steps)
    assert np.array_equal(load(machine, tensor, start, expected), expected)


@pytest.mark.parametrize("kind", ["f16", "f32", "f64"])
def test_what_lies_outside_is_nan(machine: Machine, kind: str) -> None:
    values = np.ones((4, 16), KINDS[kind])
    expected = cut(values, (8, -1), (16, 3), (1, 1), np.nan)
    tensor = described(machine.array(values), values, kind, (16, 3), fills_nan=True)
    assert np.array_equal(load(machine, tensor, (8, -1), expected), expected, equal_nan=True)
    assert np.isnan(expected).any()


@pytest.mark.parametrize("width", [32, 64, 128])
def test_swizzles(machine: Machine, width: int) -> None:
    """The 16-byte part j of row i of 128 bytes lies where part j ^ i % 8 would, and so on."""
    values = np.arange(40 * 80, dtype=u16).reshape(40, 80)
    columns, rows = width // 2, 24
    plain = values[3 : 3 + rows, 8 : 8 + columns].reshape(rows, width // 16, 8)
    expected = np.empty_like(plain)
    for row, part in np.ndindex(rows, width // 16):
        expected[row, part ^ row // (128 // width) % (width // 16)] = plain[row, part]
    tensor = described(machine.array(values), values, "u16", (columns, rows), swizzle=width)
    assert np.array_equal(load(machine, tensor, (8, 3), expected), expected)
    copy = machine.zeros((40, 80), u16)
    back = described(copy, values, "u16", (columns, rows), swizzle=width)
    machine.run(
        machine.load(SOURCE, 90), "store", 1, 32, back.pack(), numbers(8, 3), i32(2), i32(expected.nbytes),
        machine.array(expected), shared=expected.nbytes,
    )  # fmt: skip
    whole = np.zeros_like(values)
    whole[3 : 3 + rows, 8 : 8 + columns] = values[3 : 3 + rows, 8 : 8 + columns]
    assert np.array_equal(copy.get(), whole)


@pytest.mark.parametrize("kind, shape, box, start, steps", STORED)
def test_stores(
    machine: Machine, kind: str, shape: Any, box: tuple[int, ...], start: tuple[int, ...], steps: Any
) -> None:
    places = np.arange(int(np.prod(shape))).reshape(shape)
    wanted = cut(places, start, box, steps, -1)
    data = np.random.default_rng(2).integers(1, 200, wanted.shape).astype(KINDS[kind])
    expected = np.zeros(shape, KINDS[kind])
    expected.flat[wanted[wanted >= 0]] = data[wanted >= 0]
    out = machine.zeros(shape, KINDS[kind])
    tensor = described(out, expected, kind, box, steps=steps)
    machine.run(
        machine.load(SOURCE, 90), "store", 1, 32, tensor.pack(), numbers(*start), i32(len(start)),
        i32(data.nbytes), machine.array(data), shared=data.nbytes,
    )  # fmt: skip
    assert np.array_equal(out.get(), expected)


def test_a_reduction(machine: Machine) -> None:
    values = np.arange(200, dtype=f32).reshape(10, 20)
    data = np.arange(32, dtype=f32).reshape(4, 8) + f32(0.5)
    out = machine.array(values)
    machine.run(
        machine.load(SOURCE, 90), "store", 1, 32, described(out, values, "f32", (8, 4)).pack(),
        numbers(16, 8), i32(6), i32(data.nbytes), machine.array(data), shared=data.nbytes,
    )  # fmt: skip
    expected = values.copy()
    expected[8:, 16:] += data[:2, :4]
    assert np.array_equal(out.get(), expected)


def test_boxes_for_several_blocks(machine: Machine) -> None:
    values = np.arange(8 * 32, dtype=i32).reshape(8, 32)
    out = machine.zeros((2, 2, 4, 16), i32)
    tensor = described(machine.array(values), values, "s32", (16, 4))
    machine.run(machine.load(SOURCE, 90), "to_all", 2, 32, tensor.pack(), out, cluster=(2, 1, 1))
    assert np.array_equal(out.get(), [[values[:4, :16], values[:4, 16:]]] * 2)


@pytest.mark.parametrize("step", [1, 2])
def test_windows_of_pixels(machine: Machine, step: int) -> None:
    """All inputs of one place of a 3 x 3 filter, with a border of one pixel, from two pictures."""
    pictures = np.arange(2 * 5 * 6 * 8, dtype=i32).reshape(2, 5, 6, 8) + 1  # rows, columns, channels
    padded = np.pad(pictures, ((0, 0), (1, 1), (1, 1), (0, 0)))
    for h, w in ((0, 0), (1, 2), (2, 1)):
        outputs = padded[:, h : h + 5 : step, w : w + 6 : step, 4:]
        expected = outputs.reshape(-1, 4)[3 : 3 + 12]  # of all places, in order
        tensor = described(
            machine.array(pictures), pictures, "s32", (4, 12),
            lower=(-1, -1), upper=(-1, -1), steps=(1, step, step, 1),
        )  # fmt: skip
        out = machine.zeros(expected.shape, i32)
        across = 6 // step
        start = numbers(4, 3 % across * step - 1, 3 // across * step - 1, 0)
        machine.run(
            machine.load(SOURCE, 90), "windows", 1, 32, tensor.pack(), start, i32(w), i32(h),
            i32(expected.nbytes), out, shared=expected.nbytes,
        )  # fmt: skip
        assert np.array_equal(out.get(), expected)


def fail(machine: Machine, tensor: bytes, how: int) -> Fault:
    with pytest.raises(Fault) as found:
        machine.run(machine.load(SOURCE, 90), "wrong", 1, 1, tensor, numbers(), i32(how), shared=1024)
    assert "in wrong" in found.value.report and "block (0,0,0) thread (0,0,0)" in found.value.report
    return found.value


def test_what_is_wrong(machine: Machine) -> None:
    values = np.zeros((8, 32), i32)
    array = machine.array(values)
    right = described(array, values, "s32", (16, 4))
    assert "What is not a tensor map" in fail(machine, bytes(128), 2).report
    found = fail(machine, right.pack(), 0)
    assert found.status == fault.ILLEGAL_INSTRUCTION
    assert "A copy in 1 dimensions of a tensor of 2" in found.report
    found = fail(machine, right.pack(), 1)
    assert found.status == fault.MISALIGNED_ADDRESS and "Misaligned __shared__ write" in found.report
    narrow = described(array, values, "s32", (16, 4), swizzle=128)
    assert "A swizzle of 128 bytes of rows of 64" in fail(machine, narrow.pack(), 2).report
    windows = described(array, values.reshape(2, 4, 32), "s32", (4, 4), lower=(0,), upper=(0,))
    assert "A copy in 2 dimensions of a tensor of 3" in fail(machine, windows.pack(), 2).report
    array.free()
    assert "Invalid __global__ read of a tensor" in fail(machine, right.pack(), 2).report


@pytest.mark.parametrize("name, how", [("load", 2), ("store", 2), ("store", 6), ("windows", 4)])
@pytest.mark.parametrize("kind, first", [("s32", 2), ("s32", -3), ("f16", 4), ("u8", -7), ("f64", 1)])
def test_where_rows_cannot_start(machine: Machine, name: str, how: int, kind: str, first: int) -> None:
    """Loads, stores, reductions and windows of pixels."""
    is_windowed = name == "windows"
    values = np.zeros((2, 4, 8, 64) if is_windowed else (8, 64), KINDS[kind])
    more: dict[str, Any] = {"lower": (0, 0), "upper": (0, 0)} if is_windowed else {}
    tensor = described(machine.array(values), values, kind, (32, 4), **more).pack()
    size = 128 * values.itemsize
    numbered = (i32(0), i32(0)) if is_windowed else (i32(how),)
    with pytest.raises(Fault) as found:
        machine.run(
            machine.load(SOURCE, 90), name, 1, 32, tensor, numbers(first, 1), *numbered, i32(size),
            machine.zeros(size // 4, i32), shared=size,
        )  # fmt: skip
    assert found.value.status == fault.ILLEGAL_INSTRUCTION
    assert found.value.report.startswith(
        f"A copy that starts {first * values.itemsize} bytes into the rows of a tensor: its first "
        f"coordinate, {first}, must be a multiple of {16 // values.itemsize} elements, which are 16 bytes\n"
        f"    in {name}"
    )
    assert "bulk.tensor" in found.value.report and "block (0,0,0) thread (0,0,0)" in found.value.report


REFUSED = [one for one in LOADED if min(one[3]) < 0]


@pytest.mark.parametrize(
    "how, kind, shape, box, start",
    [
        *((len(shape), kind, shape, box, start) for kind, shape, box, start, _ in REFUSED),
        *((6, "f32", (10, 20), (8, 4), start) for start in ((16, -1), (-4, 0), (-64, -64))),
    ],
)
def test_stores_cannot_start_before_a_tensor(
    machine: Machine, how: int, kind: str, shape: Any, box: tuple[int, ...], start: tuple[int, ...]
) -> None:
    """Nor can reductions."""
    values = np.zeros(shape, KINDS[kind])
    out = machine.array(values)
    size = int(np.prod(box)) * values.itemsize
    with pytest.raises(Fault) as found:
        machine.run(
            machine.load(SOURCE, 90), "store", 1, 32, described(out, values, kind, box).pack(),
            numbers(*start), i32(how), i32(size), machine.array(np.ones(size // 4, i32)), shared=size,
        )  # fmt: skip
    assert found.value.status == fault.ILLEGAL_INSTRUCTION
    corner = ", ".join(map(str, start))
    assert found.value.report.startswith(
        f"A copy to a tensor that starts at ({corner}): only loads have negative coordinates\n    in store"
    )
    assert "bulk.tensor" in found.value.report and "block (0,0,0) thread (0,0,0)" in found.value.report
    assert not out.get().any()


def test_a_map_survives_packing() -> None:
    tensor = TensorMap(
        "f16", 1 << 47, (1 << 32, 3, 4, 5), (16, (1 << 40) - 16, 32), (1, 8, 2, 3), (256, 1024), 64, True,
        (-128, 127), (5, -6),
    )  # fmt: skip
    assert len(tensor.pack()) == 128
    assert TensorMap.unpack(tensor.pack()) == tensor
    with pytest.raises(ValueError, match="there is no tensor map"):
        TensorMap.unpack(bytes(128))
