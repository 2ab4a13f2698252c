"""What the nodes of a graph use: kernels, buffers, arrays, events, functions.

Buffers and events are kept with what they stand for, so that closing them leaves a graph what it uses.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import TYPE_CHECKING

from ... import driver
from ..._bindings.errors import CUDAError
from ...driver import CUgraph, CUresult, CUuserObject, CUuserObjectRetain_flags, checked
from ..closable import Closable
from ..context.current import RelaxedCaptureMode, c_function, owning
from ..kernel_argument import KernelArgument
from .captures import captures
from .owned import RETRY_LATER, Ownership
from .user_objects import UserObjects, create_user_objects, sweep

if TYPE_CHECKING:
    from typing import TypeGuard

    from ..graph.builder import GraphBuilder

Objects = tuple[object, ...]

_MOVE = int(CUuserObjectRetain_flags.CU_GRAPH_USER_OBJECT_MOVE)
_PLAIN = {int, float, complex, bool, bytes, str, type(None)}


class _Kept(dict[Hashable, Objects]):
    """What a graph keeps alive, by the node that uses it."""

    __slots__ = ("__weakref__",)


class GraphReferences:
    """What a graph keeps alive, by the node that uses it: a dict that a user object of the graph holds.

    Copies of the graph hold the same dict. So once it was copied (`mark_shared`), the next change makes a new
    one for the graph alone.

    While the graph is recorded, the user object has a weak reference. What is kept may refer to who records,
    as a callback of its class does, and the garbage collector cannot see through the driver: nobody would
    end the capture.
    """

    def __init__(self, graph: CUgraph, is_recorded: bool = False) -> None:
        self._graph = graph
        self._objects = _Kept()
        self._object: UserObjects | None = None
        self._held: list[object] = []  # what the user object has: the dict, or a reference to it
        self._is_recorded = is_recorded
        self._is_shared = self._is_exposed = False

    def keep_alive(self, key: Hashable, *objects: object) -> None:
        """Keep `objects` alive, in place of those that were kept for `key`."""
        used = tuple(filter(_is_needed, objects))
        if not used and key not in self._objects:
            return
        self._own()
        if used:
            self._objects[key] = used
        else:
            del self._objects[key]

    def keep_alive_for_good(self, objects: Iterable[object]) -> None:
        """Keep `objects` alive for good, each once however often it is added."""
        for obj in objects:
            if type(obj) in _PLAIN:
                continue
            key = "", id(obj)
            if key not in self._objects and _is_needed(obj):
                self._own()
                self._objects[key] = with_owners((obj,))

    def _own(self) -> None:
        """Have a dict that can be changed."""
        if self._object is not None and not self._is_shared:
            return
        objects = _Kept(self._objects)
        held: list[object] = [weakref.ref(objects) if self._is_recorded else objects]
        before, self._object = self._object, retain_in_graph(self._graph, held)
        self._objects, self._held, self._is_shared = objects, held, self._is_exposed
        for each in before or ():
            checked.cuGraphReleaseUserObject(self._graph, each, 1)

    def end_recording(self) -> None:
        """The graph is there, and keeps what it uses."""
        self._is_recorded = False
        self._held[:] = [self._objects]

    def mark_shared(self) -> Mapping[Hashable, Objects]:
        """What is kept, to be kept by a copy of the graph too: it does not change any more."""
        self._is_shared = True
        return self._objects

    def expose(self) -> None:
        """From now on copies may be made that nobody tells of."""
        self._is_shared = self._is_exposed = True


def _is_needed(obj: object) -> bool:
    """Not so what is copied; nor memory that a graph allocates, as that needs the graph itself."""
    return type(obj) not in _PLAIN and not getattr(obj, "_is_of_graph", False)


def with_owners(objects: Iterable[object]) -> Objects:
    """`objects`, and what the memory, the events and the textures among them belong to, which closing them
    does not end.
    """
    needed = tuple(objects)
    kinds = Closable, KernelArgument
    owners = (obj._retain() for obj in needed if isinstance(obj, kinds) and _is_needed(obj))
    return *needed, *(owner for owner in owners if owner is not None)


def retain_in_graph(graph: CUgraph, objects: object) -> UserObjects:
    """Let `graph` keep `objects` alive. Source: cuGraphRetainUserObject."""
    held = CUuserObject(), CUuserObject()
    ownerships = [Ownership(_release, cell) for cell in held]
    retain = c_function("cuGraphRetainUserObject")
    try:
        create_user_objects(held, objects)
        handles = CUuserObject(held[0].value), CUuserObject(held[1].value)
        for cell in held:
            (status,) = map(retain, (graph,), (cell,), (1,), (_MOVE,))
            if not status:
                cell.value = 0  # the graph has it; one step: interrupt_safe
                continue
            arguments = {"graph": graph, "object": cell}
            raise driver.libcuda.error("cuGraphRetainUserObject", CUresult(status), arguments)
    finally:
        for ownership in ownerships:
            ownership.close()
    return handles


def _release(cell: CUuserObject) -> None:
    owning.cuUserObjectRelease(cell, 1)


def destroy_graph(graph: CUgraph) -> None:
    """Destroy a graph, without harm to a capture under way. Source: cuGraphDestroy."""
    with RelaxedCaptureMode():
        owning.cuGraphDestroy(graph)
    sweep()


def _destroy_with_captures(graph: CUgraph, captures_inside: dict[int, Callable[[], None]]) -> None:
    _end_captures(captures_inside)
    destroy_graph(graph)


def _end_captures(captures_inside: dict[int, Callable[[], None]]) -> None:
    """Call each function, once.

    A capture into the body of a conditional node that ends after the outermost graph was destroyed is a
    segmentation fault in the driver (580, H200).
    """
    for number, end in list(captures_inside.items()):
        end()
        captures_inside.pop(number, None)


class GraphOwnership(Ownership):
    """Owns a graph from before it is made, as a capture makes it at its end.

    Memory that the graph allocates refers to this, and not to who records: it keeps its address, and does
    not keep the capture going.
    """

    __slots__ = ("capture", "inside", "is_dropped", "is_void", "references")

    def __init__(self, cell: CUgraph) -> None:
        self.capture = 0
        """The number of the capture that makes it."""
        self.is_dropped = False
        """Whether it is nobody's any more: the capture failed, or was abandoned."""
        self.is_void = False
        """Whether in addition it can never run: what it allocates never was there."""
        self.references: weakref.ref[GraphReferences] | None = None
        """What the graph keeps alive, if it is recorded."""
        self.inside: dict[int, Callable[[], None]] = {}
        """What ends each capture into a graph inside this one, by its number."""
        super().__init__(_destroy_with_captures, cell, self.inside)

    def end_inside(self) -> None:
        """End the captures into graphs inside this one, which is about to go."""
        _end_captures(self.inside)

    def begun(self, capture: int, references: GraphReferences | None) -> None:
        """The capture with this number is under way: its memory is found by it."""
        self.references = None if references is None else weakref.ref(references)
        self.capture = capture
        captures.graphs[capture] = self

    def drop(self, failure: CUDAError | None = None) -> None:
        """Its capture was abandoned, or ended with `failure`."""
        self.is_dropped = True
        # Another failure: whoever has ended the capture instead may run the graph.
        self.is_void = failure is None or failure.code in RETRY_LATER
        if not self.is_void and self.references is not None and (references := self.references()):
            references.end_recording()


class Recorder:
    """The base of GraphBuilder: tells it from streams where its module cannot be imported."""

    __slots__ = ()


def is_builder(stream: object) -> TypeGuard[GraphBuilder]:
    """Whether `stream` is a GraphBuilder, and no stream of somebody else."""
    return isinstance(stream, Recorder)
