"""Every function of every library on its stub: what C receives, byte for byte, and what comes back."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from typing import Any

import pytest

from .stub import APIS, source
from .stub.build import (
    asks_for_a_size,
    declared,
    never_fails,
    number_of,
    parameters,
)
from .stub.echo import cases, echo, is_status, refuses_unknown_attribute
from .stub.record import Stub

FUNCTIONS = {
    api: {
        symbol: function
        for symbol, function in declared(source(api)).items()
        if not asks_for_a_size(
            function
        )  # of two calls: the tests of their modules make them of the real library
    }
    for api in APIS
}
TOGETHER = 50
"""The functions of a test: one for each of 1,900 would cost more than their calls do."""
PARTS = [
    pytest.param(api, symbols, id=f"{api}-{symbols[0]}")
    for api, functions in FUNCTIONS.items()
    for symbols in (list(functions)[start : start + TOGETHER] for start in range(0, len(functions), TOGETHER))
]


def each(api: str, symbols: list[str], check: Callable[[str, Any], None]) -> None:
    """Check functions; what fails is told of all of them."""
    failed = {}
    for symbol in symbols:
        try:
            check(symbol, FUNCTIONS[api][symbol])
        except Exception:
            failed[symbol] = traceback.format_exc()
    assert not failed, "".join(f"\n{api}-{symbol}:\n{text}" for symbol, text in failed.items())


@pytest.mark.parametrize(("api", "symbols"), PARTS)
def test_echo(api: str, symbols: list[str], stub_of: Callable[[str], Stub]) -> None:
    stub = stub_of(api)

    def check(symbol: str, function: Any) -> None:
        stub.reset()
        for made in cases(function):
            echo(stub, made, symbol=symbol)
            stub.calls()
            if never_fails(function):
                continue
            stub.status = 2
            failed = function(*made.arguments())
            stub.status = 0
            assert is_status(failed[0], 2, function)
            outputs = [p for p in parameters(function) if p.role in ("output", "in out")]
            assert failed[1:] == (None,) * (len(outputs) + (number_of(function) is not None))

    each(api, symbols, check)


@pytest.mark.parametrize("api", APIS)
def test_unknown_attribute(api: str, stub_of: Callable[[str], Stub]) -> None:
    """Nobody knows how much memory it needs: the library is not called."""
    stub = stub_of(api)

    def check(_: str, function: Any) -> None:
        assert refuses_unknown_attribute(function)
        assert stub.calls() == []

    each(api, [symbol for symbol, one in FUNCTIONS[api].items() if one.__declaration__.variants], check)
