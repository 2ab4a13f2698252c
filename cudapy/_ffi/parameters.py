"""What a parameter of a prototype is, for everything that reads declarations."""

from __future__ import annotations

import ctypes

from .handles import Callback
from .lazy_types import find
from .prototypes import FUNCTION_POINTER
from .scalars import AGGREGATES, SCALARS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container
    from typing import Any

    from .prototypes import CParameter


def type_of(parameter: CParameter, scope: dict[str, Any]) -> Any:
    """The class of the parameter's base type: an enum, handle, struct or ctypes scalar; None for void."""
    if parameter.type == "void":
        return None
    if parameter.type == FUNCTION_POINTER:
        return Callback
    return SCALARS.get(parameter.type) or find(scope, parameter.type)


def is_in_out(parameter: CParameter, cls: Any, addresses: Container[str]) -> bool:
    """Whether C reads and writes one number, handle or enum of class `cls`, which Python names.

    addresses: the parameters that are arrays, or handles and numbers given by their address.
    """
    if parameter.stars != 1 or parameter.const or parameter.name in addresses:
        return False
    return cls is not None and cls is not ctypes.c_char and not issubclass(cls, AGGREGATES)


def public_name(real_name: str) -> str:
    """The name for messages: a private stub completes the public function of that name."""
    return real_name.lstrip("_").removesuffix("_12")


def c_name(real_name: str) -> str:
    """The global that holds the C function: one for each declaration, since two may share a symbol."""
    return f"_c_{real_name}"
