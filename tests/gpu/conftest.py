"""Fixtures of the GPU tests of core."""

from __future__ import annotations

import pytest

from cudapy.core import Device, Program

from .core_kernels import KERNELS


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
