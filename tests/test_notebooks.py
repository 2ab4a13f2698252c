"""The notebooks: each runs from top to bottom, as a program and, if its client is installed, in Jupyter."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from .conftest import no_gpu

ROOT = Path(__file__).parents[1]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))


def cells(path: Path, kind: str) -> list[dict[str, Any]]:
    return [cell for cell in json.loads(path.read_text())["cells"] if cell["cell_type"] == kind]


def source(cell: dict[str, Any]) -> str:
    return "".join(cell["source"])


def as_python(cell: dict[str, Any]) -> str:
    """A cell without Jupyter: the kernels of `%%cuda` become variables as they do there."""
    text = source(cell)
    if text.startswith("%%cuda"):
        line, _, code = text.removeprefix("%%cuda").partition("\n")
        return f"globals().update(__import__('cudapy.jupyter').jupyter.kernels({line!r}, {code!r}))"
    return text.replace("%load_ext cudapy.jupyter\n", "")


def environment() -> dict[str, str]:
    simulated = {"CUDAPY_DRIVER": "simulator"} if no_gpu() else {}
    return {**os.environ, "PYTHONPATH": str(ROOT), **simulated}


def test_there_are_those_that_the_page_lists() -> None:
    page = (ROOT / "docs" / "notebooks.md").read_text()
    assert set(re.findall(r"\((?:\.\./notebooks/)(\w+\.ipynb)\)", page)) == {path.name for path in NOTEBOOKS}


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_what_is_shown_was_computed_by_the_cells(path: Path) -> None:
    """All cells were run, once and in order, none failed, and they print no folder of a machine."""
    code = cells(path, "code")
    assert [cell["execution_count"] for cell in code] == list(range(1, len(code) + 1))
    outputs = [output for cell in code for output in cell["outputs"]]
    assert outputs and all(output["output_type"] != "error" for output in outputs)
    assert not re.search(r"/(tmp|home|work|root|Users)/", json.dumps(outputs))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_kernels_are_in_cells_of_their_own_and_there_is_something_to_do(path: Path) -> None:
    code = "\n".join(as_python(cell) for cell in cells(path, "code") if not source(cell).startswith("%%cuda"))
    assert any(source(cell).startswith("%%cuda\n") for cell in cells(path, "code"))
    assert "__global__" not in code
    assert any(source(cell).startswith("## Your turn") for cell in cells(path, "markdown"))


@pytest.mark.thorough
@pytest.mark.usefixtures("nvrtc")
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_cells_are_a_program(path: Path, tmp_path: Path) -> None:
    text = "\n".join(as_python(cell) for cell in cells(path, "code"))
    if "PIL" in text:
        pytest.importorskip("PIL", reason="Pillow is not installed")
    command = [sys.executable, "-W", "error", "-c", text]
    done = subprocess.run(
        command, cwd=tmp_path, env=environment(), capture_output=True, text=True, timeout=300
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.thorough
@pytest.mark.usefixtures("nvrtc")
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_runs_in_jupyter(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a kernel: what ends a cell is shown, those with a table as one."""
    for module in ("nbclient", "nbformat", "ipykernel"):
        pytest.importorskip(module, reason=f'{module} is not installed: pip install -e ".[notebooks]"')
    from nbclient import NotebookClient
    from nbformat import read

    for name, value in environment().items():
        monkeypatch.setenv(name, value)
    notebook = read(path, as_version=4)
    NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(tmp_path)}}).execute()
    assert kinds(notebook) == kinds(json.loads(path.read_text()))


def kinds(notebook: Any) -> list[list[str]]:
    """Of each cell, whether its result is shown as a table or as a picture."""
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    every = [{kind for output in cell["outputs"] for kind in output.get("data", {})} for cell in code]
    return [sorted({"text/html", "image/png"} & shown) for shown in every]
