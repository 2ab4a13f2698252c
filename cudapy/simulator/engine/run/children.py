"""What a grid has launched, and memory for the parameters of what it launches.

Grids that kernels launch run once the batch of blocks that launched them has ended, in the order in which
they were launched; those of the tail stream once the grid has ended and all that it launched. No kernel waits
for what it launched.

Source: CUDA C++ Programming Guide, "CUDA Dynamic Parallelism".
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..aliases import Dim3
    from ..memory import Memory
    from ..module import Function

TAIL, FIRE_AND_FORGET = 3, 4
DEFAULT = (0, 1, 2)
"""cudaStream_t: the stream of the block, by each of its names."""


class ChildGrid(NamedTuple):
    """A launch by a kernel."""

    function: Function
    grid: Dim3
    block: Dim3
    shared_size: int
    parameters: bytes


Work: TypeAlias = "ChildGrid | Callable[[], None]"
"""A launch, or a copy or fill."""


class Buffer(NamedTuple):
    """Memory for the parameters of a launch to come."""

    address: int
    function: Function | None
    grid: Dim3
    block: Dim3
    shared_size: int


class Children:
    """What the threads of a grid have launched and made."""

    def __init__(self, memory: Memory) -> None:
        self.queued: deque[Work] = deque()
        self.tails: deque[Work] = deque()
        self._memory = memory
        self._buffers: dict[int, Buffer] = {}
        self._handles: set[int] = set()

    @property
    def pending(self) -> int:
        """How many launches have not begun, those whose parameters are being written included."""
        return len(self.queued) + len(self.tails) + len(self._buffers)

    def buffer(self, function: Function | None, grid: Dim3, block: Dim3, shared_size: int, size: int) -> int:
        """The address of memory for parameters."""
        address = self._memory.allocate(max(size, 1), "parameters of a launch")
        self._buffers[address] = Buffer(address, function, grid, block, shared_size)
        return address

    def take_buffer(self, address: int) -> tuple[Buffer, bytes] | None:
        """What a buffer is for and what is in it. It is released."""
        buffer, allocation = self._buffers.pop(address, None), self._memory.find(address)
        if buffer is None or allocation is None:
            return None
        content = bytes(allocation.data.tobytes())
        self._memory.release(address)
        return buffer, content

    def queue(self, stream: int, work: Work) -> bool:
        """Add to a stream; whether there is such a stream."""
        if stream not in (*DEFAULT, TAIL, FIRE_AND_FORGET) and stream not in self._handles:
            return False
        (self.tails if stream == TAIL else self.queued).append(work)
        return True

    def next(self) -> Work | None:
        """What is to run now. The tail stream comes last."""
        if self.queued:
            return self.queued.popleft()
        return self.tails.popleft() if self.tails else None

    def handle(self) -> int:
        """A new stream or event; addresses are never so small, nor such handles of the host."""
        handle = 0x1000 + len(self._handles)
        self._handles.add(handle)
        return handle

    def is_handle(self, handle: int) -> bool:
        return handle in self._handles

    def close(self) -> None:
        """Release what no launch has taken."""
        for address in self._buffers:
            self._memory.release(address)
