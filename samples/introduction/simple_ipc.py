"""simpleIPC: several processes work on the memory of one.

    python samples/introduction/simple_ipc.py

The parent allocates, and hands 64-byte handles of its memory and its event to child processes. Each opens
them, waits for the event on the device, and fills its part. Handles open in another process only.
"""

from __future__ import annotations

import multiprocessing
import sys

import numpy as np

from cudapy import simulator
from cudapy.core import CUDAError, Device, LaunchConfig, Program, launch
from cudapy.driver import CUevent_flags, CUipcEventHandle, CUipcMem_flags, CUipcMemHandle, CUresult
from cudapy.driver import checked as cu

KERNEL = """
extern "C" __global__ void add(int *data, int first, int value)
{
    int i = first + blockIdx.x * blockDim.x + threadIdx.x;
    data[i] += value;
}
"""
CHILDREN = 3
PART = 4096
THREADS = 256


def child(number: int, memory_handle: bytes, event_handle: bytes) -> None:
    """Add `number + 1` to part `number` of the parent's memory."""
    simulator.stand_in()
    device = Device()
    device.set_current()
    stream = device.create_stream()
    kernel = Program(KERNEL, "c++").compile("cubin").get_kernel("add")

    lazily = CUipcMem_flags.CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS
    data = int(cu.cuIpcOpenMemHandle(CUipcMemHandle(reserved=memory_handle), lazily))
    event = cu.cuIpcOpenEventHandle(CUipcEventHandle(reserved=event_handle))
    cu.cuStreamWaitEvent(stream.handle, event, 0)
    launch(stream, LaunchConfig(grid=PART // THREADS, block=THREADS), kernel, data, number * PART, number + 1)
    stream.sync()
    cu.cuEventDestroy(event)
    cu.cuIpcCloseMemHandle(data)


def main() -> int:
    simulator.stand_in()
    device = Device()
    device.set_current()
    stream = device.create_stream()
    numbers = np.arange(CHILDREN * PART, dtype=np.int32)
    data = cu.cuMemAlloc(numbers.nbytes)
    try:
        event = cu.cuEventCreate(
            CUevent_flags.CU_EVENT_INTERPROCESS.value | CUevent_flags.CU_EVENT_DISABLE_TIMING.value
        )
        handles = bytes(cu.cuIpcGetMemHandle(data).reserved), bytes(cu.cuIpcGetEventHandle(event).reserved)
    except CUDAError as error:
        if error.code != CUresult.CUDA_ERROR_NOT_SUPPORTED:
            raise
        print("WAIVED: this device shares nothing between processes")
        return 77
    cu.cuMemcpyHtoDAsync(data, numbers, numbers.nbytes, stream.handle)
    cu.cuEventRecord(event, stream.handle)

    context = multiprocessing.get_context("spawn")  # a fork would inherit a CUDA that does not work there
    children = [context.Process(target=child, args=(i, *handles)) for i in range(CHILDREN)]
    for process in children:
        process.start()
    for process in children:
        process.join()

    found = np.empty_like(numbers)
    cu.cuMemcpyDtoH(found, data, found.nbytes)
    cu.cuEventDestroy(event)
    cu.cuMemFree(data)
    right = np.array_equal(found, numbers + np.repeat(np.arange(1, CHILDREN + 1), PART))
    right = right and all(process.exitcode == 0 for process in children)
    print(f"{CHILDREN} processes on one allocation: {'PASS' if right else 'FAIL'}")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
