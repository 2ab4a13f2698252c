"""Events: points in a stream to wait for and to time."""

from __future__ import annotations

import ctypes
import time

import pytest

from cudapy import driver
from cudapy.driver import (
    CU_IPC_HANDLE_SIZE,
    CUdevice_attribute,
    CUevent_flags,
    CUevent_record_flags,
    CUresult,
)

from .kernels import context as context
from .kernels import event, function, held, launch, needs, ok, stream

pytestmark = pytest.mark.gpu

Flags = CUevent_flags


def test_the_time_between_two() -> None:
    spin = function("spin")
    launch(spin, 1, (0,), (ctypes.c_longlong,))  # loads it
    with stream() as queue, event() as start, event() as end:
        before = time.perf_counter()
        ok(driver.cuEventRecord(start, queue))
        launch(spin, 1, (20_000_000,), (ctypes.c_longlong,), queue)
        ok(driver.cuEventRecordWithFlags(end, queue, CUevent_record_flags.CU_EVENT_RECORD_DEFAULT))
        ok(driver.cuEventSynchronize(end))
        wall = 1000 * (time.perf_counter() - before)
        elapsed = ok(driver.cuEventElapsedTime(start, end))
        backwards = ok(driver.cuEventElapsedTime(end, start))
    assert isinstance(elapsed, float)
    assert 19 <= elapsed <= wall + 1
    assert backwards == pytest.approx(-elapsed, abs=0.01)


def test_there_is_no_time_without_a_record() -> None:
    with event() as start, event() as end, event(Flags.CU_EVENT_DISABLE_TIMING) as untimed:
        ok(driver.cuEventRecord(end, None))
        ok(driver.cuEventRecord(untimed, None))
        ok(driver.cuCtxSynchronize())
        invalid = (CUresult.CUDA_ERROR_INVALID_HANDLE, None)
        assert driver.cuEventElapsedTime(start, end) == invalid
        assert driver.cuEventElapsedTime(untimed, end) == invalid


def test_there_is_no_time_before_the_end() -> None:
    with stream() as queue, event() as start, event() as end:
        ok(driver.cuEventRecord(start, queue))
        with held(queue):
            ok(driver.cuEventRecord(end, queue))
            assert driver.cuEventElapsedTime(start, end) == (CUresult.CUDA_ERROR_NOT_READY, None)
        assert ok(driver.cuEventElapsedTime(start, end)) >= 0


def test_an_event_is_ready_unless_it_waits() -> None:
    with stream() as queue, event() as done:
        assert driver.cuEventQuery(done) == (CUresult.CUDA_SUCCESS,)
        with held(queue):
            ok(driver.cuEventRecord(done, queue))
            assert driver.cuEventQuery(done) == (CUresult.CUDA_ERROR_NOT_READY,)
        ok(driver.cuEventSynchronize(done))
        assert driver.cuEventQuery(done) == (CUresult.CUDA_SUCCESS,)


def test_a_later_record_replaces_the_earlier() -> None:
    with stream() as queue, stream() as other, event(Flags.CU_EVENT_DISABLE_TIMING) as done, held(queue):
        ok(driver.cuEventRecord(done, queue))
        ok(driver.cuEventRecord(done, other))
        ok(driver.cuEventSynchronize(done))
        assert driver.cuStreamQuery(queue) == (CUresult.CUDA_ERROR_NOT_READY,)


def test_an_event_for_other_processes() -> None:
    needs(CUdevice_attribute.CU_DEVICE_ATTRIBUTE_IPC_EVENT_SUPPORTED)
    with event(Flags.CU_EVENT_INTERPROCESS | Flags.CU_EVENT_DISABLE_TIMING) as shared, event() as own:
        handle = ok(driver.cuIpcGetEventHandle(shared))
        assert len(handle.reserved) == CU_IPC_HANDLE_SIZE
        assert any(handle.reserved)
        status, none = driver.cuIpcGetEventHandle(own)
        assert status != CUresult.CUDA_SUCCESS and none is None


def test_flags_that_do_not_go_together() -> None:
    assert driver.cuEventCreate(Flags.CU_EVENT_INTERPROCESS) == (CUresult.CUDA_ERROR_INVALID_VALUE, None)
    assert driver.cuEventCreate(1 << 20) == (CUresult.CUDA_ERROR_INVALID_VALUE, None)


@pytest.mark.parametrize("flag", [Flags.CU_EVENT_DEFAULT, Flags.CU_EVENT_BLOCKING_SYNC])
def test_waiting_on_the_host(flag: int) -> None:
    with stream() as queue, event(flag) as done:
        launch(function("spin"), 1, (1_000_000,), (ctypes.c_longlong,), queue)
        ok(driver.cuEventRecord(done, queue))
        ok(driver.cuEventSynchronize(done))
        assert driver.cuStreamQuery(queue) == (CUresult.CUDA_SUCCESS,)
