"""The handles and integer typedefs of nvml.h."""

from ..._ffi.handles import Pointer, UInt


class nvmlDevice_t(Pointer):
    """A GPU, or a MIG device of one."""


class nvmlGpuInstance_t(Pointer):
    """A GPU instance of a device in MIG mode."""


class nvmlUnit_t(Pointer):
    """An S-class unit: a chassis with several GPUs."""


class nvmlEventSet_t(Pointer):
    """Events of devices to wait for."""


class nvmlSystemEventSet_t(Pointer):
    """Events of the whole system to wait for."""


class nvmlComputeInstance_t(Pointer):
    """A compute instance of a GPU instance."""


class nvmlGpmSample_t(Pointer):
    """A sample of the performance counters (GPM)."""


class nvmlDeviceArchitecture_t(UInt):
    """An architecture: a NVML_DEVICE_ARCH_* number."""


class nvmlBusType_t(UInt):
    """What a device is attached to: a NVML_BUS_TYPE_* number."""


class nvmlFanControlPolicy_t(UInt):
    """Who controls a fan: a NVML_FAN_POLICY_* number."""


class nvmlPowerSource_t(UInt):
    """Where the power comes from: a NVML_POWER_SOURCE_* number."""


class nvmlVgpuTypeId_t(UInt):
    """A type of vGPU, by number."""


class nvmlVgpuInstance_t(UInt):
    """A vGPU that is running, by number."""


class nvmlAffinityScope_t(UInt):
    """What affinity is asked for: a NVML_AFFINITY_SCOPE_* number."""
