"""core on a real GPU: object code, and the kernels in it."""

from __future__ import annotations

import gc

import numpy as np
import pytest

from cudapy import driver
from cudapy.core import (
    CompileError,
    CUDAError,
    Kernel,
    LaunchConfig,
    ObjectCode,
    Program,
    ProgramOptions,
    launch,
)

from .core_kernels import KERNELS, content

pytestmark = pytest.mark.gpu


@pytest.mark.parametrize("dtype", [np.int32, np.float64])
def test_name_expressions_find_kernels(device, code, stream, dtype) -> None:
    name = {np.int32: "add_one<int>", np.float64: "add_one<double>"}[dtype]
    x = device.allocate(32 * np.dtype(dtype).itemsize, stream)
    x.copy_from(np.arange(32, dtype=dtype), stream=stream)
    kernel = code.get_kernel(name)
    assert kernel.name.encode() == code.symbol_mapping[name]
    assert code.get_kernel(kernel.name.encode()) == code.get_kernel(name.encode()) == kernel
    launch(stream, LaunchConfig(grid=1, block=32), kernel, x)
    assert content(x, dtype, stream).tolist() == list(range(1, 33))


def test_a_kernel_that_does_not_exist(code) -> None:
    with pytest.raises(CUDAError, match="add_one") as caught:
        code.get_kernel("add_one<float>")
    message = str(caught.value)
    assert "add_one<float>" in message and "name_expressions" in message and 'extern "C"' in message
    with pytest.raises(TypeError, match="name must be str or bytes, not int"):
        code.get_kernel(5)
    with pytest.raises(ValueError, match="NUL character at 4, where C would end it"):
        code.get_kernel("axpy\0add")
    if driver.checked.cuDriverGetVersion() >= 12040:
        assert "axpy" in message and "spin" in message


@pytest.mark.parametrize("target", ["ptx", "cubin"])
def test_code_from_a_file(device, stream, tmp_path, target) -> None:
    path = tmp_path / f"k.{target}"
    path.write_bytes(Program(KERNELS, "c++").compile(target).code)
    made = getattr(ObjectCode, f"from_{target}")(path, name="file", symbol_mapping={"sum": "axpy"})
    assert made.get_kernel("sum").name == "axpy"
    assert int(made.handle) and int(made.get_module())
    kernel = Kernel.from_handle(int(made.get_kernel("spin").handle), made)
    assert kernel.name == "spin"
    launch(stream, LaunchConfig(grid=1, block=1), kernel, 10)
    stream.sync()


def test_ptx_is_linked(device, stream) -> None:
    ptx = Program(KERNELS, "c++").compile("ptx").code
    program = Program(ptx.rstrip(b"\0").decode(), "ptx", ProgramOptions(max_register_count=32))
    made = program.link("cubin")
    assert program.backend in ("nvJitLink", "driver") and made.code.startswith(b"\x7fELF")
    launch(stream, LaunchConfig(grid=1, block=1), made.get_kernel("spin"), 10)
    stream.sync()


def test_ptx_that_is_wrong(device) -> None:
    wrong = f".version 8.0\n.target sm_{device.arch}\n.address_size 64\n.entry k() {{ nonsense; }}\n"
    with pytest.raises(CUDAError, match="nonsense"):
        ObjectCode.from_ptx(wrong).get_kernel("k")
    with pytest.raises(CompileError, match="nonsense"):
        Program(wrong, "ptx").link("cubin")


def test_a_library_that_was_handed_out_stays_loaded(device) -> None:
    """numba-cuda unloads by itself what it gets from ObjectCode.handle."""
    compiled = Program(KERNELS, "c++").compile("cubin").code
    code = ObjectCode.from_cubin(compiled)
    kernel, library = code.get_kernel("spin"), code.handle
    del code, kernel
    gc.collect()
    found = driver.checked.cuLibraryGetKernel(library, b"spin")
    assert driver.checked.cuKernelGetName(found) == b"spin"
    driver.checked.cuLibraryUnload(library)
