"""The driver's JIT: options with values and log buffers, linking of PTX and cubins, compile errors."""

import numpy as np
from cuda.bindings import driver, nvrtc
from cuda.bindings.driver import CUjit_option as O


def need(result):
    assert result[0].value == 0, result
    return result[1] if len(result) == 2 else result[1:]


def ptx_of(text, *options):
    prog = need(nvrtc.nvrtcCreateProgram(text.encode(), b"", 0, [], []))
    need(nvrtc.nvrtcCompileProgram(prog, len(options), list(options)))
    ptx = b" " * need(nvrtc.nvrtcGetPTXSize(prog))
    need(nvrtc.nvrtcGetPTX(prog, ptx))
    return ptx


need(driver.cuInit(0))
need(driver.cuCtxSetCurrent(need(driver.cuDevicePrimaryCtxRetain(0))))
helper = ptx_of('extern "C" __device__ int twice(int x) { return 2 * x; }', b"-rdc=true", b"-arch=compute_80")
user = ptx_of(
    'extern "C" __device__ int twice(int); extern "C" __global__ void k(int *p) { p[threadIdx.x] = twice(threadIdx.x); }',
    b"-rdc=true",
    b"-arch=compute_80",
)
info, errors = bytearray(4096), bytearray(4096)
options = [
    O.CU_JIT_INFO_LOG_BUFFER,
    O.CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
    O.CU_JIT_ERROR_LOG_BUFFER,
    O.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
    O.CU_JIT_LOG_VERBOSE,
    O.CU_JIT_OPTIMIZATION_LEVEL,
]
values = [info, len(info), errors, len(errors), 1, 3]
state = need(driver.cuLinkCreate(len(options), options, values))
print(type(state).__name__)
need(
    driver.cuLinkAddData(
        state, driver.CUjitInputType.CU_JIT_INPUT_PTX, helper, len(helper), b"helper.ptx", 0, [], []
    )
)
need(
    driver.cuLinkAddData(
        state, driver.CUjitInputType.CU_JIT_INPUT_PTX, user, len(user), b"user.ptx", 0, None, None
    )
)
cubin, size = need(driver.cuLinkComplete(state))
print(type(cubin).__name__, size > 0, b"user" in info or len(info.rstrip(b"\0")) > 0)
module = need(driver.cuModuleLoadData(cubin))
k = need(driver.cuModuleGetFunction(module, b"k"))
need(driver.cuLinkDestroy(state))
out = need(driver.cuMemAlloc(128))
need(driver.cuLaunchKernel(k, 1, 1, 1, 32, 1, 1, 0, 0, ((out,), (None,)), 0))
host = np.zeros(32, np.int32)
need(driver.cuMemcpyDtoH(host, out, 128))
print(host.tolist())
need(driver.cuModuleUnload(module))

log = bytearray(1024)
err, module = driver.cuModuleLoadDataEx(
    user.replace(b"twice", b"absent"),
    3,
    [O.CU_JIT_ERROR_LOG_BUFFER, O.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, O.CU_JIT_TARGET_FROM_CUCONTEXT],
    [log, 1024, 0],
)
print(err.name, module, b"absent" in log)
err, module = driver.cuModuleLoadData(b"this is no PTX\0")
print(err, module)
log = bytearray(2048)
plain = ptx_of('extern "C" __global__ void z(float *p) { *p = 1; }', b"-arch=compute_80")
err, module = driver.cuModuleLoadDataEx(
    plain,
    4,
    [
        O.CU_JIT_MAX_REGISTERS,
        O.CU_JIT_INFO_LOG_BUFFER,
        O.CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
        O.CU_JIT_CACHE_MODE,
    ],
    [32, log, len(log), driver.CUjit_cacheMode.CU_JIT_CACHE_OPTION_NONE],
)
print(err)
library = need(driver.cuLibraryLoadData(plain, [O.CU_JIT_GENERATE_LINE_INFO], [1], 1, [], [], 0))
print(need(driver.cuLibraryGetKernelCount(library)), type(need(driver.cuLibraryGetModule(library))).__name__)
print(need(driver.cuLibraryEnumerateKernels(1, library))[0] == need(driver.cuLibraryGetKernel(library, b"z")))
print(
    need(
        driver.cuKernelGetAttribute(
            driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_NUM_REGS,
            need(driver.cuLibraryGetKernel(library, b"z")),
            0,
        )
    )
    > 0
)
need(driver.cuLibraryUnload(library))
prog = need(nvrtc.nvrtcCreateProgram(b"__global__ void f() { return undefined_name; }", b"bad.cu", 0, [], []))
(err,) = nvrtc.nvrtcCompileProgram(prog, 0, [])
size = need(nvrtc.nvrtcGetProgramLogSize(prog))
text = b" " * size
need(nvrtc.nvrtcGetProgramLog(prog, text))
print(err, repr(err), b"undefined_name" in text, text[-1:], nvrtc.nvrtcGetErrorString(err))
print(nvrtc.nvrtcCompileProgram(prog, 1, [b"--no-such-option"])[0].name)
need(nvrtc.nvrtcDestroyProgram(prog))
print(int(prog), need(nvrtc.nvrtcGetNumSupportedArchs()) == len(need(nvrtc.nvrtcGetSupportedArchs())))
headers = need(
    nvrtc.nvrtcCreateProgram(
        b'#include "answer.h"\n#include <more.h>\n__global__ void f(int *p) { *p = ANSWER + MORE; }',
        b"h.cu",
        2,
        [b"#define ANSWER 41", b"#define MORE 1"],
        [b"answer.h", b"more.h"],
    )
)
print(nvrtc.nvrtcCompileProgram(headers, 1, [b"--std=c++17"]))
