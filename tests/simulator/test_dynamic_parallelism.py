"""Kernels that launch kernels: linked with what the simulator has of libcudadevrt, run by the engine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from cudapy.simulator.code.merging import together
from cudapy.simulator.engine import fault, settings
from cudapy.simulator.engine.fault import Fault
from cudapy.simulator.engine.module import Module, PTXError

from .machine import Machine, ptx

i32, u32 = np.int32, np.uint32

KERNELS = r"""
struct Told { char c; float a[3]; double d; };
__global__ void child(int *out, Told told, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] += i * (int)told.d + (int)told.a[2] + told.c;
}
extern "C" __global__ void structs(int *out, int n, unsigned *error)
{
    Told told = {'x', {0, 0, 5}, 3};
    child<<<(n + 63) / 64, 64>>>(out, told, n);
    *error = cudaGetLastError();
}

__device__ int order;
template <typename T> __global__ void note(T *out, int place) { out[place] = ++order; }
extern "C" __global__ void streams(int *out)
{
    order = 0;
    note<<<1, 1, 0, cudaStreamTailLaunch>>>(out, 5);
    note<<<1, 1, 0, cudaStreamTailLaunch>>>(out, 6);
    note<<<1, 1>>>(out, 0);
    note<<<1, 1>>>(out, 1);
    note<<<1, 1, 0, cudaStreamFireAndForget>>>(out, 2);
    cudaStream_t stream;
    cudaEvent_t event;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
    note<<<1, 1, 0, stream>>>(out, 3);
    cudaEventRecord(event, stream);
    cudaStreamWaitEvent(0, event, 0);
    note<<<1, 1>>>(out, 4);
    cudaStreamDestroy(stream);
    cudaEventDestroy(event);
    out[7] = order;
}

extern "C" __global__ void quarters(unsigned *image, int side, int x, int y, int size)
{
    if (size == 1) { image[y * side + x] += x ^ y; return; }
    int half = size / 2;
    quarters<<<1, 1, 0, cudaStreamFireAndForget>>>(image, side, x + threadIdx.x % 2 * half,
                                                   y + threadIdx.x / 2 * half, half);
}
extern "C" __global__ void whole(unsigned *image, int side)
{
    int half = side / 2;
    quarters<<<1, 1>>>(image, side, threadIdx.x % 2 * half, threadIdx.x / 2 * half, half);
}

extern "C" __global__ void again(int *left, int *count)
{
    ++*count;
    if (--*left > 0) again<<<1, 1, 0, cudaStreamTailLaunch>>>(left, count);
}

extern "C" __global__ void blocks(int *out)
{
    if (blockIdx.x == 0) note<<<1, 1, 0, cudaStreamTailLaunch>>>(out, 8);
    note<<<1, 1>>>(out, blockIdx.x);
    out[9 + blockIdx.x] = 1;
}

extern "C" __global__ void forever() { forever<<<1, 1, 0, cudaStreamTailLaunch>>>(); }

extern "C" __global__ void shape(int *out)
{
    extern __shared__ int told[];
    int t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    told[t] = blockIdx.x + 10 * blockIdx.y + 100 * blockIdx.z;
    __syncthreads();
    int blocks = gridDim.x * gridDim.y * gridDim.z, threads = blockDim.x * blockDim.y * blockDim.z;
    int block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    out[block * threads + t] = 1000 * told[threads - 1 - t] + blocks;
}
extern "C" __global__ void shapes(int *out) { shape<<<dim3(2, 3, 4), dim3(3, 2, 2), 48>>>(out); }

extern "C" __global__ void wrong(int *out, unsigned *errors)
{
    note<<<1, 2048>>>(out, 0);
    errors[0] = cudaPeekAtLastError();
    errors[1] = cudaGetLastError();
    errors[2] = cudaGetLastError();
    note<<<0, 1>>>(out, 0);
    errors[3] = cudaGetLastError();
    note<<<1, 1, 0, (cudaStream_t)0x12345>>>(out, 0);
    errors[4] = cudaGetLastError();
    cudaStream_t stream;
    errors[5] = cudaStreamCreateWithFlags(&stream, cudaStreamDefault);
}

extern "C" __global__ void many(int *out)
{
    note<<<1, 1>>>(out, 0);
    out[1 + threadIdx.x] = cudaGetLastError();
}

extern "C" __global__ void moved(int *out, int *from)
{
    int *own;
    cudaMalloc((void **)&own, 64);
    for (int i = 0; i < 16; ++i) own[i] = 7 * i;
    cudaMemsetAsync(out, 0xFF, 64, 0);
    cudaMemcpyAsync(out + 16, from, 64, cudaMemcpyDeviceToDevice, 0);
    cudaMemcpy2DAsync(out + 32, 16, from, 8, 8, 4, cudaMemcpyDeviceToDevice, 0);
    cudaMemset2DAsync(out + 48, 16, 1, 4, 4, 0);
    out[64] = own[15];
    out[65] = cudaFree(own);
    out[66] = cudaFree(own);
    out[67] = cudaMemcpyAsync(out, from, 1 << 20, cudaMemcpyDeviceToDevice, 0);
    out[68] = cudaMemcpyAsync(out, from, 4, cudaMemcpyHostToDevice, 0);
    cudaGetDevice(out + 69);
    cudaGetDeviceCount(out + 70);
}
"""


def linked(text: str) -> str:
    return together([(text.encode(), "kernels")], True).decode()


@pytest.fixture
def run(machine: Machine) -> Callable[..., Any]:
    module = Module(linked(ptx(KERNELS, 80, "-rdc=true")), machine.memory)
    return lambda *told: machine.run(module, *told)


def test_parameters_are_laid_out_as_the_child_has_them(machine: Machine, run: Any) -> None:
    n = 150
    out, error = machine.zeros(n, i32), machine.array(np.array([7], u32))
    run("structs", 1, 1, out, i32(n), error)
    assert error.get() == [0]
    assert np.array_equal(out.get(), np.arange(n) * 3 + 5 + ord("x"))


def test_streams_are_in_order_and_tails_come_last(machine: Machine, run: Any) -> None:
    out = machine.zeros(8, i32)
    run("streams", 1, 1, out)
    placed = out.get()
    assert placed[0] < placed[1] < placed[4] and placed[3] < placed[4], "of the block's stream, and an event"
    assert sorted(placed[:5]) == [1, 2, 3, 4, 5], "each once"
    assert placed[5:].tolist() == [6, 7, 0], "tails in their order; none ran while the parent did"


def test_each_thread_launches_and_children_launch_too(machine: Machine, run: Any) -> None:
    side = 16
    image = machine.zeros((side, side), u32)
    run("whole", 1, 4, image, i32(side))
    x, y = np.meshgrid(np.arange(side), np.arange(side))
    corners = (x % 8 == 0) & (y % 8 == 0)
    assert np.array_equal(image.get(), np.where(corners, x ^ y, 0)), "a single thread splits no further"


def test_a_tail_that_launches_itself(machine: Machine, run: Any) -> None:
    left, count = machine.array(np.array([1200], i32)), machine.zeros(1, i32)
    run("again", 1, 1, left, count)
    assert (left.get()[0], count.get()[0]) == (0, 1200)


def test_batches_of_blocks(machine: Machine, run: Any) -> None:
    """What a batch launched runs before the next one; the tail stream after all of them."""
    settings.current.batch = 2
    count, out = machine.zeros(2, i32), machine.zeros(17, i32)
    run("many", 8, 1, count)
    assert count.get()[0] == 8
    run("blocks", 8, 1, out)
    assert out.get().tolist() == [*range(9, 17), 17, *[1] * 8]


def test_one_that_never_ends(machine: Machine, run: Any) -> None:
    settings.current.timeout = 0.3
    with pytest.raises(Fault, match=r"forever with what it launched has run for \d+ s") as caught:
        run("forever", 1, 1)
    assert caught.value.status == fault.LAUNCH_TIMEOUT


def test_grids_blocks_and_dynamic_shared_memory(machine: Machine, run: Any) -> None:
    out = machine.zeros((4, 3, 2, 12), i32)
    run("shapes", 1, 1, out)
    z, y, x = np.meshgrid(*(np.arange(size) for size in (4, 3, 2)), indexing="ij")
    assert np.array_equal(out.get(), np.repeat(1000 * (x + 10 * y + 100 * z) + 24, 12).reshape(out.shape))


def test_what_cannot_be_launched(machine: Machine, run: Any) -> None:
    out, errors = machine.zeros(1, i32), machine.array(np.full(6, 77, u32))
    run("wrong", 1, 1, out, errors)
    assert errors.get().tolist() == [9, 9, 0, 9, 400, 1]
    assert out.get() == [0]


def test_more_launches_than_may_be_pending(machine: Machine, run: Any) -> None:
    machine.device.pending_launches = 40
    out = machine.zeros(65, i32)
    run("many", 1, 64, out)
    assert out.get()[0] == 40, "each that was launched ran"
    assert np.count_nonzero(out.get()[1:] == 69) == 24, "cudaErrorLaunchPendingCountExceeded"


def test_copies_fills_and_memory(machine: Machine, run: Any) -> None:
    out, source = machine.zeros(71, i32), machine.array(np.arange(100, 116, dtype=i32))
    run("moved", 1, 1, out, source)
    expected = np.zeros(71, i32)
    expected[:16], expected[16:32] = -1, source.get()
    expected[32:48].reshape(4, 4)[:, :2] = source.get()[:8].reshape(4, 2)
    expected[48:64:4] = 0x01010101
    expected[64:] = [105, 0, 1, 1, 21, 0, 1]
    assert np.array_equal(out.get(), expected)
    assert not machine.device.heap


def test_copies_need_access(machine: Machine, run: Any) -> None:
    out, source = machine.zeros(71, i32), machine.array(np.arange(100, 116, dtype=i32))
    allocation = machine.memory.find(source.address)
    assert allocation is not None
    allocation.reach = lambda _: False
    run("moved", 1, 1, out, source)
    assert (out.get()[:16] == -1).all()
    assert not out.get()[16:48].any()


def test_unlinked_it_is_refused(machine: Machine) -> None:
    text = ptx(KERNELS, 80, "-rdc=true")
    with pytest.raises(PTXError, match=r"line \d+: .* calls __cudaCDP2\w+, which is in libcudadevrt"):
        Module(text, machine.memory)


def test_what_it_does_not_have_is_named(nvrtc: Any) -> None:
    text = ptx(
        'extern "C" __global__ void k(cudaSharedMemConfig *c) { cudaDeviceGetSharedMemConfig(c); }',
        80,
        "-rdc=true",
    )
    with pytest.raises(Exception, match="undefined: __cudaCDP2DeviceGetSharedMemConfig, which kernels uses"):
        linked(text)


def test_nothing_is_left_behind(machine: Machine, run: Any) -> None:
    out = machine.zeros(64, i32)
    before = len(machine.memory.bounds()[0])
    run("shapes", 1, 1, machine.zeros(24 * 12, i32))
    run("streams", 1, 1, out)
    assert len(machine.memory.bounds()[0]) == before + 1
