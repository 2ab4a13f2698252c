"""What modules of core create, accept or call without importing it.

A stream returns the Device that it belongs to, and creates a GraphBuilder: classes of modules that import the
stream's. Each of these modules enters its class here, and that of launches the function that a kernel has.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from .arrays.strided import StridedMemoryView
    from .device.device import Device
    from .graph.builder import GraphBuilder
    from .graph.definition import GraphDefinition
    from .management.device import Device as SystemDevice
    from .memory.buffer import Buffer
    from .streams.stream import Stream


class Upward:
    """The classes, and the function. All but `system_device` are there once `cudapy.core` is imported."""

    buffer: type[Buffer]
    device: type[Device]
    dispatch: Callable[..., None]
    graph_builder: type[GraphBuilder]
    graph_definition: type[GraphDefinition]
    stream: type[Stream]
    strided_view: type[StridedMemoryView]
    system_device: type[SystemDevice]


upward = Upward()
