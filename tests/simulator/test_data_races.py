"""Races in shared and global memory: each mistake beside its correct twin, on the same kernel."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from cudapy.simulator.engine import settings
from cudapy.simulator.engine.fault import Fault

from .machine import Array, Machine

i32 = np.int32

HELPERS = r"""
#define FENCE(scope) asm volatile("fence.acq_rel." scope ";" ::: "memory")
__device__ int flag, other_flag, data[256], turn, total;
__device__ int load(int *p, bool acquires)
{
    int value;
    if (acquires) asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(value) : "l"(p) : "memory");
    else asm volatile("ld.relaxed.gpu.u32 %0, [%1];" : "=r"(value) : "l"(p) : "memory");
    return value;
}
__device__ void store(int *p, int value, bool releases)
{
    if (releases) asm volatile("st.release.gpu.u32 [%0], %1;" :: "l"(p), "r"(value) : "memory");
    else asm volatile("st.relaxed.gpu.u32 [%0], %1;" :: "l"(p), "r"(value) : "memory");
}
#define KERNEL(name) extern "C" __global__ void name(int right, int *out)
#define T ((int)threadIdx.x)
#define B ((int)blockIdx.x)
"""
KERNELS = r"""
KERNEL(shift) { int v = out[T + 1]; if (right) __syncthreads(); out[T] = v; }
KERNEL(blocks) { if (right) out[64 * B + T] = B; else out[T] = B; }
KERNEL(bytes) { char *p = (char *)out; p[right ? T : T / 2] = T; }
KERNEL(counter) { if (right) atomicAdd(out, 1); else ++*out; }
KERNEL(atomic_and_plain) { if (T == 0) out[1] = right ? atomicAdd(out, 0) : *out; else atomicAdd(out, 1); }
KERNEL(atomic_scope) { if (right) atomicAdd(out, 1); else atomicAdd_block(out, 1); }
KERNEL(equal_values) { out[0] = right ? 7 : T; }
KERNEL(parity)
{
    __shared__ int s[64];
    s[T] = T;
    if (right) __syncthreads(); else __syncwarp();
    out[T] = s[T ^ 32];
}
KERNEL(half_warp)
{
    __shared__ int s[32];
    s[T] = T;
    if (T < 16) { __syncwarp(0xffff); out[T] = s[right ? 15 - T : 31 - T]; } else out[T] = 0;
}
KERNEL(named)
{
    __shared__ int s[128];
    s[T] = T;
    if (T < 64) asm volatile("bar.sync 1, 64;" ::: "memory");
    else asm volatile("bar.sync 2, 64;" ::: "memory");
    out[T] = s[right ? T ^ 32 : T ^ 64];
}
KERNEL(passed_on)  // from warp 0 to 1 to 2 by barriers of two warps each
{
    __shared__ int s[32];
    if (T < 32) s[T] = T;
    if (T < 64) asm volatile("bar.sync 1, 64;" ::: "memory");
    if (right && T >= 32) asm volatile("bar.sync 2, 64;" ::: "memory");
    if (T >= 64) out[T] = s[T - 64];
}
KERNEL(published)
{
    if (B == 0) {
        if (T < 32) data[T] = T;
        __syncthreads();
        if (T == 0) store(&flag, 1, right);
    } else {
        if (T == 0) while (!load(&flag, true)) {}
        __syncthreads();
        out[T] = data[T % 32];
    }
}
KERNEL(unsynchronised_before_release)
{
    if (B == 0) {
        data[T] = T;
        if (right) __syncthreads();
        if (T == 0) store(&flag, 1, true);
    } else {
        if (T == 0) while (!load(&flag, true)) {}
        __syncthreads();
        out[T] = data[T];
    }
}
KERNEL(acquired)
{
    if (T == 0 && B == 0) { data[0] = 1; store(&flag, 1, true); }
    else if (T == 0) { while (!load(&flag, right)) {} out[0] = data[0]; }
}
KERNEL(release_fence)
{
    if (T == 0 && B == 0) { data[0] = 1; if (right) FENCE("gpu"); atomicExch(&flag, 1); }
    else if (T == 0) { while (!atomicAdd(&flag, 0)) {} FENCE("gpu"); out[0] = data[0]; }
}
KERNEL(acquire_fence)
{
    if (T == 0 && B == 0) { data[0] = 1; FENCE("gpu"); atomicExch(&flag, 1); }
    else if (T == 0) { while (!atomicAdd(&flag, 0)) {} if (right) FENCE("gpu"); out[0] = data[0]; }
}
KERNEL(fence_scope)
{
    if (T == 0 && B == 0) { data[0] = 1; if (right) FENCE("gpu"); else FENCE("cta"); atomicExch(&flag, 1); }
    else if (T == 0) { while (!atomicAdd(&flag, 0)) {} FENCE("gpu"); out[0] = data[0]; }
}
KERNEL(cumulative)  // block 0 tells block 1, which tells block 2
{
    if (T) return;
    if (B == 0) { data[0] = 1; __threadfence(); atomicExch(&flag, 1); }
    if (B == 1) {
        while (!atomicAdd(&flag, 0)) {}
        if (right) __threadfence();
        atomicExch(&other_flag, 1);
    }
    if (B == 2) { while (!atomicAdd(&other_flag, 0)) {} __threadfence(); out[0] = data[0]; }
}
KERNEL(chain_of_atomics)  // an atomic goes on with the release that it finds, a store ends it
{
    if (T) return;
    if (B == 0) { data[0] = 1; store(&flag, 1, true); }
    if (B == 1) {
        while (!load(&flag, false)) {}
        if (right) atomicAdd(&flag, 1); else store(&flag, 2, false);
    }
    if (B == 2) { while (load(&flag, true) < 2) {} out[0] = data[0]; }
}
KERNEL(lock)
{
    if (T) return;
    while (atomicCAS(&turn, 0, 1)) {}
    __threadfence();
    if (right) ++total;
    __threadfence();
    atomicExch(&turn, 0);
    if (!right) ++total;
}
KERNEL(grid_barrier)
{
    data[64 * B + T] = T;
    if (right) __syncthreads();
    if (T == 0) { __threadfence(); atomicAdd(&flag, 1); while (atomicAdd(&flag, 0) < 2) {} __threadfence(); }
    __syncthreads();
    out[64 * B + T] = data[64 * (1 - B) + T];
}
KERNEL(volatile_flag)
{
    volatile int *p = &flag;
    if (T == 0 && B == 0) { data[0] = 1; if (right) __threadfence(); *p = 1; }
    else if (T == 0) { while (!*p) {} __threadfence(); out[0] = data[0]; }
}
KERNEL(vectors) { int4 *p = (int4 *)out; if (right) p[T] = make_int4(T, T, T, T); else p[T & ~1] = p[T]; }
KERNEL(left_behind)
{
    __shared__ int s[64];
    s[T] = T;
    __syncthreads();
    for (int k = 32; k > 0; k /= 2) if (right || T < k) { if (T < k) s[T] += s[T + k]; __syncthreads(); }
    if (T == 0) out[0] = s[0];
}
KERNEL(read_before_shuffle)  // the values that are exchanged have been read: a write behind them is no race
{
    int v = out[T];
    v = __shfl_xor_sync(~0u, v, 1);
    if (right) out[T ^ 1] = v; else { out[T] = v; data[T] = out[T ^ 1]; }
}
"""
PAIRS = {
    "shift": (1, 64, "__global__ memory (write after read)", "no barrier lies between them"),
    "blocks": (2, 64, "__global__ memory (write by several", "threads of two blocks"),
    "bytes": (1, 64, "__global__ memory (write by several", "the other is block (0,0,0) thread (0,0,0)"),
    "counter": (2, 32, "__global__ memory", "no barrier"),
    "atomic_and_plain": (1, 64, "__global__ memory", "no barrier"),
    "atomic_scope": (2, 32, "__global__ memory (atomic by several", "the scope of one of the accesses"),
    "equal_values": (1, 32, "__global__ memory (write by several", "the other is"),
    "parity": (1, 64, "__shared__ memory (read after write)", "no barrier lies between them"),
    "half_warp": (1, 32, "__shared__ memory (read after write)", "no barrier"),
    "named": (1, 128, "__shared__ memory (read after write)", "no barrier"),
    "passed_on": (1, 96, "__shared__ memory (read after write)", "no barrier"),
    "published": (2, 64, "__global__ memory (read after write)", "no barrier"),
    "unsynchronised_before_release": (2, 64, "__global__ memory (read after write)", "no release that"),
    "acquired": (2, 32, "__global__ memory (read after write)", "made no fence (acquire)"),
    "release_fence": (2, 32, "__global__ memory (read after write)", "no release that"),
    "acquire_fence": (2, 32, "__global__ memory (read after write)", "made no fence (acquire)"),
    "fence_scope": (2, 32, "__global__ memory (read after write)", "no release that"),
    "cumulative": (3, 32, "__global__ memory (read after write)", "no release that"),
    "chain_of_atomics": (3, 32, "__global__ memory (read after write)", "no barrier"),
    "lock": (4, 32, "__global__ memory", "no release that"),
    "grid_barrier": (2, 64, "__global__ memory (read after write)", "no release that"),
    "volatile_flag": (2, 32, "__global__ memory (read after write)", "no release that"),
    "vectors": (1, 32, "__global__ memory", "no barrier"),
    "left_behind": (1, 64, "", "was at an earlier barrier, and has exited since"),
    "read_before_shuffle": (1, 32, "__global__ memory (read after write)", "no barrier"),
}


@pytest.fixture(autouse=True)
def races(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(settings.current, "check_races", True)
    yield


def run(machine: Machine, name: str, right: int, out: Array | None = None) -> None:
    grid, block, *_ = PAIRS[name]
    (kernel,) = (text for text in KERNELS.split("KERNEL") if text.startswith(f"({name})"))
    module = machine.load(f"{HELPERS}KERNEL{kernel}")
    machine.run(module, name, grid, block, i32(right), out or machine.zeros(1024, i32))


@pytest.mark.parametrize("name", PAIRS)
def test_the_mistake(machine: Machine, name: str) -> None:
    _, _, what, why = PAIRS[name]
    with pytest.raises(Fault) as caught:
        run(machine, name, 0)
    report = caught.value.report
    assert f"Race in {what}" in report if what else "A barrier (0) that not all threads" in report
    assert why in report
    assert f"in {name}, program.cu:" in report


@pytest.mark.parametrize("name", PAIRS)
def test_its_correct_twin(machine: Machine, name: str) -> None:
    run(machine, name, 1)


def test_the_kernel_goes_on(machine: Machine) -> None:
    out = machine.zeros(1024, i32)
    with pytest.raises(Fault) as caught:
        run(machine, "equal_values", 0, out)
    assert out.get()[0] == 31
    assert caught.value.report.count("Race in") == 1


def test_order_that_batches_of_blocks_pass_on(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """A block reads what one that ran before it has published, or has only written."""
    monkeypatch.setattr(settings.current, "batch", 64)
    run(machine, "published", 1)
    with pytest.raises(Fault, match="a thread of a block that ran before"):
        run(machine, "published", 0)
