"""The samples as a collection: the list, the runner, and what each of them promises."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from samples import __main__ as runner

from . import warm
from .sample_mutants import MISTAKES, broken, with_kernels

SAMPLES = runner.samples()
FOLDER = Path(runner.__file__).parent
CHECKS = {"CUDAPY_SIMULATOR_CHECK": "all"}
RATE = r"\d ?(GB/s|GFLOP/s)"
SLOW = {
    *("reduction", "n_body", "launch_latency", "conjugate_gradient_multi_block_cg", "thread_block_cluster"),
    *("matrix_mul", "mandelbrot", "simple_cooperative_groups", "binary_partition_cg"),
    *("cooperative_grid_sync", "simple_p2p", "stream_ordered_allocation_ipc", "graph_memory_nodes"),
    *("simple_ipc", "train_ranks", "saxpy", "transpose", "hs_optical_flow", "iso_fd_modelling"),
    *("global_to_shmem_async_copy", "scalar_prod", "convolution_separable", "multi_gpu"),
    *("scan", "thread_fence_reduction", "stream_ordered_allocation", "fdtd3d", "merge_sort"),
    *("jit_program", "histogram", "simple_assert", "simple_cuda_graphs", "simple_print", "black_scholes"),
    *("vector_add_mmap", "simple_zero_copy", "shfl_scan", "jacobi_cuda_graphs"),
    *("saxpy_ranks", "sobel_filter", "simple_atomic_intrinsics", "monte_carlo_pi", "cuda_tensor_core_gemm"),
}
"""Samples that take more than 0.4 seconds, which the second tier runs."""


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.name)
def test_a_sample_says_what_it_is_and_how_to_run_it(sample: runner.Sample) -> None:
    text = sample.path.read_text()
    path = sample.path.relative_to(FOLDER.parent).as_posix()
    assert sample.title
    assert f"    python {path}" in text
    assert "sys.exit(main())" in text or 'sys.exit(child() if "child"' in text


def test_names_are_unique() -> None:
    names = [sample.name for sample in SAMPLES]
    assert sorted(names) == sorted(set(names))


def table() -> dict[str, list[str]]:
    """The rows of the README by the sample that they name: title, layer, needs, output."""
    rows = [line for line in (FOLDER / "README.md").read_text().splitlines() if line.startswith("| [")]
    cells = [[cell.strip() for cell in row.strip("|").split(" | ")] for row in rows]
    assert all(len(row) == 5 for row in cells)
    return {row[0]: row[1:] for row in cells}


TABLE = {name[1:].partition("]")[0]: row for name, row in table().items()}


def layer(sample: runner.Sample) -> str:
    """What of cudapy a sample imports, but for the compiler and the switch of the simulator."""
    found = set()
    for node in ast.walk(ast.parse(sample.path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "cudapy":
            named = [node.module] if "." in node.module else [f"cudapy.{alias.name}" for alias in node.names]
            found.update(name.split(".")[1] for name in named)
    return ", ".join(name for name in ("core", "driver", "runtime") if name in found)


def test_the_table_has_all_samples_their_titles_and_their_layers() -> None:
    expected = {
        f"[{sample.name}]({sample.path.relative_to(FOLDER).as_posix()})": [
            sample.title.partition(": ")[2],
            layer(sample),
        ]
        for sample in SAMPLES
    }
    assert {name: row[:2] for name, row in table().items()} == expected


def on_the_simulator(path: Path, **environment: str) -> tuple[int, str]:
    """The exit code of a sample on the simulator, and what it printed."""
    every = {**os.environ, "PYTHONPATH": str(warm.REPOSITORY), "CUDAPY_DRIVER": "simulator", **environment}
    done = warm.run(
        [str(path)], env=every, ends_at_once=True
    )  # a path, for the samples that start Python themselves
    return done.returncode, done.stdout + done.stderr


def shape(text: str) -> str:
    """Without numbers, which are not the same everywhere, and rates, which the simulator does not print."""
    text = re.sub(rf":? *[\d.]+ us,? +[\d.]*{RATE}|:? +[\d.]*{RATE}", "", text)
    text = re.sub(r"\s+", " ", text.replace("NVIDIA H200", "cudapy simulator"))
    return re.sub(r" ?-?\d+(\.\d+)?(e[-+]\d+)?", " #", text)


@pytest.mark.usefixtures("nvrtc")
@pytest.mark.parametrize(
    "sample",
    [
        pytest.param(one, id=one.name, marks=pytest.mark.thorough if one.name in SLOW else ())
        for one in SAMPLES
    ],
)
def test_on_the_simulator_it_prints_what_the_table_has(sample: runner.Sample) -> None:
    """With all its checks on; or needs what the table says that it needs."""
    _, _, needs, output = TABLE[sample.name]
    code, text = on_the_simulator(sample.path, **CHECKS)
    if code == runner.WAIVED:
        assert "WAIVED: " in text and needs, text
    else:
        assert code == 0, text
        assert shape(output) in shape(text)
        assert not re.search(RATE, text), "a rate of the simulator's"


@pytest.mark.thorough
@pytest.mark.usefixtures("nvrtc")
@pytest.mark.parametrize("sample", with_kernels(), ids=lambda sample: sample.name)
def test_with_a_mistake_in_its_kernel_it_fails(sample: runner.Sample) -> None:
    _, _, needs, _ = TABLE[sample.name]
    result = broken(sample, on_the_simulator)
    assert result == "seen" or (result == "waived" and needs)


def test_each_kernel_has_its_mistake() -> None:
    assert {sample.name for sample in with_kernels()} == MISTAKES.keys()


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "samples", *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=FOLDER.parent)


def test_the_list() -> None:
    listed = run()
    assert listed.returncode == 0
    lines = [line.split(maxsplit=1) for line in listed.stdout.splitlines() if line.startswith("  ")]
    assert lines == [[sample.name, sample.title] for sample in SAMPLES]


def test_a_part_of_the_list() -> None:
    listed = run("list", "introduction", "saxpy")
    assert (listed.returncode, listed.stderr) == (0, "")
    names = [line.split()[0] for line in listed.stdout.splitlines() if line.startswith("  ")]
    assert names == [each.name for each in SAMPLES if each.category == "introduction" or each.name == "saxpy"]


def test_a_list_that_nobody_reads_to_its_end_is_no_error() -> None:
    command = f"{sys.executable} -m samples | exec head -1; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, cwd=FOLDER.parent)
    assert (done.returncode, done.stderr) == (0, "")
    reader, writer = os.pipe()
    os.close(reader)  # gone before the first line
    command = [sys.executable, "-m", "samples"]
    done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, text=True, cwd=FOLDER.parent)
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("run",), "name the samples to run, or say --all"),
        (("run", "--all", "vector_add"), "name the samples to run, or say --all"),
        (("run", "--all", "--jobs", "0"), "--jobs is at least 1"),
        (("vector_add",), "invalid choice"),
    ],
)
def test_arguments_that_make_no_sense_are_refused(arguments: tuple[str, ...], why: str) -> None:
    refused = run(*arguments)
    assert refused.returncode == 2 and why in refused.stderr


def test_an_unknown_name_is_an_error() -> None:
    refused = run("run", "vector_add", "vector_ad")
    assert refused.returncode == 1 and "no sample and no category vector_ad" in refused.stderr


@pytest.mark.parametrize(
    ("bodies", "code", "summary"),
    [
        (["raise SystemExit(0)"], 0, "1 passed, 0 failed, 0 waived"),
        (
            ["raise SystemExit(0)", "print('WAIVED: no GPU'); raise SystemExit(77)"],
            0,
            "1 passed, 0 failed, 1 waived",
        ),
        (["raise SystemExit(77)"], 77, "0 passed, 0 failed, 1 waived"),
        (["raise SystemExit(0)", "1 / 0"], 1, "1 passed, 1 failed, 0 waived"),
        (["import os; os.abort()"], 1, "0 passed, 1 failed, 0 waived"),
        (["import time; time.sleep(60)"], 1, "0 passed, 1 failed, 0 waived"),
    ],
)
def test_the_exit_code(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    bodies: list[str],
    code: int,
    summary: str,
) -> None:
    if any("sleep" in body for body in bodies):
        monkeypatch.setattr(runner, "LIMIT", 2)
    which = []
    for i, body in enumerate(bodies):
        path = tmp_path / f"sample{i}.py"
        path.write_text(body)
        which.append(runner.Sample(path))
    assert runner.run(which, simulator=False, verbose=False) == code
    printed = capsys.readouterr().out
    assert summary in printed
    assert ("no GPU" in printed) == ("no GPU" in "".join(bodies))
    assert ("ZeroDivisionError" in printed) == ("1 / 0" in bodies)


def test_jobs_run_side_by_side_and_are_reported_in_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    bodies = {
        "first": f"import os, time\nwhile not os.path.exists({str(tmp_path / 'mark')!r}): time.sleep(0.01)",
        "second": f"open({str(tmp_path / 'mark')!r}, 'w').close()",
    }
    for name, body in bodies.items():
        (tmp_path / f"{name}.py").write_text(body)
    which = [runner.Sample(tmp_path / f"{name}.py") for name in bodies]
    monkeypatch.setattr(runner, "LIMIT", 60)
    assert runner.run(which, simulator=False, verbose=False, jobs=2) == 0
    assert re.findall(r"\[(\d)/2\] (\w+) +pass", capsys.readouterr().out) == [("1", "first"), ("2", "second")]
