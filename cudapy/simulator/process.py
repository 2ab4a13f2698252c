"""The simulator of this process: its libraries, and the copy of this package that runs it."""

from __future__ import annotations

import atexit
import os
import threading
from functools import partial, wraps

from .entry_points import NCCL_DEVICE_API, Release, declared, symbols
from .tables import tables as _tables

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    from ..pathfinder import Loaded
    from .copies import Offer
    from .library import Table
    from .options import Options

    F = TypeVar("F", bound=Callable[..., Any])

NAME = "cudapy simulator"
PACKAGES = ("devices", "streams", "memory", "textures", "code", "graphs", "runtime")
"""The packages with the functions of the driver, and on top of it of the runtime."""
LIBRARIES = {"cuda": "driver", "cudart": "runtime", "nvml": "nvml", "nccl": "nccl"}
"""The libraries that it stands for, and the modules that declare their functions."""

_NVCC_OPTIONS = "NVCC_APPEND_FLAGS"
"""The variable with options that nvcc adds to those that it is given."""

_shared: Offer | None = None
"""The simulator of another copy of this package that this one uses."""
_lock = threading.RLock()


def is_enabled() -> bool:
    """Whether the driver of this process is the simulator."""
    return bool(_tables)


def _with_options(function: F) -> F:
    """A function with options, whose error for another name says which one was meant."""

    @wraps(function)
    def call(*arguments: Any, **named: Any) -> Any:
        from .options import require_known

        require_known(named, function.__name__)
        return function(*arguments, **named)

    return call  # type: ignore[return-value]


@_with_options
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
    workers: int | None = None,
    findings: str | None = None,
    classes: tuple[str, ...] | None = None,
    schedule: str | None = None,
) -> None:
    """Make the simulator the driver of this process. Call it before the first call of any CUDA function.

    Copies of this package in one process share the simulator of the copy that was first, with its devices.

    devices: the number of devices, 1 by default.
    compute_capability: that of the devices, such as (9, 0), the default; NVRTC must support it.
    seed: varies the order in which threads run, the same for the same number; without one, it is the same in
        each run.
    check_races: report accesses to shared memory that no barrier separates.
    check_uninitialized: report reads of uninitialized memory.
    coverage: count how often each line of each kernel runs: see `coverage_report`.
    reports: print a fault's report on stderr if the program does not read it (the default).
    driver_version: the CUDA version that the driver reports, such as (12, 4): functions that came later
        are not there. By default it is the newest that cudapy knows.
    timeout: seconds after which a kernel fails, with a report of where its threads are; 0, the default: none.
    workers: how many threads run a kernel's machine code at most; by default, one for each processor. Results
        do not depend on it.
    findings: what becomes of a race, or another finding that does not end its kernel: "raise", the default,
        has the launch fail once it has run; "record" prints it, and the program goes on (see `findings`).
    classes: the classes of findings to report besides those by default, or with "-" before the name, not to.
    schedule: run one warp at a time, in this order: "first", "last", "turns", "random:SEED"; see `explore`.

    Settings that are not given come from the environment: CUDAPY_SIMULATOR_DEVICES, _SEED,
    _COMPUTE_CAPABILITY, _CHECK_RACES, _CHECK_UNINITIALIZED, _COVERAGE, _REPORTS, _DRIVER_VERSION, _TIMEOUT,
    _WORKERS, _FINDINGS, _CLASSES or _SCHEDULE.
    CUDAPY_SIMULATOR_CHECK=all switches both checks on, `races` or `uninitialized` one of them. Raises
    RuntimeError if this process has called another driver or has other devices already, ValueError for
    settings that make no sense.
    """
    given = locals()
    from .options import Options

    _enable(Options(**given))


def provide() -> None:
    """Enable the simulator if it is not enabled: what `pathfinder` calls where CUDAPY_DRIVER=simulator."""
    with _lock:
        if not _tables:
            enable()


@_with_options
def install(*, children: bool = True, **settings: Any) -> None:
    """Make the simulator the libcuda.so.1 of this process, for NVIDIA's packages and compiled libraries.

    children: whether Python processes that this one starts do so, too. It sets PYTHONPATH, CUDAPY_DRIVER and
        CUDAPY_SIMULATOR_INSTALL for them; those that ignore the environment (`python -E`, `-I`) are not
        reached. For nvcc it adds -lineinfo to NVCC_APPEND_FLAGS, which keeps the PTX in cubins.
        PYTORCH_CUDA_ALLOC_CONF and TRITON_LIBCUDA_PATH get values in any case, unless they have some
        (docs/pytorch.md).
    settings: what `enable` takes. Children take them from the environment, where this puts them.

    Call it before anything opens libcuda.so.1. A second call does nothing but to take more settings. It takes
    a few milliseconds: the simulator itself comes at the first call of a function of CUDA. Raises
    RuntimeError if another libcuda.so.1 is open already, or on a machine other than Linux on x86-64 and
    aarch64.
    """
    from . import shared
    from .copies import claim
    from .options import Options

    other = other_copy() or claim(_offer())
    if other is not None:
        other.module.install(children=children, **settings)
        return
    options = Options(**settings)
    if settings:
        _enable(options)
    shared.install()
    if children:
        from .._commands.launcher.children import tell

        set_environment(options)
        os.environ["CUDAPY_DRIVER"] = "simulator"
        tell("CUDAPY_SIMULATOR_INSTALL", __package__)


def set_environment(options: Options) -> None:
    """Have processes that this one starts take the same options, and nvcc keep the PTX in cubins."""
    os.environ.update(options.as_environment())
    flags = os.environ.get(_NVCC_OPTIONS, "").split()
    if not {"-lineinfo", "--generate-line-info", "-G", "--device-debug"} & {*flags}:
        os.environ[_NVCC_OPTIONS] = " ".join([*flags, "-lineinfo"])


def stand_in() -> bool:
    """Enable the simulator, and print a line, if there is no driver or it shows no device.

    For programs that are to run anywhere, such as samples: call it first. Returns whether the driver of this
    process is the simulator.
    """
    from .devices.device import Hardware
    from .options import Options

    if os.environ.get("CUDAPY_DRIVER") and not is_enabled():
        tables()
    if not is_enabled() and not _shows_a_device():
        _enable(Options(), unusable="cuda")
        Hardware.may_hide_all = False  # CUDA_VISIBLE_DEVICES is about the driver
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


# -- The start ---------------------------------------------------------------------------------------------


def _enable(given: Options, unusable: str = "") -> None:
    """See `enable`. No Ctrl-C interrupts it.

    unusable: a library that may have been loaded, as the program has found that it is of no use.
    """
    from .interrupts import undisturbed

    undisturbed(_take)(given, unusable)


def _take(given: Options, unusable: str) -> None:
    from .. import pathfinder
    from .._process.resets import resets
    from .copies import claim, withdraw
    from .gc_pause import gc_pause
    from .options import Options

    with gc_pause, _lock:  # what is imported stays
        for known in (known for name in LIBRARIES if name != unusable for known in pathfinder.opened(name)):
            if known.found_by != NAME:
                raise RuntimeError(f"the simulator comes too late: this process has loaded {known.path}")
        is_first = not _tables
        if not is_first:
            _require_same_hardware(given)
        mine = _offer()
        other = other_copy() or claim(mine)
        try:
            if other is not None:
                other.module.enable(**given.given())  # it may be older, and have fewer of them
            else:
                options = Options.from_environment(given)
                options.validate()
                _apply(options)
            if is_first:
                _make_tables(options) if other is None else _share(other)
        except BaseException:
            if is_first:
                withdraw(mine)
            raise
        if is_first:
            _register()
            resets.is_possible = True


def _require_same_hardware(given: Options) -> None:
    """Raise RuntimeError if the devices, which exist, are not those that are asked for."""
    devices, (major, minor), number = _hardware()
    version = number // 1000, number % 1000 // 10
    asked = given.devices, given.compute_capability, given.driver_version
    existing = devices, (major, minor), version
    if any(one not in (None, other) for one, other in zip(asked, existing, strict=True)):
        raise RuntimeError(
            f"the simulator is on, with devices={devices}, compute_capability=({major}, {minor}) and"
            f" driver_version={version}: enable others before the first call of CUDA"
        )


def _apply(options: Options) -> None:
    """Use those options that may change while there are devices. Raises ValueError."""
    from . import found
    from .engine import Schedule, schedule, settings
    from .options import SCHEDULE_LOG, switched
    from .streams.faults import Faults

    order = None if options.schedule is None else Schedule.parse(options.schedule)
    for name in ("seed", "timeout", "workers", "check_races", "check_uninitialized", "coverage"):
        value = getattr(options, name)
        if value is not None:
            setattr(settings.current, name, value)
    if options.reports is not None:
        Faults.prints = options.reports
        found.set_prints(options.reports)
    if options.findings is not None:
        found.set_mode(options.findings)
    if options.classes is not None:
        settings.current.classes = switched(options.classes)
    if order is not None:
        settings.current.schedule = order
        if log := os.environ.pop(SCHEDULE_LOG, ""):
            atexit.register(schedule.write_delays, log)


def _share(other: Offer) -> None:
    """Use the libraries of the simulator of another copy."""
    global _shared
    from .devices.device import Hardware
    from .shared_table import SharedTable

    Hardware.devices, Hardware.compute_capability, Release.number = other.hardware()
    _shared = other
    shared: dict[str, Any] = {name: SharedTable(name, other) for name in LIBRARIES.values()}
    _tables.update(shared)


def _make_tables(options: Options) -> None:
    from importlib import import_module
    from pkgutil import iter_modules

    from .. import driver
    from .devices.device import Hardware, before
    from .heap import keep_freed_memory
    from .library import Table
    from .options import release

    Hardware.devices = options.devices or Hardware.devices
    Hardware.compute_capability = options.compute_capability or Hardware.compute_capability
    Release.number = release(options.driver_version)
    for name in PACKAGES:
        package = import_module(f".{name}", __package__)
        for module in iter_modules(package.__path__):
            import_module(f".{module.name}", package.__name__)
    keep_freed_memory()
    _tables["driver"] = Table(
        "driver", driver, before, lambda refused: refused.code, exported=symbols(Release.number)
    )
    _tables["runtime"] = _runtime(Release.number // 1000)


def _register() -> None:
    """Stand for the libraries from now on, and have the compilers keep the PTX that they compile."""
    from .. import pathfinder
    from .code import compiler

    for name in LIBRARIES:
        pathfinder.register(name, partial(_provide, name))
        pathfinder.load(name)
    compiler.register(_install_shared)


def _install_shared() -> None:
    from . import shared

    shared.install()


def _provide(name: str, major: int | None, below: Callable[[], Loaded]) -> Loaded:
    """The simulated library `name`, one of LIBRARIES, which there is without a file."""
    from ..pathfinder import Loaded
    from .library import LateTable

    key = LIBRARIES[name]
    handle: Any = LateTable(_LATE[key]) if key in _LATE else _tables[key]
    return Loaded(name, handle, NAME, NAME, Release.number // 1000)


# -- The libraries -----------------------------------------------------------------------------------------


def tables() -> dict[str, Table]:
    """The simulated libraries that exist: "driver", "runtime", and those that were called."""
    provide()
    return _tables


def _once(name: str, make: Callable[[], Table]) -> Table:
    """The table of a library that most programs never call."""
    tables()
    with _lock:
        if name not in _tables:
            _tables[name] = make()
        return _tables[name]


def nvml_table() -> Table:
    """The table of NVML."""
    from .. import nvml
    from . import nvml_calls as calls
    from .library import Table

    make = partial(Table, "nvml", nvml, calls.before, calls.failed)
    return _once("nvml", lambda: make(said=lambda symbol, refused: None))  # the driver's log is not NVML's


def nccl_table() -> Table:
    """The table of NCCL."""
    from .. import nccl
    from .collectives import calls
    from .library import Table

    make = partial(Table, "nccl", nccl, calls.before, calls.failed, said=calls.said)
    return _once("nccl", lambda: make(exported=(*declared(nccl), *NCCL_DEVICE_API)))


def runtime_of(major: int) -> Table:
    """The simulated runtime, as the libcudart of a CUDA major has its functions."""
    return _once(f"runtime {major}", lambda: _runtime(major))


def _runtime(major: int) -> Table:
    """The simulated runtime, with the names, parameters and structs of a CUDA major."""
    from .. import runtime
    from .library import Table
    from .runtime import calls, older

    twin = partial(calls.twin, _tables["driver"])
    layouts = older.LAYOUTS.get(major)
    return Table("runtime", runtime, calls.before, calls.failed, twin, major=major, layouts=layouts)


_LATE = {"nvml": nvml_table, "nccl": nccl_table}


# -- Other copies of this package --------------------------------------------------------------------------


def other_copy() -> Offer | None:
    """The simulator of another copy of this package, if that is the simulator of this process."""
    from .copies import of_another

    return _shared if _tables else of_another()


def by_its_copy(function: F) -> F:
    """A function of the simulator, that of another copy of this package if the simulator is that copy's."""

    @wraps(function)
    def call(*arguments: Any, **named: Any) -> Any:
        other = other_copy()
        if other is not None:
            return getattr(other.module, function.__name__)(*arguments, **named)
        return function(*arguments, **named)

    return call  # type: ignore[return-value]


def _offer() -> Offer:
    """The simulator of this copy, for others."""
    import sys

    from .copies import Offer

    return Offer(sys.modules[__package__], _function, _hardware)


def _hardware() -> tuple[int, tuple[int, int], int]:
    """See `copies.Offer`."""
    from .devices.device import Hardware

    return Hardware.devices, Hardware.compute_capability, Release.number


def _function(name: str, symbol: str) -> int | Callable[..., Any] | None:
    """See `copies.Offer`."""
    from .callbacks import ByValue

    table = _LATE[name]() if name in _LATE else tables()[name]
    callback = table.callback(symbol)
    return callback if isinstance(callback, ByValue) else table.address(symbol)
