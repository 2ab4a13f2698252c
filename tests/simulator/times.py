"""How long the programs of docs/simulator.md take, best of three: `python -m tests.simulator.times`."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from . import test_programs as programs
from .machine import Machine

f32, i32, u32, u64 = np.float32, np.int32, np.uint32, np.uint64


def best(run: Callable[[], Any], times: int = 3) -> float:
    """Seconds of the fastest run."""
    found = []
    for _ in range(times):
        start = time.perf_counter()
        run()
        found.append(time.perf_counter() - start)
    return min(found)


def main() -> None:
    machine = Machine()
    launch, load = machine.run, machine.load
    random = programs.random

    n = 1 << 24
    x, y, out = machine.array(random(n)), machine.array(random(n)), machine.zeros(n, f32)
    saxpy = load(programs.SAXPY)
    blocks = n // 256
    rows = {"saxpy, 16.7 million": lambda: launch(saxpy, "saxpy", blocks, 256, f32(2), x, y, out, u64(n))}
    rows["one block of 128 threads"] = lambda: launch(saxpy, "saxpy", 1, 128, f32(2), x, y, out, u64(100))

    side = 512
    a, b, c = (machine.array(random(side, side)) for _ in range(3))
    matmul = load(programs.MATMUL)
    rows["tiled matmul, 512 x 512"] = lambda: launch(matmul, "matmul", (32, 32), (16, 16), a, b, c, i32(side))

    many = machine.array(np.arange(1 << 22, dtype=i32) % 97)
    total = machine.zeros(1, i32)
    reduce = load(programs.REDUCE)
    rows["reduction, 4.2 million"] = lambda: launch(reduce, "reduce", 256, 256, many, total, i32(1 << 22))

    scanned = machine.zeros(1 << 20, i32)
    scan = load(programs.SCAN)
    rows["scan in blocks, 1 million"] = lambda: launch(
        scan, "scan", 4096, 256, many, scanned, i32(1 << 20), shared=1024
    )

    data = machine.array(np.random.default_rng(1).integers(0, 256, 1 << 22, np.uint8))
    bins = machine.zeros(256, u32)
    histogram = load(programs.HISTOGRAM)
    rows["histogram, 4.2 million"] = lambda: launch(histogram, "histogram", 64, 256, data, bins, i32(1 << 22))

    wide, turned = machine.array(random(1024, 1024)), machine.zeros((1024, 1024), f32)
    transpose = load(programs.TRANSPOSE)
    rows["transpose, 1024 x 1024"] = lambda: launch(
        transpose, "transpose", (32, 32), (32, 8), turned, wide, i32(1024), i32(1024)
    )

    picture = machine.zeros((512, 512), i32)
    mandelbrot = load(programs.MANDELBROT)
    rows["mandelbrot, 512 x 512, 100 steps, binary64"] = lambda: launch(
        mandelbrot, "mandelbrot", (32, 32), (16, 16), picture, i32(512), i32(512), i32(100)
    )

    size = 4096
    start = np.random.default_rng(1).random(size)
    solve = load(programs.CONJUGATE_GRADIENT)

    def conjugate_gradient() -> None:
        vectors = [machine.array(values) for values in (0 * start, start, start, 0 * start)]
        totals = machine.zeros(3, np.float64)
        launch(solve, "solve", 16, 128, *vectors, i32(size), i32(20), totals, cooperative=True)

    rows["conjugate gradient with grid barriers, 4096 unknowns, 20 steps"] = conjugate_gradient
    for name, run in rows.items():
        run()
        print(f"| {name} | {best(run) * 1000:.1f} ms |")


if __name__ == "__main__":
    main()
