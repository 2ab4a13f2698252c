"""What kernels call and the device offers: printf, assert, malloc, free.

Source: CUDA C++ Programming Guide, "Formatted Output", "Assertion", "Dynamic Global Memory Allocation".
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import numpy as np

from ...._ffi.rounding import round_up
from .. import fault
from ..fault import Fault
from .formatting import formatted

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..aliases import Array, Lanes
    from ..compile.function import CompiledFunction
    from ..compile.graph import Block
    from .batch import Batch
    from .frame import Frame


def _arguments(
    batch: Batch, function: CompiledFunction, block: Block, frame: Frame, lanes: Lanes
) -> list[Array]:
    """The values of a call's arguments, as arrays over the lanes."""
    count = len(batch.threads.numbers(lanes))
    values = []
    for name in block.info.arguments:
        value = frame[function.slots[f"{name}+0"]]
        value = value if lanes is None or not value.ndim else value.take(lanes)
        values.append(np.broadcast_to(value, (count,)))
    return values


def _give(function: CompiledFunction, block: Block, frame: Frame, lanes: Lanes, values: Array) -> None:
    """The result of a call."""
    for name in block.info.results:
        slot = function.slots.get(f"{name}+0")
        if slot is None:
            continue
        if lanes is None:
            frame[slot] = values
            frame.owned.clear()
        else:
            frame.merge(slot, values, lanes)


def _number(function: CompiledFunction, block: Block) -> int:
    return function.instructions.index(block.steps[-1].instruction)


def _printf(batch: Batch, function: CompiledFunction, block: Block, frame: Frame, lanes: Lanes) -> None:
    """vprintf(format, arguments): the arguments lie one after the other in local memory, each at its
    alignment.
    """
    formats, buffers = _arguments(batch, function, block, frame, lanes)
    number = _number(function, block)
    counts = np.zeros(len(formats), np.uint32)
    texts: dict[int, str] = {}
    for place, lane in enumerate(batch.threads.numbers(lanes).tolist()):
        address = int(formats[place])
        if address not in texts:
            texts[address] = batch.global_memory.read_string(address)
        offset = 0

        def take(size: int, place: int = place, lane: int = lane) -> bytes:
            nonlocal offset
            start = round_up(offset, size)
            offset = start + size
            return batch.spaces.read_bytes(lane, int(buffers[place]) + start, size, number)

        text, counts[place] = formatted(texts[address], take, batch.global_memory.read_string)
        batch.launch.output.append(text)
    _give(function, block, frame, lanes, counts)


def _assert(batch: Batch, function: CompiledFunction, block: Block, frame: Frame, lanes: Lanes) -> None:
    """__assertfail(message, file, line, function, size of a character)."""
    message, file, line, name, _ = _arguments(batch, function, block, frame, lanes)
    lines = []
    for place, lane in enumerate(batch.threads.numbers(lanes).tolist()):
        text = batch.threads.name(lane).replace("block (", "block: [").replace(" thread (", ", thread: [")
        what, where, who = (batch.global_memory.read_string(int(one[place])) for one in (message, file, name))
        thread = text.replace(")", "]")
        lines.append(f"{where}:{int(line[place])}: {who}: {thread} Assertion `{what}` failed.")
    os.write(2, ("\n".join(lines) + "\n").encode())
    raise Fault(fault.ASSERT, f"{lines[0]}\n    {batch.report.where(_number(function, block))}")


def _malloc(batch: Batch, function: CompiledFunction, block: Block, frame: Frame, lanes: Lanes) -> None:
    (sizes,) = _arguments(batch, function, block, frame, lanes)
    heap = batch.device.heap
    addresses = np.zeros(len(sizes), np.uint64)
    for place, size in enumerate(sizes.tolist()):
        if sum(heap.values()) + size <= batch.device.heap_size:
            address = batch.device.memory.allocate(max(size, 1), "kernel heap", 16)
            heap[address] = size
            addresses[place] = address
    _give(function, block, frame, lanes, addresses)


def _free(batch: Batch, function: CompiledFunction, block: Block, frame: Frame, lanes: Lanes) -> None:
    (addresses,) = _arguments(batch, function, block, frame, lanes)
    heap = batch.device.heap
    for place, address in enumerate(addresses.tolist()):
        if not address:
            continue
        if heap.pop(address, None) is None:
            bad = np.arange(len(addresses)) == place
            number = _number(function, block)
            batch.report.fail(
                fault.LAUNCH_FAILED, "free of what malloc did not give", number, lanes, bad, addresses
            )
        batch.device.memory.release(address)


def _set_conditional(
    batch: Batch, function: CompiledFunction, block: Block, frame: Frame, lanes: Lanes
) -> None:
    """cudaGraphSetConditional(handle, value): what a conditional node of a graph will see."""
    handles, values = _arguments(batch, function, block, frame, lanes)
    for handle, value in zip(handles.tolist(), values.tolist(), strict=True):
        batch.device.conditionals[handle] = value


SERVICES: dict[str, Callable[[Batch, CompiledFunction, Block, Frame, Lanes], None]] = {
    "vprintf": _printf,
    "__assertfail": _assert,
    "malloc": _malloc,
    "free": _free,
    "cudaGraphSetConditional": _set_conditional,
}
"""Functions that modules declare and the device has."""
