"""Processes that get SIGINT at random moments: none hangs, each hears of it, and none has anything left."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from .world import PTX

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.skipif(sys.platform == "win32", reason="signals differ there"),
]
REPOSITORY = Path(__file__).parents[2]
PROCESSES = int(os.environ.get("CUDAPY_INTERRUPTED_PROCESSES", "6"))
SIGNALS = 15  # for each
HANG = 120  # seconds
PROGRAM = f"""
import faulthandler, gc, signal, sys, time
faulthandler.register(signal.SIGUSR1)
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in what a shell runs in the background
reports = []
sys.unraisablehook = lambda unraised: reports.append((unraised.object, unraised.exc_value))
from cudapy import simulator
from cudapy._core.ownership.deferred import deferred
from cudapy._core.streams.event import _spare
from cudapy.core import *
PTX = {PTX!r}
"""
PROGRAM += """
simulator.enable(reports=False)
device = Device(0); device.set_current()
add = ObjectCode.from_ptx(PTX).get_kernel("add")
one = LaunchConfig(grid=1, block=32)
def work():
    stream = device.create_stream()
    buffer, other = device.allocate(128, stream), device.allocate(128)
    buffer.fill(0, stream=stream)
    pinned = LegacyPinnedMemoryResource().allocate(128)
    launch(stream, one, add, buffer, 1)
    pinned.copy_from(buffer, stream=stream)
    cycle = [buffer, stream, stream.record(), device.create_event()]; cycle.append(cycle)
    builder = stream.create_graph_builder().begin_building()
    launch(builder, one, add, buffer, 1)
    builder.end_building().complete().launch(stream)
    pool = DeviceMemoryResource(0, DeviceMemoryResourceOptions()); pool.allocate(64, stream); pool.close()
    VirtualMemoryResource(0).allocate(64).close()
    ObjectCode.from_ptx(PTX).get_kernel("nothing")
    stream.sync()
    buffer.close()
def alive():
    for _ in range(2):
        gc.collect(); device.sync(); deferred.drain(); deferred.retry()
    found = simulator.alive()
    found["event"] = found.get("event", 0) - sum(map(len, _spare.values()))
    return found
def left():
    return {name: n for name, n in alive().items() if n > before.get(name, 0)}
for _ in range(3): work()
before, heard, sent = alive(), 0, {}
signal.signal(signal.SIGUSR2, sent.__setitem__)  # not in Python: a SIGINT that comes late would interrupt it
is_ready = False
def working(depth):
    # Ctrl-C may come in the handling of Ctrl-C
    global heard, is_ready
    while not sent:
        try:
            if depth: working(depth - 1)
            elif is_ready: work()
            else:
                is_ready = True
                print("ready", flush=True)
        except KeyboardInterrupt:
            heard += 1
    signal.signal(signal.SIGINT, signal.SIG_IGN)
working(8)
sent.clear()  # of the frame that the signal came in
signal.signal(signal.SIGINT, signal.default_int_handler)
work()
end = time.monotonic() + 30
while left() and time.monotonic() < end:  # the driver lets go of what graphs kept in threads of its own
    time.sleep(0.01)
print(heard > 0, left(), reports)
"""


@pytest.mark.parametrize("number", range(PROCESSES))
def test_a_process_that_is_interrupted_again_and_again(number: int) -> None:
    """CUDAPY_INTERRUPTED_PROCESSES says how many there are."""
    moments = random.Random(number)
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    process = subprocess.Popen([sys.executable, "-c", PROGRAM], cwd=REPOSITORY, text=True, **pipes)  # type: ignore[call-overload]
    try:
        assert process.stdout.readline() == "ready\n"
        for _ in range(SIGNALS):
            time.sleep(moments.uniform(0.0005, 0.03))
            process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGUSR2)
        try:
            out, err = process.communicate(timeout=HANG)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGUSR1)
            time.sleep(1)
            process.kill()
            out, err = process.communicate()
            raise AssertionError(f"it hangs:\n{err}") from None
    finally:
        process.kill()
    assert (process.returncode, err, out) == (0, "", "True {} []\n"), err
