"""What all definitions of one graph, and of the graphs inside it, share."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from ..._bindings.errors import CUDAError
from ..._ffi.shown import type_name
from ..._process.interrupt_safe import unchecked_entry
from ...driver import CUgraph, CUgraphConditionalNodeType, CUgraphNode
from ..context.current import owning
from ..context.green import kept_number
from ..ownership.graph_references import GraphOwnership, GraphReferences, with_owners
from ..upward import upward

if TYPE_CHECKING:
    from ..kernels.kernel import Kernel
    from ..streams.event import Event
    from .condition import GraphCondition
    from .definition import GraphDefinition
    from .node import GraphNode


class Record:
    """What is known of a node that the driver does not tell: who was given, rather than which address."""

    is_alive = True
    context = 0
    kernel: Kernel | None = None
    event: Event | None = None
    callback: Callable[[], object] | None = None
    condition: GraphCondition | None = None
    cond_type: CUgraphConditionalNodeType | None = None
    branches: tuple[CUgraph, ...] = ()
    node: weakref.ReferenceType[GraphNode] | None = None  # the object that stands for it

    def __init__(self) -> None:
        self.objects: dict[str, tuple[Any, ...]] = {}  # what it uses, by role

    def end(self) -> None:
        """The node was destroyed."""
        self.__dict__.clear()
        self.is_alive, self.objects = False, {}


class GraphHierarchy:
    """A graph with those inside it: bodies of conditional nodes, child graphs.

    ownership: what owns the outermost one. While that is captured, it is still to come.
    """

    def __init__(
        self, root: CUgraph, context: int, ownership: GraphOwnership, is_recorded: bool = False
    ) -> None:
        self.root = root
        self.context = kept_number(context)
        self.references = GraphReferences(root, is_recorded)
        self.records: dict[int, Record] = {}
        self.allocations: dict[int, int] = {}  # sizes, by address
        self._ownership = ownership

    @property
    def is_alive(self) -> bool:
        """False once the capture that was to make it has failed, or was abandoned."""
        return not self._ownership.is_dropped

    @property
    def inside(self) -> dict[int, Callable[[], None]]:
        """The captures into graphs of it, as `GraphOwnership.inside`."""
        return self._ownership.inside

    def mark_shared(self) -> None:
        """Others have a part of it to build: it is destroyed when the last of them lets go of it."""
        self._ownership.mark_shared()

    def record(self, node: CUgraphNode) -> Record:
        """What is known of a node."""
        record = self.records.get(node.value)
        return self.records.setdefault(node.value, Record()) if record is None else record

    def added(self, node: CUgraphNode) -> Record:
        """What is known of a new node: nothing, whatever was at this address before."""
        self.forget(node)
        return self.record(node)

    def keep_alive(self, node: CUgraphNode, record: Record, **objects: Any) -> None:
        """Keep alive what a node uses; what is not named stays as it was."""
        if not objects and not record.objects:
            return
        for role, used in objects.items():
            record.objects[role] = with_owners(used if isinstance(used, tuple) else (used,))
        self.references.keep_alive(int(node), *(obj for used in record.objects.values() for obj in used))

    def forget(self, node: CUgraphNode) -> None:
        """A node was destroyed."""
        record = self.records.pop(int(node), None)
        if record is not None:
            record.end()
        self.references.keep_alive(int(node))

    @unchecked_entry
    def take_back(self, node: CUgraphNode, objects: Mapping[str, Any], number: int = 0) -> None:
        """Destroy the node in this cell, 0 for none, as its adding failed or was interrupted. One that
        cannot be destroyed, as in a graph that allocates memory, keeps the `objects` that it uses.
        """
        try:  # to the end: interrupt_safe
            number = number or node.value
            try:
                if node.value:
                    owning.cuGraphDestroyNode(node)
            except CUDAError:
                self.keep_alive(node, self.record(node), **objects)
            else:
                if number:
                    self.forget(CUgraphNode(number))
        except Exception:
            raise
        except BaseException:
            self.take_back(node, objects, number)
            raise

    def allocated(self, address: int) -> bool:
        """Whether a node of this graph allocates the memory at `address`."""
        return any(first <= address < first + size for first, size in self.allocations.items())


def definition_of(source: Any, method: str) -> GraphDefinition:
    """`source` itself, or that of a GraphBuilder. Raises TypeError for what `method` does not take."""
    definition = getattr(source, "graph_definition", source)
    if not isinstance(definition, upward.graph_definition):
        raise TypeError(f"{method} takes a GraphBuilder or a GraphDefinition, not {type_name(source)}")
    return definition
