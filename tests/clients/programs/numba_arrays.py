"""Arrays of Numba: on the device, page-locked, mapped, managed, sliced, with fields; streams and events."""

import numpy as np
from numba import cuda


@cuda.jit
def saxpy(a, x, y, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a * x[i] + y[i]


@cuda.jit
def transpose(a, out):
    i, j = cuda.grid(2)
    if i < out.shape[0] and j < out.shape[1]:
        out[i, j] = a[j, i]


@cuda.jit
def move(particles, step):
    i = cuda.grid(1)
    if i < particles.size:
        particles[i].x += particles[i].v * step
        particles[i].hits += 1


@cuda.jit
def increment(x):
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        x[i] += 1


def device_arrays():
    n = 1000
    x, y = np.arange(n, dtype=np.float32), np.full(n, 3, np.float32)
    out = cuda.device_array_like(x)
    saxpy[8, 128](np.float32(2), cuda.to_device(x), cuda.to_device(y), out)
    assert np.array_equal(out.copy_to_host(), 2 * x + 3)
    on_host = np.zeros(n, np.float32)  # Numba copies it to the device and back
    saxpy[8, 128](np.float32(0.5), x, y, on_host)
    assert np.array_equal(on_host, x / 2 + 3)

    part = cuda.to_device(np.arange(100, dtype=np.int64))
    increment[2, 16](part[10:90:2])
    expected = np.arange(100)
    expected[10:90:2] += 1
    assert np.array_equal(part.copy_to_host(), expected)
    part[:10] = 7
    assert part[3] == 7 and np.array_equal(part.reshape(10, 10)[0].copy_to_host(), np.full(10, 7))

    a = np.arange(6 * 40, dtype=np.float64).reshape(6, 40)
    for order in "CF":
        out = np.zeros((40, 6))
        transpose[(5, 1), (8, 8)](cuda.to_device(np.array(a, order=order)), out)
        assert np.array_equal(out, a.T)
    assert cuda.device_array((3, 4), np.int8).nbytes == 12


def records():
    kind = np.dtype([("x", np.float64), ("v", np.float32), ("hits", np.int32)], align=True)
    particles = np.zeros(50, kind)
    particles["v"] = np.arange(50)
    move[1, 64](particles, 0.5)
    assert np.array_equal(particles["x"], np.arange(50) * 0.5) and (particles["hits"] == 1).all()


def host_memory():
    stream = cuda.stream()
    locked = cuda.pinned_array(512, np.int32)
    locked[:] = np.arange(512)
    copy = cuda.to_device(locked, stream=stream)
    increment[4, 32, stream](copy)
    copy.copy_to_host(locked, stream=stream)
    stream.synchronize()
    assert np.array_equal(locked, np.arange(512) + 1)

    ordinary = np.zeros(64)
    with cuda.pinned(ordinary):
        cuda.to_device(np.ones(64)).copy_to_host(ordinary, stream=stream)
        stream.synchronize()
    assert ordinary.sum() == 64

    mapped = cuda.mapped_array(100, np.float64)
    mapped[:] = 1
    increment[1, 100](mapped)
    cuda.synchronize()
    assert mapped.sum() == 200

    managed = cuda.managed_array(256, np.int64)
    managed[:] = np.arange(256)
    increment[2, 128](managed)
    cuda.synchronize()
    assert managed.sum() == 256 * 255 // 2 + 256


def streams_and_events():
    first, second = cuda.stream(), cuda.stream()
    begin, end = cuda.event(), cuda.event()
    x = cuda.to_device(np.zeros(1 << 12))
    begin.record(first)
    for _ in range(3):
        increment[4, 64, first](x)
    end.record(first)
    end.wait(second)
    out = x.copy_to_host(stream=second)
    second.synchronize()
    assert (out == 3).all() and begin.query() and cuda.event_elapsed_time(begin, end) >= 0
    with first.auto_synchronize():
        increment[4, 64, first](x)
    assert x.copy_to_host()[-1] == 4
    told = []
    second.add_callback(lambda stream, status, arg: told.append((status, arg)), "done")
    second.synchronize()
    assert told == [(0, "done")]
    free, total = cuda.current_context().get_memory_info()
    assert 0 < free <= total


device_arrays()
records()
host_memory()
streams_and_events()
