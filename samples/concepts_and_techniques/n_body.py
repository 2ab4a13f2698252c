"""nbody: bodies that attract each other.

    python samples/concepts_and_techniques/n_body.py [--save n_body.png]

Every body pulls at every other. A block reads the bodies tile by tile into shared memory, where all its
threads use them: the memory is read once for each block and not once for each body. The laws of motion give
the check: momentum is kept, and so, nearly, is energy.
"""

from __future__ import annotations

import argparse
import sys

import numpy as np

from cudapy import simulator
from cudapy.core import Device, LaunchConfig, Program, launch

KERNEL = """
// x, y, z and the mass in w; SOFTENING keeps bodies that meet from flying apart.
extern "C" __global__ void step(const float4 *bodies, float4 *moved, float4 *speeds, int n, float dt,
                                float softening)
{
    extern __shared__ float4 tile[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 me = bodies[i];
    float ax = 0, ay = 0, az = 0;
    for (int start = 0; start < n; start += blockDim.x) {
        tile[threadIdx.x] = bodies[start + threadIdx.x];
        __syncthreads();
        for (int j = 0; j < blockDim.x; ++j) {
            float4 other = tile[j];
            float x = other.x - me.x, y = other.y - me.y, z = other.z - me.z;
            float squared = x * x + y * y + z * z + softening * softening;
            float pull = other.w / (squared * sqrtf(squared));
            ax += pull * x, ay += pull * y, az += pull * z;
        }
        __syncthreads();
    }
    float4 speed = speeds[i];
    speed.x += ax * dt, speed.y += ay * dt, speed.z += az * dt;
    me.x += speed.x * dt, me.y += speed.y * dt, me.z += speed.z * dt;
    speeds[i] = speed;
    moved[i] = me;
}
"""
N, THREADS = 1024, 128
STEPS, DT, SOFTENING = 20, 0.005, 0.1


def energy(bodies: np.ndarray, speeds: np.ndarray) -> float:
    """Of motion and of position, in double precision."""
    place, mass = bodies[:, :3].astype(np.float64), bodies[:, 3].astype(np.float64)
    apart = np.sqrt(((place[:, None] - place[None]) ** 2).sum(-1) + SOFTENING**2)
    position = -(mass[:, None] * mass[None] / apart)[np.triu_indices(N, 1)].sum()
    return float(position + 0.5 * (mass[:, None] * speeds[:, :3].astype(np.float64) ** 2).sum())


def momentum(bodies: np.ndarray, speeds: np.ndarray) -> np.ndarray:
    """Mass times speed, of all together."""
    total: np.ndarray = (bodies[:, 3:].astype(np.float64) * speeds[:, :3]).sum(0)
    return total


def main() -> int:
    parser = argparse.ArgumentParser(description="Bodies that attract each other.")
    parser.add_argument("--save", metavar="PNG", help="draw where they went (needs matplotlib)")
    chosen = parser.parse_args()
    simulator.stand_in()
    device = Device()
    device.set_current()
    stream = device.create_stream()
    kernel = Program(KERNEL, "c++").compile("cubin").get_kernel("step")

    generator = np.random.default_rng(0)
    bodies, speeds = np.zeros((N, 4), np.float32), np.zeros((N, 4), np.float32)
    bodies[:, :3] = generator.normal(0, 1, (N, 3)) * (1, 1, 0.1)  # a disc
    bodies[:, 3] = 1 / N
    speeds[:, 0], speeds[:, 1] = -0.7 * bodies[:, 1], 0.7 * bodies[:, 0]  # that turns
    before = energy(bodies, speeds), momentum(bodies, speeds)

    here, there, d_speeds = (device.allocate(bodies.nbytes, stream=stream) for _ in range(3))
    here.copy_from(bodies, stream=stream)
    d_speeds.copy_from(speeds, stream=stream)
    config = LaunchConfig(grid=N // THREADS, block=THREADS, shmem_size=16 * THREADS)
    path = [bodies.copy()]
    for _ in range(STEPS):
        launch(stream, config, kernel, here, there, d_speeds, N, DT, SOFTENING)
        here, there = there, here
        if chosen.save:
            here.copy_to(bodies, stream=stream)
            stream.sync()
            path.append(bodies.copy())
    here.copy_to(bodies, stream=stream)
    d_speeds.copy_to(speeds, stream=stream)
    stream.sync()

    if chosen.save:
        _draw(chosen.save, path)
    drift = abs(energy(bodies, speeds) / before[0] - 1)
    push = float(np.abs(momentum(bodies, speeds) - before[1]).max())
    right = drift < 2e-3 and push < 1e-6 and not np.array_equal(bodies, path[0])
    print(f"{N} bodies, {STEPS} steps: energy changed by {drift:.1e}, momentum by {push:.1e}")
    print("PASS" if right else "FAIL")
    return 0 if right else 1


def _draw(file: str, path: list[np.ndarray]) -> None:
    """Each body's way, seen from above."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    ways = np.stack(path)
    figure, axes = pyplot.subplots(figsize=(6, 6), layout="constrained")
    axes.plot(ways[:, :, 0], ways[:, :, 1], color="C0", linewidth=0.4, alpha=0.5)
    axes.plot(ways[-1, :, 0], ways[-1, :, 1], ".", color="black", markersize=2)
    axes.set_aspect("equal")
    axes.set_title(f"{N} bodies, {STEPS} steps")
    figure.savefig(file)
    print(f"written to {file}")


if __name__ == "__main__":
    sys.exit(main())
