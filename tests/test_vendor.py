"""Copies for other projects: they work under another name, and say what was done to them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from cudapy import __version__
from cudapy.__main__ import main
from cudapy._commands import vendor as copies
from cudapy._pathfinder.libraries import USED

from .tiers import first

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
    assert "must be 'simulator'" not in str(error)
    assert "this copy was made without its simulator: vendor it with --only driver" in str(error), error
else:
    raise AssertionError
"""
WORKING = {
    "driver": (NAMES, ASKED),
    "driver,nvrtc,core": (NAMES, COMPILE, ASKED),
    "core,runtime,simulator": (RUN,),
}
ALL = ",".join(copies.MODULES)
SELECTIONS = [
    "driver,nvrtc",
    "driver,nvrtc,core",
    ALL,
    *(
        pytest.param(only, marks=pytest.mark.thorough)
        for only in (
            "pathfinder",
            "nvrtc",
            "core",
            "core,nccl",
            "core,driver,nvrtc,simulator",
            "nvml",
            "cudla,cufile,nccl",
            "runtime,utils",
            f"{ALL},simulator",
        )
    ),
]
EVERY_NAME = """
import importlib, pathlib, pkgutil
from theirs import _cuda
files = [name for _, name, _ in pkgutil.iter_modules(_cuda.__path__) if not name.startswith("_")]
below = ["checkpoint", "graph", "system", "system.exceptions", "system.typing", "texture", "typing", "utils"]
for name in [*files, *(f"core.{each}" for each in below if "core" in files)]:
    module = importlib.import_module(f"theirs._cuda.{name}")
    everything = {}
    exec(f"from theirs._cuda.{name} import *", everything)
    assert set(getattr(module, "__all__", ())) <= everything.keys() and set(dir(module)) > {"__name__"}
    for each in dir(module):
        getattr(module, each)
assert set(ASKED) <= set(files), files
"""


NOT_NAMES = ("not-a-name", "a/b", "../b", "/tmp/b", "..", ".", "a.b", "1a", "a b", "", "class", "None")


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
@pytest.mark.parametrize("only", first(1, WORKING))
def test_a_copy_works_under_another_name(theirs: Path, only: str, capsys: Any) -> None:
    assert vendor(theirs, "--name", "_cuda", "--only", only) == 0
    assert f"cudapy {__version__}" in capsys.readouterr().out
    for program in WORKING[only]:
        use(theirs, program)
    assert vendor(theirs, "--name", "_cuda", "--check") == 0, "byte code is no change"


@pytest.mark.parametrize("only", SELECTIONS)
def test_every_name_of_a_copy_is_there(theirs: Path, only: str) -> None:
    """All that its modules have by `import *`, and in `dir`, also what they load on demand."""
    assert vendor(theirs, "--name", "_cuda", "--only", only) == 0
    use(theirs, EVERY_NAME.replace("ASKED", repr(only.split(","))))


def test_a_name_that_needs_another_module_says_so(theirs: Path) -> None:
    assert vendor(theirs, "--name", "_cuda", "--only", "driver,core") == 0
    program = """
from theirs._cuda import core
assert "Communicator" not in core.__all__ and "Communicator" not in dir(core)
try:
    from theirs._cuda.core import Communicator
except ImportError as error:
    way = "this copy was made without nccl: vendor it with --only driver,core,nccl"
    assert str(error) == f"theirs._cuda.core has no Communicator: {way}", error
else:
    raise AssertionError
assert "GraphicsResource" in core.__all__
"""
    use(theirs, program)


@pytest.mark.parametrize(("only", "simulated"), [("driver", False), ("driver,simulator", True)])
def test_hints_of_a_copy_without_the_simulator_do_not_lead_to_it(
    theirs: Path, only: str, simulated: bool
) -> None:
    assert vendor(theirs, "--name", "_cuda", "--only", only) == 0
    program = f"""
from theirs._cuda import pathfinder
pathfinder.this_host = lambda: pathfinder.Host(paths=(), environ={{}}, root="/nowhere")
def refuse(*_): raise OSError("no such file")
pathfinder.open_candidate = refuse
from theirs._cuda import driver
try:
    driver.cuInit(0)
except RuntimeError as error:
    way = "this copy was made without its simulator: vendor it with --only driver,simulator"
    assert ("CUDAPY_DRIVER=simulator" in str(error), way in str(error)) == ({simulated}, not {simulated})
else:
    raise AssertionError
"""
    use(theirs, program)


def test_what_nobody_asked_for_is_not_there(theirs: Path) -> None:
    assert vendor(theirs) == 0
    copied = {path.name for path in (theirs / "cudapy").iterdir()}
    assert {"LICENSE", "vendored.json", "py.typed", "core.py", "runtime.py"} < copied
    assert copied.isdisjoint({"simulator", "alias.py", "__main__.py"})
    commands = (theirs / "cudapy" / "_commands").iterdir()
    assert {path.name for path in commands} == {"__init__.py", "vendored.py"}
    assert json.loads((theirs / "cudapy" / "vendored.json").read_text())["version"] == __version__
    assert "MIT" in (theirs / "cudapy" / "LICENSE").read_text()


def test_a_copy_has_the_stubs_of_its_modules_and_no_others() -> None:
    stubs = [path for path in copies.files_of(["nvrtc"]) if path.startswith("_checked/")]
    assert stubs == ["_checked/__init__.py", "_checked/nvrtc.py", "_checked/nvrtc.pyi"]
    assert not any(path.endswith(".pyi") for path in copies.files_of(["pathfinder"]))


WITHOUT_MACHINE_CODE = """
import ctypes
from theirs._cuda import driver
from theirs._cuda._ffi import lanes
driver.libcuda.load = lambda: type("Library", (), {"__getitem__": lambda *_: ctypes.CDLL(None).abs})()
assert driver.cuInit(0) == (0,) and lanes.why_not() == "this copy was made without it"
assert "lane_code" not in str(__import__("sys").modules)
"""


def test_a_copy_without_the_fast_lane_has_no_machine_code(theirs: Path) -> None:
    assert vendor(theirs, "--name", "_cuda", "--only", "driver", "--without-fast-lane") == 0
    assert [path.name for path in sorted((theirs / "_cuda/_ffi").glob("*lane*"))] == ["lanes.py"]
    use(theirs, WITHOUT_MACHINE_CODE)
    assert vendor(theirs, "--name", "_cuda", "--check") == 0
    of_core = copies.files_of(["core"], copies.WITHOUT_FAST_LANE)
    assert "_core/kernels/launch_lane.py" in of_core and "_core/kernels/launch_code.py" not in of_core


def test_the_simulator_starts_programs_from_a_copy_too() -> None:
    files = copies.files_of(["driver", "simulator"])
    assert {
        "simulator/__main__.py",
        *(f"_commands/launcher/{name}.py" for name in ("program", "site/sitecustomize")),
    } < set(files)


def test_a_copy_of_less_is_smaller() -> None:
    def count(*modules: str) -> int:
        return len(copies.files_of(modules))

    assert count("pathfinder") < count("nvrtc") < count("driver", "nvrtc") < count("core", "nvrtc")
    assert not any(path.startswith("_core") for path in copies.files_of(["driver", "runtime"]))


def test_the_sizes_and_the_wheels_in_the_documentation(theirs: Path, capsys: Any) -> None:
    text = (Path(__file__).parents[1] / "docs" / "vendoring.md").read_text()
    rows = re.findall(r"^\| (.*) \| ([\d,]+) \| ([\d,]+) \|$", text, re.M)
    assert len(rows) == 6
    for number, (selection, size, _) in enumerate(rows):
        only = ["--only", *re.findall("`(.*)`", selection)] if "without" not in selection else []
        assert vendor(theirs, "--name", f"_cuda{number}", *only) == 0
        actual = re.findall(r"(\d+) KiB", capsys.readouterr().out)
        assert int(size.replace(",", "")) == pytest.approx(int(actual[0]), rel=0.05), selection
    wheels = re.findall(r"^\| `(\w+)`.* \| `(nvidia[\w-]+)` \| `(nvidia[\w-]+)` \|$", text, re.M)
    packages = {library.name.lower(): library.packages for library in USED.values() if library.packages}
    assert {name.replace("runtime", "cudart"): tuple(both) for name, *both in wheels} == packages


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
        *((["--name", name], f"{name!r} is not a name that Python can import") for name in NOT_NAMES),
        (["--name", "own"], "is not a copy of cudapy"),
        (["--name", "absent", "--check"], "is not a copy of cudapy"),
    ],
)
def test_what_cannot_be_copied(theirs: Path, capsys: Any, arguments: Sequence[str], words: str) -> None:
    (theirs / "own").mkdir()
    (theirs / "own" / "__init__.py").write_text("precious = True")
    before = sorted(theirs.parent.rglob("*"))
    assert vendor(theirs, *arguments) == 1
    assert words in capsys.readouterr().err
    assert (theirs / "own" / "__init__.py").read_text() == "precious = True"
    assert sorted(theirs.parent.rglob("*")) == before


def test_the_folder_of_the_package_must_be_there(theirs: Path, capsys: Any) -> None:
    """A folder that is not there is most likely a slip of the pen."""
    assert vendor(theirs.parent / "thiers", "--only", "nvrtc") == 1
    assert "there is no folder" in capsys.readouterr().err
    assert [path.name for path in theirs.parent.iterdir()] == ["theirs"]


def test_where_the_licence_of_a_copy_comes_from(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the copy that is copied, of the installed package, of the checkout; there is no copy without it."""
    here = tmp_path / "cudapy"
    here.mkdir()
    monkeypatch.setattr(copies, "HERE", here)
    monkeypatch.setattr(copies, "NAME", "cudapy_that_nobody_installed")
    with pytest.raises(copies.VendorError, match="licence, which a copy must have"):
        copies._licence()
    (tmp_path / "LICENSE").write_text("of the checkout")
    assert copies._licence() == b"of the checkout"
    (here / "LICENSE").write_text("of a copy")
    assert copies._licence() == b"of a copy"


# -- what type checkers say of a file that imports a copy ------------------------------------------------

OF_DRIVER = """
from ._cuda import driver
from ._cuda.driver import CUdeviceptr, checked

pointer: CUdeviceptr = checked.cuMemAlloc(4)
status, flags = driver.cuCtxGetFlags()
number: int = flags
checked.cuMemAlloc("4")  # wrong
driver.cuMemAllocc(4)  # wrong
"""
OF_CORE = """
from ._cuda import core
from ._cuda.core import Buffer, ContextOptions, Device, LaunchConfig, Program, ProgramOptions, graph, launch

def run(options: ProgramOptions) -> Buffer:
    device = Device()
    stream = device.create_stream()
    kernel = Program("", "c++", options).compile("cubin").get_kernel("k")
    buffer = device.allocate(4, stream=stream)
    launch(stream, LaunchConfig(grid=1, block=1), kernel, buffer, 1)
    size: str = buffer.size  # wrong
    return buffer

def capture(builder: graph.GraphBuilder, options: ContextOptions) -> core.TensorMapDescriptor:
    return builder  # wrong

core.Communicatorr  # wrong
"""
OF_NCCL = """
from ._cuda.core import Communicator

def total(communicator: Communicator) -> int:
    rank: str = communicator.rank  # wrong
    return communicator.size
"""
OF_SIMULATOR = """
from ._cuda import simulator

simulator.enable(devices=2)
simulator.enable(device=2)  # wrong
"""
USERS = {
    "driver": OF_DRIVER,
    "driver,nvrtc,core": OF_DRIVER + OF_CORE,
    f"{ALL},simulator": OF_DRIVER + OF_CORE + OF_NCCL + OF_SIMULATOR,
}


@pytest.fixture
def users(tmp_path: Path) -> list[Path]:
    """A file that uses a copy, for each selection, with lines that are wrong and say so."""
    files = []
    for number, (only, program) in enumerate(USERS.items()):
        package = tmp_path / f"package{number}"
        package.mkdir()
        (package / "__init__.py").touch()
        assert vendor(package, "--name", "_cuda", "--only", only) == 0
        (package / "user.py").write_text(program)
        files.append(package / "user.py")
    return files


def wrong(files: Sequence[Path]) -> list[tuple[str, int]]:
    lines = [(str(path), *each) for path in files for each in enumerate(path.read_text().splitlines(), 1)]
    return [(path, number) for path, number, line in lines if line.endswith("# wrong")]


@pytest.mark.thorough
def test_mypy_finds_what_is_wrong_in_a_user_s_file_and_nothing_else(
    users: list[Path], tmp_path: Path
) -> None:
    api = pytest.importorskip("mypy.api", reason="mypy is not installed")
    for options in ([], ["--strict"]):
        cache = f"--cache-dir={tmp_path / 'mypy'}"
        out, err, _ = api.run(["--config-file=", *options, cache, "--no-error-summary", *map(str, users)])
        found = [(path, int(line)) for path, line in re.findall(r"^(.*?):(\d+): error: ", out, re.M)]
        assert (sorted(found), err) == (wrong(users), ""), out


@pytest.mark.thorough
def test_pyright_finds_what_is_wrong_in_users_files_and_nothing_else(users: list[Path]) -> None:
    pytest.importorskip("pyright", reason="pyright is not installed: nox -s vendored")
    command = [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable]
    done = subprocess.run(
        [*command, *map(str, users)], capture_output=True, text=True, timeout=600, check=False
    )
    report = json.loads(done.stdout)["generalDiagnostics"]
    errors = [each for each in report if each["severity"] == "error"]
    found = [(each["file"], each["range"]["start"]["line"] + 1) for each in errors]
    assert sorted(found) == wrong(users), report
