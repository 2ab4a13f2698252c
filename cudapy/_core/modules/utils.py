"""`cudapy.core.utils`: arrays of any library, and batches of copies.

StridedMemoryView                what an array of any library looks like in memory, and copies between such
args_viewable_as_strided_memory  a decorator for functions that take arrays of any library
copy_batch, CopyOptions          many copies by one call, and hints for them
prefetch_batch, discard_batch, discard_prefetch_batch
                                 where managed memory is to be, for many buffers at once
FileStreamProgramCache, InMemoryProgramCache, ProgramCacheResource, make_program_cache_key
                                 caches of compiled programs
"""

from ..arrays.layout import StridedLayout
from ..arrays.strided import StridedMemoryView
from ..arrays.strided_arguments import args_viewable_as_strided_memory
from ..compile.program_cache import FileStreamProgramCache, InMemoryProgramCache, ProgramCacheResource
from ..compile.program_key import make_program_cache_key
from ..memory.copies import CopyOptions, MemcpyOverlapMode, MemcpySrcAccessOrder, copy_batch
from ..memory.managed_buffer import discard_batch, discard_prefetch_batch, prefetch_batch

__all__ = [
    "CopyOptions",
    "FileStreamProgramCache",
    "InMemoryProgramCache",
    "MemcpyOverlapMode",
    "MemcpySrcAccessOrder",
    "ProgramCacheResource",
    "StridedLayout",
    "StridedMemoryView",
    "args_viewable_as_strided_memory",
    "copy_batch",
    "discard_batch",
    "discard_prefetch_batch",
    "make_program_cache_key",
    "prefetch_batch",
]
