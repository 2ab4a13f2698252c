"""Copies for other projects: they work under another name, and say what was done to them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from cudapy import __version__, _vendor
from cudapy.__main__ import main

NAMES = """
from theirs._cuda import driver
assert len(dir(driver)) > 1000 and all(hasattr(driver, name) for name in dir(driver))
assert driver.CUmemPoolProps().getPtr() and driver.CUresult(2).name == "CUDA_ERROR_OUT_OF_MEMORY"
try:
    driver.checked.cuInit(0)
except Exception as error:
    assert "no NVIDIA driver" in str(error) or type(error).__name__ == "CUDAError", error
"""
COMPILE = """
from theirs._cuda.core import Program, ProgramOptions
code = Program('extern "C" __global__ void k() {}', "c++", ProgramOptions(arch="sm_90")).compile("cubin")
assert bytes(code.code)[1:4] == b"ELF"
"""
RUN = f"""
from theirs._cuda import runtime, simulator
from theirs._cuda.core import Device, LaunchConfig, launch
simulator.enable()
{COMPILE}
device = Device()
device.set_current()
launch(device.default_stream, LaunchConfig(grid=1, block=1), code.get_kernel("k"))
device.sync()
assert runtime.cudaGetDeviceCount() == (0, 1)
"""
ASKED = """
import os
os.environ["CUDAPY_DRIVER"] = "simulator"
from theirs._cuda import driver
try:
    driver.cuInit(0)
except ValueError as error:
    assert "there is no module theirs._cuda.simulator" in str(error)
else:
    raise AssertionError
"""
SELECTIONS = {
    "driver": (NAMES, ASKED),
    "driver,nvrtc,core": (NAMES, COMPILE, ASKED),
    "core,runtime,simulator": (RUN,),
}


@pytest.fixture
def theirs(tmp_path: Path) -> Path:
    """The folder of another project's package."""
    package = tmp_path / "theirs"
    package.mkdir()
    (package / "__init__.py").touch()
    return package


def vendor(*arguments: str | Path) -> int:
    return main(["vendor", *map(str, arguments)])


def use(theirs: Path, program: str) -> None:
    """Run a program of the other project, in which nothing may import this package itself."""
    variables = {name: value for name, value in os.environ.items() if not name.startswith("CUDAPY")}
    done = subprocess.run(
        [sys.executable, "-c", f"{program}\nimport sys\nassert 'cudapy' not in sys.modules"],
        cwd=theirs.parent,
        env=variables | {"PYTHONPATH": str(theirs.parent)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.usefixtures("nvrtc")
@pytest.mark.parametrize("only", SELECTIONS)
def test_a_copy_works_under_another_name(theirs: Path, only: str, capsys: Any) -> None:
    assert vendor(theirs, "--name", "_cuda", "--only", only) == 0
    assert f"cudapy {__version__}" in capsys.readouterr().out
    for program in SELECTIONS[only]:
        use(theirs, program)
    assert vendor(theirs, "--name", "_cuda", "--check") == 0, "byte code is no change"


def test_what_nobody_asked_for_is_not_there(theirs: Path) -> None:
    assert vendor(theirs) == 0
    copied = {path.name for path in (theirs / "cudapy").iterdir()}
    assert {"LICENSE", "vendored.json", "py.typed", "core.py", "runtime.py"} < copied
    assert copied.isdisjoint(
        {"simulator", "alias.py", "_alias", "_doctor", "_ranks.py", "_vendor.py", "__main__.py"}
    )
    assert json.loads((theirs / "cudapy" / "vendored.json").read_text())["version"] == __version__
    assert "MIT" in (theirs / "cudapy" / "LICENSE").read_text()


def test_a_copy_has_the_stubs_of_its_modules_and_no_others() -> None:
    stubs = [path for path in _vendor.files_of(["nvrtc"]) if path.startswith("_checked/")]
    assert stubs == ["_checked/__init__.py", "_checked/nvrtc.py", "_checked/nvrtc.pyi"]
    assert not any(path.endswith(".pyi") for path in _vendor.files_of(["pathfinder"]))


def test_the_simulator_starts_programs_from_a_copy_too() -> None:
    files = _vendor.files_of(["driver", "simulator"])
    assert {"simulator/__main__.py", "_launcher/program.py", "_launcher/site/sitecustomize.py"} < set(files)


def test_a_copy_of_less_is_smaller() -> None:
    def count(*modules: str) -> int:
        return len(_vendor.files_of(modules))

    assert count("pathfinder") < count("nvrtc") < count("driver", "nvrtc") < count("core", "nvrtc")
    assert not any(path.startswith("_core") for path in _vendor.files_of(["driver", "runtime"]))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda copy: (copy / "nvrtc.py").write_text("x = 1"), "edited: nvrtc.py"),
        (lambda copy: (copy / "nvrtc.py").unlink(), "missing: nvrtc.py"),
        (lambda copy: (copy / "more.py").touch(), "added: more.py"),
    ],
)
def test_a_copy_that_was_edited_is_said_and_kept(
    theirs: Path, capsys: Any, change: Callable[[Path], object], words: str
) -> None:
    assert vendor(theirs, "--only", "nvrtc") == 0
    change(theirs / "cudapy")
    before = {path: path.read_bytes() for path in theirs.rglob("*") if path.is_file()}
    for more in (["--check"], ["--only", "driver"]):
        assert vendor(theirs, *more) == 1
        assert words in capsys.readouterr().err
    assert {path: path.read_bytes() for path in theirs.rglob("*") if path.is_file()} == before


def test_a_copy_of_another_version_is_replaced(theirs: Path, capsys: Any) -> None:
    assert vendor(theirs, "--only", "nvrtc") == 0
    record = theirs / "cudapy" / "vendored.json"
    record.write_text(record.read_text().replace(__version__, "0.0.1"))
    capsys.readouterr()
    assert vendor(theirs, "--check") == 0
    assert f"this is cudapy {__version__}" in capsys.readouterr().out
    assert vendor(theirs, "--only", "driver") == 0
    assert not (theirs / "cudapy" / "nvrtc.py").exists() and (theirs / "cudapy" / "driver.py").exists()
    assert {path.name for path in theirs.iterdir()} == {"__init__.py", "cudapy"}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--only", "driver,numpy"], "there is no module 'numpy'"),
        (["--name", "not-a-name"], "'not-a-name' is no name for a package"),
        (["--name", "own"], "is no copy of cudapy"),
        (["--name", "absent", "--check"], "is no copy of cudapy"),
    ],
)
def test_what_cannot_be_copied(theirs: Path, capsys: Any, arguments: Sequence[str], words: str) -> None:
    (theirs / "own").mkdir()
    (theirs / "own" / "__init__.py").write_text("precious = True")
    assert vendor(theirs, *arguments) == 1
    assert words in capsys.readouterr().err
    assert (theirs / "own" / "__init__.py").read_text() == "precious = True"


def test_where_the_licence_of_a_copy_comes_from(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the copy that is copied, of the installed package, of the checkout; there is no copy without it."""
    here = tmp_path / "cudapy"
    here.mkdir()
    monkeypatch.setattr(_vendor, "HERE", here)
    monkeypatch.setattr(_vendor, "__package__", "cudapy_that_nobody_installed")
    with pytest.raises(_vendor.VendorError, match="licence, which a copy must have"):
        _vendor._licence()
    (tmp_path / "LICENSE").write_text("of the checkout")
    assert _vendor._licence() == b"of the checkout"
    (here / "LICENSE").write_text("of a copy")
    assert _vendor._licence() == b"of a copy"
