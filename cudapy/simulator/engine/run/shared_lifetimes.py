"""The end of a block's shared memory, which other blocks of its cluster may still access.

Source: CUDA C++ Programming Guide, "Distributed Shared Memory".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..access import VERBS
from ..classes import LIFETIME
from ..fault import block_name

if TYPE_CHECKING:
    from ..aliases import I64
    from .access_sites import Site
    from .clocks import HappensBefore
    from .launch_order import LaunchOrder
    from .report import Reporter
    from .shadow import Shadow
    from .threads import Threads


class SharedLifetimes:
    """Those of the blocks of a batch, of which each has `stride` bytes of the shadow."""

    def __init__(
        self,
        threads: Threads,
        report: Reporter,
        order: LaunchOrder,
        happens: HappensBefore,
        shadow: Shadow,
        stride: int,
    ) -> None:
        self._threads, self._report = threads, report
        self._order, self._happens = order, happens
        self._shadow, self._stride = shadow, stride

    def left(self, lanes: I64) -> None:
        """Lanes have exited: the shared memory of blocks of which no thread is left is gone."""
        for block in np.unique(self._threads.blocks[lanes]).tolist():
            if not self._threads.live[block]:
                self._gone(block)

    def _gone(self, block: int) -> None:
        """Report an access by another block of the cluster that nothing orders before the exit of a thread
        of this one. Asynchronous copies are not looked at: their barriers tell nobody who made them.
        """
        happens, sites, shadow = self._happens, self._order.sites, self._shadow
        own = np.arange(block * self._threads.per_block, (block + 1) * self._threads.per_block)
        first, end = (where * self._stride // shadow.granularity for where in (block, block + 1))
        for record in (shadow.write, shadow.first_read, shadow.last_read):
            thread, when, numbers = record.at(np.arange(first, end))
            which = np.flatnonzero((thread >= 0) & ~np.isin(thread, happens.thread(own)))
            are_copies = ["async" in sites[one].instruction.opcode for one in numbers[which].tolist()]
            which = which[~np.array(are_copies, bool)]
            for lane in own.tolist():
                which = which[~happens.ordered(np.full(len(which), lane), thread[which], when[which])]
                if not len(which):
                    break
            else:
                place = int(which[0])
                self._tell(block, place, sites[int(numbers[place])], int(thread[place]))
                return

    def _tell(self, block: int, place: int, access: Site, thread: int) -> None:
        """Report an access of a thread to the memory of a block that may have exited."""
        start, per_block = int(self._happens.thread(np.zeros(1, np.int64))[0]), self._threads.per_block
        name = block_name(self._threads.of_launch(start + block * per_block)[0])
        self._report.find(
            LIFETIME,
            f"{VERBS[access.mode].capitalize()} of __shared__ memory of a block that may have exited",
            access.function.instructions.index(access.instruction),
            np.array([thread - start]),
            True,
            np.array([place * self._shadow.granularity], np.uint64),
            more=f"nothing orders it before {name} exits: cluster.sync() at the end would",
            function=access.function,
        )
