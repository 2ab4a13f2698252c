"""Device memory that another process opens by a handle."""

import os
import threading
from typing import Any

from ..._types.driver.structs import CUipcMemHandle
from ..devices.context import Context, at_end, owner
from ..devices.device import devices
from ..library import provides
from ..refused import Refused, invalid, unsupported
from ..streams.threads import guard
from .allocations import Block, blocks, find, release, table
from .pages import IS_SUPPORTED, IpcHandle

KIND = b"cudapyM"
LAZY_ENABLE_PEER_ACCESS = 1

opened: dict[bytes, tuple[Block, int]] = {}
"""What is open, and how often, by its handle."""
_lock = threading.RLock()


@provides("driver")
def cuIpcGetMemHandle(dptr: int) -> CUipcMemHandle:
    if not IS_SUPPORTED:
        raise unsupported("the simulator shares memory with other processes on Linux alone")
    block = find(dptr)
    if block.kind != "device" or block.pool is not None:
        raise invalid(
            f"{dptr:#x} lies in memory that cuMemAlloc did not make: pools and physical allocations have"
            " handles of their own"
        )
    ipc_handle = block.extra.ipc_handle(KIND, block.size, block.device.index)
    return CUipcMemHandle(reserved=ipc_handle)


@provides("driver", "cuIpcOpenMemHandle", "cuIpcOpenMemHandle_v2")
def cuIpcOpenMemHandle_v2(handle: Any, Flags: int) -> int:
    context = owner()
    if Flags & ~LAZY_ENABLE_PEER_ACCESS:
        raise invalid(f"unknown flags {Flags & ~LAZY_ENABLE_PEER_ACCESS:#x}")
    data = bytes(handle.reserved)
    ipc_handle = IpcHandle(data, KIND)
    if ipc_handle.process == os.getpid():
        raise Refused("CUDA_ERROR_INVALID_CONTEXT", "the handle is of this process's own memory")
    with _lock:
        if data in opened:
            block, count = opened[data]
            if block.context is not context:
                raise Refused("CUDA_ERROR_INVALID_CONTEXT", "another context has opened the handle")
        else:
            block, count = _open(ipc_handle, context), 0
        opened[data] = block, count + 1
    return block.address


def _open(ipc_handle: IpcHandle, context: Context) -> Block:
    file = ipc_handle.open()
    try:
        mapping = ipc_handle.map(file)
    finally:
        os.close(file)
    block = Block(mapping.address, ipc_handle.size, "imported", context)
    with guard:
        table.adopt(mapping.address, ipc_handle.size, "imported", place=block.place)
    block.device = next((one for one in devices if one.index == ipc_handle.device), block.device)
    block.extra = mapping
    blocks.add(block)
    return block


@provides("driver")
def cuIpcCloseMemHandle(dptr: int) -> None:
    context = owner()
    context.finish()
    with _lock:
        data = next((data for data, (block, _) in opened.items() if block.address == dptr), None)
        if data is None:
            raise invalid(f"no memory of another process is open at {dptr:#x}")
        block, count = opened[data]
        if count > 1:
            opened[data] = block, count - 1
            return
        del opened[data]
    release(block)


def forget(context: Context) -> None:
    """A context was destroyed: what it opened is closed."""
    with _lock:
        for data, (block, _) in list(opened.items()):
            if block.context is context:
                del opened[data]


at_end.append(forget)
