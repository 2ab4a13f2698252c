"""Events: points in a stream to wait for and to time; what other processes see of events and memory."""

from __future__ import annotations

import ctypes
import time

import pytest

from cudapy import runtime
from cudapy.driver import CUdevice_attribute
from cudapy.runtime import cudaIpcMemHandle_t

from .apis import RUNTIME, Api, only
from .apis import api as api
from .kernels import held, needs, needs_driver, ok, owned, run_python

pytestmark = pytest.mark.gpu


def test_the_time_between_two(api: Api) -> None:
    spin = api.kernel("spin")
    api.launch(spin, 1, (0,), (ctypes.c_longlong,))  # loads it
    with api.stream() as queue, api.event() as start, api.event() as end:
        before = time.perf_counter()
        ok(api.EventRecord(start, queue))
        api.launch(spin, 1, (20_000_000,), (ctypes.c_longlong,), queue)
        ok(api.EventRecordWithFlags(end, queue, api.EventRecordDefault))
        ok(api.EventSynchronize(end))
        wall = 1000 * (time.perf_counter() - before)
        elapsed = ok(api.EventElapsedTime(start, end))
        backwards = ok(api.EventElapsedTime(end, start))
        assert isinstance(elapsed, float)
        assert 19 <= elapsed <= wall + 1
        assert backwards == pytest.approx(-elapsed, abs=0.01)
        assert ok(api.EventElapsedTime(start, start)) == 0
        if not api.is_driver:
            assert ok(runtime.cudaEventElapsedTime_v2(start, end)) == elapsed


@only(RUNTIME)
def test_events_without_flags_are_timed() -> None:
    with owned(runtime.cudaEventCreate(), runtime.cudaEventDestroy) as plain:
        ok(runtime.cudaEventRecord(plain, 0))
        ok(runtime.cudaEventSynchronize(plain))
        assert ok(runtime.cudaEventElapsedTime(plain, plain)) == 0


def test_there_is_no_time_without_a_record(api: Api) -> None:
    with api.event() as start, api.event() as end, api.event(api.EventDisableTiming) as untimed:
        ok(api.EventRecord(end, None))
        ok(api.EventRecord(untimed, None))
        ok(api.CtxSynchronize())
        invalid = (api.ErrorInvalidHandle, None)
        assert api.EventElapsedTime(start, end) == invalid
        assert api.EventElapsedTime(untimed, end) == invalid
        assert api.EventElapsedTime(untimed, untimed) == invalid


def test_there_is_no_time_before_the_end(api: Api) -> None:
    with api.stream() as queue, api.event() as start, api.event() as end:
        ok(api.EventRecord(start, queue))
        with held(queue):
            ok(api.EventRecord(end, queue))
            assert api.EventElapsedTime(start, end) == (api.ErrorNotReady, None)
        assert ok(api.EventElapsedTime(start, end)) >= 0


@pytest.mark.parametrize("flags", ["EventDefault", "EventDisableTiming"])
def test_an_event_is_ready_unless_it_waits(api: Api, flags: str) -> None:
    with api.stream() as queue, api.event(getattr(api, flags)) as done:
        assert api.EventQuery(done) == (api.Success,)  # not recorded yet
        with held(queue):
            ok(api.EventRecord(done, queue))
            assert api.EventQuery(done) == (api.ErrorNotReady,)
        assert api.EventSynchronize(done) == (api.Success,)
        assert api.EventQuery(done) == (api.Success,)


def test_a_later_record_replaces_the_earlier(api: Api) -> None:
    untimed = api.EventDisableTiming
    with api.stream() as queue, api.stream() as other, api.event(untimed) as done, held(queue):
        ok(api.EventRecord(done, queue))
        ok(api.EventRecord(done, other))
        ok(api.EventSynchronize(done))
        assert api.StreamQuery(queue) == (api.ErrorNotReady,)


def test_flags_that_do_not_go_together(api: Api) -> None:
    for flags in (api.EventInterprocess, 1 << 20):
        assert api.EventCreate(flags) == (api.ErrorInvalidValue, None)


@pytest.mark.parametrize("flag", ["EventDefault", "EventBlockingSync"])
def test_waiting_on_the_host(api: Api, flag: str) -> None:
    with api.stream() as queue, api.event(getattr(api, flag)) as done:
        api.launch(api.kernel("spin"), 1, (1_000_000,), (ctypes.c_longlong,), queue)
        ok(api.EventRecord(done, queue))
        ok(api.EventSynchronize(done))
        assert api.StreamQuery(queue) == (api.Success,)


def test_an_event_for_other_processes(api: Api) -> None:
    needs(CUdevice_attribute.CU_DEVICE_ATTRIBUTE_IPC_EVENT_SUPPORTED)
    with api.event(api.EventInterprocess | api.EventDisableTiming) as shared, api.event() as own:
        handle = ok(api.IpcGetEventHandle(shared))
        assert len(handle.reserved) == 64 and any(handle.reserved)
        status, none = api.IpcGetEventHandle(own)
        assert status != api.Success and none is None


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


@only(RUNTIME)
class TestOtherProcesses:
    """The driver's are in test_driver_ipc."""

    def test_an_event(self, api: Api) -> None:
        needs(CUdevice_attribute.CU_DEVICE_ATTRIBUTE_IPC_EVENT_SUPPORTED)
        flags = runtime.cudaEventInterprocess | runtime.cudaEventDisableTiming
        with api.event(flags) as shared, api.stream() as queue:
            handle = ok(runtime.cudaIpcGetEventHandle(shared))
            ok(runtime.cudaEventRecord(shared, queue))
            done = run_python(OPEN_EVENT, handle.reserved.hex())
            assert done.returncode == 0, done.stderr
            assert done.stdout.strip() == "0 0"

    def test_memory(self, api: Api) -> None:
        with api.memory(1 << 21) as pointer:
            api.write(pointer, [5, 6, 7, 8])
            handle = ok(runtime.cudaIpcGetMemHandle(pointer))
            assert len(handle.reserved) == 64
            done = run_python(OPEN_MEMORY, handle.reserved.hex())
            assert done.returncode == 0, done.stderr
            assert done.stdout.strip() == "[5, 6, 7, 8]"
            assert api.read(pointer, 4) == [0x01010101] * 2 + [7, 8]

    def test_a_handle_of_nothing(self) -> None:
        lazy = runtime.cudaIpcMemLazyEnablePeerAccess
        status, pointer = runtime.cudaIpcOpenMemHandle(cudaIpcMemHandle_t(), lazy)
        assert status != 0 and pointer is None


@only(RUNTIME)
def test_an_event_of_an_execution_context(api: Api) -> None:
    api.needs_function("DeviceGetExecutionCtx")
    needs_driver(13, 1)
    context = ok(runtime.cudaDeviceGetExecutionCtx(0))
    with api.event() as done:
        ok(runtime.cudaExecutionCtxRecordEvent(context, done))
        ok(runtime.cudaExecutionCtxSynchronize(context))
        assert runtime.cudaEventQuery(done) == (0,)
    assert ok(runtime.cudaExecutionCtxGetDevice(context)) == 0
