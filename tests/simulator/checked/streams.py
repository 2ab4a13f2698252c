"""Programs with streams, graphs and arrays: each is a mistake, or `right`, its correct twin.

python -m tests.simulator.checked.streams           what is found in each, as JSON
"""

from __future__ import annotations

import ctypes
import functools
import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

SOURCE = r"""
__device__ int flag;
extern "C" {
__global__ void put(int *out, int value) { out[threadIdx.x] = value; }
__global__ void add(int *out, int value) { atomicAdd(out, value); }
__global__ void move(int *out, const int *in) { out[threadIdx.x] = in[threadIdx.x]; }
__global__ void publish(int *out, int value)  // by a bulk copy
{
    __shared__ alignas(16) int s[64];
    s[threadIdx.x] = value;
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0)
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 256;"
                     " cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;"
                     :: "l"(out), "r"((unsigned)__cvta_generic_to_shared(s)) : "memory");
}
__global__ void announce(int *out, int right)
{
    out[threadIdx.x] = 1;
    __syncthreads();
    if (threadIdx.x == 0 && right) asm volatile("st.release.gpu.u32 [%0], 1;" :: "l"(&flag) : "memory");
}
__global__ void follow(int *out, int right)
{
    int seen = 0;
    if (threadIdx.x == 0 && right)
        do asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(seen) : "l"(&flag) : "memory"); while (!seen);
    __syncthreads();
    out[threadIdx.x] += 1;
}
__global__ void shift(unsigned long long s, int right)
{
    int i = threadIdx.x, value = surf1Dread<int>(s, 4 * ((i + 1) % 64));
    if (right) __syncthreads();
    surf1Dwrite(value, s, 4 * i);
}
__global__ void both(unsigned long long s, int right)
{
    surf1Dwrite((int)threadIdx.x, s, right ? 4 * threadIdx.x : 4 * (threadIdx.x / 2));
}
__global__ void again(unsigned long long s, int *out, int right)
{
    if (!right) surf1Dwrite(7, s, 4 * threadIdx.x);
    out[threadIdx.x] = surf1Dread<int>(s, 4 * threadIdx.x);
    if (right) surf1Dwrite(7, s, 4 * threadIdx.x);
}
__global__ void fetch(unsigned long long t, int *in, int *out, int right)
{
    if (!right) in[threadIdx.x] = 7;
    __syncthreads();
    out[threadIdx.x] = tex1Dfetch<int>(t, threadIdx.x ^ 32);
    __syncthreads();
    if (right) in[threadIdx.x] = 7;
}
__global__ void image(unsigned long long s, unsigned long long t, int *out, int right)
{
    if (!right) surf1Dwrite(7, s, 4 * threadIdx.x);
    __syncthreads();
    out[threadIdx.x] = tex1D<int>(t, threadIdx.x + 0.5f);
    __syncthreads();
    if (right) surf1Dwrite(7, s, 4 * threadIdx.x);
}
}
"""
ROOT = Path(__file__).parents[3]
SIZE = 4 * 64
NON_BLOCKING, LEGACY, PER_THREAD = 1, 1, 2
HOST_FUNCTION = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


@functools.cache
def _compiled() -> bytes:
    from cudapy import core

    options = core.ProgramOptions(lineinfo=True, name="program.cu", arch="sm_90")
    return bytes(core.Program(SOURCE, "c++", options).compile("cubin").code)


class Streams:
    """Two streams, kernels, and memory that nothing has touched."""

    def __init__(self) -> None:
        from cudapy import core
        from cudapy.driver import checked

        self.c = checked
        core.Device().set_current()
        self.code = core.ObjectCode.from_cubin(_compiled())
        self.first, self.second = (checked.cuStreamCreate(NON_BLOCKING) for _ in range(2))
        self.event = checked.cuEventCreate(0)
        self.x, self.y = checked.cuMemAlloc(SIZE), checked.cuMemAlloc(SIZE)

    def launch(self, stream: Any, name: str, *values: Any, threads: int = 64) -> None:
        types = [ctypes.c_int if isinstance(value, int) else ctypes.c_void_p for value in values]
        values = tuple(getattr(value, "value", value) for value in values)
        kernel = self.code.get_kernel(name).handle
        given = tuple(value if isinstance(value, int) else int(value) for value in values), tuple(types)
        self.c.cuLaunchKernel(self.c.cuKernelGetFunction(kernel), 1, 1, 1, threads, 1, 1, 0, stream, given, 0)

    def let_run(self, stream: Any) -> None:
        """Wait for what a stream has, of which the simulator does not learn: once all before it has ended, a
        kernel changes memory, which the simulator has in this process.
        """
        memory = self.c.cuMemAlloc(SIZE)
        last = ctypes.c_int.from_address(int(memory) + SIZE - 4)
        last.value = 0
        self.launch(stream, "put", memory, 1)
        while not last.value:
            time.sleep(0.001)

    def array(self) -> tuple[int, int]:
        """A surface, and a texture, of one array of 64 ints."""
        from cudapy import driver

        kind = driver.CUarray_format.CU_AD_FORMAT_SIGNED_INT32
        described = driver.CUDA_ARRAY3D_DESCRIPTOR(Width=64, Format=kind, NumChannels=1, Flags=2)
        resource = driver.CUDA_RESOURCE_DESC(resType=driver.CUresourcetype.CU_RESOURCE_TYPE_ARRAY)
        resource.res.array.hArray = self.c.cuArray3DCreate(described)
        surface = self.c.cuSurfObjectCreate(resource)
        texture = self.c.cuTexObjectCreate(resource, driver.CUDA_TEXTURE_DESC(flags=1), None)
        return int(surface), int(texture)

    def order(self) -> None:
        """What the first stream has so far comes before what the second has from now on."""
        self.c.cuEventRecord(self.event, self.first)
        self.c.cuStreamWaitEvent(self.second, self.event, 0)


def kernels(s: Streams, right: bool) -> None:
    s.launch(s.first, "put", s.x, 1)
    if right:
        s.order()
    s.launch(s.second, "put", s.x, 2)


def bulk_copy(s: Streams, right: bool) -> None:
    s.launch(s.first, "publish", s.x, 1)
    if right:
        s.order()
    s.launch(s.second, "move", s.y, s.x)


def event_before_the_work(s: Streams, right: bool) -> None:
    if not right:
        s.order()
    s.launch(s.first, "put", s.x, 1)
    if right:
        s.order()
    s.launch(s.second, "move", s.y, s.x)


def copy(s: Streams, right: bool) -> None:
    s.launch(s.first, "put", s.x, 1)
    if right:
        s.order()
    s.c.cuMemcpyDtoDAsync(s.y, s.x, SIZE, s.second)


def fill(s: Streams, right: bool) -> None:
    s.launch(s.first, "put", s.x, 1)
    s.c.cuMemsetD8Async(s.x, 0, SIZE, s.first if right else s.second)


def upload(s: Streams, right: bool) -> None:
    pinned = s.c.cuMemAllocHost(SIZE)
    s.c.cuMemcpyHtoDAsync(s.x, int(pinned), SIZE, s.first)
    if right:
        s.order()
    s.launch(s.second, "move", s.y, s.x)


def staging(s: Streams, right: bool) -> None:
    """Page-locked memory is the target of one copy and the source of another."""
    pinned = s.c.cuMemAllocHost(SIZE)
    s.c.cuMemcpyDtoHAsync(int(pinned), s.x, SIZE, s.first)
    if right:
        s.c.cuStreamSynchronize(s.first)
    s.c.cuMemcpyHtoDAsync(s.y, int(pinned), SIZE, s.second)


def rows(s: Streams, right: bool) -> None:
    """A kernel in one half, and a copy of rows; the mistake's last row reaches into that half."""
    s.launch(s.first, "put", s.x, 1, threads=32)
    place = int(s.x) + SIZE // 2 - (0 if right else 16)
    s.c.cuMemsetD2D8Async(place, 32, 0, 16, 4, s.second)


def default_stream(s: Streams, right: bool) -> None:
    """It waits for streams that block it, and these are no such streams unless they are made so."""
    stream = s.c.cuStreamCreate(0) if right else s.first
    s.launch(stream, "put", s.x, 1)
    s.launch(LEGACY, "put", s.x, 2)
    s.launch(stream, "move", s.y, s.x)


def default_stream_of_a_thread(s: Streams, right: bool) -> None:
    stream = s.c.cuStreamCreate(0)
    s.launch(stream, "put", s.x, 1)
    s.launch(LEGACY if right else PER_THREAD, "put", s.x, 2)


def synchronous_copy(s: Streams, right: bool) -> None:
    """The call waits for its own copy, not for streams that do not block the default stream."""
    s.launch(s.first, "put", s.x, 1)
    if right:
        s.c.cuCtxSynchronize()
    s.c.cuMemcpyDtoH(np.empty(SIZE, np.uint8), s.x, SIZE)


def host_waits_for_an_event(s: Streams, right: bool) -> None:
    s.c.cuEventRecord(s.event, s.first)
    s.launch(s.first, "put", s.x, 1)
    if right:
        s.c.cuEventRecord(s.event, s.first)
    s.c.cuEventSynchronize(s.event)
    s.launch(s.second, "move", s.y, s.x)


def host_asks(s: Streams, right: bool) -> None:
    from cudapy import driver

    s.launch(s.first, "put", s.x, 1)
    while right and driver.cuStreamQuery(s.first)[0]:
        pass
    s.launch(s.second, "move", s.y, s.x)


def host_function(s: Streams, right: bool) -> None:
    """It tells the program what was done before it."""
    told = threading.Event()
    function = HOST_FUNCTION(lambda _: told.set())
    address = ctypes.cast(function, ctypes.c_void_p).value
    if not right:
        s.c.cuLaunchHostFunc(s.first, address, 0)
        told.wait(60)
    s.launch(s.first, "put", s.x, 1)
    if right:
        s.c.cuLaunchHostFunc(s.first, address, 0)
        told.wait(60)
    s.launch(s.second, "move", s.y, s.x)
    s.c.cuStreamSynchronize(s.first)


def waits_for_a_value(s: Streams, right: bool) -> None:
    word = s.c.cuMemAlloc(4)
    s.c.cuMemsetD8(word, 0, 4)
    s.c.cuCtxSynchronize()
    if not right:
        s.c.cuStreamWriteValue32(s.first, word, 1, 0)
        s.c.cuStreamWaitValue32(s.second, word, 1, 0)
        s.c.cuStreamSynchronize(s.second)  # the wait is over before the kernel may be done
        s.launch(s.second, "move", s.y, s.x)
        s.launch(s.first, "put", s.x, 1)
    else:
        s.launch(s.first, "put", s.x, 1)
        s.c.cuStreamWriteValue32(s.first, word, 1, 0)
        s.c.cuStreamWaitValue32(s.second, word, 1, 0)
        s.launch(s.second, "move", s.y, s.x)


def counters(s: Streams, right: bool) -> None:
    """Atomic operations of two kernels do not race."""
    s.launch(s.first, "add", s.x, 1)
    s.launch(s.second, "add" if right else "put", s.x, 1)


def flag(s: Streams, right: bool) -> None:
    """Kernels that run at once order each other by a flag."""
    s.launch(s.second, "follow", s.x, int(right))
    s.launch(s.first, "announce", s.x, int(right))


def _graph(s: Streams, right: bool) -> Any:
    graph = s.c.cuGraphCreate(0)
    first = s.c.cuGraphAddMemsetNode(graph, [], 0, _fill_of(s.x, 1), s.c.cuCtxGetCurrent())
    after = [first] if right else []
    s.c.cuGraphAddMemsetNode(graph, after, len(after), _fill_of(s.x, 2), s.c.cuCtxGetCurrent())
    return graph


def _fill_of(address: Any, value: int) -> Any:
    from cudapy.driver import CUDA_MEMSET_NODE_PARAMS

    return CUDA_MEMSET_NODE_PARAMS(dst=int(address), value=value, elementSize=1, width=SIZE, height=1)


def graph_nodes(s: Streams, right: bool) -> None:
    s.c.cuGraphLaunch(s.c.cuGraphInstantiateWithFlags(_graph(s, right), 0), s.first)


def nodes_of_a_child_graph(s: Streams, right: bool) -> None:
    graph = s.c.cuGraphCreate(0)
    s.c.cuGraphAddChildGraphNode(graph, [], 0, _graph(s, right))
    s.c.cuGraphLaunch(s.c.cuGraphInstantiateWithFlags(graph, 0), s.first)


def graph_and_stream(s: Streams, right: bool) -> None:
    s.c.cuGraphLaunch(s.c.cuGraphInstantiateWithFlags(_graph(s, True), 0), s.first)
    if right:
        s.order()
    s.launch(s.second, "move", s.y, s.x)


def captured_branches(s: Streams, right: bool) -> None:
    s.c.cuStreamBeginCapture(s.first, 2)
    if not right:
        s.order()
    s.launch(s.first, "put", s.x, 1)
    if right:
        s.order()
    s.launch(s.second, "move", s.y, s.x)
    s.c.cuEventRecord(s.event, s.second)
    s.c.cuStreamWaitEvent(s.first, s.event, 0)
    graph = s.c.cuStreamEndCapture(s.first)
    s.c.cuGraphLaunch(s.c.cuGraphInstantiateWithFlags(graph, 0), s.first)


def freed_in_another_stream(s: Streams, right: bool) -> None:
    memory = s.c.cuMemAllocAsync(SIZE, s.first)
    s.launch(s.first, "put", memory, 1)
    s.let_run(s.first)
    if right:
        s.order()
    s.c.cuMemFreeAsync(memory, s.second)


def freed_while_it_is_copied(s: Streams, right: bool) -> None:
    memory, pinned = s.c.cuMemAllocAsync(SIZE, s.first), s.c.cuMemAllocHost(SIZE)
    s.launch(s.first, "put", memory, 1)
    s.order()
    s.c.cuMemcpyDtoHAsync(int(pinned), memory, SIZE, s.second)
    s.let_run(s.second)
    if right:
        s.c.cuEventRecord(s.event, s.second)
        s.c.cuStreamWaitEvent(s.first, s.event, 0)
    s.c.cuMemFreeAsync(memory, s.first)


def freed_in_the_default_stream(s: Streams, right: bool) -> None:
    """It waits for streams that block it."""
    stream = s.c.cuStreamCreate(0) if right else s.first
    memory = s.c.cuMemAllocAsync(SIZE, stream)
    s.launch(stream, "put", memory, 1)
    s.let_run(stream)
    s.c.cuMemFreeAsync(memory, LEGACY)


def used_before_it_is_allocated(s: Streams, right: bool) -> None:
    """Its stream has been there by luck."""
    memory = s.c.cuMemAllocAsync(SIZE, s.first)
    s.let_run(s.first)
    if right:
        s.order()
    s.launch(s.second, "put", memory, 1)


def memory_of_a_graph(s: Streams, right: bool) -> None:
    s.c.cuStreamBeginCapture(s.first, 2)
    memory = s.c.cuMemAllocAsync(SIZE, s.first)
    s.launch(s.first, "put", memory, 1)
    graph = s.c.cuStreamEndCapture(s.first)
    s.c.cuGraphLaunch(s.c.cuGraphInstantiateWithFlags(graph, 0), s.first)
    s.let_run(s.first)
    if right:
        s.order()
    s.c.cuMemFreeAsync(memory, s.second)


def shifted_surface(s: Streams, right: bool) -> None:
    s.launch(s.first, "shift", ctypes.c_void_p(s.array()[0]), int(right))


def surface_written_twice(s: Streams, right: bool) -> None:
    s.launch(s.first, "both", ctypes.c_void_p(s.array()[0]), int(right))


def surface_read_again(s: Streams, right: bool) -> None:
    s.launch(s.first, "again", ctypes.c_void_p(s.array()[0]), s.x, int(right))


def fetched_after_a_store(s: Streams, right: bool) -> None:
    """A texture of linear memory that the kernel stores to, too."""
    from cudapy import driver

    resource = driver.CUDA_RESOURCE_DESC(resType=driver.CUresourcetype.CU_RESOURCE_TYPE_LINEAR)
    linear = resource.res.linear
    linear.devPtr, linear.sizeInBytes, linear.numChannels = s.x, SIZE, 1
    linear.format = driver.CUarray_format.CU_AD_FORMAT_SIGNED_INT32
    texture = s.c.cuTexObjectCreate(resource, driver.CUDA_TEXTURE_DESC(flags=1), None)
    s.launch(s.first, "fetch", ctypes.c_void_p(int(texture)), s.x, s.y, int(right))


def texture_of_a_surface(s: Streams, right: bool) -> None:
    surface, texture = (ctypes.c_void_p(one) for one in s.array())
    s.launch(s.first, "image", surface, texture, s.x, int(right))


PROGRAMS: dict[str, tuple[Callable[[Streams, bool], None], str, str]] = {
    one.__name__: (one, what, other)
    for one, what, other in (
        (kernels, "write after write", "put"),
        (bulk_copy, "read after write", "publish"),
        (event_before_the_work, "read after write", "put"),
        (copy, "read after write", "put"),
        (fill, "write after write", "cuMemsetD8Async"),
        (upload, "read after write", "cuMemcpyHtoDAsync"),
        (staging, "read after write", "cuMemcpyDtoHAsync"),
        (rows, "write after write", "cuMemsetD2D8Async"),
        (default_stream, "read after write", "put"),
        (default_stream_of_a_thread, "write after write", "put"),
        (synchronous_copy, "read after write", "cuMemcpyDtoH"),
        (host_waits_for_an_event, "read after write", "put"),
        (host_asks, "read after write", "put"),
        (host_function, "read after write", "put"),
        (waits_for_a_value, "write after read", "put"),
        (counters, "write after atomic", "put"),
        (flag, "write after write", "announce"),
        (graph_nodes, "write after write", "cuGraphLaunch"),
        (nodes_of_a_child_graph, "write after write", "cuGraphLaunch"),
        (graph_and_stream, "read after write", "cuGraphLaunch"),
        (captured_branches, "read after write", "put"),
        (freed_in_another_stream, "Free of memory that another stream may still use", "a write in put"),
        (freed_while_it_is_copied, "Free of memory that", "a read in cuMemcpyDtoHAsync"),
        (freed_in_the_default_stream, "Free of memory that", "a write in put"),
        (used_before_it_is_allocated, "another stream may not have allocated yet (write)", "in put"),
        (shifted_surface, "Race in __global__ memory (write after read)", "in shift, "),
        (surface_written_twice, "Race in __global__ memory (write by several threads at once)", "in both, "),
        (surface_read_again, "by a texture or surface", "write in again"),
        (fetched_after_a_store, "by a texture or surface", "write in fetch"),
        (texture_of_a_surface, "by a texture or surface", "write in image"),
        (memory_of_a_graph, "Free of memory that another stream may still use", "a write in "),
    )
}
"""Each with what its report says, and a name in it."""


def reports(name: str, right: bool) -> list[str]:
    """What the simulator finds in a program, in an order that is always the same."""
    from cudapy import simulator

    program, *_ = PROGRAMS[name]
    streams = Streams()
    program(streams, right)
    streams.c.cuCtxSynchronize()
    found = sorted(str(one) for one in simulator.findings(forget=True))
    simulator.reset()
    return found


def all_reports() -> dict[str, tuple[list[str], list[str]]]:
    """What is found in each program, and in its twin; in a process of its own."""
    command = [sys.executable, "-m", "tests.simulator.checked.streams"]
    run = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, timeout=120, check=True)
    found: dict[str, tuple[list[str], list[str]]] = json.loads(run.stdout)
    return found


def main() -> None:
    """Print what is found in each program: the mistake, and its twin."""
    from cudapy import simulator

    simulator.enable(check_races=True, findings="record", reports=False)
    json.dump({name: [reports(name, right) for right in (False, True)] for name in PROGRAMS}, sys.stdout)


if __name__ == "__main__":
    main()
