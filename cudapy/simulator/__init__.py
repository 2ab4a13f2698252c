"""A software device behind the CUDA driver API: the same program runs on a machine with no GPU.

    from cudapy import simulator

    simulator.enable()  # before the first call; or CUDAPY_DRIVER=simulator in the environment

From then on `cudapy.driver`, `cudapy.core` and `cudapy.runtime` find a device named "cudapy simulator". It
runs the PTX that NVRTC compiles, which needs no GPU either, and checks every access to memory as it goes. It
is functional only: what it takes has nothing to do with what a GPU takes, and a program that runs here may
still have races. docs/simulator.md says what there is and what is missing.

Inside, `engine/` runs PTX and knows no CUDA API. The other folders are the driver on top, a noun a file;
`library` makes C functions out of them by the prototypes of `cudapy.driver`, so that nothing above can tell.
"""

from __future__ import annotations

import os
import threading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..pathfinder import Loaded
    from .engine.coverage import Counts
    from .failures import Failure
    from .library import Table

__all__ = ["alive", "coverage_report", "enable", "failing", "is_enabled", "stand_in"]

NAME = "cudapy simulator"
ROOMS = ("devices", "streams", "memory", "textures", "code", "graphs", "runtime")
"""The folders of the modules that provide the functions of the driver, and on top of it of the runtime."""
LIBRARIES = ("cuda", "cudart", "nvml")
"""The libraries that it stands for."""

_tables: dict[str, Table] = {}
_lock = threading.RLock()


def is_enabled() -> bool:
    """Whether the driver of this process is the simulator."""
    return bool(_tables)


def enable(
    *,
    devices: int | None = None,
    compute_capability: tuple[int, int] | None = None,
    seed: int | None = None,
    check_races: bool | None = None,
    check_uninitialized: bool | None = None,
    coverage: bool | None = None,
    reports: bool | None = None,
) -> None:
    """Make the simulator the driver of this process. Call it before the first call of any CUDA function.

    devices: how many devices there are, 1 by default.
    compute_capability: what they are, such as (9, 0), the default; NVRTC has to know it.
    seed: varies the order in which threads run; without one, it is the same in each run.
    check_races: report accesses to shared memory that no barrier separates.
    check_uninitialized: report reads of memory that nobody wrote.
    coverage: count how often each line of each kernel runs: see `coverage_report`.
    reports: print the report of a fault on stderr, as well as give it to the calls that fail (the default).

    What is not given comes from the environment, where there is CUDAPY_SIMULATOR_DEVICES, _SEED,
    _COMPUTE_CAPABILITY, _CHECK_RACES, _CHECK_UNINITIALIZED, _COVERAGE or _REPORTS. Raises RuntimeError if
    this process has called another driver or has other devices already, ValueError for settings that make no
    sense.
    """
    from .interrupts import undisturbed

    settings = seed, check_races, check_uninitialized, coverage, reports
    undisturbed(_enable)(devices, compute_capability, settings)


def _enable(
    devices: int | None, compute_capability: tuple[int, int] | None, settings: tuple[Any, ...]
) -> None:
    from .. import pathfinder
    from .._pathfinder.libraries import MAJORS

    with _lock:
        for name in LIBRARIES:
            known = pathfinder._loaded.get((name, None))
            if known is not None and known.found_by != NAME:
                raise RuntimeError(f"the simulator comes too late: this process has loaded {known.path}")
        if not _tables:
            _start(devices, compute_capability)
        else:
            _still(devices, compute_capability)
        _settings(*settings)
        for name in LIBRARIES:
            for major in (None, *MAJORS):
                pathfinder._loaded[name, major] = load(name)
        from .code import compiler

        compiler.watch()


def stand_in() -> bool:
    """Enable the simulator, and say so in a line, where there is no driver, or one that shows no device.

    For programs that are to run anywhere, such as samples: call it first. Returns whether the driver of this
    process is the simulator.
    """
    if os.environ.get("CUDAPY_DRIVER") and not is_enabled():
        tables()
    if not is_enabled() and not _shows_a_device():
        enable()
        print("no NVIDIA GPU here: running on the cudapy simulator", flush=True)
    return is_enabled()


def _shows_a_device() -> bool:
    """Whether there is a driver and it shows a device. A driver that does not is forgotten."""
    import ctypes

    from .. import pathfinder

    try:
        library = pathfinder.load("cuda").handle
    except pathfinder.LibraryNotFound:
        return False
    count = ctypes.c_int()
    if library.cuInit(0) == 0 and library.cuDeviceGetCount(ctypes.byref(count)) == 0 and count.value:
        return True
    for key in [key for key, loaded in pathfinder._loaded.items() if loaded.name == "cuda"]:
        del pathfinder._loaded[key]
    return False


def load(name: str) -> Loaded:
    """The simulated library `name`, one of LIBRARIES, as `pathfinder.load` returns it."""
    from ..pathfinder import Loaded
    from .library import VERSION, LateTable

    tables()
    table: Any = LateTable(_nvml) if name == "nvml" else _tables["driver" if name == "cuda" else "runtime"]
    return Loaded(name, table, NAME, NAME, VERSION // 1000)


def tables() -> dict[str, Table]:
    """The simulated libraries: "driver" and "runtime"."""
    with _lock:
        if not _tables:
            enable()
        return _tables


def failing(
    function: str | None = None, *, call: int = 1, status: str = "CUDA_ERROR_OUT_OF_MEMORY"
) -> Failure:
    """Let a call fail, to see what a program makes of it: `with failing("cuMemAllocAsync") as calls:`.

    function: a function of the driver or the runtime, with or without the version in its name; None: any.
    call: which of its calls, counted from 1 in the order of all threads; 0: none, to count them first.
    status: what it returns, without having done anything. After a fault of the device, such as
    CUDA_ERROR_LAUNCH_FAILED, all later calls in the current context return it too, until the block ends.

    In the block and after it `calls.names` has the functions that were called, those of `function` alone if
    it was given, and `calls.failed` is the one that failed, or "".
    """
    from .failures import failing

    return failing(function, call, status)


def alive() -> dict[str, int]:
    """How much the driver has of each kind, e.g. {"context": 1, "stream": 2, "device memory": 1}.

    What is the same before and after some work has no leak. "retained context" says how often primary
    contexts are retained; memory that pools keep for later is not counted.
    """
    from .census import census

    return census()


def coverage_report() -> list[Counts]:
    """How often each line of each kernel ran since `enable(coverage=True)`, in the order of first launches.

    Of each kernel there is `kernel.name`, `lines()`: {(file, line): how many threads ran it}, and
    `branches()`: how many threads took each branch, and how many did not.
    """
    from .engine import settings

    return settings.coverage_report()


def _start(devices: int | None, compute_capability: tuple[int, int] | None) -> None:
    from functools import partial
    from importlib import import_module
    from pkgutil import iter_modules

    from .. import driver, runtime
    from .devices.attributes import SHARED_PER_MULTIPROCESSOR
    from .devices.device import Options, before
    from .heap import keep_freed_memory
    from .library import Table
    from .runtime import calls as runtime_calls

    Options.devices = devices if devices is not None else int(_environment("DEVICES") or Options.devices)
    text = _environment("COMPUTE_CAPABILITY")
    if compute_capability is None and text:
        major, _, minor = text.partition(".")
        compute_capability = int(major), int(minor or 0)
    Options.compute_capability = compute_capability or Options.compute_capability
    if 10 * Options.compute_capability[0] + Options.compute_capability[1] not in SHARED_PER_MULTIPROCESSOR:
        known = ", ".join(f"{number // 10}.{number % 10}" for number in SHARED_PER_MULTIPROCESSOR)
        raise ValueError(f"no compute capability {Options.compute_capability}: the simulator has {known}")
    if not 1 <= Options.devices <= 16:
        raise ValueError(f"the simulator has 1 .. 16 devices, not {Options.devices}")
    for room in ROOMS:
        package = import_module(f".{room}", __name__)
        for noun in iter_modules(package.__path__):
            import_module(f".{noun.name}", package.__name__)
    keep_freed_memory()
    made = Table("driver", driver, before, lambda refused: refused.code)
    _tables["driver"] = made
    _tables["runtime"] = Table(
        "runtime", runtime, runtime_calls.before, runtime_calls.failed, partial(runtime_calls.twin, made)
    )


def _nvml() -> Table:
    """The table of NVML: most programs never call it."""
    from .. import nvml
    from .library import Table
    from .management import calls

    return Table("nvml", nvml, calls.before, calls.failed, said=lambda symbol, refused: None)


def _still(devices: int | None, compute_capability: tuple[int, int] | None) -> None:
    """Raise RuntimeError unless the devices, which are there, are those."""
    from .devices.device import Options

    if devices not in (None, Options.devices) or compute_capability not in (None, Options.compute_capability):
        major, minor = Options.compute_capability
        raise RuntimeError(
            f"the simulator is on, with {Options.devices} of compute capability {major}.{minor}: say which "
            "devices there are before anything of CUDA is used"
        )


def _settings(
    seed: int | None,
    races: bool | None,
    uninitialized: bool | None,
    coverage: bool | None,
    reports: bool | None,
) -> None:
    from .engine import settings
    from .streams.work import Faults

    current = settings.current
    text = _environment("SEED")
    current.seed = seed if seed is not None else int(text) if text else current.seed
    for where, name, value in (
        (current, "check_races", races),
        (current, "check_uninitialized", uninitialized),
        (current, "coverage", coverage),
        (Faults, "prints", reports),
    ):
        text = _environment({"prints": "REPORTS"}.get(name, name.upper()))
        if value is None and text:
            value = text not in ("0", "false", "no")
        if value is not None:
            setattr(where, name, value)


def _environment(name: str) -> str:
    return os.environ.get(f"CUDAPY_SIMULATOR_{name}", "")
