"""The Runtime API: events, and what other processes see of events and memory."""

from __future__ import annotations

import ctypes
import time

import pytest

from cudapy import runtime as rt
from cudapy.runtime import cudaDeviceAttr, cudaError_t, cudaIpcMemHandle_t

from .kernels import held, needs_driver, ok, owned, run_python
from .runtime_kernels import device as device
from .runtime_kernels import event, kernel, launch, memory, needs, needs_function, read, stream, write

pytestmark = pytest.mark.gpu


def test_they_time_what_lies_between() -> None:
    spin = kernel("spin")
    with (
        stream() as queue,
        owned(rt.cudaEventCreate(), rt.cudaEventDestroy) as start,
        owned(rt.cudaEventCreate(), rt.cudaEventDestroy) as end,
    ):
        launch(spin, 1, (1000,), (ctypes.c_longlong,), queue)
        began = time.perf_counter()
        ok(rt.cudaEventRecord(start, queue))
        launch(spin, 1, (5_000_000,), (ctypes.c_longlong,), queue)
        ok(rt.cudaEventRecord(end, queue))
        ok(rt.cudaEventSynchronize(end))
        wall = 1000 * (time.perf_counter() - began)
        milliseconds = ok(rt.cudaEventElapsedTime(start, end))
        assert isinstance(milliseconds, float)
        assert 4.5 < milliseconds < wall + 1
        assert ok(rt.cudaEventElapsedTime_v2(start, end)) == milliseconds
        assert ok(rt.cudaEventElapsedTime(start, start)) == 0


def test_it_is_ready_when_the_work_before_it_is_done() -> None:
    with stream() as queue, event(rt.cudaEventDisableTiming) as done:
        assert rt.cudaEventQuery(done) == (cudaError_t.cudaSuccess,)  # not recorded yet
        with held(queue):
            ok(rt.cudaEventRecordWithFlags(done, queue, rt.cudaEventRecordDefault))
            assert rt.cudaEventQuery(done) == (cudaError_t.cudaErrorNotReady,)
        assert rt.cudaEventQuery(done) == (cudaError_t.cudaSuccess,)
        assert rt.cudaEventSynchronize(done) == (cudaError_t.cudaSuccess,)


def test_flags() -> None:
    with stream() as queue, event(rt.cudaEventDisableTiming | rt.cudaEventBlockingSync) as untimed:
        ok(rt.cudaEventRecord(untimed, queue))
        ok(rt.cudaEventSynchronize(untimed))
        status, time = rt.cudaEventElapsedTime(untimed, untimed)
        assert (status, time) == (cudaError_t.cudaErrorInvalidResourceHandle, None)
    with event() as never:
        assert rt.cudaEventElapsedTime(never, never)[0] == cudaError_t.cudaErrorInvalidResourceHandle
    assert rt.cudaEventCreateWithFlags(1 << 20) == (cudaError_t.cudaErrorInvalidValue, None)


OPEN_EVENT = """
import sys
from cudapy import runtime as rt

handle = rt.cudaIpcEventHandle_t(reserved=bytes.fromhex(sys.argv[1]))
event = rt.checked.cudaIpcOpenEventHandle(handle)
print(int(rt.cudaEventSynchronize(event)[0]), int(rt.cudaEventDestroy(event)[0]))
"""

OPEN_MEMORY = """
import ctypes
import sys
from cudapy import runtime as rt

handle = rt.cudaIpcMemHandle_t(reserved=bytes.fromhex(sys.argv[1]))
pointer = rt.checked.cudaIpcOpenMemHandle(handle, rt.cudaIpcMemLazyEnablePeerAccess)
data = (ctypes.c_int * 4)()
rt.checked.cudaMemcpy(data, pointer, 16, rt.cudaMemcpyKind.cudaMemcpyDeviceToHost)
rt.checked.cudaMemset(pointer, 1, 8)
rt.checked.cudaDeviceSynchronize()
rt.checked.cudaIpcCloseMemHandle(pointer)
print(list(data))
"""


class TestOtherProcesses:
    def test_an_event(self) -> None:
        needs(cudaDeviceAttr.cudaDevAttrIpcEventSupport)
        with event(rt.cudaEventInterprocess | rt.cudaEventDisableTiming) as shared, stream() as queue:
            handle = ok(rt.cudaIpcGetEventHandle(shared))
            assert len(handle.reserved) == 64 and any(handle.reserved)
            ok(rt.cudaEventRecord(shared, queue))
            done = run_python(OPEN_EVENT, handle.reserved.hex())
            assert done.returncode == 0, done.stderr
            assert done.stdout.strip() == "0 0"

    def test_an_event_that_is_not_meant_to_be_shared(self) -> None:
        with event() as own:
            status, handle = rt.cudaIpcGetEventHandle(own)
            assert status != cudaError_t.cudaSuccess and handle is None

    def test_memory(self) -> None:
        with memory(1 << 21) as pointer:
            write(pointer, [5, 6, 7, 8])
            handle = ok(rt.cudaIpcGetMemHandle(pointer))
            assert len(handle.reserved) == 64
            done = run_python(OPEN_MEMORY, handle.reserved.hex())
            assert done.returncode == 0, done.stderr
            assert done.stdout.strip() == "[5, 6, 7, 8]"
            assert read(pointer, 4) == [0x01010101] * 2 + [7, 8]

    def test_a_handle_of_nothing(self) -> None:
        status, pointer = rt.cudaIpcOpenMemHandle(cudaIpcMemHandle_t(), rt.cudaIpcMemLazyEnablePeerAccess)
        assert status != cudaError_t.cudaSuccess and pointer is None


def test_an_event_of_an_execution_context() -> None:
    needs_function("cudaDeviceGetExecutionCtx")
    needs_driver(13, 1)
    context = ok(rt.cudaDeviceGetExecutionCtx(0))
    with event() as done:
        ok(rt.cudaExecutionCtxRecordEvent(context, done))
        ok(rt.cudaExecutionCtxSynchronize(context))
        assert rt.cudaEventQuery(done) == (cudaError_t.cudaSuccess,)
    assert ok(rt.cudaExecutionCtxGetDevice(context)) == 0
