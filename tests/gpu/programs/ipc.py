"""Memory and an event shared with another process through IPC handles, their bytes sent over a pipe."""

import os
import subprocess
import sys

import numpy as np
from cuda.bindings import runtime as rt


def ck(r):
    assert r[0] == rt.cudaError_t.cudaSuccess, r
    return r[1] if len(r) == 2 else r[1:]


if len(sys.argv) > 1 and sys.argv[1] == "child":
    data = sys.stdin.buffer.read()
    handle = rt.cudaIpcMemHandle_t()
    handle.reserved = data[:64]
    event = rt.cudaIpcEventHandle_t()
    event.reserved = data[64:128]
    ck(rt.cudaSetDevice(0))
    p = ck(rt.cudaIpcOpenMemHandle(handle, rt.cudaIpcMemLazyEnablePeerAccess))
    e = ck(rt.cudaIpcOpenEventHandle(event))
    ck(rt.cudaEventSynchronize(e))
    found = np.zeros(16, np.uint8)
    ck(rt.cudaMemcpy(found.ctypes.data, p, 16, rt.cudaMemcpyKind.cudaMemcpyDeviceToHost))
    ck(rt.cudaMemset(p, 9, 8))
    ck(rt.cudaDeviceSynchronize())
    ck(rt.cudaIpcCloseMemHandle(p))
    print(found.tolist())
else:
    ck(rt.cudaSetDevice(0))
    memory = ck(rt.cudaMalloc(1 << 20))
    event = ck(rt.cudaEventCreateWithFlags(rt.cudaEventDisableTiming | rt.cudaEventInterprocess))
    ck(rt.cudaMemset(memory, 7, 1 << 20))
    ck(rt.cudaEventRecord(event, 0))
    mem_handle, event_handle = ck(rt.cudaIpcGetMemHandle(memory)), ck(rt.cudaIpcGetEventHandle(event))
    message = bytes(mem_handle.reserved) + bytes(event_handle.reserved)
    print(type(mem_handle).__name__, type(mem_handle.reserved).__name__, len(message))
    done = subprocess.run(os.environ["RUN_AGAIN"].split("|") + ["child"], input=message, capture_output=True)
    print(done.stdout.decode().strip(), done.stderr.decode()[-500:])
    back = np.zeros(16, np.uint8)
    ck(rt.cudaMemcpy(back.ctypes.data, memory, 16, rt.cudaMemcpyKind.cudaMemcpyDeviceToHost))
    print(back.tolist())
    ck(rt.cudaFree(memory))
