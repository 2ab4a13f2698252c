"""Memory of the host to which the device has a way: page-locked and registered."""

from ..addresses import require
from ..devices.context import owner
from ..library import provides
from ..refused import Refused, invalid
from ..streams.capturing import forbid
from ..streams.threads import guard
from .allocations import Block, allocate, allocated, blocks, freed_before, release, table

HOST_FLAGS = 7  # CU_MEMHOSTALLOC_PORTABLE | DEVICEMAP | WRITECOMBINED
PORTABLE, DEVICEMAP = 1, 2
REGISTER_FLAGS = 15


@provides("driver")
def cuMemAllocHost_v2(bytesize: int) -> int:
    return cuMemHostAlloc(bytesize, PORTABLE | DEVICEMAP)


@provides("driver", prototype="CUresult cuMemAllocHost(void **pp, unsigned int bytesize)")
def cuMemAllocHost(bytesize: int) -> int:
    return cuMemAllocHost_v2(bytesize)


@provides("driver")
def cuMemHostAlloc(bytesize: int, Flags: int) -> int:
    context = owner()
    forbid()
    if Flags & ~HOST_FLAGS:
        raise invalid(f"unknown flags {Flags & ~HOST_FLAGS:#x}")
    return allocate(bytesize, "host", context, Flags | DEVICEMAP)


@provides("driver")
def cuMemFreeHost(p: int | None) -> None:
    block = allocated(p)
    if not p:
        return
    forbid()
    if block is None or block.kind != "host":
        raise invalid(f"no page-locked memory starts at {p:#x}{freed_before(p)}")
    block.context.finish()
    release(block)


@provides("driver", "cuMemHostRegister", "cuMemHostRegister_v2")
def cuMemHostRegister_v2(p: int | None, bytesize: int, Flags: int) -> None:
    context = owner()
    forbid()
    if not p or not bytesize or Flags & ~REGISTER_FLAGS:
        raise invalid("no memory, or unknown flags")
    block = blocks.find(p) or blocks.find(p + bytesize - 1)
    if block is not None:
        raise Refused("CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED", f"{p:#x} lies in {block.kind} memory")
    require(p, bytesize, "the memory to register")
    block = Block(p, bytesize, "registered", context, Flags | DEVICEMAP)
    with guard:
        table.adopt(p, bytesize, "host", place=block.place)
    blocks.add(block)


@provides("driver")
def cuMemHostUnregister(p: int | None) -> None:
    forbid()
    block = blocks.find(p) if p else None
    if not p or (block is not None and block.kind == "registered" and block.address != p):
        raise invalid(f"{p or 0:#x} is not where a registration starts")
    if block is None or block.kind != "registered":
        raise Refused("CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED", f"{p:#x} lies in no registered memory")
    block.context.drain()
    release(block)  # after a fault too: it is the program's memory, which may be gone next
    block.context.check()


def _host(p: int | None) -> Block:
    block = blocks.find(p or 0)
    if block is None or not block.is_host:
        raise invalid(f"{p or 0:#x} lies in no page-locked memory")
    return block


@provides("driver")
def cuMemHostGetDevicePointer_v2(p: int | None, Flags: int) -> int:
    owner()
    if Flags:
        raise invalid(f"Flags must be 0, not {Flags}")
    _host(p)
    return p or 0


@provides("driver")
def cuMemHostGetFlags(p: int | None) -> int:
    owner()
    return _host(p).flags
