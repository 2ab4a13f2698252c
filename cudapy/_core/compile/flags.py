"""Fields of options, and the flags of a command line that each stands for."""

import re
from collections.abc import Callable
from dataclasses import field, fields
from typing import Any

from ..upward import upward

Flags = Callable[[Any], list[str]]


def option(flags: Flags) -> Any:
    """A field that is None at first, and whose value stands for `flags(value)`."""
    return field(default=None, metadata={"flags": flags})


def flag(name: str) -> Any:
    """`name` for True, nothing for False."""
    return option(lambda value: [name] if value else [])


def switch(name: str) -> Any:
    """`name=true` or `name=false`."""
    return option(lambda value: [f"{name}={'true' if value else 'false'}"])


def digit(name: str) -> Any:
    """`name=1` or `name=0`."""
    return option(lambda value: [f"{name}={1 if value else 0}"])


def value(name: str) -> Any:
    """`name=value`."""
    return option(lambda value: [f"{name}={value}"])


def joined(name: str) -> Any:
    """The name and the value in one: `-O3`."""
    return option(lambda value: [f"{name}{value}"])


def each(name: str) -> Any:
    """`name=value` for one value, or for each of a list or tuple."""
    return option(lambda v: [f"{name}={one}" for one in (v if isinstance(v, (list, tuple)) else (v,))])


def flags_of(options: Any) -> list[str]:
    """The flags of all fields that are set, in the order of the class."""
    flags: list[str] = []
    for one in fields(options):
        given = getattr(options, one.name)
        if given is not None and "flags" in one.metadata:
            flags += one.metadata["flags"](given)
    return flags


def set_fields(options: Any) -> set[str]:
    """The names of the fields that ask for something: a flag or, where there is none, other than at first."""
    names = set()
    for one in fields(options):
        given = getattr(options, one.name)
        flags = one.metadata.get("flags", lambda value, first=one.default: value and value != first)
        if given is not None and flags(given):
            names.add(one.name)
    return names


def arch_number(arch: str | None, of: str) -> str:
    """An architecture without its prefix: "90" or "90a"; None is the current device's.

    Raises ValueError or TypeError, which names the class `of` of options, for one that cannot be.
    """
    if arch is None:
        return upward.device().arch
    if not isinstance(arch, str):
        raise TypeError(f"{of}: arch must be a str such as 'sm_90', not {arch!r}")
    match = re.fullmatch(r"(?:sm_|compute_)?(\d{2,3}[af]?)", arch)
    if match is None:
        raise ValueError(f"{of}: arch = {arch!r} is not of the form 'sm_90'")
    return match[1]
