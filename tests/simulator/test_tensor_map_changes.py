"""tensormap.replace and tensormap.cp_fenceproxy: tensor maps that kernels change, and copies with them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cudapy.simulator.engine import fault
from cudapy.simulator.engine.fault import Fault
from cudapy.simulator.engine.module import Module, PTXError
from cudapy.simulator.engine.tensor_map import TensorMap

from .machine import Machine
from .test_tensors import cut, described

i32, f32, u8 = np.int32, np.float32, np.uint8

CHANGES = {
    "global_address": ("b64", ""),
    "global_dim": ("b32", "1, "),
    "global_stride": ("b64", "0, "),
    "box_dim": ("b32", "0, "),
    "element_stride": ("b32", "1, "),
    "rank": ("b32", ""),
}
"""Fields whose values are registers: the type, and the number of a dimension."""

SOURCE = r"""
typedef unsigned long long Word;
struct __align__(64) Map { Word words[16]; };
__device__ unsigned at(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }
#define SHARED(field, type, letter, place, value)                                                            \
    asm volatile("tensormap.replace.tile." field ".shared::cta.b1024." type " [%0], " place "%1;"            \
                 :: "r"(at(&own)), letter(value) : "memory")
#define CONSTANT(field, value)                                                                               \
    asm volatile("tensormap.replace.tile." field ".shared::cta.b1024.b32 [%0], " value ";"                   \
                 :: "r"(at(&own)) : "memory")
// A tensor of two dimensions becomes another one, of three.
extern "C" __global__ void change(const __grid_constant__ Map map, Map *made, const int *address, int *out)
{
    __shared__ __align__(128) Map own;
    __shared__ __align__(128) int box[2 * 3 * 4];
    __shared__ Word b;
    int t = threadIdx.x;
    if (t < 16) own.words[t] = map.words[t];
    __syncwarp();
    if (t == 0) {
        SHARED("global_address", "b64", "l", "", address);
        SHARED("rank", "b32", "r", "", 2);
        SHARED("global_dim", "b32", "r", "0, ", 12);
        SHARED("global_dim", "b32", "r", "1, ", 5);
        SHARED("global_dim", "b32", "r", "2, ", 7);
        SHARED("global_stride", "b64", "l", "0, ", 48ull);
        SHARED("global_stride", "b64", "l", "1, ", 240ull);
        SHARED("box_dim", "b32", "r", "0, ", 4);
        SHARED("box_dim", "b32", "r", "1, ", 3);
        SHARED("box_dim", "b32", "r", "2, ", 4);
        SHARED("element_stride", "b32", "r", "0, ", 1);
        SHARED("element_stride", "b32", "r", "1, ", 1);
        SHARED("element_stride", "b32", "r", "2, ", 2);
        CONSTANT("elemtype", "3");
        CONSTANT("swizzle_mode", "0");
        CONSTANT("interleave_layout", "0");
        CONSTANT("fill_mode", "0");
    }
    __syncwarp();
    asm volatile("tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned"
                 " [%0], [%1], 128;" :: "l"(__cvta_generic_to_global(made)), "r"(at(&own)) : "memory");
    asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" :: "l"(made) : "memory");
    if (t == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1; fence.mbarrier_init.release.cluster;"
                     :: "r"(at(&b)) : "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 96;" :: "r"(at(&b)) : "memory");
        asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes"
                     " [%0], [%1, {%3, %4, %5}], [%2];"
                     :: "r"(at(box)), "l"(made), "r"(at(&b)), "r"(8), "r"(3), "r"(4) : "memory");
    }
    __syncwarp();
    unsigned over = 0;
    while (!over)
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0;"
                     " selp.u32 %0, 1, 0, p; }" : "=r"(over) : "r"(at(&b)) : "memory");
    if (t < 24) out[t] = box[t];
}
"""


def first_map(machine: Any) -> TensorMap:
    tensor = np.zeros((8, 16), f32)
    return described(machine.array(tensor), tensor, "f32", (16, 4), fills_nan=True, swizzle=64, steps=(1, 3))


def change(machine: Any, before: bytes = b"") -> tuple[Any, Any, Any, Any]:
    """A tensor, its array, what a copy brought of it, and the tensor map that the kernel made for it."""
    before = before or first_map(machine).pack()
    tensor = np.random.default_rng(1).integers(0, 1 << 30, (7, 5, 12)).astype(i32)
    address, out, made = machine.array(tensor), machine.zeros((2, 3, 4), i32), machine.zeros(128, u8)
    machine.run(machine.load(SOURCE, "90a"), "change", 1, 32, before, made, address, out)
    return tensor, address, out, made


def test_a_tensor_map_changed_in_shared_memory(machine: Any) -> None:
    tensor, _, out, _ = change(machine)
    expected = cut(tensor, (8, 3, 4), (4, 3, 4), (1, 1, 2), 0)
    assert np.array_equal(out.get(), expected)


def test_the_changed_tensor_map(machine: Machine) -> None:
    tensor, address, _, made = change(machine)
    assert TensorMap.unpack(made.get().tobytes()) == described(
        address, tensor, "s32", (4, 3, 4), steps=(1, 1, 2)
    )


def test_a_tensor_map_that_a_kernel_makes_from_zeros(machine: Machine) -> None:
    tensor, address, out, made = change(machine, bytes(128))
    assert TensorMap.unpack(made.get().tobytes()) == described(
        address, tensor, "s32", (4, 3, 4), steps=(1, 1, 2)
    )
    assert np.array_equal(out.get(), cut(tensor, (8, 3, 4), (4, 3, 4), (1, 1, 2), 0))


def test_a_field_of_later_devices(machine: Machine) -> None:
    text = program("swizzle_atomicity", "b32", "", "0")
    with pytest.raises(PTXError, match=r"it takes .target sm_100 or newer"):
        Module(text, machine.memory)
    before = first_map(machine)
    assert changed(machine, text.replace("sm_90a", "sm_100a"), 0, before.pack()) == before


def program(field: str, kind: str, place: str, value: str, space: str = ".global") -> str:
    return f"""
.version 8.7
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 map, .param .u64 value)
{{
    .reg .b64 %m, %w; .reg .b32 %n;
    ld.param.u64 %m, [map]; ld.param.u64 %w, [value]; cvt.u32.u64 %n, %w;
    tensormap.replace.tile.{field}{space}.b1024.{kind} [%m], {place}{value};
    ret;
}}
"""


def changed(machine: Machine, text: str, value: int = 0, before: bytes | None = None) -> TensorMap:
    data = first_map(machine).pack() if before is None else before
    at = machine.array(np.frombuffer(data, u8))
    machine.run(Module(text, machine.memory), "k", 1, 1, at, np.uint64(value))
    return TensorMap.unpack(at.get().tobytes())


@pytest.mark.parametrize("space", ["", ".global"])
def test_one_field_changes_and_no_other(machine: Machine, space: str) -> None:
    before = first_map(machine)
    after: dict[str, tuple[int, Any]] = {
        "global_address": (1 << 20, {"address": 1 << 20}),
        "global_dim": (77, {"sizes": (16, 77)}),
        "global_stride": (4096, {"strides": (4096,)}),
        "box_dim": (8, {"box": (8, 4)}),
        "element_stride": (2, {"steps": (1, 2)}),
        "rank": (0, {"sizes": (16,), "strides": (), "steps": (1,), "box": (16,)}),
    }
    for field, (value, more) in after.items():
        kind, place = CHANGES[field]
        text = program(field, kind, place, "%w" if kind == "b64" else "%n", space)
        made = changed(machine, text, value, before.pack())
        assert made == TensorMap(**{**vars(before), **more}), field


@pytest.mark.parametrize(
    "field, value, more",
    [
        *(
            ("elemtype", number, {"kind": kind})
            for number, kind in enumerate(("u8", "u16", "u32", "s32", "u64", "s64", "f16", "f32"))
        ),
        ("elemtype", 9, {"kind": "f64"}),
        ("elemtype", 10, {"kind": "bf16"}),
        *(("swizzle_mode", number, {"swizzle": bytes_}) for number, bytes_ in enumerate((0, 32, 64, 128))),
        ("fill_mode", 0, {"fills_nan": False}),
        ("interleave_layout", 0, {}),
    ],
)
def test_constants(machine: Machine, field: str, value: int, more: dict[str, Any]) -> None:
    before = first_map(machine)
    made = changed(machine, program(field, "b32", "", str(value)), 0, before.pack())
    assert made == TensorMap(**{**vars(before), **more})


@pytest.mark.parametrize(
    "field, kind, place, value, why",
    [
        ("rank", "b32", "", "5", "rank is 0 to 4, not 5"),
        ("global_dim", "b32", "5, ", "%n", "the number of a dimension is a number below 5"),
        ("global_stride", "b64", "4, ", "%w", "the number of a dimension is a number below 4"),
        ("global_dim", "b32", "", "%n", "the number of a dimension is expected"),
        ("global_stride", "b64", "0, ", "24", "global_stride is a multiple of 16, not 24"),
        ("elemtype", "b32", "", "%n", "elemtype is a number, no register"),
        ("elemtype", "b32", "", "8", "the simulator has no tensor maps with elemtype 8"),
        ("swizzle_mode", "b32", "", "4", "the simulator has no tensor maps with swizzle_mode 4"),
    ],
)
def test_what_is_no_value_of_a_field(
    machine: Machine, field: str, kind: str, place: str, value: str, why: str
) -> None:
    with pytest.raises(PTXError, match=why):
        Module(program(field, kind, place, value), machine.memory)


def test_what_is_no_value_when_it_runs(machine: Machine) -> None:
    with pytest.raises(Fault, match="A tensor map whose box_dim is 1 to 256, not 257") as caught:
        changed(machine, program("box_dim", "b32", "0, ", "%n"), 257)
    assert caught.value.status == fault.ILLEGAL_INSTRUCTION


def test_what_is_no_tensor_map(machine: Machine) -> None:
    with pytest.raises(Fault, match="What is not a tensor map of boxes"):
        changed(machine, program("rank", "b32", "", "%n"), 1, b"\1" * 128)
