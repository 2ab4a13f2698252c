"""The face for those who own what C makes: what is owed is in a cell, whatever comes behind the call."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import pytest

from .stub import module
from .stub.record import Stub


class Values(bytearray):
    """A buffer that can be watched."""


def owning() -> Any:
    return module("_core.context.current").owning


def test_what_is_made_is_in_the_cell(stub: Stub) -> None:
    cell = module("driver").CUevent()
    owning().cuEventCreate(cell, 2)
    (call,) = stub.calls()
    assert call.symbol == "cuEventCreate" and cell.value


def test_a_failure_leaves_nothing_in_the_cell(stub: Stub) -> None:
    cell = module("driver").CUevent()
    stub.status = 2
    with pytest.raises(MemoryError, match="cuEventCreate"):
        owning().cuEventCreate(cell, 2)
    assert cell.value == 0


@pytest.mark.parametrize(("status", "left"), [(0, 0), (1, 5)])
def test_what_was_given_back_is_owed_no_more(stub: Stub, status: int, left: int) -> None:
    cell = module("driver").CUevent(5)
    stub.status = status
    try:
        owning().cuEventDestroy(cell)
    except module("_bindings.errors").CUDAError as error:
        assert status and error.function == "cuEventDestroy"
    else:
        assert not status
    assert cell.value == left


@pytest.mark.parametrize("how", ["given back", "lost"])
def test_what_c_uses_as_long_is_kept_as_long(stub: Stub, how: str) -> None:
    """By the cell too: Ctrl-C may come before it is kept for the handle."""
    driver, values = module("driver"), Values(64)
    gone = weakref.ref(values)
    cell = driver.CUlinkState()
    owning().cuLinkCreate(cell, 1, [driver.CUjit_option.CU_JIT_INFO_LOG_BUFFER], [values])
    del values
    gc.collect()
    assert gone() is not None
    if how == "lost":
        module("_ffi.results").released(cell)
        gc.collect()
        assert gone() is not None
    else:
        copy = driver.CUlinkState(cell.value)
        del cell
        gc.collect()
        assert gone() is not None
        owning().cuLinkDestroy(copy)
    cell = None
    gc.collect()
    assert gone() is None
