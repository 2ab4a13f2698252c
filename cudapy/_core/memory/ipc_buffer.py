"""Buffers that several processes use: 64 bytes that say which one it is, of a pool that they share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..._ffi.shown import shown
from ...driver import CUmemPoolPtrExportData, checked
from ..context.context import context_of
from ..context.current import with_context
from ..streams.stream import Stream, default_stream
from ..upward import upward
from .ipc import Shareable, sharing_of
from .pointer import byte_count, size_at

if TYPE_CHECKING:
    from .buffer import Buffer
    from .pointer import Address
    from .pool import MemoryPool


class IPCBufferDescriptor:
    """What another process opens a buffer with: `Buffer.from_ipc_descriptor`. Can be pickled."""

    __slots__ = ("_data", "_size")
    _data: bytes
    _size: int

    def __init__(self) -> None:
        raise TypeError("an IPCBufferDescriptor comes from buffer.ipc_descriptor")

    @classmethod
    def _of(cls, data: bytes, size: int) -> IPCBufferDescriptor:
        self = cls.__new__(cls)
        self._data, self._size = data, size
        return self

    @property
    def size(self) -> int:
        """How many bytes the buffer has."""
        return self._size

    def __reduce__(self) -> tuple[Any, ...]:
        return IPCBufferDescriptor._of, (self._data, self._size)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, IPCBufferDescriptor):
            return NotImplemented
        return self._data == other._data and self._size == other._size

    def __hash__(self) -> int:
        return hash((self._data, self._size))


def describe(buffer: Buffer) -> IPCBufferDescriptor:
    """What another process opens `buffer` with. Source: cuMemPoolExportPointer."""
    address, resource = buffer._address, buffer.memory_resource
    if not isinstance(resource, Shareable):
        raise RuntimeError(f"{buffer!r} is for one process: it is of no pool that can be shared")
    resource.allocation_handle  # noqa: B018  # the driver exports buffers of exported pools alone
    context = context_of(resource.device_id)  # multiprocessing pickles in threads that have none
    exported = with_context(context, checked.cuMemPoolExportPointer, address)
    return IPCBufferDescriptor._of(bytes(exported.reserved), buffer.size)


def _require_valid(descriptor: IPCBufferDescriptor) -> None:
    """Raise ValueError for what no `ipc_descriptor` of a buffer is: it came from another process."""
    data, wanted = descriptor._data, len(CUmemPoolPtrExportData().reserved)
    if not isinstance(data, bytes) or len(data) != wanted:
        raise ValueError(f"an ipc_descriptor of a buffer has {wanted} bytes, this one has {shown(data)}")


def _require_within(address: int, size: int) -> None:
    """Raise ValueError if the memory at an address is smaller."""
    there = size_at(address)
    if size > there:
        raise ValueError(f"the ipc_descriptor is of {size} bytes, but the memory has {there}")


def open_buffer(cls: Any, resource: MemoryPool, descriptor: IPCBufferDescriptor, stream: Stream) -> Buffer:
    """The buffer behind `descriptor`. Source: cuMemPoolImportPointer.

    Raises ValueError for a descriptor that does not fit the memory: the other process may send anything.
    """
    if not hasattr(resource, "_ipc") or not isinstance(descriptor, IPCBufferDescriptor):
        given = f"{type(resource).__name__} and {type(descriptor).__name__}"
        raise TypeError(f"a buffer is opened with a memory resource and an ipc_descriptor, not with {given}")
    sharing = sharing_of(resource)
    if not sharing.is_mapped:
        raise RuntimeError(f"{resource!r} is this process's own: its buffers need not be opened")
    _require_valid(descriptor)
    context, size = context_of(resource.device_id), byte_count(descriptor.size)

    def make(cell: Address) -> None:
        with_context(context, sharing.open, cell, resource._pool, descriptor._data)
        with_context(context, _require_within, cell.value, size)

    made: Buffer = cls._adopt(make, size, resource, stream, context)
    return made


def reopen(resource: MemoryPool, descriptor: IPCBufferDescriptor) -> Buffer:
    """A buffer out of a pickle; given back in the default stream."""
    return open_buffer(upward.buffer, resource, descriptor, default_stream())
