"""Graphs: work that is put together once and launched many times.

builder             GraphBuilder: what is done in a stream, recorded
definition, node    GraphDefinition and its GraphNodes: the same, node by node
node_factory        what both can be extended by: kernels, copies, fills, callbacks, child graphs ...
nodes               what is special about each kind of node; and memory_nodes, conditional
edges               the edges of a node, as sets that can be changed
executable          Graph: what is launched, and what can be changed in it (executable_nodes)
hierarchy           what all definitions inside one graph share
parameters          copies and fills as the C structs of nodes have them
"""
