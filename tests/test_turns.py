"""The library of the benchmark: what counts as slower, how long it takes, and its files."""

from __future__ import annotations

import importlib.util
import math
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path
from threading import Barrier, get_ident

import pytest

from turns import comparison, formats, progress, report, sides
from turns.__main__ import main
from turns.comparison import FASTER, SLOWER, UNCHANGED, UNDECIDED, Baseline, Comparison, Rules, Unfit, of
from turns.document import Document, merged
from turns.record import Record
from turns.rounds import SHORTEST, Loop, Threads, calls_for, interval, modes
from turns.twin import Absent, Twin, build

ROOT = Path(__file__).parent.parent
MACHINE = {"CPU": "a CPU, 16 cores", "date": "2026-01-02"}
ROW = "group: a row"
needs_scipy = pytest.mark.skipif(
    importlib.util.find_spec("scipy") is None,
    reason="SciPy, which `pip install cudapy[bench]` brings, is absent",
)


def document(ratio: float, name: str = "a row", rival: str = "C++", **machine: str) -> Document:
    """A run of one row, in which the subject takes `ratio` times as long as its rival."""
    times = {"mine": [ratio * 1e-6] * 3, rival: [1e-6] * 3}
    return Document(MACHINE | machine, [Record("group", name, times, test="t::" + name)], {})


def kept(*ratios: float, **machine: str) -> Baseline:
    return of([document(ratio, **machine) for ratio in ratios])


ONCE = Rules(looks=(5,), shares=(1.0,), keep=(0.0,))


def looked(before: Baseline, now: Baseline, rules: Rules = ONCE) -> Comparison:
    """A comparison after its first look."""
    made = Comparison(rules)
    made.look(before, now)
    return made


# -- what counts as slower --------------------------------------------------------------------------------

BEFORE = (1.20, 1.22, 1.21, 1.23, 1.19)
SLOW = (1.32, 1.34, 1.33, 1.35, 1.31)


@needs_scipy
@pytest.mark.parametrize(
    ("now", "said"),
    [
        (BEFORE, UNCHANGED),
        ((1.22, 1.24, 1.20, 1.23, 1.25), UNCHANGED),  # two per cent, in that noise
        (SLOW, SLOWER),
        ((1.32, 1.19, 1.60, 1.22, 1.31), UNCHANGED),  # as far from before, and from each other
        ((1.10, 1.09, 1.11, 1.10, 1.12), FASTER),
    ],
)
def test_what_has_changed(now: tuple[float, ...], said: str) -> None:
    """By Student's t-test of the logarithms: the probabilities are those of R's t.test(var.equal = TRUE)."""
    assert looked(kept(*BEFORE), kept(*now)).verdicts[ROW].said == said


@needs_scipy
def test_a_change_has_bounds() -> None:
    """Those of 95 %, by hand: a pooled deviation of 0.01, 2.306 of which times sqrt(2 / 5)."""
    before = [math.exp(x) for x in (-0.01, -0.01, 0.0, 0.01, 0.01)]
    now = [math.exp(x + 0.05) for x in (-0.01, -0.01, 0.0, 0.01, 0.01)]
    change = kept(*before).changes(kept(*now), Rules())[ROW]
    half = 2.306 * 0.01 * math.sqrt(2 / 5)
    found = [math.log(x) for x in (change.factor, change.low, change.high)]
    assert found == pytest.approx([0.05, 0.05 - half, 0.05 + half], abs=2e-4)


def test_error_rates_are_of_the_whole_comparison() -> None:
    """What all looks at all rows spend is the rate of false alarms."""
    rules = Rules()
    assert len(rules.looks) == len(rules.shares) == len(rules.keep) and rules.keep[-1] == 0
    spent = sum(7 * rules.limit(look, 7) for look in range(len(rules.looks)))
    assert spent == pytest.approx(rules.false_alarms)


@needs_scipy
def test_what_is_rare_in_one_row_is_not_in_many() -> None:
    now = [(1.235, 1.245, 1.24, 1.25, 1.23)]
    assert looked(kept(*BEFORE), kept(*now[0])).rows(SLOWER) == [ROW]
    many = [f"row {i}" for i in range(50)]
    sides_ = [
        Baseline(MACHINE, {ROW: {"C++": ratios}, **{name: {"C++": BEFORE} for name in many}})
        for ratios in (BEFORE, *now)
    ]
    assert looked(*sides_).rows(SLOWER) == []


@needs_scipy
def test_a_comparison_goes_on_while_it_may_find_something() -> None:
    """A clear row is decided at the first look, a doubtful one is open until the last, others are dropped."""
    rules = Rules(looks=(5, 10), shares=(0.5, 0.5), keep=(0.2, 0.0))
    rows = {"clear": SLOW, "doubtful": (1.22, 1.23, 1.22, 1.24, 1.21), "same": (1.20, 1.22, 1.21, 1.22, 1.19)}
    before = Baseline(MACHINE, {name: {"C++": list(BEFORE)} for name in rows})
    now = Baseline(MACHINE, {name: {"C++": list(ratios)} for name, ratios in rows.items()})
    made = Comparison(rules)
    assert made.processes == 5
    made.look(before, now)
    assert {name: verdict.said for name, verdict in made.verdicts.items()} == {
        "clear": SLOWER,
        "doubtful": UNDECIDED,
        "same": UNCHANGED,
    }
    assert made.open == {"doubtful"} and made.processes == 10
    more = {"doubtful": {"C++": [*rows["doubtful"], *rows["doubtful"]]}}
    made.look(Baseline(MACHINE, {"doubtful": {"C++": [*BEFORE, *BEFORE]}}), Baseline(MACHINE, more))
    assert made.verdicts["doubtful"][1:] == (UNCHANGED, 10) and not made.open and not made.processes
    assert made.verdicts["clear"].processes == 5


@needs_scipy
@pytest.mark.thorough
def test_looking_often_does_not_raise_the_rate_of_false_alarms() -> None:
    """Of 600 comparisons of one row with itself, looked at five times, 5 % may, with a deviation of 5."""
    draw, rules, wrong = random.Random(0), Rules(false_alarms=0.05, keep=(1.0, 1.0, 1.0, 1.0, 0.0)), 0
    for _ in range(600):
        sample = [[math.exp(draw.gauss(0, 0.02)) for _ in range(rules.looks[-1])] for _ in range(2)]
        made = Comparison(rules)
        while made.processes and (not made.verdicts or made.open):
            n = made.processes
            made.look(*(Baseline(MACHINE, {ROW: {"C++": side[:n]}}) for side in sample))
        wrong += made.verdicts[ROW].said == SLOWER
    assert 5 <= wrong <= 30 + 2 * 5


@needs_scipy
def test_the_ratio_that_varies_least_decides() -> None:
    """What disturbs one rival alone, another one shows to be no change; but not one of another version."""

    def side(slower: float, noise: float, **machine: str) -> Baseline:
        def run(number: int) -> Document:
            mine, disturbed = 1e-6 * slower * 1.001**number, 1e-6 * noise**number
            times = {"mine": [mine] * 3, "C++": [disturbed] * 3, "theirs": [1e-6] * 3}
            return Document(MACHINE | machine, [Record("group", "a row", times)], {})

        return of([run(number) for number in range(5)])

    rules = Rules(looks=(5,), shares=(1.0,), keep=(0.0,), versions={"theirs": "their-version"})
    before = side(1.0, 1.2)
    assert looked(before, side(1.0, 0.9), rules).rows(SLOWER) == []
    made = looked(before, side(1.05, 1.2), rules)
    assert made.rows(SLOWER) == [ROW]
    text = comparison.text(made, before, side(1.05, 1.2))
    assert "1 slower" in text and "1.050 of what it was" in text
    assert looked(before, side(1.05, 1.2, **{"their-version": "9.9"}), rules).rows(SLOWER) == []


@needs_scipy
def test_sizes_have_no_noise() -> None:
    """A byte more is more."""
    assert looked(kept(2.0, 2.0), kept(2.1, 2.1)).rows(SLOWER) == [ROW]
    assert looked(kept(2.0, 2.0), kept(1.9, 1.9)).rows(FASTER) == [ROW]
    assert looked(kept(2.0, 2.0), kept(2.0, 2.0)).rows(UNCHANGED) == [ROW]


@needs_scipy
def test_what_was_not_compared_with_the_same_has_not_changed() -> None:
    by_hand = of([document(9.0, rival="plain ctypes")] * 2)
    assert kept(1.0, 1.0).changes(by_hand, Rules()) == {}
    other = of([document(1.0, "another row")])
    assert "not measured this time: group: a row" in comparison.text(Comparison(Rules()), kept(1.0), other)


def test_another_machine_is_no_comparison() -> None:
    with pytest.raises(Unfit, match="another CPU: a CPU, 16 cores, not another"):
        kept(1.0).changes(kept(1.0, CPU="another"), Rules())


# -- what is said of it -----------------------------------------------------------------------------------


@needs_scipy
def test_changes_are_commands_of_github() -> None:
    (line,) = comparison.github_commands(looked(kept(*BEFORE), kept(*SLOW))).splitlines()
    assert line.startswith("::error title=slower::group: a row: 1.099 of what it was (")
    (line,) = comparison.github_commands(looked(kept(2.0, 2.0), kept(1.9, 1.9))).splitlines()
    assert line == "::notice title=faster::group: a row: 0.950 of what it was (0.950 to 0.950, 5 processes)"
    assert comparison.github_commands(looked(kept(2.0, 2.0), kept(2.0, 2.0))) == ""


@needs_scipy
def test_a_table_for_a_pull_request() -> None:
    """What changed stands first; the rest is folded."""
    rows = {"a|b": (BEFORE, SLOW), "c": (BEFORE, BEFORE)}
    before, now = (
        Baseline({**MACHINE, "commit": commit}, {name: {"C++": pair[i]} for name, pair in rows.items()})
        for i, commit in enumerate(("aaa", "bbb"))
    )
    lines = comparison.markdown(looked(before, now), before, now).splitlines()
    assert lines[0].startswith("**1 slower row** of 2: bbb against aaa, a CPU, 16 cores.")
    assert lines[4].startswith("| a\\|b | 1.099 | ") and lines[4].endswith(" | **slower** | 5 |")
    assert "<details><summary>1 rows without a shown change</summary>" in lines
    assert any(line.startswith("| c | 1.000 |") for line in lines[6:])


@pytest.mark.parametrize("shape", ["normal", "uniform", "two"])
def test_two_speeds_are_said(shape: str) -> None:
    draw = random.Random(1)
    sample = {
        "normal": [draw.gauss(1.2, 0.02) for _ in range(100)],
        "uniform": [draw.uniform(1, 1.4) for _ in range(100)],
        "two": [draw.gauss(1.5 if i % 4 == 0 else 1.2, 0.01) for i in range(100)],
    }[shape]
    record = Record("group", "a row", {"mine": [1e-6 * ratio for ratio in sample], "C++": [1e-6] * 100})
    text = report.text(MACHINE, [record], {})
    if shape == "two":
        assert "group: a row, to C++: 1.20 in 75% of the rounds, 1.50 in the others" in text
        assert modes(sample) is not None
    else:
        assert "two speeds" not in text and modes(sample) is None


# -- two versions of a project ----------------------------------------------------------------------------


class Measured:
    """A side that has been told what its processes find, and how long one takes."""

    def __init__(self, ratios: list[float], seconds: float, clock: list[float]) -> None:
        self.ratios, self.seconds, self.clock = iter(ratios), seconds, clock
        self.documents: list[Document] = []
        self.asked: list[tuple[str, ...]] = []
        self.status = 0

    def measure(self, arguments: list[str]) -> None:
        self.clock[0] += self.seconds
        self.asked.append(tuple(arguments))
        self.documents.append(document(next(self.ratios)))


@needs_scipy
def test_runs_are_announced_and_only_open_rows_measured_again() -> None:
    clock, said = [0.0], []
    rules = Rules(looks=(3, 5), shares=(0.5, 0.5), keep=(1.0, 0.0))
    now = Measured([1.0, 1.01, 1.02, 1.0, 1.01], 10.0, clock)
    made = sides.compare(
        kept(1.0, 1.01, 1.0), now, rules, ["-k", "x"], say=said.append, clock_now=lambda: clock[0]
    )
    assert said == [
        "run 1 of 3",
        "run 2 of 3, 20 s left to the next decision, at most 40 s in all",
        "run 3 of 3, 10 s left to the next decision, at most 30 s in all",
        "run 4 of 5, 1 row open, 20 s left",
        "run 5 of 5, 1 row open, 10 s left",
    ]
    assert now.asked == [("-k", "x")] * 3 + [("-k", "x", "--turns-only=t::a row")] * 2
    assert made.rows(UNCHANGED) == [ROW]


@needs_scipy
def test_a_row_is_undecided_when_the_time_is_up() -> None:
    clock, said = [0.0], []
    rules = Rules(looks=(3, 20), shares=(0.5, 0.5), keep=(1.0, 0.0))
    now = Measured([1.0, 1.01, 1.02], 10.0, clock)
    made = sides.compare(
        kept(1.0, 1.01, 1.0), now, rules, seconds=60, say=said.append, clock_now=lambda: clock[0]
    )
    assert made.rows(UNDECIDED) == [ROW] and said[-1] == "the time is up: 1 rows are undecided"
    assert "1 undecided" in comparison.text(made, kept(1.0), of(now.documents))


PROJECT = """
def work(count):
    total = 0
    for i in range(count):
        total += i
    return total
"""
TESTS = """
import pytest
from package import work

def yardstick(count):
    total = 0
    for i in range(count):
        total += i
    return total

@pytest.mark.gate
def test_work(turns):
    turns("work", {"mine": lambda: work(400)}, {"in place": lambda: lambda: yardstick(400)}, rounds=25)

def test_not_of_the_gate(turns):
    turns("nothing", {"mine": int}, rounds=5)
"""


def test_a_run_that_is_stopped_leaves_its_rows(tmp_path: Path) -> None:
    tests, kept = tmp_path / "test_speed.py", tmp_path / "rows.json"
    tests.write_text(
        "import os\n"
        "def test_first(turns):\n    turns('first', {'mine': int}, rounds=5)\n"
        "def test_second(turns):\n    turns('second', {'mine': int}, rounds=5)\n"
        "def test_stopped(turns):\n    turns('third', {'mine': int}, rounds=5)\n    os._exit(9)\n"
    )
    command = [sys.executable, "-m", "pytest", "-q", "-p", "turns.plugin", "-p", "no:cacheprovider"]
    command += ["-c", os.devnull, f"--rootdir={tmp_path}", f"--turns-so-far={kept}", str(tests)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 9, done.stdout + done.stderr
    read = Document.read(kept)
    assert [record.name for record in read.records] == ["first", "second"]
    assert len(read.records[1].times["mine"]) == 5 and read.machine["Python"]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A repository with a package, tests that measure it, and a commit."""
    (tmp_path / "package.py").write_text(PROJECT)
    (tmp_path / "bench").mkdir()
    (tmp_path / "bench" / "test_speed.py").write_text(TESTS)
    for command in (
        ["init", "-q"],
        ["add", "."],
        ["-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-qm", "first"],
    ):
        subprocess.run(["git", *command], cwd=tmp_path, check=True)
    return tmp_path


@needs_scipy
@pytest.mark.thorough
@pytest.mark.skipif(shutil.which("git") is None, reason="git is absent")
@pytest.mark.parametrize("change", ["none", "slower"])
def test_a_project_is_compared_with_its_commit(
    project: Path, change: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Two runs of the gate: a change that doubles the work is found; the unchanged commit passes."""
    if change == "slower":
        (project / "package.py").write_text(PROJECT.replace("range(count)", "range(2 * count)"))
    monkeypatch.chdir(project)
    monkeypatch.delenv("PYTEST_XDIST_WORKER", raising=False)
    table = project / "table.md"
    arguments = ["--against", "HEAD", "--gate", "--parts", "package.py", "--markdown", str(table), "bench"]
    monkeypatch.setattr(sys, "argv", ["turns", *arguments])
    status = main()
    printed = capfd.readouterr()
    assert status == (1 if change == "slower" else 0), printed.out + printed.err
    assert "run 1 of 4" in printed.err and "test_not_of_the_gate" not in printed.out
    head = table.read_text().splitlines()[0]
    assert head.startswith("**1 slower row** of 1" if change == "slower" else "**No slower rows** of 1")


def test_a_commit_that_is_not_there(project: Path) -> None:
    with pytest.raises(Unfit, match="commit nowhere: "):
        sides.Suite(project, ["bench"], ["package.py"]).side_of(project / "before", "nowhere")


# -- files ------------------------------------------------------------------------------------------------

WHOLE = Document(
    {"CPU": "a CPU", "commit": "abc"},
    [
        Record("group", "a row", {"mine": [2e-6, 3e-6], "C++": [1e-6, 1e-6]}, test="t::a"),
        Record("sizes", "wheel", {"mine": [5.0]}, unit="B"),
        Record("group", "import", {"mine": [3.0, 4.0], "bare": [1.0, 1.0]}, baseline="bare"),
    ],
    {},
)


@pytest.mark.parametrize("name", ["pytest-benchmark", "pyperf"])
def test_files_of_others_keep_the_rows(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """There and back again, by the command."""
    there, back = tmp_path / "there.json", tmp_path / "back.json"
    WHOLE.write(tmp_path / "raw.json")
    for source, target in ((tmp_path / "raw.json", there), (there, back)):
        monkeypatch.setattr(sys, "argv", ["turns", "--convert", name, str(source), str(target)])
        assert main() == 0
    found = Document.read(back)
    for mine, theirs in zip(WHOLE.records, found.records, strict=True):
        assert (mine.group, mine.name, mine.unit, mine.baseline) == (
            theirs.group,
            theirs.name,
            theirs.unit,
            theirs.baseline,
        )
        assert {who: pytest.approx(times) for who, times in mine.times.items()} == theirs.times
    assert found.machine["commit"] == "abc"


def test_pytest_benchmark_finds_its_statistics() -> None:
    """Those of its documentation: Tukey's fences, and a deviation around the mean."""
    times = [1.0, 2.0, 3.0, 4.0, 100.0]
    made = Document({}, [Record("g", "r", {"mine": times})], {})
    stats = formats.to_pytest_benchmark(made)["benchmarks"][0]["stats"]
    assert (stats["median"], stats["q1"], stats["q3"], stats["iqr"]) == (3.0, 2.0, 4.0, 2.0)
    assert (stats["ld15iqr"], stats["hd15iqr"], stats["outliers"]) == (1.0, 4.0, "1;1")
    assert (stats["min"], stats["max"], stats["mean"], stats["rounds"]) == (1.0, 100.0, 22.0, 5)


def test_files_that_others_wrote() -> None:
    """A benchmark is a row of one contender; warm-ups and files without times are not taken for times."""
    stats = {"mean": 2.0, "data": [1.0, 3.0]}
    data = {"benchmarks": [{"name": "test_x", "group": None, "stats": stats}], "machine_info": {"node": "n"}}
    (record,) = formats.from_pytest_benchmark(data).records
    assert (record.group, record.name, record.times) == ("", "test_x", {"test_x": [1.0, 3.0]})
    del stats["data"]
    with pytest.raises(ValueError, match="test_x has no times: write it with --benchmark-save-data"):
        formats.from_pytest_benchmark(data)
    runs = [{"warmups": [[1, 9.0]]}, {"values": [0.5, 0.6], "warmups": [[1, 9.0]]}, {"values": [0.7]}]
    suite = {"version": "1.0", "metadata": {}, "benchmarks": [{"metadata": {"name": "b"}, "runs": runs}]}
    (record,) = formats.from_pyperf(suite).records
    assert record.times == {"b": [0.5, 0.6, 0.7]}


def test_runs_are_joined(tmp_path: Path) -> None:
    for i, run in enumerate((document(2.0), document(4.0), document(1.0, "other"))):
        run.write(tmp_path / f"{i}.json")
    runs = [Document.read(tmp_path / f"{i}.json") for i in range(3)]
    joined = merged(runs)
    assert [(r.name, len(r.times["mine"])) for r in joined.records] == [("a row", 6), ("other", 3)]
    assert joined.records[0].ratios()["C++"].median == pytest.approx(3.0)
    assert comparison.tests(runs, {"group: other"}) == ["t::other"]


def test_the_library_is_a_package_of_its_own() -> None:
    """It imports nothing of this repository but itself."""
    code = f"import sys; sys.path[:0] = [{str(ROOT)!r}]; import turns.plugin, turns.__main__"
    code += "; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd="/")
    assert done.returncode == 0, done.stderr
    assert not {"cudapy", "benchmark", "tests"} & set(done.stdout.split())


# -- rounds -----------------------------------------------------------------------------------------------


TWIN = """
#include "round.h"
#include <string.h>
int twin_open(const char *const *arguments, char *reason, size_t size) { return 0; }
int twin_round(const char *name, long long calls, double *seconds, char *reason, size_t size) {
    if (strcmp(name, "add")) { strncpy(reason, "no such case", size); return 1; }
    volatile int total = 0;
    TURNS_BATCH(seconds, calls, total += 1);
    return 0;
}
"""


def test_a_twin_in_c(tmp_path: Path) -> None:
    (tmp_path / "add.c").write_text(TWIN)
    try:
        twin = Twin(build(tmp_path / "add.c"))
    except Absent as error:
        pytest.skip(f"no C compiler: {error}")
    assert 0 < twin.contender("add")() < 1e-6
    with pytest.raises(RuntimeError, match="no such case"):
        twin.contender("other")


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
    failing = Loop("value", {"value": 1}, is_failure=None)
    assert failing.calls > 200
    with pytest.raises(RuntimeError, match="value failed with 1"):
        Loop("value", {"value": 1})
