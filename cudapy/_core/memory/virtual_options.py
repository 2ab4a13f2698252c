"""How virtual memory is made and mapped."""

from collections.abc import Iterable
from dataclasses import dataclass

from ...driver import (
    CUmemAccess_flags,
    CUmemAccessDesc,
    CUmemAllocationGranularity_flags,
    CUmemAllocationHandleType,
    CUmemAllocationProp,
    CUmemAllocationType,
    CUmemLocation,
    checked,
)
from ..options import Choice
from .location import DEVICE, HOST, HOST_NUMA, HOST_NUMA_CURRENT, nearest_numa_node, on_device
from .pointer import byte_count


class VirtualMemoryAllocationType(Choice):
    """What kind of memory: that stays where it is, or managed memory (CUDA 13)."""

    PINNED = "pinned"
    MANAGED = "managed"


class VirtualMemoryLocationType(Choice):
    """Where the memory is."""

    DEVICE = "device"
    HOST = "host"
    HOST_NUMA = "host_numa"
    HOST_NUMA_CURRENT = "host_numa_current"


class VirtualMemoryHandleType(Choice):
    """As what it can be exported to other processes."""

    POSIX_FD = "posix_fd"
    WIN32_KMT = "win32_kmt"
    FABRIC = "fabric"


class VirtualMemoryGranularityType(Choice):
    """Which sizes are used: multiples of the smallest possible, or of the one that is fastest."""

    MINIMUM = "minimum"
    RECOMMENDED = "recommended"


class VirtualMemoryAccessType(Choice):
    """What a device may do with the memory."""

    READ_WRITE = "rw"
    READ = "r"


_LOCATIONS = {
    "device": DEVICE,
    "host": HOST,
    "host_numa": HOST_NUMA,
    "host_numa_current": HOST_NUMA_CURRENT,
}
_ACCESS = {
    "rw": CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
    "r": CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_READ,
    None: CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_NONE,
}
_HANDLES = {
    "posix_fd": CUmemAllocationHandleType.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
    "win32_kmt": CUmemAllocationHandleType.CU_MEM_HANDLE_TYPE_WIN32_KMT,
    "fabric": CUmemAllocationHandleType.CU_MEM_HANDLE_TYPE_FABRIC,
    None: CUmemAllocationHandleType.CU_MEM_HANDLE_TYPE_NONE,
}


@dataclass
class VirtualMemoryResourceOptions:
    """How memory is made and mapped. Choices are given as members or as their values.

    handle_type: None for memory that is not exported. addr_hint: an address to map it at, if that is free; 0
    or None: any. addr_align: the alignment of the address in bytes; None: the granularity. peers: ordinals of
    other devices that may use it. self_access, peer_access: what the device itself and its peers may do;
    None: nothing.
    """

    allocation_type: VirtualMemoryAllocationType | str = VirtualMemoryAllocationType.PINNED
    location_type: VirtualMemoryLocationType | str = VirtualMemoryLocationType.DEVICE
    handle_type: VirtualMemoryHandleType | str | None = VirtualMemoryHandleType.POSIX_FD
    granularity: VirtualMemoryGranularityType | str = VirtualMemoryGranularityType.RECOMMENDED
    gpu_direct_rdma: bool = False
    addr_hint: int | None = 0
    addr_align: int | None = None
    peers: Iterable[int] = ()
    self_access: VirtualMemoryAccessType | str | None = VirtualMemoryAccessType.READ_WRITE
    peer_access: VirtualMemoryAccessType | str | None = VirtualMemoryAccessType.READ_WRITE

    def __post_init__(self) -> None:
        self.allocation_type = VirtualMemoryAllocationType(self.allocation_type)
        self.location_type = VirtualMemoryLocationType(self.location_type)
        self.granularity = VirtualMemoryGranularityType(self.granularity)
        if self.handle_type is not None:
            self.handle_type = VirtualMemoryHandleType(self.handle_type)
        if self.self_access is not None:
            self.self_access = VirtualMemoryAccessType(self.self_access)
        if self.peer_access is not None:
            self.peer_access = VirtualMemoryAccessType(self.peer_access)
        self.addr_hint = byte_count(self.addr_hint or 0)
        self.peers = tuple(int(peer) for peer in self.peers)

    def _properties(self, device_id: int) -> CUmemAllocationProp:
        kind = _LOCATIONS[self.location_type]
        number = {DEVICE: device_id}.get(kind, 0)
        if kind == HOST_NUMA:
            number = nearest_numa_node()
        managed = self.allocation_type == "managed"
        properties = CUmemAllocationProp(
            type=CUmemAllocationType[f"CU_MEM_ALLOCATION_TYPE_{'MANAGED' if managed else 'PINNED'}"],
            requestedHandleTypes=_HANDLES[self.handle_type],
            location=CUmemLocation(type=kind, id=number),
        )
        properties.allocFlags.gpuDirectRDMACapable = int(self.gpu_direct_rdma)
        return properties

    def _unit(self, properties: CUmemAllocationProp) -> int:
        """The granularity in bytes."""
        name = f"CU_MEM_ALLOC_GRANULARITY_{VirtualMemoryGranularityType(self.granularity).name}"
        return checked.cuMemGetAllocationGranularity(properties, CUmemAllocationGranularity_flags[name])

    def _access(self, device_id: int, on_host: bool) -> list[CUmemAccessDesc]:
        access = [CUmemAccessDesc(location=on_device(device_id), flags=_ACCESS[self.self_access])]
        access += [
            CUmemAccessDesc(location=on_device(peer), flags=_ACCESS[self.peer_access]) for peer in self.peers
        ]
        if on_host:
            access.append(CUmemAccessDesc(location=CUmemLocation(type=HOST), flags=_ACCESS["rw"]))
        return access
