"""Devices: what they are and what they can do."""

import ctypes
import os
import re
import threading
import uuid
from typing import Any

from ..._process import forks
from ..._types.driver.enums import CUdevice_attribute as Attribute
from ..._types.driver.structs import CUdevprop, CUuuid
from ..addresses import Pointer
from ..entry_points import Release
from ..fresh_devices import forgotten
from ..library import fill_text, provides
from ..refused import Refused, invalid
from ..textures.formats import element_size
from .attributes import attributes

NAME = b"cudapy simulator"


class Hardware:
    """How the devices are made: what `cudapy.simulator.enable` was told."""

    devices = 1
    compute_capability = (9, 0)
    may_hide_all = True
    """Whether CUDA_VISIBLE_DEVICES may leave no device; otherwise, it is not obeyed where it does."""


class Device:
    """One device. `pool` and `default_pool` are handles, made when they are asked for.

    index: its number in the machine, which is NVML's. `ordinal` is its number among visible devices, or -1.
    """

    def __init__(self, index: int) -> None:
        self.index = index
        self.ordinal = -1
        self.attributes = attributes(index, Hardware.compute_capability)
        self.uuid = uuid_of(index)
        self.total_memory = total_memory()
        self.used_memory = 0
        self._lock = threading.Lock()
        self.primary: Any = None
        self.primary_flags = 0
        self.default_pool: Any = None
        self.pool: Any = None

    def __getitem__(self, attribute: Attribute) -> int:
        return self.attributes[int(attribute)]

    def claim(self, size: int) -> None:
        """Count `size` bytes of its memory as used. Raises Refused where there are not as many."""
        with self._lock:
            free = self.total_memory - self.used_memory
            if size > free:
                raise Refused("CUDA_ERROR_OUT_OF_MEMORY", f"{size} bytes are asked for, {free} are free")
            self.used_memory += size

    def unclaim(self, size: int) -> None:
        """Count them as free."""
        with self._lock:
            self.used_memory -= size

    @property
    def bus(self) -> bytes:
        """The PCI address."""
        return f"FFFF:{self.index:02X}:00.0".encode()  # as no real device has it


def uuid_of(index: int) -> bytes:
    """The UUID of a device, the same in every process."""
    return uuid.uuid5(uuid.NAMESPACE_DNS, f"cudapy simulator {index}").bytes


def total_memory() -> int:
    """A quarter of what the host has, in whole GiB, at least 1 and at most 4: all of it may be filled."""
    try:
        physical = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        physical = 16 << 30
    return max(1, min(4, physical >> 32)) << 30


_lock = threading.Lock()
_existing: list[Device] = []
devices: list[Device] = []
"""What cuInit finds: the visible devices, in the order of their ordinals."""
_shown: list[int] = []
"""Their indices."""


def existing() -> list[Device]:
    """The devices of the machine, with cuInit or without, visible or not, in the order of their indices."""
    with _lock:
        if not _existing:
            _existing[:] = [Device(i) for i in range(Hardware.devices)]  # none is there before all are
    return _existing


BEFORE_INIT = frozenset(
    {
        "cuInit",
        "cuDriverGetVersion",
        "cuGetErrorName",
        "cuGetErrorString",
        "cuGetExportTable",
        "cuGetProcAddress",
        "cuGetProcAddress_v2",
        "cuLogsCurrent",
        "cuLogsDumpToFile",
        "cuLogsDumpToMemory",
        "cuLogsRegisterCallback",
        "cuLogsUnregisterCallback",
    }
)
"""The functions of the driver that need no cuInit before them."""


def before(symbol: str) -> None:
    """What every function of the driver begins with. Raises Refused."""
    if not devices and symbol not in BEFORE_INIT:
        raise Refused("CUDA_ERROR_NOT_INITIALIZED", FORKED if _is_forked else "cuInit was not called before")


FORKED = "this process was forked from one that had called cuInit"
_is_forked = False


@forks.in_child
def _fork() -> None:
    """In a child: CUDA is of no more use, as the threads that do its work are the parent's."""
    global _is_forked
    _is_forked = _is_forked or bool(devices)
    devices.clear()
    _shown.clear()
    _existing.clear()


def is_forked() -> bool:
    """Whether CUDA is of no use, as this process was forked from one that had called cuInit."""
    return _is_forked


@forgotten
def _forget() -> None:
    _existing.clear()
    if devices:
        _number_devices()


def _number_devices() -> None:
    """Number the devices that CUDA_VISIBLE_DEVICES shows. It is read once in a process. Raises Refused."""
    machine = existing()
    if not _shown:
        text = os.environ.get("CUDA_VISIBLE_DEVICES")
        _shown[:] = visible(text, [one.uuid for one in machine])
        if not _shown and Hardware.may_hide_all:
            numbers = ", ".join(str(one.index) for one in machine)
            raise Refused(
                "CUDA_ERROR_NO_DEVICE",
                f"CUDA_VISIBLE_DEVICES is {text!r}, which shows none of the simulator's devices: {numbers}",
            )
        _shown[:] = _shown or range(len(machine))
    for ordinal, index in enumerate(_shown):
        machine[index].ordinal = ordinal
    devices[:] = [machine[index] for index in _shown]


def visible(text: str | None, uuids: list[bytes]) -> list[int]:
    """The devices that a value of CUDA_VISIBLE_DEVICES shows, as indices of `uuids`. None: it is not set.

    An entry is an index, or the beginning of a UUID of one device, "GPU-" included. The first entry that is
    neither ends the list. Raises Refused for a repeated device, as driver 580 does. Source: CUDA C++
    Programming Guide, CUDA Environment Variables.
    """
    if text is None:
        return list(range(len(uuids)))
    indices: list[int] = []
    for entry in text.split(","):
        index = _index(entry, uuids)
        if index is None:
            break
        if index in indices:
            raise Refused(
                "CUDA_ERROR_INVALID_DEVICE", f"CUDA_VISIBLE_DEVICES is {text!r}: {index} is twice in it"
            )
        indices.append(index)
    return indices


def _index(entry: str, uuids: list[bytes]) -> int | None:
    """The device that an entry names, or None. What follows a number or a whole UUID is not looked at."""
    if re.match("GPU-.", entry):
        start = entry[4:40].lower()
        named = [i for i, one in enumerate(uuids) if str(uuid.UUID(bytes=one)).startswith(start)]
        return named[0] if len(named) == 1 else None
    number = re.match(r"\s*([+-]?\d+)", entry)
    index = ctypes.c_int(int(number[1])).value if number else -1  # of 32 bits, as in driver 580
    return index if 0 <= index < len(uuids) else None


def device(ordinal: int) -> Device:
    """The device with this number. Raises Refused."""
    if not 0 <= ordinal < len(devices):
        raise Refused("CUDA_ERROR_INVALID_DEVICE", f"there is no device {ordinal}, there are {len(devices)}")
    return devices[ordinal]


@provides("driver")
def cuInit(Flags: int) -> None:
    if Flags:
        raise invalid(f"Flags must be 0, not {Flags}")
    if _is_forked:
        raise Refused("CUDA_ERROR_NOT_INITIALIZED", FORKED)
    _number_devices()


@provides("driver")
def cuDriverGetVersion() -> int:
    return Release.number


@provides("driver")
def cuDeviceGet(ordinal: int) -> int:
    return device(ordinal).ordinal


@provides("driver")
def cuDeviceGetCount() -> int:
    return len(devices)


@provides("driver")
def cuDeviceGetName(name: int | None, length: int, dev: int) -> None:
    device(dev)
    fill_text(name, length, NAME)


@provides("driver", "cuDeviceGetUuid", "cuDeviceGetUuid_v2")
def cuDeviceGetUuid_v2(dev: int) -> CUuuid:
    return CUuuid(bytes=device(dev).uuid)


@provides("driver")
def cuDeviceTotalMem_v2(dev: int) -> int:
    return device(dev).total_memory


@provides("driver")
def cuDeviceGetAttribute(attrib: int, dev: int) -> int:
    value = device(dev).attributes.get(attrib)
    if value is None:
        raise invalid(f"{Attribute(attrib).name} is an attribute that this driver does not know")
    return value


@provides("driver")
def cuDeviceGetTexture1DLinearMaxWidth(pformat: int, numChannels: int, dev: int) -> int:
    size = element_size(pformat, numChannels)
    return device(dev)[Attribute.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LINEAR_WIDTH] // size


@provides("driver")
def cuDeviceGetHostAtomicCapabilities(
    capabilities: Pointer, operations: Pointer, count: int, dev: int
) -> None:
    device(dev)
    for i in range(count):
        capabilities[i] = 0  # kernels' atomics are not atomic to host threads


@provides("driver")
def cuDeviceGetExecAffinitySupport(typename: int, dev: int) -> int:
    device(dev)
    return 0


@provides("driver")
def cuDeviceGetPCIBusId(pciBusId: int | None, length: int, dev: int) -> None:
    fill_text(pciBusId, length, device(dev).bus)


@provides("driver")
def cuDeviceGetByPCIBusId(pciBusId: bytes | None) -> int:
    for one in devices:
        if pciBusId is not None and pciBusId.upper() == one.bus:
            return one.ordinal
    raise Refused("CUDA_ERROR_INVALID_DEVICE", f"there is no device at {pciBusId!r}")


@provides("driver")
def cuDeviceComputeCapability(dev: int) -> tuple[int, int]:
    one = device(dev)
    return (
        one[Attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR],
        one[Attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR],
    )


@provides("driver")
def cuDeviceGetProperties(dev: int) -> CUdevprop:
    one = device(dev)
    return CUdevprop(
        maxThreadsPerBlock=one[Attribute.CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK],
        maxThreadsDim=[one[Attribute(Attribute.CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X + i)] for i in range(3)],
        maxGridSize=[one[Attribute(Attribute.CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X + i)] for i in range(3)],
        sharedMemPerBlock=one[Attribute.CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK],
        totalConstantMemory=one[Attribute.CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY],
        SIMDWidth=one[Attribute.CU_DEVICE_ATTRIBUTE_WARP_SIZE],
        memPitch=one[Attribute.CU_DEVICE_ATTRIBUTE_MAX_PITCH],
        regsPerBlock=one[Attribute.CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK],
        clockRate=one[Attribute.CU_DEVICE_ATTRIBUTE_CLOCK_RATE],
        textureAlign=one[Attribute.CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT],
    )
