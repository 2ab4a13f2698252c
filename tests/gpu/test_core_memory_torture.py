"""Memory that comes and goes in every way at once: nothing is lost, nothing is mixed up."""

from __future__ import annotations

import gc
import random
import sys
import threading

import numpy as np
import pytest

from cudapy import driver
from cudapy.core import (
    Device,
    DeviceMemoryResource,
    DeviceMemoryResourceOptions,
    LegacyPinnedMemoryResource,
    PinnedMemoryResource,
)

from .core_kernels import content, current

pytestmark = pytest.mark.gpu

MODES = driver.CUstreamCaptureMode


class Player:
    """A thread's buffers, each filled with a byte that is known."""

    def __init__(self, device: Device, seed: int, captures: bool) -> None:
        self.captures = captures
        self.random = random.Random(seed)
        self.device = device
        self.streams = [device.create_stream() for _ in range(2)]
        self.own = DeviceMemoryResource(device, DeviceMemoryResourceOptions())
        self.resources = [
            device.memory_resource,
            self.own,
            PinnedMemoryResource(),
            LegacyPinnedMemoryResource(),
        ]
        self.kept: list[tuple[object, int]] = []

    def step(self) -> None:
        self.random.choice(
            [
                self.make,
                self.make,
                self.make,
                self.drop,
                self.close,
                self.cycle,
                self.copy,
                self.check,
                *([self.capture] * self.captures),
            ]
        )()

    def make(self) -> None:
        size = self.random.choice([1, 64, 5000, 1 << 16])
        stream, value = self.random.choice(self.streams), self.random.randrange(256)
        buffer = self.random.choice(self.resources).allocate(size, stream=stream)
        buffer.fill(value, stream=stream)
        for other in self.streams:
            if other is not stream:
                other.wait(stream)
        self.kept.append((buffer, value))

    def take(self) -> tuple[object, int] | None:
        return self.kept.pop(self.random.randrange(len(self.kept))) if self.kept else None

    def drop(self) -> None:
        self.take()

    def close(self) -> None:
        taken = self.take()
        if taken is not None:
            taken[0].close(self.random.choice([None, *self.streams]))  # type: ignore[attr-defined]

    def cycle(self) -> None:
        stream = self.device.create_stream()
        cycle = [self.take(), stream, self.device.allocate(100, stream), stream.record()]
        self.random.shuffle(cycle)
        cycle.append(cycle)

    def copy(self) -> None:
        taken = self.take()
        if taken is not None:
            stream = self.random.choice(self.streams)
            self.kept.append((taken[0].copy_to(stream=stream), taken[1]))  # type: ignore[attr-defined]
            for other in self.streams:
                if other is not stream:
                    other.wait(stream)

    def check(self) -> None:
        if self.kept:
            buffer, value = self.random.choice(self.kept)
            found = content(buffer, np.uint8, self.random.choice(self.streams))
            assert (found == value).all()

    def capture(self) -> None:
        """Drop things while a stream captures."""
        stream = self.device.create_stream()
        scratch = self.device.allocate(64, stream)
        driver.checked.cuStreamBeginCapture(stream.handle, MODES.CU_STREAM_CAPTURE_MODE_THREAD_LOCAL)
        try:
            scratch.fill(1, stream=stream)
            self.drop()
            del scratch
            gc.collect(0)
        finally:
            driver.checked.cuGraphDestroy(driver.checked.cuStreamEndCapture(stream.handle))


SEEDS = [0, 1, *(pytest.param(seed, marks=pytest.mark.thorough) for seed in range(2, 8))]


@pytest.mark.parametrize("seed", SEEDS)
def test_torture(device, seed) -> None:
    torture(device, seed, captures=False)


@pytest.mark.parametrize("seed", SEEDS)
def test_torture_with_captures(device, seed) -> None:
    torture(device, seed, captures=True)


def torture(device, seed: int, captures: bool) -> None:
    threshold, interval = gc.get_threshold(), sys.getswitchinterval()
    failures, contexts = [], []

    def work(number: int) -> None:
        try:
            mine = Device(0)
            mine.set_current()
            before = current()
            player = Player(mine, 100 * seed + number, captures)
            for _ in range(150):
                player.step()
            while player.kept:
                player.check()
                player.drop()
            contexts.append(current() == before)
        except BaseException as error:
            failures.append(error)

    gc.set_threshold(20)
    sys.setswitchinterval(1e-5)
    try:
        threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        gc.set_threshold(*threshold)
        sys.setswitchinterval(interval)
    assert failures == [] and contexts == [True] * 4, (failures, contexts)
    gc.collect()
    device.create_event()
    device.sync()
