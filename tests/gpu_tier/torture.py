"""Memory that comes and goes in every way at once, from four threads, with many seeds."""

from __future__ import annotations

from collections.abc import Iterator

from cudapy.core import Device

from ..gpu.test_core_memory_torture import torture
from .figures import Figure, judged
from .scale import Scale


def seeds(scale: Scale) -> Iterator[Figure]:
    """Half of the seeds with captures. Wrong bytes, errors and contexts that are not as before count."""
    device = Device(0)
    device.set_current()
    for captures in (False, True):
        mine = scale.part(scale.of(1_000, 6))
        wrong = []
        for seed in mine:
            try:
                torture(device, seed, captures)
            except Exception as error:
                wrong.append(f"seed {seed}: {type(error).__name__}: {str(error)[:300]}")
        what = f"torture {'with' if captures else 'without'} captures"
        right = f"{len(mine) - len(wrong)} of {len(mine)} seeds"
        yield judged(what, "all seeds right", right, not wrong, "; ".join(wrong[:3]))
