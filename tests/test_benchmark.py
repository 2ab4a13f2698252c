"""The bookkeeping of the benchmark: baselines, pictures, and what its programs measure."""

from __future__ import annotations

import importlib.util
import json
import math
import os
import random
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from benchmark import application, baselines, calls, charts, experiments, history, picture
from benchmark.command import main
from benchmark.measured import CUDAPY, ROOT
from benchmark.twin import null_libcuda
from cudapy import pathfinder
from turns.comparison import Unfit, of
from turns.document import Document
from turns.record import Record
from turns.rounds import Program
from turns.twin import Absent

MACHINE = {"GPU": "NVIDIA H200", "CPU": "a CPU, 16 cores", "date": "2026-01-02"}


def document(ratio: float, name: str = "a row", rival: str = "C++", **machine: str) -> Document:
    """A run of one row, in which cudapy takes `ratio` times as long as its rival."""
    times = {CUDAPY: [ratio * 1e-6] * 3, rival: [1e-6] * 3}
    return Document(MACHINE | machine, [Record("launch", name, times, test="t::" + name)], {})


needs_scipy = pytest.mark.skipif(
    importlib.util.find_spec("scipy") is None,
    reason="SciPy, which `pip install cudapy[bench]` brings, is absent",
)
ROW = "launch: a row"


def test_save_and_load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(baselines, "FOLDER", tmp_path)
    baselines.save("first", [document(1.5), document(1.7)])
    found = baselines.load("first")
    assert dict(found.rows) == {"launch: a row": {"C++": [1.5, 1.7]}}
    baselines.save("older", [document(1.0, date="2025-01-01")])
    baselines.save("other", [document(1.0, GPU="another")])
    assert [b.machine["date"] for b in baselines.history(MACHINE)] == ["2025-01-01", "2026-01-02"]
    with pytest.raises(Unfit, match="there is no baseline 'none'; there is: first, older, other"):
        baselines.load("none")
    for name in ("../first", "", "a/b"):
        with pytest.raises(Unfit, match="is not the name of a file"):
            baselines.load(name)


def test_every_statement_runs() -> None:
    """Those of calls of the driver, of graphs and of the runtime, once, on the simulator, which runs them."""
    try:
        pathfinder.load("nvrtc")
    except pathfinder.LibraryNotFound as error:
        pytest.skip(str(error).splitlines()[0])
    program = """if True:
        from benchmark import calls, runtime_calls
        from benchmark.gpu import Gpu
        from cudapy import driver, runtime

        def run(statement, scope):
            exec(f"result = {statement}" if not statement.startswith("err, ") else statement, scope)
            result = scope.get("result") or (scope["err"],)
            print(statement, int(result[0]))

        gpu = Gpu()
        handles = gpu.handles("saxpy", nodes=1)
        for call in (*calls.OTHERS, *calls.PAGE_LOCKED, *calls.LOOKUPS, *calls.MAKERS,
                     *calls.GETTERS_AND_QUEUES, calls.INSTANTIATE, calls.UPDATE, calls.GRAPH,
                     calls.POINTERS, calls.TURNS, calls.ROUND_TRIP):
            run(call.statement, calls.scope_of(driver, handles))
        handles = runtime_calls.Handles(gpu.cubin)
        for call in runtime_calls.CALLS:
            run(call.statement, runtime_calls.scope_of(runtime, handles, call.statement))
            handles.drain()
        print("synchronized")
    """
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "CUDAPY_DRIVER": "simulator"},
        cwd=Path(__file__).parent.parent,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    *ran, last = done.stdout.splitlines()
    assert last == "synchronized" and len(ran) > 30
    assert [line for line in ran if not line.endswith(" 0")] == []


def test_history_is_of_groups() -> None:
    """Geometric means of the rows that each commit has, with the range of the processes."""
    first = of([document(2.0, commit="abc"), document(4.0, commit="abc")])
    first.rows["launch: another"] = {"C++": [8.0, 4.0]}  # type: ignore[index]
    second = of([document(1.0, commit="def")])
    kept = [first, second, of([document(3.0, commit="def", GPU="none: no driver")])]
    assert history.commits(kept) == ["abc", "def"]
    found = history.series(kept, "launch")
    assert found["NVIDIA H200", "C++"] == [
        (0, pytest.approx(8**0.5), 2.0, 4.0),
        (1, pytest.approx(1.0), 1.0, 1.0),
    ]
    assert found["a CPU, 16 cores", "C++"] == [
        (1, pytest.approx(3.0), pytest.approx(3.0), pytest.approx(3.0))
    ]
    assert history.change(found) == pytest.approx(math.log(8) / 2)


@pytest.mark.thorough
def test_history_is_drawn_without_measuring(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From baselines and from files of --json, with every group, machine and commit in it."""
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(baselines, "FOLDER", tmp_path)
    baselines.save("first", [document(1.5, commit="abc")])
    other = document(1.7, "the other", commit="def", GPU="NVIDIA H100")
    other.records[0].group = "calls"
    other.write(tmp_path / "second.json")
    path = tmp_path / "history.svg"
    monkeypatch.setattr(sys, "argv", ["benchmark", "--history", str(path)])
    assert main() == 0
    drawn = path.read_text()
    for name in ("launch", "calls", "NVIDIA H200", "NVIDIA H100", "abc", "def", "to C++"):
        assert f">{name}</text>" in drawn


@pytest.mark.thorough
def test_launches_are_drawn_for_light_and_dark_pages(tmp_path: Path) -> None:
    """Each colour of text, lines and background that the picture has is another one on dark pages."""
    pytest.importorskip("matplotlib")
    names = ("5 arguments: core.launch, ints", "64 arguments: core.launch, ints")
    records = [Record("launch", name, {CUDAPY: [1e-6] * 3, "C++": [2e-6] * 3}) for name in names]
    path = tmp_path / "launches.svg"
    picture.draw(path, Document(MACHINE, records, {}))
    style, _, drawn = path.read_text().partition("</style>")
    assert ">core.launch, ints</text>" in drawn and "64 arguments" not in drawn and ">C++</text>" in drawn
    used = {*re.findall("(?:fill|stroke): (#[0-9a-f]+)", drawn)}
    assert used == {*charts.DARK, *(picture.COLOURS[who] for who in (CUDAPY, "C++"))}
    for light, dark in charts.DARK.items():
        assert f'[style*="fill: {light}"] {{fill: {dark} !important}}' in style
    with pytest.raises(picture.NothingToDraw, match="nothing to draw was measured"):
        picture.draw(tmp_path / "launches.svg", Document(MACHINE, [], {}))


def applications(group: str, *who: str) -> list[Record]:
    """A row for each phase, 10 ms for the first contender, 20 for the second; the whole has all of them."""
    records = []
    for name in (*application.PHASES, application.WHOLE):
        length = len(application.PHASES) if name == application.WHOLE else 1
        times = {each: [0.01 * length * (i + 1)] * 3 for i, each in enumerate(who)}
        records.append(Record(group, name, times))
    return records


def test_the_table_of_the_application() -> None:
    """Medians, as NVIDIA's: of the GPU if it was measured there, with the kernel; else of the simulator."""
    simulated = applications(application.SIMULATED, CUDAPY)
    with pytest.raises(picture.NothingToDraw, match="no application was measured"):
        application.table(document(1.0))
    assert application.table(Document(MACHINE, simulated, {})).splitlines() == [
        "|  | cudapy |",
        "| --- | --- |",
        "| application, 1 million elements on the simulator | 70 ms |",
    ]
    kernel = Record(*application.KERNEL, {CUDAPY: [62.5e-6, 61e-6, 70e-6], "C++": [62.4e-6] * 3})
    records = [*simulated, kernel, *applications(application.GROUP, CUDAPY, "C++", "cuda.bindings")]
    assert application.table(Document(MACHINE, records, {})).splitlines() == [
        "|  | C++ | cuda.bindings | cudapy |",
        "| --- | --- | --- | --- |",
        "| kernel | 62.4 us |  | 62.5 us |",
        "| application | 140 ms | 210 ms | 70 ms |",
    ]


def test_the_bar_of_the_application_is_drawn_from_a_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One that --json wrote, by --from, which measures nothing."""
    pytest.importorskip("matplotlib")
    raw, path = tmp_path / "raw.json", tmp_path / "application.svg"
    names = (CUDAPY, application.WITHOUT_NUMPY)
    Document(MACHINE, applications(application.GROUP, *names), {}).write(raw)
    monkeypatch.setattr(sys, "argv", ["benchmark", "--from", str(raw), "--application", str(path)])
    assert main() == 0
    printed = capsys.readouterr().out
    assert "| application | 70 ms | 140 ms |" in printed and f"drawn in {path}" in printed
    drawn = path.read_text()
    for text in (*names, *application.PHASES):
        assert f">{text}</text>" in drawn
    assert drawn.count(">10</text>") >= 7 and drawn.count(">20</text>") >= 7


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--from", "none.json"], "none.json: FileNotFoundError"),
        (["--from", "raw.json", "--application", "a.svg"], "no application was measured"),
        (["--from", "raw.json", "--save", "x"], "--from and --history measure nothing"),
        (["--history", "--runs", "2"], "--from and --history measure nothing"),
        (["--against", "HEAD", "--runs", "2"], "that are not compared"),
        (["--gate"], "--gate is a comparison"),
        (["--seconds", "10"], "--seconds and --markdown go with a comparison"),
        (["--markdown", "a.md"], "--seconds and --markdown go with a comparison"),
        (["--history", "none/a.svg"], "--history none/a.svg: FileNotFoundError"),
    ],
)
def test_what_a_record_cannot_give(
    arguments: list[str],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    document(1.0).write(tmp_path / "raw.json")
    monkeypatch.setattr(sys, "argv", ["benchmark", *arguments])
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == 2 and said in capsys.readouterr().err


def test_what_the_extra_brings_is_named() -> None:
    code = (
        "import runpy, sys; sys.modules['scipy'] = None; runpy.run_module('benchmark', run_name='__main__')"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 1 and "needs scipy: pip install" in done.stderr


def test_phases_of_the_program() -> None:
    """They are those of application.py, follow each other, and are all of the program."""
    try:
        pathfinder.load("nvrtc")
    except pathfinder.LibraryNotFound as error:
        pytest.skip(str(error).splitlines()[0])
    program = Path(__file__).parent.parent / "benchmark" / "programs" / "saxpy.py"
    command = [sys.executable, str(program), "cudapy", "array", "2"]
    found = application.phases(Program(command, {**os.environ, "CUDAPY_DRIVER": "simulator"}))
    whole = found.pop(application.WHOLE)
    assert tuple(found) == application.PHASES and all(seconds > 0 for seconds in found.values())
    assert sum(found.values()) == pytest.approx(whole)
    with pytest.raises(RuntimeError, match="the program has the phases start, other, exit"):
        application.phases(Program([sys.executable, "-c", "print('start 1'); print('other 2')"]))


def test_no_history(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(baselines, "FOLDER", tmp_path)
    monkeypatch.setattr(sys, "argv", ["benchmark", "--history", str(tmp_path / "history.svg")])
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == 2 and "there are no baselines to draw" in capsys.readouterr().err


@pytest.mark.thorough
def test_rows_are_shown_while_they_are_measured(tmp_path: Path) -> None:
    """Each with its name and the time that the rest takes, by what an earlier process has written."""
    tests = [f"benchmark/test_calls.py::test_driver[{name}]" for name in ("cuEventQuery", "cuStreamQuery")]
    raw, earlier = tmp_path / "raw.json", tmp_path / "earlier.json"
    Document(MACHINE, [], {}, {tests[0]: 40.0, tests[1]: 25.0}).write(earlier)
    command = [sys.executable, "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", *tests]
    command += ["-o", "console_output_style=classic", "--turns-progress", "--turns-quick"]
    command += [f"--turns-raw={raw}", f"--turns-expect={earlier}"]
    alone = {k: v for k, v in os.environ.items() if k != "PYTEST_XDIST_WORKER"}  # in one it would not time
    done = subprocess.run(
        command, cwd=Path(__file__).parent.parent, env=alone, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[:2] == [
        "1 of 2  test_calls.py::test_driver[cuEventQuery]  1 min 5 s left",
        "2 of 2  test_calls.py::test_driver[cuStreamQuery]  25 s left",
    ]
    assert set(Document.read(raw).seconds) == set(tests)


@pytest.mark.thorough
def test_a_gate_has_the_rows_that_matter() -> None:
    """Ten of them: on a GPU each is a test; elsewhere those of a layer are one, on a null libcuda."""
    command = [sys.executable, "-m", "pytest", "benchmark", "-n", "0", "-q", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*command, "--collect-only", "-m", "gate"],
        cwd=Path(__file__).parent.parent,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    files = re.findall("^benchmark/(.*)::", done.stdout, re.MULTILINE)
    assert Counter(files) == {"test_calls.py": 5, "test_launch.py": 5, "test_overhead.py": 2}
    assert len(calls.GATE) == 9  # launches of core are two rows


@pytest.mark.thorough
@needs_scipy
def test_experiments_find_what_is_planted() -> None:
    """In 60 processes of a row that varies by one per cent; and nothing where nothing is."""
    draw = random.Random(1)
    processes = [document(1.2 * draw.gauss(1, 0.01)) for _ in range(60)]
    assert experiments.verdict(processes, ROW, 0.1, draw)[0] == {ROW}
    assert experiments.verdict(processes, ROW, 0.0, draw)[0] == set()


@pytest.mark.parametrize(
    ("what", "some"),
    [
        ("driver", {"cuDeviceGetAttribute", "cuLaunchKernel, the second from one place", "sum of these"}),
        ("core", {"core: get_kernel", "core.launch", "core.prepare, the second of these types"}),
    ],
)
def test_first_calls_are_measured(what: str, some: set[str], tmp_path: Path) -> None:
    try:
        folder = null_libcuda()
    except Absent as error:
        pytest.skip(f"no null libcuda: {error}")
    code = tmp_path / "no.cubin"
    code.write_bytes(b"no cubin")
    done = subprocess.run(
        [sys.executable, "-m", "benchmark.first_calls", what, "cudapy", str(code)],
        env={**os.environ, "LD_LIBRARY_PATH": str(folder), "CUDAPY_DRIVER": ""},
        cwd=Path(__file__).parent.parent,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    times = json.loads(done.stdout)
    assert some <= times.keys() and all(0 < seconds < 60 for seconds in times.values())
