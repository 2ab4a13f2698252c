"""How long kernels take on the simulator, next to the same in C++.

    python -m tests.simulator.times [--cpu] [--numba PYTHON] [ROW ...]

Launches go through the driver, with the wait for them; the best of three counts. C++ is `times.cpp`, made by
g++ -O2 -fopenmp for this run; without g++ there is no such column. With --cpu the time of the processor
counts in place of the clock's, for a machine that others use, too. Where numba-cuda is installed, here or for
the Python that --numba names, there is a column of Numba's simulator: `times_numba.py`.
"""

from __future__ import annotations

import argparse
import ctypes
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from cudapy import simulator
from cudapy.core import Device, LaunchConfig, Program, ProgramOptions, launch

from . import test_programs as programs

HERE = Path(__file__).parent

NBODY = r"""
extern "C" __global__ void nbody(const float4 *bodies, float4 *forces, int n)
{
    __shared__ float4 tile[256];
    float4 own = bodies[blockIdx.x * blockDim.x + threadIdx.x], force = {0, 0, 0, 0};
    for (int start = 0; start < n; start += blockDim.x) {
        tile[threadIdx.x] = bodies[start + threadIdx.x];
        __syncthreads();
        for (int j = 0; j < blockDim.x; ++j) {
            float dx = tile[j].x - own.x, dy = tile[j].y - own.y, dz = tile[j].z - own.z;
            float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + 1e-3f);
            float scale = tile[j].w * inverse * inverse * inverse;
            force.x += dx * scale;
            force.y += dy * scale;
            force.z += dz * scale;
        }
        __syncthreads();
    }
    forces[blockIdx.x * blockDim.x + threadIdx.x] = force;
}
"""
BITONIC = r"""
extern "C" __global__ void bitonic(unsigned *keys, int size, int step)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, other = i ^ step;
    if (other > i && (keys[i] > keys[other]) == !(i & size)) {
        unsigned key = keys[i];
        keys[i] = keys[other];
        keys[other] = key;
    }
}
"""
LOOP = r"""
extern "C" __global__ void loop(float *x, float a, float b, int steps)
{
    float value = x[blockIdx.x * blockDim.x + threadIdx.x];
#pragma unroll 1
    for (int i = 0; i < steps; ++i) value = fmaf(value, a, b);
    x[blockIdx.x * blockDim.x + threadIdx.x] = value;
}
"""
COLLATZ = r"""
extern "C" __global__ void collatz(int *steps, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int count = 0;
    for (long long x = i + 1; x != 1; ++count) x = x & 1 ? 3 * x + 1 : x >> 1;
    steps[i] = count;
}
"""
DIVERGENT = r"""
__device__ __noinline__ unsigned one_of(unsigned which, unsigned value)
{
    switch (which) {
    case 0: return value * 3 + 1;
    case 1: return value ^ 0x9e3779b9;
    case 2: return value << 3 | value >> 29;
    case 3: return value - (value >> 5);
    case 4: return value * value + 7;
    case 5: return value % 1000003;
    case 6: return ~value + (value << 4);
    default: return value / 3 + 0x1234567;
    }
}
extern "C" __global__ void divergent(unsigned *x, int steps)
{
    unsigned thread = blockIdx.x * blockDim.x + threadIdx.x, value = x[thread];
    for (int i = 0; i < steps; ++i) value = one_of((value + thread) & 7, value);
    x[thread] = value;
}
"""


class Row(NamedTuple):
    """A line of the table."""

    name: str
    run: Callable[[], Any]
    """On the simulator."""
    result: Callable[[], Any] | None = None
    """What it left, to be compared with what C++ leaves; None: there is no such program."""
    native: Callable[[Any], Any] | None = None
    """The same in C++, by its library."""
    tolerance: float = 0.0


class Bench:
    """Runs kernels on the simulated device."""

    def __init__(self) -> None:
        self.device = Device()
        self.device.set_current()
        self.stream = self.device.create_stream()

    def kernel(self, source: str, name: str) -> Any:
        options = ProgramOptions(arch="sm_90", std="c++17")
        return Program(source, "c++", options).compile("cubin").get_kernel(name)

    def buffer(self, values: Any) -> Any:
        made = self.device.allocate(values.nbytes, self.stream)
        made.copy_from(values, stream=self.stream)
        self.stream.sync()
        return made

    def read(self, buffer: Any, like: Any) -> Any:
        out = np.empty_like(like)
        buffer.copy_to(out, stream=self.stream)
        self.stream.sync()
        return out

    def start(self, kernel: Any, grid: Any, block: Any, *arguments: Any) -> None:
        launch(self.stream, LaunchConfig(grid=grid, block=block), kernel, *arguments)

    def run(self, kernel: Any, grid: Any, block: Any, *arguments: Any) -> None:
        self.start(kernel, grid, block, *arguments)
        self.stream.sync()


def pointer(array: Any) -> Any:
    return ctypes.c_void_p(array.ctypes.data)


def rows(bench: Bench) -> list[Row]:
    """All of them, with their data."""
    random = np.random.default_rng(1)
    f32, i32, u32 = np.float32, np.int32, np.uint32
    found: list[Row] = []

    def add(name: str, out: Any, run: Any, native: Any, tolerance: float = 0.0, mine: Any = None) -> None:
        """`out` is the host's array of what the buffer `mine` holds at the end."""
        found.append(Row(name, run, lambda: (bench.read(mine, out), out), native, tolerance))

    side = 512
    picture = np.zeros((side, side), i32)
    pixels, mandelbrot = bench.buffer(picture), bench.kernel(programs.MANDELBROT, "mandelbrot")
    add(
        "mandelbrot, 512 x 512, 100 steps, binary64",
        picture,
        lambda: bench.run(mandelbrot, (32, 32), (16, 16), pixels, i32(side), i32(side), i32(100)),
        lambda cpp: cpp.mandelbrot(pointer(picture), side, side, 100),
        1e-3,
        pixels,
    )

    n = 1 << 24
    numbers, total = (np.arange(n, dtype=i32) % 97), np.zeros(1, i32)
    many, sums, reduce = bench.buffer(numbers), bench.buffer(total), bench.kernel(programs.REDUCE, "reduce")

    def reduction() -> None:
        sums.fill(0, stream=bench.stream)
        bench.run(reduce, 256, 256, many, sums, i32(n))

    add(
        "reduction, 16.7 million",
        total,
        reduction,
        lambda cpp: cpp.reduce(pointer(numbers), pointer(total), n),
        mine=sums,
    )

    stars = 4096
    places, pulls = random.random((stars, 4), f32), np.zeros((stars, 4), f32)
    bodies, forces, nbody = bench.buffer(places), bench.buffer(pulls), bench.kernel(NBODY, "nbody")
    add(
        "n-body, 4096",
        pulls,
        lambda: bench.run(nbody, stars // 256, 256, bodies, forces, i32(stars)),
        lambda cpp: cpp.nbody(pointer(places), pointer(pulls), stars),
        1e-2,
        forces,
    )

    count = 1 << 16
    unsorted = random.integers(0, 1 << 32, count, u32)
    keys, ordered = bench.buffer(unsorted), unsorted.copy()
    bitonic = bench.kernel(BITONIC, "bitonic")

    def sort() -> None:
        keys.copy_from(unsorted, stream=bench.stream)
        size = 2
        while size <= count:
            step = size // 2
            while step:
                bench.start(bitonic, count // 256, 256, keys, i32(size), i32(step))
                step //= 2
            size *= 2
        bench.stream.sync()

    def sort_natively(cpp: Any) -> None:
        ordered[:] = unsorted
        cpp.bitonic(pointer(ordered), count)

    add("bitonic sort, 65,536, 136 launches", ordered, sort, sort_natively, mine=keys)

    octets, counts = random.integers(0, 256, n // 4, np.uint8), np.zeros(256, u32)
    data, bins = bench.buffer(octets), bench.buffer(counts)
    histogram = bench.kernel(programs.HISTOGRAM, "histogram")

    def fill_bins() -> None:
        bins.fill(0, stream=bench.stream)
        bench.run(histogram, 64, 256, data, bins, i32(n // 4))

    add(
        "histogram, 4.2 million",
        counts,
        fill_bins,
        lambda cpp: cpp.histogram(pointer(octets), pointer(counts), n // 4),
        mine=bins,
    )

    xs, ys, outs = random.random(n, f32), random.random(n, f32), np.zeros(n, f32)
    x, y, out = bench.buffer(xs), bench.buffer(ys), bench.buffer(outs)
    saxpy = bench.kernel(programs.SAXPY, "saxpy")
    add(
        "saxpy, 16.7 million",
        outs,
        lambda: bench.run(saxpy, n // 256, 256, f32(2), x, y, out, np.uint64(n)),
        lambda cpp: cpp.saxpy(ctypes.c_float(2), pointer(xs), pointer(ys), pointer(outs), ctypes.c_size_t(n)),
        1e-6,
        out,
    )

    a, b, c = random.random((side, side), f32), random.random((side, side), f32), np.zeros((side, side), f32)
    left, right, product = bench.buffer(a), bench.buffer(b), bench.buffer(c)
    matmul = bench.kernel(programs.MATMUL, "matmul")
    add(
        "tiled product, 512 x 512",
        c,
        lambda: bench.run(matmul, (32, 32), (16, 16), left, right, product, i32(side)),
        lambda cpp: cpp.matmul(pointer(a), pointer(b), pointer(c), side),
        1e-4,
        product,
    )

    steps = np.zeros(100_000, i32)
    lengths, collatz = bench.buffer(steps), bench.kernel(COLLATZ, "collatz")
    add(
        "collatz, 100,000",
        steps,
        lambda: bench.run(collatz, -(-len(steps) // 256), 256, lengths, i32(len(steps))),
        lambda cpp: cpp.collatz(pointer(steps), len(steps)),
        mine=lengths,
    )

    loop, divergent = bench.kernel(LOOP, "loop"), bench.kernel(DIVERGENT, "divergent")
    for threads in (32, 32_768):
        start = random.random(threads, f32)
        values, turned = bench.buffer(start), start.copy()

        def run_loop(start: Any = start, values: Any = values) -> None:
            values.copy_from(start, stream=bench.stream)
            size = min(len(start), 256)
            bench.run(loop, len(start) // size, size, values, f32(0.5), f32(0.25), i32(10_000))

        def loop_natively(cpp: Any, start: Any = start, turned: Any = turned) -> None:
            turned[:] = start
            cpp.loop(pointer(turned), len(start), ctypes.c_float(0.5), ctypes.c_float(0.25), 10_000)

        add(f"a loop of 10,000 in {threads:,} threads", turned, run_loop, loop_natively, mine=values)

    for threads in (32, 8_192):
        seeds = random.integers(0, 1 << 32, threads, u32)
        states, mixed = bench.buffer(seeds), seeds.copy()

        def diverge(seeds: Any = seeds, states: Any = states) -> None:
            states.copy_from(seeds, stream=bench.stream)
            size = min(len(seeds), 256)
            bench.run(divergent, len(seeds) // size, size, states, i32(1000))

        def diverge_natively(cpp: Any, seeds: Any = seeds, mixed: Any = mixed) -> None:
            mixed[:] = seeds
            cpp.divergent(pointer(mixed), len(seeds), 1000)

        name = f"a divergent switch, 1,000 times in {threads:,} threads"
        add(name, mixed, diverge, diverge_natively, mine=states)

    found.append(
        Row("a launch of 128 threads", lambda: bench.run(saxpy, 1, 128, f32(2), x, y, out, np.uint64(100)))
    )
    return found


def compiled(folder: str) -> Any:
    """times.cpp as a library, or None without g++."""
    if shutil.which("g++") is None:
        return None
    library = f"{folder}/times.so"
    command = ["g++", "-O2", "-fopenmp", "-shared", "-fPIC", str(HERE / "times.cpp"), "-o", library]
    subprocess.run(command, check=True)
    return ctypes.CDLL(library)


def numba_times(python: str, *options: str) -> dict[str, tuple[float, float]]:
    """Seconds of Numba's simulator by how the names of rows begin, multiplied by how much smaller its
    programs are, and that factor; nothing where it is not installed.
    """
    if python == sys.executable and importlib.util.find_spec("numba_cuda") is None:
        return {}
    command = [python, "-m", "tests.simulator.times_numba", *options]
    environment = os.environ | {"NUMBA_ENABLE_CUDASIM": "1"}
    printed = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE).stdout
    found: dict[str, tuple[float, float]] = json.loads(printed)
    return found


def best(run: Callable[[], Any], clock: Callable[[], float], times: int) -> float:
    """Seconds of the fastest run; what is short runs often, so that the clock can tell."""
    found = []
    for _ in range(times):
        start, rounds = clock(), 0
        while not rounds or (clock() - start < 0.01 and rounds < 100):
            run()
            rounds += 1
        found.append((clock() - start) / rounds)
    return min(found)


def said(seconds: float) -> str:
    """A time with two digits."""
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= scale:
            digits = 1 if seconds < 10 * scale else 0
            return f"{seconds / scale:,.{digits}f} {unit}"
    return f"{seconds * 1e6:.2f} µs"


def _scaled(seconds: float, factor: float) -> str:
    """A time, and how it was computed."""
    return said(seconds) + (f" ({said(seconds / factor)} x {factor:,.0f})" if factor > 1 else "")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("rows", nargs="*", help="those whose names contain one of these; all by default")
    parser.add_argument("--cpu", action="store_true", help="the time of the processor, not that of the clock")
    parser.add_argument("--numba", metavar="PYTHON", default=sys.executable, help="a Python with numba-cuda")
    told = parser.parse_args()
    clock = time.process_time if told.cpu else time.perf_counter
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # else threads that wait take time of the processor
    simulator.enable()
    with tempfile.TemporaryDirectory() as folder:
        cpp = compiled(folder)
        numba = numba_times(told.numba, *(["--cpu"] if told.cpu else []))
        head = ["program", "simulator", "C++", "times as long", *(["Numba's simulator"] if numba else [])]
        print(f"| {' | '.join(head)} |\n{'|---' * len(head)}|", flush=True)
        for row in rows(Bench()):
            if told.rows and not any(one in row.name for one in told.rows):
                continue
            row.run()
            own, native = [], []
            for _ in range(3):
                own.append(best(row.run, clock, 1))
                if row.native is not None and cpp is not None:
                    made = row.native
                    native.append(best(lambda made=made: made(cpp), clock, 3))  # type: ignore[misc]
            line = f"| {row.name} | {said(min(own))} |"
            if native and row.result is not None:
                ours, theirs = row.result()
                np.testing.assert_allclose(ours, theirs, row.tolerance, 100 * row.tolerance)
                line += f" {said(min(native))} | {min(own) / min(native):.1f} |"
            else:
                line += " | |"
            if numba:
                (scaled,) = [one for name, one in numba.items() if row.name.startswith(name)] or [None]  # type: ignore[list-item]
                line += f" {_scaled(*scaled)} |" if scaled else " |"
            print(line, flush=True)


if __name__ == "__main__":
    main()
