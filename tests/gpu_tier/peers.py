"""Copies between GPUs, and kernels that use the memory of another."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

from cudapy.core import Device, DeviceMemoryResource, DeviceMemoryResourceOptions, LaunchConfig, launch

from .bench import Bench, content
from .figures import Figure, judged, not_run
from .scale import Scale

MOST = 8  # GPUs in a machine that is asked about
WORDS = 1 << 16


def ordered_pairs(scale: Scale) -> Iterator[Figure]:
    """Every GPU that there is, to every other."""
    bench, devices = Bench(), Device.get_all_devices()
    what = f"copies between {len(devices)} GPUs"
    if len(devices) == 1:
        yield not_run(what, "all ordered pairs", f"GPU 0 is the only one; GPU 1 to {MOST - 1} are absent")
        return
    right, reached, used, wrong = 0, 0, 0, []
    pairs = list(itertools.permutations(devices, 2))
    pattern = np.random.default_rng(7).integers(1 << 30, size=WORDS, dtype=np.int32)
    for source, target in pairs:
        source.set_current()
        out = source.create_stream()
        resource = DeviceMemoryResource(source, DeviceMemoryResourceOptions())
        there = resource.allocate(pattern.nbytes, stream=out)
        there.copy_from(pattern, stream=out)
        target.set_current()
        stream = target.create_stream()
        here = target.allocate(pattern.nbytes, stream)
        stream.wait(out)
        reaches = target.can_access_peer(source)
        if reaches:
            resource.peer_accessible_by = [target]
            here.copy_from(there, stream=stream)
        else:
            staged = np.empty_like(pattern)
            there.copy_to(staged, stream=out)
            out.sync()
            here.copy_from(staged, stream=stream)
        if (content(here, stream) == pattern).all():
            right += 1
        else:
            wrong.append(f"{int(source)} -> {int(target)}: other bytes arrived")
        if reaches:
            reached += 1
            launch(stream, LaunchConfig(grid=WORDS // 256, block=256), bench.kernel("add"), there, 3)
            stream.sync()
            source.set_current()
            if (content(there, out) == pattern + 3).all():
                used += 1
            else:
                wrong.append(f"{int(target)} did not write into {int(source)}")
    why = "; ".join(wrong)
    yield judged(
        what, f"{len(pairs)} of {len(pairs)} ordered pairs", f"{right} right", right == len(pairs), why
    )
    yield judged("kernels in a peer's memory", "all that can", f"{used} of {reached}", used == reached, why)
