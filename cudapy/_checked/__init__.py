"""What type checkers and editors see of the raising faces, `driver.checked` and its siblings.

A stub (`driver.pyi`) has the functions with their results alone; `python -m tests.checked_stubs` writes it.
The module beside it (`driver.py`) leads editors to their documentation and source. No program imports it.
"""

from typing import TYPE_CHECKING, Any, overload

if TYPE_CHECKING:
    from collections.abc import Callable

    from typing_extensions import ParamSpec, TypeVar, TypeVarTuple, Unpack

    P = ParamSpec("P")
    First = TypeVar("First")
    Second = TypeVar("Second")
    Others = TypeVarTuple("Others")

    @overload
    def alone(function: Callable[P, tuple[Any]]) -> Callable[P, None]: ...
    @overload
    def alone(function: Callable[P, tuple[Any, First]]) -> Callable[P, First]: ...
    @overload
    def alone(
        function: Callable[P, tuple[Any, First, Second, Unpack[Others]]],
    ) -> Callable[P, tuple[First, Second, Unpack[Others]]]: ...
    def alone(function: Callable[P, Any]) -> Callable[P, Any]:
        """A function that raises an exception for a status, which it does not return."""
