"""How other libraries see a Buffer, which is an array of its bytes, and how core sees their host arrays."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any, cast

from ..._ffi import dlpack as dl
from ..._ffi import memory
from ..streams.order import follow
from ..streams.stream import Stream
from .dlpack import capsule
from .pointer import Located

if TYPE_CHECKING:
    from .buffer import Buffer

exporting: list[bool] = []
"""Whether memory of a Buffer was ever shown to the host. Only whether it is empty counts."""


def device_of(buffer: Buffer) -> tuple[int, int]:
    """The device type and number of DLPack: pinned and managed memory have types of their own.

    Raises BufferError for memory that neither kernels nor the host can use.
    """
    if not buffer.is_host_accessible:
        if not buffer.is_device_accessible:
            raise BufferError(f"{buffer!r} is memory that neither kernels nor the host can use")
        return dl.CUDA, buffer.device_id
    if not buffer.is_device_accessible:
        return dl.CPU, 0
    return (dl.CUDA_MANAGED if buffer.is_managed else dl.CUDA_HOST), 0


def export_device(
    buffer: Buffer, stream: int | None, dl_device: tuple[int, int] | None, copy: bool | None
) -> tuple[int, int]:
    """The device to export `buffer` on, in the order of the consumer's `stream`.

    stream: None is the legacy default stream, -1 asks for no order. 0, which DLPack leaves out because it
    does not tell which default stream is meant, is the legacy one as well: the per-thread one waits for it.
    Raises BufferError for what would need a copy, which is not made.
    """
    if copy:
        raise BufferError("a Buffer is exported as it is, not as a copy: use copy_to()")
    device = device_of(buffer)
    if dl_device is not None and tuple(dl_device) != device:
        if not (buffer.is_host_accessible and tuple(dl_device) == (dl.CPU, 0)):
            raise BufferError(f"{buffer!r} is on device {device} of DLPack, not on {tuple(dl_device)}")
        device = dl.CPU, 0
    if device[0] == dl.CUDA and stream != -1:
        follow(Stream.from_handle(stream or 1), buffer._stream)
    return device


def holder(buffer: Buffer, device: tuple[int, int], stream: int | None) -> object:
    """What a capsule keeps alive: a consumer without a stream is of the host, which nothing else stops."""
    return buffer if device[0] == dl.CUDA or stream is not None else buffer._export()


class Exchanged(Located):
    """The part of a Buffer that other libraries use: an array of its bytes, int8 as cuda.core has it."""

    __slots__ = ("_exports",)
    _size: int
    _stream: Stream | None
    _exports: list[weakref.ref[Any]] | None

    def _export(self) -> Any:
        """The memory for a library of the host to hold: `close` is refused as long as it does."""
        shown = memory.exported(self._address, self._size, self)
        if not exporting:
            exporting.append(True)
        self._exports = [*self._views(), weakref.ref(shown)]
        return shown

    def _views(self) -> list[weakref.ref[Any]]:
        """What `_export` returned and is still held."""
        return [view for view in self._exports or () if view() is not None]

    def _require_no_views(self) -> None:
        """Raise BufferError while somebody holds what `_export` returned."""
        views = self._views()
        if views:
            raise BufferError(
                f"{self!r} cannot be closed or moved while arrays or memoryviews show its memory: "
                f"there are {len(views)}"
            )

    def __dlpack__(
        self,
        *,
        stream: int | None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        address, buffer = self._address, cast("Buffer", self)
        device = export_device(buffer, stream, dl_device, copy)
        array = dl.Described(address, *device, (self._size,), (1,), dl.INT, 8, 1, False)
        return capsule(holder(buffer, device, stream), array, max_version)

    def __dlpack_device__(self) -> tuple[int, int]:
        return device_of(cast("Buffer", self))

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        address, stream = self._address, self._stream
        if not self.is_device_accessible:
            raise AttributeError(f"{self!r} is memory that no kernel can use")
        return {
            "data": (address, False),
            "shape": (self._size,),
            "typestr": "|u1",
            "strides": None,
            "version": 3,
            "stream": None if stream is None else int(stream._handle),
        }

    @property
    def __array_interface__(self) -> dict[str, Any]:
        self._address  # noqa: B018  # raises what a closed buffer has to say
        if not self.is_host_accessible:
            raise AttributeError(f"{self!r} is not in host memory")
        return {"data": self._export(), "shape": (self._size,), "typestr": "|u1", "version": 3}

    def __array__(self, *arguments: Any, **keywords: Any) -> Any:
        raise TypeError(f"NumPy cannot read {self!r}, which is not in host memory: copy_to() a host array")

    def __buffer__(self, flags: int) -> memoryview:
        self._address  # noqa: B018  # raises what a closed buffer has to say
        if not self.is_host_accessible:
            raise BufferError(f"{self!r} is not in host memory: copy_to() a host array")
        return memoryview(self._export()).cast("B")

    def __release_buffer__(self, view: memoryview) -> None:
        """Give a view back. NumPy keeps what it shows only of objects that have this method."""
        view.release()


def host_bytes(host: Any, what: str) -> memoryview:
    """The memory of a host array, whatever its elements are, but for Python objects. Raises TypeError."""
    if isinstance(host, (list, tuple, int, float, complex)):
        raise TypeError(
            f"{what} must be an array: a Python {type(host).__name__} has no element type, as "
            f"np.{'array' if isinstance(host, (list, tuple)) else 'float32'}(...) has"
        )
    try:
        view = memoryview(host)
    except (TypeError, ValueError):  # elements that the buffer protocol has no name for: dates, bfloat16
        import numpy

        if not isinstance(host, (numpy.ndarray, numpy.generic)):
            raise
        view = memoryview(cast("Any", host.view(f"V{host.itemsize}")))
    if getattr(getattr(view.obj, "dtype", None), "hasobject", False):
        raise TypeError(f"{what} has Python objects for elements, which no device can use")
    return view
