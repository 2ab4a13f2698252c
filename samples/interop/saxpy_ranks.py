"""saxpy over ranks: a device for each, and NCCL between them.

    python samples/interop/saxpy_ranks.py               # one rank
    python samples/interop/saxpy_ranks.py 4             # four, which this starts itself
    torchrun --nproc-per-node=4 samples/interop/saxpy_ranks.py
    mpiexec -n 4 python samples/interop/saxpy_ranks.py

Each rank computes a part of its own: with more ranks there is more to do, and it takes as long (weak
scaling). Then they add up their sums with NCCL, and the slowest one's time is the time of all. The check is
of the sum over all ranks, which NumPy knows from the numbers.
"""

from __future__ import annotations

import os
import socket
import subprocess
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
N, THREADS, A = 1 << 20, 256, 2.0


def numbers(rank: int) -> tuple[np.ndarray, np.ndarray]:
    """x and y of a rank: whole numbers, whose sums are exact."""
    index = np.arange(N, dtype=np.int64)
    return ((index + rank) % 7).astype(np.float32), ((index * 3 + rank) % 5).astype(np.float32)


def start(ranks: int) -> int:
    """A process for each rank, with what torchrun would set. The exit code of the first that fails."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    told = {"WORLD_SIZE": str(ranks), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    processes = [
        subprocess.Popen(
            [sys.executable, __file__],
            env={**os.environ, **told, "RANK": str(rank), "LOCAL_RANK": str(rank)},
        )
        for rank in range(ranks)
    ]
    return max((process.wait() for process in processes), key=abs)


def main() -> int:
    if sys.argv[1:]:
        return start(int(sys.argv[1]))
    simulator.stand_in()
    try:
        pathfinder.load("nccl")
    except pathfinder.LibraryNotFound:
        print("WAIVED: needs NCCL: pip install nvidia-nccl-cu13, or nvidia-nccl-cu12")
        return 77
    with Communicator.from_environment() as comm:
        return saxpy(comm)


def saxpy(comm: Communicator) -> int:
    """The part of one rank, and what all of them have. The exit code."""
    device = comm.device
    device.set_current()
    stream = device.create_stream()
    kernel = Program(KERNEL, "c++").compile("cubin").get_kernel("saxpy")
    x, y = numbers(comm.rank)
    on_device = [device.allocate(x.nbytes, stream) for _ in range(2)]
    for buffer, array in zip(on_device, (x, y), strict=True):
        buffer.copy_from(array, stream=stream)

    timed = EventOptions(timing_enabled=True)
    config = LaunchConfig(grid=(N + THREADS - 1) // THREADS, block=THREADS)
    before = stream.record(options=timed)
    launch(stream, config, kernel, A, *on_device, N)
    after = stream.record(options=timed)
    result = np.empty_like(y)
    on_device[1].copy_to(result, stream=stream)
    stream.sync()

    # What all ranks need to know of each other: the sum of all, and the longest time.
    total, longest = np.array([result.sum(dtype=np.float64)]), np.array([after - before])
    there = device.allocate(16, stream)
    there.copy_from(np.concatenate([total, longest]), stream=stream)
    gathered = device.allocate(16 * comm.size, stream)
    comm.all_gather(there, gathered, dtype=np.float64, stream=stream)
    comm.all_reduce(there, dtype=np.float64, stream=stream)
    sums, every = np.empty(2), np.empty((comm.size, 2))
    there.copy_to(sums, stream=stream)
    gathered.copy_to(every, stream=stream)
    comm.sync(stream)

    parts = [numbers(rank) for rank in range(comm.size)]
    expected = sum(float((A * x + y).sum(dtype=np.float64)) for x, y in parts)
    right = sums[0] == expected == every[:, 0].sum()
    if comm.rank == 0:
        print(f"{comm.size} rank(s) of {N} elements, their sum is {sums[0]:.1f}")
        print(f"the slowest took {every[:, 1].max() * 1e3:.1f} us")
        print("PASS" if right else "FAIL")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
