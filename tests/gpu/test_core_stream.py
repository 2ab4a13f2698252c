"""core on a real GPU: streams."""

from __future__ import annotations

import signal
import sys
import threading
import time

import numpy as np
import pytest
from cudapy.core.graph import GraphDefinition

from cudapy import driver, runtime, simulator
from cudapy.core import (
    LEGACY_DEFAULT_STREAM,
    PER_THREAD_DEFAULT_STREAM,
    Device,
    EventOptions,
    LaunchConfig,
    Stream,
    StreamOptions,
    launch,
)

from .core_kernels import busy, content, run, spin

pytestmark = pytest.mark.gpu


def test_stream_options(device) -> None:
    assert device.create_stream().is_nonblocking
    low, high = driver.checked.cuCtxGetStreamPriorityRange()
    made = device.create_stream(options=StreamOptions(nonblocking=False, priority=high))
    assert not made.is_nonblocking and made.priority == high
    with pytest.raises(ValueError, match="priority"):
        device.create_stream(options=StreamOptions(priority=low + 1))


def test_options_may_be_a_dict(device, stream) -> None:
    assert not device.create_stream(options={"nonblocking": False}).is_nonblocking
    assert device.create_event(options={"timing_enabled": True}).is_timing_enabled
    assert stream.record(options={"blocking_sync": True}).is_blocking_sync
    for make in (device.create_stream, device.create_event, stream.record):
        with pytest.raises(TypeError, match=r"options must be \w+Options or a dict of them, not int"):
            make(options=5)
        with pytest.raises(TypeError, match="colour"):
            make(options={"colour": 1})


def test_a_stream_knows_where_it_is(device, stream) -> None:
    assert stream.device is device and stream.context == device.context
    assert stream.__cuda_stream__() == (0, int(stream.handle))
    for default in (LEGACY_DEFAULT_STREAM, PER_THREAD_DEFAULT_STREAM):
        assert default.device is device
        default.close()
        default.sync()
    assert device.default_stream is LEGACY_DEFAULT_STREAM


def test_streams_are_equal_by_handle(device, stream) -> None:
    same, other = Stream.from_handle(stream.handle), device.create_stream()
    assert stream == same and hash(stream) == hash(same) and len({stream, same, other}) == 2
    assert stream != other and stream != int(stream.handle)
    same.close()
    assert same == same and same != stream
    assert Stream.from_handle(1) == LEGACY_DEFAULT_STREAM


def test_a_stream_as_a_context_manager(device) -> None:
    with Stream(StreamOptions(nonblocking=False)) as stream:
        assert not stream.is_nonblocking and stream.device is device
    assert stream.is_closed


def test_a_thread_waits(device, code) -> None:
    """Outside the main thread too, where the wait is one C call."""
    stream, done = device.create_stream(), []

    def work():
        device = Device(0)
        device.set_current()
        spin(code, stream, 30)
        stream.sync()
        done.append(driver.cuStreamQuery(stream.handle))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert done == [(driver.CUresult.CUDA_SUCCESS,)]


def test_streams_of_other_libraries(device, stream, code) -> None:
    class Foreign:
        def __cuda_stream__(self):
            return stream.__cuda_stream__()

    named = (Foreign(), driver.CUstream(int(stream.handle)), runtime.cudaStream_t(int(stream.handle)))
    for same in (Stream.from_handle(int(stream.handle)), *map(device.create_stream, named)):
        assert same.handle == stream.handle and same.is_nonblocking
        spin(code, stream, 10)
        same.sync()
        assert driver.cuStreamQuery(stream.handle) == (driver.CUresult.CUDA_SUCCESS,)
        same.close()
    stream.sync()  # it was not theirs to destroy
    with pytest.raises(TypeError, match="__cuda_stream__"):
        stream.wait(object())


def test_a_stream_of_somebody_else_is_no_graph_builder(device, stream, code) -> None:
    """Whatever the methods of its class are called."""

    class Foreign:
        def __cuda_stream__(self):
            return stream.__cuda_stream__()

        def _keep_alive(self, *things):
            raise AssertionError("it was taken for a GraphBuilder")

    with device.allocate(64, stream) as buffer:
        buffer.fill(1, stream=Foreign())
        launch(Foreign(), LaunchConfig(grid=1, block=16, shmem_size=64), code.get_kernel("shared"), buffer)
        assert content(buffer, np.int32, stream).tolist() == list(range(15, -1, -1))
    definition = GraphDefinition()
    node = definition.launch(LaunchConfig(grid=1, block=1), code.get_kernel("spin"), 1)
    with pytest.raises(TypeError, match="a stream must be a Stream or have __cuda_stream__"):
        launch(node, LaunchConfig(grid=1, block=1), code.get_kernel("spin"), 1)


class Said:
    """A stream of a library that has the protocol as an attribute, or says something else."""

    def __init__(self, said) -> None:
        self.__cuda_stream__ = said


def test_the_protocol_as_an_attribute(device, stream) -> None:
    theirs = Said((0, int(stream.handle)))
    assert device.create_stream(theirs) == stream
    with device.allocate(64, theirs) as buffer:
        buffer.fill(1, stream=theirs)
        assert set(content(buffer, np.uint8, stream).tolist()) == {1}


@pytest.mark.parametrize("said", [None, 5, (0,), (0, 1, 1), (1, 1), ("0", 1), (0, None), (0, 1.5), (0, "1")])
def test_what_stands_for_no_stream(device, said) -> None:
    for theirs in (Said(said), Said(lambda: said)):
        with pytest.raises(TypeError):
            device.create_stream(theirs)


def test_an_error_within_the_protocol_is_told(device) -> None:
    def fails() -> None:
        raise AttributeError("the library's own")

    with pytest.raises(AttributeError, match="own"):
        device.create_stream(Said(fails))


@pytest.mark.parametrize("handle", ["1", 1.5, None])
def test_what_is_no_handle(handle) -> None:
    with pytest.raises(TypeError):
        Stream.from_handle(handle)


def test_what_cannot_be_recorded(device, stream) -> None:
    for wrong in (3, EventOptions()):
        with pytest.raises(TypeError, match="Event"):
            stream.record(wrong)


def test_sync_and_is_done(code, stream) -> None:
    with busy(code, stream):
        event = stream.record()
        assert not event.is_done
    event.sync()
    assert event.is_done
    spin(code, stream, 30)
    last = stream.record()
    stream.sync()
    assert last.is_done


def test_a_stream_waits_for_another(device, code) -> None:
    first, second = device.create_stream(), device.create_stream()
    x = device.allocate(4, first)
    x.fill(0, stream=first)
    spin(code, first, 30)
    x.fill(7, stream=first)
    second.wait(first)
    found = content(x, np.uint8, second)
    assert found.tolist() == [7, 7, 7, 7]


@pytest.mark.skipif(sys.platform == "win32", reason="signals differ there")
@pytest.mark.parametrize("wait", ["s.sync()", "s.record().sync()", "dev.sync()"])
def test_ctrl_c_ends_a_wait(wait) -> None:
    if wait.startswith("dev") and driver.checked.cuDriverGetVersion() < 12050:
        pytest.skip("no event stands for all work of a device before CUDA 12.5")
    process = run(
        "import signal\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)  # it may have been started to ignore it\n"
        "k = start('for (long long t = clock64(); clock64() - t < 10000000000;);', None)  # 5 s of an H200\n"
        "end = s.record()\n"
        "print('waiting', flush=True)\n"
        f"try: {wait}\n"
        "except KeyboardInterrupt: print('interrupted', flush=True)\n"
        "try: print('done:', end.is_done, flush=True)\n"
        "except CUDAError as error: print(error.name, flush=True)\n"
        "import os; os._exit(0)\n"
    )
    assert process.stdout.readline() == "waiting\n"
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    assert process.stdout.readline() == "interrupted\n"
    ended = "CUDA_ERROR_LAUNCH_TIMEOUT\n"  # which no GPU's kernel is
    assert process.stdout.readline() == (ended if simulator.is_enabled() else "done: False\n")
    process.communicate(timeout=60)


def test_the_default_streams_show_their_names() -> None:
    assert repr(LEGACY_DEFAULT_STREAM) == "LEGACY_DEFAULT_STREAM"
    assert repr(PER_THREAD_DEFAULT_STREAM) == "PER_THREAD_DEFAULT_STREAM"
