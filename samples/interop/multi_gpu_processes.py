"""simpleIPC and its kin: a process for each device, a ring between them.

    python samples/interop/multi_gpu_processes.py

Each process has a device and a buffer, and hands the handle of its buffer to its neighbour, which adds its
own numbers to what it reads there: after as many steps as processes, each has the sum of all. With one
device, two processes share it.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Barrier

import numpy as np

from cudapy import simulator
from cudapy.core import CUDAError, Device, LaunchConfig, Program, launch
from cudapy.driver import CUipcMem_flags, CUipcMemHandle, CUresult
from cudapy.driver import checked as cu

KERNEL = """
extern "C" __global__ void add(float *x, const float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    x[i] += y[i];
}
"""
N, THREADS = 1 << 16, 256


def worker(
    rank: int, ordinal: int, left: Connection, right: Connection, barrier: Barrier, count: int
) -> None:
    """What the process `rank` of `count` does: pass on what came last, add it to the sum."""
    simulator.stand_in()
    device = Device(ordinal)
    device.set_current()
    stream = device.create_stream()
    add = Program(KERNEL, "c++").compile("cubin").get_kernel("add")
    config = LaunchConfig(grid=N // THREADS, block=THREADS)

    mine = np.full(N, rank + 1, np.float32)
    outbox, inbox, total = (int(cu.cuMemAlloc(mine.nbytes)) for _ in range(3))
    for pointer in (outbox, total):
        cu.cuMemcpyHtoDAsync(pointer, mine, mine.nbytes, stream.handle)
    stream.sync()
    try:
        right.send(bytes(cu.cuIpcGetMemHandle(outbox).reserved))
    except CUDAError as error:
        sys.exit(77 if error.code == CUresult.CUDA_ERROR_NOT_SUPPORTED else 1)
    handle = CUipcMemHandle(reserved=left.recv())
    theirs = int(cu.cuIpcOpenMemHandle(handle, CUipcMem_flags.CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS))

    for _ in range(count - 1):
        barrier.wait()  # all outboxes are full
        cu.cuMemcpyAsync(inbox, theirs, mine.nbytes, stream.handle)
        launch(stream, config, add, total, inbox)
        stream.sync()
        barrier.wait()  # all have read
        cu.cuMemcpyAsync(outbox, inbox, mine.nbytes, stream.handle)
        stream.sync()
    found = np.empty_like(mine)
    cu.cuMemcpyDtoH(found, total, found.nbytes)
    barrier.wait()
    cu.cuIpcCloseMemHandle(theirs)
    barrier.wait()  # closed by the neighbour before it is freed
    for pointer in (outbox, inbox, total):
        cu.cuMemFree(pointer)
    sys.exit(0 if (found == count * (count + 1) / 2).all() else 1)


def main() -> int:
    os.environ.setdefault("CUDAPY_SIMULATOR_DEVICES", "2")  # where the simulator stands in, there are two
    simulator.stand_in()
    devices = len(Device.get_all_devices())
    count = max(2, devices)
    context = multiprocessing.get_context("spawn")
    pipes = [context.Pipe() for _ in range(count)]  # from rank i to rank i + 1
    barrier = context.Barrier(count, timeout=60)  # so that nobody waits for a process that has failed
    processes = [
        context.Process(
            target=worker,
            args=(i, i % devices, pipes[i - 1][0], pipes[i][1], barrier, count),
        )
        for i in range(count)
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    codes = [process.exitcode for process in processes]
    if set(codes) == {77}:
        print("WAIVED: these devices share nothing between processes")
        return 77
    right = not any(codes)
    print(f"{count} processes on {devices} device(s) went round the ring")
    print("PASS" if right else "FAIL")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
