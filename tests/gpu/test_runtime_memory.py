"""The Runtime API: device memory, linear, pitched and 3D, copies and fills."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from cudapy import runtime as rt
from cudapy.runtime import (
    cudaError_t,
    cudaMemcpy3DBatchOp,
    cudaMemcpy3DOperandType,
    cudaMemcpy3DParms,
    cudaMemcpy3DPeerParms,
    cudaMemcpyAttributes,
    cudaMemcpyKind,
    cudaMemcpySrcAccessOrder,
    cudaMemoryType,
    make_cudaExtent,
    make_cudaPitchedPtr,
    make_cudaPos,
)

from .kernels import DEVICE, held, needs_driver, ok, owned
from .runtime_kernels import device as device
from .runtime_kernels import memory, needs_function, read, stream, words, write

pytestmark = pytest.mark.gpu

Kind = cudaMemcpyKind


def pitched(array: np.ndarray) -> Any:
    """A box of bytes on the host, (slices, rows, columns)."""
    return make_cudaPitchedPtr(array.ctypes.data, array.strides[1], array.shape[2], array.shape[1])


class TestAllocation:
    @pytest.mark.usefixtures("alone")
    def test_it_is_counted(self) -> None:
        before, total = ok(rt.cudaMemGetInfo())
        with owned(rt.cudaMalloc(256 << 20), rt.cudaFree) as pointer:
            assert isinstance(pointer, int) and pointer % 256 == 0
            assert ok(rt.cudaMemGetInfo())[0] <= before - (256 << 20)
        assert total == ok(rt.cudaGetDeviceProperties(DEVICE)).totalGlobalMem

    def test_failures(self) -> None:
        assert rt.cudaMalloc(1 << 60) == (cudaError_t.cudaErrorMemoryAllocation, None)
        assert rt.cudaFree(0) == rt.cudaFree(None) == (cudaError_t.cudaSuccess,)
        with memory(4096) as pointer:
            assert rt.cudaFree(pointer + 256) == (cudaError_t.cudaErrorInvalidValue,)

    def test_what_an_address_is(self) -> None:
        host = np.zeros(16, np.int32)
        with memory(64) as pointer:
            found = ok(rt.cudaPointerGetAttributes(pointer))
            assert (found.type, found.device) == (cudaMemoryType.cudaMemoryTypeDevice, DEVICE)
            assert found.devicePointer == pointer and not found.hostPointer
            assert isinstance(found.type, cudaMemoryType)
        unknown = ok(rt.cudaPointerGetAttributes(host))
        assert unknown.type == cudaMemoryType.cudaMemoryTypeUnregistered


class TestCopies:
    def test_each_direction(self) -> None:
        source = np.arange(16, dtype=np.int32)
        back, again = np.zeros_like(source), np.zeros_like(source)
        with memory(64) as first, memory(64) as second:
            ok(rt.cudaMemcpy(first, source, 64, Kind.cudaMemcpyHostToDevice))
            ok(rt.cudaMemcpy(second, first, 64, Kind.cudaMemcpyDeviceToDevice))
            ok(rt.cudaMemcpy(back, second, 64, Kind.cudaMemcpyDeviceToHost))
            ok(rt.cudaMemcpy(again, back, 64, Kind.cudaMemcpyHostToHost))
        assert again.tolist() == source.tolist()

    def test_the_direction_can_be_read_off_the_addresses(self) -> None:
        source, back = bytes(range(64)), bytearray(64)
        with memory(64) as first, memory(64) as second:
            ok(rt.cudaMemcpy(first, source, 64, Kind.cudaMemcpyDefault))
            ok(rt.cudaMemcpy(second, first, 64, Kind.cudaMemcpyDefault))
            ok(rt.cudaMemcpy(back, second, 64, Kind.cudaMemcpyDefault))
        assert back == source

    def test_what_cannot_be_copied(self) -> None:
        with memory(64) as pointer:
            assert rt.cudaMemcpy(pointer, pointer, 64, 99) == (cudaError_t.cudaErrorInvalidMemcpyDirection,)
            with pytest.raises(ValueError, match="the call needs 64"):
                rt.cudaMemcpy(pointer, bytes(32), 64, Kind.cudaMemcpyHostToDevice)

    def test_in_a_stream(self) -> None:
        with (
            memory(64) as pointer,
            owned(rt.cudaMallocHost(128), rt.cudaFreeHost) as host,
            stream() as queue,
        ):
            view = np.frombuffer(words(host, 32), np.int32)  # type: ignore[call-overload]
            view[:] = [*range(16), *[0] * 16]
            with held(queue):
                ok(rt.cudaMemcpyAsync(pointer, host, 64, Kind.cudaMemcpyHostToDevice, queue))
                ok(rt.cudaMemcpyAsync(host + 64, pointer, 64, Kind.cudaMemcpyDeviceToHost, queue))
                assert view[16:].tolist() == [0] * 16
            assert view[16:].tolist() == list(range(16))

    def test_from_a_device_to_itself_as_peers(self) -> None:
        with memory(64) as first, memory(64) as second, stream() as queue:
            write(first, range(16))
            ok(rt.cudaMemcpyPeer(second, DEVICE, first, DEVICE, 32))
            ok(rt.cudaMemcpyPeerAsync(second + 32, DEVICE, first + 32, DEVICE, 16, queue))
            assert read(second, 16) == [*range(12), 0, 0, 0, 0]


class TestPitched:
    @pytest.mark.parametrize("form", ["blocking", "stream"])
    def test_rows_there_and_back(self, form: str) -> None:
        source = np.arange(24, dtype=np.int32).reshape(4, 6)
        back = np.zeros((4, 3), np.int32)
        pointer, pitch = ok(rt.cudaMallocPitch(24, 4))
        assert pitch >= 24 and pitch % 4 == 0
        there = (pointer, pitch, source, 24, 24, 4, Kind.cudaMemcpyHostToDevice)
        home = (back, 12, pointer + 8, pitch, 12, 4, Kind.cudaMemcpyDeviceToHost)
        if form == "blocking":
            ok(rt.cudaMemcpy2D(*there))
            ok(rt.cudaMemcpy2D(*home))
        else:
            with stream() as queue:
                ok(rt.cudaMemcpy2DAsync(*there, queue))
                ok(rt.cudaMemcpy2DAsync(*home, queue))
                ok(rt.cudaStreamSynchronize(queue))
        ok(rt.cudaFree(pointer))
        assert back.tolist() == source[:, 2:5].tolist()

    @pytest.mark.parametrize("form", ["blocking", "stream"])
    def test_a_box_in_a_box(self, form: str) -> None:
        source = np.arange(60, dtype=np.uint8).reshape(3, 4, 5)
        back = np.zeros((2, 2, 3), np.uint8)
        box = ok(rt.cudaMalloc3D(make_cudaExtent(5, 4, 3)))
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
            ok(rt.cudaMemcpy3D(there))
            ok(rt.cudaMemcpy3D(home))
        else:
            with stream() as queue:
                ok(rt.cudaMemcpy3DAsync(there, queue))
                ok(rt.cudaMemcpy3DAsync(home, queue))
                ok(rt.cudaStreamSynchronize(queue))
        ok(rt.cudaFree(box.ptr))
        assert back.tolist() == source[1:3, 2:4, 1:4].tolist()

    def test_a_box_between_peers(self) -> None:
        with memory(64) as first, memory(64) as second, stream() as queue:
            write(first, range(16))
            copy = cudaMemcpy3DPeerParms(srcDevice=DEVICE, dstDevice=DEVICE)
            copy.srcPtr = make_cudaPitchedPtr(first, 16, 16, 4)
            copy.dstPtr = make_cudaPitchedPtr(second, 16, 16, 4)
            copy.extent = make_cudaExtent(16, 2, 1)
            ok(rt.cudaMemcpy3DPeer(copy))
            assert read(second, 16) == [*range(8), *[0] * 8]
            copy.extent = make_cudaExtent(16, 3, 1)
            ok(rt.cudaMemcpy3DPeerAsync(copy, queue))
            assert read(second, 16) == [*range(12), *[0] * 4]


class TestFills:
    @pytest.mark.parametrize("form", ["blocking", "stream"])
    def test_lines_rectangles_and_boxes(self, form: str) -> None:
        def call(name: str, *arguments: Any) -> None:
            if form == "blocking":
                ok(getattr(rt, name)(*arguments))
            else:
                ok(getattr(rt, f"{name}Async")(*arguments, queue))

        with memory(64) as pointer, stream() as queue:
            call("cudaMemset", pointer, 1, 20)
            call("cudaMemset2D", pointer + 8, 16, 2, 4, 3)
            call("cudaMemset3D", make_cudaPitchedPtr(pointer + 12, 16, 16, 2), 3, make_cudaExtent(4, 1, 2))
            one, two, three = 0x01010101, 0x02020202, 0x03030303
            assert read(pointer, 16) == [one, one, two, three, one, 0, two, 0, 0, 0, two, three, 0, 0, 0, 0]


class TestBatches:
    @pytest.fixture(autouse=True)
    def has_batches(self) -> None:
        needs_function("cudaMemcpyBatchAsync")
        needs_driver(12, 8)

    def test_lines(self) -> None:
        rules = cudaMemcpyAttributes(srcAccessOrder=cudaMemcpySrcAccessOrder.cudaMemcpySrcAccessOrderStream)
        with memory(64) as source, memory(64) as target, stream() as queue:
            write(source, range(16))
            batch = ([target, target + 32], [source + 32, source], [8, 16], 2)
            ok(rt.cudaMemcpyBatchAsync(*batch, [rules], [0], 1, queue))
            assert read(target, 16) == [8, 9, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 0, 0, 0, 0]

    def test_boxes(self) -> None:
        copy = cudaMemcpy3DBatchOp(extent=make_cudaExtent(8, 2, 1))
        copy.srcAccessOrder = cudaMemcpySrcAccessOrder.cudaMemcpySrcAccessOrderStream
        with memory(64) as source, memory(64) as target, stream() as queue:
            write(source, range(16))
            for side, pointer in ((copy.src, source + 8), (copy.dst, target)):
                side.type = cudaMemcpy3DOperandType.cudaMemcpyOperandTypePointer
                side.op.ptr.ptr, side.op.ptr.rowLength, side.op.ptr.layerHeight = pointer, 16, 2
            ok(rt.cudaMemcpy3DBatchAsync(1, [copy], 0, queue))
            assert read(target, 8) == [2, 3, 0, 0, 6, 7, 0, 0]


@pytest.mark.parametrize(
    "call",
    [
        pytest.param(lambda p: rt.cudaGetSymbolAddress(p), id="address"),
        pytest.param(lambda p: rt.cudaGetSymbolSize(p), id="size"),
        pytest.param(
            lambda p: rt.cudaMemcpyToSymbol(p, bytes(4), 4, 0, Kind.cudaMemcpyHostToDevice), id="to"
        ),
        pytest.param(
            lambda p: rt.cudaMemcpyFromSymbol(bytearray(4), p, 4, 0, Kind.cudaMemcpyDeviceToHost), id="from"
        ),
    ],
)
def test_symbols_are_those_that_nvcc_registered(call: Callable[[Any], tuple[Any, ...]]) -> None:
    no_symbol = bytearray(64)
    status, *values = call(no_symbol)
    assert status == cudaError_t.cudaErrorInvalidSymbol
    assert all(value is None for value in values)
