"""What the garbage collector finalizes in a thread of the simulator may wait for anything."""

from __future__ import annotations

import gc
import os
import threading
from collections.abc import Iterator

import pytest

from cudapy.simulator.gc_pause import GcPause

from .test_device import output

EVERYWHERE = """
import ctypes, faulthandler, gc, sys, threading
faulthandler.dump_traceback_later(20, exit=True)  # who waits for himself does so for good
from cudapy import driver
from cudapy.simulator.streams.work import Queue

cu = driver.checked
cu.cuInit(0)
context = cu.cuDevicePrimaryCtxRetain(0)
cu.cuCtxSetCurrent(context)
stream, memory = cu.cuStreamCreate(0), cu.cuMemAlloc(64)
nothing = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda _: None)
all_queued = threading.Semaphore(0)
held = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda _: all_queued.acquire() and None)
now, finalized, ended, work = [], [], threading.Semaphore(0), Queue._work

def finalize(frame, event, _):
    frame.f_trace_opcodes = True
    if gc.isenabled():  # so the collector may run here
        now.append(frame)
        cu.cuCtxSetCurrent(context)
        cu.cuLaunchHostFunc(stream, nothing, None)
        cu.cuMemFreeHost(cu.cuMemHostAlloc(64, 0))
        finalized.append(now.pop())
    return finalize

def watched(queue):
    if now:  # it does what a finalizer queued
        return work(queue)
    sys.settrace(finalize)
    work(queue)
    sys.settrace(None)
    ended.release()

Queue._work = watched
for _ in range(20):
    cu.cuLaunchHostFunc(stream, held, None)
    for _ in range(3):
        cu.cuLaunchHostFunc(stream, nothing, None)
        cu.cuMemsetD8Async(memory, 1, 64, stream)
    all_queued.release()
    ended.acquire()  # outside of the simulator
    cu.cuStreamSynchronize(stream)
print(len(finalized) > 20)
"""


def test_a_finalizer_anywhere_in_the_thread_of_a_stream() -> None:
    """At each opcode that finds the collector enabled. Other than that one, nobody does the stream's work."""
    assert output(EVERYWHERE) == "True\n"


IN_A_HOST_FUNCTION = """
import ctypes, faulthandler
faulthandler.dump_traceback_later(20, exit=True)
from cudapy import driver

cu = driver.checked
cu.cuInit(0)
context = cu.cuDevicePrimaryCtxRetain(0)
cu.cuCtxSetCurrent(context)
stream, memory, locked = cu.cuStreamCreate(0), cu.cuMemAlloc(4), cu.cuMemHostAlloc(64, 0)
kept, statuses = ctypes.c_uint32(5), []

@ctypes.CFUNCTYPE(None, ctypes.c_void_p)
def call(_):
    address = ctypes.addressof(kept)
    cu.cuCtxSetCurrent(context)
    for status, *_ in (
        driver.cuStreamSynchronize(stream),
        driver.cuCtxSynchronize(),
        driver.cuMemFreeHost(locked),
        driver.cuMemcpyDtoH(address, memory, 4),
        driver.cuMemcpyDtoHAsync(address, memory, 4, stream),
        driver.cuStreamQuery(stream),
    ):
        statuses.append(status.name)

cu.cuMemsetD32(memory, 7, 1)
cu.cuLaunchHostFunc(stream, call, None)
cu.cuStreamSynchronize(stream)
cu.cuMemFreeHost(locked)
print(kept.value, *statuses)
"""


def test_a_host_function_does_not_wait_for_itself() -> None:
    """Nor does what is refused happen later."""
    refused = "CUDA_ERROR_NOT_PERMITTED " * 5
    assert output(IN_A_HOST_FUNCTION) == f"5 {refused}CUDA_ERROR_NOT_READY\n"


@pytest.fixture
def enabled() -> Iterator[None]:
    was = gc.isenabled()
    gc.enable()
    yield
    (gc.enable if was else gc.disable)()


@pytest.mark.usefixtures("enabled")
def test_who_is_late_does_not_enable_the_collector_while_others_are_at_work() -> None:
    """A thread that leaves stands still before it enables the collector, for longer than others wait."""
    leaves, enters = threading.Event(), threading.Event()

    class Lock:
        lock = threading.RLock()

        def __enter__(self) -> None:
            self.lock.acquire()

        def __exit__(self, *exception: object) -> None:
            self.lock.release()
            if gc_pause._enabling == threading.get_ident():
                leaves.set()
                assert enters.wait(60)

    gc_pause, seen = GcPause(), []
    gc_pause._lock = Lock()  # type: ignore[assignment]

    def leave() -> None:
        with gc_pause:
            pass

    late = threading.Thread(target=leave)
    late.start()
    assert leaves.wait(60)
    with gc_pause:
        enters.set()
        late.join(60)
        seen.append(gc.isenabled())
    assert seen == [False] and gc.isenabled()


FORKED = """
import ctypes, gc, os, threading
from cudapy import driver

cu = driver.checked
cu.cuInit(0)
cu.cuCtxSetCurrent(cu.cuDevicePrimaryCtxRetain(0))
stream, gate = cu.cuStreamCreate(0), threading.Event()
wait = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda _: gate.wait())
cu.cuLaunchHostFunc(stream, wait, None)
print(gc.isenabled(), flush=True)
child = os.fork()
if not child:
    print(gc.isenabled(), flush=True)
    os._exit(0)
os.waitpid(child, 0)
gate.set()
cu.cuStreamSynchronize(stream)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_the_collector_goes_on_in_a_child() -> None:
    """It rests in the parent, where a stream has work."""
    quiet = {"PYTHONWARNINGS": "ignore::DeprecationWarning"}  # of forks beside threads, from Python 3.12 on
    assert output(FORKED, **quiet) == "False\nTrue\n"
