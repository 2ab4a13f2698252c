"""CuPy: a raw kernel, arithmetic of arrays and a sum."""

import cupy
import numpy as np

CODE = 'extern "C" __global__ void twice(float *x) { x[blockIdx.x * blockDim.x + threadIdx.x] *= 2; }'
x = cupy.arange(1024, dtype=cupy.float32)
cupy.RawKernel(CODE, "twice")((4,), (256,), (x,))
np.testing.assert_array_equal((x + 1).get(), 2 * np.arange(1024, dtype=np.float32) + 1)
assert int(x.sum()) == 1024 * 1023
