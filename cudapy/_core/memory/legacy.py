"""Memory from the functions that were there before pools: allocating and freeing may wait for the device."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...driver import checked
from ..context.context import primary
from ..context.current import RelaxedCaptureMode, owning, with_context
from ..streams.stream import Stream
from .buffer import Buffer
from .pointer import Address, byte_count
from .resource import OnDevice, OnHost, empties

if TYPE_CHECKING:
    from ...driver import CUdeviceptr
    from ..device.device import Device
    from ..streams.stream import IsStreamType


class LegacyPinnedMemoryResource(OnHost):
    """Page-locked host memory, which kernels can use at the same address.

    Source: cuMemAllocHost, cuMemFreeHost. Both may wait for the device, so allocate once and use often.
    """

    _takes_no_stream = True

    def allocate(self, size: int, stream: Stream | IsStreamType | None = None) -> Buffer:
        """A Buffer of `size` bytes, freed after the work in `stream`, if there is one."""
        number = byte_count(size)
        in_stream = None if stream is None else Stream._accept(stream)
        return Buffer._adopt(lambda cell: owning.cuMemAllocHost(cell, number), number, self, in_stream)

    @empties
    def deallocate(
        self, ptr: int | CUdeviceptr, size: int, stream: Stream | IsStreamType | None = None
    ) -> None:
        """Wait for `stream`, if there is one, then free the memory."""
        with RelaxedCaptureMode():
            if stream is not None:
                checked.cuStreamSynchronize(Stream._accept(stream)._handle)
            owning.cuMemFreeHost(Address.of(ptr))


class SynchronousMemoryResource(OnDevice):
    """Device memory on devices without pools. Source: cuMemAlloc, cuMemFree."""

    def __init__(self, device_id: Device | int) -> None:
        self._device_id = int(device_id)

    def allocate(self, size: int, stream: Stream | IsStreamType | None = None) -> Buffer:
        """A Buffer of `size` bytes, freed after the work in `stream`."""
        number, in_stream = byte_count(size), Stream._accept(stream)
        context = int(primary(self._device_id)._handle)

        def make(cell: Address) -> None:
            with_context(context, owning.cuMemAlloc, cell, number)

        return Buffer._adopt(make, number, self, in_stream, context)

    @empties
    def deallocate(
        self, ptr: int | CUdeviceptr, size: int, stream: Stream | IsStreamType | None = None
    ) -> None:
        """Wait for `stream`, then free the memory."""
        with RelaxedCaptureMode():
            checked.cuStreamSynchronize(Stream._accept(stream)._handle)
            owning.cuMemFree(Address.of(ptr))
