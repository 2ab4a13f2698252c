"""NCCL on the simulator: what collectives compute with 2, 4 and 8 ranks, and which mistakes are told, how."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import pytest

from cudapy.simulator.collectives.board import Board, Header, Post
from cudapy.simulator.collectives.transfers import Call

from .test_device import output, run

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="ranks of processes share memory on Linux alone"
)

START = """
import sys, threading, time
import numpy as np
from cudapy import core, nccl, simulator
from cudapy.core import CollectiveError, Communicator, CUDAError, Device
from cudapy.core.utils import StridedMemoryView
comms = Communicator.init_all()
size = len(comms)

def on(comm, values, dtype="float32"):
    comm.device.set_current()
    stream = comm.device.create_stream()
    values = np.asarray(values, dtype)
    buffer = comm.device.allocate(values.nbytes, stream)
    buffer.copy_from(values, stream=stream)
    return StridedMemoryView.from_buffer(buffer, values.shape, dtype=dtype), stream

def content(comm, view, stream):
    comm.device.set_current()
    found = np.empty(view.shape, view.dtype)
    view.exporting_obj.copy_to(found.reshape(-1).view(np.uint8), stream=stream)
    comm.sync(stream)
    return found

def error_of(function, *arguments, **named):
    try:
        function(*arguments, **named)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "no error"
"""


def ranks(code: str, devices: int = 2, **environment: str) -> list[str]:
    """What a program prints that has so many ranks."""
    return output(START + code, CUDAPY_SIMULATOR_DEVICES=str(devices), **environment).splitlines()


def failing(code: str, devices: int = 2, **environment: str) -> tuple[list[str], str]:
    """The same of one that ends well and says something on stderr."""
    environment = {"CUDAPY_SIMULATOR_COLLECTIVE_TIMEOUT": "1", **environment}
    done = run(START + code, CUDAPY_SIMULATOR_DEVICES=str(devices), **environment)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines(), done.stderr


def first_of(table: dict[str, Any], *names: str) -> list[Any]:
    """The names of a table; those that are not in `names` are of the second tier."""
    return [pytest.param(k, marks=[] if k in names else pytest.mark.thorough) for k in table]


# -- results ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("devices", [2, 8, *(pytest.param(n, marks=pytest.mark.thorough) for n in (1, 4))])
def test_collectives_of_one_thread(devices: int) -> None:
    """By groups; the references are NumPy's."""
    code = """
data = [np.arange(size * 3, dtype=np.float32) + 100 * r for r in range(size)]
sends = [on(c, data[c.rank]) for c in comms]
def every(call, shape):
    recvs = [on(c, np.full(shape, -1)) for c in comms]
    with comms[0].group():
        for c, (send, _), (recv, stream) in zip(comms, sends, recvs):
            stream.wait(sends[c.rank][1])
            call(c, send, recv, stream)
    return [content(c, *recv) for c, recv in zip(comms, recvs)]
total, whole = sum(data), np.concatenate(data)
good = []
for op, wanted in (("sum", total), ("max", data[-1]), ("min", data[0]), ("avg", total / size),
                   ("prod", np.prod(data, 0))):
    good.append(all(np.allclose(x, wanted) for x in every(lambda c, a, b, s: c.all_reduce(a, b, op, stream=s),
                                                          3 * size)))
found = every(lambda c, a, b, s: c.reduce(a, b, root=size - 1, stream=s), 3 * size)
good.append((found[-1] == total).all() and all((x == -1).all() for x in found[:-1]))
found = every(lambda c, a, b, s: c.broadcast(a, b, root=size // 2, stream=s), 3 * size)
good.append(all((x == data[size // 2]).all() for x in found))
good.append(all((x == whole).all() for x in every(lambda c, a, b, s: c.all_gather(a, b, stream=s),
                                                  3 * size * size)))
found = every(lambda c, a, b, s: c.reduce_scatter(a, b, stream=s), 3)
good.append(all((x == total[3 * r:3 * r + 3]).all() for r, x in enumerate(found)))
found = every(lambda c, a, b, s: c.all_to_all(a, b, stream=s), 3 * size)
good.append(all((x == np.concatenate([d[3 * r:3 * r + 3] for d in data])).all() for r, x in enumerate(found)))
found = every(lambda c, a, b, s: c.gather(a, b, root=0, stream=s), 3 * size * size)
good.append((found[0] == whole).all())
found = every(lambda c, a, b, s: c.scatter(a, b, root=0, stream=s), 3)
good.append(all((x == data[0][3 * r:3 * r + 3]).all() for r, x in enumerate(found)))
def ring(c, a, b, s):
    c.send(a, (c.rank + 1) % size, stream=s)
    c.recv(b, (c.rank - 1) % size, stream=s)
good.append(all((x == data[r - 1]).all() for r, x in enumerate(every(ring, 3 * size))))
print(len(good), all(good))
for c in comms:
    c.close()
del sends
print(simulator.alive().get("communicator", 0))
"""
    assert ranks(code, devices) == ["13 True", "0"]


def test_threads_need_no_group() -> None:
    """Each thread has a rank of its own; 40 collectives in a row keep their order."""
    code = """
found = {}
def one(c):
    view, stream = on(c, np.ones(5))
    for i in range(40):
        c.all_reduce(view, stream=stream) if i % 2 else c.broadcast(view, root=i % size, stream=stream)
        with c.group():
            c.all_reduce(view, op="avg", stream=stream)
    found[c.rank] = content(c, view, stream)
threads = [threading.Thread(target=one, args=(c,)) for c in comms]
for t in threads: t.start()
for t in threads: t.join()
print([bool((found[r] == float(size) ** 20).all()) for r in range(size)])
"""
    assert ranks(code, 4) == ["[True, True, True, True]"]


def test_a_graph_of_a_thread_has_the_calls_of_all_its_ranks() -> None:
    code = """
views = [on(c, np.ones(4)) for c in comms]
for c in comms: c.device.set_current(); views[c.rank][1].sync()
comms[0].device.set_current()
builder = views[0][1].create_graph_builder()
builder.begin_building("relaxed")
others = []
event = views[0][1].record()
comms[1].device.set_current()
views[1][1].wait(event)
with comms[0].group():
    for c, (view, stream) in zip(comms, views):
        c.all_reduce(view, stream=stream)
end = views[1][1].record()
comms[0].device.set_current()
views[0][1].wait(end)
graph = builder.end_building().complete()
for _ in range(3): graph.launch(views[0][1])
views[0][1].sync()
print([content(c, *v).tolist() for c, v in zip(comms, views)])
del graph, builder
for c in comms: c.close()
"""
    assert ranks(code) == ["[[8.0, 8.0, 8.0, 8.0], [8.0, 8.0, 8.0, 8.0]]"]


def test_a_group_keeps_what_its_calls_read_and_write() -> None:
    code = """
import gc, weakref
class Array:
    def __init__(self, comm, values):
        view, self.stream = on(comm, values)
        self.buffer, self.__cuda_array_interface__ = view.exporting_obj, {
            "shape": (4,), "typestr": "<f4", "version": 3, "data": (view.ptr, False)}
there = []
with comms[0].group():
    for c in comms:
        send, recv = Array(c, np.ones(4)), Array(c, np.zeros(4))
        c.all_reduce(send, recv, stream=send.stream)
        there += [weakref.ref(send), weakref.ref(recv)]
        del send, recv
    gc.collect()
    print([one() is not None for one in there])
gc.collect()
print([one() is not None for one in there])
"""
    assert ranks(code) == ["[True, True, True, True]", "[False, False, False, False]"]


def test_splits_operators_and_registrations() -> None:
    code = """
with comms[0].group():
    halves = [c.split(c.rank % 2, key=-c.rank) for c in comms]
    alone = [c.split(None if c.rank else 0) for c in comms]
print([(h.rank, h.size) for h in halves], [a and a.size for a in alone])
views = [on(c, [1.0, 2.0]) for c in comms]
ops = [c.premultiplied_sum(c.rank + 1, "float32") for c in comms]
kept = [c.register(v[0]) for c, v in zip(comms, views)]
with comms[0].group():
    for c, (view, stream), op in zip(comms, views, ops):
        c.all_reduce(view, op=op, stream=stream)
print([content(c, *v).tolist() for c, v in zip(comms, views)])
print(error_of(comms[0].all_reduce, views[0][0], op=ops[1]).split(":")[0])
for thing in (*kept, *ops): thing.close()
shrunk = []
with comms[0].group():
    for c in comms[:3]: shrunk.append(c.shrink([3]))
print([(s.rank, s.size) for s in shrunk])
for c in (*shrunk, *halves, *filter(None, alone), *comms): c.close()
print(simulator.alive().get("communicator", 0), error_of(comms[0].all_reduce, views[0][0]))
"""
    assert ranks(code, 4) == [
        "[(1, 2), (1, 2), (0, 2), (0, 2)] [1, None, None, None]",
        "[[10.0, 20.0], [10.0, 20.0], [10.0, 20.0], [10.0, 20.0]]",
        "ValueError",
        "[(0, 3), (1, 3), (2, 3)]",
        "0 RuntimeError: this Communicator is closed",
    ]


PROCESSES = """
import json, os, subprocess, sys, tempfile
CODE = '''
import os, sys
import numpy as np
from cudapy import simulator
from cudapy.core import Communicator
from cudapy.core.utils import StridedMemoryView
simulator.enable()
comm = Communicator.from_environment(timeout=30, file=os.environ.get("ID_FILE"), address=os.environ.get("AT"))
comm.device.set_current()
s = comm.device.create_stream()
n = 5000
a = comm.device.allocate(4 * n, s); a.copy_from(np.full(n, comm.rank + 1, np.float32), stream=s)
b = comm.device.allocate(4 * n * comm.size, s)
comm.all_gather(a, b, dtype="float32", stream=s)
comm.all_reduce(a, dtype="float32", stream=s)
half = comm.split(comm.rank % 2)
half.all_reduce(a, dtype="float32", stream=s)
with comm.group():
    comm.send(a, (comm.rank + 1) % comm.size, stream=s)
    comm.recv(a, (comm.rank - 1) % comm.size, stream=s) if comm.size == 1 else None
    c = comm.device.allocate(4 * n, s)
    comm.recv(c, (comm.rank - 1) % comm.size, stream=s)
found, gathered = np.empty(n, np.float32), np.empty(n * comm.size, np.float32)
c.copy_to(found, stream=s); b.copy_to(gathered, stream=s); comm.sync(s)
total = comm.size * (comm.size + 1) / 2
assert set(gathered[::n]) == set(range(1, comm.size + 1)), gathered
assert set(found) == {total * len(range((comm.rank - 1) % comm.size % 2, comm.size, 2))}, (found, total)
half.close(); comm.close()
assert simulator.alive().get("communicator", 0) == 0
print("well")
'''
def start(size, **more):
    environment = {k: v for k, v in os.environ.items() if k not in ("RANK", "WORLD_SIZE", "LOCAL_RANK")}
    return [subprocess.Popen([sys.executable, "-c", CODE], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             text=True, env={**environment, **{k: v.format(r) for k, v in more.items()}})
            for r in range(size)]
def ends(processes):
    return [p.communicate(timeout=100)[0].strip() or p.communicate()[1] for p in processes]
"""


@pytest.mark.parametrize("size", [2, pytest.param(4, marks=pytest.mark.thorough)])
def test_ranks_in_processes(size: int, tmp_path: object) -> None:
    """They meet by the address that torchrun sets, or by a file with what Open MPI sets."""
    code = (
        PROCESSES
        + f"""
import socket
with socket.socket() as probe:
    probe.bind(("127.0.0.1", 0))
    port = probe.getsockname()[1]
print(ends(start({size}, RANK="{{}}", WORLD_SIZE="{size}", MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))))
"""
    )
    if size > 2:
        code += f"""
print(ends(start({size}, OMPI_COMM_WORLD_RANK="{{}}", OMPI_COMM_WORLD_SIZE="{size}",
                 ID_FILE={str(tmp_path)!r} + "/id")))
"""
    assert output(code).splitlines() == [str(["well"] * size)] * (1 + (size > 2))


@pytest.mark.thorough
def test_a_process_that_dies_is_told() -> None:
    code = (
        PROCESSES
        + """
CODE = CODE.split("n = 5000")[0] + '''
import time
if comm.rank: os._exit(3)
a = comm.device.allocate(400, s)
comm.all_reduce(a, dtype="float32", stream=s)
try: comm.sync(s)
except Exception as error: print(type(error).__name__, error.code.name, "process has ended" in str(error))
comm.abort()
s.sync()
'''
print(ends(start(2, RANK="{}", WORLD_SIZE="2", ID_FILE=tempfile.mkdtemp() + "/id"))[0])
"""
    )
    assert output(code).splitlines() == ["CollectiveError ncclRemoteError True"]


# -- mistakes -----------------------------------------------------------------------------------------------

DIFFERENT = {
    "count": "b = StridedMemoryView.from_buffer(a.exporting_obj, (2,), dtype='float32')\n"
    "        c.all_reduce(a if c.rank else b, stream=s)",
    "type": "c.all_reduce(a.view(dtype='int32') if c.rank else a, stream=s)",
    "operator": "c.all_reduce(a, op='max' if c.rank else 'min', stream=s)",
    "root": "c.broadcast(a, root=c.rank, stream=s)",
    "kind": "c.broadcast(a, stream=s) if c.rank else c.all_reduce(a, stream=s)",
    "order": "[f() for f in ((lambda: c.all_reduce(a, stream=s)), (lambda: c.broadcast(a, stream=s)))"
    "[::1 if c.rank else -1]]",
}
WORDS = {
    "count": ("all_reduce of 4 float32, sum", "all_reduce of 2 float32, sum"),
    "type": ("all_reduce of 4 int32, sum", "all_reduce of 4 float32, sum"),
    "operator": ("all_reduce of 4 float32, max", "all_reduce of 4 float32, min"),
    "root": ("broadcast of 4 float32, root 1", "broadcast of 4 float32, root 0"),
    "kind": ("broadcast of 4 float32, root 0", "all_reduce of 4 float32, sum"),
    "order": ("all_reduce of 4 float32, sum", "broadcast of 4 float32, root 0"),
}


@pytest.mark.parametrize("what", first_of(DIFFERENT, "count", "kind"))
def test_different_calls_are_told(what: str) -> None:
    code = f"""
with comms[0].group():
    for c in comms:
        a, s = on(c, np.ones(4))
        {DIFFERENT[what]}
print(error_of(comms[1].sync, s))
"""
    out, err = failing(code)
    text = "\n".join(out)
    assert "the ranks of a communicator make different calls" in text, text + err
    for rank, words in zip((1, 0), WORDS[what], strict=True):
        assert f"rank {rank} of 2" in text and words in text, text


REFUSED = {
    "no group": (
        "a, b = (on(c, np.ones(4))[0] for c in comms)\ncomms[0].all_reduce(a)\n"
        "print(error_of(comms[1].all_reduce, b))",
        "this thread calls for rank 1 of 2 (device 1) after it has called for rank 0",
    ),
    "memory of another device": (
        "a, s = on(comms[0], np.ones(4))\nprint(error_of(comms[1].all_reduce, a))",
        "is memory of device 0, and rank 1 of 2 (device 1) is not",
    ),
    "stream of another device": (
        "a, s = on(comms[0], np.ones(4))\nprint(error_of(comms[1].all_reduce, on(comms[1], [1])[0], "
        "stream=s))",
        "the stream is of device 0, and rank 1 of 2 (device 1) is not",
    ),
    "behind the end": (
        "a, s = on(comms[0], np.ones(4))\n"
        "print(nccl.ncclAllReduce(int(a.ptr), int(a.ptr), 5000, 7, 0, comms[0].handle, None)[0].name, "
        "nccl.ncclGetLastError(None)[1].decode())",
        "ncclInvalidArgument ncclAllReduce: sendbuff: 20000 bytes up to",
    ),
    "half over the other": (
        "a, s = on(comms[0], np.ones(8))\n"
        "print(nccl.ncclAllReduce(a.ptr, a.ptr + 8, 4, 7, 0, comms[0].handle, None)[0].name, "
        "nccl.ncclGetLastError(None)[1].decode())",
        "sendbuff and recvbuff overlap",
    ),
    "destroyed": (
        "a, s = on(comms[0], np.ones(4))\nh = comms[0].handle.value\ncomms[0].close()\n"
        "print(nccl.ncclAllReduce(a.ptr, a.ptr, 4, 7, 0, h, None)[0].name, nccl.ncclGetLastError(None)[1])",
        "is not a communicator, or was destroyed",
    ),
    "destroyed twice": (
        "h = comms[0].handle.value\ncomms[0].close()\nprint(nccl.ncclCommDestroy(h)[0].name)",
        "ncclInvalidArgument",
    ),
    "one device twice": (
        "id = nccl.ncclGetUniqueId()[1]\nDevice(0).set_current()\nnccl.ncclGroupStart()\n"
        "nccl.ncclCommInitRank(2, id, 0)\nprint(nccl.ncclCommInitRank(2, id, 1)[0].name, "
        "nccl.ncclGetLastError(None)[1].decode(), nccl.ncclGroupEnd()[0].name)",
        "ranks 0 and 1 are both on device 0: NCCL has one rank a device ncclInvalidUsage",
    ),
    "a rank twice": (
        "id = nccl.ncclGetUniqueId()[1]\nnccl.ncclGroupStart()\nDevice(0).set_current()\n"
        "nccl.ncclCommInitRank(2, id, 0)\nDevice(1).set_current()\nnccl.ncclCommInitRank(2, id, 0)\n"
        "print(nccl.ncclGroupEnd()[0].name, nccl.ncclGetLastError(None)[1].decode())",
        "ncclInvalidUsage ncclGroupEnd: rank 0 of this id is there already",
    ),
    "another size": (
        "id = nccl.ncclGetUniqueId()[1]\nnccl.ncclGroupStart()\nDevice(0).set_current()\n"
        "nccl.ncclCommInitRank(2, id, 0)\nDevice(1).set_current()\nnccl.ncclCommInitRank(3, id, 1)\n"
        "print(nccl.ncclGroupEnd()[0].name, nccl.ncclGetLastError(None)[1].decode())",
        "another rank of the id said 2 ranks, not 3",
    ),
    "a rank that there is not": (
        "print(nccl.ncclCommInitRank(2, nccl.ncclGetUniqueId()[1], 2)[0].name, "
        "nccl.ncclGetLastError(None)[1])",
        "rank 2 is outside 0 .. 1",
    ),
    "an id of nobody": (
        "print(nccl.ncclCommInitRank(2, nccl.ncclUniqueId(), 0)[0].name, nccl.ncclGetLastError(None)[1])",
        "the id is none of ncclGetUniqueId's",
    ),
    "a root that there is not": (
        "a, s = on(comms[0], np.ones(4))\n"
        "print(nccl.ncclBroadcast(a.ptr, a.ptr, 4, 7, 2, comms[0].handle, None)[0].name, "
        "nccl.ncclGetLastError(None)[1])",
        "root = 2 is not a rank of 2",
    ),
    "a type that there is not": (
        "a, s = on(comms[0], np.ones(4))\n"
        "print(nccl.ncclAllReduce(a.ptr, a.ptr, 4, 12, 0, comms[0].handle, None)[0].name, "
        "nccl.ncclGetLastError(None)[1])",
        "12 is not an ncclDataType_t",
    ),
    "an operator of another rank": (
        "a, s = on(comms[1], np.ones(4))\nop = comms[0].premultiplied_sum(2, 'float32')\n"
        "print(nccl.ncclAllReduce(a.ptr, a.ptr, 4, 7, op._handle, comms[1].handle, None)[0].name, "
        "nccl.ncclGetLastError(None)[1])",
        "is not an operator of rank 1 of 2",
    ),
    "an operator that was destroyed": (
        "a, s = on(comms[0], np.ones(4))\nop = comms[0].premultiplied_sum(2, 'float32')\n"
        "n = int(op._handle)\nop.close()\n"
        "print(nccl.ncclAllReduce(a.ptr, a.ptr, 4, 7, n, comms[0].handle, None)[0].name, "
        "nccl.ncclGetLastError(None)[1])",
        "is not an operator of rank 0 of 2",
    ),
    "an end without a start": (
        "print(nccl.ncclGroupEnd()[0].name, nccl.ncclGetLastError(None)[1])",
        "ncclGroupEnd without ncclGroupStart",
    ),
    "what the simulator has not": (
        "print(nccl.ncclGroupSimulateEnd(None)[0].name, nccl.ncclGetLastError(None)[1])",
        "the simulator has no ncclGroupSimulateEnd",
    ),
}


def test_wrong_calls_are_refused() -> None:
    """Each with communicators of its own."""
    code = f"""
for comm in comms: comm.abort()
for code in {[code for code, _ in REFUSED.values()]!r}:
    comms = Communicator.init_all()
    exec(code, globals())
    for comm in comms:
        if not comm.is_closed: comm.abort()
    print("--")
"""
    out, _ = failing(code)
    said = "\n".join(out).split("--\n")
    assert len(said) == len(REFUSED)
    for (what, (_, words)), text in zip(REFUSED.items(), said, strict=True):
        assert words in text, f"{what}: {text}"


WAITING = {
    "sends that wait for each other": (
        """
def one(c):
    a, s = on(c, np.ones(4))
    c.send(a, 1 - c.rank, stream=s)
    c.recv(a, 1 - c.rank, stream=s)
    found.append(error_of(s.sync))
""",
        (
            "deadlock: these ranks wait for each other",
            "rank 0 of 2 (device 0) waits in send of 4 float32 to rank 1 for rank 1 to receive it",
            "rank 1 of 2 (device 1) waits in send of 4 float32 to rank 0 for rank 0 to receive it",
        ),
    ),
    "two communicators in another order": (
        """
with comms[0].group():
    twins = [c.split(0) for c in comms]
def one(c):
    a, s = on(c, np.ones(4))
    for each in (c, twins[c.rank]) if c.rank else (twins[c.rank], c):
        each.all_reduce(a, stream=s)
    found.append(error_of(s.sync))
""",
        ("deadlock: these ranks wait for each other", "its next call stands behind one of"),
    ),
    "a rank that does not come": (
        """
def one(c):
    a, s = on(c, np.ones(4))
    if c.rank == 0:
        c.all_reduce(a, stream=s)
        c.all_reduce(a, stream=s)
        found.append(error_of(s.sync))
    else:
        c.all_reduce(a, stream=s)
""",
        (
            "rank 0 of 2 (device 0) waits in all_reduce of 4 float32, sum for rank 1 to make the same call",
            "rank 1 has made 1 collectives, the last: all_reduce of 4 float32, sum",
            "and has waited for 1 s",
        ),
    ),
    "a receive of another count": (
        """
def one(c):
    a, s = on(c, np.ones(4 + c.rank))
    c.recv(a, 0, stream=s) if c.rank else c.send(a, 1, stream=s)
    found.append(error_of(s.sync))
""",
        ("a send and its receive differ", "rank 1 of 2 (device 1): recv of 5 float32 from rank 0"),
    ),
    "nobody else makes the communicator": (
        """
def one(c):
    c.device.set_current()
    if c.rank == 0:
        found.append(error_of(Communicator.from_unique_id, 0, 2, Communicator.unique_id(), device=0))
""",
        ("waits in ncclCommInitRank for rank 1 to be made", "has waited for 1 s"),
    ),
}


@pytest.mark.parametrize("what", first_of(WAITING, *list(WAITING)[:1], "a rank that does not come"))
def test_who_waits_for_whom_is_told(what: str) -> None:
    code, words = WAITING[what]
    after = """
import os
threads = [threading.Thread(target=one, args=(c,)) for c in comms]
for t in threads: t.start()
for t in threads: t.join()
print(*found, sep="\\n")
sys.stdout.flush()
os._exit(0)
"""
    out, err = failing("found = []\n" + code + after)
    text = "\n".join(out)
    for word in words:
        assert word in text, text + err


def test_abort_ends_a_wait() -> None:
    """And the other ranks are told; what comes later on the device works."""
    code = """
(a, s), (b, t) = (on(c, np.ones(4)) for c in comms)
comms[0].all_reduce(a, stream=s)
start = time.monotonic()
print(error_of(comms[0].sync, s, timeout=0.2).partition(",")[0])
comms[0].abort()
comms[0].device.set_current()
s.sync()
print(time.monotonic() - start < 5, comms[0].is_closed)
threading.Thread(target=lambda: comms[1].all_reduce(b, stream=t)).start()
print(error_of(comms[1].sync, t) if not time.sleep(0.3) else "")
comms[1].abort()
comms[1].device.set_current()
t.sync()
view, u = on(comms[1], [5.0]) if False else (b, t)
found = np.empty(4, np.float32)
b.exporting_obj.copy_to(found, stream=t); t.sync()
print(found.tolist())
"""
    out, err = failing(code)
    assert out[:2] == ["TimeoutError: rank 0 of 2 (device 0)", "True True"]
    assert "CollectiveError" in out[2] and "rank 0 will not come: its communicator was aborted" in out[2], out
    assert out[3] == "[1.0, 1.0, 1.0, 1.0]"
    assert "rank 1 of 2 (device 1) waits in all_reduce" in err


AFTERWARDS = """
CODE = CODE.split("n = 5000")[0] + '''
import time
from pathlib import Path
gone = Path(os.environ["GONE"])
if comm.rank == 0:
    comm.close()
    os._exit(0)
while not gone.exists(): time.sleep(0.01)
a = comm.device.allocate(8000, s); a.copy_from(np.full(2000, comm.rank, np.float32), stream=s)
comm.send(a, 3 - comm.rank, dtype="float32", stream=s) if comm.rank == 1 else comm.recv(
    a, 3 - comm.rank, dtype="float32", stream=s)
found = np.empty(2000, np.float32); a.copy_to(found, stream=s); comm.sync(s)
print(found.mean())
'''
folder = tempfile.mkdtemp()
processes = start(3, RANK="{}", WORLD_SIZE="3", ID_FILE=folder + "/id", GONE=folder + "/gone")
processes[0].wait()
open(folder + "/gone", "w").close()
print(ends(processes))
"""


def test_two_ranks_need_no_third() -> None:
    """Where the process that made the id has ended, the others go on."""
    assert output(PROCESSES + AFTERWARDS).splitlines() == [str(["", "1.0", "1.0"])]


def test_a_process_that_ended_before_the_last_came_is_told() -> None:
    """The last to come need not wait for it. The process that made the id has no rank."""
    code = """
import os, subprocess, sys
from cudapy import simulator
from cudapy.core import Communicator
simulator.enable()
CODE = '''
import os, sys
from cudapy import simulator
from cudapy.core import Communicator
simulator.enable()
try: Communicator.from_unique_id(int(sys.argv[1]), 3, bytes.fromhex(sys.argv[2]))
except Exception as error: print(os.getpid(), error)
'''
id = Communicator.unique_id().hex()
for rank, timeout in enumerate(("0.1", "30")):
    print(subprocess.run([sys.executable, "-c", CODE, str(rank), id], stdout=subprocess.PIPE, text=True,
          env={**os.environ, "CUDAPY_SIMULATOR_COLLECTIVE_TIMEOUT": timeout}).stdout.replace("\\n", " "))
"""
    first, second = output(code).splitlines()
    assert "for ranks 1, 2 to be made" in first
    assert f"process {first.split()[0]}, which came first, has ended" in second


def test_collectives_with_a_configuration() -> None:
    """Do what those without one do."""
    found = ranks("""
choice = nccl.ncclCollConfig_t()
streams, outs, values = [], [], []
for comm in comms:
    view, stream = on(comm, np.arange(4) + comm.rank)
    out, _ = on(comm, np.zeros(4))
    streams.append(stream), outs.append(out), values.append(view)
INT, SUM, handle = nccl.ncclDataType_t.ncclFloat32, nccl.ncclRedOp_t.ncclSum, lambda rank: comms[rank].handle
calls = {
    "AllReduce": (4, INT, SUM), "Broadcast": (4, INT, 1), "Reduce": (4, INT, SUM, 1), "AllGather": (2, INT),
    "ReduceScatter": (2, INT, SUM), "AlltoAll": (2, INT), "Gather": (2, INT, 0), "Scatter": (2, INT, 1),
}
for name, more in calls.items():
    results = []
    for suffix, last in (("", ()), ("Config", (choice,))):
        function = getattr(nccl.checked, f"nccl{name}{suffix}")
        for out in outs:
            out.exporting_obj.fill(0, stream=streams[outs.index(out)])
        nccl.checked.ncclGroupStart()
        for rank, (view, out, stream) in enumerate(zip(values, outs, streams)):
            comms[rank].device.set_current()
            function(view.ptr, out.ptr, *more, handle(rank), stream.handle, *last)
        nccl.checked.ncclGroupEnd()
        results.append([content(*one).tolist() for one in zip(comms, outs, streams)])
    print(name, results[0] == results[1], any(map(any, results[0])))
""")
    assert len(found) == 8 and all(line.endswith("True True") for line in found), found


def test_a_rank_may_come_while_the_others_are_looked_at() -> None:
    board = Board(3)
    comm: Any = SimpleNamespace(rank=0, size=3, board=board, collectives=0, name="three", history="")
    call = Call(comm, "all_gather", 0, 0, 0, 0)
    wait = next(call.task())

    class First(Header):
        def __ne__(self, other: object) -> bool:
            board.note("collective 1", 2, Post(call.header, None))
            return False

    board.note("collective 1", 1, Post(First(*call.header), None))
    assert wait.missing() == []
