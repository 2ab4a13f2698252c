"""A file of 1 GiB written from the memory of the GPU through libcufile, and read back in every way."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tests import cufile_round_trip

from .figures import Figure, judged, not_run
from .scale import Scale


def round_trip(scale: Scale) -> Iterator[Figure]:
    """What is written and what each way of reading gives, in compatibility mode."""
    size, asked = scale.of(1 << 30, 1 << 20), "the same bytes"
    why = cufile_round_trip.no_files()
    place = cufile_round_trip.folder() or tempfile.gettempdir()
    if not why and shutil.disk_usage(place).free < 2 * size:
        why = f"{place} has no room for a file of {size} bytes"
    if why:
        yield not_run("cuFile", asked, why)
        return
    with tempfile.TemporaryDirectory() as scratch:
        found = cufile_round_trip.run(Path(scratch), size)
    for way in ("written", *cufile_round_trip.WAYS):
        if way in found:
            yield judged(f"cuFile, {way}", asked, f"{size} bytes", found[way] == "", found[way])
