"""prepare on a driver that counts: every byte of a graph's kernel, and what goes through `launch` instead."""

from __future__ import annotations

import ctypes
import gc
import linecache
import struct
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from .fake_driver import GLOBAL, INVALID_CONTEXT, Capture, FakeDriver, faked, put
from .test_launch import ARGUMENTS

NODE_PARAMS = struct.Struct("=Q7I4xQQQQ")  # CUDA_KERNEL_NODE_PARAMS
FUNCTION, CONTEXT = 0x77, 0xC0
REFUSED = 400


class Driver:
    """The functions for graphs and launches, put onto a FakeDriver; and what they were given.

    runs: (executable, stream, the values of its kernel) of each run. launches: the values of each launch.
    """

    def __init__(self, fake: FakeDriver) -> None:
        self.fake = fake
        self.sizes: tuple[int, ...] = ()
        self.nodes: dict[int, int] = {}  # the graph of a node
        self.set: dict[int, list[bytes]] = {}  # the values of an executable
        self.shapes: list[tuple[int, ...]] = []
        self.runs: list[tuple[int, int, list[bytes]]] = []
        self.launches: list[list[bytes]] = []
        self.refused = self.launch_status = 0
        self.during: Any = None
        for name in dir(self):
            if name.startswith("cu"):
                setattr(fake, name, getattr(self, name))

    def make(self, kind: str, where: Any) -> int:
        number = next(self.fake.numbers)
        put(where, number)
        self.fake.alive.add((kind, number))
        return number

    def destroy(self, kind: str, number: int) -> int:
        if (kind, number) not in self.fake.alive:
            self.fake.wrong.append(f"{kind} {number:#x} is not alive")
            return 1
        self.fake.alive.discard((kind, number))
        return 0

    def values(self, table: int) -> list[bytes]:
        if not self.sizes:
            return []
        pointers = (ctypes.c_void_p * len(self.sizes)).from_address(table)
        return [ctypes.string_at(at or 0, size) for at, size in zip(pointers, self.sizes, strict=True)]

    def cuGraphCreate(self, arguments: Any, values: Any) -> int:
        self.make("graph", arguments[0])
        return 0

    def cuGraphAddKernelNode_v2(self, arguments: Any, values: Any) -> int:
        node = next(self.fake.numbers)
        put(arguments[0], node)
        self.nodes[node] = values[1]
        return 0

    def cuGraphInstantiateWithFlags(self, arguments: Any, values: Any) -> int:
        if self.fake.contexts[-1:] != [CONTEXT]:
            return INVALID_CONTEXT
        self.make("executable", arguments[0])
        return 0

    def cuGraphExecKernelNodeSetParams_v2(self, arguments: Any, values: Any) -> int:
        executable, node, at = values
        found = NODE_PARAMS.unpack(ctypes.string_at(at, NODE_PARAMS.size))
        assert ("graph", self.nodes[node]) in self.fake.alive and (
            "executable",
            executable,
        ) in self.fake.alive
        function, table, extra, kernel, context = found[0], *found[8:]
        assert (function, extra, kernel, context) == (0, 0, FUNCTION, CONTEXT)
        self.shapes.append(found[1:8])
        if self.refused == 1:
            return REFUSED
        self.set[executable] = self.values(table)
        return 0

    def cuGraphLaunch(self, arguments: Any, values: Any) -> int:
        executable, stream = values
        assert ("executable", executable) in self.fake.alive
        if self.refused == 2:
            return REFUSED
        if self.during is not None:
            self.during()
        self.runs.append((executable, stream, self.set.get(executable, [])))
        return 0

    def cuGraphExecDestroy(self, arguments: Any, values: Any) -> int:
        return self.destroy("executable", values[0])

    def cuGraphDestroy(self, arguments: Any, values: Any) -> int:
        return self.destroy("graph", values[0])

    def cuLaunchKernelEx(self, arguments: Any, values: Any) -> int:
        if self.launch_status:
            return self.launch_status
        self.launches.append(self.values(ctypes.addressof(arguments[2]._obj)) if self.sizes else [])
        return 0


@pytest.fixture(scope="module")
def copy() -> Iterator[SimpleNamespace]:
    with faked() as (fake, of):
        yield SimpleNamespace(
            fake=fake,
            core=of("core"),
            kernel=of("_core.kernels.kernel"),
            captures=of("_core.ownership.captures"),
            driver=of("driver"),
            lanes=of("_ffi.lanes"),
            launch_lane=of("_core.kernels.launch_lane"),
        )


@pytest.fixture
def world(copy: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> Iterator[SimpleNamespace]:
    """A stream, a configuration, and kernels with parameters of any sizes."""
    monkeypatch.delenv("CUDA_LAUNCH_BLOCKING", raising=False)
    fake, core = copy.fake, copy.core
    fake.reset()
    fake.contexts[:] = [CONTEXT]
    core.Device(0).set_current()
    copy.captures.captures.may_be_active.clear()
    made = SimpleNamespace(fake=fake, core=core, driver=Driver(fake), captures=copy.captures)

    def kernel(*sizes: int) -> Any:
        found = copy.kernel.Kernel(copy.kernel.CUkernel(FUNCTION), "k", None)
        offset, parameters = 0, []
        for size in sizes:
            offset = -(-offset // min(size, 8)) * min(size, 8)
            parameters.append((offset, size))
            offset += size
        found._parameters_known = parameters
        made.driver.sizes = sizes
        return found

    made.kernel = kernel
    made.stream = core.Device(0).create_stream()
    made.config = core.LaunchConfig(grid=(4, 5), block=(32, 2, 3), shmem_size=7)
    made.prepare = lambda k, *args: core.prepare(made.stream, made.config, k, *args)
    yield made
    del made.stream
    gc.collect()
    assert fake.wrong == []


def alive(world: SimpleNamespace) -> list[str]:
    return sorted(kind for kind, _ in world.fake.alive if kind in ("graph", "executable"))


OF_NO_PACKAGE = [case for case in ARGUMENTS if type(case[1]).__module__.split(".")[0] != "cudapy"]


@pytest.mark.parametrize(
    ("size", "value", "expected"), OF_NO_PACKAGE, ids=[f"{c[0]}-{type(c[1]).__name__}" for c in OF_NO_PACKAGE]
)
def test_a_value_arrives(world, size, value, expected) -> None:
    run = world.prepare(world.kernel(4, size, 1), 17, value, 3)
    assert world.driver.runs == [], "prepare launches nothing"
    for first in (17, 18):
        run(first, value, 3)
    wanted = [[struct.pack("i", first), expected, b"\3"] for first in (17, 18)]
    assert [values for _, _, values in world.driver.runs] == wanted and not world.driver.launches
    assert {stream for _, stream, _ in world.driver.runs} == {int(world.stream.handle)}
    assert world.driver.shapes == [(4, 5, 1, 32, 2, 3, 7)] * 2


def test_a_kernel_without_arguments(world) -> None:
    run = world.prepare(world.kernel())
    run()
    run()
    assert [values for _, _, values in world.driver.runs] == [[], []] and world.driver.shapes == []
    with pytest.raises(TypeError, match=r"takes 0 positional arguments but 1 was given"):
        run(1)


def test_other_types_are_launched(world) -> None:
    run = world.prepare(world.kernel(4, 8), 1, 2)
    run(3, 4)
    run(np.float32(0.5), 5)
    run(6, 7)
    packed = [struct.pack("iq", *two) for two in ((3, 4), (6, 7))]
    assert [b"".join(values) for _, _, values in world.driver.runs] == [p[:4] + p[8:] for p in packed]
    assert world.driver.launches == [[struct.pack("f", 0.5), struct.pack("q", 5)]]
    for wrong, error in (((2**40, 1), OverflowError), ((1,), TypeError), (("text", 1), TypeError)):
        with pytest.raises(error):
            run(*wrong)
    assert len(world.driver.runs) == 2 and len(world.driver.launches) == 1
    run(8, 9)
    assert world.driver.runs[-1][2] == [struct.pack("i", 8), struct.pack("q", 9)]
    assert len({executable for executable, _, _ in world.driver.runs}) == 1, "no error costs the graph"


def test_the_configuration_is_that_of_the_preparation(world, monkeypatch) -> None:
    """Whether it is a graph that runs, or a launch."""
    launched = []

    def launch(arguments: Any, values: Any) -> int:
        launched.append(struct.unpack_from("=I", arguments[0])[0])
        return 0

    run = world.prepare(world.kernel(4), 1)
    world.config.grid = 9
    monkeypatch.setattr(world.fake, "cuLaunchKernelEx", launch)
    run(2)
    run(np.float32(2))
    assert [shape[0] for shape in world.driver.shapes] == [4] and launched == [4]
    world.prepare(world.kernel(4), 1)(2)
    assert world.driver.shapes[-1][0] == 9


@pytest.mark.parametrize("refused", [1, 2], ids=["the arguments", "the run"])
def test_what_a_graph_cannot_is_launched(world, refused) -> None:
    """Or says why not, with all that an error of `launch` says."""
    run = world.prepare(world.kernel(4), 1)
    world.driver.refused = refused
    run(5)
    assert world.driver.launches == [[struct.pack("i", 5)]] and world.driver.runs == []
    world.driver.launch_status = 719
    with pytest.raises(world.core.CUDAError, match="kernel='k'") as caught:
        run(6)
    assert caught.value.function == "cuLaunchKernelEx" and caught.value.name == "CUDA_ERROR_LAUNCH_FAILED"
    world.driver.refused = world.driver.launch_status = 0
    run(7)
    assert [values for _, _, values in world.driver.runs] == [[struct.pack("i", 7)]]


def test_every_call_of_preparing_fails_once(world) -> None:
    """Then it is launched, and nothing is left behind."""
    kernel = world.kernel(4)
    world.prepare(kernel, 1)
    world.fake.calls.clear()
    world.prepare(kernel, 1)
    needed = len(world.fake.calls)
    assert needed >= 3
    made = 0
    for number in range(1, needed + 1):
        world.fake.calls.clear()
        world.fake.fail_at = number
        run = world.prepare(kernel, 1)
        world.fake.fail_at = 0
        made += len(alive(world)) == 2
        run(number)
        ran = [values for _, _, values in world.driver.runs] + world.driver.launches
        assert ran == [[struct.pack("i", number)]], number
        world.driver.runs.clear()
        world.driver.launches.clear()
        del run
        world.fake.alive -= world.fake.refused
        assert alive(world) == [], number
    assert made < needed, "some of them count"


def test_a_stream_that_is_captured(world) -> None:
    """Its kernels are recorded. Where none can be captured, nobody asks."""
    run = world.prepare(world.kernel(4), 1)
    world.fake.calls.clear()
    run(2)
    assert world.fake.calls == ["cuGraphExecKernelNodeSetParams_v2", "cuGraphLaunch"]
    world.captures.captures.may_be_active.add("one")
    run(3)
    world.fake.capturing.add(int(world.stream.handle))
    run(4)
    world.fake.capturing.clear()
    run(5)
    assert [values for _, _, values in world.driver.runs] == [[struct.pack("i", i)] for i in (2, 3, 5)]
    assert world.driver.launches == [[struct.pack("i", 4)]]


@pytest.mark.parametrize(
    "known", [lambda s: s.handle, lambda s: s.__cuda_stream__()], ids=["handle", "protocol"]
)
def test_a_stream_that_others_know_is_asked(world, known) -> None:
    run = world.prepare(world.kernel(4), 1)
    address = world.stream._address
    world.fake.capturing.add(address)
    known(world.stream)
    run(2)
    world.fake.capturing.clear()
    assert world.driver.launches == [[struct.pack("i", 2)]] and world.driver.runs == []


def test_a_capture_elsewhere_is_not_spoiled(world) -> None:
    """Neither by preparing nor by letting go, which both use what captures forbid."""
    capture = world.fake.captures[0x9999] = Capture(1, GLOBAL)
    world.captures.captures.may_be_active.add("it")
    run = world.prepare(world.kernel(4), 1)
    run(2)
    assert alive(world) == ["executable", "graph"]
    del run
    gc.collect()
    assert alive(world) == []
    assert capture.spoiled == "" and len(world.driver.runs) == 1


def test_launches_at_the_same_time_have_a_graph_each(world) -> None:
    """Those begun while another one is in the driver, as by a signal handler; later these are used again."""
    runs, depth = [world.prepare(world.kernel(4), 1)], 0

    def again() -> None:
        nonlocal depth
        depth += 1
        if depth < 3:
            runs[0](10 + depth)

    world.driver.during = again
    for _ in range(2):
        depth = 0
        runs[0](10)
        found = [values for _, _, values in world.driver.runs]
        assert found == [[struct.pack("i", value)] for value in (12, 11, 10)]
        assert len({executable for executable, _, _ in world.driver.runs}) == 3
        world.driver.runs.clear()
    assert alive(world) == ["executable"] * 3 + ["graph"] * 3
    runs.clear()
    assert alive(world) == []


@pytest.mark.parametrize("contexts", [[], [0xD0]], ids=["none", "another"])
def test_the_callers_context_does_not_matter(world, contexts) -> None:
    """It is that of the stream; and the caller's is left as found."""
    world.fake.contexts[:] = contexts
    runs = [world.prepare(world.kernel(4), 1)]

    def again() -> None:
        world.driver.during = None
        runs[0](3)

    world.driver.during = again
    runs[0](2)
    assert len({executable for executable, _, _ in world.driver.runs}) == 2
    assert world.fake.contexts == contexts and world.driver.launches == []


def test_the_default_stream_is_that_of_the_current_context(world) -> None:
    core = world.core
    for stream in (None, core.LEGACY_DEFAULT_STREAM):
        run = core.prepare(stream, world.config, world.kernel(4), 1)
        run(2)
        assert world.driver.runs.pop()[1:] == (1, [struct.pack("i", 2)])
        for contexts in ([0xD0], []):
            world.fake.contexts[:] = contexts
            run(3)
            assert world.driver.launches.pop() == [struct.pack("i", 3)]
        world.fake.contexts[:] = [CONTEXT]
        assert world.driver.runs == []


@pytest.mark.parametrize("blocking", ["", "0", "1"])
def test_what_has_no_graph(world, monkeypatch, blocking) -> None:
    """A stream that is another one in each thread; a kernel that may begin before the one ahead has ended;
    launches that wait.
    """
    monkeypatch.setenv("CUDA_LAUNCH_BLOCKING", blocking)
    core, kernel = world.core, world.kernel(4)
    early = core.LaunchConfig(grid=1, block=1, programmatic_stream_serialization=True)
    for stream, config in ((core.PER_THREAD_DEFAULT_STREAM, world.config), (world.stream, early)):
        core.prepare(stream, config, kernel, 1)(2)
        assert world.driver.launches.pop() == [struct.pack("i", 2)]
        assert alive(world) == [] and world.driver.runs == []
    world.prepare(kernel, 1)(2)
    assert len(world.driver.launches) == (blocking == "1")
    assert len(world.driver.runs) == (blocking != "1")


def test_it_keeps_its_kernel_and_stream_and_nothing_keeps_it(world) -> None:
    gc.disable()
    try:
        run = world.prepare(world.kernel(4), 1)
        world.stream = None
        run(2)
        assert len(world.driver.runs) == 1
        assert alive(world) == ["executable", "graph"]
        del run
        assert alive(world) == [], "with its last reference, without the collector"
    finally:
        gc.enable()


def test_a_closed_stream(world) -> None:
    run = world.prepare(world.kernel(4), 1)
    world.stream.close()
    with pytest.raises(RuntimeError, match="this Stream is closed"):
        run(2)
    with pytest.raises(RuntimeError, match="this Stream is closed"):
        world.prepare(world.kernel(4), 1)
    assert world.driver.runs == world.driver.launches == []


@pytest.fixture
def in_c(world: SimpleNamespace, copy: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The functions that a run calls as C functions, so that it has a lane; the names of those called."""
    if reason := copy.lanes.why_not():
        pytest.skip(f"no fast lane: {reason}")
    calls: list[str] = []
    library = copy.driver.libcuda

    def current(to: int) -> int:
        ctypes.c_uint64.from_address(to).value = world.fake.contexts[-1] if world.fake.contexts else 0
        return 0

    def capturing(stream: int, to: int) -> int:
        ctypes.c_int.from_address(to).value = stream in world.fake.capturing
        return 0

    def thunk(name: str, count: int, function: Any) -> Any:
        def noting(*values: int) -> int:
            calls.append(name)
            return int(function(*values))

        return ctypes.CFUNCTYPE(ctypes.c_int, *[ctypes.c_void_p] * count)(noting)

    made = world.driver
    library.function("cuGraphLaunch")  # finds those of this library
    for name, count, function in (
        ("cuCtxGetCurrent", 1, current),
        ("cuGraphExecKernelNodeSetParams_v2", 3, lambda *v: made.cuGraphExecKernelNodeSetParams_v2(None, v)),
        ("cuStreamIsCapturing", 2, capturing),
        ("cuGraphLaunch", 2, lambda *v: made.cuGraphLaunch(None, (v[0], v[1] or 0))),
    ):
        monkeypatch.setitem(library._found, name, thunk(name, count, function))
    return calls


def without_python(run: Any) -> None:
    """Have a run that goes through Python fail."""
    assert "lane" in run.__globals__
    run.__globals__["pop"] = None


@pytest.mark.parametrize(
    ("size", "value", "expected"), OF_NO_PACKAGE, ids=[f"{c[0]}-{type(c[1]).__name__}" for c in OF_NO_PACKAGE]
)
def test_a_run_takes_no_step_of_python(world, in_c, size, value, expected) -> None:
    run = world.prepare(world.kernel(4, size, 1), 17, value, 3)
    if "lane" in run.__globals__ and not (type(value) is int and value >> 60 not in (0, -1)):
        without_python(run)
    for first in (17, 18):
        assert run(first, value, 3) is None
    wanted = [[struct.pack("i", first), expected, b"\3"] for first in (17, 18)]
    assert [values for _, _, values in world.driver.runs] == wanted
    assert in_c == ["cuGraphExecKernelNodeSetParams_v2", "cuGraphLaunch"] * 2


def test_a_run_without_arguments_sets_none(world, in_c) -> None:
    run = world.prepare(world.kernel())
    without_python(run)
    run()
    run()
    assert in_c == ["cuGraphLaunch"] * 2
    with pytest.raises(TypeError):
        run(1)


def test_what_a_lane_leaves_to_python(world, in_c) -> None:
    """A capture, a graph in use, failures, other types, a tool that watches, a closed stream."""
    run = world.prepare(world.kernel(4), 1)
    run(2)
    reasons = world.captures.captures.may_be_active
    reasons.add("a reason")
    world.fake.capturing.add(int(world.stream.handle))
    run(1)
    world.fake.capturing.clear()
    run(3)
    assert "cuStreamIsCapturing" in in_c
    reasons.clear()
    world.driver.during = lambda: setattr(world.driver, "during", None) or run(4)
    run(5)
    run(np.int32(6))
    for world.driver.refused in (1, 2):
        run(7)
    world.driver.refused = 0
    run(8)
    found = [struct.unpack("i", values[0])[0] for _, _, values in world.driver.runs]
    launched = [struct.unpack("i", values[0])[0] for values in world.driver.launches]
    assert (found, launched) == ([2, 3, 4, 5, 8], [1, 6, 7, 7])
    world.stream.close()
    with pytest.raises(RuntimeError, match="this Stream is closed"):
        run(9)


def test_the_current_context_is_asked_for_the_default_stream(world, in_c) -> None:
    run = world.core.prepare(world.core.Device(0).default_stream, world.config, world.kernel(4), 1)
    without_python(run)
    run(2)
    assert in_c == ["cuCtxGetCurrent", "cuGraphExecKernelNodeSetParams_v2", "cuGraphLaunch"]


def test_places_in_executable_memory_are_used_again(world, in_c, copy) -> None:
    kernel = world.kernel(4)
    runs = [world.prepare(kernel, 1) for _ in range(3)]
    free = copy.launch_lane._prepared()._free
    before = len(free)
    for i in range(300):
        run = world.prepare(kernel, 1)
        assert len(free) == before - 1
        run(i)
        del run
        assert len(free) == before
    for run in runs:
        run(7)
    assert [struct.unpack("i", values[0])[0] for _, _, values in world.driver.runs] == [*range(300), 7, 7, 7]


def test_it_is_text_that_tracebacks_can_show(world) -> None:
    run = world.prepare(world.kernel(4), 1)
    assert "run_graph(" in "".join(linecache.getlines(run.__code__.co_filename, run.__globals__))
