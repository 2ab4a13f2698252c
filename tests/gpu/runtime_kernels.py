"""What the GPU tests of the Runtime API share: a current device, kernels, memory, what a test needs."""

from __future__ import annotations

import contextlib
import ctypes
import functools
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from cudapy import driver, pathfinder, runtime
from cudapy.runtime import cudaDeviceAttr, cudaMemcpyKind, cudaMemLocation, cudaMemLocationType

from .kernels import DEVICE, SOURCE, cubin, ok, owned, primary_context

FILL_TYPES = (ctypes.c_void_p, ctypes.c_int, ctypes.c_int)


@contextlib.contextmanager
def current() -> Iterator[int]:
    """Device 0 is current in here, which leaves the thread's stack of contexts as it found it."""
    context = primary_context()
    ok(driver.cuCtxPushCurrent(context))
    ok(runtime.cudaSetDevice(DEVICE))
    runtime.cudaGetLastError()
    yield DEVICE
    ok(runtime.cudaDeviceSynchronize())
    assert ok(driver.cuCtxPopCurrent()) == context, "the test left another context on the stack"


@pytest.fixture(autouse=True)
def device() -> Iterator[int]:
    """Device 0 is current during a test."""
    with current() as device:
        yield device


# -- What a test needs -----------------------------------------------------------------------------------


def has(symbol: str) -> bool:
    """Whether the libcudart that was loaded has this C function."""
    return hasattr(pathfinder.load("cudart").handle, symbol)


def needs_function(symbol: str) -> None:
    """Skip the test unless the libcudart that was loaded has this C function."""
    if not has(symbol):
        pytest.skip(f"{pathfinder.load('cudart').path} has no {symbol}")


def attribute(name: cudaDeviceAttr) -> int:
    """A property of the device; 0 where the runtime does not know it."""
    return runtime.cudaDeviceGetAttribute(name, DEVICE)[1] or 0


def needs(name: cudaDeviceAttr) -> int:
    """Skip the test unless the device has this property; its value."""
    value = attribute(name)
    if not value:
        pytest.skip(f"{name.name} is 0")
    return value


# -- Kernels ---------------------------------------------------------------------------------------------


@functools.cache
def _loaded(source: str) -> runtime.cudaLibrary_t:
    return ok(runtime.cudaLibraryLoadData(cubin(source), None, None, 0, None, None, 0))


def library(source: str = SOURCE) -> runtime.cudaLibrary_t:
    """`source`, compiled and loaded for good."""
    needs_function("cudaLibraryLoadData")
    return _loaded(source)


def kernel(name: str, source: str = SOURCE) -> runtime.cudaKernel_t:
    """A kernel of `source`."""
    return ok(runtime.cudaLibraryGetKernel(library(source), name.encode()))


def launch(func: Any, threads: int, values: tuple[Any, ...], types: tuple[Any, ...], on: Any = 0) -> None:
    """Launch a kernel as one block of `threads`."""
    ok(runtime.cudaLaunchKernel(func, 1, threads, (values, types), 0, on))


def fill(pointer: int, value: int, count: int, on: Any = 0) -> None:
    """Let the device write `count` words, at most 1024."""
    launch(kernel("fill"), count, (pointer, value, count), FILL_TYPES, on)


# -- Memory, streams, events -----------------------------------------------------------------------------


@contextlib.contextmanager
def memory(size: int) -> Iterator[int]:
    """`size` bytes of device memory, all 0."""
    with owned(runtime.cudaMalloc(size), runtime.cudaFree) as pointer:
        ok(runtime.cudaMemset(pointer, 0, size))
        ok(runtime.cudaDeviceSynchronize())
        yield pointer


def stream(flags: int = runtime.cudaStreamNonBlocking) -> contextlib.AbstractContextManager[Any]:
    """A stream, by default one that the legacy default stream does not wait for."""
    return owned(runtime.cudaStreamCreateWithFlags(flags), runtime.cudaStreamDestroy)


def event(flags: int = runtime.cudaEventDefault) -> contextlib.AbstractContextManager[Any]:
    """An event."""
    return owned(runtime.cudaEventCreateWithFlags(flags), runtime.cudaEventDestroy)


def write(pointer: int, values: Any, dtype: Any = np.int32) -> None:
    """Copy numbers to device memory; they are there for all streams."""
    data = np.asarray(values, dtype)
    ok(runtime.cudaMemcpy(pointer, data, data.nbytes, cudaMemcpyKind.cudaMemcpyHostToDevice))
    ok(runtime.cudaDeviceSynchronize())


def read(pointer: int, count: int, dtype: Any = np.int32) -> list[Any]:
    """Copy `count` numbers from device memory, once all work is done."""
    data = np.empty(count, dtype)
    ok(runtime.cudaDeviceSynchronize())
    ok(runtime.cudaMemcpy(data, pointer, data.nbytes, cudaMemcpyKind.cudaMemcpyDeviceToHost))
    return data.tolist()


def words(address: int, count: int) -> ctypes.Array[ctypes.c_int]:
    """A view of host memory at an address."""
    return (ctypes.c_int * count).from_address(address)


def device_location() -> cudaMemLocation:
    """Memory on the device."""
    return cudaMemLocation(type=cudaMemLocationType.cudaMemLocationTypeDevice, id=DEVICE)
