"""What core says about mistakes that everybody makes once: what is wrong, and what to write instead."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from cudapy import driver
from cudapy.core import (
    Buffer,
    CompileError,
    CUDAError,
    Device,
    LaunchConfig,
    LinkerOptions,
    Program,
    ProgramOptions,
    Stream,
    launch,
)

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
        lambda device, buffer, stream: device.allocate((10, 10), stream=stream),
        r"a size in bytes is one number, not \(10, 10\): the product of a shape and its itemsize",
    ),
    "a device as PyTorch writes it": (
        lambda device, buffer, stream: Device("cuda:1"),
        r"Device: device_id must be the number of a device, not 'cuda:1': write Device\(1\)$",
    ),
    "a device by another name": (
        lambda device, buffer, stream: Device("cpu"),
        r"Device: device_id must be the number of a device, not 'cpu'$",
    ),
    "a buffer among pointers to arguments": (
        lambda device, buffer, stream: driver.cuLaunchKernel(0, 1, 1, 1, 1, 1, 1, 0, 0, [buffer], 0),
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
    "an option that is like no other": (
        lambda device, buffer, stream: ProgramOptions(optimize=3),  # type: ignore[call-arg]
        r"ProgramOptions has no 'optimize'\.$",
    ),
    "an option as another library calls it": (
        lambda device, buffer, stream: ProgramOptions(standard="c++17"),  # type: ignore[call-arg]
        r"ProgramOptions has no 'standard'\. Did you mean 'std'\?",
    ),
    "shared memory as another library calls it": (
        lambda device, buffer, stream: LaunchConfig(grid=1, block=1, shared_mem=4),
        r"LaunchConfig has no 'shared_mem'\. Did you mean 'shmem_size'\?",
    ),
    "a number for a stream": (
        lambda device, buffer, stream: buffer.fill(0, stream=0),
        r"not int: LEGACY_DEFAULT_STREAM, or Stream\.from_handle\(0\)$",
    ),
    "an array is allocated": (
        lambda device, buffer, stream: device.allocate(np.zeros(4)),
        r"in bytes is a number, not <ndarray \(4,\) float64>: its \.nbytes, or Device\.upload\(array\)",
    ),
    "text is uploaded": (
        lambda device, buffer, stream: device.upload("hello"),
        r"upload: array must be a host array, not str$",
    ),
    "a quotient for a grid": (
        lambda device, buffer, stream: LaunchConfig(grid=10 / 2, block=1),
        r"grid = 5\.0 must be an int or 1 to 3 of them: divide with //$",
    ),
    "a stream from text": (
        lambda device, buffer, stream: Stream.from_handle("x"),
        r"Stream\.from_handle: handle, an address, must be an integer, not 'x'$",
    ),
    "a buffer for an address": (
        lambda device, buffer, stream: driver.cuMemsetD8(buffer, 0, 10),
        r"cuMemsetD8: dstDevice: a CUdeviceptr is made from an integer, not Buffer: give its \.handle$",
    ),
    "a status and a result for the result": (
        lambda device, buffer, stream: driver.cuMemFree((0, 1)),
        r"not tuple: unpack what a function returns, \(status, result\), or use `checked`$",
    ),
    "a function of Python for one of C": (
        lambda device, buffer, stream: driver.CUhostFn(print),
        r"not builtin_function_or_method: ctypes\.CFUNCTYPE\(None, ctypes\.c_void_p\)\(f\)$",
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


KERNEL = 'extern "C" __global__ void k(float a, int n, float *x) { x[0] = a * n; }'
ONE = LaunchConfig(grid=1, block=1)
LAUNCHES: dict[str, tuple[Callable[[Any, Any, Any], Any], str]] = {
    "called": (
        lambda code, kernel, stream: kernel(1.0, 2),
        r"a Kernel is not called, but launched: launch\(stream, LaunchConfig\(grid=\.\.\., block=",
    ),
    "with a grid in brackets": (
        lambda code, kernel, stream: kernel[1, 2](1.0),
        r"a Kernel has no \[grid, block\]: launch\(stream, ",
    ),
    "the kernel first": (
        lambda code, kernel, stream: launch(kernel, ONE, stream, 1.0),
        r"launch takes a Kernel third, not Stream: launch\(stream, .*, kernel, \*arguments\)$",
    ),
    "a tuple for the config": (
        lambda code, kernel, stream: launch(stream, (1, 1), kernel, 1.0),
        r"launch takes a LaunchConfig second, not tuple: launch\(stream, .*, kernel, \*arguments\)$",
    ),
    "its name": (
        lambda code, kernel, stream: launch(stream, ONE, "k", 1.0),
        r"launch takes a Kernel third, not str: get it by code\.get_kernel\('k'\)$",
    ),
    "its source": (
        lambda code, kernel, stream: launch(stream, ONE, "__global__ void k() {}", 1.0),
        r"not str: get it by Program\(source, \"c\+\+\"\)\.compile\(\"cubin\"\)\.get_kernel\('name'\)$",
    ),
    "all of the code": (
        lambda code, kernel, stream: launch(stream, ONE, code, 1.0),
        r"launch takes a Kernel third, not ObjectCode: get it by code\.get_kernel\('name'\)$",
    ),
    "a double of NumPy for a float": (
        lambda code, kernel, stream: launch(stream, ONE, kernel, np.float64(0.5), 1, None),
        r"float64 given, the kernel's parameter is a float: pass 0\.5 or np\.float32\(0\.5\)$",
    ),
    "a long integer of NumPy for an int": (
        lambda code, kernel, stream: launch(stream, ONE, kernel, 0.5, np.int64(3), None),
        r"int64 given, the kernel's parameter is an integer of 4 bytes: pass 3 or np\.int32\(3\)$",
    ),
}


@pytest.mark.parametrize("mistake", LAUNCHES)
def test_a_launch_that_is_none_says_what_to_write(context: Any, mistake: str) -> None:
    code = Program(KERNEL, "c++").compile("cubin")
    make, words = LAUNCHES[mistake]
    with pytest.raises(TypeError, match=words):
        make(code, code.get_kernel("k"), Device(0).create_stream())


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("stream.synchronize", "'Stream' object has no attribute 'synchronize': sync()"),
        ("event.elapsed_time", "'Event' object has no attribute 'elapsed_time': end - start"),
        ("buffer.get", "'Buffer' object has no attribute 'get': download(dtype)"),
        ("buffer.free", "'Buffer' object has no attribute 'free': close()"),
    ],
)
def test_names_that_others_have_lead_to_those_that_are_there(context: Any, name: str, words: str) -> None:
    device = Device(0)
    given, attribute = name.split(".")
    made: dict[str, Callable[[], Any]] = {
        "stream": device.create_stream,
        "event": device.create_event,
        "buffer": lambda: device.allocate(1),
    }
    with pytest.raises(AttributeError) as caught:
        getattr(made[given](), attribute)
    assert str(caught.value) == words


def test_a_program_has_no_kernel_before_it_is_compiled() -> None:
    program = Program(KERNEL, "c++")
    with pytest.raises(
        AttributeError, match=r"compile first, program\.compile\('cubin'\)\.get_kernel\(name\)$"
    ):
        program.get_kernel("k")  # type: ignore[attr-defined]
    assert not hasattr(program, "get_kernel") and not callable(program)


@pytest.mark.parametrize(
    ("source", "hint"),
    [
        (
            "__global__ void k() {}\nint main() { return 0; }",
            "delete main(), mark helper functions __device__",
        ),
        ("int twice(int x) { return 2 * x; }", "delete main(), mark helper functions __device__"),
        ('#include "mine.cuh"', '"mine.cuh" is not in the include_path (here, there): give the folder'),
    ],
)
def test_a_source_that_does_not_compile(source: str, hint: str) -> None:
    options = ProgramOptions(include_path=["here", "there"], arch="sm_90")
    with pytest.raises(CompileError) as caught:
        Program(source, "c++", options).compile("cubin")
    assert hint in re.findall("^Hint: (.*)$", str(caught.value), re.MULTILINE)[0]


def test_a_block_that_is_too_large_is_named_once(context: Any) -> None:
    kernel = Program(KERNEL, "c++").compile("cubin").get_kernel("k")
    with pytest.raises(CUDAError, match="INVALID_VALUE") as caught:
        launch(Device(0).create_stream(), LaunchConfig(grid=1, block=2048), kernel, 1.0, 1, None)
    text = str(caught.value)
    assert "A block of 2048 threads is too large: the device takes 1024." in text
    assert text.count("1024") == 1 and "Hint" not in text


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
