"""nvJitLink and the rest of the snake_case modules: LTO-IR of two sources linked to one cubin, and run."""

import numpy as np
from cuda.bindings import driver, nvjitlink, nvrtc


def ltoir(text):
    err, prog = nvrtc.nvrtcCreateProgram(text, b"x.cu", 0, [], [])
    (err,) = nvrtc.nvrtcCompileProgram(prog, 3, [b"-dlto", b"-rdc=true", b"-arch=sm_90"])
    assert err == 0, err
    err, size = nvrtc.nvrtcGetLTOIRSize(prog)
    out = b" " * size
    (err,) = nvrtc.nvrtcGetLTOIR(prog, out)
    return out


first = ltoir(b"__device__ float square(float x) { return x * x; }")
second = ltoir(
    b'__device__ float square(float); extern "C" __global__ void run(float *p) { p[threadIdx.x] = square(threadIdx.x); }'
)
handle = nvjitlink.create(2, ["-arch=sm_90", "-lto"])
print(type(handle).__name__, nvjitlink.version()[0] >= 12)
nvjitlink.add_data(handle, nvjitlink.InputType.LTOIR, first, len(first), "first")
nvjitlink.add_data(handle, nvjitlink.InputType.LTOIR, second, len(second), "second")
nvjitlink.complete(handle)
size = nvjitlink.get_linked_cubin_size(handle)
cubin = bytearray(size)
nvjitlink.get_linked_cubin(handle, cubin)
print(bytes(cubin[:4]), nvjitlink.get_error_log_size(handle), nvjitlink.get_info_log_size(handle) >= 0)
nvjitlink.destroy(handle)
print(driver.cuInit(0), driver.cuCtxSetCurrent(driver.cuDevicePrimaryCtxRetain(0)[1]))
err, module = driver.cuModuleLoadData(bytes(cubin))
err, run = driver.cuModuleGetFunction(module, b"run")
err, p = driver.cuMemAlloc(32)
print(driver.cuLaunchKernel(run, 1, 1, 1, 8, 1, 1, 0, 0, ((p,), (None,)), 0))
out = np.zeros(8, np.float32)
print(driver.cuMemcpyDtoH(out, p, 32), out.tolist())
