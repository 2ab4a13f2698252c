"""`%%cuda` for Jupyter and IPython: a cell of CUDA C++, whose kernels become variables.

    %load_ext cudapy.jupyter

and then, in a cell of its own,

    %%cuda scale half=fill<float>
    __global__ void scale(float *x, float factor) { x[threadIdx.x] *= factor; }
    template <typename T> __global__ void fill(T *x) { x[threadIdx.x] = T(0.5); }

compiles the cell for the current device, with line numbers, and assigns the kernels `scale` and `half`.
"""

from __future__ import annotations

import shlex

from .core import Program, ProgramOptions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .core import Kernel

__all__ = ["kernels", "load_ipython_extension"]


def kernels(line: str, cell: str) -> dict[str, Kernel]:
    """The kernels of a cell, by the names of their variables.

    line: what follows `%%cuda`: for each kernel its name, or `variable=name`. The name of a template has its
    arguments, as in `fill<float>`, in quotes if it has spaces.
    cell: CUDA C++. `extern "C"` is not needed.
    Raises ValueError for a line without kernels or with a name that is not a variable's, and CompileError.
    """
    found: dict[str, str] = {}
    for item in shlex.split(line):
        variable, _, name = item.partition("=")
        if not variable.isidentifier():
            raise ValueError(f"%%cuda: {item!r} must be the name of a variable, or as in half=fill<float>")
        found[variable] = name or variable
    if not found:
        raise ValueError("%%cuda needs the names of the kernels to assign, as in: %%cuda scale")
    options = ProgramOptions(lineinfo=True, name=f"{next(iter(found))}.cu")
    code = Program(cell, "c++", options).compile("cubin", name_expressions=list(found.values()))
    return {variable: code.get_kernel(name) for variable, name in found.items()}


def load_ipython_extension(shell: Any) -> None:
    """What `%load_ext cudapy.jupyter` calls: registers `%%cuda`."""

    def cuda(line: str, cell: str) -> None:
        """Compile a cell of CUDA C++ and assign its kernels: `%%cuda NAME [VARIABLE=NAME ...]`."""
        shell.push(kernels(line, cell))

    shell.register_magic_function(cuda, "cell")
