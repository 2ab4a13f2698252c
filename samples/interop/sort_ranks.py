"""a sort over ranks: each key goes to the rank that it belongs to, which sorts what it gets.

    python samples/interop/sort_ranks.py [--save keys.png]     # one rank
    python -m cudapy ranks 4 samples/interop/sort_ranks.py     # four
    torchrun --nproc-per-node=4 samples/interop/sort_ranks.py
    mpiexec -n 4 python samples/interop/sort_ranks.py

Each rank has keys of all sizes. A histogram of a coarse kind, added up over the ranks, tells where to cut
the range of keys so that all ranks get about as many. A kernel counts the keys for each rank and one puts
them side by side; an all_to_all tells the ranks how many keys they get from whom, and the keys follow,
parts of any length, with a send and a receive for each pair of ranks in one group. A bitonic sort on each
rank is the end. On a GPU all of it is done twice, the first time as a warm-up. The check is NumPy's sort of
all keys, and the chart how the keys were and are distributed.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
import time

import numpy as np

from cudapy import pathfinder, simulator
from cudapy.core import Buffer, Communicator, LaunchConfig, Program, Stream, launch

KERNEL = """
extern "C" __global__ void histogram(const unsigned *keys, int n, unsigned *bins, int shift)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(&bins[keys[i] >> shift], 1);
}

// owner[bin]: the rank that gets the keys of a bin
extern "C" __global__ void count(const unsigned *keys, int n, const int *owner, int shift, unsigned *counts)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(&counts[owner[keys[i] >> shift]], 1);
}

// next[rank]: where the next key for a rank goes
extern "C" __global__ void distribute(const unsigned *keys, int n, const int *owner, int shift,
                                      unsigned *next, unsigned *parted)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        parted[atomicAdd(&next[owner[keys[i] >> shift]], 1)] = keys[i];
}

// One step of a bitonic sort of `half` pairs
extern "C" __global__ void compare(unsigned *keys, int half, int run, int distance)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= half)
        return;
    int i = 2 * t - (t & (distance - 1)), j = i + distance;
    unsigned a = keys[i], b = keys[j];
    if ((a > b) == ((i & run) == 0)) {
        keys[i] = b;
        keys[j] = a;
    }
}
"""
BINS, SHIFT, THREADS = 256, 24, 256
SMALL, LARGE = 1000, 3 << 20
"""Keys of a rank: on the simulator, and on a GPU. A third more still fit into the same power of two."""


def numbers(rank: int, n: int) -> np.ndarray:
    """The keys of a rank: far more small ones than large ones."""
    return (np.random.default_rng(rank).random(n) ** 3 * 2.0**32).astype(np.uint32)


def save(file: str, before: list[np.ndarray], after: list[np.ndarray]) -> None:
    """Write a chart of which rank had and has which keys."""
    from matplotlib.figure import Figure

    figure = Figure()
    bins = np.linspace(0, 2.0**32, 65)
    names = [f"rank {rank}" for rank in range(len(before))]
    plots = (before, after), ("before", "after")
    for axes, keys, title in zip(figure.subplots(2, sharex=True), *plots, strict=True):
        axes.hist(keys, bins=bins, stacked=True, label=names)
        axes.set(ylabel="keys", title=title, yscale="log")
    axes.legend()
    figure.savefig(file)
    print(f"written to {file}")


def main() -> int:
    parser = argparse.ArgumentParser(description="A sort over ranks.")
    parser.add_argument("--keys", type=int, help=f"how many each rank has ({LARGE} on a GPU)")
    parser.add_argument("--save", metavar="PNG", help="write a chart of the keys there (needs Matplotlib)")
    chosen = parser.parse_args()
    if chosen.save and not importlib.util.find_spec("matplotlib"):
        parser.error("--save needs Matplotlib: pip install matplotlib")
    if chosen.keys is not None and not 1 <= chosen.keys <= 1 << 24:
        parser.error("--keys must be 1 to 16777216")
    simulated = simulator.stand_in()
    try:
        pathfinder.load("nccl")
    except pathfinder.LibraryNotFound:
        print("WAIVED: needs NCCL: pip install nvidia-nccl-cu13, or nvidia-nccl-cu12")
        return 77
    with Communicator.from_environment() as comm:
        return sort(comm, chosen.keys or (SMALL if simulated else LARGE), chosen.save, simulated)


def owners(bins: np.ndarray, ranks: int) -> np.ndarray:
    """For each bin the rank that gets its keys, so that all get about as many."""
    middle = np.cumsum(bins, dtype=np.float64) - bins / 2
    found: np.ndarray = np.minimum(middle * ranks / bins.sum(), ranks - 1).astype(np.int32)
    return found


def over(threads: int) -> LaunchConfig:
    """A thread for each."""
    return LaunchConfig(grid=(threads + THREADS - 1) // THREADS, block=THREADS)


def part(keys: Buffer, first: int, length: int) -> Buffer:
    """`length` of the keys, from the first on."""
    return Buffer.from_handle(int(keys.handle) + 4 * int(first), 4 * int(length), owner=keys)


def largest(comm: Communicator, stream: Stream, value: float) -> float:
    """The largest of the ranks' values. All ranks have come here when one goes on."""
    array, buffer = np.array([value]), comm.device.allocate(8, stream)
    buffer.copy_from(array, stream=stream)
    comm.all_reduce(buffer, op="max", dtype=np.float64, stream=stream)
    buffer.copy_to(array, stream=stream)
    comm.sync(stream)
    return float(array[0])


def sort(comm: Communicator, n: int, file: str | None, simulated: bool) -> int:
    """The part of one rank. The exit code."""
    device = comm.device
    device.set_current()
    stream = device.create_stream()
    code = Program(KERNEL, "c++").compile("cubin")
    names = "histogram", "count", "distribute", "compare"
    histogram, count, distribute, compare = map(code.get_kernel, names)

    def there(array: np.ndarray) -> Buffer:
        buffer = device.allocate(array.nbytes, stream)
        buffer.copy_from(array, stream=stream)
        return buffer

    def here(buffer: Buffer, length: int) -> np.ndarray:
        array = np.empty(length, np.uint32)
        buffer.copy_to(array, stream=stream)
        comm.sync(stream)
        return array

    def sorted_keys() -> tuple[Buffer, int]:
        """The part of all keys that this rank gets, sorted, and how many that are."""
        # Who gets what: bins of all ranks, and the same cuts on each.
        bins = there(np.zeros(BINS, np.uint32))
        launch(stream, over(n), histogram, keys, n, bins, SHIFT)
        comm.all_reduce(bins, dtype=np.uint32, stream=stream)
        owner = there(owners(here(bins, BINS), comm.size))

        # How many each rank sends to each, and the keys side by side for that.
        counts, incoming = there(np.zeros(comm.size, np.uint32)), device.allocate(4 * comm.size, stream)
        launch(stream, over(n), count, keys, n, owner, SHIFT, counts)
        comm.all_to_all(counts, incoming, dtype=np.uint32, stream=stream)
        outgoing, arriving = here(counts, comm.size), here(incoming, comm.size)
        firsts, places = (np.cumsum(each) - each for each in (outgoing, arriving))
        parted = device.allocate(4 * n, stream)
        launch(stream, over(n), distribute, keys, n, owner, SHIFT, there(firsts.astype(np.uint32)), parted)

        # The keys themselves; behind them the largest number, up to a power of two.
        length = int(arriving.sum())
        size = 1 << max(1, (length - 1).bit_length())
        got = device.allocate(4 * size, stream)
        got.fill(0xFF, stream=stream)
        with comm.group():
            for peer in range(comm.size):
                if outgoing[peer]:
                    comm.send(part(parted, firsts[peer], outgoing[peer]), peer, stream=stream)
                if arriving[peer]:
                    comm.recv(part(got, places[peer], arriving[peer]), peer, stream=stream)
        run = 2
        while run <= size:
            distance = run // 2
            while distance:
                launch(stream, over(size // 2), compare, got, size // 2, run, distance)
                distance //= 2
            run *= 2
        return got, length

    keys = there(numbers(comm.rank, n))
    for _ in range(1 if simulated else 2):  # the first is a warm-up
        largest(comm, stream, 0)  # they start together
        start = time.perf_counter()
        got, length = sorted_keys()
        stream.sync()
        seconds = time.perf_counter() - start
    slowest = largest(comm, stream, seconds)

    # Each rank checks all: the lengths of the parts, and the parts, padded to one length.
    lengths, every = device.allocate(4 * comm.size, stream), device.allocate(4 * n * comm.size**2, stream)
    padded = there(np.zeros(n * comm.size, np.uint32))
    if length:
        part(padded, 0, length).copy_from(part(got, 0, length), stream=stream)
    comm.all_gather(there(np.array([length], np.uint32)), lengths, dtype=np.uint32, stream=stream)
    comm.all_gather(padded, every, dtype=np.uint32, stream=stream)
    long = here(lengths, comm.size)
    rows = here(every, n * comm.size**2).reshape(comm.size, -1)
    after = [row[:used] for row, used in zip(rows, long, strict=True)]
    before = [numbers(rank, n) for rank in range(comm.size)]
    right = np.array_equal(np.concatenate(after), np.sort(np.concatenate(before)))
    if comm.rank == 0:
        print(f"{comm.size} rank(s) of {n} keys, sorted to {long.min()} to {long.max()}")
        if not simulated:
            print(f"the slowest of {comm.size} took {slowest * 1e3:.3f} ms")
        if file:
            save(file, before, after)
        print("PASS" if right else "FAIL")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
