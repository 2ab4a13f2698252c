"""What a process has of the machine's memory and files."""

from __future__ import annotations

import ctypes
import gc
import os
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from cudapy import driver

MIB = 1 << 20


@dataclass(frozen=True)
class Holdings:
    """Bytes that are used on the device (by all), and that this process has in memory; open files."""

    device: int
    resident: int
    descriptors: int

    def __sub__(self, other: Holdings) -> Holdings:
        return Holdings(
            self.device - other.device,
            self.resident - other.resident,
            self.descriptors - other.descriptors,
        )

    def __str__(self) -> str:
        return f"device {self.device / MIB:+.2f} MiB, {self.of_the_host}"

    @property
    def of_the_host(self) -> str:
        """The part that is this process's alone."""
        return f"RSS {self.resident / MIB:+.2f} MiB, descriptors {self.descriptors:+d}"


def holdings() -> Holdings:
    """What there is once all that is garbage was given back."""
    gc.collect()
    driver.checked.cuCtxSynchronize()
    gc.collect()
    if sys.platform == "linux":
        with suppress(AttributeError):  # glibc has it
            ctypes.CDLL(None).malloc_trim(0)
    free, total = driver.checked.cuMemGetInfo()
    resident = int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return Holdings(total - free, resident, len(os.listdir("/proc/self/fd")))
