"""Memory, pools and events that another process opens."""

from __future__ import annotations

import contextlib
import os
import pickle
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from cudapy import driver
from cudapy.driver import (
    CU_IPC_HANDLE_SIZE,
    CUdevice_attribute,
    CUevent_flags,
    CUipcMemHandle,
    CUmemAccess_flags,
    CUmemAccessDesc,
    CUmemAllocationGranularity_flags,
    CUmemAllocationHandleType,
    CUmemAllocationProp,
    CUmemAllocationType,
    CUmemPoolProps,
    CUpointer_attribute,
    CUresult,
)

from .kernels import REPOSITORY, device_location, event, held, memory, needs, ok, owned, read, stream, write
from .kernels import context as context

pytestmark = pytest.mark.gpu

FILE = CUmemAllocationHandleType.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR

CHILD = """
import pickle, sys
from cudapy import driver
from cudapy.driver import *

def ok(result):
    assert not result[0], result
    return result[1] if len(result) > 1 else None

def words(pointer, count):
    data = bytearray(4 * count)
    ok(driver.cuMemcpyDtoH(data, pointer, len(data)))
    return list(memoryview(data).cast("i"))

ok(driver.cuInit(0))
context = ok(driver.cuDevicePrimaryCtxRetain(0))
ok(driver.cuCtxPushCurrent(context))
here = CUmemLocation(type=CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE, id=0)
given = pickle.load(sys.stdin.buffer)
"""
USE_MEMORY = """
handle = CUipcMemHandle(reserved=given)
pointer = ok(driver.cuIpcOpenMemHandle(handle, CUipcMem_flags.CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS))
print(words(pointer, 16))
ok(driver.cuMemsetD32(pointer, 42, 4))
ok(driver.cuCtxSynchronize())
ok(driver.cuIpcCloseMemHandle(pointer))
print(driver.cuIpcCloseMemHandle(pointer)[0] == 0)
"""
WAIT_FOR_EVENT = """
event = ok(driver.cuIpcOpenEventHandle(CUipcEventHandle(reserved=given)))
print("it is open", flush=True)
sys.stdin.buffer.readline()
print(driver.cuEventQuery(event)[0].name, flush=True)
ok(driver.cuEventSynchronize(event))
print(driver.cuEventQuery(event)[0].name)
ok(driver.cuEventDestroy(event))
"""
MAP_MEMORY = """
descriptor, size = given
file = CUmemAllocationHandleType.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
handle = ok(driver.cuMemImportFromShareableHandle(descriptor, file))
address = ok(driver.cuMemAddressReserve(size, 0, 0, 0))
ok(driver.cuMemMap(address, size, 0, handle, 0))
both = CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_READWRITE
ok(driver.cuMemSetAccess(address, size, [CUmemAccessDesc(location=here, flags=both)], 1))
print(words(address, 8))
ok(driver.cuMemUnmap(address, size))
ok(driver.cuMemRelease(handle))
ok(driver.cuMemAddressFree(address, size))
"""
USE_POOL = """
descriptor, exported = given
file = CUmemAllocationHandleType.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
pool = ok(driver.cuMemPoolImportFromShareableHandle(descriptor, file, 0))
both = CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_READWRITE
ok(driver.cuMemPoolSetAccess(pool, [CUmemAccessDesc(location=here, flags=both)], 1))
pointer = ok(driver.cuMemPoolImportPointer(pool, CUmemPoolPtrExportData(reserved=exported)))
print(words(pointer, 4))
print(driver.cuMemAllocFromPoolAsync(64, pool, 0)[0] == 0)
ok(driver.cuMemFree(pointer))
ok(driver.cuMemPoolDestroy(pool))
"""


@contextlib.contextmanager
def child(code: str, given: Any, fds: tuple[int, ...] = ()) -> Iterator[subprocess.Popen[bytes]]:
    """Another process that runs CHILD and then `code`, where `given` is what it was given."""
    with subprocess.Popen(
        [sys.executable, "-c", CHILD + code],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        pass_fds=fds,
    ) as process:
        try:
            assert process.stdin
            process.stdin.write(pickle.dumps(given))
            process.stdin.flush()
            yield process
        finally:
            process.kill()


def end(process: subprocess.Popen[bytes]) -> list[str]:
    """The lines that a child still prints; it must end well."""
    out, errors = process.communicate(timeout=60)
    assert (process.returncode, errors.decode()) == (0, "")
    return out.decode().splitlines()


def test_memory() -> None:
    with memory(4096) as pointer:
        capable = CUpointer_attribute.CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE
        if not ok(driver.cuPointerGetAttribute(capable, pointer)):
            pytest.skip("this memory cannot be shared by handle")
        write(pointer, range(16))
        ok(driver.cuCtxSynchronize())
        handle = ok(driver.cuIpcGetMemHandle(pointer))
        assert len(handle.reserved) == CU_IPC_HANDLE_SIZE
        with child(USE_MEMORY, handle.reserved) as other:
            assert end(other) == [str(list(range(16))), "False"]
        assert read(pointer, 6) == [42] * 4 + [4, 5]


def test_event() -> None:
    needs(CUdevice_attribute.CU_DEVICE_ATTRIBUTE_IPC_EVENT_SUPPORTED)
    flags = CUevent_flags.CU_EVENT_INTERPROCESS | CUevent_flags.CU_EVENT_DISABLE_TIMING
    with stream() as queue, event(flags) as shared:
        handle = ok(driver.cuIpcGetEventHandle(shared))
        with child(WAIT_FOR_EVENT, handle.reserved) as other:
            assert other.stdin and other.stdout
            assert other.stdout.readline() == b"it is open\n"
            with held(queue):
                ok(driver.cuEventRecord(shared, queue))
                other.stdin.write(b"recorded\n")
                other.stdin.flush()
                before = other.stdout.readline()
            assert before == b"CUDA_ERROR_NOT_READY\n"
            assert end(other) == ["CUDA_SUCCESS"]


def test_virtual_memory() -> None:
    needs(CUdevice_attribute.CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED)
    properties = CUmemAllocationProp(
        type=CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED,
        requestedHandleTypes=FILE,
        location=device_location(),
    )
    minimum = CUmemAllocationGranularity_flags.CU_MEM_ALLOC_GRANULARITY_MINIMUM
    size = ok(driver.cuMemGetAllocationGranularity(properties, minimum))
    access = [
        CUmemAccessDesc(
            location=device_location(), flags=CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_READWRITE
        )
    ]
    address = ok(driver.cuMemAddressReserve(size, 0, 0, 0))
    with owned(driver.cuMemCreate(size, properties, 0), driver.cuMemRelease) as handle:
        ok(driver.cuMemMap(address, size, 0, handle, 0))
        ok(driver.cuMemSetAccess(address, size, access, 1))
        write(address, range(8))
        descriptor = ok(driver.cuMemExportToShareableHandle(handle, FILE, 0))
        with child(MAP_MEMORY, (descriptor, size), (descriptor,)) as other:
            assert end(other) == [str(list(range(8)))]
        os.close(descriptor)
        ok(driver.cuMemUnmap(address, size))
    ok(driver.cuMemAddressFree(address, size))


def test_pool() -> None:
    needs(CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED)
    if not needs(CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MEMPOOL_SUPPORTED_HANDLE_TYPES) & FILE:
        pytest.skip("pools cannot be exported as file descriptors here")
    properties = CUmemPoolProps(
        allocType=CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED,
        handleTypes=FILE,
        location=device_location(),
    )
    with owned(driver.cuMemPoolCreate(properties), driver.cuMemPoolDestroy) as pool, stream() as queue:
        pointer = ok(driver.cuMemAllocFromPoolAsync(4096, pool, queue))
        ok(driver.cuMemsetD32Async(pointer, 9, 16, queue))
        ok(driver.cuStreamSynchronize(queue))
        descriptor = ok(driver.cuMemPoolExportToShareableHandle(pool, FILE, 0))
        exported = ok(driver.cuMemPoolExportPointer(pointer))
        with child(USE_POOL, (descriptor, exported.reserved), (descriptor,)) as other:
            assert end(other) == ["[9, 9, 9, 9]", "False"]
        os.close(descriptor)
        ok(driver.cuMemFreeAsync(pointer, queue))
        ok(driver.cuStreamSynchronize(queue))


def test_a_handle_that_is_none() -> None:
    assert driver.cuIpcOpenMemHandle(CUipcMemHandle(), 1)[0] != CUresult.CUDA_SUCCESS
    with memory(64) as pointer:
        status, handle = driver.cuIpcGetMemHandle(int(pointer) + (1 << 40))
        assert status == CUresult.CUDA_ERROR_INVALID_VALUE and handle is None
