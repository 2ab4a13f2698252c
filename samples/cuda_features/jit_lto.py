"""jitLto: a library and a kernel, compiled apart and optimised together.

    python samples/cuda_features/jit_lto.py

Link-time optimization keeps what the compiler knows until everything is there. nvJitLink then inlines a
function of one source into a kernel of another, as if they had been one. What comes out is machine code; for
the simulator, which runs none, it is PTX.
"""

from __future__ import annotations

import sys

import numpy as np

from cudapy import simulator
from cudapy.core import Device, LaunchConfig, Linker, LinkerOptions, Program, ProgramOptions, launch

LIBRARY = """
__device__ float activation(float x) { return x > 0 ? x : 0.01f * x; }
"""
KERNEL = """
extern __device__ float activation(float x);

extern "C" __global__ void apply(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = activation(x[i]);
}
"""
N, THREADS = 100_000, 256


def main() -> int:
    simulated = simulator.stand_in()
    device = Device()
    device.set_current()
    if Linker.which_backend() != "nvJitLink":
        print('WAIVED: needs nvJitLink: pip install "cudapy[cuda13]"')
        return 77
    stream = device.create_stream()
    options = ProgramOptions(relocatable_device_code=True)
    parts = [Program(source, "c++", options).compile("ltoir") for source in (LIBRARY, KERNEL)]
    how = LinkerOptions(link_time_optimization=True, ptx=simulated)
    linked = Linker(*parts, options=how).link("ptx" if simulated else "cubin")

    numbers = np.linspace(-1, 1, N, dtype=np.float32)
    found = np.empty_like(numbers)
    data = device.allocate(numbers.nbytes, stream=stream)
    data.copy_from(numbers, stream=stream)
    config = LaunchConfig(grid=(N + THREADS - 1) // THREADS, block=THREADS)
    launch(stream, config, linked.get_kernel("apply"), data, N)
    data.copy_to(found, stream=stream)
    stream.sync()

    right = np.array_equal(found, np.where(numbers > 0, numbers, np.float32(0.01) * numbers))
    sizes = f"LTO-IR of {len(parts[0].code)} and {len(parts[1].code)} bytes"
    print(f"{sizes}, {'PTX' if simulated else 'a cubin'} of {len(linked.code)}")
    print("PASS" if right else "FAIL")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
