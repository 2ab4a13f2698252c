"""Choices by name for what NVML has numbers for. The names of `cudapy.core.system.typing`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, TypeVar

from ... import nvml
from ..choices import Choice

__all__ = [
    "AddressingMode",
    "AffinityScope",
    "ClockId",
    "ClockType",
    "ClocksEventReasons",
    "CoolerControl",
    "CoolerTarget",
    "DeviceArch",
    "EventType",
    "FanControlPolicy",
    "FieldId",
    "GpuP2PCapsIndex",
    "GpuP2PStatus",
    "GpuTopologyLevel",
    "InforomObject",
    "SystemEventType",
    "TemperatureThresholds",
    "ThermalController",
    "ThermalTarget",
]

DeviceArch = nvml.DeviceArch
FieldId = nvml.FieldId

C = TypeVar("C", bound=Choice)


class AddressingMode(Choice):
    """How a device addresses the memory of the host: by the kernel, or by translation in hardware."""

    HMM = "hmm"
    ATS = "ats"


class AffinityScope(Choice):
    """How far around a device to look for CPUs and memory."""

    NODE = "node"
    SOCKET = "socket"


class ClockId(Choice):
    """Which value of a clock."""

    CURRENT = "current"
    CUSTOMER_BOOST_MAX = "customer_boost_max"


class ClockType(Choice):
    """Which clock."""

    GRAPHICS = "graphics"
    SM = "sm"
    MEMORY = "memory"
    VIDEO = "video"


class ClocksEventReasons(Choice):
    """Why clocks are what they are."""

    NONE = "none"
    GPU_IDLE = "gpu_idle"
    APPLICATIONS_CLOCKS_SETTING = "applications_clocks_setting"
    SW_POWER_CAP = "sw_power_cap"
    HW_SLOWDOWN = "hw_slowdown"
    SYNC_BOOST = "sync_boost"
    SW_THERMAL_SLOWDOWN = "sw_thermal_slowdown"
    HW_THERMAL_SLOWDOWN = "hw_thermal_slowdown"
    HW_POWER_BRAKE_SLOWDOWN = "hw_power_brake_slowdown"
    DISPLAY_CLOCK_SETTING = "display_clock_setting"
    BOARD_LIMIT = "board_limit"
    RELIABILITY = "reliability"


class CoolerControl(Choice):
    """How a cooler is controlled: on and off, or in between, too."""

    TOGGLE = "toggle"
    VARIABLE = "variable"


class CoolerTarget(Choice):
    """What a cooler cools."""

    NONE = "none"
    GPU = "gpu"
    MEMORY = "memory"
    POWER_SUPPLY = "power_supply"


class EventType(Choice):
    """What can happen to a device."""

    NONE = "none"
    SINGLE_BIT_ECC_ERROR = "single_bit_ecc_error"
    DOUBLE_BIT_ECC_ERROR = "double_bit_ecc_error"
    PSTATE = "pstate"
    XID_CRITICAL_ERROR = "xid_critical_error"
    CLOCK = "clock"
    POWER_SOURCE_CHANGE = "power_source_change"
    MIG_CONFIG_CHANGE = "mig_config_change"
    SINGLE_BIT_ECC_ERROR_STORM = "single_bit_ecc_error_storm"
    DRAM_RETIREMENT_EVENT = "dram_retirement_event"
    DRAM_RETIREMENT_FAILURE = "dram_retirement_failure"
    NON_FATAL_POISON_ERROR = "non_fatal_poison_error"
    FATAL_POISON_ERROR = "fatal_poison_error"
    GPU_UNAVAILABLE_ERROR = "gpu_unavailable_error"
    GPU_RECOVERY_ACTION = "gpu_recovery_action"


class FanControlPolicy(Choice):
    """Who controls a fan: the temperature, or the user."""

    TEMPERATURE_CONTROLLED = "temperature_controlled"
    MANUAL = "manual"


class GpuP2PCapsIndex(Choice):
    """What two devices may be able to do to each other. PROP is another name of PCI."""

    READ = "read"
    WRITE = "write"
    NVLINK = "nvlink"
    ATOMICS = "atomics"
    PCI = "pci"
    PROP = "prop"
    UNKNOWN = "unknown"


class GpuP2PStatus(Choice):
    """Whether they are, and if not, why."""

    OK = "ok"
    CHIPSET_NOT_SUPPORTED = "chipset not supported"
    GPU_NOT_SUPPORTED = "GPU not supported"
    IOH_TOPOLOGY_NOT_SUPPORTED = "IOH topology not supported"
    DISABLED_BY_REGKEY = "disabled by regkey"
    NOT_SUPPORTED = "not supported"
    UNKNOWN = "unknown"


class GpuTopologyLevel(Choice):
    """Where the ways of two devices to the CPU meet, from the same board to different sockets."""

    INTERNAL = "internal"
    SINGLE = "single"
    MULTIPLE = "multiple"
    HOSTBRIDGE = "hostbridge"
    NODE = "node"
    SYSTEM = "system"


class InforomObject(Choice):
    """A part of the infoROM."""

    OEM = "oem"
    ECC = "ecc"
    POWER = "power"
    DEN = "den"


class SystemEventType(Choice):
    """What can happen to the system: the driver lets go of a device, or takes it."""

    UNBIND = "unbind"
    BIND = "bind"


class TemperatureThresholds(Choice):
    """A temperature at which something happens."""

    SHUTDOWN = "shutdown"
    SLOWDOWN = "slowdown"
    MEM_MAX = "mem_max"
    GPU_MAX = "gpu_max"
    ACOUSTIC_MIN = "acoustic_min"
    ACOUSTIC_CURR = "acoustic_curr"
    ACOUSTIC_MAX = "acoustic_max"
    GPS_CURR = "gps_curr"


class ThermalController(Choice):
    """What reads a thermal sensor."""

    GPU_INTERNAL = "gpu_internal"
    ADM1032 = "adm1032"
    ADT7461 = "adt7461"
    MAX6649 = "max6649"
    MAX1617 = "max1617"
    LM99 = "lm99"
    LM89 = "lm89"
    LM64 = "lm64"
    G781 = "g781"
    ADT7473 = "adt7473"
    SBMAX6649 = "sbmax6649"
    VBIOSEVT = "vbiosevt"
    OS = "os"
    NVSYSCON_CANOAS = "nvsyscon_canoas"
    NVSYSCON_E551 = "nvsyscon_e551"
    MAX6649R = "max6649r"
    ADT7473S = "adt7473s"
    UNKNOWN = "unknown"


class ThermalTarget(Choice):
    """What a thermal sensor measures."""

    NONE = "none"
    GPU = "gpu"
    MEMORY = "memory"
    POWER_SUPPLY = "power_supply"
    BOARD = "board"
    VCD_BOARD = "vcd_board"
    VCD_INLET = "vcd_inlet"
    VCD_OUTLET = "vcd_outlet"
    ALL = "all"


def _same(choices: type[C], numbers: Any, **renamed: str) -> Mapping[C, int]:
    """The numbers of choices, whose names are those of an enum of NVML but for the `renamed`."""
    return {choice: int(numbers[renamed.get(choice.name, choice.name)]) for choice in choices}


NUMBERS: Mapping[type[Choice], Mapping[Any, int]] = {
    AddressingMode: _same(AddressingMode, nvml.DeviceAddressingModeType),
    AffinityScope: _same(AffinityScope, nvml.AffinityScope),
    ClockId: _same(ClockId, nvml.ClockId),
    ClockType: _same(ClockType, nvml.ClockType, MEMORY="MEM"),
    ClocksEventReasons: _same(
        ClocksEventReasons,
        nvml.ClocksEventReasons,
        **{
            re.sub("^(EVENT|THROTTLE)_REASON_", "", name): name
            for name in nvml.ClocksEventReasons.__members__
        },
    ),
    CoolerControl: _same(CoolerControl, nvml.CoolerControl),
    CoolerTarget: _same(CoolerTarget, nvml.CoolerTarget),
    EventType: _same(EventType, nvml.EventType),
    FanControlPolicy: _same(
        FanControlPolicy, nvml.FanControlPolicy, TEMPERATURE_CONTROLLED="TEMPERATURE_CONTINUOUS_SW"
    ),
    GpuP2PCapsIndex: _same(GpuP2PCapsIndex, nvml.GpuP2PCapsIndex, PROP="PCI"),
    GpuP2PStatus: _same(GpuP2PStatus, nvml.GpuP2PStatus, CHIPSET_NOT_SUPPORTED="CHIPSET_NOT_SUPPORED"),
    GpuTopologyLevel: _same(GpuTopologyLevel, nvml.GpuTopologyLevel),
    InforomObject: _same(InforomObject, nvml.InforomObject),
    SystemEventType: _same(
        SystemEventType, nvml.SystemEventType, UNBIND="GPU_DRIVER_UNBIND", BIND="GPU_DRIVER_BIND"
    ),
    TemperatureThresholds: _same(TemperatureThresholds, nvml.TemperatureThresholds),
    ThermalController: _same(ThermalController, nvml.ThermalController),
    ThermalTarget: _same(ThermalTarget, nvml.ThermalTarget),
}
"""What NVML calls each choice."""


def number(choices: type[C], value: C | str) -> int:
    """The number of a choice. Raises ValueError for what is none."""
    return NUMBERS[choices][choices(value)]


def chosen(choices: type[C], number: int) -> C | None:
    """The choice that NVML's `number` stands for; None for a number of a newer driver."""
    return next((choice for choice, own in NUMBERS[choices].items() if own == number), None)


def known(choices: type[C], number: int) -> C:
    """The choice that `number` stands for. Raises ValueError for a number of a newer driver."""
    choice = chosen(choices, number)
    if choice is None:
        raise ValueError(f"NVML says {number}, which this version of cudapy has no {choices.__name__} for")
    return choice


def bits(choices: type[C], mask: int) -> list[C]:
    """The choices whose bits are in `mask`, but for those that a newer driver has."""
    return [choice for choice, bit in NUMBERS[choices].items() if bit and mask & bit == bit]


def mask(choices: type[C], values: C | str | list[C | str]) -> int:
    """The bits of one choice or several."""
    bits = 0
    for value in [values] if isinstance(values, str) else values:
        bits |= number(choices, value)
    return bits
