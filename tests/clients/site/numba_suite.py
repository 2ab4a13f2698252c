"""A pytest plugin for numba-cuda's tests: names, the fixture that its wheel leaves out, a record.

They are in the folder numba_cuda/numba/cuda/tests and have to be imported as numba.cuda.tests; by pytest's
rules they were `cuda.tests`, in the way of NVIDIA's packages. CLIENTS_SUITE is another name, for tests of
the plugin.

CLIENTS_RECORD names the file of the record: a line of JSON for each test as it ends, so that what was found
is there when the run is cut off.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from pathlib import Path
from types import ModuleType

import pytest

SUITE = os.environ.get("CLIENTS_SUITE", "numba.cuda.tests")
ORDER = ("passed", "skipped", "failed")


class SuiteModule(pytest.Module):
    """A file of the suite, by the name that it has for itself."""

    def _getobj(self) -> ModuleType:
        path = self.path.relative_to(self.config.rootpath).with_suffix("")
        return importlib.import_module(".".join((SUITE, *path.parts)))


def pytest_pycollect_makemodule(module_path: Path, parent: pytest.Collector) -> pytest.Module:
    return SuiteModule.from_parent(parent, path=module_path)


def pytest_collect_directory(path: Path, parent: pytest.Collector) -> pytest.Dir:
    return pytest.Dir.from_parent(parent, path=path)  # no pytest.Package, which imports __init__.py


@pytest.fixture
def initialize_from_pytest_config(request: pytest.FixtureRequest) -> None:
    """What numba-cuda's own conftest.py sets: no dump of the texts that FileCheck refused."""
    request.instance._dump_failed_filechecks = False


class Record:
    """Writes one line for each test: its name, its outcome, how long it took, and why it failed."""

    def __init__(self, path: str) -> None:
        self.file = open(path, "a", buffering=1)  # noqa: SIM115 - open for as long as pytest runs
        self.tests: dict[str, dict[str, object]] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        name = report.nodeid
        test = self.tests.setdefault(name, {"name": name, "outcome": "passed", "seconds": 0.0, "why": ""})
        test["seconds"] = round(test["seconds"] + report.duration, 2)
        if ORDER.index(report.outcome) > ORDER.index(test["outcome"]):
            test |= {"outcome": report.outcome, "why": _why(report)}
        if report.when == "teardown" or (report.failed and report.when == "???"):
            self.file.write(json.dumps(self.tests.pop(name)) + "\n")

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.file.write(
                json.dumps({"name": report.nodeid, "outcome": "failed", "seconds": 0, "why": _why(report)})
                + "\n"
            )


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown() -> None:
    """CLIENTS_FRESH: a fault ends a test and not those after it, as though each had a process of its own.

    It is for the simulator, which tells faults that a GPU lets pass.
    """
    handles = sys.modules.get("cudapy.simulator.handles")
    if os.environ.get("CLIENTS_FRESH") and handles is not None:
        context = importlib.import_module("cudapy.simulator.devices.context")
        for each in handles.every(context.Context):
            each.await_error()
            each.revive()


def _why(report: pytest.CollectReport | pytest.TestReport) -> str:
    """The end of what pytest says of a failure, or the reason of a skip."""
    if isinstance(report.longrepr, tuple):
        return str(report.longrepr[2])
    return str(report.longrepr)[-3000:]


def pytest_configure(config: pytest.Config) -> None:
    path = os.environ.get("CLIENTS_RECORD")
    if path and not hasattr(config, "workerinput"):  # with xdist, the process that the workers report to
        config.pluginmanager.register(Record(path))
