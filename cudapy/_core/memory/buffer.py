"""Buffers: pieces of memory that a device or the host can use, and what is done with them in a stream."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, TypeVar

from ..._ffi.convert import word
from ..._ffi.handles import maker
from ..._ffi.interrupts import finalizer
from ...driver import CUdeviceptr, checked
from ..ownership import owned
from ..ownership.captures import capture_may_be_active, capture_of, free_outside_capture
from ..ownership.owned import Ownership, finalize, release
from ..streams.order import deallocate, deallocate_in_context
from ..streams.stream import (
    DEFAULT_ADDRESSES,
    LEGACY_DEFAULT_STREAM,
    PER_THREAD_DEFAULT_STREAM,
    IsStreamType,
    Stream,
)
from .array_protocols import exporting
from .ipc_buffer import Shared
from .pointer import Address, byte_count

if TYPE_CHECKING:
    from collections.abc import Callable

    from .resource import MemoryResource

    Self = TypeVar("Self", bound="Buffer")


class Buffer(Shared):
    """`size` bytes at an address: allocated by a MemoryResource, or those of another library (`from_handle`).

    Freed in the stream it was allocated in, after the work that is in it by then: with the last reference, by
    `close`, or at the end of a `with` block. Buffers with the same address and size are equal.

    Other libraries take it as an array of bytes: through DLPack and `__cuda_array_interface__` where kernels
    can use it, through `__array_interface__` and the buffer protocol (Python 3.12) where the host can. Wait
    for the work that writes it before the host reads.
    """

    __slots__ = (
        "_address",
        "_capture",
        "_owner",
        "_process",
        "_resource",
        "_size",
        "_stream",
    )
    _vital = "_address"
    # A slot that was not filled reads as None (see __getattr__): most are needed seldom.
    _address: int
    _capture: int | None  # the number of the one that allocates it, or is to free it
    _owner: object
    _process: owned.Process | None  # of a buffer that its __del__ frees; the others have an Ownership
    _resource: Any  # MemoryResource | None
    _size: int
    _stream: Any  # to free it in: Stream | None

    def __init__(self) -> None:
        raise TypeError("a Buffer comes from dev.allocate(), a MemoryResource or Buffer.from_handle()")

    @classmethod
    def from_handle(
        cls,
        ptr: int | CUdeviceptr | None,
        size: int,
        mr: MemoryResource | None = None,
        owner: object = None,
        *,
        stream: Stream | IsStreamType | None = None,
    ) -> Buffer:
        """The `size` bytes at `ptr`.

        With `mr` the buffer owns them, and gives them back with `mr.deallocate(ptr, size, stream=stream)`,
        in the default stream if none is named; else they belong to somebody else, to `owner` perhaps, which
        is kept alive.
        """
        if mr is not None and owner is not None:
            raise ValueError("Buffer.from_handle: the memory belongs to mr or to owner, not to both")
        if mr is not None and not hasattr(mr, "deallocate"):
            raise TypeError(f"Buffer.from_handle: mr must be a MemoryResource, not {type(mr).__name__}")
        in_stream = None if stream is None else Stream._accept(stream)
        buffer = cls._view(CUdeviceptr(ptr).value, byte_count(size), mr, in_stream)
        buffer._owner = owner
        if mr is not None and buffer._address:
            buffer._note(in_stream)
            buffer._own(in_stream)
        return buffer

    @classmethod
    def _view(cls: type[Self], address: int, size: int, resource: Any, stream: Stream | None = None) -> Self:
        """A buffer that frees nothing."""
        buffer = cls.__new__(cls)
        buffer._address, buffer._size = address, size
        buffer._resource, buffer._stream = resource, stream
        buffer._process = buffer._ownership = None
        return buffer

    @classmethod
    def _adopt(
        cls: type[Self],
        make: Callable[[Address], object],
        size: int,
        resource: MemoryResource,
        stream: Stream | None,
        context: int = 0,
    ) -> Self:
        """A buffer that owns the `size` bytes whose address `make(cell)` writes to its cell."""
        buffer = cls._view(0, size, resource, stream)
        if size:
            buffer._note(stream)
            cell = _null()
            buffer._stream = deallocation_stream = _to_free_in(stream)
            buffer._ownership = buffer._owner_of(cell, context, size)
            make(cell)
            buffer._address = cell.value
            if buffer._is_quick(deallocation_stream):
                process = owned.process
                cell.value = 0  # from here on the buffer itself owes it: Ctrl-C does not come between
                buffer._process = process
                buffer._ownership = None
        return buffer

    def _note(self, stream: Stream | None) -> None:
        """Note which capture allocates it: it alone can free the memory while it goes on."""
        if capture_may_be_active and stream is not None:
            self._capture = capture_of(stream._handle)

    def _is_quick(self, stream: Stream | None) -> bool:
        """Whether to free it in `stream` takes one call of cuMemFreeAsync, whatever is current."""
        plain = getattr(self._resource, "_free_async", None) is not None
        return plain and stream is not None and stream._address not in DEFAULT_ADDRESSES

    def _own(self, stream: Stream | None) -> None:
        """Free it in `stream` when the time comes."""
        deallocation_stream, ownership = _to_free_in(stream), self._ownership
        if ownership is not None:
            ownership.change(*self._recipe(deallocation_stream))
        elif self._is_quick(deallocation_stream):
            self._process = owned.process
        else:
            rest = self._recipe(deallocation_stream)
            Ownership.take_over(self, deallocate_in_context, Address(self._address), *rest)
        self._stream = deallocation_stream

    def _owner_of(self, cell: Address, context: int, size: int) -> Ownership:
        """What frees what is allocated in `cell`, as this buffer would be freed."""
        return Ownership(deallocate_in_context, cell, *self._recipe(self._stream, context, size))

    def _recipe(self, stream: Any, context: int = 0, size: int | None = None) -> tuple[Any, ...]:
        """How memory is freed, behind its address: what `deallocate_in_context` takes.

        Which stream a default stream is, and what a resource of the user's does, is up to the context.
        """
        context = context or (stream._context if stream is not None else 0)
        if not context and self._is_quick(stream):
            context = int(checked.cuStreamGetCtx(stream._handle))
        context = context or int(checked.cuCtxGetCurrent())
        return context, self._resource, self._size if size is None else size, stream, self._capture or 0

    def _retain(self) -> object:
        """What the memory belongs to from now on, with this buffer: it is freed once both are gone."""
        address = self._address
        with _sharing:
            ownership: Ownership | None = self._ownership
            if ownership is None or not ownership.is_shared:
                if self._capture and getattr(self._resource, "_is_ordered", False):
                    return None  # a node of a graph frees it, not whoever lets go of it last
                if self._process is not None:
                    rest = self._recipe(self._stream)
                    Ownership.take_over(self, deallocate_in_context, Address(address), *rest)
                    ownership = self._ownership
            if ownership is not None:
                ownership.share()
                return ownership
        owner = self._owner
        return owner._retain() or owner if isinstance(owner, Buffer) and not owner.is_closed else owner

    def _move(self, ownership: Ownership, address: int, size: int) -> None:
        """Be at another address, where its memory resource has put it; what was at the old one is freed."""
        before, self._ownership = self._ownership, ownership
        self._address, self._size = address, size  # no Ctrl-C comes between
        if before is not None:
            before.close()

    def set_deallocation_stream(self, stream: Stream | IsStreamType) -> None:
        """Free the memory in `stream`, after the work that is in it by then."""
        if stream is None:
            raise TypeError("set_deallocation_stream() takes a stream, not None")
        _, in_stream = self._address, Stream._accept(stream)
        if self._capture:  # memory of a graph may be freed by another one
            self._capture = capture_of(in_stream._handle) or self._capture
        if self._ownership is None and self._process is None:
            self._stream = in_stream
        else:
            self._own(in_stream)

    def close(self, stream: Stream | IsStreamType | None = None) -> None:
        """Free the memory in `stream`, or in the one it was allocated in; closing again does nothing.

        Raises BufferError while an array or a memoryview of the host shows the memory.
        """
        if exporting:
            self._require_no_views()
        if stream is not None and not self.is_closed:
            self.set_deallocation_stream(stream)
        if self._process is not None:
            self._free()
            return
        try:
            del self._address  # of two threads one gets past here
        except (AttributeError, RuntimeError):
            return
        ownership, self._ownership, self._owner = self._ownership, None, None
        if ownership is not None:
            ownership.close()

    def _free(self) -> None:
        """Give the memory back, unless an Ownership does. If interrupted, it is still to be done."""
        process = self._process
        if process is None or not process.alive:
            return
        free, handle = self._resource._free_async, self._stream._handle
        try:
            address = self._address
            box, cell = word(address), Address(address) if capture_may_be_active else None
            del self._address  # of two threads one gets past here, and no Ctrl-C comes from here to the call
        except (AttributeError, RuntimeError):
            return
        self._process = None
        try:
            if cell is None:
                if not free(box, handle):
                    return
                cell = Address(address)
            elif not free_outside_capture(free, cell, handle):
                return
            self._release(cell)
        except Exception:
            raise
        except BaseException:
            if cell is not None and cell.value:
                self._address, self._process = address, process
            raise

    __del__ = finalizer(_free, finalize)

    def _release(self, cell: Address) -> None:
        """Free the memory in the way of all other things: cuMemFreeAsync refused, or a capture may go on."""
        context, *rest = self._recipe(self._stream)
        release(context, deallocate, (cell, *rest))

    # -- what it is -------------------------------------------------------------------------------

    @property
    def handle(self) -> int:
        """The address of the first byte; 0 once it is closed."""
        try:
            return self._address
        except RuntimeError:
            return 0

    @property
    def size(self) -> int:
        """How many bytes it has; 0 once it is closed."""
        try:
            self._address  # noqa: B018
        except RuntimeError:
            return 0
        return self._size

    @property
    def memory_resource(self) -> MemoryResource | None:
        """What it was allocated from; None for memory of another library, and once it is closed."""
        resource: MemoryResource | None = None if self.is_closed else self._resource
        return resource

    @property
    def owner(self) -> object:
        """The object that was named as the memory's owner."""
        return self._owner

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, Buffer):
            return NotImplemented
        return self.handle == other.handle and self.size == other.size

    def __hash__(self) -> int:
        try:
            return hash((self._address, self._size))
        except RuntimeError:
            return hash((0, 0))

    def __repr__(self) -> str:
        name = type(self).__name__
        return f"<{name}, closed>" if self.is_closed else f"<{name} {self._address:#x}, {self._size} bytes>"

    def _repr_html_(self) -> str:
        from ..html_tables import html_table, memory_size

        name = type(self).__name__
        if self.is_closed:
            return html_table(name, [("closed", "its memory was given back")])
        who = {(True, True): "device and host", (True, False): "device", (False, True): "host"}
        resource = self._resource
        rows = (
            ("address", f"{self._address:#x}"),
            ("size", memory_size(self._size)),
            ("device", self.device_id if self.device_id >= 0 else None),
            ("accessible from", who.get((self.is_device_accessible, self.is_host_accessible))),
            ("allocated by", None if resource is None else type(resource).__name__),
        )
        return html_table(name, rows)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            return None if name in _UNFILLED else super().__getattr__(name)


def _to_free_in(stream: Stream | None) -> Stream | None:
    """The stream in which memory of `stream` is freed."""
    if stream is PER_THREAD_DEFAULT_STREAM:
        # Whichever thread frees the memory has a stream of its own of that name; this one waits for all.
        return LEGACY_DEFAULT_STREAM
    return None if stream is None else stream._for_deallocation()


_null = maker(Address)
_sharing = threading.Lock()  # two graphs may be the first to use a buffer at the same time

_UNFILLED = frozenset(Buffer.__slots__) - {"_address"} | {
    "_attributes",
    "_descriptor",
    "_exports",
    "_ownership",
}
