"""What a wait of core calls: to ask is enough where to synchronize has nothing more to do.

The driver is made of C functions that ctypes makes of Python's, so that core's methods have their lanes.
"""

from __future__ import annotations

import ctypes
import importlib
import itertools
import struct
import sys
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import pytest

from cudapy._ffi.lanes import why_not

from .fake_driver import NOT_READY, faked
from .fuzz.core_lanes import Driver

pytestmark = pytest.mark.skipif(bool(why_not()), reason=f"no fast lane: {why_not()}")

LEGACY = 1
ASK, WAIT = ["cuStreamQuery"], ["cuStreamQuery", "cuStreamSynchronize"]
ASK_EVENT, WAIT_FOR_EVENT = ["cuEventQuery"], ["cuEventQuery", "cuEventSynchronize"]
MADE = {  # the number of the output, of 8 bytes, that gets a new number
    "cuStreamCreateWithPriority": 0,
    "cuEventCreate": 0,
    "cuMemAllocFromPoolAsync": 0,
    "cuMemPoolCreate": 0,
    "cuLibraryLoadData": 0,
    "cuLibraryGetKernel": 0,
    "cuGraphCreate": 0,
    "cuGraphInstantiateWithParams": 0,
}
FILLED = {  # the number of an output, its bytes and its value
    "cuDeviceGetCount": (0, 4, 1),
    "cuDeviceGetAttribute": (0, 4, 1),
    "cuDriverGetVersion": (0, 4, 13000),
    "cuDevicePrimaryCtxRetain": (0, 8, 0xC0),
    "cuCtxGetCurrent": (0, 8, 0xC0),
    "cuStreamGetCtx": (1, 8, 0xC0),
    "cuDeviceGetMemPool": (0, 8, 0x9001),
    "cuMemPoolGetAttribute": (2, 8, 1),
}
NAME = ctypes.addressof(_name := ctypes.create_string_buffer(b"k"))
CUBIN = struct.pack("<16s2HI3QI6H", b"\x7fELF\2\1\1", 2, 190, 1, 0, 0, 0, 0, 64, 0, 0, 0, 0, 0)
FATBIN = struct.pack("<I2HQ", 0xBA55ED50, 1, 16, 0)
WAITS = {*WAIT, *WAIT_FOR_EVENT}
Called = ctypes.CFUNCTYPE(ctypes.c_int, *[ctypes.c_void_p] * 6)
Plain = ctypes.CFUNCTYPE(ctypes.c_int)  # called with whatever there is


class CDriver:
    """The library. waits: the calls that wait, since they were last asked for; busy: how many more times the
    work is not done yet.
    """

    def __init__(self) -> None:
        self.numbers = itertools.count(0x10000, 0x1000)
        self.calls: list[str] = []
        self.kept: list[object] = []
        self.busy = 0

    def __getitem__(self, symbol: str) -> Any:
        if symbol.endswith(("_ptsz", "_ptds")) or symbol.startswith("cuLogs"):
            raise AttributeError(symbol)

        def called(*arguments: int) -> int:
            if symbol in WAITS:
                self.calls.append(symbol)
            if symbol.endswith("Query") and self.busy:
                self.busy -= 1
                return NOT_READY
            if symbol in MADE:
                ctypes.c_uint64.from_address(arguments[MADE[symbol]]).value = next(self.numbers)
            if symbol == "cuKernelGetName":
                ctypes.c_void_p.from_address(arguments[0]).value = NAME
            if symbol in FILLED:
                place, size, value = FILLED[symbol]
                ctypes.memmove(arguments[place], value.to_bytes(size, sys.byteorder), size)
            return 0

        function = Called(called)
        self.kept.append(function)
        return Plain(ctypes.cast(function, ctypes.c_void_p).value)

    @property
    def waits(self) -> list[str]:
        calls, self.calls = self.calls, []
        return calls


class World:
    """core on this driver, with a stream and an event. All has been called once: a first call has no lane."""

    def __init__(self, driver: CDriver, of: Callable[[str], ModuleType]) -> None:
        self.driver, self.of, self.core = driver, of, of("core")
        self.device = self.core.Device(0)
        self.device.set_current()
        self.stream = self.device.create_stream()
        self.event = self.device.create_event()
        self.stream.record(self.event)
        self.event.sync()
        self.stream.sync()
        self.device.allocate(64, stream=self.stream).close()
        self.stream.wait(self.event)
        self.stream.sync()
        self.stream.record(self.event)
        assert driver.waits

    def waits(self) -> list[str]:
        self.stream.sync()
        return self.driver.waits

    def event_waits(self) -> list[str]:
        self.event.sync()
        return self.driver.waits


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    driver = CDriver()
    with faked() as (_, of):
        monkeypatch.setattr(of("_process.resets").resets, "is_possible", False)  # it is no simulator
        of("driver").libcuda.load = lambda: driver
        yield World(driver, of)


def test_nothing_but_kernels_and_events(world: World) -> None:
    """Nobody needs more than an answer; in a new stream as well."""
    for _ in range(3):
        world.stream.record(world.event)
        assert world.event_waits() == ASK_EVENT and world.waits() == ASK
    assert world.device.create_stream().sync() is None
    assert world.driver.waits == ASK


def test_memory_is_released(world: World) -> None:
    """What is allocated and freed in stream order is, by the next wait for this stream, and no later one."""
    buffer = world.device.allocate(64, stream=world.stream)
    assert [world.waits(), world.waits()] == [WAIT, ASK]
    buffer.close()
    assert [world.waits(), world.waits()] == [WAIT, ASK]
    world.device.allocate(64, stream=world.stream)  # and dropped
    assert [world.waits(), world.waits()] == [WAIT, ASK]
    kept = world.device.allocate(64, stream=world.stream)
    world.waits()
    kept.close(world.stream)  # by Python
    assert [world.waits(), world.waits()] == [WAIT, ASK]
    pool = world.device.memory_resource
    pool.deallocate(0x1000, 64, stream=world.stream)
    assert [world.waits(), world.waits()] == [WAIT, ASK]
    large = pool.allocate(world.of("_core.memory.pool").QUICK, stream=world.stream)
    assert [world.waits(), world.waits()] == [WAIT, ASK]
    assert large.size


def test_an_event_knows_of_its_stream(world: World) -> None:
    """An event that is recorded behind what is freed releases it, and one recorded before does not."""
    world.device.allocate(64, stream=world.stream).close()
    assert world.event_waits() == ASK_EVENT, "it was recorded before"
    world.stream.record(world.event)
    assert [world.event_waits(), world.event_waits()] == [WAIT_FOR_EVENT, ASK_EVENT]
    world.stream.record(world.event)
    assert world.event_waits() == WAIT_FOR_EVENT, "the stream does not know of the event's wait"
    assert [world.waits(), world.waits()] == [WAIT, ASK]
    world.stream.record(world.event)
    assert world.event_waits() == ASK_EVENT
    world.device.allocate(64, stream=world.stream).close()
    new = world.stream.record()
    new.sync()
    assert world.driver.waits == WAIT_FOR_EVENT


def test_what_comes_from_other_streams(world: World) -> None:
    """The wait for an event, or another stream, brings what was queued there."""
    for other in (world.event, world.device.create_stream()):
        world.stream.wait(other)
        assert [world.waits(), world.waits()] == [WAIT, ASK]


def test_a_graph_may_do_anything(world: World) -> None:
    graph = importlib.import_module(f"{world.core.__name__}.graph").GraphDefinition().instantiate()
    for _ in range(2):
        graph.launch(world.stream)
        assert [world.waits(), world.waits()] == [WAIT, ASK]


def test_under_a_tracer(world: World) -> None:
    """Calls that Python makes leave the same notes."""
    buffer = world.device.allocate(64, stream=world.stream)
    world.waits()
    before = sys.getprofile()
    sys.setprofile(lambda *_: None)
    try:
        buffer.close()
    finally:
        sys.setprofile(before)
    assert [world.waits(), world.waits()] == [WAIT, ASK]
    sys.setprofile(lambda *_: None)
    try:
        world.stream.wait(world.event)
    finally:
        sys.setprofile(before)
    assert [world.waits(), world.waits()] == [WAIT, ASK]
    sys.setprofile(lambda *_: None)
    try:
        world.device.allocate(64, stream=world.stream)
        world.stream.record(world.event)
    finally:
        sys.setprofile(before)
    assert [world.waits(), world.waits()] == [WAIT, ASK]
    assert world.event_waits() == WAIT_FOR_EVENT


def test_streams_in_which_others_work(world: World) -> None:
    """Whoever has the handle may queue anything, and so may anybody in the default streams."""
    blocking = world.device.create_stream(options=world.core.StreamOptions(nonblocking=False))
    for stream in (world.core.LEGACY_DEFAULT_STREAM, world.core.PER_THREAD_DEFAULT_STREAM, blocking):
        for _ in range(2):
            stream.sync()
            assert world.driver.waits == WAIT
        stream.record(world.event)
        assert world.event_waits() == WAIT_FOR_EVENT
    assert world.waits() == ASK
    assert world.stream.handle
    assert [world.waits(), world.waits()] == [WAIT, WAIT]


@pytest.mark.parametrize(
    "happens",
    [
        lambda w: w.event.handle,
        lambda w: w.of("_core.kernels.kernel").Kernel.from_handle(0x7000),
        lambda w: w.core.ObjectCode.from_ptx(b".extern .func (.param .b32 r) vprintf").get_kernel("k"),
        lambda w: w.core.ObjectCode.from_cubin(CUBIN + b"vprintf").get_kernel("k"),
        lambda w: w.core.ObjectCode.from_fatbin(FATBIN).get_kernel("k"),
    ],
    ids=["an event is known", "a kernel of others", "PTX", "a cubin", "a fatbin"],
)
def test_what_may_print(world: World, happens: Callable[[World], object]) -> None:
    assert world.waits() == ASK
    happens(world)
    assert [world.waits(), world.event_waits()] == [WAIT, WAIT_FOR_EVENT]


def test_code_that_cannot_print(world: World) -> None:
    world.core.ObjectCode.from_ptx(b".version 8.0").get_kernel("k")
    world.core.ObjectCode.from_cubin(CUBIN).get_kernel("k")
    assert [world.waits(), world.event_waits()] == [ASK, ASK_EVENT]


def test_work_that_takes_a_moment(world: World) -> None:
    """The lane asks a few times, and leaves the rest to Python, which synchronizes at the end."""
    asked = world.of("_core.streams.waiting").ASKED
    world.driver.busy = 5
    assert world.waits() == 6 * ASK
    world.driver.busy = asked - 1
    assert world.waits() == asked * ASK
    world.driver.busy = asked + 2
    assert world.waits() == [*(asked + 3) * ASK, "cuStreamSynchronize"]
    world.driver.busy = 5
    assert world.event_waits() == 6 * ASK_EVENT


def test_a_failure_is_told_though_the_event_was_closed_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    driver = Driver()
    with faked() as (_, of):
        monkeypatch.setattr(of("_process.resets").resets, "is_possible", False)
        of("driver").libcuda.load = lambda: driver
        device = of("core").Device(0)
        device.set_current()
        device.create_event().sync()
        event = device.create_event()
        driver.sick, driver.act = 700, event.close
        with pytest.raises(RuntimeError, match="CUDA_ERROR_ILLEGAL_ADDRESS"):
            event.sync()
        assert event.is_closed
