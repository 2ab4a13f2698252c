"""What the nodes of a graph use: kernels, buffers, arrays, events, functions.

Buffers and events are kept with what they stand for, so that closing them leaves a graph what it uses.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import TYPE_CHECKING

from ... import driver
from ...driver import CUgraph, CUresult, CUuserObject, CUuserObjectRetain_flags, checked
from ..closable import Closable
from ..context.current import RelaxedCaptureMode, c_function, owning
from ..kernel_argument import KernelArgument
from .owned import Ownership
from .user_objects import UserObjects, create_user_objects, sweep

if TYPE_CHECKING:
    from typing import TypeGuard

    from ..graph.builder import GraphBuilder

Things = tuple[object, ...]

_MOVE = int(CUuserObjectRetain_flags.CU_GRAPH_USER_OBJECT_MOVE)
_PLAIN = {int, float, complex, bool, bytes, str, type(None)}


class GraphReferences:
    """What a graph keeps alive, by the node that uses it: a dict that a user object of the graph holds.

    Copies of the graph hold the same dict. So once it was copied (`share`), the next change makes a new one
    for the graph alone.
    """

    def __init__(self, graph: CUgraph) -> None:
        self._graph = graph
        self._things: dict[Hashable, Things] = {}
        self._object: UserObjects | None = None
        self._is_shared = self._is_exposed = False

    def keep_alive(self, key: Hashable, *things: object) -> None:
        """Keep `things` alive, in place of those that were kept for `key`."""
        used = tuple(filter(_is_needed, things))
        if not used and key not in self._things:
            return
        self._own()
        if used:
            self._things[key] = used
        else:
            del self._things[key]

    def keep_alive_for_good(self, things: Iterable[object]) -> None:
        """Keep `things` alive for good, each once however often it is added."""
        for thing in things:
            if type(thing) in _PLAIN:
                continue
            key = "", id(thing)
            if key not in self._things and _is_needed(thing):
                self._own()
                self._things[key] = with_owners((thing,))

    def _own(self) -> None:
        """Have a dict that can be changed."""
        if self._object is not None and not self._is_shared:
            return
        things = dict(self._things)
        before, self._object = self._object, retain_in_graph(self._graph, things)
        self._things, self._is_shared = things, self._is_exposed
        for each in before or ():
            checked.cuGraphReleaseUserObject(self._graph, each, 1)

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


def with_owners(things: Iterable[object]) -> Things:
    """`things`, and what the memory, the events and the textures among them belong to, which closing them
    does not end.
    """
    found = tuple(things)
    kinds = Closable, KernelArgument
    owners = (thing._retain() for thing in found if isinstance(thing, kinds) and _is_needed(thing))
    return *found, *(owner for owner in owners if owner is not None)


def retain_in_graph(graph: CUgraph, things: object) -> UserObjects:
    """Let `graph` keep `things` alive. Source: cuGraphRetainUserObject."""
    held = CUuserObject(), CUuserObject()
    ownerships = [Ownership(_release, cell) for cell in held]
    retain = c_function("cuGraphRetainUserObject")
    try:
        create_user_objects(held, things)
        made = CUuserObject(held[0].value), CUuserObject(held[1].value)
        for cell in held:
            (status,) = map(retain, (graph,), (cell,), (1,), (_MOVE,))
            if not status:
                cell.value = 0  # the graph has it; Ctrl-C does not come between
                continue
            arguments = {"graph": graph, "object": cell}
            raise driver.libcuda.error("cuGraphRetainUserObject", CUresult(status), arguments)
    finally:
        for ownership in ownerships:
            ownership.close()
    return made


def _release(cell: CUuserObject) -> None:
    owning.cuUserObjectRelease(cell, 1)


def destroy_graph(graph: CUgraph) -> None:
    """Destroy a graph, without harm to a capture under way. Source: cuGraphDestroy."""
    with RelaxedCaptureMode():
        owning.cuGraphDestroy(graph)
    sweep()


class Recorder:
    """The base of GraphBuilder: tells it from streams where its module cannot be imported."""

    __slots__ = ()


def is_builder(stream: object) -> TypeGuard[GraphBuilder]:
    """Whether `stream` is a GraphBuilder, and no stream of somebody else."""
    return isinstance(stream, Recorder)
