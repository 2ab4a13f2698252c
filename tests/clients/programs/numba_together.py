"""Threads that work together: shared memory, atomics, warps, barriers, a whole grid, reductions."""

import numpy as np
from numba import cuda, float32, float64, int32

SIZE = 128


@cuda.jit
def total(x, out):
    part = cuda.shared.array(SIZE, float64)
    i = cuda.threadIdx.x
    part[i] = 0
    for j in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        part[i] += x[j]
    cuda.syncthreads()
    step = SIZE // 2
    while step:
        if i < step:
            part[i] += part[i + step]
        cuda.syncthreads()
        step //= 2
    if i == 0:
        cuda.atomic.add(out, 0, part[0])


@cuda.jit
def backwards(x, out):
    copies = cuda.shared.array(0, int32)  # its size comes with the launch
    tail = copies[cuda.blockDim.x :]
    i, n = cuda.threadIdx.x, cuda.blockDim.x
    copies[i] = x[cuda.grid(1)]
    tail[i] = copies[i] * 10
    cuda.syncthreads()
    out[cuda.grid(1)] = tail[n - 1 - i]


@cuda.jit
def product(a, b, out):
    tile_a, tile_b = cuda.shared.array((8, 8), float32), cuda.shared.array((8, 8), float32)
    x, y = cuda.grid(2)
    i, j = cuda.threadIdx.x, cuda.threadIdx.y
    value = float32(0)
    for k in range(a.shape[1] // 8):
        tile_a[i, j] = a[x, j + k * 8]
        tile_b[i, j] = b[i + k * 8, y]
        cuda.syncthreads()
        for m in range(8):
            value += tile_a[i, m] * tile_b[m, j]
        cuda.syncthreads()
    out[x, y] = value


@cuda.jit
def histogram(x, bins):
    i = cuda.grid(1)
    if i < x.size:
        cuda.atomic.add(bins, x[i] % bins.size, 1)


@cuda.jit
def extremes(x, out, flags):
    i = cuda.grid(1)
    if i < x.size:
        cuda.atomic.max(out, 0, x[i])
        cuda.atomic.min(out, 1, x[i])
        cuda.atomic.cas(flags, 0, 0, i + 1)
        cuda.atomic.exch(flags, 1, 5)
        cuda.atomic.or_(flags, 2, 1 << (i % 8))


@cuda.jit
def warps(out):
    i = cuda.threadIdx.x
    value = i
    for step in (16, 8, 4, 2, 1):
        value += cuda.shfl_down_sync(0xFFFFFFFF, value, step)
    odd = cuda.ballot_sync(0xFFFFFFFF, i % 2 == 1)
    if i == 0:
        out[0], out[1] = value, odd & 0xFF
    out[2] = cuda.syncthreads_count(int32(i < 5))
    if cuda.any_sync(0xFFFFFFFF, i == 31) and cuda.all_sync(0xFFFFFFFF, i < 32):
        out[3] = cuda.popc(odd)
    out[4], out[5] = cuda.clz(1), cuda.ffs(8)
    out[6] = cuda.laneid if i == 31 else out[6]


@cuda.jit
def waves(x):
    grid = cuda.cg.this_grid()
    i = cuda.grid(1)
    for k in range(3):
        x[k + 1, i] = x[k, (i + 1) % x.shape[1]] + 1  # what another block wrote
        grid.sync()


@cuda.reduce
def added(a, b):
    return a + b


def main():
    rng = np.random.default_rng(0)
    x = rng.integers(0, 100, 5000).astype(np.float64)
    out = np.zeros(1)
    total[4, SIZE](x, out)
    assert out[0] == x.sum()

    x = np.arange(128, dtype=np.int32)
    out = np.zeros(128, np.int32)
    backwards[4, 32, 0, 2 * 32 * 4](x, out)
    assert np.array_equal(out, 10 * x.reshape(4, 32)[:, ::-1].ravel())

    a, b = rng.integers(0, 5, (16, 24)), rng.integers(0, 5, (24, 16))
    out = np.zeros((16, 16), np.float32)
    product[(2, 2), (8, 8)](a.astype(np.float32), b.astype(np.float32), out)
    assert np.array_equal(out, a @ b)

    x, bins = rng.integers(0, 1000, 999), np.zeros(10, np.int32)
    histogram[8, 128](x, bins)
    assert np.array_equal(bins, np.bincount(x % 10))
    out, flags = np.array([-1, 10**6]), np.zeros(3, np.int64)
    extremes[8, 128](x, out, flags)
    assert out.tolist() == [x.max(), x.min()] and 0 < flags[0] <= 999 and flags[1:].tolist() == [5, 255]

    out = np.zeros(7, np.int64)
    warps[1, 32](out)
    assert out.tolist() == [496, 0xAA, 5, 16, 63, 4, 31]

    x = np.zeros((4, 64))
    waves[2, 32](x)
    assert (x[3] == 3).all()
    assert waves.overloads and next(iter(waves.overloads.values())).cooperative
    assert added(np.arange(1000.0)) == 499500


main()
