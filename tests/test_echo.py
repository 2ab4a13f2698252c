"""Every function of every library on its stub: what C receives, byte for byte, and what comes back."""

from __future__ import annotations

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

CASES = [
    pytest.param(api, symbol, function, id=f"{api}-{symbol}")
    for api in APIS
    for symbol, function in declared(source(api)).items()
    if not asks_for_a_size(function)  # of two calls: the tests of their modules make them of the real library
]


@pytest.mark.parametrize(("api", "symbol", "function"), CASES)
def test_echo(api: str, symbol: str, function: Any, stub_of: Callable[[str], Stub]) -> None:
    stub = stub_of(api)
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


@pytest.mark.parametrize(
    ("api", "symbol", "function"), [case for case in CASES if case.values[2].__declaration__.variants]
)
def test_unknown_attribute(api: str, symbol: str, function: Any, stub_of: Callable[[str], Stub]) -> None:
    """Nobody knows how much memory it needs: the library is not called."""
    stub = stub_of(api)
    assert refuses_unknown_attribute(function)
    assert stub.calls() == []
