"""How long the programs of `times.py` take on Numba's simulator; `times.py` starts this.

    NUMBA_ENABLE_CUDASIM=1 python -m tests.simulator.times_numba [--cpu]

Numba's simulator runs each thread of a kernel as a Python thread, so the programs are smaller, and their
times are multiplied by how much smaller they are. It prints, as JSON, seconds and that factor by the names of
the rows. The reduction is not there: the simulator has no shuffles.
"""

from __future__ import annotations

import json
import math
import sys
import time
from typing import Any

import numpy as np
from numba import cuda, float32, int32

TILE = 16


@cuda.jit
def mandelbrot(out: Any, side: int, most: int) -> None:
    px, py = cuda.grid(2)
    cx, cy, x, y, n = -2.0 + 3.0 * px / side, -1.5 + 3.0 * py / side, 0.0, 0.0, 0
    while n < most and x * x + y * y < 4.0:
        x, y = x * x - y * y + cx, 2 * x * y + cy
        n += 1
    out[py, px] = n


@cuda.jit
def nbody(bodies: Any, forces: Any, n: int) -> None:
    tile = cuda.shared.array((64, 4), float32)
    i, own = cuda.grid(1), cuda.threadIdx.x
    x, y, z = bodies[i, 0], bodies[i, 1], bodies[i, 2]
    fx = fy = fz = 0.0
    for start in range(0, n, 64):
        for k in range(4):
            tile[own, k] = bodies[start + own, k]
        cuda.syncthreads()
        for j in range(64):
            dx, dy, dz = tile[j, 0] - x, tile[j, 1] - y, tile[j, 2] - z
            inverse = 1 / math.sqrt(dx * dx + dy * dy + dz * dz + 1e-3)
            scale = tile[j, 3] * inverse * inverse * inverse
            fx += dx * scale
            fy += dy * scale
            fz += dz * scale
        cuda.syncthreads()
    forces[i, 0], forces[i, 1], forces[i, 2] = fx, fy, fz


@cuda.jit
def bitonic(keys: Any, size: int, step: int) -> None:
    i = cuda.grid(1)
    other = i ^ step
    if other > i and (keys[i] > keys[other]) == (i & size == 0):
        keys[i], keys[other] = keys[other], keys[i]


@cuda.jit
def histogram(data: Any, bins: Any, n: int) -> None:
    mine = cuda.shared.array(256, int32)
    mine[cuda.threadIdx.x] = 0
    cuda.syncthreads()
    for i in range(cuda.grid(1), n, cuda.gridsize(1)):
        cuda.atomic.add(mine, data[i], 1)
    cuda.syncthreads()
    cuda.atomic.add(bins, cuda.threadIdx.x, mine[cuda.threadIdx.x])


@cuda.jit
def saxpy(a: float, x: Any, y: Any, out: Any, n: int) -> None:
    i = cuda.grid(1)
    if i < n:
        out[i] = a * x[i] + y[i]


@cuda.jit
def matmul(a: Any, b: Any, c: Any, n: int) -> None:
    rows, columns = cuda.shared.array((TILE, TILE), float32), cuda.shared.array((TILE, TILE), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    column, row = cuda.grid(2)
    total = 0.0
    for tile in range(n // TILE):
        rows[y, x] = a[row, tile * TILE + x]
        columns[y, x] = b[tile * TILE + y, column]
        cuda.syncthreads()
        for k in range(TILE):
            total += rows[y, k] * columns[k, x]
        cuda.syncthreads()
    c[row, column] = total


@cuda.jit
def loop(x: Any, a: float, b: float, steps: int) -> None:
    value = x[cuda.threadIdx.x]
    for _ in range(steps):
        value = value * a + b
    x[cuda.threadIdx.x] = value


@cuda.jit(device=True)
def one_of(which: int, value: int) -> int:
    if which == 0:
        return value * 3 + 1
    if which == 1:
        return value ^ 0x9E3779B9
    if which == 2:
        return value << 3 | value >> 29
    if which == 3:
        return value - (value >> 5)
    if which == 4:
        return value * value + 7
    if which == 5:
        return value % 1000003
    if which == 6:
        return ~value + (value << 4)
    return value // 3 + 0x1234567


@cuda.jit
def divergent(x: Any, steps: int) -> None:
    i = cuda.threadIdx.x
    value = int(x[i])
    for _ in range(steps):
        value = one_of(value + i & 7, value) & 0xFFFFFFFF
    x[i] = value


def main() -> None:
    clock = time.process_time if "--cpu" in sys.argv else time.perf_counter
    random, f32 = np.random.default_rng(1), np.float32
    found: dict[str, tuple[float, float]] = {}

    def measure(name: str, factor: float, run: Any) -> None:
        seconds = []
        for _ in range(3):
            start = clock()
            run()
            seconds.append(clock() - start)
        found[name] = min(seconds) * factor, factor

    picture = np.zeros((64, 64), np.int32)
    measure("mandelbrot", 64, lambda: mandelbrot[(4, 4), (16, 16)](picture, 64, 100))
    bodies, forces = random.random((128, 4), f32), np.zeros((128, 4), f32)
    measure("n-body", 32**2, lambda: nbody[2, 64](bodies, forces, 128))
    keys = random.integers(0, 1 << 32, 1024, np.uint32)

    def sort() -> None:
        for size in (1 << bit for bit in range(1, 11)):
            step = size // 2
            while step:
                bitonic[4, 256](keys, size, step)
                step //= 2

    measure("bitonic", 64 * 136 / 55, sort)
    data, bins = random.integers(0, 256, 1 << 12, np.uint8), np.zeros(256, np.int32)
    measure("histogram", 1 << 10, lambda: histogram[2, 256](data, bins, 1 << 12))
    x, y, out = random.random(4096, f32), random.random(4096, f32), np.zeros(4096, f32)
    measure("saxpy", 1 << 12, lambda: saxpy[16, 256](f32(2), x, y, out, 4096))
    a, b, c = random.random((32, 32), f32), random.random((32, 32), f32), np.zeros((32, 32), f32)
    measure("tiled product", 16**3, lambda: matmul[(2, 2), (TILE, TILE)](a, b, c, 32))
    values = random.random(32, f32)
    measure("a loop of 10,000 in 32 threads", 10, lambda: loop[1, 32](values, f32(0.5), f32(0.25), 1000))
    states = random.integers(0, 1 << 32, 32, np.uint32)
    measure("a divergent switch, 1,000 times in 32 threads", 10, lambda: divergent[1, 32](states, 100))
    measure("a launch", 1, lambda: saxpy[1, 128](f32(2), x, y, out, 100))
    print(json.dumps(found))


if __name__ == "__main__":
    main()
