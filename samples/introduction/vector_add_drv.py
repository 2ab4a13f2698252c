"""vectorAddDrv: the same vector addition, call by call through the Driver API and NVRTC.

    python samples/introduction/vector_add_drv.py

`checked` has the functions of cuda.h under their own names; a status that is not success is an exception,
so that what is left to read is what C++ programs do between their checks.
"""

from __future__ import annotations

import ctypes
import sys

import numpy as np

from cudapy import simulator
from cudapy.driver import CUdevice_attribute
from cudapy.driver import checked as cu
from cudapy.nvrtc import checked as nvrtc

KERNEL = b"""
extern "C" __global__ void vector_add(const float *a, const float *b, float *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = a[i] + b[i];
}
"""
N = 50_000
THREADS = 256


def compile_ptx(arch: str) -> bytes:
    """CUDA C++ to PTX, for a virtual architecture such as compute_80."""
    program = nvrtc.nvrtcCreateProgram(KERNEL, b"vector_add.cu", 0, None, None)
    nvrtc.nvrtcCompileProgram(program, 1, [b"--gpu-architecture=" + arch.encode()])
    ptx = bytearray(nvrtc.nvrtcGetPTXSize(program))
    nvrtc.nvrtcGetPTX(program, ptx)
    nvrtc.nvrtcDestroyProgram(program)
    return bytes(ptx)


def main() -> int:
    simulator.stand_in()
    cu.cuInit(0)
    device = cu.cuDeviceGet(0)
    name = cu.cuDeviceGetName(256, device).split(b"\0")[0].decode()
    major = cu.cuDeviceGetAttribute(CUdevice_attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device)
    minor = cu.cuDeviceGetAttribute(CUdevice_attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device)
    context = cu.cuCtxCreate(None, 0, device)
    module = cu.cuModuleLoadData(compile_ptx(f"compute_{major}{minor}"))
    kernel = cu.cuModuleGetFunction(module, b"vector_add")

    generator = np.random.default_rng(0)
    a = generator.random(N, dtype=np.float32)
    b = generator.random(N, dtype=np.float32)
    c = np.empty_like(a)
    d_a, d_b, d_c = (cu.cuMemAlloc(a.nbytes) for _ in range(3))
    cu.cuMemcpyHtoD(d_a, a, a.nbytes)
    cu.cuMemcpyHtoD(d_b, b, b.nbytes)

    # Arguments are values and their C types; C++ would pass an array of pointers to them.
    arguments = (d_a, d_b, d_c, N), (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int)
    blocks = (N + THREADS - 1) // THREADS
    cu.cuLaunchKernel(kernel, blocks, 1, 1, THREADS, 1, 1, 0, None, arguments, 0)
    cu.cuMemcpyDtoH(c, d_c, c.nbytes)  # waits for the kernel: both are in the default stream

    for pointer in (d_a, d_b, d_c):
        cu.cuMemFree(pointer)
    cu.cuModuleUnload(module)
    cu.cuCtxDestroy(context)

    right = np.array_equal(c, a + b)
    print(f"{name}: {N} sums in {blocks} blocks of {THREADS} threads: {'PASS' if right else 'FAIL'}")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
