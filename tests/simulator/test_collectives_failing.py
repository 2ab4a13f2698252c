"""Each call of NCCL failing once: nothing is left, and the error says of which rank; aborts in processes."""

from __future__ import annotations

import json
import sys

import pytest

from .test_collectives import PROCESSES
from .test_device import output

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="ranks of processes share memory on Linux alone"
)

PROGRAM = """
import collections, gc, json, sys
import numpy as np
from cudapy import simulator
from cudapy.core import CollectiveError, Communicator, CUDAError, Device

unraisable = []
sys.unraisablehook = lambda what: unraisable.append(str(what.exc_value))

def program():
    comms = Communicator.init_all(2)
    streams, arrays = [], []
    for c in comms:
        c.device.set_current()
        streams.append(c.device.create_stream())
        arrays.append([c.device.allocate(64, streams[-1]) for _ in range(4)])
    registered = [c.register(a[0]) for c, a in zip(comms, arrays)]
    operators = [c.premultiplied_sum(2.0, np.float32) for c in comms]
    def each(call):
        with Communicator.group():
            for c, s, a in zip(comms, streams, arrays): call(c, s, a)
    named = dict(dtype="float32")
    each(lambda c, s, a: c.all_reduce(a[0], op=operators[c.rank], stream=s, **named))
    each(lambda c, s, a: c.reduce(a[0], a[1], root=1, stream=s, **named))
    each(lambda c, s, a: c.broadcast(a[0], root=1, stream=s))
    each(lambda c, s, a: c.all_gather(c.device.allocate(32, s), a[1], stream=s))
    each(lambda c, s, a: c.reduce_scatter(a[0], c.device.allocate(32, s), stream=s, **named))
    each(lambda c, s, a: c.all_to_all(a[0], a[1], stream=s))
    each(lambda c, s, a: c.send(a[0], 1, stream=s) if c.rank == 0 else c.recv(a[1], 0, stream=s))
    parts = []
    each(lambda c, s, a: parts.append(c.split(0)))
    small = comms[0].shrink([1])
    for c, s in zip(comms, streams):
        c.device.set_current()
        c.sync(s)
    for closable in (*registered, *operators, small, *parts, *comms): closable.close()

def settled():
    gc.collect()
    return {k: v for k, v in simulator.alive().items() if v}

simulator.enable(devices=2, reports=False)
with simulator.failing(None, call=0) as calls: program()
names = [name for name in calls.names if name.startswith("nccl")]
before, count, found = settled(), collections.Counter(), []
for name in names:
    count[name] += 1
    if name == "ncclGroupEnd" or (name == "ncclCommGetAsyncError" and count[name] > 1): continue
    with simulator.failing(name, call=count[name], status="CUDA_ERROR_OUT_OF_MEMORY") as calls:
        try:
            program()
            said = ("", -2, None, "")
        except CUDAError as error:
            of = [getattr(error, name, None) for name in ("rank", "peer")]
            said = (type(error).__name__, *of, str(error))
    after = settled()
    found.append([name, *said, bool(calls.failed), after == before])
    before = after
print(json.dumps([found, unraisable]))
"""

OF_A_RANK = {
    "ncclCommInitRankConfig",
    "ncclCommGetAsyncError",
    "ncclCommSplit",
    "ncclAllReduce",
    "ncclReduce",
}
OF_A_RANK |= {"ncclBroadcast", "ncclAllGather", "ncclReduceScatter", "ncclAlltoAll", "ncclSend", "ncclRecv"}
TOLD = {
    "ncclSend": (0, 1, "rank 0 of 2 (device 0), send to rank 1 of 64 bytes"),
    "ncclRecv": (1, 0, "rank 1 of 2 (device 1), recv from rank 0 of 64 bytes"),
}


@pytest.mark.thorough
def test_nothing_is_left_of_a_program_whatever_call_fails() -> None:
    """All but ncclGroupEnd, which ends the group even if it fails: here it would do nothing. Of
    ncclCommGetAsyncError the first: how many there are depends on how long the waits take.

    A communicator that NCCL refuses to destroy is left to NCCL.
    """
    found, unraisable = json.loads(output(PROGRAM, CUDAPY_SIMULATOR_COLLECTIVE_TIMEOUT="5"))
    assert {entry[0] for entry in found} > OF_A_RANK
    assert unraisable == []
    for name, kind, rank, peer, text, has_failed, nothing_is_left in found:
        assert has_failed, name
        assert name in text
        assert nothing_is_left or name == "ncclCommDestroy", f"{name}: {text}"
        if name in OF_A_RANK:
            assert kind == "CollectiveError" and rank in (0, 1), f"{name}: {text}"
            assert f"rank {rank} of 2 (device {rank})" in text
        if name in TOLD:
            assert (rank, peer) == TOLD[name][:2] and TOLD[name][2] in text


ABORTED = (
    PROCESSES
    + """
CODE = CODE.split("n = 5000")[0] + '''
import threading, time
a = comm.device.allocate(400, s)
if comm.rank: sys.stdin.read()  # never comes to it
else:
    comm.all_reduce(a, dtype="float32", stream=s)
    threading.Timer(0.3, comm.abort).start()
    start = time.monotonic()
    try: s.sync()
    except Exception as error: print(type(error).__name__)
    print(time.monotonic() - start < 5, comm.is_closed)
'''
pipe, folder = subprocess.PIPE, tempfile.mkdtemp()
processes = [subprocess.Popen([sys.executable, "-c", CODE], stdin=pipe, stdout=pipe, text=True,
    env={**os.environ, "RANK": str(r), "WORLD_SIZE": "2", "ID_FILE": folder + "/id"}) for r in range(2)]
print(processes[0].stdout.read())
processes[0].wait()
print(processes[0].returncode)
processes[1].communicate(timeout=60)
"""
)


@pytest.mark.thorough
def test_abort_ends_a_rank_that_waits_for_another_process() -> None:
    """The other rank never comes to the collective; the program waits in its stream until a thread aborts."""
    assert output(ABORTED).split() == ["True", "True", "0"]


KILLED = (
    PROCESSES
    + """
CODE = CODE.split("n = 5000")[0] + '''
import signal, threading
from cudapy import driver
a = comm.device.allocate(400, s)
other = comm.device.create_stream()
s.sync()
if comm.rank:
    sys.stdin.readline()
    os.kill(os.getpid(), signal.SIGKILL)
def call(): comm.all_reduce(a, dtype="float32", stream=s)
def behind():
    call()
    other.wait(s)
    driver.checked.cuStreamSynchronize(other.handle)
def asked():
    call()
    other.wait(s)
    event = other.record()
    while driver.cuEventQuery(event.handle)[0] == 600: pass
    driver.checked.cuCtxSynchronize()
def graph():
    b = s.create_graph_builder().begin_building()
    comm.all_reduce(a, dtype="float32", stream=b.stream)
    b.end_building().complete().launch(other)
    driver.checked.cuStreamSynchronize(other.handle)
def split(): comm.split(0)
def aborted():
    call()
    def watch():
        comm.device.set_current()
        while comm.error is None: pass
        time.sleep(2.5)
        comm.abort()
    watcher = threading.Thread(target=watch)
    watcher.start()
    driver.checked.cuStreamSynchronize(s.handle)
    watcher.join()
    print(driver.cuCtxSynchronize()[0].name)
import time
print("ready", flush=True)
start = time.monotonic()
try: WHAT()
except Exception as error: print("process has ended" in str(error))
print(time.monotonic() - start < 7)
'''.replace("WHAT", os.environ["WHAT"])
pipe, folder = subprocess.PIPE, tempfile.mkdtemp()
processes = [subprocess.Popen([sys.executable, "-c", CODE], stdin=pipe, stdout=pipe, stderr=pipe, text=True,
    env={**os.environ, "RANK": str(r), "WORLD_SIZE": "2", "ID_FILE": folder + "/id"}) for r in range(2)]
processes[0].stdout.readline()
processes[1].communicate("go on\\n", timeout=60)
print(processes[0].communicate(timeout=60)[0])
"""
)


@pytest.mark.thorough
@pytest.mark.parametrize("what", ["behind", "asked", "graph", "split"])
def test_who_waits_for_a_process_that_was_killed_is_told_at_once(what: str) -> None:
    """The limit is below the 10 s that a program has to abort, if it asks for errors."""
    assert output(KILLED, WHAT=what).split() == ["True", "True"]


@pytest.mark.thorough
def test_a_program_that_asks_for_errors_has_time_to_abort() -> None:
    """Its device goes on, although another thread of it waits for the stream."""
    assert output(KILLED, WHAT="aborted").split() == ["CUDA_SUCCESS", "True"]
