"""Two ranks of torch.distributed that make the same calls in another order: a deadlock, as with NCCL."""

from __future__ import annotations

import socket

import torch
import torch.distributed as dist
from torch import multiprocessing


def main(rank: int, size: int, port: int) -> None:
    """What one of the processes does."""
    torch.cuda.set_device(rank)
    device = torch.device("cuda", rank)
    address = f"tcp://127.0.0.1:{port}"
    dist.init_process_group("nccl", init_method=address, rank=rank, world_size=size, device_id=device)
    groups = [dist.new_group([0, 1]) for _ in range(2)]
    value = torch.ones(4, device="cuda")
    for group in groups if rank else reversed(groups):
        dist.all_reduce(value, group=group)
        torch.cuda.synchronize()


if __name__ == "__main__":
    with socket.create_server(("127.0.0.1", 0)) as server:
        free = server.getsockname()[1]
    multiprocessing.spawn(main, (2, free), 2)
