"""What the nodes of a graph use: kernels, buffers, arrays, events, functions."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import TYPE_CHECKING

from ...driver import CUgraph, CUstream, CUuserObject, CUuserObjectRetain_flags, checked
from .held import hold

if TYPE_CHECKING:
    from typing import TypeGuard

    from .builder import GraphBuilder

Things = tuple[object, ...]

_PLAIN = {int, float, complex, bool, bytes, str, type(None)}


class Kept:
    """What a graph keeps alive, by the node that uses it: a dict that a user object of the graph holds.

    Copies of the graph hold the same dict. So once it was copied (`share`), the next change makes a new one
    for the graph alone.
    """

    def __init__(self, graph: CUgraph) -> None:
        self._graph = graph
        self._things: dict[Hashable, Things] = {}
        self._object: CUuserObject | None = None
        self._is_shared = self._is_exposed = False

    def put(self, key: Hashable, *things: object) -> None:
        """Keep `things` alive, in place of those that were kept for `key`."""
        used = tuple(filter(_is_needed, things))
        if not used and key not in self._things:
            return
        self._own()
        if used:
            self._things[key] = used
        else:
            del self._things[key]

    def add(self, things: Iterable[object]) -> None:
        """Keep `things` alive for good, each once however often it is added."""
        for thing in things:
            if type(thing) in _PLAIN:
                continue
            key = "", id(thing)
            if key not in self._things and _is_needed(thing):
                self._own()
                self._things[key] = (thing,)

    def _own(self) -> None:
        """Have a dict that can be changed."""
        if self._object is not None and not self._is_shared:
            return
        things = dict(self._things)
        before, self._object = self._object, give(self._graph, things)
        self._things, self._is_shared = things, self._is_exposed
        if before is not None:
            checked.cuGraphReleaseUserObject(self._graph, before, 1)

    def share(self) -> Mapping[Hashable, Things]:
        """What is kept, to be kept by a copy of the graph too: it does not change any more."""
        self._is_shared = True
        return self._things

    def expose(self) -> None:
        """From now on copies may be made that nobody tells of."""
        self._is_shared = self._is_exposed = True


def _is_needed(thing: object) -> bool:
    """Not so what is copied; nor a Buffer that a graph allocates, as that needs the graph itself."""
    if type(thing) in _PLAIN:
        return False
    stream = getattr(thing, "_stream", None)
    return stream is None or not is_builder(getattr(stream, "_owner", None))


def give(graph: CUgraph, things: object) -> CUuserObject:
    """Let `graph` keep `things` alive. Source: cuGraphRetainUserObject."""
    made = hold(things)
    try:
        checked.cuGraphRetainUserObject(graph, made, 1, CUuserObjectRetain_flags.CU_GRAPH_USER_OBJECT_MOVE)
    except Exception:  # after Ctrl-C the graph may have it already
        checked.cuUserObjectRelease(made, 1)
        raise
    return made


def keep_captured(stream: CUstream, *things: object) -> None:
    """Let the graph that `stream` is captured into keep `things` alive, whoever began the capture."""
    graph = checked.cuStreamGetCaptureInfo(stream)[2]
    if int(graph):
        give(graph, things)


def keep_for(stream: object, *things: object) -> bool:
    """Keep `things` alive that work in `stream` uses, if it is a GraphBuilder, whose graph runs again."""
    if not is_builder(stream):
        return False
    stream._keep(*things)
    return True


class Recorder:
    """The base of GraphBuilder: tells it from streams where its module cannot be imported."""

    __slots__ = ()


def is_builder(stream: object) -> TypeGuard[GraphBuilder]:
    """Whether `stream` is a GraphBuilder, and no stream of somebody else."""
    return isinstance(stream, Recorder)
