"""Ctrl-C while the simulator is at work: whenever it comes, the program gets it, and once."""

from __future__ import annotations

import os
import re
import signal
from types import SimpleNamespace
from typing import Any

import pytest

from cudapy.simulator import interrupts

from .test_device import output, run

pytestmark = [
    pytest.mark.usefixtures("nvrtc"),
    pytest.mark.skipif(os.name == "nt", reason="Windows sends no signal to a process of its own"),
]

ENDLESS = """
import ctypes, os, signal, sys, threading, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in what a shell runs in the background
from cudapy import driver
from cudapy.core import Device, LaunchConfig, Program, ProgramOptions, launch
device = Device(); device.set_current(); stream = device.create_stream()
source = 'extern "C" __global__ void k(int *p) { for (;;) atomicAdd(p, 1); }'
kernel = Program(source, "c++", ProgramOptions(lineinfo=True)).compile("cubin").get_kernel("k")
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

REPORT = """\
cudapy simulator: k was interrupted from the keyboard after 1 s
    32 threads are at, the first is block (0,0,0) thread (0,0,0)
        in k, default_program:1, PTX line"""


def interrupted(code: str) -> str:
    """What a program prints that ends well, and in which a wait for the kernel is interrupted."""
    done = run(code)
    assert done.returncode == 0, done.stderr
    seconds = re.compile(r"after \d+ s")
    assert seconds.sub("after 1 s", done.stderr).startswith(REPORT)
    assert done.stderr.count("\n") == 3, "the report, once, and nothing else"
    return done.stdout


def test_it_ends_a_wait() -> None:
    assert interrupted(ENDLESS + SOON + WAIT) == "True\n"


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
    assert interrupted(ENDLESS + elsewhere + WAIT) == "True\n"


def test_it_reaches_a_program_that_calls_through_a_pointer() -> None:
    pointer = """
_, address, _ = driver.cuGetProcAddress(b"cuStreamSynchronize", 13000, 0)
function = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(int(address))
"""
    wait = WAIT.replace("driver.cuStreamSynchronize(stream.handle)", "function(int(stream.handle))")
    assert interrupted(ENDLESS + pointer + SOON + wait) == "True\n"


WAITS = """
def behind_own_stream():
    driver.cuStreamWaitEvent(2, stream.record().handle, 0)
    driver.cuStreamSynchronize(2)
WAITS = [
    lambda: stream.sync(),
    lambda: stream.record().sync(),
    lambda: device.sync(),
    lambda: driver.cuCtxSynchronize(),
    lambda: runtime.cudaDeviceSynchronize(),
    lambda: driver.cuStreamSynchronize(1),
    lambda: driver.cuMemcpyDtoH(bytearray(4), memory, 4),
    lambda: driver.cuMemFree(memory),
    behind_own_stream,
]
"""


def test_it_ends_the_kernel_that_a_wait_is_for() -> None:
    """All threads that wait go on, and later failures refer to the report in a line."""
    code = """
from cudapy import runtime, simulator
from cudapy.core import CUDAError, ObjectCode
cubin = Program(source, "c++", ProgramOptions(lineinfo=True)).compile("cubin").code
for wait in WAITS:
    device.set_current()
    stream = device.create_stream(options={"nonblocking": False})
    kernel = ObjectCode.from_cubin(cubin).get_kernel("k")
    launch(stream, LaunchConfig(grid=1, block=32), kernel, device.allocate(4, stream))
    memory = driver.checked.cuMemAllocManaged(4, 1)
    failed = []
    thread = threading.Thread(target=lambda: failed.append(driver.cuStreamSynchronize(stream.handle)[0].name))
    thread.start()
    threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
    try:
        wait()
        print("it went on")
    except KeyboardInterrupt:
        thread.join(30)
        print(*failed)
    for _ in range(2):
        try:
            stream.sync()
        except CUDAError as error:
            said = str(error)
            print("since the fault in k at default_program:1, reported before" in said, "are at" in said)
    simulator.reset()
"""
    done = run(ENDLESS.partition("launch(")[0] + WAITS + code)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == 9 * ["CUDA_ERROR_LAUNCH_TIMEOUT", "True False", "True False"]
    assert done.stderr.count("k was interrupted from the keyboard") == 9


def test_it_ends_the_kernel_of_another_context_that_a_wait_is_for() -> None:
    code = f"""
event = stream.record()
context = driver.checked.cuCtxCreate(0, 0)
other = driver.checked.cuStreamCreate(0)
driver.checked.cuStreamWaitEvent(other, event.handle, 0)
{SOON}
try:
    driver.cuStreamSynchronize(other)
except KeyboardInterrupt:
    print(driver.cuStreamSynchronize(other)[0].name, driver.cuStreamQuery(stream.handle)[0].name)
"""
    assert interrupted(ENDLESS + code) == "CUDA_SUCCESS CUDA_ERROR_LAUNCH_TIMEOUT\n"


def test_it_ends_a_wait_for_a_value_in_memory() -> None:
    code = f"""
import numpy as np
_, memory = driver.cuMemAlloc(4)
driver.checked.cuMemsetD32(memory, 0, 1)
other = driver.checked.cuStreamCreate(1)
driver.checked.cuStreamWaitValue32(other, memory, 1, 0)
{SOON}
try:
    driver.cuStreamSynchronize(other)
except KeyboardInterrupt:
    print(driver.cuStreamSynchronize(other)[0].name)
"""
    done = run(ENDLESS.partition("launch(")[0] + code)
    assert (done.returncode, done.stdout) == (0, "CUDA_ERROR_LAUNCH_TIMEOUT\n")
    assert done.stderr.startswith("cudapy simulator: a wait for a value at 0x")


def test_a_wait_for_a_function_of_the_program_is_left_alone() -> None:
    """Nothing ends that; the context is of use when it has ended."""
    code = f"""
held = threading.Event()
FUNCTION = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
function = FUNCTION(lambda _: held.wait())
other = driver.checked.cuStreamCreate(1)
driver.checked.cuLaunchHostFunc(other, function, None)
{SOON}
try:
    driver.cuStreamSynchronize(other)
except KeyboardInterrupt:
    held.set()
    print(driver.cuStreamSynchronize(other)[0].name)
"""
    assert output(ENDLESS.partition("launch(")[0] + code) == "CUDA_SUCCESS\n"


def test_a_handler_of_the_program_decides_whether_a_wait_ends() -> None:
    """One that raises nothing is called, and the wait goes on."""
    code = f"""
came = []
def own(number, frame):
    came.append((number, frame.f_code.co_name, frame.f_globals["__name__"]))
    if len(came) == 1:
        {SOON}
    else:
        raise LookupError("the program's")
signal.signal(signal.SIGINT, own)
def waits():
    driver.cuStreamSynchronize(stream.handle)
    "where Python looks for signals".split()
{SOON}
try:
    waits()
except LookupError as error:
    print(error, len(came), came[0] == came[1], came[0][2].startswith("cudapy.simulator"))
"""
    assert interrupted(ENDLESS + code) == "the program's 2 True False\n"


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
    assert output(ENDLESS + 'print("bye")', ends_at_once=False) == "bye\n"


def test_what_is_done_in_a_moment_comes_to_its_end() -> None:
    """A kernel that ends soon after Ctrl-C, and those behind it: no context is lost for them."""
    code = """
from cudapy import simulator
from cudapy.simulator.streams import faults
faults.PATIENCE = 30, 30
go, count = driver.checked.cuMemAllocManaged(8, 1), driver.checked.cuMemAllocManaged(8, 1)
flag, counter = (ctypes.c_int.from_address(int(each)) for each in (go, count))
source = 'extern "C" __global__ void look(volatile int *go) { while (!*go) ; }'
source += 'extern "C" __global__ void add(int *count) { atomicAdd(count, 1); }'
module = Program(source, "c++").compile("cubin", name_expressions=("look", "add"))
def pressed(*_):
    threading.Timer(0.2, setattr, (flag, "value", 1)).start()  # the wait is over long before
    raise KeyboardInterrupt
signal.signal(signal.SIGINT, pressed)
for wait in stream.sync, lambda: driver.cuCtxSynchronize():
    flag.value = counter.value = 0
    launch(stream, LaunchConfig(grid=1, block=1), module.get_kernel("look"), go)
    for _ in range(3):
        launch(stream, LaunchConfig(grid=1, block=1), module.get_kernel("add"), count)
    threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
    try:
        wait()
        print("it went on")
    except KeyboardInterrupt:
        stream.sync()
        print(counter.value)
"""
    done = run(ENDLESS.partition("source =")[0] + code)
    assert (done.returncode, done.stdout, done.stderr) == (0, "3\n3\n", "")
