"""Memory of every kind: allocated on the device, page-locked, registered, managed.

A device pointer is a real host address. `blocks` knows what a program may name in a call; the table of the
engine knows what kernels may touch, and follows in the order of streams.
"""

from __future__ import annotations

import bisect
import ctypes
import itertools
import threading
from typing import Any

from ..._ffi.sizes import round_up
from .. import immortal
from ..calling import call_site
from ..devices.context import Context, at_end, find_or_none, owner, top
from ..devices.device import devices
from ..engine import LAZY, POISON, UNDEFINED, Memory
from ..fresh_devices import BEFORE
from ..library import provides
from ..refused import Refused, invalid
from ..streams.capturing import forbid
from ..streams.threads import guard
from .pages import IS_SUPPORTED, File, emptied

table = Memory()
"""What kernels may touch, on all devices. Programs read page-locked memory when Python has ended."""
immortal.keep(table)

UNCOUNTED = ("host", "registered", "imported")
"""Memory that is none of the device's, or that another process counts."""
LARGEST = 1 << 46  # bytes of an allocation
PITCH = 512  # bytes: rows of pitched memory begin at multiples of it

_fill = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t)(
    ctypes.cast(ctypes.memset, ctypes.c_void_p).value or 0
)
"""ctypes.memset that keeps the GIL: PyTorch has its allocator's mutex while it allocates, and another thread
that frees a tensor waits for that mutex with the GIL."""
_ids = itertools.count(1)
_lock = threading.RLock()


TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from ..engine import Place


class Block:
    """What was allocated: `size` bytes from `address`, of a kind such as device, host or managed."""

    def __init__(
        self,
        address: int,
        size: int,
        kind: str,
        context: Context,
        flags: int = 0,
        pool: Any = None,
        place: Place | None = None,
    ) -> None:
        self.address = address
        self.size = size
        self.kind = kind
        self.context = context
        self.device = context.device
        self.flags = flags
        self.pool = pool
        self.place = place or call_site().place
        """The call that allocated it."""
        self.id = next(_ids)
        self.is_synchronous = False  # CU_POINTER_ATTRIBUTE_SYNC_MEMOPS
        self.advice: dict[str, Any] = {}
        self.extra: Any = None  # the pages behind it, or the physical memory

    @property
    def end(self) -> int:
        return self.address + self.size

    @property
    def is_managed(self) -> bool:
        """Whether it is memory of all devices and of the host."""
        return self.kind in ("managed", "managed variable")

    @property
    def is_host(self) -> bool:
        """Whether it is memory of the host, to which the device has a way."""
        return self.kind in ("host", "registered")


class _Blocks:
    def __init__(self) -> None:
        self._by_address: dict[int, Block] = {}
        self._addresses: list[int] = []
        self._before: list[tuple[int, int]] = []  # where memory of before a reset starts and ends, sorted

    def add(self, block: Block) -> None:
        with _lock:
            self._by_address[block.address] = block
            bisect.insort(self._addresses, block.address)

    def remove(self, block: Block) -> None:
        """Raises Refused if another thread was first."""
        with _lock:
            if self._by_address.get(block.address) is not block:
                raise invalid(f"the memory at {block.address:#x} was freed at the same time")
            del self._by_address[block.address]
            del self._addresses[bisect.bisect_left(self._addresses, block.address)]

    def at(self, address: int) -> Block | None:
        """The block that starts at an address."""
        return self._by_address.get(address)

    def find(self, address: int) -> Block | None:
        """The block that an address lies in."""
        with _lock:
            place = bisect.bisect_right(self._addresses, address) - 1
            if place >= 0:
                block = self._by_address[self._addresses[place]]
                if address < block.end:
                    return block
        return None

    def retire(self) -> list[Block]:
        """Forget all of them, but for where they were. Returns them."""
        with _lock:
            gone = list(self._by_address.values())
            self._by_address, self._addresses = {}, []
            self._before += [(block.address, block.end) for block in gone if block.kind != "registered"]
            self._before.sort()
        return gone

    def was_before(self, address: int) -> bool:
        """Whether there was memory at an address before the devices were reset, and none is now."""
        place = bisect.bisect_right(self._before, (address, LARGEST << 1)) - 1
        return place >= 0 and address < self._before[place][1] and self.find(address) is None

    def all(self) -> list[Block]:
        return list(self._by_address.values())

    def of(self, context: Context) -> list[Block]:
        return [block for block in self.all() if block.context is context]


blocks = _Blocks()


def find(address: int) -> Block:
    """The block that an address lies in. Raises Refused."""
    block = blocks.find(address)
    if block is None:
        if blocks.was_before(address):
            raise invalid(f"the memory at {address:#x} {BEFORE}")
        raise invalid(f"{address:#x} lies in no memory that was allocated{_nearest(address)}")
    if block.kind == "multicast":
        raise invalid(f"{address:#x} lies in multicast memory, which only multimem instructions access")
    return block


def _nearest(address: int) -> str:
    near = table.nearest(address)
    return f"; the nearest is {near!r}" if near is not None else ""


def check_range(address: int, size: int) -> Block:
    """The block at `address`. Raises Refused unless all `size` bytes are allocated, be it in neighbours."""
    end = address + size
    first = block = find(address)
    while end > block.end:
        after = blocks.at(block.end)
        if after is None:
            raise invalid(
                f"{size} bytes up to {end:#x} end {end - block.end} bytes behind the {block.size} bytes"
                f" of {block.kind} memory at {block.address:#x}"
            )
        block = after
    return first


_files: list[File] = []


def _file() -> File:
    """The file whose regions are the memory that cuMemAlloc gives, so that other processes can open it."""
    with _lock:
        if not _files:
            _files.append(File("cudapy simulator"))
        return _files[0]


def abandon_file() -> None:
    """Memory of before stays where it is; later memory is in another file."""
    with _lock:
        for file in _files:
            file.abandon()
        _files.clear()


def allocate(size: int, kind: str, context: Context, flags: int = 0) -> int:
    """New memory; its address."""
    if not size:
        raise invalid("no bytes are asked for")
    device = context.device
    if size > LARGEST:
        raise Refused("CUDA_ERROR_OUT_OF_MEMORY", f"{size} bytes are asked for")
    counted, place = kind not in UNCOUNTED, call_site().place
    if counted:
        device.claim(size)
    try:
        region = _file().take(size) if kind == "device" and IS_SUPPORTED else None
        with guard:
            if region is None:
                address = table.allocate(size, kind, align=512, place=place)
            else:
                address = region.address
                fresh(address, size, kind, place, reach_of(context))
            if kind == "host":
                table.written(address, size)
    except BaseException:
        if counted:
            device.unclaim(size)
        raise
    block = Block(address, size, kind, context, flags, place=place)
    block.extra = region
    blocks.add(block)
    return address


def reach_of(context: Context) -> Callable[[Context], bool] | None:
    """Which contexts' kernels may touch a context's memory: of its own device, and those it is a peer of."""
    if len(devices) == 1:
        return None
    return lambda asking: asking.device is context.device or context in asking.peers


def fresh(
    address: int,
    size: int,
    kind: str,
    place: Place,
    reach: Callable[[Context], bool] | None = None,
    data: Any = None,
) -> None:
    """From now on kernels may touch memory; what was in it is gone. It is `data`, or somebody else's.

    place: the call that allocated it.
    """
    if size < LAZY or not emptied(address, size):
        _fill(address, 0 if kind == "managed" else POISON, size)
    table.adopt(address, size, kind, reach, data=data, place=place)
    allocation = table.find(address)
    if allocation is not None and allocation.undefined is not None and kind == "device":
        allocation.undefined.changing()[:] = UNDEFINED


def release(block: Block) -> None:
    """The end of memory that `allocate` made."""
    blocks.remove(block)
    with guard:
        table.release(block.address)
    if block.extra is not None:
        table.when_unused(block.extra.release)
    if block.kind not in UNCOUNTED:
        block.device.unclaim(block.size)


def release_all(context: Context) -> None:
    """The end of what a context owns."""
    for block in blocks.of(context):
        if block.pool is None and block.kind not in (
            "mapped",
            "multicast",
            "variable",
        ):  # those go with what made them
            release(block)
    table.reach_changed()  # what it was answered goes, too


at_end.append(release_all)


# -- On the device -----------------------------------------------------------------------------------------


@provides("driver")
def cuMemGetInfo_v2() -> tuple[int, int]:
    device = owner().device
    return device.total_memory - device.used_memory, device.total_memory


@provides("driver")
def cuMemAlloc_v2(bytesize: int) -> int:
    context = owner()
    forbid()
    return allocate(bytesize, "device", context)


@provides("driver")
def cuMemAllocPitch_v2(WidthInBytes: int, Height: int, ElementSizeBytes: int) -> tuple[int, int]:
    context = owner()
    forbid()
    if ElementSizeBytes not in (4, 8, 16):
        raise invalid(f"elements have 4, 8 or 16 bytes, not {ElementSizeBytes}")
    pitch = round_up(WidthInBytes, PITCH)
    return allocate(pitch * Height, "device", context), pitch


def allocated(address: int | None) -> Block | None:
    """What starts at `address`: that tells the context, not which is current. Raises its faults first."""
    block = blocks.at(address) if address else None
    if block is not None:
        _releasing(block).check()
    elif top() is not None:
        owner()
    return block


def _releasing(block: Block) -> Context:
    """Which context's work and faults concern a call that frees a block. Raises Refused.

    The one that it was allocated in; the current one for memory of a pool, which may outlive that.
    """
    if block.pool is not None and find_or_none(block.context) is None:
        return owner()
    return block.context


@provides("driver")
def cuMemFree_v2(dptr: int) -> None:
    block = allocated(dptr)
    if not dptr:
        return
    forbid()
    if block is None or (block.pool is None and block.kind not in ("device", "managed")):
        raise invalid(f"no device memory starts at {dptr:#x}{freed_before(dptr)}")
    context = _releasing(block)
    context.finish()
    if block.pool is not None:
        block.pool.free(block, context.legacy)
    else:
        release(block)


def freed_before(address: int) -> str:
    if blocks.was_before(address):
        return f": what was there {BEFORE}"
    gone = table.released(address)
    return ": it was freed before" if gone is not None and gone.address == address else ""


@provides("driver")
def cuMemGetAddressRange_v2(dptr: int) -> tuple[int, int]:
    owner()
    block = blocks.find(dptr)
    if block is None:
        raise Refused("CUDA_ERROR_NOT_FOUND", f"{dptr:#x} lies in no memory that was allocated")
    return block.address, block.size


@provides("driver")
def cuMemAllocManaged(bytesize: int, flags: int) -> int:
    context = owner()
    forbid()
    if flags not in (1, 2):
        raise invalid("flags must be CU_MEM_ATTACH_GLOBAL or CU_MEM_ATTACH_HOST")
    address = allocate(bytesize, "managed", context, flags)
    if bytesize < LAZY:  # else it is zero, and takes no time
        table.find(address).data.fill(0)  # type: ignore[union-attr]  # fresh pages of the system are zero
    table.written(address, bytesize)
    return address
