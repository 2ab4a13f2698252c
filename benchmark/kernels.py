"""The CUDA C++ kernels of all contenders, compiled once."""

from __future__ import annotations

from cudapy.nvrtc import checked as nvrtc

MANY = (16, 64, 512)
"""Argument counts of the kernels called many16 and so on; each argument is a size_t, as wide as an int."""

SAXPY = """extern "C" __global__ void saxpy(float a, const float *x, const float *y, float *out, size_t n)
{
    size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n) out[i] = a * x[i] + y[i];
}
"""

OTHERS = """
extern "C" __global__ void empty() {}

struct Large { size_t words[256]; };  // 2 KB
extern "C" __global__ void large(Large) {}
"""


def source() -> str:
    """All kernels."""
    many = ((n, ", ".join(f"size_t a{i}" for i in range(n))) for n in MANY)
    return SAXPY + OTHERS + "".join(f'extern "C" __global__ void many{n}({a}) {{}}\n' for n, a in many)


def cubin(arch: str) -> bytes:
    """All kernels as machine code for `arch`, e.g. "sm_90"."""
    program = nvrtc.nvrtcCreateProgram(source().encode(), b"kernels.cu", 0, None, None)
    nvrtc.nvrtcCompileProgram(program, 1, [f"--gpu-architecture={arch}".encode()])
    code = bytes(nvrtc.nvrtcGetCUBINSize(program))
    nvrtc.nvrtcGetCUBIN(program, code)
    nvrtc.nvrtcDestroyProgram(program)
    return code
