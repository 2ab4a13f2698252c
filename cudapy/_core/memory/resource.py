"""What every memory resource is."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

    from ...driver import CUdeviceptr
    from ..streams.stream import IsStreamType, Stream
    from .buffer import Buffer


F = TypeVar("F", bound="Callable[..., object]")


def empties(deallocate: F) -> F:
    """Says that this method, given an `Address`, leaves 0 there in the step in which it frees the memory."""
    deallocate.empties = True  # type: ignore[attr-defined]
    return deallocate


class MemoryResource:
    """A source of buffers. Derive from it to use an allocator of your own.

    `allocate` returns `Buffer.from_handle(address, size, mr=self, stream=stream)`; the buffer calls
    `deallocate` once, with the default stream if there is no other. The properties say what its buffers are;
    what a class does not define raises TypeError when it is asked for.
    """

    _is_ordered = False  # whether `deallocate` does nothing but queue work in its stream
    _is_lent = False  # whether `close` gives the memory back though arrays show it
    _takes_no_stream = False  # whether `deallocate` takes None for a stream, and then waits for nothing

    def allocate(self, size: int, stream: Stream | IsStreamType | None = None) -> Buffer:
        """A Buffer of `size` bytes, usable by later work in `stream` (None: the default stream)."""
        self._lacks("allocate()")

    def deallocate(
        self, ptr: int | CUdeviceptr, size: int, stream: Stream | IsStreamType | None = None
    ) -> None:
        """Free the `size` bytes at `ptr` after the work queued in `stream`."""
        self._lacks("deallocate()")

    @property
    def device_id(self) -> int:
        """The ordinal of the device that has the memory; -1 for host memory."""
        self._lacks("device_id")

    @property
    def is_device_accessible(self) -> bool:
        """Whether kernels can use its buffers."""
        self._lacks("is_device_accessible")

    @property
    def is_host_accessible(self) -> bool:
        """Whether the host can."""
        self._lacks("is_host_accessible")

    @property
    def is_managed(self) -> bool:
        """Whether its memory moves between host and device by itself; the driver may say so of a Buffer."""
        return False

    def _lacks(self, what: str) -> NoReturn:
        raise TypeError(f"{type(self).__name__} is a MemoryResource that does not define {what}")


ON_DEVICE: set[type] = set()
"""The classes of resources whose buffers the host cannot access."""


class OnDevice(MemoryResource):
    """Memory of one device, for its kernels."""

    _device_id: int

    def __init_subclass__(cls) -> None:
        if cls.is_host_accessible is OnDevice.is_host_accessible:
            ON_DEVICE.add(cls)

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
