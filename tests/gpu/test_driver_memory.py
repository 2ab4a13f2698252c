"""Device memory: allocation, fills and copies in one, two and three dimensions."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

from cudapy import driver
from cudapy.driver import (
    CUDA_MEMCPY2D,
    CUDA_MEMCPY3D,
    CUDA_MEMCPY3D_BATCH_OP,
    CUDA_MEMCPY3D_PEER,
    CUcontext,
    CUdeviceptr,
    CUextent3D,
    CUmemcpy3DOperand,
    CUmemcpy3DOperandType,
    CUmemcpyAttributes,
    CUmemcpySrcAccessOrder,
    CUmemorytype,
    CUresult,
)

from .kernels import context as context
from .kernels import device_location, held, memory, needs_driver, no_context, ok, owned, read, stream, write

pytestmark = pytest.mark.gpu


def test_an_allocation_has_an_address_range() -> None:
    with owned(driver.cuMemAlloc(1000), driver.cuMemFree) as pointer:
        start, size = ok(driver.cuMemGetAddressRange(int(pointer) + 500))
        assert start == pointer
        assert size >= 1000


def test_no_bytes_and_too_many_bytes_are_errors() -> None:
    assert driver.cuMemAlloc(0) == (CUresult.CUDA_ERROR_INVALID_VALUE, None)
    assert driver.cuMemAlloc(1 << 60) == (CUresult.CUDA_ERROR_OUT_OF_MEMORY, None)
    with pytest.raises(MemoryError, match="CUDA_ERROR_OUT_OF_MEMORY"):
        driver.checked.cuMemAlloc(1 << 60)


def test_memory_is_freed_whichever_context_is_current(context: CUcontext) -> None:
    pointer = ok(driver.cuMemAlloc(1 << 20))
    ok(driver.cuCtxSetCurrent(0))
    try:
        ok(driver.cuMemFree(pointer))
    finally:
        ok(driver.cuCtxSetCurrent(context))
    assert driver.cuMemGetAddressRange(pointer)[0] != CUresult.CUDA_SUCCESS


def test_there_and_back() -> None:
    data = np.arange(1000, dtype=np.int32)
    with memory(4000) as first, memory(4000) as second:
        ok(driver.cuMemcpyHtoD(first, data, 4000))
        ok(driver.cuMemcpyDtoD(second, first, 4000))
        back = bytearray(4000)
        ok(driver.cuMemcpyDtoH(back, second, 4000))
    assert back == data.tobytes()


def test_unified_addresses_tell_host_from_device() -> None:
    source, back = np.arange(64, dtype=np.int32), np.zeros(64, np.int32)
    with memory(256) as pointer, stream() as queue:
        ok(driver.cuMemcpy(pointer, source.ctypes.data, 256))
        ok(driver.cuCtxSynchronize())  # the queue does not wait for it
        ok(driver.cuMemcpyAsync(back.ctypes.data, pointer, 256, queue))
        ok(driver.cuStreamSynchronize(queue))
    assert back.tolist() == source.tolist()


def test_copies_between_contexts_that_are_one(context: CUcontext) -> None:
    with memory(64) as first, memory(64) as second, stream() as queue:
        write(first, range(16))
        ok(driver.cuMemcpyPeer(second, context, first, context, 32))
        ok(driver.cuMemcpyPeerAsync(int(second) + 32, context, int(first) + 32, context, 32, queue))
        assert read(second, 16) == list(range(16))


@pytest.mark.parametrize("queued", [False, True])
def test_fills_of_each_width(queued: bool) -> None:
    with memory(64) as pointer, stream() as queue:
        address = int(pointer)
        if queued:
            ok(driver.cuMemsetD8Async(address, 0xA5, 3, queue))
            ok(driver.cuMemsetD16Async(address + 16, 0xBEEF, 3, queue))
            ok(driver.cuMemsetD32Async(address + 32, 0xDEADBEEF, 3, queue))
        else:
            ok(driver.cuMemsetD8(address, 0xA5, 3))
            ok(driver.cuMemsetD16(address + 16, 0xBEEF, 3))
            ok(driver.cuMemsetD32(address + 32, 0xDEADBEEF, 3))
        assert read(address, 16, np.uint8) == [0xA5] * 3 + [0] * 13
        assert read(address + 16, 8, np.uint16) == [0xBEEF] * 3 + [0] * 5
        assert read(address + 32, 8, np.uint32) == [0xDEADBEEF] * 3 + [0] * 5


@pytest.mark.parametrize("queued", [False, True])
def test_fills_of_a_rectangle(queued: bool) -> None:
    with memory(3 * 256) as pointer, stream() as queue:
        for i, (now, later) in enumerate(
            [
                (driver.cuMemsetD2D8, driver.cuMemsetD2D8Async),
                (driver.cuMemsetD2D16, driver.cuMemsetD2D16Async),
                (driver.cuMemsetD2D32, driver.cuMemsetD2D32Async),
            ]
        ):
            start = int(pointer) + 256 * i
            ok(later(start, 64, 9, 2, 3, queue) if queued else now(start, 64, 9, 2, 3))
        for i, dtype in enumerate([np.uint8, np.uint16, np.uint32]):
            rows = np.reshape(read(int(pointer) + 256 * i, 256 // dtype().itemsize, dtype), (4, -1))  # type: ignore[attr-defined]
            assert rows[:3, :2].tolist() == [[9, 9]] * 3
            assert rows.sum() == 54


def test_a_value_too_wide_for_its_fill_is_refused() -> None:
    with memory(16) as pointer:
        with pytest.raises(OverflowError):
            driver.cuMemsetD8(pointer, 256, 16)
        assert read(pointer, 4) == [0] * 4


def test_rows_of_pitched_memory() -> None:
    pointer, pitch = ok(driver.cuMemAllocPitch(100, 5, 4))
    source = np.arange(5 * 25, dtype=np.int32).reshape(5, 25)
    back = np.zeros((2, 3), np.int32)
    ok(
        driver.cuMemcpy2D(
            CUDA_MEMCPY2D(
                srcMemoryType=CUmemorytype.CU_MEMORYTYPE_HOST,
                srcHost=source,
                srcPitch=100,
                dstMemoryType=CUmemorytype.CU_MEMORYTYPE_DEVICE,
                dstDevice=pointer,
                dstPitch=pitch,
                WidthInBytes=100,
                Height=5,
            )
        )
    )
    part = CUDA_MEMCPY2D(
        srcXInBytes=8,
        srcY=1,
        srcMemoryType=CUmemorytype.CU_MEMORYTYPE_DEVICE,
        srcDevice=pointer,
        srcPitch=pitch,
        dstMemoryType=CUmemorytype.CU_MEMORYTYPE_HOST,
        dstHost=back,
        dstPitch=12,
        WidthInBytes=12,
        Height=2,
    )
    for copy in (driver.cuMemcpy2D, driver.cuMemcpy2DUnaligned, lambda p: driver.cuMemcpy2DAsync(p, 0)):
        back[:] = 0
        ok(copy(part))
        ok(driver.cuCtxSynchronize())
        assert back.tolist() == source[1:3, 2:5].tolist()
    ok(driver.cuMemFree(pointer))
    assert pitch >= 100


def test_a_box_of_a_volume() -> None:
    volume = np.arange(4 * 5 * 6, dtype=np.int32).reshape(4, 5, 6)
    back = np.zeros((2, 2, 3), np.int32)
    with memory(volume.nbytes) as pointer, stream() as queue:
        write(pointer, volume)
        box = CUDA_MEMCPY3D(
            srcXInBytes=4,
            srcY=2,
            srcZ=1,
            srcMemoryType=CUmemorytype.CU_MEMORYTYPE_DEVICE,
            srcDevice=pointer,
            srcPitch=24,
            srcHeight=5,
            dstMemoryType=CUmemorytype.CU_MEMORYTYPE_HOST,
            dstHost=back,
            dstPitch=12,
            dstHeight=2,
            WidthInBytes=12,
            Height=2,
            Depth=2,
        )
        for copy in (driver.cuMemcpy3D, lambda p: driver.cuMemcpy3DAsync(p, queue)):
            back[:] = 0
            ok(copy(box))
            ok(driver.cuStreamSynchronize(queue))
            assert back.tolist() == volume[1:3, 2:4, 1:4].tolist()


def test_a_box_between_contexts_that_are_one(context: CUcontext) -> None:
    with memory(64) as first, memory(64) as second, stream() as queue:
        write(first, range(16))
        copy = CUDA_MEMCPY3D_PEER(
            srcMemoryType=CUmemorytype.CU_MEMORYTYPE_DEVICE,
            srcDevice=first,
            srcContext=context,
            srcPitch=16,
            srcHeight=4,
            dstMemoryType=CUmemorytype.CU_MEMORYTYPE_DEVICE,
            dstDevice=second,
            dstContext=context,
            dstPitch=16,
            dstHeight=4,
            WidthInBytes=8,
            Height=4,
            Depth=1,
        )
        ok(driver.cuMemcpy3DPeer(copy))
        assert np.reshape(read(second, 16), (4, 4))[:, :2].tolist() == [[0, 1], [4, 5], [8, 9], [12, 13]]
        ok(driver.cuMemsetD8(second, 0, 64))
        ok(driver.cuCtxSynchronize())
        copy.WidthInBytes = 16
        ok(driver.cuMemcpy3DPeerAsync(copy, queue))
        assert read(second, 16) == list(range(16))


def test_a_queued_copy_waits_for_its_turn() -> None:
    host = ok(driver.cuMemAllocHost(64))
    with memory(64) as pointer, stream() as queue:
        ok(driver.cuMemcpyHtoD(pointer, b"x" * 64, 64))
        view = (ctypes.c_char * 64).from_address(host)
        view.raw = b"-" * 64
        with held(queue):
            ok(driver.cuMemcpyDtoHAsync(host, pointer, 64, queue))
            assert driver.cuStreamQuery(queue) == (CUresult.CUDA_ERROR_NOT_READY,)
            assert view.raw == b"-" * 64
        assert view.raw == b"x" * 64
        view.raw = b"y" * 64
        ok(driver.cuMemcpyHtoDAsync(pointer, host, 32, queue))
        ok(driver.cuMemcpyDtoDAsync(int(pointer) + 32, pointer, 8, queue))
        assert bytes(read(pointer, 64, np.uint8)) == b"y" * 40 + b"x" * 24
    ok(driver.cuMemFreeHost(host))


def test_copies_in_a_batch() -> None:
    needs_driver(12, 8)
    in_order = CUmemcpyAttributes(srcAccessOrder=CUmemcpySrcAccessOrder.CU_MEMCPY_SRC_ACCESS_ORDER_STREAM)
    any_order = CUmemcpyAttributes(srcAccessOrder=CUmemcpySrcAccessOrder.CU_MEMCPY_SRC_ACCESS_ORDER_ANY)
    with memory(64) as first, memory(64) as second, stream() as queue:
        write(first, range(16))
        a, b = int(first), int(second)
        targets, sources = [b, b + 16, b + 48], [a + 32, a, a + 48]
        ok(
            driver.cuMemcpyBatchAsync(
                targets, sources, [16, 8, 4], 3, [in_order, any_order], [0, 2], 2, queue
            )
        )
        assert read(second, 16) == [8, 9, 10, 11, 0, 1, 0, 0, 0, 0, 0, 0, 12, 0, 0, 0]
        status = driver.cuMemcpyBatchAsync(targets, sources, [16, 8, 4], 3, None, None, 0, queue)
        assert status == (CUresult.CUDA_ERROR_INVALID_VALUE,)


def test_boxes_in_a_batch() -> None:
    needs_driver(12, 8)

    def operand(pointer: CUdeviceptr, row: int) -> CUmemcpy3DOperand:
        made = CUmemcpy3DOperand(type=CUmemcpy3DOperandType.CU_MEMCPY_OPERAND_TYPE_POINTER)
        made.op.ptr.ptr = pointer
        made.op.ptr.rowLength = row
        made.op.ptr.layerHeight = 4
        made.op.ptr.locHint = device_location()
        return made

    with memory(64) as first, memory(64) as second, stream() as queue:
        write(first, range(16))
        box = CUDA_MEMCPY3D_BATCH_OP(
            src=operand(first, 16),
            dst=operand(second, 8),
            extent=CUextent3D(width=8, height=4, depth=1),
            srcAccessOrder=CUmemcpySrcAccessOrder.CU_MEMCPY_SRC_ACCESS_ORDER_STREAM,
        )
        ok(driver.cuMemcpy3DBatchAsync(1, [box], 0, queue))
        assert read(second, 16) == [0, 1, 4, 5, 8, 9, 12, 13] + [0] * 8


def test_nothing_is_freed_without_a_context_too() -> None:
    assert driver.cuMemFree(0) == driver.cuMemFree(None) == (0,)
    with no_context():
        assert driver.cuMemFree(0) == (0,)
        for free in (driver.cuMemFree, driver.cuMemFreeHost):
            assert free(4096) == (CUresult.CUDA_ERROR_INVALID_VALUE,)


def test_the_address_tells_the_context_of_what_is_freed() -> None:
    made = {driver.cuMemFree: ok(driver.cuMemAlloc(64)), driver.cuMemFreeHost: ok(driver.cuMemAllocHost(64))}
    with no_context():
        for free, pointer in made.items():
            assert free(pointer) == (0,)
            assert free(pointer) == (CUresult.CUDA_ERROR_INVALID_VALUE,)
