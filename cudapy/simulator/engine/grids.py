"""Grids: launched, and run batch after batch, with those that they launch."""

from __future__ import annotations

import functools
import os
import sys
import time
from typing import TYPE_CHECKING

import numpy as np

from . import checks, fault
from .back_ends import NUMPY, names
from .device import Device
from .fault import Fault
from .progress import Progress
from .run import scheduler
from .run.batch import Batch, Counters, Launch
from .run.children import ChildGrid
from .run.launch_accesses import accesses_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .aliases import Dim3
    from .back_ends import BackEnd
    from .kernel import Kernel
    from .module import Function
    from .settings import Settings

_SHARED_LIMIT = 32 << 20
"""Most bytes of shared memory of a batch."""
_WORKSPACE = 4096
_LOOK = 64
"""Bytes of memory for each thread that are looked at before it runs: none may be undefined any more."""
_MORE = 8
"""So many times as many threads run side by side where a back end needs few arrays for what they compute."""
_FASTER, _MOST = 4, 1 << 22
"""How many times as many do after a batch that needed none, up to so many."""
_LONG = 0.5
"""Seconds of a batch."""


def launch(
    function: Function,
    grid: int | Dim3,
    block: int | Dim3,
    arguments: bytes | Sequence[object] = (),
    shared_size: int = 0,
    *,
    cooperative: bool = False,
    cluster: tuple[int, int, int] | None = None,
    device: Device | None = None,
    back_ends: tuple[str, ...] | None = None,
    settings: Settings | None = None,
) -> Counters:
    """Run all threads of a kernel to their end.

    grid, block: blocks of the grid and threads of a block, in x or in three dimensions.
    arguments: what `Function.pack` takes, or the packed bytes.
    shared_size: bytes of dynamic shared memory.
    cooperative: all threads run side by side; otherwise they do in batches of whole blocks.
    cluster: blocks of a cluster; None: as many as the kernel was made for.
    device: what the kernel sees of its device; None: a new one with the module's memory.

    back_ends: the names of those that may run the kernel, of `back_ends.names()`; None: what
        `Settings.machine_code` says. Without "numpy" the other takes over at once, and not after a
        while; what it does not support runs on NumPy in any case.

    settings: what is checked, and how threads are scheduled; None: those of the module's memory.

    What kernels print goes to file descriptor 1 when the launch ends. What the checks find goes to
    `device.record` then, or is a Fault. Raises Fault; TypeError for arguments
    that do not fit.
    """
    _keep_freed_memory()
    kernel = function.kernel
    params = arguments if isinstance(arguments, bytes) else function.pack(arguments)
    if len(params) < kernel.parameter_size:
        raise ValueError(
            f"{kernel.name} takes {kernel.parameter_size} bytes of parameters, {len(params)} were given"
        )
    if device is None:
        device = Device(kernel.module.memory)
    settings = (settings or kernel.module.memory.settings).changed()
    cluster, chosen = cluster or function.cluster, _chosen(kernel, back_ends, settings)
    shape = _three(grid), _three(block), cluster
    run = Launch(kernel, device, *shape, params, shared_size, settings, *chosen)
    _run(run, cooperative)
    return run.counters


def _run(run: Launch, cooperative: bool) -> None:
    """Run it to its end, and pass on what it prints and what the checks find. Raises Fault."""
    device = run.device
    try:
        with device.memory.in_use(), np.errstate(all="ignore"):
            _run_with_children(_Grid(run, cooperative))
        if (found := run.findings.all()) and device.record is None:
            raise Fault(fault.LAUNCH_FAILED, *found)
    except RecursionError as error:
        raise Fault(fault.LAUNCH_FAILED, f"{run.kernel.name}: {error}") from error
    except Fault as error:
        if device.record is not None or error.findings == run.findings.all():
            raise
        raise Fault(error.status, *error.reports, *run.findings.all()) from None
    finally:
        if device.record is not None and (found := run.findings.all()):
            device.record(found)
        if run.output:
            sys.stdout.flush()
            _write("".join(run.output).encode())


def _three(size: int | Dim3) -> Dim3:
    return (size, 1, 1) if isinstance(size, int) else size


def _chosen(
    kernel: Kernel, wanted: tuple[str, ...] | None, settings: Settings
) -> tuple[BackEnd | None, bool]:
    """What runs a kernel besides NumPy, and whether it takes over at once."""
    back_end = kernel.module.back_end
    if wanted is None:
        is_wanted, is_eager = settings.machine_code != "never", settings.machine_code == "always"
    else:
        if unknown := set(wanted) - set(names()):
            raise ValueError(f"no back end is called {unknown.pop()!r}; there are {', '.join(names())}")
        is_wanted, is_eager = back_end is not None and back_end.name in wanted, NUMPY not in wanted
    if (
        not is_wanted
        or back_end is None
        or settings.schedule is not None
        or not checks.wanted(settings) <= back_end.checks
    ):
        return None, False
    return back_end, is_eager or settings.seed is not None  # a seed's order may not depend on what ran before


class _Grid:
    """A grid that runs, batch after batch."""

    def __init__(self, run: Launch, cooperative: bool = False) -> None:
        self.run = run
        self._blocks = run.grid[0] * run.grid[1] * run.grid[2] if run.threads else 0
        self._cooperative = cooperative
        self._first = 0
        if run.back_end is not None and checks.UNDEFINED in run.checks:
            run.device.memory.look_for_undefined(_LOOK * self._blocks * run.threads)
        if cooperative:
            run.workspace = run.device.memory.allocate(_WORKSPACE, "workspace of the grid")
            _clear(run.device, run.workspace)
        self._progress = Progress(run.kernel.name, self._blocks)

    @property
    def has_run(self) -> bool:
        """All of its blocks."""
        return self._first == self._blocks

    def run_batch(self) -> None:
        """Raises Fault."""
        at_once, kernel = self._blocks if self._cooperative else _blocks_at_once(self.run), self.run.kernel
        count = min(at_once, self._blocks - self._first)
        batch, began = Batch(self.run, self._first, count), time.perf_counter()
        scheduler.run(batch)
        if (
            batch.threads.has_arrays or time.perf_counter() - began > _LONG
        ):  # progress is told between batches
            kernel.growth = 1
        elif kernel.growth * self.run.settings.batch < _MOST:
            kernel.growth *= _FASTER
        self.run.counters.batches += 1
        self._first += count
        self._progress.done(self._first)

    def close(self) -> None:
        self._progress.close()
        run = self.run
        if checks.RACES in run.checks:
            run.order.remember(run.kernel, run.parameters, run.device.memory)
            if run.device.accessed is not None:
                run.device.accessed(accesses_of(run.kernel, run.order))
            run.order.close()
        run.close()


def _run_with_children(first: _Grid) -> None:
    """Run a grid, what it launches, and what that launches. Raises Fault."""
    grids = [first]  # each was launched by the one before it
    try:
        while grids:
            grid, children = grids[-1], grids[-1].run.children
            if not children.queued and not grid.has_run:
                grid.run_batch()
                continue
            work = children.next()
            if grid.has_run and not children.queued and not children.tails:
                grids.pop().close()  # before its last tail: one that launches itself again may do so for ever
            if work is not None and (why := first.run.watchdog.why_over):
                text = f"{first.run.kernel.name} with what it launched {why}"
                raise Fault(fault.LAUNCH_TIMEOUT, text)
            if isinstance(work, ChildGrid):
                grids.append(_Grid(_launched(work, grid.run)))
            elif work is not None:
                work()
    finally:
        for grid in grids:
            grid.close()


def _launched(child: ChildGrid, parent: Launch) -> Launch:
    """A grid that another launched; what it prints is printed with that one's."""
    function = child.function
    run = Launch(
        function.kernel,
        parent.device,
        child.grid,
        child.block,
        function.cluster,
        child.parameters,
        child.shared_size,
        parent.settings,
        parent.back_end,
        parent.is_eager,
    )
    run.output, run.watchdog, run.counters = parent.output, parent.watchdog, parent.counters
    run.findings = parent.findings
    return run


def _blocks_at_once(run: Launch) -> int:
    shared = run.shared_size
    threads = run.settings.batch
    code = run.kernel.compiled.code if run.back_end else None
    if code is not None and code.runs_all(run.is_eager):
        growth = 1 if checks.ORDER in run.checks else run.kernel.growth  # which depends on time
        threads = min(threads * _MORE * growth, _MOST)
    count = max(threads // run.threads, 1)
    if shared:
        count = max(min(count, _SHARED_LIMIT // shared), 1)
    cluster = run.cluster[0] * run.cluster[1] * run.cluster[2]
    return max(count // cluster, 1) * cluster  # whole clusters


@functools.cache
def _keep_freed_memory() -> None:
    """Have glibc reuse the memory of large arrays.

    It gives each back to the system, to be cleared for the next one, until it has seen a larger one freed:
    mallopt(3), "M_MMAP_THRESHOLD". Its limit for that is 32 MiB.
    """
    np.empty((32 << 20) - 4096, np.uint8)


def _clear(device: Device, address: int) -> None:
    allocation = device.memory.find(address)
    if allocation is not None:
        allocation.data[:] = 0
        device.memory.written(allocation.address, allocation.size)


def _write(text: bytes) -> None:
    while text:
        text = text[os.write(1, text) :]
