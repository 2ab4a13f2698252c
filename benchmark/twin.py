"""The C++ twins, built against the libraries that cudapy uses, and a libcuda that does nothing."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import cudapy.driver
from cudapy import pathfinder
from cudapy._ffi.library import symbol_of
from turns import twin
from turns.twin import Absent, Twin, compiler, folder

CPP = Path(__file__).parent / "cpp"


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


@cache
def build(source: str, libraries: Sequence[str] = ("cuda",), shared: bool = False) -> Path:
    """The program or shared library made of cpp/`source`, linked to these libraries as cudapy finds them."""
    options = []
    if libraries:
        paths = [pathfinder.load(name).path for name in libraries]
        options = [f"-I{include()}", *paths, "-Wl,--allow-shlib-undefined"]
    return twin.build(CPP / source, options, shared)


def opened(source: str, *arguments: str, libraries: Sequence[str] = ("cuda",)) -> Twin:
    """The twin in cpp/`source`, opened with these arguments. Raises Absent, or RuntimeError by the twin."""
    return Twin(build(source, libraries, shared=True), *arguments)


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
    twin.run([*command, str(source), "-o", str(library), "-ldl"])
    return path
