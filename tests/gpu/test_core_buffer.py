"""core on a real GPU: buffers, and where they come from."""

from __future__ import annotations

import ctypes
import gc
import weakref

import numpy as np
import pytest
from cudapy.core.graph import GraphDefinition
from cudapy.core.utils import CopyOptions, StridedMemoryView, copy_batch

from cudapy import driver
from cudapy._core.memory import copies
from cudapy.core import (
    Buffer,
    CUDAError,
    LegacyPinnedMemoryResource,
    MemoryResource,
    default_stream,
)

from .core_graph import wait_for
from .core_kernels import content, spin

pytestmark = pytest.mark.gpu


def test_copies_between_host_and_device(device, stream) -> None:
    numbers = np.arange(1000, dtype=np.float32).reshape(10, 100)
    buffer = device.allocate(numbers.nbytes, stream)
    buffer.copy_from(numbers, stream=stream)
    back = np.zeros_like(numbers)
    assert buffer.copy_to(back, stream=stream) is back
    stream.sync()
    assert np.array_equal(back, numbers)
    buffer.copy_from(b"\xff" * 4, stream=stream)
    short = bytearray(8)
    buffer.copy_to(short, stream=stream)
    stream.sync()
    assert bytes(short) == b"\xff" * 4 + numbers.tobytes()[4:8]


def test_copies_between_buffers(device, stream) -> None:
    source = device.allocate(16, stream)
    source.copy_from(bytes(range(16)), stream=stream)
    target = device.allocate(16, stream)
    assert source.copy_to(target, stream=stream) is target
    third = target.copy_to(stream=stream)
    assert third.memory_resource is target.memory_resource and third.handle != target.handle
    assert content(third, np.uint8, stream).tolist() == list(range(16))
    with pytest.raises(ValueError, match="15 bytes"):
        source.copy_from(device.allocate(15, stream), stream=stream)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0, 0x00000000),
        (171, 0xABABABAB),
        (b"\xff", 0xFFFFFFFF),
        (b"\x01\x02", 0x02010201),
        (np.uint32(0xDEADBEEF), 0xDEADBEEF),
        (np.float32(1.0), 0x3F800000),
    ],
)
def test_fill(device, stream, value, expected) -> None:
    buffer = device.allocate(64, stream)
    buffer.fill(value, stream=stream)
    assert (content(buffer, np.uint32, stream) == expected).all()


def test_what_cannot_be_filled_or_copied(device, stream) -> None:
    buffer = device.allocate(6, stream)
    for value, error in (
        (256, OverflowError),
        (-1, OverflowError),
        (b"abc", ValueError),
        (b"abcd", ValueError),
    ):
        with pytest.raises(error):
            buffer.fill(value, stream=stream)
    with pytest.raises(ValueError, match="7 bytes"):
        buffer.copy_from(bytes(7), stream=stream)
    with pytest.raises(ValueError, match="contiguous"):
        buffer.copy_from(np.zeros(4, np.uint8)[::2], stream=stream)
    with pytest.raises(ValueError, match="writable"):
        frozen = np.zeros(4, np.uint8)
        frozen.flags.writeable = False
        buffer.copy_to(frozen, stream=stream)
    with pytest.raises(ValueError, match="cannot be -1"):
        device.allocate(-1)
    for wrong in ("64", None):
        with pytest.raises(TypeError, match=r"whole number|integer"):
            device.allocate(wrong)


def test_what_a_buffer_is(device, stream) -> None:
    buffer = device.allocate(size=100, stream=stream)
    assert (buffer.size, buffer.device_id, buffer.memory_resource) == (100, 0, device.memory_resource)
    assert buffer.is_device_accessible and not buffer.is_host_accessible and not buffer.is_managed
    seen = Buffer.from_handle(buffer.handle, 100, owner=buffer)
    assert (seen.handle, seen.size, seen.owner, seen.memory_resource) == (buffer.handle, 100, buffer, None)
    assert (seen.device_id, seen.is_device_accessible, seen.is_host_accessible) == (0, True, False)
    host = np.zeros(4)
    outside = Buffer.from_handle(host.ctypes.data, host.nbytes)
    assert (outside.device_id, outside.is_host_accessible) == (-1, True)
    assert device.allocate(0).handle == 0


def test_upload_and_download(device, stream) -> None:
    matrix = np.arange(12, dtype=np.float32).reshape(3, 4)
    for array in (matrix, matrix.T, matrix[:, ::2], np.float64(3), matrix.astype("M8[D]"), np.empty(0, "f4")):
        for where in (None, stream):
            buffer = device.upload(array, where)
            assert buffer.size == array.nbytes
            back = buffer.download(array.dtype, array.shape)
            assert (back.dtype, back.flags.c_contiguous) == (array.dtype, True)
            assert np.array_equal(back, array)
    buffer = device.upload(bytes(range(8)), stream=stream)
    assert buffer.download("u1").tolist() == list(range(8))
    assert buffer.download(np.uint8, 3, stream=stream).tolist() == [0, 1, 2]
    assert buffer.download(">u2", (2, 1)).tolist() == [[1], [0x203]]


def test_upload_waits_for_the_default_stream(device, code) -> None:
    """Of which a stream that does not block knows nothing."""
    spin(code, device.default_stream, 20)
    buffer = device.upload(np.arange(4, dtype=np.uint8))
    assert driver.cuStreamQuery(device.default_stream.handle) == (driver.CUresult.CUDA_SUCCESS,)
    assert buffer.download(np.uint8, stream=device.create_stream()).tolist() == [0, 1, 2, 3]


def test_download_waits_for_the_stream_of_the_buffer(device, stream, code) -> None:
    """Of which the default stream knows nothing: it does not block."""
    buffer = device.upload(np.zeros(4, np.uint8), stream)
    spin(code, stream, 20)
    buffer.fill(7, stream=stream)
    assert buffer.download(np.uint8).tolist() == [7] * 4 and stream.is_nonblocking


def test_download_of_memory_that_others_own(device, stream) -> None:
    host = np.arange(4)
    assert Buffer.from_handle(host.ctypes.data, host.nbytes).download(int).tolist() == [0, 1, 2, 3]
    buffer = device.upload(host, stream)
    lent = Buffer.from_handle(buffer.handle, 16, owner=buffer, stream=stream)
    assert lent.download(int).tolist() == [0, 1]
    with LegacyPinnedMemoryResource().allocate(8) as pinned:
        pinned.fill(1)
        assert pinned.download("u1", 2).tolist() == [1, 1]


def test_what_cannot_be_uploaded_or_downloaded(device, stream) -> None:
    buffer = device.upload(bytes(6), stream)
    for array, said in (
        ([1.0], r"a Python list has no element type, as np\.array"),
        (buffer, "array must be a host array, not .*Buffer"),
        (np.array([None]), "Python objects"),
        ("text", "array must be a host array, not str"),
    ):
        with pytest.raises(TypeError, match=said):
            device.upload(array, stream)
    for arguments, error, said in (
        (("f4",), ValueError, "download: the Buffer has 6 bytes, no multiple of the 4 of float32"),
        (("f4", (1, 2)), ValueError, r"download: \(1, 2\) of float32 needs 8 bytes, the Buffer has 6"),
        (("O",), TypeError, "Python objects"),
        (("u1", 6, stream), TypeError, "the stream is given by name"),
    ):
        with pytest.raises(error, match=said):
            buffer.download(*arguments)
    buffer.close()
    with pytest.raises(RuntimeError, match="closed"):
        buffer.download("u1")


def test_a_stream_that_is_captured_has_nothing_to_download(device, stream) -> None:
    """The capture goes on."""
    buffer = device.upload(bytes(4), stream)
    builder = stream.create_graph_builder().begin_building()
    with pytest.raises(CUDAError, match=r"download\(\) waits .* in a stream that is being captured"):
        buffer.download("u1")
    buffer.fill(3, stream=builder)
    builder.end_building().complete().launch(stream)
    assert buffer.download("u1").tolist() == [3] * 4


HOSTS = [
    np.float32(3),
    np.float64(3),
    np.int32(7),
    np.int64(2**40),
    np.bool_(True),
    np.datetime64("2026-01-01"),
    np.array(["2026-01-01", "2026-01-02"], "M8[D]"),
    np.array(5, "m8[s]"),
    np.array([(1, 2.0)], "i4,f8"),
    np.array(["ab", "c"]),
]


@pytest.mark.parametrize("where", ["device", "pinned"])
@pytest.mark.parametrize("host", HOSTS, ids=repr)
def test_host_arrays_and_scalars_of_all_types(device, stream, host, where) -> None:
    pinned = LegacyPinnedMemoryResource()
    with (device if where == "device" else pinned).allocate(host.nbytes, stream=stream) as buffer:
        buffer.copy_from(host, stream=stream)
        back = np.zeros_like(host, subok=False)
        buffer.copy_to(back, stream=stream)
        stream.sync()
        assert np.array_equal(back, host)


@pytest.mark.parametrize("where", ["device", "pinned"])
@pytest.mark.parametrize(
    "host",
    [b"abcd", np.int32(7), memoryview(b"abcd"), np.frombuffer(b"abcd", "u1")],
    ids=["bytes", "scalar", "memoryview", "array"],
)
def test_what_is_read_only_is_not_written(device, stream, host, where) -> None:
    resource = device if where == "device" else LegacyPinnedMemoryResource()
    with (
        resource.allocate(64, stream=stream) as buffer,
        pytest.raises(ValueError, match="dst must be writable"),
    ):
        buffer.copy_to(host, stream=stream)


@pytest.mark.parametrize("objects", [np.array([1, "a"], object), np.zeros(1, "i4,O")], ids=["all", "a field"])
def test_python_objects_are_not_copied(device, stream, objects) -> None:
    with device.allocate(64, stream) as buffer:
        for call in (buffer.copy_to, buffer.copy_from, buffer.fill):
            for host in (objects, memoryview(objects)):
                with pytest.raises(TypeError, match="Python objects"):
                    call(host, stream=stream)


def test_addresses_and_sizes_that_are_none(device) -> None:
    for address in ("4096", b"4096"):
        with pytest.raises(TypeError):
            Buffer.from_handle(address, 16)
    for address in (-1, 2**64):
        with pytest.raises(OverflowError):
            Buffer.from_handle(address, 16)
    with pytest.raises(TypeError, match="MemoryResource"):
        Buffer.from_handle(4096, 16, mr=1)
    for size in ("1", None, 1j):
        with pytest.raises(TypeError):
            device.allocate(size)
        with pytest.raises(TypeError):
            Buffer.from_handle(4096, size)
    with pytest.warns(RuntimeWarning, match="CUdeviceptr is an integer"):
        assert Buffer.from_handle(4096.5, 16).handle == 4096
    for size in (1.5, np.float32(1.5)):
        with pytest.warns(RuntimeWarning, match="a size in bytes is an integer"):
            assert Buffer.from_handle(4096, size).size == 1
    with device.allocate(np.float64(64)) as buffer:
        assert buffer.size == 64
    assert Buffer.from_handle(driver.CUdeviceptr(4096), np.int64(16)).handle == 4096
    assert Buffer.from_handle(None, 0).handle == 0


def test_pinned_memory(device, stream) -> None:
    buffer = LegacyPinnedMemoryResource().allocate(16)
    assert (buffer.device_id, buffer.is_device_accessible, buffer.is_host_accessible) == (-1, True, True)
    assert Buffer.from_handle(buffer.handle, 16).is_host_accessible
    ctypes.memmove(buffer.handle, bytes(range(16)), 16)
    on_device = device.allocate(16, stream)
    on_device.copy_from(buffer, stream=stream)
    assert content(on_device, np.uint8, stream).tolist() == list(range(16))
    on_device.fill(9, stream=stream)
    on_device.copy_to(buffer, stream=stream)
    stream.sync()
    assert ctypes.string_at(buffer.handle, 16) == b"\x09" * 16


def test_memory_that_there_is_not(device, stream) -> None:
    with pytest.raises(MemoryError) as caught:
        device.allocate(1 << 50, stream)
    assert isinstance(caught.value, CUDAError) and caught.value.function == "cuMemAllocFromPoolAsync"
    assert device.allocate(1 << 20, stream).handle, "and there still is other memory"


def test_a_memory_resource_of_ones_own(device, stream) -> None:
    freed = []

    class Counting(MemoryResource):
        device_id, is_device_accessible, is_host_accessible = 0, True, False

        def allocate(self, size, stream=None):
            return Buffer.from_handle(0x1000, size, mr=self)

        def deallocate(self, ptr, size, stream=None):
            freed.append((int(ptr), size))

    before, device.memory_resource = device.memory_resource, Counting()
    try:
        buffer = device.allocate(8, stream)
        assert buffer.memory_resource is device.memory_resource
        buffer.close()
        buffer.close()
        assert freed == [(0x1000, 8)]
        device.allocate(9)
        gc.collect()
        assert freed == [(0x1000, 8), (0x1000, 9)]
    finally:
        device.memory_resource = before
    with pytest.raises(TypeError, match="MemoryResource"):
        device.memory_resource = 1


class Foreign(MemoryResource):
    """Page-locked or managed memory of a program that has no device to name."""

    is_device_accessible = is_host_accessible = True

    def __init__(self, managed=False) -> None:
        self.managed, self.freed = managed, []

    @property
    def device_id(self):
        raise RuntimeError("the memory is on no device")

    def allocate(self, size, stream=None):
        if self.managed:
            flags = driver.CUmemAttach_flags.CU_MEM_ATTACH_GLOBAL
            return Buffer.from_handle(driver.checked.cuMemAllocManaged(size, flags), size, mr=self)
        return Buffer.from_handle(driver.checked.cuMemAllocHost(size), size, mr=self)

    def deallocate(self, ptr, size, stream=None):
        stream.sync()
        self.freed.append(stream)
        driver.checked.cuMemFree(ptr) if self.managed else driver.checked.cuMemFreeHost(int(ptr))


@pytest.mark.parametrize("managed", [False, True])
def test_a_resource_that_has_no_device_to_name(device, stream, managed) -> None:
    resource = Foreign(managed)
    buffer, other = resource.allocate(64), device.allocate(64, stream)
    with pytest.raises(RuntimeError, match="on no device"):
        _ = buffer.device_id
    assert buffer.is_device_accessible and buffer.is_host_accessible and buffer.is_managed == managed
    assert buffer.__dlpack_device__() == ((13, 0) if managed else (3, 0))
    seen = np.from_dlpack(buffer)
    definition = GraphDefinition()
    buffer.fill(5, stream=stream)
    definition.memcpy(other, buffer, 64).memset(buffer, 6, 64)
    definition.instantiate().launch(stream)
    assert content(other, np.uint8, stream).tolist() == [5] * 64
    assert seen.tolist() == [6] * 64
    del seen, definition
    buffer.close()
    assert wait_for(lambda: resource.freed)
    assert resource.freed == [default_stream()]


def test_memory_that_nobody_can_use_is_not_exported(device) -> None:
    class Nowhere(Foreign):
        is_device_accessible = is_host_accessible = False

    with pytest.raises(BufferError, match="neither"):
        Nowhere().allocate(8).__dlpack_device__()


def test_the_source_of_a_copy_may_be_dropped_at_once(device, code, stream) -> None:
    size = 1 << 20
    target = device.allocate(size, stream)
    for value in range(20):
        source = LegacyPinnedMemoryResource().allocate(size)
        ctypes.memset(source.handle, value, size)
        spin(code, stream, 2)
        target.copy_from(source, stream=stream)
        del source
        rubbish = LegacyPinnedMemoryResource().allocate(size)
        ctypes.memset(rubbish.handle, 255, size)
        assert (content(target, np.uint8, stream) == value).all()


def test_the_array_of_a_copy_may_be_dropped_at_once(device, code, stream) -> None:
    size = 1 << 16
    target = device.allocate(size, stream)
    for value in range(20):
        spin(code, stream, 2)
        target.copy_from(np.full(size, value, np.uint8), stream=stream)
        rubbish = np.full(size, 255, np.uint8)
        assert (content(target, np.uint8, stream) == value).all() and rubbish[0] == 255


def test_buffers_are_freed_in_the_stream_they_were_closed_with(device, stream) -> None:
    pool = device.memory_resource.handle
    used = driver.CUmemPool_attribute.CU_MEMPOOL_ATTR_USED_MEM_CURRENT
    before = driver.checked.cuMemPoolGetAttribute(pool, used)
    other = device.create_stream()
    buffer = device.allocate(64 << 20, stream)
    assert driver.checked.cuMemPoolGetAttribute(pool, used) >= before + (64 << 20)
    buffer.close(other)
    other.sync()
    assert driver.checked.cuMemPoolGetAttribute(pool, used) <= before


def test_a_buffer_outlives_the_stream_it_is_freed_in(device) -> None:
    stream = device.create_stream()
    buffer = device.allocate(1 << 20, stream)
    stream.close()
    buffer.fill(1)
    buffer.close()
    device.sync()


def test_copies_without_bytes_and_without_what_they_need(device, stream) -> None:
    buffer, empty = device.allocate(16, stream), device.allocate(0, stream)
    buffer.fill(1, stream=stream)
    empty.fill(2, stream=stream)
    buffer.copy_from(b"", stream=stream)
    assert buffer.copy_to(bytearray(), stream=stream) == b""
    empty.copy_from(device.allocate(0, stream), stream=stream)
    assert set(content(buffer, np.uint8, stream).tolist()) == {1}
    foreign = Buffer.from_handle(buffer.handle, 16)
    with pytest.raises(ValueError, match="no memory resource to allocate one"):
        foreign.copy_to(stream=stream)
    for copy in (buffer.copy_from, buffer.copy_to):
        with pytest.raises(ValueError, match="options are for a copy between buffers"):
            copy(bytearray(16), stream=stream, options=CopyOptions())
    copy_batch(stream, [empty], [device.allocate(0, stream)], options=CopyOptions())


def test_an_error_stays_though_what_explains_it_fails(device, stream, monkeypatch) -> None:
    """What the driver says of a copy counts, even where it says nothing about the memory any more."""
    buffer = device.allocate(16, stream)
    wrong = Buffer.from_handle(1, 16)

    def refuse(*arguments):
        raise CUDAError("refused", driver.CUresult.CUDA_ERROR_UNKNOWN, "cuMemcpyAsync")

    def invalid(*arguments):
        raise CUDAError("invalid", driver.CUresult.CUDA_ERROR_INVALID_VALUE, "cuMemcpyAsync")

    monkeypatch.setattr(Buffer, "_located", refuse)
    monkeypatch.setattr(copies, "queue_copy", invalid)
    with pytest.raises(CUDAError, match=r"^invalid$"):
        buffer.copy_from(wrong, stream=stream)
    monkeypatch.setattr(copies, "queue_copy", refuse)
    with pytest.raises(CUDAError, match=r"^refused$"):
        buffer.copy_from(wrong, stream=stream)


def test_a_fill_says_what_failed(device, stream) -> None:
    wrong = Buffer.from_handle(1, 16)
    said = r"^cuMemsetD8Async: CUDA_ERROR_INVALID_VALUE .* dstDevice=<CUdeviceptr 1>, uc=7, N=16, hStream="
    for _ in range(2):  # by the lane, and by what comes before it
        with pytest.raises(CUDAError, match=said):
            wrong.fill(7, stream=stream)
    with pytest.raises(OverflowError, match="256 is not a byte"):
        wrong.fill(256, stream=stream)


def test_what_makes_no_buffer(device, stream) -> None:
    with pytest.raises(TypeError, match=r"a Buffer comes from dev\.allocate"):
        Buffer()
    with pytest.raises(TypeError, match="takes a stream, not None"):
        device.allocate(16, stream).set_deallocation_stream(None)


def test_a_typed_view(device, stream) -> None:
    buffer = device.allocate(48, stream)
    buffer.copy_from(np.arange(12, dtype=np.float32), stream=stream)
    whole, matrix = buffer.view(np.float32), buffer.view("f4", (3, 4))
    assert isinstance(whole, StridedMemoryView) and whole.exporting_obj is buffer
    assert (whole.shape, matrix.shape, matrix.dtype) == ((12,), (3, 4), np.float32)
    assert whole.ptr == matrix.ptr == buffer.handle and matrix.__dlpack_device__() == (2, 0)
    assert buffer.view(np.int16, np.int64(20)).shape == (20,), "smaller than the buffer"
    assert buffer.view(np.float64, ()).size == 1
    host = np.zeros((3, 4), np.float32)
    matrix.copy_to(StridedMemoryView.from_any_interface(host), stream)
    assert host.tolist() == np.arange(12.0).reshape(3, 4).tolist()


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (("f4", (3, 5)), ValueError, "needs 60 bytes, the Buffer has 48"),
        (("f8", 7), ValueError, "needs 56 bytes, the Buffer has 48"),
        (("V7",), ValueError, r"has 48 bytes, no multiple of the 7 of \|V7"),
        (("V0",), ValueError, "no multiple of the 0"),
        (("f4", (-1, 4)), ValueError, "no extent can be negative"),
        (("f4", (1.5,)), TypeError, "float"),
        (("O", 3), TypeError, "Python objects"),
        (("nonsense",), TypeError, "nonsense"),
    ],
)
def test_what_is_no_view(device, stream, arguments, error, message) -> None:
    with pytest.raises(error, match=message):
        device.allocate(48, stream).view(*arguments)


def test_a_typed_view_of_host_memory(device) -> None:
    buffer = LegacyPinnedMemoryResource().allocate(48)
    view = buffer.view(np.float32, (3, 4))
    array = np.from_dlpack(view)
    array[:] = 3
    assert (array.dtype, array.shape) == (np.float32, (3, 4))
    buffer.close()
    assert array.tolist() == [[3] * 4] * 3


def test_a_view_of_what_is_closed(device, stream) -> None:
    buffer, other = device.allocate(48, stream), device.allocate(48, stream).view("f4")
    view = buffer.view("f4")
    buffer.close()
    for use in (
        lambda: buffer.view("f4", 100),
        lambda: view.__dlpack__(stream=-1),
        lambda: view.copy_from(other, stream),
        lambda: view.copy_to(other, stream),
    ):
        with pytest.raises(RuntimeError, match="this Buffer is closed"):
            use()


def test_a_view_keeps_its_buffer(device, stream) -> None:
    buffer = device.allocate(48, stream)
    gone, view = weakref.ref(buffer), buffer.view("f4")
    del buffer
    gc.collect()
    assert gone() is not None
    del view
    gc.collect()
    assert gone() is None
