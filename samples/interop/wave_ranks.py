"""the wave equation over ranks: a slab of space for each, and halos that travel beside the work.

    python samples/interop/wave_ranks.py [--save wave.png]     # one rank
    python -m cudapy ranks 4 samples/interop/wave_ranks.py     # four
    torchrun --nproc-per-node=4 samples/interop/wave_ranks.py
    mpiexec -n 4 python samples/interop/wave_ranks.py

A wave in three dimensions by finite differences of order four. With each rank space is deeper by one slab,
so that a rank's work stays the same. A slab has two planes of each neighbour as well, its halo: a step
computes the outermost planes first and sends them to the neighbours with NCCL, in a stream of their own,
while the planes between them are computed. On a GPU the wave starts twice, the first time as a warm-up. The
check is NumPy's same arithmetic on the part of space that the wave can have reached, and zero elsewhere. The
chart is a cut through the source, with the slabs.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
from typing import NamedTuple

import numpy as np

from cudapy import pathfinder, simulator
from cudapy.core import (
    Buffer,
    Communicator,
    EventOptions,
    LaunchConfig,
    Program,
    ProgramOptions,
    Stream,
    launch,
)

KERNEL = """
const int RADIUS = 2;
__constant__ float weights[RADIUS + 1] = {-5.0f / 2, 4.0f / 3, -1.0f / 12};

// next = 2 now - before + C2 * (d2/dx2 + d2/dy2 + d2/dz2) now, where `next` holds the field before; planes
// `first` to `last` of the slab, but for a frame of RADIUS in x and y.
extern "C" __global__ void advance(const float *now, float *next, int width, int height, int first, int last)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    int z = first + blockIdx.z;
    if (x < RADIUS || x >= width - RADIUS || y < RADIUS || y >= height - RADIUS || z >= last)
        return;
    int plane = width * height, i = z * plane + y * width + x;
    float sum = 3 * weights[0] * now[i];
    for (int k = 1; k <= RADIUS; ++k)
        sum += weights[k] * (now[i - k] + now[i + k] + now[i - k * width] + now[i + k * width]
                             + now[i - k * plane] + now[i + k * plane]);
    next[i] = 2 * now[i] - next[i] + 0.125f * sum;
}
"""
RADIUS = 2
WEIGHTS = np.array([-5 / 2, 4 / 3, -1 / 12], np.float32)
REACH = 26
"""How far from the source the field is not zero at first: beyond, the bump is less than any float32."""


class Size(NamedTuple):
    """Points of space in x and in y, planes of a slab, and steps."""

    width: int
    planes: int
    steps: int


SMALL, LARGE = Size(32, 12, 8), Size(512, 256, 20)
"""On the simulator, and on a GPU."""


def start(depth: int, width: int) -> np.ndarray:
    """The field at first: a bump in the middle, and two planes of zeros at all ends."""
    z, y, x = (
        np.exp(-((np.arange(n) - n // 2) ** 2) / 6.0).astype(np.float32) for n in (depth, width, width)
    )
    field = np.zeros((depth, width, width), np.float32)
    inside = (slice(RADIUS, -RADIUS),) * 3
    field[inside] = (z[:, None, None] * (y[:, None] * x))[inside]
    return field


def reached(depth: int, width: int, steps: int) -> tuple[slice, ...]:
    """The part of space that is not zero after so many steps, at most, and RADIUS more."""
    far = REACH + RADIUS * (steps + 1)
    return tuple(slice(max(n // 2 - far, 0), min(n // 2 + far + 1, n)) for n in (depth, width, width))


def on_the_host(field: np.ndarray, steps: int) -> np.ndarray:
    """The field after so many steps: all planes at once, in the same order of operations."""
    before, now = field.copy(), field.copy()
    inside = (slice(RADIUS, -RADIUS),) * 3

    def moved(axis: int, by: int) -> np.ndarray:
        where = list(inside)
        where[axis] = slice(RADIUS + by, now.shape[axis] - RADIUS + by)
        return now[tuple(where)]

    for _ in range(steps):
        total = 3 * WEIGHTS[0] * now[inside]
        for k in range(1, RADIUS + 1):
            around = moved(2, -k) + moved(2, k) + moved(1, -k) + moved(1, k) + moved(0, -k) + moved(0, k)
            total = total + WEIGHTS[k] * around
        new = before[inside]
        new[:] = 2 * now[inside] - new + np.float32(0.125) * total
        before, now = now, before
    return now


def save(file: str, field: np.ndarray, ranks: int) -> None:
    """Write a chart of the cut through the source."""
    from matplotlib.figure import Figure

    axes = (figure := Figure()).subplots()
    cut = field[:, field.shape[1] // 2]
    limit = np.abs(cut).max()
    picture = axes.imshow(cut, cmap="seismic", vmin=-limit, vmax=limit, aspect="auto")
    for rank in range(1, ranks):
        axes.axhline(rank * len(field) / ranks - 0.5, color="black", linewidth=0.5)
    axes.set(xlabel="x", ylabel="z", title=f"a wave in {ranks} slab(s)")
    figure.colorbar(picture)
    figure.savefig(file)
    print(f"written to {file}")


def main() -> int:
    parser = argparse.ArgumentParser(description="The wave equation over ranks.")
    parser.add_argument("--width", type=int, help=f"points of space in x and in y ({LARGE.width} on a GPU)")
    parser.add_argument("--planes", type=int, help=f"how many each rank has ({LARGE.planes} on a GPU)")
    parser.add_argument("--steps", type=int, help=f"how many are made ({LARGE.steps} on a GPU)")
    parser.add_argument("--save", metavar="PNG", help="write a chart of the wave there (needs Matplotlib)")
    chosen = parser.parse_args()
    if chosen.save and not importlib.util.find_spec("matplotlib"):
        parser.error("--save needs Matplotlib: pip install matplotlib")
    simulated = simulator.stand_in()
    default = SMALL if simulated else LARGE
    asked = chosen.width, chosen.planes, chosen.steps
    size = Size(*(one if given is None else given for one, given in zip(default, asked, strict=True)))
    least = Size(2 * RADIUS + 1, 2 * RADIUS + 1, 0)
    for name, number, limit in zip(Size._fields, size, least, strict=True):
        if number < limit:
            parser.error(f"--{name} must be {limit} or more")
    try:
        pathfinder.load("nccl")
    except pathfinder.LibraryNotFound:
        print("WAIVED: needs NCCL: pip install nvidia-nccl-cu13, or nvidia-nccl-cu12")
        return 77
    with Communicator.from_environment() as comm:
        return propagate(comm, size, chosen.save, simulated)


def largest(comm: Communicator, stream: Stream, value: float) -> float:
    """The largest of the ranks' values. All ranks have come here when one goes on."""
    array, buffer = np.array([value]), comm.device.allocate(8, stream)
    buffer.copy_from(array, stream=stream)
    comm.all_reduce(buffer, op="max", dtype=np.float64, stream=stream)
    buffer.copy_to(array, stream=stream)
    comm.sync(stream)
    return float(array[0])


def propagate(comm: Communicator, size: Size, file: str | None, simulated: bool) -> int:
    """The part of one rank. The exit code."""
    device = comm.device
    device.set_current()
    compute, halos = device.create_stream(), device.create_stream()
    code = Program(KERNEL, "c++", ProgramOptions(fma=False)).compile("cubin")  # rounds as NumPy does
    kernel = code.get_kernel("advance")
    width, count, steps = size
    depth, plane = comm.size * count, 4 * width * width
    first_field = start(depth, width)
    slab = np.zeros((count + 2 * RADIUS, width, width), np.float32)
    begin, end = max(comm.rank * count - RADIUS, 0), min((comm.rank + 1) * count + RADIUS, depth)
    skipped = begin - (comm.rank * count - RADIUS)  # the first slab has no neighbour there
    slab[skipped : skipped + end - begin] = first_field[begin:end]
    now, following = (device.allocate(slab.nbytes, compute) for _ in range(2))

    # The planes of the slab from the first that is computed to the last: the ends of space stay zero.
    low = 2 * RADIUS if comm.rank == 0 else RADIUS
    high = count if comm.rank == comm.size - 1 else count + RADIUS

    def advance(stream: Stream, first: int, last: int) -> None:
        first, last = max(first, low), min(last, high)
        if first < last:
            config = LaunchConfig(grid=((width + 31) // 32, (width + 7) // 8, last - first), block=(32, 8))
            launch(stream, config, kernel, now, following, width, width, first, last)

    def planes(field: Buffer, first: int) -> Buffer:
        return Buffer.from_handle(int(field.handle) + first * plane, RADIUS * plane, owner=field)

    timed = EventOptions(timing_enabled=True)
    for _ in range(1 if simulated else 2):  # the first is a warm-up
        for field in (now, following):
            field.copy_from(slab, stream=compute)
        largest(comm, compute, 0)  # they start together
        before = compute.record(options=timed)
        for _ in range(steps):
            halos.wait(compute.record())  # what the last step made
            advance(halos, RADIUS, 2 * RADIUS)
            advance(halos, count, count + RADIUS)
            advance(compute, 2 * RADIUS, count)
            with comm.group():
                for peer, mine, theirs in (
                    (comm.rank - 1, RADIUS, 0),
                    (comm.rank + 1, count, count + RADIUS),
                ):
                    if 0 <= peer < comm.size:
                        comm.send(planes(following, mine), peer, stream=halos)
                        comm.recv(planes(following, theirs), peer, stream=halos)
            compute.wait(halos.record())
            now, following = following, now
        after = compute.record(options=timed)
        comm.sync(compute)
    slowest = largest(comm, compute, after - before)

    whole = device.allocate(depth * plane, compute)
    inner = Buffer.from_handle(int(now.handle) + RADIUS * plane, count * plane, owner=now)
    comm.all_gather(inner, whole, stream=compute)
    wave = np.empty((depth, width, width), np.float32)
    whole.copy_to(wave, stream=compute)
    comm.sync(compute)
    near = reached(depth, width, steps)
    right = np.array_equal(wave[near], on_the_host(first_field[near], steps))
    right = right and np.count_nonzero(wave) == np.count_nonzero(wave[near])
    highest = np.abs(wave[near]).max()
    right = right and 0 < highest <= 1
    if comm.rank == 0:
        print(f"{comm.size} rank(s) of {width} x {width} x {count} points, {steps} steps")
        print(f"the highest point is {highest:.4f}")
        if not simulated:
            print(f"the slowest of {comm.size} took {slowest:.3f} ms")
        if file:
            save(file, wave, comm.size)
        print("PASS" if right else "FAIL")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
