"""cudaLibrary*: load code, find kernels and globals, and launch them with the driver."""

import ctypes

import numpy as np
from cuda.bindings import driver, nvrtc
from cuda.bindings import runtime as cudart


class CudaFailure(RuntimeError):
    def __init__(self, status):
        super().__init__(cudart.cudaGetErrorString(status)[1].decode())
        self.status = status


def unwrap(result):
    status, *out = result
    if isinstance(status, cudart.cudaError_t) and status != cudart.cudaError_t.cudaSuccess:
        raise CudaFailure(status)
    if isinstance(status, nvrtc.nvrtcResult) and status != nvrtc.nvrtcResult.NVRTC_SUCCESS:
        raise RuntimeError(nvrtc.nvrtcGetErrorString(status)[1].decode())
    return out[0] if len(out) == 1 else tuple(out)


source = """
__device__ float factor = 2.0f;
extern "C" __global__ void scale(float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= factor;
}"""
unwrap(cudart.cudaSetDevice(0))
program = unwrap(nvrtc.nvrtcCreateProgram(source.encode("utf-8"), b"scale.cu", 0, [], []))
unwrap(nvrtc.nvrtcCompileProgram(program, 1, [b"-arch=sm_90"]))
cubin = bytearray(unwrap(nvrtc.nvrtcGetCUBINSize(program)))
unwrap(nvrtc.nvrtcGetCUBIN(program, cubin))
library = unwrap(cudart.cudaLibraryLoadData(bytes(cubin), [], [], 0, [], [], 0))
kernel = unwrap(cudart.cudaLibraryGetKernel(library, b"scale"))
print(type(library).__name__, type(kernel).__name__, unwrap(cudart.cudaLibraryGetKernelCount(library)))
kernels = unwrap(cudart.cudaLibraryEnumerateKernels(1, library))
print(len(kernels), kernels[0] == kernel)
pointer, size = unwrap(cudart.cudaLibraryGetGlobal(library, b"factor"))
print(type(pointer).__name__, size)
N = 1000
host = np.ones(N, np.float32)
x = unwrap(cudart.cudaMalloc(host.nbytes))
unwrap(cudart.cudaMemcpy(x, host.ctypes.data, host.nbytes, cudart.cudaMemcpyKind.cudaMemcpyHostToDevice))
args = ((x, N), (ctypes.c_void_p, ctypes.c_int))
unwrap(driver.cuLaunchKernel(driver.CUfunction(int(kernel)), 8, 1, 1, 128, 1, 1, 0, 0, args, 0))
unwrap(driver.cuLaunchKernel(driver.CUfunction(int(kernel)), 8, 1, 1, 128, 1, 1, 0, 0, args, 0))
three = np.array([3.0], np.float32)
unwrap(cudart.cudaMemcpy(pointer, three.ctypes.data, 4, cudart.cudaMemcpyKind.cudaMemcpyHostToDevice))
unwrap(driver.cuLaunchKernel(driver.CUfunction(int(kernel)), 8, 1, 1, 128, 1, 1, 0, 0, args, 0))
unwrap(cudart.cudaMemcpy(host.ctypes.data, x, host.nbytes, cudart.cudaMemcpyKind.cudaMemcpyDeviceToHost))
print(set(host.tolist()))
attributes = unwrap(cudart.cudaFuncGetAttributes(kernel))
print(
    type(attributes).__name__,
    attributes.maxThreadsPerBlock,
    attributes.binaryVersion,
    attributes.sharedSizeBytes,
)
unwrap(
    cudart.cudaFuncSetAttribute(
        kernel, cudart.cudaFuncAttribute.cudaFuncAttributeMaxDynamicSharedMemorySize, 65536
    )
)
print(unwrap(cudart.cudaOccupancyMaxActiveBlocksPerMultiprocessor(kernel, 128, 0)))
print(unwrap(cudart.cudaFuncGetAttributes(kernel)).maxDynamicSharedSizeBytes)
unwrap(cudart.cudaLibraryUnload(library))
try:
    unwrap(cudart.cudaLibraryLoadData(b"nonsense", [], [], 0, [], [], 0))
except CudaFailure as failure:
    print(failure)
