"""The fast lane of core.launch: the bytes and the errors of its Python function, and when it is not taken."""

from __future__ import annotations

import ctypes
import gc
import random
import struct
import sys
import threading
import types

import numpy as np
import pytest

from cudapy._core.kernels import launch as launch_module
from cudapy._core.kernels import launch_lane
from cudapy._core.kernels.kernel import NO_LANE
from cudapy._ffi import lanes
from cudapy._ffi.lane_entries import python_of
from cudapy._types.driver.handles import CUdeviceptr
from cudapy.core import Buffer, CUDAError, LaunchConfig, Stream, launch

from . import launch_code
from .test_launch import ARGUMENTS, CONFIG, LongDouble, Pair, buffer, kernel
from .test_launch import launches as launches
from .test_launch import stream as stream
from .threads import at_once

needs_lanes = pytest.mark.skipif(bool(lanes.why_not()), reason=f"no fast lane: {lanes.why_not()}")
python_launch = types.FunctionType(python_of(launch).__code__, launch.__globals__, "launch")
"""The same function without a lane."""
PYTHON_ALONE = (
    "OnDevice", "OnDeviceByInstance", "c_char", "c_wchar", "c_bool", "void", "bytes", "float-2",
    "complex-8", "Incomplete",
)  # fmt: skip
"""Types whose values only Python can pack; with a size where another size has a lane."""


def test_the_routine_is_what_its_source_says() -> None:
    assert launch_code.WHERE.read_text() == launch_code.text(), "run `python -m tests.launch_code`"


class Steps(list):  # type: ignore[type-arg]
    """Has the launches of a kernel noted that are not the lane's."""

    def __init__(self, made) -> None:
        real = made._launch

        def noting(*arguments):
            self.append(arguments)
            real(*arguments)

        made._launch = noting


def ready(launches, *sizes, args, stream):
    """A kernel that was launched with `args` before, and what notes the launches through Python."""
    made = kernel(launches, *sizes)
    launch(stream, CONFIG, made, *args)
    launches.clear()
    return made, Steps(made)


@needs_lanes
@pytest.mark.parametrize(("size", "value", "expected"), ARGUMENTS, ids=lambda v: type(v).__name__)
def test_no_step_of_python(launches, stream, size, value, expected) -> None:
    k, steps = ready(launches, 4, size, 1, args=(17, value, 3), stream=stream)
    launch(stream, CONFIG, k, 17, value, 3)
    ((config, function, values),) = launches
    assert values == [struct.pack("i", 17), expected, b"\3"]
    assert (int(config.hStream), config.sharedMemBytes, config.numAttrs, function) == (0x50, 7, 0, 0x77)
    name = type(value).__name__
    is_large = type(value) is int and value >> 60 not in (0, -1)
    assert bool(steps) == (is_large or name in PYTHON_ALONE or f"{name}-{size}" in PYTHON_ALONE)


@needs_lanes
def test_python_is_written_for_what_the_lane_leaves_to_it(launches, stream, monkeypatch) -> None:
    written = []
    general = launch_module.Writer.general
    monkeypatch.setattr(launch_module.Writer, "general", lambda w: written.append(w.types) or general(w))
    k = kernel(launches, 8)
    for value in (1, 2.0, 3):  # each of them the first of its type, or with another lane before it
        launch(stream, CONFIG, k, value)
        assert len(launches) == 1 and len(launches.pop()[2][0]) == 8
    assert not written
    with pytest.raises(OverflowError):
        launch(stream, CONFIG, k, 2**80)
    launch(stream, CONFIG, k, -(2**63))
    assert written == [(int,)] and launches.pop()[2] == [struct.pack("q", -(2**63))]


@needs_lanes
def test_other_streams_configs_and_values(launches) -> None:
    """What a launch takes besides the types is read each time."""
    first = Stream.from_handle(0x60)
    cluster = LaunchConfig(grid=2, block=32, cluster=2)
    k, steps = ready(launches, 8, args=(buffer(),), stream=first)
    for handle in (0, 1, 0x70, 2**63):
        for config in (CONFIG, LaunchConfig(grid=7, block=(1, 2, 3)), cluster):
            launch(Stream.from_handle(handle), config, k, buffer(handle + 8))
            given, _, values = launches.pop()
            assert int(given.hStream) == handle and values == [struct.pack("Q", handle + 8)]
            assert given.numAttrs == (config is cluster)
            blocks, (_, _, depth) = config.grid[0] * (1 + (config is cluster)), config.block
            assert (given.gridDimX, given.blockDimZ) == (blocks, depth)
    cluster.grid = 9
    launch(first, cluster, k, buffer(8))
    assert launches.pop()[0].gridDimX == 18
    assert not any(arguments[3][0].handle < 2**60 for arguments in steps)


def numbers(bits: int):
    """Ints of all lengths, at the edges and beyond them."""
    edges = [sign * (1 << bit) + near for bit in range(bits + 2) for near in (-1, 0, 1) for sign in (1, -1)]
    return [*edges, *(random.getrandbits(bits) for _ in range(50))]


def outcome(function, launches, *arguments):
    try:
        function(*arguments)
        config, *rest = launches.pop()
        return bytes(config), *rest
    except Exception as error:
        return type(error), str(error)


INFINITE = float("inf")
SAME = {
    "int": [(size, 1, numbers(8 * size)) for size in (1, 2, 4, 8)],
    "bool": [(1, True, [True, False, 1, 2])],
    "float": [
        (
            size,
            0.5,
            [0.0, -0.0, 1e-50, -1e-310, 3.4e38, 3.5e38, 1e308, INFINITE, float("nan"), 16777217.0],
        )
        for size in (2, 4, 8)
    ],
    "single": [(4, np.float32(1), [*map(np.float32, (0.1, -0.0, "nan", "inf")), 1.0, np.float64(1)])],
    "void": [(8, None, [None, 0, buffer()])],
    "buffer": [
        (8, buffer(), [buffer(), buffer(0), buffer(2**64 - 1), buffer(2**60), buffer(2**60 - 1), None, 5])
    ],
    "handle": [(8, CUdeviceptr(1), [CUdeviceptr(2**64 - 1), 1, buffer(), ctypes.c_size_t(3)])],
    "pair": [(16, Pair(1, 2), [Pair(-1, 0.1), Pair(), (1, 2)])],
    "long": [(16, Pair(1, 2), [LongDouble(1)])],
}


@needs_lanes
@pytest.mark.parametrize("what", SAME)
@pytest.mark.parametrize("from_ptx", [False, True])
def test_both_ways_are_the_same(launches, stream, what, from_ptx) -> None:
    """After a launch with a value of a type, values of that type and of others: the same bytes or errors."""
    for size, before, values in SAME[what]:  # type: ignore[attr-defined]
        for value in values:
            found = []
            for function in (launch, python_launch):
                k, _ = ready(launches, size, 2, args=(before, 1), stream=stream)
                if from_ptx and size in (4, 8) and what in ("int", "bool", "float"):
                    k = typed(launches, size, stream)
                found.append(outcome(function, launches, stream, CONFIG, k, value, 1))
            assert found[0] == found[1], (size, value)


def typed(launches, size, stream):
    """A kernel whose code says that it takes a float of that size; launched with an int before."""
    from .test_launch_kinds import typed as of_types

    k = of_types(launches, f"f{8 * size}", "u16")
    launch(stream, CONFIG, k, 1, 1)
    launches.clear()
    return k


@needs_lanes
def test_misuse_is_told_as_without_a_lane(launches, stream) -> None:
    k, _ = ready(launches, 8, args=(buffer(),), stream=stream)
    closed, closed_stream = buffer(), Stream.from_handle(0x90)
    closed.close()
    closed_stream.close()
    blank = object.__new__(type(k))
    for arguments in (
        (),
        (stream,),
        (stream, CONFIG),
        (stream, CONFIG, k),
        (stream, CONFIG, k, buffer(), 1),
        (stream, CONFIG, k, closed),
        (closed_stream, CONFIG, k, buffer()),
        (None, CONFIG, k, buffer()),
        (5, CONFIG, k, buffer()),
        (stream, None, k, buffer()),
        (stream, CONFIG, None, buffer()),
        (stream, CONFIG, blank, buffer()),
        (stream, object.__new__(LaunchConfig), k, buffer()),
        (stream, CONFIG, k, object()),
    ):
        assert outcome(launch, launches, *arguments) == outcome(python_launch, launches, *arguments)
    with pytest.raises(TypeError):
        launch(stream, CONFIG, kernel=k)


@needs_lanes
def test_a_failure_is_told_as_without_a_lane(launches, stream) -> None:
    k, steps = ready(launches, 8, args=(buffer(),), stream=stream)
    launches.status = 700
    told = []
    for function in (launch, python_launch):
        with pytest.raises(CUDAError) as raised:
            function(stream, CONFIG, k, buffer())
        told.append((str(raised.value), raised.value.code, raised.value.function))
    assert told[0] == told[1] and len(steps) == 1


@needs_lanes
def test_tools_see_each_call(launches, stream) -> None:
    k, steps = ready(launches, 8, args=(buffer(),), stream=stream)
    seen = []
    sys.setprofile(lambda frame, event, _: seen.append(frame.f_code) if event == "call" else None)
    launch(stream, CONFIG, k, buffer())
    sys.setprofile(None)
    assert launch.__code__ in seen and len(steps) == 1


@needs_lanes
def test_references(launches, stream) -> None:
    """Nothing that a launch looks at gets or loses one."""
    args = (buffer(), 12345.5, 1 << 40, np.float32(2))
    k, steps = ready(launches, 8, 8, 8, 4, args=args, stream=stream)
    gc.collect()  # what other tests have left
    watched = (stream, CONFIG, k, *args, Buffer, launch, k._lane)
    before = [sys.getrefcount(each) for each in watched]
    for _ in range(1000):
        assert launch(stream, CONFIG, k, *args) is None
    launches.clear()
    assert [sys.getrefcount(each) for each in watched] == before and not steps


@needs_lanes
def test_threads_with_values_and_types_of_their_own(launches, stream) -> None:
    """A kernel whose types change in one thread while others launch it: nothing is mixed up."""
    k = kernel(launches, 8, 8)

    def work(number: int) -> None:
        for i in range(300):
            first = buffer(number * 1000 + i + 1) if number % 2 else number * 1000 + i + 1
            launch(stream, CONFIG, k, first, number * 1000 + i + 1)

    at_once(work, 6)
    assert len(launches) == 6 * 300
    assert all(first == second for _, _, (first, second) in launches)


@needs_lanes
def test_threads_that_meet_at_the_first_launch(launches, stream, monkeypatch) -> None:
    """Each gives `launch` its lane: it has one, and no kernel is left with what that cannot read."""
    python, entered = python_of(launch), launch.__code__
    made = [kernel(launches, 8) for _ in range(8)]
    start = threading.Barrier(len(made))
    real = launch_module._install_lane

    def at_the_same_time() -> bool:
        start.wait(10)
        return real()

    monkeypatch.setattr(launch_module, "_install_lane", at_the_same_time)
    monkeypatch.setattr(launch_module, "_has_lane", None)
    at_once(lambda number: launch(stream, CONFIG, made[number], number), len(made))
    assert (python_of(launch), launch.__code__, launch_module._has_lane) == (python, entered, True)
    assert all(each._lane is not NO_LANE for each in made)
    launches.clear()
    made[3]._lane = NO_LANE  # as for types that only Python can pack
    steps = Steps(made[3])
    launch(stream, CONFIG, made[3], 5)
    assert [values for *_, values in launches] == [[struct.pack("Q", 5)]] and len(steps) == 1


@needs_lanes
def test_as_many_as_there_is_room_for(launches, stream) -> None:
    """Also on a stack that is as small as one may be."""
    count = launch_lane.MOST_ARGUMENTS
    k, steps = ready(launches, *[8] * count, args=range(count), stream=stream)
    numbers = [2**60 - 1 - i for i in range(count)]
    before = threading.stack_size(1 << 15 if sys.version_info < (3, 14) else 1 << 16)
    thread = threading.Thread(target=launch, args=(stream, CONFIG, k, *numbers))
    thread.start()
    thread.join()
    threading.stack_size(before)
    launch(stream, CONFIG, k, *reversed(numbers))
    packed = [struct.pack("Q", number) for number in numbers]
    assert [values for *_, values in launches] == [packed, packed[::-1]]
    assert not steps


def test_what_has_no_room_has_no_lane(launches, stream) -> None:
    count = launch_lane.MOST_ARGUMENTS + 1
    k = kernel(launches, *[8] * count)
    for _ in range(2):
        launch(stream, CONFIG, k, *range(count))
        assert launches.pop()[2] == [struct.pack("Q", i) for i in range(count)]
    most = launch_lane.MOST_BYTES
    wide = type("Wide", (ctypes.Structure,), {"_fields_": [("bytes", ctypes.c_char * most)]})
    for sizes, args in (((most,), (wide(b"x" * most),)), ((most, 8), (wide(b"y" * most), 5))):
        k = kernel(launches, *sizes)
        for _ in range(2):
            launch(stream, CONFIG, k, *args)
            assert launches.pop()[2][0] == bytes(args[0])
