"""What failures look like: statuses, names, texts, reprs, sticky and not, None for what is missing."""

import pickle

from cuda.bindings import driver as cu
from cuda.bindings import nvrtc
from cuda.bindings import runtime as rt

print(cu.cuCtxSynchronize()[0].name, cu.cuCtxGetDevice())
print(cu.cuInit(0), cu.cuCtxGetCurrent())
for status in (
    cu.CUresult.CUDA_SUCCESS,
    cu.CUresult.CUDA_ERROR_INVALID_VALUE,
    cu.CUresult(700),
    cu.CUresult.CUDA_ERROR_NOT_READY,
):
    print(
        repr(status),
        str(status),
        status.name,
        status.value,
        int(status),
        cu.cuGetErrorName(status),
        cu.cuGetErrorString(status),
    )
for status in (rt.cudaError_t.cudaErrorInvalidValue, rt.cudaError_t(100), rt.cudaError_t.cudaSuccess):
    print(
        repr(status),
        f"{status}",
        rt.cudaGetErrorName(status),
        rt.cudaGetErrorString(status),
        hash(status) == hash(int(status)),
    )
print(nvrtc.nvrtcGetErrorString(nvrtc.nvrtcResult.NVRTC_ERROR_COMPILATION), nvrtc.nvrtcResult(6))
print(
    cu.CUresult.CUDA_SUCCESS == 0,
    rt.cudaError_t.cudaSuccess == cu.CUresult.CUDA_SUCCESS,
    bool(cu.CUresult.CUDA_SUCCESS),
)
print(
    isinstance(rt.cudaError_t.cudaSuccess, int),
    len(cu.CUresult) > 90,
    cu.CUresult.CUDA_ERROR_UNKNOWN in cu.CUresult,
)
print(
    [m.name for m in rt.cudaMemcpyKind],
    rt.cudaMemcpyKind.__members__["cudaMemcpyDefault"] is rt.cudaMemcpyKind.cudaMemcpyDefault,
)
print(pickle.loads(pickle.dumps(cu.CUresult.CUDA_ERROR_NOT_FOUND)) is cu.CUresult.CUDA_ERROR_NOT_FOUND)
print(rt.cudaMalloc(1 << 60), rt.cudaPeekAtLastError(), rt.cudaGetLastError(), rt.cudaGetLastError())
print(cu.cuMemAlloc(0), cu.cuMemFree(0), cu.cuMemAlloc(1 << 62))
print(rt.cudaMemcpy(0, 0, 4, rt.cudaMemcpyKind.cudaMemcpyHostToDevice))
print(rt.cudaSetDevice(77), rt.cudaGetLastError()[0].name, rt.cudaEventCreateWithFlags(0xFF)[1])
print(
    cu.cuModuleGetFunction(0, b"x"),
    cu.cuStreamCreate(0xFFFF),
    cu.cuDeviceGetAttribute(9999, 0),
    cu.cuEventElapsedTime(0, 0),
)
print(
    cu.cuDeviceGet(-1),
    cu.cuDeviceGetName(10, 55),
    rt.cudaDeviceGetAttribute(9999, 0),
    rt.cudaGetDeviceProperties(40),
)
print(cu.cuGraphGetNodes(0), cu.cuPointerGetAttribute(cu.CUpointer_attribute.CU_POINTER_ATTRIBUTE_CONTEXT, 1))


def attempt(function, *args, **kwargs):
    try:
        return function(*args, **kwargs)
    except Exception as error:
        return type(error).__name__


print(
    attempt(cu.cuMemAlloc, "12"),
    attempt(cu.cuMemAlloc),
    attempt(cu.cuMemAlloc, 1, 2),
    attempt(cu.cuMemAlloc, nosuch=1),
)
print(attempt(cu.cuMemAlloc, -1), attempt(cu.cuMemAlloc, 2**64), attempt(cu.cuMemAlloc, None))
print(attempt(cu.cuModuleLoad, "name"), attempt(cu.cuModuleGetFunction, 0, "name"))
print(attempt(rt.cudaMemset, 0, "1", 1), attempt(rt.cudaSetDevice, "0"))
print(attempt(cu.cuMemcpyHtoD, 0, "text", 4), attempt(cu.cuLaunchKernel, 0, 1, 1, 1, 1, 1, 1, 0, 0, "x", 0))
print(
    attempt(nvrtc.nvrtcCompileProgram, 0, 1, ["-x"]),
    attempt(nvrtc.nvrtcCreateProgram, "text", b"n", 0, [], []),
)
print(attempt(cu.cuMemSetAccess, 0, 0, [1], 1))
