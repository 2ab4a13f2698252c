"""NVML of the simulated devices: names, addresses, memory, utilization and the processes, which is this one.

Everything else is NVML_ERROR_NOT_SUPPORTED. A device is there for NVML without cuInit, as on a GPU.
"""

import ctypes
import os
import threading
import uuid
from typing import Any

from .._types.driver.enums import CUdevice_attribute as Attribute
from .._types.nvml.constants import (
    NVML_DEVICE_ARCH_ADA,
    NVML_DEVICE_ARCH_AMPERE,
    NVML_DEVICE_ARCH_BLACKWELL,
    NVML_DEVICE_ARCH_HOPPER,
    NVML_DEVICE_ARCH_MAXWELL,
    NVML_DEVICE_ARCH_PASCAL,
    NVML_DEVICE_ARCH_TURING,
    NVML_DEVICE_ARCH_UNKNOWN,
    NVML_DEVICE_ARCH_VOLTA,
)
from .._types.nvml.enums import nvmlReturn_t
from .._types.nvml.structs import (
    nvmlMemory_t,
    nvmlMemory_v2_t,
    nvmlPciInfo_t,
    nvmlPciInfoExt_t,
    nvmlProcessInfo_t,
    nvmlUtilization_t,
)
from .addresses import Pointer
from .devices.context import Context
from .devices.device import NAME, Device, existing
from .entry_points import Release
from .error_texts import UNRECOGNIZED, texts_of
from .handles import every
from .immortal import text
from .library import fill_text, provides
from .refused import Refused

DRIVER_VERSION = b"580.0"  # the first that has CUDA 13
NVML_VERSION = b"13.580.0"
FIRST_HANDLE = 0x10000

_lock = threading.Lock()
_initialised = 0
_STATUS = {
    "CUDA_ERROR_INVALID_VALUE": nvmlReturn_t.NVML_ERROR_INVALID_ARGUMENT,
    "CUDA_ERROR_NOT_SUPPORTED": nvmlReturn_t.NVML_ERROR_NOT_SUPPORTED,
    "CUDA_ERROR_OUT_OF_MEMORY": nvmlReturn_t.NVML_ERROR_MEMORY,
}
"""What the simulator's own refusals are here."""
_BEFORE_INIT = ("nvmlInit_v2", "nvmlInitWithFlags", "nvmlErrorString")


def failed(refused: Refused) -> int:
    """The status of a call that failed."""
    status = nvmlReturn_t.__members__.get(refused.status)
    return int(_STATUS.get(refused.status, nvmlReturn_t.NVML_ERROR_UNKNOWN) if status is None else status)


def before(symbol: str) -> None:
    """What every function begins with. Raises Refused."""
    if not _initialised and symbol not in _BEFORE_INIT:
        raise Refused("NVML_ERROR_UNINITIALIZED")


def invalid() -> Refused:
    return Refused("NVML_ERROR_INVALID_ARGUMENT")


def _device(handle: int) -> Device:
    """The device behind a handle. Raises Refused."""
    devices = existing()
    if not 0 <= handle - FIRST_HANDLE < len(devices):
        raise invalid()
    return devices[handle - FIRST_HANDLE]


def _text(address: int | None, size: int, value: bytes) -> None:
    if address and size <= len(value):
        raise Refused("NVML_ERROR_INSUFFICIENT_SIZE")
    fill_text(address, size, value)


@provides("nvml")
def nvmlInit_v2() -> None:
    nvmlInitWithFlags(0)


@provides("nvml")
def nvmlInitWithFlags(flags: int) -> None:
    global _initialised
    with _lock:
        _initialised += 1


@provides("nvml")
def nvmlShutdown() -> None:
    global _initialised
    with _lock:
        _initialised -= 1


@provides("nvml")
def nvmlErrorString(result: int) -> int:
    symbol = "nvmlErrorString"
    return text(texts_of(symbol).get(result, UNRECOGNIZED[symbol]).encode())


@provides("nvml")
def nvmlSystemGetDriverVersion(version: int | None, length: int) -> None:
    _text(version, length, DRIVER_VERSION)


@provides("nvml")
def nvmlSystemGetNVMLVersion(version: int | None, length: int) -> None:
    _text(version, length, NVML_VERSION)


@provides("nvml", "nvmlSystemGetCudaDriverVersion", "nvmlSystemGetCudaDriverVersion_v2")
def nvmlSystemGetCudaDriverVersion() -> int:
    return Release.number


@provides("nvml")
def nvmlSystemGetProcessName(pid: int, name: int | None, length: int) -> None:
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            command = file.read().replace(b"\0", b" ").strip()
    except OSError:
        raise Refused("NVML_ERROR_NOT_FOUND") from None
    fill_text(name, length, command)


@provides("nvml")
def nvmlDeviceGetCount_v2() -> int:
    return len(existing())


@provides("nvml")
def nvmlDeviceGetHandleByIndex_v2(index: int) -> int:
    if index >= len(existing()):
        raise invalid()
    return FIRST_HANDLE + index


def _uuid(device: Device) -> bytes:
    return f"GPU-{uuid.UUID(bytes=device.uuid)}".encode()


def _address(device: Device) -> bytes:
    """Its PCI address, with the eight digits of the domain that NVML has."""
    return b"0000" + device.bus


@provides("nvml", "nvmlDeviceGetHandleByUUID")
def nvmlDeviceGetHandleByUUID(uuid: bytes | None) -> int:
    for device in existing():
        if uuid in (_uuid(device), _uuid(device).removeprefix(b"GPU-")):  # cuda.core asks without it
            return FIRST_HANDLE + device.index
    raise Refused("NVML_ERROR_NOT_FOUND" if uuid else "NVML_ERROR_INVALID_ARGUMENT")


@provides("nvml")
def nvmlDeviceGetHandleByPciBusId_v2(pciBusId: bytes | None) -> int:
    for device in existing():
        if pciBusId is not None and pciBusId.upper() in (device.bus, _address(device)):
            return FIRST_HANDLE + device.index
    raise Refused("NVML_ERROR_NOT_FOUND" if pciBusId else "NVML_ERROR_INVALID_ARGUMENT")


@provides("nvml")
def nvmlDeviceGetName(device: int, name: int | None, length: int) -> None:
    _device(device)
    _text(name, length, NAME)


@provides("nvml")
def nvmlDeviceGetIndex(device: int) -> int:
    return _device(device).index


@provides("nvml")
def nvmlDeviceGetUUID(device: int, uuid: int | None, length: int) -> None:
    _text(uuid, length, _uuid(_device(device)))


@provides("nvml")
def nvmlDeviceGetPciInfo_v3(device: int) -> nvmlPciInfo_t:
    this_device = _device(device)
    return nvmlPciInfo_t(
        domain=0xFFFF, bus=this_device.index, busId=_address(this_device), busIdLegacy=this_device.bus
    )


@provides("nvml")
def nvmlDeviceGetPciInfoExt(device: int, pci: Pointer) -> None:
    this_device = _device(device)
    _versioned(pci, nvmlPciInfoExt_t)
    pci[0] = nvmlPciInfoExt_t(domain=0xFFFF, bus=this_device.index, busId=_address(this_device))


def _versioned(pointer: Any, cls: Any) -> None:
    """Refuse a struct of another version."""
    if not pointer:
        raise invalid()
    if pointer[0].version != cls._version_:
        raise Refused("NVML_ERROR_ARGUMENT_VERSION_MISMATCH")


@provides("nvml")
def nvmlDeviceGetMemoryInfo(device: int) -> nvmlMemory_t:
    this_device = _device(device)
    return nvmlMemory_t(
        total=this_device.total_memory,
        free=this_device.total_memory - this_device.used_memory,
        used=this_device.used_memory,
    )


@provides("nvml")
def nvmlDeviceGetMemoryInfo_v2(device: int, memory: Pointer) -> None:
    this_device = _device(device)
    _versioned(memory, nvmlMemory_v2_t)
    free = this_device.total_memory - this_device.used_memory
    memory[0] = nvmlMemory_v2_t(total=this_device.total_memory, free=free, used=this_device.used_memory)


@provides("nvml")
def nvmlDeviceGetUtilizationRates(device: int) -> nvmlUtilization_t:
    """100 % while something runs on the device, or waits to."""
    this_device = _device(device)
    contexts = [context for context in every(Context) if context.device is this_device]
    return nvmlUtilization_t(gpu=100 * any(context.pending() for context in contexts))


@provides("nvml")
def nvmlDeviceGetCudaComputeCapability(device: int) -> tuple[int, int]:
    this_device = _device(device)
    return (
        this_device[Attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR],
        this_device[Attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR],
    )


_ARCHITECTURES = {
    (5, 0): NVML_DEVICE_ARCH_MAXWELL,
    (6, 0): NVML_DEVICE_ARCH_PASCAL,
    (7, 0): NVML_DEVICE_ARCH_VOLTA,
    (7, 5): NVML_DEVICE_ARCH_TURING,
    (8, 0): NVML_DEVICE_ARCH_AMPERE,
    (8, 9): NVML_DEVICE_ARCH_ADA,
    (9, 0): NVML_DEVICE_ARCH_HOPPER,
    (10, 0): NVML_DEVICE_ARCH_BLACKWELL,
}
"""The first compute capability of each architecture."""


@provides("nvml")
def nvmlDeviceGetArchitecture(device: int) -> int:
    capability = nvmlDeviceGetCudaComputeCapability(device)
    architectures = [number for first, number in _ARCHITECTURES.items() if first <= capability]
    return architectures[-1] if architectures else NVML_DEVICE_ARCH_UNKNOWN


@provides("nvml")
def nvmlDeviceIsMigDeviceHandle(device: int) -> int:
    _device(device)
    return 0


@provides("nvml")
def nvmlDeviceGetComputeRunningProcesses_v3(device: int, infoCount: Pointer, infos: Pointer) -> None:
    this_device = _device(device)
    contexts = [context for context in every(Context) if context.device is this_device]
    of_mig = {"gpuInstanceId": 0xFFFFFFFF, "computeInstanceId": 0xFFFFFFFF}  # neither
    process = nvmlProcessInfo_t(pid=os.getpid(), usedGpuMemory=this_device.used_memory, **of_mig)
    _list(infoCount, infos, [process] if contexts else [])


@provides("nvml")
def nvmlDeviceGetGraphicsRunningProcesses_v3(device: int, infoCount: Pointer, infos: Pointer) -> None:
    _device(device)
    _list(infoCount, infos, [])


def _list(count: Any, items: Any, values: list[Any]) -> None:
    """Write an array as NVML does: how many there are, and, where there is room for all, the items."""
    if not count:
        raise invalid()
    room, count[0] = count[0], len(values)
    if room < len(values):
        raise Refused("NVML_ERROR_INSUFFICIENT_SIZE")
    for i, item in enumerate(values):
        ctypes.memmove(ctypes.byref(items[i]), item.getPtr(), ctypes.sizeof(item))
