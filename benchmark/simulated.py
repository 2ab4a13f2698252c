"""SAXPY on the simulator, next to NumPy: test_simulator.py runs this in a process of its own.

    python -m benchmark.simulated ROUNDS

prints a JSON list of [name, times by contender].
"""

from __future__ import annotations

import json
import sys
from functools import partial
from time import perf_counter

import numpy as np

from cudapy import simulator
from cudapy.core import Device, LaunchConfig, Program, ProgramOptions, launch
from turns.rounds import interleave

from .kernels import SAXPY
from .measured import CUDAPY

N = 1 << 24
A = np.float32(2.0)
BLOCK = 256

Row = tuple[str, dict[str, list[float]]]


def rows(rounds: int) -> list[Row]:
    """Launch to end of synchronization. RuntimeError if the result is not that of NumPy."""
    simulator.enable()
    device = Device()
    device.set_current()
    stream = device.create_stream()
    program = Program(SAXPY, "c++", ProgramOptions(arch=f"sm_{device.arch}"))
    kernel = program.compile("ptx").get_kernel("saxpy")
    x = np.random.default_rng(1).random(N, np.float32)
    y = x[::-1].copy()
    expected = np.empty_like(x)
    a, b, out = (device.allocate(4 * N, stream) for _ in range(3))
    a.copy_from(x, stream=stream)
    b.copy_from(y, stream=stream)

    def seconds(n: int) -> float:
        config = LaunchConfig(grid=-(-n // BLOCK), block=BLOCK)
        start = perf_counter()
        launch(stream, config, kernel, A, a, b, out, n)
        stream.sync()
        return perf_counter() - start

    def by_numpy(n: int) -> float:
        start = perf_counter()
        np.multiply(A, x[:n], out=expected[:n])
        np.add(expected[:n], y[:n], out=expected[:n])
        return perf_counter() - start

    made = []
    for name, n in ((f"SAXPY, {N / 1e6:.1f} million elements", N), ("SAXPY, a block of 256", BLOCK)):
        times = interleave({CUDAPY: partial(seconds, n), "NumPy": partial(by_numpy, n)}, rounds)
        made.append((name, times))
    found = np.empty_like(x)
    out.copy_to(found, stream=stream)
    stream.sync()
    if not np.allclose(found, expected, rtol=1e-6, atol=0):  # the kernel's sum is fused, NumPy's is not
        raise RuntimeError("the simulator's result is not that of NumPy")
    return made


if __name__ == "__main__":
    print(json.dumps(rows(int(sys.argv[1]))))
