"""Graphs recorded from what is done in streams."""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from typing import Any, NoReturn

from ..._ffi.shown import type_name
from ...driver import CUgraph, CUgraphConditionalNodeType
from ..closable import SlotClosable
from ..context.current import RelaxedCaptureMode, owning, with_context
from ..ownership.graph_references import Recorder
from ..streams.stream import Stream, StreamOptions
from ..upward import upward
from . import condition as conditions
from .capture import Capture
from .condition import GraphCondition
from .definition import GraphDefinition
from .executable import Graph
from .hierarchy import GraphHierarchy, definition_of
from .host_function import HostFunction
from .options import Drawn, GraphCompleteOptions


class GraphBuilder(SlotClosable, Drawn, Recorder):
    """Records what is done in it, as if it were a stream: launches, copies, fills; nothing runs meanwhile.

    `stream.create_graph_builder()` and `device.create_graph_builder()` make one. Between `begin_building()`
    and `end_building()` it is passed wherever a stream is; then `complete()` makes it executable, as often as
    wanted. What the work uses is kept alive as long as the graph or an executable made from it may use it:
    kernels and their arguments, buffers, host arrays, functions. `close`, or the last reference, ends a
    recording that still goes on, and drops it.
    """

    __slots__ = ("_body", "_capture", "_hierarchy", "_is_fork", "_over", "_split_from", "_stream")
    _vital = "_stream"
    _stream: Stream
    _capture: Capture | None  # while it builds; not that of a fork, which would keep it going
    _hierarchy: GraphHierarchy | None  # what it has built, or is to build a part of
    _body: CUgraph | None  # inside a conditional node: the graph to build
    _is_fork: bool
    _split_from: weakref.ref[Capture] | None  # of a fork, until it is joined
    _over: str  # why there is nothing to build any more

    def __init__(self) -> None:
        raise TypeError("a GraphBuilder comes from stream.create_graph_builder() or a Device's")

    @classmethod
    def _in(cls, stream: Stream) -> GraphBuilder:
        self = cls.__new__(cls)
        self._stream, self._capture, self._hierarchy, self._body = stream, None, None, None
        self._is_fork, self._split_from, self._over, self._ownership = False, None, "", None
        return self

    # -- beginning and end ------------------------------------------------------------------------

    def begin_building(self, mode: str = "relaxed") -> GraphBuilder:
        """Record from now on. Source: cuStreamBeginCapture.

        mode: which calls are an error meanwhile, as they could not be recorded: "global": those of any
        thread; "thread_local": those of this one; "relaxed": none. In the first two modes the building has to
        end in the thread in which it began.
        """
        stream = self._stream
        if self._capture is not None:
            self._refuse("it is building already")
        if self._over:
            self._refuse(f"{self._over}: make a new one")
        if self._hierarchy is not None and not self._hierarchy.is_alive:
            self._refuse("the graph that it was to be a part of is gone")
        self._capture = Capture(stream, mode, self._hierarchy, self._body)
        return self

    def end_building(self) -> GraphBuilder:
        """Record no more. Source: cuStreamEndCapture.

        Raises CUDAError that says why if what was recorded is not a graph; then it can begin again.
        """
        capture = self._building()
        if self._is_fork:
            self._refuse("it came from split(): join it, and end the one it was split from")
        self._capture = None
        self._hierarchy, self._over = capture.end(), "it has built its graph"
        return self

    def complete(self, options: GraphCompleteOptions | Mapping[str, Any] | None = None) -> Graph:
        """Make the graph executable, as `GraphDefinition.instantiate` does."""
        if self._body is not None:
            self._refuse("it is part of a graph: complete the outermost")
        return self.graph_definition.instantiate(options)

    def close(self) -> None:
        """Let go of the graph; a recording that still goes on ends, and is dropped.

        Graphs that were completed, and definitions taken from it, stay.
        """
        capture = None if self.is_closed else self._capture
        super().close()
        self._capture = self._hierarchy = self._split_from = None
        if capture is not None:
            capture.abandon()

    # -- what it is -------------------------------------------------------------------------------

    @property
    def is_building(self) -> bool:
        """Whether it records."""
        self._stream  # noqa: B018  # raises what a closed builder has to say
        capture = self._open()
        return capture is not None and not capture.is_over

    @property
    def is_join_required(self) -> bool:
        """Whether it came from `split`, and has to go into `join`."""
        return self._is_fork

    @property
    def stream(self) -> Stream:
        """The stream in which it records."""
        return self._stream

    def __cuda_stream__(self) -> tuple[int, int]:
        self._building()
        return 0, int(self._stream._handle)

    @property
    def graph_definition(self) -> GraphDefinition:
        """The graph, to look at or to add nodes to.

        There once `end_building` was called; for a builder inside a conditional node, before
        `begin_building` too.
        """
        self._stream  # noqa: B018  # raises what a closed builder has to say
        if self._is_fork:
            self._refuse("it came from split(): ask the one it was split from")
        if self._capture is not None:
            self._refuse("it is still building: call end_building()")
        if self._hierarchy is None:
            self._refuse("it has built nothing: call begin_building()")
        return GraphDefinition._of(self._hierarchy, self._body or self._hierarchy.root)

    def _drawn(self) -> CUgraph:
        return self.graph_definition._drawn()

    def _open(self) -> Capture | None:
        """The capture that it has a part in, if there is one."""
        return self._capture if self._split_from is None else self._split_from()

    def _building(self) -> Capture:
        """The capture; a RuntimeError if there is none."""
        self._stream  # noqa: B018  # raises what a closed builder has to say
        capture = self._open()
        if capture is None and self._split_from is None:
            self._refuse(self._over or "it is not building: call begin_building()")
        if capture is None or capture.is_over:
            self._refuse("the builder that it belongs to has ended the building, or was dropped")
        return capture

    def _refuse(self, why: str) -> NoReturn:
        raise RuntimeError(f"{self!r} cannot do that: {why}")

    def _keep_alive(self, *objects: object) -> None:
        """Keep alive what the graph uses."""
        self._building().hierarchy.references.keep_alive_for_good(objects)

    # -- several at a time ------------------------------------------------------------------------

    def split(self, count: int) -> tuple[GraphBuilder, ...]:
        """This builder and `count - 1` new ones, whose work follows what there is now, side by side.

        All of them have to come together again, in `join`.
        """
        capture = self._building()
        if count < 2:
            raise ValueError(f"split: count must be at least 2, not {count}")
        return self, *(self._forked(capture) for _ in range(count - 1))

    def _forked(self, capture: Capture) -> GraphBuilder:
        fork = GraphBuilder._in(capture.fork(self._stream))
        fork._split_from, fork._is_fork = weakref.ref(capture), True
        return fork

    @staticmethod
    def join(*graph_builders: GraphBuilder) -> GraphBuilder:
        """One of the builders, whose work follows that of all of them from now on; the others are done with.

        It is the one that was split, if it is among them, else the first.
        """
        if len(set(map(id, graph_builders))) != len(graph_builders) or len(graph_builders) < 2:
            raise ValueError("join takes two builders or more, each once")
        for builder in graph_builders:
            if not isinstance(builder, GraphBuilder):
                raise TypeError(f"join takes GraphBuilders, not {type_name(builder)}")
        capture = graph_builders[0]._building()
        for builder in graph_builders:
            if builder._building() is not capture:
                raise ValueError("join: these builders do not come from one that was split")
        stays = next((builder for builder in graph_builders if not builder._is_fork), graph_builders[0])
        for builder in graph_builders:
            if builder is not stays:
                stays._stream.wait(builder._stream)
                builder._split_from, builder._over = None, "it was joined into another"
                capture.open_forks -= 1
        return stays

    # -- what no stream has -----------------------------------------------------------------------

    def callback(self, fn: Any, *, user_data: Any = None) -> None:
        """Call `fn` on the host at this point, as `GraphDefinition.callback` does."""
        function, capture = HostFunction(fn, user_data), self._building()
        self._keep_alive(*function.objects)
        node = capture.insert(self._stream, owning.cuGraphAddHostNode, function.parameters)
        capture.hierarchy.record(node).callback = function.callback

    def embed(self, child: GraphBuilder | GraphDefinition) -> None:
        """Run at this point a copy, made now, of what another builder has built.

        That must not allocate memory or have conditions. Source: cuGraphAddChildGraphNode.
        """
        definition = definition_of(child, "embed")
        capture = self._building()
        self._keep_alive(*definition._hierarchy.references.mark_shared().values())
        capture.insert(self._stream, owning.cuGraphAddChildGraphNode, definition._checked())

    def create_condition(self, default_value: int | None = None) -> GraphCondition:
        """A condition for one conditional node, as `GraphDefinition.create_condition` makes."""
        capture = self._building()
        return conditions.create_condition(capture.graph, capture.context, default_value)

    def if_then(self, condition: GraphCondition) -> GraphBuilder:
        """A builder of what runs at this point if the condition is not 0. Needs CUDA 12.4.

        It is for `begin_building` and `end_building` of its own, before this one is completed.
        """
        return self._conditional(condition, conditions.IF, 1)[0]

    def if_else(self, condition: GraphCondition) -> tuple[GraphBuilder, GraphBuilder]:
        """Builders of what runs if the condition is not 0, and else. Needs CUDA 12.8."""
        then, otherwise = self._conditional(condition, conditions.IF, 2)
        return then, otherwise

    def while_loop(self, condition: GraphCondition) -> GraphBuilder:
        """A builder of what runs again and again while the condition is not 0. Needs CUDA 12.4."""
        return self._conditional(condition, conditions.WHILE, 1)[0]

    def switch(self, condition: GraphCondition, count: int) -> tuple[GraphBuilder, ...]:
        """`count` builders, of which that runs whose number the condition is, or none. Needs CUDA 12.8."""
        return self._conditional(condition, conditions.SWITCH, count)

    def _conditional(
        self, condition: GraphCondition, kind: CUgraphConditionalNodeType, count: int
    ) -> tuple[GraphBuilder, ...]:
        capture = self._building()
        wanted = conditions.conditional(condition, kind, count, capture.context)
        node = capture.insert(self._stream, conditions.add_conditional, wanted)
        record = capture.hierarchy.record(node)
        record.condition, record.cond_type = condition, kind
        record.branches = conditions.bodies(wanted)
        return tuple(self._inside(capture, body) for body in record.branches)

    def _inside(self, capture: Capture, body: CUgraph) -> GraphBuilder:
        """A builder of a graph inside a conditional node."""
        options = StreamOptions(priority=self._stream.priority)
        with RelaxedCaptureMode():
            builder = GraphBuilder._in(with_context(capture.context, Stream, options))
        builder._hierarchy, builder._body = capture.hierarchy, body
        capture.hierarchy.mark_shared()
        return builder

    def __repr__(self) -> str:
        if self.is_closed:
            return "<GraphBuilder, closed>"
        state = "building" if self._open() is not None else "ended" if self._over else "not begun"
        return f"<GraphBuilder, {state}>"


upward.graph_builder = GraphBuilder
