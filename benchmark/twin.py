"""The C++ twins: built on the spot, and run as a process beside this one that takes its turn when asked."""

from __future__ import annotations

import atexit
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path

from cudapy import pathfinder

from .timing import CALLS, Contender

CPP = Path(__file__).parent / "cpp"


class Absent(RuntimeError):
    """There is no twin, and why."""


@cache
def folder() -> Path:
    """Where twins are built; gone at exit."""
    path = tempfile.mkdtemp(prefix="cudapy-benchmark-")
    atexit.register(shutil.rmtree, path, ignore_errors=True)
    return Path(path)


@cache
def compiler(*names: str) -> str:
    """The first of these compilers that there is."""
    for name in names:
        if found := shutil.which(name):
            return found
    raise Absent(f"there is no {' or '.join(names)}")


def include() -> Path:
    """The folder of cuda.h."""
    nvcc = shutil.which("nvcc")
    roots = [os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH")]
    roots += [str(Path(nvcc).resolve().parent.parent)] if nvcc else []
    for root in [*filter(None, roots), "/usr/local/cuda", "/usr"]:
        if (Path(root) / "include" / "cuda.h").is_file():
            return Path(root) / "include"
    raise Absent("there is no cuda.h: neither under CUDA_HOME, nor beside nvcc, nor in /usr/local/cuda")


def _run(command: Sequence[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise Absent(f"{command[0]} failed: {(done.stderr or done.stdout).strip().splitlines()[0]}")


@cache
def build(source: str, needs_driver: bool = True) -> Path:
    """The program made of cpp/`source`, at -O2, linked to the libcuda that cudapy uses if it needs one."""
    program = folder() / Path(source).stem
    command = [compiler("g++", "clang++"), "-O2", "-std=c++17", str(CPP / source), "-o", str(program), "-ldl"]
    if needs_driver:
        command += [f"-I{include()}", pathfinder.load("cuda").path, "-Wl,--allow-shlib-undefined"]
    _run(command)
    return program


@cache
def null_libcuda() -> Path:
    """The folder of a libcuda.so.1 that does nothing."""
    path = folder() / "null"
    path.mkdir()
    library = path / "libcuda.so.1"
    command = [compiler("gcc", "clang", "cc"), "-O2", "-shared", "-fPIC", "-Wl,-soname,libcuda.so.1"]
    _run([*command, str(CPP / "null.c"), "-o", str(library), "-ldl"])
    return path


class Twin:
    """A C++ program that runs the round that a line on its standard input asks for: see cpp/round.h."""

    def __init__(self, program: Path, *arguments: str) -> None:
        self.process = subprocess.Popen(
            [str(program), *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        atexit.register(self.close)

    def round(self, case: str, calls: int) -> float:
        """Seconds of one call; RuntimeError with what the program says."""
        assert self.process.stdin and self.process.stdout and self.process.stderr
        with suppress(BrokenPipeError):
            self.process.stdin.write(f"{case} {calls}\n")
            self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            said = " ".join(self.process.stderr.read().split())
            raise Absent(f"the C++ program ended with exit code {self.process.wait()}: {said}")
        result = json.loads(answer)
        if "error" in result:
            raise RuntimeError(result["error"])
        return float(result["seconds"])

    def contender(self, case: str, calls: int = CALLS) -> Contender:
        """The rounds of one case; it has run once, so that one that fails does so here."""
        self.round(case, calls)
        return lambda: self.round(case, calls)

    def close(self) -> None:
        """Let the program end."""
        if self.process.poll() is None:
            self.process.communicate()
