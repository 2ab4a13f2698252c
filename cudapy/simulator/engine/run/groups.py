"""Groups of threads that are at the same place, and the frames that they are in.

A function has one frame for each depth of calls, which all threads that are in it there share. So threads
that come from different places run it together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .frame import Frame

if TYPE_CHECKING:
    from ..aliases import I64, Lanes
    from ..compile.function import CompiledFunction

FRAME_SLOT, SITE_SLOT = 0, 1
"""Of every frame: the address of its local memory, and where it was called."""


class Key(NamedTuple):
    """A group. The smallest runs first."""

    depth: int
    """The negative number of calls that it is in."""
    block: int
    function: int


class Place:
    """Where a group is: what is needed to run it there, and where it may go from there.

    It refers to no other place: these would keep each other, and the arrays of their frames, alive.
    """

    __slots__ = ("after", "block", "frame", "function", "key", "target")

    def __init__(self, key: Key, function: CompiledFunction, frame: Frame) -> None:
        self.key, self.function, self.frame = key, function, frame
        self.block = block = function.blocks[key.block]
        self.after = Key(key.depth, key.block + 1, key.function)
        """The next block."""
        self.target = Key(key.depth, block.targets[0], key.function) if block.end == "branch" else self.after
        """The block that it branches to."""


_NO_CALL = np.zeros((), np.uint64)[()]


def frame_of_kernel(kernel: CompiledFunction, count: int) -> Frame:
    """The frame in which `count` threads begin."""
    frame = Frame(kernel.initial, count)
    frame[FRAME_SLOT] = _NO_CALL
    return frame


class Groups:
    """The groups of a batch of `count` threads, all of which begin in the `frame` of the kernel, the first
    function.
    """

    def __init__(self, functions: list[CompiledFunction], count: int, frame: Frame) -> None:
        self.functions = functions
        self.ready: dict[Key, list[Lanes]] = {}
        """The lanes that can run, as the arrays in which they arrived."""
        self.masked: dict[Key, list[I64]] = {}
        """The lanes that wait for the rest of their warp's mask."""
        self._count = count
        self._frames: dict[tuple[int, int], Frame] = {(0, 0): frame}
        self._places: dict[Key, Place] = {}

    def frame(self, key: Key) -> Frame:
        """The frame that a group is in."""
        frame = self._frames.get((key.depth, key.function))
        if frame is None:
            initial = self.functions[key.function].initial
            frame = self._frames[key.depth, key.function] = Frame(initial, self._count)
        return frame

    def place(self, key: Key) -> Place:
        """The place of a group."""
        place = self._places.get(key)
        if place is None:
            place = self._places[key] = Place(key, self.functions[key.function], self.frame(key))
        return place

    def add(self, key: Key, lanes: Lanes) -> None:
        """Have lanes run there."""
        self.ready.setdefault(key, []).append(lanes)

    def recheck_masks(self) -> None:
        """Check again which masks are complete: lanes have exited."""
        for key in list(self.masked):
            self.ready.setdefault(key, []).extend(self.masked.pop(key))
