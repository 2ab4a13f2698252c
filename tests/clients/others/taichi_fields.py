"""Taichi: fields, arrays, matrices, a reduction, atomics, shared memory, random numbers, a gradient."""

import numpy as np
import taichi as ti

N = 64
ti.init(arch=ti.cuda, offline_cache=False, random_seed=3)
assert ti.lang.impl.current_cfg().arch == ti.cuda
matrices = ti.Matrix.field(3, 3, ti.f32, shape=N)
counts = ti.field(ti.i32, shape=16)
random = ti.field(ti.f32, shape=4096)
parameters = ti.field(ti.f32, shape=8, needs_grad=True)
loss = ti.field(ti.f32, shape=(), needs_grad=True)


@ti.kernel
def fill(x: ti.types.ndarray(dtype=ti.f32, ndim=2)):
    for i, j in ti.ndrange(x.shape[0], x.shape[1]):
        x[i, j] = ti.sin(i * 0.1) + ti.sqrt(float(j))
    for i in matrices:
        matrices[i] = ti.Matrix([[1.0 + i, 0, 1], [0, 2.0, 0], [0, 0, 4.0]])
    for i in random:
        random[i] = ti.random()


@ti.kernel
def determinants() -> ti.f32:
    total = 0.0
    for i in matrices:
        total += matrices[i].determinant()
    return total


@ti.kernel
def count(n: ti.i32):
    for i in range(n):
        counts[i * 7 % 16] += 1


@ti.kernel
def largest() -> ti.i32:
    found = -1
    for i in range(5000):
        ti.atomic_max(found, i * 7919 % 5003)
    return found


@ti.kernel
def backwards(x: ti.types.ndarray(dtype=ti.i32, ndim=1)):
    ti.loop_config(block_dim=64)
    for i in range(256):
        shared = ti.simt.block.SharedArray((64,), ti.i32)
        shared[i % 64] = i
        ti.simt.block.sync()
        x[i] = shared[63 - i % 64]


@ti.kernel
def squares():
    for i in parameters:
        loss[None] += parameters[i] ** 2


x = ti.ndarray(ti.f32, shape=(32, 16))
fill(x)
i, j = np.mgrid[:32, :16]
np.testing.assert_allclose(x.to_numpy(), np.sin(i * 0.1) + np.sqrt(j), rtol=1e-5, atol=1e-5)
assert determinants() == sum(8 * (1 + k) for k in range(N))
numbers = random.to_numpy()
assert 0 <= numbers.min() < 0.01 and 0.99 < numbers.max() < 1 and abs(numbers.mean() - 0.5) < 0.05
count(1000)
np.testing.assert_array_equal(counts.to_numpy(), np.bincount(np.arange(1000) * 7 % 16))
assert largest() == max(k * 7919 % 5003 for k in range(5000))
order = ti.ndarray(ti.i32, shape=256)
backwards(order)
np.testing.assert_array_equal(order.to_numpy(), np.arange(256).reshape(4, 64)[:, ::-1].ravel())
parameters.from_numpy(np.arange(8, dtype=np.float32))
with ti.ad.Tape(loss):
    squares()
assert loss[None] == 140
np.testing.assert_array_equal(parameters.grad.to_numpy(), 2 * np.arange(8))
