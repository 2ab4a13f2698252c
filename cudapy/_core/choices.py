"""Enums whose members are strings: `X.A == "a"`, and "a" is taken wherever X.A is."""

from enum import Enum
from typing import Any

from .._ffi.shown import shown


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
