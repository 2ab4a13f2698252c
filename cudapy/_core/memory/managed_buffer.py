"""Buffers of managed memory, and where they are to be."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, MutableSet, Sequence
from typing import TYPE_CHECKING, Any

from ..._bindings.errors import CUDAError
from ..._ffi.library import SymbolNotFound
from ..._ffi.shown import type_name
from ...driver import CUmem_advise, CUmem_range_attribute, CUmemLocation, CUresult, checked
from ..streams.stream import Stream
from ..upward import upward
from .buffer import Buffer
from .location import Host, location, on_device, place

if TYPE_CHECKING:
    from ..device.device import Device
    from ..streams.stream import IsStreamType

_A, _R = CUmem_advise, CUmem_range_attribute
_CPU, _NONE = -1, -2  # CU_DEVICE_CPU, CU_DEVICE_INVALID
_MOST = 64  # devices and the host, in the answer about accessed_by


class ManagedBuffer(Buffer):
    """A Buffer of managed memory. What is set here are hints: the memory is the same for everyone anyhow.

    Comes from a ManagedMemoryResource, or by `ManagedBuffer.from_handle` from managed memory of others.
    Source: cuMemAdvise, cuMemRangeGetAttribute, cuMemPrefetchAsync.
    """

    __slots__ = ()

    def _advise(self, advice: CUmem_advise, where: CUmemLocation | None = None) -> None:
        if self._size:
            checked.cuMemAdvise(self._address, self._size, advice, where or on_device(0))

    def _ask(self, length: int, attribute: CUmem_range_attribute) -> Any:
        return checked.cuMemRangeGetAttribute(length, attribute, self._address, self._size)

    @property
    def read_mostly(self) -> bool:
        """Whether devices that read it get copies of their own, since it is seldom written."""
        return bool(self._size and self._ask(4, _R.CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY))

    @read_mostly.setter
    def read_mostly(self, value: bool) -> None:
        yes, no = _A.CU_MEM_ADVISE_SET_READ_MOSTLY, _A.CU_MEM_ADVISE_UNSET_READ_MOSTLY
        self._advise(yes if value else no)

    @property
    def preferred_location(self) -> Device | Host | None:
        """Where it would rather be; None for no preference. May be set. A NUMA node needs CUDA 12.2."""
        if not self._size:
            return None
        try:
            kind = int(self._ask(4, _R.CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE))
            return place(kind, int(self._ask(4, _R.CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID)))
        except CUDAError as error:
            if error.code != CUresult.CUDA_ERROR_INVALID_VALUE:
                raise
        number = int(self._ask(4, _R.CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION))  # a driver before 12.2
        return _device_or_host(number)

    @preferred_location.setter
    def preferred_location(self, where: Device | Host | None) -> None:
        if where is None:
            self._advise(_A.CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION)
        else:
            self._advise(_A.CU_MEM_ADVISE_SET_PREFERRED_LOCATION, location(where))

    @property
    def accessed_by(self) -> AccessedBy:
        """What keeps a direct way to it wherever it is: a set of Device and Host, to change or assign."""
        return AccessedBy(self)

    @accessed_by.setter
    def accessed_by(self, locations: Iterable[Device | Host]) -> None:
        AccessedBy(self).replace(locations)

    def prefetch(self, location: Device | Host, *, stream: Stream | IsStreamType | None = None) -> None:
        """Move it in `stream`, before somebody there needs it."""
        prefetch_batch(stream, [self], location)

    def discard(self, *, stream: Stream | IsStreamType | None = None) -> None:
        """Let go of what is in it, in `stream`: it holds anything until it is written again.

        Needs CUDA 13.
        """
        discard_batch(stream, [self])

    def discard_prefetch(
        self, location: Device | Host, *, stream: Stream | IsStreamType | None = None
    ) -> None:
        """Move it without what is in it, in `stream`. Needs CUDA 13."""
        discard_prefetch_batch(stream, [self], location)


def _device_or_host(number: int) -> Device | Host | None:
    return {_CPU: Host(), _NONE: None}.get(number) if number < 0 else upward.device(number)


class AccessedBy(MutableSet["Device | Host"]):
    """What keeps a direct way to a managed buffer, always as the driver has it."""

    __slots__ = ("_buffer",)

    def __init__(self, buf: ManagedBuffer) -> None:
        self._buffer = buf

    @classmethod
    def _from_iterable(cls, it: Iterable[Any]) -> Any:
        return set(it)  # what `|` and `&` return is of no buffer

    def _now(self) -> set[Any]:
        if not self._buffer.size:
            return set()
        places = self._buffer._ask(4 * _MOST, _R.CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY)
        return {_device_or_host(int(number)) for number in places} - {None}

    def add(self, value: Device | Host) -> None:
        """Give it a direct way."""
        self._buffer._advise(_A.CU_MEM_ADVISE_SET_ACCESSED_BY, location(value))

    def discard(self, value: Device | Host) -> None:
        """Take that away."""
        self._buffer._advise(_A.CU_MEM_ADVISE_UNSET_ACCESSED_BY, location(value))

    def replace(self, locations: Iterable[Device | Host]) -> None:
        """Have these and no others."""
        wanted, before = set(locations), self._now()
        for each in wanted - before:
            self.add(each)
        for each in before - wanted:
            self.discard(each)

    def __contains__(self, value: object) -> bool:
        return value in self._now()

    def __iter__(self) -> Iterator[Device | Host]:
        return iter(self._now())

    def __len__(self) -> int:
        return len(self._now())

    def __eq__(self, other: object) -> bool:
        return self._now() == set(other) if isinstance(other, Iterable) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(self._now())


# -- many at once -----------------------------------------------------------------------------------------


def prefetch_batch(stream: Stream | IsStreamType | None, buffers: Sequence[Buffer], locations: Any) -> None:
    """Move managed buffers in `stream` before somebody there needs them.

    locations: a Device or Host for all, or one for each. Source: cuMemPrefetchBatchAsync; before CUDA 13
    cuMemPrefetchAsync for each.
    """
    in_stream = Stream._accept(stream)
    ranges = _ranges(buffers, "prefetch_batch")
    places = _places(locations, len(buffers), "prefetch_batch")
    if not ranges:
        return
    if len(ranges) > 1:
        try:
            _batch(checked.cuMemPrefetchBatchAsync, ranges, places, in_stream)
            return
        except SymbolNotFound:
            pass
    for address, size, index in ranges:
        checked.cuMemPrefetchAsync(address, size, places[index], 0, in_stream._handle)


def discard_batch(stream: Stream | IsStreamType | None, buffers: Sequence[Buffer]) -> None:
    """Let go of what is in managed buffers, in `stream`. Source: cuMemDiscardBatchAsync (CUDA 13)."""
    in_stream = Stream._accept(stream)
    ranges = _ranges(buffers, "discard_batch")
    if ranges:
        addresses, sizes = [r[0] for r in ranges], [r[1] for r in ranges]
        checked.cuMemDiscardBatchAsync(addresses, sizes, len(ranges), 0, in_stream._handle)


def discard_prefetch_batch(
    stream: Stream | IsStreamType | None, buffers: Sequence[Buffer], locations: Any
) -> None:
    """Move managed buffers without what is in them, in `stream`.

    locations: as in `prefetch_batch`. Source: cuMemDiscardAndPrefetchBatchAsync (CUDA 13).
    """
    in_stream = Stream._accept(stream)
    ranges = _ranges(buffers, "discard_prefetch_batch")
    places = _places(locations, len(buffers), "discard_prefetch_batch")
    if ranges:
        _batch(checked.cuMemDiscardAndPrefetchBatchAsync, ranges, places, in_stream)


def _batch(function: Any, ranges: Any, places: list[CUmemLocation], stream: Stream) -> None:
    count = len(ranges)
    function(
        [address for address, _, _ in ranges],
        [size for _, size, _ in ranges],
        count,
        [places[index] for _, _, index in ranges],
        list(range(count)),
        count,
        0,
        stream._handle,
    )


def _ranges(buffers: Any, what: str) -> list[tuple[int, int, int]]:
    """(address, size, index) of all buffers that are not empty. Raises TypeError, ValueError."""
    if isinstance(buffers, Buffer) or not isinstance(buffers, Sequence):
        raise TypeError(f"{what} takes a sequence of buffers")
    ranges = []
    for index, each in enumerate(buffers):
        if not isinstance(each, Buffer):
            raise TypeError(f"{what} takes Buffers, not {type_name(each)}")
        if each._size:
            if not each.is_managed:
                raise ValueError(f"{what}: {each!r} is not managed memory")
            ranges.append((each._address, each._size, index))
    return ranges


def _places(locations: Any, count: int, what: str) -> list[CUmemLocation]:
    if isinstance(locations, (list, tuple)):
        if len(locations) != count:
            raise ValueError(f"{what}: {len(locations)} locations for {count} buffers")
        return [location(each) for each in locations]
    return [location(locations)] * count
