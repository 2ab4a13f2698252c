"""Buffers: pieces of memory that a device or the host can use, and what is done with them in a stream."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, overload

from ..._bindings.errors import CUDAError
from ..._ffi import dlpack as dl
from ..._ffi import memory
from ..._ffi.buffers import start_of
from ..._ffi.handles import maker
from ..._ffi.shown import type_name
from ...driver import CUdeviceptr, checked
from ..closable import SlotClosable
from ..context.current import current_context, with_context
from ..context.green import green_contexts, kept_number
from ..ownership import owned
from ..ownership.captures import Recorded, captures, is_capturing, recorded_in, too_early
from ..ownership.keep_alive import keep_alive_for_graph, keep_alive_for_work
from ..ownership.owned import NOWHERE, Owned, Ownership, Release
from ..streams.order import queue
from ..streams.stream import DEFAULT_ADDRESSES, IsStreamType, Stream, deallocation_stream
from ..upward import upward
from . import copies
from .array_protocols import Hold, device_of, export_device
from .deallocation import deallocate_in_context
from .dlpack import capsule
from .host_arrays import elements, empty, host_bytes
from .ipc_buffer import IPCBufferDescriptor, describe, open_buffer, reopen
from .pointer import Address, Location, byte_count, locate
from .resource import ON_DEVICE

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import NoReturn, SupportsIndex

    import numpy
    from numpy.typing import DTypeLike, NDArray

    from ..arrays.strided import StridedMemoryView
    from .copies import CopyOptions
    from .pool import MemoryPool
    from .resource import MemoryResource

    Self = TypeVar("Self", bound="Buffer")
    Scalar = TypeVar("Scalar", bound=numpy.generic)

_null = maker(Address)


def _by_name(call: str) -> TypeError:
    """For a stream that is given by position, as `allocate` takes it."""
    return TypeError(f"Buffer.{call.partition('(')[0]}: the stream is given by name: {call}")


class Buffer(SlotClosable, Owned):
    """`size` bytes of memory, allocated by a MemoryResource or by another library (`from_handle`).

    Freed in the stream it was allocated in, after the work queued there by then: with the last reference, by
    `close`, or at the end of a `with` block. Buffers with the same address and size are equal.

    Other libraries take it as an array of bytes: through DLPack and `__cuda_array_interface__` where kernels
    can use it, through `__array_interface__` and the buffer protocol (Python 3.12) where the host can. Wait
    for the work that writes it before the host reads.
    """

    __slots__ = (
        "_address",
        "_context",
        "_descriptor",
        "_hold",
        "_location",
        "_owner",
        "_recorded",
        "_resource",
        "_size",
        "_stream",
    )
    _vital = "_address"
    _elsewhere: ClassVar = {
        "free": "close()",
        **dict.fromkeys(("get", "copy_to_host", "numpy", "cpu"), "download(dtype)"),
    }
    _address: int
    _context: int  # in which it is freed; 0: that of the stream
    _descriptor: IPCBufferDescriptor | None  # once it was asked for
    _hold: weakref.ref[Hold] | None  # what arrays in the memory keep alive, once there was one
    _location: Location | None  # once the driver was asked, of memory that has no resource
    _owner: object
    _recorded: Recorded | None  # by the capture that allocates it, or is to free it
    _resource: Any  # MemoryResource | None
    _size: int
    _stream: Stream | None  # to free it in

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
        """Wrap the `size` bytes at `ptr`.

        With `mr` the buffer owns the memory, and frees it with `mr.deallocate(ptr, size, stream=stream)`, in
        the default stream if none is given. Without `mr` it has another owner; `owner` is kept alive.
        """
        if mr is not None and owner is not None:
            raise ValueError("Buffer.from_handle: the memory belongs to mr or to owner, not to both")
        if mr is not None and not hasattr(mr, "deallocate"):
            raise TypeError(f"Buffer.from_handle: mr must be a MemoryResource, not {type_name(mr)}")
        in_stream = None if stream is None else Stream._accept(stream)
        buffer = cls._view(CUdeviceptr(ptr).value, byte_count(size), mr, in_stream)
        buffer._owner = owner
        if mr is not None and buffer._address:
            buffer._note(in_stream)
            buffer._owed = Address(buffer._address)
            buffer._process = owned.process
        return buffer

    @classmethod
    def _view(cls: type[Self], address: int, size: int, resource: Any, stream: Stream | None = None) -> Self:
        """A buffer that frees nothing."""
        buffer = cls.__new__(cls)
        buffer._address, buffer._size = address, size
        buffer._resource, buffer._stream = resource, stream
        buffer._process = NOWHERE
        buffer._recorded = None
        buffer._owner = buffer._ownership = buffer._hold = buffer._location = buffer._descriptor = None
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
            buffer._note(stream, context, getattr(resource, "_is_ordered", False))
            cell = _null()
            buffer._owed, buffer._process = cell, owned.process
            make(cell)
            buffer._address = cell.value
        return buffer

    def _note(self, stream: Stream | None, context: int = 0, allocates: bool = False) -> None:
        """Note how memory is freed that is allocated in `stream`, and by which capture, if by any."""
        if captures.may_be_active and stream is not None:
            self._recorded = recorded_in(stream._handle, allocates)
        self._free_in(deallocation_stream(stream), context)

    def _free_in(self, stream: Stream | None, context: int = 0) -> None:
        """Free it in `stream`: by one C call, if that is all its resource would do.

        Which stream a default stream is, and what a resource of the user's does, is up to the context.
        """
        quick, argument = getattr(self._resource, "_free_async", None), None
        if quick is None or stream is None or stream._address in DEFAULT_ADDRESSES:
            quick = None
            context = context or (0 if stream is None else stream._context) or current_context()
            if green_contexts:
                context = kept_number(context)
        else:
            argument, context = stream._handle, 0
            if self._recorded is not None:  # which asks whether it ever was there
                quick = None
        self._stream, self._context = stream, context
        self._quick, self._argument, self._spare = quick, argument, None  # one step: interrupt_safe

    def _how(self) -> Release:
        where = self._context, self._resource, self._size, self._stream, self._recorded
        return Release(0, deallocate_in_context, where)

    def _owning(self, cell: Address, context: int, size: int) -> Ownership:
        """What frees `size` bytes whose address comes to `cell`, as this buffer is freed."""
        return Ownership(
            deallocate_in_context, cell, context, self._resource, size, self._stream, self._recorded
        )

    def _retain(self) -> object:
        """What the memory belongs to from now on, with this buffer: it is freed once both are gone."""
        self._address  # noqa: B018  # raises what a closed buffer has to say
        return self._belongs_to()

    def _belongs_to(self) -> object:
        ownership = self._ownership
        is_shared = ownership is not None and ownership.is_shared
        if self._is_of_graph and not is_shared:
            return None  # a node of a graph frees it, not whoever lets go of it last
        owner = self._shared() or self._owner
        return owner._retain() or owner if isinstance(owner, Buffer) and not owner.is_closed else owner

    @property
    def _is_of_graph(self) -> bool:
        """Whether a graph allocates it."""
        return self._recorded is not None and getattr(self._resource, "_is_ordered", False)

    def _move(self, ownership: Ownership, address: int, size: int) -> None:
        """Be at another address, where its memory resource has put it; what was at the old one is freed."""
        if self._process.alive:
            self._hand_over()
        self._leave_to_arrays()
        self._hold = None  # of arrays at the address from now on
        before, self._ownership = self._ownership, ownership
        self._address, self._size = address, size  # one step: interrupt_safe
        if before is not None:
            before.close()

    def set_deallocation_stream(self, stream: Stream | IsStreamType) -> None:
        """Free the memory in `stream`, after the work queued there by then."""
        if stream is None:
            raise TypeError("set_deallocation_stream() takes a stream, not None")
        _, in_stream = self._address, Stream._accept(stream)
        if self._recorded is not None:  # memory of a graph may be freed by another one
            self._recorded = recorded_in(in_stream._handle, False, self._recorded)
        if self._ownership is None and not self._process.alive:
            self._stream = in_stream
            return
        self._free_in(deallocation_stream(in_stream))
        if self._ownership is not None:
            self._ownership.change(self._how(), self._quick, self._argument)

    def close(self, stream: Stream | IsStreamType | None = None) -> None:
        """Free the memory in `stream`, or in the one it was allocated in; closing again does nothing.

        Memory that an array of another library or a memoryview shows is freed with the last of these.
        """
        if stream is not None and not self.is_closed:
            self.set_deallocation_stream(stream)
        try:
            del self._address
        except AttributeError:  # it was closed before
            if not self._process.alive and self._ownership is None:
                return
        if self._hold is not None:  # looked at after the address is gone: see _held
            self._leave_to_arrays()
        self._release(True)
        ownership, self._owner = self._ownership, None
        if ownership is not None:
            self._ownership = None
            ownership.close()

    def view(self, dtype: DTypeLike, shape: SupportsIndex | Sequence[int] | None = None) -> StridedMemoryView:
        """The memory as an array of `dtype` in C order, also for DLPack.

        dtype: what `numpy.dtype` takes, but for Python objects. shape: the extents of the axes, or an int for
        one axis; the view may be smaller than the buffer. None: one axis, all of the buffer. The view keeps
        the buffer alive, and cannot be used once that is closed. Raises ValueError for a shape that the
        buffer is too small for, and for a buffer that is not a whole number of elements.
        """
        self._address  # noqa: B018  # raises what a closed buffer has to say
        element, extents = elements(self._size, dtype, shape, "view")
        return upward.strided_view.from_buffer(self, extents, dtype=element)

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
        """The size in bytes; 0 once it is closed."""
        try:
            self._address  # noqa: B018
        except RuntimeError:
            return 0
        return self._size

    @property
    def device_id(self) -> int:
        """The ordinal of the device that has the memory; -1 for host memory."""
        address, mr = self._address, self._resource
        ordinal: int = self._located(address).device_id if mr is None else mr.device_id
        return ordinal

    @property
    def is_device_accessible(self) -> bool:
        """Whether kernels can access it."""
        address, mr = self._address, self._resource
        return bool(self._located(address).device if mr is None else mr.is_device_accessible)

    @property
    def is_host_accessible(self) -> bool:
        """Whether the host can access it."""
        address, mr = self._address, self._resource
        return bool(self._located(address).host if mr is None else mr.is_host_accessible)

    @property
    def is_managed(self) -> bool:
        """Whether it is managed memory, according to the resource or the driver."""
        address, mr = self._address, self._resource
        return (mr is not None and bool(mr.is_managed)) or self._located(address).managed

    def _located(self, address: int) -> Location:
        if self._location is None:
            self._location = locate(address)
        return self._location

    @property
    def memory_resource(self) -> MemoryResource | None:
        """What it was allocated from; None for memory of another library, and once it is closed."""
        resource: MemoryResource | None = None if self.is_closed else self._resource
        return resource

    @property
    def owner(self) -> object:
        """The `owner` given to `from_handle`."""
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

    # -- copies and fills ----------------------------------------------------------------------------

    def copy_to(
        self,
        dst: Any = None,
        *unnamed: NoReturn,
        stream: Stream | IsStreamType | None = None,
        options: CopyOptions | None = None,
    ) -> Any:
        """Copy into `dst` in `stream`, and return `dst`.

        dst: a Buffer of this size; a writable host array (numpy, bytearray: contiguous), which gets as many
        bytes as it has, and may be read after `stream.sync()`; or None for a new Buffer from the same memory
        resource. options: hints for a copy between buffers. Source: cuMemcpyAsync.
        """
        if unnamed:
            raise _by_name("copy_to(dst, stream=...)")
        source = self._address
        in_stream = stream if type(stream) is Stream else Stream._accept(stream)
        if dst is None:
            if self._resource is None:
                raise ValueError("copy_to() needs a dst: this Buffer has no memory resource to allocate one")
            dst = self._resource.allocate(self._size, stream=in_stream)
        if isinstance(dst, Buffer):
            dst._copy_buffer(self, in_stream, options)
            return dst
        self._without(options)
        host = host_bytes(dst, "copy_to: dst")
        size = self._fitting(host.nbytes, "copy_to")
        if size:
            address = start_of(host, False, "copy_to: dst")
            if self.is_host_accessible:  # cuMemcpyDtoHAsync takes memory of the device alone
                queue(in_stream, checked.cuMemcpyAsync, address, source, size)
            else:
                queue(in_stream, checked.cuMemcpyDtoHAsync, address, source, size)
            self._keep_alive_for(in_stream, dst)
        return dst

    def copy_from(
        self,
        src: Any,
        *unnamed: NoReturn,
        stream: Stream | IsStreamType | None = None,
        options: CopyOptions | None = None,
    ) -> None:
        """Copy `src` into this buffer in `stream`.

        src: a Buffer of this size, or a host array (numpy, bytes: contiguous) of at most this size. It is
        kept alive until the copy is done; a host array in page-locked memory must not be changed before.
        options: hints for a copy between buffers. Source: cuMemcpyAsync.
        """
        if unnamed:
            raise _by_name("copy_from(src, stream=...)")
        target = self._address
        in_stream = stream if type(stream) is Stream else Stream._accept(stream)
        if isinstance(src, Buffer):
            self._copy_buffer(src, in_stream, options)
            return
        self._without(options)
        host = host_bytes(src, "copy_from: src")
        size = self._fitting(host.nbytes, "copy_from")
        if size:
            address = start_of(host, True, "copy_from: src")
            if self.is_host_accessible:
                queue(in_stream, checked.cuMemcpyAsync, target, address, size)
            else:
                queue(in_stream, checked.cuMemcpyHtoDAsync, target, address, size)
            self._keep_alive_for(in_stream, src)

    def _copy_buffer(self, src: Buffer, stream: Stream, options: CopyOptions | None) -> None:
        size = self._size
        if src._size != size:
            raise ValueError(f"a Buffer of {src._size} bytes cannot be copied to one of {size} bytes")
        if options is not None:
            copies.copy_batch(stream, [src], [self], options=options)
        elif size:
            try:
                copies.queue_copy(self._address, src._address, size, stream)
            except CUDAError as error:
                raise copies.explained(error, src, self) from None
            resource = src._resource
            if stream._owner is None and resource is self._resource and type(resource) in ON_DEVICE:
                return  # the usual case of what follows
            self._keep_alive_for(stream, src)

    @overload
    def download(
        self,
        dtype: type[Scalar] | numpy.dtype[Scalar],
        shape: SupportsIndex | Sequence[int] | None = None,
        *,
        stream: Stream | IsStreamType | None = None,
    ) -> NDArray[Scalar]: ...

    @overload
    def download(
        self,
        dtype: DTypeLike,
        shape: SupportsIndex | Sequence[int] | None = None,
        *,
        stream: Stream | IsStreamType | None = None,
    ) -> NDArray[Any]: ...

    def download(
        self,
        dtype: DTypeLike,
        shape: SupportsIndex | Sequence[int] | None = None,
        *unnamed: NoReturn,
        stream: Stream | IsStreamType | None = None,
    ) -> NDArray[Any]:
        """Copy the elements into a new NumPy array in `stream`, wait for the stream, and return the array.

        dtype, shape: as for `view`; the array may be smaller than the buffer. stream: None is the stream that
        the buffer was allocated in. The wait is that of `Stream.sync`: it raises what went wrong in the
        stream, and Ctrl-C ends it. Raises ValueError for a shape that the buffer is too small for, CUDAError
        while the stream is being captured. Source: cuMemcpyDtoHAsync, cuStreamSynchronize.
        """
        if unnamed:
            raise _by_name("download(dtype, shape, stream=...)")
        self._address  # noqa: B018  # raises what a closed buffer has to say
        array = empty(self._size, dtype, shape)
        if stream is None:
            context = getattr(self, "_context", 0)  # not known of memory that another owns
            with_context(context, self._download, array, self._stream)
        else:
            self._download(array, stream)
        return array

    def _download(self, array: NDArray[Any], stream: Stream | IsStreamType | None) -> None:
        in_stream = Stream._accept(stream)
        if captures.may_be_active and is_capturing(in_stream):
            raise too_early("download() waits for its copy, which is not possible")
        self.copy_to(array, stream=in_stream)
        in_stream.sync()

    def _fitting(self, size: int, what: str) -> int:
        if size > self._size:
            raise ValueError(f"{what}: the host array has {size} bytes, this Buffer has {self._size}")
        return size

    def _without(self, options: CopyOptions | None) -> None:
        if options is not None:
            raise ValueError("options are for a copy between buffers, not for one with a host array")

    def _keep_alive_for(self, stream: Stream, other: Any) -> None:
        """Keep alive what a copy in `stream` uses, except for buffers that are freed in stream order.

        In a GraphBuilder that is all of it.
        """
        if stream._owner is not None and keep_alive_for_graph(stream._owner, self, other):
            return
        kept = [x for x in (self, other) if not isinstance(x, Buffer) or x.is_host_accessible]
        if kept:
            keep_alive_for_work(stream, *kept)

    def fill(self, value: Any, *unnamed: NoReturn, stream: Stream | IsStreamType | None = None) -> None:
        """Fill the buffer in `stream` with a byte, or a pattern of 1, 2 or 4 bytes that divides its size.

        value: an int from 0 to 255, or bytes, a numpy scalar, anything of 1, 2 or 4 bytes.
        Source: cuMemsetD8Async, cuMemsetD16Async, cuMemsetD32Async.
        """
        if unnamed:
            raise _by_name("fill(value, stream=...)")
        address, size = self._address, self._size
        in_stream = stream if type(stream) is Stream else Stream._accept(stream)
        if type(value) is int and 0 <= value <= 255 and size:
            copies.queue_fill(address, value, size, in_stream)
        else:
            function, pattern, count = copies.fill_of(value, size)
            if not count:
                return
            queue(in_stream, function, address, pattern, count)
        if in_stream._owner is not None:
            keep_alive_for_graph(in_stream._owner, self)

    # -- other libraries -----------------------------------------------------------------------------

    def _held(self) -> Hold:
        """What an array in the memory keeps alive. Raises RuntimeError for a closed buffer."""
        hold = None if self._hold is None else self._hold()
        if hold is None:
            hold, owner = Hold(self), self._owner
            if isinstance(owner, Buffer) and not owner.is_closed:
                hold.of_owner = owner._held()  # which may be closed before this
            self._hold = weakref.ref(hold)
        self._address  # noqa: B018  # whoever closes it meanwhile sees the hold, or is seen here
        return hold

    def _leave_to_arrays(self) -> None:
        """Let the arrays in the memory have it: the last of them frees it.

        Not the memory of a graph, which a node frees, nor what OpenGL or EGL get back.
        """
        hold = None if self._hold is None else self._hold()
        if hold is None or getattr(self._resource, "_is_lent", False):
            return
        owner = self._belongs_to()
        if owner is not None:  # else another thread has done this
            hold.owner = owner

    def _exported(self) -> Any:
        """The memory for the host, as an object with the buffer protocol."""
        return memory.exported(self._address, self._size, self._held())

    def __dlpack__(
        self,
        *,
        stream: int | None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        address = self._address
        device = export_device(self, stream, dl_device, copy)
        array = dl.Described(address, *device, (self._size,), (1,), dl.INT, 8, 1, False)
        return capsule(self._held(), array, max_version)

    def __dlpack_device__(self) -> tuple[int, int]:
        return device_of(self)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        address, stream = self._address, self._stream
        if not self.is_device_accessible:
            raise AttributeError(f"{self!r} is memory that no kernel can use")
        return {
            "data": (address, False),
            "shape": (self._size,),
            "typestr": "|u1",
            "strides": None,
            "version": 3,
            "stream": None if stream is None else int(stream._handle),
        }

    @property
    def __array_interface__(self) -> dict[str, Any]:
        self._address  # noqa: B018  # raises what a closed buffer has to say
        if not self.is_host_accessible:
            raise AttributeError(f"{self!r} is not in host memory")
        return {"data": self._exported(), "shape": (self._size,), "typestr": "|u1", "version": 3}

    def __array__(self, *arguments: Any, **keywords: Any) -> Any:
        raise TypeError(f"NumPy cannot read {self!r}, which is not in host memory: download(dtype) copies it")

    def __buffer__(self, flags: int) -> memoryview:
        self._address  # noqa: B018  # raises what a closed buffer has to say
        if not self.is_host_accessible:
            raise BufferError(f"{self!r} is not in host memory: download(dtype) copies it")
        return memoryview(self._exported()).cast("B")

    def __release_buffer__(self, view: memoryview) -> None:
        """Give a view back. NumPy keeps what it shows only of objects that have this method."""
        view.release()

    # -- other processes -----------------------------------------------------------------------------

    @property
    def is_mapped(self) -> bool:
        """Whether another process allocated it."""
        return not self.is_closed and getattr(self._resource, "is_mapped", False)

    @property
    def ipc_descriptor(self) -> IPCBufferDescriptor:
        """The descriptor with which another process opens this buffer, once it has the memory resource.

        Needs a memory resource with `ipc_enabled`. Source: cuMemPoolExportPointer.
        """
        if self._descriptor is None:
            self._descriptor = describe(self)
        return self._descriptor

    def get_ipc_descriptor(self) -> IPCBufferDescriptor:
        """The same as `ipc_descriptor`."""
        return self.ipc_descriptor

    @classmethod
    def from_ipc_descriptor(
        cls,
        mr: MemoryPool,
        ipc_descriptor: IPCBufferDescriptor,
        stream: Stream | IsStreamType | None = None,
    ) -> Buffer:
        """The buffer of another process, here; given back in `stream`, before the other process frees it.

        mr: the memory resource as it is in this process, see `DeviceMemoryResource.from_allocation_handle`.
        Source: cuMemPoolImportPointer.
        """
        return open_buffer(cls, mr, ipc_descriptor, Stream._accept(stream))

    def __reduce__(self) -> tuple[Any, ...]:
        return reopen, (self._resource, self.ipc_descriptor)


upward.buffer = Buffer
