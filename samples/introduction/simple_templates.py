"""simpleTemplates: one C++ template, kernels for many types.

    python samples/introduction/simple_templates.py

A template is compiled for the types that are named: `name_expressions` names them, and `get_kernel` finds
them under the same names, whatever the compiler made of them.
"""

from __future__ import annotations

import sys

import numpy as np

from cudapy import simulator
from cudapy.core import Device, LaunchConfig, Program, launch

KERNEL = """
template <typename T>
__global__ void scale(const T *input, T *output)
{
    extern __shared__ __align__(8) unsigned char bytes[];  // one array for all types
    T *shared = reinterpret_cast<T *>(bytes);
    shared[threadIdx.x] = input[threadIdx.x];
    __syncthreads();
    output[threadIdx.x] = T(blockDim.x) * shared[blockDim.x - 1 - threadIdx.x];
}
"""
TYPES = {"float": np.float32, "double": np.float64, "int": np.int32, "long long": np.int64}
THREADS = 128


def main() -> int:
    simulator.stand_in()
    device = Device()
    device.set_current()
    stream = device.create_stream()
    names = {c_type: f"scale<{c_type}>" for c_type in TYPES}
    code = Program(KERNEL, "c++").compile("cubin", name_expressions=list(names.values()))

    right = True
    for c_type, dtype in TYPES.items():
        numbers = np.arange(THREADS, dtype=dtype)
        found = np.empty_like(numbers)
        d_input, d_output = (device.allocate(numbers.nbytes, stream=stream) for _ in range(2))
        d_input.copy_from(numbers, stream=stream)
        config = LaunchConfig(grid=1, block=THREADS, shmem_size=numbers.nbytes)
        launch(stream, config, code.get_kernel(names[c_type]), d_input, d_output)
        d_output.copy_to(found, stream=stream)
        stream.sync()
        same = np.array_equal(found, THREADS * numbers[::-1])
        print(f"{names[c_type]:18} {'ok' if same else 'wrong'}")
        right = right and same
    print("PASS" if right else "FAIL")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
