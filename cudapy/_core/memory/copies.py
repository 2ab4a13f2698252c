"""Copies of many buffers by one call, the hints that a copy can be given, and what fills memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from ... import driver
from ..._bindings.errors import CUDAError
from ..._ffi.library import SymbolNotFound
from ..._ffi.shown import type_name
from ..._ffi.status_calls import SIZE, InSlot, give_lane
from ...driver import (
    CUdeviceptr,
    CUmemcpyAttributes,
    CUmemcpyFlags,
    CUmemcpySrcAccessOrder,
    CUresult,
    CUstream,
    checked,
)
from ..context.current import c_function
from ..options import Choice
from ..ownership.captures import is_capturing
from ..streams.order import queue, queue_again
from ..streams.stream import LEGACY_DEFAULT_STREAM, Stream
from ..upward import upward
from .host_arrays import host_bytes
from .location import location

if TYPE_CHECKING:
    from ..device.device import Device
    from ..streams.stream import IsStreamType
    from .buffer import Buffer
    from .location import Host


class MemcpySrcAccessOrder(Choice):
    """When a copy may read its source. Source: CUmemcpySrcAccessOrder.

    STREAM: in the order of the stream. DURING_API_CALL: before the call returns, whatever the stream still
    has to do. ANY: at any time until the copy is done.
    """

    STREAM = "stream"
    DURING_API_CALL = "during_api_call"
    ANY = "any"


class MemcpyOverlapMode(Choice):
    """Whether a copy had better run beside kernels. Source: CUmemcpyFlags."""

    DEFAULT = "default"
    PREFER_OVERLAP_WITH_COMPUTE = "prefer_overlap_with_compute"


@dataclass(frozen=True)
class CopyOptions:
    """Hints for a copy.

    src_access_order, overlap_mode: members or their values. src_location_hint, dst_location_hint: a Device or
    Host, for managed memory, and for pageable memory that the device can use; where the memory is now.
    """

    src_access_order: MemcpySrcAccessOrder | str = MemcpySrcAccessOrder.STREAM
    src_location_hint: Device | Host | None = None
    dst_location_hint: Device | Host | None = None
    overlap_mode: MemcpyOverlapMode | str = MemcpyOverlapMode.DEFAULT

    def __post_init__(self) -> None:
        object.__setattr__(self, "src_access_order", MemcpySrcAccessOrder(self.src_access_order))
        object.__setattr__(self, "overlap_mode", MemcpyOverlapMode(self.overlap_mode))
        self._attributes()  # a place that is none is an error here

    def _attributes(self) -> CUmemcpyAttributes:
        order, overlap = self.src_access_order, self.overlap_mode
        attributes = CUmemcpyAttributes(
            srcAccessOrder=CUmemcpySrcAccessOrder[
                f"CU_MEMCPY_SRC_ACCESS_ORDER_{MemcpySrcAccessOrder(order).name}"
            ],
            flags=CUmemcpyFlags[f"CU_MEMCPY_FLAG_{MemcpyOverlapMode(overlap).name}"],
        )
        if self.src_location_hint is not None:
            attributes.srcLocHint = location(self.src_location_hint)
        if self.dst_location_hint is not None:
            attributes.dstLocHint = location(self.dst_location_hint)
        return attributes


def copy_batch(
    stream: Stream | IsStreamType,
    srcs: Sequence[Buffer],
    dsts: Sequence[Buffer],
    *,
    options: CopyOptions | Sequence[CopyOptions] | None = None,
) -> None:
    """Copy each of `srcs` into that of `dsts` at the same place, in any order among themselves.

    options: for all, or for each. Sizes must match, and no copy may write what another reads or writes. Not
    for the legacy default stream, nor for one that is being captured. A driver before CUDA 12.8 gets the
    copies one by one, and cannot do what DURING_API_CALL asks for. Source: cuMemcpyBatchAsync.
    """
    in_stream = Stream._accept(stream)
    pairs = _pairs(srcs, dsts)
    hints = _each(options, len(pairs))
    if int(in_stream._handle) in (0, int(LEGACY_DEFAULT_STREAM._handle)):
        raise TypeError("a batched copy needs a stream of its own, or PER_THREAD_DEFAULT_STREAM")
    if is_capturing(in_stream):
        raise TypeError("a batched copy cannot go into a graph: use copy_to() without options")
    wanted = [(pair, hint) for pair, hint in zip(pairs, hints, strict=True) if pair[0]._size]
    if not wanted:
        return
    count = len(wanted)
    sources = [source._address for (source, _), _ in wanted]
    targets = [target._address for (_, target), _ in wanted]
    sizes = [source._size for (source, _), _ in wanted]
    attributes = [hint._attributes() for _, hint in wanted]
    try:
        each = list(range(count))
        queue(in_stream, checked.cuMemcpyBatchAsync, targets, sources, sizes, count, attributes, each, count)
    except SymbolNotFound:
        if any(hint.src_access_order == MemcpySrcAccessOrder.DURING_API_CALL for _, hint in wanted):
            raise
        for to, at, size in zip(targets, sources, sizes, strict=True):
            queue(in_stream, checked.cuMemcpyAsync, to, at, size)
    for (source, target), _ in wanted:
        target._keep_alive_for(in_stream, source)


def _pairs(srcs: Any, dsts: Any) -> list[tuple[Buffer, Buffer]]:
    for name, given in (("srcs", srcs), ("dsts", dsts)):
        if isinstance(given, upward.buffer) or not isinstance(given, Sequence):
            raise TypeError(f"copy_batch: {name} must be a sequence of buffers")
        for each in given:
            if not isinstance(each, upward.buffer):
                raise TypeError(f"copy_batch: {name} must be Buffers, not {type_name(each)}")
    if len(srcs) != len(dsts):
        raise ValueError(f"copy_batch: {len(srcs)} sources cannot be copied to {len(dsts)} buffers")
    for i, (source, target) in enumerate(zip(srcs, dsts, strict=True)):
        if source._size != target._size:
            raise ValueError(
                f"copy_batch: pair {i}: {source._size} bytes cannot be copied to {target._size} bytes"
            )
    return list(zip(srcs, dsts, strict=True))


def _each(options: Any, count: int) -> list[CopyOptions]:
    if options is None:
        options = CopyOptions()
    if isinstance(options, CopyOptions):
        return [options] * count
    if not isinstance(options, Sequence) or not all(isinstance(each, CopyOptions) for each in options):
        raise TypeError("copy_batch: options must be CopyOptions, for all or for each")
    if len(options) != count:
        raise ValueError(f"copy_batch: {len(options)} options for {count} copies")
    return list(options)


def explained(error: CUDAError, src: Buffer, dst: Buffer) -> CUDAError:
    """`error` of a copy, and what to do if it went from one device to another."""
    if error.code != CUresult.CUDA_ERROR_INVALID_VALUE:
        return error
    try:
        here, there = (each._located(each._address).device_id for each in (dst, src))
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


def queue_copy(target: int, source: int, size: int, stream: Stream) -> None:
    """Copy bytes in a stream. Source: cuMemcpyAsync."""
    _give_lane(queue_copy, "cuMemcpyAsync", dst=CUdeviceptr, src=CUdeviceptr, ByteCount=int)
    queue(stream, checked.cuMemcpyAsync, target, source, size)


def queue_fill(address: int, byte: int, size: int, stream: Stream) -> None:
    """Fill bytes in a stream. Source: cuMemsetD8Async."""
    _give_lane(queue_fill, "cuMemsetD8Async", dstDevice=CUdeviceptr, uc=int, N=int)
    queue(stream, checked.cuMemsetD8Async, address, byte, size)


@cache
def _give_lane(function: Any, name: str, **parameters: type) -> None:
    """At the first call; one with a lane does not come here any more. parameters: of C, and what they are."""

    def failed(status: int, *arguments: Any) -> None:
        *numbers, stream = arguments
        shown = {each: cls(n) for (each, cls), n in zip(parameters.items(), numbers, strict=True)}
        shown["hStream"] = stream._handle
        error: Any = driver.libcuda.error(name, CUresult(status), shown)
        queue_again(error, stream, getattr(checked, name), *numbers)

    takes = *((i, SIZE) for i in range(3)), (3, _HANDLE)
    give_lane(function, c_function(name), takes, failed)


_HANDLE = InSlot(Stream, "_handle", CUstream)

_MEMSET = {1: "cuMemsetD8Async", 2: "cuMemsetD16Async", 4: "cuMemsetD32Async"}


def fill_of(value: Any, size: int) -> tuple[Callable[..., object], int, int]:
    """The function that fills `size` bytes with `value`, its pattern as a number, and how often that fits."""
    if isinstance(value, int):
        if not 0 <= value <= 255:
            raise OverflowError(f"fill: {value} is not a byte; give a pattern of 2 or 4 bytes as bytes")
        pattern = bytes((value,))
    else:
        pattern = host_bytes(value, "fill: value").tobytes()
    width = len(pattern)
    if width not in _MEMSET:
        raise ValueError(f"fill: the pattern has {width} bytes, not 1, 2 or 4")
    count, rest = divmod(size, width)
    if rest:
        raise ValueError(f"fill: {size} bytes are not a multiple of the {width} of the pattern")
    return getattr(checked, _MEMSET[width]), int.from_bytes(pattern, "little"), count
