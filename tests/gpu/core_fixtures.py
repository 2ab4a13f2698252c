"""What the GPU tests of core's memory share."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cudapy.core import Device

ROOT = Path(__file__).parents[2]


@pytest.fixture
def device():
    """Device 0, current."""
    device = Device(0)
    device.set_current()
    yield device
    device.set_current()
    device.sync()


@pytest.fixture
def stream(device):
    """A stream of it."""
    return device.create_stream()


def content(buffer: Any, stream: Any, dtype: Any = np.uint8) -> np.ndarray:
    """What is in a Buffer."""
    found = np.empty(buffer.size // np.dtype(dtype).itemsize, dtype)
    buffer.copy_to(found, stream=stream)
    stream.sync()
    return found


def python(
    source: str, *arguments: str, timeout: float = 100, **more: Any
) -> subprocess.CompletedProcess[str]:
    """Run Python code in a process of its own."""
    command = [sys.executable, "-c", source]
    return subprocess.run(
        command, cwd=ROOT, env=dict(os.environ), capture_output=True, text=True, timeout=timeout
    )
