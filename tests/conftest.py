"""Fixtures of all tests, and what those of tests/gpu run on: the GPU, or else the simulator."""

from __future__ import annotations

import faulthandler
import functools
import gc
import importlib
import itertools
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from _pytest.faulthandler import fault_handler_stderr_fd_key as stderr_key
from _pytest.runner import runtestprotocol

from cudapy import simulator

from .progress import Progress
from .simulator.exceptions import not_on_the_simulator
from .stub import NAME, REPOSITORY, library_of, source, vendored
from .stub.build import build
from .stub.record import Stub

os.environ["CUDAPY_CACHE"] = "0"  # what is tested is compiled; the tests of the cache switch it on
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # NumPy starts none in hundreds of processes
_PROBE = """
from cudapy import driver, pathfinder
try:
    (status,) = driver.cuInit(0)
except pathfinder.LibraryNotFound as error:
    print(str(error).splitlines()[0])
else:
    print("" if not status and driver.cuDeviceGetCount()[1] else f"no CUDA device: {status.name}")
"""

_asked: list[str] = []
"""In a worker, the answer of the process that started it."""


@functools.cache
def no_gpu() -> str:
    """Why there is no GPU to test on; "" if there is one. Asked in another process: cuInit is for good."""
    if _asked:
        return _asked[0]
    if os.environ.get("CUDAPY_DRIVER") == "simulator":
        return "CUDAPY_DRIVER=simulator"
    command = [sys.executable, "-c", _PROBE]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, f"the search for a GPU failed:\n{done.stderr}"
    return done.stdout.strip()


@pytest.hookimpl(trylast=True)  # the terminal is there
def pytest_configure(config: pytest.Config) -> None:
    keep_bytecode(config)
    if hasattr(config, "workerinput"):
        config.pluginmanager.register(OneReport())
        _asked.append(config.workerinput["no_gpu"])
    runs_tests = hasattr(config, "workerinput") or config.getoption("dist", "no") == "no"
    if runs_tests and no_gpu():
        simulator.enable(devices=2, reports=False)
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if config.getoption("numprocesses", None) and config.get_verbosity() == 0 and reporter is not None:
        config.pluginmanager.register(Progress(reporter))


@pytest.hookimpl(optionalhook=True)  # of pytest-xdist
def pytest_configure_node(node: Any) -> None:
    node.workerinput["no_gpu"] = no_gpu()


class OneReport:
    """What a worker runs tests with: it tells of a test once, and of its setup and its teardown where they
    have not passed. To send a report, and to take it, costs more than most tests.
    """

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> bool:
        item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        reports = runtestprotocol(item, log=False, nextitem=nextitem)
        told = [report for report in reports if report.when == "call" or not report.passed] or reports[:1]
        told[0].duration = sum(report.duration for report in reports)
        for report in told:
            item.ihook.pytest_runtest_logreport(report=report)
        item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
        return True


def keep_bytecode(config: pytest.Config) -> None:
    """Where Python is to keep no bytecode, keep it until the end: hundreds of programs are started here, and
    each would compile all modules again.
    """
    if not os.environ.get("PYTHONDONTWRITEBYTECODE"):
        return
    folder = tempfile.TemporaryDirectory(prefix="cudapy-tests-", ignore_cleanup_errors=True)
    patch = pytest.MonkeyPatch()
    config.add_cleanup(folder.cleanup)
    config.add_cleanup(patch.undo)  # first
    patch.delenv("PYTHONDONTWRITEBYTECODE")
    patch.setenv("PYTHONPYCACHEPREFIX", folder.name)
    patch.setattr(sys, "pycache_prefix", folder.name)
    patch.setattr(sys, "dont_write_bytecode", False)


collect_ignore = ["clients"]  # programs, which tests copy and run
_HERE = Path(__file__).parent
LONG = {_HERE / line for line in (_HERE / "long_files.txt").read_text().splitlines()[1:]}
"""The files of tests that take longer than a second."""


@functools.cache
def _may_be_thorough(path: Path) -> bool:
    """Whether a file marks tests so, by itself or by `tests.tiers`."""
    return not path.name.startswith("test_") or re.search(rb"thorough|tiers", path.read_bytes()) is not None


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """`-m quick` does not even import the files that take longer than a second, `-m thorough` those without
    such tests.
    """
    tier = config.option.markexpr
    if collection_path.suffix != ".py" or tier not in ("quick", "thorough"):
        return None
    is_in_tier = collection_path not in LONG if tier == "quick" else _may_be_thorough(collection_path)
    return None if is_in_tier else True


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What is collected stays: to look for garbage among it takes a sixth of the time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Have each worker begin elsewhere in a folder: what one has compiled, the others read."""
    report = yield
    worker = getattr(collector.config, "workerinput", None)
    if worker and isinstance(collector, pytest.Directory) and report.result:
        start = len(report.result) * int(worker["workerid"].removeprefix("gw")) // worker["workercount"]
        report.result = [*report.result[start:], *report.result[:start]]
    return report


@pytest.hookimpl(tryfirst=True)  # before tests are selected by their marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: item.path.parts)  # wherever a worker began
    for item in items:
        if item.get_closest_marker("thorough") is not None:
            if not _may_be_thorough(item.path):
                raise pytest.UsageError(f"{item.nodeid} is thorough, but the file does not have the word")
        elif item.path not in LONG:
            item.add_marker("quick")


def pytest_report_header() -> str:
    why = no_gpu().partition(". ")[0]
    return f"GPU tests: on the simulator ({why})" if why else "GPU tests: on the GPU"


HANGS, _BETWEEN = 300, 30
"""Seconds after which a test prints the stack of every thread, and how much later it may be: pytest's own
option starts a thread for each test, which takes 0.5 ms and more.
"""
_armed = -float("inf")


def look_for_a_hang(config: pytest.Config) -> None:
    """Begin to wait for it anew, if it has been a while."""
    global _armed
    now = time.monotonic()
    if now - _armed >= _BETWEEN:
        _armed = now
        faulthandler.dump_traceback_later(HANGS + _BETWEEN, file=config.stash[stderr_key])


@pytest.hookimpl(tryfirst=True)
def pytest_exception_interact() -> None:
    """pytest has stopped waiting, for a debugger."""
    global _armed
    _armed = -float("inf")


def pytest_sessionfinish() -> None:
    faulthandler.cancel_dump_traceback_later()


def pytest_runtest_setup(item: pytest.Item) -> None:
    look_for_a_hang(item.config)
    if simulator.is_enabled() and item.get_closest_marker("gpu") is not None:
        why = not_on_the_simulator(item)
        if why:
            pytest.skip(f"not on the simulator: {why}")


@pytest.fixture(scope="module", autouse=True)
def _old_things_stay() -> None:
    """What other files left is no garbage: tests that collect some, many times, need not look through it."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def nvrtc() -> ModuleType:
    """`cudapy.nvrtc`, with a library behind it."""
    from cudapy import nvrtc, pathfinder

    try:
        pathfinder.load("nvrtc")
    except pathfinder.LibraryNotFound as error:
        pytest.skip(str(error).splitlines()[0])
    return nvrtc


@pytest.fixture(scope="session")
def gcc() -> str:
    """The path of gcc."""
    path = shutil.which("gcc")
    if path is None:
        pytest.skip("there is no gcc to compile the stub library with")
    return path


@pytest.fixture(scope="session")
def path_of(gcc: str, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The path of the stub of a library, all of it: `path_of("runtime-13")`. Whichever worker needs one first
    compiles it for all.
    """
    import fcntl

    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "stub"
    folder.mkdir(exist_ok=True)

    @functools.cache
    def path(api: str) -> Path:
        if api == "nvml" and Path("/dev/nvidiactl").exists():
            pytest.skip("a mistake here would change this machine's GPU: NVML's setters are among the tests")
        library = folder / f"lib_{api}_stub.so"
        with (folder / f"{api}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not library.exists():
                build(source(api), folder / f"{api}_being_compiled.so").rename(library)
        return library

    return path


@pytest.fixture(scope="session")
def _stubs(path_of: Callable[[str], Path]) -> Callable[[str], Stub]:
    return functools.cache(lambda api: Stub(path_of(api), api))


@pytest.fixture
def stub_of(_stubs: Callable[[str], Stub]) -> Iterator[Callable[[str], Stub]]:
    """The stub that the functions of a library in `cudapy_stubbed` call, with an empty record."""
    used = []

    def get(api: str) -> Stub:
        stub = _stubs(api)
        library_of(source(api)).load = lambda: stub.library  # another test may have loaded another one since
        stub.reset()
        used.append(stub)
        return stub

    yield get
    for stub in used:
        stub.reset()
    owned = sys.modules.get(f"{NAME}._core.ownership.owned")
    if owned is not None:  # what a test leaves behind is released in nobody else's record
        owned._begin_again()


@pytest.fixture(scope="session")
def stub_path(path_of: Callable[[str], Path]) -> Path:
    """A stub of the whole of libcuda."""
    return path_of("driver")


@pytest.fixture
def stub(stub_of: Callable[[str], Stub]) -> Stub:
    """The stub libcuda that the driver functions of `cudapy_stubbed` call, with an empty record."""
    return stub_of("driver")


_numbers = itertools.count()


@pytest.fixture
def fresh() -> Iterator[ModuleType]:
    """The driver module of a copy of the package none of whose functions was ever called."""
    package = vendored(f"cudapy_fresh_{next(_numbers)}").__name__
    yield importlib.import_module(f"{package}.driver")
    for name in [name for name in sys.modules if name.split(".")[0] == package]:
        del sys.modules[name]


@pytest.fixture
def d(fresh: ModuleType, stub: Stub) -> ModuleType:
    """`fresh`, on the stub."""
    fresh.libcuda.load = lambda: stub.library
    return fresh
