"""PyCUDA: kernels that nvcc compiles as it runs, streams, memory, arrays, reductions."""

import numpy as np
import pycuda.autoinit  # noqa: F401 - makes the context
import pycuda.driver as cuda
from pycuda import gpuarray
from pycuda.compiler import SourceModule
from pycuda.elementwise import ElementwiseKernel
from pycuda.reduction import ReductionKernel

SOURCE = """
__constant__ float scale;
__global__ void saxpy(int n, float a, const float *x, float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = scale * (a * x[i] + y[i]);
}
__global__ void reverse(int *data)
{
    extern __shared__ int held[];
    held[threadIdx.x] = data[threadIdx.x];
    __syncthreads();
    data[threadIdx.x] = held[blockDim.x - 1 - threadIdx.x];
}
"""

module = SourceModule(SOURCE)
address, size = module.get_global("scale")
cuda.memcpy_htod(address, np.full(1, 0.5, np.float32))
x = np.arange(1000, dtype=np.float32)
y = np.ones_like(x)
module.get_function("saxpy")(
    np.int32(1000), np.float32(2), cuda.In(x), cuda.InOut(y), block=(256, 1, 1), grid=(4, 1)
)
assert size == 4
assert np.array_equal(y, 0.5 * (2 * x + 1))

numbers = np.arange(64, dtype=np.int32)
stream, done = cuda.Stream(), cuda.Event()
memory = cuda.mem_alloc(numbers.nbytes)
cuda.memcpy_htod_async(memory, numbers, stream)
reverse = module.get_function("reverse").prepare("P")
reverse.prepared_async_call((1, 1), (64, 1, 1), stream, memory, shared_size=256)
done.record(stream)
done.synchronize()
result = np.empty_like(numbers)
cuda.memcpy_dtoh(result, memory)
assert np.array_equal(result, numbers[::-1])

array = gpuarray.to_gpu(x)
assert np.array_equal((2 * array + 1).get(), 2 * x + 1)
assert float(gpuarray.sum(array).get()) == x.sum()
blend = ElementwiseKernel("float a, float *x, float *out", "out[i] = a * x[i] * x[i]")
squares = gpuarray.empty_like(array)
blend(np.float32(3), array, squares)
assert np.array_equal(squares.get(), 3 * x * x)
largest = ReductionKernel(
    np.float32, neutral="-1", reduce_expr="fmaxf(a, b)", map_expr="x[i]", arguments="float *x"
)
assert float(largest(array).get()) == 999
cuda.Context.attach().detach()
print("right")
