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
import threading
from typing import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..pathfinder import Loaded
    from .copies import Offer
    from .engine.coverage import Counts
    from .failures import Failure
    from .library import Table

__all__ = [
    "alive",
    "coverage_report",
    "enable",
    "failing",
    "install",
    "is_enabled",
    "reset",
    "stand_in",
    "write_libraries",
]

NAME = "cudapy simulator"
ROOMS = ("devices", "streams", "memory", "textures", "code", "graphs", "runtime")
"""The folders of the modules that provide the functions of the driver, and on top of it of the runtime."""
LIBRARIES = ("cuda", "cudart", "nvml", "nccl")
"""The libraries that it stands for."""
TABLES = ("driver", "runtime", "nvml", "nccl")
"""The modules that declare their functions, in the same order."""

_NVCC_OPTIONS = "NVCC_APPEND_FLAGS"
"""The variable with options that nvcc adds to those that it is given."""

_tables: dict[str, Table] = {}
_shared: Offer | None = None
"""The simulator of another copy of this package that this one uses."""
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
    driver_version: tuple[int, int] | None = None,
    timeout: float | None = None,
) -> None:
    """Make the simulator the driver of this process. Call it before the first call of any CUDA function.

    Copies of this package in one process share the simulator of the copy that was first, with its devices.

    devices: the number of devices, 1 by default.
    compute_capability: that of the devices, such as (9, 0), the default; NVRTC must support it.
    seed: varies the order in which threads run; without one, it is the same in each run.
    check_races: report accesses to shared memory that no barrier separates.
    check_uninitialized: report reads of uninitialized memory.
    coverage: count how often each line of each kernel runs: see `coverage_report`.
    reports: print a fault's report on stderr if the program does not read it (the default).
    driver_version: the CUDA version that the driver reports, such as (12, 4): functions that came later
        are not there. By default it is the newest that cudapy knows.
    timeout: seconds after which a kernel fails, with a report of where its threads are; 0, the default: none.

    Settings that are not given come from the environment: CUDAPY_SIMULATOR_DEVICES, _SEED,
    _COMPUTE_CAPABILITY, _CHECK_RACES, _CHECK_UNINITIALIZED, _COVERAGE, _REPORTS, _DRIVER_VERSION or _TIMEOUT.
    CUDAPY_SIMULATOR_CHECK=all switches both checks on, `races` or `uninitialized` one of them. Raises
    RuntimeError if this process has called another driver or has other devices already, ValueError for
    settings that make no sense.
    """
    settings = seed, check_races, check_uninitialized, coverage, reports, timeout
    _enable_undisturbed(Hardware(devices, compute_capability, driver_version), settings)


def provide() -> None:
    """Enable the simulator if it is not enabled: what `pathfinder` calls where CUDAPY_DRIVER=simulator."""
    with _lock:
        if not _tables:
            enable()


_SETTINGS = "seed", "check_races", "check_uninitialized", "coverage", "reports", "timeout"
"""What `enable` takes besides the hardware, in the order that it is passed on in."""


class Hardware(NamedTuple):
    """What there is, as far as it was said: see `enable`."""

    devices: int | None
    compute_capability: tuple[int, int] | None
    driver_version: tuple[int, int] | None


def _enable_undisturbed(hardware: Hardware, settings: tuple[Any, ...], unusable: str = "") -> None:
    """`_enable`, which no Ctrl-C interrupts."""
    from .interrupts import undisturbed

    undisturbed(_enable)(hardware, settings, unusable)


def _enable(hardware: Hardware, settings: tuple[Any, ...], unusable: str) -> None:
    """unusable: a library that may have been loaded, as the program has found that it is of no use."""
    from .. import pathfinder
    from .._resets import resets

    with _lock:
        for known in (known for name in LIBRARIES if name != unusable for known in pathfinder.opened(name)):
            if known.found_by != NAME:
                raise RuntimeError(f"the simulator comes too late: this process has loaded {known.path}")
        if _tables:
            _still(hardware)
        _apply(hardware, settings)
        if not _tables:
            _start(hardware)
            _register()
            resets.is_possible = True


def _apply(hardware: Hardware, settings: tuple[Any, ...]) -> None:
    """Have the simulator of this process take the settings; that of another copy with its hardware."""
    other = _other()
    if other is None:
        _settings(*settings)
        return
    told = {name: value for name, value in zip(_SETTINGS, settings, strict=True) if value is not None}
    other.module.enable(**hardware._asdict(), **told)  # it may be older, and have fewer of them


def _register() -> None:
    """Stand for the libraries from now on, and have the compilers keep the PTX that they compile."""
    from functools import partial

    from .. import pathfinder
    from .code import compiler

    for name in LIBRARIES:
        pathfinder.register(name, partial(_provide, name))
        pathfinder.load(name)
    compiler.watch()


def install(*, children: bool = True, **settings: Any) -> None:
    """Make the simulator the libcuda.so.1 of this process, for NVIDIA's packages and compiled libraries.

    children: whether Python processes that this one starts do so, too. It sets PYTHONPATH, CUDAPY_DRIVER and
        CUDAPY_SIMULATOR_INSTALL for them; those that ignore the environment (`python -E`, `-I`) are not
        reached. For nvcc it adds -lineinfo to NVCC_APPEND_FLAGS, which keeps the PTX in cubins.
    settings: what `enable` takes. Children take them from the environment, where this puts them.

    Call it before anything opens libcuda.so.1. A second call does nothing but to take more settings. It takes
    a few milliseconds: the simulator itself comes at the first call of a function of CUDA. Raises
    RuntimeError if another libcuda.so.1 is open already, or on a machine other than Linux on x86-64 and
    aarch64.
    """
    from . import shared
    from .copies import claim

    other = _other() or claim(_offer())
    if other is not None:
        other.module.install(children=children, **settings)
        return
    if settings:
        enable(**settings)
    shared.install()
    if children:
        from .._launcher.children import tell

        set_environment(settings)
        os.environ["CUDAPY_DRIVER"] = "simulator"
        tell("CUDAPY_SIMULATOR_INSTALL", __name__)


def set_environment(settings: dict[str, Any]) -> None:
    """Have processes that this one starts take what `enable` was given, and nvcc keep the PTX in cubins."""
    for name, value in settings.items():
        if value is not None:
            os.environ[f"CUDAPY_SIMULATOR_{name.upper()}"] = _text(value)
    options = os.environ.get(_NVCC_OPTIONS, "").split()
    if not {"-lineinfo", "--generate-line-info", "-G", "--device-debug"} & {*options}:
        os.environ[_NVCC_OPTIONS] = " ".join([*options, "-lineinfo"])


def write_libraries(folder: str | os.PathLike[str]) -> list[str]:
    """Write the simulator's libcuda.so.1 and libcudart.so.* to a folder, for compiled programs.

    `LD_LIBRARY_PATH=folder ./program` runs one: the library starts this Python in its process. What `enable`
    takes comes from the environment. Returns the paths. Raises RuntimeError if this Python has no shared
    libpython, OSError if the folder cannot be written.
    """
    from .shared.written import write

    return write(os.fspath(folder))


def _text(value: Any) -> str:
    """A setting as `enable` reads it from the environment."""
    if isinstance(value, tuple):
        return ".".join(map(str, value))
    return str(int(value))


def stand_in() -> bool:
    """Enable the simulator, and print a line, if there is no driver or it shows no device.

    For programs that are to run anywhere, such as samples: call it first. Returns whether the driver of this
    process is the simulator.
    """
    if os.environ.get("CUDAPY_DRIVER") and not is_enabled():
        tables()
    if not is_enabled() and not _shows_a_device():
        _enable_undisturbed(Hardware(None, None, None), (None,) * len(_SETTINGS), unusable="cuda")
        print("no NVIDIA GPU here: running on the cudapy simulator", flush=True)
    return is_enabled()


def _shows_a_device() -> bool:
    """Whether there is a driver and it shows a device."""
    import ctypes

    from .. import pathfinder

    try:
        library = pathfinder.load("cuda").handle
    except pathfinder.LibraryNotFound:
        return False
    count = ctypes.c_int()
    return library.cuInit(0) == 0 and library.cuDeviceGetCount(ctypes.byref(count)) == 0 and bool(count.value)


def _provide(name: str, major: int | None, below: Callable[[], Loaded]) -> Loaded:
    """The simulated library `name`, one of LIBRARIES, which there is without a file."""
    from ..pathfinder import Loaded
    from .entry_points import Release
    from .library import LateTable

    late = {"nvml": nvml_table, "nccl": nccl_table}
    table: Any = LateTable(late[name]) if name in late else _tables["driver" if name == "cuda" else "runtime"]
    return Loaded(name, table, NAME, NAME, Release.number // 1000)


def tables() -> dict[str, Table]:
    """The simulated libraries: "driver" and "runtime"."""
    with _lock:
        if not _tables:
            enable()
        return _tables


def reset() -> None:
    """Give this process fresh devices: after a fault, or to begin again, as a new process would.

    Everything that was made on the devices ends: contexts with their work, streams, memory, modules, graphs.
    Objects and addresses of before raise an error that says so, or do nothing where they are released. Page-
    locked and managed memory stays readable. In a thread with a host function of a stream, in a forked
    process, and where the driver is not the simulator, raises RuntimeError. Threads that wait get an error.
    """
    other = _other()
    if other is not None:
        other.module.reset()
        return
    if not _tables:
        raise RuntimeError("reset: the driver of this process is not the simulator")
    from .fresh_devices import reset
    from .interrupts import undisturbed

    undisturbed(reset)()


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
    other = _other()
    if other is not None:
        return other.module.failing(function, call=call, status=status)  # type: ignore[no-any-return]
    from .failures import failing

    return failing(function, call, status)


def alive() -> dict[str, int]:
    """The number of live objects of each kind, e.g. {"context": 1, "stream": 2, "device memory": 1}.

    If it is the same before and after some work, nothing leaked. "retained context" says how often primary
    contexts are retained; memory that pools keep for later is not counted.
    """
    other = _other()
    if other is not None:
        return other.module.alive()  # type: ignore[no-any-return]
    from .live_objects import live_objects

    return live_objects()


def coverage_report() -> list[Counts]:
    """How often each line of each kernel ran since `enable(coverage=True)`, in the order of first launches.

    Of each kernel there is `kernel.name`, `lines()`: {(file, line): how many threads ran it}, and
    `branches()`: how many threads took each branch, and how many did not.
    """
    other = _other()
    if other is not None:
        return other.module.coverage_report()  # type: ignore[no-any-return]
    from .engine import coverage

    return coverage.report()


def _other() -> Offer | None:
    """The simulator of another copy of this package, if that is the simulator of this process."""
    from .copies import of_another

    return _shared if _tables else of_another()


def _offer() -> Offer:
    """The simulator of this copy, for others."""
    import sys

    from .copies import Offer

    return Offer(sys.modules[__name__], _function, _hardware)


def _start(hardware: Hardware) -> None:
    """Make the tables, of the simulator of another copy if there is one in this process."""
    global _shared
    from .copies import claim, withdraw
    from .devices.device import Options
    from .entry_points import Release
    from .shared_table import SharedTable

    mine = _offer()
    other = claim(mine)
    if other is None:
        try:
            _make_tables(hardware)
        except BaseException:
            withdraw(mine)
            raise
        return
    other.module.enable(**hardware._asdict())
    Options.devices, Options.compute_capability, Release.number = other.hardware()
    _shared = other
    shared: dict[str, Any] = {name: SharedTable(name, other) for name in TABLES}
    _tables.update(shared)


def _hardware() -> tuple[int, tuple[int, int], int]:
    """See `copies.Offer`."""
    from .devices.device import Options
    from .entry_points import Release

    return Options.devices, Options.compute_capability, Release.number


def _function(name: str, symbol: str) -> int | Callable[..., Any] | None:
    """See `copies.Offer`."""
    from .callbacks import ByValue

    make = {"nvml": nvml_table, "nccl": nccl_table}.get(name, lambda: tables()[name])
    table: Any = make()
    callback = table.callback(symbol)
    return callback if isinstance(callback, ByValue) else table.address(symbol)


def _make_tables(hardware: Hardware) -> None:
    from importlib import import_module
    from pkgutil import iter_modules

    from .. import driver
    from .devices.attributes import SHARED_PER_MULTIPROCESSOR
    from .devices.device import Options, before
    from .entry_points import Release, symbols
    from .heap import keep_freed_memory
    from .library import Table

    devices, capability, version = hardware
    devices = devices if devices is not None else _whole("DEVICES")
    Options.devices = devices if devices is not None else Options.devices
    Options.compute_capability = (
        capability or _pair(_environment("COMPUTE_CAPABILITY")) or Options.compute_capability
    )
    Release.number = driver_version(version)
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
    _tables["driver"] = Table(
        "driver", driver, before, lambda refused: refused.code, exported=symbols(Release.number)
    )
    _tables["runtime"] = _runtime(Release.number // 1000)


def nvml_table() -> Table:
    """The table of NVML: most programs never call it."""
    from .. import nvml
    from .library import Table
    from .management import calls

    tables()
    with _lock:
        if "nvml" not in _tables:
            _tables["nvml"] = Table(
                "nvml", nvml, calls.before, calls.failed, said=lambda symbol, refused: None
            )
        return _tables["nvml"]


def nccl_table() -> Table:
    """The table of NCCL: most programs never call it."""
    from .. import nccl
    from .collectives import calls
    from .library import Table

    tables()
    with _lock:
        if "nccl" not in _tables:
            _tables["nccl"] = Table(
                "nccl", nccl, calls.before, calls.failed, said=calls.said, exported=calls.symbols()
            )
        return _tables["nccl"]


def _runtime(major: int) -> Table:
    """The simulated runtime, with the names, parameters and structs of a CUDA major."""
    from functools import partial

    from .. import runtime
    from .library import Table
    from .runtime import calls, older

    twin = partial(calls.twin, _tables["driver"])
    layouts = older.LAYOUTS.get(major)
    return Table("runtime", runtime, calls.before, calls.failed, twin, major=major, layouts=layouts)


def runtime_of(major: int) -> Table:
    """The simulated runtime, as the libcudart of a CUDA major has its functions."""
    with _lock:
        key = f"runtime {major}"
        if key not in _tables:
            tables()
            _tables[key] = _runtime(major)
        return _tables[key]


def _still(hardware: Hardware) -> None:
    """Raise RuntimeError unless the devices, which are there, are those."""
    from .devices.device import Options
    from .entry_points import Release

    there = Hardware(
        Options.devices, Options.compute_capability, (Release.number // 1000, Release.number % 1000 // 10)
    )
    if any(asked not in (None, given) for asked, given in zip(hardware, there, strict=True)):
        major, minor = Options.compute_capability
        raise RuntimeError(
            f"the simulator is on, with {Options.devices} of compute capability {major}.{minor} and a driver"
            f" of CUDA {Release.number // 1000}.{Release.number % 1000 // 10}: say what there is before "
            "anything of CUDA is used"
        )


def _settings(
    seed: int | None,
    races: bool | None,
    uninitialized: bool | None,
    coverage: bool | None,
    reports: bool | None,
    timeout: float | None,
) -> None:
    from .engine import settings
    from .streams.work import Faults

    current = settings.current
    checks = _checks()
    seed = seed if seed is not None else _whole("SEED")
    current.seed = seed if seed is not None else current.seed
    current.timeout = _seconds(timeout, current.timeout)
    for where, name, value in (
        (current, "check_races", races),
        (current, "check_uninitialized", uninitialized),
        (current, "coverage", coverage),
        (Faults, "prints", reports),
    ):
        text = _environment({"prints": "REPORTS"}.get(name, name.upper()))
        if value is None and text:
            value = text not in ("0", "false", "no")
        if value is None and name in checks:
            value = True
        if value is not None:
            setattr(where, name, value)


def _whole(name: str) -> int | None:
    """The number in a variable of the environment, if it is set. Raises ValueError for what is not one."""
    text = _environment(name)
    try:
        return int(text) if text else None
    except ValueError:
        raise ValueError(f"CUDAPY_SIMULATOR_{name} is {text!r}, which is not a whole number") from None


def _seconds(given: float | None, before: float) -> float:
    """How long a kernel may take. Raises ValueError for what is no such time."""
    text = _environment("TIMEOUT")
    try:
        seconds = given if given is not None else float(text) if text else before
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds < float("inf"):
        raise ValueError(
            f"a timeout is a number of seconds, or 0 for none, not {text if given is None else given}"
        )
    return seconds


def _checks() -> set[str]:
    """The settings that CUDAPY_SIMULATOR_CHECK switches on: those of `all`, or of names between commas."""
    known = {"races": "check_races", "uninitialized": "check_uninitialized"}
    asked = [name.strip() for name in _environment("CHECK").split(",") if name.strip()]
    for name in asked:
        if name not in (*known, "all"):
            names = ", ".join(("all", *known))
            raise ValueError(f"CUDAPY_SIMULATOR_CHECK cannot be {name!r}: there is {names}")
    return set(known.values()) if "all" in asked else {known[name] for name in asked}


def driver_version(asked: tuple[int, int] | None = None) -> int:
    """What `cuDriverGetVersion` says. Raises ValueError for what the simulator cannot be."""
    from .entry_points import NEWEST

    major, minor = asked or _pair(_environment("DRIVER_VERSION")) or (NEWEST // 1000, NEWEST % 1000 // 10)
    version = 1000 * major + 10 * minor
    if not 12000 <= version <= NEWEST:
        raise ValueError(f"the simulator is a driver of CUDA 12.0 .. {NEWEST // 1000}.{NEWEST % 1000 // 10}")
    return version


def _pair(text: str) -> tuple[int, int] | None:
    """ "8.0" as (8, 0); None for nothing."""
    major, _, minor = text.partition(".")
    return (int(major), int(minor or 0)) if text else None


def _environment(name: str) -> str:
    return os.environ.get(f"CUDAPY_SIMULATOR_{name}", "")
