"""Places that memory can be at: devices, the host, one of its NUMA nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..._ffi.shown import type_name
from ...driver import CUdevice_attribute, CUmemAccess_flags, CUmemAccessDesc, CUmemLocation, CUmemLocationType
from ...driver import checked as driver
from ..upward import upward

if TYPE_CHECKING:
    from ..device.device import Device

DEVICE = CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
HOST = CUmemLocationType.CU_MEM_LOCATION_TYPE_HOST
HOST_NUMA = CUmemLocationType.CU_MEM_LOCATION_TYPE_HOST_NUMA
HOST_NUMA_CURRENT = CUmemLocationType.CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT
NOWHERE = CUmemLocationType.CU_MEM_LOCATION_TYPE_NONE

READ_WRITE = CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_READWRITE


class Host:
    """The memory of the CPU, where a managed buffer can be instead of on a Device.

    `Host()` is any of it, `Host(numa_id=1)` that of a NUMA node, `Host.numa_current()` that of the node that
    the calling thread runs on. The same arguments give the same object.
    """

    __slots__ = ("_is_numa_current", "_numa_id")
    _numa_id: int | None
    _is_numa_current: bool

    def __new__(cls, numa_id: int | None = None, is_numa_current: bool = False) -> Host:
        if is_numa_current and numa_id is not None:
            raise ValueError("Host: numa_id and is_numa_current are two ways to name one node")
        if numa_id is not None and (isinstance(numa_id, bool) or not isinstance(numa_id, int) or numa_id < 0):
            raise ValueError(f"Host: numa_id = {numa_id!r} is not the number of a NUMA node")
        key = (numa_id, bool(is_numa_current))
        self = _hosts.get(key)
        if self is None:
            fresh = super().__new__(cls)
            fresh._numa_id, fresh._is_numa_current = key
            self = _hosts.setdefault(key, fresh)  # one thread's, for all threads
        return self

    @classmethod
    def numa_current(cls) -> Host:
        """The NUMA node of the calling thread, whichever that is when it is used."""
        return cls(is_numa_current=True)

    @property
    def numa_id(self) -> int | None:
        """The number of the NUMA node; None for no one in particular."""
        return self._numa_id

    @property
    def is_numa_current(self) -> bool:
        """Whether it is the node of the calling thread."""
        return self._is_numa_current

    def __reduce__(self) -> tuple[Any, ...]:
        return Host, (self._numa_id, self._is_numa_current)

    def __repr__(self) -> str:
        if self._is_numa_current:
            return "Host.numa_current()"
        return "Host()" if self._numa_id is None else f"Host(numa_id={self._numa_id})"


_hosts: dict[tuple[int | None, bool], Host] = {}


def on_device(device_id: int) -> CUmemLocation:
    """The memory of a device, in C."""
    return CUmemLocation(type=DEVICE, id=device_id)


def location(place: Device | Host | int) -> CUmemLocation:
    """`place` in C: a Device, its ordinal, or a Host. Raises TypeError."""
    if isinstance(place, Host):
        if place.is_numa_current:
            return CUmemLocation(type=HOST_NUMA_CURRENT)
        return CUmemLocation(
            type=HOST if place.numa_id is None else HOST_NUMA,
            id=place.numa_id or 0,
        )
    if isinstance(place, (upward.device, int)):
        return on_device(int(upward.device(place)))
    raise TypeError(f"a place for memory is a Device or a Host, not {type_name(place)}")


def place(kind: int, number: int) -> Device | Host | None:
    """What C says about a location, as a Device or a Host; None for no location.

    Raises RuntimeError for a kind of location that cudapy has no word for.
    """
    if kind == DEVICE:
        return upward.device(number)
    if kind == HOST_NUMA:
        return Host(number)
    if kind == HOST_NUMA_CURRENT:
        return Host.numa_current()
    if kind == HOST:
        return Host()
    if kind == NOWHERE:
        return None
    name = CUmemLocationType(kind).name
    raise RuntimeError(f"the driver says that the memory is at a {name} ({kind}), which has no class here")


def access(*places: CUmemLocation, flags: int = READ_WRITE) -> list[CUmemAccessDesc]:
    """What lets each of `places` use memory."""
    return [CUmemAccessDesc(location=each, flags=flags) for each in places]


def nearest_numa_node() -> int:
    """The NUMA node nearest to the current device. Raises RuntimeError where the system does not say.

    Source: cuDeviceGetAttribute with CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID.
    """
    node = driver.cuDeviceGetAttribute(
        CUdevice_attribute.CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID, driver.cuCtxGetDevice()
    )
    if node < 0:
        raise RuntimeError("the system does not say which NUMA node the current device is near: name one")
    return int(node)
