"""saxpy over ranks: a device for each, and NCCL between them.

    python samples/interop/saxpy_ranks.py [--save times.png]               # one rank
    python -m cudapy ranks 4 samples/interop/saxpy_ranks.py                # four
    torchrun --nproc-per-node=4 samples/interop/saxpy_ranks.py
    mpiexec -n 4 python samples/interop/saxpy_ranks.py

Each rank computes a part of its own: with more ranks there is more to do, and it takes as long (weak
scaling). The first rank alone measures, then the first two, four and so on up to all, with a communicator for
each number; the slowest one's time is the time of all. The kernel runs several times in a row, so that there
is more to measure, and the first round of these is a warm-up. The check is of the sum over all ranks, which
NumPy knows from the numbers. The chart has the time of each number of ranks.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys

import numpy as np

from cudapy import pathfinder, simulator
from cudapy.core import Communicator, EventOptions, LaunchConfig, Program, launch

KERNEL = """
extern "C" __global__ void saxpy(float a, const float *x, float *y, size_t n)
{
    size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = a * x[i] + y[i];
}
"""
THREADS, A, ROUNDS = 256, 2.0, 4
SMALL, LARGE = (1 << 18, 1), (1 << 26, 20)
"""Elements of a rank and launches of a round: on the simulator, and on a GPU."""


def numbers(rank: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    """x and y of a rank: whole numbers, whose sums are exact."""
    index = np.arange(35)
    x, y = (index + rank) % 7, (index * 3 + rank) % 5
    return np.resize(x.astype(np.float32), n), np.resize(y.astype(np.float32), n)  # again and again


def save(file: str, times: dict[int, float], n: int) -> None:
    """Write a chart of the time of each number of ranks."""
    from matplotlib.figure import Figure

    axes = (figure := Figure()).subplots()
    axes.plot(list(times), list(times.values()), "o-", label="the slowest rank")
    axes.axhline(times[1], linestyle="--", label="one rank")
    axes.set(xlabel="ranks", ylabel="ms", title=f"SAXPY, {n} elements for each rank", ylim=(0, None))
    axes.set_xticks(list(times))
    axes.legend()
    figure.savefig(file)
    print(f"written to {file}")


def main() -> int:
    parser = argparse.ArgumentParser(description="SAXPY over ranks.")
    parser.add_argument("--elements", type=int, help=f"how many each rank has ({LARGE[0]} on a GPU)")
    parser.add_argument("--save", metavar="PNG", help="write a chart of the times there (needs Matplotlib)")
    chosen = parser.parse_args()
    if chosen.save and not importlib.util.find_spec("matplotlib"):
        parser.error("--save needs Matplotlib: pip install matplotlib")
    if chosen.elements is not None and not 1 <= chosen.elements <= 1 << 31:
        parser.error("--elements must be 1 to 2147483648")
    simulated = simulator.stand_in()
    elements, launches = SMALL if simulated else LARGE
    try:
        pathfinder.load("nccl")
    except pathfinder.LibraryNotFound:
        print("WAIVED: needs NCCL: pip install nvidia-nccl-cu13, or nvidia-nccl-cu12")
        return 77
    with Communicator.from_environment() as comm:
        return saxpy(comm, chosen.elements or elements, launches, chosen.save, simulated)


def saxpy(comm: Communicator, n: int, launches: int, file: str | None, simulated: bool) -> int:
    """The part of one rank, and what all of them have. The exit code."""
    device = comm.device
    device.set_current()
    stream = device.create_stream()
    kernel = Program(KERNEL, "c++").compile("cubin").get_kernel("saxpy")
    x, y = numbers(comm.rank, n)
    on_device = [device.allocate(x.nbytes, stream) for _ in range(2)]
    on_device[0].copy_from(x, stream=stream)
    found = device.allocate(8, stream)  # a number that all ranks need to know of each other
    timed = EventOptions(timing_enabled=True)
    config = LaunchConfig(grid=(n + THREADS - 1) // THREADS, block=THREADS)
    result, value = np.empty_like(y), np.empty(1)
    times: dict[int, float] = {}
    sizes = [size for size in (1 << bit for bit in range(comm.size.bit_length())) if size < comm.size]
    for size in [*sizes, comm.size]:
        part = comm.split(0 if comm.rank < size else None)
        if part is None:  # this rank comes later
            continue
        best = np.inf
        for _ in range(ROUNDS):
            on_device[1].copy_from(y, stream=stream)
            part.all_reduce(found, dtype=np.float64, stream=stream)  # they start together
            before = stream.record(options=timed)
            for _ in range(launches):
                launch(stream, config, kernel, A, *on_device, n)
            after = stream.record(options=timed)
            part.sync(stream)
            best = min(best, after - before)
        value[0] = best
        found.copy_from(value, stream=stream)
        part.all_reduce(found, op="max", dtype=np.float64, stream=stream)
        found.copy_to(value, stream=stream)
        part.sync(stream)
        times[size] = value[0]
        part.close()

    on_device[1].copy_to(result, stream=stream)
    stream.sync()
    value[0] = result.sum(dtype=np.float64)
    found.copy_from(value, stream=stream)
    comm.all_reduce(found, dtype=np.float64, stream=stream)
    found.copy_to(value, stream=stream)
    comm.sync(stream)
    sums = [[part.sum(dtype=np.float64) for part in numbers(rank, n)] for rank in range(comm.size)]
    right = value[0] == sum(launches * A * x + y for x, y in sums)
    if comm.rank == 0:
        print(f"{comm.size} rank(s) of {n} elements, their sum is {value[0]:.1f}")
        if not simulated:
            for size, time in times.items():
                print(f"the slowest of {size} took {time:.3f} ms")
        if file:
            save(file, times, n)
        print("PASS" if right else "FAIL")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
