"""Buffers of a pool in a stream of the program's: allocated and freed by one C call each."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from ... import driver
from ..._ffi.handles import maker
from ..._ffi.status_calls import SIZE, Goes, InSlot, Makes, Noted, give_lane
from ...driver import CUmemoryPool, CUstream
from ..context.current import c_function, filling_function, status_function
from ..ownership import owned
from ..ownership.captures import captures
from ..ownership.owned import give_release_lane, template
from .buffer import Buffer
from .pointer import Address

_null = maker(Address)
_ALLOCATE, _FREE = "cuMemAllocFromPoolAsync", "cuMemFreeAsync"
_NOTHING = dict.fromkeys(("_recorded", "_owner", "_ownership", "_spare", "_hold", "_location", "_descriptor"))


@cache
def free_async() -> Any:
    """cuMemFreeAsync."""
    return status_function(_FREE, Address, Noted(CUstream))


@cache
def _allocates() -> Any:
    return filling_function(_ALLOCATE, Address, SIZE, CUmemoryPool, Noted(CUstream))


def allocate_into(cell: Address, size: int, pool: CUmemoryPool, handle: CUstream) -> None:
    """Have a cell get the address of new memory. Raises CUDAError. Source: cuMemAllocFromPoolAsync."""
    if status := _allocates()(cell, size, pool, handle):
        cell.value = 0
        not_allocated(status, size, pool, handle)


@cache
def allocator(cls: Any) -> Callable[..., Buffer]:
    """What makes a Buffer of a class, whose size is not 0, in a stream that is not captured.

    It takes the size, the CUmemoryPool, the CUstream, the pool as the memory resource, and how the Buffer is
    freed: the Stream; the CUstream of that one, cuMemFreeAsync and 0, or None, None and a context if that
    decides which stream it is. Source: cuMemAllocFromPoolAsync.
    """
    new, alloc = cls.__new__, _allocates()

    def allocate(
        size: int, pool: CUmemoryPool, handle: CUstream, resource: Any, stream: Any, free_in: Any, free: Any,
        context: int,
    ) -> Buffer:  # fmt: skip
        buffer: Buffer = new(cls)
        buffer._size, buffer._resource, buffer._stream = size, resource, stream
        buffer._argument, buffer._quick, buffer._context = free_in, free, context
        buffer._recorded = None
        buffer._owner = buffer._ownership = buffer._spare = None
        buffer._hold = buffer._location = buffer._descriptor = None
        cell = buffer._owed = _null()  # owed is what C writes there
        buffer._process = owned.process
        if status := alloc(cell, size, pool, handle):
            cell.value = 0
            not_allocated(status, size, pool, handle)
        buffer._address = cell.value
        return buffer

    takes = (
        (1, Goes("_size", SIZE)),
        (2, CUmemoryPool),
        (3, Noted(CUstream)),
        (0, Goes("_resource")),
        (0, Goes("_stream")),
        (0, Goes("_argument")),
        (0, Goes("_quick")),
        (0, Goes("_context")),
    )
    made = template(cls, **_NOTHING)
    makes = Makes(made, Address, ("_owed",), number="_address")
    give_lane(allocate, c_function(_ALLOCATE), takes, not_allocated, makes=makes)
    _give_release_lanes()
    return allocate


def not_allocated(status: int, size: int, pool: CUmemoryPool, handle: CUstream, *_: object) -> None:
    """Raise what a status says."""
    arguments = {"bytesize": size, "pool": pool, "hStream": handle}
    raise driver.libcuda.error(_ALLOCATE, driver.CUresult(status), arguments)


@cache
def _give_release_lanes() -> None:
    """Have such a Buffer freed without a step of Python, where that is possible."""
    handles = InSlot(Buffer, "_owed", Address, more=True), Noted(InSlot(Buffer, "_argument", CUstream))
    free, may_be_active = c_function(_FREE), [captures.may_be_active]
    plain = {"_quick": free_async(), "_ownership": None}
    unseen = {**plain, "_hold": None, "_owner": None}
    give_release_lane(Buffer.close, free, handles, unseen, gone="_address", empty=may_be_active, optional=1)
    give_release_lane(Buffer.__del__, free, handles, plain, empty=may_be_active)
