"""Ctrl-C at any moment: nothing is lost, nothing is given back twice, and the program hears of it."""

from __future__ import annotations

import functools
import os
import sys
import threading
import traceback
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.stub import python
from tests.tiers import first

from .scenarios import SCENARIOS
from .world import World, world

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals differ there")


@pytest.fixture(scope="module")
def w() -> Iterator[World]:
    with world() as made:
        yield made


class Interrupting:
    """Ctrl-C comes as the C function returns that is called as number `call`; 0: never. Counts calls."""

    def __init__(self, w: World, call: int) -> None:
        self.left, self.names = call, []  # type: tuple[int, list[str]]
        self.came = ""
        self._active = w.module("simulator.refused").failing
        self._errors = w.module("simulator.interrupts").errors

    def before(self, symbol: str) -> None:
        """What the simulator calls as a function begins."""
        if threading.current_thread() is not threading.main_thread() or symbol.startswith("nv"):
            return  # signals come to the main thread alone; compilers are no simulated functions
        if is_the_programs_own():
            return
        self.names.append(symbol)
        self.left -= 1
        if not self.left:
            self.came = symbol
            self._errors.append(KeyboardInterrupt(f"as {symbol} returns"))

    def __enter__(self) -> Interrupting:
        self._active.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def end(self) -> None:
        """Once more after the `with` block, at the end of which Ctrl-C may come too."""
        if self in self._active:
            self._active.remove(self)


@pytest.fixture
def reports(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What was raised where nobody hears of it."""
    found: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda args: found.append(args.exc_value))
    return found


def mode(w: World) -> int:
    """The capture mode of this thread."""
    found = int(w.driver.checked.cuThreadExchangeStreamCaptureMode(2))
    w.driver.checked.cuThreadExchangeStreamCaptureMode(found)
    return found


def is_the_programs_own() -> bool:
    """Whether a scenario allocates or frees by itself, by `driver` or `deallocate`: that is its own."""
    frame = sys._getframe()
    while frame.f_back is not None and not _is_of_a_scenario(frame.f_back.f_code.co_filename):
        frame = frame.f_back
    file = frame.f_code.co_filename
    is_called_through_a_lane = "simulator" in Path(file).parts  # no function of Python is in between
    is_a_function_of_driver = file.startswith("<cudapy ") or is_called_through_a_lane
    return is_a_function_of_driver or frame.f_code.co_name == "deallocate"


@functools.cache
def _is_of_a_scenario(file: str) -> bool:
    return Path(file).parent.name == "scenarios"


@pytest.mark.thorough
@pytest.mark.parametrize("name", SCENARIOS)
def test_nothing_is_lost_as_any_c_function_returns(w: World, reports: list[Any], name: str) -> None:
    scenario = SCENARIOS[name]
    try:
        scenario(w)
    except w.module("pathfinder").LibraryNotFound as error:
        pytest.skip(str(error).splitlines()[0])
    w.settle()
    number, came = 0, 1
    while came:
        number += 1
        before, stack, came, files = w.alive(), w.stack(), 0, open_files()
        try:
            with Interrupting(w, number) as calls:
                scenario(w)
        except KeyboardInterrupt as error:
            came += 1
            traceback.clear_frames(error.__traceback__)
        calls.end()
        where = f"call {number}, {calls.came}"
        assert came == bool(calls.came), where
        assert w.stack() == stack and mode(w) == 0, where
        more = w.leak(before)
        assert not more, where
        assert open_files() == files, where
        assert reports == [], where
    scenario(w)


ADDED = {
    "launch": lambda w, place: place.launch(w.core.LaunchConfig(1, block=1, is_cooperative=True), w.nothing),
    "join": lambda w, place: place.join(),
    "memset": lambda w, place: place.memset(w.device.allocate(64), 1, 64),
    "memcpy": lambda w, place: place.memcpy(bytearray(4), bytearray(4), 4),
    "record": lambda w, place: place.record(w.device.create_event()),
    "wait": lambda w, place: place.wait(w.device.create_event()),
    "callback": lambda w, place: place.callback(print),
}
"""How nodes are added to a graph."""


@pytest.mark.parametrize("name", [*ADDED, "embed", "if_then"])
def test_a_node_is_added_with_what_belongs_to_it_or_not_at_all(w: World, name: str) -> None:
    """One that nobody hears of would run, perhaps without what it uses."""
    definition, child = w.core.graph.GraphDefinition(), w.core.graph.GraphDefinition()
    place, condition = definition.empty(), definition.create_condition(0)
    others = {"embed": lambda *_: place.embed(child), "if_then": lambda *_: place.if_then(condition)}
    add = {**ADDED, **others}[name]
    number, came = 0, True
    while came:
        number, came = number + 1, False
        calls = Interrupting(w, number)
        try:
            with calls:
                add(w, place)
        except KeyboardInterrupt as error:
            came = True
            traceback.clear_frames(error.__traceback__)
        calls.end()
        nodes = w.driver.checked.cuGraphGetNodes(definition.handle)[1]
        assert nodes == 2 - came, f"call {number}, {calls.came}"
    assert number > 1


def test_a_node_that_cannot_be_destroyed_keeps_what_it_uses(w: World) -> None:
    """As CUDA refuses where a node allocates memory."""
    definition = w.core.graph.GraphDefinition()
    place, called = definition.allocate(64), []
    function = weakref.ref(append := lambda: called.append(1))
    with pytest.raises(KeyboardInterrupt) as caught, Interrupting(w, 1) as calls:
        place.callback(append)
    traceback.clear_frames(caught.value.__traceback__)
    del append, caught
    assert calls.came == "cuGraphAddHostNode"
    definition.instantiate().launch(w.device.default_stream)
    w.settle()
    assert called == [1] and function() is not None


def open_files() -> int:
    """How many file descriptors the process has, where that can be seen."""
    return len(os.listdir("/proc/self/fd")) if Path("/proc/self/fd").is_dir() else 0


COLLECTED = """
import gc, os, signal, sys, threading, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in what a shell runs in the background
from cudapy import simulator
from cudapy.core import *
device = Device(0); device.set_current()
stream = device.create_stream()
device.allocate(64, stream).close()
def garbage():
    cycles = [[] for _ in range(100_000)]  # it takes a while to collect them
    for cycle in cycles: cycle.append(cycle)
    things = device.allocate(64, stream), device.allocate(64), device.create_event(), device.create_stream()
    for thing in things:
        cycle = [thing]; cycle.append(cycle)
from cudapy._core.ownership.captures import captures
before, heard = simulator.alive(), 0
gc.disable()
for number in range(COUNT):
    garbage()
    stop = False
    def send():
        while not (captures.may_be_active or stop): pass  # the collector is at work
        time.sleep(number * 5e-4)
        os.kill(os.getpid(), signal.SIGINT)
    sender = threading.Thread(target=send)
    try:
        sender.start()
        gc.collect()
        stop = True
        sender.join()
        time.sleep(1)
    except KeyboardInterrupt:
        heard += 1
    stop = True
    sender.join()
gc.collect(); device.sync()
more = {name: n for name, n in simulator.alive().items() if n > before.get(name, 0)}
print(heard, {name: n for name, n in more.items() if name != "event"})  # one is kept to be recorded again
"""


def test_the_program_hears_of_what_comes_during_a_collection() -> None:
    """No Python function is among the collector's callbacks, and finalizers finish first."""
    count = 10
    done = python(COLLECTED.replace("COUNT", str(count)), CUDAPY_DRIVER="simulator")
    assert (done.returncode, done.stderr, done.stdout) == (0, "", f"{count} {{}}\n")


AT_THE_FINALIZER = """
import ctypes, gc, signal
heard = []
def interrupt(*_):
    heard.append(1)
    if len(heard) == 1:  # the collector calls `send` as it begins and as it ends
        raise KeyboardInterrupt
signal.signal(signal.SIGINT, interrupt)
from cudapy import simulator
from cudapy.core import *
device = Device(0); device.set_current()
stream = device.create_stream()
device.allocate(64, stream).close()  # the pool of the device stays
before = simulator.alive()
send = ctypes.pythonapi.PyErr_SetInterrupt  # a function of C: Python does not look for signals behind it
send.argtypes, send.restype = [ctypes.py_object] * 2, None
gc.disable()
thing = THING
cycle = [thing]; cycle.append(cycle); del thing, cycle
gc.callbacks.append(send)
try:
    gc.collect()
    print("nothing was raised")
except KeyboardInterrupt:
    pass
gc.callbacks.remove(send)
device.sync()
print(simulator.alive() == before)
"""


@pytest.mark.parametrize(
    "thing",
    first(
        2,
        [
            "device.allocate(64, stream)",
            "device.allocate(64)",
            "device.create_event()",
            "device.create_stream()",
            "device.create_graph_builder()",
            "DeviceMemoryResource(device, dict(max_size=1 << 21))",
        ],
    ),
)
def test_what_has_come_before_a_finalizer_is_raised_behind_it(thing: str) -> None:
    """It is not lost in the `__del__`, and neither is what the `__del__` has to do."""
    done = python(AT_THE_FINALIZER.replace("THING", thing), CUDAPY_DRIVER="simulator")
    assert (done.returncode, done.stderr, done.stdout) == (0, "", "True\n")


def test_ctrl_c_that_comes_again_before_the_first_is_handled() -> None:
    """Neither is lost to sys.unraisablehook, and what was to be released is."""
    code = """
import sys
from cudapy._core.ownership.owned import Ownership
from cudapy._process.interrupt_safe import later
from cudapy.driver import CUevent
first, calls, reports = KeyboardInterrupt("first"), [], []
sys.unraisablehook = reports.append

def destroy(handle):
    calls.append(handle)
    if len(calls) == 1:  # the second is on its way as the first is raised
        later.noted = KeyboardInterrupt("second")
        later.armed
        raise first

owner = Ownership(destroy, CUevent(5))
try:
    del owner
    for _ in range(3):
        pass
except KeyboardInterrupt as error:
    print(error, len(calls), reports)
"""
    done = python(code)
    assert (done.stdout, done.stderr) == ("second 2 []\n", "")


def test_nothing_in_python_is_called_as_a_collection_begins_or_ends() -> None:
    asked = """
from cudapy import core
import gc, sys
called = []
gc.collect()
sys.setprofile(lambda frame, event, _: called.append(frame) if event == "call" else None)
gc.collect()
sys.setprofile(None)
print(called)
"""
    done = python(asked)
    assert (done.returncode, done.stderr, done.stdout) == (0, "", "[]\n")


def test_what_goes_after_the_modules_says_nothing() -> None:
    """At exit Python takes modules apart, and then drops what `sys` still has."""
    kept = """
import sys
from cudapy.core import Device
device = Device(0); device.set_current()
things = device.create_stream(), device.create_event(), device.allocate(64), device.create_graph_builder()
sys.unraisablehook = lambda unraised, things=things: sys.__unraisablehook__(unraised)
del things, device
"""
    done = python(kept, CUDAPY_DRIVER="simulator")
    assert (done.returncode, done.stderr, done.stdout) == (0, "", "")
