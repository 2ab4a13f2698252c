"""What a module holds: functions and their attributes, globals, occupancy, mangled names, loading."""

import ctypes

import numpy as np
from cuda.bindings import driver, nvrtc


def gpu_assert(ret):
    if ret[0]:
        raise RuntimeError(ret[0])
    return ret[1] if len(ret) == 2 else ret[1:]


code = r"""
__device__ int counter = 5;
__constant__ float table[4];
template <typename T> __global__ void fill(T *p, T v) { p[threadIdx.x] = v; }
namespace inner { __global__ void plain(float *out) { out[threadIdx.x] = table[threadIdx.x] + counter; } }
extern "C" __global__ void big(int *p) { extern __shared__ int s[]; s[threadIdx.x] = p[threadIdx.x]; __syncthreads(); p[threadIdx.x] = s[0]; }
"""
gpu_assert(driver.cuInit(0))
gpu_assert(
    driver.cuCtxSetCurrent(gpu_assert(driver.cuDevicePrimaryCtxRetain(gpu_assert(driver.cuDeviceGet(0)))))
)
prog = gpu_assert(nvrtc.nvrtcCreateProgram(code.encode(), b"names.cu", 0, [], []))
for expression in (b"fill<int>", b"fill<double>", b"inner::plain", b"&table", b"&counter"):
    gpu_assert(nvrtc.nvrtcAddNameExpression(prog, expression))
(err,) = nvrtc.nvrtcCompileProgram(prog, 2, [b"--gpu-architecture=sm_90", b"-default-device"])
log = bytearray(gpu_assert(nvrtc.nvrtcGetProgramLogSize(prog)))
gpu_assert(nvrtc.nvrtcGetProgramLog(prog, log))
print(err, log)
cubin = b" " * gpu_assert(nvrtc.nvrtcGetCUBINSize(prog))
gpu_assert(nvrtc.nvrtcGetCUBIN(prog, cubin))
lowered = {
    e: gpu_assert(nvrtc.nvrtcGetLoweredName(prog, e))
    for e in (b"fill<int>", b"fill<double>", b"inner::plain", b"&table", b"&counter")
}
print(lowered)
gpu_assert(nvrtc.nvrtcDestroyProgram(prog))
module = gpu_assert(driver.cuModuleLoadData(cubin))
print(gpu_assert(driver.cuModuleGetFunctionCount(module)))
functions = gpu_assert(driver.cuModuleEnumerateFunctions(4, module))
print(sorted(gpu_assert(driver.cuFuncGetName(f)) for f in functions))
fill = gpu_assert(driver.cuModuleGetFunction(module, lowered[b"fill<int>"]))
plain = gpu_assert(driver.cuModuleGetFunction(module, lowered[b"inner::plain"]))
address, size = gpu_assert(driver.cuModuleGetGlobal(module, lowered[b"&table"]))
print(type(address).__name__, size)
gpu_assert(driver.cuMemcpyHtoD(address, np.array([1, 2, 3, 4], np.float32), 16))
counter, size = gpu_assert(driver.cuModuleGetGlobal(module, lowered[b"&counter"]))
value = np.zeros(1, np.int32)
gpu_assert(driver.cuMemcpyDtoH(value, counter, size))
print(size, value[0])
out = gpu_assert(driver.cuMemAlloc(1024))
gpu_assert(driver.cuLaunchKernel(plain, 1, 1, 1, 4, 1, 1, 0, 0, ((out,), (None,)), 0))
got = np.zeros(4, np.float32)
gpu_assert(driver.cuMemcpyDtoH(got, out, 16))
print(got.tolist())
F = driver.CUfunction_attribute
for attribute in (
    F.CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
    F.CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES,
    F.CU_FUNC_ATTRIBUTE_BINARY_VERSION,
):
    print(attribute.name, gpu_assert(driver.cuFuncGetAttribute(attribute, plain)))
big = gpu_assert(driver.cuModuleGetFunction(module, b"big"))
print(
    gpu_assert(driver.cuOccupancyMaxActiveBlocksPerMultiprocessor(big, 256, 0)),
    gpu_assert(driver.cuOccupancyMaxActiveBlocksPerMultiprocessor(big, 256, 48 << 10)),
)
gpu_assert(driver.cuFuncSetAttribute(big, F.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 160 << 10))
print(gpu_assert(driver.cuOccupancyMaxActiveBlocksPerMultiprocessor(big, 256, 160 << 10)))
print(gpu_assert(driver.cuOccupancyAvailableDynamicSMemPerBlock(big, 2, 256)) > 0)
needs = ctypes.CFUNCTYPE(ctypes.c_size_t, ctypes.c_int)(lambda block: 4 * block)
print(
    gpu_assert(
        driver.cuOccupancyMaxPotentialBlockSize(
            big, driver.CUoccupancyB2DSize(_ptr=ctypes.addressof(needs)), 0, 0
        )
    )
)
print(gpu_assert(driver.cuOccupancyMaxPotentialBlockSize(big, None, 0, 128)))
print(
    gpu_assert(
        driver.cuOccupancyMaxPotentialBlockSizeWithFlags(
            fill, 0, 0, 0, driver.CUoccupancy_flags.CU_OCCUPANCY_DEFAULT
        )
    )
)
print(gpu_assert(driver.cuFuncSetCacheConfig(big, driver.CUfunc_cache.CU_FUNC_CACHE_PREFER_SHARED)))
print(gpu_assert(driver.cuModuleGetLoadingMode()).name, gpu_assert(driver.cuFuncIsLoaded(big)).name)
offset, size = gpu_assert(driver.cuFuncGetParamInfo(fill, 1))
print(offset, size, driver.cuFuncGetParamInfo(fill, 2)[0].name)
print(gpu_assert(driver.cuFuncGetModule(big)) == module)
err, missing = driver.cuModuleGetFunction(module, b"nothing")
print(err, missing)
gpu_assert(driver.cuModuleUnload(module))
