"""Sixteen threads, each with a stream of its own, launch and copy at once; contexts are per thread."""

import ctypes
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from cuda.bindings import driver as cu
from cuda.bindings import nvrtc


def check(result):
    if result[0]:
        raise RuntimeError(result[0].name)
    return result[1] if len(result) == 2 else result[1:]


check(cu.cuInit(0))
device = check(cu.cuDeviceGet(0))
context = check(cu.cuDevicePrimaryCtxRetain(device))
check(cu.cuCtxSetCurrent(context))
prog = check(
    nvrtc.nvrtcCreateProgram(
        b'extern "C" __global__ void step(int *p, int k) { atomicAdd(p + threadIdx.x, k); }', b"", 0, [], []
    )
)
check(nvrtc.nvrtcCompileProgram(prog, 1, [b"-arch=sm_90"]))
cubin = b" " * check(nvrtc.nvrtcGetCUBINSize(prog))
check(nvrtc.nvrtcGetCUBIN(prog, cubin))
module = check(cu.cuModuleLoadData(cubin))
step = check(cu.cuModuleGetFunction(module, b"step"))


def work(number):
    none = int(check(cu.cuCtxGetCurrent()))
    check(cu.cuCtxSetCurrent(context))
    stream = check(cu.cuStreamCreate(cu.CUstream_flags.CU_STREAM_NON_BLOCKING))
    p = check(cu.cuMemAllocAsync(32 * 4, stream))
    check(cu.cuMemsetD32Async(p, 0, 32, stream))
    for i in range(100):
        check(
            cu.cuLaunchKernel(step, 1, 1, 1, 32, 1, 1, 0, stream, ((p, number + i), (None, ctypes.c_int)), 0)
        )
    host = np.zeros(32, np.int32)
    check(cu.cuMemcpyDtoHAsync(host.ctypes.data, p, host.nbytes, stream))
    check(cu.cuStreamSynchronize(stream))
    check(cu.cuMemFreeAsync(p, stream))
    check(cu.cuStreamDestroy(stream))
    return none, set(host.tolist()) == {100 * number + 99 * 50}


with ThreadPoolExecutor(16) as pool:
    results = list(pool.map(work, range(32)))
print(all(right for _, right in results), results[0][0])
err, popped = cu.cuCtxPopCurrent()
print(err, popped == context, int(check(cu.cuCtxGetCurrent())))
check(cu.cuCtxPushCurrent(popped))
print(
    int(check(cu.cuCtxGetDevice())) == int(device),
    check(cu.cuCtxGetApiVersion(context)) > 0,
    check(cu.cuCtxGetFlags()),
)
print(check(cu.cuCtxGetStreamPriorityRange()), check(cu.cuCtxGetLimit(cu.CUlimit.CU_LIMIT_STACK_SIZE)))
print(
    check(cu.cuCtxSetLimit(cu.CUlimit.CU_LIMIT_STACK_SIZE, 4096)),
    check(cu.cuCtxGetLimit(cu.CUlimit.CU_LIMIT_STACK_SIZE)),
)
print(check(cu.cuCtxGetCacheConfig()).name, check(cu.cuCtxGetId(context)) > 0)
check(cu.cuModuleUnload(module))
