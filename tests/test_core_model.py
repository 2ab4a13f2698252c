"""Random programs over core, beside a model of them: what is in every buffer, and what has to exist.

The model of lifetimes is Python itself: a `Thing` stands for what the driver has to have, and is referred to
by parts of the model as the real one is by objects of core. What nobody refers to any more has to be gone.
"""

from __future__ import annotations

import gc
import sys
import threading
import traceback
import weakref
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, ClassVar, TypeVar

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from .budget import MORE, budget
from .reliability.world import World, world
from .threads import at_once

pytestmark = [pytest.mark.thorough, pytest.mark.hypothesis]

T = TypeVar("T")
Array = np.ndarray[Any, np.dtype[np.uint8]]
Work = Callable[[Any], object]

MEMORY = {
    "device": ("device memory",),
    "pinned": ("host memory",),
    "managed": ("managed memory",),
    "legacy pinned": ("host memory",),
    "virtual": ("mapped memory", "addresses"),
}
"""What the driver has for a buffer of a memory resource."""
OF_THE_HOST = ("pinned", "managed", "legacy pinned")
COUNTED = {"event", "executable graph", "graph", "memory pool", "stream"}.union(*MEMORY.values())
"""Kinds of `simulator.alive()` of which the model knows how many there are."""
SIZES = (128, 512, 8192)
CAN_FAIL = (
    "cuEventCreate",
    "cuEventRecord",
    "cuGraphInstantiateWithParams",
    "cuGraphLaunch",
    "cuGraphRetainUserObject",
    "cuLaunchKernelEx",
    "cuMemAllocFromPoolAsync",
    "cuMemcpyAsync",
    "cuMemcpyDtoHAsync",
    "cuMemcpyHtoDAsync",
    "cuMemsetD32Async",
    "cuMemsetD8Async",
    "cuStreamBeginCapture",
    "cuStreamCreateWithPriority",
    "cuStreamWaitEvent",
    "cuUserObjectCreate",
)
"""Functions that are made to fail; tests/reliability/test_faults.py does so with all, in fixed programs."""
INDEX = st.integers(0, 63)
"""Chooses from a list, whatever its length."""
BYTE = st.integers(0, 255)

things: weakref.WeakSet[Thing] = weakref.WeakSet()
"""All that the model of the program that runs has."""


class Thing:
    """Stands for what the driver has to have, of these kinds, as long as anybody refers to this."""

    def __init__(self, *kinds: str, needs: object = None) -> None:
        self.kinds, self.needs = kinds, needs
        things.add(self)


class Memory(Thing):
    """What is in some memory, and when it was used last: an event of core's, and what that stands for."""

    def __init__(self, resource: str, content: Array, stream: Thing | None, pool: Thing | None) -> None:
        super().__init__(*MEMORY[resource])
        self.resource, self.content, self.stream, self.pool = resource, content, stream, pool
        self.last: Held | None = None

    def wait(self) -> None:
        """Let the host wait for the last use."""
        if self.last is not None:
            self.last.real.sync()
            self.last = None


class Held:
    """An object of core, and what it stands for."""

    def __init__(self, real: Any, model: Any) -> None:
        self.real, self.model = real, model


class Program(Held):
    """A builder that builds, or a graph that can be launched: what a launch does, and with which memory."""

    def __init__(
        self, real: Any, model: Thing, effects: list[Callable[[], None]], uses: list[Memory]
    ) -> None:
        super().__init__(real, model)
        self.effects, self.uses = effects, uses
        self.inner = 0
        """How many graphs are inside, of which an executable graph has copies."""


class Called:
    """A function of the host in a graph."""

    def __init__(self) -> None:
        self.times = self.expected = 0

    def __call__(self) -> None:
        self.times += 1


class Programs(RuleBasedStateMachine):
    """Each rule does one thing, and the same to the model."""

    w: ClassVar[World]
    reports: ClassVar[list[Any]]

    def __init__(self) -> None:
        super().__init__()
        begun = self.w.module("_core.ownership.captures").captures.may_be_active
        begun.clear()  # as no earlier program had told of a stream
        self.w.settle()
        self.w.owned._reported.clear()
        self.reports.clear()
        things.clear()  # a program that failed is kept with its traceback
        self.before, self.stack = self.w.alive(), self.w.stack()
        core = self.w.core
        self.resources: dict[str, Any] = {
            "device": self.w.device.memory_resource,
            "pinned": core.PinnedMemoryResource(),
            "managed": core.ManagedMemoryResource(),
            "legacy pinned": core.LegacyPinnedMemoryResource(),
            "virtual": core.VirtualMemoryResource(self.w.device),
        }
        self.streams: list[Held] = [Held(core.LEGACY_DEFAULT_STREAM, None)]
        self.pools: list[Held] = []
        self.buffers: list[Held] = []
        self.views: list[Held] = []
        self.events: list[Held] = []
        self.builders: list[Program] = []
        self.graphs: list[Program] = []
        self.called: list[Called] = []
        self.elsewhere = False
        self.to_fail: tuple[str, int] | None = None

    # -- how things are done ------------------------------------------------------------------------

    def run(self, work: Callable[[], T]) -> T:
        """Do it, in another thread if the last word was that."""
        if not self.elsewhere:
            return work()
        found: list[T] = []
        wrong: list[BaseException] = []

        def other() -> None:
            try:
                self.w.device.set_current()
                found.append(work())
            except BaseException as error:
                wrong.append(error)

        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
        if wrong:
            raise wrong.pop()
        return found.pop()

    def attempt(self, work: Callable[[], T], spare: str = "") -> T | None:
        """What it returns; None if it fails, as it does if a call was made to, and only then. `spare` is a
        function that `work` can do without.
        """
        if self.to_fail is None:
            return self.run(work)
        (function, call), self.to_fail = self.to_fail, None
        with self.w.simulator.failing(function, call=call) as calls:
            try:
                done = self.run(work)
            except MemoryError as error:
                assert calls.failed and isinstance(error, self.w.core.CUDAError)
                assert (error.name, error.function) == ("CUDA_ERROR_OUT_OF_MEMORY", function)
                return None
        assert not calls.failed or function == spare
        return done

    def order(self, stream: Held, memories: list[Memory]) -> None:
        """Let `stream` wait for the last use of each."""
        for event in {id(m.last): m.last for m in memories if m.last is not None}.values():
            stream.real.wait(event.real)

    def used(self, stream: Held, memories: list[Memory]) -> None:
        """`stream` has used them."""
        last = Held(stream.real.record(), Thing("event"))
        for memory in memories:
            memory.last = last

    def do(
        self, where: Held, buffers: list[Held], work: Work, *effects: Callable[[], None], spare: str = ""
    ) -> None:
        """Do `work(real)` in a stream, in the order in which the buffers were used before, or record it.
        `spare` is a function that it can do without.
        """
        memories = [buffer.model for buffer in buffers]
        if isinstance(where, Program):
            if self.attempt(lambda: (work(where.real),)) is None:
                self.builders.remove(where)  # perhaps a part of it was recorded
                where.real.close()
            where.effects += effects
            where.uses += memories
            return
        self.order(where, memories)
        if self.attempt(lambda: (work(where.real),), spare) is not None:
            for effect in effects:
                effect()
            self.used(where, memories)
            return
        where.real.sync()
        before = [memory.content.copy() for memory in memories]
        for effect in effects:
            effect()
        for buffer, old in zip(buffers, before, strict=True):
            if not (self.bytes_in(buffer) == buffer.model.content).all():
                buffer.model.content = old  # as if it had never been asked for
                self.check(buffer)

    def bytes_in(self, buffer: Held) -> Array:
        """What is in a buffer, once all that uses it has run."""
        buffer.model.wait()
        found = np.empty(buffer.real.size, np.uint8)
        stream = self.w.core.PER_THREAD_DEFAULT_STREAM
        buffer.real.copy_to(found, stream=stream)
        stream.sync()
        return found

    def check(self, buffer: Held) -> None:
        found, content = self.bytes_in(buffer), buffer.model.content
        assert (found == content).all(), f"{buffer.real!r}: {found[:40]}, not {content[:40]}"

    def before_release(self, memory: Memory, stream: Held | None = None) -> None:
        """Order the release of memory behind its last use: in its stream, if that is still at hand."""
        if stream is None:
            stream = next((each for each in self.streams if each.model is memory.stream), None)
        if stream is None or memory.resource in ("legacy pinned", "virtual"):
            memory.wait()
        else:
            self.order(stream, [memory])

    def where(self, number: int) -> Held:
        """A stream, or a builder."""
        places = [*self.streams, *self.builders]
        return places[number % len(places)]

    @staticmethod
    def one(of: list[Held] | list[Program], number: int) -> Any:
        return of[number % len(of)]

    @rule(function=st.sampled_from(CAN_FAIL), call=st.integers(1, 2))
    def let_a_call_fail(self, function: str, call: int) -> None:
        """In what is done next."""
        self.to_fail = function, call

    @rule()
    def change_thread(self) -> None:
        self.elsewhere = not self.elsewhere

    # -- streams, events, pools ---------------------------------------------------------------------

    @rule(blocking=st.booleans(), priority=st.sampled_from([None, 0, -1]))
    def make_stream(self, blocking: bool, priority: int | None) -> None:
        options = self.w.core.StreamOptions(nonblocking=not blocking, priority=priority)
        made = self.attempt(lambda: self.w.device.create_stream(options))
        if made is not None:
            self.streams.append(Held(made, Thing("stream")))

    @precondition(lambda self: len(self.streams) > 1)
    @rule(number=INDEX, close=st.booleans())
    def end_stream(self, number: int, close: bool) -> None:
        """Whatever it still has to do."""
        stream = self.streams.pop(1 + number % (len(self.streams) - 1))
        if close:
            self.run(stream.real.close)
            assert stream.real.is_closed

    @rule(number=INDEX, timed=st.booleans())
    def record(self, number: int, timed: bool) -> None:
        stream = self.one(self.streams, number)
        options = self.w.core.EventOptions(timing_enabled=timed)
        made = self.attempt(lambda: stream.real.record(options=options))
        if made is not None:
            self.events.append(Held(made, Thing("event")))

    @precondition(lambda self: self.events)
    @rule(event=INDEX, number=INDEX, host=st.booleans())
    def wait_for_event(self, event: int, number: int, host: bool) -> None:
        real, stream = self.one(self.events, event).real, self.one(self.streams, number)
        if host:
            self.run(real.sync)
            assert real.is_done
        else:
            self.attempt(lambda: (stream.real.wait(real),))

    @precondition(lambda self: self.events)
    @rule(event=INDEX, close=st.booleans())
    def end_event(self, event: int, close: bool) -> None:
        gone = self.events.pop(event % len(self.events))
        if close:
            self.run(gone.real.close)

    @precondition(lambda self: not self.builders)
    @rule()
    def make_pool(self) -> None:
        core = self.w.core
        made = self.attempt(lambda: core.DeviceMemoryResource(0, core.DeviceMemoryResourceOptions()))
        if made is not None:
            self.pools.append(Held(made, Thing("memory pool")))

    @precondition(lambda self: self.pools)
    @rule(number=INDEX, close=st.booleans())
    def end_pool(self, number: int, close: bool) -> None:
        """Its buffers stay."""
        pool = self.pools.pop(number % len(self.pools))
        if close:
            self.run(pool.real.close)

    # -- buffers ------------------------------------------------------------------------------------

    @rule(kind=st.sampled_from([*MEMORY, "own"]), size=st.sampled_from(SIZES), number=INDEX, value=BYTE)
    def allocate(self, kind: str, size: int, number: int, value: int) -> None:
        """And fill: what is in new memory nobody knows."""
        stream, pool = self.one(self.streams, number), None
        if kind == "own" and self.pools:
            held = self.one(self.pools, number)
            resource, pool = held.real, held.model
        else:
            resource = self.resources.get(kind, self.resources["device"])
        name = kind if kind in MEMORY else "device"
        made = self.attempt(lambda: resource.allocate(size, stream=stream.real))
        if made is not None:
            made.fill(value, stream=stream.real)
            memory = Memory(name, np.full(size, value, np.uint8), stream.model, pool)
            self.used(stream, [memory])
            self.buffers.append(Held(made, memory))

    @precondition(lambda self: self.buffers)
    @rule(
        buffer=INDEX,
        number=INDEX,
        pattern=st.binary(min_size=1, max_size=1) | st.binary(min_size=4, max_size=4),
    )
    def fill(self, buffer: int, number: int, pattern: bytes) -> None:
        held = self.one(self.buffers, buffer)
        repeated = np.frombuffer(pattern * (held.real.size // len(pattern)), np.uint8)
        self.do(
            self.where(number),
            [held],
            lambda stream: held.real.fill(pattern, stream=stream),
            partial(set_content, held.model, repeated),
        )

    @precondition(lambda self: self.buffers)
    @rule(buffer=INDEX, number=INDEX, seed=BYTE)
    def copy_from_host(self, buffer: int, number: int, seed: int) -> None:
        """From an array that nobody else refers to."""
        held = self.one(self.buffers, buffer)
        content = (np.arange(held.real.size) * 7 + seed).astype(np.uint8)
        self.do(
            self.where(number),
            [held],
            lambda stream: held.real.copy_from(content.copy(), stream=stream),
            partial(set_content, held.model, content),
        )

    @precondition(lambda self: self.buffers)
    @rule(source=INDEX, other=INDEX, number=INDEX)
    def copy(self, source: int, other: int, number: int) -> None:
        src = self.one(self.buffers, source)
        fitting = [each for each in self.buffers if each.real.size == src.real.size and each is not src]
        if fitting:
            dst = self.one(fitting, other)
            self.do(
                self.where(number),
                [src, dst],
                lambda stream: dst.real.copy_from(src.real, stream=stream),
                lambda: set_content(dst.model, src.model.content),
            )

    @precondition(lambda self: self.buffers)
    @rule(source=INDEX, number=INDEX)
    def copy_to_new(self, source: int, number: int) -> None:
        src, stream = self.one(self.buffers, source), self.one(self.streams, number)
        self.order(stream, [src.model])
        if (src.model.pool or src.model.resource == "device") and src.real.memory_resource.is_closed:
            with pytest.raises(RuntimeError):
                src.real.copy_to(stream=stream.real)
            return
        made = self.attempt(lambda: src.real.copy_to(stream=stream.real))
        if made is None:
            stream.real.sync()
            return
        memory = Memory(src.model.resource, src.model.content.copy(), stream.model, src.model.pool)
        self.used(stream, [src.model, memory])
        self.buffers.append(Held(made, memory))

    @precondition(lambda self: self.buffers)
    @rule(buffer=INDEX, number=INDEX, value=st.integers(-(2**31), 2**31 - 1), prepared=st.booleans())
    def launch(self, buffer: int, number: int, value: int, prepared: bool) -> None:
        """A kernel that adds to the first 32 integers."""
        held, w = self.one(self.buffers, buffer), self.w

        def work(stream: Any) -> None:
            if prepared:
                w.core.prepare(stream, w.one, w.add, held.real, 0)(held.real, value % 2**32)
            else:
                w.core.launch(stream, w.one, w.add, held.real, value % 2**32)

        spare = "cuGraphLaunch" if prepared else ""  # a prepared launch is an ordinary one if that fails
        self.do(self.where(number), [held], work, partial(add_to, held.model, value), spare=spare)

    @precondition(lambda self: self.buffers)
    @rule(buffer=INDEX, number=INDEX)
    def transpose(self, buffer: int, number: int) -> None:
        """By a view of the memory as a matrix."""
        held, stream = self.one(self.buffers, buffer), self.one(self.streams, number)
        matrix = np.arange(held.real.size, dtype=np.uint8).reshape(16, -1)
        view = self.w.core.utils.StridedMemoryView
        self.do(
            stream,
            [held],
            lambda real: view.from_buffer(held.real, matrix.T.shape, dtype=np.uint8).copy_from(
                view.from_any_interface(matrix.T, -1), real
            ),
            lambda: set_content(held.model, matrix.T.reshape(-1)),
        )

    @precondition(lambda self: self.buffers)
    @rule(buffer=INDEX, number=INDEX, how=st.sampled_from(["drop", "close", "close in", "move", "cycle"]))
    def end_buffer(self, buffer: int, number: int, how: str) -> None:
        held = self.one(self.buffers, buffer)
        stream = self.one(self.streams, number) if how in ("close in", "move") else None
        memory = held.model
        self.before_release(memory, stream)
        if stream is not None:
            memory.stream = stream.model
        if how == "move":
            self.run(partial(held.real.set_deallocation_stream, stream.real))
            return
        self.buffers.remove(held)
        if how == "cycle":
            cycle: list[Any] = [held]
            cycle.append(cycle)
        elif how != "drop":
            self.run(partial(held.real.close, *([] if stream is None else [stream.real])))
            assert held.real.is_closed and held.real.size == 0
            with pytest.raises(RuntimeError):
                held.real.fill(1)

    @precondition(lambda self: any(self.can_grow(each) for each in self.buffers))
    @rule(buffer=INDEX, value=BYTE)
    def grow(self, buffer: int, value: int) -> None:
        """Virtual memory that no graph uses: what is in it stays."""
        held = self.one([each for each in self.buffers if self.can_grow(each)], buffer)
        held.model.wait()
        self.run(lambda: self.resources["virtual"].modify_allocation(held.real, held.real.size * 2))
        before = held.model.content
        assert (self.bytes_in(held)[: len(before)] == before).all()
        held.model.content = np.full(held.real.size, value, np.uint8)
        held.real.fill(value)

    def can_grow(self, held: Held) -> bool:
        used = any(held.model in program.uses for program in [*self.graphs, *self.builders])
        return held.model.resource == "virtual" and held.real.size <= max(SIZES) and not used

    # -- views --------------------------------------------------------------------------------------

    @precondition(lambda self: any(each.model.resource in OF_THE_HOST for each in self.buffers))
    @rule(buffer=INDEX, how=st.sampled_from(["asarray", "from_dlpack", "strided"]))
    def look(self, buffer: int, how: str) -> None:
        """An array of NumPy in the memory itself."""
        held = self.one([each for each in self.buffers if each.model.resource in OF_THE_HOST], buffer)
        held.model.wait()
        if how == "strided":
            view = self.w.core.utils.StridedMemoryView.from_any_interface(held.real, -1)
            array = np.from_dlpack(view)
        else:
            array = getattr(np, how)(held.real)
        array = array.view(np.uint8)
        assert (array == held.model.content).all()
        self.views.append(Held(array, held.model))

    @precondition(lambda self: self.views)
    @rule(view=INDEX, value=BYTE)
    def write_by_view(self, view: int, value: int) -> None:
        held = self.one(self.views, view)
        held.model.wait()
        assert (held.real == held.model.content).all()
        held.real[:] = value
        held.model.content = np.full(held.real.size, value, np.uint8)

    @precondition(lambda self: self.views)
    @rule(view=INDEX)
    def end_view(self, view: int) -> None:
        self.before_release(self.one(self.views, view).model)
        self.views.pop(view % len(self.views))

    # -- graphs -------------------------------------------------------------------------------------

    @precondition(lambda self: len(self.builders) < 2)
    @rule(number=INDEX, own=st.booleans())
    def begin(self, number: int, own: bool) -> None:
        """Record in a stream of its own, or in one that there is, which nobody else uses any more."""
        free = [] if own else [each for each in self.streams[1:] if each.real.is_nonblocking]
        if free:
            chosen = self.one(free, number)
            self.streams.remove(chosen)
            made, stream = chosen.real.create_graph_builder(), chosen.model
        else:
            made, stream = self.attempt(self.w.device.create_graph_builder), Thing("stream")
        if made is not None and self.attempt(made.begin_building) is not None:
            self.builders.append(Program(made, Thing("graph", needs=stream), [], []))

    @precondition(lambda self: self.builders and self.buffers)
    @rule(number=INDEX, left=INDEX, right=INDEX, value=BYTE)
    def record_branches(self, number: int, left: int, right: int, value: int) -> None:
        builder = self.one(self.builders, number)
        one, two = self.one(self.buffers, left), self.one(self.buffers, right)
        if one is two:
            return

        def work(real: Any) -> None:
            first, second = real.split(2)
            one.real.fill(value, stream=first)
            two.real.fill(255 - value, stream=second)
            self.w.graph.GraphBuilder.join(first, second)

        self.do(
            builder,
            [one, two],
            work,
            partial(set_content, one.model, np.full(one.real.size, value, np.uint8)),
            partial(set_content, two.model, np.full(two.real.size, 255 - value, np.uint8)),
        )

    @precondition(lambda self: self.builders and self.buffers)
    @rule(number=INDEX, buffer=INDEX, value=BYTE, condition=st.sampled_from([None, 0, 1]))
    def record_graph_in_graph(self, number: int, buffer: int, value: int, condition: int | None) -> None:
        """What is embedded, or runs if a condition is not 0."""
        builder, held = self.one(self.builders, number), self.one(self.buffers, buffer)

        def work(real: Any) -> None:
            if condition is None:
                inside = self.w.device.create_graph_builder()
            else:
                inside = real.if_then(real.create_condition(condition))
            inside.begin_building()
            held.real.fill(value, stream=inside)
            inside.end_building()
            if condition is None:
                real.embed(inside)

        content = np.full(held.real.size, value, np.uint8)
        effects = [] if condition == 0 else [partial(set_content, held.model, content)]
        builder.inner += 1
        self.do(builder, [held], work, *effects)

    @precondition(lambda self: self.builders and self.buffers)
    @rule(number=INDEX, buffer=INDEX, value=BYTE, close=st.booleans())
    def record_memory_of_the_graph(self, number: int, buffer: int, value: int, close: bool) -> None:
        """Memory that is there while the graph runs."""
        builder, held = self.one(self.builders, number), self.one(self.buffers, buffer)

        def work(real: Any) -> None:
            scratch = self.w.core.GraphMemoryResource(0).allocate(held.real.size, stream=real)
            scratch.fill(value, stream=real)
            held.real.copy_from(scratch, stream=real)
            if close:
                scratch.close()

        content = np.full(held.real.size, value, np.uint8)
        self.do(builder, [held], work, partial(set_content, held.model, content))

    @precondition(lambda self: self.builders)
    @rule(number=INDEX)
    def record_callback(self, number: int) -> None:
        builder, called = self.one(self.builders, number), Called()
        self.called.append(called)
        self.do(builder, [], lambda real: real.callback(called), partial(expect, called))

    @precondition(lambda self: self.builders)
    @rule(number=INDEX, how=st.sampled_from(["complete", "complete", "complete", "close", "drop"]))
    def end_builder(self, number: int, how: str) -> None:
        builder = self.builders.pop(number % len(self.builders))
        if how == "close":
            self.run(builder.real.close)
        elif how == "complete":
            self.run(builder.real.end_building)
            graph = self.attempt(builder.real.complete)
            if graph is not None:
                model = Thing("executable graph", *["graph"] * builder.inner)
                self.graphs.append(Program(graph, model, builder.effects, builder.uses))

    @precondition(lambda self: self.buffers)
    @rule(first=INDEX, second=INDEX, value=BYTE)
    def define(self, first: int, second: int, value: int) -> None:
        """A graph of nodes: a fill, and a copy or a kernel after it."""
        one, two = self.one(self.buffers, first), self.one(self.buffers, second)
        size = min(one.real.size, two.real.size)

        def work() -> Any:
            definition = self.w.graph.GraphDefinition()
            node = definition.memset(one.real, value, size)
            if one is two:
                node.launch(self.w.one, self.w.add, one.real, value)
            else:
                node.memcpy(two.real, one.real, size)
            return definition.instantiate()

        graph = self.attempt(work)
        if graph is None:
            return
        fill = partial(fill_start, size=size, value=value)
        effects = [partial(fill, one.model)]
        effects.append(partial(add_to, one.model, value) if one is two else partial(fill, two.model))
        self.graphs.append(Program(graph, Thing("executable graph"), effects, [one.model, two.model]))

    @precondition(lambda self: self.graphs)
    @rule(graph=INDEX, number=INDEX, times=st.integers(1, 3))
    def launch_graph(self, graph: int, number: int, times: int) -> None:
        chosen, stream = self.one(self.graphs, graph), self.one(self.streams, number)
        for _ in range(times):
            self.order(stream, chosen.uses)
            if self.attempt(lambda: (chosen.real.launch(stream.real),)) is not None:
                for effect in chosen.effects:
                    effect()
                self.used(stream, chosen.uses)

    @precondition(lambda self: self.graphs)
    @rule(graph=INDEX, close=st.booleans())
    def end_graph(self, graph: int, close: bool) -> None:
        """Launches under way run to their end."""
        gone = self.graphs.pop(graph % len(self.graphs))
        if close:
            self.run(gone.real.close)

    # -- what is refused ----------------------------------------------------------------------------

    @precondition(lambda self: self.buffers)
    @rule(buffer=INDEX, number=INDEX, what=INDEX)
    def refuse(self, buffer: int, number: int, what: int) -> None:
        """Bad arguments, and more memory than there is, change nothing."""
        held, w = self.one(self.buffers, buffer).real, self.w
        where = self.where(number).real
        calls: list[Callable[[], object]] = [
            lambda: held.fill(256, stream=where),
            lambda: held.fill(b"abc", stream=where),
            lambda: held.fill(1.5, stream=where),
            lambda: held.copy_from(bytes(held.size + 1), stream=where),
            lambda: held.copy_from(object(), stream=where),
            lambda: held.copy_to(b"literal", stream=where),
            lambda: held.copy_to(stream="a stream"),
            lambda: w.device.allocate(-1),
            lambda: w.device.allocate("1"),
            lambda: w.core.launch(where, w.one, w.add, held),
            lambda: w.core.launch(where, w.one, w.add, held, "1"),
            lambda: w.core.launch(where, w.one, w.add, held, 2**32),
            lambda: w.core.launch(where, w.one, w.add, np.zeros(1), 1),
        ]
        with pytest.raises((TypeError, ValueError, OverflowError)):
            self.run(calls[what % len(calls)])
        with pytest.raises(MemoryError):
            w.device.allocate(1 << 60, stream=self.one(self.streams, number).real)

    # -- threads ------------------------------------------------------------------------------------

    @precondition(lambda self: self.buffers)
    @rule(count=st.integers(2, 4), seed=INDEX)
    def together(self, count: int, seed: int) -> None:
        """Threads with a buffer each, and what they make and drop besides."""
        chosen = self.buffers[:count]

        def work(number: int) -> None:
            self.w.device.set_current()
            held = chosen[number]
            stream = Held(self.w.device.create_stream(), None)
            self.order(stream, [held.model])
            for turn in range(3):
                content = (np.arange(held.real.size) * 3 + seed + turn + number).astype(np.uint8)
                other = self.w.device.allocate(held.real.size, stream.real)
                other.copy_from(content.copy(), stream=stream.real)
                held.real.copy_from(other, stream=stream.real)
                self.w.core.launch(stream.real, self.w.one, self.w.add, held.real, turn)
                with stream.real.record() as event:
                    stream.real.wait(event)
                set_content(held.model, content)
                add_to(held.model, turn)
            stream.real.sync()
            held.model.last = None

        at_once(work, len(chosen), interval=1e-5)

    # -- what has to be true ------------------------------------------------------------------------

    @invariant()
    def the_context_is_as_before(self) -> None:
        assert self.w.stack() == self.stack, self.stack
        assert self.reports == [], self.reports

    @precondition(lambda self: self.buffers)
    @rule(buffer=INDEX)
    def check_one(self, buffer: int) -> None:
        self.check(self.one(self.buffers, buffer))

    @precondition(lambda self: not self.builders)
    @rule()
    def check_all(self) -> None:
        """Everything is as it should be, and nothing else is there."""
        self.w.settle()
        for held in self.buffers:
            self.check(held)
        for view in self.views:
            assert (view.real == view.model.content).all()
        for called in self.called:
            assert called.times == called.expected
        gc.collect()
        expected = self.before + Counter(kind for thing in things for kind in thing.kinds)
        uncounted = Counter({kind: 1 << 20 for kind in self.w.alive() if kind not in COUNTED})
        more = self.w.leak(expected + uncounted)
        assert not more, more
        missing = expected - self.w.alive()
        assert not missing, missing

    def teardown(self) -> None:
        self.to_fail, self.elsewhere = None, False
        while self.builders:
            self.builders.pop().real.close()
        failed = sys.exc_info()[1]
        if failed is not None:  # other programs will run: nothing may stay
            traceback.clear_frames(failed.__traceback__)
            self.drop_all()
            self.w.settle()
            if not isinstance(failed, Exception):  # hypothesis has had enough of this one
                self.w.leak(self.before)
            return
        self.check_all()
        for memory in [held.model for held in self.buffers]:
            self.before_release(memory)
        memory = None
        self.drop_all()
        more = self.w.leak(self.before)
        assert not more, more
        assert not self.before - self.w.alive()

    def drop_all(self) -> None:
        for several in (self.views, self.graphs, self.buffers, self.events, self.streams, self.pools):
            several.clear()
        self.called.clear()


def set_content(memory: Memory, content: Array) -> None:
    memory.content = content.copy()


def fill_start(memory: Memory, size: int, value: int) -> None:
    memory.content[:size] = value


def add_to(memory: Memory, value: int) -> None:
    """What the kernel does."""
    memory.content[:128].view(np.uint32)[:] += np.uint32(value % 2**32)


def expect(called: Called) -> None:
    called.expected += 1


@pytest.fixture(scope="module")
def w() -> Iterator[World]:
    with world() as made:
        core, stream = made.core, made.device.create_stream()
        for kind in (core.PinnedMemoryResource, core.ManagedMemoryResource):
            kind().allocate(64, stream=stream)  # pools of the driver's stay
        buffer = made.device.allocate(128, stream)
        core.prepare(stream, made.one, made.add, buffer, 0)(buffer, 0)
        stream.sync()
        del stream, buffer
        yield made


def test_programs(w: World, monkeypatch: pytest.MonkeyPatch) -> None:
    reports: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda args: reports.append(args.exc_value))
    monkeypatch.setattr(Programs, "w", w, raising=False)
    monkeypatch.setattr(Programs, "reports", reports, raising=False)
    run_state_machine_as_test(
        Programs, settings=settings(budget, max_examples=8 * MORE, stateful_step_count=120)
    )
