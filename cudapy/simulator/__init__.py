"""A software device behind the CUDA driver API: the same program runs on a machine with no GPU.

    from cudapy import simulator

    simulator.enable()  # before the first call; or CUDAPY_DRIVER=simulator in the environment

From then on `cudapy.driver`, `cudapy.core` and `cudapy.runtime` find a device named "cudapy simulator". It
runs the PTX that NVRTC compiles, which needs no GPU either, and checks every access to memory as it goes. It
is functional only: its timings say nothing about a GPU, and a program that runs here may still have races.
docs/simulator.md says what is supported.

Inside, `engine/` runs PTX and knows no CUDA API. The other folders are the driver on top, a noun a file;
`library` makes C functions out of them by the prototypes of `cudapy.driver`, so that nothing above can tell.
"""

from __future__ import annotations

import os

from .process import by_its_copy, enable, install, is_enabled, provide, stand_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from .coverage import KernelCoverage
    from .engine import Finding
    from .exploration import Exploration
    from .failing_calls import Failure

__all__ = [
    "alive",
    "coverage_report",
    "enable",
    "explore",
    "failing",
    "findings",
    "install",
    "is_enabled",
    "provide",
    "reset",
    "stand_in",
    "write_libraries",
]


def write_libraries(folder: str | os.PathLike[str]) -> list[str]:
    """Write the simulator's libcuda.so.1, libcudart.so.* and libnccl.so.2 to a folder, for compiled programs.

    `LD_LIBRARY_PATH=folder ./program` runs one: the library starts this Python in its process. What `enable`
    takes comes from the environment. Returns the paths. Raises RuntimeError if this Python has no shared
    libpython, OSError if the folder cannot be written.
    """
    from .shared.written import write

    return write(os.fspath(folder))


@by_its_copy
def reset() -> None:
    """Give this process fresh devices: after a fault, or to begin again, as a new process would.

    Everything that was made on the devices ends: contexts with their work, streams, memory, modules, graphs.
    Objects and addresses of before raise an error that says so, or do nothing where they are released. Page-
    locked and managed memory stays readable. In a thread with a host function of a stream, in a forked
    process, and where the driver is not the simulator, raises RuntimeError. Threads that wait get an error.
    """
    from . import device_reset

    device_reset.reset()


@by_its_copy
def failing(
    function: str | None = None, *, call: int = 1, status: str = "CUDA_ERROR_OUT_OF_MEMORY"
) -> Failure:
    """Make a call fail, to test a program's error handling: `with failing("cuMemAllocAsync") as calls:`.

    function: a function of the driver or the runtime, with or without the version in its name; None: any.
    call: which of its calls, counted from 1 in the order of all threads; 0: none, to count them first.
    status: what it returns, without having done anything. After a fault of the device, such as
    CUDA_ERROR_LAUNCH_FAILED, all later calls in the current context return it too, until the block ends.

    In the block and after it `calls.names` has the functions that were called, those of `function` alone if
    it was given, and `calls.failed` is the one that failed, or "".
    """
    from . import failing_calls

    return failing_calls.failing(function, call, status)


@by_its_copy
def alive() -> dict[str, int]:
    """The number of live objects of each kind, e.g. {"context": 1, "stream": 2, "device memory": 1}.

    If it is the same before and after some work, nothing leaked. "retained context" says how often primary
    contexts are retained; memory that pools keep for later is not counted.
    """
    from .memory.leaks import live_objects

    return live_objects()


@by_its_copy
def findings(*, forget: bool = False) -> list[Finding]:
    """What was found in the kernels of this process so far, as data: each once for its place.

    A finding has `kind` (its class, or "fault"), `what`, `place` (`kernel`, `function`, `file`, `line`,
    `ptx_line`, `instruction`), `block` and `thread` of the first thread, `count` and `running` threads,
    `address`, `size`, `note`, `other` (the other access of a race), and `times`; `str` gives the report.

    forget: begin again afterwards, with nothing found.
    """
    from . import found

    every = found.all_of_them()
    if forget:
        found.forget()
    return every


@by_its_copy
def explore(program: Callable[[], Any], seeds: int | Iterable[int] = 16) -> Exploration:
    """Run `program()` in many orders of its threads, in search of one in which it does something else.

    Its result is compared with that of a plain run: arrays by their bits, sequences and dicts by their items,
    exceptions by their text; and so is what is found in its kernels. It has to make all that it uses, and its
    modules above all: between their accesses to memory other warps have their turn.

    seeds: how many schedules there are; or the seeds of random ones. First come those in which the first warp
    that can run is next, or the last, or one after another. In a random one warps wait now and then for long.

    Of the first that differs, delays are taken away while it still does. Returns an Exploration: `schedule`,
    for `enable` or `--schedule`, or None; `expected` and `observed`, with `value` and `findings`; `delays`,
    with lines of the source; its text tells all. Kernels run on the NumPy engine, a warp at a time, so
    programs should be small.
    """
    from .exploration import explore

    return explore(program, seeds)


@by_its_copy
def coverage_report() -> list[KernelCoverage]:
    """How often each line of each kernel ran since `enable(coverage=True)`, in the order of first launches.

    Of each kernel there is its name, `kernel`, `lines()`: {(file, line): how many threads ran it}, and
    `branches()`: how many threads took each branch, and how many did not.
    """
    from . import coverage

    return coverage.report()
