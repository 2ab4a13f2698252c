"""What every memory resource is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ...driver import CUdeviceptr
    from ..buffer import Buffer
    from ..stream import IsStreamType, Stream


class MemoryResource(ABC):
    """Where buffers come from. Derive from it to make buffers of an allocator of your own.

    `allocate` returns `Buffer.from_handle(address, size, mr=self, stream=stream)`; the buffer calls
    `deallocate` once.
    """

    _is_ordered = False  # whether `deallocate` does nothing but queue work in its stream

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


class OnDevice(MemoryResource):
    """Memory of one device, for its kernels."""

    _device_id: int

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


class OnHost(MemoryResource):
    """Page-locked memory of the host, which kernels can use at the same address."""

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

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"
