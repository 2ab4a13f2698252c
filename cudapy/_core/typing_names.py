"""Choices by name, and what core's functions take. The names of `cudapy.core.typing`.

Wherever a choice is taken its text is, too: "cubin" for ObjectCodeFormatType.CUBIN.
"""

from __future__ import annotations

from ..driver import CUdeviceptr
from .choices import Choice
from .graph.allocation import GraphMemoryType
from .graph.condition import GraphConditionalType
from .memory.managed import ManagedMemoryLocationType
from .memory.virtual_options import (
    VirtualMemoryAccessType,
    VirtualMemoryAllocationType,
    VirtualMemoryGranularityType,
    VirtualMemoryHandleType,
    VirtualMemoryLocationType,
)
from .stream import IsStreamType

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


class SourceCodeType(Choice):
    """What a Program is written in."""

    CXX = "c++"
    PTX = "ptx"
    NVVM = "nvvm"


class ObjectCodeFormatType(Choice):
    """What an ObjectCode is: `code_type`, and what `Program.compile` makes."""

    PTX = "ptx"
    CUBIN = "cubin"
    LTOIR = "ltoir"
    FATBIN = "fatbin"
    OBJECT = "object"
    LIBRARY = "library"


class CompilerBackendType(Choice):
    """What compiles or links: `Program.backend`, `Linker.which_backend()`."""

    NVRTC = "NVRTC"
    NVVM = "NVVM"
    NVJITLINK = "nvJitLink"
    DRIVER = "driver"


class PCHStatusType(Choice):
    """What became of a precompiled header: `Program.pch_status`."""

    CREATED = "created"
    NOT_ATTEMPTED = "not_attempted"
    FAILED = "failed"
