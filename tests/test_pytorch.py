"""PyTorch on the simulator, where it is installed with CUDA: `tests/clients`."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent / "clients"

pytestmark = pytest.mark.thorough


def run(*arguments: str, cwd: Path = FOLDER, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a program under `python -m cudapy.simulator`. Skips the test without a PyTorch for CUDA."""
    if importlib.util.find_spec("torch") is None:
        pytest.skip("torch is not installed")
    if "+cpu" in importlib.metadata.version("torch"):
        pytest.skip("this torch is built without CUDA")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("CUDAPY")}
    environment |= {"PYTHONPATH": str(FOLDER.parents[1]), **variables}
    command = [sys.executable, "-W", "ignore", "-m", "cudapy.simulator", *arguments]
    return subprocess.run(
        command, env=environment, cwd=cwd, capture_output=True, text=True, timeout=600, check=False
    )


@pytest.mark.parametrize("devices", [1, 2])
def test_semantics(devices: int) -> None:
    """Also that none of it is a race between streams."""
    done = run("--devices", str(devices), "--check", "races", str(FOLDER / "others" / "torch_semantics.py"))
    assert done.returncode == 0, done.stderr[-3000:]


def test_training() -> None:
    done = run(str(FOLDER / "others" / "torch_training.py"))
    assert done.returncode == 0, done.stderr[-3000:]


@pytest.mark.parametrize(
    ("program", "kind", "kernel", "place"),
    [
        ("triton_kernels.py", "fault", "add_without_mask", "test_triton_kernels.py:23"),
        ("triton_kernels.py", "race", "smooth_in_place", "test_triton_kernels.py:30"),
        ("compiled_kernels.py", "race", "reverse", "reverse.cu:5"),
    ],
)
def test_a_mistake_in_a_kernel(program: str, kind: str, kernel: str, place: str, tmp_path: Path) -> None:
    """A write past the end of a tensor, as each is an allocation of its own, and races, with their lines."""
    shutil.copy(FOLDER / "faulty" / program, tmp_path / f"test_{program}")
    found = tmp_path / "found.json"
    options = ["--check", "all", "--json", str(found), "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    chosen = [f"test_{program}", "-k", f"test_add or test_{kernel}" if kind == "fault" else f"test_{kernel}"]
    done = run(*options, *chosen, cwd=tmp_path, TRITON_CACHE_DIR=str(tmp_path / "cache"))
    assert done.returncode, done.stdout[-3000:] + done.stderr[-3000:]
    findings = json.loads(found.read_text())
    assert [(each["kind"], each["kernel"]) for each in findings] == [(kind, kernel)]
    assert findings[0]["line"].endswith(place)


def test_random_numbers_are_those_of_a_gpu() -> None:
    """As an H200 with PyTorch 2.11 gave them, and the generator's offset."""
    done = run(str(FOLDER / "others" / "torch_random.py"))
    assert done.returncode == 0, done.stderr[-3000:]
    expected = (FOLDER / "others" / "torch_random_h200.txt").read_text().splitlines()
    found = done.stdout.splitlines()
    for one, other in zip(found, expected, strict=True):
        (name, _, numbers), (same, _, given) = one.partition(": "), other.partition(": ")
        assert name == same
        both = [[float(each.rstrip(";")) for each in text.split()] for text in (numbers, given)]
        assert both[0] == pytest.approx(both[1], rel=2e-5, abs=1e-7), name


def test_distributed() -> None:
    """DDP and FSDP in two processes have the losses of one device."""
    done = run("--devices", "2", str(FOLDER / "others" / "torch_distributed.py"))
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.count("on 2 devices") == 3


def test_ranks_that_wait_for_each_other(tmp_path: Path) -> None:
    """A deadlock is a finding of each process, with the call of each rank."""
    found = tmp_path / "found.json"
    program = str(FOLDER / "faulty" / "torch_deadlock.py")
    done = run("--devices", "2", "--check", "all", "--json", str(found), program)
    assert done.returncode, done.stderr[-3000:]
    reports = [each["report"] for each in json.loads(found.read_text())]
    assert len(reports) == 2
    assert all("waits in all_reduce of 4 float32, sum for rank 1" in report for report in reports)


def test_elements_that_nobody_wrote(tmp_path: Path) -> None:
    """An operator that computes with them is reported with its line; one that moves them is not."""
    found = tmp_path / "found.json"
    program = FOLDER / "faulty" / "torch_undefined.py"
    done = run("--check", "all", "--json", str(found), str(program))
    assert done.returncode == 1, done.stderr[-3000:]
    findings = json.loads(found.read_text())
    told = [(each["kind"], each["message"].split(":")[2], each["line"]) for each in findings]
    lines = program.read_text().splitlines()
    places = [
        next(number for number, line in enumerate(lines, 1) if text in line)
        for text in ("torch.mul", ".cpu()", "picked.sum")
    ]
    names = ("mul.Tensor", "copy_", "sum")
    assert [each[0] for each in told] == 3 * ["uninitialized"]
    assert all(each[1].startswith(name) for each, name in zip(told, names, strict=True))
    assert [each[2] for each in told] == [f"faulty/torch_undefined.py:{place}" for place in places]


@pytest.mark.parametrize("has_mistakes", [False, True])
def test_operators_in_two_streams(has_mistakes: bool, tmp_path: Path) -> None:
    """A wait that is missing is a race of an operator with a kernel, or with another operator."""
    found = tmp_path / "found.json"
    program = FOLDER / "faulty" / "torch_streams.py"
    variables = {"MISTAKES": "1"} if has_mistakes else {}
    done = run("--check", "races", "--json", str(found), str(program), **variables)
    assert done.returncode == has_mistakes, done.stderr[-3000:]
    findings = json.loads(found.read_text())
    assert {each["class"] for each in findings} == ({"stream"} if has_mistakes else set())
    lines = program.read_text().splitlines()
    marks = ("# read", "# write", "# forward and backward", "# node") if has_mistakes else ()
    assert {each["line"] for each in findings} == {
        f"faulty/torch_streams.py:{next(number for number, line in enumerate(lines, 1) if mark in line)}"
        for mark in marks
    }


@pytest.mark.parametrize(
    ("test", "kind", "kernel", "place"),
    [
        ("test_scale", "", "", ""),
        ("test_total_with_race", "race", "total_with_race", "kernels.cu:24"),
        ("test_scale_past_the_end", "fault", "scale_past_the_end", "kernels.cu:15"),
    ],
)
def test_an_extension(
    test: str, kind: str, kernel: str, place: str, tmp_path: Path, extensions: Path
) -> None:
    """C++ and CUDA: opcheck and the checks pass an operator that is right; a mistake has its line."""
    for name in ("operators.cpp", "kernels.cu", "test_extension.py"):
        shutil.copy(FOLDER / "faulty" / "extension" / name, tmp_path)
    found = tmp_path / "found.json"
    options = ["--check", "all", "--json", str(found), "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    variables = {"TORCH_EXTENSIONS_DIR": str(extensions), "TORCH_CUDA_ARCH_LIST": "9.0+PTX"}
    done = run(
        *options, "test_extension.py", "-k", f"{test}[" if not kind else test, cwd=tmp_path, **variables
    )
    assert bool(done.returncode) == bool(kind), done.stdout[-3000:] + done.stderr[-3000:]
    findings = json.loads(found.read_text())
    assert {(each["kind"], each["kernel"], each["line"]) for each in findings} == (
        {(kind, kernel, place)} if kind else set()
    )


@pytest.fixture(scope="module")
def extensions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the extension is compiled to, once. Skips the tests where there is no compiler for it."""
    if shutil.which("nvcc") is None or shutil.which("ninja") is None:
        pytest.skip("an extension needs nvcc and ninja")
    return tmp_path_factory.mktemp("extensions")


def test_operators() -> None:
    """A few of PyTorch's database, quickly: equal on both devices."""
    names = ("addmm", "cumsum", "index_put", "linalg.svd", "nn.functional.conv2d", "sort", "where")
    done = run("-m", "tests.clients.torch_operators", "--samples", "3", *names)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
