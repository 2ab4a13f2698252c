"""The simulator's options: `enable` takes them, and those that it is not given come from the environment."""

from __future__ import annotations

import os
from dataclasses import dataclass, fields

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

RAISE, RECORD = "raise", "record"
MODES = RAISE, RECORD
"""What becomes of a finding that does not end its kernel: the launch fails, or the program goes on."""
SCHEDULE_LOG = "CUDAPY_SIMULATOR_SCHEDULE_LOG"
"""The file to which a process writes at its end which warps its schedule has delayed."""
CHECKS = {"races": "check_races", "uninitialized": "check_uninitialized"}
"""The options that CUDAPY_SIMULATOR_CHECK switches on, by what it may name besides `all`."""


@dataclass(frozen=True)
class Options:
    """What `cudapy.simulator.enable` takes, which describes it. None: not given."""

    devices: int | None = None
    compute_capability: tuple[int, int] | None = None
    driver_version: tuple[int, int] | None = None
    seed: int | None = None
    schedule: str | None = None
    check_races: bool | None = None
    check_uninitialized: bool | None = None
    coverage: bool | None = None
    reports: bool | None = None
    timeout: float | None = None
    workers: int | None = None
    findings: str | None = None
    classes: tuple[str, ...] | None = None

    @classmethod
    def from_environment(cls, given: Options) -> Options:
        """The options given, and the others from the environment.

        Raises ValueError for a variable whose value is not one of its option, or whose name nearly is.
        """
        _look_for_misspelled()
        checks = _checks()
        options = given.given()
        for name in _READERS:
            if name not in options:
                options[name] = read(name)
                if options[name] is None and name in checks:
                    options[name] = True
        return cls(**options)

    def given(self) -> dict[str, Any]:
        """The options that are not None, by name."""
        values = ((field.name, getattr(self, field.name)) for field in fields(self))
        return {name: value for name, value in values if value is not None}

    def as_environment(self) -> dict[str, str]:
        """The variables in which `from_environment` finds the options that are given."""
        return {variable(name): _text(value) for name, value in self.given().items()}

    def validate(self) -> None:
        """Raise ValueError for what the simulator cannot be or do."""
        from .devices.attributes import SHARED_PER_MULTIPROCESSOR

        release(self.driver_version)
        if self.compute_capability is not None:
            major, minor = self.compute_capability
            if 10 * major + minor not in SHARED_PER_MULTIPROCESSOR:
                known = ", ".join(f"{number // 10}.{number % 10}" for number in SHARED_PER_MULTIPROCESSOR)
                raise ValueError(
                    f"no compute capability {self.compute_capability}: the simulator has {known}"
                )
        if self.devices is not None and not 1 <= self.devices <= 16:
            raise ValueError(f"the simulator has 1 .. 16 devices, not {self.devices}")
        if self.timeout is not None and not 0 <= self.timeout < float("inf"):
            raise _no_timeout(self.timeout)
        if self.workers is not None and self.workers < 1:
            raise ValueError(f"kernels take 1 worker or more, not {self.workers}")
        for name in (*CHECKS.values(), "coverage", "reports"):
            if getattr(self, name) not in (None, True, False):
                raise ValueError(f"{name} is True or False, not {getattr(self, name)!r}")
        if self.findings not in (None, *MODES):
            raise ValueError(f"findings is {' or '.join(map(repr, MODES))}, not {self.findings!r}")
        switched(self.classes or ())


def switched(names: tuple[str, ...]) -> frozenset[str]:
    """The classes of findings that are reported: those by default, with some, and without those that begin
    with "-". Raises ValueError.
    """
    from .engine import CLASSES

    chosen = {name for name, one in CLASSES.items() if one.by_default}
    for name in names:
        bare = name.removeprefix("-")
        if bare not in CLASSES:
            raise ValueError(f"no class of findings is called {bare!r}; there are {', '.join(CLASSES)}")
        chosen = chosen - {bare} if bare != name else chosen | {bare}
    return frozenset(chosen)


def names(text: str) -> tuple[str, ...]:
    """Names between commas."""
    return tuple(name.strip() for name in text.split(",") if name.strip())


def variable(name: str) -> str:
    """The variable of the environment with an option."""
    return f"CUDAPY_SIMULATOR_{name.upper()}"


def read(name: str) -> Any:
    """An option from the environment; None if it is not set. Raises ValueError for what is not its value."""
    text = os.environ.get(variable(name))
    return _READERS[name](variable(name), text) if text else None


def release(version: tuple[int, int] | None) -> int:
    """A driver's version as cuDriverGetVersion has it, the newest for None.

    Raises ValueError for one that the simulator cannot be.
    """
    from .entry_points import NEWEST

    major, minor = version or (NEWEST // 1000, NEWEST % 1000 // 10)
    number = 1000 * major + 10 * minor
    if not 12000 <= number <= NEWEST:
        raise ValueError(f"the simulator is a driver of CUDA 12.0 .. {NEWEST // 1000}.{NEWEST % 1000 // 10}")
    return number


def pair(text: str) -> tuple[int, int]:
    """ "8.0" as (8, 0). Raises ValueError."""
    major, _, minor = text.partition(".")
    return int(major), int(minor or 0)


def _checks() -> set[str]:
    """The options that CUDAPY_SIMULATOR_CHECK switches on: those of `all`, or of names between commas."""
    text = os.environ.get(variable("check"), "")
    asked = names(text)
    for name in asked:
        if name not in (*CHECKS, "all"):
            known = ", ".join(("all", *CHECKS))
            raise ValueError(f"{variable('check')} cannot be {name!r}: there is {known}")
    return {*CHECKS.values()} if "all" in asked else {CHECKS[name] for name in asked}


def _whole(variable: str, text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise ValueError(f"{variable} is {text!r}, which is not a whole number") from None


def _version(variable: str, text: str) -> tuple[int, int]:
    try:
        return pair(text)
    except ValueError:
        raise ValueError(f"{variable} is {text!r}, which is not a version such as 9.0") from None


def _switch(variable: str, text: str) -> bool:
    if text.lower() not in _SWITCHES:
        raise ValueError(f"{variable} is {text!r}, which is not 0 or 1")
    return _SWITCHES[text.lower()]


def require_known(names: Iterable[str], function: str) -> None:
    """Raise TypeError for a name that is none of an option."""
    known = ["children"] * (function == "install") + [field.name for field in fields(Options)]
    for name in names:
        if name not in known:
            from difflib import get_close_matches

            near = [each for each in known if name in each] or get_close_matches(name, known)
            more = f" Did you mean {near[0]!r}?" if near else ""
            raise TypeError(f"{function} has no option {name!r}.{more}")


def _look_for_misspelled() -> None:
    """Raise ValueError for a variable that is nearly one of an option, which would do nothing."""
    known = [variable(name) for name in ("check", *_READERS)]
    for name in os.environ:
        if name.startswith(variable("")) and name not in known:
            from difflib import get_close_matches

            words = {each.removeprefix(variable("")): each for each in known}
            for near in get_close_matches(name.removeprefix(variable("")), words, 1, 0.85):
                raise ValueError(f"{name} is not a setting. Did you mean {words[near]}?")


def _seconds(variable: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise _no_timeout(text) from None


def _no_timeout(value: object) -> ValueError:
    return ValueError(f"a timeout is a number of seconds, or 0 for none, not {value}")


def _text(value: Any) -> str:
    """An option as its reader takes it."""
    if isinstance(value, str):
        return value
    if isinstance(value, tuple) and value and isinstance(value[0], str):
        return ",".join(value)
    if isinstance(value, tuple):
        return ".".join(map(str, value))
    return str(value) if isinstance(value, float) else str(int(value))


_SWITCHES = {
    "1": True,
    "true": True,
    "yes": True,
    "on": True,
    "0": False,
    "false": False,
    "no": False,
    "off": False,
}
_READERS: dict[str, Callable[[str, str], Any]] = {
    "devices": _whole,
    "compute_capability": _version,
    "driver_version": _version,
    "seed": _whole,
    "schedule": lambda _, text: text,
    "check_races": _switch,
    "check_uninitialized": _switch,
    "coverage": _switch,
    "reports": _switch,
    "timeout": _seconds,
    "workers": _whole,
    "findings": lambda _, text: text,
    "classes": lambda _, text: names(text),
}
"""How the text of a variable becomes the value of an option."""
