"""NCCL on all GPUs of the machine: every collective against NumPy, in one process and in one for each GPU.

NVLink SHARP, which uses multicast memory, stays off: NCCL_NVLS_ENABLE=0.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from cudapy import nccl, pathfinder
from cudapy.core import Communicator, Device

from . import nccl_torch
from .figures import Figure, judged, not_run, told
from .nccl_cases import Ranks, cases, large
from .scale import Scale

os.environ["NCCL_NVLS_ENABLE"] = "0"
REPOSITORY = Path(__file__).parents[2]
SIZES = (1, 4096, 1 << 20, 1 << 26, 1 << 30)
"""Bytes."""


def counts(small: bool) -> tuple[int, ...]:
    """How many elements the collectives of every type have."""
    return (1, 33) if small else (1, 33, 1000, 1 << 16)


def missing() -> str:
    """Why there is no NCCL; "" if there is."""
    try:
        pathfinder.load("nccl")
    except pathfinder.LibraryNotFound as error:
        return str(error).splitlines()[0]
    return ""


def every(ranks: Ranks, small: bool) -> dict[str, tuple[int, list[str]]]:
    """What was done of each kind, and what of it is wrong."""
    found: dict[str, tuple[int, list[str]]] = {}
    version = nccl.get_version()

    def note(what: str, wrong: str) -> None:
        count, before = found.get(what, (0, []))
        found[what] = count + 1, [*before, wrong] if wrong else before

    for case in cases(counts(small), ranks.size):
        if "float8" in case.dtype and (version < 22400 or not _has_float8(ranks)):
            continue
        note(f"{case.kind}, all types", ranks.run(case))
    for nbytes in SIZES[: 2 if small else None]:
        for case in large(nbytes, ranks.size):
            note("1 B to 4 KiB" if small else "1 B to 1 GiB", ranks.run(case))
    return found


def _has_float8(ranks: Ranks) -> bool:
    """Whether all devices reduce floats of 8 bits: those of compute capability 9.0 do."""
    return all(tuple(comm.device.compute_capability) >= (9, 0) for comm in ranks.comms)


def in_one_process(scale: Scale) -> Iterator[Figure]:
    """All GPUs by `init_all`, in one thread with groups."""
    why, devices = missing(), Device.get_all_devices()
    what = f"{len(devices)} GPUs in one process"
    if why:
        yield not_run(what, "every collective", why)
        return
    comms = Communicator.init_all()
    yield told("NCCL", str(nccl.get_version()), pathfinder.load("nccl").path)
    for name, (count, wrong) in every(Ranks(comms), scale.small).items():
        good = f"{count - len(wrong)} right"
        yield judged(f"{what}: {name}", f"{count} of {count}", good, not wrong, "; ".join(wrong[:3]))
    yield from _rest(comms)


def _rest(comms: list[Communicator]) -> Iterator[Figure]:
    """Splits, graphs, and the end."""
    with comms[0].group():
        halves = [comm.split(comm.rank % 2) for comm in comms]
    sizes = [half.size for half in halves if half is not None]
    wanted = [(len(comms) + 1 - comm.rank % 2) // 2 for comm in comms]
    yield judged("ranks of communicators split by parity", str(wanted), sizes, sizes == wanted)
    yield judged("sums of a graph that is launched three times", f"{len(comms)} right", *_captured(comms))
    for half in halves:
        if half is not None:
            half.close()
    for comm in comms:
        comm.close()
    again = Communicator.init_all()
    again[0].abort()
    for comm in again[1:]:
        comm.abort()
    yield judged("abort", "closed", "closed", all(comm.is_closed for comm in again))


def _captured(comms: list[Communicator]) -> tuple[str, bool, str]:
    """What three launches of a captured all_reduce make of ones, rank by rank in threads of their own."""
    import threading

    import numpy as np

    size, found, errors = len(comms), {}, []

    def one(comm: Communicator) -> None:
        try:
            comm.device.set_current()
            stream = comm.device.create_stream()
            buffer = comm.device.allocate(4096, stream)
            buffer.copy_from(np.ones(1024, np.float32), stream=stream)
            stream.sync()
            builder = stream.create_graph_builder()
            builder.begin_building("relaxed")
            comm.all_reduce(buffer, dtype="float32", stream=builder)
            graph = builder.end_building().complete()
            for _ in range(3):
                graph.launch(stream)
            host = np.empty(1024, np.float32)
            buffer.copy_to(host, stream=stream)
            comm.sync(stream, timeout=60)
            found[comm.rank] = bool((host == size**3).all())
        except Exception as error:
            errors.append(f"rank {comm.rank}: {type(error).__name__}: {error}")

    threads = [threading.Thread(target=one, args=(comm,)) for comm in comms]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    right = sum(found.values())
    return f"{right} right", right == size, "; ".join(errors)


def in_processes(scale: Scale) -> Iterator[Figure]:
    """One process for each GPU, by what torchrun would set; and how long calls and transfers take."""
    why, size = missing(), len(Device.get_all_devices())
    if why or size == 1:
        yield not_run("a process for each GPU", "every collective", why or "GPU 0 is the only one")
        return
    what = f"{size} processes"
    with socket.socket() as one, socket.socket() as other:
        for probe in (one, other):
            probe.bind(("127.0.0.1", 0))
        port, of_pytorch = (str(probe.getsockname()[1]) for probe in (one, other))
    told_to_all = {"WORLD_SIZE": str(size), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
    told_to_all[nccl_torch.PORT] = of_pytorch
    processes = [
        subprocess.Popen(
            [sys.executable, "-m", f"{__package__}.nccl_rank", "small" if scale.small else "full"],
            cwd=REPOSITORY,
            env={**os.environ, **told_to_all, "RANK": str(rank), "LOCAL_RANK": str(rank)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(size)
    ]
    found: list[dict[str, Any]] = []
    for rank, process in enumerate(processes):
        out, err = process.communicate(timeout=280)
        if process.returncode:
            yield judged(f"{what}: rank {rank}", "exit code 0", process.returncode, False, err[-1500:])
            continue
        found.append(json.loads(out.splitlines()[-1]))
    if len(found) < size:
        return
    for name in found[0]["cases"]:
        count = found[0]["cases"][name][0]
        wrong = [text for each in found for text in each["cases"][name][1]]
        good = f"{count - len(wrong)} right"
        yield judged(f"{what}: {name}", f"{count} of {count}", good, not wrong, "; ".join(wrong[:3]))
    for name, (measured, asked, holds) in found[0]["speed"].items():
        if asked and not scale.small:
            yield judged(f"{what}: {name}", asked, measured, holds)
        else:
            yield told(f"{what}: {name}", measured)
