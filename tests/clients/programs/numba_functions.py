"""What Numba compiles: signatures, device functions, ufuncs, libdevice, random numbers, half precision."""

import cmath
import math

import numpy as np
from numba import cuda, float32, guvectorize, int64, types, vectorize
from numba.cuda.random import create_xoroshiro128p_states, xoroshiro128p_uniform_float64

TABLE = np.array([1.5, 2.5, 4.0])


@cuda.jit("float64(float64, float64)", device=True)
def length(x, y):
    return math.sqrt(x * x + y * y)


@cuda.jit("void(float64[:], float64[:], float64[:])")
def lengths(x, y, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = length(x[i], y[i])


@cuda.jit
def factorial(x, out):
    out[0] = product_to(x)
    scratch = cuda.local.array(4, int64)
    for i in range(4):
        scratch[i] = i * x
    out[1] = scratch[3] + cuda.const.array_like(TABLE)[2]


@cuda.jit(device=True)
def product_to(n):
    return n * product_to(n - 1) if n > 1 else 1


@vectorize([float32(float32, float32)], target="cuda")
def hypotenuse(a, b):
    return math.sqrt(a * a + b * b)


@guvectorize(["void(float64[:,:], float64[:,:], float64[:,:])"], "(m,n),(n,p)->(m,p)", target="cuda")
def products(a, b, out):
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            out[i, j] = 0
            for k in range(a.shape[1]):
                out[i, j] += a[i, k] * b[k, j]


@cuda.jit
def elementary(x, out):
    i = cuda.grid(1)
    if i < x.size:
        v = x[i]
        out[0, i], out[1, i], out[2, i] = math.sin(v), math.exp(v), math.log(v)
        out[3, i], out[4, i], out[5, i] = math.erf(v), math.gamma(v), v**1.7
        out[6, i], out[7, i], out[8, i] = math.atan2(v, 2.0), math.fmod(v, 0.7), cuda.libdevice.cbrt(v)


@cuda.jit
def whirl(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = x[i] * complex(0, 1) + abs(x[i]) + cmath.exp(x[i]).real


@cuda.jit
def halves(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = cuda.fp16.hfma(x[i], x[i], np.float16(1))


@cuda.jit
def inside(states, n, out):
    i = cuda.grid(1)
    hits = 0
    for _ in range(n):
        x, y = xoroshiro128p_uniform_float64(states, i), xoroshiro128p_uniform_float64(states, i)
        hits += x * x + y * y < 1
    out[i] = hits


@cuda.jit
def report(x):
    if cuda.grid(1) == 0:
        print("x has", x.size, "items, the first is", x[0])


def main():
    x, y = np.arange(10.0), np.arange(10.0)[::-1].copy()
    out = np.zeros(10)
    lengths[1, 32](x, y, out)
    assert np.allclose(out, np.hypot(x, y))
    out = np.zeros(2)
    factorial[1, 1](6, out)
    assert out.tolist() == [720, 22]

    a = np.linspace(0, 9, 100, dtype=np.float32)
    assert np.allclose(hypotenuse(a, a + 1), np.hypot(a, a + 1))
    assert hypotenuse(cuda.to_device(a), cuda.to_device(a)).copy_to_host().dtype == np.float32
    rng = np.random.default_rng(0)
    left, right = rng.random((5, 3, 4)), rng.random((5, 4, 2))
    assert np.allclose(products(left, right), left @ right)

    x = np.linspace(0.1, 5, 64)
    out = np.zeros((9, 64))
    elementary[1, 64](x, out)
    expected = [np.sin(x), np.exp(x), np.log(x), np.array([math.erf(v) for v in x])]
    expected += [np.array([math.gamma(v) for v in x]), x**1.7, np.arctan2(x, 2), np.fmod(x, 0.7), np.cbrt(x)]
    assert np.allclose(out, expected)

    z = x[:8] + 1j * x[8:16]
    out = np.zeros(8, np.complex128)
    whirl[1, 8](z, out)
    assert np.allclose(out, z * 1j + abs(z) + np.exp(z).real)
    h = np.arange(16, dtype=np.float16)
    out = np.zeros(16, np.float16)
    halves[1, 16](h, out)
    assert np.array_equal(out, h * h + 1)

    out = np.zeros(64)
    inside[2, 32](create_xoroshiro128p_states(64, seed=1), 50, out)
    assert abs(4 * out.sum() / (64 * 50) - math.pi) < 0.15
    report[1, 32](np.arange(5))
    cuda.synchronize()

    ptx, result = cuda.compile_ptx(lambda v: v * 2, (types.float64,), device=True)
    assert ".func" in ptx and result == types.float64
    assert "bar.sync" not in next(iter(lengths.inspect_asm().values()))
    specialised = next(iter(lengths.overloads.values()))
    assert specialised.regs_per_thread > 0 and specialised.max_threads_per_block >= 256


main()
