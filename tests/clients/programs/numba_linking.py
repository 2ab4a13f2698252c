"""CUDA C++ and PTX linked into Numba's kernels: source, files, set-up functions, variables of the code."""

import tempfile
from pathlib import Path

import numpy as np
from cuda.bindings import driver
from cuda.core import Device, Program, ProgramOptions
from numba import cuda

SOURCE = r"""
extern "C" __device__ int mixed(int *result, double x, int n)
{
    *result = (int)(x * n) + 1;
    return 0;
}
"""
COUNTER = r"""
__device__ int counter;
extern "C" __device__ int count(int *result) { *result = atomicAdd(&counter, 1); return 0; }
"""


def kernel_with(link):
    mixed = cuda.declare_device("mixed", "int32(float64, int32)", link=link)

    @cuda.jit
    def kernel(x, out):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = mixed(x[i], i)

    return kernel


def check(link):
    x, out = np.linspace(0, 3, 40), np.zeros(40, np.int32)
    kernel_with(link)[2, 32](x, out)
    assert np.array_equal(out, (x * np.arange(40)).astype(int) + 1)


def from_everywhere():
    check(cuda.CUSource(SOURCE))
    arch = Device().arch
    ptx = Program(SOURCE, "c++", ProgramOptions(arch=f"sm_{arch}", relocatable_device_code=True)).compile(
        "ptx"
    )
    check(cuda.PTXSource(ptx.code))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "mixed.cu")
        path.write_text(SOURCE)
        check(str(path))
        path = Path(folder, "mixed.ptx")
        path.write_bytes(ptx.code)
        check(str(path))


def variables_of_the_code():
    """A set-up function of the linked code writes a variable before the first launch."""
    ended = []

    def set_up(code):
        status, pointer, size = driver.cuLibraryGetGlobal(code.handle, b"counter")
        assert status == driver.CUresult.CUDA_SUCCESS and size == 4
        driver.cuMemcpyHtoD(pointer, np.array([40], np.int32), size)

    count = cuda.declare_device(
        "count",
        "int32()",
        link=cuda.CUSource(COUNTER, setup_callback=set_up, teardown_callback=lambda code: ended.append(code)),
    )

    @cuda.jit
    def kernel(out):
        out[cuda.grid(1)] = count()

    out = np.zeros(32, np.int32)
    kernel[1, 32](out)
    assert sorted(out) == list(range(40, 72))
    kernel[1, 32](out)
    assert sorted(out) == list(range(72, 104)) and not ended


from_everywhere()
variables_of_the_code()
