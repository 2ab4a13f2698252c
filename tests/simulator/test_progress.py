"""What a launch that takes long shows on a terminal, and nowhere else."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests import warm

REPOSITORY = Path(__file__).parents[2]
PROGRAM = """
from cudapy.simulator.engine import progress, settings
progress.PATIENCE = 0.0
settings.current.batch = 64
from cudapy.core import Device, LaunchConfig, ObjectCode, launch
PTX = b'''
.version 7.0
.target sm_70
.address_size 64
.visible .entry idle(.param .u32 fault)
{
    .reg .u32 %r<2>; .reg .pred %p<2>;
    ld.param.u32 %r1, [fault];
    setp.ne.u32 %p1, %r1, 0;
    @%p1 trap;
    ret;
}
'''
device = Device()
device.set_current()
kernel = ObjectCode.from_ptx(PTX).get_kernel("idle")
launch(device.default_stream, LaunchConfig(grid=10, block=32), kernel, 0)
device.sync()
print("done")
"""


def shown(program: str, *, terminal: bool = True, **environment: str) -> tuple[str, str]:
    """What a program prints on stdout, and on stderr, which is a terminal or a pipe."""
    given = {name: value for name, value in os.environ.items() if not name.startswith("CUDAPY")}
    given |= {"PYTHONPATH": str(REPOSITORY), "CUDAPY_DRIVER": "simulator", **environment}
    if not terminal:
        done = warm.run(["-c", program], env=given, ends_at_once=True)
        return done.stdout, done.stderr
    terminal_end, child_end = pty.openpty()
    command = [sys.executable, "-c", program]
    child = subprocess.Popen(command, env=given, stdout=subprocess.PIPE, stderr=child_end, text=True)
    os.close(child_end)
    err = b""
    while part := _read(terminal_end):
        err += part
    os.close(terminal_end)
    return child.communicate(timeout=60)[0], err.decode()


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 4096)
    except OSError:  # nobody has the other end
        return b""


def lines(text: str) -> list[str]:
    """What the terminal had in its line, one after the other."""
    return [line for line in dict.fromkeys(part.strip() for part in text.split("\r")) if line]


def test_a_terminal_shows_the_blocks_that_are_done() -> None:
    out, err = shown(PROGRAM)
    assert out == "done\n"
    counts = re.findall(r"cudapy simulator: idle, (\d+) of 10 blocks, about \d+ s left", err)
    assert list(dict.fromkeys(counts)) == ["2", "4", "6", "8", "10"]
    assert err.endswith("\r" + 79 * " " + "\r"), "the line is taken away"
    assert max(map(len, lines(err))) < 80


@pytest.mark.thorough
@pytest.mark.parametrize("how", ["no terminal", "switched off", "short"])
def test_otherwise_nothing_is_shown(how: str) -> None:
    program = PROGRAM.replace("progress.PATIENCE = 0.0\n", "") if how == "short" else PROGRAM
    environment = {"CUDAPY_SIMULATOR_PROGRESS": "0"} if how == "switched off" else {}
    assert shown(program, terminal=how != "no terminal", **environment) == ("done\n", "")


@pytest.mark.thorough
def test_a_fault_takes_the_line_away_first() -> None:
    program = PROGRAM.replace(
        "kernel, 0)\ndevice.sync()",
        "kernel, 0)\nlaunch(device.default_stream, LaunchConfig(grid=4, block=32), kernel, 1)\ndevice.sync()",
    )
    out, err = shown(program)
    assert out == ""
    before, _, report = err.partition("Traceback")
    assert report and before.endswith("\r" + 79 * " " + "\r")
