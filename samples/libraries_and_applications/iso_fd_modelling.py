"""isoFDModelling: a wave in three dimensions, step by step, on several devices.

    python samples/libraries_and_applications/iso_fd_modelling.py [--save wave.png]

The wave equation by finite differences, as seismic modelling does it: a source below the surface, a ground
that is faster below, and in each step a new field of pressure from the last two, with second derivatives of
order eight. The ground is cut into slabs, one for each device, or two where there is one device. A slab also
has four planes of each neighbour, the halo: after each step a device sends its outermost planes, in a stream
of their own, while it computes what lies between them. NumPy's same arithmetic is the check. The picture is a
cut through the source: the first wave, its echo of the surface, and what the faster ground reflects and
bends.
"""

from __future__ import annotations

import argparse
import importlib.util
import itertools
import os
import sys
from typing import NamedTuple

import numpy as np

from cudapy import simulator
from cudapy.core import Buffer, Device, Kernel, LaunchConfig, Program, ProgramOptions, Stream, launch
from cudapy.driver import checked as cu

KERNEL = """
const int RADIUS = 4;
__constant__ float weights[RADIUS + 1] = {-205.0f / 72, 8.0f / 5, -1.0f / 5, 8.0f / 315, -1.0f / 560};

// next = 2 now - before + c2 * (d2/dx2 + d2/dy2 + d2/dz2) now, where `next` holds the field before; planes
// `first` to `last` of the slab, but for a frame of RADIUS in x and y. A `source` of -1 is nowhere.
extern "C" __global__ void advance(const float *now, float *next, const float *c2, int width, int height,
                                   int first, int last, int source, float pulse)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    int z = first + blockIdx.z;
    if (x < RADIUS || x >= width - RADIUS || y < RADIUS || y >= height - RADIUS || z >= last)
        return;
    int plane = width * height, i = z * plane + y * width + x;
    float sum = 3 * weights[0] * now[i];
    for (int k = 1; k <= RADIUS; ++k)
        sum += weights[k] * (now[i - k] + now[i + k] + now[i - k * width] + now[i + k * width]
                             + now[i - k * plane] + now[i + k * plane]);
    float value = 2 * now[i] - next[i] + c2[z] * sum;
    next[i] = i == source ? value + pulse : value;
}
"""
RADIUS = 4
WEIGHTS = np.array([-205 / 72, 8 / 5, -1 / 5, 8 / 315, -1 / 560], np.float32)


class Ground(NamedTuple):
    """How many points there are in x, y and z, which is the depth; and how many steps are made."""

    width: int
    height: int
    depth: int
    steps: int

    @property
    def source(self) -> tuple[int, int, int]:
        """Its plane, row and column."""
        return self.depth // 4, self.height // 2, self.width // 2

    @property
    def c2(self) -> np.ndarray:
        """For each plane the square of how many points a wave goes in a step: above 0.2 the steps diverge."""
        speed = np.where(np.arange(self.depth) < 0.55 * self.depth, 0.28, 0.43)
        squares: np.ndarray = (speed**2).astype(np.float32)
        return squares


SMALL, LARGE = Ground(64, 24, 40, 30), Ground(144, 40, 96, 170)
"""What is computed, and what for a picture."""


def ricker(step: int) -> float:
    """The wavelet of seismologists."""
    t = ((step - 18) / 6.0) ** 2
    return float((1 - 2 * t) * np.exp(-t))


def on_the_host(ground: Ground) -> np.ndarray:
    """All planes at once, in the same order of operations."""
    shape = ground.depth, ground.height, ground.width
    now, following = np.zeros(shape, np.float32), np.zeros(shape, np.float32)
    c2 = ground.c2[RADIUS:-RADIUS, None, None]
    inside = (slice(RADIUS, -RADIUS),) * 3

    def moved(axis: int, by: int) -> np.ndarray:
        where = list(inside)
        where[axis] = slice(RADIUS + by, now.shape[axis] - RADIUS + by)
        return now[tuple(where)]

    for step in range(ground.steps):
        total = 3 * WEIGHTS[0] * now[inside]
        for k in range(1, RADIUS + 1):
            around = moved(2, -k) + moved(2, k) + moved(1, -k) + moved(1, k) + moved(0, -k) + moved(0, k)
            total = total + WEIGHTS[k] * around
        new = following[inside]
        new[:] = 2 * now[inside] - new + c2 * total
        following[ground.source] += np.float32(ricker(step))
        now, following = following, now
    return now


class Slab:
    """The planes from `start` to `end` on a device, with a halo of RADIUS planes on both sides."""

    def __init__(self, device: Device, ground: Ground, start: int, end: int) -> None:
        device.set_current()
        self.device, self.ground, self.start, self.end = device, ground, start, end
        self.compute, self.copy = device.create_stream(), device.create_stream()
        code = Program(KERNEL, "c++", ProgramOptions(fma=False)).compile("cubin")  # rounds as NumPy does
        self.kernel: Kernel = code.get_kernel("advance")
        planes = end - start + 2 * RADIUS
        self.now, self.next = (int(cu.cuMemAlloc(self.bytes_of(planes))) for _ in range(2))
        for field in (self.now, self.next):
            cu.cuMemsetD8Async(field, 0, self.bytes_of(planes), self.compute.handle)
        speeds = np.zeros(planes, np.float32)  # of the halo nobody asks
        speeds[RADIUS:-RADIUS] = ground.c2[start:end]
        self.c2: Buffer = device.allocate(speeds.nbytes, stream=self.compute)
        self.c2.copy_from(speeds, stream=self.compute)
        self.compute.sync()
        z, y, x = ground.source
        at = ((z - start + RADIUS) * ground.height + y) * ground.width + x
        self.source = at if start <= z < end else -1

    def bytes_of(self, planes: int) -> int:
        """How long so many planes are."""
        return 4 * self.ground.width * self.ground.height * planes

    def plane(self, field: int, z: int) -> int:
        """The address of plane z, counted in all slabs."""
        return field + self.bytes_of(z - self.start + RADIUS)

    def advance(self, stream: Stream, first: int, last: int, step: int) -> None:
        """Compute the planes from `first` to `last`, which are not at the ends of the ground."""
        width, height, depth, _ = self.ground
        first, last = max(first, RADIUS), min(last, depth - RADIUS)
        if first < last:
            config = LaunchConfig(grid=((width + 31) // 32, (height + 7) // 8, last - first), block=(32, 8))
            sizes = width, height, first - self.start + RADIUS, last - self.start + RADIUS
            fields = self.now, self.next, self.c2
            launch(stream, config, self.kernel, *fields, *sizes, self.source, ricker(step))

    def send(self, other: Slab, first: int) -> None:
        """Copy RADIUS planes of the new field from `first` on into the halo of a neighbour."""
        target, source = other.plane(other.next, first), self.plane(self.next, first)
        contexts = other.device.context.handle, self.device.context.handle
        size = self.bytes_of(RADIUS)
        cu.cuMemcpyPeerAsync(target, contexts[0], source, contexts[1], size, self.copy.handle)


def advance(slabs: list[Slab], count: int) -> None:
    """Make `count` steps. What a halo needs is computed and sent first, beside the rest."""
    for step in range(count):
        for slab in slabs:
            slab.device.set_current()
            slab.advance(slab.copy, slab.start, slab.start + RADIUS, step)
            slab.advance(slab.copy, slab.end - RADIUS, slab.end, step)
            slab.advance(slab.compute, slab.start + RADIUS, slab.end - RADIUS, step)
        for left, right in itertools.pairwise(slabs):
            left.device.set_current()
            left.send(right, left.end - RADIUS)
            right.device.set_current()
            right.send(left, right.start)
        ready = []
        for slab in slabs:
            slab.device.set_current()
            ready += [slab.copy.record(), slab.compute.record()]
            slab.now, slab.next = slab.next, slab.now
        for slab in slabs:  # the next step needs this one's planes, the halos among them
            for event in ready:
                slab.copy.wait(event)
                slab.compute.wait(event)


def save(file: str, field: np.ndarray, ground: Ground) -> None:
    """Write a picture of the cut through the source."""
    from PIL import Image

    cut, c2 = field[:, ground.source[1]], ground.c2
    strength = np.sign(cut) * np.sqrt(np.abs(cut) / np.abs(cut).max())  # faint echoes show, too
    red, blue = np.maximum(strength, 0)[..., None], np.maximum(-strength, 0)[..., None]
    below = np.where(c2 > c2.min(), 0.85, 1)[:, None, None]
    colours = 255 * below * (1 - red * (0.1, 0.75, 0.9) - blue * (0.9, 0.6, 0.15))
    picture = Image.fromarray(colours.clip(0, 255).astype(np.uint8))
    picture.resize((4 * ground.width, 4 * ground.depth), Image.Resampling.BICUBIC).save(file)
    print(f"written to {file}")


def main() -> int:
    parser = argparse.ArgumentParser(description="A wave by finite differences.")
    parser.add_argument("--save", metavar="PNG", help="write a picture of more points there (needs Pillow)")
    chosen = parser.parse_args()
    if chosen.save and not importlib.util.find_spec("PIL"):
        parser.error("--save needs Pillow: pip install pillow")
    os.environ.setdefault("CUDAPY_SIMULATOR_DEVICES", "2")  # where the simulator stands in, there are two
    simulator.stand_in()
    ground = LARGE if chosen.save else SMALL
    devices = list(Device.get_all_devices())[: ground.depth // (2 * RADIUS)]
    parts = devices if len(devices) > 1 else devices * 2
    ends = [ground.depth * i // len(parts) for i in range(len(parts) + 1)]
    slabs = [Slab(device, ground, ends[i], ends[i + 1]) for i, device in enumerate(parts)]
    for device in devices:
        device.set_current()
        for other in devices:
            if other is not device and device.can_access_peer(other):  # without, copies go through the host
                cu.cuCtxEnablePeerAccess(other.context.handle, 0)
    advance(slabs, ground.steps)

    field = np.empty((ground.depth, ground.height, ground.width), np.float32)
    for slab in slabs:
        slab.device.set_current()
        slab.compute.sync()
        slab.copy.sync()
        part = field[slab.start : slab.end]
        cu.cuMemcpyDtoH(part, slab.plane(slab.now, slab.start), part.nbytes)
    for slab in slabs:
        slab.device.set_current()
        for memory in (slab.now, slab.next):
            cu.cuMemFree(memory)

    if chosen.save:
        save(chosen.save, field, ground)
    highest = float(np.abs(field).max())
    right = np.array_equal(field, on_the_host(ground)) and 1e-3 < highest < 10
    points, where = " x ".join(map(str, ground[:3])), f"{len(slabs)} slabs on {len(devices)} device(s)"
    print(f"{points} points, {ground.steps} steps in {where}")
    print(f"the largest pressure is {highest:.4f}: {'PASS' if right else 'FAIL'}")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
