"""cuLaunchKernel, which C gets as cuLaunchKernelEx from the second launch on: it sees no difference."""

from __future__ import annotations

import ctypes
import inspect
import random
from typing import Any

import numpy as np
import pytest

from .stub import module
from .stub.record import Stub
from .test_echo_by_hand import received

driver = module("driver")
lanes = module("_ffi.lanes")
OK, FAILED = driver.CUresult.CUDA_SUCCESS, driver.CUresult.CUDA_ERROR_OUT_OF_MEMORY
BIG = 0x1122334455667788


LAUNCH = ("gridDimX", "gridDimY", "gridDimZ", "blockDimX", "blockDimY", "blockDimZ", "sharedMemBytes")


def arrived(stub: Stub) -> tuple[str, dict[str, int]]:
    """Which function C was called by, and the same eleven arguments, whichever it was."""
    called, seen = received(stub)
    values = {name: int.from_bytes(raw, "little") for name, raw in seen.items() if name != "config"}
    if called == "cuLaunchKernelEx":
        config = driver.CUlaunchConfig()
        ctypes.memmove(config.getPtr(), seen["config"], len(seen["config"]))
        assert config.numAttrs == 0
        values |= {name: getattr(config, name) for name in LAUNCH} | {"hStream": int(config.hStream)}
    return called, values


@pytest.mark.parametrize("form", ["int", "packed"])
def test_a_launch_and_its_repetitions_are_the_same_to_c(form: str, stub: Stub) -> None:
    """The same launch arrives the first time, the second and ever after, whichever function carries it."""
    kernel, stream, shape = driver.CUfunction(BIG), driver.CUstream(0x99), (2, 3, 4, 5, 6, 7, 1 << 20)
    parameters: Any = BIG - 1 if form == "int" else ((1, 2.5), (ctypes.c_int, ctypes.c_double))
    for _ in range(5):
        assert driver.cuLaunchKernel(kernel, *shape, stream, parameters, 0) == (OK,)
        _, seen = arrived(stub)
        assert seen["kernelParams"] == BIG - 1 if form == "int" else seen["kernelParams"]
        assert seen == {
            **dict(zip(LAUNCH, shape, strict=True)),
            "f": BIG,
            "hStream": 0x99,
            "kernelParams": seen["kernelParams"],
            "extra": 0,
        }
    stub.status = FAILED
    assert driver.cuLaunchKernel(kernel, *shape, stream, parameters, 0) == (FAILED,)


@pytest.mark.parametrize("changed", range(9))
def test_a_launch_that_differs_in_one_argument_is_another(changed: int, stub: Stub) -> None:
    arguments: list[Any] = [driver.CUfunction(BIG), 2, 3, 4, 5, 6, 7, 8, driver.CUstream(0x99)]
    names = ("f", *LAUNCH, "hStream")
    for _ in range(3):
        driver.cuLaunchKernel(*arguments, None, None)
    stub.calls()
    other = list(arguments)
    other[changed] = type(arguments[changed])(1 << 20)
    for _ in range(3):  # in turns, so that each of them is remembered
        for each in (other, arguments):
            driver.cuLaunchKernel(*each, None, None)
            _, seen = arrived(stub)
            assert [seen[name] for name in names] == list(map(int, each))


def test_launches_in_turns_arrive_as_they_are(stub: Stub) -> None:
    """More kernels and streams than are remembered, and grids that change, in a random order."""
    draw = random.Random(0)
    kernels = [driver.CUfunction(0x1000 + i) for i in range(10)]
    streams = [driver.CUstream(0x10 + i) for i in range(10)]
    for _ in range(3000):
        f, stream = (
            draw.choice(kernels[: draw.choice((1, 2, 10))]),
            draw.choice(streams[: draw.choice((1, 10))]),
        )
        shape = [draw.choice((1, 300)), 2, 3, draw.choice((4, 300)), 5, 6, draw.choice((0, 0, 300))]
        parameters = draw.choice((None, 0x77, 0x88))
        assert driver.cuLaunchKernel(f, *shape, stream, parameters, draw.choice((None, 0))) == (OK,)
        _, seen = arrived(stub)
        assert seen == {
            **dict(zip(LAUNCH, shape, strict=True)),
            "f": int(f),
            "hStream": int(stream),
            "kernelParams": parameters or 0,
            "extra": 0,
        }


@pytest.mark.parametrize(
    ("changed", "value", "error"),
    [(1, -1, OverflowError), (2, 2**32, OverflowError), (3, "1", TypeError), (8, object(), TypeError)],
)
def test_what_cannot_be_passed_is_refused_in_every_launch(
    changed: int, value: object, error: type[Exception], stub: Stub
) -> None:
    arguments: list[Any] = [driver.CUfunction(BIG), 2, 3, 4, 5, 6, 7, 8, driver.CUstream(0x99), None, None]
    messages = set()
    for _ in range(3):
        wrong = list(arguments)
        wrong[changed] = value
        with pytest.raises(error) as caught:
            driver.cuLaunchKernel(*wrong)
        messages.add(str(caught.value))
        driver.cuLaunchKernel(*arguments)
    assert len(messages) == 1


def test_whatever_is_a_number_is_taken_in_every_launch(stub: Stub) -> None:
    kernel, stream = driver.CUfunction(BIG), driver.CUstream(0x99)
    for _ in range(3):
        driver.cuLaunchKernel(kernel, np.int64(5), True, 1, np.uint8(6), 1, 1, 0, stream, None, None)
        _, seen = arrived(stub)
        assert [seen[name] for name in LAUNCH] == [5, 1, 1, 6, 1, 1, 0]
        driver.cuLaunchKernel(int(kernel), 5, 1, 1, 6, 1, 1, 0, int(stream), None, None)
        _, seen = arrived(stub)
        assert (seen["f"], seen["hStream"]) == (BIG, 0x99)


def test_a_stream_object_that_got_another_value_is_another_stream(stub: Stub) -> None:
    kernel, stream = driver.CUfunction(BIG), driver.CUstream(0x99)
    for _ in range(3):
        driver.cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, stream, None, None)
    ctypes.memset(stream.getPtr(), 0x55, 8)
    stub.calls()
    driver.cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, stream, None, None)
    assert arrived(stub)[1]["hStream"] == 0x5555555555555555


def test_which_function_c_is_called_by(stub: Stub) -> None:
    """cuLaunchKernel in the fast lane, values and types included; elsewhere the other one after the first."""
    launch_kernel = driver.launch_kernel(driver.libcuda, driver._cuLaunchKernel)
    later = "cuLaunchKernelEx" if lanes.why_not() else "cuLaunchKernel"
    kernel, stream = driver.CUfunction(BIG), driver.CUstream(0x99)
    called = []
    for parameters in (None, None, 0x77, ((1, 2.5), (ctypes.c_int, ctypes.c_double)), ((), ())):
        assert launch_kernel(kernel, 1, 1, 1, 1, 1, 1, 0, stream, parameters, None) == (OK,)
        called.append(received(stub)[0])
    assert called == ["cuLaunchKernel", *[later] * 4]
    assert (launch_kernel.__name__, launch_kernel.__doc__) == (
        "cuLaunchKernel",
        driver.cuLaunchKernel.__doc__,
    )
    assert inspect.signature(launch_kernel) == inspect.signature(driver._cuLaunchKernel)
