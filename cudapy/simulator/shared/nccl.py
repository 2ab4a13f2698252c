"""The simulator's libnccl.so.2, which PyTorch's `torch.distributed` is linked with, and nccl4py opens."""

from __future__ import annotations

import re

from ... import nccl
from ..entry_points import NCCL_DEVICE_API, declared
from .loaded import SharedLibrary
from .shutdown import answer

TYPE_CHECKING = False
if TYPE_CHECKING:
    import ctypes
    from collections.abc import Callable

    from ..library import Table

SONAME, ALIASES = "libnccl.so.2", ("libnccl.so",)
INTERNAL = 3  # ncclInternalError
_ENDS = re.compile("ncclComm(Abort|Finalize|Revoke)|ncclGroup(Start|End)|ncclMemFree|Deregister")
"""What destructors call, besides what `answer` knows."""


def functions() -> dict[str, int]:
    """What NCCL exports, and what that is when Python ends."""
    names = sorted((*declared(nccl), *NCCL_DEVICE_API))
    return {name: 0 if _ENDS.search(name) else answer(name, INTERNAL) for name in names}


def open_nccl(table: Callable[[], Table], handle: ctypes.CDLL | None = None) -> SharedLibrary:
    """Open it, or take the one with this handle, which was written to a file.

    table: makes, or finds, the simulated NCCL, at the first call of a function. Raises RuntimeError as
    SharedLibrary does.
    """
    return SharedLibrary(
        SONAME, functions(), lambda symbol: table().callback(symbol), INTERNAL, ALIASES, handle=handle
    )
