"""`torch.distributed` with NCCL: DDP, FSDP, and collectives, in a process for each device.

The losses of several devices are those of one.
"""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Callable, Iterator
from typing import Any

import torch
import torch.distributed as dist
from torch import multiprocessing, nn
from torch.distributed.fsdp import FullyShardedDataParallel, fully_shard
from torch.nn import functional
from torch.nn.parallel import DistributedDataParallel

STEPS = 10


def mlp() -> nn.Sequential:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 4))


def sharded(model: nn.Sequential) -> nn.Module:
    """FSDP's second interface: a group for each layer."""
    for layer in model:
        fully_shard(layer)
    return fully_shard(model)


WRAPPERS: dict[str, Callable[[nn.Sequential], nn.Module]] = {
    "DDP": DistributedDataParallel,
    "FSDP": lambda model: FullyShardedDataParallel(model, device_id=torch.cuda.current_device()),
    "fully_shard": sharded,
}


def losses(wrap: Callable[[nn.Sequential], nn.Module], rank: int, size: int) -> Iterator[Any]:
    """The loss of each step, over the samples of this rank."""
    model = wrap(mlp().to(torch.cuda.current_device()))
    optimizer = torch.optim.AdamW(model.parameters(), 1e-2)
    generator = torch.Generator().manual_seed(1)
    inputs = torch.randn(24, 16, generator=generator)[rank::size].cuda()
    labels = torch.randint(4, (24,), generator=generator)[rank::size].cuda()
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = functional.cross_entropy(model(inputs), labels)
        loss.backward()
        optimizer.step()
        yield loss.detach()


def collectives(rank: int, size: int) -> None:
    """What NCCL has, by the functions of torch.distributed."""
    mine = torch.full((4,), rank + 1.0, device="cuda")
    total = mine.clone()
    dist.all_reduce(total)
    assert (total == size * (size + 1) / 2).all()
    gathered = [torch.empty_like(mine) for _ in range(size)]
    dist.all_gather(gathered, mine)
    assert [each[0].item() for each in gathered] == [*range(1, size + 1)]
    part = torch.empty(2, device="cuda", dtype=torch.bfloat16)
    dist.reduce_scatter_tensor(part, torch.ones(2 * size, device="cuda", dtype=torch.bfloat16))
    assert (part == size).all()
    there = torch.empty(size, device="cuda")
    dist.all_to_all_single(there, torch.full((size,), float(rank), device="cuda"))
    assert there.tolist() == [*map(float, range(size))]
    ring = [dist.P2POp(dist.isend, mine, (rank + 1) % size), dist.P2POp(dist.irecv, total, (rank - 1) % size)]
    for work in dist.batch_isend_irecv(ring):
        work.wait()
    assert (total == (rank - 1) % size + 1).all()
    value = torch.full((3,), float(rank), device="cuda")
    dist.broadcast(value, size - 1)
    assert (value == size - 1).all()
    pair = dist.new_group([0, 1])
    if rank < 2:
        dist.all_reduce(value, group=pair)
        assert (value == 2 * size - 2).all()
    objects: list[Any] = [None] * size
    dist.all_gather_object(objects, {"rank": rank})
    assert objects == [{"rank": each} for each in range(size)]
    dist.barrier()


def main(rank: int, size: int, port: int) -> None:
    """What one of the processes does."""
    torch.cuda.set_device(rank)
    device = torch.device("cuda", rank)
    address = f"tcp://127.0.0.1:{port}"
    dist.init_process_group("nccl", init_method=address, rank=rank, world_size=size, device_id=device)
    collectives(rank, size)
    one = [loss.item() for loss in losses(lambda model: model, 0, 1)]
    for name, wrap in WRAPPERS.items():
        found = []
        for loss in losses(wrap, rank, size):
            dist.all_reduce(loss, dist.ReduceOp.AVG)
            found.append(loss.item())
        torch.testing.assert_close(found, one, rtol=1e-4, atol=1e-5)
        if rank == 0:
            print(f"{name} on {size} devices: loss {found[0]:.3f} to {found[-1]:.4f}, as on one", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else torch.cuda.device_count()
    with socket.create_server(("127.0.0.1", 0)) as server:
        free = server.getsockname()[1]
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    multiprocessing.spawn(main, (count, free), count)
