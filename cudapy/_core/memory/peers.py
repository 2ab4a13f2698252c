"""Which other devices can use the memory of a pool."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, MutableSet
from typing import TYPE_CHECKING, Any

from ...driver import CUmemAccess_flags, CUmemAccessDesc, checked
from ..upward import upward
from .location import READ_WRITE, on_device

if TYPE_CHECKING:
    from ..device.device import Device
    from .device import DeviceMemoryResource

NONE = CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_NONE


class PeerAccessibleBy(MutableSet["Device"]):
    """A set of Devices, without the pool's own, that is always as the driver has it.

    Takes Devices and ordinals. Each change is one call, whatever the number of devices, and concerns all
    buffers of the pool. Raises ValueError for a device that cannot reach the memory.
    """

    __slots__ = ("_resource",)

    def __init__(self, mr: DeviceMemoryResource) -> None:
        self._resource = mr

    @classmethod
    def _from_iterable(cls, it: Iterable[Any]) -> Any:
        return set(it)  # what `|` and `&` return is of no pool

    def _change(self, devices: Iterable[Device | int], grant: bool) -> None:
        own = self._resource.device_id
        peers = {ordinal for each in devices if (ordinal := int(upward.device(each))) != own}
        if grant:
            for peer in sorted(peers):
                if not upward.device(peer).can_access_peer(own):
                    raise ValueError(f"device {peer} cannot use the memory of device {own}")
        if peers:
            flags = READ_WRITE if grant else NONE
            wanted = [CUmemAccessDesc(location=on_device(peer), flags=flags) for peer in sorted(peers)]
            checked.cuMemPoolSetAccess(self._resource._pool, wanted, len(wanted))

    def replace(self, devices: Iterable[Device | int]) -> None:
        """Let `devices` use the memory, and no others."""
        wanted = {upward.device(each) for each in devices}
        before = set(self)
        self._change(wanted - before, True)
        self._change(before - wanted, False)

    def add(self, value: Device | int) -> None:
        """Let a device use the memory."""
        self._change([value], True)

    def discard(self, value: Device | int) -> None:
        """Let it no more."""
        self._change([value], False)

    def clear(self) -> None:
        """Let none."""
        self.replace(())

    def update(self, *others: Iterable[Device | int]) -> None:
        """Let more devices use the memory."""
        self._change([each for other in others for each in other], True)

    def difference_update(self, *others: Iterable[Device | int]) -> None:
        """Let these use it no more."""
        self._change([each for other in others for each in other], False)

    def intersection_update(self, *others: Iterable[Device | int]) -> None:
        """Let only those use it that do, and are in all of `others`."""
        self.replace(set(self).intersection(*({upward.device(each) for each in other} for other in others)))

    def symmetric_difference_update(self, other: Iterable[Device | int]) -> None:
        """Let those of `other` use it that do not, and those that do no more."""
        self.replace(set(self) ^ {upward.device(each) for each in other})

    def __contains__(self, value: object) -> bool:
        if not isinstance(value, (upward.device, int)) or int(value) == self._resource.device_id:
            return False
        if not 0 <= int(value) < checked.cuDeviceGetCount():
            return False
        place = on_device(int(value))
        return bool(checked.cuMemPoolGetAccess(self._resource._pool, place) == READ_WRITE)

    def __iter__(self) -> Iterator[Device]:
        return (device for device in upward.device.get_all_devices() if device in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __eq__(self, other: object) -> bool:
        return set(self) == set(other) if isinstance(other, Iterable) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(set(self))
