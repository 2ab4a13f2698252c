"""How other libraries see a Buffer, which is an array of its bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..._ffi import dlpack as dl
from ..streams.order import follow
from ..streams.stream import Stream

if TYPE_CHECKING:
    from .buffer import Buffer


class Hold:
    """What arrays in a Buffer's memory keep alive: the Buffer; once it is closed, the owner of the memory."""

    __slots__ = ("__weakref__", "of_owner", "owner")
    owner: object
    of_owner: Hold | None  # that of the Buffer whose memory it is

    def __init__(self, buffer: Buffer) -> None:
        self.owner, self.of_owner = buffer, None


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
