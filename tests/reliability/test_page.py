"""docs/reliability.md names tests that are there."""

from __future__ import annotations

import re

from tests.stub import REPOSITORY


def test_every_file_that_the_page_names_is_there() -> None:
    text = (REPOSITORY / "docs" / "reliability.md").read_text()
    found = {name for name in re.findall(r"`([^`]*)`", text) for name in re.findall(r"tests/[\w/.]+", name)}
    assert len(found) > 15
    assert [name for name in sorted(found) if not (REPOSITORY / name).exists()] == []


def test_every_row_names_a_test() -> None:
    text = (REPOSITORY / "docs" / "reliability.md").read_text()
    rows = text.partition("## Rows")[2].partition("\n## ")[0].splitlines()
    rows = [row for row in rows if row.startswith("|")][2:]
    assert len(rows) >= 18
    assert [row for row in rows if "test" not in row.split("|")[3]] == []
