"""the wave equation over ranks: a slab of space for each, and halos that travel beside the work.

    python samples/interop/wave_ranks.py [--save wave.png]     # one rank
    python -m cudapy ranks 4 samples/interop/wave_ranks.py     # four
    torchrun --nproc-per-node=4 samples/interop/wave_ranks.py
    mpiexec -n 4 python samples/interop/wave_ranks.py

A wave in three dimensions by finite differences of order four. With each rank space is deeper by one slab,
so that a rank's work stays the same. A slab has two planes of each neighbour as well, its halo: a step
computes the outermost planes first and sends them to the neighbours with NCCL, in a stream of their own,
while the planes between them are computed. NumPy's same arithmetic on all of space is the check, and the
chart is a cut through the source, with the slabs.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys

import numpy as np

from cudapy import pathfinder, simulator
from cudapy.core import Buffer, Communicator, LaunchConfig, Program, ProgramOptions, Stream, launch

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
WIDTH, HEIGHT, PLANES = 32, 32, 12  # of one slab


def start(depth: int) -> np.ndarray:
    """The field at first: a bump in the middle, and two planes of zeros at both ends."""
    z, y, x = np.ogrid[:depth, :HEIGHT, :WIDTH]
    square = (z - depth // 2) ** 2 + (y - HEIGHT // 2) ** 2 + (x - WIDTH // 2) ** 2
    field = np.zeros((depth, HEIGHT, WIDTH), np.float32)
    inside = (slice(RADIUS, -RADIUS),) * 3
    field[inside] = np.exp(-square / 6.0)[inside]
    return field


def on_the_host(depth: int, steps: int) -> np.ndarray:
    """All planes at once, in the same order of operations."""
    before, now = start(depth), start(depth)
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
    cut = field[:, HEIGHT // 2]
    limit = np.abs(cut).max()
    picture = axes.imshow(cut, cmap="seismic", vmin=-limit, vmax=limit, aspect="auto")
    for rank in range(1, ranks):
        axes.axhline(rank * PLANES - 0.5, color="black", linewidth=0.5)
    axes.set(xlabel="x", ylabel="z", title=f"a wave in {ranks} slab(s)")
    figure.colorbar(picture)
    figure.savefig(file)
    print(f"written to {file}")


def main() -> int:
    parser = argparse.ArgumentParser(description="The wave equation over ranks.")
    parser.add_argument("--steps", type=int, default=8, help="how many are made")
    parser.add_argument("--save", metavar="PNG", help="write a chart of the wave there (needs Matplotlib)")
    chosen = parser.parse_args()
    if chosen.save and not importlib.util.find_spec("matplotlib"):
        parser.error("--save needs Matplotlib: pip install matplotlib")
    if chosen.steps < 0:
        parser.error("--steps must be 0 or more")
    simulator.stand_in()
    try:
        pathfinder.load("nccl")
    except pathfinder.LibraryNotFound:
        print("WAIVED: needs NCCL: pip install nvidia-nccl-cu13, or nvidia-nccl-cu12")
        return 77
    with Communicator.from_environment() as comm:
        return propagate(comm, chosen.steps, chosen.save)


def propagate(comm: Communicator, steps: int, file: str | None) -> int:
    """The part of one rank. The exit code."""
    device = comm.device
    device.set_current()
    compute, halos = device.create_stream(), device.create_stream()
    code = Program(KERNEL, "c++", ProgramOptions(fma=False)).compile("cubin")  # rounds as NumPy does
    kernel = code.get_kernel("advance")
    depth, plane = comm.size * PLANES, 4 * WIDTH * HEIGHT
    slab = np.zeros((PLANES + 2 * RADIUS, HEIGHT, WIDTH), np.float32)
    everything = np.pad(start(depth), ((RADIUS, RADIUS), (0, 0), (0, 0)))
    slab[:] = everything[comm.rank * PLANES : comm.rank * PLANES + len(slab)]
    now, following = (device.allocate(slab.nbytes, compute) for _ in range(2))
    for field in (now, following):
        field.copy_from(slab, stream=compute)

    # The planes of the slab from the first that is computed to the last: the ends of space stay zero.
    low = 2 * RADIUS if comm.rank == 0 else RADIUS
    high = PLANES if comm.rank == comm.size - 1 else PLANES + RADIUS

    def advance(stream: Stream, first: int, last: int) -> None:
        first, last = max(first, low), min(last, high)
        if first < last:
            config = LaunchConfig(grid=((WIDTH + 31) // 32, (HEIGHT + 7) // 8, last - first), block=(32, 8))
            launch(stream, config, kernel, now, following, WIDTH, HEIGHT, first, last)

    def planes(field: Buffer, first: int) -> Buffer:
        return Buffer.from_handle(int(field.handle) + first * plane, RADIUS * plane, owner=field)

    for _ in range(steps):
        halos.wait(compute.record())  # what the last step made
        advance(halos, RADIUS, 2 * RADIUS)
        advance(halos, PLANES, PLANES + RADIUS)
        advance(compute, 2 * RADIUS, PLANES)
        with comm.group():
            for peer, mine, theirs in (
                (comm.rank - 1, RADIUS, 0),
                (comm.rank + 1, PLANES, PLANES + RADIUS),
            ):
                if 0 <= peer < comm.size:
                    comm.send(planes(following, mine), peer, stream=halos)
                    comm.recv(planes(following, theirs), peer, stream=halos)
        compute.wait(halos.record())
        now, following = following, now

    whole = device.allocate(depth * plane, compute)
    inner = Buffer.from_handle(int(now.handle) + RADIUS * plane, PLANES * plane, owner=now)
    comm.all_gather(inner, whole, stream=compute)
    wave = np.empty((depth, HEIGHT, WIDTH), np.float32)
    whole.copy_to(wave, stream=compute)
    comm.sync(compute)
    right = np.array_equal(wave, on_the_host(depth, steps)) and 0 < np.abs(wave).max() <= 1
    if comm.rank == 0:
        print(f"{comm.size} rank(s) of {WIDTH} x {HEIGHT} x {PLANES} points, {steps} steps")
        print(f"the highest point is {np.abs(wave).max():.4f}")
        if file:
            save(file, wave, comm.size)
        print("PASS" if right else "FAIL")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
