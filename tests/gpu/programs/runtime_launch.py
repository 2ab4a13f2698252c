"""Launches in every way that the Runtime API has.

Of CUDA 13.5: the peers before have none of it.
"""

import ctypes

import numpy as np
from cuda.bindings import nvrtc
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
grid, block = cudart.dim3(), cudart.dim3()
grid.x, grid.y, grid.z = 8, 1, 1
block.x, block.y, block.z = 128, 1, 1
args = ((x, N), (ctypes.c_void_p, ctypes.c_int))
unwrap(cudart.cudaLaunchKernel(kernel, grid, block, args, 0, 0))
config = cudart.cudaLaunchConfig_t()
config.gridDim, config.blockDim = grid, block
config.dynamicSmemBytes = 0
config.stream = cudart.cudaStream_t(0)
attribute = cudart.cudaLaunchAttribute()
attribute.id = cudart.cudaLaunchAttributeID.cudaLaunchAttributeCooperative
attribute.val.cooperative = 1
config.attrs, config.numAttrs = [attribute], 1
unwrap(cudart.cudaLaunchKernelExC(config, kernel, args))
print(config.attrs[0].id.name, config.attrs[0].val.cooperative, config.gridDim.x)
three = np.array([3.0], np.float32)
unwrap(cudart.cudaMemcpy(pointer, three.ctypes.data, 4, cudart.cudaMemcpyKind.cudaMemcpyHostToDevice))
unwrap(cudart.cudaLaunchCooperativeKernel(kernel, grid, block, args, 0, None))
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
block.x = 4096
try:
    unwrap(cudart.cudaLaunchKernel(kernel, grid, block, args, 0, 0))
except CudaFailure as failure:
    print(failure, failure.status.value, cudart.cudaGetLastError()[0].name)
unwrap(cudart.cudaLibraryUnload(library))
try:
    unwrap(cudart.cudaLibraryLoadData(b"nonsense", [], [], 0, [], [], 0))
except CudaFailure as failure:
    print(failure)
