"""The architectures for which there is code of the shared libraries."""

import platform
import struct

from .aarch64 import AArch64
from .machine_code import LibraryCode
from .x86_64 import X86_64

ARCHITECTURES: dict[str, type[LibraryCode]] = {"x86_64": X86_64, "aarch64": AArch64}
"""By what `platform.machine` says."""


def this_machine() -> type[LibraryCode]:
    """The architecture of this process. Raises RuntimeError where there is no code for it."""
    name = platform.machine()
    if name not in ARCHITECTURES or struct.calcsize("P") != 8:
        raise RuntimeError(
            f"the simulator's shared libraries are for {' and '.join(ARCHITECTURES)}, not for {name}"
        )
    return ARCHITECTURES[name]
