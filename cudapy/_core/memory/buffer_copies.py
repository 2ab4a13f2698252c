"""What is done with the bytes of a buffer in a stream: copies and fills."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from ..._errors import CUDAError
from ..._ffi.buffers import start_of
from ...driver import CUresult, checked
from ..ownership.graph_references import keep_for as graph_keeps
from ..streams.order import keep_for, queue
from ..streams.stream import Stream
from . import copies
from .array_protocols import Exchanged, host_bytes

if TYPE_CHECKING:
    from ..streams.stream import IsStreamType
    from .buffer import Buffer
    from .copies import CopyOptions


class Bytes(Exchanged):
    """The part of a Buffer that copies and fills."""

    __slots__ = ()
    _resource: Any

    def copy_to(
        self,
        dst: Any = None,
        *,
        stream: Stream | IsStreamType | None = None,
        options: CopyOptions | None = None,
    ) -> Any:
        """Copy into `dst` in `stream`, and return `dst`.

        dst: a Buffer of this size; a writable host array (numpy, bytearray: contiguous), which gets as many
        bytes as it has, and may be read after `stream.sync()`; or None for a new Buffer from the same memory
        resource. options: hints for a copy between buffers. Source: cuMemcpyAsync.
        """
        source, in_stream = self._address, Stream._accept(stream)
        if dst is None:
            if self._resource is None:
                raise ValueError("copy_to() needs a dst: this Buffer has no memory resource to allocate one")
            dst = self._resource.allocate(self._size, stream=in_stream)
        if isinstance(dst, Bytes):
            dst.copy_from(self, stream=in_stream, options=options)
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
            self._keep_for(in_stream, dst)
        return dst

    def copy_from(
        self,
        src: Any,
        *,
        stream: Stream | IsStreamType | None = None,
        options: CopyOptions | None = None,
    ) -> None:
        """Copy `src` into this buffer in `stream`.

        src: a Buffer of this size, or a host array (numpy, bytes: contiguous) of at most this size. It is
        kept alive until the copy is done; a host array in page-locked memory must not be changed before.
        options: hints for a copy between buffers. Source: cuMemcpyAsync.
        """
        target, in_stream = self._address, Stream._accept(stream)
        if isinstance(src, Bytes):
            if src._size != self._size:
                raise ValueError(
                    f"a Buffer of {src._size} bytes cannot be copied to one of {self._size} bytes"
                )
            if options is not None:
                copies.copy_batch(in_stream, [cast("Buffer", src)], [cast("Buffer", self)], options=options)
            elif self._size:
                try:
                    queue(in_stream, checked.cuMemcpyAsync, target, src._address, self._size)
                except CUDAError as error:
                    raise self._explained(error, cast("Buffer", src)) from None
                self._keep_for(in_stream, src)
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
            self._keep_for(in_stream, src)

    def _explained(self, error: CUDAError, src: Buffer) -> CUDAError:
        """`error` of a copy from `src`, and what to do if it went from one device to another."""
        if error.code != CUresult.CUDA_ERROR_INVALID_VALUE:
            return error
        try:
            here, there = (each._located(each._address).device_id for each in (cast("Buffer", self), src))
        except CUDAError:  # what it takes to explain the failure failed itself
            return error
        if here == there or min(here, there) < 0:
            return error
        return type(error)(
            f"{error} The buffers are on devices {there} and {here}: who copies needs access to the pools of "
            "both, by `peer_accessible_by` of the other's memory resource.",
            error.code,
            error.function,
        )

    def _fitting(self, size: int, what: str) -> int:
        if size > self._size:
            raise ValueError(f"{what}: the host array has {size} bytes, this Buffer has {self._size}")
        return size

    def _without(self, options: CopyOptions | None) -> None:
        if options is not None:
            raise ValueError("options are for a copy between buffers, not for one with a host array")

    def _keep_for(self, stream: Stream, other: Any) -> None:
        """Keep alive what a copy in `stream` uses, except for buffers that are freed in stream order.

        In a GraphBuilder that is all of it.
        """
        if stream._owner is not None and graph_keeps(stream._owner, self, other):
            return
        kept = [x for x in (self, other) if not isinstance(x, Bytes) or x.is_host_accessible]
        if kept:
            keep_for(stream, *kept)

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
            pattern = host_bytes(value, "fill: value").tobytes()
        width = len(pattern)
        if width not in _MEMSET:
            raise ValueError(f"fill: the pattern has {width} bytes, not 1, 2 or 4")
        count, rest = divmod(self._size, width)
        if rest:
            raise ValueError(f"fill: {self._size} bytes are no multiple of the {width} of the pattern")
        if count:
            queue(
                in_stream, getattr(checked, _MEMSET[width]), address, int.from_bytes(pattern, "little"), count
            )
            graph_keeps(in_stream._owner, self)


_MEMSET = {1: "cuMemsetD8Async", 2: "cuMemsetD16Async", 4: "cuMemsetD32Async"}
