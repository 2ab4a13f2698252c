"""The Python blocks of README.md and docs/: they are compiled, type-checked and run.

The blocks of a page are one program: a block sees what those above it made. A page is run in a folder of its
own, on the simulator where there is no GPU, until a block needs a compiler's library that is not there.
"""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from .conftest import no_gpu

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
NOT_RUN = {"README.md": "@libcuda("}
"""What blocks begin with that are no part of a program, but show a declaration."""


class Block(NamedTuple):
    """A fenced block, and the line of the page that it begins in."""

    line: int
    code: str


def blocks(page: Path) -> list[Block]:
    text = page.read_text()
    found = re.finditer(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    all_of_them = [Block(text.count("\n", 0, each.start(1)) + 1, each[1]) for each in found]
    begin = NOT_RUN.get(page.name)
    return [block for block in all_of_them if not (begin and block.code.startswith(begin))]


def program(page: Path) -> str:
    """The blocks, each on the lines that it has in the page."""
    lines: list[str] = []
    for line, code in blocks(page):
        lines += [""] * (line - 1 - len(lines)) + code.splitlines()
    return "\n".join(lines) + "\n"


WITH_BLOCKS = [page for page in PAGES if blocks(page)]


def name(page: Path) -> str:
    return page.name


@pytest.fixture(scope="module")
def mypy():
    return pytest.importorskip("mypy.api", reason="mypy is not installed")


RUNNER = """
import sys
page, *source = sys.argv[1:]
from cudapy.pathfinder import LibraryNotFound
scope = {"__name__": "__main__"}
for block in source:
    line, _, code = block.partition(":")
    try:
        exec(compile("\\n" * (int(line) - 1) + code, page, "exec"), scope)
    except LibraryNotFound as error:
        print("STOPPED", line, error)
        break
"""


@pytest.mark.parametrize("page", WITH_BLOCKS, ids=name)
def test_blocks_run(page: Path, tmp_path: Path) -> None:
    source = [f"{line}:{code}" for line, code in blocks(page)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    if no_gpu():
        environment["CUDAPY_DRIVER"] = "simulator"
    command = [sys.executable, "-W", "error", "-c", RUNNER, str(page), *source]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stderr) == (0, "")
    if "\nSTOPPED" in "\n" + done.stdout:
        line, _, why = done.stdout.rpartition("STOPPED ")[2].partition(" ")
        pytest.skip(f"from line {line} on it needs a library that is missing: {why}")


@pytest.mark.parametrize("page", WITH_BLOCKS, ids=name)
def test_what_blocks_import_is_there(page: Path) -> None:
    for node in ast.walk(ast.parse(program(page), str(page))):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            exec(compile(ast.Module([node], []), str(page), "exec"), {})


def test_blocks_are_of_the_right_types(mypy, tmp_path: Path) -> None:
    files = []
    for page in WITH_BLOCKS:
        files.append(tmp_path / f"{page.stem.replace('-', '_')}_page.py")
        files[-1].write_text(program(page))
    cache = ROOT / ".mypy_cache" / "docs"
    options = ["--config-file=", f"--cache-dir={cache}", "--follow-imports=silent", "--no-error-summary"]
    out, err, status = mypy.run([*options, *map(str, files)])
    assert (status, err) == (0, ""), out


def test_a_block_that_is_wrong_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("text\n\n```python\nx = 1\n```\n\n```sh\nls\n```\n\n```python\nassert x == 2\n```\n")
    assert blocks(page) == [(4, "x = 1\n"), (12, "assert x == 2\n")]
    with pytest.raises(AssertionError, match="rtionError"):
        test_blocks_run(page, tmp_path)
    assert program(page).splitlines()[11] == "assert x == 2"
