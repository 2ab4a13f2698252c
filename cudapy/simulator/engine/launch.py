"""A kernel, run to its end."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import numpy as np

from . import fault, settings
from .device import Device
from .fault import Fault
from .progress import Progress
from .run.batch import Batch, Launch
from .run.scheduler import Scheduler

if TYPE_CHECKING:
    from .module import Function

_SHARED_LIMIT = 32 << 20
"""Most bytes of shared memory of a batch."""
_WORKSPACE = 4096


def launch(
    function: Function,
    grid: tuple[int, int, int],
    block: tuple[int, int, int],
    params: bytes,
    shared_size: int = 0,
    *,
    cooperative: bool = False,
    cluster: tuple[int, int, int] | None = None,
    device: Device | None = None,
) -> None:
    """Run all threads of `function`; `params` are its packed parameters, `shared_size` the dynamic shared
    bytes.

    The threads of a cooperative launch all run side by side, others in batches of whole blocks. What kernels
    print goes to file descriptor 1 when the launch ends. Raises Fault.
    """
    kernel = function.kernel
    if len(params) < kernel.parameter_size:
        raise ValueError(
            f"{kernel.name} takes {kernel.parameter_size} bytes of parameters, {len(params)} were given"
        )
    if device is None:
        device = Device(kernel.module.memory)
    cluster = cluster or function.cluster
    run = Launch(kernel, device, grid, block, cluster, params, shared_size)
    blocks = grid[0] * grid[1] * grid[2]
    at_once = blocks if cooperative else _blocks_at_once(run)
    if cooperative:
        run.workspace = device.memory.allocate(_WORKSPACE, "workspace of the grid")
        _clear(device, run.workspace)
    progress = Progress(kernel.name, blocks)
    try:
        with device.memory.in_use(), np.errstate(all="ignore"):
            for first in range(0, blocks, at_once):
                count = min(at_once, blocks - first)
                Scheduler(Batch(run, first, count)).run()
                progress.done(first + count)
    except RecursionError as error:
        raise Fault(fault.LAUNCH_FAILED, f"{kernel.name}: {error}") from error
    finally:
        progress.close()
        run.close()
        if run.output:
            sys.stdout.flush()
            _write("".join(run.output).encode())


def _blocks_at_once(run: Launch) -> int:
    shared = run.shared_size
    count = max(settings.current.batch // run.threads, 1)
    if shared:
        count = max(min(count, _SHARED_LIMIT // shared), 1)
    cluster = run.cluster[0] * run.cluster[1] * run.cluster[2]
    return max(count // cluster, 1) * cluster  # whole clusters


def _clear(device: Device, address: int) -> None:
    found = device.memory.find(address)
    if found is not None:
        found.data[:] = 0
        device.memory.written(found.address, found.size)


def _write(text: bytes) -> None:
    while text:
        text = text[os.write(1, text) :]
