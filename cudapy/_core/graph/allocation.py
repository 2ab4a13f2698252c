"""Memory that a graph allocates while it runs: where it is, and who may use it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...driver import (
    CUDA_MEM_ALLOC_NODE_PARAMS,
    CUmemAccess_flags,
    CUmemAccessDesc,
    CUmemAllocationType,
    CUmemLocationType,
)
from ..options import Choice
from ..upward import upward

if TYPE_CHECKING:
    from ..device.device import Device

_ON_DEVICE = CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
_PINNED = CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
_MANAGED = CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_MANAGED


class GraphMemoryType(Choice):
    """What kind of memory a node allocates."""

    DEVICE = "device"
    HOST = "host"
    MANAGED = "managed"


_KINDS = {
    GraphMemoryType.DEVICE: (_PINNED, _ON_DEVICE),
    GraphMemoryType.HOST: (_PINNED, CUmemLocationType.CU_MEM_LOCATION_TYPE_HOST),
    GraphMemoryType.MANAGED: (_MANAGED, _ON_DEVICE),
}


def allocation_parameters(
    size: int, device: Device | int | None, memory_type: str, peer_access: Sequence[Device | int] | None
) -> CUDA_MEM_ALLOC_NODE_PARAMS:
    """`size` bytes of memory of a kind."""
    kind, where = _KINDS[GraphMemoryType(memory_type)]
    params = CUDA_MEM_ALLOC_NODE_PARAMS(bytesize=size)
    params.poolProps.allocType = kind
    params.poolProps.location.type = where
    if where == _ON_DEVICE:
        params.poolProps.location.id = upward.device(device).device_id
    access = []
    for peer in peer_access or ():
        access.append(CUmemAccessDesc(flags=CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_READWRITE))
        access[-1].location.type = _ON_DEVICE
        access[-1].location.id = int(peer)
    if access:
        params.accessDescs = access
        params.accessDescCount = len(access)
    return params


def memory_type(params: CUDA_MEM_ALLOC_NODE_PARAMS) -> GraphMemoryType:
    """What kind of memory a node allocates."""
    if params.poolProps.allocType == _MANAGED:
        return GraphMemoryType.MANAGED
    return GraphMemoryType.DEVICE if params.poolProps.location.type == _ON_DEVICE else GraphMemoryType.HOST
