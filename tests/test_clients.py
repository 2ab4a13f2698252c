"""Clients of NVIDIA's packages over cudapy, and the tools of `nox -s clients`."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from cudapy import simulator

from .clients import compare, examples
from .clients.compare import MISSING, Result
from .clients.environment import SITE, environment

FOLDER = Path(__file__).parent / "clients" / "programs"
CORE = os.environ.get("CLIENTS_CORE", "")
"""A folder with the wheel of cuda-core 0.2.0 in it."""


@pytest.mark.thorough
@pytest.mark.parametrize("program", sorted(path.stem for path in FOLDER.glob("*.py")))
def test_a_program_runs_through_the_alias(
    program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths, options = [], []
    if program.startswith("core_0_2"):
        if not CORE:
            pytest.skip("CLIENTS_CORE names no folder with cuda-core 0.2.0")
        paths, options = [Path(CORE)], ["--only", "cuda.bindings"]
    elif importlib.util.find_spec("numba_cuda") is None:
        pytest.skip("numba-cuda is not installed")
    if simulator.is_enabled():
        monkeypatch.setenv("CUDAPY_DRIVER", "simulator")
    command = [sys.executable, "-W", "ignore", "-m", "cudapy.alias", *options, str(FOLDER / f"{program}.py")]
    variables = environment("nvidia", tmp_path, *paths)
    done = subprocess.run(command, env=variables, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout[-1000:] + done.stderr[-3000:]


SUITE = """
import unittest
from cudapy.driver import checked as cu
class Faults(unittest.TestCase):
    def setUp(self):
        cu.cuInit(0)
        cu.cuCtxSetCurrent(cu.cuDevicePrimaryCtxRetain(0))
    def test_a_fault(self):
        text = b".version 7.0\\n.target sm_75\\n.address_size 64\\n.visible .entry k() { trap; }"
        kernel = cu.cuModuleGetFunction(cu.cuModuleLoadData(text), b"k")
        cu.cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0)
        cu.cuCtxSynchronize()
    def test_after_it(self):
        cu.cuMemFreeAsync(cu.cuMemAllocAsync(4, 0), 0)
        cu.cuCtxSynchronize()
class Three(unittest.TestCase):
    def test_good(self): self.assertEqual(__name__, "some.tests.sub.test_three")
    def test_bad(self): self.fail("so it is")
    @unittest.skip("not today")
    def test_none(self): pass
"""


def test_the_record_of_a_suite(tmp_path: Path) -> None:
    """The plugin imports tests by the name they have for themselves, and writes down what became of each."""
    tests = tmp_path / "some" / "tests"
    (tests / "sub").mkdir(parents=True)
    (tests / "sub" / "test_three.py").write_text(SUITE)
    (tests / "sub" / "test_not.py").write_text("import no_such_module")
    for package in (tmp_path / "some", tests, tests / "sub"):
        (package / "__init__.py").touch()
    record = tmp_path / "record"
    variables = environment("nvidia", tmp_path, tmp_path)
    variables |= {"CLIENTS_RECORD": str(record), "CLIENTS_SUITE": "some.tests"}
    variables |= {"CLIENTS_FRESH": "1", "CUDAPY_DRIVER": "simulator"}
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "numba_suite",
        f"--rootdir={tests}",
        "-o",
        "addopts=",
        str(tests),
    ]
    command += ["--continue-on-collection-errors", "-p", "no:cacheprovider"]
    done = subprocess.run(command, env=variables, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    results = {line["name"]: line for line in map(json.loads, record.read_text().splitlines())}
    outcomes = {name.rpartition("::")[2]: result["outcome"] for name, result in results.items()}
    assert outcomes == {
        "sub/test_not.py": "failed",
        "test_a_fault": "failed",
        "test_after_it": "passed",
        "test_bad": "failed",
        "test_good": "passed",
        "test_none": "skipped",
    }, done.stdout
    assert "CUDA_ERROR_LAUNCH_FAILED" in results["sub/test_three.py::Faults::test_a_fault"]["why"]
    assert "so it is" in results["sub/test_three.py::Three::test_bad"]["why"]
    assert results["sub/test_three.py::Three::test_none"]["why"].endswith("not today")


def test_the_difference_is_by_name(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compare, "DIFFERENT", {"known": "for this reason"})
    good, bad = Result("passed"), Result("failed", "E   the end")
    nvidia = {"same": good, "both": bad, "known": good, "ours": good, "only there": good, "theirs": bad}
    cudapy = {"same": good, "both": bad, "known": bad, "ours": bad, "theirs": good}
    assert compare.difference(nvidia, cudapy) == ["known", "only there", "ours", "theirs"]
    assert compare.report(nvidia, cudapy) == ["only there", "ours"]
    said = capsys.readouterr().out
    assert "1 fail over both:\n    both\n" in said
    assert "ours: passed over NVIDIA's, failed over cudapy\n        E   the end" in said
    assert "for this reason" in said and MISSING.outcome in said


def test_what_a_client_finds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On the simulator there is a libcuda.so to open, and the alias is installed in every process."""
    monkeypatch.setenv("CUDAPY_DRIVER", "simulator")
    variables = environment("cudapy", tmp_path)
    assert variables["PYTHONPATH"].split(os.pathsep)[0] == str(SITE)
    program = (
        "import ctypes, subprocess, sys; ctypes.CDLL('libcuda.so'); from cuda.bindings import driver; "
        "import cuda.bindings._internal.nvjitlink, cudapy.driver, numpy; "
        "assert driver.cuInit is cudapy.driver.cuInit; numpy.row_stack"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], env=variables, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr


EXAMPLES = {
    "good": "import helper\nfrom cuda.core import Device\nprint('on', Device().name and helper.WORD)",
    "helper": "WORD = 'a device'",
    "optional": "try:\n    import no_such_module\nexcept ImportError:\n    print('without it')",
    "needs_more": "def late():\n    import no_such_module.part",
    "window": "from pyglet import window",
}


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    folder = tmp_path / "cuda_core" / "examples"
    folder.mkdir(parents=True)
    for name, text in EXAMPLES.items():
        (folder / f"{name}.py").write_text(text)
    return tmp_path


@pytest.mark.thorough
def test_examples_of_a_checkout(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["--examples", str(checkout), "--simulator"]
    assert examples.main([*command, *EXAMPLES]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "on the simulator" and lines[-1] == "3 passed, 0 failed, 2 skipped"
    said = {name: " ".join(rest) for name, *rest in map(str.split, lines[1:-1])}
    assert said["good"].startswith("pass ") and said["good"].endswith(" on a device")
    assert said["optional"].endswith("without it")
    assert said["needs_more"] == "skipped 0.0 s not installed: no_such_module"
    assert said["window"] == "skipped 0.0 s needs a display: pyglet"
    assert examples.main([*command, "window"]) == examples.SKIPPED


@pytest.mark.thorough
def test_examples_that_fail(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = checkout / "cuda_core" / "examples"
    (folder / "good.py").write_text("import time\nprint('begun', flush=True)\ntime.sleep(100)")
    (folder / "helper.py").write_text("raise LookupError('in vain')")
    assert examples.main(["--examples", str(folder), "--simulator", "helper"]) == 1
    assert "exit code 1\n" in (said := capsys.readouterr().out) and "LookupError: in vain" in said
    assert examples.main(["--examples", str(folder), "--simulator", "--limit", "3", "good"]) == 1
    assert "stopped after 3 seconds" in (said := capsys.readouterr().out) and "begun" in said
    with pytest.raises(SystemExit, match="has no examples"):
        examples.main(["--examples", str(checkout / "cuda_core")])
