"""Batches of copies, prefetches and discards: when a source is read, and what is refused."""

from __future__ import annotations

import contextlib
import ctypes
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from cudapy import driver, simulator
from cudapy.driver import (
    CUDA_ARRAY_DESCRIPTOR,
    CUDA_MEMCPY3D_BATCH_OP,
    CUarray,
    CUarray_format,
    CUextent3D,
    CUmemcpy3DOperand,
    CUmemcpy3DOperandType,
    CUmemcpyAttributes,
    CUmemcpyFlags,
    CUmemcpySrcAccessOrder,
    CUmemLocation,
    CUmemLocationType,
    CUresult,
    CUstreamCaptureMode,
)

from .kernels import (
    HOST_FUNCTION,
    device_location,
    held,
    memory,
    needs_driver,
    ok,
    owned,
    read,
    stream,
    write,
)
from .kernels import context as context

pytestmark = pytest.mark.gpu

Location = CUmemLocationType
INVALID = (CUresult.CUDA_ERROR_INVALID_VALUE,)
STREAM = CUmemcpySrcAccessOrder.CU_MEMCPY_SRC_ACCESS_ORDER_STREAM
DURING_API_CALL = CUmemcpySrcAccessOrder.CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL
ANY = CUmemcpySrcAccessOrder.CU_MEMCPY_SRC_ACCESS_ORDER_ANY
UNDEFINED_ORDERS = [0, 4, 0x7FFFFFFF]
POINTER = CUmemcpy3DOperandType.CU_MEMCPY_OPERAND_TYPE_POINTER
ARRAY = CUmemcpy3DOperandType.CU_MEMCPY_OPERAND_TYPE_ARRAY
BEFORE, AFTER = 0x05050505, 0x06060606
"""What a source holds when the call is made, and what the program writes there after it."""


def attributes(order: int = STREAM, flags: int = 0) -> CUmemcpyAttributes:
    return CUmemcpyAttributes(srcAccessOrder=order, flags=flags)


def place(pointer: Any, row: int = 0, layer: int = 0, kind: int = POINTER) -> CUmemcpy3DOperand:
    operand = CUmemcpy3DOperand(type=kind)
    operand.op.ptr.ptr, operand.op.ptr.rowLength, operand.op.ptr.layerHeight = int(pointer), row, layer  # type: ignore[assignment]
    return operand


def in_array(array: CUarray, x: int = 0) -> CUmemcpy3DOperand:
    operand = CUmemcpy3DOperand(type=ARRAY)
    operand.op.array.array, operand.op.array.offset.x = array, x
    return operand


def box(
    dst: CUmemcpy3DOperand,
    src: CUmemcpy3DOperand,
    extent: tuple[int, int, int] = (4, 1, 1),
    order: int = STREAM,
    flags: int = 0,
) -> CUDA_MEMCPY3D_BATCH_OP:
    width, height, depth = extent
    shape = CUextent3D(width=width, height=height, depth=depth)
    return CUDA_MEMCPY3D_BATCH_OP(dst=dst, src=src, extent=shape, srcAccessOrder=order, flags=flags)


def batch(dst: Any, src: Any, size: int, order: int, queue: Any) -> tuple[CUresult]:
    return driver.cuMemcpyBatchAsync([dst], [src], [size], 1, [attributes(order)], [0], 1, queue)


def boxes(dst: Any, src: Any, size: int, order: int, queue: Any) -> tuple[CUresult]:
    return driver.cuMemcpy3DBatchAsync(1, [box(place(dst), place(src), (size, 1, 1), order)], 0, queue)


def one(dst: Any, src: Any, size: int, order: int, queue: Any) -> tuple[CUresult]:
    needs_driver(13, 2)
    return driver.cuMemcpyWithAttributesAsync(dst, src, size, attributes(order), queue)


def one_box(dst: Any, src: Any, size: int, order: int, queue: Any) -> tuple[CUresult]:
    needs_driver(13, 2)
    copy = box(place(dst), place(src), (size, 1, 1), order)
    return driver.cuMemcpy3DWithAttributesAsync(copy, 0, queue)


@contextlib.contextmanager
def page_locked() -> Iterator[Any]:
    """Sixteen words of page-locked memory."""
    with owned(driver.cuMemAllocHost(64), driver.cuMemFreeHost) as host:
        words = (ctypes.c_uint32 * 16).from_address(int(host))
        words[:] = [BEFORE] * 16
        yield words


@pytest.fixture(autouse=True)
def has_batches(context: Any) -> None:
    needs_driver(12, 8)


# -- When a source is read ----------------------------------------------------------------------------------


@pytest.mark.parametrize("copy", [batch, boxes, one, one_box])
@pytest.mark.parametrize(("order", "expected"), [(STREAM, AFTER), (DURING_API_CALL, BEFORE)])
def test_page_locked_memory_is_read_when_its_order_says(
    copy: Callable[..., tuple[CUresult]], order: int, expected: int
) -> None:
    if order == DURING_API_CALL and not simulator.is_enabled():
        pytest.skip("a GPU's driver may read page-locked memory in its turn, and wait for that")
    with memory(64) as pointer, stream() as queue, page_locked() as words:
        with held(queue):
            ok(copy(pointer, ctypes.addressof(words), 64, order, queue))
            words[:] = [AFTER] * 16
        assert read(pointer, 16) == [expected] * 16


@pytest.mark.parametrize("copy", [batch, boxes, one, one_box])
@pytest.mark.parametrize("order", [DURING_API_CALL, ANY])
def test_pageable_memory_may_go_after_a_call_that_does_not_wait(
    copy: Callable[..., tuple[CUresult]], order: int
) -> None:
    with memory(64) as pointer, stream() as queue:
        source = np.full(16, BEFORE, np.uint32)
        with held(queue):
            ok(copy(pointer, source.ctypes.data, 64, order, queue))
            source[:] = AFTER
        assert read(pointer, 16) == [BEFORE] * 16


@pytest.mark.parametrize("copy", [batch, boxes, one, one_box])
def test_pageable_memory_in_stream_order_is_read_before_the_call_ends(
    copy: Callable[..., tuple[CUresult]],
) -> None:
    with memory(64) as pointer, stream() as queue:
        source = np.zeros(16, np.uint32)

        @HOST_FUNCTION
        def fill(_: Any) -> None:
            time.sleep(0.1)
            source[:] = BEFORE

        ok(driver.cuLaunchHostFunc(queue, fill, None))
        ok(copy(pointer, source.ctypes.data, 64, STREAM, queue))
        source[:] = AFTER
        ok(driver.cuStreamSynchronize(queue))
        assert read(pointer, 16) == [BEFORE] * 16


@pytest.mark.parametrize("copy", [batch, boxes, one, one_box])
def test_a_copy_during_the_call_reads_what_the_device_was_told_to_write(
    copy: Callable[..., tuple[CUresult]],
) -> None:
    with memory(64) as first, memory(64) as second, stream() as queue:

        @HOST_FUNCTION
        def wait(_: Any) -> None:
            time.sleep(0.1)

        ok(driver.cuLaunchHostFunc(queue, wait, None))
        ok(driver.cuMemsetD32Async(second, BEFORE, 16, queue))
        ok(copy(first, second, 64, DURING_API_CALL, queue))
        ok(driver.cuMemsetD32Async(second, AFTER, 16, queue))
        ok(driver.cuStreamSynchronize(queue))
        assert read(first, 16) == [BEFORE] * 16


def test_each_copy_has_the_order_of_its_attributes() -> None:
    if not simulator.is_enabled():
        pytest.skip("a GPU's driver may read page-locked memory in its turn, and wait for that")
    with memory(64) as pointer, stream() as queue, page_locked() as words:
        targets, sources = (
            [int(start) + 16 * i for i in range(4)] for start in (pointer, ctypes.addressof(words))
        )
        rules = [attributes(STREAM), attributes(DURING_API_CALL), attributes(STREAM)]
        with held(queue):
            ok(driver.cuMemcpyBatchAsync(targets, sources, [16] * 4, 4, rules, [0, 1, 3], 3, queue))
            words[:] = [AFTER] * 16
        assert read(pointer, 16) == [AFTER] * 4 + [BEFORE] * 8 + [AFTER] * 4


def test_pageable_memory_of_a_plain_copy_may_go_while_the_legacy_stream_works() -> None:
    with memory(64) as pointer, stream() as queue:
        source = np.full(16, BEFORE, np.uint32)
        with held(driver.CU_STREAM_LEGACY):
            ok(driver.cuMemcpyHtoDAsync(pointer, source, 64, queue))
            source[:] = AFTER
        assert read(pointer, 16) == [BEFORE] * 16


# -- What is refused ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("copy", [batch, boxes, one, one_box])
@pytest.mark.parametrize("order", UNDEFINED_ORDERS)
def test_a_copy_needs_an_order(copy: Callable[..., tuple[CUresult]], order: int) -> None:
    with memory(64) as first, memory(64) as second, stream() as queue:
        assert copy(first, second, 4, order, queue) == INVALID


@pytest.mark.parametrize("indexes", [[], [1], [0, 0], [0, 2, 1], [0, 1, 1], [0, 3], [0, 100], [0, 1, 2, 3]])
def test_attributes_begin_at_the_first_copy_and_rise(indexes: list[int]) -> None:
    count = len(indexes)
    with memory(64) as first, memory(64) as second, stream() as queue:
        write(first, [1] * 16)
        write(second, [2] * 16)
        places = [[int(pointer) + 8 * i for i in range(3)] for pointer in (first, second)]
        call = (*places, [4] * 3, 3, [attributes()] * count, indexes, count, queue)
        assert driver.cuMemcpyBatchAsync(*call) == INVALID
        assert read(first, 16) == [1] * 16


@pytest.mark.parametrize(
    ("kind", "number", "expected"),
    [
        (Location.CU_MEM_LOCATION_TYPE_NONE, 5, CUresult.CUDA_SUCCESS),
        (Location.CU_MEM_LOCATION_TYPE_DEVICE, 0, CUresult.CUDA_SUCCESS),
        (Location.CU_MEM_LOCATION_TYPE_HOST, 7, CUresult.CUDA_SUCCESS),
        (Location.CU_MEM_LOCATION_TYPE_HOST_NUMA, 99, CUresult.CUDA_SUCCESS),
        (Location.CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT, 0, CUresult.CUDA_SUCCESS),
        (Location.CU_MEM_LOCATION_TYPE_DEVICE, 99, CUresult.CUDA_ERROR_INVALID_VALUE),
        (Location.CU_MEM_LOCATION_TYPE_DEVICE, -1, CUresult.CUDA_ERROR_INVALID_VALUE),
        (99, 0, CUresult.CUDA_ERROR_INVALID_VALUE),
    ],
)
def test_hints_of_lines_are_locations(kind: int, number: int, expected: CUresult) -> None:
    hint = CUmemLocation(type=kind, id=number)
    with memory(64) as first, memory(64) as second, stream() as queue:
        for name in ("srcLocHint", "dstLocHint"):
            rule = attributes()
            setattr(rule, name, hint)
            call = ([first], [second], [4], 1, [rule], [0], 1, queue)
            assert driver.cuMemcpyBatchAsync(*call) == (expected,)


@pytest.mark.parametrize("flags", [2, 3, 0x80000000])
def test_other_flags_are_not_taken(flags: int) -> None:
    with memory(64) as first, memory(64) as second, stream() as queue:
        call = ([first], [second], [4], 1, [attributes(flags=flags)], [0], 1, queue)
        assert driver.cuMemcpyBatchAsync(*call) == INVALID
        copy = box(place(first), place(second), flags=flags)
        assert driver.cuMemcpy3DBatchAsync(1, [copy], 0, queue) == INVALID


def test_the_hint_to_overlap_is_taken() -> None:
    flags = CUmemcpyFlags.CU_MEMCPY_FLAG_PREFER_OVERLAP_WITH_COMPUTE
    with memory(64) as first, memory(64) as second, stream() as queue:
        write(second, range(16))
        ok(driver.cuMemcpyBatchAsync([first], [second], [32], 1, [attributes(flags=flags)], [0], 1, queue))
        half = box(place(int(first) + 32), place(int(second) + 32), (32, 1, 1), flags=flags)
        ok(driver.cuMemcpy3DBatchAsync(1, [half], 0, queue))
        assert read(first, 16) == list(range(16))


def test_nothing_is_not_a_batch() -> None:
    with memory(64) as first, memory(64) as second, stream() as queue:
        assert driver.cuMemcpyBatchAsync([], [], [], 0, [], [], 0, queue) == INVALID
        assert driver.cuMemcpy3DBatchAsync(0, [], 0, queue) == INVALID
        for sizes in ([4, 0], [0, 4]):
            call = ([first] * 2, [second] * 2, sizes, 2, [attributes()], [0], 1, queue)
            assert driver.cuMemcpyBatchAsync(*call) == INVALID


class TestTheIndexOfTheFailure:
    """What the functions of CUDA 12.8 and 12.9 tell of a batch that is refused."""

    NONE = 2**64 - 1

    @pytest.fixture
    def call(self) -> Iterator[Callable[..., tuple[int, int]]]:
        with memory(64) as first, memory(64) as second, stream() as queue:
            self.first, self.second, self.queue = int(first), int(second), queue

            def call(name: str, *arguments: Any) -> tuple[int, int]:
                flags = driver.CUdriverProcAddress_flags.CU_GET_PROC_ADDRESS_DEFAULT
                address = ok(driver.cuGetProcAddress(name.encode(), 12080, flags))[0]
                index = ctypes.c_size_t(77)
                given = [ctypes.byref(index) if each == "index" else each for each in arguments]
                return ctypes.CFUNCTYPE(ctypes.c_int)(int(address))(*given), index.value

            yield call

    @pytest.mark.parametrize(
        ("change", "status", "index"),
        [
            ({}, 0, NONE),
            ({"source": 0}, 1, 1),
            ({"order": 0}, 1, NONE),
            ({"flags": 8}, 1, NONE),
            ({"begin": 0}, 1, NONE),
            ({"number": 0}, 1, NONE),
            ({"queue": 1}, 1, NONE),
        ],
        ids=str,
    )
    def test_of_lines(
        self, call: Callable[..., tuple[int, int]], change: dict[str, int], status: int, index: int
    ) -> None:
        def words(*values: int) -> Any:
            return (ctypes.c_size_t * 2)(*values)

        rules = (CUmemcpyAttributes * 2)(attributes(), attributes(change.get("order", STREAM)))
        rules[1].flags = change.get("flags", 0)
        answer = call(
            "cuMemcpyBatchAsync",
            words(self.first, self.first + 8),
            words(self.second, change.get("source", self.second + 8)),
            words(4, 4),
            ctypes.c_size_t(2),
            ctypes.byref(rules),
            words(0, change.get("begin", 1)),
            ctypes.c_size_t(change.get("number", 2)),
            "index",
            ctypes.c_void_p(change.get("queue", int(self.queue))),
        )
        assert answer == (status, index)

    @pytest.mark.parametrize(
        ("change", "status", "index"),
        [
            ({}, 0, NONE),
            ({"source": 0}, 1, NONE),
            ({"width": 0}, 1, 1),
            ({"order": 0}, 1, 1),
            ({"flags": 1}, 1, NONE),
            ({"queue": 1}, 1, NONE),
        ],
        ids=str,
    )
    def test_of_boxes(
        self, call: Callable[..., tuple[int, int]], change: dict[str, int], status: int, index: int
    ) -> None:
        second = box(
            place(self.first + 8),
            place(change.get("source", self.second + 8)),
            (change.get("width", 4), 1, 1),
            change.get("order", STREAM),
        )
        answer = call(
            "cuMemcpy3DBatchAsync",
            ctypes.c_size_t(2),
            ctypes.byref((CUDA_MEMCPY3D_BATCH_OP * 2)(box(place(self.first), place(self.second)), second)),
            "index",
            ctypes.c_ulonglong(change.get("flags", 0)),
            ctypes.c_void_p(change.get("queue", int(self.queue))),
        )
        assert answer == (status, index)


@pytest.mark.parametrize("copy", [batch, boxes])
def test_a_capture_refuses_a_batch_and_goes_on(copy: Callable[..., tuple[CUresult]]) -> None:
    with memory(64) as first, memory(64) as second, stream() as queue:
        ok(driver.cuStreamBeginCapture(queue, CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED))
        refused = copy(first, second, 4, STREAM, queue)
        wrong = copy(first, second, 4, 0, queue)
        graph = ok(driver.cuStreamEndCapture(queue))
        ok(driver.cuGraphDestroy(graph))
    assert refused == (CUresult.CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,)
    assert wrong == INVALID


@pytest.mark.parametrize("queue", [0, 1])
def test_no_batch_is_for_the_legacy_default_stream(queue: int) -> None:
    with memory(64) as first, memory(64) as second:
        assert batch(first, second, 4, STREAM, queue) == INVALID
        assert boxes(first, second, 4, STREAM, queue) == INVALID


@pytest.mark.parametrize("extent", [(0, 1, 1), (4, 0, 1), (4, 1, 0)])
def test_a_box_is_not_empty(extent: tuple[int, int, int]) -> None:
    with memory(64) as first, memory(64) as second, stream() as queue:
        copy = box(place(first), place(second), extent)
        assert driver.cuMemcpy3DBatchAsync(1, [copy], 0, queue) == INVALID


def test_rows_and_layers_hold_the_box() -> None:
    with memory(64) as first, memory(64) as second, stream() as queue:
        for wrong in (place(first, 3), place(first, 4, 1), place(first, kind=0), place(first, kind=3)):
            copy = box(wrong, place(second), (4, 2, 1))
            assert driver.cuMemcpy3DBatchAsync(1, [copy], 0, queue) == INVALID
        assert driver.cuMemcpy3DBatchAsync(1, [box(place(first), place(second))], 1, queue) == INVALID


def test_boxes_lie_in_arrays_of_like_elements() -> None:
    def made(kind: CUarray_format) -> Any:
        return owned(
            driver.cuArrayCreate(CUDA_ARRAY_DESCRIPTOR(Width=8, Height=2, Format=kind, NumChannels=1)),
            driver.cuArrayDestroy,
        )

    words, bytes_ = CUarray_format.CU_AD_FORMAT_UNSIGNED_INT32, CUarray_format.CU_AD_FORMAT_UNSIGNED_INT8
    with (
        memory(64) as pointer,
        made(words) as first,
        made(words) as second,
        made(bytes_) as other,
        stream() as queue,
    ):
        write(pointer, range(16))
        whole = (8, 2, 1)
        for dst, src in ((in_array(first), place(pointer)), (in_array(second), in_array(first))):
            ok(driver.cuMemcpy3DBatchAsync(1, [box(dst, src, whole)], 0, queue))
        ok(driver.cuStreamSynchronize(queue))  # before what they read is overwritten in another stream
        write(pointer, [0] * 16)
        ok(driver.cuMemcpy3DBatchAsync(1, [box(place(pointer), in_array(second), whole)], 0, queue))
        assert read(pointer, 16) == list(range(16))
        for dst, src, extent in (
            (in_array(other), in_array(first), whole),
            (in_array(first), place(pointer), (9, 1, 1)),
            (in_array(first, 4), place(pointer), (5, 1, 1)),
            (in_array(first), place(pointer), (4, 3, 1)),
        ):
            assert driver.cuMemcpy3DBatchAsync(1, [box(dst, src, extent)], 0, queue) == INVALID


# -- Managed memory -----------------------------------------------------------------------------------------

SIZE = 1 << 16


def prefetch(ranges: list[Any], locations: list[CUmemLocation], indexes: list[int], queue: Any) -> Any:
    count, number, sizes = len(ranges), len(locations), [SIZE] * len(ranges)
    return driver.cuMemPrefetchBatchAsync(ranges, sizes, count, locations, indexes, number, 0, queue)


def both(ranges: list[Any], locations: list[CUmemLocation], indexes: list[int], queue: Any) -> Any:
    count, number, sizes = len(ranges), len(locations), [SIZE] * len(ranges)
    return driver.cuMemDiscardAndPrefetchBatchAsync(
        ranges, sizes, count, locations, indexes, number, 0, queue
    )


def discard(ranges: list[Any], locations: list[CUmemLocation], indexes: list[int], queue: Any) -> Any:
    return driver.cuMemDiscardBatchAsync(ranges, [SIZE] * len(ranges), len(ranges), 0, queue)


@pytest.mark.parametrize("call", [prefetch, both, discard])
class TestManagedMemory:
    @pytest.fixture
    def managed(self) -> Any:
        needs_driver(13, 0)
        with owned(driver.cuMemAllocManaged(2 * SIZE, 1), driver.cuMemFree) as pointer:
            yield int(pointer)

    def test_other_memory_is_refused(self, managed: int, call: Callable[..., Any]) -> None:
        with memory(SIZE) as plain, stream() as queue, page_locked() as words:
            for other in (plain, ctypes.addressof(words), 0, managed + SIZE + 1):
                assert call([managed, other], [device_location()], [0], queue) == INVALID
            assert call([], [device_location()], [0], queue) == INVALID

    @pytest.mark.parametrize(
        ("kind", "number", "expected"),
        [
            (Location.CU_MEM_LOCATION_TYPE_HOST, 9, CUresult.CUDA_SUCCESS),
            (Location.CU_MEM_LOCATION_TYPE_HOST_NUMA, 0, CUresult.CUDA_SUCCESS),
            (Location.CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT, 0, CUresult.CUDA_SUCCESS),
            (Location.CU_MEM_LOCATION_TYPE_NONE, 0, CUresult.CUDA_ERROR_INVALID_VALUE),
            (Location.CU_MEM_LOCATION_TYPE_DEVICE, 99, CUresult.CUDA_ERROR_INVALID_VALUE),
            (Location.CU_MEM_LOCATION_TYPE_HOST_NUMA, 99, CUresult.CUDA_ERROR_INVALID_VALUE),
            (Location.CU_MEM_LOCATION_TYPE_INVISIBLE, 0, CUresult.CUDA_ERROR_INVALID_VALUE),
            (99, 0, CUresult.CUDA_ERROR_INVALID_VALUE),
        ],
    )
    def test_locations(
        self, managed: int, call: Callable[..., Any], kind: int, number: int, expected: CUresult
    ) -> None:
        if call is discard:
            pytest.skip("a discard has no locations")
        with stream() as queue:
            location = CUmemLocation(type=kind, id=number)
            assert call([managed], [location], [0], queue) == (expected,)
            ok(driver.cuStreamSynchronize(queue))

    @pytest.mark.parametrize("queue", [0, 1])
    def test_not_for_the_legacy_default_stream(
        self, managed: int, call: Callable[..., Any], queue: int
    ) -> None:
        assert call([managed], [device_location()], [0], queue) == INVALID

    @pytest.mark.parametrize("indexes", [[], [1], [0, 2], [0, 1, 2]])
    def test_locations_begin_at_the_first_range_and_rise(
        self, managed: int, call: Callable[..., Any], indexes: list[int]
    ) -> None:
        if call is discard:
            pytest.skip("a discard has no locations")
        with stream() as queue:
            ranges = [managed, managed + SIZE]
            assert call(ranges, [device_location()] * len(indexes), indexes, queue) == INVALID

    def test_a_graph_cannot_have_it(self, managed: int, call: Callable[..., Any]) -> None:
        with stream() as queue:
            ok(driver.cuStreamBeginCapture(queue, CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED))
            status = call([managed], [device_location()], [0], queue)
            ended = driver.cuStreamEndCapture(queue)
        assert status == (CUresult.CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,)
        assert ended == (CUresult.CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, None)
