"""SAXPY, out = a * x + y, the C way: every call of the Driver API and NVRTC by its own name.

    python samples/saxpy_driver.py

Functions return (status, results...), as in C the status is there to be looked at. Without a GPU it runs on
the simulator, and says so.
"""

from __future__ import annotations

import ctypes
import sys
from typing import Any

import numpy as np

from cudapy import driver, nvrtc, simulator

SAXPY = b"""
extern "C" __global__ void saxpy(float a, const float *x, const float *y, float *out, size_t n)
{
    size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (i < n)
        out[i] = a * x[i] + y[i];
}
"""
THREADS = 256
N = 1 << 24


def check(result: tuple[Any, ...]) -> Any:
    """Take the status off a result, and stop where it is an error."""
    status, *values = result
    if status:
        raise SystemExit(f"{status.name} ({status.value})")
    return values[0] if len(values) == 1 else values


def compile_cubin(arch: str) -> bytes:
    """Compile SAXPY for a real architecture such as sm_90."""
    program = check(nvrtc.nvrtcCreateProgram(SAXPY, b"saxpy.cu", 0, None, None))
    options = [b"--fmad=false", b"--gpu-architecture=" + arch.encode()]
    (status,) = nvrtc.nvrtcCompileProgram(program, len(options), options)
    if status:
        log = bytearray(check(nvrtc.nvrtcGetProgramLogSize(program)))
        check(nvrtc.nvrtcGetProgramLog(program, log))
        raise SystemExit(log.decode())
    cubin = bytearray(check(nvrtc.nvrtcGetCUBINSize(program)))
    check(nvrtc.nvrtcGetCUBIN(program, cubin))
    check(nvrtc.nvrtcDestroyProgram(program))
    return bytes(cubin)


def main() -> int:
    simulated = simulator.stand_in()
    rounds = 1 if simulated else 10
    check(driver.cuInit(0))
    device = check(driver.cuDeviceGet(0))
    name = check(driver.cuDeviceGetName(256, device)).split(b"\0")[0].decode()
    attribute = driver.CUdevice_attribute
    major = check(driver.cuDeviceGetAttribute(attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device))
    minor = check(driver.cuDeviceGetAttribute(attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device))
    context = check(driver.cuCtxCreate(0, device))
    module = check(driver.cuModuleLoadData(compile_cubin(f"sm_{major}{minor}")))
    kernel = check(driver.cuModuleGetFunction(module, b"saxpy"))

    generator = np.random.default_rng(0)
    a = 2.0
    x = generator.random(N, dtype=np.float32)
    y = generator.random(N, dtype=np.float32)
    out = np.empty_like(x)

    stream = check(driver.cuStreamCreate(0))
    d_x, d_y, d_out = (check(driver.cuMemAlloc(x.nbytes)) for _ in range(3))
    check(driver.cuMemcpyHtoDAsync(d_x, x, x.nbytes, stream))
    check(driver.cuMemcpyHtoDAsync(d_y, y, y.nbytes, stream))

    start, end = check(driver.cuEventCreate(0)), check(driver.cuEventCreate(0))
    values = (a, d_x, d_y, d_out, N)
    types = (ctypes.c_float, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)
    blocks = (N + THREADS - 1) // THREADS
    for _ in range(rounds):  # the first load the code and fill the queue; the last one's time is kept
        check(driver.cuEventRecord(start, stream))
        check(driver.cuLaunchKernel(kernel, blocks, 1, 1, THREADS, 1, 1, 0, stream, (values, types), 0))
        check(driver.cuEventRecord(end, stream))
    check(driver.cuMemcpyDtoHAsync(out, d_out, out.nbytes, stream))
    check(driver.cuStreamSynchronize(stream))
    milliseconds = check(driver.cuEventElapsedTime(start, end))

    right = np.array_equal(out, np.float32(a) * x + y)
    print(f"device       {name}")
    print(f"result       {'PASS' if right else 'FAIL'}: {N} elements against NumPy")
    rate = 3 * x.nbytes / milliseconds / 1e6
    speed = "not that of a GPU" if simulated else f"{milliseconds * 1000:.1f} us, {rate:.4g} GB/s"
    print(f"kernel time  {speed}")

    for pointer in (d_x, d_y, d_out):
        check(driver.cuMemFree(pointer))
    check(driver.cuEventDestroy(start))
    check(driver.cuEventDestroy(end))
    check(driver.cuStreamDestroy(stream))
    check(driver.cuModuleUnload(module))
    check(driver.cuCtxDestroy(context))
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
