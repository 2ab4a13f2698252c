"""Where buffers come from: one kind of memory for each file."""

from __future__ import annotations

from .device import DeviceMemoryResource, DeviceMemoryResourceOptions
from .graph import GraphMemoryResource
from .legacy import LegacyPinnedMemoryResource, _SynchronousMemoryResource
from .location import Host
from .managed import ManagedMemoryResource, ManagedMemoryResourceOptions
from .managed_buffer import ManagedBuffer
from .pinned import PinnedMemoryResource, PinnedMemoryResourceOptions
from .resource import MemoryResource
from .virtual import VirtualMemoryResource
from .virtual_options import VirtualMemoryResourceOptions

__all__ = [
    "DeviceMemoryResource",
    "DeviceMemoryResourceOptions",
    "GraphMemoryResource",
    "Host",
    "LegacyPinnedMemoryResource",
    "ManagedBuffer",
    "ManagedMemoryResource",
    "ManagedMemoryResourceOptions",
    "MemoryResource",
    "PinnedMemoryResource",
    "PinnedMemoryResourceOptions",
    "VirtualMemoryResource",
    "VirtualMemoryResourceOptions",
    "_SynchronousMemoryResource",
]
