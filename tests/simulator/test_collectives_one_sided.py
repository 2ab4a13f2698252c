"""What NCCL 2.29 has besides: puts and signals, communicators that grow, and that are suspended."""

from __future__ import annotations

import sys

import pytest

from .test_collectives import PROCESSES, failing, ranks
from .test_device import output

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="ranks of processes share memory on Linux alone"
)

ONE_SIDED = """
def window(c, a, length):
    return nccl.checked.ncclCommWindowRegister(c.handle, int(a.ptr), length, 0)
def put(c, a, count, peer, win, offset, s):
    nccl.checked.ncclPutSignal(int(a.ptr), count, nccl.ncclDataType_t.ncclFloat32, peer, win, offset, 0, 0, 0,
                               c.handle, s.handle)
def wait(c, s, *pairs):
    descriptions = [nccl.ncclWaitSignalDesc_t(opCnt=n, peer=p, sigIdx=0, ctx=0) for p, n in pairs]
    nccl.checked.ncclWaitSignal(len(descriptions), descriptions, c.handle, s.handle)
"""


def test_puts_are_there_after_their_signals() -> None:
    """In the order of each rank's calls; a wait takes as many signals as it says."""
    code = (
        ONE_SIDED
        + """
(a, s), (b, t) = on(comms[0], np.arange(8)), on(comms[1], np.zeros(8))
windows = [window(c, v, 32) for c, v in zip(comms, (a, b))]
put(comms[0], a, 8, 1, windows[0], 0, s)
put(comms[0], a, 2, 1, windows[0], 12, s)
nccl.checked.ncclSignal(1, 0, 0, 0, comms[0].handle, s.handle)
s.sync()  # without the other rank
wait(comms[1], t, (0, 2))
wait(comms[1], t, (0, 1))
print(content(comms[1], b, t).tolist())
found = []
def later():
    comms[1].device.set_current()
    wait(comms[1], t, (0, 2))
    t.sync()
    found.append("waited")
thread = threading.Thread(target=later)
thread.start()
comms[0].device.set_current()
for _ in range(2):
    nccl.checked.ncclSignal(1, 0, 0, 0, comms[0].handle, s.handle)
    s.sync()
    if not _: time.sleep(0.2); print(found)
thread.join()
print(found)
"""
    )
    assert ranks(code) == ["[0.0, 1.0, 2.0, 0.0, 1.0, 5.0, 6.0, 7.0]", "[]", "['waited']"]


def test_a_rank_puts_to_itself_and_a_group_puts_to_all() -> None:
    code = (
        ONE_SIDED
        + """
views = [on(c, np.full(4, c.rank + 1)) for c in comms]
got = [on(c, np.zeros(size * 4)) for c in comms]
windows = [window(c, a, 16 * size) for c, (a, _) in zip(comms, got)]
with Communicator.group():
    for c, (a, _), (_, s), w in zip(comms, views, got, windows):
        for peer in range(size): put(c, a, 4, peer, w, 16 * c.rank, s)
for c, (_, s) in zip(comms, got): wait(c, s, *((peer, 1) for peer in range(size)))
for c, (a, s) in zip(comms, got): print(content(c, a, s)[::4].tolist())
"""
    )
    assert ranks(code, 3) == ["[1.0, 2.0, 3.0]"] * 3


@pytest.mark.parametrize(
    ("what", "words"),
    [
        (
            "put(comms[0], a, 8, 1, windows[0], 4, s); wait(comms[1], t, (0, 1))",
            "32 bytes at offset 4 of window 0",
        ),
        ("wait(comms[1], t, (0, 1))", "waits in ncclWaitSignal for rank 0 to signal it"),
    ],
)
def test_what_does_not_fit_or_come_is_told(what: str, words: str) -> None:
    code = (
        ONE_SIDED
        + f"""
(a, s), (b, t) = on(comms[0], np.arange(8)), on(comms[1], np.zeros(8))
windows = [window(c, v, 32) for c, v in zip(comms, (a, b))]
{what}
comms[1].device.set_current()
print(error_of(t.sync))
sys.stdout.flush()
import os
os._exit(0)
"""
    )
    out, err = failing(code)
    assert words in "\n".join(out), err


@pytest.mark.parametrize(
    ("call", "words"),
    [
        ("put(comms[0], a, 8, 2, windows[0], 0, s)", "peer = 2 is not a rank of 2"),
        ("put(comms[0], a, 8, 1, windows[1], 0, s)", "not a window of this communicator"),
        ("put(comms[0], a, 9, 1, windows[0], 0, s)", "localbuff"),
        ("nccl.checked.ncclSignal(1, 1, 0, 0, comms[0].handle, s.handle)", "sigIdx = 1"),
        ("nccl.checked.ncclSignal(1, 0, 0, 1, comms[0].handle, s.handle)", "flags = 1"),
        ("wait(comms[0], s, (1, -1))", "opCnt = -1 is negative"),
        ("nccl.checked.ncclCommSuspend(comms[0].handle, 0)", "flags = 0"),
        ("nccl.checked.ncclCommResume(comms[0].handle)", "is not suspended"),
        ("nccl.checked.ncclCommGrow(comms[0].handle, 2, None, -1, None)", "is not more than the 2"),
        ("nccl.checked.ncclCommGrow(comms[0].handle, 3, None, 0, None)", "which is -1"),
        ("nccl.checked.ncclCommGrow(None, 3, None, 2, None)", "a new rank needs an id"),
        (
            "nccl.checked.ncclCommGrow(None, 3, nccl.checked.ncclGetUniqueId(), 2, None)",
            "a new rank needs an id",
        ),
        (
            "nccl.checked.ncclCommGrow(None, 3, nccl.checked.ncclCommGetUniqueId(comms[0].handle), 1, None)",
            "new ranks are 2 to nRanks - 1 = 2",
        ),
        (
            "[nccl.checked.ncclCommGetUniqueId(comms[0].handle) for _ in range(2)]",
            "has an id already that no ncclCommGrow has used",
        ),
    ],
)
def test_wrong_calls_are_refused(call: str, words: str) -> None:
    code = (
        ONE_SIDED
        + f"""
(a, s), (b, t) = on(comms[0], np.arange(8)), on(comms[1], np.zeros(8))
windows = [window(c, v, 32) for c, v in zip(comms, (a, b))]
comms[0].device.set_current()
print(error_of(lambda: {call}))
"""
    )
    (text,) = ranks(code)
    assert words in text


def test_a_suspended_communicator_makes_no_calls() -> None:
    code = """
def stat(c): return nccl.checked.ncclCommMemStats(c.handle, nccl.ncclCommMemStat_t.ncclStatGpuMemSuspended)
def every(call):
    nccl.checked.ncclGroupStart()
    for c in comms: call(c)
    nccl.checked.ncclGroupEnd()
views = [on(c, np.ones(4)) for c in comms]
every(lambda c: nccl.checked.ncclCommSuspend(c.handle, nccl.NCCL_SUSPEND_MEM))
print([stat(c) for c in comms])
print(error_of(comms[0].all_reduce, views[0][0], stream=views[0][1]).count("is suspended"))
print(error_of(comms[0].split, 0).count("is suspended"))
every(lambda c: nccl.checked.ncclCommResume(c.handle))
with Communicator.group():
    for c, (a, s) in zip(comms, views): c.all_reduce(a, stream=s)
print([stat(c) for c in comms], [content(c, a, s)[0] for c, (a, s) in zip(comms, views)])
"""
    assert ranks(code) == ["[1, 1]", "1", "1", "[0, 0] [np.float32(2.0), np.float32(2.0)]"]


GROW = """
few = Communicator.init_all([0, 1])
id = nccl.checked.ncclCommGetUniqueId(few[0].handle)
grown = []
def existing(c):
    c.device.set_current()
    grown.append(nccl.checked.ncclCommGrow(c.handle, 3, id if c.rank == GIVES else None, -1, None))
def new():
    Device(2).set_current()
    grown.append(nccl.checked.ncclCommGrow(None, 3, id, 2, None))
calls = [lambda c=c: found.append(error_of(existing, c)) for c in few] + [lambda: found.append(error_of(new))]
found = []
threads = [threading.Thread(target=call) for call in calls[:CALLS]]
for t in threads: t.start()
for t in threads: t.join()
print(*sorted(found), sep="\\n")
functions = nccl.checked.ncclCommUserRank, nccl.checked.ncclCommCount, nccl.checked.ncclCommCuDevice
print(sorted(tuple(function(c) for function in functions) for c in grown))
sys.stdout.flush()
import os
"""


def test_new_ranks_join_a_communicator() -> None:
    """Those that there are keep their numbers, and the id is for one time."""
    again = "id = nccl.checked.ncclCommGetUniqueId(few[0].handle)\nprint(type(id).__name__)\nos._exit(0)"
    out = ranks("GIVES, CALLS = 0, 3" + GROW + again, 3)
    assert out == ["no error"] * 3 + ["[(0, 3, 0), (1, 3, 1), (2, 3, 2)]", "ncclUniqueId"]


def test_without_its_id_no_communicator_grows() -> None:
    """Nobody gives it."""
    out = ranks("GIVES, CALLS = 7, 2" + GROW + "os._exit(0)", 3)
    assert len(out) == 3 and all("one rank has to give the id" in text for text in out[:2])


APART = (
    PROCESSES
    + """
CODE = CODE.split("n = 5000")[0] + '''
import ctypes, time
from pathlib import Path
from cudapy import nccl
n = 5000
a, b = comm.device.allocate(4 * n, s), comm.device.allocate(4 * n, s)
a.copy_from(np.full(n, comm.rank + 1, np.float32), stream=s); b.fill(0, stream=s)
win = nccl.checked.ncclCommWindowRegister(comm.handle, int(b.handle), 4 * n, 0)
to, other = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
for offset, count in ((0, n), (40, 10)):  # one that is long, one that is short
    nccl.checked.ncclPutSignal(int(a.handle), count, 7, to, win, offset, 0, 0, 0, comm.handle, s.handle)
description = nccl.ncclWaitSignalDesc_t(opCnt=2, peer=other, sigIdx=0, ctx=0)
nccl.checked.ncclWaitSignal(1, [description], comm.handle, s.handle)
found = np.empty(n, np.float32); b.copy_to(found, stream=s); comm.sync(s)
assert set(found) == {other + 1}, set(found)
for call in (nccl.checked.ncclCommSuspend, nccl.checked.ncclCommResume):
    call(*(comm.handle, 1)[:2 if call is nccl.checked.ncclCommSuspend else 1])
comm.all_reduce(a, dtype="float32", stream=s); comm.sync(s)
print("well")
'''
folder = tempfile.mkdtemp()
print(ends(start(2, RANK="{}", WORLD_SIZE="2", ID_FILE=folder + "/id")))
"""
)


def test_in_processes() -> None:
    assert output(APART).splitlines() == [str(["well"] * 2)]
