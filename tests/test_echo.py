"""Every function of the driver on the stub: what C receives, byte for byte, and what comes back."""

from __future__ import annotations

import pytest

from .stub import module
from .stub.build import declared, parameters
from .stub.echo import cases, echo, refuses_unknown_attribute
from .stub.record import Stub

driver = module("driver")
DECLARED = declared(driver)


@pytest.mark.parametrize("symbol", DECLARED)
def test_echo(symbol: str, stub: Stub) -> None:
    function = DECLARED[symbol]
    for made in cases(function):
        echo(stub, made)
        stub.calls()
        stub.status = 2
        failed = function(*made.arguments())
        stub.status = 0
        assert failed[0] is driver.CUresult.CUDA_ERROR_OUT_OF_MEMORY
        outputs = [p for p in parameters(function) if p.role in ("output", "in out")]
        assert failed[1:] == (None,) * len(outputs)


@pytest.mark.parametrize("symbol", [symbol for symbol, f in DECLARED.items() if f.__declaration__.variants])
def test_unknown_attribute(symbol: str, stub: Stub) -> None:
    """Nobody knows how much memory it needs: the library is not called."""
    assert refuses_unknown_attribute(DECLARED[symbol])
    assert stub.calls() == []
