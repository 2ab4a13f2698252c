"""launch and prepare on a cuLaunchKernelEx of our own: every byte that the driver would read."""

from __future__ import annotations

import ctypes
import gc
import struct
import threading
import weakref
from functools import partial
from types import SimpleNamespace
from typing import ClassVar

import numpy as np
import pytest
from cudapy.core.graph import GraphBuilder

from cudapy import driver
from cudapy._core.kernel_argument import KernelArgument
from cudapy._core.kernels import arguments, launch_lane, node_parameters
from cudapy._core.kernels.kernel import Kernel
from cudapy._ffi.library import SymbolNotFound
from cudapy.core import Buffer, LaunchConfig, ObjectCode, Stream, launch, prepare
from cudapy.driver import CUdeviceptr, CUkernel

CONFIG = LaunchConfig(grid=(4, 5), block=(32, 2, 3), shmem_size=7)


class Launches(list):  # type: ignore[type-arg]
    """What arrived: (CUlaunchConfig, function, the value of each parameter)."""

    status = 0
    sizes: tuple[int, ...] = ()

    def __call__(self, config, function, table, extra) -> int:
        assert not extra
        pointers = (ctypes.c_void_p * len(self.sizes)).from_address(table) if self.sizes else ()
        assert not self.sizes or table
        values = [ctypes.string_at(at, size) for at, size in zip(pointers, self.sizes, strict=True)]
        self.append((driver.CUlaunchConfig.from_buffer_copy(ctypes.string_at(config, 56)), function, values))
        return self.status


@pytest.fixture
def launches(monkeypatch):
    seen = Launches()
    address = ctypes.c_void_p
    fake = ctypes.CFUNCTYPE(ctypes.c_int, address, address, address, address)(seen)

    def symbol(name, *_):
        if name != "cuLaunchKernelEx":
            raise SymbolNotFound(name, "there is nothing else")
        return fake

    monkeypatch.setattr(driver.libcuda, "symbol", symbol)
    monkeypatch.setattr(driver.libcuda, "function", symbol)
    return seen


@pytest.fixture
def stream():
    return Stream.from_handle(0x50)


def kernel(launches, *sizes, told=True):
    """A kernel with parameters of these sizes; told: whether the driver tells them."""
    made = Kernel(CUkernel(0x77), "k", None)
    parameters, end = [], 0
    for size in sizes:
        offset = -(-end // min(size, 8)) * min(size, 8)
        parameters.append((offset, size))
        end = offset + size
    launches.sizes = sizes
    made._parameters_known = parameters
    if not told:
        made.__class__ = type("Untold", (Kernel,), {"__slots__": (), "_parameters": None})
    return made


def test_configuration_stream_and_function_arrive(launches, stream) -> None:
    launch(stream, CONFIG, kernel(launches))
    ((config, function, values),) = launches
    assert (config.gridDimX, config.gridDimY, config.gridDimZ) == (4, 5, 1)
    assert (config.blockDimX, config.blockDimY, config.blockDimZ) == (32, 2, 3)
    assert (config.sharedMemBytes, int(config.hStream), config.numAttrs) == (7, 0x50, 0)
    assert (function, values) == (0x77, [])


class Pair(ctypes.Structure):
    _fields_ = [("first", ctypes.c_int), ("second", ctypes.c_double)]


class LongDouble(ctypes.c_longdouble):  # of its own, as c_longdouble is c_double on some systems
    _type_ = "g"


class Incomplete:
    __cuda_array_interface__: ClassVar[dict[str, object]] = {}


class OnDeviceByInstance:
    def __init__(self, address: int) -> None:
        self.__cuda_array_interface__ = {
            "data": (address, False),
            "shape": (1,),
            "typestr": "|u1",
            "version": 3,
        }


class OnDevice:
    @property
    def __cuda_array_interface__(self):
        return {"data": (0x7000, False), "shape": (1,), "typestr": "|u1", "version": 3}


def buffer(address=0x1234):
    return Buffer.from_handle(address, 8)


ARGUMENTS = [
    (1, 5, b"\5"),
    (1, True, b"\1"),
    (1, False, b"\0"),
    (2, -2, struct.pack("h", -2)),
    (4, 2**31 - 1, struct.pack("i", 2**31 - 1)),
    (4, 2**32 - 1, struct.pack("I", 2**32 - 1)),
    (8, -1, struct.pack("q", -1)),
    (8, 2**64 - 1, struct.pack("Q", 2**64 - 1)),
    (8, None, bytes(8)),
    (2, 1.5, struct.pack("e", 1.5)),
    (4, 1.5, struct.pack("f", 1.5)),
    (8, 1.5, struct.pack("d", 1.5)),
    (8, 1 + 2j, struct.pack("2f", 1, 2)),
    (16, 1 + 2j, struct.pack("2d", 1, 2)),
    (8, buffer(), struct.pack("Q", 0x1234)),
    (8, CUdeviceptr(0x99), struct.pack("Q", 0x99)),
    (8, OnDevice(), struct.pack("Q", 0x7000)),
    (8, OnDeviceByInstance(0x7008), struct.pack("Q", 0x7008)),
    (1, np.int8(-3), struct.pack("b", -3)),
    (1, np.bool_(True), b"\1"),
    (2, np.uint16(65535), b"\xff\xff"),
    (2, np.float16(0.5), struct.pack("e", 0.5)),
    (4, np.float32(0.1), struct.pack("f", 0.1)),
    (8, np.float64(0.1), struct.pack("d", 0.1)),
    (8, np.uint64(2**64 - 1), b"\xff" * 8),
    (8, np.complex64(1 + 2j), struct.pack("2f", 1, 2)),
    (16, np.complex128(1 + 2j), struct.pack("2d", 1, 2)),
    (8, np.datetime64(5, "s"), struct.pack("q", 5)),
    (12, np.array([(7, 0.5)], "i4,f8")[0], struct.pack("=id", 7, 0.5)),
    (1, ctypes.c_char(b"x"), b"x"),
    (ctypes.sizeof(ctypes.c_wchar), ctypes.c_wchar("x"), bytes(ctypes.c_wchar("x"))),
    (1, ctypes.c_bool(True), b"\1"),
    (2, ctypes.c_short(-4), struct.pack("h", -4)),
    (4, ctypes.c_float(0.1), struct.pack("f", 0.1)),
    (8, ctypes.c_double(0.1), struct.pack("d", 0.1)),
    (8, ctypes.c_size_t(2**63), struct.pack("Q", 2**63)),
    (8, ctypes.c_void_p(), bytes(8)),
    (8, ctypes.c_void_p(0x42), struct.pack("Q", 0x42)),
    (16, Pair(3, 0.25), bytes(Pair(3, 0.25))),
    (12, (ctypes.c_int * 3)(1, 2, 3), struct.pack("3i", 1, 2, 3)),
    (3, b"abc", b"abc"),
]


@pytest.mark.parametrize(
    ("size", "value", "expected"), ARGUMENTS, ids=lambda v: type(v).__name__ if not isinstance(v, int) else v
)
def test_a_value_arrives(launches, stream, size, value, expected) -> None:
    k = kernel(launches, 4, size, 1)
    run = prepare(stream, CONFIG, k, 17, value, 3)
    for _ in range(2):
        launch(stream, CONFIG, k, 17, value, 3)
        run(17, value, 3)
    assert [values for _, _, values in launches] == [[struct.pack("i", 17), expected, b"\3"]] * 4


@pytest.mark.filterwarnings("ignore:In future, it will be an error for 'np.bool'")  # NumPy of Python 3.10
@pytest.mark.parametrize("first", ARGUMENTS, ids=lambda case: f"{case[0]}-{type(case[1]).__name__}")
def test_what_was_launched_before_changes_nothing(launches, stream, first) -> None:
    """A value of any type after one of any other: the bytes are those of a first launch, or the error is."""
    size, before, _ = first
    for _, value, _ in ARGUMENTS:
        fresh, used, ready = (kernel(launches, size) for _ in range(3))
        launch(stream, CONFIG, used, before)
        run = prepare(stream, CONFIG, ready, before)
        launches.clear()
        outcomes = []
        for call in (
            partial(launch, stream, CONFIG, fresh, value),
            partial(launch, stream, CONFIG, used, value),
            partial(run, value),
        ):
            try:
                call()
                outcomes.append(launches.pop()[2])
            except (TypeError, OverflowError) as error:
                outcomes.append(type(error))
        number = getattr(value, "value", value)
        if outcomes[0] is TypeError and hasattr(number, "__index__"):
            # An integer of another width: refused at first, and as good as an int where one was before.
            for outcome in outcomes[1:]:
                if isinstance(outcome, list):
                    assert outcome == [number.__index__().to_bytes(size, "little", signed=number < 0)], before
        else:
            assert outcomes[1:] == outcomes[:1] * 2, (before, value)


@pytest.mark.parametrize("n", [1, 2, 5, 64, 512])
def test_many_integers(launches, stream, n) -> None:
    k, sizes = kernel(launches, *[8] * n), range(n)
    run = prepare(stream, CONFIG, k, *sizes)
    for start in (0, 10**12):
        launch(stream, CONFIG, k, *range(start, start + n))
        run(*range(start, start + n))
        for _, _, values in launches:
            assert values == [struct.pack("q", start + i) for i in sizes]
        launches.clear()
    mixed = [buffer(i + 1) if i % 2 else i + 1 for i in sizes]
    launch(stream, CONFIG, k, *mixed)
    run(*mixed)
    assert [values for _, _, values in launches] == [[struct.pack("q", i + 1) for i in sizes]] * 2


WRONG = [
    ((), TypeError, "k takes 2 arguments, not 0"),
    ((1, 2, 3), TypeError, "k takes 2 arguments, not 3"),
    ((1, 2**32), OverflowError, r"k: argument 1: 4294967296 does not fit"),
    ((1, -(2**31) - 1), OverflowError, r"k: argument 1"),
    ((1, 1e60), OverflowError, r"k: argument 1: 1e\+60 does not fit"),
    ((1, np.float64(1)), TypeError, r"k: argument 1: it takes 8 bytes, the kernel's parameter has 4"),
    ((buffer(), buffer()), TypeError, r"k: argument 1: it takes 8 bytes"),
    ((object(), 1), TypeError, r"k: argument 0: a object is not a kernel argument$"),
    (([1.0], 1), TypeError, r"a list is not a kernel argument: device\.upload\(np\.array\(\.\.\.\)\) makes"),
    (("text", 1), TypeError, r"k: argument 0: a str is not"),
    ((LongDouble(1), 1), TypeError, r"k: argument 0: a LongDouble is not a kernel argument"),
    ((np.zeros(3), 1), TypeError, r"k: argument 0: a NumPy array lies in host memory"),
    ((Pair(), 1), TypeError, r"k: argument 0: it takes 16 bytes"),
    (
        (Incomplete(), 1),
        TypeError,
        r"k: argument 0: the __cuda_array_interface__ of a Incomplete has no 'data'",
    ),
]


@pytest.mark.parametrize(("args", "error", "message"), WRONG)
def test_wrong_arguments_are_named(launches, stream, args, error, message) -> None:
    fresh, used = kernel(launches, 8, 4), kernel(launches, 8, 4)
    launch(stream, CONFIG, used, 1, 2)
    launches.clear()
    for k in (fresh, used):
        with pytest.raises(error, match=message):
            launch(stream, CONFIG, k, *args)
        with pytest.raises(error, match=message):
            prepare(stream, CONFIG, k, *args)
    if len(args) == 2:
        with pytest.raises(error, match=message):
            prepare(stream, CONFIG, used, 1, 2)(*args)
    assert not launches
    launch(stream, CONFIG, used, 3, 4)
    assert launches[0][2] == [struct.pack("q", 3), struct.pack("i", 4)]


@pytest.mark.parametrize("told", [True, False])
def test_bytes_are_not_cut(launches, stream, told) -> None:
    k = kernel(launches, 4, told=told)
    run = prepare(stream, CONFIG, k, b"1234")
    launch(stream, CONFIG, k, b"abcd")
    void = np.array([(1, 2)], "i2,i2")[0], np.array([(1, 2)], "i4,i4")[0]
    launch(stream, CONFIG, k, void[0])
    launches.clear()
    for longer in (b"12345", void[1]):
        for call in (partial(launch, stream, CONFIG, k, longer), partial(run, longer)):
            with pytest.raises(TypeError, match=r"k: argument 0: it takes \d bytes"):
                call()
    assert not launches


def test_an_array_that_is_not_on_a_device(launches, stream) -> None:
    class OnHost:
        @property
        def __cuda_array_interface__(self):
            raise AttributeError("this tensor is on the CPU")

    k = kernel(launches, 8)
    for _ in range(2):
        with pytest.raises(TypeError, match=r"k: argument 0: this tensor is on the CPU"):
            launch(stream, CONFIG, k, OnHost())


def test_an_array_interface_of_an_instance(launches, stream) -> None:
    """Objects of one class may have one, another one, or none."""
    k = kernel(launches, 8)
    for address in (0x7000, 0x8000):
        launch(stream, CONFIG, k, OnDeviceByInstance(address))
        assert launches[-1][2] == [struct.pack("Q", address)]
    without = OnDeviceByInstance(0)
    del without.__cuda_array_interface__
    with pytest.raises(TypeError, match="k: argument 0: a OnDeviceByInstance is not a kernel"):
        launch(stream, CONFIG, k, without)


def test_a_driver_that_does_not_tell_the_parameters(launches, stream) -> None:
    """Sizes and places are those of C then, by the types of the values."""
    k = kernel(launches, 1, 8, 2, 8, 16, 4, told=False)
    values = (True, 2.5, np.int16(-1), 3, Pair(1, 2.0), np.float32(4))
    launch(stream, CONFIG, k, *values)
    expected = [b"\1", struct.pack("d", 2.5), b"\xff\xff", struct.pack("q", 3), bytes(Pair(1, 2.0))]
    assert launches[0][2] == [*expected, struct.pack("f", 4)]
    launch(stream, CONFIG, k, *values[:-1], 5.0)  # another type has another size
    launches.sizes = (1, 8, 2, 8, 16, 8)
    launch(stream, CONFIG, k, *values[:-1], 5.0)
    assert launches[-1][2][-1] == struct.pack("d", 5.0)
    for data in (b"12", b"1234", b"1"):
        launches.sizes = (len(data),)
        short = kernel(launches, len(data), told=False)
        launch(stream, CONFIG, short, data)
        assert launches[-1][2] == [data]


class Noted(KernelArgument):
    """What each launch has to tell: see `KernelArgument`."""

    _encoded = "Q", 8, ("{0}.value",)
    _is_noted = True

    def __init__(self) -> None:
        self.value, self.streams = 0x123, []

    def _launched_in(self, stream) -> None:
        self.streams.append(stream)


@pytest.mark.parametrize("prepares", [False, True])
def test_each_launch_is_noted(launches, stream, prepares) -> None:
    k, noted = kernel(launches, 4, 8), Noted()
    how = stream, CONFIG, k
    run = prepare(*how, 1, noted) if prepares else partial(launch, *how)
    for count in (1, 2, 3):
        run(1, noted)
        assert launches[-1][2] == [struct.pack("i", 1), struct.pack("Q", 0x123)]
        assert noted.streams == [stream] * count


def test_what_is_known_of_types_has_an_end(launches, stream) -> None:
    k, most = kernel(launches, 4), arguments.MOST_KEPT
    for _ in range(most + 10):
        launch(stream, CONFIG, k, type("Own", (ctypes.c_float,), {})(1))
    assert max(map(len, (k._packers, arguments._kept, launch_lane._kept))) <= most


def test_another_stream_or_configuration_is_seen(launches, stream) -> None:
    k, other = kernel(launches, 4), Stream.from_handle(0x60)
    more = LaunchConfig(grid=9, block=1, cluster=3)
    for s in (stream, other, stream, stream):
        for config in (CONFIG, more, LaunchConfig(grid=2, block=1), more):
            launch(s, config, k, 1)
            (seen, _, _) = launches.pop()
            assert int(seen.hStream) == int(s.handle)
            assert seen.gridDimX == {(4, 5, 1): 4, (9, 1, 1): 27, (2, 1, 1): 2}[config.grid]
            assert seen.numAttrs == (config is more)


@pytest.mark.parametrize("builds", [False, True])
def test_what_is_assigned_to_a_configuration_is_seen(launches, stream, builds) -> None:
    k, config, where = kernel(launches, 4), LaunchConfig(grid=1, block=1), stream
    if builds:
        where = GraphBuilder._in(stream)
        hierarchy = SimpleNamespace(references=SimpleNamespace(keep_alive_for_good=list))
        where._capture = SimpleNamespace(is_over=False, hierarchy=hierarchy, abandon=int)
    launch(where, config, k, 1)
    for name, value, field, expected in (
        ("grid", 5, "gridDimX", 5),
        ("block", (2, 3), "blockDimY", 3),
        ("shmem_size", 7, "sharedMemBytes", 7),
        ("is_cooperative", True, "numAttrs", 1),
        ("cluster", 2, "gridDimX", 10),
        ("programmatic_stream_serialization", True, "numAttrs", 3),
        ("cluster", None, "gridDimX", 5),
    ):
        setattr(config, name, value)
        for _ in range(2):
            launches.clear()
            launch(where, config, k, 1)
            assert getattr(launches[0][0], field) == expected, name
        assert launches[0][0].gridDimX == config.grid[0] * (config.cluster or (1,))[0]


def test_arguments_of_nodes_lie_where_nobody_writes(launches) -> None:
    """As long as they are needed; then their memory is used again."""
    k = kernel(launches, 4, 8)

    def values(made):
        table = (ctypes.c_void_p * 2).from_address(made.address)
        return [ctypes.string_at(at, size) for at, size in zip(table, (4, 8), strict=True)]

    first, second = node_parameters.arguments(k, (1, 2.5)), node_parameters.arguments(k, (3, 4.5))
    at = first.address
    assert values(first) == [struct.pack("i", 1), struct.pack("d", 2.5)]
    del first
    third = node_parameters.arguments(k, (5, 6.5))
    assert third.address == at != second.address
    assert values(second) == [struct.pack("i", 3), struct.pack("d", 4.5)]
    assert values(third) == [struct.pack("i", 5), struct.pack("d", 6.5)]
    assert values(node_parameters.arguments(k, (7, 8))) == [struct.pack("i", 7), struct.pack("q", 8)]
    with pytest.raises(OverflowError):
        node_parameters.arguments(k, (2**40, 0.5))
    assert values(third) == [struct.pack("i", 5), struct.pack("d", 6.5)]


def test_builders_take_turns(launches, stream) -> None:
    """Each launch goes into its own builder, which keeps what it needs; none that is over takes one."""
    k, kept = kernel(launches, 4, 8), []
    builders = [GraphBuilder._in(one) for one in (stream, Stream.from_handle(0x60))]
    for builder in builders:
        hierarchy = SimpleNamespace(references=SimpleNamespace(keep_alive_for_good=kept.append))
        builder._capture = SimpleNamespace(is_over=False, hierarchy=hierarchy, abandon=int)
    more = LaunchConfig(grid=9, block=1)
    memory = buffer()
    for builder in (*builders, stream, *builders, builders[1], builders[1]):
        for config in (CONFIG, more, more, LaunchConfig(grid=2, block=1)):
            launch(builder, config, k, 1, memory)
            (seen, _, _) = launches.pop()
            assert int(seen.hStream) == int(builder.__cuda_stream__()[1])
            assert seen.gridDimX == config.grid[0]
            assert builder is stream or kept.pop() == (k, 1, memory)
    assert kept == []
    builders[1]._capture.is_over = True
    with pytest.raises(RuntimeError, match="ended"):
        launch(builders[1], more, k, 1, memory)
    with pytest.raises(TypeError, match="LaunchConfig second, not int"):
        launch(builders[0], 7, k, 1, memory)
    reference = weakref.ref(builders[0])
    del builders, builder
    gc.collect()
    assert reference() is None, "a launch keeps no builder"
    assert launches == []


def test_what_stands_for_a_stream(launches, stream) -> None:
    class Foreign:
        def __init__(self, handle):
            self.handle = handle
            self._handle = 5  # what other libraries call so is none of ours

        def __cuda_stream__(self):
            return 0, self.handle

    k = kernel(launches, 4)
    for handle in (0x70, 0x80, 0x70):
        launch(Foreign(handle), CONFIG, k, 1)
        prepare(Foreign(handle), CONFIG, k, 1)(2)
        assert [int(seen.hStream) for seen, _, _ in launches] == [handle] * 2
        launches.clear()
    for wrong, error in ((object(), "__cuda_stream__"), (5, "__cuda_stream__")):
        with pytest.raises(TypeError, match=error):
            launch(wrong, CONFIG, k, 1)
    launch(None, CONFIG, k, 1)
    assert int(launches[0][0].hStream) == 1, "the legacy default stream"


def test_closed_streams_are_refused(launches) -> None:
    stream, k = Stream.from_handle(0x50), kernel(launches, 4)
    run = prepare(stream, CONFIG, k, 1)
    launch(stream, CONFIG, k, 1)
    run(1)
    stream.close()
    launches.clear()
    for call in (lambda: launch(stream, CONFIG, k, 1), lambda: run(1)):
        with pytest.raises(RuntimeError, match="this Stream is closed"):
            call()
    assert not launches


def test_what_is_not_a_kernel_or_configuration(launches, stream) -> None:
    k = kernel(launches, 4)
    for call in (launch, prepare):
        with pytest.raises(TypeError, match="Kernel third, not LaunchConfig"):
            call(stream, k, CONFIG, 1)
        with pytest.raises(TypeError, match="LaunchConfig second, not int"):
            call(stream, 7, k, 1)
    launch(stream, CONFIG, k, 1)
    with pytest.raises(TypeError, match="LaunchConfig second, not int"):
        launch(stream, 7, k, 1)


def test_a_refused_launch_is_an_error_of_the_launch(launches, stream) -> None:
    k = kernel(launches, 4)
    run = prepare(stream, CONFIG, k, 1)
    launches.status = 719
    for call in (lambda: launch(stream, CONFIG, k, 1), lambda: run(1)):
        with pytest.raises(RuntimeError) as caught:
            call()
        assert caught.value.function == "cuLaunchKernelEx"  # type: ignore[attr-defined]
        assert caught.value.name == "CUDA_ERROR_LAUNCH_FAILED"  # type: ignore[attr-defined]
        assert "kernel='k'" in str(caught.value) and "grid=(4, 5, 1)" in str(caught.value)
    launches.status = 0
    launch(stream, CONFIG, k, 2)
    run(3)
    assert [values for _, _, values in launches[-2:]] == [[struct.pack("i", 2)], [struct.pack("i", 3)]]


def test_threads_do_not_share_memory(launches, stream, monkeypatch) -> None:
    """Each launch reads the values that it was given, while others of the same kernel are under way."""
    k, wrong, given = kernel(launches, 8, 8), [], {}
    barrier = threading.Barrier(4, timeout=60)

    def slow(config, function, table, extra) -> int:
        pointers = (ctypes.c_void_p * 2).from_address(table)
        barrier.wait()  # all threads are in the driver
        found = tuple(ctypes.c_int64.from_address(at).value for at in pointers)
        if found != given[threading.get_ident()]:
            wrong.append(found)
        return 0

    fake = ctypes.CFUNCTYPE(ctypes.c_int, *[ctypes.c_void_p] * 4)(slow)
    monkeypatch.setattr(driver.libcuda, "function", lambda name: fake)

    def work(number):
        for i in range(50):
            given[threading.get_ident()] = number * 1000 + i, -i
            launch(stream, CONFIG, k, number * 1000 + i, -i)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_launches_at_the_same_time_have_a_block_each(launches, stream, monkeypatch) -> None:
    """A launch begun while another one is in the driver, as by a signal handler; and then again."""
    k, found = kernel(launches, 8), []

    def nested(config, function, table, extra) -> int:
        at = (ctypes.c_void_p * 1).from_address(table)[0]
        depth = ctypes.c_int64.from_address(at).value
        if depth < 4:
            launch(stream, CONFIG, k, depth + 1)
        found.append((depth, ctypes.c_int64.from_address(at).value))
        return 0

    fake = ctypes.CFUNCTYPE(ctypes.c_int, *[ctypes.c_void_p] * 4)(nested)
    monkeypatch.setattr(driver.libcuda, "function", lambda name: fake)
    for _ in range(3):
        launch(stream, CONFIG, k, 1)
    assert found == [(4, 4), (3, 3), (2, 2), (1, 1)] * 3


def test_nothing_keeps_a_kernel_alive(launches, stream) -> None:
    """Code is unloaded with the last reference to its kernels, not at the next garbage collection."""
    gc.disable()
    try:
        k, code = kernel(launches, 8, 4), ObjectCode.from_cubin(b"")
        k._module = code
        launch(stream, CONFIG, k, 1, 2)
        run = prepare(stream, CONFIG, k, buffer(), 2)
        run(buffer(), 3)
        gone = weakref.ref(code)
        del code, k
        assert gone() is not None, "the prepared launch needs it"
        del run
        assert gone() is None
    finally:
        gc.enable()


def test_launches_are_text_that_tracebacks_can_show(launches, stream) -> None:
    import linecache

    k = kernel(launches, 8)
    launch(stream, CONFIG, k, 1)
    run = k._launch
    assert "launch_ex(" in "".join(linecache.getlines(run.__code__.co_filename, run.__globals__))


def test_nothing_is_kept_of_a_kernel_that_is_gone(launches, stream) -> None:
    """However many names there are: the text of a function goes with it."""
    import linecache

    def use(name):
        k = kernel(launches, 8)
        k.name = name
        launch(stream, CONFIG, k, 1)
        return weakref.ref(k._launch)

    use("first")
    before = len(linecache.cache)
    runs = [use(f"kernel_{i}") for i in range(20)]
    gc.collect()
    assert [run() for run in runs] == [None] * 20 and len(linecache.cache) == before
