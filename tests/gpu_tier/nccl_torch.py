"""PyTorch's all_reduce beside that of core, in the same processes, stream and run: how long they take.

PyTorch has a process group of its own over the same ranks. Its current stream is the stream that core uses,
so that both calls mean the same: the work begins after what is in the stream, and what comes after waits for
it. The two take turns in every round, and the ratios are medians of the rounds' ratios.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable
from datetime import timedelta
from importlib import import_module
from typing import Any

from cudapy import nccl
from cudapy.core import Communicator

PORT = "TIER_TORCH_PORT"
"""The variable with the port at which PyTorch's ranks meet."""
PATIENCE = 60.0
Told = dict[str, tuple[str, str, bool]]


def beside(comm: Communicator, small: bool) -> Told:
    """The figures, or why there are none."""
    try:
        torch = import_module("torch")
        distributed = import_module("torch.distributed")
    except ImportError as error:
        return _none("not installed" if getattr(error, "name", "") == "torch" else f"ImportError: {error}")
    except Exception as error:
        return _none(f"{type(error).__name__}: {error}")
    if not distributed.is_available() or not distributed.is_nccl_available():
        return _none(f"PyTorch {torch.__version__} is without NCCL")
    try:
        return _measured(comm, torch, distributed, small)
    except Exception as error:
        return _none(f"{type(error).__name__}: {error}")


def _none(why: str) -> Told:
    return {"torch.distributed": (why.splitlines()[0][:200], "", True)}


def _measured(comm: Communicator, torch: Any, distributed: Any, small: bool) -> Told:
    device = torch.device("cuda", comm.device.device_id)
    torch.cuda.set_device(device)
    distributed.init_process_group(
        "nccl",
        init_method=f"tcp://127.0.0.1:{os.environ[PORT]}",
        rank=comm.rank,
        world_size=comm.size,
        timeout=timedelta(seconds=PATIENCE),
        device_id=device,
    )
    try:
        stream = comm.device.create_stream()
        with torch.cuda.stream(torch.cuda.ExternalStream(int(stream.handle), device=device)):
            return _compared(comm, stream, torch, distributed, device, small)
    finally:
        distributed.destroy_process_group()


def _compared(
    comm: Communicator, stream: Any, torch: Any, distributed: Any, device: Any, small: bool
) -> Told:
    rounds, batch, size = (2, 3, 1 << 12) if small else (30, 100, 1 << 30)
    buffer = comm.device.allocate(64, stream)
    buffer.fill(0, stream=stream)
    tensor = torch.zeros(16, dtype=torch.float32, device=device)
    calls: dict[str, Callable[[], object]] = {
        "Communicator.all_reduce of a Buffer": lambda: comm.all_reduce(
            buffer, dtype="float32", stream=stream
        ),
        "Communicator.all_reduce of a tensor": lambda: comm.all_reduce(tensor, stream=stream),
        "torch.distributed.all_reduce": lambda: distributed.all_reduce(tensor),
    }
    times = in_turns(
        {name: lambda call=call: _host(call, stream, batch) for name, call in calls.items()},  # type: ignore[misc]
        rounds,
    )
    peer = times.pop("torch.distributed.all_reduce")
    library = ".".join(str(part) for part in torch.cuda.nccl.version())
    found: Told = {
        "torch.distributed": (
            f"PyTorch {torch.__version__}, built for NCCL {library}; here {_version()}",
            "",
            True,
        ),
        "host time of torch.distributed.all_reduce": (f"{1e6 * statistics.median(peer):.2f} us", "", True),
    }
    for name, taken in times.items():
        text = f"{1e6 * statistics.median(taken):.2f} us, {_ratio(taken, peer):.3f} of torch.distributed"
        found[f"host time of {name}, in turns with PyTorch"] = (text, "", True)

    much = comm.device.allocate(size, stream)
    much.fill(0, stream=stream)
    tensors = torch.zeros(size // 4, dtype=torch.float32, device=device)
    transfers = in_turns(
        {
            "core": lambda: _device(lambda: comm.all_reduce(much, dtype="float32", stream=stream), stream),
            "torch": lambda: _device(lambda: distributed.all_reduce(tensors), stream),
        },
        2 if small else 10,
    )
    moved = size * 2 * (comm.size - 1) / comm.size / 1e9
    rates = {name: moved / min(seconds) for name, seconds in transfers.items()}
    found[f"bus bandwidth of all_reduce, {size} bytes, in turns with PyTorch"] = (
        f"{rates['core']:.1f} GB/s, torch.distributed {rates['torch']:.1f} GB/s: "
        f"{rates['core'] / rates['torch']:.3f} of it",
        "",
        True,
    )
    return found


def in_turns(measures: dict[str, Callable[[], float]], rounds: int) -> dict[str, list[float]]:
    """What each measures in each round, after a round that does not count; who begins changes."""
    for measure in measures.values():
        measure()
    names, found = list(measures), {name: [] for name in measures}
    for i in range(rounds):
        first = i % len(names)
        for name in names[first:] + names[:first]:
            found[name].append(measures[name]())
    return found


def _ratio(mine: list[float], its: list[float]) -> float:
    return statistics.median(a / b for a, b in zip(mine, its, strict=True))


def _host(call: Callable[[], object], stream: Any, batch: int) -> float:
    """Seconds of the host for a call, of a batch that is not waited for."""
    stream.sync()
    start = time.perf_counter()
    for _ in range(batch):
        call()
    seconds = (time.perf_counter() - start) / batch
    stream.sync()
    return seconds


def _device(call: Callable[[], object], stream: Any) -> float:
    """Seconds of the stream for a call, by events."""
    from cudapy.core import EventOptions

    timed = EventOptions(timing_enabled=True)
    start = stream.record(options=timed)
    call()
    end = stream.record(options=timed)
    end.sync()
    return max((end - start) / 1e3, 1e-9)


def _version() -> str:
    number = nccl.get_version()
    return f"{number // 10000}.{number // 100 % 100}.{number % 100}"
