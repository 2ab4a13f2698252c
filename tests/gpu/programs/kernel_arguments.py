"""Kernel arguments in every form: ctypes tuples, structures, enums, handles, chars, halves, doubles."""

import ctypes

import numpy as np
from cuda.bindings import driver as cuda
from cuda.bindings import nvrtc


def check(result):
    if result[0].value:
        raise RuntimeError(f"CUDA error code={result[0].value} ({result[0].name})")
    return None if len(result) == 1 else result[1] if len(result) == 2 else result[1:]


SOURCE = r"""
struct Params { int n; double scale; float bias[3]; };
extern "C" __global__ void mixed(bool flag, signed char c, short s, int i, long long l, unsigned char uc,
    unsigned short us, unsigned int ui, unsigned long long ull, float f, double d, double *out)
{
    double v[] = {(double)flag, (double)c, (double)s, (double)i, (double)l, (double)uc, (double)us, (double)ui,
                  (double)ull, (double)f, d};
    for (int k = 0; k < 11; k++) out[k] = v[k];
}
extern "C" __global__ void by_struct(Params p, const double *in, double *out, int what)
{
    for (int k = threadIdx.x; k < p.n; k += blockDim.x) out[k] = in[k] * p.scale + p.bias[k % 3] + what;
}
"""


class Params(ctypes.Structure):
    _fields_ = [("n", ctypes.c_int), ("scale", ctypes.c_double), ("bias", ctypes.c_float * 3)]


check(cuda.cuInit(0))
dev = check(cuda.cuDeviceGet(0))
ctx = check(cuda.cuDevicePrimaryCtxRetain(dev))
check(cuda.cuCtxSetCurrent(ctx))
prog = check(nvrtc.nvrtcCreateProgram(SOURCE.encode(), b"args.cu", 0, None, None))
check(nvrtc.nvrtcCompileProgram(prog, 1, [b"--gpu-architecture=compute_75"]))
ptx = b" " * check(nvrtc.nvrtcGetPTXSize(prog))
check(nvrtc.nvrtcGetPTX(prog, ptx))
mod = check(cuda.cuModuleLoadData(ptx))
mixed = check(cuda.cuModuleGetFunction(mod, b"mixed"))
by_struct = check(cuda.cuModuleGetFunction(mod, b"by_struct"))
N = 33
d_in, d_out = check(cuda.cuMemAlloc(8 * N)), check(cuda.cuMemAlloc(8 * N))
host = np.arange(N, dtype=np.float64)
check(cuda.cuMemcpyHtoD(d_in, host, host.nbytes))

values = (True, -5, -300, -70000, -(2**40), 200, 60000, 4000000000, 2**60, 1.5, 2.25, d_out)
types = (
    ctypes.c_bool, ctypes.c_byte, ctypes.c_short, ctypes.c_int, ctypes.c_longlong, ctypes.c_ubyte,
    ctypes.c_ushort, ctypes.c_uint, ctypes.c_ulonglong, ctypes.c_float, ctypes.c_double, None,
)  # fmt: skip
check(cuda.cuLaunchKernel(mixed, 1, 1, 1, 1, 1, 1, 0, 0, (values, types), 0))
result = np.zeros(11)
check(cuda.cuMemcpyDtoH(result, d_out, result.nbytes))
print(result.tolist())

wrapped = (
    ctypes.c_bool(False), ctypes.c_int8(-1), ctypes.c_int16(2), ctypes.c_int32(3), ctypes.c_int64(4),
    ctypes.c_uint8(5), ctypes.c_uint16(6), ctypes.c_uint32(7), ctypes.c_uint64(8), ctypes.c_float(9.5),
    ctypes.c_double(10.5), int(d_out),
)  # fmt: skip
check(
    cuda.cuLaunchKernel(
        mixed, 1, 1, 1, 1, 1, 1, 0, None, (wrapped[:11] + (int(d_out),), types[:11] + (ctypes.c_void_p,)), 0
    )
)
check(cuda.cuMemcpyDtoH(result.ctypes.data, d_out, result.nbytes))
print(result.tolist())

p = Params(N, 3.0, (ctypes.c_float * 3)(0.25, 0.5, 0.75))
kind = cuda.CUmemorytype.CU_MEMORYTYPE_DEVICE
args = ((p, d_in, int(d_out), kind), (None, None, ctypes.c_void_p, None))
check(cuda.cuLaunchKernel(by_struct, 1, 1, 1, 32, 1, 1, 0, cuda.CUstream(0), args, 0))
result = np.zeros(N)
check(cuda.cuMemcpyDtoH(memoryview(result), d_out, result.nbytes))
expected = host * 3 + np.array([0.25, 0.5, 0.75])[np.arange(N) % 3] + 2
print(np.array_equal(result, expected), int(kind))

packed = np.array(
    [(N, 1.0, (1, 1, 1))],
    dtype=np.dtype(
        {
            "names": ["n", "scale", "bias"],
            "formats": ["i4", "f8", "3f4"],
            "offsets": [0, 8, 16],
            "itemsize": 32,
        }
    ),
)
what = np.array([7], dtype=np.int32)
pointers = [np.array([int(x)], dtype=np.uint64) for x in (d_in, d_out)]
table = np.array([x.ctypes.data for x in (packed, *pointers, what)], dtype=np.uint64)
check(
    cuda.cuLaunchKernel(
        by_struct, 1, 1, 1, 32, 1, 1, 0, cuda.CUstream(cuda.CU_STREAM_LEGACY), table.ctypes.data, 0
    )
)
check(cuda.cuCtxSynchronize())
check(cuda.cuMemcpyDtoH(result, d_out, result.nbytes))
print(np.array_equal(result, host + 8))
addresses = (ctypes.c_void_p * 4)(*(int(x) for x in table))
check(cuda.cuLaunchKernel(by_struct, 1, 1, 1, 1, 1, 1, 0, 0, ctypes.addressof(addresses), 0))
check(cuda.cuMemcpyDtoH(result, d_out, result.nbytes))
print(np.array_equal(result, host + 8))
check(cuda.cuModuleUnload(mod))
