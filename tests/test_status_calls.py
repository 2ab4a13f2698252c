"""C functions whose status core needs: the same through machine code and through ctypes."""

from __future__ import annotations

import ctypes
import time

import pytest

from .stub import module

calls = module("_ffi.status_calls")
lanes = module("_ffi.lanes")
driver = module("driver")
libc = ctypes.CDLL(None)


Text, Seconds = driver.CUstream, driver.CUdeviceptr  # an address, a number of 64 bits


@pytest.fixture(params=["with lanes", "without", "in a copy without"])
def is_fast(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    if request.param == "without":
        monkeypatch.setattr(lanes, "lanes", lambda: None)
        return False
    if request.param == "in a copy without":
        monkeypatch.setattr(calls, "lanes", module("_ffi.no_lanes"))
        return False
    if lanes.why_not():
        pytest.skip(f"no fast lane: {lanes.why_not()}")
    return True


def symbol(name: str) -> ctypes._CFuncPtr:
    return libc[name]  # a new object, which nobody else gives argtypes


def test_a_status_is_returned(is_fast: bool) -> None:
    """Whatever it is: 0, another number, a negative one; of objects of the class, and of others."""
    compare = calls.status_call(symbol("strncmp"), Text, Text, ctypes.c_size_t)
    buffers = [ctypes.create_string_buffer(text) for text in (b"abc", b"abd", b"abc")]
    first, second, third = (Text(ctypes.addressof(buffer)) for buffer in buffers)
    for _ in range(3):
        assert compare(first, third, 3) == 0 and compare(first, second, 2) == 0
        assert compare(first, second, 3) < 0 < compare(second, first, 3)
        assert compare(buffers[0], buffers[1], ctypes.c_size_t(3)) < 0
        assert compare(ctypes.c_void_p(first.value), third, 3) == 0
    with pytest.raises(ctypes.ArgumentError):
        compare(first, "abc\N{SNOWMAN}".encode, 3)
    assert (compare.__class__.__name__ == "function") == is_fast


def test_what_it_fills_is_filled(is_fast: bool) -> None:
    """The first parameter is the object itself, of which C gets the address."""
    fill = calls.status_call(symbol("time"), fills=Seconds)
    cell = Seconds()
    before = int(time.time())
    status = fill(cell)
    assert before - 1 <= cell.value <= time.time() and status == cell.value  # its clock is a coarse one


def test_a_number_of_64_bits_is_passed_whole(is_fast: bool) -> None:
    """Behind a parameter that is filled ctypes knows the types; else 64 bits would be cut."""
    copy = calls.status_call(symbol("memset"), calls.SIGNED, calls.SIZE, fills=Seconds)
    cell = Seconds(2**64 - 1)
    copy(cell, 0, 4)
    assert cell.value == 2**64 - 2**32
