"""Choices by name, and what core's functions take. The names of `cudapy.core.typing`.

Wherever a choice is taken its text is, too: "cubin" for ObjectCodeFormatType.CUBIN.
"""

from __future__ import annotations

from ...driver import CUdeviceptr
from ..graph.allocation import GraphMemoryType
from ..graph.condition import GraphConditionalType
from ..kernels.code_types import CompilerBackendType, ObjectCodeFormatType, PCHStatusType, SourceCodeType
from ..memory.managed import ManagedMemoryLocationType
from ..memory.virtual_options import (
    VirtualMemoryAccessType,
    VirtualMemoryAllocationType,
    VirtualMemoryGranularityType,
    VirtualMemoryHandleType,
    VirtualMemoryLocationType,
)
from ..streams.stream import IsStreamType

__all__ = [
    "CompilerBackendType",
    "DevicePointerType",
    "GraphConditionalType",
    "GraphMemoryType",
    "IsStreamType",
    "ManagedMemoryLocationType",
    "ObjectCodeFormatType",
    "PCHStatusType",
    "SourceCodeType",
    "VirtualMemoryAccessType",
    "VirtualMemoryAllocationType",
    "VirtualMemoryGranularityType",
    "VirtualMemoryHandleType",
    "VirtualMemoryLocationType",
]

DevicePointerType = CUdeviceptr | int | None
"""An address on a device."""
