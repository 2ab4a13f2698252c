"""`%%cuda`: kernels of a cell become variables."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from cudapy import jupyter
from cudapy.core import CompileError, Device, LaunchConfig, launch

from .kernels import context as context

pytestmark = pytest.mark.gpu

CELL = """
__global__ void scale(float *x, float factor) { x[threadIdx.x] *= factor; }
template <typename T> __global__ void fill(T *x) { x[threadIdx.x] = T(0.5); }
extern "C" __global__ void plain(float *x) { x[threadIdx.x] += 1; }
"""


class Shell:
    """What IPython's shell has for extensions."""

    def __init__(self) -> None:
        self.variables: dict[str, Any] = {}
        self.magics: dict[tuple[str, str], Any] = {}

    def push(self, variables: dict[str, Any]) -> None:
        self.variables.update(variables)

    def register_magic_function(self, function: Any, kind: str) -> None:
        self.magics[kind, function.__name__] = function


def test_a_cell_gives_variables_that_launch(context: Any) -> None:
    shell = Shell()
    jupyter.load_ipython_extension(shell)
    shell.magics["cell", "cuda"]("scale half=fill<float> 'increment=plain'", CELL)
    kernels = shell.variables
    assert [*kernels] == ["scale", "half", "increment"]
    stream = Device(0).create_stream()
    buffer, config = Device(0).allocate(4 * 32, stream=stream), LaunchConfig(grid=1, block=32)
    launch(stream, config, kernels["half"], buffer)
    launch(stream, config, kernels["scale"], buffer, 6)
    launch(stream, config, kernels["increment"], buffer)
    found = np.empty(32, np.float32)
    buffer.copy_to(found, stream=stream)
    stream.sync()
    assert (found == 4).all()


@pytest.mark.parametrize("line", ["", "1x", "fill<float>", "=plain"])
def test_what_names_no_variable(line: str) -> None:
    with pytest.raises(ValueError, match=r"^%%cuda"):
        jupyter.kernels(line, CELL)


def test_a_kernel_that_the_cell_has_not(context: Any) -> None:
    with pytest.raises(CompileError, match='identifier "scael" is undefined'):
        jupyter.kernels("scale=scael", CELL)


def test_a_mistake_names_the_line_of_the_cell(context: Any) -> None:
    with pytest.raises(CompileError, match=re.escape("scale.cu(2): error")):
        jupyter.kernels("scale", CELL.replace("factor;", "factr;"))


def test_in_ipython(context: Any) -> None:
    pytest.importorskip("IPython", reason='IPython is not installed: pip install -e ".[notebooks]"')
    from IPython.core.interactiveshell import InteractiveShell

    shell = InteractiveShell.instance()
    try:
        for cell in ("%load_ext cudapy.jupyter", f"%%cuda scale\n{CELL}", "name = scale.num_arguments"):
            shell.run_cell(cell).raise_error()
        assert shell.user_ns["name"] == 2
    finally:
        InteractiveShell.clear_instance()
