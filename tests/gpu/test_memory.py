"""Device memory: allocation, fills and copies in one, two and three dimensions."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from cudapy import driver, runtime
from cudapy.driver import (
    CUDA_MEMCPY2D,
    CUDA_MEMCPY3D,
    CUDA_MEMCPY3D_BATCH_OP,
    CUDA_MEMCPY3D_PEER,
    CUdeviceptr,
    CUextent3D,
    CUmemcpy3DOperand,
    CUmemcpy3DOperandType,
    CUmemcpySrcAccessOrder,
    CUmemorytype,
    CUresult,
)
from cudapy.runtime import (
    cudaError_t,
    cudaMemcpy3DBatchOp,
    cudaMemcpy3DOperandType,
    cudaMemcpy3DParms,
    cudaMemcpy3DPeerParms,
    cudaMemcpyKind,
    cudaMemcpySrcAccessOrder,
    cudaMemoryType,
    make_cudaExtent,
    make_cudaPitchedPtr,
    make_cudaPos,
)

from .apis import DRIVER, RUNTIME, Api, only
from .apis import api as api
from .kernels import (
    DEVICE,
    device_location,
    held,
    memory,
    needs_driver,
    no_context,
    ok,
    owned,
    primary_context,
    read,
    stream,
    write,
)
from .runtime_kernels import needs_function

pytestmark = pytest.mark.gpu

Kind = cudaMemcpyKind


def pitched(array: np.ndarray) -> Any:
    """A box of bytes on the host, (slices, rows, columns)."""
    return make_cudaPitchedPtr(array.ctypes.data, array.strides[1], array.shape[2], array.shape[1])


def test_too_many_bytes_are_an_error(api: Api) -> None:
    failed = api.ErrorMemoryAllocation
    assert api.Malloc(1 << 60) == (failed, None)
    with pytest.raises(MemoryError, match=failed.name):
        (driver.checked.cuMemAlloc if api.is_driver else runtime.checked.cudaMalloc)(1 << 60)


@only(DRIVER)
def test_no_bytes_are_an_error() -> None:
    assert driver.cuMemAlloc(0) == (CUresult.CUDA_ERROR_INVALID_VALUE, None)


def test_nothing_is_freed(api: Api) -> None:
    assert api.Free(0) == api.Free(None) == (api.Success,)


def test_a_queued_copy_waits_for_its_turn(api: Api) -> None:
    def copy(to: Any, source: Any, size: int, kind: str) -> None:
        if api.is_driver:
            ok(getattr(driver, f"cuMemcpy{kind}Async")(to, source, size, queue))
        else:
            kinds = {"DtoH": "DeviceToHost", "HtoD": "HostToDevice", "DtoD": "DeviceToDevice"}
            ok(runtime.cudaMemcpyAsync(to, source, size, getattr(Kind, f"cudaMemcpy{kinds[kind]}"), queue))

    made = owned(api.MallocHost(64), api.FreeHost)
    with made as host, api.memory(64) as pointer, api.stream() as queue:
        api.write(pointer, [ord("x")] * 64, np.uint8)
        view = (ctypes.c_char * 64).from_address(host)
        view.raw = b"-" * 64
        with held(queue):
            copy(host, pointer, 64, "DtoH")
            assert api.StreamQuery(queue) == (api.ErrorNotReady,)
            assert view.raw == b"-" * 64
        assert view.raw == b"x" * 64
        view.raw = b"y" * 64
        copy(pointer, host, 32, "HtoD")
        copy(int(pointer) + 32, pointer, 8, "DtoD")
        assert bytes(api.read(pointer, 64, np.uint8)) == b"y" * 40 + b"x" * 24


def test_copies_in_a_batch(api: Api) -> None:
    api.needs_function("MemcpyBatchAsync")
    needs_driver(12, 8)
    in_order = api.MemcpyAttributes(srcAccessOrder=api.MemcpySrcAccessOrderStream)
    any_order = api.MemcpyAttributes(srcAccessOrder=api.MemcpySrcAccessOrderAny)
    with api.memory(64) as first, api.memory(64) as second, api.stream() as queue:
        api.write(first, range(16))
        a, b = int(first), int(second)
        copies = [b, b + 16, b + 48], [a + 32, a, a + 48], [16, 8, 4], 3
        ok(api.MemcpyBatchAsync(*copies, [in_order, any_order], [0, 2], 2, queue))
        assert api.read(second, 16) == [8, 9, 10, 11, 0, 1, 0, 0, 0, 0, 0, 0, 12, 0, 0, 0]
        assert api.MemcpyBatchAsync(*copies, None, None, 0, queue) == (api.ErrorInvalidValue,)


@only(DRIVER)
def test_an_allocation_has_an_address_range() -> None:
    with owned(driver.cuMemAlloc(1000), driver.cuMemFree) as pointer:
        start, size = ok(driver.cuMemGetAddressRange(int(pointer) + 500))
        assert start == pointer
        assert size >= 1000


@only(DRIVER)
def test_memory_is_freed_whichever_context_is_current() -> None:
    pointer = ok(driver.cuMemAlloc(1 << 20))
    ok(driver.cuCtxSetCurrent(0))
    try:
        ok(driver.cuMemFree(pointer))
    finally:
        ok(driver.cuCtxSetCurrent(primary_context()))
    assert driver.cuMemGetAddressRange(pointer)[0] != CUresult.CUDA_SUCCESS


@only(DRIVER)
def test_there_and_back() -> None:
    data = np.arange(1000, dtype=np.int32)
    with memory(4000) as first, memory(4000) as second:
        ok(driver.cuMemcpyHtoD(first, data, 4000))
        ok(driver.cuMemcpyDtoD(second, first, 4000))
        back = bytearray(4000)
        ok(driver.cuMemcpyDtoH(back, second, 4000))
    assert back == data.tobytes()


@only(DRIVER)
def test_unified_addresses_tell_host_from_device() -> None:
    source, back = np.arange(64, dtype=np.int32), np.zeros(64, np.int32)
    with memory(256) as pointer, stream() as queue:
        ok(driver.cuMemcpy(pointer, source.ctypes.data, 256))
        ok(driver.cuCtxSynchronize())  # the queue does not wait for it
        ok(driver.cuMemcpyAsync(back.ctypes.data, pointer, 256, queue))
        ok(driver.cuStreamSynchronize(queue))
    assert back.tolist() == source.tolist()


@only(DRIVER)
def test_copies_between_contexts_that_are_one() -> None:
    with memory(64) as first, memory(64) as second, stream() as queue:
        write(first, range(16))
        ok(driver.cuMemcpyPeer(second, primary_context(), first, primary_context(), 32))
        ok(
            driver.cuMemcpyPeerAsync(
                int(second) + 32, primary_context(), int(first) + 32, primary_context(), 32, queue
            )
        )
        assert read(second, 16) == list(range(16))


@only(DRIVER)
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


@only(DRIVER)
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


@only(DRIVER)
def test_a_value_too_wide_for_its_fill_is_refused() -> None:
    with memory(16) as pointer:
        with pytest.raises(OverflowError):
            driver.cuMemsetD8(pointer, 256, 16)
        assert read(pointer, 4) == [0] * 4


@only(DRIVER)
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


@only(DRIVER)
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


@only(DRIVER)
def test_a_box_between_contexts_that_are_one() -> None:
    with memory(64) as first, memory(64) as second, stream() as queue:
        write(first, range(16))
        copy = CUDA_MEMCPY3D_PEER(
            srcMemoryType=CUmemorytype.CU_MEMORYTYPE_DEVICE,
            srcDevice=first,
            srcContext=primary_context(),
            srcPitch=16,
            srcHeight=4,
            dstMemoryType=CUmemorytype.CU_MEMORYTYPE_DEVICE,
            dstDevice=second,
            dstContext=primary_context(),
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


@only(DRIVER)
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


@only(DRIVER)
def test_nothing_is_freed_without_a_context_too() -> None:
    assert driver.cuMemFree(0) == driver.cuMemFree(None) == (0,)
    with no_context():
        assert driver.cuMemFree(0) == (0,)
        for free in (driver.cuMemFree, driver.cuMemFreeHost):
            assert free(4096) == (CUresult.CUDA_ERROR_INVALID_VALUE,)


@only(DRIVER)
def test_the_address_tells_the_context_of_what_is_freed() -> None:
    made = {driver.cuMemFree: ok(driver.cuMemAlloc(64)), driver.cuMemFreeHost: ok(driver.cuMemAllocHost(64))}
    with no_context():
        for free, pointer in made.items():
            assert free(pointer) == (0,)
            assert free(pointer) == (CUresult.CUDA_ERROR_INVALID_VALUE,)


@only(RUNTIME)
class TestAllocation:
    @pytest.mark.usefixtures("alone")
    def test_it_is_counted(self) -> None:
        before, total = ok(runtime.cudaMemGetInfo())
        with owned(runtime.cudaMalloc(256 << 20), runtime.cudaFree) as pointer:
            assert isinstance(pointer, int) and pointer % 256 == 0
            assert ok(runtime.cudaMemGetInfo())[0] <= before - (256 << 20)
        assert total == ok(runtime.cudaGetDeviceProperties(DEVICE)).totalGlobalMem

    def test_failures(self) -> None:
        with RUNTIME.memory(4096) as pointer:
            assert runtime.cudaFree(pointer + 256) == (cudaError_t.cudaErrorInvalidValue,)

    def test_what_an_address_is(self) -> None:
        host = np.zeros(16, np.int32)
        with RUNTIME.memory(64) as pointer:
            found = ok(runtime.cudaPointerGetAttributes(pointer))
            assert (found.type, found.device) == (cudaMemoryType.cudaMemoryTypeDevice, DEVICE)
            assert found.devicePointer == pointer and not found.hostPointer
            assert isinstance(found.type, cudaMemoryType)
        unknown = ok(runtime.cudaPointerGetAttributes(host))
        assert unknown.type == cudaMemoryType.cudaMemoryTypeUnregistered


@only(RUNTIME)
class TestCopies:
    def test_each_direction(self) -> None:
        source = np.arange(16, dtype=np.int32)
        back, again = np.zeros_like(source), np.zeros_like(source)
        with RUNTIME.memory(64) as first, RUNTIME.memory(64) as second:
            ok(runtime.cudaMemcpy(first, source, 64, Kind.cudaMemcpyHostToDevice))
            ok(runtime.cudaMemcpy(second, first, 64, Kind.cudaMemcpyDeviceToDevice))
            ok(runtime.cudaMemcpy(back, second, 64, Kind.cudaMemcpyDeviceToHost))
            ok(runtime.cudaMemcpy(again, back, 64, Kind.cudaMemcpyHostToHost))
        assert again.tolist() == source.tolist()

    def test_the_direction_can_be_read_off_the_addresses(self) -> None:
        source, back = bytes(range(64)), bytearray(64)
        with RUNTIME.memory(64) as first, RUNTIME.memory(64) as second:
            ok(runtime.cudaMemcpy(first, source, 64, Kind.cudaMemcpyDefault))
            ok(runtime.cudaMemcpy(second, first, 64, Kind.cudaMemcpyDefault))
            ok(runtime.cudaMemcpy(back, second, 64, Kind.cudaMemcpyDefault))
        assert back == source

    def test_what_cannot_be_copied(self) -> None:
        with RUNTIME.memory(64) as pointer:
            assert runtime.cudaMemcpy(pointer, pointer, 64, 99) == (
                cudaError_t.cudaErrorInvalidMemcpyDirection,
            )
            with pytest.raises(ValueError, match="the call needs 64"):
                runtime.cudaMemcpy(pointer, bytes(32), 64, Kind.cudaMemcpyHostToDevice)

    def test_from_a_device_to_itself_as_peers(self) -> None:
        with RUNTIME.memory(64) as first, RUNTIME.memory(64) as second, stream() as queue:
            RUNTIME.write(first, range(16))
            ok(runtime.cudaMemcpyPeer(second, DEVICE, first, DEVICE, 32))
            ok(runtime.cudaMemcpyPeerAsync(second + 32, DEVICE, first + 32, DEVICE, 16, queue))
            assert RUNTIME.read(second, 16) == [*range(12), 0, 0, 0, 0]


@only(RUNTIME)
class TestPitched:
    @pytest.mark.parametrize("form", ["blocking", "stream"])
    def test_rows_there_and_back(self, form: str) -> None:
        source = np.arange(24, dtype=np.int32).reshape(4, 6)
        back = np.zeros((4, 3), np.int32)
        pointer, pitch = ok(runtime.cudaMallocPitch(24, 4))
        assert pitch >= 24 and pitch % 4 == 0
        there = (pointer, pitch, source, 24, 24, 4, Kind.cudaMemcpyHostToDevice)
        home = (back, 12, pointer + 8, pitch, 12, 4, Kind.cudaMemcpyDeviceToHost)
        if form == "blocking":
            ok(runtime.cudaMemcpy2D(*there))
            ok(runtime.cudaMemcpy2D(*home))
        else:
            with stream() as queue:
                ok(runtime.cudaMemcpy2DAsync(*there, queue))
                ok(runtime.cudaMemcpy2DAsync(*home, queue))
                ok(runtime.cudaStreamSynchronize(queue))
        ok(runtime.cudaFree(pointer))
        assert back.tolist() == source[:, 2:5].tolist()

    @pytest.mark.parametrize("form", ["blocking", "stream"])
    def test_a_box_in_a_box(self, form: str) -> None:
        source = np.arange(60, dtype=np.uint8).reshape(3, 4, 5)
        back = np.zeros((2, 2, 3), np.uint8)
        box = ok(runtime.cudaMalloc3D(make_cudaExtent(5, 4, 3)))
        assert box.pitch >= 5 and (box.xsize, box.ysize) == (5, 4)
        there = cudaMemcpy3DParms(
            srcPtr=pitched(source),
            dstPtr=box,
            extent=make_cudaExtent(5, 4, 3),
            kind=Kind.cudaMemcpyHostToDevice,
        )
        home = cudaMemcpy3DParms()
        home.srcPtr, home.srcPos = box, make_cudaPos(1, 2, 1)
        home.dstPtr = pitched(back)
        home.extent = make_cudaExtent(3, 2, 2)
        home.kind = Kind.cudaMemcpyDeviceToHost
        if form == "blocking":
            ok(runtime.cudaMemcpy3D(there))
            ok(runtime.cudaMemcpy3D(home))
        else:
            with stream() as queue:
                ok(runtime.cudaMemcpy3DAsync(there, queue))
                ok(runtime.cudaMemcpy3DAsync(home, queue))
                ok(runtime.cudaStreamSynchronize(queue))
        ok(runtime.cudaFree(box.ptr))
        assert back.tolist() == source[1:3, 2:4, 1:4].tolist()

    def test_a_box_between_peers(self) -> None:
        with RUNTIME.memory(64) as first, RUNTIME.memory(64) as second, stream() as queue:
            RUNTIME.write(first, range(16))
            copy = cudaMemcpy3DPeerParms(srcDevice=DEVICE, dstDevice=DEVICE)
            copy.srcPtr = make_cudaPitchedPtr(first, 16, 16, 4)
            copy.dstPtr = make_cudaPitchedPtr(second, 16, 16, 4)
            copy.extent = make_cudaExtent(16, 2, 1)
            ok(runtime.cudaMemcpy3DPeer(copy))
            assert RUNTIME.read(second, 16) == [*range(8), *[0] * 8]
            copy.extent = make_cudaExtent(16, 3, 1)
            ok(runtime.cudaMemcpy3DPeerAsync(copy, queue))
            assert RUNTIME.read(second, 16) == [*range(12), *[0] * 4]


@only(RUNTIME)
class TestFills:
    @pytest.mark.parametrize("form", ["blocking", "stream"])
    def test_lines_rectangles_and_boxes(self, form: str) -> None:
        def call(name: str, *arguments: Any) -> None:
            if form == "blocking":
                ok(getattr(runtime, name)(*arguments))
            else:
                ok(getattr(runtime, f"{name}Async")(*arguments, queue))

        with RUNTIME.memory(64) as pointer, stream() as queue:
            call("cudaMemset", pointer, 1, 20)
            call("cudaMemset2D", pointer + 8, 16, 2, 4, 3)
            call("cudaMemset3D", make_cudaPitchedPtr(pointer + 12, 16, 16, 2), 3, make_cudaExtent(4, 1, 2))
            one, two, three = 0x01010101, 0x02020202, 0x03030303
            assert RUNTIME.read(pointer, 16) == [
                one,
                one,
                two,
                three,
                one,
                0,
                two,
                0,
                0,
                0,
                two,
                three,
                0,
                0,
                0,
                0,
            ]


@only(RUNTIME)
def test_boxes_of_the_runtime_in_a_batch() -> None:
    needs_function("cudaMemcpy3DBatchAsync")
    needs_driver(12, 8)
    copy = cudaMemcpy3DBatchOp(extent=make_cudaExtent(8, 2, 1))
    copy.srcAccessOrder = cudaMemcpySrcAccessOrder.cudaMemcpySrcAccessOrderStream
    with RUNTIME.memory(64) as source, RUNTIME.memory(64) as target, stream() as queue:
        RUNTIME.write(source, range(16))
        for side, pointer in ((copy.src, source + 8), (copy.dst, target)):
            side.type = cudaMemcpy3DOperandType.cudaMemcpyOperandTypePointer
            side.op.ptr.ptr, side.op.ptr.rowLength, side.op.ptr.layerHeight = pointer, 16, 2
        ok(runtime.cudaMemcpy3DBatchAsync(1, [copy], 0, queue))
        assert RUNTIME.read(target, 8) == [2, 3, 0, 0, 6, 7, 0, 0]


@only(RUNTIME)
@pytest.mark.parametrize(
    "call",
    [
        pytest.param(lambda p: runtime.cudaGetSymbolAddress(p), id="address"),
        pytest.param(lambda p: runtime.cudaGetSymbolSize(p), id="size"),
        pytest.param(
            lambda p: runtime.cudaMemcpyToSymbol(p, bytes(4), 4, 0, Kind.cudaMemcpyHostToDevice), id="to"
        ),
        pytest.param(
            lambda p: runtime.cudaMemcpyFromSymbol(bytearray(4), p, 4, 0, Kind.cudaMemcpyDeviceToHost),
            id="from",
        ),
    ],
)
def test_symbols_are_those_that_nvcc_registered(call: Callable[[Any], tuple[Any, ...]]) -> None:
    no_symbol = bytearray(64)
    status, *values = call(no_symbol)
    assert status == cudaError_t.cudaErrorInvalidSymbol
    assert all(value is None for value in values)
