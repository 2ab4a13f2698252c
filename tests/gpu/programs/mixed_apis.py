"""One program that goes back and forth between the two APIs, numpy arrays and raw addresses."""

import ctypes

import numpy as np
from cuda.bindings import driver, nvrtc, runtime


def _cudaGetErrorEnum(error):
    if isinstance(error, driver.CUresult):
        err, name = driver.cuGetErrorName(error)
        return name if err == driver.CUresult.CUDA_SUCCESS else "<unknown>"
    elif isinstance(error, runtime.cudaError_t):
        return runtime.cudaGetErrorName(error)[1]
    elif isinstance(error, nvrtc.nvrtcResult):
        return nvrtc.nvrtcGetErrorString(error)[1]
    else:
        raise RuntimeError(f"Unknown error type: {error}")


def check(result):
    if result[0].value:
        raise RuntimeError(f"CUDA error code={result[0].value}({_cudaGetErrorEnum(result[0])})")
    return None if len(result) == 1 else result[1] if len(result) == 2 else result[1:]


check(runtime.cudaSetDevice(check(runtime.cudaGetDevice())))
check(runtime.cudaFree(0))
prog = check(
    nvrtc.nvrtcCreateProgram(
        rb"""
extern "C" __global__ void dot(const float *a, const float *b, float *out, int n)
{
    __shared__ float part[256];
    float sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) sum += a[i] * b[i];
    part[threadIdx.x] = sum;
    __syncthreads();
    for (int s = 128; s; s >>= 1) { if (threadIdx.x < s) part[threadIdx.x] += part[threadIdx.x + s]; __syncthreads(); }
    if (!threadIdx.x) atomicAdd(out, part[0]);
}""",
        b"dot.cu",
        0,
        [],
        [],
    )
)
major, minor = (
    check(runtime.cudaDeviceGetAttribute(a, 0))
    for a in (
        runtime.cudaDeviceAttr.cudaDevAttrComputeCapabilityMajor,
        runtime.cudaDeviceAttr.cudaDevAttrComputeCapabilityMinor,
    )
)
check(
    nvrtc.nvrtcCompileProgram(
        prog, 2, [f"--gpu-architecture=compute_{major}{minor}".encode("ascii"), b"--use_fast_math"]
    )
)
ptx = b" " * check(nvrtc.nvrtcGetPTXSize(prog))
check(nvrtc.nvrtcGetPTX(prog, ptx))
module = check(driver.cuModuleLoadData(np.char.array(ptx).ctypes.data))
dot = check(driver.cuModuleGetFunction(module, b"dot"))
n = 100_000
a, b = np.ones(n, np.float32), np.full(n, 0.5, np.float32)
stream = check(runtime.cudaStreamCreateWithFlags(runtime.cudaStreamNonBlocking))
d_a = check(runtime.cudaMallocAsync(a.nbytes, stream))
d_b = check(driver.cuMemAllocAsync(b.nbytes, stream))
d_out = check(runtime.cudaMallocAsync(4, stream))
check(runtime.cudaMemcpyAsync(d_a, a, a.nbytes, runtime.cudaMemcpyKind.cudaMemcpyHostToDevice, stream))
check(driver.cuMemcpyHtoDAsync(d_b, b, b.nbytes, stream))
check(runtime.cudaMemsetAsync(d_out, 0, 4, stream))
check(
    driver.cuLaunchKernel(
        dot,
        64,
        1,
        1,
        256,
        1,
        1,
        0,
        stream,
        ((d_a, d_b, d_out, n), (ctypes.c_void_p, None, ctypes.c_void_p, ctypes.c_int)),
        0,
    )
)
result = np.empty(1, np.float32)
check(
    runtime.cudaMemcpyAsync(
        result.ctypes.data, d_out, 4, runtime.cudaMemcpyKind.cudaMemcpyDeviceToHost, stream
    )
)
check(runtime.cudaStreamSynchronize(stream))
print(result[0])
raw = int(stream)
check(
    driver.cuLaunchKernel(
        dot,
        1,
        1,
        1,
        256,
        1,
        1,
        0,
        driver.CUstream(raw),
        (
            (d_a, int(d_b), np.uint64(d_out), np.int32(10)),
            (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint64, ctypes.c_int),
        ),
        0,
    )
)
check(driver.cuStreamSynchronize(raw))
check(driver.cuMemcpyDtoH(result, d_out, 4))
print(result[0])
args = ((d_a, d_b, d_out, 10), (ctypes.c_void_p, None, ctypes.c_void_p, ctypes.c_int))
check(driver.cuLaunchKernel(driver.CUfunction(int(dot)), 1, 1, 1, 256, 1, 1, 0, stream, args, 0))
check(runtime.cudaStreamSynchronize(stream))
check(runtime.cudaMemcpy(result, d_out, 4, runtime.cudaMemcpyKind.cudaMemcpyDeviceToHost))
print(result[0])
event = check(driver.cuEventCreate(driver.CUevent_flags.CU_EVENT_DEFAULT))
check(runtime.cudaEventRecord(event, stream))
check(runtime.cudaStreamWaitEvent(0, event, 0))
check(driver.cuStreamWaitEvent(stream, event, driver.CUevent_wait_flags.CU_EVENT_WAIT_DEFAULT))
check(runtime.cudaFreeAsync(d_a, stream))
check(runtime.cudaFreeAsync(int(d_b), stream))
check(driver.cuMemFreeAsync(d_out, stream))
check(driver.cuStreamDestroy(stream))
check(driver.cuEventDestroy(event))
check(driver.cuModuleUnload(module))
print("done")
