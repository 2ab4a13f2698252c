"""Page-locked memory of the host, from a pool."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..._ffi.library import SymbolNotFound
from ...driver import CUmemAllocationType, CUmemLocation, checked
from ..options import accepted
from . import ipc
from .location import HOST, HOST_NUMA, access, nearest_numa_node, on_device
from .pool import MemoryPool
from .resource import OnHost

PINNED = CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED


@dataclass
class PinnedMemoryResourceOptions:
    """How a pool is made.

    ipc_enabled: for other processes too. max_size: in bytes; 0: as large as can be. numa_id: the NUMA node
    that has the memory; None: any, or with ipc_enabled the one nearest to the current device.
    """

    ipc_enabled: bool = False
    max_size: int = 0
    numa_id: int | None = None

    def __post_init__(self) -> None:
        if self.numa_id is not None and self.numa_id < 0:
            raise ValueError(f"numa_id = {self.numa_id} is not the number of a NUMA node")


class PinnedMemoryResource(ipc.Shareable, OnHost, MemoryPool):
    """Page-locked host memory, allocated and freed in stream order; kernels use it at the same address.

    Without options from the host's current pool, which all of the process shares (CUDA 13); with options, and
    before CUDA 13, from a pool of its own. Source: cuMemGetMemPool, cuMemPoolCreate.

    With `ipc_enabled` other processes can open its buffers: see DeviceMemoryResource.
    """

    _numa_id: int

    def __init__(self, options: PinnedMemoryResourceOptions | Mapping[str, Any] | None = None) -> None:
        self._numa_id = -1
        if options is None:
            anywhere = CUmemLocation(type=HOST)
            try:
                self._set(checked.cuMemGetMemPool(anywhere, PINNED))
            except SymbolNotFound:
                self._create(PINNED, anywhere)
        else:
            options = accepted(PinnedMemoryResourceOptions, options)
            if options.numa_id is not None:
                self._numa_id = options.numa_id
            elif options.ipc_enabled:
                self._numa_id = nearest_numa_node()
            kind = HOST if self._numa_id < 0 else HOST_NUMA
            place = CUmemLocation(type=kind, id=max(self._numa_id, 0))
            self._create(PINNED, place, options.max_size, options.ipc_enabled)
        # Neither the current pool nor a new one lets them from the start.
        devices = access(*(on_device(ordinal) for ordinal in range(checked.cuDeviceGetCount())))
        checked.cuMemPoolSetAccess(self._pool, devices, len(devices))

    @property
    def numa_id(self) -> int:
        """The NUMA node that has the memory; -1 for no one in particular."""
        return self._numa_id

    @classmethod
    def from_allocation_handle(cls, alloc_handle: int | ipc.IPCAllocationHandle) -> PinnedMemoryResource:
        """The pool of another process, by a file descriptor, which stays the caller's to close.

        Source: cuMemPoolImportFromShareableHandle.
        """
        resource = cls.__new__(cls)
        resource._numa_id = -1
        ipc.import_pool(resource, alloc_handle, on_device(int(checked.cuCtxGetDevice())))
        return resource


ipc.kinds_of_pools.append(PinnedMemoryResource)
