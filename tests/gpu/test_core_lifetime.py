"""core on a real GPU: nothing is lost, nothing is used after its end."""

from __future__ import annotations

import copy
import gc
import os
import pickle
import threading

import pytest
from cudapy.core.graph import GraphDefinition

from cudapy import driver, simulator
from cudapy.core import (
    CUDAError,
    Device,
    DeviceMemoryResource,
    DeviceMemoryResourceOptions,
    Event,
    LegacyPinnedMemoryResource,
    ObjectCode,
    Program,
)

from .core_kernels import current, run

pytestmark = pytest.mark.gpu

OWN_POOL = DeviceMemoryResourceOptions(max_size=1 << 20)


def test_closed_objects_say_so(device, stream) -> None:
    other, buffer = device.create_stream(), device.allocate(8, stream)
    event = stream.record()
    for thing, use in (
        (other, other.sync),
        (event, event.sync),
        (buffer, lambda: buffer.fill(0, stream=stream)),
    ):
        thing.close()
        thing.close()
        assert thing.is_closed and "closed" in repr(thing)
        with pytest.raises(RuntimeError, match=f"this {type(thing).__name__} is closed"):
            use()
    with pytest.raises(RuntimeError, match="this Stream is closed"):
        device.allocate(8, other)


def test_what_is_of_this_process_is_not_copied(device, stream, code) -> None:
    """A second object with the same handle would give it back a second time."""
    definition = GraphDefinition()
    node = definition.empty()
    things = [stream, stream.record(), Program("", "c++"), code.get_kernel("axpy"), device.context]
    things += [definition, node, definition.instantiate(), device.create_graph_builder()]
    for thing in things:
        name = type(thing).__name__
        for function in (copy.copy, copy.deepcopy, pickle.dumps):
            with pytest.raises(TypeError, match=f"{name} objects cannot be copied or pickled"):
                function(thing)
    for function in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(RuntimeError, match="one process"):
            function(device.allocate(64, stream))


def test_the_garbage_collector_leaves_no_trace(device, stream) -> None:
    """Collected in a thread without a context, and that thread has none afterwards."""
    things = [device.allocate(1024, stream), stream.record(), device.create_stream()]
    things.append(LegacyPinnedMemoryResource().allocate(64))
    contexts = []

    def collect():
        things.clear()
        gc.collect()
        contexts.append(current())

    thread = threading.Thread(target=collect)
    thread.start()
    thread.join()
    assert contexts == [0] and current() == int(device.context.handle)
    stream.sync()


def test_what_is_dropped_during_a_capture_is_freed_after_it(device, stream) -> None:
    pool = device.memory_resource.handle
    used = driver.CUmemPool_attribute.CU_MEMPOOL_ATTR_USED_MEM_CURRENT
    before = driver.checked.cuMemPoolGetAttribute(pool, used)

    def things():
        code = Program('extern "C" __global__ void k() { }', "c++").compile("cubin")
        pinned = LegacyPinnedMemoryResource().allocate(64)
        in_default_stream = device.allocate(1 << 20)
        in_stream = device.allocate(32 << 20, stream)
        in_another = device.allocate(1 << 16, other)
        stream_of_its_own, kernel = device.create_stream(), code.get_kernel("k")
        return [in_default_stream, in_stream, in_another, pinned, kernel, stream_of_its_own, Event()]

    kept, other = device.allocate(1024, stream), device.create_stream()
    source = LegacyPinnedMemoryResource().allocate(1024)
    device.sync()
    for mode in driver.CUstreamCaptureMode:
        dropped = things()
        kept.copy_from(source, stream=other)
        device.sync()
        kept.copy_from(source, stream=other)
        driver.checked.cuStreamBeginCapture(stream.handle, mode)
        kept.fill(1, stream=stream)
        dropped.clear()
        gc.collect()
        kept.copy_from(source, stream=other)
        graph = driver.checked.cuStreamEndCapture(stream.handle)
        assert len(driver.checked.cuGraphGetNodes(graph, 10)[0]) == 1, "the memset alone"
        driver.checked.cuGraphDestroy(graph)
        device.create_event()
        device.sync()
        assert driver.checked.cuMemPoolGetAttribute(pool, used) <= before + 1024
    kept.close()
    device.sync()
    assert driver.checked.cuMemPoolGetAttribute(pool, used) <= before


def test_what_another_thread_drops_leaves_a_global_capture_alone(device, stream) -> None:
    dropped = [device.allocate(64, device.create_stream()), LegacyPinnedMemoryResource().allocate(64)]
    dropped += [device.create_stream(), Event(), device.allocate(64)]
    dropped += [DeviceMemoryResource(0, OWN_POOL), GraphDefinition().instantiate()]
    kept = device.allocate(64, stream)
    driver.checked.cuStreamBeginCapture(stream.handle, driver.CUstreamCaptureMode(0))
    kept.fill(1, stream=stream)
    thread = threading.Thread(target=lambda: (dropped.clear(), gc.collect()))
    thread.start()
    thread.join()
    graph = driver.checked.cuStreamEndCapture(stream.handle)
    assert len(driver.checked.cuGraphGetNodes(graph, 10)[0]) == 1
    driver.checked.cuGraphDestroy(graph)


@pytest.mark.parametrize("how", ["makes a pool", "trims a pool", "makes a graph executable"])
def test_what_another_thread_asks_for_spoils_a_global_capture(device, stream, how) -> None:
    """As CUDA has it: nothing but what goes away is done all the same."""
    pool, definition = DeviceMemoryResource(0, OWN_POOL), GraphDefinition()
    work = {
        "makes a pool": lambda: DeviceMemoryResource(0, OWN_POOL),
        "trims a pool": pool.trim,
        "makes a graph executable": definition.instantiate,
    }[how]
    refused = []

    def ask():
        Device(0).set_current()
        with pytest.raises(CUDAError) as caught:
            work()
        refused.append(caught.value.name)

    builder = stream.create_graph_builder().begin_building("global")
    thread = threading.Thread(target=ask)
    thread.start()
    thread.join()
    assert refused == ["CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED"]
    with pytest.raises(CUDAError, match="making or trimming a pool") as caught:
        builder.end_building()
    assert caught.value.name == "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED"
    work()


def test_device_memory_stays_flat(alone, device, code) -> None:
    def round_trip():
        stream = device.create_stream()
        with stream.record(), device.allocate(1 << 20, stream) as buffer:
            buffer.fill(0, stream=stream)
        ObjectCode.from_cubin(code.code).get_kernel("axpy")
        Event()
        stream.sync()  # else the pool needs more, as what one stream frees another may not have at once

    for _ in range(50):
        round_trip()
    device.sync()
    free, _ = driver.checked.cuMemGetInfo()
    for _ in range(100 if simulator.is_enabled() else 1000):  # where a whole mebibyte is kept or none is
        round_trip()
    device.sync()
    assert free - driver.checked.cuMemGetInfo()[0] <= 2 << 20


def test_exit_with_live_objects_is_silent() -> None:
    process = run(
        "b = dev.allocate(1 << 20, s); e = s.record(); p = LegacyPinnedMemoryResource().allocate(64)\n"
        "k = start('for (int i = 0; i < 1000000; i++) __nanosleep(100);', None)\n"
        "cycle = [b, e, p]; cycle.append(cycle)\n"
    )
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (0, "", "")


FIRST_CALLS = """
import os, sys
from cudapy import simulator
from cudapy.core import LaunchConfig, PinnedMemoryResource, Program, graph, launch, system
code = Program('extern "C" __global__ void k() {}', "c++").compile("cubin")
k, b, e, mr = code.get_kernel("k"), dev.allocate(64, s), s.record(), dev.memory_resource
launch(s, LaunchConfig(grid=1, block=1), k)
s.sync()
calls = [
    lambda: Device(0),
    lambda: dev.set_current(),
    lambda: dev.allocate(10),
    lambda: dev.create_stream(),
    lambda: dev.create_event(),
    lambda: dev.properties.max_pitch,
    lambda: dev.sync(),
    lambda: mr.allocate(10),
    lambda: PinnedMemoryResource(),
    lambda: s.record(),
    lambda: b.copy_to(bytearray(64), stream=s),
    lambda: launch(s, LaunchConfig(grid=1, block=1), k),
    lambda: code.get_kernel("k"),
    lambda: k.attributes.num_regs,
    lambda: graph.GraphDefinition(),
    lambda: system.get_num_devices(),
]
if simulator.is_enabled():
    calls += [
        lambda: s.sync(),
        lambda: e.is_done,
        lambda: b.fill(1, stream=s),
        lambda: s.create_graph_builder().begin_building(),
    ]
for call in calls:
    if not os.fork():
        try:
            call()
        except CUDAError as error:
            told = f"process {os.getppid()} used CUDA before it forked this one ({os.getpid()})" in str(error)
            if not told or "'spawn'" not in str(error) or "cuInit(0)" in str(error):
                print(error)
        else:
            print("no error in call", calls.index(call))
        sys.stdout.flush(); os._exit(0)
    os.wait()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_the_first_call_in_a_forked_child_says_that_it_was_forked() -> None:
    """But for four, which driver 580 answers in the child without an error (H200)."""
    assert run(FIRST_CALLS).communicate(timeout=60) == ("", "")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_child_is_told_and_frees_nothing() -> None:
    process = run(
        "import gc, os, sys\n"
        "b = dev.allocate(64, s)\n"
        "if not os.fork():\n"
        "    del b, s; gc.collect()\n"
        "    try: Device(0)\n"
        "    except CUDAError as error: print(error)\n"
        "    sys.stdout.flush(); os._exit(0)\n"
        "os.wait(); b.fill(1, stream=s); s.sync(); print('parent goes on')\n"
    )
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0 and err == ""
    assert "fork" in out and "spawn" in out and out.endswith("parent goes on\n")
