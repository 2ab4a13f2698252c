"""Memory of graphs: allocated by the graph that is being built, each time that it runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ..._bindings.errors import CUDAError
from ...driver import CUgraphMem_attribute, CUresult, checked
from ..context.current import owning
from ..ownership.captures import is_capturing
from ..streams.stream import Stream
from ..upward import upward
from .buffer import Buffer
from .pointer import Address, byte_count, is_allocated
from .resource import OnDevice, empties

if TYPE_CHECKING:
    from ...driver import CUdeviceptr
    from ..device.device import Device
    from ..streams.stream import IsStreamType

_ATTRIBUTE = CUgraphMem_attribute


class GraphMemoryResource(OnDevice):
    """Device memory of graphs: `allocate` and `close` in a stream that is being captured become nodes.

    There is one for each device. Source: cuMemAllocAsync, cuMemFreeAsync.
    """

    _is_ordered = True
    _known: ClassVar[dict[int, GraphMemoryResource]] = {}

    def __new__(cls, device_id: Device | int) -> GraphMemoryResource:
        ordinal = int(upward.device(device_id))
        self = cls._known.get(ordinal)
        if self is None:
            fresh = super().__new__(cls)
            fresh._device_id = ordinal
            self = cls._known.setdefault(ordinal, fresh)
        return self

    def allocate(self, size: int, stream: Stream | IsStreamType | None = None) -> Buffer:
        """A Buffer of `size` bytes for what the graph does after this. Raises RuntimeError outside a capture.

        Closed, or dropped, during the capture, it is freed at that point of the graph. Else it is there after
        each run of the graph, until it is closed.
        """
        in_stream, number = Stream._accept(stream), byte_count(size)
        if not is_capturing(in_stream):
            checked.cuStreamIsCapturing(in_stream._handle)  # raises if there was no answer
            raise RuntimeError(
                "GraphMemoryResource allocates in a stream that is being captured, and no other"
            )

        def make(cell: Address) -> None:
            owning.cuMemAllocAsync(cell, number, in_stream._handle)

        return Buffer._adopt(make, number, self, in_stream)

    @empties
    def deallocate(
        self, ptr: int | CUdeviceptr, size: int, stream: Stream | IsStreamType | None = None
    ) -> None:
        """Free the memory in the graph, or after it has run, once `stream` gets here; else there is none."""
        in_stream, cell = Stream._accept(stream), Address.of(ptr)
        try:
            owning.cuMemFreeAsync(cell, in_stream._handle)
        except CUDAError as error:
            if error.code != CUresult.CUDA_ERROR_INVALID_VALUE or is_capturing(in_stream):
                raise
            if is_allocated(cell.value):
                raise

    def trim(self) -> None:
        """Return the memory that no graph uses to the system. Source: cuDeviceGraphMemTrim."""
        checked.cuDeviceGraphMemTrim(self._device_id)

    @property
    def attributes(self) -> GraphMemoryResourceAttributes:
        """How much memory graphs have, always as it is now."""
        return GraphMemoryResourceAttributes(self._device_id)

    def close(self) -> None:
        """Nothing to do: it has nothing of its own."""

    def __reduce__(self) -> tuple[type[GraphMemoryResource], tuple[int]]:
        return GraphMemoryResource, (self._device_id,)


class GraphMemoryResourceAttributes:
    """How much memory the graphs of a device have, in bytes. The highs may be set to 0, to start again.

    Source: cuDeviceGetGraphMemAttribute, cuDeviceSetGraphMemAttribute.
    """

    __slots__ = ("_device_id",)

    def __init__(self, device_id: int) -> None:
        self._device_id = device_id

    def _get(self, attribute: CUgraphMem_attribute) -> int:
        return int(checked.cuDeviceGetGraphMemAttribute(self._device_id, attribute))

    def _set(self, attribute: CUgraphMem_attribute, value: int) -> None:
        if value:
            raise ValueError(f"a high-water mark can only be reset to 0, not set to {value}")
        checked.cuDeviceSetGraphMemAttribute(self._device_id, attribute, 0)

    @property
    def used_mem_current(self) -> int:
        """What the allocations of graphs use now."""
        return self._get(_ATTRIBUTE.CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT)

    @property
    def used_mem_high(self) -> int:
        """The most they used since this was set to 0."""
        return self._get(_ATTRIBUTE.CU_GRAPH_MEM_ATTR_USED_MEM_HIGH)

    @used_mem_high.setter
    def used_mem_high(self, value: int) -> None:
        self._set(_ATTRIBUTE.CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, value)

    @property
    def reserved_mem_current(self) -> int:
        """What is kept for graphs now."""
        return self._get(_ATTRIBUTE.CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT)

    @property
    def reserved_mem_high(self) -> int:
        """The most that was kept since this was set to 0."""
        return self._get(_ATTRIBUTE.CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH)

    @reserved_mem_high.setter
    def reserved_mem_high(self, value: int) -> None:
        self._set(_ATTRIBUTE.CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH, value)

    def __repr__(self) -> str:
        return (
            f"<GraphMemoryResourceAttributes used {self.used_mem_current} (high {self.used_mem_high}), "
            f"reserved {self.reserved_mem_current} (high {self.reserved_mem_high})>"
        )
