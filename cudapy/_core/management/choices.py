"""Choices by name for what NVML has numbers for. The names of `cudapy.core.system.typing`."""

import re
from collections.abc import Mapping
from enum import auto
from typing import Any, TypeVar

from ... import nvml
from ..options import Choice

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

    HMM = auto()
    ATS = auto()


class AffinityScope(Choice):
    """How far around a device to look for CPUs and memory."""

    NODE = auto()
    SOCKET = auto()


class ClockId(Choice):
    """Which value of a clock."""

    CURRENT = auto()
    CUSTOMER_BOOST_MAX = auto()


class ClockType(Choice):
    """Which clock."""

    GRAPHICS = auto()
    SM = auto()
    MEMORY = auto()
    VIDEO = auto()


class ClocksEventReasons(Choice):
    """Why clocks are what they are."""

    NONE = auto()
    GPU_IDLE = auto()
    APPLICATIONS_CLOCKS_SETTING = auto()
    SW_POWER_CAP = auto()
    HW_SLOWDOWN = auto()
    SYNC_BOOST = auto()
    SW_THERMAL_SLOWDOWN = auto()
    HW_THERMAL_SLOWDOWN = auto()
    HW_POWER_BRAKE_SLOWDOWN = auto()
    DISPLAY_CLOCK_SETTING = auto()
    BOARD_LIMIT = auto()
    RELIABILITY = auto()


class CoolerControl(Choice):
    """How a cooler is controlled: on and off, or in between, too."""

    TOGGLE = auto()
    VARIABLE = auto()


class CoolerTarget(Choice):
    """What a cooler cools."""

    NONE = auto()
    GPU = auto()
    MEMORY = auto()
    POWER_SUPPLY = auto()


class EventType(Choice):
    """What can happen to a device."""

    NONE = auto()
    SINGLE_BIT_ECC_ERROR = auto()
    DOUBLE_BIT_ECC_ERROR = auto()
    PSTATE = auto()
    XID_CRITICAL_ERROR = auto()
    CLOCK = auto()
    POWER_SOURCE_CHANGE = auto()
    MIG_CONFIG_CHANGE = auto()
    SINGLE_BIT_ECC_ERROR_STORM = auto()
    DRAM_RETIREMENT_EVENT = auto()
    DRAM_RETIREMENT_FAILURE = auto()
    NON_FATAL_POISON_ERROR = auto()
    FATAL_POISON_ERROR = auto()
    GPU_UNAVAILABLE_ERROR = auto()
    GPU_RECOVERY_ACTION = auto()


class FanControlPolicy(Choice):
    """Who controls a fan: the temperature, or the user."""

    TEMPERATURE_CONTROLLED = auto()
    MANUAL = auto()


class GpuP2PCapsIndex(Choice):
    """What two devices may be able to do to each other. PROP is another name of PCI."""

    READ = auto()
    WRITE = auto()
    NVLINK = auto()
    ATOMICS = auto()
    PCI = auto()
    PROP = auto()
    UNKNOWN = auto()


class GpuP2PStatus(Choice):
    """Whether they are, and if not, why."""

    OK = auto()
    CHIPSET_NOT_SUPPORTED = "chipset not supported"
    GPU_NOT_SUPPORTED = "GPU not supported"
    IOH_TOPOLOGY_NOT_SUPPORTED = "IOH topology not supported"
    DISABLED_BY_REGKEY = "disabled by regkey"
    NOT_SUPPORTED = "not supported"
    UNKNOWN = auto()


class GpuTopologyLevel(Choice):
    """Where the ways of two devices to the CPU meet, from the same board to different sockets."""

    INTERNAL = auto()
    SINGLE = auto()
    MULTIPLE = auto()
    HOSTBRIDGE = auto()
    NODE = auto()
    SYSTEM = auto()


class InforomObject(Choice):
    """A part of the infoROM."""

    OEM = auto()
    ECC = auto()
    POWER = auto()
    DEN = auto()


class SystemEventType(Choice):
    """What can happen to the system: the driver lets go of a device, or takes it."""

    UNBIND = auto()
    BIND = auto()


class TemperatureThresholds(Choice):
    """A temperature at which something happens."""

    SHUTDOWN = auto()
    SLOWDOWN = auto()
    MEM_MAX = auto()
    GPU_MAX = auto()
    ACOUSTIC_MIN = auto()
    ACOUSTIC_CURR = auto()
    ACOUSTIC_MAX = auto()
    GPS_CURR = auto()


class ThermalController(Choice):
    """What reads a thermal sensor."""

    GPU_INTERNAL = auto()
    ADM1032 = auto()
    ADT7461 = auto()
    MAX6649 = auto()
    MAX1617 = auto()
    LM99 = auto()
    LM89 = auto()
    LM64 = auto()
    G781 = auto()
    ADT7473 = auto()
    SBMAX6649 = auto()
    VBIOSEVT = auto()
    OS = auto()
    NVSYSCON_CANOAS = auto()
    NVSYSCON_E551 = auto()
    MAX6649R = auto()
    ADT7473S = auto()
    UNKNOWN = auto()


class ThermalTarget(Choice):
    """What a thermal sensor measures."""

    NONE = auto()
    GPU = auto()
    MEMORY = auto()
    POWER_SUPPLY = auto()
    BOARD = auto()
    VCD_BOARD = auto()
    VCD_INLET = auto()
    VCD_OUTLET = auto()
    ALL = auto()


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
