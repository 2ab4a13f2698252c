"""Nodes that decide what runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..._ffi.library import SymbolNotFound
from ...driver import CUgraphConditionalNodeType, CUgraphNode, checked
from .condition import IF, SWITCH, WHILE, GraphCondition, GraphConditionalType, bodies
from .hierarchy import Record
from .node import GraphNode

if TYPE_CHECKING:
    from .definition import GraphDefinition


_TYPES = {
    IF: GraphConditionalType.IF,
    WHILE: GraphConditionalType.WHILE,
    SWITCH: GraphConditionalType.SWITCH,
}


class ConditionalNode(GraphNode, kind="CONDITIONAL"):
    """A node that runs one of the graphs inside it, or none.

    One that was captured, or added by somebody else, is of this class where the driver cannot tell its kind
    (before CUDA 13.2); then `condition` and `cond_type` are None, and `branches` is empty.
    """

    __slots__ = ()

    @classmethod
    def _for(cls, handle: CUgraphNode, record: Record) -> type[GraphNode]:
        if not record.branches:
            _look(handle, record)
        if not record.branches:
            return ConditionalNode
        if record.cond_type == IF:
            return IfElseNode if len(record.branches) > 1 else IfNode
        return WhileNode if record.cond_type == WHILE else SwitchNode

    @property
    def condition(self) -> GraphCondition | None:
        """What it looks at."""
        return self._record.condition

    @property
    def cond_type(self) -> GraphConditionalType | None:
        """ "if", "while" or "switch"."""
        kind = self._record.cond_type
        return None if kind is None else _TYPES[kind]

    @property
    def branches(self) -> tuple[GraphDefinition, ...]:
        """The graphs inside it."""
        from .definition import GraphDefinition

        self._checked()
        return tuple(GraphDefinition._of(self._hierarchy, body, self) for body in self._record.branches)

    def _inside(self) -> tuple[GraphDefinition, ...]:
        return self.branches


def _look(handle: CUgraphNode, record: Record) -> None:
    """Ask the driver about a node that somebody else added. Source: cuGraphNodeGetParams, CUDA 13.2."""
    try:
        params = checked.cuGraphNodeGetParams(handle)
    except SymbolNotFound:
        return
    record.condition = GraphCondition(int(params.conditional.handle))
    record.cond_type = CUgraphConditionalNodeType(params.conditional.type)
    record.branches = bodies(params)


class IfNode(ConditionalNode):
    """A node that runs `then` if its condition is not 0."""

    __slots__ = ()

    @property
    def then(self) -> GraphDefinition:
        """What runs then."""
        return self.branches[0]


class IfElseNode(ConditionalNode):
    """A node that runs `then` if its condition is not 0, else `else_`."""

    __slots__ = ()

    @property
    def then(self) -> GraphDefinition:
        """What runs then."""
        return self.branches[0]

    @property
    def else_(self) -> GraphDefinition:
        """What runs else."""
        return self.branches[1]


class WhileNode(ConditionalNode):
    """A node that runs `body` while its condition is not 0."""

    __slots__ = ()

    @property
    def body(self) -> GraphDefinition:
        """What runs again and again."""
        return self.branches[0]


class SwitchNode(ConditionalNode):
    """A node that runs the branch whose number its condition is."""

    __slots__ = ()
