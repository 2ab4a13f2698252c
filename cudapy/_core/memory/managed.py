"""Managed memory, which moves between devices and the host by itself, from a pool."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from ...driver import CUmemAllocationType, CUmemLocation, checked
from ..options import Choice, accepted
from .location import DEVICE, HOST, HOST_NUMA, NOWHERE, nearest_numa_node
from .managed_buffer import ManagedBuffer
from .pool import MemoryPool

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..streams.stream import IsStreamType, Stream

MANAGED = CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_MANAGED


class ManagedMemoryLocationType(Choice):
    """What kind of place managed memory prefers."""

    DEVICE = "device"
    HOST = "host"
    HOST_NUMA = "host_numa"


_KINDS = {"device": DEVICE, "host": HOST, "host_numa": HOST_NUMA}


@dataclass
class ManagedMemoryResourceOptions:
    """Where managed memory would rather be.

    With preferred_location_type "device" preferred_location is the ordinal of a device; with "host" it is
    None; with "host_numa" the number of a NUMA node, or None for the one nearest to the current device.
    Without a type it is the ordinal of a device, -1 for the host, or None for no preference.
    """

    preferred_location: int | None = None
    preferred_location_type: ManagedMemoryLocationType | str | None = None

    def __post_init__(self) -> None:
        kind, number = self.preferred_location_type, self.preferred_location
        if kind is not None:
            self.preferred_location_type = kind = ManagedMemoryLocationType(kind)
        low = {None: -1, "device": 0, "host": None, "host_numa": 0}[kind]
        if (low is None and number is not None) or (low is not None and number is not None and number < low):
            raise ValueError(f"preferred_location = {number} is not a location of type {kind}")
        if kind == "device" and number is None:
            raise ValueError('preferred_location_type = "device" needs the ordinal of a device')

    def _place(self) -> tuple[ManagedMemoryLocationType, int | None] | None:
        kind, number = self.preferred_location_type, self.preferred_location
        if kind is None:
            if number is None:
                return None
            kind, number = ("host", None) if number < 0 else ("device", number)
        if kind == "host_numa" and number is None:
            number = nearest_numa_node()
        return ManagedMemoryLocationType(kind), number


class ManagedMemoryResource(MemoryPool):
    """Managed memory, allocated and freed in stream order: the host and kernels use it at the same address.

    Without options from the current pool, which all of the process shares; with options from a pool of its
    own. Its buffers are ManagedBuffers, which can be told where to be. Needs CUDA 13.
    Source: cuMemGetMemPool, cuMemPoolCreate.
    """

    _buffer = ManagedBuffer
    _preferred: tuple[ManagedMemoryLocationType, int | None] | None

    def __init__(self, options: ManagedMemoryResourceOptions | Mapping[str, Any] | None = None) -> None:
        self._preferred = None
        if options is None:
            self._set(checked.cuMemGetMemPool(CUmemLocation(type=NOWHERE), MANAGED))
            return
        self._preferred = accepted(ManagedMemoryResourceOptions, options)._place()
        kind, number = self._preferred or (None, None)
        place = CUmemLocation(type=_KINDS[kind] if kind is not None else NOWHERE, id=number or 0)
        self._create(MANAGED, place)

    def allocate(self, size: int, stream: Stream | IsStreamType | None = None) -> ManagedBuffer:
        """A ManagedBuffer of `size` bytes for later work in `stream`, and in others that wait for it.

        What is larger than the free memory of the devices pushes other managed memory out.
        """
        return cast("ManagedBuffer", super().allocate(size, stream))

    @property
    def preferred_location(self) -> tuple[ManagedMemoryLocationType, int | None] | None:
        """The type and the number of the place that its memory prefers; None for no preference."""
        return self._preferred

    @property
    def device_id(self) -> int:
        """The ordinal of the device that its memory prefers; -1 for none."""
        kind, number = self._preferred or (None, None)
        return number if kind == "device" and number is not None else -1

    @property
    def is_device_accessible(self) -> bool:
        """True."""
        return True

    @property
    def is_host_accessible(self) -> bool:
        """True."""
        return True

    @property
    def is_managed(self) -> bool:
        """True."""
        return True

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"
