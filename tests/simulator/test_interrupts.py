"""Ctrl-C while the simulator is at work: whenever it comes, the program gets it, and once."""

from __future__ import annotations

import os
import signal

import pytest

from .test_device import output, run

pytestmark = [
    pytest.mark.usefixtures("nvrtc"),
    pytest.mark.skipif(os.name == "nt", reason="Windows sends no signal to a process of its own"),
]

ENDLESS = """
import ctypes, os, signal, sys, threading, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in what a shell runs in the background
from cudapy import driver
from cudapy.core import Device, LaunchConfig, Program, launch
device = Device(); device.set_current(); stream = device.create_stream()
source = 'extern "C" __global__ void k(int *p) { for (;;) atomicAdd(p, 1); }'
kernel = Program(source, "c++").compile("cubin").get_kernel("k")
launch(stream, LaunchConfig(grid=1, block=32), kernel, device.allocate(4, stream))
"""

SOON = "threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()\n"

WAIT = """
start = time.perf_counter()
try:
    driver.cuStreamSynchronize(stream.handle)
    time.sleep(5)
except KeyboardInterrupt:
    print(time.perf_counter() - start < 4)
time.sleep(0.2)  # in which it would come again
"""


def test_it_ends_a_wait() -> None:
    assert output(ENDLESS + SOON + WAIT) == "True\n"


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="threads share their signals here")
def test_it_ends_a_wait_that_begins_as_it_comes() -> None:
    """The signal is known to Python, and the system call that waits is not interrupted by it."""
    elsewhere = """
def interrupt():
    time.sleep(0.5)
    signal.pthread_kill(threading.get_ident(), signal.SIGINT)
threading.Thread(target=interrupt).start()
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
"""
    assert output(ENDLESS + elsewhere + WAIT) == "True\n"


def test_it_reaches_a_program_that_calls_through_a_pointer() -> None:
    pointer = """
_, address, _ = driver.cuGetProcAddress(b"cuStreamSynchronize", 13000, 0)
function = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(int(address))
"""
    wait = WAIT.replace("driver.cuStreamSynchronize(stream.handle)", "function(int(stream.handle))")
    assert output(ENDLESS + pointer + SOON + wait) == "True\n"


def test_a_slow_end_of_the_call_is_not_interrupted_again() -> None:
    slow = """
from cudapy.simulator import interrupts
def beside(action, real=interrupts.beside):
    real(action)
    time.sleep(0.1)
interrupts.beside = beside
"""
    assert output(ENDLESS + slow + SOON + WAIT) == "True\n"


BEFORE = """
def trace(frame, event, argument):
    if frame.f_code.co_name == "call" and frame.f_code.co_filename.endswith("library.py"):
        sys.settrace(None)
        raise KeyboardInterrupt
sys.settrace(trace)
"""

BEHIND_ANOTHER = """
def trace(frame, event, argument):
    if frame.f_code.co_name == "behind":
        raise KeyboardInterrupt
sys.settrace(trace)
try:
    driver.cuDriverGetVersion()
except KeyboardInterrupt:
    sys.settrace(None)
"""

THROUGH_A_POINTER = """
_, address, _ = driver.cuGetProcAddress(b"cuDriverGetVersion", 13000, 0)
ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(int(address))(ctypes.addressof(ctypes.c_int()))
"""

TWICE = """
from cudapy.simulator import interrupts
def beside(action):
    raise KeyboardInterrupt
interrupts.beside = beside
"""


@pytest.mark.parametrize(
    "after", ["", BEHIND_ANOTHER, THROUGH_A_POINTER], ids=["alone", "another", "pointer"]
)
@pytest.mark.parametrize("comes", [BEFORE, TWICE + SOON], ids=["before the first statement", "twice"])
def test_what_ctypes_ignores_is_raised_behind_the_call(comes: str, after: str) -> None:
    done = run(ENDLESS + after + comes + WAIT)
    assert (done.returncode, done.stdout) == (0, "True\n")
    assert "calling ctypes callback function" in done.stderr and "KeyboardInterrupt" in done.stderr


BETWEEN = """
def trace(frame, event, argument):
    if frame.f_code.co_name == "behind" and frame.f_code.co_filename.endswith("interrupts.py"):
        sys.settrace(None)
        print(driver.cuDriverGetVersion()[0] == 0)  # as a finalizer might, in the collector's hands
sys.settrace(trace)
"""


def test_calls_between_a_call_and_what_is_behind_it() -> None:
    once = "print(driver.cuCtxGetCurrent()[0] == 0)\n"
    assert output(ENDLESS + BETWEEN + once) == "True\nTrue\n"
    assert output(ENDLESS + BETWEEN + SOON + WAIT) == "True\nTrue\n"


@pytest.mark.parametrize(
    "comes", [BEHIND_ANOTHER, THROUGH_A_POINTER, BETWEEN], ids=["interrupted", "pointer", "between"]
)
def test_nothing_is_kept_of_calls_that_nothing_comes_behind(comes: str) -> None:
    kept = """
driver.cuDriverGetVersion()
from cudapy.simulator import interrupts
print(interrupts.here.ended)
"""
    assert output(ENDLESS + comes + kept).endswith("()\n")


@pytest.mark.thorough
def test_a_call_keeps_the_gil() -> None:
    """Where another thread wants it, Ctrl-C would come while the call waits for it again."""
    keeps = """
from cudapy import driver
import sys, threading
driver.cuDriverGetVersion()
turns, stop = [0], False
def spin():
    while not stop:
        turns[0] += 1
sys.setswitchinterval(3)
thread = threading.Thread(target=spin)
thread.start()
before = turns[0]
for _ in range(500):
    driver.cuDriverGetVersion()
after = turns[0]
stop = True
print(after == before)
"""
    assert output(keeps) == "True\n"


def test_a_call_that_no_python_function_makes() -> None:
    alone = """
import atexit
from cudapy import pathfinder
version = ctypes.c_int()
atexit.register(lambda: print(version.value > 0))  # the last of all
atexit.register(pathfinder.load("cuda").handle.cuDriverGetVersion, ctypes.byref(version))
"""
    assert output(ENDLESS + alone) == "True\n"


def test_a_program_may_end_while_a_kernel_runs() -> None:
    assert output(ENDLESS + 'print("bye")') == "bye\n"
