"""From the first call to the exit: live objects, cycles, threads, forks, children, subinterpreters."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.stub import python

from .world import PTX

pytestmark = pytest.mark.thorough

REPOSITORY = Path(__file__).parents[2]
MAKE = f"""
import gc, os, sys, threading, numpy
from cudapy import simulator
from cudapy.core import *
from cudapy.core import graph, utils
PTX = {PTX!r}
def everything():
    device = Device(0); device.set_current()
    stream = device.create_stream()
    code = ObjectCode.from_ptx(PTX); add = code.get_kernel("add")
    one = LaunchConfig(grid=1, block=32)
    buffer = device.allocate(128, stream); buffer.fill(0, stream=stream)
    launch(stream, one, add, buffer, 1)
    run = prepare(stream, one, add, buffer, 1); run(buffer, 2)
    builder = device.create_stream().create_graph_builder().begin_building()
    launch(builder, one, add, buffer, 1)
    builder.split(2)
    definition = graph.GraphDefinition()
    node = definition.launch(one, add, buffer, 1).memcpy(bytearray(128), buffer, 128)
    executable = definition.instantiate(); executable.launch(stream)
    program = Program(PTX, "ptx", ProgramOptions(arch="sm_90"))
    pool = DeviceMemoryResource(0, DeviceMemoryResourceOptions())
    pinned = LegacyPinnedMemoryResource().allocate(128)
    pinned.copy_from(bytes(128), stream=stream); buffer.copy_to(pinned, stream=stream)
    view = utils.StridedMemoryView.from_buffer(buffer, (32,), dtype="i4")
    things = [device, stream, code, add, one, buffer, run, builder, definition, node, executable]
    things += [program, pool, pool.allocate(64, stream), pinned, view, buffer.__dlpack__(stream=-1)]
    things += [stream.record(), Event(), VirtualMemoryResource(0).allocate(64), device.allocate(64)]
    things += [ManagedMemoryResource().allocate(64, stream)]
    things += [PinnedMemoryResource(PinnedMemoryResourceOptions(numa_id=0))]
    shown = [LegacyPinnedMemoryResource().allocate(64), PinnedMemoryResource().allocate(64, stream)]
    things += [*shown, *(numpy.asarray(each) for each in shown), shown[0].__dlpack__(stream=-1)]
    shown[0].close()
    return things
"""


def simulated(code: str, *, flags: tuple[str, ...] = (), expected: str = "") -> None:
    """Run a program on the simulator: it ends well, prints what is expected, and says nothing on stderr."""
    done = python(MAKE + code, flags=flags, CUDAPY_DRIVER="simulator")
    assert (done.returncode, done.stderr, done.stdout) == (0, "", expected)


ENDINGS = {
    "falls off the end": "kept = everything()",
    "cycles": "kept = everything(); kept.append(kept); sys.kept = kept; del kept",
    "sys.exit in a function": "def end(kept): kept.append(kept); sys.exit(0)\nend(everything())",
    "in a thread that goes on": (
        "ready = threading.Event()\n"
        "def work():\n"
        "    kept = everything(); ready.set()\n"
        "    while True: kept[5].fill(1, stream=kept[1]); kept[1].sync()\n"
        "threading.Thread(target=work, daemon=True).start(); ready.wait(60)"
    ),
    "made at exit": "import atexit; atexit.register(lambda: setattr(sys, 'kept', everything()))",
    "made at exit, where no thread starts": (  # as in Python 3.12.0 and 3.12.1
        "import _thread, atexit\n"
        "def refuse(*_): raise RuntimeError('no thread starts')\n"
        "def end():\n"
        "    _thread.start_new_thread = threading.Thread.start = refuse\n"
        "    dropped = everything(); dropped[1].sync(); dropped.clear(); gc.collect()\n"
        "    assert not simulator.alive().get('user object'), simulator.alive()\n"
        "    sys.kept = everything()\n"
        "atexit.register(end)"
    ),
}


FLAGS = {"cycles": ("-X", "dev", "-W", "error"), "sys.exit in a function": ("-OO",)}
"""What the interpreter is told in some of them."""


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_process_ends_with_live_objects_of_every_kind(ending: str) -> None:
    simulated(ENDINGS[ending], flags=FLAGS.get(ending, ()))


DROPPED = """
from cudapy._core.streams.event import _spare
kept = everything(); kept.append(kept)
del kept
gc.collect()
Device(0).sync()
before, spare = simulator.alive(), sum(map(len, _spare.values()))
found = []
def drop(things):
    things.clear(); gc.collect()
    from cudapy import driver
    found.append(int(driver.checked.cuCtxGetCurrent()))
for cycle in (False, True):
    box = [everything()]
    box[0][1].sync()
    if cycle:
        box[0].append(box[0])
    thread = threading.Thread(target=drop, args=(box,))
    thread.start(); thread.join()
import time
end = time.monotonic() + 30
while time.monotonic() < end:
    gc.collect(); Device(0).sync()
    more = {name: n for name, n in simulator.alive().items() if n > before.get(name, 0)}
    if more.get("event", 0) - before.get("event", 0) <= sum(map(len, _spare.values())) - spare:
        more.pop("event", None)  # they wait for the next that records
    if not more:
        break
print(found, more)
"""


def test_what_another_thread_drops_is_given_back_and_leaves_it_without_a_context() -> None:
    simulated(DROPPED, expected="[0, 0] {}\n")


CLOSED = """
wrong = []
sys.setswitchinterval(1e-6)
for _ in range(20):
    pool = DeviceMemoryResource(0, DeviceMemoryResourceOptions())
    things = [pool, *(each for each in everything() if hasattr(each, "close"))][::-1]
    together = threading.Barrier(4)
    def close():
        together.wait()
        for thing in things:
            try: thing.close()
            except Exception as error: wrong.append(f"{type(thing).__name__}: {error}")
    threads = [threading.Thread(target=close) for _ in range(4)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
print(wrong)
"""


def test_what_several_threads_close_is_closed_once() -> None:
    simulated(CLOSED, expected="[]\n")


FINALIZED = """
class Owner:
    def __init__(self, things): self.things, self.itself = things, self
    def __del__(self):
        found.append(device.allocate(64, stream))  # where one of the things was, if that is free by now
        for thing in self.things: thing.close()
found = []
device = Device(0); device.set_current()
stream = device.create_stream()
things = [device.allocate(64, stream), stream.record(), *everything()]
Owner([thing for thing in things if hasattr(thing, "close")]); del things
gc.collect()
found.append(device.allocate(64, stream))
first, second = stream.record(), stream.record()
print(len({buffer.handle for buffer in found}), first.handle != second.handle)
"""


def test_what_a_del_closes_in_a_cycle_that_was_finalized_before_it_is_given_back_once() -> None:
    """Else the second time takes it from whoever has it by then."""
    simulated(FINALIZED, expected="2 True\n")


RESET = """
from cudapy import driver, runtime
for again in range(3):
    kept = everything()
    {reset}
    if again:
        driver.cuCtxSetCurrent(driver.cuDevicePrimaryCtxRetain(0)[1] if again == 1 else 0)
    while kept:
        kept.pop({place})
    gc.collect()
    simulator.reset()
"""


@pytest.mark.parametrize("place", [0, -1])
@pytest.mark.parametrize(
    "reset",
    [
        "driver.cuDevicePrimaryCtxReset(0)",
        "runtime.cudaDeviceReset()",
        "while not driver.cuDevicePrimaryCtxRelease(0)[0]: pass",
    ],
)
def test_what_went_with_its_context_is_finalized_without_a_word(reset: str, place: int) -> None:
    """It was reset behind the back of core; another one is current then, or none, or still the lost one."""
    simulated(RESET.format(reset=reset, place=place))


FORKED = """
kept = everything() if early else []
sys.stdout.flush()
child = os.fork()
if child == 0:
    try:
        with simulator.failing(call=0) as calls:
            kept.clear(); gc.collect()
        print("child gives back:", calls.names)
        Device(0).set_current()
        Device(0).sync()
        print("child: works")
    except CUDAError as error:
        print("child:", error.name, "spawn" in str(error))
    sys.exit(0)
_, status = os.waitpid(child, 0)
kept = kept or everything()
kept[5].fill(1, stream=kept[1]); kept[1].sync()
print("parent: works", status)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.parametrize("early", [True, False], ids=["after the first call", "before it"])
def test_fork(early: bool) -> None:
    """After the first call the child is told, and gives nothing back; before it, it has its own."""
    child = "child: CUDA_ERROR_NOT_INITIALIZED True" if early else "child: works"
    expected = f"child gives back: []\n{child}\nparent: works 0\n"
    flags = ("-W", "ignore:This process:DeprecationWarning")  # from Python 3.12 on, where there are threads
    simulated(f"early = {early}\n" + FORKED, flags=flags, expected=expected)


LOCKED = """
import signal
from cudapy import driver, pathfinder
from cudapy._core.compile import compile_cache, linker_thread
from cudapy._ffi import codegen
ready = threading.Event()
def hold():
    with pathfinder._lock, codegen._installing, compile_cache._memory._lock, linker_thread._line.lock:
        ready.set()
        threading.Event().wait()
threading.Thread(target=hold, daemon=True).start(); ready.wait(60)
child = os.fork()
if child == 0:
    signal.alarm(30)
    driver.cuInit(0)
    try: pathfinder.load("nvfatbin")
    except pathfinder.LibraryNotFound: pass
    print(linker_thread.call(len, "links"), compile_cache._memory.get(b"no key"), flush=True)
    os._exit(0)
print(os.waitpid(child, 0)[1])
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_fork_while_another_thread_holds_every_lock() -> None:
    """That thread is not in the child, and never lets go there."""
    flags = ("-W", "ignore:This process:DeprecationWarning")
    simulated(LOCKED, flags=flags, expected="5 None\n0\n")


CHILDREN = """
import multiprocessing
def work(number):
    kept = everything()
    kept[5].fill(number, stream=kept[1]); kept[1].sync()
    return number + 1
if __name__ == "__main__":
    kept = everything()
    for method in methods:
        with multiprocessing.get_context(method).Pool(1) as pool:
            print(pool.map(work, [1, 2]))
            pool.close(); pool.join()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="forkserver is not there")
def test_children_that_are_started_anew(tmp_path: Path) -> None:
    """spawn and forkserver: each child uses CUDA beside a parent that does."""
    program = tmp_path / "children.py"
    program.write_text(MAKE + CHILDREN.replace("methods", "('spawn', 'forkserver')"))
    environ = {**os.environ, "CUDAPY_DRIVER": "simulator", "PYTHONPATH": str(REPOSITORY)}
    done = subprocess.run(
        [sys.executable, str(program)], env=environ, capture_output=True, text=True, timeout=120, check=False
    )
    assert (done.returncode, done.stderr, done.stdout) == (0, "", "[2, 3]\n" * 2)


INTERPRETERS = """
import sys
from cudapy import core, driver
import _interpreters
CODE = '''
import sys
from tests.fake_driver import FakeDriver
from cudapy import driver
fake = FakeDriver()
driver.libcuda.load = lambda: fake
from cudapy import core
fake.contexts[:] = [0xC0]
device = core.Device(0); device.set_current()
stream = device.create_stream()
live = [device.allocate(64, stream), stream.record(), device.allocate(64)]
cycle = [device.allocate(64, stream)]; cycle.append(cycle)
live[0].close()
assert "cuMemFreeAsync" in fake.calls and driver.CUresult(12345) == 12345
assert "numpy" not in sys.modules
print("works", flush=True)
'''
for _ in range(3):
    interpreter = _interpreters.create()
    error = _interpreters.run_string(interpreter, CODE)
    if error is not None:
        print(error.formatted)
    _interpreters.destroy(interpreter)
"""


@pytest.mark.skipif(sys.version_info < (3, 13), reason="ctypes works in subinterpreters from Python 3.13 on")
def test_subinterpreters() -> None:
    """Core works in interpreters with a GIL of their own, one after the other, and ends with each."""
    done = python(INTERPRETERS)
    assert (done.returncode, done.stderr, done.stdout) == (0, "", "works\n" * 3)
