"""Functions that need not be compiled at their first call: the file, and what a first call does with it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from cudapy import cudla, cufile, nccl, nvfatbin, nvml, nvvm
from cudapy._ffi import core_shapes, lanes
from cudapy._ffi import shapes as the_shapes
from cudapy._ffi.codegen import shape_name
from cudapy._ffi.first_call import FEW

from . import shapes

OTHERS = (nvvm, nvfatbin, nvml, nccl, cufile, cudla)


def test_the_files_are_what_the_command_writes() -> None:
    for path, text in shapes.written().items():
        assert path.read_text() == text, "run `python -m tests.shapes`"


def test_no_text_is_taken_for_another() -> None:
    """The checksums of all texts that there are differ, and so no function is given the code of another."""
    texts = {
        text
        for source in (*shapes.MODULES, *OTHERS)
        for declaration in shapes.declared(source)
        for text in shapes.texts(declaration).values()
    }
    assert len(texts) > 1000
    assert len({shape_name(text) for text in texts}) == len(texts)
    for module, chosen in zip((the_shapes, core_shapes), shapes.chosen(), strict=True):
        kept = {name for name in vars(module) if name.startswith("s")}
        assert kept == {shape_name(text) for text in chosen}


CODE = """
import ctypes, sys
from cudapy import driver
compiled = []
sys.addaudithook(lambda event, args: compiled.append(args) if event == "compile" else None)
driver.libcuda.load = lambda: library
library = ctypes.CDLL(sys.argv[1])
driver.cuCtxGetCurrent()
driver.cuCtxGetCurrent.__declaration__.install()
del compiled[:]
{calls}
print(len(compiled), *sorted(name for name in sys.modules if "_types.driver" in name))
"""


def after(calls: str, stub_path: Path, **variables: str) -> list[str]:
    """How many texts calls compiled in a fresh process, and the modules with types that were imported.

    Without a fast lane, so that calls need a function, unless the variables have it.
    """
    command = [sys.executable, "-c", CODE.format(calls=calls), str(stub_path)]
    environment = {**os.environ, "CUDAPY_FAST_LANE": "0", **variables}
    if "PYTHONDONTWRITEBYTECODE" not in variables:
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_a_first_call_compiles_nothing_that_is_known(stub_path: Path) -> None:
    calls = "driver.cuStreamSynchronize(hStream=0); driver.checked.cuStreamSynchronize(hStream=0)"
    count, *_ = after(calls, stub_path)
    assert count == "0"
    count, *_ = after("driver.cuTensorMapEncodeTiled.__declaration__.install()", stub_path)
    assert count == "1", "no other function is like it; else compilations are not counted here"


def test_beside_lanes_a_few_functions_are_compiled(stub_path: Path) -> None:
    """To import what is compiled takes as long, and few functions are left to Python."""
    if lanes.why_not():
        pytest.skip(f"no fast lane: {lanes.why_not()}")
    names = "cuStreamSynchronize", "cuMemAlloc", "cuStreamCreate", "cuMemcpyDtoD", "cuStreamWaitEvent"
    installed = [f"driver.{name}.__declaration__.install()" for name in names]
    assert len(installed) > FEW - 1
    for many in (1, FEW - 1, len(installed)):  # and one was written before these
        count, *_ = after("; ".join(installed[:many]), stub_path, CUDAPY_FAST_LANE="1")
        assert int(count) == min(many, FEW - 1)


def test_core_imports_few_shapes(stub_path: Path) -> None:
    """What it calls is compiled when the package is, without what only others call."""
    calls = "from cudapy._core.context.current import owning; del compiled[:]; owning.cuLibraryUnload"
    calls += "; owning.cuLibraryLoadData; driver.checked.cuMemPoolSetAttribute.__declaration__.install()"
    calls += "; compiled[:] = [text for text, _ in compiled if 'def n0(' in str(text)]"
    calls += "; print('cudapy._ffi.core_shapes' in sys.modules, 'cudapy._ffi.shapes' in sys.modules)"
    few, many, compiled, *_ = after(calls, stub_path, CUDAPY_FAST_LANE="1")
    assert (few, compiled) == ("True", "0")
    assert lanes.why_not() or many == "False"


def test_without_byte_code_the_shapes_stay_where_they_are(stub_path: Path, tmp_path: Path) -> None:
    """To compile all of them takes longer than the few that a program needs."""
    nowhere = {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONPYCACHEPREFIX": str(tmp_path)}
    count, *_ = after("driver.cuStreamSynchronize(hStream=0)", stub_path, **nowhere)
    assert int(count) >= 1


def test_a_second_launch_makes_no_structs(stub_path: Path) -> None:
    """It goes through cuLaunchKernelEx, whose CUlaunchConfig is packed as bytes."""
    launch = "driver.cuLaunchKernel(driver.CUfunction(1), 1, 1, 1, 32, 1, 1, 0, stream, 0, 0);"
    calls = f"stream = driver.CUstream(2); {launch * 4}"
    _, *imported = after(calls, stub_path)
    assert imported and not [name for name in imported if name.endswith(".structs")]
