"""Warp operations to which the lanes of a mask come at different instructions.

Source: PTX ISA, "vote.sync" and the like: a thread waits until all of the mask have executed the operation
with the same qualifiers and the same mask. Compilers rely on that when they make two loops of one.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..ptx.syntax import Instruction
    from .warp import Warps

_OPERATIONS = ("shfl.", "vote.", "match.", "redux.", "elect.", "bar.warp.")


def operation(instruction: Instruction) -> str:
    """What lanes at other instructions have to execute as well; "" if it is this instruction."""
    return instruction.opcode if instruction.opcode.startswith(_OPERATIONS) else ""


class _OthersFirst(Exception):
    """What the other lanes give is not known yet."""


class Meeting:
    """Stands for the warps of a batch while blocks that begin with one operation run, each for its lanes.

    What the first blocks give is kept, and they end there; when all have given, each runs again and gets its
    part of the result.
    """

    def __init__(self, warps: Warps) -> None:
        self._warps = warps
        self._parts: list[list[Any]] = []
        """Of each call that all have made: what each block gets."""
        self._given: list[tuple[int, str, tuple[Any, ...], dict[str, Any]]] = []
        self._block = self._call = 0

    def run(self, blocks: list[Callable[[], Any]]) -> list[Any]:
        """What the blocks return."""
        results: dict[int, Any] = {}
        while len(results) < len(blocks):
            for self._block, block in enumerate(blocks):
                if self._block not in results:
                    self._call = 0
                    with contextlib.suppress(_OthersFirst):
                        results[self._block] = block()
            if self._given:
                self._parts.append(self._together(len(blocks)))
        return [results[number] for number in range(len(blocks))]

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def call(*arguments: Any, **more: Any) -> Any:
            if self._call == len(self._parts):
                self._given.append((self._block, name, arguments, more))
                raise _OthersFirst
            self._call += 1
            return self._parts[self._call - 1][self._block]

        return call

    def _together(self, count: int) -> list[Any]:
        """The operation on the lanes of all blocks, the last argument of each call."""
        _, name, first, more = self._given[0]
        every = [arguments[-1] for _, _, arguments, _ in self._given]
        lanes = np.concatenate(every)
        order = np.argsort(lanes)
        arguments = [
            one
            if isinstance(one, str)
            else np.concatenate([np.broadcast_to(a[place], a[-1].shape) for _, _, a, _ in self._given])[order]
            for place, one in enumerate(first[:-1])
        ]
        result = getattr(self._warps, name)(*arguments, lanes[order], **more)
        parts: list[Any] = [None] * count
        for (block, *_), own in zip(self._given, every, strict=True):
            parts[block] = _taken(result, np.searchsorted(lanes[order], own))
        self._given = []
        return parts


def _taken(result: Any, places: Any) -> Any:
    if isinstance(result, tuple):
        return tuple(_taken(one, places) for one in result)
    return result[places] if np.ndim(result) else result
