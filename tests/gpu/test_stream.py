"""Streams: queues of work, what orders them, and the host functions they call."""

from __future__ import annotations

import ctypes
import threading
from typing import Any

import numpy as np
import pytest

from cudapy import driver, runtime
from cudapy.driver import CU_STREAM_LEGACY, CUdevice_attribute, CUstream_flags

from .apis import DRIVER, RUNTIME, Api, only
from .apis import api as api
from .kernels import (
    DEVICE,
    HOST_FUNCTION,
    event,
    held,
    memory,
    needs,
    needs_driver,
    ok,
    owned,
    primary_context,
    stream,
)

pytestmark = pytest.mark.gpu

STREAM_CALLBACK = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p)


def test_flags_and_ids(api: Api) -> None:
    with api.stream(0) as plain, api.stream(api.StreamNonBlocking) as free:
        assert ok(api.StreamGetFlags(plain)) == api.StreamDefault
        assert ok(api.StreamGetFlags(free)) == api.StreamNonBlocking
        assert ok(api.StreamGetId(plain)) != ok(api.StreamGetId(free))
        assert ok(api.StreamGetId(free)) == ok(driver.cuStreamGetId(free))
        assert ok(driver.cuStreamGetCtx(plain)) == primary_context()
    assert api.StreamCreate(99) == (api.ErrorInvalidValue, None)


@only(RUNTIME)
def test_a_stream_without_flags() -> None:
    with owned(runtime.cudaStreamCreate(), runtime.cudaStreamDestroy) as plain:
        assert isinstance(plain, runtime.cudaStream_t)
        assert ok(runtime.cudaStreamGetFlags(plain)) == runtime.cudaStreamDefault


@only(DRIVER)
def test_the_owner_and_its_kind() -> None:
    needs_driver(12, 5)
    with stream() as queue:
        assert ok(driver.cuStreamGetCtx_v2(queue)) == (primary_context(), 0)
        assert ok(driver.cuStreamGetGreenCtx(queue)) == 0


def test_the_device_of_a_stream(api: Api) -> None:
    api.needs_function("StreamGetDevice")
    needs_driver(12, 8)
    with api.stream() as queue:
        assert ok(api.StreamGetDevice(queue)) == DEVICE


def test_priorities_are_clamped(api: Api) -> None:
    least, greatest = ok(api.StreamPriorityRange())
    for asked, given in [
        (least, least),
        (greatest, greatest),
        (greatest - 100, greatest),
        (least + 100, least),
    ]:
        for flags in (api.StreamDefault, api.StreamNonBlocking):
            with owned(api.StreamCreateWithPriority(flags, asked), api.StreamDestroy) as queue:
                assert ok(api.StreamGetPriority(queue)) == given
                assert ok(api.StreamGetFlags(queue)) == flags


def test_a_stream_is_ready_when_its_work_is_done(api: Api) -> None:
    with api.stream() as queue:
        assert api.StreamQuery(queue) == (api.Success,)
        with held(queue):
            assert api.StreamQuery(queue) == (api.ErrorNotReady,)
        assert api.StreamSynchronize(queue) == (api.Success,)
        assert api.StreamQuery(queue) == (api.Success,)


def test_the_default_streams_have_handles(api: Api) -> None:
    for queue in (None, 0, api.StreamLegacy, api.StreamPerThread):
        ok(api.StreamSynchronize(queue))
        assert api.StreamQuery(queue) == (api.Success,)
    assert ok(api.StreamGetId(0)) == ok(api.StreamGetId(api.StreamLegacy))


def test_one_stream_waits_for_an_event_of_another(api: Api) -> None:
    with api.memory(16) as pointer, api.stream() as first, api.stream() as second, api.event() as done:
        with held(first):
            ok(api.MemsetAsync(pointer, 1, 16, first))
            ok(api.EventRecord(done, first))
            ok(api.StreamWaitEvent(second, done, api.EventWaitDefault))
            ok(api.MemsetAsync(pointer, 2, 8, second))
            assert api.StreamQuery(second) == (api.ErrorNotReady,)
        assert api.read(pointer, 4) == [0x02020202] * 2 + [0x01010101] * 2


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


@only(DRIVER)
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
            opens = threading.Timer(0.2, gate.set)
            opens.start()  # before calls of which the driver says that they do not wait, and which once did
            ok((work or self.fill)(pointer, queue))
            ok(driver.cuStreamDestroy(queue))
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
    def test_they_run_in_order_with_their_values(self, api: Api) -> None:
        seen: list[Any] = []
        note = HOST_FUNCTION(seen.append)
        with api.stream() as queue:
            with held(queue):
                for value in (1, 2**40, None, 0):
                    ok(api.LaunchHostFunc(queue, note, value))
                assert seen == []
            assert seen == [1, 2**40, None, None]

    def test_the_address_of_a_function_object(self, api: Api) -> None:
        seen: list[Any] = []
        note = HOST_FUNCTION(seen.append)
        with api.stream() as queue:
            ok(api.LaunchHostFunc(queue, api.HostFn(_ptr=ctypes.addressof(note)), 5))
            ok(api.StreamSynchronize(queue))
        assert seen == [5]

    def test_the_function_object_may_be_forgotten(self, api: Api) -> None:
        ran = threading.Event()
        with api.stream() as queue:
            with held(queue):
                ok(api.LaunchHostFunc(queue, HOST_FUNCTION(lambda _: ran.set()), None))
            assert ran.is_set()

    def test_stream_callbacks_get_the_stream_and_its_status(self, api: Api) -> None:
        seen: list[tuple[Any, ...]] = []

        @STREAM_CALLBACK
        def note(*arguments: Any) -> None:
            seen.append(arguments)

        with api.stream() as queue:
            ok(api.StreamAddCallback(queue, note, 1234, 0))
            ok(api.StreamSynchronize(queue))
            assert seen == [(int(queue), api.Success, 1234)]

    def test_how_the_host_waits_can_be_chosen(self, api: Api) -> None:
        api.needs_function("LaunchHostFunc_v2")
        needs_driver(13, 1 if api.is_driver else 2)
        ran = threading.Event()
        with api.stream() as queue:
            note = HOST_FUNCTION(lambda _: ran.set())
            ok(api.LaunchHostFunc_v2(queue, note, None, api.HostTaskSpinWait))
            ok(api.StreamSynchronize(queue))
        assert ran.is_set()


class TestAttributes:
    def test_synchronization_policy(self, api: Api) -> None:
        name, spin = api.LaunchAttributeSynchronizationPolicy, api.SyncPolicySpin
        with api.stream() as first, api.stream() as second:
            ok(api.StreamSetAttribute(first, name, api.StreamAttrValue(syncPolicy=spin)))
            assert ok(api.StreamGetAttribute(first, name)).syncPolicy == spin
            assert ok(api.StreamGetAttribute(second, name)).syncPolicy != spin
            ok(api.StreamCopyAttributes(second, first))
            assert ok(api.StreamGetAttribute(second, name)).syncPolicy == spin

    def test_access_policy_window(self, api: Api) -> None:
        largest = needs(CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE)
        name = api.LaunchAttributeAccessPolicyWindow
        with api.memory(4096) as pointer, api.stream() as queue:
            value, size = api.StreamAttrValue(), min(4096, largest)
            window = value.accessPolicyWindow
            window.base_ptr, window.num_bytes, window.hitRatio = int(pointer), size, 0.5
            window.hitProp, window.missProp = api.AccessPropertyStreaming, api.AccessPropertyNormal
            ok(api.StreamSetAttribute(queue, name, value))
            found = ok(api.StreamGetAttribute(queue, name)).accessPolicyWindow
            assert (found.base_ptr, found.num_bytes, found.hitRatio) == (int(pointer), size, 0.5)
            assert found.hitProp == api.AccessPropertyStreaming
        assert api.CtxResetPersistingL2Cache() == (api.Success,)

    def test_priority(self, api: Api) -> None:
        _, greatest = ok(api.StreamPriorityRange())
        with owned(api.StreamCreateWithPriority(0, greatest), api.StreamDestroy) as queue:
            assert ok(api.StreamGetAttribute(queue, api.LaunchAttributePriority)).priority == greatest

    def test_memory_domains(self, api: Api) -> None:
        if needs(CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MEM_SYNC_DOMAIN_COUNT) < 2:
            pytest.skip("the device has one memory domain")
        domain, remote = api.LaunchAttributeMemSyncDomain, api.LaunchMemSyncDomainRemote
        with api.stream() as queue:
            ok(api.StreamSetAttribute(queue, domain, api.StreamAttrValue(memSyncDomain=remote)))
            assert ok(api.StreamGetAttribute(queue, domain)).memSyncDomain == remote
            found = ok(api.StreamGetAttribute(queue, api.LaunchAttributeMemSyncDomainMap))
            assert (found.memSyncDomainMap.default_, found.memSyncDomainMap.remote) == (0, 1)
