"""`%%cuda` for Jupyter and IPython: a cell of CUDA C++, whose kernels become variables.

    %load_ext cudapy.jupyter

and then, in a cell of its own,

    %%cuda
    __global__ void scale(float *x, float factor) { x[threadIdx.x] *= factor; }

compiles the cell for the current device, with line numbers, and assigns the kernel `scale`. A template is
named with its arguments: `%%cuda scale, half=fill<float>`.
"""

from __future__ import annotations

import re

from ._ffi.mangled import readable
from .core import CompileError, Program, ProgramOptions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from .core import Kernel

__all__ = ["CellError", "kernels", "load_ipython_extension"]


class CellError(ValueError):
    """What is wrong with a cell or its line. IPython shows the text alone, without this module's frames."""

    def _render_traceback_(self) -> list[str]:
        return [f"{type(self).__name__}: {self}"]


_NO_CODE = re.compile(r'"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*.*?(?:\*/|\Z)', re.DOTALL)
_KERNEL = re.compile(
    r"(?P<template>\btemplate\s*<[^;{}]*?>\s*)?(?:\bextern\s+|\bstatic\s+|\binline\s+)*"
    r"\b__global__\b[^;{}=]*?\b(?P<name>[A-Za-z_]\w*)\s*\((?!\s*\d+\s*[,)])"
)


def kernels(line: str, cell: str) -> dict[str, Kernel]:
    """The kernels of a cell, by the names of their variables.

    line: what follows `%%cuda`. Empty: all kernels but templates. Else the names of kernels, with commas or
    spaces between; `variable=name` for a variable of another name. The name of a template has its arguments,
    as in `fill<float>`.
    cell: CUDA C++. `extern "C"` is not needed.
    Raises CellError for names that the cell does not have, templates without arguments, and names that are
    not those of variables; CompileError for mistakes in the cell.
    """
    wanted: dict[str, str] = {}
    for item in _items(line):
        variable, _, name = item.partition("=")
        if not variable.isidentifier():
            raise CellError(f"%%cuda: {item!r} is not the name of a variable: write half=fill<float>")
        wanted[variable] = name or variable
    file = next(iter(wanted), None) or next((name for name, _ in _written(cell)), "cell")
    program = Program(cell, "c++", ProgramOptions(lineinfo=True, name=f"{file}.cu"))
    try:
        code = program.compile("cubin", name_expressions=list(wanted.values()))
    except CompileError as error:
        hint = _about_names(str(error), wanted, cell)
        if not hint:
            raise
        raise CellError(f"%%cuda: {hint}") from None
    if wanted:
        return {variable: code.get_kernel(name) for variable, name in wanted.items()}
    found: dict[str, Kernel] = {}
    for symbol in code.kernel_names:
        variable = re.sub(r"<.*", "", readable(symbol)).rpartition("::")[2]
        if variable in found or not variable.isidentifier():
            raise CellError(f"%%cuda: {readable(symbol)} needs a name of its own: write VARIABLE={symbol}")
        found[variable] = code.get_kernel(symbol)
    if not found:
        raise CellError(f"%%cuda: {_there(cell)}")
    return found


def _items(line: str) -> Iterator[str]:
    """What stands between commas and spaces, those in <>, () and quotes apart."""
    found, depth, quote = "", 0, ""
    for letter in line + ",":
        if letter == quote:
            quote = ""
        elif not quote and letter in "\"'":
            quote = letter
        elif not (depth or quote) and (letter == "," or letter.isspace()):
            if found:
                yield found
            found = ""
        else:
            depth += (letter in "<(") - (letter in ">)")
            found += letter
    if quote or depth:
        raise CellError(f"%%cuda: a quote or a bracket is not closed: {line}")


def _written(cell: str) -> list[tuple[str, bool]]:
    """The names of the kernels as the cell has them, for messages, and whether they are templates."""
    code = _NO_CODE.sub(" ", cell)
    return list(dict.fromkeys((each["name"], bool(each["template"])) for each in _KERNEL.finditer(code)))


def _about_names(log: str, wanted: dict[str, str], cell: str) -> str:
    """What is wrong with the names of a line, by the log of the compiler; "" if it is the cell."""
    if "__nv_name_map" not in log:
        return ""
    templates = [name for name, is_template in _written(cell) if is_template]
    for variable, name in wanted.items():
        if name in templates:
            return f"{name} is a template: write {variable}={name}<float>, with its arguments"
    unknown = re.findall(r'identifier "(\w+)" is undefined|Input name expression was: " ?([^"]*)"', log)
    name = next((one or other for one, other in unknown), "")
    return f"the cell has no kernel {name!r}. {_there(cell)}"


def _there(cell: str) -> str:
    written = _written(cell)
    if not written:
        return "The cell has no kernels: functions that begin with __global__ void"
    names = [name + "<...>" * is_template for name, is_template in written]
    if all(is_template for _, is_template in written):
        return f"The cell has only templates, {', '.join(names)}: write half={written[0][0]}<float>"
    return f"It has: {', '.join(names)}"


def load_ipython_extension(shell: Any) -> None:
    """What `%load_ext cudapy.jupyter` calls: registers `%%cuda`."""

    def cuda(line: str, cell: str) -> None:
        """Compile a cell of CUDA C++ and assign its kernels: `%%cuda [NAME] [VARIABLE=NAME<TYPE>] ...`."""
        try:
            found = kernels(line, cell)
        except CompileError as error:
            raise CellError(str(error)) from error
        shell.push(found)

    shell.register_magic_function(cuda, "cell")
