"""What a graph can be extended by: at its start from a GraphDefinition, after a node from a GraphNode."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ..._ffi.shown import type_name
from ...driver import (
    CUdeviceptr,
    CUgraph,
    CUgraphConditionalNodeType,
    CUgraphNode,
    CUgraphNodeType,
    checked,
)
from ..closable import NotCopyable
from ..context.current import current_context, owning, with_context
from ..context.green import green_contexts, green_number
from ..kernels import node_parameters
from ..kernels.kernel import Kernel
from ..kernels.launch_config import LaunchConfig
from ..memory.buffer import Buffer
from ..memory.pointer import byte_count
from ..streams.event import Event
from . import condition as conditions
from . import parameters
from .allocation import allocation_parameters
from .condition import GraphCondition
from .hierarchy import GraphHierarchy, Record, definition_of
from .host_function import HostFunction

if TYPE_CHECKING:
    from ..device.device import Device
    from .builder import GraphBuilder
    from .conditional import IfElseNode, IfNode, SwitchNode, WhileNode
    from .definition import GraphDefinition
    from .memory_nodes import AllocNode, FreeNode, MemcpyNode, MemsetNode
    from .node import GraphNode
    from .nodes import (
        ChildGraphNode,
        EmptyNode,
        EventRecordNode,
        EventWaitNode,
        HostCallbackNode,
        KernelNode,
    )

Memory = Buffer | CUdeviceptr | int

kinds: dict[CUgraphNodeType | None, type[GraphNode]] = {}
"""The classes of nodes by their kinds; by None that of all others."""

_KERNEL = CUgraphNodeType.CU_GRAPH_NODE_TYPE_KERNEL
_MEMCPY = CUgraphNodeType.CU_GRAPH_NODE_TYPE_MEMCPY
_MEMSET = CUgraphNodeType.CU_GRAPH_NODE_TYPE_MEMSET
_HOST = CUgraphNodeType.CU_GRAPH_NODE_TYPE_HOST
_CHILD = CUgraphNodeType.CU_GRAPH_NODE_TYPE_GRAPH
_EMPTY = CUgraphNodeType.CU_GRAPH_NODE_TYPE_EMPTY
_WAIT = CUgraphNodeType.CU_GRAPH_NODE_TYPE_WAIT_EVENT
_RECORD = CUgraphNodeType.CU_GRAPH_NODE_TYPE_EVENT_RECORD
_ALLOC = CUgraphNodeType.CU_GRAPH_NODE_TYPE_MEM_ALLOC
_FREE = CUgraphNodeType.CU_GRAPH_NODE_TYPE_MEM_FREE
_CONDITIONAL = CUgraphNodeType.CU_GRAPH_NODE_TYPE_CONDITIONAL


def node_at(
    hierarchy: GraphHierarchy, graph: CUgraph, handle: CUgraphNode, kind: CUgraphNodeType | None = None
) -> Any:
    """The node with this handle, as an object of the class for its kind (None: ask the driver).

    It is the same object as long as anybody has it.
    """
    record = hierarchy.record(handle)
    known = None if record.node is None else record.node()
    if known is not None:
        return known
    if kind is None:
        kind = checked.cuGraphNodeGetType(handle)
    cls: Any = kinds.get(kind) or kinds[None]
    cls = cls._for(handle, record)
    node = cls.__new__(cls)
    node._hierarchy, node._graph, node._handle, node._record = hierarchy, graph, handle, record
    record.node = weakref.ref(node)
    return node


class NodeFactory(NotCopyable):
    """Base of GraphDefinition and GraphNode. Each method adds one node and returns it.

    What the node uses is kept alive as long as the graph, an executable made from it or another copy may use
    it; only memory that is given as an address is the caller's.
    """

    __slots__ = ()

    def _place(self) -> tuple[GraphHierarchy, CUgraph, list[CUgraphNode]]:
        """The graph, and the nodes in it that the new one follows."""
        raise NotImplementedError

    def _add(
        self,
        kind: CUgraphNodeType,
        add: Callable[..., object],
        *args: Any,
        context: int = 0,
        before: list[CUgraphNode] | None = None,
        note: Callable[[CUgraphNode, Record], object] | None = None,
        **objects: Any,
    ) -> Any:
        """The node that `add(cell, graph, nodes before, count, *args)` makes in `cell`; it needs `objects`.

        before: the nodes it follows, if these are not those of `_place`. note: is called with the cell and
        the node's record, for what else belongs to it. If that fails or is interrupted, there is no node.
        """
        hierarchy, graph, placed = self._place()
        before, node = placed if before is None else before, CUgraphNode()
        try:
            add(node, graph, before or None, len(before), *args)
            record = hierarchy.added(node)
            record.context = context
            if green_contexts and (green := green_number(context)):
                objects["context"] = green
            hierarchy.keep_alive(node, record, **objects)
            if note is not None:
                note(node, record)
            return node_at(hierarchy, graph, node, kind)
        except BaseException:
            hierarchy.take_back(node, objects)
            raise

    def _current(self) -> int:
        """The context that a new node belongs to: the current one, or that of the graph where none is."""
        return current_context() or self._place()[0].context

    def launch(self, config: LaunchConfig, kernel: Kernel, *args: Any) -> KernelNode:
        """Run a kernel, as `launch(stream, config, kernel, *args)` does. Source: cuGraphAddKernelNode."""
        context = current_context()
        if context:
            block = node_parameters.arguments(kernel, args)
        else:
            context = self._place()[0].context
            block = with_context(context, node_parameters.arguments, kernel, args)
        wanted = node_parameters.kernel_parameters(config, kernel, block.address, context)

        def note(node: CUgraphNode, record: Record) -> None:
            record.kernel = kernel
            if config.cluster or config.is_cooperative:
                node_parameters.set_attributes(node, config)

        add = owning.cuGraphAddKernelNode
        return self._add(  # type: ignore[no-any-return]
            _KERNEL, add, wanted, context=context, note=note, kernel=kernel, args=args
        )

    def join(self, *nodes: GraphNode) -> EmptyNode:
        """Do nothing, but after all of `nodes`. Source: cuGraphAddEmptyNode."""
        hierarchy, graph, before = self._place()
        for node in nodes:
            if not isinstance(node, kinds[None]):
                raise TypeError(f"join takes nodes, not {type_name(node)}")
            if node._hierarchy is not hierarchy or node._graph != graph:
                raise ValueError(f"join: {node!r} is a node of another graph")
            if node._checked() not in before:
                before.append(node._handle)
        return self._add(_EMPTY, owning.cuGraphAddEmptyNode, before=before)  # type: ignore[no-any-return]

    def allocate(
        self,
        size: int,
        *,
        device: Device | int | None = None,
        memory_type: str = "device",
        peer_access: Sequence[Device | int] | None = None,
    ) -> AllocNode:
        """Allocate `size` bytes each time the graph runs, at an address known now: `dptr`.

        Free them with `deallocate`, or outside the graph. device: the current one if None. memory_type:
        "device", "host" or "managed"; the latter two need CUDA 13. peer_access: other devices that may use
        the memory. Source: cuGraphAddMemAllocNode.
        """
        wanted = allocation_parameters(byte_count(size), device, memory_type, peer_access)
        allocations = self._place()[0].allocations

        def note(*_: object) -> None:
            allocations[int(wanted.dptr)] = size

        return self._add(_ALLOC, owning.cuGraphAddMemAllocNode, wanted, note=note)  # type: ignore[no-any-return]

    def deallocate(self, dptr: CUdeviceptr | int) -> FreeNode:
        """Free what an allocation node has at `dptr`. Source: cuGraphAddMemFreeNode."""
        return self._add(_FREE, owning.cuGraphAddMemFreeNode, int(dptr))  # type: ignore[no-any-return]

    def memset(
        self,
        dst: Memory,
        value: Any,
        width: int,
        height: int = 1,
        pitch: int = 0,
        *,
        dst_owner: object = None,
    ) -> MemsetNode:
        """Fill `height` rows of `width` elements at `dst`, which are `pitch` bytes apart.

        value: an int from 0 to 255, an element of one byte; or an element as bytes, a NumPy scalar, anything
        of 1, 2 or 4 bytes. dst_owner: what to keep alive for a `dst` that is an address.
        Source: cuGraphAddMemsetNode.
        """
        objects = parameters.owned("dst", dst, dst_owner)
        wanted = parameters.memset_parameters(dst, value, width, height, pitch)
        context = self._current()
        add = owning.cuGraphAddMemsetNode
        return self._add(_MEMSET, add, wanted, context, context=context, dst=objects)  # type: ignore[no-any-return]

    def memcpy(
        self,
        dst: Any,
        src: Any,
        size: int,
        *,
        dst_owner: object = None,
        src_owner: object = None,
    ) -> MemcpyNode:
        """Copy `size` bytes from `src` to `dst`.

        dst, src: Buffers, addresses of any memory, or contiguous host arrays (numpy, bytearray), which are
        read or written at every launch. dst_owner, src_owner: what to keep alive for an address.
        Source: cuGraphAddMemcpyNode.
        """
        objects: dict[str, Any] = {
            "dst": parameters.owned("dst", dst, dst_owner),
            "src": parameters.owned("src", src, src_owner),
        }
        wanted = parameters.memcpy_parameters(self._place()[0], dst, src, size)
        context = self._current()
        add = owning.cuGraphAddMemcpyNode
        return self._add(_MEMCPY, add, wanted, context, context=context, **objects)  # type: ignore[no-any-return]

    def embed(self, child: GraphBuilder | GraphDefinition) -> ChildGraphNode:
        """Run a copy, made now, of another graph, which must not allocate memory or have conditions.

        Source: cuGraphAddChildGraphNode.
        """
        child = definition_of(child, "embed")
        objects = tuple(child._hierarchy.references.mark_shared().values())
        add = owning.cuGraphAddChildGraphNode
        return self._add(_CHILD, add, child._graph, child=objects)  # type: ignore[no-any-return]

    def record(self, event: Event) -> EventRecordNode:
        """Record an event. Source: cuGraphAddEventRecordNode."""
        return self._of_event(_RECORD, owning.cuGraphAddEventRecordNode, event)  # type: ignore[no-any-return]

    def wait(self, event: Event) -> EventWaitNode:
        """Wait for an event. Source: cuGraphAddEventWaitNode."""
        return self._of_event(_WAIT, owning.cuGraphAddEventWaitNode, event)  # type: ignore[no-any-return]

    def _of_event(self, kind: CUgraphNodeType, add: Callable[..., Any], event: Event) -> Any:
        if not isinstance(event, Event):
            raise TypeError(f"record() and wait() of a graph take an Event, not {type_name(event)}")

        def note(_: CUgraphNode, record: Record) -> None:
            record.event = event

        return self._add(kind, add, event._for_others(), note=note, event=event)

    def callback(self, fn: Any, *, user_data: Any = None) -> HostCallbackNode:
        """Call `fn` on the host, in a thread of the driver; it must not call CUDA.

        fn: a callable without parameters; what it raises goes to sys.unraisablehook. Or a C function,
        `ctypes.CFUNCTYPE(None, ctypes.c_void_p)`, which is called with `user_data`: an address, or a copy of
        these bytes. A callable that refers to an executable of its own graph keeps both alive until that is
        closed. Source: cuGraphAddHostNode.
        """
        function = HostFunction(fn, user_data)

        def note(_: CUgraphNode, record: Record) -> None:
            record.callback = function.callback

        add = owning.cuGraphAddHostNode
        return self._add(  # type: ignore[no-any-return]
            _HOST, add, function.parameters, note=note, fn=function.objects
        )

    # -- decisions --------------------------------------------------------------------------------

    def if_then(self, condition: GraphCondition) -> IfNode:
        """Run the graph `then` if the condition is not 0. Needs CUDA 12.4."""
        return self._conditional(condition, conditions.IF, 1)  # type: ignore[no-any-return]

    def if_else(self, condition: GraphCondition) -> IfElseNode:
        """Run the graph `then` if the condition is not 0, else the graph `else_`. Needs CUDA 12.8."""
        return self._conditional(condition, conditions.IF, 2)  # type: ignore[no-any-return]

    def while_loop(self, condition: GraphCondition) -> WhileNode:
        """Run the graph `body` again and again while the condition is not 0. Needs CUDA 12.4."""
        return self._conditional(condition, conditions.WHILE, 1)  # type: ignore[no-any-return]

    def switch(self, condition: GraphCondition, count: int) -> SwitchNode:
        """Run that of `count` graphs, `branches`, whose number the condition is, or none.

        Needs CUDA 12.8.
        """
        return self._conditional(condition, conditions.SWITCH, count)  # type: ignore[no-any-return]

    def _conditional(self, condition: GraphCondition, kind: CUgraphConditionalNodeType, count: int) -> Any:
        wanted = conditions.conditional(condition, kind, count, self._current())

        def note(_: CUgraphNode, record: Record) -> None:
            record.condition, record.cond_type = condition, kind
            record.branches = conditions.bodies(wanted)

        return self._add(_CONDITIONAL, conditions.add_conditional, wanted, note=note)
