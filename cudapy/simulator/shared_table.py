"""The libraries of a simulator that another copy of this package runs."""

from __future__ import annotations

from .callbacks import ByValue, CFunction

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .copies import Offer


class SharedTable:
    """A library of another copy's simulator, with functions as a `Table` has them."""

    def __init__(self, name: str, offer: Offer) -> None:
        self._name = name
        self._function = offer.function

    def __getitem__(self, symbol: str) -> Any:
        """The C function `symbol`. Raises AttributeError, as ctypes.CDLL does."""
        function = self._function(self._name, symbol)
        if function is None:
            raise AttributeError(f"the simulator has no function {symbol!r}")
        return CFunction(function) if isinstance(function, int) else _ByValue(function)

    def __getattr__(self, symbol: str) -> Any:
        if symbol.startswith("_"):
            raise AttributeError(symbol)
        function = self[symbol]
        self.__dict__[symbol] = function
        return function


class _ByValue(ByValue):
    """One that makes the struct of another copy: it returns `restype`, which has the same fields."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function, None)

    def __call__(self, *arguments: Any) -> Any:
        return self.restype.from_buffer_copy(bytes(super().__call__(*arguments)))
