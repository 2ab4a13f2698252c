"""What is alive, and memory that a program has allocated and not freed."""

from collections import Counter

from .. import record
from ..devices.context import Context
from ..devices.green import Description
from ..handles import Object, every
from .allocations import blocks
from .pool_memory import graph_memory
from .virtual import reserved


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


def note_leaks() -> None:
    """Record the memory that the program has allocated and not freed."""
    for block in blocks.all():
        is_lost = block.context.is_lost  # with its context, in which nothing can be freed
        if block.address not in graph_memory and not is_lost:  # a graph has its memory for good
            place = block.place
            text = f"{block.size} bytes of {block.kind} memory at {block.address:#x}, allocated {place},"
            size, device = block.size, block.device.ordinal
            where = {"function": place.function, "line": place.shown_line}
            record.note(record.LEAK, f"{text} were not freed", bytes=size, device=device, **where)


def note_leaks_if_asked() -> None:
    """`note_leaks` in a program that is not Python's, at its end."""
    if record.looks_for_leaks():
        note_leaks()
        record.note_step(record.LOOKED_FOR_LEAKS)
