"""Contexts: the stack of each thread, the primary context, limits and flags."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

from cudapy import driver
from cudapy.driver import (
    CUcontext,
    CUctx_flags,
    CUdevice,
    CUevent_flags,
    CUfunc_cache,
    CUlimit,
    CUpointer_attribute,
    CUresult,
)

from .kernels import DEVICE, event, held, needs_driver, needs_no_sanitizer, ok, owned, stream
from .kernels import context as context

pytestmark = pytest.mark.gpu

CREATE: dict[str, Callable[[], Any]] = {
    "cuda12": lambda: driver.cuCtxCreate(0, DEVICE),
    "cuda12 keywords": lambda: driver.cuCtxCreate(flags=0, dev=CUdevice(DEVICE)),
    "cuda13": lambda: driver.cuCtxCreate(None, 0, DEVICE),
    "cuda13 keywords": lambda: driver.cuCtxCreate(ctxCreateParams=None, flags=0, dev=DEVICE),
    "v2": lambda: driver.cuCtxCreate_v2(0, DEVICE),
    "v3": lambda: driver.cuCtxCreate_v3(None, 0, 0, DEVICE),
    "v4": lambda: driver.cuCtxCreate_v4(None, 0, DEVICE),
}


@pytest.mark.parametrize("form", CREATE)
def test_a_new_context_is_current_and_its_own(form: str) -> None:
    if form == "v4":
        needs_driver(12, 5)
    before = ok(driver.cuCtxGetCurrent())
    with owned(CREATE[form](), driver.cuCtxDestroy) as made:
        assert ok(driver.cuCtxGetCurrent()) == made != before
        assert ok(driver.cuCtxGetId(made)) != ok(driver.cuCtxGetId(before))
        assert ok(driver.cuCtxGetDevice()) == DEVICE
        assert ok(driver.cuCtxGetApiVersion(made)) > 0
        assert ok(driver.cuCtxPopCurrent()) == made
        assert ok(driver.cuCtxGetCurrent()) == before


def test_memory_of_one_context_is_not_the_others() -> None:
    needs_no_sanitizer("leaves memory to the end of its context")
    before = ok(driver.cuCtxGetCurrent())
    with owned(driver.cuCtxCreate(0, DEVICE), driver.cuCtxDestroy) as made:
        pointer = ok(driver.cuMemAlloc(256))
        ok(driver.cuCtxPopCurrent())
        whose = ok(driver.cuPointerGetAttribute(CUpointer_attribute.CU_POINTER_ATTRIBUTE_CONTEXT, pointer))
    assert whose == made != before
    status, gone = driver.cuPointerGetAttribute(CUpointer_attribute.CU_POINTER_ATTRIBUTE_CONTEXT, pointer)
    assert (status, gone) == (CUresult.CUDA_ERROR_INVALID_VALUE, None)


def test_push_and_pop_are_a_stack(context: CUcontext) -> None:
    with owned(driver.cuCtxCreate(0, DEVICE), driver.cuCtxDestroy) as made:
        ok(driver.cuCtxPushCurrent(context))
        assert ok(driver.cuCtxGetCurrent()) == context
        assert ok(driver.cuCtxPopCurrent()) == context
        assert ok(driver.cuCtxGetCurrent()) == made
        ok(driver.cuCtxSetCurrent(context))
        assert ok(driver.cuCtxGetCurrent()) == context
        ok(driver.cuCtxSetCurrent(None))  # which pops
        assert ok(driver.cuCtxGetCurrent()) == context


def test_threads_have_stacks_of_their_own(context: CUcontext) -> None:
    seen: list[Any] = []

    def elsewhere() -> None:
        seen.append(ok(driver.cuCtxGetCurrent()))
        seen.append(driver.cuMemAlloc(256))
        ok(driver.cuCtxSetCurrent(context))
        seen.append(ok(driver.cuCtxGetCurrent()))

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    assert seen == [0, (CUresult.CUDA_ERROR_INVALID_CONTEXT, None), context]


def test_no_context_no_device() -> None:
    results: list[Any] = []
    calls = driver.cuCtxGetDevice, driver.cuCtxSynchronize, driver.cuCtxPopCurrent, driver.cuCtxGetCurrent
    thread = threading.Thread(target=lambda: results.extend(call() for call in calls))
    thread.start()
    thread.join()
    invalid = CUresult.CUDA_ERROR_INVALID_CONTEXT
    assert results == [(invalid, None), (invalid,), (invalid, None), (CUresult.CUDA_SUCCESS, 0)]


def test_the_primary_context_is_one(context: CUcontext) -> None:
    assert ok(driver.cuDevicePrimaryCtxRetain(DEVICE)) == context
    ok(driver.cuDevicePrimaryCtxRelease(DEVICE))
    flags, active = ok(driver.cuDevicePrimaryCtxGetState(DEVICE))
    assert active == 1
    assert (flags ^ ok(driver.cuCtxGetFlags())) & CUctx_flags.CU_CTX_SCHED_MASK == 0


def test_primary_context_flags_can_be_changed() -> None:
    flags, _ = ok(driver.cuDevicePrimaryCtxGetState(DEVICE))
    blocking = flags & ~CUctx_flags.CU_CTX_SCHED_MASK | CUctx_flags.CU_CTX_SCHED_BLOCKING_SYNC
    ok(driver.cuDevicePrimaryCtxSetFlags(DEVICE, blocking))
    changed, _ = ok(driver.cuDevicePrimaryCtxGetState(DEVICE))
    ok(driver.cuDevicePrimaryCtxSetFlags(DEVICE, flags))
    assert changed & CUctx_flags.CU_CTX_SCHED_MASK == CUctx_flags.CU_CTX_SCHED_BLOCKING_SYNC
    assert ok(driver.cuDevicePrimaryCtxGetState(DEVICE))[0] == flags


def test_flags_at_creation_and_after() -> None:
    spin, yield_ = CUctx_flags.CU_CTX_SCHED_SPIN, CUctx_flags.CU_CTX_SCHED_YIELD
    with owned(driver.cuCtxCreate(spin, DEVICE), driver.cuCtxDestroy):
        assert ok(driver.cuCtxGetFlags()) & CUctx_flags.CU_CTX_SCHED_MASK == spin
        if ok(driver.cuDriverGetVersion()) >= 12010:
            ok(driver.cuCtxSetFlags(yield_))
            assert ok(driver.cuCtxGetFlags()) & CUctx_flags.CU_CTX_SCHED_MASK == yield_
        ok(driver.cuCtxPopCurrent())


def test_limits() -> None:
    with owned(driver.cuCtxCreate(0, DEVICE), driver.cuCtxDestroy):
        for limit, value in [
            (CUlimit.CU_LIMIT_STACK_SIZE, 4096),
            (CUlimit.CU_LIMIT_PRINTF_FIFO_SIZE, 32 << 20),
            (CUlimit.CU_LIMIT_MALLOC_HEAP_SIZE, 32 << 20),
        ]:
            assert 0 < ok(driver.cuCtxGetLimit(limit)) != value
            ok(driver.cuCtxSetLimit(limit, value))
            assert value <= ok(driver.cuCtxGetLimit(limit)) < 2 * value
        status, value = driver.cuCtxGetLimit(CUlimit.CU_LIMIT_MAX)
        assert status in (CUresult.CUDA_ERROR_UNSUPPORTED_LIMIT, CUresult.CUDA_ERROR_INVALID_VALUE)
        assert value is None
        ok(driver.cuCtxPopCurrent())


def test_cache_preference() -> None:
    with owned(driver.cuCtxCreate(0, DEVICE), driver.cuCtxDestroy):
        ok(driver.cuCtxSetCacheConfig(CUfunc_cache.CU_FUNC_CACHE_PREFER_L1))
        preference = ok(driver.cuCtxGetCacheConfig())
        ok(driver.cuCtxPopCurrent())
    assert isinstance(preference, CUfunc_cache)
    assert preference in (CUfunc_cache.CU_FUNC_CACHE_PREFER_L1, CUfunc_cache.CU_FUNC_CACHE_PREFER_NONE)


def test_a_lower_number_is_the_greater_priority() -> None:
    least, greatest = ok(driver.cuCtxGetStreamPriorityRange())
    assert least >= greatest


def test_cuda13_names_the_context(context: CUcontext) -> None:
    needs_driver(13, 0)
    with owned(driver.cuCtxCreate(0, DEVICE), driver.cuCtxDestroy):
        ok(driver.cuCtxPopCurrent())
        assert ok(driver.cuCtxGetDevice_v2(context)) == ok(driver.cuCtxGetDevice_v2(None)) == DEVICE
        assert driver.cuCtxSynchronize_v2(context) == (CUresult.CUDA_SUCCESS,)


def test_an_event_records_all_of_a_context(context: CUcontext) -> None:
    needs_driver(12, 5)
    disable_timing = CUevent_flags.CU_EVENT_DISABLE_TIMING
    with stream() as first, stream() as second, event(disable_timing) as done:
        with held(first):
            ok(driver.cuCtxRecordEvent(context, done))
            assert driver.cuEventQuery(done) == (CUresult.CUDA_ERROR_NOT_READY,)
        ok(driver.cuEventSynchronize(done))
        ok(driver.cuCtxWaitEvent(context, done))
        ok(driver.cuStreamSynchronize(second))
        assert driver.cuStreamQuery(second) == (CUresult.CUDA_SUCCESS,)


def test_profiler_control_needs_no_tool() -> None:
    assert driver.cuProfilerStart() == driver.cuProfilerStop() == (CUresult.CUDA_SUCCESS,)
