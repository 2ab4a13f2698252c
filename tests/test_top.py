"""`python -m cudapy top`: made-up readings as text, the screen in a terminal, and the simulator's devices."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import cudapy
from cudapy import __main__ as command
from cudapy._commands.top import command as top
from cudapy._commands.top import readings, screen
from cudapy._commands.top.readings import DeviceReading, MachineReading, ProcessReading
from cudapy._commands.top.table import lines, shown
from cudapy.core import system

from .tiers import first

REPOSITORY = Path(cudapy.__file__).parents[1]
GIB = 2**30
TRAINING = ProcessReading(0, 4321, "C", "ada", 96 * GIB, 97, "python train.py --epochs 90")
DESKTOP = ProcessReading(1, 17, "C+G", None, None, None, None)
H200 = DeviceReading(0, "NVIDIA H200", 61, None, 512.4, 700, 1980, 95, 97 * GIB, 139 * GIB, (TRAINING,))
CARD = DeviceReading(1, "NVIDIA RTX 4090", 34, 30, 20.2, None, 210, 0, GIB, 24 * GIB, (DESKTOP,))
LOST = DeviceReading(2, problem="the GPU is lost")
MACHINE = MachineReading("580.65.06", "13.0", (H200, CARD, LOST))
ESCAPE = re.compile(r"\x1b\[\d*m")


def test_everything_is_told() -> None:
    heading, empty, *devices, between, titles, first, second = lines(MACHINE, None)
    assert (heading, empty, between) == ("3 devices, driver 580.65.06, CUDA 13.0", "", "")
    assert devices == [
        "  0 NVIDIA H200      61 C           512/700 W  1980 MHz"
        f"  [{bar(19)}]  95%  [{bar(14)}]  97.0/139.0 GiB",
        "  1 NVIDIA RTX 4090  34 C  fan 30%       20 W   210 MHz"
        f"  [{bar(0)}]   0%  [{bar(1)}]    1.0/24.0 GiB",
        "  2                  the GPU is lost",
    ]
    assert titles == "GPU  PID USER TYPE    MEMORY BUSY COMMAND"
    assert first == "  0 4321 ada  C    98304 MiB  97% python train.py --epochs 90"
    assert second == "  1   17 -    C+G          -    - -"


def bar(full: int) -> str:
    return "|" * full + " " * (20 - full)


@pytest.mark.parametrize("colors", [False, True])
@pytest.mark.parametrize("width", [1, 10, 40, 79, 80, 110, 200])
def test_no_line_is_wider_than_the_terminal(width: int, colors: bool) -> None:
    found = lines(MACHINE, width, colors)
    assert max(len(ESCAPE.sub("", line)) for line in found) <= width
    assert colors == any("\x1b[31m" in line for line in found)
    assert len(found) == len(lines(MACHINE, None))


def test_bars_take_the_room_there_is() -> None:
    def bars(width: int) -> list[int]:
        return [len(bar) for bar in re.findall(r"\[([| ]*)\]", lines(MACHINE, width)[2])]

    assert bars(200) == [20, 20] and bars(60) == []
    (first, second) = bars(100)
    assert first == second and 3 <= first < 20
    assert len(lines(MACHINE, 100)[2]) in (99, 100)


def test_a_machine_without_devices_or_processes() -> None:
    assert lines(MachineReading("1", "13.0", ()), 80)[0] == "0 devices, driver 1, CUDA 13.0"
    alone = MachineReading("1", "13.0", (DeviceReading(0, "A"),))
    expected = ["1 device, driver 1, CUDA 13.0", "", "  0 A", "", "no processes that NVML sees"]
    assert lines(alone, 80) == expected


def test_names_of_strangers_do_nothing_to_the_terminal() -> None:
    assert shown("a\x1b[2Jb\r\nc\udce4") == "a?[2Jb??c?"
    assert shown("训练程序", 5) == "训练…"
    evil = ProcessReading(0, 1, "C", "\x1b]0;x\x07", 0, 0, "x\x1b[?1049l\n" * 3)
    text = "".join(lines(MachineReading("1", "1", (DeviceReading(0, "A", processes=(evil,)),)), 80))
    assert text.isprintable()


def test_the_screen_has_as_many_lines_as_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    screen.draw([str(number) for number in range(10)], 4)
    written = capsys.readouterr().out
    assert written.startswith("\x1b[H") and written.endswith("\x1b[J")
    assert re.sub(r"\x1b\[[HKJ]", "", written).split("\r\n") == ["0", "1", "2", "... 7 more"]


def test_what_a_device_does_not_tell() -> None:
    def missing() -> Any:
        raise system.NotSupportedError(3)

    def lost() -> Any:
        raise system.GpuIsLostError(15)

    assert readings.told(lambda: 5) == 5 and readings.told(missing) is None
    with pytest.raises(system.GpuIsLostError):
        readings.told(lost)


def test_processes_of_both_kinds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each once, those with the most memory first, with what the newest sample says of it."""
    unknown, mine = (1 << 64) - 1, os.getpid()

    def process(pid: int, memory: int) -> SimpleNamespace:
        return SimpleNamespace(pid=pid, used_gpu_memory=memory)

    def sample(pid: int, time_stamp: int, sm_util: int) -> SimpleNamespace:
        return SimpleNamespace(pid=pid, time_stamp=time_stamp, sm_util=sm_util)

    told = {
        "device_get_compute_running_processes_v3": [process(mine, 5), process(2**31 - 1, 7)],
        "device_get_graphics_running_processes_v3": [process(mine, 5), process(2**31 - 2, unknown)],
        "device_get_process_utilization": [sample(mine, 9, 40), sample(mine, 3, 80)],
    }
    fake = SimpleNamespace(**{name: lambda *_, found=found: found for name, found in told.items()})
    monkeypatch.setattr(readings, "nvml", fake)
    monkeypatch.setattr(readings.system, "get_process_name", lambda pid: f"program {pid}")  # type: ignore[attr-defined]
    first, second, third = readings._processes(3, 0)
    assert first == ProcessReading(3, 2**31 - 1, "C", None, 7, None, f"program {2**31 - 1}")
    assert (second.pid, second.kind, second.memory, second.busy) == (mine, "C+G", 5, 40)
    assert second.command and ("python" in second.command or "pytest" in second.command)
    assert (third.pid, third.kind, third.memory) == (2**31 - 2, "G", None)


def test_a_lost_device_does_not_hide_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    def lost(index: int) -> Any:
        raise system.GpuIsLostError(15)

    monkeypatch.setattr(readings.system, "Device", lost)  # type: ignore[attr-defined]
    found = readings._device(1)
    assert found.index == 1 and found.problem and found.processes == ()


@pytest.mark.parametrize("text", ["0", "-1", "nan", "inf", "soon"])
def test_intervals_that_are_none(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        command.main(["top", "--interval", text])
    assert "--interval" in capsys.readouterr().err


SIMULATED = {"CUDAPY_DRIVER": "simulator", "CUDAPY_SIMULATOR_DEVICES": "2", "PYTHONPATH": str(REPOSITORY)}


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    environ = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    return subprocess.run(
        [sys.executable, "-m", "cudapy", "top", *arguments],
        env={**environ, **environment},
        capture_output=True,
        text=True,
        timeout=60,
    )


@pytest.mark.parametrize("arguments", first(1, [(), ("--once",)]))
def test_in_a_pipe_it_is_told_once(arguments: tuple[str, ...]) -> None:
    done = run(*arguments, **SIMULATED)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("cudapy simulator") == 2 and "\x1b" not in done.stdout
    narrow = run(*arguments, **SIMULATED, COLUMNS="20").stdout
    assert max(map(len, narrow.splitlines())) == 20


def test_without_nvml(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    from cudapy.pathfinder import LibraryNotFound

    def missing() -> Any:
        raise LibraryNotFound("there is no NVML")

    monkeypatch.setattr(top, "machine", missing)
    assert command.main(["top", "--once"]) == 1
    assert capsys.readouterr().err == "python -m cudapy top: there is no NVML\n"


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
@pytest.mark.parametrize("end", first(2, ["q", "terminate", "\x03", "\x1b", "interrupt"]))
def test_in_a_terminal_until_a_key(end: str) -> None:
    """The screen of its own is given back, and the terminal's modes are as before."""
    import fcntl
    import pty
    import struct
    import termios

    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 12, 64, 0, 0))
    before = termios.tcgetattr(theirs)

    def own_terminal() -> None:
        os.setsid()
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # ignored in what a shell runs in the background

    environ = {**os.environ, **SIMULATED, "TERM": "xterm"}
    for name in ("COLUMNS", "LINES", "NO_COLOR"):
        environ.pop(name, None)
    process = subprocess.Popen(
        [sys.executable, "-m", "cudapy", "top", "--interval", "0.1"],
        stdin=theirs, stdout=theirs, stderr=theirs, env=environ, preexec_fn=own_terminal,
    )  # fmt: skip
    try:
        seen, deadline = "", time.monotonic() + 60
        while seen.count("\x1b[H") < 3:  # it is refreshed
            assert process.poll() is None and time.monotonic() < deadline, seen + read_now(ours)
            seen += read_now(ours)
        if end == "terminate":
            process.send_signal(signal.SIGTERM)
        elif end != "interrupt":
            os.write(ours, end.encode())
        else:
            process.send_signal(signal.SIGINT)
        deadline = time.monotonic() + 60
        while process.poll() is None and time.monotonic() < deadline:
            seen += read_now(ours)
        seen += read_now(ours)
        assert process.returncode == (128 + signal.SIGTERM if end == "terminate" else 0)
        assert seen.startswith("\x1b[?1049h\x1b[?25l") and seen.endswith("\x1b[?25h\x1b[?1049l")
        assert "Traceback" not in seen and seen.count("\x1b[?1049l") == 1
        shown_lines = re.sub(r"\x1b\[[?\d]*[A-Za-z]", "", seen.split("\x1b[H")[1]).split("\r\n")
        assert max(map(len, shown_lines)) <= 64 and sum("simulator" in line for line in shown_lines) == 2
        assert termios.tcgetattr(theirs) == before
    finally:
        process.kill()
        process.wait()
        os.close(ours)
        os.close(theirs)


def read_now(descriptor: int) -> str:
    """What has been written by now."""
    import select

    ready, _, _ = select.select([descriptor], [], [], 0.05)
    return os.read(descriptor, 65536).decode() if ready else ""
