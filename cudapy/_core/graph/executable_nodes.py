"""What can be changed in a Graph after it was made, node by node."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, ClassVar

from ..._ffi.shown import type_name
from ...driver import CUgraphExec, CUgraphNode, checked
from ..context.current import current_context
from ..kernels import node_parameters
from ..kernels.kernel import Kernel
from ..kernels.launch_config import LaunchConfig
from ..ownership.graph_references import with_owners
from ..streams.event import Event
from . import parameters
from .hierarchy import definition_of
from .host_function import HostFunction
from .memory_nodes import MemcpyNode, MemsetNode
from .node import GraphNode
from .nodes import ChildGraphNode, EventRecordNode, EventWaitNode, HostCallbackNode, KernelNode

if TYPE_CHECKING:
    from .builder import GraphBuilder
    from .definition import GraphDefinition
    from .executable import Graph


class ExecutableGraphNode:
    """A node as a Graph has it: `graph[node]`. Changes hold for later launches of that Graph alone."""

    __slots__ = ("_exec", "_node")
    _classes: ClassVar[dict[type[GraphNode], type[ExecutableGraphNode]]] = {}

    def __init__(self) -> None:
        raise TypeError(f"a {type(self).__name__} comes from graph[node]")

    def __init_subclass__(cls, of: type[GraphNode] | None = None) -> None:
        if of is not None:
            ExecutableGraphNode._classes[of] = cls

    _exec: Graph
    _node: GraphNode

    @property
    def _handles(self) -> tuple[CUgraphExec, CUgraphNode]:
        return self._exec._handle, self._node._checked()

    @property
    def _context(self) -> int:
        """The context that the node was added in, or the current one if somebody else added it."""
        return self._node._record.context or current_context()

    def _change(self, objects: Iterable[object], function: Callable[..., object], *args: Any) -> None:
        """Have `function(handles, *args)` make the change, after which the node uses `objects`."""
        overrides, node = self._exec._overrides, int(self._node._handle)
        overrides.keep_alive(node, with_owners(objects), function, *self._handles, *args)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self._exec!r}, {self._node!r}>"


def executable_node(graph: Graph, node: GraphNode) -> ExecutableGraphNode:
    """The view of `node` in `graph`."""
    if not isinstance(node, GraphNode):
        raise TypeError(f"graph[node] takes a GraphNode, not {type_name(node)}")
    graph._handle  # noqa: B018  # raises what a closed Graph has to say
    cls = ExecutableGraphNode._classes.get(type(node), ExecutableGraphNode)
    view = cls.__new__(cls)
    view._exec, view._node = graph, node
    return view


class _Switchable(ExecutableGraphNode):
    """What can be switched off."""

    __slots__ = ()

    @property
    def is_enabled(self) -> bool:
        """Whether it runs. Source: cuGraphNodeGetEnabled."""
        return bool(checked.cuGraphNodeGetEnabled(*self._handles))

    def enable(self) -> None:
        """Let it run again. Source: cuGraphNodeSetEnabled."""
        checked.cuGraphNodeSetEnabled(*self._handles, 1)

    def disable(self) -> None:
        """Let it do nothing. Source: cuGraphNodeSetEnabled."""
        checked.cuGraphNodeSetEnabled(*self._handles, 0)


class ExecutableKernelNode(_Switchable, of=KernelNode):
    """A kernel node of a Graph."""

    __slots__ = ()

    def update(self, *, config: LaunchConfig, kernel: Kernel, args: Any) -> None:
        """Change the launch; the cluster and whether it is cooperative have to stay as they are.

        Source: cuGraphExecKernelNodeSetParams.
        """
        self._handles  # noqa: B018  # raises what a closed Graph has to say
        block = node_parameters.arguments(kernel, args)
        wanted = node_parameters.kernel_parameters(config, kernel, block.address, self._context)
        assert isinstance(self._node, KernelNode)
        have = self._node.config
        if (config.cluster, config.is_cooperative) != (have.cluster, have.is_cooperative):
            raise ValueError(f"update: a Graph cannot change what its cluster or cooperation is: {have!r}")
        self._change((kernel, *args), checked.cuGraphExecKernelNodeSetParams, wanted)


class ExecutableMemsetNode(_Switchable, of=MemsetNode):
    """A memset node of a Graph."""

    __slots__ = ()

    def update(
        self, *, dst: Any, value: Any, width: int, height: int = 1, pitch: int = 0, dst_owner: object = None
    ) -> None:
        """Change the fill, as in `GraphDefinition.memset`. Source: cuGraphExecMemsetNodeSetParams."""
        objects = parameters.owned("dst", dst, dst_owner)
        wanted = parameters.memset_parameters(dst, value, width, height, pitch)
        self._change(objects, checked.cuGraphExecMemsetNodeSetParams, wanted, self._context)


class ExecutableMemcpyNode(_Switchable, of=MemcpyNode):
    """A memcpy node of a Graph."""

    __slots__ = ()

    def update(
        self, *, dst: Any, src: Any, size: int, dst_owner: object = None, src_owner: object = None
    ) -> None:
        """Change the copy, as in `GraphDefinition.memcpy`; host memory stays host memory.

        Source: cuGraphExecMemcpyNodeSetParams.
        """
        objects = parameters.owned("dst", dst, dst_owner) + parameters.owned("src", src, src_owner)
        wanted = parameters.memcpy_parameters(self._node._hierarchy, dst, src, size)
        self._change(objects, checked.cuGraphExecMemcpyNodeSetParams, wanted, self._context)


class ExecutableChildGraphNode(ExecutableGraphNode, of=ChildGraphNode):
    """A child graph node of a Graph."""

    __slots__ = ()

    def update(self, child: GraphBuilder | GraphDefinition) -> None:
        """Do what `child`, of the same shape, does. Source: cuGraphExecChildGraphNodeSetParams."""
        child = definition_of(child, "update")
        objects = tuple(child._hierarchy.references.mark_shared().values())
        self._change(objects, checked.cuGraphExecChildGraphNodeSetParams, child._checked())


class ExecutableEventRecordNode(ExecutableGraphNode, of=EventRecordNode):
    """A node of a Graph that records an event."""

    __slots__ = ()

    def update(self, event: Event) -> None:
        """Record another event. Source: cuGraphExecEventRecordNodeSetEvent."""
        self._change((event,), checked.cuGraphExecEventRecordNodeSetEvent, event._for_others())


class ExecutableEventWaitNode(ExecutableGraphNode, of=EventWaitNode):
    """A node of a Graph that waits for an event."""

    __slots__ = ()

    def update(self, event: Event) -> None:
        """Wait for another event. Source: cuGraphExecEventWaitNodeSetEvent."""
        self._change((event,), checked.cuGraphExecEventWaitNodeSetEvent, event._handle)


class ExecutableHostCallbackNode(ExecutableGraphNode, of=HostCallbackNode):
    """A node of a Graph that calls a function on the host."""

    __slots__ = ()

    def update(self, fn: Any, *, user_data: Any = None) -> None:
        """Call another function, as in `GraphDefinition.callback`. Source: cuGraphExecHostNodeSetParams."""
        function = HostFunction(fn, user_data)
        self._change(function.objects, checked.cuGraphExecHostNodeSetParams, function.parameters)
