"""Green contexts: parts of a device's multiprocessors, and contexts that have no more than those.

They are counted, and kernels see no others; how fast these run does not depend on it. Queues of work, there
or to be made, are described, and do nothing: there is one for each stream.
"""

from __future__ import annotations

import os
import struct
from typing import TYPE_CHECKING

from ..._ffi.sizes import round_up
from ..._types.driver.enums import CUdevice_attribute as Attribute
from ..._types.driver.enums import (
    CUdevResourceType,
    CUdevSmResourceGroup_flags,
    CUdevWorkqueueConfigScope,
    CUgreenCtxCreate_flags,
)
from ..._types.driver.handles import CUdevice
from ..._types.driver.structs import CUdevResource
from ..addresses import Pointer
from ..handles import Object, find
from ..library import provides
from ..refused import Refused, invalid
from ..streams.event import Event
from ..streams.operations import needed
from ..streams.stream import NON_BLOCKING, Stream, stream
from ..streams.work import Queue
from .context import Context, current, get, given
from .device import Device, device
from .primary import cuDevicePrimaryCtxRelease_v2, cuDevicePrimaryCtxRetain

if TYPE_CHECKING:
    from ..._types.driver.structs import CU_DEV_SM_RESOURCE_GROUP_PARAMS
    from ..addresses import Pointer


SM = int(CUdevResourceType.CU_DEV_RESOURCE_TYPE_SM)
QUEUES = int(CUdevResourceType.CU_DEV_RESOURCE_TYPE_WORKQUEUE_CONFIG)
QUEUES_THERE = int(CUdevResourceType.CU_DEV_RESOURCE_TYPE_WORKQUEUE)
KNOWN = SM, QUEUES, QUEUES_THERE
UNIT = 2
"""Multiprocessors come in twos, the least that any device can be split into: the simulated ones have few."""
SPLIT_FLAGS = 3  # CU_DEV_SM_RESOURCE_SPLIT_*
BACKFILL = int(CUdevSmResourceGroup_flags.CU_DEV_SM_RESOURCE_GROUP_BACKFILL)
CLUSTER = 32
"""The largest coscheduledSmCount from compute capability 9.0 on; that of older devices is UNIT."""
RANGE = struct.Struct("<8siII")  # in the padding: what it is, its device, its first and their count
MARK = b"cudapyG"


def resource(device: Device, first: int, count: int) -> CUdevResource:
    """Multiprocessors of a device; of no type if there are none."""
    resource = CUdevResource(type=SM if count else 0)
    if count:
        resource.sm.smCount = count
        resource.sm.minSmPartitionSize = resource.sm.smCoscheduledAlignment = UNIT
        resource._internal_padding = RANGE.pack(MARK, device.ordinal, first, count)
    return resource


def everything(device: Device) -> CUdevResource:
    """All multiprocessors of a device."""
    return resource(device, 0, device[Attribute.CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT])


def queues(device: Device) -> CUdevResource:
    """How work gets to a device, where nobody has asked for anything."""
    resource = CUdevResource(type=QUEUES)
    told = os.environ.get("CUDA_DEVICE_MAX_CONNECTIONS", "")
    resource.wqConfig.device = CUdevice(device.ordinal)
    resource.wqConfig.wqConcurrencyLimit = min(max(int(told), 1), 32) if told.isdecimal() else 8
    return resource


def queues_there(device: Device) -> CUdevResource:
    """The queues that a device, or a context of it, has: to share them with another context."""
    padding = RANGE.pack(MARK, device.ordinal, 0, 0)
    return CUdevResource(type=QUEUES_THERE, _internal_padding=padding)


def of_type(typename: int, *types: int) -> None:
    """Raise Refused for resources of other types: those, or multiprocessors."""
    if typename not in (types or (SM,)):
        raise Refused(
            "CUDA_ERROR_INVALID_RESOURCE_TYPE",
            f"resources of type {typename} are not to be had here, only of {sorted(types or (SM,))}",
        )


def _range(of: CUdevResource, wanted: int = SM) -> tuple[Device, int, int]:
    """The device of a resource, its first multiprocessor and their number. Raises Refused."""
    of_type(int(of.type), wanted)
    mark, ordinal, first, count = RANGE.unpack_from(bytes(of._internal_padding))
    if mark.rstrip(b"\0") != MARK:
        raise invalid("the resource comes from no function that makes one")
    return device(ordinal), first, count


@provides("driver")
def cuDeviceGetDevResource(device: int, typename: int) -> CUdevResource:
    from .device import device as find_device

    of_type(typename, *KNOWN)
    return _all(find_device(device), typename)


def _all(device: Device, typename: int) -> CUdevResource:
    """What a device has of a type of resource."""
    return {SM: everything, QUEUES: queues, QUEUES_THERE: queues_there}[typename](device)


@provides("driver")
def cuDevSmResourceSplitByCount(
    result: Pointer,
    nbGroups: Pointer,
    input_: Pointer,
    remainder: Pointer,
    flags: int,
    minCount: int,
) -> None:
    device, first, count = _range(needed(input_, "input"))
    if flags & ~SPLIT_FLAGS:
        raise invalid(f"unknown flags {flags & ~SPLIT_FLAGS:#x}")
    size = max(round_up(minCount, UNIT), UNIT)
    if size > count:
        raise Refused(
            "CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION",
            f"a group would have {size} multiprocessors, and there are {count}",
        )
    groups = min(nbGroups[0], count // size) if result else count // size
    for i in range(groups if result else 0):
        result[i] = resource(device, first + i * size, size)
    if remainder:
        remainder[0] = resource(device, first + groups * size, count - groups * size)
    nbGroups[0] = groups


def _wanted(group: CU_DEV_SM_RESOURCE_GROUP_PARAMS, left: int, widest: int) -> int:
    """How many of the `left` multiprocessors a group gets. Raises Refused."""
    together = group.coscheduledSmCount or UNIT
    backfill = group.flags & BACKFILL
    if group.flags & ~BACKFILL:
        raise invalid(f"the simulator has no locality domains: unknown flags {group.flags & ~BACKFILL:#x}")
    for name, count in (
        ("coscheduled", together),
        ("preferredCoscheduled", group.preferredCoscheduledSmCount),
    ):
        if count % UNIT or count > widest:
            raise invalid(f"{name}SmCount = {count} is not a multiple of {UNIT} up to {widest}")
    if group.preferredCoscheduledSmCount % together:
        raise invalid(f"preferredCoscheduledSmCount is not a multiple of {together}")
    if not group.smCount:
        return left if backfill else left // together * together
    if group.smCount % UNIT or (group.smCount % together and not backfill):
        raise invalid(f"smCount = {group.smCount} is not a multiple of {UNIT if backfill else together}")
    if group.smCount > left:
        raise Refused(
            "CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION",
            f"a group would have {group.smCount} multiprocessors, and there are {left}",
        )
    return int(group.smCount)


@provides("driver")
def cuDevSmResourceSplit(
    result: Pointer,
    nbGroups: int,
    input_: Pointer,
    remainder: Pointer,
    flags: int,
    groupParams: Pointer,
) -> None:
    device, first, count = _range(needed(input_, "input"))
    if flags:
        raise invalid(f"unknown flags {flags:#x}")
    if not nbGroups or not groupParams:
        raise invalid("there are no groups")
    widest = CLUSTER if device[Attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR] >= 9 else UNIT
    left, sizes = count, []
    for i in range(nbGroups):
        group = groupParams[i]
        sizes.append(_wanted(group, left, widest))
        if result and sizes[-1] < max(group.coscheduledSmCount, UNIT):
            raise Refused(
                "CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION",
                f"group {i} would have {sizes[-1]} multiprocessors, of {left} that are left",
            )
        left -= sizes[-1]
    for i, size in enumerate(sizes):
        if result:
            result[i] = resource(device, first, size)
            result[i].sm.smCoscheduledAlignment = groupParams[i].coscheduledSmCount or UNIT
            result[i].sm.flags = groupParams[i].flags
        groupParams[i].smCount = size
        first += size
    if remainder:
        remainder[0] = resource(device, first, left)


class Description(Object):
    """Multiprocessors that a green context is to have, and how work gets to them.

    It lives as long as the process, as on a GPU: there is no function that releases it.
    """

    noun = "description of resources"

    def __init__(self, device: Device, count: int, queues: CUdevResource) -> None:
        super().__init__()
        self.device = device
        self.count = count
        self.queues = queues


@provides("driver")
def cuDevResourceGenerateDesc(resources: Pointer, nbResources: int) -> int:
    if not nbResources:
        raise invalid("no resources are given")
    by_type: dict[int, list[CUdevResource]] = {SM: [], QUEUES: [], QUEUES_THERE: []}
    for i in range(nbResources):
        of_type(int(resources[i].type), *KNOWN)
        by_type[int(resources[i].type)].append(resources[i])
    given_queues = [_queues(one) for one in by_type[QUEUES]]
    shared = [_range(one, QUEUES_THERE)[0] for one in by_type[QUEUES_THERE]]
    ranges = sorted((_range(one) for one in by_type[SM]), key=lambda one: one[1])
    if len(given_queues) > 1 or len(shared) > 1:
        raise Refused("CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION", "workqueues are configured twice")
    if not ranges:
        raise Refused("CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION", "there are no multiprocessors")
    device = ranges[0][0]
    ordinals = [int(one.wqConfig.device) for one in given_queues] + [one.ordinal for one in shared]
    if any(ordinal != device.ordinal for ordinal in ordinals):
        raise Refused("CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION", "the resources are of several devices")
    end = 0
    for of, first, count in ranges:
        if of is not device or first < end:
            raise invalid("the resources are of several devices, or overlap")
        end = first + count
    total = sum(count for _, _, count in ranges)
    return Description(device, total, given_queues[0] if given_queues else queues(device)).handle


def _queues(given: CUdevResource) -> CUdevResource:
    """A configuration of workqueues, copied. Raises Refused."""
    copied = CUdevResource.from_buffer_copy(given)
    if (
        copied.wqConfig.sharingScope not in set(CUdevWorkqueueConfigScope)
        or not copied.wqConfig.wqConcurrencyLimit
    ):
        raise invalid("the configuration of workqueues has no known sharing scope, or a limit of 0")
    return copied


class GreenContext(Object):
    """A green context; `context` is what it is as an ordinary one."""

    noun = "green context"

    def __init__(self, told: Description) -> None:
        super().__init__()
        self.device = told.device
        self.queues = told.queues
        self.context = GreenPartition(get(cuDevicePrimaryCtxRetain(told.device.ordinal)), told.count, self)

    def forget(self) -> None:
        super().forget()
        self.context.destroy()
        cuDevicePrimaryCtxRelease_v2(self.device.ordinal)


class GreenPartition(Context):
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

    def busy_queues(self) -> list[Queue]:
        return [queue for queue in self._whole.busy_queues() if queue.place is self]

    def destroy(self) -> None:
        self.drain()
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
    return GreenContext(told).handle


@provides("driver")
def cuGreenCtxDestroy(hCtx: int) -> None:
    green(hCtx).forget()


@provides("driver")
def cuCtxFromGreenCtx(hCtx: int) -> int:
    return green(hCtx).context.handle


@provides("driver")
def cuCtxGetDevResource(hCtx: int, typename: int) -> CUdevResource:
    of_type(typename, *KNOWN)
    context = given(hCtx)
    if isinstance(context, GreenPartition):
        return cuGreenCtxGetDevResource(context.green.handle, typename)
    return _all(context.device, typename)


@provides("driver")
def cuGreenCtxGetDevResource(hCtx: int, typename: int) -> CUdevResource:
    of_type(typename, *KNOWN)
    this_context = green(hCtx)
    if typename == QUEUES:
        return CUdevResource.from_buffer_copy(this_context.queues)
    if typename == QUEUES_THERE:
        return queues_there(this_context.device)
    context = this_context.context
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
    stream = Stream(context, flags, priority)
    context.streams.append(stream)
    return stream.handle


@provides("driver")
def cuStreamGetDevResource(hStream: int, typename: int) -> CUdevResource:
    of_type(typename)
    return cuCtxGetDevResource(stream(hStream).context.handle, typename)


def _green_of(stream: Stream) -> GreenContext | None:
    return stream.context.green if isinstance(stream.context, GreenPartition) else None


@provides("driver")
def cuStreamGetGreenCtx(hStream: int) -> int:
    context = _green_of(stream(hStream))
    return context.handle if context is not None else 0


@provides("driver")
def cuStreamGetCtx_v2(hStream: int) -> tuple[int, int]:
    in_stream = stream(hStream)
    return in_stream.context.root.handle, cuStreamGetGreenCtx(hStream)


@provides("driver")
def cuGreenCtxGetId(greenCtx: int) -> int:
    if greenCtx:
        return green(greenCtx).context.id
    context = current()
    if not isinstance(context, GreenPartition):
        raise Refused("CUDA_ERROR_INVALID_CONTEXT", "the current context is not a green one")
    return context.id
