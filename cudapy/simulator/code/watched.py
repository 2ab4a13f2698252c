"""A compiler's library some of whose functions are replaced."""

import ctypes
import re
from typing import Any

from ..callbacks import CFunction


class Watched:
    """A library some of whose functions are ours, and call its own."""

    def __init__(self, library: Any, functions: dict[str, tuple[Any, tuple[Any, ...]]]) -> None:
        self._library = library
        self._callbacks = {
            symbol: ctypes.CFUNCTYPE(ctypes.c_int, *types)(function)
            for symbol, (function, types) in functions.items()
        }

    def __getitem__(self, symbol: str) -> Any:
        function = self._library[symbol]
        callback = self.watched(symbol)
        return function if callback is None else CFunction(ctypes.cast(callback, ctypes.c_void_p).value)

    def watched(self, symbol: str) -> Any:
        """Ours, if `symbol` or the function that it is a version of is watched; else None."""
        return self._callbacks.get(re.sub(r"^__|_1\d_\d+$", "", symbol))

    def __getattr__(self, symbol: str) -> Any:
        return getattr(self._library, symbol)
