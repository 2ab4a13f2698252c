"""Nodes that run kernels, graphs and host functions, and that record events and wait for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ...driver import (
    CUDA_KERNEL_NODE_PARAMS,
    CUevent,
    CUgraphNodeParams,
    CUgraphNodeType,
    checked,
)
from ..context.current import current_context
from ..kernels import node_parameters
from ..kernels.kernel import Kernel
from ..kernels.launch_config import LaunchConfig
from ..ownership.owned import NOWHERE
from ..streams.event import Event
from ..streams.event_options import EventOptions
from ..upward import upward
from .hierarchy import definition_of
from .host_function import HostFunction
from .node import GraphNode

if TYPE_CHECKING:
    from .builder import GraphBuilder
    from .definition import GraphDefinition


class EmptyNode(GraphNode, kind="EMPTY"):
    """A node that does nothing; what follows it follows all that it follows."""

    __slots__ = ()


class KernelNode(GraphNode, kind="KERNEL"):
    """A node that runs a kernel."""

    __slots__ = ()

    def _params(self) -> CUDA_KERNEL_NODE_PARAMS:
        return checked.cuGraphKernelNodeGetParams(self._checked())

    @property
    def grid(self) -> tuple[int, int, int]:
        """The blocks of the grid, or its clusters, as in `config`."""
        return self.config.grid

    @property
    def block(self) -> tuple[int, int, int]:
        """The threads of a block."""
        return self.config.block

    @property
    def shmem_size(self) -> int:
        """The bytes of dynamic shared memory of a block."""
        return self.config.shmem_size

    @property
    def config(self) -> LaunchConfig:
        """The shape of the launch. Source: cuGraphKernelNodeGetParams, cuGraphKernelNodeGetAttribute."""
        return node_parameters.launch_config(self._checked(), self._params())

    @property
    def kernel(self) -> Kernel:
        """The kernel."""
        if self._record.kernel is None:
            self._record.kernel = node_parameters.kernel_of(self._params())
        return self._record.kernel

    def update(
        self, *, config: LaunchConfig | None = None, kernel: Kernel | None = None, args: Any = None
    ) -> None:
        """Change the launch; what is None stays as it is, but another kernel needs its `args`.

        Executables made before are not changed. Source: cuGraphKernelNodeSetParams.
        """
        handle, params = self._checked(), self._params()
        used = self.kernel if kernel is None else kernel
        if args is not None:
            block = node_parameters.arguments(used, args)
        elif kernel is None:
            block = node_parameters.arguments_at(used, int(params.kernelParams or 0))
        else:
            raise ValueError("update: another kernel needs its args, args=() if it takes none")
        shape = node_parameters.launch_config(handle, params)
        wanted = node_parameters.kernel_parameters(
            shape if config is None else config, used, block.address, int(params.ctx)
        )
        checked.cuGraphKernelNodeSetParams(handle, wanted)
        if config is not None:
            node_parameters.set_attributes(handle, config)
        self._record.kernel = used
        objects = {} if args is None else {"args": tuple(args)}
        self._hierarchy.keep_alive(handle, self._record, kernel=used, **objects)


class ChildGraphNode(GraphNode, kind="GRAPH"):
    """A node that runs another graph, of which it has a copy."""

    __slots__ = ()

    @property
    def child_graph(self) -> GraphDefinition:
        """The copy; what is added to it belongs to this graph. Source: cuGraphChildGraphNodeGetGraph."""
        inner = checked.cuGraphChildGraphNodeGetGraph(self._checked())
        return upward.graph_definition._of(self._hierarchy, inner, self)

    def _inside(self) -> tuple[GraphDefinition, ...]:
        return (self.child_graph,)

    def update(self, child: GraphBuilder | GraphDefinition) -> None:
        """Run a copy, made now, of another graph, which is not part of this one. Needs CUDA 12.2.

        Source: cuGraphNodeSetParams.
        """
        handle, child = self._checked(), definition_of(child, "update")
        if child._hierarchy is self._hierarchy:
            raise ValueError("update: the child is a part of the graph that it would go into")
        wanted = CUgraphNodeParams(type=CUgraphNodeType.CU_GRAPH_NODE_TYPE_GRAPH)
        wanted.graph.graph = child._graph
        lost = self._contents()
        checked.cuGraphNodeSetParams(handle, wanted)
        for node in lost:
            self._hierarchy.forget(node._handle)
        objects = tuple(child._hierarchy.references.mark_shared().values())
        self._hierarchy.keep_alive(handle, self._record, child=objects)


class _EventNode(GraphNode):
    """What records an event and what waits for one."""

    __slots__ = ()

    @property
    def event(self) -> Event:
        """The event; another object for it if the one that was given was closed."""
        if self._record.event is None or self._record.event.is_closed:
            self._record.event = _foreign(self._event())
        return self._record.event

    def _event(self) -> Any:
        raise NotImplementedError

    def _changed(self, event: Event) -> None:
        self._record.event = event
        self._hierarchy.keep_alive(self._handle, self._record, event=event)


def _foreign(handle: CUevent) -> Event:
    """The event of somebody else."""
    event = object.__new__(Event)
    event._open_handle, event._context = handle, current_context()
    event._options, event._ownership, event._process = EventOptions(), None, NOWHERE
    event._for_others()
    return event


class EventRecordNode(_EventNode, kind="EVENT_RECORD"):
    """A node that records an event."""

    __slots__ = ()

    def _event(self) -> Any:
        return checked.cuGraphEventRecordNodeGetEvent(self._checked())

    def update(self, event: Event) -> None:
        """Record another event. Source: cuGraphEventRecordNodeSetEvent."""
        checked.cuGraphEventRecordNodeSetEvent(self._checked(), event._for_others())
        self._changed(event)


class EventWaitNode(_EventNode, kind="WAIT_EVENT"):
    """A node that waits for an event."""

    __slots__ = ()

    def _event(self) -> Any:
        return checked.cuGraphEventWaitNodeGetEvent(self._checked())

    def update(self, event: Event) -> None:
        """Wait for another event. Source: cuGraphEventWaitNodeSetEvent."""
        checked.cuGraphEventWaitNodeSetEvent(self._checked(), event._handle)
        self._changed(event)


class HostCallbackNode(GraphNode, kind="HOST"):
    """A node that calls a function on the host."""

    __slots__ = ()

    @property
    def callback(self) -> Callable[[], object] | None:  # type: ignore[override]
        """The Python function; None for a C function.

        It takes the place of the method: what follows is added with `node.join().callback(fn)`.
        """
        return self._record.callback

    def update(self, fn: Any, *, user_data: Any = None) -> None:
        """Call another function, as in `GraphDefinition.callback`. Source: cuGraphHostNodeSetParams."""
        function = HostFunction(fn, user_data)
        checked.cuGraphHostNodeSetParams(self._checked(), function.parameters)
        self._record.callback = function.callback
        self._hierarchy.keep_alive(self._handle, self._record, fn=function.objects)
