"""Whether objects still do what they are for, or say that they are closed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Any

from .world import World


def probe_all(w: World, trace: TracebackType | None) -> None:
    """Use what a scenario had when an exception ended it, the builders of graphs first: they end captures."""
    found: list[Any] = []
    while trace is not None:
        if "/scenarios/" in trace.tb_frame.f_code.co_filename.replace("\\", "/"):
            for value in trace.tb_frame.f_locals.values():
                found.extend(_flat(value))
        trace = trace.tb_next
    unique = {id(thing): thing for thing in found}.values()
    for thing in sorted(unique, key=lambda thing: type(thing).__name__ != "GraphBuilder"):
        _probe(w, thing)


def _flat(value: Any) -> Iterator[Any]:
    if isinstance(value, (list, tuple)):
        for item in value:
            yield from _flat(item)
    else:
        yield value


def _probe(w: World, thing: Any) -> None:
    """Use a thing, whatever it is. Raises what it should not."""
    cls, core = type(thing), w.core
    uses: dict[Any, Callable[[], object]] = {
        core.Stream: lambda: thing.sync(),
        core.Event: lambda: thing.sync(),
        core.Buffer: lambda: thing.fill(0),
        core.MemoryResource: lambda: thing.allocate(64).close(),
        core.graph.Graph: lambda: thing.upload(w.device.default_stream),
        core.graph.GraphDefinition: lambda: thing.nodes(),
        core.graph.GraphNode: lambda: thing.type if thing.is_valid else thing.join(),
        core.Kernel: lambda: thing.num_arguments,
        core.ObjectCode: lambda: thing.get_module(),
    }
    if isinstance(thing, core.graph.GraphBuilder):
        thing.close()
    for kind, use in uses.items():
        if isinstance(thing, kind) and not _is_of_others(core, thing):
            assert repr(thing)
            if getattr(thing, "is_closed", False):
                _says_so(use, f"this {cls.__name__} is closed")
            elif not getattr(thing, "is_valid", True):
                _says_so(use, f"this {cls.__name__} was destroyed")
            else:
                use()
    if isinstance(thing, tuple(uses)) and hasattr(thing, "close") and not _is_of_others(core, thing):
        thing.close()
        thing.close()


def _is_of_others(core: Any, thing: Any) -> bool:
    """Whether it stands for what others may have ended, or is of use in a capture alone."""
    if isinstance(thing, core.Buffer):
        return thing._resource is None
    if isinstance(thing, (core.Stream, core.DeviceMemoryResource)) and thing._ownership is None:
        return True
    return isinstance(thing, core.GraphMemoryResource) or getattr(thing, "is_mapped", False)


def _says_so(use: Callable[[], object], words: str) -> None:
    try:
        use()
    except RuntimeError as error:
        assert words in str(error), error
    else:
        raise AssertionError(f"nobody said {words!r}")
