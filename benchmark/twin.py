"""The C++ twins: built on the spot, and taking their turns when asked."""

from __future__ import annotations

import atexit
import ctypes
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import cudapy.driver
from cudapy import pathfinder
from cudapy._ffi.prototypes import symbol_of

from .timing import CALLS, Contender, calls_for

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
    if wheel := pathfinder.find_nvidia_header_directory("cudart"):
        return Path(wheel)
    raise Absent("there is no cuda.h: not under CUDA_HOME, beside nvcc, in /usr/local/cuda or in a wheel")


def _run(command: Sequence[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise Absent(f"{command[0]} failed: {(done.stderr or done.stdout).strip().splitlines()[0]}")


@cache
def build(source: str, libraries: Sequence[str] = ("cuda",), shared: bool = False) -> Path:
    """The program or shared library made of cpp/`source`, linked to these libraries as cudapy finds them."""
    made = folder() / (Path(source).stem + ".so" * shared)
    command = [
        compiler("g++", "clang++"),
        "-O2",
        "-std=c++17",
        str(CPP / source),
        "-o",
        str(made),
        "-ldl",
        "-pthread",
    ]
    command += ["-shared", "-fPIC"] * shared
    if libraries:
        paths = [pathfinder.load(name).path for name in libraries]
        command += [f"-I{include()}", *paths, "-Wl,--allow-shlib-undefined"]
    _run(command)
    return made


@cache
def null_libcuda() -> Path:
    """The folder of a libcuda.so.1 that does nothing: null.c, and a 0 from all else that cudapy declares."""
    path = folder() / "null"
    path.mkdir()
    library, source = path / "libcuda.so.1", path / "null.c"
    text = (CPP / "null.c").read_text()
    declarations = [getattr(f, "__declaration__", None) for f in vars(cudapy.driver).values()]
    symbols = {symbol_of(declaration.prototype) for declaration in declarations if declaration}
    there = set(re.findall(r"\b(cu[A-Z]\w+)\b", text))
    source.write_text("\n".join([text, *(f"DOES({symbol})" for symbol in sorted(symbols - there)), ""]))
    command = [compiler("gcc", "clang", "cc"), "-O2", "-shared", "-fPIC", "-Wl,-soname,libcuda.so.1"]
    _run([*command, str(source), "-o", str(library), "-ldl"])
    return path


class Twin:
    """A C++ library in this process that runs rounds: see cpp/round.h.

    In this process, because two processes differ by more than what is to be told: they run on other cores,
    with other neighbours.
    """

    def __init__(self, source: str, *arguments: str, libraries: Sequence[str] = ("cuda",)) -> None:
        library = ctypes.CDLL(str(build(source, libraries, shared=True)))
        encoded = [argument.encode() for argument in arguments]
        self._reason = ctypes.create_string_buffer(1024)
        self._round = library.twin_round
        self._answer(library.twin_open, (ctypes.c_char_p * len(encoded))(*encoded))

    def _answer(self, function: Any, *arguments: Any) -> None:
        if function(*arguments, self._reason, ctypes.c_size_t(len(self._reason))):
            raise RuntimeError(self._reason.value.decode())

    def round(self, case: str, calls: int) -> float:
        """Seconds of one call; RuntimeError with what the twin says."""
        seconds = ctypes.c_double()
        self._answer(self._round, case.encode(), ctypes.c_longlong(calls), ctypes.byref(seconds))
        return seconds.value

    def contender(self, case: str, calls: int = CALLS) -> Contender:
        """The rounds of one case, of `calls` calls or as many as take long enough to be timed.

        It has run once, so that one that fails does so here.
        """
        enough = calls_for(self.round(case, calls), calls) if calls > 1 else calls
        return lambda: self.round(case, enough)
