"""What an array and a mipmapped array have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..closable import SlotClosable
from ..upward import upward
from .choices import ArrayFormatType
from .elements import Shape

if TYPE_CHECKING:
    from ..device.device import Device


class ElementArray(SlotClosable):
    """Base of OpaqueArray and MipmappedArray: elements of one format in a device's memory."""

    __slots__ = ("_device_id", "_handle", "_shape")
    _device_id: int
    _handle: Any
    _shape: Shape

    @property
    def handle(self) -> int:
        """The CUarray or CUmipmappedArray; 0 once it is closed."""
        return 0 if self.is_closed else int(self._handle)

    @property
    def shape(self) -> tuple[int, ...]:
        """(width,), (width, height) or (width, height, depth), in elements; that of level 0."""
        return self._shape.extents

    @property
    def format(self) -> ArrayFormatType:
        """The type of a channel."""
        return self._shape.elements.format

    @property
    def num_channels(self) -> int:
        """The channels of an element."""
        return self._shape.elements.num_channels

    @property
    def is_surface_load_store(self) -> bool:
        """Whether kernels may write it, through a SurfaceObject."""
        return self._shape.is_surface_load_store

    @property
    def device(self) -> Device:
        """The device that has it."""
        return upward.device(self._device_id)
