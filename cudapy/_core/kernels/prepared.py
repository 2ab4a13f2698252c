"""prepare: the same launch many times over.

A launch looks up each time what an executable graph has found already. To give the kernel of such a graph
other arguments, and to run it, takes a driver half the time of cuLaunchKernelEx. So that is what `prepare`
makes; what a graph cannot do, or not now, goes through `launch`.
"""

from __future__ import annotations

import os
from copy import copy
from functools import partial
from typing import TYPE_CHECKING, Any

from ... import driver
from ..._bindings.errors import CUDAError
from ..._ffi.convert import word
from ..._ffi.library import SymbolNotFound
from ..._ffi.results import output_slots, storage
from ..._ffi.shown import type_name
from ..._process import environment
from ...driver import CUcontext, CUgraph, CUgraphExec, CUstreamCaptureStatus, checked
from ..context.current import RelaxedCaptureMode, owning, with_context
from ..ownership.captures import captures
from ..ownership.graph_references import destroy_graph, is_builder
from ..ownership.owned import Ownership
from ..streams.stream import DEFAULT_ADDRESSES, IsStreamType, Stream
from . import launch_lane
from .kernel import Kernel
from .launch import Call, Writer, check, has_lanes, launch
from .node_parameters import kernel_parameters, set_attributes

if TYPE_CHECKING:
    from collections.abc import Callable

from .launch_config import LaunchConfig


def prepare(
    stream: Stream | IsStreamType, config: LaunchConfig, kernel: Kernel, *args: Any
) -> Callable[..., None]:
    """`launch` for a loop: make a function of the kernel's arguments alone. It launches nothing yet.

    `config` is taken as it is now. `args` are an example: `run = prepare(stream, config, kernel, 2.0, x, y)`,
    then `run(a, x, y)`. Calls are faster with arguments of the same types, and right with any others. Raises
    as `launch` does.

    It is a graph of one kernel, about 110 KiB of device memory for each thread that launches at the same
    time; other graphs use it after the last reference to the function.

    Source: cuGraphExecKernelNodeSetParams, cuGraphLaunch; cuLaunchKernelEx in a stream that is captured or
    each thread's own, with `programmatic_stream_serialization`, and with CUDA_LAUNCH_BLOCKING=1.
    """
    if not isinstance(kernel, Kernel):
        raise TypeError(f"prepare takes a Kernel third, not {type_name(kernel)}")
    check(config)
    config = copy(config)
    writer = Writer(kernel, args)
    writer.fill(writer.layout.make()[0], args)  # says what is wrong with them, if anything is
    if is_builder(stream):
        return partial(launch, stream, config, kernel)
    accepted = Stream._accept(stream)
    if _can_be_a_graph(accepted, config):
        try:
            return _Graphs(writer, accepted, config, kernel).function(args)
        except (CUDAError, SymbolNotFound):
            pass  # `launch` can do it, or says why not
    return partial(launch, accepted, config, kernel)


def _can_be_a_graph(stream: Stream, config: LaunchConfig) -> bool:
    """Whether runs of a graph do the same as launches.

    They never overlap, not even in a stream that is another one in each thread, nor with the kernel before
    them. And whoever lets launches wait, to find the one with a fault, wants launches.
    """
    at = int(stream._handle)
    is_of_each_thread = at == 2 or (at == 0 and environment.PER_THREAD_DEFAULT_STREAM)
    is_waited_for = os.environ.get("CUDA_LAUNCH_BLOCKING", "0") not in ("", "0")
    return not (is_of_each_thread or is_waited_for or config.programmatic_stream_serialization)


_new_status = output_slots(CUstreamCaptureStatus, storage(CUstreamCaptureStatus))[2]
_new_context = output_slots(CUcontext, storage(CUcontext))[2]


class _Graphs:
    """Makes the graphs of one prepared launch: one, and others for threads that launch at the same time."""

    def __init__(self, writer: Writer, stream: Stream, config: LaunchConfig, kernel: Kernel) -> None:
        self.functions = {
            "get_current": driver.libcuda.function("cuCtxGetCurrent"),
            "is_capturing": driver.libcuda.function("cuStreamIsCapturing"),
            "run_graph": driver.libcuda.function("cuGraphLaunch"),
            "set_arguments": driver.libcuda.function("cuGraphExecKernelNodeSetParams_v2"),
        }
        self.writer, self.stream, self.config, self.kernel = writer, stream, config, kernel
        self.context = stream._context or stream._asked_context()

    def make(self) -> tuple[Any, ...]:
        """A slot: the room for the values, what C takes, and what it answers."""
        return with_context(self.context, captures.relaxed, self._make)

    def _make(self) -> tuple[Any, ...]:
        room, table = self.writer.table()
        wanted = kernel_parameters(self.config, self.kernel, table, self.context)
        graph, executable = CUgraph(), CUgraphExec()
        owners = [Ownership(destroy_graph, graph), Ownership(_destroy, executable, self.kernel)]
        owning.cuGraphCreate(graph, 0)
        node = checked.cuGraphAddKernelNode(graph, None, 0, wanted)
        set_attributes(node, self.config)
        owning.cuGraphInstantiate(executable, graph, 0)
        handles = word(wanted.getPtr()), word(int(executable)), word(int(node))
        return room, *handles, *_new_status(), *_new_context(), (wanted, int(executable), int(node), owners)

    def function(self, example: tuple[Any, ...]) -> Callable[..., None]:
        """The function that `prepare` returns, with a lane for arguments of the types of the example."""
        writer, stream = self.writer, self.stream
        scope = {
            **writer.scope(),
            **self.functions,
            "config": self.config,
            "context": self.context,
            "kernel": self.kernel,
            "make": self.make,
            "possible": captures.may_be_active,
            "stream": stream,
            "where": word(int(stream._handle)),
        }
        first = self.make()
        parameters = "*args" if writer.is_plain else ", ".join(writer.names)
        args = "args" if writer.is_plain else f"({''.join(name + ', ' for name in writer.names)})"
        steps = ["possible and (is_capturing(where, to_status) or status.value)"]
        if stream._address in DEFAULT_ADDRESSES:  # which every context has
            steps.append("get_current(to_current) or current.value != context")
        if writer.names:
            steps.append("set_arguments(executable, node, wanted)")
        call = Call(
            "room, wanted, executable, node, status, to_status, current, to_current, _",
            " or ".join([*steps, "run_graph(executable, where)"]),
            f"dispatch(kernel, stream, config, {args})",  # which can do it, or says why not
        )
        closed = ["stream._handle"]  # has none
        function: Callable[..., None] = writer.function_of(scope, parameters, closed, args, call)
        if not self.give_lane(function, first, example):
            scope["push"](first)
        return function

    def give_lane(
        self, function: Callable[..., None], slot: tuple[Any, ...], example: tuple[Any, ...]
    ) -> bool:
        """Give the function its lane, where that is possible; that has the graph of the slot to itself."""
        writer, stream = self.writer, self.stream
        if not has_lanes():
            return False
        wanted, executable, node, _ = slot[-1]
        looks = stream._address in DEFAULT_ADDRESSES
        graph = launch_lane.Graph(executable, node, bytes(wanted), stream, self.context, looks)
        lane = launch_lane.prepared_lane(
            function,
            self.functions,
            captures.may_be_active,
            graph,
            example,
            writer.encodings,
            writer.layout.offsets,
        )
        if lane is not None:
            function.__globals__.update(lane=lane, graph=slot)
        return lane is not None


def _destroy(executable: CUgraphExec, kernel: Kernel) -> None:
    """kernel: what must not be unloaded before."""
    with RelaxedCaptureMode():
        owning.cuGraphExecDestroy(executable)
