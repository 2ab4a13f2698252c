"""Orders of threads: schedules, and the search for one in which a program does something else."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cudapy import simulator
from cudapy.simulator import exploration
from cudapy.simulator.engine import launch, schedule
from cudapy.simulator.engine.memory import Memory
from cudapy.simulator.engine.module import Module
from cudapy.simulator.engine.schedule import Delay, Schedule
from cudapy.simulator.engine.settings import Settings

from .test_shared import run as run_python

HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n"
SHIFT = (
    HEAD
    + """
.visible .entry shift(.param .u64 p)
{
    .reg .u64 %a, %o;
    .reg .u32 %t, %b, %n, %v;
    ld.param.u64 %a, [p];
    mov.u32 %t, %tid.x;
    mov.u32 %b, %ctaid.x;
    mov.u32 %n, %ntid.x;
    mad.lo.u32 %t, %b, %n, %t;
    mul.wide.u32 %o, %t, 4;
    add.u64 %a, %a, %o;
    ld.global.u32 %v, [%a+4];
    st.global.u32 [%a], %v;
    ret;
}
.visible .entry increment(.param .u64 p)
{
    .reg .u64 %a;
    .reg .u32 %v;
    ld.param.u64 %a, [p];
    ld.global.u32 %v, [%a];
    add.u32 %v, %v, 1;
    st.global.u32 [%a], %v;
    ret;
}
.visible .entry count(.param .u64 p)
{
    .reg .u64 %a;
    ld.param.u64 %a, [p];
    red.global.add.u32 [%a], 1;
    ret;
}
"""
)
SEVERAL = "first+shift#1:2.0+shift#1:3.1"


def launched(text: str | None, kernel: str = "shift") -> list[int]:
    """What 129 numbers, all of which are their index, are after a launch of two blocks of two warps."""
    schedule.begin_again()
    chosen = Settings(schedule=None if text is None else Schedule.parse(text))
    memory = Memory(chosen)
    numbers = memory.upload(np.arange(129, dtype=np.uint32))
    launch(Module(SHIFT, memory).functions[kernel], 2, 64, (numbers,), settings=chosen)
    return [int(each) for each in memory.download(numbers, 129, np.uint32)]


@pytest.mark.parametrize("text", ["first", "last", "turns", "random:17", SEVERAL])
def test_a_schedule_is_text(text: str) -> None:
    assert str(Schedule.parse(text)) == text


@pytest.mark.parametrize(
    "text", ["", "second", "random", "random:x", "random:1+k#1:2.3", "first+k", "first+k#1:2"]
)
def test_what_is_not_a_schedule(text: str) -> None:
    with pytest.raises(ValueError, match="there is no schedule"):
        Schedule.parse(text)
    with pytest.raises(ValueError, match="there is no schedule"):
        simulator.enable(schedule=text)


def test_one_warp_at_a_time() -> None:
    """Each takes what the next one had, unless that has run before."""
    moved = [*range(1, 129), 128]
    assert launched(None) == launched("first") == launched("turns") == moved
    late = {31: 33, 63: 65, 95: 97}
    assert launched("last") == [late.get(i, number) for i, number in enumerate(moved)]


def test_others_have_their_turn_between_two_accesses() -> None:
    """Threads of a warp read together; the warps of `first` do so one after another."""
    assert [launched(text, "increment")[0] for text in (None, "first", "last", "turns")] == [1, 4, 4, 1]
    assert {launched(f"random:{seed}", "count")[0] for seed in range(6)} == {128}


def test_delays_make_a_random_order_again() -> None:
    found = []
    for seed in range(0, 30, 3):
        numbers = launched(f"random:{seed}")
        delays = schedule.delays()
        again = Schedule("first").with_delays(delays)
        assert launched(str(again)) == numbers
        found.append(numbers)
        assert all(line.startswith("PTX line ") and line.endswith(" of shift") for line in delays.values())
    assert len({*map(tuple, found)}) > 2, "they are different orders"


def test_a_loop_that_waits_for_a_later_warp_ends() -> None:
    text = (
        HEAD
        + """
.visible .entry wait(.param .u64 p)
{
    .reg .u64 %a;
    .reg .u32 %t, %v;
    .reg .pred %last, %is_there;
    ld.param.u64 %a, [p];
    mov.u32 %t, %tid.x;
    setp.ge.u32 %last, %t, 96;
    @%last bra flag;
look:
    ld.volatile.global.u32 %v, [%a];
    setp.ne.u32 %is_there, %v, 0;
    @!%is_there bra look;
    ret;
flag:
    st.volatile.global.u32 [%a], 1;
    ret;
}
"""
    )
    for each in ("first", "last", "turns", "random:4"):
        chosen = Settings(schedule=Schedule.parse(each))
        memory = Memory(chosen)
        flag = memory.upload(np.zeros(1, np.uint32))
        launch(Module(text, memory).functions["wait"], 1, 128, (flag,), settings=chosen)
        assert memory.download(flag, 1, np.uint32)[0] == 1


def test_as_few_delays_as_make_a_difference() -> None:
    needed = {Delay("k", 1, 3, 2), Delay("k", 2, 0, 7)}
    others = {Delay("k", 1, warp, 5) for warp in range(9)}
    runs = []

    def run(chosen: Schedule | None) -> tuple[Any, dict[Delay, str]]:
        runs.append(chosen)
        delays = (
            needed | others
            if chosen is not None and chosen.seed == 1
            else set(chosen.delays if chosen else ())
        )
        return needed <= delays, {one: f"line {one.step}" for one in delays}

    explored = exploration._explored(run, exploration.schedules([0, 1, 2]))
    assert explored.schedule == "last+k#1:3.2+k#2:0.7" and (explored.expected, explored.observed) == (
        False,
        True,
    )
    assert explored.delays == {"warp 3 of k#1": "line 2", "warp 0 of k#2": "line 7"}
    assert explored.runs == 6 and runs[5] == Schedule.random(1) and len(runs) < 6 + 40
    with pytest.raises(ValueError, match="from 1 on"):
        exploration.schedules(0)


PROGRAM = """
import sys
import numpy as np
from cudapy.core import Device, LaunchConfig, ObjectCode, launch
device = Device(0)
device.set_current()
def program(name):
    stream = device.create_stream()
    numbers = device.upload(np.arange(129, dtype=np.int32), stream)
    launch(stream, LaunchConfig(grid=2, block=64), ObjectCode.from_ptx(PTX).get_kernel(name), numbers)
    return numbers.download(np.int32)
"""


def test_a_function_is_explored() -> None:
    code = f"from cudapy import simulator\nsimulator.enable()\nPTX = {SHIFT.encode()!r}\n{PROGRAM}"
    code += """
def failing():
    if program("increment")[0] > 1:
        raise ValueError("two warps")
print(simulator.explore(lambda: program("count"), 5))
found = simulator.explore(lambda: program("shift"))
print(found.schedule, found.delays, found)
print(simulator.explore(failing))
print(simulator.explore(lambda: program("count"), 1).schedule)
"""
    done = run_python("-c", code)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        "the same in each of 6 runs",
        "last {} the order of threads decides: the schedule 'last' makes a difference",
        "    3 of 129 elements differ, the first at [31]: 33, not 32",
        "one warp ran at a time, the last that can run",
        "the order of threads decides: the schedule 'first' makes a difference",
        "with it",
        "    ValueError: two warps",
        "without it",
        "    None",
        "one warp ran at a time, the first that can run",
        "None",
    ]


def test_a_program_is_explored(tmp_path: Path) -> None:
    """And what is said to run it again in that order does."""
    file = tmp_path / "a program.py"
    file.write_text(f"PTX = {SHIFT.encode()!r}\n{PROGRAM}\nprint(program(sys.argv[1])[31])\n")
    options = ["-m", "cudapy.simulator", "--explore", "2", "--devices", "1", str(file)]
    done = run_python(*options, "shift")
    assert (done.returncode, done.stdout) == (1, "32\n")
    assert "the schedule 'last' makes a difference" in done.stderr and "    33" in done.stderr
    command = shlex.split(done.stderr.rpartition("to see it again: python ")[2])
    assert run_python(*command).stdout == "33\n"
    options[3] = "1"
    done = run_python(*options, "count")
    assert done.returncode == 0 and "the same in each of 2 runs" in done.stderr
    assert run_python("-m", "cudapy.simulator", "--explore", "0", str(file)).returncode == 2
    for option in ("--schedule=last", "--json=findings"):  # of each run, which would not be the order's then
        done = run_python("-m", "cudapy.simulator", "--explore", "2", option, str(file))
        assert done.returncode == 2 and "--explore has its own" in done.stderr


def test_arrays_that_are_equal_have_no_place_where_they_differ() -> None:
    value = np.arange(3)
    outcomes = (exploration.Outcome(value, findings) for findings in (["before"], ["before", "a race"]))
    text = str(exploration.Exploration(2, "last", *outcomes))
    assert "differ" not in text.partition("\n")[2] and "\n    a race\n" in text and "    before" not in text
    short, long = (exploration.Outcome(value.astype(kind), []) for kind in ("i4", "i8"))
    assert short != long and "with it" in str(exploration.Exploration(2, "last", short, long))
