"""What calls carry from frame to frame: arguments, parts of them, and results."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..arithmetic.arrays import part
from .frame import Frame

if TYPE_CHECKING:
    from ..aliases import Array, Lanes
    from ..compile.function import CompiledFunction
    from ..compile.graph import Block
    from .batch import Batch


def arguments(
    batch: Batch, function: CompiledFunction, block: Block, frame: Frame, lanes: Lanes
) -> list[Array]:
    """The values of a call's arguments, as arrays over the lanes; of a struct its first part. What nobody
    wrote is 0.
    """
    count = len(batch.threads.numbers(lanes))
    values = []
    for name in block.info.arguments:
        slot = function.slots.get(f"{name}+0")
        value = np.uint64(0) if slot is None else frame[slot]
        value = value if lanes is None or not value.ndim else value.take(lanes)
        values.append(np.broadcast_to(value, (count,)))
    return values


def give(function: CompiledFunction, block: Block, frame: Frame, lanes: Lanes, values: Array) -> None:
    """The result of a call."""
    for name in block.info.results:
        slot = function.slots.get(f"{name}+0")
        if slot is None:
            continue
        frame.set(slot, values, lanes)


def carry(
    source: CompiledFunction,
    source_frame: Frame,
    source_name: str,
    target: CompiledFunction,
    target_frame: Frame,
    target_name: str,
    lanes: Lanes,
) -> None:
    """Copy a parameter or result between frames, whose functions may keep it in other parts."""
    have, want = source.param_slots.get(source_name, {}), target.param_slots.get(target_name, {})
    for offset, size in want.items():
        if have.get(offset) == size:
            kept = source.slots[f"{source_name}+{offset}"]
            value = source_frame[kept]
            if lanes is None:
                source_frame.owned.discard(kept)  # both frames have the array from now on
            else:
                value = part(value, lanes)
        else:
            value = assembled(source, source_frame, source_name, have, offset, size, lanes)
        slot = target.slots.get(f"{target_name}+{offset}")
        if slot is None:
            continue
        target_frame.set(slot, value, lanes)
        if source_frame.undefined and have.get(offset) == size:
            undefined = source_frame.get_undefined((source.slots[f"{source_name}+{offset}"],), lanes)
            target_frame.set_undefined(((slot, undefined[0]),), lanes)


def assembled(
    function: CompiledFunction,
    frame: Frame,
    name: str,
    have: dict[int, int],
    offset: int,
    size: int,
    lanes: Lanes,
) -> Array:
    """`size` bytes at `offset` of a parameter, put together out of its parts."""
    total: Array = np.zeros((), np.uint64)[()]
    for start, length in have.items():
        if start < offset + size and offset < start + length:
            value = frame[function.slots[f"{name}+{start}"]]
            value = (value if lanes is None else part(value, lanes)).astype(np.uint64)
            shift = 8 * (start - offset)
            total = total | (value << np.uint64(shift) if shift >= 0 else value >> np.uint64(-shift))
    return total.astype(f"u{size}")


def function_number(function: CompiledFunction, block: Block) -> int:
    """The number of the last instruction of a block, for reports."""
    return function.number(block.steps[-1].instruction)
