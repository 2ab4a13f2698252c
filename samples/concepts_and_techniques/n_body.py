"""nbody: bodies that attract each other.

    python samples/concepts_and_techniques/n_body.py [--save n_body.png]

Every body pulls at every other. A block reads the bodies tile by tile into shared memory, where all its
threads use them: the memory is read once for each block and not once for each body. The first step is
checked against NumPy, all of them by the laws of motion: momentum is kept, and so, nearly, is energy.
"""

from __future__ import annotations

import argparse
import importlib.util
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
N, THREADS = 512, 128
STEPS, DT, SOFTENING = 24, 0.025, 0.2


def two_discs() -> tuple[np.ndarray, np.ndarray]:
    """Bodies and speeds of two turning discs that pass each other."""
    generator = np.random.default_rng(0)
    bodies, speeds = np.zeros((N, 4), np.float32), np.zeros((N, 4), np.float32)
    radius, angle = 0.8 * np.sqrt(generator.random(N)), generator.uniform(0, 2 * np.pi, N)
    side = np.where(np.arange(N) < N // 2, -1, 1)
    turn = radius / 0.8 * np.sqrt(0.5 / np.hypot(radius, SOFTENING))  # nearly in circles
    bodies[:, 0] = side + radius * np.cos(angle)
    bodies[:, 1] = side / 2 + radius * np.sin(angle)
    bodies[:, 2] = generator.normal(0, 0.03, N)
    bodies[:, 3] = 1 / N
    speeds[:, 0] = -turn * np.sin(angle) - side / 2
    speeds[:, 1] = turn * np.cos(angle)
    return bodies, speeds


def one_step(bodies: np.ndarray, speeds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Places and speeds after the first step, in double precision."""
    place, mass = bodies[:, :3].astype(np.float64), bodies[:, 3].astype(np.float64)
    apart = place[None] - place[:, None]
    pull = mass / ((apart**2).sum(-1) + SOFTENING**2) ** 1.5
    faster = speeds[:, :3] + DT * (pull[..., None] * apart).sum(1)
    return place + DT * faster, faster


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


def draw(file: str, path: list[np.ndarray]) -> None:
    """Each body's way, seen from above."""
    from matplotlib.figure import Figure

    ways = np.stack(path)
    figure = Figure(figsize=(6, 4.5), facecolor="black", layout="constrained")
    axes = figure.subplots()
    for disc, colour in ((slice(N // 2), "#ffb347"), (slice(N // 2, N), "#5ab4ff")):
        axes.plot(ways[:, disc, 0], ways[:, disc, 1], color=colour, linewidth=0.4, alpha=0.35)
        axes.plot(ways[-1, disc, 0], ways[-1, disc, 1], ".", color=colour, markersize=2)
    axes.set_aspect("equal")
    axes.axis("off")
    figure.savefig(file, dpi=100)
    print(f"written to {file}")


def main() -> int:
    parser = argparse.ArgumentParser(description="Bodies that attract each other.")
    parser.add_argument("--save", metavar="PNG", help="draw where they went (needs matplotlib)")
    chosen = parser.parse_args()
    if chosen.save and not importlib.util.find_spec("matplotlib"):
        parser.error("--save needs matplotlib: pip install matplotlib")
    simulator.stand_in()
    device = Device()
    device.set_current()
    stream = device.create_stream()
    kernel = Program(KERNEL, "c++").compile("cubin").get_kernel("step")

    bodies, speeds = two_discs()
    before = energy(bodies, speeds), momentum(bodies, speeds)

    here, there, d_speeds = (device.allocate(bodies.nbytes, stream=stream) for _ in range(3))
    here.copy_from(bodies, stream=stream)
    d_speeds.copy_from(speeds, stream=stream)
    config = LaunchConfig(grid=N // THREADS, block=THREADS, shmem_size=16 * THREADS)
    path, speed = [bodies], [speeds]
    for _ in range(STEPS):
        launch(stream, config, kernel, here, there, d_speeds, N, DT, SOFTENING)
        here, there = there, here
        path.append(np.empty_like(bodies))
        speed.append(np.empty_like(speeds))
        here.copy_to(path[-1], stream=stream)
        d_speeds.copy_to(speed[-1], stream=stream)
    stream.sync()

    if chosen.save:
        draw(chosen.save, path)
    first = np.hstack([path[1][:, :3], speed[1][:, :3]])
    right = bool(np.allclose(first, np.hstack(one_step(bodies, speeds)), rtol=0, atol=1e-5))
    drift = abs(energy(path[-1], speed[-1]) / before[0] - 1)
    push = float(np.abs(momentum(path[-1], speed[-1]) - before[1]).max())
    right = right and drift < 5e-3 and push < 1e-6
    print(f"{N} bodies, {STEPS} steps: energy changed by {drift:.1e}, momentum by {push:.1e}")
    print("PASS" if right else "FAIL")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
