"""ptxjit: PTX that the driver compiles when it is loaded.

    python samples/cuda_features/ptx_jit.py

PTX is the assembly language of all devices, those to come included. The driver makes machine code of it for
the device at hand; its options say how, and where it writes its log.
"""

from __future__ import annotations

import ctypes
import sys

import numpy as np

from cudapy import simulator
from cudapy.core import CUDAError
from cudapy.driver import CUjit_option, CUmodule
from cudapy.driver import checked as cu

PTX = b"""
.version 7.0
.target sm_70
.address_size 64

.visible .entry fill(.param .u64 data)
{
    .reg .b32 %r<6>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [data];
    cvta.to.global.u64 %rd1, %rd1;
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ntid.x;
    mov.u32 %r3, %tid.x;
    mad.lo.s32 %r4, %r1, %r2, %r3;
    mul.wide.u32 %rd2, %r4, 4;
    add.s64 %rd3, %rd1, %rd2;
    mul.lo.s32 %r5, %r4, %r4;
    st.global.u32 [%rd3], %r5;
    ret;
}
\0"""
BLOCKS, THREADS = 8, 128
N = BLOCKS * THREADS


def load(ptx: bytes) -> tuple[CUmodule, str]:
    """A module made of PTX, and what the driver's compiler said."""
    log = bytearray(4096)
    options = {
        CUjit_option.CU_JIT_INFO_LOG_BUFFER: log,
        CUjit_option.CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES: len(log),
        CUjit_option.CU_JIT_LOG_VERBOSE: 1,
    }
    module = cu.cuModuleLoadDataEx(ptx, len(options), list(options), list(options.values()))
    return module, log.split(b"\0")[0].decode()


def main() -> int:
    simulator.stand_in()
    cu.cuInit(0)
    device = cu.cuDeviceGet(0)
    context = cu.cuCtxCreate(None, 0, device)
    module, log = load(PTX)
    print(log.strip() or "the driver's compiler had nothing to say")

    kernel = cu.cuModuleGetFunction(module, b"fill")
    data = cu.cuMemAlloc(4 * N)
    cu.cuLaunchKernel(kernel, BLOCKS, 1, 1, THREADS, 1, 1, 0, None, ((data,), (ctypes.c_void_p,)), 0)
    found = np.empty(N, np.int32)
    cu.cuMemcpyDtoH(found, data, found.nbytes)
    right = np.array_equal(found, np.arange(N, dtype=np.int32) ** 2)

    try:
        load(PTX.replace(b"mul.lo.s32", b"mul.mid.s32"))
        right = False  # there is no such instruction
    except CUDAError as error:
        print(f"with a mistake in it: {error.name}")
    cu.cuMemFree(data)
    cu.cuModuleUnload(module)
    cu.cuCtxDestroy(context)
    print("PASS" if right else "FAIL")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
