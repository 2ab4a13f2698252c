"""Graphs that can be launched."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any, overload

from ... import driver
from ..._bindings.errors import CUDAError
from ..._ffi.convert import word
from ..._ffi.status_calls import Noted
from ...driver import (
    CUDA_GRAPH_INSTANTIATE_PARAMS,
    CUgraph,
    CUgraphExec,
    CUgraphExecUpdateResult,
    CUgraphExecUpdateResultInfo,
    CUgraphInstantiateResult,
    CUgraphNode,
    CUgraphNodeType,
    CUresult,
    CUstream,
    checked,
)
from ..closable import SlotClosable
from ..context.context import Context
from ..context.current import RelaxedCaptureMode, c_function, owning, status_function, with_context
from ..ownership.graph_references import is_builder
from ..ownership.owned import Ownership
from ..ownership.user_objects import sweep
from ..streams.stream import IsStreamType, Stream
from .exec_overrides import ExecOverrides
from .hierarchy import GraphHierarchy, definition_of
from .options import GraphCompleteOptions

if TYPE_CHECKING:
    from . import executable_nodes as views
    from .builder import GraphBuilder
    from .definition import GraphDefinition
    from .memory_nodes import MemcpyNode, MemsetNode
    from .node import GraphNode
    from .nodes import ChildGraphNode, EventRecordNode, EventWaitNode, HostCallbackNode, KernelNode


_FLAGS = struct.Struct("=Q24x")  # a CUDA_GRAPH_INSTANTIATE_PARAMS with nothing but flags


class GraphUpdateError(CUDAError):
    """A Graph cannot become what another definition says.

    result: the CUgraphExecUpdateResult. node: the address of the node that stands in the way, in the new
    definition, or 0; from_node: that at the other end, if an edge does.
    """

    result = CUgraphExecUpdateResult.CU_GRAPH_EXEC_UPDATE_ERROR
    node = 0
    from_node = 0

    def __reduce__(self) -> tuple[Any, ...]:
        return *super().__reduce__(), vars(self)


class Graph(SlotClosable):
    """A graph made executable: `GraphBuilder.complete` and `GraphDefinition.instantiate` make one.

    It needs neither of them any more. Closed with its last reference or by `close`; a launch under way runs
    to its end, and what it uses is kept alive until then.
    """

    __slots__ = ("_context", "_handle", "_launch", "_overrides")
    _context: int  # of the definition
    _overrides: ExecOverrides
    _handle: CUgraphExec
    _launch: Any  # cuGraphLaunch

    def __init__(self) -> None:
        raise TypeError("a Graph comes from GraphBuilder.complete() or GraphDefinition.instantiate()")

    @classmethod
    def _of(cls, hierarchy: GraphHierarchy, graph: CUgraph, options: GraphCompleteOptions) -> Graph:
        wanted = CUDA_GRAPH_INSTANTIATE_PARAMS.from_buffer_copy(_FLAGS.pack(options.flags))
        if options.upload_stream is not None:
            wanted.hUploadStream = Stream._accept(options.upload_stream)._handle
        self = cls.__new__(cls)
        self._context = hierarchy.context
        self._overrides = ExecOverrides()
        self._launch = status_function("cuGraphLaunch", CUgraphExec, Noted(CUstream))
        self._overrides.objects = _referenced(hierarchy, graph)
        cell = CUgraphExec()
        self._ownership = Ownership(_destroy, cell, self._overrides)
        try:
            with_context(hierarchy.context, owning.cuGraphInstantiateWithParams, cell, graph, wanted)
        except CUDAError as error:
            raise _not_instantiated(error, wanted) from None
        self._handle = CUgraphExec(cell.value)
        return self

    @property
    def handle(self) -> CUgraphExec:
        """The CUgraphExec, null once it is closed."""
        try:
            return self._handle
        except RuntimeError:
            return CUgraphExec()

    def launch(self, stream: Stream | IsStreamType) -> None:
        """Queue one run in `stream`. Runs of the same Graph never overlap. Source: cuGraphLaunch."""
        handle = self._handle
        if type(stream) is not Stream:
            if is_builder(stream):
                raise TypeError("a Graph cannot be launched in a GraphBuilder: embed() what it was made from")
            stream = Stream._accept(stream)
        if self._overrides.objects:
            err = self._overrides.launch(self._launch, handle, stream)
        else:
            err = self._launch(handle, stream._handle)  # itself, without a layer between
        if err:
            raise self._refused(err, stream)

    def _refused(self, status: int, stream: Stream) -> Exception:
        """The exception for a launch, which says so if the stream is of another context than the graph."""
        arguments = {"hGraphExec": self._handle, "hStream": stream._handle}
        error = driver.libcuda.error("cuGraphLaunch", CUresult(status), arguments)
        here = Context._of(self._context)
        try:
            where = stream.context
        except CUDAError:  # what it takes to explain the failure failed itself
            return error
        if where == here:
            return error
        mixed = f"The stream belongs to {where!r}, and the graph to {here!r}: use a stream of its device."
        return type(error)(f"{error} {mixed}", CUresult(status), "cuGraphLaunch")

    def upload(self, stream: Stream | IsStreamType) -> None:
        """Send it to the device in `stream` without running it, so that its first launch is quicker.

        Source: cuGraphUpload.
        """
        checked.cuGraphUpload(self._handle, Stream._accept(stream)._handle)

    def update(self, source: GraphBuilder | GraphDefinition) -> None:
        """Do what `source`, of the same shape, does, from the next launch on.

        Raises GraphUpdateError, with what differs, and leaves the Graph as it was. Source: cuGraphExecUpdate.
        """
        handle = self._handle
        definition = definition_of(source, "update")
        hierarchy, graph = definition._hierarchy, definition._checked()
        info = CUgraphExecUpdateResultInfo()
        objects = _referenced(hierarchy, graph)
        symbol = c_function("cuGraphExecUpdate_v2")
        arguments = word(int(handle)), word(int(graph)), word(info.getPtr())

        def update() -> None:
            if status := with_context(hierarchy.context, symbol, *arguments):
                raise _not_updated(CUresult(status), info)

        self._overrides.replace(objects, update)

    @overload
    def __getitem__(self, node: KernelNode) -> views.ExecutableKernelNode: ...
    @overload
    def __getitem__(self, node: MemsetNode) -> views.ExecutableMemsetNode: ...
    @overload
    def __getitem__(self, node: MemcpyNode) -> views.ExecutableMemcpyNode: ...
    @overload
    def __getitem__(self, node: ChildGraphNode) -> views.ExecutableChildGraphNode: ...
    @overload
    def __getitem__(self, node: EventRecordNode) -> views.ExecutableEventRecordNode: ...
    @overload
    def __getitem__(self, node: EventWaitNode) -> views.ExecutableEventWaitNode: ...
    @overload
    def __getitem__(self, node: HostCallbackNode) -> views.ExecutableHostCallbackNode: ...
    @overload
    def __getitem__(self, node: GraphNode) -> views.ExecutableGraphNode: ...
    def __getitem__(self, node: GraphNode) -> views.ExecutableGraphNode:
        """What can be changed in this Graph alone about a node of the definition it was made from."""
        from .executable_nodes import executable_node

        return executable_node(self, node)

    def __repr__(self) -> str:
        return "<Graph, closed>" if self.is_closed else f"<Graph {int(self._handle):#x}>"


def _referenced(hierarchy: GraphHierarchy, graph: CUgraph) -> dict[object, tuple[Any, ...]]:
    """What an executable has to hold: nothing if `graph` is the outermost, whose holds the driver copies."""
    references = hierarchy.references.mark_shared()
    return {} if graph == hierarchy.root else {0: (references,)}


def _destroy(handle: CUgraphExec, overrides: ExecOverrides) -> None:
    with RelaxedCaptureMode():
        overrides.clear()
        owning.cuGraphExecDestroy(handle)
    sweep()


def _kind(node: CUgraphNode) -> str:
    kind = CUgraphNodeType(checked.cuGraphNodeGetType(node)).name
    return kind.removeprefix("CU_GRAPH_NODE_TYPE_").lower().replace("_", " ")


_NOT_INSTANTIATED = {
    CUgraphInstantiateResult.CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE: "it has a cycle, or a part is missing",
    CUgraphInstantiateResult.CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED: (
        "a node does what graphs with these options cannot do"
    ),
    CUgraphInstantiateResult.CUDA_GRAPH_INSTANTIATE_MULTIPLE_CTXS_NOT_SUPPORTED: (
        "its nodes are of several contexts"
    ),
    CUgraphInstantiateResult.CUDA_GRAPH_INSTANTIATE_CONDITIONAL_HANDLE_UNUSED: (
        "a condition was created and no conditional node uses it"
    ),
}


def _not_instantiated(error: CUDAError, wanted: CUDA_GRAPH_INSTANTIATE_PARAMS) -> CUDAError:
    reason = _NOT_INSTANTIATED.get(wanted.result_out)
    if reason is None:
        return error
    node = wanted.hErrNode_out
    where = f"; it is the {_kind(node)} node {int(node):#x}" if int(node) else ""
    return CUDAError(
        f"{error} The reason is {wanted.result_out.name}: {reason}{where}.", error.code, error.function
    )


_NOT_UPDATED = {
    "ERROR_TOPOLOGY_CHANGED": "its nodes or edges are not the same",
    "ERROR_NODE_TYPE_CHANGED": "a node is of another kind",
    "ERROR_FUNCTION_CHANGED": "a kernel is another one, which this driver cannot change",
    "ERROR_PARAMETERS_CHANGED": "a parameter differs that cannot be changed",
    "ERROR_NOT_SUPPORTED": "a node is of a kind that cannot be updated",
    "ERROR_UNSUPPORTED_FUNCTION_CHANGE": "a kernel is another one, of another context for instance",
    "ERROR_ATTRIBUTES_CHANGED": "an attribute of a kernel differs that cannot be changed",
}


def _not_updated(status: CUresult, info: CUgraphExecUpdateResultInfo) -> GraphUpdateError:
    result = CUgraphExecUpdateResult(info.result)
    name = result.name.removeprefix("CU_GRAPH_EXEC_UPDATE_")
    text = f"{driver.libcuda.error('cuGraphExecUpdate', status, {})} The reason is {result.name}"
    text += f": {_NOT_UPDATED[name]}" if name in _NOT_UPDATED else ""
    node = info.errorNode
    text += f"; it is the {_kind(node)} node {int(node):#x} of the new definition." if int(node) else "."
    error = GraphUpdateError(text, status, "cuGraphExecUpdate")
    error.result, error.node, error.from_node = result, int(node), int(info.errorFromNode)
    return error
