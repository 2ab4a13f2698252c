"""C functions of which a status is all that is needed, called by machine code where there is any.

Core calls them for its own objects, which own what C makes and gives back: what the driver's Python functions
check costs more than the call.
"""

from __future__ import annotations

import ctypes

from . import lanes
from .interrupts import entered
from .lane_types import INTEGER, PLACE, Argument

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

UNSIGNED, SIGNED, SIZE = ctypes.c_uint, ctypes.c_int, ctypes.c_size_t
"""The types of numbers, for those who know of no ctypes."""


def status_call(c_function: Any, *takes: Any, fills: Any = None) -> Callable[..., int]:
    """A function that calls `c_function`, and returns its status.

    takes: the types of its parameters, handles and numbers of ctypes. The machine code takes handles of
    exactly these classes, and ints for numbers; anything else goes through ctypes. fills: the class that it
    takes first, as itself, for the address of one.
    """
    if fills is not None:
        c_function.argtypes = [ctypes.POINTER(fills), *takes]  # finds the address faster than `byref`
    made = lanes.lanes()
    if made is None or lanes.callable_by_address(c_function) is None:
        call: Callable[..., int] = c_function
        return call

    @entered
    def through_ctypes(*arguments: Any) -> Any:
        """Without a look for signals between the call of C and the caller, as in the lane."""
        try:
            (status,) = map(c_function, *[(argument,) for argument in arguments])
            return status
        except BaseException:  # the `try` is what `entered` needs
            raise

    arguments = [] if fills is None else [Argument(0, PLACE, fills)]
    arguments += [_argument(i, cls) for i, cls in enumerate(takes, len(arguments))]
    made.install(through_ctypes, c_function, arguments, [], _status, 0)
    return through_ctypes


def _argument(slot: int, cls: Any) -> Argument:
    if cls._type_ in "iIlLqQ" and cls.__module__ == ctypes.__name__:
        signed = cls._type_ in "ilq"
        return Argument(slot, INTEGER, limit=2 ** (8 * ctypes.sizeof(cls) - signed) - 1)
    return Argument(slot, 0, cls)


def _status(status: int, *arguments: object) -> int:
    return status
