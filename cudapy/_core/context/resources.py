"""What of a device a context may use: multiprocessors, and the queues through which work gets to them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..._ffi.integers import exact_int
from ..._ffi.library import SymbolNotFound
from ..._ffi.shown import type_name
from ...driver import (
    CU_DEV_SM_RESOURCE_GROUP_PARAMS,
    CUdevResource,
    CUdevResourceType,
    CUdevSmResourceGroup_flags,
    CUdevWorkqueueConfigScope,
    checked,
)
from ..closable import NotCopyable
from ..options import Choice, accepted, known_names
from ..upward import upward

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import TypeGuard

    from ..device.device import Device

_SM = CUdevResourceType.CU_DEV_RESOURCE_TYPE_SM
_WORKQUEUE_CONFIG = CUdevResourceType.CU_DEV_RESOURCE_TYPE_WORKQUEUE_CONFIG
_BACKFILL = int(CUdevSmResourceGroup_flags.CU_DEV_SM_RESOURCE_GROUP_BACKFILL)


class WorkqueueSharingScopeType(Choice):
    """Who shares the queues of a device.

    DEVICE_CTX: all contexts of the device. GREEN_CTX_BALANCED: green contexts with this choice have queues of
    their own, as far as there are enough.
    """

    DEVICE_CTX = "device_ctx"
    GREEN_CTX_BALANCED = "green_ctx_balanced"


_SCOPES = {
    CUdevWorkqueueConfigScope.CU_WORKQUEUE_SCOPE_DEVICE_CTX: WorkqueueSharingScopeType.DEVICE_CTX,
    CUdevWorkqueueConfigScope.CU_WORKQUEUE_SCOPE_GREEN_CTX_BALANCED: (
        WorkqueueSharingScopeType.GREEN_CTX_BALANCED
    ),
}
_SCOPE_NUMBERS = {choice: number for number, choice in _SCOPES.items()}


@known_names
@dataclass
class SMResourceOptions:
    """How `SMResource.split` divides multiprocessors: a value for one group, or a sequence with one for each.

    count: how many multiprocessors; None for as many as the other options allow. coscheduled_sm_count: the
    group consists of sets of so many that one thread block cluster can use together; None for the driver's
    choice. preferred_coscheduled_sm_count: sets of so many where possible. backfill: fill the group up to
    `count` with multiprocessors that are in no such set.
    """

    count: int | Sequence[int | None] | None = None
    coscheduled_sm_count: int | Sequence[int | None] | None = None
    preferred_coscheduled_sm_count: int | Sequence[int | None] | None = None
    backfill: bool | Sequence[bool] = False


@known_names
@dataclass
class WorkqueueResourceOptions:
    """What `WorkqueueResource.configure` changes; None leaves it as it is.

    sharing_scope: who shares the queues. concurrency_limit: how many streams are expected to have work at the
    same time, at least 1; the driver has CUDA_DEVICE_MAX_CONNECTIONS queues, and more streams share them.
    """

    sharing_scope: WorkqueueSharingScopeType | str | None = None
    concurrency_limit: int | None = None

    def __post_init__(self) -> None:
        if self.sharing_scope is not None:
            self.sharing_scope = WorkqueueSharingScopeType(self.sharing_scope)
        if self.concurrency_limit is not None:
            limit = exact_int(self.concurrency_limit, "WorkqueueResourceOptions: concurrency_limit")
            if not 1 <= limit < 1 << 32:
                raise ValueError(
                    f"WorkqueueResourceOptions: concurrency_limit = {limit} is outside 1 .. 2**32-1"
                )


class SMResource(NotCopyable):
    """Multiprocessors of a device: `dev.resources.sm` has all of them, `split` divides them."""

    __slots__ = ("_device_id", "_is_usable", "_resource")
    _device_id: int
    _is_usable: bool
    _resource: CUdevResource

    def __init__(self) -> None:
        raise TypeError("an SMResource comes from `.resources.sm` of a device, a context or a stream")

    @classmethod
    def _of(cls, resource: CUdevResource, device_id: int, is_usable: bool = True) -> SMResource:
        self = cls.__new__(cls)
        self._resource, self._device_id, self._is_usable = resource, device_id, is_usable
        return self

    @property
    def handle(self) -> int:
        """The address of the CUdevResource, which lives as long as this object."""
        return self._resource.getPtr()

    @property
    def sm_count(self) -> int:
        """How many multiprocessors it has; 0 for a remainder of which nothing is left."""
        return self._resource.sm.smCount

    @property
    def min_partition_size(self) -> int:
        """How many multiprocessors a part of it has at least."""
        return self._resource.sm.minSmPartitionSize

    @property
    def coscheduled_alignment(self) -> int:
        """How many multiprocessors are in each set that one thread block cluster can use together."""
        return self._resource.sm.smCoscheduledAlignment

    @property
    def flags(self) -> int:
        """The CUdevSmResourceGroup_flags that it was made with."""
        return self._resource.sm.flags

    def split(
        self, options: SMResourceOptions | Mapping[str, Any], *, dry_run: bool = False
    ) -> tuple[list[SMResource], SMResource]:
        """Divide the multiprocessors: (the groups that `options` describe, what is left).

        Groups have no multiprocessor in common. With `dry_run` the result can be read, but no context made
        of it. Before CUDA 13.1 drivers make groups of equal size alone, and may make them larger: with an
        older one other options are a RuntimeError. Source: cuDevSmResourceSplit; else
        cuDevSmResourceSplitByCount.
        """
        if not self._is_usable:
            raise ValueError(f"{self!r} comes from a dry run, and cannot be split")
        groups = _groups(accepted(SMResourceOptions, options))
        try:
            parts, rest = checked.cuDevSmResourceSplit(len(groups), self._resource, 0, groups)
        except SymbolNotFound as error:
            parts, rest = self._split_by_count(groups, error)
        resources = [SMResource._of(part, self._device_id, not dry_run) for part in parts]
        return resources, SMResource._of(rest, self._device_id, not dry_run)

    def _split_by_count(
        self, groups: list[CU_DEV_SM_RESOURCE_GROUP_PARAMS], reason: Exception
    ) -> tuple[list[CUdevResource], CUdevResource]:
        """What drivers older than CUDA 13.1 can do."""
        sizes = {group.smCount for group in groups}
        structured = any(
            group.coscheduledSmCount or group.preferredCoscheduledSmCount or group.flags for group in groups
        )
        if structured or len(sizes) > 1 or (sizes == {0} and len(groups) > 1):
            raise RuntimeError(
                "SMResource.split: a driver older than CUDA 13.1 splits into groups of one `count` alone, "
                "without coscheduled_sm_count, preferred_coscheduled_sm_count or backfill"
            ) from reason
        unit = max(self.coscheduled_alignment, 1)
        size = max(sizes) or self.sm_count // unit * unit
        parts, count, rest = checked.cuDevSmResourceSplitByCount(len(groups), self._resource, 0, size)
        if count < len(groups):
            raise ValueError(
                f"SMResource.split: {self!r} has room for {count} groups of {size}, not for {len(groups)}"
            )
        return parts, rest

    def __repr__(self) -> str:
        return f"<SMResource: {self.sm_count} multiprocessors of device {self._device_id}>"


def _groups(options: SMResourceOptions) -> list[CU_DEV_SM_RESOURCE_GROUP_PARAMS]:
    """What is asked for each group. Raises TypeError and ValueError."""
    fields = {
        "count": options.count,
        "coscheduled_sm_count": options.coscheduled_sm_count,
        "preferred_coscheduled_sm_count": options.preferred_coscheduled_sm_count,
        "backfill": options.backfill,
    }
    sequences = {name: list(value) for name, value in fields.items() if _is_sequence(value)}
    number = len(sequences["count"]) if "count" in sequences else 1
    if not number:
        raise ValueError("SMResourceOptions: count is empty: it says how many groups there are")
    for name, values in sequences.items():
        if len(values) != number:
            raise ValueError(
                f"SMResourceOptions: {name} has {len(values)} values, and count says that there "
                f"{'is 1 group' if number == 1 else f'are {number} groups'}"
            )
    columns = {name: sequences.get(name, [value] * number) for name, value in fields.items()}
    return [
        CU_DEV_SM_RESOURCE_GROUP_PARAMS(
            smCount=_sm_count(columns["count"][i], "count"),
            coscheduledSmCount=_sm_count(columns["coscheduled_sm_count"][i], "coscheduled_sm_count"),
            preferredCoscheduledSmCount=_sm_count(
                columns["preferred_coscheduled_sm_count"][i], "preferred_coscheduled_sm_count"
            ),
            flags=_BACKFILL if columns["backfill"][i] else 0,
        )
        for i in range(number)
    ]


def _is_sequence(value: object) -> TypeGuard[Sequence[Any]]:
    return isinstance(value, Sequence) and not isinstance(value, (str, bytes))


def _sm_count(value: Any, name: str) -> int:
    """A count as the driver takes it: 0 for None. Raises TypeError and ValueError."""
    if value is None:
        return 0
    count = exact_int(value, f"SMResourceOptions: {name}")
    if not 1 <= count < 1 << 32:
        raise ValueError(
            f"SMResourceOptions: {name} = {count} is outside 1 .. 2**32-1; None is the driver's choice"
        )
    return count


class WorkqueueResource(NotCopyable):
    """The queues through which work gets to a device: `dev.resources.workqueue`, changed by `configure`."""

    __slots__ = ("_resource",)
    _resource: CUdevResource

    def __init__(self) -> None:
        raise TypeError("a WorkqueueResource comes from `.resources.workqueue` of a device or a context")

    @classmethod
    def _of(cls, resource: CUdevResource) -> WorkqueueResource:
        self = cls.__new__(cls)
        self._resource = resource
        return self

    @property
    def handle(self) -> int:
        """The address of the CUdevResource, of the kind WORKQUEUE_CONFIG; it lives as long as this object."""
        return self._resource.getPtr()

    @property
    def sharing_scope(self) -> WorkqueueSharingScopeType:
        """Who shares the queues."""
        return _SCOPES[self._resource.wqConfig.sharingScope]

    @property
    def concurrency_limit(self) -> int:
        """How many streams are expected to have work at the same time."""
        return self._resource.wqConfig.wqConcurrencyLimit

    @property
    def device(self) -> Device:
        """The device that has the queues."""
        return upward.device(self._device_id)

    @property
    def _device_id(self) -> int:
        return int(self._resource.wqConfig.device)

    def configure(self, options: WorkqueueResourceOptions | Mapping[str, Any]) -> None:
        """Change what contexts get that are made of it from now on."""
        options = accepted(WorkqueueResourceOptions, options)
        if options.sharing_scope is not None:
            scope = WorkqueueSharingScopeType(options.sharing_scope)
            self._resource.wqConfig.sharingScope = _SCOPE_NUMBERS[scope]
        if options.concurrency_limit is not None:
            self._resource.wqConfig.wqConcurrencyLimit = options.concurrency_limit

    def __repr__(self) -> str:
        return (
            f"<WorkqueueResource of device {self._device_id}: {self.sharing_scope}, "
            f"{self.concurrency_limit} at a time>"
        )


DeviceResourcesType = Sequence[SMResource | WorkqueueResource]
"""What a green context is made of."""


class DeviceResources(NotCopyable):
    """What there is of a device: all of it in `dev.resources`, what a context may use in that of a context or
    of a stream.
    """

    __slots__ = ("_device_id", "_query")
    _device_id: int
    _query: Callable[[CUdevResourceType], CUdevResource]

    def __init__(self) -> None:
        raise TypeError("DeviceResources are the `resources` of a device, a context or a stream")

    @classmethod
    def _of(cls, device_id: int, query: Callable[[CUdevResourceType], CUdevResource]) -> DeviceResources:
        self = cls.__new__(cls)
        self._device_id, self._query = device_id, query
        return self

    @property
    def sm(self) -> SMResource:
        """The multiprocessors. Source: cuDeviceGetDevResource, cuCtxGetDevResource (CUDA 12.4)."""
        return SMResource._of(self._query(_SM), self._device_id)

    @property
    def workqueue(self) -> WorkqueueResource:
        """The queues, as a description to change and to make contexts of.

        Source: cuDeviceGetDevResource, cuCtxGetDevResource (CUDA 13.1).
        """
        return WorkqueueResource._of(self._query(_WORKQUEUE_CONFIG))

    def __repr__(self) -> str:
        return f"<DeviceResources of device {self._device_id}>"


@known_names
@dataclass
class ContextOptions:
    """What a context is made of: `resources` are SMResources, groups of one `split`, with at most one
    WorkqueueResource.
    """

    resources: DeviceResourcesType


def device_resources(device_id: int) -> DeviceResources:
    """All that a device has."""
    return DeviceResources._of(device_id, lambda kind: checked.cuDeviceGetDevResource(device_id, kind))


def context_resources(device_id: int, context: int) -> DeviceResources:
    """What a context may use; `context` keeps it."""
    return DeviceResources._of(device_id, lambda kind: checked.cuCtxGetDevResource(context, kind))


def described(resources: Any, device_id: int) -> list[CUdevResource]:
    """What a green context of a device is to be made of. Raises TypeError and ValueError."""
    if not _is_sequence(resources):
        what = "a sequence of SMResource and WorkqueueResource"
        raise TypeError(f"ContextOptions: resources must be {what}, not {type(resources).__name__}")
    descriptions = []
    for resource in resources:
        if not isinstance(resource, (SMResource, WorkqueueResource)):
            raise TypeError(
                "ContextOptions: resources are SMResource and WorkqueueResource objects, "
                f"not {type_name(resource)}"
            )
        if resource._device_id != device_id:
            raise ValueError(f"create_context: {resource!r} is not of device {device_id}")
        if isinstance(resource, SMResource):
            if not resource._is_usable:
                raise ValueError(f"create_context: {resource!r} comes from a dry run")
            if not resource.sm_count:
                raise ValueError(
                    "create_context: an SMResource without multiprocessors, a remainder of nothing"
                )
        descriptions.append(resource._resource)
    if not descriptions:
        raise ValueError("ContextOptions: resources are empty: a context needs some, such as an SMResource")
    return descriptions
