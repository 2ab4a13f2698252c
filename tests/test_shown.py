"""What error messages show of values: their kind and size, not the data, and never another error."""

from __future__ import annotations

import ctypes
import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cudapy import driver
from cudapy._bindings.errors import Raiser
from cudapy._ffi.shown import shown, type_name
from cudapy.core import LaunchConfig
from cudapy.driver import CUresult

from .budget import budget


class Rude:
    """Its repr fails, takes long or says what nobody should read."""

    def __repr__(self) -> str:
        raise RuntimeError("mine")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "None"),
        (5, "5"),
        (1.5, "1.5"),
        (True, "True"),
        (b"kernel", "b'kernel'"),
        (b"kernel\0", "b'kernel\\x00'"),
        ("kernel", "'kernel'"),
        (b"\1\2\3", "<bytes of 3 bytes>"),
        (b"k" * 100, "<bytes of 100 bytes>"),
        ("k" * 100, "<str of 100 characters>"),
        (bytearray(b"secret"), "<bytearray of 6 bytes>"),
        (memoryview(b"secret"), "<memoryview of 6 bytes>"),
        (np.zeros((3, 4), "f4"), "<ndarray (3, 4) float32>"),
        (np.float32(1.5), repr(np.float32(1.5))),
        ((ctypes.c_char * 8)(), "<c_char_Array_8 of 8 bytes>"),
        (driver.CUstream(5), "<CUstream 0x5>"),
        (driver.CUresult.CUDA_SUCCESS, repr(driver.CUresult.CUDA_SUCCESS)),
        (driver.CUDA_MEMCPY2D(), "<CUDA_MEMCPY2D of 128 bytes>"),
        ([1, 2], "[1, 2]"),
        ((1, b"x"), "(1, b'x')"),
        (list(range(9)), "[0, 1, 2, 3, ... 9 items]"),
        ({"a": 1}, "<dict>"),
        (Rude(), "<Rude>"),
        ([Rude()], "[<Rude>]"),
        (1 << 10**6, "<int of 1000001 bits>"),
    ],
    ids=itertools.count(),
)
def test_by_example(value: Any, text: str) -> None:
    assert shown(value) == text


def test_a_list_of_itself_has_an_end() -> None:
    some: list[Any] = []
    some += [some] * 50
    assert shown(some) == "[<list>, <list>, <list>, <list>, ... 50 items]"


def test_what_cannot_even_be_counted() -> None:
    class Ruder(list):  # type: ignore[type-arg]
        def __len__(self) -> int:
            raise RuntimeError("mine")

        __iter__ = __getitem__ = __len__  # type: ignore[assignment]

    assert shown(Ruder()) == "<Ruder>"


def test_the_error_stays_what_it_is() -> None:
    """Whatever is shown of the arguments: a stranger, a large array, data that nobody should read."""
    failed = Raiser(dict)
    large = np.frombuffer(b"secret words" * 10_000_000, np.uint8)
    status = driver.CUresult.CUDA_ERROR_INVALID_VALUE
    error = failed("cuMemcpy", status, {"dst": Rude(), "src": large, "raw": bytes(large)})
    assert error.code is status and "dst=<Rude>" in str(error) and "secret" not in str(error)
    assert len(str(error)) < 600


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary() | st.builds(Rude),
    lambda x: st.lists(x) | st.tuples(x, x) | st.dictionaries(st.integers(), x),
)


@budget
@given(ANYTHING)
def test_anything_is_one_short_line(value: Any) -> None:
    text = shown(value)
    assert len(text) <= 60 and "\n" not in text


@pytest.mark.parametrize(
    ("module", "name", "expected"),
    [
        ("_core.kernels.launch_config", "LaunchConfig", "cudapy.core.LaunchConfig"),
        ("_types.driver.enums", "CUresult", "cudapy.driver.CUresult"),
    ],
)
def test_a_class_of_another_copy_is_named_in_full(module: str, name: str, expected: str) -> None:
    assert CUresult and LaunchConfig  # type: ignore[truthy-function]  # their modules are there
    theirs = type(name, (), {"__module__": f"mylib._cuda.{module}"})
    where = f", where {expected} is expected: take one of the same copy of cudapy"
    assert type_name(theirs()) == expected.replace("cudapy", "mylib._cuda") + where


def test_a_class_of_this_copy_or_of_a_stranger_is_named_as_it_is() -> None:
    strangers = [
        type("Event", (), {"__module__": module})()
        for module in ("mylib.core", "core", "mylib._core.streams", "_core.streams.event_options")
    ]
    for value in (LaunchConfig(grid=1, block=1), 5, *strangers):
        assert type_name(value) == type(value).__name__
