"""Memory that a program has allocated and not freed."""

from .. import record
from .allocations import blocks
from .pool_memory import graph_memory


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
