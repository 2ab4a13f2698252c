"""Conditional nodes of graphs, and the values that they look at."""

import ctypes

from ..._types.driver.enums import CUgraphNodeType as Type
from ..code.engine_devices import engine_device
from ..handles import Object
from ..streams.faults import go_on
from ..streams.operations import Operation
from .graph import ChildGraph, Graph


class Conditional(Object):
    """The value that a conditional node looks at; kernels set it by its handle."""

    noun = "conditional handle"

    def __init__(self, graph: Graph, value: int, flags: int) -> None:
        super().__init__()
        self.graph = graph
        self.context = graph.context
        self.default = value if flags else None
        graph.conditionals.append(self)

    @property
    def values(self) -> dict[int, int]:
        return engine_device(self.context.device).conditionals

    def reset(self) -> None:
        """A launch begins."""
        if self.default is not None:
            self.values[self.handle] = self.default

    @property
    def value(self) -> int:
        return self.values.get(self.handle, 0)


class Condition(Operation):
    """A conditional node: which of its bodies run, and how often, is decided by a value."""

    type = Type.CU_GRAPH_NODE_TYPE_CONDITIONAL
    soon = False
    IF, WHILE, SWITCH = range(3)

    def __init__(self, value: Conditional, kind: int, bodies: list[Graph]) -> None:
        self.value = value
        self.kind = kind
        self.bodies = bodies
        self.handles = (ctypes.c_void_p * len(bodies))(*[body.handle for body in bodies])

    def clone(self) -> Operation:
        return Condition(self.value, self.kind, [body.clone() for body in self.bodies])

    def forget(self) -> None:
        for body in self.bodies:
            body.forget()

    def run(self) -> None:
        value = self.value.value
        if self.kind == self.WHILE:
            while self.value.value:
                go_on("a graph")
                ChildGraph(self.bodies[0]).run()
        elif self.kind == self.SWITCH:
            if value < len(self.bodies):
                ChildGraph(self.bodies[value]).run()
        elif value or len(self.bodies) > 1:
            ChildGraph(self.bodies[0 if value else 1]).run()
