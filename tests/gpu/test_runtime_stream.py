"""The Runtime API: streams, what orders them, and the host functions they call."""

from __future__ import annotations

import ctypes
import threading
from typing import Any

import pytest

from cudapy import driver
from cudapy import runtime as rt
from cudapy.runtime import (
    cudaAccessProperty,
    cudaDeviceAttr,
    cudaError_t,
    cudaHostFn_t,
    cudaHostTaskSyncMode,
    cudaLaunchAttributeID,
    cudaLaunchMemSyncDomain,
    cudaStreamAttrValue,
    cudaSynchronizationPolicy,
)

from .kernels import DEVICE, HOST_FUNCTION, held, needs_driver, ok, owned
from .runtime_kernels import device as device
from .runtime_kernels import event, memory, needs, needs_function, read, stream

pytestmark = pytest.mark.gpu

Attribute = cudaLaunchAttributeID
STREAM_CALLBACK = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p)
NOT_READY = (cudaError_t.cudaErrorNotReady,)
READY = (cudaError_t.cudaSuccess,)


def test_flags_and_ids() -> None:
    with owned(rt.cudaStreamCreate(), rt.cudaStreamDestroy) as plain, stream() as free:
        assert isinstance(plain, rt.cudaStream_t)
        assert ok(rt.cudaStreamGetFlags(plain)) == rt.cudaStreamDefault
        assert ok(rt.cudaStreamGetFlags(free)) == rt.cudaStreamNonBlocking
        assert ok(rt.cudaStreamGetId(plain)) != ok(rt.cudaStreamGetId(free))
        assert ok(rt.cudaStreamGetId(free)) == ok(driver.cuStreamGetId(free))
    assert rt.cudaStreamCreateWithFlags(99) == (cudaError_t.cudaErrorInvalidValue, None)


def test_the_device_of_a_stream() -> None:
    needs_function("cudaStreamGetDevice")
    needs_driver(12, 8)
    with stream() as queue:
        assert ok(rt.cudaStreamGetDevice(queue)) == DEVICE


def test_priorities_are_clamped() -> None:
    least, greatest = ok(rt.cudaDeviceGetStreamPriorityRange())
    for asked, given in [(least, least), (greatest, greatest), (greatest - 100, greatest)]:
        created = rt.cudaStreamCreateWithPriority(rt.cudaStreamNonBlocking, asked)
        with owned(created, rt.cudaStreamDestroy) as queue:
            assert ok(rt.cudaStreamGetPriority(queue)) == given
            assert ok(rt.cudaStreamGetFlags(queue)) == rt.cudaStreamNonBlocking


def test_a_stream_is_ready_when_its_work_is_done() -> None:
    with stream() as queue:
        assert rt.cudaStreamQuery(queue) == READY
        with held(queue):
            assert rt.cudaStreamQuery(queue) == NOT_READY
        assert rt.cudaStreamSynchronize(queue) == READY
        assert rt.cudaStreamQuery(queue) == READY


def test_the_default_streams_have_handles() -> None:
    for queue in (None, 0, rt.cudaStreamLegacy, rt.cudaStreamPerThread):
        ok(rt.cudaStreamSynchronize(queue))
        assert rt.cudaStreamQuery(queue) == READY
    assert ok(rt.cudaStreamGetId(0)) == ok(rt.cudaStreamGetId(rt.cudaStreamLegacy))


def test_one_stream_waits_for_an_event_of_another() -> None:
    with memory(16) as pointer, stream() as first, stream() as second, event() as done:
        with held(first):
            ok(rt.cudaMemsetAsync(pointer, 1, 16, first))
            ok(rt.cudaEventRecord(done, first))
            ok(rt.cudaStreamWaitEvent(second, done, rt.cudaEventWaitDefault))
            ok(rt.cudaMemsetAsync(pointer, 2, 8, second))
            assert rt.cudaStreamQuery(second) == NOT_READY
        assert read(pointer, 4) == [0x02020202] * 2 + [0x01010101] * 2


class TestHostFunctions:
    def test_they_run_in_order_with_their_values(self) -> None:
        seen: list[Any] = []
        note = HOST_FUNCTION(seen.append)
        with stream() as queue:
            with held(queue):
                for value in (1, 2**40, None, 0):
                    ok(rt.cudaLaunchHostFunc(queue, note, value))
                assert seen == []
            assert seen == [1, 2**40, None, None]

    def test_the_address_of_a_function_object(self) -> None:
        seen: list[Any] = []
        note = HOST_FUNCTION(seen.append)
        with stream() as queue:
            ok(rt.cudaLaunchHostFunc(queue, cudaHostFn_t(_ptr=ctypes.addressof(note)), 5))
            ok(rt.cudaStreamSynchronize(queue))
        assert seen == [5]

    def test_the_function_object_may_be_forgotten(self) -> None:
        ran = threading.Event()
        with stream() as queue:
            with held(queue):
                ok(rt.cudaLaunchHostFunc(queue, HOST_FUNCTION(lambda _: ran.set()), None))
            assert ran.is_set()

    def test_stream_callbacks_get_the_stream_and_its_status(self) -> None:
        seen: list[tuple[Any, ...]] = []

        @STREAM_CALLBACK
        def note(*arguments: Any) -> None:
            seen.append(arguments)

        with stream() as queue:
            ok(rt.cudaStreamAddCallback(queue, note, 1234, 0))
            ok(rt.cudaStreamSynchronize(queue))
            assert seen == [(int(queue), cudaError_t.cudaSuccess, 1234)]

    def test_how_the_host_waits_can_be_chosen(self) -> None:
        needs_function("cudaLaunchHostFunc_v2")
        needs_driver(13, 2)
        ran = threading.Event()
        spin = cudaHostTaskSyncMode.cudaHostTaskSpinWait
        with stream() as queue:
            ok(rt.cudaLaunchHostFunc_v2(queue, HOST_FUNCTION(lambda _: ran.set()), None, spin))
            ok(rt.cudaStreamSynchronize(queue))
        assert ran.is_set()


class TestAttributes:
    def test_synchronization_policy(self) -> None:
        name = Attribute.cudaLaunchAttributeSynchronizationPolicy
        with stream() as first, stream() as second:
            value = cudaStreamAttrValue(syncPolicy=cudaSynchronizationPolicy.cudaSyncPolicySpin)
            ok(rt.cudaStreamSetAttribute(first, name, value))
            found = ok(rt.cudaStreamGetAttribute(first, name))
            assert found.syncPolicy == cudaSynchronizationPolicy.cudaSyncPolicySpin
            assert ok(rt.cudaStreamGetAttribute(second, name)).syncPolicy != found.syncPolicy
            ok(rt.cudaStreamCopyAttributes(second, first))
            assert ok(rt.cudaStreamGetAttribute(second, name)).syncPolicy == found.syncPolicy

    def test_access_policy_window(self) -> None:
        needs(cudaDeviceAttr.cudaDevAttrMaxAccessPolicyWindowSize)
        name = Attribute.cudaLaunchAttributeAccessPolicyWindow
        with memory(4096) as pointer, stream() as queue:
            value = cudaStreamAttrValue()
            window = value.accessPolicyWindow
            window.base_ptr, window.num_bytes, window.hitRatio = pointer, 4096, 0.5
            window.hitProp = cudaAccessProperty.cudaAccessPropertyStreaming
            window.missProp = cudaAccessProperty.cudaAccessPropertyNormal
            ok(rt.cudaStreamSetAttribute(queue, name, value))
            found = ok(rt.cudaStreamGetAttribute(queue, name)).accessPolicyWindow
            assert (found.base_ptr, found.num_bytes, found.hitRatio) == (pointer, 4096, 0.5)
            assert found.hitProp == cudaAccessProperty.cudaAccessPropertyStreaming
        assert rt.cudaCtxResetPersistingL2Cache() == READY

    def test_priority(self) -> None:
        _, greatest = ok(rt.cudaDeviceGetStreamPriorityRange())
        with owned(rt.cudaStreamCreateWithPriority(0, greatest), rt.cudaStreamDestroy) as queue:
            found = ok(rt.cudaStreamGetAttribute(queue, rt.cudaStreamAttributePriority))
            assert found.priority == greatest

    def test_memory_domains(self) -> None:
        if needs(cudaDeviceAttr.cudaDevAttrMemSyncDomainCount) < 2:
            pytest.skip("the device has one memory domain")
        domain = Attribute.cudaLaunchAttributeMemSyncDomain
        remote = cudaLaunchMemSyncDomain.cudaLaunchMemSyncDomainRemote
        with stream() as queue:
            ok(rt.cudaStreamSetAttribute(queue, domain, cudaStreamAttrValue(memSyncDomain=remote)))
            assert ok(rt.cudaStreamGetAttribute(queue, domain)).memSyncDomain == remote
            found = ok(rt.cudaStreamGetAttribute(queue, Attribute.cudaLaunchAttributeMemSyncDomainMap))
            assert (found.memSyncDomainMap.default_, found.memSyncDomainMap.remote) == (0, 1)
