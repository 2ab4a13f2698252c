"""Calls and returns: frames are entered, parameters carried over.

Threads that come from different places run a function together; where each of them returns to is a register
of its frame.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .. import fault
from ..addresses import FUNCTIONS
from ..arithmetic.arrays import part
from . import services
from .arguments import carry, function_number
from .groups import FRAME_SLOT, SITE_SLOT, Key

if TYPE_CHECKING:
    from ..aliases import U32, U64, Lanes
    from ..compile.function import CompiledFunction
    from ..compile.graph import Block
    from .batch import Batch
    from .frame import Frame
    from .groups import Groups

_CALL_SIZE = 16
"""What a call takes of the stack besides local variables."""


class Site(NamedTuple):
    """Where a call returns to, and with what."""

    function: CompiledFunction
    block: int
    results: tuple[str, ...]


class Calls:
    """Has groups of a batch enter functions and leave them."""

    def __init__(self, batch: Batch, groups: Groups) -> None:
        self._batch, self._groups = batch, groups
        self._threads, self._kernel = batch.threads, batch.launch.kernel
        self._sites: list[Site] = []
        self._site_numbers: dict[tuple[int, int], int] = {}

    def call(
        self, key: Key, function: CompiledFunction, block: Block, frame: Frame, lanes: Lanes, target: U64
    ) -> None:
        """Have lanes enter what `block` ends with a call of; `target` is its address where no name is."""
        following = Key(key.depth, key.block + 1, key.function)
        if block.info.name is not None:
            self._call_one(key, following, function, block, frame, lanes, block.info.name)
            return
        numbers = self._threads.numbers(lanes)
        for one in np.unique(target):
            module = self._kernel.module
            name = module.function_at(int(one))
            if name not in module.compiled and name not in services.SERVICES:
                name = None
            chosen = lanes if not target.ndim else numbers[target == one]
            if name is None:
                self._batch.report.fail(
                    fault.INVALID_PC,
                    "A call of what is not a function",
                    function_number(function, block),
                    chosen,
                    True,
                    one,
                    more=f"functions start at {FUNCTIONS:#x} here",
                )
            self._call_one(key, following, function, block, frame, chosen, name)

    def _serve(self, name: str, function: CompiledFunction, block: Block, frame: Frame, lanes: Lanes) -> None:
        """Call what the simulator does itself."""
        service, given = services.SERVICES[name], len(block.info.arguments)
        if given != service.takes:
            text = f"{name} is called with {given} arguments instead of {service.takes}"
            number = function_number(function, block)
            self._batch.report.fail(fault.ILLEGAL_INSTRUCTION, text, number, lanes, True)
        service.act(self._batch, function, block, frame, lanes)

    def _frame_behind(self, function: CompiledFunction, frame: Frame, lanes: Lanes) -> U64:
        """Where the local memory of what a function calls begins, for each lane."""
        numbers = self._threads.numbers(lanes)
        base = part(frame[FRAME_SLOT], numbers) + np.uint64(function.local_size + _CALL_SIZE)
        if function.stack_slot is not None:
            base = base + (part(frame[function.stack_slot], numbers) + np.uint64(15) & ~np.uint64(15))
        return base

    def _call_one(
        self,
        key: Key,
        following: Key,
        function: CompiledFunction,
        block: Block,
        frame: Frame,
        lanes: Lanes,
        name: str,
    ) -> None:
        info = block.info
        if name in services.SERVICES:
            self._serve(name, function, block, frame, lanes)
            self._groups.add(following, lanes)
            return
        number = self._kernel.function_number(name)
        called = self._groups.functions[number]
        inner = Key(key.depth - 1, 0, number)
        entered = self._groups.frame(inner)
        parameters = called.text.prototype.parameters
        for variable, argument in zip(parameters, info.arguments):  # noqa: B905 (more may be given)
            carry(function, frame, argument, called, entered, variable.name, lanes)
        base = self._frame_behind(function, frame, lanes)
        top = int(np.maximum.reduce(base) if base.ndim else base) + called.local_size
        if top > (most := self._batch.device.stack_size):
            more = f"a stack has {most} bytes, {-key.depth + 1} calls are open"
            number = function_number(function, block)
            self._batch.report.fail(
                fault.HARDWARE_STACK_ERROR, "Stack overflow", number, lanes, True, more=more
            )
        self._batch.local.reserve(top)
        if called.stack_slot is not None:
            entered.merge(called.stack_slot, np.uint64(0), self._threads.numbers(lanes))
        site = self._site(function, following, info.results)
        if lanes is None:
            entered[FRAME_SLOT], entered[SITE_SLOT] = base, np.array(site, np.uint32)[()]
            entered.owned.clear()
        else:
            entered.merge(FRAME_SLOT, base, lanes)
            entered.merge(SITE_SLOT, np.uint32(site), lanes)
        self._groups.add(inner, lanes)

    def _site(self, function: CompiledFunction, following: Key, results: tuple[str, ...]) -> int:
        place = (following.function, following.block)
        number = self._site_numbers.get(place)
        if number is None:
            number = self._site_numbers[place] = len(self._sites)
            self._sites.append(Site(function, following.block, results))
        return number

    def return_(self, key: Key, function: CompiledFunction, frame: Frame, lanes: Lanes) -> None:
        """Have lanes go on where they called `function`, which is not the kernel."""
        numbers = self._threads.numbers(lanes)
        sites = part(frame[SITE_SLOT], numbers)
        different = _different(sites)
        for one in different:
            site = self._sites[int(one)]
            chosen = lanes if len(different) == 1 else numbers[sites == one]
            outer = Key(key.depth + 1, site.block, self._kernel.function_number(site.function.name))
            caller = self._groups.frame(outer)
            # what the function does not return stays what it was; what nobody takes is lost
            for variable, result in zip(function.text.prototype.results, site.results):  # noqa: B905
                carry(function, frame, variable.name, site.function, caller, result, chosen)
            self._groups.add(outer, chosen)


def _different(numbers: U32) -> U32:
    """Each number that is there, once; as a rule it is one."""
    if not numbers.ndim:
        return numbers.reshape(1)
    return np.unique(numbers) if np.count_nonzero(numbers != numbers[0]) else numbers[:1]
