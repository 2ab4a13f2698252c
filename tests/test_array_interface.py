"""`__array_interface__` and `__cuda_array_interface__`: what is true is taken, everything else is refused."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import pytest
from cudapy.core.utils import StridedMemoryView
from hypothesis import example, given
from hypothesis import strategies as st

from cudapy._core.arrays.array_interface import read_array_interface

from .budget import budget, thorough

SCALARS = [np.float64, np.float32, np.float16, np.int8, np.uint64, np.complex128, np.bool_]


class Producer:
    """An object with interfaces that say what they are told."""

    def __init__(self, **interface: Any) -> None:
        self.__array_interface__ = self.__cuda_array_interface__ = interface


def read(view: StridedMemoryView) -> np.ndarray:
    """The elements, through an array that holds nothing but the view."""
    return np.from_dlpack(view)


# -- scalars ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scalar", SCALARS)
def test_a_view_of_a_scalar_holds_its_memory(scalar: Any) -> None:
    """While arrays of the same size come and go, which take memory that was freed."""
    values = [scalar(i % 2 if scalar is np.bool_ else i % 100) for i in range(200)]
    views, others = [], []
    for value in values:
        views.append(StridedMemoryView(value, -1))
        others.append(np.array(scalar(1)))
    gc.collect()
    assert [read(view)[()] for view in views] == values
    assert all(view.readonly and view.shape == () and view.dtype == np.dtype(scalar) for view in views)


def test_a_scalar_is_not_written_through_its_view() -> None:
    class Stream:
        def __cuda_stream__(self) -> tuple[int, int]:
            return 0, 7

    view = StridedMemoryView.from_array_interface(np.float64(1))
    with pytest.raises(ValueError, match="read-only"):
        view.copy_from(StridedMemoryView(np.array(2.0), -1), stream=Stream())


# -- dictionaries -------------------------------------------------------------------------------------------

MEMORY = bytearray(range(64))
GOOD: dict[str, Any] = {"shape": (4,), "typestr": "<i4", "data": (0x1000, False), "version": 3}


@pytest.mark.parametrize("is_cuda", [False, True])
@pytest.mark.parametrize(
    "address", [2**65, 2**64, -1, 1.5, "5", True, np.True_, b"A", [5], 2.0, 2**64 - 15, 0]
)
def test_an_address_is_an_int_of_64_bits(address: Any, is_cuda: bool) -> None:
    with pytest.raises(BufferError, match=r"_interface__ of a Producer is not valid"):
        read_array_interface(Producer(), {**GOOD, "data": (address, False)}, is_cuda)


@pytest.mark.parametrize(
    "wrong",
    [
        {"data": b"AB"},
        {"data": (1,)},
        {"data": (1, False, 2)},
        {"data": (0x1000, "no")},
        {"data": None},
        {"data": "AB"},
        {"data": 5},
        {"data": np.float64(1)},
        {"mask": np.zeros(4, bool)},
        {"offset": 4},
        {"offset": -1, "data": MEMORY},
        {"offset": 52, "data": MEMORY},
        {"offset": True, "data": MEMORY},
        {"descr": [("a", "<i4"), ("b", "<i4")]},
        {"descr": [("", "<f4")]},
        {"descr": "<i4"},
        {"descr": [()]},
        {"descr": [("a", "O")], "typestr": "|V8"},
        {"typestr": b"<i4"},
        {"typestr": "i4,i4"},
        {"typestr": "(2,)i4"},
        {"typestr": "|V0"},
        {"typestr": "|O8"},
        {"typestr": np.dtype("i4")},
        {"shape": 4},
        {"shape": (4.0,)},
        {"shape": (True,)},
        {"shape": (-1,)},
        {"shape": (2**63,)},
        {"shape": (2**62, 2**62)},
        {"shape": (1,) * 65},
        {"shape": "4"},
        {"strides": (3,)},
        {"strides": (4, 4)},
        {"strides": ("4",)},
        {"strides": (-(2**62),)},
        {"strides": 4},
    ],
)
def test_what_the_protocol_does_not_allow(wrong: dict[str, Any]) -> None:
    for is_cuda in (False, True):
        with pytest.raises(BufferError, match="of a Producer is not valid"):
            read_array_interface(Producer(), {**GOOD, **wrong}, is_cuda)


def test_strides_between_elements_are_a_value_error_too() -> None:
    for is_cuda in (False, True):
        with pytest.raises(ValueError, match="are not multiples of itemsize"):
            read_array_interface(Producer(), {**GOOD, "strides": (3,)}, is_cuda)


@pytest.mark.parametrize(
    "wrong", [{"version": "3"}, {"version": 2.9}, {"stream": "1"}, {"stream": -1}, {"stream": 2**64}]
)
def test_a_version_and_a_stream_are_ints(wrong: dict[str, Any]) -> None:
    with pytest.raises(BufferError, match="of a Producer is not valid"):
        StridedMemoryView.from_cuda_array_interface(Producer(**{**GOOD, **wrong}), -1)


def test_data_may_be_a_buffer_and_lies_at_its_offset() -> None:
    view = StridedMemoryView.from_array_interface(Producer(**{**GOOD, "data": MEMORY, "offset": 48}))
    assert read(view).tobytes() == MEMORY[48:] and not view.readonly
    with pytest.raises(BufferError):  # bytearray: it cannot be resized while the view is there
        MEMORY.append(0)
    constant = StridedMemoryView.from_array_interface(Producer(**{**GOOD, "data": bytes(MEMORY)}))
    assert read(constant).tobytes() == MEMORY[:16] and constant.readonly
    backwards = {**GOOD, "data": MEMORY, "offset": 12, "strides": (-4,)}
    assert read(StridedMemoryView.from_array_interface(Producer(**backwards)))[::-1].tobytes() == MEMORY[:16]


def test_structs_have_the_fields_that_descr_names() -> None:
    array = np.zeros(3, np.dtype([("a", "u1"), ("b", "<f8"), ("c", "i2", (2,))], align=True))
    view = StridedMemoryView.from_array_interface(array)
    assert view.dtype is not None and view.dtype.names == ("a", "b", "c")
    assert view.dtype.itemsize == array.dtype.itemsize
    assert [view.dtype.fields[name][1] for name in "abc"] == [array.dtype.fields[name][1] for name in "abc"]  # type: ignore[index]


@pytest.mark.parametrize("kind", ["f2", ">i4", "c16", "?", "S3", "U2", "M8[ns]", "m8[3us]", "V5", "i4,f8"])
def test_what_numpy_says_of_its_arrays_is_taken(kind: str) -> None:
    array = np.zeros((3, 4), kind)[::2, 1:]
    found = read_array_interface(array, array.__array_interface__)
    assert (found.address, found.readonly) == (array.ctypes.data, False)
    assert found.dtype == array.dtype and found.layout.shape == array.shape
    assert found.layout.strides_in_bytes == array.strides


# -- any dictionary -----------------------------------------------------------------------------------------

INTS = st.one_of(
    st.integers(-3, 70), st.sampled_from([2**31, 2**32, 2**62, 2**63 - 1, 2**63, 2**64, -(2**63)])
)
JUNK = st.one_of(INTS, st.none(), st.booleans(), st.floats(), st.text(max_size=3), st.binary(max_size=3))
DESCRIPTIONS = st.recursive(
    JUNK | st.sampled_from(["<i4", "|V8", "O", "a"]),
    lambda x: st.lists(x, max_size=3) | st.tuples(x, x),
    max_leaves=6,
)
KEYS: dict[str, Any] = {
    "shape": st.lists(INTS, max_size=4).map(tuple) | JUNK | st.lists(JUNK, max_size=2).map(tuple),
    "strides": st.none() | st.lists(INTS, max_size=4).map(tuple) | JUNK,
    "typestr": st.sampled_from(["<i4", ">f8", "|u1", "|b1", "|V3", "<U1", "|O8", "i4", "<M8[ns]"]) | JUNK,
    "data": st.tuples(INTS | JUNK, st.booleans() | JUNK) | st.binary(max_size=80) | JUNK,
    "offset": INTS | JUNK,
    "descr": DESCRIPTIONS,
    "mask": JUNK,
    "version": INTS | JUNK,
    "stream": INTS | JUNK,
}


@thorough
@given(st.fixed_dictionaries({}, optional=KEYS), st.booleans())
@example({**GOOD, "shape": (2**31,), "strides": (2**62,)}, True)
@example({**GOOD, "typestr": "|a4"}, False)  # which NumPy warns of, and warnings are errors here
@example({**GOOD, "descr": [("f", "a4")]}, False)
@example({**GOOD, "descr": [("", "(f4")]}, False)  # a SyntaxError of NumPy's
def test_any_dictionary_is_right_or_a_buffer_error(more: dict[str, Any], is_cuda: bool) -> None:
    interface = {**GOOD, **more}
    try:
        found = read_array_interface(Producer(), interface, is_cuda)
    except BufferError:
        return
    low, high = found.layout.offset_bounds
    size, data = found.layout.itemsize, interface["data"]
    if isinstance(data, bytes):
        assert not is_cuda
        if found.layout.volume:
            first = interface.get("offset", 0) + low * size
            assert first >= 0 and first + (high + 1 - low) * size <= len(data)
    else:
        assert type(data[0]) is int or data[0] is None
        assert found.address == (data[0] or 0) and type(data[1]) in (bool, int)
        assert not found.layout.volume or found.address + low * size >= 0
        assert not found.layout.volume or found.address + (high + 1) * size <= 2**64
    assert interface.get("mask") is None and len(found.layout.shape) <= 64


@budget
@given(st.data())
def test_dictionaries_over_real_memory_stay_inside_it(data: Any) -> None:
    """Every element of a view that was accepted is read: none lies outside of the producer's memory."""
    draw = data.draw
    memory = bytes(draw(st.binary(min_size=1, max_size=64)))
    interface = {
        **GOOD,
        "data": memory,
        "typestr": draw(st.sampled_from(["|u1", "<u2", "<i4", "|V3"])),
        "shape": tuple(draw(st.lists(st.integers(0, 9), max_size=3))),
        "strides": draw(st.none() | st.lists(st.integers(-12, 12), max_size=3).map(tuple)),
        "offset": draw(st.integers(0, 70)),
    }
    try:
        found = read_array_interface(Producer(), interface)
    except BufferError:
        return
    size = found.layout.itemsize
    steps = found.layout.strides_in_bytes or dense_strides(found.layout.shape, size)
    for index in np.ndindex(*found.layout.shape):
        place = interface["offset"] + sum(i * step for i, step in zip(index, steps, strict=True))
        assert 0 <= place <= len(memory) - size


def dense_strides(shape: tuple[int, ...], size: int) -> tuple[int, ...]:
    return np.empty(shape, f"V{size}").strides
