"""launch and prepare where the kinds of parameters are known: what converts, and what is refused."""

from __future__ import annotations

import ctypes
import struct
from functools import partial

import numpy as np
import pytest

from cudapy._core.kernels import node_parameters
from cudapy._core.kernels.object_code import ObjectCode
from cudapy.core import launch, prepare
from cudapy.driver import CUdeviceptr

from .test_launch import ARGUMENTS, CONFIG, OnDevice, Pair, buffer, kernel
from .test_launch import launches as launches
from .test_launch import stream as stream

SIZES = {"f16": 2, "f32": 4, "f64": 8, "u8": 1, "u16": 2, "u32": 4, "u64": 8, "b16": 2, "b32": 4}
SIZES |= {"b8[1]": 1, "b8[2]": 2, "b8[4]": 4, "b8[8]": 8, "b8[16]": 16}


def typed(launches, *types, told=True, name="k_param_{}"):
    """A kernel whose PTX declares these types; told: whether the driver tells the sizes, too."""
    made = kernel(launches, *[SIZES[one] for one in types], told=told)
    lines = []
    for i, one in enumerate(types):
        letter, bracket, count = one.partition("[")
        lines.append(f".param .{letter} {name.format(i)}{bracket}{count}")
    made._module = ObjectCode.from_ptx(f".visible .entry k(\n{', '.join(lines)})\n{{ ret; }}")
    return made


def ways(k, stream, *args):
    """The ways to give `args` to `k`: each gives the bytes of the last."""

    def through_graph(launches):
        made = node_parameters.arguments(k, args)
        at = ctypes.c_void_p.from_address(made.address + 8 * (len(args) - 1)).value
        return ctypes.string_at(at, launches.sizes[-1])

    def through(call):
        def run(launches):
            call()
            return launches.pop()[2][-1]

        return run

    return [
        through(partial(launch, stream, CONFIG, k, *args)),
        through(lambda: prepare(stream, CONFIG, k, *args)(*args)),
        through_graph,
    ]


CONVERTED = [
    ("f32", 2, struct.pack("f", 2)),
    ("f32", True, struct.pack("f", 1)),
    ("f32", -(2**40), struct.pack("f", -(2**40))),
    ("f64", 2, struct.pack("d", 2)),
    ("f64", False, struct.pack("d", 0)),
    ("f64", 2**64, struct.pack("d", 2**64)),
    ("f16", 2, struct.pack("e", 2)),
    ("f32", 0.5, struct.pack("f", 0.5)),
    ("f64", 0.5, struct.pack("d", 0.5)),
    ("f16", 0.5, struct.pack("e", 0.5)),
    ("f32", np.float32(0.5), struct.pack("f", 0.5)),
    ("f64", ctypes.c_double(0.5), struct.pack("d", 0.5)),
    ("f32", b"abcd", b"abcd"),
    ("u32", 2, struct.pack("i", 2)),
    ("u32", True, struct.pack("i", 1)),
    ("u8", np.bool_(True), b"\1"),
    ("u8", ctypes.c_bool(True), b"\1"),
    ("u64", 0x1234, struct.pack("q", 0x1234)),
    ("u64", buffer(), struct.pack("q", 0x1234)),
    ("u64", None, bytes(8)),
    ("u64", OnDevice(), struct.pack("q", 0x7000)),
    ("u64", CUdeviceptr(7), struct.pack("q", 7)),
    ("u64", np.datetime64(5, "s"), struct.pack("q", 5)),
    ("b8[8]", 7, struct.pack("q", 7)),  # a pointer in a struct, for example
    ("b8[8]", 1 + 2j, struct.pack("2f", 1, 2)),
    ("b8[8]", buffer(), struct.pack("q", 0x1234)),
    ("b8[4]", 7, struct.pack("i", 7)),
    ("b8[4]", 0.5, struct.pack("f", 0.5)),
    ("b32", np.float32(0.5), struct.pack("f", 0.5)),
    ("b8[2]", 0.5, struct.pack("e", 0.5)),
    ("b8[2]", np.int16(7), struct.pack("h", 7)),
    ("b8[16]", Pair(1, 2), bytes(Pair(1, 2))),
]


@pytest.mark.parametrize("told", [True, False])
@pytest.mark.parametrize(("kind", "value", "expected"), CONVERTED)
def test_numbers_become_what_the_kernel_takes(launches, stream, kind, value, expected, told) -> None:
    k = typed(launches, "u64", kind, told=told)
    for way in ways(k, stream, 1, value):
        for _ in range(2):
            assert way(launches) == expected


POINTER = "an integer of 8 bytes or a pointer"
REFUSED = [
    ("f32", np.int32(2), "int32 given, the kernel's parameter is a float"),
    ("f32", np.bool_(True), "bool_? given, the kernel's parameter is a float"),
    ("f32", ctypes.c_int(2), "c_int given, the kernel's parameter is a float"),
    (
        "f32",
        np.float64(2),
        r"float64 given, the kernel's parameter is a float: pass 2.0 or np.float32\(2.0\)",
    ),
    ("f32", ctypes.c_double(2), "it takes 8 bytes, the kernel's parameter has 4"),
    ("f64", np.int64(2), "int64 given, the kernel's parameter is a double"),
    ("f64", np.complex64(2), "complex64 given, the kernel's parameter is a double"),
    ("f64", 2j, "complex given, the kernel's parameter is a double"),
    ("f64", None, "NoneType given, the kernel's parameter is a double"),
    ("f64", buffer(), "Buffer given, the kernel's parameter is a double"),
    ("f64", OnDevice(), "OnDevice given, the kernel's parameter is a double"),
    ("f64", CUdeviceptr(7), "CUdeviceptr given, the kernel's parameter is a double"),
    ("f64", ctypes.c_void_p(7), "c_void_p given, the kernel's parameter is a double"),
    ("f64", np.datetime64(5, "s"), "datetime64 given, the kernel's parameter is a double"),
    ("f16", np.int16(2), "int16 given, the kernel's parameter is a half"),
    ("u32", 100.0, "float given, the kernel's parameter is an integer of 4 bytes"),
    ("u32", np.float32(2), "float32 given, the kernel's parameter is an integer of 4 bytes"),
    ("u32", ctypes.c_float(2), "c_float given, the kernel's parameter is an integer of 4 bytes"),
    (
        "u32",
        np.int64(2),
        r"int64 given, the kernel's parameter is an integer of 4 bytes: pass 2 or np.int32\(2\)",
    ),
    ("u16", np.float16(2), "float16 given, the kernel's parameter is an integer of 2 bytes"),
    ("u8", 2.0, "float given, the kernel's parameter is an integer of 1 byte$"),
    ("u64", 2.0, f"float given, the kernel's parameter is {POINTER}"),
    ("u64", np.float64(2), f"float64 given, the kernel's parameter is {POINTER}"),
    ("u64", 2j, f"complex given, the kernel's parameter is {POINTER}"),
    ("u64", np.complex64(2), f"complex64 given, the kernel's parameter is {POINTER}"),
    ("u64", np.int32(2), rf"int32 given, the kernel's parameter is {POINTER}: pass 2 or np.int64\(2\)"),
    ("b8[2]", 1, "int given, the kernel's parameter is 2 bytes.*pass a float, a NumPy scalar or bytes"),
    ("b16", True, "bool given, the kernel's parameter is 2 bytes"),
    ("b8[1]", 1, "int given, the kernel's parameter is 1 byte,.*pass a NumPy scalar or bytes"),
    ("b8[16]", np.clongdouble(1), "a clongdouble is not a kernel argument: no device has such floats"),
]


@pytest.mark.parametrize("told", [True, False])
@pytest.mark.parametrize(("kind", "value", "message"), REFUSED)
def test_values_of_another_kind_are_named(launches, stream, kind, value, message, told) -> None:
    k = typed(launches, "u64", kind, told=told)
    for way in ways(k, stream, 1, value):
        with pytest.raises(TypeError, match=f"^k: argument 1: {message}"):
            way(launches)
    assert not launches


def test_a_parameter_with_a_name_is_called_by_it(launches, stream) -> None:
    k = typed(launches, "u64", "f32", name="alpha{}")
    with pytest.raises(TypeError, match=r"argument 1: int32 given, the kernel's parameter alpha1 is a float"):
        launch(stream, CONFIG, k, 1, np.int32(2))
    with pytest.raises(
        TypeError, match=r"argument 1: float64 given, the kernel's parameter alpha1 is a float"
    ):
        launch(stream, CONFIG, k, 1, np.float64(2))


def test_numbers_that_do_not_fit_a_float(launches, stream) -> None:
    for kind, value in (("f32", 2**200), ("f64", 10**400), ("f16", 10**6)):
        k = typed(launches, "u64", kind)
        launch(stream, CONFIG, k, 1, 5)
        launches.clear()
        for way in ways(k, stream, 1, value):
            with pytest.raises(OverflowError, match=r"k: argument 1: \S.* does not fit a \d-byte float"):
                way(launches)
    assert not launches


@pytest.mark.filterwarnings("ignore:In future, it will be an error for 'np.bool'")  # NumPy of Python 3.10
@pytest.mark.parametrize("kind", ["f32", "f64", "u32", "u64", "b8[2]"])
def test_what_was_launched_before_changes_nothing(launches, stream, kind) -> None:
    """A value of any type after one of any other: the bytes are those of a first launch, or the error is."""
    values = [value for _, value, _ in ARGUMENTS] + [2, 0.5, True]

    def outcome(call):
        try:
            call()
            return launches.pop()[2]
        except (TypeError, OverflowError) as error:
            return type(error)

    first = [outcome(partial(launch, stream, CONFIG, typed(launches, kind), value)) for value in values]
    for before, known in zip(values, first, strict=True):
        if not isinstance(known, list):
            continue
        used, run = typed(launches, kind), prepare(stream, CONFIG, typed(launches, kind), before)
        for value, expected in zip(values, first, strict=True):
            number = getattr(value, "value", value)
            for call in (partial(run, value), partial(launch, stream, CONFIG, used, value)):
                launch(stream, CONFIG, used, before)
                launches.clear()
                found = outcome(call)
                # An integer of another width is refused at first, and as good as an int where one was before.
                assert found == expected or (
                    expected is TypeError
                    and found == [number.__index__().to_bytes(SIZES[kind], "little", signed=number < 0)]
                ), (before, value)


def test_declarations_that_the_driver_contradicts_do_not_count(launches, stream) -> None:
    k = typed(launches, "u64", "f32")
    k._parameters_known[1] = k._parameters_known[1][0], 8
    launches.sizes = (8, 8)
    launch(stream, CONFIG, k, 1, 2)
    assert launches[0][2] == [struct.pack("q", 1), struct.pack("q", 2)]


def test_the_number_of_arguments_is_known(launches, stream) -> None:
    k = typed(launches, "u64", "f32", told=False)
    with pytest.raises(TypeError, match="k takes 2 arguments, not 1"):
        launch(stream, CONFIG, k, 1)
    with pytest.raises(TypeError, match="k takes 0 arguments, not 1"):
        launch(stream, CONFIG, kernel(launches), 1)


NARROW = [
    (np.int32(7), b"\7\0\0\0"),
    (np.uint8(7), b"\7"),
    (ctypes.c_int(7), b"\7\0\0\0"),
    (ctypes.c_bool(True), b"\1"),
    (np.float32(2), struct.pack("f", 2)),
    (b"abc", b"abc"),
    (b"abcdefghijkl", b"abcdefghijkl"),
    (True, b"\1"),
]


@pytest.mark.parametrize(("value", "packed"), NARROW, ids=lambda value: type(value).__name__)
def test_nothing_is_read_of_what_lies_behind_a_value(launches, stream, value, packed) -> None:
    """Where neither driver nor code tells the sizes: a value is narrower than its parameter."""
    size = 8 if len(packed) <= 8 else 16
    k, expected = kernel(launches, size, size, size, told=False), packed.ljust(size, b"\0")
    run = prepare(stream, CONFIG, k, value, value, value)
    for _ in range(2):
        launch(stream, CONFIG, k, value, value, value)
        run(value, value, value)
    assert [found for _, _, found in launches] == [[expected] * 3] * 4
    made = node_parameters.arguments(k, (value, value, value))
    for at in (ctypes.c_void_p * 3).from_address(made.address):
        assert ctypes.string_at(at, size) == expected
