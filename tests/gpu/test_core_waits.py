"""core on a real GPU: what a wait does besides waiting, in processes that use nothing but core."""

from __future__ import annotations

import pytest

from .kernels import run_python

pytestmark = pytest.mark.gpu

BEGINNING = """
from cudapy.core import Device, DeviceMemoryResource, LaunchConfig, Program, launch

device = Device()
device.set_current()
stream, event = device.create_stream(), device.create_event()
config = LaunchConfig(grid=1, block=1)
"""

PRINTS = (
    BEGINNING
    + r"""
import ctypes

libc = ctypes.CDLL(None)
source = r'extern "C" __global__ void say(int i) { printf("kernel %d\n", i); }'
say = Program(source, "c++").compile("cubin").get_kernel("say")
for i in range(9):
    launch(stream, config, say, i)
    if i % 2:
        stream.record(event)
        event.sync()
    else:
        stream.sync()
    libc.fflush(None)
    print("host", i, flush=True)
"""
)

RELEASES = (
    BEGINNING
    + """
pool = DeviceMemoryResource(device, {})
pool.attributes.release_threshold = 0
source = 'extern "C" __global__ void nothing() {}'
nothing = Program(source, "c++").compile("cubin").get_kernel("nothing")
other = device.create_stream()


def held(wait):
    wait()
    return pool.attributes.reserved_mem_current


def behind(first, second):
    first.record(event)
    second.wait(event)
    second.sync()


for i in range(9):
    for of in (stream, other):
        launch(of, config, nothing)
        of.sync()
    pool.allocate(8 << 20, stream=stream).close()
    launch(stream, config, nothing)
    stream.record(event)
    waits = stream.sync, event.sync, lambda: behind(stream, other)
    other.sync()  # which knows nothing of the memory
    assert held(waits[i % 3]) == 0, i
print("released")
"""
)


def test_kernels_have_printed_after_a_wait() -> None:
    """What a kernel prints comes before what the host prints after the wait."""
    done = run_python(PRINTS)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [f"{who} {i}" for i in range(9) for who in ("kernel", "host")]


def test_memory_is_released_by_a_wait() -> None:
    """A pool that keeps nothing has nothing after a wait for the stream in which its memory was freed."""
    done = run_python(RELEASES)
    assert (done.returncode, done.stdout) == (0, "released\n"), done.stderr
