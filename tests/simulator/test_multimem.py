"""Multicast memory: multimem instructions, multicast objects, and what is refused."""

from __future__ import annotations

import functools
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from cudapy.simulator.engine.fault import Fault
from cudapy.simulator.engine.instructions import match, multimem
from cudapy.simulator.engine.memory import Member, Memory
from cudapy.simulator.engine.module import Module
from cudapy.simulator.engine.ptx.syntax import PTXError
from cudapy.simulator.engine.ptx.types import TYPES
from cudapy.simulator.memory.pages import IS_SUPPORTED, blank

from .assembled import assemble
from .machine import Machine, ptx
from .test_compared import opcodes_of
from .test_device import output
from .test_tensors import described
from .test_tensors import load as load_tensor

pytestmark = pytest.mark.skipif(not IS_SUPPORTED, reason="virtual memory is simulated on Linux alone")

THREADS, BYTES = 64, 16
SIZE = THREADS * BYTES
REGISTERS = {1: "%c", 2: "%h", 4: "%r", 8: "%d"}
FORMS = sorted(
    {(one, line.since) for line in multimem.RULES for one in opcodes_of(line.pattern) if ".global" in one}
)
OPERATIONS: dict[str, Any] = {
    "add": np.add, "min": np.minimum, "max": np.maximum,
    "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor,
}  # fmt: skip


def kernel(name: str, opcode: str) -> str:
    """A kernel of a multicast address, one to load from and one to store to: 16 bytes for each thread."""
    parts = opcode.split(".")
    kind = TYPES[parts[-1]]
    items = next((int(part[1:]) for part in parts if part[0] == "v" and part[1:].isdigit()), 1)
    names = [f"{REGISTERS[kind.size]}{i}" for i in range(items)]
    data = "{" + ", ".join(names) + "}" if items > 1 else names[0]
    plain = f"b{8 * kind.size}"
    moves = [
        (f"ld.global.{plain} {one}, [%b+{kind.size * i}];", f"st.global.{plain} [%o+{kind.size * i}], {one};")
        for i, one in enumerate(names)
    ]
    if parts[1] == "ld_reduce":
        code = [f"{opcode} {data}, [%m];", *(store for _, store in moves)]
    else:
        code = [*(load for load, _ in moves), f"{opcode} [%m], {data};"]
    body = "\n".join(code)
    return f"""
.visible .entry {name}(.param .b64 m, .param .b64 b, .param .b64 o)
{{
.reg .b8 %c<16>; .reg .b16 %h<8>; .reg .b32 %r<8>, %t; .reg .b64 %d<2>, %m, %b, %o, %w;
ld.param.b64 %m, [m]; ld.param.b64 %b, [b]; ld.param.b64 %o, [o];
mov.b32 %t, %tid.x; mul.wide.u32 %w, %t, {BYTES};
add.u64 %m, %m, %w; add.u64 %b, %b, %w; add.u64 %o, %o, %w;
{body}
ret;
}}
"""


@functools.cache
def program(since: int) -> str:
    """A kernel for each form."""
    kernels = [kernel(f"k{number}", one) for number, (one, of) in enumerate(FORMS) if of <= since]
    return f".version 8.8\n.target sm_{since}a\n.address_size 64\n" + "\n".join(kernels)


@pytest.mark.parametrize("since", [90, 100])
def test_an_assembler_takes_every_form(nvrtc: ModuleType, since: int) -> None:
    assemble(program(since), f"sm_{since}a")


class Team:
    """Multicast memory of a machine; its own addresses cannot be touched."""

    def __init__(self, machine: Machine, rows: Any) -> None:
        self.arrays = [machine.array(row) for row in rows]
        size = self.arrays[0].nbytes
        self.address = blank(0, size)
        self.members = {number: Member(one.address) for number, one in enumerate(self.arrays)}
        for member in self.members.values():
            member.bound.append((0, size))
        machine.memory.adopt(self.address, size, "multicast", team=self.members)

    @property
    def argument(self) -> bytes:
        return self.address.to_bytes(8, "little")


@functools.cache
def numbers(name: str) -> Any:
    """What the 256 codes of e4m3 or e5m2 stand for."""
    bits = {"e4m3": 3, "e5m2": 2}[name]
    code = np.arange(256)
    exponent, fraction = code >> bits & (1 << 7 - bits) - 1, code & (1 << bits) - 1
    bias = (1 << 6 - bits) - 1
    fraction = fraction / 2**bits + (exponent > 0)
    size = fraction * 2.0 ** (np.maximum(exponent, 1) - bias)
    return np.where(code < 128, size, -size)


def encoded(values: Any, kind: str) -> Any:
    """Whole numbers as items of a type, of which several may share a register; as bytes."""
    name = kind.split("x")[0]
    if name in ("e4m3", "e5m2"):
        codes = {float(value): code for code, value in reversed(list(enumerate(numbers(name))))}
        return np.vectorize(lambda value: codes[float(value)])(values).astype(np.uint8)
    if name == "bf16":
        return (values.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16).view(np.uint8)
    return values.astype(TYPES[name].code).view(np.uint8)


@pytest.mark.parametrize("devices", [2, pytest.param(4, marks=pytest.mark.thorough)])
@pytest.mark.parametrize("number", range(len(FORMS)), ids=[one for one, _ in FORMS])
def test_every_form(machine: Machine, number: int, devices: int) -> None:
    opcode, since = FORMS[number]
    parts = opcode.split(".")
    kind = parts[-1]
    groups = match(opcode).groups
    size = 1 if kind[0] == "e" else TYPES[kind.split("x")[0]].size
    used = TYPES[kind].size * int((groups.get("vector") or "v1")[1:]) // size  # items of a thread
    random = np.random.default_rng(number)
    low, high = (0, 256) if kind[0] in "usb" and kind[1] != "f" else (-2, 3)
    values = random.integers(low, high, (devices, THREADS, BYTES // size))
    given = random.integers(low, high, (THREADS, BYTES // size))
    text = f".version 8.8\n.target sm_{since}a\n.address_size 64\n" + kernel("k", opcode)
    team = Team(machine, [encoded(row, kind) for row in values])
    out = machine.array(encoded(np.zeros_like(given), kind))
    machine.run(
        Module(text, machine.memory), "k", 1, THREADS, team.argument, machine.array(encoded(given, kind)), out
    )
    expected, result = values.copy(), np.zeros_like(given)
    combine = OPERATIONS.get(groups.get("op") or "")
    if parts[1] == "ld_reduce":
        result[:, :used] = combine.reduce(values)[:, :used]
    else:
        expected[:, :, :used] = (combine(values, given) if combine else given)[..., :used]
    assert np.array_equal(out.get(), encoded(result, kind))
    for array, row in zip(team.arrays, expected, strict=True):
        assert np.array_equal(array.get(), encoded(row, kind))


def reduce_once(machine: Machine, opcode: str, values: list[int], dtype: str, target: int = 90) -> int:
    """The first item that a form makes of one word of each device."""
    rows = [np.full(SIZE // np.dtype(dtype).itemsize, value, dtype) for value in values]
    out = machine.zeros(SIZE // np.dtype(dtype).itemsize, dtype)
    text = f".version 8.8\n.target sm_{target}a\n.address_size 64\n" + kernel("k", opcode)
    team = Team(machine, rows)
    machine.run(Module(text, machine.memory), "k", 1, THREADS, team.argument, out, out)
    return int(out.get()[0])


def test_the_precision_of_sums_on_the_way(machine: Machine) -> None:
    half = [0x6800, 0x3C00, 0x3C00]  # 2048 + 1 + 1: f16 has no 2049
    form = "multimem.ld_reduce.global.add{}.v2.f16"
    assert reduce_once(machine, form.format(""), half, "u2") == 0x6800
    assert reduce_once(machine, form.format(".acc::f32"), half, "u2") == 0x6801
    pair = [one | one << 16 for one in half]
    assert reduce_once(machine, "multimem.ld_reduce.global.add.acc::f32.f16x2", pair, "u4") == 0x68016801
    wide = [0x4380, 0x3F80, 0x3F80]  # 256 + 1 + 1: bf16 has no 257
    assert reduce_once(machine, form.replace("f16", "bf16").format(""), wide, "u2") == 0x4380
    assert reduce_once(machine, form.replace("f16", "bf16").format(".acc::f32"), wide, "u2") == 0x4381
    small = [0x58, 0x38, 0x38]  # 16 + 1 + 1: e4m3 has no 17
    form = "multimem.ld_reduce.global.add{}.v4.e4m3"
    assert reduce_once(machine, form.format(""), small, "u1", 100) == 0x58
    assert reduce_once(machine, form.format(".acc::f16"), small, "u1", 100) == 0x59


SOURCE = """
extern "C" __global__ void load(unsigned *x, unsigned *out) { out[threadIdx.x] = x[threadIdx.x]; }
extern "C" __global__ void store(unsigned *x, unsigned *out) { x[threadIdx.x] = 1; }
extern "C" __global__ void add(unsigned *x, unsigned *out) { atomicAdd(x, 1); }
extern "C" __global__ void bulk(unsigned *x, unsigned *out)
{
    __shared__ alignas(16) unsigned here[64];
    here[threadIdx.x] = 0;
    __syncthreads();
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 16;"
                 :: "l"(x), "r"((unsigned)__cvta_generic_to_shared(here)) : "memory");
}
extern "C" __global__ void wait(char *x, unsigned *out)
{
    unsigned sum;
    if (threadIdx.x % 2 == 0)
        do asm volatile("multimem.ld_reduce.relaxed.sys.global.add.u32 %0, [%1];"
                        : "=r"(sum) : "l"(x) : "memory");
        while (sum < 64);
    else
        asm volatile("multimem.red.relaxed.sys.global.add.u32 [%0], 1;" :: "l"(x) : "memory");
    out[threadIdx.x] = sum;
}
extern "C" __global__ void print(char *x, unsigned *out) { printf("%s\\n", x); }
extern "C" __global__ void reduce(char *x, unsigned *out)
{
    unsigned sum;
    asm volatile("multimem.ld_reduce.acquire.sys.add.u32 %0, [%1];"
                 : "=r"(sum) : "l"(x + 4 * threadIdx.x) : "memory");
    out[threadIdx.x] = sum;
}
extern "C" __global__ void both(char *x, char *y, unsigned *out)
{
    char *mine = (threadIdx.x & 1 ? y : x) + 4 * threadIdx.x;
    unsigned sum;
    asm volatile("multimem.ld_reduce.weak.global.add.u32 %0, [%1];" : "=r"(sum) : "l"(mine) : "memory");
    asm volatile("multimem.st.release.gpu.global.u32 [%0], %1;" :: "l"(mine), "r"(sum) : "memory");
    asm volatile("multimem.red.add.u32 [%0], %1;" :: "l"(mine), "r"(threadIdx.x) : "memory");
    out[threadIdx.x] = sum;
}
"""


def test_lanes_of_several_objects(machine: Machine) -> None:
    thread = np.arange(32, dtype=np.uint32)
    x, y = Team(machine, [thread, thread]), Team(machine, [thread + 1, thread + 2, thread + 3])
    out = machine.zeros(32, np.uint32)
    machine.run(machine.load(SOURCE, 90), "both", 1, 32, x.argument, y.argument, out)
    sums = np.where(thread & 1, 3 * thread + 6, 2 * thread)
    assert np.array_equal(out.get(), sums)
    for row in y.arrays:
        assert np.array_equal(row.get()[1::2], (sums + thread)[1::2])
    assert np.array_equal(y.arrays[0].get()[::2], (thread + 1)[::2])


def test_a_loop_that_waits(machine: Machine) -> None:
    """For other threads of its warp."""
    team, out = Team(machine, np.zeros((2, 16), np.uint32)), machine.zeros(64, np.uint32)
    machine.run(machine.load(SOURCE, 90), "wait", 1, 64, team.argument, out)
    assert (out.get()[::2] == 64).all()


@pytest.mark.parametrize(
    "name, report",
    [
        ("load", "Invalid __global__ read of 4 bytes"),
        ("store", "Invalid __global__ write of 4 bytes"),
        ("add", "Invalid __global__ atomic of 4 bytes"),
        ("bulk", "Invalid __global__ write of 16 bytes"),
    ],
)
def test_other_instructions_do_not_access_it(machine: Machine, name: str, report: str) -> None:
    team = Team(machine, np.zeros((2, 64), np.uint32))
    with pytest.raises(Fault, match=report) as found:
        machine.run(machine.load(SOURCE, 90), name, 1, 64, team.argument, machine.zeros(64, np.uint32))
    assert "in <multicast memory, 256 bytes at" in found.value.report
    assert ", which only multimem instructions access" in found.value.report
    assert found.value.status == 700


def test_tensors_do_not_lie_in_it(machine: Machine) -> None:
    team = Team(machine, np.zeros((2, 64), np.float32))
    tensor = described(team, np.zeros(64, np.float32), "f32", (64,))
    with pytest.raises(Fault, match=r"read of 4 bytes(.|\n)*which only multimem instructions access"):
        load_tensor(machine, tensor, (0,), np.zeros(64, np.float32))


def test_strings_do_not_lie_in_it(machine: Machine) -> None:
    team = Team(machine, np.zeros((2, 64), np.uint8))
    with pytest.raises(Fault, match=r"read of 1 bytes(.|\n)*which only multimem instructions access"):
        machine.run(machine.load(SOURCE, 90), "print", 1, 1, team.argument, team.argument)


def test_multimem_accesses_nothing_else(machine: Machine) -> None:
    module, out = machine.load(SOURCE, 90), machine.zeros(32, np.uint32)
    with pytest.raises(Fault, match=r"Invalid multimem read(.|\n)*, which is not multicast memory") as found:
        machine.run(module, "reduce", 1, 32, out, out)
    assert "in <device memory, 128 bytes at" in found.value.report
    with pytest.raises(Fault, match=r"Invalid multimem read(.|\n)*a null pointer"):
        machine.run(module, "reduce", 1, 32, np.uint64(0), out)
    team = Team(machine, np.zeros((2, 16), np.uint32))
    with pytest.raises(Fault, match=r"thread \(16,0,0\)(.|\n)*0 bytes past the end of multicast memory"):
        machine.run(module, "reduce", 1, 32, team.argument, out)
    with pytest.raises(Fault, match="Misaligned multimem read of 4 bytes"):
        machine.run(module, "reduce", 1, 8, np.uint64(team.address + 2), out)
    team.members[1].bound[:] = [(0, 16), (32, 64)]
    with pytest.raises(Fault, match=r"thread \(4,0,0\) and 3 more") as found:
        machine.run(module, "reduce", 1, 16, team.argument, out)
    assert "no memory of device 1 is bound there" in found.value.report


@pytest.mark.parametrize(
    "text, reason",
    [
        ("multimem.red.relaxed.gpu.global.add.s64 [%d], %d;", "does not support this; it has multimem"),
        ("multimem.red.weak.global.add.u32 [%d], %r;", "does not support this; it has multimem"),
        ("multimem.ld_reduce.global.add.v2.f64 {%d, %d}, [%d];", "does not support this; it has multimem"),
        ("multimem.ld_reduce.global.add.v2.f32 %r, [%d];", "a vector of 2 is expected"),
        ("multimem.st.global.e4m3x4 [%d], %r;", "sm_100"),
    ],
)
def test_forms_that_there_are_not(text: str, reason: str) -> None:
    head = (
        ".version 8.6\n.target sm_90a\n.address_size 64\n.visible .entry k()\n{\n.reg .b32 %r; .reg .b64 %d;"
    )
    with pytest.raises(PTXError, match=rf"line 7: {text[:8]}.*{reason}"):
        Module(f"{head}\n{text}\nret;\n}}\n", Memory())


def test_it_needs_a_newer_target(nvrtc: ModuleType) -> None:
    text = ptx(SOURCE, 90)
    assert "multimem" in text
    with pytest.raises(PTXError, match="sm_90"):
        Module(text.replace(".target sm_90", ".target sm_80"), Memory())


# -- The driver --------------------------------------------------------------------------------------------

START = '''
import ctypes, sys, threading
import numpy as np
from cudapy import driver, simulator
from cudapy.core import Program
from cudapy.driver import *
cu = driver.checked
cu.cuInit(0)
COUNT, SIZE = cu.cuDeviceGetCount(), 4 << 20
HALF = SIZE // 2
contexts = [cu.cuDevicePrimaryCtxRetain(i) for i in range(COUNT)]

def location(i):
    return CUmemLocation(type=CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE, id=i)

def properties(i, types=1):
    return CUmemAllocationProp(type=1, requestedHandleTypes=types, location=location(i))

def mapped(handle, i):
    address = int(cu.cuMemAddressReserve(SIZE, 0, 0, 0))
    cu.cuMemMap(address, SIZE, 0, handle, 0)
    cu.cuMemSetAccess(address, SIZE, [CUmemAccessDesc(location=location(i), flags=3)], 1)
    return address

def unmap(address):
    cu.cuMemUnmap(address, SIZE)
    cu.cuMemAddressFree(address, SIZE)

def made(count=COUNT, types=1):
    return cu.cuMulticastCreate(CUmulticastObjectProp(numDevices=count, size=SIZE, handleTypes=types))

def status(call, *arguments):
    print(getattr(driver, call)(*arguments)[0].name)

def launch(kernel, i, *arguments):
    cu.cuCtxSetCurrent(contexts[i])
    kinds = tuple(ctypes.c_void_p if one > 1 << 20 else ctypes.c_int for one in arguments)
    cu.cuLaunchKernel(int(kernel), 2, 1, 1, 32, 1, 1, 0, 0, (arguments, kinds), 0)

def kernels(source, *names):
    code = bytes(Program(source, "c++").compile("cubin").code)
    library = cu.cuLibraryLoadData(code, [], [], 0, [], [], 0)
    return [cu.cuLibraryGetKernel(library, name) for name in names]
'''  # fmt: skip

ALL_REDUCE = '''
SOURCE = r"""
extern "C" __global__ void all_reduce(float *mc, unsigned *mc_flag, unsigned *flag, int rank, int ranks)
{
    // All blocks of all devices arrive, on every device; then each waits at its own flag.
    auto barrier = [&](unsigned wanted) {
        __syncthreads();
        if (threadIdx.x == 0) {
            asm volatile("multimem.red.release.sys.global.add.u32 [%0], 1;" :: "l"(mc_flag) : "memory");
            unsigned seen;
            do asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory");
            while (seen < wanted);
        }
        __syncthreads();
    };
    barrier(ranks * gridDim.x);
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    for (int i = rank * 64 + thread; i < 1024; i += ranks * 64) {  // each device a part
        float a, b, c, d;
        float *at = mc + 4 * i;
        asm volatile("multimem.ld_reduce.relaxed.sys.global.add.v4.f32 {%0, %1, %2, %3}, [%4];"
                     : "=f"(a), "=f"(b), "=f"(c), "=f"(d) : "l"(at) : "memory");
        asm volatile("multimem.st.relaxed.sys.global.v4.f32 [%0], {%1, %2, %3, %4};"
                     :: "l"(at), "f"(a), "f"(b), "f"(c), "f"(d) : "memory");
    }
    barrier(2 * ranks * gridDim.x);
}
"""
(kernel,) = kernels(SOURCE, b"all_reduce")
multicast = made()
for i in range(COUNT): cu.cuMulticastAddDevice(multicast, i)
own, team, data = [], [], []
for i in range(COUNT):
    cu.cuCtxSetCurrent(contexts[i])
    memory = cu.cuMemCreate(SIZE, properties(i), 0)
    own.append(mapped(memory, i))
    if i % 2:
        cu.cuMulticastBindMem(multicast, HALF, memory, HALF, HALF, 0)
        cu.cuMulticastBindMem_v2(multicast, i, 0, memory, 0, HALF, 0)
    else:
        cu.cuMulticastBindAddr(multicast, 0, own[i], HALF, 0)
        cu.cuMulticastBindAddr_v2(multicast, i, HALF, own[i] + HALF, HALF, 0)
    cu.cuMemRelease(memory)
    team.append(mapped(multicast, i))
    data.append(np.random.default_rng(i).integers(-99, 99, 4096).astype(np.float32))
    cu.cuMemcpyHtoD(own[i] + HALF - 8192, data[i], 16384)  # in both halves
    cu.cuMemsetD32(own[i], 0, 1)
cu.cuMemRelease(multicast)
for i in range(COUNT):
    launch(kernel, i, team[i] + HALF - 8192, team[i], own[i], i, COUNT)
for i in range(COUNT):
    cu.cuCtxSetCurrent(contexts[i]); cu.cuCtxSynchronize()
    found = np.zeros(4096, np.float32)
    cu.cuMemcpyDtoH(found, own[i] + HALF - 8192, 16384)
    print(np.array_equal(found, sum(data)))
for address in own: unmap(address)
def used(): return cu.cuMemGetInfo()[1] - cu.cuMemGetInfo()[0]
alive = simulator.alive()
print(alive.get("multicast object"), alive["multicast memory"], used() == SIZE)
for address in team: unmap(address)
print(used(), set(simulator.alive()) & {"multicast memory", "mapped memory", "addresses"})
'''  # fmt: skip


@pytest.mark.parametrize("devices", [2, 4])
def test_an_all_reduce_with_barriers(nvrtc: ModuleType, devices: int) -> None:
    found = output(START + ALL_REDUCE, CUDAPY_SIMULATOR_DEVICES=str(devices))
    assert found.splitlines() == [*["True"] * devices, f"None {devices} True", "0 set()"]


REFUSED = """
status("cuMulticastGetGranularity", CUmulticastObjectProp(numDevices=2, size=SIZE), 2)
status("cuMulticastGetGranularity", CUmulticastObjectProp(numDevices=2, size=SIZE, handleTypes=8), 0)
for wrong in ({"numDevices": 0}, {"size": 0}, {"size": HALF + 1}, {"size": 1 << 60}, {"flags": 1}):
    status("cuMulticastCreate", CUmulticastObjectProp(**{"numDevices": 2, "size": SIZE, **wrong}))
print("team")
cu.cuCtxSetCurrent(contexts[0])
multicast, memory, other = made(types=0), cu.cuMemCreate(SIZE, properties(0), 0), made()
address = int(cu.cuMemAddressReserve(SIZE, 0, 0, 0))
cu.cuMulticastAddDevice(multicast, 0)
status("cuMulticastAddDevice", multicast, 0)
status("cuMulticastAddDevice", multicast, COUNT)
status("cuMulticastAddDevice", memory, 1)
status("cuMulticastBindMem", multicast, 0, memory, 0, SIZE, 0)
status("cuMemMap", address, SIZE, 0, multicast, 0)
cu.cuMulticastAddDevice(multicast, 1)
small = made(1)
cu.cuMulticastAddDevice(small, 1)
status("cuMulticastAddDevice", small, 0)
print("bind")
for offset, start, size, flags in ((1, 0, HALF, 0), (0, 1, HALF, 0), (0, 0, 1, 0), (0, 0, 0, 0),
                                   (HALF, 0, SIZE, 0), (0, HALF, SIZE, 0), (0, 0, HALF, 1)):
    status("cuMulticastBindMem", multicast, offset, memory, start, size, flags)
status("cuMulticastBindMem", multicast, 0, multicast, 0, SIZE, 0)
status("cuMulticastBindMem", memory, 0, memory, 0, SIZE, 0)
status("cuMulticastBindMem", small, 0, memory, 0, SIZE, 0)
status("cuMulticastBindMem_v2", multicast, 1, 0, memory, 0, SIZE, 0)
status("cuMulticastBindMem", small, 0, cu.cuMemCreate(SIZE, properties(1, 0), 0), 0, SIZE, 0)
status("cuMulticastBindAddr", multicast, 0, cu.cuMemAlloc(SIZE), SIZE, 0)
cu.cuMulticastBindMem(multicast, HALF, memory, 0, HALF, 0)
status("cuMulticastBindMem", multicast, 0, memory, 0, SIZE, 0)
print("unbind")
for dev, offset, size in ((0, 0, HALF), (1, HALF, HALF), (0, HALF, SIZE), (0, HALF, 1), (7, HALF, HALF)):
    status("cuMulticastUnbind", multicast, dev, offset, size)
status("cuMulticastUnbind", multicast, 0, HALF, HALF)
status("cuMulticastBindMem", multicast, 0, memory, 0, SIZE, 0)
print("use")
there = mapped(multicast, 0)
status("cuMemcpyDtoH", np.zeros(4, np.uint8), there, 4)
status("cuMemsetD8", there, 0, 4)
status("cuMemGetAllocationPropertiesFromHandle", multicast)
print(cu.cuPointerGetAttribute(CUpointer_attribute.CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES, there),
      cu.cuMemGetAccess(location(0), there), cu.cuMemRetainAllocationHandle(there) == multicast)
status("cuMemExportToShareableHandle", other, 1, 0)
for _ in range(2): cu.cuMemRelease(multicast)
status("cuMemRelease", multicast)
free = cu.cuMemGetInfo()[0]
cu.cuMemRelease(memory)
print(cu.cuMemGetInfo()[0] - free)  # it is bound
unmap(there)
print(cu.cuMemGetInfo()[0] - free == SIZE, simulator.alive()["multicast object"])
"""


def test_what_the_driver_refuses() -> None:
    found = output(START + REFUSED, CUDAPY_SIMULATOR_DEVICES="2")
    value, device = "CUDA_ERROR_INVALID_VALUE", "CUDA_ERROR_INVALID_DEVICE"
    barred, lacking, fine = "CUDA_ERROR_NOT_PERMITTED", "CUDA_ERROR_NOT_SUPPORTED", "CUDA_SUCCESS"
    assert found.splitlines() == [
        *(value, lacking, *[value] * 5),
        *("team", value, device, value, barred, barred, value),
        *("bind", *[value] * 9, device, device, value, value, value),
        *("unbind", *[value] * 4, device, fine, fine),
        *("use", value, value, value, "0 3 True", lacking, value, "0", "True 2"),
    ]


WAITS = """
multicast, handles = made(), [cu.cuMemCreate(SIZE, properties(i), 0) for i in range(COUNT)]
order = []

def join(i):
    cu.cuCtxSetCurrent(contexts[i])
    if i: order.append(i)
    cu.cuMulticastAddDevice(multicast, i)
    cu.cuMulticastBindMem(multicast, 0, handles[i], 0, SIZE, 0)
    if not i: order.append(i)
    mapped(multicast, i)

threads = [threading.Thread(target=join, args=(i,)) for i in range(COUNT)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(sorted(order), order[-1])
"""


def test_binding_waits_for_all_devices() -> None:
    assert output(START + WAITS, CUDAPY_SIMULATOR_DEVICES="4") == "[0, 1, 2, 3] 0\n"


FAULTS = """
(kernel,) = kernels(r'''
extern "C" __global__ void store(unsigned *x)
{ asm volatile("multimem.st.weak.global.u32 [%0], 1;" :: "l"(x + threadIdx.x) : "memory"); }''', b"store")
multicast = made()
for i in range(2): cu.cuMulticastAddDevice(multicast, i)
cu.cuCtxSetCurrent(contexts[0])
memory = cu.cuMemCreate(SIZE, properties(0), 0)
cu.cuMulticastBindMem(multicast, 0, memory, 0, SIZE, 0)
there = mapped(multicast, 0)
launch(kernel, DEVICE, there)
try:
    cu.cuCtxSynchronize()
except Exception as error:
    print(error)
"""


@pytest.mark.parametrize(
    "device, text",
    [(0, "no memory of device 1 is bound there"), (1, "to which this device was given no access")],
)
def test_faults_of_the_driver(nvrtc: ModuleType, device: int, text: str) -> None:
    found = output(
        f"{START}DEVICE = {device}\n{FAULTS}", CUDAPY_SIMULATOR_DEVICES="2", CUDAPY_SIMULATOR_REPORTS="0"
    )
    assert "Invalid multimem write of 4 bytes" in found
    assert text in found


@pytest.mark.parametrize("capability, supported", [("8.0", 0), ("9.0", 1), ("10.0", 1), ("12.0", 0)])
def test_which_devices_have_multicast(capability: str, supported: int) -> None:
    code = """
print(cu.cuDeviceGetAttribute(CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED, 0))
prop = CUmulticastObjectProp(numDevices=1, size=SIZE)
status("cuMulticastGetGranularity", prop, 0)
status("cuMulticastCreate", prop)
"""
    found = output(START + code, CUDAPY_SIMULATOR_COMPUTE_CAPABILITY=capability)
    status = "CUDA_SUCCESS" if supported else "CUDA_ERROR_NOT_SUPPORTED"
    assert found.splitlines() == [str(supported), status, status]


def test_bulk_copies_need_access(machine: Machine) -> None:
    start = blank(0, 1 << 16)
    machine.memory.adopt(start, 64, "mapped", reach=lambda _: False)
    with pytest.raises(Fault, match=r"write of 16 bytes(.|\n)*to which this device was given no access"):
        machine.run(machine.load(SOURCE, 90), "bulk", 1, 32, np.uint64(start), machine.zeros(32, np.uint32))
