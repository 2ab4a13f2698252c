"""Ctrl-C while the simulator is at work: whenever it comes, the program gets it, and once."""

from __future__ import annotations

import os
import signal
from types import SimpleNamespace
from typing import Any

import pytest

from cudapy.simulator import interrupts

from .test_device import output

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


WITHIN = """
from cudapy.simulator.library import provided
done = []
def version():
    os.kill(os.getpid(), signal.SIGINT)
    for _ in range(100):
        len("where Python looks for signals")
    done.append(True)
    return 13000
provided["driver"]["cuDriverGetVersion"] = version
try:
    VERSION
    print("it goes on")
except KeyboardInterrupt:
    print("interrupted", done)
print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)
"""
POINTER = """
    address = int(driver.cuGetProcAddress(b"cuDriverGetVersion", 13000, 0)[1])
    ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(address)(ctypes.addressof(ctypes.c_int()))
"""


@pytest.mark.parametrize("call", ["driver.cuDriverGetVersion()", POINTER], ids=["function", "pointer"])
def test_a_call_comes_to_its_end(call: str) -> None:
    assert output(ENDLESS + WITHIN.replace("VERSION", call)) == "interrupted [True]\nTrue\n"


def test_a_handler_of_the_program_is_called_behind_it_and_stays() -> None:
    own = """
came = []
def own(number, frame):
    came.append((number, frame.f_code.co_name))
signal.signal(signal.SIGINT, own)
"""
    asked = """
print(came, signal.getsignal(signal.SIGINT) is own)
"""
    within = WITHIN.replace("VERSION", "driver.cuDriverGetVersion()").partition("print(signal")[0]
    found = output(ENDLESS + own + within + asked)
    assert found.startswith("it goes on\n[(2, ") and found.endswith("True\n")


@pytest.mark.parametrize("handler", ["signal.SIG_IGN", "signal.SIG_DFL"])
def test_what_is_no_handler_of_python_stays(handler: str) -> None:
    same = f"""
signal.signal(signal.SIGINT, {handler})
driver.cuDriverGetVersion()
print(signal.getsignal(signal.SIGINT) is {handler})
"""
    assert output(ENDLESS + same) == "True\n"


class Interrupted:
    """A function before or behind one call of which Ctrl-C comes."""

    def __init__(self, real: Any, number: int, before: bool) -> None:
        self.real, self.left, self.before = real, number, before

    def __call__(self, *arguments: Any) -> Any:
        self.left -= 1
        if not self.left and self.before:
            raise KeyboardInterrupt
        result = self.real(*arguments)
        if not self.left:
            raise KeyboardInterrupt
        return result


@pytest.mark.parametrize("before", [True, False], ids=["before", "behind"])
@pytest.mark.parametrize("number", [1, 2, 3])
@pytest.mark.parametrize("name", ["getsignal", "signal"])
def test_it_comes_as_the_handler_is_replaced(
    monkeypatch: pytest.MonkeyPatch, name: str, number: int, before: bool
) -> None:
    """Whenever that is: the function is called once, Ctrl-C comes once, and the handler is the program's."""
    mine = signal.getsignal(signal.SIGINT)
    real = vars(interrupts._signal)  # type: ignore[attr-defined]
    interrupted = Interrupted(real[name], number, before)
    monkeypatch.setattr(interrupts, "_signal", SimpleNamespace(**{**real, name: interrupted}))
    calls: list[int] = []
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        came = 0
        for _ in range(2):
            try:
                interrupts.undisturbed(calls.append)(1)
                for _ in "where Python looks for signals":
                    pass
            except KeyboardInterrupt:
                came += 1
        assert (len(calls), came) == (2, int(interrupted.left <= 0))
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
        assert not interrupts._State.is_held and interrupts.errors == interrupts._noted == []
    finally:
        signal.signal(signal.SIGINT, mine)


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
