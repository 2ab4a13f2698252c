"""Multicast objects: addresses at which `multimem` instructions access the memories of several devices.

Each device of an object has addresses of its own, on which the memory that is bound shows; the engine looks
there. Where the object itself is mapped, nothing is.
"""

import threading
from typing import Any

from ..._types.driver.enums import CUdevice_attribute as Attribute
from ..addresses import Pointer
from ..devices.context import Context
from ..devices.device import Device, device
from ..engine import Member
from ..handles import every, find
from ..interrupts import leave
from ..library import provides
from ..refused import Refused, invalid, unsupported
from ..streams.faults import may_wait
from ..streams.operations import needed
from ..streams.threads import SLICE, guard, progress
from .allocations import LARGEST, blocks, table
from .pages import IS_SUPPORTED, blank, hide, map_file
from .virtual import FILE, GRANULARITY, Mappable, Physical


class Multicast(Mappable):
    """Addresses of a team of devices. It lives as long as it has handles or mappings."""

    noun = "multicast object"
    kind = "multicast"

    def __init__(self, prop: Any) -> None:
        super().__init__(int(prop.size), int(prop.handleTypes))
        self.count = int(prop.numDevices)
        self.team: dict[int, Member] = {}
        self.bindings: dict[tuple[int, int], tuple[int, Physical]] = {}

    def add(self, ordinal: int) -> None:
        """One device more."""
        with guard:
            if ordinal in self.team or len(self.team) == self.count:
                raise invalid(f"device {ordinal} was added before, or all of the {self.count} devices were")
            self.team[ordinal] = Member(blank(0, self.size))
            progress.notify_all()

    def show(self, address: int, size: int, offset: int) -> None:
        """Mapping it waits for all devices, and needs no memory."""
        self.wait_for_team()

    def wait_for_team(self) -> None:
        """Block until all devices were added, as CUDA does. Raises Refused where no thread could add one."""
        while len(self.team) < self.count:
            if threading.active_count() == 1:
                raise Refused(
                    "CUDA_ERROR_NOT_PERMITTED",
                    f"{len(self.team)} of {self.count} devices were added: this waits for the others, and"
                    " the program has no other thread to add them",
                )
            may_wait()
            with guard:
                progress.wait_for(lambda: len(self.team) == self.count, SLICE)
            leave()

    def bind(self, on: Device | None, offset: int, physical: Physical, start: int, size: int) -> None:
        """Bind memory from `start` on; on the device that it is on, or `on`."""
        self._check(offset, size)
        if start % GRANULARITY or start + size > physical.size:
            raise invalid(f"{size} bytes from {start} are none of the {physical.size} of the allocation")
        if self.handle_types & ~physical.handle_types:
            raise invalid("the object can be shared with other processes, and the memory cannot")
        self.wait_for_team()
        ordinal = physical.device.ordinal
        if ordinal not in self.team or (on or physical.device) is not physical.device:
            raise Refused("CUDA_ERROR_INVALID_DEVICE", f"the memory is on device {ordinal}")
        with guard:
            member = self.team[ordinal]
            if any(offset < end and begin < offset + size for begin, end in member.bound):
                raise invalid(f"memory of device {ordinal} is bound there already")
            map_file(physical.file, size, start, member.address + offset)
            table.adopt(member.address + offset, size, "bound")
            physical.map()
            self.bindings[ordinal, offset] = size, physical
            member.bound.append((offset, offset + size))

    def unbind(self, ordinal: int, offset: int, size: int) -> None:
        """Undo `bind`."""
        self._check(offset, size)
        with guard:
            if self.bindings.get((ordinal, offset), (0,))[0] != size:
                raise invalid(f"no {size} bytes of device {ordinal} were bound at {offset}")
            _, physical = self.bindings.pop((ordinal, offset))
            member = self.team[ordinal]
            member.bound.remove((offset, offset + size))
            table.release(member.address + offset)
            blank(member.address + offset, size)
        physical.unmap()

    def _check(self, offset: int, size: int) -> None:
        if not size or (size | offset) % GRANULARITY or offset + size > self.size:
            raise invalid(
                f"{size} bytes from {offset}: no multiples of {GRANULARITY}, or not in {self.size} bytes"
            )

    def end(self) -> None:
        """The kernels that run may be about to look."""
        for ordinal, offset in self.bindings:
            table.release(self.team[ordinal].address + offset)
        table.when_unused(self._hide)

    def _hide(self) -> None:
        for _, physical in self.bindings.values():
            physical.unmap()
        for member in self.team.values():
            hide(member.address, self.size)


def _supports(prop: Any) -> Any:
    told = needed(prop, "prop")
    if not IS_SUPPORTED or not device(0)[Attribute.CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED]:
        raise unsupported("the devices have no multicast, or the host is not Linux")
    if int(told.handleTypes) & ~FILE:
        raise unsupported("the simulator has no such handles")
    return told


@provides("driver")
def cuMulticastGetGranularity(prop: Pointer, option: int) -> int:
    _supports(prop)
    if option not in (0, 1):
        raise invalid(f"{option} is not a CUmulticastGranularity_flags")
    return GRANULARITY


@provides("driver")
def cuMulticastCreate(prop: Pointer) -> int:
    told = _supports(prop)
    size = int(told.size)
    if not told.numDevices or not size or size % GRANULARITY or size > LARGEST or told.flags:
        raise invalid(f"no devices, {size} is not a multiple of {GRANULARITY}, or flags is not 0")
    return Multicast(told).handle


def _multicast(handle: int) -> Multicast:
    return find(handle, Multicast, "CUDA_ERROR_INVALID_VALUE")


@provides("driver")
def cuMulticastAddDevice(mcHandle: int, dev: int) -> None:
    _multicast(mcHandle).add(device(dev).ordinal)


def _bind(
    mcHandle: int, dev: int | None, mcOffset: int, memory: Any, start: int, size: int, flags: int
) -> None:
    if flags:
        raise invalid(f"flags must be 0, not {flags}")
    on = None if dev is None else device(dev)
    _multicast(mcHandle).bind(on, mcOffset, memory, start, size)


@provides("driver")
def cuMulticastBindMem_v2(
    mcHandle: int, dev: int | None, mcOffset: int, memHandle: int, memOffset: int, size: int, flags: int
) -> None:
    physical = find(memHandle, Physical, "CUDA_ERROR_INVALID_VALUE")
    _bind(mcHandle, dev, mcOffset, physical, memOffset, size, flags)


@provides("driver")
def cuMulticastBindMem(
    mcHandle: int, mcOffset: int, memHandle: int, memOffset: int, size: int, flags: int
) -> None:
    cuMulticastBindMem_v2(mcHandle, None, mcOffset, memHandle, memOffset, size, flags)


@provides("driver")
def cuMulticastBindAddr_v2(
    mcHandle: int, dev: int | None, mcOffset: int, memptr: int, size: int, flags: int
) -> None:
    block = blocks.find(memptr)
    if block is not None and block.pool is not None:
        raise unsupported("the simulator binds memory of cuMemCreate alone")
    if block is None or not isinstance(block.extra, Physical):
        raise invalid(f"no memory of cuMemCreate is mapped at {memptr:#x}")
    _bind(mcHandle, dev, mcOffset, block.extra, memptr - block.address, size, flags)


@provides("driver")
def cuMulticastBindAddr(mcHandle: int, mcOffset: int, memptr: int, size: int, flags: int) -> None:
    cuMulticastBindAddr_v2(mcHandle, None, mcOffset, memptr, size, flags)


@provides("driver")
def cuMulticastUnbind(mcHandle: int, dev: int, mcOffset: int, size: int) -> None:
    multicast, ordinal = _multicast(mcHandle), device(dev).ordinal
    for context in every(Context):
        context.drain()
    multicast.unbind(ordinal, mcOffset, size)
