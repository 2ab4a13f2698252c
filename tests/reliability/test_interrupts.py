"""Ctrl-C ends long waits in the main thread, and leaves everything usable."""

from __future__ import annotations

import itertools
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CellType, FrameType, FunctionType

import pytest

from cudapy._process.interrupt_safe import has_unchecked_entry
from tests.tiers import first

from .world import World, world

REPOSITORY = Path(__file__).parents[2]
PROGRAM = """
import signal, threading
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in what a shell runs in the background
from cudapy import driver, simulator
simulator.enable()
from cudapy.core import Device, graph
from cudapy._process.resets import resets
from cudapy.simulator.streams.work import Work

def wait_as_c_does(work, wait=Work.wait):
    late = []  # the handlers of Python run once C is back
    before = signal.signal(signal.SIGINT, lambda *_: late.append(True))
    wait(work)
    signal.signal(signal.SIGINT, before)
    if late:
        raise KeyboardInterrupt

Work.wait = wait_as_c_does
resets.is_possible = False  # so that core looks for Ctrl-C
device = Device(0); device.set_current()
stream = device.create_stream()
gate = threading.Event()
definition = graph.GraphDefinition()
definition.callback(gate.wait)
executable = definition.instantiate()
executable.launch(stream)
event = stream.record()
context = driver.checked.cuCtxGetCurrent()
try:
    print("waiting", flush=True)
    {wait}
    print("it did not wait")
except KeyboardInterrupt:
    print("interrupted")
assert driver.checked.cuCtxGetCurrent() == context and not event.is_done
gate.set()
stream.sync(); event.sync(); device.sync()
buffer = device.allocate(64, stream); buffer.fill(1, stream=stream); stream.sync()
print("goes on", event.is_done)
"""
WAITS = ["stream.sync()", "event.sync()", "device.sync()", "executable.launch(stream); stream.sync()"]
IGNORED = re.compile(  # what ctypes prints of a Ctrl-C that comes just as a simulated function begins
    r"Exception ignored .* ctypes callback function.*\nTraceback .*\n(  .*\n|\n)*KeyboardInterrupt: *\n+"
)


@pytest.mark.skipif(sys.platform == "win32", reason="signals differ there")
@pytest.mark.parametrize("wait", first(2, WAITS))
def test_a_wait_in_the_main_thread_ends(wait: str) -> None:
    """The work behind it goes on until it is let; without slices the wait would last as long, for ever."""
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM.format(wait=wait)],
        cwd=REPOSITORY,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None and process.stdout.readline() == "waiting\n"
        time.sleep(0.3)  # so that the wait has begun
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert (process.returncode, out) == (0, "interrupted\ngoes on True\n")
    assert err == "" or IGNORED.fullmatch(err)


WITHIN = """
import time
from cudapy import driver, simulator
from cudapy.simulator.library import provided

def interrupt():
    raise KeyboardInterrupt

simulator.enable()
driver.cuInit(0)
provided["driver"]["cuDriverGetVersion"] = interrupt
try:
    print(driver.cuDriverGetVersion())
except KeyboardInterrupt:
    print("interrupted")
time.sleep(0.1)  # no second one comes
print("goes on")
"""


def test_what_interrupts_a_simulated_function_is_raised_behind_the_call() -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHIN], cwd=REPOSITORY, capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stderr, done.stdout) == (0, "", "interrupted\ngoes on\n")


@pytest.fixture(scope="module")
def made() -> Iterator[World]:
    with world() as one:
        yield one


@pytest.fixture
def w(made: World) -> World:
    """The copy of these tests, as if nobody had captured yet."""
    made.settle()
    made.module("_core.ownership.captures").captures.may_be_active.clear()
    return made


class Interrupted:
    """Ctrl-C comes right after the first thing was put here, which is when Python looks for signals."""

    done = False

    def put(self, put: Callable[[object], None], thing: object) -> None:
        put(thing)
        if not self.done:
            self.done = True
            raise KeyboardInterrupt


class InterruptedList(Interrupted, list[object]):
    def append(self, thing: object) -> None:
        self.put(super().append, thing)


class InterruptedSet(Interrupted, set[object]):
    def add(self, thing: object) -> None:
        self.put(super().add, thing)


@pytest.mark.parametrize("name", first(1, ["beginning", "freeing", "may_be_active"]))
def test_what_is_noted_for_a_while_does_not_stay_noted(
    w: World, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else captures wait for ever, nothing is freed, or whatever is freed takes longer."""
    captures = w.module("_core.ownership.captures").captures
    stream = w.device.create_stream()
    pool = w.core.DeviceMemoryResource(0, w.core.DeviceMemoryResourceOptions())
    kept = w.device.create_graph_builder().begin_building()
    for free in (pool.allocate(64, stream).close, pool.allocate(64).close):
        begin = w.device.create_graph_builder().begin_building
        before = getattr(captures, name).copy()
        noted = InterruptedSet(before) if name == "may_be_active" else InterruptedList(before)
        monkeypatch.setattr(captures, name, noted)
        with pytest.raises(KeyboardInterrupt):
            (free if name == "freeing" else begin)()
        assert noted == before
    kept.end_building()


@pytest.mark.parametrize("again", first(1, ["state", "cuStreamEndCapture", "cuGraphDestroy"]))
def test_a_capture_is_given_up_though_ctrl_c_comes_again(
    w: World, again: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once as its beginning returns, and once more as `again` does, which ends it."""
    captures, stream = w.module("_core.ownership.captures"), w.device.create_stream()
    w.settle()
    before, begun, interrupted = w.alive(), [], []
    settled = captures.settled

    def beginning(function: Callable[..., object]) -> Callable[..., object]:
        def begin(*args: object) -> None:
            settled(function)(*args)
            begun.append(args)
            raise KeyboardInterrupt

        return begin

    def interrupt(function: Callable[..., object]) -> Callable[..., object]:
        def call(*args: object) -> object:
            result = function(*args)
            if begun and not interrupted:
                interrupted.append(again)
                raise KeyboardInterrupt
            return result

        return call

    monkeypatch.setattr(captures, "settled", beginning)
    owner = captures if again == "state" else captures.owning
    monkeypatch.setattr(owner, again, interrupt(getattr(owner, again)))
    builder = stream.create_graph_builder()
    with pytest.raises(KeyboardInterrupt):
        builder.begin_building()
    monkeypatch.undo()
    del builder
    assert interrupted == [again] and len(begun) == 1
    assert not captures.is_capturing(stream) and not captures.captures.beginning
    assert not w.leak(before)


class InterruptedEnd(list[object]):
    """Ctrl-C comes right after the last thing was taken from here."""

    def pop(self, _: object = -1) -> object:
        super().pop()
        raise KeyboardInterrupt


def test_a_capture_ends_though_ctrl_c_comes_once_it_has_begun(
    w: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Behind all that could have given it up."""
    captures, stream = w.module("_core.ownership.captures"), w.device.create_stream()
    w.settle()
    before = w.alive()
    monkeypatch.setattr(captures.captures, "beginning", InterruptedEnd())
    builder = stream.create_graph_builder()
    with pytest.raises(KeyboardInterrupt):
        builder.begin_building()
    monkeypatch.undo()
    del builder
    assert not captures.is_capturing(stream) and not captures.captures.may_be_active
    assert not w.leak(before)


class AtEntry:
    """Ctrl-C comes as Python enters function number `number` of core, where it looks for signals."""

    def __init__(self, core: Path, number: int) -> None:
        self._core, self.left = str(core), number

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        cells = tuple(CellType() for _ in code.co_freevars)
        if not code.co_filename.startswith(self._core) or has_unchecked_entry(
            FunctionType(code, {}, closure=cells)
        ):
            return
        self.left -= 1
        if not self.left:
            raise KeyboardInterrupt(code.co_qualname if sys.version_info >= (3, 11) else code.co_name)


def test_a_capture_ends_though_ctrl_c_comes_at_any_step_of_its_end(w: World) -> None:
    captures, stream = w.module("_core.ownership.captures"), w.device.create_stream()
    core, kernel = Path(captures.__file__).parents[1], w.code.get_kernel("add")
    came: list[str] = []
    before: Counter[str] | None = None
    for number in itertools.count():  # 0: it does not come, and what stays is made
        builder = stream.create_graph_builder().begin_building()
        w.core.launch(builder, w.core.LaunchConfig(grid=1, block=1), kernel, w.device.allocate(4), 1)
        traced, step = sys.gettrace(), AtEntry(core, number)
        sys.settrace(step)
        try:
            builder.end_building()
        except KeyboardInterrupt as error:
            came.append(str(error))
        finally:
            sys.settrace(traced)
        del builder
        assert not captures.is_capturing(stream) and not captures.captures.may_be_active, came[-1:]
        w.settle()
        before = before or w.alive()
        assert not w.leak(before), came[-1:]
        if step.left > 0:
            break
    assert len(came) > 4


def test_a_capture_of_others_is_left_alone(w: World) -> None:
    """What could not begin, as the stream captures already, ends nothing."""
    captures, stream = w.module("_core.ownership.captures"), w.device.create_stream()
    w.driver.checked.cuStreamBeginCapture(stream.handle, 2)
    with pytest.raises(w.core.CUDAError):
        stream.create_graph_builder().begin_building()
    assert captures.is_capturing(stream)
    w.driver.checked.cuStreamEndCapture(stream.handle)


def test_a_stream_is_given_back_once_though_its_owner_is_never_seen(
    w: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    reports: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda args: reports.append(args.exc_value))
    stream = w.module("_core.streams.stream")
    made = stream._created

    def interrupt(flags: int, priority: int) -> None:
        made(flags, priority)
        raise KeyboardInterrupt

    w.device.create_stream()
    w.settle()
    before = w.alive()
    monkeypatch.setattr(stream, "_created", interrupt)
    with pytest.raises(KeyboardInterrupt):
        w.device.create_stream(options=stream.StreamOptions())  # with options, it is a step of Python
    monkeypatch.setattr(stream, "_created", made)
    assert not w.leak(before) and reports == []
