"""a matrix product over ranks: the parts of one factor go round a ring while they are multiplied.

    python samples/interop/matrix_mul_ranks.py [--save times.png]    # one rank
    python -m cudapy ranks 4 samples/interop/matrix_mul_ranks.py     # four
    torchrun --nproc-per-node=4 samples/interop/matrix_mul_ranks.py
    mpiexec -n 4 python samples/interop/matrix_mul_ranks.py

C = A B, where each rank has some rows of A, of B and of C. In each step a rank multiplies the columns of A
that belong to the rows of B that it has at the moment, and in another stream sends these rows to the next
rank and gets those of the rank before, into a second buffer: the transfer goes on while the kernel runs.
After as many steps as ranks each has seen all of B. On a GPU the product is computed twice, the first time as
a warm-up. The numbers are whole and the product exact: the check is NumPy's. The chart shows when each step's
kernel and transfer began and ended on each rank.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys

import numpy as np

from cudapy import pathfinder, simulator
from cudapy.core import Communicator, EventOptions, LaunchConfig, Program, launch

KERNEL = """
const int TILE = 16;

// c += a[:, first : first + rows] b, where c has a multiple of TILE rows and columns, and b `rows` rows
extern "C" __global__ void multiply(const float *a, const float *b, float *c, int n, int first, int rows)
{
    __shared__ float left[TILE][TILE], right[TILE][TILE];
    int x = threadIdx.x, y = threadIdx.y, column = blockIdx.x * TILE + x, row = blockIdx.y * TILE + y;
    float sum = c[row * n + column];
    for (int k = 0; k < rows; k += TILE) {
        left[y][x] = a[row * n + first + k + x];
        right[y][x] = b[(k + y) * n + column];
        __syncthreads();
        for (int i = 0; i < TILE; ++i)
            sum += left[y][i] * right[i][x];
        __syncthreads();
    }
    c[row * n + column] = sum;
}
"""
TILE = 16
LARGE = 4096  # rows of all ranks on a GPU


def save(file: str, times: np.ndarray) -> None:
    """Write a chart of when kernels and transfers ran. times[rank, step]: begin and end of both, in ms."""
    from matplotlib.figure import Figure

    axes = (figure := Figure()).subplots()
    for rank, steps in enumerate(times):
        kernels = [(begin, end - begin) for begin, end, _, _ in steps]
        transfers = [(begin, end - begin) for _, _, begin, end in steps if end > begin]
        axes.broken_barh(kernels, (rank, 0.4), color="tab:blue", label="" if rank else "kernel")
        axes.broken_barh(transfers, (rank + 0.4, 0.4), color="tab:orange", label="" if rank else "transfer")
    axes.set(xlabel="ms since the first step of the rank", ylabel="rank")
    axes.set_yticks([rank + 0.4 for rank in range(len(times))], [str(rank) for rank in range(len(times))])
    axes.legend()
    figure.savefig(file)
    print(f"written to {file}")


def main() -> int:
    parser = argparse.ArgumentParser(description="A matrix product over ranks.")
    parser.add_argument(
        "--size",
        type=int,
        help=f"rows and columns of the matrices, a multiple of 16 for each rank ({LARGE} on a GPU)",
    )
    parser.add_argument("--save", metavar="PNG", help="write a chart of the times there (needs Matplotlib)")
    chosen = parser.parse_args()
    if chosen.save and not importlib.util.find_spec("matplotlib"):
        parser.error("--save needs Matplotlib: pip install matplotlib")
    simulated = simulator.stand_in()
    try:
        pathfinder.load("nccl")
    except pathfinder.LibraryNotFound:
        print("WAIVED: needs NCCL: pip install nvidia-nccl-cu13, or nvidia-nccl-cu12")
        return 77
    with Communicator.from_environment() as comm:
        unit = TILE * comm.size
        n = (2 * unit if simulated else LARGE // unit * unit) if chosen.size is None else chosen.size
        if n < unit or n % unit:
            parser.error(f"--size must be a multiple of {unit} with {comm.size} rank(s), and not 0")
        return multiply(comm, n, chosen.save, simulated)


def multiply(comm: Communicator, n: int, file: str | None, simulated: bool) -> int:
    """The part of one rank. The exit code."""
    device = comm.device
    device.set_current()
    compute, ring = device.create_stream(), device.create_stream()
    kernel = Program(KERNEL, "c++").compile("cubin").get_kernel("multiply")
    rows = n // comm.size
    random = np.random.default_rng(1)
    a, b = (random.integers(-4, 5, (n, n)).astype(np.float32) for _ in range(2))
    mine = slice(comm.rank * rows, (comm.rank + 1) * rows)
    left, product, here, there = (device.allocate(4 * rows * n, compute) for _ in range(4))
    left.copy_from(a[mine], stream=compute)
    together = device.allocate(8, compute)
    together.fill(0, stream=compute)

    timed = EventOptions(timing_enabled=True)
    config = LaunchConfig(grid=(n // TILE, rows // TILE), block=(TILE, TILE))
    for _ in range(1 if simulated else 2):  # the first is a warm-up
        here.copy_from(b[mine], stream=compute)
        product.fill(0, stream=compute)
        comm.all_reduce(together, dtype=np.float64, stream=compute)  # they start together
        events = []
        for step in range(comm.size):
            owner = (comm.rank - step) % comm.size  # whose rows of B are here
            ready = compute.record(options=timed)
            launch(compute, config, kernel, left, here, product, n, owner * rows, rows)
            ring.wait(ready)  # the kernel before has read the buffer that is received into
            begin = ring.record(options=timed)
            if step < comm.size - 1:
                with comm.group():
                    comm.send(here, (comm.rank + 1) % comm.size, stream=ring)
                    comm.recv(there, (comm.rank - 1) % comm.size, stream=ring)
            sent = ring.record(options=timed)
            events.append((ready, compute.record(options=timed), begin, sent))
            compute.wait(sent)
            here, there = there, here

    found = np.empty((rows, n), np.float32)
    product.copy_to(found, stream=compute)
    comm.sync(compute)
    origin = events[0][0]
    times = np.array([[0.0 if event is origin else event - origin for event in step] for step in events])

    # Whether all ranks are right, and their times.
    wrong = np.array([np.count_nonzero(found != a[mine] @ b)], np.float64)
    of_all = np.empty((comm.size, *times.shape))
    count, one, every = (device.allocate(size, compute) for size in (8, times.nbytes, of_all.nbytes))
    count.copy_from(wrong, stream=compute)
    one.copy_from(times, stream=compute)
    comm.all_reduce(count, dtype=np.float64, stream=compute)
    comm.all_gather(one, every, dtype=np.float64, stream=compute)
    count.copy_to(wrong, stream=compute)
    every.copy_to(of_all, stream=compute)
    comm.sync(compute)
    if comm.rank == 0:
        print(f"{comm.size} rank(s), {n} x {n} elements, {int(wrong[0])} wrong")
        if not simulated:
            print(f"the slowest of {comm.size} took {of_all.max():.3f} ms")
        if file:
            save(file, of_all)
        print("FAIL" if wrong[0] else "PASS")
    return 1 if wrong[0] else 0


if __name__ == "__main__":
    sys.exit(main())
