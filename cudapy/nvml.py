"""NVML, the NVIDIA Management Library: every function of nvml.h, by its groups.

Functions return `(status, results...)`, and None for each result after a failure; the status is an
nvmlReturn_t. `checked` has the same functions returning the results alone and raising CUDAError. Call
nvmlInit first.

A struct with a `version` comes with it filled in. A struct that NVML both reads and writes is a parameter,
and changed in place. Where an array is returned, the count, the last parameter, is how many items there is
room for: None, the default, asks how many there are and returns them all. With too little room the status is
NVML_ERROR_INSUFFICIENT_SIZE, and the count that is returned is how many there are.

After them comes the face of `cuda.bindings`: `device_get_name`, `device_get_memory_info_v2`, ... return the
results alone, handles as ints, text as str, and structs and enums with the names that it has for them; a
failure raises NvmlError: a class for each status, such as NotSupportedError.
"""

from __future__ import annotations

import ctypes

from ._bindings.errors import Raiser
from ._bindings.libraries import loader, meanings, recipes
from ._ffi.lazy_types import on_demand, with_dtypes
from ._ffi.library import Checked, Library
from ._ffi.sizes import sizeof as sizeof
from ._ffi.snake_case import Face, FaceError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from ._checked import nvml as _checked
    from ._types.nvml.constants import *
    from ._types.nvml.enums import *
    from ._types.nvml.handles import *
    from ._types.nvml.names import *
    from ._types.nvml.structs import *
    from ._types.nvml_errors import *
    from ._types.nvml_errors import NvmlMemoryError as NvmlMemoryError
    from ._types.nvml_errors import NvmlTimeoutError as NvmlTimeoutError
else:

    def _errors():
        """The exceptions derived from NvmlError, by their names."""
        from ._types.nvml_errors import by_name

        return by_name(NvmlError)

    _sources = (_errors, "names", "constants", "enums", "handles", "structs")
    __getattr__, __dir__ = with_dtypes(globals(), *on_demand(globals(), "._types.nvml", *_sources))


def _describe() -> str:
    from . import pathfinder

    loaded = pathfinder.load("nvml")
    status, version = nvmlSystemGetDriverVersion()
    release = b"" if status else version.partition(b"\0")[0]
    return f"{loaded.path} of driver {release.decode()}" if release else loaded.path


def _twins() -> Mapping[type, Any]:
    from ._types.nvml.derived import TWINS

    return TWINS


_raiser = Raiser(meanings("NVMLRETURN"))
libnvml = Library(loader("nvml"), "nvmlReturn_t", _describe, _raiser, short=7, recipes=recipes("NVML"))
if TYPE_CHECKING:
    checked = _checked
else:
    checked = Checked(globals(), libnvml)


# -- Initialization and Cleanup ------------------------------------------------------------------------


@libnvml("nvmlReturn_t nvmlInit_v2(void)")
def nvmlInit() -> tuple[nvmlReturn_t]:
    """Initialise NVML; every other call but nvmlErrorString needs it first. Calls count: each needs an
    nvmlShutdown.
    """


nvmlInit_v2 = nvmlInit


@libnvml("nvmlReturn_t nvmlInitWithFlags(unsigned int flags)")
def nvmlInitWithFlags(flags: int) -> tuple[nvmlReturn_t]:
    """Initialise NVML as nvmlInit does, with NVML_INIT_FLAG_* in `flags`, such as not to fail without a
    GPU.
    """


@libnvml("nvmlReturn_t nvmlShutdown(void)")
def nvmlShutdown() -> tuple[nvmlReturn_t]:
    """Undo one nvmlInit; with the last one NVML lets go of everything, handles included."""


# -- Error reporting -----------------------------------------------------------------------------------


@libnvml("const char *nvmlErrorString(nvmlReturn_t result)")
def nvmlErrorString(result: nvmlReturn_t | int) -> tuple[nvmlReturn_t, bytes]:
    """Return what the status `result` means, in a few words."""


# -- System Queries ------------------------------------------------------------------------------------


@libnvml(
    "nvmlReturn_t nvmlSystemGetDriverVersion(char *version, unsigned int length)",
    sizes={"version": "length"},
)
def nvmlSystemGetDriverVersion(length: int = 80) -> tuple[nvmlReturn_t, bytes]:
    """Return the release of the driver, such as b"580.65.06", in `length` bytes."""


@libnvml(
    "nvmlReturn_t nvmlSystemGetNVMLVersion(char *version, unsigned int length)",
    sizes={"version": "length"},
)
def nvmlSystemGetNVMLVersion(length: int = 80) -> tuple[nvmlReturn_t, bytes]:
    """Return the release of NVML, such as b"13.580.65.06", in `length` bytes."""


@libnvml("nvmlReturn_t nvmlSystemGetCudaDriverVersion(int *cudaDriverVersion)")
def nvmlSystemGetCudaDriverVersion() -> tuple[nvmlReturn_t, int]:
    """Return the newest CUDA that the driver supports, 1000 * major + 10 * minor; falls back to that of
    NVML.
    """


@libnvml("nvmlReturn_t nvmlSystemGetCudaDriverVersion_v2(int *cudaDriverVersion)")
def nvmlSystemGetCudaDriverVersion_v2() -> tuple[nvmlReturn_t, int]:
    """Return the newest CUDA that the driver library supports, 1000 * major + 10 * minor; fails without
    one.
    """


@libnvml(
    "nvmlReturn_t nvmlSystemGetProcessName(unsigned int pid, char *name, unsigned int length)",
    sizes={"name": "length"},
)
def nvmlSystemGetProcessName(pid: int, length: int = 1024) -> tuple[nvmlReturn_t, bytes]:
    """Return the name of process `pid`, with its path and arguments as far as they are known, in `length`
    bytes.
    """


@libnvml(
    "nvmlReturn_t nvmlSystemGetHicVersion(unsigned int *hwbcCount, nvmlHwbcEntry_t *hwbcEntries)",
    sizes={"hwbcEntries": "hwbcCount"},
)
def nvmlSystemGetHicVersion(hwbcCount: int | None = None) -> tuple[nvmlReturn_t, int, list[nvmlHwbcEntry_t]]:
    """Return the host interface cards of S-class systems, and their firmware."""


@libnvml(
    "nvmlReturn_t nvmlSystemGetTopologyGpuSet(unsigned int cpuNumber, unsigned int *count, "
    "nvmlDevice_t *deviceArray)",
    sizes={"deviceArray": "count"},
)
def nvmlSystemGetTopologyGpuSet(
    cpuNumber: int, count: int | None = None
) -> tuple[nvmlReturn_t, int, list[nvmlDevice_t]]:
    """Return the GPUs that are near to CPU `cpuNumber`."""


@libnvml(
    "nvmlReturn_t nvmlSystemGetDriverBranch(nvmlSystemDriverBranchInfo_t *branchInfo, unsigned int length)",
    since="12.6",
)
def nvmlSystemGetDriverBranch(length: int = 80) -> tuple[nvmlReturn_t, nvmlSystemDriverBranchInfo_t]:
    """Return the branch of the driver, such as b"r580_00"; `length` is the room for it."""


@libnvml("nvmlReturn_t nvmlSystemGetCPER_v1(nvmlGetCPER_v1_t *cper)", since="13.3")
def nvmlSystemGetCPER_v1(cper: nvmlGetCPER_v1_t | None) -> tuple[nvmlReturn_t]:
    """Write the error records behind the cursor of `cper` to its buffer."""


# -- Unit Queries --------------------------------------------------------------------------------------


@libnvml("nvmlReturn_t nvmlUnitGetCount(unsigned int *unitCount)")
def nvmlUnitGetCount() -> tuple[nvmlReturn_t, int]:
    """Return the number of S-class units."""


@libnvml("nvmlReturn_t nvmlUnitGetHandleByIndex(unsigned int index, nvmlUnit_t *unit)")
def nvmlUnitGetHandleByIndex(index: int) -> tuple[nvmlReturn_t, nvmlUnit_t]:
    """Return the unit of number `index`, from 0."""


@libnvml("nvmlReturn_t nvmlUnitGetUnitInfo(nvmlUnit_t unit, nvmlUnitInfo_t *info)")
def nvmlUnitGetUnitInfo(unit: nvmlUnit_t | int | None) -> tuple[nvmlReturn_t, nvmlUnitInfo_t]:
    """Return the name, serial number and firmware of `unit`."""


@libnvml("nvmlReturn_t nvmlUnitGetLedState(nvmlUnit_t unit, nvmlLedState_t *state)")
def nvmlUnitGetLedState(unit: nvmlUnit_t | int | None) -> tuple[nvmlReturn_t, nvmlLedState_t]:
    """Return the colour of the light of `unit`, and why it has it."""


@libnvml("nvmlReturn_t nvmlUnitGetPsuInfo(nvmlUnit_t unit, nvmlPSUInfo_t *psu)")
def nvmlUnitGetPsuInfo(unit: nvmlUnit_t | int | None) -> tuple[nvmlReturn_t, nvmlPSUInfo_t]:
    """Return the state of the power supply of `unit`: amperes, volts, watts."""


@libnvml("nvmlReturn_t nvmlUnitGetTemperature(nvmlUnit_t unit, unsigned int type, unsigned int *temp)")
def nvmlUnitGetTemperature(unit: nvmlUnit_t | int | None, typename: int) -> tuple[nvmlReturn_t, int]:
    """Return a temperature of `unit` in degrees C; `type` 0 is the intake, 1 the exhaust, 2 the board."""


@libnvml("nvmlReturn_t nvmlUnitGetFanSpeedInfo(nvmlUnit_t unit, nvmlUnitFanSpeeds_t *fanSpeeds)")
def nvmlUnitGetFanSpeedInfo(unit: nvmlUnit_t | int | None) -> tuple[nvmlReturn_t, nvmlUnitFanSpeeds_t]:
    """Return the speed of each fan of `unit`, in revolutions a minute."""


@libnvml(
    "nvmlReturn_t nvmlUnitGetDevices(nvmlUnit_t unit, unsigned int *deviceCount, nvmlDevice_t *devices)",
    sizes={"devices": "deviceCount"},
)
def nvmlUnitGetDevices(
    unit: nvmlUnit_t | int | None, deviceCount: int | None = None
) -> tuple[nvmlReturn_t, int, list[nvmlDevice_t]]:
    """Return the GPUs in `unit`."""


# -- Device Queries ------------------------------------------------------------------------------------


@libnvml("nvmlReturn_t nvmlDeviceGetCount_v2(unsigned int *deviceCount)")
def nvmlDeviceGetCount() -> tuple[nvmlReturn_t, int]:
    """Return the number of GPUs, those without permission for this process included."""


nvmlDeviceGetCount_v2 = nvmlDeviceGetCount


@libnvml("nvmlReturn_t nvmlDeviceGetAttributes_v2(nvmlDevice_t device, nvmlDeviceAttributes_t *attributes)")
def nvmlDeviceGetAttributes(device: nvmlDevice_t | int | None) -> tuple[nvmlReturn_t, nvmlDeviceAttributes_t]:
    """Return how many multiprocessors, engines and how much memory a MIG device has."""


nvmlDeviceGetAttributes_v2 = nvmlDeviceGetAttributes


@libnvml("nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned int index, nvmlDevice_t *device)")
def nvmlDeviceGetHandleByIndex(index: int) -> tuple[nvmlReturn_t, nvmlDevice_t]:
    """Return the GPU of number `index`, from 0; the numbers need not be those of CUDA, nor stay after a
    reboot.
    """


nvmlDeviceGetHandleByIndex_v2 = nvmlDeviceGetHandleByIndex


@libnvml("nvmlReturn_t nvmlDeviceGetHandleBySerial(const char *serial, nvmlDevice_t *device)")
def nvmlDeviceGetHandleBySerial(serial: bytes | None) -> tuple[nvmlReturn_t, nvmlDevice_t]:
    """Return the GPU with the serial number `serial`, which boards with several GPUs share."""


@libnvml("nvmlReturn_t nvmlDeviceGetHandleByUUID(const char *uuid, nvmlDevice_t *device)")
def nvmlDeviceGetHandleByUUID(uuid: bytes | None) -> tuple[nvmlReturn_t, nvmlDevice_t]:
    """Return the GPU or MIG device with the text `uuid`, such as b"GPU-..."."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetHandleByUUIDV(const nvmlUUID_t *uuid, nvmlDevice_t *device)",
    since="12.9",
)
def nvmlDeviceGetHandleByUUIDV(uuid: nvmlUUID_t | None) -> tuple[nvmlReturn_t, nvmlDevice_t]:
    """Return the GPU or MIG device with a `uuid` that is text or 16 bytes."""


@libnvml("nvmlReturn_t nvmlDeviceGetHandleByPciBusId_v2(const char *pciBusId, nvmlDevice_t *device)")
def nvmlDeviceGetHandleByPciBusId(pciBusId: bytes | None) -> tuple[nvmlReturn_t, nvmlDevice_t]:
    """Return the GPU at the address `pciBusId`, such as b"0000:01:00.0"."""


nvmlDeviceGetHandleByPciBusId_v2 = nvmlDeviceGetHandleByPciBusId


@libnvml(
    "nvmlReturn_t nvmlDeviceGetName(nvmlDevice_t device, char *name, unsigned int length)",
    sizes={"name": "length"},
)
def nvmlDeviceGetName(device: nvmlDevice_t | int | None, length: int = 96) -> tuple[nvmlReturn_t, bytes]:
    """Return the name of the product, such as b"NVIDIA H200", in `length` bytes."""


@libnvml("nvmlReturn_t nvmlDeviceGetBrand(nvmlDevice_t device, nvmlBrandType_t *type)")
def nvmlDeviceGetBrand(device: nvmlDevice_t | int | None) -> tuple[nvmlReturn_t, nvmlBrandType_t]:
    """Return the brand of `device`."""


@libnvml("nvmlReturn_t nvmlDeviceGetIndex(nvmlDevice_t device, unsigned int *index)")
def nvmlDeviceGetIndex(device: nvmlDevice_t | int | None) -> tuple[nvmlReturn_t, int]:
    """Return the number of `device`."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetSerial(nvmlDevice_t device, char *serial, unsigned int length)",
    sizes={"serial": "length"},
)
def nvmlDeviceGetSerial(device: nvmlDevice_t | int | None, length: int = 30) -> tuple[nvmlReturn_t, bytes]:
    """Return the serial number that is printed on the board, in `length` bytes."""


@libnvml("nvmlReturn_t nvmlDeviceGetModuleId(nvmlDevice_t device, unsigned int *moduleId)", since="12.2")
def nvmlDeviceGetModuleId(device: nvmlDevice_t | int | None) -> tuple[nvmlReturn_t, int]:
    """Return the number of the module that `device` is on in its base board."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetC2cModeInfoV(nvmlDevice_t device, nvmlC2cModeInfo_v1_t *c2cModeInfo)",
    since="12.3",
)
def nvmlDeviceGetC2cModeInfoV(device: nvmlDevice_t | int | None) -> tuple[nvmlReturn_t, nvmlC2cModeInfo_v1_t]:
    """Return whether the chip-to-chip link of `device` is on."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetTopologyCommonAncestor(nvmlDevice_t device1, nvmlDevice_t device2, "
    "nvmlGpuTopologyLevel_t *pathInfo)"
)
def nvmlDeviceGetTopologyCommonAncestor(
    device1: nvmlDevice_t | int | None, device2: nvmlDevice_t | int | None
) -> tuple[nvmlReturn_t, nvmlGpuTopologyLevel_t]:
    """Return how near two GPUs are: the first thing on both their ways to the CPU."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetTopologyNearestGpus(nvmlDevice_t device, nvmlGpuTopologyLevel_t level, "
    "unsigned int *count, nvmlDevice_t *deviceArray)",
    sizes={"deviceArray": "count"},
)
def nvmlDeviceGetTopologyNearestGpus(
    device: nvmlDevice_t | int | None, level: nvmlGpuTopologyLevel_t | int, count: int | None = None
) -> tuple[nvmlReturn_t, int, list[nvmlDevice_t]]:
    """Return the GPUs whose common ancestor with `device` is at `level`."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetP2PStatus(nvmlDevice_t device1, nvmlDevice_t device2, "
    "nvmlGpuP2PCapsIndex_t p2pIndex, nvmlGpuP2PStatus_t *p2pStatus)"
)
def nvmlDeviceGetP2PStatus(
    device1: nvmlDevice_t | int | None,
    device2: nvmlDevice_t | int | None,
    p2pIndex: nvmlGpuP2PCapsIndex_t | int,
) -> tuple[nvmlReturn_t, nvmlGpuP2PStatus_t]:
    """Return whether two GPUs can do what `p2pIndex` names to each other, and if not, why."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetUUID(nvmlDevice_t device, char *uuid, unsigned int length)",
    sizes={"uuid": "length"},
)
def nvmlDeviceGetUUID(device: nvmlDevice_t | int | None, length: int = 96) -> tuple[nvmlReturn_t, bytes]:
    """Return the UUID of `device` as text, in `length` bytes."""


@libnvml("nvmlReturn_t nvmlDeviceGetMinorNumber(nvmlDevice_t device, unsigned int *minorNumber)")
def nvmlDeviceGetMinorNumber(device: nvmlDevice_t | int | None) -> tuple[nvmlReturn_t, int]:
    """Return the N of /dev/nvidiaN."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetBoardPartNumber(nvmlDevice_t device, char *partNumber, unsigned int length)",
    sizes={"partNumber": "length"},
)
def nvmlDeviceGetBoardPartNumber(
    device: nvmlDevice_t | int | None, length: int = 80
) -> tuple[nvmlReturn_t, bytes]:
    """Return the part number of the board, in `length` bytes."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetInforomVersion(nvmlDevice_t device, nvmlInforomObject_t object, "
    "char *version, unsigned int length)",
    sizes={"version": "length"},
)
def nvmlDeviceGetInforomVersion(
    device: nvmlDevice_t | int | None, object: nvmlInforomObject_t | int, length: int = 16
) -> tuple[nvmlReturn_t, bytes]:
    """Return the version of the part `object` of the infoROM, in `length` bytes."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetInforomImageVersion(nvmlDevice_t device, char *version, unsigned int length)",
    sizes={"version": "length"},
)
def nvmlDeviceGetInforomImageVersion(
    device: nvmlDevice_t | int | None, length: int = 16
) -> tuple[nvmlReturn_t, bytes]:
    """Return the version of the infoROM, in `length` bytes."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetInforomConfigurationChecksum(nvmlDevice_t device, unsigned int *checksum)"
)
def nvmlDeviceGetInforomConfigurationChecksum(device: nvmlDevice_t | int | None) -> tuple[nvmlReturn_t, int]:
    """Return a checksum of what is stored in the infoROM."""


@libnvml("nvmlReturn_t nvmlDeviceValidateInforom(nvmlDevice_t device)")
def nvmlDeviceValidateInforom(device: nvmlDevice_t | int | None) -> tuple[nvmlReturn_t]:
    """Check that the infoROM is not corrupted."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetLastBBXFlushTime(nvmlDevice_t device, unsigned long long *timestamp, "
    "unsigned long *durationUs)",
    since="12.3",
)
def nvmlDeviceGetLastBBXFlushTime(device: nvmlDevice_t | int | None) -> tuple[nvmlReturn_t, int, int]:
    """Return when the black box was last written, in microseconds, and how long that took."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetBBXTimeData_v1(nvmlDevice_t device, nvmlBBXTimeData_v1_t *timeData)",
    since="13.3",
)
def nvmlDeviceGetBBXTimeData_v1(
    device: nvmlDevice_t | int | None,
) -> tuple[nvmlReturn_t, nvmlBBXTimeData_v1_t]:
    """Return how long the GPU has run, by its black box, in seconds."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetGpuUptime_v1(nvmlDevice_t device, nvmlGpuUptime_v1_t *uptime)",
    since="13.5",
)
def nvmlDeviceGetGpuUptime_v1(device: nvmlDevice_t | int | None) -> tuple[nvmlReturn_t, nvmlGpuUptime_v1_t]:
    """Return the time since the GPU started, in seconds."""


@libnvml("nvmlReturn_t nvmlDeviceGetDisplayMode(nvmlDevice_t device, nvmlEnableState_t *display)")
def nvmlDeviceGetDisplayMode(device: nvmlDevice_t | int | None) -> tuple[nvmlReturn_t, nvmlEnableState_t]:
    """Return whether a display is connected to `device`."""


@libnvml("nvmlReturn_t nvmlDeviceGetDisplayActive(nvmlDevice_t device, nvmlEnableState_t *isActive)")
def nvmlDeviceGetDisplayActive(device: nvmlDevice_t | int | None) -> tuple[nvmlReturn_t, nvmlEnableState_t]:
    """Return whether a display is in use on `device`, connected or not."""


@libnvml("nvmlReturn_t nvmlDeviceGetPersistenceMode(nvmlDevice_t device, nvmlEnableState_t *mode)")
def nvmlDeviceGetPersistenceMode(device: nvmlDevice_t | int | None) -> tuple[nvmlReturn_t, nvmlEnableState_t]:
    """Return whether the driver stays loaded for `device` while nobody uses it."""


@libnvml("nvmlReturn_t nvmlDeviceGetPciInfoExt(nvmlDevice_t device, nvmlPciInfoExt_t *pci)", since="12.4")
def nvmlDeviceGetPciInfoExt(device: nvmlDevice_t | int | None) -> tuple[nvmlReturn_t, nvmlPciInfoExt_t]:
    """Return where `device` is on the PCI bus, with its class."""


@libnvml("nvmlReturn_t nvmlDeviceGetPciInfo_v3(nvmlDevice_t device, nvmlPciInfo_t *pci)")
def nvmlDeviceGetPciInfo(device: nvmlDevice_t | int | None) -> tuple[nvmlReturn_t, nvmlPciInfo_t]:
    """Return where `device` is on the PCI bus."""


nvmlDeviceGetPciInfo_v3 = nvmlDeviceGetPciInfo


@libnvml("nvmlReturn_t nvmlDeviceGetMaxPcieLinkGeneration(nvmlDevice_t device, unsigned int *maxLinkGen)")
def nvmlDeviceGetMaxPcieLinkGeneration(device: nvmlDevice_t | int | None) -> tuple[nvmlReturn_t, int]:
    """Return the highest PCIe generation that `device` and the system can have."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetGpuMaxPcieLinkGeneration(nvmlDevice_t device, unsigned int *maxLinkGenDevice)"
)
def nvmlDeviceGetGpuMaxPcieLinkGeneration(device: nvmlDevice_t | int | None) -> tuple[nvmlReturn_t, int]:
    """Return the highest PCIe generation that `device` can have."""


@libnvml("nvmlReturn_t nvmlDeviceGetMaxPcieLinkWidth(nvmlDevice_t device, unsigned int *maxLinkWidth)")
def nvmlDeviceGetMaxPcieLinkWidth(device: nvmlDevice_t | int | None) -> tuple[nvmlReturn_t, int]:
    """Return the largest number of PCIe lanes that `device` and the system can have."""


@libnvml("nvmlReturn_t nvmlDeviceGetCurrPcieLinkGeneration(nvmlDevice_t device, unsigned int *currLinkGen)")
def nvmlDeviceGetCurrPcieLinkGeneration(device: nvmlDevice_t | int | None) -> tuple[nvmlReturn_t, int]:
    """Return the PCIe generation that is in use."""


@libnvml("nvmlReturn_t nvmlDeviceGetCurrPcieLinkWidth(nvmlDevice_t device, unsigned int *currLinkWidth)")
def nvmlDeviceGetCurrPcieLinkWidth(device: nvmlDevice_t | int | None) -> tuple[nvmlReturn_t, int]:
    """Return the number of PCIe lanes that are in use."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetPcieThroughput(nvmlDevice_t device, nvmlPcieUtilCounter_t counter, "
    "unsigned int *value)"
)
def nvmlDeviceGetPcieThroughput(
    device: nvmlDevice_t | int | None, counter: nvmlPcieUtilCounter_t | int
) -> tuple[nvmlReturn_t, int]:
    """Return the PCIe traffic of the last 20 ms that `counter` names, in KB/s."""


@libnvml("nvmlReturn_t nvmlDeviceGetPcieReplayCounter(nvmlDevice_t device, unsigned int *value)")
def nvmlDeviceGetPcieReplayCounter(device: nvmlDevice_t | int | None) -> tuple[nvmlReturn_t, int]:
    """Return how often packets had to be sent again over PCIe."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetClockInfo(nvmlDevice_t device, nvmlClockType_t type, unsigned int *clock)"
)
def nvmlDeviceGetClockInfo(
    device: nvmlDevice_t | int | None, typename: nvmlClockType_t | int
) -> tuple[nvmlReturn_t, int]:
    """Return the clock `type` as it is now, in MHz."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetMaxClockInfo(nvmlDevice_t device, nvmlClockType_t type, unsigned int *clock)"
)
def nvmlDeviceGetMaxClockInfo(
    device: nvmlDevice_t | int | None, typename: nvmlClockType_t | int
) -> tuple[nvmlReturn_t, int]:
    """Return the highest clock `type`, in MHz."""


@libnvml("nvmlReturn_t nvmlDeviceGetGpcClkVfOffset(nvmlDevice_t device, int *offset)")
def nvmlDeviceGetGpcClkVfOffset(device: nvmlDevice_t | int | None) -> tuple[nvmlReturn_t, int]:
    """Return the offset of the graphics clock's curve, in MHz; deprecated for nvmlDeviceGetClockOffsets."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetApplicationsClock(nvmlDevice_t device, nvmlClockType_t clockType, "
    "unsigned int *clockMHz)"
)
def nvmlDeviceGetApplicationsClock(
    device: nvmlDevice_t | int | None, clockType: nvmlClockType_t | int
) -> tuple[nvmlReturn_t, int]:
    """Return the clock that applications run at, in MHz; deprecated, locked clocks take its place."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetDefaultApplicationsClock(nvmlDevice_t device, nvmlClockType_t clockType, "
    "unsigned int *clockMHz)"
)
def nvmlDeviceGetDefaultApplicationsClock(
    device: nvmlDevice_t | int | None, clockType: nvmlClockType_t | int
) -> tuple[nvmlReturn_t, int]:
    """Return the clock that applications run at by default, in MHz; deprecated."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetClock(nvmlDevice_t device, nvmlClockType_t clockType, nvmlClockId_t clockId, "
    "unsigned int *clockMHz)"
)
def nvmlDeviceGetClock(
    device: nvmlDevice_t | int | None, clockType: nvmlClockType_t | int, clockId: nvmlClockId_t | int
) -> tuple[nvmlReturn_t, int]:
    """Return the clock `clockType` that `clockId` names, in MHz."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetMaxCustomerBoostClock(nvmlDevice_t device, nvmlClockType_t clockType, "
    "unsigned int *clockMHz)"
)
def nvmlDeviceGetMaxCustomerBoostClock(
    device: nvmlDevice_t | int | None, clockType: nvmlClockType_t | int
) -> tuple[nvmlReturn_t, int]:
    """Return the highest boost clock that may be set, in MHz."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetSupportedMemoryClocks(nvmlDevice_t device, unsigned int *count, "
    "unsigned int *clocksMHz)",
    sizes={"clocksMHz": "count"},
)
def nvmlDeviceGetSupportedMemoryClocks(
    device: nvmlDevice_t | int | None, count: int | None = None
) -> tuple[nvmlReturn_t, int, list[int]]:
    """Return the memory clocks that can be locked, in MHz."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetSupportedGraphicsClocks(nvmlDevice_t device, unsigned int memoryClockMHz, "
    "unsigned int *count, unsigned int *clocksMHz)",
    sizes={"clocksMHz": "count"},
)
def nvmlDeviceGetSupportedGraphicsClocks(
    device: nvmlDevice_t | int | None, memoryClockMHz: int, count: int | None = None
) -> tuple[nvmlReturn_t, int, list[int]]:
    """Return the graphics clocks that go with a memory clock of `memoryClockMHz`, in MHz."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetAutoBoostedClocksEnabled(nvmlDevice_t device, nvmlEnableState_t *isEnabled, "
    "nvmlEnableState_t *defaultIsEnabled)"
)
def nvmlDeviceGetAutoBoostedClocksEnabled(
    device: nvmlDevice_t | int | None,
) -> tuple[nvmlReturn_t, nvmlEnableState_t, nvmlEnableState_t]:
    """Return whether clocks boost by themselves, and whether they do by default."""


@libnvml("nvmlReturn_t nvmlDeviceGetFanSpeed(nvmlDevice_t device, unsigned int *speed)")
def nvmlDeviceGetFanSpeed(device: nvmlDevice_t | int | None) -> tuple[nvmlReturn_t, int]:
    """Return the speed that the first fan is meant to have, in percent of the highest."""


@libnvml("nvmlReturn_t nvmlDeviceGetFanSpeed_v2(nvmlDevice_t device, unsigned int fan, unsigned int *speed)")
def nvmlDeviceGetFanSpeed_v2(device: nvmlDevice_t | int | None, fan: int) -> tuple[nvmlReturn_t, int]:
    """Return the speed that `fan` is meant to have, in percent of the highest."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetFanSpeedRPM(nvmlDevice_t device, nvmlFanSpeedInfo_t *fanSpeed)",
    since="12.8",
)
def nvmlDeviceGetFanSpeedRPM(
    device: nvmlDevice_t | int | None, fanSpeed: nvmlFanSpeedInfo_t | None
) -> tuple[nvmlReturn_t]:
    """Write the revolutions a minute of the fan that `fanSpeed` names to it."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetTargetFanSpeed(nvmlDevice_t device, unsigned int fan, "
    "unsigned int *targetSpeed)"
)
def nvmlDeviceGetTargetFanSpeed(device: nvmlDevice_t | int | None, fan: int) -> tuple[nvmlReturn_t, int]:
    """Return the speed that `fan` is driven to, in percent of the highest."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetMinMaxFanSpeed(nvmlDevice_t device, unsigned int *minSpeed, "
    "unsigned int *maxSpeed)"
)
def nvmlDeviceGetMinMaxFanSpeed(device: nvmlDevice_t | int | None) -> tuple[nvmlReturn_t, int, int]:
    """Return the lowest and the highest speed that a fan may be set to, in percent."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetFanControlPolicy_v2(nvmlDevice_t device, unsigned int fan, "
    "nvmlFanControlPolicy_t *policy)"
)
def nvmlDeviceGetFanControlPolicy_v2(
    device: nvmlDevice_t | int | None, fan: int
) -> tuple[nvmlReturn_t, nvmlFanControlPolicy_t]:
    """Return who controls `fan`."""


@libnvml("nvmlReturn_t nvmlDeviceGetNumFans(nvmlDevice_t device, unsigned int *numFans)")
def nvmlDeviceGetNumFans(device: nvmlDevice_t | int | None) -> tuple[nvmlReturn_t, int]:
    """Return the number of fans."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetTemperature(nvmlDevice_t device, nvmlTemperatureSensors_t sensorType, "
    "unsigned int *temp)"
)
def nvmlDeviceGetTemperature(
    device: nvmlDevice_t | int | None, sensorType: nvmlTemperatureSensors_t | int
) -> tuple[nvmlReturn_t, int]:
    """Return the temperature of the GPU, in degrees C; deprecated for nvmlDeviceGetTemperatureV."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetCoolerInfo(nvmlDevice_t device, nvmlCoolerInfo_t *coolerInfo)",
    since="12.8",
)
def nvmlDeviceGetCoolerInfo(
    device: nvmlDevice_t | int | None, coolerInfo: nvmlCoolerInfo_t | None
) -> tuple[nvmlReturn_t]:
    """Write what the cooler that `coolerInfo` names cools, and how, to it."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetTemperatureV(nvmlDevice_t device, nvmlTemperature_t *temperature)",
    since="12.8",
)
def nvmlDeviceGetTemperatureV(
    device: nvmlDevice_t | int | None, temperature: nvmlTemperature_t | None
) -> tuple[nvmlReturn_t]:
    """Write the temperature of the sensor that `temperature` names to it, in degrees C."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetTemperatureThreshold(nvmlDevice_t device, "
    "nvmlTemperatureThresholds_t thresholdType, unsigned int *temp)"
)
def nvmlDeviceGetTemperatureThreshold(
    device: nvmlDevice_t | int | None, thresholdType: nvmlTemperatureThresholds_t | int
) -> tuple[nvmlReturn_t, int]:
    """Return the temperature at which `thresholdType` happens, in degrees C."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetMarginTemperature(nvmlDevice_t device, "
    "nvmlMarginTemperature_t *marginTempInfo)",
    since="12.8",
)
def nvmlDeviceGetMarginTemperature(
    device: nvmlDevice_t | int | None,
) -> tuple[nvmlReturn_t, nvmlMarginTemperature_t]:
    """Return how far the GPU is below its slowdown temperature, in degrees C."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetThermalSettings(nvmlDevice_t device, unsigned int sensorIndex, "
    "nvmlGpuThermalSettings_t *pThermalSettings)"
)
def nvmlDeviceGetThermalSettings(
    device: nvmlDevice_t | int | None, sensorIndex: int
) -> tuple[nvmlReturn_t, nvmlGpuThermalSettings_t]:
    """Return the sensors of `device`; `sensorIndex` is one, or an nvmlThermalTarget_t for all."""


@libnvml("nvmlReturn_t nvmlDeviceGetPerformanceState(nvmlDevice_t device, nvmlPstates_t *pState)")
def nvmlDeviceGetPerformanceState(device: nvmlDevice_t | int | None) -> tuple[nvmlReturn_t, nvmlPstates_t]:
    """Return the performance state, from 0, the fastest, to 15."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetCurrentClocksEventReasons(nvmlDevice_t device, "
    "unsigned long long *clocksEventReasons)",
    since="12.2",
)
def nvmlDeviceGetCurrentClocksEventReasons(device: nvmlDevice_t | int | None) -> tuple[nvmlReturn_t, int]:
    """Return why the clocks are what they are, as nvmlClocksEventReason* bits."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetCurrentClocksThrottleReasons(nvmlDevice_t device, "
    "unsigned long long *clocksThrottleReasons)"
)
def nvmlDeviceGetCurrentClocksThrottleReasons(device: nvmlDevice_t | int | None) -> tuple[nvmlReturn_t, int]:
    """Return why the clocks are what they are; deprecated for nvmlDeviceGetCurrentClocksEventReasons."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetSupportedClocksEventReasons(nvmlDevice_t device, "
    "unsigned long long *supportedClocksEventReasons)",
    since="12.2",
)
def nvmlDeviceGetSupportedClocksEventReasons(device: nvmlDevice_t | int | None) -> tuple[nvmlReturn_t, int]:
    """Return the reasons that nvmlDeviceGetCurrentClocksEventReasons can give, as bits."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetSupportedClocksThrottleReasons(nvmlDevice_t device, "
    "unsigned long long *supportedClocksThrottleReasons)"
)
def nvmlDeviceGetSupportedClocksThrottleReasons(
    device: nvmlDevice_t | int | None,
) -> tuple[nvmlReturn_t, int]:
    """Return what reasons there can be; deprecated for nvmlDeviceGetSupportedClocksEventReasons."""


@libnvml("nvmlReturn_t nvmlDeviceGetPowerState(nvmlDevice_t device, nvmlPstates_t *pState)")
def nvmlDeviceGetPowerState(device: nvmlDevice_t | int | None) -> tuple[nvmlReturn_t, nvmlPstates_t]:
    """Return the performance state; deprecated for nvmlDeviceGetPerformanceState."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetDynamicPstatesInfo(nvmlDevice_t device, "
    "nvmlGpuDynamicPstatesInfo_t *pDynamicPstatesInfo)"
)
def nvmlDeviceGetDynamicPstatesInfo(
    device: nvmlDevice_t | int | None,
) -> tuple[nvmlReturn_t, nvmlGpuDynamicPstatesInfo_t]:
    """Return the utilization of the parts of `device` over the last second, in percent."""


@libnvml("nvmlReturn_t nvmlDeviceGetMemClkVfOffset(nvmlDevice_t device, int *offset)")
def nvmlDeviceGetMemClkVfOffset(device: nvmlDevice_t | int | None) -> tuple[nvmlReturn_t, int]:
    """Return the offset of the memory clock's curve, in MHz; deprecated for nvmlDeviceGetClockOffsets."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetMinMaxClockOfPState(nvmlDevice_t device, nvmlClockType_t type, "
    "nvmlPstates_t pstate, unsigned int *minClockMHz, unsigned int *maxClockMHz)"
)
def nvmlDeviceGetMinMaxClockOfPState(
    device: nvmlDevice_t | int | None, typename: nvmlClockType_t | int, pstate: nvmlPstates_t | int
) -> tuple[nvmlReturn_t, int, int]:
    """Return the lowest and the highest clock `type` in `pstate`, in MHz."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetSupportedPerformanceStates(nvmlDevice_t device, nvmlPstates_t *pstates, "
    "unsigned int size)",
    sizes={"pstates": "size // 4"},
)
def nvmlDeviceGetSupportedPerformanceStates(
    device: nvmlDevice_t | int | None, size: int = 64
) -> tuple[nvmlReturn_t, list[nvmlPstates_t]]:
    """Return the performance states, in `size` bytes of four each; what is not used is
    NVML_PSTATE_UNKNOWN.
    """


@libnvml(
    "nvmlReturn_t nvmlDeviceGetGpcClkMinMaxVfOffset(nvmlDevice_t device, int *minOffset, int *maxOffset)"
)
def nvmlDeviceGetGpcClkMinMaxVfOffset(device: nvmlDevice_t | int | None) -> tuple[nvmlReturn_t, int, int]:
    """Return the lowest and the highest offset of the graphics clock's curve, in MHz."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetMemClkMinMaxVfOffset(nvmlDevice_t device, int *minOffset, int *maxOffset)"
)
def nvmlDeviceGetMemClkMinMaxVfOffset(device: nvmlDevice_t | int | None) -> tuple[nvmlReturn_t, int, int]:
    """Return the lowest and the highest offset of the memory clock's curve, in MHz."""


@libnvml("nvmlReturn_t nvmlDeviceGetClockOffsets(nvmlDevice_t device, nvmlClockOffset_t *info)", since="12.5")
def nvmlDeviceGetClockOffsets(
    device: nvmlDevice_t | int | None, info: nvmlClockOffset_t | None
) -> tuple[nvmlReturn_t]:
    """Write the offset of the clock and performance state that `info` names, and its limits, to it, in
    MHz.
    """


@libnvml("nvmlReturn_t nvmlDeviceSetClockOffsets(nvmlDevice_t device, nvmlClockOffset_t *info)", since="12.5")
def nvmlDeviceSetClockOffsets(
    device: nvmlDevice_t | int | None, info: nvmlClockOffset_t | None
) -> tuple[nvmlReturn_t]:
    """Set the offset of the clock and performance state that `info` names, in MHz."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetPerformanceModes(nvmlDevice_t device, nvmlDevicePerfModes_t *perfModes)",
    since="12.8",
)
def nvmlDeviceGetPerformanceModes(
    device: nvmlDevice_t | int | None,
) -> tuple[nvmlReturn_t, nvmlDevicePerfModes_t]:
    """Return the performance modes as text of keys and values."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetCurrentClockFreqs(nvmlDevice_t device, "
    "nvmlDeviceCurrentClockFreqs_t *currentClockFreqs)",
    since="12.8",
)
def nvmlDeviceGetCurrentClockFreqs(
    device: nvmlDevice_t | int | None,
) -> tuple[nvmlReturn_t, nvmlDeviceCurrentClockFreqs_t]:
    """Return the clocks as text of keys and values."""


@libnvml("nvmlReturn_t nvmlDeviceGetPowerManagementMode(nvmlDevice_t device, nvmlEnableState_t *mode)")
def nvmlDeviceGetPowerManagementMode(
    device: nvmlDevice_t | int | None,
) -> tuple[nvmlReturn_t, nvmlEnableState_t]:
    """Return whether power management is on; deprecated."""


@libnvml("nvmlReturn_t nvmlDeviceGetPowerManagementLimit(nvmlDevice_t device, unsigned int *limit)")
def nvmlDeviceGetPowerManagementLimit(device: nvmlDevice_t | int | None) -> tuple[nvmlReturn_t, int]:
    """Return the power limit that was set, in milliwatts."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetPowerManagementLimitConstraints(nvmlDevice_t device, unsigned int *minLimit, "
    "unsigned int *maxLimit)"
)
def nvmlDeviceGetPowerManagementLimitConstraints(
    device: nvmlDevice_t | int | None,
) -> tuple[nvmlReturn_t, int, int]:
    """Return the lowest and the highest power limit, in milliwatts."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetPowerManagementDefaultLimit(nvmlDevice_t device, unsigned int *defaultLimit)"
)
def nvmlDeviceGetPowerManagementDefaultLimit(device: nvmlDevice_t | int | None) -> tuple[nvmlReturn_t, int]:
    """Return the power limit that there is by default, in milliwatts."""


@libnvml("nvmlReturn_t nvmlDeviceGetPowerUsage(nvmlDevice_t device, unsigned int *power)")
def nvmlDeviceGetPowerUsage(device: nvmlDevice_t | int | None) -> tuple[nvmlReturn_t, int]:
    """Return the power that the board draws, in milliwatts, averaged over a second on newer devices."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetPowerMizerMode_v1(nvmlDevice_t device, "
    "nvmlDevicePowerMizerModes_v1_t *powerMizerMode)",
    since="13.0",
)
def nvmlDeviceGetPowerMizerMode_v1(
    device: nvmlDevice_t | int | None,
) -> tuple[nvmlReturn_t, nvmlDevicePowerMizerModes_v1_t]:
    """Return the PowerMizer mode, and those that there are."""


@libnvml(
    "nvmlReturn_t nvmlDeviceSetPowerMizerMode_v1(nvmlDevice_t device, "
    "nvmlDevicePowerMizerModes_v1_t *powerMizerMode)",
    since="13.0",
)
def nvmlDeviceSetPowerMizerMode_v1(
    device: nvmlDevice_t | int | None, powerMizerMode: nvmlDevicePowerMizerModes_v1_t | None
) -> tuple[nvmlReturn_t]:
    """Set the PowerMizer mode."""


@libnvml("nvmlReturn_t nvmlDeviceGetTotalEnergyConsumption(nvmlDevice_t device, unsigned long long *energy)")
def nvmlDeviceGetTotalEnergyConsumption(device: nvmlDevice_t | int | None) -> tuple[nvmlReturn_t, int]:
    """Return the energy that `device` used since the driver was loaded, in millijoules."""


@libnvml("nvmlReturn_t nvmlDeviceGetEnforcedPowerLimit(nvmlDevice_t device, unsigned int *limit)")
def nvmlDeviceGetEnforcedPowerLimit(device: nvmlDevice_t | int | None) -> tuple[nvmlReturn_t, int]:
    """Return the power limit that is in force, the lowest of all that apply, in milliwatts."""


@libnvml(
    "nvmlReturn_t nvmlDeviceSetAdaptiveTgpMode_v1(nvmlDevice_t device, nvmlEnableState_t mode)",
    since="13.4",
)
def nvmlDeviceSetAdaptiveTgpMode_v1(
    device: nvmlDevice_t | int | None, mode: nvmlEnableState_t | int
) -> tuple[nvmlReturn_t]:
    """Switch the adaptive power limit."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetAdaptiveTgpModeInfo_v1(nvmlDevice_t device, "
    "nvmlAdaptiveTgpModeInfo_v1_t *info)",
    since="13.4",
)
def nvmlDeviceGetAdaptiveTgpModeInfo_v1(
    device: nvmlDevice_t | int | None,
) -> tuple[nvmlReturn_t, nvmlAdaptiveTgpModeInfo_v1_t]:
    """Return how the adaptive power limit is set, and whether it is in force."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetGpuOperationMode(nvmlDevice_t device, nvmlGpuOperationMode_t *current, "
    "nvmlGpuOperationMode_t *pending)"
)
def nvmlDeviceGetGpuOperationMode(
    device: nvmlDevice_t | int | None,
) -> tuple[nvmlReturn_t, nvmlGpuOperationMode_t, nvmlGpuOperationMode_t]:
    """Return the operation mode, and that after the next reboot."""


@libnvml("nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t device, nvmlMemory_t *memory)")
def nvmlDeviceGetMemoryInfo(device: nvmlDevice_t | int | None) -> tuple[nvmlReturn_t, nvmlMemory_t]:
    """Return how much memory is there, used and free, in bytes; used includes what is reserved."""


@libnvml("nvmlReturn_t nvmlDeviceGetMemoryInfo_v2(nvmlDevice_t device, nvmlMemory_v2_t *memory)")
def nvmlDeviceGetMemoryInfo_v2(device: nvmlDevice_t | int | None) -> tuple[nvmlReturn_t, nvmlMemory_v2_t]:
    """Return how much memory is there, reserved, used and free, in bytes."""


@libnvml(
    "nvmlReturn_t nvmlDeviceSetMemoryLimits_v1(nvmlDevice_t device, nvmlSetMemoryLimits_v1_t *limits)",
    since="13.4",
)
def nvmlDeviceSetMemoryLimits_v1(
    device: nvmlDevice_t | int | None, limits: nvmlSetMemoryLimits_v1_t | None
) -> tuple[nvmlReturn_t]:
    """Set the limits of the memory of a name space, in bytes."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetMemoryLimits_v1(nvmlDevice_t device, nvmlGetMemoryLimits_v1_t *limits)",
    since="13.4",
)
def nvmlDeviceGetMemoryLimits_v1(
    device: nvmlDevice_t | int | None, limits: nvmlGetMemoryLimits_v1_t | None
) -> tuple[nvmlReturn_t]:
    """Write the limits of the memory of the name space that `limits` names to it, in bytes."""


@libnvml("nvmlReturn_t nvmlDeviceGetComputeMode(nvmlDevice_t device, nvmlComputeMode_t *mode)")
def nvmlDeviceGetComputeMode(device: nvmlDevice_t | int | None) -> tuple[nvmlReturn_t, nvmlComputeMode_t]:
    """Return who may use `device` for compute."""


@libnvml("nvmlReturn_t nvmlDeviceGetCudaComputeCapability(nvmlDevice_t device, int *major, int *minor)")
def nvmlDeviceGetCudaComputeCapability(device: nvmlDevice_t | int | None) -> tuple[nvmlReturn_t, int, int]:
    """Return the compute capability, such as 9 and 0."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetDramEncryptionMode(nvmlDevice_t device, nvmlDramEncryptionInfo_t *current, "
    "nvmlDramEncryptionInfo_t *pending)",
    since="12.8",
)
def nvmlDeviceGetDramEncryptionMode(
    device: nvmlDevice_t | int | None,
) -> tuple[nvmlReturn_t, nvmlDramEncryptionInfo_t, nvmlDramEncryptionInfo_t]:
    """Return whether the memory is encrypted, and whether it is after the next reboot."""


@libnvml(
    "nvmlReturn_t nvmlDeviceSetDramEncryptionMode(nvmlDevice_t device, "
    "const nvmlDramEncryptionInfo_t *dramEncryption)",
    since="12.8",
)
def nvmlDeviceSetDramEncryptionMode(
    device: nvmlDevice_t | int | None, dramEncryption: nvmlDramEncryptionInfo_t | None
) -> tuple[nvmlReturn_t]:
    """Switch the encryption of the memory from the next reboot on."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetEccMode(nvmlDevice_t device, nvmlEnableState_t *current, "
    "nvmlEnableState_t *pending)"
)
def nvmlDeviceGetEccMode(
    device: nvmlDevice_t | int | None,
) -> tuple[nvmlReturn_t, nvmlEnableState_t, nvmlEnableState_t]:
    """Return whether ECC is on, and whether it is after the next reboot."""


@libnvml("nvmlReturn_t nvmlDeviceGetDefaultEccMode(nvmlDevice_t device, nvmlEnableState_t *defaultMode)")
def nvmlDeviceGetDefaultEccMode(device: nvmlDevice_t | int | None) -> tuple[nvmlReturn_t, nvmlEnableState_t]:
    """Return whether ECC is on by default."""


@libnvml("nvmlReturn_t nvmlDeviceGetBoardId(nvmlDevice_t device, unsigned int *boardId)")
def nvmlDeviceGetBoardId(device: nvmlDevice_t | int | None) -> tuple[nvmlReturn_t, int]:
    """Return a number that the GPUs of one board share."""


@libnvml("nvmlReturn_t nvmlDeviceGetMultiGpuBoard(nvmlDevice_t device, unsigned int *multiGpuBool)")
def nvmlDeviceGetMultiGpuBoard(device: nvmlDevice_t | int | None) -> tuple[nvmlReturn_t, int]:
    """Return 1 if the board has several GPUs."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetTotalEccErrors(nvmlDevice_t device, nvmlMemoryErrorType_t errorType, "
    "nvmlEccCounterType_t counterType, unsigned long long *eccCounts)"
)
def nvmlDeviceGetTotalEccErrors(
    device: nvmlDevice_t | int | None,
    errorType: nvmlMemoryErrorType_t | int,
    counterType: nvmlEccCounterType_t | int,
) -> tuple[nvmlReturn_t, int]:
    """Return how many ECC errors there were in all, of one type and since one time."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetDetailedEccErrors(nvmlDevice_t device, nvmlMemoryErrorType_t errorType, "
    "nvmlEccCounterType_t counterType, nvmlEccErrorCounts_t *eccCounts)"
)
def nvmlDeviceGetDetailedEccErrors(
    device: nvmlDevice_t | int | None,
    errorType: nvmlMemoryErrorType_t | int,
    counterType: nvmlEccCounterType_t | int,
) -> tuple[nvmlReturn_t, nvmlEccErrorCounts_t]:
    """Return how many ECC errors there were by place; deprecated for nvmlDeviceGetMemoryErrorCounter."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetMemoryErrorCounter(nvmlDevice_t device, nvmlMemoryErrorType_t errorType, "
    "nvmlEccCounterType_t counterType, nvmlMemoryLocation_t locationType, unsigned long long *count)"
)
def nvmlDeviceGetMemoryErrorCounter(
    device: nvmlDevice_t | int | None,
    errorType: nvmlMemoryErrorType_t | int,
    counterType: nvmlEccCounterType_t | int,
    locationType: nvmlMemoryLocation_t | int,
) -> tuple[nvmlReturn_t, int]:
    """Return how many memory errors there were, of one type, since one time, in one place."""


@libnvml("nvmlReturn_t nvmlDeviceGetUtilizationRates(nvmlDevice_t device, nvmlUtilization_t *utilization)")
def nvmlDeviceGetUtilizationRates(
    device: nvmlDevice_t | int | None,
) -> tuple[nvmlReturn_t, nvmlUtilization_t]:
    """Return how busy the GPU and its memory were over the last sample period, in percent."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetEncoderUtilization(nvmlDevice_t device, unsigned int *utilization, "
    "unsigned int *samplingPeriodUs)"
)
def nvmlDeviceGetEncoderUtilization(device: nvmlDevice_t | int | None) -> tuple[nvmlReturn_t, int, int]:
    """Return how busy the encoder was, in percent, and the sample period in microseconds."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetEncoderCapacity(nvmlDevice_t device, nvmlEncoderType_t encoderQueryType, "
    "unsigned int *encoderCapacity)"
)
def nvmlDeviceGetEncoderCapacity(
    device: nvmlDevice_t | int | None, encoderQueryType: nvmlEncoderType_t | int
) -> tuple[nvmlReturn_t, int]:
    """Return how much of the encoder is free for `encoderQueryType`, in percent."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetEncoderStats(nvmlDevice_t device, unsigned int *sessionCount, "
    "unsigned int *averageFps, unsigned int *averageLatency)"
)
def nvmlDeviceGetEncoderStats(device: nvmlDevice_t | int | None) -> tuple[nvmlReturn_t, int, int, int]:
    """Return the number of encoder sessions, their average frames a second and latency in microseconds."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetEncoderSessions(nvmlDevice_t device, unsigned int *sessionCount, "
    "nvmlEncoderSessionInfo_t *sessionInfos)",
    sizes={"sessionInfos": "sessionCount"},
)
def nvmlDeviceGetEncoderSessions(
    device: nvmlDevice_t | int | None, sessionCount: int | None = None
) -> tuple[nvmlReturn_t, int, list[nvmlEncoderSessionInfo_t]]:
    """Return the encoder sessions."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetDecoderUtilization(nvmlDevice_t device, unsigned int *utilization, "
    "unsigned int *samplingPeriodUs)"
)
def nvmlDeviceGetDecoderUtilization(device: nvmlDevice_t | int | None) -> tuple[nvmlReturn_t, int, int]:
    """Return how busy the decoder was, in percent, and the sample period in microseconds."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetJpgUtilization(nvmlDevice_t device, unsigned int *utilization, "
    "unsigned int *samplingPeriodUs)",
    since="12.2",
)
def nvmlDeviceGetJpgUtilization(device: nvmlDevice_t | int | None) -> tuple[nvmlReturn_t, int, int]:
    """Return how busy the JPEG engine was, in percent, and the sample period in microseconds."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetOfaUtilization(nvmlDevice_t device, unsigned int *utilization, "
    "unsigned int *samplingPeriodUs)",
    since="12.2",
)
def nvmlDeviceGetOfaUtilization(device: nvmlDevice_t | int | None) -> tuple[nvmlReturn_t, int, int]:
    """Return how busy the optical flow accelerator was, in percent, and the sample period in microseconds."""


@libnvml("nvmlReturn_t nvmlDeviceGetFBCStats(nvmlDevice_t device, nvmlFBCStats_t *fbcStats)")
def nvmlDeviceGetFBCStats(device: nvmlDevice_t | int | None) -> tuple[nvmlReturn_t, nvmlFBCStats_t]:
    """Return the number of frame buffer capture sessions, their average frames a second and latency."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetFBCSessions(nvmlDevice_t device, unsigned int *sessionCount, "
    "nvmlFBCSessionInfo_t *sessionInfo)",
    sizes={"sessionInfo": "sessionCount"},
)
def nvmlDeviceGetFBCSessions(
    device: nvmlDevice_t | int | None, sessionCount: int | None = None
) -> tuple[nvmlReturn_t, int, list[nvmlFBCSessionInfo_t]]:
    """Return the frame buffer capture sessions."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetDriverModel_v2(nvmlDevice_t device, nvmlDriverModel_t *current, "
    "nvmlDriverModel_t *pending)",
    since="12.5",
    before="nvmlDeviceGetDriverModel",
)
def nvmlDeviceGetDriverModel(
    device: nvmlDevice_t | int | None,
) -> tuple[nvmlReturn_t, nvmlDriverModel_t, nvmlDriverModel_t]:
    """Return the driver model, and that after the next reboot; Windows alone."""


nvmlDeviceGetDriverModel_v2 = nvmlDeviceGetDriverModel


@libnvml(
    "nvmlReturn_t nvmlDeviceGetVbiosVersion(nvmlDevice_t device, char *version, unsigned int length)",
    sizes={"version": "length"},
)
def nvmlDeviceGetVbiosVersion(
    device: nvmlDevice_t | int | None, length: int = 32
) -> tuple[nvmlReturn_t, bytes]:
    """Return the version of the VBIOS, in `length` bytes."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetBridgeChipInfo(nvmlDevice_t device, "
    "nvmlBridgeChipHierarchy_t *bridgeHierarchy)"
)
def nvmlDeviceGetBridgeChipInfo(
    device: nvmlDevice_t | int | None,
) -> tuple[nvmlReturn_t, nvmlBridgeChipHierarchy_t]:
    """Return the bridge chips on the board."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetComputeRunningProcesses_v3(nvmlDevice_t device, unsigned int *infoCount, "
    "nvmlProcessInfo_t *infos)",
    sizes={"infos": "infoCount"},
)
def nvmlDeviceGetComputeRunningProcesses(
    device: nvmlDevice_t | int | None, infoCount: int | None = None
) -> tuple[nvmlReturn_t, int, list[nvmlProcessInfo_t]]:
    """Return the processes with a compute context on `device`, and the memory that they use."""


nvmlDeviceGetComputeRunningProcesses_v3 = nvmlDeviceGetComputeRunningProcesses


@libnvml(
    "nvmlReturn_t nvmlDeviceGetGraphicsRunningProcesses_v3(nvmlDevice_t device, unsigned int *infoCount, "
    "nvmlProcessInfo_t *infos)",
    sizes={"infos": "infoCount"},
)
def nvmlDeviceGetGraphicsRunningProcesses(
    device: nvmlDevice_t | int | None, infoCount: int | None = None
) -> tuple[nvmlReturn_t, int, list[nvmlProcessInfo_t]]:
    """Return the processes with a graphics context on `device`, and the memory that they use."""


nvmlDeviceGetGraphicsRunningProcesses_v3 = nvmlDeviceGetGraphicsRunningProcesses


@libnvml(
    "nvmlReturn_t nvmlDeviceGetMPSComputeRunningProcesses_v3(nvmlDevice_t device, unsigned int *infoCount, "
    "nvmlProcessInfo_t *infos)",
    sizes={"infos": "infoCount"},
)
def nvmlDeviceGetMPSComputeRunningProcesses(
    device: nvmlDevice_t | int | None, infoCount: int | None = None
) -> tuple[nvmlReturn_t, int, list[nvmlProcessInfo_t]]:
    """Return the MPS clients with a compute context on `device`, and the memory that they use."""


nvmlDeviceGetMPSComputeRunningProcesses_v3 = nvmlDeviceGetMPSComputeRunningProcesses


@libnvml(
    "nvmlReturn_t nvmlDeviceGetRunningProcessDetailList(nvmlDevice_t device, nvmlProcessDetailList_t *plist)",
    since="12.2",
)
def nvmlDeviceGetRunningProcessDetailList(
    device: nvmlDevice_t | int | None, plist: nvmlProcessDetailList_t | None
) -> tuple[nvmlReturn_t]:
    """Write the processes of the mode that `plist` names to its array."""


@libnvml("nvmlReturn_t nvmlDeviceOnSameBoard(nvmlDevice_t device1, nvmlDevice_t device2, int *onSameBoard)")
def nvmlDeviceOnSameBoard(
    device1: nvmlDevice_t | int | None, device2: nvmlDevice_t | int | None
) -> tuple[nvmlReturn_t, int]:
    """Return 1 if two GPUs are on one board."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetAPIRestriction(nvmlDevice_t device, nvmlRestrictedAPI_t apiType, "
    "nvmlEnableState_t *isRestricted)"
)
def nvmlDeviceGetAPIRestriction(
    device: nvmlDevice_t | int | None, apiType: nvmlRestrictedAPI_t | int
) -> tuple[nvmlReturn_t, nvmlEnableState_t]:
    """Return whether root alone may do what `apiType` names."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetSamples(nvmlDevice_t device, nvmlSamplingType_t type, "
    "unsigned long long lastSeenTimeStamp, nvmlValueType_t *sampleValType, unsigned int *sampleCount, "
    "nvmlSample_t *samples)",
    sizes={"samples": "sampleCount"},
)
def nvmlDeviceGetSamples(
    device: nvmlDevice_t | int | None,
    typename: nvmlSamplingType_t | int,
    lastSeenTimeStamp: int,
    sampleCount: int | None = None,
) -> tuple[nvmlReturn_t, nvmlValueType_t, int, list[nvmlSample_t]]:
    """Return the samples of one type that are newer than `lastSeenTimeStamp`, in microseconds, 0 for all."""


@libnvml("nvmlReturn_t nvmlDeviceGetBAR1MemoryInfo(nvmlDevice_t device, nvmlBAR1Memory_t *bar1Memory)")
def nvmlDeviceGetBAR1MemoryInfo(device: nvmlDevice_t | int | None) -> tuple[nvmlReturn_t, nvmlBAR1Memory_t]:
    """Return how much of BAR1, which maps memory for PCI peers, is there, used and free, in bytes."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetViolationStatus(nvmlDevice_t device, nvmlPerfPolicyType_t perfPolicyType, "
    "nvmlViolationTime_t *violTime)"
)
def nvmlDeviceGetViolationStatus(
    device: nvmlDevice_t | int | None, perfPolicyType: nvmlPerfPolicyType_t | int
) -> tuple[nvmlReturn_t, nvmlViolationTime_t]:
    """Return how long clocks were held back by one policy, in nanoseconds."""


@libnvml("nvmlReturn_t nvmlDeviceGetIrqNum(nvmlDevice_t device, unsigned int *irqNum)")
def nvmlDeviceGetIrqNum(device: nvmlDevice_t | int | None) -> tuple[nvmlReturn_t, int]:
    """Return the number of the interrupt."""


@libnvml("nvmlReturn_t nvmlDeviceGetNumGpuCores(nvmlDevice_t device, unsigned int *numCores)")
def nvmlDeviceGetNumGpuCores(device: nvmlDevice_t | int | None) -> tuple[nvmlReturn_t, int]:
    """Return the number of cores."""


@libnvml("nvmlReturn_t nvmlDeviceGetPowerSource(nvmlDevice_t device, nvmlPowerSource_t *powerSource)")
def nvmlDeviceGetPowerSource(device: nvmlDevice_t | int | None) -> tuple[nvmlReturn_t, nvmlPowerSource_t]:
    """Return where the power comes from."""


@libnvml("nvmlReturn_t nvmlDeviceGetMemoryBusWidth(nvmlDevice_t device, unsigned int *busWidth)")
def nvmlDeviceGetMemoryBusWidth(device: nvmlDevice_t | int | None) -> tuple[nvmlReturn_t, int]:
    """Return the width of the memory bus, in bits."""


@libnvml("nvmlReturn_t nvmlDeviceGetPcieLinkMaxSpeed(nvmlDevice_t device, unsigned int *maxSpeed)")
def nvmlDeviceGetPcieLinkMaxSpeed(device: nvmlDevice_t | int | None) -> tuple[nvmlReturn_t, int]:
    """Return the highest PCIe speed, as NVML_PCIE_LINK_MAX_SPEED_*."""


@libnvml("nvmlReturn_t nvmlDeviceGetPcieSpeed(nvmlDevice_t device, unsigned int *pcieSpeed)")
def nvmlDeviceGetPcieSpeed(device: nvmlDevice_t | int | None) -> tuple[nvmlReturn_t, int]:
    """Return the PCIe speed, in Mbit/s for each lane."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetAdaptiveClockInfoStatus(nvmlDevice_t device, "
    "unsigned int *adaptiveClockStatus)"
)
def nvmlDeviceGetAdaptiveClockInfoStatus(device: nvmlDevice_t | int | None) -> tuple[nvmlReturn_t, int]:
    """Return whether clocks adapt to the voltage."""


@libnvml("nvmlReturn_t nvmlDeviceGetBusType(nvmlDevice_t device, nvmlBusType_t *type)")
def nvmlDeviceGetBusType(device: nvmlDevice_t | int | None) -> tuple[nvmlReturn_t, nvmlBusType_t]:
    """Return what `device` is attached to."""


@libnvml("nvmlReturn_t nvmlDeviceGetGpuFabricInfo(nvmlDevice_t device, nvmlGpuFabricInfo_t *gpuFabricInfo)")
def nvmlDeviceGetGpuFabricInfo(device: nvmlDevice_t | int | None) -> tuple[nvmlReturn_t, nvmlGpuFabricInfo_t]:
    """Return what `device` is in its NVLink fabric; deprecated for nvmlDeviceGetGpuFabricInfoV."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetGpuFabricInfoV(nvmlDevice_t device, nvmlGpuFabricInfoV_t *gpuFabricInfo)",
    since="12.4",
)
def nvmlDeviceGetGpuFabricInfoV(
    device: nvmlDevice_t | int | None,
) -> tuple[nvmlReturn_t, nvmlGpuFabricInfoV_t]:
    """Return what `device` is in its NVLink fabric, and the health of that."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetGpuFabricInfo_v4(nvmlDevice_t device, nvmlGpuFabricInfo_v4_t *gpuFabricInfo)",
    since="13.4",
)
def nvmlDeviceGetGpuFabricInfo_v4(
    device: nvmlDevice_t | int | None,
) -> tuple[nvmlReturn_t, nvmlGpuFabricInfo_v4_t]:
    """Return what `device` is in its NVLink fabric, its cliques and their health."""


@libnvml(
    "nvmlReturn_t nvmlSystemGetConfComputeCapabilities(nvmlConfComputeSystemCaps_t *capabilities)",
    since="12.2",
)
def nvmlSystemGetConfComputeCapabilities() -> tuple[nvmlReturn_t, nvmlConfComputeSystemCaps_t]:
    """Return what CPU and GPUs can do for confidential computing."""


@libnvml("nvmlReturn_t nvmlSystemGetConfComputeState(nvmlConfComputeSystemState_t *state)", since="12.2")
def nvmlSystemGetConfComputeState() -> tuple[nvmlReturn_t, nvmlConfComputeSystemState_t]:
    """Return whether confidential computing is on, and how."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetConfComputeMemSizeInfo(nvmlDevice_t device, "
    "nvmlConfComputeMemSizeInfo_t *memInfo)",
    since="12.2",
)
def nvmlDeviceGetConfComputeMemSizeInfo(
    device: nvmlDevice_t | int | None,
) -> tuple[nvmlReturn_t, nvmlConfComputeMemSizeInfo_t]:
    """Return how much memory is protected and how much is not, in KiB."""


@libnvml("nvmlReturn_t nvmlSystemGetConfComputeGpusReadyState(unsigned int *isAcceptingWork)", since="12.2")
def nvmlSystemGetConfComputeGpusReadyState() -> tuple[nvmlReturn_t, int]:
    """Return whether the GPUs accept work of clients in confidential computing."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetConfComputeProtectedMemoryUsage(nvmlDevice_t device, nvmlMemory_t *memory)",
    since="12.2",
)
def nvmlDeviceGetConfComputeProtectedMemoryUsage(
    device: nvmlDevice_t | int | None,
) -> tuple[nvmlReturn_t, nvmlMemory_t]:
    """Return how much protected memory is there, used and free, in bytes."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetConfComputeGpuCertificate(nvmlDevice_t device, "
    "nvmlConfComputeGpuCertificate_t *gpuCert)",
    since="12.2",
)
def nvmlDeviceGetConfComputeGpuCertificate(
    device: nvmlDevice_t | int | None,
) -> tuple[nvmlReturn_t, nvmlConfComputeGpuCertificate_t]:
    """Return the certificates of `device`."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetConfComputeGpuAttestationReport(nvmlDevice_t device, "
    "nvmlConfComputeGpuAttestationReport_t *gpuAtstReport)",
    since="12.2",
)
def nvmlDeviceGetConfComputeGpuAttestationReport(
    device: nvmlDevice_t | int | None, gpuAtstReport: nvmlConfComputeGpuAttestationReport_t | None
) -> tuple[nvmlReturn_t]:
    """Write a report that attests `device`, for the nonce in `gpuAtstReport`, to it."""


@libnvml(
    "nvmlReturn_t nvmlSystemGetConfComputeKeyRotationThresholdInfo("
    "nvmlConfComputeGetKeyRotationThresholdInfo_t *pKeyRotationThrInfo)",
    since="12.4",
)
def nvmlSystemGetConfComputeKeyRotationThresholdInfo() -> tuple[
    nvmlReturn_t, nvmlConfComputeGetKeyRotationThresholdInfo_t
]:
    """Return how much an attacker may gain before keys are rotated."""


@libnvml(
    "nvmlReturn_t nvmlDeviceSetConfComputeUnprotectedMemSize(nvmlDevice_t device, "
    "unsigned long long sizeKiB)",
    since="12.2",
)
def nvmlDeviceSetConfComputeUnprotectedMemSize(
    device: nvmlDevice_t | int | None, sizeKiB: int
) -> tuple[nvmlReturn_t]:
    """Set how much memory is not protected, in KiB."""


@libnvml("nvmlReturn_t nvmlSystemSetConfComputeGpusReadyState(unsigned int isAcceptingWork)", since="12.2")
def nvmlSystemSetConfComputeGpusReadyState(isAcceptingWork: int) -> tuple[nvmlReturn_t]:
    """Set whether the GPUs accept work of clients in confidential computing."""


@libnvml(
    "nvmlReturn_t nvmlSystemSetConfComputeKeyRotationThresholdInfo("
    "nvmlConfComputeSetKeyRotationThresholdInfo_t *pKeyRotationThrInfo)",
    since="12.4",
)
def nvmlSystemSetConfComputeKeyRotationThresholdInfo(
    pKeyRotationThrInfo: nvmlConfComputeSetKeyRotationThresholdInfo_t | None,
) -> tuple[nvmlReturn_t]:
    """Set how much an attacker may gain before keys are rotated."""


@libnvml(
    "nvmlReturn_t nvmlSystemGetConfComputeSettings(nvmlSystemConfComputeSettings_t *settings)",
    since="12.4",
)
def nvmlSystemGetConfComputeSettings() -> tuple[nvmlReturn_t, nvmlSystemConfComputeSettings_t]:
    """Return how confidential computing is set."""


@libnvml(
    "nvmlReturn_t nvmlSystemGetConfComputeSettings_v2(nvmlSystemConfComputeSettings_v2_t *settings)",
    since="13.5",
)
def nvmlSystemGetConfComputeSettings_v2() -> tuple[nvmlReturn_t, nvmlSystemConfComputeSettings_v2_t]:
    """Return how confidential computing is set, with the state of TDISP."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetGspFirmwareVersion(nvmlDevice_t device, char *version)",
    sizes={"version": 64},
)
def nvmlDeviceGetGspFirmwareVersion(device: nvmlDevice_t | int | None) -> tuple[nvmlReturn_t, bytes]:
    """Return the version of the firmware of the GPU's system processor."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetGspFirmwareMode(nvmlDevice_t device, unsigned int *isEnabled, "
    "unsigned int *defaultMode)"
)
def nvmlDeviceGetGspFirmwareMode(device: nvmlDevice_t | int | None) -> tuple[nvmlReturn_t, int, int]:
    """Return whether the firmware of the GPU's system processor is on, and whether it is by default."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetSramEccErrorStatus(nvmlDevice_t device, nvmlEccSramErrorStatus_t *status)",
    since="12.4",
)
def nvmlDeviceGetSramEccErrorStatus(
    device: nvmlDevice_t | int | None,
) -> tuple[nvmlReturn_t, nvmlEccSramErrorStatus_t]:
    """Return the ECC errors in SRAM by kind and place."""


@libnvml(
    "nvmlReturn_t nvmlDeviceSetPowerManagementLimit_v2(nvmlDevice_t device, nvmlPowerValue_v2_t *powerValue)",
    since="12.2",
)
def nvmlDeviceSetPowerManagementLimit_v2(
    device: nvmlDevice_t | int | None, powerValue: nvmlPowerValue_v2_t | None
) -> tuple[nvmlReturn_t]:
    """Set the power limit of the scope that `powerValue` names, in milliwatts."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetRetiredPages(nvmlDevice_t device, nvmlPageRetirementCause_t cause, "
    "unsigned int *pageCount, unsigned long long *addresses)",
    sizes={"addresses": "pageCount"},
)
def nvmlDeviceGetRetiredPages(
    device: nvmlDevice_t | int | None, cause: nvmlPageRetirementCause_t | int, pageCount: int | None = None
) -> tuple[nvmlReturn_t, int, list[int]]:
    """Return the addresses of the pages that were retired for `cause`."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetRetiredPages_v2(nvmlDevice_t device, nvmlPageRetirementCause_t cause, "
    "unsigned int *pageCount, unsigned long long *addresses, unsigned long long *timestamps)",
    sizes={"addresses": "pageCount", "timestamps": "pageCount"},
)
def nvmlDeviceGetRetiredPages_v2(
    device: nvmlDevice_t | int | None, cause: nvmlPageRetirementCause_t | int, pageCount: int | None = None
) -> tuple[nvmlReturn_t, int, list[int], list[int]]:
    """Return the addresses of the pages that were retired for `cause`, and when."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetRetiredPagesPendingStatus(nvmlDevice_t device, nvmlEnableState_t *isPending)"
)
def nvmlDeviceGetRetiredPagesPendingStatus(
    device: nvmlDevice_t | int | None,
) -> tuple[nvmlReturn_t, nvmlEnableState_t]:
    """Return whether pages are to be retired at the next reboot."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetRemappedRows(nvmlDevice_t device, unsigned int *corrRows, "
    "unsigned int *uncRows, unsigned int *isPending, unsigned int *failureOccurred)"
)
def nvmlDeviceGetRemappedRows(device: nvmlDevice_t | int | None) -> tuple[nvmlReturn_t, int, int, int, int]:
    """Return the rows remapped for correctable and for other errors, whether more wait, and whether one
    failed.
    """


@libnvml(
    "nvmlReturn_t nvmlDeviceGetRowRemapperHistogram(nvmlDevice_t device, "
    "nvmlRowRemapperHistogramValues_t *values)"
)
def nvmlDeviceGetRowRemapperHistogram(
    device: nvmlDevice_t | int | None,
) -> tuple[nvmlReturn_t, nvmlRowRemapperHistogramValues_t]:
    """Return how many banks have how many rows left for remapping."""


@libnvml("nvmlReturn_t nvmlDeviceGetArchitecture(nvmlDevice_t device, nvmlDeviceArchitecture_t *arch)")
def nvmlDeviceGetArchitecture(
    device: nvmlDevice_t | int | None,
) -> tuple[nvmlReturn_t, nvmlDeviceArchitecture_t]:
    """Return the architecture."""


@libnvml("nvmlReturn_t nvmlDeviceGetClkMonStatus(nvmlDevice_t device, nvmlClkMonStatus_t *status)")
def nvmlDeviceGetClkMonStatus(device: nvmlDevice_t | int | None) -> tuple[nvmlReturn_t, nvmlClkMonStatus_t]:
    """Return the faults that the clock monitor found."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetProcessUtilization(nvmlDevice_t device, "
    "nvmlProcessUtilizationSample_t *utilization, unsigned int *processSamplesCount, "
    "unsigned long long lastSeenTimeStamp)",
    sizes={"utilization": "processSamplesCount"},
)
def nvmlDeviceGetProcessUtilization(
    device: nvmlDevice_t | int | None, lastSeenTimeStamp: int, processSamplesCount: int | None = None
) -> tuple[nvmlReturn_t, list[nvmlProcessUtilizationSample_t], int]:
    """Return how busy each process kept the GPU, in samples newer than `lastSeenTimeStamp`, in
    microseconds.
    """


@libnvml(
    "nvmlReturn_t nvmlDeviceGetProcessesUtilizationInfo(nvmlDevice_t device, "
    "nvmlProcessesUtilizationInfo_t *procesesUtilInfo)",
    since="12.4",
)
def nvmlDeviceGetProcessesUtilizationInfo(
    device: nvmlDevice_t | int | None, procesesUtilInfo: nvmlProcessesUtilizationInfo_t | None
) -> tuple[nvmlReturn_t]:
    """Write how busy each process kept the parts of the GPU to the array of `procesesUtilInfo`."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetPlatformInfo(nvmlDevice_t device, nvmlPlatformInfo_t *platformInfo)",
    since="12.8",
)
def nvmlDeviceGetPlatformInfo(device: nvmlDevice_t | int | None) -> tuple[nvmlReturn_t, nvmlPlatformInfo_t]:
    """Return where in its rack `device` is."""


@libnvml("nvmlReturn_t nvmlDeviceGetPdi(nvmlDevice_t device, nvmlPdi_t *pdi)", since="13.0")
def nvmlDeviceGetPdi(device: nvmlDevice_t | int | None) -> tuple[nvmlReturn_t, nvmlPdi_t]:
    """Return the number of the device that no other has."""


@libnvml(
    "nvmlReturn_t nvmlDeviceSetHostname_v1(nvmlDevice_t device, nvmlHostname_v1_t *hostname)",
    since="13.0",
)
def nvmlDeviceSetHostname_v1(
    device: nvmlDevice_t | int | None, hostname: nvmlHostname_v1_t | None
) -> tuple[nvmlReturn_t]:
    """Set a host name for `device`."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetHostname_v1(nvmlDevice_t device, nvmlHostname_v1_t *hostname)",
    since="13.0",
)
def nvmlDeviceGetHostname_v1(device: nvmlDevice_t | int | None) -> tuple[nvmlReturn_t, nvmlHostname_v1_t]:
    """Return the host name that was set for `device`."""


@libnvml(
    "nvmlReturn_t nvmlDevicePerfMetricsGetSamples_v1(nvmlDevice_t device, "
    "nvmlPerfMetricsSamples_v1_t *samples)",
    since="13.4",
)
def nvmlDevicePerfMetricsGetSamples_v1(
    device: nvmlDevice_t | int | None,
) -> tuple[nvmlReturn_t, nvmlPerfMetricsSamples_v1_t]:
    """Return samples of the models that the power controllers work with."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetSramUniqueUncorrectedEccErrorCounts(nvmlDevice_t device, "
    "nvmlEccSramUniqueUncorrectedErrorCounts_t *errorCounts)",
    since="13.0",
)
def nvmlDeviceGetSramUniqueUncorrectedEccErrorCounts(
    device: nvmlDevice_t | int | None, errorCounts: nvmlEccSramUniqueUncorrectedErrorCounts_t | None
) -> tuple[nvmlReturn_t]:
    """Write the places of uncorrected ECC errors in SRAM to the array of `errorCounts`."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetRemappedRows_v2(nvmlDevice_t device, nvmlRemappedRowsInfo_v2_t *info)",
    since="13.2",
)
def nvmlDeviceGetRemappedRows_v2(
    device: nvmlDevice_t | int | None,
) -> tuple[nvmlReturn_t, nvmlRemappedRowsInfo_v2_t]:
    """Return the rows that were remapped, active ones and others, whether more wait, and whether one
    failed.
    """


@libnvml(
    "nvmlReturn_t nvmlDeviceGetBankRemapperStatus_v1(nvmlDevice_t device, "
    "nvmlEccBankRemapperStatus_v1_t *pBankRemapperStatus)",
    since="13.4",
)
def nvmlDeviceGetBankRemapperStatus_v1(
    device: nvmlDevice_t | int | None,
) -> tuple[nvmlReturn_t, nvmlEccBankRemapperStatus_v1_t]:
    """Return the banks that were remapped, and how many are left."""


# -- CPU and Memory Affinity ---------------------------------------------------------------------------


@libnvml(
    "nvmlReturn_t nvmlDeviceGetMemoryAffinity(nvmlDevice_t device, unsigned int nodeSetSize, "
    "unsigned long *nodeSet, nvmlAffinityScope_t scope)",
    sizes={"nodeSet": "nodeSetSize"},
)
def nvmlDeviceGetMemoryAffinity(
    device: nvmlDevice_t | int | None, nodeSetSize: int, scope: nvmlAffinityScope_t | int
) -> tuple[nvmlReturn_t, list[int]]:
    """Return the NUMA nodes near to `device` as bits of `nodeSetSize` numbers."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetCpuAffinityWithinScope(nvmlDevice_t device, unsigned int cpuSetSize, "
    "unsigned long *cpuSet, nvmlAffinityScope_t scope)",
    sizes={"cpuSet": "cpuSetSize"},
)
def nvmlDeviceGetCpuAffinityWithinScope(
    device: nvmlDevice_t | int | None, cpuSetSize: int, scope: nvmlAffinityScope_t | int
) -> tuple[nvmlReturn_t, list[int]]:
    """Return the CPUs near to `device` as bits of `cpuSetSize` numbers, by NUMA node or socket."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetCpuAffinity(nvmlDevice_t device, unsigned int cpuSetSize, "
    "unsigned long *cpuSet)",
    sizes={"cpuSet": "cpuSetSize"},
)
def nvmlDeviceGetCpuAffinity(
    device: nvmlDevice_t | int | None, cpuSetSize: int
) -> tuple[nvmlReturn_t, list[int]]:
    """Return the CPUs near to `device` as bits of `cpuSetSize` numbers."""


@libnvml("nvmlReturn_t nvmlDeviceSetCpuAffinity(nvmlDevice_t device)")
def nvmlDeviceSetCpuAffinity(device: nvmlDevice_t | int | None) -> tuple[nvmlReturn_t]:
    """Bind the calling thread to the CPUs near to `device`."""


@libnvml("nvmlReturn_t nvmlDeviceClearCpuAffinity(nvmlDevice_t device)")
def nvmlDeviceClearCpuAffinity(device: nvmlDevice_t | int | None) -> tuple[nvmlReturn_t]:
    """Undo the bindings of the calling thread to CPUs."""


@libnvml("nvmlReturn_t nvmlDeviceGetNumaNodeId(nvmlDevice_t device, unsigned int *node)", since="12.4")
def nvmlDeviceGetNumaNodeId(device: nvmlDevice_t | int | None) -> tuple[nvmlReturn_t, int]:
    """Return the NUMA node of the memory of `device`."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetAddressingMode(nvmlDevice_t device, nvmlDeviceAddressingMode_t *mode)",
    since="13.0",
)
def nvmlDeviceGetAddressingMode(
    device: nvmlDevice_t | int | None,
) -> tuple[nvmlReturn_t, nvmlDeviceAddressingMode_t]:
    """Return how `device` addresses the memory of the host."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetRepairStatus(nvmlDevice_t device, nvmlRepairStatus_t *repairStatus)",
    since="13.0",
)
def nvmlDeviceGetRepairStatus(device: nvmlDevice_t | int | None) -> tuple[nvmlReturn_t, nvmlRepairStatus_t]:
    """Return whether repairs of the memory wait for a reset."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetUnrepairableMemoryFlag_v1(nvmlDevice_t device, "
    "nvmlUnrepairableMemoryStatus_v1_t *unrepairableMemoryStatus)",
    since="13.1",
)
def nvmlDeviceGetUnrepairableMemoryFlag_v1(
    device: nvmlDevice_t | int | None,
) -> tuple[nvmlReturn_t, nvmlUnrepairableMemoryStatus_v1_t]:
    """Return whether the memory has faults that cannot be repaired."""


# -- Accounting Statistics -----------------------------------------------------------------------------


@libnvml("nvmlReturn_t nvmlDeviceGetAccountingMode(nvmlDevice_t device, nvmlEnableState_t *mode)")
def nvmlDeviceGetAccountingMode(device: nvmlDevice_t | int | None) -> tuple[nvmlReturn_t, nvmlEnableState_t]:
    """Return whether statistics of processes are kept."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetAccountingStats(nvmlDevice_t device, unsigned int pid, "
    "nvmlAccountingStats_t *stats)"
)
def nvmlDeviceGetAccountingStats(
    device: nvmlDevice_t | int | None, pid: int
) -> tuple[nvmlReturn_t, nvmlAccountingStats_t]:
    """Return the statistics of process `pid`, ended ones included."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetAccountingPids(nvmlDevice_t device, unsigned int *count, unsigned int *pids)",
    sizes={"pids": "count"},
)
def nvmlDeviceGetAccountingPids(
    device: nvmlDevice_t | int | None, count: int | None = None
) -> tuple[nvmlReturn_t, int, list[int]]:
    """Return the processes that statistics are kept of."""


@libnvml("nvmlReturn_t nvmlDeviceGetAccountingBufferSize(nvmlDevice_t device, unsigned int *bufferSize)")
def nvmlDeviceGetAccountingBufferSize(device: nvmlDevice_t | int | None) -> tuple[nvmlReturn_t, int]:
    """Return of how many processes statistics are kept."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetAccountingStats_v2(nvmlDevice_t device, nvmlAccountingStats_v2_t *stats)",
    since="13.3",
)
def nvmlDeviceGetAccountingStats_v2(
    device: nvmlDevice_t | int | None, stats: nvmlAccountingStats_v2_t | None
) -> tuple[nvmlReturn_t]:
    """Write the statistics of the process that `stats` names to it."""


@libnvml("nvmlReturn_t nvmlDeviceSetAccountingMode(nvmlDevice_t device, nvmlEnableState_t mode)")
def nvmlDeviceSetAccountingMode(
    device: nvmlDevice_t | int | None, mode: nvmlEnableState_t | int
) -> tuple[nvmlReturn_t]:
    """Set whether statistics of processes are kept."""


@libnvml("nvmlReturn_t nvmlDeviceClearAccountingPids(nvmlDevice_t device)")
def nvmlDeviceClearAccountingPids(device: nvmlDevice_t | int | None) -> tuple[nvmlReturn_t]:
    """Forget the statistics of processes that have ended."""


# -- Unit Commands -------------------------------------------------------------------------------------


@libnvml("nvmlReturn_t nvmlUnitSetLedState(nvmlUnit_t unit, nvmlLedColor_t color)")
def nvmlUnitSetLedState(unit: nvmlUnit_t | int | None, color: nvmlLedColor_t | int) -> tuple[nvmlReturn_t]:
    """Set the colour of the light of `unit`."""


# -- Device Commands -----------------------------------------------------------------------------------


@libnvml("nvmlReturn_t nvmlDeviceSetPersistenceMode(nvmlDevice_t device, nvmlEnableState_t mode)")
def nvmlDeviceSetPersistenceMode(
    device: nvmlDevice_t | int | None, mode: nvmlEnableState_t | int
) -> tuple[nvmlReturn_t]:
    """Set whether the driver stays loaded for `device` while nobody uses it."""


@libnvml("nvmlReturn_t nvmlDeviceSetComputeMode(nvmlDevice_t device, nvmlComputeMode_t mode)")
def nvmlDeviceSetComputeMode(
    device: nvmlDevice_t | int | None, mode: nvmlComputeMode_t | int
) -> tuple[nvmlReturn_t]:
    """Set who may use `device` for compute."""


@libnvml("nvmlReturn_t nvmlDeviceSetEccMode(nvmlDevice_t device, nvmlEnableState_t ecc)")
def nvmlDeviceSetEccMode(
    device: nvmlDevice_t | int | None, ecc: nvmlEnableState_t | int
) -> tuple[nvmlReturn_t]:
    """Switch ECC from the next reboot on."""


@libnvml("nvmlReturn_t nvmlDeviceClearEccErrorCounts(nvmlDevice_t device, nvmlEccCounterType_t counterType)")
def nvmlDeviceClearEccErrorCounts(
    device: nvmlDevice_t | int | None, counterType: nvmlEccCounterType_t | int
) -> tuple[nvmlReturn_t]:
    """Set the ECC counters of one kind back to zero."""


@libnvml(
    "nvmlReturn_t nvmlDeviceSetDriverModel(nvmlDevice_t device, nvmlDriverModel_t driverModel, "
    "unsigned int flags)"
)
def nvmlDeviceSetDriverModel(
    device: nvmlDevice_t | int | None, driverModel: nvmlDriverModel_t | int, flags: int
) -> tuple[nvmlReturn_t]:
    """Set the driver model from the next reboot on; Windows alone."""


@libnvml(
    "nvmlReturn_t nvmlDeviceSetGpuLockedClocks(nvmlDevice_t device, unsigned int minGpuClockMHz, "
    "unsigned int maxGpuClockMHz)"
)
def nvmlDeviceSetGpuLockedClocks(
    device: nvmlDevice_t | int | None, minGpuClockMHz: int, maxGpuClockMHz: int
) -> tuple[nvmlReturn_t]:
    """Hold the graphics clock within two bounds, in MHz."""


@libnvml("nvmlReturn_t nvmlDeviceResetGpuLockedClocks(nvmlDevice_t device)")
def nvmlDeviceResetGpuLockedClocks(device: nvmlDevice_t | int | None) -> tuple[nvmlReturn_t]:
    """Let the graphics clock go again."""


@libnvml(
    "nvmlReturn_t nvmlDeviceSetMemoryLockedClocks(nvmlDevice_t device, unsigned int minMemClockMHz, "
    "unsigned int maxMemClockMHz)"
)
def nvmlDeviceSetMemoryLockedClocks(
    device: nvmlDevice_t | int | None, minMemClockMHz: int, maxMemClockMHz: int
) -> tuple[nvmlReturn_t]:
    """Hold the memory clock within two bounds, in MHz."""


@libnvml("nvmlReturn_t nvmlDeviceResetMemoryLockedClocks(nvmlDevice_t device)")
def nvmlDeviceResetMemoryLockedClocks(device: nvmlDevice_t | int | None) -> tuple[nvmlReturn_t]:
    """Let the memory clock go again."""


@libnvml(
    "nvmlReturn_t nvmlDeviceSetApplicationsClocks(nvmlDevice_t device, unsigned int memClockMHz, "
    "unsigned int graphicsClockMHz)"
)
def nvmlDeviceSetApplicationsClocks(
    device: nvmlDevice_t | int | None, memClockMHz: int, graphicsClockMHz: int
) -> tuple[nvmlReturn_t]:
    """Set the clocks that applications run at, in MHz; deprecated, locked clocks take its place."""


@libnvml("nvmlReturn_t nvmlDeviceResetApplicationsClocks(nvmlDevice_t device)")
def nvmlDeviceResetApplicationsClocks(device: nvmlDevice_t | int | None) -> tuple[nvmlReturn_t]:
    """Set the clocks that applications run at back; deprecated."""


@libnvml("nvmlReturn_t nvmlDeviceSetAutoBoostedClocksEnabled(nvmlDevice_t device, nvmlEnableState_t enabled)")
def nvmlDeviceSetAutoBoostedClocksEnabled(
    device: nvmlDevice_t | int | None, enabled: nvmlEnableState_t | int
) -> tuple[nvmlReturn_t]:
    """Set whether clocks boost by themselves."""


@libnvml(
    "nvmlReturn_t nvmlDeviceSetDefaultAutoBoostedClocksEnabled(nvmlDevice_t device, "
    "nvmlEnableState_t enabled, unsigned int flags)"
)
def nvmlDeviceSetDefaultAutoBoostedClocksEnabled(
    device: nvmlDevice_t | int | None, enabled: nvmlEnableState_t | int, flags: int
) -> tuple[nvmlReturn_t]:
    """Set whether clocks boost by themselves when nobody uses `device`."""


@libnvml("nvmlReturn_t nvmlDeviceSetDefaultFanSpeed_v2(nvmlDevice_t device, unsigned int fan)")
def nvmlDeviceSetDefaultFanSpeed_v2(device: nvmlDevice_t | int | None, fan: int) -> tuple[nvmlReturn_t]:
    """Let the device control `fan` again."""


@libnvml(
    "nvmlReturn_t nvmlDeviceSetFanControlPolicy(nvmlDevice_t device, unsigned int fan, "
    "nvmlFanControlPolicy_t policy)"
)
def nvmlDeviceSetFanControlPolicy(
    device: nvmlDevice_t | int | None, fan: int, policy: nvmlFanControlPolicy_t | int
) -> tuple[nvmlReturn_t]:
    """Set who controls `fan`."""


@libnvml(
    "nvmlReturn_t nvmlDeviceSetTemperatureThreshold(nvmlDevice_t device, "
    "nvmlTemperatureThresholds_t thresholdType, int *temp)"
)
def nvmlDeviceSetTemperatureThreshold(
    device: nvmlDevice_t | int | None, thresholdType: nvmlTemperatureThresholds_t | int, temp: int
) -> tuple[nvmlReturn_t, int]:
    """Set the temperature at which `thresholdType` happens to `temp`, in degrees C; it is returned, too."""


@libnvml("nvmlReturn_t nvmlDeviceSetPowerManagementLimit(nvmlDevice_t device, unsigned int limit)")
def nvmlDeviceSetPowerManagementLimit(device: nvmlDevice_t | int | None, limit: int) -> tuple[nvmlReturn_t]:
    """Set the power limit, in milliwatts."""


@libnvml("nvmlReturn_t nvmlDeviceSetGpuOperationMode(nvmlDevice_t device, nvmlGpuOperationMode_t mode)")
def nvmlDeviceSetGpuOperationMode(
    device: nvmlDevice_t | int | None, mode: nvmlGpuOperationMode_t | int
) -> tuple[nvmlReturn_t]:
    """Set the operation mode from the next reboot on."""


@libnvml(
    "nvmlReturn_t nvmlDeviceSetAPIRestriction(nvmlDevice_t device, nvmlRestrictedAPI_t apiType, "
    "nvmlEnableState_t isRestricted)"
)
def nvmlDeviceSetAPIRestriction(
    device: nvmlDevice_t | int | None,
    apiType: nvmlRestrictedAPI_t | int,
    isRestricted: nvmlEnableState_t | int,
) -> tuple[nvmlReturn_t]:
    """Set whether root alone may do what `apiType` names."""


@libnvml("nvmlReturn_t nvmlDeviceSetFanSpeed_v2(nvmlDevice_t device, unsigned int fan, unsigned int speed)")
def nvmlDeviceSetFanSpeed_v2(device: nvmlDevice_t | int | None, fan: int, speed: int) -> tuple[nvmlReturn_t]:
    """Set the speed of `fan`, in percent; nothing controls it from then on."""


@libnvml("nvmlReturn_t nvmlDeviceSetGpcClkVfOffset(nvmlDevice_t device, int offset)")
def nvmlDeviceSetGpcClkVfOffset(device: nvmlDevice_t | int | None, offset: int) -> tuple[nvmlReturn_t]:
    """Set the offset of the graphics clock's curve, in MHz; deprecated for nvmlDeviceSetClockOffsets."""


@libnvml("nvmlReturn_t nvmlDeviceSetMemClkVfOffset(nvmlDevice_t device, int offset)")
def nvmlDeviceSetMemClkVfOffset(device: nvmlDevice_t | int | None, offset: int) -> tuple[nvmlReturn_t]:
    """Set the offset of the memory clock's curve, in MHz; deprecated for nvmlDeviceSetClockOffsets."""


@libnvml(
    "nvmlReturn_t nvmlDeviceSetRusdSettings_v1(nvmlDevice_t device, nvmlRusdSettings_v1_t *settings)",
    since="13.1",
)
def nvmlDeviceSetRusdSettings_v1(
    device: nvmlDevice_t | int | None, settings: nvmlRusdSettings_v1_t | None
) -> tuple[nvmlReturn_t]:
    """Set what of the data that the driver shares with user mode is refreshed."""


# -- NvLink Methods ------------------------------------------------------------------------------------


@libnvml(
    "nvmlReturn_t nvmlDeviceGetNvLinkState(nvmlDevice_t device, unsigned int link, "
    "nvmlEnableState_t *isActive)"
)
def nvmlDeviceGetNvLinkState(
    device: nvmlDevice_t | int | None, link: int
) -> tuple[nvmlReturn_t, nvmlEnableState_t]:
    """Return whether `link` is active."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetNvLinkVersion(nvmlDevice_t device, unsigned int link, unsigned int *version)"
)
def nvmlDeviceGetNvLinkVersion(device: nvmlDevice_t | int | None, link: int) -> tuple[nvmlReturn_t, int]:
    """Return the version of `link`, as NVML_NVLINK_VERSION_*."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetNvLinkCapability(nvmlDevice_t device, unsigned int link, "
    "nvmlNvLinkCapability_t capability, unsigned int *capResult)"
)
def nvmlDeviceGetNvLinkCapability(
    device: nvmlDevice_t | int | None, link: int, capability: nvmlNvLinkCapability_t | int
) -> tuple[nvmlReturn_t, int]:
    """Return whether `link` has a capability."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetNvLinkRemotePciInfo_v2(nvmlDevice_t device, unsigned int link, "
    "nvmlPciInfo_t *pci)"
)
def nvmlDeviceGetNvLinkRemotePciInfo(
    device: nvmlDevice_t | int | None, link: int
) -> tuple[nvmlReturn_t, nvmlPciInfo_t]:
    """Return where on the PCI bus the other end of `link` is."""


nvmlDeviceGetNvLinkRemotePciInfo_v2 = nvmlDeviceGetNvLinkRemotePciInfo


@libnvml(
    "nvmlReturn_t nvmlDeviceGetNvLinkErrorCounter(nvmlDevice_t device, unsigned int link, "
    "nvmlNvLinkErrorCounter_t counter, unsigned long long *counterValue)"
)
def nvmlDeviceGetNvLinkErrorCounter(
    device: nvmlDevice_t | int | None, link: int, counter: nvmlNvLinkErrorCounter_t | int
) -> tuple[nvmlReturn_t, int]:
    """Return how many errors of one kind `link` had."""


@libnvml("nvmlReturn_t nvmlDeviceResetNvLinkErrorCounters(nvmlDevice_t device, unsigned int link)")
def nvmlDeviceResetNvLinkErrorCounters(device: nvmlDevice_t | int | None, link: int) -> tuple[nvmlReturn_t]:
    """Set the error counters of `link` back to zero."""


@libnvml(
    "nvmlReturn_t nvmlDeviceSetNvLinkUtilizationControl(nvmlDevice_t device, unsigned int link, "
    "unsigned int counter, nvmlNvLinkUtilizationControl_t *control, unsigned int reset)"
)
def nvmlDeviceSetNvLinkUtilizationControl(
    device: nvmlDevice_t | int | None,
    link: int,
    counter: int,
    control: nvmlNvLinkUtilizationControl_t | None,
    reset: int,
) -> tuple[nvmlReturn_t]:
    """Set what a counter of `link` counts, and zero it if `reset`; deprecated."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetNvLinkUtilizationControl(nvmlDevice_t device, unsigned int link, "
    "unsigned int counter, nvmlNvLinkUtilizationControl_t *control)"
)
def nvmlDeviceGetNvLinkUtilizationControl(
    device: nvmlDevice_t | int | None, link: int, counter: int
) -> tuple[nvmlReturn_t, nvmlNvLinkUtilizationControl_t]:
    """Return what a counter of `link` counts; deprecated."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetNvLinkUtilizationCounter(nvmlDevice_t device, unsigned int link, "
    "unsigned int counter, unsigned long long *rxcounter, unsigned long long *txcounter)"
)
def nvmlDeviceGetNvLinkUtilizationCounter(
    device: nvmlDevice_t | int | None, link: int, counter: int
) -> tuple[nvmlReturn_t, int, int]:
    """Return what came in and went out over `link`; deprecated."""


@libnvml(
    "nvmlReturn_t nvmlDeviceFreezeNvLinkUtilizationCounter(nvmlDevice_t device, unsigned int link, "
    "unsigned int counter, nvmlEnableState_t freeze)"
)
def nvmlDeviceFreezeNvLinkUtilizationCounter(
    device: nvmlDevice_t | int | None, link: int, counter: int, freeze: nvmlEnableState_t | int
) -> tuple[nvmlReturn_t]:
    """Stop the counters of `link`, or let them go on; deprecated."""


@libnvml(
    "nvmlReturn_t nvmlDeviceResetNvLinkUtilizationCounter(nvmlDevice_t device, unsigned int link, "
    "unsigned int counter)"
)
def nvmlDeviceResetNvLinkUtilizationCounter(
    device: nvmlDevice_t | int | None, link: int, counter: int
) -> tuple[nvmlReturn_t]:
    """Set a counter of `link` back to zero; deprecated."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetNvLinkRemoteDeviceType(nvmlDevice_t device, unsigned int link, "
    "nvmlIntNvLinkDeviceType_t *pNvLinkDeviceType)"
)
def nvmlDeviceGetNvLinkRemoteDeviceType(
    device: nvmlDevice_t | int | None, link: int
) -> tuple[nvmlReturn_t, nvmlIntNvLinkDeviceType_t]:
    """Return what is at the other end of `link`."""


@libnvml(
    "nvmlReturn_t nvmlDeviceSetNvLinkDeviceLowPowerThreshold(nvmlDevice_t device, "
    "nvmlNvLinkPowerThres_t *info)"
)
def nvmlDeviceSetNvLinkDeviceLowPowerThreshold(
    device: nvmlDevice_t | int | None, info: nvmlNvLinkPowerThres_t | None
) -> tuple[nvmlReturn_t]:
    """Set how long a link is idle before it goes to low power."""


@libnvml("nvmlReturn_t nvmlSystemSetNvlinkBwMode(unsigned int nvlinkBwMode)", since="12.2")
def nvmlSystemSetNvlinkBwMode(nvlinkBwMode: int) -> tuple[nvmlReturn_t]:
    """Set how many links are used, for the whole system."""


@libnvml("nvmlReturn_t nvmlSystemGetNvlinkBwMode(unsigned int *nvlinkBwMode)", since="12.2")
def nvmlSystemGetNvlinkBwMode() -> tuple[nvmlReturn_t, int]:
    """Return how many links are used, for the whole system, as NVML_GPU_NVLINK_BW_MODE_*."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetNvlinkSupportedBwModes(nvmlDevice_t device, "
    "nvmlNvlinkSupportedBwModes_t *supportedBwMode)",
    since="12.8",
)
def nvmlDeviceGetNvlinkSupportedBwModes(
    device: nvmlDevice_t | int | None,
) -> tuple[nvmlReturn_t, nvmlNvlinkSupportedBwModes_t]:
    """Return the bandwidth modes of NVLink that there are."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetNvlinkBwMode(nvmlDevice_t device, nvmlNvlinkGetBwMode_t *getBwMode)",
    since="12.8",
)
def nvmlDeviceGetNvlinkBwMode(
    device: nvmlDevice_t | int | None,
) -> tuple[nvmlReturn_t, nvmlNvlinkGetBwMode_t]:
    """Return the bandwidth mode of NVLink."""


@libnvml(
    "nvmlReturn_t nvmlDeviceSetNvlinkBwMode(nvmlDevice_t device, nvmlNvlinkSetBwMode_t *setBwMode)",
    since="12.8",
)
def nvmlDeviceSetNvlinkBwMode(
    device: nvmlDevice_t | int | None, setBwMode: nvmlNvlinkSetBwMode_t | None
) -> tuple[nvmlReturn_t]:
    """Set the bandwidth mode of NVLink."""


@libnvml(
    "nvmlReturn_t nvmlDeviceSetNvlinkBwModeAsync_v1(nvmlDevice_t device, "
    "nvmlNvlinkSetBwModeAsync_v1_t *setBwModeAsync)",
    since="13.4",
)
def nvmlDeviceSetNvlinkBwModeAsync_v1(
    device: nvmlDevice_t | int | None, setBwModeAsync: nvmlNvlinkSetBwModeAsync_v1_t | None
) -> tuple[nvmlReturn_t]:
    """Set the bandwidth mode of NVLink, and wait no longer than asyncPollTimeoutMs milliseconds."""


@libnvml("nvmlReturn_t nvmlDeviceGetNvLinkInfo(nvmlDevice_t device, nvmlNvLinkInfo_t *info)", since="13.0")
def nvmlDeviceGetNvLinkInfo(device: nvmlDevice_t | int | None) -> tuple[nvmlReturn_t, nvmlNvLinkInfo_t]:
    """Return whether NVLink is encrypted, and the firmware of its parts."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetNvLinkInfo_v3(nvmlDevice_t device, nvmlNvLinkInfo_v3_t *info)",
    since="13.5",
)
def nvmlDeviceGetNvLinkInfo_v3(device: nvmlDevice_t | int | None) -> tuple[nvmlReturn_t, nvmlNvLinkInfo_v3_t]:
    """Return whether NVLink is encrypted, or ready for it, and the firmware of its parts."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetNvLinkTelemetrySamples_v1(nvmlDevice_t device, "
    "nvmlNvlinkTelemetrySamples_v1_t *samples)",
    since="13.4",
)
def nvmlDeviceGetNvLinkTelemetrySamples_v1(
    device: nvmlDevice_t | int | None, samples: nvmlNvlinkTelemetrySamples_v1_t | None
) -> tuple[nvmlReturn_t]:
    """Write samples of the links that `samples` names to its arrays."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetNvlinkRemapTableInfo_v1(nvmlDevice_t device, "
    "nvmlNvlinkGetRemapTableInfo_v1_t *remapTableInfo)",
    since="13.5",
)
def nvmlDeviceGetNvlinkRemapTableInfo_v1(
    device: nvmlDevice_t | int | None,
) -> tuple[nvmlReturn_t, nvmlNvlinkGetRemapTableInfo_v1_t]:
    """Return the tables that map fabric addresses."""


@libnvml(
    "nvmlReturn_t nvmlDeviceSetNvlinkNvleReady_v1(nvmlDevice_t device, "
    "nvmlNvlinkSetNvleReady_v1_t *setNvleReady)",
    since="13.5",
)
def nvmlDeviceSetNvlinkNvleReady_v1(
    device: nvmlDevice_t | int | None, setNvleReady: nvmlNvlinkSetNvleReady_v1_t | None
) -> tuple[nvmlReturn_t]:
    """Say that the encryption of NVLink is ready."""


@libnvml(
    "nvmlReturn_t nvmlDeviceLockNvlinkRemapTable_v1(nvmlDevice_t device, "
    "nvmlNvlinkLockRemapTable_v1_t *remapTableLockInfo)",
    since="13.5",
)
def nvmlDeviceLockNvlinkRemapTable_v1(
    device: nvmlDevice_t | int | None, remapTableLockInfo: nvmlNvlinkLockRemapTable_v1_t | None
) -> tuple[nvmlReturn_t]:
    """Lock the tables that map fabric addresses."""


@libnvml(
    "nvmlReturn_t nvmlDeviceSetupNvlinkNvleEncryptionKey_v1(nvmlDevice_t device, "
    "nvmlNvlinkSetupNvleEncryptionKey_v1_t *encryptionKey)",
    since="13.5",
)
def nvmlDeviceSetupNvlinkNvleEncryptionKey_v1(
    device: nvmlDevice_t | int | None, encryptionKey: nvmlNvlinkSetupNvleEncryptionKey_v1_t | None
) -> tuple[nvmlReturn_t]:
    """Set the key for the encryption of NVLink between two GPUs."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetNvlinkNvlePrivateInfo_v1(nvmlDevice_t device, "
    "nvmlNvlinkNvlePrivateInfo_v1_t *privateInfo)",
    since="13.5",
)
def nvmlDeviceGetNvlinkNvlePrivateInfo_v1(
    device: nvmlDevice_t | int | None,
) -> tuple[nvmlReturn_t, nvmlNvlinkNvlePrivateInfo_v1_t]:
    """Return what the encryption of NVLink needs to know about `device`."""


# -- Event Handling Methods ----------------------------------------------------------------------------


@libnvml("nvmlReturn_t nvmlEventSetCreate(nvmlEventSet_t *set)")
def nvmlEventSetCreate() -> tuple[nvmlReturn_t, nvmlEventSet_t]:
    """Make an empty set of events."""


@libnvml(
    "nvmlReturn_t nvmlDeviceRegisterEvents(nvmlDevice_t device, unsigned long long eventTypes, "
    "nvmlEventSet_t set)"
)
def nvmlDeviceRegisterEvents(
    device: nvmlDevice_t | int | None, eventTypes: int, set: nvmlEventSet_t | int | None
) -> tuple[nvmlReturn_t]:
    """Record the events of `device` that `eventTypes`, bits of nvmlEventType*, names in `set`."""


@libnvml("nvmlReturn_t nvmlDeviceGetSupportedEventTypes(nvmlDevice_t device, unsigned long long *eventTypes)")
def nvmlDeviceGetSupportedEventTypes(device: nvmlDevice_t | int | None) -> tuple[nvmlReturn_t, int]:
    """Return the events that `device` has, as bits of nvmlEventType*."""


@libnvml(
    "nvmlReturn_t nvmlEventSetWait_v2(nvmlEventSet_t set, nvmlEventData_t *data, unsigned int timeoutms)"
)
def nvmlEventSetWait(
    set: nvmlEventSet_t | int | None, timeoutms: int
) -> tuple[nvmlReturn_t, nvmlEventData_t]:
    """Return the next event of `set`, or fail with NVML_ERROR_TIMEOUT after `timeoutms` milliseconds."""


nvmlEventSetWait_v2 = nvmlEventSetWait


@libnvml(
    "nvmlReturn_t nvmlEventSetRegisterGpuOperationalEvents_v1(nvmlEventSet_t eventSet, "
    "const nvmlGpuOperationalEventConfig_v1_t *config)",
    since="13.4",
)
def nvmlEventSetRegisterGpuOperationalEvents_v1(
    eventSet: nvmlEventSet_t | int | None, config: nvmlGpuOperationalEventConfig_v1_t | None
) -> tuple[nvmlReturn_t]:
    """Record the operational events that `config` names in `eventSet`."""


@libnvml("nvmlReturn_t nvmlEventSetWait_v3(nvmlEventSet_t set, nvmlEventSetWait_v3_t *params)", since="13.4")
def nvmlEventSetWait_v3(
    set: nvmlEventSet_t | int | None, params: nvmlEventSetWait_v3_t | None
) -> tuple[nvmlReturn_t]:
    """Write the next event of `set` to `params`, or fail after its timeoutMs milliseconds."""


@libnvml(
    "nvmlReturn_t nvmlEventSetGetContextCount_v1(nvmlEventSet_t set, "
    "nvmlEventSetGetContextCount_v1_t *params)",
    since="13.4",
)
def nvmlEventSetGetContextCount_v1(
    set: nvmlEventSet_t | int | None, params: nvmlEventSetGetContextCount_v1_t | None
) -> tuple[nvmlReturn_t]:
    """Write how many contexts the last event of `set` has to `params`."""


@libnvml(
    "nvmlReturn_t nvmlEventSetGetContextInfo_v1(nvmlEventSet_t set, nvmlEventSetGetContextInfo_v1_t *params)",
    since="13.4",
)
def nvmlEventSetGetContextInfo_v1(
    set: nvmlEventSet_t | int | None, params: nvmlEventSetGetContextInfo_v1_t | None
) -> tuple[nvmlReturn_t]:
    """Write what the context of number `index` in `params` is to it."""


@libnvml(
    "nvmlReturn_t nvmlEventSetGetContextData_v1(nvmlEventSet_t set, nvmlEventSetGetContextData_v1_t *params)",
    since="13.4",
)
def nvmlEventSetGetContextData_v1(
    set: nvmlEventSet_t | int | None, params: nvmlEventSetGetContextData_v1_t | None
) -> tuple[nvmlReturn_t]:
    """Write the bytes of the context of number `index` in `params` to the memory that it names."""


@libnvml(
    "nvmlReturn_t nvmlEventSetGetGpuOperationalEventContextLegacyXid_v1(nvmlEventSet_t set, "
    "nvmlEventSetGetGpuOperationalEventContextLegacyXid_v1_t *params)",
    since="13.4",
)
def nvmlEventSetGetGpuOperationalEventContextLegacyXid_v1(
    set: nvmlEventSet_t | int | None, params: nvmlEventSetGetGpuOperationalEventContextLegacyXid_v1_t | None
) -> tuple[nvmlReturn_t]:
    """Write the Xid in the context of number `index` in `params` to it."""


@libnvml("nvmlReturn_t nvmlEventSetFree(nvmlEventSet_t set)")
def nvmlEventSetFree(set: nvmlEventSet_t | int | None) -> tuple[nvmlReturn_t]:
    """Destroy `set`."""


@libnvml("nvmlReturn_t nvmlSystemEventSetCreate(nvmlSystemEventSetCreateRequest_t *request)", since="12.9")
def nvmlSystemEventSetCreate(request: nvmlSystemEventSetCreateRequest_t | None) -> tuple[nvmlReturn_t]:
    """Make an empty set of events of the system, in `request`."""


@libnvml("nvmlReturn_t nvmlSystemEventSetFree(nvmlSystemEventSetFreeRequest_t *request)", since="12.9")
def nvmlSystemEventSetFree(request: nvmlSystemEventSetFreeRequest_t | None) -> tuple[nvmlReturn_t]:
    """Destroy the set that `request` names."""


@libnvml("nvmlReturn_t nvmlSystemRegisterEvents(nvmlSystemRegisterEventRequest_t *request)", since="12.9")
def nvmlSystemRegisterEvents(request: nvmlSystemRegisterEventRequest_t | None) -> tuple[nvmlReturn_t]:
    """Record the events of the system that `request` names in its set."""


@libnvml("nvmlReturn_t nvmlSystemEventSetWait(nvmlSystemEventSetWaitRequest_t *request)", since="12.9")
def nvmlSystemEventSetWait(request: nvmlSystemEventSetWaitRequest_t | None) -> tuple[nvmlReturn_t]:
    """Write the next events of the set that `request` names to its array, or fail after its timeoutms
    milliseconds.
    """


# -- Drain states --------------------------------------------------------------------------------------


@libnvml("nvmlReturn_t nvmlDeviceModifyDrainState(nvmlPciInfo_t *pciInfo, nvmlEnableState_t newState)")
def nvmlDeviceModifyDrainState(
    pciInfo: nvmlPciInfo_t | None, newState: nvmlEnableState_t | int
) -> tuple[nvmlReturn_t]:
    """Set whether the GPU at `pciInfo` takes no new clients, to be removed."""


@libnvml("nvmlReturn_t nvmlDeviceQueryDrainState(nvmlPciInfo_t *pciInfo, nvmlEnableState_t *currentState)")
def nvmlDeviceQueryDrainState(pciInfo: nvmlPciInfo_t | None) -> tuple[nvmlReturn_t, nvmlEnableState_t]:
    """Return whether the GPU at `pciInfo` takes no new clients."""


@libnvml(
    "nvmlReturn_t nvmlDeviceRemoveGpu_v2(nvmlPciInfo_t *pciInfo, nvmlDetachGpuState_t gpuState, "
    "nvmlPcieLinkState_t linkState)"
)
def nvmlDeviceRemoveGpu(
    pciInfo: nvmlPciInfo_t | None, gpuState: nvmlDetachGpuState_t | int, linkState: nvmlPcieLinkState_t | int
) -> tuple[nvmlReturn_t]:
    """Take the GPU at `pciInfo` out of the system, which must be draining."""


nvmlDeviceRemoveGpu_v2 = nvmlDeviceRemoveGpu


@libnvml("nvmlReturn_t nvmlDeviceDiscoverGpus(nvmlPciInfo_t *pciInfo)")
def nvmlDeviceDiscoverGpus(pciInfo: nvmlPciInfo_t | None) -> tuple[nvmlReturn_t]:
    """Look for GPUs below `pciInfo` again."""


# -- Field Value Queries -------------------------------------------------------------------------------


@libnvml(
    "nvmlReturn_t nvmlDeviceGetFieldValues(nvmlDevice_t device, int valuesCount, nvmlFieldValue_t *values)",
    sizes={"values": "valuesCount"},
)
def _nvmlDeviceGetFieldValues(
    device: nvmlDevice_t | int | None, valuesCount: int, values: Sequence[nvmlFieldValue_t] | None
) -> tuple[nvmlReturn_t]: ...


def nvmlDeviceGetFieldValues(
    device: nvmlDevice_t | int | None, valuesCount: int, values: Sequence[nvmlFieldValue_t] | nvmlFieldValue_t
) -> tuple[nvmlReturn_t]:
    """Fill `values`, whose fieldId and scopeId say what is asked, in place; each has a status of its own."""
    from ._ffi.convert import fill
    from ._types.nvml.structs import nvmlFieldValue_t

    def call(filled: Any) -> tuple[nvmlReturn_t]:
        return _nvmlDeviceGetFieldValues(device, valuesCount, filled)

    return fill(call, values, nvmlFieldValue_t, "nvmlDeviceGetFieldValues: values")


@libnvml(
    "nvmlReturn_t nvmlDeviceClearFieldValues(nvmlDevice_t device, int valuesCount, nvmlFieldValue_t *values)",
    sizes={"values": "valuesCount"},
)
def _nvmlDeviceClearFieldValues(
    device: nvmlDevice_t | int | None, valuesCount: int, values: Sequence[nvmlFieldValue_t] | None
) -> tuple[nvmlReturn_t]: ...


def nvmlDeviceClearFieldValues(
    device: nvmlDevice_t | int | None, valuesCount: int, values: Sequence[nvmlFieldValue_t] | nvmlFieldValue_t
) -> tuple[nvmlReturn_t]:
    """Set what `values` name back to zero, and give each a status of its own, in place."""
    from ._ffi.convert import fill
    from ._types.nvml.structs import nvmlFieldValue_t

    def call(filled: Any) -> tuple[nvmlReturn_t]:
        return _nvmlDeviceClearFieldValues(device, valuesCount, filled)

    return fill(call, values, nvmlFieldValue_t, "nvmlDeviceClearFieldValues: values")


# -- vGPU APIs -----------------------------------------------------------------------------------------


@libnvml(
    "nvmlReturn_t nvmlDeviceGetVirtualizationMode(nvmlDevice_t device, "
    "nvmlGpuVirtualizationMode_t *pVirtualMode)"
)
def nvmlDeviceGetVirtualizationMode(
    device: nvmlDevice_t | int | None,
) -> tuple[nvmlReturn_t, nvmlGpuVirtualizationMode_t]:
    """Return how `device` is virtualized."""


@libnvml("nvmlReturn_t nvmlDeviceGetHostVgpuMode(nvmlDevice_t device, nvmlHostVgpuMode_t *pHostVgpuMode)")
def nvmlDeviceGetHostVgpuMode(device: nvmlDevice_t | int | None) -> tuple[nvmlReturn_t, nvmlHostVgpuMode_t]:
    """Return how the host shares `device`, with SR-IOV or without."""


@libnvml(
    "nvmlReturn_t nvmlDeviceSetVirtualizationMode(nvmlDevice_t device, "
    "nvmlGpuVirtualizationMode_t virtualMode)"
)
def nvmlDeviceSetVirtualizationMode(
    device: nvmlDevice_t | int | None, virtualMode: nvmlGpuVirtualizationMode_t | int
) -> tuple[nvmlReturn_t]:
    """Set how `device` is virtualized."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetVgpuHeterogeneousMode(nvmlDevice_t device, "
    "nvmlVgpuHeterogeneousMode_t *pHeterogeneousMode)",
    since="12.4",
)
def nvmlDeviceGetVgpuHeterogeneousMode(
    device: nvmlDevice_t | int | None,
) -> tuple[nvmlReturn_t, nvmlVgpuHeterogeneousMode_t]:
    """Return whether vGPUs of several sizes may run on `device`."""


@libnvml(
    "nvmlReturn_t nvmlDeviceSetVgpuHeterogeneousMode(nvmlDevice_t device, "
    "const nvmlVgpuHeterogeneousMode_t *pHeterogeneousMode)",
    since="12.4",
)
def nvmlDeviceSetVgpuHeterogeneousMode(
    device: nvmlDevice_t | int | None, pHeterogeneousMode: nvmlVgpuHeterogeneousMode_t | None
) -> tuple[nvmlReturn_t]:
    """Set whether vGPUs of several sizes may run on `device`."""


@libnvml(
    "nvmlReturn_t nvmlVgpuInstanceGetPlacementId(nvmlVgpuInstance_t vgpuInstance, "
    "nvmlVgpuPlacementId_t *pPlacement)",
    since="12.4",
)
def nvmlVgpuInstanceGetPlacementId(
    vgpuInstance: nvmlVgpuInstance_t | int,
) -> tuple[nvmlReturn_t, nvmlVgpuPlacementId_t]:
    """Return where in the memory `vgpuInstance` is."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetVgpuTypeSupportedPlacements(nvmlDevice_t device, nvmlVgpuTypeId_t vgpuTypeId, "
    "nvmlVgpuPlacementList_t *pPlacementList)",
    since="12.4",
)
def nvmlDeviceGetVgpuTypeSupportedPlacements(
    device: nvmlDevice_t | int | None,
    vgpuTypeId: nvmlVgpuTypeId_t | int,
    pPlacementList: nvmlVgpuPlacementList_t | None,
) -> tuple[nvmlReturn_t]:
    """Write where vGPUs of `vgpuTypeId` may be placed to the array of `pPlacementList`."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetVgpuTypeCreatablePlacements(nvmlDevice_t device, nvmlVgpuTypeId_t vgpuTypeId, "
    "nvmlVgpuPlacementList_t *pPlacementList)",
    since="12.4",
)
def nvmlDeviceGetVgpuTypeCreatablePlacements(
    device: nvmlDevice_t | int | None,
    vgpuTypeId: nvmlVgpuTypeId_t | int,
    pPlacementList: nvmlVgpuPlacementList_t | None,
) -> tuple[nvmlReturn_t]:
    """Write where a vGPU of `vgpuTypeId` can be placed now to the array of `pPlacementList`."""


@libnvml(
    "nvmlReturn_t nvmlVgpuTypeGetGspHeapSize(nvmlVgpuTypeId_t vgpuTypeId, unsigned long long *gspHeapSize)",
    since="12.4",
)
def nvmlVgpuTypeGetGspHeapSize(vgpuTypeId: nvmlVgpuTypeId_t | int) -> tuple[nvmlReturn_t, int]:
    """Return the heap of the system processor that a vGPU of `vgpuTypeId` takes, in bytes."""


@libnvml(
    "nvmlReturn_t nvmlVgpuTypeGetFbReservation(nvmlVgpuTypeId_t vgpuTypeId, "
    "unsigned long long *fbReservation)",
    since="12.4",
)
def nvmlVgpuTypeGetFbReservation(vgpuTypeId: nvmlVgpuTypeId_t | int) -> tuple[nvmlReturn_t, int]:
    """Return the memory that is reserved for a vGPU of `vgpuTypeId`, in bytes."""


@libnvml(
    "nvmlReturn_t nvmlVgpuInstanceGetRuntimeStateSize(nvmlVgpuInstance_t vgpuInstance, "
    "nvmlVgpuRuntimeState_t *pState)",
    since="12.8",
)
def nvmlVgpuInstanceGetRuntimeStateSize(
    vgpuInstance: nvmlVgpuInstance_t | int,
) -> tuple[nvmlReturn_t, nvmlVgpuRuntimeState_t]:
    """Return the size of the state of `vgpuInstance`, in bytes."""


@libnvml(
    "nvmlReturn_t nvmlDeviceSetVgpuCapabilities(nvmlDevice_t device, nvmlDeviceVgpuCapability_t capability, "
    "nvmlEnableState_t state)",
    since="12.4",
)
def nvmlDeviceSetVgpuCapabilities(
    device: nvmlDevice_t | int | None,
    capability: nvmlDeviceVgpuCapability_t | int,
    state: nvmlEnableState_t | int,
) -> tuple[nvmlReturn_t]:
    """Switch a capability of `device` for vGPUs."""


@libnvml("nvmlReturn_t nvmlDeviceVgpuForceGspUnload(nvmlDevice_t device)", since="13.2")
def nvmlDeviceVgpuForceGspUnload(device: nvmlDevice_t | int | None) -> tuple[nvmlReturn_t]:
    """Unload the firmware of the GPU's system processor from a vGPU."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetGridLicensableFeatures_v4(nvmlDevice_t device, "
    "nvmlGridLicensableFeatures_t *pGridLicensableFeatures)"
)
def nvmlDeviceGetGridLicensableFeatures(
    device: nvmlDevice_t | int | None,
) -> tuple[nvmlReturn_t, nvmlGridLicensableFeatures_t]:
    """Return the features of `device` that need a vGPU license, and their state."""


nvmlDeviceGetGridLicensableFeatures_v4 = nvmlDeviceGetGridLicensableFeatures


# -- vGPU Management -----------------------------------------------------------------------------------


@libnvml(
    "nvmlReturn_t nvmlGetVgpuDriverCapabilities(nvmlVgpuDriverCapability_t capability, "
    "unsigned int *capResult)"
)
def nvmlGetVgpuDriverCapabilities(capability: nvmlVgpuDriverCapability_t | int) -> tuple[nvmlReturn_t, int]:
    """Return whether the driver has a capability for vGPUs."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetVgpuCapabilities(nvmlDevice_t device, nvmlDeviceVgpuCapability_t capability, "
    "unsigned int *capResult)"
)
def nvmlDeviceGetVgpuCapabilities(
    device: nvmlDevice_t | int | None, capability: nvmlDeviceVgpuCapability_t | int
) -> tuple[nvmlReturn_t, int]:
    """Return whether `device` has a capability for vGPUs."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetSupportedVgpus(nvmlDevice_t device, unsigned int *vgpuCount, "
    "nvmlVgpuTypeId_t *vgpuTypeIds)",
    sizes={"vgpuTypeIds": "vgpuCount"},
)
def nvmlDeviceGetSupportedVgpus(
    device: nvmlDevice_t | int | None, vgpuCount: int | None = None
) -> tuple[nvmlReturn_t, int, list[nvmlVgpuTypeId_t]]:
    """Return the types of vGPU that `device` can have."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetCreatableVgpus(nvmlDevice_t device, unsigned int *vgpuCount, "
    "nvmlVgpuTypeId_t *vgpuTypeIds)",
    sizes={"vgpuTypeIds": "vgpuCount"},
)
def nvmlDeviceGetCreatableVgpus(
    device: nvmlDevice_t | int | None, vgpuCount: int | None = None
) -> tuple[nvmlReturn_t, int, list[nvmlVgpuTypeId_t]]:
    """Return the types of vGPU that can be made on `device` now."""


@libnvml(
    "nvmlReturn_t nvmlVgpuTypeGetClass(nvmlVgpuTypeId_t vgpuTypeId, char *vgpuTypeClass, unsigned int *size)",
    sizes={"vgpuTypeClass": "size"},
)
def nvmlVgpuTypeGetClass(
    vgpuTypeId: nvmlVgpuTypeId_t | int, size: int | None = None
) -> tuple[nvmlReturn_t, bytes, int]:
    """Return the class of a type of vGPU, such as b"Quadro", in `size` bytes."""


@libnvml(
    "nvmlReturn_t nvmlVgpuTypeGetName(nvmlVgpuTypeId_t vgpuTypeId, char *vgpuTypeName, unsigned int *size)",
    sizes={"vgpuTypeName": "size"},
)
def nvmlVgpuTypeGetName(
    vgpuTypeId: nvmlVgpuTypeId_t | int, size: int | None = None
) -> tuple[nvmlReturn_t, bytes, int]:
    """Return the name of a type of vGPU, in `size` bytes."""


@libnvml(
    "nvmlReturn_t nvmlVgpuTypeGetGpuInstanceProfileId(nvmlVgpuTypeId_t vgpuTypeId, "
    "unsigned int *gpuInstanceProfileId)"
)
def nvmlVgpuTypeGetGpuInstanceProfileId(vgpuTypeId: nvmlVgpuTypeId_t | int) -> tuple[nvmlReturn_t, int]:
    """Return the profile of the GPU instance that a type of vGPU needs."""


@libnvml(
    "nvmlReturn_t nvmlVgpuTypeGetDeviceID(nvmlVgpuTypeId_t vgpuTypeId, unsigned long long *deviceID, "
    "unsigned long long *subsystemID)"
)
def nvmlVgpuTypeGetDeviceID(vgpuTypeId: nvmlVgpuTypeId_t | int) -> tuple[nvmlReturn_t, int, int]:
    """Return the numbers of device and subsystem of a type of vGPU."""


@libnvml(
    "nvmlReturn_t nvmlVgpuTypeGetFramebufferSize(nvmlVgpuTypeId_t vgpuTypeId, unsigned long long *fbSize)"
)
def nvmlVgpuTypeGetFramebufferSize(vgpuTypeId: nvmlVgpuTypeId_t | int) -> tuple[nvmlReturn_t, int]:
    """Return the memory of a type of vGPU, in bytes."""


@libnvml(
    "nvmlReturn_t nvmlVgpuTypeGetNumDisplayHeads(nvmlVgpuTypeId_t vgpuTypeId, unsigned int *numDisplayHeads)"
)
def nvmlVgpuTypeGetNumDisplayHeads(vgpuTypeId: nvmlVgpuTypeId_t | int) -> tuple[nvmlReturn_t, int]:
    """Return the number of displays of a type of vGPU."""


@libnvml(
    "nvmlReturn_t nvmlVgpuTypeGetResolution(nvmlVgpuTypeId_t vgpuTypeId, unsigned int displayIndex, "
    "unsigned int *xdim, unsigned int *ydim)"
)
def nvmlVgpuTypeGetResolution(
    vgpuTypeId: nvmlVgpuTypeId_t | int, displayIndex: int
) -> tuple[nvmlReturn_t, int, int]:
    """Return the largest width and height of display `displayIndex` of a type of vGPU."""


@libnvml(
    "nvmlReturn_t nvmlVgpuTypeGetLicense(nvmlVgpuTypeId_t vgpuTypeId, char *vgpuTypeLicenseString, "
    "unsigned int size)",
    sizes={"vgpuTypeLicenseString": "size"},
)
def nvmlVgpuTypeGetLicense(vgpuTypeId: nvmlVgpuTypeId_t | int, size: int = 128) -> tuple[nvmlReturn_t, bytes]:
    """Return the license that a type of vGPU needs, in `size` bytes."""


@libnvml(
    "nvmlReturn_t nvmlVgpuTypeGetFrameRateLimit(nvmlVgpuTypeId_t vgpuTypeId, unsigned int *frameRateLimit)"
)
def nvmlVgpuTypeGetFrameRateLimit(vgpuTypeId: nvmlVgpuTypeId_t | int) -> tuple[nvmlReturn_t, int]:
    """Return the frames a second that a type of vGPU is limited to."""


@libnvml(
    "nvmlReturn_t nvmlVgpuTypeGetMaxInstances(nvmlDevice_t device, nvmlVgpuTypeId_t vgpuTypeId, "
    "unsigned int *vgpuInstanceCount)"
)
def nvmlVgpuTypeGetMaxInstances(
    device: nvmlDevice_t | int | None, vgpuTypeId: nvmlVgpuTypeId_t | int
) -> tuple[nvmlReturn_t, int]:
    """Return how many vGPUs of a type `device` can have."""


@libnvml(
    "nvmlReturn_t nvmlVgpuTypeGetMaxInstancesPerVm(nvmlVgpuTypeId_t vgpuTypeId, "
    "unsigned int *vgpuInstanceCountPerVm)"
)
def nvmlVgpuTypeGetMaxInstancesPerVm(vgpuTypeId: nvmlVgpuTypeId_t | int) -> tuple[nvmlReturn_t, int]:
    """Return how many vGPUs of a type a virtual machine can have."""


@libnvml(
    "nvmlReturn_t nvmlVgpuTypeGetBAR1Info(nvmlVgpuTypeId_t vgpuTypeId, nvmlVgpuTypeBar1Info_t *bar1Info)",
    since="12.6",
)
def nvmlVgpuTypeGetBAR1Info(
    vgpuTypeId: nvmlVgpuTypeId_t | int,
) -> tuple[nvmlReturn_t, nvmlVgpuTypeBar1Info_t]:
    """Return the size of BAR1 of a type of vGPU, in MiB."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetActiveVgpus(nvmlDevice_t device, unsigned int *vgpuCount, "
    "nvmlVgpuInstance_t *vgpuInstances)",
    sizes={"vgpuInstances": "vgpuCount"},
)
def nvmlDeviceGetActiveVgpus(
    device: nvmlDevice_t | int | None, vgpuCount: int | None = None
) -> tuple[nvmlReturn_t, int, list[nvmlVgpuInstance_t]]:
    """Return the vGPUs that run on `device`."""


@libnvml(
    "nvmlReturn_t nvmlVgpuInstanceGetVmID(nvmlVgpuInstance_t vgpuInstance, char *vmId, unsigned int size, "
    "nvmlVgpuVmIdType_t *vmIdType)",
    sizes={"vmId": "size"},
)
def nvmlVgpuInstanceGetVmID(
    vgpuInstance: nvmlVgpuInstance_t | int, size: int = 80
) -> tuple[nvmlReturn_t, bytes, nvmlVgpuVmIdType_t]:
    """Return the virtual machine of `vgpuInstance`, in `size` bytes, and of which kind its name is."""


@libnvml(
    "nvmlReturn_t nvmlVgpuInstanceGetUUID(nvmlVgpuInstance_t vgpuInstance, char *uuid, unsigned int size)",
    sizes={"uuid": "size"},
)
def nvmlVgpuInstanceGetUUID(
    vgpuInstance: nvmlVgpuInstance_t | int, size: int = 80
) -> tuple[nvmlReturn_t, bytes]:
    """Return the UUID of `vgpuInstance` as text, in `size` bytes."""


@libnvml(
    "nvmlReturn_t nvmlVgpuInstanceGetVmDriverVersion(nvmlVgpuInstance_t vgpuInstance, char *version, "
    "unsigned int length)",
    sizes={"version": "length"},
)
def nvmlVgpuInstanceGetVmDriverVersion(
    vgpuInstance: nvmlVgpuInstance_t | int, length: int = 80
) -> tuple[nvmlReturn_t, bytes]:
    """Return the driver in the virtual machine of `vgpuInstance`, in `length` bytes."""


@libnvml(
    "nvmlReturn_t nvmlVgpuInstanceGetFbUsage(nvmlVgpuInstance_t vgpuInstance, unsigned long long *fbUsage)"
)
def nvmlVgpuInstanceGetFbUsage(vgpuInstance: nvmlVgpuInstance_t | int) -> tuple[nvmlReturn_t, int]:
    """Return the memory that `vgpuInstance` uses, in bytes."""


@libnvml(
    "nvmlReturn_t nvmlVgpuInstanceGetLicenseStatus(nvmlVgpuInstance_t vgpuInstance, unsigned int *licensed)"
)
def nvmlVgpuInstanceGetLicenseStatus(vgpuInstance: nvmlVgpuInstance_t | int) -> tuple[nvmlReturn_t, int]:
    """Return whether `vgpuInstance` has a license; deprecated for nvmlVgpuInstanceGetLicenseInfo."""


@libnvml(
    "nvmlReturn_t nvmlVgpuInstanceGetType(nvmlVgpuInstance_t vgpuInstance, nvmlVgpuTypeId_t *vgpuTypeId)"
)
def nvmlVgpuInstanceGetType(vgpuInstance: nvmlVgpuInstance_t | int) -> tuple[nvmlReturn_t, nvmlVgpuTypeId_t]:
    """Return the type of `vgpuInstance`."""


@libnvml(
    "nvmlReturn_t nvmlVgpuInstanceGetFrameRateLimit(nvmlVgpuInstance_t vgpuInstance, "
    "unsigned int *frameRateLimit)"
)
def nvmlVgpuInstanceGetFrameRateLimit(vgpuInstance: nvmlVgpuInstance_t | int) -> tuple[nvmlReturn_t, int]:
    """Return the frames a second that `vgpuInstance` is limited to, 0 for no limit."""


@libnvml(
    "nvmlReturn_t nvmlVgpuInstanceGetEccMode(nvmlVgpuInstance_t vgpuInstance, nvmlEnableState_t *eccMode)"
)
def nvmlVgpuInstanceGetEccMode(
    vgpuInstance: nvmlVgpuInstance_t | int,
) -> tuple[nvmlReturn_t, nvmlEnableState_t]:
    """Return whether ECC is on for `vgpuInstance`."""


@libnvml(
    "nvmlReturn_t nvmlVgpuInstanceGetEncoderCapacity(nvmlVgpuInstance_t vgpuInstance, "
    "unsigned int *encoderCapacity)"
)
def nvmlVgpuInstanceGetEncoderCapacity(vgpuInstance: nvmlVgpuInstance_t | int) -> tuple[nvmlReturn_t, int]:
    """Return the share of the encoder that `vgpuInstance` has, in percent."""


@libnvml(
    "nvmlReturn_t nvmlVgpuInstanceSetEncoderCapacity(nvmlVgpuInstance_t vgpuInstance, "
    "unsigned int encoderCapacity)"
)
def nvmlVgpuInstanceSetEncoderCapacity(
    vgpuInstance: nvmlVgpuInstance_t | int, encoderCapacity: int
) -> tuple[nvmlReturn_t]:
    """Set the share of the encoder that `vgpuInstance` has, in percent."""


@libnvml(
    "nvmlReturn_t nvmlVgpuInstanceGetEncoderStats(nvmlVgpuInstance_t vgpuInstance, "
    "unsigned int *sessionCount, unsigned int *averageFps, unsigned int *averageLatency)"
)
def nvmlVgpuInstanceGetEncoderStats(
    vgpuInstance: nvmlVgpuInstance_t | int,
) -> tuple[nvmlReturn_t, int, int, int]:
    """Return the number of encoder sessions, their average frames a second and latency in microseconds."""


@libnvml(
    "nvmlReturn_t nvmlVgpuInstanceGetEncoderSessions(nvmlVgpuInstance_t vgpuInstance, "
    "unsigned int *sessionCount, nvmlEncoderSessionInfo_t *sessionInfo)",
    sizes={"sessionInfo": "sessionCount"},
)
def nvmlVgpuInstanceGetEncoderSessions(
    vgpuInstance: nvmlVgpuInstance_t | int, sessionCount: int | None = None
) -> tuple[nvmlReturn_t, int, list[nvmlEncoderSessionInfo_t]]:
    """Return the encoder sessions of `vgpuInstance`."""


@libnvml(
    "nvmlReturn_t nvmlVgpuInstanceGetFBCStats(nvmlVgpuInstance_t vgpuInstance, nvmlFBCStats_t *fbcStats)"
)
def nvmlVgpuInstanceGetFBCStats(
    vgpuInstance: nvmlVgpuInstance_t | int,
) -> tuple[nvmlReturn_t, nvmlFBCStats_t]:
    """Return the number of frame buffer capture sessions, their average frames a second and latency."""


@libnvml(
    "nvmlReturn_t nvmlVgpuInstanceGetFBCSessions(nvmlVgpuInstance_t vgpuInstance, "
    "unsigned int *sessionCount, nvmlFBCSessionInfo_t *sessionInfo)",
    sizes={"sessionInfo": "sessionCount"},
)
def nvmlVgpuInstanceGetFBCSessions(
    vgpuInstance: nvmlVgpuInstance_t | int, sessionCount: int | None = None
) -> tuple[nvmlReturn_t, int, list[nvmlFBCSessionInfo_t]]:
    """Return the frame buffer capture sessions of `vgpuInstance`."""


@libnvml(
    "nvmlReturn_t nvmlVgpuInstanceGetGpuInstanceId(nvmlVgpuInstance_t vgpuInstance, "
    "unsigned int *gpuInstanceId)"
)
def nvmlVgpuInstanceGetGpuInstanceId(vgpuInstance: nvmlVgpuInstance_t | int) -> tuple[nvmlReturn_t, int]:
    """Return the GPU instance of `vgpuInstance`."""


@libnvml(
    "nvmlReturn_t nvmlVgpuInstanceGetGpuPciId(nvmlVgpuInstance_t vgpuInstance, char *vgpuPciId, "
    "unsigned int *length)",
    sizes={"vgpuPciId": "length"},
)
def nvmlVgpuInstanceGetGpuPciId(
    vgpuInstance: nvmlVgpuInstance_t | int, length: int | None = None
) -> tuple[nvmlReturn_t, bytes, int]:
    """Return where on the PCI bus the virtual machine has `vgpuInstance`, in `length` bytes."""


@libnvml(
    "nvmlReturn_t nvmlVgpuTypeGetCapabilities(nvmlVgpuTypeId_t vgpuTypeId, nvmlVgpuCapability_t capability, "
    "unsigned int *capResult)"
)
def nvmlVgpuTypeGetCapabilities(
    vgpuTypeId: nvmlVgpuTypeId_t | int, capability: nvmlVgpuCapability_t | int
) -> tuple[nvmlReturn_t, int]:
    """Return whether a type of vGPU has a capability."""


@libnvml(
    "nvmlReturn_t nvmlVgpuInstanceGetMdevUUID(nvmlVgpuInstance_t vgpuInstance, char *mdevUuid, "
    "unsigned int size)",
    sizes={"mdevUuid": "size"},
)
def nvmlVgpuInstanceGetMdevUUID(
    vgpuInstance: nvmlVgpuInstance_t | int, size: int = 80
) -> tuple[nvmlReturn_t, bytes]:
    """Return the UUID of the mediated device of `vgpuInstance`, in `size` bytes."""


@libnvml(
    "nvmlReturn_t nvmlGpuInstanceGetCreatableVgpus(nvmlGpuInstance_t gpuInstance, "
    "nvmlVgpuTypeIdInfo_t *pVgpus)",
    since="12.9",
)
def nvmlGpuInstanceGetCreatableVgpus(
    gpuInstance: nvmlGpuInstance_t | int | None, pVgpus: nvmlVgpuTypeIdInfo_t | None
) -> tuple[nvmlReturn_t]:
    """Write the types of vGPU that can be made on a GPU instance now to the array of `pVgpus`."""


@libnvml(
    "nvmlReturn_t nvmlVgpuTypeGetMaxInstancesPerGpuInstance(nvmlVgpuTypeMaxInstance_t *pMaxInstance)",
    since="12.9",
)
def nvmlVgpuTypeGetMaxInstancesPerGpuInstance(
    pMaxInstance: nvmlVgpuTypeMaxInstance_t | None,
) -> tuple[nvmlReturn_t]:
    """Write how many vGPUs of the type that `pMaxInstance` names a GPU instance can have to it."""


@libnvml(
    "nvmlReturn_t nvmlGpuInstanceGetActiveVgpus(nvmlGpuInstance_t gpuInstance, "
    "nvmlActiveVgpuInstanceInfo_t *pVgpuInstanceInfo)",
    since="12.9",
)
def nvmlGpuInstanceGetActiveVgpus(
    gpuInstance: nvmlGpuInstance_t | int | None, pVgpuInstanceInfo: nvmlActiveVgpuInstanceInfo_t | None
) -> tuple[nvmlReturn_t]:
    """Write the vGPUs that run on a GPU instance to the array of `pVgpuInstanceInfo`."""


@libnvml(
    "nvmlReturn_t nvmlGpuInstanceSetVgpuSchedulerState(nvmlGpuInstance_t gpuInstance, "
    "nvmlVgpuSchedulerState_t *pScheduler)",
    since="12.9",
)
def nvmlGpuInstanceSetVgpuSchedulerState(
    gpuInstance: nvmlGpuInstance_t | int | None, pScheduler: nvmlVgpuSchedulerState_t | None
) -> tuple[nvmlReturn_t]:
    """Set how vGPUs take turns on a GPU instance."""


@libnvml(
    "nvmlReturn_t nvmlGpuInstanceGetVgpuSchedulerState(nvmlGpuInstance_t gpuInstance, "
    "nvmlVgpuSchedulerStateInfo_t *pSchedulerStateInfo)",
    since="12.9",
)
def nvmlGpuInstanceGetVgpuSchedulerState(
    gpuInstance: nvmlGpuInstance_t | int | None, pSchedulerStateInfo: nvmlVgpuSchedulerStateInfo_t | None
) -> tuple[nvmlReturn_t]:
    """Write how vGPUs take turns on the engine that `pSchedulerStateInfo` names to it."""


@libnvml(
    "nvmlReturn_t nvmlGpuInstanceGetVgpuSchedulerLog(nvmlGpuInstance_t gpuInstance, "
    "nvmlVgpuSchedulerLogInfo_t *pSchedulerLogInfo)",
    since="12.9",
)
def nvmlGpuInstanceGetVgpuSchedulerLog(
    gpuInstance: nvmlGpuInstance_t | int | None, pSchedulerLogInfo: nvmlVgpuSchedulerLogInfo_t | None
) -> tuple[nvmlReturn_t]:
    """Write the log of the scheduler of the engine that `pSchedulerLogInfo` names to it."""


@libnvml(
    "nvmlReturn_t nvmlGpuInstanceGetVgpuTypeCreatablePlacements(nvmlGpuInstance_t gpuInstance, "
    "nvmlVgpuCreatablePlacementInfo_t *pCreatablePlacementInfo)",
    since="12.9",
)
def nvmlGpuInstanceGetVgpuTypeCreatablePlacements(
    gpuInstance: nvmlGpuInstance_t | int | None,
    pCreatablePlacementInfo: nvmlVgpuCreatablePlacementInfo_t | None,
) -> tuple[nvmlReturn_t]:
    """Write where a vGPU of the type in `pCreatablePlacementInfo` can be placed now to its array."""


@libnvml(
    "nvmlReturn_t nvmlGpuInstanceGetVgpuHeterogeneousMode(nvmlGpuInstance_t gpuInstance, "
    "nvmlVgpuHeterogeneousMode_t *pHeterogeneousMode)",
    since="12.9",
)
def nvmlGpuInstanceGetVgpuHeterogeneousMode(
    gpuInstance: nvmlGpuInstance_t | int | None,
) -> tuple[nvmlReturn_t, nvmlVgpuHeterogeneousMode_t]:
    """Return whether vGPUs of several sizes may run on a GPU instance."""


@libnvml(
    "nvmlReturn_t nvmlGpuInstanceSetVgpuHeterogeneousMode(nvmlGpuInstance_t gpuInstance, "
    "const nvmlVgpuHeterogeneousMode_t *pHeterogeneousMode)",
    since="12.9",
)
def nvmlGpuInstanceSetVgpuHeterogeneousMode(
    gpuInstance: nvmlGpuInstance_t | int | None, pHeterogeneousMode: nvmlVgpuHeterogeneousMode_t | None
) -> tuple[nvmlReturn_t]:
    """Set whether vGPUs of several sizes may run on a GPU instance."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetVgpuSchedulerState_v2(nvmlDevice_t device, "
    "nvmlVgpuSchedulerStateInfo_v2_t *pSchedulerStateInfo)",
    since="13.2",
)
def nvmlDeviceGetVgpuSchedulerState_v2(
    device: nvmlDevice_t | int | None, pSchedulerStateInfo: nvmlVgpuSchedulerStateInfo_v2_t | None
) -> tuple[nvmlReturn_t]:
    """Write how vGPUs take turns on the engine that `pSchedulerStateInfo` names to it."""


@libnvml(
    "nvmlReturn_t nvmlGpuInstanceGetVgpuSchedulerState_v2(nvmlGpuInstance_t gpuInstance, "
    "nvmlVgpuSchedulerStateInfo_v2_t *pSchedulerStateInfo)",
    since="13.2",
)
def nvmlGpuInstanceGetVgpuSchedulerState_v2(
    gpuInstance: nvmlGpuInstance_t | int | None, pSchedulerStateInfo: nvmlVgpuSchedulerStateInfo_v2_t | None
) -> tuple[nvmlReturn_t]:
    """Write how vGPUs take turns on the engine that `pSchedulerStateInfo` names to it."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetVgpuSchedulerLog_v2(nvmlDevice_t device, "
    "nvmlVgpuSchedulerLogInfo_v2_t *pSchedulerLogInfo)",
    since="13.2",
)
def nvmlDeviceGetVgpuSchedulerLog_v2(
    device: nvmlDevice_t | int | None, pSchedulerLogInfo: nvmlVgpuSchedulerLogInfo_v2_t | None
) -> tuple[nvmlReturn_t]:
    """Write the log of the scheduler of the engine that `pSchedulerLogInfo` names to it."""


@libnvml(
    "nvmlReturn_t nvmlGpuInstanceGetVgpuSchedulerLog_v2(nvmlGpuInstance_t gpuInstance, "
    "nvmlVgpuSchedulerLogInfo_v2_t *pSchedulerLogInfo)",
    since="13.2",
)
def nvmlGpuInstanceGetVgpuSchedulerLog_v2(
    gpuInstance: nvmlGpuInstance_t | int | None, pSchedulerLogInfo: nvmlVgpuSchedulerLogInfo_v2_t | None
) -> tuple[nvmlReturn_t]:
    """Write the log of the scheduler of the engine that `pSchedulerLogInfo` names to it."""


@libnvml(
    "nvmlReturn_t nvmlDeviceSetVgpuSchedulerState_v2(nvmlDevice_t device, "
    "nvmlVgpuSchedulerState_v2_t *pSchedulerState)",
    since="13.2",
)
def nvmlDeviceSetVgpuSchedulerState_v2(
    device: nvmlDevice_t | int | None, pSchedulerState: nvmlVgpuSchedulerState_v2_t | None
) -> tuple[nvmlReturn_t]:
    """Set how vGPUs take turns on `device`."""


@libnvml(
    "nvmlReturn_t nvmlGpuInstanceSetVgpuSchedulerState_v2(nvmlGpuInstance_t gpuInstance, "
    "nvmlVgpuSchedulerState_v2_t *pSchedulerState)",
    since="13.2",
)
def nvmlGpuInstanceSetVgpuSchedulerState_v2(
    gpuInstance: nvmlGpuInstance_t | int | None, pSchedulerState: nvmlVgpuSchedulerState_v2_t | None
) -> tuple[nvmlReturn_t]:
    """Set how vGPUs take turns on a GPU instance."""


# -- vGPU Migration ------------------------------------------------------------------------------------


@libnvml(
    "nvmlReturn_t nvmlVgpuInstanceGetMetadata(nvmlVgpuInstance_t vgpuInstance, "
    "nvmlVgpuMetadata_t *vgpuMetadata, unsigned int *bufferSize)"
)
def nvmlVgpuInstanceGetMetadata(
    vgpuInstance: nvmlVgpuInstance_t | int, vgpuMetadata: nvmlVgpuMetadata_t | None, bufferSize: int
) -> tuple[nvmlReturn_t, int]:
    """Write what decides on migration about `vgpuInstance` to `vgpuMetadata`, of `bufferSize` bytes;
    return how many it takes.
    """


@libnvml(
    "nvmlReturn_t nvmlDeviceGetVgpuMetadata(nvmlDevice_t device, nvmlVgpuPgpuMetadata_t *pgpuMetadata, "
    "unsigned int *bufferSize)"
)
def nvmlDeviceGetVgpuMetadata(
    device: nvmlDevice_t | int | None, pgpuMetadata: nvmlVgpuPgpuMetadata_t | None, bufferSize: int
) -> tuple[nvmlReturn_t, int]:
    """Write what decides on migration about `device` to `pgpuMetadata`, of `bufferSize` bytes; return how
    many it takes.
    """


@libnvml(
    "nvmlReturn_t nvmlGetVgpuCompatibility(nvmlVgpuMetadata_t *vgpuMetadata, "
    "nvmlVgpuPgpuMetadata_t *pgpuMetadata, nvmlVgpuPgpuCompatibility_t *compatibilityInfo)"
)
def nvmlGetVgpuCompatibility(
    vgpuMetadata: nvmlVgpuMetadata_t | None, pgpuMetadata: nvmlVgpuPgpuMetadata_t | None
) -> tuple[nvmlReturn_t, nvmlVgpuPgpuCompatibility_t]:
    """Return whether a vGPU can move to a GPU, and what stands against it."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetPgpuMetadataString(nvmlDevice_t device, char *pgpuMetadata, "
    "unsigned int *bufferSize)",
    sizes={"pgpuMetadata": "bufferSize"},
)
def nvmlDeviceGetPgpuMetadataString(
    device: nvmlDevice_t | int | None, bufferSize: int | None = None
) -> tuple[nvmlReturn_t, bytes, int]:
    """Return what decides on migration about `device` as text, in `bufferSize` bytes."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetVgpuSchedulerLog(nvmlDevice_t device, nvmlVgpuSchedulerLog_t *pSchedulerLog)"
)
def nvmlDeviceGetVgpuSchedulerLog(
    device: nvmlDevice_t | int | None,
) -> tuple[nvmlReturn_t, nvmlVgpuSchedulerLog_t]:
    """Return the log of the scheduler of vGPUs."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetVgpuSchedulerState(nvmlDevice_t device, "
    "nvmlVgpuSchedulerGetState_t *pSchedulerState)"
)
def nvmlDeviceGetVgpuSchedulerState(
    device: nvmlDevice_t | int | None,
) -> tuple[nvmlReturn_t, nvmlVgpuSchedulerGetState_t]:
    """Return how vGPUs take turns."""


@libnvml(
    "nvmlReturn_t nvmlDeviceSetVgpuSchedulerState(nvmlDevice_t device, "
    "nvmlVgpuSchedulerSetState_t *pSchedulerState)",
    since="12.2",
)
def nvmlDeviceSetVgpuSchedulerState(
    device: nvmlDevice_t | int | None, pSchedulerState: nvmlVgpuSchedulerSetState_t | None
) -> tuple[nvmlReturn_t]:
    """Set how vGPUs take turns."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetVgpuSchedulerCapabilities(nvmlDevice_t device, "
    "nvmlVgpuSchedulerCapabilities_t *pCapabilities)"
)
def nvmlDeviceGetVgpuSchedulerCapabilities(
    device: nvmlDevice_t | int | None,
) -> tuple[nvmlReturn_t, nvmlVgpuSchedulerCapabilities_t]:
    """Return how vGPUs can take turns."""


@libnvml("nvmlReturn_t nvmlGetVgpuVersion(nvmlVgpuVersion_t *supported, nvmlVgpuVersion_t *current)")
def nvmlGetVgpuVersion() -> tuple[nvmlReturn_t, nvmlVgpuVersion_t, nvmlVgpuVersion_t]:
    """Return the versions of vGPU that are supported, and those that are allowed."""


@libnvml("nvmlReturn_t nvmlSetVgpuVersion(nvmlVgpuVersion_t *vgpuVersion)")
def nvmlSetVgpuVersion(vgpuVersion: nvmlVgpuVersion_t | None) -> tuple[nvmlReturn_t]:
    """Set the versions of vGPU that are allowed."""


# -- vGPU Utilization and Accounting -------------------------------------------------------------------


@libnvml(
    "nvmlReturn_t nvmlDeviceGetVgpuUtilization(nvmlDevice_t device, unsigned long long lastSeenTimeStamp, "
    "nvmlValueType_t *sampleValType, unsigned int *vgpuInstanceSamplesCount, "
    "nvmlVgpuInstanceUtilizationSample_t *utilizationSamples)",
    sizes={"utilizationSamples": "vgpuInstanceSamplesCount"},
)
def nvmlDeviceGetVgpuUtilization(
    device: nvmlDevice_t | int | None, lastSeenTimeStamp: int, vgpuInstanceSamplesCount: int | None = None
) -> tuple[nvmlReturn_t, nvmlValueType_t, int, list[nvmlVgpuInstanceUtilizationSample_t]]:
    """Return how busy each vGPU kept the GPU, in samples newer than `lastSeenTimeStamp`, in microseconds."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetVgpuInstancesUtilizationInfo(nvmlDevice_t device, "
    "nvmlVgpuInstancesUtilizationInfo_t *vgpuUtilInfo)",
    since="12.4",
)
def nvmlDeviceGetVgpuInstancesUtilizationInfo(
    device: nvmlDevice_t | int | None, vgpuUtilInfo: nvmlVgpuInstancesUtilizationInfo_t | None
) -> tuple[nvmlReturn_t]:
    """Write how busy each vGPU kept the parts of the GPU to the array of `vgpuUtilInfo`."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetVgpuProcessUtilization(nvmlDevice_t device, "
    "unsigned long long lastSeenTimeStamp, unsigned int *vgpuProcessSamplesCount, "
    "nvmlVgpuProcessUtilizationSample_t *utilizationSamples)",
    sizes={"utilizationSamples": "vgpuProcessSamplesCount"},
)
def nvmlDeviceGetVgpuProcessUtilization(
    device: nvmlDevice_t | int | None, lastSeenTimeStamp: int, vgpuProcessSamplesCount: int | None = None
) -> tuple[nvmlReturn_t, int, list[nvmlVgpuProcessUtilizationSample_t]]:
    """Return how busy each process of a vGPU kept the GPU, newer than `lastSeenTimeStamp`, in
    microseconds.
    """


@libnvml(
    "nvmlReturn_t nvmlDeviceGetVgpuProcessesUtilizationInfo(nvmlDevice_t device, "
    "nvmlVgpuProcessesUtilizationInfo_t *vgpuProcUtilInfo)",
    since="12.4",
)
def nvmlDeviceGetVgpuProcessesUtilizationInfo(
    device: nvmlDevice_t | int | None, vgpuProcUtilInfo: nvmlVgpuProcessesUtilizationInfo_t | None
) -> tuple[nvmlReturn_t]:
    """Write how busy each process of a vGPU kept the parts of the GPU to the array of `vgpuProcUtilInfo`."""


@libnvml(
    "nvmlReturn_t nvmlVgpuInstanceGetAccountingMode(nvmlVgpuInstance_t vgpuInstance, nvmlEnableState_t *mode)"
)
def nvmlVgpuInstanceGetAccountingMode(
    vgpuInstance: nvmlVgpuInstance_t | int,
) -> tuple[nvmlReturn_t, nvmlEnableState_t]:
    """Return whether statistics of processes are kept in `vgpuInstance`."""


@libnvml(
    "nvmlReturn_t nvmlVgpuInstanceGetAccountingPids(nvmlVgpuInstance_t vgpuInstance, unsigned int *count, "
    "unsigned int *pids)",
    sizes={"pids": "count"},
)
def nvmlVgpuInstanceGetAccountingPids(
    vgpuInstance: nvmlVgpuInstance_t | int, count: int | None = None
) -> tuple[nvmlReturn_t, int, list[int]]:
    """Return the processes in `vgpuInstance` that statistics are kept of."""


@libnvml(
    "nvmlReturn_t nvmlVgpuInstanceGetAccountingStats(nvmlVgpuInstance_t vgpuInstance, unsigned int pid, "
    "nvmlAccountingStats_t *stats)"
)
def nvmlVgpuInstanceGetAccountingStats(
    vgpuInstance: nvmlVgpuInstance_t | int, pid: int
) -> tuple[nvmlReturn_t, nvmlAccountingStats_t]:
    """Return the statistics of process `pid` in `vgpuInstance`."""


@libnvml("nvmlReturn_t nvmlVgpuInstanceClearAccountingPids(nvmlVgpuInstance_t vgpuInstance)")
def nvmlVgpuInstanceClearAccountingPids(vgpuInstance: nvmlVgpuInstance_t | int) -> tuple[nvmlReturn_t]:
    """Forget the statistics of processes in `vgpuInstance` that have ended."""


@libnvml(
    "nvmlReturn_t nvmlVgpuInstanceGetLicenseInfo_v2(nvmlVgpuInstance_t vgpuInstance, "
    "nvmlVgpuLicenseInfo_t *licenseInfo)"
)
def nvmlVgpuInstanceGetLicenseInfo(
    vgpuInstance: nvmlVgpuInstance_t | int,
) -> tuple[nvmlReturn_t, nvmlVgpuLicenseInfo_t]:
    """Return the license of `vgpuInstance`."""


nvmlVgpuInstanceGetLicenseInfo_v2 = nvmlVgpuInstanceGetLicenseInfo


# -- Excluded GPU Queries ------------------------------------------------------------------------------


@libnvml("nvmlReturn_t nvmlGetExcludedDeviceCount(unsigned int *deviceCount)")
def nvmlGetExcludedDeviceCount() -> tuple[nvmlReturn_t, int]:
    """Return the number of GPUs that the driver leaves out."""


@libnvml("nvmlReturn_t nvmlGetExcludedDeviceInfoByIndex(unsigned int index, nvmlExcludedDeviceInfo_t *info)")
def nvmlGetExcludedDeviceInfoByIndex(index: int) -> tuple[nvmlReturn_t, nvmlExcludedDeviceInfo_t]:
    """Return a GPU that the driver leaves out."""


# -- PRM Access ----------------------------------------------------------------------------------------


@libnvml("nvmlReturn_t nvmlDeviceReadWritePRM_v1(nvmlDevice_t device, nvmlPRMTLV_v1_t *buffer)", since="13.0")
def nvmlDeviceReadWritePRM_v1(
    device: nvmlDevice_t | int | None, buffer: nvmlPRMTLV_v1_t | None
) -> tuple[nvmlReturn_t]:
    """Send a request to a register of the GPU, in `buffer`, and write its answer there."""


@libnvml(
    "nvmlReturn_t nvmlDeviceReadPRMCounters_v1(nvmlDevice_t device, nvmlPRMCounterList_v1_t *counterList)",
    since="13.1",
)
def nvmlDeviceReadPRMCounters_v1(
    device: nvmlDevice_t | int | None, counterList: nvmlPRMCounterList_v1_t | None
) -> tuple[nvmlReturn_t]:
    """Write the counters of registers that `counterList` names to its array."""


# -- Multi Instance GPU Management ---------------------------------------------------------------------


@libnvml(
    "nvmlReturn_t nvmlDeviceSetMigMode(nvmlDevice_t device, unsigned int mode, "
    "nvmlReturn_t *activationStatus)"
)
def nvmlDeviceSetMigMode(device: nvmlDevice_t | int | None, mode: int) -> tuple[nvmlReturn_t, nvmlReturn_t]:
    """Set the MIG mode, 1 for on; returns the status of the change, which may wait for a reset."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetMigMode(nvmlDevice_t device, unsigned int *currentMode, "
    "unsigned int *pendingMode)"
)
def nvmlDeviceGetMigMode(device: nvmlDevice_t | int | None) -> tuple[nvmlReturn_t, int, int]:
    """Return the MIG mode, and that after the next reset."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetGpuInstanceProfileInfo(nvmlDevice_t device, unsigned int profile, "
    "nvmlGpuInstanceProfileInfo_t *info)"
)
def nvmlDeviceGetGpuInstanceProfileInfo(
    device: nvmlDevice_t | int | None, profile: int
) -> tuple[nvmlReturn_t, nvmlGpuInstanceProfileInfo_t]:
    """Return a profile of GPU instances; deprecated for nvmlDeviceGetGpuInstanceProfileInfoV."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetGpuInstanceProfileInfoV(nvmlDevice_t device, unsigned int profile, "
    "nvmlGpuInstanceProfileInfo_v2_t *info)"
)
def nvmlDeviceGetGpuInstanceProfileInfoV(
    device: nvmlDevice_t | int | None, profile: int, info: nvmlGpuInstanceProfileInfo_v2_t | None
) -> tuple[nvmlReturn_t]:
    """Write a profile of GPU instances, by NVML_GPU_INSTANCE_PROFILE_*, to `info`: its version says which
    struct it is.
    """


@libnvml(
    "nvmlReturn_t nvmlDeviceGetGpuInstanceProfileInfoByIdV(nvmlDevice_t device, unsigned int profileId, "
    "nvmlGpuInstanceProfileInfo_v2_t *info)",
    since="13.0",
)
def nvmlDeviceGetGpuInstanceProfileInfoByIdV(
    device: nvmlDevice_t | int | None, profileId: int, info: nvmlGpuInstanceProfileInfo_v2_t | None
) -> tuple[nvmlReturn_t]:
    """Write a profile of GPU instances, by its number, to `info`: its version says which struct it is."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetGpuInstancePossiblePlacements_v2(nvmlDevice_t device, unsigned int profileId, "
    "nvmlGpuInstancePlacement_t *placements, unsigned int *count)",
    sizes={"placements": "count"},
)
def nvmlDeviceGetGpuInstancePossiblePlacements(
    device: nvmlDevice_t | int | None, profileId: int, count: int | None = None
) -> tuple[nvmlReturn_t, list[nvmlGpuInstancePlacement_t], int]:
    """Return where GPU instances of a profile can be placed."""


nvmlDeviceGetGpuInstancePossiblePlacements_v2 = nvmlDeviceGetGpuInstancePossiblePlacements


@libnvml(
    "nvmlReturn_t nvmlDeviceGetGpuInstanceRemainingCapacity(nvmlDevice_t device, unsigned int profileId, "
    "unsigned int *count)"
)
def nvmlDeviceGetGpuInstanceRemainingCapacity(
    device: nvmlDevice_t | int | None, profileId: int
) -> tuple[nvmlReturn_t, int]:
    """Return how many GPU instances of a profile can be made now."""


@libnvml(
    "nvmlReturn_t nvmlDeviceCreateGpuInstance(nvmlDevice_t device, unsigned int profileId, "
    "nvmlGpuInstance_t *gpuInstance)"
)
def nvmlDeviceCreateGpuInstance(
    device: nvmlDevice_t | int | None, profileId: int
) -> tuple[nvmlReturn_t, nvmlGpuInstance_t]:
    """Make a GPU instance of a profile."""


@libnvml(
    "nvmlReturn_t nvmlDeviceCreateGpuInstanceWithPlacement(nvmlDevice_t device, unsigned int profileId, "
    "const nvmlGpuInstancePlacement_t *placement, nvmlGpuInstance_t *gpuInstance)"
)
def nvmlDeviceCreateGpuInstanceWithPlacement(
    device: nvmlDevice_t | int | None, profileId: int, placement: nvmlGpuInstancePlacement_t | None
) -> tuple[nvmlReturn_t, nvmlGpuInstance_t]:
    """Make a GPU instance of a profile in one place."""


@libnvml("nvmlReturn_t nvmlGpuInstanceDestroy(nvmlGpuInstance_t gpuInstance)")
def nvmlGpuInstanceDestroy(gpuInstance: nvmlGpuInstance_t | int | None) -> tuple[nvmlReturn_t]:
    """Destroy a GPU instance."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetGpuInstances(nvmlDevice_t device, unsigned int profileId, "
    "nvmlGpuInstance_t *gpuInstances, unsigned int *count)",
    sizes={"gpuInstances": "count"},
)
def nvmlDeviceGetGpuInstances(
    device: nvmlDevice_t | int | None, profileId: int, count: int | None = None
) -> tuple[nvmlReturn_t, list[nvmlGpuInstance_t], int]:
    """Return the GPU instances of a profile."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetGpuInstanceById(nvmlDevice_t device, unsigned int id, "
    "nvmlGpuInstance_t *gpuInstance)"
)
def nvmlDeviceGetGpuInstanceById(
    device: nvmlDevice_t | int | None, id: int
) -> tuple[nvmlReturn_t, nvmlGpuInstance_t]:
    """Return the GPU instance of number `id`."""


@libnvml("nvmlReturn_t nvmlGpuInstanceGetInfo(nvmlGpuInstance_t gpuInstance, nvmlGpuInstanceInfo_t *info)")
def nvmlGpuInstanceGetInfo(
    gpuInstance: nvmlGpuInstance_t | int | None,
) -> tuple[nvmlReturn_t, nvmlGpuInstanceInfo_t]:
    """Return what a GPU instance is: device, number, profile and place."""


@libnvml(
    "nvmlReturn_t nvmlGpuInstanceGetComputeInstanceProfileInfo(nvmlGpuInstance_t gpuInstance, "
    "unsigned int profile, unsigned int engProfile, nvmlComputeInstanceProfileInfo_t *info)"
)
def nvmlGpuInstanceGetComputeInstanceProfileInfo(
    gpuInstance: nvmlGpuInstance_t | int | None, profile: int, engProfile: int
) -> tuple[nvmlReturn_t, nvmlComputeInstanceProfileInfo_t]:
    """Return a profile of compute instances; deprecated for the function with V."""


@libnvml(
    "nvmlReturn_t nvmlGpuInstanceGetComputeInstanceProfileInfoV(nvmlGpuInstance_t gpuInstance, "
    "unsigned int profile, unsigned int engProfile, nvmlComputeInstanceProfileInfo_v2_t *info)"
)
def nvmlGpuInstanceGetComputeInstanceProfileInfoV(
    gpuInstance: nvmlGpuInstance_t | int | None, profile: int, engProfile: int
) -> tuple[nvmlReturn_t, nvmlComputeInstanceProfileInfo_v2_t]:
    """Return a profile of compute instances, by NVML_COMPUTE_INSTANCE_PROFILE_*."""


@libnvml(
    "nvmlReturn_t nvmlGpuInstanceGetComputeInstanceRemainingCapacity(nvmlGpuInstance_t gpuInstance, "
    "unsigned int profileId, unsigned int *count)"
)
def nvmlGpuInstanceGetComputeInstanceRemainingCapacity(
    gpuInstance: nvmlGpuInstance_t | int | None, profileId: int
) -> tuple[nvmlReturn_t, int]:
    """Return how many compute instances of a profile can be made now."""


@libnvml(
    "nvmlReturn_t nvmlGpuInstanceGetComputeInstancePossiblePlacements(nvmlGpuInstance_t gpuInstance, "
    "unsigned int profileId, nvmlComputeInstancePlacement_t *placements, unsigned int *count)",
    sizes={"placements": "count"},
)
def nvmlGpuInstanceGetComputeInstancePossiblePlacements(
    gpuInstance: nvmlGpuInstance_t | int | None, profileId: int, count: int | None = None
) -> tuple[nvmlReturn_t, list[nvmlComputeInstancePlacement_t], int]:
    """Return where compute instances of a profile can be placed."""


@libnvml(
    "nvmlReturn_t nvmlGpuInstanceCreateComputeInstance(nvmlGpuInstance_t gpuInstance, "
    "unsigned int profileId, nvmlComputeInstance_t *computeInstance)"
)
def nvmlGpuInstanceCreateComputeInstance(
    gpuInstance: nvmlGpuInstance_t | int | None, profileId: int
) -> tuple[nvmlReturn_t, nvmlComputeInstance_t]:
    """Make a compute instance of a profile."""


@libnvml(
    "nvmlReturn_t nvmlGpuInstanceCreateComputeInstanceWithPlacement(nvmlGpuInstance_t gpuInstance, "
    "unsigned int profileId, const nvmlComputeInstancePlacement_t *placement, "
    "nvmlComputeInstance_t *computeInstance)"
)
def nvmlGpuInstanceCreateComputeInstanceWithPlacement(
    gpuInstance: nvmlGpuInstance_t | int | None,
    profileId: int,
    placement: nvmlComputeInstancePlacement_t | None,
) -> tuple[nvmlReturn_t, nvmlComputeInstance_t]:
    """Make a compute instance of a profile in one place."""


@libnvml("nvmlReturn_t nvmlComputeInstanceDestroy(nvmlComputeInstance_t computeInstance)")
def nvmlComputeInstanceDestroy(computeInstance: nvmlComputeInstance_t | int | None) -> tuple[nvmlReturn_t]:
    """Destroy a compute instance."""


@libnvml(
    "nvmlReturn_t nvmlGpuInstanceGetComputeInstances(nvmlGpuInstance_t gpuInstance, unsigned int profileId, "
    "nvmlComputeInstance_t *computeInstances, unsigned int *count)",
    sizes={"computeInstances": "count"},
)
def nvmlGpuInstanceGetComputeInstances(
    gpuInstance: nvmlGpuInstance_t | int | None, profileId: int, count: int | None = None
) -> tuple[nvmlReturn_t, list[nvmlComputeInstance_t], int]:
    """Return the compute instances of a profile."""


@libnvml(
    "nvmlReturn_t nvmlGpuInstanceGetComputeInstanceById(nvmlGpuInstance_t gpuInstance, unsigned int id, "
    "nvmlComputeInstance_t *computeInstance)"
)
def nvmlGpuInstanceGetComputeInstanceById(
    gpuInstance: nvmlGpuInstance_t | int | None, id: int
) -> tuple[nvmlReturn_t, nvmlComputeInstance_t]:
    """Return the compute instance of number `id`."""


@libnvml(
    "nvmlReturn_t nvmlComputeInstanceGetInfo_v2(nvmlComputeInstance_t computeInstance, "
    "nvmlComputeInstanceInfo_t *info)"
)
def nvmlComputeInstanceGetInfo(
    computeInstance: nvmlComputeInstance_t | int | None,
) -> tuple[nvmlReturn_t, nvmlComputeInstanceInfo_t]:
    """Return what a compute instance is: device, GPU instance, number, profile and place."""


nvmlComputeInstanceGetInfo_v2 = nvmlComputeInstanceGetInfo


@libnvml("nvmlReturn_t nvmlDeviceIsMigDeviceHandle(nvmlDevice_t device, unsigned int *isMigDevice)")
def nvmlDeviceIsMigDeviceHandle(device: nvmlDevice_t | int | None) -> tuple[nvmlReturn_t, int]:
    """Return 1 for a MIG device, 0 for a GPU."""


@libnvml("nvmlReturn_t nvmlDeviceGetGpuInstanceId(nvmlDevice_t device, unsigned int *id)")
def nvmlDeviceGetGpuInstanceId(device: nvmlDevice_t | int | None) -> tuple[nvmlReturn_t, int]:
    """Return the number of the GPU instance of a MIG device."""


@libnvml("nvmlReturn_t nvmlDeviceGetComputeInstanceId(nvmlDevice_t device, unsigned int *id)")
def nvmlDeviceGetComputeInstanceId(device: nvmlDevice_t | int | None) -> tuple[nvmlReturn_t, int]:
    """Return the number of the compute instance of a MIG device."""


@libnvml("nvmlReturn_t nvmlDeviceGetMaxMigDeviceCount(nvmlDevice_t device, unsigned int *count)")
def nvmlDeviceGetMaxMigDeviceCount(device: nvmlDevice_t | int | None) -> tuple[nvmlReturn_t, int]:
    """Return how many MIG devices there can be."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetMigDeviceHandleByIndex(nvmlDevice_t device, unsigned int index, "
    "nvmlDevice_t *migDevice)"
)
def nvmlDeviceGetMigDeviceHandleByIndex(
    device: nvmlDevice_t | int | None, index: int
) -> tuple[nvmlReturn_t, nvmlDevice_t]:
    """Return the MIG device of number `index`, from 0; numbers change as MIG devices do."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetDeviceHandleFromMigDeviceHandle(nvmlDevice_t migDevice, nvmlDevice_t *device)"
)
def nvmlDeviceGetDeviceHandleFromMigDeviceHandle(
    migDevice: nvmlDevice_t | int | None,
) -> tuple[nvmlReturn_t, nvmlDevice_t]:
    """Return the GPU of a MIG device."""


# -- GPM Functions -------------------------------------------------------------------------------------


@libnvml("nvmlReturn_t nvmlGpmMetricsGet(nvmlGpmMetricsGet_t *metricsGet)")
def nvmlGpmMetricsGet(metricsGet: nvmlGpmMetricsGet_t | None) -> tuple[nvmlReturn_t]:
    """Write the metrics between the two samples that `metricsGet` names to it."""


@libnvml("nvmlReturn_t nvmlGpmSampleFree(nvmlGpmSample_t gpmSample)")
def nvmlGpmSampleFree(gpmSample: nvmlGpmSample_t | int | None) -> tuple[nvmlReturn_t]:
    """Destroy a sample."""


@libnvml("nvmlReturn_t nvmlGpmSampleAlloc(nvmlGpmSample_t *gpmSample)")
def nvmlGpmSampleAlloc() -> tuple[nvmlReturn_t, nvmlGpmSample_t]:
    """Make an empty sample."""


@libnvml("nvmlReturn_t nvmlGpmSampleGet(nvmlDevice_t device, nvmlGpmSample_t gpmSample)")
def nvmlGpmSampleGet(
    device: nvmlDevice_t | int | None, gpmSample: nvmlGpmSample_t | int | None
) -> tuple[nvmlReturn_t]:
    """Read the performance counters of `device` into `gpmSample`."""


@libnvml(
    "nvmlReturn_t nvmlGpmMigSampleGet(nvmlDevice_t device, unsigned int gpuInstanceId, "
    "nvmlGpmSample_t gpmSample)"
)
def nvmlGpmMigSampleGet(
    device: nvmlDevice_t | int | None, gpuInstanceId: int, gpmSample: nvmlGpmSample_t | int | None
) -> tuple[nvmlReturn_t]:
    """Read the performance counters of a GPU instance into `gpmSample`."""


@libnvml("nvmlReturn_t nvmlGpmQueryDeviceSupport(nvmlDevice_t device, nvmlGpmSupport_t *gpmSupport)")
def nvmlGpmQueryDeviceSupport(device: nvmlDevice_t | int | None) -> tuple[nvmlReturn_t, nvmlGpmSupport_t]:
    """Return whether `device` has these performance counters."""


@libnvml(
    "nvmlReturn_t nvmlGpmQueryIfStreamingEnabled(nvmlDevice_t device, unsigned int *state)",
    since="12.2",
)
def nvmlGpmQueryIfStreamingEnabled(device: nvmlDevice_t | int | None) -> tuple[nvmlReturn_t, int]:
    """Return whether the counters are streamed."""


@libnvml("nvmlReturn_t nvmlGpmSetStreamingEnabled(nvmlDevice_t device, unsigned int state)", since="12.2")
def nvmlGpmSetStreamingEnabled(device: nvmlDevice_t | int | None, state: int) -> tuple[nvmlReturn_t]:
    """Set whether the counters are streamed."""


# -- Power Profile Information -------------------------------------------------------------------------


@libnvml(
    "nvmlReturn_t nvmlDeviceGetCapabilities(nvmlDevice_t device, nvmlDeviceCapabilities_t *caps)",
    since="12.5",
)
def nvmlDeviceGetCapabilities(
    device: nvmlDevice_t | int | None,
) -> tuple[nvmlReturn_t, nvmlDeviceCapabilities_t]:
    """Return what `device` can do, as NVML_DEV_CAP_* bits."""


@libnvml(
    "nvmlReturn_t nvmlDeviceWorkloadPowerProfileGetProfilesInfo(nvmlDevice_t device, "
    "nvmlWorkloadPowerProfileProfilesInfo_t *profilesInfo)",
    since="12.8",
)
def nvmlDeviceWorkloadPowerProfileGetProfilesInfo(
    device: nvmlDevice_t | int | None,
) -> tuple[nvmlReturn_t, nvmlWorkloadPowerProfileProfilesInfo_t]:
    """Return the power profiles for workloads."""


@libnvml(
    "nvmlReturn_t nvmlDeviceWorkloadPowerProfileGetCurrentProfiles(nvmlDevice_t device, "
    "nvmlWorkloadPowerProfileCurrentProfiles_t *currentProfiles)",
    since="12.8",
)
def nvmlDeviceWorkloadPowerProfileGetCurrentProfiles(
    device: nvmlDevice_t | int | None,
) -> tuple[nvmlReturn_t, nvmlWorkloadPowerProfileCurrentProfiles_t]:
    """Return the power profiles that are there, asked for, and in force."""


@libnvml(
    "nvmlReturn_t nvmlDeviceWorkloadPowerProfileSetRequestedProfiles(nvmlDevice_t device, "
    "nvmlWorkloadPowerProfileRequestedProfiles_t *requestedProfiles)",
    since="12.8",
)
def nvmlDeviceWorkloadPowerProfileSetRequestedProfiles(
    device: nvmlDevice_t | int | None, requestedProfiles: nvmlWorkloadPowerProfileRequestedProfiles_t | None
) -> tuple[nvmlReturn_t]:
    """Ask for power profiles."""


@libnvml(
    "nvmlReturn_t nvmlDeviceWorkloadPowerProfileClearRequestedProfiles(nvmlDevice_t device, "
    "nvmlWorkloadPowerProfileRequestedProfiles_t *requestedProfiles)",
    since="12.8",
)
def nvmlDeviceWorkloadPowerProfileClearRequestedProfiles(
    device: nvmlDevice_t | int | None, requestedProfiles: nvmlWorkloadPowerProfileRequestedProfiles_t | None
) -> tuple[nvmlReturn_t]:
    """Ask for power profiles no longer."""


@libnvml(
    "nvmlReturn_t nvmlDeviceWorkloadPowerProfileUpdateProfiles_v1(nvmlDevice_t device, "
    "nvmlWorkloadPowerProfileUpdateProfiles_v1_t *updateProfiles)",
    since="13.1",
)
def nvmlDeviceWorkloadPowerProfileUpdateProfiles_v1(
    device: nvmlDevice_t | int | None, updateProfiles: nvmlWorkloadPowerProfileUpdateProfiles_v1_t | None
) -> tuple[nvmlReturn_t]:
    """Ask for power profiles, or no longer, in one of the ways of nvmlPowerProfileOperation_t."""


# -- Power Smoothing Information -----------------------------------------------------------------------


@libnvml(
    "nvmlReturn_t nvmlDevicePowerSmoothingActivatePresetProfile(nvmlDevice_t device, "
    "nvmlPowerSmoothingProfile_t *profile)",
    since="12.8",
)
def nvmlDevicePowerSmoothingActivatePresetProfile(
    device: nvmlDevice_t | int | None, profile: nvmlPowerSmoothingProfile_t | None
) -> tuple[nvmlReturn_t]:
    """Choose a profile of power smoothing."""


@libnvml(
    "nvmlReturn_t nvmlDevicePowerSmoothingUpdatePresetProfileParam(nvmlDevice_t device, "
    "nvmlPowerSmoothingProfile_t *profile)",
    since="12.8",
)
def nvmlDevicePowerSmoothingUpdatePresetProfileParam(
    device: nvmlDevice_t | int | None, profile: nvmlPowerSmoothingProfile_t | None
) -> tuple[nvmlReturn_t]:
    """Set a parameter of a profile of power smoothing."""


@libnvml(
    "nvmlReturn_t nvmlDevicePowerSmoothingSetState(nvmlDevice_t device, nvmlPowerSmoothingState_t *state)",
    since="12.8",
)
def nvmlDevicePowerSmoothingSetState(
    device: nvmlDevice_t | int | None, state: nvmlPowerSmoothingState_t | None
) -> tuple[nvmlReturn_t]:
    """Switch power smoothing."""


# -- Earlier versions of functions ---------------------------------------------------------------------


@libnvml("nvmlReturn_t nvmlDeviceGetPciInfo_v2(nvmlDevice_t device, nvmlPciInfo_t *pci)")
def nvmlDeviceGetPciInfo_v2(device: nvmlDevice_t | int | None) -> tuple[nvmlReturn_t, nvmlPciInfo_t]:
    """Return where `device` is on the PCI bus; an earlier version of nvmlDeviceGetPciInfo."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetGridLicensableFeatures_v2(nvmlDevice_t device, "
    "nvmlGridLicensableFeatures_t *pGridLicensableFeatures)"
)
def nvmlDeviceGetGridLicensableFeatures_v2(
    device: nvmlDevice_t | int | None,
) -> tuple[nvmlReturn_t, nvmlGridLicensableFeatures_t]:
    """Return the licensable features; an earlier version of nvmlDeviceGetGridLicensableFeatures."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetGridLicensableFeatures_v3(nvmlDevice_t device, "
    "nvmlGridLicensableFeatures_t *pGridLicensableFeatures)"
)
def nvmlDeviceGetGridLicensableFeatures_v3(
    device: nvmlDevice_t | int | None,
) -> tuple[nvmlReturn_t, nvmlGridLicensableFeatures_t]:
    """Return the licensable features; an earlier version of nvmlDeviceGetGridLicensableFeatures."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetComputeRunningProcesses_v2(nvmlDevice_t device, unsigned int *infoCount, "
    "nvmlProcessInfo_v2_t *infos)",
    sizes={"infos": "infoCount"},
)
def nvmlDeviceGetComputeRunningProcesses_v2(
    device: nvmlDevice_t | int | None, infoCount: int | None = None
) -> tuple[nvmlReturn_t, int, list[nvmlProcessInfo_v2_t]]:
    """Return the compute processes; an earlier version of nvmlDeviceGetComputeRunningProcesses."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetGraphicsRunningProcesses_v2(nvmlDevice_t device, unsigned int *infoCount, "
    "nvmlProcessInfo_v2_t *infos)",
    sizes={"infos": "infoCount"},
)
def nvmlDeviceGetGraphicsRunningProcesses_v2(
    device: nvmlDevice_t | int | None, infoCount: int | None = None
) -> tuple[nvmlReturn_t, int, list[nvmlProcessInfo_v2_t]]:
    """Return the graphics processes; an earlier version of nvmlDeviceGetGraphicsRunningProcesses."""


@libnvml(
    "nvmlReturn_t nvmlDeviceGetMPSComputeRunningProcesses_v2(nvmlDevice_t device, unsigned int *infoCount, "
    "nvmlProcessInfo_v2_t *infos)",
    sizes={"infos": "infoCount"},
)
def nvmlDeviceGetMPSComputeRunningProcesses_v2(
    device: nvmlDevice_t | int | None, infoCount: int | None = None
) -> tuple[nvmlReturn_t, int, list[nvmlProcessInfo_v2_t]]:
    """Return the MPS clients; an earlier version of nvmlDeviceGetMPSComputeRunningProcesses."""


@libnvml("nvmlReturn_t nvmlDeviceCcuGetStreamState(nvmlDevice_t device, unsigned int *state)")
def nvmlDeviceCcuGetStreamState(device: nvmlDevice_t | int | None) -> tuple[nvmlReturn_t, int]:
    """Return whether the counters are streamed; of CUDA 12.0 alone, see nvmlGpmQueryIfStreamingEnabled."""


@libnvml("nvmlReturn_t nvmlDeviceCcuSetStreamState(nvmlDevice_t device, unsigned int state)")
def nvmlDeviceCcuSetStreamState(device: nvmlDevice_t | int | None, state: int) -> tuple[nvmlReturn_t]:
    """Set whether the counters are streamed; of CUDA 12.0 alone, see nvmlGpmSetStreamingEnabled."""


nvmlGetBlacklistDeviceCount = nvmlGetExcludedDeviceCount
nvmlGetBlacklistDeviceInfoByIndex = nvmlGetExcludedDeviceInfoByIndex


# -- The face of cuda.bindings: exceptions -----------------------------------------------------------


class NvmlError(FaceError):
    """An NVML function failed; `status` is the Return. `NvmlError(status)` is of the class of that status."""

    def __new__(cls, status: int = 0) -> Any:
        if cls is NvmlError:
            from ._types.nvml_errors import by_status

            cls = by_status(cls).get(int(status), cls)
        return super().__new__(cls)

    @staticmethod
    def statuses(status: int) -> Return:
        from ._types.nvml.names import Return

        return Return(status)


_face = Face(NvmlError, _raiser, _twins)


# -- The face of cuda.bindings: functions -------------------------------------------------------------


@_face(nvmlInit)
def init_v2() -> None: ...


@_face(nvmlInitWithFlags)
def init_with_flags(flags: int) -> None: ...


@_face(nvmlShutdown)
def shutdown() -> None: ...


@_face(nvmlSystemGetDriverVersion)
def system_get_driver_version() -> str: ...


@_face(nvmlSystemGetNVMLVersion)
def system_get_nvml_version() -> str: ...


@_face(nvmlSystemGetCudaDriverVersion)
def system_get_cuda_driver_version() -> int: ...


@_face(nvmlSystemGetCudaDriverVersion_v2)
def system_get_cuda_driver_version_v2() -> int: ...


@_face(nvmlSystemGetProcessName)
def system_get_process_name(pid: int) -> str: ...


@_face(nvmlSystemGetHicVersion)
def system_get_hic_version() -> list[HwbcEntry]: ...


@_face(nvmlSystemGetTopologyGpuSet)
def system_get_topology_gpu_set(cpu_number: int) -> list[int]: ...


@_face(nvmlUnitGetCount)
def unit_get_count() -> int: ...


@_face(nvmlUnitGetHandleByIndex)
def unit_get_handle_by_index(index: int) -> int: ...


@_face(nvmlUnitGetUnitInfo)
def unit_get_unit_info(unit: int) -> UnitInfo: ...


@_face(nvmlUnitGetLedState)
def unit_get_led_state(unit: int) -> LedState: ...


@_face(nvmlUnitGetPsuInfo)
def unit_get_psu_info(unit: int) -> PSUInfo: ...


@_face(nvmlUnitGetTemperature)
def unit_get_temperature(unit: int, type: int) -> int: ...


@_face(nvmlUnitGetFanSpeedInfo)
def unit_get_fan_speed_info(unit: int) -> UnitFanSpeeds: ...


@_face(nvmlUnitGetDevices)
def unit_get_devices(unit: int) -> list[int]: ...


@_face(nvmlDeviceGetCount)
def device_get_count_v2() -> int: ...


@_face(nvmlDeviceGetAttributes)
def device_get_attributes_v2(device: int) -> DeviceAttributes: ...


@_face(nvmlDeviceGetHandleByIndex)
def device_get_handle_by_index_v2(index: int) -> int: ...


@_face(nvmlDeviceGetHandleBySerial)
def device_get_handle_by_serial(serial: str | bytes) -> int: ...


@_face(nvmlDeviceGetHandleByUUID)
def device_get_handle_by_uuid(uuid: str | bytes) -> int: ...


@_face(nvmlDeviceGetHandleByPciBusId)
def device_get_handle_by_pci_bus_id_v2(pci_bus_id: str | bytes) -> int: ...


@_face(nvmlDeviceGetName)
def device_get_name(device: int) -> str: ...


@_face(nvmlDeviceGetBrand)
def device_get_brand(device: int) -> BrandType: ...


@_face(nvmlDeviceGetIndex)
def device_get_index(device: int) -> int: ...


@_face(nvmlDeviceGetSerial)
def device_get_serial(device: int) -> str: ...


@_face(nvmlDeviceGetModuleId)
def device_get_module_id(device: int) -> int: ...


@_face(nvmlDeviceGetC2cModeInfoV)
def device_get_c2c_mode_info_v(device: int) -> C2cModeInfo_v1: ...


@_face(nvmlDeviceGetTopologyCommonAncestor)
def device_get_topology_common_ancestor(device1: int, device2: int) -> GpuTopologyLevel: ...


@_face(nvmlDeviceGetTopologyNearestGpus)
def device_get_topology_nearest_gpus(device: int, level: GpuTopologyLevel | int) -> list[int]: ...


@_face(nvmlDeviceGetP2PStatus)
def device_get_p2p_status(device1: int, device2: int, p2p_index: GpuP2PCapsIndex | int) -> GpuP2PStatus: ...


@_face(nvmlDeviceGetUUID)
def device_get_uuid(device: int) -> str: ...


@_face(nvmlDeviceGetMinorNumber)
def device_get_minor_number(device: int) -> int: ...


@_face(nvmlDeviceGetBoardPartNumber)
def device_get_board_part_number(device: int) -> str: ...


@_face(nvmlDeviceGetInforomVersion)
def device_get_inforom_version(device: int, object: InforomObject | int) -> str: ...


@_face(nvmlDeviceGetInforomImageVersion)
def device_get_inforom_image_version(device: int) -> str: ...


@_face(nvmlDeviceGetInforomConfigurationChecksum)
def device_get_inforom_configuration_checksum(device: int) -> int: ...


@_face(nvmlDeviceValidateInforom)
def device_validate_inforom(device: int) -> None: ...


@_face(nvmlDeviceGetLastBBXFlushTime)
def device_get_last_bbx_flush_time(device: int) -> tuple[int, int]: ...


@_face(nvmlDeviceGetBBXTimeData_v1)
def device_get_bbx_time_data_v1(device: int) -> BBXTimeData_v1: ...


@_face(nvmlDeviceGetGpuUptime_v1)
def device_get_gpu_uptime_v1(device: int) -> GpuUptime_v1: ...


@_face(nvmlDeviceGetDisplayMode)
def device_get_display_mode(device: int) -> EnableState: ...


@_face(nvmlDeviceGetDisplayActive)
def device_get_display_active(device: int) -> EnableState: ...


@_face(nvmlDeviceGetPersistenceMode)
def device_get_persistence_mode(device: int) -> EnableState: ...


@_face(nvmlDeviceGetPciInfoExt)
def device_get_pci_info_ext(device: int) -> PciInfoExt_v1: ...


@_face(nvmlDeviceGetPciInfo)
def device_get_pci_info_v3(device: int) -> PciInfo: ...


@_face(nvmlDeviceGetMaxPcieLinkGeneration)
def device_get_max_pcie_link_generation(device: int) -> int: ...


@_face(nvmlDeviceGetGpuMaxPcieLinkGeneration)
def device_get_gpu_max_pcie_link_generation(device: int) -> int: ...


@_face(nvmlDeviceGetMaxPcieLinkWidth)
def device_get_max_pcie_link_width(device: int) -> int: ...


@_face(nvmlDeviceGetCurrPcieLinkGeneration)
def device_get_curr_pcie_link_generation(device: int) -> int: ...


@_face(nvmlDeviceGetCurrPcieLinkWidth)
def device_get_curr_pcie_link_width(device: int) -> int: ...


@_face(nvmlDeviceGetPcieThroughput)
def device_get_pcie_throughput(device: int, counter: PcieUtilCounter | int) -> int: ...


@_face(nvmlDeviceGetPcieReplayCounter)
def device_get_pcie_replay_counter(device: int) -> int: ...


@_face(nvmlDeviceGetClockInfo)
def device_get_clock_info(device: int, type: ClockType | int) -> int: ...


@_face(nvmlDeviceGetMaxClockInfo)
def device_get_max_clock_info(device: int, type: ClockType | int) -> int: ...


@_face(nvmlDeviceGetGpcClkVfOffset)
def device_get_gpc_clk_vf_offset(device: int) -> int: ...


@_face(nvmlDeviceGetClock)
def device_get_clock(device: int, clock_type: ClockType | int, clock_id: ClockId | int) -> int: ...


@_face(nvmlDeviceGetMaxCustomerBoostClock)
def device_get_max_customer_boost_clock(device: int, clock_type: ClockType | int) -> int: ...


@_face(nvmlDeviceGetSupportedMemoryClocks)
def device_get_supported_memory_clocks(device: int) -> list[int]: ...


@_face(nvmlDeviceGetSupportedGraphicsClocks)
def device_get_supported_graphics_clocks(device: int, memory_clock_m_hz: int) -> list[int]: ...


@_face(nvmlDeviceGetAutoBoostedClocksEnabled)
def device_get_auto_boosted_clocks_enabled(device: int) -> tuple[EnableState, EnableState]: ...


@_face(nvmlDeviceGetFanSpeed)
def device_get_fan_speed(device: int) -> int: ...


@_face(nvmlDeviceGetFanSpeed_v2)
def device_get_fan_speed_v2(device: int, fan: int) -> int: ...


@_face(nvmlDeviceGetTargetFanSpeed)
def device_get_target_fan_speed(device: int, fan: int) -> int: ...


@_face(nvmlDeviceGetMinMaxFanSpeed)
def device_get_min_max_fan_speed(device: int) -> tuple[int, int]: ...


@_face(nvmlDeviceGetFanControlPolicy_v2)
def device_get_fan_control_policy_v2(device: int, fan: int) -> int: ...


@_face(nvmlDeviceGetNumFans)
def device_get_num_fans(device: int) -> int: ...


@_face(nvmlDeviceGetTemperatureThreshold)
def device_get_temperature_threshold(device: int, threshold_type: TemperatureThresholds | int) -> int: ...


@_face(nvmlDeviceGetThermalSettings)
def device_get_thermal_settings(device: int, sensor_index: int) -> GpuThermalSettings: ...


@_face(nvmlDeviceGetPerformanceState)
def device_get_performance_state(device: int) -> Pstates: ...


@_face(nvmlDeviceGetCurrentClocksEventReasons)
def device_get_current_clocks_event_reasons(device: int) -> int: ...


@_face(nvmlDeviceGetSupportedClocksEventReasons)
def device_get_supported_clocks_event_reasons(device: int) -> int: ...


@_face(nvmlDeviceGetPowerState)
def device_get_power_state(device: int) -> Pstates: ...


@_face(nvmlDeviceGetDynamicPstatesInfo)
def device_get_dynamic_pstates_info(device: int) -> GpuDynamicPstatesInfo: ...


@_face(nvmlDeviceGetMemClkVfOffset)
def device_get_mem_clk_vf_offset(device: int) -> int: ...


@_face(nvmlDeviceGetMinMaxClockOfPState)
def device_get_min_max_clock_of_p_state(
    device: int, type: ClockType | int, pstate: Pstates | int
) -> tuple[int, int]: ...


@_face(nvmlDeviceGetGpcClkMinMaxVfOffset)
def device_get_gpc_clk_min_max_vf_offset(device: int) -> tuple[int, int]: ...


@_face(nvmlDeviceGetMemClkMinMaxVfOffset)
def device_get_mem_clk_min_max_vf_offset(device: int) -> tuple[int, int]: ...


@_face(nvmlDeviceSetClockOffsets)
def device_set_clock_offsets(device: int, info: ClockOffset_v1) -> None: ...


@_face(nvmlDeviceGetPowerManagementLimit)
def device_get_power_management_limit(device: int) -> int: ...


@_face(nvmlDeviceGetPowerManagementLimitConstraints)
def device_get_power_management_limit_constraints(device: int) -> tuple[int, int]: ...


@_face(nvmlDeviceGetPowerManagementDefaultLimit)
def device_get_power_management_default_limit(device: int) -> int: ...


@_face(nvmlDeviceGetPowerUsage)
def device_get_power_usage(device: int) -> int: ...


@_face(nvmlDeviceGetPowerMizerMode_v1)
def device_get_power_mizer_mode_v1(device: int) -> DevicePowerMizerModes_v1: ...


@_face(nvmlDeviceSetPowerMizerMode_v1)
def device_set_power_mizer_mode_v1(device: int, power_mizer_mode: DevicePowerMizerModes_v1) -> None: ...


@_face(nvmlDeviceGetTotalEnergyConsumption)
def device_get_total_energy_consumption(device: int) -> int: ...


@_face(nvmlDeviceGetEnforcedPowerLimit)
def device_get_enforced_power_limit(device: int) -> int: ...


@_face(nvmlDeviceSetAdaptiveTgpMode_v1)
def device_set_adaptive_tgp_mode_v1(device: int, mode: EnableState | int) -> None: ...


@_face(nvmlDeviceGetAdaptiveTgpModeInfo_v1)
def device_get_adaptive_tgp_mode_info_v1(device: int) -> AdaptiveTgpModeInfo_v1: ...


@_face(nvmlDeviceGetGpuOperationMode)
def device_get_gpu_operation_mode(device: int) -> tuple[GpuOperationMode, GpuOperationMode]: ...


@_face(nvmlDeviceGetMemoryInfo_v2)
def device_get_memory_info_v2(device: int) -> Memory_v2: ...


@_face(nvmlDeviceSetMemoryLimits_v1)
def device_set_memory_limits_v1(device: int, limits: SetMemoryLimits_v1) -> None: ...


@_face(nvmlDeviceGetComputeMode)
def device_get_compute_mode(device: int) -> ComputeMode: ...


@_face(nvmlDeviceGetCudaComputeCapability)
def device_get_cuda_compute_capability(device: int) -> tuple[int, int]: ...


@_face(nvmlDeviceGetEccMode)
def device_get_ecc_mode(device: int) -> tuple[EnableState, EnableState]: ...


@_face(nvmlDeviceGetDefaultEccMode)
def device_get_default_ecc_mode(device: int) -> EnableState: ...


@_face(nvmlDeviceGetBoardId)
def device_get_board_id(device: int) -> int: ...


@_face(nvmlDeviceGetMultiGpuBoard)
def device_get_multi_gpu_board(device: int) -> int: ...


@_face(nvmlDeviceGetTotalEccErrors)
def device_get_total_ecc_errors(
    device: int, error_type: MemoryErrorType | int, counter_type: EccCounterType | int
) -> int: ...


@_face(nvmlDeviceGetMemoryErrorCounter)
def device_get_memory_error_counter(
    device: int,
    error_type: MemoryErrorType | int,
    counter_type: EccCounterType | int,
    location_type: MemoryLocation | int,
) -> int: ...


@_face(nvmlDeviceGetUtilizationRates)
def device_get_utilization_rates(device: int) -> Utilization: ...


@_face(nvmlDeviceGetEncoderUtilization)
def device_get_encoder_utilization(device: int) -> tuple[int, int]: ...


@_face(nvmlDeviceGetEncoderCapacity)
def device_get_encoder_capacity(device: int, encoder_query_type: EncoderType | int) -> int: ...


@_face(nvmlDeviceGetEncoderStats)
def device_get_encoder_stats(device: int) -> tuple[int, int, int]: ...


@_face(nvmlDeviceGetEncoderSessions)
def device_get_encoder_sessions(device: int) -> list[EncoderSessionInfo]: ...


@_face(nvmlDeviceGetDecoderUtilization)
def device_get_decoder_utilization(device: int) -> tuple[int, int]: ...


@_face(nvmlDeviceGetJpgUtilization)
def device_get_jpg_utilization(device: int) -> tuple[int, int]: ...


@_face(nvmlDeviceGetOfaUtilization)
def device_get_ofa_utilization(device: int) -> tuple[int, int]: ...


@_face(nvmlDeviceGetFBCStats)
def device_get_fbc_stats(device: int) -> FBCStats: ...


@_face(nvmlDeviceGetFBCSessions)
def device_get_fbc_sessions(device: int) -> list[FBCSessionInfo]: ...


@_face(nvmlDeviceGetDriverModel)
def device_get_driver_model_v2(device: int) -> tuple[DriverModel, DriverModel]: ...


@_face(nvmlDeviceGetVbiosVersion)
def device_get_vbios_version(device: int) -> str: ...


@_face(nvmlDeviceGetBridgeChipInfo)
def device_get_bridge_chip_info(device: int) -> BridgeChipHierarchy: ...


@_face(nvmlDeviceGetComputeRunningProcesses)
def device_get_compute_running_processes_v3(device: int) -> list[ProcessInfo]: ...


@_face(nvmlDeviceGetGraphicsRunningProcesses)
def device_get_graphics_running_processes_v3(device: int) -> list[ProcessInfo]: ...


@_face(nvmlDeviceGetMPSComputeRunningProcesses)
def device_get_mps_compute_running_processes_v3(device: int) -> list[ProcessInfo]: ...


@_face(nvmlDeviceOnSameBoard)
def device_on_same_board(device1: int, device2: int) -> int: ...


@_face(nvmlDeviceGetAPIRestriction)
def device_get_api_restriction(device: int, api_type: RestrictedAPI | int) -> EnableState: ...


@_face(nvmlDeviceGetSamples)
def device_get_samples(
    device: int, type: SamplingType | int, last_seen_time_stamp: int
) -> tuple[ValueType, list[Sample]]: ...


@_face(nvmlDeviceGetBAR1MemoryInfo)
def device_get_bar1_memory_info(device: int) -> BAR1Memory: ...


@_face(nvmlDeviceGetIrqNum)
def device_get_irq_num(device: int) -> int: ...


@_face(nvmlDeviceGetNumGpuCores)
def device_get_num_gpu_cores(device: int) -> int: ...


@_face(nvmlDeviceGetPowerSource)
def device_get_power_source(device: int) -> int: ...


@_face(nvmlDeviceGetMemoryBusWidth)
def device_get_memory_bus_width(device: int) -> int: ...


@_face(nvmlDeviceGetPcieLinkMaxSpeed)
def device_get_pcie_link_max_speed(device: int) -> int: ...


@_face(nvmlDeviceGetPcieSpeed)
def device_get_pcie_speed(device: int) -> int: ...


@_face(nvmlDeviceGetAdaptiveClockInfoStatus)
def device_get_adaptive_clock_info_status(device: int) -> int: ...


@_face(nvmlDeviceGetBusType)
def device_get_bus_type(device: int) -> int: ...


@_face(nvmlDeviceGetGpuFabricInfoV)
def device_get_gpu_fabric_info_v(device: int) -> GpuFabricInfo_v3: ...


@_face(nvmlDeviceGetGpuFabricInfo_v4)
def device_get_gpu_fabric_info_v4(device: int) -> GpuFabricInfo_v4: ...


@_face(nvmlSystemGetConfComputeCapabilities)
def system_get_conf_compute_capabilities() -> ConfComputeSystemCaps: ...


@_face(nvmlSystemGetConfComputeState)
def system_get_conf_compute_state() -> ConfComputeSystemState: ...


@_face(nvmlDeviceGetConfComputeMemSizeInfo)
def device_get_conf_compute_mem_size_info(device: int) -> ConfComputeMemSizeInfo: ...


@_face(nvmlSystemGetConfComputeGpusReadyState)
def system_get_conf_compute_gpus_ready_state() -> int: ...


@_face(nvmlDeviceGetConfComputeProtectedMemoryUsage)
def device_get_conf_compute_protected_memory_usage(device: int) -> Memory: ...


@_face(nvmlDeviceGetConfComputeGpuCertificate)
def device_get_conf_compute_gpu_certificate(device: int) -> ConfComputeGpuCertificate: ...


@_face(nvmlDeviceSetConfComputeUnprotectedMemSize)
def device_set_conf_compute_unprotected_mem_size(device: int, size_ki_b: int) -> None: ...


@_face(nvmlSystemSetConfComputeGpusReadyState)
def system_set_conf_compute_gpus_ready_state(is_accepting_work: int) -> None: ...


@_face(nvmlSystemGetConfComputeSettings)
def system_get_conf_compute_settings() -> SystemConfComputeSettings_v1: ...


@_face(nvmlSystemGetConfComputeSettings_v2)
def system_get_conf_compute_settings_v2() -> SystemConfComputeSettings_v2: ...


@_face(nvmlDeviceGetGspFirmwareVersion)
def device_get_gsp_firmware_version(device: int) -> str: ...


@_face(nvmlDeviceGetGspFirmwareMode)
def device_get_gsp_firmware_mode(device: int) -> tuple[int, int]: ...


@_face(nvmlDeviceGetSramEccErrorStatus)
def device_get_sram_ecc_error_status(device: int) -> EccSramErrorStatus_v1: ...


@_face(nvmlDeviceGetRetiredPages)
def device_get_retired_pages(device: int, cause: PageRetirementCause | int) -> list[int]: ...


@_face(nvmlDeviceGetRetiredPages_v2)
def device_get_retired_pages_v2(
    device: int, cause: PageRetirementCause | int
) -> tuple[list[int], list[int]]: ...


@_face(nvmlDeviceGetRetiredPagesPendingStatus)
def device_get_retired_pages_pending_status(device: int) -> EnableState: ...


@_face(nvmlDeviceGetRemappedRows)
def device_get_remapped_rows(device: int) -> tuple[int, int, int, int]: ...


@_face(nvmlDeviceGetRowRemapperHistogram)
def device_get_row_remapper_histogram(device: int) -> RowRemapperHistogramValues: ...


@_face(nvmlDeviceGetArchitecture)
def device_get_architecture(device: int) -> int: ...


@_face(nvmlDeviceGetClkMonStatus)
def device_get_clk_mon_status(device: int) -> ClkMonStatus: ...


@_face(nvmlDeviceGetProcessUtilization)
def device_get_process_utilization(
    device: int, last_seen_time_stamp: int
) -> list[ProcessUtilizationSample]: ...


@_face(nvmlDeviceGetPlatformInfo)
def device_get_platform_info(device: int) -> PlatformInfo_v2: ...


@_face(nvmlDevicePerfMetricsGetSamples_v1)
def device_perf_metrics_get_samples_v1(device: int) -> PerfMetricsSamples_v1: ...


@_face(nvmlDeviceGetRemappedRows_v2)
def device_get_remapped_rows_v2(device: int) -> RemappedRowsInfo_v2: ...


@_face(nvmlDeviceGetBankRemapperStatus_v1)
def device_get_bank_remapper_status_v1(device: int) -> EccBankRemapperStatus_v1: ...


@_face(nvmlDeviceGetMemoryAffinity)
def device_get_memory_affinity(device: int, node_set_size: int, scope: AffinityScope | int) -> list[int]: ...


@_face(nvmlDeviceGetCpuAffinityWithinScope)
def device_get_cpu_affinity_within_scope(
    device: int, cpu_set_size: int, scope: AffinityScope | int
) -> list[int]: ...


@_face(nvmlDeviceGetCpuAffinity)
def device_get_cpu_affinity(device: int, cpu_set_size: int) -> list[int]: ...


@_face(nvmlDeviceSetCpuAffinity)
def device_set_cpu_affinity(device: int) -> None: ...


@_face(nvmlDeviceClearCpuAffinity)
def device_clear_cpu_affinity(device: int) -> None: ...


@_face(nvmlDeviceGetNumaNodeId)
def device_get_numa_node_id(device: int) -> int: ...


@_face(nvmlDeviceGetAddressingMode)
def device_get_addressing_mode(device: int) -> DeviceAddressingMode_v1: ...


@_face(nvmlDeviceGetRepairStatus)
def device_get_repair_status(device: int) -> RepairStatus_v1: ...


@_face(nvmlDeviceGetAccountingMode)
def device_get_accounting_mode(device: int) -> EnableState: ...


@_face(nvmlDeviceGetAccountingStats)
def device_get_accounting_stats(device: int, pid: int) -> AccountingStats: ...


@_face(nvmlDeviceGetAccountingPids)
def device_get_accounting_pids(device: int) -> list[int]: ...


@_face(nvmlDeviceGetAccountingBufferSize)
def device_get_accounting_buffer_size(device: int) -> int: ...


@_face(nvmlDeviceSetAccountingMode)
def device_set_accounting_mode(device: int, mode: EnableState | int) -> None: ...


@_face(nvmlDeviceClearAccountingPids)
def device_clear_accounting_pids(device: int) -> None: ...


@_face(nvmlUnitSetLedState)
def unit_set_led_state(unit: int, color: LedColor | int) -> None: ...


@_face(nvmlDeviceSetPersistenceMode)
def device_set_persistence_mode(device: int, mode: EnableState | int) -> None: ...


@_face(nvmlDeviceSetComputeMode)
def device_set_compute_mode(device: int, mode: ComputeMode | int) -> None: ...


@_face(nvmlDeviceSetEccMode)
def device_set_ecc_mode(device: int, ecc: EnableState | int) -> None: ...


@_face(nvmlDeviceClearEccErrorCounts)
def device_clear_ecc_error_counts(device: int, counter_type: EccCounterType | int) -> None: ...


@_face(nvmlDeviceSetDriverModel)
def device_set_driver_model(device: int, driver_model: DriverModel | int, flags: int) -> None: ...


@_face(nvmlDeviceSetGpuLockedClocks)
def device_set_gpu_locked_clocks(device: int, min_gpu_clock_m_hz: int, max_gpu_clock_m_hz: int) -> None: ...


@_face(nvmlDeviceResetGpuLockedClocks)
def device_reset_gpu_locked_clocks(device: int) -> None: ...


@_face(nvmlDeviceSetMemoryLockedClocks)
def device_set_memory_locked_clocks(
    device: int, min_mem_clock_m_hz: int, max_mem_clock_m_hz: int
) -> None: ...


@_face(nvmlDeviceResetMemoryLockedClocks)
def device_reset_memory_locked_clocks(device: int) -> None: ...


@_face(nvmlDeviceSetAutoBoostedClocksEnabled)
def device_set_auto_boosted_clocks_enabled(device: int, enabled: EnableState | int) -> None: ...


@_face(nvmlDeviceSetDefaultAutoBoostedClocksEnabled)
def device_set_default_auto_boosted_clocks_enabled(
    device: int, enabled: EnableState | int, flags: int
) -> None: ...


@_face(nvmlDeviceSetDefaultFanSpeed_v2)
def device_set_default_fan_speed_v2(device: int, fan: int) -> None: ...


@_face(nvmlDeviceSetFanControlPolicy)
def device_set_fan_control_policy(device: int, fan: int, policy: FanControlPolicy | int) -> None: ...


@_face(nvmlDeviceSetGpuOperationMode)
def device_set_gpu_operation_mode(device: int, mode: GpuOperationMode | int) -> None: ...


@_face(nvmlDeviceSetAPIRestriction)
def device_set_api_restriction(
    device: int, api_type: RestrictedAPI | int, is_restricted: EnableState | int
) -> None: ...


@_face(nvmlDeviceSetFanSpeed_v2)
def device_set_fan_speed_v2(device: int, fan: int, speed: int) -> None: ...


@_face(nvmlDeviceGetNvLinkState)
def device_get_nvlink_state(device: int, link: int) -> EnableState: ...


@_face(nvmlDeviceGetNvLinkVersion)
def device_get_nvlink_version(device: int, link: int) -> int: ...


@_face(nvmlDeviceGetNvLinkCapability)
def device_get_nvlink_capability(device: int, link: int, capability: NvLinkCapability | int) -> int: ...


@_face(nvmlDeviceGetNvLinkRemotePciInfo)
def device_get_nvlink_remote_pci_info_v2(device: int, link: int) -> PciInfo: ...


@_face(nvmlDeviceGetNvLinkErrorCounter)
def device_get_nvlink_error_counter(device: int, link: int, counter: NvLinkErrorCounter | int) -> int: ...


@_face(nvmlDeviceResetNvLinkErrorCounters)
def device_reset_nvlink_error_counters(device: int, link: int) -> None: ...


@_face(nvmlDeviceGetNvLinkRemoteDeviceType)
def device_get_nvlink_remote_device_type(device: int, link: int) -> IntNvLinkDeviceType: ...


@_face(nvmlSystemSetNvlinkBwMode)
def system_set_nvlink_bw_mode(nvlink_bw_mode: int) -> None: ...


@_face(nvmlSystemGetNvlinkBwMode)
def system_get_nvlink_bw_mode() -> int: ...


@_face(nvmlDeviceGetNvlinkSupportedBwModes)
def device_get_nvlink_supported_bw_modes(device: int) -> NvlinkSupportedBwModes_v1: ...


@_face(nvmlDeviceGetNvlinkBwMode)
def device_get_nvlink_bw_mode(device: int) -> NvlinkGetBwMode_v1: ...


@_face(nvmlDeviceSetNvlinkBwMode)
def device_set_nvlink_bw_mode(device: int, set_bw_mode: NvlinkSetBwMode_v1) -> None: ...


@_face(nvmlDeviceGetNvLinkInfo)
def device_get_nvlink_info(device: int) -> NvLinkInfo_v2: ...


@_face(nvmlDeviceGetNvLinkInfo_v3)
def device_get_nvlink_info_v3(device: int) -> NvLinkInfo_v3: ...


@_face(nvmlDeviceGetNvlinkRemapTableInfo_v1)
def device_get_nvlink_remap_table_info_v1(device: int) -> NvlinkGetRemapTableInfo_v1: ...


@_face(nvmlDeviceSetNvlinkNvleReady_v1)
def device_set_nvlink_nvle_ready_v1(device: int, set_nvle_ready: NvlinkSetNvleReady_v1) -> None: ...


@_face(nvmlDeviceLockNvlinkRemapTable_v1)
def device_lock_nvlink_remap_table_v1(
    device: int, remap_table_lock_info: NvlinkLockRemapTable_v1
) -> None: ...


@_face(nvmlDeviceSetupNvlinkNvleEncryptionKey_v1)
def device_setup_nvlink_nvle_encryption_key_v1(
    device: int, encryption_key: NvlinkSetupNvleEncryptionKey_v1
) -> None: ...


@_face(nvmlDeviceGetNvlinkNvlePrivateInfo_v1)
def device_get_nvlink_nvle_private_info_v1(device: int) -> NvlinkNvlePrivateInfo_v1: ...


@_face(nvmlEventSetCreate)
def event_set_create() -> int: ...


@_face(nvmlDeviceRegisterEvents)
def device_register_events(device: int, event_types: int, set: int) -> None: ...


@_face(nvmlDeviceGetSupportedEventTypes)
def device_get_supported_event_types(device: int) -> int: ...


@_face(nvmlEventSetWait)
def event_set_wait_v2(set: int, timeoutms: int) -> EventData: ...


@_face(nvmlEventSetRegisterGpuOperationalEvents_v1)
def event_set_register_gpu_operational_events_v1(
    event_set: int, config: GpuOperationalEventConfig_v1
) -> None: ...


@_face(nvmlEventSetFree)
def event_set_free(set: int) -> None: ...


@_face(nvmlDeviceModifyDrainState)
def device_modify_drain_state(pci_info: PciInfo, new_state: EnableState | int) -> None: ...


@_face(nvmlDeviceQueryDrainState)
def device_query_drain_state(pci_info: PciInfo) -> EnableState: ...


@_face(nvmlDeviceRemoveGpu)
def device_remove_gpu_v2(
    pci_info: PciInfo, gpu_state: DetachGpuState | int, link_state: PcieLinkState | int
) -> None: ...


@_face(nvmlDeviceDiscoverGpus)
def device_discover_gpus(pci_info: PciInfo) -> None: ...


@_face(nvmlDeviceGetVirtualizationMode)
def device_get_virtualization_mode(device: int) -> GpuVirtualizationMode: ...


@_face(nvmlDeviceGetHostVgpuMode)
def device_get_host_vgpu_mode(device: int) -> HostVgpuMode: ...


@_face(nvmlDeviceSetVirtualizationMode)
def device_set_virtualization_mode(device: int, virtual_mode: GpuVirtualizationMode | int) -> None: ...


@_face(nvmlVgpuTypeGetGspHeapSize)
def vgpu_type_get_gsp_heap_size(vgpu_type_id: int) -> int: ...


@_face(nvmlVgpuTypeGetFbReservation)
def vgpu_type_get_fb_reservation(vgpu_type_id: int) -> int: ...


@_face(nvmlDeviceSetVgpuCapabilities)
def device_set_vgpu_capabilities(
    device: int, capability: DeviceVgpuCapability | int, state: EnableState | int
) -> None: ...


@_face(nvmlDeviceVgpuForceGspUnload)
def device_vgpu_force_gsp_unload(device: int) -> None: ...


@_face(nvmlDeviceGetGridLicensableFeatures)
def device_get_grid_licensable_features_v4(device: int) -> GridLicensableFeatures: ...


@_face(nvmlGetVgpuDriverCapabilities)
def get_vgpu_driver_capabilities(capability: VgpuDriverCapability | int) -> int: ...


@_face(nvmlDeviceGetVgpuCapabilities)
def device_get_vgpu_capabilities(device: int, capability: DeviceVgpuCapability | int) -> int: ...


@_face(nvmlDeviceGetSupportedVgpus)
def device_get_supported_vgpus(device: int) -> list[int]: ...


@_face(nvmlDeviceGetCreatableVgpus)
def device_get_creatable_vgpus(device: int) -> list[int]: ...


@_face(nvmlVgpuTypeGetClass)
def vgpu_type_get_class(vgpu_type_id: int) -> str: ...


@_face(nvmlVgpuTypeGetName)
def vgpu_type_get_name(vgpu_type_id: int) -> str: ...


@_face(nvmlVgpuTypeGetGpuInstanceProfileId)
def vgpu_type_get_gpu_instance_profile_id(vgpu_type_id: int) -> int: ...


@_face(nvmlVgpuTypeGetDeviceID)
def vgpu_type_get_device_id(vgpu_type_id: int) -> tuple[int, int]: ...


@_face(nvmlVgpuTypeGetFramebufferSize)
def vgpu_type_get_framebuffer_size(vgpu_type_id: int) -> int: ...


@_face(nvmlVgpuTypeGetNumDisplayHeads)
def vgpu_type_get_num_display_heads(vgpu_type_id: int) -> int: ...


@_face(nvmlVgpuTypeGetResolution)
def vgpu_type_get_resolution(vgpu_type_id: int, display_index: int) -> tuple[int, int]: ...


@_face(nvmlVgpuTypeGetLicense)
def vgpu_type_get_license(vgpu_type_id: int) -> str: ...


@_face(nvmlVgpuTypeGetFrameRateLimit)
def vgpu_type_get_frame_rate_limit(vgpu_type_id: int) -> int: ...


@_face(nvmlVgpuTypeGetMaxInstances)
def vgpu_type_get_max_instances(device: int, vgpu_type_id: int) -> int: ...


@_face(nvmlVgpuTypeGetMaxInstancesPerVm)
def vgpu_type_get_max_instances_per_vm(vgpu_type_id: int) -> int: ...


@_face(nvmlVgpuTypeGetBAR1Info)
def vgpu_type_get_bar1_info(vgpu_type_id: int) -> VgpuTypeBar1Info_v1: ...


@_face(nvmlDeviceGetActiveVgpus)
def device_get_active_vgpus(device: int) -> list[int]: ...


@_face(nvmlVgpuInstanceGetVmID)
def vgpu_instance_get_vm_id(vgpu_instance: int) -> tuple[str, VgpuVmIdType]: ...


@_face(nvmlVgpuInstanceGetUUID)
def vgpu_instance_get_uuid(vgpu_instance: int) -> str: ...


@_face(nvmlVgpuInstanceGetVmDriverVersion)
def vgpu_instance_get_vm_driver_version(vgpu_instance: int) -> str: ...


@_face(nvmlVgpuInstanceGetFbUsage)
def vgpu_instance_get_fb_usage(vgpu_instance: int) -> int: ...


@_face(nvmlVgpuInstanceGetLicenseStatus)
def vgpu_instance_get_license_status(vgpu_instance: int) -> int: ...


@_face(nvmlVgpuInstanceGetType)
def vgpu_instance_get_type(vgpu_instance: int) -> int: ...


@_face(nvmlVgpuInstanceGetFrameRateLimit)
def vgpu_instance_get_frame_rate_limit(vgpu_instance: int) -> int: ...


@_face(nvmlVgpuInstanceGetEccMode)
def vgpu_instance_get_ecc_mode(vgpu_instance: int) -> EnableState: ...


@_face(nvmlVgpuInstanceGetEncoderCapacity)
def vgpu_instance_get_encoder_capacity(vgpu_instance: int) -> int: ...


@_face(nvmlVgpuInstanceSetEncoderCapacity)
def vgpu_instance_set_encoder_capacity(vgpu_instance: int, encoder_capacity: int) -> None: ...


@_face(nvmlVgpuInstanceGetEncoderStats)
def vgpu_instance_get_encoder_stats(vgpu_instance: int) -> tuple[int, int, int]: ...


@_face(nvmlVgpuInstanceGetEncoderSessions)
def vgpu_instance_get_encoder_sessions(vgpu_instance: int) -> list[EncoderSessionInfo]: ...


@_face(nvmlVgpuInstanceGetFBCStats)
def vgpu_instance_get_fbc_stats(vgpu_instance: int) -> FBCStats: ...


@_face(nvmlVgpuInstanceGetFBCSessions)
def vgpu_instance_get_fbc_sessions(vgpu_instance: int) -> list[FBCSessionInfo]: ...


@_face(nvmlVgpuInstanceGetGpuInstanceId)
def vgpu_instance_get_gpu_instance_id(vgpu_instance: int) -> int: ...


@_face(nvmlVgpuInstanceGetGpuPciId)
def vgpu_instance_get_gpu_pci_id(vgpu_instance: int) -> str: ...


@_face(nvmlVgpuTypeGetCapabilities)
def vgpu_type_get_capabilities(vgpu_type_id: int, capability: VgpuCapability | int) -> int: ...


@_face(nvmlVgpuInstanceGetMdevUUID)
def vgpu_instance_get_mdev_uuid(vgpu_instance: int) -> str: ...


@_face(nvmlGpuInstanceSetVgpuSchedulerState)
def gpu_instance_set_vgpu_scheduler_state(gpu_instance: int, p_scheduler: VgpuSchedulerState_v1) -> None: ...


@_face(nvmlDeviceSetVgpuSchedulerState_v2)
def device_set_vgpu_scheduler_state_v2(device: int, p_scheduler_state: VgpuSchedulerState_v2) -> None: ...


@_face(nvmlGpuInstanceSetVgpuSchedulerState_v2)
def gpu_instance_set_vgpu_scheduler_state_v2(
    gpu_instance: int, p_scheduler_state: VgpuSchedulerState_v2
) -> None: ...


@_face(nvmlDeviceGetPgpuMetadataString)
def device_get_pgpu_metadata_string(device: int) -> str: ...


@_face(nvmlDeviceGetVgpuSchedulerLog)
def device_get_vgpu_scheduler_log(device: int) -> VgpuSchedulerLog: ...


@_face(nvmlDeviceGetVgpuSchedulerState)
def device_get_vgpu_scheduler_state(device: int) -> VgpuSchedulerGetState: ...


@_face(nvmlDeviceGetVgpuSchedulerCapabilities)
def device_get_vgpu_scheduler_capabilities(device: int) -> VgpuSchedulerCapabilities: ...


@_face(nvmlGetVgpuVersion)
def get_vgpu_version() -> tuple[VgpuVersion, VgpuVersion]: ...


@_face(nvmlSetVgpuVersion)
def set_vgpu_version(vgpu_version: VgpuVersion) -> None: ...


@_face(nvmlDeviceGetVgpuUtilization)
def device_get_vgpu_utilization(
    device: int, last_seen_time_stamp: int
) -> tuple[ValueType, list[VgpuInstanceUtilizationSample]]: ...


@_face(nvmlDeviceGetVgpuProcessUtilization)
def device_get_vgpu_process_utilization(
    device: int, last_seen_time_stamp: int
) -> list[VgpuProcessUtilizationSample]: ...


@_face(nvmlVgpuInstanceGetAccountingMode)
def vgpu_instance_get_accounting_mode(vgpu_instance: int) -> EnableState: ...


@_face(nvmlVgpuInstanceGetAccountingPids)
def vgpu_instance_get_accounting_pids(vgpu_instance: int) -> list[int]: ...


@_face(nvmlVgpuInstanceGetAccountingStats)
def vgpu_instance_get_accounting_stats(vgpu_instance: int, pid: int) -> AccountingStats: ...


@_face(nvmlVgpuInstanceClearAccountingPids)
def vgpu_instance_clear_accounting_pids(vgpu_instance: int) -> None: ...


@_face(nvmlVgpuInstanceGetLicenseInfo)
def vgpu_instance_get_license_info_v2(vgpu_instance: int) -> VgpuLicenseInfo: ...


@_face(nvmlGetExcludedDeviceCount)
def get_excluded_device_count() -> int: ...


@_face(nvmlGetExcludedDeviceInfoByIndex)
def get_excluded_device_info_by_index(index: int) -> ExcludedDeviceInfo: ...


@_face(nvmlDeviceSetMigMode)
def device_set_mig_mode(device: int, mode: int) -> Return: ...


@_face(nvmlDeviceGetMigMode)
def device_get_mig_mode(device: int) -> tuple[int, int]: ...


@_face(nvmlDeviceGetGpuInstancePossiblePlacements)
def device_get_gpu_instance_possible_placements_v2(
    device: int, profile_id: int
) -> list[GpuInstancePlacement]: ...


@_face(nvmlDeviceGetGpuInstanceRemainingCapacity)
def device_get_gpu_instance_remaining_capacity(device: int, profile_id: int) -> int: ...


@_face(nvmlDeviceCreateGpuInstance)
def device_create_gpu_instance(device: int, profile_id: int) -> int: ...


@_face(nvmlDeviceCreateGpuInstanceWithPlacement)
def device_create_gpu_instance_with_placement(
    device: int, profile_id: int, placement: GpuInstancePlacement
) -> int: ...


@_face(nvmlGpuInstanceDestroy)
def gpu_instance_destroy(gpu_instance: int) -> None: ...


@_face(nvmlDeviceGetGpuInstances)
def device_get_gpu_instances(device: int, profile_id: int) -> list[int]: ...


@_face(nvmlDeviceGetGpuInstanceById)
def device_get_gpu_instance_by_id(device: int, id: int) -> int: ...


@_face(nvmlGpuInstanceGetInfo)
def gpu_instance_get_info(gpu_instance: int) -> GpuInstanceInfo: ...


@_face(nvmlGpuInstanceGetComputeInstanceProfileInfoV)
def gpu_instance_get_compute_instance_profile_info_v(
    gpu_instance: int, profile: int, eng_profile: int
) -> ComputeInstanceProfileInfo_v2: ...


@_face(nvmlGpuInstanceGetComputeInstanceRemainingCapacity)
def gpu_instance_get_compute_instance_remaining_capacity(gpu_instance: int, profile_id: int) -> int: ...


@_face(nvmlGpuInstanceGetComputeInstancePossiblePlacements)
def gpu_instance_get_compute_instance_possible_placements(
    gpu_instance: int, profile_id: int
) -> list[ComputeInstancePlacement]: ...


@_face(nvmlGpuInstanceCreateComputeInstance)
def gpu_instance_create_compute_instance(gpu_instance: int, profile_id: int) -> int: ...


@_face(nvmlGpuInstanceCreateComputeInstanceWithPlacement)
def gpu_instance_create_compute_instance_with_placement(
    gpu_instance: int, profile_id: int, placement: ComputeInstancePlacement
) -> int: ...


@_face(nvmlComputeInstanceDestroy)
def compute_instance_destroy(compute_instance: int) -> None: ...


@_face(nvmlGpuInstanceGetComputeInstances)
def gpu_instance_get_compute_instances(gpu_instance: int, profile_id: int) -> list[int]: ...


@_face(nvmlGpuInstanceGetComputeInstanceById)
def gpu_instance_get_compute_instance_by_id(gpu_instance: int, id: int) -> int: ...


@_face(nvmlComputeInstanceGetInfo)
def compute_instance_get_info_v2(compute_instance: int) -> ComputeInstanceInfo: ...


@_face(nvmlDeviceIsMigDeviceHandle)
def device_is_mig_device_handle(device: int) -> int: ...


@_face(nvmlDeviceGetGpuInstanceId)
def device_get_gpu_instance_id(device: int) -> int: ...


@_face(nvmlDeviceGetComputeInstanceId)
def device_get_compute_instance_id(device: int) -> int: ...


@_face(nvmlDeviceGetMaxMigDeviceCount)
def device_get_max_mig_device_count(device: int) -> int: ...


@_face(nvmlDeviceGetMigDeviceHandleByIndex)
def device_get_mig_device_handle_by_index(device: int, index: int) -> int: ...


@_face(nvmlDeviceGetDeviceHandleFromMigDeviceHandle)
def device_get_device_handle_from_mig_device_handle(mig_device: int) -> int: ...


# -- The face of cuda.bindings: functions whose arguments are the fields of a struct -----------------


def _asked(asked: Any, function: Any, *arguments: Any) -> Any:
    """`asked`, a struct of the face, filled by `function`, which takes it after `arguments`."""
    _face.call(function, *arguments, _face.original(asked))
    return asked


def _all(asked: Any, count: str, items: str, item: Any, function: Any, *arguments: Any) -> Any:
    """`asked`, which points to an array, filled as `_asked` does, with room for all items."""
    room = 0
    for _ in range(16):
        status, *_ = function(*arguments, _face.original(asked))
        needed = getattr(asked, count)
        if status not in (0, libnvml.short) or needed <= room:
            _face.check(function, status, *arguments)
            break
        room = needed
        setattr(asked, items, [item() for _ in range(room)])
    return asked


def _at(cls: Any, value: Any) -> Any:
    """`value`, or the struct at that address."""
    return cls(_ptr=value) if isinstance(value, int) and value else value


@_face(nvmlErrorString)
def error_string(result: Return | int) -> str: ...


def check_status(status: int) -> int:
    """Raise NvmlError for a `status` that is a failure; return it otherwise."""
    if status:
        raise NvmlError(status)
    return status


def check_status_size(status: int) -> int:
    """Raise NvmlError for a `status` that is a failure, except for INSUFFICIENT_SIZE; return it otherwise."""
    return status if status == libnvml.short else check_status(status)


def system_get_driver_branch() -> str:
    """Return the branch of the driver, such as "r580_00"."""
    return str(_face.plain(_face.call(nvmlSystemGetDriverBranch).branch))


def device_get_handle_by_uuidv(type: UUIDType | int, uuid: bytes) -> int:
    """Return the GPU or MIG device with a UUID that is text or 16 bytes, as `type` says."""
    from ._types.nvml.names import UUIDType
    from ._types.nvml.structs import nvmlUUID_v1_t

    asked = nvmlUUID_v1_t(type=type)
    if type == UUIDType.BINARY:
        asked.value.bytes = uuid
    else:
        asked.value.str = uuid
    return int(_face.call(nvmlDeviceGetHandleByUUIDV, asked))


def device_get_pdi(device: int) -> int:
    """Return the number of the device that no other has."""
    return int(_face.call(nvmlDeviceGetPdi, device).value)


def device_get_hostname_v1(device: int) -> str:
    """Return the host name that was set for `device`."""
    return str(_face.plain(_face.call(nvmlDeviceGetHostname_v1, device).value))


def device_set_hostname_v1(device: int, hostname: str) -> None:
    """Set a host name for `device`."""
    from ._types.nvml.structs import nvmlHostname_v1_t

    _face.call(nvmlDeviceSetHostname_v1, device, nvmlHostname_v1_t(value=hostname.encode()))


def device_get_performance_modes(device: int) -> str:
    """Return the performance modes as text of keys and values."""
    return str(_face.plain(_face.call(nvmlDeviceGetPerformanceModes, device).str))


def device_get_current_clock_freqs(device: int) -> str:
    """Return the clocks as text of keys and values."""
    return str(_face.plain(_face.call(nvmlDeviceGetCurrentClockFreqs, device).str))


def device_get_margin_temperature(device: int) -> int:
    """Return how far the GPU is below its slowdown temperature, in degrees C."""
    return int(_face.call(nvmlDeviceGetMarginTemperature, device).marginTemperature)


def device_get_temperature_v(device: int, sensorType: TemperatureSensors | int) -> int:
    """Return the temperature of a sensor, in degrees C."""
    from ._types.nvml.structs import nvmlTemperature_v1_t

    asked = _asked(nvmlTemperature_v1_t(sensorType=sensorType), nvmlDeviceGetTemperatureV, device)
    return int(asked.temperature)


def device_get_fan_speed_rpm(device: int, fan: int) -> int:
    """Return the revolutions a minute of `fan`."""
    from ._types.nvml.structs import nvmlFanSpeedInfo_v1_t

    return int(_asked(nvmlFanSpeedInfo_v1_t(fan=fan), nvmlDeviceGetFanSpeedRPM, device).speed)


def device_get_cooler_info(device: int, index: int = 0) -> CoolerInfo_v1:
    """Return what the cooler of number `index` cools, and how."""
    from ._types.nvml.names import CoolerInfo_v1

    asked: CoolerInfo_v1 = _asked(CoolerInfo_v1(index=index), nvmlDeviceGetCoolerInfo, device)
    return asked


def device_get_clock_offsets(
    device: int, clock_type: ClockType | int, pstate: Pstates | int
) -> ClockOffset_v1:
    """Return the offset of a clock in a performance state, and its limits, in MHz."""
    from ._types.nvml.names import ClockOffset_v1

    asked = ClockOffset_v1(type=clock_type, pstate=pstate)
    _asked(asked, nvmlDeviceGetClockOffsets, device)
    return asked


def device_get_supported_performance_states(device: int) -> list[Pstates]:
    """Return the performance states."""
    from ._types.nvml.names import Pstates

    states = _face.call(nvmlDeviceGetSupportedPerformanceStates, device)
    return [state for state in states if state != Pstates.PSTATE_UNKNOWN]


def device_set_temperature_threshold(
    device: int, threshold_type: TemperatureThresholds | int, temp: int
) -> None:
    """Set the temperature at which `threshold_type` happens to `temp`, in degrees C."""
    _face.call(nvmlDeviceSetTemperatureThreshold, device, threshold_type, temp)


def device_set_power_management_limit_v2(
    device: int, power_scope: PowerScope | int, power_value_mw: int
) -> None:
    """Set the power limit of a scope, in milliwatts."""
    from ._types.nvml.structs import nvmlPowerValue_v2_t

    value = nvmlPowerValue_v2_t(powerScope=power_scope, powerValueMw=power_value_mw)
    _face.call(nvmlDeviceSetPowerManagementLimit_v2, device, value)


def device_set_rusd_settings_v1(device: int, poll_mask: RUSD | int) -> None:
    """Set what of the data that the driver shares with user mode is refreshed."""
    from ._types.nvml.structs import nvmlRusdSettings_v1_t

    _face.call(nvmlDeviceSetRusdSettings_v1, device, nvmlRusdSettings_v1_t(pollMask=poll_mask))


def device_get_dram_encryption_mode(device: int) -> tuple[EnableState, EnableState]:
    """Return whether the memory is encrypted, and whether it is after the next reboot."""
    current, pending = _face.call(nvmlDeviceGetDramEncryptionMode, device)
    return _face.plain(current.encryptionState), _face.plain(pending.encryptionState)


def device_set_dram_encryption_mode(device: int, dram_encryption: EnableState | int) -> None:
    """Switch the encryption of the memory from the next reboot on."""
    from ._types.nvml.structs import nvmlDramEncryptionInfo_v1_t

    state = nvmlDramEncryptionInfo_v1_t(encryptionState=dram_encryption)
    _face.call(nvmlDeviceSetDramEncryptionMode, device, state)


def device_get_capabilities(device: int) -> int:
    """Return what `device` can do, as NVML_DEV_CAP_* bits."""
    return int(_face.call(nvmlDeviceGetCapabilities, device).capMask)


def device_get_unrepairable_memory_flag_v1(device: int) -> int:
    """Return whether the memory has faults that cannot be repaired."""
    return int(_face.call(nvmlDeviceGetUnrepairableMemoryFlag_v1, device).bUnrepairableMemory)


def device_get_memory_limits_v1(device: int, name_space: str | bytes | None = None) -> GetMemoryLimits_v1:
    """Return the limits of the memory of a name space, in bytes."""
    from ._types.nvml.names import GetMemoryLimits_v1

    asked = GetMemoryLimits_v1()
    asked.name_space = name_space.encode() if isinstance(name_space, str) else name_space
    _asked(asked, nvmlDeviceGetMemoryLimits_v1, device)
    return asked


def device_get_accounting_stats_v2(device: int, pid: int = 0) -> AccountingStats_v2:
    """Return the statistics of process `pid`, ended ones included."""
    from ._types.nvml.names import AccountingStats_v2

    asked: AccountingStats_v2 = _asked(AccountingStats_v2(pid=pid), nvmlDeviceGetAccountingStats_v2, device)
    return asked


def device_get_running_process_detail_list(device: int, mode: ProcessMode | int) -> ProcessDetailList_v1:
    """Return the processes of one mode, and the memory that they use."""
    from ._types.nvml.names import ProcessDetail_v1, ProcessDetailList_v1

    asked = ProcessDetailList_v1(mode=mode)
    function = nvmlDeviceGetRunningProcessDetailList
    _all(asked, "num_proc_array_entries", "proc_array", ProcessDetail_v1, function, device)
    return asked


def device_get_processes_utilization_info(
    device: int, last_seen_time_stamp: int
) -> ProcessesUtilizationInfo_v1:
    """Return how busy each process kept the parts of the GPU, in samples newer than that, in microseconds."""
    from ._types.nvml.names import ProcessesUtilizationInfo_v1, ProcessUtilizationInfo_v1

    asked = ProcessesUtilizationInfo_v1(last_seen_time_stamp=last_seen_time_stamp)
    item, function = ProcessUtilizationInfo_v1, nvmlDeviceGetProcessesUtilizationInfo
    _all(asked, "process_samples_count", "proc_util_array", item, function, device)
    return asked


def device_get_sram_unique_uncorrected_ecc_error_counts(
    device: int,
) -> EccSramUniqueUncorrectedErrorCounts_v1:
    """Return the places of uncorrected ECC errors in SRAM."""
    from ._types.nvml.names import (
        EccSramUniqueUncorrectedErrorCounts_v1,
        EccSramUniqueUncorrectedErrorEntry_v1,
    )

    asked, item = EccSramUniqueUncorrectedErrorCounts_v1(), EccSramUniqueUncorrectedErrorEntry_v1
    _all(asked, "entry_count", "entries", item, nvmlDeviceGetSramUniqueUncorrectedEccErrorCounts, device)
    return asked


def device_get_field_values(device: int, values: Sequence[FieldValue]) -> list[FieldValue]:
    """Fill `values`, whose field_id and scope_id say what is asked, in place, and return them.

    Each has a status of its own, in `nvml_return`.
    """
    asked = list(values)
    _face.call(nvmlDeviceGetFieldValues, device, len(asked), _face.original(asked))
    return asked


def device_clear_field_values(device: int, values: Sequence[FieldValue]) -> None:
    """Set what `values` name back to zero, and give each a status of its own, in place."""
    _face.call(nvmlDeviceClearFieldValues, device, len(values), _face.original(list(values)))


def device_get_conf_compute_gpu_attestation_report(
    device: int, nonce: bytes
) -> ConfComputeGpuAttestationReport:
    """Return a report that attests `device`, for a nonce of 32 bytes."""
    from ._types.nvml.names import ConfComputeGpuAttestationReport

    asked = ConfComputeGpuAttestationReport(nonce=nonce)
    _asked(asked, nvmlDeviceGetConfComputeGpuAttestationReport, device)
    return asked


def system_get_conf_compute_key_rotation_threshold_info() -> int:
    """Return how much an attacker may gain before keys are rotated."""
    return int(_face.call(nvmlSystemGetConfComputeKeyRotationThresholdInfo).attackerAdvantage)


def system_set_conf_compute_key_rotation_threshold_info(max_attacker_advantage: int) -> None:
    """Set how much an attacker may gain before keys are rotated."""
    from ._types.nvml.structs import nvmlConfComputeSetKeyRotationThresholdInfo_v1_t

    value = nvmlConfComputeSetKeyRotationThresholdInfo_v1_t(maxAttackerAdvantage=max_attacker_advantage)
    _face.call(nvmlSystemSetConfComputeKeyRotationThresholdInfo, value)


def device_set_nvlink_device_low_power_threshold(
    device: int, threshold: NvlinkLowPowerThreshold | int
) -> None:
    """Set how long a link is idle before it goes to low power."""
    from ._types.nvml.structs import nvmlNvLinkPowerThres_t

    value = nvmlNvLinkPowerThres_t(lowPwrThreshold=threshold)
    _face.call(nvmlDeviceSetNvLinkDeviceLowPowerThreshold, device, value)


def device_set_nvlink_bw_mode_async_v1(device: int, set_bw_mode_async: NvlinkSetBwModeAsync_v1) -> None:
    """Set the bandwidth mode of NVLink, and wait no longer than async_poll_timeout_ms milliseconds."""
    _asked(set_bw_mode_async, nvmlDeviceSetNvlinkBwModeAsync_v1, device)


def device_get_nv_link_telemetry_samples_v1(
    device: int, telemetry_samples: Sequence[NvlinkTelemetrySample_v1] = ()
) -> NvlinkTelemetrySamples_v1:
    """Return samples of the links that `telemetry_samples` name, each with room for its sample_count."""
    from ._types.nvml.names import NvlinkTelemetrySamples_v1

    asked = NvlinkTelemetrySamples_v1(telemetry_count=len(telemetry_samples))
    asked.telemetry_samples = list(telemetry_samples)
    _asked(asked, nvmlDeviceGetNvLinkTelemetrySamples_v1, device)
    return asked


def device_power_smoothing_activate_preset_profile(device: int, profile: Any) -> None:
    """Choose a profile of power smoothing: an nvmlPowerSmoothingProfile_v1_t or its address."""
    from ._types.nvml.structs import nvmlPowerSmoothingProfile_v1_t

    profile = _at(nvmlPowerSmoothingProfile_v1_t, profile)
    _face.call(nvmlDevicePowerSmoothingActivatePresetProfile, device, profile)


def device_power_smoothing_update_preset_profile_param(device: int, profile: Any) -> None:
    """Set a parameter of a profile of power smoothing: an nvmlPowerSmoothingProfile_v1_t or its address."""
    from ._types.nvml.structs import nvmlPowerSmoothingProfile_v1_t

    profile = _at(nvmlPowerSmoothingProfile_v1_t, profile)
    _face.call(nvmlDevicePowerSmoothingUpdatePresetProfileParam, device, profile)


def device_power_smoothing_set_state(device: int, state: Any) -> None:
    """Switch power smoothing: an nvmlPowerSmoothingState_v1_t or its address."""
    from ._types.nvml.structs import nvmlPowerSmoothingState_v1_t

    _face.call(nvmlDevicePowerSmoothingSetState, device, _at(nvmlPowerSmoothingState_v1_t, state))


def device_read_prm_counters_v1(device: int, counters: Sequence[PRMCounter_v1]) -> None:
    """Read the counters of registers that `counters` name, in place."""
    from ._types.nvml.structs import nvmlPRMCounterList_v1_t

    asked = nvmlPRMCounterList_v1_t(numCounters=len(counters))
    asked.counters = _face.original(list(counters))
    _face.call(nvmlDeviceReadPRMCounters_v1, device, asked)
    for counter, read in zip(counters, asked.counters, strict=True):
        ctypes.memmove(counter.getPtr(), read.getPtr(), ctypes.sizeof(read))


def device_read_write_prm_v1(device: int, in_data: bytes) -> tuple[int, bytes]:
    """Send a request to a register of the GPU; return the status and the answer, as long as the request."""
    from ._types.nvml.structs import nvmlPRMTLV_v1_t

    asked = _asked(nvmlPRMTLV_v1_t(dataSize=len(in_data), inData=in_data), nvmlDeviceReadWritePRM_v1, device)
    return asked.status, asked.outData[: asked.dataSize]


def event_set_wait_v3(set: int, timeout_ms: int) -> EventSetWait_v3:
    """Return the next event of `set`; raises NvmlTimeoutError after `timeout_ms` milliseconds."""
    from ._types.nvml.names import EventSetWait_v3

    asked: EventSetWait_v3 = _asked(EventSetWait_v3(timeout_ms=timeout_ms), nvmlEventSetWait_v3, set)
    return asked


def event_set_get_context_count_v1(set: int) -> EventSetGetContextCount_v1:
    """Return how many contexts the last event of `set` has."""
    from ._types.nvml.names import EventSetGetContextCount_v1

    asked: EventSetGetContextCount_v1 = _asked(
        EventSetGetContextCount_v1(), nvmlEventSetGetContextCount_v1, set
    )
    return asked


def event_set_get_context_info_v1(set: int, index: int) -> EventSetGetContextInfo_v1:
    """Return what the context of number `index` of the last event of `set` is."""
    from ._types.nvml.names import EventSetGetContextInfo_v1

    asked = EventSetGetContextInfo_v1(index=index)
    _asked(asked, nvmlEventSetGetContextInfo_v1, set)
    return asked


def event_set_get_context_data_v1(set: int, index: int) -> bytes:
    """Return the bytes of the context of number `index` of the last event of `set`."""
    from ._types.nvml.structs import nvmlEventSetGetContextData_v1_t

    asked, room, data = nvmlEventSetGetContextData_v1_t(index=index), 0, bytearray()
    for _ in range(16):
        (status,) = nvmlEventSetGetContextData_v1(set, asked)
        if status not in (0, libnvml.short) or asked.dataSize <= room:
            _face.check(nvmlEventSetGetContextData_v1, status, set)
            break
        room = asked.dataSize
        data = bytearray(room)
        asked.data = data
    return bytes(data[: asked.dataSize])


def event_set_get_gpu_operational_event_context_legacy_xid_v1(
    set: int, index: int
) -> EventSetGetGpuOperationalEventContextLegacyXid_v1:
    """Return the Xid in the context of number `index` of the last event of `set`."""
    from ._types.nvml.names import EventSetGetGpuOperationalEventContextLegacyXid_v1

    asked = EventSetGetGpuOperationalEventContextLegacyXid_v1(index=index)
    _asked(asked, nvmlEventSetGetGpuOperationalEventContextLegacyXid_v1, set)
    return asked


def system_event_set_create() -> int:
    """Make an empty set of events of the system."""
    from ._types.nvml.structs import nvmlSystemEventSetCreateRequest_v1_t

    return int(_asked(nvmlSystemEventSetCreateRequest_v1_t(), nvmlSystemEventSetCreate).set)


def system_event_set_free(event_set: int) -> None:
    """Destroy a set of events of the system."""
    from ._types.nvml.structs import nvmlSystemEventSetFreeRequest_v1_t

    _face.call(nvmlSystemEventSetFree, nvmlSystemEventSetFreeRequest_v1_t(set=event_set))


def system_register_events(event_types: SystemEventType | int, event_set: int) -> None:
    """Record the events of the system that `event_types`, bits of SystemEventType, names in `event_set`."""
    from ._types.nvml.structs import nvmlSystemRegisterEventRequest_v1_t

    request = nvmlSystemRegisterEventRequest_v1_t(eventTypes=event_types, set=event_set)
    _face.call(nvmlSystemRegisterEvents, request)


def system_event_set_wait(event_set: int, timeout_ms: int, buffer_size: int) -> list[SystemEventData_v1]:
    """Return the next events of `event_set`, `buffer_size` at most; raises NvmlTimeoutError without any."""
    from ._types.nvml.structs import nvmlSystemEventData_v1_t, nvmlSystemEventSetWaitRequest_v1_t

    request = nvmlSystemEventSetWaitRequest_v1_t(timeoutms=timeout_ms, set=event_set, dataSize=buffer_size)
    request.data = [nvmlSystemEventData_v1_t() for _ in range(buffer_size)]
    _face.call(nvmlSystemEventSetWait, request)
    return [_face.plain(event) for event in request.data[: request.numEvent]]


def system_get_cper_v1(cursor: CPERCursor_v1 | None = None) -> tuple[bytes, CPERCursor_v1]:
    """Return the next error records, b"" for none, and the cursor for the call after this one."""
    from ._types.nvml.names import CPERCursor_v1, GetCPER_v1

    asked, room, data = GetCPER_v1(), 0, bytearray()
    asked.cursor = CPERCursor_v1() if cursor is None else cursor
    for _ in range(16):
        (status,) = nvmlSystemGetCPER_v1(_face.original(asked))
        if status not in (0, libnvml.short) or asked.buffer_size <= room:
            _face.check(nvmlSystemGetCPER_v1, status)
            break
        room = asked.buffer_size
        data = bytearray(room)
        asked.buffer = data
    return bytes(data[: asked.buffer_size]), asked.cursor


def device_get_gpu_instance_profile_info_v(
    device: int, profile: GpuInstanceProfile | int
) -> GpuInstanceProfileInfo_v3:
    """Return a profile of GPU instances."""
    from ._types.nvml.names import GpuInstanceProfileInfo_v3
    from ._types.nvml.structs import nvmlGpuInstanceProfileInfo_v2_t

    asked = GpuInstanceProfileInfo_v3()
    seen = nvmlGpuInstanceProfileInfo_v2_t(_ptr=asked.getPtr())  # what the prototype says, of any version
    _face.call(nvmlDeviceGetGpuInstanceProfileInfoV, device, profile, seen)
    return asked


def device_get_gpu_instance_profile_info_by_id_v(device: int, profile_id: int) -> GpuInstanceProfileInfo_v3:
    """Return a profile of GPU instances, by its number."""
    from ._types.nvml.names import GpuInstanceProfileInfo_v3
    from ._types.nvml.structs import nvmlGpuInstanceProfileInfo_v2_t

    asked = GpuInstanceProfileInfo_v3()
    seen = nvmlGpuInstanceProfileInfo_v2_t(_ptr=asked.getPtr())
    _face.call(nvmlDeviceGetGpuInstanceProfileInfoByIdV, device, profile_id, seen)
    return asked


def device_get_vgpu_heterogeneous_mode(device: int) -> int:
    """Return whether vGPUs of several sizes may run on `device`."""
    return int(_face.call(nvmlDeviceGetVgpuHeterogeneousMode, device).mode)


def device_set_vgpu_heterogeneous_mode(device: int, mode: int) -> None:
    """Set whether vGPUs of several sizes may run on `device`."""
    from ._types.nvml.structs import nvmlVgpuHeterogeneousMode_v1_t

    _face.call(nvmlDeviceSetVgpuHeterogeneousMode, device, nvmlVgpuHeterogeneousMode_v1_t(mode=mode))


def gpu_instance_get_vgpu_heterogeneous_mode(gpu_instance: int) -> int:
    """Return whether vGPUs of several sizes may run on a GPU instance."""
    return int(_face.call(nvmlGpuInstanceGetVgpuHeterogeneousMode, gpu_instance).mode)


def gpu_instance_set_vgpu_heterogeneous_mode(gpu_instance: int, mode: int) -> None:
    """Set whether vGPUs of several sizes may run on a GPU instance."""
    from ._types.nvml.structs import nvmlVgpuHeterogeneousMode_v1_t

    mode_ = nvmlVgpuHeterogeneousMode_v1_t(mode=mode)
    _face.call(nvmlGpuInstanceSetVgpuHeterogeneousMode, gpu_instance, mode_)


def device_get_vgpu_type_supported_placements(
    device: int, vgpu_type_id: int, mode: int
) -> VgpuPlacementList_v2:
    """Return where vGPUs of a type may be placed."""
    from ._types.nvml.names import VgpuPlacementList_v2

    asked, function = VgpuPlacementList_v2(mode=mode), nvmlDeviceGetVgpuTypeSupportedPlacements
    _placements(asked, function, device, vgpu_type_id)
    return asked


def device_get_vgpu_type_creatable_placements(
    device: int, vgpu_type_id: int, mode: int
) -> VgpuPlacementList_v2:
    """Return where a vGPU of a type can be placed now."""
    from ._types.nvml.names import VgpuPlacementList_v2

    asked, function = VgpuPlacementList_v2(mode=mode), nvmlDeviceGetVgpuTypeCreatablePlacements
    _placements(asked, function, device, vgpu_type_id)
    return asked


def _placements(asked: Any, function: Any, *arguments: Any) -> None:
    _all(asked, "count", "placement_ids", int, function, *arguments)


def gpu_instance_get_vgpu_type_creatable_placements(
    gpu_instance: int, vgpu_type_id: int
) -> VgpuCreatablePlacementInfo_v1:
    """Return where a vGPU of a type can be placed now."""
    from ._types.nvml.names import VgpuCreatablePlacementInfo_v1

    asked = VgpuCreatablePlacementInfo_v1(vgpu_type_id=vgpu_type_id)
    _placements(asked, nvmlGpuInstanceGetVgpuTypeCreatablePlacements, gpu_instance)
    return asked


def gpu_instance_get_creatable_vgpus(gpu_instance: int) -> VgpuTypeIdInfo_v1:
    """Return the types of vGPU that can be made on a GPU instance now."""
    from ._types.nvml.names import VgpuTypeIdInfo_v1

    asked, function = VgpuTypeIdInfo_v1(), nvmlGpuInstanceGetCreatableVgpus
    _all(asked, "vgpu_count", "vgpu_type_ids", int, function, gpu_instance)
    return asked


def gpu_instance_get_active_vgpus(gpu_instance: int) -> ActiveVgpuInstanceInfo_v1:
    """Return the vGPUs that run on a GPU instance."""
    from ._types.nvml.names import ActiveVgpuInstanceInfo_v1

    asked, function = ActiveVgpuInstanceInfo_v1(), nvmlGpuInstanceGetActiveVgpus
    _all(asked, "vgpu_count", "vgpu_instances", int, function, gpu_instance)
    return asked


def vgpu_type_get_max_instances_per_gpu_instance(vgpu_type_id: int) -> int:
    """Return how many vGPUs of a type a GPU instance can have."""
    from ._types.nvml.structs import nvmlVgpuTypeMaxInstance_v1_t

    asked = nvmlVgpuTypeMaxInstance_v1_t(vgpuTypeId=vgpu_type_id)
    return int(_asked(asked, nvmlVgpuTypeGetMaxInstancesPerGpuInstance).maxInstancePerGI)


def vgpu_instance_get_placement_id(vgpu_instance: int) -> int:
    """Return where in the memory `vgpu_instance` is."""
    return int(_face.call(nvmlVgpuInstanceGetPlacementId, vgpu_instance).placementId)


def vgpu_instance_get_runtime_state_size(vgpu_instance: int) -> int:
    """Return the size of the state of `vgpu_instance`, in bytes."""
    return int(_face.call(nvmlVgpuInstanceGetRuntimeStateSize, vgpu_instance).size)


def device_get_vgpu_instances_utilization_info(
    device: int, last_seen_time_stamp: int = 0
) -> VgpuInstancesUtilizationInfo_v1:
    """Return how busy each vGPU kept the parts of the GPU, in samples newer than that, in microseconds."""
    from ._types.nvml.names import VgpuInstancesUtilizationInfo_v1, VgpuInstanceUtilizationInfo_v1

    asked = VgpuInstancesUtilizationInfo_v1(last_seen_time_stamp=last_seen_time_stamp)
    item, function = VgpuInstanceUtilizationInfo_v1, nvmlDeviceGetVgpuInstancesUtilizationInfo
    _all(asked, "vgpu_instance_count", "vgpu_util_array", item, function, device)
    return asked


def device_get_vgpu_processes_utilization_info(
    device: int, last_seen_time_stamp: int
) -> VgpuProcessesUtilizationInfo_v1:
    """Return how busy each process of a vGPU kept the parts of the GPU, newer than that, in microseconds."""
    from ._types.nvml.names import VgpuProcessesUtilizationInfo_v1, VgpuProcessUtilizationInfo_v1

    asked = VgpuProcessesUtilizationInfo_v1(last_seen_time_stamp=last_seen_time_stamp)
    item, function = VgpuProcessUtilizationInfo_v1, nvmlDeviceGetVgpuProcessesUtilizationInfo
    _all(asked, "vgpu_process_count", "vgpu_proc_util_array", item, function, device)
    return asked


def device_get_vgpu_scheduler_log_v2(
    device: int, engine_id: VgpuSchedulerEngineType | int = 1
) -> VgpuSchedulerLogInfo_v2:
    """Return the log of the scheduler of an engine of `device`."""
    from ._types.nvml.names import VgpuSchedulerLogInfo_v2

    asked = VgpuSchedulerLogInfo_v2(engine_id=engine_id)
    _asked(asked, nvmlDeviceGetVgpuSchedulerLog_v2, device)
    return asked


def device_get_vgpu_scheduler_state_v2(
    device: int, engine_id: VgpuSchedulerEngineType | int = 1
) -> VgpuSchedulerStateInfo_v2:
    """Return how vGPUs take turns on an engine of `device`."""
    from ._types.nvml.names import VgpuSchedulerStateInfo_v2

    asked = VgpuSchedulerStateInfo_v2(engine_id=engine_id)
    _asked(asked, nvmlDeviceGetVgpuSchedulerState_v2, device)
    return asked


def gpu_instance_get_vgpu_scheduler_log(
    gpu_instance: int, engine_id: VgpuSchedulerEngineType | int = 1
) -> VgpuSchedulerLogInfo_v1:
    """Return the log of the scheduler of an engine of a GPU instance."""
    from ._types.nvml.names import VgpuSchedulerLogInfo_v1

    asked = VgpuSchedulerLogInfo_v1(engine_id=engine_id)
    _asked(asked, nvmlGpuInstanceGetVgpuSchedulerLog, gpu_instance)
    return asked


def gpu_instance_get_vgpu_scheduler_log_v2(
    gpu_instance: int, engine_id: VgpuSchedulerEngineType | int = 1
) -> VgpuSchedulerLogInfo_v2:
    """Return the log of the scheduler of an engine of a GPU instance."""
    from ._types.nvml.names import VgpuSchedulerLogInfo_v2

    asked = VgpuSchedulerLogInfo_v2(engine_id=engine_id)
    _asked(asked, nvmlGpuInstanceGetVgpuSchedulerLog_v2, gpu_instance)
    return asked


def gpu_instance_get_vgpu_scheduler_state(
    gpu_instance: int, engine_id: VgpuSchedulerEngineType | int = 1
) -> VgpuSchedulerStateInfo_v1:
    """Return how vGPUs take turns on an engine of a GPU instance."""
    from ._types.nvml.names import VgpuSchedulerStateInfo_v1

    asked = VgpuSchedulerStateInfo_v1(engine_id=engine_id)
    _asked(asked, nvmlGpuInstanceGetVgpuSchedulerState, gpu_instance)
    return asked


def gpu_instance_get_vgpu_scheduler_state_v2(
    gpu_instance: int, engine_id: VgpuSchedulerEngineType | int = 1
) -> VgpuSchedulerStateInfo_v2:
    """Return how vGPUs take turns on an engine of a GPU instance."""
    from ._types.nvml.names import VgpuSchedulerStateInfo_v2

    asked = VgpuSchedulerStateInfo_v2(engine_id=engine_id)
    _asked(asked, nvmlGpuInstanceGetVgpuSchedulerState_v2, gpu_instance)
    return asked


def device_set_vgpu_scheduler_state(device: int, p_scheduler_state: Any) -> None:
    """Set how vGPUs take turns: an nvmlVgpuSchedulerSetState_t or its address."""
    from ._types.nvml.structs import nvmlVgpuSchedulerSetState_t

    state = _at(nvmlVgpuSchedulerSetState_t, p_scheduler_state)
    _face.call(nvmlDeviceSetVgpuSchedulerState, device, state)


def vgpu_instance_get_metadata(vgpu_instance: int) -> VgpuMetadata:
    """Return what decides on the migration of `vgpu_instance`."""
    from ._types.nvml.names import VgpuMetadata
    from ._types.nvml.structs import nvmlVgpuMetadata_t

    memory = bytearray(_METADATA)
    _face.call(nvmlVgpuInstanceGetMetadata, vgpu_instance, nvmlVgpuMetadata_t.from_buffer(memory), _METADATA)
    return VgpuMetadata.from_buffer(memory)


def device_get_vgpu_metadata(device: int) -> VgpuPgpuMetadata:
    """Return what decides on migration to `device`."""
    from ._types.nvml.names import VgpuPgpuMetadata
    from ._types.nvml.structs import nvmlVgpuPgpuMetadata_t

    memory = bytearray(_METADATA)
    _face.call(nvmlDeviceGetVgpuMetadata, device, nvmlVgpuPgpuMetadata_t.from_buffer(memory), _METADATA)
    return VgpuPgpuMetadata.from_buffer(memory)


_METADATA = 1 << 16
"""Room for metadata, which ends with bytes of the driver's own: it fails, and says so, if they take more."""


def get_vgpu_compatibility(
    vgpu_metadata: VgpuMetadata, pgpu_metadata: VgpuPgpuMetadata
) -> VgpuPgpuCompatibility:
    """Return whether a vGPU can move to a GPU, and what stands against it."""
    given = _face.original(vgpu_metadata), _face.original(pgpu_metadata)
    compatibility: VgpuPgpuCompatibility = _face.call(nvmlGetVgpuCompatibility, *given)
    return compatibility
