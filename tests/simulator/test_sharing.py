"""Memory, pools and events of several processes on the simulator: what is given back, and who dies when."""

from __future__ import annotations

import sys

import pytest

from .test_device import output

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes share memory on Linux alone")

PAIR = """
import os, pickle, signal, subprocess, sys
from cudapy import driver
from cudapy.driver import *
cu = driver.checked
cu.cuInit(0)
context = cu.cuDevicePrimaryCtxRetain(0)
cu.cuCtxPushCurrent(context)
location = CUmemLocation(type=1, id=0)

def send(link, what):
    link.write(pickle.dumps(what))
    link.flush()

def refused(function, *arguments):
    try:
        function(*arguments)
    except RuntimeError as error:
        return str(error).partition("The driver says: ")[2].partition(". Hint")[0]
    return "not refused"

def start(code, fds=()):
    command = [sys.executable, "-c", PAIR + code]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, pass_fds=fds)
"""
PAIR = f"PAIR = {PAIR!r}\nexec(PAIR)\n"


def test_memory_that_is_opened_twice_and_given_back() -> None:
    code = (
        PAIR
        + '''
OTHER = """
handle = CUipcMemHandle(reserved=pickle.load(sys.stdin.buffer))
first, second = (int(cu.cuIpcOpenMemHandle(handle, 1)) for _ in range(2))
cu.cuMemsetD8(first, 7, 100)
send(sys.stdout.buffer, (first == second, cu.cuPointerGetAttribute(CUpointer_attribute(12), first),
                         driver.cuMemFree(first)[0].name, driver.cuMemsetD8(first, 7, 101)[0].name))
cu.cuIpcCloseMemHandle(first)
cu.cuMemsetD8(second, 8, 50)
cu.cuIpcCloseMemHandle(second)
send(sys.stdout.buffer, refused(cu.cuIpcCloseMemHandle, second))
pickle.load(sys.stdin.buffer)
send(sys.stdout.buffer, refused(cu.cuIpcOpenMemHandle, handle, 1))
"""
pointer = cu.cuMemAlloc(100)
handle = bytes(cu.cuIpcGetMemHandle(pointer).reserved)
print(driver.cuIpcOpenMemHandle(CUipcMemHandle(reserved=handle), 1)[0].name)
other = start(OTHER.replace("CUpointer_attribute(12)", "CUpointer_attribute.CU_POINTER_ATTRIBUTE_RANGE_SIZE"))
send(other.stdin, handle)
print(*pickle.load(other.stdout))
print(pickle.load(other.stdout).startswith("no memory of another process is open at"))
found = bytearray(100)
cu.cuMemcpyDtoH(found, pointer, 100)
print(set(found[:50]), set(found[50:]))
free = cu.cuMemGetInfo()[0]
cu.cuMemFree(pointer)
print(cu.cuMemGetInfo()[0] - free)
send(other.stdin, "freed")
print(pickle.load(other.stdout).endswith("has given back what the handle is of"))
print(other.wait())
'''
    )
    assert output(code).splitlines() == [
        "CUDA_ERROR_INVALID_CONTEXT",
        "True 100 CUDA_ERROR_INVALID_VALUE CUDA_ERROR_INVALID_VALUE",
        "True",
        "{8} {7}",
        "100",
        "True",
        "0",
    ]


def test_who_made_it_is_killed() -> None:
    """Open memory stays, a handle that nobody has opened opens nothing, and nobody waits for the event."""
    code = (
        PAIR
        + '''
OTHER = """
import ctypes, time
first, second = cu.cuMemAlloc(64), cu.cuMemAlloc(64)
cu.cuMemsetD8(first, 5, 64)
events, stream = [cu.cuEventCreate(6) for _ in range(2)], cu.cuStreamCreate(0)
forever = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda _: time.sleep(600))
cu.cuLaunchHostFunc(stream, forever, None)
for event in events: cu.cuEventRecord(event, stream)
send(sys.stdout.buffer, [bytes(cu.cuIpcGetMemHandle(p).reserved) for p in (first, second)])
send(sys.stdout.buffer, [bytes(cu.cuIpcGetEventHandle(event).reserved) for event in events])
time.sleep(600)
"""
other = start(OTHER)
first, second = pickle.load(other.stdout)
handles = pickle.load(other.stdout)
event, later = (cu.cuIpcOpenEventHandle(CUipcEventHandle(reserved=handle)) for handle in handles)
pointer = cu.cuIpcOpenMemHandle(CUipcMemHandle(reserved=first), 1)
stream = cu.cuStreamCreate(0)
cu.cuStreamWaitEvent(stream, event, 0)
print(driver.cuEventQuery(event)[0].name, driver.cuStreamQuery(stream)[0].name)
other.send_signal(signal.SIGKILL)  # and nobody waits for its end: it is a zombie
cu.cuEventSynchronize(event)
cu.cuStreamSynchronize(stream)
found = bytearray(64)
cu.cuMemcpyDtoH(found, pointer, 64)
print(set(found))
cu.cuIpcCloseMemHandle(pointer)
other.wait()
cu.cuEventSynchronize(later)
print("out of reach" in refused(cu.cuIpcOpenMemHandle, CUipcMemHandle(reserved=second), 1))
'''
    )
    assert output(code).splitlines() == ["CUDA_ERROR_NOT_READY CUDA_ERROR_NOT_READY", "{5}", "True"]


def test_a_pool_and_what_was_freed_of_it() -> None:
    code = (
        PAIR
        + '''
OTHER = """
file, live, gone = pickle.load(sys.stdin.buffer)
pool = cu.cuMemPoolImportFromShareableHandle(file, 1, 0)
pointer = cu.cuMemPoolImportPointer(pool, CUmemPoolPtrExportData(reserved=live))
cu.cuMemsetD8(pointer, 9, 100)
send(sys.stdout.buffer, (driver.cuMemsetD8(pointer, 9, 101)[0].name,
    refused(cu.cuMemPoolImportPointer, pool, CUmemPoolPtrExportData(reserved=gone)),
    refused(cu.cuMemAllocFromPoolAsync, 64, pool, 0)))
cu.cuMemFreeAsync(pointer, 0)
cu.cuCtxSynchronize()
maps = open("/proc/self/maps").read().count("pool of device")
send(sys.stdout.buffer, (driver.cuMemsetD8(pointer, 9, 1)[0].name, maps))
cu.cuMemPoolDestroy(pool)
"""
files = len(os.listdir("/proc/self/fd"))
pool = cu.cuMemPoolCreate(CUmemPoolProps(allocType=1, handleTypes=1, location=location))
live, gone = (cu.cuMemAllocFromPoolAsync(100, pool, 0) for _ in range(2))
exported = [bytes(cu.cuMemPoolExportPointer(p).reserved) for p in (live, gone)]
cu.cuMemFreeAsync(gone, 0)
cu.cuCtxSynchronize()
cu.cuMemPoolTrimTo(pool, 0)
file = int(cu.cuMemPoolExportToShareableHandle(pool, 1, 0))
other = start(OTHER, [file])
send(other.stdin, (file, *exported))
beyond, freed, alone = pickle.load(other.stdout)
print(beyond, freed.endswith("has given back what the handle is of"), "another process" in alone)
print(*pickle.load(other.stdout), other.wait())
found = bytearray(100)
cu.cuMemcpyDtoH(found, live, 100)
print(set(found))
os.close(file)
other.stdin.close(), other.stdout.close()
cu.cuMemPoolDestroy(pool)  # before its last memory
cu.cuMemFreeAsync(live, 0)
cu.cuStreamSynchronize(0)
print(len(os.listdir("/proc/self/fd")) - files)
print(refused(cu.cuMemPoolImportFromShareableHandle, 0, 1, 0))
'''
    )
    assert output(code).splitlines() == [
        "CUDA_ERROR_INVALID_VALUE True True",
        "CUDA_ERROR_INVALID_VALUE 0 0",
        "{9}",
        "0",
        "descriptor 0 is not a pool of the simulator",
    ]
