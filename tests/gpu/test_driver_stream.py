"""Streams: queues of work, what orders them, and the host functions they call."""

from __future__ import annotations

import ctypes
import threading
from typing import Any

import numpy as np
import pytest

from cudapy import driver
from cudapy.driver import (
    CU_STREAM_LEGACY,
    CU_STREAM_PER_THREAD,
    CUaccessProperty,
    CUcontext,
    CUdevice_attribute,
    CUevent_wait_flags,
    CUhostFn,
    CUhostTaskSyncMode,
    CUlaunchAttributeID,
    CUlaunchMemSyncDomain,
    CUresult,
    CUstream_flags,
    CUstreamAttrValue,
    CUsynchronizationPolicy,
)

from .kernels import DEVICE, HOST_FUNCTION, event, held, memory, needs, needs_driver, ok, owned, read, stream
from .kernels import context as context

pytestmark = pytest.mark.gpu

Attribute = CUlaunchAttributeID
STREAM_CALLBACK = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p)
NOT_READY = (CUresult.CUDA_ERROR_NOT_READY,)
READY = (CUresult.CUDA_SUCCESS,)


def test_flags_ids_and_owner(context: CUcontext) -> None:
    with stream(0) as plain, stream(CUstream_flags.CU_STREAM_NON_BLOCKING) as free:
        assert ok(driver.cuStreamGetFlags(plain)) == CUstream_flags.CU_STREAM_DEFAULT
        assert ok(driver.cuStreamGetFlags(free)) == CUstream_flags.CU_STREAM_NON_BLOCKING
        assert ok(driver.cuStreamGetId(plain)) != ok(driver.cuStreamGetId(free))
        assert ok(driver.cuStreamGetCtx(plain)) == context
    assert driver.cuStreamCreate(99) == (CUresult.CUDA_ERROR_INVALID_VALUE, None)


def test_the_owner_and_its_kind(context: CUcontext) -> None:
    needs_driver(12, 5)
    with stream() as queue:
        assert ok(driver.cuStreamGetCtx_v2(queue)) == (context, 0)
        assert ok(driver.cuStreamGetGreenCtx(queue)) == 0


def test_the_device_of_a_stream() -> None:
    needs_driver(12, 8)
    with stream() as queue:
        assert ok(driver.cuStreamGetDevice(queue)) == DEVICE


def test_priorities_are_clamped() -> None:
    least, greatest = ok(driver.cuCtxGetStreamPriorityRange())
    for asked, given in [
        (least, least),
        (greatest, greatest),
        (greatest - 100, greatest),
        (least + 100, least),
    ]:
        with owned(driver.cuStreamCreateWithPriority(0, asked), driver.cuStreamDestroy) as queue:
            assert ok(driver.cuStreamGetPriority(queue)) == given


def test_a_stream_is_ready_when_its_work_is_done() -> None:
    with stream() as queue:
        assert driver.cuStreamQuery(queue) == READY
        with held(queue):
            assert driver.cuStreamQuery(queue) == NOT_READY
        assert driver.cuStreamQuery(queue) == READY


def test_the_default_streams_have_handles() -> None:
    for queue in (None, CU_STREAM_LEGACY, CU_STREAM_PER_THREAD):
        ok(driver.cuStreamSynchronize(queue))
        assert driver.cuStreamQuery(queue) == READY


def test_one_stream_waits_for_an_event_of_another() -> None:
    with memory(16) as pointer, stream() as first, stream() as second, event() as done:
        with held(first):
            ok(driver.cuMemsetD32Async(pointer, 1, 4, first))
            ok(driver.cuEventRecord(done, first))
            ok(driver.cuStreamWaitEvent(second, done, CUevent_wait_flags.CU_EVENT_WAIT_DEFAULT))
            ok(driver.cuMemsetD32Async(pointer, 2, 2, second))
            assert driver.cuStreamQuery(second) == NOT_READY
        assert read(pointer, 4) == [2, 2, 1, 1]


def whole_context(_: Any) -> None:
    ok(driver.cuCtxSynchronize())


def legacy_stream(_: Any) -> None:
    ok(driver.cuStreamSynchronize(CU_STREAM_LEGACY))


def legacy_copy(pointer: Any) -> None:
    ok(driver.cuMemcpyDtoH(bytearray(16), pointer, 16))


def free(_: Any) -> None:
    ok(driver.cuMemFree(ok(driver.cuMemAlloc(64))))


def free_page_locked(_: Any) -> None:
    ok(driver.cuMemFreeHost(ok(driver.cuMemAllocHost(64))))


def by_an_event(_: Any) -> None:
    needs_driver(12, 5)
    with event() as done:
        ok(driver.cuCtxRecordEvent(ok(driver.cuCtxGetCurrent()), done))
        ok(driver.cuEventSynchronize(done))


def by_another_thread(_: Any) -> None:
    context = ok(driver.cuCtxGetCurrent())

    def wait() -> None:
        ok(driver.cuCtxSetCurrent(context))
        ok(driver.cuCtxSynchronize())

    waits = threading.Thread(target=wait)
    waits.start()
    waits.join()


BLOCKING, NON_BLOCKING = CUstream_flags.CU_STREAM_DEFAULT, CUstream_flags.CU_STREAM_NON_BLOCKING
WAITS = (whole_context, free, free_page_locked, by_an_event, by_another_thread)


class TestDestroyedWithWork:
    """Work of a stream that was destroyed is work of its context: what waits for that waits for it."""

    def check(self, flags: int, wait: Any, work: Any = None) -> None:
        gate, seen = threading.Event(), []

        @HOST_FUNCTION
        def late(_: Any) -> None:
            seen.append(gate.wait(20))

        with memory(16) as pointer:
            queue = ok(driver.cuStreamCreate(flags))
            ok(driver.cuLaunchHostFunc(queue, late, None))
            ok((work or self.fill)(pointer, queue))
            ok(driver.cuStreamDestroy(queue))
            opens = threading.Timer(0.2, gate.set)
            opens.start()
            wait(pointer)
            assert seen == [True]
            data = np.zeros(4, np.int32)
            with stream() as other:
                ok(driver.cuMemcpyDtoHAsync(data, pointer, data.nbytes, other))
                ok(driver.cuStreamSynchronize(other))
            assert data.tolist() == [7] * 4
            opens.join()

    @staticmethod
    def fill(pointer: Any, queue: Any) -> tuple[Any, ...]:
        return driver.cuMemsetD32Async(pointer, 7, 4, queue)

    @pytest.mark.parametrize("wait", WAITS)
    @pytest.mark.parametrize("flags", [BLOCKING, NON_BLOCKING])
    def test_the_context_waits(self, flags: int, wait: Any) -> None:
        self.check(flags, wait)

    @pytest.mark.parametrize("wait", [legacy_stream, legacy_copy])
    def test_the_legacy_stream_waits(self, wait: Any) -> None:
        self.check(BLOCKING, wait)

    def test_a_graph_that_was_destroyed_too(self) -> None:
        def launch(pointer: Any, queue: Any) -> tuple[Any, ...]:
            graph = ok(driver.cuGraphCreate(0))
            fill = driver.CUDA_MEMSET_NODE_PARAMS(
                dst=pointer, value=7, elementSize=4, width=4, height=1, pitch=16
            )
            ok(driver.cuGraphAddMemsetNode(graph, [], 0, fill, ok(driver.cuCtxGetCurrent())))
            instance = ok(driver.cuGraphInstantiate(graph, 0))
            ok(driver.cuGraphLaunch(instance, queue))
            ok(driver.cuGraphExecDestroy(instance))
            return driver.cuGraphDestroy(graph)

        self.check(NON_BLOCKING, whole_context, launch)


class TestHostFunctions:
    def test_they_run_in_order_with_their_values(self) -> None:
        seen: list[Any] = []
        note = HOST_FUNCTION(seen.append)
        with stream() as queue:
            with held(queue):
                for value in (1, 2**40, None, 0):
                    ok(driver.cuLaunchHostFunc(queue, note, value))
                assert seen == []
            assert seen == [1, 2**40, None, None]

    def test_the_address_of_a_function_object(self) -> None:
        seen: list[Any] = []
        note = HOST_FUNCTION(seen.append)
        with stream() as queue:
            ok(driver.cuLaunchHostFunc(queue, CUhostFn(_ptr=ctypes.addressof(note)), 5))
            ok(driver.cuStreamSynchronize(queue))
        assert seen == [5]

    def test_the_function_object_may_be_forgotten(self) -> None:
        ran = threading.Event()
        with stream() as queue:
            with held(queue):
                ok(driver.cuLaunchHostFunc(queue, HOST_FUNCTION(lambda _: ran.set()), None))
            assert ran.is_set()

    def test_stream_callbacks_get_the_stream_and_its_status(self) -> None:
        seen: list[tuple[Any, ...]] = []

        @STREAM_CALLBACK
        def note(*arguments: Any) -> None:
            seen.append(arguments)

        with stream() as queue:
            ok(driver.cuStreamAddCallback(queue, note, 1234, 0))
            ok(driver.cuStreamSynchronize(queue))
            assert seen == [(int(queue), CUresult.CUDA_SUCCESS, 1234)]

    def test_how_the_host_waits_can_be_chosen(self) -> None:
        needs_driver(13, 1)
        ran = threading.Event()
        spin = CUhostTaskSyncMode.CU_HOST_TASK_SPINWAIT
        with stream() as queue:
            ok(driver.cuLaunchHostFunc_v2(queue, HOST_FUNCTION(lambda _: ran.set()), None, spin))
            ok(driver.cuStreamSynchronize(queue))
        assert ran.is_set()


class TestAttributes:
    def test_synchronization_policy(self) -> None:
        name = Attribute.CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY
        with stream() as first, stream() as second:
            value = CUstreamAttrValue(syncPolicy=CUsynchronizationPolicy.CU_SYNC_POLICY_SPIN)
            ok(driver.cuStreamSetAttribute(first, name, value))
            found = ok(driver.cuStreamGetAttribute(first, name))
            assert found.syncPolicy == CUsynchronizationPolicy.CU_SYNC_POLICY_SPIN
            assert ok(driver.cuStreamGetAttribute(second, name)).syncPolicy != found.syncPolicy
            ok(driver.cuStreamCopyAttributes(second, first))
            assert ok(driver.cuStreamGetAttribute(second, name)).syncPolicy == found.syncPolicy

    def test_access_policy_window(self) -> None:
        largest = needs(CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE)
        name = Attribute.CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW
        with memory(4096) as pointer, stream() as queue:
            value = CUstreamAttrValue()
            window = value.accessPolicyWindow
            window.base_ptr = int(pointer)
            window.num_bytes = min(4096, largest)
            window.hitRatio = 0.5
            window.hitProp = CUaccessProperty.CU_ACCESS_PROPERTY_STREAMING
            window.missProp = CUaccessProperty.CU_ACCESS_PROPERTY_NORMAL
            ok(driver.cuStreamSetAttribute(queue, name, value))
            found = ok(driver.cuStreamGetAttribute(queue, name)).accessPolicyWindow
            assert (found.base_ptr, found.num_bytes, found.hitRatio) == (int(pointer), 4096, 0.5)
            assert found.hitProp == CUaccessProperty.CU_ACCESS_PROPERTY_STREAMING

    def test_priority(self) -> None:
        _, greatest = ok(driver.cuCtxGetStreamPriorityRange())
        with owned(driver.cuStreamCreateWithPriority(0, greatest), driver.cuStreamDestroy) as queue:
            found = ok(driver.cuStreamGetAttribute(queue, Attribute.CU_LAUNCH_ATTRIBUTE_PRIORITY))
            assert found.priority == greatest

    def test_memory_domains(self) -> None:
        if needs(CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MEM_SYNC_DOMAIN_COUNT) < 2:
            pytest.skip("the device has one memory domain")
        domain, domains = Attribute.CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN, CUlaunchMemSyncDomain
        remote = domains.CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE
        with stream() as queue:
            ok(driver.cuStreamSetAttribute(queue, domain, CUstreamAttrValue(memSyncDomain=remote)))
            assert ok(driver.cuStreamGetAttribute(queue, domain)).memSyncDomain == remote
            names = ok(driver.cuStreamGetAttribute(queue, Attribute.CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP))
            assert (names.memSyncDomainMap.default_, names.memSyncDomainMap.remote) == (0, 1)
