"""Ranks that wait for each other in a circle: told at once, also among processes, and only if it is so."""

from __future__ import annotations

import sys

import pytest

from cudapy.simulator.collectives.deadlocks import Entry, State, find_circle

from .test_collectives import PROCESSES, failing
from .test_device import output

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="ranks of processes share memory on Linux alone"
)

# -- Among processes ----------------------------------------------------------------------------------------

RANKS = (
    PROCESSES
    + """
CODE = CODE.split("n = 5000")[0].replace("simulator.enable()", "simulator.enable(reports=False)") + '''
import threading, time
a, b = comm.device.allocate(64, s), comm.device.allocate(64, s)
def try_to(what, *arguments, **named):
    try: what(*arguments, **named)
    except Exception as error: return str(error)
    return "no error"
''' + WHAT + '''
print(text)
sys.stdout.flush()
os._exit(0)
'''
ids = tempfile.mkdtemp()
for text in ends(start(SIZE, RANK="{}", WORLD_SIZE=str(SIZE), ID_FILE=ids + "/id", IDS=ids,
                       CUDAPY_SIMULATOR_COLLECTIVE_TIMEOUT="0")): print(text, end="\\n--\\n")
"""
)
"""No wait is ended by its time: only a circle that is found ends the program."""

SENDS = """
to, other = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
comm.send(a, to, stream=s)
comm.recv(b, other, stream=s)
text = try_to(comm.sync, s)
"""

ORDERS = """
twin = comm.split(0)
for each in (comm, twin) if comm.rank else (twin, comm):
    each.all_reduce(a, dtype="float32", stream=s)
text = try_to(s.sync)
"""

SYNCS = """
twin = comm.split(0)
for each in (comm, twin) if comm.rank else (twin, comm):
    each.all_reduce(a, dtype="float32", stream=s)
    text = try_to(comm.sync, s)
    if text != "no error": break
"""

SPLITS = """
if comm.rank:
    text = try_to(comm.split, 0)
else:
    comm.all_reduce(a, dtype="float32", stream=s)
    text = try_to(s.sync)
"""

CHAIN = """
from pathlib import Path
def of_pair(left):  # a communicator of ranks left and left + 1
    size, ids = comm.size, Path(os.environ["IDS"])
    rank, file = (comm.rank - left) % size, ids / f"pair {left}"
    if rank == 0:
        (ids / f"{left}.new").write_bytes(Communicator.unique_id())
        (ids / f"{left}.new").rename(file)
    while not file.exists(): time.sleep(0.01)
    return Communicator.from_unique_id(rank, 2, file.read_bytes(), device=comm.device)
me = comm.rank
order = sorted((me, (me - 1) % comm.size))  # of the pairs, so that they can be made
pairs = {left: of_pair(left) for left in order}
comm.close()  # the pairs alone connect the processes
pairs[me].all_reduce(a, dtype="float32", stream=s)
pairs[(me - 1) % len(IN)].all_reduce(a, dtype="float32", stream=s)
text = try_to(s.sync)
"""


def texts(what: str, size: int) -> list[str]:
    """What each of so many ranks was told, in processes."""
    code = f"SIZE, WHAT = {size}, {what.replace('len(IN)', str(size))!r}\n" + RANKS
    return [text.strip() for text in output(code).split("--\n")[:-1]]


@pytest.mark.parametrize(
    ("what", "size", "lines"),
    [
        pytest.param(SENDS, 2, ["waits in send of 64 uint8 to rank"], id="sends"),
        pytest.param(
            SENDS, 3, ["waits in send of 64 uint8 to rank"], id="sends of three", marks=pytest.mark.thorough
        ),
        pytest.param(ORDERS, 2, ["waits in all_reduce of 16 float32"], id="two communicators"),
        pytest.param(
            SYNCS, 2, ["waits in all_reduce of 16 float32"], id="a wait between", marks=pytest.mark.thorough
        ),
        pytest.param(
            SPLITS,
            2,
            ["waits in all_reduce of 16 float32", "waits in ncclCommSplit"],
            id="a split",
            marks=pytest.mark.thorough,
        ),
        pytest.param(
            CHAIN,
            4,
            ["of 2 (device", "waits in all_reduce of 16 float32"],
            id="without a connection",
            marks=pytest.mark.thorough,
        ),
    ],
)
def test_a_circle_among_processes_is_told_to_all_its_ranks(what: str, size: int, lines: list[str]) -> None:
    found = texts(what, size)
    assert len(found) == size
    for text in found:
        assert "deadlock: these ranks wait for each other, and none can go on" in text, text
        for line in lines:
            assert line in text


SLOW = """
for i in range(2):
    if comm.rank == i % 2: time.sleep(1.5)
    comm.all_reduce(a, dtype="float32", stream=s)
    if comm.rank != i % 2: time.sleep(1.5)
    twin = comm.split(0)
    text = try_to(comm.sync, s)
"""


@pytest.mark.thorough
def test_ranks_of_processes_that_are_slow_are_no_circle() -> None:
    """Each waits for the other for longer than it takes to tell a circle, one after the other."""
    assert texts(SLOW, 2) == ["no error"] * 2


RANDOM = """
import random
from cudapy.simulator.collectives import deadlocks, waiting
deadlocks.SETTLED, deadlocks.AGE, deadlocks.RARELY, waiting.SLICE = 0.02, 0.005, 0.05, 0.005
shared, own = random.Random(SEED), random.Random(SEED * 100 + comm.rank)
streams, kept = [s, comm.device.create_stream()], []
comms = [comm, comm.split(0), comm.split(comm.rank % 2)]
def program():
    for _ in range(25):
        kind = shared.choice(["all", "all", "send", "split", "half"])
        c, on, (i, j) = shared.randrange(2), shared.randrange(2), shared.sample(range(comm.size), 2)
        each, stream = comms[2 if kind == "half" else c], streams[on]
        if own.random() < 0.3: time.sleep(own.choice([0.01, 0.05, 0.2]))
        if kind in ("all", "half"): each.all_reduce(a, dtype="float32", stream=stream)
        elif kind == "split": kept.append(each.split(0))
        elif comm.rank == i: each.send(a, j, stream=stream)
        elif comm.rank == j: each.recv(a, i, stream=stream)
        if own.random() < 0.2: own.choice([stream.sync, lambda: comm.sync(stream)])()
    for stream in streams: stream.sync()
text = try_to(program)
"""


@pytest.mark.thorough
@pytest.mark.parametrize("seed", [7, 13, 38])
def test_programs_whose_calls_have_one_order_are_no_circle(seed: int) -> None:
    """All ranks have the same order, and pauses of their own; what takes 20 ms counts as settled."""
    assert texts(RANDOM.replace("SEED", str(seed)), 3) == ["no error"] * 3


# -- In one process -----------------------------------------------------------------------------------------

KERNEL = """
import ctypes
from cudapy import driver
sleep = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda _: time.sleep(1))
function = driver.CUhostFn(sleep)
def one(c):
    a, s = on(c, np.ones(4))
    if c.rank == 0:
        driver.checked.cuLaunchHostFunc(s.handle, function, 0)
    c.all_reduce(a, stream=s)
    if c.rank: time.sleep(2)
    found.append(error_of(c.split, 0))
    found.append(error_of(c.sync, s))
found = []
threads = [threading.Thread(target=one, args=(c,)) for c in comms]
for t in threads: t.start()
for t in threads: t.join()
print(found)
"""


def test_a_rank_that_splits_while_its_call_is_queued_is_no_circle() -> None:
    """Rank 1 waits for rank 0's call behind a kernel; rank 0's program already waits for rank 1 to split."""
    out, _ = failing(KERNEL, CUDAPY_SIMULATOR_COLLECTIVE_TIMEOUT="60")
    assert out == ["['no error', 'no error', 'no error', 'no error']"]


def test_a_thread_that_makes_the_calls_of_several_ranks_without_a_group_is_told() -> None:
    out, _ = failing("print(error_of(comms[0].split, 0))", CUDAPY_SIMULATOR_COLLECTIVE_TIMEOUT="0")
    assert "the thread that waits makes the other ranks' calls, too: put them in one group" in out[0]


@pytest.mark.thorough
def test_threads_that_split_at_the_same_time_find_each_other() -> None:
    """The rank that comes second may close the door at which the first one has just asked for others."""
    code = """
def one(c):
    c.device.set_current()
    for _ in range(200): found.append(error_of(lambda: c.split(0).close()))
found = []
threads = [threading.Thread(target=one, args=(c,)) for c in comms]
for t in threads: t.start()
for t in threads: t.join()
print(set(found))
"""
    assert failing(code, CUDAPY_SIMULATOR_COLLECTIVE_TIMEOUT="60")[0] == ["{'no error'}"]


# -- States -------------------------------------------------------------------------------------------------


def state(
    name: str, time: float, since: float, waits_for: str, since_behind: float = 0.0, missed: str = ""
) -> State:
    """A process with one rank and one wait, all named `name`; who waits for it stands behind that."""
    heard = {other: 2 if other == missed else 3 for other in "abc"}
    behind = {f"{name} stream": [(name, since_behind)]}
    return State(name, time, {name: Entry(name, since, [f"{waits_for} stream"])}, behind, {name: 3}, heard)


def test_states_of_one_moment_are_a_circle() -> None:
    states = [state("a", 9, 1, "b"), state("b", 5, 2, "c", 4), state("c", 6, 3, "a")]
    assert list(find_circle("a", states) or ()) == ["a", "b", "c"]
    assert list(find_circle("b", states) or ()) == ["b", "c", "a"]


@pytest.mark.parametrize(
    "states",
    [
        pytest.param([state("a", 9, 1, "b"), state("b", 5, 2, "c")], id="no circle"),
        pytest.param([state("a", 9, 6, "b"), state("b", 5, 2, "a")], id="one ended before the other began"),
        pytest.param([state("a", 9, 1, "b"), state("b", 5, 2, "a", 6)], id="it was behind it too late"),
        pytest.param([state("b", 9, 1, "a")], id="unknown"),
        pytest.param([state("a", 9, 1, "b", missed="b"), state("b", 9, 1, "a")], id="a message has not come"),
        pytest.param([state("a", 9, 1, "b"), state("b", 9, 1, "c"), state("c", 9, 1, "b")], id="another's"),
    ],
)
def test_what_is_no_circle_of_a_wait(states: list[State]) -> None:
    assert find_circle("a", states) is None


def test_an_old_state_does_not_hide_a_circle() -> None:
    """Rank a waits for b and for c: with b it was a circle if b still waited, with c it is one."""
    a = state("a", 9, 6, "b")
    a.entries["a"].calls.append("c stream")
    states = [a, state("b", 5, 1, "a"), state("c", 8, 1, "a")]
    assert list(find_circle("a", states) or ()) == ["a", "c"]


def test_a_state_survives_json() -> None:
    import json

    before = state("a", 9.5, 1.25, "b", 2.5)
    after = State.from_json(json.loads(json.dumps(before)))
    assert (
        after._replace(behind={name: [tuple(each) for each in waits] for name, waits in after.behind.items()})  # type: ignore[misc]
        == before
    )
