"""docs/reliability.md and docs/testing.md name tests that are there."""

from __future__ import annotations

import re

from tests.stub import REPOSITORY


def test_every_file_that_the_pages_name_is_there() -> None:
    text = "".join((REPOSITORY / "docs" / page).read_text() for page in ("reliability.md", "testing.md"))
    quoted = " ".join(re.findall(r"`([^`]*)`", text))
    found = set(re.findall(r"tests/[\w/.*]+", quoted))
    without_folder = set(re.findall(r"(?<![\w/])test_\w+\.py", quoted))
    assert len(found) > 15 and len(without_folder) >= 4
    found |= {f"tests/reliability/{name}" for name in without_folder}
    assert [name for name in sorted(found) if not list(REPOSITORY.glob(name))] == []


def test_every_row_names_a_test() -> None:
    text = (REPOSITORY / "docs" / "reliability.md").read_text()
    rows = text.partition("## Rules")[2].partition("\n## ")[0].splitlines()
    rows = [row for row in rows if row.startswith("|")][2:]
    assert len(rows) >= 18
    assert [row for row in rows if "test" not in row.split("|")[3]] == []
