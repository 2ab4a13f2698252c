"""Pools that another process opens by a file descriptor, and their memory by what is told of each pointer."""

import ctypes
import os
import re

from ..._types.driver.structs import CUmemPoolPtrExportData
from ..addresses import Pointer
from ..devices.context import owner
from ..devices.device import devices
from ..handles import find
from ..library import provides
from ..refused import invalid, unsupported
from ..streams.stream import Stream
from ..streams.threads import guard
from .allocations import Block, blocks, table
from .pages import IS_SUPPORTED, IpcHandle, Mapping, Sharing
from .pool import FILE, Pool
from .pool_memory import Free

KIND = b"cudapyP"
NAME = re.compile(r"/memfd:cudapy simulator: (\w+) pool of device (\d+)")


class ImportedPool(Pool):
    """A pool of another process, behind a descriptor of its file."""

    def __init__(self, descriptor: int) -> None:
        try:
            self._descriptor = os.dup(descriptor)
        except (OSError, OverflowError) as error:
            raise invalid(f"{descriptor} is not an open file: {error}") from None
        match = NAME.match(os.readlink(f"/proc/self/fd/{self._descriptor}"))
        if match is None:
            os.close(self._descriptor)
            raise invalid(f"descriptor {descriptor} is not a pool of the simulator")
        super().__init__(devices[min(int(match[2]), len(devices) - 1)], kind=match[1])

    def allocate(self, size: int, stream: Stream) -> int:
        raise invalid("the pool is one of another process: that allocates from it")

    def open(self, data: bytes) -> int:
        """The address of memory that the other process allocated. Raises Refused."""
        ipc_handle = IpcHandle(data, KIND)
        mapping = ipc_handle.map(self._descriptor)
        block = Block(mapping.address, ipc_handle.size, self.kind, owner(), 1, pool=self)
        with guard:
            table.adopt(mapping.address, ipc_handle.size, self.kind, self.reach(), place=block.place)
        block.extra = mapping
        blocks.add(block)
        return mapping.address

    def free(self, block: Block, stream: Stream) -> None:
        blocks.remove(block)
        stream.add(Close(block.address, block.extra))

    def forget(self) -> None:
        super().forget()
        os.close(self._descriptor)


class Close(Free):
    """From here on memory of another process is not mapped here."""

    def __init__(self, address: int, mapping: Mapping) -> None:
        super().__init__(address)
        self._mapping = mapping

    def run(self) -> None:
        super().run()
        self._mapping.release()


def _pool(handle: int) -> Pool:
    return find(handle, Pool, "CUDA_ERROR_INVALID_VALUE")


@provides("driver", "cuMemPoolExportToShareableHandle")
def cuMemPoolExportToShareableHandle(handle_out: int | None, pool: int, handleType: int, flags: int) -> None:
    file = _pool(pool).file
    if file is None or handleType != FILE or flags or not handle_out:
        raise invalid("the pool was not made to be shared as a file descriptor, or flags is not 0")
    Sharing.is_shared = True
    ctypes.c_int.from_address(handle_out).value = os.dup(file.descriptor)


@provides("driver")
def cuMemPoolImportFromShareableHandle(handle: int | None, handleType: int, flags: int) -> int:
    if handleType != FILE or flags or not IS_SUPPORTED:
        raise unsupported("the simulator shares pools as file descriptors alone, on Linux")
    Sharing.is_shared = True
    return ImportedPool(handle or 0).handle


@provides("driver")
def cuMemPoolExportPointer(ptr: int) -> CUmemPoolPtrExportData:
    block = blocks.at(ptr)
    if block is None or not isinstance(block.pool, Pool) or block.pool.file is None:
        raise invalid(f"no memory of a pool that is shared starts at {ptr:#x}")
    ipc_handle = block.extra.region.ipc_handle(KIND, block.size, block.device.index)
    return CUmemPoolPtrExportData(reserved=ipc_handle)


@provides("driver")
def cuMemPoolImportPointer(pool: int, shareData: Pointer) -> int:
    this_pool = _pool(pool)
    if not isinstance(this_pool, ImportedPool):
        raise invalid("the pool is one of this process")
    return this_pool.open(bytes(shareData[0].reserved))
