"""What core says about mistakes that everybody makes once: what is wrong, and what to write instead."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from cudapy import driver
from cudapy.core import Buffer, CUDAError, Device, LaunchConfig, LinkerOptions, Program, ProgramOptions

from .kernels import context as context

pytestmark = pytest.mark.gpu

MISTAKES: dict[str, tuple[Callable[[Device, Buffer, Any], Any], str]] = {
    "a list is copied": (
        lambda device, buffer, stream: buffer.copy_from([1.0], stream=stream),
        r"copy_from: src must be an array: a Python list has no element type, as np\.array\(\.\.\.\) has",
    ),
    "a buffer is filled with a float": (
        lambda device, buffer, stream: buffer.fill(1.5, stream=stream),
        r"fill: value must be an array: a Python float has no element type, as np\.float32\(\.\.\.\) has",
    ),
    "a stream by position, of a copy": (
        lambda device, buffer, stream: buffer.copy_from(np.zeros(4, np.float32), stream),
        r"Buffer\.copy_from: the stream is given by name: copy_from\(src, stream=\.\.\.\)$",
    ),
    "a stream by position, of a copy to the host": (
        lambda device, buffer, stream: buffer.copy_to(np.zeros(4, np.float32), stream),
        r"Buffer\.copy_to: the stream is given by name: copy_to\(dst, stream=\.\.\.\)$",
    ),
    "a stream by position, of a fill": (
        lambda device, buffer, stream: buffer.fill(0, stream),
        r"Buffer\.fill: the stream is given by name: fill\(value, stream=\.\.\.\)$",
    ),
    "a shape is allocated": (
        lambda device, buffer, stream: device.allocate((10, 10), stream=stream),  # type: ignore[arg-type]
        r"a size in bytes is one number, not \(10, 10\): the product of a shape and its itemsize",
    ),
    "a device as PyTorch writes it": (
        lambda device, buffer, stream: Device("cuda:1"),  # type: ignore[arg-type]
        r"Device: device_id must be the number of a device, not 'cuda:1': write Device\(1\)$",
    ),
    "a device by another name": (
        lambda device, buffer, stream: Device("cpu"),  # type: ignore[arg-type]
        r"Device: device_id must be the number of a device, not 'cpu'$",
    ),
    "a buffer among pointers to arguments": (
        lambda device, buffer, stream: driver.cuLaunchKernel(0, 1, 1, 1, 1, 1, 1, 0, 0, [buffer], 0),  # type: ignore[list-item]
        r"kernelParams\[0\] must be an address or a buffer, not Buffer: give its \.handle",
    ),
    "a buffer among arguments": (
        lambda device, buffer, stream: driver.cuLaunchKernel(
            0, 1, 1, 1, 1, 1, 1, 0, 0, ((buffer, 2), (None, ctypes.c_int)), 0
        ),
        r"kernelParams\[0\]: .*: give its \.handle, and ctypes\.c_void_p for its type",
    ),
    "a block by position": (
        lambda device, buffer, stream: LaunchConfig(1, 32),
        r"LaunchConfig needs grid= .* and block= .*the second by position is cluster",
    ),
    "an option that is not there": (
        lambda device, buffer, stream: ProgramOptions(line_info=True),  # type: ignore[call-arg]
        r"ProgramOptions has no 'line_info'\. Did you mean 'lineinfo'\?",
    ),
    "an option that is not there, in a dict": (
        lambda device, buffer, stream: Program("", "c++", {"include_paths": "."}),
        r"ProgramOptions has no 'include_paths'\. Did you mean 'include_path'\?",
    ),
    "an option of the linker that is not there": (
        lambda device, buffer, stream: LinkerOptions(zzz=True),  # type: ignore[call-arg]
        r"LinkerOptions has no 'zzz'\.$",
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_type_error_says_what_to_write(context: Any, mistake: str) -> None:
    device = Device(0)
    stream = device.create_stream()
    buffer = device.allocate(16, stream=stream)
    make, words = MISTAKES[mistake]
    with pytest.raises(TypeError, match=words):
        make(device, buffer, stream)


@pytest.mark.parametrize("name", ["kernel.cu", "src/saxpy.cu", "../a b.ptx", "~/x/y.cuh"])
@pytest.mark.parametrize("kind", [str, str.encode])
def test_the_name_of_a_file_is_no_source(name: str, kind: Callable[[str], Any]) -> None:
    with pytest.raises(ValueError, match="looks like the name of a file") as caught:
        Program(kind(name), "c++")
    assert str(caught.value).endswith(f"pathlib.Path({name!r}).read_text()")


@pytest.mark.parametrize("source", ["", "int x;", "// kernel.cu", 'extern "C" __global__ void cu() {}'])
def test_what_is_no_name_of_a_file(source: str) -> None:
    assert Program(source, "c++").backend == "NVRTC"


def test_the_kernel_that_was_meant(context: Any) -> None:
    source = 'extern "C" __global__ void scale(float *x) {} extern "C" __global__ void shift(float *x) {}'
    code = Program(source, "c++").compile("cubin")
    with pytest.raises(CUDAError, match=r"It has: scale, shift\. Did you mean 'scale'\?"):
        code.get_kernel("scal")
    with pytest.raises(CUDAError) as caught:
        code.get_kernel("entirely_different")
    assert "Did you mean" not in str(caught.value)


def test_a_numpy_number_fills(context: Any) -> None:
    """What the messages above propose."""
    device = Device(0)
    stream = device.create_stream()
    buffer = device.allocate(16, stream=stream)
    buffer.fill(np.float32(1.5), stream=stream)
    found = np.empty(4, np.float32)
    buffer.copy_to(found, stream=stream)
    stream.sync()
    assert found.tolist() == [1.5] * 4
