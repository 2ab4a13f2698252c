"""Arrays of any library, and batches of copies: `cudapy.core.utils` is this module.

StridedMemoryView                what an array of any library looks like in memory, and copies between such
args_viewable_as_strided_memory  a decorator for functions that take arrays of any library
copy_batch, CopyOptions          many copies by one call, and hints for them
prefetch_batch, discard_batch, discard_prefetch_batch
                                 where managed memory is to be, for many buffers at once
"""

from __future__ import annotations

from ._core.copies import CopyOptions, MemcpyOverlapMode, MemcpySrcAccessOrder, copy_batch
from ._core.layout import StridedLayout
from ._core.memory.managed_buffer import discard_batch, discard_prefetch_batch, prefetch_batch
from ._core.strided import StridedMemoryView, args_viewable_as_strided_memory

__all__ = [
    "CopyOptions",
    "MemcpyOverlapMode",
    "MemcpySrcAccessOrder",
    "StridedLayout",
    "StridedMemoryView",
    "args_viewable_as_strided_memory",
    "copy_batch",
    "discard_batch",
    "discard_prefetch_batch",
    "prefetch_batch",
]
