"""What `lanes` is in a copy of this package that was made without the fast lane: no machine code."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .library import Declaration
    from .snake_case import Face


def lanes() -> None:
    """What gives functions their lanes: nothing."""


def attach(declaration: Declaration, function: Any, raising: bool = False, owning: bool = False) -> None:
    """Give the function no lane."""


def attach_face(face: Face, declaration: Declaration, function: Any, names: tuple[str, ...]) -> None:
    """Give the function no lane."""


def why_not() -> str:
    """Why calls have no lanes in this process."""
    return "this copy was made without it"
