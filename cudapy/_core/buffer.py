"""Buffers: pieces of memory that a device or the host can use, and what is done with them in a stream."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import driver
from .._errors import CUDAError
from ..driver import CUdeviceptr, CUmemorytype, CUpointer_attribute, CUresult, CUstreamCaptureStatus, checked
from .current import Uncaptured
from .graph.kept import keep_captured, keep_for
from .lifetime import Closable, Ownership, keep_until
from .stream import (
    DEFAULT_STREAMS,
    LEGACY_DEFAULT_STREAM,
    PER_THREAD_DEFAULT_STREAM,
    IsStreamType,
    Stream,
)

if TYPE_CHECKING:
    from .memory import MemoryResource


class Buffer(Closable):
    """`size` bytes at an address: allocated by a MemoryResource, or those of another library (`from_handle`).

    Freed in the stream it was allocated in, after the work that is in it by then: with the last reference, by
    `close`, or at the end of a `with` block.
    """

    __slots__ = ("_address", "_attributes", "_owner", "_resource", "_size", "_stream")
    _vital = "_address"
    _address: int
    _attributes: Location | None
    _owner: object
    _resource: MemoryResource | None
    _size: int
    _stream: Stream | None

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

        With `mr` the buffer owns them, and gives them back with `mr.deallocate(ptr, size, stream=stream)`;
        else they belong to somebody else, to `owner` perhaps, which is kept alive.
        """
        if mr is not None and owner is not None:
            raise ValueError("Buffer.from_handle: the memory belongs to mr or to owner, not to both")
        buffer = cls.__new__(cls)
        buffer._address = 0 if ptr is None else int(ptr)
        buffer._size = byte_count(size)
        buffer._resource = mr
        buffer._owner = owner
        buffer._ownership = None
        buffer._attributes = None
        buffer._stream = None if stream is None else Stream._accept(stream)
        if mr is not None and buffer._address:
            buffer._own()
        return buffer

    def _own(self) -> None:
        assert self._resource is not None
        stream = self._stream
        if stream is PER_THREAD_DEFAULT_STREAM:
            # Whichever thread frees the memory has a stream of its own of that name; this one waits for all.
            stream = LEGACY_DEFAULT_STREAM
        context = stream._context if stream is not None else 0
        self._ownership = Ownership(
            _deallocate,
            self._resource,
            self._address,
            self._size,
            None if stream is None else stream._lasting(),
            context=context or int(checked.cuCtxGetCurrent()),
        )

    def set_deallocation_stream(self, stream: Stream | IsStreamType) -> None:
        """Free the memory in `stream`, after the work that is in it by then."""
        address, self._stream = self._address, Stream._accept(stream)
        before = self._ownership
        if before is not None and address:
            self._own()
            before.forget()

    def close(self, stream: Stream | IsStreamType | None = None) -> None:
        """Free the memory in `stream`, or in the one it was allocated in; closing again does nothing."""
        if stream is not None and not self.is_closed:
            self.set_deallocation_stream(stream)
        super().close()
        self._owner = None

    # -- copies and fills -------------------------------------------------------------------------

    def copy_to(self, dst: Any = None, *, stream: Stream | IsStreamType | None = None) -> Any:
        """Copy into `dst` in `stream`, and return `dst`.

        dst: a Buffer of this size; a writable host array (numpy, bytearray: contiguous), which gets as many
        bytes as it has, and may be read after `stream.sync()`; or None for a new Buffer from the same memory
        resource. Source: cuMemcpyAsync.
        """
        source, in_stream = self._address, Stream._accept(stream)
        if dst is None:
            if self._resource is None:
                raise ValueError("copy_to() needs a dst: this Buffer has no memory resource to allocate one")
            dst = self._resource.allocate(self._size, stream=in_stream)
        if isinstance(dst, Buffer):
            dst.copy_from(self, stream=in_stream)
            return dst
        size = self._fitting(memoryview(dst).nbytes, "copy_to")
        if size:
            checked.cuMemcpyDtoHAsync(dst, source, size, in_stream._handle)
            _keep_for(in_stream, self, dst)
        return dst

    def copy_from(self, src: Any, *, stream: Stream | IsStreamType | None = None) -> None:
        """Copy `src` into this buffer in `stream`.

        src: a Buffer of this size, or a host array (numpy, bytes: contiguous) of at most this size. It is
        kept alive until the copy is done; a host array in page-locked memory must not be changed before.
        Source: cuMemcpyAsync.
        """
        target, in_stream = self._address, Stream._accept(stream)
        if isinstance(src, Buffer):
            if src._size != self._size:
                raise ValueError(
                    f"a Buffer of {src._size} bytes cannot be copied to one of {self._size} bytes"
                )
            if self._size:
                checked.cuMemcpyAsync(target, src._address, self._size, in_stream._handle)
                _keep_for(in_stream, self, src)
            return
        size = self._fitting(memoryview(src).nbytes, "copy_from")
        if size:
            checked.cuMemcpyHtoDAsync(target, src, size, in_stream._handle)
            _keep_for(in_stream, self, src)

    def _fitting(self, size: int, what: str) -> int:
        if size > self._size:
            raise ValueError(f"{what}: the host array has {size} bytes, this Buffer has {self._size}")
        return size

    def fill(self, value: Any, *, stream: Stream | IsStreamType | None = None) -> None:
        """Fill the buffer in `stream` with a byte, or a pattern of 1, 2 or 4 bytes that divides its size.

        value: an int from 0 to 255, or bytes, a numpy scalar, anything of 1, 2 or 4 bytes.
        Source: cuMemsetD8Async, cuMemsetD16Async, cuMemsetD32Async.
        """
        address, in_stream = self._address, Stream._accept(stream)
        if isinstance(value, int):
            if not 0 <= value <= 255:
                raise OverflowError(f"fill: {value} is not a byte; give a pattern of 2 or 4 bytes as bytes")
            pattern = bytes((value,))
        else:
            pattern = memoryview(value).tobytes()
        width = len(pattern)
        if width not in _MEMSET:
            raise ValueError(f"fill: the pattern has {width} bytes, not 1, 2 or 4")
        count, rest = divmod(self._size, width)
        if rest:
            raise ValueError(f"fill: {self._size} bytes are no multiple of the {width} of the pattern")
        if count:
            getattr(checked, _MEMSET[width])(
                address, int.from_bytes(pattern, "little"), count, in_stream._handle
            )
            keep_for(in_stream._owner, self)

    # -- what it is -------------------------------------------------------------------------------

    @property
    def handle(self) -> int:
        """The address of the first byte."""
        return self._address

    @property
    def size(self) -> int:
        """How many bytes it has."""
        return self._size

    @property
    def memory_resource(self) -> MemoryResource | None:
        """What it was allocated from; None for memory of another library."""
        return self._resource

    @property
    def owner(self) -> object:
        """The object that was named as the memory's owner."""
        return self._owner

    @property
    def device_id(self) -> int:
        """The ordinal of the device that has the memory; -1 for host memory."""
        return self._located().device_id

    @property
    def is_device_accessible(self) -> bool:
        """Whether kernels can use it."""
        return self._located().device

    @property
    def is_host_accessible(self) -> bool:
        """Whether Python can."""
        return self._located().host

    @property
    def is_managed(self) -> bool:
        """Whether it moves between host and device by itself."""
        return self._located().managed

    @property
    def is_mapped(self) -> bool:
        """Whether another process allocated it: False."""
        return False

    def _located(self) -> Location:
        if self._attributes is None:
            mr, address = self._resource, self._address
            if mr is None:
                self._attributes = locate(address)
            else:
                self._attributes = Location(
                    mr.device_id, mr.is_device_accessible, mr.is_host_accessible, mr.is_managed
                )
        return self._attributes

    def __repr__(self) -> str:
        return "<Buffer, closed>" if self.is_closed else f"<Buffer {self._address:#x}, {self._size} bytes>"


class Location(NamedTuple):
    """Where memory is, and who can use it."""

    device_id: int
    device: bool
    host: bool
    managed: bool


def locate(address: int) -> Location:
    """What the driver knows about an address. Source: cuPointerGetAttribute."""
    try:
        kind = checked.cuPointerGetAttribute(CUpointer_attribute.CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address)
    except CUDAError as error:
        if error.code != CUresult.CUDA_ERROR_INVALID_VALUE:
            raise
        return Location(-1, False, True, False)  # memory that CUDA has never heard of
    managed = checked.cuPointerGetAttribute(CUpointer_attribute.CU_POINTER_ATTRIBUTE_IS_MANAGED, address)
    if kind == CUmemorytype.CU_MEMORYTYPE_HOST and not managed:
        return Location(-1, True, True, False)
    device = checked.cuPointerGetAttribute(CUpointer_attribute.CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, address)
    return Location(int(device), True, bool(managed), bool(managed))


_MEMSET = {1: "cuMemsetD8Async", 2: "cuMemsetD16Async", 4: "cuMemsetD32Async"}


def byte_count(size: int) -> int:
    """`size` as an int. Raises TypeError, or ValueError below 0."""
    number = operator.index(size)
    if number < 0:
        raise ValueError(f"a size in bytes cannot be {number}")
    return number


def _deallocate(resource: MemoryResource, address: int, size: int, stream: Stream | None) -> None:
    """Free what nobody refers to any more: not into a capture, and without harm to one under way."""
    if stream is not None and stream in DEFAULT_STREAMS:
        # What is done in a default stream spoils the capture of another, unless the thread is relaxed.
        if is_capturing(stream):
            raise _captured_error()
        with Uncaptured():
            resource.deallocate(address, size, stream=stream)
        return
    try:
        resource.deallocate(address, size, stream=stream)
    except CUDAError as error:
        # In a stream that is being captured the driver frees nothing but the memory of graphs.
        refused = error.code == CUresult.CUDA_ERROR_INVALID_VALUE
        if refused and stream is not None and is_capturing(stream):
            raise _captured_error() from None
        raise


def _captured_error() -> CUDAError:
    return CUDAError(
        "a Buffer cannot be freed in a stream that is being captured",
        CUresult.CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
    )


def is_capturing(stream: Stream) -> bool:
    """Whether what is done in `stream` goes into a graph. Source: cuStreamIsCapturing."""
    status, capture = driver.cuStreamIsCapturing(stream._handle)
    if status == CUresult.CUDA_ERROR_STREAM_CAPTURE_IMPLICIT:
        return True  # the legacy stream, while a blocking one captures
    return not status and capture != CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_NONE


def _keep_for(stream: Stream, *operands: object) -> None:
    """Keep alive what a copy in `stream` reads or writes, except for buffers that are freed in stream order.

    What is captured is kept as long as the graph may run; in a GraphBuilder that is all of it.
    """
    if stream._owner is not None and keep_for(stream._owner, *operands):
        return
    kept = [thing for thing in operands if not isinstance(thing, Buffer) or thing.is_host_accessible]
    if not kept:
        return
    if is_capturing(stream):
        keep_captured(stream._handle, *kept)
    else:
        keep_until(stream.record(), *kept)
