"""The structs of nvml.h, as CUDA 13.5 lays them out.

A constructor fills `version` in where NVML asks for it. A field that an older release lacks lies at the end of
what that release knows, and is zero.
"""

from __future__ import annotations

from ..._ffi.scalars import (
    c_double,
    c_int,
    c_longlong,
    c_uchar,
    c_uint,
    c_ulong,
    c_ulonglong,
    c_ushort,
    char_p,
    void_p,
)
from ..._ffi.structs import Struct, Union
from .enums import *
from .handles import *

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Annotated

    from ..._ffi.scalars import Bytes


class nvmlPciInfoExt_v1_t(Struct, version=1):
    """Where a device is on the PCI bus, with its class."""

    version: c_uint
    domain: c_uint
    bus: c_uint
    device: c_uint
    pciDeviceId: c_uint
    pciSubSystemId: c_uint
    baseClass: c_uint
    subClass: c_uint
    busId: Annotated[Bytes, "char[32]", "text"]


nvmlPciInfoExt_t = nvmlPciInfoExt_v1_t


class nvmlPciInfo_t(Struct):
    """Where a device is on the PCI bus."""

    busIdLegacy: Annotated[Bytes, "char[16]", "text"]
    domain: c_uint
    bus: c_uint
    device: c_uint
    pciDeviceId: c_uint
    pciSubSystemId: c_uint
    busId: Annotated[Bytes, "char[32]", "text"]


nvmlPciInfo_st = nvmlPciInfo_t


class nvmlEccErrorCounts_t(Struct):
    """ECC errors by place."""

    l1Cache: c_ulonglong
    l2Cache: c_ulonglong
    deviceMemory: c_ulonglong
    registerFile: c_ulonglong


nvmlEccErrorCounts_st = nvmlEccErrorCounts_t


class nvmlUtilization_t(Struct):
    """How busy a device and its memory were, in percent."""

    gpu: c_uint
    memory: c_uint


nvmlUtilization_st = nvmlUtilization_t


class nvmlMemory_t(Struct):
    """The memory of a device, in bytes; what is used includes what is reserved."""

    total: c_ulonglong
    free: c_ulonglong
    used: c_ulonglong


nvmlMemory_st = nvmlMemory_t


class nvmlMemory_v2_t(Struct, version=2):
    """The memory of a device, in bytes."""

    version: c_uint
    total: c_ulonglong
    reserved: c_ulonglong
    free: c_ulonglong
    used: c_ulonglong


nvmlMemory_v2_st = nvmlMemory_v2_t


class nvmlSetMemoryLimits_v1_t(Struct):
    """The limits of the memory of a name space to be set, in bytes."""

    nameSpace: char_p
    softLimit: c_ulonglong
    hardLimit: c_ulonglong


class nvmlGetMemoryLimits_v1_t(Struct):
    """The limits of the memory of a name space, and how much of it is used, in bytes."""

    nameSpace: char_p
    softLimit: c_ulonglong
    hardLimit: c_ulonglong
    currentUsed: c_ulonglong


class nvmlBAR1Memory_t(Struct):
    """BAR1, which maps the memory of a device for its PCI peers, in bytes."""

    bar1Total: c_ulonglong
    bar1Free: c_ulonglong
    bar1Used: c_ulonglong


nvmlBAR1Memory_st = nvmlBAR1Memory_t


class nvmlProcessInfo_v1_t(Struct):
    """A process that uses a device, as the first drivers had it."""

    pid: c_uint
    usedGpuMemory: c_ulonglong


nvmlProcessInfo_v1_st = nvmlProcessInfo_v1_t


class nvmlProcessInfo_t(Struct):
    """A process that uses a device, and how many bytes of its memory."""

    pid: c_uint
    usedGpuMemory: c_ulonglong
    gpuInstanceId: c_uint
    computeInstanceId: c_uint


nvmlProcessInfo_v2_st = nvmlProcessInfo_t
nvmlProcessInfo_v2_t = nvmlProcessInfo_t


class nvmlProcessDetail_v1_t(Struct):
    """A process that uses a device, with its protected memory."""

    pid: c_uint
    usedGpuMemory: c_ulonglong
    gpuInstanceId: c_uint
    computeInstanceId: c_uint
    usedGpuCcProtectedMemory: c_ulonglong


class nvmlProcessDetailList_v1_t(Struct, version=1):
    """The processes of a mode that use a device."""

    version: c_uint
    mode: c_uint
    numProcArrayEntries: c_uint
    procArray: Annotated[list[nvmlProcessDetail_v1_t], "nvmlProcessDetail_v1_t *", "numProcArrayEntries"]


nvmlProcessDetailList_t = nvmlProcessDetailList_v1_t


class nvmlDeviceAttributes_t(Struct):
    """How many multiprocessors, engines and how much memory a MIG device has."""

    multiprocessorCount: c_uint
    sharedCopyEngineCount: c_uint
    sharedDecoderCount: c_uint
    sharedEncoderCount: c_uint
    sharedJpegCount: c_uint
    sharedOfaCount: c_uint
    gpuInstanceSliceCount: c_uint
    computeInstanceSliceCount: c_uint
    memorySizeMB: c_ulonglong


nvmlDeviceAttributes_st = nvmlDeviceAttributes_t


class nvmlC2cModeInfo_v1_t(Struct):
    """Whether the chip-to-chip link is on."""

    isC2cEnabled: c_uint


class nvmlDeviceAddressingMode_v1_t(Struct, version=1):
    """How a device addresses the memory of the host."""

    version: c_uint
    value: c_uint


nvmlDeviceAddressingMode_t = nvmlDeviceAddressingMode_v1_t


class nvmlRepairStatus_v1_t(Struct, version=1):
    """Whether repairs of the memory wait for a reset."""

    version: c_uint
    bChannelRepairPending: c_uint
    bTpcRepairPending: c_uint


nvmlRepairStatus_t = nvmlRepairStatus_v1_t


class nvmlUnrepairableMemoryStatus_v1_t(Struct):
    """Whether the memory has faults that cannot be repaired."""

    bUnrepairableMemory: c_uint


class nvmlRowRemapperHistogramValues_t(Struct):
    """How many banks have how many rows left for remapping."""

    max: c_uint
    high: c_uint
    partial: c_uint
    low: c_uint
    none: c_uint


nvmlRowRemapperHistogramValues_st = nvmlRowRemapperHistogramValues_t


class nvmlNvLinkUtilizationControl_t(Struct):
    """What a counter of NVLink traffic counts."""

    units: nvmlNvLinkUtilizationCountUnits_t
    pktfilter: nvmlNvLinkUtilizationCountPktTypes_t


nvmlNvLinkUtilizationControl_st = nvmlNvLinkUtilizationControl_t


class nvmlBridgeChipInfo_t(Struct):
    """A bridge chip and its firmware."""

    type: nvmlBridgeChipType_t
    fwVersion: c_uint


nvmlBridgeChipInfo_st = nvmlBridgeChipInfo_t


class nvmlBridgeChipHierarchy_t(Struct):
    """The bridge chips on a board."""

    bridgeCount: c_uchar
    bridgeChipInfo: Annotated[list[nvmlBridgeChipInfo_t], "nvmlBridgeChipInfo_t[128]"]


nvmlBridgeChipHierarchy_st = nvmlBridgeChipHierarchy_t


class nvmlValue_t(Union):
    """A number, of the type that a ValueType beside it says."""

    dVal: c_double
    siVal: c_int
    uiVal: c_uint
    ulVal: c_ulong
    ullVal: c_ulonglong
    sllVal: c_longlong
    usVal: c_ushort


nvmlValue_st = nvmlValue_t


class nvmlSample_t(Struct):
    """A value and when it was read, in microseconds."""

    timeStamp: c_ulonglong
    sampleValue: nvmlValue_t


nvmlSample_st = nvmlSample_t


class nvmlViolationTime_t(Struct):
    """How long clocks were held back, and since when, in nanoseconds."""

    referenceTime: c_ulonglong
    violationTime: c_ulonglong


nvmlViolationTime_st = nvmlViolationTime_t


class nvmlGpuThermalSettings_t(Struct):
    """The thermal sensors of a device, in degrees C."""

    class _sensor(Struct):
        controller: nvmlThermalController_t
        defaultMinTemp: c_int
        defaultMaxTemp: c_int
        currentTemp: c_int
        target: nvmlThermalTarget_t

    count: c_uint
    sensor: Annotated[list[_sensor], "_sensor[3]"]


class nvmlCoolerInfo_v1_t(Struct, version=1):
    """A cooler: how it is controlled, and what it cools."""

    version: c_uint
    index: c_uint
    signalType: nvmlCoolerControl_t
    target: nvmlCoolerTarget_t


nvmlCoolerInfo_t = nvmlCoolerInfo_v1_t


class nvmlUUIDValue_t(Union):
    """A UUID, as text or as 16 bytes."""

    str: Annotated[Bytes, "char[41]", "text"]
    bytes: Annotated[Bytes, "unsigned char[16]"]


class nvmlUUID_v1_t(Struct, version=1):
    """A UUID of a device, in the form that `type` says."""

    version: c_uint
    type: c_uint
    value: nvmlUUIDValue_t


nvmlUUID_t = nvmlUUID_v1_t


class nvmlPdi_v1_t(Struct, version=1):
    """The number of a device that no other has."""

    version: c_uint
    value: c_ulonglong


nvmlPdi_t = nvmlPdi_v1_t


class nvmlPmgrPwrTuple_t(Struct):
    """Power, in milliwatts."""

    pwrmW: c_uint


class nvmlRailMetrics_t(Struct):
    """The frequency of a power rail in kHz, and how busy it is."""

    freqkHz: c_uint
    utilPct: c_ulonglong


class nvmlCoreRailMetrics_t(Struct):
    """The power rails of the cores."""

    rails: Annotated[list[nvmlRailMetrics_t], "nvmlRailMetrics_t[2]"]


class nvmlPwrModelMetricsDlppm1xPerf_t(Struct):
    """Performance as the DLPPM model has it."""

    perfms: c_uint


class nvmlPwrModelMetricsDlppm1x_t(Struct):
    """What the DLPPM power model says of one setting."""

    bValid: c_uchar
    coreRail: nvmlCoreRailMetrics_t
    fbRail: nvmlRailMetrics_t
    tgpPwrTuple: nvmlPmgrPwrTuple_t
    perfMetrics: nvmlPwrModelMetricsDlppm1xPerf_t


class nvmlPwrModelMetricsDlppm1xDramclkEstimates_t(Struct):
    """What the DLPPM power model estimates for one memory clock."""

    estimatedMetrics: Annotated[list[nvmlPwrModelMetricsDlppm1x_t], "nvmlPwrModelMetricsDlppm1x_t[8]"]
    numEstimatedMetrics: c_uchar


class nvmlObservedMetrics_t(Struct):
    """What was observed, beside the first estimates."""

    initialDramclkEst: Annotated[
        list[nvmlPwrModelMetricsDlppm1xDramclkEstimates_t], "nvmlPwrModelMetricsDlppm1xDramclkEstimates_t[3]"
    ]
    bValid: c_uchar
    coreRail: nvmlCoreRailMetrics_t
    fbRail: nvmlRailMetrics_t
    tgpPwrTuple: nvmlPmgrPwrTuple_t
    perfMetrics: nvmlPwrModelMetricsDlppm1xPerf_t


class nvmlPerfMetricsDlppc2xSample_t(Struct):
    """A sample of the DLPPC power controller."""

    observedMetrics: nvmlObservedMetrics_t


class nvmlPwrModelMetricsSamplePfpp1x_t(Struct):
    """What the PFPP power model estimates for one point."""

    freqkHz: Annotated[list[int], "unsigned int[16]"]
    estTgpPwrmW: c_uint


class nvmlPwrModelOperatingPointPfpp1x_t(Struct):
    """A frequency and its power in the PFPP power model."""

    freqkHz: c_uint
    pwrmW: c_uint


class nvmlPwrModelMetricsPfpp1x_t(Struct):
    """What the PFPP power model estimates."""

    numVfPoints: c_uchar
    estimatedMetrics: Annotated[
        list[nvmlPwrModelMetricsSamplePfpp1x_t], "nvmlPwrModelMetricsSamplePfpp1x_t[32]"
    ]
    bValid: c_uchar
    maxPerfPerWattPoint: nvmlPwrModelOperatingPointPfpp1x_t
    fmaxAtVmaxPoint: nvmlPwrModelOperatingPointPfpp1x_t
    tgpHeadroommW: c_uint


class nvmlPerfMetricsPfpp1xSample_t(Struct):
    """A sample of the PFPP power model."""

    estimatedMetrics: nvmlPwrModelMetricsPfpp1x_t


class nvmlPerfMetricControllerSample_t(Struct):
    """A sample of one power controller."""

    class _data(Union):
        dlppc2x: nvmlPerfMetricsDlppc2xSample_t
        pfpp1x: nvmlPerfMetricsPfpp1xSample_t

    controllerType: c_uint
    data: _data


class nvmlPerfMetricsSample_t(Struct):
    """What all power controllers said at one time."""

    numControllerData: c_uchar
    controllerData: Annotated[list[nvmlPerfMetricControllerSample_t], "nvmlPerfMetricControllerSample_t[4]"]


class nvmlPerfMetricsSamples_v1_t(Struct):
    """The last samples of the power controllers."""

    numSamples: c_uint
    samples: Annotated[list[nvmlPerfMetricsSample_t], "nvmlPerfMetricsSample_t[13]"]


class nvmlBBXTimeData_v1_t(Struct):
    """How long a GPU has run, in seconds."""

    timeRun: c_uint


class nvmlGpuUptime_v1_t(Struct):
    """The time since a GPU started, in seconds."""

    uptime: c_uint


class nvmlDramEncryptionInfo_v1_t(Struct, version=1):
    """Whether the memory is encrypted."""

    version: c_uint
    encryptionState: nvmlEnableState_t


nvmlDramEncryptionInfo_t = nvmlDramEncryptionInfo_v1_t


class nvmlMarginTemperature_v1_t(Struct, version=1):
    """How far a GPU is below its slowdown temperature, in degrees C."""

    version: c_uint
    marginTemperature: c_int


nvmlMarginTemperature_t = nvmlMarginTemperature_v1_t


class nvmlClkMonFaultInfo_t(Struct):
    """The faults of one clock."""

    clkApiDomain: c_uint
    clkDomainFaultMask: c_uint


nvmlClkMonFaultInfo_struct = nvmlClkMonFaultInfo_t


class nvmlClkMonStatus_t(Struct):
    """The faults that the clock monitor found."""

    bGlobalStatus: c_uint
    clkMonListSize: c_uint
    clkMonList: Annotated[list[nvmlClkMonFaultInfo_t], "nvmlClkMonFaultInfo_t[32]"]


nvmlClkMonStatus_status = nvmlClkMonStatus_t


class nvmlClockOffset_v1_t(Struct, version=1):
    """The offset of a clock in a performance state, and its limits, in MHz."""

    version: c_uint
    type: nvmlClockType_t
    pstate: nvmlPstates_t
    clockOffsetMHz: c_int
    minClockOffsetMHz: c_int
    maxClockOffsetMHz: c_int


nvmlClockOffset_t = nvmlClockOffset_v1_t


class nvmlFanSpeedInfo_v1_t(Struct, version=1):
    """The speed of a fan, in revolutions a minute."""

    version: c_uint
    fan: c_uint
    speed: c_uint


nvmlFanSpeedInfo_t = nvmlFanSpeedInfo_v1_t


class nvmlDevicePerfModes_v1_t(Struct, version=1):
    """Performance modes, as text."""

    version: c_uint
    str: Annotated[Bytes, "char[2048]", "text"]


nvmlDevicePerfModes_t = nvmlDevicePerfModes_v1_t


class nvmlDeviceCurrentClockFreqs_v1_t(Struct, version=1):
    """Clocks, as text."""

    version: c_uint
    str: Annotated[Bytes, "char[2048]", "text"]


nvmlDeviceCurrentClockFreqs_t = nvmlDeviceCurrentClockFreqs_v1_t


class nvmlDevicePowerMizerModes_v1_t(Struct):
    """The PowerMizer mode, and those that there are."""

    currentMode: c_uint
    mode: c_uint
    supportedPowerMizerModes: c_uint


class nvmlProcessUtilizationSample_t(Struct):
    """How busy a process kept the parts of a device, in percent."""

    pid: c_uint
    timeStamp: c_ulonglong
    smUtil: c_uint
    memUtil: c_uint
    encUtil: c_uint
    decUtil: c_uint


nvmlProcessUtilizationSample_st = nvmlProcessUtilizationSample_t


class nvmlProcessUtilizationInfo_v1_t(Struct):
    """How busy a process kept the parts of a device, in percent."""

    timeStamp: c_ulonglong
    pid: c_uint
    smUtil: c_uint
    memUtil: c_uint
    encUtil: c_uint
    decUtil: c_uint
    jpgUtil: c_uint
    ofaUtil: c_uint


class nvmlProcessesUtilizationInfo_v1_t(Struct, version=1):
    """How busy each process kept a device since a time, in microseconds."""

    version: c_uint
    processSamplesCount: c_uint
    lastSeenTimeStamp: c_ulonglong
    procUtilArray: Annotated[
        list[nvmlProcessUtilizationInfo_v1_t], "nvmlProcessUtilizationInfo_v1_t *", "processSamplesCount"
    ]


nvmlProcessesUtilizationInfo_t = nvmlProcessesUtilizationInfo_v1_t


class nvmlEccSramErrorStatus_v1_t(Struct, version=1):
    """ECC errors in SRAM, by kind and place."""

    version: c_uint
    aggregateUncParity: c_ulonglong
    aggregateUncSecDed: c_ulonglong
    aggregateCor: c_ulonglong
    volatileUncParity: c_ulonglong
    volatileUncSecDed: c_ulonglong
    volatileCor: c_ulonglong
    aggregateUncBucketL2: c_ulonglong
    aggregateUncBucketSm: c_ulonglong
    aggregateUncBucketPcie: c_ulonglong
    aggregateUncBucketMcu: c_ulonglong
    aggregateUncBucketOther: c_ulonglong
    bThresholdExceeded: c_uint


nvmlEccSramErrorStatus_t = nvmlEccSramErrorStatus_v1_t


class nvmlPlatformInfo_v1_t(Struct, version=1):
    """Where in its rack a device is, as the first drivers had it."""

    version: c_uint
    ibGuid: Annotated[Bytes, "unsigned char[16]"]
    rackGuid: Annotated[Bytes, "unsigned char[16]"]
    chassisPhysicalSlotNumber: c_uchar
    computeSlotIndex: c_uchar
    nodeIndex: c_uchar
    peerType: c_uchar
    moduleId: c_uchar


class nvmlPlatformInfo_v2_t(Struct, version=2):
    """Where in its rack a device is."""

    version: c_uint
    ibGuid: Annotated[Bytes, "unsigned char[16]"]
    chassisSerialNumber: Annotated[Bytes, "unsigned char[16]"]
    slotNumber: c_uchar
    trayIndex: c_uchar
    hostId: c_uchar
    peerType: c_uchar
    moduleId: c_uchar


nvmlPlatformInfo_t = nvmlPlatformInfo_v2_t


class nvmlHostname_v1_t(Struct):
    """The host name that was set for a device."""

    value: Annotated[Bytes, "char[64]", "text"]


class nvmlEccSramUniqueUncorrectedErrorEntry_v1_t(Struct):
    """A place in SRAM with uncorrected ECC errors."""

    unit: c_uint
    location: c_uint
    sublocation: c_uint
    extlocation: c_uint
    address: c_uint
    isParity: c_uint
    count: c_uint


class nvmlEccSramUniqueUncorrectedErrorCounts_v1_t(Struct, version=1):
    """The places in SRAM with uncorrected ECC errors."""

    version: c_uint
    entryCount: c_uint
    entries: Annotated[
        list[nvmlEccSramUniqueUncorrectedErrorEntry_v1_t],
        "nvmlEccSramUniqueUncorrectedErrorEntry_v1_t *",
        "entryCount",
    ]


nvmlEccSramUniqueUncorrectedErrorCounts_t = nvmlEccSramUniqueUncorrectedErrorCounts_v1_t


class nvmlRemappedRowsInfo_v2_t(Struct):
    """The rows that were remapped, whether more wait, and whether one failed."""

    corrActiveRemaps: c_uint
    corrInactiveRemaps: c_uint
    uncActiveRemaps: c_uint
    uncInactiveRemaps: c_uint
    bPending: c_uint
    bFailureOccurred: c_uint


class nvmlRusdSettings_v1_t(Struct, version=1):
    """What of the data that the driver shares with user mode is refreshed."""

    version: c_uint
    pollMask: c_ulonglong


class nvmlGpuDynamicPstatesInfo_t(Struct):
    """How busy the parts of a device were over the last second, in percent."""

    class _utilization(Struct):
        bIsPresent: c_uint
        percentage: c_uint
        incThreshold: c_uint
        decThreshold: c_uint

    flags: c_uint
    utilization: Annotated[list[_utilization], "_utilization[8]"]


nvmlGpuDynamicPstatesInfo_st = nvmlGpuDynamicPstatesInfo_t


class nvmlPowerValue_v2_t(Struct, version=2):
    """A power limit of a scope, in milliwatts."""

    version: c_uint
    powerScope: c_uchar
    powerValueMw: c_uint


class nvmlAdaptiveTgpModeInfo_v1_t(Struct):
    """How the adaptive power limit is set, and whether it is in force."""

    inBandEnableRequest: nvmlEnableState_t
    featureAllowedByAdmin: nvmlEnableState_t
    adminOverrideEnabled: nvmlEnableState_t
    enablementStatus: nvmlEnableState_t
    adjustedLimitMw: c_uint


class nvmlVgpuHeterogeneousMode_v1_t(Struct, version=1):
    """Whether vGPUs of several sizes may run."""

    version: c_uint
    mode: c_uint


nvmlVgpuHeterogeneousMode_t = nvmlVgpuHeterogeneousMode_v1_t


class nvmlVgpuPlacementId_v1_t(Struct, version=1):
    """Where in the memory a vGPU is."""

    version: c_uint
    placementId: c_uint


nvmlVgpuPlacementId_t = nvmlVgpuPlacementId_v1_t


class nvmlVgpuPlacementList_v1_t(Struct, version=1):
    """Where vGPUs can be placed, as the first drivers had it."""

    version: c_uint
    placementSize: c_uint
    count: c_uint
    placementIds: Annotated[list[int], "unsigned int *", "count"]


class nvmlVgpuPlacementList_v2_t(Struct, version=2):
    """Where vGPUs can be placed."""

    version: c_uint
    placementSize: c_uint
    count: c_uint
    placementIds: Annotated[list[int], "unsigned int *", "count"]
    mode: c_uint


nvmlVgpuPlacementList_t = nvmlVgpuPlacementList_v2_t


class nvmlVgpuTypeBar1Info_v1_t(Struct, version=1):
    """The size of BAR1 of a type of vGPU."""

    version: c_uint
    bar1Size: c_ulonglong


nvmlVgpuTypeBar1Info_t = nvmlVgpuTypeBar1Info_v1_t


class nvmlVgpuInstanceUtilizationSample_t(Struct):
    """How busy a vGPU kept the parts of a device."""

    vgpuInstance: c_uint
    timeStamp: c_ulonglong
    smUtil: nvmlValue_t
    memUtil: nvmlValue_t
    encUtil: nvmlValue_t
    decUtil: nvmlValue_t


nvmlVgpuInstanceUtilizationSample_st = nvmlVgpuInstanceUtilizationSample_t


class nvmlVgpuInstanceUtilizationInfo_v1_t(Struct):
    """How busy a vGPU kept the parts of a device."""

    timeStamp: c_ulonglong
    vgpuInstance: c_uint
    smUtil: nvmlValue_t
    memUtil: nvmlValue_t
    encUtil: nvmlValue_t
    decUtil: nvmlValue_t
    jpgUtil: nvmlValue_t
    ofaUtil: nvmlValue_t


class nvmlVgpuInstancesUtilizationInfo_v1_t(Struct, version=1):
    """How busy each vGPU kept a device since a time, in microseconds."""

    version: c_uint
    sampleValType: nvmlValueType_t
    vgpuInstanceCount: c_uint
    lastSeenTimeStamp: c_ulonglong
    vgpuUtilArray: Annotated[
        list[nvmlVgpuInstanceUtilizationInfo_v1_t],
        "nvmlVgpuInstanceUtilizationInfo_v1_t *",
        "vgpuInstanceCount",
    ]


nvmlVgpuInstancesUtilizationInfo_t = nvmlVgpuInstancesUtilizationInfo_v1_t


class nvmlVgpuProcessUtilizationSample_t(Struct):
    """How busy a process of a vGPU kept the parts of a device, in percent."""

    vgpuInstance: c_uint
    pid: c_uint
    processName: Annotated[Bytes, "char[64]", "text"]
    timeStamp: c_ulonglong
    smUtil: c_uint
    memUtil: c_uint
    encUtil: c_uint
    decUtil: c_uint


nvmlVgpuProcessUtilizationSample_st = nvmlVgpuProcessUtilizationSample_t


class nvmlVgpuProcessUtilizationInfo_v1_t(Struct):
    """How busy a process of a vGPU kept the parts of a device, in percent."""

    processName: Annotated[Bytes, "char[64]", "text"]
    timeStamp: c_ulonglong
    vgpuInstance: c_uint
    pid: c_uint
    smUtil: c_uint
    memUtil: c_uint
    encUtil: c_uint
    decUtil: c_uint
    jpgUtil: c_uint
    ofaUtil: c_uint


class nvmlVgpuProcessesUtilizationInfo_v1_t(Struct, version=1):
    """How busy each process of a vGPU kept a device since a time, in microseconds."""

    version: c_uint
    vgpuProcessCount: c_uint
    lastSeenTimeStamp: c_ulonglong
    vgpuProcUtilArray: Annotated[
        list[nvmlVgpuProcessUtilizationInfo_v1_t], "nvmlVgpuProcessUtilizationInfo_v1_t *", "vgpuProcessCount"
    ]


nvmlVgpuProcessesUtilizationInfo_t = nvmlVgpuProcessesUtilizationInfo_v1_t


class nvmlVgpuRuntimeState_v1_t(Struct, version=1):
    """The size of the state of a vGPU, in bytes."""

    version: c_uint
    size: c_ulonglong


nvmlVgpuRuntimeState_t = nvmlVgpuRuntimeState_v1_t


class nvmlVgpuSchedulerParams_t(Union):
    """The parameters of the scheduler of vGPUs."""

    class _vgpuSchedDataWithARR(Struct):
        avgFactor: c_uint
        timeslice: c_uint

    class _vgpuSchedData(Struct):
        timeslice: c_uint

    vgpuSchedDataWithARR: _vgpuSchedDataWithARR
    vgpuSchedData: _vgpuSchedData


class nvmlVgpuSchedulerLogEntry_t(Struct):
    """A turn of a vGPU."""

    timestamp: c_ulonglong
    timeRunTotal: c_ulonglong
    timeRun: c_ulonglong
    swRunlistId: c_uint
    targetTimeSlice: c_ulonglong
    cumulativePreemptionTime: c_ulonglong


nvmlVgpuSchedulerLogEntries_st = nvmlVgpuSchedulerLogEntry_t


class nvmlVgpuSchedulerLog_t(Struct):
    """The log of the scheduler of vGPUs."""

    engineId: c_uint
    schedulerPolicy: c_uint
    arrMode: c_uint
    schedulerParams: nvmlVgpuSchedulerParams_t
    entriesCount: c_uint
    logEntries: Annotated[list[nvmlVgpuSchedulerLogEntry_t], "nvmlVgpuSchedulerLogEntry_t[200]"]


nvmlVgpuSchedulerLog_st = nvmlVgpuSchedulerLog_t


class nvmlVgpuSchedulerGetState_t(Struct):
    """How vGPUs take turns."""

    schedulerPolicy: c_uint
    arrMode: c_uint
    schedulerParams: nvmlVgpuSchedulerParams_t


nvmlVgpuSchedulerGetState_st = nvmlVgpuSchedulerGetState_t


class nvmlVgpuSchedulerSetParams_t(Union):
    """The parameters of the scheduler of vGPUs to be set."""

    class _vgpuSchedDataWithARR(Struct):
        avgFactor: c_uint
        frequency: c_uint

    class _vgpuSchedData(Struct):
        timeslice: c_uint

    vgpuSchedDataWithARR: _vgpuSchedDataWithARR
    vgpuSchedData: _vgpuSchedData


class nvmlVgpuSchedulerSetState_t(Struct):
    """How vGPUs are to take turns."""

    schedulerPolicy: c_uint
    enableARRMode: c_uint
    schedulerParams: nvmlVgpuSchedulerSetParams_t


nvmlVgpuSchedulerSetState_st = nvmlVgpuSchedulerSetState_t


class nvmlVgpuSchedulerCapabilities_t(Struct):
    """How vGPUs can take turns."""

    supportedSchedulers: Annotated[list[int], "unsigned int[3]"]
    maxTimeslice: c_uint
    minTimeslice: c_uint
    isArrModeSupported: c_uint
    maxFrequencyForARR: c_uint
    minFrequencyForARR: c_uint
    maxAvgFactorForARR: c_uint
    minAvgFactorForARR: c_uint


nvmlVgpuSchedulerCapabilities_st = nvmlVgpuSchedulerCapabilities_t


class nvmlVgpuLicenseExpiry_t(Struct):
    """When the license of a vGPU ends."""

    year: c_uint
    month: c_ushort
    day: c_ushort
    hour: c_ushort
    min: c_ushort
    sec: c_ushort
    status: c_uchar


nvmlVgpuLicenseExpiry_st = nvmlVgpuLicenseExpiry_t


class nvmlVgpuLicenseInfo_t(Struct):
    """The license of a vGPU."""

    isLicensed: c_uchar
    licenseExpiry: nvmlVgpuLicenseExpiry_t
    currentState: c_uint


nvmlVgpuLicenseInfo_st = nvmlVgpuLicenseInfo_t


class nvmlGridLicenseExpiry_t(Struct):
    """When a license ends."""

    year: c_uint
    month: c_ushort
    day: c_ushort
    hour: c_ushort
    min: c_ushort
    sec: c_ushort
    status: c_uchar


nvmlGridLicenseExpiry_st = nvmlGridLicenseExpiry_t


class nvmlGridLicensableFeature_t(Struct):
    """A feature that needs a license, and its state."""

    featureCode: nvmlGridLicenseFeatureCode_t
    featureState: c_uint
    licenseInfo: Annotated[Bytes, "char[128]", "text"]
    productName: Annotated[Bytes, "char[128]", "text"]
    featureEnabled: c_uint
    licenseExpiry: nvmlGridLicenseExpiry_t


nvmlGridLicensableFeature_st = nvmlGridLicensableFeature_t


class nvmlGridLicensableFeatures_t(Struct):
    """The features that need a license, and their state."""

    isGridLicenseSupported: c_int
    licensableFeaturesCount: c_uint
    gridLicensableFeatures: Annotated[list[nvmlGridLicensableFeature_t], "nvmlGridLicensableFeature_t[3]"]


nvmlGridLicensableFeatures_st = nvmlGridLicensableFeatures_t


class nvmlVgpuTypeIdInfo_v1_t(Struct, version=1):
    """Types of vGPU."""

    version: c_uint
    vgpuCount: c_uint
    vgpuTypeIds: Annotated[list[int], "unsigned int *", "vgpuCount"]


nvmlVgpuTypeIdInfo_t = nvmlVgpuTypeIdInfo_v1_t


class nvmlVgpuTypeMaxInstance_v1_t(Struct, version=1):
    """How many vGPUs of a type a GPU instance can have."""

    version: c_uint
    vgpuTypeId: c_uint
    maxInstancePerGI: c_uint


nvmlVgpuTypeMaxInstance_t = nvmlVgpuTypeMaxInstance_v1_t


class nvmlActiveVgpuInstanceInfo_v1_t(Struct, version=1):
    """vGPUs that run."""

    version: c_uint
    vgpuCount: c_uint
    vgpuInstances: Annotated[list[int], "unsigned int *", "vgpuCount"]


nvmlActiveVgpuInstanceInfo_t = nvmlActiveVgpuInstanceInfo_v1_t


class nvmlVgpuSchedulerState_v1_t(Struct, version=1):
    """How vGPUs are to take turns on an engine."""

    version: c_uint
    engineId: c_uint
    schedulerPolicy: c_uint
    enableARRMode: c_uint
    schedulerParams: nvmlVgpuSchedulerSetParams_t


nvmlVgpuSchedulerState_t = nvmlVgpuSchedulerState_v1_t


class nvmlVgpuSchedulerStateInfo_v1_t(Struct, version=1):
    """How vGPUs take turns on an engine."""

    version: c_uint
    engineId: c_uint
    schedulerPolicy: c_uint
    arrMode: c_uint
    schedulerParams: nvmlVgpuSchedulerParams_t


nvmlVgpuSchedulerStateInfo_t = nvmlVgpuSchedulerStateInfo_v1_t


class nvmlVgpuSchedulerLogInfo_v1_t(Struct, version=1):
    """The log of the scheduler of vGPUs of an engine."""

    version: c_uint
    engineId: c_uint
    schedulerPolicy: c_uint
    arrMode: c_uint
    schedulerParams: nvmlVgpuSchedulerParams_t
    entriesCount: c_uint
    logEntries: Annotated[list[nvmlVgpuSchedulerLogEntry_t], "nvmlVgpuSchedulerLogEntry_t[200]"]


nvmlVgpuSchedulerLogInfo_t = nvmlVgpuSchedulerLogInfo_v1_t


class nvmlVgpuCreatablePlacementInfo_v1_t(Struct, version=1):
    """Where a vGPU of a type can be placed now."""

    version: c_uint
    vgpuTypeId: c_uint
    count: c_uint
    placementIds: Annotated[list[int], "unsigned int *", "count"]
    placementSize: c_uint


nvmlVgpuCreatablePlacementInfo_t = nvmlVgpuCreatablePlacementInfo_v1_t


class nvmlVgpuSchedulerStateInfo_v2_t(Struct):
    """How vGPUs take turns on an engine."""

    engineId: c_uint
    schedulerPolicy: c_uint
    avgFactor: c_uint
    timeslice: c_uint


class nvmlVgpuSchedulerLogEntry_v2_t(Struct):
    """A turn of a vGPU."""

    timestamp: c_ulonglong
    timeRunTotal: c_ulonglong
    timeRun: c_ulonglong
    swRunlistId: c_uint
    targetTimeSlice: c_ulonglong
    cumulativePreemptionTime: c_ulonglong
    weight: c_uint


class nvmlVgpuSchedulerLogInfo_v2_t(Struct):
    """The log of the scheduler of vGPUs of an engine."""

    engineId: c_uint
    schedulerPolicy: c_uint
    avgFactor: c_uint
    timeslice: c_uint
    entriesCount: c_uint
    logEntries: Annotated[list[nvmlVgpuSchedulerLogEntry_v2_t], "nvmlVgpuSchedulerLogEntry_v2_t[200]"]


class nvmlVgpuSchedulerState_v2_t(Struct):
    """How vGPUs are to take turns on an engine."""

    engineId: c_uint
    schedulerPolicy: c_uint
    avgFactor: c_uint
    frequency: c_uint


class nvmlNvLinkPowerThres_t(Struct):
    """How long a link is idle before it goes to low power."""

    lowPwrThreshold: c_uint


nvmlNvLinkPowerThres_st = nvmlNvLinkPowerThres_t


class nvmlFieldValue_t(Struct):
    """A field of a device: which one, when it was read, its value, and a status of its own."""

    fieldId: c_uint
    scopeId: c_uint
    timestamp: c_longlong
    latencyUsec: c_longlong
    valueType: nvmlValueType_t
    nvmlReturn: nvmlReturn_t
    value: nvmlValue_t


nvmlFieldValue_st = nvmlFieldValue_t


class nvmlHwbcEntry_t(Struct):
    """A host interface card and its firmware."""

    hwbcId: c_uint
    firmwareVersion: Annotated[Bytes, "char[32]", "text"]


nvmlHwbcEntry_st = nvmlHwbcEntry_t


class nvmlLedState_t(Struct):
    """The colour of a light, and why it has it."""

    cause: Annotated[Bytes, "char[256]", "text"]
    color: nvmlLedColor_t


nvmlLedState_st = nvmlLedState_t


class nvmlUnitInfo_t(Struct):
    """The name, serial number and firmware of a unit."""

    name: Annotated[Bytes, "char[96]", "text"]
    id: Annotated[Bytes, "char[96]", "text"]
    serial: Annotated[Bytes, "char[96]", "text"]
    firmwareVersion: Annotated[Bytes, "char[96]", "text"]


nvmlUnitInfo_st = nvmlUnitInfo_t


class nvmlPSUInfo_t(Struct):
    """The state of a power supply: amperes, volts, watts."""

    state: Annotated[Bytes, "char[256]", "text"]
    current: c_uint
    voltage: c_uint
    power: c_uint


nvmlPSUInfo_st = nvmlPSUInfo_t


class nvmlUnitFanInfo_t(Struct):
    """The speed of a fan, in revolutions a minute, and whether it works."""

    speed: c_uint
    state: nvmlFanState_t


nvmlUnitFanInfo_st = nvmlUnitFanInfo_t


class nvmlUnitFanSpeeds_t(Struct):
    """The fans of a unit."""

    fans: Annotated[list[nvmlUnitFanInfo_t], "nvmlUnitFanInfo_t[24]"]
    count: c_uint


nvmlUnitFanSpeeds_st = nvmlUnitFanSpeeds_t


class nvmlEventData_t(Struct):
    """An event of a device."""

    device: nvmlDevice_t
    eventType: c_ulonglong
    eventData: c_ulonglong
    gpuInstanceId: c_uint
    computeInstanceId: c_uint


nvmlEventData_st = nvmlEventData_t


class nvmlEventSetGetContextCount_v1_t(Struct):
    """How many contexts an event has."""

    count: c_uint


class nvmlEventSetGetContextInfo_v1_t(Struct):
    """What a context of an event is."""

    index: c_uint
    nvmlGpuOperationalEventContextType: c_uint
    sourceEventContextType: c_uint
    dataSize: c_uint
    dataFormatVersion: c_ushort


class nvmlEventSetGetContextData_v1_t(Struct):
    """A context of an event, and memory for its bytes."""

    data: void_p
    index: c_uint
    dataSize: c_uint


class nvmlEventSetGetGpuOperationalEventContextLegacyXid_v1_t(Struct):
    """The Xid in a context of an event."""

    index: c_uint
    xidCode: c_uint


class nvmlSystemEventSetCreateRequest_v1_t(Struct, version=1):
    """A set of events of the system that was made."""

    version: c_uint
    set: nvmlSystemEventSet_t


nvmlSystemEventSetCreateRequest_t = nvmlSystemEventSetCreateRequest_v1_t


class nvmlSystemEventSetFreeRequest_v1_t(Struct, version=1):
    """A set of events of the system to be destroyed."""

    version: c_uint
    set: nvmlSystemEventSet_t


nvmlSystemEventSetFreeRequest_t = nvmlSystemEventSetFreeRequest_v1_t


class nvmlSystemRegisterEventRequest_v1_t(Struct, version=1):
    """Events of the system to be recorded in a set."""

    version: c_uint
    eventTypes: c_ulonglong
    set: nvmlSystemEventSet_t


nvmlSystemRegisterEventRequest_t = nvmlSystemRegisterEventRequest_v1_t


class nvmlSystemEventData_v1_t(Struct):
    """An event of the system."""

    eventType: c_ulonglong
    gpuId: c_uint


class nvmlSystemEventSetWaitRequest_v1_t(Struct, version=1):
    """A set of events of the system to wait for, and room for the events."""

    version: c_uint
    timeoutms: c_uint
    set: nvmlSystemEventSet_t
    data: Annotated[list[nvmlSystemEventData_v1_t], "nvmlSystemEventData_v1_t *", "dataSize"]
    dataSize: c_uint
    numEvent: c_uint


nvmlSystemEventSetWaitRequest_t = nvmlSystemEventSetWaitRequest_v1_t


class nvmlAccountingStats_t(Struct):
    """The statistics of a process: utilization in percent, memory in bytes, times in milliseconds."""

    gpuUtilization: c_uint
    memoryUtilization: c_uint
    maxMemoryUsage: c_ulonglong
    time: c_ulonglong
    startTime: c_ulonglong
    isRunning: c_uint
    reserved: Annotated[list[int], "unsigned int[5]"]


nvmlAccountingStats_st = nvmlAccountingStats_t


class nvmlAccountingStats_v2_t(Struct):
    """The statistics of a process, with sums over its samples."""

    pid: c_uint
    isRunning: c_uint
    gpuUtilization: c_uint
    memoryUtilization: c_uint
    maxMemoryUsage: c_ulonglong
    sampleCount: c_uint
    sumGpuUtil: c_ulonglong
    sumFbUtil: c_ulonglong
    time: c_ulonglong
    startTime: c_ulonglong


class nvmlEncoderSessionInfo_t(Struct):
    """A session of the encoder."""

    sessionId: c_uint
    pid: c_uint
    vgpuInstance: c_uint
    codecType: nvmlEncoderType_t
    hResolution: c_uint
    vResolution: c_uint
    averageFps: c_uint
    averageLatency: c_uint


nvmlEncoderSessionInfo_st = nvmlEncoderSessionInfo_t


class nvmlFBCStats_t(Struct):
    """The sessions that capture the frame buffer, their average frames a second and latency."""

    sessionsCount: c_uint
    averageFPS: c_uint
    averageLatency: c_uint


nvmlFBCStats_st = nvmlFBCStats_t


class nvmlFBCSessionInfo_t(Struct):
    """A session that captures the frame buffer."""

    sessionId: c_uint
    pid: c_uint
    vgpuInstance: c_uint
    displayOrdinal: c_uint
    sessionType: nvmlFBCSessionType_t
    sessionFlags: c_uint
    hMaxResolution: c_uint
    vMaxResolution: c_uint
    hResolution: c_uint
    vResolution: c_uint
    averageFPS: c_uint
    averageLatency: c_uint


nvmlFBCSessionInfo_st = nvmlFBCSessionInfo_t


class nvmlConfComputeSystemCaps_t(Struct):
    """What CPU and GPUs can do for confidential computing."""

    cpuCaps: c_uint
    gpusCaps: c_uint


nvmlConfComputeSystemCaps_st = nvmlConfComputeSystemCaps_t


class nvmlConfComputeSystemState_t(Struct):
    """Whether confidential computing is on, and how."""

    environment: c_uint
    ccFeature: c_uint
    devToolsMode: c_uint


nvmlConfComputeSystemState_st = nvmlConfComputeSystemState_t


class nvmlSystemConfComputeSettings_v1_t(Struct, version=1):
    """How confidential computing is set."""

    version: c_uint
    environment: c_uint
    ccFeature: c_uint
    devToolsMode: c_uint
    multiGpuMode: c_uint


nvmlSystemConfComputeSettings_t = nvmlSystemConfComputeSettings_v1_t


class nvmlSystemConfComputeSettings_v2_t(Struct, version=2):
    """How confidential computing is set, with the state of TDISP."""

    version: c_uint
    environment: c_uint
    ccFeature: c_uint
    devToolsMode: c_uint
    multiGpuMode: c_uint
    tdispState: c_uint


class nvmlConfComputeMemSizeInfo_t(Struct):
    """How much memory is protected and how much is not, in KiB."""

    protectedMemSizeKib: c_ulonglong
    unprotectedMemSizeKib: c_ulonglong


nvmlConfComputeMemSizeInfo_st = nvmlConfComputeMemSizeInfo_t


class nvmlConfComputeGpuCertificate_t(Struct):
    """The certificates of a device."""

    certChainSize: c_uint
    attestationCertChainSize: c_uint
    certChain: Annotated[Bytes, "unsigned char[4096]"]
    attestationCertChain: Annotated[Bytes, "unsigned char[5120]"]


nvmlConfComputeGpuCertificate_st = nvmlConfComputeGpuCertificate_t


class nvmlConfComputeGpuAttestationReport_t(Struct):
    """A report that attests a device, for a nonce."""

    isCecAttestationReportPresent: c_uint
    attestationReportSize: c_uint
    cecAttestationReportSize: c_uint
    nonce: Annotated[Bytes, "unsigned char[32]"]
    attestationReport: Annotated[Bytes, "unsigned char[8192]"]
    cecAttestationReport: Annotated[Bytes, "unsigned char[4096]"]


nvmlConfComputeGpuAttestationReport_st = nvmlConfComputeGpuAttestationReport_t


class nvmlConfComputeSetKeyRotationThresholdInfo_v1_t(Struct, version=1):
    """How much an attacker may gain before keys are rotated, to be set."""

    version: c_uint
    maxAttackerAdvantage: c_ulonglong


nvmlConfComputeSetKeyRotationThresholdInfo_st = nvmlConfComputeSetKeyRotationThresholdInfo_v1_t
nvmlConfComputeSetKeyRotationThresholdInfo_t = nvmlConfComputeSetKeyRotationThresholdInfo_v1_t


class nvmlConfComputeGetKeyRotationThresholdInfo_v1_t(Struct, version=1):
    """How much an attacker may gain before keys are rotated."""

    version: c_uint
    attackerAdvantage: c_ulonglong


nvmlConfComputeGetKeyRotationThresholdInfo_st = nvmlConfComputeGetKeyRotationThresholdInfo_v1_t
nvmlConfComputeGetKeyRotationThresholdInfo_t = nvmlConfComputeGetKeyRotationThresholdInfo_v1_t


class nvmlGpuFabricInfo_t(Struct):
    """What a device is in its NVLink fabric, as the first drivers had it."""

    clusterUuid: Annotated[Bytes, "unsigned char[16]"]
    status: nvmlReturn_t
    cliqueId: c_uint
    state: c_uchar


class nvmlGpuFabricInfo_v2_t(Struct, version=2):
    """What a device is in its NVLink fabric, and its health as bits."""

    version: c_uint
    clusterUuid: Annotated[Bytes, "unsigned char[16]"]
    status: nvmlReturn_t
    cliqueId: c_uint
    state: c_uchar
    healthMask: c_uint


class nvmlGpuFabricInfo_v3_t(Struct, version=3):
    """What a device is in its NVLink fabric, its health as bits and in one word."""

    version: c_uint
    clusterUuid: Annotated[Bytes, "unsigned char[16]"]
    status: nvmlReturn_t
    cliqueId: c_uint
    state: c_uchar
    healthMask: c_uint
    healthSummary: c_uchar


nvmlGpuFabricInfoV_t = nvmlGpuFabricInfo_v3_t


class nvmlGpuFabricClique_v1_t(Struct):
    """A clique of devices of an NVLink fabric."""

    type: c_uchar
    id: c_uint


class nvmlGpuFabricInfo_v4_t(Struct):
    """What a device is in its NVLink fabric, with its cliques."""

    clusterUuid: Annotated[Bytes, "unsigned char[16]"]
    status: nvmlReturn_t
    cliques: Annotated[list[nvmlGpuFabricClique_v1_t], "nvmlGpuFabricClique_v1_t[64]"]
    numCliques: c_uint
    state: c_uchar
    healthMask: c_uint
    healthSummary: c_uchar


class nvmlGpuOperationalEventConfig_v1_t(Struct):
    """Which operational events to record, of which device."""

    uuid: Annotated[Bytes, "char[96]", "text"]
    minLogLevel: c_uint
    minSeverity: c_uint


nvmlGpuOperationalEventConfig_v1_st = nvmlGpuOperationalEventConfig_v1_t


class nvmlEventSetWait_v3_t(Struct):
    """An operational event, and how long to wait for it."""

    timeoutMs: c_uint
    dataType: c_uint
    uuid: Annotated[Bytes, "char[96]", "text"]
    sourceModule: Annotated[Bytes, "char[16]", "text"]
    eventType: c_ulonglong
    eventData: c_ulonglong
    groupCursor: c_ulonglong
    instanceId: c_ulonglong
    timestampUsec: c_ulonglong
    traceId: c_ulonglong
    gpuInstanceId: c_uint
    computeInstanceId: c_uint
    severity: c_uint
    categoryId: c_uint
    moduleEventCode: c_uint
    scope: c_uint
    originator: c_uint
    moduleInstance: c_uint
    chipletId: c_uint
    logLevel: c_uint
    attributes: c_uint
    groupCperSize: c_uint
    groupAttributes: c_uint
    groupSize: c_uchar
    groupIndex: c_uchar


class nvmlCPERCursor_v1_t(Struct):
    """Where in the error records to go on."""

    cperTypeMask: c_uint
    uuid: Annotated[Bytes, "char[80]", "text"]
    handle: c_ulonglong


class nvmlGetCPER_v1_t(Struct):
    """Memory for error records, and where in them to go on."""

    cursor: nvmlCPERCursor_v1_t
    buffer: void_p
    bufferSize: c_uint


class nvmlSystemDriverBranchInfo_v1_t(Struct, version=1):
    """The branch of the driver."""

    version: c_uint
    branch: Annotated[Bytes, "char[80]", "text"]


nvmlSystemDriverBranchInfo_t = nvmlSystemDriverBranchInfo_v1_t


class nvmlTemperature_v1_t(Struct, version=1):
    """The temperature of a sensor, in degrees C."""

    version: c_uint
    sensorType: nvmlTemperatureSensors_t
    temperature: c_int


nvmlTemperature_t = nvmlTemperature_v1_t


class nvmlNvlinkSupportedBwModes_v1_t(Struct, version=1):
    """The bandwidth modes of NVLink that there are."""

    version: c_uint
    bwModes: Annotated[Bytes, "unsigned char[23]"]
    totalBwModes: c_uchar


nvmlNvlinkSupportedBwModes_t = nvmlNvlinkSupportedBwModes_v1_t


class nvmlNvlinkGetBwMode_v1_t(Struct, version=1):
    """The bandwidth mode of NVLink."""

    version: c_uint
    bIsBest: c_uint
    bwMode: c_uchar


nvmlNvlinkGetBwMode_t = nvmlNvlinkGetBwMode_v1_t


class nvmlNvlinkSetBwMode_v1_t(Struct, version=1):
    """The bandwidth mode of NVLink to be set."""

    version: c_uint
    bSetBest: c_uint
    bwMode: c_uchar


nvmlNvlinkSetBwMode_t = nvmlNvlinkSetBwMode_v1_t


class nvmlNvlinkSetBwModeAsync_v1_t(Struct):
    """The bandwidth mode of NVLink to be set, and how long to wait for it."""

    bSetBest: c_uint
    bwMode: c_uint
    asyncPollTimeoutMs: c_uint


class nvmlNvLinkInfo_v1_t(Struct, version=1):
    """Whether NVLink is encrypted."""

    version: c_uint
    isNvleEnabled: c_uint


class nvmlNvlinkFirmwareVersion_t(Struct):
    """The version of the firmware of a part of NVLink."""

    ucodeType: c_uchar
    major: c_uint
    minor: c_uint
    subMinor: c_uint


class nvmlNvlinkFirmwareInfo_t(Struct):
    """The firmware of the parts of NVLink."""

    firmwareVersion: Annotated[list[nvmlNvlinkFirmwareVersion_t], "nvmlNvlinkFirmwareVersion_t[100]"]
    numValidEntries: c_uint


class nvmlNvLinkInfo_v2_t(Struct, version=2):
    """Whether NVLink is encrypted, and the firmware of its parts."""

    version: c_uint
    isNvleEnabled: c_uint
    firmwareInfo: nvmlNvlinkFirmwareInfo_t


nvmlNvLinkInfo_t = nvmlNvLinkInfo_v2_t


class nvmlNvLinkInfo_v3_t(Struct):
    """Whether NVLink is encrypted, or ready for it, and the firmware of its parts."""

    isNvleEnabled: c_uint
    firmwareInfo: nvmlNvlinkFirmwareInfo_t
    isNvleReady: c_uint


class nvmlNvlinkTelemetrySample_v1_t(Struct):
    """Samples of one link, and the status of reading them."""

    linkId: c_uint
    sampleType: c_uint
    sampleCount: c_uint
    samples: Annotated[list[int], "unsigned long long *", "sampleCount"]
    nvmlReturn: nvmlReturn_t


class nvmlNvlinkTelemetrySamples_v1_t(Struct):
    """Samples of several links."""

    telemetryCount: c_uint
    telemetrySamples: Annotated[
        list[nvmlNvlinkTelemetrySample_v1_t], "nvmlNvlinkTelemetrySample_v1_t *", "telemetryCount"
    ]


class nvmlNvlinkGetRemapTableInfo_v1_t(Struct):
    """The tables that map fabric addresses."""

    alid: c_uint
    flaRemapTabAddr: Annotated[list[int], "unsigned int[4096]"]
    gpaRemapTabAddr: Annotated[list[int], "unsigned int[4096]"]
    remapTabSize: c_uint


class nvmlNvlinkSetNvleReady_v1_t(Struct):
    """Whether the encryption of NVLink is ready."""

    bNvleReady: c_uchar


class nvmlNvlinkLockRemapTable_v1_t(Struct):
    """Whether the tables that map fabric addresses are locked."""

    bRemapTableLocked: c_uchar
    bRemapTableLockDisabled: c_uchar


class nvmlNvlinkNvlePrivateInfo_v1_t(Struct):
    """What the encryption of NVLink needs to know about a device."""

    data: Annotated[Bytes, "unsigned char[256]"]
    size: c_uint


class nvmlNvlinkSetupNvleEncryptionKey_v1_t(Struct):
    """The key for the encryption of NVLink between two GPUs."""

    nvleKey: Annotated[Bytes, "unsigned char[32]"]
    localGpuAlid: c_uint
    remoteGpuAlid: c_uint
    localGpuNvlePrivateInfo: nvmlNvlinkNvlePrivateInfo_v1_t
    remoteGpuNvlePrivateInfo: nvmlNvlinkNvlePrivateInfo_v1_t


class nvmlVgpuVersion_t(Struct):
    """A range of versions of vGPU."""

    minVersion: c_uint
    maxVersion: c_uint


nvmlVgpuVersion_st = nvmlVgpuVersion_t


class nvmlVgpuMetadata_t(Struct):
    """What decides on the migration of a vGPU; bytes of the driver's own follow."""

    version: c_uint
    revision: c_uint
    guestInfoState: nvmlVgpuGuestInfoState_t
    guestDriverVersion: Annotated[Bytes, "char[80]", "text"]
    hostDriverVersion: Annotated[Bytes, "char[80]", "text"]
    reserved: Annotated[list[int], "unsigned int[6]"]
    vgpuVirtualizationCaps: c_uint
    guestVgpuVersion: c_uint
    opaqueDataSize: c_uint
    opaqueData: Annotated[Bytes, "char[4]"]


nvmlVgpuMetadata_st = nvmlVgpuMetadata_t


class nvmlVgpuPgpuMetadata_t(Struct):
    """What decides on migration to a device; bytes of the driver's own follow."""

    version: c_uint
    revision: c_uint
    hostDriverVersion: Annotated[Bytes, "char[80]", "text"]
    pgpuVirtualizationCaps: c_uint
    reserved: Annotated[list[int], "unsigned int[5]"]
    hostSupportedVgpuRange: nvmlVgpuVersion_t
    opaqueDataSize: c_uint
    opaqueData: Annotated[Bytes, "char[4]"]


nvmlVgpuPgpuMetadata_st = nvmlVgpuPgpuMetadata_t


class nvmlVgpuPgpuCompatibility_t(Struct):
    """Whether a vGPU can move to a device, and what stands against it."""

    vgpuVmCompatibility: nvmlVgpuVmCompatibility_t
    compatibilityLimitCode: nvmlVgpuPgpuCompatibilityLimitCode_t


nvmlVgpuPgpuCompatibility_st = nvmlVgpuPgpuCompatibility_t


class nvmlExcludedDeviceInfo_t(Struct):
    """A device that the driver leaves out."""

    pciInfo: nvmlPciInfo_t
    uuid: Annotated[Bytes, "char[80]", "text"]


nvmlExcludedDeviceInfo_st = nvmlExcludedDeviceInfo_t
nvmlBlacklistDeviceInfo_t = nvmlExcludedDeviceInfo_t


class nvmlPRMTLV_v1_t(Struct):
    """A request to a register of the device, and its answer."""

    dataSize: c_uint
    status: c_uint
    inData: Annotated[Bytes, "unsigned char[496]", "union"]
    outData: Annotated[Bytes, "unsigned char[496]", "union"]


class nvmlPRMCounterInput_v1_t(Struct):
    """Which port a counter is of."""

    localPort: c_uint


class nvmlPRMCounterValue_v1_t(Struct):
    """The value of a counter, and the status of reading it."""

    status: nvmlReturn_t
    outputType: nvmlValueType_t
    outputValue: nvmlValue_t


class nvmlPRMCounter_v1_t(Struct):
    """A counter of a register of the device."""

    counterId: c_uint
    inData: nvmlPRMCounterInput_v1_t
    counterValue: nvmlPRMCounterValue_v1_t


class nvmlPRMCounterList_v1_t(Struct):
    """Counters of registers of the device."""

    numCounters: c_uint
    counters: Annotated[list[nvmlPRMCounter_v1_t], "nvmlPRMCounter_v1_t *", "numCounters"]


class nvmlGpuInstancePlacement_t(Struct):
    """Where a GPU instance lies, in slices of memory."""

    start: c_uint
    size: c_uint


nvmlGpuInstancePlacement_st = nvmlGpuInstancePlacement_t


class nvmlGpuInstanceProfileInfo_t(Struct):
    """A profile of GPU instances, as the first drivers had it."""

    id: c_uint
    isP2pSupported: c_uint
    sliceCount: c_uint
    instanceCount: c_uint
    multiprocessorCount: c_uint
    copyEngineCount: c_uint
    decoderCount: c_uint
    encoderCount: c_uint
    jpegCount: c_uint
    ofaCount: c_uint
    memorySizeMB: c_ulonglong


nvmlGpuInstanceProfileInfo_st = nvmlGpuInstanceProfileInfo_t


class nvmlGpuInstanceProfileInfo_v2_t(Struct, version=2):
    """A profile of GPU instances, with its name."""

    version: c_uint
    id: c_uint
    isP2pSupported: c_uint
    sliceCount: c_uint
    instanceCount: c_uint
    multiprocessorCount: c_uint
    copyEngineCount: c_uint
    decoderCount: c_uint
    encoderCount: c_uint
    jpegCount: c_uint
    ofaCount: c_uint
    memorySizeMB: c_ulonglong
    name: Annotated[Bytes, "char[96]", "text"]


nvmlGpuInstanceProfileInfo_v2_st = nvmlGpuInstanceProfileInfo_v2_t


class nvmlGpuInstanceProfileInfo_v3_t(Struct, version=3):
    """A profile of GPU instances, with its name and what it can do."""

    version: c_uint
    id: c_uint
    sliceCount: c_uint
    instanceCount: c_uint
    multiprocessorCount: c_uint
    copyEngineCount: c_uint
    decoderCount: c_uint
    encoderCount: c_uint
    jpegCount: c_uint
    ofaCount: c_uint
    memorySizeMB: c_ulonglong
    name: Annotated[Bytes, "char[96]", "text"]
    capabilities: c_uint


nvmlGpuInstanceProfileInfo_v3_st = nvmlGpuInstanceProfileInfo_v3_t


class nvmlGpuInstanceInfo_t(Struct):
    """A GPU instance: device, number, profile and place."""

    device: nvmlDevice_t
    id: c_uint
    profileId: c_uint
    placement: nvmlGpuInstancePlacement_t


nvmlGpuInstanceInfo_st = nvmlGpuInstanceInfo_t


class nvmlComputeInstancePlacement_t(Struct):
    """Where a compute instance lies, in slices."""

    start: c_uint
    size: c_uint


nvmlComputeInstancePlacement_st = nvmlComputeInstancePlacement_t


class nvmlComputeInstanceProfileInfo_t(Struct):
    """A profile of compute instances, as the first drivers had it."""

    id: c_uint
    sliceCount: c_uint
    instanceCount: c_uint
    multiprocessorCount: c_uint
    sharedCopyEngineCount: c_uint
    sharedDecoderCount: c_uint
    sharedEncoderCount: c_uint
    sharedJpegCount: c_uint
    sharedOfaCount: c_uint


nvmlComputeInstanceProfileInfo_st = nvmlComputeInstanceProfileInfo_t


class nvmlComputeInstanceProfileInfo_v2_t(Struct, version=2):
    """A profile of compute instances, with its name."""

    version: c_uint
    id: c_uint
    sliceCount: c_uint
    instanceCount: c_uint
    multiprocessorCount: c_uint
    sharedCopyEngineCount: c_uint
    sharedDecoderCount: c_uint
    sharedEncoderCount: c_uint
    sharedJpegCount: c_uint
    sharedOfaCount: c_uint
    name: Annotated[Bytes, "char[96]", "text"]


nvmlComputeInstanceProfileInfo_v2_st = nvmlComputeInstanceProfileInfo_v2_t


class nvmlComputeInstanceProfileInfo_v3_t(Struct, version=3):
    """A profile of compute instances, with its name and what it can do."""

    version: c_uint
    id: c_uint
    sliceCount: c_uint
    instanceCount: c_uint
    multiprocessorCount: c_uint
    sharedCopyEngineCount: c_uint
    sharedDecoderCount: c_uint
    sharedEncoderCount: c_uint
    sharedJpegCount: c_uint
    sharedOfaCount: c_uint
    name: Annotated[Bytes, "char[96]", "text"]
    capabilities: c_uint


nvmlComputeInstanceProfileInfo_v3_st = nvmlComputeInstanceProfileInfo_v3_t


class nvmlComputeInstanceInfo_t(Struct):
    """A compute instance: device, GPU instance, number, profile and place."""

    device: nvmlDevice_t
    gpuInstance: nvmlGpuInstance_t
    id: c_uint
    profileId: c_uint
    placement: nvmlComputeInstancePlacement_t


nvmlComputeInstanceInfo_st = nvmlComputeInstanceInfo_t


class nvmlGpmMetric_t(Struct):
    """A metric of the performance counters: its value, unit, names and status."""

    class _metricInfo(Struct):
        shortName: char_p
        longName: char_p
        unit: char_p

    metricId: c_uint
    nvmlReturn: nvmlReturn_t
    value: c_double
    metricInfo: _metricInfo


class nvmlGpmMetricsGet_t(Struct, version=1, sized=False):
    """Two samples, and the metrics that are wanted of what lies between them."""

    version: c_uint
    numMetrics: c_uint
    sample1: nvmlGpmSample_t
    sample2: nvmlGpmSample_t
    metrics: Annotated[list[nvmlGpmMetric_t], "nvmlGpmMetric_t[477]"]


class nvmlGpmSupport_t(Struct, version=1, sized=False):
    """Whether a device has the performance counters (GPM)."""

    version: c_uint
    isSupportedDevice: c_uint


class nvmlDeviceCapabilities_v1_t(Struct, version=1):
    """What a device can do, as bits."""

    version: c_uint
    capMask: c_uint


nvmlDeviceCapabilities_t = nvmlDeviceCapabilities_v1_t


class nvmlMask255_t(Struct):
    """255 bits."""

    mask: Annotated[list[int], "unsigned int[8]"]


class nvmlWorkloadPowerProfileInfo_v1_t(Struct, version=1):
    """A power profile for workloads, and those that it does not go with."""

    version: c_uint
    profileId: c_uint
    priority: c_uint
    conflictingMask: nvmlMask255_t


nvmlWorkloadPowerProfileInfo_t = nvmlWorkloadPowerProfileInfo_v1_t


class nvmlWorkloadPowerProfileProfilesInfo_v1_t(Struct, version=1):
    """The power profiles for workloads that there are."""

    version: c_uint
    perfProfilesMask: nvmlMask255_t
    perfProfile: Annotated[list[nvmlWorkloadPowerProfileInfo_v1_t], "nvmlWorkloadPowerProfileInfo_v1_t[255]"]


nvmlWorkloadPowerProfileProfilesInfo_t = nvmlWorkloadPowerProfileProfilesInfo_v1_t


class nvmlWorkloadPowerProfileCurrentProfiles_v1_t(Struct, version=1):
    """The power profiles that are there, asked for, and in force."""

    version: c_uint
    perfProfilesMask: nvmlMask255_t
    requestedProfilesMask: nvmlMask255_t
    enforcedProfilesMask: nvmlMask255_t


nvmlWorkloadPowerProfileCurrentProfiles_t = nvmlWorkloadPowerProfileCurrentProfiles_v1_t


class nvmlWorkloadPowerProfileRequestedProfiles_v1_t(Struct, version=1):
    """The power profiles that are asked for."""

    version: c_uint
    requestedProfilesMask: nvmlMask255_t


nvmlWorkloadPowerProfileRequestedProfiles_t = nvmlWorkloadPowerProfileRequestedProfiles_v1_t


class nvmlWorkloadPowerProfileUpdateProfiles_v1_t(Struct):
    """A change of the power profiles that are asked for."""

    operation: nvmlPowerProfileOperation_t
    updateProfilesMask: nvmlMask255_t


class nvmlPowerSmoothingProfile_v1_t(Struct, version=1):
    """A parameter of a profile of power smoothing."""

    version: c_uint
    profileId: c_uint
    paramId: c_uint
    value: c_double


nvmlPowerSmoothingProfile_t = nvmlPowerSmoothingProfile_v1_t


class nvmlPowerSmoothingState_v1_t(Struct, version=1):
    """Whether power smoothing is on."""

    version: c_uint
    state: nvmlEnableState_t


nvmlPowerSmoothingState_t = nvmlPowerSmoothingState_v1_t


class nvmlEccBankRemapperHistogram_v1_t(Struct):
    """How many groups of banks have spares left."""

    maxSpareGroupCount: c_uint
    noSpareGroupCount: c_uint


class nvmlEccBankRemapperStatus_v1_t(Struct):
    """The banks that were remapped, and how many are left."""

    activeRemappings: c_uint
    inactiveRemappings: c_uint
    bPending: c_uint
    histogram: nvmlEccBankRemapperHistogram_v1_t
