"""What a kernel sees of the device that it runs on."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from .memory import Memory
    from .texture import Surface, Texture


@dataclass
class Device:
    """Make one for each simulated device, and pass it to every launch."""

    memory: Memory
    multiprocessors: int = 4
    textures: dict[int, Texture] = field(default_factory=dict)
    """Texture objects, by handle."""
    surfaces: dict[int, Surface] = field(default_factory=dict)
    """Surface objects, by handle."""
    heap_size: int = 8 << 20
    """Bytes that `malloc` in kernels may give out."""
    stack_size: int = 64 << 10
    """Most bytes of local memory that a thread may have."""
    heap: dict[int, int] = field(default_factory=dict)
    """What kernels have allocated: sizes by address."""
    conditionals: dict[int, int] = field(default_factory=dict)
    """What `cudaGraphSetConditional` of kernels sets: values of conditional graph nodes, by handle."""
    origin: object = None
    """What `Allocation.reach` is asked about."""
    pause: Callable[[], None] | None = None
    """Called between the blocks of kernels: another kernel may run there."""
