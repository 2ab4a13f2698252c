"""The table of docs/any-program.md is what `python -m tests.clients.table` recorded."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.clients import table


def test_the_document_has_what_was_recorded() -> None:
    _, _, rest = table.DOCUMENT.read_text().partition(table.BEGIN)
    assert rest.partition(table.END)[0] == table.table(table.recorded())


def test_the_record_is_of_these_rows() -> None:
    found = [(tuple(each.packages), each.lacks) for each in table.recorded()]
    assert found == [(row.packages, row.lacks) for row in table.ROWS]


def test_every_program_is_in_a_row() -> None:
    programs = {program for row in table.ROWS for program in row.programs}
    assert all((table.FOLDER / program).is_file() for program in programs)
    there = {f"others/{path.name}" for path in (table.FOLDER / "others").glob("*.py")}
    there |= {f"compiled/{path.name}" for path in (table.FOLDER / "compiled").glob("*.py")}
    assert there - programs == {"compiled/core_exit.py"}  # many times: test_compiled_clients.py


@pytest.mark.parametrize(
    ("status", "stderr", "lacks", "is_right"),
    [
        (0, "", "", True),
        (1, "mistake", "", False),
        (1, "x has NVIDIA's CUDA runtime (libcudart) linked statically: so", table.STATIC, True),
        (1, "mistake", table.STATIC, False),
        (0, "", table.STATIC, False),
    ],
)
def test_a_row_that_ends_otherwise_is_refused(
    status: int, stderr: str, lacks: str, is_right: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(command: list[str], variables: dict[str, str]) -> tuple[int, str]:
        assert command[0] == sys.executable and Path(command[-1]) == table.FOLDER / "program.py"
        return status, stderr

    monkeypatch.setattr(table, "run", run)
    row = table.Row(("numpy",), "", ("program.py",), lacks)
    if is_right:
        assert table.outcome(row).lacks == lacks
    else:
        with pytest.raises(RuntimeError, match=r"program\.py ended with"):
            table.outcome(row)


def test_a_program_runs() -> None:
    command = [sys.executable, "-c", "import sys; print('out'); print('told', file=sys.stderr); sys.exit(3)"]
    assert table.run(command, {}) == (3, "told\n")


def test_a_package_that_is_not_there_is_named() -> None:
    with pytest.raises(RuntimeError, match="not installed: no-such-package"):
        table.outcome(table.Row(("no-such-package",), "", ()))
