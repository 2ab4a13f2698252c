"""Who gives back what of core's memory, on a driver that counts: no GPU is needed."""

from __future__ import annotations

import gc
import os
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from cudapy.driver import CUmemLocation

from .fake_driver import GONE, INVALID_CONTEXT, FakeDriver, faked, put
from .stub import python


@pytest.fixture(scope="module")
def world() -> Iterator[SimpleNamespace]:
    """The fake driver, and core on it, with a current context."""
    with faked() as (fake, of):
        core, owned = of("core"), of("_core.ownership.owned")
        fake.contexts[:] = [0xC0]
        core.Device(0).set_current()
        of("_core.context.context").retained_contexts.clear()  # no stream or event is kept to be used again

        def settle() -> None:
            """Let go of what is kept for a while: work that is done, frees that waited."""
            owned.deferred._in_use.clear()
            gc.collect()
            owned.deferred.drain()

        gc.collect()
        gc.freeze()
        begun = of("_core.ownership.captures").captures.may_be_active
        yield SimpleNamespace(fake=fake, core=core, owned=owned, begun=begun, settle=settle)
        gc.unfreeze()
        gc.collect()
        gc.freeze()


@pytest.fixture
def reports(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What finalizers could not raise."""
    found: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda args: found.append(args.exc_value))
    return found


@pytest.fixture
def core(world: SimpleNamespace, reports: list[Any]) -> Iterator[Any]:
    world.fake.reset()
    world.fake.contexts[:] = [0xC0]
    world.core.Device(0).set_current()
    world.owned._reported.clear()
    world.begun.clear()  # as if nobody had captured yet
    yield world.core
    world.fake.capturing.clear()
    reports.clear()
    world.settle()
    assert world.fake.wrong == []


@pytest.fixture
def fake(world: SimpleNamespace, core: Any) -> FakeDriver:
    found: FakeDriver = world.fake
    return found


def alive(fake: FakeDriver, *kinds: str) -> list[str]:
    gc.collect()
    assert fake.wrong == []
    return sorted(kind for kind, _ in fake.alive if not kinds or kind in kinds)


# -- every call fails once ----------------------------------------------------------------------------------


def in_a_stream(core: Any) -> None:
    stream = core.Device(0).create_stream()
    first = core.Device(0).allocate(64, stream)
    second = core.Device(0).allocate(64, stream=stream)
    first.fill(1, stream=stream)
    first.copy_to(second, stream=stream)
    second.copy_from(bytes(64), stream=stream)
    second.close()
    third = first.copy_to(stream=stream)
    third.set_deallocation_stream(core.Device(0).create_stream())
    stream.close()


def in_the_default_stream(core: Any) -> None:
    buffer = core.Device(0).allocate(64)
    core.Device(0).allocate(64).close(core.Device(0).create_stream())
    buffer.set_deallocation_stream(core.PER_THREAD_DEFAULT_STREAM)
    with core.Device(0).allocate(32, core.LEGACY_DEFAULT_STREAM):
        pass


def a_pool(core: Any) -> None:
    stream = core.Device(0).create_stream()
    with core.DeviceMemoryResource(0, core.DeviceMemoryResourceOptions(max_size=1 << 20)) as resource:
        buffer = resource.allocate(64, stream=stream)
    buffer.close()
    core.DeviceMemoryResource(0, core.DeviceMemoryResourceOptions()).allocate(64, stream=stream)


def pinned(core: Any) -> None:
    stream = core.Device(0).create_stream()
    core.LegacyPinnedMemoryResource().allocate(64, stream=stream)
    core.LegacyPinnedMemoryResource().allocate(64).close()
    resource = core.PinnedMemoryResource(core.PinnedMemoryResourceOptions(numa_id=0))
    resource.allocate(64, stream=stream).copy_to(core.Device(0).allocate(64, stream), stream=stream)
    stream.sync()


def synchronous(core: Any) -> None:
    from importlib import import_module

    legacy = import_module(f"{core.__name__.split('.')[0]}._core.memory.legacy")
    resource = legacy.SynchronousMemoryResource(0)
    resource.allocate(64).close()
    resource.allocate(64, stream=core.Device(0).create_stream())


def virtual(core: Any) -> None:
    resource = core.VirtualMemoryResource(0)
    buffer = resource.allocate(64)
    resource.modify_allocation(buffer, 3 << 20)
    resource.allocate(64, stream=core.Device(0).create_stream()).close()


def events(core: Any) -> None:
    stream = core.Device(0).create_stream()
    stream.record().close()
    core.Device(0).create_event()
    core.Device(0).create_stream().wait(stream)


SCENARIOS = [in_a_stream, in_the_default_stream, a_pool, pinned, synchronous, virtual, events]


def is_of_a_release(error: BaseException | None) -> bool:
    """Whether it was raised by what gives something back: then that was told, and is lost."""
    trace = None if error is None else error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_name != "release":
        trace = trace.tb_next
    return trace is not None


@pytest.mark.parametrize("context", ["current", "another", "none"])
@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.__name__)
def test_whatever_call_fails_nothing_is_lost(
    world: SimpleNamespace, core: Any, fake: FakeDriver, reports: list[Any], scenario: Any, context: str
) -> None:
    """What is alive afterwards is what the driver refused to destroy; the caller's context is as it was."""
    scenario(core)
    calls = len(fake.calls)
    world.settle()
    assert alive(fake) == [], "without a failure"
    for adjacent in (True, False) if scenario is virtual else (True,):
        for number in range(1, calls + 20):
            world.owned._reported.clear()
            fake.reset()
            fake.adjacent, fake.fail_at = adjacent, number
            fake.contexts[:] = {"current": [0xC0], "another": [0xC1, 0xC0], "none": [0xC0]}[context]
            before = list(fake.contexts)
            error = None
            try:
                scenario(core)
            except core.CUDAError as caught:
                error = caught
                assert caught.function and caught.function in str(caught)
                assert caught.name == "CUDA_ERROR_OUT_OF_MEMORY"
            failed = fake.calls[number - 1] if number <= len(fake.calls) else ""
            in_release = any(map(is_of_a_release, [error, *reports]))
            if error is not None:
                error.__traceback__ = error.__context__ = None
            reports.clear()
            world.settle()
            if not in_release or failed in GONE:
                assert fake.alive <= fake.refused, f"call {number}, {failed}, failed"
            assert fake.contexts == before, f"call {number}, {failed}, failed"
            assert fake.wrong == [], f"call {number}, {failed}, failed"
            if not failed:
                assert error is None
                break
        else:
            raise AssertionError("the scenario never came to its end")


# -- in which way -------------------------------------------------------------------------------------------


def test_an_allocation_and_its_release_are_two_calls(core: Any, fake: FakeDriver) -> None:
    stream = core.Device(0).create_stream()
    resource = core.Device(0).memory_resource
    resource.allocate(64, stream=stream).close()
    fake.calls.clear()
    buffer = resource.allocate(64, stream=stream)
    assert fake.calls == ["cuMemAllocFromPoolAsync"]
    buffer.close()
    buffer.close()
    resource.allocate(64, stream)
    assert fake.calls == ["cuMemAllocFromPoolAsync", "cuMemFreeAsync"] * 2


def test_a_release_without_a_context_enters_the_right_one(
    core: Any, fake: FakeDriver, reports: list[Any]
) -> None:
    stream = core.Device(0).create_stream()
    things = [core.Device(0).allocate(64, stream)]
    fake.needs_context = True
    seen = []

    def drop() -> None:
        things.clear()
        seen.append(list(fake.contexts))

    thread = threading.Thread(target=drop)
    thread.start()
    thread.join()
    assert alive(fake, "memory") == [] and seen == [[]] and reports == []
    assert INVALID_CONTEXT and "cuCtxPushCurrent_v2" in fake.calls


def test_a_stream_that_goes_first_in_the_same_garbage(
    core: Any, fake: FakeDriver, reports: list[Any]
) -> None:
    """The collector finalizes a cycle in any order: no memory is freed in a stream that is no more."""
    for order in (0, 1):
        stream = core.Device(0).create_stream()
        buffers = [core.Device(0).allocate(64, stream) for _ in range(3)]
        cycle = [buffers, stream] if order else [stream, buffers]
        cycle.append(cycle)
        stream.close()
        del stream, buffers, cycle
        assert alive(fake) == []
    assert reports == [] and fake.wrong == []


def test_what_waits_in_garbage_keeps_its_stream(core: Any, fake: FakeDriver, reports: list[Any]) -> None:
    """A buffer and its stream are garbage of one cycle, while the stream captures."""
    stream = core.Device(0).create_stream()
    address = int(stream.handle)
    cycle: list[Any] = [stream, core.Device(0).allocate(64, stream)]
    cycle.append(cycle)
    fake.capturing.add(address)
    del stream, cycle
    for _ in range(3):
        assert alive(fake, "stream", "memory") == ["memory", "stream"], "neither can go yet"
        core.Device(0).create_event()
    fake.capturing.clear()
    core.Device(0).create_event()
    assert alive(fake) == [] and reports == []


def test_a_stream_lives_as_long_as_buffers_are_freed_in_it(core: Any, fake: FakeDriver) -> None:
    stream = core.Device(0).create_stream()
    buffer = core.Device(0).allocate(64, stream)
    stream.close()
    assert alive(fake, "stream") == ["stream"]
    buffer.close()
    del buffer
    assert alive(fake) == []


@pytest.mark.parametrize("how", ["close", "drop"])
def test_what_is_freed_while_its_stream_captures_waits(
    world: SimpleNamespace, core: Any, fake: FakeDriver, reports: list[Any], how: str
) -> None:
    stream = core.Device(0).create_stream()
    buffer = core.Device(0).allocate(64, stream)
    fake.capturing.add(int(stream.handle))
    if how == "close":
        buffer.close()
    del buffer
    assert alive(fake, "memory") == ["memory"] and reports == []
    core.Device(0).create_event()
    assert alive(fake, "memory") == ["memory"], "tried, and it still captures"
    fake.capturing.clear()
    other = core.Device(0).create_stream()
    assert alive(fake, "memory") == [], "it does no more"
    fake.capturing.add(int(stream.handle))
    core.Device(0).allocate(64, other).close()
    core.Device(0).allocate(64, stream).close()
    assert alive(fake, "memory") == ["memory"]
    fake.capturing.clear()
    core.Device(0).allocate(64, other).close()
    assert alive(fake, "memory") == [] and reports == []


def test_a_refused_release_is_reported_once(core: Any, fake: FakeDriver, reports: list[Any]) -> None:
    stream = core.Device(0).create_stream()
    for _ in range(3):
        buffer = core.Device(0).allocate(64, stream)
        fake.alive.discard(("memory", buffer.handle))  # somebody freed it behind our back
        del buffer
    assert [error.function for error in reports] == ["cuMemFreeAsync"]
    fake.wrong.clear()


def test_a_refused_release_of_what_others_need_is_reported(
    core: Any, fake: FakeDriver, reports: list[Any]
) -> None:
    """A pool, which is released in its finalizer unless the garbage collector is at work."""
    pool = core.DeviceMemoryResource(0, core.DeviceMemoryResourceOptions())
    fake.alive.discard(("pool", int(pool.handle)))  # somebody destroyed it behind our back
    del pool
    assert [error.function for error in reports] == ["cuMemPoolDestroy"]
    fake.wrong.clear()


def test_closing_raises_what_the_driver_says(core: Any, fake: FakeDriver) -> None:
    buffer = core.Device(0).allocate(64, core.Device(0).create_stream())
    fake.alive.discard(("memory", buffer.handle))
    try:
        buffer.close()
    except core.CUDAError as error:
        assert error.function == "cuMemFreeAsync"
    else:
        raise AssertionError("it was freed twice, and nobody said so")
    fake.wrong.clear()


def test_of_two_threads_that_close_one_frees(core: Any, fake: FakeDriver) -> None:
    stream = core.Device(0).create_stream()
    for _ in range(200):
        buffer = core.Device(0).allocate(64, stream)
        start = threading.Barrier(4)

        def close(buffer: Any = buffer, start: threading.Barrier = start) -> None:
            start.wait()
            buffer.close()

        threads = [threading.Thread(target=close) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    del buffer
    assert alive(fake, "memory") == [] and fake.wrong == []


def test_threads_allocate_side_by_side(core: Any, fake: FakeDriver) -> None:
    kept: list[Any] = []
    fake.yields = True

    def work() -> None:
        core.Device(0).set_current()
        stream = core.Device(0).create_stream()
        for _ in range(300):
            kept.append(core.Device(0).allocate(64, stream))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    fake.yields = False
    assert len({buffer.handle for buffer in kept}) == 2400, "no address was given twice"
    kept.clear()
    assert alive(fake) == []


def test_a_resource_of_ones_own_frees_its_buffers(core: Any, fake: FakeDriver) -> None:
    freed = []

    class Mine(core.MemoryResource):  # type: ignore[misc]
        device_id, is_device_accessible, is_host_accessible = 0, True, False

        def allocate(self, size: int, stream: Any = None) -> Any:
            return core.Buffer.from_handle(0x1000, size, mr=self, stream=stream)

        def deallocate(self, ptr: Any, size: int, stream: Any = None) -> None:
            freed.append((int(ptr), size, int(stream.handle)))

    stream = core.Device(0).create_stream()
    Mine().allocate(8)
    buffer = Mine().allocate(9, stream)
    buffer.close()
    buffer.close()
    default = int(core.default_stream().handle)
    assert freed == [(0x1000, 8, default), (0x1000, 9, int(stream.handle))]
    with pytest.raises(ValueError, match="not to both"):
        core.Buffer.from_handle(1, 1, mr=Mine(), owner=object())


def test_a_resource_defines_what_it_is_asked_for(core: Any, fake: FakeDriver) -> None:
    class Mine(core.MemoryResource):  # type: ignore[misc]
        is_host_accessible = True

    buffer = core.Buffer.from_handle(0x1000, 8, mr=Mine())
    assert buffer.is_host_accessible
    for name in ("device_id", "is_device_accessible"):
        with pytest.raises(TypeError, match=f"Mine is a MemoryResource that does not define {name}"):
            getattr(buffer, name)
    with pytest.raises(TypeError, match=r"does not define allocate\(\)"):
        Mine().allocate(8)
    with pytest.raises(TypeError, match=r"does not define deallocate\(\)"):
        buffer.close()


def test_buffers_are_equal_by_what_they_stand_for(core: Any) -> None:
    make = core.Buffer.from_handle
    assert make(4096, 16) == make(4096, 16) != make(4096, 17)
    assert hash(make(4096, 16)) == hash(make(4096, 16)) and make(1, 1) != 1
    closed = make(4096, 16)
    closed.close()
    assert closed != make(4096, 16) and closed == closed and closed.is_closed


def test_derived_buffers(core: Any, fake: FakeDriver) -> None:
    class Mine(core.Buffer):  # type: ignore[misc]
        extra = 5

    owner = object()
    made = Mine.from_handle(4096, 16, owner=owner)
    assert type(made) is Mine and made.extra == 5 and made.owner is owner and "Mine" in repr(made)
    assert type(core.ManagedBuffer.from_handle(4096, 16)) is core.ManagedBuffer


@pytest.mark.parametrize("how", ["asarray", "from_dlpack", "memoryview"])
def test_numpy_sees_host_memory_and_keeps_it(core: Any, how: str) -> None:
    """The array is the memory itself, which is freed when the last array is gone."""
    if how == "memoryview" and sys.version_info < (3, 12):
        pytest.skip("Python 3.12 is the first to ask a class for its buffer")
    host, freed = np.arange(8, dtype=np.uint8), []

    class OnHost(core.MemoryResource):  # type: ignore[misc]
        device_id, is_device_accessible, is_host_accessible = -1, True, True

        def allocate(self, size: int, stream: Any = None) -> Any:
            return core.Buffer.from_handle(host.ctypes.data, size, mr=self)

        def deallocate(self, ptr: Any, size: int, stream: Any = None) -> None:
            freed.append(size)

    buffer = OnHost().allocate(8)
    assert buffer.__dlpack_device__() == (3, 0)
    array = np.asarray(memoryview(buffer)) if how == "memoryview" else getattr(np, how)(buffer)
    array[3] = 99
    del buffer
    gc.collect()
    assert host.tolist() == array.tolist() == [0, 1, 2, 99, 4, 5, 6, 7] and freed == []
    del array
    gc.collect()
    assert freed == [8]


def test_numpy_is_told_what_it_cannot_read(core: Any, fake: FakeDriver) -> None:
    buffer = core.Device(0).allocate(64, core.Device(0).create_stream())
    with pytest.raises(TypeError, match=r"download\(dtype\) copies it"):
        np.asarray(buffer)
    assert not hasattr(buffer, "__array_interface__")
    assert buffer.__cuda_array_interface__["data"] == (buffer.handle, False)
    with pytest.raises((BufferError, TypeError)):
        memoryview(buffer)


def test_the_stream_of_a_consumer_waits_for_that_of_the_buffer(core: Any, fake: FakeDriver) -> None:
    stream, other = core.Device(0).create_stream(), core.Device(0).create_stream()
    buffer = core.Device(0).allocate(64, stream)
    fake.calls.clear()
    buffer.__dlpack__(stream=-1)
    buffer.__dlpack__(stream=int(stream.handle))
    assert "cuStreamWaitEvent" not in fake.calls
    for consumer in (int(other.handle), 1, 0, None):
        fake.calls.clear()
        buffer.__dlpack__(stream=consumer)
        assert "cuEventRecord" in fake.calls and "cuStreamWaitEvent" in fake.calls


@pytest.mark.skipif(sys.platform != "linux", reason="pools are shared on Linux alone")
def test_a_buffer_of_another_process_is_opened_once_and_freed_once(core: Any, fake: FakeDriver) -> None:
    from importlib import import_module

    ipc = import_module(f"{core.__name__.split('.')[0]}._core.memory.ipc_buffer")
    pool = core.DeviceMemoryResource.from_allocation_handle(0, 5)
    assert pool.is_mapped and pool.is_ipc_enabled
    described = ipc.IPCBufferDescriptor._of(bytes(64), 256)
    stream = core.Device(0).create_stream()
    first, second = (core.Buffer.from_ipc_descriptor(pool, described, stream) for _ in range(2))
    assert first == second and first.is_mapped and first.size == 256
    assert fake.calls.count("cuMemPoolImportPointer") == 1
    first.close()
    assert alive(fake, "memory") == ["memory"]
    del second
    assert alive(fake, "memory") == []
    with pytest.raises(RuntimeError, match="another process"):
        pool.allocate(64, stream=stream)
    assert pool.register(pool.uuid) is pool is core.DeviceMemoryResource.from_registry(pool.uuid)
    del pool, first
    stream.sync()
    assert alive(fake, "pool") == []


def let_go_of(made: list[Any], how: str) -> None:
    """Close what was made, the last first; drop it; or leave it to the collector, in any order."""
    while made and how == "close":
        made.pop().close()
    if how == "garbage":
        made.append(made)
    else:
        made.clear()


@pytest.mark.skipif(sys.platform != "linux", reason="pools are shared on Linux alone")
@pytest.mark.parametrize("how", ["close", "drop", "garbage"])
def test_a_pool_of_another_process_waits_for_its_frees(core: Any, fake: FakeDriver, how: str) -> None:
    """Drivers keep a file descriptor for good of one that is destroyed before."""
    from importlib import import_module

    ipc = import_module(f"{core.__name__.split('.')[0]}._core.memory.ipc_buffer")
    stream = core.Device(0).create_stream()
    pool = core.DeviceMemoryResource.from_allocation_handle(0, 5)
    described = ipc.IPCBufferDescriptor._of(bytes(64), 256)
    made = [pool, core.Buffer.from_ipc_descriptor(pool, described, stream)]
    fake.busy = True
    let_go_of(made, how)
    del pool, made
    gc.collect()
    core.Device(0).allocate(64, stream).close()
    assert alive(fake, "pool", "memory") == ["pool"]
    stream.sync()
    assert alive(fake, "pool", "memory") == []
    waited, destroyed = map(fake.calls.index, ("cuEventSynchronize", "cuMemPoolDestroy"))
    assert waited < destroyed, "a driver that is only asked does not look whether it is free"


def test_a_finalizer_may_come_by_while_a_buffer_is_opened(core: Any) -> None:
    pool = core.DeviceMemoryResource.from_allocation_handle(0, 5)
    last = []

    def work() -> None:
        with pool._ipc.lock:
            last.append(pool._ipc.gives_up(4096))

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(60)
    assert last == [True], "it waits for itself"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_child_frees_what_is_its_own(tmp_path: Any) -> None:
    """Not the parent's memory, be it of a pool or of a resource of one's own; what it made itself it does."""
    done = python(FORK)
    assert (done.returncode, done.stderr) == (0, "")
    assert sorted(done.stdout.split()) == ["['child']", "['parent']", "child:", "parent:"]


FORK = """
import gc, os, sys
from tests.fake_driver import faked
with faked() as (fake, of):
    core = of("core")
    freed = []
    class Mine(core.MemoryResource):
        device_id, is_device_accessible, is_host_accessible = 0, True, False
        def __init__(self, name): self.name = name
        def allocate(self, size, stream=None): return core.Buffer.from_handle(4096, size, mr=self)
        def deallocate(self, ptr, size, stream=None): freed.append(self.name)
    fake.contexts[:] = [0xC0]
    device = core.Device(0); device.set_current()
    stream = device.create_stream()
    quick, mine = device.allocate(64, stream), Mine("parent").allocate(8)
    calls = len(fake.calls)
    if not os.fork():
        ours, event = Mine("child").allocate(8), device.create_event()
        quick.close(), mine.close()
        del quick, mine, ours, stream
        gc.collect()
        assert "cuMemFreeAsync" not in fake.calls[calls:], fake.calls[calls:]
        print("child:", freed, flush=True)
        os._exit(0)
    os.wait()
    del quick, mine
    assert "cuMemFreeAsync" in fake.calls[calls:]
    print("parent:", freed)
"""


@pytest.mark.parametrize("flags", [(), ("-OO",), ("-X", "dev")], ids=["plain", "OO", "dev"])
def test_nothing_is_given_back_at_exit(flags: tuple[str, ...]) -> None:
    done = python(EXIT, flags=flags)
    assert (done.returncode, done.stdout, done.stderr) == (0, "after: nothing\n", "")


EXIT = """
import atexit, sys
from tests.fake_driver import FakeDriver
from cudapy import driver
fake = FakeDriver(); done = 0
driver.libcuda.load = lambda: fake
def after():
    live[1].close(), live[2].close()
    print("after:", [name for name in fake.calls[done:] if "Free" in name or "Destroy" in name] or "nothing")
atexit.register(after)
from cudapy import core
fake.contexts[:] = [0xC0]
device = core.Device(0); device.set_current()
stream = device.create_stream()
live = [device.allocate(64, stream), device.allocate(64), stream.record()]
live.append(core.VirtualMemoryResource(0).allocate(64))
cycle = [device.allocate(64, stream)]; cycle.append(cycle)
sys.kept = live
done = len(fake.calls)
"""


def test_a_pool_is_destroyed_after_its_buffers(core: Any, fake: FakeDriver) -> None:
    """Drivers document the other order, and crash."""
    stream = core.Device(0).create_stream()
    for how in ("close", "drop"):
        pool = core.DeviceMemoryResource(0, core.DeviceMemoryResourceOptions())
        buffer = pool.allocate(64, stream=stream)
        fake.calls.clear()
        if how == "close":
            pool.close()
            pool.close()
            assert pool.is_closed and buffer.memory_resource is pool
        del pool
        assert alive(fake, "pool", "memory") == ["memory", "pool"]
        buffer.close()
        del buffer
        assert alive(fake, "pool", "memory") == []
        assert fake.calls.index("cuMemFreeAsync") < fake.calls.index("cuMemPoolDestroy")
    cycle: list[Any] = [core.DeviceMemoryResource(0, core.DeviceMemoryResourceOptions())]
    cycle += [cycle[0].allocate(64, stream=stream), cycle]
    del cycle
    fake.calls.clear()
    assert alive(fake, "pool", "memory") == []
    assert fake.calls.index("cuMemFreeAsync") < fake.calls.index("cuMemPoolDestroy")


def test_the_attributes_of_a_pool_keep_it(core: Any, fake: FakeDriver) -> None:
    pool = core.DeviceMemoryResource(0, core.DeviceMemoryResourceOptions())
    attributes = pool.attributes
    assert pool.attributes is attributes
    pool.close()
    del pool
    assert alive(fake, "pool") == ["pool"]
    del attributes
    assert alive(fake, "pool") == []
    pool = core.DeviceMemoryResource(0, core.DeviceMemoryResourceOptions())
    assert pool.attributes
    pool.close()
    assert alive(fake, "pool") == []


def test_a_new_pool_has_no_access_of_an_older_one(
    core: Any, fake: FakeDriver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A driver may have it from a destroyed pool that was in the same place."""
    access = {0: 3, 1: 3, 2: 0}

    def count(arguments: Any, values: Any) -> int:
        put(arguments[0], len(access))
        return 0

    def get(arguments: Any, values: Any) -> None:
        put(arguments[0], access[CUmemLocation.from_address(values[2]).id])

    def change(arguments: Any, values: Any) -> None:
        access.update((each.location.id, int(each.flags)) for each in values[1])

    monkeypatch.setattr(fake, "cuDeviceGetCount", count, raising=False)
    monkeypatch.setattr(fake, "cuMemPoolGetAccess", get, raising=False)
    monkeypatch.setattr(fake, "cuMemPoolSetAccess", change, raising=False)
    pool = core.DeviceMemoryResource(0, core.DeviceMemoryResourceOptions())
    assert access == {0: 3, 1: 0, 2: 0} and not pool.peer_accessible_by


@pytest.mark.parametrize("how", ["close", "drop", "garbage"])
def test_a_pool_waits_for_work_with_its_memory(core: Any, fake: FakeDriver, how: str) -> None:
    """What is freed in the order of a stream is not free yet: a driver that loses the pool may crash."""
    stream = core.Device(0).create_stream()
    pool = core.DeviceMemoryResource(0, core.DeviceMemoryResourceOptions())
    made = [pool, pool.allocate(64, stream=stream)]
    fake.busy = True
    let_go_of(made, how)
    del pool, made
    assert alive(fake, "pool", "memory") == ["pool"]
    core.Device(0).create_event()
    core.Device(0).allocate(64, stream).close()
    assert alive(fake, "pool", "memory") == ["pool"], "making things is no wait"
    if how == "drop":  # somebody waits without core
        fake.cuStreamSynchronize(None, None)
        core.DeviceMemoryResource(0, core.DeviceMemoryResourceOptions()).close()
    else:
        stream.sync()
    assert alive(fake, "pool", "memory") == []


def test_an_older_driver_gets_many_calls_for_one() -> None:
    """Copies and prefetches go one by one, and pinned memory has a pool of its own."""
    with faked() as (fake, of):
        batches = "cuMemcpyBatchAsync", "cuMemPrefetchBatchAsync", "cuMemDiscardBatchAsync"
        fake.missing = (*batches, "cuMemGetMemPool")
        core, utils = of("core"), of("_core.modules.utils")
        fake.contexts[:] = [0xC0]
        device = core.Device(0)
        device.set_current()
        stream = device.create_stream()
        buffers = [device.allocate(64, stream) for _ in range(4)]
        fake.calls.clear()
        utils.copy_batch(stream, buffers[:2], buffers[2:], options=utils.CopyOptions("any"))
        assert fake.calls.count("cuMemcpyAsync") == 2
        with pytest.raises(RuntimeError, match="cuMemcpyBatchAsync"):
            utils.copy_batch(stream, buffers[:2], buffers[2:], options=utils.CopyOptions("during_api_call"))
        managed = [core.ManagedBuffer.from_handle(4096, 64) for _ in range(2)]
        for each in managed:
            each._location = of("_core.memory.pointer").Location(0, True, True, True)
        utils.prefetch_batch(stream, managed, [device, core.Host()])
        assert fake.calls.count("cuMemPrefetchAsync_v2") == 2
        with pytest.raises(RuntimeError, match="cuMemDiscardBatchAsync"):
            utils.discard_batch(stream, managed)
        resource = core.PinnedMemoryResource()
        assert resource.is_handle_owned and "cuMemPoolCreate" in fake.calls
        fake.reset()


def test_what_batches_are_not_for(core: Any, fake: FakeDriver) -> None:
    from importlib import import_module

    utils = import_module(f"{core.__name__.split('.')[0]}._core.modules.utils")
    stream = core.Device(0).create_stream()
    small, large = core.Device(0).allocate(64, stream), core.Device(0).allocate(65, stream)
    for srcs, dsts, error in (
        (small, [small], TypeError),
        ([small], small, TypeError),
        ([b"abc"], [small], TypeError),
        ([small], [large], ValueError),
        ([small], [small, small], ValueError),
    ):
        with pytest.raises(error):
            utils.copy_batch(stream, srcs, dsts)
    for options in (object(), [object()], [utils.CopyOptions()] * 2):
        with pytest.raises((TypeError, ValueError)):
            utils.copy_batch(stream, [small], [small], options=options)
    with pytest.raises(TypeError, match="stream of its own"):
        utils.copy_batch(core.LEGACY_DEFAULT_STREAM, [small], [small])
    fake.capturing.add(int(stream.handle))
    with pytest.raises(TypeError, match="graph"):
        utils.copy_batch(stream, [small], [small])
    fake.capturing.clear()
    with pytest.raises(ValueError, match="not managed"):
        utils.prefetch_batch(stream, [small], core.Device(0))
    with pytest.raises(TypeError, match="Device or a Host"):
        utils.CopyOptions(src_location_hint="moon")
    with pytest.raises(ValueError, match="'stream', 'during_api_call', 'any'"):
        utils.CopyOptions("sometime")


@pytest.mark.parametrize("how", ["close", "drop"])
def test_nothing_is_freed_into_a_capture(core: Any, fake: FakeDriver, how: str) -> None:
    """Where one was begun the stream is asked first: an attempt may invalidate the capture."""
    from importlib import import_module

    driver = import_module(f"{core.__name__.split('.')[0]}.driver")
    stream = core.Device(0).create_stream()
    buffer = core.Device(0).allocate(64, stream)
    assert driver.cuStreamBeginCapture(stream.handle, 0)[0] == 0
    driver.libcuda.symbol("cuStreamBeginCapture_v2")  # the first test that called it found it
    fake.calls.clear()
    if how == "close":
        buffer.close()
    del buffer
    gc.collect()
    core.Device(0).create_event()
    assert "cuMemFreeAsync" not in fake.calls and "cuStreamIsCapturing" in fake.calls
    assert driver.cuStreamEndCapture(stream.handle)[0] == 0
    core.Device(0).create_event()
    assert alive(fake, "memory") == []


def calls_of_core(function: Callable[[], object]) -> list[str]:
    """The Python functions of cudapy that a call of `function` calls, in order, but for the fake driver's."""
    found: list[str] = []

    def note(frame: FrameType, event: str, argument: object) -> None:
        name = frame.f_code.co_filename
        if event == "call" and ("_core" in Path(name).parts or name.startswith("<cudapy")):
            found.append(frame.f_code.co_name)

    sys.setprofile(note)
    try:
        function()
    finally:
        sys.setprofile(None)
    return found


FEW_CALLS = {
    "a buffer in a stream": (3, 1),
    "a buffer in the default stream": (6, 12),
    "an event": (5, 1),
    "a stream": (7, 5),
}
"""How many Python functions of core it takes to make and to drop something: the interpreter's calls are most
of what core costs. In the default stream the context and captures are looked at as well."""


@pytest.mark.parametrize("what", FEW_CALLS)
def test_what_there_is_much_of_takes_few_calls(core: Any, world: SimpleNamespace, what: str) -> None:
    device = core.Device(0)
    stream = device.create_stream()
    makes: dict[str, Callable[[], object]] = {
        "a buffer in a stream": lambda: device.allocate(64, stream=stream),
        "a buffer in the default stream": lambda: device.allocate(64),
        "an event": device.create_event,
        "a stream": device.create_stream,
    }
    made = [makes[what]()]  # the first one looks for C functions
    made.clear()
    created = calls_of_core(lambda: made.append(makes[what]()))
    dropped = calls_of_core(made.clear)
    most = FEW_CALLS[what]
    assert 0 < len(created) <= most[0], created
    assert 0 < len(dropped) <= most[1], dropped
