"""Twins in C and C++: built on the spot, and taking their turns in this process."""

from __future__ import annotations

import atexit
import ctypes
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from .rounds import CALLS, Contender, calls_for

COMPILERS = {".c": ("gcc", "clang", "cc"), ".cpp": ("g++", "clang++", "c++")}
STANDARDS = {".c": "-std=c11", ".cpp": "-std=c++17"}


class Absent(RuntimeError):
    """There is no twin, and why."""


@cache
def folder() -> Path:
    """Where twins are built; gone at exit."""
    path = tempfile.mkdtemp(prefix="turns-")
    atexit.register(shutil.rmtree, path, ignore_errors=True)
    return Path(path)


@cache
def compiler(*names: str) -> str:
    """The first of these compilers that there is. Raises Absent."""
    for name in names:
        if found := shutil.which(name):
            return found
    raise Absent(f"there is no {' or '.join(names)}")


def build(source: Path, options: Sequence[str] = (), shared: bool = True) -> Path:
    """The library, or program, that a C or C++ file makes at -O2. Raises Absent.

    options: more of them, such as libraries. The header `turns/round.h` is found.
    """
    made = folder() / (source.stem + ".so" * shared)
    command = [
        compiler(*COMPILERS[source.suffix]),
        "-O2",
        STANDARDS[source.suffix],
        f"-I{Path(__file__).parent}",
    ]
    command += [str(source), "-o", str(made), *options, "-ldl", "-pthread", *["-shared", "-fPIC"] * shared]
    run(command)
    return made


def run(command: Sequence[str]) -> None:
    """Run a compiler. Raises Absent with the first line of what it says if it fails."""
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise Absent(f"{command[0]} failed: {(done.stderr or done.stdout).strip().splitlines()[0]}")


class Twin:
    """A library in this process that runs rounds: see round.h.

    In this process, because two processes differ by more than what is to be told: they run on other cores,
    with other neighbours.
    """

    def __init__(self, library: Path, *arguments: str) -> None:
        loaded = ctypes.CDLL(str(library))
        encoded = [argument.encode() for argument in arguments]
        self._reason = ctypes.create_string_buffer(1024)
        self._round = loaded.twin_round
        self._answer(loaded.twin_open, (ctypes.c_char_p * len(encoded))(*encoded))

    def _answer(self, function: Any, *arguments: Any) -> None:
        if function(*arguments, self._reason, ctypes.c_size_t(len(self._reason))):
            raise RuntimeError(self._reason.value.decode())

    def round(self, case: str, calls: int) -> float:
        """Seconds of one call; RuntimeError with what the twin says."""
        seconds = ctypes.c_double()
        self._answer(self._round, case.encode(), ctypes.c_longlong(calls), ctypes.byref(seconds))
        return seconds.value

    def contender(self, case: str = "", calls: int = CALLS) -> Contender:
        """The rounds of one case, of `calls` calls or as many as take long enough to be timed.

        It has run once, so that one that fails does so here.
        """
        enough = calls_for(self.round(case, calls), calls) if calls > 1 else calls
        return Case(self, case, enough)


class Case:
    """A contender: one case of a twin."""

    def __init__(self, twin: Twin, case: str, calls: int) -> None:
        self.twin, self.case, self.calls = twin, case, calls

    def __call__(self) -> float:
        return self.twin.round(self.case, self.calls)
