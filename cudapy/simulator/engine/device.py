"""What a kernel sees of the device that it runs on."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from .memory import Memory
from .settings import Changeable

if TYPE_CHECKING:
    from collections.abc import Callable

    from .aliases import Dim3
    from .fault import Finding
    from .module import Function
    from .run.launch_accesses import LaunchAccesses
    from .texture import Surface, Texture


class Answers:
    """What kernels that use the Runtime API are told; a driver knows more."""

    ordinal = 0
    """The number of the device."""
    devices = 1
    version = 0
    """Of the runtime: 1000 * major + 10 * minor."""

    def attribute(self, name: int) -> int | None:
        """An attribute of the device, a cudaDeviceAttr; None if there is none of this number."""
        return None

    def limit(self, name: int) -> int | None:
        """A cudaLimit; None if there is none of this number."""
        return None

    def occupancy(self, function: Function, threads: int, shared_size: int) -> int | None:
        """How many blocks of a kernel a multiprocessor has at once."""
        return None

    def refusal(self, function: Function, grid: Dim3, block: Dim3, shared_size: int) -> int:
        """The cudaError_t of a launch that is not possible, else 0."""
        threads = block[0] * block[1] * block[2]
        is_possible = 0 < threads <= function.max_threads and all(grid)
        return 0 if is_possible else 9  # cudaErrorInvalidConfiguration

    def graph(self) -> int:
        """The graph that the kernel is of, if kernels may launch it, else 0."""
        return 0

    def launch_graph(self, graph: int, stream: int) -> int:
        """Launch a graph; a cudaError_t."""
        return 1  # cudaErrorInvalidValue

    def error(self, code: int) -> tuple[str, str]:
        """The name of a cudaError_t, and what it means."""
        return str(code), ""


def _print(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


@dataclass
class Device(Changeable):
    """Make one for each simulated device, and pass it to every launch."""

    memory: Memory = field(default_factory=Memory)
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
    pending_launches: int = 2048
    """Most launches by the threads of a grid that have not begun."""
    answers: Answers = field(default_factory=Answers)
    texts: dict[str, int] = field(default_factory=dict)
    """Addresses of texts that kernels were given."""
    origin: object = None
    """What `Allocation.reach` is asked about."""
    pause: Callable[[], None] | None = None
    """Called between the blocks of kernels: another kernel may run there."""
    is_interrupted: Callable[[], bool] = lambda: False
    """Whether kernels are to end, as Ctrl-C was pressed."""
    notify: Callable[[str], object] = _print
    """Called with what is told while a kernel runs: that all its threads wait for a write that no thread
    makes.
    """
    record: Callable[[tuple[Finding, ...]], None] | None = None
    """What is called with the findings of a launch, which then does not fail for them."""
    accessed: Callable[[LaunchAccesses], None] | None = None
    """What is called with the accesses of a grid that has run, if races are looked for."""

    def heap_allocate(self, size: int) -> int:
        """The address of memory of the heap of kernels, or 0."""
        if sum(self.heap.values()) + size > self.heap_size:
            return 0
        address = self.memory.allocate(max(size, 1), "kernel heap", 16)
        self.heap[address] = size
        return address

    def heap_free(self, address: int) -> bool:
        """Take memory of the heap back; whether it was some."""
        if self.heap.pop(address, None) is None:
            return False
        self.memory.release(address)
        return True

    def text(self, text: str) -> int:
        """The address of a text."""
        if text not in self.texts:
            data = text.encode() + b"\0"
            address = self.texts[text] = self.memory.allocate(len(data), "constant text")
            allocation = self.memory.find(address)
            assert allocation is not None
            allocation.data[:] = np.frombuffer(data, np.uint8)
            self.memory.written(address, len(data))
        return self.texts[text]
