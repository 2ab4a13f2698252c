"""Pools that several processes use, as file descriptors.

A pool is known in all of them by a UUID. Where it came to through multiprocessing, it is registered under
that, so that buffers of it can be unpickled by themselves.
"""

from __future__ import annotations

import os
import sys
import threading
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import UUID, uuid4
from weakref import ref

from ...driver import (
    CUmemAllocationHandleType,
    CUmemGenericAllocationHandle,
    CUmemPoolPtrExportData,
    checked,
)
from ..context.context import context_of
from ..context.current import owning, with_context
from ..ownership.owned import Ownership
from .location import access

if TYPE_CHECKING:
    from collections.abc import Callable

    from ...driver import CUmemLocation, CUmemoryPool
    from .pointer import Address
    from .pool import MemoryPool

    P = TypeVar("P", bound="Shareable")
else:
    MemoryPool = object

FILE = CUmemAllocationHandleType.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR


class Descriptor(CUmemGenericAllocationHandle):
    """A file descriptor as its owner has it: C writes it, and 0 stays once it is closed."""


def _close(cell: Descriptor) -> None:
    (_,) = map(os.close, (cell.value,))  # one step: interrupt_safe
    cell.value = 0


class IPCAllocationHandle:
    """A pool as a file descriptor, which `socket.send_fds` and multiprocessing can send; closed with it."""

    __slots__ = ("__weakref__", "_handle", "_ownership", "_uuid")
    _handle: int
    _ownership: Ownership
    _uuid: UUID

    def __init__(self) -> None:
        raise TypeError("an IPCAllocationHandle comes from the allocation_handle of a memory resource")

    @classmethod
    def _made(cls, make: Callable[[Descriptor], object], uuid: UUID) -> IPCAllocationHandle:
        """What owns the descriptor that `make(cell)` writes to its cell."""
        self, cell = cls.__new__(cls), Descriptor()
        self._ownership, self._uuid = Ownership(_close, cell), uuid
        make(cell)
        if not cell.value:  # a program that has closed its standard input: here 0 stands for none
            cell.value = os.dup(0)
            os.close(0)
        self._handle = cell.value
        return self

    def close(self) -> None:
        """Close the file descriptor. Closing again does nothing."""
        self._handle = -1
        self._ownership.close()

    @property
    def is_closed(self) -> bool:
        """Whether it was closed."""
        return self._handle < 0

    @property
    def handle(self) -> int:
        """The file descriptor; -1 once closed."""
        return self._handle

    @property
    def uuid(self) -> UUID:
        """What the pool is known by."""
        return self._uuid

    def __int__(self) -> int:
        if self.is_closed:
            raise RuntimeError("this IPCAllocationHandle is closed")
        return self._handle

    fileno = __int__

    def __reduce__(self) -> tuple[Any, ...]:
        raise TypeError(
            "an IPCAllocationHandle is a file descriptor, and goes to another process through "
            "multiprocessing or socket.send_fds(), not through pickle alone"
        )


class Sharing:
    """What a pool that is shared has for it."""

    def __init__(self, uuid: UUID | None = None, is_mapped: bool = False) -> None:
        self.uuid = uuid or uuid4()
        self.is_mapped = is_mapped
        self.handle: IPCAllocationHandle | None = None
        self.opened: dict[bytes, list[int]] = {}  # buffers of the other process: [address, how often opened]
        self.lock = threading.RLock()  # a finalizer may come by while a buffer is opened
        _reduce_for_multiprocessing()

    def open(self, cell: Address, pool: CUmemoryPool, data: bytes) -> None:
        """Write the address of a buffer of the other process to `cell`. The driver is asked once for each."""
        with self.lock:
            entry = self.opened.get(data)
            if entry is None:
                owning.cuMemPoolImportPointer(cell, pool, CUmemPoolPtrExportData(reserved=data))
                self.opened[data] = [cell.value, 1]
            else:
                entry[1] += 1  # one step: interrupt_safe
                cell.value = entry[0]

    def gives_up(self, cell: Address) -> bool:
        """Whether this was the last of the buffers there; if not, that is all there is to do for it."""
        if not self.is_mapped:
            return True
        with self.lock:
            for data, entry in self.opened.items():
                if entry[0] == cell.value:
                    if entry[1] == 1:
                        del self.opened[data]
                        break
                    entry[1] -= 1
                    cell.value = 0
                    return False
        return True

    def close(self) -> None:
        """Close what was exported."""
        if self.handle is not None:
            self.handle.close()


def supported(kind: CUmemAllocationHandleType) -> CUmemAllocationHandleType:
    """`kind`. Raises RuntimeError on systems where pools cannot be shared."""
    if sys.platform != "linux":
        raise RuntimeError("ipc_enabled: pools are shared between processes on Linux alone")
    return kind


def sharing_of(resource: MemoryPool) -> Sharing:
    if resource._ipc is None:
        raise RuntimeError(
            f"{resource!r} is for one process: make it with options that have ipc_enabled=True"
        )
    return resource._ipc


# -- pools ------------------------------------------------------------------------------------------------

kinds_of_pools: list[type[MemoryPool]] = []
"""The classes of pools that can be shared."""
_registry: dict[UUID, ref[MemoryPool]] = {}
"""The pools that other processes know. No WeakValueDictionary: see `interrupt_safe`."""


def _known(uuid: UUID | None) -> Any:
    reference = None if uuid is None else _registry.get(uuid)
    return None if reference is None else reference()


def _known_or(uuid: UUID, resource: Any) -> Any:
    """What there is under `uuid`: `resource`, if nothing was there before."""
    for other, pool in list(_registry.items()):
        if pool() is None:
            _registry.pop(other, None)
    return _registry.setdefault(uuid, ref(resource))() or resource


class Shareable(MemoryPool):
    """Base, before MemoryPool, of pools that other processes can use."""

    @property
    def allocation_handle(self) -> IPCAllocationHandle:
        """The pool for another process: a file descriptor, which stays this object's.

        Source: cuMemPoolExportToShareableHandle.
        """
        sharing, pool = sharing_of(self), self._pool
        if sharing.is_mapped:
            raise RuntimeError(f"{self!r} is the pool of another process, which alone can export it")
        if sharing.handle is None or sharing.handle.is_closed:
            export = owning.cuMemPoolExportToShareableHandle
            sharing.handle = IPCAllocationHandle._made(lambda cell: export(cell, pool, FILE, 0), sharing.uuid)
            _known_or(sharing.uuid, self)
        return sharing.handle

    def register(self: P, uuid: UUID) -> P:
        """Be what buffers and resources with this `uuid` belong to, when they are unpickled here.

        Returns the resource that was registered before, if there was one.
        """
        sharing_of(self).uuid = uuid
        pool: P = _known_or(uuid, self)
        return pool

    @classmethod
    def from_registry(cls: type[P], uuid: UUID) -> P:
        """The resource that is registered for `uuid`. Raises RuntimeError if there is none."""
        pool = _known(uuid)
        if not isinstance(pool, cls):
            raise RuntimeError(f"no {cls.__name__} is registered for {uuid} in this process")
        return pool

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self).from_registry, (sharing_of(self).uuid,)


def import_pool(resource: MemoryPool, handle: int | IPCAllocationHandle, place: CUmemLocation) -> None:
    """Make `resource` the pool behind `handle`. Source: cuMemPoolImportFromShareableHandle."""
    uuid = handle.uuid if isinstance(handle, IPCAllocationHandle) else None
    function, sharing = owning.cuMemPoolImportFromShareableHandle, Sharing(uuid, is_mapped=True)
    resource._make(function, int(handle), supported(FILE), 0, sharing=sharing)
    checked.cuMemPoolSetAccess(resource.handle, access(place), 1)


def _reduce_for_multiprocessing() -> None:
    """Tell multiprocessing how pools travel: it can send file descriptors, which pickle cannot."""
    if _taught:
        return
    from multiprocessing.reduction import register as teach

    teach(IPCAllocationHandle, _reduce_handle)
    for cls in kinds_of_pools:
        teach(cls, _reduce_pool)
    _taught.append(True)


_taught: list[bool] = []


def _reduce_handle(handle: IPCAllocationHandle) -> tuple[Any, ...]:
    from multiprocessing.reduction import DupFd

    return _receive_handle, (DupFd(int(handle)), handle.uuid)


def _receive_handle(duplicate: Any, uuid: UUID) -> IPCAllocationHandle:
    return IPCAllocationHandle._made(lambda cell: setattr(cell, "value", duplicate.detach()), uuid)


def _reduce_pool(resource: Any) -> tuple[Any, ...]:
    if sharing_of(resource).is_mapped:
        reduced: tuple[Any, ...] = resource.__reduce__()
        return reduced
    place = () if resource.device_id < 0 else (resource.device_id,)
    return _receive_pool, (type(resource), place, resource.allocation_handle)


def _receive_pool(cls: Any, place: tuple[int, ...], handle: IPCAllocationHandle) -> Any:
    pool = _known(handle.uuid)
    if pool is None:
        pool = with_context(context_of(*place), cls.from_allocation_handle, *place, handle).register(
            handle.uuid
        )
        _received.append(pool)  # until the process ends, for the buffers that may still come
    return pool  # the handle may have been sent for itself as well: its last reference closes it


_received: list[Any] = []
