"""Arguments of launches arrive byte for byte in the parameter's own size, or are refused by name."""

from __future__ import annotations

import ctypes
import struct
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cudapy._core.kernels.kernel import Kernel
from cudapy._core.kernels.node_parameters import arguments
from cudapy.driver import CUkernel
from tests.budget import thorough

SIGNED = {1: "b", 2: "h", 4: "i", 8: "q"}
FLOATS = {2: "<e", 4: "<f", 8: "<d"}
sizes = st.sampled_from([1, 2, 4, 8])


def kernel(*parameters: int) -> Kernel:
    """A kernel with parameters of these sizes."""
    made, end = Kernel(CUkernel(0x77), "k", None), 0
    found = []
    for size in parameters:
        offset = -(-end // size) * size
        found.append((offset, size))
        end = offset + size
    made._parameters_known = found
    return made


def arrived(parameters: list[int], *args: Any) -> list[bytes]:
    """What the driver reads for each parameter."""
    block = arguments(kernel(*parameters), args)
    table = (ctypes.c_void_p * len(parameters)).from_address(block.address)
    return [ctypes.string_at(at, size) for at, size in zip(table, parameters, strict=True)]


def whole(value: int, size: int) -> bytes | None:
    """An integer as C has it, signed or not; None if it fits neither."""
    for code in (SIGNED[size], SIGNED[size].upper()):
        try:
            return struct.pack(code, value)
        except struct.error:
            continue
    return None


near = st.sampled_from([2**n + d for n in (0, 7, 8, 15, 16, 31, 32, 63, 64) for d in (-1, 0, 1)])


@thorough
@given(
    st.lists(
        st.tuples(sizes, st.integers(-(2**66), 2**66) | near | near.map(lambda n: -n)), min_size=1, max_size=5
    )
)
def test_integers(given: list[tuple[int, int]]) -> None:
    parameters, values = [size for size, _ in given], [value for _, value in given]
    wanted = [whole(value, size) for size, value in given]
    if None in wanted:
        index = wanted.index(None)
        with pytest.raises(OverflowError, match=rf"k: argument {index}: .*{values[index]}"):
            arrived(parameters, *values)
    else:
        assert arrived(parameters, *values) == wanted


@thorough
@given(sizes, st.floats())
def test_floats(size: int, value: float) -> None:
    try:
        wanted = struct.pack(FLOATS[size], value)
    except KeyError:
        with pytest.raises(TypeError, match="k: argument 0"):
            arrived([size], value)
    except OverflowError:
        with pytest.raises(OverflowError, match="k: argument 0"):
            arrived([size], value)
    else:
        assert arrived([size], value) == [wanted]


SCALARS = ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "c8", "c16", "?"]


@thorough
@given(st.sampled_from(SCALARS), st.sampled_from([1, 2, 4, 8]), st.integers(0, 100))
def test_numpy_scalars_have_the_size_of_the_parameter_or_are_refused(
    kind: str, size: int, value: int
) -> None:
    scalar = np.dtype(kind).type(value)
    if scalar.nbytes == size:
        assert arrived([size], scalar) == [scalar.tobytes()]
    else:
        with pytest.raises(TypeError, match=r"k: argument 0: .*bytes"):
            arrived([size], scalar)


@thorough
@given(st.lists(sizes, max_size=5), st.integers(0, 6))
def test_as_many_arguments_as_parameters(parameters: list[int], count: int) -> None:
    if count == len(parameters):
        arrived(parameters, *[1] * count)
    else:
        with pytest.raises(TypeError, match=rf"k.*{len(parameters)}.*{count}|k.*{count}.*{len(parameters)}"):
            arrived(parameters, *[1] * count)


@thorough
@given(
    st.sampled_from(["text", b"bytes", object(), [1], (1,), {}, {1}, len, np.arange(4), np.str_("x")]), sizes
)
def test_what_is_no_argument(value: Any, size: int) -> None:
    with pytest.raises(TypeError, match="k: argument 0"):
        arrived([size], value)
