"""What a device says of itself: the values of its properties, as they were when they were asked for."""

from collections.abc import Iterator, Sequence
from typing import Any

from ... import nvml
from .choices import (
    ClockId,
    ClockType,
    CoolerControl,
    CoolerTarget,
    FanControlPolicy,
    TemperatureThresholds,
    ThermalController,
    ThermalTarget,
    bits,
    chosen,
    known,
    number,
)


class Reading:
    """A struct of NVML; `_struct` has its fields."""

    def __init__(self, struct: Any) -> None:
        self._struct = struct

    def __repr__(self) -> str:
        names = [name for name in dir(type(self)) if isinstance(getattr(type(self), name), property)]
        return f"{type(self).__name__}({', '.join(f'{name}={getattr(self, name)!r}' for name in names)})"


class MemoryInfo(Reading):
    """The memory of a device, in bytes. Source: nvmlDeviceGetMemoryInfo_v2."""

    @property
    def free(self) -> int:
        """What is not in use."""
        return int(self._struct.free)

    @property
    def total(self) -> int:
        """All there is."""
        return int(self._struct.total)

    @property
    def used(self) -> int:
        """What is in use."""
        return int(self._struct.used)

    @property
    def reserved(self) -> int:
        """What the driver and the firmware keep to themselves."""
        return int(self._struct.reserved)


class BAR1MemoryInfo(Reading):
    """BAR1, which maps the memory of a device for its PCI peers, in bytes.

    Source: nvmlDeviceGetBAR1MemoryInfo.
    """

    @property
    def free(self) -> int:
        """What is not mapped."""
        return int(self._struct.bar1_free)

    @property
    def total(self) -> int:
        """All there is."""
        return int(self._struct.bar1_total)

    @property
    def used(self) -> int:
        """What is mapped."""
        return int(self._struct.bar1_used)


class Utilization(Reading):
    """How busy a device was over the last sample period, in percent.

    Source: nvmlDeviceGetUtilizationRates.
    """

    @property
    def gpu(self) -> int:
        """Of the time, with a kernel running."""
        return int(self._struct.gpu)

    @property
    def memory(self) -> int:
        """Of the time, with memory being read or written."""
        return int(self._struct.memory)


class DeviceAttributes(Reading):
    """What a MIG device has of its GPU. Source: nvmlDeviceGetAttributes_v2."""

    @property
    def multiprocessor_count(self) -> int:
        """Multiprocessors."""
        return int(self._struct.multiprocessor_count)

    @property
    def shared_copy_engine_count(self) -> int:
        """Copy engines, shared with other compute instances."""
        return int(self._struct.shared_copy_engine_count)

    @property
    def shared_decoder_count(self) -> int:
        """Decoders, shared."""
        return int(self._struct.shared_decoder_count)

    @property
    def shared_encoder_count(self) -> int:
        """Encoders, shared."""
        return int(self._struct.shared_encoder_count)

    @property
    def shared_jpeg_count(self) -> int:
        """JPEG engines, shared."""
        return int(self._struct.shared_jpeg_count)

    @property
    def shared_ofa_count(self) -> int:
        """Optical flow accelerators, shared."""
        return int(self._struct.shared_ofa_count)

    @property
    def gpu_instance_slice_count(self) -> int:
        """Slices of the GPU instance."""
        return int(self._struct.gpu_instance_slice_count)

    @property
    def compute_instance_slice_count(self) -> int:
        """Slices of the compute instance."""
        return int(self._struct.compute_instance_slice_count)

    @property
    def memory_size_mb(self) -> int:
        """Memory, in MiB."""
        return int(self._struct.memory_size_mb)


class ClockOffsets(Reading):
    """The offset of a clock, and its limits, in MHz. Source: nvmlDeviceGetClockOffsets."""

    @property
    def clock_offset_mhz(self) -> int:
        """The offset now."""
        return int(self._struct.clock_offset_m_hz)

    @property
    def max_offset_mhz(self) -> int:
        """The largest there may be."""
        return int(self._struct.max_clock_offset_m_hz)

    @property
    def min_offset_mhz(self) -> int:
        """The smallest there may be."""
        return int(self._struct.min_clock_offset_m_hz)


class ClockInfo:
    """A clock of a device."""

    def __init__(self, handle: int, clock_type: ClockType | str) -> None:
        self._handle = handle
        self._type = number(ClockType, clock_type)

    def get_current_mhz(self, clock_id: ClockId | str = ClockId.CURRENT) -> int:
        """The clock now, or the value that `clock_id` names. Source: nvmlDeviceGetClock."""
        return nvml.device_get_clock(self._handle, self._type, number(ClockId, clock_id))

    def get_max_mhz(self) -> int:
        """The highest that it can be. Source: nvmlDeviceGetMaxClockInfo."""
        return nvml.device_get_max_clock_info(self._handle, self._type)

    def get_max_customer_boost_mhz(self) -> int:
        """The highest boost that may be set. Source: nvmlDeviceGetMaxCustomerBoostClock."""
        return nvml.device_get_max_customer_boost_clock(self._handle, self._type)

    def get_min_max_clock_of_pstate_mhz(self, pstate: int) -> tuple[int, int]:
        """The bounds in a performance state. Source: nvmlDeviceGetMinMaxClockOfPState."""
        return nvml.device_get_min_max_clock_of_p_state(self._handle, self._type, pstate)

    def get_offsets(self, pstate: int) -> ClockOffsets:
        """The offset in a performance state. Source: nvmlDeviceGetClockOffsets."""
        return ClockOffsets(nvml.device_get_clock_offsets(self._handle, self._type, pstate))


class CoolerInfo(Reading):
    """A cooler. Source: nvmlDeviceGetCoolerInfo."""

    @property
    def signal_type(self) -> CoolerControl | None:
        """How it is controlled; None if it is not, or not known."""
        return chosen(CoolerControl, self._struct.signal_type)

    @property
    def target(self) -> list[CoolerTarget]:
        """What it cools."""
        return bits(CoolerTarget, self._struct.target)


class FanInfo:
    """A fan of a device."""

    def __init__(self, handle: int, fan: int) -> None:
        self._handle = handle
        self._fan = fan

    @property
    def speed(self) -> int:
        """How fast it is meant to turn, in percent of the highest speed. Setting it takes the control away
        from the temperature, until `set_default_speed`.

        Source: nvmlDeviceGetFanSpeed_v2, nvmlDeviceSetFanSpeed_v2.
        """
        return nvml.device_get_fan_speed_v2(self._handle, self._fan)

    @speed.setter
    def speed(self, speed: int) -> None:
        nvml.device_set_fan_speed_v2(self._handle, self._fan, speed)

    @property
    def speed_rpm(self) -> int:
        """How fast it turns, in revolutions a minute. Source: nvmlDeviceGetFanSpeedRPM."""
        return nvml.device_get_fan_speed_rpm(self._handle, self._fan)

    @property
    def target_speed(self) -> int:
        """The speed that it is driven to, in percent. Source: nvmlDeviceGetTargetFanSpeed."""
        return nvml.device_get_target_fan_speed(self._handle, self._fan)

    @property
    def min_max_speed(self) -> tuple[int, int]:
        """The bounds of `speed`. Source: nvmlDeviceGetMinMaxFanSpeed."""
        return nvml.device_get_min_max_fan_speed(self._handle)

    @property
    def control_policy(self) -> FanControlPolicy:
        """Who controls it. Source: nvmlDeviceGetFanControlPolicy_v2."""
        return known(FanControlPolicy, nvml.device_get_fan_control_policy_v2(self._handle, self._fan))

    def set_default_speed(self) -> None:
        """Let the temperature control it again. Source: nvmlDeviceSetDefaultFanSpeed_v2."""
        nvml.device_set_default_fan_speed_v2(self._handle, self._fan)


class FieldValue(Reading):
    """The value of a field of a device. Source: nvmlDeviceGetFieldValues."""

    @property
    def field_id(self) -> nvml.FieldId:
        """Which field."""
        return nvml.FieldId(self._struct.field_id)

    @property
    def scope_id(self) -> int:
        """Of which part, where a field has several, such as a link."""
        return int(self._struct.scope_id)

    @property
    def timestamp(self) -> int:
        """When it was read, in microseconds since 1970."""
        return int(self._struct.timestamp)

    @property
    def latency_usec(self) -> int:
        """How long reading it took, in microseconds."""
        return int(self._struct.latency_usec)

    @property
    def value(self) -> int | float:
        """The value. Raises NvmlError if it could not be read."""
        nvml.check_status(self._struct.nvml_return)
        member = _MEMBERS[self._struct.value_type]
        value: int | float = getattr(self._struct.value, member)
        return value

    def __repr__(self) -> str:
        failed = self._struct.nvml_return
        value = failed.name if failed else self.value
        return f"FieldValue({self.field_id.name}, scope_id={self.scope_id}, value={value!r})"


_MEMBERS = {
    nvml.ValueType.DOUBLE: "d_val",
    nvml.ValueType.UNSIGNED_INT: "ui_val",
    nvml.ValueType.UNSIGNED_LONG: "ul_val",
    nvml.ValueType.UNSIGNED_LONG_LONG: "ull_val",
    nvml.ValueType.SIGNED_LONG_LONG: "sll_val",
    nvml.ValueType.SIGNED_INT: "si_val",
    nvml.ValueType.UNSIGNED_SHORT: "us_val",
}
"""Which member of the union has a value of each type."""


class FieldValues(Sequence[FieldValue]):
    """The values of several fields, in the order in which they were asked for."""

    def __init__(self, field_values: Sequence[Any]) -> None:
        self._values = [FieldValue(value) for value in field_values]

    def __getitem__(self, idx: Any) -> Any:
        return self._values[idx]

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"FieldValues({self._values!r})"

    def validate(self) -> None:
        """Raise the NvmlError of the first that could not be read, if there is one."""
        self.get_all_values()

    def get_all_values(self) -> list[int | float]:
        """The values alone. Raises NvmlError if one could not be read."""
        return [value.value for value in self._values]


class GpuDynamicPstatesUtilization(Reading):
    """How busy a part of a device was over the last second."""

    @property
    def is_present(self) -> bool:
        """Whether the device says so."""
        return bool(self._struct.b_is_present)

    @property
    def percentage(self) -> int:
        """How busy, in percent."""
        return int(self._struct.percentage)

    @property
    def inc_threshold(self) -> int:
        """Above which clocks go up, in percent."""
        return int(self._struct.inc_threshold)

    @property
    def dec_threshold(self) -> int:
        """Below which clocks go down, in percent."""
        return int(self._struct.dec_threshold)


class Listed(Reading):
    """A struct that has a list of others."""

    _items: Sequence[Any]

    def __getitem__(self, idx: Any) -> Any:
        return self._items[idx]

    def __len__(self) -> int:
        return len(self._items)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._items)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({list(self._items)!r})"


class GpuDynamicPstatesInfo(Listed):
    """How busy GPU, memory, video and bus were, in this order. Source: nvmlDeviceGetDynamicPstatesInfo."""

    def __init__(self, gpu_dynamic_pstates_info: Any) -> None:
        super().__init__(gpu_dynamic_pstates_info)
        self._items = [GpuDynamicPstatesUtilization(u) for u in gpu_dynamic_pstates_info.utilization]


class ThermalSensor(Reading):
    """A thermal sensor, in degrees C."""

    @property
    def controller(self) -> ThermalController:
        """What reads it."""
        return known(ThermalController, self._struct.controller)

    @property
    def default_min_temp(self) -> int:
        """The lowest temperature that it is made for."""
        return int(self._struct.default_min_temp)

    @property
    def default_max_temp(self) -> int:
        """The highest."""
        return int(self._struct.default_max_temp)

    @property
    def current_temp(self) -> int:
        """The temperature now."""
        return int(self._struct.current_temp)

    @property
    def target(self) -> ThermalTarget:
        """What it measures."""
        return known(ThermalTarget, self._struct.target)


class ThermalSettings(Listed):
    """The thermal sensors of a device. Source: nvmlDeviceGetThermalSettings."""

    def __init__(self, thermal_settings: Any) -> None:
        super().__init__(thermal_settings)
        self._items = [ThermalSensor(s) for s in thermal_settings.sensor[: thermal_settings.count]]


class Temperature:
    """The temperatures of a device, in degrees C."""

    def __init__(self, handle: int) -> None:
        self._handle = handle

    def get_sensor(self) -> int:
        """The temperature of the GPU. Source: nvmlDeviceGetTemperatureV."""
        return nvml.device_get_temperature_v(self._handle, nvml.TemperatureSensors.TEMPERATURE_GPU)

    def get_threshold(self, threshold_type: TemperatureThresholds | str) -> int:
        """The temperature at which something happens. Source: nvmlDeviceGetTemperatureThreshold."""
        kind = number(TemperatureThresholds, threshold_type)
        return nvml.device_get_temperature_threshold(self._handle, kind)

    @property
    def margin(self) -> int:
        """How far the GPU is below its slowdown temperature. Source: nvmlDeviceGetMarginTemperature."""
        return nvml.device_get_margin_temperature(self._handle)

    def get_thermal_settings(self, sensor_index: ThermalTarget | str) -> ThermalSettings:
        """The sensors of what `sensor_index` names. Source: nvmlDeviceGetThermalSettings."""
        target = number(ThermalTarget, sensor_index)
        return ThermalSettings(nvml.device_get_thermal_settings(self._handle, target))


class RepairStatus(Reading):
    """The repairs of the memory that wait for a reset. Source: nvmlDeviceGetRepairStatus."""

    def __init__(self, handle: int) -> None:
        super().__init__(nvml.device_get_repair_status(handle))

    @property
    def channel_repair_pending(self) -> bool:
        """Whether that of a channel does."""
        return bool(self._struct.b_channel_repair_pending)

    @property
    def tpc_repair_pending(self) -> bool:
        """Whether that of a texture processing cluster does."""
        return bool(self._struct.b_tpc_repair_pending)


class PciInfo(Reading):
    """Where a device is on the PCI bus. Source: nvmlDeviceGetPciInfoExt."""

    def __init__(self, pci_info_ext: Any, handle: int) -> None:
        super().__init__(pci_info_ext)
        self._handle = handle

    def __repr__(self) -> str:
        return f"PciInfo(bus_id={self.bus_id!r})"

    @property
    def bus(self) -> int:
        """The bus, up to 255."""
        return int(self._struct.bus)

    @property
    def bus_id(self) -> str:
        """The address as text, domain:bus:device.function."""
        return str(self._struct.bus_id)

    @property
    def device(self) -> int:
        """The number on the bus, up to 31."""
        return int(self._struct.device_)

    @property
    def domain(self) -> int:
        """The domain of the bus."""
        return int(self._struct.domain)

    @property
    def vendor_id(self) -> int:
        """The number of the vendor: 0x10de is NVIDIA."""
        return int(self._struct.pci_device_id) & 0xFFFF

    @property
    def device_id(self) -> int:
        """The vendor's number for the device."""
        return int(self._struct.pci_device_id) >> 16

    @property
    def subsystem_id(self) -> int:
        """The number of the subsystem."""
        return int(self._struct.pci_sub_system_id)

    @property
    def base_class(self) -> int:
        """The class, 8 bits."""
        return int(self._struct.base_class)

    @property
    def sub_class(self) -> int:
        """The class below it, 8 bits."""
        return int(self._struct.sub_class)

    @property
    def link_generation(self) -> int:
        """The highest PCIe generation of device and system. Source: nvmlDeviceGetMaxPcieLinkGeneration."""
        return nvml.device_get_max_pcie_link_generation(self._handle)

    @property
    def max_link_generation(self) -> int:
        """The highest PCIe generation of the device. Source: nvmlDeviceGetGpuMaxPcieLinkGeneration."""
        return nvml.device_get_gpu_max_pcie_link_generation(self._handle)

    @property
    def max_link_width(self) -> int:
        """The largest number of lanes of device and system. Source: nvmlDeviceGetMaxPcieLinkWidth."""
        return nvml.device_get_max_pcie_link_width(self._handle)

    @property
    def current_link_generation(self) -> int:
        """The PCIe generation in use. Source: nvmlDeviceGetCurrPcieLinkGeneration."""
        return nvml.device_get_curr_pcie_link_generation(self._handle)

    @property
    def current_link_width(self) -> int:
        """The number of lanes in use. Source: nvmlDeviceGetCurrPcieLinkWidth."""
        return nvml.device_get_curr_pcie_link_width(self._handle)

    @property
    def rx_throughput(self) -> int:
        """What came in over PCIe in the last 20 ms, in KB/s. Source: nvmlDeviceGetPcieThroughput."""
        return nvml.device_get_pcie_throughput(self._handle, nvml.PcieUtilCounter.PCIE_UTIL_RX_BYTES)

    @property
    def tx_throughput(self) -> int:
        """What went out over PCIe in the last 20 ms, in KB/s. Source: nvmlDeviceGetPcieThroughput."""
        return nvml.device_get_pcie_throughput(self._handle, nvml.PcieUtilCounter.PCIE_UTIL_TX_BYTES)

    @property
    def replay_counter(self) -> int:
        """How often packets had to be sent again. Source: nvmlDeviceGetPcieReplayCounter."""
        return nvml.device_get_pcie_replay_counter(self._handle)
