"""CuPy: a kernel of one's own on its arrays, in its stream.

    python samples/interop/cupy_arrays.py

Whatever has `__cuda_array_interface__` is a kernel argument, and CuPy's streams are given like cudapy's
own: both use the device's primary context, and nothing is copied or waited for.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np

from cudapy import simulator
from cudapy.core import Device, LaunchConfig, Program, Stream, launch

KERNEL = """
extern "C" __global__ void saxpy(float a, const float *x, const float *y, float *out, size_t n)
{
    size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = a * x[i] + y[i];
}
"""
N, THREADS = 1 << 20, 256


def main() -> int:
    if not find_spec("cupy"):
        print("WAIVED: needs CuPy")
        return 77
    if simulator.stand_in():
        print("WAIVED: CuPy needs a GPU")
        return 77
    cp: Any = import_module("cupy")
    if not cp.cuda.is_available():
        print("WAIVED: CuPy finds no GPU")
        return 77
    device = Device()
    device.set_current()
    kernel = Program(KERNEL, "c++").compile("cubin").get_kernel("saxpy")

    theirs = cp.cuda.Stream(non_blocking=True)
    with theirs:
        x, y = cp.random.random(N, dtype=cp.float32), cp.random.random(N, dtype=cp.float32)
        out = cp.empty_like(x)
        config = LaunchConfig(grid=(N + THREADS - 1) // THREADS, block=THREADS)
        launch(Stream.from_handle(theirs.ptr), config, kernel, 2.0, x, y, out, N)
        total = out.sum()  # CuPy's own kernel, behind ours in the same stream
    theirs.synchronize()

    expected = 2 * cp.asnumpy(x).astype(np.float64) + cp.asnumpy(y)
    right = bool(np.allclose(cp.asnumpy(out), expected)) and bool(np.isclose(float(total), expected.sum()))
    print(f"{N} elements, their sum is {float(total):.1f}")
    print("PASS" if right else "FAIL")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
