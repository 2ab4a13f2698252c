"""cuLaunchKernel, which takes a shorter way where a launch repeats: C must not see a difference."""

from __future__ import annotations

import ctypes
import inspect
import struct
import sys
from typing import Any

import pytest

from .stub import module
from .stub.record import Stub
from .test_echo_by_hand import received

driver = module("driver")
repeated_launch = sys.modules[driver.with_repeated_launches.__module__]  # of the same copy
OK, FAILED = driver.CUresult.CUDA_SUCCESS, driver.CUresult.CUDA_ERROR_OUT_OF_MEMORY
BIG = 0x1122334455667788


def q(value: int) -> bytes:
    return struct.pack("Q", value)


LAUNCH = ("gridDimX", "gridDimY", "gridDimZ", "blockDimX", "blockDimY", "blockDimZ", "sharedMemBytes")


@pytest.mark.parametrize("form", ["int", "packed"])
def test_a_launch_and_its_repetitions_are_the_same_to_c(form: str, stub: Stub) -> None:
    """The same launch arrives the first time, the second and ever after, whichever function carries it."""
    kernel, stream, shape = driver.CUfunction(BIG), driver.CUstream(0x99), (2, 3, 4, 5, 6, 7, 1 << 20)
    parameters: Any = BIG - 1 if form == "int" else ((1, 2.5), (ctypes.c_int, ctypes.c_double))
    for _ in range(5):
        assert driver.cuLaunchKernel(kernel, *shape, stream, parameters, 0) == (OK,)
        called, seen = received(stub)
        assert seen["f"] == q(BIG)
        assert seen["extra"] == q(0)
        assert seen["kernelParams"] == q(BIG - 1) if form == "int" else any(seen["kernelParams"])
        if called == "cuLaunchKernel":
            assert seen["hStream"] == q(0x99)
            assert tuple(struct.unpack("I", seen[name])[0] for name in LAUNCH) == shape
        else:
            config = driver.CUlaunchConfig()
            ctypes.memmove(config.getPtr(), seen["config"], len(seen["config"]))
            assert tuple(getattr(config, name) for name in LAUNCH) == shape
            assert (config.hStream, config.numAttrs) == (0x99, 0)
    stub.status = FAILED
    assert driver.cuLaunchKernel(kernel, *shape, stream, parameters, 0) == (FAILED,)


@pytest.mark.parametrize("changed", range(9))
def test_a_launch_that_differs_in_one_argument_is_another(changed: int, stub: Stub) -> None:
    arguments: list[Any] = [driver.CUfunction(BIG), 2, 3, 4, 5, 6, 7, 8, driver.CUstream(0x99)]
    for _ in range(3):
        driver.cuLaunchKernel(*arguments, None, None)
    stub.calls()
    arguments[changed] = type(arguments[changed])(1 << 20)
    driver.cuLaunchKernel(*arguments, None, None)
    called, seen = received(stub)
    assert called == "cuLaunchKernel"
    assert [int.from_bytes(raw, "little") for raw in seen.values()] == [*map(int, arguments), 0, 0]


def test_a_stream_object_that_got_another_value_is_another_stream(stub: Stub) -> None:
    kernel, stream = driver.CUfunction(BIG), driver.CUstream(0x99)
    for _ in range(3):
        driver.cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, stream, None, None)
    ctypes.memset(stream.getPtr(), 0x55, 8)
    stub.calls()
    driver.cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, stream, None, None)
    called, seen = received(stub)
    assert (called, seen["hStream"]) == ("cuLaunchKernel", b"\x55" * 8)


@pytest.mark.parametrize(("switch", "repeated"), [(None, "cuLaunchKernelEx"), ("0", "cuLaunchKernel")])
def test_the_environment_keeps_repeated_launches_in_cuLaunchKernel(
    switch: str | None, repeated: str, stub: Stub, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For tracers and interposers, which see another function else."""
    if switch is None:
        monkeypatch.delenv("CUDAPY_REPEATED_LAUNCH", raising=False)
    else:
        monkeypatch.setenv("CUDAPY_REPEATED_LAUNCH", switch)
    launch_kernel = repeated_launch.with_repeated_launches(driver.libcuda, driver._cuLaunchKernel)
    kernel, stream = driver.CUfunction(BIG), driver.CUstream(0x99)
    called = []
    for _ in range(4):
        assert launch_kernel(kernel, 1, 1, 1, 1, 1, 1, 0, stream, None, None) == (OK,)
        called.append(received(stub)[0])
    assert called == ["cuLaunchKernel", "cuLaunchKernel", repeated, repeated]
    assert (launch_kernel.__name__, launch_kernel.__doc__) == (
        "cuLaunchKernel",
        driver.cuLaunchKernel.__doc__,
    )
    assert inspect.signature(launch_kernel) == inspect.signature(driver._cuLaunchKernel)
