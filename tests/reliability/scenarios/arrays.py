"""Arrays of other libraries, and copies of many buffers."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..world import World


class _Array:
    """An array of another library, on the device."""

    def __init__(self, buffer: Any, stream: Any) -> None:
        self.buffer, self.stream = buffer, stream

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        data = (self.buffer.handle, False)
        stream = int(self.stream.handle)
        return {
            "data": data,
            "shape": (4, 4),
            "typestr": "<i4",
            "strides": None,
            "version": 3,
            "stream": stream,
        }


class _Capsules(_Array):
    """The same by DLPack."""

    def __dlpack__(self, **asked: Any) -> Any:
        return self.buffer.__dlpack__(**asked)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.buffer.__dlpack_device__()


def views(w: World) -> None:
    View = w.utils.StridedMemoryView
    stream, other = w.device.create_stream(), w.device.create_stream()
    buffer = w.device.allocate(64, other)
    buffer.fill(0, stream=other)
    view = View.from_cuda_array_interface(_Array(buffer, other), int(stream.handle))
    assert (view.shape, view.strides, view.size, view.dtype) == ((4, 4), (4, 1), 16, np.dtype("i4"))
    assert View.from_dlpack(_Capsules(buffer, other), int(stream.handle)).shape == (64,)
    assert View.from_any_interface(buffer, -1).layout.volume == 64
    assert View.from_array_interface(np.zeros(4)).shape == (4,)
    made = View.from_buffer(buffer, (4, 4), dtype="i4")
    turned = made.view(made.layout.permuted((1, 0)))
    assert turned.__dlpack_device__() == (2, 0)
    turned.__dlpack__(stream=int(stream.handle))
    pinned = w.core.LegacyPinnedMemoryResource().allocate(64)
    assert View.from_any_interface(pinned, -1).device_id == 0

    @w.utils.args_viewable_as_strided_memory((0,))
    def shape(array: Any) -> Any:
        return array.view(int(stream.handle)).shape

    assert shape(_Array(buffer, other)) == (4, 4)


def copies(w: World) -> None:
    View = w.utils.StridedMemoryView
    stream = w.device.create_stream()
    first, second = w.device.allocate(64, stream), w.device.allocate(64, stream)
    host = np.arange(16, dtype=np.int32).reshape(4, 4)
    on_device, back = View.from_buffer(first, (4, 4), dtype="i4"), np.zeros((4, 4), np.int32)
    on_device.copy_from(View.from_any_interface(host, -1), stream)
    other = View.from_buffer(second, (4, 4), dtype="i4")
    other.copy_from(on_device.view(on_device.layout.permuted((1, 0))), stream)
    other.copy_to(View.from_any_interface(back, -1), stream, blocking=True)
    stream.sync()
    assert (back == host.T).all()


def batches(w: World) -> None:
    stream = w.device.create_stream()
    buffers = [w.device.allocate(64, stream) for _ in range(4)]
    options = w.utils.CopyOptions("any", w.device, w.core.Device(0), "prefer_overlap_with_compute")
    w.utils.copy_batch(stream, buffers[:2], buffers[2:])
    w.utils.copy_batch(stream, buffers[:2], buffers[2:], options=options)
    buffers[0].copy_to(buffers[1], stream=stream, options=options)
    pinned = w.core.LegacyPinnedMemoryResource().allocate(64)
    w.utils.copy_batch(stream, [pinned], [buffers[0]])
    stream.sync()
