"""Memory of a device, from a pool."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...driver import CUmemAllocationType, checked
from ..context.current import RelaxedCaptureMode
from ..options import accepted
from ..upward import upward
from . import ipc
from .location import on_device
from .peers import PeerAccessibleBy
from .pool import MemoryPool
from .resource import OnDevice

if TYPE_CHECKING:
    from ..device.device import Device

PINNED = CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED


@dataclass
class DeviceMemoryResourceOptions:
    """Options for a pool. ipc_enabled: share it with other processes. max_size: in bytes; 0: no limit."""

    ipc_enabled: bool = False
    max_size: int = 0


class DeviceMemoryResource(ipc.Shareable, OnDevice, MemoryPool):
    """Device memory, allocated and freed in stream order.

    Without options from the current pool of the device, which all of the process shares; with options from a
    pool of its own. Source: cuDeviceGetMemPool, cuMemPoolCreate.

    With `ipc_enabled` other processes can open its buffers. The simplest way is to send a Buffer through a
    multiprocessing Queue, Pipe or Process. Else send the `allocation_handle`, a file descriptor, over a Unix
    socket, `from_allocation_handle` there, and then `buffer.ipc_descriptor` for each buffer. Accept buffers
    and descriptors only from processes that you trust.
    """

    def __init__(
        self,
        device_id: Device | int,
        options: DeviceMemoryResourceOptions | Mapping[str, Any] | None = None,
    ) -> None:
        self._device_id = int(upward.device(device_id))
        if options is None:
            self._set(checked.cuDeviceGetMemPool(self._device_id))
        else:
            chosen = accepted(DeviceMemoryResourceOptions, options)
            self._create(PINNED, on_device(self._device_id), chosen.max_size, chosen.ipc_enabled)
            with RelaxedCaptureMode():
                self.peer_accessible_by.clear()  # a driver may give it that of an older pool in its place

    @property
    def peer_accessible_by(self) -> PeerAccessibleBy:
        """The other devices that can use its buffers: a set of Devices that can be changed and assigned.

        Source: cuMemPoolGetAccess, cuMemPoolSetAccess.
        """
        self._pool  # noqa: B018  # raises what a closed resource has to say
        return PeerAccessibleBy(self)

    @peer_accessible_by.setter
    def peer_accessible_by(self, devices: Iterable[Device | int]) -> None:
        PeerAccessibleBy(self).replace(devices)

    @classmethod
    def from_allocation_handle(
        cls, device_id: Device | int, alloc_handle: int | ipc.IPCAllocationHandle
    ) -> DeviceMemoryResource:
        """The pool of another process, by a file descriptor, which stays the caller's to close.

        Source: cuMemPoolImportFromShareableHandle.
        """
        resource = cls.__new__(cls)
        resource._device_id = int(upward.device(device_id))
        ipc.import_pool(resource, alloc_handle, on_device(resource._device_id))
        return resource


ipc.kinds_of_pools.append(DeviceMemoryResource)
