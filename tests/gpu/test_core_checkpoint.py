"""core on a real GPU: a process that is locked, saved, restored and goes on."""

from __future__ import annotations

import os
import sys

import pytest

from cudapy import simulator
from cudapy.core import CUDAError, checkpoint

from .core_kernels import run
from .kernels import needs_driver

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="there are checkpoints on Linux alone"),
]

CHILD = """
import os, time
import numpy as np
buffer = dev.allocate(1 << 20, s)
buffer.fill(7, stream=s)
s.sync()
print("ready", flush=True)
while not os.path.exists(os.environ['GO_ON']):
    time.sleep(0.01)
found = np.empty(1 << 20, np.uint8)
buffer.copy_to(found, stream=s)
s.sync()
print(set(found.tolist()), flush=True)
"""


@pytest.fixture
def go_on(tmp_path):
    """The file whose presence lets the child end."""
    return tmp_path / "go_on"


@pytest.fixture
def child(device, go_on):
    """A process with memory on the device, which ends by saying what is in it."""
    needs_driver(12, 8)
    process = run(CHILD, GO_ON=str(go_on))
    try:
        assert process.stdout.readline() == "ready\n"
        yield process
    finally:
        process.kill()
        process.communicate()


def test_a_process_is_saved_and_goes_on(child, go_on) -> None:
    if simulator.is_enabled():
        pytest.skip("the simulator has no checkpoints")
    process = checkpoint.Process(child.pid)
    try:
        assert process.state == "running"
        process.lock(timeout_ms=30_000)
    except CUDAError as error:
        pytest.skip(f"this machine allows no checkpoints: {error}")
    assert process.state == "locked" and process.restore_thread_id > 0
    with pytest.raises(CUDAError):
        process.restore()
    process.checkpoint()
    assert process.state == "checkpointed"
    with pytest.raises(CUDAError):
        process.unlock()
    process.restore()
    assert process.state == "locked"
    process.unlock()
    assert process.state == "running"
    go_on.touch()
    said, problem = child.communicate(timeout=60)
    assert (said, child.returncode) == ("{7}\n", 0), problem


def test_no_process(device) -> None:
    needs_driver(12, 8)
    process = checkpoint.Process(2**31 - 1)
    with pytest.raises(CUDAError):
        process.state  # noqa: B018
    with pytest.raises(CUDAError):
        process.lock(1)


def test_the_simulator_says_why_not(child, go_on) -> None:
    if not simulator.is_enabled():
        pytest.skip("this is about the simulator")
    assert checkpoint.Process(os.getpid()).state == "running"
    process = checkpoint.Process(child.pid)
    for act in (process.lock, process.checkpoint, process.restore, process.unlock):
        with pytest.raises(CUDAError, match="simulated memory is memory of the process"):
            act()
    go_on.touch()
    said, problem = child.communicate(timeout=60)
    assert (said, child.returncode) == ("{7}\n", 0), problem
