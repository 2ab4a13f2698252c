"""Green contexts: a part of the multiprocessors."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator

import pytest

from cudapy import driver
from cudapy.driver import (
    CUcontext,
    CUdevice_attribute,
    CUdevResource,
    CUdevResourceType,
    CUevent_flags,
    CUgreenCtx,
    CUgreenCtxCreate_flags,
    CUresult,
    CUstream_flags,
)

from .kernels import DEVICE, attribute, cubin, event, memory, needs_driver, ok, owned, read
from .kernels import context as context

pytestmark = pytest.mark.gpu

SM = CUdevResourceType.CU_DEV_RESOURCE_TYPE_SM
NON_BLOCKING = CUstream_flags.CU_STREAM_NON_BLOCKING


def half() -> int:
    """Half of the multiprocessors of a small device, or a few of a large one."""
    return min(16, attribute(CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT) // 2)


@pytest.fixture
def everything() -> CUdevResource:
    needs_driver(12, 5)
    return ok(driver.cuDeviceGetDevResource(DEVICE, SM))


@pytest.fixture
def green(everything: CUdevResource) -> Iterator[CUgreenCtx]:
    (part,), _, _ = ok(driver.cuDevSmResourceSplitByCount(1, everything, 0, half()))
    description = ok(driver.cuDevResourceGenerateDesc([part], 1))
    flags = CUgreenCtxCreate_flags.CU_GREEN_CTX_DEFAULT_STREAM
    with owned(driver.cuGreenCtxCreate(description, DEVICE, flags), driver.cuGreenCtxDestroy) as made:
        yield made


def test_a_device_has_all_its_multiprocessors(everything: CUdevResource, context: CUcontext) -> None:
    count = attribute(CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)
    assert everything.type == SM
    assert everything.sm.smCount == count
    assert ok(driver.cuCtxGetDevResource(context, SM)).sm.smCount == count


def test_a_split_leaves_a_remainder(everything: CUdevResource) -> None:
    parts, made, rest = ok(driver.cuDevSmResourceSplitByCount(2, everything, 0, half()))
    assert made == len(parts) == 2
    sizes = [part.sm.smCount for part in parts]
    assert all(size >= half() for size in sizes)
    assert sum(sizes) + rest.sm.smCount == everything.sm.smCount
    assert {part.type for part in parts} == {SM}


def test_a_split_can_be_only_counted(everything: CUdevResource) -> None:
    none, count, _ = ok(driver.cuDevSmResourceSplitByCount(0, everything, 0, half()))
    assert none == []
    assert 1 <= count <= everything.sm.smCount // half()
    parts, made, _ = ok(driver.cuDevSmResourceSplitByCount(count + 5, everything, 0, half()))
    assert made == len(parts) == count


def test_a_split_of_more_than_there_is(everything: CUdevResource) -> None:
    status = driver.cuDevSmResourceSplitByCount(1, everything, 0, everything.sm.smCount + 1)
    assert status[0] != CUresult.CUDA_SUCCESS
    assert status[1:] == (None, None, None)


def test_work_stays_on_its_part(green: CUgreenCtx) -> None:
    have = ok(driver.cuGreenCtxGetDevResource(green, SM)).sm.smCount
    assert half() <= have < attribute(CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)
    blocks = 4096
    with (
        owned(
            driver.cuLibraryLoadData(cubin(), None, None, 0, None, None, 0), driver.cuLibraryUnload
        ) as library,
        memory(4 * blocks) as pointer,
        owned(driver.cuGreenCtxStreamCreate(green, NON_BLOCKING, 0), driver.cuStreamDestroy) as queue,
    ):
        ok(driver.cuCtxPushCurrent(ok(driver.cuCtxFromGreenCtx(green))))
        kernel = int(ok(driver.cuLibraryGetKernel(library, b"where")))
        arguments = (int(pointer),), (ctypes.c_void_p,)
        status = driver.cuLaunchKernel(kernel, blocks, 1, 1, 256, 1, 1, 0, queue, arguments, 0)
        ok(driver.cuStreamSynchronize(queue))
        ok(driver.cuCtxPopCurrent())
        ok(status)
        used = set(read(pointer, blocks))
    assert 1 < len(used) <= have


def test_streams_know_their_green_context(green: CUgreenCtx) -> None:
    with owned(driver.cuGreenCtxStreamCreate(green, NON_BLOCKING, 0), driver.cuStreamDestroy) as queue:
        assert ok(driver.cuStreamGetGreenCtx(queue)) == green
        assert ok(driver.cuStreamGetCtx_v2(queue))[1] == green
        assert ok(driver.cuStreamGetFlags(queue)) == NON_BLOCKING
    status = driver.cuGreenCtxStreamCreate(green, CUstream_flags.CU_STREAM_DEFAULT, 0)
    assert status == (CUresult.CUDA_ERROR_INVALID_VALUE, None)


def test_as_an_ordinary_context(green: CUgreenCtx, context: CUcontext) -> None:
    converted = ok(driver.cuCtxFromGreenCtx(green))
    assert converted != context
    ok(driver.cuCtxPushCurrent(converted))
    current, resource = ok(driver.cuCtxGetCurrent()), ok(driver.cuCtxGetDevResource(converted, SM))
    ok(driver.cuCtxPopCurrent())
    assert current == converted
    assert resource.sm.smCount == ok(driver.cuGreenCtxGetDevResource(green, SM)).sm.smCount


def test_events_record_a_green_context(green: CUgreenCtx) -> None:
    with (
        owned(driver.cuGreenCtxStreamCreate(green, NON_BLOCKING, 0), driver.cuStreamDestroy) as queue,
        event(CUevent_flags.CU_EVENT_DISABLE_TIMING) as done,
        memory(64) as pointer,
    ):
        ok(driver.cuMemsetD32Async(pointer, 3, 16, queue))
        ok(driver.cuGreenCtxRecordEvent(green, done))
        ok(driver.cuEventSynchronize(done))
        ok(driver.cuGreenCtxWaitEvent(green, done))
        ok(driver.cuStreamSynchronize(queue))
        assert read(pointer, 16) == [3] * 16


def test_ids(green: CUgreenCtx, context: CUcontext) -> None:
    needs_driver(13, 0)
    assert ok(driver.cuGreenCtxGetId(green)) != ok(driver.cuCtxGetId(context))
