"""What importing costs, over an interpreter that imports nothing; and what is installed."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from collections.abc import Callable
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

import pytest

from turns.record import Record
from turns.rounds import Contender, Program, interleave
from turns.rows import Rows

from .conftest import Race
from .machine import reason
from .measured import CUDAPY, MEASURED, environment, program

GROUP = "import"
BARE = "bare interpreter"
MODULES = ("driver", "runtime", "nvrtc", "nvjitlink", "nvvm", "nvfatbin", "nvml", "cufile")


def importing(module: str) -> Program:
    """A fresh process that imports `module`, from start to exit. ImportError if there is no such module."""
    parts = module.split(".")
    for i in range(len(parts)):
        name = ".".join(parts[: i + 1])
        if not find_spec(name):
            raise ImportError(f"No module named {name!r}")
    return program([sys.executable, "-c", f"import {module}"])


@pytest.mark.parametrize(
    ("module", "peer"),
    [("cudapy", None), ("cudapy.driver", "cuda.bindings.driver"), ("cudapy.core", "cuda.core")],
)
def test_import(race: Race, module: str, peer: str | None) -> None:
    try:
        mine = importing(module)
    except ImportError as error:
        pytest.skip(str(error))
    rivals: dict[str, Callable[[], Contender]] = {BARE: lambda: program([sys.executable, "-c", "pass"])}
    if peer:
        rivals[peer.removesuffix(".driver")] = lambda: importing(peer)
    race(GROUP, f"import {module}", mine, rivals, rounds=5, baseline=BARE)


class Statement(Program):
    """The import statement alone, timed inside a fresh process that has imported nothing else yet."""

    def __init__(self, module: str) -> None:
        code = f"from time import perf_counter as now; start = now(); import {module}; print(now() - start)"
        super().__init__([sys.executable, "-c", code], environment(), MEASURED)

    def __call__(self) -> float:
        return float(self.output())


@pytest.mark.parametrize("name", MODULES)
def test_import_statement(turns: Rows, name: str) -> None:
    contenders: dict[str, Contender] = {CUDAPY: Statement(f"cudapy.{name}")}
    missing = {}
    try:
        contenders["cuda.bindings"] = Statement(f"cuda.bindings.{name}")
    except RuntimeError as error:
        missing["cuda.bindings"] = reason(error)
    times = interleave(contenders, turns.rounds(5))
    turns.add(Record(GROUP, f"the statement: import cudapy.{name}", times, missing=missing))


@pytest.mark.parametrize("module", ["cudapy.driver", "cudapy.core"])
def test_import_without_byte_code(turns: Rows, module: str, tmp_path: Path) -> None:
    """As the first process after an installation without byte code, or one that may not write it."""
    variables = {"PYTHONPYCACHEPREFIX": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"}
    rivals = {BARE: program([sys.executable, "-c", "pass"], **variables)}
    mine = program([sys.executable, "-c", f"import {module}"], **variables)
    times = interleave({CUDAPY: mine, **rivals}, 3)
    turns.add(Record(GROUP, f"import {module}, no byte code", times, baseline=BARE))


class Memory(Program):
    """The most memory that a process has had that imports a module, in bytes."""

    def __init__(self, module: str) -> None:
        code = f"import {module}; print(open('/proc/self/status').read().split('VmHWM:')[1].split()[0])"
        super().__init__([sys.executable, "-c", code], environment(), MEASURED)

    def __call__(self) -> float:
        return float(self.output()) * 1024


@pytest.mark.skipif(sys.platform != "linux", reason="/proc/self/status is Linux's")
@pytest.mark.parametrize("name", ["driver", "runtime", "core"])
def test_memory(turns: Rows, name: str) -> None:
    peer = "cuda.core" if name == "core" else f"cuda.bindings.{name}"
    who = ".".join(peer.split(".")[:2])
    contenders: dict[str, Contender] = {CUDAPY: Memory(f"cudapy.{name}"), BARE: Memory("sys")}
    missing = {}
    try:
        contenders[who] = Memory(peer)
    except RuntimeError as error:
        missing[who] = reason(error)
    found = interleave(contenders, 2)
    turns.add(Record(GROUP, f"memory: import cudapy.{name}", found, unit="B", baseline=BARE, missing=missing))


def test_wheel(turns: Rows, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--quiet", "--disable-pip-version-check"]
    command += ["--wheel-dir", str(tmp_path), str(MEASURED)]
    if find_spec("hatchling"):
        command += ["--no-build-isolation"]
    impatient = {**os.environ, "PIP_RETRIES": "0", "PIP_TIMEOUT": "5"}  # else it is fetched
    try:
        done = subprocess.run(command, env=impatient, capture_output=True, text=True, timeout=60)
    except subprocess.TimeoutExpired:
        pytest.skip("pip wheel did not finish in 60 seconds")
    wheels = list(tmp_path.glob("*.whl"))
    if done.returncode or not wheels:
        said = [line for line in done.stderr.splitlines() if "ERROR" in line] or ["no reason given"]
        pytest.skip(f"pip wheel failed: {said[-1].strip()}")
    with zipfile.ZipFile(wheels[0]) as wheel:
        unpacked = sum(entry.file_size for entry in wheel.infolist())
    times = {CUDAPY: [float(unpacked)]}
    missing = {}
    for peer in ("cuda-bindings", "cuda-core"):
        try:
            times[peer.replace("-", ".")] = [installed(peer)]
        except metadata.PackageNotFoundError:
            missing[peer.replace("-", ".")] = f"{peer} is not installed"
    note = f"{wheels[0].name}: {wheels[0].stat().st_size / 1000:.0f} KB"
    turns.add(Record(GROUP, "size, unpacked", times, unit="B", note=note, missing=missing))


def installed(name: str) -> float:
    """Bytes of the files of a distribution, without those that Python made of them."""
    files = metadata.distribution(name).files or []
    return float(sum(Path(str(file.locate())).stat().st_size for file in files if file.suffix != ".pyc"))
