"""Instances of graphs: made, launched, updated, their nodes switched off."""

from __future__ import annotations

import threading
from functools import partial
from typing import Any

from ..._types.driver.enums import CUgraphInstantiateResult as Instantiated
from ..._types.driver.enums import CUgraphNodeType as Type
from ..addresses import Pointer
from ..code.launching import KernelLaunch
from ..handles import FIRST, find
from ..library import provides
from ..memory.allocations import blocks
from ..memory.copies import ARRAY, Copy
from ..memory.fills import Fill
from ..refused import Refused, invalid
from ..streams.capturing import forbid
from ..streams.faults import Faults, go_on
from ..streams.operations import Operation, needed
from ..streams.order import nodes_of, stream_exists
from ..streams.stream import stream
from ..streams.work import Queue
from . import device_launch
from .conditional import Condition
from .graph import ChildGraph, Graph, Impossible, Node, graph, node
from .user_object import UserObject

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


UPLOAD = 2  # CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD
AUTO_FREE = 1  # CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH
FOR_KERNELS = 4  # CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH
FLAGS = 15


def conditions(of: Graph) -> list[Condition]:
    """The conditional nodes of a graph."""
    return [one.operation for one in of.nodes if isinstance(one.operation, Condition)]


def with_bodies(of: Graph) -> list[Graph]:
    """A graph, and those inside its conditional nodes."""
    bodies = [body for condition in conditions(of) for body in condition.bodies]
    return [of, *(inside for body in bodies for inside in with_bodies(body))]


class Exec(device_launch.Launchable):
    """An instance of a graph: operations of its own, by the nodes that they come from."""

    def __init__(self, graph: Graph, flags: int) -> None:
        super().__init__(for_kernels=bool(flags & FOR_KERNELS))
        stream_exists()
        self.flags = flags & ~UPLOAD
        self.context = graph.context
        self.operations = {one: one.operation.clone() for one in graph.ordered()}
        self.after = {one: list(one.after) for one in graph.nodes}
        self.off: set[Node] = set()
        self.conditionals = [value for inside in with_bodies(graph) for value in inside.conditionals]
        self.last: Any = None
        self.lock = threading.Lock()  # launches of one instance follow each other
        self.kept: dict[UserObject, int] = {}
        self.keep(graph.kept)

    def upload(self) -> None:
        """From now on kernels launch it as it is."""
        if self.for_kernels:
            self.uploaded = self.as_it_is()

    def as_it_is(self) -> Callable[[], None]:
        """A run that later changes do not concern."""
        operations, off = dict(self.operations), set(self.off)
        return lambda: self._run(operations, off)

    def _run(self, operations: dict[Node, Operation], off: set[Node]) -> None:
        from ..memory.pool_memory import Alloc, Free
        from .memory import memory_of

        for value in self.conditionals:
            value.reset()
        if self.flags & AUTO_FREE:
            for operation in operations.values():
                if isinstance(operation, Alloc):
                    Free(operation.storage.address).run()
        running = nodes_of(self.after)
        for one, operation in operations.items():
            go_on("a graph")
            with running(one):
                if one not in off:
                    operation.run()
            if one not in off:
                device_launch.run_children()
            if isinstance(operation, (Alloc, ChildGraph)):
                memory_of(self.context.device).note()

    def later(self, release: Callable[[], Any]) -> None:
        """Have `release` called once no launch under way uses what it releases."""
        with self.lock:
            last = () if self.last is None or self.last.done else (self.last,)
        Queue(Faults()).submit(release, last, soon=True)

    def change(self, node: Node, operation: Operation) -> None:
        """New parameters for a node. Raises Refused."""
        if type(self.operation(node)) is not type(operation):
            raise invalid("a node cannot change its type")
        operation.inherit(self.operation(node))
        self.replace(node, operation)

    def replace(self, node: Node, operation: Operation) -> None:
        """Another operation for a node, from the next launch on."""
        old, self.operations[node] = self.operations[node], operation
        self.later(old.forget)

    def operation(self, node: Node) -> Operation:
        """What a node does here. Raises Refused."""
        if node not in self.operations:
            raise invalid("the node is not of the graph that was instantiated")
        return self.operations[node]

    def forget(self) -> None:
        super().forget()
        self.later(self.release_references)

    def release_references(self) -> None:
        """Drop the references to what it kept alive."""
        for operation in self.operations.values():
            operation.forget()
        for obj, count in self.kept.items():
            obj.release(count)
        self.kept = {}

    def keep(self, kept: dict[UserObject, int]) -> None:
        """Keep these things alive, in place of those before."""
        for obj, count in kept.items():
            obj.retain(count)
        before, self.kept = self.kept, dict(kept)

        def release() -> None:
            for obj, count in before.items():
                obj.release(count)

        self.later(release)

    def check(self) -> None:
        """Raise Refused if a launch would allocate what the one before has not freed."""
        from ..memory.pool_memory import Alloc, Free

        for operation in self.operations.values():
            if isinstance(operation, Alloc):
                if operation.storage.is_live and not self.flags & AUTO_FREE:
                    raise invalid("the memory of the graph was not freed since its last launch")
                operation.storage.is_live = True
            elif isinstance(operation, Free):
                operation.announce()


def check_for_kernels(of: Graph) -> None:
    """Raise Impossible for a graph that kernels cannot launch."""
    operations = [node.operation for node in of.nodes]
    if not any(isinstance(one, (KernelLaunch, Copy, Fill, ChildGraph)) for one in operations):
        raise Impossible(
            Instantiated.CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE,
            "a graph for launches by kernels has a kernel, copy or fill",
        )
    for one in operations:
        if isinstance(one, ChildGraph):
            check_for_kernels(one.graph)
        elif isinstance(one, KernelLaunch) and one.context is not of.context:
            raise Impossible(
                Instantiated.CUDA_GRAPH_INSTANTIATE_MULTIPLE_CTXS_NOT_SUPPORTED,
                "nodes of a graph for launches by kernels are of one context",
            )
        elif isinstance(one, Copy) and not _is_on_device(one):  # driver 580 calls this so
            raise Impossible(
                Instantiated.CUDA_GRAPH_INSTANTIATE_MULTIPLE_CTXS_NOT_SUPPORTED,
                "copies of a graph for launches by kernels are of device memory or page-locked memory",
            )
        elif not isinstance(one, (KernelLaunch, Fill, Copy)):
            raise Impossible(
                Instantiated.CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED,
                "a graph for launches by kernels has kernels, fills, copies and child graphs",
            )


def _is_on_device(copy: Copy) -> bool:
    return all(side.kind != ARRAY and blocks.find(side.start) is not None for side in (copy.dst, copy.src))


def executable(handle: int) -> Exec:
    """The instance with this handle. Raises Refused."""
    return find(handle, Exec, "CUDA_ERROR_INVALID_VALUE")


@provides("driver")
def cuGraphInstantiateWithFlags(hGraph: int, flags: int) -> int:
    if flags & ~FLAGS:
        raise invalid(f"unknown flags {flags & ~FLAGS:#x}")
    of = graph(hGraph)
    if flags & FOR_KERNELS:
        if flags & AUTO_FREE:
            raise invalid("a graph for launches by kernels frees nothing by itself")
        check_for_kernels(of)
    forbid()
    used = {id(condition.value) for inside in with_bodies(of) for condition in conditions(inside)}
    if any(id(value) not in used for inside in with_bodies(of) for value in inside.conditionals):
        raise Impossible(
            Instantiated.CUDA_GRAPH_INSTANTIATE_CONDITIONAL_HANDLE_UNUSED,
            "a conditional handle of the graph belongs to no conditional node",
        )
    instance = Exec(of, flags)
    if flags & UPLOAD:
        instance.upload()
    return instance.handle


@provides("driver", "cuGraphInstantiate", "cuGraphInstantiate_v2")
def cuGraphInstantiate_v2(
    phGraphExec: Pointer, hGraph: int, phErrorNode: Pointer, logBuffer: int | None, bufferSize: int
) -> None:
    if phErrorNode:
        phErrorNode[0] = 0
    phGraphExec[0] = cuGraphInstantiateWithFlags(hGraph, 0)


@provides("driver")
def cuGraphInstantiateWithParams(hGraph: int, instantiateParams: Pointer) -> int:
    told = needed(instantiateParams, "instantiateParams")
    told.result_out = Instantiated.CUDA_GRAPH_INSTANTIATE_ERROR
    try:
        handle = cuGraphInstantiateWithFlags(hGraph, int(told.flags))
    except Impossible as refused:
        told.result_out = refused.result
        raise
    told.result_out = Instantiated.CUDA_GRAPH_INSTANTIATE_SUCCESS
    return handle


@provides("driver")
def cuGraphExecGetFlags(hGraphExec: int) -> int:
    return executable(hGraphExec).flags


@provides("driver")
def cuGraphExecDestroy(hGraphExec: int) -> None:
    gone = executable(hGraphExec)
    forbid()
    gone.forget()


@provides("driver")
def cuGraphUpload(hGraphExec: int, hStream: int) -> None:
    executable(hGraphExec).upload()
    stream(hStream).submit(None, soon=True)


@provides("driver")
def cuGraphLaunch(hGraphExec: int, hStream: int) -> None:
    what, in_stream = executable(hGraphExec), stream(hStream)
    if in_stream.capture is not None:
        in_stream.capture.invalidate()
        raise Refused("CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", "a capture records no launch of a graph")
    with what.lock:
        what.check()
        what.upload()
        before, action = what.last, partial(device_launch.run_from_host, what, what.as_it_is())
        what.last = in_stream.submit(action, () if before is None else (before,))


@provides("driver")
def cuGraphNodeSetEnabled(hGraphExec: int, hNode: int, isEnabled: int) -> None:
    of, which = executable(hGraphExec), node(hNode)
    if of.operation(which).type not in (
        Type.CU_GRAPH_NODE_TYPE_KERNEL,
        Type.CU_GRAPH_NODE_TYPE_MEMSET,
        Type.CU_GRAPH_NODE_TYPE_MEMCPY,
    ):
        raise invalid("kernels, fills and copies can be switched off")
    if isEnabled:
        of.off.discard(which)
    else:
        of.off.add(which)


@provides("driver")
def cuGraphNodeGetEnabled(hGraphExec: int, hNode: int) -> int:
    of, which = executable(hGraphExec), node(hNode)
    of.operation(which)
    return int(which not in of.off)


# -- Numbers for tools, since CUDA 13.1 ------------------------------------------------------------------


def _number(handle: int) -> int:
    """A number in place of a handle: handles are FIRST and every sixteenth after it."""
    return (handle - FIRST) // 0x10


@provides("driver")
def cuGraphGetId(hGraph: int) -> int:
    return _number(graph(hGraph).handle)


@provides("driver")
def cuGraphExecGetId(hGraphExec: int) -> int:
    return _number(executable(hGraphExec).handle)


@provides("driver")
def cuGraphNodeGetContainingGraph(hNode: int) -> int:
    return node(hNode).graph.handle


@provides("driver")
def cuGraphNodeGetLocalId(hNode: int) -> int:
    return _number(node(hNode).handle)


@provides("driver")
def cuGraphNodeGetToolsId(hNode: int) -> int:
    return _number(node(hNode).handle)
