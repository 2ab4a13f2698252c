"""Buffers and arrays of other libraries: NumPy, CuPy, PyTorch, by each of the protocols."""

from __future__ import annotations

import gc
import sys

import numpy as np
import pytest
from cudapy.core.utils import CopyOptions, StridedMemoryView, args_viewable_as_strided_memory, copy_batch

from cudapy import driver
from cudapy.core import (
    PER_THREAD_DEFAULT_STREAM,
    Buffer,
    LaunchConfig,
    LegacyPinnedMemoryResource,
    ManagedMemoryResource,
    MemoryResource,
    PinnedMemoryResource,
    Program,
    VirtualMemoryResource,
    launch,
)

from .core_kernels import content, run
from .kernels import needs_driver

pytestmark = pytest.mark.gpu

MEMORY_TYPE = driver.CUpointer_attribute.CU_POINTER_ATTRIBUTE_MEMORY_TYPE
CPU, CUDA, CUDA_HOST, CUDA_MANAGED = (1, 0), (2, 0), (3, 0), (13, 0)


@pytest.fixture
def buffer(device, stream):
    made = device.allocate(64, stream)
    made.copy_from(np.arange(64, dtype=np.uint8), stream=stream)
    return made


def used(device) -> int:
    return int(device.memory_resource.attributes.used_mem_current)


# -- Buffer -------------------------------------------------------------------------------------------------


def test_cupy_takes_buffers(cupy, buffer, stream) -> None:
    for array in (cupy.from_dlpack(buffer), cupy.asarray(buffer)):
        assert array.data.ptr == buffer.handle and array.shape == (64,)
        assert cupy.asnumpy(array).tolist() == list(range(64))
    assert cupy.from_dlpack(buffer).dtype == np.int8


def test_torch_takes_buffers(torch, buffer, stream) -> None:
    for tensor in (torch.from_dlpack(buffer), torch.as_tensor(buffer, device="cuda")):
        assert tensor.data_ptr() == buffer.handle and tensor.shape == (64,)
        assert tensor.cpu().tolist() == list(range(64))


def test_a_consumer_waits_for_the_stream_of_the_buffer(cupy, device, stream) -> None:
    """What CuPy does next in its stream comes after what was in the buffer's."""
    loop = "for (int i = 0; i < 3000; i++) __nanosleep(10000); *p = 7;"
    source = f'extern "C" __global__ void slow(char *p) {{ {loop} }}'
    kernel = Program(source, "c++").compile("cubin").get_kernel("slow")
    target = device.allocate(1, stream)
    other = cupy.cuda.Stream(non_blocking=True)
    target.fill(0, stream=stream)
    launch(stream, LaunchConfig(grid=1, block=1), kernel, target)
    with other:
        array = cupy.from_dlpack(target)
        copied = array.copy()
    other.synchronize()
    assert int(copied[0]) == 7


def test_an_array_keeps_the_buffer(cupy, torch, device, stream) -> None:
    before = used(device)
    made = device.allocate(1 << 20, stream)
    arrays = [cupy.from_dlpack(made), cupy.asarray(made), torch.from_dlpack(made), made.__dlpack__()]
    made.fill(3, stream=stream)
    address = made.handle
    del made
    gc.collect()
    assert used(device) >= before + (1 << 20)
    stream.sync()
    assert int(arrays[0].sum()) == 3 << 20 and arrays[0].data.ptr == address
    arrays.clear()
    gc.collect()
    stream.sync()
    assert used(device) == before


def test_kinds_of_memory_in_dlpack(device, stream, buffer) -> None:
    pinned = LegacyPinnedMemoryResource().allocate(64)
    assert buffer.__dlpack_device__() == CUDA and pinned.__dlpack_device__() == CUDA_HOST
    host = np.zeros(8)
    assert Buffer.from_handle(host.ctypes.data, 64, owner=host).__dlpack_device__() == CPU
    with pytest.raises(BufferError, match="not on"):
        buffer.__dlpack__(dl_device=CPU)
    with pytest.raises(BufferError, match="copy"):
        buffer.__dlpack__(copy=True)
    assert "dltensor_versioned" in repr(buffer.__dlpack__(max_version=(1, 0)))
    assert "dltensor_versioned" not in repr(buffer.__dlpack__())


@pytest.mark.parametrize("kind", ["legacy", "pinned", "managed"])
def test_numpy_reads_and_writes_host_memory(device, stream, kind) -> None:
    if kind == "managed":
        needs_driver(13, 0)
    resource = {
        "legacy": LegacyPinnedMemoryResource,
        "pinned": PinnedMemoryResource,
        "managed": ManagedMemoryResource,
    }[kind]()
    made = resource.allocate(16, stream=stream)
    made.fill(1, stream=stream)
    stream.sync()
    arrays = [np.asarray(made), np.from_dlpack(made), np.from_dlpack(made, device="cpu")]
    if sys.version_info >= (3, 12):
        arrays.append(np.frombuffer(made, np.uint8))
        assert bytes(memoryview(made)) == b"\1" * 16
    for number, array in enumerate(arrays):
        assert array.ctypes.data == made.handle and array.tolist() == [1 + number] * 16
        array[:] = 2 + number
    assert content(made, np.uint8, stream).tolist() == [1 + len(arrays)] * 16
    del made
    gc.collect()
    assert arrays[0].tolist() == [1 + len(arrays)] * 16, "the arrays keep it"


WAYS = {
    "asarray": np.asarray,
    "from_dlpack": np.from_dlpack,
    "a part of it": lambda made: np.asarray(made)[2:5],
    "another type": lambda made: np.from_dlpack(made).view("i4"),
    "a StridedMemoryView": lambda made: StridedMemoryView(made, -1),
    "an array of one": lambda made: np.from_dlpack(StridedMemoryView.from_buffer(made, (4,), dtype="i4")),
    "the interface": lambda made: made.__array_interface__,
}
if sys.version_info >= (3, 12):
    WAYS |= {"memoryview": memoryview, "frombuffer": np.frombuffer}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", [LegacyPinnedMemoryResource, PinnedMemoryResource, ManagedMemoryResource])
def test_memory_that_an_array_shows_is_freed_with_the_last_one(device, stream, kind, way) -> None:
    if kind is ManagedMemoryResource:
        needs_driver(13, 0)
    freed, other = [], device.create_stream()

    class Resource(kind):  # type: ignore[misc]
        def deallocate(self, ptr, size, stream=None):
            freed.append((int(ptr), size, stream))
            super().deallocate(ptr, size, stream=stream)

    made = Resource().allocate(64, stream=stream)
    stream.sync()
    address = made.handle
    np.asarray(made)[:] = 7
    views = [WAYS[way](made), np.asarray(made)]  # type: ignore[operator]
    made.close(other)
    assert made.is_closed and made.handle == made.size == 0 and made.memory_resource is None
    with pytest.raises(RuntimeError, match="closed"):
        np.asarray(made)
    made.close()
    assert views[1].tolist() == [7] * 64 and not freed
    while views:
        assert not freed
        views.pop()
        gc.collect()
    assert freed == [(address, 64, other)], "though the closed Buffer is still referred to"
    assert made.is_closed


def test_memory_is_freed_at_once_where_no_array_is_left(device, stream) -> None:
    made = LegacyPinnedMemoryResource().allocate(64)
    address = made.handle
    for way in WAYS.values():
        way(made)  # type: ignore[operator]
    gc.collect()
    made.close()
    assert driver.cuPointerGetAttribute(MEMORY_TYPE, address)[0] == driver.CUresult.CUDA_ERROR_INVALID_VALUE


def test_memory_of_the_device_is_freed_with_the_last_capsule(device, stream) -> None:
    made = device.allocate(64, stream)
    made.fill(5, stream=stream)
    address, before = made.handle, used(device)
    views = [
        made.__dlpack__(stream=-1),
        made.view("i4").__dlpack__(stream=-1),
        StridedMemoryView.from_dlpack(made, -1),
    ]
    made.close(stream)
    stream.sync()
    assert used(device) == before
    found = np.zeros(64, np.uint8)
    Buffer.from_handle(address, 64).copy_to(found, stream=stream)
    stream.sync()
    assert found.tolist() == [5] * 64
    del views
    gc.collect()
    stream.sync()
    assert used(device) < before


@pytest.mark.parametrize("first", ["owner", "other"])
def test_an_array_in_memory_of_another_buffer(device, stream, first) -> None:
    owner = LegacyPinnedMemoryResource().allocate(64)
    other = Buffer.from_handle(owner.handle, 64, owner=owner)
    array, address = np.asarray(other), owner.handle
    array[:] = 9
    for each in [owner, other] if first == "owner" else [other, owner]:
        each.close()
    assert array.tolist() == [9] * 64
    assert not driver.cuPointerGetAttribute(MEMORY_TYPE, address)[0]
    del array
    assert driver.cuPointerGetAttribute(MEMORY_TYPE, address)[0]


def test_a_capsule_keeps_where_a_buffer_has_grown_from(device, stream) -> None:
    if not device.properties.virtual_memory_management_supported:
        pytest.skip("the device has no virtual memory management")
    resource = VirtualMemoryResource(device)
    made = resource.allocate(64)
    made.fill(6, stream=stream)
    capsule, address, kept = made.__dlpack__(stream=-1), made.handle, []
    while made.handle == address:  # until there is no room behind it
        kept.append(resource.allocate(64))
        resource.modify_allocation(made, made.size + (4 << 20))
        assert len(kept) < 20
    before = Buffer.from_handle(address, 64)
    made.fill(7, stream=stream)
    assert content(before, np.uint8, stream).tolist() == [7] * 64, "it is the same memory"
    other = made.__dlpack__(stream=-1)
    moved = Buffer.from_handle(made.handle, 64)
    made.close()
    assert content(before, np.uint8, stream).tolist() == content(moved, np.uint8, stream).tolist() == [7] * 64
    left = len(resource._mappings)
    del capsule
    assert len(resource._mappings) == left - 1 and content(moved, np.uint8, stream).tolist() == [7] * 64
    del other
    assert len(resource._mappings) == left - 2


def test_numpy_is_told_what_it_cannot_read(buffer) -> None:
    with pytest.raises(TypeError, match=r"NumPy cannot read .*: download\(dtype\) copies it"):
        np.asarray(buffer)
    with pytest.raises((BufferError, RuntimeError)):
        np.from_dlpack(buffer)
    with pytest.raises((TypeError, BufferError)):
        memoryview(buffer)
    assert not hasattr(buffer, "__array_interface__")
    buffer.close()
    for use in (buffer.__dlpack__, lambda: buffer.__cuda_array_interface__):
        with pytest.raises(RuntimeError, match="closed"):
            use()


def test_arrays_of_other_libraries_are_kernel_arguments_and_copied_from(cupy, device, stream) -> None:
    array = cupy.arange(16, dtype=cupy.int32)
    cupy.cuda.get_current_stream().synchronize()
    view = Buffer.from_handle(array.data.ptr, array.nbytes, owner=array)
    assert content(view, np.int32, stream).tolist() == list(range(16))
    assert view.owner is array and (view.device_id, view.is_device_accessible) == (0, True)


# -- StridedMemoryView --------------------------------------------------------------------------------------


def test_views_of_cupy_arrays(cupy, device, stream) -> None:
    array = cupy.arange(24, dtype=cupy.float32).reshape(4, 6)[1:, ::2]
    handle = int(stream.handle)
    for view in (
        StridedMemoryView.from_dlpack(array, stream_ptr=handle),
        StridedMemoryView.from_cuda_array_interface(array, stream_ptr=handle),
        StridedMemoryView(array, handle),
        StridedMemoryView.from_any_interface(array, stream_ptr=-1),
    ):
        assert (view.ptr, view.shape, view.strides) == (array.data.ptr, (3, 3), (6, 2))
        assert (view.dtype, view.device_id, view.is_device_accessible) == (np.float32, 0, True)
        assert view.exporting_obj is array and not view.readonly and view.size == 9
        back = cupy.from_dlpack(view)
        assert back.strides == array.strides and bool((back == array).all())
    with pytest.raises(BufferError, match="stream"):
        StridedMemoryView(array)


def test_views_of_torch_tensors(torch, device, stream) -> None:
    for dtype in (torch.float32, torch.int64, torch.bool, torch.complex64, torch.float16):
        tensor = torch.arange(12, device="cuda").reshape(3, 4).to(dtype).T
        for of in (StridedMemoryView.from_dlpack, StridedMemoryView.from_cuda_array_interface):
            view = of(tensor, stream_ptr=int(stream.handle))
            assert (view.ptr, view.shape, view.strides) == (tensor.data_ptr(), (4, 3), (1, 4))
            assert torch.equal(torch.from_dlpack(view), tensor)
            assert view.dtype == np.dtype(str(dtype).removeprefix("torch."))
    brain = torch.ones(4, dtype=torch.bfloat16, device="cuda")
    view = StridedMemoryView.from_dlpack(brain, stream_ptr=-1)
    assert torch.from_dlpack(view).dtype == torch.bfloat16
    if "ml_dtypes" not in sys.modules:
        with pytest.raises(NotImplementedError, match="bfloat16"):
            _ = view.dtype


def test_an_array_interface_of_version_2_beside_dlpack(device, stream) -> None:
    """As PyTorch's tensors have them: the interface does not say what to wait for, DLPack does."""
    made = device.allocate(12, stream)

    class Tensor:
        def __init__(self) -> None:
            self.__cuda_array_interface__ = {**made.__cuda_array_interface__, "version": 2}
            self.__dlpack_device__ = made.__dlpack_device__
            self.asked: list[int] = []

        def __dlpack__(self, *, stream: int, **more: object) -> object:
            self.asked.append(stream)
            return made.__dlpack__(stream=stream, **more)

    tensor = Tensor()
    view = StridedMemoryView.from_cuda_array_interface(tensor, stream_ptr=int(stream.handle))
    assert (view.ptr, view.size, view.exporting_obj) == (int(made.handle), 12, tensor)
    assert tensor.asked == [int(stream.handle)]
    with pytest.raises(BufferError, match="stream_ptr"):
        StridedMemoryView.from_cuda_array_interface(tensor)
    del Tensor.__dlpack__
    with pytest.raises(BufferError, match="version 3"):
        StridedMemoryView.from_cuda_array_interface(tensor, stream_ptr=int(stream.handle))


def test_views_of_buffers(cupy, device, stream) -> None:
    made = device.allocate(4 * 12, stream)
    made.copy_from(np.arange(12, dtype=np.float32), stream=stream)
    view = StridedMemoryView.from_buffer(made, (4, 3), (1, 4), dtype=np.float32)
    stream.sync()
    assert cupy.asnumpy(cupy.from_dlpack(view)).tolist() == np.arange(12.0).reshape(3, 4).T.tolist()
    with pytest.raises(ValueError, match="needs 52 bytes"):
        StridedMemoryView.from_buffer(made, (13,), dtype=np.float32)


def test_a_function_for_arrays_of_any_library(cupy, torch, device, stream) -> None:
    @args_viewable_as_strided_memory((1,))
    def where(name, array, in_stream):
        view = array.view(int(in_stream.handle))
        return name, view.ptr, view.is_device_accessible

    host, on_device = np.zeros(3), cupy.zeros(3)
    tensor = torch.zeros(3, device="cuda")
    assert where("a", host, stream) == ("a", host.ctypes.data, False)
    assert where("b", on_device, stream) == ("b", on_device.data.ptr, True)
    assert where("c", tensor, in_stream=stream) == ("c", tensor.data_ptr(), True)


LAYOUTS = [
    ("dense", lambda x: x),
    ("transposed", lambda x: x.transpose(2, 0, 1)),
    ("every other", lambda x: x[::2, 1:, ::3]),
    ("backwards", lambda x: x[::-1, :, ::-1]),
    ("rows", lambda x: x[:, 2, :]),
    ("scalar", lambda x: x[1, 2, 3, ...]),
    ("none", lambda x: x[:, 0:0]),
]


@pytest.mark.parametrize(("name", "part"), LAYOUTS, ids=[name for name, _ in LAYOUTS])
@pytest.mark.parametrize("dtype", ["u1", "f4", "c16"])
def test_copies_between_layouts(cupy, device, stream, name, part, dtype) -> None:
    """From and to device, pinned and pageable memory: exactly the elements, and nothing beside them."""
    numbers = (np.arange(5 * 6 * 7) % 100).astype(dtype).reshape(5, 6, 7)
    handle = int(stream.handle)
    source = part(cupy.asarray(numbers)[...])
    expected = part(numbers)
    cupy.cuda.get_current_stream().synchronize()
    view = StridedMemoryView.from_cuda_array_interface(source, stream_ptr=handle)
    # to a dense array of the host
    host = np.full(expected.shape, 77, dtype)
    StridedMemoryView.from_array_interface(host).copy_from(view, stream)
    assert (host == expected).all()
    # to the same part of another array of the device
    whole = cupy.full(numbers.shape, 55, dtype)
    cupy.cuda.get_current_stream().synchronize()
    target = StridedMemoryView.from_cuda_array_interface(part(whole), stream_ptr=handle)
    view.copy_to(target, stream=stream, blocking=True)
    wanted = np.full(numbers.shape, 55, dtype)
    part(wanted)[...] = expected
    assert (cupy.asnumpy(whole) == wanted).all()
    # from the host, of other strides, to that part
    again = np.array(part(numbers + np.array(1, dtype)), order="F")
    target.copy_from(StridedMemoryView.from_array_interface(again), stream)
    part(wanted)[...] = again
    assert (cupy.asnumpy(whole) == wanted).all()


def test_elements_of_other_types_are_not_copied(device, stream) -> None:
    """Bytes that mean something else there would be wrong numbers, and no error."""
    view = StridedMemoryView.from_buffer(device.allocate(64, stream), (8,), dtype="<i8")
    for dtype in (">i8", "M8[s]", "f8"):
        theirs = StridedMemoryView.from_array_interface(np.zeros(8, dtype))
        for copy in (theirs.copy_from, theirs.copy_to):
            with pytest.raises(ValueError, match="types differ"):
                copy(view, stream)
    structs = StridedMemoryView.from_buffer(device.allocate(64, stream), (8,), dtype="i4,f4")
    structs.copy_from(StridedMemoryView.from_array_interface(np.ones(8, "i4,f4")), stream)
    with pytest.raises(TypeError, match="from_any_interface"):
        view.copy_from(np.zeros(8, "i8"), stream)


def test_copies_between_host_arrays(stream) -> None:
    """By NumPy, byte for byte: nothing is converted, and of other types nothing is copied."""
    numbers = np.arange(24, dtype="f4").reshape(4, 6)
    target = np.zeros((6, 4), "f4").T
    StridedMemoryView.from_array_interface(numbers[:, ::-1]).copy_to(
        StridedMemoryView.from_array_interface(target), stream=stream
    )
    assert (target == numbers[:, ::-1]).all()


def test_copies_of_no_elements(device, stream) -> None:
    none = StridedMemoryView.from_buffer(device.allocate(64, stream), (4, 0), dtype="f4")
    host = np.zeros((4, 0), "f4")
    none.copy_from(StridedMemoryView.from_array_interface(host), stream)
    none.copy_to(StridedMemoryView.from_array_interface(host), stream=stream)
    stream.sync()


def test_copies_that_are_refused(device, stream) -> None:
    buffer = device.allocate(64, stream)
    view = StridedMemoryView.from_buffer(buffer, (4, 4), dtype="i4")
    with pytest.raises(ValueError, match=r"shape \(4, 2\) cannot be copied to one of shape \(4, 4\)"):
        view.copy_from(StridedMemoryView.from_buffer(buffer, (4, 2), dtype="i4"), stream)
    repeated = StridedMemoryView.from_buffer(buffer, (4, 4), (0, 1), dtype="i4")
    with pytest.raises(ValueError, match="has elements that share memory"):
        repeated.copy_from(view, stream)
    repeated.copy_to(view, stream=stream)


def test_a_view_of_a_buffer_by_a_layout(device, stream) -> None:
    buffer = device.allocate(64, stream)
    dense = StridedMemoryView.from_buffer(buffer, (4, 4), itemsize=4)
    part = StridedMemoryView.from_buffer(buffer, dense.layout[1:, ::2], dtype="i4")
    assert (part.shape, part.strides, part.ptr) == ((3, 2), (4, 2), int(buffer.handle) + 16)
    with pytest.raises(ValueError, match="needs a dtype or an itemsize"):
        StridedMemoryView.from_buffer(buffer, (4, 4))
    with pytest.raises(ValueError, match="elements of 4 bytes cannot be float64, which has 8"):
        StridedMemoryView.from_buffer(buffer, dense.layout, dtype="f8")
    with pytest.raises(ValueError, match="the array needs 68 bytes, the Buffer has 64"):
        StridedMemoryView.from_buffer(buffer, (17,), dtype="i4")


def test_a_view_is_exported_as_it_is() -> None:
    view = StridedMemoryView.from_array_interface(np.arange(4))
    for asked in ({"copy": True}, {"dl_device": CUDA}):
        with pytest.raises(BufferError, match=r"exported as it is: on device \(1, 0\)"):
            view.__dlpack__(**asked)
    assert np.from_dlpack(view).tolist() == [0, 1, 2, 3]


class Producer:
    """What exports memory by DLPack as libraries did before there were versions."""

    def __init__(self, array, device):
        self.array, self.device, self.asked = array, device, []

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, *, stream=None):
        self.asked.append(stream)
        return self.array.__dlpack__()


def test_producers_that_know_no_versions_of_dlpack(stream) -> None:
    producer = Producer(np.arange(4), CPU)
    view = StridedMemoryView.from_dlpack(producer, -1)
    assert np.from_dlpack(view).tolist() == [0, 1, 2, 3] and producer.asked == [None]


def test_memory_of_other_makers() -> None:
    with pytest.raises(BufferError, match="device type 10 of DLPack is neither the host nor CUDA"):
        StridedMemoryView.from_dlpack(Producer(np.arange(4), (10, 0)), -1)


class WithInterface:
    def __init__(self, buffer, **changed):
        self.__cuda_array_interface__ = {**buffer.__cuda_array_interface__, **changed}


def test_arrays_that_name_no_stream(buffer, stream) -> None:
    """Nothing is waited for; an array of no memory is on the current device."""
    view = StridedMemoryView.from_cuda_array_interface(WithInterface(buffer, stream=None), int(stream.handle))
    assert (view.ptr, view.shape, view.device_id) == (int(buffer.handle), (64,), 0)
    empty = WithInterface(buffer, data=(0, False), shape=(0,), stream=None)
    view = StridedMemoryView.from_cuda_array_interface(empty, int(stream.handle))
    assert (view.ptr, view.size, view.device_id) == (0, 0, 0)


class HostMemory(MemoryResource):
    """Memory of the host alone, which no kernel can use."""

    is_device_accessible, is_host_accessible, device_id = False, True, -1

    def allocate(self, size, *, stream=None):  # type: ignore[override]
        raise NotImplementedError

    def deallocate(self, ptr, size, *, stream=None):  # type: ignore[override]
        pass


def test_memory_that_no_kernel_can_use(stream) -> None:
    memory = np.arange(8, dtype="u1")
    buffer = Buffer.from_handle(memory.ctypes.data, 8, HostMemory())
    assert buffer.__dlpack_device__() == CPU and np.from_dlpack(buffer).tolist() == memory.tolist()
    with pytest.raises(AttributeError, match="is memory that no kernel can use"):
        _ = buffer.__cuda_array_interface__
    with pytest.raises(AttributeError, match="'Buffer' object has no attribute 'nothing'"):
        _ = buffer.nothing  # type: ignore[attr-defined]


@pytest.mark.skipif(sys.version_info < (3, 12), reason="classes have no __buffer__ before Python 3.12")
def test_a_memoryview_of_a_buffer(device, stream) -> None:
    pinned = LegacyPinnedMemoryResource().allocate(8)
    view = memoryview(pinned)
    view[:] = bytes(range(8))
    assert np.asarray(pinned).tolist() == list(range(8))
    pinned.close()
    assert view.tolist() == list(range(8))
    view.release()
    with pytest.raises(BufferError, match=r"is not in host memory: download\(dtype\) copies it"):
        memoryview(device.allocate(8, stream))
    with pytest.raises(RuntimeError, match="closed"):
        memoryview(pinned)


# -- batches ------------------------------------------------------------------------------------------------


def test_copies_in_a_batch(device, stream) -> None:
    sources = [device.allocate(64 + i, stream) for i in range(5)]
    targets = [device.allocate(64 + i, stream) for i in range(5)]
    for number, source in enumerate(sources):
        source.fill(number + 1, stream=stream)
    copy_batch(stream, sources, targets)
    assert [set(content(target, np.uint8, stream).tolist()) for target in targets] == [
        {1},
        {2},
        {3},
        {4},
        {5},
    ]
    sources[0].fill(9, stream=stream)
    options = [CopyOptions("any"), *[CopyOptions(overlap_mode="prefer_overlap_with_compute")] * 4]
    copy_batch(stream, sources, targets, options=options)
    assert set(content(targets[0], np.uint8, stream).tolist()) == {9}
    sources[0].copy_to(targets[0], stream=stream, options=CopyOptions(src_location_hint=device))
    with pytest.raises(ValueError, match="5 sources"):
        copy_batch(stream, sources, targets[:4])
    with pytest.raises(ValueError, match="pair 0"):
        copy_batch(stream, sources, targets[::-1])
    with pytest.raises(TypeError, match="sequence"):
        copy_batch(stream, sources[0], targets[0])
    with pytest.raises(TypeError, match="stream of its own"):
        copy_batch(device.default_stream, sources, targets)
    copy_batch(PER_THREAD_DEFAULT_STREAM, sources[:1], targets[:1])
    PER_THREAD_DEFAULT_STREAM.sync()
    with pytest.raises(ValueError, match="during_api_call"):
        CopyOptions("sometime")
    for wrong in ({}, 5, "any"):
        with pytest.raises(TypeError, match="CopyOptions"):
            sources[0].copy_to(targets[0], stream=stream, options=wrong)


def test_a_batch_does_not_go_into_a_graph(device, stream) -> None:
    source, target = device.allocate(64, stream), device.allocate(64, stream)
    driver.checked.cuStreamBeginCapture(
        stream.handle, driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED
    )
    try:
        with pytest.raises(TypeError, match="graph"):
            copy_batch(stream, [source], [target])
    finally:
        driver.checked.cuGraphDestroy(driver.checked.cuStreamEndCapture(stream.handle))


# -- the end ------------------------------------------------------------------------------------------------


def test_arrays_that_are_left_at_exit() -> None:
    process = run(
        "import sys\n"
        "import cupy, torch\n"
        "a = cupy.from_dlpack(dev.allocate(64, s)); t = torch.from_dlpack(dev.allocate(64, s))\n"
        "c = dev.allocate(64, s).__dlpack__(); torch.kept = t; sys.kept = [a, t, c]\n"
        "import numpy; sys.pinned = numpy.from_dlpack(LegacyPinnedMemoryResource().allocate(64))\n"
    )
    out, err = process.communicate(timeout=100)
    assert (process.returncode, out, err) == (0, "", "")


def test_exporting_leaks_nothing(cupy, device, stream) -> None:
    buffer = device.allocate(64, stream)
    references = sys.getrefcount(buffer)
    for _ in range(1000):
        buffer.__dlpack__()
        cupy.from_dlpack(buffer)
        StridedMemoryView.from_dlpack(buffer, stream_ptr=-1)
    gc.collect()
    assert sys.getrefcount(buffer) == references
