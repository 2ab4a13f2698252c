"""NumPy: arrays and records, as they are.

    python samples/interop/numpy_arrays.py

Copies take arrays; scalars and records with NumPy's types are kernel arguments of those types. A structured
type with C's alignment is the struct of the same fields.
"""

from __future__ import annotations

import sys

import numpy as np

from cudapy import simulator
from cudapy.core import Device, LaunchConfig, Program, launch

KERNEL = """
struct Particle { float x, y; int hits; double energy; };
struct Box { float left, right; short steps; };

extern "C" __global__ void move(Particle *particles, int n, Box box, float dx)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    Particle &p = particles[i];
    for (int step = 0; step < box.steps; ++step) {
        p.x += dx;
        if (p.x > box.right) {
            p.x = box.left;
            ++p.hits;
            p.energy /= 2;
        }
    }
}
"""
PARTICLE = np.dtype([("x", "f4"), ("y", "f4"), ("hits", "i4"), ("energy", "f8")], align=True)
BOX = np.dtype([("left", "f4"), ("right", "f4"), ("steps", "i2")], align=True)
N, THREADS = 10_000, 256


def main() -> int:
    simulator.stand_in()
    device = Device()
    device.set_current()
    stream = device.create_stream()
    kernel = Program(KERNEL, "c++").compile("cubin").get_kernel("move")

    generator = np.random.default_rng(0)
    particles = np.zeros(N, PARTICLE)
    particles["x"], particles["energy"] = generator.random(N), 1
    box = np.array((0, 1, 10), BOX)[()]  # one record
    dx = np.float32(0.25)

    data = device.allocate(particles.nbytes, stream=stream)
    data.copy_from(particles, stream=stream)
    launch(stream, LaunchConfig(grid=(N + THREADS - 1) // THREADS, block=THREADS), kernel, data, N, box, dx)
    found = np.empty_like(particles)
    data.copy_to(found, stream=stream)
    stream.sync()

    for _ in range(box["steps"]):
        particles["x"] += dx
        out = particles["x"] > box["right"]
        particles["x"][out] = box["left"]
        particles["hits"][out] += 1
        particles["energy"][out] /= 2
    right = all(np.array_equal(found[name], particles[name]) for name in PARTICLE.names or ())
    print(f"{N} records of {PARTICLE.itemsize} bytes, {found['hits'].sum()} hits")
    print("PASS" if right else "FAIL")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
