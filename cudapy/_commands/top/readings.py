"""What is shown, as plain data: asked of NVML, which knows of all processes. Nothing is set."""

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

from ... import nvml
from ...core import system

T = TypeVar("T")
_UNKNOWN = (1 << 64) - 1  # NVML_VALUE_NOT_AVAILABLE


@dataclass(frozen=True)
class ProcessReading:
    """A process on a device. kind: "C" for CUDA, "G" for graphics, "C+G". memory: bytes. busy: percent of the
    multiprocessors' time. None: NVML does not tell, or not to this user.
    """

    device: int
    pid: int
    kind: str
    user: str | None
    memory: int | None
    busy: int | None
    command: str | None


@dataclass(frozen=True)
class DeviceReading:
    """A device. temperature: degrees Celsius. fan, busy: percent. power, power_limit: watts. clock: MHz.
    memory: bytes. problem: why there is nothing else.
    """

    index: int
    name: str = ""
    temperature: int | None = None
    fan: int | None = None
    power: float | None = None
    power_limit: float | None = None
    clock: int | None = None
    busy: int | None = None
    memory_used: int | None = None
    memory_total: int | None = None
    processes: tuple[ProcessReading, ...] = ()
    problem: str = ""


@dataclass(frozen=True)
class MachineReading:
    """Everything at one moment. driver: its release. cuda: the newest CUDA that it knows."""

    driver: str
    cuda: str
    devices: tuple[DeviceReading, ...]


def told(function: Callable[[], T]) -> T | None:
    """What a device tells; None where it does not know, may not tell, or the driver is too old to ask."""
    try:
        return function()
    except system.GpuIsLostError:
        raise
    except (system.NvmlError, RuntimeError):
        return None


def machine() -> MachineReading:
    """What there is now. Raises NvmlError, or pathfinder.LibraryNotFound where there is no NVML."""
    driver = ".".join(map(str, system.get_kernel_mode_driver_version()))
    number = nvml.system_get_cuda_driver_version_v2()
    devices = tuple(_device(index) for index in range(system.Device.get_device_count()))
    return MachineReading(driver, f"{number // 1000}.{number % 1000 // 10}", devices)


def _device(index: int) -> DeviceReading:
    """What a device tells of itself; a device that is lost does not hide the others."""
    try:
        device, handle = system.Device(index=index), nvml.device_get_handle_by_index_v2(index)
        memory, utilization = told(lambda: device.memory_info), told(lambda: device.utilization)
        power = told(lambda: nvml.device_get_power_usage(handle))
        limit = told(lambda: nvml.device_get_enforced_power_limit(handle))
        return DeviceReading(
            index=index,
            name=device.name,
            temperature=told(device.temperature.get_sensor),
            fan=told(lambda: device.get_fan().speed),
            power=None if power is None else power / 1000,
            power_limit=None if limit is None else limit / 1000,
            clock=told(lambda: device.get_clock("sm").get_current_mhz()),
            busy=None if utilization is None else utilization.gpu,
            memory_used=None if memory is None else memory.used,
            memory_total=None if memory is None else memory.total,
            processes=_processes(index, handle),
        )
    except system.NvmlError as error:
        return DeviceReading(index, problem=str(error))


def _processes(index: int, handle: int) -> tuple[ProcessReading, ...]:
    """The processes on a device, those with the most memory first."""
    processes: dict[int, tuple[str, int | None]] = {}
    for kind, ask in (
        ("C", nvml.device_get_compute_running_processes_v3),
        ("G", nvml.device_get_graphics_running_processes_v3),
    ):
        each: Iterable[Any] = told(lambda ask=ask: ask(handle)) or ()  # type: ignore[misc]
        for process in each:
            pid, used = int(process.pid), int(process.used_gpu_memory)
            known = f"{processes[pid][0]}+{kind}" if pid in processes else kind
            processes[pid] = known, None if used == _UNKNOWN else used
    busy = _busy(handle) if processes else {}
    readings = [
        ProcessReading(index, pid, kind, _user(pid), memory, busy.get(pid), _command(pid))
        for pid, (kind, memory) in processes.items()
    ]
    return tuple(sorted(readings, key=lambda process: (-(process.memory or 0), process.pid)))


def _busy(handle: int) -> dict[int, int]:
    """How busy each process kept the multiprocessors, in percent, by the newest sample of it."""
    samples: Iterable[Any] = told(lambda: nvml.device_get_process_utilization(handle, 0)) or ()
    return {int(sample.pid): int(sample.sm_util) for sample in sorted(samples, key=lambda s: s.time_stamp)}


def _user(pid: int) -> str | None:
    """Who runs a process, as far as /proc tells."""
    try:
        import pwd

        return pwd.getpwuid(os.stat(f"/proc/{pid}").st_uid).pw_name
    except (ImportError, OSError, KeyError):
        return None


def _command(pid: int) -> str | None:
    """What a process was started with; its program alone where /proc does not tell."""
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            words = file.read().rstrip(b"\0").split(b"\0")
        text = " ".join(os.fsdecode(word) for word in words)
    except OSError:
        text = ""
    return text or told(lambda: system.get_process_name(pid)) or None
