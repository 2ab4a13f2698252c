"""Options: objects of a class of their own, or a dict with the same names; and choices, by name."""

import functools
from collections.abc import Collection, Mapping
from dataclasses import fields
from enum import Enum
from typing import Any, TypeVar, cast

from .._ffi.shown import shown, type_name

T = TypeVar("T")


_ELSEWHERE = {
    "arguments": "args",
    "cooperative": "is_cooperative",
    "gpu_architecture": "arch",
    "include_dirs": "include_path",
    "shared": "shmem_size",
    "shared_mem": "shmem_size",
    "sharedMemBytes": "shmem_size",
    "smem": "shmem_size",
    "standard": "std",
}
"""What other libraries call an option, and its name here."""


def suggestion(name: str, names: Collection[str]) -> str:
    """A sentence, behind a space, with the one of `names` that is most like `name`; "" if none is."""
    import difflib  # for messages alone

    if _ELSEWHERE.get(name) in names:
        near = [_ELSEWHERE[name]]
    else:
        begin_so = [each for each in names if each.startswith(name)]
        near = difflib.get_close_matches(name, names, 1, 0.7) or begin_so[:1]
    return f" Did you mean {near[0]!r}?" if near else ""


def known_names(cls: type[T]) -> type[T]:
    """A class of options, a dataclass, whose constructor says which name was meant."""
    plain = cast("Any", cls).__init__
    names = {field.name for field in fields(cast("Any", cls)) if field.init}

    @functools.wraps(plain)
    def init(self: T, *values: Any, **options: Any) -> None:
        for name in options.keys() - names:
            raise TypeError(f"{cls.__name__} has no {name!r}.{suggestion(name, names)}")
        plain(self, *values, **options)

    cast("Any", cls).__init__ = init
    return cls


def accepted(cls: type[T], options: T | Mapping[str, Any]) -> T:
    """`options` as an object of `cls`. Raises TypeError for anything else, and for names that it has not."""
    if isinstance(options, cls):
        return options
    if isinstance(options, Mapping):
        return cls(**options)
    raise TypeError(f"options must be {cls.__name__} or a dict of them, not {type_name(options)}")


def c_text(value: str | bytes, what: str) -> bytes:
    """`value` for a `char *`, which ends at its first NUL. Raises ValueError for one before its end."""
    data = value.encode() if isinstance(value, str) else value
    if (at := data.find(0)) != -1 and data[at:].strip(b"\0"):
        raise ValueError(f"{what} has a NUL character at {at}, where C would end it")
    return data


class Choice(str, Enum):
    """A choice by name; `auto()` is it in small letters. Raises ValueError, with the choices, for others."""

    _value_: str

    @staticmethod
    def _generate_next_value_(name: str, *_: object) -> str:
        return name.lower()

    @classmethod
    def _missing_(cls, value: Any) -> Any:
        allowed = ", ".join(repr(member.value) for member in cls)
        raise ValueError(f"{shown(value)} is not a member of {cls.__name__}: there are {allowed}")

    def __str__(self) -> str:
        return str(self.value)
