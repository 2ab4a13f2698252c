"""Kernel arguments keep their bits, and what is taken does not depend on what was launched before."""

from __future__ import annotations

import ctypes
import itertools
import struct
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cudapy import driver
from cudapy._core.kernels.arguments import encode
from cudapy._core.kernels.kernel import Kernel
from cudapy._core.kernels.launch import Writer
from cudapy._core.kernels.parameter_kinds import Parameter
from cudapy._ffi.packed_launch import PACK_ERRORS, attempt
from cudapy.core import Buffer

from .budget import budget


class Packed:
    """What the function that is written for arguments of some types packs for others: the hot path."""

    def __init__(self, *args: Any, sizes: tuple[int, ...]) -> None:
        made = Kernel(driver.CUkernel(0x77), "k", None)
        offsets = itertools.accumulate((8 for _ in sizes), initial=0)
        made._parameters_known = [*zip(offsets, sizes, strict=False)]
        self.writer = Writer(made, args)
        self.sizes = sizes
        lines = attempt(*self.writer.packing("args"))
        names = "" if self.writer.is_plain else f"    {', '.join(self.writer.names)}, = args\n"
        source = f"def pack(room, args, kernel=0, stream=0, config=0, push=lambda x: 0, slot=0):\n{names}    "
        scope = {**self.writer.scope(), "dispatch": self.dispatch, "PACK_ERRORS": PACK_ERRORS}
        exec(source + "\n    ".join(lines), scope)
        self.pack = scope["pack"]

    def dispatch(self, kernel: Any, stream: Any, config: Any, args: Any) -> None:
        self.again = args

    def __call__(self, *args: Any) -> bytes:
        room = memoryview(bytearray(8 * len(args)))[: self.writer.layout.struct.size]
        self.again = None
        self.pack(room, args)
        if self.again is not None:
            return Packed(*args, sizes=self.sizes)(*args)
        return b"".join(bytes(room[8 * i : 8 * i + size]) for i, size in enumerate(self.sizes))


def result(function: Any) -> Any:
    try:
        return function()
    except (TypeError, OverflowError) as error:
        return type(error)


# -- bits ---------------------------------------------------------------------------------------------------


def test_every_half_keeps_its_bits() -> None:
    packed = Packed(np.float16(1), sizes=(2,))
    for bits in range(1 << 16):
        value = np.uint16(bits).view("f2")
        if bits & 0x7C00 == 0x7C00 or bits % 97 == 0:  # NaNs, infinity, and some of the others
            assert packed(value) == struct.pack("<H", bits) == encode(value, Parameter(size=2))


PATTERNS = st.integers(0, 2**32 - 1) | st.integers(0, 2**23 - 1).map(lambda payload: 0x7F800000 | payload)


@budget
@given(PATTERNS, PATTERNS)
def test_floats_of_32_bits_keep_theirs(one: int, other: int) -> None:
    value = np.uint32(one).view("f4")
    pair = np.array([one, other], "u4").view("c8")[0]
    of_c = ctypes.c_float.from_buffer_copy(struct.pack("<I", one))
    assert Packed(np.float32(1), sizes=(4,))(value) == struct.pack("<I", one)
    assert Packed(ctypes.c_float(1), sizes=(4,))(of_c) == struct.pack("<I", one)
    assert Packed(np.complex64(1), sizes=(8,))(pair) == struct.pack("<2I", one, other)


@budget
@given(st.integers(0, 2**64 - 1) | st.integers(0, 2**52 - 1).map(lambda payload: 0x7FF << 52 | payload))
def test_doubles_keep_theirs(bits: int) -> None:
    value, of_c = np.uint64(bits).view("f8"), ctypes.c_double.from_buffer_copy(struct.pack("<Q", bits))
    assert Packed(np.float64(1), sizes=(8,))(value) == struct.pack("<Q", bits)
    assert Packed(ctypes.c_double(1), sizes=(8,))(of_c) == struct.pack("<Q", bits)
    assert Packed(np.complex128(1), sizes=(16,)).writer.layout.struct.size == 16


@pytest.mark.parametrize("scalar", [np.longdouble, np.clongdouble])
def test_what_no_device_has(scalar: Any) -> None:
    with pytest.raises(TypeError, match="no device has such floats"):
        encode(scalar(1), Parameter())


# -- history ------------------------------------------------------------------------------------------------


class Array:
    """One element of another library's, which has an index as CuPy's do."""

    __cuda_array_interface__: ClassVar[dict[str, Any]] = {
        "data": (0x1000, False),
        "shape": (),
        "typestr": "<i8",
        "version": 3,
    }

    def __index__(self) -> int:
        return 7

    def __float__(self) -> float:
        return 7.0


class Wrong(Array):
    __cuda_array_interface__: ClassVar[dict[str, Any]] = {**Array.__cuda_array_interface__, "data": b"AB"}


VALUES: list[Any] = [
    5,
    True,
    1.5,
    None,
    1 + 2j,
    b"12345678",
    b"1234",
    *(np.dtype(code).type(5) for code in "bBhHiIqQefdF?"),
    np.array(5),
    np.array(5.0),
    np.datetime64(5, "s"),
    ctypes.c_int(5),
    ctypes.c_uint8(5),
    ctypes.c_float(5),
    ctypes.c_void_p(5),
    driver.CUdeviceptr(5),
    driver.CUstream(5),
    driver.CUresult.CUDA_SUCCESS,
    Buffer.from_handle(0x2000, 8),
    Array(),
    Wrong(),
    "text",
]


@pytest.mark.parametrize("size", [1, 2, 4, 8])
@pytest.mark.parametrize("before", range(len(VALUES)))
def test_what_is_taken_does_not_depend_on_what_was_launched_before(before: int, size: int) -> None:
    packed = result(lambda: Packed(VALUES[before], sizes=(size,)))
    if packed is TypeError:
        return
    for value in VALUES:
        first = result(lambda value=value: Packed(value, sizes=(size,))(value))
        assert result(lambda value=value: packed(value)) == first, (VALUES[before], value)
    second = Packed(VALUES[before], 5, sizes=(size, 8))  # where names are given to them
    assert result(lambda: second(VALUES[before], np.array(5))) is TypeError


def test_an_address_of_an_array_is_an_address() -> None:
    assert encode(Array(), Parameter(size=8)) == struct.pack("<Q", 0x1000)
    with pytest.raises(TypeError, match="data is of type bytes"):
        encode(Wrong(), Parameter(size=8))
    for address in (-1, 2**64):
        Wrong.__cuda_array_interface__["data"] = address, False
        with pytest.raises(OverflowError, match="the address in data is outside"):
            encode(Wrong(), Parameter(size=8))
