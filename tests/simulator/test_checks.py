"""`python -m cudapy.simulator --check`: what is found, by whom, and what becomes of the exit code."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cudapy.simulator import found, record
from cudapy.simulator.engine import CLASSES, Finding, Place
from cudapy.simulator.streams import faults
from tests import warm
from tests.tiers import first

from .test_shared import REPOSITORY, has_entry_point, pytestmark

__all__ = ["pytestmark"]

PTX = '''
PTX = b"""
.version 7.0
.target sm_70
.address_size 64
.visible .entry outside(.param .u64 p)
{
    .reg .u64 %rd<2>; .reg .u32 %r<2>;
    ld.param.u64 %rd1, [p];
    mov.u32 %r1, 1;
    st.global.u32 [%rd1+4], %r1;
    ret;
}
.visible .entry harmless(.param .u64 p) { ret; }
.visible .entry unwritten(.param .u64 p)
{
    .reg .u64 %rd<2>; .reg .u32 %r<2>;
    ld.param.u64 %rd1, [p];
    ld.global.u32 %r1, [%rd1];
    st.global.u32 [%rd1], %r1;
    ret;
}
.visible .entry race(.param .u64 p)
{
    .reg .u64 %rd<2>; .reg .u32 %r<3>;
    .shared .align 4 .b8 x[4];
    ld.param.u64 %rd1, [p];
    mov.u32 %r1, %tid.x;
    st.shared.u32 [x], %r1;
    ld.shared.u32 %r2, [x];
    st.global.u32 [%rd1], %r2;
    ret;
}
"""
'''
PROGRAM = """
import atexit, os, resource, subprocess, sys, threading
from cudapy import driver

PTX_HERE
class Freed:
    def __init__(self, pointer): self.pointer = pointer
    def __del__(self): driver.cuMemFree(self.pointer)

def late():
    print("late handler")

def end(how):
    if how == "environ": os.environ.clear()
    elif how == "stderr": os.close(2)
    elif how == "descriptors": os.closerange(0, 100)
    elif how == "no more files": resource.setrlimit(resource.RLIMIT_NOFILE, (3, 3))
    elif how == "folder": os.chdir("/")
    elif how == "exit": os._exit(0)
    elif how == "thread": threading.Thread(target=os._exit, args=(0,)).start(), threading.Event().wait()
    elif how == "kill": os.kill(os.getpid(), 9)
    elif how == "exec": os.execv("/bin/sh", ["sh", "-c", "exit 0"])
    elif how == "clean exec": os.execve("/bin/sh", ["sh", "-c", "exit 0"], {})

def main(what, *arguments):
    driver.cuInit(0)
    context = driver.cuDevicePrimaryCtxRetain(0)[1]
    driver.cuCtxSetCurrent(context)
    driver.cuMemFree(0)
    pointer = driver.cuMemAlloc(4)[1]
    if what == "leak":
        return None
    if what in ("outside", "unwritten", "race"):
        module = driver.cuModuleLoadData(PTX)[1]
        function = driver.cuModuleGetFunction(module, what.encode())[1]
        import ctypes
        given = ((int(pointer),), (ctypes.c_size_t,)), 0
        if arguments[:1] == ("before",):
            first = driver.cuModuleGetFunction(module, b"harmless")[1]  # later there are no imports any more
            driver.cuLaunchKernel(first, 1, 1, 1, 1, 1, 1, 0, 0, *given)
            driver.cuCtxSynchronize()
            end(arguments[1])
        driver.cuLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, 0, *given)
        if arguments[:1] != ("not waited for",): driver.cuCtxSynchronize()
    if arguments[:1] == ("after",): end(arguments[1])
    return Freed(pointer)

atexit.register(late)
if sys.argv[1] == "child":
    subprocess.run([sys.executable, *sys.argv[2:]], stderr=subprocess.DEVNULL)
elif sys.argv[1] == "fork":
    if not os.fork():
        main(*sys.argv[2:])
        os._exit(0)
    os.wait()
else:
    kept = main(*sys.argv[1:])
    if sys.argv[-1] == "fails":
        sys.exit(3)
""".replace("PTX_HERE", PTX)


def run(
    folder: Path, options: list[str], *arguments: str, **environment: str
) -> tuple[int, str, list[dict[str, Any]]]:
    """The exit code, the last line on stderr, and what --json says."""
    done = start(folder, [*options, "--json", str(folder / "found.json")], *arguments, **environment)
    assert "late handler" in done.stdout, done.stderr
    return done.returncode, done.stderr.splitlines()[-1], json.loads((folder / "found.json").read_text())


def start(
    folder: Path, options: list[str], *arguments: str, **environment: str
) -> subprocess.CompletedProcess[str]:
    """The program, checked."""
    program = folder / "program.py"
    program.write_text(PROGRAM)
    given = {name: value for name, value in os.environ.items() if not name.startswith("CUDAPY")}
    given |= {"PYTHONPATH": str(REPOSITORY), **environment}
    command = [sys.executable, "-m", "cudapy.simulator", *options, str(program), *arguments]
    return subprocess.run(
        command, env=given, capture_output=True, text=True, cwd=folder, timeout=120, check=False
    )


@pytest.mark.parametrize(
    ("what", "kind", "words"),
    [
        ("outside", "fault", "1 fault"),
        ("unwritten", "uninitialized", "1 read of uninitialized memory, 1 race"),
        ("race", "race", "2 races"),
        ("leak", "leak", "1 leak of 4 bytes"),
    ],
)
@pytest.mark.thorough
def test_what_is_found(tmp_path: Path, what: str, kind: str, words: str) -> None:
    code, last, found = run(tmp_path, ["--check", "races,uninitialized,leaks"], what)
    assert (code, last) == (
        1, f"cudapy simulator: {words} (checked: faults, races, uninitialized, leaks)",
    )  # fmt: skip
    one = found[0]
    assert one["kind"] == kind
    assert one["report"].startswith(one["message"])
    assert kind == "leak" or (one["kernel"] == what and one["ptx_line"] > 4 and "thread" in one["threads"])


def test_values_and_allocations(tmp_path: Path) -> None:
    """In reports and as data."""
    call = f"program.py:{PROGRAM[: PROGRAM.index('driver.cuMemAlloc(4)')].count(chr(10)) + 1}"
    (one,) = run(tmp_path, ["--check", "races"], "outside")[2]
    address = one["address"] - 4
    expected = {"kind": "device", "address": address, "size": 4, "function": "cuMemAlloc", "line": call}
    assert one["allocation"] == expected
    allocated = f"device memory of 4 bytes at {address:#x}, allocated in cuMemAlloc, {call}"
    assert f"0 bytes past the end of {allocated}" in one["report"]
    one, other = run(tmp_path, ["--check", "races"], "race")[2]
    assert (one["access"], one["value"]) == ("write", 1)
    assert (one["other"]["access"], one["other"]["value"]) == ("write", 0)
    assert "writes 1; the other wrote 0\n" in one["report"]
    assert "reads 63; the other wrote 63\n" in other["report"]
    (leak,) = run(tmp_path, ["--check", "leaks"], "leak")[2]
    assert (leak["function"], leak["line"]) == ("cuMemAlloc", call)
    assert leak["message"].endswith(f", allocated in cuMemAlloc, {call}, were not freed")


def test_what_nobody_waits_for_is_checked(tmp_path: Path) -> None:
    code, last, _ = run(tmp_path, ["--check=races"], "race", "not waited for")
    assert (code, last) == (1, "cudapy simulator: 2 races (checked: faults, races)")


@pytest.mark.parametrize(
    ("options", "arguments", "code", "words"),
    [
        (["--check=all"], ["nothing"], 0, "no errors (checked: faults, races, uninitialized, leaks)"),
        (["--check=all"], ["leak"], 0, "1 leak of 4 bytes (checked: faults, races, uninitialized, leaks)"),
        (["--check=races"], ["leak"], 0, "no errors (checked: faults, races)"),
        (["--check=leaks"], ["unwritten"], 0, "no errors (checked: faults, leaks)"),
        (["--check=leaks,races"], ["nothing", "fails"], 3, "no errors (checked: faults, leaks, races)"),
        (["--error-exitcode", "9"], ["outside", "fails"], 9, "1 fault (checked: faults)"),
        ([], ["outside", "fails"], 3, "1 fault (checked: faults)"),
        (["--check=races"], ["child", "program.py", "outside"], 1, "1 fault (checked: faults, races)"),
    ],
)
@pytest.mark.thorough
def test_exit_codes(tmp_path: Path, options: list[str], arguments: list[str], code: int, words: str) -> None:
    assert run(tmp_path, options, *arguments)[:2] == (code, f"cudapy simulator: {words}")


ASKS = """
import ctypes
library = ctypes.CDLL("libcuda.so.1")
library.cuInit(0)
def test_that_falls_back():
    for _ in range(2):
        assert library.cuGetExportTable(ctypes.byref(ctypes.c_void_p()), bytes(16)) == 801
def test_of_something_else():
    assert True
"""
"""Asks for the tables that a libcudart asks for which is linked statically, and goes on without them."""


@pytest.mark.parametrize("check", first(1, ["--check=races", "--check=all"]))
def test_a_library_that_does_not_run_on_the_simulator(tmp_path: Path, check: str) -> None:
    command = [sys.executable, "-m", "cudapy.simulator", check, "--json", str(tmp_path / "found.json")]
    done = subprocess.run(
        [*command, "-c", f"{ASKS}\ntest_that_falls_back()"],
        capture_output=True, text=True, cwd=REPOSITORY, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 1 and done.stderr.count("linked statically") == 1
    assert "cudapy simulator: 1 library that does not run on the simulator (checked: faults, " in done.stderr
    (finding,) = json.loads((tmp_path / "found.json").read_text())
    assert finding["kind"] == "refusal" and "linked statically" in finding["message"]


def test_a_test_with_a_library_that_does_not_run_on_the_simulator(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(ASKS)
    options = ["-p", "no:cacheprovider", f"--rootdir={tmp_path}", "--cuda-simulator", str(tmp_path)]
    if not has_entry_point():
        options = ["-p", "cudapy.simulator.pytest_plugin", *options]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options],
        capture_output=True, text=True, cwd=REPOSITORY, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 1 and "1 failed, 1 passed" in done.stdout, done.stdout
    assert "linked statically" in done.stdout


def test_a_test_with_a_race(tmp_path: Path) -> None:
    """It fails, and the next one has fresh findings; the context goes on."""
    (tmp_path / "test_it.py").write_text(f"""{PTX}
import pytest
from cudapy.core import Device, LaunchConfig, ObjectCode, launch
@pytest.fixture(scope="session")
def dev():
    device = Device()
    device.set_current()
    return device
@pytest.mark.parametrize("threads", [64, 1, 32])
def test_it(dev, threads):
    stream = dev.create_stream()
    buffer = dev.allocate(4, stream)
    kernel = ObjectCode.from_ptx(PTX).get_kernel("race")
    launch(stream, LaunchConfig(grid=1, block=threads), kernel, buffer)
    stream.sync()
""")
    options = ["-p", "no:cacheprovider", "-n", "0", f"--rootdir={tmp_path}", "--cuda-simulator"]
    if not has_entry_point():
        options = ["-p", "cudapy.simulator.pytest_plugin", *options]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, "--cuda-check=races", str(tmp_path)],
        capture_output=True, text=True, cwd=REPOSITORY, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 1 and "2 failed, 1 passed" in done.stdout, done.stdout
    assert "Race in __shared__ memory" in done.stdout and "test_it[1]" not in done.stdout


GOES_ON = """
import numpy as np
from cudapy import simulator
from cudapy.core import Device, LaunchConfig, ObjectCode, launch
simulator.enable(check_races=True, findings="record", reports=False, classes=CLASSES, coverage=True)
device = Device()
device.set_current()
stream = device.create_stream()
buffer = device.allocate(4, stream)
kernel = ObjectCode.from_ptx(PTX.replace(b" race(", b" _Z4raceIiEvPT_(")).get_kernel("_Z4raceIiEvPT_")
for threads in (64, 64):
    launch(stream, LaunchConfig(grid=1, block=threads), kernel, buffer)
    stream.sync()
for one in simulator.findings(forget=True):
    print(one.kind, one.place.kernel, one.place.ptx_line, one.thread, one.other.thread, one.times)
print(simulator.findings())
for counts in simulator.coverage_report():
    print(counts.kernel, max(counts.lines().values()), counts._repr_html_().partition("</caption>")[0])
"""


@pytest.mark.parametrize(("classes", "count"), [("()", 2), ("('-race', '-warp')", 0)])
def test_findings_as_data(classes: str, count: int) -> None:
    given = {name: value for name, value in os.environ.items() if name != "CUDAPY_DRIVER"}
    code = PTX + GOES_ON.replace("CLASSES", classes)
    done = warm.run(["-c", code], env={**given, "PYTHONPATH": str(REPOSITORY)}, ends_at_once=True)
    assert done.returncode == 0 and not done.stderr, done.stderr
    *found, nothing, covered = done.stdout.splitlines()
    assert len(found) == count and nothing == "[]"
    assert covered == "race<int> 128 <table><caption>race&lt;int&gt;"
    for one in found:
        assert re.fullmatch(r"(race|warp) race<int> \d+ \(\d+, 0, 0\) \(\d+, 0, 0\) 2", one)


FOUND = "cudapy simulator: 1 fault (checked: faults, races)"
INCOMPLETE = "cudapy simulator: the check is incomplete: "


@pytest.mark.parametrize(
    "how",
    [
        "before environ",
        "after exit",
        *(
            pytest.param(how, marks=pytest.mark.thorough)
            for how in (
                "before stderr",
                "before descriptors",
                "before folder",
                "after thread",
                "after kill",
                "after exec",
                "after clean exec",
            )
        ),
    ],
)
@pytest.mark.parametrize("starts", [(), pytest.param(("fork",), marks=pytest.mark.thorough)])
def test_a_fault_is_told_whatever_the_program_does(tmp_path: Path, starts: tuple[str, ...], how: str) -> None:
    """Its report, too, as the program has no time for that, or no place."""
    done = start(tmp_path, ["--check=races", "--json", "found.json"], *starts, "outside", *how.split(" ", 1))
    assert (done.returncode, done.stderr.splitlines()[-1]) == (1, FOUND), done.stderr
    assert done.stderr.count("Invalid __global__ write of 4 bytes") == 1
    finding, *more = json.loads((tmp_path / "found.json").read_text())
    assert [one["kind"] for one in more] == ["incomplete"] * (how == "after kill" and not starts)
    assert finding["kind"] == "fault"


@pytest.mark.thorough
def test_a_fault_of_a_child_is_told_whatever_becomes_of_it(tmp_path: Path) -> None:
    for how in ("kill", "exit"):
        done = start(tmp_path, ["--check=races"], "child", "program.py", "outside", "after", how)
        assert (done.returncode, done.stderr.splitlines()[-1]) == (1, FOUND), done.stderr


@pytest.mark.thorough
def test_a_fault_that_cannot_be_recorded(tmp_path: Path) -> None:
    """A process that can open nothing still tells that there was something."""
    done = start(tmp_path, ["--check=races"], "outside", "before", "no more files")
    assert (
        done.returncode == 1 and f"{INCOMPLETE}something was found that could not be recorded" in done.stderr
    )
    assert done.stderr.endswith("cudapy simulator: no errors seen (checked: faults, races)\n")


@pytest.mark.parametrize("options", [["--check=races"], pytest.param([], marks=pytest.mark.thorough)])
@pytest.mark.parametrize(
    "place", ["nowhere/found.json", pytest.param("/dev/full", marks=pytest.mark.thorough)]
)
@pytest.mark.parametrize("what", [pytest.param("outside", marks=pytest.mark.thorough), "nothing"])
def test_a_result_that_cannot_be_written(tmp_path: Path, options: list[str], place: str, what: str) -> None:
    done = start(tmp_path, [*options, "--json", place], what)
    assert done.returncode == (1 if options and what == "outside" else 3)
    assert f"{INCOMPLETE}{place}: " in done.stderr


@pytest.mark.thorough
def test_nowhere_for_temporary_files(tmp_path: Path) -> None:
    nowhere = str(tmp_path / "nowhere")
    found = run(tmp_path, ["--check=races"], "outside", TMPDIR=nowhere, TMP=nowhere, TEMP=nowhere)
    assert found[:2] == (1, FOUND)


@pytest.mark.thorough
def test_leaks_that_nobody_looked_for(tmp_path: Path) -> None:
    """A program that ends without its exit handlers has not shown that it frees its memory."""
    for how, code in (("exit", 3), ("exec", 3), ("kill", -9)):
        done = start(tmp_path, ["--check=leaks"], "nothing", "after", how)
        assert done.returncode == code, done.stderr
        assert (f"{INCOMPLETE}leaks were not looked for" in done.stderr) == (code == 3)


SIGNALS = """
import os, signal, sys, time
def stop(*_):
    print("stopped")
    sys.exit(5)
signal.signal(signal.SIGTERM, stop)
print(os.getpid(), flush=True)
if sys.argv[1] == "stop":
    os.kill(os.getpid(), signal.SIGSTOP)
    print("goes on")
else:
    time.sleep(60)
"""


@contextlib.contextmanager
def started(*arguments: str) -> Iterator[tuple[subprocess.Popen[str], int]]:
    command = [sys.executable, "-m", "cudapy.simulator", "--check=races", "-c", SIGNALS, *arguments]
    pipe = subprocess.PIPE
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it
    try:
        started_process = subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, cwd=REPOSITORY)
    finally:
        signal.signal(signal.SIGINT, before)
    with started_process as process:
        assert process.stdout is not None
        try:
            yield process, int(process.stdout.readline())
        finally:
            process.kill()


@pytest.mark.thorough
def test_a_native_program_that_is_not_in_the_path(tmp_path: Path) -> None:
    (tmp_path / "program").touch()
    command = [sys.executable, "-m", "cudapy.simulator", "--native", "program"]
    given = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    done = subprocess.run(command, cwd=tmp_path, env=given, capture_output=True, text=True, timeout=100)
    assert (done.returncode, done.stderr) == (
        127, "program: No such file or directory in PATH: ./program\n",
    )  # fmt: skip


def ended_by(name: str) -> str:
    """What is said of a program that a signal has ended."""
    return f"{INCOMPLETE}{name} ended the program, and what it had not waited for by then was not checked\n"


@pytest.mark.parametrize("name", ["SIGTERM", pytest.param("SIGKILL", marks=pytest.mark.thorough)])
def test_a_program_that_a_signal_ends_was_not_checked_to_its_end(name: str, tmp_path: Path) -> None:
    """It is a failure, and the signal's, as it is without the check."""
    options = ["--check=races", "--json", "found.json", "--native", "sh", "-c", f"kill -{name[3:]} $$"]
    command = [sys.executable, "-m", "cudapy.simulator", *options]
    given = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    done = subprocess.run(command, cwd=tmp_path, env=given, capture_output=True, text=True, timeout=100)
    said = f"{ended_by(name)}cudapy simulator: no errors seen (checked: faults, races)\n"
    assert (done.returncode, done.stderr) == (-signal.Signals[name], said)
    (finding,) = json.loads((tmp_path / "found.json").read_text())
    assert finding["kind"] == "incomplete" and finding["message"].startswith(name)


@pytest.mark.thorough
def test_signals_are_for_the_program() -> None:
    summary = "cudapy simulator: no errors (checked: faults, races)\n"
    with started("wait") as (process, _):
        process.send_signal(signal.SIGTERM)
        assert (*process.communicate(timeout=60), process.returncode) == ("stopped\n", summary, 5)
    with started("wait") as (process, _):
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
        assert process.returncode == -signal.SIGINT and "KeyboardInterrupt" in said
        assert said.endswith(
            f"{ended_by('SIGINT')}cudapy simulator: no errors seen (checked: faults, races)\n"
        )
    with started("stop") as (process, _):
        _, status = os.waitpid(process.pid, os.WUNTRACED)
        assert os.WIFSTOPPED(status)
        process.send_signal(signal.SIGCONT)
        assert (*process.communicate(timeout=60), process.returncode) == ("goes on\n", summary, 0)


@pytest.mark.thorough
def test_the_program_is_killed_with_the_command() -> None:
    with started("wait") as (process, _):
        process.kill()
        assert process.communicate(timeout=60) == ("", "")  # the end of the pipes, which the program has


@pytest.mark.parametrize("code", ["256", "-1"])
def test_exit_codes_that_there_are_not(code: str) -> None:
    command = [sys.executable, "-m", "cudapy.simulator", "--error-exitcode", code, "-c", "pass"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=REPOSITORY, timeout=60, check=False)
    assert done.returncode == 2 and f"--error-exitcode cannot be '{code}'" in done.stderr


def test_a_check_that_there_is_not() -> None:
    command = [sys.executable, "-m", "cudapy.simulator", "--check=heat", "-c", "pass"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=REPOSITORY, timeout=60, check=False)
    assert done.returncode == 2 and done.stderr.endswith(
        "--check cannot be 'heat': there is all, races, uninitialized, leaks\n"
    )


def test_the_summary_counts() -> None:
    found = [{"kind": kind, "bytes": 3} for kind in ("leak", "leak", "race", "fault", "fault")]
    assert (
        record.summary(found, ("leaks",)) == "2 leaks of 6 bytes, 1 race, 2 faults (checked: faults, leaks)"
    )
    found = [{"kind": "race", "class": kind} for kind in ("fence", "race", "fence", "stream", "barrier")]
    words = "2 missing fences, 1 race, 1 race between streams, 1 misplaced barrier"
    assert record.summary(found, ("races",)) == f"{words} (checked: faults, races)"
    assert len({one.several for one in CLASSES.values()}) == len(CLASSES)


def test_numbers_that_json_lacks() -> None:
    place = Place("k", "k", "ld.global.v2.f32", 1)
    values = float("nan"), 1.5
    text = json.dumps(
        found.as_json(Finding("race", "Race", place, None, None, 1, 1, verb="read", value=values))
    )
    assert json.loads(text, parse_constant=pytest.fail)["value"] == ["nan", 1.5]


def test_a_fault_is_recorded_before_anybody_meets_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """The program may end as soon as a call fails."""
    monkeypatch.setattr(faults.Faults, "prints", True)
    owner = faults.Faults()
    met: list[object] = []
    monkeypatch.setattr(found, "note", lambda *_, **__: met.append(owner.error))
    monkeypatch.setattr(faults.log, "report", lambda *_: met.append(owner.error))  # type: ignore[attr-defined]
    owner.fail("CUDA_ERROR_ILLEGAL_ADDRESS", "outside")
    assert met == [None, None]
    assert owner.error is not None and owner.error.reason == "outside"


@pytest.mark.thorough
@pytest.mark.parametrize("is_early", [True, False])
def test_the_summary_is_the_last_line(tmp_path: Path, is_early: bool) -> None:
    """Whether or not the program's environment has loaded the log before the command."""
    (tmp_path / "sitecustomize.py").write_text("import cudapy.simulator.log\n" * is_early)
    found = run(tmp_path, [], "outside", "fails", PYTHONPATH=f"{tmp_path}{os.pathsep}{REPOSITORY}")
    assert found[:2] == (3, "cudapy simulator: 1 fault (checked: faults)")
