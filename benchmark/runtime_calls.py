"""The calls of the runtime that are measured, as those in calls.py; the C++ cases are in cpp/runtime.cpp."""

from __future__ import annotations

import ctypes
from typing import Any

from .calls import Call

BYTES = 4096

CALLS = (
    Call("cudaGetDevice", "cudaGetDevice()", "cudaGetDevice(number_at); number.value"),
    Call(
        "cudaMalloc+cudaFree",
        "err, memory = cudaMalloc(4096); err, = cudaFree(memory)",
        "cudaMalloc(handle_at, size); cudaFree(handle)",
        50,
    ),
    Call(
        "cudaMallocAsync+cudaFreeAsync",
        "err, memory = cudaMallocAsync(4096, stream); err, = cudaFreeAsync(memory, stream)",
        "cudaMallocAsync(handle_at, size, stream); cudaFreeAsync(handle, stream)",
    ),
    Call(
        "cudaMemcpyAsync, to the device",
        "cudaMemcpyAsync(pointer, host, 4096, to_device, stream)",
        "cudaMemcpyAsync(pointer, host, size, 1, stream)",
    ),
    Call(
        "cudaMemcpyAsync, to the host",
        "cudaMemcpyAsync(host, pointer, 4096, to_host, stream)",
        "cudaMemcpyAsync(host, pointer, size, 2, stream)",
    ),
    Call(
        "cudaMemsetAsync",
        "cudaMemsetAsync(pointer, 0, 4096, stream)",
        "cudaMemsetAsync(pointer, 0, size, stream)",
    ),
    Call(
        "cudaLaunchKernelExC",
        "cudaLaunchKernelExC(config, kernel, pointers)",
        "cudaLaunchKernelExC(config_at, kernel, pointers)",
    ),
    Call("cudaStreamQuery", "cudaStreamQuery(stream)", "cudaStreamQuery(stream)"),
    Call("cudaStreamSynchronize", "cudaStreamSynchronize(stream)", "cudaStreamSynchronize(stream)"),
    Call(
        "cudaStreamWaitEvent",
        "cudaStreamWaitEvent(stream, event, 0)",
        "cudaStreamWaitEvent(stream, event, 0)",
    ),
    Call("cudaEventRecord", "cudaEventRecord(event, stream)", "cudaEventRecord(event, stream)"),
    Call("cudaEventQuery", "cudaEventQuery(event)", "cudaEventQuery(event)"),
    Call("cudaEventSynchronize", "cudaEventSynchronize(event)", "cudaEventSynchronize(event)"),
    Call(
        "cudaStreamCreateWithFlags+cudaStreamDestroy",
        "err, made = cudaStreamCreateWithFlags(1); err, = cudaStreamDestroy(made)",
        "cudaStreamCreateWithFlags(handle_at, 1); cudaStreamDestroy(handle)",
    ),
    Call(
        "cudaEventCreateWithFlags+cudaEventDestroy",
        "err, made = cudaEventCreateWithFlags(2); err, = cudaEventDestroy(made)",
        "cudaEventCreateWithFlags(handle_at, 2); cudaEventDestroy(handle)",
    ),
)
"""The memory of the host is page-locked, so that no copy waits."""


class Config(ctypes.Structure):
    """`cudaLaunchConfig_t`, of driver_types.h."""

    _fields_ = [
        ("grid", ctypes.c_uint * 3),
        ("block", ctypes.c_uint * 3),
        ("shared", ctypes.c_size_t),
        ("stream", ctypes.c_void_p),
        ("attributes", ctypes.c_void_p),
        ("count", ctypes.c_uint),
    ]


class Handles:
    """What the calls are made with, as plain numbers, made by cudapy.runtime. cubin: of kernels.py."""

    def __init__(self, cubin: bytes) -> None:
        from cudapy.runtime import checked as rt

        self.stream = int(rt.cudaStreamCreateWithFlags(1))
        self.event = int(rt.cudaEventCreateWithFlags(0))
        self.pointer = int(rt.cudaMalloc(BYTES))
        self.host = int(rt.cudaHostAlloc(BYTES, 0))
        library = rt.cudaLibraryLoadData(cubin, [], [], 0, [], [], 0)
        self.kernel = int(rt.cudaLibraryGetKernel(library, b"empty"))

    def drain(self) -> None:
        """Wait until the stream is empty."""
        from cudapy.runtime import checked as rt

        rt.cudaStreamSynchronize(self.stream)


def _named(statement: str, module: Any) -> dict[str, Any]:
    """The functions of a statement; AttributeError for one that the module has not."""
    names = compile(statement, "<statement>", "exec").co_names
    return {name: getattr(module, name) for name in names if name.startswith("cuda")}


def scope_of(runtime: Any, handles: Handles, statement: str) -> dict[str, Any]:
    """What the statement means with `runtime`: cudapy.runtime, or cuda.bindings.runtime."""
    scope = _named(statement, runtime)
    if "config" in statement:
        config = runtime.cudaLaunchConfig_t()
        config.gridDim.x = config.gridDim.y = config.gridDim.z = config.blockDim.y = config.blockDim.z = 1
        config.blockDim.x = 32
        config.stream = runtime.cudaStream_t(handles.stream)
        scope |= {"config": config, "kernel": runtime.cudaKernel_t(handles.kernel), "pointers": 0}
    return scope | {
        "event": runtime.cudaEvent_t(handles.event),
        "host": handles.host,
        "pointer": handles.pointer,
        "stream": runtime.cudaStream_t(handles.stream),
        "to_device": runtime.cudaMemcpyKind.cudaMemcpyHostToDevice,
        "to_host": runtime.cudaMemcpyKind.cudaMemcpyDeviceToHost,
    }


def scope_by_hand(path: str, handles: Handles, statement: str) -> dict[str, Any]:
    """What the statement by hand means; `path` is that of libcudart."""
    config = Config((1, 1, 1), (32, 1, 1), 0, handles.stream, None, 0)
    handle, number = ctypes.c_void_p(), ctypes.c_int()
    return _named(statement, ctypes.CDLL(path)) | {
        "config_at": ctypes.byref(config),
        "event": ctypes.c_void_p(handles.event),
        "handle": handle,
        "handle_at": ctypes.byref(handle),
        "host": ctypes.c_void_p(handles.host),
        "kernel": ctypes.c_void_p(handles.kernel),
        "number": number,
        "number_at": ctypes.byref(number),
        "pointer": ctypes.c_void_p(handles.pointer),
        "pointers": None,
        "size": ctypes.c_size_t(BYTES),
        "stream": ctypes.c_void_p(handles.stream),
    }
