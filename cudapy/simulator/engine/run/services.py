"""What kernels call and the device offers: printf, assert, malloc, free; in `device_runtime.py` the rest.

Source: CUDA C++ Programming Guide, "Formatted Output", "Assertion", "Dynamic Global Memory Allocation".
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import numpy as np

from .. import fault
from ..addresses import round_up
from ..fault import Fault
from .arguments import arguments, function_number, give
from .device_runtime import DEVICE_RUNTIME, Service
from .formatting import formatted

if TYPE_CHECKING:
    from ..aliases import Lanes
    from ..compile.function import CompiledFunction
    from ..compile.graph import Block
    from .batch import Batch
    from .frame import Frame


def _printf(batch: Batch, function: CompiledFunction, block: Block, frame: Frame, lanes: Lanes) -> None:
    """vprintf(format, arguments): the arguments lie one after the other in local memory, each at its
    alignment.
    """
    formats, buffers = arguments(batch, function, block, frame, lanes)
    number = function_number(function, block)
    counts = np.zeros(len(formats), np.uint32)
    for place, lane in enumerate(batch.threads.numbers(lanes).tolist()):
        offset = 0

        def string(address: int, most: int | None = None, lane: int = lane) -> str:
            return batch.spaces.read_string(lane, address, number, most)

        def take(size: int, place: int = place, lane: int = lane) -> bytes:
            nonlocal offset
            start = round_up(offset, size)
            offset = start + size
            return batch.spaces.read_bytes(lane, int(buffers[place]) + start, size, number)

        text, counts[place] = formatted(string(int(formats[place])), take, string)
        batch.launch.output.append(text)
    give(function, block, frame, lanes, counts)


def _assert(batch: Batch, function: CompiledFunction, block: Block, frame: Frame, lanes: Lanes) -> None:
    """__assertfail(message, file, line, function, size of a character)."""
    message, file, line, name, _ = arguments(batch, function, block, frame, lanes)
    lines, number = [], function_number(function, block)
    for place, lane in enumerate(batch.threads.numbers(lanes).tolist()):
        text = batch.threads.name(lane).replace("block (", "block: [").replace(" thread (", ", thread: [")
        what, where, who = (
            batch.spaces.read_string(lane, int(one[place]), number) for one in (message, file, name)
        )
        thread = text.replace(")", "]")
        lines.append(f"{where}:{int(line[place])}: {who}: {thread} Assertion `{what}` failed.")
    os.write(2, ("\n".join(lines) + "\n").encode())
    raise Fault(fault.ASSERT, f"{lines[0]}\n    {batch.report.where(number)}")


def _malloc(batch: Batch, function: CompiledFunction, block: Block, frame: Frame, lanes: Lanes) -> None:
    (sizes,) = arguments(batch, function, block, frame, lanes)
    addresses = np.array([batch.device.heap_allocate(size) for size in sizes.tolist()], np.uint64)
    give(function, block, frame, lanes, addresses)


def _free(batch: Batch, function: CompiledFunction, block: Block, frame: Frame, lanes: Lanes) -> None:
    (addresses,) = arguments(batch, function, block, frame, lanes)
    for place, address in enumerate(addresses.tolist()):
        if address and not batch.device.heap_free(address):
            bad = np.arange(len(addresses)) == place
            number = function_number(function, block)
            batch.report.fail(
                fault.LAUNCH_FAILED, "free of what malloc did not give", number, lanes, bad, addresses
            )


def _set_conditional(
    batch: Batch, function: CompiledFunction, block: Block, frame: Frame, lanes: Lanes
) -> None:
    """cudaGraphSetConditional(handle, value): what a conditional node of a graph will see."""
    handles, values = arguments(batch, function, block, frame, lanes)
    for handle, value in zip(handles.tolist(), values.tolist(), strict=True):
        batch.device.conditionals[handle] = value


SERVICES: dict[str, Service] = {
    "vprintf": Service(2, _printf),
    "__assertfail": Service(5, _assert),
    "malloc": Service(1, _malloc),
    "free": Service(1, _free),
    "cudaGraphSetConditional": Service(2, _set_conditional),
    **DEVICE_RUNTIME,
}
"""Functions that modules declare and the device has."""
