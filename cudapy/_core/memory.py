"""Memory resources: where buffers come from."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from ..driver import CUdeviceptr, CUmemoryPool, CUmemPool_attribute, checked
from .buffer import Buffer, byte_count
from .current import Uncaptured, within
from .stream import IsStreamType, Stream

if TYPE_CHECKING:
    from .device import Device

__all__ = ["Buffer", "DeviceMemoryResource", "LegacyPinnedMemoryResource", "MemoryResource"]


class MemoryResource(ABC):
    """Where buffers come from. Derive from it to make buffers of an allocator of your own.

    `allocate` returns `Buffer.from_handle(address, size, mr=self, stream=stream)`; the buffer calls
    `deallocate` once.
    """

    @abstractmethod
    def allocate(self, size: int, stream: Stream | IsStreamType | None = None) -> Buffer:
        """A Buffer of `size` bytes, usable by later work in `stream` (None: the default stream)."""

    @abstractmethod
    def deallocate(
        self, ptr: int | CUdeviceptr, size: int, stream: Stream | IsStreamType | None = None
    ) -> None:
        """Free the `size` bytes at `ptr` after the work that `stream` has."""

    @property
    @abstractmethod
    def device_id(self) -> int:
        """The ordinal of the device that has the memory; -1 for host memory."""

    @property
    @abstractmethod
    def is_device_accessible(self) -> bool:
        """Whether kernels can use its buffers."""

    @property
    @abstractmethod
    def is_host_accessible(self) -> bool:
        """Whether the host can."""

    @property
    def is_managed(self) -> bool:
        """Whether its memory moves between host and device by itself."""
        return False


class _OnDevice(MemoryResource):
    """Memory of one device."""

    def __init__(self, device_id: Device | int) -> None:
        self._device_id = int(device_id)

    @property
    def device_id(self) -> int:
        """The ordinal of the device."""
        return self._device_id

    @property
    def is_device_accessible(self) -> bool:
        """True."""
        return True

    @property
    def is_host_accessible(self) -> bool:
        """False."""
        return False

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of device {self._device_id}>"


class DeviceMemoryResource(_OnDevice):
    """Device memory from the default pool of a device, allocated and freed in stream order.

    A pool that would return its memory to the system at every synchronisation is told to keep it.
    Source: cuDeviceGetDefaultMemPool, cuMemAllocFromPoolAsync, cuMemFreeAsync.
    """

    def __init__(self, device_id: Device | int) -> None:
        super().__init__(device_id)
        self._pool: CUmemoryPool = checked.cuDeviceGetDefaultMemPool(self._device_id)
        threshold = CUmemPool_attribute.CU_MEMPOOL_ATTR_RELEASE_THRESHOLD
        if not checked.cuMemPoolGetAttribute(self._pool, threshold):
            checked.cuMemPoolSetAttribute(self._pool, threshold, 2**64 - 1)

    @property
    def handle(self) -> CUmemoryPool:
        """The CUmemoryPool."""
        return self._pool

    def allocate(self, size: int, stream: Stream | IsStreamType | None = None) -> Buffer:
        """A Buffer of `size` bytes for later work in `stream`, and in others that wait for it."""
        in_stream = Stream._accept(stream)
        number = byte_count(size)
        address = checked.cuMemAllocFromPoolAsync(number, self._pool, in_stream._handle) if number else 0
        return Buffer.from_handle(address, number, self, stream=in_stream)

    def deallocate(
        self, ptr: int | CUdeviceptr, size: int, stream: Stream | IsStreamType | None = None
    ) -> None:
        """Free the memory once `stream` gets here."""
        checked.cuMemFreeAsync(ptr, Stream._accept(stream)._handle)


class _SynchronousMemoryResource(_OnDevice):
    """Device memory on devices without pools: allocating and freeing may wait for the device.

    Source: cuMemAlloc, cuMemFree.
    """

    def allocate(self, size: int, stream: Stream | IsStreamType | None = None) -> Buffer:
        """A Buffer of `size` bytes, freed after the work in `stream`."""
        from .context import primary

        number = byte_count(size)
        context = int(primary(self._device_id).handle)
        address = within(context, checked.cuMemAlloc, number) if number else 0
        return Buffer.from_handle(address, number, self, stream=Stream._accept(stream))

    def deallocate(
        self, ptr: int | CUdeviceptr, size: int, stream: Stream | IsStreamType | None = None
    ) -> None:
        """Wait for `stream`, then free the memory."""
        checked.cuStreamSynchronize(Stream._accept(stream)._handle)
        with Uncaptured():
            checked.cuMemFree(ptr)


class LegacyPinnedMemoryResource(MemoryResource):
    """Page-locked host memory, which kernels can use at the same address.

    Source: cuMemAllocHost, cuMemFreeHost. Both may wait for the device, so allocate once and use often.
    """

    def allocate(self, size: int, stream: Stream | IsStreamType | None = None) -> Buffer:
        """A Buffer of `size` bytes, freed after the work in `stream`, if there is one."""
        number = byte_count(size)
        address = checked.cuMemAllocHost(number) if number else 0
        return Buffer.from_handle(address, number, self, stream=stream)

    def deallocate(
        self, ptr: int | CUdeviceptr, size: int, stream: Stream | IsStreamType | None = None
    ) -> None:
        """Wait for `stream`, if there is one, then free the memory."""
        if stream is not None:
            checked.cuStreamSynchronize(Stream._accept(stream)._handle)
        with Uncaptured():
            checked.cuMemFreeHost(int(ptr))

    @property
    def device_id(self) -> int:
        """-1: it is on no device."""
        return -1

    @property
    def is_device_accessible(self) -> bool:
        """True."""
        return True

    @property
    def is_host_accessible(self) -> bool:
        """True."""
        return True
