"""Green contexts: parts of a device's multiprocessors, and contexts that have no more than those.

They are counted, and kernels see no others; how fast these run does not depend on it.
"""

from __future__ import annotations

import struct
from typing import Any

from ..._types.driver.enums import CUdevice_attribute as Attribute
from ..._types.driver.enums import CUdevResourceType, CUgreenCtxCreate_flags
from ..._types.driver.structs import CUdevResource
from ..handles import Object, find
from ..library import provides
from ..log import Refused, invalid
from ..streams.event import Event
from ..streams.operations import needed
from ..streams.stream import NON_BLOCKING, Stream, stream
from .context import Context, current, get, given
from .device import Device, device
from .primary import cuDevicePrimaryCtxRelease_v2, cuDevicePrimaryCtxRetain

SM = int(CUdevResourceType.CU_DEV_RESOURCE_TYPE_SM)
UNIT = 2
"""Multiprocessors come in twos, the least that any device can be split into: the simulated ones have few."""
SPLIT_FLAGS = 3  # CU_DEV_SM_RESOURCE_SPLIT_*
RANGE = struct.Struct("<8siII")  # in the padding: what it is, its device, its first and their count
MARK = b"cudapyG"


def resource(on: Device, first: int, count: int) -> CUdevResource:
    """Multiprocessors of a device; of no type if there are none."""
    made = CUdevResource(type=SM if count else 0)
    if count:
        made.sm.smCount = count
        made.sm.minSmPartitionSize = made.sm.smCoscheduledAlignment = UNIT
        made._internal_padding = RANGE.pack(MARK, on.ordinal, first, count)
    return made


def everything(on: Device) -> CUdevResource:
    """All multiprocessors of a device."""
    return resource(on, 0, on[Attribute.CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT])


def of_type(typename: int) -> None:
    """Raise Refused for resources other than multiprocessors."""
    if typename != SM:
        raise Refused(
            "CUDA_ERROR_INVALID_RESOURCE_TYPE", f"the simulator has multiprocessors, no type {typename}"
        )


def _range(of: Any) -> tuple[Device, int, int]:
    """The device of a resource, its first multiprocessor and their number. Raises Refused."""
    of_type(int(of.type))
    mark, ordinal, first, count = RANGE.unpack_from(bytes(of._internal_padding))
    if mark.rstrip(b"\0") != MARK:
        raise invalid("the resource comes from no function that makes one")
    return device(ordinal), first, count


@provides("driver")
def cuDeviceGetDevResource(device: int, typename: int) -> CUdevResource:
    from .device import device as find_device

    of_type(typename)
    return everything(find_device(device))


@provides("driver")
def cuDevSmResourceSplitByCount(
    result: Any,
    nbGroups: Any,
    input_: Any,
    remainder: Any,
    flags: int,
    minCount: int,
) -> None:
    on, first, count = _range(needed(input_, "input"))
    if flags & ~SPLIT_FLAGS:
        raise invalid(f"unknown flags {flags & ~SPLIT_FLAGS:#x}")
    size = max(-(-minCount // UNIT), 1) * UNIT
    if size > count:
        raise Refused(
            "CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION",
            f"a group would have {size} multiprocessors, and there are {count}",
        )
    groups = min(nbGroups[0], count // size) if result else count // size
    for i in range(groups if result else 0):
        result[i] = resource(on, first + i * size, size)
    if remainder:
        remainder[0] = resource(on, first + groups * size, count - groups * size)
    nbGroups[0] = groups


class Description(Object):
    """Multiprocessors that a green context is to have."""

    noun = "description of resources"

    def __init__(self, on: Device, count: int) -> None:
        super().__init__()
        self.device = on
        self.count = count


@provides("driver")
def cuDevResourceGenerateDesc(resources: Any, nbResources: int) -> int:
    if not nbResources:
        raise invalid("no resources are given")
    ranges = sorted((_range(resources[i]) for i in range(nbResources)), key=lambda one: one[1])
    on = ranges[0][0]
    end = 0
    for of, first, count in ranges:
        if of is not on or first < end:
            raise invalid("the resources are of several devices, or overlap")
        end = first + count
    return Description(on, sum(count for _, _, count in ranges)).handle


class GreenContext(Object):
    """A green context; `context` is what it is as an ordinary one."""

    noun = "green context"

    def __init__(self, on: Device, count: int) -> None:
        super().__init__()
        self.device = on
        self.context = Part(get(cuDevicePrimaryCtxRetain(on.ordinal)), count, self)

    def forget(self) -> None:
        super().forget()
        self.context.destroy()
        cuDevicePrimaryCtxRelease_v2(self.device.ordinal)


class Part(Context):
    """A context with some of the multiprocessors. Memory and modules are those of the primary context."""

    def __init__(self, whole: Context, count: int, green: GreenContext) -> None:
        self._whole = whole
        super().__init__(whole.device, whole.flags)
        self.green = green
        self.multiprocessors = count
        whole.parts.append(self)

    @property
    def root(self) -> Context:
        return self._whole

    def destroy(self) -> None:
        for work in self.pending():
            work.wait()
        self._whole.parts.remove(self)
        for one in list(self.streams):
            one.forget()
        self.forget()


def green(handle: int) -> GreenContext:
    """The green context with this handle. Raises Refused."""
    return find(handle, GreenContext, "CUDA_ERROR_INVALID_CONTEXT")


@provides("driver")
def cuGreenCtxCreate(desc: int, dev: int, flags: int) -> int:
    told = find(desc, Description, "CUDA_ERROR_INVALID_VALUE")
    if flags != CUgreenCtxCreate_flags.CU_GREEN_CTX_DEFAULT_STREAM:
        raise invalid("flags must be CU_GREEN_CTX_DEFAULT_STREAM")
    if device(dev) is not told.device:
        raise invalid(f"the resources are those of device {told.device.ordinal}")
    return GreenContext(told.device, told.count).handle


@provides("driver")
def cuGreenCtxDestroy(hCtx: int) -> None:
    green(hCtx).forget()


@provides("driver")
def cuCtxFromGreenCtx(hCtx: int) -> int:
    return green(hCtx).context.handle


@provides("driver")
def cuCtxGetDevResource(hCtx: int, typename: int) -> CUdevResource:
    of_type(typename)
    context = given(hCtx)
    if isinstance(context, Part):
        return cuGreenCtxGetDevResource(context.green.handle, typename)
    return everything(context.device)


@provides("driver")
def cuGreenCtxGetDevResource(hCtx: int, typename: int) -> CUdevResource:
    of_type(typename)
    context = green(hCtx).context
    return resource(context.device, 0, context.multiprocessors)


@provides("driver")
def cuGreenCtxRecordEvent(hCtx: int, hEvent: int) -> None:
    green(hCtx).context.record(find(hEvent, Event))


@provides("driver")
def cuGreenCtxWaitEvent(hCtx: int, hEvent: int) -> None:
    green(hCtx).context.wait(find(hEvent, Event))


@provides("driver")
def cuGreenCtxStreamCreate(greenCtx: int, flags: int, priority: int) -> int:
    context = green(greenCtx).context
    if flags != NON_BLOCKING:
        raise invalid("flags must be CU_STREAM_NON_BLOCKING")
    context.check()
    made = Stream(context, flags, priority)
    context.streams.append(made)
    return made.handle


def _green_of(on: Stream) -> GreenContext | None:
    return on.context.green if isinstance(on.context, Part) else None


@provides("driver")
def cuStreamGetGreenCtx(hStream: int) -> int:
    found = _green_of(stream(hStream))
    return found.handle if found is not None else 0


@provides("driver")
def cuStreamGetCtx_v2(hStream: int) -> tuple[int, int]:
    on = stream(hStream)
    return on.context.root.handle, cuStreamGetGreenCtx(hStream)


@provides("driver")
def cuGreenCtxGetId(greenCtx: int) -> int:
    if greenCtx:
        return green(greenCtx).context.id
    context = current()
    if not isinstance(context, Part):
        raise Refused("CUDA_ERROR_INVALID_CONTEXT", "the current context is no green one")
    return context.id
