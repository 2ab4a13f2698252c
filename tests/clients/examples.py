"""`python -m tests.clients.examples --examples FOLDER`: NVIDIA's examples for cuda.core, through the alias.

FOLDER: a checkout of cuda-python, or the folder with the programs. Each runs in a process of its own, on the
GPU or else on the simulator. A program that needs a display, or a package that is not installed, is skipped.
Exit code 0: all that ran passed; 1: one failed; 77: all were skipped.
"""

from __future__ import annotations

import argparse
import ast
import importlib.util
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from .environment import REPOSITORY

DISPLAY = {"OpenGL", "glfw", "moderngl", "pygame", "pyglet", "tkinter"}
"""Packages that open windows."""
SKIPPED = 77


class Result(NamedTuple):
    """What became of a program: "pass", "skipped" or "FAIL"; why, or the last line that it printed."""

    outcome: str
    why: str
    seconds: float = 0
    output: str = ""


def programs(folder: Path) -> list[Path]:
    """The programs of a checkout, or in a folder. Raises SystemExit if there are none."""
    inside = folder / "cuda_core" / "examples"
    found = sorted((inside if inside.is_dir() else folder).glob("*.py"))
    if not found:
        raise SystemExit(
            f"{folder} has no examples: --examples takes the folder of a checkout of cuda-python"
        )
    return found


def imported(source: str) -> set[str]:
    """The packages that a program cannot do without: imports that no `try` surrounds."""
    packages: set[str] = set()

    def visit(node: ast.AST) -> None:
        if isinstance(node, ast.Try):
            for part in (*node.handlers, *node.orelse, *node.finalbody):
                visit(part)
            if any(_catches_import_error(handler) for handler in node.handlers):
                return
        if isinstance(node, ast.Import):
            packages.update(alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            packages.add(node.module.partition(".")[0])
        for child in ast.iter_child_nodes(node):
            visit(child)

    visit(ast.parse(source))
    return packages


def _catches_import_error(handler: ast.ExceptHandler) -> bool:
    names = (
        {node.id for node in ast.walk(handler.type) if isinstance(node, ast.Name)} if handler.type else set()
    )
    return handler.type is None or bool(names & {"ImportError", "ModuleNotFoundError", "Exception"})


def skipped(path: Path, simulator: bool) -> str:
    """Why a program cannot run here, or ""."""
    packages = imported(path.read_text(encoding="utf-8"))
    if windows := packages & DISPLAY:
        return f"needs a display: {', '.join(sorted(windows))}"
    beside = {file.stem for file in path.parent.glob("*.py")} | {"cuda"}
    missing = [name for name in sorted(packages - beside) if importlib.util.find_spec(name) is None]
    if missing:
        return f"not installed: {', '.join(missing)}"
    if simulator and "cupy" in packages:
        return "CuPy contains a runtime of its own, which needs NVIDIA's driver"
    return ""


def run(path: Path, simulator: bool, limit: float) -> Result:
    """Run it alone, through the alias."""
    if why := skipped(path, simulator):
        return Result("skipped", why)
    launcher = ["-m", "cudapy.simulator"] if simulator else []
    command = [sys.executable, *launcher, "-m", "cudapy.alias", str(path)]
    paths = os.pathsep.join(filter(None, [str(REPOSITORY), os.environ.get("PYTHONPATH")]))
    variables = {**os.environ, "PYTHONPATH": paths, "PYTHONIOENCODING": "utf-8"}
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder, open(Path(folder, "output"), "w+b") as output:
        try:
            code = subprocess.run(
                command, stdout=output, stderr=subprocess.STDOUT, cwd=folder, env=variables, timeout=limit
            ).returncode
            ended = f"exit code {code}"
        except subprocess.TimeoutExpired:
            code, ended = 1, f"stopped after {limit:g} seconds"
        output.seek(0)
        text = output.read().decode(errors="replace")
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    last = lines[-1] if lines else ""
    seconds = time.perf_counter() - start
    return Result("pass", last, seconds, text) if code == 0 else Result("FAIL", ended, seconds, text)


def table(paths: Sequence[Path], results: Iterator[Result]) -> int:
    """Print a line for each, the output of those that failed, and the counts; the exit code."""
    counts = {"pass": 0, "FAIL": 0, "skipped": 0}
    width = max(len(path.stem) for path in paths)
    for path in paths:
        print(f"{path.stem:{width}}  ", end="", flush=True)
        result = next(results)
        counts[result.outcome] += 1
        print(f"{result.outcome:7} {result.seconds:6.1f} s  {result.why[:100]}".rstrip())
        if result.outcome == "FAIL":
            print("".join(f"    {line}\n" for line in result.output.splitlines()[-40:]), end="")
    print(f"{counts['pass']} passed, {counts['FAIL']} failed, {counts['skipped']} skipped")
    if counts["FAIL"]:
        return 1
    return 0 if counts["pass"] else SKIPPED


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="nox -s examples --", description=__doc__.partition("\n")[0])
    parser.add_argument(
        "--examples", type=Path, required=True, metavar="FOLDER", help="a checkout, or a folder"
    )
    parser.add_argument("--simulator", action="store_true", help="use the simulator even if there is a GPU")
    parser.add_argument("--limit", type=float, default=300, help="seconds for each program (300)")
    parser.add_argument("names", nargs="*", help="programs, without .py (all)")
    given = parser.parse_args(arguments)
    paths = programs(given.examples.resolve())
    if unknown := set(given.names) - {path.stem for path in paths}:
        parser.error(f"no example is named {', '.join(sorted(unknown))}")
    paths = [path for path in paths if not given.names or path.stem in given.names]
    simulator = given.simulator or not _has_gpu()
    print(f"on {'the simulator' if simulator else 'the GPU'}")
    return table(paths, (run(path, simulator, given.limit) for path in paths))


def _has_gpu() -> bool:
    """Whether a driver finds one, asked in another process: this one opens no driver."""
    if os.environ.get("CUDAPY_DRIVER") == "simulator":
        return False
    code = "from cudapy.core import Device; print(len(Device.get_all_devices()))"
    variables = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=variables)
    return done.returncode == 0 and done.stdout.strip() not in ("", "0")


if __name__ == "__main__":
    sys.exit(main())
