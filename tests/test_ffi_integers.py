"""Numbers where C has an integer: what is taken, what a fraction costs, what is refused."""

from __future__ import annotations

import ctypes
import warnings
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy
import pytest

from cudapy._ffi.sizes import round_up

from .stub import module
from .stub.record import Stub

driver = module("driver")
Launch = tuple[int, ...]

LOST = [196.3, numpy.float32(196.3), numpy.float64(196.3), numpy.longdouble("196.25"), Fraction(589, 3),
        Decimal("196.3"), numpy.array(196.3), ctypes.c_double(196.3)]  # fmt: skip
KEPT = [
    196,
    196.0,
    numpy.float16(196),
    Fraction(196),
    Decimal("196.0"),
    numpy.array(196),
    ctypes.c_ubyte(196),
]


def launched(stub: Stub) -> list[int]:
    """The grid and the block that the one recorded launch had."""
    (call,) = stub.calls()
    names = "gridDimX", "gridDimY", "gridDimZ", "blockDimX", "blockDimY", "blockDimZ"
    return [int.from_bytes(call.arguments[name].raw[:4], "little") for name in names]


def set_field(value: Any) -> int:
    params = driver.CUDA_KERNEL_NODE_PARAMS(gridDimX=value)
    return params.gridDimX


def set_item(value: Any) -> int:
    params = driver.CUDA_EXTERNAL_MEMORY_BUFFER_DESC(reserved=[0, value])
    return params.reserved[1]


def set_handle_field(value: Any) -> int:
    return int(driver.CUDA_MEMSET_NODE_PARAMS(dst=value).dst)


def make_handle(value: Any) -> int:
    return int(driver.CUdeviceptr(value))


ELSEWHERE = [set_field, set_item, set_handle_field, make_handle]


@pytest.mark.parametrize("value", LOST, ids=lambda value: type(value).__name__)
def test_a_fraction_is_dropped_with_a_warning(value: Any, stub: Stub) -> None:
    """NVIDIA's own examples compute grids with `/`."""
    with pytest.warns(
        RuntimeWarning, match="cuLaunchKernel: gridDimX is an integer: the fraction of"
    ) as caught:
        assert driver.cuLaunchKernel(1, value, 2, 3, 4, 5, 6, 0, None, None, None) == (0,)
    assert len(caught) == 1
    assert launched(stub) == [196, 2, 3, 4, 5, 6]
    for use in ELSEWHERE:
        if not isinstance(value, ctypes.c_double) or use in (set_field, set_item):
            with pytest.warns(RuntimeWarning, match="is an integer"):
                assert use(value) == 196


@pytest.mark.parametrize("value", KEPT, ids=lambda value: type(value).__name__)
def test_whole_numbers_warn_of_nothing(value: Any, stub: Stub) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert driver.cuLaunchKernel(1, value, 2, 3, 4, 5, 6, 0, None, None, None) == (0,)
        assert launched(stub) == [196, 2, 3, 4, 5, 6]
        for use in (set_field, set_item):
            assert use(value) == 196


def test_a_warning_for_each_call_site(stub: Stub) -> None:
    """Python's own rule, which goes by the line and the text: both are those of the caller."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        for x in (1.5, 2.5, 3.5):
            driver.cuLaunchKernel(1, x, 1, 1, 1, 1, 1, 0, None, None, None)
        for x in (1.5, 2.5, 3.5):
            driver.checked.cuLaunchKernel(1, x, 1, 1, 1, 1, 1, 0, None, None, None)
        for x in (1.5, 2.5, 3.5):
            params = driver.CUDA_KERNEL_NODE_PARAMS()
            params.gridDimX = x
        for x in (1.5, 2.5, 3.5):
            driver.cuMemsetD8(0, 0, x)
    assert [warning.filename for warning in caught] == [__file__] * 4
    assert len({warning.lineno for warning in caught}) == 4
    assert len(stub.calls()) == 9


def test_a_warning_that_is_an_error_stops_the_call(stub: Stub) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(RuntimeWarning, match="cuMemAlloc: bytesize is an integer"):
            driver.cuMemAlloc(0.5)
    assert stub.calls() == []


@pytest.mark.parametrize(
    ("value", "error", "message"),
    [
        ("196", TypeError, "must be an integer, not str"),
        (b"196", TypeError, "must be an integer, not bytes"),
        (None, TypeError, "must be an integer, not NoneType"),
        (1j, TypeError, "must be an integer, not complex"),
        ([1], TypeError, "must be an integer, not list"),
        (numpy.array([1.5, 2]), TypeError, "must be an integer, not ndarray"),
        (float("nan"), ValueError, "must be an integer, not nan"),
        (numpy.float32("nan"), ValueError, "must be an integer, not .*nan"),
        (float("inf"), OverflowError, "must be an integer, not inf"),
        (Decimal("-Infinity"), OverflowError, "must be an integer, not .*Decimal"),
        (2.0**32, OverflowError, "= 4294967296 is outside 0 .. 4294967295"),
        (-1.0, OverflowError, "= -1 is outside 0 .. 4294967295"),
    ],
)
def test_what_is_no_integer(value: Any, error: type[Exception], message: str, stub: Stub) -> None:
    with pytest.raises(error, match=f"cuLaunchKernel: blockDimZ {message}"):
        driver.cuLaunchKernel(1, 1, 1, 1, 1, 1, value, 0, None, None, None)
    with pytest.raises(error, match=f"CUDA_KERNEL_NODE_PARAMS.gridDimX {message}"):
        set_field(value)
    with pytest.raises(error, match=r"CUDA_EXTERNAL_MEMORY_BUFFER_DESC.reserved\[1\] " + message):
        set_item(value)
    assert stub.calls() == []


@pytest.mark.parametrize("make", [make_handle, set_handle_field], ids=lambda make: make.__name__)
def test_a_handle_is_made_of_what_an_integer_is_made_of(make: Callable[[Any], int]) -> None:
    assert make(2.0**60) == 2**60  # a float, and exact
    for value, error in ((float("nan"), ValueError), (float("inf"), OverflowError), ("1", TypeError)):
        with pytest.raises(error, match="CUdeviceptr"):
            make(value)
    for value in (2.0**64, -1.0):
        with pytest.raises(OverflowError, match="does not fit a CUdeviceptr"):
            make(value)


def test_no_pointer_has_a_fraction(stub: Stub) -> None:
    """An address that is not whole is a mistake; 4.0 comes from arithmetic."""
    assert int(driver.CUstream(4.0)) == 4
    with pytest.raises(TypeError, match="a CUstream is made from an integer, not float"):
        driver.CUstream(4.5)
    with pytest.raises(TypeError, match="cuStreamSynchronize: hStream: a CUstream is made from an integer"):
        driver.cuStreamSynchronize(4.5)
    with pytest.raises(TypeError, match="cuMemcpyHtoD: srcHost must be an address or a buffer, not float"):
        driver.cuMemcpyHtoD(1, 4.5, 1)
    assert stub.calls() == []


@pytest.mark.parametrize(("value", "rounded"), [(0, 0), (1, 12), (12, 12), (13, 24)])
def test_rounding_up(value: int, rounded: int) -> None:
    assert round_up(value, 12) == rounded
