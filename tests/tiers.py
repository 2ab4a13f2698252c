"""Cases of which the first tier runs some, and the second one all the others."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def first(count: int, values: Iterable[Any]) -> list[Any]:
    """For `parametrize`: all values, those after the first `count` marked thorough."""
    return [
        value if place < count else pytest.param(value, marks=pytest.mark.thorough)
        for place, value in enumerate(values)
    ]
