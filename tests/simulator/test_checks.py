"""`python -m cudapy.simulator --check`: what is found, by whom, and what becomes of the exit code."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from cudapy.simulator import findings
from cudapy.simulator.streams import work

from .test_shared import REPOSITORY, pytestmark

__all__ = ["pytestmark"]

PROGRAM = '''
import atexit, subprocess, sys
from cudapy import driver

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

class Freed:
    def __init__(self, pointer): self.pointer = pointer
    def __del__(self): driver.cuMemFree(self.pointer)

def late():
    print("late handler")

def main(what, *arguments):
    driver.cuInit(0)
    context = driver.cuDevicePrimaryCtxRetain(0)[1]
    driver.cuCtxSetCurrent(context)
    driver.cuMemFree(0)  # later there are no imports any more
    pointer = driver.cuMemAlloc(4)[1]
    if what == "leak":
        return None
    if what in ("outside", "unwritten", "race"):
        function = driver.cuModuleGetFunction(driver.cuModuleLoadData(PTX)[1], what.encode())[1]
        import ctypes
        driver.cuLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, 0, ((int(pointer),), (ctypes.c_size_t,)), 0)
        driver.cuCtxSynchronize()
    return Freed(pointer)

atexit.register(late)
if sys.argv[1] == "child":
    subprocess.run([sys.executable, *sys.argv[2:]], stderr=subprocess.DEVNULL)
else:
    kept = main(*sys.argv[1:])
    if sys.argv[-1] == "fails":
        sys.exit(3)
'''


def run(
    folder: Path, options: list[str], *arguments: str, **environment: str
) -> tuple[int, str, dict[str, Any]]:
    """The exit code, the last line on stderr, and what --json says."""
    program = folder / "program.py"
    program.write_text(PROGRAM)
    given = {name: value for name, value in os.environ.items() if not name.startswith("CUDAPY")}
    given |= {"PYTHONPATH": str(REPOSITORY), **environment}
    options = [*options, "--json", str(folder / "found.json")]
    command = [sys.executable, "-m", "cudapy.simulator", *options, str(program), *arguments]
    done = subprocess.run(
        command, env=given, capture_output=True, text=True, cwd=folder, timeout=120, check=False
    )
    assert "late handler" in done.stdout, done.stderr
    return done.returncode, done.stderr.splitlines()[-1], json.loads((folder / "found.json").read_text())


@pytest.mark.parametrize(
    ("what", "kind", "words"),
    [
        ("outside", "fault", "1 fault"),
        ("unwritten", "uninitialized", "1 read of uninitialized memory"),
        ("race", "race", "1 race"),
        ("leak", "leak", "1 leak of 4 bytes"),
    ],
)
@pytest.mark.thorough
def test_what_is_found(tmp_path: Path, what: str, kind: str, words: str) -> None:
    code, last, found = run(tmp_path, ["--check", "all"], what)
    assert (code, last) == (
        1, f"cudapy simulator: {words} (checked: faults, races, uninitialized, leaks)",
    )  # fmt: skip
    (one,) = found["findings"]
    assert one["kind"] == kind and one["report"].startswith(one["message"])
    assert kind == "leak" or (one["kernel"] == what and one["ptx_line"] > 4 and "thread" in one["threads"])
    assert found["program"] == [str(tmp_path / "program.py"), what]


@pytest.mark.parametrize(
    ("options", "arguments", "code", "words"),
    [
        (["--check=all"], ["nothing"], 0, "no errors (checked: faults, races, uninitialized, leaks)"),
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


def test_a_check_that_there_is_not() -> None:
    command = [sys.executable, "-m", "cudapy.simulator", "--check=heat", "-c", "pass"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=REPOSITORY, timeout=60, check=False)
    assert done.returncode == 2 and "--check cannot be 'heat'" in done.stderr


def test_the_summary_counts() -> None:
    found = [{"kind": kind, "bytes": 3} for kind in ("leak", "leak", "race", "fault", "fault")]
    assert (
        findings.summary(found, ("leaks",)) == "2 leaks of 6 bytes, 1 race, 2 faults (checked: faults, leaks)"
    )


def test_a_fault_is_recorded_before_anybody_meets_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """The program may end as soon as a call fails."""
    monkeypatch.setattr(work.Faults, "prints", True)
    owner = work.Faults()
    met: list[object] = []
    monkeypatch.setattr(findings, "note", lambda *_, **__: met.append(owner.error))
    monkeypatch.setattr(work.log, "report", lambda *_: met.append(owner.error))
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
