"""What SAXPY costs: the kernel on the device, and the whole program."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from statistics import median

import pytest

from cudapy import pathfinder
from cudapy.driver import CUdeviceptr, checked
from turns.record import Record
from turns.rounds import Contender, interleave, spread
from turns.rows import Rows, ready

from .calls import Arguments
from .conftest import Race, Rivals
from .gpu import Gpu
from .measured import CUDAPY, program
from .twin import build

pytestmark = pytest.mark.gpu

GROUP = "SAXPY"
PROGRAM = str(Path(__file__).parent / "programs" / "saxpy.py")
AHEAD = 256 << 20
LAUNCHES = 16
BLOCK = 512


class Work:
    """Buffers of `n` floats, and what the device does with them, timed by events as in cpp/launch.cpp.

    Sixteen pieces of work, each between two events, are queued behind work that takes the device longer than
    the host needs to queue them; the time of one is the median.
    """

    def __init__(self, gpu: Gpu, n: int) -> None:
        self.gpu = gpu
        self.n = n
        self.memory: list[CUdeviceptr] = []
        try:
            for size in (4 * n, 4 * n, 4 * n, AHEAD):
                self.memory.append(checked.cuMemAlloc(size))
        except MemoryError:
            self.close()
            raise
        self.x, self.y, self.out, self.busy = self.memory
        checked.cuMemsetD32(self.x, 0x3FC00000, n)
        checked.cuMemsetD32(self.y, 0x40100000, n)
        self.events = [checked.cuEventCreate(0) for _ in range(LAUNCHES + 1)]
        self.function = gpu.function("saxpy")
        pointer = ctypes.c_void_p
        self.arguments = Arguments(
            (2.0, int(self.x), int(self.y), int(self.out), n),
            (ctypes.c_float, pointer, pointer, pointer, ctypes.c_size_t),
        )

    def close(self) -> None:
        """Free the memory."""
        while self.memory:
            checked.cuMemFree(self.memory.pop())

    def kernel(self) -> None:
        """SAXPY."""
        blocks, pointers = (self.n + BLOCK - 1) // BLOCK, self.arguments.address
        checked.cuLaunchKernel(self.function, blocks, 1, 1, BLOCK, 1, 1, 0, self.gpu.stream, pointers, 0)

    def copy(self) -> None:
        """A copy of one buffer to another."""
        checked.cuMemcpyDtoDAsync(self.out, self.x, 4 * self.n, self.gpu.stream)

    def seconds(self, work: Callable[[], None]) -> float:
        """The device's time for `work`."""
        stream = self.gpu.stream
        for _ in range(4):
            checked.cuMemsetD8Async(self.busy, 0, AHEAD, stream)
        checked.cuEventRecord(self.events[0], stream)
        for event in self.events[1:]:
            work()
            checked.cuEventRecord(event, stream)
        checked.cuStreamSynchronize(stream)
        pairs = zip(self.events, self.events[1:], strict=False)
        return median(float(checked.cuEventElapsedTime(start, end)) for start, end in pairs) * 1e-3


@pytest.mark.parametrize("mib", [1, 16, 64, 256, 1024])
def test_kernel(turns: Rows, gpu: Gpu, twin: Callable[..., Contender], mib: int) -> None:
    n = (mib << 20) // 4
    try:
        work = Work(gpu, n)
    except MemoryError:
        pytest.skip(f"the device has no room for three buffers of {mib} MiB")
    try:
        contenders, missing = ready({"C++": lambda: twin("kernel", n)})
        mine: dict[str, Contender] = {
            CUDAPY: lambda: work.seconds(work.kernel),
            "copy": lambda: work.seconds(work.copy),
        }
        times = interleave(mine | contenders, turns.rounds(41))
    finally:
        work.close()
    copies = times.pop("copy")
    share = spread([(12 * n / t) / (8 * n / c) for t, c in zip(times[CUDAPY], copies, strict=True)])
    rate = 12 * n / median(times[CUDAPY]) / 1e9
    note = f"{rate:.0f} GB/s, {share.median:.2f} ±{share.half:.2f} of a device copy"
    turns.add(Record(GROUP, f"kernel, 3 x {mib} MiB, by events", times, note=note, missing=missing))


@pytest.mark.parametrize("data", ["numpy", "array"])
def test_whole_program(race: Race, gpu: Gpu, data: str) -> None:
    nvrtc = pathfinder.load("nvrtc").path

    def bindings() -> Contender:
        if not find_spec("cuda") or not find_spec("cuda.bindings"):
            raise ImportError("No module named 'cuda.bindings'")
        return program([sys.executable, PROGRAM, "cuda.bindings", data])

    rivals: Rivals = {"C++": lambda: program([str(build("saxpy.cpp")), nvrtc]), "cuda.bindings": bindings}
    name = f"whole program, data in {data}, start to exit"
    race(GROUP, name, program([sys.executable, PROGRAM, "cudapy", data]), rivals, rounds=7)
