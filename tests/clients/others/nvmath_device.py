"""nvmath-python: cuBLASDx, cuFFTDx and the generators of cuRAND in kernels of Numba."""

import numpy as np
from numba import cuda
from nvmath.device import FFT, Matmul, random

SIZE, THREADS, FFTS, POINTS = 16, 32, 2, 128
matmul = Matmul(
    size=(SIZE, SIZE, SIZE),
    precision=np.float32,
    data_type="real",
    arrangement=("row_major",) * 3,
    execution="Block",
    block_dim=(THREADS, 1, 1),
)
size_a, size_b, size_c = matmul.a_size, matmul.b_size, matmul.c_size


@cuda.jit
def multiply(a, b, c):
    shared_a = cuda.shared.array(size_a, np.float32)
    shared_b = cuda.shared.array(size_b, np.float32)
    shared_c = cuda.shared.array(size_c, np.float32)
    for i in range(cuda.threadIdx.x, SIZE * SIZE, THREADS):
        row, column = i // SIZE, i % SIZE
        shared_a[i], shared_b[i], shared_c[i] = a[row, column], b[row, column], c[row, column]
    cuda.syncthreads()
    matmul.execute(np.float32(2), shared_a, shared_b, np.float32(1), shared_c)
    cuda.syncthreads()
    for i in range(cuda.threadIdx.x, SIZE * SIZE, THREADS):
        c[i // SIZE, i % SIZE] = shared_c[i]


generator = np.random.default_rng(3)
a, b, c = (generator.random((SIZE, SIZE), dtype=np.float32) for _ in range(3))
product = cuda.to_device(c)
multiply[1, THREADS](a, b, product)
np.testing.assert_allclose(product.copy_to_host(), 2 * a @ b + c, rtol=1e-5)

fft = FFT(
    fft_type="c2c",
    size=POINTS,
    precision=np.float32,
    direction="forward",
    ffts_per_block=FFTS,
    elements_per_thread=8,
    execution="Block",
)
stored, stride, each, kind = fft.storage_size, fft.stride, fft.elements_per_thread, fft.value_type


@cuda.jit
def transform(signals):
    own = cuda.local.array(stored, kind)
    shared = cuda.shared.array(0, kind)
    for i in range(each):
        own[i] = signals[cuda.threadIdx.y, cuda.threadIdx.x + i * stride]
    fft.execute(own, shared)
    for i in range(each):
        signals[cuda.threadIdx.y, cuda.threadIdx.x + i * stride] = own[i]


signals = (generator.random((FFTS, POINTS)) + 1j * generator.random((FFTS, POINTS))).astype(np.complex64)
spectra = cuda.to_device(signals)
transform[1, fft.block_dim, 0, fft.shared_memory_size](spectra)
np.testing.assert_allclose(spectra.copy_to_host(), np.fft.fft(signals), rtol=1e-3, atol=1e-3)

compiled = random.Compile(cc=None)
states = random.StatesPhilox4_32_10(4096)


@cuda.jit(link=compiled.files, extensions=compiled.extension)
def draw(states, numbers):
    i = cuda.grid(1)
    random.init(1234, i, 0, states[i])
    numbers[i] = random.uniform(states[i])


numbers = cuda.device_array(4096, np.float32)
draw[128, 32](states, numbers)
drawn = numbers.copy_to_host()
assert 0 < drawn.min() < 0.01 and 0.99 < drawn.max() <= 1 and abs(drawn.mean() - 0.5) < 0.05
