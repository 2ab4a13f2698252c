"""Where the names that `cuda.bindings` has for the types of nvml.h follow no rule.

The rules are in derived.py. A struct or enum of nvml.h that is not named here has a twin by them.
"""

# ruff: noqa: SIM905  # words are easier to read and to sort than a list of strings

ABSENT = frozenset(
    """
    EccErrorCounts ProcessInfo_v1 UnrepairableMemoryStatus_v1 NvLinkUtilizationControl ViolationTime
    UUIDValue UUID_v1 Pdi_v1 DramEncryptionInfo_v1 MarginTemperature_v1 FanSpeedInfo_v1 DevicePerfModes_v1
    DeviceCurrentClockFreqs_v1 Hostname_v1 RusdSettings_v1 PowerValue_v2 VgpuHeterogeneousMode_v1
    VgpuPlacementId_v1 VgpuPlacementList_v1 VgpuRuntimeState_v1 VgpuSchedulerSetState
    VgpuTypeMaxInstance_v1 NvLinkPowerThres EventSetGetContextData_v1 SystemEventSetCreateRequest_v1
    SystemEventSetFreeRequest_v1 SystemRegisterEventRequest_v1 SystemEventSetWaitRequest_v1
    ConfComputeSetKeyRotationThresholdInfo_v1 ConfComputeGetKeyRotationThresholdInfo_v1 GpuFabricInfo
    SystemDriverBranchInfo_v1 Temperature_v1 PRMTLV_v1 PRMCounterList_v1 GpuInstanceProfileInfo
    GpuInstanceProfileInfo_v2 ComputeInstanceProfileInfo GpmMetric GpmMetricsGet GpmSupport
    DeviceCapabilities_v1 Mask255 WorkloadPowerProfileInfo_v1 WorkloadPowerProfileProfilesInfo_v1
    WorkloadPowerProfileCurrentProfiles_v1 WorkloadPowerProfileRequestedProfiles_v1
    WorkloadPowerProfileUpdateProfiles_v1 PowerSmoothingProfile_v1 PowerSmoothingState_v1
    """.split()
)
"""Structs of nvml.h that have no twin: `nvmlEccErrorCounts_t`, ..."""

ARRAYS = frozenset(
    """
    ProcessInfo ProcessDetail_v1 BridgeChipInfo Sample PmgrPwrTuple RailMetrics CoreRailMetrics
    PwrModelMetricsDlppm1xPerf PwrModelMetricsDlppm1x PwrModelMetricsDlppm1xDramclkEstimates
    ObservedMetrics PerfMetricsDlppc2xSample PwrModelMetricsSamplePfpp1x PwrModelOperatingPointPfpp1x
    PwrModelMetricsPfpp1x PerfMetricsPfpp1xSample PerfMetricControllerSample PerfMetricsSample
    ClkMonFaultInfo ProcessUtilizationSample ProcessUtilizationInfo_v1
    EccSramUniqueUncorrectedErrorEntry_v1 VgpuInstanceUtilizationSample VgpuInstanceUtilizationInfo_v1
    VgpuProcessUtilizationSample VgpuProcessUtilizationInfo_v1 VgpuSchedulerLogEntry GridLicensableFeature
    VgpuSchedulerLogEntry_v2 FieldValue HwbcEntry UnitFanInfo SystemEventData_v1 EncoderSessionInfo
    FBCSessionInfo NvlinkFirmwareVersion NvlinkTelemetrySample_v1 PRMCounter_v1 GpuInstancePlacement
    ComputeInstancePlacement
    """.split()
)
"""Structs of which programs make arrays, too: `FieldValue(4)`."""

FIELDS = {
    "PciInfoExt_v1": {"device": "device_"},
    "PciInfo": {"device": "device_"},
    "RowRemapperHistogramValues": {"max": "max_"},
    "PerfMetricControllerSample": {"data": "data_"},
    "GpuDynamicPstatesInfo": {"flags": "flags_"},
    "VgpuTypeBar1Info_v1": {"bar1Size": "bar1size"},
    "VgpuLicenseExpiry": {"min": "min_"},
    "GridLicenseExpiry": {"min": "min_"},
    "EventData": {"device": "device_"},
    "NvlinkNvlePrivateInfo_v1": {"data": "data_", "size": "size_"},
    "GpuInstancePlacement": {"size": "size_"},
    "GpuInstanceInfo": {"device": "device_"},
    "ComputeInstancePlacement": {"size": "size_"},
    "ComputeInstanceInfo": {"device": "device_"},
}
"""Fields whose name is not that of nvml.h in snake_case."""

TWICE = frozenset(
    """
    BrandType BridgeChipType ClockType ComputeMode CoolerControl DetachGpuState DeviceAddressingModeType
    DeviceGpuRecoveryAction DeviceVgpuCapability DriverModel EnableState EncoderType FanState GpmMetricId
    GpuOperationMode GpuP2PCapsIndex GpuP2PStatus GpuTopologyLevel GpuUtilizationDomainId InforomObject
    IntNvLinkDeviceType NvLinkCapability NvLinkErrorCounter NvLinkUtilizationCountPktTypes
    NvLinkUtilizationCountUnits PcieLinkState PcieUtilCounter PerfPolicyType PowerProfileType
    TemperatureSensors TemperatureThresholds VgpuCapability VgpuDriverCapability VgpuGuestInfoState
    VgpuPgpuCompatibilityLimitCode VgpuVmIdType
    """.split()
)
"""Enums that have each member under two names: `ClockType.SM` is `ClockType.CLOCK_SM`."""

PREFIXES = {
    "CPERType": [("NVML_", "")],
    "CoolerTarget": [("NVML_THERMAL_COOLER_TARGET_", ""), ("NVML_THERMAL_COOLER_TARGET_", "THERMAL_")],
    "EccCounterType": [("NVML_", "")],
    "EventDataType": [("NVML_EVENT_DATA_TYPE_", ""), ("NVML_EVENT_DATA_TYPE_NVML_", "")],
    "NvlinkVersion": [("NVML_", ""), ("NVML_NVLINK_", "")],  # the long name first
    "Pstates": [("NVML_", "")],
}
"""Enums whose members lose another prefix than the one that they share: each prefix, and its replacement."""

GROUPS = {
    "AdaptiveClockingInfoStatus": (
        "NVML_ADAPTIVE_CLOCKING_INFO_STATUS_",
        "Whether clocks adapt to the voltage.",
    ),
    "AffinityScope": ("NVML_AFFINITY_SCOPE_", "How far around a device to look for CPUs and memory."),
    "BusType": ("NVML_BUS_TYPE_", "What a device is attached to."),
    "C2CPowerState": ("NVML_C2C_POWER_STATE_", "The power state of the chip-to-chip link."),
    "CCAcceptingClientRequests": (
        "NVML_CC_ACCEPTING_CLIENT_REQUESTS_",
        "Whether GPUs accept work of clients in confidential computing.",
    ),
    "CCSystemCpuCaps": ("NVML_CC_SYSTEM_CPU_CAPS_", "What a CPU can do for confidential computing."),
    "CCSystemDevtoolsMode": (
        "NVML_CC_SYSTEM_DEVTOOLS_MODE_",
        "Whether developer tools work in confidential computing.",
    ),
    "CCSystemEnvironment": (
        "NVML_CC_SYSTEM_ENVIRONMENT_",
        "Whether confidential computing is there, simulated, or in production.",
    ),
    "CCSystemFeature": ("NVML_CC_SYSTEM_FEATURE_", "Whether confidential computing is on."),
    "CCSystemGpus": ("NVML_CC_SYSTEM_GPUS_", "Whether GPUs are capable of confidential computing."),
    "CCSystemMultiGpu": ("NVML_CC_SYSTEM_MULTIGPU_", "How several GPUs are protected together."),
    "ClocksEventReasons": ("", "Why clocks are what they are, as bits."),
    "ComputeInstanceEngineProfile": (
        "NVML_COMPUTE_INSTANCE_ENGINE_PROFILE_",
        "How the engines of a compute instance are shared.",
    ),
    "ComputeInstanceProfile": ("NVML_COMPUTE_INSTANCE_", "A profile of compute instances."),
    "ComputeInstanceProfileCaps": (
        "NVML_COMPUTE_INSTANCE_PROFILE_CAPS_",
        "What a profile of compute instances can do, as bits.",
    ),
    "DeviceArch": ("NVML_DEVICE_ARCH_", "An architecture of NVIDIA's."),
    "DeviceMig": ("NVML_DEVICE_MIG_", "Whether a device is divided into MIG devices."),
    "EncoderQuery": ("", "A codec of the encoder."),
    "EventType": ("", "What can happen to a device, as bits."),
    "FanControlPolicy": ("", "Who controls a fan."),
    "FieldId": ("NVML_FI_", "A field of a device that can be asked for, as nvml.h of 13.5 numbers them."),
    "GpuFabricHealthMaskAccessTimeout": (
        "NVML_GPU_FABRIC_HEALTH_MASK_ACCESS_TIMEOUT_RECOVERY_",
        "Whether accesses in the NVLink fabric time out.",
    ),
    "GpuFabricHealthMaskDegradedBw": (
        "NVML_GPU_FABRIC_HEALTH_MASK_DEGRADED_BW_",
        "Whether the NVLink fabric has less than its bandwidth.",
    ),
    "GpuFabricHealthMaskIncorrectConfiguration": (
        "NVML_GPU_FABRIC_HEALTH_MASK_INCORRECT_CONFIGURATION_",
        "What is configured wrongly in the NVLink fabric.",
    ),
    "GpuFabricHealthMaskRouteRecovery": (
        "NVML_GPU_FABRIC_HEALTH_MASK_ROUTE_RECOVERY_",
        "Whether a route of the NVLink fabric is being recovered.",
    ),
    "GpuFabricHealthMaskRouteUnhealthy": (
        "NVML_GPU_FABRIC_HEALTH_MASK_ROUTE_UNHEALTHY_",
        "Whether a route of the NVLink fabric is unhealthy.",
    ),
    "GpuFabricHealthSummary": (
        "NVML_GPU_FABRIC_HEALTH_SUMMARY_",
        "The health of the NVLink fabric in one word.",
    ),
    "GpuFabricState": ("NVML_GPU_FABRIC_STATE_", "How far a device has got in joining its NVLink fabric."),
    "GpuInstanceProfile": ("NVML_GPU_INSTANCE_", "A profile of GPU instances."),
    "GpuInstanceProfileCaps": (
        "NVML_GPU_INSTANCE_PROFILE_CAPS_",
        "What a profile of GPU instances can do, as bits.",
    ),
    "GridLicenseExpiryEnum": ("NVML_GRID_LICENSE_EXPIRY_", "Whether a license ends, and how that is known."),
    "GridLicenseState": ("NVML_GRID_LICENSE_STATE_", "The state of a license."),
    "InitFlag": ("NVML_INIT_FLAG_", "How NVML is initialised, as bits."),
    "NvFBCSessionFlag": ("NVML_NVFBC_SESSION_FLAG_", "How a session captures the frame buffer, as bits."),
    "NvlinkFirmwareUcodeType": ("NVML_NVLINK_FIRMWARE_UCODE_TYPE_", "A part of NVLink with firmware."),
    "NvlinkLowPowerThreshold": (
        "NVML_NVLINK_LOW_POWER_THRESHOLD_",
        "How long a link is idle before it goes to low power: its bounds.",
    ),
    "NvlinkLowPowerThresholdUnit": ("NVML_NVLINK_LOW_POWER_THRESHOLD_", "The unit of that time."),
    "NvlinkPowerState": ("", "The power state of a link."),
    "NvlinkState": ("NVML_NVLINK_STATE_", "Whether a link is active."),
    "PcieAtomicsCap": ("NVML_PCIE_ATOMICS_CAP_", "The atomic operations that PCIe can do, as bits."),
    "PcieLinkMaxSpeed": ("NVML_PCIE_LINK_MAX_", "A speed of PCIe."),
    "PowerMizerMode": ("NVML_POWER_MIZER_MODE_", "What PowerMizer prefers."),
    "PowerScope": ("NVML_POWER_SCOPE_", "What a power limit is of: the GPU, the module or the memory."),
    "PowerSmoothingProfileParam": (
        "NVML_POWER_SMOOTHING_PROFILE_PARAM_",
        "A parameter of a profile of power smoothing.",
    ),
    "PowerSource": ("NVML_POWER_SOURCE_", "Where the power comes from."),
    "RUSD": ("NVML_RUSD_", "What of the data that the driver shares with user mode is refreshed, as bits."),
    "SystemEventType": ("", "What can happen to the system, as bits."),
    "VgpuPgpu": ("NVML_VGPU_PGPU_", "Whether vGPUs of several sizes may run on a device."),
    "VgpuPgpuVirtualizationCapMigration": (
        "NVML_VGPU_PGPU_VIRTUALIZATION_CAP_MIGRATION_",
        "Whether vGPUs of a device can move.",
    ),
    "VgpuSchedulerArr": ("NVML_VGPU_SCHEDULER_ARR_", "Whether the scheduler of vGPUs evens turns out (ARR)."),
    "VgpuSchedulerEngineType": ("NVML_VGPU_SCHEDULER_ENGINE_TYPE_", "An engine whose turns vGPUs take."),
    "VgpuSchedulerPolicy": ("NVML_VGPU_SCHEDULER_POLICY_", "By which rule vGPUs take turns."),
    "VgpuVirtualizationCapMigration": ("NVML_VGPU_VIRTUALIZATION_CAP_MIGRATION_", "Whether a vGPU can move."),
}
"""Enums of which nvml.h has the members as macros: the prefix of those, and the docstring."""

LACKING = {
    "CCSystemCpuCaps": ("ARM_CCA", "INTEL_TDX_CONNECT", "AMD_SEV_TIO"),
    "CCSystemFeature": ("BMSAI_ENABLED",),
    "CCSystemGpus": ("CC_BMSAI_CAPABLE",),
    "ComputeInstanceProfile": (
        "ID_ANY",
        "PROFILE_CAPS_GFX",
        "PROFILE_7_SLICE_NVL",
        "ENGINE_PROFILE_SHARED",
        "ENGINE_PROFILE_COUNT",
    ),
    "DeviceArch": ("RUBIN", "T23X"),
    "FieldId": (
        "DEV_NVLINK_COUNT_RAW_ERRORS_LANE0",
        "DEV_NVLINK_COUNT_RAW_ERRORS_LANE1",
        "DEV_NVLINK_COUNT_RAW_BER_LANE0_V2",
        "DEV_NVLINK_COUNT_RAW_BER_LANE1_V2",
        "DEV_NVLINK_COUNT_RAW_BER_V2",
        "DEV_NVLINK_PLR_XMIT_BLOCKS",
        "DEV_NVLINK_PLR_XMIT_RETRY_BLOCKS",
        "DEV_NVLINK_GET_DATA_RATE",
        "DEV_MMA_STALL_PERCENT",
        "DEV_MCLK_SWITCH_TYPE",
        "DEV_MCLK_MIN_SWITCH_INTERVAL_MILLISECONDS",
        "PWR_SMOOTHING_SOC_POWER_SMOOTHING_ENABLED",
        "DEV_REMAPPED_ROWS_COR_INACTIVE",
        "DEV_REMAPPED_ROWS_UNC_INACTIVE",
        "DEV_GPU_TEMP",
        "PWR_SMOOTHING_LIMITED_TIME",
        "MAX",
    ),
    "GpuFabricHealthMaskIncorrectConfiguration": ("GPU_STATE_INVALID",),
    "GpuInstanceProfile": ("ID_ANY", "PROFILE_3_SLICE_GFX", "PROFILE_CAPS_P2P", "PROFILE_CAPS_GFX"),
    "InitFlag": ("FORCE_INIT",),
    "NvlinkLowPowerThreshold": ("UNIT_100US", "UNIT_50US"),
    "NvlinkLowPowerThresholdUnit": ("MIN", "MAX", "RESET", "DEFAULT"),
    "PowerScope": ("GPU_BASE", "COUNT"),
    "VgpuPgpu": ("VIRTUALIZATION_CAP_MIGRATION_NO", "VIRTUALIZATION_CAP_MIGRATION_YES"),
    "VgpuSchedulerEngineType": ("NVENC0",),
    "DeviceVgpuCapability": ("UVM_STUN", "DEVICE_VGPU_CAP_UVM_STUN"),
}
"""Members that enums and groups lack: newer ones, and macros of another group with the same prefix."""

VALUES = {
    "ClocksEventReasons": {
        "EVENT_REASON_GPU_IDLE": 1,
        "EVENT_REASON_APPLICATIONS_CLOCKS_SETTING": 2,
        "EVENT_REASON_SW_POWER_CAP": 4,
        "THROTTLE_REASON_HW_SLOWDOWN": 8,
        "EVENT_REASON_SYNC_BOOST": 16,
        "EVENT_REASON_SW_THERMAL_SLOWDOWN": 32,
        "THROTTLE_REASON_HW_THERMAL_SLOWDOWN": 64,
        "THROTTLE_REASON_HW_POWER_BRAKE_SLOWDOWN": 128,
        "EVENT_REASON_DISPLAY_CLOCK_SETTING": 256,
        "EVENT_REASON_BOARD_LIMIT": 512,
        "EVENT_REASON_RELIABILITY": 1024,
        "EVENT_REASON_NONE": 0,
    },
    "ComputeInstanceProfile": {"PROFILE_COUNT": 8},
    "EncoderQuery": {"H264": 0, "HEVC": 1, "AV1": 2, "UNKNOWN": 255},
    "EventType": {
        "NONE": 0,
        "SINGLE_BIT_ECC_ERROR": 1,
        "DOUBLE_BIT_ECC_ERROR": 2,
        "PSTATE": 4,
        "XID_CRITICAL_ERROR": 8,
        "CLOCK": 16,
        "POWER_SOURCE_CHANGE": 128,
        "MIG_CONFIG_CHANGE": 256,
        "SINGLE_BIT_ECC_ERROR_STORM": 512,
        "DRAM_RETIREMENT_EVENT": 1024,
        "DRAM_RETIREMENT_FAILURE": 2048,
        "NON_FATAL_POISON_ERROR": 4096,
        "FATAL_POISON_ERROR": 8192,
        "GPU_UNAVAILABLE_ERROR": 16384,
        "GPU_RECOVERY_ACTION": 32768,
    },
    "FanControlPolicy": {"TEMPERATURE_CONTINUOUS_SW": 0, "MANUAL": 1},
    "GpuInstanceProfile": {"PROFILE_COUNT": 17},
    "NvlinkPowerState": {"HIGH_SPEED": 0, "LOW_SPEED": 1},
    "PcieAtomicsCap": {"MAX": 7},
    "SystemEventType": {"GPU_DRIVER_UNBIND": 1, "GPU_DRIVER_BIND": 2},
    "DeviceVgpuCapability": {"COUNT": 12, "DEVICE_VGPU_CAP_COUNT": 12},
    "EccCounterType": {"COUNT": 2},
}
"""Members that nvml.h lacks, or has with another value."""
