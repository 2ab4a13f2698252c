"""The samples as a collection: the list, the runner, and what each of them promises."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from samples import __main__ as runner

SAMPLES = runner.samples()
FOLDER = Path(runner.__file__).parent


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


def test_the_table_has_all_samples() -> None:
    rows = [line for line in (FOLDER / "README.md").read_text().splitlines() if line.startswith("| [")]
    named = [row.split("[")[1].split("]")[0] for row in rows]
    assert sorted(named) == sorted(sample.name for sample in SAMPLES)


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "samples", *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=FOLDER.parent)


def test_the_list() -> None:
    listed = run()
    assert listed.returncode == 0
    assert all(f"  {sample.name} " in listed.stdout for sample in SAMPLES)


@pytest.mark.parametrize("arguments", [("run",), ("run", "--all", "vector_add")])
def test_what_to_run_is_said_once(arguments: tuple[str, ...]) -> None:
    refused = run(*arguments)
    assert refused.returncode == 2 and "name the samples to run, or say --all" in refused.stderr


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
