"""How other libraries see a Buffer, which is an array of its bytes, and where their host arrays are."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

from .._ffi.buffers import address_of
from . import dlpack as dl
from .stream import Stream
from .stream_order import follow

if TYPE_CHECKING:
    from .buffer import Buffer


def device_of(buffer: Buffer) -> tuple[int, int]:
    """The device type and number of DLPack: pinned and managed memory have types of their own."""
    if buffer.is_managed:
        return dl.CUDA_MANAGED, max(buffer.device_id, 0)
    if not buffer.is_device_accessible:
        return dl.CPU, 0
    return (dl.CUDA_HOST, 0) if buffer.is_host_accessible else (dl.CUDA, buffer.device_id)


def export_device(
    buffer: Buffer, stream: int | None, dl_device: tuple[int, int] | None, copy: bool | None
) -> tuple[int, int]:
    """The device to export `buffer` on, in the order of the consumer's `stream`.

    stream: None is the legacy default stream, -1 asks for no order. Raises BufferError for what would need a
    copy, which is not made.
    """
    if copy:
        raise BufferError("a Buffer is exported as it is, not as a copy: use copy_to()")
    device = device_of(buffer)
    if dl_device is not None and tuple(dl_device) != device:
        if not (buffer.is_host_accessible and tuple(dl_device) == (dl.CPU, 0)):
            raise BufferError(f"{buffer!r} is on device {device} of DLPack, not on {tuple(dl_device)}")
        device = dl.CPU, 0
    if device[0] == dl.CUDA and stream != -1:
        if stream == 0:
            raise ValueError("stream 0 is ambiguous in DLPack: 1 is the legacy default stream, 2 per thread")
        follow(Stream.from_handle(1 if stream is None else stream), buffer._stream)
    return device


def dlpack(
    buffer: Buffer,
    stream: int | None,
    max_version: tuple[int, int] | None,
    dl_device: tuple[int, int] | None,
    copy: bool | None,
) -> object:
    """A capsule of `buffer`: int8, as cuda.core has it."""
    address, size = buffer.handle, buffer.size
    device = export_device(buffer, stream, dl_device, copy)
    return dl.capsule(buffer, dl.Described(address, *device, (size,), (1,), dl.INT, 8, 1, False), max_version)


def cuda_array_interface(buffer: Buffer) -> dict[str, Any]:
    """Version 3 of the CUDA Array Interface, with the stream that `buffer` was allocated in."""
    address, stream = buffer.handle, buffer._stream
    if not buffer.is_device_accessible:
        raise AttributeError(f"{buffer!r} is memory that no kernel can use")
    return {
        "data": (address, False),
        "shape": (buffer.size,),
        "typestr": "|u1",
        "strides": None,
        "version": 3,
        "stream": None if stream is None else int(stream._handle),
    }


def array_interface(buffer: Buffer) -> dict[str, Any]:
    """What NumPy reads of memory that the host can use."""
    address = buffer.handle
    if not buffer.is_host_accessible:
        raise AttributeError(f"{buffer!r} is not in host memory")
    return {"data": (address, False), "shape": (buffer.size,), "typestr": "|u1", "version": 3}


def host_view(buffer: Buffer) -> memoryview:
    """The bytes of memory that the host can use."""
    address = buffer.handle
    if not buffer.is_host_accessible:
        raise BufferError(f"{buffer!r} is not in host memory: copy_to() a host array")
    return memoryview((ctypes.c_char * buffer.size).from_address(address)).cast("B")


def host_address(host: Any, const: bool, what: str) -> int:
    """Where the memory of a host array is: contiguous, and writable unless it is `const`, or ValueError."""
    pointer, _ = address_of(host, const, what)
    return ctypes.cast(pointer, ctypes.c_void_p).value or 0
