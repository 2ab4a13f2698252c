"""Fixtures of the GPU tests: all but the first are of core."""

from __future__ import annotations

import gc
import os
import sys
from contextlib import suppress

import pytest

from cudapy import pathfinder, runtime, simulator
from cudapy.core import Device, Program

from .core_kernels import KERNELS


@pytest.fixture(scope="session", autouse=True)
def others_give_back():
    """CuPy and PyTorch keep memory for later: at the end they have none."""
    yield
    if "cupy" in sys.modules:
        sys.modules["cupy"].get_default_memory_pool().free_all_blocks()
        sys.modules["cupy"].get_default_pinned_memory_pool().free_all_blocks()
    if "torch" in sys.modules:
        sys.modules["torch"].cuda.empty_cache()


@pytest.fixture(autouse=True)
def _processes_too(monkeypatch):
    """What a test starts has the devices that it has, and says on stderr what it would say on a GPU."""
    if simulator.is_enabled():
        for name, value in (("DRIVER", "simulator"), ("SIMULATOR_DEVICES", "2"), ("SIMULATOR_REPORTS", "0")):
            monkeypatch.setenv(f"CUDAPY_{name}", value)


@pytest.fixture(scope="module", autouse=True)
def _old_things_stay():
    """Not on a GPU: what is left of a device's memory is to be given back, whichever test it is of."""
    if simulator.is_enabled():
        gc.collect()
        gc.freeze()


@pytest.fixture
def alone():
    """For what measures the memory of the whole device: no other worker of pytest-xdist uses it, too."""
    if "PYTEST_XDIST_WORKER" in os.environ and not simulator.is_enabled():
        pytest.skip("other workers use the memory that is measured")


def _other(name, title):
    """Another library that uses the GPU."""
    if simulator.is_enabled():
        pytest.skip(f"{title} needs a GPU")
    other = pytest.importorskip(name, reason=f"{title} is not installed")
    with suppress(pathfinder.LibraryNotFound):
        runtime.cudaGetLastError()  # of the test before, which the other library may share with us
    return other


@pytest.fixture
def cupy():
    return _other("cupy", "CuPy")


@pytest.fixture
def torch():
    return _other("torch", "PyTorch")


@pytest.fixture
def device():
    """Device 0, current; and its work done at the end."""
    device = Device(0)
    device.set_current()
    yield device
    device.set_current()
    device.sync()


@pytest.fixture
def stream(device):
    """A new stream."""
    return device.create_stream()


@pytest.fixture(scope="module")
def code():
    """The kernels, compiled once for a file of tests."""
    Device(0).set_current()
    return Program(KERNELS, "c++").compile("cubin", name_expressions=("add_one<int>", "add_one<double>"))
