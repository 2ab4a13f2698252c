"""Choices by name, and what core's functions take. The names of `cudapy.core.typing`.

Wherever a choice is taken its text is, too: "cubin" for ObjectCodeFormatType.CUBIN.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Literal

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

if TYPE_CHECKING:
    from typing import Any

    from ..context.resources import DeviceResourcesType, WorkqueueSharingScopeType
    from ..textures.choices import AddressModeType, ArrayFormatType, FilterModeType, ReadModeType

__all__ = [
    "AddressModeType",
    "ArrayFormatType",
    "CompilerBackendType",
    "DevicePointerType",
    "DeviceResourcesType",
    "FilterModeType",
    "GraphConditionalType",
    "GraphMemoryType",
    "IsStreamType",
    "ManagedMemoryLocationType",
    "ObjectCodeFormatType",
    "PCHStatusType",
    "ProcessStateType",
    "ReadModeType",
    "SourceCodeType",
    "VirtualMemoryAccessType",
    "VirtualMemoryAllocationType",
    "VirtualMemoryGranularityType",
    "VirtualMemoryHandleType",
    "VirtualMemoryLocationType",
    "WorkqueueSharingScopeType",
]

DevicePointerType = CUdeviceptr | int | None
"""An address on a device."""

ProcessStateType = Literal["running", "locked", "checkpointed", "failed"]
"""Where a process is between two checkpoints: `core.checkpoint.Process.state`."""

_LATER = {
    **dict.fromkeys(
        ("AddressModeType", "ArrayFormatType", "FilterModeType", "ReadModeType"), "textures.choices"
    ),
    **dict.fromkeys(("DeviceResourcesType", "WorkqueueSharingScopeType"), "context.resources"),
}

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        """What few programs need comes when it is asked for."""
        if name not in _LATER:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = globals()[name] = getattr(import_module(f"..{_LATER[name]}", __package__), name)
        return value

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
