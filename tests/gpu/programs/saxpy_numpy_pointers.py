"""SAXPY the first way that people learn: every argument in a numpy array, their addresses in another."""

import numpy as np
from cuda.bindings import driver, nvrtc

CODE = """
extern "C" __global__ void saxpy(float a, const float *x, const float *y, float *out, size_t n)
{
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = a * x[i] + y[i];
}
"""


def ASSERT_DRV(err):
    if isinstance(err, driver.CUresult):
        if err != driver.CUresult.CUDA_SUCCESS:
            raise RuntimeError(f"Cuda Error: {err}")
    elif isinstance(err, nvrtc.nvrtcResult):
        if err != nvrtc.nvrtcResult.NVRTC_SUCCESS:
            raise RuntimeError(f"Nvrtc Error: {err}")
    else:
        raise RuntimeError(f"Unknown error type: {err}")


(err,) = driver.cuInit(0)
ASSERT_DRV(err)
err, device = driver.cuDeviceGet(0)
ASSERT_DRV(err)
err, major = driver.cuDeviceGetAttribute(
    driver.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device
)
ASSERT_DRV(err)
err, minor = driver.cuDeviceGetAttribute(
    driver.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device
)
ASSERT_DRV(err)
err, prog = nvrtc.nvrtcCreateProgram(str.encode(CODE), b"saxpy.cu", 0, [], [])
ASSERT_DRV(err)
opts = [b"--fmad=false", f"--gpu-architecture=sm_{major}{minor}".encode()]
(err,) = nvrtc.nvrtcCompileProgram(prog, 2, opts)
ASSERT_DRV(err)
err, size = nvrtc.nvrtcGetCUBINSize(prog)
ASSERT_DRV(err)
cubin = b" " * size
(err,) = nvrtc.nvrtcGetCUBIN(prog, cubin)
ASSERT_DRV(err)
(err,) = nvrtc.nvrtcDestroyProgram(prog)
ASSERT_DRV(err)
err, primary = driver.cuDevicePrimaryCtxRetain(device)
ASSERT_DRV(err)
(err,) = driver.cuCtxSetCurrent(primary)
ASSERT_DRV(err)
cubin = np.char.array(cubin)
err, module = driver.cuModuleLoadData(cubin.ctypes.data)
ASSERT_DRV(err)
err, kernel = driver.cuModuleGetFunction(module, b"saxpy")
ASSERT_DRV(err)

NUM_THREADS, NUM_BLOCKS = 512, 1024
a = np.array([2.0], dtype=np.float32)
n = np.array(NUM_THREADS * NUM_BLOCKS, dtype=np.uint64)
buffer_size = n * a.itemsize
rng = np.random.default_rng(1)
hx = rng.random(int(n)).astype(dtype=np.float32)
hy = rng.random(int(n)).astype(dtype=np.float32)
out = np.zeros(int(n)).astype(dtype=np.float32)
err, dx = driver.cuMemAlloc(buffer_size)
ASSERT_DRV(err)
err, dy = driver.cuMemAlloc(buffer_size)
ASSERT_DRV(err)
err, dout = driver.cuMemAlloc(buffer_size)
ASSERT_DRV(err)
err, stream = driver.cuStreamCreate(0)
ASSERT_DRV(err)
(err,) = driver.cuMemcpyHtoDAsync(dx, hx.ctypes.data, buffer_size, stream)
ASSERT_DRV(err)
(err,) = driver.cuMemcpyHtoDAsync(dy, hy.ctypes.data, buffer_size, stream)
ASSERT_DRV(err)

values = [a, *(np.array([int(p)], dtype=np.uint64) for p in (dx, dy, dout)), n]  # alive until the launches
args = np.array([value.ctypes.data for value in values], dtype=np.uint64)
(err,) = driver.cuLaunchKernel(kernel, NUM_BLOCKS, 1, 1, NUM_THREADS, 1, 1, 0, stream, args.ctypes.data, 0)
ASSERT_DRV(err)
(err,) = driver.cuLaunchKernel(kernel, NUM_BLOCKS, 1, 1, NUM_THREADS, 1, 1, 0, stream, args, 0)
ASSERT_DRV(err)
(err,) = driver.cuMemcpyDtoHAsync(out.ctypes.data, dout, buffer_size, stream)
ASSERT_DRV(err)
(err,) = driver.cuStreamSynchronize(stream)
ASSERT_DRV(err)
print("right", np.allclose(out, a * hx + hy))
for err, *_ in (
    driver.cuStreamDestroy(stream),
    driver.cuMemFree(dx),
    driver.cuMemFree(dy),
    driver.cuMemFree(dout),
    driver.cuModuleUnload(module),
    driver.cuDevicePrimaryCtxRelease(device),
):
    ASSERT_DRV(err)
    print(err)
