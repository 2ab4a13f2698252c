"""distributed: buffers that leave the machine, with torch.distributed and NCCL.

    python samples/interop/distributed_nccl.py
    torchrun --nnodes=2 --nproc-per-node=8 ... samples/interop/distributed_nccl.py

Moving data between machines is NCCL's business, and PyTorch starts it. A buffer of cudapy becomes a tensor
without a copy, kernels of one's own work on it before and after, and all_reduce adds up what all processes
have. Run as it stands it starts a process for each device of this machine; under torchrun it takes part in
what that starts.
"""

from __future__ import annotations

import os
import socket
import sys
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from cudapy import simulator
from cudapy.core import Device, LaunchConfig, Program, Stream, launch

KERNEL = """
extern "C" __global__ void fill(float *x, float value) { x[blockIdx.x * blockDim.x + threadIdx.x] = value; }
"""
N, THREADS = 1 << 20, 256


def work(rank: int, world: int, ordinal: int) -> bool:
    """Fill a buffer with the rank, add up all ranks, look at the sum."""
    torch: Any = import_module("torch")
    distributed: Any = import_module("torch.distributed")
    torch.cuda.set_device(ordinal)
    distributed.init_process_group("nccl", rank=rank, world_size=world)
    device = Device(ordinal)
    device.set_current()
    stream = Stream.from_handle(torch.cuda.current_stream().cuda_stream)
    fill = Program(KERNEL, "c++").compile("cubin").get_kernel("fill")
    buffer = device.allocate(4 * N, stream=stream)
    launch(stream, LaunchConfig(grid=N // THREADS, block=THREADS), fill, buffer, float(rank + 1))
    tensor = torch.from_dlpack(buffer).view(torch.float32)
    distributed.all_reduce(tensor)
    right = bool((tensor == world * (world + 1) / 2).all())
    distributed.destroy_process_group()
    return right


def spawned(rank: int, world: int, port: int) -> None:
    """A process that `main` started."""
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    sys.exit(0 if work(rank, world, rank) else 1)


def main() -> int:
    if not find_spec("torch"):
        print("WAIVED: needs PyTorch")
        return 77
    if simulator.stand_in():
        print("WAIVED: PyTorch needs a GPU")
        return 77
    torch: Any = import_module("torch")
    distributed: Any = import_module("torch.distributed")
    if not torch.cuda.is_available() or not distributed.is_nccl_available():
        print("WAIVED: needs a GPU, and PyTorch with NCCL")
        return 77
    if "RANK" in os.environ:  # started by torchrun
        world = int(os.environ["WORLD_SIZE"])
        right = work(int(os.environ["RANK"]), world, int(os.environ["LOCAL_RANK"]))
    else:
        import multiprocessing

        world = torch.cuda.device_count()
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        context = multiprocessing.get_context("spawn")
        processes = [context.Process(target=spawned, args=(rank, world, port)) for rank in range(world)]
        for process in processes:
            process.start()
        for process in processes:
            process.join()
        right = all(process.exitcode == 0 for process in processes)
    print(f"{world} process(es) added up {N} numbers each")
    print("PASS" if right else "FAIL")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
