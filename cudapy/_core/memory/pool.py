"""Memory pools of the driver: allocation and release in the order of a stream."""

from __future__ import annotations

import weakref
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any
from uuid import UUID

from ... import driver
from ..._bindings.errors import CUDAError
from ..._ffi.results import one
from ..._ffi.status_calls import SIZE, note
from ...driver import (
    CUdeviceptr,
    CUmemAllocationHandleType,
    CUmemoryPool,
    CUmemPool_attribute,
    CUmemPoolProps,
    CUresult,
    checked,
)
from ..closable import SlotClosable
from ..context.current import RelaxedCaptureMode, c_function, current_context, owning, when_prepared
from ..context.green import green_contexts, kept_number
from ..ownership import owned
from ..ownership.captures import captures, state
from ..ownership.deferred import deferred
from ..ownership.owned import Prerequisite
from ..streams.stream import LEGACY_DEFAULT_STREAM, Stream, default_stream
from . import ipc
from .buffer import Buffer
from .pointer import Address, byte_count
from .pool_attributes import MemoryPoolAttributes
from .pooled_buffer import allocate_into, allocator, free_async
from .resource import MemoryResource, empties

if TYPE_CHECKING:
    from collections.abc import Callable

    from ...driver import CUmemAllocationType, CUmemLocation
    from ..streams.event import Event
    from ..streams.stream import IsStreamType

FILE = CUmemAllocationHandleType.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
USED = CUmemPool_attribute.CU_MEMPOOL_ATTR_USED_MEM_CURRENT
KEEP_ALL = 2**64 - 1
QUICK = 2**30 - 1  # bytes: what Python compares fastest

_after_capture = deferred.after_capture
_THRESHOLD = CUmemPool_attribute.CU_MEMPOOL_ATTR_RELEASE_THRESHOLD
when_prepared += free_async, partial(allocator, Buffer)


def _threshold(function: str, pool: CUmemoryPool, value: Any) -> None:
    """Get or set it by a plain C call: the driver's functions would be written first, for each program."""
    status = c_function(function)(pool, int(_THRESHOLD), value)
    if status:
        raise driver.libcuda.error(function, CUresult(status), {"pool": pool, "attr": _THRESHOLD})


class MemoryPool(SlotClosable, MemoryResource):
    """A memory resource that has a pool of the driver: `DeviceMemoryResource` and its siblings.

    A pool that would return its memory to the system at every synchronisation is told to keep it.
    Source: cuMemAllocFromPoolAsync, cuMemFreeAsync.
    """

    _vital = "_pool"
    _is_ordered = True
    _buffer: type[Buffer] = Buffer
    _pool: CUmemoryPool
    # Only where `deallocate` is nothing but cuMemFreeAsync:
    _quick: tuple[
        Callable[..., Buffer], CUmemoryPool
    ]  # what makes its buffers and, while it is open, the pool
    _free_async: Any  # cuMemFreeAsync
    _ipc: ipc.Sharing | None

    def _make(
        self, function: Callable[..., object], *args: object, sharing: ipc.Sharing | None = None
    ) -> None:
        """Have the pool that `function(cell, *args)` makes, and own it."""
        cell = CUmemoryPool()
        destroy = _destroy_mapped if sharing is not None and sharing.is_mapped else _destroy
        ownership = Prerequisite(destroy, cell)
        function(cell, *args)
        self._set(CUmemoryPool(cell.value), ownership, sharing)

    def _set(
        self, pool: CUmemoryPool, ownership: Prerequisite | None = None, sharing: ipc.Sharing | None = None
    ) -> None:
        self._pool = pool
        self._ipc = sharing
        self._attributes: weakref.ref[MemoryPoolAttributes] | None = None
        self._ownership = ownership
        self._is_owned = ownership is not None
        if type(self).deallocate is MemoryPool.deallocate and not self.is_mapped:
            self._free_async = free_async()
            buffer: Any = self._buffer
            self._quick = allocator(buffer), CUmemoryPool(int(pool))
        if not self.is_mapped:
            with RelaxedCaptureMode():  # the driver refuses both during a capture
                value = one(SIZE)()
                _threshold("cuMemPoolGetAttribute", pool, value)
                if not value[0]:
                    value[0] = KEEP_ALL
                    _threshold("cuMemPoolSetAttribute", pool, value)

    def _create(
        self, kind: CUmemAllocationType, place: CUmemLocation, max_size: int = 0, ipc_enabled: bool = False
    ) -> None:
        """Have a pool of its own. Source: cuMemPoolCreate."""
        deferred.drain()  # perhaps of pools that had to wait for their memory
        properties = CUmemPoolProps(allocType=kind, location=place, maxSize=byte_count(max_size))
        if ipc_enabled:
            properties.handleTypes = ipc.supported(FILE)
        self._make(owning.cuMemPoolCreate, properties, sharing=ipc.Sharing() if ipc_enabled else None)

    def allocate(self, size: int, stream: Stream | IsStreamType | None = None) -> Buffer:
        """A Buffer of `size` bytes for later work in `stream`, and in others that wait for it."""
        # What a Stream that was used before takes, or the default stream: plain C calls, since the driver's
        # functions cost more than all the rest of this.
        if stream is None:
            stream = default_stream()
        try:
            make, pool = self._quick
            free_in, handle = stream._twin, stream._handle  # type: ignore[attr-defined]
        except AttributeError:
            return self._allocate(size, stream)
        if type(size) is not int or not 0 < size < QUICK or free_in is None or _after_capture:
            return self._allocate(size, stream)
        if captures.may_be_active and state(handle):  # then it is the memory of a graph
            return self._allocate(size, stream)
        if free_in is LEGACY_DEFAULT_STREAM:
            context = current_context()
            if green_contexts:
                context = kept_number(context)
            return make(size, pool, handle, self, free_in, None, None, context)
        return make(size, pool, handle, self, free_in, free_in._handle, self._free_async, 0)

    def _allocate(self, size: int, stream: Stream | IsStreamType | None) -> Buffer:
        """Allocate in any other stream and size."""
        if _after_capture:
            deferred.retry()
        in_stream, number = Stream._accept(stream), byte_count(size)
        if self.is_mapped:
            raise RuntimeError(f"{self!r} is the pool of another process, which alone can allocate from it")
        pool = self._pool

        def make(cell: Address) -> None:
            if number < QUICK:
                allocate_into(cell, number, pool, in_stream._handle)
            else:  # which may be more than C can be asked for
                owning.cuMemAllocFromPoolAsync(cell, number, pool, in_stream._handle)
                note(in_stream._handle)

        return self._buffer._adopt(make, number, self, in_stream)

    @empties
    def deallocate(
        self, ptr: int | CUdeviceptr, size: int, stream: Stream | IsStreamType | None = None
    ) -> None:
        """Free the memory once `stream` gets here; after `close` too."""
        in_stream = Stream._accept(stream)
        cell = Address.of(ptr)
        if self._ipc is None or self._ipc.gives_up(cell):
            owning.cuMemFreeAsync(cell, in_stream._handle)
            note(in_stream._handle)
            if self.is_mapped:  # of such a pool the driver does not say whether it is idle
                deferred.keep_alive_until(_Freed(in_stream.record()), self._ownership)

    @property
    def handle(self) -> CUmemoryPool:
        """The CUmemoryPool, null once it is closed."""
        try:
            return self._pool
        except RuntimeError:
            return CUmemoryPool()

    @property
    def is_handle_owned(self) -> bool:
        """Whether the pool is this object's, and closed with it; the default pools are the driver's."""
        return self._is_owned and not self.is_closed

    @property
    def attributes(self) -> MemoryPoolAttributes:
        """Its settings and figures, always as they are now; they stay good after `close`."""
        pool = self._pool
        attributes = None if self._attributes is None else self._attributes()
        if attributes is None:
            attributes = MemoryPoolAttributes(pool, self._ownership)
            self._attributes = weakref.ref(attributes)
        return attributes

    def trim(self, keep: int = 0) -> None:
        """Return unused memory to the system, all but `keep` bytes. Source: cuMemPoolTrimTo."""
        checked.cuMemPoolTrimTo(self._pool, byte_count(keep))

    def close(self) -> None:
        """Allocate no more. Buffers stay good; the pool goes now, or with the last of them and this object,
        when the work has ended in whose order they were freed.

        Source: cuMemPoolDestroy.
        """
        try:
            pool = self._pool
            del self._pool  # of two threads one gets past here
        except (AttributeError, RuntimeError):
            return
        keep = self.is_mapped
        try:
            with RelaxedCaptureMode():
                keep = keep or (self._is_owned and checked.cuMemPoolGetAttribute(pool, USED) > 0)
        except CUDAError:  # all is lost, or this is a fork of the process that has the pool
            keep = True
        with suppress(AttributeError):
            del self._quick
        if self._ipc is not None:
            self._ipc.close()
        if keep or self._ownership is None:
            return
        if self._attributes is None or self._attributes() is None:
            self._ownership.close()
        else:
            self._ownership = None  # the attributes have it

    # -- other processes --------------------------------------------------------------------------

    @property
    def is_ipc_enabled(self) -> bool:
        """Whether other processes can open its buffers."""
        return self._ipc is not None

    @property
    def is_mapped(self) -> bool:
        """Whether it is the pool of another process, of which this one can open buffers but allocate none."""
        return self._ipc is not None and self._ipc.is_mapped

    @property
    def uuid(self) -> UUID | None:
        """What it is known by in all processes that share it; None if it is not shared."""
        return None if self._ipc is None else self._ipc.uuid

    def __enter__(self) -> MemoryPool:
        return self


def _destroy(pool: CUmemoryPool) -> None:
    """Destroy a pool that is idle; CUDA_ERROR_NOT_READY for one that has memory to free.

    Drivers crash when a pool is destroyed of which memory is in use, at once or when something is next waited
    for, although they document that it is allowed; so that is not done. What a pool still has after
    cuMemPoolTrimTo is in use, or was not seen to be free: a program sees it by waiting.
    Source: cuMemPoolTrimTo, cuMemPoolDestroy.
    """
    captures.relaxed(_destroy_idle, pool)


def _destroy_mapped(pool: CUmemoryPool) -> None:
    captures.relaxed(owning.cuMemPoolDestroy, pool)


def _destroy_idle(pool: CUmemoryPool) -> None:
    try:
        checked.cuMemPoolTrimTo(pool, 0)
        rest = checked.cuMemPoolGetAttribute(pool, CUmemPool_attribute.CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT)
    except CUDAError as error:
        if error.code not in owned.RETRY_LATER:
            owning.cuMemPoolDestroy(pool)  # better so than never
        raise
    if rest:
        raise CUDAError("memory of the pool is yet to be freed", CUresult.CUDA_ERROR_NOT_READY)
    owning.cuMemPoolDestroy(pool)


class _Freed:
    """The end of a free, as the driver sees it: when something waits."""

    def __init__(self, event: Event) -> None:
        self._event = event

    @property
    def is_done(self) -> bool:
        if not self._event.is_done:
            return False
        checked.cuEventSynchronize(self._event._handle)
        return True
