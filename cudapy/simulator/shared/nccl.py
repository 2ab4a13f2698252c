"""The simulator's libnccl.so.2, which PyTorch's `torch.distributed` is linked with, and nccl4py opens."""

from __future__ import annotations

import re
from typing import Any

from ..entry_points import nccl_symbols
from ..process import nccl_table
from .loaded import SharedLibrary
from .shutdown import answer

TYPE_CHECKING = False
if TYPE_CHECKING:
    import ctypes

SONAME, ALIASES = "libnccl.so.2", ("libnccl.so",)
INTERNAL = 3  # ncclInternalError
_ENDS = re.compile("ncclComm(Abort|Finalize|Revoke)|ncclGroup(Start|End)|ncclMemFree|Deregister")
"""What destructors call, besides what `answer` knows."""


def functions() -> dict[str, int]:
    """What NCCL exports, and what that is when Python ends."""
    return {name: 0 if _ENDS.search(name) else answer(name, INTERNAL) for name in nccl_symbols()}


def open_nccl(handle: ctypes.CDLL | None = None) -> SharedLibrary:
    """Open it, or take the one with this handle, which was written to a file.

    Raises RuntimeError as SharedLibrary does.
    """
    return SharedLibrary(SONAME, functions(), _resolve, INTERNAL, ALIASES, handle=handle)


def _resolve(symbol: str) -> Any:
    return nccl_table().callback(symbol)
