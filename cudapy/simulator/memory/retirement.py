"""Memory in `simulator.reset()`: none of it is of use any more, and its addresses are not given out again.

What only the device used goes, and so do the files that were shared with other processes, which keep what
they have open. Page-locked and managed memory stays as it is, since arrays of the program may show it.
"""

from ..fresh_devices import BEFORE, forgotten
from ..handles import every
from ..streams.threads import guard
from . import allocations, ipc_memory, virtual
from .allocations import Block, blocks, table
from .multicast import Multicast
from .pages import Mapping, Region, blank, emptied, replace
from .pool import Pool, leaving
from .pool_memory import Storage, graph_memory
from .shared_pool import ImportedPool
from .virtual import Mappable, Physical

SEEN = ("host", "managed", "managed variable")
"""Kinds of memory that the program sees."""

_kept: list[object] = []
"""What has memory whose addresses must not be given out again."""


@forgotten
def _forget() -> None:
    with guard:
        gone = blocks.retire()
        for block in gone:
            if block.kind == "registered":  # it is the program's, which may free it
                table.release(block.address)
        _keep_addresses(gone)
        _end_mappables({block.extra for block in gone if isinstance(block.extra, Mappable)})
        _close_files()
        ipc_memory.opened.clear()
        virtual.reserved.clear()
        for allocation in table.retire(f"which {BEFORE}"):
            if allocation.kind not in SEEN:
                emptied(allocation.address, allocation.size)


def _keep_addresses(gone: list[Block]) -> None:
    """Of memory that lies in files, too: others may have those open, so nothing is changed in them."""
    for block in gone:
        extra = block.extra
        if isinstance(extra, Mappable):
            replace(block.address, block.size)
        elif isinstance(extra, Storage):
            _kept.append(extra)
            if extra.region is not None:
                replace(extra.region.address, extra.region.whole)
        elif isinstance(extra, (Region, Mapping)):
            replace(extra.address, extra.whole)
    _kept.extend(graph_memory.values())
    graph_memory.clear()


def _end_mappables(mapped: set[Mappable]) -> None:
    """The end of physical allocations and multicast objects, also of those that are only mapped or bound."""
    every_one = mapped | {*every(Mappable)}
    for one in list(every_one):
        if isinstance(one, Multicast):
            every_one |= {physical for _, physical in one.bindings.values()}
            for member in one.team.values():
                blank(member.address, one.size)
    for one in every_one:
        if isinstance(one, Physical):
            one.end()


def _close_files() -> None:
    """Of pools, and of the memory that cuMemAlloc gave."""
    for pool in {*every(Pool), *leaving}:
        if isinstance(pool, ImportedPool):
            pool.forget()
        pool.abandon()
    leaving.clear()
    allocations.abandon_file()
