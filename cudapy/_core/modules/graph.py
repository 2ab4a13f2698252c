"""Graphs: work that is put together once and launched many times. The names of `cudapy.core.graph`.

    builder = dev.create_graph_builder().begin_building()
    launch(builder, config, kernel, buffer)         # recorded, not run
    graph = builder.end_building().complete()
    graph.launch(stream)                            # as often as wanted

GraphBuilder        records what is done in it, as if it were a stream
GraphDefinition     is put together node by node (GraphNode and its kinds)
Graph               is what both become, to be launched, updated, and changed node by node (`graph[node]`)
GraphCondition      lets a graph decide while it runs: if, else, while, switch
"""

from ..graph.allocation import GraphMemoryType
from ..graph.builder import GraphBuilder
from ..graph.condition import GraphCondition, GraphConditionalType
from ..graph.conditional import ConditionalNode, IfElseNode, IfNode, SwitchNode, WhileNode
from ..graph.definition import GraphDefinition
from ..graph.executable import Graph, GraphUpdateError
from ..graph.executable_nodes import (
    ExecutableChildGraphNode,
    ExecutableEventRecordNode,
    ExecutableEventWaitNode,
    ExecutableGraphNode,
    ExecutableHostCallbackNode,
    ExecutableKernelNode,
    ExecutableMemcpyNode,
    ExecutableMemsetNode,
)
from ..graph.memory_nodes import AllocNode, FreeNode, MemcpyNode, MemsetNode
from ..graph.node import GraphNode
from ..graph.nodes import (
    ChildGraphNode,
    EmptyNode,
    EventRecordNode,
    EventWaitNode,
    HostCallbackNode,
    KernelNode,
)
from ..graph.options import GraphCompleteOptions, GraphDebugPrintOptions

__all__ = [
    "AllocNode",
    "ChildGraphNode",
    "ConditionalNode",
    "EmptyNode",
    "EventRecordNode",
    "EventWaitNode",
    "ExecutableChildGraphNode",
    "ExecutableEventRecordNode",
    "ExecutableEventWaitNode",
    "ExecutableGraphNode",
    "ExecutableHostCallbackNode",
    "ExecutableKernelNode",
    "ExecutableMemcpyNode",
    "ExecutableMemsetNode",
    "FreeNode",
    "Graph",
    "GraphBuilder",
    "GraphCompleteOptions",
    "GraphCondition",
    "GraphConditionalType",
    "GraphDebugPrintOptions",
    "GraphDefinition",
    "GraphMemoryType",
    "GraphNode",
    "GraphUpdateError",
    "HostCallbackNode",
    "IfElseNode",
    "IfNode",
    "KernelNode",
    "MemcpyNode",
    "MemsetNode",
    "SwitchNode",
    "WhileNode",
]
