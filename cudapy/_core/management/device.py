"""The devices of the machine as NVML has them: those that this process may not use for CUDA among them."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ... import nvml
from ..upward import upward
from .choices import (
    AddressingMode,
    AffinityScope,
    ClocksEventReasons,
    ClockType,
    EventType,
    GpuP2PCapsIndex,
    GpuP2PStatus,
    GpuTopologyLevel,
    InforomObject,
    bits,
    chosen,
    known,
    number,
)
from .events import DeviceEvents
from .library import initialise
from .readings import (
    BAR1MemoryInfo,
    ClockInfo,
    CoolerInfo,
    DeviceAttributes,
    FanInfo,
    FieldValues,
    GpuDynamicPstatesInfo,
    MemoryInfo,
    PciInfo,
    Reading,
    RepairStatus,
    Temperature,
    Utilization,
)

if TYPE_CHECKING:
    from ..device.device import Device as CudaDevice

BRANDS = {
    nvml.BrandType.BRAND_UNKNOWN: "Unknown",
    nvml.BrandType.BRAND_QUADRO: "Quadro",
    nvml.BrandType.BRAND_TESLA: "Tesla",
    nvml.BrandType.BRAND_NVS: "NVS",
    nvml.BrandType.BRAND_GRID: "GRID",
    nvml.BrandType.BRAND_GEFORCE: "GeForce",
    nvml.BrandType.BRAND_TITAN: "Titan",
    nvml.BrandType.BRAND_NVIDIA_VAPPS: "NVIDIA vApps",
    nvml.BrandType.BRAND_NVIDIA_VPC: "NVIDIA VPC",
    nvml.BrandType.BRAND_NVIDIA_VCS: "NVIDIA VCS",
    nvml.BrandType.BRAND_NVIDIA_VWS: "NVIDIA VWS",
    nvml.BrandType.BRAND_NVIDIA_CLOUD_GAMING: "NVIDIA vGaming",
    nvml.BrandType.BRAND_QUADRO_RTX: "Quadro RTX",
    nvml.BrandType.BRAND_NVIDIA_RTX: "NVIDIA RTX",
    nvml.BrandType.BRAND_NVIDIA: "NVIDIA",
    nvml.BrandType.BRAND_GEFORCE_RTX: "GeForce RTX",
    nvml.BrandType.BRAND_TITAN_RTX: "Titan RTX",
    nvml.BrandType(17): "NVIDIA DLA",
    nvml.BrandType(18): "NVIDIA vGameDev",
    nvml.BrandType(19): "NVIDIA NPU",
}
"""What brands are called."""
_NUMA_NODES = 1024  # the most that Linux has


class Device:
    """A device, by its number, its UUID, as text with its prefix, or its PCI address: one of the three.

    Each property asks the device anew. Raises ValueError for none or several of them, NvmlError for a device
    that is not there; and NotSupportedError, an NvmlError, for what a device does not know.
    """

    _handle: int

    def __init__(
        self,
        index: int | None = None,
        *,
        uuid: bytes | str | None = None,
        pci_bus_id: bytes | str | None = None,
    ) -> None:
        if sum(given is not None for given in (index, uuid, pci_bus_id)) != 1:
            raise ValueError("Device takes one of index, uuid and pci_bus_id")
        initialise()
        if index is not None:
            self._handle = nvml.device_get_handle_by_index_v2(index)
        elif uuid is not None:
            self._handle = nvml.device_get_handle_by_uuid(uuid)
        elif pci_bus_id is not None:
            self._handle = nvml.device_get_handle_by_pci_bus_id_v2(pci_bus_id)

    @classmethod
    def _of(cls, handle: int) -> Device:
        device = cls.__new__(cls)
        device._handle = handle
        return device

    def __eq__(self, other: object) -> bool:
        return self.uuid == other.uuid if isinstance(other, Device) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.uuid)

    def __repr__(self) -> str:
        return f"<system.Device {self.name!r} {self.uuid}>"

    @classmethod
    def get_device_count(cls) -> int:
        """How many devices there are. Source: nvmlDeviceGetCount_v2."""
        initialise()
        return nvml.device_get_count_v2()

    @classmethod
    def get_all_devices(cls) -> Iterable[Device]:
        """All devices, by their numbers."""
        for index in range(cls.get_device_count()):
            yield cls(index=index)

    @classmethod
    def get_all_devices_with_cpu_affinity(cls, cpu_index: int) -> Iterable[Device]:
        """The devices that are near to a CPU. Source: nvmlSystemGetTopologyGpuSet."""
        initialise()
        for handle in nvml.system_get_topology_gpu_set(cpu_index):
            yield cls._of(handle)

    # -- what it is --------------------------------------------------------------------------------------

    @property
    def index(self) -> int:
        """Its number, which is not that of CUDA. Source: nvmlDeviceGetIndex."""
        return nvml.device_get_index(self._handle)

    @property
    def uuid(self) -> str:
        """Its identity, the same on every start, "GPU-" or "MIG-" before it. Source: nvmlDeviceGetUUID."""
        return nvml.device_get_uuid(self._handle)

    @property
    def uuid_without_prefix(self) -> str:
        """The same as `cudapy.core.Device.uuid` has it."""
        return self.uuid.partition("-")[2]

    @property
    def pci_bus_id(self) -> str:
        """Where it is on the PCI bus, domain:bus:device.function. Source: nvmlDeviceGetPciInfoExt."""
        return str(nvml.device_get_pci_info_ext(self._handle).bus_id)

    @property
    def numa_node_id(self) -> int:
        """The NUMA node of its memory. Source: nvmlDeviceGetNumaNodeId."""
        return nvml.device_get_numa_node_id(self._handle)

    @property
    def arch(self) -> nvml.DeviceArch:
        """Its architecture. Source: nvmlDeviceGetArchitecture."""
        return nvml.DeviceArch(nvml.device_get_architecture(self._handle))

    @property
    def name(self) -> str:
        """What NVIDIA calls it. Source: nvmlDeviceGetName."""
        return nvml.device_get_name(self._handle)

    @property
    def brand(self) -> str:
        """What NVIDIA calls its kind. Source: nvmlDeviceGetBrand."""
        return BRANDS.get(nvml.device_get_brand(self._handle), BRANDS[nvml.BrandType.BRAND_UNKNOWN])

    @property
    def serial(self) -> str:
        """The serial number of its board. Source: nvmlDeviceGetSerial."""
        return nvml.device_get_serial(self._handle)

    @property
    def module_id(self) -> int:
        """The number of its module on the base board. Source: nvmlDeviceGetModuleId."""
        return nvml.device_get_module_id(self._handle)

    @property
    def minor_number(self) -> int:
        """The N of /dev/nvidiaN. Source: nvmlDeviceGetMinorNumber."""
        return nvml.device_get_minor_number(self._handle)

    @property
    def is_c2c_enabled(self) -> bool:
        """Whether its chip-to-chip link is on. Source: nvmlDeviceGetC2cModeInfoV."""
        return bool(nvml.device_get_c2c_mode_info_v(self._handle).is_c2c_enabled)

    @property
    def is_persistence_mode_enabled(self) -> bool:
        """Whether the driver stays loaded for it while nobody uses it; root may set it.

        Source: nvmlDeviceGetPersistenceMode, nvmlDeviceSetPersistenceMode.
        """
        return bool(nvml.device_get_persistence_mode(self._handle))

    @is_persistence_mode_enabled.setter
    def is_persistence_mode_enabled(self, enabled: bool) -> None:
        nvml.device_set_persistence_mode(self._handle, int(bool(enabled)))

    @property
    def cuda_compute_capability(self) -> tuple[int, int]:
        """Its compute capability, such as (9, 0). Source: nvmlDeviceGetCudaComputeCapability."""
        return nvml.device_get_cuda_compute_capability(self._handle)

    def to_cuda_device(self) -> CudaDevice:
        """The same device for CUDA. Raises RuntimeError if this process does not see it there."""
        wanted = self.uuid_without_prefix
        for device in upward.device.get_all_devices():
            if device.uuid == wanted:
                return device
        raise RuntimeError(f"{self!r} is not among the devices that CUDA shows: see CUDA_VISIBLE_DEVICES")

    @property
    def addressing_mode(self) -> AddressingMode | None:
        """How it addresses the memory of the host, if it does. Source: nvmlDeviceGetAddressingMode."""
        return chosen(AddressingMode, nvml.device_get_addressing_mode(self._handle).value)

    @property
    def attributes(self) -> DeviceAttributes:
        """What a MIG device has of its GPU. Source: nvmlDeviceGetAttributes_v2."""
        return DeviceAttributes(nvml.device_get_attributes_v2(self._handle))

    @property
    def mig(self) -> MigInfo:
        """Its MIG devices, or the GPU of a MIG device."""
        return MigInfo(self)

    @property
    def is_display_connected(self) -> bool:
        """Whether a display is connected to it. Source: nvmlDeviceGetDisplayMode."""
        return bool(nvml.device_get_display_mode(self._handle))

    @property
    def is_display_active(self) -> bool:
        """Whether a display is in use on it. Source: nvmlDeviceGetDisplayActive."""
        return bool(nvml.device_get_display_active(self._handle))

    @property
    def inforom(self) -> InforomInfo:
        """What is stored on its board."""
        return InforomInfo(self)

    @property
    def pci_info(self) -> PciInfo:
        """Where it is on the PCI bus, and what its link does. Source: nvmlDeviceGetPciInfoExt."""
        return PciInfo(nvml.device_get_pci_info_ext(self._handle), self._handle)

    # -- what is near to it ------------------------------------------------------------------------------

    def get_memory_affinity(self, scope: AffinityScope | str = AffinityScope.NODE) -> list[int]:
        """The NUMA nodes near to it. Source: nvmlDeviceGetMemoryAffinity."""
        words = _NUMA_NODES // 64
        return places(nvml.device_get_memory_affinity(self._handle, words, number(AffinityScope, scope)))

    def get_cpu_affinity(self, scope: AffinityScope | str = AffinityScope.NODE) -> list[int]:
        """The CPUs near to it. Source: nvmlDeviceGetCpuAffinityWithinScope."""
        words = -(-(os.cpu_count() or 1) // 64)
        scope_ = number(AffinityScope, scope)
        return places(nvml.device_get_cpu_affinity_within_scope(self._handle, words, scope_))

    def set_cpu_affinity(self) -> None:
        """Bind the calling thread to the CPUs near to it. Source: nvmlDeviceSetCpuAffinity."""
        nvml.device_set_cpu_affinity(self._handle)

    def clear_cpu_affinity(self) -> None:
        """Undo the bindings of the calling thread to CPUs. Source: nvmlDeviceClearCpuAffinity."""
        nvml.device_clear_cpu_affinity(self._handle)

    def get_topology_nearest_gpus(self, level: GpuTopologyLevel | str) -> Iterable[Device]:
        """The devices that it meets at `level`. Source: nvmlDeviceGetTopologyNearestGpus."""
        handles = nvml.device_get_topology_nearest_gpus(self._handle, number(GpuTopologyLevel, level))
        for handle in handles:
            yield Device._of(handle)

    def get_nvlink(self, link: int) -> NvlinkInfo:
        """One of its NVLinks, from 0."""
        return NvlinkInfo(self, link)

    def get_nvlink_count(self) -> int:
        """How many NVLinks it has. Source: nvmlDeviceGetFieldValues, NVML_FI_DEV_NVLINK_LINK_COUNT."""
        return int(self.get_field_values([nvml.FieldId.DEV_NVLINK_LINK_COUNT])[0].value)

    def get_nvlinks(self) -> Iterable[NvlinkInfo]:
        """All its NVLinks."""
        for link in range(self.get_nvlink_count()):
            yield self.get_nvlink(link)

    # -- what it does ------------------------------------------------------------------------------------

    @property
    def memory_info(self) -> MemoryInfo:
        """Its memory: all, used, free and reserved. Source: nvmlDeviceGetMemoryInfo_v2."""
        return MemoryInfo(nvml.device_get_memory_info_v2(self._handle))

    @property
    def bar1_memory_info(self) -> BAR1MemoryInfo:
        """Its memory that PCI peers can map. Source: nvmlDeviceGetBAR1MemoryInfo."""
        return BAR1MemoryInfo(nvml.device_get_bar1_memory_info(self._handle))

    @property
    def utilization(self) -> Utilization:
        """How busy it is. Source: nvmlDeviceGetUtilizationRates."""
        return Utilization(nvml.device_get_utilization_rates(self._handle))

    @property
    def compute_running_processes(self) -> list[ProcessInfo]:
        """The processes that use it for compute. Source: nvmlDeviceGetComputeRunningProcesses_v3."""
        processes = nvml.device_get_compute_running_processes_v3(self._handle)
        return [ProcessInfo(self, process) for process in processes]

    @property
    def temperature(self) -> Temperature:
        """Its temperatures."""
        return Temperature(self._handle)

    @property
    def performance_state(self) -> int | None:
        """Its performance state, from 0, the fastest, to 15; None if it is not known.

        Source: nvmlDeviceGetPerformanceState.
        """
        state = nvml.device_get_performance_state(self._handle)
        return None if state == nvml.Pstates.PSTATE_UNKNOWN else int(state)

    @property
    def supported_pstates(self) -> list[int]:
        """The performance states that it has. Source: nvmlDeviceGetSupportedPerformanceStates."""
        return [int(state) for state in nvml.device_get_supported_performance_states(self._handle)]

    @property
    def dynamic_pstates_info(self) -> GpuDynamicPstatesInfo:
        """How busy its parts were over the last second. Source: nvmlDeviceGetDynamicPstatesInfo."""
        return GpuDynamicPstatesInfo(nvml.device_get_dynamic_pstates_info(self._handle))

    def get_clock(self, clock_type: ClockType | str) -> ClockInfo:
        """One of its clocks."""
        return ClockInfo(self._handle, clock_type)

    @property
    def is_auto_boosted_clocks_enabled(self) -> tuple[bool, bool]:
        """Whether its clocks boost by themselves, and whether they do by default.

        Source: nvmlDeviceGetAutoBoostedClocksEnabled.
        """
        current, default = nvml.device_get_auto_boosted_clocks_enabled(self._handle)
        return bool(current), bool(default)

    @property
    def current_clock_event_reasons(self) -> list[ClocksEventReasons]:
        """Why its clocks are what they are. Source: nvmlDeviceGetCurrentClocksEventReasons."""
        return bits(ClocksEventReasons, nvml.device_get_current_clocks_event_reasons(self._handle))

    @property
    def supported_clock_event_reasons(self) -> list[ClocksEventReasons]:
        """The reasons that it can give. Source: nvmlDeviceGetSupportedClocksEventReasons."""
        return bits(ClocksEventReasons, nvml.device_get_supported_clocks_event_reasons(self._handle))

    @property
    def cooler(self) -> CoolerInfo:
        """Its cooler. Source: nvmlDeviceGetCoolerInfo."""
        return CoolerInfo(nvml.device_get_cooler_info(self._handle))

    @property
    def num_fans(self) -> int:
        """How many fans it has. Source: nvmlDeviceGetNumFans."""
        return nvml.device_get_num_fans(self._handle)

    def get_fan(self, fan: int = 0) -> FanInfo:
        """One of its fans."""
        return FanInfo(self._handle, fan)

    @property
    def repair_status(self) -> RepairStatus:
        """The repairs of its memory that wait for a reset. Source: nvmlDeviceGetRepairStatus."""
        return RepairStatus(self._handle)

    def get_field_values(self, field_ids: list[int | tuple[int, int]]) -> FieldValues:
        """The values of several fields: FieldIds, or (FieldId, number of the part) for those of a part.

        Source: nvmlDeviceGetFieldValues.
        """
        return FieldValues(nvml.device_get_field_values(self._handle, _fields(field_ids)))

    def clear_field_values(self, field_ids: list[int | tuple[int, int]]) -> None:
        """Set counters back to zero. Source: nvmlDeviceClearFieldValues."""
        fields = _fields(field_ids)
        nvml.device_clear_field_values(self._handle, fields)
        for field in fields:
            nvml.check_status(field.nvml_return)

    def register_events(self, events: EventType | str | list[EventType | str]) -> DeviceEvents:
        """Record events from now on; `wait` of the result tells them. Source: nvmlDeviceRegisterEvents."""
        return DeviceEvents(self._handle, events)

    def get_supported_event_types(self) -> list[EventType]:
        """The events that it has. Source: nvmlDeviceGetSupportedEventTypes."""
        return bits(EventType, nvml.device_get_supported_event_types(self._handle))


upward.system_device = Device


def places(words: list[int]) -> list[int]:
    """The numbers of the bits that are set in words of 64."""
    return [64 * i + bit for i, word in enumerate(words) for bit in range(64) if word >> bit & 1]


def _fields(field_ids: list[int | tuple[int, int]]) -> list[nvml.FieldValue]:
    fields = []
    for field in field_ids:
        field_id, scope_id = field if isinstance(field, tuple) else (field, 0)
        fields.append(nvml.FieldValue(field_id=field_id, scope_id=scope_id))
    return fields


class ProcessInfo(Reading):
    """A process that uses a device. Source: nvmlDeviceGetComputeRunningProcesses_v3."""

    def __init__(self, device: Device, process_info: Any) -> None:
        super().__init__(process_info)
        self._device = device

    @property
    def pid(self) -> int:
        """Its number."""
        return int(self._struct.pid)

    @property
    def used_gpu_memory(self) -> int:
        """The memory of the device that it uses, in bytes; 2**64 - 1 where the driver does not know."""
        return int(self._struct.used_gpu_memory)

    @property
    def gpu_instance_id(self) -> int:
        """The number of its GPU instance; 2**32 - 1 without MIG."""
        return int(self._struct.gpu_instance_id)

    @property
    def compute_instance_id(self) -> int:
        """The number of its compute instance; 2**32 - 1 without MIG."""
        return int(self._struct.compute_instance_id)


class InforomInfo:
    """What is stored on the board of a device."""

    def __init__(self, device: Device) -> None:
        self._handle = device._handle

    def get_version(self, inforom: InforomObject | str) -> str:
        """The version of one part. Source: nvmlDeviceGetInforomVersion."""
        return nvml.device_get_inforom_version(self._handle, number(InforomObject, inforom))

    @property
    def image_version(self) -> str:
        """The version of the whole. Source: nvmlDeviceGetInforomImageVersion."""
        return nvml.device_get_inforom_image_version(self._handle)

    @property
    def configuration_checksum(self) -> int:
        """A checksum of the configuration. Source: nvmlDeviceGetInforomConfigurationChecksum."""
        return nvml.device_get_inforom_configuration_checksum(self._handle)

    def validate(self) -> None:
        """Raise CorruptedInforomError if it is corrupted. Source: nvmlDeviceValidateInforom."""
        nvml.device_validate_inforom(self._handle)

    @property
    def bbx_flush_time(self) -> tuple[int, int]:
        """When the black box was last written, and how long that took, in microseconds.

        Source: nvmlDeviceGetLastBBXFlushTime.
        """
        return nvml.device_get_last_bbx_flush_time(self._handle)

    @property
    def board_part_number(self) -> str:
        """The part number of the board. Source: nvmlDeviceGetBoardPartNumber."""
        return nvml.device_get_board_part_number(self._handle)


class MigInfo:
    """Whether a device is divided into MIG devices, and those; or of which device a MIG device is a part."""

    def __init__(self, device: Device) -> None:
        self._device = device
        self._handle = device._handle

    @property
    def is_mig_device(self) -> bool:
        """Whether it is a part itself. Source: nvmlDeviceIsMigDeviceHandle."""
        return bool(nvml.device_is_mig_device_handle(self._handle))

    @property
    def mode(self) -> bool:
        """Whether it can be divided. Setting it may wait for a reset, see `pending_mode`.

        Source: nvmlDeviceGetMigMode, nvmlDeviceSetMigMode.
        """
        return bool(nvml.device_get_mig_mode(self._handle)[0])

    @mode.setter
    def mode(self, mode: bool) -> None:
        nvml.check_status(nvml.device_set_mig_mode(self._handle, int(bool(mode))))

    @property
    def pending_mode(self) -> bool:
        """Whether it can be after the next reset. Source: nvmlDeviceGetMigMode."""
        return bool(nvml.device_get_mig_mode(self._handle)[1])

    @property
    def device_count(self) -> int:
        """How many MIG devices it can have. Source: nvmlDeviceGetMaxMigDeviceCount."""
        return nvml.device_get_max_mig_device_count(self._handle)

    @property
    def parent(self) -> Device:
        """The device that a MIG device is a part of. Source: nvmlDeviceGetDeviceHandleFromMigDeviceHandle."""
        return Device._of(nvml.device_get_device_handle_from_mig_device_handle(self._handle))

    def get_device_by_index(self, index: int) -> Device:
        """A MIG device by its number. Source: nvmlDeviceGetMigDeviceHandleByIndex."""
        return Device._of(nvml.device_get_mig_device_handle_by_index(self._handle, index))

    def get_all_devices(self) -> Iterable[Device]:
        """The MIG devices that there are."""
        for index in range(self.device_count):
            try:
                device = self.get_device_by_index(index)
            except nvml.NotFoundError:
                continue  # the numbers in use need not be the first
            yield device


class NvlinkInfo:
    """An NVLink of a device."""

    max_links = 18
    """The most that a device had in CUDA 12; `Device.get_nvlink_count` tells."""

    def __init__(self, device: Device, link: int) -> None:
        self._handle = device._handle
        self._link = link

    @property
    def version(self) -> tuple[int, int]:
        """Its version, such as (4, 0). Source: nvmlDeviceGetNvLinkVersion."""
        version = nvml.NvlinkVersion(nvml.device_get_nvlink_version(self._handle, self._link))
        major, _, minor = version.name.removeprefix("NVLINK_VERSION_").partition("_")
        if not major.isdigit():
            raise ValueError(f"NVML does not know the version of link {self._link}: {version!r}")
        return int(major), int(minor)

    @property
    def state(self) -> bool:
        """Whether it is active. Source: nvmlDeviceGetNvLinkState."""
        return bool(nvml.device_get_nvlink_state(self._handle, self._link))


def get_topology_common_ancestor(device1: Device, device2: Device) -> GpuTopologyLevel:
    """Where the ways of two devices to the CPU meet. Source: nvmlDeviceGetTopologyCommonAncestor."""
    level = nvml.device_get_topology_common_ancestor(device1._handle, device2._handle)
    return known(GpuTopologyLevel, level)


def get_p2p_status(device1: Device, device2: Device, index: GpuP2PCapsIndex | str) -> GpuP2PStatus:
    """Whether two devices can do to each other what `index` names. Source: nvmlDeviceGetP2PStatus."""
    kind = number(GpuP2PCapsIndex, index)
    return known(GpuP2PStatus, nvml.device_get_p2p_status(device1._handle, device2._handle, kind))
