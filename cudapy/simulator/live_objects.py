"""What there is of each kind."""

from collections import Counter

from .devices.context import Context
from .devices.green import Description
from .handles import Object, every
from .memory.allocations import blocks
from .memory.pool_memory import graph_memory
from .memory.virtual import reserved


def live_objects() -> dict[str, int]:
    """See `cudapy.simulator.alive`."""
    counts = Counter(obj.noun for obj in every(Object) if not isinstance(obj, Description))
    for block in blocks.all():
        storage = graph_memory.get(block.address)
        if storage is None or storage.is_live:  # a graph has its memory for good; a launch allocates it
            counts[f"{block.kind} memory"] += 1
    counts["addresses"] = len(reserved)
    counts["retained context"] = sum(context.retained for context in every(Context))
    return dict(+counts)
