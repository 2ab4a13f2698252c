"""Ctrl-C during garbage collection, and what is finalized at exit."""

from __future__ import annotations

import sys

import pytest

from tests.stub import python

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals differ there")


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
from cudapy._core.captures import possible
heard = 0
gc.disable()
for number in range(COUNT):
    garbage()
    stop = False
    def send():
        while not (possible or stop): pass  # the collector is at work
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
print(heard)
"""


def test_the_program_hears_of_what_comes_during_a_collection() -> None:
    """The callbacks of the collector are C; what comes in a finalizer is raised behind it."""
    count = 10
    done = python(COLLECTED.replace("COUNT", str(count)), CUDAPY_DRIVER="simulator")
    assert (done.returncode, done.stderr, done.stdout) == (0, "", f"{count}\n")


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
    [
        "device.allocate(64, stream)",
        "device.allocate(64)",
        "device.create_event()",
        "device.create_stream()",
        "device.create_graph_builder()",
        "DeviceMemoryResource(device, dict(max_size=1 << 21))",
    ],
)
def test_what_has_come_before_a_finalizer_is_raised_behind_it(thing: str) -> None:
    """It is not lost in the `__del__`, and neither is what the `__del__` has to do."""
    done = python(AT_THE_FINALIZER.replace("THING", thing), CUDAPY_DRIVER="simulator")
    assert (done.returncode, done.stderr, done.stdout) == (0, "", "True\n")


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
