"""Options: objects of a class of their own, or a dict with the same names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

T = TypeVar("T")


def accepted(cls: type[T], options: T | Mapping[str, Any]) -> T:
    """`options` as an object of `cls`. Raises TypeError for anything else, and for names that it has not."""
    if isinstance(options, cls):
        return options
    if isinstance(options, Mapping):
        return cls(**options)
    raise TypeError(f"options must be {cls.__name__} or a dict of them, not {type(options).__name__}")
