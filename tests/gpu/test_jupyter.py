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


def test_all_kernels_but_templates(context: Any) -> None:
    assert {*jupyter.kernels("", CELL)} == {"plain", "scale"}
    spaces = "namespace ns { __global__ void in() {} }\ntemplate <int n> __global__ void t() {}\n"
    assert {*jupyter.kernels("", spaces + "template __global__ void t<3>();")} == {"in", "t"}


@pytest.mark.parametrize(
    "line",
    ["plain, half=fill<float>", "plain ,half = fill<float>".replace(" = ", "="), "plain 'half=fill<float>',"],
)
def test_names_have_commas_or_spaces_between(context: Any, line: str) -> None:
    assert [*jupyter.kernels(line, CELL)] == ["plain", "half"]


def test_arguments_of_templates_may_have_spaces(context: Any) -> None:
    cell = "template <class T, class U> __global__ void cast(T *x, U *y) {}"
    assert [*jupyter.kernels("both=cast<float, int>", cell)] == ["both"]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("1x", "'1x' is not the name of a variable"),
        ("fill<float>", "'fill<float>' is not the name of a variable: write half=fill<float>"),
        ("=plain", "'=plain' is not the name of a variable"),
        ("fill", "fill is a template: write fill=fill<float>, with its arguments"),
        ("half=fill", "fill is a template: write half=fill<float>, with its arguments"),
        ("half=fill<float", "a quote or a bracket is not closed: half=fill<float"),
        ("plain, scael", "the cell has no kernel 'scael'. It has: scale, fill<...>, plain"),
        ("half=fil<float>", "the cell has no kernel 'fil'. It has: scale, fill<...>, plain"),
    ],
)
def test_names_that_the_cell_has_not(context: Any, line: str, words: str) -> None:
    with pytest.raises(ValueError, match=re.escape(f"%%cuda: {words}")):
        jupyter.kernels(line, CELL)


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        ("// __global__ void k() {}", "The cell has no kernels: functions that begin with __global__ void"),
        ("template <class T> __global__ void k(T x) {}", "only templates, k<...>: write half=k<float>"),
        (
            "__global__ void k(int) {}\n__global__ void k(float) {}",
            "k needs a name of its own: write VARIABLE=_Z1ki",
        ),
    ],
)
def test_cells_of_which_nothing_can_be_assigned(context: Any, cell: str, words: str) -> None:
    with pytest.raises(ValueError, match=re.escape(words)):
        jupyter.kernels("", cell)


def test_a_mistake_names_the_line_of_the_cell(context: Any) -> None:
    with pytest.raises(CompileError, match=re.escape("scale.cu(2): error")):
        jupyter.kernels("scale", CELL.replace("factor;", "factr;"))


def test_in_ipython(context: Any, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("IPython", reason='IPython is not installed: pip install -e ".[notebooks]"')
    from IPython.core.interactiveshell import InteractiveShell

    shell = InteractiveShell.instance()
    try:
        for cell in ("%load_ext cudapy.jupyter", f"%%cuda\n{CELL}", "name = scale.num_arguments"):
            shell.run_cell(cell).raise_error()
        assert shell.user_ns["name"] == 2
        with pytest.raises(jupyter.CellError, match="the cell has no kernel 'scael'"):
            shell.run_cell(f"%%cuda scael\n{CELL}").raise_error()
        shown = capsys.readouterr().out
        assert shown.count("\n") == 1 and "CellError: %%cuda: the cell has no kernel" in shown
    finally:
        InteractiveShell.clear_instance()
