"""Nothing that core does by itself spoils a capture, on a driver that knows what would: no GPU is needed."""

from __future__ import annotations

import gc
import sys
import threading
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from .fake_driver import GLOBAL, RELAXED, THREAD_LOCAL, Capture, FakeDriver, faked


@pytest.fixture(scope="module")
def copy() -> Iterator[SimpleNamespace]:
    """The fake driver, and a copy of the package that uses it."""
    with faked() as (fake, of):
        modules = {
            name: of(name)
            for name in ("core", "driver", "runtime", "_core.ownership.captures", "_core.ownership.owned")
        }
        yield SimpleNamespace(fake=fake, **{name.split(".")[-1]: found for name, found in modules.items()})


@pytest.fixture
def world(copy: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> Iterator[SimpleNamespace]:
    """The same as if nobody had captured yet, with a current context; finalizers meet no failure."""
    unraised: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda args: unraised.append(args.exc_value))
    copy.fake.reset()
    copy.fake.contexts[:] = [0xC0]
    copy.captures.captures.may_be_active.clear()
    copy.core.Device(0).set_current()
    yield copy
    copy.fake.captures.clear()
    gc.collect()
    copy.owned.deferred.retry()
    assert unraised == [] and copy.fake.wrong == []


@pytest.fixture
def fake(world: SimpleNamespace) -> FakeDriver:
    found: FakeDriver = world.fake
    return found


def a_buffer(core: Any) -> Any:
    return core.Device(0).allocate(64, core.Device(0).create_stream())


def a_legacy_buffer(core: Any) -> Any:
    return core.LegacyPinnedMemoryResource().allocate(64, stream=core.Device(0).create_stream())


def a_buffer_of_the_default_stream(core: Any) -> Any:
    return core.Device(0).allocate(64)


def a_virtual_buffer(core: Any) -> Any:
    return core.VirtualMemoryResource(0).allocate(64)


def a_pool(core: Any) -> Any:
    return core.DeviceMemoryResource(0, core.DeviceMemoryResourceOptions(max_size=1 << 20))


def a_stream(core: Any) -> Any:
    return core.Device(0).create_stream()


def an_event(core: Any) -> Any:
    return core.Device(0).create_event()


def a_recorded_event(core: Any) -> Any:
    return core.Device(0).create_stream().record()


MAKERS = [
    a_buffer,
    a_legacy_buffer,
    a_buffer_of_the_default_stream,
    a_virtual_buffer,
    a_pool,
    a_stream,
    an_event,
    a_recorded_event,
]


def elsewhere(work: Callable[[], None]) -> None:
    """Do it in another thread."""
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()


def begin(world: SimpleNamespace, stream: Any, mode: int) -> Capture:
    """Begin a capture as a program does that calls the driver itself, and asks for the function first."""
    world.driver.libcuda.symbol("cuStreamBeginCapture_v2")  # another test may have been the first to call it
    world.driver.checked.cuStreamBeginCapture(stream.handle, mode)
    found: Capture = world.fake.captures[int(stream.handle)]
    return found


@pytest.mark.parametrize("mode", [GLOBAL, THREAD_LOCAL])
@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("how", ["close", "drop", "drop in another thread", "collect"])
def test_what_goes_during_a_capture(world: SimpleNamespace, make: Any, mode: int, how: str) -> None:
    fake, checked = world.fake, world.driver.checked
    stream = world.core.Device(0).create_stream()
    things = [make(world.core)]
    capture = begin(world, stream, mode)
    if how == "close":
        things[0].close()
    if how == "collect":
        things.append(things)
        del things
        gc.collect()
    elif how == "drop in another thread":
        elsewhere(things.clear)
    else:
        things.clear()
    assert capture.spoiled == ""
    assert int(checked.cuStreamEndCapture(stream.handle)) == capture.number
    assert fake.mode == GLOBAL, "the thread's mode is left as it was"


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("mode", [GLOBAL, THREAD_LOCAL])
def test_what_the_collector_finds_during_the_capture_of_another_library(
    world: SimpleNamespace, make: Any, mode: int
) -> None:
    """Nobody told that there is one."""
    cycle = [make(world.core)]
    cycle.append(cycle)
    world.fake.captures[0x5EA] = capture = Capture(1, mode)
    del cycle
    gc.collect()
    assert capture.spoiled == ""
    assert world.captures.captures.may_be_active == set(), "and it is over"


@pytest.mark.parametrize("how", ["close", "drop"])
def test_a_capture_frees_what_it_allocates(world: SimpleNamespace, fake: FakeDriver, how: str) -> None:
    core, checked = world.core, world.driver.checked
    stream = core.Device(0).create_stream()
    core.Device(0).allocate(64, stream).close()  # then it is known, and allocated in by plain calls
    capture = begin(world, stream, THREAD_LOCAL)
    buffer = core.Device(0).allocate(64, stream)
    assert capture.memory == {buffer.handle}
    if how == "close":
        buffer.close()
    del buffer
    assert capture.memory == set() and capture.spoiled == ""
    checked.cuStreamEndCapture(stream.handle)


def test_a_capture_that_is_spoiled_frees_nothing(world: SimpleNamespace, fake: FakeDriver) -> None:
    """It has no number: what it allocated is not known from what another spoiled one did."""
    stream = world.core.Device(0).create_stream()
    begin(world, stream, RELAXED)
    fake.captures[int(stream.handle)].spoiled = "cuMemFree"
    buffer = world.core.Device(0).allocate(64, stream)
    fake.calls.clear()
    buffer.close()
    assert "cuMemFreeAsync" not in fake.calls
    world.driver.cuStreamEndCapture(stream.handle)
    stream.sync()
    assert "cuMemFreeAsync" in fake.calls
    fake.wrong.clear()  # there never was such memory


@pytest.mark.parametrize("how", ["close", "drop"])
def test_a_capture_frees_nothing_of_another(world: SimpleNamespace, fake: FakeDriver, how: str) -> None:
    """Of the same stream: memory from before, and that of a graph which it captured earlier."""
    core, checked = world.core, world.driver.checked
    stream = core.Device(0).create_stream()
    buffers = [core.Device(0).allocate(64, stream)]
    begin(world, stream, THREAD_LOCAL)
    buffers.append(core.Device(0).allocate(64, stream))
    checked.cuStreamEndCapture(stream.handle)
    capture = begin(world, stream, THREAD_LOCAL)
    fake.calls.clear()
    for buffer in buffers if how == "close" else ():
        buffer.close()
    del buffers
    gc.collect()
    core.Device(0).create_event()
    assert "cuMemFreeAsync" not in fake.calls and capture.spoiled == ""
    fake.alive.add(("memory", capture.number))
    checked.cuStreamEndCapture(stream.handle)
    fake.alive.discard(("memory", capture.number))
    core.Device(0).create_event()
    assert fake.calls.count("cuMemFreeAsync") >= 1
    assert [kind for kind, _ in fake.alive if kind == "memory"] == []
    fake.wrong.clear()  # the graph never ran, so its memory never was


def test_memory_of_a_graph_can_be_freed_by_another_that_is_named(
    world: SimpleNamespace, fake: FakeDriver
) -> None:
    core, checked = world.core, world.driver.checked
    first, second = (core.Device(0).create_stream() for _ in range(2))
    begin(world, first, RELAXED)
    buffer = core.Device(0).allocate(64, first)
    checked.cuStreamEndCapture(first.handle)
    capture = begin(world, second, RELAXED)
    capture.memory.add(buffer.handle)  # as the driver has it: any graph may free what another allocated
    buffer.close(second)
    assert capture.memory == set() and capture.spoiled == ""
    checked.cuStreamEndCapture(second.handle)


def test_what_waited_goes_when_something_is_waited_for(world: SimpleNamespace, fake: FakeDriver) -> None:
    core = world.core
    stream, other = (core.Device(0).create_stream() for _ in range(2))
    buffer = core.Device(0).allocate(64, stream)
    begin(world, stream, RELAXED)
    buffer.close()
    other.sync()
    assert [kind for kind, _ in fake.alive if kind == "memory"] == ["memory"], "it is captured still"
    world.driver.checked.cuStreamEndCapture(stream.handle)
    other.sync()
    assert [kind for kind, _ in fake.alive if kind == "memory"] == []


@pytest.mark.parametrize("mode", ["global", "thread_local", "relaxed"])
def test_captures_of_core_are_known_while_they_last(
    world: SimpleNamespace, fake: FakeDriver, mode: str
) -> None:
    core, possible = world.core, world.captures.captures.may_be_active
    stream = core.Device(0).create_stream()
    buffer = core.Device(0).allocate(64, stream)
    builder = stream.create_graph_builder().begin_building(mode)
    assert len(possible) == 1
    capture = fake.captures[stream._address]
    buffer.close()
    core.Device(0).memory_resource = core.DeviceMemoryResource(0)
    assert capture.spoiled == "" and ("memory", capture.number) not in fake.alive
    assert [kind for kind, _ in fake.alive if kind == "memory"] == ["memory"], "it waits"
    builder.end_building()
    assert possible == set() and [kind for kind, _ in fake.alive if kind == "memory"] == []
    stream.create_graph_builder().begin_building(mode)  # and dropped
    gc.collect()
    assert possible == set() and fake.captures == {}


def test_a_capture_that_does_not_begin_is_not_under_way(
    world: SimpleNamespace, fake: FakeDriver, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = world.core.Device(0).create_stream()
    builder = stream.create_graph_builder()
    monkeypatch.setattr(FakeDriver, "cuStreamBeginCapture_v2", lambda *_: 1)
    with pytest.raises(world.core.CUDAError):
        builder.begin_building()
    assert world.captures.captures.may_be_active == set()


def test_captures_that_others_may_begin(world: SimpleNamespace) -> None:
    """By each face of the driver, by the runtime, and in a stream that another library was given."""
    possible, core = world.captures.captures.may_be_active, world.core
    core.Device(0).create_stream().create_graph_builder().begin_building().end_building()
    assert possible == set(), "that was core itself"
    for library, symbol in (
        (world.driver.libcuda, "cuStreamBeginCapture_v2"),
        (world.driver.libcuda, "cuStreamBeginCaptureToGraph"),
        (world.runtime.libcudart, "cudaStreamBeginCapture"),
    ):
        library.load = lambda: world.fake
        library.symbol(symbol)
        assert len(possible) == 1
        possible.clear()
    stream = core.Device(0).create_stream()
    for share in (
        stream.__cuda_stream__,
        lambda: core.Stream.from_handle(int(stream.handle)),
        lambda: core.Device(0).create_stream(SimpleNamespaceStream()),
    ):
        share()
        share()
        assert len(possible) == 1
        possible.clear()


class SimpleNamespaceStream:
    """A stream of another library."""

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, 0x5EA


@pytest.mark.parametrize("how", ["close", "drop"])
def test_a_stream_that_another_library_captures(world: SimpleNamespace, fake: FakeDriver, how: str) -> None:
    stream = world.core.Device(0).create_stream(SimpleNamespaceStream())
    fake.alive.add(("stream", 0x5EA))
    buffer = world.core.Device(0).allocate(64, stream)
    fake.captures[0x5EA] = capture = Capture(1, GLOBAL)
    if how == "close":
        buffer.close()
    del buffer
    assert capture.spoiled == "" and ("stream", 0x5EA) in fake.alive
    fake.captures.clear()
    world.core.Device(0).create_event()
    assert [kind for kind, _ in fake.alive if kind == "memory"] == []


def test_a_stream_is_not_destroyed_while_it_captures(world: SimpleNamespace, fake: FakeDriver) -> None:
    stream = world.core.Device(0).create_stream()
    handle, number = stream.handle, int(stream.handle)
    begin(world, stream, RELAXED)
    stream.close()
    del stream
    assert ("stream", number) in fake.alive
    world.driver.checked.cuStreamEndCapture(handle)
    world.core.Device(0).create_event()
    assert ("stream", number) not in fake.alive


def test_no_capture_of_core_begins_between_the_question_and_the_free(
    world: SimpleNamespace, fake: FakeDriver, monkeypatch: pytest.MonkeyPatch
) -> None:
    core = world.core
    stream = core.Device(0).create_stream()
    buffer = core.Device(0).allocate(64, stream)
    world.captures.captures.mark_shared()
    builder = stream.create_graph_builder()
    threads: list[threading.Thread] = []
    asked = FakeDriver.cuStreamIsCapturing

    def ask(self: FakeDriver, arguments: Any, values: Any) -> None:
        asked(self, arguments, values)
        if not threads:
            threads.append(threading.Thread(target=builder.begin_building))
            threads[0].start()
            threads[0].join(0.2)  # it would be done by then, if it did not have to wait

    monkeypatch.setattr(FakeDriver, "cuStreamIsCapturing", ask)
    fake.calls.clear()
    buffer.close()
    threads[0].join()
    assert fake.calls.index("cuMemFreeAsync") < fake.calls.index("cuStreamBeginCapture_v2")
    assert fake.captures[int(stream.handle)].spoiled == ""
    builder.end_building()
    monkeypatch.undo()


@pytest.mark.parametrize("how", ["close", "drop"])
def test_memory_of_a_graph_is_freed_in_it_while_another_capture_begins(
    world: SimpleNamespace, fake: FakeDriver, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    """The free is a node and harms nobody. Put off until the capture has ended, it would not be in the graph,
    whose memory would stay after each launch.
    """
    core = world.core
    stream, other = core.Device(0).create_stream(), core.Device(0).create_stream()
    builder = stream.create_graph_builder().begin_building()
    buffers = [core.Device(0).allocate(64, stream)]
    capture = fake.captures[int(stream.handle)]
    assert len(capture.memory) == 1
    begins = FakeDriver.cuStreamBeginCapture_v2

    def begin(self: FakeDriver, arguments: Any, values: Any) -> Any:
        if how == "close":
            buffers[0].close()
        elsewhere(buffers.clear)
        left.append(set(capture.memory))
        return begins(self, arguments, values)

    monkeypatch.setattr(FakeDriver, "cuStreamBeginCapture_v2", begin)
    left: list[set[int]] = []
    another = other.create_graph_builder().begin_building()
    assert left == [set()]
    assert capture.spoiled == fake.captures[int(other.handle)].spoiled == ""
    builder.end_building()
    another.end_building()


@pytest.mark.parametrize("symbol", ["cuMemFreeAsync", "cuStreamBeginCapture_v2"])
def test_a_finalizer_waits_for_nobody(
    world: SimpleNamespace, fake: FakeDriver, monkeypatch: pytest.MonkeyPatch, symbol: str
) -> None:
    """Neither for a free nor for the beginning of a capture: it may have interrupted what they wait for."""
    core = world.core
    stream = core.Device(0).create_stream()
    first, others = core.Device(0).allocate(64, stream), [core.Device(0).allocate(64, stream)]
    world.captures.captures.mark_shared()
    really = getattr(FakeDriver, symbol)
    waits: list[bool] = []

    def call(self: FakeDriver, arguments: Any, values: Any) -> Any:
        if not waits:
            thread = threading.Thread(target=others.clear, daemon=True)
            waits.append(True)
            thread.start()
            thread.join(60)  # at once, if nothing is in its way
            waits[0] = thread.is_alive()
        return really(self, arguments, values)

    monkeypatch.setattr(FakeDriver, symbol, call)
    builder = stream.create_graph_builder()
    if symbol == "cuMemFreeAsync":
        first.close()
    else:
        builder.begin_building()
        assert fake.captures[int(stream.handle)].spoiled == ""
        builder.end_building()
        stream.sync()
    assert waits == [False]
    del first
    assert [kind for kind, _ in fake.alive if kind == "memory"] == []
