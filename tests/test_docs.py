"""The code blocks of README.md, docs/ and the other pages: they are compiled, type-checked and run.

The Python blocks of a page are one program, in which a block sees what those above it made, up to a comment
that begins another. A program is run in a folder of its own, on the simulator where there is no GPU, until a
block needs a compiler's library that is not there. README.md's run as a reader pastes them, and print what is
below them.
"""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import pytest

from . import warm
from .conftest import no_gpu

ROOT = Path(__file__).parents[1]
FRONT = ROOT / "README.md"
EXAMPLES = ROOT / "docs" / "_site" / "examples.md"  # of the API reference
PAGES = [FRONT, ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md")), EXAMPLES]
NOT_RUN = {"README.md": "@libcuda("}
"""What blocks begin with that are no part of a program, but show a declaration."""
ANOTHER = "<!-- a program of its own -->\n"
"""Stands above a block that sees nothing of those before it."""


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


def programs(page: Path) -> list[list[Block]]:
    """The blocks, by the programs that they are parts of."""
    text, found = page.read_text(), list[list[Block]]()
    starts = [text.count("\n", 0, each.start()) + 1 for each in re.finditer(re.escape(ANOTHER), text)]
    for block in blocks(page):
        if not found or block.line - 2 in starts:
            found.append([])
        found[-1].append(block)
    return found


def program(parts: list[Block]) -> str:
    """The blocks, each on the lines that it has in the page."""
    lines: list[str] = []
    for line, code in parts:
        lines += [""] * (line - 1 - len(lines)) + code.splitlines()
    return "\n".join(lines) + "\n"


WITH_BLOCKS = [page for page in PAGES if blocks(page)]


def name(page: Path) -> str:
    return page.name


@pytest.fixture(scope="module")
def mypy():
    return pytest.importorskip("mypy.api", reason="mypy is not installed")


RUNNER = """
import sys, warnings
warnings.simplefilter("error")
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


def printed(page: Path, parts: list[Block], folder: Path) -> str:
    """What a program prints. Skips the test if a block needs a library that is missing."""
    source = [f"{line}:{code}" for line, code in parts]
    environment = {name: value for name, value in os.environ.items() if name != "CUDAPY_DRIVER"}
    environment |= {"PYTHONPATH": str(ROOT)}
    if no_gpu() and page != FRONT:
        environment["CUDAPY_DRIVER"] = "simulator"
    command = ["-c", RUNNER, str(page), *source]
    if "CUDAPY_DRIVER" in environment:
        done = warm.run(command, env=environment, cwd=folder, ends_at_once=True)
    else:
        done = subprocess.run(
            [sys.executable, *command],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=300,
        )
    said = re.sub(r"^.* Assertion `.*' failed\.\n|^.* Assertion `.*` failed\.\n", "", done.stderr, flags=re.M)
    assert (done.returncode, said) == (0, "")
    if "\nSTOPPED" in "\n" + done.stdout:
        line, _, why = done.stdout.rpartition("STOPPED ")[2].partition(" ")
        pytest.skip(f"from line {line} on it needs a library that is missing: {why}")
    return done.stdout


@pytest.mark.parametrize(
    "page", [page for page in WITH_BLOCKS if page.name not in ("README.md", "bugs.md")], ids=name
)
def test_blocks_run(page: Path, tmp_path: Path) -> None:
    for parts in programs(page):
        printed(page, parts, tmp_path)


def same_everywhere(text: str) -> str:
    """Without addresses, lines of the program, and what a release of the compiler makes of a line."""
    text = re.sub(r"((?:by|allocated in) \w+, )[^;\n]*:\d+", r"\1program.py:#", text)
    text = re.sub(r"PTX line \d+: .*", "PTX line #", re.sub(r"0x[0-9a-f]+", "0x#", text))
    return re.sub(r"(in \w+, )\S*/", r"\1", text)  # the folder


def test_the_front_page_runs_as_pasted_and_prints_what_it_says(tmp_path: Path) -> None:
    """Each program has below it the text that it prints, or a part of that."""
    text = FRONT.read_text()
    for parts in programs(FRONT):
        after = text.split("\n", parts[-1].line - 1)[-1]
        shown = re.search(r"^```text\n(.*?)^```$", after, re.MULTILINE | re.DOTALL)
        assert shown, f"nothing is said to be printed by the program of line {parts[0].line}"
        found = printed(FRONT, parts, tmp_path)
        if no_gpu() or "simulator" not in shown[1]:
            assert same_everywhere(shown[1]) in same_everywhere(found)


def test_the_page_of_bugs_prints_what_it_shows(tmp_path: Path) -> None:
    """Every report, in order."""
    page = ROOT / "docs" / "bugs.md"
    (parts,) = programs(page)
    found = same_everywhere(printed(page, parts, tmp_path))
    reports = re.findall(r"^```text\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL)
    assert len(reports) > 8
    for report in reports:
        before, shown, found = found.partition(same_everywhere(report))
        assert shown, (report, before)


def test_no_page_asks_a_package_index_for_cudapy() -> None:
    """It is not there: whoever took the name would have his code run."""
    for page in PAGES:
        for line in page.read_text().splitlines():
            if "Fix: " not in line:  # of an installed one, whose extra pip looks up there
                assert not re.search(r"""pip install\b.*[ "']cudapy\b""", line), (page, line)


def test_the_examples_for_contributors_are_in_the_files_that_are_named() -> None:
    """Word for word, each in the file of `cudapy` that the text above it names last."""
    page = (ROOT / "CONTRIBUTING.md").read_text()
    before, *examples = re.split(r"^```py\n(.*?)^```$", page, flags=re.MULTILINE | re.DOTALL)
    texts = [before, *examples[1::2]]
    assert len(examples) == 6
    for text, example in zip(texts, examples[::2], strict=False):
        named = re.findall(r"`(cudapy/[\w/]+\.py)`", text)[-1]
        assert " ".join(example.split()) in " ".join((ROOT / named).read_text().split()), named


@pytest.mark.parametrize("page", [FRONT, ROOT / "CONTRIBUTING.md", ROOT / "samples" / "README.md"], ids=name)
def test_commands_name_what_is_there(page: Path) -> None:
    """Files and modules that `python` is given, extras that pip is, and sessions of nox."""
    text = page.read_text()
    lines = "\n".join(re.findall(r"^```sh\n(.*?)^```$", text, re.M | re.S)).split("\n")
    lines += re.findall(r"`(python [^`]+|nox -s [^`]+|pip install [^`]+)`", text)
    commands = [each.split("#")[0].strip() for line in lines for each in line.split("&&")]
    assert commands
    extras = re.findall(r"^(\w+) = \[", (ROOT / "pyproject.toml").read_text(), re.M)
    sessions = re.findall(
        r"^@nox\.session(?:\(.*?\))?\n(?:@.*\n)?def (\w+)", (ROOT / "noxfile.py").read_text(), re.M
    )
    for command in commands:
        for file in re.findall(r"\b(?:samples|tests|docs)/[\w/]+\.py\b", command):
            assert (ROOT / file).is_file(), command
        for module in re.findall(r"python -m ([\w.]+)", command):
            assert find_spec(module) or module in ("venv", "build"), command
        for wanted in re.findall(r"\.\[([\w,]+)\]", command):
            assert set(wanted.split(",")) <= set(extras), command
        for session in re.findall(r"nox -s (\w+)", command):
            assert session in sessions, command


@pytest.mark.parametrize("page", WITH_BLOCKS, ids=name)
def test_what_blocks_import_is_there(page: Path) -> None:
    every = [part for parts in programs(page) for part in parts]
    for node in ast.walk(ast.parse(program(every), str(page))):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            exec(compile(ast.Module([node], []), str(page), "exec"), {})


@pytest.mark.thorough
def test_blocks_are_of_the_right_types(mypy, tmp_path: Path) -> None:
    files = []
    for page in WITH_BLOCKS:
        for i, parts in enumerate(programs(page)):
            files.append(tmp_path / f"{page.stem.replace('-', '_')}_page_{i}.py")
            files[-1].write_text(program(parts))
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
    assert program(*programs(page)).splitlines()[11] == "assert x == 2"


def test_a_program_of_its_own_sees_nothing_of_the_one_above(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"```python\nx = 1\n```\n\n{ANOTHER}```python\nx\n```\n\n```python\ny = 1\n```\n")
    assert [[block.code for block in parts] for parts in programs(page)] == [["x = 1\n"], ["x\n", "y = 1\n"]]
    with pytest.raises(AssertionError, match="ot defined"):
        test_blocks_run(page, tmp_path)
