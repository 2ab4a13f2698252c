"""Memory by the driver's virtual memory management: address space here, physical memory there."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, NamedTuple

from ..._errors import CUDAError
from ...driver import CUmemAllocationProp, checked
from ..buffer import Buffer
from ..context import primary
from ..current import Uncaptured, within
from ..options import accepted
from ..pointer import byte_count
from ..stream import Stream
from .resource import MemoryResource
from .virtual_options import VirtualMemoryResourceOptions

if TYPE_CHECKING:
    import collections.abc

    from ...driver import CUdeviceptr
    from ..device import Device
    from ..stream import IsStreamType


class Mapping(NamedTuple):
    """An allocation as it lies in the address space: what was reserved, and the pieces of memory there."""

    reserved: list[tuple[int, int]]  # (address, size)
    pieces: list[tuple[int, int]]


class VirtualMemoryResource(MemoryResource):
    """Memory whose addresses and physical pieces are managed one by one, so that an allocation can grow.

    Nothing of it is in the order of a stream: allocating takes effect at once, and freeing waits for the
    stream first. Sizes are rounded up to the granularity, 2 MiB as a rule.
    Source: cuMemAddressReserve, cuMemCreate, cuMemMap, cuMemSetAccess.
    """

    _takes_no_stream = True

    def __init__(
        self,
        device_id: Device | int,
        config: VirtualMemoryResourceOptions | collections.abc.Mapping[str, Any] | None = None,
    ) -> None:
        from ..device import Device

        self._device_id = int(Device(device_id))
        self._config = accepted(VirtualMemoryResourceOptions, {} if config is None else config)
        self._mappings: dict[int, Mapping] = {}
        properties = Device(self._device_id).properties
        if not properties.virtual_memory_management_supported:
            raise RuntimeError(f"device {self._device_id} has no virtual memory management")
        if self._config.gpu_direct_rdma and not properties.gpu_direct_rdma_with_cuda_vmm_supported:
            raise RuntimeError(f"device {self._device_id} has no GPUDirect RDMA for such memory")

    @property
    def config(self) -> VirtualMemoryResourceOptions:
        """The options it was made with."""
        return self._config

    def allocate(self, size: int, stream: Stream | IsStreamType | None = None) -> Buffer:
        """A Buffer of `size` bytes, to be used at once; freed after the work in `stream`, if there is one."""
        number = byte_count(size)
        in_stream = None if stream is None else Stream._accept(stream)
        address = within(self._context, self._map, number, self._config) if number else 0
        return Buffer._adopt(address, number, self, in_stream, self._context)

    def deallocate(
        self, ptr: int | CUdeviceptr, size: int, stream: Stream | IsStreamType | None = None
    ) -> None:
        """Wait for `stream`, if there is one, then unmap the memory and free it."""
        if stream is not None:
            with Uncaptured():
                checked.cuStreamSynchronize(Stream._accept(stream)._handle)
        mapping = self._mappings.pop(int(ptr))
        calls = [(checked.cuMemUnmap, piece) for piece in mapping.pieces]
        calls += [(checked.cuMemAddressFree, addresses) for addresses in mapping.reserved]
        failed = None
        with Uncaptured():
            for function, where in calls:  # all of them, should one fail
                try:
                    function(*where)
                except CUDAError as error:
                    failed = failed or error
        if failed is not None:
            raise failed

    def modify_allocation(
        self,
        buf: Buffer,
        new_size: int,
        config: VirtualMemoryResourceOptions | collections.abc.Mapping[str, Any] | None = None,
    ) -> Buffer:
        """Let `buf` grow to `new_size` bytes, and return it. What is in it stays.

        It keeps its address if the addresses behind it are free; else it gets new ones, after all work that
        uses the old has run. config: how the new pieces are made; None: as the others. If anything fails,
        `buf` is as it was. A buffer that is large enough stays as it is.
        """
        wanted, address = byte_count(new_size), buf._address
        if buf.memory_resource is not self or (address and address not in self._mappings):
            raise ValueError(f"modify_allocation: {buf!r} is not of this memory resource")
        if wanted > buf._size:
            buf._require_no_views()
            chosen = self._config if config is None else accepted(VirtualMemoryResourceOptions, config)
            within(self._context, self._grow, buf, wanted, chosen)
        return buf

    # -- how ----------------------------------------------------------------------------------------

    @property
    def _context(self) -> int:
        return int(primary(self._device_id)._handle)

    def _map(self, size: int, config: VirtualMemoryResourceOptions) -> int:
        """New memory of at least `size` bytes; its address."""
        properties = config._properties(self._device_id)
        unit = config._unit(properties)
        with ExitStack() as undo:
            room = -(-size // unit) * unit
            address = _reserve(undo, room, config.addr_align or unit, config.addr_hint or 0)
            self._fill(undo, address, room, properties, config)
            self._mappings[address] = Mapping([(address, room)], [(address, room)])
            undo.pop_all()
        return address

    def _fill(
        self,
        undo: ExitStack,
        address: int,
        size: int,
        properties: CUmemAllocationProp,
        config: VirtualMemoryResourceOptions,
    ) -> None:
        """Put new memory behind `size` bytes of reserved addresses."""
        handle = checked.cuMemCreate(size, properties, 0)
        try:
            checked.cuMemMap(address, size, 0, handle, 0)
            undo.callback(checked.cuMemUnmap, address, size)
        finally:
            checked.cuMemRelease(handle)  # the mapping keeps the memory
        self._allow(address, size, config)

    def _allow(self, address: int, size: int, config: VirtualMemoryResourceOptions) -> None:
        allowed = config._access(self._device_id, self.is_host_accessible)
        checked.cuMemSetAccess(address, size, allowed, len(allowed))

    def _grow(self, buf: Buffer, wanted: int, config: VirtualMemoryResourceOptions) -> None:
        address = buf._address
        if not address:
            buf._move(self._map(wanted, config), self._context)
            buf._size = wanted
            return
        before = self._mappings[address]
        has = sum(size for _, size in before.pieces)
        if wanted <= has:
            buf._size = wanted
            return
        properties = config._properties(self._device_id)
        unit = max(config._unit(properties), self._config._unit(self._config._properties(self._device_id)))
        more = -(-(wanted - has) // unit) * unit
        with ExitStack() as undo:
            behind = _reserve(undo, more, unit, address + has)
            if behind == address + has:
                self._fill(undo, behind, more, properties, config)
                before.reserved.append((behind, more))
                before.pieces.append((behind, more))
                undo.pop_all()
                buf._size = wanted
                return
        with ExitStack() as undo:
            start = _reserve(undo, has + more, config.addr_align or unit, 0)
            pieces, offset = [], 0
            for old, size in before.pieces:
                _map_again(undo, old, start + offset, size)
                pieces.append((start + offset, size))
                offset += size
            self._allow(start, has, self._config)
            self._fill(undo, start + has, more, properties, config)
            pieces.append((start + has, more))
            checked.cuCtxSynchronize()
            self._mappings[start] = Mapping([(start, has + more)], pieces)
            undo.pop_all()
        buf._move(start, self._context)  # which frees the old addresses, or leaves them to a graph
        buf._size = wanted

    @property
    def device_id(self) -> int:
        """The ordinal of the device; -1 for host memory."""
        return self._device_id if self._config.location_type == "device" else -1

    @property
    def is_device_accessible(self) -> bool:
        """Whether kernels can use its buffers: unless self_access is None."""
        return self._config.self_access is not None

    @property
    def is_host_accessible(self) -> bool:
        """Whether the host can: if the memory is there."""
        return self._config.location_type != "device"

    @property
    def is_managed(self) -> bool:
        """Whether its memory moves by itself."""
        return self._config.allocation_type == "managed"

    def __repr__(self) -> str:
        return f"<VirtualMemoryResource of device {self._device_id}>"


def _reserve(undo: ExitStack, size: int, alignment: int, hint: int) -> int:
    address = int(checked.cuMemAddressReserve(size, alignment, hint, 0))
    undo.callback(checked.cuMemAddressFree, address, size)
    return address


def _map_again(undo: ExitStack, old: int, new: int, size: int) -> None:
    """Map the memory at `old` at `new` too."""
    handle = checked.cuMemRetainAllocationHandle(old)
    try:
        checked.cuMemMap(new, size, 0, handle, 0)
        undo.callback(checked.cuMemUnmap, new, size)
    finally:
        checked.cuMemRelease(handle)
