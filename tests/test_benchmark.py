"""The bookkeeping of the benchmark: what is kept of several runs, and what counts as slower."""

from __future__ import annotations

import importlib.util
import json
import math
import os
import random
import subprocess
import sys
from pathlib import Path
from threading import Barrier, get_ident

import pytest

from benchmark import application, baseline, experiments, history, picture, progress
from benchmark.__main__ import main
from benchmark.document import Document, merged
from benchmark.record import CUDAPY, Record
from benchmark.timing import SHORTEST, Loop, Program, Threads, calls_for, interval
from benchmark.twin import Absent, null_libcuda
from cudapy import pathfinder

MACHINE = {"GPU": "NVIDIA H200", "CPU": "a CPU, 16 cores", "date": "2026-01-02"}


def document(ratio: float, name: str = "a row", rival: str = "C++", **machine: str) -> Document:
    """A run of one row, in which cudapy takes `ratio` times as long as its rival."""
    times = {CUDAPY: [ratio * 1e-6] * 3, rival: [1e-6] * 3}
    return Document(MACHINE | machine, [Record("launch", name, times, test="t::" + name)], {})


def saved(*ratios: float) -> baseline.Baseline:
    return baseline.of([document(ratio) for ratio in ratios])


needs_scipy = pytest.mark.skipif(
    importlib.util.find_spec("scipy") is None,
    reason="SciPy, which `pip install cudapy[bench]` brings, is absent",
)
BEFORE = (1.20, 1.22, 1.21, 1.23, 1.19)
ROW = "launch: a row"


@needs_scipy
@pytest.mark.parametrize(
    ("now", "slower", "faster"),
    [
        (BEFORE, False, False),
        ((1.22, 1.24, 1.20, 1.23, 1.25), False, False),  # two per cent, in that noise
        ((1.32, 1.34, 1.33, 1.35, 1.31), True, False),
        ((1.32, 1.19, 1.60, 1.22, 1.31), False, False),  # as far from before, and from each other
        ((1.10, 1.09, 1.11, 1.10, 1.12), False, True),
    ],
)
def test_what_has_changed(now: tuple[float, ...], slower: bool, faster: bool) -> None:
    """By Student's t-test of the logarithms: the probabilities are those of R's t.test(var.equal = TRUE)."""
    changes = saved(*BEFORE).changes(saved(*now))
    assert baseline.slower(changes) == ({ROW} if slower else set())
    assert baseline.faster(changes) == ({ROW} if faster else set())


@needs_scipy
def test_a_change_has_bounds() -> None:
    """Those of 95 %, by hand: a pooled deviation of 0.01, 2.306 of which times sqrt(2 / 5)."""
    before = [math.exp(x) for x in (-0.01, -0.01, 0.0, 0.01, 0.01)]
    now = [math.exp(x + 0.05) for x in (-0.01, -0.01, 0.0, 0.01, 0.01)]
    change = saved(*before).changes(saved(*now))[ROW]
    half = 2.306 * 0.01 * math.sqrt(2 / 5)
    found = [math.log(x) for x in (change.factor, change.low, change.high)]
    assert found == pytest.approx([0.05, 0.05 - half, 0.05 + half], abs=2e-4)


def test_what_is_rare_in_one_row_is_not_in_many() -> None:
    """The rate of false alarms is one of all rows together."""
    chance = baseline.Change(1.04, 1.0, 1.08, 0.004, 0.996)
    assert baseline.slower({"a": chance}) == {"a"}
    assert baseline.slower({"a": chance, "b": chance, "c": chance}) == set()
    assert baseline.suspects({"a": chance}) == {"a"}


@needs_scipy
def test_the_ratio_that_varies_least_decides() -> None:
    """What disturbs one rival alone, another one shows to be no change; but not one of another version."""

    def side(slower: float, noise: float, **machine: str) -> baseline.Baseline:
        def run(number: int) -> Document:
            mine, disturbed = 1e-6 * slower * 1.001**number, 1e-6 * noise**number
            times = {CUDAPY: [mine] * 3, "C++": [disturbed] * 3, "cuda.core": [1e-6] * 3}
            return Document(MACHINE | machine, [Record("launch", "a row", times)], {})

        return baseline.of([run(number) for number in range(5)])

    before = side(1.0, 1.2)
    assert baseline.slower(before.changes(side(1.0, 0.9))) == set()
    changes = before.changes(side(1.05, 1.2))
    assert baseline.slower(changes) == {ROW}
    assert "1 slower" in (text := before.text(side(1.05, 1.2), changes)) and "1.050 of what it was" in text
    newer = side(1.05, 1.2, **{"cuda-core": "9.9"})
    assert baseline.slower(before.changes(newer)) == set()


@needs_scipy
def test_changes_are_commands_of_github() -> None:
    changes = saved(*BEFORE).changes(saved(1.32, 1.34, 1.33, 1.35, 1.31))
    (line,) = baseline.github_commands(changes).splitlines()
    assert line.startswith("::error title=slower::launch: a row: 1.099 of what it was (")
    (line,) = baseline.github_commands(saved(2.0, 2.0).changes(saved(1.9, 1.9))).splitlines()
    assert line == "::notice title=faster::launch: a row: 0.950 of what it was (0.950 to 0.950)"
    assert baseline.github_commands(saved(2.0, 2.0).changes(saved(2.0, 2.0))) == ""


@needs_scipy
def test_sizes_have_no_noise() -> None:
    """A byte more is more."""
    assert baseline.slower(saved(2.0, 2.0).changes(saved(2.1, 2.1))) == {ROW}
    assert baseline.faster(saved(2.0, 2.0).changes(saved(1.9, 1.9))) == {ROW}
    same = saved(2.0, 2.0).changes(saved(2.0, 2.0))
    assert baseline.slower(same) == baseline.faster(same) == baseline.suspects(same) == set()


@needs_scipy
def test_what_was_not_compared_with_the_same_has_not_changed() -> None:
    by_hand = baseline.of([document(9.0, rival="plain ctypes")] * 2)
    assert saved(1.0, 1.0).changes(by_hand) == {}
    other = baseline.of([document(1.0, "another row")])
    assert "not measured this time: launch: a row" in saved(1.0).text(other, {})


def test_another_machine_is_no_comparison() -> None:
    with pytest.raises(baseline.Unfit, match="another GPU: NVIDIA H200, not NVIDIA H100"):
        saved(1.0).changes(baseline.of([document(1.0, GPU="NVIDIA H100")]))


def test_save_and_load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(baseline, "FOLDER", tmp_path)
    baseline.save("first", [document(1.5), document(1.7)])
    found = baseline.load("first")
    assert dict(found.rows) == {"launch: a row": {"C++": [1.5, 1.7]}}
    baseline.save("older", [document(1.0, date="2025-01-01")])
    baseline.save("other", [document(1.0, GPU="another")])
    assert [b.machine["date"] for b in baseline.history(MACHINE)] == ["2025-01-01", "2026-01-02"]
    with pytest.raises(baseline.Unfit, match="there is no baseline 'none'; there is: first, older, other"):
        baseline.load("none")
    for name in ("../first", "", "a/b"):
        with pytest.raises(baseline.Unfit, match="is not the name of a file"):
            baseline.load(name)


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
        for call in (*calls.PAGE_LOCKED, *calls.LOOKUPS, *calls.MAKERS, *calls.GETTERS_AND_QUEUES,
                     calls.INSTANTIATE, calls.UPDATE, calls.GRAPH, calls.POINTERS, calls.TURNS,
                     calls.ROUND_TRIP):
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


def test_threads_run_their_loops_at_once() -> None:
    """Each loop in a thread of its own, which was made ready: so all of them meet at a barrier."""
    meeting, ready, met = Barrier(3), [], []

    def meet() -> int:
        met.append(get_ident())
        return meeting.wait(30)

    loops = [Loop.__new__(Loop) for _ in range(3)]
    for loop in loops:
        loop.calls, loop.drain = 4, int  # type: ignore[method-assign]
        loop._loop = lambda times: [meet() for _ in times]
    threads = Threads(loops, lambda: ready.append(get_ident()))
    assert threads.calls == 12 and threads() > 0
    assert len(set(ready)) == 3 and set(met) == set(ready)


def test_history_is_by_commit_and_machine() -> None:
    """A commit is one place on the axis, whatever it was measured on; dates stand for unknown ones."""
    kept = [
        baseline.of([document(1.5, date="2025-01-01 10:00")]),
        baseline.of([document(1.3, commit="abc"), document(1.5, commit="abc"), document(1.2, commit="abc")]),
        baseline.of([document(1.4, commit="abc", GPU="none: no driver")]),
        baseline.of([document(1.1, "another", commit="def")]),
    ]
    assert history.commits(kept) == ["2025-01-01", "abc", "def"]
    assert history.series(kept, ROW) == {
        ("NVIDIA H200", "C++"): [(0, 1.5, 1.5, 1.5), (1, 1.3, 1.2, 1.5)],
        ("a CPU, 16 cores", "C++"): [(1, 1.4, 1.4, 1.4)],
    }


def test_history_is_drawn_without_measuring(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From baselines and from files of --json, with every row, machine and commit in it."""
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(baseline, "FOLDER", tmp_path)
    baseline.save("first", [document(1.5, commit="abc")])
    document(1.7, "the other", commit="def", GPU="NVIDIA H100").write(tmp_path / "second.json")
    path = tmp_path / "history.svg"
    monkeypatch.setattr(sys, "argv", ["benchmark", "--history", str(path)])
    assert main() == 0
    drawn = path.read_text()
    for name in ("launch: a row", "launch: the other", "NVIDIA H200", "NVIDIA H100", "abc", "def", "to C++"):
        assert f">{name}</text>" in drawn


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


def test_phases_of_the_program() -> None:
    """They are those of application.py, follow each other, and are all of the program."""
    try:
        pathfinder.load("nvrtc")
    except pathfinder.LibraryNotFound as error:
        pytest.skip(str(error).splitlines()[0])
    program = Path(__file__).parent.parent / "benchmark" / "programs" / "saxpy.py"
    command = [sys.executable, str(program), "cudapy", "array", "2"]
    found = application.phases(Program(command, CUDAPY_DRIVER="simulator"))
    whole = found.pop(application.WHOLE)
    assert tuple(found) == application.PHASES and all(seconds > 0 for seconds in found.values())
    assert sum(found.values()) == pytest.approx(whole)
    with pytest.raises(RuntimeError, match="the program has the phases start, other, exit"):
        application.phases(Program([sys.executable, "-c", "print('start 1'); print('other 2')"]))


def test_no_history(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(baseline, "FOLDER", tmp_path)
    monkeypatch.setattr(sys, "argv", ["benchmark", "--history", str(tmp_path / "history.svg")])
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == 2 and "there are no baselines to draw" in capsys.readouterr().err


def test_remaining_time() -> None:
    """What is known counts, then tests of the same function, then others on the GPU or not, then all."""
    left = progress.Remaining(["f[a]", "f[b]", "g", "h"], {})
    assert left.seconds() is None
    left.done("f[a]", 2.0)
    assert left.seconds() == 6.0
    left.done("g", 10.0)
    assert left.seconds() == 2.0 + 6.0
    mixed = progress.Remaining(["f", "g", "gpu1", "gpu2"], {}, {"gpu1", "gpu2"})
    mixed.done("f", 8.0)
    assert mixed.seconds() == 8.0 * 3
    mixed.done("gpu1", 0.5)
    assert mixed.seconds() == 8.0 + 0.5
    earlier = progress.Remaining(["f[a]", "f[b]", "g"], {"f[a]": 1.0, "f[b]": 3.0, "g": 5.0})
    assert earlier.seconds() == 9.0
    earlier.done("f[a]", 100.0)
    assert earlier.seconds() == 8.0
    assert progress.text(3, 12, "benchmark/test_x.py::test_y[z]", 65.4) == (
        " 3 of 12  test_x.py::test_y[z]  1 min 5 s left"
    )


def test_rows_are_shown_while_they_are_measured(tmp_path: Path) -> None:
    """Each with its name and the time that the rest takes, by what an earlier process has written."""
    tests = [f"benchmark/test_calls.py::test_driver[{name}]" for name in ("cuEventQuery", "cuStreamQuery")]
    raw, earlier = tmp_path / "raw.json", tmp_path / "earlier.json"
    Document(MACHINE, [], {}, {tests[0]: 40.0, tests[1]: 25.0}).write(earlier)
    command = [sys.executable, "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", "--quick", *tests]
    command += ["-o", "console_output_style=classic", "--progress", f"--raw={raw}", f"--expect={earlier}"]
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


def test_runs_are_joined(tmp_path: Path) -> None:
    for i, run in enumerate((document(2.0), document(4.0), document(1.0, "other"))):
        run.write(tmp_path / f"{i}.json")
    runs = [Document.read(tmp_path / f"{i}.json") for i in range(3)]
    joined = merged(runs)
    assert [(r.name, len(r.times[CUDAPY])) for r in joined.records] == [("a row", 6), ("other", 3)]
    assert joined.records[0].ratios()["C++"].median == pytest.approx(3.0)
    assert baseline.tests(runs, {"launch: other"}) == ["t::other"]


@needs_scipy
def test_experiments_find_what_is_planted() -> None:
    """In 60 processes of a row that varies by one per cent; and nothing where nothing is."""
    draw = random.Random(1)
    processes = [document(1.2 * draw.gauss(1, 0.01)) for _ in range(60)]
    assert experiments.verdict(processes, ROW, 0.1, draw) == {ROW}
    assert experiments.verdict(processes, ROW, 0.0, draw) == set()


def test_the_interval_of_a_median() -> None:
    """By order statistics: of 101 values, those of places 41 and 61 enclose the median 19 times in 20."""
    low, median, high = interval([float(i) for i in range(1, 102)])
    assert median == 51 and abs(low - 41) <= 1 and abs(high - 61) <= 1
    assert interval([2.0]) == (2, 2, 2)
    covered = 0
    for seed in range(100):
        draw = random.Random(seed)
        low, _, high = interval([draw.gauss(1, 0.1) for _ in range(51)])
        covered += low <= 1 <= high
    assert 90 <= covered <= 99


def test_a_batch_is_long_enough() -> None:
    assert calls_for(8e-9, 200) == 12500 and calls_for(1e-6, 200) == 200
    loop = Loop("value", {"value": 0})
    assert loop.calls > 200, f"200 loads of a name take less than {SHORTEST} s"


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
