"""Memory by the driver's virtual memory management: address space here, physical memory there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ... import driver
from ..._bindings.errors import CUDAError
from ..._ffi.convert import word
from ..._ffi.sizes import round_up
from ...driver import CUmemAllocationProp, CUmemGenericAllocationHandle, CUresult, checked
from ..context.context import primary
from ..context.current import RelaxedCaptureMode, c_function, owning, with_context
from ..options import accepted
from ..ownership.owned import Ownership
from ..streams.stream import Stream
from ..upward import upward
from .buffer import Buffer
from .pointer import Address, byte_count
from .resource import MemoryResource, empties
from .virtual_options import VirtualMemoryResourceOptions

if TYPE_CHECKING:
    import collections.abc
    from collections.abc import Callable

    from ...driver import CUdeviceptr
    from ..device.device import Device
    from ..streams.stream import IsStreamType


class Mapping(NamedTuple):
    """An allocation as it lies in the address space: what was reserved, and the pieces of memory there."""

    reserved: list[tuple[Address, int]]  # and the size; what is 0 was given back
    pieces: list[tuple[Address, int]]


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
        self._device_id = int(upward.device(device_id))
        self._config = accepted(VirtualMemoryResourceOptions, {} if config is None else config)
        self._mappings: dict[int, Mapping] = {}
        properties = upward.device(self._device_id).properties
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

        def make(cell: Address) -> None:
            with_context(self._context, self._map, cell, number, self._config)

        return Buffer._adopt(make, number, self, in_stream, self._context)

    @empties
    def deallocate(
        self, ptr: int | CUdeviceptr, size: int, stream: Stream | IsStreamType | None = None
    ) -> None:
        """Wait for `stream`, if there is one, then unmap the memory and free it."""
        if stream is not None:
            with RelaxedCaptureMode():
                checked.cuStreamSynchronize(Stream._accept(stream)._handle)
        cell = Address.of(ptr)
        address = cell.value
        mapping = self._mappings[address]
        calls = [(owning.cuMemUnmap, piece) for piece in mapping.pieces]
        calls += [(owning.cuMemAddressFree, addresses) for addresses in mapping.reserved]
        failed = None
        with RelaxedCaptureMode():
            for function, where in calls:  # all of them, should one fail
                try:
                    if where[0].value:
                        function(*where)
                except CUDAError as error:
                    failed = failed or error
        if failed is not None:
            raise failed
        del self._mappings[address]
        cell.value = 0

    def modify_allocation(
        self,
        buf: Buffer,
        new_size: int,
        config: VirtualMemoryResourceOptions | collections.abc.Mapping[str, Any] | None = None,
    ) -> Buffer:
        """Let `buf` grow to `new_size` bytes, and return it. What is in it stays.

        It keeps its address if the addresses behind it are free; else it gets new ones, after all work that
        uses the old has run, and arrays keep showing the memory at the old ones. config: how the new pieces
        are made; None: as the others. If anything fails, `buf` is as it was. A buffer that is large enough
        stays as it is.
        """
        wanted, address = byte_count(new_size), buf._address
        if buf.memory_resource is not self or (address and address not in self._mappings):
            raise ValueError(f"modify_allocation: {buf!r} is not of this memory resource")
        if wanted > buf._size:
            chosen = self._config if config is None else accepted(VirtualMemoryResourceOptions, config)
            with_context(self._context, self._grow, buf, wanted, chosen)
        return buf

    # -- how ----------------------------------------------------------------------------------------

    @property
    def _context(self) -> int:
        return int(primary(self._device_id)._handle)

    def _map(self, cell: Address, size: int, config: VirtualMemoryResourceOptions) -> None:
        """New memory of at least `size` bytes, whose address goes into `cell`."""
        properties = config._properties(self._device_id)
        unit = config._unit(properties)
        undo = _Undo()
        try:
            room = round_up(size, unit)
            reserved = _reserve(undo, room, config.addr_align or unit, config.addr_hint or 0)
            piece = self._fill(undo, reserved.value, room, properties, config)
            mapping = Mapping([(reserved, room)], [(piece, room)])
            self._mappings[reserved.value] = mapping  # one step: interrupt_safe
            cell.value = reserved.value
            undo.owed.value = 0
        finally:
            undo.close()

    def _fill(
        self,
        undo: _Undo,
        address: int,
        size: int,
        properties: CUmemAllocationProp,
        config: VirtualMemoryResourceOptions,
    ) -> Address:
        """Put new memory behind `size` bytes of reserved addresses; what is mapped."""
        piece = _map_into(undo, address, size, owning.cuMemCreate, size, properties, 0)
        self._allow(address, size, config)
        return piece

    def _allow(self, address: int, size: int, config: VirtualMemoryResourceOptions) -> None:
        allowed = config._access(self._device_id, self.is_host_accessible)
        checked.cuMemSetAccess(address, size, allowed, len(allowed))

    def _grow(self, buf: Buffer, wanted: int, config: VirtualMemoryResourceOptions) -> None:
        address, cell = buf._address, Address()
        ownership = buf._owning(cell, self._context, wanted)
        if not address:
            self._map(cell, wanted, config)
            buf._move(ownership, cell.value, wanted)
            return
        before = self._mappings[address]
        has = sum(size for piece, size in before.pieces if piece.value)
        if wanted <= has:
            buf._size = wanted
            return
        properties = config._properties(self._device_id)
        unit = max(config._unit(properties), self._config._unit(self._config._properties(self._device_id)))
        more = round_up(wanted - has, unit)
        undo = _Undo()
        try:
            behind = _reserve(undo, more, unit, address + has)
            if behind.value == address + has:
                piece = self._fill(undo, behind.value, more, properties, config)
                before.reserved.append((behind, more))  # an interrupted one leaves zeros there
                before.pieces.append((piece, more))
                undo.owed.value = 0
                buf._size = wanted
                return
        finally:
            undo.close()
        undo = _Undo()
        try:
            reserved = _reserve(undo, has + more, config.addr_align or unit, 0)
            start = reserved.value
            pieces, offset = [], 0
            for old, size in before.pieces:
                if old.value:
                    function = owning.cuMemRetainAllocationHandle
                    pieces.append((_map_into(undo, start + offset, size, function, old.value), size))
                    offset += size
            self._allow(start, has, self._config)
            pieces.append((self._fill(undo, start + has, more, properties, config), more))
            checked.cuCtxSynchronize()
            mapping = Mapping([(reserved, has + more)], pieces)
            self._mappings[start] = mapping  # one step: interrupt_safe
            cell.value = start
            undo.owed.value = 0
        finally:
            undo.close()
        buf._move(
            ownership, start, wanted
        )  # which frees the old addresses, or leaves them to a graph or to arrays

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


class _Undo(Ownership):
    """What is to be undone, unless `owed` is set to 0: a list of functions, and what they take."""

    __slots__ = ("calls", "owed")

    def __init__(self) -> None:
        self.owed, self.calls = Address(1), []  # type: ignore[var-annotated]
        super().__init__(_undo, self.owed, self.calls)


def _undo(owed: Address, calls: list[tuple[Callable[..., object], Address, int]]) -> None:
    failed = None
    for function, cell, size in reversed(calls):  # all of them, should one fail
        try:
            if cell.value:
                function(cell, size)
        except CUDAError as error:
            failed = failed or error
    owed.value = 0
    if failed is not None:
        raise failed


def _reserve(undo: _Undo, size: int, alignment: int, hint: int) -> Address:
    reserved = Address()
    undo.calls.append((owning.cuMemAddressFree, reserved, size))
    owning.cuMemAddressReserve(reserved, size, alignment, hint, 0)
    return reserved


def _map_into(undo: _Undo, address: int, size: int, make: Callable[..., object], *args: object) -> Address:
    """Map the memory whose handle is made by `make(cell, *args)`; what is mapped."""
    handle = CUmemGenericAllocationHandle()
    ownership = Ownership(owning.cuMemRelease, handle)
    make(handle, *args)
    piece, map_memory = Address(), c_function("cuMemMap")
    undo.calls.append((owning.cuMemUnmap, piece, size))
    (status,) = map(map_memory, (word(address),), (word(size),), (word(0),), (handle,), (word(0),))
    if not status:
        piece.value = address  # one step: interrupt_safe
    ownership.close()  # the mapping keeps the memory
    if status:
        arguments = {"ptr": address, "size": size, "handle": handle}
        raise driver.libcuda.error("cuMemMap", CUresult(status), arguments)
    return piece
